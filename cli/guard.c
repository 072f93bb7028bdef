/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * guard: ends of the process that c2emu did not choose. Each says what happened and has c2emu's own exit status, as the
 * program's could be taken for it.
 *
 * Model
 *   Limits     The limit on the size of files makes writes fail (c2_file_limit_catch). That on processor time sends
 *              SIGXCPU, which stops a run like an interrupt (run.c) and ends anything else here. Where it has no
 *              interval between the signal and SIGKILL - `ulimit -t` sets both - the signal is moved forward by a
 *              twentieth, from 1 to 10 seconds, for the report to be written in.
 *   The engine May call exit() when it gets no memory, and abort() when it does not understand itself.
 *   Streams    A standard stream that is closed is held by a descriptor that can do nothing, so that no file of c2emu's
 *              gets its number and what is meant for the stream. The guest sees it closed (syscalls/fds.c).
 *   Words      What cannot be said on standard error, the report with it, is a failure as well.
 * Not modelled
 *   SIGKILL: nothing is said; no file is left either (base/outfile.c). A limit on processor time of one second.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_priv.h"

static volatile sig_atomic_t leaving; /* the process ends because c2emu wants it to */

/* From handlers: no stdio. */
static _Noreturn void end_with(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
    _exit(SESSION_EXIT_FAILED);
}

static void on_exit_call(void)
{
    if (!leaving)
        end_with(
            "c2emu: the engine has ended the process, and nothing is reported: most often the host refuses it "
            "memory, of which it wants 2 GiB at the start and more as it runs; lift the limits (ulimit -d unlimited, "
            "ulimit -v unlimited) or use a host with more\n");
}

static void on_abort(int signal_number)
{
    (void)signal_number;
    end_with("c2emu: aborted, and nothing is reported: a failure of c2emu itself or of its engine, whose words stand "
             "above if it had any\n");
}

static void on_time_limit(int signal_number)
{
    (void)signal_number;
    end_with("c2emu: " SESSION_TIME_LIMIT ": nothing is reported\n");
}

static void catch_default(int signal_number, void (*handler)(int))
{
    struct sigaction old, action = {.sa_handler = handler};
    if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(signal_number, &action, NULL);
}

static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_PATH) != fd)
            _exit(SESSION_EXIT_FAILED); /* with nothing to say it on */
}

static void make_time_for_a_report(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max == RLIM_INFINITY || limit.rlim_cur != limit.rlim_max ||
        limit.rlim_max < 2)
        return;
    const rlim_t part = limit.rlim_max / 20;
    limit.rlim_cur -= part < 1 ? 1 : part > 10 ? 10 : part;
    setrlimit(RLIMIT_CPU, &limit);
}

void cli_guard_start(void)
{
    hold_standard_streams();
    c2_file_limit_catch();
    make_time_for_a_report();
    catch_default(SIGXCPU, on_time_limit);
    catch_default(SIGABRT, on_abort);
    atexit(on_exit_call);
}

int cli_guard_end(int status)
{
    leaving = 1;
    return fflush(stderr) != 0 || ferror(stderr) ? SESSION_EXIT_FAILED : status;
}
