/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Enforced rights: what the host's processor faults at, held to mmu_ready(), which is the naive twin. Accesses are real
 * loads and stores; each mechanism is tested with and without tells_writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "mmu/mmu_priv.h"

#define PAGE C2_PAGE_BYTES
#define BASE MMU_PIE_BASE
#define RW (MMU_READ | MMU_WRITE)
#define PAGES 24u
#define FILE_PAGES 5u /* mapped beyond, too */

/* ------------------------------------------------------------------ accesses */

static sigjmp_buf faulted;
static volatile sig_atomic_t trying;
static struct sigaction before_bus;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (trying)
        siglongjmp(faulted, 1);
    if (signal == SIGBUS)
        before_bus.sa_sigaction(signal, info, context); /* mmu/ looks for the end of a file */
    else
        abort();
}

static volatile uint8_t *byte(uint64_t address) { return (volatile uint8_t *)(uintptr_t)address; }

static bool reads(uint64_t address, uint8_t *value)
{
    if (sigsetjmp(faulted, 0) != 0) {
        trying = 0;
        return false;
    }
    trying = 1;
    *value = *byte(address);
    trying = 0;
    return true;
}

static bool writes(uint64_t address, uint8_t value)
{
    if (sigsetjmp(faulted, 0) != 0) {
        trying = 0;
        return false;
    }
    trying = 1;
    *byte(address) = value;
    trying = 0;
    return true;
}

/* ------------------------------------------------------------------ an address space and what its pages hold */

struct page {
    bool known; /* of private anonymous memory: its first byte is value */
    uint8_t value;
};

static struct {
    struct mmu *mmu;
    struct page page[PAGES];
    int file;
    uint64_t random;
    uint8_t written; /* another one each time */
} t;

static uint64_t pick(uint64_t below)
{
    t.random = t.random * 6364136223846793005u + 1442695040888963407u;
    return (t.random >> 33) % below;
}

static uint64_t at(uint64_t page) { return BASE + page * PAGE; }

static bool ready(uint64_t va, enum mmu_access access) { return mmu_ready(t.mmu, (struct guest_va){va}, access); }

static void begin(enum mmu_enforcement how, bool tells_writes)
{
    const struct mmu_guest_config config = {.guest_bytes = 64 << 20, .tells_writes = tells_writes};
    struct c2_error err = {0};
    memset(&t, 0, sizeof t);
    if (mmu_create(&t.mmu, &config, &err) != C2_OK)
        fail_msg("%s", err.text);
    const enum c2_status status = mmu_enforce(t.mmu, how, &err);
    if (status != C2_OK)
        mmu_destroy(t.mmu);
    if (status == C2_ERR_UNSUPPORTED) {
        print_message("%s\n", err.text);
        skip();
    }
    assert_int_equal(status, C2_OK);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, &before_bus);
    t.file = memfd_create("file", MFD_CLOEXEC);
    assert_int_equal(ftruncate(t.file, FILE_PAGES * PAGE), 0);
}

static void end(void)
{
    mmu_check(t.mmu);
    mmu_destroy(t.mmu);
    close(t.file);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
}

/* Whether the host does with the page what the twin says; *page changes by the write. */
static bool page_agrees(uint64_t address, struct page *page)
{
    uint8_t value = 0;
    const bool open = reads(address, &value);
    if (open != ready(address, MMU_ACCESS_READ) || (open && page->known && value != page->value))
        return false;
    const bool written = writes(address, ++t.written);
    if (written)
        page->value = t.written;
    return written == ready(address, MMU_ACCESS_WRITE);
}

static bool all_agree(void)
{
    for (uint64_t i = 0; i < PAGES; i++)
        if (!page_agrees(at(i), &t.page[i]))
            return false;
    return true;
}

/* As an engine does it: the access, and if it faults mmu_touch and the access again. */
static enum mmu_fault access_page(uint64_t address, struct page *page, bool writing)
{
    uint8_t value = 0;
    const enum mmu_access access = writing ? MMU_ACCESS_WRITE : MMU_ACCESS_READ;
    struct c2_error err;
    enum mmu_fault fault = MMU_FAULT_NONE;
    t.written++;
    if (writing ? !writes(address, t.written) : !reads(address, &value)) {
        fault = mmu_touch(t.mmu, (struct guest_va){address}, access, &err);
        assert_int_not_equal(fault, MMU_FAULT_FAILED);
        if (fault != MMU_FAULT_NONE)
            return fault;
        assert_true(writing ? writes(address, t.written) : reads(address, &value));
    }
    if (writing)
        page->value = t.written;
    else if (page->known)
        assert_int_equal(value, page->value);
    return fault;
}

/* ------------------------------------------------------------------ operations */

static void know(uint64_t first, uint64_t pages, bool known)
{
    for (uint64_t i = first; i < first + pages; i++)
        t.page[i] = (struct page){known, 0};
}

static int64_t map(uint64_t first, uint64_t pages, unsigned prot, bool shared, bool file)
{
    const struct mmu_request request = {.address = at(first),
                                        .bytes = pages * PAGE,
                                        .prot = prot,
                                        .fixed = true,
                                        .shared = shared,
                                        .kind = file ? MMU_FILE : MMU_ANONYMOUS,
                                        .host_fd = file ? t.file : -1,
                                        .path = file ? "/file" : NULL};
    const int64_t answer = mmu_map(t.mmu, &request);
    if (answer >= 0)
        know(first, pages, !shared && !file);
    return answer;
}

static void random_range(uint64_t *first, uint64_t *pages)
{
    *first = pick(PAGES);
    *pages = 1 + pick(PAGES - *first < 6 ? PAGES - *first : 6);
}

static unsigned random_prot(void)
{
    static const unsigned prots[] = {0, MMU_READ, RW, RW, RW, MMU_EXEC, MMU_READ | MMU_EXEC, RW | MMU_EXEC, MMU_WRITE};
    return prots[pick(sizeof prots / sizeof prots[0])];
}

static void random_map(void)
{
    uint64_t first, pages;
    random_range(&first, &pages);
    const uint64_t kind = pick(6);
    assert_true(map(first, pages, random_prot(), kind == 0 || kind == 1, kind == 1 || kind == 2) >= 0);
}

static void random_unmap(void)
{
    uint64_t first, pages;
    random_range(&first, &pages);
    assert_int_equal(mmu_unmap(t.mmu, at(first), pages * PAGE), 0);
    know(first, pages, false);
}

static void random_protect(void)
{
    uint64_t first, pages;
    random_range(&first, &pages);
    (void)mmu_protect(t.mmu, at(first), pages * PAGE, random_prot()); /* up to the first hole */
}

static void random_discard(void)
{
    uint64_t first, pages;
    random_range(&first, &pages);
    (void)mmu_discard(t.mmu, at(first), pages * PAGE);
    for (uint64_t i = first; i < first + pages; i++)
        t.page[i].value = 0;
}

/* Grows, shrinks and moves, over others or by itself to where there is room. */
static void random_remap(void)
{
    uint64_t from, pages, to;
    random_range(&from, &pages);
    const uint64_t now = 1 + pick(6);
    to = pick(PAGES - now + 1);
    const bool fixed = pick(2);
    struct page moved[6];
    memcpy(moved, &t.page[from], pages * sizeof moved[0]);
    const bool fits = from + now <= PAGES;
    const int64_t answer = mmu_remap(t.mmu, at(from), pages * PAGE, now * PAGE, fixed, fixed, at(to));
    if (answer < 0) {
        /* a target that had to go may be gone */
        for (uint64_t i = to; fixed && i < to + now; i++)
            t.page[i].known &= !!areas_at(&t.mmu->space.areas, at(i));
        for (uint64_t i = from; fixed && i < from + pages; i++)
            t.page[i].known &= !!areas_at(&t.mmu->space.areas, at(i));
        return;
    }
    if (!fixed && !fits) /* it went beyond the pages that are looked at */
        assert_int_equal(mmu_unmap(t.mmu, at(PAGES), 6 * PAGE), 0);
    know(from, pages, false);
    const uint64_t first = fixed ? to : from, seen = fits || fixed ? now : PAGES - from;
    for (uint64_t i = 0; i < seen; i++)
        t.page[first + i] = i < pages ? moved[i] : (struct page){moved[0].known, 0};
}

static void random_access(void)
{
    const uint64_t page = pick(PAGES);
    (void)access_page(at(page) + pick(2) * (PAGE - 1) * 0, &t.page[page], pick(2));
}

static void random_kernel(void)
{
    uint64_t first, pages;
    struct guest_va stop;
    struct c2_error err;
    random_range(&first, &pages);
    const enum mmu_access access = pick(2) ? MMU_ACCESS_WRITE : MMU_ACCESS_READ;
    const enum mmu_fault fault = mmu_touch_range(t.mmu, (struct guest_va){at(first) + 7}, pages * PAGE - 9, access,
                                                 &stop, &err);
    assert_int_not_equal(fault, MMU_FAULT_FAILED);
}

/* c2emu's own accesses: reading, and writing where the guest may, of which some pages are touched meanwhile. */
static void random_loan(void)
{
    uint64_t first, pages;
    struct c2_error err;
    random_range(&first, &pages);
    const bool writing = mmu_allows(t.mmu, (struct guest_va){at(first)}, pages * PAGE, MMU_WRITE) && pick(2);
    assert_int_equal(mmu_lend(t.mmu, (struct guest_va){at(first)}, pages * PAGE), 0);
    for (uint64_t i = first; i < first + pages; i++) {
        uint8_t value = 0;
        const struct area *area = areas_at(&t.mmu->space.areas, at(i));
        if (!area || area->backing)
            continue; /* which may have an end, beyond which nothing is to be read */
        assert_true(reads(at(i), &value));
        if (t.page[i].known)
            assert_int_equal(value, t.page[i].value);
        if (!writing || pick(2))
            continue;
        assert_true(writes(at(i), ++t.written));
        assert_int_equal(mmu_touch(t.mmu, (struct guest_va){at(i)}, MMU_ACCESS_WRITE, &err), MMU_FAULT_NONE);
        t.page[i].value = t.written;
    }
    mmu_lend_end(t.mmu);
    assert_int_equal(mmu_written(t.mmu, &err), C2_OK);
}

static void operate(void)
{
    static void (*const operations[])(void) = {
        random_map,    random_unmap,  random_protect, random_discard, random_remap, random_access,  random_access,
        random_access, random_access, random_access,  random_kernel,  random_loan,  random_protect, random_access};
    operations[pick(sizeof operations / sizeof operations[0])]();
    for (int i = 0; i < 3; i++) {
        const uint64_t page = pick(PAGES);
        assert_true(page_agrees(at(page), &t.page[page]));
    }
}

/* ------------------------------------------------------------------ random runs */

static void run(enum mmu_enforcement how, bool tells_writes)
{
    begin(how, tells_writes);
    t.random = how * 2 + tells_writes;
    for (int i = 0; i < C2_HOST_SIZE(25000, 5000); i++) {
        operate();
        if (i % 64 == 0)
            assert_true(all_agree());
    }
    end();
}

static void protection_agrees(void **state)
{
    (void)state;
    run(MMU_ENFORCED_BY_PROTECTION, false);
    run(MMU_ENFORCED_BY_PROTECTION, true);
}

static void userfaults_agree(void **state)
{
    (void)state;
    run(MMU_ENFORCED_BY_USERFAULTS, false);
    run(MMU_ENFORCED_BY_USERFAULTS, true);
}

/* The check can fail: a page that is open though it should not be, and the other way round. */
static void checks_can_fail(void **state)
{
    (void)state;
    begin(MMU_ENFORCED_BY_PROTECTION, false);
    assert_true(map(0, 3, RW, false, false) >= 0);
    assert_int_equal(access_page(at(1), &t.page[1], true), MMU_FAULT_NONE);
    assert_true(all_agree());
    assert_int_equal(mprotect((void *)(uintptr_t)at(0), PAGE, PROT_READ | PROT_WRITE), 0);
    assert_false(all_agree());
    assert_int_equal(mprotect((void *)(uintptr_t)at(0), PAGE, PROT_NONE), 0);
    assert_true(all_agree());
    assert_int_equal(mprotect((void *)(uintptr_t)at(1), PAGE, PROT_READ), 0);
    assert_false(all_agree());
    end();
}

/* ------------------------------------------------------------------ forks */

static void live(int operations)
{
    for (int i = 0; i < operations; i++)
        operate();
    assert_true(all_agree());
}

/* Each child has a child. It has the memory of its parent, and changes of one are none of the other's. */
static void fork_deeper(int depth)
{
    struct c2_error err;
    int status = -1;
    if (depth == 0)
        return;
    const pid_t child = fork();
    if (child == 0) {
        if (mmu_become_child(t.mmu, &err) != C2_OK || !all_agree())
            _exit(1);
        live(100);
        fork_deeper(depth - 1);
        _exit(0);
    }
    live(100);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(all_agree());
}

static void forks(enum mmu_enforcement how, bool tells_writes)
{
    begin(how, tells_writes);
    for (int round = 0; round < 40; round++) {
        live(50);
        /* shared memory is written by both */
        for (uint64_t i = 0; i < PAGES; i++) {
            const struct area *area = areas_at(&t.mmu->space.areas, at(i));
            t.page[i].known &= area && !area->backing;
        }
        fork_deeper(2);
    }
    end();
}

static void children_agree(void **state)
{
    (void)state;
    forks(MMU_ENFORCED_BY_ANY, false);
    forks(MMU_ENFORCED_BY_ANY, true);
    forks(MMU_ENFORCED_BY_PROTECTION, true);
}

/* A page that was only read has nothing of the host's memory behind it, which a fork may forget. */
static void zero_pages_survive_forks(void **state)
{
    (void)state;
    int status;
    struct c2_error err;
    begin(MMU_ENFORCED_BY_ANY, true);
    assert_true(map(0, 8, RW, false, false) >= 0);
    for (uint64_t i = 0; i < 8; i += 2)
        assert_int_equal(access_page(at(i), &t.page[i], false), MMU_FAULT_NONE);
    const pid_t child = fork();
    if (child == 0)
        _exit(mmu_become_child(t.mmu, &err) == C2_OK && all_agree() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    end();
}

/* As in a confined run: the child may have no userfaults of its own. */
static bool refuse_userfaults(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void confined_children_agree(void **state)
{
    (void)state;
    int status;
    struct c2_error err;
    begin(MMU_ENFORCED_BY_ANY, true);
    live(300);
    const pid_t child = fork();
    if (child == 0) {
        if (!refuse_userfaults() || mmu_become_child(t.mmu, &err) != C2_OK || !all_agree())
            _exit(1);
        live(500);
        _exit(t.mmu->enforced == MMU_ENFORCED_BY_PROTECTION ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    end();
}

/* ------------------------------------------------------------------ cases by name */

static void first_touches_are_told_apart(enum mmu_enforcement how)
{
    begin(how, true);
    assert_true(map(0, 4, RW, false, false) >= 0);
    assert_int_equal(mmu_usage(t.mmu).faults, 0);
    assert_int_equal(access_page(at(0), &t.page[0], false), MMU_FAULT_NONE);
    assert_true(ready(at(0), MMU_ACCESS_READ) && !ready(at(0), MMU_ACCESS_WRITE));
    assert_false(writes(at(0), 1));
    assert_int_equal(access_page(at(0), &t.page[0], true), MMU_FAULT_NONE);
    assert_int_equal(access_page(at(1), &t.page[1], true), MMU_FAULT_NONE);
    assert_int_equal(mmu_usage(t.mmu).faults, 2);
    assert_false(reads(at(2), &(uint8_t){0}));
    /* without rights and with them again: what was there, is there */
    assert_int_equal(mmu_protect(t.mmu, at(0), 4 * PAGE, 0), 0);
    assert_false(reads(at(0), &(uint8_t){0}));
    assert_int_equal(access_page(at(0), &t.page[0], false), MMU_FAULT_DENIED);
    assert_int_equal(mmu_protect(t.mmu, at(0), 4 * PAGE, MMU_READ), 0);
    assert_true(all_agree());
    assert_int_equal(access_page(at(2), &t.page[2], true), MMU_FAULT_DENIED);
    assert_int_equal(mmu_usage(t.mmu).faults, 2);
    end();
}

static void first_touches(void **state)
{
    (void)state;
    first_touches_are_told_apart(MMU_ENFORCED_BY_PROTECTION);
    first_touches_are_told_apart(MMU_ENFORCED_BY_ANY);
}

/* A file of 5 pages, mapped to 8; then it is cut to one. */
static void files_end(void **state)
{
    (void)state;
    begin(MMU_ENFORCED_BY_ANY, false);
    assert_true(map(0, 8, RW, true, true) >= 0);
    assert_int_equal(access_page(at(4), &t.page[4], true), MMU_FAULT_NONE);
    assert_int_equal(access_page(at(5), &t.page[5], true), MMU_FAULT_BUS);
    assert_false(ready(at(5), MMU_ACCESS_READ));
    assert_true(all_agree());
    assert_int_equal(ftruncate(t.file, PAGE), 0);
    assert_false(reads(at(4), &(uint8_t){0})); /* the host's SIGBUS, though it is ready */
    assert_int_equal(access_page(at(4), &t.page[4], false), MMU_FAULT_NONE);
    assert_int_equal(*byte(at(4)), 0);
    assert_int_equal(mmu_usage(t.mmu).lost_pages, 1);
    assert_true(all_agree());
    end();
}

/* The host's kernel fills a buffer of which nothing is there; what it did not fill is absent behind the call. */
static void kernel_fills_loans(enum mmu_enforcement how)
{
    int ends[2];
    struct c2_error err;
    struct guest_va stop;
    static const uint8_t text[PAGE + 1] = {9, [PAGE] = 8};
    begin(how, true);
    assert_true(map(0, 6, RW, false, false) >= 0);
    assert_int_equal(access_page(at(1), &t.page[1], false), MMU_FAULT_NONE);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text), sizeof text);
    assert_int_equal(mmu_lend(t.mmu, (struct guest_va){at(0)}, 5 * PAGE), 0);
    assert_int_equal(read(ends[0], (void *)(uintptr_t)at(0), 5 * PAGE), sizeof text);
    assert_int_equal(*byte(at(3)), 0); /* c2emu reads what is absent */
    assert_int_equal(mmu_touch_range(t.mmu, (struct guest_va){at(0)}, sizeof text, MMU_ACCESS_WRITE, &stop, &err),
                     MMU_FAULT_NONE);
    mmu_lend_end(t.mmu);
    assert_int_equal(*byte(at(0)), 9);
    assert_int_equal(*byte(at(1)), 8);
    t.page[0].value = 9;
    t.page[1].value = 8;
    assert_int_equal(mmu_usage(t.mmu).faults, 2);
    assert_true(all_agree());
    assert_false(ready(at(3), MMU_ACCESS_READ));
    close(ends[0]);
    close(ends[1]);
    end();
}

static void loans(void **state)
{
    (void)state;
    kernel_fills_loans(MMU_ENFORCED_BY_PROTECTION);
    kernel_fills_loans(MMU_ENFORCED_BY_ANY);
}

/* Code is data on the host. */
static void code_is_never_executable(void **state)
{
    (void)state;
    begin(MMU_ENFORCED_BY_ANY, false);
    assert_true(map(0, 1, RW | MMU_EXEC, false, false) >= 0);
    assert_int_equal(access_page(at(0), &t.page[0], true), MMU_FAULT_NONE);
    *byte(at(0)) = 0xc3; /* RET */
    bool returned = false;
    if (sigsetjmp(faulted, 0) == 0) {
        trying = 1;
        ((void (*)(void))(uintptr_t)at(0))();
        returned = true;
    }
    trying = 0;
    assert_false(returned);
    assert_true(ready(at(0), MMU_ACCESS_EXEC));
    end();
}

/* Addresses far away, and a reservation around the page tables. */
static void far_and_around(void **state)
{
    (void)state;
    struct page page = {.known = true};
    begin(MMU_ENFORCED_BY_ANY, false);
    struct mmu_request request = {
        .address = MMU_FAR_START, .bytes = 4 * PAGE, .prot = RW, .fixed = true, .host_fd = -1};
    assert_int_equal(mmu_map(t.mmu, &request), MMU_FAR_START);
    assert_true(page_agrees(MMU_FAR_START + PAGE, &page));
    assert_int_equal(access_page(MMU_FAR_START + PAGE, &page, true), MMU_FAULT_NONE);
    assert_true(page_agrees(MMU_FAR_START + PAGE, &page));
    const uint64_t low = MMU_TABLES_BASE - (1ull << 30);
    request = (struct mmu_request){
        .address = low, .bytes = MMU_TABLES_END + (1ull << 30) - low, .fixed = true, .host_fd = -1};
    assert_int_equal(mmu_map(t.mmu, &request), low);
    assert_int_equal(mmu_protect(t.mmu, low, PAGE, RW), 0);
    page.value = 0;
    assert_true(page_agrees(low, &page));
    assert_int_equal(access_page(low, &page, true), MMU_FAULT_NONE);
    assert_true(page_agrees(low, &page));
    assert_false(reads(MMU_TABLES_BASE, &(uint8_t){0})); /* the tables are elsewhere */
    assert_int_equal(mmu_lend(t.mmu, (struct guest_va){low}, request.bytes), 0);
    mmu_lend_end(t.mmu);
    assert_int_equal(mmu_unmap(t.mmu, low, request.bytes), 0);
    end();
}

/* ------------------------------------------------------------------ pieces of the host's map */

/* That the first so many pages lie in. */
static unsigned count_pieces(uint64_t pages)
{
    unsigned pieces = 0;
    char line[512];
    uint64_t start, stop;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (fgets(line, sizeof line, maps))
        pieces += sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &stop) == 2 && start < at(pages) && stop > BASE;
    fclose(maps);
    return pieces;
}

static void map_many(uint64_t pages)
{
    const struct mmu_request request = {
        .address = BASE, .bytes = pages * PAGE, .prot = RW, .fixed = true, .host_fd = -1};
    assert_int_equal(mmu_map(t.mmu, &request), BASE);
}

/* Whatever the order in which pages are touched, in the end they are one piece. */
static void pieces_join(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    static uint64_t order[MANY];
    begin(MMU_ENFORCED_BY_PROTECTION, false);
    map_many(MANY);
    for (uint64_t i = 0; i < MANY; i++)
        order[i] = i;
    for (uint64_t i = MANY - 1; i > 0; i--) {
        const uint64_t other = pick(i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint64_t i = 0; i < MANY; i++) {
        struct page page = {true, 0};
        assert_int_equal(access_page(at(order[i]), &page, true), MMU_FAULT_NONE);
    }
    assert_int_equal(count_pieces(MANY), 1);
    end();
}

/* Every second page of many, until the host has no more pieces, or all are touched: how many were. */
static uint64_t touch_every_second(uint64_t pages, struct c2_error *err)
{
    uint64_t done = 0;
    enum mmu_fault fault = MMU_FAULT_NONE;
    while (done < pages && fault == MMU_FAULT_NONE) {
        fault = mmu_touch(t.mmu, (struct guest_va){at(2 * done)}, MMU_ACCESS_WRITE, err);
        done += fault == MMU_FAULT_NONE;
    }
    assert_true(fault == MMU_FAULT_NONE || fault == MMU_FAULT_FAILED);
    return done;
}

enum { EVERY_SECOND = 40000 }; /* more than half of the pieces that Linux usually lets a process have */

static void pieces_run_out(void **state)
{
    (void)state;
    struct c2_error err = {0};
    begin(MMU_ENFORCED_BY_PROTECTION, false);
    map_many(2 * EVERY_SECOND);
    const uint64_t done = touch_every_second(EVERY_SECOND, &err);
    if (done < EVERY_SECOND) { /* else the host lets it have more */
        assert_non_null(strstr(err.text, "vm.max_map_count"));
        assert_false(ready(at(2 * done), MMU_ACCESS_READ));
        assert_false(reads(at(2 * done), &(uint8_t){0}));
    }
    assert_true(writes(at(2 * done - 2), 1));
    end();
}

static void userfaults_cut_nothing(void **state)
{
    (void)state;
    struct c2_error err = {0};
    begin(MMU_ENFORCED_BY_USERFAULTS, false);
    map_many(2 * EVERY_SECOND);
    assert_int_equal(touch_every_second(EVERY_SECOND, &err), EVERY_SECOND);
    assert_int_equal(count_pieces(2 * EVERY_SECOND), 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_touches),
        cmocka_unit_test(files_end),
        cmocka_unit_test(loans),
        cmocka_unit_test(code_is_never_executable),
        cmocka_unit_test(far_and_around),
        cmocka_unit_test(checks_can_fail),
        cmocka_unit_test(protection_agrees),
        cmocka_unit_test(userfaults_agree),
        cmocka_unit_test(children_agree),
        cmocka_unit_test(confined_children_agree),
        cmocka_unit_test(zero_pages_survive_forks),
        cmocka_unit_test(pieces_join),
        cmocka_unit_test(pieces_run_out),
        cmocka_unit_test(userfaults_cut_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
