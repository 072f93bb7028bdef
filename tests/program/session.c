/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A run through session/ alone, without a command line: session GUEST, the program of guests/conflict.S. It reads three
 * lines of one set of L1D in turn, 100 times; golden/conflict.md derives the counts on the machine `teach`. Runs follow
 * each other in one process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "report/report.h"
#include "session/session.h"

static const char *guest;
static char folder[] = "/tmp/c2emu-session-XXXXXX";

struct seen {
    unsigned reports;
    struct sim_counts counts;
    struct caches_counts l1d, l1i, l2, l3;
    uint64_t instructions; /* of the whole run */
};

static void note_report(void *self, const struct report_run *run)
{
    struct seen *seen = self;
    assert_true(run->simulated);
    assert_int_equal(run->sim.machine->level_count, 3);
    seen->reports++;
    seen->counts = *run->sim.counts;
    seen->l1d = *run->sim.levels[0];
    seen->l2 = *run->sim.levels[1];
    seen->l3 = *run->sim.levels[2];
    seen->l1i = *run->sim.l1i;
    seen->instructions = run->instructions;
}

/* The guest on `teach`, with no text. */
static struct session_options options_of_guest(struct seen *seen)
{
    static const char *command[] = {NULL, NULL}, *machines[] = {"teach"};
    struct session_options options;
    command[0] = guest;
    session_options_init(&options);
    options.command = command;
    options.machines = machines;
    options.machine_count = 1;
    options.quiet = true;
    options.reported = note_report;
    options.reported_self = seen;
    *seen = (struct seen){.reports = 0};
    return options;
}

static char *path_in_folder(char out[256], const char *name)
{
    snprintf(out, 256, "%s/%s", folder, name);
    return out;
}

static void assert_whole_run(const struct seen *seen)
{
    assert_int_equal(seen->reports, 1);
    assert_int_equal(seen->instructions, 505);
    assert_int_equal(seen->counts.instructions, 505);
    assert_int_equal(seen->counts.reads, 300);
    assert_int_equal(seen->counts.writes, 0);
    assert_int_equal(seen->l1d.accesses, 300);
    assert_int_equal(seen->l1d.misses, 300);
    assert_int_equal(seen->l1d.cold, 3);
    assert_int_equal(seen->l1d.conflict, 297);
    assert_int_equal(seen->l1i.accesses, 1);
    assert_int_equal(seen->l1i.misses, 1);
    assert_int_equal(seen->l2.accesses, 301);
    assert_int_equal(seen->l2.misses, 4);
    assert_int_equal(seen->l3.misses, 4);
}

static void counts_are_those_of_the_program(void **state)
{
    struct seen seen;
    const struct session_options options = options_of_guest(&seen);
    (void)state;
    assert_int_equal(session_run(&options, environ), 0);
    assert_whole_run(&seen);
}

/* Four ways hold the three lines of the set. */
static void machines_have_the_keys_that_are_set(void **state)
{
    static const char *overrides[] = {"L1D.ways=4", "L1D.size=4K"};
    struct seen seen;
    struct session_options options = options_of_guest(&seen);
    (void)state;
    options.overrides = overrides;
    options.override_count = 2;
    assert_int_equal(session_run(&options, environ), 0);
    assert_int_equal(seen.l1d.accesses, 300);
    assert_int_equal(seen.l1d.misses, 3);
    assert_int_equal(seen.l1d.cold, 3);
    assert_int_equal(seen.l2.accesses, 4);
}

/* 2 instructions before the loop and 20 rounds of 5 come before the checkpoint, with 60 reads. caches: what led to it
 * is in the file, too. */
static void restore_behind_20_rounds(struct seen *seen, bool caches)
{
    char path[256];
    struct session_options options = options_of_guest(seen);
    options.checkpoint = path_in_folder(path, "at102");
    options.checkpoint_at = 102;
    options.checkpoint_caches = caches;
    assert_int_equal(session_run(&options, environ), 0);
    assert_whole_run(seen);
    options = options_of_guest(seen);
    options.command = NULL;
    options.restored = path;
    assert_int_equal(session_run(&options, environ), 0);
    unlink(path);
}

static void a_restored_run_is_the_rest_of_it(void **state)
{
    struct seen seen;
    (void)state;
    restore_behind_20_rounds(&seen, false);
    assert_int_equal(seen.reports, 1);
    assert_int_equal(seen.instructions, 505);
    assert_int_equal(seen.counts.instructions, 505 - 102);
    assert_int_equal(seen.counts.reads, 240);
    assert_int_equal(seen.l1d.misses, 240);
    assert_int_equal(seen.l1d.cold, 3);
    assert_int_equal(seen.l1d.conflict, 237);
    assert_int_equal(seen.l1i.misses, 1);
    assert_int_equal(seen.l2.misses, 4);
}

static void a_run_restored_with_its_caches_is_whole(void **state)
{
    struct seen seen;
    (void)state;
    restore_behind_20_rounds(&seen, true);
    assert_whole_run(&seen);
}

static void a_recording_has_the_same_counts(void **state)
{
    char path[256];
    struct c2_error err = {0};
    int exit_status = -1;
    struct seen seen;
    struct session_options options = options_of_guest(&seen);
    (void)state;
    options.record = path_in_folder(path, "recording");
    assert_int_equal(session_run(&options, environ), 0);
    assert_whole_run(&seen);
    options = options_of_guest(&seen);
    options.command = NULL;
    options.recording = path;
    assert_int_equal(session_replay(&options, &exit_status, &err), C2_OK);
    assert_int_equal(exit_status, 0);
    assert_whole_run(&seen);
    unlink(path);
}

static void what_cannot_run_reports_nothing(void **state)
{
    static const char *const command[] = {"/nowhere/at/all", NULL};
    static const char *machines[] = {"no such machine"};
    struct seen seen;
    struct session_options options = options_of_guest(&seen);
    (void)state;
    options.command = command;
    assert_int_equal(session_run(&options, environ), SESSION_EXIT_NOT_FOUND);
    options = options_of_guest(&seen);
    options.machines = machines;
    assert_int_equal(session_run(&options, environ), SESSION_EXIT_FAILED);
    assert_int_equal(seen.reports, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_program),  cmocka_unit_test(machines_have_the_keys_that_are_set),
        cmocka_unit_test(a_restored_run_is_the_rest_of_it), cmocka_unit_test(a_run_restored_with_its_caches_is_whole),
        cmocka_unit_test(a_recording_has_the_same_counts),  cmocka_unit_test(what_cannot_run_reports_nothing),
        cmocka_unit_test(counts_are_those_of_the_program),
    };
    if (argc != 2 || !mkdtemp(folder)) {
        fprintf(stderr, "session GUEST\n");
        return 2;
    }
    guest = argv[1];
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
