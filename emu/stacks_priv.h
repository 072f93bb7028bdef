/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stacks: where the guest's threads are, in words.
 */
#ifndef C2_STACKS_PRIV_H
#define C2_STACKS_PRIV_H

#include "emu/schedule_priv.h"
#include "loader/loader.h"
#include "mmu/mmu.h"

struct stacks_config {
    const struct schedule *schedule; /* with the registers of all of them */
    struct syscalls *kernel;
    struct mmu *mmu;
    struct loader_symbols *symbols; /* NULL: addresses alone */
};
/* For each thread what it waits for, and the functions that it is in, the innermost first, a line each; to be freed
 * with free(). NULL: no memory. */
char *stacks_text(const struct stacks_config *config);

#endif
