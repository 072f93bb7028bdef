/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth_shared: paths that cores share, and what they ask of them at one time.
 *
 * Model
 *   A path is shared where both its ends are: between shared levels, and to memory. That into a shared level is each
 *   core's own.
 *   Threads take turns, in the order of the schedule; a round is turns of different cores behind each other. What is
 *   behind each other in a round is taken to run at one time: each core begins its turn with the round, and its windows
 *   follow each other, each as long as it takes alone. So a core that waits for others, and has no turn, requests
 *   nothing. A turn ends after the quantum as well, where that is known.
 *   While a window runs each of its flows has one rate. A piece of the round, in which no core goes on to its next
 *   window, has the sum of the rates of all cores. Where that is above the limit of the path, the piece takes as much
 *   longer; of several flows the one that is above by the largest factor dominates it. (All cores wait for it then,
 *   those too that do not ask for any of it: how they would shift is not known.)
 *   The next round begins when the longest turn is over.
 *
 * Counting
 *   Time is that of the rounds' longest turns; lost is what pieces take longer. A window is the core's of the thread
 *   that executed most of it.
 *
 * Invariants (asserted)
 *   What the cores have moved is what the flow has.
 *
 * Memory
 *   The windows of a round; a turn of unknown quantum is cut after TURN windows.
 *
 * Not modelled
 *   Bursts within a window; what a core does while others wait for it; requests that wait in queues.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/bandwidth_priv.h"

#define TURN 65536u

/* A window of a turn. */
struct asked {
    double cycles;
    uint64_t amount[BANDWIDTH_FLOWS];
};

/* A core in a round. */
struct turn {
    struct asked *windows;
    uint32_t count, room;
    uint32_t now; /* while the round is notified: the window, */
    double left;  /* and what is left of it, in cycles */
};

struct bandwidth_shared {
    const struct analyses_bandwidth_result *of;
    uint32_t cores, running, tid;
    uint64_t quantum, in_turn; /* instructions; quantum 0: not known */
    struct turn *turns;        /* [core] */
    struct bandwidth_together together;
};

/* ------------------------------------------------------------------ life */

static bool is_shared(const struct caches_machine *machine, uint32_t flow)
{
    const uint32_t path = flow / 2;
    return path == machine->level_count || (path > caches_machine_private(machine) && path < machine->level_count);
}

enum c2_status bandwidth_shared_create(struct bandwidth_shared **out, const struct analyses_bandwidth_result *of,
                                       const struct caches_machine *machine, uint64_t quantum, struct c2_error *err)
{
    struct bandwidth_shared *shared = *out = c2_calloc(1, sizeof *shared);
    if (!shared)
        return c2_fail_memory(err, "the paths that cores share");
    shared->of = of;
    shared->cores = shared->together.core_count = caches_machine_cores(machine);
    shared->quantum = quantum;
    for (uint32_t i = 0; i + 1 < of->flow_count; i++)
        shared->together.flow[i].shared = is_shared(machine, i);
    const size_t cells = (size_t)of->flow_count * shared->cores;
    shared->turns = c2_calloc(shared->cores, sizeof *shared->turns);
    shared->together.of_core = c2_calloc(cells, sizeof *shared->together.of_core);
    return shared->turns && shared->together.of_core ? C2_OK : c2_fail_memory(err, "the paths that cores share");
}

void bandwidth_shared_destroy(struct bandwidth_shared *shared)
{
    if (!shared)
        return;
    for (uint32_t i = 0; i < shared->cores && shared->turns; i++)
        c2_free(shared->turns[i].windows);
    c2_free(shared->turns);
    c2_free(shared->together.of_core);
    c2_free(shared);
}

/* ------------------------------------------------------------------ a round */

/* How long no core goes on to its next window; 0: the round is over. */
static double bandwidth_shared_piece_of(const struct bandwidth_shared *shared)
{
    double least = 0;
    for (uint32_t i = 0; i < shared->cores; i++) {
        const struct turn *turn = &shared->turns[i];
        if (turn->now < turn->count && (least <= 0 || turn->left < least))
            least = turn->left;
    }
    return least;
}

static double rate_of(const struct turn *turn, uint32_t flow)
{
    const struct asked *window = &turn->windows[turn->now];
    return turn->now < turn->count && window->cycles > 0 ? (double)window->amount[flow] / window->cycles : 0;
}

/* The factor by which more is asked for than the path gives; below 1: it is not. */
static double excess(struct bandwidth_shared *shared, uint32_t flow)
{
    struct bandwidth_contended *of = &shared->together.flow[flow];
    const uint32_t limit = shared->of->flows[flow].limit;
    double rate = 0;
    for (uint32_t i = 0; i < shared->cores; i++)
        rate += rate_of(&shared->turns[i], flow);
    of->most = rate > of->most ? rate : of->most;
    return limit != 0 ? rate * 1000 / limit : 0;
}

/* Sums of fractions that are one limit by itself may come out a little above it. */
#define ABOVE (1 + 1e-9)

static void notify_piece(struct bandwidth_shared *shared, double cycles)
{
    uint32_t dominant = shared->of->flow_count;
    double most = ABOVE;
    for (uint32_t i = 0; i + 1 < shared->of->flow_count; i++) {
        const double factor = shared->together.flow[i].shared ? excess(shared, i) : 0;
        dominant = factor > most ? i : dominant;
        most = factor > most ? factor : most;
    }
    shared->together.alone += cycles;
    if (dominant == shared->of->flow_count)
        return;
    struct bandwidth_contended *of = &shared->together.flow[dominant];
    of->cycles += cycles;
    of->lost += cycles * (most - 1);
    for (uint32_t i = 0; i < shared->cores; i++)
        shared->together.of_core[(size_t)dominant * shared->cores + i].contended += rate_of(&shared->turns[i],
                                                                                            dominant) *
                                                                                    cycles;
}

static void begin_window(struct turn *turn)
{
    while (turn->now < turn->count && turn->windows[turn->now].cycles <= 0)
        turn->now++;
    if (turn->now < turn->count)
        turn->left = turn->windows[turn->now].cycles;
}

static void bandwidth_shared_pass(struct turn *turn, double cycles)
{
    if (turn->now == turn->count)
        return;
    turn->left -= cycles;
    if (turn->left > 0)
        return;
    turn->now++;
    begin_window(turn);
}

void bandwidth_shared_end(struct bandwidth_shared *shared)
{
    uint32_t turns = 0;
    for (uint32_t i = 0; i < shared->cores; i++) {
        turns += shared->turns[i].count != 0;
        shared->turns[i].now = 0;
        begin_window(&shared->turns[i]);
    }
    shared->together.rounds += turns != 0;
    shared->together.parallel += turns > 1;
    for (double cycles; (cycles = bandwidth_shared_piece_of(shared)) > 0;) {
        notify_piece(shared, cycles);
        for (uint32_t i = 0; i < shared->cores; i++)
            bandwidth_shared_pass(&shared->turns[i], cycles);
    }
    for (uint32_t i = 0; i < shared->cores; i++)
        shared->turns[i].count = 0;
    shared->in_turn = 0;
}

/* ------------------------------------------------------------------ windows */

/* Another turn begins: of a core that has had one in this round, another round. */
static void begin_turn(struct bandwidth_shared *shared, uint32_t tid)
{
    const uint32_t core = sim_core_of(tid, shared->cores);
    if (shared->turns[core].count != 0)
        bandwidth_shared_end(shared);
    shared->tid = tid;
    shared->running = core;
    shared->in_turn = 0;
}

enum c2_status bandwidth_shared_window(struct bandwidth_shared *shared, uint32_t tid,
                                       const struct bandwidth_window *window, struct c2_error *err)
{
    const bool over = shared->quantum != 0 ? shared->in_turn >= shared->quantum
                                           : shared->turns[shared->running].count >= TURN;
    if (tid != shared->tid || over)
        begin_turn(shared, tid);
    struct turn *turn = &shared->turns[shared->running];
    if (!c2_grow((void **)&turn->windows, &turn->room, turn->count, sizeof *turn->windows))
        return c2_fail_memory(err, "the paths that cores share");
    struct asked *asked = &turn->windows[turn->count++];
    asked->cycles = window->cycles;
    memcpy(asked->amount, window->amount, sizeof asked->amount);
    shared->in_turn += window->instructions;
    for (uint32_t i = 0; i + 1 < shared->of->flow_count; i++)
        shared->together.of_core[(size_t)i * shared->cores + shared->running].amount += window->amount[i];
    return C2_OK;
}

void bandwidth_shared_drop(struct bandwidth_shared *shared)
{
    struct bandwidth_together *together = &shared->together;
    bandwidth_shared_end(shared);
    memset(together->of_core, 0, (size_t)shared->of->flow_count * shared->cores * sizeof *together->of_core);
    together->rounds = together->parallel = 0;
    together->alone = 0;
    for (uint32_t i = 0; i < BANDWIDTH_FLOWS; i++)
        together->flow[i] = (struct bandwidth_contended){.shared = together->flow[i].shared};
}

const struct bandwidth_together *bandwidth_shared_result(struct bandwidth_shared *shared)
{
    bandwidth_shared_end(shared);
    for (uint32_t i = 0; i + 1 < shared->of->flow_count; i++) {
        uint64_t sum = 0;
        for (uint32_t core = 0; core < shared->cores; core++)
            sum += shared->together.of_core[(size_t)i * shared->cores + core].amount;
        C2_ASSERT(sum == shared->of->all.flow[i].amount);
    }
    return &shared->together;
}
