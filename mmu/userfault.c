/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Linux's userfaultfd over private anonymous memory: an access to a page that is not there is a SIGBUS at the
 *   instruction that made it, where else the kernel would put a page of zeros. The handler of the signal puts one. No
 *   mapping is cut into pieces by that, whatever the pages that are there. A page that was only read so far can be
 *   guarded against writing, without a piece of its own too.
 *   The descriptor is of one process: after a fork the child opens another one, and watches its memory anew. What is
 *   moved by mremap is no longer watched.
 *   Only faults of programs are wanted (UFFD_USER_MODE_ONLY), which needs no rights; a system call that meets a page
 *   that is not there fails with EFAULT.
 * Source
 *   Linux's Documentation/admin-guide/mm/userfaultfd.rst; needs Linux 5.11.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mmu/host_priv.h"

static int descriptor = -1;

void userfault_close(void)
{
    if (descriptor >= 0)
        close(descriptor);
    descriptor = -1;
}

static int userfault_ask(unsigned long request, void *argument)
{
    C2_ASSERT(descriptor >= 0);
    return ioctl(descriptor, request, argument) == 0 ? 0 : errno;
}

int userfault_open(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_PAGEFAULT_FLAG_WP};
    userfault_close();
    const int opened = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (opened < 0)
        return errno;
    descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 3); /* never one of the standard streams */
    close(opened);
    if (descriptor < 0)
        return errno;
    const int error = userfault_ask(UFFDIO_API, &api);
    if (error)
        userfault_close();
    return error;
}

int userfault_watch(uint64_t start, uint64_t bytes, bool on)
{
    C2_ASSERT(bytes != 0 && (start | bytes) % C2_PAGE_BYTES == 0);
    struct uffdio_register wanted = {.range = {start, bytes},
                                     .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP};
    return on ? userfault_ask(UFFDIO_REGISTER, &wanted) : userfault_ask(UFFDIO_UNREGISTER, &wanted.range);
}

int userfault_guard(uint64_t start, uint64_t bytes, bool on)
{
    C2_ASSERT(bytes != 0 && (start | bytes) % C2_PAGE_BYTES == 0);
    struct uffdio_writeprotect wanted = {.range = {start, bytes}, .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
    return userfault_ask(UFFDIO_WRITEPROTECT, &wanted);
}

/* A copy of zeros at once is cheaper than the zero page and the host's fault behind it. */
int userfault_put(uint64_t page, enum host_page what)
{
    C2_ASSERT(page % C2_PAGE_BYTES == 0);
    static const uint8_t zeros[C2_PAGE_BYTES];
    struct uffdio_copy copy = {.dst = page, .src = (uintptr_t)zeros, .len = sizeof zeros};
    struct uffdio_zeropage zero = {.range = {page, C2_PAGE_BYTES}};
    if (what == HOST_PAGE_OWN)
        return userfault_ask(UFFDIO_COPY, &copy);
    const int error = userfault_ask(UFFDIO_ZEROPAGE, &zero);
    return error || what == HOST_PAGE_ZERO ? error : userfault_guard(page, C2_PAGE_BYTES, true);
}
