/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * kernel_calls PART: says what the kernel answers to calls that few programs make.
 *
 * words     FUTEX_WAIT_REQUEUE_PI and FUTEX_CMP_REQUEUE_PI; futex_waitv
 * timeouts  of sockets: SO_RCVTIMEO, SO_SNDTIMEO; of messages: sendmmsg, recvmmsg
 * resolve   openat2, in the working directory, which is empty
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *what, long value)
{
    if (value < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %ld\n", what, value);
    fflush(stdout);
}

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct timespec later(clockid_t clock, uint64_t ns)
{
    ns += now(clock);
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 50000000};
    nanosleep(&time, NULL);
}

/* ------------------------------------------------------------------ words */

static uint32_t word, lock, words[4];

static long futex(uint32_t *at, int operation, uint32_t value, const void *time, uint32_t *to, uint32_t third)
{
    return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, time, to, third);
}

static long requeue(uint32_t others) /* at most so many that do not get the lock at once */
{
    return futex(&word, FUTEX_CMP_REQUEUE_PI, 1, (void *)(uintptr_t)others, &lock, word);
}

static void *waits_for_lock(void *number)
{
    const long got = futex(&word, FUTEX_WAIT_REQUEUE_PI, 0, NULL, &lock, 0);
    printf("thread %ld: %ld, and has the lock: %d\n", (long)(intptr_t)number, got,
           (lock & FUTEX_TID_MASK) == (uint32_t)gettid());
    fflush(stdout);
    if (futex(&lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) < 0)
        say("it gives it on", -1);
    return NULL;
}

static void handler(int number) { (void)number; }

static void *waits_and_is_interrupted(void *unused)
{
    (void)unused;
    const struct timespec time = later(CLOCK_MONOTONIC, 300000000);
    say("interrupted, it goes on", futex(&word, FUTEX_WAIT_REQUEUE_PI, 0, &time, &lock, 0));
    return NULL;
}

static void requeues(void)
{
    pthread_t thread[3];
    for (long i = 0; i < 3; i++) {
        pthread_create(&thread[i], NULL, waits_for_lock, (void *)i);
        nap();
    }
    say("a wake of who is to be moved", futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
    say("to another lock", futex(&word, FUTEX_CMP_REQUEUE_PI, 1, (void *)9L, &words[0], 0));
    say("as others are moved", futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)9L, &words[0], 0));
    say("another value", futex(&word, FUTEX_CMP_REQUEUE_PI, 1, (void *)9L, &lock, 5));
    say("two at once", futex(&word, FUTEX_CMP_REQUEUE_PI, 2, (void *)9L, &lock, 0));
    say("to itself", futex(&word, FUTEX_CMP_REQUEUE_PI, 1, (void *)9L, &word, 0));
    lock = (uint32_t)gettid();
    say("moved", requeue(0));
    say("moved", requeue(9));
    say("moved", requeue(9));
    say("unlock", futex(&lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    printf("the lock: %u\n", lock);
    pthread_create(&thread[0], NULL, waits_for_lock, (void *)9L);
    nap();
    const long moved = requeue(0);
    pthread_join(thread[0], NULL);
    say("of nobody: it gets it", moved);
    struct timespec time = later(CLOCK_MONOTONIC, 10000000);
    say("its time comes", futex(&word, FUTEX_WAIT_REQUEUE_PI, 0, &time, &lock, 0));
    say("another value", futex(&word, FUTEX_WAIT_REQUEUE_PI, 1, &time, &lock, 0));
    say("a lock that is the word", futex(&word, FUTEX_WAIT_REQUEUE_PI, 0, &time, &word, 0));
    const struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART */
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread[0], NULL, waits_and_is_interrupted, NULL);
    nap();
    pthread_kill(thread[0], SIGUSR1);
    pthread_join(thread[0], NULL);
}

struct waited {
    uint64_t value, address;
    uint32_t flags, reserved;
};

static long waitv(const struct waited *list, unsigned count, const struct timespec *until, clockid_t clock)
{
    return syscall(SYS_futex_waitv, list, count, 0, until, clock);
}

static void *waits_at_four(void *unused)
{
    (void)unused;
    struct waited list[4];
    for (int i = 0; i < 4; i++)
        list[i] = (struct waited){0, (uintptr_t)&words[i], 2 | FUTEX_PRIVATE_FLAG, 0};
    say("woken at", waitv(list, 4, NULL, CLOCK_MONOTONIC));
    return NULL;
}

/* The one to be woken may not wait yet. */
static void wake_one(uint32_t *at)
{
    while (futex(at, FUTEX_WAKE, 1, NULL, NULL, 0) == 0)
        nap();
}

static void several(void)
{
    struct waited list[2] = {{0, (uintptr_t)&words[0], 2, 0}, {0, (uintptr_t)&words[1], 2, 0}};
    pthread_t thread;
    for (int i = 3; i >= 0; i--) {
        pthread_create(&thread, NULL, waits_at_four, NULL);
        nap();
        wake_one(&words[i]);
        pthread_join(thread, NULL);
    }
    pthread_create(&thread, NULL, waits_at_four, NULL);
    nap();
    say("moved to another word", futex(&words[2], FUTEX_CMP_REQUEUE, 0, (void *)1L, &word, 0));
    say("nobody is left there", futex(&words[2], FUTEX_WAKE, 1, NULL, NULL, 0));
    wake_one(&word);
    pthread_join(thread, NULL);
    struct timespec time = later(CLOCK_MONOTONIC, 10000000);
    say("its time comes", waitv(list, 2, &time, CLOCK_MONOTONIC));
    time = later(CLOCK_REALTIME, 10000000);
    say("of the other clock", waitv(list, 2, &time, CLOCK_REALTIME));
    say("of a third one", waitv(list, 2, &time, CLOCK_BOOTTIME));
    say("none", waitv(list, 0, NULL, 0));
    say("too many", waitv(list, 129, NULL, 0));
    words[1] = 7;
    say("another value", waitv(list, 2, &time, CLOCK_REALTIME));
    words[1] = 0;
    list[1].flags = 1;
    say("16 bits", waitv(list, 2, NULL, 0));
    list[1] = (struct waited){0, (uintptr_t)&words[1] + 2, 2, 0};
    say("not aligned", waitv(list, 2, NULL, 0));
}

/* ------------------------------------------------------------------ timeouts */

static void set_time(int fd, int option, long us)
{
    const struct timeval time = {us / 1000000, us % 1000000};
    if (setsockopt(fd, SOL_SOCKET, option, &time, sizeof time) < 0)
        say("setsockopt", -1);
}

static uint64_t began;

static void begin(void) { began = now(CLOCK_MONOTONIC); }

/* After the call, not before `ms`. */
static void say_late(const char *what, long value, uint64_t ms)
{
    const int error = errno;
    const uint64_t took = now(CLOCK_MONOTONIC) - began;
    errno = error;
    say(what, value);
    if (took < ms * 1000000)
        printf("too early: %llu\n", (unsigned long long)took);
}

static void options(int fd)
{
    struct timeval time = {7, 8};
    socklen_t bytes = sizeof time;
    say("as at first", getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, &bytes));
    printf("%ld %ld %u\n", (long)time.tv_sec, (long)time.tv_usec, bytes);
    set_time(fd, SO_RCVTIMEO, 2040000);
    getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, &bytes);
    printf("set: %ld %ld\n", (long)time.tv_sec, (long)time.tv_usec);
    getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, &bytes);
    printf("the other one: %ld %ld\n", (long)time.tv_sec, (long)time.tv_usec);
    time.tv_usec = 1000000;
    say("a million microseconds", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time));
    say("half of it", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time / 2));
}

static void receives(void)
{
    int pair[2];
    char data[8];
    struct iovec iov = {data, sizeof data};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    options(pair[0]);
    set_time(pair[0], SO_RCVTIMEO, 40000);
    begin();
    say_late("recv", recv(pair[0], data, sizeof data, 0), 40);
    begin();
    say_late("read", read(pair[0], data, sizeof data), 40);
    begin();
    say_late("recvmsg", recvmsg(pair[0], &message, 0), 40);
    write(pair[1], "abc", 3);
    begin();
    say_late("a part of all", recv(pair[0], data, sizeof data, MSG_WAITALL), 40);
    const int copy = dup(pair[0]);
    begin();
    say_late("a copy", read(copy, data, sizeof data), 40);
    if (fork() == 0) {
        begin();
        say_late("a child", read(pair[0], data, sizeof data), 40);
        _exit(0);
    }
    wait(NULL);
    set_time(pair[0], SO_RCVTIMEO, -5000000);
    say("a time before now", read(pair[0], data, sizeof data));
    set_time(pair[0], SO_RCVTIMEO, 0);
    if (fork() == 0) {
        nap();
        write(pair[1], "late", 4);
        _exit(0);
    }
    say("for ever", read(pair[0], data, sizeof data));
    wait(NULL);
}

static void sends(void)
{
    static char block[1 << 20];
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    set_time(pair[0], SO_SNDTIMEO, 40000);
    begin();
    const long first = send(pair[0], block, sizeof block, 0);
    say_late("a part of it is sent", first > 0 && first < (long)sizeof block, 40);
    begin();
    say_late("nothing more", send(pair[0], block, sizeof block, 0), 40);
    begin();
    say_late("nor so", write(pair[0], block, sizeof block), 40);
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    set_time(pair[0], SO_SNDTIMEO, 2000000);
    const struct itimerval timer = {.it_value.tv_usec = 10000};
    setitimer(ITIMER_REAL, &timer, NULL);
    say("a signal, with a timeout", write(pair[0], block, sizeof block));
}

static void accepts(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0), datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    char byte;
    bind(fd, (const struct sockaddr *)&any, sizeof any);
    listen(fd, 1);
    set_time(fd, SO_RCVTIMEO, 40000);
    begin();
    say_late("accept", accept(fd, NULL, NULL), 40);
    bind(datagrams, (const struct sockaddr *)&any, sizeof any);
    set_time(datagrams, SO_RCVTIMEO, 40000);
    begin();
    say_late("recvfrom", recvfrom(datagrams, &byte, 1, 0, NULL, NULL), 40);
}

enum { MESSAGES = 4 };
static char text[MESSAGES][8];
static struct iovec pieces[MESSAGES];
static struct mmsghdr many[MESSAGES];

static struct mmsghdr *make_messages(void)
{
    memset(text, 'x', sizeof text);
    memset(many, 0, sizeof many);
    for (int i = 0; i < MESSAGES; i++) {
        pieces[i] = (struct iovec){text[i], 4};
        many[i].msg_hdr.msg_iov = &pieces[i];
        many[i].msg_hdr.msg_iovlen = 1;
    }
    return many;
}

static void say_messages(const char *what, long got)
{
    say(what, got);
    for (int i = 0; i < MESSAGES; i++)
        printf(" %u %.4s", many[i].msg_len, text[i]);
    printf("\n");
}

static void sends_later(int fd, int count)
{
    if (fork() != 0)
        return;
    for (int i = 0; i < count; i++) {
        nap();
        write(fd, "abcdef" + i, 2);
    }
    _exit(0);
}

static void messages(void)
{
    int pair[2];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    sends_later(pair[1], 4);
    say_messages("four that come one by one", recvmmsg(pair[0], make_messages(), MESSAGES, 0, NULL));
    wait(NULL);
    sends_later(pair[1], 2);
    say_messages("what is there behind the first", recvmmsg(pair[0], make_messages(), MESSAGES, MSG_WAITFORONE, NULL));
    wait(NULL);
    say("the other one", recv(pair[0], text[0], 8, 0));
    struct timespec time = {.tv_nsec = 75000000};
    sends_later(pair[1], 2);
    say_messages("until the time is over", recvmmsg(pair[0], make_messages(), MESSAGES, 0, &time));
    printf("what is left: %ld %ld\n", (long)time.tv_sec, time.tv_nsec);
    wait(NULL);
    time = (struct timespec){.tv_sec = 100};
    sends_later(pair[1], 1);
    say_messages("one, and time is left", recvmmsg(pair[0], make_messages(), 1, 0, &time));
    printf("what is left: %d\n", time.tv_sec == 99);
    wait(NULL);
    set_time(pair[0], SO_RCVTIMEO, 150000);
    sends_later(pair[1], 2);
    say_messages("two, and then the socket's time is over", recvmmsg(pair[0], make_messages(), MESSAGES, 0, NULL));
    wait(NULL);
    say_messages("none", recvmmsg(pair[0], make_messages(), MESSAGES, 0, NULL));
    time.tv_nsec = -1;
    say_messages("no time", recvmmsg(pair[0], make_messages(), MESSAGES, 0, &time));
}

/* More than fits: the sender of all of them waits for the reader. */
static void many_sent(void)
{
    static char large[3][150000];
    struct iovec iov[3];
    struct mmsghdr list[3] = {0};
    int pair[2];
    for (int i = 0; i < 3; i++) {
        iov[i] = (struct iovec){large[i], sizeof large[i]};
        list[i].msg_hdr.msg_iov = &iov[i];
        list[i].msg_hdr.msg_iovlen = 1;
    }
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    if (fork() == 0) {
        static char buffer[sizeof large];
        close(pair[0]);
        nap();
        long total = 0, got;
        while ((got = read(pair[1], buffer, sizeof buffer)) > 0)
            total += got;
        say("came", total);
        _exit(0);
    }
    close(pair[1]);
    say("sent", sendmmsg(pair[0], list, 3, 0));
    printf("%u %u %u\n", list[0].msg_len, list[1].msg_len, list[2].msg_len);
    fflush(stdout);
    close(pair[0]);
    wait(NULL);
}

static void timeouts(void)
{
    receives();
    sends();
    accepts();
    messages();
    many_sent();
}

/* ------------------------------------------------------------------ resolve */

static long open2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
    const struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
    return syscall(SYS_openat2, directory, path, &how, sizeof how);
}

/* "file 5": what was opened, by its first byte; a directory by what lies in it. */
static void tries(const char *path, int directory, uint64_t resolve)
{
    static const char *const names[] = {"no-xdev", "no-magiclinks", "no-symlinks", "beneath", "in-root", "cached"};
    char byte[2] = "";
    printf("%s", path);
    for (int i = 0; i < 6; i++)
        printf("%s%s", resolve >> i & 1 ? " " : "", resolve >> i & 1 ? names[i] : "");
    const int fd = (int)open2(directory, path, O_RDONLY, 0, resolve);
    if (fd < 0) {
        printf(": %s\n", strerrorname_np(errno));
        return;
    }
    if (read(fd, byte, 1) < 0)
        snprintf(byte, sizeof byte, "%c", faccessat(fd, "file", F_OK, 0) == 0 ? 'I' : '/');
    printf(": %s\n", byte);
    close(fd);
}

static void make(const char *path, const char *content)
{
    const int fd = open(path, O_WRONLY | O_CREAT, 0644);
    write(fd, content, strlen(content));
    close(fd);
}

static void raw(const char *what, const void *how, size_t bytes)
{
    const long fd = syscall(SYS_openat2, AT_FDCWD, "file", how, bytes);
    say(what, fd < 0 ? fd : 0);
    if (fd >= 0)
        close((int)fd);
}

static void how(void)
{
    struct {
        struct open_how how;
        uint64_t more;
    } large = {.how.flags = O_RDONLY};
    raw("of old", &large, sizeof large.how - 8);
    raw("of a later kernel", &large, sizeof large);
    large.more = 1;
    raw("that says more", &large, sizeof large);
    raw("much more", &large, 5000);
    large.how.flags = (uint64_t)1 << 40;
    raw("no such flag", &large, sizeof large.how);
    large.how = (struct open_how){.flags = O_RDONLY, .mode = 0600};
    raw("a mode without a file to make", &large, sizeof large.how);
    large.how = (struct open_how){.flags = O_RDWR | O_CREAT, .mode = 010000};
    raw("no such mode", &large, sizeof large.how);
    large.how = (struct open_how){.flags = O_PATH | O_RDWR};
    raw("a path for writing", &large, sizeof large.how);
    large.how = (struct open_how){.resolve = RESOLVE_BENEATH | RESOLVE_IN_ROOT};
    raw("both", &large, sizeof large.how);
    large.how = (struct open_how){.resolve = 0x40};
    raw("no such way", &large, sizeof large.how);
    large.how = (struct open_how){.flags = O_RDWR | O_TRUNC, .resolve = 0x20};
    raw("cut what is known", &large, sizeof large.how);
}

static void resolve(void)
{
    char here[4096];
    make("file", "f");
    mkdir("d", 0755);
    mkdir("d/e", 0755);
    make("d/file", "d");
    symlink("file", "d/link");
    symlink("../file", "d/up");
    symlink("/file", "d/top");
    symlink("e/../../d/file", "d/round");
    symlink("/", "d/slash");
    snprintf(here, sizeof here, "%s/file", getcwd(here, sizeof here - 5));
    symlink(here, "d/far");
    how();
    const int d = open("d", O_RDONLY | O_DIRECTORY);
    static const char *const paths[] = {"file",      "link",         "up",      "top",   "round", "slash", "far",
                                        "../file",   "e/../file",    "e/..",    "/file", "none/../file",
                                        "file/../file", "e/../../file", ".",    "..",    "none",  "link/", ""};
    for (unsigned i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        tries(paths[i], d, RESOLVE_BENEATH);
        tries(paths[i], d, RESOLVE_IN_ROOT);
        tries(paths[i], d, RESOLVE_NO_SYMLINKS);
        tries(paths[i], d, RESOLVE_NO_MAGICLINKS);
    }
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d/file", d);
    const uint64_t all[] = {0, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH, RESOLVE_NO_XDEV};
    for (int i = 0; i < 5; i++) {
        const int fd = (int)open2(AT_FDCWD, link, O_RDONLY, 0, all[i]);
        say("by a descriptor", fd < 0 ? -1 : 0);
        if (fd >= 0)
            close(fd);
    }
    say("what is mounted elsewhere", open2(AT_FDCWD, "/proc/self/maps", O_RDONLY, 0, RESOLVE_NO_XDEV));
    tries("e/../link", d, RESOLVE_NO_XDEV);
    tries("file", -5, RESOLVE_BENEATH);
    say("made", open2(d, "new", O_RDWR | O_CREAT | O_EXCL, 0640, RESOLVE_BENEATH) >= 0 ? 0 : -1);
    say("made in the root", open2(d, "/e/new", O_RDWR | O_CREAT, 0640, RESOLVE_IN_ROOT) >= 0 ? 0 : -1);
    say("not made", open2(d, "../new", O_RDWR | O_CREAT, 0640, RESOLVE_BENEATH) >= 0 ? 0 : -1);
    struct stat st;
    printf("%d %d %d\n", stat("d/new", &st) == 0 && (st.st_mode & 0777) == 0640, access("d/e/new", F_OK) == 0,
           access("new", F_OK) == 0);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    if (strcmp(part, "words") == 0) {
        requeues();
        several();
    } else if (strcmp(part, "timeouts") == 0) {
        timeouts();
    } else if (strcmp(part, "resolve") == 0) {
        resolve();
    }
    return 0;
}
