/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is wished for to be tried for findings made by hand, and what outcomes make of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "findings/findings.h"
#include "unit/made_level.h"

enum { ARRAY, NODES, OTHER, OBJECTS };

struct world {
    struct caches_machine machine;
    struct analyses_object objects[OBJECTS];
    struct analyses_profile_result profile;
    struct finding list[16];
    struct findings findings;
    struct findings_wishes wishes;
    struct mmu_config placement;
};

static void begin(struct world *w)
{
    *w = (struct world){.machine = {.name = "made", .line_bytes = 64, .level_count = 2},
                        .placement = {.placement = MMU_RANDOM}};
    w->machine.levels[0] = made_level("L1D", 32768, 8);
    w->machine.levels[0].index = CACHES_VIRTUAL;
    w->machine.levels[1] = made_level("L2", 262144, 8);
    w->machine.levels[1].index = CACHES_PHYSICAL;
    w->objects[ARRAY] = (struct analyses_object){.kind = ANALYSES_STATIC, .bytes = 1 << 20, .blocks = 1};
    w->objects[NODES] = (struct analyses_object){
        .kind = ANALYSES_HEAP, .bytes = 24000, .blocks = 1000, .site = {0x1234}};
    w->objects[OTHER] = (struct analyses_object){.kind = ANALYSES_STATIC, .bytes = 1 << 16, .blocks = 1};
    w->profile = (struct analyses_profile_result){.objects = w->objects, .object_count = OBJECTS};
    w->findings = (struct findings){.list = w->list};
}

static struct finding *add(struct world *w, enum findings_pattern pattern, uint32_t object, uint64_t gain)
{
    struct finding *finding = &w->list[w->findings.count++];
    *finding = (struct finding){.pattern = pattern,
                                .object = object,
                                .level = FINDINGS_NOBODY,
                                .evictor = FINDINGS_NOBODY,
                                .other = FINDINGS_NOBODY,
                                .cost = 1000,
                                .gain = gain,
                                .gained = FINDINGS_ESTIMATED};
    return finding;
}

static void is_wish(const struct world *w, uint32_t i, uint32_t number, unsigned means, uint32_t object)
{
    assert_true(i < w->wishes.count);
    assert_int_equal(w->wishes.list[i].number, number);
    assert_int_equal(w->wishes.list[i].means, means);
    assert_int_equal(w->wishes.list[i].object, object);
}

/* ------------------------------------------------------------------ wishes */

static void of_conflicts(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    struct finding *own = add(&w, FINDINGS_SET_CONFLICTS, ARRAY, 900);
    own->level = 0;
    own->evictor = ARRAY;
    struct finding *blocks = add(&w, FINDINGS_SET_CONFLICTS, NODES, 800);
    blocks->level = 0;
    struct finding *two = add(&w, FINDINGS_SET_CONFLICTS, ARRAY, 700);
    two->level = 1; /* which is indexed by physical addresses */
    two->evictor = OTHER;
    struct finding *rows = add(&w, FINDINGS_SET_CONFLICTS, ARRAY, 650);
    rows->level = 0;
    rows->row_bytes = 4096;
    rows->padding = 64;
    rows->padding_unit = 8;
    struct finding *frames = add(&w, FINDINGS_PAGE_PLACEMENT, OTHER, 600);
    frames->level = 1;
    findings_wish(&w.wishes, &w.findings, &w.profile, &w.machine, &w.placement);
    assert_int_equal(w.wishes.count, 12); /* and a third draw of the frames, for which there is no room */
    is_wish(&w, 0, 0, ANALYSES_PAD_ROWS, ARRAY);
    assert_true(w.wishes.list[0].row_bytes == 0 && w.wishes.list[0].pad_bytes == 0); /* as the run shows them */
    is_wish(&w, 1, 1, ANALYSES_PAD_BLOCKS, NODES);
    is_wish(&w, 2, 2, ANALYSES_STAGGER, ARRAY);
    assert_true(w.wishes.list[2].other == OTHER && w.wishes.list[2].level == 1);
    is_wish(&w, 3, 2, ANALYSES_PAD_ROWS, ARRAY);
    is_wish(&w, 4, 2, ANALYSES_STAGGER | ANALYSES_HUGE, ARRAY);
    is_wish(&w, 5, 2, ANALYSES_PAD_ROWS | ANALYSES_HUGE, ARRAY);
    is_wish(&w, 6, 3, ANALYSES_PAD_ROWS, ARRAY); /* a line, and an element */
    assert_true(w.wishes.list[6].row_bytes == 4096 && w.wishes.list[6].pad_bytes == 64);
    is_wish(&w, 7, 3, ANALYSES_PAD_ROWS, ARRAY);
    assert_true(w.wishes.list[7].row_bytes == 4096 && w.wishes.list[7].pad_bytes == 8);
    is_wish(&w, 8, 4, ANALYSES_COLORED, OTHER);
    is_wish(&w, 9, 4, ANALYSES_HUGE, OTHER);
    is_wish(&w, 10, 4, ANALYSES_REDRAWN, OTHER);
    assert_int_equal(w.wishes.list[10].draw, 1);
    is_wish(&w, 11, 4, ANALYSES_REDRAWN, OTHER);
    assert_int_equal(w.wishes.list[11].draw, 2);
}

/* Frames one behind the other are the same in each draw. */
static void of_frames_in_order(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    w.placement.placement = MMU_SEQUENTIAL;
    add(&w, FINDINGS_PAGE_PLACEMENT, OTHER, 600)->level = 1;
    findings_wish(&w.wishes, &w.findings, &w.profile, &w.machine, &w.placement);
    assert_int_equal(w.wishes.count, 2);
    is_wish(&w, 0, 0, ANALYSES_COLORED, OTHER);
    is_wish(&w, 1, 0, ANALYSES_HUGE, OTHER);
}

static void of_other_patterns(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    add(&w, FINDINGS_LOOP_ORDER, ARRAY, 950); /* has no layout, nor have the two that follow */
    add(&w, FINDINGS_TRUE_SHARING, ARRAY, 940);
    add(&w, FINDINGS_INSTRUCTION_CACHE, FINDINGS_NOBODY, 930);
    add(&w, FINDINGS_TLB, ARRAY, 900);
    add(&w, FINDINGS_FALSE_SHARING, OTHER, 800)->padding = 48;
    add(&w, FINDINGS_FALSE_SHARING, OTHER, 790); /* no padding helps */
    struct finding *partial = add(&w, FINDINGS_PARTIAL_LINES, ARRAY, 700);
    partial->element_bytes = 128;
    struct finding *chase = add(&w, FINDINGS_POINTER_CHASING, NODES, 600);
    chase->pc.v = 0x4000;
    add(&w, FINDINGS_POINTER_CHASING, ARRAY, 500); /* its elements are not known: lines */
    struct finding *capacity = add(&w, FINDINGS_CAPACITY, ARRAY, 400);
    capacity->level = 1;
    capacity->others = 2;
    capacity->other = OTHER;
    add(&w, FINDINGS_TLB, NODES, 300); /* many blocks have no layout, either */
    findings_wish(&w.wishes, &w.findings, &w.profile, &w.machine, &w.placement);
    assert_int_equal(w.wishes.count, 6);
    is_wish(&w, 0, 3, ANALYSES_HUGE, ARRAY);
    is_wish(&w, 1, 4, ANALYSES_PAD_ROWS, OTHER);
    assert_true(w.wishes.list[1].row_bytes == 16 && w.wishes.list[1].pad_bytes == 48);
    is_wish(&w, 2, 6, ANALYSES_SPLIT, ARRAY);
    assert_true(w.wishes.list[2].element_bytes == 128 && w.wishes.list[2].apart == partial->used);
    is_wish(&w, 3, 7, ANALYSES_IN_ORDER, NODES);
    assert_int_equal(w.wishes.list[3].element_bytes, 24);
    is_wish(&w, 4, 8, ANALYSES_IN_ORDER, ARRAY);
    assert_int_equal(w.wishes.list[4].element_bytes, 64);
    is_wish(&w, 5, 9, ANALYSES_ROOM, ARRAY);
    assert_int_equal(w.wishes.list[5].room_bytes, (1 << 20) + 2 * (1 << 16));
    assert_int_equal(w.wishes.walk_count, 2);
    assert_true(w.wishes.walks[0].object == NODES && w.wishes.walks[0].pc.v == 0x4000);
    assert_true(w.wishes.walks[0].element_bytes == 0 && w.wishes.walks[1].element_bytes == 64);
    assert_ptr_equal(w.wishes.list[3].walk, &w.wishes.walks[0]);
}

/* More than one pass simulates are left out, the least worth first. */
static void as_many_as_one_pass_simulates(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    for (uint32_t i = 0; i < ANALYSES_PROPOSALS + 2; i++)
        add(&w, FINDINGS_TLB, ARRAY, 900 - i);
    findings_wish(&w.wishes, &w.findings, &w.profile, &w.machine, &w.placement);
    assert_int_equal(w.wishes.count, ANALYSES_PROPOSALS);
    is_wish(&w, ANALYSES_PROPOSALS - 1, ANALYSES_PROPOSALS - 1, ANALYSES_HUGE, ARRAY);
}

/* ------------------------------------------------------------------ outcomes */

static void is_settled(const struct finding *finding, uint32_t number, enum findings_gained gained, uint64_t gain)
{
    assert_int_equal(finding->number, number);
    assert_int_equal(finding->gained, gained);
    assert_int_equal(finding->gain, gain);
}

/* Of 10000 cycles: the best of a finding's own remedies counts, those in pages of 2 MiB besides only where they spare
 * more than twice as much; what spares nothing is 0; one that was not tried keeps the estimate, and one that failed
 * too. */
static void the_best_counts(void **state)
{
    static const uint64_t cost[] = {9600, 9500, 9100, 10400, 9000, 8000, 0, 5000};
    static const unsigned means[] = {ANALYSES_PAD_ROWS, ANALYSES_STAGGER,  ANALYSES_PAD_ROWS | ANALYSES_HUGE,
                                     ANALYSES_HUGE,     ANALYSES_PAD_ROWS, ANALYSES_PAD_ROWS | ANALYSES_HUGE,
                                     ANALYSES_HUGE,     ANALYSES_ROOM};
    static const uint64_t wishes[] = {1 << 0, 1 << 0, 1 << 0, 1 << 1, 1 << 2, 1 << 2 | 1 << 5, 1 << 3, 1 << 4};
    struct analyses_proposal proposals[8];
    struct analyses_outcome outcomes[8] = {{.status = C2_OK}}, before = {.cost = {.caches = 9000, .walks = 1000}};
    struct world w;
    (void)state;
    begin(&w);
    for (uint32_t i = 0; i < 7; i++)
        add(&w, i == 4 ? FINDINGS_CAPACITY : FINDINGS_SET_CONFLICTS, ARRAY, 300 - i)->number = i;
    w.list[4].parts.capacity = 700;
    for (uint32_t i = 0; i < 8; i++) {
        proposals[i] = (struct analyses_proposal){
            .means = means[i], .wishes = wishes[i], .room_bytes = i == 7 ? 4096 : 0};
        outcomes[i].cost.caches = cost[i];
    }
    outcomes[6].status = C2_ERR_UNSUPPORTED;
    findings_settle(&w.findings, proposals, outcomes, 8, &before);
    is_settled(&w.list[0], 5, FINDINGS_SIMULATED, 2000);
    assert_true(w.list[0].in_huge_pages);
    is_settled(&w.list[1], 2, FINDINGS_SIMULATED, 1000); /* 2000 is not more than twice that */
    assert_false(w.list[1].in_huge_pages);
    is_settled(&w.list[2], 4, FINDINGS_SIMULATED, 700); /* its own capacity misses */
    assert_int_equal(w.list[2].room_bytes, 4096);
    is_settled(&w.list[3], 0, FINDINGS_SIMULATED, 500);
    is_settled(&w.list[4], 3, FINDINGS_ESTIMATED, 297);
    is_settled(&w.list[5], 6, FINDINGS_ESTIMATED, 294);
    is_settled(&w.list[6], 1, FINDINGS_SIMULATED, 0);
}

/* Rows longer by an element spare nearly as much as by a line, and take less; where they spare less the line counts. */
static void the_shorter_rows_that_do(void **state)
{
    const struct analyses_change line = {.row_bytes = 4096, .pad_bytes = 64},
                                 element = {.row_bytes = 4096, .pad_bytes = 8};
    struct analyses_proposal proposals[2] = {
        {.means = ANALYSES_PAD_ROWS, .wishes = 1, .changes = {line}, .change_count = 1},
        {.means = ANALYSES_PAD_ROWS, .wishes = 1, .changes = {element}, .change_count = 1}};
    struct analyses_outcome outcomes[2] = {{.status = C2_OK}}, before = {.cost = {.caches = 10000}};
    struct world w;
    (void)state;
    begin(&w);
    add(&w, FINDINGS_SET_CONFLICTS, ARRAY, 300);
    outcomes[0].cost.caches = 5000;
    outcomes[1].cost.caches = 5040;
    findings_settle(&w.findings, proposals, outcomes, 2, &before);
    is_settled(&w.list[0], 0, FINDINGS_SIMULATED, 4960);
    assert_true(w.list[0].row_bytes == 4096 && w.list[0].padding == 8);
    outcomes[1].cost.caches = 5060;
    findings_settle(&w.findings, proposals, outcomes, 2, &before);
    is_settled(&w.list[0], 0, FINDINGS_SIMULATED, 5000);
    assert_int_equal(w.list[0].padding, 64);
}

/* Frames drawn anew are no remedy, be they ever so good. */
static void luck_of_frames(void **state)
{
    const struct analyses_proposal proposals[] = {{.means = ANALYSES_COLORED, .wishes = 1},
                                                  {.means = ANALYSES_REDRAWN, .wishes = 1, .draw = 1},
                                                  {.means = ANALYSES_REDRAWN, .wishes = 1, .draw = 2},
                                                  {.means = ANALYSES_REDRAWN, .wishes = 2, .draw = 3}};
    struct analyses_outcome outcomes[4] = {{.status = C2_OK}}, before = {.cost = {.caches = 10000}};
    struct world w;
    (void)state;
    begin(&w);
    add(&w, FINDINGS_PAGE_PLACEMENT, ARRAY, 300);
    outcomes[0].cost.caches = 8000;
    outcomes[1].cost.caches = 7000;
    outcomes[2].cost.caches = 10500;
    outcomes[3].cost.caches = 1; /* another finding's */
    findings_settle(&w.findings, proposals, outcomes, 4, &before);
    is_settled(&w.list[0], 0, FINDINGS_SIMULATED, 2000);
    assert_int_equal(w.list[0].draws, 2);
    assert_true(w.list[0].luck_now == 10000 && w.list[0].luck_least == 7000 && w.list[0].luck_most == 10500);
}

static void starts_apart(void **state)
{
    const struct analyses_proposal proposal = {.means = ANALYSES_STAGGER,
                                               .wishes = 1,
                                               .changes = {{.align = 4096}, {.align = 4096, .offset = 256}},
                                               .change_count = 2,
                                               .step_bytes = 256};
    const struct analyses_outcome outcome = {.status = C2_OK, .cost = {.caches = 5000}},
                                  before = {.cost = {.caches = 10000}};
    struct world w;
    (void)state;
    begin(&w);
    add(&w, FINDINGS_SET_CONFLICTS, ARRAY, 300)->evictor = OTHER;
    findings_settle(&w.findings, &proposal, &outcome, 1, &before);
    is_settled(&w.list[0], 0, FINDINGS_SIMULATED, 5000);
    assert_true(w.list[0].apart_bytes == 256 && w.list[0].apart_of == 4096 && w.list[0].row_bytes == 0);
}

/* Two arrays and one of them again, which start apart with one layout; a third one has another. */
static void what_one_layout_spares_is_one_finding(void **state)
{
    const struct analyses_proposal proposals[] = {{.means = ANALYSES_STAGGER, .wishes = 1 << 0 | 1 << 1 | 1 << 2},
                                                  {.means = ANALYSES_HUGE, .wishes = 1 << 3}};
    struct analyses_outcome outcomes[2] = {{.status = C2_OK}}, before = {.cost = {.caches = 10000}};
    struct world w;
    (void)state;
    begin(&w);
    add(&w, FINDINGS_SET_CONFLICTS, ARRAY, 300);
    add(&w, FINDINGS_SET_CONFLICTS, OTHER, 299);
    add(&w, FINDINGS_SET_CONFLICTS, ARRAY, 298);
    add(&w, FINDINGS_TLB, OTHER, 297);
    for (uint32_t i = 0; i < 4; i++) {
        w.list[i].number = i;
        w.list[i].parts.conflict = i < 3 ? 1000 : 0;
    }
    outcomes[0].cost.caches = 8000;
    outcomes[1].cost.caches = 9000;
    findings_settle(&w.findings, proposals, outcomes, 2, &before);
    assert_int_equal(w.findings.count, 2);
    is_settled(&w.list[0], 0, FINDINGS_SIMULATED, 2000);
    assert_true(w.list[0].cost == 3000 && w.list[0].parts.conflict == 3000 && w.list[0].layout == 0);
    assert_true(w.list[0].others == 1 && w.list[0].other == OTHER);
    is_settled(&w.list[1], 3, FINDINGS_SIMULATED, 1000);
    assert_int_equal(w.list[1].cost, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_conflicts),
        cmocka_unit_test(of_frames_in_order),
        cmocka_unit_test(of_other_patterns),
        cmocka_unit_test(as_many_as_one_pass_simulates),
        cmocka_unit_test(the_best_counts),
        cmocka_unit_test(the_shorter_rows_that_do),
        cmocka_unit_test(luck_of_frames),
        cmocka_unit_test(starts_apart),
        cmocka_unit_test(what_one_layout_spares_is_one_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
