/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * window: what happened between two points of a run.
 *
 * Model
 *   A phase begins where the stream says so (STREAM_PHASE), the first one, MEASURE, with the run. When a phase ends,
 *   everything pending is settled, and what caches, TLBs and the simulator have counted since it began is its window:
 *   the difference of two sums. It is checked, and told; the last one when the run is over.
 *   In a phase that is not MEASURE everything is simulated as ever, but subscribers do not hear of references and
 *   misses (unless they ask for the latter, for what they remember of them), and neither instructions nor owners
 *   count. Records, blocks, marks and memory are notified, and the attribution is asked for access sites: of a line
 *   that is lost in a warm-up the miss may be measured.
 *   Where samples are wanted one by one, of each window that was measured and is not empty there are kept its
 *   instructions, and accesses and misses of each level, and the misses of the warm-up before it.
 *
 * Counting
 *   The windows of a run add up to its counts, all of them, wherever it is cut; samples, to those that were measured.
 *
 * Invariants (checked of each window)
 *   Those that sim_check() has for the whole run: refs = reads + writes; modifies <= reads, writes; straddles <= refs;
 *   fetches = instructions; line_accesses (but for past_lines, and with reads of cached walks that enter there) =
 *   accesses of level 0; of each level hits + misses = reads + writes = accesses, and the classes add up to the misses;
 *   a level below is asked once for each miss above it and each walk that enters there; cached walks read what the
 *   TLBs say.
 *   What instructions did is what was measured (of the sums, now and then and at the end).
 */
#include "sim/sim_priv.h"

/* Nothing but counters: that makes differences and sums simple. */
#define TOTALS_WORDS (sizeof(struct sim_totals) / sizeof(uint64_t))
_Static_assert(sizeof(struct sim_totals) % sizeof(uint64_t) == 0, "totals are counters of 64 bits");

void sim_totals_add(struct sim_totals *to, const struct sim_totals *what)
{
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *terms = (const uint64_t *)what;
    for (size_t i = 0; i < TOTALS_WORDS; i++)
        sums[i] += terms[i];
}

void sim_totals_subtract(struct sim_totals *from, const struct sim_totals *what)
{
    uint64_t *sums = (uint64_t *)from;
    const uint64_t *terms = (const uint64_t *)what;
    for (size_t i = 0; i < TOTALS_WORDS; i++)
        sums[i] -= terms[i];
}

static void window_add_tlbs(struct sim_totals *out, const struct sim *sim, const struct caches_tlbs *tlb)
{
    for (uint32_t i = 0; i < caches_machine(sim->caches)->tlb_count; i++) {
        out->tlbs[i].accesses += caches_tlbs_counts(tlb, i)->accesses;
        out->tlbs[i].misses += caches_tlbs_counts(tlb, i)->misses;
    }
    out->tlb_misses += *caches_tlbs_first_misses(tlb);
    out->walks.count += caches_tlbs_walks(tlb)->count;
    out->walks.reads += caches_tlbs_walks(tlb)->reads;
}

static void window_read_tlbs(struct sim_totals *out, const struct sim *sim)
{
    for (uint32_t i = 0; i < sim->core_count; i++)
        window_add_tlbs(out, sim, sim_core_at((struct sim *)sim, i)->tlb);
}

void sim_totals_read(struct sim_totals *out, const struct sim *sim)
{
    const struct caches_machine *machine = caches_machine(sim->caches);
    *out = (struct sim_totals){.counts = sim->counts};
    for (uint32_t i = 0; i < machine->level_count; i++)
        out->levels[i] = *caches_level_counts(sim->caches, i);
    if (machine->has_l1i)
        out->l1i = *caches_l1i_counts(sim->caches);
    for (uint32_t i = 0; i <= machine->level_count; i++)
        out->walk_reads[i] = sim->walk_reads[i];
    if (sim_tlb(sim))
        window_read_tlbs(out, sim->leader ? sim->leader : sim);
    out->upgrades = caches_upgrades(sim->caches);
    out->past_lines = sim->past_lines;
    out->flows = caches_instructed_flows(sim->caches);
    sim_totals_add(out, &sim->emptied);
}

struct caches_cost sim_cost(const struct caches_machine *machine, const struct sim_totals *of)
{
    const struct caches_costs costs = caches_costs(machine);
    struct caches_cost sum = {.translations = of->tlb_misses * costs.second_tlb,
                              .walks = of->walks.reads * costs.walk_read,
                              .coherence = of->upgrades * costs.upgrade};
    for (uint32_t i = 0; i < machine->level_count; i++)
        caches_cost_level(&sum, &costs, i, &of->levels[i]);
    if (machine->has_l1i)
        caches_cost_level(&sum, &costs, machine->level_count, &of->l1i);
    return sum;
}

void sim_counted(struct sim_totals *out, const struct sim *sim) { sim_totals_read(out, sim); }

/* ------------------------------------------------------------------ checking */

static void window_check_counts(const struct sim_counts *n)
{
    C2_ASSERT(n->refs == n->reads + n->writes);
    C2_ASSERT(n->modifies <= n->reads && n->modifies <= n->writes);
    C2_ASSERT(n->straddles <= n->refs && n->refs <= n->line_accesses);
    C2_ASSERT(n->fetches == n->instructions);
}

static void window_check_level(const struct caches_counts *n)
{
    C2_ASSERT(n->hits + n->misses == n->accesses && n->reads + n->writes == n->accesses);
    C2_ASSERT(n->read_misses + n->write_misses == n->misses);
    C2_ASSERT(n->cold + n->capacity + n->conflict + n->coherence == n->misses);
    C2_ASSERT(n->fa_misses - n->fa_only_misses == n->cold + n->capacity + n->coherence);
}

static uint64_t walk_reads_of(const struct sim_totals *of)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= CACHES_MAX_LEVELS; i++)
        sum += of->walk_reads[i];
    return sum;
}

/* What the levels are asked comes from the program, from above - misses, and stores that are passed on - and from
 * walks. */
static void window_check_flow(const struct sim *sim, const struct sim_totals *of)
{
    const struct caches_machine *machine = caches_machine(sim->caches);
    const uint64_t walked = walk_reads_of(of);
    C2_ASSERT(walked == (sim->walks_cached ? of->walks.reads : 0));
    for (uint32_t i = 0; i < machine->level_count; i++) {
        uint64_t asked = i == 0 ? of->counts.line_accesses - of->past_lines
                                : of->levels[i - 1].misses + of->levels[i - 1].write_throughs;
        asked += i == 1 ? of->l1i.misses : 0;
        asked += i == machine->walks_from ? walked : 0;
        C2_ASSERT(of->levels[i].accesses == asked);
    }
}

void sim_totals_check(const struct sim *sim, const struct sim_totals *of)
{
    const struct caches_machine *machine = caches_machine(sim->caches);
    window_check_counts(&of->counts);
    for (uint32_t i = 0; i < machine->level_count; i++)
        window_check_level(&of->levels[i]);
    window_check_level(&of->l1i);
    window_check_flow(sim, of);
}

bool sim_totals_hold(const struct sim *sim)
{
    struct sim_totals all;
    sim_totals_read(&all, sim);
    sim_totals_check(sim, &all);
    return true;
}

/* What instructions did in what was measured. To add them up takes longer than a short phase, so it is put off until
 * there were as many phases as make up for it. */
static void check_codes(struct sim *sim, bool now)
{
    enum { CODES_A_WINDOW = 256 };
    const uint64_t work = (uint64_t)sim->plan_capacity + sim->attributed.code_count;
    if (!now && (uint64_t)++sim->unsettled * CODES_A_WINDOW < work)
        return;
    sim->unsettled = 0;
    sim_attribute_codes(sim);
    const struct sim_code sum = sim_attribute_sum(sim);
    const struct sim_counts *counts = &sim->measured.counts;
    C2_ASSERT(sum.executed == counts->instructions);
    C2_ASSERT(sum.reads == counts->reads && sum.writes == counts->writes);
}

/* ------------------------------------------------------------------ samples */

static void warmed_up(struct sim *sim, const struct sim_totals *of)
{
    const struct caches_machine *machine = caches_machine(sim->caches);
    for (uint32_t i = 0; i < machine->level_count; i++)
        sim->warm_misses[i] += of->levels[i].misses;
    sim->warm_misses[machine->level_count] += of->l1i.misses;
}

static enum c2_status keep_level(struct sim *sim, uint32_t number, const struct caches_counts *n, struct c2_error *err)
{
    uint32_t warmed_room = sim->sampled_room;
    if (!c2_grow((void **)&sim->warmed, &warmed_room, sim->sampled_count, sizeof *sim->warmed) ||
        !c2_grow((void **)&sim->sampled, &sim->sampled_room, sim->sampled_count, sizeof *sim->sampled))
        return c2_fail_memory(err, "the samples");
    sim->warmed[sim->sampled_count] = sim->warm_misses[number];
    sim->warm_misses[number] = 0;
    sim->sampled[sim->sampled_count++] = (struct sim_sampled){
        n->accesses, n->misses, {n->cold, n->capacity, n->conflict}};
    return C2_OK;
}

static enum c2_status keep_sample(struct sim *sim, const struct sim_totals *of, struct c2_error *err)
{
    const struct caches_machine *machine = caches_machine(sim->caches);
    enum c2_status status = C2_OK;
    uint32_t cost_room = sim->sample_room;
    if (!c2_grow((void **)&sim->sample_costs, &cost_room, sim->sample_count, sizeof *sim->sample_costs) ||
        !c2_grow((void **)&sim->sample_instructions, &sim->sample_room, sim->sample_count,
                 sizeof *sim->sample_instructions))
        return c2_fail_memory(err, "the samples");
    const struct caches_cost cost = sim_cost(machine, of);
    sim->sample_costs[sim->sample_count] = caches_cost_sum(&cost);
    sim->sample_instructions[sim->sample_count++] = of->counts.instructions;
    for (uint32_t i = 0; i < machine->level_count && status == C2_OK; i++)
        status = keep_level(sim, i, &of->levels[i], err);
    return status == C2_OK && machine->has_l1i ? keep_level(sim, machine->level_count, &of->l1i, err) : status;
}

struct sim_samples sim_samples(const struct sim *sim)
{
    const uint32_t count = sim->sample_count;
    return (struct sim_samples){.count = count,
                                .level_count = count == 0 ? 0 : sim->sampled_count / count,
                                .instructions = sim->sample_instructions,
                                .costs = sim->sample_costs,
                                .levels = sim->sampled,
                                .warmed = sim->warmed};
}

static enum c2_status window_measured(struct sim *sim, const struct sim_totals *of, struct c2_error *err)
{
    sim_totals_add(&sim->measured, of);
    return sim->samples_kept && of->counts.instructions != 0 ? keep_sample(sim, of, err) : C2_OK;
}

/* ------------------------------------------------------------------ phases */

enum stream_phase sim_phase(const struct sim *sim) { return sim->phase; }

const struct sim_totals *sim_measured(const struct sim *sim) { return &sim->measured; }

enum c2_status sim_window_end(struct sim *sim, enum stream_phase next, struct c2_error *err)
{
    struct sim_window window = {.phase = sim->phase, .next = next};
    struct sim_totals now;
    C2_PROMISE(next <= STREAM_SKIP);
    sim_settle(sim);
    enum c2_status status = sim_classifier_settle(sim, err);
    if (status == C2_OK)
        status = sim_share_window(sim, next, err);
    if (status != C2_OK)
        return status;
    sim_totals_read(&now, sim);
    window.of = now;
    sim_totals_subtract(&window.of, &sim->phase_start);
    sim_totals_check(sim, &window.of);
    sim_cores_credit(sim, &now);
    sim_cores_phase(sim, next);
    caches_instructed_measure(sim->caches, next == STREAM_MEASURE);
    status = sim_intervals_phase(sim, &now, err);
    if (status == C2_OK && sim->phase == STREAM_MEASURE)
        status = window_measured(sim, &window.of, err);
    if (sim->samples_kept && sim->phase == STREAM_WARM)
        warmed_up(sim, &window.of);
    if (sim->attributed.on) {
        sim_attribute_phase(sim, next);
        if (!sim->leader)
            check_codes(sim, false);
    }
    sim->phase_start = now;
    sim->phase = next;
    sim_intervals_begin(sim, next);
    return status == C2_OK ? sim_notify_window(sim, &window, err) : status;
}

static void window_check_samples(const struct sim *sim)
{
    const struct sim_samples samples = sim_samples(sim);
    const struct caches_machine *machine = caches_machine(sim->caches);
    uint64_t misses[CACHES_MAX_LEVELS + 1] = {0}, instructions = 0;
    for (size_t i = 0; i < samples.count; i++)
        instructions += samples.instructions[i];
    for (size_t i = 0; i < samples.count * samples.level_count; i++)
        misses[i % samples.level_count] += samples.levels[i].misses;
    C2_ASSERT(instructions == sim->measured.counts.instructions);
    for (uint32_t i = 0; i < samples.level_count; i++)
        C2_ASSERT(misses[i] == (i < machine->level_count ? &sim->measured.levels[i] : &sim->measured.l1i)->misses);
}

enum c2_status sim_finish(struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(!sim->departed);
    caches_settle_instructed(sim->caches);
    enum c2_status status = sim->leader ? sim_share_adopt_codes(sim, err) : sim_window_end(sim, sim->phase, err);
    if (status == C2_OK)
        status = sim_cores_finish(sim, err);
    if (status == C2_OK)
        status = sim_instructed_finish(sim, err);
    if (status != C2_OK)
        return status;
    if (sim->attributed.on)
        check_codes(sim, true);
    if (sim->samples_kept)
        window_check_samples(sim);
    sim_intervals_check(sim);
    return sim_notify_finish(sim, err);
}
