/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The hierarchy: the levels of a machine, put together. This file has the life of it, access.c what an access begins
 * with, contents.c what the levels hold then; they leave events, of which classify.c makes classes and outcomes.
 * Without shortcuts (-DC2_NO_SHORTCUTS) no machine is a usual one, and no level has its lines in order of age.
 *
 * Model
 *   Levels are the nodes of a tree whose root is memory: each refers to the one that is asked next. Accesses enter at
 *   ports: data at level 0 (L1D), fetches at L1I, page walks where walks.c says. From level 1 on all share the levels.
 *   Of several cores each has nodes of its own, linked the same way, and the shared levels stand below all of them;
 *   coherence.c says what cores do to each other.
 *   Asking    The levels are asked from the nearest down until one has the line: a level so asked is accessed. A hit
 *             is notified to the level's policy. Memory, number level_count, always has the line.
 *   Filling   The levels that missed are filled from the lowest up to the first, the exclusive ones left out. A fill
 *             takes an empty way before it evicts.
 *   Writing   Write-allocate, write-back: a write dirties the line in level 0 only. Where a level says otherwise:
 *             allocate = no  A store that it misses does not fill it; the next level is asked, as at any miss. Where a
 *                            level above is filled the line comes by, and fills this one too. A store that no level
 *                            takes dirties the line where it is, whose policy sees a hit; else memory has it.
 *             write = through  The level holds nothing dirty. A store that has been done in it - it had the line, or
 *                            was filled - is an access of the next level then, which begins there and goes by the
 *                            rules of that one, and so on down to memory. Dirty victims from above pass it by.
 *             So after a write miss of a level that is filled and writes through, the next one is asked twice: for the
 *             line, and to write it. These are the rules of Dinero IV (its options -walloc a|n and -wback a|n), but
 *             that what is evicted dirty is no access here. No exclusive level may be below such a level or be one, and
 *             no level prefetches: no hardware is known that does so, or what a victim cache would do with stores.
 *   Evicting  The victim of an inclusive level is first taken from every level above (both L1s); a dirty copy makes the
 *             victim dirty. Then, dirty or clean, it is inserted into the next level if
 *             that is exclusive; else, if dirty, it is written down: the next level that has it becomes dirty there
 *             and nothing else changes, neither order nor contents; if none has it, memory takes it.
 *   Exclusive A hit takes the line out, and it goes up to the nearest level above that is not exclusive itself, which
 *             gets its dirtiness; the policy sees no hit. An insertion is a fill, and no access; if the line is there
 *             already it only becomes dirty if the victim was, and no order changes. L1I holds nothing dirty: when a
 *             fetch takes a dirty line out of an exclusive level and would put it into L1I alone, the line is written
 *             down from that level first.
 *   Classes   Every level has a fully associative shadow that sees the accesses of the level and nothing else: no
 *             insertion, no write-back, no invalidation. A miss is cold when the level was never asked for the line
 *             before, a conflict when the shadow has the line, else it is one of capacity.
 *
 *   Evictors  On request each level records for each line which access site made it lose that line last: the caller's
 *   word
 *             for the access site of that time. A level loses a line as the victim of a fill or an insertion, by
 *             back-invalidation, by a hit that moves it up, and for a moment when it takes it over from a synonym's
 *             set. An access gets that word from each level it missed. A line that is filled again keeps the word:
 *             only the next loss changes it. No count and no content depends on it.
 *
 * Counting
 *   accesses, hits, misses and the rest of a level count its being asked; a fetch is a read.
 *   writebacks counts at the level that a dirty victim leaves, once, wherever the data goes: into an exclusive level as
 *   well. back_invalidations counts each copy taken at the inclusive level that took it; that a copy was dirty counts
 *   once, as the inclusive level's write-back.
 *
 * Invariants (check.c)
 *   A level that writes through holds nothing dirty; accesses of a level that programs do not ask = misses of those
 *   above + stores passed on by them + walks that enter at it.
 *   hits + misses = accesses = reads + writes; cold + capacity + conflict + coherence = misses; fa_misses -
 *   fa_only_misses = cold + capacity + coherence; an inclusive level has every line of the levels above; L1I holds
 *   nothing dirty. A level that is not exclusive has lost no line that it was never asked for.
 *   An exclusive level has no line of the level above it, where it gets lines from nowhere else: one level misses into
 *   it, no walk enters at it, it has no synonyms, and the level above, if exclusive, gets its lines likewise. Else two
 *   ways lead past it, and a line may be above and here.
 *
 * Not modelled
 *   Time; what a write does to a copy of its line in the same core's L1I.
 */
#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

static bool virtual_exclusive_below(const struct caches_machine *machine, uint32_t depth)
{
    for (uint32_t i = depth + 1; i < machine->level_count; i++)
        if (machine->levels[i].index == CACHES_VIRTUAL && machine->levels[i].inclusion == CACHES_EXCLUSIVE)
            return true;
    return false;
}

static uint32_t node_count(const struct caches_machine *machine)
{
    const uint32_t own = caches_machine_private(machine) + machine->has_l1i;
    return machine->level_count + machine->has_l1i + (caches_machine_cores(machine) - 1) * own;
}

/* L1I has the depth behind all others. */
static enum c2_status hierarchy_init_level(struct caches *caches, uint32_t core, uint32_t depth, uint64_t seed,
                                           struct c2_error *err)
{
    const struct caches_machine *machine = &caches->machine;
    const bool l1i = depth == machine->level_count;
    const struct caches_level *config = l1i ? &machine->l1i : &machine->levels[depth];
    struct cache_level *level = cache_node(caches, core, depth);
    const uint32_t level_index = (uint32_t)(level - caches->level);
    depth = l1i ? 0 : depth;
    level->number = l1i ? machine->level_count : depth;
    level->depth = depth;
    level->core = core;
    level->above = c2_calloc(caches->node_count, sizeof *level->above);
    if (!level->above)
        return c2_fail_memory(err, "the levels of the caches");
    if (config->index == CACHES_VIRTUAL && machine->line_bytes < C2_PAGE_BYTES)
        caches->page_mask = C2_PAGE_BYTES / machine->line_bytes - 1;
    return cache_level_init(level, machine, config, &caches->lines, level_index,
                            virtual_exclusive_below(machine, depth), seed, err);
}

/* Of the first core all levels, of the others their own. */
static enum c2_status init_core(struct caches *caches, uint32_t core, uint64_t seed, struct c2_error *err)
{
    const struct caches_machine *machine = &caches->machine;
    const uint32_t depths = core == 0 ? machine->level_count : caches->coherence->private_levels;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < depths && status == C2_OK; i++)
        status = hierarchy_init_level(caches, core, i, seed, err);
    return status == C2_OK && machine->has_l1i ? hierarchy_init_level(caches, core, machine->level_count, seed, err)
                                               : status;
}

static enum c2_status init_levels(struct caches *caches, uint64_t seed, struct c2_error *err)
{
    const struct caches_machine *machine = &caches->machine;
    const uint32_t cores = caches_machine_cores(machine);
    caches->level_count = machine->level_count;
    caches->node_count = node_count(machine);
    caches->last[CACHES_DATA] = LINES_NO_SLOT;
    enum c2_status status = cache_lines_init(&caches->lines, err);
    if (status == C2_OK && cores > 1)
        status = cache_coherence_init(caches, err);
    for (uint32_t core = 0; core < cores && status == C2_OK; core++)
        status = init_core(caches, core, seed, err);
    caches->prefetchers = caches_machine_prefetches(machine);
    if (status == C2_OK)
        status = cache_event_log_init(caches, err);
    if (status == C2_OK && caches->prefetchers)
        status = cache_prefetch_init(caches, err);
    caches->usual = status == C2_OK && SHORTCUT(cache_contents_suit(caches));
    return status == C2_OK ? cache_contents_init(caches, err) : status;
}

/* ------------------------------------------------------------------ the graph */

/* What misses in `upper`, and above it, comes to `lower` next. Upper levels are linked before lower ones. */
static void link_levels(struct cache_level *upper, struct cache_level *lower)
{
    upper->next = lower;
    lower->above[lower->above_count++] = upper;
    for (uint32_t i = 0; i < upper->above_count; i++)
        lower->above[lower->above_count++] = upper->above[i];
}

/* Whether an exclusive level has no line of the one above: the model card says why. */
static bool is_apart(const struct caches_machine *machine, const struct cache_level *level,
                     const struct cache_level *above)
{
    const bool fed_twice = (level->depth == 1 && machine->has_l1i) || level->depth == machine->walks_from;
    return level->exclusive && !level->coherent && !fed_twice && !level->synonyms &&
           (!above->exclusive || above->apart_from);
}

/* A core's own levels, and the first one that is shared, are a chain; L1I stands above the second level, if there is
 * one. */
static void link_core(struct caches *caches, uint32_t core)
{
    const struct caches_machine *machine = &caches->machine;
    const uint32_t own = caches_machine_private(machine);
    struct cache_level *l1i = machine->has_l1i ? cache_node(caches, core, machine->level_count) : NULL;
    if (l1i)
        l1i->clean = true;
    if (l1i && machine->level_count > 1)
        link_levels(l1i, cache_node(caches, core, 1));
    for (uint32_t i = 1; i <= own && i < machine->level_count; i++)
        link_levels(cache_node(caches, core, i - 1), cache_node(caches, core, i));
}

/* Below are the shared levels, a chain as well; walks enter where the machine says. */
static void link_all(struct caches *caches)
{
    const struct caches_machine *machine = &caches->machine;
    struct cache_level *level = caches->level, *l1i = machine->has_l1i ? &level[machine->level_count] : NULL;
    for (uint32_t core = 0; core < caches_machine_cores(machine); core++)
        link_core(caches, core);
    for (uint32_t i = caches_machine_private(machine) + 1; i < machine->level_count; i++)
        link_levels(&level[i - 1], &level[i]);
    for (uint32_t i = 1; i < machine->level_count; i++)
        if (is_apart(machine, &level[i], &level[i - 1]))
            level[i].apart_from = &level[i - 1];
    if (caches->coherence && caches->coherence->filter && caches_machine_private(machine) < machine->level_count)
        cache_filter_place(caches->coherence->filter, &level[caches_machine_private(machine)]);
    caches->last_level = &level[machine->level_count - 1];
    caches->port[CACHE_PORT_DATA] = &level[0];
    caches->port[CACHE_PORT_FETCH] = l1i;
    caches->port[CACHE_PORT_WALK] = &level[machine->walks_from];
}

enum c2_status caches_create(struct caches **out, const struct caches_machine *machine, uint64_t seed,
                             struct c2_error *err)
{
    *out = NULL;
    C2_ASSERT(c2_is_power_of_two(machine->line_bytes));
    C2_ASSERT(machine->level_count >= 1 && machine->level_count <= CACHES_MAX_LEVELS);
    C2_ASSERT(machine->levels[0].inclusion == CACHES_NON_INCLUSIVE);
    C2_ASSERT(!machine->has_l1i || machine->l1i.inclusion == CACHES_NON_INCLUSIVE);
    struct caches *caches = c2_calloc(1, sizeof *caches + node_count(machine) * sizeof caches->level[0]);
    if (!caches)
        return c2_fail_memory(err, "the caches");
    caches->machine = *machine;
    caches->writes_on = caches_machine_writes_on(machine);
    caches->signs = caches_machine_hears_instructions(machine);
    C2_ASSERT(!caches->writes_on || !caches_machine_prefetches(machine));
    C2_ASSERT(!machine->has_l1i || (!machine->l1i.through && !machine->l1i.around));
    if (machine->combining == 0)
        caches->machine.combining = CACHES_COMBINING;
    enum c2_status status = init_levels(caches, seed, err);
    if (status != C2_OK) {
        caches_destroy(caches);
        return status;
    }
    link_all(caches);
    cache_contents_link(caches);
    *out = caches;
    return C2_OK;
}

void caches_destroy(struct caches *caches)
{
    if (!caches)
        return;
    for (uint32_t i = 0; i < caches->node_count; i++)
        cache_level_end(&caches->level[i]);
    cache_contents_end(caches);
    cache_event_log_end(caches);
    cache_prefetch_end(caches);
    cache_instructed_end(caches);
    cache_coherence_end(caches);
    cache_lines_end(&caches->lines);
    c2_free(caches);
}

/* ------------------------------------------------------------------ evictors */

enum c2_status caches_keep_evictors(struct caches *caches, struct c2_error *err)
{
    (void)err; /* rows get longer with the first line */
    C2_ASSERT(caches->lines.groups == 0);
    caches->classifier->rows.evictors = CACHE_ROWS_NARROW;
    return C2_OK;
}

void caches_set_access_site(struct caches *caches, uint64_t access_site) { caches->lines.access_site = access_site; }

void caches_set_instruction(struct caches *caches, struct guest_va pc)
{
    caches->lines.pc = pc.v;
    caches->lines.signature = cache_signature(pc.v); /* of an access in steps, which sets no other */
}

/* ------------------------------------------------------------------ getters */

/* They are made of those that contents and classes keep. */
const struct caches_counts *cache_level_counts(const struct caches *caches, uint32_t level_index)
{
    const struct cache_level *level = &caches->level[level_index];
    struct caches_counts *n = (struct caches_counts *)&level->counts; /* what it says stays the same */
    cache_event_log_catch_up((struct caches *)caches);
    const uint64_t(*said)[CACHES_COHERENCE + 1] = caches->classifier->level[level_index].said;
    n->cold = said[1][CACHES_COLD];
    n->capacity = said[1][CACHES_CAPACITY];
    n->conflict = said[1][CACHES_CONFLICT];
    n->coherence = said[1][CACHES_COHERENCE];
    n->fa_only_misses = said[0][CACHES_COLD] + said[0][CACHES_CAPACITY] + said[0][CACHES_COHERENCE];
    n->hits = level->l1_handle.hits[0] + level->l1_handle.hits[1];
    n->reads = level->l1_handle.hits[0] + level->l1_handle.misses[0];
    n->writes = level->l1_handle.hits[1] + level->l1_handle.misses[1];
    n->read_misses = level->l1_handle.misses[0];
    n->write_misses = level->l1_handle.misses[1];
    n->misses = n->read_misses + n->write_misses;
    n->accesses = n->hits + n->misses;
    n->fa_misses = n->cold + n->capacity + n->coherence + n->fa_only_misses;
    return n;
}

const struct caches_counts *caches_level_counts_of(const struct caches *caches, uint32_t core, uint32_t level)
{
    C2_ASSERT(core < caches_machine_cores(&caches->machine) && level < caches->level_count + caches->machine.has_l1i);
    return cache_level_counts(caches, (uint32_t)(cache_node((struct caches *)caches, core, level) - caches->level));
}

/* Of several cores the sum is made on request. */
static const struct caches_counts *counts_of_all(const struct caches *caches, uint32_t level)
{
    const bool own = level == caches->level_count || level < caches_machine_private(&caches->machine);
    if (!caches->coherence || !own)
        return cache_level_counts(caches, level);
    struct caches_counts *sum = &caches->coherence->sums[level];
    uint64_t *words = (uint64_t *)sum;
    *sum = (struct caches_counts){0};
    for (uint32_t core = 0; core < caches->coherence->cores; core++) {
        const uint64_t *counts = (const uint64_t *)caches_level_counts_of(caches, core, level);
        for (size_t i = 0; i < sizeof *sum / sizeof *words; i++)
            words[i] += counts[i];
    }
    return sum;
}

const struct caches_counts *caches_level_counts(const struct caches *caches, uint32_t level)
{
    C2_ASSERT(level < caches->level_count);
    return counts_of_all(caches, level);
}

const struct caches_counts *caches_l1i_counts(const struct caches *caches)
{
    C2_ASSERT(caches->port[CACHE_PORT_FETCH]);
    return counts_of_all(caches, caches->level_count);
}

const struct caches_stored *caches_stored(const struct caches *caches, size_t *count)
{
    *count = caches->stored_count;
    return caches->stored;
}

const struct caches_machine *caches_machine(const struct caches *caches) { return &caches->machine; }
