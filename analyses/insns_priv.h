/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * insns_priv: what instructions do besides memory accesses: which are branches, which registers they use.
 */
#ifndef C2_ANALYSES_INSNS_PRIV_H
#define C2_ANALYSES_INSNS_PRIV_H

#include "analyses/analyses.h"

/* Read from the files that they lie in. */
enum insns_branch {
    INSNS_NO_BRANCH,
    INSNS_DIRECT_JUMP,
    INSNS_INDIRECT_JUMP,
    INSNS_CONDITIONAL_JUMP, /* direct */
    INSNS_DIRECT_CALL,
    INSNS_INDIRECT_CALL,
    INSNS_RETURN,
};
#define INSNS_READ_REGISTERS 4u
#define INSNS_WRITTEN_REGISTERS 2u

struct insns_insn {
    uint64_t pc;
    uint64_t target; /* of a direct jump or call */
    uint32_t bytes;  /* 0: nothing is known */
    uint8_t branch;  /* enum insns_branch */
    uint8_t element; /* of one with a REP prefix: references of an element; else 0 */
    /* Numbers of registers, 0: no more. See insns.c. */
    uint8_t read[INSNS_READ_REGISTERS], written[INSNS_WRITTEN_REGISTERS];
};
enum insns_register { INSNS_STACK_POINTER = 6, INSNS_FLAGS = 25, INSNS_INSTRUCTION_POINTER = 26 };

struct insns;
enum c2_status insns_create(struct insns **out, struct loader_symbols *symbols, struct c2_error *err);
void insns_destroy(struct insns *insns); /* takes NULL */
/* What a subscriber hears of memory and of marks. */
enum c2_status insns_memory(struct insns *insns, bool appeared, const struct mmu_area *area, struct c2_error *err);
void insns_mark(struct insns *insns, enum stream_mark mark, const uint64_t *words);
/* The instruction of so many bytes (0: of any number) at pc, lent until the next call. Its own bytes are 0 where its
 * code is in no file, or is not that of the file any more. */
const struct insns_insn *insns_at(struct insns *insns, uint64_t pc, uint32_t bytes);

#endif
