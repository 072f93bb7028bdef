/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Monitors of few counters: their words, a few events by thought, and random events against a naive twin, which looks
 * through a list of counters for each event and keeps what software sums up in a plain array.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyses/monitor_priv.h"

#define LINES 64u

struct twin_counter {
    uint64_t start, lines, count, since, last;
    bool used;
};
struct twin {
    struct analyses_monitor like;
    struct twin_counter list[16];
    uint64_t events, evicted, full, flushed;
    uint64_t sums[LINES + 32], exact[LINES + 32]; /* in parts of an event */
    bool break_it;                                /* pieces grow by one line too many */
};

static void twin_sum(struct twin *twin, const struct twin_counter *counter)
{
    for (uint64_t i = 0; i < counter->lines; i++)
        twin->sums[counter->start + i] += counter->count * MONITOR_PARTS / counter->lines;
}

static struct twin_counter *twin_find(struct twin *twin, uint64_t line)
{
    for (uint32_t i = 0; i < twin->like.counters; i++)
        if (twin->list[i].used && line >= twin->list[i].start && line < twin->list[i].start + twin->list[i].lines)
            return &twin->list[i];
    return NULL;
}

static struct twin_counter *twin_grow(struct twin *twin, uint64_t line)
{
    const uint64_t most = twin->like.lines + (twin->break_it ? 1 : 0);
    for (unsigned below = 0; below < 2 && !twin->like.aligned; below++) {
        struct twin_counter *near = below ? twin_find(twin, line + 1) : line == 0 ? NULL : twin_find(twin, line - 1);
        if (!near || near->lines >= most)
            continue;
        near->start -= below;
        near->lines++;
        return near;
    }
    return NULL;
}

static struct twin_counter *twin_new(struct twin *twin, uint64_t line)
{
    struct twin_counter *victim = NULL;
    for (uint32_t i = 0; i < twin->like.counters; i++) {
        struct twin_counter *at = &twin->list[i];
        const bool lru = twin->like.victim == ANALYSES_LRU;
        if (!victim || (victim->used && (!at->used || (lru ? at->last < victim->last : at->since < victim->since))))
            victim = at;
    }
    if (victim->used) {
        twin->evicted++;
        twin_sum(twin, victim);
    }
    const uint64_t lines = twin->like.aligned ? twin->like.lines : 1;
    *victim = (struct twin_counter){line / lines * lines, lines, 0, twin->events, 0, true};
    return victim;
}

static void twin_event(struct twin *twin, uint64_t line)
{
    struct twin_counter *at = twin_find(twin, line);
    if (!at)
        at = twin_grow(twin, line);
    if (!at)
        at = twin_new(twin, line);
    twin->exact[line] += MONITOR_PARTS;
    at->last = twin->events++;
    if (++at->count != ((uint64_t)1 << twin->like.bits) - 1)
        return;
    twin->full++;
    twin_sum(twin, at);
    at->count = 0;
}

static void twin_flush(struct twin *twin)
{
    for (uint32_t i = 0; i < twin->like.counters; i++) {
        if (twin->list[i].used)
            twin_sum(twin, &twin->list[i]);
        twin->flushed += twin->list[i].used;
        twin->list[i].used = false;
    }
}

static double twin_error(const struct twin *twin)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LINES + 32; i++)
        sum += twin->sums[i] > twin->exact[i] ? twin->sums[i] - twin->exact[i] : twin->exact[i] - twin->sums[i];
    return (double)sum / MONITOR_PARTS / (double)twin->events;
}

/* ------------------------------------------------------------------ beside each other */

static enum c2_status count_event(struct c2_map *exact, uint64_t line)
{
    uint64_t before = 0;
    c2_map_get(exact, line, &before);
    return c2_map_put(exact, line, before + 1, NULL);
}

static bool random_run(uint64_t seed, bool break_it)
{
    struct c2_rng rng;
    struct monitor *monitor;
    struct c2_map *exact;
    struct analyses_monitor found;
    c2_rng_init(&rng, seed, "monitor test");
    struct twin twin = {.like = {.counters = 1 + (uint32_t)c2_rng_below(&rng, 8),
                                 .lines = 1 + (uint32_t)c2_rng_below(&rng, 6),
                                 .bits = 2 + (uint32_t)c2_rng_below(&rng, 6),
                                 .aligned = c2_rng_below(&rng, 3) == 0 && !break_it,
                                 .victim = (enum analyses_monitor_victim)c2_rng_below(&rng, 2)},
                        .break_it = break_it};
    assert_int_equal(C2_OK, monitor_create(&monitor, &twin.like, NULL));
    assert_int_equal(C2_OK, c2_map_create(&exact, NULL));
    uint64_t line = 0;
    for (unsigned i = 0; i < 400; i++) {
        line = c2_rng_below(&rng, 3) ? (line + c2_rng_below(&rng, 3)) % LINES : c2_rng_below(&rng, LINES);
        assert_int_equal(C2_OK, monitor_event(monitor, line, NULL));
        assert_int_equal(C2_OK, count_event(exact, line));
        monitor_check(monitor);
        twin_event(&twin, line);
        if (c2_rng_below(&rng, 150) != 0)
            continue;
        assert_int_equal(C2_OK, monitor_flush(monitor, NULL));
        twin_flush(&twin);
    }
    assert_int_equal(C2_OK, monitor_flush(monitor, NULL));
    twin_flush(&twin);
    assert_int_equal(C2_OK, monitor_finish(&found, monitor, exact, NULL));
    monitor_destroy(monitor);
    c2_map_destroy(exact);
    return found.events == twin.events && found.evicted == twin.evicted && found.full == twin.full &&
           found.flushed == twin.flushed && fabs(found.error - twin_error(&twin)) < 1e-12;
}

static void as_its_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        if (!random_run(seed, false))
            fail_msg("seed %llu", (unsigned long long)seed);
}

static void not_as_a_broken_twin(void **state)
{
    unsigned different = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        different += !random_run(seed, true);
    assert_in_range(different, 30, 40);
}

/* ------------------------------------------------------------------ by thought */

static const struct caches_machine machine = {.level_count = 2, .levels = {{.name = "L1D"}, {.name = "L2"}}};

static void words(void **state)
{
    static const char *const wrong[] = {"",      "16",     "16:",     "0:1",        "16:17",   "5000:1",
                                        "8:2:0", "8:2:33", "8:2:lra", "8:2:4:8",    "8:lru",   "8:2:lru:4",
                                        "a:2",   "8::2",   "8:2:",    "8:2:aligne", "lru:8:2", "8:2:L3"};
    struct analyses_monitor found;
    (void)state;
    assert_int_equal(C2_OK, monitor_read(&found, "64:3:8:aligned:lru:L2", &machine, NULL));
    assert_true(found.counters == 64 && found.lines == 3 && found.bits == 8 && found.aligned &&
                found.victim == ANALYSES_LRU && found.level == 1);
    assert_int_equal(C2_OK, monitor_read(&found, "16:1", &machine, NULL));
    assert_true(found.counters == 16 && found.lines == 1 && found.bits == 32 && !found.aligned &&
                found.victim == ANALYSES_FIFO && found.level == 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct c2_error err;
        assert_int_equal(C2_ERR_INVALID, monitor_read(&found, wrong[i], &machine, &err));
        assert_non_null(strstr(err.text, "must be C:G"));
    }
}

/* Two counters for two lines each. 10 and 11 are one piece of 4 events, 20 one of 1; 30 takes the place of the first
 * (fifo) or, after another event at 10, of the second (lru). 10 has had 3 of 4, so of each 2 the error is 1 + 1; of lru
 * 4 of 5: 1.5 + 1.5. */
static void pieces(void **state)
{
    static const struct {
        const char *words;
        uint64_t events[8], evicted, flushed;
        double error;
    } cases[] = {{"2:2", {10, 11, 10, 10, 20, 30}, 1, 2, 2.0 / 6},
                 {"2:2:lru", {10, 11, 10, 10, 20, 10, 30}, 1, 2, 3.0 / 7},
                 {"2:2:aligned", {10, 11, 10, 10, 20, 30}, 1, 2, (2 + 1 + 1) / 6.0},
                 {"2:1", {10, 11, 10, 10, 20, 30}, 2, 2, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct analyses_monitor like, found;
        struct monitor *monitor;
        struct c2_map *exact;
        assert_int_equal(C2_OK, monitor_read(&like, cases[i].words, &machine, NULL));
        assert_int_equal(C2_OK, monitor_create(&monitor, &like, NULL));
        assert_int_equal(C2_OK, c2_map_create(&exact, NULL));
        for (size_t k = 0; k < 8 && cases[i].events[k] != 0; k++) {
            assert_int_equal(C2_OK, monitor_event(monitor, cases[i].events[k], NULL));
            assert_int_equal(C2_OK, count_event(exact, cases[i].events[k]));
        }
        assert_int_equal(C2_OK, monitor_flush(monitor, NULL));
        assert_int_equal(C2_OK, monitor_finish(&found, monitor, exact, NULL));
        assert_int_equal(cases[i].evicted, found.evicted);
        assert_int_equal(cases[i].flushed, found.flushed);
        assert_true(fabs(found.error - cases[i].error) < 1e-12);
        monitor_destroy(monitor);
        c2_map_destroy(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(pieces), cmocka_unit_test(as_its_twin),
                                       cmocka_unit_test(not_as_a_broken_twin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
