/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the guest is told of files: owners in its own numbers, and nothing of the host where no file of the host is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "syscalls/attributes_priv.h"
#include "syscalls/directories_priv.h"
#include "syscalls_guest.h"

#define START 1577836800 /* 2020-01-01T00:00:00Z */

static void who_runs_c2emu_is_the_guest(void **state)
{
    (void)state;
    static const uint32_t rows[][3] = {/* of the host, the user of c2emu, shown */
                                       {0, 0, 1000},        {1000, 0, 65534},    {1, 0, 1},          {0, 1000, 0},
                                       {1000, 1000, 1000},  {1001, 1000, 1001},  {1001, 1001, 1000}, {0, 1001, 0},
                                       {1000, 1001, 65534}, {65534, 1001, 65534}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(attributes_owner(rows[i][0], rows[i][1]), rows[i][2]);
}

static void own_files_belong_to_the_guest(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st), root;
    struct statx *stx = guest_take(sizeof *stx);
    guest_file("f", "");
    assert_call(0, stat, guest_text("f"), st);
    assert_int_equal(st->st_uid, 1000);
    assert_int_equal(st->st_gid, 1000);
    assert_call(0, statx, AT_FDCWD, guest_text("f"), 0, 0xfff | 0x1000 /* STATX_MNT_ID */, stx);
    assert_int_equal(stx->stx_uid, 1000);
    assert_int_equal(stx->stx_gid, 1000);
    assert_int_equal(stx->stx_mask & ~(unsigned)(STATX_BASIC_STATS | STATX_BTIME), 0);
    assert_int_equal(*(uint64_t *)((char *)stx + 144), 0); /* stx_mnt_id */
    assert_call(0, lstat, guest_text("/"), st);
    assert_int_equal(stat("/", &root), 0);
    assert_int_equal(st->st_uid, attributes_owner(root.st_uid, geteuid()));
}

static void files_are_not_given_away(void **state)
{
    (void)state;
    struct stat st;
    guest_file("f", "");
    assert_int_equal(symlink("f", "l"), 0);
    assert_call(0, chown, guest_text("f"), 1000, 1000);
    assert_call(0, lchown, guest_text("l"), -1, 1000);
    assert_call(-EPERM, chown, guest_text("f"), 0, -1);
    assert_call(-EPERM, chown, guest_text("f"), 1001, -1);
    assert_call(-EPERM, fchown, CALL(open, guest_text("f"), O_RDONLY), -1, 0);
    assert_call(-EPERM, fchownat, AT_FDCWD, guest_text("l"), 65534, 65534, AT_SYMLINK_NOFOLLOW);
    assert_int_equal(lstat("f", &st), 0);
    assert_int_equal(st.st_uid, geteuid());
    assert_int_equal(st.st_gid, getegid());
    assert_call(-EPERM, mknod, guest_text("d"), S_IFCHR | 0600, makedev(1, 3));
    assert_call(-EPERM, mknodat, AT_FDCWD, guest_text("d"), S_IFBLK | 0600, makedev(1, 0));
    /* of a file whose owner is another, not even the guest's own number: tried where there is one */
    if (geteuid() == 0 && chown("f", 1000, 4242) == 0) {
        struct stat *out = guest_take(sizeof *out);
        assert_call(0, stat, guest_text("f"), out);
        assert_int_equal(out->st_uid, 65534);
        assert_int_equal(out->st_gid, 4242);
        assert_call(-EPERM, chown, guest_text("f"), 1000, -1);
        assert_call(-EPERM, chown, guest_text("f"), -1, 4242);
        assert_call(0, chown, guest_text("f"), -1, -1);
    }
}

/* ------------------------------------------------------------------ the run's own objects */

static const struct stat *status_of(int64_t fd)
{
    struct stat *st = guest_take(sizeof *st);
    assert_call(0, fstat, fd, st);
    assert_int_equal(st->st_uid, 1000);
    return st;
}

static void assert_object(int64_t fd, unsigned minor_number, uint64_t inode, int64_t seconds, int64_t ns)
{
    const struct stat *st = status_of(fd);
    struct statx *stx = guest_take(sizeof *stx);
    assert_int_equal(st->st_dev, makedev(0, minor_number));
    assert_int_equal(st->st_ino, inode);
    assert_int_equal(st->st_mtim.tv_sec, START + seconds);
    assert_int_equal(st->st_mtim.tv_nsec, ns);
    assert_int_equal(st->st_atim.tv_sec, START + seconds);
    assert_int_equal(st->st_ctim.tv_nsec, ns);
    assert_call(0, statx, fd, guest_text(""), AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, stx);
    assert_int_equal(stx->stx_dev_major, 0);
    assert_int_equal(stx->stx_dev_minor, minor_number);
    assert_int_equal(stx->stx_ino, inode);
    assert_int_equal(stx->stx_mtime.tv_sec, START + seconds);
    assert_int_equal(stx->stx_ctime.tv_nsec, ns);
    if (stx->stx_mask & STATX_BTIME)
        assert_int_equal(stx->stx_btime.tv_nsec, ns);
}

static void objects_are_numbered_and_dated(void **state)
{
    (void)state;
    int *pair = guest_take(8), *sockets = guest_take(8);
    g.instructions = 2000000003;
    assert_call(0, pipe, pair);
    assert_object(pair[0], 13, 4, 2, 3);
    assert_object(pair[1], 13, 4, 2, 3); /* one inode */
    g.instructions = 2000000004;
    assert_call(0, socketpair, AF_UNIX, SOCK_STREAM, 0, sockets);
    assert_object(sockets[0], 8, 5, 2, 4);
    assert_object(sockets[1], 8, 6, 2, 4);
    int64_t memory = CALL(memfd_create, guest_text("m"), 0);
    assert_object(memory, 1, 7, 2, 4);
    assert_int_equal(status_of(memory)->st_size, 0);
    assert_object(CALL(eventfd2, 0, 0), 14, 1, 0, 0); /* these share one inode on Linux, too */
    assert_object(CALL(epoll_create1, 0), 14, 1, 0, 0);
    assert_object(CALL(socket, AF_UNIX, SOCK_STREAM, 0), 8, 8, 2, 4);
    /* copies, and the ways through /proc */
    g.instructions = 9000000000;
    assert_call(2, write, pair[1], guest_text("ab"), 2);
    assert_object(CALL(dup, pair[0]), 13, 4, 2, 3);
    char name[32], *text = guest_take(64);
    snprintf(name, sizeof name, "/proc/self/fd/%d", pair[0]);
    assert_object(CALL(open, guest_text(name), O_RDONLY), 13, 4, 2, 3);
    assert_call(8, readlink, guest_text(name), text, 64);
    assert_string_equal(text, "pipe:[4]");
    snprintf(name, sizeof name, "/proc/self/fd/%d", sockets[1]);
    memset(text, 0, 64);
    assert_call(10, readlink, guest_text(name), text, 64);
    assert_string_equal(text, "socket:[6]");
    /* a mapping of a memfd has the same device and number */
    assert_call(0, ftruncate, memory, 4096);
    assert_true(CALL(mmap, NULL, 4096, PROT_READ, MAP_SHARED, memory, 0) > 0);
    const char *line = strstr(guest_content("/proc/self/maps"), "r--s");
    assert_non_null(line);
    assert_int_equal(strncmp(line, "r--s 00000000 00:01 7 ", 22), 0);
}

/* Nothing is known of files of the host, whatever their numbers. */
static void files_keep_what_they_are(void **state)
{
    (void)state;
    struct stat host;
    guest_file("f", "abc");
    assert_int_equal(stat("f", &host), 0);
    const struct stat *st = status_of(CALL(open, guest_text("f"), O_RDONLY));
    assert_int_equal(st->st_ino, host.st_ino);
    assert_int_equal(st->st_dev, host.st_dev);
    assert_int_equal(st->st_mtim.tv_nsec, host.st_mtim.tv_nsec);
    assert_int_equal(mkfifo("p", 0600), 0);
    assert_int_equal(stat("p", &host), 0);
    assert_int_equal(status_of(CALL(open, guest_text("p"), O_RDWR))->st_ino, host.st_ino);
}

static uint64_t number_of(const char *path)
{
    struct stat *st = guest_take(sizeof *st);
    assert_call(0, stat, guest_text(path), st);
    return st->st_ino;
}

static void assert_directory(const char *path, uint64_t inode)
{
    struct stat *st = guest_take(sizeof *st), host;
    struct statx *stx = guest_take(sizeof *stx);
    assert_call(0, lstat, guest_text(path), st);
    assert_int_equal(st->st_ino, inode);
    assert_int_equal(st->st_nlink, 1);
    assert_int_equal(st->st_size, 4096);
    assert_int_equal(st->st_blocks, 8);
    assert_int_equal(st->st_blksize, 4096);
    assert_int_equal(stat(path, &host), 0);
    assert_int_equal(st->st_dev, host.st_dev);
    assert_call(0, statx, AT_FDCWD, guest_text(path), 0, STATX_BASIC_STATS, stx);
    assert_int_equal(stx->stx_ino, inode);
    assert_int_equal(stx->stx_nlink, 1);
    assert_int_equal(stx->stx_size, 4096);
    assert_int_equal(stx->stx_blocks, 8);
    assert_int_equal(stx->stx_blksize, 4096);
}

/* In the order in which the run meets them; a number goes with its directory, and is not used again. */
static void directories_are_the_runs_own(void **state)
{
    (void)state;
    const uint64_t first = DIRECTORIES_FIRST;
    assert_int_equal(mkdir("a", 0777), 0);
    assert_int_equal(mkdir("b", 0777), 0);
    assert_directory("b", first);
    assert_directory("a", first + 1);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "a/%d", i);
        assert_int_equal(mkdir(name, 0777), 0);
    }
    assert_directory("a", first + 1);
    assert_int_equal(rename("b", "c"), 0);
    assert_int_equal(mkdir("b", 0777), 0);
    assert_directory("c", first);
    assert_directory("b", first + 2);
    assert_call(0, rmdir, guest_text("b"));
    assert_call(0, mkdir, guest_text("b"), 0777);
    assert_directory("b", first + 3);
    assert_call(0, unlinkat, AT_FDCWD, guest_text("b"), AT_REMOVEDIR);
    assert_call(0, mkdir, guest_text("b"), 0777);
    assert_call(-ENOTEMPTY, rmdir, guest_text("a"));
    assert_directory("a", first + 1);
    assert_directory("b", first + 4);
    guest_file("f", "");
    struct stat host;
    assert_int_equal(stat("f", &host), 0);
    assert_int_equal(number_of("f"), host.st_ino);
}

/* A list and a scan of it in the place of the index, and a process that knows the list from before. */
struct naive {
    uint64_t device, inode, number;
};

static uint64_t naive_number(struct naive *list, uint32_t *count, uint64_t *next, uint64_t device, uint64_t inode)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].device == device && list[i].inode == inode)
            return list[i].number;
    list[(*count)++] = (struct naive){device, inode, (*next)++};
    return *next - 1;
}

static void naive_forget(struct naive *list, uint32_t *count, uint64_t device, uint64_t inode)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].device == device && list[i].inode == inode) {
            list[i] = list[--*count];
            return;
        }
}

static void assert_numbers_as_a_scan(struct inodes *directories, bool forgets_badly)
{
    static struct naive list[4096];
    uint32_t count = 0, differences = 0;
    uint64_t next = DIRECTORIES_FIRST;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "directories");
    for (int i = 0; i < 20000; i++) {
        const uint64_t device = 1 + c2_rng_below(&rng, 3), inode = 1 + c2_rng_below(&rng, 300);
        if (c2_rng_below(&rng, 20) == 0) {
            naive_forget(list, &count, device, inode);
            if (!forgets_badly)
                inodes_forget(directories, device, inode);
        }
        differences += naive_number(list, &count, &next, device, inode) !=
                       directories_number(directories, device, inode);
    }
    assert_int_equal(differences != 0, forgets_badly);
}

static void numbers_are_those_of_a_scan(void **state)
{
    (void)state;
    struct c2_error err;
    for (int broken = 0; broken < 2; broken++) {
        struct inodes *directories;
        assert_int_equal(directories_create(&directories, &err), C2_OK);
        assert_numbers_as_a_scan(directories, broken == 1);
        inodes_destroy(directories);
    }
}

/* What each of two processes meets, the other knows. */
static void processes_share_the_numbers(void **state)
{
    (void)state;
    struct inodes *directories;
    struct c2_error err;
    int status;
    assert_int_equal(directories_create(&directories, &err), C2_OK);
    assert_int_equal(directories_number(directories, 1, 7), DIRECTORIES_FIRST);
    const pid_t child = fork();
    if (child == 0) {
        const bool right = directories_number(directories, 1, 8) == DIRECTORIES_FIRST + 1 &&
                           directories_number(directories, 1, 7) == DIRECTORIES_FIRST;
        inodes_forget(directories, 1, 7);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(directories_number(directories, 1, 9), DIRECTORIES_FIRST + 2);
    assert_int_equal(directories_number(directories, 1, 8), DIRECTORIES_FIRST + 1);
    assert_int_equal(directories_number(directories, 1, 7), DIRECTORIES_FIRST + 3);
    inodes_destroy(directories);
}

static void file_systems_have_one_size(void **state)
{
    (void)state;
    struct statfs *fs = guest_take(sizeof *fs), host;
    int *pair = guest_take(8);
    assert_int_equal(statfs(".", &host), 0);
    assert_call(0, statfs, guest_text("."), fs);
    assert_int_equal(fs->f_type, host.f_type);
    assert_int_equal(fs->f_namelen, host.f_namelen);
    assert_int_equal(fs->f_bsize, 4096);
    assert_int_equal(fs->f_frsize, 4096);
    assert_int_equal(fs->f_blocks, 1 << 28);
    assert_int_equal(fs->f_bfree, 1 << 27);
    assert_int_equal(fs->f_bavail, 1 << 27);
    assert_int_equal(fs->f_files, 1 << 24);
    assert_int_equal(fs->f_ffree, 1 << 23);
    assert_int_equal(fs->f_fsid.__val[0] | fs->f_fsid.__val[1], 0);
    assert_call(0, pipe, pair);
    assert_call(0, fstatfs, pair[0], fs);
    assert_int_equal(fs->f_type, 0x50495045);
    assert_int_equal(fs->f_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_runs_c2emu_is_the_guest),
        cmocka_unit_test_setup_teardown(own_files_belong_to_the_guest, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(files_are_not_given_away, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(objects_are_numbered_and_dated, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(files_keep_what_they_are, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(directories_are_the_runs_own, guest_setup, guest_teardown),
        cmocka_unit_test(numbers_are_those_of_a_scan),
        cmocka_unit_test(processes_share_the_numbers),
        cmocka_unit_test_setup_teardown(file_systems_have_one_size, guest_setup, guest_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
