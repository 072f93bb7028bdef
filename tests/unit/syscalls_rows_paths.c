/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One test a row: calls that name files.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "syscalls_guest.h"

#define SYSCALL(number, name, ...) void row_##name(void **state);
#include "syscalls/table.h"

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static int64_t directory(const char *name)
{
    assert_int_equal(mkdir(name, 0755), 0);
    int64_t fd = CALL(open, guest_text(name), O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    return fd;
}

void row_stat(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st), host;
    guest_file("f", "12345");
    assert_int_equal(symlink("f", "l"), 0);
    assert_call(0, stat, guest_text("l"), st);
    assert_int_equal(stat("f", &host), 0);
    host.st_uid = host.st_gid = 1000; /* the owner is the guest */
    assert_memory_equal(st, &host, sizeof host);
    assert_int_equal(st->st_size, 5);
    memset(st, 0x55, sizeof *st);
    assert_call(-ENOENT, stat, guest_text("none"), st);
    assert_int_equal(((uint8_t *)st)[0], 0x55); /* a failed call leaves the memory alone */
    assert_call(-ENOTDIR, stat, guest_text("f/x"), st);
}

void row_fstat(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st);
    guest_file("f", "12345");
    assert_call(3, open, guest_text("f"), O_RDONLY);
    assert_call(0, fstat, 3, st);
    assert_int_equal(st->st_size, 5);
    assert_int_equal(st->st_mode & S_IFMT, S_IFREG);
}

void row_lstat(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st);
    assert_int_equal(symlink("nowhere", "l"), 0);
    assert_call(0, lstat, guest_text("l"), st);
    assert_int_equal(st->st_mode & S_IFMT, S_IFLNK);
    assert_int_equal(st->st_size, 7);
}

void row_newfstatat(void **state)
{
    (void)state;
    struct stat *st = guest_take(sizeof *st);
    int64_t dir = directory("d");
    guest_file("d/f", "123");
    assert_call(0, newfstatat, dir, guest_text("f"), st, 0);
    assert_int_equal(st->st_size, 3);
    assert_call(0, newfstatat, dir, guest_text(""), st, AT_EMPTY_PATH);
    assert_true(S_ISDIR(st->st_mode));
    assert_call(0, newfstatat, AT_FDCWD, guest_text(""), st, AT_EMPTY_PATH);
    assert_true(S_ISDIR(st->st_mode));
    assert_call(-ENOENT, newfstatat, dir, guest_text(""), st, 0);
    assert_call(-EBADF, newfstatat, 99, guest_text(""), st, AT_EMPTY_PATH);
    assert_call(-EINVAL, newfstatat, dir, guest_text("f"), st, 0x8000);
}

void row_statx(void **state)
{
    (void)state;
    struct statx *st = guest_take(sizeof *st);
    guest_file("f", "1234");
    assert_call(0, statx, AT_FDCWD, guest_text("f"), 0, STATX_BASIC_STATS, st);
    assert_int_equal(st->stx_size, 4);
    assert_call(0, statx, AT_FDCWD, guest_text("/proc/self/maps"), 0, STATX_BASIC_STATS, st);
    assert_int_equal(st->stx_mode, S_IFREG | 0444);
    assert_int_equal(st->stx_uid, 1000);
}

void row_statfs(void **state)
{
    (void)state;
    struct statfs *fs = guest_take(sizeof *fs);
    assert_call(0, statfs, guest_text("."), fs);
    assert_true(fs->f_bsize > 0);
    assert_call(0, statfs, guest_text("/proc"), fs);
    assert_int_equal(fs->f_type, 0x9fa0);
    assert_int_equal(fs->f_blocks, 0);
    assert_call(-ENOENT, statfs, guest_text("none"), fs);
    assert_call(-ENOENT, statfs, guest_text("/sys/fs/selinux"), fs);
}

void row_fstatfs(void **state)
{
    (void)state;
    struct statfs *fs = guest_take(sizeof *fs);
    assert_call(3, open, guest_text("."), O_RDONLY);
    assert_call(0, fstatfs, 3, fs);
    assert_true(fs->f_namelen > 0);
    assert_call(4, open, guest_text("/proc/self/maps"), O_RDONLY);
    assert_call(0, fstatfs, 4, fs);
    assert_int_equal(fs->f_type, 0x9fa0);
}

void row_access(void **state)
{
    (void)state;
    guest_file("f", "");
    assert_call(0, access, guest_text("f"), R_OK | W_OK);
    assert_call(-ENOENT, access, guest_text("none"), F_OK);
    assert_call(-EACCES, access, guest_text("f"), X_OK);
    assert_call(0, access, guest_text("/proc/self/maps"), R_OK);
    assert_call(-EACCES, access, guest_text("/proc/self/maps"), W_OK);
    assert_call(-EINVAL, access, guest_text("f"), 64);
}

void row_faccessat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    guest_file("d/f", "");
    assert_call(0, faccessat, dir, guest_text("f"), F_OK);
    assert_call(-ENOENT, faccessat, AT_FDCWD, guest_text("f"), F_OK);
}

void row_faccessat2(void **state)
{
    (void)state;
    assert_int_equal(symlink("nowhere", "l"), 0);
    assert_call(0, faccessat2, AT_FDCWD, guest_text("l"), F_OK, AT_SYMLINK_NOFOLLOW);
    assert_call(-ENOENT, faccessat2, AT_FDCWD, guest_text("l"), F_OK, 0);
}

void row_readlink(void **state)
{
    (void)state;
    char *out = guest_take(4096);
    assert_int_equal(symlink("to/there", "l"), 0);
    assert_call(8, readlink, guest_text("l"), out, 100);
    assert_string_equal(out, "to/there");
    assert_call(2, readlink, guest_text("l"), out, 2);
    assert_call(-EINVAL, readlink, guest_text("l"), out, 0);
    assert_call(-EINVAL, readlink, guest_text("."), out, 100);
    memset(out, 0, 100);
    assert_call(9, readlink, guest_text("/proc/self/exe"), out, 100);
    assert_string_equal(out, "/bin/true");
    assert_call(4, readlink, guest_text("/proc/self"), out, 100);
    assert_memory_equal(out, "1000", 4);
}

void row_readlinkat(void **state)
{
    (void)state;
    char *out = guest_take(4096);
    int64_t dir = directory("d");
    assert_int_equal(symlink("x", "d/l"), 0);
    assert_call(1, readlinkat, dir, guest_text("l"), out, 100);
    assert_call(-ENOENT, readlinkat, AT_FDCWD, guest_text(""), out, 100);
    int64_t link = CALL(openat, dir, guest_text("l"), O_PATH | O_NOFOLLOW);
    assert_call(1, readlinkat, link, guest_text(""), out, 100);
    assert_int_equal(out[0], 'x');
}

/* Directories have numbers of the run's own, files the host's: in a listing too. */
static void assert_entries_are_those_of_stat(int64_t dir)
{
    char *out = guest_take(1024);
    struct stat *st = guest_take(sizeof *st);
    assert_call(0, lseek, dir, 0, SEEK_SET);
    int64_t bytes = CALL(getdents64, dir, out, 1024);
    int count = 0;
    for (int64_t at = 0; at < bytes; at += ((struct dirent64 *)(out + at))->d_reclen, count++) {
        const struct dirent64 *entry = (const struct dirent64 *)(out + at);
        assert_call(0, newfstatat, dir, guest_text(entry->d_name), st, AT_SYMLINK_NOFOLLOW);
        assert_int_equal(entry->d_ino, st->st_ino);
    }
    assert_int_equal(count, 4);
}

void row_getdents64(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    guest_file("d/only", "");
    char *out = guest_take(1024), names[64] = "";
    int64_t bytes = CALL(getdents64, dir, out, 1024);
    int count = 0;
    for (int64_t at = 0; at < bytes; at += ((struct dirent64 *)(out + at))->d_reclen, count++)
        if (((struct dirent64 *)(out + at))->d_name[0] != '.')
            strcat(names, ((struct dirent64 *)(out + at))->d_name);
    assert_int_equal(count, 3);
    assert_string_equal(names, "only");
    assert_call(0, getdents64, dir, out, 1024);
    assert_int_equal(mkdir("d/below", 0777), 0);
    assert_entries_are_those_of_stat(dir);
    assert_call(-ENOTDIR, getdents64, CALL(open, guest_text("d/only"), O_RDONLY), out, 1024);
}

void row_getcwd(void **state)
{
    (void)state;
    char *out = guest_take(4096);
    assert_call((int64_t)strlen(g.dir) + 1, getcwd, out, 4096);
    assert_string_equal(out, g.dir);
    assert_call(-ERANGE, getcwd, out, strlen(g.dir));
    assert_call(-EFAULT, getcwd, NULL, 100);
}

void row_chdir(void **state)
{
    (void)state;
    char *out = guest_take(4096), wanted[100], host[4096];
    directory("d");
    guest_file("d/f", "x");
    assert_call(0, chdir, guest_text("d"));
    assert_call(0, access, guest_text("f"), F_OK);
    snprintf(wanted, sizeof wanted, "%s/d", g.dir);
    assert_call((int64_t)strlen(wanted) + 1, getcwd, out, 4096);
    assert_string_equal(out, wanted);
    assert_string_equal(getcwd(host, sizeof host), g.dir); /* c2emu itself stays where it is */
    assert_call(-ENOENT, chdir, guest_text("none"));
    assert_call(-ENOTDIR, chdir, guest_text("f"));
    assert_call(-EACCES, chdir, guest_text("/proc/self"));
    assert_call(0, chdir, guest_text(".."));
    assert_call(0, access, guest_text("d/f"), F_OK);
}

void row_fchdir(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    guest_file("d/f", "x");
    assert_call(0, fchdir, dir);
    assert_call(0, access, guest_text("f"), F_OK);
    assert_call(-ENOTDIR, fchdir, CALL(open, guest_text("f"), O_RDONLY));
    assert_call(-EACCES, fchdir, CALL(open, guest_text("/proc"), O_RDONLY));
}

void row_mkdir(void **state)
{
    (void)state;
    assert_call(0, mkdir, guest_text("d"), 0777);
    assert_int_equal(mode_of("d"), S_IFDIR | 0755);
    assert_call(-EEXIST, mkdir, guest_text("d"), 0777);
    assert_call(-ENOENT, mkdir, guest_text("/proc/x"), 0777);
}

void row_mkdirat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    assert_call(0, mkdirat, dir, guest_text("e"), 0700);
    assert_int_equal(mode_of("d/e"), S_IFDIR | 0700);
}

void row_rmdir(void **state)
{
    (void)state;
    directory("d");
    guest_file("f", "");
    assert_call(0, rmdir, guest_text("d"));
    assert_false(exists("d"));
    assert_call(-ENOTDIR, rmdir, guest_text("f"));
    assert_call(-EPERM, rmdir, guest_text("/proc"));
}

void row_unlink(void **state)
{
    (void)state;
    guest_file("f", "");
    assert_int_equal(symlink("f", "l"), 0);
    assert_call(0, unlink, guest_text("l"));
    assert_true(exists("f"));
    assert_call(0, unlink, guest_text("f"));
    assert_call(-ENOENT, unlink, guest_text("f"));
    assert_call(-EPERM, unlink, guest_text("/proc/self/exe")); /* not what it points to */
}

void row_unlinkat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    guest_file("d/f", "");
    assert_call(0, unlinkat, dir, guest_text("f"), 0);
    assert_call(0, unlinkat, AT_FDCWD, guest_text("d"), AT_REMOVEDIR);
    assert_false(exists("d"));
}

void row_rename(void **state)
{
    (void)state;
    guest_file("f", "content");
    assert_call(0, rename, guest_text("f"), guest_text("n"));
    assert_false(exists("f"));
    assert_string_equal(guest_content("n"), "content");
    assert_call(-ENOENT, rename, guest_text("f"), guest_text("n"));
}

void row_renameat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    guest_file("f", "");
    assert_call(0, renameat, AT_FDCWD, guest_text("f"), dir, guest_text("n"));
    assert_true(exists("d/n"));
}

void row_renameat2(void **state)
{
    (void)state;
    guest_file("a", "a");
    guest_file("b", "b");
    assert_call(-EEXIST, renameat2, AT_FDCWD, guest_text("a"), AT_FDCWD, guest_text("b"), 1 /* RENAME_NOREPLACE */);
    assert_call(0, renameat2, AT_FDCWD, guest_text("a"), AT_FDCWD, guest_text("b"), 0);
    assert_string_equal(guest_content("b"), "a");
}

void row_link(void **state)
{
    (void)state;
    guest_file("f", "content");
    assert_call(0, link, guest_text("f"), guest_text("n"));
    assert_string_equal(guest_content("n"), "content");
    assert_call(-EEXIST, link, guest_text("f"), guest_text("n"));
    assert_call(-EPERM, link, guest_text("/proc/self/exe"), guest_text("x"));
}

void row_linkat(void **state)
{
    (void)state;
    guest_file("f", "content");
    assert_int_equal(symlink("f", "l"), 0);
    assert_call(0, linkat, AT_FDCWD, guest_text("l"), AT_FDCWD, guest_text("n"), AT_SYMLINK_FOLLOW);
    assert_int_equal(mode_of("n") & S_IFMT, S_IFREG);
    assert_call(0, linkat, AT_FDCWD, guest_text("l"), AT_FDCWD, guest_text("m"), 0);
    assert_int_equal(mode_of("m") & S_IFMT, S_IFLNK);
}

void row_symlink(void **state)
{
    (void)state;
    char text[16] = "";
    assert_call(0, symlink, guest_text("any text"), guest_text("l"));
    assert_int_equal(readlink("l", text, sizeof text), 8);
    assert_string_equal(text, "any text");
}

void row_symlinkat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    assert_call(0, symlinkat, guest_text("x"), dir, guest_text("l"));
    assert_int_equal(mode_of("d/l") & S_IFMT, S_IFLNK);
}

void row_mknod(void **state)
{
    (void)state;
    assert_call(0, mknod, guest_text("p"), S_IFIFO | 0666, 0);
    assert_int_equal(mode_of("p"), S_IFIFO | 0644);
}

void row_mknodat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    assert_call(0, mknodat, dir, guest_text("f"), S_IFREG | 0600, 0);
    assert_int_equal(mode_of("d/f"), S_IFREG | 0600);
}

void row_chmod(void **state)
{
    (void)state;
    guest_file("f", "");
    assert_int_equal(symlink("f", "l"), 0);
    assert_call(0, chmod, guest_text("l"), 0751);
    assert_int_equal(mode_of("f"), S_IFREG | 0751);
    assert_call(-EPERM, chmod, guest_text("/proc/self/maps"), 0777);
}

void row_fchmod(void **state)
{
    (void)state;
    guest_file("f", "");
    assert_call(0, fchmod, CALL(open, guest_text("f"), O_RDONLY), 0640);
    assert_int_equal(mode_of("f"), S_IFREG | 0640);
}

void row_fchmodat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    guest_file("d/f", "");
    assert_call(0, fchmodat, dir, guest_text("f"), 0600);
    assert_int_equal(mode_of("d/f"), S_IFREG | 0600);
}

void row_chown(void **state)
{
    (void)state;
    guest_file("f", "");
    assert_call(0, chown, guest_text("f"), -1, -1);
    assert_call(-ENOENT, chown, guest_text("none"), -1, -1);
    assert_call(-EPERM, chown, guest_text("/proc/self/maps"), -1, -1);
}

void row_fchown(void **state)
{
    (void)state;
    guest_file("f", "");
    assert_call(0, fchown, CALL(open, guest_text("f"), O_RDONLY), 1000, 1000);
}

void row_lchown(void **state)
{
    (void)state;
    assert_int_equal(symlink("nowhere", "l"), 0);
    assert_call(0, lchown, guest_text("l"), -1, -1);
}

void row_fchownat(void **state)
{
    (void)state;
    int64_t dir = directory("d");
    guest_file("d/f", "");
    assert_call(0, fchownat, dir, guest_text("f"), -1, -1, 0);
    assert_call(0, fchownat, dir, guest_text(""), -1, -1, AT_EMPTY_PATH);
}

void row_truncate(void **state)
{
    (void)state;
    guest_file("f", "0123456789");
    assert_call(0, truncate, guest_text("f"), 4);
    assert_string_equal(guest_content("f"), "0123");
    assert_call(-EINVAL, truncate, guest_text("f"), -1);
    assert_call(-EPERM, truncate, guest_text("/proc/self/maps"), 0);
}

static void assert_times(const char *path, int64_t access, int64_t access_ns, int64_t change, int64_t change_ns)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_atim.tv_sec, access);
    assert_int_equal(st.st_atim.tv_nsec, access_ns);
    assert_int_equal(st.st_mtim.tv_sec, change);
    assert_int_equal(st.st_mtim.tv_nsec, change_ns);
}

void row_utime(void **state)
{
    (void)state;
    struct utimbuf *times = guest_take(sizeof *times);
    guest_file("f", "");
    *times = (struct utimbuf){100, 200};
    assert_call(0, utime, guest_text("f"), times);
    assert_times("f", 100, 0, 200, 0);
    assert_call(0, utime, guest_text("f"), NULL);
    assert_call(-ENOENT, utime, guest_text("none"), NULL);
}

void row_utimes(void **state)
{
    (void)state;
    struct timeval *times = guest_take(2 * sizeof *times);
    guest_file("f", "");
    times[0] = (struct timeval){100, 5};
    times[1] = (struct timeval){200, 999999};
    assert_call(0, utimes, guest_text("f"), times);
    assert_times("f", 100, 5000, 200, 999999000);
    times[1].tv_usec = 1000000;
    assert_call(-EINVAL, utimes, guest_text("f"), times);
}

void row_futimesat(void **state)
{
    (void)state;
    struct timeval *times = guest_take(2 * sizeof *times);
    int64_t dir = directory("d");
    guest_file("d/f", "");
    times[0].tv_sec = times[1].tv_sec = 7;
    assert_call(0, futimesat, dir, guest_text("f"), times);
    assert_times("d/f", 7, 0, 7, 0);
}

void row_utimensat(void **state)
{
    (void)state;
    struct timespec *times = guest_take(2 * sizeof *times);
    guest_file("f", "");
    assert_int_equal(symlink("f", "l"), 0);
    times[0] = (struct timespec){1, 2};
    times[1] = (struct timespec){3, 4};
    assert_call(0, utimensat, AT_FDCWD, guest_text("f"), times, 0);
    assert_times("f", 1, 2, 3, 4);
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = 5;
    assert_call(0, utimensat, CALL(open, guest_text("f"), O_RDONLY), NULL, times, 0); /* no path: the file itself */
    assert_times("f", 1, 2, 5, 4);
    assert_call(0, utimensat, AT_FDCWD, guest_text("l"), times, AT_SYMLINK_NOFOLLOW);
    assert_call(-EFAULT, utimensat, AT_FDCWD, NULL, times, 0);
}

void row_umask(void **state)
{
    (void)state;
    mode_t host = umask(0);
    umask(host);
    assert_call(022, umask, 077);
    assert_call(077, umask, 01002);
    assert_call(3, open, guest_text("f"), O_CREAT | O_WRONLY, 0777);
    assert_int_equal(mode_of("f"), S_IFREG | 0775);
    assert_int_equal(umask(host), host); /* c2emu's own has not changed */
}

/* ------------------------------------------------------------------ extended attributes: as the file system can */

static bool attributes_work(void)
{
    guest_file("f", "");
    int64_t value = CALL(setxattr, guest_text("f"), guest_text("user.a"), guest_text("value"), 5, 0);
    assert_true(value == 0 || value == -EOPNOTSUPP);
    return value == 0;
}

void row_setxattr(void **state)
{
    (void)state;
    if (attributes_work())
        assert_call(-EEXIST, setxattr, guest_text("f"), guest_text("user.a"), guest_text("x"), 1, 1 /* XATTR_CREATE */);
    assert_call(-EOPNOTSUPP, setxattr, guest_text("/proc/self/maps"), guest_text("user.a"), guest_text("x"), 1, 0);
}

void row_lsetxattr(void **state)
{
    (void)state;
    if (attributes_work())
        assert_call(0, lsetxattr, guest_text("f"), guest_text("user.b"), guest_text("x"), 1, 0);
    assert_call(-ENOENT, lsetxattr, guest_text("none"), guest_text("user.b"), guest_text("x"), 1, 0);
}

void row_fsetxattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    assert_call(work ? 0 : -EOPNOTSUPP, fsetxattr, CALL(open, guest_text("f"), O_RDWR), guest_text("user.b"),
                guest_text("x"), 1, 0);
}

void row_getxattr(void **state)
{
    (void)state;
    char *out = guest_take(64);
    bool work = attributes_work();
    assert_call(work ? 5 : -EOPNOTSUPP, getxattr, guest_text("f"), guest_text("user.a"), out, 64);
    if (work) {
        assert_memory_equal(out, "value", 5);
        assert_call(5, getxattr, guest_text("f"), guest_text("user.a"), NULL, 0); /* asks for the size */
        assert_call(-ERANGE, getxattr, guest_text("f"), guest_text("user.a"), out, 2);
        assert_call(-ENODATA, getxattr, guest_text("f"), guest_text("user.b"), out, 64);
    }
    assert_call(-EOPNOTSUPP, getxattr, guest_text("/proc/self/maps"), guest_text("user.a"), out, 64);
}

void row_lgetxattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    assert_call(work ? 5 : -EOPNOTSUPP, lgetxattr, guest_text("f"), guest_text("user.a"), guest_take(64), 64);
}

void row_fgetxattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    assert_call(work ? 5 : -EOPNOTSUPP, fgetxattr, CALL(open, guest_text("f"), O_RDONLY), guest_text("user.a"),
                guest_take(64), 64);
}

/* The list may hold names of the system's own (security.selinux): ours is looked for. */
static void assert_listed(const char *list, int64_t bytes, bool work)
{
    bool found = false;
    for (int64_t at = 0; at < bytes; at += (int64_t)strlen(list + at) + 1)
        found |= strcmp(list + at, "user.a") == 0;
    assert_int_equal(found, work);
}

void row_listxattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    char *out = guest_take(256);
    assert_listed(out, CALL(listxattr, guest_text("f"), out, 256), work);
    assert_call(-ENOENT, listxattr, guest_text("none"), out, 256);
}

void row_llistxattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    char *out = guest_take(256);
    assert_listed(out, CALL(llistxattr, guest_text("f"), out, 256), work);
}

void row_flistxattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    char *out = guest_take(256);
    assert_listed(out, CALL(flistxattr, CALL(open, guest_text("f"), O_RDONLY), out, 256), work);
}

void row_removexattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    assert_call(work ? 0 : -EOPNOTSUPP, removexattr, guest_text("f"), guest_text("user.a"));
    assert_call(work ? -ENODATA : -EOPNOTSUPP, removexattr, guest_text("f"), guest_text("user.a"));
}

void row_lremovexattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    assert_call(work ? 0 : -EOPNOTSUPP, lremovexattr, guest_text("f"), guest_text("user.a"));
}

void row_fremovexattr(void **state)
{
    (void)state;
    bool work = attributes_work();
    assert_call(work ? 0 : -EOPNOTSUPP, fremovexattr, CALL(open, guest_text("f"), O_RDWR), guest_text("user.a"));
}

void row_chroot(void **state)
{
    (void)state;
    assert_call(-EPERM, chroot, guest_text("."));
}
