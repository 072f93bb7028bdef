/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Waits that only the guest itself could end: found before the host begins them, and nothing else is taken for one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscalls_guest.h"

static void assert_deadlock(int64_t value, const char *why)
{
    assert_int_equal(value, -EINTR);
    assert_int_equal(g.result.action, SYSCALLS_FAILED);
    if (!strstr(g.err.text, why))
        fail_msg("%s", g.err.text);
}

static int *new_pair(bool sockets)
{
    int *pair = guest_take(8);
    assert_int_equal(sockets ? CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, pair) : CALL(pipe, pair), 0);
    return pair;
}

static void fill(int fd)
{
    char *page = guest_take(4096);
    assert_call(0, fcntl, fd, F_SETFL, O_NONBLOCK);
    while (CALL(write, fd, page, 4096) > 0)
        continue;
    assert_call(0, fcntl, fd, F_SETFL, 0);
}

static void nothing_to_read_is_no_wait(void **state)
{
    (void)state;
    int *pair = new_pair(false);
    char *buffer = guest_take(16);
    struct iovec *iov = guest_take(sizeof *iov);
    assert_call(0, read, pair[0], buffer, 0);
    assert_call(0, readv, pair[0], iov, 1);
    assert_call(0, readv, pair[0], iov, 0);
    assert_call(0, read, new_pair(true)[0], buffer, 0);
    assert_call(-EINVAL, read, CALL(eventfd2, 0, 0), buffer, 4); /* before it looks whether there is something */
    assert_call(-EBADF, read, pair[1], buffer, 1);
    assert_call(0, fcntl, pair[0], F_GETFL); /* as it was */
    assert_deadlock(CALL(readv, pair[0], (*iov = (struct iovec){buffer, 1}, iov), 1), "in readv: it reads from itself");
    assert_deadlock(CALL(preadv2, pair[0], iov, 1, -1, 0, 0), "in preadv2: it reads from itself");
    /* opened again, it is still the guest's own */
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", pair[0]);
    assert_deadlock(CALL(read, CALL(open, guest_text(name), O_RDONLY), buffer, 1), "it reads from itself");
}

static void full_pipes(void **state)
{
    (void)state;
    int *pair = new_pair(false);
    struct iovec *iov = guest_take(sizeof *iov);
    *iov = (struct iovec){guest_take(100), 100};
    fill(pair[1]);
    assert_deadlock(CALL(pwritev2, pair[1], iov, 1, -1, 0, RWF_DSYNC), "in pwritev2: it writes to itself");
    assert_deadlock(CALL(writev, pair[1], iov, 1), "in writev: it writes to itself");
    assert_call(-ESPIPE, pwritev2, pair[1], iov, 1, 0, 0, 0);
    assert_call(O_WRONLY, fcntl, pair[1], F_GETFL);
}

static void sockets_that_wait_for_all(void **state)
{
    (void)state;
    int *pair = new_pair(true);
    char *buffer = guest_take(16);
    assert_call(4, sendto, pair[1], guest_text("abcd"), 4, 0, NULL, 0);
    assert_call(4, recvfrom, pair[0], buffer, 4, MSG_WAITALL, NULL, NULL);
    assert_call(4, sendto, pair[1], guest_text("abcd"), 4, 0, NULL, 0);
    assert_call(4, recvfrom, pair[0], buffer, 8, MSG_WAITALL | MSG_PEEK, NULL, NULL);
    assert_deadlock(CALL(recvfrom, pair[0], buffer, 8, MSG_WAITALL, NULL, NULL),
                    "in recvfrom: it receives from itself");
    assert_call(4, sendto, pair[1], guest_text("efgh"), 4, 0, NULL, 0);
    assert_call(0, shutdown, pair[1], SHUT_WR);
    assert_call(4, recvfrom, pair[0], buffer, 8, MSG_WAITALL, NULL, NULL); /* the end comes before all */
    /* an option that would let other calls wait for more than there is */
    int *bytes = guest_take(4);
    *bytes = 8;
    assert_call(-ENOPROTOOPT, setsockopt, pair[0], SOL_SOCKET, SO_RCVLOWAT, bytes, 4);
}

/* Shut down, a socket of datagrams has an end only for those that wait. */
static void datagrams_end(void **state)
{
    (void)state;
    int *pair = guest_take(8);
    char *buffer = guest_take(16);
    assert_call(0, socketpair, AF_UNIX, SOCK_DGRAM, 0, pair);
    assert_deadlock(CALL(recvfrom, pair[0], buffer, 16, 0, NULL, NULL), "it receives from itself");
    assert_call(0, write, pair[1], buffer, 0); /* a datagram without data */
    assert_call(0, read, pair[0], buffer, 16);
    assert_deadlock(CALL(read, pair[0], buffer, 16), "it reads from itself");
    assert_call(0, shutdown, pair[0], SHUT_RD);
    assert_call(0, read, pair[0], buffer, 16);
    assert_call(0, recvfrom, pair[0], buffer, 16, 0, NULL, NULL);
    assert_call(-EAGAIN, recvfrom, pair[0], buffer, 16, MSG_DONTWAIT, NULL, NULL);
    /* and a write to what is shut is no SIGPIPE, as it is for streams */
    assert_call(-EPIPE, write, pair[1], buffer, 1);
    assert_int_equal(g.result.action, SYSCALLS_RETURN);
    pair = new_pair(true);
    assert_call(0, close, pair[0]);
    assert_call(-EPIPE, write, pair[1], buffer, 1);
    assert_int_equal(g.result.action, SYSCALLS_SIGNAL);
}

static void full_sockets(void **state)
{
    (void)state;
    int *pair = new_pair(true);
    int64_t file = CALL(open, guest_text("f"), O_CREAT | O_RDWR, 0600);
    assert_call(0, ftruncate, file, 8 << 20);
    assert_deadlock(CALL(sendfile, pair[0], file, NULL, 8 << 20), "in sendfile: it copies to or from itself");
    pair = new_pair(true);
    uint64_t *near_end = guest_take(8);
    *near_end = (8 << 20) - 100;
    assert_call(100, sendfile, pair[0], file, near_end, 200); /* the file ends */
    fill(pair[0]);
    assert_deadlock(CALL(sendto, pair[0], guest_take(8192), 8192, 0, NULL, 0), "in sendto: it sends to itself");
    assert_call(-EAGAIN, sendto, pair[0], guest_take(8192), 8192, MSG_DONTWAIT, NULL, 0);
}

static void splices(void **state)
{
    (void)state;
    int *from = new_pair(false), *to = new_pair(false);
    assert_deadlock(CALL(splice, from[0], NULL, to[1], NULL, 10, 0), "in splice: it copies to or from itself");
    assert_call(3, write, from[1], guest_text("abc"), 3);
    assert_call(3, splice, from[0], NULL, to[1], NULL, 10, 0); /* what there is */
    assert_call(0, fcntl, from[0], F_SETFL, O_NONBLOCK);
    assert_call(-EAGAIN, splice, from[0], NULL, to[1], NULL, 10, 0);
    assert_call(0, close, from[1]);
    assert_call(0, splice, from[0], NULL, to[1], NULL, 10, 0);
}

/* ------------------------------------------------------------------ locks */

static int64_t open_new(void) { return CALL(open, guest_text("lock"), O_CREAT | O_RDWR, 0600); }

static struct flock *area(short type, short whence, int64_t start, int64_t length)
{
    struct flock *at = guest_take(sizeof *at);
    *at = (struct flock){.l_type = type, .l_whence = whence, .l_start = start, .l_len = length};
    return at;
}

/* What opens the file again, and closes that again, must leave the process's locks alone until the guest closes one. */
static void locks_outlast_c2emus_own_descriptors(void **state)
{
    (void)state;
    int64_t fd = open_new();
    assert_call(0, fcntl, fd, F_SETLK, area(F_WRLCK, SEEK_SET, 0, 10));
    int64_t other = open_new();
    assert_call(0, stat, guest_text("lock"), guest_take(144));
    assert_call(-EAGAIN, fcntl, other, F_OFD_SETLK, area(F_RDLCK, SEEK_SET, 0, 1));
    struct flock *asked = area(F_RDLCK, SEEK_SET, 0, 1);
    assert_call(0, fcntl, other, F_OFD_GETLK, asked);
    assert_int_equal(asked->l_type, F_WRLCK);
    assert_int_equal(asked->l_pid, 1000); /* the guest */
    assert_call(0, close, other);
    assert_call(0, fcntl, open_new(), F_OFD_SETLK, area(F_RDLCK, SEEK_SET, 0, 1)); /* as on Linux: the close took it */
}

static void locks_of_descriptions(void **state)
{
    (void)state;
    int64_t first = open_new(), second = open_new(), copy = CALL(dup, first);
    assert_call(0, flock, first, LOCK_EX);
    assert_call(0, flock, copy, LOCK_SH); /* its own lock, changed */
    assert_call(0, flock, second, LOCK_SH);
    assert_deadlock(CALL(flock, second, LOCK_EX), "in flock: it holds the lock itself, by another descriptor");
    assert_call(-EAGAIN, flock, second, LOCK_EX | LOCK_NB);
    assert_call(0, flock, first, LOCK_UN);
    assert_call(0, flock, second, LOCK_EX);
    assert_call(-EINVAL, flock, second, 64);
}

static void locks_of_ranges(void **state)
{
    (void)state;
    static const char why[] = "in fcntl: it holds the lock itself";
    int64_t first = open_new(), second = open_new();
    assert_call(0, fcntl, first, F_OFD_SETLKW, area(F_WRLCK, SEEK_SET, 10, 10));
    assert_call(0, fcntl, first, F_OFD_SETLKW, area(F_RDLCK, SEEK_SET, 15, 5));
    assert_call(0, fcntl, second, F_OFD_SETLKW, area(F_WRLCK, SEEK_SET, 20, 0));
    assert_call(0, fcntl, second, F_OFD_SETLKW, area(F_RDLCK, SEEK_SET, 15, 1));
    assert_deadlock(CALL(fcntl, second, F_OFD_SETLKW, area(F_WRLCK, SEEK_SET, 19, 1)), why);
    assert_deadlock(CALL(fcntl, second, F_OFD_SETLKW, area(F_RDLCK, SEEK_SET, 15, -1)), why);
    assert_call(5, pwrite64, first, guest_text("....."), 5, 0);
    assert_deadlock(CALL(fcntl, second, F_OFD_SETLKW, area(F_RDLCK, SEEK_END, 5, 1)), why);
    assert_call(0, fcntl, second, F_OFD_SETLKW, area(F_WRLCK, SEEK_END, 4, 1));
    /* the process is an owner, too, whatever the descriptor */
    assert_deadlock(CALL(fcntl, second, F_SETLKW, area(F_WRLCK, SEEK_SET, 12, 1)), why);
    assert_call(0, fcntl, second, F_SETLKW, area(F_WRLCK, SEEK_SET, 0, 5));
    assert_call(0, fcntl, first, F_SETLKW, area(F_WRLCK, SEEK_SET, 0, 5));
    assert_deadlock(CALL(fcntl, first, F_OFD_SETLKW, area(F_RDLCK, SEEK_SET, 4, 1)), why);
    assert_call(0, flock, first, LOCK_EX); /* another family */
    assert_call(-EINVAL, fcntl, first, F_SETLKW, area(F_WRLCK, SEEK_SET, -1, 1));
}

/* The lock is held outside: the host waits for its holder. */
static void locks_of_others(void **state)
{
    (void)state;
    int64_t fd = open_new();
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        int own = open("lock", O_RDWR);
        bool held = own >= 0 && flock(own, LOCK_EX) == 0 && write(ready[1], "x", 1) == 1;
        usleep(100000);
        _exit(!held);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_call(0, flock, fd, LOCK_EX);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    alarm(60); /* a wait of the host must end the test */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_to_read_is_no_wait, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(full_pipes, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(sockets_that_wait_for_all, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(datagrams_end, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(full_sockets, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(splices, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(locks_outlast_c2emus_own_descriptors, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(locks_of_descriptions, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(locks_of_ranges, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(locks_of_others, guest_setup, guest_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
