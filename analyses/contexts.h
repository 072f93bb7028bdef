/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contexts: what functions are told apart by, beside their names: arguments, recursion, callers (--separate-...).
 * contexts.c has the model; the call graph's result has what was found.
 */
#ifndef C2_ANALYSES_CONTEXTS_H
#define C2_ANALYSES_CONTEXTS_H

#include "base/base.h"

#define ANALYSES_ARGUED 64u /* functions whose parameters are told apart, at most */
/* One --separate-par. */
struct analyses_parameter {
    const char *asked;     /* as it was given, for messages */
    uint32_t function;     /* as STREAM_ARGUMENTS has it */
    unsigned number;       /* of an integer register: 1 is RDI ... 6 R9; 0: the one of the parameter that is called */
    const char *name;      /* so */
    const int64_t *bounds; /* ascending; ranges x <= b1, b1 < x <= b2, ...; */
    uint32_t bound_count;  /* 0: each value is one */
};
struct analyses_separation {
    const struct analyses_parameter *parameters;
    uint32_t parameter_count;
    uint32_t callers;    /* so many of them are part of a context */
    uint32_t recursions; /* so many levels, at least 1: the last has all that lie deeper */
    bool threads;        /* each has contexts of its own */
};

/* A function, and what it was called with. */
struct analyses_symbol {
    struct guest_va entry; /* somewhere in code that belongs to no known function: one for each file */
    const char *arguments; /* ":i=4:j=4"; "": none are told apart */
};
struct analyses_context {
    uint32_t symbol;
    uint32_t level;          /* of recursion: 1 is the outermost */
    uint32_t thread;         /* 0: not told apart */
    const uint32_t *callers; /* symbols, the nearest first */
    uint32_t caller_count;
    uint32_t cycle;            /* 1 + its number in the cycles; 0: in none */
    uint64_t calls;            /* to it */
    const uint64_t *self;      /* [event]: of instructions executed in it */
    const uint64_t *inclusive; /* from entries that no other of this context is around to their ends */
};
/* What one instruction did in one context. */
struct analyses_context_row {
    struct guest_va pc;
    uint32_t context;
    const uint64_t *cost; /* [event] */
};
/* Contexts that call each other, directly or through others; one that calls itself is none. */
struct analyses_cycle {
    uint32_t contexts;
    uint64_t calls;            /* from outside */
    const uint64_t *self;      /* of all of them */
    const uint64_t *inclusive; /* these, and calls to what is in no cycle with them */
};
struct analyses_contexts {
    const struct analyses_separation *separation;
    const struct analyses_symbol *symbols;
    uint32_t symbol_count;
    const struct analyses_context
        *contexts; /* in the order in which they were first entered; the first is the outermost */
    uint32_t context_count;
    const struct analyses_context_row *rows; /* with a cost; by context, then pc; each pair once */
    size_t row_count;
    const struct analyses_cycle *cycles; /* in the order of their first contexts */
    uint32_t cycle_count;
};

/* What reports show of it. */
struct analysis_chapter; /* analyses.h */
extern const struct analysis_chapter analyses_contexts_chapter;

#endif
