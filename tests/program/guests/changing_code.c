/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Code that changes under an engine that has translated it: by stores, by a system call that writes it, while it may
 * be written and executed at once and while its rights change, from an instruction that the engine executes to one
 * that is interpreted (POPCNT) and back. Every call must run what stands there now.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int function(long);

static const unsigned char same[] = {0x48, 0x89, 0xf8, 0x90, 0x90, 0xc3};   /* mov %rdi,%rax; nop; nop; ret */
static const unsigned char popcnt[] = {0xf3, 0x48, 0x0f, 0xb8, 0xc7, 0xc3}; /* popcnt %rdi,%rax; ret */

static int call(const unsigned char *code, long argument) { return ((function *)(void *)code)(argument); }

static int rewritten(unsigned char *page)
{
    int sum = 0;
    for (int i = 0; i < 60; i++) {
        unsigned char constant[] = {0xb8, (unsigned char)i, 0, 0, 0, 0xc3}; /* mov $i,%eax; ret */
        memcpy(page + i % 3 * 64, constant, sizeof constant);
        for (int k = 0; k < 4; k++)
            sum += call(page + i % 3 * 64, 0);
    }
    return sum;
}

static int changed_kind(unsigned char *page)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        memcpy(page, popcnt, sizeof popcnt);
        sum += call(page, 0xff + i);
        memcpy(page, same, sizeof same);
        sum += call(page, 1000 * i);
    }
    return sum;
}

static int changed_rights(unsigned char *page)
{
    int sum = 0;
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    sum += call(page, 5);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    memcpy(page, popcnt, sizeof popcnt);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    sum += call(page, 0xff);
    mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(page, same, sizeof same);
    return sum + call(page, 70);
}

static int read_in(unsigned char *page)
{
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], popcnt, sizeof popcnt) != sizeof popcnt)
        return -1;
    int sum = call(page, 0xfff);
    if (read(ends[0], page, sizeof popcnt) != sizeof popcnt)
        return -1;
    return sum + call(page, 0xfff);
}

static int mapped_anew(unsigned char *page)
{
    memcpy(page, same, sizeof same);
    int sum = call(page, 3);
    mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(page, popcnt, sizeof popcnt);
    return sum + call(page, 3);
}

int main(void)
{
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    printf("%d ", rewritten(page));
    printf("%d ", changed_kind(page));
    printf("%d ", changed_rights(page));
    printf("%d ", read_in(page));
    printf("%d\n", mapped_anew(page));
    return 0;
}
