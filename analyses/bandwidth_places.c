/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth_places: windows summed up, by function, line and loop.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/bandwidth_priv.h"

/* ------------------------------------------------------------------ sums */

static void note_rate(struct bandwidth_moved *moved, double least, double most, bool first)
{
    moved->least = first || least < moved->least ? least : moved->least;
    moved->most = first || most > moved->most ? most : moved->most;
}

static void bandwidth_places_add_flow(struct bandwidth_windows *to, const struct bandwidth_window *window,
                                      uint32_t flow)
{
    struct bandwidth_moved *moved = &to->flow[flow];
    const double over = window->taken[flow] - window->peak_cycles;
    const double lost = over > 0 ? over : 0;
    const bool dominates = window->dominant == flow;
    moved->amount += window->amount[flow];
    moved->lost += lost;
    moved->dominated += dominates;
    moved->instructions += dominates ? window->instructions : 0;
    moved->lost_dominated += dominates ? lost : 0;
    const double rate = window->instructions != 0 ? (double)window->amount[flow] / (double)window->instructions : 0;
    if (window->instructions != 0)
        note_rate(moved, rate, rate, to->instructions == 0);
}

void bandwidth_add_window(struct bandwidth_windows *to, const struct bandwidth_window *window, uint32_t flow_count)
{
    for (uint32_t i = 0; i < flow_count; i++)
        bandwidth_places_add_flow(to, window, i);
    to->windows++;
    to->instructions += window->instructions;
    to->peak_cycles += window->peak_cycles;
    to->cycles += window->cycles;
}

void bandwidth_add_windows(struct bandwidth_windows *to, const struct bandwidth_windows *from, uint32_t flow_count)
{
    for (uint32_t i = 0; i < flow_count; i++) {
        struct bandwidth_moved *moved = &to->flow[i];
        const struct bandwidth_moved *more = &from->flow[i];
        moved->amount += more->amount;
        moved->dominated += more->dominated;
        moved->instructions += more->instructions;
        moved->lost += more->lost;
        moved->lost_dominated += more->lost_dominated;
        if (from->instructions != 0)
            note_rate(moved, more->least, more->most, to->instructions == 0);
    }
    to->windows += from->windows;
    to->instructions += from->instructions;
    to->peak_cycles += from->peak_cycles;
    to->cycles += from->cycles;
}

uint32_t bandwidth_main(const struct analyses_bandwidth_result *result, const struct bandwidth_windows *windows)
{
    uint32_t best = result->flow_count;
    for (uint32_t i = 0; i < result->flow_count; i++) {
        const uint64_t most = best < result->flow_count ? windows->flow[best].dominated : 0;
        best = windows->flow[i].dominated > most ? i : best;
    }
    return best;
}

/* ------------------------------------------------------------------ functions, lines and loops */

static int bandwidth_places_by_text(const char *a, const char *b)
{
    if (!a || !b)
        return (!!a) - (!!b);
    return strcmp(a, b);
}

static int by_function(const void *a, const void *b)
{
    const struct bandwidth_place *x = a, *y = b;
    const int object = bandwidth_places_by_text(x->place.object, y->place.object);
    return object != 0 ? object : bandwidth_places_by_text(x->place.function, y->place.function);
}

static int bandwidth_places_by_line(const void *a, const void *b)
{
    const struct bandwidth_place *x = a, *y = b;
    const int function = by_function(a, b), file = bandwidth_places_by_text(x->place.file, y->place.file);
    if (function != 0 || file != 0)
        return function != 0 ? function : file;
    if (x->place.line != y->place.line)
        return x->place.line < y->place.line ? -1 : 1;
    if (x->place.file) /* a line is one, whatever its instructions */
        return 0;
    return (x->pc.v > y->pc.v) - (x->pc.v < y->pc.v);
}

static int bandwidth_places_by_loop(const void *a, const void *b)
{
    const struct analyses_loop *x = ((const struct bandwidth_place *)a)->loop;
    const struct analyses_loop *y = ((const struct bandwidth_place *)b)->loop;
    return x < y ? -1 : x > y; /* of one array, or NULL */
}

static int bandwidth_places_by_order(const void *a, const void *b, int (*order)(const void *, const void *))
{
    const struct bandwidth_place *x = a, *y = b;
    const int first = order(a, b);
    return first != 0 ? first : (x->pc.v > y->pc.v) - (x->pc.v < y->pc.v);
}
static int by_function_and_pc(const void *a, const void *b) { return bandwidth_places_by_order(a, b, by_function); }
static int by_line_and_pc(const void *a, const void *b)
{
    return bandwidth_places_by_order(a, b, bandwidth_places_by_line);
}
static int by_loop_and_pc(const void *a, const void *b)
{
    return bandwidth_places_by_order(a, b, bandwidth_places_by_loop);
}

static int by_weight(const void *a, const void *b)
{
    const struct bandwidth_place *x = a, *y = b;
    if (x->windows.cycles != y->windows.cycles)
        return x->windows.cycles > y->windows.cycles ? -1 : 1;
    if (x->windows.instructions != y->windows.instructions)
        return x->windows.instructions > y->windows.instructions ? -1 : 1;
    return by_line_and_pc(a, b);
}

enum c2_status bandwidth_places_sum(struct bandwidth_place **out, size_t *out_count,
                                    const struct bandwidth_place *blocks, size_t count, uint32_t flow_count,
                                    enum bandwidth_by by, struct c2_error *err)
{
    static int (*const orders[])(const void *, const void *) = {by_function, bandwidth_places_by_line,
                                                                bandwidth_places_by_loop};
    static int (*const sorts[])(const void *, const void *) = {by_function_and_pc, by_line_and_pc, by_loop_and_pc};
    struct bandwidth_place *list = *out = c2_calloc(count + 1, sizeof *list);
    size_t used = 0;
    if (!list)
        return c2_fail_memory(err, "the bandwidth of functions, lines and loops");
    memcpy(list, blocks, count * sizeof *list);
    qsort(list, count, sizeof *list, sorts[by]);
    for (size_t i = 0; i < count; i++) {
        if (used != 0 && orders[by](&list[used - 1], &list[i]) == 0)
            bandwidth_add_windows(&list[used - 1].windows, &list[i].windows, flow_count);
        else
            list[used++] = list[i];
    }
    qsort(list, used, sizeof *list, by_weight);
    *out_count = used;
    return C2_OK;
}
