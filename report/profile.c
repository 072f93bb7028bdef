/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * profile: what the analysis found, summed and sorted for the reports.
 *
 * Model
 *   The profile has rows (instruction, object) with a tally a level, and pairs of rows (victim, evictor). Objects,
 *   lines (lines.c) and functions are sums of rows; a victim is all pairs of one row at one level.
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

#include "report/profile_priv.h"

/* Ascending and descending order of two values of any arithmetic type. */
#define UP(a, b) (((a) > (b)) - ((a) < (b)))
#define DOWN(a, b) UP(b, a)

/* ------------------------------------------------------------------ objects */

static int by_cost(const void *left, const void *right)
{
    const struct report_object *a = left, *b = right;
    const int order = report_by_cost(&a->missed, &b->missed);
    return order != 0 ? order : UP(a->of, b->of); /* all are of one array, in the order of appearance */
}

static enum c2_status make_objects(struct report_digest *digest, struct c2_error *err)
{
    const struct analyses_profile_result *profile = digest->profile;
    digest->objects = c2_calloc(profile->object_count + 1, sizeof *digest->objects);
    if (!digest->objects)
        return c2_fail_memory(err, "the objects of a report");
    for (size_t i = 0; i < profile->object_count; i++) {
        struct report_object *object = &digest->objects[digest->object_count++];
        object->of = &profile->objects[i];
        report_add_object(&object->missed, digest, object->of);
        report_add_missed(&digest->missed, &object->missed);
    }
    qsort(digest->objects, digest->object_count, sizeof *digest->objects, by_cost);
    return C2_OK;
}

/* ------------------------------------------------------------------ functions */

/* NULL goes before every name. */
static int by_text(const char *a, const char *b) { return !a || !b ? UP(a, b) : strcmp(a, b); }

static int by_name(const void *left, const void *right)
{
    const struct report_function *a = left, *b = right;
    const int order = by_text(a->module, b->module);
    return order != 0 ? order : by_text(a->name, b->name);
}

static int by_work(const void *left, const void *right)
{
    const struct report_function *a = left, *b = right;
    int order = report_by_cost(&a->missed, &b->missed);
    if (order == 0)
        order = DOWN(a->executed, b->executed);
    return order != 0 ? order : by_name(a, b);
}

void report_add_function(struct report_function *to, const struct report_function *from)
{
    to->executed += from->executed;
    to->reads += from->reads;
    to->writes += from->writes;
    report_add_missed(&to->missed, &from->missed);
}

static struct report_function function_at(const struct report_run *run, struct guest_va pc)
{
    struct loader_place place = {.function = NULL};
    if (run->symbols)
        loader_symbol_of(run->symbols, pc, &place);
    return (struct report_function){.name = place.function, .module = place.object};
}

/* One function for a run of neighbours of the same name. */
static enum c2_status collect_functions(struct report_digest *digest, const struct report_run *run,
                                        struct c2_error *err)
{
    const struct analyses_profile_result *profile = digest->profile;
    uint32_t room = 0, count = 0;
    size_t row = 0;
    for (size_t i = 0; i < profile->insn_count; i++) {
        const struct analyses_insn *insn = &profile->insns[i];
        const struct report_function own = function_at(run, insn->pc);
        if (!c2_grow((void **)&digest->functions, &room, count, sizeof *digest->functions))
            return c2_fail_memory(err, "the functions of a report");
        if (count == 0 || by_name(&digest->functions[count - 1], &own) != 0)
            digest->functions[count++] = own;
        struct report_function *function = &digest->functions[count - 1];
        function->executed += insn->executed;
        function->reads += insn->reads;
        function->writes += insn->writes;
        for (; row < profile->row_count && profile->rows[row].insn == i; row++)
            report_add_row(&function->missed, digest, &profile->rows[row]);
    }
    digest->function_count = count;
    return C2_OK;
}

static void join_functions(struct report_digest *digest)
{
    size_t kept = 0;
    qsort(digest->functions, digest->function_count, sizeof *digest->functions, by_name);
    for (size_t i = 0; i < digest->function_count; i++) {
        if (kept > 0 && by_name(&digest->functions[kept - 1], &digest->functions[i]) == 0)
            report_add_function(&digest->functions[kept - 1], &digest->functions[i]);
        else
            digest->functions[kept++] = digest->functions[i];
    }
    digest->function_count = kept;
}

static enum c2_status make_functions(struct report_digest *digest, const struct report_run *run, struct c2_error *err)
{
    enum c2_status status = collect_functions(digest, run, err);
    if (status != C2_OK)
        return status;
    join_functions(digest);
    qsort(digest->functions, digest->function_count, sizeof *digest->functions, by_work);
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

static int by_count(const void *left, const void *right)
{
    const struct report_victim *a = left, *b = right;
    int order = UP(a->level, b->level);
    if (order == 0)
        order = DOWN(a->count, b->count);
    return order != 0 ? order : UP(a->row, b->row);
}

static size_t reported_level(const struct report_digest *digest, uint32_t number)
{
    size_t level = 0;
    while (digest->levels[level].number != number)
        C2_ASSERT(++level < digest->level_count);
    return level;
}

static void group_pairs(struct report_digest *digest)
{
    for (size_t i = 0; i < digest->profile->pair_count; i++) {
        const struct analyses_pair *pair = digest->pairs[i], *before = i > 0 ? digest->pairs[i - 1] : NULL;
        if (!before || before->level != pair->level || before->victim != pair->victim)
            digest->victims[digest->victim_count++] = (struct report_victim){
                .level = reported_level(digest, pair->level), .row = pair->victim, .pairs = &digest->pairs[i]};
        struct report_victim *victim = &digest->victims[digest->victim_count - 1];
        victim->count += pair->count;
        victim->pair_count++;
    }
}

static enum c2_status make_victims(struct report_digest *digest, struct c2_error *err)
{
    const size_t count = digest->profile->pair_count;
    digest->pairs = c2_calloc(count + 1, sizeof(const struct analyses_pair *));
    digest->victims = c2_calloc(count + 1, sizeof *digest->victims);
    digest->evicted = c2_calloc(digest->object_count + 1, sizeof *digest->evicted);
    if (!digest->pairs || !digest->victims || !digest->evicted)
        return c2_fail_memory(err, "the conflicts of a report");
    for (size_t i = 0; i < count; i++)
        digest->pairs[i] = &digest->profile->pairs[i];
    qsort(digest->pairs, count, sizeof(const struct analyses_pair *), by_victim);
    group_pairs(digest);
    qsort(digest->victims, digest->victim_count, sizeof *digest->victims, by_count);
    return C2_OK;
}

/* The place of the evicting object in `evicted`: behind all objects stands nobody. */
static size_t evicting_object(const struct report_digest *digest, const struct analyses_pair *pair)
{
    return pair->evictor == ANALYSES_NOBODY ? digest->object_count : digest->profile->rows[pair->evictor].object;
}

struct report_share report_main_evictor(struct report_digest *digest, const struct report_victim *victim)
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
    return (struct report_share){object == digest->object_count ? ANALYSES_NOBODY : (uint32_t)object, most->reason,
                                 count};
}

/* ------------------------------------------------------------------ all of it */

enum c2_status report_digest_make(struct report_digest *out, const struct report_run *run, struct c2_error *err)
{
    *out = (struct report_digest){.profile = run->profile, .translated = run->tlb};
    out->level_count = report_levels(out->levels, run);
    enum c2_status status = make_objects(out, err);
    if (status == C2_OK)
        status = make_functions(out, run, err);
    if (status == C2_OK)
        status = report_digest_lines(out, run, err);
    return status == C2_OK ? make_victims(out, err) : status;
}

void report_digest_release(struct report_digest *digest)
{
    c2_free(digest->objects);
    c2_free(digest->functions);
    c2_free(digest->lines);
    c2_free(digest->victims);
    c2_free(digest->pairs);
    c2_free(digest->evicted);
    *digest = (struct report_digest){0};
}
