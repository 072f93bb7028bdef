/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * arguments TOPIC: each system call with good arguments, and with one of them replaced by each of a list of values of
 * its kind: descriptors of every kind and none, memory that is not there or may not be read or written, sizes of 0 and
 * beyond all limits, paths that lead nowhere, flags and commands that nobody knows, processes that do not exist. A line
 * says what the kernel answers. The calls are the rows at the end.
 *
 * Each call has a process and a directory of its own; what a call may have changed is made anew before the next one.
 * Values that differ between versions of Linux, or with the processor, are left out. Run by a user without rights: none
 * of the paths leads to a file that is not the program's own, but where files are only looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------ values */

enum { MOST = 64, ARGUMENTS = 6, PAGE = 4096 };

/* The first value is the good one. */
struct values {
    int count;
    char name[MOST][32];
    intptr_t value[MOST];
};

/* Takes the names from the text of a list: what stands between commas. */
static void add(struct values *to, const char *names, const intptr_t *value, int count)
{
    for (int i = 0; i < count; i++) {
        const size_t bytes = strcspn(names, ",");
        snprintf(to->name[to->count], sizeof to->name[0], "%.*s", (int)bytes, names);
        to->value[to->count++] = value[i];
        names += bytes + strspn(names + bytes, ", ");
    }
}

/* The 0 in front: a list may begin with a string. */
#define LIST(...) ((const intptr_t[]){0, __VA_ARGS__})
#define VALUES(list, ...) \
    add(&(list), #__VA_ARGS__, LIST(__VA_ARGS__) + 1, sizeof LIST(__VA_ARGS__) / sizeof(intptr_t) - 1)

/* Values without names: their numbers are shown. */
static void add_numbers(struct values *to, const intptr_t *value, int count)
{
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%#lx", (long)value[i]);
        add(to, name, &value[i], 1);
    }
}

#define NUMBERS(list, ...) add_numbers(&(list), LIST(__VA_ARGS__) + 1, sizeof LIST(__VA_ARGS__) / sizeof(intptr_t) - 1)

static intptr_t must(intptr_t value, const char *what)
{
    if (value >= 0)
        return value;
    printf("%s: %s\n", what, strerrorname_np(errno));
    fflush(stdout);
    _exit(1);
}
#define MUST(call) must((intptr_t)(call), #call)

#define BAD (-1L)
#define BEYOND 0x800000000000L /* no address of x86-64 */
#define NOBODY 4000000         /* no process has this number */

/* ------------------------------------------------------------------ what there is */

static char *memory, *readonly, *none, *edge, *page, long_name[300], long_path[5000];
static int here, null, file, rdonly, wronly, appends, dir, opath, pipe_out, pipe_in, unix_socket, tcp, udp, listens,
    pair[2];
static int polls, events, alarms, signals, memfd, queue, process, highest;
static int segment, semaphores, messages;
static timer_t timer;

static void make_files(void)
{
    umask(022);
    MUST(mkdir("dir", 0755));
    MUST(mkdir("dir/sub", 0755));
    MUST(mkdir("empty", 0755));
    MUST(mkdir("sealed", 0000));
    MUST(mkdir("locked", 0555));
    MUST(close(creat("dir/inner", 0644)));
    MUST(close(creat("file", 0644)));
    MUST(close(creat("secret", 0000)));
    MUST(close(creat("readonly", 0444)));
    MUST(symlink("loop", "loop"));
    MUST(symlink("nowhere", "dangling"));
    MUST(symlink("file", "link"));
    MUST(symlink("dir", "dirlink"));
    const int script = MUST(creat("script", 0755));
    MUST(write(script, "#!/nonexistent/x\n", 17));
    MUST(close(script));
    const int garbage = MUST(creat("garbage", 0755));
    MUST(write(garbage, "\1\2garbage", 9));
    MUST(close(garbage));
}

static void open_files(void)
{
    int ends[2];
    here = MUST(open(".", O_RDONLY | O_DIRECTORY));
    null = MUST(open("/dev/null", O_RDWR));
    file = MUST(open("file", O_RDWR));
    rdonly = MUST(open("file", O_RDONLY));
    wronly = MUST(open("file", O_WRONLY));
    appends = MUST(open("file", O_WRONLY | O_APPEND));
    dir = MUST(open("dir", O_RDONLY | O_DIRECTORY));
    opath = MUST(open("file", O_PATH));
    memfd = MUST(memfd_create("m", MFD_ALLOW_SEALING));
    MUST(pipe2(ends, O_NONBLOCK));
    pipe_out = ends[0];
    pipe_in = ends[1];
}

static void open_sockets(void)
{
    const struct sockaddr_un name = {AF_UNIX, "listener"};
    unix_socket = MUST(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    tcp = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    udp = MUST(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    listens = MUST(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    MUST(bind(listens, (const struct sockaddr *)&name, sizeof name));
    MUST(listen(listens, 5));
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
}

/* The name of the queue is gone at once: others of the same user run this program, too. */
static void open_others(void)
{
    struct mq_attr attributes = {0, 4, 32, 0};
    sigset_t set;
    char name[64];
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    snprintf(name, sizeof name, "/c2emu-arguments-%d", getpid());
    polls = MUST(epoll_create1(0));
    events = MUST(eventfd(0, EFD_NONBLOCK));
    alarms = MUST(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
    signals = MUST(signalfd(-1, &set, SFD_NONBLOCK));
    queue = MUST(mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes));
    MUST(mq_unlink(name));
    process = highest = MUST(syscall(SYS_pidfd_open, getpid(), 0));
    segment = MUST(shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600));
    semaphores = MUST(semget(IPC_PRIVATE, 2, IPC_CREAT | 0600));
    messages = MUST(msgget(IPC_PRIVATE, IPC_CREAT | 0600));
    MUST(timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_NONE}, &timer));
}

/* memory: twelve pages, then one without rights, one that can be read, and one more that can be written. */
static void map_memory(void)
{
    memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    none = memory + 12 * PAGE;
    readonly = memory + 13 * PAGE;
    page = memory + 14 * PAGE;
    edge = none - 4; /* four bytes are there */
    memset(page, 0, PAGE);
    MUST(mprotect(none, PAGE, PROT_NONE));
    MUST(mprotect(readonly, PAGE, PROT_READ));
    memset(long_name, 'a', sizeof long_name - 1);
    for (size_t i = 0; i < sizeof long_path - 1; i++)
        long_path[i] = i % 2 ? '/' : 'b';
}

static int length, zero, negative, two, option_bytes, one, hundred;
static long offset, offset_negative, offset_last;

/* What calls may have changed, as it was. */
static void refresh(void)
{
    fchmod(here, 0755);
    rename("new", "dir"); /* where there is none now */
    mkdir("dir", 0755);
    unlink("new");
    rmdir("new");
    unlink("name");
    chmod("file", 0644);
    rmdir("file");
    close(open("file", O_CREAT | O_WRONLY, 0644));
    chmod("empty", 0755);
    mkdir("empty", 0755);
    chmod("dir", 0755);
    symlink("file", "link");
    ftruncate(file, 0);
    pwrite(file, "contents of a file\n", 19, 0);
    lseek(file, 0, SEEK_SET);
    lseek(rdonly, 0, SEEK_SET);
    lseek(wronly, 0, SEEK_SET);
    lseek(dir, 0, SEEK_SET);
    memset(memory, 0, 12 * PAGE);
    length = 110, option_bytes = 4, zero = 0, one = 1, two = 2, negative = -1, hundred = 100;
    offset = 0, offset_negative = -1, offset_last = LONG_MAX;
}

/* ------------------------------------------------------------------ descriptors */

static struct values FD, RDONLY, WRONLY, PIPE, SOCKET, QUEUE, EPOLL, TIMERFD, PROCESS, DIRECTORY, AT, NEWFD, NO_FD,
    MAPPED;

static void add_descriptors(struct values *list)
{
    VALUES(*list, -1, 999, INT_MAX, INT_MIN, null, file, rdonly, wronly, appends, dir, opath, pipe_out, pipe_in);
    VALUES(*list, unix_socket, tcp, udp, listens, pair[0], events, alarms, signals, memfd, 0x100000000L);
}

static void list_descriptors(void)
{
    VALUES(FD, file);
    VALUES(RDONLY, rdonly);
    VALUES(WRONLY, wronly);
    VALUES(PIPE, pipe_in);
    VALUES(SOCKET, listens);
    VALUES(QUEUE, queue);
    VALUES(EPOLL, polls);
    VALUES(TIMERFD, alarms);
    VALUES(PROCESS, process);
    VALUES(DIRECTORY, dir);
    struct values *const all[] = {&FD,    &RDONLY, &WRONLY,  &PIPE,    &SOCKET,
                                  &QUEUE, &EPOLL,  &TIMERFD, &PROCESS, &DIRECTORY};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        add_descriptors(all[i]);
    VALUES(AT, AT_FDCWD, dir, -1, 999, file, opath, pipe_out, listens);
    VALUES(NO_FD, -1);
    VALUES(MAPPED, file, rdonly, wronly, dir, opath, pipe_in, listens, events, memfd, -1, 999);
    VALUES(NEWFD, 50, -1, 1000000, file, INT_MAX, 999);
}

/* ------------------------------------------------------------------ paths */

static struct values PATH, LOOKED, DIR_PATH, DIR_LOOKED, NEW, LINK, STRING, ATTRIBUTE, MQ_NAME;

/* Of these the program may change what they lead to. */
static void add_paths(struct values *list)
{
    VALUES(*list, 0, BAD, none, readonly, "", "nothing", "nothing/x", "file", "file/x", "file/", "dir", "dir/",
           "dir/nothing");
    VALUES(*list, "dir/.", "dir/..", ".", "empty", "loop", "loop/x", "dangling", "link", "dirlink", "dirlink/",
           "listener");
    VALUES(*list, long_name, long_path, "sealed", "sealed/x", "locked/x", "secret", "readonly", "script", "garbage");
}

static void list_paths(void)
{
    VALUES(PATH, "file");
    VALUES(LOOKED, "file", "/", "..", "/dev/null", "/etc/passwd", "/nothing");
    VALUES(DIR_PATH, "dir");
    VALUES(DIR_LOOKED, "dir", "/", "..", "/dev/null", "/etc/passwd", "/nothing");
    VALUES(NEW, "new");
    VALUES(LINK, "link");
    struct values *const all[] = {&PATH, &LOOKED, &DIR_PATH, &DIR_LOOKED, &NEW, &LINK};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        add_paths(all[i]);
    VALUES(STRING, "name", 0, BAD, none, "", long_name, long_path, "file", "a/b");
    VALUES(ATTRIBUTE, "user.x", 0, BAD, "", "x", "user.", "trusted.x", "security.x", "system.x", "nonsense.x");
    VALUES(ATTRIBUTE, "user.absent", long_name, long_path);
    VALUES(MQ_NAME, "c2emu-absent", 0, BAD, "", "/x", "a/b", ".", "..", long_name, long_path);
}

/* ------------------------------------------------------------------ memory */

static struct values OUT, OUT_OR_NULL, IN, IN_WHOLE, IOV, OFFSET_OUT, ADDRESS, PLACE, WORD, LENGTH, MOVED, CHANGED,
    GROWN;

static void list_memory(void)
{
    static struct iovec good[1024], negative_one = {NULL, -1}, bad = {(void *)BAD, 1}, to_readonly, no_bytes;
    good[0] = (struct iovec){memory + 2 * PAGE, 4};
    good[1] = (struct iovec){none, 4};
    to_readonly = (struct iovec){readonly, 4};
    VALUES(OUT, memory, 0, BAD, none, readonly, edge, BEYOND, INT64_MIN);
    VALUES(OUT_OR_NULL, 0, memory, BAD, none, readonly, edge);
    VALUES(IN_WHOLE, memory, 0, BAD, none, readonly);
    VALUES(IN, memory, 0, BAD, none, edge, BEYOND);
    VALUES(IOV, good, &good[1], &negative_one, &bad, &to_readonly, &no_bytes, 0, BAD, edge);
    VALUES(OFFSET_OUT, 0, &offset, &offset_negative, &offset_last, BAD, none);
    VALUES(ADDRESS, page, 0, 1, page + 1, none, 0x100000000000L, BAD, BEYOND, -PAGE, readonly, 0x7ffffffff000L);
    VALUES(PLACE, 0, 1, page + 1, page, BEYOND);
    VALUES(WORD, memory + PAGE, 0, BAD, none, memory + PAGE + 1, BEYOND);
    VALUES(LENGTH, PAGE, 0, 1, -1L, LONG_MAX, -PAGE, 1L << 47, 2 * PAGE, PAGE + 1);
    VALUES(MOVED, PAGE, 1, LONG_MAX, -PAGE, 1L << 47, 2 * PAGE, PAGE + 1);
    VALUES(CHANGED, PAGE, 0, 1, -1L, 2 * PAGE);
    VALUES(GROWN, 2 * PAGE, PAGE, 0, 1, -1L, LONG_MAX, 1L << 47);
}

/* ------------------------------------------------------------------ numbers */

static struct values NONE_BUT_0, BAD_ADVICE, PIECE, PIECES, INT, POSITIVE, SIZE, COUNT, OFFSET, FLAG, MODE, NODE_MODE,
    UID, PID, TID, SIGNAL, SENT, SET_SIZE;
static struct values SET_BYTES, CPUS, CPU_BYTES;

static void list_numbers(void)
{
    static unsigned long first[16] = {1}, empty[16];
    VALUES(NONE_BUT_0, 0);
    VALUES(BAD_ADVICE, 99, -1); /* of what is good kernels refuse more or less */
    static const struct iovec piece = {empty, sizeof empty};
    VALUES(PIECE, &piece, BAD, none, BEYOND);
    VALUES(PIECES, 1, -1, INT_MAX);
    VALUES(INT, 0, 1, -1, 100, INT_MAX, INT_MIN);
    VALUES(POSITIVE, 1, 0, -1, INT_MAX);
    VALUES(SIZE, 4, 0, 1, 100, PAGE, -1L, LONG_MAX);
    VALUES(COUNT, 1, 0, 2, -1, 1024, 1025, INT_MAX);
    VALUES(OFFSET, 0, 1, -1, 100, LONG_MAX, INT_MAX);
    VALUES(FLAG, 0, 1, 2, 4, 8, 16, -1, 1 << 30);
    VALUES(MODE, 0644, 0, 07777, -1, 0177777);
    VALUES(NODE_MODE, S_IFREG | 0644, 0644, S_IFIFO | 0600, S_IFSOCK | 0600, S_IFCHR | 0600, S_IFBLK | 0600);
    VALUES(NODE_MODE, S_IFDIR | 0600, S_IFLNK | 0600, 0170000, 0030000);
    VALUES(UID, -1, getuid(), 0, 12345);
    VALUES(PID, 0, getpid(), -1, NOBODY, INT_MIN, INT_MAX, -NOBODY);
    VALUES(TID, gettid(), 0, -1, NOBODY, INT_MIN);
    VALUES(SIGNAL, SIGCONT, 0, -1, 64, 65, 1000, INT_MIN);
    VALUES(SENT, 0, SIGURG, -1, 64, 65, 1000, INT_MIN); /* what all processes get (-1) does nothing */
    VALUES(SET_SIZE, 8, 0, 4, 16, -1L, 128);
    VALUES(CPUS, first, empty, 0, BAD, none);
    VALUES(CPU_BYTES, 128, 0, 1, 4, 8, -1);
}

/* ------------------------------------------------------------------ files */

static struct values OPEN, WHENCE, AT_FLAGS, RENAME, ALLOCATE, ADVICE, SYNC, LOCK, TRANSFER, SPLICE, REQUEST, COMMAND;
static struct values ACCESS, HOW, HOW_BYTES, SET_ATTRIBUTE, MEMFD, EVENTFD, SIGNALFD, CLOSES, STATX, MQ_FLAGS;

static void list_opening(void)
{
    static unsigned long how[][4] = {{0},        {O_CREAT, 0644}, {0, 0644},   {-1},       {0, 0, -1},
                                     {0, 0, 8},  {0, 0, 4},       {0, 0, 1},   {0, 0, 2},  {0, 0, 16},
                                     {0, 0, 32}, {O_CREAT, -1},   {1UL << 40}, {0, 0, 24}, {0, 0, 0, 1}};
    VALUES(OPEN, O_RDONLY, O_WRONLY, O_RDWR, 3, O_CREAT, O_CREAT | O_EXCL, O_DIRECTORY, O_DIRECTORY | O_CREAT);
    VALUES(OPEN, O_NOFOLLOW, O_TRUNC | O_WRONLY, O_PATH, O_PATH | O_CREAT, O_TMPFILE, O_DIRECT, O_NOATIME, -1, 1 << 30);
    VALUES(OPEN, O_NONBLOCK | O_WRONLY, O_ASYNC, O_DIRECTORY | O_RDWR, O_NOFOLLOW | O_PATH);
    VALUES(HOW, how[0], how[1], how[2], how[3], how[4], how[5], how[6], how[7], how[8], how[9], how[10], how[11]);
    VALUES(HOW, how[12], how[13], how[14], 0, BAD, edge);
    VALUES(HOW_BYTES, 24, 0, 23, 25, 32, PAGE, PAGE + 1, -1L);
    VALUES(ACCESS, F_OK, R_OK, W_OK, X_OK, 7, 8, -1);
    VALUES(AT_FLAGS, 0, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW, AT_REMOVEDIR, AT_EMPTY_PATH, AT_NO_AUTOMOUNT, -1, 1);
    VALUES(AT_FLAGS, AT_STATX_FORCE_SYNC, AT_STATX_SYNC_TYPE);
    VALUES(STATX, STATX_BASIC_STATS, 0, -1, 1 << 31);
    VALUES(RENAME, 0, 1, 2, 3, 4, 5, 6, 8, -1);
    VALUES(SET_ATTRIBUTE, 0, XATTR_CREATE, XATTR_REPLACE, 3, 4, -1);
    VALUES(MEMFD, 0, MFD_CLOEXEC, MFD_ALLOW_SEALING, 3, 32, -1);
    VALUES(EVENTFD, 0, 1, EFD_NONBLOCK | EFD_CLOEXEC, 2, -1);
    VALUES(SIGNALFD, 0, SFD_CLOEXEC, SFD_NONBLOCK, 1, -1);
    VALUES(CLOSES, 0, 2, 4, 1, 8, -1);
}

static void list_files(void)
{
    VALUES(WHENCE, SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 5, -1, 100);
    VALUES(ALLOCATE, 0, 1, 2, 3, 8, 16, 17, 32, 64, 65, 128, -1);
    VALUES(ADVICE, 0, 1, 2, 3, 4, 5, 6, 7, -1);
    VALUES(SYNC, 0, 1, 2, 4, 7, 8, -1);
    VALUES(LOCK, LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB, LOCK_UN, 0, LOCK_NB, LOCK_SH | LOCK_EX | LOCK_NB, -1,
           32 | LOCK_NB);
    VALUES(TRANSFER, 0, RWF_HIPRI, RWF_DSYNC, RWF_SYNC, RWF_NOWAIT, RWF_APPEND, 256, -1);
    VALUES(SPLICE, SPLICE_F_NONBLOCK, 0, -1, 16, SPLICE_F_GIFT | SPLICE_F_MOVE | SPLICE_F_MORE);
    VALUES(REQUEST, TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC, FIONREAD, TCSETS, TIOCSPGRP);
    VALUES(REQUEST, TCSBRK, TCFLSH, TIOCSCTTY, TIOCSTI, 0x8912 /* SIOCGIFCONF */, 0x8933 /* SIOCGIFINDEX */, 0xdeadbeef,
           0);
    VALUES(COMMAND, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC, F_GETLK, F_SETLK, F_GETOWN, F_SETOWN);
    VALUES(COMMAND, F_GETSIG, F_SETSIG, F_GETLEASE, F_SETLEASE, F_NOTIFY, F_GETPIPE_SZ, F_SETPIPE_SZ, F_ADD_SEALS);
    VALUES(COMMAND, F_GET_SEALS, F_OFD_GETLK, F_OFD_SETLK, 1040, -1, 18, 99, 5000);
}

/* ------------------------------------------------------------------ waiting, time and signals */

static struct values TIME, TIMEOUT, MILLISECONDS, FILE_TIMES, MICROSECONDS, SELECT_TIME, SELECT_COUNT, TIMER_TIMES,
    INTERVAL;
static struct values TIMER_FLAGS, CLOCK, TIMER, EVENT, EPOLL_EVENT, EPOLL_OPERATION, POLLED, POLLED_COUNT, SET, TIMEX;
static struct values SET_OR_NULL, HOW_MASKED, ACTION, ALTERNATE, INFO, FUTEX, FUTEX_MOVES, ID_KIND, WAITS;

static void list_moments(void)
{
    static const unsigned modes[] = {ADJ_TICK, ADJ_SETOFFSET, 0x2000, 0x8000, ADJ_OFFSET_SINGLESHOT,
                                     0xa000,   ADJ_STATUS};
    static struct timex changes[sizeof modes / sizeof modes[0]];
    static struct timespec t[] = {{0, 0}, {0, 1000}, {-1, 0}, {0, -1}, {0, 1000000000}};
    static struct timespec file_times[][2] = {{{5, 0}, {6, 0}},
                                              {{0, UTIME_NOW}, {0, UTIME_OMIT}},
                                              {{0, UTIME_OMIT}, {0, UTIME_OMIT}},
                                              {{0, -1}, {0, 0}},
                                              {{0, 0}, {0, 1000000000}},
                                              {{-5, 0}, {-6, 0}},
                                              {{0, UTIME_NOW}, {0, UTIME_NOW}}};
    static struct timeval pair_of[][2] = {{{5, 0}, {6, 0}}, {{0, -1}, {0, 0}}, {{0, 0}, {0, 1000000}}}, none_left;
    static struct itimerspec s[] = {{{0, 0}, {0, 0}},  {{1000, 0}, {1000, 0}},       {{0, 0}, {-1, 0}},
                                    {{0, 0}, {0, -1}}, {{0, 1000000000}, {1000, 1}}, {{0, 0}, {1000, 1000000000}},
                                    {{-1, 0}, {0, 0}}};
    static struct itimerval v[] = {{{0, 0}, {0, 0}},  {{1000, 0}, {1000, 0}},    {{0, 0}, {-1, 0}},
                                   {{0, 0}, {0, -1}}, {{0, 1000000}, {1000, 1}}, {{0, 0}, {1000, 1000000}},
                                   {{-1, 0}, {0, 0}}};
    VALUES(TIME, &t[0], &t[1], &t[2], &t[3], &t[4], BAD, none, 0, edge);
    VALUES(TIMEOUT, &t[0], &t[2], &t[3], &t[4], BAD, none, edge);
    VALUES(MILLISECONDS, 0, 1);
    VALUES(FILE_TIMES, file_times[0], file_times[1], file_times[2], file_times[3], file_times[4], file_times[5]);
    VALUES(FILE_TIMES, file_times[6], 0, BAD, none, edge);
    VALUES(MICROSECONDS, pair_of[0], pair_of[1], pair_of[2], 0, BAD, none);
    VALUES(SELECT_TIME, &none_left, pair_of[1], BAD, none);
    VALUES(SELECT_COUNT, 1, 0, -1, INT_MIN);
    VALUES(TIMER_TIMES, &s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &s[6], 0, BAD, none);
    VALUES(INTERVAL, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], 0, BAD, none);
    VALUES(TIMER_FLAGS, 0, 1, 2, 3, 4, -1);
    /* of an alarm, 8 and 9: where there is a clock for it */
    NUMBERS(CLOCK, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, -1, -2, -6, 100, INT_MIN);
    VALUES(CLOCK, (~NOBODY << 3) | 2, (~file << 3) | 3);
    VALUES(TIMER, timer, -1, 1000, INT_MIN, INT_MAX);
    /* not those that read: hosts differ in whether anything keeps their clocks right */
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
        changes[i].modes = modes[i];
    VALUES(TIMEX, &changes[0], &changes[1], &changes[2], &changes[3], &changes[4], &changes[5], &changes[6], 0, BAD,
           none);
}

static void list_waiting(void)
{
    static struct epoll_event e[] = {{EPOLLIN}, {0}, {-1}, {EPOLLIN | EPOLLEXCLUSIVE}, {EPOLLEXCLUSIVE | EPOLLONESHOT}};
    static struct pollfd polled[4096] = {{.events = POLLIN}}; /* a limit of descriptors may let all pass */
    VALUES(EPOLL_EVENT, &e[0], &e[1], &e[2], &e[3], &e[4], 0, BAD, none);
    VALUES(EPOLL_OPERATION, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL, 0, 4, -1);
    polled[0].fd = file;
    VALUES(POLLED, polled, 0, BAD, readonly, edge);
    VALUES(POLLED_COUNT, 1, 0, 2, -1, INT_MAX);
    VALUES(FUTEX, FUTEX_WAIT, FUTEX_WAKE, FUTEX_LOCK_PI, FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI, FUTEX_WAIT_BITSET);
    VALUES(FUTEX, FUTEX_WAKE_BITSET, FUTEX_WAIT_REQUEUE_PI, FUTEX_WAIT | FUTEX_PRIVATE_FLAG);
    VALUES(FUTEX, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, FUTEX_WAKE | FUTEX_CLOCK_REALTIME);
    VALUES(FUTEX_MOVES, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP, FUTEX_REQUEUE | FUTEX_CLOCK_REALTIME);
    VALUES(ID_KIND, P_ALL, P_PID, P_PGID, P_PIDFD, 4, -1);
    VALUES(WAITS, WNOHANG | WEXITED, WNOHANG, 0, -1, 0x10000, WNOHANG | WEXITED | WNOWAIT, __WCLONE | WNOHANG);
    VALUES(WAITS, WUNTRACED | WNOHANG, WCONTINUED | WNOHANG, __WALL | WNOHANG | WEXITED);
}

static void list_signals(void)
{
    static struct sigevent v[] = {{.sigev_notify = SIGEV_NONE},
                                  {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1},
                                  {.sigev_notify = SIGEV_SIGNAL},
                                  {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 65},
                                  {.sigev_notify = 77},
                                  {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1},
                                  {.sigev_notify = -1}};
    static struct {
        long handler, flags, restorer, mask;
    } ignore = {1};
    static stack_t s[] = {{0, SS_DISABLE}, {0, 0, 0}, {0, 5, 8192}, {0, 0, 100}, {0, 0, 2048}, {0, SS_ONSTACK, 8192}};
    static siginfo_t info[] = {{.si_code = SI_QUEUE}, {.si_code = SI_USER}};
    static unsigned long set;
    for (size_t i = 0; i < sizeof s / sizeof s[0]; i++)
        s[i].ss_sp = memory;
    VALUES(EVENT, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], BAD, none, 0);
    VALUES(SET, &set, 0, BAD, none, edge);
    VALUES(SET_OR_NULL, 0, &set, BAD, none, edge);
    VALUES(HOW_MASKED, SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK, 3, -1);
    VALUES(ACTION, 0, &ignore, BAD, none, edge);
    VALUES(ALTERNATE, &s[0], &s[1], &s[2], &s[3], &s[4], &s[5], 0, BAD, edge);
    VALUES(INFO, &info[0], &info[1], 0, BAD, edge);
}

/* ------------------------------------------------------------------ sockets and System V */

static struct values DOMAIN, TYPE, NAME, NAME_BYTES, NAME_ROOM, LEVEL, OPTION, OPTION_ROOM, OPTION_BYTES, MESSAGE_FLAGS;
static struct values HEADER, SHUT, BACKLOG, KEY, GET, SEGMENT, SEGMENT_COMMAND, ATTACH, SET_ID, SET_COMMAND, OPERATION;
static struct values OPERATIONS, QUEUE_ID, QUEUE_COMMAND, MESSAGE, MESSAGE_BYTES, MESSAGE_TYPE, RECEIVE, MQ_ATTRIBUTES;

static void list_sockets(void)
{
    static struct sockaddr_un a[] = {
        {AF_UNIX, "listener"}, {AF_UNIX, "nothing"},  {AF_UNIX, "file"}, {AF_UNIX, "file/x"},
        {AF_UNIX, "loop"},     {AF_UNIX, "sealed/x"}, {99, "x"},         {AF_UNIX, ""},
        {AF_UNIX, "dir"},      {AF_UNIX, "locked/x"}};
    static struct msghdr m[6];
    struct iovec *const good = (struct iovec *)IOV.value[0];
    for (int i = 0; i < 6; i++)
        m[i] = (struct msghdr){.msg_iov = good, .msg_iovlen = 1};
    m[1].msg_iov = NULL;
    m[2].msg_iovlen = 1025;
    m[3].msg_iovlen = 0;
    m[4].msg_name = memory, m[4].msg_namelen = -1;
    m[5].msg_name = (void *)BAD, m[5].msg_namelen = 110;
    VALUES(DOMAIN, AF_UNIX, AF_INET, AF_INET6, -1, 100, 0);
    VALUES(TYPE, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW, 0, -1, 10, SOCK_STREAM | SOCK_NONBLOCK,
           SOCK_STREAM | 256);
    VALUES(NAME, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6], &a[7], &a[8], &a[9], 0, BAD, edge);
    VALUES(NAME_BYTES, sizeof a[0], 0, 1, 2, 10, 111, 128, 129, -1, INT_MAX);
    VALUES(NAME_ROOM, &length, &zero, &negative, &two, 0, BAD, none, readonly);
    VALUES(LEVEL, SOL_SOCKET, 6, 17, 0, 41, -1, 999, 255);
    VALUES(OPTION, SO_REUSEADDR, SO_TYPE, SO_ERROR, SO_BROADCAST, SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE, SO_OOBINLINE);
    VALUES(OPTION, SO_PRIORITY, SO_LINGER, SO_REUSEPORT, SO_PASSCRED, SO_PEERCRED, SO_RCVTIMEO, SO_SNDTIMEO, SO_DOMAIN);
    VALUES(OPTION, SO_ACCEPTCONN, SO_PROTOCOL, -1, 9999);
    VALUES(OPTION_ROOM, &option_bytes, &zero, &one, &hundred, &negative, 0, BAD, none, readonly);
    VALUES(OPTION_BYTES, 4, 0, 1, 3, 8, 16, -1, 100);
    VALUES(MESSAGE_FLAGS, MSG_DONTWAIT | MSG_NOSIGNAL, MSG_DONTWAIT | MSG_OOB, MSG_DONTWAIT | MSG_PEEK);
    VALUES(MESSAGE_FLAGS, MSG_DONTWAIT | MSG_TRUNC, MSG_DONTWAIT | MSG_EOR, MSG_DONTWAIT | MSG_WAITALL);
    VALUES(MESSAGE_FLAGS, MSG_DONTWAIT | MSG_ERRQUEUE, MSG_DONTWAIT | MSG_MORE, MSG_DONTWAIT | 16,
           MSG_DONTWAIT | 1 << 24);
    VALUES(HEADER, &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], 0, BAD, edge);
    VALUES(SHUT, 0, 1, 2, 3, -1);
    VALUES(BACKLOG, 5, 0, -1, INT_MAX);
}

static void list_system_v(void)
{
    static struct sembuf o[] = {{0, 1, IPC_NOWAIT},      {0, 0, IPC_NOWAIT},     {5, 1, IPC_NOWAIT},
                                {0, -20000, IPC_NOWAIT}, {0, 32767, IPC_NOWAIT}, {0, 1, SEM_UNDO | IPC_NOWAIT},
                                {-1, 1, IPC_NOWAIT}};
    static long message[][8] = {{1}, {0}, {-1}};
    static struct mq_attr q[] = {{0, 4, 32}, {0, -1, 32},         {0, 0, 32}, {0, 4, 0},
                                 {0, 4, -1}, {O_NONBLOCK, 4, 32}, {-1, 4, 32}};
    VALUES(KEY, IPC_PRIVATE, 0x7777123);
    VALUES(GET, IPC_CREAT | 0600, 0, IPC_CREAT | IPC_EXCL | 0600, IPC_EXCL, SHM_HUGETLB | IPC_CREAT | 0600);
    VALUES(SEGMENT, segment, -1, NOBODY, INT_MIN, INT_MAX);
    VALUES(SEGMENT_COMMAND, IPC_STAT, IPC_SET, SHM_LOCK, SHM_UNLOCK, IPC_INFO, -1, 100, IPC_RMID);
    VALUES(ATTACH, SHM_RDONLY, 0, SHM_RND, SHM_EXEC, SHM_REMAP, SHM_RDONLY | SHM_RND);
    VALUES(SET_ID, semaphores, -1, NOBODY, INT_MIN, INT_MAX);
    VALUES(SET_COMMAND, IPC_STAT, GETVAL, SETVAL, GETALL, SETALL, GETPID, GETNCNT, GETZCNT, IPC_SET, -1, 100, IPC_RMID);
    VALUES(OPERATION, &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], 0, BAD, edge);
    VALUES(OPERATIONS, 1, 0, 500, 501, -1L);
    VALUES(QUEUE_ID, messages, -1, NOBODY, INT_MIN, INT_MAX);
    VALUES(QUEUE_COMMAND, IPC_STAT, IPC_SET, -1, 100, IPC_RMID);
    VALUES(MESSAGE, message[0], message[1], message[2], 0, BAD, none);
    VALUES(MESSAGE_BYTES, 4, 0, -1L, 8193, 2);
    VALUES(MESSAGE_TYPE, 0, 1, -1, LONG_MIN);
    VALUES(RECEIVE, IPC_NOWAIT, IPC_NOWAIT | MSG_NOERROR, IPC_NOWAIT | MSG_EXCEPT);
    VALUES(MQ_ATTRIBUTES, 0, &q[0], &q[1], &q[2], &q[3], &q[4], &q[5], &q[6], BAD, none);
    VALUES(MQ_FLAGS, O_RDONLY, O_WRONLY, O_RDWR, 3, O_NONBLOCK);
}

/* ------------------------------------------------------------------ the address space, and who one is */

static struct values PROTECTION, MAPPING, REMAP, MEMORY_ADVICE, LOCK_ALL, LIMIT, LIMITS, USAGE, PRIORITY, PRCTL, BASE,
    RANDOM;
static struct values POLICY, PARAMETER, PERSONALITY, BARRIER, COMPARISON, WORDS_OF_PROGRAM, SEGMENT_FUNCTION, SEGMENT,
    SEGMENT_BYTES;

static void list_spaces(void)
{
    VALUES(PROTECTION, PROT_READ | PROT_WRITE, 0, PROT_READ, PROT_WRITE, PROT_EXEC | PROT_READ, -1, 16, 256, 8);
    VALUES(PROTECTION, PROT_GROWSDOWN, PROT_GROWSUP, PROT_GROWSUP | PROT_GROWSDOWN);
    VALUES(MAPPING, MAP_PRIVATE, MAP_SHARED, 0, 3, 4, MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED_VALIDATE);
    VALUES(MAPPING, MAP_SHARED | MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);
    VALUES(MAPPING, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, MAP_SHARED_VALIDATE | 0x800000, MAP_PRIVATE | MAP_HUGETLB);
    VALUES(MAPPING, MAP_SHARED_VALIDATE | MAP_SYNC, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, MAP_SHARED | MAP_GROWSDOWN);
    VALUES(MAPPING, MAP_PRIVATE | MAP_DENYWRITE, MAP_PRIVATE | MAP_LOCKED, MAP_PRIVATE | MAP_POPULATE);
    VALUES(REMAP, MREMAP_MAYMOVE, 0, MREMAP_FIXED, 3, 4, 5, 8, -1);
    NUMBERS(MEMORY_ADVICE, 0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 50, 100,
            -1);
    VALUES(LOCK_ALL, MCL_CURRENT, 0, MCL_ONFAULT, 8, -1, MCL_FUTURE);
}

static void list_identity(void)
{
    static struct rlimit l[] = {{RLIM_INFINITY, RLIM_INFINITY}, {2, 1}, {RLIM_INFINITY, 5}, {50, 1UL << 40}};
    static uint32_t empty[128 / sizeof(uint32_t)], beyond_all[4] = {8192}, of_code[4] = {0, 0, 0, 3 << 1};
    static char *words[] = {"x", NULL}, *bad_words[] = {(char *)BAD, NULL};
    NUMBERS(LIMIT, RLIMIT_NOFILE, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, -1, 100);
    VALUES(LIMITS, 0, BAD, none, &l[1], &l[2], &l[3], &l[0]);
    VALUES(USAGE, RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD, -2, 2, -100);
    VALUES(PRIORITY, PRIO_PROCESS, PRIO_PGRP, 3, -1);
    VALUES(PRCTL, PR_GET_NAME, PR_SET_NAME, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE);
    VALUES(PRCTL, PR_GET_KEEPCAPS, PR_SET_KEEPCAPS, PR_GET_TIMING, PR_SET_TIMING, PR_GET_SECCOMP, PR_CAPBSET_READ);
    VALUES(PRCTL, PR_CAPBSET_DROP, PR_GET_TSC, PR_GET_SECUREBITS, PR_SET_SECUREBITS, PR_SET_TIMERSLACK, PR_MCE_KILL);
    VALUES(PRCTL, PR_MCE_KILL_GET, PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_MM);
    VALUES(PRCTL, PR_GET_NO_NEW_PRIVS, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE, PR_CAP_AMBIENT, PR_SET_IO_FLUSHER);
    VALUES(PRCTL, PR_SET_VMA, PR_GET_FP_MODE, PR_GET_UNALIGN, PR_GET_FPEMU, PR_GET_ENDIAN, -1, 999, 0);
    VALUES(BASE, 0x1003 /* ARCH_GET_FS */, 0x1004 /* ARCH_GET_GS */, 0, -1, 0x9999);
    VALUES(RANDOM, 0, 1, 2, 3, 4, 6, -1);
    VALUES(POLICY, 0, 1, 2, 3, 4, 5, 6, -1, 1 << 30, (1 << 30) + 1);
    VALUES(PARAMETER, &zero, &one, &negative, 0, BAD, none);
    VALUES(PERSONALITY, 0xffffffff, 0, 0xff, 0xfd40000, 0x80000000);
    VALUES(BARRIER, 1, 2, 4, 8, 16, 32, 64, 8, 32, 3, 4096, -1);
    VALUES(COMPARISON, 1, 0, 2, 3, 4, 5, 6, 8, -1);
    VALUES(SEGMENT_FUNCTION, 1, 0, 2, 3, 18, -1, INT_MIN);
    VALUES(SEGMENT, empty, 0, BAD, none, readonly, edge, BEYOND, &beyond_all, &of_code);
    VALUES(SEGMENT_BYTES, 16, 0, 15, 17, 128, 200, -1L);
    VALUES(WORDS_OF_PROGRAM, words, 0, BAD, none, bad_words, edge);
}

static void list_values(void)
{
    list_descriptors();
    list_paths();
    list_memory();
    list_numbers();
    list_opening();
    list_files();
    list_moments();
    list_waiting();
    list_signals();
    list_sockets();
    list_system_v();
    list_spaces();
    list_identity();
}

/* ------------------------------------------------------------------ the calls */

struct row {
    const char *topic, *name;
    long number;
    bool any; /* a result that is no error, but for 0, is any number */
    struct values *argument[ARGUMENTS];
};

#define ROW(topic, name, ...) \
    { \
#topic, #name, SYS_##name, false, { __VA_ARGS__ } \
    }
#define ANY(topic, name, ...) \
    { \
#topic, #name, SYS_##name, true, { __VA_ARGS__ } \
    }

static const struct row rows[] = {
    ROW(files, read, &RDONLY, &OUT, &SIZE),
    ROW(files, write, &FD, &IN, &SIZE),
    ROW(files, pread64, &RDONLY, &OUT, &SIZE, &OFFSET),
    ROW(files, pwrite64, &FD, &IN, &SIZE, &OFFSET),
    ROW(files, readv, &RDONLY, &IOV, &COUNT),
    ROW(files, writev, &FD, &IOV, &COUNT),
    ROW(files, preadv, &RDONLY, &IOV, &COUNT, &OFFSET, &NONE_BUT_0),
    ROW(files, pwritev, &FD, &IOV, &COUNT, &OFFSET, &NONE_BUT_0),
    ROW(files, preadv2, &RDONLY, &IOV, &COUNT, &OFFSET, &NONE_BUT_0, &TRANSFER),
    ROW(files, pwritev2, &FD, &IOV, &COUNT, &OFFSET, &NONE_BUT_0, &TRANSFER),
    ROW(files, lseek, &FD, &OFFSET, &WHENCE),
    ROW(files, sendfile, &WRONLY, &RDONLY, &OFFSET_OUT, &SIZE),
    ROW(files, copy_file_range, &RDONLY, &OFFSET_OUT, &WRONLY, &OFFSET_OUT, &SIZE, &FLAG),
    ROW(files, splice, &RDONLY, &OFFSET_OUT, &PIPE, &NONE_BUT_0, &SIZE, &SPLICE),
    ROW(files, tee, &RDONLY, &PIPE, &SIZE, &SPLICE),
    ROW(files, vmsplice, &PIPE, &IOV, &POSITIVE, &SPLICE),
    ROW(files, ftruncate, &FD, &OFFSET),
    ROW(files, fallocate, &FD, &ALLOCATE, &OFFSET, &OFFSET),
    ROW(files, fadvise64, &FD, &OFFSET, &SIZE, &ADVICE),
    ROW(files, readahead, &RDONLY, &OFFSET, &SIZE),
    ROW(files, fsync, &FD),
    ROW(files, fdatasync, &FD),
    ROW(files, syncfs, &FD),
    ROW(files, sync_file_range, &FD, &OFFSET, &OFFSET, &SYNC),
    ROW(files, flock, &FD, &LOCK),
    ROW(files, ioctl, &FD, &REQUEST, &OUT),
    ROW(files, close_range, &NEWFD, &NEWFD, &CLOSES),
    ROW(files, dup, &FD),
    ROW(files, dup2, &FD, &NEWFD),
    ROW(files, dup3, &FD, &NEWFD, &OPEN),
    ROW(files, fcntl, &FD, &COMMAND, &OUT),
    ROW(files, fcntl, &FD, &COMMAND, &INT),
    ROW(files, pipe, &OUT),
    ROW(files, pipe2, &OUT, &OPEN),
    ROW(files, eventfd, &INT),
    ROW(files, eventfd2, &INT, &EVENTFD),
    ROW(files, signalfd, &NEWFD, &SET, &SET_SIZE),
    ROW(files, signalfd4, &NEWFD, &SET, &SET_SIZE, &SIGNALFD),
    ROW(files, memfd_create, &STRING, &MEMFD),
    ROW(paths, open, &PATH, &OPEN, &MODE),
    ROW(paths, open, &DIR_PATH, &OPEN, &MODE),
    ROW(paths, open, &NEW, &OPEN, &MODE),
    ROW(paths, openat, &AT, &PATH, &OPEN, &MODE),
    ROW(paths, openat2, &AT, &PATH, &HOW, &HOW_BYTES),
    ROW(paths, creat, &NEW, &MODE),
    ROW(paths, stat, &LOOKED, &OUT),
    ROW(paths, fstat, &FD, &OUT),
    ROW(paths, lstat, &LINK, &OUT),
    ROW(paths, newfstatat, &AT, &LOOKED, &OUT, &AT_FLAGS),
    ROW(paths, statx, &AT, &LOOKED, &AT_FLAGS, &STATX, &OUT),
    ROW(paths, statfs, &LOOKED, &OUT),
    ROW(paths, fstatfs, &FD, &OUT),
    ROW(paths, access, &LOOKED, &ACCESS),
    ROW(paths, faccessat, &AT, &LOOKED, &ACCESS),
    ROW(paths, faccessat2, &AT, &LOOKED, &ACCESS, &AT_FLAGS),
    ROW(paths, readlink, &LINK, &OUT, &SIZE),
    ROW(paths, readlinkat, &AT, &LINK, &OUT, &SIZE),
    ANY(paths, getdents64, &DIRECTORY, &OUT, &LENGTH),
    ANY(paths, getcwd, &OUT, &CPU_BYTES),
    ROW(paths, chdir, &DIR_LOOKED),
    ROW(paths, fchdir, &DIRECTORY),
    ROW(paths, chroot, &DIR_LOOKED),
    ROW(paths, mkdir, &NEW, &MODE),
    ROW(paths, mkdirat, &AT, &NEW, &MODE),
    ROW(paths, rmdir, &DIR_PATH),
    ROW(paths, unlink, &PATH),
    ROW(paths, unlinkat, &AT, &PATH, &AT_FLAGS),
    ROW(paths, rename, &PATH, &NEW),
    ROW(paths, rename, &DIR_PATH, &NEW),
    ROW(paths, renameat, &AT, &PATH, &AT, &NEW),
    ROW(paths, renameat2, &AT, &PATH, &AT, &NEW, &RENAME),
    ROW(paths, link, &PATH, &NEW),
    ROW(paths, linkat, &AT, &PATH, &AT, &NEW, &AT_FLAGS),
    ROW(paths, symlink, &STRING, &NEW),
    ROW(paths, symlinkat, &STRING, &AT, &NEW),
    ROW(paths, mknod, &NEW, &NODE_MODE, &INT),
    ROW(paths, mknodat, &AT, &NEW, &NODE_MODE, &INT),
    ROW(paths, chmod, &PATH, &MODE),
    ROW(paths, fchmod, &FD, &MODE),
    ROW(paths, fchmodat, &AT, &PATH, &MODE),
    ROW(paths, chown, &PATH, &UID, &UID),
    ROW(paths, fchown, &FD, &UID, &UID),
    ROW(paths, lchown, &LINK, &UID, &UID),
    ROW(paths, fchownat, &AT, &PATH, &UID, &UID, &AT_FLAGS),
    ROW(paths, truncate, &PATH, &OFFSET),
    ROW(paths, utime, &PATH, &MICROSECONDS),
    ROW(paths, utimes, &PATH, &MICROSECONDS),
    ROW(paths, futimesat, &AT, &PATH, &MICROSECONDS),
    ROW(paths, utimensat, &AT, &PATH, &FILE_TIMES, &AT_FLAGS),
    ROW(paths, umask, &MODE),
    ROW(paths, setxattr, &PATH, &ATTRIBUTE, &IN, &SIZE, &SET_ATTRIBUTE),
    ROW(paths, lsetxattr, &PATH, &ATTRIBUTE, &IN, &SIZE, &SET_ATTRIBUTE),
    ROW(paths, fsetxattr, &FD, &ATTRIBUTE, &IN, &SIZE, &SET_ATTRIBUTE),
    ROW(paths, getxattr, &LOOKED, &ATTRIBUTE, &OUT, &SIZE),
    ROW(paths, lgetxattr, &LINK, &ATTRIBUTE, &OUT, &SIZE),
    ROW(paths, fgetxattr, &FD, &ATTRIBUTE, &OUT, &SIZE),
    ROW(paths, listxattr, &LOOKED, &OUT, &SIZE),
    ROW(paths, llistxattr, &LINK, &OUT, &SIZE),
    ROW(paths, flistxattr, &FD, &OUT, &SIZE),
    ROW(paths, removexattr, &PATH, &ATTRIBUTE),
    ROW(paths, lremovexattr, &PATH, &ATTRIBUTE),
    ROW(paths, fremovexattr, &FD, &ATTRIBUTE),
    ROW(paths, execve, &NEW, &WORDS_OF_PROGRAM, &WORDS_OF_PROGRAM),
    ROW(paths, execveat, &AT, &NEW, &WORDS_OF_PROGRAM, &WORDS_OF_PROGRAM, &AT_FLAGS),
    ROW(paths, acct, &NEW),
    ROW(sockets, socket, &DOMAIN, &TYPE, &NONE_BUT_0),
    ROW(sockets, socketpair, &DOMAIN, &TYPE, &NONE_BUT_0, &OUT),
    ROW(sockets, connect, &SOCKET, &NAME, &NAME_BYTES),
    ROW(sockets, bind, &SOCKET, &NAME, &NAME_BYTES),
    ROW(sockets, listen, &SOCKET, &BACKLOG),
    ROW(sockets, accept, &SOCKET, &OUT_OR_NULL, &NAME_ROOM),
    ROW(sockets, accept4, &SOCKET, &OUT_OR_NULL, &NAME_ROOM, &EVENTFD),
    ROW(sockets, sendto, &SOCKET, &OUT_OR_NULL, &NONE_BUT_0, &MESSAGE_FLAGS, &OUT_OR_NULL, &NAME_BYTES),
    ROW(sockets, recvfrom, &SOCKET, &OUT, &SIZE, &MESSAGE_FLAGS, &OUT_OR_NULL, &NAME_ROOM),
    ROW(sockets, recvmsg, &SOCKET, &HEADER, &MESSAGE_FLAGS),
    ROW(sockets, sendmsg, &SOCKET, &HEADER, &MESSAGE_FLAGS),
    ROW(sockets, recvmmsg, &SOCKET, &HEADER, &COUNT, &MESSAGE_FLAGS, &TIMEOUT),
    ROW(sockets, shutdown, &SOCKET, &SHUT),
    ROW(sockets, getsockname, &SOCKET, &OUT, &NAME_ROOM),
    ROW(sockets, getpeername, &SOCKET, &OUT, &NAME_ROOM),
    ROW(sockets, setsockopt, &SOCKET, &LEVEL, &OPTION, &IN, &OPTION_BYTES),
    ROW(sockets, getsockopt, &SOCKET, &LEVEL, &OPTION, &OUT, &OPTION_ROOM),
    ANY(queues, shmget, &KEY, &SIZE, &GET),
    ANY(queues, shmat, &SEGMENT, &PLACE, &ATTACH),
    ROW(queues, shmdt, &ADDRESS),
    ANY(queues, shmctl, &SEGMENT, &SEGMENT_COMMAND, &OUT),
    ANY(queues, semget, &KEY, &COUNT, &GET),
    ROW(queues, semop, &SET_ID, &OPERATION, &OPERATIONS),
    ROW(queues, semtimedop, &SET_ID, &OPERATION, &OPERATIONS, &TIMEOUT),
    ANY(queues, semctl, &SET_ID, &INT, &SET_COMMAND, &OUT),
    ANY(queues, msgget, &KEY, &GET),
    ROW(queues, msgsnd, &QUEUE_ID, &MESSAGE, &MESSAGE_BYTES, &RECEIVE),
    ROW(queues, msgrcv, &QUEUE_ID, &MESSAGE, &MESSAGE_BYTES, &MESSAGE_TYPE, &RECEIVE),
    ROW(queues, msgctl, &QUEUE_ID, &QUEUE_COMMAND, &OUT),
    ROW(queues, mq_open, &MQ_NAME, &MQ_FLAGS, &MODE, &MQ_ATTRIBUTES),
    ROW(queues, mq_unlink, &MQ_NAME),
    ROW(queues, mq_timedsend, &QUEUE, &IN, &SIZE, &POSITIVE, &TIMEOUT),
    ROW(queues, mq_timedreceive, &QUEUE, &OUT, &SIZE, &OUT_OR_NULL, &TIMEOUT),
    ROW(queues, mq_notify, &QUEUE, &EVENT),
    ROW(queues, mq_getsetattr, &QUEUE, &MQ_ATTRIBUTES, &OUT_OR_NULL),
    ANY(spaces, mmap, &ADDRESS, &LENGTH, &PROTECTION, &MAPPING, &NO_FD, &OFFSET),
    ANY(spaces, mmap, &ADDRESS, &LENGTH, &PROTECTION, &MAPPING, &MAPPED, &OFFSET),
    ROW(spaces, munmap, &ADDRESS, &LENGTH),
    ANY(spaces, mremap, &ADDRESS, &MOVED, &GROWN, &REMAP, &ADDRESS),
    ROW(spaces, mprotect, &ADDRESS, &CHANGED, &PROTECTION),
    ROW(spaces, madvise, &ADDRESS, &LENGTH, &MEMORY_ADVICE),
    ROW(spaces, msync, &ADDRESS, &LENGTH, &SYNC),
    ROW(spaces, mlock, &ADDRESS, &LENGTH),
    ROW(spaces, mlock2, &ADDRESS, &LENGTH, &FLAG),
    ROW(spaces, munlock, &ADDRESS, &LENGTH),
    ROW(spaces, mlockall, &LOCK_ALL),
    ROW(spaces, mincore, &ADDRESS, &LENGTH, &OUT),
    ROW(spaces, membarrier, &BARRIER, &FLAG, &INT),
    ROW(waiting, poll, &POLLED, &POLLED_COUNT, &MILLISECONDS),
    ROW(waiting, ppoll, &POLLED, &POLLED_COUNT, &TIMEOUT, &SET_OR_NULL, &SET_SIZE),
    ROW(waiting, select, &SELECT_COUNT, &OUT_OR_NULL, &OUT_OR_NULL, &OUT_OR_NULL, &SELECT_TIME),
    ROW(waiting, pselect6, &SELECT_COUNT, &OUT_OR_NULL, &OUT_OR_NULL, &OUT_OR_NULL, &TIMEOUT, &OUT_OR_NULL),
    ROW(waiting, epoll_create, &POSITIVE),
    ROW(waiting, epoll_create1, &OPEN),
    ROW(waiting, epoll_ctl, &EPOLL, &EPOLL_OPERATION, &PIPE, &EPOLL_EVENT),
    ROW(waiting, epoll_wait, &EPOLL, &OUT, &COUNT, &MILLISECONDS),
    ROW(waiting, epoll_pwait, &EPOLL, &OUT, &COUNT, &MILLISECONDS, &SET_OR_NULL, &SET_SIZE),
    ROW(waiting, epoll_pwait2, &EPOLL, &OUT, &COUNT, &TIMEOUT, &SET_OR_NULL, &SET_SIZE),
    ROW(waiting, futex, &WORD, &FUTEX, &POSITIVE, &TIMEOUT, &WORD, &INT),
    ROW(waiting, futex, &WORD, &FUTEX_MOVES, &POSITIVE, &POSITIVE, &WORD, &INT),
    ROW(waiting, futex_waitv, &OUT, &COUNT, &FLAG, &TIMEOUT, &CLOCK),
    ANY(waiting, set_robust_list, &OUT_OR_NULL, &SET_SIZE),
    ROW(waiting, get_robust_list, &PID, &OUT, &OUT),
    ROW(waiting, wait4, &PID, &OUT_OR_NULL, &WAITS, &OUT_OR_NULL),
    ROW(waiting, waitid, &ID_KIND, &PID, &OUT_OR_NULL, &WAITS, &OUT_OR_NULL),
    ROW(time, clock_gettime, &CLOCK, &OUT),
    ROW(time, clock_getres, &CLOCK, &OUT_OR_NULL),
    ROW(time, clock_settime, &CLOCK, &TIME),
    ROW(time, adjtimex, &TIMEX),
    ROW(time, clock_adjtime, &CLOCK, &TIMEX),
    ROW(time, gettimeofday, &OUT_OR_NULL, &OUT_OR_NULL),
    ROW(time, settimeofday, &OUT_OR_NULL, &OUT_OR_NULL),
    ANY(time, time, &OUT_OR_NULL),
    ROW(time, nanosleep, &TIME, &OUT_OR_NULL),
    ROW(time, clock_nanosleep, &CLOCK, &TIMER_FLAGS, &TIME, &OUT_OR_NULL),
    ROW(time, getitimer, &INT, &OUT),
    ROW(time, setitimer, &INT, &INTERVAL, &OUT_OR_NULL),
    ROW(time, timer_create, &CLOCK, &EVENT, &OUT),
    ROW(time, timer_settime, &TIMER, &TIMER_FLAGS, &TIMER_TIMES, &OUT_OR_NULL),
    ROW(time, timer_gettime, &TIMER, &OUT),
    ROW(time, timer_getoverrun, &TIMER),
    ROW(time, timer_delete, &TIMER),
    ROW(time, timerfd_create, &CLOCK, &OPEN),
    ROW(time, timerfd_settime, &TIMERFD, &TIMER_FLAGS, &TIMER_TIMES, &OUT_OR_NULL),
    ROW(time, timerfd_gettime, &TIMERFD, &OUT),
    ROW(signals, rt_sigaction, &SIGNAL, &ACTION, &OUT_OR_NULL, &SET_SIZE),
    ROW(signals, rt_sigprocmask, &HOW_MASKED, &SET_OR_NULL, &OUT_OR_NULL, &SET_SIZE),
    ROW(signals, rt_sigpending, &OUT, &SET_SIZE),
    ROW(signals, rt_sigtimedwait, &SET, &NONE_BUT_0, &TIMEOUT, &SET_SIZE),
    ROW(signals, rt_sigsuspend, &IN, &NONE_BUT_0),
    ROW(signals, sigaltstack, &ALTERNATE, &OUT_OR_NULL),
    ROW(signals, kill, &PID, &SENT),
    ROW(signals, tkill, &TID, &SENT),
    ROW(signals, tgkill, &PID, &TID, &SENT),
    ROW(signals, rt_sigqueueinfo, &PID, &SENT, &INFO),
    ROW(signals, rt_tgsigqueueinfo, &PID, &TID, &SENT, &INFO),
    ROW(signals, pidfd_open, &PID, &FLAG),
    ROW(signals, process_madvise, &PROCESS, &PIECE, &PIECES, &BAD_ADVICE, &NONE_BUT_0),
    ROW(signals, pidfd_send_signal, &PROCESS, &SENT, &INFO, &NONE_BUT_0),
    ANY(identity, getpgid, &PID),
    ANY(identity, getsid, &PID),
    ROW(identity, setpgid, &PID, &PID),
    ROW(identity, getresuid, &OUT, &OUT, &OUT),
    ROW(identity, getresgid, &OUT, &OUT, &OUT),
    ROW(identity, getgroups, &INT, &OUT),
    ROW(identity, setgroups, &SIZE, &IN),
    ROW(identity, setuid, &UID),
    ROW(identity, setgid, &UID),
    ROW(identity, setreuid, &UID, &UID),
    ROW(identity, setregid, &UID, &UID),
    ROW(identity, setresuid, &UID, &UID, &UID),
    ROW(identity, setresgid, &UID, &UID, &UID),
    ROW(identity, uname, &OUT),
    ROW(identity, sysinfo, &OUT),
    ROW(identity, getrlimit, &LIMIT, &OUT),
    ROW(identity, setrlimit, &LIMIT, &LIMITS),
    ROW(identity, prlimit64, &PID, &LIMIT, &LIMITS, &OUT_OR_NULL),
    ROW(identity, getrusage, &USAGE, &OUT),
    ROW(identity, personality, &PERSONALITY),
    ROW(identity, prctl, &PRCTL, &INT, &INT, &INT, &INT),
    ROW(identity, arch_prctl, &BASE, &OUT),
    ANY(identity, set_tid_address, &OUT_OR_NULL),
    ROW(identity, getrandom, &OUT, &SIZE, &RANDOM),
    ROW(identity, capset, &IN_WHOLE, &OUT_OR_NULL),
    ROW(identity, setns, &PROCESS, &FLAG),
    ROW(identity, modify_ldt, &SEGMENT_FUNCTION, &SEGMENT, &SEGMENT_BYTES),
    ROW(identity, process_vm_readv, &TID, &IOV, &COUNT, &IOV, &COUNT, &FLAG),
    ROW(identity, process_vm_writev, &TID, &IOV, &COUNT, &IOV, &COUNT, &FLAG),
    ANY(identity, kcmp, &PID, &PID, &COMPARISON, &INT, &INT),
    ROW(identity, sethostname, &STRING, &SIZE),
    ROW(identity, setdomainname, &STRING, &SIZE),
    ROW(identity, syslog, &INT, &OUT, &INT),
    ANY(identity, getpriority, &PRIORITY, &PID),
    ROW(identity, setpriority, &PRIORITY, &PID, &INT),
    ANY(identity, sched_getaffinity, &PID, &CPU_BYTES, &OUT),
    ROW(identity, sched_setaffinity, &PID, &CPU_BYTES, &CPUS),
    ROW(identity, sched_getscheduler, &PID),
    ROW(identity, sched_setscheduler, &PID, &POLICY, &PARAMETER),
    ROW(identity, sched_getparam, &PID, &OUT),
    ROW(identity, sched_setparam, &PID, &PARAMETER),
    ROW(identity, sched_getattr, &PID, &OUT, &CPU_BYTES, &FLAG),
    ROW(identity, sched_setattr, &PID, &IN, &FLAG),
    ROW(identity, sched_get_priority_max, &POLICY),
    ROW(identity, sched_get_priority_min, &POLICY),
    ROW(identity, sched_rr_get_interval, &PID, &OUT),
    ROW(identity, ioprio_get, &POSITIVE, &PID),
    ROW(identity, ioprio_set, &POSITIVE, &PID, &INT),
};

/* ------------------------------------------------------------------ the calls */

/* A result of which only the sign is the same everywhere is not shown. */
static void show_result(const struct row *row, intptr_t value, int error)
{
    if (value == -1 && error != 0)
        printf("%s\n", strerrorname_np(error));
    else if (row->any)
        printf("%s\n", value == 0 ? "0" : "not 0");
    else
        printf("%ld\n", (long)value);
    fflush(stdout);
}

static void call(const struct row *row, const int pick[ARGUMENTS])
{
    intptr_t a[ARGUMENTS] = {0};
    printf("%s(", row->name);
    for (int i = 0; i < ARGUMENTS && row->argument[i]; i++) {
        a[i] = row->argument[i]->value[pick[i]];
        printf("%s%s", i > 0 ? ", " : "", row->argument[i]->name[pick[i]]);
    }
    printf(") = ");
    fflush(stdout);
    refresh();
    alarm(10);
    errno = 0;
    const intptr_t value = syscall(row->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    show_result(row, value, errno);
    syscall(SYS_close_range, highest + 1, ~0u, 0);
}

static void vary(const struct row *row)
{
    int pick[ARGUMENTS] = {0};
    call(row, pick);
    for (int i = 0; i < ARGUMENTS && row->argument[i]; i++) {
        for (pick[i] = 1; pick[i] < row->argument[i]->count; pick[i]++)
            call(row, pick);
        pick[i] = 0;
    }
}

static void run(const struct row *row, int number)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%d", row->name, number);
    MUST(mkdir(name, 0755));
    MUST(chdir(name));
    make_files();
    open_files();
    open_sockets();
    open_others();
    map_memory();
    list_values();
    vary(row);
    semctl(semaphores, 0, IPC_RMID);
    shmctl(segment, IPC_RMID, NULL);
    msgctl(messages, IPC_RMID, NULL);
}

int main(int argc, char **argv)
{
    const int ignored[] = {SIGPIPE, SIGXFSZ, SIGIO, SIGUSR1, SIGURG, 64 /* the last one */};
    int status;
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    syscall(SYS_close_range, 3, ~0u, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (argc < 2 || strcmp(argv[1], rows[i].topic) != 0)
            continue;
        const pid_t child = MUST(fork());
        if (child == 0) {
            setpgid(0, 0);
            run(&rows[i], (int)i);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status != 0)
            printf("\n%s ended with %#x\n", rows[i].name, (unsigned)status);
        fflush(stdout);
    }
    return 0;
}
