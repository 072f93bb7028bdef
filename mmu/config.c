/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a placement may be, and what it needs of the guest.
 */
#include "mmu/replica_priv.h"

const char *mmu_huge_name(enum mmu_huge huge)
{
    static const char *const names[] = {[MMU_HUGE_ASKED] = "off",
                                        [MMU_HUGE_NEVER] = "never",
                                        [MMU_HUGE_THP] = "thp",
                                        [MMU_HUGE_HEAP] = "heap",
                                        [MMU_HUGE_ALL] = "all"};
    return (unsigned)huge < sizeof names / sizeof names[0] ? names[huge] : "unknown";
}

static enum c2_status config_check_policy(const struct mmu_config *config, struct c2_error *err)
{
    if (config->age > 1000)
        return c2_fail(err, C2_ERR_INVALID, "the age of buddy placement is %u thousandths: it must be 0 to 1",
                       config->age);
    if (config->placement != MMU_SAME_COLOR && config->placement != MMU_COLORED)
        return C2_OK;
    if (config->colors == 0 || config->colors > MMU_FRAME_LIMIT)
        return c2_fail(err, C2_ERR_INVALID, "the placement policy %s needs at least one page colour, and at most %llu",
                       mmu_placement_name(config->placement), (unsigned long long)MMU_FRAME_LIMIT);
    if (config->placement == MMU_SAME_COLOR && config->color >= config->colors)
        return c2_fail(err, C2_ERR_INVALID, "color=%u does not exist: this machine has %u page colours, 0 to %u",
                       config->color, config->colors, config->colors - 1);
    return C2_OK;
}

enum c2_status mmu_config_check(const struct mmu_config *config, struct c2_error *err)
{
    char size[32];
    uint64_t bytes = config->physical_bytes;
    if (bytes == 0 || bytes % C2_PAGE_BYTES != 0 || bytes > MMU_FRAME_LIMIT * C2_PAGE_BYTES)
        return c2_fail(err, C2_ERR_INVALID,
                       "physical_memory = %s is not allowed: it must be a multiple of 4 KiB, "
                       "at most 1 TiB",
                       c2_size_text(size, bytes));
    enum c2_status status = config_check_policy(config, err);
    for (size_t i = 0; i < config->rule_count && status == C2_OK; i++)
        status = config_check_policy(&config->rules[i].policy, err);
    return status == C2_OK ? rules_check(config, err) : status;
}

/* ------------------------------------------------------------------ what the guest can see */

static enum mmu_page_size heap_page(const struct mmu_config *config)
{
    bool huge = config->huge == MMU_HUGE_HEAP || config->huge == MMU_HUGE_ALL;
    for (size_t i = 0; i < config->huge_region_count; i++)
        huge |= config->huge_regions[i].kind == MMU_REGION_HEAP;
    return !huge ? MMU_PAGE_4K : config->huge_size == MMU_PAGE_1G ? MMU_PAGE_1G : MMU_PAGE_2M;
}

void mmu_config_suit(struct mmu_guest_config *guest, const struct mmu_config *placement)
{
    const enum mmu_page_size page = heap_page(placement);
    if (page > guest->heap_page)
        guest->heap_page = page;
    if (placement->physical_bytes > guest->guest_bytes)
        guest->guest_bytes = placement->physical_bytes;
    guest->tells_writes |= placement->zero_page;
}
