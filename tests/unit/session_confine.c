/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the host's kernel refuses to a process that has confined itself, whatever the guest's kernel lets through. Each
 * test is a process of its own, as there is no way back.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "session/session_priv.h"

static char top[64]; /* with the directories in, more, reports and out, which has a file */

static int setup(void **state)
{
    (void)state;
    strcpy(top, "/tmp/c2emu-confine-XXXXXX");
    assert_non_null(mkdtemp(top));
    assert_int_equal(chdir(top), 0);
    assert_int_equal(mkdir("in", 0755) | mkdir("more", 0755) | mkdir("reports", 0755) | mkdir("out", 0755), 0);
    close(open("out/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    assert_int_equal(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -r %s", top);
    return system(command);
}

/* In the process that is confined: 0, or the line of the first thing that is not so. */
#define REFUSED(error, call) \
    do { \
        if ((call) >= 0 || errno != (error)) \
            return __LINE__; \
    } while (0)
#define DONE(call) \
    do { \
        if ((call) < 0) \
            return __LINE__; \
    } while (0)

static int confine(void)
{
    static const char *const writable[] = {"../more", NULL};
    struct c2_error err;
    if (chdir("in") < 0 || session_confine(writable, &err) != C2_OK)
        return __LINE__;
    return 0;
}

static int files(void)
{
    struct c2_outfile *report;
    struct c2_error err;
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    char path[128];
    snprintf(path, sizeof path, "%s/reports/r", top);
    if (c2_outfile_open(&report, path, &err) != C2_OK || confine() != 0)
        return __LINE__;
    fputs("report", c2_outfile_stream(report));
    if (c2_outfile_commit(report, &err) != C2_OK)
        return __LINE__;
    DONE(open("new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    DONE(mkdir("d", 0700));
    DONE(rename("new", "d/new"));
    DONE(open("../more/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    DONE(open("/dev/null", O_RDWR | O_CLOEXEC));
    DONE(open("../out/file", O_RDONLY | O_CLOEXEC));
    if (version < 1) /* this kernel has no Landlock */
        return 0;
    REFUSED(EACCES, open("../out/file", O_WRONLY | O_CLOEXEC));
    REFUSED(EACCES, open("../out/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    REFUSED(EACCES, mkdir("../out/d", 0700));
    REFUSED(EACCES, unlink("../out/file"));
    REFUSED(EACCES, symlink("x", "../out/l"));
    if (version >= 3)
        REFUSED(EACCES, truncate("../out/file", 0));
    return 0;
}

static void *nothing(void *of) { return of; }

static int calls(void)
{
    char *const words[] = {"true", NULL};
    pthread_t thread;
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL) /* this kernel has no filters */
        return 0;
    const int parent = getppid();
    if (confine() != 0)
        return __LINE__;
    REFUSED(EPERM, socket(AF_UNIX, SOCK_STREAM, 0));
    REFUSED(EPERM, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0));
    REFUSED(EPERM, execv("/bin/true", words));
    REFUSED(EPERM, kill(parent, 0));
    REFUSED(EPERM, kill(-1, 0));
    REFUSED(EPERM, ptrace(PTRACE_ATTACH, parent, NULL, NULL));
    REFUSED(EPERM, syscall(SYS_process_vm_writev, parent, NULL, 0, NULL, 0, 0));
    REFUSED(EPERM, chroot("."));
    REFUSED(EPERM, mknod("null", S_IFCHR | 0600, makedev(1, 3)));
    DONE(mkfifo("pipe", 0600));
    DONE(kill(getpid(), 0));
    if (pthread_create(&thread, NULL, nothing, NULL) != 0)
        return __LINE__;
    return pthread_join(thread, NULL) == 0 ? 0 : __LINE__;
}

static void in_a_process(int (*what)(void))
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        const int line = what();
        if (line != 0)
            fprintf(stderr, "line %d: %s\n", line, strerror(errno));
        _exit(line != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void files_elsewhere(void **state)
{
    (void)state;
    in_a_process(files);
    assert_int_equal(access("reports/r", F_OK), 0);
}

static void calls_that_reach_out(void **state)
{
    (void)state;
    in_a_process(calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_that_reach_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
