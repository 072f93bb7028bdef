/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's memory as its kernel sees it.
 *
 * Model
 *   A guest pointer is a host pointer once it has been checked against the guest's areas: a page that the guest may
 *   only read is writable for the host, so the host would not catch it. What the kernel reads is touched before
 *   the call, what it wrote after it: pages get their frames in program order, and only those really accessed.
 *   What a call takes - structures, arrays, iovecs, paths - is copied once, before the call, and only the copy is
 *   looked at: a call may write its data over its own arguments. Structures of a fixed size that the kernel writes are
 *   built in a copy, too, which reaches the guest when the call succeeds: a failed call leaves the guest's memory
 *   alone.
 *
 * Invariants
 *   No byte of the guest is accessed by c2emu itself before mmu_touch_range said yes: a page beyond the end of a
 *   mapped file would otherwise kill c2emu with SIGBUS. No byte but that of data is read twice in one call.
 *   Buffers that the host's kernel or a handler fills before they are touched are lent to the end of the call
 *   (mmu_lend).
 *
 * Not modelled
 *   A buffer that is accessible only in its first part makes data calls shorter, as on Linux, and so does a buffer of
 *   writev behind others that cannot be read; structures, arrays, attributes and single buffers of iovecs are all or
 *   nothing (EFAULT). Of several errors in one call it may be another one than Linux's.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "syscalls/kernel_priv.h"

bool guest_allows(const struct syscalls *kernel, uint64_t address, uint64_t bytes, unsigned prot)
{
    if (bytes == 0)
        return true;
    if (address >= MMU_ADDRESSES_END || bytes > MMU_ADDRESSES_END - address)
        return false;
    return mmu_allows(kernel->mmu, (struct guest_va){address}, bytes, prot);
}

uint64_t guest_extent(const struct syscalls *kernel, uint64_t address, uint64_t bytes, unsigned prot)
{
    uint64_t at = address, end = bytes > MMU_ADDRESSES_END - address ? MMU_ADDRESSES_END : address + bytes;
    if (address >= MMU_ADDRESSES_END)
        return 0;
    while (at < end) {
        const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){at}, false);
        if (!area || !mmu_allows(kernel->mmu, (struct guest_va){at}, 1, prot))
            break;
        at = area->start.v + area->bytes;
    }
    return (at < end ? at : end) - address;
}

/* What the kernel writes into executable pages may be code that an engine has already translated: giving the pages the
 * rights they have tells the listeners of mmu/. */
static void tell_code_changes(struct mmu *mmu, uint64_t address, uint64_t bytes)
{
    uint64_t last = c2_align_up(address + bytes, C2_PAGE_BYTES);
    for (uint64_t at = c2_align_down(address, C2_PAGE_BYTES); at < last;) {
        const struct mmu_area *area = mmu_area_at(mmu_areas(mmu), (struct guest_va){at}, false);
        if (!area)
            return;
        uint64_t end = area->start.v + area->bytes < last ? area->start.v + area->bytes : last;
        if (area->prot & MMU_EXEC)
            mmu_protect(mmu, at, end - at, area->prot);
        at = end;
    }
}

int64_t guest_touch(struct call *c, uint64_t address, uint64_t bytes, enum mmu_access access)
{
    struct guest_va at;
    if (bytes == 0)
        return 0;
    if (access == MMU_ACCESS_WRITE)
        tell_code_changes(c->kernel->mmu, address, bytes);
    switch (mmu_touch_range(c->kernel->mmu, (struct guest_va){address}, bytes, access, &at, c->err)) {
    case MMU_FAULT_NONE:
        return 0;
    case MMU_FAULT_FAILED:
        c->result->action = SYSCALLS_FAILED;
        return -EFAULT;
    default:
        return -EFAULT;
    }
}

int64_t guest_check_read(struct call *c, uint64_t address, uint64_t bytes)
{
    if (!guest_allows(c->kernel, address, bytes, MMU_READ))
        return -EFAULT;
    return guest_touch(c, address, bytes, MMU_ACCESS_READ);
}

int64_t guest_check_write(struct call *c, uint64_t address, uint64_t bytes)
{
    if (!guest_allows(c->kernel, address, bytes, MMU_WRITE))
        return -EFAULT;
    return guest_touch(c, address, bytes, MMU_ACCESS_WRITE);
}

int64_t guest_read(struct call *c, void *to, uint64_t address, uint64_t bytes)
{
    int64_t status = guest_check_read(c, address, bytes);
    if (status == 0)
        memcpy(to, guest_pointer(address), bytes);
    return status;
}

int64_t guest_write(struct call *c, uint64_t address, const void *from, uint64_t bytes)
{
    int64_t status = guest_check_write(c, address, bytes);
    if (status == 0)
        memcpy(guest_pointer(address), from, bytes);
    return status;
}

int64_t guest_read_extended(struct call *c, void *to, uint64_t known, uint64_t address, uint64_t bytes)
{
    uint8_t all[C2_PAGE_BYTES];
    C2_ASSERT(bytes <= sizeof all);
    const int64_t status = guest_read(c, all, address, bytes);
    if (status < 0)
        return status;
    for (uint64_t i = known; i < bytes; i++)
        if (all[i] != 0)
            return -E2BIG;
    memcpy(to, all, bytes < known ? bytes : known);
    return 0;
}

/* ------------------------------------------------------------------ copies */

void *guest_room(struct call *c, uint64_t bytes)
{
    struct kernel_copies *copies = &c->kernel->copies;
    C2_ASSERT(bytes <= sizeof copies->bytes - copies->used);
    void *room = copies->bytes + copies->used;
    copies->used += c2_align_up(bytes, 16);
    return memset(room, 0, bytes);
}

int64_t guest_copy(struct call *c, void **out, uint64_t address, uint64_t bytes)
{
    *out = guest_room(c, bytes);
    return guest_read(c, *out, address, bytes);
}

int64_t guest_copy_string(struct call *c, void **out, uint64_t address, uint64_t max)
{
    char *text = *out = guest_room(c, max);
    for (uint64_t done = 0; done < max;) {
        uint64_t part = C2_PAGE_BYTES - ((address + done) & (C2_PAGE_BYTES - 1));
        if (part > max - done)
            part = max - done;
        int64_t status = guest_read(c, text + done, address + done, part);
        if (status < 0)
            return status;
        if (memchr(text + done, 0, part))
            return 0;
        done += part;
    }
    return -ENAMETOOLONG;
}

/* Whether no program can have this memory: the upper half, and what is not even in the lower one. */
bool guest_out_of_reach(uint64_t address, uint64_t bytes)
{
    const uint64_t user_end = 0x7ffffffff000ull;
    return address > user_end || bytes > user_end - address;
}

static unsigned guest_prot_of(unsigned access)
{
    return (access & CALL_READS ? MMU_READ : 0) | (access & CALL_WRITES ? MMU_WRITE : 0);
}

/* What is written before it is touched. */
static int64_t guest_lend(struct call *c, uint64_t address, uint64_t bytes)
{
    return -mmu_lend(c->kernel->mmu, (struct guest_va){address}, bytes);
}

/* One buffer: all of it can be read or written, or none of it can be written. */
static int64_t prepare_buffer(struct call *c, struct iovec *buffer, unsigned access)
{
    uint64_t base = (uintptr_t)buffer->iov_base, bytes = buffer->iov_len;
    if (bytes > SSIZE_MAX)
        return -EINVAL;
    if (guest_allows(c->kernel, base, bytes, guest_prot_of(access)))
        return access == CALL_READS ? guest_touch(c, base, bytes, MMU_ACCESS_READ) : guest_lend(c, base, bytes);
    if (access == CALL_READS || guest_out_of_reach(base, bytes) || guest_extent(c->kernel, base, bytes, MMU_WRITE) > 0)
        return -EFAULT;
    buffer->iov_base = CALL_FORBIDDEN;
    return 0;
}

/* How many of them are as they should be goes to *done. */
static int64_t prepare_buffers(struct call *c, struct iovec *iov, uint64_t count, unsigned access, uint64_t *done)
{
    int64_t status = 0;
    for (*done = 0; *done < count && status == 0; *done += status == 0)
        status = prepare_buffer(c, &iov[*done], access);
    return status;
}

int64_t guest_copy_iov(struct call *c, struct iovec **out, uint64_t address, uint64_t count, unsigned access)
{
    void *copy;
    uint64_t done;
    const int64_t status = guest_copy(c, &copy, address, count * sizeof(struct iovec));
    *out = copy;
    return status < 0 ? status : prepare_buffers(c, *out, count, access, &done);
}

int64_t guest_scatter(struct call *c, const struct iovec *iov, int count, uint64_t skip, const void *from,
                      uint64_t bytes)
{
    const char *at = from;
    int64_t status = 0;
    for (int i = 0; i < count && bytes > 0 && status == 0; i++) {
        const uint64_t before = skip < iov[i].iov_len ? skip : iov[i].iov_len, room = iov[i].iov_len - before;
        const uint64_t part = bytes < room ? bytes : room;
        status = guest_write(c, (uintptr_t)iov[i].iov_base + before, at, part);
        skip -= before;
        at += part;
        bytes -= part;
    }
    return status;
}

int64_t guest_touch_iov(struct call *c, const struct iovec *iov, uint64_t count, uint64_t bytes)
{
    int64_t status = 0;
    for (uint64_t n = 0; n < count && bytes > 0 && status == 0; n++) {
        uint64_t part = iov[n].iov_len < bytes ? iov[n].iov_len : bytes;
        status = guest_touch(c, (uintptr_t)iov[n].iov_base, part, MMU_ACCESS_WRITE);
        bytes -= part;
    }
    return status;
}

/* ------------------------------------------------------------------ before the call */

/* Buffers that nothing is taken from, as one before them cannot be read. */
static int64_t leave_out_buffers(struct iovec *iov, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++) {
        if (iov[n].iov_len > SSIZE_MAX)
            return -EINVAL;
        if (guest_out_of_reach((uintptr_t)iov[n].iov_base, iov[n].iov_len))
            return -EFAULT;
        iov[n].iov_len = 0;
    }
    return 0;
}

static bool has_bytes(const struct iovec *iov, uint64_t count)
{
    uint64_t bytes = 0;
    for (uint64_t n = 0; n < count; n++)
        bytes |= iov[n].iov_len;
    return bytes > 0;
}

/* What is written goes as far as it can be read. */
static int64_t prepare_iov(struct call *c, int i, const struct call_arg *a)
{
    const uint64_t count = c->arg[a->count - 1];
    uint64_t done = 0;
    if (count > IOV_MAX)
        return -EINVAL;
    int64_t status = guest_copy(c, &c->ptr[i], c->arg[i], count * sizeof(struct iovec));
    struct iovec *const iov = c->ptr[i];
    if (status == 0)
        status = prepare_buffers(c, iov, count, a->access, &done);
    const bool partly = status == -EFAULT && a->access == CALL_READS && c->result->action != SYSCALLS_FAILED;
    return partly && has_bytes(iov, done) ? leave_out_buffers(iov + done, count - done) : status;
}

/* The kernel's limit of one transfer, which also keeps counts far from overflow. */
#define TRANSFER_MAX 0x7ffff000ull

static int64_t beyond(const struct call_arg *a, int usual) { return -(int64_t)(a->beyond ? a->beyond : usual); }

/* Whether there may be so many elements: 0 or -errno. */
static int64_t check_elements(const struct call *c, const struct call_arg *a)
{
    const uint64_t count = c->arg[a->count - 1];
    if (c->row->arg[a->count - 1].kind == CALL_INT && (int64_t)count < 0)
        return -EINVAL;
    return a->most && count > a->most ? beyond(a, EINVAL) : 0;
}

/* Data of which not all may be used, but for those that have a limit. */
static bool is_shortened(const struct call_arg *a, uint64_t extent, uint64_t count)
{
    return extent == count || (extent > 0 && a->most == 0);
}

static int64_t prepare_bytes(struct call *c, int i, const struct call_arg *a)
{
    uint64_t *count = &c->arg[a->count - 1];
    const int64_t status = check_elements(c, a);
    if (status < 0)
        return status;
    if (a->reach == CALL_REACH_ALL && guest_out_of_reach(c->arg[i], *count))
        return -EFAULT;
    if (*count > TRANSFER_MAX)
        *count = TRANSFER_MAX;
    c->ptr[i] = guest_pointer(c->arg[i]);
    if (*count == 0)
        return 0;
    const uint64_t extent = guest_extent(c->kernel, c->arg[i], *count, guest_prot_of(a->access));
    const bool there = is_shortened(a, extent, *count);
    if (!there && (a->access & CALL_READS || (a->reach != CALL_REACH_LATER && guest_out_of_reach(c->arg[i], *count))))
        return -EFAULT;
    if (!there) {
        c->ptr[i] = CALL_FORBIDDEN;
        return 0;
    }
    *count = extent;
    return a->access & CALL_READS ? guest_touch(c, c->arg[i], extent, MMU_ACCESS_READ)
                                  : guest_lend(c, c->arg[i], extent);
}

static int64_t prepare_array(struct call *c, int i, const struct call_arg *a)
{
    uint64_t count = c->arg[a->count - 1], bytes = count * a->bytes;
    int64_t status = check_elements(c, a);
    if (status < 0)
        return status;
    bool allowed = count <= TRANSFER_MAX && guest_allows(c->kernel, c->arg[i], bytes, guest_prot_of(a->access));
    if (!allowed && (!a->returned || guest_out_of_reach(c->arg[i], bytes)))
        return -EFAULT;
    c->ptr[i] = allowed ? guest_pointer(c->arg[i]) : CALL_FORBIDDEN;
    if (a->access & CALL_READS)
        status = guest_copy(c, &c->ptr[i], c->arg[i], bytes);
    if (status == 0 && a->access & CALL_WRITES && !a->returned)
        status = guest_touch(c, c->arg[i], bytes, MMU_ACCESS_WRITE);
    if (status == 0 && a->access & CALL_WRITES && a->returned && allowed)
        status = guest_lend(c, c->arg[i], bytes);
    return status;
}

static int64_t prepare_fixed(struct call *c, int i, const struct call_arg *a)
{
    if (!guest_allows(c->kernel, c->arg[i], a->bytes, guest_prot_of(a->access)))
        return -EFAULT;
    if (a->access & CALL_READS)
        return guest_copy(c, &c->ptr[i], c->arg[i], a->bytes);
    c->ptr[i] = guest_room(c, a->bytes);
    return 0;
}

static int64_t prepare_string(struct call *c, int i, const struct call_arg *a)
{
    const int64_t status = guest_copy_string(c, &c->ptr[i], c->arg[i], PATH_MAX);
    return status == -ENAMETOOLONG ? beyond(a, ENAMETOOLONG) : status;
}

static int64_t prepare_memory(struct call *c, int i, const struct call_arg *a)
{
    if (a->sized && c->arg[a->sized - 1] != a->bytes)
        return -EINVAL;
    if (c->arg[i] == 0 && a->optional)
        return 0;
    switch (a->kind) {
    case CALL_PATH:
    case CALL_STRING:
        return prepare_string(c, i, a);
    case CALL_IOV:
        return prepare_iov(c, i, a);
    case CALL_BYTES:
        return prepare_bytes(c, i, a);
    default:
        return a->count ? prepare_array(c, i, a) : prepare_fixed(c, i, a);
    }
}

/* The kernel takes int arguments from the low half of the register. */
static void guest_narrow(struct call *c)
{
    for (int i = 0; i < CALL_ARGS; i++)
        switch (c->row->arg[i].kind) {
        case CALL_INT:
        case CALL_DIRFD:
        case CALL_SIGNAL:
        case CALL_CHOICE:
            c->arg[i] = (uint64_t)(int64_t)(int32_t)c->arg[i];
            break;
        case CALL_UINT:
        case CALL_FD:
        case CALL_MODE:
            c->arg[i] = (uint32_t)c->arg[i];
            break;
        default:
            break;
        }
}

static int64_t prepare_fd(struct call *c, int i)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[i]);
    if (!entry)
        return -EBADF;
    c->fd[i] = entry->host;
    return 0;
}

int64_t guest_prepare(struct call *c)
{
    int64_t status = 0;
    guest_narrow(c);
    for (int i = 0; i < CALL_ARGS && status == 0; i++)
        if (c->row->arg[i].kind == CALL_FD)
            status = prepare_fd(c, i);
    for (int i = 0; i < CALL_ARGS && status == 0; i++) {
        if (!c->row->arg[i].access)
            continue;
        status = prepare_memory(c, i, &c->row->arg[i]);
        if (status < 0)
            c->ptr[i] = NULL; /* not to be looked at, by the tracer either */
    }
    return status;
}

/* ------------------------------------------------------------------ after the call */

static int64_t finish_arg(struct call *c, int i, const struct call_arg *a, uint64_t value)
{
    if (!a->count)
        return guest_write(c, c->arg[i], c->ptr[i], a->bytes);
    if (!a->returned)
        return 0;
    uint64_t count = c->arg[a->count - 1];
    if (a->kind == CALL_IOV)
        return guest_touch_iov(c, c->ptr[i], count, value);
    return guest_touch(c, c->arg[i], (value < count ? value : count) * a->bytes, MMU_ACCESS_WRITE);
}

int64_t guest_finish(struct call *c, int64_t value)
{
    for (int i = 0; i < CALL_ARGS && value >= 0; i++) {
        const struct call_arg *a = &c->row->arg[i];
        if (!(a->access & CALL_WRITES) || !c->ptr[i])
            continue;
        int64_t status = finish_arg(c, i, a, (uint64_t)value);
        if (status < 0)
            return status;
    }
    return value;
}
