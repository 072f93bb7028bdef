/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The parts of the Unicorn engine, as they see each other.
 */
#ifndef C2_UNICORN_PRIV_H
#define C2_UNICORN_PRIV_H

#include "engine/code.h"
#include "engine/decode.h"
#include "engine/engine_ops.h"
#include "interpret/interpret.h"
#include "unicorn/library.h"

struct CPUState; /* Unicorn's */

/* ------------------------------------------------------------------ unicorn_state.c: registers, hidden state
 * Some state that matters has no public name: the last exception (never cleared, so that a second fault would become
 * a double fault) and the SSE unit's exception flags and flush-to-zero switch. They are found in the saved context by
 * experiment, once, in an engine of their own; a Unicorn where they are not found is refused. */
struct unicorn_layout {
    size_t old_exception; /* int32: -1 = none */
    size_t sse_flags;     /* uint8: softfloat's exception flags */
    size_t sse_ftz;       /* uint8: flush results to zero */
    size_t x87_flags;     /* uint8: the same of the x87 unit */
    size_t x87_ftz;       /* uint8: wrongly set by a write of MXCSR */
    size_t flags;         /* uint32: what a translation depends on, beside its address */
    bool inlines;         /* translations can record */
};
enum c2_status unicorn_layout_find(struct unicorn_layout *out, struct c2_error *err);

struct unicorn_state {
    uc_engine *uc;
    uc_context *scratch, *spare, *fresh; /* fresh: before anything ran */
    struct unicorn_layout layout;
    uint32_t sse_traps; /* exceptions of the SSE unit that MXCSR does not mask, as flags */
    uint16_t x87_traps; /* exceptions of the x87 unit that its control word does not mask */
};
enum c2_status unicorn_state_init(struct unicorn_state *state, uc_engine *uc, struct c2_error *err);
void unicorn_state_reset(struct unicorn_state *state); /* registers as unicorn_state_init has left them */
void unicorn_state_release(struct unicorn_state *state);
void unicorn_forget_exception(struct unicorn_state *state);
/* Translations of which set are used from now on: plain ones, those that call a hook for each load and store, or those
 * that record (unicorn_inline.c). `single`: those of their kind that have one instruction each. */
enum unicorn_set { UNICORN_PLAIN, UNICORN_HOOKED, UNICORN_INLINE };
void unicorn_use_translations(struct unicorn_state *state, enum unicorn_set set, bool single);
uint32_t unicorn_get_mxcsr(struct unicorn_state *state);
void unicorn_set_mxcsr(struct unicorn_state *state, uint32_t mxcsr);
/* Whether the x87 unit has raised a flag that traps. */
bool unicorn_x87_trapped(struct unicorn_state *state);
void unicorn_get_fxsave(struct unicorn_state *state, uint8_t out[512]);
void unicorn_set_fxsave(struct unicorn_state *state, const uint8_t in[512]);
void unicorn_get_registers(struct unicorn_state *state, struct syscalls_cpu *cpu);
void unicorn_set_registers(struct unicorn_state *state, const struct syscalls_cpu *cpu);
/* All of them and the hidden ones as one piece, for c2_free(); NULL: no memory. */
uc_context *unicorn_context_create(struct unicorn_state *state);
void unicorn_context_keep(struct unicorn_state *state, uc_context *to);
/* Translations of the set are used from then on. */
void unicorn_context_take(struct unicorn_state *state, uc_context *from, enum unicorn_set set);
void unicorn_context_read(struct unicorn_state *state, uc_context *from, struct syscalls_cpu *cpu);
uint64_t unicorn_get(struct unicorn_state *state, int reg); /* a 64-bit register by UC_X86_REG_ number */
void unicorn_set(struct unicorn_state *state, int reg, uint64_t value);
extern const int unicorn_gprs[16];
/* interpret.h's view of the registers; `self` is the engine (unicorn_cpu.c). */

/* ------------------------------------------------------------------ what is known of guest code */

/* How the memory events of one slot look: `reads` load events, then `writes` store events. Part i lies at +8*i. */
struct unicorn_pattern {
    uint16_t slot;
    uint8_t reads, writes;
    uint8_t read_size[2]; /* of each part, bytes */
};

/* A translation block, and the block of the stream that starts with it: which is longer where Unicorn has ended the
 * translation for reasons of its own, or goes on with an instruction that is interpreted in Unicorn's place. */
struct unicorn_block {
    struct unicorn_block *next; /* of the same pc, another size */
    uint64_t pc;
    uint32_t size;   /* of the translation, as Unicorn gives it */
    uint32_t extent; /* bytes of the stream's block, or of the instruction alone in its own */
    uint32_t number; /* of the stream block; meaningless if insns == 0 */
    uint64_t header; /* of a complete execution */
    uint16_t insns;
    uint16_t cost; /* instructions that are counted when it has been executed: insns, or the one that is interpreted */
    uint16_t rest; /* that the block would have, too, without another that has to start behind it */
    uint16_t slots;
    uint16_t events;                     /* memory events of a complete execution, no page crossed */
    bool direct;                         /* event i is slot i */
    bool ordered;                        /* slots come in the order of their events */
    bool special;                        /* insns == 0: an instruction that is alone in its block */
    bool first;                          /* ... its first instruction is interpreted */
    bool watched;                        /* engine_watch.reached is called before it */
    bool part;                           /* it has been met within another one only: the stream does not know it */
    uint8_t mmx;                         /* registers whose upper bits are set before it (unicorn_mmx.c) */
    bool joins;                          /* extent > size: the translations behind it belong to it */
    bool changes;                        /* the code may change: it is compared at each execution */
    bool rare;                           /* special, first, watched, part, with mmx, joins, or changes */
    bool stale;                          /* the code has changed or gone: never run again */
    bool translated;                     /* stale, and Unicorn may still hold its translation */
    bool comes_back;                     /* stale, as its program has ended: the translation is as good as it was */
    uint16_t *first_event;               /* of each slot, unless direct */
    struct unicorn_pattern *patterns;    /* in the order of events, one a slot */
    uint64_t executed;                   /* instructions, since unicorn_code_take_executed() */
    struct unicorn_translation *entries; /* translations that know that they are of this block */
    uint8_t *bytes;                      /* the code */
    const struct stream_block *block;    /* NULL if insns == 0, or part */
    uint64_t interpreted[2];             /* bit i: instruction i is interpreted */
};
_Static_assert(DECODE_MAX_INSNS <= 128, "a bit for each instruction");
static inline bool unicorn_interprets(const struct unicorn_block *block, unsigned insn)
{
    return block->interpreted[insn / 64] >> insn % 64 & 1;
}

/* ------------------------------------------------------------------ unicorn_inline.c: translations that record */
/* How a block's loads and stores come from Unicorn, one by one, in the order of the program. */
struct unicorn_event {
    uint16_t insn, slot;
    uint8_t bytes;
    bool store;
    bool first;  /* of its slot, whose address it has */
    bool halves; /* and the other half follows; nothing changes before both are known to be possible */
};
#define UNICORN_EVENTS (4u * DECODE_MAX_SLOTS)

/* What translations read and write when they begin. */
struct unicorn_run_state {
    uint64_t instructions;
    volatile uint64_t pause_at;             /* behind this many the block hook is called; 0: at once */
    struct unicorn_block *current, *before; /* the block that is executed; may be NULL; the one before it */
    uint64_t *next, *limit;                 /* the end of the record of the current block, and of the batch */
    uint64_t *base;                         /* the slots of the translation that is executed lie behind this word */
    uint64_t part; /* where a translation that goes on with the current block begins; 0: it began the block */
};

/* A translation, as it knows itself. */
#define UNICORN_UNKNOWN ((uint64_t)1 << 62) /* more than any pause */
struct unicorn_translation {
    uint64_t insns; /* of the block; UNICORN_UNKNOWN: it is not known, or asks for the block hook each time, ... */
    struct unicorn_block *block; /* ... and this is NULL, */
    uint64_t bytes, header;      /* and these are 0: of its record, and the first word of that */
    uint64_t pc;
    uint32_t size;
    struct unicorn_translation *next; /* of the same block */
};

/* How translations are made. */
struct unicorn_run_mode {
    bool records;
    struct unicorn_run_state *run_state;
    void *hook, *self; /* the block hook, which is called only where it must be; NULL: always */
};

/* Whether this Unicorn can be made to; asked before the rest. */
bool unicorn_inline_possible(void);
/* Between begin and end Unicorn makes one translation. Where the way is to record, it stores the addresses of the
 * events behind pace->base. With an entry it begins its block by itself, and calls the block hook where entry, pace, or
 * what is left of budget and batch want it to: with the entry as pc and a size of 0. All that it has done is to be
 * taken back then. */
void unicorn_inline_begin(const struct unicorn_run_mode *way, const struct unicorn_event *events, unsigned count,
                          struct unicorn_translation *entry);
/* How many events are left over; false if there were others, or more. */
bool unicorn_inline_end(unsigned *left);

/* ------------------------------------------------------------------ unicorn_code.c: finding, learning, forgetting */
struct unicorn_code;
enum c2_status unicorn_code_create(struct unicorn_code **out, uc_engine *uc, struct c2_error *err);
void unicorn_code_destroy(struct unicorn_code *code);
/* A program begins; of the one before, unicorn_code_leave() has been told. */
enum c2_status unicorn_code_enter(struct unicorn_code *code, const struct engine_config *config, struct c2_error *err);
/* The program has ended: its blocks are stale, and no longer refer to its stream. */
void unicorn_code_leave(struct unicorn_code *code);
bool unicorn_code_may_enter(const struct unicorn_code *code); /* whether another one may begin, behind that */
/* The block of (pc, size), or NULL if it was never seen (or is stale). */
struct unicorn_block *unicorn_code_search(struct unicorn_code *code, uint64_t pc, uint32_t size);
/* The blocks found last, by pc; lent until destroy. In front of the search, as most blocks are found here. */
#define UNICORN_FRONT_ENTRIES C2_HOST_SIZE(16384u, 4u)
struct unicorn_block **unicorn_code_front(struct unicorn_code *code);
static inline size_t unicorn_front_slot(uint64_t pc) { return (pc ^ pc >> 14) % UNICORN_FRONT_ENTRIES; }
static inline struct unicorn_block *unicorn_code_find(struct unicorn_code *code, struct unicorn_block **front,
                                                      uint64_t pc, uint32_t size)
{
    struct unicorn_block *block = front[unicorn_front_slot(pc)];
    if (SHORTCUT(block && block->pc == pc && block->size == size && !block->stale))
        return block;
    return unicorn_code_search(code, pc, size);
}
/* How many instructions the translation that starts at pc may have, of `most`: those of the block by the rule of
 * stream.h, up to the first one that is interpreted; one that begins with such a one has no other. One more if the rest
 * of the block is not there yet: Unicorn shall fault on it. Fewer if that is more than Unicorn bears, or after
 * unicorn_code_trim(). */
unsigned unicorn_code_cut(struct unicorn_code *code, uint64_t pc, unsigned most);
/* Drops the translation; those that start at pc have `most` instructions at most, until another one is trimmed or the
 * code there is forgotten. */
void unicorn_code_trim(struct unicorn_code *code, uint64_t pc, uint32_t size, unsigned most);
/* Whether the block that was just translated goes on on a page that is not there yet, *page, although Unicorn has not
 * missed it: its instruction there is shorter than that of a CPU, or it has ended the translation before. */
bool unicorn_code_lacks(struct guest_va *page, const struct unicorn_code *code, uint64_t pc, uint32_t size);
/* Decodes and screens the block, which is `part` of another one; or drops a translation of what stood there before, if
 * that is not there again, one of an earlier run, or one in which a block has to start now (then *out is NULL, and the
 * block must be started again). */
enum c2_status unicorn_code_learn(struct unicorn_block **out, struct unicorn_code *code, uint64_t pc, uint32_t size,
                                  bool part, struct c2_error *err);
/* The first `count` instructions of the block are going to be executed one by one: translations of what stood there
 * before are dropped. */
enum c2_status unicorn_code_singles(struct unicorn_code *code, const struct unicorn_block *block, uint64_t count,
                                    struct c2_error *err);
/* Before each run of Unicorn. stepping: its translations have one instruction each. */
void unicorn_code_run(struct unicorn_code *code, bool stepping);
/* How translations are made from now on. */
void unicorn_code_make(struct unicorn_code *code, const struct unicorn_run_mode *way);
/* The translation is of the block, and need not ask again while the block is as it is. */
void unicorn_code_attach(struct unicorn_translation *entry, struct unicorn_block *block);
/* A translation is about to be made of what was decoded last; it has been made. */
void unicorn_code_begin(struct unicorn_code *code);
void unicorn_code_end(struct unicorn_code *code, uint32_t size);
/* For tests: from now on a translation of pc that records is taken for one that makes other accesses than its block; 0:
 * none is. */
void unicorn_code_distrust(uint64_t pc);
/* Whether there is a translation that makes other accesses than its block. */
bool unicorn_code_refused(const struct unicorn_code *code);
/* The run pauses before the block: one that is not known yet is not known to Unicorn either afterwards, or its
 * translation could outlive the code. */
void unicorn_code_left(struct unicorn_code *code, uint64_t pc, uint32_t size);
/* The stream hears of a block that has been a part of others. */
enum c2_status unicorn_code_name(struct unicorn_code *code, struct unicorn_block *block, struct c2_error *err);
/* The instruction to interpret at pc; added if need be. */
enum c2_status unicorn_code_special(struct engine_special **out, struct unicorn_code *code, uint64_t pc,
                                    struct c2_error *err);
/* The block begins or, before the instruction at pc, is left: what it does to x87 registers (unicorn_mmx.c). */
void unicorn_code_mmx_begin(struct unicorn_code *code, const struct unicorn_block *block);
void unicorn_code_mmx_leave(struct unicorn_code *code, const struct unicorn_block *block, uint64_t pc);
/* The instruction at pc has met a fault. */
void unicorn_code_mmx_faulted(struct unicorn_code *code, uint64_t pc);
/* Whether the bytes of a block with writable code are still those that were decoded. */
bool unicorn_code_fresh(const struct unicorn_block *block);
/* Blocks that start at pc are watched from now on. */
enum c2_status unicorn_code_watch(struct unicorn_code *code, uint64_t pc, struct c2_error *err);
/* Code in the range may have changed: blocks there are dropped, their translations when they are met again. Returns
 * whether there were any. */
bool unicorn_code_forget(struct unicorn_code *code, uint64_t start, uint64_t bytes);

/* As engine_take_executed: what was executed of each block, which is forgotten. */
void unicorn_code_take_executed(struct unicorn_code *code,
                                void (*take)(void *self, struct guest_va pc, uint64_t instructions), void *self);

/* ------------------------------------------------------------------ unicorn_float.c: arithmetic of SSE by the host */
enum { UNICORN_FLOAT_TRAP = 19 }; /* the number of an SSE exception that is not masked */
void unicorn_float_trust(bool trust);
/* Before each run of Unicorn: which exceptions trap, as flags of MXCSR. */
void unicorn_float_run(uint32_t unmasked);

/* ------------------------------------------------------------------ unicorn_translate.c: where translations end */
/* Translations are made for this code from now on. NULL: Unicorn ends them as it likes. */
void unicorn_translate_for(struct unicorn_code *code);
/* Without code: translations have this many instructions at most; 0: no limit. */
void unicorn_translate_most(unsigned insns);
/* gate.c: what the library lacks of what this room replaces or calls (symbols.h): a name, or its version; NULL: all is
 * there. */
const char *unicorn_gate(void);
void unicorn_gate_withhold(const char *symbol); /* for tests: the library has no such; NULL: all that it has */
void *unicorn_find(const char *name);           /* Unicorn's own function of the name; NULL: there is none */
/* The same, which there must be. */
void *unicorn_find_original(const char *name);
/* The same; *found keeps it. */
static inline void *unicorn_original(void **found, const char *name)
{
    if (C2_UNLIKELY(!*found))
        *found = unicorn_find_original(name);
    return *found;
}
bool unicorn_translating(void); /* for an engine of the guest's */

/* ------------------------------------------------------------------ unicorn_mmx.c: MMX registers as x87 numbers */
struct unicorn_mmx {
    uc_engine *uc;
    struct c2_map *late; /* pc -> registers written there; their instruction has a hook */
    uint16_t old[8];     /* upper bits of the registers that the current block writes early */
    uint64_t late_pc;    /* the instruction of the last hook; 0: there is none */
    uint8_t late_registers;
    uint16_t late_old[8];
};
/* The instruction at pc, which may be one of MMX, has not been executed: x87 registers are as before it. */
void unicorn_mmx_faulted(struct unicorn_mmx *mmx, uint64_t pc);
/* The same of the stack: what the last MMX instruction has changed is taken back (unicorn_x87.c). */
void unicorn_x87_leave_mmx(void);
enum c2_status unicorn_mmx_init(struct unicorn_mmx *mmx, uc_engine *uc, struct c2_error *err);
void unicorn_mmx_release(struct unicorn_mmx *mmx);
/* A block begins that writes the registers (bit i: MMi) before its first x87 instruction; ... */
void unicorn_mmx_write(struct unicorn_mmx *mmx, uint8_t registers);
/* ... and is left before it wrote these of them. */
void unicorn_mmx_give_back(struct unicorn_mmx *mmx, uint8_t registers);
/* What the block writes before its first x87 instruction. */
uint8_t unicorn_mmx_early(const struct decode_block *decoded);
/* Hooks what the block writes behind x87 instructions; *hooked: a translation of it must be dropped. */
enum c2_status unicorn_mmx_learn(struct unicorn_mmx *mmx, const struct decode_block *decoded, bool *hooked,
                                 struct c2_error *err);

/* ------------------------------------------------------------------ unicorn_access.c: guest loads and stores */
#define UNICORN_ACCESS_PAGES C2_HOST_SIZE(4096u, 2u)

struct unicorn_access {
    uint64_t *next; /* where the next memory event goes, if record */
    bool record;
    bool abandoned;  /* the current block was left before an instruction that changes it; its reader clears it */
    unsigned passed; /* accesses done here although Unicorn's own table might take the page */
    bool unreported; /* Unicorn reports no stores until the next run: it left amid the bytes of one */
    const struct mmu *mmu;
    struct CPUState *cpu; /* Unicorn's */
    void *env;            /* and what it hands to its functions, once it has: for which engine, ... */
    uint32_t index;       /* ... and which of its tables of pages */
    struct unicorn_run_state *run_state;
    struct c2_map *code_pages;            /* page numbers of decoded code */
    uint64_t loads[UNICORN_ACCESS_PAGES]; /* page numbers that Unicorn has admitted, by their low bits */
    uint64_t stores[UNICORN_ACCESS_PAGES];
};
enum c2_status unicorn_access_init(struct unicorn_access *access, const struct mmu *mmu,
                                   struct unicorn_run_state *run_state, struct c2_error *err);
void unicorn_access_release(struct unicorn_access *access);
/* Accesses are done for this engine from now on; NULL: all by Unicorn itself. */
void unicorn_access_run(struct unicorn_access *access);
/* Unicorn's name for the processor that runs; once it has run. */
void unicorn_access_cpu(struct CPUState *cpu);
/* Rights may have changed: Unicorn must admit every page again. */
void unicorn_access_forget(struct unicorn_access *access);
/* Unicorn's, never called in 64-bit code: here it looks whether a store of so many bytes can go on on the next page. */
void helper_boundl_x86_64(void *env, uint64_t address, int32_t bytes);
/* The range holds code: stores to its pages are Unicorn's, which watches them. */
enum c2_status unicorn_access_code(struct unicorn_access *access, uint64_t start, uint64_t bytes, struct c2_error *err);

/* ------------------------------------------------------------------ unicorn_events.c: from events to slots */
/* Fills patterns, first_event, events, direct, ordered from the decoded block. */
enum c2_status unicorn_events_plan(struct unicorn_block *block, const struct decode_block *decoded,
                                   struct c2_error *err);
void unicorn_events_release(struct unicorn_block *block);
/* The same events one by one; returns how many. */
unsigned unicorn_events_list(struct unicorn_event out[UNICORN_EVENTS], const struct decode_block *decoded);
/* Turns the `count` events of an execution of the block's first `insns` instructions into slots, in place; events
 * beyond those (of an instruction that faulted) are dropped. Returns the slots, or -1 if the events are not those
 * that the block can make. */
int unicorn_events_fold(const struct unicorn_block *block, uint64_t *words, size_t count, unsigned insns);
/* The reverse, of the `count` slots of some instructions from slot `first` on: the events that they would have been.
 * Returns how many. */
size_t unicorn_events_unfold(const struct unicorn_block *block, uint64_t *events, const uint64_t *slots, unsigned first,
                             unsigned count);

#endif
