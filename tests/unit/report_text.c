/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The text report of a made-up run, to the letter; shares; and what the advice says when. The expected shares and costs
 * are worked out by hand beside the numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/report_priv.h"
#include "unit/report_sample.h"

/* L1D: 512/4096 = 12.5; 128, 64, 320 of 512 = 25, 12.5, 62.5. L1I: 3/1000 = 0.3; 2/3 = 66.67, 1/3 = 33.33.
 * L2: 160/515 = 31.07; 130, 20, 10 of 160 = 81.25, 12.5, 6.25 (halves go up). L3: 130/160 = 81.25.
 * Costs: 512 * 8 + 3 * 8 + 160 * 28 + 130 * 160 = 29400 cycles; 320 * 8 = 2560 of them are conflicts of L1D: a cure
 * buys all of these, half of the 512 + 8 + 560 of capacity, and nothing of the 25480 that are cold. */
static const char golden[] =
    "program     ./app two words\n"
    "ending      exit status 3\n"
    "machine     sample: made up\n"
    "caches      L1D 32 KiB 8-way lru, L1I 32 KiB 8-way lru, L2 256 KiB 8-way lru, "
    "L3 20 MiB 20-way lru in 8 slices (lin8);\n"
    "            lines of 64 bytes\n"
    "pages       sequential placement, seed 7; 1,234 pages of 4 KiB touched, no huge pages, 64 GiB of memory; "
    "no TLBs\n"
    "phases      everything measured: 10,000 instructions\n"
    "references  4,000: 2,500 reads, 1,500 writes (200 modifies count as one read and one write each)\n"
    "            4,096 line accesses; 96 references touch more than one line\n"
    "\n"
    "level  accesses  misses  miss rate     cold  capacity  conflict  FA misses\n"
    "L1D       4,096     512     12.5 %   25.0 %    12.5 %    62.5 %        200\n"
    "L1I       1,000       3      0.3 %   66.7 %    33.3 %     0.0 %          3\n"
    "L2          515     160     31.1 %   81.3 %    12.5 %     6.3 %        150\n"
    "L3          160     130     81.3 %  100.0 %     0.0 %     0.0 %        130\n";

static void the_whole_text(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_string_equal(golden, text);
    free(text);
}

/* A line for each rule and huge region; what placed nothing is warned of. */
static void placement_rules(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    const struct mmu_rule rules[] = {{.region = {.kind = MMU_REGION_HEAP, .name = "heap"}, .text = "colored"},
                                     {.region = {.kind = MMU_REGION_OBJECT, .name = "A"}, .text = "same-color,color=2"},
                                     {.region = {.kind = MMU_REGION_FILE, .name = "libx.so"}, .text = "random"}};
    const struct mmu_region huge[] = {{.kind = MMU_REGION_STACK, .name = "stack"},
                                      {.kind = MMU_REGION_OBJECT, .name = "B"}};
    const struct mmu_rule_counts counts[] = {
        {.small_pages = 1200, .huge_2m = 3, .huge_1g = 1}, {.small_pages = 4}, {0}};
    const struct mmu_rule_counts huge_counts[] = {{0}, {.huge_2m = 3, .huge_1g = 1, .huge_fallbacks = 2}};
    sample.placement.rules = rules;
    sample.placement.rule_count = 3;
    sample.placement.huge_regions = huge;
    sample.placement.huge_region_count = 2;
    sample.run.rules = counts;
    sample.run.huge_regions = huge_counts;
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_non_null(strstr(text,
                           "no TLBs\n"
                           "            heap=colored: 1,200 pages of 4 KiB, 3 of 2 MiB, 1 of 1 GiB\n"
                           "            A=same-color,color=2: 4 pages of 4 KiB\n"
                           "            WARNING: --place libx.so=random placed nothing: no page of a mapping of such a "
                           "file was touched, or more\n"
                           "            precise rules placed them\n"
                           "            WARNING: --huge stack made no huge page: no aligned range of it was touched\n"
                           "            --huge B: 3 of 2 MiB, 1 of 1 GiB (2 more found no huge frame)\n"
                           "phases  "));
    free(text);
}

/* Shares of 512, 3, 160 and 130 misses. */
static void fifo_detector(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    sample_detect_fifo(&sample);
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_non_null(strstr(text, "\n\n"
                                 "FIFO detector  capacity  conflict  FA conflict    both  only FIFO  only FA\n"
                                 "L1D              18.8 %    56.3 %       62.5 %  50.0 %      6.3 %   12.5 %\n"
                                 "L1I               0.0 %    33.3 %        0.0 %   0.0 %     33.3 %    0.0 %\n"
                                 "L2               18.8 %     0.0 %        6.3 %   0.0 %      0.0 %    6.3 %\n"
                                 "L3                0.0 %     0.0 %        0.0 %   0.0 %      0.0 %    0.0 %\n"));
    free(text);
}

static void lost_pages(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    sample.run.lost_pages = 3;
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_non_null(strstr(text, "\n            WARNING: 3 pages of mapped files vanished while the program ran "
                                 "(a file was cut) and were read as zeros\nphases "));
    free(text);
}

static void huge_pages(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    sample.pages.huge_2m = 4;
    sample.pages.huge_fallbacks = 2;
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_non_null(strstr(text, "1,234 pages of 4 KiB touched, 4 of 2 MiB, 0 of 1 GiB (2 more found no "
                                 "huge\n            frame), 64 GiB of memory; no TLBs\n"));
    free(text);
}

static void zero_page(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    sample.pages.zero_pages = 1500;
    sample.pages.zero_copies = 20;
    sample.placement.zero_page = true;
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_non_null(strstr(text,
                           "\nzero page   1,500 pages were read before they were written, 20 of them written later; "
                           "the others share one frame\nphases "));
    free(text);
}

static void without_simulation_and_killed(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    struct report_run run = {.command = sample.command,
                             .exit_status = 139,
                             .instructions = 1234567,
                             .clock = "2024-02-29T12:30:00Z",
                             .ending = "killed by SIGSEGV at address 0x0: mov (%rax),%eax at 0x401136 in main"};
    char *text = written_report(&run, REPORT_TEXT);
    assert_string_equal("program     ./app two words: 1,234,567 instructions, nothing simulated\n"
                        "ending      killed by SIGSEGV at address 0x0: mov (%rax),%eax at 0x401136 in main\n"
                        "clock       2024-02-29T12:30:00Z at the start\n",
                        text);
    free(text);
    run.sim.full = true;
    text = written_report(&run, REPORT_TEXT);
    assert_string_equal("program     ./app two words\n"
                        "ending      killed by SIGSEGV at address 0x0: mov (%rax),%eax at 0x401136 in main\n"
                        "clock       2024-02-29T12:30:00Z at the start\n"
                        "phases      run only, nothing simulated: 1,234,567 instructions\n",
                        text);
    free(text);
}

/* The three misses of L1I are 24 of some 33,000 cycles: the level has no row, and the head is one line. */
static void what_says_nothing_is_left_out(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    sample.run.sim.full = false;
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_string_equal("program     ./app two words: exit status 3; 10,000 instructions on sample\n"
                        "\n"
                        "level  accesses  misses  miss rate     cold  capacity  conflict  FA misses\n"
                        "L1D       4,096     512     12.5 %   25.0 %    12.5 %    62.5 %        200\n"
                        "L2          515     160     31.1 %   81.3 %    12.5 %     6.3 %        150\n"
                        "L3          160     130     81.3 %  100.0 %     0.0 %     0.0 %        130\n",
                        text);
    free(text);
}

/* What an option asks for, or what is not as ever, is in the head. */
static void the_head_has_what_was_asked_for(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    sample.run.sim.full = false;
    sample.run.altered = true;
    sample.placement.placement = MMU_RANDOM;
    sample.l2.accesses = 0;
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_non_null(strstr(text, " on sample\ncaches      L1D 32 KiB 8-way lru, "));
    assert_non_null(strstr(text, "\npages       random placement, seed 7; 1,234 pages of 4 KiB touched, no huge"));
    assert_null(strstr(text, "\nL2  "));
    assert_null(strstr(text, "\nreferences"));
    free(text);
}

static char *list_of(const struct report_programs *programs)
{
    struct report *list;
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, report_create_programs(&list, programs, REPORT_TEXT, NULL));
    assert_int_equal(C2_OK, report_text(to, list, NULL));
    report_destroy(list);
    fclose(to);
    return text;
}

/* An execve is no unusual ending. What was not followed has no counts. */
static void the_list_of_programs(void **state)
{
    (void)state;
    struct report_program list[] = {
        {1000,
         1,
         1,
         "sh",
         "exit status 0",
         NULL,
         2000,
         true,
         30,
         4,
         1040,
         {{.cost = 900, .gain = 800, .text = "sh.c:3: pad"}},
         1},
        {1001, 1000, 1, "sh", "became /bin/true (execve)", NULL, 7, false, 0, 0, 0, {{0}}, 0},
        {1001,
         1000,
         2,
         "true",
         "exit status 0",
         NULL,
         1234567,
         true,
         5,
         5,
         1175,
         {{.cost = 1000, .text = "t.c:1: once"}},
         1},
    };
    const struct report_programs programs = {.list = list, .count = 3, .command = (const char *[]){"sh", NULL}};
    char *text = list_of(&programs);
    assert_string_equal("findings of all programs\n"
                        "  1. sh (1000): sh.c:3: pad\n"
                        "     40.6 % of the cost of all; the remedy would spare about 36.1 %\n"
                        "  2. true (1001): t.c:1: once\n"
                        "     45.1 % of the cost of all\n"
                        "\n"
                        "processes: 3 programs, whose reports --full shows, and -o DIR keeps\n"
                        "process  program  instructions  L1D misses  to memory   cost\n"
                        "   1000  sh              2,000          30          4  1,040\n"
                        "   1001  sh                  7           -          -      -\n"
                        " 1001-2  true        1,234,567           5          5  1,175\n",
                        text);
    free(text);
    list[2].ending = "killed by SIGSEGV: load of 0x0 in main";
    list[0].report = "report.json";
    text = list_of(&programs);
    assert_non_null(strstr(text, " to memory   cost  ending                     report\n"));
    assert_non_null(strstr(text, " 1,040  exit status 0              report.json\n"));
    assert_non_null(strstr(text, " 1,175  killed by SIGSEGV          -\n"));
    free(text);
}

/* A hundredth of the cost of all: where that is 2,000, a finding that costs 19 is not shown, and has no words. */
static void findings_too_small_for_the_list(void **state)
{
    (void)state;
    assert_true(report_is_listed(19, 1999));
    assert_false(report_is_listed(19, 2000));
    assert_false(report_is_listed(19, 1000000));
    struct report_program list[] = {
        {1000, 1, 1, "sh", "exit status 0", NULL, 10, true, 1, 1, 1000, {{.cost = 20, .text = "sh.c:3: pad"}}, 1},
        {1001, 1000, 1, "sh", "exit status 0", NULL, 10, true, 1, 1, 1000, {{.cost = 19, .pattern = 1, .text = ""}}, 1},
    };
    const struct report_programs programs = {.list = list, .count = 2, .command = (const char *[]){"sh", NULL}};
    char *text = list_of(&programs);
    assert_non_null(strstr(text, "  1. sh (1000): sh.c:3: pad\n     1.0 % of the cost of all\n\nprocesses:"));
    free(text);
}

/* Ranks of one program have the same finding, whose words the second one has; another place, and another program with
 * the same numbers, are findings of their own. 8 of a thousand alone would not be listed. */
static void findings_of_many_processes(void **state)
{
    (void)state;
    struct report_program list[6];
    for (unsigned i = 0; i < 6; i++)
        list[i] = (struct report_program){
            1000 + i, 1, 1, "./rank", "exit status 0", NULL, 10, true, 1, 1, 1000, {{8, 6, 3, {0x401000}, 0, ""}}, 1};
    list[1].found[0].text = "a.c:3: pad";
    list[3].found[0] = (struct report_found){60, 12, 3, {0x401007}, 0, "a.c:4: swap"};
    list[4].found[0].nth = 1;
    list[5].name = "./other";
    list[5].found[0] = (struct report_found){60, 6, 3, {0x401000}, 0, "b.c:5: fuse"};
    const struct report_programs programs = {.list = list, .count = 6, .command = (const char *[]){"sh", NULL}};
    char *text = list_of(&programs);
    assert_null(strstr(text, "pad")); /* 24 of 6,000 */
    free(text);
    for (unsigned i = 0; i < 3; i++)
        list[i].found[0].cost = 20;
    text = list_of(&programs);
    assert_non_null(strstr(text, "findings of all programs\n"
                                 "  1. ./rank (1001 and 2 others): a.c:3: pad\n"
                                 "     1.0 % of the cost of all; the remedy would spare about 0.3 %\n"
                                 "  2. ./rank (1003): a.c:4: swap\n"
                                 "     1.0 % of the cost of all; the remedy would spare about 0.2 %\n"
                                 "  3. ./other (1005): b.c:5: fuse\n"
                                 "     1.0 % of the cost of all; the remedy would spare about 0.1 %\n\n"));
    free(text);
}

/* Of 40, the 30 that cost most: the last one and the first 29 of those that cost 5. */
static void a_long_list_of_programs(void **state)
{
    (void)state;
    struct report_program list[40];
    for (unsigned i = 0; i < 40; i++)
        list[i] = (struct report_program){1000 + i, 1, 1, "sh", "exit status 0", NULL, 100, true, 1, 1, 5, {{0}}, 0};
    list[39].cost = 6;
    struct report_programs programs = {.list = list, .count = 40, .command = (const char *[]){"sh", NULL}};
    char *text = list_of(&programs);
    assert_non_null(strstr(text, "\n   1028  sh "));
    assert_null(strstr(text, "\n   1029  sh "));
    assert_non_null(strstr(text, "\n   1039  sh "));
    assert_non_null(strstr(text, "\nand 10 others: 1,000 instructions, cost 50\n"));
    free(text);
    programs.full = true;
    text = list_of(&programs);
    assert_non_null(strstr(text, "\n   1029  sh "));
    assert_null(strstr(text, " others: "));
    free(text);
}

static void shares_are_exact(void **state)
{
    (void)state;
    static const struct {
        uint64_t part, whole;
        const char *text;
    } rows[] = {
        {0, 0, "-"},
        {5, 0, "-"},
        {0, 7, "0.0 %"},
        {7, 7, "100.0 %"},
        {1, 2000, "0.1 %"},
        {1, 2001, "<0.1 %"},
        {1999, 2000, ">99.9 %"},
        {19989, 20000, "99.9 %"},
        {1, 3, "33.3 %"},
        {2, 3, "66.7 %"},
        {1, 16, "6.3 %"},
        {UINT64_MAX / 2, UINT64_MAX, "50.0 %"},
        {UINT64_MAX, UINT64_MAX, "100.0 %"},
    };
    char buffer[32];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(rows[i].text, doc_percent(buffer, rows[i].part, rows[i].whole));
}

static void one_level_without_l1i(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    sample.machine.has_l1i = false;
    sample.machine.level_count = 1;
    sample.run.sim.l1i = NULL;
    char *text = written_report(&sample.run, REPORT_TEXT);
    assert_non_null(strstr(text, "\ncaches      L1D 32 KiB 8-way lru; lines of 64 bytes\n"));
    assert_non_null(strstr(text, "\nL1D       4,096     512     12.5 %  25.0 %    12.5 %    62.5 %        200\n"));
    free(text);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    struct report_sample sample;
    struct c2_error err;
    sample_fill(&sample);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(C2_ERR_IO, write_report(full, &sample.run, REPORT_TEXT, &err));
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_text),
        cmocka_unit_test(huge_pages),
        cmocka_unit_test(zero_page),
        cmocka_unit_test(placement_rules),
        cmocka_unit_test(fifo_detector),
        cmocka_unit_test(lost_pages),
        cmocka_unit_test(without_simulation_and_killed),
        cmocka_unit_test(what_says_nothing_is_left_out),
        cmocka_unit_test(the_head_has_what_was_asked_for),
        cmocka_unit_test(the_list_of_programs),
        cmocka_unit_test(findings_too_small_for_the_list),
        cmocka_unit_test(findings_of_many_processes),
        cmocka_unit_test(a_long_list_of_programs),
        cmocka_unit_test(shares_are_exact),
        cmocka_unit_test(one_level_without_l1i),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
