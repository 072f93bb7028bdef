/* SPDX-License-Identifier: GPL-2.0-or-later
 * processors N: how many there are, and where each of N threads runs; then with one of them alone. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

static void *where(void *unused)
{
    printf(" %d", sched_getcpu());
    return unused;
}

static int allowed(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

int main(int argc, char **argv)
{
    cpu_set_t last;
    printf("%d of %d:", get_nprocs(), get_nprocs_conf());
    where(NULL);
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 1; i--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, where, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    CPU_ZERO(&last);
    CPU_SET(get_nprocs() - 1, &last);
    int set = sched_setaffinity(0, sizeof last, &last);
    printf(", allowed %d", set == 0 ? allowed() : -1);
    CPU_ZERO(&last);
    CPU_SET(get_nprocs_conf(), &last); /* there is none */
    printf(", of none %d\n", sched_setaffinity(0, sizeof last, &last));
    return 0;
}
