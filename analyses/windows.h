/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * windows (--windows N): all counts, every N instructions. windows.c has the model.
 */
#ifndef C2_ANALYSES_WINDOWS_H
#define C2_ANALYSES_WINDOWS_H

#include "analyses/analyses.h"

#define ANALYSES_WINDOWS_LISTED C2_HOST_SIZE(10000u, 20u) /* at most */

struct analyses_window {
    uint64_t phase; /* of those that are measured, from 1 on */
    uint64_t start; /* instructions measured before it */
    struct sim_totals of;
};
/* The result of the analysis. */
struct analyses_windows_result {
    uint64_t length; /* instructions of a window; the last of a phase may be shorter */
    uint64_t count;  /* of all that there were */
    size_t listed;   /* the first of them */
    const struct analyses_window *list;
};

/* What reports show of it. */
extern const struct analysis_chapter analyses_windows_chapter;

#endif
