/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The guest's memory is one window of the host's address space, [64 KiB, 64 TiB), in which guest address = host
 *   address. It is reserved whole (PROT_NONE, NORESERVE: a note in the host's kernel, no memory), mappings are put over
 *   the reservation and unmapping puts the reservation back, so nothing of c2emu's own can ever land inside.
 *   The far window is reserved when something is mapped there for the first time; where the host has something of its
 *   own there, the guest gets ENOMEM.
 *   Unless they are enforced (rights.c), host rights do not follow the guest's: anonymous memory and private file
 *   mappings are readable and writable (the kernel's side of c2emu writes read(2) results there), shared ones as far as
 *   the descriptor allows. The guest's rights are checked by areas and page tables.
 *   Linux limits the pieces that a process has mapped (vm.max_map_count), ours and the guest's. Of anonymous memory
 *   with small holes in it we make one piece (struct host_hole). When few pieces are left the guest gets ENOMEM, as it
 *   would at its own limit, so that c2emu has some for itself. They are counted only now and then: between, each change
 *   is taken to add as many as one can.
 * Invariants
 *   One window a process. No host mapping of c2emu lies in it but the arena of the page tables, and that one leaves it
 *   where rights are enforced: an address there is none of the guest's.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mmu/host_priv.h"

#define RESERVE (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static bool window_is_open, far_is_open;
static uint64_t tables_at = MMU_TABLES_BASE; /* where the arena's bytes lie on the host */
static uint64_t hiding_place;                /* reserved, and kept for the next arena: engines outlive this one */

static void *host_pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* Addresses without memory: 0 or errno; EEXIST: something lies there. */
static int reserve_at(uint64_t start, uint64_t bytes)
{
    void *wanted = host_pointer(start);
    void *at = mmap(wanted, bytes, PROT_NONE, RESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
        return errno;
    if (at == wanted)
        return 0;
    munmap(at, bytes); /* a kernel that does not know NOREPLACE took the address as a wish */
    return EEXIST;
}

void *host_reserve_arena(uint64_t bytes)
{
    C2_ASSERT(bytes != 0 && bytes % C2_PAGE_BYTES == 0);
    int error = EEXIST;
    for (uint64_t at = MMU_WINDOW_END; at + bytes <= MMU_FAR_START && error == EEXIST;
         at += MMU_TABLES_END - MMU_TABLES_BASE)
        if ((error = reserve_at(at, bytes)) == 0)
            return host_pointer(at);
    return mmap(NULL, bytes, PROT_NONE, RESERVE, -1, 0);
}

static int map_at(uint64_t start, uint64_t bytes, int prot, int flags, int fd, uint64_t offset)
{
    C2_ASSERT(bytes != 0 && tables_is_range(start, start + bytes));
    void *at = mmap(host_pointer(start), bytes, prot, flags | MAP_FIXED, fd, (off_t)offset);
    return at == MAP_FAILED ? errno : 0;
}

/* ------------------------------------------------------------------ pieces */

#define PIECES_USUAL 65530 /* vm.max_map_count where it cannot be read */
#define PIECES_OWN 2048    /* c2emu's, and what it may need */
#define PIECES_A_CHANGE 8  /* no change adds more */
#define ASKED_BETWEEN 64   /* counting takes as long as there are pieces: not more often than this */

static struct {
    uint64_t limit, own;
    uint64_t most;  /* there are no more than these */
    unsigned asked; /* since they were counted */
} pieces;

static uint64_t read_limit(void)
{
    uint64_t limit = PIECES_USUAL;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file && fscanf(file, "%" SCNu64, &limit) != 1)
        limit = PIECES_USUAL;
    if (file)
        fclose(file);
    return limit;
}

/* UINT64_MAX when they cannot be counted. */
static uint64_t window_count_pieces(void)
{
    char text[16384];
    uint64_t lines = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return UINT64_MAX;
    while ((got = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < got; i++)
            lines += text[i] == '\n';
    close(fd);
    return got < 0 ? UINT64_MAX : lines;
}

static void start_counting(void)
{
    pieces.limit = read_limit();
    pieces.own = pieces.limit / 4 < PIECES_OWN ? pieces.limit / 4 : PIECES_OWN;
    pieces.most = window_count_pieces();
    pieces.asked = 0;
}

static int window_room(void *self, bool shrinks)
{
    C2_ASSERT(pieces.limit > pieces.own + PIECES_A_CHANGE);
    (void)self;
    const uint64_t limit = pieces.limit - (shrinks ? pieces.own / 2 : pieces.own) - PIECES_A_CHANGE;
    if (pieces.most > limit && pieces.asked >= ASKED_BETWEEN) {
        pieces.most = window_count_pieces();
        pieces.asked = 0;
    }
    pieces.asked++;
    if (pieces.most > limit)
        return ENOMEM;
    pieces.most += PIECES_A_CHANGE;
    return 0;
}

/* ------------------------------------------------------------------ mappings */

/* Where the guest has reserved addresses across what is kept from it, that stays: what is done, is done around it. */
typedef int side(uint64_t low, uint64_t high, const void *with);

static int around_kept(uint64_t low, uint64_t high, side *one_side, const void *with)
{
    C2_ASSERT(tables_is_range(low, high));
    int error = 0;
    for (const struct host_kept *kept; !error && (kept = host_kept_at(low, high)); low = kept->end)
        error = low < kept->start ? one_side(low, kept->start, with) : 0;
    return !error && low < high ? one_side(low, high, with) : error;
}

/* Rights as mprotect takes them: MMU_READ and MMU_WRITE are PROT_READ and PROT_WRITE. */
static int first_rights(const struct host_rights *begin)
{
    if (!begin->enforced)
        return PROT_READ | PROT_WRITE;
    return begin->watched ? (int)begin->rights : PROT_NONE;
}

static int map_side(uint64_t low, uint64_t high, const void *with)
{
    C2_ASSERT(low < high && !host_kept_at(low, high));
    const struct host_rights *begin = with;
    int error = map_at(low, high - low, first_rights(begin), RESERVE, -1, 0);
    if (!error && begin->watched)
        C2_ASSERT(userfault_watch(low, high - low, true) == 0); /* it is whole, so nothing has to be cut */
    return error;
}

static int map_private(uint64_t low, uint64_t high, const struct host_rights *begin)
{
    return around_kept(low, high, map_side, begin);
}

static int map_anonymous(uint64_t start, uint64_t bytes, const struct host_source *source)
{
    C2_ASSERT(source->fd < 0 && (source->shared || (source->low <= start && start + bytes <= source->high)));
    if (!source->shared)
        return map_private(source->low, source->high, &source->begin);
    return map_at(start, bytes, first_rights(&source->begin), MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* A file is first mapped elsewhere and then moved into place: when the file cannot be mapped the window stays as it
 * was, whatever order the kernel checks and unmaps in. */
static int map_file(uint64_t start, uint64_t bytes, int prot, const struct host_source *source)
{
    C2_ASSERT(source->fd >= 0 && !host_kept_at(start, start + bytes));
    int flags = (source->shared ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE;
    void *at = mmap(NULL, bytes, prot, flags, source->fd, (off_t)source->offset);
    if (at == MAP_FAILED)
        return errno;
    const bool ready = !source->begin.enforced || mprotect(at, bytes, PROT_NONE) == 0;
    if (ready && mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, host_pointer(start)) != MAP_FAILED)
        return 0;
    int error = errno;
    munmap(at, bytes);
    return error;
}

static int map_shared_file(uint64_t start, uint64_t bytes, struct host_source *source)
{
    C2_ASSERT(source->fd >= 0 && source->shared);
    int flags = fcntl(source->fd, F_GETFL);
    if (flags < 0)
        return errno;
    source->may_write = (flags & O_ACCMODE) == O_RDWR;
    if (source->write && !source->may_write)
        return EACCES;
    if (source->may_write) {
        int error = map_file(start, bytes, PROT_READ | PROT_WRITE, source);
        if (error != EPERM || source->write)
            return error;
        source->may_write = false; /* sealed against writing */
    }
    return map_file(start, bytes, PROT_READ, source);
}

/* ENOMEM: the host refuses. */
static int open_far(void)
{
    far_is_open = far_is_open || reserve_at(MMU_FAR_START, MMU_FAR_END - MMU_FAR_START) == 0;
    return far_is_open ? 0 : ENOMEM;
}

static int window_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    C2_ASSERT(start >= MMU_WINDOW_START && start + bytes <= MMU_FAR_END);
    (void)self;
    if (start + bytes > MMU_FAR_START && open_far() != 0)
        return ENOMEM;
    source->may_write = true;
    if (source->fd < 0)
        return map_anonymous(start, bytes, source);
    if (source->shared)
        return map_shared_file(start, bytes, source);
    return map_file(start, bytes, PROT_READ | PROT_WRITE, source);
}

static int reserve_side(uint64_t low, uint64_t high, const void *with)
{
    (void)with;
    return map_at(low, high - low, PROT_NONE, RESERVE, -1, 0);
}

static int reserve_range(uint64_t low, uint64_t high) { return around_kept(low, high, reserve_side, NULL); }

static int make_hole(const struct host_hole *hole)
{
    C2_ASSERT(tables_is_range(hole->low, hole->high));
    return hole->fill ? map_private(hole->low, hole->high, &hole->begin) : reserve_range(hole->low, hole->high);
}

static int window_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    C2_ASSERT(hole->low <= start && start + bytes <= hole->high);
    (void)self, (void)start, (void)bytes;
    return make_hole(hole);
}

/* The host's own areas may be smaller than ours, and mremap takes one at a time (EFAULT): halve until it does. *done
 * counts what was moved, from the start. */
static int move_pieces(uint64_t from, uint64_t to, uint64_t bytes, uint64_t *done)
{
    C2_ASSERT(bytes != 0 && bytes % C2_PAGE_BYTES == 0);
    if (mremap(host_pointer(from), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, host_pointer(to)) != MAP_FAILED) {
        *done += bytes;
        return 0;
    }
    if (errno != EFAULT || bytes == C2_PAGE_BYTES)
        return errno;
    uint64_t half = c2_align_up(bytes / 2, C2_PAGE_BYTES);
    int error = move_pieces(from, to, half, done);
    return error ? error : move_pieces(from + half, to + half, bytes - half, done);
}

static int window_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    C2_ASSERT(from + bytes <= to || to + bytes <= from);
    (void)self;
    uint64_t moved = 0, undone = 0;
    if (to >= MMU_FAR_START && open_far() != 0)
        return ENOMEM;
    int error = move_pieces(from, to, bytes, &moved);
    if (error) {
        C2_ASSERT(moved == 0 || move_pieces(to, from, moved, &undone) == 0);
        C2_ASSERT(reserve_range(to, to + bytes) == 0);
        return error;
    }
    C2_ASSERT(make_hole(hole) == 0);
    return 0;
}

/* Growing in place is impossible with the reservation in the way. So the last page goes outside, grows there, and
 * comes back with what it gained; the kernel gives new mappings addresses from the top, never in the hole. */
static int window_extend(void *self, uint64_t end, uint64_t bytes)
{
    C2_ASSERT(bytes != 0 && (end | bytes) % C2_PAGE_BYTES == 0);
    (void)self;
    void *last = host_pointer(end - C2_PAGE_BYTES);
    uint64_t grown = bytes + C2_PAGE_BYTES;
    void *outside = mremap(last, C2_PAGE_BYTES, grown, MREMAP_MAYMOVE);
    if (outside == MAP_FAILED)
        return errno;
    if (outside == last || mremap(outside, grown, grown, MREMAP_MAYMOVE | MREMAP_FIXED, last) != MAP_FAILED)
        return 0;
    int error = errno;
    void *back = mremap(outside, grown, C2_PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, last);
    C2_ASSERT(back == last);
    return error;
}

static int discard_side(uint64_t low, uint64_t high, const void *with)
{
    (void)with;
    return madvise(host_pointer(low), high - low, MADV_DONTNEED) == 0 ? 0 : errno;
}

static int window_discard(void *self, uint64_t start, uint64_t bytes)
{
    C2_ASSERT(tables_is_range(start, start + bytes));
    (void)self;
    return around_kept(start, start + bytes, discard_side, NULL);
}

static bool window_probe(void *self, uint64_t page, bool writes)
{
    C2_ASSERT(page % C2_PAGE_BYTES == 0);
    (void)self;
    return sigbus_probe(host_pointer(page), writes);
}

static uint64_t window_lost_pages(void *self)
{
    (void)self;
    return sigbus_lost_pages();
}

/* ------------------------------------------------------------------ enforced rights */

static int window_userfaults(void *self)
{
    (void)self;
    return userfault_open();
}

static int protect_side(uint64_t low, uint64_t high, const void *with)
{
    return mprotect(host_pointer(low), high - low, (int)*(const unsigned *)with) == 0 ? 0 : errno;
}

static int window_protect(void *self, uint64_t start, uint64_t bytes, unsigned rights)
{
    C2_ASSERT((rights & ~(unsigned)(MMU_READ | MMU_WRITE)) == 0);
    (void)self;
    return around_kept(start, start + bytes, protect_side, &rights);
}

/* Linux joins neighbours whose pages have a common origin (anon_vma), which a mapping gets with its first page and
 * keeps when it is cut. If each page were cut off before its first touch, each would get its own, and none could be
 * joined: so the reservation gets one as a whole. */
static int window_joinable(void *self)
{
    void *page = host_pointer(MMU_WINDOW_START);
    if (window_protect(self, MMU_WINDOW_START, C2_PAGE_BYTES, MMU_READ | MMU_WRITE) != 0)
        return errno;
    *(volatile unsigned char *)page = 1;
    return madvise(page, C2_PAGE_BYTES, MADV_DONTNEED) == 0 ? window_protect(self, MMU_WINDOW_START, C2_PAGE_BYTES, 0)
                                                            : errno;
}

static int watch_side(uint64_t low, uint64_t high, const void *with)
{
    return userfault_watch(low, high - low, *(const bool *)with);
}

static int window_watch(void *self, uint64_t start, uint64_t bytes, bool on)
{
    C2_ASSERT(tables_is_range(start, start + bytes));
    (void)self;
    return around_kept(start, start + bytes, watch_side, &on);
}

static int window_put(void *self, uint64_t page, enum host_page what)
{
    C2_ASSERT(page % C2_PAGE_BYTES == 0);
    (void)self;
    return userfault_put(page, what);
}

/* mincore does not count pages that are swapped out: those are there (EEXIST). */
static int complete_pages(uint64_t start, uint64_t pages)
{
    unsigned char there[C2_HOST_SIZE(512, 2)];
    for (uint64_t done = 0, part; done < pages; done += part) {
        const uint64_t from = start + done * C2_PAGE_BYTES;
        part = pages - done < sizeof there ? pages - done : sizeof there;
        if (mincore(host_pointer(from), part * C2_PAGE_BYTES, there) != 0)
            return errno;
        for (uint64_t i = 0; i < part; i++) {
            const int error = there[i] & 1 ? 0 : userfault_put(from + i * C2_PAGE_BYTES, HOST_PAGE_ZERO);
            if (error && error != EEXIST)
                return error;
        }
    }
    return 0;
}

static int window_complete(void *self, uint64_t start, uint64_t bytes)
{
    C2_ASSERT(tables_is_range(start, start + bytes));
    (void)self;
    return complete_pages(start, bytes / C2_PAGE_BYTES);
}

static int window_guard(void *self, uint64_t start, uint64_t bytes, bool on)
{
    C2_ASSERT(tables_is_range(start, start + bytes));
    (void)self;
    return userfault_guard(start, bytes, on);
}

static int window_replace(void *self, uint64_t page, unsigned rights)
{
    C2_ASSERT(page % C2_PAGE_BYTES == 0);
    (void)self;
    return sigbus_replace(page, rights);
}

/* ------------------------------------------------------------------ the page tables */

static int window_commit(void *self, uint64_t first, uint64_t count)
{
    C2_ASSERT(first + count <= (MMU_TABLES_END - MMU_TABLES_BASE) / C2_PAGE_BYTES);
    (void)self;
    uint64_t start = tables_at + first * C2_PAGE_BYTES;
    return map_at(start, count * C2_PAGE_BYTES, PROT_READ | PROT_WRITE, RESERVE, -1, 0);
}

static int find_hiding_place(void)
{
    if (hiding_place)
        return 0;
    void *there = host_reserve_arena(MMU_TABLES_END - MMU_TABLES_BASE);
    if (there == MAP_FAILED)
        return errno;
    hiding_place = (uintptr_t)there;
    return 0;
}

static int window_hide_tables(void *self, uint64_t bytes, unsigned char **memory)
{
    (void)self;
    int error = find_hiding_place();
    if (error)
        return error;
    void *there = host_pointer(hiding_place);
    if (mremap(host_pointer(MMU_TABLES_BASE), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, there) == MAP_FAILED)
        return errno;
    C2_ASSERT(reserve_side(MMU_TABLES_BASE, MMU_TABLES_BASE + bytes, NULL) == 0); /* it is free now */
    tables_at = hiding_place;
    *memory = there;
    return 0;
}

/* ------------------------------------------------------------------ the reservation */

/* Finds the first host mapping in the window: "START-END NAME". */
static bool find_occupant(char *text, size_t bytes)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        uint64_t start, end;
        int name = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &start, &end, &name) < 2)
            continue;
        found = start < MMU_WINDOW_END && end > MMU_WINDOW_START;
        line[strcspn(line, "\n")] = '\0';
        if (found)
            snprintf(text, bytes, "0x%" PRIx64 "-0x%" PRIx64 " %s", start, end,
                     name > 0 && line[name] ? line + name : "(no name)");
    }
    if (maps)
        fclose(maps);
    return found;
}

static enum c2_status fail_clash(struct c2_error *err)
{
    char occupant[300];
    if (!find_occupant(occupant, sizeof occupant))
        return c2_fail(err, C2_ERR_DENIED, "the guest's window 0x%llx-0x%llx is occupied", MMU_WINDOW_START,
                       MMU_WINDOW_END);
    return c2_fail(err, C2_ERR_DENIED,
                   "the guest's window 0x%llx-0x%llx is occupied at %s: run c2emu as built "
                   "(position independent), not under a tool that puts things there (ASan, valgrind), and with a "
                   "finite stack limit (ulimit -s 8192)",
                   MMU_WINDOW_START, MMU_WINDOW_END, occupant);
}

static enum c2_status fail_refused(int error, struct c2_error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < MMU_WINDOW_END)
        return c2_fail(err, C2_ERR_DENIED,
                       "the host refuses to reserve the guest's window of 64 TiB of addresses: "
                       "the limit on virtual memory is %llu KiB; lift it (ulimit -v unlimited); this takes no memory",
                       (unsigned long long)(limit.rlim_cur / 1024));
    if (error == EPERM)
        return c2_fail(err, C2_ERR_DENIED,
                       "the host refuses the guest's window from 0x%llx on: set vm.mmap_min_addr "
                       "to 65536 or less",
                       MMU_WINDOW_START);
    return c2_fail(err, C2_ERR_DENIED,
                   "the host refuses to reserve the guest's window 0x%llx-0x%llx of addresses (%s): "
                   "it needs 47-bit user addresses and a kernel that lets them be reserved without memory "
                   "(vm.overcommit_memory 0 or 1)",
                   MMU_WINDOW_START, MMU_WINDOW_END, strerror(error));
}

static enum c2_status window_reserve(struct c2_error *err)
{
    const int error = reserve_at(MMU_WINDOW_START, MMU_WINDOW_END - MMU_WINDOW_START);
    if (error == 0)
        return C2_OK;
    if (error != EEXIST)
        return fail_refused(error, err);
    return fail_clash(err);
}

static void window_close(void *self)
{
    (void)self;
    sigbus_release();
    userfault_close();
    munmap(host_pointer(MMU_WINDOW_START), MMU_WINDOW_END - MMU_WINDOW_START);
    window_is_open = false;
    if (hiding_place)
        C2_ASSERT(reserve_side(hiding_place, hiding_place + (MMU_TABLES_END - MMU_TABLES_BASE), NULL) == 0);
    tables_at = MMU_TABLES_BASE;
    if (far_is_open)
        munmap(host_pointer(MMU_FAR_START), MMU_FAR_END - MMU_FAR_START);
    far_is_open = false;
}

enum c2_status window_open(struct mmu_host *host, struct tables_arena *arena, struct c2_error *err)
{
    if (window_is_open)
        return c2_fail(err, C2_ERR_INVALID, "this process has a guest address space already: there is one window");
    enum c2_status status = window_reserve(err);
    if (status != C2_OK)
        return status;
    window_is_open = true;
    start_counting();
    *host = (struct mmu_host){.room = window_room,
                              .map = window_map,
                              .unmap = window_unmap,
                              .move = window_move,
                              .extend = window_extend,
                              .discard = window_discard,
                              .probe = window_probe,
                              .lost_pages = window_lost_pages,
                              .userfaults = window_userfaults,
                              .protect = window_protect,
                              .joinable = window_joinable,
                              .watch = window_watch,
                              .put = window_put,
                              .complete = window_complete,
                              .guard = window_guard,
                              .replace = window_replace,
                              .hide_tables = window_hide_tables,
                              .close = window_close};
    *arena = (struct tables_arena){.memory = host_pointer(MMU_TABLES_BASE),
                                   .address = MMU_TABLES_BASE,
                                   .pages = (MMU_TABLES_END - MMU_TABLES_BASE) >> C2_PAGE_SHIFT,
                                   .commit = window_commit};
    int error = sigbus_guard();
    if (error) {
        window_close(NULL);
        return c2_fail(err, C2_ERR_INTERNAL, "cannot watch for SIGBUS: %s", strerror(error));
    }
    return C2_OK;
}
