/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * processes WHAT N [PARTS]: what bench/processes.py measures, N times.
 *
 * loop    rounds of arithmetic, shared out to PARTS processes; none of them waits
 * threads the same by PARTS threads
 * fork    a child that ends at once is made, and waited for
 * spawn   a child that becomes /bin/true
 * pipe    a byte to another process and back
 */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void *work(void *rounds)
{
    volatile unsigned sum = 0;
    for (long i = (long)rounds; i > 0; i--)
        sum += (unsigned)i;
    return NULL;
}

static void wait_for(int count)
{
    for (int i = 0; i < count; i++)
        if (wait(NULL) < 0)
            fail("wait");
}

static pid_t start(void)
{
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    return child;
}

static void loop(long rounds, int parts)
{
    for (int i = 1; i < parts; i++)
        if (start() == 0) {
            work((void *)(rounds / parts));
            _exit(0);
        }
    work((void *)(rounds / parts));
    wait_for(parts - 1);
}

static void threads(long rounds, int parts)
{
    pthread_t thread[64];
    for (int i = 1; i < parts; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)(rounds / parts)) != 0)
            fail("pthread_create");
    work((void *)(rounds / parts));
    for (int i = 1; i < parts; i++)
        pthread_join(thread[i], NULL);
}

static void forks(long times, int parts)
{
    (void)parts;
    for (; times > 0; times--) {
        if (start() == 0)
            _exit(0);
        wait_for(1);
    }
}

static void spawns(long times, int parts)
{
    static char *const words[] = {"/bin/true", NULL};
    pid_t child;
    (void)parts;
    for (; times > 0; times--) {
        if (posix_spawn(&child, words[0], NULL, NULL, words, words + 1) != 0)
            fail("posix_spawn");
        wait_for(1);
    }
}

static void pass(int from, int to, long times)
{
    char byte = 0;
    for (; times > 0; times--)
        if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
            fail("a pipe");
}

static void pipes(long times, int parts)
{
    int there[2], back[2];
    (void)parts;
    if (pipe(there) != 0 || pipe(back) != 0)
        fail("pipe");
    if (start() == 0) {
        pass(there[0], back[1], times);
        _exit(0);
    }
    if (write(there[1], "", 1) != 1)
        fail("write");
    pass(back[0], there[1], times);
    wait_for(1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(long times, int parts);
    } kinds[] = {{"loop", loop}, {"threads", threads}, {"fork", forks}, {"spawn", spawns}, {"pipe", pipes}};
    for (unsigned i = 0; argc > 2 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].run(atol(argv[2]), argc > 3 ? atoi(argv[3]) : 1);
            return 0;
        }
    return 2;
}
