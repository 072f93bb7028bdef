/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The host raises SIGBUS for a page of a mapped file that lies wholly beyond the file's end, or that the disk has no
 *   room for. Before a page of a file gets its frame it is probed here, so that the guest gets its own SIGBUS as on
 *   hardware; probing reads one byte, or writes it as it is where the guest is about to write, so the file's size
 *   counts as it is at that moment and no descriptor need be kept.
 *   A page that vanishes later (the file was cut while mapped) must not end c2emu: the handler puts a page of zeros in
 *   its place and counts it.
 * Not modelled
 *   The guest's SIGBUS for pages that vanish after their first touch.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "mmu/host_priv.h"

static struct {
    bool set;
    uint64_t lost_pages;
    struct sigaction previous;
    sigbus_lost *lost; /* or NULL */
    void *lost_self;
} guard;

static _Thread_local volatile sig_atomic_t probing;
static _Thread_local sigjmp_buf probe_failed;

int sigbus_replace(uint64_t page, unsigned rights)
{
    C2_ASSERT(page % C2_PAGE_BYTES == 0 && (rights & ~(unsigned)(MMU_READ | MMU_WRITE)) == 0);
    void *to = (void *)(uintptr_t)page;
    if (mmap(to, C2_PAGE_BYTES, (int)rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return errno;
    __atomic_fetch_add(&guard.lost_pages, 1, __ATOMIC_RELAXED);
    return 0;
}

static bool replace_page(uint64_t address)
{
    const uint64_t page = c2_align_down(address, C2_PAGE_BYTES);
    unsigned rights = MMU_READ | MMU_WRITE;
    return (!guard.lost || guard.lost(guard.lost_self, page, &rights)) && sigbus_replace(page, rights) == 0;
}

void sigbus_ask(sigbus_lost *lost, void *self)
{
    guard.lost = lost;
    guard.lost_self = self;
}

static void on_sigbus(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    bool ours = info->si_code == BUS_ADRERR && guard.set &&
                ((address >= MMU_WINDOW_START && address < MMU_WINDOW_END) ||
                 (address >= MMU_FAR_START && address < MMU_FAR_END));
    if (ours && probing)
        siglongjmp(probe_failed, 1);
    int saved = errno;
    /* Not ours: back to the handler of before; the access comes again and finds them. */
    if (!ours || !replace_page(address))
        sigaction(SIGBUS, &guard.previous, NULL);
    errno = saved;
}

int sigbus_guard(void)
{
    C2_ASSERT(!guard.set);
    guard.set = true;
    guard.lost_pages = 0;
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &guard.previous) != 0)
        return errno;
    /* A blocked SIGBUS would kill at once. */
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    return pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
}

void sigbus_release(void)
{
    C2_ASSERT(guard.set);
    sigaction(SIGBUS, &guard.previous, NULL);
    memset(&guard, 0, sizeof guard);
}

uint64_t sigbus_lost_pages(void) { return __atomic_load_n(&guard.lost_pages, __ATOMIC_RELAXED); }

/* Read and then written a page would have the host map it twice, and flush it in between. */
bool sigbus_probe(void *byte, bool writes)
{
    C2_ASSERT(!probing);
    if (sigsetjmp(probe_failed, 0) != 0) {
        probing = 0;
        return false;
    }
    probing = 1;
    if (writes)
        __asm__ volatile("lock orb $0, %0" : "+m"(*(unsigned char *)byte) : : "cc");
    else
        (void)*(const volatile unsigned char *)byte;
    probing = 0;
    return true;
}
