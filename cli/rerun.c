/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rerun: c2emu run once more as a process of its own, for its report.
 *
 * Model
 *   The process gets the options of a receipt, the same command, and standard streams of the kinds that the receipt
 *   names: a program behaves otherwise before a terminal than before a pipe. The report comes through a pipe; those of
 *   several programs lie in a directory that is made for them, in $TMPDIR or /tmp. What the program writes goes
 *   nowhere; the end of what is said on standard error is kept, for runs that have no report.
 *   Where the kind wants it, another process pumps the given input into a pipe or socket.
 * Invariants
 *   No file is left behind. Nothing is left running: the process is told to end when this one does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli_priv.h"
#include "session/receipt.h"

enum { INPUT, OUTPUT, ERRORS, REPORT, ENDS };

/* Of each stream the descriptor that the process gets, and the one that stays here; -1: none. */
struct streams {
    int theirs[ENDS], ours[ENDS];
    pid_t pump;
};

/* ------------------------------------------------------------------ making streams */

static bool rerun_is(const char *kind, const char *word) { return strcmp(kind, word) == 0; }

/* read_end: what the process gets. */
static bool make_pipe(struct streams *s, int which, bool read_end)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    s->theirs[which] = pair[!read_end];
    s->ours[which] = pair[read_end];
    return true;
}

static bool make_socket(struct streams *s, int which)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    s->theirs[which] = pair[0];
    s->ours[which] = pair[1];
    return true;
}

static bool make_terminal(struct streams *s, int which)
{
    char name[64];
    s->ours[which] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (s->ours[which] < 0 || grantpt(s->ours[which]) != 0 || unlockpt(s->ours[which]) != 0 ||
        ptsname_r(s->ours[which], name, sizeof name) != 0)
        return false;
    s->theirs[which] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return s->theirs[which] >= 0;
}

/* A file of the host that has no name: calls that copy from file to file ask for two of one file system, as the working
 * directory's most likely is. */
static int make_file(const char *kind)
{
    const int flags = O_RDWR | O_CLOEXEC | (rerun_is(kind, "file") ? 0 : O_APPEND);
    int fd = open(".", flags | O_TMPFILE, 0600);
    if (fd < 0)
        fd = open("/tmp", flags | O_TMPFILE, 0600);
    return fd >= 0 ? fd : memfd_create("c2emu", MFD_CLOEXEC);
}

static bool make_plain(struct streams *s, int which, const char *kind)
{
    s->theirs[which] = strstr(kind, "file")          ? make_file(kind)
                       : rerun_is(kind, "directory") ? open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                                     : open("/dev/null", O_RDWR | O_CLOEXEC);
    return s->theirs[which] >= 0;
}

static bool make_stream(struct streams *s, int which, const char *kind)
{
    if (rerun_is(kind, "closed"))
        return true;
    if (rerun_is(kind, "pipe"))
        return make_pipe(s, which, which == INPUT);
    if (rerun_is(kind, "socket"))
        return make_socket(s, which);
    return rerun_is(kind, "terminal") ? make_terminal(s, which) : make_plain(s, which, kind);
}

static _Noreturn void pump(int from, int to)
{
    char part[1 << 16];
    ssize_t got;
    signal(SIGPIPE, SIG_DFL); /* the reader has read enough */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while ((got = read(from, part, sizeof part)) > 0)
        for (ssize_t done = 0, put; done < got; done += put)
            if ((put = write(to, part + done, (size_t)(got - done))) < 0)
                _exit(1);
    _exit(0);
}

/* Before the other streams are made: the pump would keep them open. */
static bool make_input(struct streams *s, const char *kind, int given)
{
    if (given >= 0 && !rerun_is(kind, "closed") && rerun_is(kind, session_stream_kind(given))) {
        s->theirs[INPUT] = fcntl(given, F_DUPFD_CLOEXEC, 3);
        return s->theirs[INPUT] >= 0;
    }
    if (!make_stream(s, INPUT, kind))
        return false;
    const bool fed = rerun_is(kind, "pipe") || rerun_is(kind, "socket");
    if (fed && given >= 0) {
        s->pump = fork();
        if (s->pump == 0) {
            close(s->theirs[INPUT]);
            pump(given, s->ours[INPUT]);
        }
    }
    if (fed) {
        close(s->ours[INPUT]);
        s->ours[INPUT] = -1;
    }
    return s->pump >= 0;
}

static void close_all(int fds[ENDS])
{
    for (int i = 0; i < ENDS; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

static bool make_streams(struct streams *s, const char *const kinds[3], int given)
{
    for (int i = 0; i < ENDS; i++)
        s->theirs[i] = s->ours[i] = -1;
    return make_input(s, kinds[INPUT], given) && make_stream(s, OUTPUT, kinds[OUTPUT]) &&
           make_stream(s, ERRORS, kinds[ERRORS]) && make_pipe(s, REPORT, false);
}

/* ------------------------------------------------------------------ the process */

static size_t count_of(const char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

/* Those of argv; where the report goes is the last of the options, so that it can be said when that is there. */
static char **rerun_words_of(const struct report_receipt *receipt, const char *const *command, char *report)
{
    static char name[] = "c2emu", quiet[] = "--quiet", end[] = "--";
    const size_t options = count_of(receipt->options), arguments = count_of(command);
    char **words = c2_calloc(options + arguments + 6, sizeof *words), **at = words;
    if (!words)
        return NULL;
    *at++ = name;
    if (receipt->verb)
        *at++ = (char *)receipt->verb;
    for (size_t i = 0; i < options; i++)
        *at++ = (char *)receipt->options[i];
    *at++ = quiet;
    *at++ = report;
    *at++ = end;
    for (size_t i = 0; i < arguments; i++)
        *at++ = (char *)command[i];
    return words;
}

static _Noreturn void rerun_become(const struct streams *s, char **words)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (int fd = INPUT; fd <= ERRORS; fd++) {
        if (s->theirs[fd] < 0)
            close(fd);
        else
            dup2(s->theirs[fd], fd);
    }
    fcntl(s->theirs[REPORT], F_SETFD, 0);
    execv("/proc/self/exe", words);
    _exit(SESSION_EXIT_FAILED);
}

/* ------------------------------------------------------------------ what comes of it */

#define PART_BYTES 65536

static bool keep_report(struct cli_rerun *out, const char *part, size_t bytes)
{
    char *longer = c2_realloc(out->report, out->bytes + bytes);
    if (!longer)
        return false;
    memcpy(longer + out->bytes, part, bytes);
    out->report = longer;
    out->bytes += bytes;
    return true;
}

/* The last of it. */
static void keep_said(struct cli_rerun *out, const char *part, size_t bytes)
{
    const size_t room = sizeof out->said - 1, kept = bytes < room ? bytes : room;
    size_t before = strlen(out->said);
    if (before + kept > room) {
        memmove(out->said, out->said + (before + kept - room), room - kept);
        before = room - kept;
    }
    memcpy(out->said + before, part + bytes - kept, kept);
    out->said[before + kept] = '\0';
}

/* Reads until the last writer has closed; false: no memory for the report. */
static bool rerun_drain(struct cli_rerun *out, int ours[ENDS])
{
    struct pollfd ends[ENDS];
    char part[PART_BYTES];
    bool kept = true;
    for (int i = 0; i < ENDS; i++)
        ends[i] = (struct pollfd){.fd = i == INPUT ? -1 : ours[i], .events = POLLIN};
    while (ends[OUTPUT].fd >= 0 || ends[ERRORS].fd >= 0 || ends[REPORT].fd >= 0) {
        if (poll(ends, ENDS, -1) < 0 && errno != EINTR)
            break;
        for (int i = OUTPUT; i < ENDS; i++) {
            if (ends[i].fd < 0 || ends[i].revents == 0)
                continue;
            const ssize_t got = read(ends[i].fd, part, sizeof part);
            if (got <= 0 && errno != EINTR)
                ends[i].fd = -1; /* a terminal that is open nowhere any more fails with EIO */
            else if (got > 0 && i == REPORT)
                kept &= keep_report(out, part, (size_t)got);
            else if (got > 0 && i == ERRORS)
                keep_said(out, part, (size_t)got);
        }
    }
    return kept;
}

static int rerun_wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : SESSION_EXIT_SIGNAL + WTERMSIG(status);
}

static enum c2_status rerun_run(struct cli_rerun *out, struct streams *s, char **words, struct c2_error *err)
{
    void (*const usual)(int) = signal(SIGINT, SIG_IGN); /* it is for the process, which reports what was done */
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, usual);
        rerun_become(s, words);
    }
    close_all(s->theirs);
    const bool kept = child > 0 && rerun_drain(out, s->ours);
    out->status = child > 0 ? rerun_wait_for(child) : SESSION_EXIT_FAILED;
    signal(SIGINT, usual);
    if (child < 0)
        return c2_fail(err, C2_ERR_IO, "verify: no process can be made: %m");
    return kept ? C2_OK : c2_fail_memory(err, "a report");
}

/* ------------------------------------------------------------------ several programs */

static enum c2_status rerun_make_directory(struct cli_rerun *out, struct c2_error *err)
{
    const char *top = getenv("TMPDIR");
    out->directory = c2_format("%s/c2emu-verify-XXXXXX", top && top[0] ? top : "/tmp");
    if (out->directory && mkdtemp(out->directory))
        return C2_OK;
    c2_free(out->directory);
    out->directory = NULL;
    return c2_fail(err, C2_ERR_IO, "verify: no directory for reports can be made in %s: %m",
                   top && top[0] ? top : "/tmp");
}

/* There is none if only one program was run. */
static enum c2_status read_list(struct cli_rerun *out, struct c2_error *err)
{
    char part[PART_BYTES], path[PATH_MAX];
    ssize_t got;
    bool kept = true;
    snprintf(path, sizeof path, "%s/programs.json", out->directory);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && kept && (got = read(fd, part, sizeof part)) > 0)
        kept = keep_report(out, part, (size_t)got);
    if (fd >= 0)
        close(fd);
    return kept ? C2_OK : c2_fail_memory(err, "a report");
}

static void remove_directory(const char *directory)
{
    DIR *list = opendir(directory);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(directory);
}

/* ------------------------------------------------------------------ all of it */

enum c2_status cli_rerun(struct cli_rerun *out, const struct report_receipt *receipt, const char *const *command,
                         enum cli_rerun_form form, int input, struct c2_error *err)
{
    const bool several = form == CLI_RERUN_SEVERAL;
    struct streams s = {.pump = 0};
    char report[PATH_MAX];
    *out = (struct cli_rerun){0};
    char **words = rerun_words_of(receipt, command, report);
    enum c2_status status = words ? C2_OK : c2_fail_memory(err, "a command line");
    if (status == C2_OK && several)
        status = rerun_make_directory(out, err);
    if (status == C2_OK && !make_streams(&s, receipt->streams, input))
        status = c2_fail(err, C2_ERR_IO, "verify: the standard streams of the run cannot be made again: %m");
    if (status == C2_OK) {
        if (several)
            snprintf(report, sizeof report, "--output=%s", out->directory);
        else
            snprintf(report, sizeof report, "--%s=/dev/fd/%d", form == CLI_RERUN_SLIM ? "json" : "json-full",
                     s.theirs[REPORT]);
        status = rerun_run(out, &s, words, err);
    }
    if (status == C2_OK && several)
        status = read_list(out, err);
    close_all(s.theirs);
    close_all(s.ours);
    if (s.pump > 0) {
        kill(s.pump, SIGKILL);
        rerun_wait_for(s.pump);
    }
    c2_free(words);
    return status;
}

void cli_rerun_release(struct cli_rerun *rerun)
{
    c2_free(rerun->report);
    if (rerun->directory)
        remove_directory(rerun->directory);
    c2_free(rerun->directory);
    *rerun = (struct cli_rerun){0};
}
