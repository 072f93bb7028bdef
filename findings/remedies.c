/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * remedies: what is to be simulated for each finding, and what that makes of the list.
 *
 * Model
 *   set conflicts     Of an object with itself: rows longer by a line, or by an element where a declaration has one
 *                     that is smaller; of blocks of a site longer blocks. With another: the two
 *                     start half of the level's sets apart, and longer rows. Where the level is indexed by physical
 *                     addresses each of these also in pages of 2 MiB.
 *   page placement    Coloured pages; the object in pages of 2 MiB. And drawn frames once more, DRAWS times: that is no
 *                     remedy, but shows how much of the placement is luck.
 *   translations      The object in pages of 2 MiB. Not of a site with many blocks: to have these in large pages is to
 *                     have all of the heap there, and by themselves they would leave the lines that they share.
 *   false sharing     Each core's part a line.
 *   partial lines     The bytes of elements that the finding's loops use, in an array of their own. Not each field
 *                     in one of its own.
 *   pointer chasing   Nodes in the order in which the finding's instruction comes to them first: of a site with many
 *                     blocks these, side by side as in a pool; else elements of the array.
 *   capacity          A level that holds the loops' objects beside what it has held: what work in blocks finds there
 *                     from the second pass on. It may help other findings too: what counts is at most the capacity
 *                     misses of this one.
 *   What is asked for and cannot be laid out - the object is no matter of the program, rows are not known - is left
 *   out by the plan (analyses/advice_plan.c), and the finding keeps its estimate.
 *   A finding's gain is what the best of its remedies spares of the cost of the whole run, start-up included: it may
 *   be more than the finding's own cost, where a remedy helps others too. One that spares nothing has a gain of 0.
 *   What pages of 2 MiB spare beside longer rows or other starts is mostly translations, and another finding's: they
 *   are a part of the remedy where less than one part in NEEDED is spared without them.
 *
 *   Of layouts that spare as much but for one part in NEARLY, the one counts that most findings want.
 *   Findings of one pattern that the same layout helps most are one: the first of them in the run's report, with the
 *   cost of all.
 *
 * Invariants
 *   The list has what the run's report has, but for gains, the order, and what is one now.
 */
#include "findings/findings_priv.h"

#define NEEDED 2u
#define NEARLY 100u
#define DRAWS 3u

struct wishes {
    struct findings_wishes *out;
    const struct finding *of;
    const struct caches_machine *machine;
    const struct analyses_profile_result *profile;
    bool drawn; /* the frames of the pages */
};

static void wish(struct wishes *wishes, const struct analyses_wish *what)
{
    if (wishes->out->count == ANALYSES_PROPOSALS)
        return;
    struct analyses_wish *added = &wishes->out->list[wishes->out->count++];
    *added = *what;
    added->number = wishes->of->number;
    added->object = wishes->of->object;
    added->level = wishes->of->level == FINDINGS_NOBODY ? 0 : wishes->of->level;
}

static void wish_means(struct wishes *wishes, unsigned means)
{
    wish(wishes, &(struct analyses_wish){.means = means, .other = wishes->of->evictor});
}

/* Rows longer by a line, and by an element where that is less; without rows that are known, by a line. */
static void remedies_wish_rows(struct wishes *wishes, unsigned more)
{
    const struct finding *of = wishes->of;
    struct analyses_wish rows = {
        .means = ANALYSES_PAD_ROWS | more, .row_bytes = of->row_bytes, .pad_bytes = of->padding};
    wish(wishes, &rows);
    rows.pad_bytes = of->padding_unit;
    if (rows.pad_bytes != 0 && more == 0)
        wish(wishes, &rows);
}

static void wish_spread(struct wishes *wishes)
{
    const struct finding *of = wishes->of;
    const bool blocks = wishes->profile->objects[of->object].blocks > 1;
    const bool level = of->level < wishes->machine->level_count;
    const bool physical = level && wishes->machine->levels[of->level].index == CACHES_PHYSICAL;
    for (unsigned huge = 0; huge <= physical; huge++) {
        const unsigned more = huge ? ANALYSES_HUGE : 0;
        if (of->evictor != FINDINGS_NOBODY && of->evictor != of->object && level)
            wish_means(wishes, ANALYSES_STAGGER | more);
        if (blocks)
            wish_means(wishes, ANALYSES_PAD_BLOCKS | more);
        else
            remedies_wish_rows(wishes, more);
    }
}

static void wish_apart(struct wishes *wishes)
{
    const uint32_t line = wishes->machine->line_bytes, padding = wishes->of->padding;
    if (padding != 0 && padding < line)
        wish(wishes,
             &(struct analyses_wish){.means = ANALYSES_PAD_ROWS, .row_bytes = line - padding, .pad_bytes = padding});
}

/* The nodes in the order of the walk; those of an array are its elements, or lines where these are not known. */
static void wish_order(struct wishes *wishes)
{
    const struct finding *of = wishes->of;
    const struct analyses_object *object = &wishes->profile->objects[of->object];
    const uint64_t element = of->element_bytes == 0 ? wishes->machine->line_bytes : of->element_bytes;
    const bool blocks = object->blocks > 1;
    if (wishes->out->count == ANALYSES_PROPOSALS || !analyses_movable(object))
        return;
    struct analyses_walk *walk = &wishes->out->walks[wishes->out->walk_count++];
    *walk = (struct analyses_walk){.object = of->object, .pc = of->pc, .element_bytes = blocks ? 0 : element};
    wish(wishes, &(struct analyses_wish){.means = ANALYSES_IN_ORDER,
                                         .element_bytes = blocks ? object->bytes / object->blocks : element,
                                         .walk = walk});
}

/* Every pass but the first finds its data where work in blocks would have left it. Further objects of the same loops
 * are taken to be as large as the one that is known of them. */
static void remedies_wish_room(struct wishes *wishes)
{
    const struct finding *of = wishes->of;
    const struct analyses_object *objects = wishes->profile->objects;
    const uint64_t others = of->others == 0 ? 0 : of->others * objects[of->other].bytes;
    if (of->level < wishes->machine->level_count)
        wish(wishes, &(struct analyses_wish){.means = ANALYSES_ROOM, .room_bytes = objects[of->object].bytes + others});
}

static void wish_remedies(struct wishes *wishes)
{
    switch (wishes->of->pattern) {
    case FINDINGS_SET_CONFLICTS:
        wish_spread(wishes);
        break;
    case FINDINGS_PAGE_PLACEMENT:
        if (wishes->of->level < wishes->machine->level_count)
            wish_means(wishes, ANALYSES_COLORED);
        wish_means(wishes, ANALYSES_HUGE);
        for (uint32_t i = 1; wishes->drawn && i <= DRAWS; i++)
            wish(wishes, &(struct analyses_wish){.means = ANALYSES_REDRAWN, .draw = i});
        break;
    case FINDINGS_TLB:
        if (wishes->profile->objects[wishes->of->object].blocks <= 1)
            wish_means(wishes, ANALYSES_HUGE);
        break;
    case FINDINGS_FALSE_SHARING:
        wish_apart(wishes);
        break;
    case FINDINGS_PARTIAL_LINES:
        if (wishes->of->by_field)
            break;
        wish(wishes, &(struct analyses_wish){.means = ANALYSES_SPLIT,
                                             .element_bytes = wishes->of->element_bytes,
                                             .apart = wishes->of->used});
        break;
    case FINDINGS_POINTER_CHASING:
        wish_order(wishes);
        break;
    case FINDINGS_CAPACITY:
        remedies_wish_room(wishes);
        break;
    default:
        break;
    }
}

void findings_wish(struct findings_wishes *out, struct findings *findings,
                   const struct analyses_profile_result *profile, const struct caches_machine *machine,
                   const struct mmu_config *placement)
{
    struct wishes wishes = {
        .out = out, .profile = profile, .machine = machine, .drawn = !findings_placed_in_order(placement)};
    out->count = out->walk_count = 0;
    for (uint32_t i = 0; i < findings->count; i++) {
        wishes.of = &findings->list[i];
        findings->list[i].number = i;
        if (wishes.of->object != FINDINGS_NOBODY && i < 64)
            wish_remedies(&wishes);
    }
}

/* ------------------------------------------------------------------ when they have been tried */

struct tried {
    const struct analyses_proposal *proposals;
    const struct analyses_outcome *outcomes;
    uint32_t count;
    uint64_t before; /* the cost of the run as it was */
};

struct best {
    uint64_t spared;
    uint32_t layout; /* NOBODY: none was tried */
};

static uint64_t spared_by(const struct tried *tried, uint32_t layout)
{
    const uint64_t after = caches_cost_sum(&tried->outcomes[layout].cost);
    return after < tried->before ? tried->before - after : 0;
}

/* A proposal of the finding that was simulated, in pages of 2 MiB besides or not. */
static bool remedies_is_own(const struct finding *finding, bool besides, const struct tried *tried, uint32_t layout)
{
    const struct analyses_proposal *proposal = &tried->proposals[layout];
    const bool is_besides = (proposal->means & ANALYSES_HUGE) && proposal->means != ANALYSES_HUGE;
    return finding->number < 64 && tried->outcomes[layout].status == C2_OK && proposal->means != ANALYSES_REDRAWN &&
           (proposal->wishes >> finding->number & 1) != 0 && is_besides == besides;
}

/* Whether the one is to be preferred where both spare nearly as much: of longer rows the shorter ones, else the one
 * that spares more. */
static bool is_preferred(const struct tried *tried, uint32_t layout, uint32_t to)
{
    const struct analyses_proposal *a = &tried->proposals[layout], *b = &tried->proposals[to];
    const uint64_t pad = a->changes[0].pad_bytes, other = b->changes[0].pad_bytes;
    if (a->means == b->means && (a->means & ANALYSES_PAD_ROWS) && a->change_count == 1 && b->change_count == 1 &&
        a->changes[0].object == b->changes[0].object && pad != other)
        return pad < other;
    return spared_by(tried, layout) > spared_by(tried, to);
}

/* Of those that spare nearly as much as the best does, the one that most findings want; of these the one preferred. */
static struct best best_of(const struct finding *finding, bool besides, const struct tried *tried)
{
    struct best best = {0, FINDINGS_NOBODY};
    uint64_t most = 0;
    int wanted = 0;
    for (uint32_t i = 0; i < tried->count; i++)
        if (remedies_is_own(finding, besides, tried, i) && spared_by(tried, i) > most)
            most = spared_by(tried, i);
    for (uint32_t i = 0; i < tried->count; i++) {
        const uint64_t spared = spared_by(tried, i);
        const int by = __builtin_popcountll(tried->proposals[i].wishes);
        if (!remedies_is_own(finding, besides, tried, i) || (most - spared) * NEARLY > most || by < wanted ||
            (by == wanted && best.layout != FINDINGS_NOBODY && !is_preferred(tried, i, best.layout)))
            continue;
        best = (struct best){spared, i};
        wanted = by;
    }
    return best;
}

/* Work in blocks, of this finding alone, leaves all but its own capacity misses as they are. */
static void settle_room(struct finding *finding, const struct tried *tried)
{
    for (uint32_t i = 0; i < tried->count && finding->number < 64; i++)
        if (tried->outcomes[i].status == C2_OK && (tried->proposals[i].wishes >> finding->number & 1) != 0)
            finding->room_bytes = tried->proposals[i].room_bytes;
    if (finding->gain > finding->parts.capacity)
        finding->gain = finding->parts.capacity;
}

/* What the run costs with other frames, at least and at most, itself included. */
static void settle_luck(struct finding *finding, const struct tried *tried)
{
    finding->luck_now = finding->luck_least = finding->luck_most = tried->before;
    finding->draws = 0;
    for (uint32_t i = 0; i < tried->count && finding->number < 64; i++) {
        const struct analyses_proposal *proposal = &tried->proposals[i];
        if (proposal->means != ANALYSES_REDRAWN || tried->outcomes[i].status != C2_OK ||
            (proposal->wishes >> finding->number & 1) == 0)
            continue;
        const uint64_t cost = caches_cost_sum(&tried->outcomes[i].cost);
        finding->draws++;
        finding->luck_least = cost < finding->luck_least ? cost : finding->luck_least;
        finding->luck_most = cost > finding->luck_most ? cost : finding->luck_most;
    }
}

/* The rows that were simulated: the smallest padding that helps as much as any. */
static void settle_rows(struct finding *finding, const struct analyses_proposal *proposal)
{
    for (uint32_t i = 0; (proposal->means & ANALYSES_PAD_ROWS) && i < proposal->change_count; i++) {
        if (proposal->changes[i].object != finding->object || proposal->changes[i].pad_bytes == 0)
            continue;
        finding->row_bytes = proposal->changes[i].row_bytes;
        finding->padding = (uint32_t)proposal->changes[i].pad_bytes;
    }
}

static void settle_starts(struct finding *finding, const struct analyses_proposal *proposal)
{
    if ((proposal->means & ANALYSES_STAGGER) == 0 || proposal->change_count == 0)
        return;
    finding->apart_bytes = proposal->step_bytes;
    finding->apart_of = proposal->changes[0].align;
}

static void remedies_settle(struct finding *finding, const struct tried *tried)
{
    const struct best plain = best_of(finding, false, tried), huge = best_of(finding, true, tried);
    finding->layout = FINDINGS_NOBODY;
    if (finding->pattern == FINDINGS_PAGE_PLACEMENT)
        settle_luck(finding, tried);
    if (plain.layout == FINDINGS_NOBODY && huge.layout == FINDINGS_NOBODY)
        return;
    finding->in_huge_pages = huge.spared / NEEDED > plain.spared;
    finding->gain = finding->in_huge_pages ? huge.spared : plain.spared;
    finding->layout = finding->in_huge_pages ? huge.layout : plain.layout;
    finding->gained = FINDINGS_SIMULATED;
    if (finding->pattern == FINDINGS_CAPACITY)
        settle_room(finding, tried);
    if (finding->pattern != FINDINGS_SET_CONFLICTS || finding->gain == 0)
        return;
    settle_rows(finding, &tried->proposals[finding->layout]);
    settle_starts(finding, &tried->proposals[finding->layout]);
}

/* Gains of work in blocks are each finding's own. */
static bool has_one_remedy(const struct finding *a, const struct finding *b)
{
    return a->pattern == b->pattern && a->pattern != FINDINGS_CAPACITY && a->layout == b->layout && a->gain != 0 &&
           a->layout != FINDINGS_NOBODY;
}

static void remedies_join(struct finding *to, const struct finding *more)
{
    to->cost += more->cost;
    to->misses += more->misses;
    to->walks += more->walks;
    findings_cost_add(&to->parts, &more->parts);
    findings_add_object(to, more->object);
}

/* What one layout spares is one finding: the dearest of them has the cost of all. */
static void join_remedies(struct findings *findings)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < findings->count; i++) {
        uint32_t to = 0;
        while (to < kept && !has_one_remedy(&findings->list[to], &findings->list[i]))
            to++;
        if (to < kept)
            remedies_join(&findings->list[to], &findings->list[i]);
        else
            findings->list[kept++] = findings->list[i];
    }
    findings->count = kept;
}

void findings_settle(struct findings *findings, const struct analyses_proposal *proposals,
                     const struct analyses_outcome *outcomes, uint32_t count, const struct analyses_outcome *before)
{
    const struct tried tried = {proposals, outcomes, count, caches_cost_sum(&before->cost)};
    for (uint32_t i = 0; i < findings->count; i++)
        remedies_settle(&findings->list[i], &tried);
    join_remedies(findings);
    findings_sort(findings);
}
