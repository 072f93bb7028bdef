/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth_threads: windows and curves by thread.
 *
 * Model
 *   A window is of so many instructions in the order of the stream, and belongs to the thread that executed most of it,
 *   of equal ones the one that did so first: a turn lasts many windows, so that few have two threads.
 * Invariants (asserted)
 *   The windows of threads add up to all, and their curves to those of all.
 */
#include <string.h>

#include "analyses/bandwidth_priv.h"

static enum c2_status bandwidth_threads_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the bandwidth of threads");
}

static enum c2_status bandwidth_threads_find(struct bandwidth_threads *threads, uint32_t tid, struct c2_error *err)
{
    for (threads->now = 0; threads->now < threads->count; threads->now++)
        if (threads->list[threads->now].tid == tid)
            return C2_OK;
    if (!c2_grow((void **)&threads->list, &threads->room, threads->count, sizeof *threads->list) ||
        !c2_grow((void **)&threads->bins, &threads->bins_room, threads->count, sizeof *threads->bins))
        return bandwidth_threads_no_memory(err);
    memset(&threads->bins[threads->count], 0, sizeof *threads->bins);
    threads->list[threads->count++] = (struct bandwidth_thread){.tid = tid};
    return C2_OK;
}

enum c2_status bandwidth_threads_note(struct bandwidth_threads *threads, uint32_t tid, uint64_t instructions,
                                      struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (threads->count == 0 || threads->list[threads->now].tid != tid)
        status = bandwidth_threads_find(threads, tid, err);
    if (status == C2_OK)
        threads->list[threads->now].tally += instructions;
    return status;
}

/* Whose window it is. */
static struct bandwidth_thread *bandwidth_threads_owner(struct bandwidth_threads *threads)
{
    struct bandwidth_thread *most = &threads->list[0];
    for (uint32_t i = 1; i < threads->count; i++)
        if (threads->list[i].tally > most->tally)
            most = &threads->list[i];
    return most;
}

static enum c2_status bandwidth_threads_add_to_curves(struct bandwidth_curving *bins,
                                                      const struct bandwidth_window *window, uint32_t flow_count,
                                                      uint64_t steps, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < flow_count && status == C2_OK; i++)
        status = bandwidth_bins_add(&bins->flow[i], window->amount[i], window->instructions, window->dominant == i,
                                    steps, err);
    return status;
}

enum c2_status bandwidth_threads_keep(struct bandwidth_threads *threads, const struct bandwidth_window *window,
                                      uint64_t left, uint32_t flow_count, uint64_t steps, struct c2_error *err)
{
    threads->list[threads->now].tally -= left;
    struct bandwidth_thread *thread = bandwidth_threads_owner(threads);
    threads->kept = (uint32_t)(thread - threads->list);
    bandwidth_add_window(&thread->windows, window, flow_count);
    for (uint32_t i = 0; i < threads->count; i++)
        threads->list[i].tally = 0;
    threads->list[threads->now].tally = left;
    return threads->curves
               ? bandwidth_threads_add_to_curves(&threads->bins[thread - threads->list], window, flow_count, steps, err)
               : C2_OK;
}

static enum c2_status bandwidth_threads_make_curves(struct bandwidth_threads *threads, uint32_t flow_count,
                                                    struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < threads->count; i++)
        for (uint32_t k = 0; k < flow_count && status == C2_OK; k++) {
            const struct bandwidth_bins *bins = &threads->bins[i].flow[k];
            struct bandwidth_step *steps;
            status = bandwidth_bins_sort(&steps, bins, err);
            if (status == C2_OK)
                threads->list[i].curves[k] = (struct bandwidth_curve){steps, bins->count, bins->beside};
        }
    return status;
}

/* What is said of threads adds up to what is said of all. */
static void bandwidth_threads_check(const struct bandwidth_threads *threads, const struct bandwidth_windows *all,
                                    uint32_t flow_count)
{
    struct bandwidth_windows sum = {0};
    for (uint32_t i = 0; i < threads->count; i++)
        bandwidth_add_windows(&sum, &threads->list[i].windows, flow_count);
    C2_ASSERT(sum.windows == all->windows && sum.instructions == all->instructions);
    for (uint32_t k = 0; k < flow_count; k++) {
        uint64_t units = 0;
        for (uint32_t i = 0; i < threads->count && threads->curves; i++)
            for (size_t step = 0; step < threads->list[i].curves[k].count; step++)
                units += threads->list[i].curves[k].steps[step].units;
        C2_ASSERT(sum.flow[k].amount == all->flow[k].amount && sum.flow[k].dominated == all->flow[k].dominated);
        C2_ASSERT(!threads->curves || units == all->instructions);
    }
}

enum c2_status bandwidth_threads_finish(struct bandwidth_threads *threads, const struct bandwidth_windows *all,
                                        uint32_t flow_count, struct c2_error *err)
{
    enum c2_status status = threads->curves ? bandwidth_threads_make_curves(threads, flow_count, err) : C2_OK;
    if (status == C2_OK)
        bandwidth_threads_check(threads, all, flow_count);
    return status;
}

void bandwidth_threads_release(struct bandwidth_threads *threads)
{
    for (uint32_t i = 0; i < threads->count; i++)
        for (uint32_t k = 0; k < BANDWIDTH_FLOWS; k++) {
            c2_free((void *)threads->list[i].curves[k].steps);
            bandwidth_bins_release(&threads->bins[i].flow[k]);
        }
    c2_free(threads->list);
    c2_free(threads->bins);
    *threads = (struct bandwidth_threads){.curves = threads->curves};
}
