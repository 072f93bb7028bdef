/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trace_priv: the forms that a trace is written in, and what those of records need to know of instructions.
 */
#ifndef C2_ANALYSES_TRACE_PRIV_H
#define C2_ANALYSES_TRACE_PRIV_H

#include "analyses/analyses.h"

#define TRACE_BUFFER_BYTES C2_HOST_SIZE(65536u, 256u)
#define TRACE_ITEM_BYTES 128u /* more than any line, or record */

/* ------------------------------------------------------------------ instructions, from the files that they lie in */
enum trace_branch {
    TRACE_NO_BRANCH,
    TRACE_DIRECT_JUMP,
    TRACE_INDIRECT_JUMP,
    TRACE_CONDITIONAL_JUMP, /* direct */
    TRACE_DIRECT_CALL,
    TRACE_INDIRECT_CALL,
    TRACE_RETURN,
};
#define TRACE_READ_REGISTERS 4u
#define TRACE_WRITTEN_REGISTERS 2u

struct trace_insn {
    uint64_t pc;
    uint64_t target; /* of a direct jump or call */
    uint32_t bytes;  /* 0: nothing is known */
    uint8_t branch;  /* enum trace_branch */
    uint8_t element; /* of one with a REP prefix: references of an element; else 0 */
    /* Numbers of registers, 0: no more. See trace_insns.c. */
    uint8_t read[TRACE_READ_REGISTERS], written[TRACE_WRITTEN_REGISTERS];
};
enum trace_register { TRACE_STACK_POINTER = 6, TRACE_FLAGS = 25, TRACE_INSTRUCTION_POINTER = 26 };

struct trace_insns;
enum c2_status trace_insns_create(struct trace_insns **out, struct loader_symbols *symbols, struct c2_error *err);
void trace_insns_destroy(struct trace_insns *insns); /* takes NULL */
/* What a subscriber hears of memory and of marks. */
enum c2_status trace_insns_memory(struct trace_insns *insns, bool appeared, const struct mmu_area *area,
                                  struct c2_error *err);
void trace_insns_mark(struct trace_insns *insns, enum stream_mark mark, const uint64_t *words);
/* The instruction of so many bytes (0: of any number) at pc, lent until the next call. Its own bytes are 0 where its
 * code is in no file, or is not that of the file any more. */
const struct trace_insn *trace_insns_at(struct trace_insns *insns, uint64_t pc, uint32_t bytes);

/* ------------------------------------------------------------------ forms */
struct trace {
    struct analysis base;
    const struct trace_form *form;
    struct c2_outfile *file;
    FILE *stream;
    struct c2_packer *packer;
    bool physical;             /* addresses, where the form has one alone */
    uint64_t line_bytes;       /* of the machine */
    struct trace_insns *insns; /* where the form wants them; else NULL */
    void *own;                 /* the form's */
    size_t used;
    uint8_t buffer[TRACE_BUFFER_BYTES];
};

struct trace_form {
    const char *name;
    const char *endings[2]; /* of a file's name, without that of compressed ones; NULL: no more */
    bool wants_insns;       /* what instructions do */
    bool has_both;          /* addresses, so that there is nothing to choose */
    bool physical;          /* what addresses are, where nobody chooses */
    const char *header;     /* of a file of zstd's: a skippable frame; NULL: none */
    enum c2_status (*begin)(struct trace *trace, struct c2_error *err); /* makes `own`; again for the child of a fork */
    enum c2_status (*reference)(void *trace, const struct sim_reference *reference, struct c2_error *err);
    enum c2_status (*instructed)(void *trace, const struct sim_reference *named, enum caches_instruction what,
                                 struct c2_error *err);
    enum c2_status (*end)(struct trace *trace, struct c2_error *err);
    void (*forget)(struct trace *trace); /* what begin() has made */
};
extern const struct trace_form trace_champsim, trace_memtrace;

enum c2_status trace_put(struct trace *trace, const void *bytes, size_t count, struct c2_error *err);
/* Where a part of a reference lies. */
static inline uint64_t trace_address(const struct trace *trace, const struct sim_reference *reference, uint32_t part)
{
    return trace->physical ? reference->part[part].pa.v : reference->part[part].va.v;
}

#endif
