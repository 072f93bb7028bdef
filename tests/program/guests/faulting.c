/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Handlers of faults: one leaves the faulting instruction for good, the other one lets it go on.
 */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#ifdef __clang__
#define ALONE __attribute__((noinline, disable_tail_calls))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

static sigjmp_buf back;
static volatile char *page;
static volatile unsigned sink;

ALONE void leaf(void) { sink++; }

ALONE void leave(int signal_number)
{
    (void)signal_number;
    leaf();
    siglongjmp(back, 1);
}

ALONE void repair(int signal_number)
{
    (void)signal_number;
    leaf();
    mprotect((void *)page, 4096, PROT_READ);
}

ALONE void forbidden(void) { sink += (unsigned)page[64]; }
ALONE void repeated(void) { sink += (unsigned)page[128]; }

int main(void)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, leave);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0)
            forbidden();
    signal(SIGSEGV, repair);
    for (int i = 0; i < 2; i++) {
        mprotect((void *)page, 4096, PROT_NONE);
        repeated();
    }
    return 0;
}
