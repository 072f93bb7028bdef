/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * decode: what a guest basic block is made of - its instructions and, in the terms of stream.h, its slots. The same
 * for every engine: the record of a block depends on its bytes alone.
 */
#ifndef C2_DECODE_H
#define C2_DECODE_H

#include <Zydis/Zydis.h>

#include "base/base.h"
#include "interpret/interpret.h"
#include "stream/stream.h"

#define DECODE_MAX_INSNS STREAM_BLOCK_INSNS
#define DECODE_MAX_SLOTS (2u * DECODE_MAX_INSNS + 2u) /* of engines' own instructions no more than two each */
#define DECODE_INSN_SLOTS INTERPRET_ENTER_TOUCHES     /* of one instruction; of a REP string instruction 4 */

struct decode_insn {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

enum decode_end {
    DECODE_OPEN,    /* the bytes given are used up, maybe amid an instruction: the block goes on behind them */
    DECODE_WHOLE,   /* the block ends behind its last instruction, by the rule (stream.h) */
    DECODE_SPECIAL, /* ... before an instruction that is alone in its block, at `end` */
    DECODE_INVALID, /* ... before bytes at `end` that are no instruction */
};

/* Places where a block has to start (engine_watch.splits); `at` may be NULL: nowhere. */
struct decode_splits {
    void *self;
    bool (*at)(void *self, struct guest_va pc);
    const struct cpu_model *cpu; /* what the engine executes: the rest is alone and refused; NULL: x86-64-v2 */
};

/* What a block takes of an instruction; the same for all that differ in displacement and immediate alone. */
struct decode_form {
    uint8_t length;
    bool alone;       /* decode_is_alone(): the rest is not filled in */
    bool ends;        /* a block ends behind it, by the rule */
    bool interpreted; /* as decode_block's, and the four below likewise */
    bool x87;
    uint8_t mmx;
    uint16_t mnemonic;
    uint8_t flops, ending, slots;
    struct stream_slot slot[2]; /* `insn` is 0 */
    struct decode_own_form {
        uint64_t word[2];
    } own; /* the engine's, by decode_own */
};
typedef void decode_own(struct decode_own_form *out, const struct decode_insn *insn);

/* Forms that are remembered. forms.c */
struct decode_forms;
enum c2_status decode_forms_create(struct decode_forms **out, decode_own *own, struct c2_error *err); /* own: or NULL */
void decode_forms_destroy(struct decode_forms *forms);
/* For instructions of this processor (decode_splits) from now on. */
void decode_forms_begin(struct decode_forms *forms, const struct cpu_model *cpu);

struct decode_block {
    struct stream_block block; /* insns and slots point into the arrays below */
    enum decode_end ended;
    struct guest_va end; /* first byte not in the block */
    struct stream_insn insns[DECODE_MAX_INSNS];
    struct stream_slot slots[DECODE_MAX_SLOTS];
    uint16_t mnemonics[DECODE_MAX_INSNS]; /* ZydisMnemonic of each instruction */
    bool interpreted[DECODE_MAX_INSNS];   /* interpret.h has it, for engines that cannot execute it rightly */
    uint8_t mmx[DECODE_MAX_INSNS];        /* bit i: the instruction writes MMi */
    uint16_t first_x87;                   /* the first instruction on x87 numbers; DECODE_MAX_INSNS: none */
    struct decode_forms *forms;           /* the caller's, or NULL: each instruction is decoded anew */
    struct decode_form *kept;             /* likewise: NULL, or room for DECODE_MAX_INSNS, which get all of theirs */
};

enum decode_result {
    DECODE_GOOD,
    DECODE_BAD,  /* no instruction */
    DECODE_CUT,  /* it goes on behind the bytes given */
    DECODE_LONG, /* longer than the 15 bytes that CPUs take */
};

/* Decodes the instruction at pc, of which `bytes` may be read. */
enum decode_result decode_one(struct decode_insn *out, struct guest_va pc, uint64_t bytes);

/* The form of the instruction at pc. forms.c */
enum decode_result decode_form(struct decode_form *out, struct decode_forms *forms, struct guest_va pc, uint64_t bytes);
/* What is alone is so for this processor. */
enum decode_result decode_form_anew(struct decode_form *out, const struct cpu_model *cpu, struct guest_va pc,
                                    uint64_t bytes);
/* All of the form but `alone`, which it is not, and the engine's own. */
void decode_describe(struct decode_form *out, const struct decode_insn *insn);

/* The slots of one instruction, in program order (reads before the write); returns how many. Not of one that
 * interpret_is_masked, whose slots are other ones each time. */
unsigned decode_slots(struct stream_slot out[DECODE_INSN_SLOTS], const struct decode_insn *insn, uint16_t index);

/* That of one touch of an instruction that interpret_is_masked, which is alone in its block. */
struct stream_slot decode_touched_slot(const struct decode_insn *insn, const struct interpret_touch *touch);

/* What CMPS reads first; NULL: it is another instruction. */
const ZydisDecodedOperand *decode_compared_source(const struct decode_insn *insn);

/* The floating-point operations of one execution, of all lanes. flops.c */
unsigned decode_flops(const struct decode_insn *insn);

/* Whether it is a block of its own (stream.h), whatever executes it. alone.c */
bool decode_is_alone(const struct decode_insn *insn, const struct cpu_model *cpu);

/* Whether it says where the guest goes on: jump, call, return, loop, system call. */
bool decode_branches(const ZydisDecodedInstruction *insn);

/* How a block goes on whose last instruction this is; its slots are given. */
enum stream_ending decode_ending(const struct decode_insn *insn, const struct stream_slot *slots, unsigned count);

/* Decodes the block that starts at pc, as far as it lies in [pc, pc+bytes). insn_count may be 0. */
void decode_block(struct decode_block *out, struct guest_va pc, uint64_t bytes, struct decode_splits splits);
/* Whether an instruction of the block that a block has to start at is not its first. */
bool decode_is_split(const struct decode_block *block, struct decode_splits splits);

#endif
