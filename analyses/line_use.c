/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * line_use: how much of what comes into a level is used there.
 *
 * Model
 *   Each stay of a line in a level (stays.c) counts, when it ends, for the instruction that loaded it and the object
 *   that this accessed: how many references there were to the line, and how many of its bytes they touched. A line may
 *   have bytes of several objects. What a prefetcher brings counts for the instruction and the object of the access
 *   that it followed; the read of a page walk touches 8 bytes, and belongs to the instruction that needed the
 *   translation.
 *   Evictor: the access that made room for itself there, or at the inclusive level below that took the line away.
 *   At the end of the run what is there still counts as it is; so it does where caches are emptied.
 *   Of several cores the residencies in each core's own levels count together. A stay that another core's write ends is
 *   taken, and the access that writes is the evictor.
 *
 * Counting
 *   Stays that began while it was measured, whenever they end; what is accessed of them in a phase before the next one
 *   is measured counts as well, as it would without phases. Spatial loss is the bytes of a residency that were not
 *   used. access_cost is 1000 / accesses, rounded down, 1000 where there was none: the sum over the residencies is
 *   large where lines are loaded for few accesses. Both are those of Callgrind (J. Weidendorfer, "Simulation Driven
 *   Performance Analysis for Software Optimization", section 3.5), whose masks have a bit for two bytes.
 *
 * Invariants (asserted when the run is over)
 *   Loads of a level that is not exclusive are its misses, where nothing prefetches, and lines invalidated are what the
 *   levels below have counted. Rows and pairs add up to the levels.
 *
 * Price
 *   Every reference is notified (the general loop of sim/). Memory: that of residencies.c, 40 bytes for each
 *   instruction, object and level that meet, some 60 for each pair of those that evict each other.
 */
#include "analyses/line_use.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/fields_priv.h"
#include "analyses/residencies_priv.h"
#include "analyses/where.h"

#define WALK_BYTES 8u

struct pair {
    uint32_t loader, evictor; /* spots; the evictor may be NOBODY */
    uint64_t residencies, unused_bytes;
};
struct pairs { /* of a level */
    struct pair *list;
    uint32_t count, room;
    struct c2_map *number_of; /* loader, evictor */
};

struct line_use {
    struct analysis base;
    const struct caches_machine *machine;
    struct loader_symbols *symbols;
    struct where *where;
    struct residencies *residencies;
    struct fields *fields;
    uint32_t levels, mask_words, cores;
    unsigned line_shift;
    struct sim_reference pending; /* told, and done up to `done` */
    uint64_t done, end;
    struct analyses_line_use *cells; /* [spot * levels + level] */
    uint32_t spots;                  /* that have cells */
    struct pairs pairs[ANALYSES_LEVELS];
    struct sim_totals measured;
    bool instructed;      /* there was an instruction made for caches */
    uint64_t invalidated; /* of lines that came while it was measured or not, while it is */
    bool measuring;
    enum c2_status failed; /* in a function that cannot say so */
    struct c2_error failure;
    struct c2_outfile *file; /* NULL: none is wanted */
    const struct analysis *profile;
    struct analyses_line_use_result result;
    struct analyses_line_use_row *rows;
    struct analyses_line_use *sums; /* [row * levels + level] */
    struct analyses_line_use_pair *all_pairs;
};

static enum c2_status line_use_no_memory(struct c2_error *err) { return c2_fail_memory(err, "the use of lines"); }

/* ------------------------------------------------------------------ life */

static enum c2_status began(void *self, struct residency *residency, struct c2_error *err);
static enum c2_status ended(void *self, uint32_t level, const struct residency *residency, const uint64_t *mask,
                            enum residencies_end end, uint32_t evictor, struct c2_error *err);

static void line_use_destroy(struct analysis *analysis)
{
    struct line_use *use = (struct line_use *)analysis;
    for (uint32_t i = 0; i < use->levels; i++) {
        c2_map_destroy(use->pairs[i].number_of);
        c2_free(use->pairs[i].list);
    }
    c2_outfile_abandon(use->file);
    where_destroy(use->where);
    residencies_destroy(use->residencies);
    fields_destroy(use->fields);
    c2_free(use->cells);
    c2_free(use->rows);
    c2_free(use->sums);
    c2_free(use->all_pairs);
    c2_free(use);
}

static enum c2_status line_use_create_parts(struct line_use *use, const struct analyses *analyses, struct c2_error *err)
{
    const struct residencies_listener listener = {use, began, ended};
    enum c2_status status = where_create(&use->where, analyses, err);
    if (status == C2_OK)
        status = fields_create(&use->fields, (const struct profile *)use->profile, use->levels, err);
    if (status == C2_OK)
        status = residencies_create(&use->residencies, use->machine, &listener, err);
    for (uint32_t i = 0; i < use->levels && status == C2_OK; i++)
        status = c2_map_create(&use->pairs[i].number_of, err);
    return status;
}

static enum c2_status line_use_create(struct analysis **out, const struct analyses_setup *setup,
                                      const struct analyses *analyses, struct c2_error *err)
{
    const enum c2_status may = analyses_need_stores_to_stay(setup->machine, "--line-use", err);
    struct line_use *use = may == C2_OK ? c2_calloc(1, sizeof *use) : NULL;
    if (!use)
        return may == C2_OK ? line_use_no_memory(err) : may;
    use->base.kind = &analysis_line_use;
    use->machine = setup->machine;
    use->symbols = setup->symbols;
    use->profile = analyses_find(analyses, ANALYSIS_profile);
    use->levels = use->result.level_count = use->machine->level_count + use->machine->has_l1i;
    use->mask_words = residencies_mask_words(use->machine);
    use->cores = caches_machine_cores(use->machine);
    use->line_shift = c2_log2(use->machine->line_bytes);
    use->result.line_bytes = use->machine->line_bytes;
    use->measuring = true;
    enum c2_status status = line_use_create_parts(use, analyses, err);
    if (status == C2_OK)
        status = analyses_open_file(&use->file, setup, ANALYSES_SETTING_line_use_csv, err);
    if (status == C2_OK)
        *out = &use->base;
    else
        line_use_destroy(&use->base);
    return status;
}

/* ------------------------------------------------------------------ a residency is over */

static enum c2_status line_use_count_pair(struct pairs *pairs, uint32_t loader, uint32_t evictor, uint64_t unused_bytes,
                                          struct c2_error *err)
{
    const uint64_t key = (uint64_t)loader << 32 | evictor;
    uint64_t number = pairs->count;
    if (!c2_map_get(pairs->number_of, key, &number)) {
        if (!c2_grow((void **)&pairs->list, &pairs->room, pairs->count, sizeof *pairs->list))
            return line_use_no_memory(err);
        enum c2_status status = c2_map_put(pairs->number_of, key, number, err);
        if (status != C2_OK)
            return status;
        pairs->list[pairs->count++] = (struct pair){loader, evictor, 0, 0};
    }
    pairs->list[number].residencies++;
    pairs->list[number].unused_bytes += unused_bytes;
    return C2_OK;
}

static enum c2_status began(void *self, struct residency *residency, struct c2_error *err)
{
    struct line_use *use = self;
    return residency->va == 0 ? C2_OK : fields_begin(use->fields, residency->va, &residency->note, err);
}

static void count_end(struct analyses_line_use_level *level, enum residencies_end end)
{
    level->evicted += end == STAYS_EVICTED;
    level->invalidated += end == STAYS_INVALIDATED;
    level->taken += end == STAYS_TAKEN;
    level->filtered += end == STAYS_FILTERED;
    level->flushed += end == STAYS_FLUSHED;
    level->left += end == STAYS_LEFT;
}

static enum c2_status ended(void *self, uint32_t number, const struct residency *residency, const uint64_t *mask,
                            enum residencies_end end, uint32_t evictor, struct c2_error *err)
{
    struct line_use *use = self;
    const uint32_t line_bytes = use->machine->line_bytes, used = residencies_mask_count(mask, use->mask_words);
    struct analyses_line_use_level *level = &use->result.levels[number];
    use->invalidated += end == STAYS_INVALIDATED && use->measuring;
    enum c2_status status = C2_OK;
    if (residency->va != 0)
        status = fields_end(use->fields, number, residency->va, residency->note, residency->measured ? mask : NULL,
                            err);
    if (!residency->measured || status != C2_OK)
        return status;
    const struct analyses_line_use one = {.loads = 1,
                                          .accesses = residency->accesses,
                                          .used_bytes = used,
                                          .unused = residency->accesses == 0,
                                          .access_cost = 1000 / (residency->accesses == 0 ? 1 : residency->accesses)};
    analyses_line_use_add(&level->of, &one);
    analyses_line_use_add(&use->cells[(size_t)residency->loader * use->levels + number], &one);
    level->by_bytes[(used * ANALYSES_LINE_USE_PARTS + line_bytes - 1) / line_bytes]++;
    count_end(level, end);
    return line_use_count_pair(&use->pairs[number], residency->loader, evictor, line_bytes - used, err);
}

/* ------------------------------------------------------------------ spots */

static enum c2_status line_use_reach_spot(struct line_use *use, uint32_t spot, struct c2_error *err)
{
    if (spot < use->spots)
        return C2_OK;
    uint32_t room = use->spots * 2 + C2_HOST_SIZE(1024u, 1u);
    room = room > spot ? room : spot + 1;
    struct analyses_line_use *cells = c2_realloc(use->cells, room * use->levels * sizeof *cells);
    if (!cells)
        return line_use_no_memory(err);
    memset(cells + (size_t)use->spots * use->levels, 0, (size_t)(room - use->spots) * use->levels * sizeof *cells);
    use->cells = cells;
    use->spots = room;
    return C2_OK;
}

/* What is not measured has no place in the reports. */
static enum c2_status line_use_find_access_site(struct line_use *use, uint32_t code, enum sim_kind kind,
                                                struct guest_va va, bool measured, struct residencies_access_site *out,
                                                struct c2_error *err)
{
    const bool data = kind == SIM_READ || kind == SIM_WRITE;
    *out = (struct residencies_access_site){STAYS_NOBODY, {data ? va.v : 0}, measured};
    if (!measured)
        return C2_OK;
    enum c2_status status = where_spot(use->where, code, kind, va, &out->number, err);
    return status == C2_OK ? line_use_reach_spot(use, out->number, err) : status;
}

/* ------------------------------------------------------------------ the program's accesses */

static uint64_t line_use_next_line(const struct line_use *use, uint64_t va)
{
    return (va | (use->machine->line_bytes - 1)) + 1;
}

/* Of the pending reference, its bytes in the line that it has come to. */
static uint32_t bytes_here(const struct line_use *use)
{
    const uint64_t next = line_use_next_line(use, use->done);
    return (uint32_t)((next < use->end ? next : use->end) - use->done);
}

static uint64_t physical_of(const struct sim_reference *reference, uint64_t va)
{
    const unsigned part = va - reference->part[0].va.v < reference->part[0].size ? 0 : 1;
    return reference->part[part].pa.v + (va - reference->part[part].va.v);
}

/* Of several cores, a write takes the line from the others. */
static void take_here(struct line_use *use)
{
    struct residencies_access_site access_site;
    if (use->cores == 1 || use->pending.kind != SIM_WRITE || use->failed != C2_OK)
        return;
    use->failed = line_use_find_access_site(use, use->pending.code, SIM_WRITE, (struct guest_va){use->done},
                                            use->measuring, &access_site, &use->failure);
    if (use->failed == C2_OK)
        use->failed = residencies_written(use->residencies, physical_of(&use->pending, use->done) >> use->line_shift,
                                          access_site.number, &use->failure);
}

static void touch_here(struct line_use *use)
{
    const uint64_t pa = physical_of(&use->pending, use->done);
    residencies_touch(use->residencies, pa >> use->line_shift, use->pending.kind == SIM_FETCH, 0,
                      (uint32_t)(pa & (use->machine->line_bytes - 1)), bytes_here(use));
    use->done = line_use_next_line(use, use->done);
}

/* Nothing was said of the lines before this address: they were there. */
static void line_use_catch_up(struct line_use *use, uint64_t before)
{
    while (use->done < use->end && use->done < before) {
        take_here(use);
        touch_here(use);
    }
}

static enum c2_status failed(const struct line_use *use, struct c2_error *err)
{
    return use->failed == C2_OK ? C2_OK : c2_fail(err, use->failed, "%s", use->failure.text);
}

static enum c2_status line_use_reference(struct line_use *use, const struct sim_reference *reference,
                                         struct c2_error *err)
{
    line_use_catch_up(use, UINT64_MAX);
    if (use->failed != C2_OK)
        return failed(use, err);
    if (use->cores > 1)
        residencies_on_core(use->residencies, sim_core_of(reference->tid, use->cores));
    if ((reference->kind == SIM_FETCH && !use->machine->has_l1i) || reference->past)
        return C2_OK;
    use->pending = *reference;
    use->done = reference->va.v;
    use->end = use->done + reference->size;
    return C2_OK;
}

static enum c2_status line_use_references(void *self, const struct sim_reference *list, size_t count,
                                          struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = line_use_reference(self, &list[i], err);
    return status;
}

/* ------------------------------------------------------------------ what comes and goes */

/* A read of a page table, before the line access that needs it. */
static enum c2_status walked(struct line_use *use, const struct sim_miss *miss,
                             const struct residencies_access_site *access_site, struct c2_error *err)
{
    const uint32_t from = miss->entry * WALK_BYTES;
    line_use_catch_up(use, miss->va.v & ~(uint64_t)(use->machine->line_bytes - 1));
    enum c2_status status = residencies_missed(use->residencies, miss->line.v, false, miss->first, miss->outcome,
                                               access_site, from, WALK_BYTES, err);
    residencies_touch(use->residencies, miss->line.v, false, miss->first, from, WALK_BYTES);
    return status;
}

static enum c2_status line_use_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct line_use *use = self;
    struct residencies_access_site access_site;
    enum c2_status status = line_use_find_access_site(use, miss->code, miss->kind, miss->va, miss->measured,
                                                      &access_site, err);
    if (status != C2_OK)
        return status;
    if (miss->kind == SIM_WALK)
        return walked(use, miss, &access_site, err);
    line_use_catch_up(use, miss->va.v & ~(uint64_t)(use->machine->line_bytes - 1));
    const uint64_t pa = physical_of(&use->pending, use->done);
    C2_PROMISE(use->done < use->end && pa >> use->line_shift == miss->line.v);
    take_here(use);
    status = residencies_missed(use->residencies, miss->line.v, miss->kind == SIM_FETCH, 0, miss->outcome, &access_site,
                                (uint32_t)(pa & (use->machine->line_bytes - 1)), bytes_here(use), err);
    touch_here(use);
    return status;
}

/* Where in memory a line is that a prefetch has brought: in the page of the access. */
static struct guest_va prefetched_at(const struct line_use *use, struct guest_va access, struct line_no line)
{
    const uint64_t in_page = line.v << use->line_shift & (C2_PAGE_BYTES - 1);
    return (struct guest_va){access.v == 0 ? 0 : c2_align_down(access.v, C2_PAGE_BYTES) | in_page};
}

static bool moves_lines(enum caches_prefetch_what what)
{
    return what == CACHES_PREFETCH_ISSUED || what == CACHES_PREFETCH_EVICTED || what == CACHES_PREFETCH_FILTERED ||
           what == CACHES_PREFETCH_CLAIMED || what == CACHES_PREFETCH_FLUSHED;
}

static enum c2_status line_use_prefetched(void *self, const struct sim_prefetched *notified, struct c2_error *err)
{
    struct line_use *use = self;
    struct residencies_access_site access_site;
    enum c2_status status = C2_OK;
    const uint64_t line = notified->va.v & ~(uint64_t)(use->machine->line_bytes - 1);
    if (notified->instruction)
        line_use_catch_up(use, UINT64_MAX);
    else
        line_use_catch_up(use, notified->kind == SIM_WALK ? line : line + use->machine->line_bytes);
    if (use->cores > 1)
        residencies_on_core(use->residencies, notified->core);
    use->instructed |= notified->instruction;
    for (size_t i = 0; i < notified->count && status == C2_OK; i++) {
        const struct caches_prefetched *event = &notified->events[i];
        if (!moves_lines(event->what))
            continue;
        status = line_use_find_access_site(use, notified->code, notified->kind, notified->va, notified->measured,
                                           &access_site, err);
        access_site.va = prefetched_at(use, access_site.va, event->line);
        if (status == C2_OK)
            status = residencies_prefetched(use->residencies, event, &access_site, err);
    }
    return status;
}

/* ------------------------------------------------------------------ phases */

static enum c2_status line_use_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct line_use *use = self;
    (void)err;
    line_use_catch_up(use, UINT64_MAX);
    if (window->phase == STREAM_MEASURE)
        sim_totals_add(&use->measured, &window->of);
    use->measuring = window->next == STREAM_MEASURE;
    return C2_OK;
}

static void line_use_emptied(void *self)
{
    struct line_use *use = self;
    line_use_catch_up(use, UINT64_MAX);
    use->failed = residencies_end_all(use->residencies, &use->failure);
}

static void clear_pairs(struct pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->count; i++)
        pairs->list[i].residencies = pairs->list[i].unused_bytes = 0;
}

static enum c2_status line_use_dropped(void *self, struct c2_error *err)
{
    struct line_use *use = self;
    (void)err;
    line_use_catch_up(use, UINT64_MAX);
    residencies_drop(use->residencies);
    fields_drop(use->fields);
    memset(use->result.levels, 0, sizeof use->result.levels);
    if (use->cells)
        memset(use->cells, 0, (size_t)use->spots * use->levels * sizeof *use->cells);
    for (uint32_t i = 0; i < use->levels; i++)
        clear_pairs(&use->pairs[i]);
    use->measured = (struct sim_totals){.tlb_misses = 0};
    use->invalidated = 0;
    return C2_OK;
}

/* ------------------------------------------------------------------ the result */

static bool line_use_is_empty(const struct analyses_line_use *of, uint32_t levels)
{
    uint64_t loads = 0;
    for (uint32_t i = 0; i < levels; i++)
        loads += of[i].loads;
    return loads == 0;
}

/* What spots have become: rows; row_of: [spot]. */
static void line_use_merge(struct line_use *use, const struct where_row *spots, size_t count, uint32_t *row_of)
{
    const uint32_t levels = use->levels;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct where_row *of = &spots[i];
        if (of->spot >= use->spots || line_use_is_empty(&use->cells[(size_t)of->spot * levels], levels))
            continue;
        const struct analyses_line_use_row *last = kept > 0 ? &use->rows[kept - 1] : NULL;
        if (!last || last->insn != of->insn || last->object != of->object) {
            use->rows[kept] = (struct analyses_line_use_row){of->insn, of->object, &use->sums[kept * levels]};
            kept++;
        }
        row_of[of->spot] = (uint32_t)(kept - 1);
        for (uint32_t level = 0; level < levels; level++)
            analyses_line_use_add(&use->sums[(kept - 1) * levels + level],
                                  &use->cells[(size_t)of->spot * levels + level]);
    }
    use->result.rows = use->rows;
    use->result.row_count = kept;
}

static int by_rows(const void *left, const void *right)
{
    const struct analyses_line_use_pair *a = left, *b = right;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->loader != b->loader)
        return a->loader < b->loader ? -1 : 1;
    return a->evictor < b->evictor ? -1 : a->evictor > b->evictor;
}

static int line_use_by_unused(const void *left, const void *right)
{
    const struct analyses_line_use_pair *a = left, *b = right;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->unused_bytes != b->unused_bytes)
        return a->unused_bytes > b->unused_bytes ? -1 : 1;
    return by_rows(left, right);
}

/* Spots that are one row are one. */
static size_t line_use_merge_pairs(struct analyses_line_use_pair *list, size_t count)
{
    size_t kept = 0;
    qsort(list, count, sizeof *list, by_rows);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_rows(&list[kept - 1], &list[i]) != 0) {
            list[kept++] = list[i];
            continue;
        }
        list[kept - 1].residencies += list[i].residencies;
        list[kept - 1].unused_bytes += list[i].unused_bytes;
    }
    qsort(list, kept, sizeof *list, line_use_by_unused);
    return kept;
}

static enum c2_status make_pairs(struct line_use *use, const uint32_t *row_of, struct c2_error *err)
{
    size_t count = 0;
    for (uint32_t level = 0; level < use->levels; level++)
        count += use->pairs[level].count;
    use->all_pairs = c2_calloc(count + 1, sizeof *use->all_pairs);
    if (!use->all_pairs)
        return line_use_no_memory(err);
    count = 0;
    for (uint32_t level = 0; level < use->levels; level++)
        for (uint32_t i = 0; i < use->pairs[level].count; i++) {
            const struct pair *pair = &use->pairs[level].list[i];
            const uint32_t evictor = pair->evictor == STAYS_NOBODY ? ANALYSES_NOBODY : row_of[pair->evictor];
            if (pair->residencies != 0)
                use->all_pairs[count++] = (struct analyses_line_use_pair){level, row_of[pair->loader], evictor,
                                                                          pair->residencies, pair->unused_bytes};
        }
    use->result.pairs = use->all_pairs;
    use->result.pair_count = line_use_merge_pairs(use->all_pairs, count);
    return C2_OK;
}

static enum c2_status line_use_make_rows(struct line_use *use, struct c2_error *err)
{
    struct where_row *spots;
    size_t count;
    enum c2_status status = where_rows(&spots, &count, use->where, err);
    if (status != C2_OK)
        return status;
    uint32_t *row_of = c2_alloc((where_count(use->where) + (size_t)1) * sizeof *row_of);
    use->rows = c2_calloc(count + 1, sizeof *use->rows);
    use->sums = c2_calloc((count + 1) * use->levels, sizeof *use->sums);
    if (row_of && use->rows && use->sums) {
        memset(row_of, 0xff, where_count(use->where) * sizeof *row_of);
        line_use_merge(use, spots, count, row_of);
        status = make_pairs(use, row_of, err);
    } else {
        status = line_use_no_memory(err);
    }
    c2_free(row_of);
    c2_free(spots);
    return status;
}

/* ------------------------------------------------------------------ what must hold */

static void line_use_check_level(const struct line_use *use, uint32_t number, const struct caches_counts *counts)
{
    const struct analyses_line_use_level *level = &use->result.levels[number];
    const bool data = number < use->machine->level_count;
    const bool exclusive = data && use->machine->levels[number].inclusion == CACHES_EXCLUSIVE;
    struct analyses_line_use rows = {.loads = 0};
    uint64_t residencies = 0, unused = 0;
    for (size_t i = 0; i < use->result.row_count; i++)
        analyses_line_use_add(&rows, &use->result.rows[i].level[number]);
    for (size_t i = 0; i < use->result.pair_count; i++) {
        const struct analyses_line_use_pair *pair = &use->result.pairs[i];
        residencies += pair->level == number ? pair->residencies : 0;
        unused += pair->level == number ? pair->unused_bytes : 0;
    }
    C2_ASSERT(exclusive || caches_machine_prefetches(use->machine) || use->instructed ||
              level->of.loads == counts->misses);
    C2_ASSERT(memcmp(&rows, &level->of, sizeof rows) == 0);
    C2_ASSERT(residencies == level->of.loads && unused == analyses_line_use_loss(&level->of, use->machine->line_bytes));
    C2_ASSERT(level->evicted + level->invalidated + level->taken + level->filtered + level->flushed + level->left ==
              level->of.loads);
}

static void line_use_check(const struct line_use *use)
{
    uint64_t invalidated = 0;
    for (uint32_t i = 0; i < use->machine->level_count; i++) {
        line_use_check_level(use, i, &use->measured.levels[i]);
        invalidated += use->measured.levels[i].back_invalidations;
    }
    if (use->machine->has_l1i)
        line_use_check_level(use, use->machine->level_count, &use->measured.l1i);
    C2_ASSERT(invalidated == use->invalidated);
    residencies_check(use->residencies);
}

static enum c2_status line_use_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct line_use *use = self;
    (void)sim;
    line_use_catch_up(use, UINT64_MAX);
    residencies_check(use->residencies);
    enum c2_status status = failed(use, err);
    if (status == C2_OK)
        status = residencies_end_all(use->residencies, err);
    fields_check(use->fields);
    if (status == C2_OK)
        status = line_use_make_rows(use, err);
    if (status == C2_OK)
        status = fields_result(&use->result.structs, &use->result.struct_count, use->fields, err);
    if (status == C2_OK)
        line_use_check(use);
    return status;
}

/* ------------------------------------------------------------------ the file */

static void line_use_write_row(FILE *to, const struct line_use *use, const struct analyses_line_use_row *row,
                               uint32_t level)
{
    const struct analyses_profile_result *profile = use->profile->kind->result(use->profile);
    const uint32_t levels = use->machine->level_count;
    const struct guest_va pc = profile->insns[row->insn].pc;
    struct loader_place place = {.offset = pc.v};
    if (use->symbols)
        loader_place_of(use->symbols, pc, &place);
    fprintf(to, "%s,0x%" PRIx64 ",", level == levels ? use->machine->l1i.name : use->machine->levels[level].name, pc.v);
    analyses_write_quoted(to, place.function);
    fputc(',', to);
    analyses_write_quoted(to, place.file);
    fprintf(to, ",%d,", place.line);
    analyses_write_quoted(to, profile->objects[row->object].name);
#define X(field, help) fprintf(to, ",%" PRIu64, row->level[level].field);
    ANALYSES_LINE_USE_COUNTERS(X)
#undef X
    fprintf(to, ",%" PRIu64 "\n", analyses_line_use_loss(&row->level[level], use->machine->line_bytes));
}

static void line_use_write_file(FILE *to, const struct line_use *use)
{
    fputs("level,pc,function,file,line,object", to);
#define X(field, help) fputs("," #field, to);
    ANALYSES_LINE_USE_COUNTERS(X)
#undef X
    fputs(",unused_bytes\n", to);
    for (uint32_t level = 0; level < use->levels; level++)
        for (size_t i = 0; i < use->result.row_count; i++)
            if (use->result.rows[i].level[level].loads != 0)
                line_use_write_row(to, use, &use->result.rows[i], level);
}

static enum c2_status line_use_commit(struct analysis *analysis, struct c2_error *err)
{
    struct line_use *use = (struct line_use *)analysis;
    if (use->file)
        line_use_write_file(c2_outfile_stream(use->file), use);
    return analyses_commit_file(&use->file, err);
}

static struct sim_subscriber line_use_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .in_every_phase = true,
                                   .every_walk = true,
                                   .references = line_use_references,
                                   .missed = line_use_missed,
                                   .prefetched = line_use_prefetched,
                                   .emptied = line_use_emptied,
                                   .dropped = line_use_dropped,
                                   .window = line_use_window,
                                   .finish = line_use_finish};
}

static const void *line_use_result(const struct analysis *analysis)
{
    return &((const struct line_use *)analysis)->result;
}

const struct analysis_kind analysis_line_use = {.needs = 1u << ANALYSIS_profile,
                                                .chapter = &analyses_line_use_chapter,
                                                .create = line_use_create,
                                                .subscriber = line_use_subscriber,
                                                .result = line_use_result,
                                                .commit = line_use_commit,
                                                .destroy = line_use_destroy};
