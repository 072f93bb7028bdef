/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contents: what the levels hold, access by access.
 *
 * Model
 *   The rules are those of hierarchy.c. What a level has is in its sets and nowhere else. A level with true LRU that
 *   may fill all ways has the lines of a set in order of age (sets.c); of others the words of a set stay where they
 *   are, and policy.c says which has to leave.
 *   Usual is a machine of one core without prefetchers, where every level keeps what is written and takes what it
 *   misses, and where a line has one set in each level. Policies may be any, and levels inclusive, exclusive or
 *   neither. What else machines do is in contents_general.c. A usual one becomes one of those when it meets the first
 *   instruction made for caches (instructed.c); its lines stay where they are.
 *   A miss leaves behind the end of the event log what a compact record of it has: the levels that missed, and which
 *   lines had to leave them; and before that which lines exclusive levels have lost besides. All else - shadows,
 *   classes, evictors, outcomes - is said later of what is written down of it (event_log.c, classify.c), and changes
 *   nothing here.
 *
 * Counting
 *   Hits and misses by reads and writes, write-backs, back-invalidations. The rest of a level's counts is made of these
 *   and of the classes when it is asked for (cache_level_counts).
 *
 * Forms
 *   The rules are written once (contents_rules.h), and compiled for each set of the host's instructions that compares
 *   and shifts the words of a set: contents_avx512.c, contents_avx2.c, contents_sse2.c, and contents_scalar.c, which is
 *   the slow twin of the others. The host's best is taken. In each they are compiled for any usual machine; and what
 *   begins at a first level of eight ways, as most have, with these as a constant. There a miss that the second level
 *   serves is a part of the function that found it, and needs no stack; its rule is in l1_handle_simd.h, as the loop of
 *   sim/ has it too. No content and no count is another.
 *
 * Invariants (cache_contents_check, cache_line_holds)
 *   Those of hierarchy.c: an inclusive level has every line of the levels above, an exclusive one none, where the card
 *   says so, L1I has nothing dirty. A line is in the set that it belongs to. Those of sets and policies.
 *
 * Not modelled
 *   See hierarchy.c.
 */
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

/* ------------------------------------------------------------------ life */

static bool suits(const struct cache_level *level) { return !level->keeps_names && !level->through && !level->around; }

bool cache_contents_suit(const struct caches *caches)
{
    bool suit = !caches->coherence && !caches->prefetch;
    for (uint32_t i = 0; i < caches->node_count; i++)
        suit &= suits(&caches->level[i]);
    return suit;
}

/* The words of the policy are the sets. */
static struct cache_sets contents_sets_of(const struct cache_policy *policy)
{
    const uint32_t stride = 1u << policy->way_bits;
    return (struct cache_sets){
        .word = policy->word + stride, .stride = stride, .ways = policy->ways, .set_count = policy->set_count};
}

enum c2_status cache_contents_init(struct caches *caches, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < caches->node_count && status == C2_OK; i++) {
        struct cache_level *level = &caches->level[i];
        level->plain = level->power_of_two && !level->hash;
        level->hashed = SHORTCUT(level->power_of_two && level->hash && !level->hash->modulo &&
                                 c2_is_power_of_two(level->divisor) && level->line_shift == HASH_LINE_SHIFT);
        level->divisor_shift = c2_log2(level->divisor);
        level->ordered = SHORTCUT(level->policy.kind == CACHES_LRU && !level->allowed);
        if (level->ordered)
            status = cache_sets_init(&level->sets, level->policy.ways, level->policy.set_count, err);
        else
            level->sets = contents_sets_of(&level->policy);
    }
    cache_contents_use(caches, cache_contents_best());
    return status;
}

void cache_contents_end(struct caches *caches)
{
    for (uint32_t i = 0; i < caches->node_count; i++)
        cache_sets_end(&caches->level[i].sets);
}

bool cache_contents_reach(struct caches *caches)
{
    bool reached = true;
    for (uint32_t i = 0; i < caches->node_count; i++) {
        struct cache_level *level = &caches->level[i];
        if (level->keeps_names)
            reached &= cache_lines_cover(&caches->lines, (void **)&level->names, &level->names_room,
                                         LINES_GROUP * sizeof *level->names);
    }
    return reached;
}

/* ------------------------------------------------------------------ forms */

static const struct cache_form *const forms[CACHE_FORMS] = {&cache_form_scalar, &cache_form_sse2, &cache_form_avx2,
                                                            &cache_form_avx512};

bool cache_contents_has(unsigned form)
{
    __builtin_cpu_init();
    switch (form) {
    case CACHE_FORM_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    case CACHE_FORM_AVX2:
        return __builtin_cpu_supports("avx2");
    default: /* x86-64 has SSE2 */
        return true;
    }
}

unsigned cache_contents_best(void)
{
    unsigned form = CACHE_FORM_AVX512;
    while (!cache_contents_has(form))
        form--;
    return form;
}

const struct cache_form *cache_contents_form(const struct caches *caches) { return forms[caches->form]; }

static bool is_by_age(const struct cache_level *level) { return level->ordered && level->plain && !level->exclusive; }

/* A miss of this first level that the second has is a matter of the two sets alone. */
static bool serves(const struct cache_level *level)
{
    return level->depth == 0 && is_by_age(level) && level->next && is_by_age(level->next);
}

/* See struct cache_form. */
static bool has_eight(const struct caches *caches)
{
    bool has = caches->level_count > 1 && is_by_age(&caches->level[1]);
    for (uint32_t i = 0; i < caches->node_count; i++)
        if (caches->level[i].depth == 0)
            has &= is_by_age(&caches->level[i]) && caches->level[i].sets.ways == CACHE_EIGHT;
    return has;
}

void cache_contents_use(struct caches *caches, unsigned name)
{
    C2_ASSERT(name < CACHE_FORMS && cache_contents_has(name));
    const struct cache_form *form = forms[name];
    const bool eight = form->eight && has_eight(caches);
    caches->form = name;
    caches->access_any = form->any;
    caches->access = eight ? form->eight : form->any;
    caches->missed = eight ? form->eight_missed : form->any_missed;
    cache_contents_link(caches);
}

/* Where the sets of a level are found by the low bits of a line, and there are any, the handle says where; else no line
 * is there. */
void cache_contents_link(struct caches *caches)
{
    static uint32_t nothing = CACHE_SETS_NOTHING;
    for (uint32_t i = 0; i < caches->node_count; i++) {
        struct cache_level *level = &caches->level[i];
        struct caches_l1_handle *l1_handle = &level->l1_handle;
        l1_handle->caches = caches;
        l1_handle->event_log = &caches->event_log.end;
        l1_handle->level_index_word = (uint64_t)level->number << CACHES_EVENT_LOG_LEVEL_INDEX;
        l1_handle->missed = l1_handle->level_index_word | EVENT_LOG_COMPACT_FIRST;
        l1_handle->word = &nothing;
        l1_handle->set_mask = l1_handle->stride = l1_handle->ways = 0;
        l1_handle->notified = LINES_NO_SLOT;
        l1_handle->youngest = NULL;
        l1_handle->others = caches->usual ? caches->access : cache_untried;
        l1_handle->missing = caches->missed;
        l1_handle->missing_further = forms[caches->form]->further;
        l1_handle->wrote = forms[caches->form]->wrote;
        l1_handle->second = caches->usual && serves(level) ? &level->next->l1_handle : NULL;
        l1_handle->second_ways = l1_handle->second ? level->next->sets.ways : 0;
        if (!caches->usual || !level->plain || !level->ordered)
            continue;
        l1_handle->word = level->sets.word;
        l1_handle->set_mask = level->set_count - 1;
        l1_handle->stride = level->sets.stride;
        l1_handle->ways = level->sets.ways;
    }
}

/* ------------------------------------------------------------------ invariants */

void cache_contents_check(const struct caches *caches)
{
    for (uint32_t i = 0; i < caches->node_count; i++) {
        const struct cache_level *level = &caches->level[i];
        if (level->ordered)
            cache_sets_check(&level->sets);
        else
            cache_policy_check(&level->policy);
        for (uint32_t set = 0; set < level->sets.set_count; set++)
            for (uint32_t place = 0; place < level->sets.ways; place++) {
                const uint32_t word = cache_sets_at(&level->sets, set)[place];
                const uint32_t slot = cache_sets_tag(word) - 1;
                C2_ASSERT(word == 0 ||
                          cache_contents_set_with(level, slot, cache_lines_line(level->lines, slot)) == set);
            }
    }
}
