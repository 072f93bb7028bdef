/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Asks for huge pages in the two ways there are, then changes parts of them; tests/program/policies.py has the numbers.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)
#define PAGE 4096

static char *map(size_t bytes, int flags)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/* Four of 2 MiB, all written; one of 1 GiB, and one byte of it written. */
static int reserved(char **a)
{
    *a = map(8 * MIB, MAP_HUGETLB);
    char *giant = map(1024 * MIB, MAP_HUGETLB | 30 << MAP_HUGE_SHIFT);
    memset(*a, 1, 8 * MIB);
    giant[5] = 1;
    return giant[5] + giant[4];
}

/* Two of 2 MiB of six, a byte of each written. */
static int advised(char **b)
{
    *b = map(14 * MIB, 0);
    *b += 2 * MIB - (size_t)*b % (2 * MIB);
    madvise(*b, 4 * MIB, MADV_HUGEPAGE);
    (*b)[0] = 1, (*b)[2 * MIB] = 2;
    return (*b)[0] + (*b)[2 * MIB];
}

/* One page of a huge page each: without rights, gone, moved to where that was. */
static int changed(char *a, char *b)
{
    mprotect(b + PAGE, PAGE, PROT_READ);
    munmap(a + 2 * MIB + 2 * PAGE, PAGE);
    const char *moved = mremap(a + 4 * MIB, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, a + 2 * MIB + 2 * PAGE);
    return moved == a + 2 * MIB + 2 * PAGE ? moved[7] + b[2 * PAGE] : -1;
}

int main(void)
{
    char *a, *b;
    int one = reserved(&a), two = advised(&b);
    printf("%d %d %d\n", one, two, changed(a, b));
    return 0;
}
