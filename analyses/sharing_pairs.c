/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing_pairs: how many accesses to one block can meet.
 *
 * Model
 *   The accesses are the vertices of a graph, an edge between two that can cause an event one behind the other: of
 *   different threads, and not both loads. The most pairs are a maximum matching, whose size the theorem of Tutte and
 *   Berge gives: the least of (vertices + |U| - odd components without U) / 2 over all sets U of vertices. Here only
 *   these U can be the least: none; all stores; all accesses of the other threads than one; the stores of the other
 *   threads than one. For exchange edges are between a store and a load, and the matching is a flow: the least cut.
 *   Of two threads that is what Weidendorfer's equations 1 and 2 say.
 */
#include "analyses/sharing.h"

static uint64_t sharing_pairs_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static struct sharing_accesses sharing_pairs_sum(const struct sharing_accesses *threads, uint32_t count)
{
    struct sharing_accesses all = {0};
    for (uint32_t i = 0; i < count; i++) {
        all.loads += threads[i].loads;
        all.stores += threads[i].stores;
    }
    return all;
}

uint64_t sharing_pairs(const struct sharing_accesses *threads, uint32_t count)
{
    const struct sharing_accesses all = sharing_pairs_sum(threads, count);
    uint64_t most = sharing_pairs_least((all.loads + all.stores) / 2, all.stores);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t stores = all.stores - threads[i].stores, loads = all.loads - threads[i].loads;
        most = sharing_pairs_least(most, stores + loads);
        most = sharing_pairs_least(most, (threads[i].stores + 2 * stores + loads) / 2);
    }
    return most;
}

uint64_t sharing_exchanges(const struct sharing_accesses *threads, uint32_t count)
{
    const struct sharing_accesses all = sharing_pairs_sum(threads, count);
    uint64_t most = sharing_pairs_least(all.loads, all.stores);
    for (uint32_t i = 0; i < count; i++)
        most = sharing_pairs_least(most, all.stores - threads[i].stores + all.loads - threads[i].loads);
    return most;
}

void sharing_add(struct sharing_events *to, const struct sharing_events *what)
{
    to->worst += what->worst;
    to->exchanged += what->exchanged;
    to->false_ones += what->false_ones;
    to->carried += what->carried;
}
