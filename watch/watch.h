/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * watch: what a guest does, found out where it comes to certain places (engine_watch): what it allocates, the arrays
 * in its frames, its barriers, the arguments of functions, and whether it is inside of what the user calls regions.
 * Here are the terms that users name places and regions in.
 */
#ifndef C2_WATCH_H
#define C2_WATCH_H

#include <string.h>

#include "base/base.h"
#include "mmu/mmu.h"

/* A place in the program. */
enum watch_place_kind {
    WATCH_FUNCTION, /* name: of one or many functions: as the symbol table has it, as reports show it, or that without
                   * its parameters; or a pattern of the shell for the latter two */
    WATCH_ADDRESS,  /* number: in a program that can lie anywhere also as linked */
    WATCH_LINE,     /* name: a source file's path, or its end; number: a line, which begins there */
};
struct watch_place {
    enum watch_place_kind kind;
    const char *name;
    uint64_t number;
    const char *asked; /* for messages: "--roi kernel" */
};

/* The parts of a run by what the guest does: it is inside of a region, or outside. Regions are the calls of functions,
 * or what lies between two places. */
struct watch_regions {
    const struct watch_place *functions; /* from entry to return, the outermost call */
    uint32_t function_count;
    const struct watch_place *from, *to; /* NULL: from the beginning, to the end */
    uint64_t from_arrival, to_arrival;   /* only when the guest comes there for the n-th time; 0: each time */
    /* The program's requests to Callgrind are honoured: of all that, it is inside only where it has asked for
     * instrumentation, and counted only where it needs costs collected. */
    bool requests;
    bool instrumented, collecting; /* at the beginning */
};
enum watch_where { WATCH_OUTSIDE, WATCH_UNCOUNTED, WATCH_INSIDE };
struct watch_part {
    enum watch_where where;
    bool begins;           /* another region than that of the last question */
    uint32_t region;       /* INSIDE: number of the function; 0 of places */
    struct guest_va entry; /* where it began; 0: by a request */
    /* By a request, told once: what was counted so far is to be kept by itself, or dropped. */
    const char *dump; /* the text of the request, ""; NULL: it requests nothing. Lent for the call */
    bool zeroes;
};

/* A word of guest memory that the program itself has just used; false: none is there. */
static inline bool guest_word(struct mmu *mmu, uint64_t address, uint64_t *out)
{
    if (!mmu_ready(mmu, (struct guest_va){address}, MMU_ACCESS_READ) ||
        !mmu_ready(mmu, (struct guest_va){address + sizeof *out - 1}, MMU_ACCESS_READ))
        return false;
    memcpy(out, (const void *)(uintptr_t)address, sizeof *out);
    return true;
}

#endif
