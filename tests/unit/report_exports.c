/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Profiles for other tools, to the letter, of the made-up profile of report_profile.h: its numbers are added up here by
 * hand. Two calls are made up as well: main calls kernel 5 times, and kernel's second instruction calls libc.so.6 3
 * times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "unit/report_profile.h"

/* ------------------------------------------------------------------ the sample */

struct exports_sample {
    struct profile_sample profile;
    struct analyses_arc arcs[2];
    struct analyses_stack stacks[3];
    struct analyses_callgraph_result calls;
};

static const uint64_t call_costs[2][ANALYSES_EVENTS] = {{3500, 2400, 1490, 0, 390, 104}, {1}};
/* Of main, kernel below it, and what that calls, which has cost nothing. */
static const uint64_t stack_costs[3][ANALYSES_EVENTS] = {{1000, 7}, {2500, 2400, 1490}, {0}};
static int some_symbols; /* what names are asked from */

static void fill(struct exports_sample *s)
{
    profile_fill(&s->profile);
    s->arcs[0] = (struct analyses_arc){{0x401000}, {0x401010}, 5, call_costs[0], 0, 0};
    s->arcs[1] = (struct analyses_arc){{0x401020}, {0x40010000}, 3, call_costs[1], 0, 0};
    s->stacks[0] = (struct analyses_stack){{0x401000}, UINT32_MAX, stack_costs[0]};
    s->stacks[1] = (struct analyses_stack){{0x401010}, 0, stack_costs[1]};
    s->stacks[2] = (struct analyses_stack){{0x40010000}, 1, stack_costs[2]};
    s->calls = (struct analyses_callgraph_result){s->arcs, 2, NULL, s->stacks, 3};
    s->profile.base.run.sim.found[ANALYSIS_callgraph] = &s->calls;
    s->profile.base.run.folded_event = "Ir";
    s->profile.base.run.sim.symbols = (struct loader_symbols *)&some_symbols;
}

typedef enum c2_status writer(FILE *to, const struct report_run *run, struct c2_error *err);

static void expect_text(writer *write, const struct report_run *run, const char *expected)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, write(to, run, NULL));
    fclose(to);
    assert_string_equal(expected, text);
    free(text);
}

/* ------------------------------------------------------------------ to the letter */

#define CACHES \
    "desc: Machine: sample\n" \
    "desc: L1D cache: 32768 B, 64 B, 8-way associative\n" \
    "desc: L1I cache: 32768 B, 64 B, 8-way associative\n" \
    "desc: L2 cache: 262144 B, 64 B, 8-way associative\n" \
    "desc: L3 cache: 20971520 B, 64 B, 20-way associative\n"
#define HEAD_WITH(positions) \
    "# callgrind format\nversion: 1\ncreator: c2emu\ncmd: ./app two words\npart: 1\n\n" CACHES \
    "\npositions: " positions "\n"
#define HEAD HEAD_WITH("instr line")
#define NAMES \
    " Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw coldL1D capacityL1D conflictL1D coldL1I capacityL1I conflictL1I" \
    " coldL2 capacityL2 conflictL2 coldL3 capacityL3 conflictL3\n"

/* main: rows 0 and 1; L3 has 2 cold fetches and 8 cold writes. kernel's first: row 2. Its second: rows 3 and 4, in L1D
 * 30 + 40 reads and 20 + 84 writes, 30 + 20 + 60 conflicts. libc: row 5. */
#define MAIN_COST " 10 0 10 3 0 8 2 0 8 8 0 0 2 1 0 10 0 0 10"
#define FIRST_COST " 2000 2000 0 0 320 0 0 80 0 80 40 200 0 0 0 80 10 6 80"
#define SECOND_COST " 1500 400 1490 0 70 104 0 18 22 40 24 110 0 0 0 40 10 4 40"
#define LIBC_COST " 6490 100 0 0 10 0 0 0 0 0 0 10"
/* the sample's report: 400 + 112 misses of L1D, 2 + 98 read misses and 30 write misses of L3, and the classes */
#define TOTAL " 10000 2500 1500 3 400 112 2 98 30 128 64 320 2 1 0 130 20 10 130"

static void callgrind(void **state)
{
    (void)state;
    struct exports_sample s;
    fill(&s);
    expect_text(report_callgrind, &s.profile.base.run,
                HEAD "event: Ir : Instruction Fetch\nevent: Dr : Data Read Access\nevent: Dw : Data Write Access\n"
                     "event: I1mr : L1 Instr. Fetch Miss\nevent: D1mr : L1 Data Read Miss\n"
                     "event: D1mw : L1 Data Write Miss\nevent: ILmr : LL Instr. Fetch Miss\n"
                     "event: DLmr : LL Data Read Miss\nevent: DLmw : LL Data Write Miss\n"
                     "event: coldL1D : L1D cold miss\nevent: capacityL1D : L1D capacity miss\n"
                     "event: conflictL1D : L1D conflict miss\nevent: coldL1I : L1I cold miss\n"
                     "event: capacityL1I : L1I capacity miss\nevent: conflictL1I : L1I conflict miss\n"
                     "event: coldL2 : L2 cold miss\nevent: capacityL2 : L2 capacity miss\n"
                     "event: conflictL2 : L2 conflict miss\nevent: coldL3 : L3 cold miss\n"
                     "event: capacityL3 : L3 capacity miss\nevent: conflictL3 : L3 conflict miss\n"
                     "event: waitCycles = 8 coldL1D + 8 capacityL1D + 8 conflictL1D + 8 coldL1I + 8 capacityL1I"
                     " + 8 conflictL1I + 28 coldL2 + 28 capacityL2 + 28 conflictL2 + 160 coldL3 + 160 capacityL3"
                     " + 160 conflictL3 : Cycles of Waiting\n"
                     "events:" NAMES "summary:" TOTAL "\n"
                     "\nob=(1) /bin/app\nfl=(2) ???\nfn=(1) main\n"
                     "0x1000 0" MAIN_COST "\n"
                     "cob=(1)\ncfi=(3) /src/app.c\ncfn=(2) kernel\n"
                     "calls=5 0x1010 0\n0x1000 0 3500 2400 1490 0 390 104\n"
                     "\nfl=(3)\nfn=(2)\n"
                     "0x1010 0" FIRST_COST "\n"
                     "fi=(4) /src/add.h\n"
                     "0x1020 3" SECOND_COST "\n"
                     "cob=(5) /lib/libc.so.6\ncfi=(2)\ncfn=(3) unnamed in libc.so.6\n"
                     "calls=3 0x10000 0\n0x1020 3 1\n"
                     "\nob=(5)\nfl=(2)\nfn=(3)\n"
                     "0x10000 0" LIBC_COST "\n"
                     "\ntotals:" TOTAL "\n");
}

/* Pairs by object and line: A at app.c:0 by the code of app 6 (L2), by itself 150, by malloc#1 40, by an unknown one
 * 10; at add.h:3, inlined there, by itself 45, by the stack 5; where no line is known by itself 10. malloc#1 at add.h:3
 * by A 60, and 4 in L2. */
static void evictors(void **state)
{
    (void)state;
    struct exports_sample s;
    fill(&s);
#define CALL(name, calls, cost) "cob=(2)\ncfi=(2)\ncfn=" name "\ncalls=" calls " 0\n" cost "\n"
    expect_text(report_evictors, &s.profile.base.run,
                HEAD_WITH("line") "event: conflictL1D : L1D conflict miss\nevent: conflictL1I : L1I conflict miss\n"
                                  "event: conflictL2 : L2 conflict miss\nevent: conflictL3 : L3 conflict miss\n"
                                  "event: waitCycles = 8 conflictL1D + 8 conflictL1I + 28 conflictL2 + 160 conflictL3"
                                  " : Cycles of Waiting\n"
                                  "events: conflictL1D conflictL1I conflictL2 conflictL3\nsummary: 320 0 10\n"
                                  "\nob=(2) ???\nfl=(2) ???\nfn=(5) double A[64][64] in app\n"
                                  "0 10\n" CALL(
                                      "(5)", "10",
                                      "0 10") "fi=(3) /src/app.c\n"
                                              "0 200 0 6\n" CALL("(6) code of app", "6", "0 0 0 6") CALL(
                                                  "(5)", "150", "0 150") CALL("(7) malloc#1 at app.c:4", "40", "0 40")
                                                  CALL("(4) nobody known", "10",
                                                       "0 10") "fi=(4) /src/add.h\n"
                                                               "3 50\n" CALL("(5)", "45", "3 45")
                                                                   CALL("(8) stack", "5",
                                                                        "3 5") "\nfl=(2)\nfn=(7)\nfi=(4)\n"
                                                                               "3 60 0 4\n" CALL(
                                                                                   "(5)", "64",
                                                                                   "3 60 0 4") "\ntotals: 320 0 10\n");
}

/* Two variables of one name are two nodes: the second one's says where it lies. */
static void objects_of_one_name(void **state)
{
    (void)state;
    struct exports_sample s;
    char *text = NULL;
    size_t bytes;
    fill(&s);
    s.profile.objects[2] = s.profile.objects[1];
    s.profile.objects[2].base = 0x40c000;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, report_evictors(to, &s.profile.base.run, NULL));
    fclose(to);
    assert_non_null(strstr(text, "fn=(5) double A[64][64] in app\n"));
    assert_non_null(strstr(text, "cfn=(7) double A[64][64] in app at 0x40c000\ncalls=40 "));
    free(text);
}

/* By file, function and line; no zeros left out. */
static void cachegrind(void **state)
{
    (void)state;
    struct exports_sample s;
    fill(&s);
    expect_text(report_cachegrind, &s.profile.base.run,
                CACHES "cmd: ./app two words\nevents:" NAMES "fl=/src/add.h\nfn=kernel\n3" SECOND_COST " 0 0\n"
                       "fl=/src/app.c\nfn=kernel\n0" FIRST_COST " 0 0\n"
                       "fl=???\nfn=main\n0" MAIN_COST " 0 0\n"
                       "fn=unnamed in libc.so.6\n0" LIBC_COST " 0 0 0 0 0 0 0 0 0\n"
                       "summary:" TOTAL " 0 0\n");
}

/* Nothing is known but addresses: all of it is one function. A call by an instruction that never completed stands in
 * its place. What would end the line of the command is a space. */
static void without_names(void **state)
{
    (void)state;
    struct exports_sample s;
    char *text = NULL;
    size_t bytes;
    fill(&s);
    s.profile.base.run.sim.symbols = NULL;
    s.profile.base.command[1] = "a\nb";
    s.arcs[1].from.v = 0x500000;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, report_callgrind(to, &s.profile.base.run, NULL));
    fclose(to);
    assert_non_null(strstr(text, "\ncmd: ./app a b\n"));
    assert_non_null(strstr(text, "\n\nob=(1) ???\nfl=(1) ???\nfn=(1) unnamed code\n0x401000 0 10 "));
    assert_non_null(strstr(text, "\n0x401020 0" SECOND_COST "\ncob=(1)\ncfi=(1)\ncfn=(1)\ncalls=3 0x40010000 0\n"
                                 "0x500000 0 1\n0x40010000 0" LIBC_COST "\n"));
    free(text);
}

/* A single level without L1I: no last level, no fetches. */
static void events_of_small_machines(void **state)
{
    (void)state;
    struct caches_machine machine = {.level_count = 1};
    struct analyses_events events;
    static const char *const names[] = {"Ir", "Dr", "Dw", "D1mr", "D1mw", "coldL1D", "capacityL1D", "conflictL1D"};
    strcpy(machine.levels[0].name, "L1D");
    analyses_events_init(&events, &machine);
    assert_int_equal(8, events.count);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(names[i], events.list[i].name);
    assert_int_equal(ANALYSES_NO_EVENT, events.by_kind[0][SIM_FETCH]);
    assert_int_equal(4, events.by_kind[0][SIM_WRITE]);
    assert_int_equal(ANALYSES_NO_EVENT, events.walks);

    machine.tlb_count = 2; /* one for stores alone; the second level is none of the first's */
    machine.tlbs[0] = (struct caches_tlb){.place = CACHES_TLB_FIRST, .sides = CACHES_TLB_STORES};
    machine.tlbs[1] = (struct caches_tlb){.place = CACHES_TLB_SECOND, .sides = CACHES_TLB_DATA | CACHES_TLB_FETCHES};
    analyses_events_init(&events, &machine);
    assert_int_equal(11, events.count);
    assert_string_equal("missDTLB", events.list[events.by_tlb[CACHES_DATA]].name);
    assert_int_equal(7, events.list[events.by_tlb[CACHES_DATA]].cycles);
    assert_string_equal("pageWalks", events.list[events.walks].name);
    assert_int_equal(0, events.list[events.walks].cycles);
    assert_string_equal("walkReads", events.list[events.walk_reads].name);
    assert_int_equal(4, events.list[events.walk_reads].cycles); /* there is no L2 */
    assert_int_equal(ANALYSES_NO_EVENT, events.upgrades);
    assert_int_equal(ANALYSES_NO_EVENT, events.by_tlb[CACHES_FETCH]);
    assert_int_equal(ANALYSES_NO_EVENT, events.by_class[0][ANALYSES_CLASSES]);

    machine.cores = 2;
    analyses_events_init(&events, &machine);
    assert_int_equal(13, events.count);
    assert_string_equal("coherenceL1D", events.list[events.by_class[0][ANALYSES_CLASSES]].name);
    assert_int_equal(196, events.list[events.by_class[0][ANALYSES_CLASSES]].cycles);
    assert_string_equal("upgrades", events.list[events.upgrades].name);
    assert_int_equal(196, events.list[events.upgrades].cycles);
    assert_int_equal(ANALYSES_NO_EVENT, events.by_class[1][ANALYSES_CLASSES]);
}

/* ------------------------------------------------------------------ faults */

static writer *const writers[] = {report_callgrind, report_evictors, report_cachegrind, report_folded, report_pprof};
enum { WRITERS = sizeof writers / sizeof writers[0] };

/* A stack that has cost nothing has no line. */
static void folded(void **state)
{
    (void)state;
    struct exports_sample s;
    fill(&s);
    s.profile.base.run.folded_event = "Ir";
    expect_text(report_folded, &s.profile.base.run, "main 1000\nmain;kernel 2500\n");
    s.profile.base.run.folded_event = "Dw";
    expect_text(report_folded, &s.profile.base.run, "main;kernel 1490\n");
    s.profile.base.run.folded_event = NULL;
    expect_text(report_folded, &s.profile.base.run, "");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct exports_sample s;
    fill(&s);
    FILE *to = fopen("/dev/null", "w");
    for (size_t i = 0; i < WRITERS; i++) {
        enum c2_status status = C2_ERR_NO_MEMORY;
        uint64_t tries = 0;
        while (status != C2_OK) {
            struct c2_error err = {0};
            c2_alloc_fail_from(++tries);
            status = writers[i](to, &s.profile.base.run, &err);
            c2_alloc_fail_from(0);
            assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && err.status == status));
        }
        assert_true(tries > 8);
    }
    fclose(to);
}

static void a_full_disk(void **state)
{
    (void)state;
    struct exports_sample s;
    struct c2_error err;
    fill(&s);
    for (size_t i = 0; i < WRITERS; i++) {
        FILE *to = fopen("/dev/full", "w");
        assert_int_equal(C2_ERR_IO, writers[i](to, &s.profile.base.run, &err));
        fclose(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callgrind),
        cmocka_unit_test(evictors),
        cmocka_unit_test(objects_of_one_name),
        cmocka_unit_test(cachegrind),
        cmocka_unit_test(folded),
        cmocka_unit_test(without_names),
        cmocka_unit_test(events_of_small_machines),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
