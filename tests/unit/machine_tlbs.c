/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TLBs of the presets, and values of their sections that are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine/machine.h"

#define MACHINES C2_SOURCE_DIR "/machines"

static const struct {
    const char *machine;
    uint32_t count, at;
    struct caches_tlb tlb;
} rows[] = {
    {"sandybridge-ep", 9, 0, {"DTLB-4K", CACHES_TLB_FIRST, 3, 1, 64, 4, CACHES_TREE_PLRU, 0, 0}},
    {"sandybridge-ep", 9, 5, {"STLB", CACHES_TLB_SECOND, 7, 1, 512, 4, CACHES_TREE_PLRU, 0, 7}},
    {"haswell-ep", 9, 5, {"STLB", CACHES_TLB_SECOND, 7, 3, 1024, 8, CACHES_TREE_PLRU, 0, 7}},
    {"skylake", 10, 3, {"ITLB-4K", CACHES_TLB_FIRST, 4, 1, 128, 8, CACHES_TREE_PLRU, 0, 0}},
    {"skylake", 10, 5, {"STLB", CACHES_TLB_SECOND, 7, 3, 1536, 12, CACHES_MRU3_PLRU4, 7, 7}},
    {"skylake-sp", 10, 6, {"STLB-1G", CACHES_TLB_SECOND, 7, 4, 16, 4, CACHES_LRU, 0, 7}},
    {"icelake-sp", 11, 3, {"DTLB-store", CACHES_TLB_FIRST, 2, 7, 16, 16, CACHES_TREE_PLRU, 0, 0}},
    {"icelake-sp", 11, 7, {"STLB-B", CACHES_TLB_SECOND, 7, 5, 1024, 8, CACHES_LRU, 0, 7}},
    {"zen3", 7, 2, {"L2-DTLB", CACHES_TLB_SECOND, 3, 11, 2048, 8, CACHES_LRU, 0, 7}},
    {"zen4", 7, 6, {"PDC", CACHES_TLB_WALK, 7, 48, 64, 64, CACHES_LRU, 0, 0}},
    {"teach", 4, 2, {"STLB", CACHES_TLB_SECOND, 7, 3, 32, 4, CACHES_LRU, 0, 6}},
    {"teach", 4, 3, {"PSC-PDE", CACHES_TLB_WALK, 7, 8, 4, 4, CACHES_LRU, 0, 0}},
};

static void presets_have_their_tlbs(void **state)
{
    (void)state;
    struct caches_machine machine;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(machine_read(&machine, rows[i].machine, MACHINES, NULL, 0, NULL), C2_OK);
        const struct caches_tlb *is = &machine.tlbs[rows[i].at], *want = &rows[i].tlb;
        assert_int_equal(machine.tlb_count, rows[i].count);
        assert_false(machine.walks_cached);
        assert_string_equal(is->name, want->name);
        assert_int_equal(is->place, want->place);
        assert_int_equal(is->sides, want->sides);
        assert_int_equal(is->holds, want->holds);
        assert_int_equal(is->entries, want->entries);
        assert_int_equal(is->ways, want->ways);
        assert_int_equal(is->policy, want->policy);
        assert_int_equal(is->fold, want->fold);
        assert_int_equal(is->latency_cycles, want->latency_cycles);
    }
    assert_int_equal(machine_read(&machine, "c2sim", MACHINES, NULL, 0, NULL), C2_OK);
    assert_int_equal(machine.tlb_count, 0);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *set, *why;
    } bad[] = {
        {"STLB.pages=4K+8K", "\"8K\" is not known"},
        {"STLB.pages=4K+4K", "4K stands there twice"},
        {"STLB.pages=4K+", "\"\" is not known"},
        {"DTLB.pages=4K+PDE", "a first level holds 4K, 2M and 1G pages only"},
        {"DTLB.pages=2M", "no first-level TLB holds 4K pages for loads"},
        {"PSC-PDE.pages=4K", "a page-walk cache holds PDEs, PDPTEs and PML4Es only"},
        {"STLB.pages=4K+PDE", "[STLB] and [PSC-PDE] hold the same pointers"},
        {"STLB.entries=24", "24 entries of 4 ways are no power of two of sets"},
        {"STLB.policy=mru3-plru4", "policy mru3-plru4 needs 12 ways, not 4"},
        {"STLB.index=vpn[3:0]", "has 8 sets: the index takes the lowest 3 bits"},
        {"STLB.index=vpn[2:0]^vpn[4:2]", "has 8 sets: the index takes the lowest 3 bits"},
        {"STLB.index=vpn[2:0]x", "is not of the form"},
        {"walks.mode=free", "\"free\" is not known (known: counted, cached)"},
        {"walks.latency=1000001", "--set walks.latency=1000001: 1000001 is out of range: 0 to 1000000"},
        {"walks.from=L1I", "\"L1I\" is not known (did you mean \"L1D\"?)"},
        {"walks.from=L4", "--set walks.from=L4: there is no L4: walks enter at one of the machine's levels, L3 at the"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct caches_machine machine;
        struct c2_error err = {0};
        assert_int_equal(machine_read(&machine, "teach", MACHINES, &bad[i].set, 1, &err), C2_ERR_INVALID);
        if (!strstr(err.text, bad[i].why))
            fail_msg("--set %s: %s", bad[i].set, err.text);
    }
}

static void walks_enter_where_told(void **state)
{
    (void)state;
    static const char *const sets[] = {"walks.from=L1D", "walks.from=L2", "walks.from=L3"};
    for (uint32_t i = 0; i < 3; i++) {
        struct caches_machine machine;
        assert_int_equal(machine_read(&machine, "teach", MACHINES, &sets[i], 1, NULL), C2_OK);
        assert_int_equal(machine.walks_from, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_have_their_tlbs),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(walks_enter_where_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
