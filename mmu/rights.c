/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Where rights are enforced the host's memory may be accessed as the guest's tables have it, and no page more: an
 *   instruction that the host executes faults where mmu_ready() is false. There are two ways.
 *     protection   mprotect, page by page. An absent page has no rights. Neighbours with the same rights are one piece
 *                  of the host's map, whose number is limited (window.c).
 *     userfaults   private anonymous memory is watched (userfault.c): an absent page faults as nothing is there, so the
 *                  mapping is one piece with the rights of its area. A page that was only read so far (ENTRY_ZERO)
 *                  is guarded against writing. Everything else goes by protection: files, shared memory.
 *   Executable pages are readable on the host, and never executable: engines run translations.
 *   Pages that may not be ready are accessed by c2emu itself, or by system calls of the host on its behalf, between
 *   mmu_lend and mmu_lend_end. What is lent is open: the host puts pages there by itself. Behind it the rights are made
 *   again from the tables, and pages that were not touched meanwhile are taken away.
 * Invariants
 *   Between calls of this room, and outside of what is lent, a page of an area is accessible on the host exactly as
 *   mmu_ready states, and between areas nothing is. Changes go host first; those that take rights away do not fail.
 * Not modelled
 *   What a system call of the host wrote into untouched pages without the guest's kernel saying so is lost, with
 *   userfaults (a call that fails half way).
 */
#include <errno.h>
#include <string.h>

#include "mmu/mmu_priv.h"

static const unsigned READ_WRITE = MMU_READ | MMU_WRITE;

static unsigned rights_of_area(unsigned prot) { return prot & MMU_WRITE ? READ_WRITE : prot ? MMU_READ : 0; }

static unsigned rights_of_page(uint64_t entry)
{
    return !(entry & ENTRY_PRESENT) ? 0 : entry & ENTRY_WRITE ? READ_WRITE : MMU_READ;
}

static bool is_watched(const struct mmu *mmu, const struct area *area)
{
    return mmu->enforced == MMU_ENFORCED_BY_USERFAULTS && !area->backing;
}

struct host_rights rights_begin(const struct mmu *mmu, const struct area *area)
{
    C2_PROMISE(mmu->enforced <= MMU_ENFORCED_BY_ANY);
    return (struct host_rights){.enforced = mmu->enforced != MMU_NOT_ENFORCED,
                                .watched = is_watched(mmu, area),
                                .rights = rights_of_area(area->view.prot)};
}

/* ------------------------------------------------------------------ pages in runs of the same state */

/* Of a page that is not watched: its rights. Of one that is: */
enum { ABSENT, THERE, ONLY_READ };

typedef int runs_apply(struct mmu *mmu, uint64_t start, uint64_t bytes, unsigned state);

struct runs {
    struct mmu *mmu;
    runs_apply *apply;
    unsigned (*state_of)(const struct runs *runs, uint64_t entry);
    const unsigned *prot; /* the rights that pages are to have; NULL: they have theirs */
    uint64_t from, at;    /* pages in between have the state, and were not applied yet */
    unsigned state;
    int error;
};

static void apply_run(struct runs *runs)
{
    C2_PROMISE(runs->at >= runs->from);
    if (runs->at > runs->from && !runs->error)
        runs->error = runs->apply(runs->mmu, runs->from, runs->at - runs->from, runs->state);
    runs->from = runs->at;
}

static void lengthen_run(struct runs *runs, uint64_t to, unsigned state)
{
    C2_PROMISE(to >= runs->at);
    if (to == runs->at)
        return;
    if (state != runs->state)
        apply_run(runs);
    runs->state = state;
    runs->at = to;
}

static uint64_t visit_page(void *self, uint64_t va, uint64_t entry)
{
    C2_PROMISE(va % C2_PAGE_BYTES == 0);
    struct runs *runs = self;
    lengthen_run(runs, va, ABSENT);
    lengthen_run(runs, va + C2_PAGE_BYTES, runs->state_of(runs, entry));
    return entry;
}

static int apply_runs(struct runs *runs, uint64_t start, uint64_t end)
{
    C2_ASSERT(tables_is_range(start, end));
    runs->from = runs->at = start;
    tables_visit(runs->mmu->space.tables, start, end, visit_page, runs);
    lengthen_run(runs, end, ABSENT);
    apply_run(runs);
    return runs->error;
}

static unsigned state_by_rights(const struct runs *runs, uint64_t entry)
{
    return rights_of_page(runs->prot ? entry_with_rights(entry, *runs->prot) : entry);
}

static unsigned state_by_presence(const struct runs *runs, uint64_t entry)
{
    (void)runs;
    return entry & ENTRY_ZERO ? ONLY_READ : THERE;
}

static int apply_protection(struct mmu *mmu, uint64_t start, uint64_t bytes, unsigned state)
{
    C2_PROMISE((state & ~(unsigned)READ_WRITE) == 0);
    return mmu->host.protect(mmu->host.self, start, bytes, state);
}

/* Where absent pages are absent on the host, too. */
static int rights_apply_touched(struct mmu *mmu, uint64_t start, uint64_t bytes, unsigned state)
{
    C2_PROMISE(state <= ONLY_READ);
    const struct mmu_host *host = &mmu->host;
    const int error = state == ABSENT ? 0 : host->complete(host->self, start, bytes);
    return error || state != ONLY_READ ? error : host->guard(host->self, start, bytes, true);
}

static int apply_presence(struct mmu *mmu, uint64_t start, uint64_t bytes, unsigned state)
{
    C2_PROMISE(state <= ONLY_READ);
    return state == ABSENT ? mmu->host.discard(mmu->host.self, start, bytes)
                           : rights_apply_touched(mmu, start, bytes, state);
}

/* ------------------------------------------------------------------ parts of areas */

/* Calls `each` for every part of an area in [start, end), with the same `with`. */
typedef int part(struct mmu *mmu, const struct area *area, uint64_t from, uint64_t to, const void *with);

static int each_part(struct mmu *mmu, uint64_t start, uint64_t end, part *each, const void *with)
{
    C2_ASSERT(tables_is_range(start, end));
    const struct mmu_areas *areas = &mmu->space.areas;
    int error = 0;
    for (const struct area *area = areas_first_in(areas, start, end); area && !error;
         area = areas_next_in(areas, area, end)) {
        const uint64_t from = area->view.start.v > start ? area->view.start.v : start;
        error = each(mmu, area, from, area_end(area) < end ? area_end(area) : end, with);
    }
    return error;
}

/* with: the rights to be, or NULL for those of the area. */
static int protect_part(struct mmu *mmu, const struct area *area, uint64_t from, uint64_t to, const void *with)
{
    C2_PROMISE(area->view.start.v <= from && from < to && to <= area_end(area));
    const unsigned prot = with ? *(const unsigned *)with : area->view.prot;
    if (is_watched(mmu, area))
        return mmu->host.protect(mmu->host.self, from, to - from, rights_of_area(prot));
    struct runs runs = {.mmu = mmu, .apply = apply_protection, .state_of = state_by_rights, .prot = &prot};
    return apply_runs(&runs, from, to);
}

static int watch_part(struct mmu *mmu, const struct area *area, uint64_t from, uint64_t to, runs_apply *apply)
{
    C2_PROMISE(area->view.start.v <= from && from < to && to <= area_end(area));
    struct runs runs = {.mmu = mmu, .apply = apply, .state_of = state_by_presence};
    if (!is_watched(mmu, area))
        return 0;
    const int error = mmu->host.watch(mmu->host.self, from, to - from, true);
    return error ? error : apply_runs(&runs, from, to);
}

static int renew_part(struct mmu *mmu, const struct area *area, uint64_t from, uint64_t to, const void *with)
{
    const int error = protect_part(mmu, area, from, to, with);
    return error ? error : watch_part(mmu, area, from, to, apply_presence);
}

/* What a child of the same way needs: it has the rights, and no absent pages. */
static int inherit_part(struct mmu *mmu, const struct area *area, uint64_t from, uint64_t to, const void *with)
{
    (void)with;
    return watch_part(mmu, area, from, to, rights_apply_touched);
}

static int unwatch_part(struct mmu *mmu, const struct area *area, uint64_t from, uint64_t to, const void *with)
{
    (void)with;
    return is_watched(mmu, area) ? mmu->host.watch(mmu->host.self, from, to - from, false) : 0;
}

static int open_part(struct mmu *mmu, const struct area *area, uint64_t from, uint64_t to, const void *with)
{
    C2_PROMISE(area->view.start.v <= from && from < to && to <= area_end(area));
    const struct mmu_host *host = &mmu->host;
    const int error = unwatch_part(mmu, area, from, to, with);
    return error ? error : host->protect(host->self, from, to - from, area->may_write ? READ_WRITE : MMU_READ);
}

/* ------------------------------------------------------------------ changes of areas */

int rights_protect(struct mmu *mmu, uint64_t start, uint64_t end, unsigned prot)
{
    C2_ASSERT(tables_is_range(start, end));
    if (mmu->enforced == MMU_NOT_ENFORCED)
        return 0;
    int error = mmu->host.room(mmu->host.self, false);
    if (error)
        return error;
    error = each_part(mmu, start, end, protect_part, &prot);
    if (error)
        C2_ASSERT(each_part(mmu, start, end, protect_part, NULL) == 0); /* as it was: there was room for that */
    return error;
}

int rights_renew(struct mmu *mmu, uint64_t start, uint64_t end)
{
    return mmu->enforced == MMU_NOT_ENFORCED ? 0 : each_part(mmu, start, end, renew_part, NULL);
}

/* What is moved is no longer watched, and Linux (6.18) forgets all of a mapping that it joins where it comes to. */
int rights_move(struct mmu *mmu, uint64_t start, uint64_t end)
{
    return mmu->enforced == MMU_NOT_ENFORCED ? 0 : each_part(mmu, start, end, unwatch_part, NULL);
}

int rights_close(struct mmu *mmu, const struct area *area, uint64_t start, uint64_t end)
{
    C2_ASSERT(tables_is_range(start, end) && start < end);
    const bool protects = mmu->enforced != MMU_NOT_ENFORCED && !is_watched(mmu, area);
    return protects ? mmu->host.protect(mmu->host.self, start, end - start, 0) : 0;
}

/* ------------------------------------------------------------------ touches */

static enum c2_status rights_refused(int error, uint64_t page, struct c2_error *err)
{
    C2_ASSERT(error != 0);
    return c2_fail(err, C2_ERR_NO_MEMORY, "the host cannot open the page at 0x%llx: %s%s", (unsigned long long)page,
                   strerror(error),
                   error == ENOMEM ? " (it may be the number of mappings: raise vm.max_map_count)" : "");
}

/* What is lent is open, and not watched; mmu_lend_end looks at the tables. */
static bool is_lent(const struct mmu *mmu, uint64_t page)
{
    for (uint32_t i = 0; i < mmu->lent_count; i++)
        if (page >= mmu->lent[i].start && page < mmu->lent[i].end)
            return true;
    return false;
}

static int protect_page(struct mmu *mmu, uint64_t page, unsigned rights)
{
    C2_ASSERT(page % C2_PAGE_BYTES == 0 && (rights & ~(unsigned)READ_WRITE) == 0);
    const struct mmu_host *host = &mmu->host;
    const int error = host->room(host->self, true); /* a mapping that is refused is better than a touch that is */
    return error ? error : host->protect(host->self, page, C2_PAGE_BYTES, rights);
}

static int rights_put_page(struct mmu *mmu, uint64_t page, uint64_t entry, enum mmu_access access)
{
    C2_PROMISE(page % C2_PAGE_BYTES == 0 && mmu->enforced == MMU_ENFORCED_BY_USERFAULTS);
    const enum host_page what = access == MMU_ACCESS_WRITE ? HOST_PAGE_OWN
                                : entry & ENTRY_ZERO       ? HOST_PAGE_GUARDED
                                                           : HOST_PAGE_ZERO;
    return is_lent(mmu, page) ? 0 : mmu->host.put(mmu->host.self, page, what);
}

enum c2_status rights_open(struct mmu *mmu, const struct area *area, uint64_t page, uint64_t entry,
                           enum mmu_access access, struct c2_error *err)
{
    C2_PROMISE(page % C2_PAGE_BYTES == 0 && entry & ENTRY_PRESENT);
    if (mmu->enforced == MMU_NOT_ENFORCED)
        return C2_OK;
    const int error = is_watched(mmu, area) ? rights_put_page(mmu, page, entry, access)
                                            : protect_page(mmu, page, rights_of_page(entry));
    return error ? rights_refused(error, page, err) : C2_OK;
}

void rights_shut(struct mmu *mmu, const struct area *area, uint64_t page)
{
    C2_ASSERT(page % C2_PAGE_BYTES == 0);
    const struct mmu_host *host = &mmu->host;
    if (mmu->enforced == MMU_NOT_ENFORCED)
        return;
    C2_ASSERT((is_watched(mmu, area) ? host->discard(host->self, page, C2_PAGE_BYTES)
                                     : host->protect(host->self, page, C2_PAGE_BYTES, 0)) == 0);
}

enum c2_status rights_written(struct mmu *mmu, const struct area *area, uint64_t page, struct c2_error *err)
{
    C2_PROMISE(area->view.prot & MMU_WRITE);
    const struct mmu_host *host = &mmu->host;
    if (mmu->enforced == MMU_NOT_ENFORCED || (is_watched(mmu, area) && is_lent(mmu, page)))
        return C2_OK;
    const int error = is_watched(mmu, area) ? host->guard(host->self, page, C2_PAGE_BYTES, false)
                                            : protect_page(mmu, page, rights_of_area(area->view.prot));
    return error ? rights_refused(error, page, err) : C2_OK;
}

/* A page that was touched, of a file. */
static bool may_be_lost(void *self, uint64_t page, unsigned *rights)
{
    const struct mmu *mmu = self;
    const struct area *area = areas_at(&mmu->space.areas, page);
    const uint64_t entry = tables_get(mmu->space.tables, page);
    *rights = rights_of_page(entry);
    return area && area->backing && entry & ENTRY_PRESENT;
}

enum c2_status rights_revive(struct mmu *mmu, uint64_t page, struct c2_error *err)
{
    unsigned rights;
    const struct mmu_host *host = &mmu->host;
    if (mmu->enforced == MMU_NOT_ENFORCED || !may_be_lost(mmu, page, &rights) || host->probe(host->self, page, false))
        return C2_OK;
    const int error = host->replace(host->self, page, rights);
    return error ? rights_refused(error, page, err) : C2_OK;
}

/* ------------------------------------------------------------------ lending */

static bool all_ready(const struct mmu *mmu, uint64_t start, uint64_t end)
{
    for (uint64_t page = start; page < end; page += C2_PAGE_BYTES)
        if (!mmu_ready(mmu, (struct guest_va){page}, MMU_ACCESS_WRITE))
            return false;
    return true;
}

int mmu_lend(struct mmu *mmu, struct guest_va va, uint64_t bytes)
{
    C2_ASSERT(va.v + bytes >= va.v);
    const uint64_t start = c2_align_down(va.v, C2_PAGE_BYTES), end = c2_align_up(va.v + bytes, C2_PAGE_BYTES);
    if (mmu->enforced == MMU_NOT_ENFORCED || bytes == 0 || SHORTCUT(all_ready(mmu, start, end)))
        return 0;
    if (!c2_grow((void **)&mmu->lent, &mmu->lent_room, mmu->lent_count + 1, sizeof *mmu->lent))
        return ENOMEM;
    mmu->lent[mmu->lent_count++] = (struct lent){start, end};
    return each_part(mmu, start, end, open_part, NULL);
}

void mmu_lend_end(struct mmu *mmu)
{
    int error = 0;
    if (!mmu || mmu->lent_count == 0)
        return;
    for (uint32_t i = 0; i < mmu->lent_count; i++) {
        const int failed = rights_renew(mmu, mmu->lent[i].start, mmu->lent[i].end);
        error = error ? error : failed;
    }
    if (error && mmu->unwritten.status == C2_OK)
        rights_refused(error, mmu->lent[0].start, &mmu->unwritten);
    mmu->lent_count = 0;
}

/* ------------------------------------------------------------------ life */

/* Guests have no business with them. */
static enum c2_status hide_tables(struct mmu *mmu, struct c2_error *err)
{
    unsigned char *memory;
    struct tables *tables = mmu->space.tables;
    const int error = mmu->host.hide_tables(mmu->host.self, tables_committed(tables), &memory);
    if (error)
        return c2_fail(err, C2_ERR_NO_MEMORY, "the host has no addresses for the page tables: %s", strerror(error));
    tables_moved(tables, memory);
    return C2_OK;
}

enum c2_status mmu_enforce(struct mmu *mmu, enum mmu_enforcement how, struct c2_error *err)
{
    C2_ASSERT(areas_count(&mmu->space.areas) == 0 && mmu->enforced == MMU_NOT_ENFORCED);
    if (how == MMU_NOT_ENFORCED)
        return C2_OK;
    const int error = how == MMU_ENFORCED_BY_PROTECTION ? ENOSYS : mmu->host.userfaults(mmu->host.self);
    if (error && how == MMU_ENFORCED_BY_USERFAULTS)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "the host has no userfaults for us: %s", strerror(error));
    const enum c2_status status = hide_tables(mmu, err);
    if (status != C2_OK)
        return status;
    if (mmu->host.joinable(mmu->host.self) != 0)
        return c2_fail_memory(err, "a page of the guest's");
    mmu->enforced = error ? MMU_ENFORCED_BY_PROTECTION : MMU_ENFORCED_BY_USERFAULTS;
    sigbus_ask(may_be_lost, mmu);
    return C2_OK;
}

/* A hole that the host may have as one piece with an area beside it (struct host_hole), or had, with one that is no
 * longer there. */
static int renew_hole(struct mmu *mmu, const struct area *before, const struct area *behind)
{
    C2_ASSERT(!behind || behind->view.start.v >= area_end(before));
    const struct mmu_host *host = &mmu->host;
    const uint64_t low = area_end(before), high = behind ? behind->view.start.v : low;
    if (low == high || high - low > HOST_HOLE_BYTES)
        return 0;
    if (mmu->enforced == MMU_ENFORCED_BY_USERFAULTS)
        return host->watch(host->self, low, high - low, true);
    return host->protect(host->self, low, high - low, 0);
}

enum c2_status mmu_become_child(struct mmu *mmu, struct c2_error *err)
{
    const struct mmu_areas *areas = &mmu->space.areas;
    if (mmu->enforced != MMU_ENFORCED_BY_USERFAULTS)
        return C2_OK;
    const bool watches = mmu->host.userfaults(mmu->host.self) == 0;
    mmu->enforced = watches ? MMU_ENFORCED_BY_USERFAULTS : MMU_ENFORCED_BY_PROTECTION;
    int error = each_part(mmu, MMU_WINDOW_START, MMU_FAR_END, watches ? inherit_part : renew_part, NULL);
    for (const struct area *area = areas_find(areas, 0); area && !error; area = areas_next(areas, area))
        error = renew_hole(mmu, area, areas_next(areas, area));
    return error ? rights_refused(error, MMU_WINDOW_START, err) : C2_OK;
}
