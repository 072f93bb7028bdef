/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * memory_limits KIB [LIMIT]: goes down the stack so far, behind setrlimit(RLIMIT_STACK) of so many KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { STEP = 4096 };

static int go_down(int steps)
{
    volatile char room[STEP];
    room[0] = (char)steps;
    return steps ? go_down(steps - 1) + room[0] : 0;
}

int main(int count, char **arguments)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    printf("the stack may have %lu KiB\n", (unsigned long)limit.rlim_cur >> 10);
    fflush(stdout);
    if (count > 2) {
        limit.rlim_cur = (rlim_t)atoi(arguments[2]) << 10;
        setrlimit(RLIMIT_STACK, &limit);
    }
    go_down(atoi(arguments[1]) * 1024 / (STEP + 64));
    printf("%s\n", malloc(100 << 20) ? "100 MiB more" : "no more");
    return 0;
}
