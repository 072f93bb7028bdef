/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Records told many at a time, and what is noted among misses that are notified later: the same random stream is
 * simulated for one that gets it record by record, so that each miss is that of the record told last, and for one that
 * is notified as late as may be. Both number the records that are not quiet; each miss must have happened in the same
 * one, in the same order.
 * References told many at a time, between misses: they come in the order in which a simulator refers that does each
 * record instruction by instruction, misses in their places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/sim_priv.h"
#include "unit/random_blocks.h"

#ifdef __SANITIZE_ADDRESS__
#define RECORDS 300u /* every promise is looked at there */
#else
#define RECORDS 3000u
#endif

enum shape {
    SMALL,
    USUAL,     /* of the loops that are made for such a one */
    ONE_STAGE, /* misses are notified at once */
    SPLIT,     /* loads and stores have TLBs of their own: the write of a modify may miss where its read did not */
};

static struct caches_machine machine(enum shape shape)
{
    const bool usual = shape == USUAL;
    struct caches_machine made = {.name = "test",
                                  .line_bytes = 64,
                                  .physical_bytes = 1ull << 40,
                                  .has_l1i = true,
                                  .level_count = 2,
                                  .walks_cached = true,
                                  .walks_from = 1};
    made.levels[0] = made.l1i = (struct caches_level){
        .name = "L1D", .size_bytes = usual ? 32768 : 1024, .ways = usual ? 8 : 2, .slices = 1, .hash = "none"};
    made.levels[1] = (struct caches_level){.name = "L2",
                                           .size_bytes = usual ? 65536 : 8192,
                                           .ways = 4,
                                           .slices = 1,
                                           .hash = "none",
                                           .index = CACHES_PHYSICAL};
    if (shape == ONE_STAGE) { /* a line has several sets */
        made.levels[1].size_bytes = 64 * 4 * 30;
        made.levels[1].index = CACHES_VIRTUAL;
    }
    give_tlbs(&made);
    if (shape == SPLIT) {
        made.tlbs[0].sides = CACHES_TLB_LOADS;
        made.tlbs[made.tlb_count] = made.tlbs[0];
        strcpy(made.tlbs[made.tlb_count].name, "DTLB of stores");
        made.tlbs[made.tlb_count++].sides = CACHES_TLB_STORES;
    }
    return made;
}

static void set_up(struct world *world)
{
    begin_world(world);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        draw_block(world, b, false);
        world->number[b][0] = add_part(world, b, 0, world->insn_count[b]);
    }
    add_string(world);
}

/* ------------------------------------------------------------------ the two listeners */

struct event {
    uint64_t place; /* records so far that are places */
    uint32_t level, kind;
    uint64_t class_;
};
struct log {
    struct event *list;
    size_t count;
};
struct listener {
    const struct world *world;
    uint64_t place, misses_at; /* places: of the last record told, and where misses are */
    uint64_t notified, calls;
    struct log misses, pages;
    bool forgets;           /* to have misses told before their place is another */
    uint64_t behind, order; /* records told when they had been simulated; a mixture of records in their order */
};

static uint64_t mixed(uint64_t order, uint64_t header, const uint64_t *words)
{
    for (uint32_t i = 0; i < stream_header_slots(header); i++)
        order = (order ^ words[i]) * 0x9e3779b97f4a7c15;
    return (order ^ header) * 0x9e3779b97f4a7c15;
}

static void keep(struct log *log, struct event event)
{
    log->list = realloc(log->list, (log->count + 1) * sizeof event);
    assert_non_null(log->list);
    log->list[log->count++] = event;
}

/* Whether the place of misses is another behind the record. */
static bool is_place(const struct world *world, uint64_t header)
{
    const uint32_t number = stream_header_block(header);
    const struct stream_block *block = stream_blocks_at(world->blocks, number);
    return number % 3 == 0 || number == world->number[STRING][0] || stream_header_insns(header) != block->insn_count;
}

/* One at a time. */
static enum c2_status record(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct listener *listener = self;
    (void)err;
    const struct sim_executed executed = sim_executed_at(records, records->words);
    const struct stream_block *block = executed.block;
    const uint32_t run = executed.insns_run;
    const uint32_t slots = run < block->insn_count ? block->insns[run].first_slot : block->slot_count;
    if (records->words == records->end)
        return C2_OK;
    assert_ptr_equal(records->end, sim_record_behind(records->words));
    listener->place += is_place(listener->world, stream_header(executed.number, executed.insns_run, 0));
    listener->notified++;
    listener->order = mixed(listener->order, stream_header(executed.number, run, slots), executed.words);
    return C2_OK;
}

/* Told of records alone, whatever marks are between them. */
static enum c2_status only_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct listener *listener = self;
    (void)err;
    assert_true(records->tid == 1);
    for (const uint64_t *word = records->words; word < records->end; word += 1 + stream_header_slots(*word)) {
        assert_true(stream_header_block(*word) != STREAM_MARK);
        listener->behind++;
        listener->order = mixed(listener->order, *word, word + 1);
    }
    return C2_OK;
}

static enum c2_status missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct listener *listener = self;
    (void)err;
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++) {
        const uint32_t level = miss->kind == SIM_FETCH && i == 0 ? 2 : i;
        keep(&listener->misses, (struct event){listener->place, level, miss->kind, miss->outcome->event[i].class_});
    }
    return C2_OK;
}

static void untranslated(void *self, enum sim_kind kind, unsigned reads)
{
    struct listener *listener = self;
    keep(&listener->pages, (struct event){listener->place, reads, kind, 0});
}

static enum c2_status tlb_missed(void *self, const struct sim_tlb_miss *miss, struct c2_error *err)
{
    (void)err;
    untranslated(self, miss->kind, miss->reads);
    return C2_OK;
}

static enum c2_status records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct listener *listener = self;
    listener->calls++;
    for (const uint64_t *word = records->words; word < records->end; word += 1 + stream_header_slots(*word)) {
        listener->place += is_place(listener->world, *word);
        listener->notified++;
    }
    if (!records->missing || listener->place == listener->misses_at)
        return C2_OK;
    const enum c2_status status = listener->forgets ? C2_OK : sim_notify_pending(records->sim, err);
    listener->misses_at = listener->place;
    return status;
}

static enum c2_status counted(void *self, const struct caches_compact *misses, size_t count, struct c2_error *err)
{
    struct listener *listener = self;
    (void)err;
    for (size_t i = 0; i < count; i++)
        keep(&listener->misses,
             (struct event){listener->misses_at, misses[i].level, sim_counted_kind(&misses[i]), misses[i].class_});
    return C2_OK;
}

/* Where the machine has one stage. */
static enum c2_status missed_late(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct listener *listener = self;
    const uint64_t place = listener->place;
    listener->place = listener->misses_at;
    const enum c2_status status = missed(self, miss, err);
    listener->place = place;
    return status;
}

static enum c2_status interval(void *self, const struct sim_interval *ended, struct c2_error *err)
{
    (void)self, (void)ended, (void)err;
    return C2_OK;
}

/* ------------------------------------------------------------------ the stream */

struct feed {
    struct sim *sims[2]; /* the first gets each record by itself; */
    bool plans;          /* and does not go by plans where it need not */
    struct stream_batch batch, one;
};

static void consume_alone(struct feed *feed, const uint64_t *word)
{
    struct sim *sim = feed->sims[0];
    feed->one.tid = feed->batch.tid;
    feed->one.used = 1 + stream_header_slots(*word);
    memcpy(feed->one.words, word, feed->one.used * sizeof *word);
    const bool mark = stream_header_block(*word) == STREAM_MARK;
    assert_int_equal(C2_OK, mark || feed->plans ? sim_consume(sim, &feed->one, NULL)
                                                : sim_consume_one(sim->now, 1, *word, feed->one.words + 1, NULL));
}

static void flush(struct feed *feed)
{
    for (const uint64_t *at = feed->batch.words; at < feed->batch.words + feed->batch.used; at = sim_record_behind(at))
        consume_alone(feed, at);
    assert_int_equal(C2_OK, sim_consume(feed->sims[1], &feed->batch, NULL));
    feed->batch.used = 0;
}

static void put(struct feed *feed, uint64_t header, const uint64_t *words)
{
    const uint32_t count = stream_header_slots(header);
    feed->batch.words[feed->batch.used++] = header;
    memcpy(feed->batch.words + feed->batch.used, words, count * sizeof *words);
    feed->batch.used += count;
    if (feed->batch.used > 900)
        flush(feed);
}

static void plain(struct world *world, struct feed *feed)
{
    const uint32_t b = below(world, BLOCKS), count = world->insn_count[b];
    const uint32_t run = below(world, 6) == 0 ? below(world, count + 1) : count;
    const uint32_t span = below(world, 3) == 0 ? 400000 : 300;
    uint64_t words[2 * MAX_INSNS];
    for (uint32_t i = 0; i < 2 * MAX_INSNS; i++)
        words[i] = 0x10000 + below(world, span);
    put(feed, stream_header(world->number[b][0], run, slots_up_to(world, b, run)), words);
}

static void string(struct world *world, struct feed *feed)
{
    const uint64_t words[] = {0x10000, 0x20000, below(world, 60), 0};
    put(feed, stream_header(world->number[STRING][0], 1, 4), words);
}

static void phase(struct world *world, struct feed *feed)
{
    const uint64_t word = below(world, 3) == 0 ? STREAM_WARM : STREAM_MEASURE;
    put(feed, stream_header(STREAM_MARK, STREAM_PHASE, 1), &word);
}

static struct sim *create(const struct world *world, enum shape shape, bool apart, const struct sim_subscriber *who,
                          size_t count)
{
    const struct caches_machine made = machine(shape);
    const struct sim_config config = {.machine = &made,
                                      .seed = 1,
                                      .translation = {NULL, translate, walk, NULL},
                                      .blocks = world->blocks,
                                      .subscribers = who,
                                      .subscriber_count = count,
                                      .apart = apart};
    struct sim *sim;
    assert_int_equal(C2_OK, sim_create(&sim, &config, NULL));
    assert_true(caches_can_defer(sim_caches(sim)) == SHORTCUT(shape != ONE_STAGE));
    return sim;
}

static bool same(const struct log *one, const struct log *other)
{
    assert_true(one->count > 100);
    return one->count == other->count && memcmp(one->list, other->list, one->count * sizeof *one->list) == 0;
}

/* apart: classes have a thread of their own; cut: there are intervals as well. */
static bool heard_alike(struct world *world, enum shape shape, bool apart, bool cut, bool forgets)
{
    struct listener in_order = {.world = world}, late = {.world = world, .forgets = forgets};
    const struct sim_subscriber first = {
        .self = &in_order, .records = record, .missed = missed, .tlb_missed = tlb_missed};
    const struct sim_subscriber second[] = {{.self = NULL, .interval_instructions = cut ? 50 : 0, .interval = interval},
                                            {.self = &late,
                                             .apart = true,
                                             .records = records,
                                             .untranslated = untranslated,
                                             .counted = counted,
                                             .missed = missed_late},
                                            {.self = &late, .records = only_records}};
    struct feed *feed = calloc(1, sizeof *feed);
    assert_non_null(feed);
    feed->batch.tid = 1;
    feed->plans = true;
    feed->sims[0] = create(world, shape, false, &first, 1);
    feed->sims[1] = create(world, shape, apart, second, 3);
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (below(world, 200) == 0)
            phase(world, feed);
        (below(world, 20) == 0 ? string : plain)(world, feed);
    }
    flush(feed);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(C2_OK, sim_finish(feed->sims[i], NULL));
    const bool alike = same(&in_order.misses, &late.misses) && same(&in_order.pages, &late.pages);
    assert_true(in_order.notified == RECORDS && late.notified == RECORDS && late.place == in_order.place);
    assert_true(late.calls < RECORDS);
    assert_true(late.behind == RECORDS && late.order == in_order.order);
    sim_destroy(feed->sims[0]), sim_destroy(feed->sims[1]);
    free(in_order.misses.list), free(in_order.pages.list), free(late.misses.list), free(late.pages.list), free(feed);
    return alike;
}

static void misses_are_where_they_were(void **state)
{
    struct world *world = malloc(sizeof *world);
    (void)state;
    assert_non_null(world);
    set_up(world);
    for (unsigned i = 0; i < 12; i++)
        assert_true(heard_alike(world, (enum shape)(i / 4), i & 1, i >> 1 & 1, false));
    stream_blocks_destroy(world->blocks);
    free(world);
}

/* The comparison can fail; where accesses have one stage, as without shortcuts, no miss is told late. */
static void not_where_misses_are_told_late(void **state)
{
    struct world *world = malloc(sizeof *world);
    (void)state;
    assert_non_null(world);
    set_up(world);
    assert_true(heard_alike(world, USUAL, false, false, true) == !SHORTCUT(true));
    stream_blocks_destroy(world->blocks);
    free(world);
}

/* ------------------------------------------------------------------ references */

/* All that is notified, in its order. */
struct order {
    uint64_t digest, references, misses, pages, records;
    enum sim_kind kind;
    uint64_t start, end; /* of the last reference */
    bool is_forgetful;
};

static void mix(struct order *order, uint64_t word) { order->digest = (order->digest ^ word) * 0x9e3779b97f4a7c15; }

static enum c2_status order_references(void *self, const struct sim_reference *list, size_t count, struct c2_error *err)
{
    struct order *order = self;
    (void)err;
    assert_true(count != 0);
    for (const struct sim_reference *of = list; of < list + count; of++) {
        struct guest_pa pa;
        mix(order, (uint64_t)of->kind << 32 | of->size);
        mix(order, (uint64_t)of->parts << 32 | of->code);
        mix(order, of->pc.v), mix(order, of->va.v), mix(order, of->part[of->parts - 1].pa.v);
        translate(NULL, of->va, &pa);
        assert_true(of->part[0].pa.v == pa.v);
        order->kind = of->kind, order->start = of->va.v, order->end = of->va.v + of->size;
        order->references++;
    }
    return C2_OK;
}

/* What misses has been notified last. */
static void is_of_last(const struct order *order, enum sim_kind kind, uint64_t va)
{
    assert_true(kind == SIM_WALK || (kind == order->kind && va < order->end && va + 64 > order->start));
}

static enum c2_status order_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct order *order = self;
    (void)err;
    is_of_last(order, miss->kind, miss->va.v);
    mix(order, miss->va.v), mix(order, (uint64_t)miss->kind << 32 | miss->code), mix(order, miss->outcome->served_by);
    order->misses++;
    return C2_OK;
}

static enum c2_status order_page(void *self, const struct sim_tlb_miss *miss, struct c2_error *err)
{
    struct order *order = self;
    (void)err;
    assert_true((miss->kind == SIM_FETCH) == (order->kind == SIM_FETCH));
    assert_true(miss->va.v < order->end && miss->va.v + 64 > order->start);
    mix(order, miss->va.v), mix(order, miss->reads);
    order->pages++;
    return C2_OK;
}

static enum c2_status order_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct order *order = self;
    (void)err;
    for (const uint64_t *at = records->words; at < records->end; at = sim_record_behind(at)) {
        mix(order, order->is_forgetful ? 0 : *at);
        order->records++;
    }
    return C2_OK;
}

/* What is listened to, as bits; the digest of all has its place in the order. */
enum { MISSES = 1, PAGES = 2, WITH_RECORDS = 4, ALWAYS = 8, CUT = 16, LISTENERS = 32 };

static bool ordered_alike(struct world *world, enum shape shape, unsigned to, bool forgetful)
{
    struct order orders[2] = {{.is_forgetful = forgetful}, {.digest = 0}};
    struct sim_subscriber who[2][2];
    struct feed *feed = calloc(1, sizeof *feed);
    assert_non_null(feed);
    feed->batch.tid = 1;
    for (unsigned i = 0; i < 2; i++) {
        who[i][0] = (struct sim_subscriber){.self = &orders[i],
                                            .in_every_phase = to & ALWAYS,
                                            .references = order_references,
                                            .missed = to & MISSES ? order_missed : NULL,
                                            .tlb_missed = to & PAGES ? order_page : NULL,
                                            .records = to & WITH_RECORDS ? order_records : NULL};
        who[i][1] = (struct sim_subscriber){.interval_instructions = to & CUT ? 50 : 0, .interval = interval};
        feed->sims[i] = create(world, shape, i == 1, who[i], 2);
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (below(world, 200) == 0)
            phase(world, feed);
        (below(world, 20) == 0 ? string : plain)(world, feed);
    }
    flush(feed);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(C2_OK, sim_finish(feed->sims[i], NULL));
        assert_true(orders[i].references > RECORDS && (orders[i].records == RECORDS) == !!(to & WITH_RECORDS));
        assert_true((orders[i].misses > 100) == !!(to & MISSES) && (orders[i].pages > 100) == !!(to & PAGES));
    }
    const bool all = sim_counts(feed->sims[0])->refs + sim_counts(feed->sims[0])->fetches == orders[1].references;
    assert_true(!(to & ALWAYS) || all);
    sim_destroy(feed->sims[0]), sim_destroy(feed->sims[1]);
    free(feed);
    return orders[0].digest == orders[1].digest && orders[0].references == orders[1].references;
}

static void references_come_before_their_misses(void **state)
{
    struct world *world = malloc(sizeof *world);
    (void)state;
    assert_non_null(world);
    set_up(world);
    for (unsigned i = 0; i < 4 * LISTENERS; i += 1 + 2 * (i % 3 == 0))
        assert_true(ordered_alike(world, (enum shape)(i / LISTENERS), i % LISTENERS, false));
    assert_false(ordered_alike(world, USUAL, MISSES | WITH_RECORDS, true));
    stream_blocks_destroy(world->blocks);
    free(world);
}

/* ------------------------------------------------------------------ threads */

/* Where the two stages would wait for each other all the time they are on one thread. */
static void short_intervals_need_no_thread(void **state)
{
    static const uint64_t lengths[] = {0, 1000, 49999, 50000};
    struct world *world = malloc(sizeof *world);
    (void)state;
    assert_non_null(world);
    set_up(world);
    for (unsigned i = 0; i < 4; i++) {
        const struct sim_subscriber who = {.interval_instructions = lengths[i], .interval = interval};
        struct sim *sim = create(world, SMALL, true, &who, 1);
        assert_true(!!sim->classifier.ring == SHORTCUT(i == 0 || i == 3));
        sim_destroy(sim);
    }
    stream_blocks_destroy(world->blocks);
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_are_where_they_were),
        cmocka_unit_test(not_where_misses_are_told_late),
        cmocka_unit_test(references_come_before_their_misses),
        cmocka_unit_test(short_intervals_need_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
