/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The profile of a few accesses worked out by hand. L1D is direct-mapped with 4 sets of 64 bytes, so lines 256 bytes
 * apart evict each other; its shadow has 4 lines, more than are ever in turn, so each such miss is a conflict but for
 * the first of its line, which is cold. L2 has 64 lines in 16 sets of 4 ways and keeps all of them: cold misses only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analyses/where.h"
#include "unit/made_level.h"

#define HEAP 0x1120000000ull
#define STACK 0x3fff37800000ull
#define ARRAY (HEAP + 0x2000)
#define ROUNDS 10u

/* Blocks of two instructions of 4 bytes, each of which reads once: 0 at 0x1000 and 1 at 0x2000; block 2 at 0x3000 is
 * one instruction that reads twice. */
static struct stream_blocks *make_blocks(struct c2_error *err)
{
    static const struct stream_insn insns[2] = {{.length = 4}, {.offset = 4, .first_slot = 1, .length = 4}};
    static const struct stream_slot two[2] = {{0, 8, STREAM_READ, 0}, {1, 8, STREAM_READ, 0}};
    static const struct stream_slot one[2] = {{0, 8, STREAM_READ, 0}, {0, 8, STREAM_READ, 0}};
    const struct stream_block list[3] = {{{0x1000}, 8, 2, 2, STREAM_JUMP, insns, two},
                                         {{0x2000}, 8, 2, 2, STREAM_JUMP, insns, two},
                                         {{0x3000}, 4, 1, 2, STREAM_JUMP, insns, one}};
    struct stream_blocks *blocks;
    uint32_t number;
    if (stream_blocks_create(&blocks, err) != C2_OK)
        return NULL;
    for (unsigned i = 0; i < 3; i++) {
        if (stream_blocks_add(&number, blocks, &list[i], err) == C2_OK)
            continue;
        stream_blocks_destroy(blocks);
        return NULL;
    }
    return blocks;
}

static void put(struct stream_batch *batch, uint64_t word) { batch->words[batch->used++] = word; }

static void put_allocation(struct stream_batch *batch, uint64_t address, uint64_t bytes, uint64_t site)
{
    put(batch, stream_header(STREAM_MARK, STREAM_ALLOCATED, 4));
    put(batch, address);
    put(batch, bytes);
    put(batch, STREAM_MALLOC);
    put(batch, site);
}

static void put_rounds(struct stream_batch *batch, uint32_t block, uint32_t insns, uint64_t first, uint64_t second)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        put(batch, stream_header(block, insns, 2));
        put(batch, first);
        put(batch, second);
    }
}

/* Two small blocks in turn; then two places of one array in turn; then the first block and the stack in turn; then the
 * first block is freed and read again. */
static void fill(struct stream_batch *batch)
{
    batch->tid = 1;
    batch->used = 0;
    put_allocation(batch, HEAP, 64, 0x5000);
    put_allocation(batch, HEAP + 256, 64, 0x6000);
    put_allocation(batch, ARRAY, 4096, 0x7000);
    put_rounds(batch, 0, 2, HEAP, HEAP + 256);
    put_rounds(batch, 2, 1, ARRAY, ARRAY + 256);
    put_rounds(batch, 1, 2, HEAP + 8, STACK + 8);
    put(batch, stream_header(STREAM_MARK, STREAM_FREED, 1));
    put(batch, HEAP);
    put(batch, stream_header(0, 1, 1));
    put(batch, HEAP);
}

struct run {
    struct caches_machine machine;
    struct stream_blocks *blocks;
    struct analyses *analyses;
    struct sim *sim;
    struct stream_batch *batch;
    uint64_t entry; /* 0: nothing is start-up */
    bool spots;     /* references are counted by spot, too: */
    struct where *where;
    uint64_t at[32]; /* [spot] */
    struct where_row *rows;
    size_t row_count;
};

static enum c2_status count_spot(struct run *run, const struct sim_reference *reference, struct c2_error *err)
{
    uint32_t spot = 0;
    if (reference->kind == SIM_FETCH)
        return C2_OK;
    enum c2_status status = where_spot(run->where, reference->code, reference->kind, reference->va, &spot, err);
    if (status == C2_OK)
        run->at[spot]++;
    return status;
}

static enum c2_status count_spots(void *self, const struct sim_reference *list, size_t count, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = count_spot(self, &list[i], err);
    return status;
}

static enum c2_status order_spots(void *self, struct sim *sim, struct c2_error *err)
{
    struct run *run = self;
    (void)sim;
    return where_rows(&run->rows, &run->row_count, run->where, err);
}

static enum c2_status map(struct run *run, uint64_t start, uint64_t bytes, enum mmu_kind kind, struct c2_error *err)
{
    const struct mmu_area area = {.start = {start}, .bytes = bytes, .kind = kind};
    return sim_memory(run->sim, true, &area, err);
}

/* All of it; the result or, with a status, nothing. */
static enum c2_status go(struct run *run, const struct analyses_profile_result **out, struct c2_error *err)
{
    run->machine = (struct caches_machine){.line_bytes = 64,
                                           .physical_bytes = 1ull << 40,
                                           .level_count = 2,
                                           .levels = {made_level("L1D", 256, 1), made_level("L2", 4096, 4)}};
    const char *const given[ANALYSES_KINDS] = {NULL};
    const struct analyses_setup setup = {.machine = &run->machine, .given = given, .samples = true};
    run->blocks = make_blocks(err);
    run->batch = c2_alloc(sizeof *run->batch);
    enum c2_status status = !run->blocks || !run->batch ? C2_ERR_NO_MEMORY : C2_OK;
    if (status == C2_OK)
        status = analyses_create(&run->analyses, &setup, err);
    if (status != C2_OK)
        return status;
    struct sim_config config = {.machine = &run->machine,
                                .seed = 1,
                                .translation = {.translate = identity},
                                .blocks = run->blocks,
                                .samples = true};
    analyses_subscribe(run->analyses, &config);
    struct sim_subscriber both[2] = {config.subscribers[0],
                                     {.self = run, .references = count_spots, .finish = order_spots}};
    if (run->spots && where_create(&run->where, run->analyses, err) != C2_OK)
        return C2_ERR_NO_MEMORY;
    if (run->spots) {
        config.subscribers = both;
        config.subscriber_count = 2;
    }
    const uint64_t loaded[2] = {run->entry, 0};
    if (run->entry != 0)
        config.subscribers[0].mark(config.subscribers[0].self, STREAM_LOADED, loaded, err);
    status = sim_create(&run->sim, &config, err);
    if (status == C2_OK)
        status = map(run, HEAP, 0x21000, MMU_HEAP, err);
    if (status == C2_OK)
        status = map(run, STACK, 0x800000, MMU_STACK, err);
    fill(run->batch);
    if (status == C2_OK)
        status = sim_consume(run->sim, run->batch, err);
    if (status == C2_OK)
        status = sim_finish(run->sim, err);
    if (status == C2_OK)
        *out = analyses_result(run->analyses, ANALYSIS_profile);
    return status;
}

static void end(struct run *run)
{
    sim_destroy(run->sim);
    where_destroy(run->where);
    c2_free(run->rows);
    analyses_destroy(run->analyses);
    stream_blocks_destroy(run->blocks);
    c2_free(run->batch);
}

/* The pair of L1D whose instructions are these; NULL: there is none. */
static const struct analyses_pair *find_pair(const struct analyses_profile_result *result, uint64_t victim,
                                             uint64_t evictor)
{
    for (size_t i = 0; i < result->pair_count; i++) {
        const struct analyses_pair *pair = &result->pairs[i];
        if (pair->evictor == ANALYSES_NOBODY || pair->level != 0)
            continue;
        if (result->insns[result->rows[pair->victim].insn].pc.v == victim &&
            result->insns[result->rows[pair->evictor].insn].pc.v == evictor)
            return pair;
    }
    return NULL;
}

static void check_pair(const struct analyses_profile_result *result, uint64_t victim, const char *victim_object,
                       uint64_t evictor, const char *evictor_object, enum analyses_reason reason, uint64_t count)
{
    const struct analyses_pair *pair = find_pair(result, victim, evictor);
    assert_non_null(pair);
    assert_string_equal(victim_object, result->objects[result->rows[pair->victim].object].name);
    assert_string_equal(evictor_object, result->objects[result->rows[pair->evictor].object].name);
    assert_int_equal(reason, pair->reason);
    assert_int_equal(count, pair->count);
}

static const struct analyses_object *object(const struct analyses_profile_result *result, const char *name)
{
    for (size_t i = 0; i < result->object_count; i++)
        if (strcmp(result->objects[i].name, name) == 0)
            return &result->objects[i];
    fail_msg("no object %s", name);
    return NULL;
}

static uint64_t of_startup(const struct analyses_object *object, uint32_t level, enum analyses_class class_)
{
    return object->startup[level].reads[class_];
}

/* HEAP, HEAP + 256, ARRAY and STACK all lie in set 0. In order:
 *   blocks in turn  2 cold; then each of the other 2 * 9 accesses finds the other block's line: 9 conflicts each way.
 *   the array       ARRAY cold (evicts HEAP + 256), ARRAY + 256 cold; then 2 * 9 conflicts of one instruction in one
 *   array. with the stack  HEAP: evicted last by HEAP + 256's read at 0x1004, in the shadow of 4 lines (HEAP, HEAP +
 *                   256, the two of the array): one conflict, reason inter-array. Then STACK cold, 9 conflicts each
 *                   way, inter-array: what else is on the stack is no scalar.
 *   freed           HEAP again, now the heap's own, evicted by the stack's read: one conflict. */
static void known_answers(void **state)
{
    (void)state;
    const struct analyses_profile_result *result;
    struct run run = {.sim = NULL};
    struct c2_error err;
    assert_int_equal(C2_OK, go(&run, &result, &err));

    check_pair(result, 0x1000, "malloc#1", 0x1004, "malloc#2", ANALYSES_REASON_INTER, 9);
    check_pair(result, 0x1004, "malloc#2", 0x1000, "malloc#1", ANALYSES_REASON_INTER, 9);
    check_pair(result, 0x3000, "malloc#3", 0x3000, "malloc#3", ANALYSES_REASON_INTRA, 18);
    check_pair(result, 0x2000, "malloc#1", 0x1004, "malloc#2", ANALYSES_REASON_INTER, 1);
    check_pair(result, 0x2000, "malloc#1", 0x2004, "stack", ANALYSES_REASON_INTER, 9);
    check_pair(result, 0x2004, "stack", 0x2000, "malloc#1", ANALYSES_REASON_INTER, 9);
    check_pair(result, 0x1000, "heap", 0x2004, "stack", ANALYSES_REASON_INTER, 1);
    assert_int_equal(7, result->pair_count);
    assert_int_equal(38, result->reasons[0][ANALYSES_REASON_INTER]);
    assert_int_equal(18, result->reasons[0][ANALYSES_REASON_INTRA]);
    assert_int_equal(0, result->reasons[0][ANALYSES_REASON_SCALAR]);

    assert_int_equal(2 * ROUNDS, object(result, "malloc#1")->refs); /* what was read after it was freed is not its */
    assert_int_equal(ROUNDS, object(result, "malloc#2")->refs);
    assert_int_equal(2 * ROUNDS, object(result, "malloc#3")->refs);
    assert_int_equal(ROUNDS, object(result, "stack")->refs);
    assert_int_equal(1, object(result, "heap")->refs);
    assert_int_equal(1, object(result, "malloc#1")->level[0].reads[ANALYSES_COLD]);
    assert_int_equal(19, object(result, "malloc#1")->level[0].reads[ANALYSES_CONFLICT]);
    assert_int_equal(1, object(result, "stack")->level[1].reads[ANALYSES_COLD]);
    assert_int_equal(0, of_startup(object(result, "malloc#1"), 0, ANALYSES_CONFLICT)); /* no phase is known */

    assert_int_equal(5, result->insn_count);
    assert_int_equal(0x1000, result->insns[0].pc.v);
    assert_int_equal(ROUNDS + 1, result->insns[0].executed);
    assert_int_equal(0x3000, result->insns[4].pc.v);
    assert_int_equal(2 * ROUNDS, result->insns[4].reads);
    end(&run);
}

/* The program begins with the block at 0x2000: what comes before it is start-up, also of an instruction and an object
 * that both go on afterwards. */
static void startup_ends_with_the_entry(void **state)
{
    (void)state;
    const struct analyses_profile_result *result;
    struct run run = {.entry = 0x2000};
    struct c2_error err;
    assert_int_equal(C2_OK, go(&run, &result, &err));
    const struct analyses_object *first = object(result, "malloc#1");
    assert_int_equal(1, of_startup(first, 0, ANALYSES_COLD));
    assert_int_equal(9, of_startup(first, 0, ANALYSES_CONFLICT));
    assert_int_equal(19, first->level[0].reads[ANALYSES_CONFLICT]);
    assert_int_equal(1, of_startup(first, 1, ANALYSES_COLD));
    assert_int_equal(18, of_startup(object(result, "malloc#3"), 0, ANALYSES_CONFLICT));
    assert_int_equal(0, of_startup(object(result, "stack"), 0, ANALYSES_COLD));
    assert_int_equal(0, of_startup(object(result, "heap"), 0, ANALYSES_CONFLICT)); /* at 0x1000, which ran before */
    uint64_t conflicts = 0;
    for (size_t i = 0; i < result->row_count; i++)
        conflicts += result->rows[i].startup[0].reads[ANALYSES_CONFLICT];
    assert_int_equal(9 + 9 + 18, conflicts);
    end(&run);
}

/* In the order of instructions, then objects: what each did to each. */
static void references_by_instruction_and_object(void **state)
{
    (void)state;
    static const struct {
        uint64_t pc;
        const char *object;
        uint64_t refs;
    } expected[] = {{0x1000, "malloc#1", ROUNDS}, {0x1000, "heap", 1},       {0x1004, "malloc#2", ROUNDS},
                    {0x2000, "malloc#1", ROUNDS}, {0x2004, "stack", ROUNDS}, {0x3000, "malloc#3", 2 * ROUNDS}};
    const struct analyses_profile_result *result;
    struct run run = {.spots = true};
    struct c2_error err;
    bool found[6] = {false};
    assert_int_equal(C2_OK, go(&run, &result, &err));
    assert_int_equal(6, where_count(run.where));
    assert_int_equal(6, run.row_count);
    for (size_t i = 0; i < run.row_count; i++) {
        const struct where_row *row = &run.rows[i];
        assert_true(i == 0 || row[-1].insn < row->insn || (row[-1].insn == row->insn && row[-1].object < row->object));
        for (size_t k = 0; k < 6; k++)
            if (result->insns[row->insn].pc.v == expected[k].pc &&
                strcmp(result->objects[row->object].name, expected[k].object) == 0) {
                assert_int_equal(expected[k].refs, run.at[row->spot]);
                found[k] = true;
            }
    }
    for (size_t k = 0; k < 6; k++)
        assert_true(found[k]);
    end(&run);
}

/* Each allocation fails once: an error, never a wrong result. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t tries = 0;
    while (status != C2_OK) {
        const struct analyses_profile_result *result = NULL;
        struct run run = {.spots = true};
        struct c2_error err;
        c2_alloc_fail_from(++tries);
        status = go(&run, &result, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        assert_true(status != C2_OK || result->pair_count == 7);
        end(&run);
    }
    assert_true(tries > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(startup_ends_with_the_entry),
                                       cmocka_unit_test(references_by_instruction_and_object),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
