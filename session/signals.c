/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * signals: those that end a run from outside.
 *
 * Model
 *   The first of SIGINT, SIGTERM and SIGXCPU interrupts the emulator, and the run reports what was done. A second one
 *   ends the process, but for those that come at once with the first.
 */
#include <signal.h>
#include <time.h>

#include "session/run_priv.h"

static volatile sig_atomic_t caught_signal;
static struct emu *interruptible;

/* timeout(1) sends its signal to the process and to its group: two, of one mind. */
#define ONE_MIND_SECONDS 1
static struct timespec caught_at;

static void on_signal(int signal_number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (caught_signal == 0) {
        caught_signal = signal_number;
        caught_at = now;
        emu_interrupt(interruptible);
    } else if (signal_number != SIGXCPU && now.tv_sec - caught_at.tv_sec > ONE_MIND_SECONDS) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* when this returns */
    }
}

static const int from_outside[] = {SIGINT, SIGTERM, SIGXCPU};
#define FROM_OUTSIDE (sizeof from_outside / sizeof from_outside[0])
static struct sigaction before_run[FROM_OUTSIDE];

/* A signal that was ignored when c2emu started (nohup) stays ignored. A second one, later, ends c2emu itself; but the
 * limit on processor time, of which Linux reminds every second. */
void session_signals_catch(struct emu *emu)
{
    interruptible = emu;
    for (size_t i = 0; i < FROM_OUTSIDE; i++) {
        struct sigaction action = {.sa_handler = on_signal};
        if (sigaction(from_outside[i], NULL, &before_run[i]) == 0 && before_run[i].sa_handler != SIG_IGN)
            sigaction(from_outside[i], &action, NULL);
    }
}

/* A report that is all but written gets what time there is until SIGKILL; what `advise` does first takes longer than
 * that. */
void session_signals_release(bool reports_at_once)
{
    if (caught_signal != 0)
        return;
    for (size_t i = 0; i < FROM_OUTSIDE; i++)
        sigaction(from_outside[i], &before_run[i], NULL);
    if (reports_at_once)
        signal(SIGXCPU, SIG_IGN);
    interruptible = NULL;
}

void session_signals_begin(void) { caught_signal = 0; }

const volatile sig_atomic_t *session_signals_caught(void) { return &caught_signal; }
