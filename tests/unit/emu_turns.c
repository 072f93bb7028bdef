/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Turns of real processes of the host: each writes its letter on a board that all share when it has the turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/turns_priv.h"

enum { SEATS = 256, MOST = 8 };

static struct emu_turns *turns;
static uint64_t now; /* guest time, as a process has heard */
static struct run_list {
    uint32_t count;
    char text[200];
    enum turns_news news[MOST]; /* the last that each was told */
    uint64_t now[MOST];
} * run_list;
static pid_t children[MOST];
static unsigned child_count;

static int setup(void **state)
{
    (void)state;
    run_list = mmap(NULL, sizeof *run_list, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    child_count = 0;
    now = 0;
    alarm(60); /* a turn that is lost */
    return run_list == MAP_FAILED || emu_turns_create(&turns, 1000, NULL) != C2_OK;
}

static int teardown(void **state)
{
    (void)state;
    emu_turns_destroy(turns);
    return munmap(run_list, sizeof *run_list);
}

/* ------------------------------------------------------------------ a process: P, or a child A, B ... */

static char self = 'P';

static void note(void) { run_list->text[run_list->count++] = self; }

static enum turns_news pass(struct turns_state state)
{
    const enum turns_news news = turns_pass(turns, &state, &now);
    run_list->news[self & 7] = news;
    run_list->now[self & 7] = now;
    return news;
}

static const struct turns_state busy = {.ready = true, .moved = true, .deadline = UINT64_MAX};

/* Works, and gives its turn on, so often. */
static void work(unsigned times)
{
    for (; times > 0; times--) {
        note();
        pass(busy);
    }
}

/* The next letter's: it does that when it gets its first turn, and leaves. */
static pid_t start(void (*body)(void))
{
    uint32_t residency;
    assert_true(turns_add(turns, &residency));
    const pid_t host = fork();
    assert_true(host >= 0);
    if (host == 0) {
        self = (char)('A' + child_count);
        if (turns_begin(turns, residency, 1001 + child_count, &now) == TURNS_GO) {
            body();
            if (!emu_turns_failed(turns))
                emu_turns_leave(turns, now);
        }
        _exit(0);
    }
    turns_made(turns, residency, 1001 + child_count, host);
    return children[child_count++] = host;
}

/* The first process gives its turn on until it is the only one, of a few. */
static void alone(void)
{
    for (unsigned i = 0; turns_shared(turns); i++) {
        assert_in_range(i, 0, 20);
        pass(busy);
    }
}

static void all_end(const char *expected)
{
    for (unsigned i = 0; i < child_count; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("child %u: status %x", i, status);
    }
    assert_string_equal(run_list->text, expected);
}

/* ------------------------------------------------------------------ order */

static void works_once(void) { work(1); }
static void works_thrice(void) { work(3); }

static void round_and_round(void **state)
{
    (void)state;
    assert_false(turns_shared(turns));
    start(works_thrice);
    start(works_thrice);
    start(works_thrice);
    assert_true(turns_shared(turns));
    assert_string_equal(run_list->text, ""); /* none begins before it is its turn */
    work(3);
    alone();
    all_end("PABCPABCPABC");
    assert_false(turns_shared(turns));
}

/* One that has ended is passed over; the next has its place in the round. */
static void one_ends(void **state)
{
    (void)state;
    start(works_once);
    start(works_thrice);
    work(2); /* A is gone when its turn comes back */
    start(works_once);
    work(1);
    alone();
    all_end("PABPBPCB");
}

static void its_own_turn(void **state)
{
    (void)state;
    now = 7;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pass(busy), TURNS_GO);
    assert_int_equal(now, 7);
}

/* The turn goes on as a process leaves, also from the first to the last. */
static void tells_time(void)
{
    now = 500;
    note();
    pass(busy);
    note();
}

static void the_first_leaves(void **state)
{
    (void)state;
    start(tells_time);
    start(works_once);
    pass(busy);
    note();
    emu_turns_leave(turns, 900);
    all_end("ABPA");
    assert_int_equal(run_list->now['A' & 7], 900); /* with the turn comes the time of its giver */
}

/* ------------------------------------------------------------------ waiting */

/* Waits for what others do, or for a moment. */
static void wait_for(uint64_t events, uint64_t deadline)
{
    struct turns_state state = {.asleep = true, .moved = true, .events = events, .deadline = deadline};
    note();
    do {
        pass(state);
        state.moved = false;
    } while (deadline != UINT64_MAX && now < deadline);
    note();
}

static void waits_for_event(void) { wait_for(5, UINT64_MAX); }

static void has_seen_five(void)
{
    struct turns_state state = busy;
    for (unsigned i = 0; i < 4; i++) {
        state.events = i < 2 ? 5 : 6;
        note();
        pass(state);
    }
}

static void asleep_is_passed_over(void **state)
{
    (void)state;
    struct turns_state mine = busy;
    start(waits_for_event);
    start(has_seen_five);
    for (unsigned i = 0; i < 4; i++) {
        mine.events = i < 2 ? 5 : 6;
        note();
        pass(mine);
    }
    alone();
    all_end("PABPBPABPB");
}

static void waits_for_event_or_250(void) { wait_for(5, 250); }

static void quiet_while_others_sleep(void **state)
{
    (void)state;
    struct turns_state mine = busy;
    assert_int_equal(turns_quiet_until(turns, 5, 0), UINT64_MAX); /* nobody is there */
    start(waits_for_event);
    assert_int_equal(turns_quiet_until(turns, 5, 0), 0); /* A has not had its first turn */
    mine.events = 5;
    note();
    pass(mine);
    assert_int_equal(turns_quiet_until(turns, 5, 0), UINT64_MAX); /* A sleeps since */
    assert_int_equal(turns_quiet_until(turns, 6, 0), 0);
    start(waits_for_event_or_250);
    note();
    pass(mine);
    assert_int_equal(turns_quiet_until(turns, 5, 0), 250); /* B waits for a time */
    now = 300;
    alone();
    all_end("PAPBAB");
}

/* Waits for descriptors: looks at them when it has the turn, and has waited long enough at the third time. */
static void polls_three_times(void)
{
    struct turns_state state = {.asleep = true, .polls = true, .moved = true, .deadline = UINT64_MAX};
    note();
    pass(state);
    state.calls = 4;
    state.moved = false;
    note();
    pass(state);
    note();
}

/* One that waits for descriptors gets the turn when another one has made a system call, and when none does anything. */
static void a_call_wakes_one_that_polls(void **state)
{
    (void)state;
    struct turns_state mine = busy;
    start(polls_three_times);
    pass(mine); /* A looks: P has the turn again */
    note();
    assert_int_equal(turns_quiet_until(turns, 0, 0), UINT64_MAX);
    pass(mine); /* nothing was done */
    note();
    assert_int_equal(turns_quiet_until(turns, 0, 4), 0);
    mine.calls = 4;
    pass(mine); /* A looks */
    pass(mine);
    note();
    mine.ready = mine.moved = false;
    pass(mine);
    alone();
    all_end("APPAPA");
}

static void sleeps_to_250(void) { wait_for(0, 250); }

static void a_moment_wakes(void **state)
{
    (void)state;
    start(sleeps_to_250);
    for (now = 100; now < 300; now += 60) { /* given on at 100, 160, 220, and 280, which is behind the moment */
        note();
        pass(busy);
    }
    alone();
    all_end("PAPPPA");
}

static void sleeps_to_300(void) { wait_for(0, 300); }
static void sleeps_to_200(void) { wait_for(0, 200); }

/* None does anything: time goes on to the first moment, of equal ones to that of the next process. */
static void time_goes_on(void **state)
{
    (void)state;
    now = 100;
    start(sleeps_to_300);
    start(sleeps_to_200);
    start(sleeps_to_200);
    start(sleeps_to_300);
    wait_for(0, 250);
    emu_turns_leave(turns, now);
    all_end("PABCDBCPAD");
    static const uint64_t moments[] = {250, 300, 200, 200, 300};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(run_list->now["PABCD"[i] & 7], moments[i]);
}

static void waits_for_ever(void)
{
    note();
    while (pass((struct turns_state){.asleep = true, .deadline = UINT64_MAX}) == TURNS_GO)
        continue;
}

static void nobody_goes_on(void **state)
{
    (void)state;
    enum turns_news news;
    start(waits_for_ever);
    start(waits_for_ever);
    while ((news = pass((struct turns_state){.asleep = true, .deadline = UINT64_MAX})) == TURNS_GO)
        continue;
    assert_int_equal(news, TURNS_STUCK);
    assert_true(emu_turns_failed(turns));
    all_end("AB");
    assert_int_equal(run_list->news['A' & 7], TURNS_STUCK);
    assert_int_equal(run_list->news['B' & 7], TURNS_STUCK);
    emu_turns_fail(turns); /* once failed, it stays what it is */
    assert_int_equal(pass(busy), TURNS_STUCK);
}

/* It has to look outside until the host's time has come to its moment, never longer at a time, and guest time is that
 * then. */
static void waits_outside(void)
{
    enum turns_news news;
    unsigned looks = 0;
    note();
    while ((news = pass((struct turns_state){.outside = true, .deadline = 3000000})) != TURNS_GO || now == 0)
        looks += news == TURNS_OUTSIDE && turns_look_ns(turns) > 0 && turns_look_ns(turns) <= 3000000;
    if (looks > 0 && now == 3000000)
        note();
}

static void what_comes_from_outside(void **state)
{
    (void)state;
    start(waits_outside);
    while (turns_shared(turns))
        assert_int_not_equal(pass((struct turns_state){.asleep = true, .deadline = UINT64_MAX}), TURNS_OUTSIDE);
    all_end("AA");
}

/* ------------------------------------------------------------------ failures */

static void fails(void) { emu_turns_fail(turns); }

static void one_fails_for_all(void **state)
{
    (void)state;
    start(waits_for_ever);
    start(fails);
    assert_int_equal(pass(busy), TURNS_BROKEN);
    all_end("A");
    assert_int_equal(run_list->news['A' & 7], TURNS_BROKEN);
}

static void dies(void) { raise(SIGKILL); }

/* It has the turn, and is killed: the others notice, and one of them says so. */
static void the_holder_vanishes(void **state)
{
    (void)state;
    int status, heard[2];
    char said[200] = "";
    assert_int_equal(pipe(heard), 0);
    const int old = dup(2);
    fflush(stderr);
    dup2(heard[1], 2);
    start(waits_for_ever);
    const pid_t dead = start(dies);
    assert_int_equal(pass(busy), TURNS_BROKEN);
    fflush(stderr);
    assert_int_equal(waitpid(dead, &status, 0), dead);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    child_count = 1;
    all_end("A");
    dup2(old, 2);
    close(heard[1]);
    assert_true(read(heard[0], said, sizeof said - 1) > 0);
    close(heard[0]);
    close(old);
    char expected[200];
    snprintf(expected, sizeof expected,
             "c2emu: process 1002 of the program vanished (the host's %ld, killed from outside?): the run ends\n",
             (long)dead);
    assert_string_equal(said, expected);
    assert_int_equal(run_list->news['A' & 7], TURNS_BROKEN);
}

static void seats_are_used_again(void **state)
{
    (void)state;
    uint32_t residency, last = 0;
    for (uint32_t i = 1; i < SEATS; i++) {
        assert_true(turns_add(turns, &residency));
        assert_int_equal(residency, i);
    }
    assert_false(turns_add(turns, &last));
    turns_cancel(turns, 77);
    assert_true(turns_add(turns, &residency));
    assert_int_equal(residency, 77);
    for (uint32_t i = 1; i < SEATS; i++)
        turns_cancel(turns, i);
    assert_false(turns_shared(turns));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(round_and_round),
        TEST(one_ends),
        TEST(its_own_turn),
        TEST(the_first_leaves),
        TEST(a_moment_wakes),
        TEST(asleep_is_passed_over),
        TEST(quiet_while_others_sleep),
        TEST(a_call_wakes_one_that_polls),
        TEST(time_goes_on),
        TEST(nobody_goes_on),
        TEST(what_comes_from_outside),
        TEST(one_fails_for_all),
        TEST(the_holder_vanishes),
        TEST(seats_are_used_again),
    };
    return cmocka_run_group_tests_name("emu_turns", tests, NULL, NULL);
}
