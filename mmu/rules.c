/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Which rule a page belongs to: for placement (config.rules) and for huge pages (config.huge_regions) alike. A page
 *   is looked at when it is touched first, as what it is then: a page of a mapping that was executable, or of the heap,
 *   and is so no more keeps its frame.
 *     rank      an object goes before a file, a file before the other regions; of two in one rank that hold the page,
 *               the first. (Of the other regions, no page is in two.)
 *     objects   a page goes by the rule of an object that has a byte in it, small or huge: neighbours in the page go
 *               with the object. A huge page is wished for an object only where it lies in the object's pages whole.
 * Counting
 *   placed_by[0] counts what no rule places, placed_by[1 + i] what rules[i] does; enlarged_by likewise for the huge
 *   regions, its last row for what none of them wished.
 * Cost
 *   A walk over the rules at each first touch.
 */
#include <limits.h>
#include <string.h>

#include "mmu/replica_priv.h"

/* As in enum mmu_region_kind. */
static const char *const words[] = {"heap", "stack", "mmap", "text"};
#define WORD_COUNT (sizeof words / sizeof words[0])

const char *const *mmu_region_words(size_t *count)
{
    *count = WORD_COUNT;
    return words;
}

bool mmu_region_of_word(struct mmu_region *out, const char *word)
{
    for (unsigned i = 0; i < WORD_COUNT; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = (struct mmu_region){.kind = (enum mmu_region_kind)i, .name = words[i]};
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------ matching */

static bool names_file(const char *name, const char *path)
{
    size_t length = strlen(name), whole = strlen(path);
    if (length > whole || strcmp(path + whole - length, name) != 0)
        return false;
    return strchr(name, '/') || length == whole || path[whole - length - 1] == '/';
}

static unsigned rules_rank(enum mmu_region_kind kind)
{
    C2_PROMISE(kind <= MMU_REGION_OBJECT);
    return kind == MMU_REGION_OBJECT ? 0 : kind == MMU_REGION_FILE ? 1 : 2;
}

/* Whether the region has a byte in the page of `bytes` at start; whole: has all its pages. */
static bool rules_holds(const struct mmu_region *region, const struct area *area, uint64_t start, uint64_t bytes,
                        bool whole)
{
    C2_PROMISE(start % C2_PAGE_BYTES == 0 && bytes % C2_PAGE_BYTES == 0);
    const char *path = area->view.path;
    uint64_t end = region->start + region->bytes;
    switch (region->kind) {
    case MMU_REGION_HEAP:
        return area->view.kind == MMU_HEAP;
    case MMU_REGION_STACK:
        return area->view.kind == MMU_STACK;
    case MMU_REGION_MMAP:
        return area->view.kind == MMU_ANONYMOUS;
    case MMU_REGION_TEXT:
        return path && area->view.prot & MMU_EXEC;
    case MMU_REGION_FILE:
        return path && names_file(region->name, path);
    case MMU_REGION_OBJECT:
        if (whole)
            return c2_align_down(region->start, C2_PAGE_BYTES) <= start &&
                   start + bytes <= c2_align_up(end, C2_PAGE_BYTES);
        return region->start < start + bytes && start < end;
    }
    return false;
}

size_t rules_policy_of(const struct mmu_config *config, const struct area *area, uint64_t start,
                       enum mmu_page_size size)
{
    C2_PROMISE(start % mmu_page_bytes(size) == 0);
    size_t best = 0;
    unsigned best_rank = UINT_MAX;
    for (size_t i = 0; i < config->rule_count; i++) {
        const struct mmu_region *region = &config->rules[i].region;
        if (rules_rank(region->kind) < best_rank && rules_holds(region, area, start, mmu_page_bytes(size), false)) {
            best = i + 1;
            best_rank = rules_rank(region->kind);
        }
    }
    return best;
}

size_t rules_huge_region_of(const struct mmu_config *config, const struct area *area, uint64_t start,
                            enum mmu_page_size size)
{
    C2_PROMISE(start % mmu_page_bytes(size) == 0);
    size_t count = config->huge_region_count, best = count;
    unsigned best_rank = UINT_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct mmu_region *region = &config->huge_regions[i];
        if (rules_rank(region->kind) < best_rank && rules_holds(region, area, start, mmu_page_bytes(size), true)) {
            best = i;
            best_rank = rules_rank(region->kind);
        }
    }
    return best;
}

/* ------------------------------------------------------------------ what cannot be */

static bool same_region(const struct mmu_region *a, const struct mmu_region *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

static enum c2_status rules_check_pair(const struct mmu_rule *a, const struct mmu_rule *b, struct c2_error *err)
{
    if (same_region(&a->region, &b->region))
        return c2_fail(err, C2_ERR_INVALID, "there are two placement rules for %s; leave one out", a->region.name);
    return C2_OK;
}

static enum c2_status rules_check_ages(const struct mmu_config *config, struct c2_error *err)
{
    const struct mmu_config *first = config->placement == MMU_BUDDY ? config : NULL;
    for (size_t i = 0; i < config->rule_count; i++) {
        const struct mmu_config *policy = &config->rules[i].policy;
        if (policy->placement != MMU_BUDDY)
            continue;
        if (first && first->age != policy->age)
            return c2_fail(err, C2_ERR_INVALID,
                           "the rule for %s has buddy with another age than %s: a machine has one "
                           "page allocator, and it has one age; give both the same",
                           config->rules[i].region.name, first == config ? "--pages" : "a rule before it");
        first = policy;
    }
    return C2_OK;
}

static enum c2_status check_huge(const struct mmu_config *config, size_t i, struct c2_error *err)
{
    C2_ASSERT(i < config->huge_region_count);
    const struct mmu_region *region = &config->huge_regions[i];
    if (config->huge == MMU_HUGE_NEVER)
        return c2_fail(err, C2_ERR_INVALID, "huge pages for %s and never contradict each other", region->name);
    if (config->huge == MMU_HUGE_ALL)
        return c2_fail(err, C2_ERR_INVALID, "huge pages for all have those for %s in them; leave one out",
                       region->name);
    if (config->huge == MMU_HUGE_HEAP && region->kind == MMU_REGION_HEAP)
        return c2_fail(err, C2_ERR_INVALID, "huge pages for heap are asked for twice; leave one out");
    if (region->kind == MMU_REGION_FILE || region->kind == MMU_REGION_TEXT)
        return c2_fail(err, C2_ERR_INVALID, "%s cannot have huge pages: pages of mapped files are always of 4 KiB",
                       region->name);
    for (size_t k = 0; k < i; k++) {
        if (same_region(region, &config->huge_regions[k]))
            return c2_fail(err, C2_ERR_INVALID, "huge pages for %s are asked for twice; leave one out", region->name);
    }
    return C2_OK;
}

enum c2_status rules_check(const struct mmu_config *config, struct c2_error *err)
{
    enum c2_status status = rules_check_ages(config, err);
    for (size_t i = 0; i < config->rule_count; i++) {
        for (size_t k = 0; k < i && status == C2_OK; k++)
            status = rules_check_pair(&config->rules[i], &config->rules[k], err);
    }
    for (size_t i = 0; i < config->huge_region_count && status == C2_OK; i++)
        status = check_huge(config, i, err);
    return status;
}

const char *rules_phrase(char *buffer, size_t bytes, const struct mmu_config *config, size_t by)
{
    C2_ASSERT(by <= config->rule_count);
    snprintf(buffer, bytes, "%s%s", by > 0 ? ", by the rule for " : "",
             by > 0 ? config->rules[by - 1].region.name : "");
    return buffer;
}

/* ------------------------------------------------------------------ counts */

enum c2_status rules_create(struct mmu_replica *replica, struct c2_error *err)
{
    C2_ASSERT(!replica->placed_by && !replica->enlarged_by);
    replica->placed_by = c2_calloc(replica->config.rule_count + 1, sizeof *replica->placed_by);
    replica->enlarged_by = c2_calloc(replica->config.huge_region_count + 1, sizeof *replica->enlarged_by);
    return replica->placed_by && replica->enlarged_by ? C2_OK : c2_fail_memory(err, "the counts of placement rules");
}

void rules_release(struct mmu_replica *replica)
{
    c2_free(replica->placed_by);
    c2_free(replica->enlarged_by);
}

void rules_count(struct mmu_rule_counts *counts, enum mmu_page_size size)
{
    counts->small_pages += size == MMU_PAGE_4K;
    counts->huge_2m += size == MMU_PAGE_2M;
    counts->huge_1g += size == MMU_PAGE_1G;
}

const struct mmu_rule_counts *mmu_replica_rule_counts(const struct mmu_replica *replica, size_t rule)
{
    C2_ASSERT(rule <= replica->config.rule_count);
    return &replica->placed_by[rule + 1];
}

const struct mmu_rule_counts *mmu_replica_region_counts(const struct mmu_replica *replica, size_t huge_region)
{
    C2_ASSERT(huge_region <= replica->config.huge_region_count);
    return &replica->enlarged_by[huge_region];
}
