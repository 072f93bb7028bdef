/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * remedies: what is to be simulated for each finding, and what that makes of the list.
 *
 * Model
 *   set conflicts     Of an object with itself: longer rows, of blocks of a site longer blocks. With another: the two
 *                     start half of the level's sets apart, and longer rows. Where the level is indexed by physical
 *                     addresses each of these also in pages of 2 MiB.
 *   page placement    Coloured pages; the object in pages of 2 MiB.
 *   translations      The object in pages of 2 MiB.
 *   false sharing     Each core's part a line.
 *   partial lines     The bytes of elements that the finding's loop uses, in an array of their own.
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
 * Invariants
 *   The list is the one that the run's report has, but for gains and the order.
 */
#include "findings/findings_priv.h"

#define NEEDED 2u

struct wishes {
    struct findings_wishes *out;
    const struct finding *of;
    const struct caches_machine *machine;
    const struct analyses_profile_result *profile;
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
        wish_means(wishes, (blocks ? ANALYSES_PAD_BLOCKS : ANALYSES_PAD_ROWS) | more);
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
static void wish_room(struct wishes *wishes)
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
        break;
    case FINDINGS_TLB:
        wish_means(wishes, ANALYSES_HUGE);
        break;
    case FINDINGS_FALSE_SHARING:
        wish_apart(wishes);
        break;
    case FINDINGS_PARTIAL_LINES:
        wish(wishes, &(struct analyses_wish){.means = ANALYSES_SPLIT,
                                             .element_bytes = wishes->of->element_bytes,
                                             .apart = wishes->of->used});
        break;
    case FINDINGS_POINTER_CHASING:
        wish_order(wishes);
        break;
    case FINDINGS_CAPACITY:
        wish_room(wishes);
        break;
    default:
        break;
    }
}

void findings_wish(struct findings_wishes *out, struct findings *findings,
                   const struct analyses_profile_result *profile, const struct caches_machine *machine)
{
    struct wishes wishes = {.out = out, .profile = profile, .machine = machine};
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

/* The most that a proposal of the finding spares, of those in pages of 2 MiB besides or of the others. */
static uint64_t most_spared(const struct finding *finding, bool besides, const struct tried *tried, bool *any)
{
    uint64_t best = 0;
    for (uint32_t i = 0; i < tried->count && finding->number < 64; i++) {
        const struct analyses_proposal *proposal = &tried->proposals[i];
        const bool is_besides = (proposal->means & ANALYSES_HUGE) && proposal->means != ANALYSES_HUGE;
        if (tried->outcomes[i].status != C2_OK || (proposal->wishes >> finding->number & 1) == 0 ||
            is_besides != besides)
            continue;
        const uint64_t after = caches_cost_sum(&tried->outcomes[i].cost);
        best = after < tried->before && tried->before - after > best ? tried->before - after : best;
        *any = true;
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

static void settle(struct finding *finding, const struct tried *tried)
{
    bool any = false;
    const uint64_t plain = most_spared(finding, false, tried, &any), huge = most_spared(finding, true, tried, &any);
    if (!any)
        return;
    finding->in_huge_pages = huge / NEEDED > plain;
    finding->gain = finding->in_huge_pages ? huge : plain;
    finding->gained = FINDINGS_SIMULATED;
    if (finding->pattern == FINDINGS_CAPACITY)
        settle_room(finding, tried);
}

void findings_settle(struct findings *findings, const struct analyses_proposal *proposals,
                     const struct analyses_outcome *outcomes, uint32_t count, const struct analyses_outcome *before)
{
    const struct tried tried = {proposals, outcomes, count, caches_cost_sum(&before->cost)};
    for (uint32_t i = 0; i < findings->count; i++)
        settle(&findings->list[i], &tried);
    findings_sort(findings);
}
