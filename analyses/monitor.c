/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * monitor: the counters of a cache monitor in hardware, fewer than there are lines.
 *
 * Model
 *   C counters of B bits, each for a piece of neighbouring lines, found by association. An event is counted
 *     by the counter whose piece has its line;
 *     else by one whose piece it is next to (the piece below first), which grows by the line, if it has fewer than G;
 *     else by a free one, whose piece is that line alone; where none is free, one is swapped out.
 *   Or, aligned, pieces are the G lines from a multiple of G on. The one to be swapped out is the one that has been in
 *   use for longest (fifo), the one whose last event is longest ago (lru), or any of them (random, of a fixed seed).
 *   A counter that has counted 2^B - 1 events is swapped out and goes on from 0. It is swapped out with its piece, into
 *   a buffer in memory. Software sums up what it finds there: of a piece of several lines, each has had as many.
 *
 * Counting
 *   The error is the sum over all lines of the difference between that histogram and the exact one, divided by the sum
 *   of the exact one; in whole numbers up to the division.
 *
 * Invariants (monitor_check)
 *   No line is in two pieces; pieces have 1 to G lines; what is in the counters and in the sums are all events.
 *
 * Source
 *   M. Schulz, J. Tao, J. Jeitner, W. Karl, "A Proposal for a New Cache Monitoring Architecture", 2002, sections 3.1,
 *   3.2 and 4.4. What is not said there: which counter is swapped out, what becomes of a piece's count, whether pieces
 *   have boundaries.
 */
#include "analyses/monitor_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

struct counter {
    uint64_t start, count;
    uint64_t since, last; /* number of the event that it is in use since; of its last one */
    uint32_t lines;       /* 0: it is free */
};

struct monitor {
    struct analyses_monitor self;
    struct counter *counters;
    struct c2_map *counter_of; /* line, or aligned piece -> counter */
    struct c2_map *parts_of;   /* line -> what the software has summed, in parts of an event */
    uint32_t used, newest;     /* newest: of the last event */
    struct c2_rng rng;
};

/* ------------------------------------------------------------------ words */

static enum c2_status monitor_fail_words(const char *text, struct c2_error *err)
{
    return c2_fail(
        err, C2_ERR_INVALID,
        "--monitor %s: must be C:G[:B][:fifo|lru|random][:aligned][:LEVEL]: 1 to %u counters, each for up to 1 to %u "
        "lines, of 1 to 32 bits (32), at a level of data that the machine has; several with commas",
        text, MONITOR_COUNTERS, MONITOR_LINES);
}

static bool monitor_take_number(uint32_t *out, const char *word, uint32_t most)
{
    uint64_t number;
    if (c2_parse_number(&number, word, "", NULL) != C2_OK || number == 0 || number > most)
        return false;
    *out = (uint32_t)number;
    return true;
}

static bool monitor_take_level(struct analyses_monitor *out, const char *word, const struct caches_machine *machine)
{
    for (uint32_t i = 0; i < machine->level_count; i++) {
        if (strcmp(word, machine->levels[i].name) != 0)
            continue;
        out->level = i;
        return true;
    }
    return false;
}

static bool monitor_take_word(struct analyses_monitor *out, const char *word, const struct caches_machine *machine)
{
    static const char *const victims[] = {"fifo", "lru", "random"};
    out->aligned |= strcmp(word, "aligned") == 0;
    for (unsigned i = 0; i < sizeof victims / sizeof victims[0]; i++) {
        if (strcmp(word, victims[i]) != 0)
            continue;
        out->victim = (enum analyses_monitor_victim)i;
        return true;
    }
    return strcmp(word, "aligned") == 0 || monitor_take_level(out, word, machine);
}

enum c2_status monitor_read(struct analyses_monitor *out, const char *text, const struct caches_machine *machine,
                            struct c2_error *err)
{
    const char *at = text;
    unsigned numbers = 0;
    *out = (struct analyses_monitor){.bits = 32};
    uint32_t *const to[] = {&out->counters, &out->lines, &out->bits};
    const uint32_t most[] = {MONITOR_COUNTERS, MONITOR_LINES, 32};
    for (bool more = true, named = false; more;) {
        char word[32];
        const size_t length = strcspn(at, ":");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        more = at[length] == ':';
        at += length + 1;
        const bool number = numbers < 3 && !named && monitor_take_number(to[numbers], word, most[numbers]);
        numbers += number;
        named |= !number;
        if (length >= sizeof word || (!number && (numbers < 2 || !monitor_take_word(out, word, machine))))
            return monitor_fail_words(text, err);
    }
    return numbers >= 2 ? C2_OK : monitor_fail_words(text, err);
}

/* ------------------------------------------------------------------ life */

enum c2_status monitor_create(struct monitor **out, const struct analyses_monitor *like, struct c2_error *err)
{
    struct monitor *monitor = *out = c2_calloc(1, sizeof *monitor);
    if (!monitor)
        return c2_fail_memory(err, "a monitor");
    monitor->self = *like;
    monitor->newest = NOBODY;
    c2_rng_init(&monitor->rng, 1, "monitor");
    monitor->counters = c2_calloc(like->counters, sizeof *monitor->counters);
    enum c2_status status = monitor->counters ? c2_map_create(&monitor->counter_of, err)
                                              : c2_fail_memory(err, "a monitor");
    if (status == C2_OK)
        status = c2_map_create(&monitor->parts_of, err);
    if (status != C2_OK) {
        monitor_destroy(monitor);
        *out = NULL;
    }
    return status;
}

void monitor_destroy(struct monitor *monitor)
{
    if (!monitor)
        return;
    c2_map_destroy(monitor->counter_of);
    c2_map_destroy(monitor->parts_of);
    c2_free(monitor->counters);
    c2_free(monitor);
}

/* ------------------------------------------------------------------ swapping out */

static enum c2_status monitor_add_parts(struct monitor *monitor, uint64_t line, uint64_t parts, struct c2_error *err)
{
    uint64_t before = 0;
    c2_map_get(monitor->parts_of, line, &before);
    return c2_map_put(monitor->parts_of, line, before + parts, err);
}

/* What the software makes of it. */
static enum c2_status sum_up(struct monitor *monitor, const struct counter *counter, struct c2_error *err)
{
    const uint64_t parts = counter->count * (MONITOR_PARTS / counter->lines);
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < counter->lines && status == C2_OK && parts != 0; i++)
        status = monitor_add_parts(monitor, counter->start + i, parts, err);
    return status;
}

static void forget_lines(struct monitor *monitor, const struct counter *counter)
{
    if (monitor->self.aligned)
        c2_map_remove(monitor->counter_of, counter->start / monitor->self.lines);
    for (uint32_t i = 0; i < counter->lines && !monitor->self.aligned; i++)
        c2_map_remove(monitor->counter_of, counter->start + i);
}

static bool monitor_goes_before(const struct monitor *monitor, const struct counter *a, const struct counter *b)
{
    if (monitor->self.victim != ANALYSES_FIFO && a->last != b->last)
        return a->last < b->last;
    return a->since < b->since;
}

static enum c2_status free_one(struct monitor *monitor, uint32_t *out, struct c2_error *err)
{
    uint32_t victim = 0;
    if (monitor->used < monitor->self.counters) {
        *out = monitor->used++;
        return C2_OK;
    }
    if (monitor->self.victim == ANALYSES_RANDOM)
        victim = (uint32_t)c2_rng_below(&monitor->rng, monitor->used);
    for (uint32_t i = 1; i < monitor->used && monitor->self.victim != ANALYSES_RANDOM; i++)
        if (monitor_goes_before(monitor, &monitor->counters[i], &monitor->counters[victim]))
            victim = i;
    *out = victim;
    monitor->self.evicted++;
    forget_lines(monitor, &monitor->counters[victim]);
    return sum_up(monitor, &monitor->counters[victim], err);
}

enum c2_status monitor_flush(struct monitor *monitor, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < monitor->used && status == C2_OK; i++) {
        forget_lines(monitor, &monitor->counters[i]);
        status = sum_up(monitor, &monitor->counters[i], err);
        monitor->counters[i].lines = 0;
    }
    monitor->self.flushed += monitor->used;
    monitor->used = 0;
    monitor->newest = NOBODY;
    return status;
}

/* ------------------------------------------------------------------ events */

static enum c2_status begin_piece(struct monitor *monitor, uint64_t line, uint32_t *out, struct c2_error *err)
{
    const uint32_t lines = monitor->self.aligned ? monitor->self.lines : 1;
    enum c2_status status = free_one(monitor, out, err);
    if (status != C2_OK)
        return status;
    monitor->counters[*out] = (struct counter){
        .start = line - line % lines, .since = monitor->self.events, .lines = lines};
    return c2_map_put(monitor->counter_of, monitor->self.aligned ? line / lines : line, *out, err);
}

/* The line next to a piece that has room. */
static bool monitor_may_grow(const struct monitor *monitor, uint64_t neighbour, uint32_t *out)
{
    uint64_t found;
    if (monitor->self.aligned || !c2_map_get(monitor->counter_of, neighbour, &found))
        return false;
    *out = (uint32_t)found;
    return monitor->counters[found].lines < monitor->self.lines;
}

static enum c2_status find_piece(struct monitor *monitor, uint64_t line, uint32_t *out, struct c2_error *err)
{
    uint64_t found;
    if (c2_map_get(monitor->counter_of, monitor->self.aligned ? line / monitor->self.lines : line, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    const bool above = monitor_may_grow(monitor, line - 1, out);
    if (!above && !monitor_may_grow(monitor, line + 1, out))
        return begin_piece(monitor, line, out, err);
    struct counter *counter = &monitor->counters[*out];
    counter->start -= above ? 0 : 1;
    counter->lines++;
    return c2_map_put(monitor->counter_of, line, *out, err);
}

enum c2_status monitor_event(struct monitor *monitor, uint64_t line, struct c2_error *err)
{
    const struct counter *newest = monitor->newest == NOBODY ? NULL : &monitor->counters[monitor->newest];
    enum c2_status status = C2_OK;
    if (!newest || line - newest->start >= newest->lines) {
        status = find_piece(monitor, line, &monitor->newest, err);
        if (status != C2_OK)
            return status;
    }
    struct counter *counter = &monitor->counters[monitor->newest];
    counter->last = monitor->self.events++;
    if (++counter->count < ((uint64_t)1 << monitor->self.bits) - 1)
        return C2_OK;
    monitor->self.full++;
    status = sum_up(monitor, counter, err);
    counter->count = 0;
    return status;
}

/* ------------------------------------------------------------------ the end */

static uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Over the lines of one list that are not in the other, or in both. */
static double sum_differences(const struct c2_pair *exact, size_t exact_count, const struct c2_pair *seen,
                              size_t seen_count)
{
    unsigned __int128 sum = 0;
    size_t i = 0, k = 0;
    while (i < exact_count || k < seen_count) {
        const bool only_exact = k == seen_count || (i < exact_count && exact[i].key < seen[k].key);
        const bool only_seen = i == exact_count || (k < seen_count && seen[k].key < exact[i].key);
        const uint64_t a = only_seen ? 0 : exact[i++].value * MONITOR_PARTS, b = only_exact ? 0 : seen[k++].value;
        sum += difference(a, b);
    }
    return (double)sum / MONITOR_PARTS;
}

enum c2_status monitor_finish(struct analyses_monitor *out, const struct monitor *monitor, const struct c2_map *exact,
                              struct c2_error *err)
{
    struct c2_pair *lines = NULL, *seen = NULL;
    enum c2_status status = c2_map_list(&lines, exact, err);
    if (status == C2_OK)
        status = c2_map_list(&seen, monitor->parts_of, err);
    *out = monitor->self;
    if (status == C2_OK && out->events != 0)
        out->error = sum_differences(lines, c2_map_count(exact), seen, c2_map_count(monitor->parts_of)) /
                     (double)out->events;
    c2_free(lines);
    c2_free(seen);
    return status;
}

void monitor_check(const struct monitor *monitor)
{
    uint64_t lines = 0;
    for (uint32_t i = 0; i < monitor->used; i++) {
        const struct counter *counter = &monitor->counters[i];
        C2_ASSERT(counter->lines >= 1 && counter->lines <= monitor->self.lines);
        for (uint32_t k = 0; k < counter->lines && !monitor->self.aligned; k++) {
            uint64_t found;
            C2_ASSERT(c2_map_get(monitor->counter_of, counter->start + k, &found) && found == i);
        }
        lines += monitor->self.aligned ? 1 : counter->lines;
    }
    C2_ASSERT(c2_map_count(monitor->counter_of) == lines);
}
