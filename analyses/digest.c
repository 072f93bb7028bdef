/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * digest: what was counted and what the profile has found, summed and sorted for the chapters of a report.
 *
 * Model
 *   The profile has rows (instruction, object) with a tally a level, and pairs of rows (victim, evictor). Objects,
 *   functions and lines are sums of rows; a victim is all pairs of one row at one level.
 *   A line belongs to the function that holds its code: inlined elsewhere it is another. Lines are those of the
 *   innermost code; charged is the line of the user's own code that it was inlined into. An instruction whose line is
 *   not known is a line of its own. Instructions that never missed are in none.
 *
 * Counting
 *   Summed over objects, lines, or functions, the misses of a level are what the caches counted; summed over victims
 *   its conflict misses are.
 *
 * Invariants
 *   Every order is total, so the same profile gives the same report.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/digest.h"
#include "analyses/names.h"

/* Ascending and descending order of two values of any arithmetic type. */
#define UP(a, b) (((a) > (b)) - ((a) < (b)))
#define DOWN(a, b) UP(b, a)

/* ------------------------------------------------------------------ levels, in their order */

static struct digest_level digest_level_of(const struct analyses_run *run, const struct caches_costs *costs,
                                           uint32_t depth, bool code)
{
    const struct caches_machine *machine = run->machine;
    const uint32_t number = code ? machine->level_count : depth;
    const struct analyses_fifo_counts *fifo = run->found[ANALYSIS_fifo];
    return (struct digest_level){.level = code ? &machine->l1i : &machine->levels[depth],
                                 .counts = code ? run->l1i : run->levels[depth],
                                 .fifo = fifo ? &fifo[number] : NULL,
                                 .depth = depth,
                                 .number = number,
                                 .miss_cycles = costs->miss[number],
                                 .code = code};
}

size_t digest_levels(struct digest_level out[DIGEST_LEVELS], const struct analyses_run *run)
{
    const struct caches_costs costs = caches_costs(run->machine);
    size_t count = 0;
    for (uint32_t depth = 0; depth < run->machine->level_count; depth++) {
        out[count++] = digest_level_of(run, &costs, depth, false);
        if (depth == 0 && run->machine->has_l1i)
            out[count++] = digest_level_of(run, &costs, depth, true);
    }
    return count;
}

/* ------------------------------------------------------------------ order */

/* NULL goes before every text. */
static int digest_by_text(const char *a, const char *b)
{
    if (SHORTCUT(a == b)) /* names are kept once each: most of those compared are one */
        return 0;
    return !a || !b ? UP(!!a, !!b) : strcmp(a, b);
}

int digest_by_place(const struct loader_place *a, const struct loader_place *b)
{
    int order = digest_by_text(a->object, b->object);
    if (order == 0)
        order = digest_by_text(a->function, b->function);
    if (order == 0)
        order = digest_by_text(a->file, b->file);
    if (order == 0)
        order = UP(a->line, b->line);
    return order != 0 || a->file ? order : UP(a->offset, b->offset);
}

static int analyses_digest_by_place(const void *left, const void *right)
{
    const struct digest_ranked *a = left, *b = right;
    const int order = digest_by_place(&a->place, &b->place);
    return order != 0 ? order : UP(a->pc.v, b->pc.v);
}

static int analyses_digest_by_cost(const void *left, const void *right)
{
    const struct digest_ranked *a = left, *b = right;
    int order = digest_by_cost(&a->missed, &b->missed);
    if (order == 0)
        order = DOWN(a->executed, b->executed);
    if (order == 0)
        order = analyses_digest_by_place(a, b);
    return order != 0 ? order : UP(a->number, b->number);
}

static void digest_rank(struct digest_ranking *ranking)
{
    if (ranking->count != 0)
        qsort(ranking->list, ranking->count, sizeof *ranking->list, analyses_digest_by_cost);
}

/* ------------------------------------------------------------------ objects */

static enum c2_status digest_make_objects(struct digest *digest, struct c2_error *err)
{
    const struct analyses_profile_result *profile = digest->profile;
    struct digest_ranking *objects = &digest->objects;
    objects->list = c2_calloc(profile->object_count + 1, sizeof *objects->list);
    if (!objects->list)
        return c2_fail_memory(err, "the objects of a report");
    for (size_t i = 0; i < profile->object_count; i++) {
        struct digest_ranked *object = &objects->list[objects->count++];
        object->of = &profile->objects[i];
        object->number = (uint32_t)i;
        digest_add_object(&object->missed, digest, object->of);
        digest_add_missed(&digest->missed, &object->missed);
    }
    digest_rank(objects);
    return C2_OK;
}

/* ------------------------------------------------------------------ functions and lines */

static void add_ranked(struct digest_ranked *to, const struct digest_ranked *from)
{
    if (from->dearest_cost > to->dearest_cost) {
        to->dearest = from->dearest;
        to->dearest_cost = from->dearest_cost;
    }
    to->executed += from->executed;
    to->reads += from->reads;
    to->writes += from->writes;
    digest_add_missed(&to->missed, &from->missed);
}

/* An access that asked the first level and found the line is a row without a miss. Translations are missed too. */
static bool has_missed(const struct digest_missed *missed)
{
    return missed->own + missed->loading + missed->tlb.misses != 0;
}

/* Where an instruction is summed: neighbours of one place are one. NULL: no memory. */
static struct digest_ranked *digest_reach(struct digest_ranking *to, const struct loader_place *place,
                                          struct guest_va pc, uint32_t insn)
{
    if (to->count == 0 || digest_by_place(&to->list[to->count - 1].place, place) != 0) {
        if (!c2_grow((void **)&to->list, &to->room, to->count, sizeof *to->list))
            return NULL;
        to->list[to->count++] = (struct digest_ranked){
            .place = *place, .pc = pc, .dearest = pc, .number = to->numbers++};
    }
    to->number_of[insn] = to->numbers - 1;
    return &to->list[to->count - 1];
}

static bool digest_add_to_line(struct digest_ranking *lines, const struct loader_place *place, struct guest_va pc,
                               uint32_t number, const struct digest_missed *missed)
{
    struct digest_ranked *line = digest_reach(lines, place, pc, number);
    if (!line)
        return false;
    if (missed->own > line->dearest_cost) {
        line->dearest = pc;
        line->dearest_cost = missed->own;
    }
    digest_add_missed(&line->missed, missed);
    return true;
}

static bool append_line(struct digest *digest, uint32_t number, const struct digest_missed *missed)
{
    const struct guest_va pc = digest->profile->insns[number].pc;
    struct loader_place place = {.function = NULL};
    names_place(&place, digest->run, pc);
    if (!digest_add_to_line(&digest->lines, &place, pc, number, missed))
        return false;
    names_charge(&place, digest->run, pc);
    return digest_add_to_line(&digest->charged, &place, pc, number, missed);
}

/* Of the function only its names are known. missed: NULL of an instruction without a row. */
static bool append_function(struct digest *digest, uint32_t number, const struct digest_missed *missed)
{
    const struct analyses_insn *insn = &digest->profile->insns[number];
    struct loader_place place = {.function = NULL};
    if (digest->run->symbols)
        loader_symbol_of(digest->run->symbols, insn->pc, &place);
    place = (struct loader_place){.object = place.object, .function = place.function};
    struct digest_ranked *function = digest_reach(&digest->functions, &place, (struct guest_va){0}, number);
    if (!function)
        return false;
    function->executed += insn->executed;
    function->reads += insn->reads;
    function->writes += insn->writes;
    if (missed)
        digest_add_missed(&function->missed, missed);
    return true;
}

static bool digest_add_insn(struct digest *digest, uint32_t number, const struct digest_missed *missed)
{
    if (!append_function(digest, number, missed))
        return false;
    digest->lines.number_of[number] = digest->charged.number_of[number] = UINT32_MAX;
    digest->cost_of[number] = missed ? missed->own + missed->loading : 0;
    return !missed || !has_missed(missed) || append_line(digest, number, missed);
}

/* Most instructions have no row: what they have missed, 1.2 KB of sums, is not even cleared. */
static enum c2_status digest_collect(struct digest *digest, struct c2_error *err)
{
    const struct analyses_profile_result *profile = digest->profile;
    struct digest_missed missed;
    size_t row = 0;
    for (size_t i = 0; i < profile->insn_count; i++) {
        const bool any = row < profile->row_count && profile->rows[row].insn == i;
        if (any)
            missed = (struct digest_missed){.own = 0};
        for (; row < profile->row_count && profile->rows[row].insn == i; row++)
            digest_add_row(&missed, digest, &profile->rows[row]);
        if (!digest_add_insn(digest, (uint32_t)i, any ? &missed : NULL))
            return c2_fail_memory(err, "the functions and lines of a report");
    }
    return C2_OK;
}

/* Those of one place become one; joined: room for the number that each then has. */
static void digest_join(struct digest_ranking *ranking, uint32_t *joined, size_t insn_count)
{
    uint32_t kept = 0;
    if (ranking->count != 0)
        qsort(ranking->list, ranking->count, sizeof *ranking->list, analyses_digest_by_place);
    for (uint32_t i = 0; i < ranking->count; i++) {
        if (kept > 0 && digest_by_place(&ranking->list[kept - 1].place, &ranking->list[i].place) == 0)
            add_ranked(&ranking->list[kept - 1], &ranking->list[i]);
        else
            ranking->list[kept++] = ranking->list[i];
        joined[ranking->list[i].number] = ranking->list[kept - 1].number;
    }
    ranking->count = kept;
    for (size_t i = 0; i < insn_count; i++)
        if (ranking->number_of[i] != UINT32_MAX)
            ranking->number_of[i] = joined[ranking->number_of[i]];
    digest_rank(ranking);
}

static enum c2_status make_functions_and_lines(struct digest *digest, struct c2_error *err)
{
    const size_t count = digest->profile->insn_count;
    struct digest_ranking *const rankings[] = {&digest->functions, &digest->lines, &digest->charged};
    uint32_t *joined = c2_alloc((count + 1) * sizeof *joined);
    digest->cost_of = c2_alloc((count + 1) * sizeof *digest->cost_of);
    bool full = !joined || !digest->cost_of;
    for (size_t i = 0; i < 3; i++) {
        rankings[i]->number_of = c2_alloc((count + 1) * sizeof *rankings[i]->number_of);
        full |= !rankings[i]->number_of;
    }
    enum c2_status status = full ? c2_fail_memory(err, "the functions and lines of a report")
                                 : digest_collect(digest, err);
    for (size_t i = 0; i < 3 && status == C2_OK; i++)
        digest_join(rankings[i], joined, count);
    c2_free(joined);
    return status;
}

/* ------------------------------------------------------------------ loops */

/* One for each that ran, by its number, and one behind them for what is in none. */
static void name_loops(struct digest *digest, const struct analyses_loops_result *found)
{
    struct digest_ranking *loops = &digest->loops;
    for (uint32_t i = 0; i <= found->count; i++) {
        struct digest_ranked *loop = &loops->list[loops->count++];
        loop->number = i;
        if (i == found->count)
            continue;
        loop->loop = &found->loops[i];
        loop->pc = loop->loop->header;
        names_loop_place(&loop->place, digest->run, loop->loop);
    }
}

static void digest_sum_loops(struct digest *digest, const struct analyses_loops_result *found)
{
    const struct analyses_profile_result *profile = digest->profile;
    size_t row = 0;
    for (size_t i = 0; i < profile->insn_count; i++) {
        const struct analyses_insn *insn = &profile->insns[i];
        const uint32_t number = found->loop_of[i] == ANALYSES_NO_LOOP ? found->count : found->loop_of[i];
        digest->loops.number_of[i] = number;
        struct digest_ranked one = {.executed = insn->executed, .reads = insn->reads, .writes = insn->writes};
        for (; row < profile->row_count && profile->rows[row].insn == i; row++)
            digest_add_row(&one.missed, digest, &profile->rows[row]);
        add_ranked(&digest->loops.list[number], &one);
    }
}

static enum c2_status make_loops(struct digest *digest, struct c2_error *err)
{
    const struct analyses_loops_result *found = digest->run->found[ANALYSIS_loops];
    if (!found)
        return C2_OK;
    digest->loops.list = c2_calloc(found->count + (size_t)1, sizeof *digest->loops.list);
    digest->loops.number_of = c2_alloc((digest->profile->insn_count + 1) * sizeof *digest->loops.number_of);
    digest->loops.numbers = found->count + 1;
    if (!digest->loops.list || !digest->loops.number_of)
        return c2_fail_memory(err, "the loops of a report");
    name_loops(digest, found);
    digest_sum_loops(digest, found);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < digest->loops.count; i++)
        if (digest->loops.list[i].executed != 0 || has_missed(&digest->loops.list[i].missed))
            digest->loops.list[kept++] = digest->loops.list[i];
    digest->loops.count = kept;
    digest_rank(&digest->loops);
    return C2_OK;
}

/* ------------------------------------------------------------------ conflict misses */

/* By victim; the profile's own order has all levels' largest pairs first. The level numbers of the profile sort L1I
 * behind the others; victims are put into report order later. */
static int by_victim(const void *left, const void *right)
{
    const struct analyses_pair *a = *(const struct analyses_pair *const *)left;
    const struct analyses_pair *b = *(const struct analyses_pair *const *)right;
    int order = UP(a->level, b->level);
    if (order == 0)
        order = UP(a->victim, b->victim);
    if (order == 0)
        order = DOWN(a->count, b->count);
    return order != 0 ? order : UP(a->evictor, b->evictor);
}

static int digest_by_count(const void *left, const void *right)
{
    const struct digest_victim *a = left, *b = right;
    int order = UP(a->level, b->level);
    if (order == 0)
        order = DOWN(a->count, b->count);
    return order != 0 ? order : UP(a->row, b->row);
}

static size_t reported_level(const struct digest *digest, uint32_t number)
{
    size_t level = 0;
    while (digest->levels[level].number != number)
        C2_ASSERT(++level < digest->level_count);
    return level;
}

static void group_pairs(struct digest *digest)
{
    for (size_t i = 0; i < digest->profile->pair_count; i++) {
        const struct analyses_pair *pair = digest->pairs[i], *before = i > 0 ? digest->pairs[i - 1] : NULL;
        if (!before || before->level != pair->level || before->victim != pair->victim)
            digest->victims[digest->victim_count++] = (struct digest_victim){
                .level = reported_level(digest, pair->level), .row = pair->victim, .pairs = &digest->pairs[i]};
        struct digest_victim *victim = &digest->victims[digest->victim_count - 1];
        victim->count += pair->count;
        victim->pair_count++;
    }
}

static enum c2_status make_victims(struct digest *digest, struct c2_error *err)
{
    const size_t count = digest->profile->pair_count;
    digest->pairs = c2_calloc(count + 1, sizeof(const struct analyses_pair *));
    digest->victims = c2_calloc(count + 1, sizeof *digest->victims);
    digest->evicted = c2_calloc(digest->objects.count + 1, sizeof *digest->evicted);
    if (!digest->pairs || !digest->victims || !digest->evicted)
        return c2_fail_memory(err, "the conflicts of a report");
    for (size_t i = 0; i < count; i++)
        digest->pairs[i] = &digest->profile->pairs[i];
    qsort(digest->pairs, count, sizeof(const struct analyses_pair *), by_victim);
    group_pairs(digest);
    qsort(digest->victims, digest->victim_count, sizeof *digest->victims, digest_by_count);
    return C2_OK;
}

/* The place of the evicting object in `evicted`: behind all objects stands the unknown one. */
static size_t evicting_object(const struct digest *digest, const struct analyses_pair *pair)
{
    return pair->evictor == ANALYSES_NOBODY ? digest->objects.count : digest->profile->rows[pair->evictor].object;
}

struct digest_share digest_main_evictor(struct digest *digest, const struct digest_victim *victim)
{
    const struct analyses_pair *most = NULL;
    uint64_t count = 0;
    for (size_t i = 0; i < victim->pair_count; i++)
        digest->evicted[evicting_object(digest, victim->pairs[i])] += victim->pairs[i]->count;
    for (size_t i = 0; i < victim->pair_count; i++) {
        const uint64_t evicted = digest->evicted[evicting_object(digest, victim->pairs[i])];
        if (evicted > count) {
            most = victim->pairs[i];
            count = evicted;
        }
    }
    for (size_t i = 0; i < victim->pair_count; i++)
        digest->evicted[evicting_object(digest, victim->pairs[i])] = 0;
    const size_t object = evicting_object(digest, most);
    return (struct digest_share){object == digest->objects.count ? ANALYSES_NOBODY : (uint32_t)object, most->reason,
                                 count};
}

/* ------------------------------------------------------------------ all of it */

enum c2_status digest_make(struct digest *out, const struct analyses_run *run, struct c2_error *err)
{
    *out = (struct digest){.run = run, .profile = run->profile, .translated = run->tlb};
    out->level_count = run->machine ? digest_levels(out->levels, run) : 0;
    if (run->machine)
        out->costs = caches_costs(run->machine);
    if (!run->profile)
        return C2_OK;
    enum c2_status status = digest_make_objects(out, err);
    if (status == C2_OK)
        status = make_functions_and_lines(out, err);
    if (status == C2_OK)
        status = make_loops(out, err);
    if (status == C2_OK)
        status = make_victims(out, err);
    if (status == C2_OK)
        digest_check_cost(out);
    return status;
}

void digest_release(struct digest *digest)
{
    c2_free(digest->functions.number_of);
    c2_free(digest->lines.number_of);
    c2_free(digest->charged.number_of);
    c2_free(digest->charged.list);
    c2_free(digest->cost_of);
    c2_free(digest->loops.number_of);
    c2_free(digest->objects.list);
    c2_free(digest->functions.list);
    c2_free(digest->lines.list);
    c2_free(digest->loops.list);
    c2_free(digest->victims);
    c2_free(digest->pairs);
    c2_free(digest->evicted);
    *digest = (struct digest){0};
}
