/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a guest says about its own allocations, for comparison with the marks of the stream: one line each, printed at
 * the end without allocating. `A allocator address bytes function line` or `F address`; function - : not compared.
 * The log lies between two blocks of sizes that mean it.
 */
#ifndef GUEST_LOG_H
#define GUEST_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_FIRST = 54321, LOG_LAST = 54322, LOG_MAX = 300000 };
enum allocator { A_MALLOC, A_CALLOC, A_REALLOC, A_ALIGNED, A_NEW };

struct log_entry {
    uint64_t address, bytes;
    const char *function;
    int kind, allocator, line;
};
static struct log_entry log_entries[LOG_MAX];
static int log_count;

static void log_new(int allocator, const void *address, size_t bytes, const char *function, int line)
{
    struct log_entry entry = {(uint64_t)(uintptr_t)address, bytes, function, 'A', allocator, line};
    if (address && log_count < LOG_MAX)
        log_entries[log_count++] = entry;
}

static void log_free(uint64_t address)
{
    struct log_entry entry = {address, 0, NULL, 'F', 0, 0};
    if (address && log_count < LOG_MAX)
        log_entries[log_count++] = entry;
}

/* The call stands on the line that is logged. */
#define NEW(allocator, call, bytes) __extension__({ \
    void *got = (call); \
    log_new(allocator, got, bytes, __func__, __LINE__); \
    got; })
#define FREE(p) do { void *old = (p); uint64_t was = (uint64_t)(uintptr_t)old; free(old); log_free(was); } while (0)
/* A NULL for bytes is a failure; for none of them, on these C libraries, a block freed. */
#define RESIZE(call, old, bytes) __extension__({ \
    uint64_t was = (uint64_t)(uintptr_t)(old); \
    void *got = (call); \
    if (got || (bytes) == 0) log_free(was); \
    log_new(A_REALLOC, got, bytes, __func__, __LINE__); got; })

static char *put_number(char *to, uint64_t number)
{
    char digits[24];
    int count = 0;
    do
        digits[count++] = "0123456789abcdef"[number % 16];
    while (number /= 16);
    while (count > 0)
        *to++ = digits[--count];
    *to++ = ' ';
    return to;
}

static void log_print(void)
{
    static char text[1 << 16];
    char *to = text;
    for (int i = 0; i <= log_count; i++) {
        if (i == log_count || to > text + sizeof text - 512) {
            if (write(1, text, (size_t)(to - text)) < 0)
                _exit(1);
            to = text;
        }
        if (i == log_count)
            break;
        const struct log_entry *entry = &log_entries[i];
        *to++ = (char)entry->kind;
        *to++ = ' ';
        if (entry->kind == 'A')
            to = put_number(to, (uint64_t)entry->allocator);
        to = put_number(to, entry->address);
        if (entry->kind == 'A') {
            const char *function = entry->function ? entry->function : "-";
            to = put_number(to, entry->bytes);
            memcpy(to, function, strlen(function));
            to += strlen(function);
            *to++ = ' ';
            to = put_number(to, (uint64_t)entry->line);
        }
        *to++ = '\n';
    }
}

static void log_begin(void) { NEW(A_MALLOC, malloc(LOG_FIRST), LOG_FIRST); }
static void log_end(void)
{
    NEW(A_MALLOC, malloc(LOG_LAST), LOG_LAST);
    log_print();
}

#endif
