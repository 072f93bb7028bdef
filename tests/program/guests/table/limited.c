/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files and the limit on their size: what of a write fits, and the signal where nothing does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static void say(const char *what, long value)
{
    printf("%s: %ld %s, %d signals\n", what, value, value < 0 ? strerror(errno) : "", signals);
}

int main(void)
{
    const struct rlimit limit = {1000, 1000};
    const struct iovec parts[] = {{"abc", 3}, {"defghi", 6}, {"jk", 2}};
    int fd = open("cut", O_RDWR | O_CREAT | O_TRUNC, 0600), more, ends[2];
    signal(SIGXFSZ, on_signal);
    setrlimit(RLIMIT_FSIZE, &limit);
    say("beyond", lseek(fd, 2000, SEEK_SET));
    say("written there", write(fd, "x", 1));
    say("nothing", write(fd, "x", 0));
    lseek(fd, 995, SEEK_SET);
    say("half of it", writev(fd, parts, 3));
    say("at the end", write(fd, "0123456789", 10));
    say("at a place", pwrite(fd, "abc", 3, 999));
    say("behind it", pwrite(fd, "abc", 3, 1000));
    say("longer", ftruncate(fd, 5000));
    say("longer, by name", truncate("cut", 1001));
    say("shorter", ftruncate(fd, 990));
    more = open("cut", O_WRONLY | O_APPEND);
    say("appended", write(more, "0123456789abc", 13));
    say("and again", write(more, "0", 1));
    say("room", fallocate(fd, 0, 0, 2000));
    say("room behind it", fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 2000));
    say("fits", fallocate(fd, 0, 0, 500));
    pipe(ends);
    say("a pipe has none", write(ends[1], parts, sizeof parts));
    unlink("cut");
    return 0;
}
