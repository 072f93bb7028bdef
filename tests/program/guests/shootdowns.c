/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * shootdowns UNMAPPED PROTECTED: a thread writes to blocks of four pages; when it has ended the first one unmaps some,
 * takes the right to write from others, and unmaps as many that were never touched.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGES 4
#define PAGE 4096
#define MOST 16

static long unmapped, protected;
static char *blocks[3 * MOST];

static void *touch(void *none)
{
    (void)none;
    for (long i = 0; i < unmapped + protected; i++)
        for (long page = 0; page < PAGES; page++)
            blocks[i][page * PAGE] = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    unmapped = argc > 1 ? atol(argv[1]) : 0;
    protected = argc > 2 ? atol(argv[2]) : 0;
    if (unmapped > MOST || protected > MOST)
        return 2;
    for (long i = 0; i < 2 * unmapped + protected; i++)
        blocks[i] = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, NULL, touch, NULL);
    pthread_join(thread, NULL);
    for (long i = 0; i < unmapped; i++)
        munmap(blocks[i], PAGES * PAGE);
    for (long i = unmapped; i < unmapped + protected; i++)
        mprotect(blocks[i], PAGES * PAGE, PROT_READ);
    for (long i = unmapped + protected; i < 2 * unmapped + protected; i++)
        munmap(blocks[i], PAGES * PAGE);
    return 0;
}
