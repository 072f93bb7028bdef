/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hints: what the report would have if the program were compiled, or run, in another way.
 *
 * Model
 *   A line for each, behind all else: names that debug information would give, where the program itself has none; and
 *   more cores, where no machine of the run has more than one and the program starts its threads by how many there are,
 *   or has started some: what cores take from each other is not in numbers of one core.
 */
#include "report/report_priv.h"

static void hint_at_names(struct document *d, const struct report_run *run)
{
    if (run->undebugged && run->sim.profile && !run->lanes)
        doc_note(d, DOC_FLOW, "-g:", "%s has no debug information, which names lines, and blocks by their variables",
                 run->undebugged);
}

static bool has_one_core(const struct report_run *run)
{
    bool one = caches_machine_cores(run->sim.machine) == 1;
    for (size_t i = 0; i < run->lane_count; i++)
        one &= caches_machine_cores(run->lanes[i].sim.machine) == 1;
    return one;
}

static void hint_at_cores(struct document *d, const struct report_run *run)
{
    if (!has_one_core(run))
        return;
    if (run->threading != LOADER_PLAIN)
        doc_note(d, DOC_FLOW, "--cores 4:", "the program %s found one processor; this gives it, and the machine, four",
                 run->threading == LOADER_OPENMP ? "uses OpenMP and" : "asks how many threads to start, and");
    else if (run->has_threads)
        doc_note(d, DOC_FLOW, "--set cores=4:",
                 "the threads of this run took turns on one core; with four there is "
                 "false sharing to see, and what else cores take from each other");
}

void report_add_hints(struct document *d, struct digest *digest)
{
    hint_at_names(d, report_of(digest));
    hint_at_cores(d, report_of(digest));
}
