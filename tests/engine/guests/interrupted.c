/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals in the middle of malloc: handlers that allocate and return, and that leave by siglongjmp; on the same stack
 * and on one of their own, below and above.
 */
#include "own_malloc.h"
#include "log.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static int leaves;

static void handler(int signal)
{
    (void)signal;
    void *a = NEW(A_MALLOC, malloc(31), 31), *b = RESIZE(realloc(NULL, 40), NULL, 40);
    FREE(a);
    if (leaves)
        siglongjmp(back, 1);
    FREE(b);
}

static void interrupt(void) { raise(SIGUSR1); }

static void deep(int depth)
{
    volatile char room[600]; /* never written as a whole: old return addresses may stay in it */
    room[depth] = 0;
    if (depth)
        deep(depth - 1);
    else
        FREE(NEW(A_CALLOC, calloc(3, 5), 15));
}

static void once(void)
{
    own_before_malloc = interrupt;
    FREE(NEW(A_MALLOC, malloc(1000), 1000));
    FREE(NEW(A_MALLOC, malloc(1000), 1000));
    own_before_malloc = interrupt;
    FREE(NEW(A_CALLOC, calloc(10, 10), 100));
    deep(2);
}

/* Where the return address of its malloc lies, deep() has its room. */
static void *inner(void) { return malloc(1000); }

static void left(void)
{
    leaves = 1;
    for (int i = 0; i < 4; i++) {
        if (sigsetjmp(back, 1) == 0) {
            own_before_malloc = interrupt;
            void *never = NEW(A_MALLOC, i % 2 ? inner() : malloc(1000), 1000);
            FREE(never);
        } else {
            deep(i);
        }
        FREE(NEW(A_MALLOC, malloc(500), 500));
    }
    leaves = 0;
}

static void on_stack(void *stack, size_t bytes)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = bytes};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    once();
    left();
    once();
}

int main(void)
{
    static char below[1 << 16];
    char above[1 << 16];
    log_begin();
    signal(SIGUSR1, handler);
    once();
    left();
    once();
    on_stack(below, sizeof below);
    on_stack(above, sizeof above);
    log_end();
    return 0;
}
