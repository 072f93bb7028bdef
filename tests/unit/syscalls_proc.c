/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * /proc, /sys and the walk: whatever way a path takes, the host's own process is never seen.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls_guest.h"

static void fixed_files_have_their_content(void **state)
{
    (void)state;
    assert_string_equal(guest_content("/sys/devices/system/cpu/online"), "0\n");
    assert_string_equal(guest_content("/proc/sys/vm/overcommit_memory"), "0\n");
    assert_string_equal(guest_content("/proc/sys/kernel/osrelease"), "6.1.0-c2emu\n");
    assert_string_equal(guest_content("/proc/self/mounts"), "/dev/root / ext4 rw 0 0\n");
    assert_string_equal(guest_content("/proc/self/comm"), "true\n");
    assert_string_equal(guest_content("/proc/self/personality"), "00000000\n");
    assert_call(0, personality, ADDR_NO_RANDOMIZE);
    assert_string_equal(guest_content("/proc/self/personality"), "00040000\n");
    assert_string_equal(guest_content("/proc/cmdline"), "root=/dev/root rw\n");
    assert_string_equal(guest_content("/proc/sys/net/ipv4/ip_local_port_range"), "32768\t60999\n");
    assert_string_equal(guest_content("/proc/sys/net/ipv4/conf/lo/disable_policy"), "1\n");
    assert_string_equal(guest_content("/proc/sys/net/ipv4/conf/all/forwarding"), "0\n");
    assert_string_equal(guest_content("/proc/sys/vm/mmap_min_addr"), "65536\n");
    assert_string_equal(guest_content("/proc/sys/kernel/shm_next_id"), "-1\n");
    assert_string_equal(guest_content("/proc/self/uid_map"), "         0          0 4294967295\n");
    assert_string_equal(guest_content("/proc/self/setgroups"), "allow\n");
    assert_memory_equal(guest_content("/proc/self/cmdline"), "./program\0one\0", 15);
    assert_memory_equal(guest_content("/proc/self/environ"), "HOME=/\0", 8);
    assert_non_null(strstr(guest_content("/proc/meminfo"), "MemTotal:          65536 kB\n"));
    assert_non_null(strstr(guest_content("/proc/self/status"), "\nPid:\t1000\n"));
    assert_memory_equal(guest_content("/proc/self/stat"), "1000 (true) R 1 1000 1000 ", 26);
    g.instructions = 12340000000;
    assert_string_equal(guest_content("/proc/uptime"), "12.34 0.00\n");
}

static void every_way_to_a_file_leads_to_it(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "/proc/self/comm",
        "/proc/1000/comm",
        "/proc/thread-self/comm",
        "//proc/./self//comm",
        "/usr/../proc/self/comm",
        "/proc/self/task/1000/comm",
        "/proc/self/root/proc/self/comm",
        "/proc/self/cwd/link",
        "link",
        "dir/../link",
        "/proc/self/fd/../comm",
    };
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(symlink("/proc/self/comm", "link"), 0);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        assert_string_equal(guest_content(ways[i]), "true\n");
    assert_call(3, open, guest_text("/proc"), O_RDONLY | O_DIRECTORY);
    assert_call(4, openat, 3, guest_text("self/comm"), O_RDONLY);
    assert_call(5, openat, 3, guest_text("../proc/1000/comm"), O_RDONLY);
}

static void nothing_of_the_host_is_seen(void **state)
{
    (void)state;
    char host[64];
    snprintf(host, sizeof host, "/proc/%d/comm", getpid());
    assert_call(-ENOENT, open, guest_text(host), O_RDONLY);
    assert_string_equal(guest_content("/proc/1/comm"),
                        "init\n"); /* of a process that the run's have for their parent */
    assert_memory_equal(guest_content("/proc/1/stat"), "1 (init) S 0 1 1 ", 17);
    assert_call(-ENOENT, open, guest_text("/proc/1/environ"), O_RDONLY);
    assert_call(-ENOENT, open, guest_text("/proc/2/comm"), O_RDONLY);
    assert_call(-ENOENT, open, guest_text("/proc/self/mem"), O_RDWR);
    assert_call(-ENOENT, open, guest_text("/proc/kallsyms"), O_RDONLY);
    assert_call(-ENOENT, open, guest_text("/sys/class"), O_RDONLY);
    assert_call(-ENOENT, stat, guest_text("/proc/self/fd/77"), guest_take(144));
    assert_null(strstr(guest_content("/proc/self/maps"), "test_syscalls"));
}

static void links_lead_to_the_guest(void **state)
{
    (void)state;
    char *out = guest_take(4096);
    struct stat *st = guest_take(sizeof *st), host;
    assert_call((int64_t)strlen(g.dir), readlink, guest_text("/proc/self/cwd"), out, 4096);
    assert_memory_equal(out, g.dir, strlen(g.dir));
    assert_call(0, stat, guest_text("/proc/self/exe"), st);
    assert_int_equal(stat("/bin/true", &host), 0);
    assert_int_equal(st->st_ino, host.st_ino);
    assert_call(0, lstat, guest_text("/proc/self/exe"), st);
    assert_int_equal(st->st_mode, S_IFLNK | 0777);
    assert_call(-ELOOP, open, guest_text("/proc/self/exe"), O_RDONLY | O_NOFOLLOW);
}

#define LARGE 0x8000 /* O_LARGEFILE, which the kernel adds */
static void flags_are_those_of_the_open(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st);
    char *out = guest_take(4096);
    assert_call(3, open, guest_text("/proc/self"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(CALL(fcntl, 3, F_GETFL) & ~LARGE, O_DIRECTORY);
    assert_call(-EISDIR, read, 3, out, 8);
    assert_call(4, open, guest_text("/proc/self/status"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(CALL(fcntl, 4, F_GETFL) & ~LARGE, O_NONBLOCK);
    assert_call(5, open, guest_text("/proc/self/exe"), O_PATH | O_NOFOLLOW);
    assert_call(0, fstat, 5, st);
    assert_int_equal(st->st_mode, S_IFLNK | 0777);
    assert_call((int64_t)strlen("/bin/true"), readlinkat, 5, guest_text(""), out, 4096);
    assert_call(-EBADF, read, 5, out, 8);
    assert_call(6, open, guest_text("/proc/self"), O_PATH);
    assert_call(-EBADF, getdents64, 6, out, 4096);
    assert_call(-ENOENT, readlinkat, 6, guest_text(""), out, 4096);
    assert_call(-ENOTDIR, open, guest_text("/proc/self/exe"), O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
    assert_call(-EPERM, open, guest_text("/proc/version"), O_RDONLY | O_NOATIME);
}

static void descriptors_are_the_guest_s(void **state)
{
    (void)state;
    char *out = guest_take(4096), wanted[128];
    struct stat *st = guest_take(sizeof *st);
    guest_file("f", "0123456789");
    assert_call(3, open, guest_text("f"), O_RDONLY);
    snprintf(wanted, sizeof wanted, "%s/f", g.dir);
    assert_call((int64_t)strlen(wanted), readlink, guest_text("/proc/self/fd/3"), out, 4096);
    assert_memory_equal(out, wanted, strlen(wanted));
    assert_call(0, stat, guest_text("/proc/self/fd/3"), st);
    assert_int_equal(st->st_size, 10);
    assert_call(0, lstat, guest_text("/proc/self/fd/3"), st);
    assert_int_equal(st->st_mode, S_IFLNK | 0500);
    assert_int_equal(st->st_size, 64);
    assert_call(4, open, guest_text("/dev/fd/3"), O_RDONLY); /* opened anew: a position of its own */
    assert_call(3, lseek, 3, 3, SEEK_SET);
    assert_call(0, lseek, 4, 0, SEEK_CUR);
    assert_int_equal(unlink("f"), 0);
    assert_call(5, open, guest_text("/proc/self/fd/3"), O_RDONLY); /* it has no name any more */
    assert_call(10, read, 5, out, 100);
    int *pair = guest_take(8);
    assert_call(0, pipe, pair);
    memset(out, 0, 100);
    assert_call(8, readlink, guest_text("/proc/self/fd/6"), out, 4096);
    assert_string_equal(out, "pipe:[4]"); /* not the host's inode number */
    assert_call(0, lstat, guest_text("/proc/self/fd/7"), st);
    assert_int_equal(st->st_mode, S_IFLNK | 0300);
    assert_call(8, open, guest_text("/proc/self/maps"), O_RDONLY);
    assert_call(9, open, guest_text("/proc/self/fd/8"), O_RDONLY);
    assert_call(0, fstat, 9, st);
    assert_int_equal(st->st_mode, S_IFREG | 0444);
    assert_call(10, open, guest_text("/"), O_PATH);
    assert_call(0, lstat, guest_text("/proc/self/fd/10"), st);
    assert_int_equal(st->st_mode, S_IFLNK);
    assert_call(11, socket, AF_UNIX, SOCK_STREAM, 0);
    assert_call(0, lstat, guest_text("/proc/self/fd/11"), st);
    assert_int_equal(st->st_mode, S_IFLNK | 0700);
    assert_call(12, open, guest_text("/proc/version"), O_RDONLY | O_NOFOLLOW);
    assert_int_equal(CALL(fcntl, 12, F_GETFL) & O_NOFOLLOW, O_NOFOLLOW);
    assert_int_equal(CALL(fcntl, 8, F_GETFL) & O_NOFOLLOW, 0);
}

/* "a b c" of a directory, through a buffer of `room` bytes; without "." and "..". */
static const char *list(const char *path, size_t room)
{
    static char names[4096];
    char *buffer = guest_take(room);
    int64_t fd = CALL(open, guest_text(path), O_RDONLY | O_DIRECTORY), bytes;
    names[0] = '\0';
    while ((bytes = CALL(getdents64, fd, buffer, room)) > 0)
        for (int64_t at = 0; at < bytes; at += ((struct dirent64 *)(buffer + at))->d_reclen) {
            const char *name = ((struct dirent64 *)(buffer + at))->d_name;
            if (strcmp(name, ".") && strcmp(name, ".."))
                strcat(strcat(names, name), " ");
        }
    assert_int_equal(bytes, 0);
    assert_call(0, close, fd);
    return names;
}

static void directories_can_be_listed(void **state)
{
    (void)state;
    static const char top[] = "1 cmdline cpuinfo filesystems loadavg meminfo mounts self stat swaps sys sysvipc "
                              "thread-self uptime version vmstat 1000 ";
    assert_string_equal(list("/proc", 4096), top);
    assert_string_equal(list("/proc", 32), top); /* a few at a time */
    assert_string_equal(list("/proc/self/task", 4096), "1000 ");
    assert_string_equal(
        list("/proc/1000", 4096),
        "cgroup cmdline comm coredump_filter cpuset cwd environ exe fd gid_map limits loginuid maps mountinfo "
        "mounts oom_adj oom_score oom_score_adj pagemap personality root sessionid setgroups smaps stat statm status "
        "task uid_map wchan ");
    assert_string_equal(
        list("/proc/self/task/1000", 40),
        "cgroup children cmdline comm coredump_filter cpuset cwd environ exe fd gid_map limits loginuid maps "
        "mountinfo mounts oom_adj oom_score oom_score_adj pagemap personality root sessionid setgroups smaps stat "
        "statm status uid_map wchan ");
    assert_string_equal(list("/proc/self/fd", 4096), "0 1 2 3 ");
    assert_string_equal(list("/proc/sys/net/ipv4/conf", 4096), "all default lo ");
    assert_string_equal(list("/sys/devices/system/cpu", 4096), "offline online possible present cpu0 ");
    assert_string_equal(list("/sys/devices/system/cpu/cpu0", 4096), "cache topology ");
    assert_string_equal(list("/sys/devices/system/cpu/cpu0/cache", 32), "index0 index1 index2 ");
    assert_call(3, open, guest_text("/proc"), O_RDONLY);
    assert_call(-EINVAL, getdents64, 3, guest_take(64), 8); /* not even one fits */
    assert_call(-EISDIR, open, guest_text("/proc"), O_RDWR);
    assert_call(-ENOTDIR, open, guest_text("/proc/self/maps"), O_RDONLY | O_DIRECTORY);
}

#define CPU "/sys/devices/system/cpu/"
static void caches_are_the_machine_s(void **state)
{
    (void)state;
    assert_string_equal(list(CPU "cpu0/cache/index0", 4096),
                        "coherency_line_size id level number_of_sets physical_line_partition shared_cpu_list "
                        "shared_cpu_map type ways_of_associativity size ");
    assert_string_equal(guest_content(CPU "cpu0/cache/index0/size"), "48K\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index0/type"), "Data\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index0/level"), "1\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index1/type"), "Instruction\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index1/coherency_line_size"), "32\n");
    assert_call(-ENOENT, open, guest_text(CPU "cpu0/cache/index1/size"), O_RDONLY); /* 512 bytes: no KiB */
    assert_string_equal(guest_content(CPU "cpu0/cache/index2/type"), "Unified\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index2/size"), "22528K\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index2/number_of_sets"), "32768\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index2/ways_of_associativity"), "11\n");
    assert_string_equal(guest_content(CPU "cpu0/cache/index0/shared_cpu_map"), "1\n");
    assert_call(-ENOENT, open, guest_text(CPU "cpu0/cache/index3"), O_RDONLY);
    assert_call(-ENOENT, open, guest_text(CPU "cpu0/cache/index0x"), O_RDONLY);
    assert_call(-ENOENT, open, guest_text(CPU "cpu00/cache"), O_RDONLY);
    assert_call(-ENOENT, open, guest_text(CPU "cpu1"), O_RDONLY);
    assert_call(-EACCES, open, guest_text(CPU "cpu0/cache/index0/size"), O_WRONLY);
    assert_non_null(strstr(guest_content("/proc/cpuinfo"), ".000\ncache size\t: 22528 KB\nphysical id\t: 0\n"));
    g.kernel->cache_count = 2;
    assert_non_null(strstr(guest_content("/proc/cpuinfo"), ".000\ncache size\t: 48 KB\nphysical id\t: 0\n"));
    g.kernel->cache_count = 0;
    assert_non_null(strstr(guest_content("/proc/cpuinfo"), ".000\nphysical id\t: 0\n"));
}

static void processors_are_cores_of_a_package(void **state)
{
    (void)state;
    assert_string_equal(guest_content(CPU "online"), "0-33\n");
    assert_string_equal(guest_content(CPU "offline"), "\n");
    assert_string_equal(guest_content(CPU "cpu33/topology/core_id"), "33\n");
    assert_string_equal(guest_content(CPU "cpu33/topology/physical_package_id"), "0\n");
    assert_string_equal(guest_content(CPU "cpu33/topology/thread_siblings"), "2,00000000\n");
    assert_string_equal(guest_content(CPU "cpu3/topology/thread_siblings_list"), "3\n");
    assert_string_equal(guest_content(CPU "cpu3/topology/core_siblings"), "3,ffffffff\n");
    assert_string_equal(guest_content(CPU "cpu3/topology/core_siblings_list"), "0-33\n");
    assert_string_equal(guest_content(CPU "cpu3/cache/index0/id"), "3\n");
    assert_string_equal(guest_content(CPU "cpu3/cache/index0/shared_cpu_list"), "3\n");
    assert_string_equal(guest_content(CPU "cpu3/cache/index2/id"), "0\n");
    assert_string_equal(guest_content(CPU "cpu3/cache/index2/shared_cpu_map"), "3,ffffffff\n");
    assert_call(-ENOENT, open, guest_text(CPU "cpu34"), O_RDONLY);
}

static void files_cannot_be_written(void **state)
{
    (void)state;
    assert_call(-EACCES, open, guest_text("/proc/self/stat"), O_WRONLY);
    assert_call(-EACCES, open, guest_text("/proc/self/stat"), O_RDONLY | O_TRUNC);
    assert_call(3, open, guest_text("/proc/self/comm"), O_RDONLY | O_TRUNC);
    assert_call(-EBADF, write, 3, guest_text("x"), 1);
    assert_int_equal(CALL(ftruncate, 3, 0) < 0, 1);
    assert_call(-ENOENT, open, guest_text("/proc/self/new"), O_CREAT | O_WRONLY, 0644);
}

static void a_plain_user_does_not_go_below_its_score(void **state)
{
    (void)state;
    assert_call(3, open, guest_text("/proc/self/oom_score_adj"), O_WRONLY);
    assert_call(4, write, 3, guest_text(" 300"), 4);
    assert_call(-EACCES, write, 3, guest_text("-1"), 2);
    assert_string_equal(guest_content("/proc/self/oom_score_adj"), "300\n");
    assert_call(1, write, 3, guest_text("0"), 1);
    assert_string_equal(guest_content("/proc/self/oom_score_adj"), "0\n");
}

static void maps_are_as_linux_writes_them(void **state)
{
    (void)state;
    static const char arena[] = "20000000000-20000040000 rw-p 00000000 00:00 0 \n";
    assert_non_null(strstr(guest_content("/proc/self/maps"), arena));
    char heap[64];
    assert_call((int64_t)MMU_HEAP_BASE + 4096, brk, MMU_HEAP_BASE + 4096);
    snprintf(heap, sizeof heap, "%llx-%llx rw-p ", MMU_HEAP_BASE, MMU_HEAP_BASE + 4096);
    const char *line = strstr(guest_content("/proc/self/maps"), heap);
    assert_non_null(line);
    assert_memory_equal(line + 73, "[heap]\n", 7);
}

static void loops_and_long_paths_are_errors(void **state)
{
    (void)state;
    char *path = guest_take(8192);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_call(-ELOOP, open, guest_text("loop"), O_RDONLY);
    assert_call(-ELOOP, stat, guest_text("loop/x"), guest_take(144));
    memset(path, 'a', 5000);
    assert_call(-ENAMETOOLONG, open, path, O_RDONLY);
    path[4095] = '\0';
    assert_call(-ENAMETOOLONG, open, path, O_RDONLY); /* one component */
    for (int i = 0; i < 2000; i++)
        memcpy(path + 2 * i, "./", 2);
    strcpy(path + 4000, "none");
    assert_call(-ENOENT, open, path, O_RDONLY);
    /* a string that runs into unmapped memory */
    char *last = (char *)(uintptr_t)(GUEST_ARENA + GUEST_ARENA_BYTES - 3);
    memcpy(last, "abc", 3);
    assert_call(-EFAULT, open, last, O_RDONLY);
}

static void a_failed_allocation_is_enomem(void **state)
{
    (void)state;
    const char *path = guest_text("/proc/self/comm");
    c2_alloc_fail_from(1);
    assert_call(-ENOMEM, open, path, O_RDONLY);
    c2_alloc_fail_from(0);
    assert_call(3, open, path, O_RDONLY);
    c2_alloc_fail_from(1);
    assert_call(-ENOMEM, dup, 3);
    assert_call(-ENOMEM, dup2, 3, 0); /* what was there stays */
    c2_alloc_fail_from(0);
    assert_call(0, fcntl, 0, F_GETFD);
    assert_call(4, dup, 3);
}

static void a_dump_shows_the_descriptors(void **state)
{
    (void)state;
    assert_call(3, open, guest_text("/proc/self/comm"), O_RDONLY | O_CLOEXEC);
    syscalls_dump(g.kernel, g.complaints);
    const char *text = guest_said(g.complaints);
    assert_non_null(strstr(text, "/bin/true (true): last call at instruction 0, 0 ns slept\n"));
    assert_non_null(strstr(text, ", synthetic, waits for nobody, close-on-exec, /proc/1000/comm\n"));
    assert_non_null(strstr(text, "signals: pending 0\nthread 1000 runs; signals blocked 0\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, guest_setup, guest_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fixed_files_have_their_content),
        TEST(every_way_to_a_file_leads_to_it),
        TEST(nothing_of_the_host_is_seen),
        TEST(links_lead_to_the_guest),
        TEST(flags_are_those_of_the_open),
        TEST(descriptors_are_the_guest_s),
        TEST(directories_can_be_listed),
        TEST(caches_are_the_machine_s),
        cmocka_unit_test_setup_teardown(processors_are_cores_of_a_package, guest_setup_processors, guest_teardown),
        TEST(files_cannot_be_written),
        TEST(a_plain_user_does_not_go_below_its_score),
        TEST(maps_are_as_linux_writes_them),
        TEST(loops_and_long_paths_are_errors),
        TEST(a_failed_allocation_is_enomem),
        TEST(a_dump_shows_the_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
