/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What --windows keeps and what it writes: as many as are listed, all of them in the file, none of what was dropped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "analyses/windows.h"

struct bench {
    struct caches_machine machine;
    struct analysis *windows;
    struct sim_subscriber subscriber;
    char path[64];
};

static void create(struct bench *bench)
{
    const char *settings[ANALYSES_SETTING_KINDS] = {[ANALYSES_SETTING_windows_csv] = bench->path};
    const char *given[ANALYSES_KINDS] = {[ANALYSIS_windows] = "2k"};
    const struct analyses_setup setup = {.machine = &bench->machine, .given = given, .settings = settings};
    snprintf(bench->path, sizeof bench->path, "/tmp/c2-windows-%d", (int)getpid());
    bench->machine = (struct caches_machine){.line_bytes = 64, .level_count = 1, .levels = {{.name = "L1D"}}};
    assert_int_equal(C2_OK, analysis_windows.create(&bench->windows, &setup, NULL, NULL));
    bench->subscriber = analysis_windows.subscriber(bench->windows);
    assert_int_equal(2000, bench->subscriber.interval_instructions);
}

static const struct analyses_windows_result *result(const struct bench *bench)
{
    return analysis_windows.result(bench->windows);
}

static void notify(struct bench *bench, uint64_t instructions)
{
    const struct sim_interval interval = {.of = {.counts = {.instructions = instructions, .reads = 7}}};
    assert_int_equal(C2_OK, bench->subscriber.interval(bench->windows, &interval, NULL));
}

static void end_phase(struct bench *bench)
{
    const struct sim_window window = {.phase = STREAM_MEASURE};
    assert_int_equal(C2_OK, bench->subscriber.window(bench->windows, &window, NULL));
}

/* The lines behind the head; what stands before `instructions` of the last one is written to last. */
static uint64_t lines(struct bench *bench, char last[64])
{
    char line[1024];
    uint64_t count = 0;
    assert_int_equal(C2_OK, analysis_windows.commit(bench->windows, NULL));
    FILE *file = fopen(bench->path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    const char head[] = "window,phase,start,instructions,refs,reads,writes,modifies,fetches,line_accesses,straddles,"
                        "L1D.accesses,L1D.hits,";
    assert_memory_equal(head, line, strlen(head));
    while (fgets(line, sizeof line, file)) {
        snprintf(last, 64, "%.63s", line);
        count++;
    }
    fclose(file);
    unlink(bench->path);
    analysis_windows.destroy(bench->windows);
    return count;
}

static void the_first_are_listed_all_are_written(void **state)
{
    struct bench bench;
    char last[64], want[64];
    (void)state;
    create(&bench);
    for (uint32_t i = 0; i < ANALYSES_WINDOWS_LISTED + 3; i++)
        notify(&bench, 2000);
    const size_t listed = ((const struct analyses_windows_result *)analysis_windows.result(bench.windows))->listed;
    assert_int_equal(0, listed); /* until the run is over */
    assert_int_equal(ANALYSES_WINDOWS_LISTED + 3, result(&bench)->count);
    assert_int_equal(ANALYSES_WINDOWS_LISTED + 3, lines(&bench, last));
    snprintf(want, sizeof want, "%u,1,%u,2000,0,7,", ANALYSES_WINDOWS_LISTED + 3, 2000 * (ANALYSES_WINDOWS_LISTED + 2));
    assert_memory_equal(want, last, strlen(want));
}

static void phases_are_numbered_and_empty_ones_are_not(void **state)
{
    struct bench bench;
    char last[64];
    (void)state;
    create(&bench);
    notify(&bench, 2000);
    end_phase(&bench);
    end_phase(&bench);
    notify(&bench, 300);
    assert_int_equal(2, lines(&bench, last));
    assert_memory_equal("2,2,2000,300,", last, 13);
}

static void what_is_dropped_is_not_written(void **state)
{
    struct bench bench;
    char last[64];
    (void)state;
    create(&bench);
    notify(&bench, 2000);
    notify(&bench, 2000);
    end_phase(&bench);
    assert_int_equal(C2_OK, bench.subscriber.dropped(bench.windows, NULL));
    assert_int_equal(0, result(&bench)->count);
    notify(&bench, 11);
    assert_int_equal(1, lines(&bench, last));
    assert_memory_equal("1,1,0,11,0,7,", last, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_are_listed_all_are_written),
        cmocka_unit_test(phases_are_numbered_and_empty_ones_are_not),
        cmocka_unit_test(what_is_dropped_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
