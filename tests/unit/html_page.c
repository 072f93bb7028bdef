/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pages: what of a report goes there, with sums that residency whole; nothing of it is a tag; damaged reports; want of
 * memory. What browsers make of pages: tests/program/html.py. C2_FUZZ_INPUTS=1000000 is the long way, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "damage.h"
#include "html/html_priv.h"

static const char whole[] =
    "{\"format\":\"c2emu-report\",\"version\":1,\"command\":[\"./app\",\"</script><b>&\"],\"machine\":{\"name\":\"m\","
    "\"line\":64,\"levels\":[{\"name\":\"L1D\",\"size\":1024}]},\"run\":{\"phases\":[{\"kind\":\"measure\"}]},"
    "\"levels\":[{\"name\":\"L1D\",\"misses\":50,\"conflict\":9}],\"bandwidth\":{\"paths\":[1,2]},"
    "\"windows\":[{\"phase\":1,\"start\":0,\"measured\":{\"instructions\":5},\"levels\":[{\"name\":\"L1D\","
    "\"misses\":3}]}],\"conflicts\":[{\"level\":\"L1D\",\"count\":9,\"miss\":{\"file\":\"no.c\",\"line\":4,"
    "\"inlined\":[{}]},\"originators\":[{\"count\":4},{\"count\":5}]}],\"contexts\":[{\"name\":\"f'g\","
    "\"function\":\"f\",\"callers\":[\"g\",\"h\"],\"self\":{\"Ir\":7,\"Dr\":1},\"inclusive\":{\"Ir\":9}},"
    "{\"function\":\"g\",\"callers\":[\"h\"],\"self\":{\"Ir\":2}}],\"objects\":[{\"name\":\"a\",\"sites\":[{}],"
    "\"cost\":3,\"levels\":[{\"name\":\"L1D\",\"misses\":3}]}],\"sets\":{\"objects\":[{\"name\":\"a\"}]},"
    "\"receipt\":{\"directory\":\"/nowhere\",\"inputs\":[{}]}}";

static json_t *parse(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    return root;
}

static void assert_json(json_t *is, const char *expected)
{
    json_t *wanted = parse(expected);
    char *text = json_dumps(is, JSON_COMPACT);
    if (!json_equal(is, wanted))
        fail_msg("%s, and not %s", text, expected);
    free(text);
    json_decref(wanted);
}

static void what_is_left(void **state)
{
    json_t *report = parse(whole);
    (void)state;
    assert_true(html_select(report));
    assert_null(json_object_get(report, "bandwidth"));
    assert_json(json_object_get(report, "run"), "{}");
    assert_json(json_object_get(report, "receipt"), "{\"directory\":\"/nowhere\"}");
    assert_json(json_object_get(report, "callers"), "[\"g\",\"h\"]");
    assert_json(json_object_get(report, "contexts"), "[{\"function\":\"f\",\"callers\":[0,1],\"self\":{\"Ir\":7}},"
                                                     "{\"function\":\"g\",\"callers\":[1],\"self\":{\"Ir\":2}}]");
    assert_json(json_object_get(report, "windows"),
                "{\"levels\":[{\"name\":\"L1D\",\"accesses\":[0],\"misses\":[3],\"cold\":[0],\"capacity\":[0],"
                "\"conflict\":[0],\"coherence\":[0]}],\"start\":[0],\"instructions\":[5]}");
    json_decref(report);
}

/* 350 objects of cost 1, 2, 3 ..., and a rest of two more: the first 300 stay, 52 are the rest. */
static void lists_are_added_up(void **state)
{
    json_t *report = parse("{\"objects\":[]}"), *objects = json_object_get(report, "objects");
    json_int_t cost = 100, misses = 10;
    (void)state;
    for (json_int_t i = 1; i <= 350; i++) {
        json_array_append_new(objects, json_pack("{s:I,s:[{s:s,s:I}]}", "cost", i, "levels", "name",
                                                 i % 2 ? "L1D" : "L2", "misses", 2 * i));
        cost += i > 300 ? i : 0;
        misses += i > 300 && i % 2 ? 2 * i : 0;
    }
    json_array_append_new(objects, parse("{\"rest\":{\"objects\":2},\"cost\":100,\"levels\":[{\"name\":\"L1D\","
                                         "\"misses\":10}]}"));
    assert_true(html_select(report));
    assert_int_equal(json_array_size(objects), 301);
    const json_t *rest = json_array_get(objects, 300), *level = json_array_get(json_object_get(rest, "levels"), 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(rest, "rest"), "objects")), 52);
    assert_int_equal(json_integer_value(json_object_get(rest, "cost")), cost);
    assert_int_equal(json_integer_value(json_object_get(level, "misses")), misses);
    json_decref(report);
}

/* A thousand windows of two phases, of 900 and 100, become 334 of three or fewer, of one phase each. */
static void windows_are_added_up(void **state)
{
    json_t *report = parse("{\"windows\":[]}"), *windows = json_object_get(report, "windows");
    json_int_t sum = 0;
    (void)state;
    for (json_int_t i = 0; i < 1000; i++)
        json_array_append_new(windows, json_pack("{s:I,s:I,s:{s:I},s:[{s:s,s:I}]}", "phase",
                                                 (json_int_t)(i < 900 ? 1 : 2), "start", 10 * i, "measured",
                                                 "instructions", (json_int_t)10, "levels", "name", "L1D", "misses", i));
    assert_true(html_select(report));
    const json_t *joined = json_object_get(report, "windows"), *start = json_object_get(joined, "start");
    const json_t *misses = json_object_get(json_array_get(json_object_get(joined, "levels"), 0), "misses");
    assert_int_equal(json_array_size(start), 300 + 34);
    assert_int_equal(json_integer_value(json_array_get(start, 300)), 9000);
    for (size_t i = 0; i < json_array_size(misses); i++)
        sum += json_integer_value(json_array_get(misses, i));
    assert_int_equal(sum, 999 * 1000 / 2);
    json_decref(report);
}

/* 70 conflicts of a level and 3 of another: 60 and 3 stay. */
static void conflicts_are_cut(void **state)
{
    json_t *report = parse("{\"conflicts\":[]}"), *conflicts = json_object_get(report, "conflicts");
    (void)state;
    for (int i = 0; i < 73; i++)
        json_array_append_new(conflicts, json_pack("{s:s,s:i}", "level", i < 70 ? "L1D" : "L2", "count", i));
    assert_true(html_select(report));
    assert_int_equal(json_array_size(conflicts), 63);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(conflicts, 59), "count")), 59);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(conflicts, 60), "count")), 70);
    json_decref(report);
}

static enum c2_status write_page(char **out, const char *text, struct c2_error *err)
{
    size_t bytes;
    const struct html_request request = {.report = text, .name = "r.json"};
    FILE *to = open_memstream(out, &bytes);
    enum c2_status status = html_write(to, &request, err);
    fclose(to);
    return status;
}

static void nothing_is_a_tag(void **state)
{
    char *page;
    struct c2_error err;
    (void)state;
    assert_int_equal(write_page(&page, whole, &err), C2_OK);
    assert_non_null(strstr(page, "\\u003c/script\\u003e\\u003cb\\u003e\\u0026"));
    assert_null(strstr(page, "</script><b>"));
    assert_null(strstr(page, "{{"));
    assert_non_null(strstr(page, "Redistribution and use in source"));
    free(page);
}

/* It is a page, or the file is named. */
static void try(char *bytes, size_t count, void *context)
{
    struct c2_error err;
    const struct html_request request = {.report = bytes, .name = "damaged.json"};
    (void)count;
    const enum c2_status status = html_write(context, &request, &err);
    if (status != C2_OK && (status != C2_ERR_FORMAT || !strstr(err.text, "damaged.json")))
        fail_msg("%d: %s, of %s", (int)status, err.text, bytes);
}

static void damaged(void **state)
{
    FILE *nowhere = fopen("/dev/null", "w");
    (void)state;
    assert_non_null(nowhere);
    damage_cut(whole, strlen(whole), try, nowhere);
    damage_at_random(whole, strlen(whole), damage_inputs(3000), try, nowhere);
    fclose(nowhere);
}

static void every_allocation_may_fail(void **state)
{
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    (void)state;
    while (status != C2_OK) {
        struct c2_error err;
        char *page;
        c2_alloc_fail_from(++n);
        status = write_page(&page, whole, &err);
        c2_alloc_fail_from(0);
        free(page);
        /* JSON that is not read for want of memory looks like none */
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY || status == C2_ERR_FORMAT);
    }
    assert_true(n > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left),
        cmocka_unit_test(lists_are_added_up),
        cmocka_unit_test(windows_are_added_up),
        cmocka_unit_test(conflicts_are_cut),
        cmocka_unit_test(nothing_is_a_tag),
        cmocka_unit_test(damaged),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
