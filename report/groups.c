/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * groups: the misses and the cost of samples by object, function and line, as estimates for the whole run.
 *
 * Model
 *   The profile has the misses of each sample by row. They are added up twice: first what everything has missed in all
 *   samples, which gives the ratios; then how each sample lies beside them. Where nothing was missed in a sample the
 *   distance is the ratio itself times the sample's instructions (or cost), so only samples where it waited are
 *   visited.
 *   The start is among the sums, multiplied as estimate.c has it, and not among the distances. With one, samples that
 *   all missed nothing are alike, and their distances from their mean exactly nothing: so lengths are summed as what
 *   they differ by.
 *
 * Counting
 *   Instructions are those of all the program: misses for each of them add up to the level's, over objects or lines.
 *   A share of a class, or of the cost, is one of those that missed (estimate.c).
 *
 * Invariants
 *   Memory is that of the objects, functions and lines, not of the samples.
 */
#include "report/samples.h"

#define NOTHING UINT32_MAX

/* Of some samples: how many they are, and how far their instructions (or cost) are from a usual sample's, summed. */
struct lengths {
    uint32_t samples;
    __int128 away, away2;
};

/* Of one group at one level, over all samples, without the start but for misses; and in the sample that is being added.
 * */
struct cell {
    double misses[ANALYSES_SAMPLED_CLASSES], start[ANALYSES_SAMPLED_CLASSES]; /* start: what of them is the start's */
    double squares, class_squares[ANALYSES_SAMPLED_CLASSES];
    struct lengths met; /* the samples that it missed in, their instructions */
    uint64_t now[ANALYSES_SAMPLED_CLASSES];
};
/* Of one group. */
struct whole {
    double cost, start, squares;
    struct lengths met; /* the samples that it missed in, their whole cost */
    uint64_t now;
    bool touched; /* in this sample */
};

struct kind {
    const uint32_t *of; /* [instruction of the profile]: group; NULL: groups are the profile's objects */
    uint32_t count;
    struct cell *cells; /* [group * level_count + number of the level] */
    struct whole *wholes;
    uint32_t *touched; /* groups */
    uint32_t touched_count;
};

struct samples_groups {
    const struct report_run *run;
    uint32_t level_count;
    struct caches_costs prices;
    const uint64_t *costs;              /* [sample] */
    struct estimate instructions, cost; /* x: of all samples; samples: with one */
    uint64_t usual, usual_cost;         /* of a sample; 0 but with a start, where rounding would show */
    struct lengths lengths, costs_met;
    struct kind kinds[SAMPLES_KINDS];
    bool unsure[CACHES_MAX_LEVELS + 1], any_unsure; /* levels without intervals; the cost is of all levels */
};

/* ------------------------------------------------------------------ life */

static enum c2_status make_kind(struct kind *kind, const uint32_t *of, uint32_t count, uint32_t levels,
                                struct c2_error *err)
{
    const size_t room = (size_t)count + 1;
    kind->of = of;
    kind->count = count;
    kind->cells = c2_calloc(room * levels, sizeof *kind->cells);
    kind->wholes = c2_calloc(room, sizeof *kind->wholes);
    kind->touched = c2_alloc(room * sizeof *kind->touched);
    return kind->cells && kind->wholes && kind->touched ? C2_OK : c2_fail_memory(err, "the estimates of a report");
}

void samples_groups_release(struct samples_groups *groups)
{
    for (unsigned i = 0; groups && i < SAMPLES_KINDS; i++) {
        c2_free(groups->kinds[i].cells);
        c2_free(groups->kinds[i].wholes);
        c2_free(groups->kinds[i].touched);
    }
    c2_free(groups);
}

/* ------------------------------------------------------------------ one sample */

static double gain(const struct report_run *run, size_t sample)
{
    if (run->start && sample == 0)
        return samples_start_gain(run);
    return run->weights ? run->weights[sample] / (double)run->samples.instructions[sample] : 1;
}

static uint32_t groups_group_of(const struct kind *kind, const struct analyses_row *row)
{
    return kind->of ? kind->of[row->insn] : row->object;
}

static uint64_t price(const struct samples_groups *groups, const struct analyses_sampled *entry)
{
    switch (entry->kind) {
    case ANALYSES_SAMPLED_COHERENCE:
        return groups->prices.taken[entry->level];
    case ANALYSES_SAMPLED_UPGRADES:
        return groups->prices.upgrade;
    case ANALYSES_SAMPLED_TRANSLATIONS:
        return groups->prices.second_tlb;
    case ANALYSES_SAMPLED_WALK_READS:
        return groups->prices.walk_read;
    default:
        return groups->prices.miss[entry->level];
    }
}

static void groups_add_entry(const struct samples_groups *groups, struct kind *kind,
                             const struct analyses_sampled *entry)
{
    const uint32_t group = groups_group_of(kind, &groups->run->sim.profile->rows[entry->row]);
    struct whole *whole = &kind->wholes[group];
    C2_ASSERT(group < kind->count);
    if (!whole->touched)
        kind->touched[kind->touched_count++] = group;
    whole->touched = true;
    whole->now += entry->startup ? 0 : entry->count * price(groups, entry);
    if (entry->kind < ANALYSES_SAMPLED_CLASSES)
        kind->cells[(size_t)group * groups->level_count + entry->level].now[entry->kind] += entry->count;
}

static void groups_add_entries(const struct samples_groups *groups, struct kind *kind, size_t sample)
{
    const struct analyses_profile_result *profile = groups->run->sim.profile;
    for (uint32_t i = sample == 0 ? 0 : profile->sample_ends[sample - 1]; i < profile->sample_ends[sample]; i++)
        groups_add_entry(groups, kind, &profile->sampled[i]);
}

static uint64_t misses_now(const struct cell *cell)
{
    return cell->now[ANALYSES_COLD] + cell->now[ANALYSES_CAPACITY] + cell->now[ANALYSES_CONFLICT] +
           cell->now[ANALYSES_SAMPLED_COHERENCE];
}

/* ------------------------------------------------------------------ sums, then distances */

static void sum_cell(struct cell *cell, double gain, bool start)
{
    for (unsigned i = 0; i < ANALYSES_SAMPLED_CLASSES; i++) {
        cell->misses[i] += gain * (double)cell->now[i];
        if (start)
            cell->start[i] = gain * (double)cell->now[i];
    }
}

static double groups_sum_of(const double classes[ANALYSES_SAMPLED_CLASSES])
{
    return classes[ANALYSES_COLD] + classes[ANALYSES_CAPACITY] + classes[ANALYSES_CONFLICT] +
           classes[ANALYSES_SAMPLED_COHERENCE];
}

static struct estimate misses_estimate(const struct samples_groups *groups, const struct cell *cell)
{
    return (struct estimate){.y = groups_sum_of(cell->misses),
                             .x = groups->instructions.x,
                             .start_y = groups_sum_of(cell->start),
                             .start_x = groups->instructions.start_x,
                             .samples = groups->instructions.samples};
}

static struct estimate class_estimate(const struct samples_groups *groups, const struct cell *cell, unsigned class_)
{
    const double start = groups_sum_of(cell->start);
    return (struct estimate){.y = cell->misses[class_],
                             .x = groups_sum_of(cell->misses),
                             .start_y = cell->start[class_],
                             .start_x = start,
                             .samples = start > 0 ? groups->instructions.samples : cell->met.samples};
}

static struct estimate cost_estimate(const struct samples_groups *groups, const struct whole *whole)
{
    return (struct estimate){.y = whole->cost,
                             .x = groups->cost.x,
                             .start_y = whole->start,
                             .start_x = groups->cost.start_x,
                             .samples = groups->cost.samples};
}

static void add_length(struct lengths *to, uint64_t length, uint64_t usual)
{
    const __int128 away = (__int128)length - usual;
    to->samples++;
    to->away += away;
    to->away2 += away * away;
}

static void compare_cell(const struct samples_groups *groups, struct cell *cell, uint64_t instructions)
{
    const struct estimate misses = misses_estimate(groups, cell);
    const uint64_t now = misses_now(cell);
    if (now == 0)
        return;
    add_length(&cell->met, instructions, groups->usual);
    cell->squares += estimate_square(&misses, (double)now, (double)instructions);
    for (unsigned i = 0; i < ANALYSES_SAMPLED_CLASSES; i++) {
        const struct estimate class_ = class_estimate(groups, cell, i);
        cell->class_squares[i] += estimate_square(&class_, (double)cell->now[i], (double)now);
    }
}

static void compare_whole(const struct samples_groups *groups, struct whole *whole, uint64_t cost)
{
    const struct estimate of = cost_estimate(groups, whole);
    add_length(&whole->met, cost, groups->usual_cost);
    whole->squares += estimate_square(&of, (double)whole->now, (double)cost);
}

static void end_group(const struct samples_groups *groups, struct kind *kind, uint32_t group, size_t sample,
                      bool compare)
{
    struct whole *whole = &kind->wholes[group];
    struct cell *cells = &kind->cells[(size_t)group * groups->level_count];
    const double gained = gain(groups->run, sample);
    const bool start = groups->run->start && sample == 0;
    for (uint32_t i = 0; i < groups->level_count; i++) {
        if (compare)
            compare_cell(groups, &cells[i], groups->run->samples.instructions[sample]);
        else
            sum_cell(&cells[i], gained, start);
        for (unsigned k = 0; k < ANALYSES_SAMPLED_CLASSES; k++)
            cells[i].now[k] = 0;
    }
    if (compare)
        compare_whole(groups, whole, groups->costs[sample]);
    else
        whole->cost += gained * (double)whole->now;
    if (start)
        whole->start = whole->cost;
    whole->now = 0;
    whole->touched = false;
}

static void groups_pass(struct samples_groups *groups, struct kind *kind, bool compare)
{
    for (size_t sample = compare && groups->run->start; sample < groups->run->samples.count; sample++) {
        groups_add_entries(groups, kind, sample);
        for (uint32_t i = 0; i < kind->touched_count; i++)
            end_group(groups, kind, kind->touched[i], sample, compare);
        kind->touched_count = 0;
    }
}

/* ------------------------------------------------------------------ all of it */

static void groups_add_sample(struct samples_groups *groups, size_t sample)
{
    const struct report_run *run = groups->run;
    const uint64_t instructions = run->samples.instructions[sample], cost = groups->costs[sample];
    const double gained = gain(run, sample);
    groups->instructions.x += gained * (double)instructions;
    groups->cost.x += gained * (double)cost;
    add_length(&groups->lengths, instructions, groups->usual);
    add_length(&groups->costs_met, cost, groups->usual_cost);
    groups->instructions.samples += !run->weights;
    groups->cost.samples += !run->weights && cost != 0;
}

static void note_usual(struct samples_groups *groups)
{
    if (!groups->run->start || samples_count(groups->run) == 0)
        return;
    groups->usual = groups->run->samples.instructions[1];
    groups->usual_cost = groups->costs[1];
}

static void groups_add_start(struct samples_groups *groups)
{
    const struct report_run *run = groups->run;
    const double share = samples_start_gain(run), instructions = (double)run->samples.instructions[0];
    const uint32_t all = (uint32_t)samples_count(run);
    estimate_add_start(&groups->instructions, instructions, instructions, share, all);
    estimate_add_start(&groups->cost, 0, (double)groups->costs[0], share, all);
}

static void add_samples(struct samples_groups *groups)
{
    const struct sim_samples *samples = &groups->run->samples;
    note_usual(groups);
    for (size_t i = groups->run->start; i < samples->count; i++)
        groups_add_sample(groups, i);
    if (groups->run->start)
        groups_add_start(groups);
}

static enum c2_status make_kinds(struct samples_groups *groups, const struct digest *digest, struct c2_error *err)
{
    const uint32_t levels = groups->level_count, objects = (uint32_t)digest->profile->object_count;
    enum c2_status status = make_kind(&groups->kinds[SAMPLES_OBJECTS], NULL, objects, levels, err);
    if (status == C2_OK)
        status = make_kind(&groups->kinds[SAMPLES_FUNCTIONS], digest->functions.number_of, digest->functions.numbers,
                           levels, err);
    if (status == C2_OK)
        status = make_kind(&groups->kinds[SAMPLES_LINES], digest->lines.number_of, digest->lines.numbers, levels, err);
    if (status == C2_OK)
        status = make_kind(&groups->kinds[SAMPLES_CHARGED], digest->charged.number_of, digest->charged.numbers, levels,
                           err);
    return status;
}

enum c2_status samples_groups_make(struct samples_groups **out, const struct digest *digest, struct c2_error *err)
{
    struct samples_groups *groups = *out = c2_calloc(1, sizeof *groups);
    if (!groups)
        return c2_fail_memory(err, "the estimates of a report");
    groups->run = report_of(digest);
    groups->level_count = report_of(digest)->samples.level_count;
    groups->prices = digest->costs;
    groups->costs = report_of(digest)->samples.costs;
    C2_ASSERT(digest->profile->sample_count == report_of(digest)->samples.count);
    for (uint32_t i = 0; i < groups->level_count; i++) {
        const struct samples_doubt doubt = samples_doubt(groups->run, i);
        groups->unsure[i] = doubt.why != SAMPLES_SURE;
        groups->any_unsure |= groups->unsure[i];
    }
    add_samples(groups);
    enum c2_status status = make_kinds(groups, digest, err);
    for (unsigned i = 0; i < SAMPLES_KINDS && status == C2_OK; i++)
        for (unsigned compare = 0; compare <= !report_of(digest)->weights; compare++)
            groups_pass(groups, &groups->kinds[i], compare);
    return status;
}

/* ------------------------------------------------------------------ estimates */

/* With the samples that have no y: all of them but those met. A usual one lies d from the ratio. */
static void add_absent(struct estimate *of, double squares, const struct lengths *all, const struct lengths *met,
                       uint64_t usual)
{
    of->squares = squares;
    if (of->x == 0)
        return;
    const double mean = estimate_mean(of), d = estimate_distance(of, 0, (double)usual);
    const double away = (double)(all->away - met->away), away2 = (double)(all->away2 - met->away2);
    of->squares += (all->samples - met->samples) * d * d - 2 * d * mean * away + mean * mean * away2;
}

/* With so many samples that have no x. */
static void add_without(struct estimate *of, uint32_t samples)
{
    of->squares += of->start_x > 0 ? samples * estimate_square(of, 0, 0) : 0;
}

struct samples_rates samples_groups_rates(const struct samples_groups *groups, enum samples_kind kind, uint32_t number,
                                          uint32_t level)
{
    const struct cell *cell = &groups->kinds[kind].cells[(size_t)number * groups->level_count + level];
    struct samples_rates rates = {.misses = misses_estimate(groups, cell)};
    add_absent(&rates.misses, cell->squares, &groups->lengths, &cell->met, groups->usual);
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++) {
        rates.classes[i] = class_estimate(groups, cell, i);
        rates.classes[i].squares = cell->class_squares[i];
        add_without(&rates.classes[i], groups->lengths.samples - cell->met.samples);
        if (groups->unsure[level])
            estimate_withhold(&rates.classes[i]);
    }
    if (groups->unsure[level])
        estimate_withhold(&rates.misses);
    return rates;
}

struct estimate samples_groups_cost(const struct samples_groups *groups, enum samples_kind kind, uint32_t number)
{
    const struct whole *whole = &groups->kinds[kind].wholes[number];
    struct estimate cost = cost_estimate(groups, whole);
    add_absent(&cost, whole->squares, &groups->costs_met, &whole->met, groups->usual_cost);
    if (groups->any_unsure)
        estimate_withhold(&cost);
    return cost;
}
