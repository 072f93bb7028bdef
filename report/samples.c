/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * samples: a run that is known by samples: how its rates differ between them, and what that says of all of it.
 *
 * Model
 *   Every rate is that of what was measured, estimate.c's ratio; beside it stand the standard deviation between samples
 *   and the margin: half of the interval that holds the rate of the whole run with 95 %, as far as chance decides which
 *   instructions were measured. What the run has in all is the misses of an instruction times its instructions.
 *   A start that was measured whole is the first of the samples kept. It stands for itself alone, and the others for
 *   what is behind it.
 *   One sample has no margin, nor has what only one of them met, nor have weighted samples, which were chosen.
 *   Nor has a level that samples or their warm-ups are too short for (stale.c), nor what objects, functions and lines
 *   miss there, nor what they cost. A warning has the reason and the remedy.
 *   A margin is too wide when it is more than the precision asked for, in per cent of the miss rate.
 *
 * Counting
 *   A sample is one phase that was measured; one that the end of the program cuts counts as well. Of several cores it
 *   is what all of them did in it, whichever thread's turn it was.
 *
 * Not modelled
 *   That caches stand still while instructions are skipped: a sample begins with lines of long ago, and takes what was
 *   touched meanwhile for cold. No margin covers this (docs/sampling.md); stale.c finds out where it may be much.
 */
#include <inttypes.h>

#include "report/samples.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])
#define PER_CENT 100.0
#define PER_1000 1000.0

static uint64_t whole_number(double n) { return (uint64_t)(n + 0.5); }

/* ------------------------------------------------------------------ estimates of a level */

size_t samples_count(const struct report_run *run) { return run->samples.count - run->start; }

static uint64_t samples_start_of(const struct report_run *run) { return run->start ? run->samples.instructions[0] : 0; }

/* The share of the instructions behind the start that the samples have. */
static double share_behind(const struct report_run *run)
{
    uint64_t measured = 0;
    for (size_t i = run->start; i < run->samples.count; i++)
        measured += run->samples.instructions[i];
    return (double)measured / (double)(run->instructions - samples_start_of(run));
}

double samples_left(const struct report_run *run)
{
    return samples_start_of(run) == run->instructions ? 0 : 1 - share_behind(run);
}

double samples_start_gain(const struct report_run *run) { return samples_count(run) == 0 ? 1 : share_behind(run); }

/* Of all the run's instructions, those that were measured. */
static double share_measured(const struct report_run *run)
{
    uint64_t measured = 0;
    for (size_t i = 0; i < run->samples.count; i++)
        measured += run->samples.instructions[i];
    return 1 - (1 - (double)measured / (double)run->instructions);
}

static double samples_counted(const struct report_run *run, size_t sample, uint32_t number, enum samples_count what)
{
    const struct sim_sampled *level = &run->samples.levels[sample * run->samples.level_count + number];
    const double instructions = (double)run->samples.instructions[sample];
    const double gain = run->weights ? run->weights[sample] / instructions : 1;
    switch (what) {
    case SAMPLES_INSTRUCTIONS:
        return gain * instructions;
    case SAMPLES_ACCESSES:
        return gain * (double)level->accesses;
    case SAMPLES_MISSES:
        return gain * (double)level->misses;
    case SAMPLES_COHERENCE:
        return gain * (double)(level->misses - level->classes[0] - level->classes[1] - level->classes[2]);
    default:
        return gain * (double)level->classes[what - SAMPLES_CLASSES];
    }
}

static struct estimate drawn(const struct report_run *run, uint32_t number, enum samples_count y, enum samples_count x)
{
    struct estimate out = {.samples = 0};
    for (size_t i = run->start; i < run->samples.count; i++) {
        const double own = samples_counted(run, i, number, x);
        out.x += own;
        out.y += samples_counted(run, i, number, y);
        out.samples += own > 0 && !run->weights;
    }
    if (run->start)
        estimate_add_start(&out, samples_counted(run, 0, number, y), samples_counted(run, 0, number, x),
                           samples_start_gain(run), (uint32_t)samples_count(run));
    for (size_t i = run->start; i < run->samples.count && out.x > 0; i++)
        out.squares += estimate_square(&out, samples_counted(run, i, number, y), samples_counted(run, i, number, x));
    return out;
}

struct estimate samples_level(const struct report_run *run, uint32_t number, enum samples_count y, enum samples_count x)
{
    const struct samples_doubt doubt = samples_doubt(run, number);
    struct estimate out = drawn(run, number, y, x);
    if (doubt.why != SAMPLES_SURE)
        estimate_withhold(&out);
    return out;
}

/* ------------------------------------------------------------------ in the JSON */

/* scale: what a ratio of 1 is called. */
static void add_estimate(struct document *d, const char *key, const struct estimate *of, double left, double scale)
{
    if (of->x == 0)
        return;
    doc_group(d, DOC_JSON, key);
    doc_decimal(d, DOC_JSON, "mean", scale * estimate_mean(of));
    if (estimate_has_margin(of)) {
        doc_decimal(d, DOC_JSON, "sd", scale * estimate_deviation(of));
        doc_decimal(d, DOC_JSON, "margin", scale * estimate_margin(of, left));
        doc_count(d, DOC_JSON, "samples", of->samples);
    }
    doc_close(d);
}

static const char *const class_keys[ANALYSES_CLASSES] = {"cold", "capacity", "conflict"};

static void samples_add_classes(struct document *d, const struct estimate classes[ANALYSES_CLASSES], double left)
{
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++)
        add_estimate(d, class_keys[i], &classes[i], left, PER_CENT);
}

void report_add_sampled(struct document *d, const struct digest *digest, unsigned kind, uint32_t number, uint32_t level)
{
    if (!samples_of(digest))
        return;
    const struct samples_rates rates = samples_groups_rates(samples_of(digest), (enum samples_kind)kind, number, level);
    const double left = samples_left(report_of(digest));
    doc_group(d, DOC_JSON, "sampled");
    add_estimate(d, "misses_per_1000", &rates.misses, left, PER_1000);
    samples_add_classes(d, rates.classes, left);
    doc_close(d);
}

/* Of all of the run's instructions. */
static void add_total(struct document *d, const struct report_run *run, const char *key, const struct estimate *of)
{
    const double instructions = (double)run->instructions;
    doc_group(d, DOC_JSON, key);
    doc_count(d, DOC_JSON, "mean", whole_number(instructions * estimate_mean(of)));
    if (estimate_has_margin(of))
        doc_count(d, DOC_JSON, "margin", whole_number(instructions * estimate_margin(of, samples_left(run))));
    doc_close(d);
}

static void add_totals(struct document *d, const struct report_run *run, uint32_t number)
{
    struct estimate of = samples_level(run, number, SAMPLES_MISSES, SAMPLES_INSTRUCTIONS);
    doc_group(d, DOC_JSON, "run");
    add_total(d, run, "misses", &of);
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++) {
        of = samples_level(run, number, SAMPLES_CLASSES + i, SAMPLES_INSTRUCTIONS);
        add_total(d, run, class_keys[i], &of);
    }
    of = samples_level(run, number, SAMPLES_COHERENCE, SAMPLES_INSTRUCTIONS);
    if (caches_machine_cores(run->sim.machine) > 1)
        add_total(d, run, "coherence", &of);
    doc_close(d);
}

/* ------------------------------------------------------------------ in the text */

/* As many decimals as leave the margin two digits; one where it has none. */
static int decimals(double margin)
{
    int count = 0;
    if (margin < 0.00005)
        return 1;
    for (double unit = 10; count < 4 && margin < unit; unit /= 10)
        count++;
    return count;
}

static void samples_add_words(struct document *d, const char *key, const struct estimate *of, double left, double scale)
{
    if (of->x == 0)
        return;
    if (!estimate_has_margin(of)) {
        doc_words(d, DOC_TEXT, key, "%.2f", scale * estimate_mean(of));
        return;
    }
    const double margin = scale * estimate_margin(of, left);
    const int places = decimals(margin);
    doc_words(d, DOC_TEXT, key, "%.*f +- %.*f", places, scale * estimate_mean(of), places, margin);
}

static void add_total_words(struct document *d, const struct report_run *run, const struct estimate *of)
{
    const char *mean = doc_digits(d, whole_number((double)run->instructions * estimate_mean(of)));
    if (estimate_has_margin(of) && of->y != 0)
        doc_words(d, DOC_TEXT, "total", "%s +- %.1f %%", mean,
                  PER_CENT * estimate_margin(of, samples_left(run)) / estimate_mean(of));
    else
        doc_string(d, DOC_TEXT, "total", mean);
}

/* ------------------------------------------------------------------ the precision asked for */

#define COMPLAINT_BYTES 384

/* Why a level has no interval, and what helps. In buffer, of COMPLAINT_BYTES. */
static const char *say_doubt(char *buffer, const struct digest_level *level, const struct samples_doubt *doubt)
{
    char some[32], lines[32];
    const char *name = level->level->name;
    c2_group_digits(lines, doubt->lines);
    if (doubt->why == SAMPLES_STALE)
        snprintf(buffer, COMPLAINT_BYTES,
                 "%s has no interval: it stood still while instructions were skipped, which may move its miss rate by "
                 "%.1f points; a warm-up brought in %s of its %s lines: take a longer --warmup, --warm functional, or "
                 "no samples",
                 name, PER_CENT * doubt->share, c2_group_digits(some, doubt->warmed), lines);
    else
        snprintf(buffer, COMPLAINT_BYTES,
                 "%s has no interval: a sample brought in %s of its %s lines, and there are fewer than %d: the run may "
                 "differ where they do not show it; take more samples (a shorter --period), or none",
                 name, c2_group_digits(some, doubt->measured), lines, SAMPLES_SNAPSHOTS_LEAST);
    return buffer;
}

/* What is less sure than asked for; NULL: nothing. In buffer, of COMPLAINT_BYTES. */
static const char *complaint(char *buffer, const struct report_run *run, const struct digest_level *level)
{
    const struct estimate rate = samples_level(run, level->number, SAMPLES_MISSES, SAMPLES_ACCESSES);
    const char *name = level->level->name;
    if (run->precision == 0 || rate.y == 0)
        return NULL;
    const struct samples_doubt doubt = samples_doubt(run, level->number);
    if (doubt.why != SAMPLES_SURE)
        return say_doubt(buffer, level, &doubt);
    if (!estimate_has_margin(&rate)) {
        snprintf(buffer, COMPLAINT_BYTES, "%s: one sample does not say how sure its miss rate is; take more", name);
        return buffer;
    }
    const double left = samples_left(run), wanted = run->precision / PER_CENT * estimate_mean(&rate);
    const double margin = estimate_margin(&rate, left);
    if (margin <= wanted)
        return NULL;
    const uint64_t needed = estimate_needed(&rate, left, wanted);
    const int written = snprintf(buffer, COMPLAINT_BYTES,
                                 "%s: the miss rate is known to +-%.1f %% of itself, not to +-%g %%; ", name,
                                 PER_CENT * margin / estimate_mean(&rate), run->precision);
    if (needed == UINT64_MAX)
        snprintf(buffer + written, COMPLAINT_BYTES - (size_t)written, "that takes all of the run");
    else
        snprintf(buffer + written, COMPLAINT_BYTES - (size_t)written, "%" PRIu64 " samples like these would do",
                 needed);
    return buffer;
}

/* to: may be NULL. */
static bool warn(FILE *to, const struct report_run *run)
{
    struct digest_level levels[DIGEST_LEVELS];
    char text[COMPLAINT_BYTES];
    bool any = false;
    const size_t count = run->samples.count == 0 ? 0 : digest_levels(levels, &run->sim);
    for (size_t i = 0; i < count; i++) {
        const char *words = complaint(text, run, &levels[i]);
        if (words && to)
            fprintf(to, "c2emu: --precision: %s%s%s\n", run->lane_name ? run->lane_name : "",
                    run->lane_name ? ": " : "", words);
        any |= !!words;
    }
    return any;
}

void report_warn_of_precision(FILE *to, const struct report_run *run)
{
    for (size_t i = 0; i < run->lane_count; i++)
        warn(to, &run->lanes[i]);
    if (run->lane_count == 0)
        warn(to, run);
}

static void add_precision(struct document *d, const struct digest *digest)
{
    const struct report_run *run = report_of(digest);
    char text[COMPLAINT_BYTES];
    if (run->precision == 0)
        return;
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct samples_doubt doubt = samples_doubt(run, digest->levels[i].number);
        const char *words = doubt.why != SAMPLES_SURE ? NULL : complaint(text, run, &digest->levels[i]);
        if (words)
            doc_note(d, DOC_LINE, NULL, "WARNING: %s", words);
    }
    doc_group(d, DOC_JSON, "precision");
    doc_decimal(d, DOC_JSON, "per_cent", run->precision);
    doc_flag(d, DOC_JSON, "reached", !warn(NULL, run));
    doc_close(d);
}

/* In the JSON, of a level whose margin is too wide. */
static void samples_add_needed(struct document *d, const struct report_run *run, const struct estimate *rate)
{
    const double wanted = run->precision / PER_CENT * (rate->x == 0 ? 0 : estimate_mean(rate));
    if (wanted == 0 || !estimate_has_margin(rate) || estimate_margin(rate, samples_left(run)) <= wanted)
        return;
    const uint64_t needed = estimate_needed(rate, samples_left(run), wanted);
    if (needed != UINT64_MAX)
        doc_count(d, DOC_JSON, "samples_needed", needed);
}

/* ------------------------------------------------------------------ the chapter */

/* Instructions from where a sample begins to where the next one does, at most; *before, *behind: those that no sample
 * stands for. The start is no sample, and stands for itself. */
static uint64_t longest_stride(const struct report_run *run, uint64_t *before, uint64_t *behind)
{
    uint64_t now = 0, last = 0, end = 0, longest = 0;
    bool any = false;
    for (size_t i = run->start; i < run->phase_count; i++) {
        const struct report_phase *phase = &run->phases[i];
        if (phase->kind == STREAM_MEASURE) {
            *before = any ? *before : now;
            longest = any && now - last > longest ? now - last : longest;
            last = now;
            end = now + phase->instructions;
            any = true;
        }
        now += phase->instructions;
    }
    *behind = now - end;
    return longest;
}

static void warn_of_coverage(struct document *d, const struct report_run *run)
{
    uint64_t before = 0, behind = 0;
    const uint64_t longest = longest_stride(run, &before, &behind);
    if (samples_count(run) < 2 || run->weights || (before <= longest && behind <= longest))
        return;
    doc_note(d, DOC_LINE, NULL,
             "WARNING: no sample is of the first %s instructions, nor of the last %s: the run may "
             "differ there",
             doc_digits(d, before), doc_digits(d, behind));
}

/* Whatever the precision asked for. */
static void warn_of_doubts(struct document *d, const struct digest *digest)
{
    char text[COMPLAINT_BYTES];
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct samples_doubt doubt = samples_doubt(report_of(digest), digest->levels[i].number);
        if (doubt.why != SAMPLES_SURE)
            doc_note(d, DOC_LINE, NULL, "WARNING: %s", say_doubt(text, &digest->levels[i], &doubt));
    }
}

/* Beside a start: what is behind it may be anything. */
static bool too_few(const struct report_run *run)
{
    return run->start && samples_count(run) < 2 && samples_start_of(run) != run->instructions;
}

static void warn_of_few(struct document *d, const struct report_run *run)
{
    if (!too_few(run))
        return;
    doc_note(d, DOC_LINE, NULL,
             "WARNING: %s of the %s instructions behind the start: the run is too short for this --period, and may "
             "differ from what is said here; take a shorter one, or no samples",
             samples_count(run) == 0 ? "no sample is" : "one sample is all there is",
             doc_digits(d, run->instructions - samples_start_of(run)));
    doc_flag(d, DOC_JSON, "too_few", true);
}

static void note_how_sure(struct document *d, const struct report_run *run)
{
    const uint32_t count = (uint32_t)samples_count(run);
    if (run->weights)
        doc_say(d, ", each with its weight: they were chosen, not drawn, and have no interval");
    else if (count == 0)
        doc_say(d, samples_start_of(run) == run->instructions ? ": it is all start"
                                                              : ": no sample is of what is behind the start");
    else if (count == 1)
        doc_say(d, ": one does not say how far it is from all of it");
    else
        doc_say(d, "; +- is the interval of 95 %% (Student's t, %" PRIu32 " degree%s of freedom)", count - 1,
                count == 2 ? "" : "s");
}

/* What is measured is counted as it is in all other tables, however much it stands for. */
static void note_start(struct document *d, const struct report_run *run)
{
    if (!run->start || samples_count(run) == 0)
        return;
    doc_note(d, DOC_LINE, NULL,
             "the start, %s instructions, stands for itself, an instruction of a sample for %.1f of those behind it;",
             doc_digits(d, samples_start_of(run)), 1 / share_behind(run));
    doc_note(d, DOC_LINE, NULL, "the other tables count each once");
}

static void samples_note_samples(struct document *d, const struct report_run *run)
{
    const uint32_t count = (uint32_t)samples_count(run);
    doc_note(d, DOC_LINE, NULL, "%s%s sample%s, %.1f %% of the run", run->start ? "the start and " : "",
             doc_digits(d, count), count == 1 ? "" : "s", PER_CENT * share_measured(run));
    note_how_sure(d, run);
    note_start(d, run);
}

static void add_coherence(struct document *d, const struct report_run *run, const struct digest_level *level)
{
    const struct estimate of = samples_level(run, level->number, SAMPLES_COHERENCE, SAMPLES_MISSES);
    if (caches_machine_cores(run->sim.machine) == 1)
        return;
    samples_add_words(d, "coherence", &of, samples_left(run), PER_CENT);
    add_estimate(d, "coherence", &of, samples_left(run), PER_CENT);
}

static void samples_add_level(struct document *d, const struct report_run *run, const struct digest_level *level)
{
    const double left = samples_left(run);
    const struct estimate rate = samples_level(run, level->number, SAMPLES_MISSES, SAMPLES_ACCESSES);
    const struct estimate misses = samples_level(run, level->number, SAMPLES_MISSES, SAMPLES_INSTRUCTIONS);
    struct estimate classes[ANALYSES_CLASSES];
    const struct samples_doubt doubt = samples_doubt(run, level->number);
    doc_group(d, DOC_BOTH, NULL);
    doc_string(d, DOC_BOTH, "name", level->level->name);
    if (doubt.why != SAMPLES_SURE)
        doc_string(d, DOC_JSON, "no_interval", doubt.why == SAMPLES_STALE ? "stale" : "snapshots");
    if (doubt.why == SAMPLES_STALE)
        doc_decimal(d, DOC_JSON, "doubt", PER_CENT * doubt.share);
    samples_add_words(d, "miss rate", &rate, left, PER_CENT);
    samples_add_words(d, "per 1000", &misses, left, PER_1000);
    add_total_words(d, run, &misses);
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++) {
        classes[i] = samples_level(run, level->number, SAMPLES_CLASSES + i, SAMPLES_MISSES);
        samples_add_words(d, class_keys[i], &classes[i], left, PER_CENT);
    }
    add_estimate(d, "miss_rate", &rate, left, PER_CENT);
    samples_add_classes(d, classes, left);
    add_coherence(d, run, level);
    add_estimate(d, "misses_per_1000", &misses, left, PER_1000);
    add_totals(d, run, level->number);
    samples_add_needed(d, run, &rate);
    doc_close(d);
}

static void samples_add_levels(struct document *d, const struct digest *digest)
{
    static const struct doc_column columns[] = {{.heading = "sampled", .key = "name", .form = DOC_LEFT},
                                                {.heading = "miss rate, %", .key = "miss rate"},
                                                {.heading = "cold, %", .key = "cold"},
                                                {.heading = "capacity, %", .key = "capacity"},
                                                {.heading = "conflict, %", .key = "conflict"},
                                                {.heading = "per 1000 instr.", .key = "per 1000", .spare = 2},
                                                {.heading = "misses of the run", .key = "total", .spare = 1},
                                                {.heading = "coherence, %", .key = "coherence"}};
    doc_table(d, DOC_BOTH, "levels");
    doc_columns(d, columns, COUNT_OF(columns) - (digest->run->machine->cores <= 1), 0);
    for (size_t i = 0; i < digest->level_count; i++)
        samples_add_level(d, report_of(digest), &digest->levels[i]);
    doc_close(d);
}

void report_add_samples(struct document *d, struct digest *digest)
{
    const struct report_run *run = report_of(digest);
    if (run->samples.count == 0)
        return;
    doc_group(d, DOC_BOTH, "samples");
    samples_note_samples(d, run);
    doc_count(d, DOC_JSON, "count", samples_count(run));
    doc_flag(d, DOC_JSON, "weighted", run->weights);
    doc_decimal(d, DOC_JSON, "share", PER_CENT * share_measured(run));
    if (run->start)
        doc_count(d, DOC_JSON, "start", samples_start_of(run));
    if (samples_count(run) > 1 && !run->weights)
        doc_decimal(d, DOC_JSON, "t", estimate_student((uint32_t)samples_count(run) - 1));
    warn_of_coverage(d, run);
    warn_of_few(d, run);
    warn_of_doubts(d, digest);
    add_precision(d, digest);
    samples_add_levels(d, digest);
    doc_close(d);
}
