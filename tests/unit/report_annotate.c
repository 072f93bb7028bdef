/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Callgrind files made by hand, with everything that the format allows: beside their source to the letter, and what is
 * wrong with others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "report/report.h"

static char directory[] = "/tmp/c2-annotate-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
}

static int prepare(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return 1;
    put("main.c", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\nthirteen\nfourteen\n"
                  "fifteen\n");
    put("inline.h", "first\nsecond"); /* its last line has no end */
    return 0;
}

static int clean(void **state)
{
    (void)state;
    static const char *const names[] = {"main.c", "inline.h", "cg"};
    for (size_t i = 0; i < 3; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    return rmdir(directory);
}

static char *annotate(enum c2_status expect, const char *text, const char *const *events, size_t count, bool code,
                      struct c2_error *err)
{
    char path[256], *out = NULL;
    const char *directories[] = {directory};
    size_t bytes = 0;
    put("cg", text);
    snprintf(path, sizeof path, "%s/cg", directory);
    const struct report_annotation request = {path, events, count, directories, 1, code, 0};
    FILE *to = open_memstream(&out, &bytes);
    enum c2_status status = report_annotate(to, &request, err);
    fclose(to);
    if (status != expect)
        fail_msg("status %d: %s", status, err->text);
    for (char *at; (at = strstr(out, directory));)
        memmove(at, at + strlen(directory), strlen(at + strlen(directory)) + 1);
    return out;
}

/* main: line 2 has 10 + 5 (two instructions), inline.h:2 in it 20, line 14 30, calls are not counted; lost.c 25 in code
 * of another file; 10 without a file. Conflicts: 1 + 0, 2, 0, 4, 3: 10 of 10. */
static const char sample[] =
    "# callgrind format\nversion: 1\ncreator: hand\ncmd: ./app 1\n\npositions: instr line\n"
    "event: Ir : Instructions\nevent: spent = 8 conflict.L1D + 28 conflict.L2 : Cycles\nevents: Ir conflict.L1D "
    "conflict.L2\nsummary: 100 0 10\n\n"
    "ob=(1) /bin/app\nfl=(1) src/main.c\nfn=(1) main\n"
    "0x10 2 10 0 1\n+4 * 5\n"
    "fi=(2) src/inline.h\n+2 2 20 0 2\nfe=(1)\n"
    "cob=(2) /lib/lost.so\ncfi=(3) lost.c\ncfn=(2) lost\ncalls=3 0x999 7\n* 14 1000 1000 1000\n"
    "jcnd=1 2 0x10 2\n0x20 3\n"
    "0x30 14 30\n"
    "ob=(2)\nfl=(3)\nfn=(2)\n0x999 7 25 0 4\n"
    "fl=???\nfn=bare\n-9 0 10 0 3\n\ntotals: 100 0 10\n";

static void source_with_what_costs_most(void **state)
{
    (void)state;
    struct c2_error err;
    char *text = annotate(C2_OK, sample, NULL, 0, false, &err);
    assert_string_equal("command  ./app 1\n"
                        "total    10 conflict.L2 (100.0 %)\n"
                        "\n"
                        "/inline.h: 2 conflict.L2 (20.0 %)\n"
                        "\n"
                        "conflict.L2    share    line\n"
                        "                           1  first\n"
                        "          2   20.0 %       2  second\n"
                        "\n"
                        "/main.c: 1 conflict.L2 (10.0 %)\n"
                        "\n"
                        "conflict.L2    share    line\n"
                        "                           1  one\n"
                        "          1   10.0 %       2  two\n"
                        "                           3  three\n"
                        "                           4  four\n"
                        "                           5  five\n"
                        "                           6  six\n"
                        "                           7  seven\n"
                        "\n"
                        "left out: 1 file without a line to show, and code without line information: 7 conflict.L2 "
                        "(70.0 %); lost.c (looked at lost.c, /lost.c)\n",
                        text);
    free(text);
}

/* Lines 2 and 14 are further apart than two contexts of 5 lines: 8 is left out. */
/* 22 columns of counts and 8 of the number leave 50 of 80; a tab goes to column 32, two bytes are one letter. */
static void lines_of_a_screen(void **state)
{
    static const char fits[] = "12345678901234567890123456789012345678901234567890",
                      cut[] = "12345678901234567890123456789012345678901234567...",
                      after_tab[] = "\t123456789012345678901234567890123456789012345...",
                      letters[] = "\xc3\xa4\xc3\xb6\xc3\xbc"
                                  "45678901234567890123456789012345678901234567890";
    char path[256], source[1024], *text = NULL;
    const char *directories[] = {directory};
    struct c2_error err;
    size_t bytes;
    (void)state;
    snprintf(source, sizeof source, "%s\n%s1\n\t%s\n%s\n", fits, fits, fits, letters);
    put("inline.h", source);
    put("cg", sample);
    snprintf(path, sizeof path, "%s/cg", directory);
    const struct report_annotation request = {
        .path = path, .directories = directories, .directory_count = 1, .width = 80};
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, report_annotate(to, &request, &err));
    fclose(to);
    const char *const lines[] = {fits, cut, after_tab, letters};
    for (size_t i = 0; i < 4; i++) {
        char line[256];
        snprintf(line, sizeof line, "%zu  %s\n", i + 1, lines[i]);
        if (!strstr(text, line))
            fail_msg("no line %s in %s", line, text);
    }
    free(text);
    put("inline.h", "first\nsecond");
}

static void two_events(void **state)
{
    (void)state;
    const char *const events[] = {"I.r", "conflictL2"}; /* dots do not count */
    struct c2_error err;
    char *text = annotate(C2_OK, sample, events, 2, false, &err);
    assert_non_null(strstr(text, "/main.c: 45 Ir (45.0 %), 1 conflict.L2 (10.0 %)\n"));
    assert_non_null(strstr(text, " Ir    share  conflict.L2    share    line\n"));
    assert_non_null(strstr(text, " 15   15.0 %            1   10.0 %       2  two\n"));
    assert_non_null(strstr(text, "     7  seven\n...\n"));
    assert_null(strstr(text, "eight"));
    assert_non_null(strstr(text, " 30   30.0 %                            14  fourteen\n"));
    assert_non_null(strstr(text, "     15  fifteen\n"));
    free(text);
}

/* Ir 100, a 7, b 20: the dearest by a formula written in this way or that; the first event without a formula, where its
 * terms are 0 or nothing that the file has. Of equal ones the first. */
static void the_costliest_event(void **state)
{
    (void)state;
    static const struct {
        const char *formula, *event;
    } rows[] = {{"event: x = 3 a + b : X\n", "7 a"},
                {"event: x = 2 a + b : X\n", "20 b"},
                {"event: x = 3 * a + 1*b\n", "7 a"},
                {"event: x = 20 a + 7 b + 1 Ir\n", "7 a"},
                {"event: x = a\nevent: y = 9 b\n", "7 a"},
                {"event: x = 5 c + 3\n", "100 Ir"},
                {"event: x =\n", "100 Ir"},
                {"event: b : of b\n", "100 Ir"},
                {"event: x = 0 a + *\n", "100 Ir"},
                {"", "100 Ir"}};
    struct c2_error err;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char file[256], total[64];
        snprintf(file, sizeof file, "%sevents: Ir a b\nfl=inline.h\n1 100 7 20\n", rows[i].formula);
        snprintf(total, sizeof total, "\ntotal    %s (100.0 %%)\n", rows[i].event);
        char *text = annotate(C2_OK, file, NULL, 0, false, &err);
        if (!strstr(text, total))
            fail_msg("%s: %s", rows[i].formula, text);
        free(text);
    }
}

/* A file that has fewer lines than the costs say. */
static void another_source_than_was_compiled(void **state)
{
    (void)state;
    struct c2_error err;
    char *text = annotate(C2_OK, "events: Ir\nfl=inline.h\nfn=f\n1 5\n9 15\n", NULL, 0, false, &err);
    assert_non_null(
        strstr(text, "behind the end of the file, which is not the one that was compiled: 15 Ir (75.0 %)\n"));
    free(text);
}

static void code_without_its_file(void **state)
{
    (void)state;
    struct c2_error err;
    char *text = annotate(C2_OK, sample, NULL, 0, true, &err);
    assert_non_null(strstr(text,
                           "\nlost in /lib/lost.so: 4 conflict.L2 (40.0 %)\nno such file: /lib/lost.so (looked at "
                           "/lib/lost.so, /lost.so)\n\nconflict.L2    share   address\n"
                           "          4   40.0 %       999  (the file has no code there)  # lost.c:7\n"));
    assert_non_null(strstr(text, "\nmain in /bin/app: 3 conflict.L2 (30.0 %)\n"));
    free(text);
}

static void files_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool code;
        const char *says;
    } rows[] = {
        {"", false, "line 0: the end, and no line \"events:\" before it"},
        {"events: Ir\n", false, "line 1: the end, and no costs before it"},
        {"hello world\n", false, "line 1: unknown kind of line"},
        {"{}\n", false, "line 1: unknown kind of line"},
        {"version: 2\nevents: Ir\n", false, "line 1: another version than 1"},
        {"1 2\n", false, "line 1: costs before a line \"events:\""},
        {"events: Ir\n1 2 3\n", false, "line 2: more costs than events"},
        {"events: Ir\n1 x\n", false, "line 2: a cost is no number"},
        {"events: Ir\n1x 2\n", false, "line 2: a position is no number"},
        {"events: Ir\nfn=(1)\n", false, "line 2: a name's number that was not given before"},
        {"events: Ir\nfn=(1 x\n", false, "line 2: a name's number has no end"},
        {"events: Ir\nfoo=1\n", false, "line 2: unknown kind of line"},
        {"events: Ir\n1 5\nevents: Dr\n", false, "line 3: a part with other events"},
        {"positions: bb line\nevents: Ir\n", false, "line 1: positions are neither \"instr\" nor \"line\""},
        {"events: Ir\n1 5\ntotals: 6\n", false, "is cut or altered: its lines have 5 Ir, its totals say 6"},
        {"events: Ir\nsummary: 6\n1 5\n", false, "is cut or altered: its lines have 5 Ir, its totals say 6"},
        {"events: Ir\n1 5\n", true, "has no addresses of instructions"},
        {"positions: instr\nevents: Ir\n1 5\n", false, "has no line numbers"},
    };
    struct c2_error err;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        free(annotate(C2_ERR_FORMAT, rows[i].text, NULL, 0, rows[i].code, &err));
        if (!strstr(err.text, rows[i].says))
            fail_msg("row %zu: %s", i, err.text);
    }
}

/* inline.h has two lines: it has none with counts, whatever its name; main.c is shown. */
static void files_without_a_line_are_left_out(void **state)
{
    (void)state;
    struct c2_error err;
    char *text = annotate(C2_OK, "events: Ir\nfl=src/inline.h\n3 5\nfl=src/main.c\n2 10\nfl=a/no.c\n1 1\n", NULL, 0,
                          false, &err);
    assert_null(strstr(text, "\n/inline.h: "));
    assert_non_null(strstr(text, "\n/main.c: 10 Ir (62.5 %)\n"));
    assert_non_null(
        strstr(text, "\nleft out: 2 files without a line to show: 6 Ir (37.5 %); the first is src/inline.h (looked "
                     "at src/inline.h, /src/inline.h, /inline.h)\n"));
    free(text);
}

static void what_is_not_there(void **state)
{
    (void)state;
    const char *const events[] = {"conflict.L3"};
    struct c2_error err;
    free(annotate(C2_ERR_NOT_FOUND, sample, events, 1, false, &err));
    assert_non_null(strstr(err.text, "no event \"conflict.L3\" (did you mean \"conflict.L2\"?)"));
    char *text = annotate(C2_ERR_NOT_FOUND, "events: Ir\nfl=a/no.c\n1 5\n", NULL, 0, false, &err);
    assert_non_null(strstr(err.text, "none of the source files was found"));
    assert_non_null(strstr(text, "\nleft out: 1 file without a line to show: 5 Ir (100.0 %); a/no.c (looked at a/no.c, "
                                 "/a/no.c, /no.c)\n"));
    free(text);
    free(annotate(C2_ERR_NOT_FOUND, "events: Ir\n1 5\n", NULL, 0, false, &err));
    assert_non_null(strstr(err.text, "nothing has line information"));
}

/* Cut anywhere before its last line of costs it is refused. Nothing but totals comes behind that. */
static void cut_at_every_byte(void **state)
{
    (void)state;
    struct c2_error err;
    const size_t end = (size_t)(strstr(sample, "0 3\n\ntotals") - sample) + 3;
    char text[sizeof sample];
    for (size_t length = 0; length < end; length++) {
        memcpy(text, sample, length);
        text[length] = '\0';
        free(annotate(C2_ERR_FORMAT, text, NULL, 0, false, &err));
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct c2_error err;
    const char *directories[] = {directory};
    char path[256];
    snprintf(path, sizeof path, "%s/cg", directory);
    put("cg", sample);
    FILE *to = fopen("/dev/null", "w");
    for (int code = 0; code < 2; code++) {
        const struct report_annotation request = {path, NULL, 0, directories, 1, code != 0, 0};
        uint64_t tries = 0;
        for (enum c2_status status = C2_ERR_NO_MEMORY; status != C2_OK;) {
            c2_alloc_fail_from(++tries);
            status = report_annotate(to, &request, &err);
            c2_alloc_fail_from(0);
            assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        }
        assert_true(tries > 5);
    }
    fclose(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_with_what_costs_most),
        cmocka_unit_test(lines_of_a_screen),
        cmocka_unit_test(two_events),
        cmocka_unit_test(the_costliest_event),
        cmocka_unit_test(another_source_than_was_compiled),
        cmocka_unit_test(code_without_its_file),
        cmocka_unit_test(files_that_are_wrong),
        cmocka_unit_test(files_without_a_line_are_left_out),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
