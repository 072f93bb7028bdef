/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trace_priv: the forms that a trace is written in, and what those of records need to know of instructions.
 */
#ifndef C2_ANALYSES_TRACE_PRIV_H
#define C2_ANALYSES_TRACE_PRIV_H

#include "analyses/insns_priv.h"

#define TRACE_BUFFER_BYTES C2_HOST_SIZE(65536u, 256u)
#define TRACE_ITEM_BYTES 128u /* more than any line, or record */

/* ------------------------------------------------------------------ forms */
struct trace {
    struct analysis base;
    const struct trace_form *form;
    struct c2_outfile *file;
    FILE *stream;
    struct c2_packer *packer;
    bool physical;       /* addresses, where the form has one alone */
    uint64_t line_bytes; /* of the machine */
    struct insns *insns; /* where the form wants them; else NULL */
    void *own;           /* the form's */
    size_t used;
    uint8_t buffer[TRACE_BUFFER_BYTES];
};

struct trace_form {
    const char *name;
    const char *endings[2]; /* of a file's name, without that of compressed ones; NULL: no more */
    bool wants_insns;       /* what instructions do */
    bool has_both;          /* addresses, so that there is nothing to choose */
    bool physical;          /* what addresses are, by default */
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
