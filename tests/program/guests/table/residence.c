/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which pages are there: touched, locked, populated, moved away; as mincore, smaps, pagemap and status tell it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 8
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static char *map(int prot, int flags)
{
    /* apart from others: neighbours that are alike would be one */
    char *all = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mmap(all + PAGE, PAGES * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0);
}

static void field(const char *name, const char *file, uintptr_t at)
{
    char line[512];
    unsigned long start, end;
    FILE *from = fopen(file, "r");
    int here = at == 0;
    while (fgets(line, sizeof line, from)) {
        if (at && sscanf(line, "%lx-%lx ", &start, &end) == 2)
            here = start <= at && at < end;
        if (here && strncmp(line, name, strlen(name)) == 0)
            printf("  %s", line);
    }
    fclose(from);
}

static void show(const char *what, char *at)
{
    unsigned char core[PAGES];
    uint64_t entry[PAGES];
    int fd = open("/proc/self/pagemap", O_RDONLY);
    printf("%s:", what);
    if (mincore(at, PAGES * PAGE, core) != 0)
        printf(" %s", strerror(errno));
    for (int i = 0; i < PAGES; i++)
        printf(" %d", core[i] & 1);
    printf(", pagemap %zd:", pread(fd, entry, sizeof entry, (off_t)((uintptr_t)at / PAGE * 8)));
    for (int i = 0; i < PAGES; i++)
        printf(" %llx", (unsigned long long)(entry[i] >> 61 & 5));
    printf("\n");
    field("Rss:", "/proc/self/smaps", (uintptr_t)at);
    field("Locked:", "/proc/self/smaps", (uintptr_t)at);
    field("VmLck:", "/proc/self/status", 0);
    close(fd);
}

static const char *answer(long value) { return value == -1 ? strerror(errno) : "done"; }

static void locks(void)
{
    char *at = map(PROT_READ | PROT_WRITE, 0), *read_only = map(PROT_READ, 0), *closed = map(PROT_NONE, 0);
    at[PAGE] = 1;
    show("touched", at);
    printf("lock: %s\n", answer(mlock(at + 3 * PAGE + 5, PAGE)));
    show("locked", at);
    printf("discard: %s\n", answer(madvise(at, PAGES * PAGE, MADV_DONTNEED)));
    printf("unlock: %s\n", answer(munlock(at + 3 * PAGE, PAGE)));
    show("unlocked", at);
    printf("discard: %s\n", answer(madvise(at, PAGES * PAGE, MADV_DONTNEED)));
    show("discarded", at);
    printf("on fault: %s\n", answer(mlock2(at, 4 * PAGE, MLOCK_ONFAULT)));
    at[2 * PAGE] = 1;
    show("on fault", at);
    printf("flags: %s\n", answer(mlock2(at, PAGE, 2)));
    printf("without rights: %s\n", answer(mlock(closed, PAGE)));
    printf("unlock: %s\n", answer(munlock(closed, PAGE)));
    printf("only to be read: %s\n", answer(mlock(read_only, PAGE)));
    if (fork() == 0) {
        field("VmLck:", "/proc/self/status", 0);
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    munmap(at + PAGE, PAGE);
    field("VmLck:", "/proc/self/status", 0);
    printf("all: %s, %s\n", answer(mlockall(0)), answer(mlockall(MCL_ONFAULT)));
    printf("future: %s\n", answer(mlockall(MCL_FUTURE)));
    show("mapped now", map(PROT_READ | PROT_WRITE, 0));
    printf("none: %s\n", answer(munlockall()));
    field("VmLck:", "/proc/self/status", 0);
}

static void populated(void)
{
    show("populated", map(PROT_READ | PROT_WRITE, MAP_POPULATE));
    show("locked at once", map(PROT_READ | PROT_WRITE, MAP_LOCKED));
    munlockall();
}

static void moved(void)
{
    char *at = map(PROT_READ | PROT_WRITE, 0), *to, *there = map(PROT_NONE, 0);
    strcpy(at + PAGE, "kept");
    to = mremap(at, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    printf("moved: %d, %s, left %d\n", to != at && to != MAP_FAILED, to + PAGE, at[PAGE]);
    to = mremap(to, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP | MREMAP_FIXED, there);
    printf("moved there: %d, %s\n", to == there, to + PAGE);
    printf("longer: %s\n", answer((long)mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL)));
    printf("in place: %s\n", answer((long)mremap(at, PAGE, PAGE, MREMAP_DONTUNMAP, NULL)));
    munmap(to, PAGE);
    printf("nothing: %s\n", answer((long)mremap(to, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL)));
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    locks();
    populated();
    moved();
    return 0;
}
