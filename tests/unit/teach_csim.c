/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The course's simulator against one written down as the handout describes it: sets with the time of each line's last
 * use, searched from end to end; line for line, on traces made up at random and on the handout's small ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "teach/teach.h"

/* ------------------------------------------------------------------ the slow one */

struct slow_line {
    bool valid;
    uint64_t tag, used;
};
struct slow {
    struct machine_geometry geometry;
    struct slow_line *lines; /* [set][E] */
    uint64_t time;
    struct teach_counts counts;
};

static const char *slow_access(struct slow *slow, uint64_t address)
{
    const uint64_t block = address >> slow->geometry.block_bits;
    const uint64_t set = block & ((UINT64_C(1) << slow->geometry.set_bits) - 1);
    const uint64_t tag = block >> slow->geometry.set_bits;
    struct slow_line *lines = slow->lines + set * slow->geometry.ways, *oldest = lines;
    slow->time++;
    for (uint32_t i = 0; i < slow->geometry.ways; i++) {
        if (lines[i].valid && lines[i].tag == tag) {
            lines[i].used = slow->time;
            slow->counts.hits++;
            return " hit";
        }
        if (lines[i].used < oldest->used)
            oldest = &lines[i];
    }
    const bool evicted = oldest->valid;
    *oldest = (struct slow_line){true, tag, slow->time};
    slow->counts.misses++;
    slow->counts.evictions += evicted;
    return evicted ? " miss eviction" : " miss";
}

/* The lines that it prints for a trace of lackey's, to be freed. */
static char *slow_play(struct slow *slow, const char *trace)
{
    char *text, letter;
    size_t bytes;
    uint64_t address;
    unsigned size;
    FILE *to = open_memstream(&text, &bytes);
    slow->lines = calloc((size_t)slow->geometry.ways << slow->geometry.set_bits, sizeof *slow->lines);
    for (const char *line = trace; *line; line = strchr(line, '\n') + 1) {
        if (*line == 'I' || sscanf(line, " %c %" SCNx64 ",%u", &letter, &address, &size) != 3)
            continue;
        fprintf(to, "%c %" PRIx64 ",%u", letter, address, size);
        for (int i = 0; i < 1 + (letter == 'M'); i++)
            fputs(slow_access(slow, address), to);
        fputc('\n', to);
    }
    fclose(to);
    free(slow->lines);
    return text;
}

/* ------------------------------------------------------------------ the fast one */

/* Plays the trace; *lines are what it prints, to be freed. */
static struct teach_counts play(const struct machine_geometry *geometry, const char *text, char **lines)
{
    struct caches_machine machine;
    struct teach_csim *csim;
    struct stream_trace *trace;
    struct c2_error err = {0};
    size_t bytes;
    FILE *from = fmemopen((void *)(uintptr_t)text, strlen(text), "r"), *to = open_memstream(lines, &bytes);
    assert_int_equal(machine_of_geometry(&machine, geometry, &err), C2_OK);
    assert_int_equal(teach_csim_create(&csim, &machine, to, &err), C2_OK);
    assert_int_equal(stream_trace_open(&trace, from, "trace", "lackey", &err), C2_OK);
    teach_csim_blocks(csim, stream_trace_blocks(trace));
    assert_int_equal(stream_trace_play(trace, teach_csim_sink(csim), &err), C2_OK);
    const struct teach_counts counts = teach_csim_counts(csim);
    stream_trace_close(trace);
    teach_csim_destroy(csim);
    fclose(from);
    fclose(to);
    return counts;
}

static void same(const struct machine_geometry *geometry, const char *trace)
{
    struct slow slow = {.geometry = *geometry};
    char *expected = slow_play(&slow, trace), *lines;
    const struct teach_counts counts = play(geometry, trace, &lines);
    assert_string_equal(lines, expected);
    assert_memory_equal(&counts, &slow.counts, sizeof counts);
    free(lines);
    free(expected);
}

/* ------------------------------------------------------------------ tests */

static const char yi[] = " L 10,1\n M 20,1\n L 22,1\n S 18,1\n L 110,1\n L 210,1\n M 12,1\n";

/* The handout's own output. */
static void handout(void **state)
{
    (void)state;
    char *lines;
    struct teach_counts counts = play(&(struct machine_geometry){4, 1, 4, CACHES_LRU}, yi, &lines);
    assert_string_equal(lines, "L 10,1 miss\nM 20,1 miss hit\nL 22,1 hit\nS 18,1 hit\nL 110,1 miss eviction\n"
                               "L 210,1 miss eviction\nM 12,1 miss eviction hit\n");
    assert_int_equal(counts.hits, 4);
    assert_int_equal(counts.misses, 5);
    assert_int_equal(counts.evictions, 3);
    free(lines);
    counts = play(&(struct machine_geometry){4, 2, 4, CACHES_LRU}, yi, &lines);
    assert_int_equal(counts.hits, 4);
    assert_int_equal(counts.misses, 5);
    assert_int_equal(counts.evictions, 2);
    free(lines);
}

static void counted(uint32_t set_bits, uint32_t ways, uint32_t block_bits, const char *trace,
                    const struct teach_counts *expected)
{
    char *lines;
    const struct teach_counts counts = play(&(struct machine_geometry){set_bits, ways, block_bits, CACHES_LRU}, trace,
                                            &lines);
    assert_memory_equal(&counts, expected, sizeof counts);
    free(lines);
}

/* Two more of the lab's tests: sixteen bytes in turn, two a block, through two lines; and three blocks for two sets. */
static void small_blocks(void **state)
{
    (void)state;
    counted(1, 1, 1,
            " L 0,1\n L 1,1\n L 2,1\n L 3,1\n S 4,1\n L 5,1\n S 6,1\n L 7,1\n S 8,1\n L 9,1\n S a,1\n L b,1\n S c,1\n"
            " L d,1\n S e,1\n M f,1\n",
            &(struct teach_counts){9, 8, 6});
    counted(2, 1, 4, " L 10,4\n S 18,4\n L 20,4\n S 28,4\n S 50,4\n", &(struct teach_counts){2, 3, 1});
}

/* Fetches make no access and no line, however they stand; the size makes no second block. */
static void left_out(void **state)
{
    (void)state;
    char *lines;
    const struct teach_counts counts = play(&(struct machine_geometry){1, 1, 2, CACHES_LRU},
                                            "==7== lackey\nI  0400d7d4,8\n L 3,8\nI  0400d7d4,8\n S 4,1\n", &lines);
    assert_string_equal(lines, "L 3,8 miss\nS 4,1 miss\n");
    assert_int_equal(counts.misses, 2);
    free(lines);
}

/* Addresses are near each other, so that sets fill and lines come back, and some of them far. */
static char *random_trace(struct c2_rng *rng, unsigned count)
{
    static const char *const kinds[] = {" L", " S", " M", "I "};
    char *text;
    size_t bytes;
    const uint64_t span = UINT64_C(1) << (2 + c2_rng_below(rng, 12));
    FILE *to = open_memstream(&text, &bytes);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t base = c2_rng_below(rng, 8) == 0 ? c2_rng_below(rng, 4) << 44 : 0;
        fprintf(to, "%s %08" PRIx64 ",%u\n", kinds[c2_rng_below(rng, 4)], base + c2_rng_below(rng, span),
                1u << c2_rng_below(rng, 4));
    }
    fclose(to);
    return text;
}

/* The comparison is one: another policy has other lines. */
static bool differs(const struct machine_geometry *geometry, const char *trace)
{
    struct machine_geometry other = *geometry;
    other.policy = CACHES_FIFO;
    char *lines, *others;
    play(geometry, trace, &lines);
    play(&other, trace, &others);
    const bool different = strcmp(lines, others) != 0;
    free(lines);
    free(others);
    return different;
}

static void at_random(void **state)
{
    (void)state;
    unsigned different = 0;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "traces");
    for (int round = 0; round < 300; round++) {
        const struct machine_geometry geometry = {(uint32_t)c2_rng_below(&rng, 7), 1 + (uint32_t)c2_rng_below(&rng, 9),
                                                  (uint32_t)c2_rng_below(&rng, 7), CACHES_LRU};
        char *trace = random_trace(&rng, 400);
        same(&geometry, trace);
        different += differs(&geometry, trace);
        free(trace);
    }
    assert_in_range(different, 50, 300);
}

/* Down to a byte a block and one set, up to what there may be; beyond that it is refused. */
static void bounds(void **state)
{
    (void)state;
    struct caches_machine machine;
    struct c2_error err;
    same(&(struct machine_geometry){0, 1, 0, CACHES_LRU}, yi);
    same(&(struct machine_geometry){0, 64, 30, CACHES_LRU}, yi);
    same(&(struct machine_geometry){20, 1, 0, CACHES_LRU}, yi);
    static const struct machine_geometry refused[] = {
        {27, 1, 0, 0}, {0, 0, 0, 0}, {0, 65, 0, 0}, {0, 1, 31, 0}, {26, 2, 0, 0}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_int_equal(machine_of_geometry(&machine, &refused[i], &err), C2_ERR_UNSUPPORTED);
    assert_int_equal(machine_of_geometry(&machine, &(struct machine_geometry){26, 1, 0, 0}, &err), C2_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handout),   cmocka_unit_test(small_blocks), cmocka_unit_test(left_out),
        cmocka_unit_test(at_random), cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
