/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * exhausts FILE PAGES: touches pages one after the other. Before each it tells its address on standard output, behind
 * it the number of pages so far in FILE, through a shared mapping: without a system call in between.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

int main(int argc, char **argv)
{
    char line[32];
    const int fd = open(argc == 3 ? argv[1] : "", O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, PAGE) != 0)
        return 1;
    const size_t pages = strtoul(argv[2], NULL, 10);
    volatile uint64_t *done = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    volatile char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *done = 0;
    for (size_t i = 0; i < pages; i += 2) { /* two pages a system call */
        const int bytes = snprintf(line, sizeof line, "%" PRIx64 "\n", (uint64_t)(uintptr_t)&memory[i * PAGE]);
        if (write(1, line, (size_t)bytes) != bytes)
            return 1;
        memory[i * PAGE] = 1;
        ++*done;
        memory[(i + 1) * PAGE] = 1;
        ++*done;
    }
    return 0;
}
