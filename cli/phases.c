/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * phases: which instructions of a run are skipped, which warm the caches up, and which are measured.
 *
 * Model
 *   A sample is instructions that are skipped, then a warm-up, then a measurement (C2Sim; Sato & Endo). Skipped ones
 *   are executed and nothing else; in a warm-up they are simulated and not counted. Without a period each sample is
 *   followed by the next at once, with what it skips. With one, a sample begins in each period, at its start, or
 *   (--offsets random) at a place drawn from those that leave room for all of it, each as likely as the others. What is
 *   left when there are enough samples is skipped.
 * Counting
 *   Lengths are instructions of the guest, exact. The last phase is as long as the program lets it.
 */
#include "cli/cli_priv.h"

enum step { GAP, WARM_UP, MEASUREMENT };

struct cli_phases {
    struct cli_sampling asked;
    struct c2_rng rng;
    uint64_t begun; /* samples */
    enum step step; /* the next */
    struct report_phase *list;
    uint32_t count, room;
    uint64_t start; /* of the last one */
    bool lost;      /* the host has no memory for the list */
    struct cli_progress *progress;
};

enum c2_status cli_phases_create(struct cli_phases **out, const struct cli_sampling *asked, uint64_t seed,
                                 struct cli_progress *progress, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "the phases of the run");
    (*out)->asked = *asked;
    (*out)->progress = progress;
    c2_rng_init(&(*out)->rng, seed, "phases");
    return C2_OK;
}

void cli_phases_destroy(struct cli_phases *phases)
{
    if (!phases)
        return;
    c2_free(phases->list);
    c2_free(phases);
}

/* ------------------------------------------------------------------ what comes next */

static uint64_t gap(struct cli_phases *phases, uint64_t now)
{
    const struct cli_sampling *asked = &phases->asked;
    if (asked->period == 0)
        return asked->skip;
    const uint64_t spare = asked->period - asked->warmup - asked->measure;
    const uint64_t offset = asked->random_offsets ? c2_rng_below(&phases->rng, spare + 1) : 0;
    return asked->skip + phases->begun * asked->period + offset - now;
}

static bool enough(const struct cli_phases *phases)
{
    const struct cli_sampling *asked = &phases->asked;
    return phases->begun == (asked->samples != 0 ? asked->samples : asked->period == 0 ? 1 : UINT64_MAX);
}

/* The next part of a sample, which may be empty. */
static struct emu_phase part(struct cli_phases *phases, uint64_t now)
{
    switch (phases->step) {
    case GAP:
        phases->step = WARM_UP;
        return (struct emu_phase){STREAM_SKIP, gap(phases, now)};
    case WARM_UP:
        phases->step = MEASUREMENT;
        return (struct emu_phase){STREAM_WARM, phases->asked.warmup};
    case MEASUREMENT:
        break;
    }
    phases->step = GAP;
    phases->begun++;
    return (struct emu_phase){STREAM_MEASURE, phases->asked.measure != 0 ? phases->asked.measure : EMU_TO_THE_END};
}

static void end_last(struct cli_phases *phases, uint64_t now)
{
    if (phases->count != 0)
        phases->list[phases->count - 1].instructions = now - phases->start;
    phases->start = now;
}

struct emu_phase cli_phases_next(void *self, uint64_t now)
{
    struct cli_phases *phases = self;
    struct emu_phase next = {STREAM_SKIP, 0};
    while (next.instructions == 0)
        next = phases->step == GAP && enough(phases) ? (struct emu_phase){STREAM_SKIP, EMU_TO_THE_END}
                                                     : part(phases, now);
    static const char *const names[] = {
        [STREAM_MEASURE] = "measuring", [STREAM_WARM] = "warming up", [STREAM_SKIP] = "skipping"};
    phases->progress->phase = names[next.phase];
    end_last(phases, now);
    phases->lost |= !c2_grow((void **)&phases->list, &phases->room, phases->count, sizeof *phases->list);
    if (!phases->lost)
        phases->list[phases->count++] = (struct report_phase){.kind = next.phase};
    return next;
}

enum c2_status cli_phases_end(struct cli_phases *phases, uint64_t instructions, const struct report_phase **out,
                              size_t *count, struct c2_error *err)
{
    if (phases->lost)
        return c2_fail_memory(err, "the phases of the run");
    end_last(phases, instructions);
    while (phases->count > 1 && phases->list[phases->count - 1].instructions == 0)
        phases->count--; /* the program has ended where it would have begun */
    *out = phases->list;
    *count = phases->count;
    return C2_OK;
}
