/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * regions HEAP MAPPED: touches some pages of each kind of memory, then writes /proc/self/maps to standard output.
 * A        3 pages of bss, all touched            I        2 pages with initial values, both touched
 * B        4 MiB of bss, aligned to 2 MiB; the first byte of each MiB is touched
 * small    64 bytes, somewhere in bss             never    a page of bss that is not touched
 * Then HEAP pages of brk and MAPPED pages of an anonymous mapping of 1 GiB.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

char A[3 * PAGE] __attribute__((aligned(PAGE)));
char B[4 << 20] __attribute__((aligned(2 << 20)));
char I[2 * PAGE] __attribute__((aligned(PAGE))) = {1};
char never[PAGE] __attribute__((aligned(PAGE)));
char small[64];
__thread char local[8];
static char buffer[1 << 14];

static void touch(volatile char *at, long pages, long step)
{
    for (long i = 0; i < pages; i++)
        at[i * step]++;
}

int main(int argc, char **argv)
{
    long heap = argc > 1 ? atol(argv[1]) : 5, mapped = argc > 2 ? atol(argv[2]) : 4;
    touch(A, 3, PAGE);
    touch(B, 4, 1 << 20);
    touch(I, 2, PAGE);
    touch(small, 1, 1);
    local[0] = 1;
    touch(sbrk(heap * PAGE), heap, PAGE);
    touch(mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), mapped, PAGE);
    int from = open("/proc/self/maps", O_RDONLY);
    for (ssize_t bytes; (bytes = read(from, buffer, sizeof buffer)) > 0;)
        if (write(1, buffer, (size_t)bytes) != bytes)
            return 1;
    return 0;
}
