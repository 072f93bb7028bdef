/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Findings of profiles made by hand: one instruction, one object and what the excerpts know of them, pattern by
 * pattern, with costs and gains that follow from the latencies: a miss costs 8 cycles in L1D, 28 in L2, 160 in L3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/findings_priv.h"
#include "unit/made_level.h"

enum { LEVELS = 4, L1D = 0, L2, L3, L1I, ROWS = 3 };

/* Three instructions, 0x1000, 0x2000, 0x3000, the n-th accesses the n-th object. The first two are in a loop each, 0
 * within 1. */
struct world {
    struct caches_machine machine;
    struct analyses_insn insns[ROWS];
    struct analyses_object objects[ROWS];
    struct analyses_tally tallies[ROWS][LEVELS], none[LEVELS];
    struct analyses_row rows[ROWS];
    struct analyses_pair pairs[ROWS];
    struct analyses_profile_result profile;
    struct analyses_access accesses[ROWS];
    struct analyses_loop loops[3];
    uint32_t loop_of[ROWS];
    struct analyses_excerpts_result excerpts;
    struct findings_input input;
};

static void make_machine(struct caches_machine *machine)
{
    *machine = (struct caches_machine){
        .name = "made", .line_bytes = 64, .physical_bytes = 1ull << 40, .has_l1i = true, .level_count = 3};
    machine->levels[0] = machine->l1i = made_level("L1D", 32768, 8);
    machine->levels[1] = made_level("L2", 262144, 8);
    machine->levels[2] = made_level("L3", 1 << 20, 16);
    machine->levels[0].latency_cycles = machine->l1i.latency_cycles = 4;
    machine->levels[1].latency_cycles = 12;
    machine->levels[2].latency_cycles = 40;
}

static void begin(struct world *w)
{
    *w = (struct world){.loop_of = {0, 1, ANALYSES_NO_LOOP}};
    make_machine(&w->machine);
    w->loops[0] = (struct analyses_loop){.header = {0x1000}, .latch = {0x1000}, .parent = 1, .depth = 2};
    w->loops[1] = (struct analyses_loop){.header = {0x2000}, .latch = {0x2000}, .parent = ANALYSES_NO_LOOP, .depth = 1};
    for (uint32_t i = 0; i < ROWS; i++) {
        w->insns[i] = (struct analyses_insn){.pc = {(i + 1) * 0x1000u}, .executed = 1000, .reads = 1000};
        w->objects[i] = (struct analyses_object){.kind = ANALYSES_STATIC,
                                                 .name = "abc",
                                                 .bytes = 4 << 20,
                                                 .blocks = 1,
                                                 .level = w->none,
                                                 .startup = w->none};
        w->rows[i] = (struct analyses_row){.insn = i, .object = i, .level = w->tallies[i], .startup = w->none};
        w->accesses[i] = (struct analyses_access){
            .insn = i, .object = i, .bytes = 8, .reads = 1000, .grid = 8, .caller = EXCERPTS_NO_CALLER};
    }
    w->insns[1].executed = 10; /* rounds of the outer loop, each with 100 of the inner one */
    w->profile = (struct analyses_profile_result){.level_count = 3,
                                                  .has_l1i = true,
                                                  .insns = w->insns,
                                                  .insn_count = ROWS,
                                                  .objects = w->objects,
                                                  .object_count = ROWS,
                                                  .rows = w->rows,
                                                  .row_count = ROWS,
                                                  .pairs = w->pairs};
    w->excerpts = (struct analyses_excerpts_result){
        .accesses = w->accesses, .access_count = ROWS, .loops = {w->loops, 2, w->loop_of}};
    w->input = (struct findings_input){
        .profile = &w->profile, .excerpts = &w->excerpts, .machine = &w->machine, .instructions = 10000};
}

static void steps(struct analyses_access *access, int64_t inner, int64_t outer)
{
    access->step[0] = (struct analyses_step){inner, 900, 900};
    access->step[1] = (struct analyses_step){outer, 90, 90};
}

/* So many misses of each class in L1D, which L2 has. */
static void missed(struct world *w, uint32_t row, uint64_t cold, uint64_t capacity, uint64_t conflict)
{
    w->tallies[row][L1D].reads[ANALYSES_COLD] = cold;
    w->tallies[row][L1D].reads[ANALYSES_CAPACITY] = capacity;
    w->tallies[row][L1D].reads[ANALYSES_CONFLICT] = conflict;
}

static struct findings *found(const struct world *w)
{
    struct findings *findings;
    assert_int_equal(C2_OK, findings_create(&findings, &w->input, NULL));
    return findings;
}

static void must(const struct finding *finding, enum findings_pattern pattern, uint64_t pc, uint64_t cost,
                 uint64_t gain)
{
    assert_int_equal(pattern, finding->pattern);
    assert_int_equal(pc, finding->pc.v);
    assert_int_equal(cost, finding->cost);
    assert_int_equal(gain, finding->gain);
    assert_int_equal(gain == 0 ? FINDINGS_NO_GAIN : FINDINGS_ESTIMATED, finding->gained);
}

/* ------------------------------------------------------------------ patterns */

#define SWAPPED 3388 /* 8000 * (68000 - 39200) / 68000 */

/* 1000 misses, 8000 cycles. The nest as it is: 100 lines in a set of L1D, which has 8 ways, in 8 of L2, in 16 of L3 of
 * 16 ways. Their first accesses cost 8 + 28 + 160, as L3 does not hold the object, for the bytes 0 and 64 of each; the
 * eight others of each 8 + 28: 100 * (2 * 196 + 8 * 36) = 68000. With the loops swapped the first ones remain,
 * 39200. */
static void long_steps_inside_short_ones(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 300, 700);
    steps(&w.accesses[0], 4096, 8);
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    assert_true(findings->cost == 8000 && findings->cycles == 18000);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 8000, SWAPPED);
    assert_true(findings->list[0].loop == 0 && findings->list[0].with == 1);
    assert_true(findings->list[0].step == 4096 && findings->list[0].with_step == 8);
    findings_destroy(findings);
    w.accesses[0].step[0].bytes = -4096; /* downwards is no other way */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 8000, SWAPPED);
    findings_destroy(findings);
}

/* The same nest with three bytes in a row in place of one access, the innermost loop: whole lines are missed as before,
 * and the two loops around are what is to be swapped. */
static void the_parts_of_an_element_are_passed_over(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 300, 700);
    w.loops[1].parent = 2;
    w.loops[2] = (struct analyses_loop){.header = {0x3000}, .latch = {0x3000}, .parent = ANALYSES_NO_LOOP};
    w.excerpts.loops.count = 3;
    w.insns[0].executed = 3000;
    w.insns[1].executed = 1000;
    w.insns[2].executed = 10;
    steps(&w.accesses[0], 1, 4096);
    w.accesses[0].step[2] = (struct analyses_step){8, 9, 9};
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 8000, SWAPPED);
    assert_true(findings->list[0].loop == 0 && findings->list[0].swapped == 1 && findings->list[0].with == 2);
    assert_true(findings->list[0].step == 4096 && findings->list[0].with_step == 8);
    findings_destroy(findings);
}

/* An instruction has the object in fewer than half of the loop's rounds, and another one, which changes places with it,
 * in the others: of the finding's object it is what it is. */
static void two_objects_that_change_places(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 300, 700);
    steps(&w.accesses[0], 4096, 8);
    w.accesses[2] = w.accesses[1];
    w.accesses[1] = w.accesses[0];
    w.accesses[1].object = 2;
    w.accesses[0].reads = 450;
    w.accesses[1].reads = 550;
    w.loops[0].iterations = 1000;
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 8000, SWAPPED);
    findings_destroy(findings);
}

/* Another object, 16 sets from the first one, is gone through the other way: 13 lines of each of 10 rows, 196 each,
 * whatever the order. Swapped, the 10 lines of a column compete for 8 ways, and the other 870 accesses cost 8: of the
 * 28,800 that the first one is spared 21,840 remain. In blocks of 8 by 8 each line of both is used whole. */
static void long_steps_either_way(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 1000, 0);
    steps(&w.accesses[0], 4096, 8);
    steps(&w.accesses[2], 8, 4096);
    w.loop_of[2] = 0;
    w.objects[2].base = 1024;
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 8000, SWAPPED);
    assert_int_equal(8, findings->list[0].tile);
    findings_destroy(findings);
    w.accesses[2].reads = 100; /* too seldom to be of the nest: the swap spares as much */
    w.loops[0].iterations = 1000;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 8000, SWAPPED);
    assert_int_equal(0, findings->list[0].tile);
    findings_destroy(findings);
}

/* A triangle: the inner loop begins a round later each time, so that its first access is 4104 bytes from the one
 * before, 8 beside the round that is left out. Of loops of 1.5 rounds a round is more than half: it is no triangle. */
static void a_triangle(void **state)
{
    struct world w;
    int64_t step;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 1000, 0);
    steps(&w.accesses[0], 4096, 4104);
    assert_true(findings_outer_step(&w.input, (struct findings_inner){0, 0}, &w.accesses[0], 1, &step) && step == 8);
    steps(&w.accesses[0], -4096, -4104);
    assert_true(findings_outer_step(&w.input, (struct findings_inner){0, 0}, &w.accesses[0], 1, &step) && step == -8);
    steps(&w.accesses[0], -4096, 4088);
    assert_true(findings_outer_step(&w.input, (struct findings_inner){0, 0}, &w.accesses[0], 1, &step) && step == -8);
    steps(&w.accesses[0], 4096, 4104);
    struct findings *findings = found(&w);
    assert_int_equal(FINDINGS_LOOP_ORDER, findings->list[0].pattern);
    assert_true(findings->list[0].step == 4096 && findings->list[0].with_step == 8);
    findings_destroy(findings);
    w.insns[0].executed = 15;
    assert_true(findings_outer_step(&w.input, (struct findings_inner){0, 0}, &w.accesses[0], 1, &step) && step == 4104);
}

/* Four lines of a set of 8 ways stay where they are: there is nothing to swap for, and conflicts are what is left. */
static void a_nest_that_fits_is_no_matter_of_order(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 300, 700);
    steps(&w.accesses[0], 4096, 8);
    w.insns[0].executed = 40; /* 4 rounds */
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 8000, 5600);
    findings_destroy(findings);
}

/* The loops are entered ten times, one row further on each time, and no miss of the run was cold: what costs is the
 * second sweep. It goes through rows 1 to 100, of which 99 have been seen: row 100 costs 196 for each of its two lines.
 * As it is, 8 + 28 for all other accesses, 1000 * 36 + 2 * 160 = 36320. Swapped, 100 rows of ten accesses to two lines:
 * L1D and L2 have lost all of the old ones, so 2 * 36 a row, and 2 * 160 = 7520. */
static void sweeps_after_the_first(void **state)
{
    struct analyses_loop loops[3];
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 300, 700);
    steps(&w.accesses[0], 4096, 8);
    w.accesses[0].step[2] = (struct analyses_step){4096, 9, 9};
    memcpy(loops, w.loops, sizeof w.loops);
    loops[1].parent = 2;
    loops[2] = (struct analyses_loop){.header = {0x3000}, .latch = {0x3000}, .parent = ANALYSES_NO_LOOP, .depth = 1};
    w.excerpts.loops = (struct analyses_loops_result){loops, 3, w.loop_of};
    w.insns[0].executed = 10000;
    w.insns[1].executed = 100;
    w.insns[2].executed = 10;
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 8000, 6343); /* 8000 * 28800 / 36320 */
    findings_destroy(findings);
}

/* The loop around was not seen; the instructions in front of the loop and behind it show how often it was entered. */
static void entries_by_the_code_around(void **state)
{
    struct analyses_insn insns[] = {{.pc = {0x1ffc}, .executed = 5},  {.pc = {0x2000}, .executed = 40},
                                    {.pc = {0x2008}, .executed = 40}, {.pc = {0x200a}, .executed = 5},
                                    {.pc = {0x3000}, .executed = 5},  {.pc = {0x4000}, .executed = 1}};
    struct world w;
    (void)state;
    begin(&w);
    w.loops[1].latch.v = 0x2008;
    w.profile.insns = insns;
    w.profile.insn_count = sizeof insns / sizeof insns[0];
    assert_int_equal(8, findings_rounds(&w.input, 1));
    insns[3].executed = 6; /* there is another way to what is behind */
    assert_int_equal(40, findings_rounds(&w.input, 1));
    insns[3].executed = 5;
    insns[0].executed = 4; /* or into the loop */
    assert_int_equal(40, findings_rounds(&w.input, 1));
    insns[0].executed = 5;
    insns[3].pc.v = 0x2018; /* what is behind never ran */
    assert_int_equal(40, findings_rounds(&w.input, 1));
}

/* Another object of the loop goes the other way: swapped loops would only change places, and longer rows help. */
static void a_transposition_with_conflicts(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 300, 700);
    w.loop_of[1] = 0;
    steps(&w.accesses[0], 4096, 8);
    steps(&w.accesses[1], 8, 4096);
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 8000, 5600);
    assert_int_equal(L1D, findings->list[0].level);
    findings_destroy(findings);
}

/* Conflicts are 40 per cent: at 399 of 1000 misses it is no matter of sets. */
static void conflicts_of_sets(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    steps(&w.accesses[0], 8, 0);
    missed(&w, 0, 600, 0, 400);
    w.pairs[0] = (struct analyses_pair){L1D, 0, 2, ANALYSES_REASON_INTER, 300};
    w.pairs[1] = (struct analyses_pair){L1D, 0, 0, ANALYSES_REASON_INTRA, 100};
    w.profile.pair_count = 2;
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 8000, 3200);
    assert_int_equal(2, findings->list[0].evictor);
    findings_destroy(findings);
    missed(&w, 0, 601, 0, 399);
    findings = found(&w);
    must(&findings->list[0], FINDINGS_STREAMING, 0x1000, 8000, 0);
    findings_destroy(findings);
}

/* The taker of most lines is an object, by the sum of its rows, of the level where most is lost; one that took no more
 * than half does not stand alone where the object took lines from itself. */
static void who_evicts(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    steps(&w.accesses[0], 8, 0);
    missed(&w, 0, 0, 0, 1000);
    w.rows[2].object = 1; /* as row 1 */
    w.pairs[0] = (struct analyses_pair){L1D, 0, 0, ANALYSES_REASON_INTRA, 400};
    w.pairs[1] = (struct analyses_pair){L1D, 0, 1, ANALYSES_REASON_INTER, 300};
    w.pairs[2] = (struct analyses_pair){L1D, 0, 2, ANALYSES_REASON_INTER, 300};
    w.profile.pair_count = 3;
    struct findings *findings = found(&w);
    assert_int_equal(findings->list[0].evictor, 1); /* 600 of 1000 */
    findings_destroy(findings);
    w.pairs[0].count = 600;
    findings = found(&w);
    assert_int_equal(findings->list[0].evictor, 0); /* 600 are half of 1200 */
    findings_destroy(findings);
    w.pairs[0].count = 10;
    w.pairs[1].level = w.pairs[2].level = L2; /* where nothing is lost */
    findings = found(&w);
    assert_int_equal(findings->list[0].evictor, 0);
    assert_int_equal(findings->list[0].level, L1D);
    findings_destroy(findings);
    w.tallies[0][L2].reads[ANALYSES_CONFLICT] = 1000; /* now most */
    findings = found(&w);
    assert_int_equal(findings->list[0].evictor, 1);
    assert_int_equal(findings->list[0].level, L2);
    findings_destroy(findings);
}

static struct findings *in_conflict(struct world *w)
{
    missed(w, 0, 0, 300, 700);
    w->pairs[0] = (struct analyses_pair){L1D, 0, 0, ANALYSES_REASON_INTRA, 700};
    w->profile.pair_count = 1;
    struct findings *findings = found(w);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 8000, 5600);
    return findings;
}

/* L1D has 64 sets of 64 bytes. Steps of 192 B reach all of them, those of 1024 B of the loop around it four. */
static void rows_that_reach_few_sets(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    steps(&w.accesses[0], 192, 1024);
    struct findings *findings = in_conflict(&w);
    assert_int_equal(findings->list[0].row_bytes, 1024);
    assert_int_equal(findings->list[0].padding, 64);
    assert_int_equal(findings->list[0].padding_unit, 0); /* no declaration is known */
    findings_destroy(findings);
    steps(&w.accesses[0], 16, 0); /* no step is as long as a line: the instructions of the loop lie apart */
    w.accesses[0].anchor = 40;
    w.accesses[1].object = 0;
    w.loop_of[1] = 0;
    w.accesses[1].anchor = 40 + 12288;
    findings = in_conflict(&w);
    assert_int_equal(findings->list[0].row_bytes, 12288);
    findings_destroy(findings);
    w.accesses[1].anchor = 44; /* 4 B apart: rows are not known */
    findings = in_conflict(&w);
    assert_int_equal(findings->list[0].row_bytes, 0);
    assert_int_equal(findings->list[0].padding, 0);
    findings_destroy(findings);
    steps(&w.accesses[0], 3 << 20, 0); /* longer than half of the object: there is one row */
    findings = in_conflict(&w);
    assert_int_equal(findings->list[0].row_bytes, 0);
    findings_destroy(findings);
}

/* Two loops in which the same rows compete need one change; with other rows it is two. */
static void rows_of_several_loops(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 300, 700);
    missed(&w, 1, 0, 0, 500);
    w.rows[1].object = w.accesses[1].object = 0;
    steps(&w.accesses[0], 4096, 0);
    steps(&w.accesses[1], 4096, 0);
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 12000, 9600);
    assert_int_equal(0, findings->list[0].others);
    findings_destroy(findings);
    steps(&w.accesses[1], 2048, 0);
    findings = found(&w);
    assert_int_equal(2, findings->count);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 8000, 5600);
    must(&findings->list[1], FINDINGS_SET_CONFLICTS, 0x2000, 4000, 4000);
    findings_destroy(findings);
}

/* Most conflicts in sets that frames choose: of a random placement they are its matter. */
static void conflicts_of_frames(void **state)
{
    const struct mmu_config random = {.placement = MMU_RANDOM}, sequential = {.placement = MMU_SEQUENTIAL};
    struct world w;
    (void)state;
    begin(&w);
    steps(&w.accesses[0], 8, 0);
    w.tallies[0][L2].reads[ANALYSES_CONFLICT] = 100;
    w.tallies[0][L2].framed = 80;
    w.input.placement = &random;
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_PAGE_PLACEMENT, 0x1000, 2800, 2240);
    assert_int_equal(L2, findings->list[0].level);
    findings_destroy(findings);
    w.input.placement = &sequential;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 2800, 2800);
    findings_destroy(findings);
    w.objects[0].bytes = 1 << 17; /* half of L2: its lines compete because its pages lie apart */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_PAGE_PLACEMENT, 0x1000, 2800, 2240);
    findings_destroy(findings);
    steps(&w.accesses[0], 4096, 0); /* but a page is a step that competes by itself */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 2800, 2800);
    findings_destroy(findings);
}

/* Elements of 32 bytes of which the loop uses 8: a quarter of the lines is left. Unrolled twice, the grid is 64. */
static void bytes_that_are_not_used(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 1000, 0, 0);
    steps(&w.accesses[0], 32, 0);
    w.accesses[0].grid = 32;
    w.accesses[0].offset = 16;
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 8000, 6000);
    assert_true(findings->list[0].element_bytes == 32 && findings->list[0].used_bytes == 8);
    assert_true(findings->list[0].used[2] == 0xff && findings->list[0].used[1] == 0 && findings->list[0].used[3] == 0);
    findings_destroy(findings);
    w.loop_of[1] = 0;
    w.accesses[1] = w.accesses[0];
    w.accesses[1].insn = 1;
    w.accesses[0].grid = w.accesses[1].grid = 64;
    w.accesses[1].offset = 48;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 8000, 6000);
    assert_true(findings->list[0].element_bytes == 32 && findings->list[0].used_bytes == 8);
    findings_destroy(findings);
    w.accesses[1].offset = 0; /* another field: 16 of 64 bytes, which are in the one line that there is */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 8000, 6000);
    assert_true(findings->list[0].element_bytes == 64 && findings->list[0].used_bytes == 16);
    findings_destroy(findings);
}

/* Two loops side by side that go through one object of such elements, each a thousand misses. */
static void two_loops(struct world *w, uint64_t element)
{
    begin(w);
    w->loops[0].parent = ANALYSES_NO_LOOP;
    w->loops[0].depth = 1;
    w->rows[1].object = w->accesses[1].object = 0;
    for (uint32_t i = 0; i < 2; i++) {
        missed(w, i, 1000, 0, 0);
        steps(&w->accesses[i], (int64_t)element, 0);
        w->accesses[i].grid = element;
    }
}

/* Each loop uses 8 bytes. Of 64, splits of their own would leave an eighth, and one of both a quarter; of 32 they would
 * leave a quarter, and one of both half: then each has an array of its own. */
static void one_split_for_two_loops(void **state)
{
    struct world w;
    (void)state;
    two_loops(&w, 64);
    w.accesses[1].offset = 32;
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 16000, 12000);
    assert_true(findings->list[0].loops == 2 && !findings->list[0].by_field && findings->list[0].used_bytes == 16);
    assert_true(findings->list[0].used[0] == 0xff && findings->list[0].used[1] == 0 &&
                findings->list[0].used[4] == 0xff);
    findings_destroy(findings);
    two_loops(&w, 32);
    w.accesses[1].offset = 16;
    findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 16000, 12000);
    assert_true(findings->list[0].loops == 2 && findings->list[0].by_field && findings->list[0].used_bytes == 8);
    findings_destroy(findings);
}

/* Blocks of 64 bytes: chunks of 32 for 8 or 16 of them, of 48 for 40. The first loop alone is spared half, the second a
 * quarter; both together no more than the first alone. */
static void blocks_that_two_loops_split(void **state)
{
    struct world w;
    (void)state;
    two_loops(&w, 64);
    w.objects[0].kind = ANALYSES_HEAP;
    w.objects[0].site.v = 0x5000;
    w.objects[0].blocks = w.objects[0].bytes / 64;
    w.accesses[1].offset = 8;
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 16000, 8000);
    assert_true(findings->list[0].loops == 2 && !findings->list[0].by_field);
    findings_destroy(findings);
    w.accesses[1].offset = 0;
    w.accesses[1].bytes = 40;
    findings = found(&w);
    assert_int_equal(2, findings->count);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 8000, 4000);
    must(&findings->list[1], FINDINGS_PARTIAL_LINES, 0x2000, 8000, 2000);
    findings_destroy(findings);
}

/* Blocks of 32 bytes lie in chunks of 48, those of 8 bytes would in 32: what is left is 32 of 48. There are no smaller
 * chunks than these. */
static void blocks_lie_in_chunks(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 1000, 0, 0);
    steps(&w.accesses[0], 48, 0);
    w.objects[0].kind = ANALYSES_HEAP;
    w.objects[0].site.v = 0x5000;
    w.objects[0].blocks = w.objects[0].bytes / 32;
    w.accesses[0].grid = 32;
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x1000, 8000, 2667);
    findings_destroy(findings);
    w.objects[0].blocks = w.objects[0].bytes / 16; /* 8 of 16 bytes */
    w.accesses[0].grid = 16;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_STREAMING, 0x1000, 8000, 0);
    findings_destroy(findings);
}

/* The rest of each element is used by a loop inside, or, of blocks of 32 bytes, by an instruction that comes to all
 * places of one. */
static void bytes_that_others_use(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 1, 1000, 0, 0);
    w.rows[1].object = w.accesses[0].object = w.accesses[1].object = 1;
    steps(&w.accesses[1], 32, 0);
    w.accesses[1].grid = 32;
    struct findings *findings = found(&w); /* the loop inside, 0, goes through the object in steps of 8 */
    must(&findings->list[0], FINDINGS_STREAMING, 0x2000, 8000, 0);
    findings_destroy(findings);
    w.accesses[0].object = 0;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_PARTIAL_LINES, 0x2000, 8000, 6000);
    findings_destroy(findings);
    w.objects[1].blocks = w.objects[1].bytes / 32;
    w.accesses[1].grid = 8;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_STREAMING, 0x2000, 8000, 0);
    findings_destroy(findings);
}

/* 1 MiB of words walked through by 1000 accesses of 64 bytes: an eighth of a walk, or, four times as small, half of
 * one; of 32,000 bytes twice. */
static void again_and_again_or_once(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 100, 900, 0);
    steps(&w.accesses[0], 64, 0);
    w.accesses[0].bytes = 64;
    w.accesses[0].grid = 64;
    w.objects[0].bytes = 32000;
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_CAPACITY, 0x1000, 8000, 7200);
    assert_true(findings->list[0].passes == 2.0 && findings->list[0].level == L1D);
    findings_destroy(findings);
    w.accesses[0].caller = 2; /* in a library, by several callers: half */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_CAPACITY, 0x1000, 8000, 3600);
    findings_destroy(findings);
    w.accesses[0].caller = EXCERPTS_NO_CALLER;
    w.tallies[0][L2].reads[ANALYSES_COLD] = 100; /* blocks that fit L2 spare nothing in L1D: 900 * 28 */
    w.tallies[0][L2].reads[ANALYSES_CAPACITY] = 900;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_CAPACITY, 0x1000, 36000, 25200);
    assert_int_equal(findings->list[0].level, L2);
    findings_destroy(findings);
    memset(w.tallies[0][L2].reads, 0, sizeof w.tallies[0][L2].reads);
    w.objects[0].bytes = 64000;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_STREAMING, 0x1000, 8000, 0);
    findings_destroy(findings);
}

/* 1000 rounds of 64 bytes go through all of 64,000, ten times: L1D holds 512 of them. */
static void begin_rounds(struct world *w, uint64_t bytes)
{
    begin(w);
    missed(w, 0, 100, 900, 0);
    steps(&w->accesses[0], 64, 0);
    w->accesses[0].bytes = w->accesses[0].grid = 64;
    w->objects[0].bytes = bytes;
    w->insns[0].executed = w->insns[0].reads = 10000;
}

static void blocks_that_fit(void **state)
{
    struct world w;
    (void)state;
    begin_rounds(&w, 64000);
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_CAPACITY, 0x1000, 8000, 7200);
    assert_true(findings->list[0].block_loop == 0 && findings->list[0].block_rounds == 512);
    assert_true(findings->list[0].block_bytes == 32768 && findings->list[0].fits_bytes == 0);
    findings_destroy(findings);
    w.accesses[1].object = 1; /* another object beside it, of the same loop, by steps of two lines: 64 more a round */
    w.loop_of[1] = 0;
    steps(&w.accesses[1], 128, 0);
    findings = found(&w);
    assert_true(findings->list[0].block_rounds == 256 && findings->list[0].block_bytes == 16384);
    findings_destroy(findings);
    steps(&w.accesses[1], 0, 0); /* eight bytes all the time */
    findings = found(&w);
    assert_int_equal(findings->list[0].block_rounds, 511);
    findings_destroy(findings);
}

/* The loop around goes on by 64,000 bytes, or by how much is unknown. */
static void rounds_that_go_on(void **state)
{
    struct world w;
    (void)state;
    begin_rounds(&w, 64000);
    w.accesses[0].step[1] = (struct analyses_step){
        .of = 0}; /* one round goes through all: the next one must come back */
    struct findings *findings = found(&w);
    assert_int_equal(findings->list[0].block_rounds, 512);
    findings_destroy(findings);
    w.objects[0].bytes = 128000; /* or through half: it need not */
    findings = found(&w);
    assert_int_equal(FINDINGS_CAPACITY, findings->list[0].pattern);
    assert_int_equal(findings->list[0].block_rounds, 0);
    findings_destroy(findings);
    /* Ten rows, again and again: not even one fits, so rows are cut: 10 * 50 * 64, and a line in each row by the second
     * instruction, of which nothing is known. */
    steps(&w.accesses[0], 64, 64000);
    findings = found(&w);
    assert_true(findings->list[0].block_loop == 0 && findings->list[0].block_rounds == 50);
    findings_destroy(findings);
    steps(&w.accesses[0], 64, 0);
    w.insns[0].executed = 5000; /* 500 rounds: they fit */
    findings = found(&w);
    assert_int_equal(findings->list[0].block_rounds, 0);
    findings_destroy(findings);
}

/* 900 accesses come back at distances of 1024 to 2047 lines, 90 at 512 to 1023, 10 at once. Of all data so far 1000
 * come back at distance 1500; nine of ten of 990 are 891, and 801 of the 900: 1501 lines. */
static void distances_that_were_measured(void **state)
{
    uint64_t exact[2048] = {[1500] = 1000};
    struct analyses_reuse_row row = {.insn = 0, .object = 0, .of = {{[0] = 10, [10] = 90, [11] = 900}}};
    struct analyses_reuse_result reuse = {.line_bytes = 64, .stack_count = 1, .rows = &row, .row_count = 1};
    struct world w;
    (void)state;
    begin_rounds(&w, 64000);
    reuse.stacks[0] = (struct analyses_reuse_stack){.exact = exact, .exact_count = 2048};
    reuse.stacks[0].by_size.count[11] = 1000;
    w.input.reuse = &reuse;
    struct findings *findings = found(&w);
    assert_int_equal(findings->list[0].fits_bytes, 1501 * 64);
    findings_destroy(findings);
    exact[1200] = 900; /* 801 of 900 are 890 of 1000 */
    exact[1500] = 100;
    findings = found(&w);
    assert_int_equal(findings->list[0].fits_bytes, 1201 * 64);
    findings_destroy(findings);
    reuse.stacks[0].by_size.count[11] = 3600; /* three quarters of them are others' */
    findings = found(&w);
    assert_int_equal(findings->list[0].fits_bytes, 2048 * 64);
    findings_destroy(findings);
    row.code = true;
    findings = found(&w);
    assert_int_equal(findings->list[0].fits_bytes, 0);
    findings_destroy(findings);
}

/* Rounds in no order, but each time that the loop is entered 8 bytes on: several places side by side, each gone through
 * twice. */
static void several_places_side_by_side(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 1000, 0);
    w.objects[0].bytes = 4000;
    w.accesses[0].step[0] = (struct analyses_step){512, 300, 900};
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_SCATTERED, 0x1000, 8000, 0);
    findings_destroy(findings);
    w.accesses[0].step[1] = (struct analyses_step){8, 90, 90};
    findings = found(&w);
    must(&findings->list[0], FINDINGS_CAPACITY, 0x1000, 8000, 8000);
    findings_destroy(findings);
}

/* No step is the most frequent one, and no code is known: it cannot be said to chase pointers. */
static void no_order(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 0, 1000, 0);
    w.accesses[0].step[0] = (struct analyses_step){64, 450, 900};
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_SCATTERED, 0x1000, 8000, 0);
    assert_int_equal(findings->list[0].step, 0);
    findings_destroy(findings);
    missed(&w, 0, 0, 0, 1000); /* they compete for few sets: not by rows, and in no steps */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x1000, 8000, 8000);
    assert_true(findings->list[0].scattered && findings->list[0].step == 0 && findings->list[0].row_bytes == 0);
    findings_destroy(findings);
    steps(&w.accesses[0], 64, 0);
    findings = found(&w);
    assert_true(!findings->list[0].scattered && findings->list[0].step == 64);
    findings_destroy(findings);
}

/* Nothing was seen of the instruction that costs 8000 cycles; of one of the same object and function, which costs less
 * than a quarter of that, it was, and follows no order. */
static void what_hardly_matters_stands_for_nothing(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    w.loop_of[0] = ANALYSES_NO_LOOP;
    w.rows[2].object = w.accesses[2].object = 0;
    w.accesses[2].step[0] = (struct analyses_step){64, 450, 900};
    w.excerpts.accesses = &w.accesses[1];
    w.excerpts.access_count = 2;
    missed(&w, 0, 0, 1000, 0);
    missed(&w, 2, 0, 249, 0);
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_STREAMING, 0x1000, 9992, 0);
    findings_destroy(findings);
    missed(&w, 2, 0, 250, 0);
    findings = found(&w);
    must(&findings->list[0], FINDINGS_SCATTERED, 0x1000, 10000, 0);
    findings_destroy(findings);
}

/* 1000 lines of object 0 come from memory, 196 cycles each; the second instruction has stored some of them past the
 * caches. */
static void begin_past(struct world *w, struct sim_instructed *store, uint64_t refetched)
{
    begin(w);
    for (uint32_t level = L1D; level <= L3; level++)
        w->tallies[0][level].reads[ANALYSES_COLD] = 1000;
    steps(&w->accesses[0], 8, 0);
    w->accesses[1].object = 0;
    *store = (struct sim_instructed){{0x2000}, {.what = CACHES_STORE_PAST, .refetched = refetched}};
    w->input.instructed = store;
    w->input.instructed_count = 1;
}

/* Ordinary stores would find the lines where the object fits; the levels nearer than that are missed twice a line. */
static void stores_past_the_caches(void **state)
{
    static const struct {
        uint64_t bytes, spared;
    } objects[] = {{4 << 20, 196 - 2 * 36}, {1 << 20, 196 - 2 * 36}, {262144, 196 - 2 * 8}, {32768, 196}};
    struct sim_instructed store;
    struct world w;
    (void)state;
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        begin_past(&w, &store, 900);
        w.objects[0].bytes = objects[i].bytes;
        struct findings *findings = found(&w);
        assert_int_equal(1, findings->count);
        must(&findings->list[0], FINDINGS_NON_TEMPORAL, 0x1000, 196000, 900 * objects[i].spared);
        assert_true(findings->list[0].refetched == 900 && findings->list[0].store == 1);
        findings_destroy(findings);
    }
    begin_past(&w, &store, 900);
    w.accesses[1].caller = 2; /* the store is a library's */
    struct findings *findings = found(&w);
    assert_int_equal(2, findings->list[0].store);
    findings_destroy(findings);
}

/* At 499 of 1000 misses something else costs more; the store's other object has its part of what was refetched. */
static void few_lines_stored_past_the_caches(void **state)
{
    struct sim_instructed store;
    struct world w;
    (void)state;
    begin_past(&w, &store, 500);
    struct findings *findings = found(&w);
    must(&findings->list[0], FINDINGS_NON_TEMPORAL, 0x1000, 196000, 500 * 124);
    findings_destroy(findings);
    store.of.refetched = 499;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_STREAMING, 0x1000, 196000, 0);
    findings_destroy(findings);
    store.of.refetched = 2000;
    w.accesses[2].insn = 1;
    w.accesses[2].reads = 3000; /* and 1000 of object 0 */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_NON_TEMPORAL, 0x1000, 196000, 500 * 124);
    findings_destroy(findings);
    store.of.refetched = 1996;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_STREAMING, 0x1000, 196000, 0);
    findings_destroy(findings);
}

/* Two loops read what the store has taken, each its part; the remedy is one. There are no more refetches than
 * misses. */
static void two_loops_read_what_was_stored_past_the_caches(void **state)
{
    struct sim_instructed store;
    struct world w;
    (void)state;
    begin_past(&w, &store, 3600);
    for (uint32_t level = L1D; level <= L3; level++)
        w.tallies[2][level].reads[ANALYSES_COLD] = 3000;
    w.rows[2].object = w.accesses[2].object = 0;
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_NON_TEMPORAL, 0x3000, 4 * 196000, 3600 * 124);
    assert_int_equal(3600, findings->list[0].refetched);
    findings_destroy(findings);
    store.of.refetched = 5000;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_NON_TEMPORAL, 0x3000, 4 * 196000, 4000 * 124);
    findings_destroy(findings);
}

/* ------------------------------------------------------------------ translations, code, start-up, order */

/* 1000 stores of 8 B, side by side, go twice through an object of 4000 B, and 100 of its lines come from memory, at 8 +
 * 28 + 160 cycles. */
static void begin_stores(struct world *w)
{
    begin(w);
    for (uint32_t level = L1D; level <= L3; level++)
        w->tallies[0][level].writes[ANALYSES_CAPACITY] = 100;
    w->objects[0].bytes = 4000;
    w->insns[0].reads = w->accesses[0].reads = 0;
    w->insns[0].writes = w->accesses[0].writes = 1000;
    steps(&w->accesses[0], 8, 0);
    w->excerpts.access_count = 1;
}

static void found_first(const struct world *w, enum findings_pattern pattern, uint64_t gain)
{
    struct findings *findings = found(w);
    assert_true(findings->count != 0);
    must(&findings->list[0], pattern, 0x1000, 19600, gain);
    findings_destroy(findings);
}

static void stores_that_overwrite_what_they_fetch(void **state)
{
    struct world w;
    (void)state;
    begin_stores(&w);
    found_first(&w, FINDINGS_WRITE_ALLOCATE, 19600);
    w.accesses[0].bytes = 7; /* a byte of each eight is left as it was */
    found_first(&w, FINDINGS_CAPACITY, 16000);
    w.accesses[0].bytes = 8;
    w.objects[0].bytes = 8000; /* once */
    found_first(&w, FINDINGS_STREAMING, 0);
    w.objects[0].bytes = 4000;
    w.accesses[0].reads = 1;
    found_first(&w, FINDINGS_CAPACITY, 16000);
}

/* Others read the object, a line each time: 20 times, of which 5 come from memory as it is. Without what was stored in
 * the caches the other 15 would, too. */
static void stores_of_what_is_read(void **state)
{
    struct world w;
    (void)state;
    begin_stores(&w);
    w.accesses[1] = (struct analyses_access){.insn = 1, .bytes = 8, .reads = 10, .caller = EXCERPTS_NO_CALLER};
    w.insns[1].reads = 20;
    steps(&w.accesses[1], 128, 0);
    w.excerpts.access_count = 2;
    w.rows[1].object = 0;
    w.tallies[1][L3].reads[ANALYSES_CAPACITY] = 5;
    found_first(&w, FINDINGS_WRITE_ALLOCATE, 19600 - 15 * 196);
    w.insns[1].reads = 60; /* 55 lines are more than half of what is spared */
    found_first(&w, FINDINGS_CAPACITY, 16000);
    w.insns[1].reads = 20;
    w.excerpts.access_count = 1; /* not shown: then those that L1D has missed count */
    w.tallies[1][L1D].reads[ANALYSES_CAPACITY] = 30;
    found_first(&w, FINDINGS_WRITE_ALLOCATE, 19600 - 25 * 196);
}

static void stores_of_what_comes_from_memory_once(void **state)
{
    struct world w;
    (void)state;
    begin_stores(&w);
    w.tallies[0][L3].writes[ANALYSES_CAPACITY] = 61; /* 61 * 160 of 19,600: less than half */
    w.tallies[0][L3].writes[ANALYSES_COLD] = 39;
    found_first(&w, FINDINGS_CAPACITY, 9760);
    w.tallies[0][L3].writes[ANALYSES_CAPACITY] = 62;
    w.tallies[0][L3].writes[ANALYSES_COLD] = 38;
    found_first(&w, FINDINGS_WRITE_ALLOCATE, 19600);
}

/* ------------------------------------------------------------------ prefetch instructions */

static void found_prefetches(struct world *w, const struct caches_instructed *counts, enum findings_pattern pattern,
                             uint64_t beside, uint64_t gain)
{
    const struct sim_instructed insn = {{0x2008}, *counts};
    w->input.instructed = &insn;
    w->input.instructed_count = 1;
    struct findings *findings = found(w);
    assert_int_equal(findings->count, pattern != FINDINGS_COUNT);
    if (findings->count != 0) {
        must(&findings->list[0], pattern, 0x2008, gain, gain);
        assert_int_equal(findings->list[0].beside, beside);
        assert_memory_equal(&findings->list[0].prefetches, counts, sizeof *counts);
    }
    findings_destroy(findings);
}

static void prefetches_for_nothing(void **state)
{
    struct world w;
    struct caches_instructed counts = {
        .executed = 1000, .present = 440, .nowhere = 40, .issued = 520, .useful = 500, .useless = 20};
    (void)state;
    begin(&w);
    missed(&w, 2, 10, 0, 0); /* 80 cycles: no finding, but a cost that pollution can be part of */
    found_prefetches(&w, &counts, FINDINGS_USELESS_PREFETCHES, 480, 0); /* the useful ones stay */
    counts.present--;
    found_prefetches(&w, &counts, FINDINGS_COUNT, 0, 0); /* fewer than half are for nothing */
    counts = (struct caches_instructed){
        .executed = 1000, .present = 400, .issued = 600, .useful = 300, .useless = 300, .polluting = 7};
    found_prefetches(&w, &counts, FINDINGS_USELESS_PREFETCHES, 1000, 7 * 8);
    counts.polluting = 11; /* there is no more than the cost of all */
    found_prefetches(&w, &counts, FINDINGS_USELESS_PREFETCHES, 1000, 80);
    counts.what = CACHES_FLUSH;
    found_prefetches(&w, &counts, FINDINGS_COUNT, 0, 0);
}

static void prefetches_that_come_too_late(void **state)
{
    struct world w;
    struct caches_instructed counts = {
        .executed = 100, .issued = 100, .useful = 100, .late = 50, .late_ahead = 150, .late_cycles = 5000};
    (void)state;
    begin(&w);
    found_prefetches(&w, &counts, FINDINGS_LATE_PREFETCHES, 5000, 0);
    counts.late_cycles = 101; /* a hundredth of 10,000 instructions and 101 cycles */
    found_prefetches(&w, &counts, FINDINGS_LATE_PREFETCHES, 101, 0);
    counts.late_cycles = 99;
    found_prefetches(&w, &counts, FINDINGS_COUNT, 0, 0);
    counts.late_cycles = 5000;
    counts.late = 49;
    found_prefetches(&w, &counts, FINDINGS_COUNT, 0, 0);
}

static void give_tlbs(struct caches_machine *machine)
{
    machine->tlbs[0] = (struct caches_tlb){
        .name = "DTLB", .place = CACHES_TLB_FIRST, .holds = CACHES_TLB_4K, .entries = 64, .ways = 64};
    machine->tlbs[1] = (struct caches_tlb){
        .name = "DTLB-2M", .place = CACHES_TLB_FIRST, .holds = CACHES_TLB_2M, .entries = 4, .ways = 4};
    machine->tlbs[2] = (struct caches_tlb){
        .name = "STLB", .place = CACHES_TLB_SECOND, .holds = CACHES_TLB_4K, .entries = 512, .ways = 4};
    machine->tlbs[2].latency_cycles = 7;
    machine->tlb_count = 3;
    for (unsigned i = 0; i < 3; i++)
        machine->tlbs[i].sides = CACHES_TLB_DATA;
    machine->walk_cycles = 12;
}

/* 500 misses of the first TLB and 100 walks with 150 reads: 500 * 7 + 150 * 12. Four pages of 2 MiB cover 8 MiB: all of
 * 4 MiB, half of 16. */
static void pages_that_do_not_fit(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    give_tlbs(&w.machine);
    w.rows[2].tlb = (struct analyses_translations){500, 100, 150};
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_TLB, 0x3000, 5300, 5300);
    assert_true(findings->list[0].misses == 500 && findings->list[0].walks == 100);
    findings_destroy(findings);
    w.objects[2].bytes = 16 << 20;
    findings = found(&w);
    must(&findings->list[0], FINDINGS_TLB, 0x3000, 5300, 2650);
    findings_destroy(findings);
    w.objects[2].bytes = 1 << 20; /* less than a page of 2 MiB */
    findings = found(&w);
    must(&findings->list[0], FINDINGS_TLB, 0x3000, 5300, 0);
    findings_destroy(findings);
}

static void must_be_cyclic(const struct world *w, int64_t step, uint64_t cores, uint64_t gain)
{
    struct findings *findings = found(w);
    must(&findings->list[0], FINDINGS_CYCLIC, 0x1000, 8000, gain);
    assert_true(findings->list[0].step == step && findings->list[0].element_bytes == 8);
    assert_true((uint64_t)findings->list[0].passes == cores);
    findings_destroy(findings);
}

static void must_not_be_cyclic(const struct world *w)
{
    struct findings *findings = found(w);
    assert_true(findings->count == 0 || findings->list[0].pattern != FINDINGS_CYCLIC);
    findings_destroy(findings);
}

/* Elements of 8 bytes, of which each thread takes every second, fourth, sixteenth one: a line goes to 2, 4, 8 cores, of
 * which one would be enough. 8000 cycles, of misses that L2 has. */
static void elements_that_threads_take_in_turn(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    w.machine.cores = 4;
    w.machine.levels[2].shared = true;
    missed(&w, 0, 1000, 0, 0);
    w.accesses[0].step[0] = (struct analyses_step){16, 900, 900};
    must_be_cyclic(&w, 16, 2, 4000);
    w.accesses[0].step[0].bytes = -32;
    must_be_cyclic(&w, -32, 4, 6000);
    w.accesses[0].step[0].bytes = 128;
    must_be_cyclic(&w, 128, 8, 7000);
    w.accesses[0].step[1] = (struct analyses_step){8, 90, 90}; /* the loop around comes to the elements between */
    must_not_be_cyclic(&w);
    w.accesses[0].step[1] = (struct analyses_step){0, 90, 90}; /* it comes to the same ones */
    must_be_cyclic(&w, 128, 8, 7000);
    w.accesses[0].step[0].times = 800; /* less than nine of ten */
    must_not_be_cyclic(&w);
    w.accesses[0].step[0] = (struct analyses_step){8, 900, 900};
    must_not_be_cyclic(&w);
    w.accesses[0].step[0].bytes = 32;
    w.machine.cores = 1;
    must_not_be_cyclic(&w);
}

/* What a swap of loops spares of translations is its own. The nest has 100 pages: as it is each of 1000 accesses misses
 * the first TLB, 7 cycles, and 100 walk, 4 * 12; swapped, 100 do both. 68000 + 11800 become 39200 + 5500. */
static void translations_of_a_swap_are_its_own(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    give_tlbs(&w.machine);
    missed(&w, 0, 0, 300, 700);
    steps(&w.accesses[0], 4096, 8);
    w.rows[0].tlb = (struct analyses_translations){400, 0, 0};
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_LOOP_ORDER, 0x1000, 10800, 4750); /* 10800 * 35100 / 79800 */
    findings_destroy(findings);
}

static void code_that_does_not_fit(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    w.objects[1].kind = ANALYSES_CODE;
    w.tallies[1][L1I].reads[ANALYSES_COLD] = 100;
    w.tallies[1][L1I].reads[ANALYSES_CAPACITY] = 900;
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    must(&findings->list[0], FINDINGS_INSTRUCTION_CACHE, 0x2000, 8000, 7200);
    assert_true(findings->list[0].misses == 1000 && findings->list[0].object == FINDINGS_NOBODY);
    findings_destroy(findings);
}

/* Start-up is all that there is, but where the program's own misses are worth more. */
static void starting_is_what_costs(void **state)
{
    static struct analyses_tally startup[LEVELS];
    struct world w;
    (void)state;
    begin(&w);
    startup[L1D].reads[ANALYSES_COLD] = 1000;
    w.rows[2].startup = startup;
    missed(&w, 2, 1000, 0, 0);
    struct findings *findings = found(&w);
    assert_int_equal(1, findings->count);
    assert_int_equal(FINDINGS_STARTUP, findings->list[0].pattern);
    assert_true(findings->list[0].cost == 8000 && findings->cost == 0 && findings->startup == 8000);
    findings_destroy(findings);
    w.input.instructions = 200000; /* 8,000 cycles are nothing beside them */
    findings = found(&w);
    assert_int_equal(0, findings->count);
    findings_destroy(findings);
}

/* The most worthwhile first; without a remedy a tenth of the cost counts, and what is hardly worth anything is not
 * there. */
static void the_list_is_by_worth(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 1000, 0, 0); /* streaming, 8000 cycles: worth 800 */
    steps(&w.accesses[0], 8, 0);
    missed(&w, 1, 0, 0, 200); /* conflicts, 1600 */
    steps(&w.accesses[1], 8, 0);
    missed(&w, 2, 0, 0, 20); /* conflicts, 160 of 19,760 cycles: less than a hundredth */
    struct findings *findings = found(&w);
    assert_int_equal(2, findings->count);
    must(&findings->list[0], FINDINGS_SET_CONFLICTS, 0x2000, 1600, 1600);
    must(&findings->list[1], FINDINGS_STREAMING, 0x1000, 8000, 0);
    findings_destroy(findings);
    w.input.instructions = 1000; /* now it is more than a hundredth */
    findings = found(&w);
    assert_int_equal(3, findings->count);
    findings_destroy(findings);
}

static void every_allocation_may_fail(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    missed(&w, 0, 100, 900, 0);
    enum c2_status status = C2_ERR_NO_MEMORY;
    unsigned tries = 0;
    for (; status == C2_ERR_NO_MEMORY && tries < 100; tries++) {
        struct findings *findings;
        struct c2_error err;
        c2_alloc_fail_from(tries + 1);
        status = findings_create(&findings, &w.input, &err);
        c2_alloc_fail_from(0);
        assert_true((status == C2_OK) == !!findings);
        findings_destroy(findings);
    }
    assert_int_equal(C2_OK, status);
    assert_true(tries > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_steps_inside_short_ones),
        cmocka_unit_test(the_parts_of_an_element_are_passed_over),
        cmocka_unit_test(two_objects_that_change_places),
        cmocka_unit_test(long_steps_either_way),
        cmocka_unit_test(a_triangle),
        cmocka_unit_test(a_transposition_with_conflicts),
        cmocka_unit_test(conflicts_of_sets),
        cmocka_unit_test(who_evicts),
        cmocka_unit_test(rows_that_reach_few_sets),
        cmocka_unit_test(rows_of_several_loops),
        cmocka_unit_test(conflicts_of_frames),
        cmocka_unit_test(bytes_that_are_not_used),
        cmocka_unit_test(bytes_that_others_use),
        cmocka_unit_test(one_split_for_two_loops),
        cmocka_unit_test(blocks_that_two_loops_split),
        cmocka_unit_test(blocks_lie_in_chunks),
        cmocka_unit_test(again_and_again_or_once),
        cmocka_unit_test(blocks_that_fit),
        cmocka_unit_test(rounds_that_go_on),
        cmocka_unit_test(distances_that_were_measured),
        cmocka_unit_test(no_order),
        cmocka_unit_test(several_places_side_by_side),
        cmocka_unit_test(what_hardly_matters_stands_for_nothing),
        cmocka_unit_test(stores_past_the_caches),
        cmocka_unit_test(few_lines_stored_past_the_caches),
        cmocka_unit_test(two_loops_read_what_was_stored_past_the_caches),
        cmocka_unit_test(stores_that_overwrite_what_they_fetch),
        cmocka_unit_test(stores_of_what_is_read),
        cmocka_unit_test(stores_of_what_comes_from_memory_once),
        cmocka_unit_test(prefetches_for_nothing),
        cmocka_unit_test(prefetches_that_come_too_late),
        cmocka_unit_test(pages_that_do_not_fit),
        cmocka_unit_test(elements_that_threads_take_in_turn),
        cmocka_unit_test(translations_of_a_swap_are_its_own),
        cmocka_unit_test(a_nest_that_fits_is_no_matter_of_order),
        cmocka_unit_test(sweeps_after_the_first),
        cmocka_unit_test(entries_by_the_code_around),
        cmocka_unit_test(code_that_does_not_fit),
        cmocka_unit_test(starting_is_what_costs),
        cmocka_unit_test(the_list_is_by_worth),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
