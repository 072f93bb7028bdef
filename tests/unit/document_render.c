/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A document made by hand, rendered as text and as JSON to the letter; and that each item is where it says it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "document/document.h"

typedef enum c2_status render(FILE *to, const struct document *d, const char *what, struct c2_error *err);

static enum c2_status render_full(FILE *to, const struct document *d, const char *what, struct c2_error *err)
{
    return doc_render_json(to, d, DOC_FULL, what, err);
}

static enum c2_status render_slim(FILE *to, const struct document *d, const char *what, struct c2_error *err)
{
    return doc_render_json(to, d, DOC_SLIM, what, err);
}

static char *rendered(render *as, const struct document *d)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, as(to, d, "the report", NULL));
    fclose(to);
    return text;
}

static void assert_renders(const struct document *d, const char *as_text, const char *as_json)
{
    char *text = rendered(doc_render_text, d), *json = rendered(render_full, d);
    assert_string_equal(as_text, text);
    assert_string_equal(as_json, json);
    free(text);
    free(json);
}

/* ------------------------------------------------------------------ a whole document */

static void add_animal(struct document *d, enum doc_in in, const char *name, uint64_t legs, uint64_t lame,
                       uint64_t bytes)
{
    doc_group(d, in, NULL);
    doc_string(d, DOC_BOTH, "name", name);
    doc_count(d, DOC_BOTH, "lame", lame);
    doc_count(d, DOC_BOTH, "legs", legs);
    doc_words(d, DOC_TEXT, "story", "%s, of %llu legs", name, (unsigned long long)legs);
    doc_count(d, DOC_JSON, "bytes", bytes);
    doc_close(d);
}

static void add_animals(struct document *d)
{
    static const struct doc_column columns[] = {{.heading = "animal", .key = "name", .form = DOC_LEFT},
                                                {.heading = "legs", .key = "legs"},
                                                {.heading = "lame", .key = "lame", .of = "legs"},
                                                {.heading = "wings", .key = "wings"},
                                                {.heading = "its story", .key = "story", .form = DOC_NAME}};
    doc_section(d, DOC_BOTH, 2);
    doc_table(d, DOC_BOTH, "animals");
    doc_columns(d, columns, 5, 2);
    add_animal(d, DOC_BOTH, "worm", 0, 0, 1);
    add_animal(d, DOC_BOTH, "millipede", 1306, 1, 2);
    add_animal(d, DOC_JSON, "ant", 6, 2, 3);
    add_animal(d, DOC_TEXT, "sphinx", 4, 1, 4);
    doc_close(d);
}

static void add_zoo(struct document *d)
{
    doc_section(d, DOC_BOTH, 1);
    doc_group(d, DOC_BOTH, "zoo");
    doc_note(d, DOC_KEY, "zoo", "%s", "of one room");
    doc_flag(d, DOC_JSON, "open", true);
    doc_table(d, DOC_JSON, "days");
    doc_string(d, DOC_JSON, NULL, "Monday");
    doc_string(d, DOC_JSON, NULL, NULL); /* nothing */
    doc_count(d, DOC_JSON, NULL, 2);
    doc_close(d);
    doc_close(d);
    doc_note(d, DOC_KEY, "", "%s visitors", doc_digits(d, 12345));
}

static void add_all(struct document *d)
{
    doc_section(d, DOC_BOTH, 3);
    doc_count(d, DOC_BOTH, "end", 1); /* in no column: not in the text */
    doc_note(d, DOC_LINE, NULL, "the end");
    add_animals(d);
    doc_section(d, DOC_BOTH, 2); /* of the same place, with nothing to be seen in the text */
    doc_group(d, DOC_JSON, "hidden");
    doc_note(d, DOC_LINE, NULL, "not here");
    doc_close(d);
    add_zoo(d);
}

/* 1 of 1306 is 0.077 %. The order of the text is that of the sections' places, that of the JSON the one of building. */
static void the_whole_document(void **state)
{
    (void)state;
    struct document d;
    doc_begin(&d, DOC_BOTH);
    add_all(&d);
    assert_renders(&d,
                   "zoo         of one room\n"
                   "            12,345 visitors\n"
                   "\n"
                   "  animal      legs    lame  wings  its story\n"
                   "  worm           0       -      -  worm, of 0 legs\n"
                   "  millipede  1,306   0.1 %      -  millipede, of 1306 legs\n"
                   "  sphinx         4  25.0 %      -  sphinx, of 4 legs\n"
                   "\n"
                   "the end\n",
                   "{\n"
                   "  \"end\": 1,\n"
                   "  \"animals\": [\n"
                   "    {\n"
                   "      \"name\": \"worm\",\n"
                   "      \"lame\": 0,\n"
                   "      \"legs\": 0,\n"
                   "      \"bytes\": 1\n"
                   "    },\n"
                   "    {\n"
                   "      \"name\": \"millipede\",\n"
                   "      \"lame\": 1,\n"
                   "      \"legs\": 1306,\n"
                   "      \"bytes\": 2\n"
                   "    },\n"
                   "    {\n"
                   "      \"name\": \"ant\",\n"
                   "      \"lame\": 2,\n"
                   "      \"legs\": 6,\n"
                   "      \"bytes\": 3\n"
                   "    }\n"
                   "  ],\n"
                   "  \"hidden\": {},\n"
                   "  \"zoo\": {\n"
                   "    \"open\": true,\n"
                   "    \"days\": [\n"
                   "      \"Monday\",\n"
                   "      2\n"
                   "    ]\n"
                   "  }\n"
                   "}\n");
    doc_release(&d);
}

/* ------------------------------------------------------------------ where things are */

/* One document for both has each item only where it belongs; what lies in a part of one rendering is in no other. */
static void items_are_where_they_say(void **state)
{
    (void)state;
    static const struct doc_column columns[] = {{.heading = "a", .key = "a"}, {.heading = "b", .key = "b"}};
    struct document d;
    doc_begin(&d, DOC_BOTH);
    doc_section(&d, DOC_BOTH, 0);
    doc_table(&d, DOC_BOTH, "rows");
    doc_columns(&d, columns, 2, 0);
    assert_true(doc_group(&d, DOC_BOTH, NULL));
    doc_count(&d, DOC_TEXT, "a", 1);
    doc_count(&d, DOC_JSON, "b", 2);
    doc_close(&d);
    doc_close(&d);
    assert_true(doc_group(&d, DOC_TEXT, "text"));
    assert_false(doc_group(&d, DOC_JSON, "neither"));
    doc_count(&d, DOC_BOTH, "count", 3);
    doc_note(&d, DOC_LINE, NULL, "unseen");
    doc_say(&d, ", unsaid");
    doc_close(&d);
    doc_note(&d, DOC_LINE, NULL, "seen");
    doc_say(&d, ", %s", "said");
    doc_close(&d);
    assert_renders(&d, "a  b\n1  -\nseen, said\n",
                   "{\n"
                   "  \"rows\": [\n"
                   "    {\n"
                   "      \"b\": 2\n"
                   "    }\n"
                   "  ]\n"
                   "}\n");
    doc_release(&d);
}

/* A document that is wanted as one of the two has nothing of the other, and says so to its builder. */
static void what_is_not_wanted_is_not_kept(void **state)
{
    (void)state;
    struct document text, json;
    doc_begin(&text, DOC_TEXT);
    doc_begin(&json, DOC_JSON);
    add_all(&text);
    add_all(&json);
    doc_section(&text, DOC_BOTH, 9);
    doc_section(&json, DOC_BOTH, 9);
    assert_false(doc_group(&text, DOC_JSON, "group"));
    assert_false(doc_group(&json, DOC_TEXT, "group"));
    char *as_json = rendered(render_full, &text), *as_text = rendered(doc_render_text, &json);
    assert_string_equal("{}\n", as_json);
    assert_string_equal("", as_text);
    free(as_json);
    free(as_text);
    doc_release(&text);
    doc_release(&json);
}

/* Members stand a line each, elements of lists too, with all that they have; each form has its own items. */
static void the_slim_form(void **state)
{
    (void)state;
    struct document d;
    doc_begin(&d, DOC_JSON);
    doc_section(&d, DOC_BOTH, 1);
    doc_flag(&d, DOC_SLIM, "slim", true);
    doc_group(&d, DOC_JSON, "group");
    doc_count(&d, DOC_JSON, "legs", 4);
    doc_string(&d, DOC_FULL, "story", "long");
    doc_close(&d);
    doc_table(&d, DOC_JSON, "animals");
    add_animal(&d, DOC_BOTH, "a \"cat\"\n", 4, 0, 1);
    add_animal(&d, DOC_FULL, "dog", 4, 1, 2);
    doc_group(&d, DOC_SLIM, NULL);
    doc_count(&d, DOC_BOTH, "rest", 1);
    doc_decimal(&d, DOC_BOTH, "mean", 0.1);
    doc_close(&d);
    doc_close(&d);
    doc_table(&d, DOC_JSON, "none");
    doc_close(&d);
    char *slim = rendered(render_slim, &d), *full = rendered(render_full, &d);
    assert_string_equal("{\n  \"slim\": true,\n  \"group\": {\n    \"legs\": 4\n  },\n  \"animals\": [\n"
                        "    {\"name\":\"a \\\"cat\\\"\\n\",\"lame\":0,\"legs\":4,\"bytes\":1},\n"
                        "    {\"rest\":1,\"mean\":0.1}\n  ],\n  \"none\": []\n}\n",
                        slim);
    assert_null(strstr(full, "slim"));
    assert_null(strstr(full, "rest"));
    assert_non_null(strstr(full, "\"dog\""));
    assert_non_null(strstr(full, "\"story\": \"long\""));
    free(slim);
    free(full);
    doc_release(&d);
}

/* ------------------------------------------------------------------ lines and columns */

#define TEN "123456789 "
#define FIFTY TEN TEN TEN TEN TEN

/* A line of a file ends at 100 columns: "k" takes 12, and the last word of 88 ends at 100. */
static void notes_are_broken_between_words(void **state)
{
    (void)state;
    struct document d;
    doc_begin(&d, DOC_TEXT);
    doc_section(&d, DOC_BOTH, 0);
    doc_note(&d, DOC_KEY, "k", FIFTY TEN TEN TEN "12345678 x");
    doc_note(&d, DOC_KEY, "k", FIFTY TEN TEN TEN "12345678  y");
    doc_note(&d, DOC_KEY, "k", "two  blanks stay");
    doc_note(&d, DOC_FLOW, "look:", FIFTY TEN TEN TEN TEN "1234 z");
    doc_note(&d, DOC_ITEM, NULL, FIFTY TEN TEN TEN TEN "12345678 w");
    doc_note(&d, DOC_LINE, NULL, FIFTY TEN TEN TEN TEN "1234567890 v");
    doc_note(&d, DOC_LINE, NULL, "  " FIFTY TEN TEN TEN TEN "12345678 u");
    doc_note(&d, DOC_HEADING, NULL, FIFTY TEN TEN TEN TEN "1234567890 t:");
    char *text = rendered(doc_render_text, &d);
    assert_string_equal("k           " FIFTY TEN TEN TEN "12345678\n            x\n"
                        "k           " FIFTY TEN TEN TEN "12345678\n            y\n"
                        "k           two  blanks stay\n"
                        "look: " FIFTY TEN TEN TEN TEN "1234\n      z\n"
                        "  " FIFTY TEN TEN TEN TEN "12345678\n      w\n" FIFTY TEN TEN TEN TEN "1234567890\n  v\n"
                        "  " FIFTY TEN TEN TEN TEN "12345678\n    u\n" FIFTY TEN TEN TEN TEN "1234567890\n  t:\n",
                        text);
    free(text);
    doc_release(&d);
}

static void add_row(struct document *d, uint64_t bytes, const char *name)
{
    doc_group(d, DOC_TEXT, NULL);
    doc_count(d, DOC_TEXT, "bytes", bytes);
    doc_string(d, DOC_TEXT, "name", name);
    doc_close(d);
}

/* "  size" and two spaces are 10 columns: names have 90. */
static void names_are_shortened_where_the_line_ends(void **state)
{
    (void)state;
    static const struct doc_column columns[] = {{.heading = "size", .key = "bytes", .form = DOC_BYTES},
                                                {.heading = "name", .key = "name", .form = DOC_NAME}};
    struct document d;
    doc_begin(&d, DOC_TEXT);
    doc_section(&d, DOC_BOTH, 0);
    doc_table(&d, DOC_TEXT, NULL);
    doc_columns(&d, columns, 2, 0);
    add_row(&d, 9 * 1024, FIFTY TEN TEN TEN "1234567890");
    add_row(&d, 0, "f(" FIFTY ", " FIFTY ") (long.c:12)");
    add_row(&d, 10230, "short");
    doc_close(&d);
    char *text = rendered(doc_render_text, &d);
    assert_string_equal("    size  name\n"
                        " 9.0 KiB  " FIFTY TEN TEN TEN "1234567890\n"
                        "       -  f(" FIFTY ", ...) (long.c:12)\n"
                        "10.0 KiB  short\n",
                        text);
    free(text);
    doc_release(&d);
}

/* ------------------------------------------------------------------ columns of narrow pages */

/* Six columns of eight and one of names, which is shown with 44: 6 * 10 + 44 = 104. Each column that is left out
 * makes room for ten columns more of the page. */
static void add_wide_table(struct document *d)
{
    static const struct doc_column columns[] = {{.heading = "12345678", .key = "bytes"},
                                                {.heading = "_spare_2", .key = "bytes", .spare = 2},
                                                {.heading = "_spare_3", .key = "bytes", .spare = 3},
                                                {.heading = "_spare_1", .key = "bytes", .spare = 1},
                                                {.heading = "_three_b", .key = "bytes", .spare = 3},
                                                {.heading = "_always_", .key = "bytes"},
                                                {.heading = "name", .key = "name", .form = DOC_NAME}};
    doc_section(d, DOC_BOTH, 0);
    doc_table(d, DOC_TEXT, NULL);
    doc_columns(d, columns, 7, 0);
    add_row(d, 1, "abcdefghij_abcdefghij_abcdefghij_abcdefghij (f.c:1)");
    doc_close(d);
}

static void assert_page(unsigned width, const char *expected)
{
    struct document d;
    doc_begin(&d, DOC_TEXT);
    d.page.width = width;
    add_wide_table(&d);
    char *text = rendered(doc_render_text, &d);
    assert_string_equal(expected, text);
    free(text);
    doc_release(&d);
}

static void spare_columns_go_where_there_is_no_room(void **state)
{
    (void)state;
    assert_page(111, "12345678  _spare_2  _spare_3  _spare_1  _three_b  _always_  name\n"
                     "       1         1         1         1         1         1  "
                     "abcdefghij_abcdefghij_abcdefghij_abcdefghij (f.c:1)\n");
    assert_page(104, "12345678  _spare_2  _spare_3  _spare_1  _three_b  _always_  name\n"
                     "       1         1         1         1         1         1  "
                     "abcdefghij_abcdef...fghij_abcdefghij (f.c:1)\n");
    assert_page(103, "12345678  _spare_2  _spare_3  _spare_1  _always_  name\n"
                     "       1         1         1         1         1  "
                     "abcdefghij_abcdefghij_abcdefghij_abcdefghij (f.c:1)\n");
    assert_page(80, "12345678  _spare_1  _always_  name\n"
                    "       1         1         1  "
                    "abcdefghij_abcdefghi...cdefghij_abcdefghij (f.c:1)\n");
}

/* Without spare columns texts are narrowed to eight characters, then columns go from the right. */
static void no_row_is_wider_than_the_page(void **state)
{
    static const struct doc_column columns[] = {{.heading = FIFTY, .key = "name", .form = DOC_LEFT},
                                                {.heading = "1_of_thirty_characters________", .key = "bytes"},
                                                {.heading = "2_of_thirty_characters________", .key = "bytes"},
                                                {.heading = "3_of_thirty_characters________", .key = "bytes"}};
    (void)state;
    struct document d;
    doc_begin(&d, DOC_TEXT);
    d.page.width = 80;
    doc_section(&d, DOC_BOTH, 0);
    doc_table(&d, DOC_TEXT, NULL);
    doc_columns(&d, columns, 4, 0);
    add_row(&d, 1, "abcdefgh");
    doc_close(&d);
    char *text = rendered(doc_render_text, &d);
    assert_string_equal("123...9   1_of_thirty_characters________  2_of_thirty_characters________\n"
                        "abcdefgh                               1                               1\n",
                        text);
    free(text);
    doc_release(&d);
}

/* ------------------------------------------------------------------ colours */

/* Headings and labels are bold, a class has its colour, and so has a share of half or more. */
static void a_terminal_has_colours(void **state)
{
    static const struct doc_column columns[] = {{.heading = "cost", .key = "bytes", .of = "all", .strong = 50},
                                                {.heading = "classes", .key = "name", .form = DOC_BAR}};
    (void)state;
    struct document d;
    doc_begin(&d, DOC_TEXT);
    d.page.coloured = true;
    doc_section(&d, DOC_BOTH, 0);
    doc_note(&d, DOC_KEY, "k", "text");
    doc_note(&d, DOC_HEADING, NULL, "rows:");
    doc_table(&d, DOC_TEXT, NULL);
    doc_columns(&d, columns, 2, 1);
    for (unsigned i = 0; i < 2; i++) {
        doc_group(&d, DOC_TEXT, NULL);
        doc_count(&d, DOC_TEXT, "bytes", 50 - i);
        doc_count(&d, DOC_TEXT, "all", 100);
        doc_string(&d, DOC_TEXT, "name", i == 0 ? "..==#tc" : "");
        doc_close(&d);
    }
    doc_close(&d);
    char *text = rendered(doc_render_text, &d);
    assert_string_equal(
        "\033[1mk\033[0m           text\n"
        "\033[1mrows:\033[0m\n"
        " \033[1m  cost  classes\033[0m\n"
        " \033[1m50.0 %\033[0m  \033[34m..\033[0m\033[33m==\033[0m\033[31m#\033[0m\033[36mt\033[0m\033[35mc\033[0m\n"
        " 49.0 %         \n",
        text);
    free(text);
    doc_release(&d);
}

/* ------------------------------------------------------------------ faults */

static enum c2_status build_and_render(FILE *to, render *as, struct c2_error *err)
{
    struct document d;
    doc_begin(&d, DOC_BOTH);
    for (unsigned i = 0; i < 40; i++)
        add_all(&d);
    enum c2_status status = as(to, &d, "the zoo", err);
    doc_release(&d);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    render *const renderers[] = {doc_render_text, render_full, render_slim};
    FILE *to = fopen("/dev/null", "w");
    for (size_t i = 0; i < 3; i++) {
        enum c2_status status = C2_ERR_NO_MEMORY;
        struct c2_error err;
        uint64_t tries = 0;
        while (status != C2_OK) {
            c2_alloc_fail_from(++tries);
            status = build_and_render(to, renderers[i], &err);
            c2_alloc_fail_from(0);
            assert_true(status == C2_OK || strcmp(err.text, "no host memory left for the zoo") == 0);
        }
        assert_true(tries > 4);
    }
    fclose(to);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    render *const renderers[] = {doc_render_text, render_full, render_slim};
    for (size_t i = 0; i < 3; i++) {
        struct c2_error err;
        FILE *full = fopen("/dev/full", "w");
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(C2_ERR_IO, build_and_render(full, renderers[i], &err));
        assert_string_equal("cannot write the zoo", err.text);
        fclose(full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_document),
        cmocka_unit_test(items_are_where_they_say),
        cmocka_unit_test(what_is_not_wanted_is_not_kept),
        cmocka_unit_test(the_slim_form),
        cmocka_unit_test(notes_are_broken_between_words),
        cmocka_unit_test(names_are_shortened_where_the_line_ends),
        cmocka_unit_test(spare_columns_go_where_there_is_no_room),
        cmocka_unit_test(no_row_is_wider_than_the_page),
        cmocka_unit_test(a_terminal_has_colours),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
