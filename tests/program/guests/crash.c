/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Ends in the way its first argument names. The lines that fail are looked up by their comment.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile int zero, sink;

static void null_read(void)
{
    sink = *(volatile int *)(long)zero; /* null_read */
}

static void wild_write(void)
{
    *(volatile int *)0x3000dead0000 = 1; /* wild_write */
}

static void write_code(void)
{
    *(volatile char *)(long)&write_code = 1; /* write_code */
}

static void divide(void)
{
    sink = 7 / zero; /* divide */
}

static void illegal(void)
{
    __asm__ volatile("ud2"); /* illegal */
}

static void avx(void)
{
    __asm__ volatile("vaddps %ymm1, %ymm2, %ymm3"); /* avx */
}

static void avx128(void)
{
    __asm__ volatile("vpxor %xmm1, %xmm2, %xmm3"); /* avx128 */
}

static int deeper(int depth)
{
    volatile char frame[4000];
    frame[0] = (char)depth; /* deeper */
    return deeper(depth + 1) + frame[0];
}

static void overflow(void)
{
    sink = deeper(0);
}

static void jump_away(void)
{
    void (*volatile nowhere)(void) = (void (*)(void))0x1234560;
    nowhere();
}

static void term(void)
{
    raise(SIGTERM);
}

static void many_lines(void)
{
    while (puts("y") >= 0)
        ;
}

static void touch_64m(void)
{
    char *bytes = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < 64 << 20; i += 4096)
        bytes[i] = 1; /* touch_64m */
    puts("touched");
}

static void unknown_call(void)
{
    for (int i = 0; i < 3; i++)
        printf("%ld\n", syscall(444, 0, 0, 0)); /* landlock_create_ruleset */
    printf("%ld\n", syscall(9999));
}

static void handle(int sig)
{
    const char text[] = "handled\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(sig);
}

static void handled(void)
{
    signal(SIGSEGV, handle);
    null_read();
}

static const struct { const char *name; void (*run)(void); } ways[] = {
    {"null_read", null_read}, {"wild_write", wild_write}, {"write_code", write_code}, {"divide", divide},
    {"illegal", illegal}, {"avx", avx}, {"avx128", avx128}, {"overflow", overflow}, {"jump_away", jump_away},
    {"abort", abort}, {"term", term}, {"many_lines", many_lines}, {"touch_64m", touch_64m},
    {"unknown_call", unknown_call}, {"handled", handled},
};

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "exit") == 0)
        return atoi(argv[2]);
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    return 0;
}
