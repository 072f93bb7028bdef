/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * levels: the order of levels in every report.
 */
#include "report/report_priv.h"

size_t report_levels(struct report_level out[REPORT_MAX_LEVELS], const struct report_run *run)
{
    const struct caches_machine *machine = run->machine;
    const struct caches_level *second = machine->level_count > 1 ? &machine->levels[1] : NULL;
    size_t count = 0;
    out[count++] = (struct report_level){&machine->levels[0],
                                         run->levels[0],
                                         run->levels_fifo[0],
                                         second,
                                         0,
                                         0,
                                         caches_miss_cycles(machine, 0, false),
                                         false};
    if (machine->has_l1i)
        out[count++] = (struct report_level){&machine->l1i,
                                             run->l1i,
                                             run->l1i_fifo,
                                             second,
                                             0,
                                             machine->level_count,
                                             caches_miss_cycles(machine, 0, true),
                                             true};
    for (uint32_t i = 1; i < machine->level_count; i++) {
        const struct caches_level *next = i + 1 < machine->level_count ? &machine->levels[i + 1] : NULL;
        out[count++] = (struct report_level){&machine->levels[i],
                                             run->levels[i],
                                             run->levels_fifo[i],
                                             next,
                                             i,
                                             i,
                                             caches_miss_cycles(machine, i, false),
                                             false};
    }
    return count;
}
