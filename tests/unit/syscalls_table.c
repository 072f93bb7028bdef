/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The table against the host's own headers, against itself, and against docs/syscalls.md. With an argument, writes that
 * page instead: test_syscalls_table docs/syscalls.md
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "syscalls/call_priv.h"

#define SYSCALL(number, name, ...) _Static_assert(SYS_##name == number, #name);
#include "syscalls/table.h"

#define NAME(number, name) _Static_assert(SYS_##name == number, #name);
#include "syscalls/names.h"

static void every_number_has_a_name(void **state)
{
    (void)state;
    for (uint64_t number = 0; number <= 450; number++) {
        bool hole = number >= 335 && number <= 423; /* never used on x86-64 */
        if (!syscalls_name(number) != hole)
            fail_msg("number %llu", (unsigned long long)number);
    }
    assert_null(syscalls_name(451));
    assert_null(syscalls_name(UINT64_MAX));
    assert_string_equal(syscalls_name(0), "read");
    assert_string_equal(syscalls_name(212), "lookup_dcookie"); /* without a row */
}

/* The most that a call copies. A message has iovecs of its own. */
static uint64_t copies_of(const struct call_row *row)
{
    uint64_t total = strstr(row->name, "msg") ? IOV_MAX * sizeof(struct iovec) : 0;
    for (int i = 0; i < CALL_ARGS; i++) {
        const struct call_arg *a = &row->arg[i];
        if (a->kind == CALL_PATH || a->kind == CALL_STRING)
            total += PATH_MAX;
        else if (a->kind == CALL_IOV)
            total += IOV_MAX * sizeof(struct iovec);
        else if (a->access && a->kind != CALL_BYTES)
            total += c2_align_up((uint64_t)a->bytes * (a->count ? a->most : 1), 16);
    }
    return total;
}

static void rows_are_consistent(void **state)
{
    (void)state;
    int rows = 0;
    for (uint64_t number = 0; number < CALL_TABLE_END; number++) {
        const struct call_row *row = call_row_of(number);
        if (!row)
            continue;
        rows++;
        assert_true(copies_of(row) <= CALL_COPIES_BYTES);
        assert_non_null(row->handler);
        assert_ptr_equal(row->name, syscalls_name(number));
        for (int i = 0; i < CALL_ARGS; i++) {
            const struct call_arg *a = &row->arg[i];
            if (i > 0 && row->arg[i - 1].kind == CALL_NONE)
                assert_int_equal(a->kind, CALL_NONE); /* no gap */
            assert_true(a->count <= CALL_ARGS);
            if (a->count)
                assert_int_equal(row->arg[a->count - 1].access, 0); /* a count is a number */
            if (a->returned)
                assert_true(a->count && a->access == CALL_WRITES);
            if (a->access & CALL_WRITES && !a->count)
                assert_true(a->bytes > 0);
            if (a->kind == CALL_MEMORY && a->access & CALL_READS && a->count)
                assert_true(a->most > 0); /* it is copied */
            if (a->kind == CALL_FLAGS || a->kind == CALL_CHOICE)
                assert_non_null(a->names);
        }
    }
    assert_true(rows > 200);
}

static void signals_have_names(void **state)
{
    (void)state;
    assert_string_equal(syscalls_signal_name(11), "SIGSEGV");
    assert_string_equal(syscalls_signal_name(1), "SIGHUP");
    assert_string_equal(syscalls_signal_name(31), "SIGSYS");
    assert_string_equal(syscalls_signal_name(34), "SIGRT_2");
    assert_string_equal(syscalls_signal_name(64), "SIGRT_32");
    assert_string_equal(syscalls_signal_name(65), "an unknown signal");
    assert_string_equal(syscalls_signal_name(-1), "an unknown signal");
}

/* ------------------------------------------------------------------ the page */

static const char head[] =
    "<!-- made from syscalls/table.h by test_syscalls_table; edit the table, not this page -->\n"
    "# System calls of the guest\n"
    "\n"
    "The guest's kernel is c2emu itself. The first process has the number 1000, and is of user 1000; other processes\n"
    "and threads have the numbers behind ([processes.md](processes.md), [threads.md](threads.md)). A call that has no\n"
    "row here is answered with ENOSYS, and one line on standard error says so. `-v` shows every call.\n"
    "\n"
    "## Notes\n"
    "\n"
    "**Files** are the host's, with the host's rights, times and inode numbers; the order of names in a directory\n"
    "is the host's, too. These are inputs of a run, as the files' contents are, and so are terminals. What a "
    "directory\n"
    "shows is the run's own, but for its times: a number in the order in which the run meets directories, from 2^48\n"
    "on, one link, 4096 bytes, 8 blocks. So what else was made in it or beside it changes no report.\n"
    "`/dev/random` and `/dev/urandom` give the seeded stream that getrandom uses (`--seed`). A file system has 1 TiB,\n"
    "half of it free, whatever the host's has.\n"
    "\n"
    "**/proc and /sys** are made up: what is shown there is the guest and the simulated machine, never the host; what\n"
    "is not made up does not exist. `/proc/PID` is there of each process of the run, with its threads in `task`, so\n"
    "that ps, top, pgrep and pstree show these and no others. Numbers of another process are of when its last turn\n"
    "ended; its maps, limits and descriptors are EACCES.\n"
    "\n"
    "**Owners**: who runs c2emu is user 1000 of group 1000 for the program, as the program itself is. If somebody\n"
    "else has that number on the host, he is 65534 (nobody); all others keep theirs. So a program owns its files\n"
    "whoever runs it, root too. It is a plain user: chown to others and device nodes are EPERM, even where the\n"
    "host would let root do it. What it may read and write is the host's to say.\n"
    "\n"
    "**Pipes, sockets, memfds, eventfds, timers** belong to the run: inode numbers in the order of their making "
    "(after\n"
    "standard input, output and error), the guest's clock at that moment as all their times, a device a kind.\n"
    "These times do not go on with reads and writes. The sizes of their buffers are the host's defaults.\n"
    "\n"
    "**Pseudo-terminals** (`/dev/ptmx`, `/dev/pts/N`) are the run's own, numbered from 0: `script`, `expect`, "
    "Python's\n"
    "`pty` work. Lines are edited and echoed, typed characters make signals, sessions take their terminal, and jobs\n"
    "in its background are stopped, as on Linux; what is written to one end is there at the other at once. The\n"
    "terminal that c2emu is started on is the host's, and that of the first session.\n"
    "\n"
    "**Sockets** are those of AF_UNIX, and TCP and UDP on a loopback of the run's own: its processes reach one\n"
    "another there, and nobody else. Ports that a program leaves open are 32768 and up. A daemon of the host is not\n"
    "there, be it on a port or on a path: connections are refused, as on a machine without it, and everything\n"
    "beyond the loopback is unreachable. NETLINK_ROUTE (getifaddrs, ip) tells of that loopback. `--no-net` refuses\n"
    "all of these but AF_UNIX (EACCES), `--sandbox` all sockets.\n"
    "\n"
    "**System V IPC** (shared memory, semaphores, message queues) belongs to the run, and so do POSIX message\n"
    "queues: its processes find one another's objects, the host's are not there, and nothing is left behind.\n"
    "Numbers of a kind count up from 0. Who changes an object does at once for those that wait there what they wait\n"
    "for, as on Linux; a wait that nobody can end is a deadlock. Of the rights of an object those of its owner\n"
    "count.\n"
    "\n"
    "**Arguments** in the guest's memory - paths, structures, arrays, iovecs - are copied before the call, once: a\n"
    "call may write its results over them.\n"
    "\n"
    "**Errors** are Linux's, of each argument that is wrong by itself: a test makes every call with each of its\n"
    "arguments replaced by each of a list of wrong ones, here and natively. Where several are wrong, or one is that\n"
    "nothing depends on yet, it may be another error than Linux's: data to send that cannot be read is EFAULT before\n"
    "the socket is found to have no other end, and mount, umount2, swapon are EPERM before any look at a path.\n"
    "Structures are read and written whole or not at all. Rare options of sockets are ENOPROTOOPT.\n"
    "\n"
    "**Descriptors** are the guest's own numbers: 0, 1, 2 at start, then the lowest free one.\n"
    "\n"
    "**Time** is the instruction count: 1 ns an instruction. CLOCK_REALTIME is 2020-01-01T00:00:00Z at the start,\n"
    "or what `--clock` says; time zones are files of the host, as all others. Sleeps take no host time; guest time\n"
    "goes on by their length at once, when all threads wait. A wait with a timeout (poll, select, epoll, futex,\n"
    "SO_RCVTIMEO) that only the guest itself could end passes its timeout in the same way; without a timeout it is\n"
    "a deadlock, if no other thread can end it, and the run ends with a line that says so. So is a transfer that\n"
    "waits for the other end of a pipe or socket pair of the guest's own, and a wait for a file lock that the guest\n"
    "holds itself. Only a wait for somebody outside - a terminal, a pipe of the shell, a named pipe, a lock of\n"
    "another process - takes host time. Timers of descriptors (timerfd) go off in guest time: a wait for one passes\n"
    "the time until then.\n"
    "\n"
    "**Not there**, by decision, is what the table says; programs then do without, as on a kernel that was built "
    "without\n"
    "it, or as a user without the right. Each call that is ENOSYS is named once on standard error.\n"
    "\n"
    "| what | calls | the program sees | why |\n"
    "|---|---|---|---|\n"
    "| namespaces, mounts, other roots | unshare, setns, mount, umount2, pivot_root, chroot | EPERM | it is a plain "
    "user |\n"
    "| the newer ways of mounting | fsopen, open_tree, move_mount, mount_setattr | ENOSYS | the same |\n"
    "| what watches files | inotify, fanotify | ENOSYS | changes by others come when the host likes; F_NOTIFY is there "
    "|\n"
    "| calls in queues | io_uring, io_setup and its kin | ENOSYS | the host would do them while the program runs on |\n"
    "| page faults as events | userfaultfd | ENOSYS | faults are the simulation's |\n"
    "| a look into processes | ptrace, process_vm_readv, process_vm_writev, pidfd_getfd | ENOSYS | nobody stops "
    "between two instructions for another |\n"
    "| counts of the host | perf_event_open, bpf | ENOSYS | they are of another machine |\n"
    "| kernel modules, another kernel | init_module, finit_module, delete_module, kexec_load | ENOSYS | there is none "
    "to load them into |\n"
    "| the machine itself | reboot, swapon, settimeofday, sethostname, syslog, acct | EPERM | it is a plain user |\n"
    "| keys, quotas | add_key, keyctl, quotactl | ENOSYS | nothing of the host's is shown |\n"
    "| memory by node | mbind, get_mempolicy, move_pages | ENOSYS | memory is placed by the simulation (`--place`) |\n"
    "| filters of calls | seccomp, landlock | ENOSYS | `--sandbox` is the host's |\n"
    "\n"
    "**Sanitizers**: programs built with `-fsanitize=address`, `thread` or `undefined` run, gcc's and clang's. A leak\n"
    "sanitizer looks into threads by ptrace, which is not there, and would end the program as a failure: a program\n"
    "that has one, in itself or in libasan or liblsan, gets `LSAN_OPTIONS=detect_leaks=0`, unless it has options of\n"
    "its own, and a note says so. One that is started by another program wants that variable by `--env`. A thread\n"
    "sanitizer has shadows where stack and mappings of other programs are: those of a program that has one lie below\n"
    "0x7ef000000000. A memory sanitizer wants one where c2emu itself may lie, at 0x500000000000, and ends the program\n"
    "with the words that its shadow cannot be mapped.\n"
    "\n"
    "**Processes that share**: a child of vfork, or of clone with CLONE_VM, has its parent's memory, and the\n"
    "parent goes on when the child has ended or is another program: Linux may choose the same order, but where\n"
    "the child waits for something that the parent is to do the run is a deadlock. Mappings of files (by vfork\n"
    "all) stay its own, and it cannot fork. CLONE_VM of a program with several threads (but by vfork and\n"
    "posix_spawn), and CLONE_FILES, CLONE_FS, CLONE_SIGHAND and CLONE_SYSVSEM without CLONE_THREAD are ENOSYS,\n"
    "with a line that says so: each process of the run is one of the host, whose descriptors and directory are\n"
    "its own.\n"
    "\n"
    "**Signals** come from faults, broken pipes, timers and the program itself. Handlers, masks and alternate\n"
    "stacks work, and so does stopping.\n";

static void put_argument(FILE *to, const struct call_arg *a)
{
    static const char *const words[] = {
        [CALL_INT] = "int",         [CALL_UINT] = "unsigned", [CALL_SIZE] = "size",
        [CALL_OFFSET] = "offset",   [CALL_HEX] = "number",    [CALL_MODE] = "mode",
        [CALL_ADDRESS] = "address", [CALL_FD] = "fd",         [CALL_DIRFD] = "directory fd",
        [CALL_SIGNAL] = "signal",   [CALL_FLAGS] = "flags",   [CALL_CHOICE] = "choice",
        [CALL_PATH] = "path",       [CALL_STRING] = "string", [CALL_MEMORY] = "memory",
        [CALL_BYTES] = "data",      [CALL_IOV] = "iovec",     [CALL_TIMESPEC] = "timespec",
        [CALL_FD_PAIR] = "two fds", [CALL_STAT] = "stat",
    };
    static const char *const access[] = {"", "", "written ", "updated "};
    fprintf(to, "%s%s", access[a->access & 3], words[a->kind]);
    if (a->kind == CALL_MEMORY)
        fprintf(to, a->count ? " %d each" : " %d", a->bytes);
    if (a->optional)
        fputs(" or NULL", to);
}

static void put_row(FILE *to, int number)
{
    const struct call_row *row = call_row_of((uint64_t)number);
    fprintf(to, "| %d | %s | ", number, row->name);
    for (int i = 0; i < CALL_ARGS && row->arg[i].kind != CALL_NONE; i++) {
        fputs(i ? ", " : "", to);
        put_argument(to, &row->arg[i]);
    }
    fprintf(to, " | %s |\n", row->note);
}

static void write_page(FILE *to)
{
    fputs(head, to);
    static const char topic[] = "\n## %s\n\n| number | call | arguments | differs from Linux |\n|---|---|---|---|\n";
#define TOPIC(title) fprintf(to, topic, title);
#define SYSCALL(number, ...) put_row(to, number);
#include "syscalls/table.h"
}

static char *whole_file(FILE *file)
{
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void page_is_up_to_date(void **state)
{
    (void)state;
    FILE *page = fopen(C2_SOURCE_DIR "/docs/syscalls.md", "r"), *wanted = tmpfile();
    assert_non_null(page);
    write_page(wanted);
    rewind(wanted);
    char *is = whole_file(page), *should = whole_file(wanted);
    assert_string_equal(is, should);
    free(is);
    free(should);
}

/* ------------------------------------------------------------------ life, without any guest memory */

static struct syscalls_config config(void)
{
    static const char *const list[] = {"a", "bc", NULL};
    return (struct syscalls_config){.start_seconds = SYSCALLS_START_SECONDS,
                                    .program_path = "/bin/true",
                                    .argv = list,
                                    .envp = list,
                                    .seed = 1,
                                    .complaint_prefix = "c2emu: "};
}

static void creation_survives_every_failed_allocation(void **state)
{
    (void)state;
    struct syscalls_config c = config();
    struct syscalls *kernel;
    struct c2_error err;
    uint64_t n = 0;
    do {
        c2_alloc_fail_from(++n);
        enum c2_status status = syscalls_create(&kernel, NULL, &c, &err);
        c2_alloc_fail_from(0);
        if (status == C2_OK)
            break;
        assert_int_equal(status, C2_ERR_NO_MEMORY);
        assert_null(kernel);
    } while (n < 100);
    assert_int_equal(n, 14); /* the kernel, two strings, two lists, a thread and the list of them, the times and the two
                              * of the table of objects, the directories and the two of their index */
    syscalls_destroy(kernel);
    syscalls_destroy(NULL);
}

static int64_t call(struct syscalls *kernel, uint64_t number)
{
    struct syscalls_cpu cpu = {.gpr = {number}};
    struct syscalls_result result;
    struct c2_error err;
    syscalls_call(kernel, &cpu, 0, &result, &err);
    assert_int_equal(result.action, SYSCALLS_RETURN);
    return result.value;
}

static void unknown_calls_complain_once(void **state)
{
    (void)state;
    struct syscalls_config c = config();
    struct syscalls *kernel;
    struct c2_error err;
    char text[1024] = "";
    c.complaints = fmemopen(text, sizeof text, "w");
    assert_int_equal(syscalls_create(&kernel, NULL, &c, &err), C2_OK);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(call(kernel, 999), -ENOSYS);
        assert_int_equal(call(kernel, SYS_lookup_dcookie), -ENOSYS);
        assert_int_equal(call(kernel, SYS_fork), -ENOSYS);
        assert_int_equal(call(kernel, SYS_rseq), -ENOSYS); /* silent */
        assert_int_equal(call(kernel, SYS_getpid), 1000);
    }
    assert_string_equal(
        text,
        "c2emu: system call 999 is not implemented: the program sees ENOSYS\n"
        "c2emu: system call 212 (lookup_dcookie) is not implemented: the program sees ENOSYS\n"
        "c2emu: system call 57 (fork) would start a process, and only this one is run: the program sees ENOSYS\n");
    syscalls_destroy(kernel);
    fclose(c.complaints);
}

static void time_follows_the_instructions(void **state)
{
    (void)state;
    struct syscalls_config c = config();
    struct syscalls *kernel;
    struct c2_error err;
    assert_int_equal(syscalls_create(&kernel, NULL, &c, &err), C2_OK);
    assert_int_equal(syscalls_time_ns(kernel, 0), 0);
    assert_int_equal(syscalls_time_ns(kernel, 123456789), 123456789); /* 1e9 a second */
    syscalls_destroy(kernel);
    c.instructions_per_second = 3000000000;
    assert_int_equal(syscalls_create(&kernel, NULL, &c, &err), C2_OK);
    assert_int_equal(syscalls_time_ns(kernel, 3), 1);
    assert_int_equal(syscalls_time_ns(kernel, 9000000000000000000), 3000000000000000000); /* no overflow */
    syscalls_destroy(kernel);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_a_name),
        cmocka_unit_test(rows_are_consistent),
        cmocka_unit_test(signals_have_names),
        cmocka_unit_test(page_is_up_to_date),
        cmocka_unit_test(creation_survives_every_failed_allocation),
        cmocka_unit_test(unknown_calls_complain_once),
        cmocka_unit_test(time_follows_the_instructions),
    };
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    FILE *page = fopen(argv[1], "w");
    if (!page)
        return 1;
    write_page(page);
    return fclose(page) != 0;
}
