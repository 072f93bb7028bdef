/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * many_areas N [holes]: N mappings of a page each that stay apart, because their rights alternate; the rights of every
 * second one change, every fourth one goes, every fourth one grows where it can and moves where it cannot, and all are
 * read. With `holes` a page that is not mapped lies between any two. Prints what natively comes out too: how many pages
 * there are at the end, and the sum of what was kept in them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u

static void fail(const char *call, int i)
{
    fprintf(stderr, "%s of %d: %m\n", call, i);
    exit(1);
}

static unsigned char *map(int i, unsigned hole)
{
    int prot = i % 2 ? PROT_READ | PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC;
    unsigned char *page = mmap(NULL, (1 + hole) * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        fail("mmap", i);
    if (hole && munmap(page + PAGE, PAGE) != 0)
        fail("munmap", i);
    page[0] = (unsigned char)(i % 251);
    return page;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000, pages = 0;
    unsigned char **at = malloc((size_t)count * sizeof *at);
    unsigned long sum = 0;
    for (int i = 0; i < count; i++)
        at[i] = map(i, argc > 2);
    for (int i = 0; i < count; i += 2)
        if (mprotect(at[i], PAGE, PROT_READ) != 0)
            fail("mprotect", i);
    for (int i = 1; i < count; i += 4)
        if (munmap(at[i], PAGE) != 0)
            fail("munmap", i);
    for (int i = 3; i < count; i += 4) {
        at[i] = mremap(at[i], PAGE, (i % 8 == 3 ? 2u : 4u) * PAGE, MREMAP_MAYMOVE);
        if (at[i] == MAP_FAILED)
            fail("mremap", i);
        at[i][PAGE] = 7;
        sum += at[i][PAGE];
        pages += i % 8 == 3 ? 2 : 4;
    }
    for (int i = 0; i < count; i++) {
        if (i % 4 == 1)
            continue;
        sum += at[i][0];
        pages += i % 2 == 0;
    }
    printf("%d pages, sum %lu\n", pages, sum);
    return 0;
}
