/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * escapes WAY: tries to make a file beside its directory, or to touch what is not its own, by a way around who runs it.
 *
 *   hidden   by a system call that lies in the middle of another instruction
 *   made     by one that it has just written, into memory that may be written and executed
 *   changed  by one that it writes over a call of itself that has been executed before
 *   aliased  by one that it writes through another mapping of the page that it executes
 *   int80, sysenter            by the entries of 32-bit programs
 *   wrgsbase, swapgs, selector, wrpkru   sets what it should not
 *   jump, load                 where a number says that it reads from standard input
 *
 * It writes what has come of it: a system call's result, or the signal. With `jump` and `load` it says first that it
 * waits, and has a page then that it may write and execute.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static sigjmp_buf back;
static const char outside[] = "../out/made";

static void on_signal(int signal) { siglongjmp(back, signal); }

/* syscall; ret, in the constant of the first instruction */
__asm__(".text\nhidden:\n .byte 0xb8, 0x0f, 0x05, 0xc3, 0x00\n ret\n");
extern const char hidden[];
static const unsigned char call[] = {0x0f, 0x05, 0xc3}, nothing[] = {0x31, 0xc0, 0xc3}; /* xor %eax,%eax; ret */

/* openat(), by code at `entry`. */
static long open_by(const void *entry)
{
    register long mode __asm__("r10") = 0600;
    long result = SYS_openat;
    __asm__ volatile("call *%1"
                     : "+a"(result)
                     : "b"(entry), "D"((long)AT_FDCWD), "S"(outside), "d"((long)(O_WRONLY | O_CREAT)), "r"(mode)
                     : "rcx", "r11", "memory");
    return result;
}

static void *code_page(int fd)
{
    const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
    if (page == MAP_FAILED)
        exit(2);
    return page;
}

static long by_written(int alias)
{
    const int fd = alias ? memfd_create("code", 0) : -1;
    if (alias && ftruncate(fd, 4096) != 0)
        exit(2);
    unsigned char *executed = code_page(fd), *written = alias ? code_page(fd) : executed;
    memcpy(written, nothing, sizeof nothing);
    if (open_by(executed) != 0)
        exit(2);
    memcpy(written, call, sizeof call);
    return open_by(executed);
}

static long by_made(void)
{
    void *page = code_page(-1);
    memcpy(page, call, sizeof call);
    return open_by(page);
}

static uint64_t wait_for_number(void)
{
    char text[32] = {0};
    memcpy(code_page(-1), call, sizeof call);
    puts("waits");
    fflush(stdout);
    return read(0, text, sizeof text - 1) > 0 ? strtoull(text, NULL, 16) : 0;
}

static long try(const char *way)
{
    long result = 0;
    if (strcmp(way, "hidden") == 0)
        return open_by(hidden + 1);
    if (strcmp(way, "made") == 0)
        return by_made();
    if (strcmp(way, "changed") == 0 || strcmp(way, "aliased") == 0)
        return by_written(way[0] == 'a');
    if (strcmp(way, "jump") == 0)
        return ((long (*)(void))(uintptr_t)wait_for_number())();
    if (strcmp(way, "load") == 0)
        return *(volatile char *)(uintptr_t)wait_for_number() & 0;
    if (strcmp(way, "int80") == 0) /* getpid of 32 bits */
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
    else if (strcmp(way, "sysenter") == 0)
        __asm__ volatile("sysenter" : "=a"(result) : "a"(20L) : "rcx", "rdx", "r11", "memory");
    else if (strcmp(way, "wrgsbase") == 0)
        __asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xd8" : : "a"(0L)); /* wrgsbase %rax */
    else if (strcmp(way, "swapgs") == 0)
        __asm__ volatile("swapgs");
    else if (strcmp(way, "selector") == 0)
        __asm__ volatile("mov %0, %%gs" : : "r"(0));
    else if (strcmp(way, "wrpkru") == 0)
        __asm__ volatile(".byte 0x0f, 0x01, 0xef" : : "a"(0L), "c"(0L), "d"(0L));
    return result;
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
    const int signal = sigsetjmp(back, 1);
    if (signal != 0)
        printf("%s\n", sigabbrev_np(signal));
    else
        printf("%ld\n", try(argc > 1 ? argv[1] : ""));
    return 0;
}
