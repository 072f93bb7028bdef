/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth: bytes on the paths between the levels, window by window, and which path limits a program.
 *
 * Model
 *   What is measured is divided into windows of so many instructions (sim/interval.c); the last of a phase may be
 *   shorter. A core that nothing holds up executes a window in its instructions divided by the machine's rate: the peak
 *   cycles. Each flow (one way of a path; floating-point operations) takes what moves divided by its limit. Flows
 *   overlap each other and the instructions within a window, and nothing between windows: so the window takes as long
 *   as the longest of them, and that flow dominates it if it takes longer than the instructions. A flow with rate b
 *   above its limit L loses (b - L) / L of the peak time; summed over the windows that is V_L / L, and over those that
 *   it dominates its share of the run's loss.
 * Counting
 *   core-L1D   read: the bytes of the data references that read; written: of those that write. A modification is both.
 *   Level to the next one below, or to memory: read, a line for each miss of the level - fills, those for writes and
 *   those of L1I (with L1D's) and of page walks included; written, a line for each dirty victim that the level writes
 *   back, and where the level below is exclusive a line for each victim, clean ones too. A line that a prefetch
 *   instruction has fetched counts as one that was missed. What is stored past the caches counts as it is written to
 *   memory, on the last path.
 *   Threads    Windows and curves of each, where there are several: bandwidth_threads.c. What the cores of a machine
 *   ask of one path at one time: bandwidth_shared.c.
 *   FLOPs      of the instructions that completed (engine/flops.c); 0 in traces of other tools, which do not say them.
 *   Places     A window belongs to the block that executed most of its instructions, of equal ones the first. So the
 *   windows of functions, and of lines, add up to the run's, and what moves at a change of functions is one's.
 * Invariants (asserted when the run is over)
 *   All windows together have the instructions, misses and write-backs that the simulator has measured; the steps of a
 *   curve add up to its flow; so do the places.
 * Memory
 *   For each block that was executed 40 bytes, and about 900 where windows belong to it; curves: see there.
 * Not modelled
 *   Machines that prefetch, which are refused: their prefetches are no misses.
 *   What one core has from another, without memory (forwards of caches/coherence.c), counts on the path of the level
 *   that missed it.
 *   Latencies and dependencies: the prediction is a lower bound. What fetches ask of L1I, and the 8 bytes of an entry
 *   that a walk reads where it enters. The way up of dirty copies that an inclusive level takes from those above it:
 *   they are on its own path down (at most back_invalidations lines are missing above). A line that an L1I fetch takes
 *   dirty out of an exclusive level into another one. Clean victims of prefetch
 *   instructions above an exclusive level.
 * Source
 *   J. Weidendorfer, "Simulation Driven Performance Analysis for Software Optimization", habilitation thesis, TU
 *   Muenchen: sections 4.3 and 4.4. There the window slides and is looked at every 16 instructions; here windows follow
 *   each other, so that each instruction is in one.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/bandwidth_priv.h"

#define WINDOW 200u
#define WINDOW_MOST 1000000000u
#define FLOP_STEPS 16u /* of a byte by operation, in curves */
#define NOBODY UINT32_MAX
enum { CORE_READ, CORE_WRITTEN };

/* A block that was executed. */
struct place {
    const struct stream_block *block; /* NULL: not yet */
    uint64_t window;                  /* the last one that it was in, counting from 1 */
    uint64_t tally;                   /* its instructions there */
    struct bandwidth_windows *of;     /* those that belong to it; NULL: none */
};

/* What records have done. */
struct done {
    uint64_t instructions, flops, read, written;
};

struct bandwidth {
    struct analysis base;
    const struct caches_machine *machine;
    struct loader_symbols *symbols;
    uint64_t window; /* instructions */
    bool idle;       /* nothing is measured */

    struct place *places; /* [number of the block] */
    uint32_t place_count;
    /* Of the window under way: */
    uint64_t number;    /* counts from 1 */
    struct done so_far; /* to the end of the last record, which may be in the next window */
    uint32_t *in_it;    /* blocks, in the order in which they came */
    uint32_t in_count, in_room;
    struct done last; /* the last record's */
    uint32_t last_number, last_insns;
    uint64_t victims[CACHES_MAX_LEVELS]; /* of levels above an exclusive one */

    uint64_t all_victims[CACHES_MAX_LEVELS];
    struct bandwidth_bins bins[BANDWIDTH_UNITS][BANDWIDTH_FLOWS];
    struct bandwidth_threads threads;
    struct bandwidth_shared *shared; /* NULL: one core, or nothing to compare with */
    struct analyses_bandwidth_result result;
    struct bandwidth_step *steps[BANDWIDTH_UNITS][BANDWIDTH_FLOWS];
    struct bandwidth_place *functions, *lines, *loops;
    const struct analyses *analyses;      /* of this machine */
    struct c2_outfile *curves, *roofline; /* NULL: not wanted */
};

static uint32_t flops_flow(const struct bandwidth *b) { return b->result.flow_count - 1; }

/* ------------------------------------------------------------------ life */

static void release_places(struct bandwidth *b)
{
    for (uint32_t i = 0; i < b->place_count; i++) {
        c2_free(b->places[i].of);
        b->places[i].of = NULL;
    }
}

static void release_bins(struct bandwidth *b)
{
    for (uint32_t unit = 0; unit < BANDWIDTH_UNITS; unit++)
        for (uint32_t i = 0; i < BANDWIDTH_FLOWS; i++)
            bandwidth_bins_release(&b->bins[unit][i]);
}

static void bandwidth_destroy(struct analysis *analysis)
{
    struct bandwidth *b = (struct bandwidth *)analysis;
    release_places(b);
    release_bins(b);
    bandwidth_threads_release(&b->threads);
    bandwidth_shared_destroy(b->shared);
    for (uint32_t unit = 0; unit < BANDWIDTH_UNITS; unit++)
        for (uint32_t i = 0; i < BANDWIDTH_FLOWS; i++)
            c2_free(b->steps[unit][i]);
    c2_free(b->places);
    c2_free(b->in_it);
    c2_free(b->functions);
    c2_free(b->lines);
    c2_free(b->loops);
    c2_outfile_abandon(b->curves);
    c2_outfile_abandon(b->roofline);
    c2_free(b);
}

/* The level below path `path`; level_count: memory. */
static const char *bandwidth_level_name(const struct caches_machine *machine, uint32_t level)
{
    return level < machine->level_count ? machine->levels[level].name : "memory";
}

static void name_flows(struct analyses_bandwidth_result *result, const struct caches_machine *machine)
{
    for (uint32_t path = 0; path <= machine->level_count; path++) {
        const struct caches_path *limit = path < machine->level_count ? &machine->levels[path].path : &machine->memory;
        for (unsigned writes = 0; writes < 2; writes++) {
            struct bandwidth_flow *flow = &result->flows[result->flow_count++];
            *flow = (struct bandwidth_flow){.writes = writes, .limit = writes ? limit->write : limit->read};
            snprintf(flow->path, sizeof flow->path, "%s-%s", path == 0 ? "core" : machine->levels[path - 1].name,
                     bandwidth_level_name(machine, path));
        }
    }
    result->flows[result->flow_count++] = (struct bandwidth_flow){
        .path = "FLOPs", .computes = true, .limit = machine->flop_rate};
    result->limited = machine->instruction_rate != 0;
}

static enum c2_status bandwidth_create(struct analysis **out, const struct analyses_setup *setup,
                                       const struct analyses *analyses, struct c2_error *err)
{
    if (caches_machine_prefetches(setup->machine))
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "--bandwidth does not count the bytes of prefetched lines, and %s prefetches: leave one out",
                       setup->machine->name);
    const enum c2_status may = analyses_need_stores_to_stay(setup->machine, "--bandwidth", err);
    struct bandwidth *b = may == C2_OK ? c2_calloc(1, sizeof *b) : NULL;
    if (!b)
        return may == C2_OK ? c2_fail_memory(err, "the bandwidth of the run") : may;
    *b = (struct bandwidth){.base.kind = &analysis_bandwidth,
                            .machine = setup->machine,
                            .symbols = setup->symbols,
                            .analyses = analyses,
                            .number = 1,
                            .last_number = NOBODY};
    name_flows(&b->result, setup->machine);
    enum c2_status status = analyses_setting_number(&b->window, setup, ANALYSES_SETTING_bandwidth_window, WINDOW, 1,
                                                    WINDOW_MOST, err);
    b->result.window = (uint32_t)b->window;
    if (status == C2_OK && b->result.limited && caches_machine_cores(setup->machine) > 1)
        status = bandwidth_shared_create(&b->shared, &b->result, setup->machine, setup->quantum, err);
    if (status == C2_OK)
        status = analyses_open_file(&b->curves, setup, ANALYSES_SETTING_bandwidth_curves, err);
    b->threads.curves = b->curves;
    if (status == C2_OK)
        status = analyses_open_file(&b->roofline, setup, ANALYSES_SETTING_roofline, err);
    if (status == C2_OK)
        *out = &b->base;
    else
        bandwidth_destroy(&b->base);
    return status;
}

/* ------------------------------------------------------------------ records */

static void bandwidth_add_slot(struct done *to, const struct stream_slot *slot)
{
    to->read += stream_reads(slot) ? slot->size : 0;
    to->written += stream_writes(slot) ? slot->size : 0;
}

/* Instructions [from, to) of a block without REP. */
static struct done count_insns(const struct stream_block *block, uint32_t from, uint32_t to)
{
    struct done done = {0};
    const uint32_t end = to == block->insn_count ? block->slot_count : block->insns[to].first_slot;
    for (uint32_t i = from; i < to; i++) {
        done.instructions += block->insns[i].length != 0; /* else the instruction is unknown */
        done.flops += block->insns[i].flops;
    }
    for (uint32_t i = from == block->insn_count ? end : block->insns[from].first_slot; i < end; i++)
        bandwidth_add_slot(&done, &block->slots[i]);
    return done;
}

static struct done bandwidth_count_string(const struct sim_executed *record)
{
    const struct stream_slot *slots = record->block->slots;
    const uint64_t elements = stream_string_elements(record->words);
    const uint64_t source = elements * slots[0].size, destination = elements * slots[1].size;
    return (struct done){.instructions = record->insns_run,
                         .read = source + (slots[1].how ? 0 : destination),
                         .written = slots[1].how ? destination : 0};
}

static void add_done(struct done *to, const struct done *what)
{
    to->instructions += what->instructions;
    to->flops += what->flops;
    to->read += what->read;
    to->written += what->written;
}

static void take_done(struct done *from, const struct done *what)
{
    from->instructions -= what->instructions;
    from->flops -= what->flops;
    from->read -= what->read;
    from->written -= what->written;
}

static enum c2_status bandwidth_reach(struct bandwidth *b, uint32_t number, struct c2_error *err)
{
    if (number < b->place_count)
        return C2_OK;
    uint32_t count = b->place_count == 0 ? C2_HOST_SIZE(1024u, 1u) : b->place_count;
    while (count <= number)
        count *= 2;
    struct place *places = c2_realloc(b->places, count * sizeof *places);
    if (!places)
        return c2_fail_memory(err, "the bandwidth of blocks");
    memset(places + b->place_count, 0, (count - b->place_count) * sizeof *places);
    b->places = places;
    b->place_count = count;
    return C2_OK;
}

/* The block has executed so many instructions of the window. */
static enum c2_status bandwidth_note_block(struct bandwidth *b, uint32_t number, uint64_t instructions,
                                           struct c2_error *err)
{
    struct place *place = &b->places[number];
    if (place->window != b->number) {
        if (!c2_grow((void **)&b->in_it, &b->in_room, b->in_count, sizeof *b->in_it))
            return c2_fail_memory(err, "the blocks of a window");
        b->in_it[b->in_count++] = number;
        place->window = b->number;
        place->tally = 0;
    }
    place->tally += instructions;
    return C2_OK;
}

static enum c2_status bandwidth_record(struct bandwidth *b, const struct sim_executed *record, struct c2_error *err)
{
    if (b->idle)
        return C2_OK;
    enum c2_status status = bandwidth_reach(b, record->number, err);
    if (status != C2_OK)
        return status;
    b->places[record->number].block = record->block;
    b->last = stream_is_string(record->block) ? bandwidth_count_string(record)
                                              : count_insns(record->block, 0, record->insns_run);
    b->last_number = record->number;
    b->last_insns = record->insns_run;
    add_done(&b->so_far, &b->last);
    status = bandwidth_threads_note(&b->threads, record->tid, b->last.instructions, err);
    if (status != C2_OK)
        return status;
    return bandwidth_note_block(b, record->number, b->last.instructions, err);
}

static enum c2_status bandwidth_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const uint64_t *at = records->words; at < records->end && status == C2_OK; at = sim_record_behind(at)) {
        const struct sim_executed executed = sim_executed_at(records, at);
        status = bandwidth_record(self, &executed, err);
    }
    return status;
}

/* Victims that go to an exclusive level, dirty or not. */
static enum c2_status bandwidth_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct bandwidth *b = self;
    (void)err;
    for (uint32_t i = miss->first; i + 1 < b->machine->level_count; i++)
        b->victims[i] += b->machine->levels[i + 1].inclusion == CACHES_EXCLUSIVE && miss->outcome->evicted >> i & 1;
    return C2_OK;
}

/* ------------------------------------------------------------------ windows */

/* What leaves a level downwards, in lines. */
static uint64_t lines_down(const struct bandwidth *b, const struct sim_totals *of, const uint64_t *victims,
                           uint32_t level)
{
    const bool to_exclusive = level + 1 < b->machine->level_count &&
                              b->machine->levels[level + 1].inclusion == CACHES_EXCLUSIVE;
    return to_exclusive ? victims[level] : of->levels[level].writebacks;
}

static uint64_t lines_up(const struct sim_totals *of, uint32_t level)
{
    return of->levels[level].misses + (level == 0 ? of->l1i.misses : 0) + of->flows.fetched[level];
}

static void measure_levels(const struct bandwidth *b, const struct sim_totals *of, const uint64_t *victims,
                           uint64_t amount[BANDWIDTH_FLOWS])
{
    for (uint32_t level = 0; level < b->machine->level_count; level++) {
        uint64_t *flow = &amount[(size_t)2 * (level + 1)];
        flow[CORE_READ] = lines_up(of, level) * b->machine->line_bytes;
        flow[CORE_WRITTEN] = lines_down(b, of, victims, level) * b->machine->line_bytes;
        if (level + 1 == b->machine->level_count)
            flow[CORE_WRITTEN] += of->flows.past_bytes;
    }
}

/* Which of them takes longest. */
static void find_dominant(const struct bandwidth *b, struct bandwidth_window *window)
{
    const struct analyses_bandwidth_result *result = &b->result;
    window->dominant = result->flow_count;
    if (!result->limited)
        return;
    window->peak_cycles = (double)window->instructions * 1000 / b->machine->instruction_rate;
    window->cycles = window->peak_cycles;
    for (uint32_t i = 0; i < result->flow_count; i++) {
        const uint32_t limit = result->flows[i].limit;
        window->taken[i] = limit != 0 ? (double)window->amount[i] * 1000 / limit : 0;
        if (window->taken[i] <= window->cycles)
            continue;
        window->cycles = window->taken[i];
        window->dominant = i;
    }
}

/* The block that executed most of the window. */
static struct place *bandwidth_owner(const struct bandwidth *b)
{
    struct place *most = NULL;
    for (uint32_t i = 0; i < b->in_count; i++) {
        struct place *place = &b->places[b->in_it[i]];
        most = !most || place->tally > most->tally ? place : most;
    }
    C2_ASSERT(most);
    return most;
}

static enum c2_status bandwidth_add_to_curves(struct bandwidth *b, const struct bandwidth_window *window,
                                              struct c2_error *err)
{
    const uint64_t flops = window->amount[flops_flow(b)];
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < b->result.flow_count && status == C2_OK; i++) {
        const bool dominates = window->dominant == i;
        status = bandwidth_bins_add(&b->bins[BANDWIDTH_BY_INSTRUCTION][i], window->amount[i], window->instructions,
                                    dominates, b->window, err);
        if (status == C2_OK)
            status = bandwidth_bins_add(&b->bins[BANDWIDTH_BY_FLOP][i], window->amount[i], flops, dominates, FLOP_STEPS,
                                        err);
    }
    return status;
}

static enum c2_status bandwidth_keep(struct bandwidth *b, const struct bandwidth_window *window, struct c2_error *err)
{
    struct place *place = bandwidth_owner(b);
    if (!place->of)
        place->of = c2_calloc(1, sizeof *place->of);
    if (!place->of)
        return c2_fail_memory(err, "the bandwidth of a block");
    bandwidth_add_window(place->of, window, b->result.flow_count);
    bandwidth_add_window(&b->result.all, window, b->result.flow_count);
    return bandwidth_add_to_curves(b, window, err);
}

/* The next window begins with what is left of the last record. */
static enum c2_status begin_next(struct bandwidth *b, const struct done *left, struct c2_error *err)
{
    b->number++;
    b->in_count = 0;
    b->so_far = *left;
    memset(b->victims, 0, sizeof b->victims);
    return left->instructions != 0 ? bandwidth_note_block(b, b->last_number, left->instructions, err) : C2_OK;
}

static enum c2_status bandwidth_interval(void *self, const struct sim_interval *ended, struct c2_error *err)
{
    struct bandwidth *b = self;
    struct done left = {0}, done = b->so_far;
    if (ended->rest != 0) {
        const struct stream_block *block = b->places[b->last_number].block;
        left = count_insns(block, b->last_insns - ended->rest, b->last_insns);
        take_done(&done, &left);
        b->places[b->last_number].tally -= left.instructions;
    }
    C2_ASSERT(done.instructions == ended->of.counts.instructions);
    struct bandwidth_window window = {.instructions = done.instructions};
    window.amount[CORE_READ] = done.read;
    window.amount[CORE_WRITTEN] = done.written;
    window.amount[flops_flow(b)] = done.flops;
    measure_levels(b, &ended->of, b->victims, window.amount);
    for (uint32_t i = 0; i < b->machine->level_count; i++)
        b->all_victims[i] += b->victims[i];
    find_dominant(b, &window);
    enum c2_status status = bandwidth_keep(b, &window, err);
    if (status == C2_OK)
        status = bandwidth_threads_keep(&b->threads, &window, left.instructions, b->result.flow_count, b->window, err);
    if (status == C2_OK && b->shared)
        status = bandwidth_shared_window(b->shared, b->threads.list[b->threads.kept].tid, &window, err);
    return status == C2_OK ? begin_next(b, &left, err) : status;
}

static enum c2_status analyses_bandwidth_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct bandwidth *b = self;
    (void)err;
    C2_ASSERT(b->so_far.instructions == 0 && b->so_far.read == 0 && b->so_far.written == 0);
    b->idle = window->next != STREAM_MEASURE;
    if (b->shared)
        bandwidth_shared_end(b->shared);
    return C2_OK;
}

/* Nothing has been measured so far, and a window begins. */
static enum c2_status bandwidth_dropped(void *self, struct c2_error *err)
{
    struct bandwidth *b = self;
    release_places(b);
    release_bins(b);
    bandwidth_threads_release(&b->threads);
    memset(b->all_victims, 0, sizeof b->all_victims);
    b->result.all = (struct bandwidth_windows){0};
    if (b->shared)
        bandwidth_shared_drop(b->shared);
    return begin_next(b, &(struct done){0}, err);
}

/* ------------------------------------------------------------------ the end */

static void check_amounts(const struct bandwidth *b, const struct sim_totals *measured)
{
    const struct bandwidth_windows *all = &b->result.all;
    uint64_t amount[BANDWIDTH_FLOWS] = {0};
    measure_levels(b, measured, b->all_victims, amount);
    C2_ASSERT(all->instructions == measured->counts.instructions);
    for (uint32_t i = 2; i < flops_flow(b); i++)
        C2_ASSERT(all->flow[i].amount == amount[i]);
}

static void bandwidth_check_curve(const struct bandwidth *b, enum bandwidth_unit unit, uint32_t flow)
{
    const struct bandwidth_curve *curve = &b->result.curves[unit][flow];
    const struct bandwidth_windows *all = &b->result.all;
    uint64_t units = 0, amount = curve->beside;
    for (size_t i = 0; i < curve->count; i++) {
        units += curve->steps[i].units;
        amount += curve->steps[i].amount;
    }
    C2_ASSERT(amount == all->flow[flow].amount);
    C2_ASSERT(units == (unit == BANDWIDTH_BY_FLOP ? all->flow[flops_flow(b)].amount : all->instructions));
}

static enum c2_status bandwidth_make_curves(struct bandwidth *b, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (enum bandwidth_unit unit = 0; unit < BANDWIDTH_UNITS; unit++) {
        for (uint32_t i = 0; i < b->result.flow_count && status == C2_OK; i++) {
            const struct bandwidth_bins *bins = &b->bins[unit][i];
            status = bandwidth_bins_sort(&b->steps[unit][i], bins, err);
            if (status != C2_OK)
                return status;
            b->result.curves[unit][i] = (struct bandwidth_curve){b->steps[unit][i], bins->count, bins->beside};
            bandwidth_check_curve(b, unit, i);
        }
    }
    return status;
}

/* The innermost loop of the instruction; NULL: it is in none, or loops are not looked for. */
static const struct analyses_loop *loop_of(const struct bandwidth *b, struct guest_va pc)
{
    const struct analyses_loops_result *found = analyses_result(b->analyses, ANALYSIS_loops);
    const struct analyses_profile_result *profile = analyses_result(b->analyses, ANALYSIS_profile);
    size_t first = 0, end = found ? profile->insn_count : 0;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (profile->insns[middle].pc.v < pc.v)
            first = middle + 1;
        else
            end = middle;
    }
    if (!found || first == profile->insn_count || profile->insns[first].pc.v != pc.v ||
        found->loop_of[first] == ANALYSES_NO_LOOP)
        return NULL;
    return &found->loops[found->loop_of[first]];
}

static struct bandwidth_place bandwidth_place_of(const struct bandwidth *b, const struct place *from)
{
    const struct guest_va pc = from->block->pc;
    struct bandwidth_place place = {.place = {.offset = pc.v}, .pc = pc, .loop = loop_of(b, pc), .windows = *from->of};
    if (b->symbols)
        loader_place_of(b->symbols, pc, &place.place);
    return place;
}

static void check_places(const struct bandwidth *b, const struct bandwidth_place *list, size_t count)
{
    struct bandwidth_windows sum = {0};
    for (size_t i = 0; i < count; i++)
        bandwidth_add_windows(&sum, &list[i].windows, b->result.flow_count);
    C2_ASSERT(sum.windows == b->result.all.windows && sum.instructions == b->result.all.instructions);
    for (uint32_t i = 0; i < b->result.flow_count; i++)
        C2_ASSERT(sum.flow[i].amount == b->result.all.flow[i].amount);
}

static enum c2_status sum_places(struct bandwidth *b, const struct bandwidth_place *blocks, size_t count,
                                 struct c2_error *err)
{
    struct analyses_bandwidth_result *result = &b->result;
    enum c2_status status = bandwidth_places_sum(&b->functions, &result->functions.count, blocks, count,
                                                 result->flow_count, BANDWIDTH_BY_FUNCTION, err);
    if (status == C2_OK)
        status = bandwidth_places_sum(&b->lines, &result->lines.count, blocks, count, result->flow_count,
                                      BANDWIDTH_BY_LINE, err);
    if (status == C2_OK && analyses_result(b->analyses, ANALYSIS_loops))
        status = bandwidth_places_sum(&b->loops, &result->loops.count, blocks, count, result->flow_count,
                                      BANDWIDTH_BY_LOOP, err);
    if (status != C2_OK)
        return status;
    result->loops.list = b->loops;
    if (b->loops)
        check_places(b, b->loops, result->loops.count);
    result->functions.list = b->functions;
    result->lines.list = b->lines;
    check_places(b, b->functions, result->functions.count);
    check_places(b, b->lines, result->lines.count);
    return C2_OK;
}

static enum c2_status make_places(struct bandwidth *b, struct c2_error *err)
{
    size_t count = 0;
    for (uint32_t i = 0; i < b->place_count; i++)
        count += !!b->places[i].of;
    struct bandwidth_place *blocks = c2_calloc(count + 1, sizeof *blocks);
    if (!blocks)
        return c2_fail_memory(err, "the bandwidth of blocks");
    count = 0;
    for (uint32_t i = 0; i < b->place_count; i++)
        if (b->places[i].of)
            blocks[count++] = bandwidth_place_of(b, &b->places[i]);
    enum c2_status status = sum_places(b, blocks, count, err);
    c2_free(blocks);
    return status;
}

static enum c2_status bandwidth_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct bandwidth *b = self;
    check_amounts(b, sim_measured(sim));
    enum c2_status status = bandwidth_make_curves(b, err);
    if (status == C2_OK)
        status = bandwidth_threads_finish(&b->threads, &b->result.all, b->result.flow_count, err);
    b->result.threads = b->threads.list;
    b->result.thread_count = b->threads.count;
    b->result.together = b->shared ? bandwidth_shared_result(b->shared) : NULL;
    return status == C2_OK ? make_places(b, err) : status;
}

static enum c2_status bandwidth_commit(struct analysis *analysis, struct c2_error *err)
{
    struct bandwidth *b = (struct bandwidth *)analysis;
    struct c2_error second;
    if (b->curves)
        bandwidth_write_curves(c2_outfile_stream(b->curves), &b->result);
    if (b->roofline)
        bandwidth_write_roofline(c2_outfile_stream(b->roofline), &b->result, b->machine);
    enum c2_status status = analyses_commit_file(&b->curves, err);
    const enum c2_status other = analyses_commit_file(&b->roofline, status == C2_OK ? err : &second);
    return status == C2_OK ? other : status;
}

static bool has_exclusive(const struct caches_machine *machine)
{
    for (uint32_t i = 0; i < machine->level_count; i++)
        if (machine->levels[i].inclusion == CACHES_EXCLUSIVE)
            return true;
    return false;
}

static struct sim_subscriber bandwidth_subscriber(struct analysis *analysis)
{
    struct bandwidth *b = (struct bandwidth *)analysis;
    return (struct sim_subscriber){.self = b,
                                   .records = bandwidth_records,
                                   .missed = has_exclusive(b->machine) ? bandwidth_missed : NULL,
                                   .interval_instructions = b->window,
                                   .interval = bandwidth_interval,
                                   .window = analyses_bandwidth_window,
                                   .dropped = bandwidth_dropped,
                                   .finish = bandwidth_finish};
}

static const void *bandwidth_result(const struct analysis *analysis)
{
    return &((const struct bandwidth *)analysis)->result;
}

const struct analysis_kind analysis_bandwidth = {.chapter = &analyses_bandwidth_chapter,
                                                 .create = bandwidth_create,
                                                 .subscriber = bandwidth_subscriber,
                                                 .result = bandwidth_result,
                                                 .commit = bandwidth_commit,
                                                 .destroy = bandwidth_destroy};
