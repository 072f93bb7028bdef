/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * result: a profile put in order, for reports.
 *
 * Model
 *   Code numbers become addresses, each once; owners become objects, the small blocks of a site with many of them one
 *   object; access sites and pairs that have become the same are added up. Objects without a reference and without a
 *   miss, and instructions that never completed, are left out.
 *   Reasons of a conflict, the first that fits: no evictor known; a walk or a fetch on either side; a scalar on either
 *   side (a static or thread-local variable of at most 16 bytes); two objects, two blocks, or two places of what is
 *   left of the stack; else one.
 *
 * Invariants (asserted)
 *   The tallies of the rows add up to the caches' counts of misses and classes, level by level; the pairs to the
 *   conflict misses; their translations to the TLBs' counts, their upgrades to the cores'; what the instructions
 *   did and the objects' references to the simulator's counts: all of them those of the windows that were measured.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/profile_priv.h"

#define SCALAR_BYTES 16u

struct profile_result {
    struct analyses_profile_result view;
    struct analyses_insn *insns;
    struct analyses_object *objects;
    struct analyses_row *rows;
    struct analyses_pair *pairs;
    char **names;           /* [object]: those made here */
    struct guest_va *sites; /* of all objects */
    size_t site_count;
    struct analyses_tally *tallies; /* of objects, then of rows, then those of start-up */
    struct analyses_taken *taken;   /* likewise; NULL: the machine has one core */
    uint32_t *insn_of;              /* [code]; PROFILE_NONE: it was not used */
    size_t code_count;
    uint32_t *object_of; /* [owner] */
    uint32_t *row_of;    /* [access site] */
};

void profile_result_destroy(struct profile_result *result)
{
    if (!result)
        return;
    for (size_t i = 0; i < result->view.object_count; i++)
        c2_free(result->names[i]);
    c2_free(result->insns);
    c2_free(result->objects);
    c2_free(result->rows);
    c2_free(result->pairs);
    c2_free(result->names);
    c2_free(result->sites);
    c2_free(result->tallies);
    c2_free(result->taken);
    c2_free(result->insn_of);
    c2_free(result->object_of);
    c2_free(result->row_of);
    c2_free(result);
}

static int result_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* What has counted nothing stays as it is, so that its memory need not be there: after a fork most is such. */
static void result_add_tally(struct analyses_tally *to, const struct analyses_tally *from)
{
    static const struct analyses_tally nothing;
    if (memcmp(from, &nothing, sizeof nothing) == 0)
        return;
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++) {
        to->reads[i] += from->reads[i];
        to->writes[i] += from->writes[i];
    }
    to->placement += from->placement;
    to->framed += from->framed;
}

static uint64_t result_misses_of(const struct analyses_tally *tally, enum analyses_class class_)
{
    return tally->reads[class_] + tally->writes[class_];
}

/* ------------------------------------------------------------------ instructions */

struct numbered {
    struct sim_code code;
    uint32_t number;
};

static int result_by_pc(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    const int order = result_compare(x->code.pc.v, y->code.pc.v);
    return order != 0 ? order : result_compare(x->number, y->number);
}

/* Those that acted without completing (a fault between the fetch and the end) are instructions too. */
static bool result_is_used(const struct profile *profile, const struct numbered *code)
{
    const bool acted = code->number < profile->last.room && profile->last.code[code->number].word != 0;
    return acted || code->code.executed + code->code.reads + code->code.writes != 0;
}

static void merge_codes(struct profile_result *result, const struct numbered *codes, size_t count)
{
    struct analyses_insn *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct sim_code *code = &codes[i].code;
        if (!last || last->pc.v != code->pc.v) {
            last = &result->insns[result->view.insn_count++];
            *last = (struct analyses_insn){.pc = code->pc};
        }
        last->executed += code->executed;
        last->reads += code->reads;
        last->writes += code->writes;
        result->insn_of[codes[i].number] = (uint32_t)(last - result->insns);
    }
}

static enum c2_status order_insns(struct profile *profile, struct sim *sim, struct c2_error *err)
{
    struct profile_result *result = profile->result;
    const size_t count = sim_code_count(sim);
    size_t used = 0;
    struct numbered *codes = c2_alloc((count + 1) * sizeof *codes);
    result->insns = c2_alloc((count + 1) * sizeof *result->insns);
    result->insn_of = c2_alloc((count + 1) * sizeof *result->insn_of);
    if (!codes || !result->insns || !result->insn_of) {
        c2_free(codes);
        return c2_fail_memory(err, "the instructions of the report");
    }
    for (size_t i = 0; i < count; i++) {
        codes[used] = (struct numbered){sim_code_at(sim, (uint32_t)i), (uint32_t)i};
        result->insn_of[i] = PROFILE_NONE;
        used += result_is_used(profile, &codes[used]);
    }
    if (used != 0)
        qsort(codes, used, sizeof *codes, result_by_pc);
    merge_codes(result, codes, used);
    result->code_count = count;
    c2_free(codes);
    result->view.insns = result->insns;
    return C2_OK;
}

/* ------------------------------------------------------------------ objects */

/* Marks in object_of the owners that are to be shown: those with references, and those that access sites accessed. */
static void mark_owners(struct profile *profile)
{
    struct profile_result *result = profile->result;
    const uint32_t count = objects_count(profile->objects);
    for (uint32_t i = 0; i < count; i++)
        result->object_of[i] = PROFILE_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (objects_owner(profile->objects, i)->refs != 0)
            result->object_of[objects_shown(profile->objects, i)] = 0;
    for (uint32_t i = 0; i < profile->access_site_count; i++)
        result->object_of[objects_shown(profile->objects, profile->access_sites[i].owner)] = 0;
}

/* NULL: the owner's own name does. */
static char *result_make_name(struct profile *profile, uint32_t number, const struct analyses_object *object,
                              bool *made)
{
    const struct objects_owner *owner = objects_owner(profile->objects, number);
    *made = owner->number != 0 || !owner->name;
    if (owner->is_local && !object->local) /* the program's file is another than when the stream was made */
        return c2_strdup("array of a function");
    if (owner->is_local)
        return c2_format(object->local->name ? "%s" : "frame of %s",
                         object->local->name ? object->local->name : object->local->function);
    if (owner->allocated)
        return sites_name(profile->names, object, objects_alone(profile->objects, number));
    return owner->number != 0 ? c2_format("%s#%" PRIu64, owner->name, owner->number) : NULL;
}

/* The sites of an owner into the result's list, which has room for them. */
static void result_add_sites(struct profile *profile, uint32_t number, struct analyses_object *object)
{
    struct profile_result *result = profile->result;
    uint64_t words[STREAM_CALLERS];
    object->sites = &result->sites[result->site_count];
    object->site_count = objects_sites(profile->objects, number, words);
    sites_choose(profile->names, words, object);
    for (uint32_t i = 0; i < object->site_count; i++)
        result->sites[result->site_count++].v = words[i] & ~STREAM_ASSUMED;
    if (object->site_count != 0)
        object->site = object->sites[object->site_shown];
}

static void result_add_local(const struct profile *profile, const struct objects_owner *owner,
                             struct analyses_object *object)
{
    object->layout = owner->layout;
    object->local_number = owner->local;
    object->nested = owner->nested;
    uint64_t layout = LOADER_NO_LAYOUT;
    c2_map_get(profile->layouts, owner->layout, &layout);
    if (layout != LOADER_NO_LAYOUT && owner->local < loader_layout_count(profile->symbols, layout))
        object->local = loader_layout_local(profile->symbols, layout, owner->local);
    if (object->local && !object->local->function)
        object->kind = ANALYSES_STATIC;
}

static enum c2_status result_add_object(struct profile *profile, uint32_t number, struct c2_error *err)
{
    struct profile_result *result = profile->result;
    const struct objects_owner *owner = objects_owner(profile->objects, number);
    const size_t index = result->view.object_count++;
    struct analyses_object *object = &result->objects[index];
    bool made;
    *object = (struct analyses_object){.kind = owner->kind,
                                       .name = owner->name,
                                       .variable = owner->variable,
                                       .module = owner->module,
                                       .base = owner->base,
                                       .bytes = owner->bytes,
                                       .blocks = owner->blocks,
                                       .allocator = (enum stream_allocator)owner->allocator,
                                       .number = owner->number};
    if (owner->is_local)
        result_add_local(profile, owner, object);
    result->object_of[number] = (uint32_t)index;
    result_add_sites(profile, number, object);
    result->names[index] = result_make_name(profile, number, object, &made);
    if (made && !result->names[index])
        return c2_fail_memory(err, "the objects of the report");
    if (made)
        object->name = result->names[index];
    return C2_OK;
}

/* What belongs to a shown object goes there: references, and the extent of small blocks (the first has the lowest
 * number, and owners are numbered in that order). */
static void fold_owner(struct profile *profile, uint32_t number)
{
    struct profile_result *result = profile->result;
    const struct objects_owner *owner = objects_owner(profile->objects, number);
    const uint32_t shown = objects_shown(profile->objects, number);
    const uint32_t index = result->object_of[shown];
    if (index == PROFILE_NONE)
        return;
    struct analyses_object *object = &result->objects[index];
    result->object_of[number] = index;
    object->refs += owner->refs;
    if (shown == number)
        return;
    if (object->blocks == objects_owner(profile->objects, shown)->blocks)
        object->base = owner->base;
    object->bytes += owner->bytes;
    object->blocks += owner->blocks;
}

static enum c2_status result_order_objects(struct profile *profile, struct c2_error *err)
{
    struct profile_result *result = profile->result;
    const uint32_t count = objects_count(profile->objects);
    result->object_of = c2_alloc((count + 1) * sizeof *result->object_of);
    result->objects = c2_alloc((count + 1) * sizeof *result->objects);
    result->names = c2_calloc(count + 1, sizeof *result->names);
    result->sites = c2_alloc(((size_t)count + 1) * STREAM_CALLERS * sizeof *result->sites);
    if (!result->object_of || !result->objects || !result->names || !result->sites)
        return c2_fail_memory(err, "the objects of the report");
    mark_owners(profile);
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < count && status == C2_OK; i++)
        if (result->object_of[i] != PROFILE_NONE)
            status = result_add_object(profile, i, err);
    for (uint32_t i = 0; i < count && status == C2_OK; i++)
        fold_owner(profile, i);
    result->view.objects = result->objects;
    return status;
}

/* ------------------------------------------------------------------ rows */

/* From a tally to that of start-up: there is room for an object or a row each. */
static size_t startup_tallies(const struct profile *profile)
{
    return (profile->result->view.object_count + profile->access_site_count) * profile_levels(profile);
}

struct access_site_row {
    uint32_t insn, object, access_site;
};

static int result_by_row(const void *a, const void *b)
{
    const struct access_site_row *x = a, *y = b;
    const int insns = result_compare(x->insn, y->insn), objects = result_compare(x->object, y->object);
    return insns != 0 ? insns : objects != 0 ? objects : result_compare(x->access_site, y->access_site);
}

static bool is_startup(const struct profile *profile, const struct access_site_row *row)
{
    const uint64_t pc = profile->result->insns[row->insn].pc.v;
    return profile->access_sites[row->access_site].early ||
           (profile->interpreter.start <= pc && pc < profile->interpreter.end);
}

static void result_add_translations(struct analyses_translations *to, const struct analyses_translations *from)
{
    to->misses += from->misses;
    to->walks += from->walks;
    to->reads += from->reads;
}

/* Adds an access site's translations to its row and object. */
static void result_add_tlb(const struct profile *profile, const struct access_site_row *row, struct analyses_row *to)
{
    const struct analyses_translations *from = &profile->translations[row->access_site];
    struct analyses_object *object = &profile->result->objects[row->object];
    result_add_translations(&to->tlb, from);
    result_add_translations(&object->tlb, from);
    if (!is_startup(profile, row))
        return;
    result_add_translations(&to->tlb_startup, from);
    result_add_translations(&object->tlb_startup, from);
}

/* Adds an access site's tallies to one row's, or object's; startup: where those of start-up are, in tallies from there.
 * */
static void add_access_site(const struct profile *profile, const struct access_site_row *row, struct analyses_tally *to,
                            size_t startup)
{
    const uint32_t levels = profile_levels(profile);
    const bool early = is_startup(profile, row);
    for (uint32_t level = 0; level < levels; level++) {
        const struct analyses_tally *from = &profile->cells[(size_t)row->access_site * levels + level].tally;
        result_add_tally(&to[level], from);
        if (early)
            result_add_tally(&to[startup + level], from);
    }
}

static void add_one_taken(struct analyses_taken *to, const struct analyses_taken *from)
{
    to->reads += from->reads;
    to->writes += from->writes;
    to->upgrades += from->upgrades;
}

/* As add_access_site(). */
static void result_add_taken(const struct profile *profile, const struct access_site_row *row,
                             struct analyses_taken *to, size_t startup)
{
    const uint32_t levels = profile_levels(profile);
    const bool early = is_startup(profile, row);
    for (uint32_t level = 0; level < levels; level++) {
        const struct analyses_taken *from = &profile->taken[(size_t)row->access_site * levels + level];
        add_one_taken(&to[level], from);
        if (early)
            add_one_taken(&to[startup + level], from);
    }
}

static void merge_rows(struct profile *profile, const struct access_site_row *order)
{
    struct profile_result *result = profile->result;
    const uint32_t levels = profile_levels(profile);
    const size_t startup = startup_tallies(profile);
    const size_t of_rows = result->view.object_count * levels;
    struct analyses_tally *tallies = result->tallies + of_rows;
    const struct access_site_row *last = NULL;
    for (uint32_t i = 0; i < profile->access_site_count; i++) {
        const struct access_site_row *row = &order[i];
        if (!last || last->insn != row->insn || last->object != row->object) {
            const size_t index = result->view.row_count++;
            result->rows[index] = (struct analyses_row){.insn = row->insn,
                                                        .object = row->object,
                                                        .level = &tallies[index * levels],
                                                        .startup = &tallies[startup + index * levels]};
        }
        last = row;
        const size_t index = result->view.row_count - 1;
        result->row_of[row->access_site] = (uint32_t)index;
        add_access_site(profile, row, &tallies[index * levels], startup);
        add_access_site(profile, row, &result->tallies[row->object * levels], startup);
        result_add_tlb(profile, row, &result->rows[index]);
        if (!profile->taken)
            continue;
        result_add_taken(profile, row, &result->taken[of_rows + index * levels], startup);
        result_add_taken(profile, row, &result->taken[row->object * levels], startup);
        result->rows[index].taken = &result->taken[of_rows + index * levels];
        result->rows[index].taken_startup = &result->taken[startup + of_rows + index * levels];
    }
}

static enum c2_status order_rows(struct profile *profile, struct c2_error *err)
{
    struct profile_result *result = profile->result;
    const uint32_t levels = profile_levels(profile), count = profile->access_site_count;
    struct access_site_row *order = c2_alloc((count + 1) * sizeof *order);
    result->rows = c2_alloc((count + 1) * sizeof *result->rows);
    result->row_of = c2_alloc((count + 1) * sizeof *result->row_of);
    result->tallies = c2_calloc(2 * startup_tallies(profile) + 1, sizeof *result->tallies);
    result->taken = profile->taken ? c2_calloc(2 * startup_tallies(profile) + 1, sizeof *result->taken) : NULL;
    if (!order || !result->rows || !result->row_of || !result->tallies || !result->taken != !profile->taken) {
        c2_free(order);
        return c2_fail_memory(err, "the misses of the report");
    }
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct access_site_row){result->insn_of[profile->access_sites[i].code],
                                            result->object_of[profile->access_sites[i].owner], i};
    qsort(order, count, sizeof *order, result_by_row);
    merge_rows(profile, order);
    c2_free(order);
    for (size_t i = 0; i < result->view.object_count; i++) {
        result->objects[i].level = &result->tallies[i * levels];
        result->objects[i].startup = &result->tallies[startup_tallies(profile) + i * levels];
        result->objects[i].taken = result->taken ? &result->taken[i * levels] : NULL;
        result->objects[i].taken_startup = result->taken ? &result->taken[startup_tallies(profile) + i * levels] : NULL;
    }
    result->view.rows = result->rows;
    return C2_OK;
}

/* ------------------------------------------------------------------ pairs */

static bool is_scalar(const struct objects_owner *owner)
{
    return (owner->is_local || owner->kind == ANALYSES_STATIC) && owner->bytes <= SCALAR_BYTES;
}

/* What is left of the stack: many things. */
static bool is_many(const struct objects_owner *owner) { return owner->kind == ANALYSES_STACK && !owner->is_local; }

static enum analyses_reason reason_of(const struct profile *profile, const struct profile_pair *pair)
{
    if (pair->evictor == PROFILE_NONE)
        return ANALYSES_REASON_UNKNOWN;
    const uint32_t numbers[2] = {profile->access_sites[pair->victim].owner, profile->access_sites[pair->evictor].owner};
    const struct objects_owner *owners[2] = {objects_owner(profile->objects, numbers[0]),
                                             objects_owner(profile->objects, numbers[1])};
    if (owners[0]->kind == ANALYSES_TABLES || owners[1]->kind == ANALYSES_TABLES)
        return ANALYSES_REASON_TABLES;
    if (owners[0]->kind == ANALYSES_CODE || owners[1]->kind == ANALYSES_CODE)
        return ANALYSES_REASON_CODE;
    if (is_scalar(owners[0]) || is_scalar(owners[1]))
        return ANALYSES_REASON_SCALAR;
    const bool same = numbers[0] == numbers[1] && pair->same_block && !is_many(owners[0]);
    return same ? ANALYSES_REASON_INTRA : ANALYSES_REASON_INTER;
}

static int by_parts(const void *a, const void *b)
{
    const struct analyses_pair *x = a, *y = b;
    const int level = result_compare(x->level, y->level), victim = result_compare(x->victim, y->victim);
    const int evictor = result_compare(x->evictor, y->evictor);
    return level != 0 ? level : victim != 0 ? victim : evictor != 0 ? evictor : result_compare(x->reason, y->reason);
}

static int result_by_count(const void *a, const void *b)
{
    const struct analyses_pair *x = a, *y = b;
    const int level = result_compare(x->level, y->level), count = result_compare(y->count, x->count);
    return level != 0 ? level : count != 0 ? count : by_parts(a, b);
}

/* Pairs that have become the same, next to each other now, are added up. */
static size_t result_merge_pairs(struct analyses_pair *pairs, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && by_parts(&pairs[kept - 1], &pairs[i]) == 0)
            pairs[kept - 1].count += pairs[i].count;
        else
            pairs[kept++] = pairs[i];
    }
    return kept;
}

static enum c2_status result_order_pairs(struct profile *profile, struct c2_error *err)
{
    struct profile_result *result = profile->result;
    struct analyses_pair *pairs = c2_alloc((profile->pair_count + 1) * sizeof *pairs);
    if (!pairs)
        return c2_fail_memory(err, "who evicted whom, for the report");
    for (uint32_t i = 0; i < profile->pair_count; i++) {
        const struct profile_pair *from = &profile->pairs[i];
        const enum analyses_reason reason = reason_of(profile, from);
        pairs[i] = (struct analyses_pair){
            from->level, result->row_of[from->victim],
            from->evictor == PROFILE_NONE ? ANALYSES_NOBODY : result->row_of[from->evictor], reason, from->count};
        result->view.reasons[from->level][reason] += from->count;
    }
    qsort(pairs, profile->pair_count, sizeof *pairs, by_parts);
    result->view.pair_count = result_merge_pairs(pairs, profile->pair_count);
    qsort(pairs, result->view.pair_count, sizeof *pairs, result_by_count);
    result->pairs = pairs;
    result->view.pairs = pairs;
    return C2_OK;
}

/* ------------------------------------------------------------------ samples */

/* Actors become rows, and whether they were start-up; returns with what all samples have in `sums`. */
static void order_samples(struct profile *profile, uint64_t sums[ANALYSES_LEVELS][ANALYSES_SAMPLED_KINDS])
{
    struct profile_samples *samples = &profile->samples;
    struct analyses_profile_result *view = &profile->result->view;
    for (uint32_t i = 0; i < samples->count; i++) {
        struct analyses_sampled *entry = &samples->list[i];
        const uint32_t access_site = entry->row, row = profile->result->row_of[access_site];
        const struct access_site_row of = {view->rows[row].insn, view->rows[row].object, access_site};
        entry->row = row;
        entry->startup = is_startup(profile, &of);
        sums[entry->level][entry->kind] += entry->count;
    }
    view->sampled = samples->list;
    view->sample_ends = samples->ends;
    view->sample_count = samples->sample_count;
}

/* What all samples have is what was measured. */
static void result_check_samples(const struct profile *profile, uint64_t sums[ANALYSES_LEVELS][ANALYSES_SAMPLED_KINDS])
{
    const struct caches_machine *machine = profile->machine;
    for (uint32_t i = 0; i < profile_levels(profile); i++) {
        const struct caches_counts *n = i < machine->level_count ? &profile->measured.levels[i]
                                                                 : &profile->measured.l1i;
        C2_ASSERT(sums[i][ANALYSES_COLD] == n->cold && sums[i][ANALYSES_CAPACITY] == n->capacity);
        C2_ASSERT(sums[i][ANALYSES_CONFLICT] == n->conflict && sums[i][ANALYSES_SAMPLED_COHERENCE] == n->coherence);
    }
    C2_ASSERT(sums[0][ANALYSES_SAMPLED_TRANSLATIONS] == profile->measured.tlb_misses);
    C2_ASSERT(sums[0][ANALYSES_SAMPLED_WALK_READS] == profile->measured.walks.reads);
    C2_ASSERT(sums[0][ANALYSES_SAMPLED_UPGRADES] == profile->measured.upgrades);
}

static void finish_samples(struct profile *profile)
{
    uint64_t sums[ANALYSES_LEVELS][ANALYSES_SAMPLED_KINDS] = {{0}};
    if (!profile->samples.wanted)
        return;
    order_samples(profile, sums);
    result_check_samples(profile, sums);
}

/* ------------------------------------------------------------------ all of it */

static void result_check_level(const struct profile *profile, uint32_t level, const struct caches_counts *counts)
{
    const struct analyses_profile_result *view = &profile->result->view;
    struct analyses_tally sum = {.placement = 0};
    struct analyses_taken taken = {.reads = 0};
    uint64_t reasons = 0;
    for (size_t i = 0; i < view->row_count; i++) {
        result_add_tally(&sum, &view->rows[i].level[level]);
        taken.reads += view->rows[i].taken ? view->rows[i].taken[level].reads : 0;
        taken.writes += view->rows[i].taken ? view->rows[i].taken[level].writes : 0;
    }
    for (unsigned i = 0; i < ANALYSES_REASONS; i++)
        reasons += view->reasons[level][i];
    C2_ASSERT(result_misses_of(&sum, ANALYSES_COLD) == counts->cold);
    C2_ASSERT(result_misses_of(&sum, ANALYSES_CAPACITY) == counts->capacity);
    C2_ASSERT(result_misses_of(&sum, ANALYSES_CONFLICT) == counts->conflict);
    C2_ASSERT(sum.writes[0] + sum.writes[1] + sum.writes[2] + taken.writes == counts->write_misses);
    C2_ASSERT(taken.reads + taken.writes == counts->coherence);
    C2_ASSERT(reasons == counts->conflict && sum.placement <= counts->conflict);
}

static void check_references(const struct analyses_profile_result *view, const struct sim_counts *counts)
{
    struct analyses_insn sum = {.executed = 0};
    uint64_t refs = 0;
    for (size_t i = 0; i < view->insn_count; i++) {
        sum.executed += view->insns[i].executed;
        sum.reads += view->insns[i].reads;
        sum.writes += view->insns[i].writes;
    }
    for (size_t i = 0; i < view->object_count; i++)
        refs += view->objects[i].refs;
    C2_ASSERT(sum.executed == counts->instructions && sum.reads == counts->reads && sum.writes == counts->writes);
    C2_ASSERT(refs == counts->refs);
}

static void check_translations(const struct analyses_profile_result *view, const struct sim_totals *measured)
{
    struct analyses_translations sum = {.misses = 0};
    for (size_t i = 0; i < view->row_count; i++)
        result_add_translations(&sum, &view->rows[i].tlb);
    C2_ASSERT(sum.misses == measured->tlb_misses && sum.walks == measured->walks.count);
    C2_ASSERT(sum.reads == measured->walks.reads);
}

static void check_upgrades(const struct analyses_profile_result *view, const struct sim_totals *measured)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < view->row_count; i++)
        sum += view->rows[i].taken ? view->rows[i].taken[0].upgrades : 0;
    C2_ASSERT(sum == measured->upgrades);
}

static void result_check_sums(const struct profile *profile)
{
    const struct analyses_profile_result *view = &profile->result->view;
    const struct sim_totals *measured = &profile->measured;
    for (uint32_t i = 0; i < view->level_count; i++)
        result_check_level(profile, i, &measured->levels[i]);
    if (view->has_l1i)
        result_check_level(profile, view->level_count, &measured->l1i);
    check_references(view, &measured->counts);
    check_translations(view, measured);
    check_upgrades(view, measured);
}

enum c2_status profile_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct profile *profile = self;
    C2_ASSERT(!profile->result);
    profile->result = c2_calloc(1, sizeof *profile->result);
    if (!profile->result)
        return c2_fail_memory(err, "the report's profile");
    struct analyses_profile_result *view = &profile->result->view;
    view->level_count = profile->machine->level_count;
    view->has_l1i = profile->machine->has_l1i;
    view->compared = profile->compared;
    enum c2_status status = order_insns(profile, sim, err);
    if (status == C2_OK)
        status = result_order_objects(profile, err);
    if (status == C2_OK)
        status = order_rows(profile, err);
    if (status == C2_OK)
        status = result_order_pairs(profile, err);
    if (status != C2_OK)
        return status;
    result_check_sums(profile);
    finish_samples(profile);
    return C2_OK;
}

uint32_t profile_insn(const struct profile *profile, uint32_t code)
{
    C2_ASSERT(code < profile->result->code_count);
    return profile->result->insn_of[code];
}

uint32_t profile_object(const struct profile *profile, uint32_t owner) { return profile->result->object_of[owner]; }

uint32_t profile_row(const struct profile *profile, uint32_t access_site)
{
    C2_ASSERT(access_site < profile->access_site_count);
    return profile->result->row_of[access_site];
}

const void *profile_result(const struct analysis *profile)
{
    const struct profile_result *result = ((const struct profile *)profile)->result;
    return result ? &result->view : NULL;
}
