/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Damaged files that `diff` and `annotate` read: reports and callgrind files. (damage.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "report/callgrind_priv.h"
#include "report/diff_priv.h"
#include "unit/damage.h"

/* Two levels, functions of one name, an object with a site, counts that are not listed, and the keys of a condition. */
static const char report[] =
    "{\"format\":\"c2emu-report\",\"version\":1,\"command\":[\"./old\",\"7\"],\"machine\":{\"name\":\"teach\"},"
    "\"pages\":{\"policy\":\"sequential\",\"seed\":1,\"huge\":\"off\"},\"run\":{\"instructions\":1000,\"measured\":"
    "{\"refs\":100}},\"levels\":[{\"name\":\"L1D\",\"misses\":50,\"conflict\":30},{\"name\":\"L2\",\"misses\":20}],"
    "\"functions\":[{\"name\":\"f\",\"module\":\"old\",\"executed\":10,\"levels\":[{\"name\":\"L1D\",\"misses\":40}]},"
    "{\"name\":\"f\",\"module\":\"libc.so.6\",\"executed\":5,\"levels\":[]},{\"rest\":3,\"levels\":[{\"name\":\"L1D\","
    "\"misses\":9}]}],\"objects\":[{\"name\":\"malloc#1\",\"kind\":\"heap\",\"base\":\"0x1000\",\"size\":64,\"refs\":7,"
    "\"site\":{\"pc\":\"0x9\",\"file\":\"/x/app.c\",\"line\":4},\"levels\":[{\"name\":\"L2\",\"misses\":1}]}]}";

/* Names that come again, inlined code, calls, jumps, distances, an event that is computed, both lists of costs. */
static const char callgrind[] =
    "# callgrind format\nversion: 1\ncreator: hand\ncmd: ./app 1\n\npositions: instr line\nevent: Ir : Instructions\n"
    "event: spent = 8 conflict.L1D + 28 conflict.L2 : Cycles\nevents: Ir conflict.L1D conflict.L2\nsummary: 65 0 3\n\n"
    "ob=(1) /bin/app\nfl=(1) src/main.c\nfn=(1) main\n0x10 2 10 0 1\n+4 * 5\nfi=(2) src/inline.h\n+2 2 20 0 2\nfe=(1)\n"
    "cob=(2) /lib/lost.so\ncfi=(3) lost.c\ncfn=(2) lost\ncalls=3 0x999 7\n* 14 1000 1000 1000\njcnd=1 2 0x10 2\n"
    "0x20 3\nfn=(3) f\n-8 +1 30\ntotals: 65 0 3\n";

struct pair {
    struct damage_file whole, damaged;
    unsigned long read;
};

/* The same file twice has no counter that differs, and a condition that nothing changes holds or is not understood. */
static void compare(const struct pair *pair, const char *a, const char *b)
{
    struct report_comparison comparison;
    struct c2_error err = {0};
    const enum c2_status status = report_comparison_read(&comparison, a, b, &err);
    if (status != C2_OK) {
        assert_int_equal(status, C2_ERR_FORMAT);
        assert_non_null(strstr(err.text, pair->damaged.path));
    }
    for (uint32_t i = 0; status == C2_OK && a == b && i < comparison.count; i++)
        assert_int_equal(comparison.entries[i].value[0], comparison.entries[i].value[1]);
    if (status == C2_OK) {
        struct report_entry entry;
        bool holds;
        const enum c2_status of = report_condition(&holds, &entry, &comparison, "L1D.misses>+0", &err);
        assert_true(of == C2_OK ? a != b || !holds : of == C2_ERR_INVALID || of == C2_ERR_NOT_FOUND);
    }
    report_comparison_release(&comparison);
}

static void try_report(char *bytes, size_t count, void *context)
{
    struct pair *pair = context;
    assert_true(damage_file_put(&pair->damaged, bytes, count));
    compare(pair, pair->whole.path, pair->damaged.path);
    compare(pair, pair->damaged.path, pair->damaged.path);
}

/* What was read adds up: no count is there that no line has. */
static void try_callgrind(char *bytes, size_t count, void *context)
{
    struct pair *pair = context;
    struct report_callgrind file;
    struct c2_error err = {0};
    assert_true(damage_file_put(&pair->damaged, bytes, count));
    const enum c2_status status = report_callgrind_read(&file, pair->damaged.path, &err);
    if (status != C2_OK) {
        assert_int_equal(status, C2_ERR_FORMAT);
        assert_non_null(strstr(err.text, pair->damaged.path));
    }
    pair->read += status == C2_OK;
    for (size_t event = 0; status == C2_OK && event < file.event_count; event++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < file.cost_count; i++)
            sum += file.costs[i].values[event];
        assert_true(sum == file.totals[event]);
    }
    report_callgrind_release(&file);
}

static int make_pair(void **state)
{
    static struct pair pair;
    *state = &pair;
    return damage_file_make(&pair.whole, ".whole") && damage_file_make(&pair.damaged, ".json") &&
                   damage_file_put(&pair.whole, report, sizeof report - 1)
               ? 0
               : -1;
}

static int remove_pair(void **state)
{
    struct pair *pair = *state;
    damage_file_remove(&pair->whole);
    damage_file_remove(&pair->damaged);
    return 0;
}

static void damaged_reports(void **state)
{
    damage_cut(report, sizeof report - 1, try_report, *state);
    damage_at_random(report, sizeof report - 1, damage_inputs(10000), try_report, *state);
}

static void damaged_callgrind_files(void **state)
{
    struct pair *pair = *state;
    damage_cut(callgrind, sizeof callgrind - 1, try_callgrind, pair);
    assert_int_not_equal(pair->read, 0);
    damage_at_random(callgrind, sizeof callgrind - 1, damage_inputs(10000), try_callgrind, pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_reports), cmocka_unit_test(damaged_callgrind_files)};
    return cmocka_run_group_tests(tests, make_pair, remove_pair);
}
