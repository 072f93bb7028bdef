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
    "What programs find where the kernel is: c2emu itself. The first process has the number 1000, and is of user\n"
    "1000; other processes and threads have the numbers behind ([processes.md](processes.md),\n"
    "[threads.md](threads.md)). Each call is listed below, with what differs from Linux beyond the notes; any other\n"
    "is answered with ENOSYS, and one line on standard error names it. `-v` shows every call.\n"
    "\n"
    "## Notes\n"
    "\n"
    "**Files** are the host's, with the host's rights, times and inode numbers; the order of names in a directory\n"
    "is the host's, too. These are inputs of a run, as the files' contents are. What stat shows of a directory is the\n"
    "run's own: a number in the order in which the run meets directories, from 2^48 on, one link, 4096 bytes, 8\n"
    "blocks. `/dev/random` and `/dev/urandom` give the seeded stream that getrandom uses (`--seed`). A file system\n"
    "has 1 TiB, half of it free.\n"
    "\n"
    "**Times of files** that the program makes, writes or changes are the guest's clock of that moment, until the\n"
    "run ends; those that it gives (utimensat) are kept. Where it has asked for a file (stat) that is newer than\n"
    "its clock, what it changes from then on is as far ahead, so that outputs are newer than inputs. `--clock` sets\n"
    "the clock. Reads set the time of access of such files as with relatime; that of files which the program only\n"
    "reads is the host's. A file that is mapped to be written has the time of the mmap.\n"
    "\n"
    "**/proc and /sys** are made up: the guest and the simulated machine; what is not made up does not exist.\n"
    "`/proc/PID` is there of each process of the run, with its threads in `task`, and of init, process 1. Maps,\n"
    "limits and descriptors of another process are EACCES. Of all files there only `comm`, a thread's name, and\n"
    "`oom_score_adj` can be written. `/sys/devices/system/cpu` shows the cores and caches of the first machine; the\n"
    "caches of CPUID, and so of sysconf, are always 32 KiB, 256 KiB and 8 MiB, for libraries choose their code by\n"
    "them.\n"
    "\n"
    "**Owners**: the user of c2emu, root too, is user 1000 of group 1000 for the program. If another user of the\n"
    "host has that number, it is 65534 (nobody); all others keep theirs. The program is a plain user: chown to\n"
    "others and device nodes are EPERM. What it may read and write is for the host to decide.\n"
    "\n"
    "**Pipes, sockets, memfds, eventfds, timers** belong to the run: inode numbers in the order of their making,\n"
    "the guest's clock at that moment as all their times. The sizes of their buffers are the host's defaults.\n"
    "\n"
    "**Pseudo-terminals** (`/dev/ptmx`, `/dev/pts/N`) are the run's own, numbered from 0. The terminal that c2emu is\n"
    "started on is the host's, and that of the first session.\n"
    "\n"
    "**Sockets** are those of AF_UNIX, and TCP and UDP on a loopback of the run's own, on which its processes reach\n"
    "one another only. Ports that a program leaves open are 32768 and up. Connections to a daemon of the host, on a\n"
    "port or on a path, are refused, and everything beyond the loopback is unreachable. NETLINK_ROUTE (getifaddrs,\n"
    "ip) shows that loopback. `--no-net` refuses all of these but AF_UNIX (EACCES), `--sandbox` all sockets.\n"
    "\n"
    "**System V IPC and POSIX message queues** belong to the run, and end with it. Numbers of a kind count up from\n"
    "0. Of the rights of an object those of its owner count.\n"
    "\n"
    "**POSIX shared memory and semaphores** are files in `/dev/shm`, and what the program makes there directly is\n"
    "the run's own; what is left ends with the run, which names it. Files that the host has there are found. In\n"
    "`/tmp` names are the host's: random ones are the same in all runs with one `--seed`, so runs at a time need a\n"
    "directory each (`TMPDIR`). A program that starts below `/dev/shm`, or with `--sandbox`, has the host's.\n"
    "\n"
    "**Arguments** in the guest's memory are copied before the call, once: a call may write its results over them.\n"
    "Structures are read and written whole or not at all.\n"
    "\n"
    "**Errors** are Linux's, of each argument that is wrong by itself. Where several are wrong it may be another\n"
    "error than Linux's. Rare options of sockets are ENOPROTOOPT.\n"
    "\n"
    "**Time** is the instruction count: 1 ns an instruction. CLOCK_REALTIME is 2020-01-01T00:00:00Z at the start,\n"
    "or that of `--clock`, an hour after boot; time zones are files of the host. Sleeps take no host time; guest time\n"
    "goes on by their length at once, when all threads wait. So does a wait with a timeout (poll, select, epoll,\n"
    "futex, SO_RCVTIMEO) or for a timerfd that only the guest itself could end; without a timeout it is a deadlock,\n"
    "if no other thread can end it. So is a wait for the other end of a pipe of the guest's own, or for a file lock\n"
    "that the guest holds itself. Only a wait for something outside - a terminal, a pipe of the shell, a named pipe,\n"
    "a lock of another process - takes host time. A call takes no guest time of its own: a program that makes calls\n"
    "until a second is over makes millions of them, and takes as long.\n"
    "\n"
    "**Not there**, by decision; programs do without, as on a kernel that was built without it or as a plain user:\n"
    "\n"
    "| what | calls | the program sees | why |\n"
    "|---|---|---|---|\n"
    "| namespaces, mounts, other roots | unshare, setns, mount, pivot_root, chroot | EPERM | it is a plain user |\n"
    "| the newer ways of mounting | fsopen, open_tree, move_mount, mount_setattr | ENOSYS | the same |\n"
    "| the machine itself | reboot, swapon, settimeofday, sethostname, syslog, acct | EPERM | the same |\n"
    "| what watches files | inotify, fanotify | ENOSYS | changes by others come when the host likes; "
    "F_NOTIFY is there |\n"
    "| calls in queues | io_uring, io_setup | ENOSYS | the host would execute them while the program runs on |\n"
    "| page faults as events | userfaultfd | ENOSYS | faults are the simulation's |\n"
    "| other processes | ptrace, pidfd_getfd | ENOSYS | none stops between two instructions |\n"
    "| counts of the host | perf_event_open, bpf | ENOSYS | they are of another machine |\n"
    "| kernel modules | init_module, finit_module, kexec_load | ENOSYS | there is no kernel |\n"
    "| keys, quotas | add_key, keyctl, quotactl | ENOSYS | they are the host's |\n"
    "| memory of other kinds | memfd_secret, remap_file_pages | ENOSYS | kernels are started without, or imitate it |\n"
    "| memory by node | mbind, get_mempolicy, move_pages | ENOSYS | the simulation places memory (`--place`) |\n"
    "| filters of calls | seccomp, landlock | ENOSYS | `--sandbox` is the host's |\n"
    "\n"
    "**Sanitizers**: programs built with `-fsanitize=address`, `thread` or `undefined` run. A leak sanitizer needs\n"
    "ptrace: a program that has one, in itself or in libasan or liblsan, gets `LSAN_OPTIONS=detect_leaks=0`, unless\n"
    "it has options of its own, and a note is printed. One that another program starts needs that variable by\n"
    "`--env`. A memory sanitizer requires 0x500000000000, where c2emu itself may lie, and then ends the program.\n"
    "\n"
    "**Processes that share**: what a child of vfork has written in its parent's memory is there when the parent goes\n"
    "on. Processes made by clone with CLONE_VM, without CLONE_VFORK and CLONE_THREAD, have one memory; mappings of\n"
    "files and shared memory that one of them makes stay its own, as do all of a child of vfork. Where they have\n"
    "written more than 8 GiB the run ends with a message. CLONE_FILES, CLONE_FS, CLONE_SIGHAND and CLONE_SYSVSEM\n"
    "without CLONE_THREAD are ENOSYS, with a message: each process of the run is one of the host.\n";

struct topic {
    int numbers[128], count;
};

static const char *note_of(int number) { return call_row_of((uint64_t)number)->note; }

/* The calls that differ by nothing, filled into lines. */
static void put_equal_calls(FILE *to, const struct topic *topic)
{
    int column = fprintf(to, "\nAs on Linux:");
    for (int i = 0, put = 0; i < topic->count; i++) {
        const char *name = call_row_of((uint64_t)topic->numbers[i])->name;
        if (*note_of(topic->numbers[i]))
            continue;
        column += fprintf(to, "%s", put++ ? "," : "");
        if (column + (int)strlen(name) + 2 > 120)
            column = fprintf(to, "\n%s", name) - 1;
        else
            column += fprintf(to, " %s", name);
    }
    fputs(".\n", to);
}

/* A row for each note, at its first call. */
static void put_differences(FILE *to, const struct topic *topic)
{
    fputs("\n| call | differs from Linux |\n|---|---|\n", to);
    for (int i = 0; i < topic->count; i++) {
        const char *note = note_of(topic->numbers[i]);
        bool seen = !*note;
        for (int j = 0; j < i; j++)
            seen |= !strcmp(note_of(topic->numbers[j]), note);
        if (seen)
            continue;
        for (int j = i; j < topic->count; j++)
            if (!strcmp(note_of(topic->numbers[j]), note))
                fprintf(to, "%s%s", j == i ? "| " : ", ", call_row_of((uint64_t)topic->numbers[j])->name);
        fprintf(to, " | %s |\n", note);
    }
}

static void end_topic(FILE *to, struct topic *topic)
{
    int different = 0;
    for (int i = 0; i < topic->count; i++)
        different += *note_of(topic->numbers[i]) != '\0';
    if (different < topic->count)
        put_equal_calls(to, topic);
    if (different > 0)
        put_differences(to, topic);
    topic->count = 0;
}

static void add_call(struct topic *topic, int number)
{
    assert_true((size_t)topic->count < sizeof topic->numbers / sizeof *topic->numbers);
    topic->numbers[topic->count++] = number;
}

static void write_page(FILE *to)
{
    struct topic topic = {.count = 0};
    fputs(head, to);
#define TOPIC(title) \
    end_topic(to, &topic); \
    fprintf(to, "\n## %s\n", title);
#define SYSCALL(number, ...) add_call(&topic, number);
#include "syscalls/table.h"
    end_topic(to, &topic);
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
    assert_int_equal(n, 17); /* the kernel, two strings, two lists, a thread and the list of them, the times and the two
                              * of the table of objects, the directories and the two of their index, and the same of
                              * times of files */
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

/* The time since boot at the start, in seconds: the real time there is `start`. */
static uint64_t up_at_start(uint64_t start, uint64_t uptime)
{
    struct syscalls_config c = config();
    struct syscalls *kernel;
    struct c2_error err;
    c.start_seconds = start;
    c.uptime_seconds = uptime;
    assert_int_equal(syscalls_create(&kernel, NULL, &c, &err), C2_OK);
    assert_int_equal(call(kernel, SYS_time), start);
    const uint64_t ns = syscalls_time_ns(kernel, 0);
    syscalls_destroy(kernel);
    return ns / 1000000000;
}

static void the_machine_is_up_for_a_while_but_not_before_1970(void **state)
{
    (void)state;
    assert_int_equal(up_at_start(SYSCALLS_START_SECONDS, 3600), 3600);
    assert_int_equal(up_at_start(5, 3600), 5);
    assert_int_equal(up_at_start(7, 0), 0);
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
        cmocka_unit_test(the_machine_is_up_for_a_while_but_not_before_1970),
    };
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    FILE *page = fopen(argv[1], "w");
    if (!page)
        return 1;
    write_page(page);
    return fclose(page) != 0;
}
