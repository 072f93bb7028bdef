/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the native engine share.
 */
#ifndef C2_NATIVE_PRIV_H
#define C2_NATIVE_PRIV_H

#include <signal.h>

#include "engine/decode.h"
#include "engine/engine_ops.h"
#include "interpret/interpret.h"
#include "native/context.h"
#include "native/emit.h"
#include "native/native_engine.h"

/* Translations of one block: those that record and those that do not, these for long stays and for brief ones; and
 * two for the time in which a guard guards the stack, where each block begins in C. */
enum native_kind { NATIVE_PLAIN, NATIVE_RECORDING, NATIVE_BRIEF, NATIVE_LOOSE, NATIVE_LOOSE_RECORDING, NATIVE_KINDS };
static inline bool native_records(enum native_kind kind)
{
    C2_PROMISE(kind < NATIVE_KINDS);
    return kind == NATIVE_RECORDING || kind == NATIVE_LOOSE_RECORDING;
}
static inline bool native_is_loose(enum native_kind kind)
{
    C2_PROMISE(kind < NATIVE_KINDS);
    return kind >= NATIVE_LOOSE;
}

/* The flags of the guest that are the processor's while translated code runs: CF PF AF ZF SF DF OF. */
#define NATIVE_FLAGS 0xcd5ull

/* ------------------------------------------------------------------ cache.c: where translations lie
 * One piece of memory at two addresses: written at one, executed at the other. A process that forks has two. */
#define NATIVE_CACHE_BYTES ((size_t)C2_HOST_SIZE(256u << 20, 1u << 20))
#define NATIVE_PART_BYTES (64u << 10)               /* at its start: of the beginning of a block, for one use */
#define NATIVE_MASKED_BYTES (64u << 10)             /* at its end: instructions under masks (wide.c) */
#define NATIVE_BLOCK_BYTES (64u << 10)              /* no translation is longer, ... */
#define NATIVE_COLD_BYTES 256u                      /* ... nor what is cold of it */
#define NATIVE_COLD_AT (NATIVE_CACHE_BYTES / 4 * 3) /* behind it: what is executed once, if ever */
struct native_cache {
    uint8_t *written, *executed;
    size_t used, used_cold;   /* from the start; the next one begins at a multiple of 16, or right behind */
    size_t there, there_cold; /* up to here the host has given pages */
};
enum c2_status native_cache_create(struct native_cache *cache, struct c2_error *err); /* not moved until release */
void native_cache_release(struct native_cache *cache);
/* Before something is written: has the host give pages for it, many at once. */
void native_cache_prepare(struct native_cache *cache);
bool native_cache_is_possible(void); /* whether the host allows one */
/* Where translations end; what is executed behind that is called by C, and has C's GS and FS. */
static inline uint8_t *native_cache_end(uint8_t *start) { return start + NATIVE_CACHE_BYTES - NATIVE_MASKED_BYTES; }
/* Where the next translation goes. */
static inline uint8_t *native_next(const struct native_cache *cache)
{
    C2_PROMISE(cache->used <= NATIVE_COLD_AT);
    return cache->written + c2_align_up(cache->used, 16);
}
static inline const uint8_t *native_executed(const struct native_cache *cache, const uint8_t *written)
{
    C2_PROMISE(written >= cache->written && written <= cache->written + NATIVE_CACHE_BYTES);
    return cache->executed + (written - cache->written);
}

/* ------------------------------------------------------------------ code.c: what is known of the guest's code */
struct native_code;

struct native_block {
    uint64_t pc;
    uint32_t extent; /* bytes */
    uint16_t insns, slots;
    uint16_t rest;                    /* instructions with which it would go on if nothing watched */
    bool special;                     /* its one instruction is to be interpreted, or is none */
    bool changes;                     /* its bytes are looked at each time */
    bool watched;                     /* watchers are notified of it */
    bool rare;                        /* it begins in C */
    bool stale;                       /* its code has changed */
    bool alone;                       /* one instruction that stores into its own block */
    uint32_t number;                  /* in the stream */
    uint32_t counter;                 /* in context.executed */
    const struct stream_block *block; /* NULL: special */
    uint8_t *bytes;                   /* where it changes, or may */
    struct native_block *next;        /* at the same pc, older */
    struct native_code *code[NATIVE_KINDS];
};

struct native_blocks;
struct engine_code;
struct engine_special;
enum c2_status native_blocks_create(struct native_blocks **out, const struct engine_config *config,
                                    struct decode_forms *forms, struct c2_error *err);
void native_blocks_destroy(struct native_blocks *blocks); /* takes NULL */
struct shapes *native_blocks_shapes(struct native_blocks *blocks);
struct engine_code *native_blocks_guest(struct native_blocks *blocks); /* which it is a table of; lent */
/* NULL: none is known there. */
struct native_block *native_blocks_find(struct native_blocks *blocks, uint64_t pc);
/* Makes the block at pc known. *lacks: 0, or the page that has to be there first (nothing was made then). */
enum c2_status native_blocks_learn(struct native_block **out, struct guest_va *lacks, struct native_blocks *blocks,
                                   uint64_t pc, struct c2_error *err);
/* The one instruction at pc as a block, which find does not find. */
enum c2_status native_blocks_alone(struct native_block **out, struct native_blocks *blocks, uint64_t pc,
                                   struct c2_error *err);
/* The forms of the instructions of the block that was made known last; NULL: it is another one. */
const struct decode_form *native_blocks_decoded(const struct native_blocks *blocks, const struct native_block *block);
bool native_block_is_fresh(const struct native_block *block);
enum c2_status native_blocks_watch(struct native_block **out, struct native_blocks *blocks, uint64_t pc,
                                   struct c2_error *err); /* *out: known there already, or NULL */
/* For all blocks that overlap the range and are not stale: they are. True: there were some. */
bool native_blocks_forget(struct native_blocks *blocks, uint64_t start, uint64_t bytes,
                          void (*gone)(void *self, struct native_block *block), void *self);
void native_blocks_each(struct native_blocks *blocks, void (*take)(void *self, struct native_block *block), void *self);

/* ------------------------------------------------------------------ translate.c, operands.c */

enum native_why {
    NATIVE_GOES,      /* to the block at `target` */
    NATIVE_INDIRECT,  /* to that at context.target */
    NATIVE_COLD,      /* the block does not fit below the limit; nothing of it was executed */
    NATIVE_CHANGED,   /* nor was anything of this one, whose code has changed */
    NATIVE_SYSCALL,   /* behind one */
    NATIVE_ADDRESSES, /* before instruction `insn`, whose addresses are wanted; then on at `resume` */
    NATIVE_STORES,    /* before instruction `insn`, which may store into its own block; likewise */
    NATIVE_EXECUTES,  /* before instruction `insn`, which is done in C; likewise */
    NATIVE_REFUSES,   /* before instruction `insn`, which cannot be translated: native_refusal() */
    NATIVE_ENDS,      /* behind the part that was asked for */
};

/* How a branch goes on that needs no operand to be known but a distance. */
enum native_branch { NATIVE_OTHER, NATIVE_JUMPS, NATIVE_JUMPS_IF, NATIVE_CALLS, NATIVE_RETURNS };

/* What translating takes of an instruction, beside its bytes: struct decode_own_form. */
struct native_form {
    uint16_t uses, writes;       /* general registers, a bit each: written ones are used */
    uint8_t tested, overwritten; /* flags of arithmetic, a bit each; the same for both */
    uint8_t branch;              /* enum native_branch */
    uint8_t modrm, rex;          /* where they are, of what is relative; or NATIVE_NO_REX */
    bool light : 1;              /* its operands need not be known, unless its addresses are wanted */
    bool memory : 1, stores : 1, nothing : 1;
    bool relative : 1; /* to RIP; if it is light: by 64 bits, and no VEX */
    bool lea : 1;      /* of such a place, to 32 or 64 bits */
    bool near : 1;     /* the distance of a branch has 8 bits */
    bool faults : 1;   /* or may */
};
#define NATIVE_NO_REX 0xffu
void native_own(struct decode_own_form *out, const struct decode_insn *insn); /* decode_own */

struct native_site {
    uint8_t why; /* enum native_why */
    bool linked;
    uint16_t insn;
    uint32_t next;            /* of those linked to one translation, 1 + number; 0: the last */
    struct native_code *code; /* which it is of */
    uint64_t target;
    union {
        struct {
            uint8_t *jump, *stub; /* GOES: what is aimed at the block, or at the stub that leaves */
        };
        const uint8_t *resume; /* ADDRESSES, STORES, EXECUTES */
    };
};

/* Where an instruction begins, and the guest's registers are while it is executed. */
struct native_place {
    uint16_t at;   /* from the translation's start; of the first copy */
    uint16_t held; /* bit i: the host's register i is the guest's; else that is in the context */
    uint8_t pace;  /* which one of the host's is the pace */
};

struct native_code {
    struct native_block *block;
    enum native_kind kind;
    const uint8_t *start, *entry, *end; /* executed */
    uint32_t linked;                    /* the first site that jumps to it, 1 + number */
    uint32_t door;                      /* 1 + number; 0: no indirect jump has led to it */
    unsigned insns;
    unsigned copies;             /* of its instructions, one behind the other: more than one of a loop */
    uint32_t stride;             /* from one to the next, bytes */
    struct native_place place[]; /* insns + 1: the last one is behind them */
};

/* Where an indirect jump to one address arrives: a comparison, and the jump to its translation. */
struct native_door {
    uint64_t pc;
    uint8_t *jump;
    uint32_t next; /* of those with one table entry, 1 + number; 0: the last */
};

/* Kinds of translations that go on to each other. */
enum { NATIVE_LINKED_KINDS = NATIVE_LOOSE };

/* All translations. */
struct native_codes {
    struct native_cache cache;
    struct native_context *context;
    struct native_site *sites;
    size_t site_count, site_capacity;
    struct native_door *doors;
    uint32_t door_count, door_room;
    uint32_t *first_door[NATIVE_LINKED_KINDS]; /* by table entry, 1 + number; NULL: the table is not in use */
    uint8_t *gate;                             /* leaves by the site whose number R11 has */
    uint8_t *lost[NATIVE_LINKED_KINDS];        /* leaves for an indirect jump that no door is for */
    struct c2_pool pool;                       /* what translations are described in */
    struct native_code **all;                  /* by address */
    size_t count, capacity;
    struct native_workspace *workspace; /* translate.c's */
    struct decode_forms *forms;
    struct native_code *part; /* the last one of a part */
    size_t sites_before_part; /* its sites are behind these, until something else is translated */
    unsigned densest;         /* most instructions a word of a record, of those that record */
    unsigned most_slots;      /* of a block of those */
    bool counting;            /* count_blocks */
    uint64_t drops;           /* how often all were */
};

enum c2_status native_codes_create(struct native_codes *codes, struct c2_error *err);
void native_codes_release(struct native_codes *codes);
/* The translation of the block; where there is no room for it all others are dropped. from: the site that has left for
 * it, behind or before whose code it is laid if that spares a jump; -1: none. */
enum c2_status native_translate(struct native_code **out, struct native_codes *codes, struct native_block *block,
                                enum native_kind kind, struct native_blocks *blocks, int64_t from,
                                struct c2_error *err);
/* Of its first `insns` instructions, from the first of them: good until the next call of it. It counts nothing. */
enum c2_status native_translate_part(struct native_code **out, struct native_codes *codes, struct native_block *block,
                                     unsigned insns, bool records, struct c2_error *err);
const char *native_refusal(const struct decode_insn *insn, uint64_t pc); /* NULL: it can be translated */
/* The translation that has the address of the host, which copy, and which instruction; NULL: none. */
struct native_code *native_code_at(struct native_codes *codes, uint64_t host, unsigned *copy, unsigned *insn);
/* The one that has it before its first instruction; NULL: none. */
struct native_code *native_code_before(struct native_codes *codes, uint64_t host);
void native_link(struct native_codes *codes, uint32_t site, struct native_code *to);
/* Before the first translation of this kind, which may then have indirect jumps. */
enum c2_status native_open_table(struct native_codes *codes, enum native_kind kind, struct c2_error *err);
void native_close_tables(struct native_codes *codes);
void native_link_indirect(struct native_codes *codes, struct native_code *to);
/* Emits a door whose translation comes right behind it, unless there is no memory or a door is there. */
void native_emit_door(struct native_codes *codes, struct emit *e, enum native_kind kind, uint64_t pc);
/* Nothing jumps to the block any more. */
void native_isolate(struct native_codes *codes, struct native_block *block);
void native_drop(struct native_codes *codes, struct native_blocks *blocks); /* all translations */

/* Which operand makes the access of slot i; NULL: there is none. */
const ZydisDecodedOperand *native_operand(const struct decode_insn *insn, unsigned slot);

/* ------------------------------------------------------------------ engine.c, run.c, faults.c, cpu.c */

struct native_fault {
    int number; /* the signal; 0: none */
    int code;
    uint64_t address;
    uint64_t trap; /* the processor's exception */
    bool limit;    /* none of the guest's: the block does not fit below the limit, and nothing of it was executed */
    struct native_code *in;
    unsigned copy, insn;
};

/* Zeros. In long stays the pace is an address in it: as many bytes before its end as instructions are left. */
#define NATIVE_RUNWAY_BYTES ((uint64_t)C2_HOST_SIZE(1u << 20, 16u << 10))
#define NATIVE_BRIEF_BELOW 1024u /* instructions left: in stays of fewer each block looks at the limit itself */

struct native {
    struct engine base;
    struct native_context *context;
    struct native_codes codes;
    struct native_blocks *blocks;
    struct interpret_cpu cpu;
    uint64_t rip, flags; /* flags: those that are not NATIVE_FLAGS; the others are in the context */
    uint64_t instructions;
    uint64_t budget_at;
    bool whole;
    bool recording;
    volatile sig_atomic_t interrupted;
    bool stopped, failed;
    struct c2_error failure;
    uint64_t cut_pc, cut_at; /* where a run was cut or stopped last, and at which instruction count */
    uint64_t guard_from, guard_bytes;
    uint64_t began_pc, began_at, behind; /* of guards: the block that began last, and the first byte behind it */
    bool arrived, beyond;
    uint64_t polled_at;    /* instruction count when signals from outside were let in last */
    enum native_kind kind; /* of the last stay's translations */
    uint64_t runway;       /* address; behind its NATIVE_RUNWAY_BYTES is a page that nobody may read */
    int64_t from;          /* the site that has left for the block that comes next, if the two may be linked; -1 */
    uint64_t from_drops;   /* codes.drops then */
    const uint8_t *resume; /* where a translation goes on that was left for help; NULL: none was */
    struct native_fault fault;
    uint32_t wide_offset[CPU_COMPONENTS];               /* in the context, from fxsave on */
    uint32_t masked_count;                              /* pieces of code of instructions under masks that were made */
    uint8_t (*masked_of)[ZYDIS_MAX_INSTRUCTION_LENGTH]; /* the instruction that each piece of it was made of */
    bool handles;                                       /* signals */
    sigset_t outside;                                   /* signals that wait while translated code runs */
};

extern const struct interpret_cpu native_cpu_functions; /* cpu.c; self is a struct native */
uint32_t native_get_mxcsr(const struct native *n);
void native_get_fxsave(const struct native *n, uint8_t out[512]);
void native_set_fxsave(struct native *n, const uint8_t in[512]);
/* wide.c */
void native_wide_begin(struct native *n, const struct cpu_model *model); /* the context is there */
void native_wide_functions(struct interpret_cpu *cpu);
void native_wide_end(struct native *n);
void native_get_wide(const struct native *n, struct cpu_wide *out);
void native_set_wide(struct native *n, const struct cpu_wide *in);
/* Does an instruction for which engine_special_is_masked is true, if *effect is INTERPRET_DONE. */
void native_do_masked(struct native *n, struct engine_special *special, struct interpret_touched *touched,
                      struct interpret_effect *effect);
uint64_t native_get_flags(const struct native *n);
void native_set_flags(struct native *n, uint64_t flags);

void native_run_guest(struct engine *engine, uint64_t budget, bool whole, struct engine_event *event,
                      struct c2_error *err);
enum c2_status native_forget_code(struct native *n, uint64_t start, uint64_t bytes);

enum c2_status native_handle_signals(struct native *n, struct c2_error *err);
void native_handle_no_signals(struct native *n);
void native_begin_run(struct native *n); /* it gets the signals from now on */
/* Whether instructions set the bases of FS and GS (FSGSBASE), and the host keeps what they set. */
bool native_sets_bases(void);
/* What n->fault is for the guest; registers are as they were before the instruction. false: nothing that it may know
 * of, and n->failure says what. */
bool native_fault_event(struct native *n, struct engine_event *event);
/* The first access of the instruction at rip that cannot be made; false: all can. */
bool native_first_failure(const struct native *n, const struct decode_insn *insn, struct engine_event *event);
struct engine_event native_x87_trap(void);
bool native_x87_trapped(const struct native *n);
/* Does PUSHF, which has NATIVE_EXECUTES. False: *event is why it cannot be done. */
bool native_push_flags(struct native *n, const struct decode_insn *insn, struct engine_event *event);

#endif
