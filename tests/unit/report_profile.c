/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the reports say of a profile: sums, orders, the text to the letter, JSON to the letter, the limits of lists. The
 * numbers are those of report_profile.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <jansson.h>

#include "unit/report_profile.h"

/* ------------------------------------------------------------------ text */

/* The part behind the table of levels (the sample has no TLBs). */
static char *profile_text(const struct profile_sample *s)
{
    char *text = written_report(&s->base.run, REPORT_TEXT);
    char *start = strstr(text, "\n\n");
    start = strstr(start + 2, "\n\n") + 2;
    memmove(text, start, strlen(start) + 1);
    return text;
}

/* A miss costs 8 cycles in L1D and L1I, 28 in L2, 160 in L3. By rows, without start-up, cold + capacity + conflict:
 *   r0 196 + 8 + 0        and 196 of start-up
 *   r1 1568 + 0 + 0       8 * (8 + 28 + 160)
 *   r2 15680 + 600 + 1768 80 * 196; 40 * 8 + 10 * 28; 200 * 8 + 6 * 28
 *   r3 0 + 0 + 400
 *   r4 7840 + 472 + 592   40 * 196; 24 * 8 + 10 * 28; 60 * 8 + 4 * 28
 *   r5 0                  and 80 of start-up
 * together 25284 + 1080 + 2760 = 29124, and 276 of start-up: 29400. A has r2 and r3, 18448, of which 8.5 tenths less a
 * little are cold, 8.8 cold or capacity; malloc#1 8904, the stack 1568: these are 99 % of 29124, and the code's 204 are
 * left. kernel:14 has r3 and r4, 9304; main:5 r0 and r1, 1772. A missed 370 times in L1D but for start-up.
 * Conflicts that cost 292 or more: r2 200 in L1D, 75 % of them by A itself (150; 40 by malloc#1, 10 by an unknown one);
 * r4 60, all by A; r3 50, 45 by A; the 6 and 4 of L2 cost 168 and 112. 4500 bytes are 4.39 KiB. */
static void the_text(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    char *text = profile_text(&s);
    assert_string_equal(
        "cost        29,400 cycles that accesses would wait one after the other, 2.94 an instruction; it is not time\n"
        "            start-up of libraries: 0.9 % of the cost, left out below\n"
        "classes     . cold 86.0 %, = capacity 3.7 %, # conflict 9.4 %; a mark is a tenth\n"
        "\n"
        "  cost     classes  L1D misses  L1I misses  L2 misses  L3 misses      size  object\n"
        "62.7 %  ........=#         370           0         96         80  32.0 KiB  double A[64][64] in app\n"
        "30.3 %  .........#         124           0         54         40   4.4 KiB  malloc#1 at app.c:4\n"
        " 5.3 %  ..........           8           0          8          8   8.0 KiB  stack\n"
        "and 1 other: 0.7 % of the cost\n"
        "\n"
        "  cost     classes  L1D misses  L1I misses  L2 misses  L3 misses  line\n"
        "61.4 %  .........#         320           0         96         80  kernel (app.c:12)\n"
        "31.6 %  ........=#         174           0         54         40  kernel (app.c:14)\n"
        " 6.0 %  ..........           8           2          9          9  main (app.c:5)\n"
        "\n"
        "  cost     classes  L1D misses  L1I misses  L2 misses  L3 misses  function\n"
        "93.0 %  .........#         494           0        150        120  kernel in app\n"
        " 6.0 %  ..........           8           2          9          9  main in app\n"
        "\n"
        "conflict misses by instruction and object, the dearest:\n"
        "  double A[64][64] in app (32.0 KiB): 200 conflict misses in L1D at kernel (app.c:12); 75.0 % evicted by the "
        "same "
        "array\n      (intra-array)\n"
        "  malloc#1 at app.c:4 (4.4 KiB): 60 conflict misses in L1D at kernel (app.c:14); 100.0 % evicted by double "
        "A[64][64] in\n"
        "      app (inter-array)\n"
        "  double A[64][64] in app (32.0 KiB): 50 conflict misses in L1D at kernel (app.c:14); 90.0 % evicted by the "
        "same "
        "array\n      (intra-array)\n"
        "  and 10 more at 2 others\n",
        text);
    free(text);
}

/* Without --full: L1I's 2 misses are 16 of 29124 cycles, so it has no column; what frames chose is 1.9 % of them, and
 * the conflicts 9.5 %, of which 5 % would be worth a list. */
static void what_says_nothing_is_left_out(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    s.base.run.sim.full = false;
    s.object_tallies[1][L2].framed = 20;
    char *text = written_report(&s.base.run, REPORT_TEXT);
    assert_non_null(strstr(
        text, " on sample\n"
              "cost        29,400 cycles that accesses would wait one after the other, 2.94 an instruction; it is not "
              "time\n"
              "            start-up of libraries: 0.9 % of the cost, left out below\n"
              "classes     . cold 86.0 %, = capacity 3.7 %, # conflict 9.4 %; a mark is a tenth\n"
              "\n"
              "level  accesses "));
    assert_non_null(strstr(text, "\n\n  cost     classes  L1D misses  L2 misses  L3 misses      size  object\n"
                                 "62.7 %  ........=#         370         96         80  32.0 KiB  double A"));
    assert_non_null(strstr(text, "\n\nconflict misses by instruction and object, the dearest:\n"));
    assert_null(strstr(text, "placement "));
    free(text);
}

/* The text has the line of the user's code with the way to the header's, the JSON both. The 174 misses of L1D at
 * kernel:14 cost 1392, the 54 of L2 1512, the 40 of L3 6400. */
static void inlined_code_is_charged_to_its_caller(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    profile_of_header = true;
    char *text = written_report(&s.base.run, REPORT_TEXT), *json = written_report(&s.base.run, REPORT_JSON);
    profile_of_header = false;
    assert_non_null(strstr(text,
                           "L3 misses  line\n"
                           "61.4 %  .........#         320           0         96         80  kernel (app.c:12)\n"
                           "31.6 %  ........=#         174           0         54         40  kernel (app.c:20) < "
                           "list::add < add.h:3\n"
                           " 6.0 %  "));
    assert_non_null(strstr(text, " conflict misses in L1D at kernel (app.c:20) < list::add < add.h:3;"));
    assert_non_null(strstr(json, "      \"function\": \"kernel\",\n"
                                 "      \"file\": \"/usr/include/add.h\",\n"
                                 "      \"line\": 3,\n"
                                 "      \"module\": \"app\",\n"
                                 "      \"charged\": [\n"
                                 "        {\n"
                                 "          \"function\": \"kernel\",\n"
                                 "          \"file\": \"/src/app.c\",\n"
                                 "          \"line\": 20,\n"
                                 "          \"module\": \"app\",\n"
                                 "          \"cost\": 9304\n"
                                 "        }\n"
                                 "      ],\n"
                                 "      \"cost\": 9304,\n"));
    free(text);
    free(json);
    text = written_report(&s.base.run, REPORT_JSON);
    assert_null(strstr(text, "\"charged\""));
    free(text);
}

static void without_conflicts(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    s.result.pair_count = 0;
    memset(s.object_tallies, 0, sizeof s.object_tallies);
    memset(s.object_startup, 0, sizeof s.object_startup);
    for (size_t i = 0; i < 6; i++) {
        for (size_t level = 0; level < SAMPLE_LEVELS; level++) {
            s.row_tallies[i][level].reads[ANALYSES_CONFLICT] = 0;
            s.row_tallies[i][level].writes[ANALYSES_CONFLICT] = 0;
            s.row_startup[i][level].reads[ANALYSES_CONFLICT] = 0;
        }
    }
    profile_sum_objects(&s);
    s.base.l1d.misses -= 320;
    s.base.l2.misses -= 10;
    char *text = profile_text(&s);
    assert_non_null(strstr(text, "\n\nconflict misses: none, 0.0 % of the cost\n"));
    free(text);
}

/* 5 misses of L2 that cost 140 are no hundredth of 29124 cycles, 20 of them are; 2 of 22 are start-up's. */
static void what_frames_chose(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    s.object_tallies[1][L2].framed = 5;
    char *text = profile_text(&s);
    assert_null(strstr(text, "frames"));
    free(text);
    s.object_tallies[1][L2].framed = 22;
    s.object_startup[1][L2].framed = 2;
    s.object_tallies[2][L3].framed = 3;
    text = profile_text(&s);
    assert_non_null(strstr(text, "\n\nplacement   conflict misses in sets that the frames of pages chose: 20 in L2, 3 "
                                 "in L3 (see what another placement\n"
                                 "            changes: --against random)\n"));
    free(text);
    s.base.placement.placement = MMU_RANDOM;
    text = profile_text(&s);
    assert_non_null(strstr(text, "--against sequential)\n"));
    free(text);
}

/* Addresses alone: no name is made up. */
static void without_symbols(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    s.base.run.sim.symbols = NULL;
    char *text = profile_text(&s);
    assert_non_null(strstr(text, "200 conflict misses in L1D at 0x401010; 75.0 %"));
    assert_non_null(strstr(text, "malloc#1 by 0x401103 (4.4 KiB): 60 "));
    assert_non_null(strstr(text, "  0x401010\n"));
    free(text);
}

static void sizes_are_rounded(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {{0, "0 B"},
                {1023, "1023 B"},
                {1024, "1.0 KiB"},
                {1075, "1.0 KiB"}, /* 1.0498 */
                {1076, "1.1 KiB"}, /* 1.0508 */
                {1048524, "1023.9 KiB"},
                {1048525, "1.0 MiB"}, /* 1023.9492, 1023.9502 -> 1024.0 */
                {18874368, "18.0 MiB"},
                {UINT64_C(3) << 30, "3.0 GiB"},
                {UINT64_MAX, "16777216.0 TiB"}};
    char buffer[32];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(rows[i].text, doc_size(buffer, rows[i].bytes));
}

/* ------------------------------------------------------------------ JSON */

static void assert_json(const char *expected, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(expected, text);
    c2_free(text);
}

/* clang-format off */
#define KERNEL_12 "\"pc\":\"0x401010\",\"function\":\"kernel\",\"file\":\"/src/app.c\",\"line\":12,\"module\":\"app\""
#define KERNEL_14 \
    "\"pc\":\"0x401020\",\"function\":\"kernel\",\"file\":\"/src/app.c\",\"line\":14,\"module\":\"app\"," \
    "\"inlined\":[{\"function\":\"add\",\"file\":\"/src/add.h\",\"line\":3}," \
    "{\"function\":\"kernel\",\"file\":\"/src/app.c\",\"line\":14}]"
#define MAIN_5 "\"pc\":\"0x401000\",\"function\":\"main\",\"file\":\"/src/app.c\",\"line\":5,\"module\":\"app\""
#define NAMELESS "\"pc\":\"0x40010000\",\"module\":\"libc.so.6\",\"address\":\"0x10000\""

static void the_json(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    json_t *root = json_of(&s.base.run);
    assert_json("[{\"level\":\"L1D\",\"count\":200,\"miss\":{" KERNEL_12 ",\"object\":\"A\"},\"originators\":["
                "{" KERNEL_12 ",\"object\":\"A\",\"reason\":\"intra-array\",\"count\":150},"
                "{" KERNEL_14 ",\"object\":\"malloc#1\",\"reason\":\"inter-array\",\"count\":40},"
                "{\"reason\":\"unknown\",\"count\":10}]},"
                "{\"level\":\"L1D\",\"count\":60,\"miss\":{" KERNEL_14 ",\"object\":\"malloc#1\"},\"originators\":["
                "{" KERNEL_12 ",\"object\":\"A\",\"reason\":\"inter-array\",\"count\":60}]},"
                "{\"level\":\"L1D\",\"count\":50,\"miss\":{" KERNEL_14 ",\"object\":\"A\"},\"originators\":["
                "{" KERNEL_12 ",\"object\":\"A\",\"reason\":\"intra-array\",\"count\":45},"
                "{" MAIN_5 ",\"object\":\"stack\",\"reason\":\"scalar\",\"count\":5}]},"
                "{\"level\":\"L1D\",\"count\":10,\"miss\":{" NAMELESS ",\"object\":\"A\"},\"originators\":["
                "{" NAMELESS ",\"object\":\"A\",\"reason\":\"intra-array\",\"count\":10}]},"
                "{\"level\":\"L2\",\"count\":6,\"miss\":{" KERNEL_12 ",\"object\":\"A\"},\"originators\":["
                "{" MAIN_5 ",\"object\":\"app\",\"reason\":\"code\",\"count\":6}]},"
                "{\"level\":\"L2\",\"count\":4,\"miss\":{" KERNEL_14 ",\"object\":\"malloc#1\"},\"originators\":["
                "{" KERNEL_12 ",\"object\":\"A\",\"reason\":\"inter-array\",\"count\":4}]}]",
                json_object_get(root, "conflicts"));
    /* intra 150 + 45 + 10, inter 60 + 40; L2: code 6, inter 4 */
#define REASONS(level, intra, inter, scalar, code, unknown) \
    "{\"level\":\"" level "\",\"intra-array\":" intra ",\"inter-array\":" inter ",\"scalar\":" scalar \
    ",\"code\":" code ",\"tables\":0,\"unknown\":" unknown "}"
    assert_json("[" REASONS("L1D", "205", "100", "5", "0", "10") "," REASONS("L1I", "0", "0", "0", "0", "0") ","
                REASONS("L2", "0", "4", "0", "6", "0") "," REASONS("L3", "0", "0", "0", "0", "0") "]",
                json_object_get(root, "reasons"));
#define LEVEL(name, misses, cold, capacity, conflict, startup) \
    "{\"name\":\"" name "\",\"misses\":" misses ",\"cold\":" cold ",\"capacity\":" capacity ",\"conflict\":" conflict \
    ",\"startup\":" startup "}"
#define COST(cycles, startup) "\"cost\":" cycles ",\"startup\":" startup
    assert_json("{\"cost\":29400,\"caches\":29400,\"startup\":276,\"levels\":["
                "{\"name\":\"L1D\",\"miss_cycles\":8,\"framed\":0},"
                "{\"name\":\"L1I\",\"miss_cycles\":8,\"framed\":0},{\"name\":\"L2\",\"miss_cycles\":28,\"framed\":0},"
                "{\"name\":\"L3\",\"miss_cycles\":160,\"framed\":0}]}", json_object_get(root, "cost"));
    assert_json("[{\"name\":\"A\",\"kind\":\"static\",\"type\":\"double A[64][64]\",\"module\":\"app\","
                "\"base\":\"0x404000\",\"size\":32768,\"blocks\":1,\"refs\":2400," COST("18528", "80") ",\"levels\":["
                LEVEL("L1D", "380", "80", "40", "260", "10") "," LEVEL("L2", "96", "80", "10", "6", "0") ","
                LEVEL("L3", "80", "80", "0", "0", "0") "]},"
                "{\"name\":\"malloc#1\",\"kind\":\"heap\",\"base\":\"0x100001000\",\"size\":4500,\"blocks\":1,\"site\":"
                "{\"pc\":\"0x401104\",\"function\":\"main\",\"file\":\"/src/app.c\",\"line\":4,\"module\":\"app\"},"
                "\"refs\":1590," COST("8904", "0") ",\"levels\":[" LEVEL("L1D", "124", "40", "24", "60", "0") ","
                LEVEL("L2", "54", "40", "10", "4", "0") "," LEVEL("L3", "40", "40", "0", "0", "0") "]},"
                "{\"name\":\"stack\",\"kind\":\"stack\",\"base\":\"0x3ffff0000000\",\"size\":8192,\"blocks\":1,"
                "\"refs\":10," COST("1568", "0") ",\"levels\":[" LEVEL("L1D", "8", "8", "0", "0", "0") ","
                LEVEL("L2", "8", "8", "0", "0", "0") "," LEVEL("L3", "8", "8", "0", "0", "0") "]},"
                "{\"name\":\"app\",\"kind\":\"code\",\"module\":\"app\",\"base\":\"0x401000\",\"size\":4096,"
                "\"blocks\":1,\"refs\":0," COST("400", "196") ",\"levels\":[" LEVEL("L1I", "3", "2", "1", "0", "1") ","
                LEVEL("L2", "2", "2", "0", "0", "1") "," LEVEL("L3", "2", "2", "0", "0", "1") "]}]",
                json_object_get(root, "objects"));
    /* kernel: r2 + r3 + r4 = 320 + 50 + 124 in L1D; main: r0 + r1 = 8, 3, 10, 10: 31 in all; the nameless: 10 */
#define OF_MAIN COST("1968", "196") ",\"levels\":[" \
                LEVEL("L1D", "8", "8", "0", "0", "0") "," LEVEL("L1I", "3", "2", "1", "0", "1") "," \
                LEVEL("L2", "10", "10", "0", "0", "1") "," LEVEL("L3", "10", "10", "0", "0", "1") "]}"
#define OF_NAMELESS COST("80", "80") ",\"levels\":[" LEVEL("L1D", "10", "0", "0", "10", "10") "]}"
    assert_json("[{\"name\":\"kernel\",\"module\":\"app\",\"executed\":3500,\"reads\":2400,\"writes\":1490,"
                COST("27352", "0") ",\"levels\":["
                LEVEL("L1D", "494", "120", "64", "310", "0") "," LEVEL("L2", "150", "120", "20", "10", "0") ","
                LEVEL("L3", "120", "120", "0", "0", "0") "]},"
                "{\"name\":\"main\",\"module\":\"app\",\"executed\":10,\"reads\":0,\"writes\":10," OF_MAIN ","
                "{\"module\":\"libc.so.6\",\"executed\":6490,\"reads\":100,\"writes\":0," OF_NAMELESS "]",
                json_object_get(root, "functions"));
    assert_json("[{\"function\":\"kernel\",\"file\":\"/src/app.c\",\"line\":12,\"module\":\"app\"," COST("18048", "0")
                ",\"levels\":[" LEVEL("L1D", "320", "80", "40", "200", "0") ","
                LEVEL("L2", "96", "80", "10", "6", "0") ","
                LEVEL("L3", "80", "80", "0", "0", "0") "]},"
                "{\"function\":\"kernel\",\"file\":\"/src/app.c\",\"line\":14,\"module\":\"app\"," COST("9304", "0")
                ",\"levels\":[" LEVEL("L1D", "174", "40", "24", "110", "0") ","
                LEVEL("L2", "54", "40", "10", "4", "0") ","
                LEVEL("L3", "40", "40", "0", "0", "0") "]},"
                "{\"function\":\"main\",\"file\":\"/src/app.c\",\"line\":5,\"module\":\"app\"," OF_MAIN ","
                "{\"module\":\"libc.so.6\",\"address\":\"0x10000\",\"pc\":\"0x40010000\"," OF_NAMELESS "]",
                json_object_get(root, "lines"));
    json_decref(root);
}
/* clang-format on */

/* ------------------------------------------------------------------ everything that waits */

static uint64_t number_at(const json_t *list, size_t i, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(json_array_get(list, i), key));
}

struct waiting_sample {
    struct profile_sample of;
    struct sim_totals measured;
    struct caches_tlbs *tlbs;
    struct analyses_taken taken[SAMPLE_LEVELS], none[SAMPLE_LEVELS];
};

/* Two cores with TLBs: r2 misses 100 translations with 60 reads of walks, r4 10 that the second level has, r5, all of
 * it start-up, 5 with 10 reads; of r3 5 misses of L1D and 3 of L2 are coherence's, and 4 writes are upgrades. */
static void waiting_fill(struct waiting_sample *w)
{
    struct profile_sample *s = &w->of;
    *w = (struct waiting_sample){.tlbs = NULL};
    profile_fill(s);
    struct caches_machine *machine = &s->base.machine;
    machine->tlb_count = 2;
    machine->tlbs[0] = (struct caches_tlb){"DTLB", CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_4K, 8, 2, 0, 0, 0};
    machine->tlbs[1] = (struct caches_tlb){"STLB", CACHES_TLB_SECOND, CACHES_TLB_DATA, CACHES_TLB_4K, 32, 4, 0, 0, 7};
    machine->walk_cycles = 11;
    machine->cores = 2;
    machine->levels[2].shared = true;
    machine->sharing_cycles = 100;
    assert_int_equal(caches_tlbs_create(&w->tlbs, machine->tlbs, 2, NULL), C2_OK);
    s->base.run.sim.tlb = w->tlbs;
    s->base.run.sim.measured = &w->measured;
    w->measured = (struct sim_totals){.tlb_misses = 115, .walks = {45, 70}, .upgrades = 4};
    w->taken[L1D] = (struct analyses_taken){3, 2, 4};
    w->taken[L2].reads = 3;
    s->base.l1d.misses += s->base.l1d.coherence = 5;
    s->base.l2.misses += s->base.l2.coherence = 3;
    s->rows[2].tlb = s->objects[1].tlb = (struct analyses_translations){100, 40, 60};
    s->rows[4].tlb = s->objects[2].tlb = (struct analyses_translations){10, 0, 0};
    s->rows[5].tlb = s->rows[5].tlb_startup = s->objects[1].tlb_startup = (struct analyses_translations){5, 5, 10};
    s->objects[1].tlb = (struct analyses_translations){105, 45, 70};
    s->rows[3].taken = s->objects[1].taken = w->taken;
    s->rows[3].taken_startup = s->objects[1].taken_startup = w->none;
}

/* A miss of the first TLB costs 7, a read of a walk 11; a coherence miss 8 in L1D and, as a line takes 100 cycles from
 * core to core, 100 - 12 in L2 and, as L3 is shared, nothing there; an upgrade 40 - 4. So r2 has 100 * 7 + 60 * 11 =
 * 1360 more than without, r4 70, r5 35 + 110 = 145 of start-up, r3 5 * 8 + 3 * 88 + 4 * 36 = 448; 2023 together, and
 * 29400 + 2023 = 31423. */
static void everything_that_waits_costs(void **state)
{
    (void)state;
    struct waiting_sample w;
    waiting_fill(&w);
    json_t *root = json_of(&w.of.base.run);
    const json_t *objects = json_object_get(root, "objects"), *lines = json_object_get(root, "lines");
    const json_t *functions = json_object_get(root, "functions");
    assert_json("{\"cost\":31423,\"caches\":29400,\"translations\":805,\"walks\":770,\"coherence\":448,"
                "\"startup\":421,\"tlb_cycles\":7,\"walk_read_cycles\":11,\"upgrade_cycles\":36,\"levels\":["
                "{\"name\":\"L1D\",\"miss_cycles\":8,\"coherence_cycles\":8,\"framed\":0},"
                "{\"name\":\"L1I\",\"miss_cycles\":8,\"coherence_cycles\":8,\"framed\":0},"
                "{\"name\":\"L2\",\"miss_cycles\":28,\"coherence_cycles\":88,\"framed\":0},"
                "{\"name\":\"L3\",\"miss_cycles\":160,\"coherence_cycles\":0,\"framed\":0}]}",
                json_object_get(root, "cost"));
    static const uint64_t of_objects[] = {20481, 8974, 1568, 400}, of_lines[] = {19408, 9822, 1968, 225};
    static const uint64_t of_functions[] = {29230, 1968, 225};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(number_at(objects, i, "cost"), of_objects[i]);
        assert_int_equal(number_at(lines, i, "cost"), of_lines[i]);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(number_at(functions, i, "cost"), of_functions[i]);
    assert_int_equal(number_at(objects, 0, "startup"), 80 + 145);
    assert_int_equal(number_at(objects, 0, "walk_reads"), 70);
    assert_int_equal(number_at(objects, 0, "upgrades"), 4);
    assert_json("{\"name\":\"L1D\",\"misses\":385,\"cold\":80,\"capacity\":40,\"conflict\":260,\"coherence\":5,"
                "\"startup\":10}",
                json_array_get(json_object_get(json_array_get(objects, 0), "levels"), 0));
    json_decref(root);
    caches_tlbs_destroy(w.tlbs);
}

/* Of A 15680 cold, 600 capacity, 1768 + 400 conflict, 1360 and 448 cycles are 7.7, 8.0, 9.1, 9.8 and 10 tenths. */
static void marks_of_what_waits(void **state)
{
    (void)state;
    struct waiting_sample w;
    waiting_fill(&w);
    char *text = profile_text(&w.of);
    assert_non_null(strstr(text,
                           "classes     . cold 80.5 %, = capacity 3.4 %, # conflict 8.8 %, t translations 4.6 %, c "
                           "coherence 1.4 %; a mark is a\n"
                           "            tenth\n"));
    assert_non_null(strstr(text, "64.5 %  ........#t         375 "));
    free(text);
    caches_tlbs_destroy(w.tlbs);
}

static void placement_when_compared(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    s.result.compared = true;
    json_t *root = json_of(&s.base.run);
    const json_t *levels = json_object_get(json_array_get(json_object_get(root, "objects"), 0), "levels");
    assert_json(
        "{\"name\":\"L1D\",\"misses\":380,\"cold\":80,\"capacity\":40,\"conflict\":260,\"startup\":10,\"placement\":7}",
        json_array_get(levels, 0));
    json_decref(root);
}

static void without_a_profile_no_keys(void **state)
{
    (void)state;
    struct profile_sample s;
    profile_fill(&s);
    s.base.run.sim.profile = NULL;
    json_t *root = json_of(&s.base.run);
    static const char *const keys[] = {"conflicts", "reasons", "cost", "objects", "functions", "lines"};
    for (size_t i = 0; i < 6; i++)
        assert_null(json_object_get(root, keys[i]));
    json_decref(root);
    char *text = written_report(&s.base.run, REPORT_TEXT);
    assert_null(strstr(text, "conflict misses by"));
    assert_null(strstr(text, "\ncost "));
    free(text);
}

/* ------------------------------------------------------------------ limits */

/* A profile of MANY instructions and as many objects, instruction i missing i + 1 times in object i, evicted by each of
 * the first EVICTORS rows in turn. Enough of both for every list to be cut. */
enum { MANY = 1200, EVICTORS = 13 };

struct many {
    struct report_sample base;
    struct analyses_profile_result result;
    struct analyses_insn insns[MANY];
    struct analyses_object objects[MANY];
    struct analyses_row rows[MANY];
    struct analyses_tally tallies[MANY][SAMPLE_LEVELS], startup[SAMPLE_LEVELS];
    struct analyses_pair pairs[MANY * EVICTORS];
};

static struct many *many_fill(void)
{
    struct many *m = calloc(1, sizeof *m);
    sample_fill(&m->base);
    for (uint32_t i = 0; i < MANY; i++) {
        m->insns[i] = (struct analyses_insn){{0x500000 + i}, 1, 1, 0};
        m->objects[i] = (struct analyses_object){.kind = ANALYSES_HEAP,
                                                 .name = "block",
                                                 .bytes = 8,
                                                 .blocks = 1,
                                                 .refs = 1,
                                                 .level = m->tallies[i],
                                                 .startup = m->startup};
        m->rows[i] = (struct analyses_row){.insn = i, .object = i, .level = m->tallies[i], .startup = m->startup};
        m->tallies[i][L1D].reads[ANALYSES_CONFLICT] = (uint64_t)EVICTORS * (i + 1);
        for (uint32_t j = 0; j < EVICTORS; j++)
            m->pairs[i * EVICTORS + j] = (struct analyses_pair){L1D, i, j, ANALYSES_REASON_INTER, i + 1};
    }
    m->result = (struct analyses_profile_result){.level_count = 3,
                                                 .has_l1i = true,
                                                 .insns = m->insns,
                                                 .insn_count = MANY,
                                                 .objects = m->objects,
                                                 .object_count = MANY,
                                                 .rows = m->rows,
                                                 .row_count = MANY,
                                                 .pairs = m->pairs,
                                                 .pair_count = MANY * EVICTORS};
    m->base.run.sim.profile = &m->result;
    m->base.l1d.misses = (uint64_t)EVICTORS * MANY * (MANY + 1) / 2;
    m->base.l1i.misses = m->base.l2.misses = m->base.l3.misses = 0;
    return m;
}

/* Without symbols no instruction has a name: all are one function. */
static uint64_t count_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static uint64_t sum_of(const json_t *array, const char *key)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < json_array_size(array); i++)
        sum += count_of(json_array_get(array, i), key);
    return sum;
}

/* 13 * (1 + ... + 1200) = 9,367,800. The 200 first victims have 13 * (1001 + ... + 1200) = 2,861,300, the rest
 * 6,506,500; the first has 10 listed originators of 1200 each and a rest of 3600 of 3. */
static void cut_lists_keep_their_sums(void **state)
{
    (void)state;
    struct many *m = many_fill();
    json_t *root = json_of(&m->base.run);
    const json_t *conflicts = json_object_get(root, "conflicts"), *objects = json_object_get(root, "objects");
    assert_int_equal(201, json_array_size(conflicts));
    assert_int_equal(9367800, sum_of(conflicts, "count"));
    assert_json("{\"level\":\"L1D\",\"count\":6506500,\"rest\":{\"misses\":1000,\"pairs\":13000}}",
                json_array_get(conflicts, 200));
    for (size_t i = 0; i < 200; i++) {
        const json_t *entry = json_array_get(conflicts, i), *originators = json_object_get(entry, "originators");
        assert_int_equal(11, json_array_size(originators));
        assert_int_equal(count_of(entry, "count"), sum_of(originators, "count"));
    }
    assert_json("{\"rest\":{\"originators\":3},\"count\":3600}",
                json_array_get(json_object_get(json_array_get(conflicts, 0), "originators"), 10));
    assert_int_equal(501, json_array_size(objects));
    uint64_t misses = 0;
    for (size_t i = 0; i < 501; i++)
        misses += sum_of(json_object_get(json_array_get(objects, i), "levels"), "conflict");
    assert_int_equal(9367800, misses);
    assert_int_equal(MANY, sum_of(objects, "refs"));
    assert_int_equal(8 * MANY, sum_of(objects, "size"));
    assert_int_equal(700, count_of(json_object_get(json_array_get(objects, 500), "rest"), "objects"));
    /* one instruction a line, as none is known: 8 cycles a miss */
    const json_t *lines = json_object_get(root, "lines");
    assert_int_equal(201, json_array_size(lines));
    assert_int_equal(8 * 9367800, sum_of(lines, "cost"));
    assert_int_equal(8 * 9367800, sum_of(objects, "cost"));
    assert_int_equal(1000, count_of(json_object_get(json_array_get(lines, 200), "rest"), "lines"));
    json_decref(root);
    free(m);
}

/* Each slim list ends with its own rest. The 3 first victims have 13 * (1200 + 1199 + 1198) = 46,761; the first has 13
 * originators of 1200, of which 2 are listed. */
static void slim_lists_keep_their_sums(void **state)
{
    (void)state;
    struct many *m = many_fill();
    char *text = written_report(&m->base.run, REPORT_SLIM);
    json_t *root = json_loads(text, 0, NULL), *full = json_of(&m->base.run);
    assert_true(json_is_true(json_object_get(root, "slim")));
    assert_null(json_object_get(full, "slim"));
    const json_t *conflicts = json_object_get(root, "conflicts"), *objects = json_object_get(root, "objects");
    const json_t *lines = json_object_get(root, "lines");
    assert_int_equal(4, json_array_size(conflicts));
    assert_int_equal(9367800, sum_of(conflicts, "count"));
    assert_json("{\"level\":\"L1D\",\"count\":9321039,\"rest\":{\"misses\":1197,\"pairs\":15561}}",
                json_array_get(conflicts, 3));
    const json_t *originators = json_object_get(json_array_get(conflicts, 0), "originators");
    assert_int_equal(3, json_array_size(originators));
    assert_json("{\"rest\":{\"originators\":11},\"count\":13200}", json_array_get(originators, 2));
    assert_int_equal(11, json_array_size(objects));
    assert_int_equal(1190, count_of(json_object_get(json_array_get(objects, 10), "rest"), "objects"));
    assert_int_equal(MANY, sum_of(objects, "refs"));
    assert_int_equal(8 * 9367800, sum_of(objects, "cost"));
    assert_int_equal(11, json_array_size(lines));
    assert_int_equal(8 * 9367800, sum_of(lines, "cost"));
    for (size_t i = 0; i < 10; i++)
        assert_true(json_equal(json_array_get(objects, i), json_array_get(json_object_get(full, "objects"), i)));
    json_decref(root);
    json_decref(full);
    free(text);
    free(m);
}

static void one_function_without_names(void **state)
{
    (void)state;
    struct many *m = many_fill();
    json_t *root = json_of(&m->base.run);
    assert_json(
        "[{\"executed\":1200,\"reads\":1200,\"writes\":0,\"cost\":74942400,\"startup\":0,\"levels\":[{\"name\":\"L1D\","
        "\"misses\":9367800,\"cold\":0,\"capacity\":0,\"conflict\":9367800,\"startup\":0}]}]",
        json_object_get(root, "functions"));
    json_decref(root);
    free(m);
}

/* ------------------------------------------------------------------ both forms */

typedef enum c2_status writer(FILE *to, const struct report *report, struct c2_error *err);

static char *written(writer *write, const struct report *report)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, write(to, report, NULL));
    fclose(to);
    return text;
}

/* A report that was built for all forms is in each, as often as it is written, what one built for it alone is. The run
 * is gone by then. */
static void one_report_in_all_forms(void **state)
{
    (void)state;
    static const unsigned forms[] = {REPORT_TEXT, REPORT_JSON, REPORT_SLIM};
    writer *const writers[] = {report_text, report_json, report_json_slim};
    struct profile_sample s;
    struct report *alone[3], *all;
    profile_fill(&s);
    assert_int_equal(C2_OK, report_create(&all, &s.base.run, REPORT_TEXT | REPORT_JSON | REPORT_SLIM, NULL));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(C2_OK, report_create(&alone[i], &s.base.run, forms[i], NULL));
    memset(&s, 0, sizeof s);
    for (size_t i = 0; i < 6; i++) {
        char *expected = written(writers[i % 3], alone[i % 3]), *found = written(writers[i % 3], all);
        assert_string_equal(expected, found);
        assert_true(strlen(found) > 1000);
        free(expected);
        free(found);
    }
    report_destroy(alone[0]);
    report_destroy(alone[1]);
    report_destroy(alone[2]);
    report_destroy(all);
}

/* ------------------------------------------------------------------ faults */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct profile_sample s;
    struct c2_error err;
    profile_fill(&s);
    FILE *to = fopen("/dev/null", "w");
    for (int json = 0; json < 2; json++) {
        enum c2_status status = C2_ERR_NO_MEMORY;
        uint64_t tries = 0;
        while (status != C2_OK) {
            c2_alloc_fail_from(++tries);
            status = write_report(to, &s.base.run, json ? REPORT_JSON : REPORT_TEXT, &err);
            c2_alloc_fail_from(0);
            assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        }
        assert_true(tries > (json ? 200u : 4u));
    }
    fclose(to);
}

int main(void)
{
    json_set_alloc_funcs(c2_alloc, c2_free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text),
        cmocka_unit_test(what_says_nothing_is_left_out),
        cmocka_unit_test(inlined_code_is_charged_to_its_caller),
        cmocka_unit_test(without_conflicts),
        cmocka_unit_test(without_symbols),
        cmocka_unit_test(what_frames_chose),
        cmocka_unit_test(sizes_are_rounded),
        cmocka_unit_test(the_json),
        cmocka_unit_test(everything_that_waits_costs),
        cmocka_unit_test(marks_of_what_waits),
        cmocka_unit_test(placement_when_compared),
        cmocka_unit_test(without_a_profile_no_keys),
        cmocka_unit_test(cut_lists_keep_their_sums),
        cmocka_unit_test(slim_lists_keep_their_sums),
        cmocka_unit_test(one_function_without_names),
        cmocka_unit_test(one_report_in_all_forms),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
