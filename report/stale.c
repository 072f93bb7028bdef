/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stale: levels that samples are too short for, or that stood still for too long while instructions were skipped.
 *
 * Model
 *   Behind instructions that were skipped a level has other lines than it would have: those that it would have taken in
 *   are missing, and in their place it has lines that it would have lost. How many it would have taken in is estimated
 *   by what it took in for each instruction of all warm-ups and samples behind the start; they are at most the level's
 *   lines. The lines that a warm-up or a sample brings in are right, and push the oldest out: behind w of them at most
 *   the level's lines less w are stale. What is stale behind a sample still is so before the next one.
 *   In a sample each stale line can turn one access's class: its first one. A line that is missing makes a miss of a
 *   hit, one that should be gone a hit of a miss. So a sample's misses are off by at most its stale lines, and by no
 *   more than it has misses, or hits. These, summed, divided by what the rate is divided by, are the doubt: a bound of
 *   what the rate is off by.
 *   A level whose doubt is larger than SAMPLES_DOUBT_MOST has no interval.
 *   Nor has one that misses more than this, and that the run fills anew, and a sample does not: what comes back to
 *   such a level comes back after longer than a sample, which shows either the way there or the way back. Of n such
 *   snapshots, with 95 %, no more than 1 - 0.05^(1/n) of the run are like none of them: a quarter with 10.4. Fewer
 *   than SAMPLES_SNAPSHOTS_LEAST are too few.
 *
 * Counting
 *   A line brought in is a miss of the level. A level that all cores have their own of has the lines of all.
 *
 * Not modelled
 *   Lines that prefetchers bring in; of an exclusive level those that it gets from above; misses that do not fill the
 *   level. Policies other than LRU may keep a stale line longer. What a level above was in doubt of: each is judged by
 *   itself. Samples of a program that has dropped some (their phases are not known apart). A part of the run that takes
 *   in more than the warm-ups and samples do, and that none of them meets.
 */
#include "report/samples.h"

static uint64_t stale_lines_of(const struct report_run *run, uint32_t number)
{
    const struct caches_machine *machine = run->sim.machine;
    const struct caches_level *level = number < machine->level_count ? &machine->levels[number] : &machine->l1i;
    return level->size_bytes / machine->line_bytes * (level->shared ? 1 : caches_machine_cores(machine));
}

/* A sample with what lies between it and the one before. */
struct stretch {
    size_t sample;
    uint64_t skipped, warmed; /* instructions */
};

/* From *phase on; false: there is none any more. */
static bool next_stretch(struct stretch *out, size_t *phase, const struct report_run *run)
{
    out->skipped = out->warmed = 0;
    for (; *phase < run->phase_count; ++*phase) {
        const struct report_phase *at = &run->phases[*phase];
        out->skipped += at->kind == STREAM_SKIP ? at->instructions : 0;
        out->warmed += at->kind == STREAM_WARM ? at->instructions : 0;
        if (at->kind == STREAM_MEASURE && at->instructions != 0) {
            ++*phase;
            return true;
        }
    }
    return false;
}

static uint64_t warm_misses(const struct report_run *run, uint32_t number, size_t sample)
{
    return run->samples.warmed ? run->samples.warmed[sample * run->samples.level_count + number] : 0;
}

static const struct sim_sampled *of_sample(const struct report_run *run, uint32_t number, size_t sample)
{
    return &run->samples.levels[sample * run->samples.level_count + number];
}

/* Lines that the level takes in for each instruction behind the start. */
static double intake(const struct report_run *run, uint32_t number)
{
    struct stretch stretch = {.sample = 0};
    uint64_t lines = 0, instructions = 0;
    for (size_t phase = 0; next_stretch(&stretch, &phase, run); stretch.sample++)
        if (stretch.sample >= run->start) {
            lines += warm_misses(run, number, stretch.sample) + of_sample(run, number, stretch.sample)->misses;
            instructions += stretch.warmed + run->samples.instructions[stretch.sample];
        }
    return instructions == 0 ? 0 : (double)lines / (double)instructions;
}

static double stale_least(double a, double b) { return a < b ? a : b; }

/* What is left of so many stale lines when others have been brought in. */
static double stale_left_of(double stale, uint64_t lines, uint64_t brought_in)
{
    return stale_least(stale, brought_in < lines ? (double)(lines - brought_in) : 0);
}

static double turned(const struct sim_sampled *sample, double stale)
{
    const uint64_t hits = sample->accesses - sample->misses;
    return stale_least(stale, (double)(hits > sample->misses ? hits : sample->misses));
}

static size_t samples_of_phases(const struct report_run *run)
{
    struct stretch stretch = {.sample = 0};
    for (size_t phase = 0; next_stretch(&stretch, &phase, run);)
        stretch.sample++;
    return stretch.sample;
}

/* What a sample adds. */
struct sums {
    double stale, doubtful, accesses;
    uint64_t met, misses; /* accesses and misses of the samples behind the start */
};

static void stale_add_sample(struct sums *sums, struct samples_doubt *doubt, const struct report_run *run,
                             uint32_t number, const struct stretch *stretch, double rate)
{
    const struct sim_sampled *sample = of_sample(run, number, stretch->sample);
    const uint64_t warmed = warm_misses(run, number, stretch->sample);
    const bool start = stretch->sample < run->start;
    const double stale = stale_least(sums->stale + rate * (double)stretch->skipped, (double)doubt->lines);
    const double before = stale_left_of(stale, doubt->lines, warmed);
    sums->accesses += (start ? samples_start_gain(run) : 1) * (double)sample->accesses;
    sums->doubtful += start ? 0 : turned(sample, before);
    sums->met += start ? 0 : sample->accesses;
    sums->misses += start ? 0 : sample->misses;
    sums->stale = stale_left_of(before, doubt->lines, warmed + sample->misses);
    if (stretch->skipped != 0 && warmed < doubt->warmed)
        doubt->warmed = warmed;
}

/* Shorter than the level takes to be filled anew, and few. One that hardly misses is filled by the way. */
static bool are_snapshots(const struct report_run *run, const struct samples_doubt *doubt, const struct sums *sums,
                          double rate)
{
    const uint64_t start = run->start ? run->samples.instructions[0] : 0;
    const bool turns_over = rate * (double)(run->instructions - start) >= (double)doubt->lines;
    const bool misses = (double)sums->misses > SAMPLES_DOUBT_MOST * (double)sums->met;
    return samples_left(run) > 0 && turns_over && misses && doubt->measured < doubt->lines &&
           samples_count(run) < SAMPLES_SNAPSHOTS_LEAST;
}

struct samples_doubt samples_doubt(const struct report_run *run, uint32_t number)
{
    struct samples_doubt out = {.lines = stale_lines_of(run, number), .warmed = UINT64_MAX};
    struct stretch stretch = {.sample = 0};
    struct sums sums = {.stale = 0};
    if (run->weights || samples_count(run) < 2 || samples_of_phases(run) != run->samples.count)
        return (struct samples_doubt){.why = SAMPLES_SURE};
    const double rate = intake(run, number);
    for (size_t phase = 0; next_stretch(&stretch, &phase, run); stretch.sample++)
        stale_add_sample(&sums, &out, run, number, &stretch, rate);
    out.share = sums.accesses == 0 ? 0 : sums.doubtful / sums.accesses;
    out.measured = sums.misses / samples_count(run);
    if (out.share > SAMPLES_DOUBT_MOST)
        out.why = SAMPLES_STALE;
    else if (are_snapshots(run, &out, &sums, rate))
        out.why = SAMPLES_SNAPSHOTS;
    return out;
}
