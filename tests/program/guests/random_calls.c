/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * random_calls SEED COUNT MODE [WRONG]: system calls drawn at random, in the working directory, which is empty.
 *
 * Prints a line for each call: its name and arguments before it begins, its result and a sum of all the memory that
 * calls are given when it is back. The draws depend on the seed and on results only, so two runs on kernels that agree
 * print the same. Drawn are only calls whose answer Linux determines, and that do no harm: files stay small and in
 * the working directory, no process is made or signalled. MODE is `ready` (no call waits), `blocks` (the run may end in
 * a call that waits for ever) or `wild` (calls with any arguments; nothing is printed, and the status is 17). WRONG:
 * the call whose result is printed as one more than it is, to see that a comparison can fail.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define ARENA 0x500000000ul /* the memory of all arguments: the same address in both runs */
#define ARENA_PAGES 4ul     /* readable and writable */
#define READ_ONLY (ARENA + ARENA_PAGES * PAGE)
#define FORBIDDEN (READ_ONLY + PAGE) /* PROT_NONE */
#define UNMAPPED (FORBIDDEN + PAGE)
#define SCRATCH (UNMAPPED + 16 * PAGE) /* for results that are not the same everywhere */
#define PLAYGROUND 0x510000000ul       /* what mmap and its like change */
#define PLAYGROUND_PAGES 8ul
#define FDS 24 /* the highest descriptor that a program gets */

static uint64_t state;
static bool blocks;
static long number;

/* SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t n) { return draw() % n; }
static bool chance(unsigned one_in) { return below(one_in) == 0; }

/* Whether an argument is to be wrong. Which error is told when there is another reason for one is not compared. */
static bool spoiled;
static bool odd(unsigned one_in)
{
    bool yes = chance(one_in);
    spoiled |= yes;
    return yes;
}
#define PICK(...) \
    ({ \
        const long list_[] = {__VA_ARGS__}; \
        list_[below(sizeof list_ / sizeof list_[0])]; \
    })
/* The first of these is no valid value. */
#define PICK_OR_ODD(invalid, ...) (odd(12) ? (invalid) : PICK(__VA_ARGS__))

/* ------------------------------------------------------------------ what is printed */

static char line[4096];
static size_t used;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int bytes = vsnprintf(line + used, sizeof line - used, format, list);
    va_end(list);
    used += (size_t)bytes < sizeof line - used ? (size_t)bytes : sizeof line - used - 1;
}

static void flush(void)
{
    if (write(1, line, used) != (ssize_t)used)
        _exit(9);
    used = 0;
}

static uint64_t sum_of(const void *memory, size_t bytes, uint64_t sum)
{
    const uint64_t *word = memory;
    for (size_t i = 0; i < bytes / 8; i++)
        sum = (sum ^ word[i]) * 0x100000001b3; /* FNV-1a by words */
    return sum;
}

static unsigned sum_of_arena(void)
{
    uint64_t sum = sum_of((void *)ARENA, ARENA_PAGES * PAGE, 0xcbf29ce484222325);
    sum = sum_of((void *)READ_ONLY, PAGE, sum);
    return (unsigned)(sum ^ sum >> 32);
}

/* ------------------------------------------------------------------ arguments */

/* Room in the arena that is not there for something else in the same call. */
static uint64_t taken;

static void *room(size_t bytes)
{
    uint64_t at = ARENA + taken;
    taken += (bytes + 15) & ~15ul;
    if (taken > ARENA_PAGES * PAGE)
        abort();
    return (void *)at;
}

/* A structure: now and then where it cannot be read or written. */
static void *place(void *good)
{
    if (!odd(25))
        return good;
    return (void *)PICK(8, UNMAPPED, FORBIDDEN, UNMAPPED + 8, 0x7fffffffffff8);
}

static void *place_for_output(void *good) { return odd(40) ? (void *)READ_ONLY : place(good); }

/* The end of what may be used: a structure that lies partly beyond is no structure. */
static void *bytes_of(size_t bytes)
{
    uint8_t *at = room(bytes);
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)draw();
    return at;
}

static long descriptor(void)
{
    if (odd(20))
        return PICK(-1, 77, 1000, FDS + 1, AT_FDCWD, 0x100000003);
    return 3 + (long)below(FDS - 4); /* not the last: home */
}

/* Of descriptors that are open, mostly. */
static long open_descriptor(void)
{
    if (odd(25))
        return descriptor();
    for (int i = 0; i < 12; i++) {
        long fd = 3 + (long)below(FDS - 4);
        if (fcntl((int)fd, F_GETFD) >= 0)
            return fd;
    }
    spoiled = true;
    return descriptor();
}

static const char *const names[] = {"a", "b", "c", "d", "e", "d/a", "d/b", "e/a", "d/e", "l", "m", "d/l"};
static const char *const odd_names[] = {"",         ".",       "..",     "/",    "d/",        "a/", "d/.",
                                        "d/..",     "./a",     "d/../a", "a/b",  "l/a",       "//", "d//a",
                                        "e/../d/b", "no/such", "l/",     "m/..", "./d/./e/.."};

static char *path(void)
{
    char *text = room(64);
    strcpy(text, chance(8) ? odd_names[below(sizeof odd_names / sizeof *odd_names)]
                           : names[below(sizeof names / sizeof *names)]);
    put("\"%s\" ", text);
    spoiled |= text[0] == '\0';
    return place(text);
}

/* Never out of the working directory: ".." and "/" are only looked at. */
static char *path_to_change(void)
{
    char *text = room(64);
    do
        strcpy(text, chance(8) ? odd_names[below(sizeof odd_names / sizeof *odd_names)]
                               : names[below(sizeof names / sizeof *names)]);
    while (strcmp(text, "..") == 0 || strcmp(text, "/") == 0 || strcmp(text, "//") == 0 || strcmp(text, "m/..") == 0);
    put("\"%s\" ", text);
    spoiled |= text[0] == '\0';
    return place(text);
}

static long directory(void) { return chance(3) ? open_descriptor() : AT_FDCWD; }

static struct iovec *iovecs(int *count)
{
    struct iovec *iov = room(6 * sizeof *iov);
    *count = (int)below(6);
    for (int i = 0; i < *count; i++) {
        size_t bytes = chance(4) ? 0 : below(200);
        /* over its own iovecs, too */
        iov[i] = (struct iovec){chance(8) ? (void *)iov : bytes_of(bytes), bytes};
    }
    return place(iov);
}

/* ------------------------------------------------------------------ a call */

/* The name and the arguments are out before the call begins: if it does not come back, they tell which one it was. */
#define CALL(name, ...) call(SYS_##name, #name, (const long[6]){__VA_ARGS__})
#define P(pointer) ((long)(pointer))

static long wrong;

static long call(long what, const char *name, const long a[6])
{
    put("%s %lx %lx %lx %lx %lx %lx", name, a[0], a[1], a[2], a[3], a[4], a[5]);
    flush();
    long value = syscall(what, a[0], a[1], a[2], a[3], a[4], a[5]);
    long result = value < 0 ? -errno : value;
    if (spoiled && value < 0)
        put(" = an error");
    else
        put(" = %ld", number == wrong ? result + 1 : result);
    return result;
}

/* ------------------------------------------------------------------ files by descriptor */

static size_t some(void) { return chance(10) ? (chance(2) ? 0 : 4000) : below(300); }
static long position(void) { return odd(10) ? PICK(-1, -5, 1l << 62) : (long)below(chance(8) ? 70000 : 9000); }

/* The sender of a signal that is read there has another number here and there; and Linux before 6.10 fills one buffer
 * after the other. */
static bool is_lamp(long fd)
{
    char at[32], text[32] = "";
    snprintf(at, sizeof at, "/proc/self/fd/%ld", fd);
    return readlink(at, text, sizeof text - 1) > 0 && (strstr(text, "[timerfd]") || strstr(text, "[signalfd]"));
}

static void read_one(void)
{
    size_t bytes = some();
    long fd = open_descriptor();
    void *to = bytes_of(bytes);
    CALL(read, fd, is_lamp(fd) ? (long)SCRATCH : P(place_for_output(to)), (long)bytes);
}

static void write_one(void)
{
    size_t bytes = some();
    CALL(write, open_descriptor(), P(bytes_of(bytes)), (long)bytes);
}

static void pread_one(void)
{
    size_t bytes = some();
    CALL(pread64, open_descriptor(), P(bytes_of(bytes)), (long)bytes, position());
}

static void pwrite_one(void)
{
    size_t bytes = some();
    CALL(pwrite64, open_descriptor(), P(bytes_of(bytes)), (long)bytes, below(9000));
}

static void vectors(void)
{
    int count;
    struct iovec *iov = iovecs(&count);
    long n = odd(30) ? PICK(-1, 1025) : count, fd = open_descriptor();
    if (is_lamp(fd))
        return;
    switch (below(6)) {
    case 0:
        CALL(writev, fd, P(iov), n);
        break;
    case 1:
        CALL(preadv, fd, P(iov), n, position(), 0);
        break;
    case 2:
        CALL(pwritev, fd, P(iov), n, below(9000), 0);
        break;
    case 3:
        CALL(preadv2, fd, P(iov), n, chance(2) ? -1 : position(), 0, 0);
        break;
    case 4:
        CALL(pwritev2, fd, P(iov), n, chance(2) ? -1 : (long)below(9000), 0, chance(3) ? RWF_APPEND : 0);
        break;
    default:
        CALL(readv, fd, P(iov), n);
        break;
    }
}

/* The positions in directories are the host's file system's. */
static void seek(void)
{
    struct stat st;
    long fd = open_descriptor();
    if (fstat((int)fd, &st) == 0 && !S_ISDIR(st.st_mode))
        CALL(lseek, fd, position(), PICK_OR_ODD(9, SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE));
}

static void copy(void)
{
    long from = open_descriptor(), to = open_descriptor(), bytes = 1 + (long)some();
    int64_t *offset = room(8), *other = room(8);
    *offset = (int64_t)below(3000);
    *other = (int64_t)below(3000);
    void *first = chance(2) ? NULL : place(offset), *second = chance(2) ? NULL : place(other);
    if (chance(4))
        CALL(tee, from, to, bytes, blocks ? 0 : SPLICE_F_NONBLOCK);
    else if (chance(3))
        CALL(sendfile, to, from, P(first), bytes);
    else if (chance(2))
        CALL(copy_file_range, from, P(first), to, P(second), bytes, odd(20));
    else
        CALL(splice, from, P(first), to, P(second), bytes, blocks ? 0 : SPLICE_F_NONBLOCK);
}

static void sizes(void)
{
    long fd = open_descriptor();
    switch (below(6)) {
    case 0:
        CALL(ftruncate, fd, position() % 100000);
        break;
    case 1:
        CALL(fallocate, fd, PICK_OR_ODD(2, 0, 1, 3), below(9000), PICK_OR_ODD(0, 100, 5000));
        break;
    case 2:
        CALL(fadvise64, fd, below(9000), below(9000), PICK_OR_ODD(6, 0, 1, 2, 3, 4, 5));
        break;
    case 3:
        CALL(fdatasync, fd);
        break;
    case 4:
        CALL(readahead, fd, below(100), below(100));
        break;
    default:
        CALL(sync_file_range, fd, below(100), below(100), PICK_OR_ODD(8, 0, 2));
        break;
    }
}

static long nonblocking(void) { return blocks && !chance(4) ? 0 : O_NONBLOCK; }

static void new_descriptor(void)
{
    char *name = room(16);
    strcpy(name, "name");
    long cloexec = chance(4) ? O_CLOEXEC : 0;
    switch (below(6)) {
    case 0:
        CALL(eventfd2, below(3), cloexec | nonblocking() | (chance(4) ? 1 : 0));
        break;
    case 1:
        CALL(memfd_create, P(place(name)), PICK_OR_ODD(0x100, 0, 1, 2, 3));
        break;
    case 2:
        CALL(socketpair, AF_UNIX, PICK(SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET) | cloexec | nonblocking(), 0,
             P(place_for_output(room(8))));
        break;
    case 3:
        CALL(epoll_create1, PICK_OR_ODD(1, 0, O_CLOEXEC));
        break;
    default:
        CALL(pipe2, P(place_for_output(room(8))), odd(30) ? 1 : cloexec | nonblocking());
        break;
    }
}

static void close_some(void)
{
    if (chance(20))
        CALL(close_range, PICK(3, 5, 9), PICK_OR_ODD(2, 4, 10, 12), PICK_OR_ODD(64, 0, 4, 0));
    else
        CALL(close, open_descriptor());
}

static void duplicate(void)
{
    long fd = open_descriptor(), to = 3 + (long)below(FDS);
    switch (below(4)) {
    case 0:
        CALL(dup, fd);
        break;
    case 1:
        CALL(dup2, fd, odd(20) ? PICK(-1, 5000) : to);
        break;
    case 2:
        CALL(dup3, fd, to, PICK_OR_ODD(O_NONBLOCK, 0, O_CLOEXEC));
        break;
    default:
        CALL(fcntl, fd, PICK(F_DUPFD, F_DUPFD_CLOEXEC), odd(20) ? PICK(-1, 5000) : to);
        break;
    }
}

static void control(void)
{
    long fd = open_descriptor();
    int *value = room(4);
    *value = 1;
    switch (below(7)) {
    case 0:
        CALL(fcntl, fd, F_GETFD);
        break;
    case 1:
        CALL(fcntl, fd, F_SETFD, below(4));
        break;
    case 2:
        CALL(fcntl, fd, F_GETFL);
        break;
    case 3:
        CALL(fcntl, fd, F_SETFL, nonblocking() | (chance(3) ? O_APPEND : 0) | (chance(20) ? 3 : 0));
        break;
    case 4:
        CALL(fcntl, fd, PICK_OR_ODD(999, F_GET_SEALS, F_ADD_SEALS, F_GETPIPE_SZ), PICK(0, 2, 4));
        break;
    case 5:
        CALL(ioctl, fd, FIONREAD, P(place_for_output(value)));
        break;
    default:
        CALL(ioctl, fd, PICK(FIONBIO, FIOCLEX, FIONCLEX), P(place(value)));
        break;
    }
}

/* What other processes may have locked is heard of in the result: "/", devices, and the one inode that all eventfds and
 * epolls of a host share. */
static bool everybodys(long fd)
{
    struct stat its, root;
    if (fstat((int)fd, &its) != 0 || stat("/", &root) != 0)
        return false;
    const mode_t type = its.st_mode & S_IFMT;
    return (its.st_dev == root.st_dev && its.st_ino == root.st_ino) ||
           (type != S_IFREG && type != S_IFDIR && type != S_IFIFO && type != S_IFSOCK);
}

static void lock(void)
{
    struct flock *area = room(sizeof *area);
    long fd = open_descriptor();
    if (everybodys(fd))
        return;
    if (chance(3)) {
        CALL(flock, fd, PICK(LOCK_SH, LOCK_EX, LOCK_UN) | (blocks && !chance(3) ? 0 : LOCK_NB));
        return;
    }
    *area = (struct flock){.l_type = (short)PICK(F_RDLCK, F_WRLCK, F_UNLCK),
                           .l_whence = (short)PICK_OR_ODD(9, 0, 0, 1, 2)};
    area->l_start = (off_t)below(30) - (chance(8) ? 20 : 0);
    area->l_len = (off_t)below(10) - (chance(8) ? 5 : 0);
    area->l_pid = odd(20);
    long result = CALL(fcntl, fd,
                       blocks && chance(2) ? PICK(F_SETLKW, F_OFD_SETLKW)
                                           : PICK(F_SETLK, F_OFD_SETLK, F_GETLK, F_OFD_GETLK),
                       P(place(area)));
    if (result == 0 && area->l_pid > 0) /* its owner has another number here and there */
        area->l_pid = 1;
}

/* ------------------------------------------------------------------ paths */

/* The owner of a file is printed as what it means; times, devices and inode numbers are the host's. */
static void put_stat(const struct stat *st)
{
    put(" {%o %s%s", st->st_mode, st->st_uid == geteuid() ? "mine" : "foreign",
        st->st_gid == getegid() ? "" : " group");
    if (!S_ISDIR(st->st_mode))
        put(" size %ld links %d", (long)st->st_size, (int)st->st_nlink);
    put("}");
}

static void look(void)
{
    struct stat *st = (struct stat *)SCRATCH;
    long result, fd;
    void *to = odd(20) ? (void *)PICK(READ_ONLY, UNMAPPED) : st;
    switch (below(4)) {
    case 0:
        result = CALL(stat, P(path()), P(to));
        break;
    case 1:
        result = CALL(lstat, P(path()), P(to));
        break;
    case 2:
        fd = open_descriptor();
        result = CALL(fstat, fd, P(to));
        break;
    default:
        fd = directory();
        result = CALL(newfstatat, fd, P(path()), P(to), PICK_OR_ODD(0x8000, 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH));
        break;
    }
    if (result == 0)
        put_stat(st);
}

static void look_further(void)
{
    struct statx *st = (struct statx *)SCRATCH;
    long fd = directory(), flags = PICK_OR_ODD(0x8, 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH);
    if (CALL(statx, fd, P(path()), flags, PICK_OR_ODD(0x80000000, STATX_BASIC_STATS, 0x7fffffff), P(st)) == 0)
        put(" {%o %d %lld}", st->stx_mode, st->stx_uid == geteuid(),
            S_ISDIR(st->stx_mode) ? 0 : (long long)st->stx_size);
}

/* Two descriptors of one file, whatever its number is. */
static void compare(void)
{
    struct stat a, b;
    int first = (int)open_descriptor(), second = (int)open_descriptor();
    put("same %d %d", first, second);
    if (fstat(first, &a) == 0 && fstat(second, &b) == 0)
        put(" = %d", a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* A named pipe would wait for its other end: never without O_NONBLOCK. */
static void open_one(void)
{
    long fd = directory();
    long flags = PICK_OR_ODD(3, O_RDONLY, O_WRONLY, O_RDWR, O_RDWR) | O_NONBLOCK;
    flags |= odd(12) ? O_TMPFILE : PICK(0, O_CREAT, O_CREAT, O_CREAT | O_EXCL, O_DIRECTORY, O_PATH);
    flags |= PICK(0, 0, O_TRUNC, O_APPEND, O_NOFOLLOW, O_CLOEXEC);
    CALL(openat, fd, P(path_to_change()), flags, PICK(0600, 0644, 0400, 0777, 0));
}

static void make(void)
{
    long fd = directory();
    switch (below(4)) {
    case 0:
        CALL(mknodat, fd, P(path_to_change()), PICK_OR_ODD(S_IFDIR, S_IFIFO, S_IFREG, 0) | 0600, 0x103);
        break;
    case 1:
        CALL(mkdir, P(path_to_change()), PICK(0755, 0700, 0777));
        break;
    default:
        CALL(mkdirat, fd, P(path_to_change()), PICK(0755, 0700, 0777));
        break;
    }
}

static void unmake(void)
{
    long fd = directory();
    if (chance(3))
        CALL(rmdir, P(path_to_change()));
    else
        CALL(unlinkat, fd, P(path_to_change()), PICK_OR_ODD(5, 0, 0, AT_REMOVEDIR));
}

static void two_names(void)
{
    long from = directory(), to = directory();
    char *first = path_to_change(), *second = path_to_change();
    if (chance(2))
        CALL(renameat2, from, P(first), to, P(second), PICK_OR_ODD(3, 0, 0, 1, 2));
    else
        CALL(linkat, from, P(first), to, P(second), PICK_OR_ODD(7, 0, 0, AT_SYMLINK_FOLLOW));
}

static void symbolic(void)
{
    static const char *const targets[] = {"a", "d", "d/a", "e", "l", "m", "a/b", "e/a", "nowhere", "d/e"};
    char *text = room(64);
    size_t bytes = odd(12) ? 0 : 1 + below(12);
    long fd = directory();
    if (chance(2)) {
        strcpy(text, targets[below(sizeof targets / sizeof *targets)]);
        put("\"%s\" ", text);
        CALL(symlinkat, P(place(text)), fd, P(path_to_change()));
    } else {
        char *at = path(); /* sometimes over the path itself */
        CALL(readlinkat, fd, P(at), P(chance(4) ? at : place_for_output(text)), (long)bytes);
    }
}

static void rights(void)
{
    long fd = directory();
    switch (below(5)) {
    case 0:
        CALL(faccessat, fd, P(path()), PICK_OR_ODD(8, 0, 1, 2, 4, 6, 7));
        break;
    case 1:
        CALL(faccessat2, fd, P(path()), PICK(0, 1, 2, 4),
             PICK_OR_ODD(1, 0, AT_EACCESS, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH));
        break;
    case 2:
        CALL(fchmod, open_descriptor(), PICK(0755, 0644, 0600, 0400, 0));
        break;
    case 3:
        CALL(umask, PICK(022, 077, 0, 01022));
        break;
    default:
        CALL(fchmodat, AT_FDCWD, P(names[below(5)]), PICK(0755, 0644, 0700, 0777));
        break;
    }
}

static void owners(void)
{
    static const long numbers[] = {-1, 0, 2, 4242};
    long fd = directory(), flags = PICK(0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH);
    bool own = chance(2);
    long user = own ? (long)geteuid() : numbers[below(4)], group = own ? (long)getegid() : numbers[below(4)];
    char *at = path_to_change();
    put(own ? "own" : "%ld %ld", user, group);
    flush();
    long value = syscall(SYS_fchownat, fd, at, user, group, flags);
    put(spoiled && value < 0 ? " fchownat = an error" : " fchownat = %d", value < 0 ? -errno : 0);
}

static void change_times(void)
{
    struct timespec *times = room(2 * sizeof *times);
    struct stat st;
    times[0] = (struct timespec){(time_t)below(1000000), (long)below(1000)};
    times[1] = (struct timespec){PICK(1, 1000, 77777), PICK_OR_ODD(1000000000, 0, 5, UTIME_OMIT)};
    char *at = path_to_change();
    long fd = directory();
    long flags = PICK_OR_ODD(3, 0, AT_SYMLINK_NOFOLLOW);
    if (CALL(utimensat, fd, P(at), P(place(times)), flags) == 0 && times[1].tv_nsec < 9 && fd == AT_FDCWD &&
        fstatat(AT_FDCWD, at, &st, (int)flags) == 0)
        put(" %ld %ld", st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static int home;

static void move(void)
{
    char *text = room(64);
    switch (below(4)) {
    case 0:
        CALL(chdir, P(path_to_change()));
        break;
    case 1:
        CALL(getcwd, P(place_for_output(text)), PICK_OR_ODD(5, 64));
        break;
    case 2:
        CALL(fchdir, open_descriptor());
        break;
    default:
        CALL(fchdir, home);
        break;
    }
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The order of names is the file system's. */
static void list(void)
{
    char *entries = (char *)SCRATCH;
    char *found[256];
    int count = 0;
    long fd = openat(AT_FDCWD, names[below(5)], O_RDONLY | O_NONBLOCK | O_DIRECTORY);
    long bytes = CALL(getdents64, fd < 0 ? open_descriptor() : fd, P(entries), PICK_OR_ODD(10, 8192));
    for (long at = 0; fd >= 0 && at < bytes; at += ((struct dirent64 *)(entries + at))->d_reclen)
        found[count++] = ((struct dirent64 *)(entries + at))->d_name;
    qsort(found, (size_t)count, sizeof *found, by_name);
    for (int i = 0; i < count; i++)
        put(" %s", found[i]);
    if (fd >= 0)
        close((int)fd);
}

/* ------------------------------------------------------------------ waiting */

static void poll_some(void)
{
    struct pollfd *q = room(6 * sizeof *q);
    struct timespec *time = room(sizeof *time);
    long count = (long)below(6);
    for (int i = 0; i < count; i++)
        q[i] = (struct pollfd){.fd = (int)descriptor(),
                               .events = (short)PICK(POLLIN, POLLOUT, POLLIN | POLLOUT, POLLPRI, 0),
                               .revents = 77};
    *time = (struct timespec){0, odd(12) ? PICK(-1, 1000000000) : PICK(0, 0, 1000)};
    bool wait = blocks && chance(3);
    if (chance(2))
        CALL(poll, P(count ? place(q) : q), odd(30) ? 100000 : count, wait ? -1 : PICK(0, 0, 1));
    else if (wait)
        CALL(ppoll, P(count ? place(q) : q), count, 0, 0, 8);
    else /* what is left of the time is not determined */
        CALL(ppoll, P(count ? place(q) : q), count,
             P(odd(10) ? (void *)UNMAPPED : memcpy((void *)SCRATCH, time, sizeof *time)), 0, 8);
}

static void select_some(void)
{
    uint64_t *set = room(24);
    struct timeval *time = (struct timeval *)SCRATCH;
    *time = (struct timeval){0, PICK_OR_ODD(-1, 0, 0, 1000)};
    for (int i = 0; i < 3; i++)
        set[i] = draw() & draw() & draw() & 0xfffff8;
    if (!odd(20))
        for (int fd = 0; fd < 64; fd++)
            if (fcntl(fd, F_GETFD) < 0)
                for (int i = 0; i < 3; i++)
                    set[i] &= ~(1ul << fd);
    CALL(select, odd(30) ? -1 : FDS, P(chance(3) ? NULL : place(&set[0])), P(chance(3) ? NULL : &set[1]),
         P(chance(3) ? NULL : &set[chance(2)]), P(time));
}

static void epoll_some(void)
{
    struct epoll_event *event = room(4 * sizeof *event);
    long fd = open_descriptor();
    *event = (struct epoll_event){.events = (uint32_t)PICK(EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLONESHOT),
                                  .data.u64 = below(100)};
    if (chance(8))
        CALL(epoll_pwait2, fd, P(place_for_output(event)), PICK_OR_ODD(-1, 1, 2), P(place(memset(room(16), 0, 16))), 0,
             8);
    else if (chance(3))
        CALL(epoll_wait, fd, P(place_for_output(event)), PICK_OR_ODD(-1, 1, 2), blocks && chance(3) ? -1 : 0);
    else
        CALL(epoll_ctl, fd, PICK_OR_ODD(9, 1, 1, 2, 3), open_descriptor(), P(place(event)));
}

/* Timers that have gone off long ago, or are disarmed: what time it is is not the same in both runs. */
static void lamps(void)
{
    struct itimerspec *setting = room(sizeof *setting), *old = room(sizeof *old);
    uint64_t *mask = room(8);
    long fd = open_descriptor();
    *mask = draw();
    *setting = (struct itimerspec){.it_value = {0, odd(12) ? PICK(-1, 1000000000) : PICK(0, 1)}};
    switch (below(5)) {
    case 0:
        CALL(timerfd_create, PICK_OR_ODD(2, CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME),
             odd(20) ? 1 : PICK(0, O_CLOEXEC) | nonblocking());
        break;
    case 1:
    case 2:
        CALL(timerfd_settime, fd, odd(12) ? 4 : TFD_TIMER_ABSTIME, P(place(setting)),
             chance(2) ? 0 : P(old)); /* Linux finds out that it is wrong when all is done */
        poll(&(struct pollfd){.fd = (int)fd, .events = POLLIN}, 1, setting->it_value.tv_nsec == 1 ? 5 : 0);
        break;
    case 3:
        CALL(timerfd_gettime, fd, P(place_for_output(old)));
        break;
    default:
        CALL(signalfd4, chance(3) ? fd : -1, P(place(mask)), odd(20) ? 4 : 8,
             odd(20) ? 1 : PICK(0, O_CLOEXEC) | nonblocking());
        break;
    }
}

/* ------------------------------------------------------------------ sockets */

static long message_flags(bool send)
{
    long flags = blocks && !chance(4) ? 0 : MSG_DONTWAIT;
    return flags | (send ? PICK(0, 0, MSG_NOSIGNAL) : PICK(0, 0, MSG_PEEK, MSG_TRUNC, MSG_WAITALL));
}

static void talk(void)
{
    size_t bytes = some();
    void *data = bytes_of(bytes);
    long fd = open_descriptor();
    int *length = room(4);
    *length = (int)PICK_OR_ODD(-1, 16, 0);
    switch (below(5)) {
    case 0:
    case 1:
        CALL(sendto, fd, P(data), (long)bytes, message_flags(true), 0, 0);
        break;
    case 2:
        CALL(shutdown, fd, PICK_OR_ODD(3, 0, 1, 2));
        break;
    default:
        CALL(recvfrom, fd, P(data), (long)bytes, message_flags(false), chance(4) ? P(room(128)) : 0, P(length));
        break;
    }
}

static void talk_in_messages(void)
{
    int count;
    struct iovec *iov = iovecs(&count);
    struct msghdr *message = room(sizeof *message);
    bool send = chance(2);
    *message = (struct msghdr){.msg_iov = iov, .msg_iovlen = (size_t)count, .msg_flags = 77};
    if (!send && chance(4)) {
        message->msg_name = room(128);
        message->msg_namelen = (unsigned)PICK(16, 0);
    }
    if (count > 0 && !send && chance(4) && iov == (void *)ARENA) /* over the message itself */
        iov[0].iov_base = message;
    if (send)
        CALL(sendmsg, open_descriptor(), P(place(message)), message_flags(true));
    else
        CALL(recvmsg, open_descriptor(), P(place(message)), message_flags(false));
}

/* An address that is a path of the working directory, or is not one. */
static struct sockaddr_un *address(long *bytes)
{
    struct sockaddr_un *at = room(sizeof *at);
    memset(at, 0, sizeof *at);
    at->sun_family = (sa_family_t)PICK_OR_ODD(77, AF_UNIX);
    strcpy(at->sun_path, names[below(sizeof names / sizeof *names)]);
    *bytes = odd(20) ? PICK(1, 0, 129) : (long)(offsetof(struct sockaddr_un, sun_path) + strlen(at->sun_path) + 1);
    put("\"%s\" ", at->sun_path);
    return place(at);
}

static void name_sockets(void)
{
    long bytes, fd = open_descriptor(), kind = PICK(SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM);
    switch (below(7)) {
    case 0:
    case 1:
        CALL(socket, PICK_OR_ODD(999, AF_UNIX), kind | PICK(0, SOCK_CLOEXEC) | SOCK_NONBLOCK, 0);
        break;
    case 2:
        CALL(bind, fd, P(address(&bytes)), bytes);
        break;
    case 3:
        CALL(listen, fd, PICK(0, 5));
        break;
    case 4:
        CALL(connect, fd, P(address(&bytes)), bytes);
        break;
    case 5:
        CALL(accept4, fd, 0, 0, PICK_OR_ODD(1, 0, SOCK_CLOEXEC) | SOCK_NONBLOCK);
        break;
    default: {
        size_t length = some();
        void *data = bytes_of(length);
        struct sockaddr_un *to = address(&bytes);
        CALL(sendto, fd, P(data), (long)length, MSG_DONTWAIT | MSG_NOSIGNAL, P(to), bytes);
    }
    }
}

static void ask_socket(void)
{
    int *value = room(128), *length = room(4);
    long fd = open_descriptor();
    *length = (int)PICK_OR_ODD(-1, 4, 4, 2, 16, 0);
    if (chance(2))
        CALL(getsockopt, fd, SOL_SOCKET, PICK(SO_TYPE, SO_ERROR, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN),
             P(place_for_output(value)), P(place(length)));
    else if (chance(2))
        CALL(getsockname, fd, P(value), P(place(length)));
    else
        CALL(getpeername, fd, P(value), P(place(length)));
}

/* ------------------------------------------------------------------ memory */

static long some_address(void) { return (long)(PLAYGROUND + below(PLAYGROUND_PAGES) * PAGE + (odd(15) ? 8 : 0)); }
static long some_length(void) { return odd(12) ? PICK(0, 1, -1, 5000) : (long)((1 + below(3)) * PAGE); }
static long some_rights(void)
{
    return PICK(PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE, PROT_READ | PROT_WRITE);
}

/* What the kernel may do with each page: nothing, read, write. */
static void put_playground(void)
{
    put(" ");
    for (uint64_t page = 0; page < PLAYGROUND_PAGES + 4; page++) {
        uint64_t at = PLAYGROUND + page * PAGE;
        bool readable = syscall(SYS_access, at, F_OK) == 0 || errno != EFAULT;
        put("%c", !readable ? '-' : syscall(SYS_rt_sigpending, at, 8) == 0 ? 'w' : 'r');
    }
}

static void map(void)
{
    long at = some_address(), bytes = some_length();
    switch (below(7)) {
    case 0:
        CALL(munmap, at, bytes);
        break;
    case 1:
        CALL(mprotect, at, bytes, some_rights());
        break;
    case 2:
        CALL(madvise, at, bytes, PICK_OR_ODD(9999, MADV_NORMAL, MADV_DONTNEED, MADV_DONTNEED));
        break;
    case 3:
        CALL(mremap, at, (long)PAGE, some_length(),
             odd(12) ? PICK(MREMAP_FIXED, 8) : PICK(0, MREMAP_MAYMOVE | MREMAP_FIXED), some_address());
        break;
    case 4:
        CALL(msync, at, bytes, PICK_OR_ODD(5, MS_ASYNC, MS_SYNC, MS_INVALIDATE));
        break;
    default:
        CALL(mmap, at, bytes, some_rights(),
             MAP_ANONYMOUS | PICK_OR_ODD(0, MAP_PRIVATE) | PICK(MAP_FIXED, MAP_FIXED, MAP_FIXED_NOREPLACE), -1, 0);
        break;
    }
    put_playground();
}

/* ------------------------------------------------------------------ the rest */

/* Where the state from before goes: true if that is wrong, for then Linux finds it out when all is done. */
static bool before(uint64_t **old)
{
    uint64_t *good = *old;
    *old = chance(3) ? NULL : place_for_output(good);
    return *old && *old != good;
}

static void signals(void)
{
    uint64_t *set = room(32), *old = room(32);
    struct timespec *time = room(sizeof *time);
    *set = draw() & 0xffff8fffffffffff;
    switch (below(6)) {
    case 0:
        CALL(rt_sigprocmask, PICK_OR_ODD(3, 0, 1, 2), P(before(&old) ? NULL : place(set)), P(old), odd(20) ? 4 : 8);
        break;
    case 1:
        set[0] = below(2);
        set[1] = (uint64_t)PICK(SA_RESTART, SA_NODEFER, SA_ONSTACK, 0) | 0x04000000;
        set[2] = 0x400000;
        set[3] = draw();
        CALL(rt_sigaction, odd(5) ? PICK(0, 65, SIGKILL, SIGSTOP) : PICK(SIGUSR1, SIGUSR2, SIGHUP, 40, 64),
             P(before(&old) ? NULL : place(set)), P(old), odd(20) ? 4 : 8);
        break;
    case 2:
        CALL(rt_sigpending, P(place_for_output(old)), PICK_OR_ODD(16, 8));
        break;
    case 3:
        set[0] = ARENA;
        set[1] = (uint64_t)PICK_OR_ODD(7, 0, SS_DISABLE);
        set[2] = (uint64_t)PICK_OR_ODD(100, 65536, 8192);
        CALL(sigaltstack, P(before(&old) ? NULL : place(set)), P(old));
        break;
    default:
        *time = (struct timespec){0, odd(12) ? PICK(-1, 1000000000) : PICK(0, 1000)};
        CALL(rt_sigtimedwait, P(place(set)), 0, P(place(time)), odd(20) ? 4 : 8);
        break;
    }
}

static void odds(void)
{
    struct timespec *time = room(sizeof *time);
    char *name = room(32);
    uint32_t *word = room(8);
    *time = (struct timespec){0, odd(12) ? PICK(-1, 1000000000) : PICK(0, 1000)};
    switch (below(9)) {
    case 0:
        CALL(nanosleep, P(place(time)), 0);
        break;
    case 1:
        CALL(clock_gettime, PICK_OR_ODD(12, 0, 1, 2, 3, 4, 5, 6, 7, 11), odd(10) ? UNMAPPED : SCRATCH);
        break;
    case 2:
        CALL(clock_nanosleep, PICK_OR_ODD(99, 0, 1, 7, 4), 0, P(place(time)), 0);
        break;
    case 3:
        strcpy(name, "a name of the process");
        CALL(prctl, PR_SET_NAME, P(place(name)), 0, 0, 0);
        break;
    case 4:
        CALL(prctl, PICK(PR_GET_NAME, PR_GET_PDEATHSIG), P(place_for_output(name)), 0, 0, 0);
        break;
    case 5:
        CALL(prctl, PICK_OR_ODD(9999, PR_SET_PDEATHSIG, PR_GET_NO_NEW_PRIVS), PICK_OR_ODD(99, 0), 0, 0, 0);
        break;
    case 6:
        CALL(sched_get_priority_max, PICK_OR_ODD(99, 0, 1, 2, 3, 5));
        break;
    case 7:
        *word = (uint32_t)below(3);
        CALL(futex, P(place(word)) + (odd(10) ? 1 : 0), PICK(FUTEX_WAIT, FUTEX_WAIT_PRIVATE, FUTEX_WAKE), below(3),
             P(time), 0, 0);
        break;
    default:
        CALL(getitimer, PICK_OR_ODD(3, 0, 1, 2), P(place_for_output(bytes_of(32))));
        break;
    }
}

/* ------------------------------------------------------------------ wild calls
 * Any number with any arguments: nothing is compared, but that c2emu and the program are there afterwards. Left out is
 * what would end or multiply the program, take its memory, its signals or its timer away, or wait for a host's pipe.
 */

static bool is_left_out(long what)
{
    static const short list[] = {SYS_exit,
                                 SYS_exit_group,
                                 SYS_fork,
                                 SYS_vfork,
                                 SYS_clone,
                                 435 /* clone3 */,
                                 SYS_execve,
                                 SYS_execveat,
                                 SYS_rt_sigreturn,
                                 SYS_rt_sigaction,
                                 SYS_rt_sigprocmask,
                                 SYS_rt_sigsuspend,
                                 SYS_pselect6,
                                 SYS_ppoll,
                                 SYS_epoll_pwait,
                                 441 /* epoll_pwait2 */,
                                 SYS_setitimer,
                                 SYS_alarm,
                                 SYS_timer_create,
                                 SYS_timer_settime,
                                 SYS_kill,
                                 SYS_tkill,
                                 SYS_tgkill,
                                 SYS_rt_sigqueueinfo,
                                 SYS_rt_tgsigqueueinfo,
                                 424 /* pidfd_send_signal */,
                                 SYS_arch_prctl,
                                 SYS_brk,
                                 SYS_mknod,
                                 SYS_mknodat,
                                 SYS_set_tid_address,
                                 SYS_set_robust_list,
                                 SYS_prctl,
                                 SYS_sigaltstack,
                                 SYS_rt_sigtimedwait};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (list[i] == what)
            return true;
    return false;
}

static bool changes_memory(long what)
{
    return what == SYS_mmap || what == SYS_munmap || what == SYS_mremap || what == SYS_mprotect ||
           what == SYS_madvise || what == SYS_pkey_mprotect || what == SYS_remap_file_pages || what == SYS_shmat;
}

static long in_playground(void) { return (long)(PLAYGROUND + below(PLAYGROUND_PAGES) * PAGE); }

static long wild_argument(void)
{
    switch (below(12)) {
    case 0:
        return in_playground();
    case 1:
        return (long)below(6) * (long)PAGE;
    case 2:
        return (long)below(64);
    case 3:
    case 10:
    case 11:
        return (long)below(FDS);
    case 4:
        return (long)(1ul << below(64)) - (long)below(2);
    case 5:
        return (long)draw();
    case 6:
        return PICK(-1, AT_FDCWD, UNMAPPED, READ_ONLY, FORBIDDEN, READ_ONLY - 8, 0x7fffffffffff8);
    case 7:
        return (long)(ARENA + 64 * below(sizeof odd_names / sizeof *odd_names)); /* a path */
    default:
        return (long)(ARENA + PAGE + 8 * below(PAGE / 8)); /* anything else */
    }
}

/* What arguments point to: numbers, addresses, and the addresses of these. */
static void scribble(void)
{
    for (int i = 0; i < 8; i++)
        *(long *)(ARENA + PAGE + 8 * below(PAGE / 8)) = wild_argument();
}

static void nothing(int signal) { (void)signal; }

/* Where a call would wait for ever, this comes first. */
static void set_alarm(void)
{
    const struct sigaction action = {.sa_handler = nothing};
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static int go_wild(long count)
{
    for (size_t i = 0; i < sizeof odd_names / sizeof *odd_names; i++)
        strcpy((char *)(ARENA + 64 * i), odd_names[i]);
    set_alarm();
    while (number < count) {
        const long what = (long)below(452);
        const bool memory = changes_memory(what);
        if (is_left_out(what))
            continue;
        scribble();
        if (memory)
            syscall(what, in_playground(), below(6) * PAGE, below(64), chance(2) ? below(64) : PAGE, in_playground(),
                    below(8) * PAGE);
        else
            syscall(what, wild_argument(), wild_argument(), wild_argument(), wild_argument(), wild_argument(),
                    wild_argument());
        number++;
    }
    _exit(17);
}

/* ------------------------------------------------------------------ the program */

static void (*const draws[])(void) = {
    read_one,
    read_one,
    write_one,
    write_one,
    write_one,
    pread_one,
    pwrite_one,
    vectors,
    vectors,
    vectors,
    seek,
    copy,
    copy,
    sizes,
    new_descriptor,
    new_descriptor,
    new_descriptor,
    close_some,
    duplicate,
    control,
    control,
    lock,
    lock,
    look,
    look,
    look_further,
    compare,
    open_one,
    open_one,
    open_one,
    open_one,
    make,
    make,
    unmake,
    two_names,
    two_names,
    symbolic,
    symbolic,
    rights,
    owners,
    change_times,
    move,
    list,
    poll_some,
    select_some,
    epoll_some,
    epoll_some,
    lamps,
    lamps,
    talk,
    talk,
    talk_in_messages,
    talk_in_messages,
    ask_socket,
    name_sockets,
    name_sockets,
    map,
    map,
    signals,
    odds,
};

static void begin(void)
{
    const struct rlimit files = {FDS, FDS};
    void *arena = mmap((void *)ARENA, (ARENA_PAGES + 2) * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    void *scratch = mmap((void *)SCRATCH, 2 * PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (scratch != (void *)SCRATCH || arena != (void *)ARENA || mprotect((void *)READ_ONLY, PAGE, PROT_READ) ||
        mprotect((void *)FORBIDDEN, PAGE, PROT_NONE))
        exit(8);
    home = open(".", O_RDONLY | O_DIRECTORY);
    if (home != 3 || setrlimit(RLIMIT_NOFILE, &files) || dup2(home, FDS - 1) < 0)
        exit(8);
    close(3);
    home = FDS - 1;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* of a limit that was drawn */
    umask(022);
    mkdir("d", 0755);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    state = strtoull(argv[1], NULL, 0);
    long count = atol(argv[2]);
    blocks = strcmp(argv[3], "blocks") == 0;
    wrong = argc > 4 ? atol(argv[4]) : -1;
    begin();
    if (strcmp(argv[3], "wild") == 0)
        return go_wild(count);
    for (number = 0; number < count; number++) {
        taken = 0;
        spoiled = false;
        put("%ld: ", number);
        draws[below(sizeof draws / sizeof *draws)]();
        put(" %08x\n", sum_of_arena());
        flush();
    }
    return 0;
}
