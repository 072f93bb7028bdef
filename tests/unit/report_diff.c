/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Two made-up reports compared: the text to the letter, every form of a condition, and what is wrong with files and
 * conditions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "report/report.h"

#define HEAD \
    "{\"format\":\"c2emu-report\",\"version\":1,\"command\":[\"./%s\",\"7\"],\"machine\":{\"name\":\"%s\"}," \
    "\"pages\":{\"policy\":\"sequential\",\"seed\":%d,\"huge\":\"off\"},\"run\":{\"measured\":{\"refs\":100}},"

/* A: kernel misses 40, of which 30 conflicts; f is in both; gone and came in one each; two objects with one name. */
static const char body_a[] =
    "\"cost\":{\"cost\":900,\"caches\":700,\"walks\":200,\"startup\":0,\"miss_cycles\":3},"
    "\"levels\":[{\"name\":\"L1D\",\"misses\":50,\"conflict\":30,\"cold\":20},{\"name\":\"L2\",\"misses\":20,"
    "\"conflict\":0}],"
    "\"functions\":[{\"name\":\"kernel\",\"module\":\"old\",\"executed\":10,\"levels\":[{\"name\":\"L1D\",\"misses\":"
    "40,"
    "\"conflict\":30}]},{\"name\":\"f\",\"module\":\"libc.so.6\",\"executed\":5,\"levels\":[]},"
    "{\"name\":\"f\",\"module\":\"old\",\"executed\":5,\"levels\":[]},"
    "{\"name\":\"gone\",\"module\":\"old\",\"executed\":1,\"levels\":[]}],"
    "\"objects\":[{\"name\":\"malloc#1\",\"kind\":\"heap\",\"base\":\"0x1000\",\"size\":64,\"refs\":7,\"site\":{\"pc\":"
    "\"0x9\","
    "\"file\":\"/x/app.c\",\"line\":4},\"levels\":[]},{\"name\":\"old\",\"kind\":\"code\",\"refs\":0,\"levels\":[]}]}";
/* B: kernel's conflicts are gone but one; malloc#1 lies elsewhere. */
static const char body_b[] =
    "\"cost\":{\"cost\":450,\"caches\":450,\"walks\":0,\"startup\":0,\"miss_cycles\":4},"
    "\"levels\":[{\"name\":\"L1D\",\"misses\":21,\"conflict\":1,\"cold\":20},{\"name\":\"L2\",\"misses\":25,"
    "\"conflict\":0}],"
    "\"functions\":[{\"name\":\"kernel\",\"module\":\"new\",\"executed\":10,\"levels\":[{\"name\":\"L1D\",\"misses\":"
    "11,"
    "\"conflict\":1}]},{\"name\":\"f\",\"module\":\"libc.so.6\",\"executed\":5,\"levels\":[{\"name\":\"L2\",\"misses\":"
    "5,"
    "\"conflict\":0}]},{\"name\":\"f\",\"module\":\"new\",\"executed\":5,\"levels\":[]},"
    "{\"name\":\"came::operator>\",\"module\":\"new\",\"executed\":2,\"levels\":[]}],"
    "\"objects\":[{\"name\":\"malloc#1\",\"kind\":\"heap\",\"base\":\"0x2000\",\"size\":64,\"refs\":7,\"site\":{\"pc\":"
    "\"0x8\","
    "\"file\":\"/y/app.c\",\"line\":4},\"levels\":[]},{\"name\":\"new\",\"kind\":\"code\",\"refs\":0,\"levels\":[]}]}";

static char path_a[] = "/tmp/c2-diff-a-XXXXXX", path_b[] = "/tmp/c2-diff-b-XXXXXX";

static void put(const char *path, const char *program, const char *machine, int seed, const char *body)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);

    fprintf(to, HEAD "%s", program, machine, seed, body);
    fclose(to);
}

static int prepare(void **state)
{
    (void)state;
    close(mkstemp(path_a));
    close(mkstemp(path_b));
    return 0;
}

static int clean(void **state)
{
    (void)state;
    return unlink(path_a) | unlink(path_b);
}

static void reset(void)
{
    put(path_a, "old", "teach", 1, body_a);
    put(path_b, "new", "teach", 1, body_b);
}

static char *diff(enum c2_status expect, bool *failed, const char *const *conditions, size_t count,
                  struct c2_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    enum c2_status status = report_diff(failed, to, 0, path_a, path_b, true, conditions, count, err);
    fclose(to);
    if (status != expect)
        fail_msg("status %d: %s", status, err->text);
    return text;
}

static void replace(char *text, const char *from, const char *to)
{
    for (char *at; (at = strstr(text, from));) {
        memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
        memcpy(at, to, strlen(to));
    }
}

/* L1D: 50 -> 21 is -29, 58 %; 30 -> 1 is -29, 96.67 %; L2 20 -> 25 is +25 %. kernel's misses changed by 29, f's by 5,
 * the others' by nothing: they come by name. */
static void the_whole_text(void **state)
{
    (void)state;
    struct c2_error err;
    bool failed = true;
    reset();
    char *text = diff(C2_OK, &failed, NULL, 0, &err);
    replace(text, path_a, "a");
    replace(text, path_b, "b");
    assert_string_equal("A  a: ./old 7\n"
                        "B  b: ./new 7\n"
                        "\n"
                        "level  counter     A    B  change      of A\n"
                        "run    cost      900  450    -450   -50.0 %\n"
                        "cost   caches    700  450    -250   -35.7 %\n"
                        "cost   walks     200    0    -200  -100.0 %\n"
                        "L1D    misses     50   21     -29   -58.0 %\n"
                        "L1D    conflict   30    1     -29   -96.7 %\n"
                        "L2     misses     20   25      +5   +25.0 %\n"
                        "\n"
                        "function kernel in the program\n"
                        "  level  counter    A   B  change     of A\n"
                        "  L1D    misses    40  11     -29  -72.5 %\n"
                        "  L1D    conflict  30   1     -29  -96.7 %\n"
                        "\n"
                        "function f in libc.so.6\n"
                        "  level  counter  A  B  change  of A\n"
                        "  L2     misses   0  5      +5     -\n"
                        "\n"
                        "function came::operator> in the program (only in B)\n"
                        "  level  counter   A  B  change  of A\n"
                        "  run    executed  0  2      +2     -\n"
                        "\n"
                        "function gone in the program (only in A)\n"
                        "  level  counter   A  B  change      of A\n"
                        "  run    executed  1  0      -1  -100.0 %\n",
                        text);
    assert_false(failed);
    free(text);
}

static void machines_and_pages_that_differ(void **state)
{
    (void)state;
    struct c2_error err;
    bool failed;
    reset();
    put(path_b, "old", "zen3", 2, body_a);
    char *text = diff(C2_OK, &failed, NULL, 0, &err);
    assert_memory_equal("MACHINES DIFFER: A ran on teach, B on zen3\npages differ: A has seed 1, B 2\nA  ", text, 78);
    assert_non_null(strstr(text, "\n\nno counter differs\n"));
    free(text);
}

static void clocks_that_differ(void **state)
{
    (void)state;
    struct c2_error err;
    bool failed;
    char body[sizeof body_a + 64];
    snprintf(body, sizeof body, "\"clock\":\"2024-02-29T12:30:00Z\",%s", body_a);
    reset();
    put(path_b, "old", "teach", 1, body);
    char *text = diff(C2_OK, &failed, NULL, 0, &err);
    static const char said[] = "clocks differ: A began at the usual clock, B at 2024-02-29T12:30:00Z\nA  ";
    assert_memory_equal(said, text, sizeof said - 1);
    free(text);
}

/* misses of L1D change by -29, which is -58 % of 50; of L2 by +5, which is 25 % of 20; cold by 0. */
static void conditions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool holds;
    } rows[] = {
        {"L2.misses>+4", true},
        {"L2.misses>+5", false},
        {"L2.misses>=5", true},
        {"L2.misses>=6", false},
        {"L2.misses<6", true},
        {"L2.misses<5", false},
        {"L2.misses<=5", true},
        {"L2.misses<=+4", false},
        {"L2.misses=5", true},
        {"L2.misses!=5", false},
        {"L1D.cold=0", true},
        {"L1D.cold>+0", false},
        {"L1D.misses<-28", true},
        {"L1D.misses<-29", false},
        {"L1D.misses<=-58%", true},
        {"L1D.misses<-58%", false},
        {"L2.misses>24.999999%", true},
        {"L2.misses>25%", false},
        {"L2.misses>=25%", true},
        {"L2.misses>+25.000001%", false},
        {"run.refs!=0", false},
        {"function:kernel.L1D.conflict<-28", true},
        {"function:f in libc.so.6.L2.misses>0", true},
        {"function:f in the program.L2.misses>0", false},
        {"function:came::operator>.run.executed>1", true},
        {"function:came::operator>.run.executed>=+3", false},
        {"object:malloc#1.L1D.misses=0", true},
        {"object:malloc#1 at app.c:4.run.refs=0", true},
        {"object:code of the program.run.refs=0", true},
        {"function:kernel.L2.misses>0%", false}, /* 0 -> 0: no misses there in either */
    };
    struct c2_error err;
    bool failed;
    reset();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        free(diff(C2_OK, &failed, &rows[i].text, 1, &err));
        if (failed != rows[i].holds)
            fail_msg("%s: %d", rows[i].text, failed);
    }
    const char *two[] = {"L1D.misses>0", "L2.misses>+4"};
    char *text = diff(C2_OK, &failed, two, 2, &err);
    assert_true(failed);
    assert_string_equal("\nFAILED: L2.misses>+4: 20 in A, 25 in B, +5\n", strstr(text, "\nFAILED"));
    free(text);
}

static void conditions_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum c2_status status;
        const char *says;
    } rows[] = {
        {"L1D.misses", C2_ERR_INVALID, "is no condition: write LEVEL.COUNTER"},
        {"L1D.misses>", C2_ERR_INVALID, "is no condition"},
        {"L1D.misses>x", C2_ERR_INVALID, "is no condition"},
        {"L1D.misses>1.5", C2_ERR_INVALID, "is no condition"},
        {"L1D.misses>1.0000001%", C2_ERR_INVALID, "is no condition"},
        {">5", C2_ERR_INVALID, "is no condition"},
        {"misses>5", C2_ERR_INVALID, "is no condition"},
        {"function:kernel>5", C2_ERR_INVALID, "is no condition"},
        {"L1.misses>5", C2_ERR_NOT_FOUND, "unknown level \"L1\" (did you mean \"L1D\"?)"},
        {"L1D.conflicts>5", C2_ERR_NOT_FOUND, "unknown counter \"conflicts\" (did you mean \"conflict\"?)"},
        {"function:kernl.L1D.misses>5", C2_ERR_NOT_FOUND, "unknown function \"kernl\" (did you mean \"kernel\"?)"},
        {"object:maloc#1.L1D.misses>5", C2_ERR_NOT_FOUND, "unknown object \"maloc#1\" (did you mean \"malloc#1\"?)"},
        {"function:f.L1D.misses>5", C2_ERR_INVALID,
         "several are called \"f\": write \"f in libc.so.6\" or \"f in the program\""},
    };
    struct c2_error err;
    bool failed;
    reset();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = diff(rows[i].status, &failed, &rows[i].text, 1, &err);
        if (!strstr(err.text, rows[i].says))
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_string_equal("", text); /* nothing is written before the conditions are understood */
        free(text);
    }
}

/* What a list does not name may have misses all the same. */
static void lists_that_end(void **state)
{
    (void)state;
    static const char cut[] = "\"levels\":[{\"name\":\"L1D\",\"misses\":9}],\"functions\":[{\"rest\":{\"functions\":3},"
                              "\"executed\":5,\"levels\":[]}],\"objects\":[]}";
    const char *condition = "function:kernel.L1D.misses>0";
    struct c2_error err;
    bool failed;
    reset();
    put(path_b, "new", "teach", 1, cut);
    free(diff(C2_ERR_NOT_FOUND, &failed, &condition, 1, &err));
    assert_non_null(strstr(err.text, "\"kernel in the program\" is not among those that"));
    condition = "L2.misses>0";
    free(diff(C2_ERR_NOT_FOUND, &failed, &condition, 1, &err));
    assert_non_null(strstr(err.text, "has no L2.misses"));
}

/* A: kernel 40 misses of L1D, f 6, rest 10. B: f 4, g 3, and a rest of 20. Kernel is not listed in B, g not in A: A's
 * rest is 50, B's 23, and the sums stay 56 and 27. */
static void what_one_report_alone_lists(void **state)
{
    (void)state;
#define FUNCTION(name, executed, misses) \
    "{" name ",\"executed\":" #executed ",\"levels\":[{\"name\":\"L1D\",\"misses\":" #misses "}]}"
#define LEVELS "\"slim\":true,\"levels\":[{\"name\":\"L1D\",\"misses\":56}],"
    static const char a[] = LEVELS "\"functions\":[" FUNCTION("\"name\":\"kernel\"", 7, 40) "," FUNCTION(
        "\"name\":\"f\"", 5, 6) "," FUNCTION("\"rest\":{\"functions\":2}", 3, 10) "]}";
    static const char b[] = LEVELS "\"functions\":[" FUNCTION("\"name\":\"f\"", 5, 4) "," FUNCTION(
        "\"name\":\"g\"", 1, 3) "," FUNCTION("\"rest\":{\"functions\":9}", 2, 20) "]}";
    const char *condition = "function:g.L1D.misses>0";
    struct c2_error err;
    bool failed;
    put(path_a, "p", "teach", 1, a);
    put(path_b, "p", "teach", 1, b);
    char *text = diff(C2_OK, &failed, NULL, 0, &err);
    assert_string_equal("\nfunction (not listed)\n"
                        "  level  counter    A   B  change     of A\n"
                        "  run    executed  10   3      -7  -70.0 %\n"
                        "  L1D    misses    50  23     -27  -54.0 %\n"
                        "\n"
                        "function f in (no module)\n"
                        "  level  counter  A  B  change     of A\n"
                        "  L1D    misses   6  4      -2  -33.3 %\n"
                        "\n"
                        "not compared, for one report alone lists them: 2 functions (--json-full lists more)\n",
                        strstr(text, "\nfunction"));
    free(text);
    free(diff(C2_ERR_NOT_FOUND, &failed, &condition, 1, &err));
    assert_non_null(strstr(err.text, "\"g in (no module)\" is not among those that"));
    assert_non_null(strstr(err.text, path_a));
    assert_non_null(strstr(err.text, "which are the dearest; a report of --json-full lists more"));
    condition = "function:kernel.run.executed<0";
    free(diff(C2_ERR_NOT_FOUND, &failed, &condition, 1, &err));
    assert_non_null(strstr(err.text, path_b));
}

/* What a list that is whole does not name was not there. */
static void a_whole_list_knows_what_is_missing(void **state)
{
    (void)state;
    static const char a[] = LEVELS "\"functions\":[" FUNCTION("\"name\":\"f\"", 5, 6) "]}";
    static const char b[] = LEVELS
        "\"functions\":[" FUNCTION("\"name\":\"g\"", 1, 3) "," FUNCTION("\"rest\":{\"functions\":9}", 2, 20) "]}";
    const char *condition = "function:g.L1D.misses>+2";
    struct c2_error err;
    bool failed;
    put(path_a, "p", "teach", 1, a);
    put(path_b, "p", "teach", 1, b);
    char *text = diff(C2_OK, &failed, &condition, 1, &err);
    assert_true(failed);
    assert_non_null(strstr(text, "function g in (no module) (only in B)\n"));
    assert_non_null(strstr(text, "  L1D    misses    6  20     +14  +233.3 %\n"));
    assert_non_null(strstr(text, "alone lists them: 1 function (--json-full"));
    free(text);
}

static void files_that_are_no_reports(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"", "is no JSON: line 1"},
        {"{\"format\":", "is no JSON"},
        {"[]", "is no report of c2emu"},
        {"{\"format\":\"other\"}", "is no report of c2emu"},
        {"{\"format\":\"c2emu-report\",\"version\":2}", "has another version than 1"},
        {"{\"format\":\"c2emu-report\",\"version\":1}", "it was written with --no-sim"},
    };
    struct c2_error err;
    bool failed;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reset();
        FILE *to = fopen(path_b, "w");
        fputs(rows[i].text, to);
        fclose(to);
        free(diff(C2_ERR_FORMAT, &failed, NULL, 0, &err));
        assert_non_null(strstr(err.text, path_b));
        assert_non_null(strstr(err.text, rows[i].says));
    }
    assert_int_equal(C2_ERR_NOT_FOUND, report_diff(&failed, stdout, 0, "/nowhere/a.json", path_b, true, NULL, 0, &err));
    assert_non_null(strstr(err.text, "/nowhere/a.json cannot be opened: No such file"));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *condition = "L2.misses>+4";
    struct c2_error err;
    bool failed;
    uint64_t tries = 0;
    reset();
    FILE *to = fopen("/dev/null", "w");
    for (enum c2_status status = C2_ERR_NO_MEMORY; status != C2_OK;) {
        c2_alloc_fail_from(++tries);
        status = report_diff(&failed, to, 0, path_a, path_b, true, &condition, 1, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY || status == C2_ERR_FORMAT); /* jansson's own */
    }
    assert_true(tries > 50);
    fclose(to);
}

/* 12 functions f0..f11 whose misses grow by 1..12: ten are shown, those that grew most first, and f1 and f0 are not. */
static void ten_of_each_are_shown(void **state)
{
    (void)state;
    char body[2][4096], *text = NULL;
    struct c2_error err;
    bool failed;
    for (unsigned side = 0; side < 2; side++) {
        size_t used = (size_t)snprintf(body[side], sizeof body[side], "\"levels\":[],\"functions\":[");
        for (unsigned i = 0; i < 12; i++)
            used += (size_t)snprintf(
                body[side] + used, sizeof body[side] - used,
                "%s{\"name\":\"f%u\",\"module\":\"m\",\"executed\":1,\"levels\":[{\"name\":\"L1D\","
                "\"misses\":%u}]}",
                i == 0 ? "" : ",", i, 100 + side * (i + 1));
        snprintf(body[side] + used, sizeof body[side] - used, "],\"objects\":[]}");
    }
    put(path_a, "app", "teach", 1, body[0]);
    put(path_b, "app", "teach", 1, body[1]);
    for (unsigned all = 0; all < 2; all++) {
        size_t bytes = 0;
        FILE *to = open_memstream(&text, &bytes);
        assert_int_equal(C2_OK, report_diff(&failed, to, 0, path_a, path_b, all, NULL, 0, &err));
        fclose(to);
        assert_non_null(strstr(text, "function f11 in m\n"));
        assert_non_null(strstr(text, "function f2 in m\n"));
        assert_int_equal(all, !!strstr(text, "function f1 in m\n"));
        assert_int_equal(!all, !!strstr(text, "\n2 more functions differ (--all shows them)\n"));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_text),
        cmocka_unit_test(ten_of_each_are_shown),
        cmocka_unit_test(machines_and_pages_that_differ),
        cmocka_unit_test(clocks_that_differ),
        cmocka_unit_test(conditions),
        cmocka_unit_test(conditions_that_are_wrong),
        cmocka_unit_test(lists_that_end),
        cmocka_unit_test(what_one_report_alone_lists),
        cmocka_unit_test(a_whole_list_knows_what_is_missing),
        cmocka_unit_test(files_that_are_no_reports),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
