/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * reuse: how far apart accesses of the same line are.
 *
 * Model
 *   The distance of an access is the number of other lines accessed since its line was accessed last; of a first access
 *   it is infinite, and called cold. A fully associative LRU cache of n lines has what comes back at distances below n,
 *   so from the distances of one run follow the misses of caches of every size.
 *   An access is what the caches count: a line access, so a reference that touches two lines is two, a repeat of the
 *   line before is one at distance 0, a modify is a read and a write, and a fetch is one where it leaves the line of
 *   the fetch before. Lines are physical ones, as in the caches.
 *   Data and code have a stack each: those of L1D and L1I. Where walks of page tables are cached and enter at L1D,
 *   their reads are in the data. Each level below has a stack of its own, of the accesses that reach it in this
 *   machine: misses of the levels above, and reads of walks.
 *   All is accessed in every phase, as the shadows of the levels are, and counted in those that are measured. Where the
 *   caches are emptied, so are the stacks.
 *   For instructions and objects the data and the code are counted in powers of two: reads of walks are no
 *   instruction's.
 *   Of several cores each has stacks of its own for data, code and the levels that are its own; those of all are
 *   counted together, so a curve is of one cache of that size for each core. A write takes its line out of the stacks
 *   of all other cores: what comes back then is at no distance, missed by caches of every size, and called taken. A
 *   stack below them is of what all cores ask the level for, in the order in which they do.
 *
 * Counting, invariants (asserted when the run is over)
 *   Of each stack, at the size of its level: what the curve says is what the level's shadow has missed, exactly
 *   (fa_misses; but where levels prefetch, which shadows see), and the accesses are the level's. Instructions and
 *   objects add up to data and code, but for walks.
 *
 * Not modelled
 *   Sets and ways: what a level of the machine misses is in the report.
 *
 * Price
 *   Every reference is notified (the general loop of sim/), found in its stack and counted: bench/README.md. Memory:
 *   some 25 bytes a line accessed for each stack, 8 bytes for each distance that there was, up to 2^24, and 560 bytes
 *   for each instruction and object that meet.
 */
#include "analyses/reuse.h"

#include <inttypes.h>
#include <string.h>

#include "analyses/reuse_stack_priv.h"
#include "analyses/where.h"

#define EXACT_AT_LEAST C2_HOST_SIZE(UINT64_C(1) << 24, 64u)
#define LINES_A_REFERENCE 65u /* 512 bytes in lines of 8 */
#define NOWHERE UINT64_MAX

/* Accesses of one kind. */
struct curve {
    struct reuse_stack **stacks; /* [core], or one */
    uint32_t copies;
    struct analyses_reuse_stack of;
    uint64_t *exact;
    uint64_t room;
};

/* The line accesses of a reference that were notified and not done yet. */
struct pending {
    struct curve *of;
    uint32_t core;
    bool write;
    uint32_t count, next;
    struct {
        uint64_t line;
        struct guest_va va;
        uint32_t spot; /* WHERE_NOWHERE: it is not measured */
    } line[LINES_A_REFERENCE];
};

struct spots {
    struct analyses_reuse *list; /* [spot] */
    uint32_t room;
};

struct reuse {
    struct analysis base;
    const struct caches_machine *machine;
    struct where *where;
    struct spots spots[2]; /* of data, of code */
    struct curve curves[ANALYSES_LEVELS];
    struct curve *data, *code, *level[CACHES_MAX_LEVELS]; /* level[0]: data. code: NULL: there is no L1I */
    unsigned line_shift;
    bool deferred; /* walks enter at L1D: accesses wait for the reads of walks before them */
    struct pending pending;
    uint32_t cores;
    uint64_t fetch_line[CACHES_MAX_CORES];
    bool measuring;
    uint64_t walk_reads; /* in the data */
    uint64_t exact_most;
    struct c2_outfile *file; /* NULL: none is wanted */
    enum c2_status failed;   /* in a function that cannot say so */
    struct c2_error failure;
    struct analyses_reuse_result result;
    struct analyses_reuse_row *rows;
};

uint64_t analyses_reuse_misses(const struct analyses_reuse_stack *stack, uint64_t lines)
{
    uint64_t hits = 0;
    if (lines <= stack->exact_count) {
        for (uint64_t i = 0; i < lines; i++)
            hits += stack->exact[i];
        return stack->accesses - hits;
    }
    for (uint32_t k = 0; k < ANALYSES_REUSE_COLD && (k == 0 || UINT64_C(1) << (k - 1) < lines); k++)
        hits += stack->by_size.count[k];
    return stack->accesses - hits;
}

/* ------------------------------------------------------------------ life */

/* number: of the level */
static enum c2_status add_curve(struct reuse *reuse, struct curve **out, const char *name, uint32_t number,
                                struct c2_error *err)
{
    const struct caches_machine *machine = reuse->machine;
    const struct caches_level *level = number == machine->level_count ? &machine->l1i : &machine->levels[number];
    struct curve *curve = *out = &reuse->curves[reuse->result.stack_count++];
    curve->of.name = name ? name : level->name;
    curve->of.level = level->name;
    curve->of.level_lines = level->size_bytes / reuse->machine->line_bytes;
    if (reuse->exact_most < curve->of.level_lines)
        reuse->exact_most = curve->of.level_lines;
    curve->copies = analyses_copies(reuse->machine, number);
    curve->stacks = c2_calloc(curve->copies, sizeof(struct reuse_stack *));
    enum c2_status status = curve->stacks ? C2_OK : c2_fail_memory(err, "reuse distances");
    for (uint32_t i = 0; i < curve->copies && status == C2_OK; i++)
        status = reuse_stack_create(&curve->stacks[i], err);
    return status;
}

static enum c2_status add_curves(struct reuse *reuse, struct c2_error *err)
{
    const struct caches_machine *machine = reuse->machine;
    enum c2_status status = add_curve(reuse, &reuse->data, "data", 0, err);
    if (status == C2_OK && machine->has_l1i)
        status = add_curve(reuse, &reuse->code, "code", machine->level_count, err);
    reuse->level[0] = reuse->data;
    for (uint32_t i = 1; i < machine->level_count && status == C2_OK; i++)
        status = add_curve(reuse, &reuse->level[i], NULL, i, err);
    return status;
}

static void reuse_destroy(struct analysis *analysis)
{
    struct reuse *reuse = (struct reuse *)analysis;
    for (uint32_t i = 0; i < reuse->result.stack_count; i++) {
        for (uint32_t copy = 0; copy < reuse->curves[i].copies && reuse->curves[i].stacks; copy++)
            reuse_stack_destroy(reuse->curves[i].stacks[copy]);
        c2_free(reuse->curves[i].stacks);
        c2_free(reuse->curves[i].exact);
    }
    c2_outfile_abandon(reuse->file);
    where_destroy(reuse->where);
    c2_free(reuse->spots[0].list);
    c2_free(reuse->spots[1].list);
    c2_free(reuse->rows);
    c2_free(reuse);
}

static void forget_fetches(struct reuse *reuse)
{
    for (uint32_t i = 0; i < reuse->cores; i++)
        reuse->fetch_line[i] = NOWHERE;
}

static enum c2_status reuse_create(struct analysis **out, const struct analyses_setup *setup,
                                   const struct analyses *analyses, struct c2_error *err)
{
    const enum c2_status may = analyses_need_stores_to_stay(setup->machine, "--reuse", err);
    struct reuse *reuse = may == C2_OK ? c2_calloc(1, sizeof *reuse) : NULL;
    if (!reuse)
        return may == C2_OK ? c2_fail_memory(err, "reuse distances") : may;
    reuse->base.kind = &analysis_reuse;
    reuse->machine = setup->machine;
    reuse->line_shift = c2_log2(setup->machine->line_bytes);
    reuse->deferred = setup->machine->walks_cached && setup->machine->walks_from == 0;
    reuse->cores = caches_machine_cores(setup->machine);
    forget_fetches(reuse);
    reuse->measuring = true;
    reuse->exact_most = EXACT_AT_LEAST;
    reuse->result.line_bytes = setup->machine->line_bytes;
    enum c2_status status = add_curves(reuse, err);
    if (status == C2_OK)
        status = where_create(&reuse->where, analyses, err);
    if (status == C2_OK)
        status = analyses_open_file(&reuse->file, setup, ANALYSES_SETTING_reuse_csv, err);
    if (status == C2_OK)
        *out = &reuse->base;
    else
        reuse_destroy(&reuse->base);
    return status;
}

/* ------------------------------------------------------------------ counting */

static uint32_t bucket_of(uint64_t distance)
{
    if (distance >= REUSE_TAKEN)
        return distance == REUSE_COLD ? ANALYSES_REUSE_COLD : ANALYSES_REUSE_TAKEN;
    return distance == 0 ? 0 : c2_log2(distance) + 1;
}

static enum c2_status reuse_reach(struct curve *curve, uint64_t distance, uint64_t most, struct c2_error *err)
{
    if (distance < curve->room)
        return C2_OK;
    uint64_t room = curve->room * 2 + C2_HOST_SIZE(4096u, 1u);
    room = room > distance ? room : distance + 1;
    room = room < most ? room : most;
    uint64_t *exact = c2_realloc(curve->exact, room * sizeof *exact);
    if (!exact)
        return c2_fail_memory(err, "reuse distances");
    memset(exact + curve->room, 0, (room - curve->room) * sizeof *exact);
    curve->exact = exact;
    curve->room = room;
    return C2_OK;
}

static enum c2_status reuse_count(struct reuse *reuse, struct curve *curve, uint64_t distance, struct c2_error *err)
{
    curve->of.accesses++;
    curve->of.by_size.count[bucket_of(distance)]++;
    if (distance >= reuse->exact_most) /* COLD and TAKEN too */
        return C2_OK;
    enum c2_status status = reuse_reach(curve, distance, reuse->exact_most, err);
    if (status == C2_OK)
        curve->exact[distance]++;
    return status;
}

static enum c2_status reuse_access_line(struct reuse *reuse, struct curve *curve, uint32_t core, uint64_t line,
                                        uint64_t *distance, struct c2_error *err)
{
    struct reuse_stack *stack = curve->stacks[curve->copies > 1 ? core : 0];
    enum c2_status status = reuse_stack_access(stack, line, distance, err);
    return status == C2_OK && reuse->measuring ? reuse_count(reuse, curve, *distance, err) : status;
}

/* The core writes the line: others lose it. */
static enum c2_status reuse_take_line(struct reuse *reuse, uint32_t core, uint64_t line, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < reuse->result.stack_count; i++) {
        const struct curve *curve = &reuse->curves[i];
        for (uint32_t copy = 0; copy < curve->copies && curve->copies > 1 && status == C2_OK; copy++)
            if (copy != core)
                status = reuse_stack_remove(curve->stacks[copy], line, err);
    }
    return status;
}

static struct spots *spots_of(struct reuse *reuse, const struct curve *curve)
{
    return &reuse->spots[curve == reuse->code];
}

static enum c2_status reuse_reach_spot(struct spots *spots, uint32_t spot, struct c2_error *err)
{
    if (spot < spots->room)
        return C2_OK;
    const uint32_t room = spots->room * 2 + C2_HOST_SIZE(1024u, 1u) + (spot - spots->room);
    struct analyses_reuse *list = c2_realloc(spots->list, room * sizeof *list);
    if (!list)
        return c2_fail_memory(err, "reuse distances by instruction and object");
    memset(list + spots->room, 0, (room - spots->room) * sizeof *list);
    spots->list = list;
    spots->room = room;
    return C2_OK;
}

/* ------------------------------------------------------------------ the program's accesses */

/* Of those that are pending, up to this address. */
static enum c2_status reuse_catch_up(struct reuse *reuse, uint64_t before, struct c2_error *err)
{
    struct pending *pending = &reuse->pending;
    enum c2_status status = C2_OK;
    while (pending->next < pending->count && pending->line[pending->next].va.v < before && status == C2_OK) {
        const uint32_t i = pending->next++, spot = pending->line[i].spot;
        uint64_t distance = 0;
        status = reuse_access_line(reuse, pending->of, pending->core, pending->line[i].line, &distance, err);
        if (status == C2_OK && pending->write && reuse->cores > 1)
            status = reuse_take_line(reuse, pending->core, pending->line[i].line, err);
        if (status == C2_OK && spot != WHERE_NOWHERE)
            spots_of(reuse, pending->of)->list[spot].count[bucket_of(distance)]++;
    }
    return status;
}

static enum c2_status reuse_add_line(struct reuse *reuse, const struct sim_reference *reference, uint64_t line,
                                     struct guest_va va, struct c2_error *err)
{
    struct pending *pending = &reuse->pending;
    uint32_t spot = WHERE_NOWHERE;
    enum c2_status status = C2_OK;
    if (reuse->measuring)
        status = where_spot(reuse->where, reference->code, reference->kind, va, &spot, err);
    if (status == C2_OK && spot != WHERE_NOWHERE)
        status = reuse_reach_spot(spots_of(reuse, pending->of), spot, err);
    C2_ASSERT(pending->count < LINES_A_REFERENCE);
    pending->line[pending->count].line = line;
    pending->line[pending->count].va = va;
    pending->line[pending->count++].spot = spot;
    return status;
}

/* A fetch that stays in its line is no access. */
static bool is_access(struct reuse *reuse, uint32_t core, enum sim_kind kind, struct guest_va va)
{
    const uint64_t line = va.v >> reuse->line_shift;
    if (kind != SIM_FETCH)
        return true;
    const bool leaves = line != reuse->fetch_line[core];
    reuse->fetch_line[core] = line;
    return leaves;
}

/* Most fetches: all of the instruction is in the line of the fetch before. */
static bool reuse_residencies(const struct reuse *reuse, uint32_t core, const struct sim_reference *reference)
{
    const uint64_t va = reference->va.v, last = va + reference->size - 1;
    return reference->kind == SIM_FETCH && va >> reuse->line_shift == reuse->fetch_line[core] &&
           last >> reuse->line_shift == reuse->fetch_line[core];
}

static enum c2_status reuse_reference(struct reuse *reuse, const struct sim_reference *reference, struct c2_error *err)
{
    struct pending *pending = &reuse->pending;
    const uint32_t core = reuse->cores > 1 ? sim_core_of(reference->tid, reuse->cores) : 0;
    if (reference->past || SHORTCUT(reuse_residencies(reuse, core, reference)))
        return C2_OK;
    struct curve *of = reference->kind == SIM_FETCH ? reuse->code : reuse->data;
    enum c2_status status = reuse->failed == C2_OK ? reuse_catch_up(reuse, UINT64_MAX, err)
                                                   : c2_fail(err, reuse->failed, "%s", reuse->failure.text);
    if (!of || status != C2_OK)
        return status;
    pending->of = of;
    pending->core = core;
    pending->write = reference->kind == SIM_WRITE;
    pending->count = pending->next = 0;
    for (uint32_t part = 0; part < reference->parts; part++) {
        const uint64_t start = reference->part[part].va.v, end = start + reference->part[part].size;
        const uint64_t delta = reference->part[part].pa.v - start;
        for (uint64_t va = start; va < end && status == C2_OK; va = (va | (reuse->machine->line_bytes - 1)) + 1)
            if (is_access(reuse, core, reference->kind, (struct guest_va){va}))
                status = reuse_add_line(reuse, reference, (va + delta) >> reuse->line_shift, (struct guest_va){va},
                                        err);
    }
    return status == C2_OK && !reuse->deferred ? reuse_catch_up(reuse, UINT64_MAX, err) : status;
}

static enum c2_status reuse_references(void *self, const struct sim_reference *list, size_t count, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = reuse_reference(self, &list[i], err);
    return status;
}

/* ------------------------------------------------------------------ what levels are asked */

static enum c2_status walk_read(struct reuse *reuse, const struct sim_miss *miss, struct c2_error *err)
{
    uint64_t distance;
    enum c2_status status = C2_OK;
    if (miss->kind != SIM_WALK || miss->first != 0)
        return C2_OK;
    /* The line that needs the translation is the one of miss->va, or the part of a reference that begins there. */
    status = reuse_catch_up(reuse, miss->va.v & ~(uint64_t)(reuse->machine->line_bytes - 1), err);
    reuse->walk_reads += reuse->measuring;
    return status == C2_OK ? reuse_access_line(reuse, reuse->data, miss->core, miss->line.v, &distance, err) : status;
}

static enum c2_status reuse_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct reuse *reuse = self;
    uint64_t distance;
    enum c2_status status = walk_read(reuse, miss, err);
    const uint32_t first = miss->first > 0 ? miss->first : 1;
    for (uint32_t i = first; i < miss->outcome->depth && status == C2_OK; i++)
        status = reuse_access_line(reuse, reuse->level[i], miss->core, miss->line.v, &distance, err);
    return status;
}

/* ------------------------------------------------------------------ phases */

static enum c2_status reuse_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct reuse *reuse = self;
    enum c2_status status = reuse_catch_up(reuse, UINT64_MAX, err);
    reuse->measuring = window->next == STREAM_MEASURE;
    return status;
}

static void reuse_emptied(void *self)
{
    struct reuse *reuse = self;
    reuse->failed = reuse_catch_up(reuse, UINT64_MAX, &reuse->failure);
    forget_fetches(reuse);
    for (uint32_t i = 0; i < reuse->result.stack_count; i++)
        for (uint32_t copy = 0; copy < reuse->curves[i].copies; copy++)
            reuse_stack_empty(reuse->curves[i].stacks[copy]);
}

static enum c2_status reuse_dropped(void *self, struct c2_error *err)
{
    struct reuse *reuse = self;
    enum c2_status status = reuse_catch_up(reuse, UINT64_MAX, err);
    for (uint32_t i = 0; i < reuse->result.stack_count; i++) {
        struct curve *curve = &reuse->curves[i];
        curve->of.accesses = 0;
        curve->of.by_size = (struct analyses_reuse){{0}};
        for (uint64_t at = 0; at < curve->room; at++)
            curve->exact[at] = 0;
    }
    for (unsigned code = 0; code < 2; code++)
        for (uint32_t i = 0; i < reuse->spots[code].room; i++)
            reuse->spots[code].list[i] = (struct analyses_reuse){{0}};
    reuse->walk_reads = 0;
    return status;
}

/* ------------------------------------------------------------------ the file */

static void reuse_write_size(FILE *to, const struct reuse *reuse, uint64_t lines, const uint64_t *misses)
{
    fprintf(to, "%" PRIu64 ",%" PRIu64, lines << reuse->line_shift, lines);
    for (uint32_t i = 0; i < reuse->result.stack_count; i++) {
        const uint64_t accesses = reuse->curves[i].of.accesses;
        fprintf(to, ",%" PRIu64 ",%.8f", misses[i], accesses == 0 ? 0 : (double)misses[i] / (double)accesses);
    }
    fputc('\n', to);
}

/* Where a curve falls, and where distances are not known exactly, powers of two. */
static void write_curves(FILE *to, const struct reuse *reuse)
{
    uint64_t misses[ANALYSES_LEVELS], most = 0;
    fputs("bytes,lines", to);
    for (uint32_t i = 0; i < reuse->result.stack_count; i++) {
        const struct curve *curve = &reuse->curves[i];
        fprintf(to, ",%s.misses,%s.rate", curve->of.name, curve->of.name);
        misses[i] = curve->of.accesses;
        most = most < curve->room ? curve->room : most;
    }
    fputc('\n', to);
    for (uint64_t lines = 1; lines <= most; lines++) {
        bool falls = lines == 1;
        for (uint32_t i = 0; i < reuse->result.stack_count; i++) {
            const uint64_t hits = lines <= reuse->curves[i].room ? reuse->curves[i].exact[lines - 1] : 0;
            falls |= hits != 0;
            misses[i] -= hits;
        }
        if (falls)
            reuse_write_size(to, reuse, lines, misses);
    }
    for (uint64_t lines = reuse->exact_most * 2; most == reuse->exact_most && lines < UINT64_C(1) << 32; lines *= 2) {
        for (uint32_t i = 0; i < reuse->result.stack_count; i++)
            misses[i] = analyses_reuse_misses(&reuse->curves[i].of, lines);
        reuse_write_size(to, reuse, lines, misses);
    }
}

static enum c2_status reuse_commit(struct analysis *analysis, struct c2_error *err)
{
    struct reuse *reuse = (struct reuse *)analysis;
    if (reuse->file)
        write_curves(c2_outfile_stream(reuse->file), reuse);
    return analyses_commit_file(&reuse->file, err);
}

/* ------------------------------------------------------------------ the result */

/* Where levels prefetch, or the program does, their shadows see more than what is accessed; flushed lines they lose,
 * and those of shared levels what a core has taken to write it. apart: there was any of that. */
static void reuse_check_curve(const struct analyses_reuse_stack *of, const struct caches_counts *counts, bool apart)
{
    C2_ASSERT(of->accesses == counts->accesses);
    C2_ASSERT(apart || analyses_reuse_misses(of, of->level_lines) == counts->fa_misses);
}

/* Each level's shadow has missed what the curve says. */
static void check_curves(struct reuse *reuse, const struct sim *sim)
{
    const struct sim_totals *of = sim_measured(sim);
    const bool apart = caches_machine_prefetches(reuse->machine) || caches_were_instructed(sim_caches(sim));
    for (uint32_t i = 0; i < reuse->result.stack_count; i++) {
        struct curve *curve = &reuse->curves[i];
        const struct caches_counts *counts = &of->l1i;
        bool shared = false;
        for (uint32_t level = 0; level < reuse->machine->level_count; level++) {
            counts = curve == reuse->level[level] ? &of->levels[level] : counts;
            shared |= curve == reuse->level[level] && level >= caches_machine_private(reuse->machine);
        }
        curve->of.exact = curve->exact;
        curve->of.exact_count = curve->room; /* at exact_most, or nothing came back at a larger distance */
        curve->of.fa_misses = counts->fa_misses;
        for (uint32_t copy = 0; copy < curve->copies; copy++)
            reuse_stack_check(curve->stacks[copy]);
        reuse_check_curve(&curve->of, counts, apart || (shared && counts->coherence != 0));
        reuse->result.stacks[i] = curve->of;
    }
}

static void reuse_add_to(struct analyses_reuse *to, const struct analyses_reuse *what)
{
    for (uint32_t i = 0; i < ANALYSES_REUSE_BUCKETS; i++)
        to->count[i] += what->count[i];
}

static uint64_t reuse_sum_of(const struct analyses_reuse *of)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ANALYSES_REUSE_BUCKETS; i++)
        sum += of->count[i];
    return sum;
}

/* Of neighbours that are one instruction and object: their sum, as one row; none, where nothing was counted. */
static void reuse_add_row(struct reuse *reuse, const struct where_row *from, const struct where_row *end, bool code)
{
    const struct spots *spots = &reuse->spots[code];
    struct analyses_reuse_row row = {.insn = from->insn, .object = from->object, .code = code};
    for (; from < end; from++)
        if (from->spot < spots->room)
            reuse_add_to(&row.of, &spots->list[from->spot]);
    if (reuse_sum_of(&row.of) != 0)
        reuse->rows[reuse->result.row_count++] = row;
}

static uint64_t sum_of_rows(const struct reuse *reuse, bool code)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < reuse->result.row_count; i++)
        sum += reuse->rows[i].code == code ? reuse_sum_of(&reuse->rows[i].of) : 0;
    return sum;
}

static enum c2_status reuse_make_rows(struct reuse *reuse, struct c2_error *err)
{
    struct where_row *list;
    size_t count;
    enum c2_status status = where_rows(&list, &count, reuse->where, err);
    if (status != C2_OK)
        return status;
    reuse->rows = c2_calloc(2 * count + 1, sizeof *reuse->rows);
    for (size_t from = 0, to; from < count && reuse->rows; from = to) {
        for (to = from; to < count && list[to].insn == list[from].insn && list[to].object == list[from].object; to++)
            ;
        reuse_add_row(reuse, list + from, list + to, false);
        reuse_add_row(reuse, list + from, list + to, true);
    }
    c2_free(list);
    if (!reuse->rows)
        return c2_fail_memory(err, "reuse distances by instruction and object");
    C2_ASSERT(sum_of_rows(reuse, false) + reuse->walk_reads == reuse->data->of.accesses);
    C2_ASSERT(!reuse->code || sum_of_rows(reuse, true) == reuse->code->of.accesses);
    reuse->result.rows = reuse->rows;
    return C2_OK;
}

static enum c2_status reuse_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct reuse *reuse = self;
    check_curves(reuse, sim);
    return reuse_make_rows(reuse, err);
}

static struct sim_subscriber reuse_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .in_every_phase = true,
                                   .every_walk = true,
                                   .references = reuse_references,
                                   .missed = reuse_missed,
                                   .emptied = reuse_emptied,
                                   .dropped = reuse_dropped,
                                   .window = reuse_window,
                                   .finish = reuse_finish};
}

static const void *reuse_result(const struct analysis *analysis) { return &((const struct reuse *)analysis)->result; }

const struct analysis_kind analysis_reuse = {.needs = 1u << ANALYSIS_profile,
                                             .chapter = &analyses_reuse_chapter,
                                             .create = reuse_create,
                                             .subscriber = reuse_subscriber,
                                             .result = reuse_result,
                                             .commit = reuse_commit,
                                             .destroy = reuse_destroy};
