/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is proposed for profiles made by hand. The machine: L1D of 64 sets (4096 bytes to a way), virtually indexed, a
 * miss of which costs 12 - 4 = 8 cycles; L2 of 512 sets (32768 bytes, 8 colours), physically indexed, 200 - 12 = 188.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analyses/analyses.h"
#include "unit/made_level.h"

#define MOST 40u
#define L1 0u
#define L2 1u

struct made { /* row i is the access of an instruction of its own to object i */
    struct analyses_object objects[MOST];
    struct analyses_tally tallies[MOST][2], startup[2];
    struct analyses_row rows[MOST];
    struct analyses_pair pairs[2 * MOST];
    struct analyses_profile_result profile;
    struct caches_machine machine;
    struct mmu_config placement;
    uint64_t row_bytes[MOST];
    bool wanted[MOST];
    struct analyses_wish wishes[ANALYSES_PROPOSALS];
    uint32_t wish_count;
    struct analyses_proposal out[ANALYSES_PROPOSALS];
    uint32_t count;
};

static struct caches_level level(const char *name, uint64_t bytes, enum caches_index index, uint32_t latency)
{
    struct caches_level made = made_level(name, bytes, 8);
    made.index = index;
    made.latency_cycles = latency;
    return made;
}

static void begin(struct made *m)
{
    memset(m, 0, sizeof *m);
    m->machine = (struct caches_machine){.line_bytes = 64, .level_count = 2};
    m->machine.levels[0] = level("L1D", 32 << 10, CACHES_VIRTUAL, 4);
    m->machine.levels[1] = level("L2", 256 << 10, CACHES_PHYSICAL, 12);
    m->profile = (struct analyses_profile_result){
        .level_count = 2, .objects = m->objects, .rows = m->rows, .pairs = m->pairs};
}

static uint32_t object(struct made *m, enum analyses_kind kind, uint64_t base, uint64_t bytes, uint64_t blocks)
{
    const uint32_t number = (uint32_t)m->profile.object_count++;
    m->objects[number] = (struct analyses_object){
        .kind = kind, .name = "x", .base = base, .bytes = bytes, .blocks = blocks, .level = m->tallies[number]};
    m->objects[number].site.v = kind == ANALYSES_HEAP ? 0x401000 : 0;
    m->rows[number] = (struct analyses_row){
        .insn = number, .object = number, .level = m->tallies[number], .startup = m->startup};
    m->profile.row_count++;
    return number;
}

static void conflicts(struct made *m, uint32_t at, uint32_t victim, uint32_t evictor, uint64_t count)
{
    const enum analyses_reason reason = victim == evictor && m->objects[victim].blocks == 1 ? ANALYSES_REASON_INTRA
                                                                                            : ANALYSES_REASON_INTER;
    m->pairs[m->profile.pair_count++] = (struct analyses_pair){at, victim, evictor, reason, count};
    m->tallies[victim][at].reads[ANALYSES_CONFLICT] += count;
}

static void plan(struct made *m)
{
    const struct analyses_plan_input input = {.profile = &m->profile,
                                              .machine = &m->machine,
                                              .placement = &m->placement,
                                              .rows = m->row_bytes,
                                              .wanted = m->wanted,
                                              .wishes = m->wishes,
                                              .wish_count = m->wish_count};
    assert_int_equal(C2_OK, analyses_plan(m->out, &m->count, &input, NULL));
    assert_true(m->count <= ANALYSES_PROPOSALS);
}

static void is_change(const struct analyses_change *change, uint32_t object, uint64_t row, uint64_t pad, uint64_t align,
                      uint64_t offset)
{
    assert_int_equal(change->object, object);
    assert_int_equal(change->row_bytes, row);
    assert_int_equal(change->pad_bytes, pad);
    assert_int_equal(change->align, align);
    assert_int_equal(change->offset, offset);
}

/* An array against itself in L1D: one line more a row; it keeps its place in page and way, 0x10040 mod 4096 = 0x40. */
static void rows_of_one(void **state)
{
    struct made m;
    (void)state;
    begin(&m);
    const uint32_t a = object(&m, ANALYSES_STATIC, 0x10040, 128 << 10, 1);
    conflicts(&m, L1, a, a, 1000);
    m.row_bytes[a] = 1024;
    plan(&m);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.out[0].means, ANALYSES_PAD_ROWS);
    assert_int_equal(m.out[0].change_count, 1);
    is_change(&m.out[0].changes[0], a, 1024, 64, 4096, 0x40);
}

/* Rows that are not known, or longer than half of the object, or of what cannot be moved: nothing to try. */
static void no_rows(void **state)
{
    struct made m;
    (void)state;
    begin(&m);
    const uint32_t a = object(&m, ANALYSES_STATIC, 0, 4096, 1), b = object(&m, ANALYSES_STATIC, 4096, 4096, 1);
    const uint32_t stack = object(&m, ANALYSES_STACK, 0x20000, 8 << 20, 1);
    conflicts(&m, L1, a, a, 1000);
    conflicts(&m, L1, b, b, 1000);
    conflicts(&m, L1, stack, stack, 1000);
    m.row_bytes[b] = 2049;
    m.row_bytes[stack] = 64;
    plan(&m);
    assert_int_equal(m.count, 0);
}

/* Seven arrays in a ring, each evicting the next: steps of 64 * floor(64 / 7) = 576 bytes, in their order. An eighth
 * has a pair with one of them that is a hundredth of the group's cost, less than a fiftieth: no member. The group costs
 * 2 * (7 * 1000 + 140) * 8, the eighth 140 * 8 of it. */
static void stagger(void **state)
{
    struct made m;
    (void)state;
    begin(&m);
    for (uint32_t i = 0; i < 8; i++)
        object(&m, i % 2 ? ANALYSES_HEAP : ANALYSES_STATIC, i << 20, 256 << 10, 1);
    for (uint32_t i = 0; i < 7; i++)
        conflicts(&m, L1, i, (i + 1) % 7, 1000);
    conflicts(&m, L1, 3, 7, 140);
    plan(&m);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.out[0].means, ANALYSES_STAGGER);
    assert_int_equal(m.out[0].level, L1);
    assert_int_equal(m.out[0].step_bytes, 576);
    assert_int_equal(m.out[0].change_count, 7);
    for (uint32_t i = 0; i < 7; i++)
        is_change(&m.out[0].changes[i], i, 0, 0, 4096, i * 576);
}

/* Two groups: the dearer one is staggered, 64 * (64 / 2) = 2048 apart. */
static void dearest_group(void **state)
{
    struct made m;
    (void)state;
    begin(&m);
    for (uint32_t i = 0; i < 5; i++)
        object(&m, ANALYSES_STATIC, i << 20, 256 << 10, 1);
    conflicts(&m, L1, 0, 1, 500);
    conflicts(&m, L1, 1, 2, 500);
    conflicts(&m, L1, 3, 4, 1001);
    plan(&m);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.out[0].change_count, 2);
    is_change(&m.out[0].changes[0], 3, 0, 0, 4096, 0);
    is_change(&m.out[0].changes[1], 4, 0, 0, 4096, 2048);
}

/* 40 blocks of 4080 bytes of one site: their mean room with the C library's 8 bytes, in units of 16, is 4096. */
static void blocks(void **state)
{
    struct made m;
    (void)state;
    begin(&m);
    const uint32_t site = object(&m, ANALYSES_HEAP, 0x1120000010, 40 * 4080, 40);
    conflicts(&m, L1, site, site, 100);
    m.row_bytes[site] = 512; /* of a site nothing is known row by row */
    plan(&m);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.out[0].means, ANALYSES_PAD_BLOCKS);
    is_change(&m.out[0].changes[0], site, 4096, 64, 4096, 0x10);
}

/* Conflicts in L2: rows alone, huge pages, both, and colours, 512 * 64 / 4096 = 8. */
static void pages(void **state)
{
    struct made m;
    (void)state;
    begin(&m);
    const uint32_t a = object(&m, ANALYSES_HEAP, 0x200000, 2 << 20, 1);
    conflicts(&m, L2, a, a, 1000);
    m.row_bytes[a] = 4096;
    plan(&m);
    assert_int_equal(m.count, 4);
    assert_int_equal(m.out[0].means, ANALYSES_PAD_ROWS);
    assert_int_equal(m.out[1].means, ANALYSES_HUGE);
    is_change(&m.out[1].changes[0], a, 0, 0, 4096, 0);
    assert_int_equal(m.out[2].means, ANALYSES_HUGE | ANALYSES_PAD_ROWS);
    is_change(&m.out[2].changes[0], a, 4096, 64, 4096, 0);
    assert_int_equal(m.out[3].means, ANALYSES_COLORED);
    assert_int_equal(m.out[3].colors, 8);
    assert_int_equal(m.out[3].level, L2);
    assert_int_equal(m.out[3].change_count, 0);
    m.placement.huge = MMU_HUGE_NEVER;
    m.placement.placement = MMU_COLORED;
    plan(&m);
    assert_int_equal(m.count, 1);
}

/* Two arrays against each other in L2 only: huge pages, the same 64 * 512 / 2 bytes apart, and colours; nothing for
 * L1D. */
static void stagger_in_huge_pages(void **state)
{
    struct made m;
    (void)state;
    begin(&m);
    object(&m, ANALYSES_STATIC, 0x1000, 1 << 20, 1);
    object(&m, ANALYSES_STATIC, 0x201000, 1 << 20, 1);
    conflicts(&m, L2, 0, 1, 1000);
    plan(&m);
    assert_int_equal(m.count, 3);
    assert_int_equal(m.out[0].means, ANALYSES_HUGE);
    assert_int_equal(m.out[1].means, ANALYSES_STAGGER | ANALYSES_HUGE);
    assert_int_equal(m.out[1].step_bytes, 16384);
    is_change(&m.out[1].changes[1], 1, 0, 0, 32768, 16384);
    assert_int_equal(m.out[2].means, ANALYSES_COLORED);
}

/* Four arrays with rows, of costs 3, 5, 2, 4: alone the three dearest, then all; each keeps its own rows. */
static void several_rows(void **state)
{
    static const uint64_t costs[] = {300, 500, 200, 400};
    static const uint32_t alone[] = {0, 1, 3};
    struct made m;
    (void)state;
    begin(&m);
    for (uint32_t i = 0; i < 4; i++) {
        object(&m, ANALYSES_STATIC, i << 20, 256 << 10, 1);
        conflicts(&m, L1, i, i, costs[i]);
        m.row_bytes[i] = 512u << i;
    }
    plan(&m);
    assert_int_equal(m.count, 4);
    for (unsigned i = 0; i < 3; i++)
        is_change(&m.out[i].changes[0], alone[i], 512u << alone[i], 64, 4096, 0);
    assert_int_equal(m.out[3].change_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        is_change(&m.out[3].changes[i], i, 512u << i, 64, 4096, 0);
}

/* An object with less than a hundredth of the conflicts' cost, or a thousandth of all misses', is left alone, unless
 * wanted. 9 of 1009 conflicts; then 10 conflicts beside 10000 cold misses: 10 * 8 of 10010 * 8. */
static void small_shares(void **state)
{
    struct made m;
    uint32_t objects[ANALYSES_OBJECTS], count;
    (void)state;
    begin(&m);
    for (uint32_t i = 0; i < 2; i++) {
        object(&m, ANALYSES_STATIC, i << 20, 256 << 10, 1);
        m.row_bytes[i] = 512;
    }
    const struct analyses_plan_input input = {
        .profile = &m.profile, .machine = &m.machine, .placement = &m.placement, .wanted = m.wanted};
    conflicts(&m, L1, 0, 0, 1000);
    conflicts(&m, L1, 1, 1, 9);
    assert_int_equal(C2_OK, analyses_plan_objects(objects, &count, &input, NULL));
    assert_int_equal(count, 1);
    assert_int_equal(objects[0], 0);
    m.wanted[1] = true;
    assert_int_equal(C2_OK, analyses_plan_objects(objects, &count, &input, NULL));
    assert_int_equal(count, 2);
    plan(&m);
    assert_int_equal(m.count, 3); /* each alone, and both */
    m.wanted[1] = false;
    m.pairs[0].count = m.tallies[0][L1].reads[ANALYSES_CONFLICT] = 10;
    m.profile.pair_count = 1;
    m.tallies[1][L1] = (struct analyses_tally){.reads[ANALYSES_COLD] = 9990};
    assert_int_equal(C2_OK, analyses_plan_objects(objects, &count, &input, NULL));
    assert_int_equal(count, 1); /* 80 of 80000: just a thousandth */
    m.tallies[1][L1].reads[ANALYSES_COLD] = 9991;
    assert_int_equal(C2_OK, analyses_plan_objects(objects, &count, &input, NULL));
    assert_int_equal(count, 0);
}

/* Of more objects than can be moved the dearest are, ascending. */
static void many_objects(void **state)
{
    struct made m;
    uint32_t objects[ANALYSES_OBJECTS], count;
    (void)state;
    begin(&m);
    for (uint32_t i = 0; i < 30; i++) {
        object(&m, ANALYSES_STATIC, i << 20, 256 << 10, 1);
        conflicts(&m, L1, i, i, 1000 + (i * 7) % 30); /* each rest once: the 24 with 6 or more */
    }
    const struct analyses_plan_input input = {.profile = &m.profile, .machine = &m.machine, .placement = &m.placement};
    assert_int_equal(C2_OK, analyses_plan_objects(objects, &count, &input, NULL));
    assert_int_equal(count, ANALYSES_MOVED);
    for (uint32_t i = 0, at = 0; i < 30; i++)
        if ((i * 7) % 30 >= 6)
            assert_int_equal(objects[at++], i);
    plan(&m);
}

/* What is wished for comes first, each by itself; what the plan would propose as well serves its wish. Objects that
 * cannot be moved, rows that are not known, and pages of 2 MiB on the stack are left out. */
static void wishes(void **state)
{
    struct made m;
    uint32_t objects[ANALYSES_OBJECTS], count;
    (void)state;
    begin(&m);
    object(&m, ANALYSES_STATIC, 0, 256 << 10, 1);
    object(&m, ANALYSES_HEAP, 1 << 20, 4000, 100); /* blocks of 40 bytes */
    object(&m, ANALYSES_STATIC, 2 << 20, 256 << 10, 1);
    object(&m, ANALYSES_FILE, 3 << 20, 256 << 10, 1);
    m.row_bytes[0] = 1024;
    conflicts(&m, L1, 0, 0, 1000);
    m.wishes[0] = (struct analyses_wish){.number = 7, .means = ANALYSES_HUGE, .object = 1};
    m.wishes[1] = (struct analyses_wish){.number = 2, .means = ANALYSES_PAD_ROWS, .object = 0};
    m.wishes[2] = (struct analyses_wish){.number = 3, .means = ANALYSES_PAD_ROWS, .object = 2}; /* no rows */
    m.wishes[3] = (struct analyses_wish){.number = 4, .means = ANALYSES_STAGGER, .object = 2, .other = 0, .level = L1};
    m.wishes[4] = (struct analyses_wish){.number = 5, .means = ANALYSES_HUGE, .object = 3}; /* a file's */
    m.wishes[5] = (struct analyses_wish){
        .number = 6, .means = ANALYSES_PAD_ROWS, .object = 2, .row_bytes = 16, .pad_bytes = 48};
    m.wishes[6] = (struct analyses_wish){.number = 8, .means = ANALYSES_HUGE, .object = 1};
    m.wishes[7] = (struct analyses_wish){.number = 9, .means = ANALYSES_PAD_BLOCKS, .object = 1};
    m.wish_count = 8;
    plan(&m);
    assert_int_equal(m.count, 5);
    assert_int_equal(m.out[0].means, ANALYSES_HUGE);
    assert_int_equal(m.out[0].wishes, 1 << 7 | 1 << 8);
    is_change(&m.out[0].changes[0], 1, 48, 0, 4096, 0); /* 40 and the allocator's 8 */
    assert_int_equal(m.out[1].means, ANALYSES_PAD_ROWS);
    assert_int_equal(m.out[1].wishes, 1 << 2); /* and the plan's own is the same */
    is_change(&m.out[1].changes[0], 0, 1024, 64, 4096, 0);
    assert_int_equal(m.out[2].means, ANALYSES_STAGGER);
    assert_int_equal(m.out[2].change_count, 2);
    is_change(&m.out[2].changes[0], 0, 0, 0, 4096, 0);
    is_change(&m.out[2].changes[1], 2, 0, 0, 4096, 2048);
    is_change(&m.out[3].changes[0], 2, 16, 48, 4096, 0);
    is_change(&m.out[4].changes[0], 1, 48, 64, 4096, 0);
    const struct analyses_plan_input input = {.profile = &m.profile,
                                              .machine = &m.machine,
                                              .placement = &m.placement,
                                              .wishes = m.wishes,
                                              .wish_count = m.wish_count};
    assert_int_equal(C2_OK, analyses_plan_objects(objects, &count, &input, NULL));
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(objects[i], i);
}

static bool is_bit(const uint8_t *bits, unsigned i) { return bits[i / 8] >> i % 8 & 1; }

/* Elements apart and in order, of arrays and of blocks, which lie in words of 8 bytes then; a level of 256 KiB that
 * holds 300 KiB more has 1 MiB. A walk that came to nothing is left out. */
static void wishes_of_elements(void **state)
{
    static const uint8_t apart[ANALYSES_ELEMENT / 8] = {0x0f, 0x80};
    uint32_t order[10] = {0};
    const struct analyses_walk walk = {.object = 1, .order = order, .count = 10}, nowhere = {.object = 0};
    uint32_t objects[ANALYSES_OBJECTS], count;
    struct made m;
    (void)state;
    begin(&m);
    object(&m, ANALYSES_STATIC, 0x40, 256 << 10, 1);
    object(&m, ANALYSES_HEAP, 1 << 20, 205, 10); /* blocks of 20 bytes */
    object(&m, ANALYSES_FILE, 3 << 20, 300 << 10, 1);
    m.wishes[0] = (struct analyses_wish){
        .number = 0, .means = ANALYSES_SPLIT, .object = 0, .element_bytes = 24, .apart = apart};
    m.wishes[1] = (struct analyses_wish){
        .number = 1, .means = ANALYSES_IN_ORDER, .object = 1, .element_bytes = 20, .walk = &walk};
    m.wishes[2] = (struct analyses_wish){
        .number = 2, .means = ANALYSES_IN_ORDER, .object = 0, .element_bytes = 24, .walk = &nowhere};
    m.wishes[3] = (struct analyses_wish){
        .number = 3, .means = ANALYSES_ROOM, .object = 2, .level = L2, .room_bytes = 300 << 10};
    m.wishes[4] = m.wishes[0];
    m.wishes[4].number = 4;
    m.wish_count = 5;
    plan(&m);
    assert_int_equal(m.count, 3);
    assert_int_equal(m.out[0].means, ANALYSES_SPLIT);
    assert_int_equal(m.out[0].wishes, 1 << 0 | 1 << 4);
    assert_int_equal(m.out[0].element_bytes, 24);
    assert_int_equal(analyses_apart_bytes(&m.out[0]), 5);
    for (unsigned i = 0; i < 24; i++)
        assert_int_equal(is_bit(m.out[0].apart, i), i < 4 || i == 15);
    is_change(&m.out[0].changes[0], 0, 0, 0, 4096, 0x40);
    assert_int_equal(m.out[1].means, ANALYSES_IN_ORDER);
    assert_ptr_equal(m.out[1].walk, &walk);
    is_change(&m.out[1].changes[0], 1, 24, 0, 4096, 0);
    assert_int_equal(m.out[2].means, ANALYSES_ROOM);
    assert_int_equal(m.out[2].change_count, 0);
    assert_int_equal(m.out[2].level, L2);
    assert_int_equal(m.out[2].room_bytes, 1 << 20);
    const struct analyses_plan_input input = {.profile = &m.profile,
                                              .machine = &m.machine,
                                              .placement = &m.placement,
                                              .wishes = m.wishes,
                                              .wish_count = m.wish_count};
    assert_int_equal(C2_OK, analyses_plan_objects(objects, &count, &input, NULL));
    assert_int_equal(count, 2);
    assert_true(objects[0] == 0 && objects[1] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_one),           cmocka_unit_test(no_rows),      cmocka_unit_test(stagger),
        cmocka_unit_test(dearest_group),         cmocka_unit_test(blocks),       cmocka_unit_test(pages),
        cmocka_unit_test(stagger_in_huge_pages), cmocka_unit_test(several_rows), cmocka_unit_test(small_shares),
        cmocka_unit_test(many_objects),          cmocka_unit_test(wishes),       cmocka_unit_test(wishes_of_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
