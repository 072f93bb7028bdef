/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Want of memory: the n-th allocation fails, for every n until the task succeeds. Leaks are the sanitizer's to find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caches/caches.h"

/* Every kind of memory a hierarchy takes: hashes, sets with ages and with bits, origins, shadows, lines. */
static struct caches_machine everything(void)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 3, .has_l1i = true};
    machine.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 64 * 8, .ways = 2, .slices = 1};
    machine.l1i = (struct caches_level){
        .name = "L1I", .size_bytes = 64 * 8, .ways = 4, .slices = 1, .policy = CACHES_TREE_PLRU};
    machine.levels[1] = (struct caches_level){
        .name = "L2", .size_bytes = 64 * 64, .ways = 4, .slices = 2, .hash = "lin2", .policy = CACHES_SRRIP};
    machine.levels[2] = (struct caches_level){.name = "L3",
                                              .size_bytes = 64 * 192,
                                              .ways = 8,
                                              .slices = 3,
                                              .hash = "modulo",
                                              .index = CACHES_VIRTUAL,
                                              .inclusion = CACHES_EXCLUSIVE};
    return machine;
}

static struct caches_counts sum_of(const struct caches *caches)
{
    struct caches_counts sum = {0};
    for (uint32_t i = 0; i < 4; i++) {
        const struct caches_counts *level = i < 3 ? caches_level_counts(caches, i) : caches_l1i_counts(caches);
#define X(field, help) sum.field += level->field;
        CACHES_COUNTERS(X)
#undef X
    }
    return sum;
}

/* Lines far apart, so that the footprint's tables have to grow again and again. */
static enum c2_status task(const struct caches_machine *machine, uint64_t *accesses)
{
    struct caches *caches;
    struct c2_error err = {0};
    enum c2_status status = caches_create(&caches, machine, 1, &err);
    if (status != C2_OK) {
        assert_null(caches);
        assert_true(strlen(err.text) > 0);
        return status;
    }
    assert_int_equal(caches_keep_evictors(caches, &err), C2_OK); /* longer rows, no allocation */
    for (uint64_t i = 0; i < 3000; i++) {
        struct line_no line = {i % 700 * 64 + i % 3};
        struct caches_counts before = sum_of(caches);
        status = caches_access(caches, i % 5 == 0 ? CACHES_FETCH : CACHES_DATA, i % 5 == 1, line, line, NULL, &err);
        if (status != C2_OK) {
            struct caches_counts after = sum_of(caches);
            assert_memory_equal(&before, &after, sizeof before);
            assert_int_equal(err.status, status);
            break;
        }
        ++*accesses;
    }
    caches_destroy(caches);
    return status;
}

static void every_allocation(void **state)
{
    (void)state;
    struct caches_machine machine = everything();
    uint64_t most = 0;
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    while (status != C2_OK) {
        uint64_t accesses = 0;
        c2_alloc_fail_from(++n);
        status = task(&machine, &accesses);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        assert_true(accesses >= most); /* more memory, more done */
        most = accesses;
    }
    assert_int_equal(most, 3000);
    assert_true(n > 20); /* it did take memory */
}

/* The error says which level asks for too much. */
static void too_big(void **state)
{
    (void)state;
    struct caches_machine machine = everything();
    struct caches *caches;
    struct c2_error err;
    machine.levels[1].size_bytes = UINT64_C(64) << 27;
    machine.levels[1].ways = 4;
    assert_int_equal(caches_create(&caches, &machine, 1, &err), C2_ERR_UNSUPPORTED);
    assert_null(caches);
    assert_string_equal(err.text, "L2 has 134217728 lines: at most 67108864 are possible");
    caches_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation), cmocka_unit_test(too_big)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
