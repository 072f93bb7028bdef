/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Blocks of all sizes, a second thread, a large static array: what a sanitizer looks at, and finds in order.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int squares[1 << 20];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void add(long amount)
{
    pthread_mutex_lock(&lock);
    total += amount;
    pthread_mutex_unlock(&lock);
}

static void *fill(void *argument)
{
    for (long i = 0; i < 1 << 20; i++)
        squares[i] = (int)(i * i % 1000);
    add(squares[12345]);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fill, NULL);
    for (size_t bytes = 1; bytes < 1 << 22; bytes *= 3) {
        char *block = malloc(bytes), *copy;
        memset(block, argc, bytes);
        copy = realloc(block, bytes * 2);
        add(copy[bytes - 1]);
        free(copy);
    }
    pthread_join(thread, NULL);
    printf("%ld %d %s\n", total, squares[999999], argv[argc - 1]);
    return (int)(total % 100);
}
