/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Status, reasons, and the assertion that stays on in release builds.
 *
 * Model
 *   A failure is a status and one line of text, filled where the failure is understood and passed up unchanged.
 * Invariants
 *   The text is always terminated and never allocated: the reason of "no memory" must not need memory.
 *   A failing assertion states where the guest stood before it states what is wrong, and does so once: a context
 *   printer that itself fails an assertion does not recurse.
 * Not modelled
 *   Two threads that fail an assertion at the same time may mix their lines.
 */
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>

static struct {
    void (*print)(void *self, FILE *to);
    void *self;
} context;

static atomic_flag failing = ATOMIC_FLAG_INIT;

enum c2_status c2_fail(struct c2_error *err, enum c2_status status, const char *format, ...)
{
    if (err) {
        /* The new text may quote the old one, so it is made beside it. */
        char text[sizeof err->text];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        err->status = status;
        snprintf(err->text, sizeof err->text, "%s", text);
    }
    return status;
}

enum c2_status c2_fail_memory(struct c2_error *err, const char *what)
{
    return c2_fail(err, C2_ERR_NO_MEMORY, "no host memory left for %s", what);
}

void c2_assert_context(void (*print)(void *self, FILE *to), void *self)
{
    context.print = print;
    context.self = self;
}

static void print_context(void)
{
    if (!atomic_flag_test_and_set(&failing) && context.print)
        context.print(context.self, stderr);
}

void c2_assert_failed(const char *cond, const char *file, int line)
{
    print_context();
    fprintf(stderr, "c2emu: internal error: %s:%d: %s does not hold\n", file, line, cond);
    fflush(stderr);
    abort();
}

void c2_out_of_memory(const char *what)
{
    print_context();
    fprintf(stderr, "c2emu: no host memory left for %s\n", what);
    fflush(stderr);
    abort();
}
