/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest without a program: an address space, a kernel, registers and some memory, in a working directory of its own.
 */
#ifndef TESTS_SYSCALLS_GUEST_H
#define TESTS_SYSCALLS_GUEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/syscall.h>

#include "syscalls/syscalls.h"

#define GUEST_ARENA 0x20000000000ull /* 64 pages, readable and writable */
#define GUEST_ARENA_BYTES (64 * C2_PAGE_BYTES)
#define GUEST_BAD 0x30000000000ull      /* nothing is mapped here */
#define GUEST_READONLY 0x21000000000ull /* one page */
#define GUEST_PHYSICAL (64ull << 20)

struct guest {
    struct mmu *mmu;
    struct syscalls *kernel;
    struct syscalls_cpu cpu;
    struct syscalls_result result; /* of the last call */
    struct c2_error err;
    uint64_t instructions;    /* guest time of the next call */
    uint64_t used;            /* of the arena */
    FILE *trace, *complaints; /* temporary files */
    volatile int interrupted; /* the kernel's config points here */
    char dir[64];             /* absolute path of the working directory */
    int old_cwd;
};

/* The guest of the running test; cmocka's setup and teardown of each test make and end it. */
extern struct guest g;
int guest_setup(void **state);
int guest_setup_processors(void **state); /* on as many: */
#define GUEST_PROCESSORS 34
int guest_setup_confined(void **state); /* to its working directory and GUEST_WRITABLE, which it makes */
#define GUEST_WRITABLE "../c2emu-test-writable"
int guest_teardown(void **state);

/* Fresh zeroed memory of the guest; nothing of it was touched. */
void *guest_take(size_t bytes);
char *guest_text(const char *text);
/* What was written to g.trace or g.complaints since the last look; lent until the next. */
const char *guest_said(FILE *file);
enum syscalls_delivery guest_fault(int signal, int code, uint64_t address);

int64_t guest_call(uint64_t number, const uint64_t arguments[6]);
#define U(x) ((uint64_t)(uintptr_t)(x))
#define GUEST_ARGS(number, a, b, c, d, e, f, ...) \
    guest_call(number, (const uint64_t[6]){U(a), U(b), U(c), U(d), U(e), U(f)})
/* CALL(read, 3, buffer, 10): by the host's number of the call, so that the table's numbers are tested too. */
#define CALL(name, ...) GUEST_ARGS(SYS_##name __VA_OPT__(, ) __VA_ARGS__, 0, 0, 0, 0, 0, 0)

#define assert_call(value, ...) assert_int_equal(CALL(__VA_ARGS__), value)
/* A file of the working directory with this content. */
void guest_file(const char *name, const char *content);
/* The whole content of a file through the guest's own calls, ended by NUL; lent until the next. */
const char *guest_content(const char *path);

#endif
