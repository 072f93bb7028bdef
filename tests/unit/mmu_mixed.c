/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * All policies on one memory, against a slow twin: an array that says of each frame what has it, searched from end to
 * end. Every frame that is given must be the twin's; no frame is given twice. Beside an aged allocator, whose own
 * frames the twin does not foretell, those of all other policies still are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mmu/frames_priv.h"
#include "unit/mmu_buddy_twin.h"

#define FRAMES_MAX (66 * 1024 + 100)
#define HUGE 512u
#define COLORS 32u
#define OWN_COLOR 5u
#define MAP_PAGES 400u     /* the map's small pages: 0, 1 ... */
#define MAP_HUGE_PAGE 1024 /* and its huge one */

/* Policy numbers. */
enum { BASE, RANDOM, IDENTITY, SAME, COLORED, BUDDY, MAP, POLICIES };
static const char *const names[POLICIES] = {"", "r1", "r2", "r3", "r4", "r5", "r6"};

struct piece {
    uint32_t frame, count;
};
struct world {
    struct frames *frames;
    uint32_t total;
    bool aged;
    struct mmu_rule rules[POLICIES - 1];
    /* the twin */
    bool taken[FRAMES_MAX]; /* not free: a page, a table or another program has it, or it is kept for the map */
    bool has[FRAMES_MAX];   /* a page or a table */
    bool kept[FRAMES_MAX];
    uint32_t map[MAP_PAGES], map_huge;
    struct c2_rng rng;
    struct buddy_twin *buddy;
    /* what is held */
    struct piece pieces[FRAMES_MAX];
    size_t count;
};

/* ------------------------------------------------------------------ making it */

static void write_map(struct world *world, char *path)
{
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    world->map_huge = 2 * HUGE;
    for (uint32_t page = 0; page < MAP_PAGES; page++) {
        world->map[page] = page * 7 % 2000 < 1000 ? page * 3 + 3 : 4000 - page; /* crossing nothing of map_huge */
        if (world->map[page] >= 2 * HUGE && world->map[page] < 3 * HUGE)
            world->map[page] -= HUGE + 1;
        while (world->kept[world->map[page]])
            world->map[page]++;
        world->kept[world->map[page]] = true;
        fprintf(file, "%u %u 4K\n", page, world->map[page]);
    }
    for (uint32_t i = 0; i < HUGE; i++) {
        assert_false(world->kept[world->map_huge + i]);
        world->kept[world->map_huge + i] = true;
    }
    fprintf(file, "%u %u 2M\n", MAP_HUGE_PAGE, world->map_huge);
    fclose(file);
}

static struct world *make(uint32_t total, uint32_t age, uint64_t seed, bool with_map)
{
    struct world *world = calloc(1, sizeof *world);
    char path[] = "/tmp/c2emu-mixed-XXXXXX";
    static const enum mmu_placement placements[POLICIES] = {MMU_SEQUENTIAL, MMU_RANDOM, MMU_IDENTITY, MMU_SAME_COLOR,
                                                            MMU_COLORED,    MMU_BUDDY,  MMU_MAP};
    for (int i = 1; i < POLICIES; i++)
        world->rules[i - 1] = (struct mmu_rule){
            .region = {.kind = MMU_REGION_FILE, .name = names[i]},
            .policy = {.placement = placements[i], .colors = COLORS, .color = OWN_COLOR, .age = age}};
    struct mmu_config config = {.physical_bytes = (uint64_t)total * C2_PAGE_BYTES,
                                .seed = seed,
                                .colors = 1,
                                .rules = world->rules,
                                .rule_count = with_map ? POLICIES - 1 : POLICIES - 2};
    if (with_map) {
        write_map(world, path);
        strcpy(world->rules[MAP - 1].policy.map, path);
    }
    struct c2_error err;
    world->total = total;
    world->aged = age > 0;
    memcpy(world->taken, world->kept, sizeof world->taken);
    c2_rng_init(&world->rng, seed, "placement of r1");
    world->buddy = buddy_twin_create(total, world->taken);
    if (frames_create(&world->frames, &config, &err) != C2_OK)
        fail_msg("%s", err.text);
    if (with_map)
        unlink(path);
    return world;
}

static void destroy(struct world *world)
{
    frames_destroy(world->frames);
    buddy_twin_destroy(world->buddy);
    free(world);
}

/* ------------------------------------------------------------------ the twin's choice */

static bool is_free(const struct world *world, uint32_t member, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (world->taken[member * count + i])
            return false;
    }
    return true;
}

/* The n-th free member that is `color` modulo colors; UINT32_MAX if none. */
static uint32_t nth_free(const struct world *world, uint32_t count, uint32_t colors, uint32_t color, uint64_t n)
{
    for (uint32_t member = 0; (member + 1) * count <= world->total; member++) {
        if (member % colors == color && is_free(world, member, count) && n-- == 0)
            return member;
    }
    return UINT32_MAX;
}

static uint64_t count_free(const struct world *world, uint32_t count)
{
    uint64_t n = 0;
    for (uint32_t member = 0; (member + 1) * count <= world->total; member++)
        n += is_free(world, member, count);
    return n;
}

static enum frames_answer answer_of(uint32_t member, uint32_t count, uint64_t *frame)
{
    *frame = (uint64_t)member * count;
    return member == UINT32_MAX ? FRAMES_EXHAUSTED : FRAMES_PLACED;
}

static enum frames_answer expect_map(const struct world *world, uint64_t vpn, uint32_t count, uint64_t *frame)
{
    if (count == HUGE ? vpn != MAP_HUGE_PAGE : vpn >= MAP_PAGES && vpn - MAP_HUGE_PAGE >= HUGE)
        return FRAMES_HOLE;
    *frame = vpn >= MAP_HUGE_PAGE ? world->map_huge + vpn - MAP_HUGE_PAGE : world->map[vpn];
    for (uint32_t i = 0; i < count; i++) {
        if (world->has[*frame + i])
            return FRAMES_CLASH;
    }
    return FRAMES_PLACED;
}

static enum frames_answer expect_identity(const struct world *world, uint64_t vpn, uint32_t count, uint64_t *frame)
{
    if (count_free(world, count) == 0)
        return FRAMES_EXHAUSTED;
    *frame = vpn % world->total;
    if (*frame % count != 0 || *frame + count > world->total / count * count)
        return FRAMES_EXHAUSTED;
    return is_free(world, (uint32_t)(*frame / count), count) ? FRAMES_PLACED : FRAMES_CLASH;
}

static enum frames_answer expect(struct world *world, unsigned by, uint64_t vpn, uint32_t count, uint64_t *frame)
{
    uint32_t colors = count == 1 ? COLORS : 1; /* 32 / 512, at least 1 */
    uint64_t left;
    switch (by) {
    case BASE:
        return answer_of(nth_free(world, count, 1, 0, 0), count, frame);
    case RANDOM:
        left = count_free(world, count);
        if (left == 0)
            return FRAMES_EXHAUSTED;
        return answer_of(nth_free(world, count, 1, 0, c2_rng_below(&world->rng, left)), count, frame);
    case IDENTITY:
        return expect_identity(world, vpn, count, frame);
    case SAME:
        return answer_of(nth_free(world, count, colors, OWN_COLOR % colors, 0), count, frame);
    case COLORED:
        return answer_of(nth_free(world, count, colors, (uint32_t)(vpn / count % colors), 0), count, frame);
    case BUDDY:
        *frame = buddy_twin_take(world->buddy, count == 1 ? 0 : 9);
        return *frame == BUDDY_NONE ? FRAMES_EXHAUSTED : FRAMES_PLACED;
    default:
        return expect_map(world, vpn, count, frame);
    }
}

/* ------------------------------------------------------------------ calls on both */

/* The frames are taken now. claim: the allocator did not give them. */
static void hold(struct world *world, uint64_t frame, uint32_t count, bool claim)
{
    for (uint64_t i = frame; i < frame + count; i++) {
        assert_false(world->has[i]);
        if (claim && !world->kept[i] && !world->aged)
            buddy_twin_claim(world->buddy, (uint32_t)i);
        world->taken[i] = world->has[i] = true;
    }
    world->pieces[world->count++] = (struct piece){(uint32_t)frame, count};
}

/* An aged machine's other programs, which came into sight when the allocator looked. */
static void notice_others(struct world *world)
{
    for (uint32_t frame = 0; frame < world->total; frame++) {
        if (!world->taken[frame] && frames_is_taken(world->frames, frame))
            world->taken[frame] = true;
    }
}

static bool place(struct world *world, unsigned by, uint64_t vpn, uint32_t count)
{
    uint64_t frame = 0, wanted = 0;
    bool foretold = !(by == BUDDY && world->aged);
    enum mmu_page_size size = count == 1 ? MMU_PAGE_4K : MMU_PAGE_2M;
    enum frames_answer expected = foretold ? expect(world, by, vpn, count, &wanted) : FRAMES_PLACED;
    enum frames_answer answer = frames_place_by(world->frames, by, vpn, size, &frame);
    if (foretold && (answer != expected || (answer == FRAMES_PLACED && frame != wanted)))
        return false;
    if (answer == FRAMES_PLACED)
        hold(world, frame, count, by != BUDDY);
    if (!foretold)
        notice_others(world);
    return true;
}

static bool place_table(struct world *world)
{
    uint64_t frame, wanted = world->aged ? 0 : buddy_twin_take_for_table(world->buddy);
    bool got = frames_take_top(world->frames, &frame);
    if (!world->aged && (got != (wanted != BUDDY_NONE) || (got && frame != wanted)))
        return false;
    if (got)
        hold(world, frame, 1, false);
    if (world->aged)
        notice_others(world);
    return true;
}

static void give(struct world *world, size_t i)
{
    struct piece gone = world->pieces[i];
    world->pieces[i] = world->pieces[--world->count];
    for (uint32_t k = gone.frame; k < gone.frame + gone.count; k++) {
        world->has[k] = false;
        world->taken[k] = world->kept[k];
    }
    if (gone.count == 1)
        frames_give(world->frames, gone.frame);
    else
        frames_give_huge(world->frames, gone.frame, MMU_PAGE_2M);
    if (!world->kept[gone.frame] && !world->aged)
        buddy_twin_give(world->buddy, gone.frame, gone.count == 1 ? 0 : 9);
}

static void compare_all(const struct world *world)
{
    uint64_t held = 0, idle = 0;
    for (uint32_t frame = 0; frame < world->total; frame++) {
        bool expected = world->kept[frame] ? world->has[frame] : world->taken[frame];
        assert_int_equal(frames_is_taken(world->frames, frame), expected);
        assert_int_equal(frames_is_kept(world->frames, frame), world->kept[frame]);
        held += world->has[frame];
        idle += world->kept[frame] && !world->has[frame];
    }
    assert_int_equal(frames_taken(world->frames), held);
    assert_int_equal(frames_idle(world->frames), idle);
    frames_check(world->frames);
}

/* Memory fills and empties in waves. Returns the call after which the two differ, or `calls`. */
static uint64_t run(struct world *world, uint64_t seed, uint64_t calls, bool with_map)
{
    struct c2_rng rng;
    uint64_t call = 0;
    c2_rng_init(&rng, seed, "test");
    for (; call < calls; call++) {
        bool full = call / (calls / 4) % 2;
        uint64_t draw = c2_rng_below(&rng, 100);
        unsigned by = (unsigned)c2_rng_below(&rng, with_map ? POLICIES : POLICIES - 1);
        bool huge = c2_rng_below(&rng, 12) == 0;
        uint64_t vpn = c2_rng_below(&rng, by == MAP ? 2048 : 1 << 20);
        bool same = true;
        if (draw < (full ? 50u : 20u) && world->count > 0)
            give(world, c2_rng_below(&rng, world->count));
        else if (draw >= 95)
            same = place_table(world);
        else
            same = place(world, by, huge ? vpn / HUGE * HUGE : vpn, huge ? HUGE : 1);
        if (!same)
            break;
        if (call % 1000 == 0)
            compare_all(world);
    }
    return call;
}

static uint64_t run_all(uint32_t total, uint32_t age, uint64_t seed, uint64_t calls, bool with_map, bool sabotage)
{
    struct world *world = make(total, age, seed, with_map);
    world->buddy->cuts_to_the_tail = sabotage;
    uint64_t done = run(world, seed, calls, with_map);
    if (done == calls) {
        compare_all(world);
        while (world->count > 0)
            give(world, world->count - 1);
        compare_all(world);
        assert_int_equal(frames_taken(world->frames), 0);
    }
    destroy(world);
    return done;
}

static void policies_share_one_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        assert_int_equal(run_all(9 * 1024 + 77, 0, seed, 12000, seed % 2 == 0, false), 12000);
        assert_int_equal(run_all(3 * 1024, 0, seed, 6000, false, false), 6000); /* fills up to the last frame */
    }
    assert_int_equal(run_all(FRAMES_MAX, 0, 5, 4000, true, false), 4000); /* two batches of blocks looked at */
}

static void beside_an_aged_allocator_too(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_int_equal(run_all(9 * 1024 + 77, seed == 3 ? 1000 : 600, seed, 6000, seed % 2 == 0, false), 6000);
}

/* A twin that puts the other halves of a cut block to the ends of their lists differs. */
static void comparison_can_fail(void **state)
{
    (void)state;
    assert_in_range(run_all(9 * 1024 + 77, 0, 1, 12000, false, true), 10, 11000);
}

/* ------------------------------------------------------------------ by hand */

static void claims_by_hand(void **state)
{
    (void)state;
    struct world *world = make(4 * 1024, 0, 1, false);
    uint64_t frame;
    assert_int_equal(frames_place_by(world->frames, BUDDY, 9, MMU_PAGE_4K, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 0); /* 1 .. 62 stand in the per-CPU list, 63 begins the free blocks */
    assert_int_equal(frames_place_by(world->frames, BASE, 9, MMU_PAGE_4K, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 1); /* the lowest free one, out of the per-CPU list */
    assert_int_equal(frames_place_by(world->frames, BUDDY, 9, MMU_PAGE_4K, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 2);
    assert_int_equal(frames_place_by(world->frames, IDENTITY, 600, MMU_PAGE_4K, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 600); /* out of the block of 512 at 512: no block of 2 MiB is left in the first 4 MiB */
    assert_int_equal(frames_place_by(world->frames, BUDDY, 0, MMU_PAGE_2M, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 1024);
    frames_give(world->frames, 600); /* to the per-CPU list, as its newest; the next page gets it */
    assert_int_equal(frames_place_by(world->frames, BUDDY, 0, MMU_PAGE_4K, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 600);
    frames_check(world->frames);
    destroy(world);
}

/* 3 GiB. One sequential page in the first: the allocator's page of 1 GiB is the second. Sequential takes the third, the
 * only whole one, of which the allocator had looked at nothing; then neither has one, until one comes back. */
static void pages_of_1g_beside_each_other(void **state)
{
    (void)state;
    enum { GIANT = 1 << 18 };
    struct mmu_rule rule = {.region = {.name = "r"}, .policy = {.placement = MMU_BUDDY, .colors = 1}};
    struct mmu_config config = {.physical_bytes = 3ull << 30, .colors = 1, .rules = &rule, .rule_count = 1};
    struct frames *frames;
    uint64_t frame;
    assert_int_equal(frames_create(&frames, &config, NULL), C2_OK);
    assert_int_equal(frames_place_by(frames, 0, 0, MMU_PAGE_4K, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 0);
    assert_int_equal(frames_place_by(frames, 1, 0, MMU_PAGE_1G, &frame), FRAMES_PLACED);
    assert_int_equal(frame, GIANT);
    assert_int_equal(frames_place_by(frames, 0, 0, MMU_PAGE_1G, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 2 * GIANT);
    assert_int_equal(frames_place_by(frames, 0, 0, MMU_PAGE_1G, &frame), FRAMES_EXHAUSTED);
    assert_int_equal(frames_place_by(frames, 1, 0, MMU_PAGE_1G, &frame), FRAMES_EXHAUSTED);
    assert_int_equal(frames_taken(frames), 1 + 2 * GIANT);
    frames_check(frames);
    frames_give_huge(frames, 2 * GIANT, MMU_PAGE_1G);
    assert_int_equal(frames_place_by(frames, 1, 0, MMU_PAGE_4K, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 1); /* the lowest piece of block 0, which lost frame 0 */
    assert_int_equal(frames_place_by(frames, 1, 0, MMU_PAGE_1G, &frame), FRAMES_PLACED);
    assert_int_equal(frame, 2 * GIANT);
    frames_check(frames);
    frames_destroy(frames);
}

/* The stream of a rule has its name from the region: r1 draws the same whatever stands beside it. */
static void a_rule_more_shifts_no_stream(void **state)
{
    (void)state;
    struct mmu_rule rules[2] = {
        {.region = {.kind = MMU_REGION_FILE, .name = "other"}, .policy = {.placement = MMU_RANDOM, .colors = 1}},
        {.region = {.kind = MMU_REGION_FILE, .name = "r1"}, .policy = {.placement = MMU_RANDOM, .colors = 1}}};
    uint64_t first[2][50];
    for (size_t more = 0; more < 2; more++) {
        struct mmu_config config = {
            .physical_bytes = 1 << 30, .seed = 9, .colors = 1, .rules = rules + 1 - more, .rule_count = 1 + more};
        struct frames *frames;
        assert_int_equal(frames_create(&frames, &config, NULL), C2_OK);
        for (size_t i = 0; i < 50; i++)
            assert_int_equal(frames_place_by(frames, 1 + more, i, MMU_PAGE_4K, &first[more][i]), FRAMES_PLACED);
        frames_destroy(frames);
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
}

static void creation_survives_every_failing_allocation(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-mixed-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("1 2 4K\n", file);
    fclose(file);
    struct mmu_rule rules[2] = {{.region = {.name = "a"}, .policy = {.placement = MMU_BUDDY, .colors = 1}},
                                {.region = {.name = "b"}, .policy = {.placement = MMU_MAP, .colors = 1}}};
    strcpy(rules[1].policy.map, path);
    struct mmu_config config = {.physical_bytes = 1 << 20, .colors = 1, .rules = rules, .rule_count = 2};
    struct frames *frames = NULL;
    uint64_t n = 0;
    enum c2_status status;
    do {
        c2_alloc_fail_from(++n);
        status = frames_create(&frames, &config, NULL);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !frames));
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    frames_destroy(frames);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_share_one_memory),
        cmocka_unit_test(beside_an_aged_allocator_too),
        cmocka_unit_test(comparison_can_fail),
        cmocka_unit_test(claims_by_hand),
        cmocka_unit_test(pages_of_1g_beside_each_other),
        cmocka_unit_test(a_rule_more_shifts_no_stream),
        cmocka_unit_test(creation_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests_name("mmu_mixed", tests, NULL, NULL);
}
