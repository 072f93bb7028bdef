/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the model cards of caches/ promise is looked at in stress and sanitizer builds: in a child, one thing at a time
 * is made wrong in a hierarchy at work, and the accesses that follow must end with the promise that it breaks. Other
 * builds do not look.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

#if defined(C2_STRESS) || defined(__SANITIZE_ADDRESS__)
#define LOOKED_AT true
#else
#define LOOKED_AT false
#endif

#define LINES 400u

/* L1D has LRU among some of its ways, so by the policy's ages in all builds, L1I a tree, L2 holds all of both, L3 takes
 * L2's victims. In L2 a line has several sets, which makes it a machine of contents_general.c. */
static struct caches *create(void)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 3, .has_l1i = true};
    struct caches *caches;
    machine.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 64 * 8 * 4, .ways = 4, .slices = 1};
    machine.levels[0].mask_count = 1;
    machine.levels[0].masks[0] = (struct caches_mask){.ways = 7};
    machine.l1i = (struct caches_level){
        .name = "L1I", .size_bytes = 64 * 4 * 4, .ways = 4, .slices = 1, .policy = CACHES_TREE_PLRU};
    machine.levels[1] = (struct caches_level){.name = "L2",
                                              .size_bytes = 64 * 15 * 8,
                                              .ways = 8,
                                              .slices = 1,
                                              .index = CACHES_VIRTUAL,
                                              .policy = CACHES_SHIP,
                                              .inclusion = CACHES_INCLUSIVE};
    machine.levels[2] = (struct caches_level){.name = "L3",
                                              .size_bytes = 64 * 16 * 8,
                                              .ways = 8,
                                              .slices = 1,
                                              .policy = CACHES_NRU,
                                              .inclusion = CACHES_EXCLUSIVE};
    assert_int_equal(C2_OK, caches_create(&caches, &machine, 1, NULL));
    assert_int_equal(C2_OK, caches_keep_evictors(caches, NULL));
    return caches;
}

static void work(struct caches *caches, struct c2_rng *rng, unsigned accesses)
{
    struct caches_outcome outcome;
    for (unsigned i = 0; i < accesses; i++) {
        const struct line_no line = {c2_rng_below(rng, LINES)};
        const enum caches_side side = c2_rng_below(rng, 3) == 0 ? CACHES_FETCH : CACHES_DATA;
        caches_set_access_site(caches, i + 1);
        caches_access(caches, side, side == CACHES_DATA && i % 2, line, line, &outcome, NULL);
    }
}

/* The word of a line that a level has, from its first ways on. */
static uint32_t *word_in(struct caches *caches, uint32_t level)
{
    uint32_t *word = caches->level[level].sets.word;
    while (*word == 0)
        word++;
    return word;
}

static uint32_t slot_in(struct caches *caches, uint32_t level) { return cache_sets_tag(*word_in(caches, level)) - 1; }

enum { L1D, L2, L3, L1I };

static void ask(struct caches *caches, enum caches_side side, uint32_t slot)
{
    const struct line_no line = {cache_lines_line(&caches->lines, slot)};
    caches_access(caches, side, false, line, line, NULL, NULL);
}

static void age_ahead(struct caches *caches) { caches->level[L1D].policy.clock -= 100; }

static void tree_astray(struct caches *caches)
{
    struct cache_policy *policy = &caches->level[L1I].policy;
    for (unsigned way = 0; way < policy->ways; way++)
        policy->use[way] = (struct cache_use){policy->use[way ^ 2].keep, policy->use[way ^ 2].set};
}

static void bit_above(struct caches *caches) { caches->level[L1I].policy.use[1].set |= 1u << 9; }

static void none_valid(struct caches *caches)
{
    caches->level[L3].policy.set[1].valid ^= 1;
    caches_check(caches);
}

/* In the set beside the one that it belongs to. */
static void elsewhere(struct caches *caches)
{
    struct cache_level *level = &caches->level[L1I];
    uint32_t *word = level->sets.word + level->sets.stride, *other = level->sets.word;
    while (*word == 0)
        word++;
    *other = *word;
    caches_check(caches);
}

static void not_below(struct caches *caches)
{
    bool dirty = false;
    const uint32_t slot = slot_in(caches, L1D);
    cache_contents_lose(&caches->level[L2], slot, &dirty);
    ask(caches, CACHES_DATA, slot);
}

static void above_too(struct caches *caches)
{
    const uint32_t slot = slot_in(caches, L2);
    struct cache_level *level = &caches->level[L3];
    const uint32_t set = cache_contents_set_of(level, cache_lines_line(&caches->lines, slot));
    level->policy.word[cache_level_choose(level, set + 1)] = cache_sets_word(slot + 1, false);
    ask(caches, CACHES_DATA, slot);
}

static void dirty_code(struct caches *caches)
{
    const uint32_t slot = slot_in(caches, L1I);
    *word_in(caches, L1I) |= CACHE_SETS_DIRTY;
    ask(caches, CACHES_FETCH, slot);
}

static void asked_by_nobody(struct caches *caches) { caches->level[L2].l1_handle.hits[0]++; }

static void one_class_more(struct caches *caches) { caches->classifier->level[L2].said[1][CACHES_CONFLICT]++; }

static void shadow_too_large(struct caches *caches)
{
    struct cache_shadow *shadow = &caches->classifier->level[L2].shadow;
    shadow->live = ++shadow->capacity + 1;
}

static void stamp_ahead(struct caches *caches)
{
    *cache_rows_stamp(&caches->classifier->rows, slot_in(caches, L2), L2) = UINT32_MAX;
}

static void other_group(struct caches *caches)
{
    for (unsigned i = 0; i < LINES_RECENT; i++)
        caches->lines.recent[i].first_slot ^= LINES_GROUP;
    caches->lines.group_key[0] ^= 1;
}

static void lost_unasked(struct caches *caches)
{
    const uint32_t slot = caches_slot(caches, (struct line_no){LINES});
    cache_rows_lose(&caches->classifier->rows, slot, L1D, 7);
    struct caches_outcome outcome;
    caches_access(caches, CACHES_DATA, false, (struct line_no){LINES}, (struct line_no){LINES}, &outcome, NULL);
}

static const struct {
    const char *name;
    void (*make_wrong)(struct caches *caches);
    const char *promise; /* a part of it */
} wrongs[] = {
    {"ways younger than the clock", age_ahead, "age[w] < policy->clock"},
    {"a tree that points to the way just used", tree_astray, "tree_victim(bits, policy->ways) != way"},
    {"a bit that the policy has no use for", bit_above, "(bits & ~own_bits(policy)) == 0"},
    {"a way not known to be full", none_valid, "(set->valid >> w & 1) == (word[w] != 0)"},
    {"a line in another set", elsewhere, "== set"},
    {"an inclusive level without a line from above", not_below, "!cache_contents_find(level->above[i], slot)"},
    {"an exclusive level with a line from above", above_too, "!cache_contents_find(level->apart_from, slot)"},
    {"code that is dirty", dirty_code, "!level->clean && !level->through"},
    {"an access that nobody above missed", asked_by_nobody, "level->counts.accesses == from_above"},
    {"a miss in two classes", one_class_more, "n->conflict + n->coherence == n->misses"},
    {"a shadow larger than its level", shadow_too_large, "shadow->live <= shadow->capacity"},
    {"a line asked for in the future", stamp_ahead, "old < shadow->clock - 1"},
    {"a group that is another's", other_group, "lines->group_key["},
    {"a line lost before it was asked for", lost_unasked, "class_ != CACHES_COLD"},
};

static void child(unsigned i)
{
    struct caches *caches = create();
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "test");
    work(caches, &rng, 5000);
    wrongs[i].make_wrong(caches);
    work(caches, &rng, 20000);
    _exit(0);
}

/* What it says on standard error, and how it ends. */
static int run_child(unsigned i, char *text, size_t bytes)
{
    int ends[2], status;
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        child(i);
    }
    close(ends[1]);
    for (ssize_t got; used + 1 < bytes && (got = read(ends[0], text + used, bytes - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void each_is_noticed(void **state)
{
    (void)state;
    for (unsigned i = 0; LOOKED_AT && i < sizeof wrongs / sizeof wrongs[0]; i++) {
        char text[4096];
        const int status = run_child(i, text, sizeof text);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(text, wrongs[i].promise))
            fail_msg("%s: no promise \"%s\", but %s", wrongs[i].name, wrongs[i].promise, text);
    }
}

/* And what is right is right: the same accesses, nothing made wrong. */
static void nothing_wrong_is_noticed(void **state)
{
    (void)state;
    struct caches *caches = create();
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "test");
    work(caches, &rng, 25000);
    caches_check(caches);
    assert_ptr_equal(caches->level[L3].apart_from, &caches->level[L2]);
    assert_null(caches->level[L2].apart_from);
    assert_int_equal(caches->calls != 0, LOOKED_AT);
    caches_destroy(caches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_noticed),
        cmocka_unit_test(nothing_wrong_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
