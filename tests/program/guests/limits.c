/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * limits WAY [FILE]: what meets the limits that its caller has set.
 *   spin            runs for ever
 *   write FILE      writes 4000 bytes four times, and cuts the file to 100,000 bytes; says what each call answers
 *   caught FILE     the same with a handler of SIGXFSZ
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int signal_number)
{
    (void)signal_number;
    signals++;
}

static void say(const char *call, long answer)
{
    printf("%s: %ld %s, %d signals\n", call, answer, answer < 0 ? strerror(errno) : "", (int)signals);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char block[4000];
    volatile unsigned long turns = 0;
    while (strcmp(argv[1], "spin") == 0)
        turns++;
    if (strcmp(argv[1], "caught") == 0)
        signal(SIGXFSZ, count);
    int fd = open(argc > 2 ? argv[2] : "", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 4; i++)
        say("write", (long)write(fd, block, sizeof block));
    say("ftruncate", ftruncate(fd, 100000));
    return 0;
}
