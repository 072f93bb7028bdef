/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Intervals, held to a run that is cut in the stream as engines cut it: the same random program is simulated twice,
 * once as it is, with intervals, and once with its records parted where these end, and a phase that begins there.
 * Window by window both must have counted the same, in every counter. And by hand: which access is in which interval.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unit/random_blocks.h"

#ifdef __SANITIZE_ADDRESS__
#define RECORDS 150u /* every promise is looked at there */
#else
#define RECORDS 1500u
#endif
static struct caches_machine machine(void)
{
    struct caches_machine made = {.name = "test",
                                  .line_bytes = 64,
                                  .physical_bytes = 1ull << 40,
                                  .has_l1i = true,
                                  .level_count = 2,
                                  .walks_cached = true,
                                  .walks_from = 1};
    made.levels[0] = made.l1i = (struct caches_level){
        .name = "L1D", .size_bytes = 1024, .ways = 2, .slices = 1, .hash = "none"};
    made.levels[1] = (struct caches_level){
        .name = "L2", .size_bytes = 8192, .ways = 4, .slices = 1, .hash = "none", .index = CACHES_PHYSICAL};
    give_tlbs(&made);
    return made;
}

static void set_up(struct world *world)
{
    begin_world(world);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        draw_block(world, b, false);
        for (uint32_t from = 0; from < world->insn_count[b]; from++)
            world->number[b][from] = add_part(world, b, from, world->insn_count[b] - from);
    }
    add_string(world);
}

/* ------------------------------------------------------------------ two simulators */

struct notified {
    struct sim_totals *list;
    size_t count;
    uint64_t records, fetches, instructions; /* instructions of the records told, fetches, and those of the intervals */
};

static void keep(struct notified *notified, const struct sim_totals *of)
{
    notified->list = realloc(notified->list, (notified->count + 1) * sizeof *notified->list);
    assert_non_null(notified->list);
    notified->list[notified->count++] = *of;
}

static enum c2_status interval(void *self, const struct sim_interval *ended, struct c2_error *err)
{
    struct notified *notified = self;
    (void)err;
    keep(notified, &ended->of);
    notified->instructions += ended->of.counts.instructions;
    assert_true(notified->records == 0 || notified->records - ended->rest == notified->instructions);
    assert_true(notified->fetches == 0 || notified->fetches == notified->instructions);
    return C2_OK;
}

static enum c2_status window(void *self, const struct sim_window *ended, struct c2_error *err)
{
    static const struct sim_totals nothing;
    (void)err;
    if (ended->phase == STREAM_MEASURE && memcmp(&ended->of, &nothing, sizeof nothing) != 0)
        keep(self, &ended->of);
    return C2_OK;
}

static enum c2_status records(void *self, const struct sim_records *notified, struct c2_error *err)
{
    (void)err;
    for (const uint64_t *at = notified->words; at < notified->end; at = sim_record_behind(at))
        ((struct notified *)self)->records += stream_header_insns(*at);
    return C2_OK;
}

/* Fetches are instructions, but of a string instruction that is not over. */
static enum c2_status references(void *self, const struct sim_reference *list, size_t count, struct c2_error *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        ((struct notified *)self)->fetches += list[i].kind == SIM_FETCH;
    return C2_OK;
}

static enum c2_status missed(void *self, const struct sim_miss *of, struct c2_error *err)
{
    (void)self, (void)of, (void)err;
    return C2_OK;
}

static struct sim *create(const struct world *world, const struct sim_subscriber *subscribers, size_t count)
{
    const struct caches_machine shape = machine();
    const struct sim_config config = {.machine = &shape,
                                      .seed = 1,
                                      .translation = {NULL, translate, walk, NULL},
                                      .blocks = world->blocks,
                                      .subscribers = subscribers,
                                      .subscriber_count = count};
    struct sim *sim;
    assert_int_equal(C2_OK, sim_create(&sim, &config, NULL));
    return sim;
}

struct feed {
    struct sim *sim;
    struct stream_batch batch;
};

static void flush(struct feed *feed)
{
    assert_int_equal(C2_OK, sim_consume(feed->sim, &feed->batch, NULL));
    feed->batch.used = 0;
}

static void put(struct feed *feed, uint64_t header, const uint64_t *words)
{
    const uint32_t count = stream_header_slots(header);
    feed->batch.words[feed->batch.used++] = header;
    memcpy(feed->batch.words + feed->batch.used, words, count * sizeof *words);
    feed->batch.used += count;
    if (feed->batch.used > 400)
        flush(feed);
}

static void put_phase(struct feed *feed, enum stream_phase phase)
{
    const uint64_t word = phase;
    put(feed, stream_header(STREAM_MARK, STREAM_PHASE, 1), &word);
}

/* Where the parted stream stands. */
struct parting {
    uint64_t every, left; /* left: of the interval; every: 0 where nothing is measured */
    bool warm;
};

static void part(struct feed *feed, struct parting *at)
{
    if (--at->left != 0 || at->warm)
        return;
    put_phase(feed, STREAM_MEASURE);
    at->left = at->every;
}

static void put_parted(struct feed *feed, struct parting *at, const struct world *world, uint32_t b, uint32_t run,
                       const uint64_t *words)
{
    for (uint32_t from = 0; from < run;) {
        const uint32_t to = at->warm || run - from < at->left ? run : from + (uint32_t)at->left;
        const uint16_t first = slots_up_to(world, b, from);
        put(feed, stream_header(world->number[b][from], to - from, slots_up_to(world, b, to) - first), words + first);
        at->left -= at->warm ? 0 : to - from - 1;
        part(feed, at);
        from = to;
    }
}

static void phase(struct world *world, struct feed *whole, struct feed *parted, struct parting *at)
{
    at->warm = below(world, 3) == 0;
    at->left = at->every;
    put_phase(whole, at->warm ? STREAM_WARM : STREAM_MEASURE);
    put_phase(parted, at->warm ? STREAM_WARM : STREAM_MEASURE);
}

static void plain(struct world *world, struct feed *whole, struct feed *parted, struct parting *at)
{
    const uint32_t b = below(world, BLOCKS), count = world->insn_count[b];
    const uint32_t run = below(world, 6) == 0 ? below(world, count + 1) : count;
    uint64_t words[2 * MAX_INSNS];
    for (uint32_t i = 0; i < 2 * MAX_INSNS; i++)
        words[i] = 0x10000 + below(world, 40000);
    put(whole, stream_header(world->number[b][0], run, slots_up_to(world, b, run)), words);
    put_parted(parted, at, world, b, run, words);
}

/* In pieces, as faults leave it. */
static void string(struct world *world, struct feed *whole, struct feed *parted, struct parting *at)
{
    uint64_t left = below(world, 60);
    for (bool done = false; !done;) {
        const uint64_t after = below(world, 2) ? 0 : below(world, (uint32_t)left + 1);
        const uint64_t words[] = {0x10000, 0x20000, left - after, after};
        done = after == 0;
        put(whole, stream_header(world->number[STRING][0], done, 4), words);
        put(parted, stream_header(world->number[STRING][0], done, 4), words);
        left = after;
    }
    part(parted, at);
}

/* listener: 0 to nothing else, 1 to misses, 2 to records as well, 3 to references. */
static void cut_alike(struct world *world, uint64_t every, unsigned listener)
{
    struct notified intervals = {.count = 0}, windows = {.count = 0}, other = {.count = 0};
    const struct sim_subscriber subscribers[] = {{.self = &intervals,
                                                  .interval_instructions = every,
                                                  .interval = interval,
                                                  .records = listener >= 2 ? records : NULL},
                                                 {.self = &other,
                                                  .interval_instructions = 77,
                                                  .interval = interval,
                                                  .missed = listener >= 1 ? missed : NULL,
                                                  .references = listener == 3 ? references : NULL}};
    const struct sim_subscriber cut = {.self = &windows, .window = window};
    struct feed *whole = calloc(1, sizeof *whole), *parted = calloc(1, sizeof *parted);
    struct parting at = {.every = every, .left = every};
    whole->batch.tid = parted->batch.tid = 1;
    whole->sim = create(world, subscribers, 2);
    parted->sim = create(world, &cut, 1);
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (below(world, RECORDS / 15) == 0 && listener < 2) /* listeners of records get all phases */
            phase(world, whole, parted, &at);
        (below(world, 20) == 0 ? string : plain)(world, whole, parted, &at);
    }
    flush(whole), flush(parted);
    assert_int_equal(C2_OK, sim_finish(whole->sim, NULL));
    assert_int_equal(C2_OK, sim_finish(parted->sim, NULL));
    assert_true(intervals.count > 5 && other.count > 5);
    assert_int_equal(windows.count, intervals.count);
    assert_memory_equal(windows.list, intervals.list, windows.count * sizeof *windows.list);
    assert_memory_equal(sim_measured(whole->sim), sim_measured(parted->sim), sizeof(struct sim_totals));
    sim_destroy(whole->sim), sim_destroy(parted->sim);
    free(intervals.list), free(windows.list), free(other.list), free(whole), free(parted);
}

static void intervals_are_as_if_the_stream_were_cut(void **state)
{
    static const uint64_t lengths[] = {1, 2, 7, 100};
    struct world *world = malloc(sizeof *world);
    (void)state;
    set_up(world);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned listener = 0; listener < 4; listener++)
            cut_alike(world, lengths[i], listener);
    stream_blocks_destroy(world->blocks);
    free(world);
}

/* ------------------------------------------------------------------ by hand */

/* Four instructions, a read each, of one line, another, a third, the first; twice. In threes: */
static void each_access_is_in_its_interval(void **state)
{
    static const struct stream_insn insns[] = {{0, 0, 4, 0}, {4, 1, 4, 0}, {8, 2, 4, 0}, {12, 3, 4, 0}};
    static const struct stream_slot slots[] = {
        {0, 8, STREAM_READ, 0}, {1, 8, STREAM_READ, 0}, {2, 8, STREAM_READ, 0}, {3, 8, STREAM_READ, 0}};
    const struct stream_block block = {{0x400000}, 16, 4, 4, STREAM_JUMP, insns, slots};
    const uint64_t words[] = {0x10000, 0x10040, 0x10080, 0x10000};
    struct world world;
    struct notified notified = {.count = 0};
    struct feed *feed = calloc(1, sizeof *feed);
    const struct sim_subscriber subscriber = {.self = &notified, .interval_instructions = 3, .interval = interval};
    uint32_t number;
    (void)state;
    assert_int_equal(C2_OK, stream_blocks_create(&world.blocks, NULL));
    assert_int_equal(C2_OK, stream_blocks_add(&number, world.blocks, &block, NULL));
    feed->batch.tid = 1;
    feed->sim = create(&world, &subscriber, 1);
    put(feed, stream_header(number, 4, 4), words);
    put(feed, stream_header(number, 4, 4), words);
    flush(feed);
    assert_int_equal(C2_OK, sim_finish(feed->sim, NULL));
    assert_int_equal(3, notified.count); /* 3 cold; the first line twice, the second; the third and the first */
    assert_int_equal(3, notified.list[0].levels[0].cold);
    assert_int_equal(1, notified.list[0].l1i.cold);
    assert_int_equal(1, notified.list[0].tlbs[0].misses);
    assert_int_equal(3, notified.list[1].levels[0].hits);
    assert_int_equal(3, notified.list[1].tlbs[0].accesses);
    assert_int_equal(0, notified.list[1].l1i.accesses);
    assert_int_equal(2, notified.list[2].counts.instructions);
    assert_int_equal(2, notified.list[2].levels[0].hits);
    sim_destroy(feed->sim);
    stream_blocks_destroy(world.blocks);
    free(notified.list), free(feed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_as_if_the_stream_were_cut),
        cmocka_unit_test(each_access_is_in_its_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
