/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cost: the cycles that accesses of something would wait one after the other.
 *
 * Model
 *   The prices are the machine's (caches/cost.c). What something has cost is the sum over its misses by class, its
 *   translations with the reads of their walks, and its coherence misses with its upgrades; without those of start-up,
 *   whose cost is a sum of its own: libraries are loaded and bound whatever the program does.
 *   A translation and an upgrade cost the instruction and the object whose access waited; the misses of walks that go
 *   through the caches cost the instruction, and the page tables.
 *   Parts of the text are left out where what they are about has cost too little: a part says how many per cent of the
 *   cost that is. Misses of TLBs are shown when there is one in RARE instructions or fewer.
 *
 * Counting
 *   Whole cycles, so that every order and share is the same everywhere.
 *
 * Invariants (asserted when a report is made)
 *   The costs of all objects, of all functions, of all lines and of all loops each add up to the run's by its counts.
 */
#include "analyses/digest.h"

static void cost_add_tally(struct digest_sums *to, const struct analyses_tally *tally)
{
    const uint64_t cold = tally->reads[ANALYSES_COLD] + tally->writes[ANALYSES_COLD];
    const uint64_t capacity = tally->reads[ANALYSES_CAPACITY] + tally->writes[ANALYSES_CAPACITY];
    const uint64_t conflict = tally->reads[ANALYSES_CONFLICT] + tally->writes[ANALYSES_CONFLICT];
    to->cold += cold;
    to->capacity += capacity;
    to->conflict += conflict;
    to->misses += cold + capacity + conflict;
    to->placement += tally->placement;
    to->framed += tally->framed;
}

static void cost_add_taken(struct digest_sums *to, const struct analyses_taken *taken)
{
    to->coherence += taken->reads + taken->writes;
    to->misses += taken->reads + taken->writes;
    to->upgrades += taken->upgrades;
}

static void cost_add_sums(struct digest_sums *to, const struct digest_sums *from)
{
    to->misses += from->misses;
    to->cold += from->cold;
    to->capacity += from->capacity;
    to->conflict += from->conflict;
    to->coherence += from->coherence;
    to->upgrades += from->upgrades;
    to->placement += from->placement;
    to->framed += from->framed;
}

/* ------------------------------------------------------------------ in cycles */

static uint64_t coherence_cycles(const struct caches_costs *costs, uint32_t number, const struct digest_sums *sums)
{
    return sums->coherence * costs->taken[number] + sums->upgrades * costs->upgrade;
}

static void cost_add_parts(struct caches_cost *to, const struct digest *digest, const struct digest_sums *levels,
                           const struct analyses_translations *tlb)
{
    const struct caches_costs *costs = &digest->costs;
    for (size_t i = 0; i < digest->level_count; i++) {
        const uint32_t number = digest->levels[i].number;
        to->caches += (levels[i].misses - levels[i].coherence) * costs->miss[number];
        to->coherence += coherence_cycles(costs, number, &levels[i]);
    }
    to->translations += tlb->misses * costs->second_tlb;
    to->walks += tlb->reads * costs->walk_read;
}

static void cost_weigh(struct digest_missed *missed, const struct digest *digest)
{
    struct caches_cost loading = {.caches = 0};
    missed->parts = (struct caches_cost){.caches = 0};
    cost_add_parts(&missed->parts, digest, missed->levels, &missed->tlb);
    cost_add_parts(&loading, digest, missed->startup, &missed->tlb_startup);
    missed->cold = missed->capacity = missed->conflict = 0;
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_sums *all = &missed->levels[i], *startup = &missed->startup[i];
        const uint64_t cycles = digest->levels[i].miss_cycles;
        missed->cold += (all->cold - startup->cold) * cycles;
        missed->capacity += (all->capacity - startup->capacity) * cycles;
        missed->conflict += (all->conflict - startup->conflict) * cycles;
    }
    missed->translation = missed->parts.translations + missed->parts.walks - loading.translations - loading.walks;
    missed->coherence = missed->parts.coherence - loading.coherence;
    missed->loading = caches_cost_sum(&loading);
    missed->own = missed->cold + missed->capacity + missed->conflict + missed->translation + missed->coherence;
}

/* ------------------------------------------------------------------ sums */

static void add_tallies(struct digest_missed *to, const struct digest *digest, const struct analyses_tally *tallies,
                        const struct analyses_tally *startup)
{
    for (size_t i = 0; i < digest->level_count; i++) {
        cost_add_tally(&to->levels[i], &tallies[digest->levels[i].number]);
        cost_add_tally(&to->startup[i], &startup[digest->levels[i].number]);
    }
}

/* NULL: the machine has one core. */
static void add_takens(struct digest_missed *to, const struct digest *digest, const struct analyses_taken *taken,
                       const struct analyses_taken *startup)
{
    for (size_t i = 0; i < digest->level_count && taken; i++) {
        cost_add_taken(&to->levels[i], &taken[digest->levels[i].number]);
        cost_add_taken(&to->startup[i], &startup[digest->levels[i].number]);
    }
}

static void cost_add_translations(struct analyses_translations *to, const struct analyses_translations *from)
{
    to->misses += from->misses;
    to->walks += from->walks;
    to->reads += from->reads;
}

void digest_add_object(struct digest_missed *to, const struct digest *digest, const struct analyses_object *object)
{
    add_tallies(to, digest, object->level, object->startup);
    add_takens(to, digest, object->taken, object->taken_startup);
    cost_add_translations(&to->tlb, &object->tlb);
    cost_add_translations(&to->tlb_startup, &object->tlb_startup);
    cost_weigh(to, digest);
}

void digest_add_row(struct digest_missed *to, const struct digest *digest, const struct analyses_row *row)
{
    add_tallies(to, digest, row->level, row->startup);
    add_takens(to, digest, row->taken, row->taken_startup);
    cost_add_translations(&to->tlb, &row->tlb);
    cost_add_translations(&to->tlb_startup, &row->tlb_startup);
    cost_weigh(to, digest);
}

void digest_add_missed(struct digest_missed *to, const struct digest_missed *from)
{
    for (size_t i = 0; i < DIGEST_LEVELS; i++) {
        cost_add_sums(&to->levels[i], &from->levels[i]);
        cost_add_sums(&to->startup[i], &from->startup[i]);
    }
    to->cold += from->cold;
    to->capacity += from->capacity;
    to->conflict += from->conflict;
    to->translation += from->translation;
    to->coherence += from->coherence;
    caches_cost_add(&to->parts, &from->parts);
    to->own += from->own;
    to->loading += from->loading;
    cost_add_translations(&to->tlb, &from->tlb);
    cost_add_translations(&to->tlb_startup, &from->tlb_startup);
}

/* ------------------------------------------------------------------ of a run */

struct caches_cost digest_run_cost(const struct analyses_run *run)
{
    const struct caches_costs costs = caches_costs(run->machine);
    struct digest_level levels[DIGEST_LEVELS];
    struct caches_cost cost = {.caches = 0};
    const size_t count = digest_levels(levels, run);
    for (size_t i = 0; i < count; i++)
        caches_cost_level(&cost, &costs, levels[i].number, levels[i].counts);
    if (run->tlb) {
        cost.translations = run->measured->tlb_misses * costs.second_tlb;
        cost.walks = run->measured->walks.reads * costs.walk_read;
    }
    if (caches_machine_cores(run->machine) > 1)
        cost.coherence += run->measured->upgrades * costs.upgrade;
    return cost;
}

static bool same_cost(const struct caches_cost *a, const struct caches_cost *b)
{
    return a->caches == b->caches && a->translations == b->translations && a->walks == b->walks &&
           a->coherence == b->coherence;
}

static void check_ranking(const struct digest_ranking *ranking, const struct caches_cost *whole)
{
    struct caches_cost sum = {.caches = 0};
    for (uint32_t i = 0; i < ranking->count; i++) {
        const struct digest_missed *missed = &ranking->list[i].missed;
        C2_ASSERT(caches_cost_sum(&missed->parts) == missed->own + missed->loading);
        caches_cost_add(&sum, &missed->parts);
    }
    C2_ASSERT(same_cost(&sum, whole));
}

void digest_check_cost(const struct digest *digest)
{
    const struct caches_cost whole = digest_run_cost(digest->run);
    check_ranking(&digest->objects, &whole);
    check_ranking(&digest->functions, &whole);
    check_ranking(&digest->lines, &whole);
    if (digest->loops.count != 0)
        check_ranking(&digest->loops, &whole);
}

/* ------------------------------------------------------------------ order, and marks */

int digest_by_cost(const struct digest_missed *a, const struct digest_missed *b)
{
    if (a->own != b->own)
        return a->own > b->own ? -1 : 1;
    return (a->loading < b->loading) - (a->loading > b->loading);
}

/* How many of BAR marks the first `part` of `whole` have, rounded half up. */
static unsigned marks(uint64_t part, uint64_t whole)
{
    return (unsigned)(((unsigned __int128)part * 2 * DIGEST_BAR + whole) / ((unsigned __int128)whole * 2));
}

char *digest_class_bar(char *buffer, const struct digest_missed *missed)
{
    const uint64_t parts[] = {missed->cold, missed->capacity, missed->conflict, missed->translation, missed->coherence};
    unsigned length = 0;
    uint64_t sum = 0;
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0] && missed->own != 0; i++) {
        sum += parts[i];
        for (const unsigned end = marks(sum, missed->own); length < end; length++)
            buffer[length] = DIGEST_MARKS[i];
    }
    buffer[length] = '\0';
    return buffer;
}

/* ------------------------------------------------------------------ what the text leaves out */

#define NOTICEABLE 100u
#define RARE 200u /* instructions to a translation that is missed */

uint64_t digest_whole_cost(const struct digest *digest) { return digest->missed.own + digest->missed.loading; }

bool digest_noticeable(const struct digest *digest, uint64_t cost)
{
    return cost != 0 && cost >= (digest->missed.own + NOTICEABLE - 1) / NOTICEABLE;
}

/* What the user's code has cost; without a profile nothing is known of start-up. */
static uint64_t own_cost(const struct digest *digest)
{
    const struct caches_cost cost = digest_run_cost(digest->run);
    return digest->profile ? digest->missed.own : caches_cost_sum(&cost);
}

bool digest_shows(const struct digest *digest, uint64_t cost, unsigned per_cent)
{
    return digest->run->full ||
           (cost != 0 && (unsigned __int128)cost * 100 >= (unsigned __int128)own_cost(digest) * per_cent);
}

bool digest_shows_code(const struct digest *digest)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        const uint64_t misses = digest->profile ? digest->missed.levels[i].misses - digest->missed.startup[i].misses
                                                : level->counts->misses;
        cost += level->code ? misses * level->miss_cycles : 0;
    }
    return digest_shows(digest, cost, 1);
}

bool digest_tlbs_matter(const struct digest *digest)
{
    const struct analyses_run *run = digest->run;
    const struct digest_missed *all = &digest->missed;
    if (!run->tlb)
        return false;
    const uint64_t misses = digest->profile ? all->tlb.misses - all->tlb_startup.misses : run->measured->walks.count;
    return misses != 0 && misses >= run->counts->instructions / RARE;
}

/* Huge pages are there for the TLBs. */
bool digest_shows_tlbs(const struct digest *digest)
{
    const struct mmu_config *placement = digest->run->placement;
    return digest->run->full || placement->huge != MMU_HUGE_ASKED || placement->huge_region_count != 0 ||
           digest_tlbs_matter(digest);
}
