/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * phases: which instructions of a run are skipped, which warm the caches up, and which are measured.
 *
 * Model
 *   The run is inside of a region or outside (watch/parts.c); without regions all of it is inside. Inside it is divided
 *   into samples, as if there were nothing else. A sample is instructions that are skipped, then a warm-up, then a
 *   measurement (C2Sim; Sato & Endo). Skipped ones are executed and nothing else; in a warm-up they are simulated and
 *   not counted. Without a period each sample is followed by the next at once, with what it skips. With one, a sample
 *   begins in each period, at its start, or (--offsets random) at a place drawn from those that leave room for all of
 *   it, each as likely as the others. What is left when there are enough samples is skipped, the outside too.
 *   Samples that were chosen (chosen.c) begin where they are said to, each behind as much of its warm-up as there is
 *   room for.
 *   Outside everything warms up, or is skipped (--warm none). --warm functional warms up what samples would skip, too.
 * Counting
 *   Lengths are instructions of the guest, exact; those of samples are counted inside of regions. A phase that a region
 *   ends within goes on where the next one begins. The last phase is as long as the program lets it.
 *   A phase without instructions is none: a region may end where a sample does.
 */
#include "session/session_priv.h"

enum step { START, GAP, WARM_UP, MEASUREMENT };

struct session_phases {
    struct session_phases_config config;
    struct c2_rng rng;
    uint64_t begun;         /* samples */
    enum step step;         /* the next */
    struct emu_phase part;  /* of a sample: what is left of it */
    bool inside, uncounted; /* the last phase is */
    uint64_t spent;         /* instructions inside */
    struct report_phase *list;
    uint32_t count, room;
    uint64_t start; /* of the last one */
    struct report_region *regions;
    uint64_t *entries; /* [region]: where it begins */
    uint32_t region_count, region_room, entry_room;
    bool skipped;    /* so does the last phase */
    uint32_t region; /* 1 + number of that the guest is in; 0: outside */
    bool lost;       /* the host has no memory for the lists */
};

enum c2_status session_phases_create(struct session_phases **out, const struct session_phases_config *config,
                                     struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "the phases of the run");
    (*out)->config = *config;
    c2_rng_init(&(*out)->rng, config->seed, "phases");
    return C2_OK;
}

void session_phases_destroy(struct session_phases *phases)
{
    if (!phases)
        return;
    c2_free(phases->list);
    c2_free(phases->regions);
    c2_free(phases->entries);
    c2_free(phases);
}

/* ------------------------------------------------------------------ samples */

/* Up to the warm-up of the next sample that was chosen, which is as long as there is room for. */
static uint64_t gap_of_chosen(const struct session_phases *phases)
{
    const uint64_t room = session_chosen_start(phases->config.chosen, phases->begun) - phases->spent;
    return room > phases->config.sampling->warmup ? room - phases->config.sampling->warmup : 0;
}

static uint64_t gap(struct session_phases *phases)
{
    const struct session_sampling *asked = phases->config.sampling;
    if (phases->config.chosen)
        return gap_of_chosen(phases);
    if (asked->period == 0)
        return asked->skip;
    const uint64_t spare = asked->period - asked->warmup - asked->measure;
    const uint64_t offset = asked->random_offsets ? c2_rng_below(&phases->rng, spare + 1) : 0;
    return asked->start + asked->skip + phases->begun * asked->period + offset - phases->spent;
}

static bool enough(const struct session_phases *phases)
{
    const struct session_sampling *asked = phases->config.sampling;
    if (phases->config.chosen)
        return phases->step == GAP && phases->begun == session_chosen_count(phases->config.chosen);
    return phases->step == GAP && phases->begun == (asked->samples != 0  ? asked->samples
                                                    : asked->period == 0 ? 1
                                                                         : UINT64_MAX);
}

/* The next part of a sample, which may be empty. */
static struct emu_phase next_part(struct session_phases *phases)
{
    const struct session_sampling *asked = phases->config.sampling;
    const struct session_chosen *chosen = phases->config.chosen;
    switch (phases->step) {
    case START:
        phases->step = GAP;
        return (struct emu_phase){.phase = STREAM_MEASURE, .instructions = asked->start};
    case GAP:
        phases->step = WARM_UP;
        return (struct emu_phase){.phase = phases->config.warm == SESSION_WARM_FUNCTIONAL ? STREAM_WARM : STREAM_SKIP,
                                  .instructions = gap(phases)};
    case WARM_UP:
        phases->step = MEASUREMENT;
        return (struct emu_phase){.phase = STREAM_WARM,
                                  .instructions = chosen ? session_chosen_start(chosen, phases->begun) - phases->spent
                                                         : asked->warmup};
    case MEASUREMENT:
        break;
    }
    phases->step = GAP;
    phases->begun++;
    const uint64_t length = chosen ? session_chosen_length(chosen) : asked->measure;
    return (struct emu_phase){.phase = STREAM_MEASURE, .instructions = length != 0 ? length : EMU_TO_THE_END};
}

/* uncounted: in a region, where the program wants nothing collected. */
static struct emu_phase phases_outside(const struct session_phases *phases)
{
    const bool skips = !phases->uncounted &&
                       (phases->config.warm == SESSION_WARM_NONE || phases->config.warm == SESSION_WARM_FLUSH);
    return (struct emu_phase){.phase = skips ? STREAM_SKIP : STREAM_WARM, .instructions = EMU_TO_THE_END};
}

/* What comes next. Nothing is left of a part that is over. */
static struct emu_phase phases_choose(struct session_phases *phases)
{
    while (phases->inside && phases->part.instructions == 0 && !enough(phases))
        phases->part = next_part(phases);
    if (phases->part.instructions == 0 && enough(phases))
        return (struct emu_phase){.phase = STREAM_SKIP, .instructions = EMU_TO_THE_END};
    return phases->inside ? phases->part : phases_outside(phases);
}

/* ------------------------------------------------------------------ regions */

/* Of a function its name; by then its file may be unmapped. */
static const char *phases_name_of(const struct session_phases *phases, const struct watch_part *part, const char *asked)
{
    struct loader_place place;
    if (phases->config.regions->function_count == 0)
        return asked;
    loader_symbol_of(phases->config.symbols, part->entry, &place);
    return place.function ? place.function : asked;
}

static const char *phases_asked_of(const struct watch_regions *regions, uint32_t region)
{
    if (regions->function_count != 0)
        return regions->functions[region].asked;
    return regions->from ? regions->from->asked : regions->to ? regions->to->asked : "--requests";
}

/* 1 + the number of the region in the list; 0: no memory. */
static uint32_t phases_number_of(struct session_phases *phases, const struct watch_part *part)
{
    for (uint32_t i = 0; i < phases->region_count; i++)
        if (phases->entries[i] == part->entry.v)
            return i + 1;
    const char *asked = phases_asked_of(phases->config.regions, part->region);
    if (!c2_grow((void **)&phases->regions, &phases->region_room, phases->region_count, sizeof *phases->regions) ||
        !c2_grow((void **)&phases->entries, &phases->entry_room, phases->region_count, sizeof *phases->entries)) {
        phases->lost = true;
        return 0;
    }
    phases->entries[phases->region_count] = part->entry.v;
    phases->regions[phases->region_count] = (struct report_region){asked, phases_name_of(phases, part, asked), 0, 0, 0};
    return ++phases->region_count;
}

static void begin_region(struct session_phases *phases, const struct watch_part *part)
{
    phases->region = phases_number_of(phases, part);
    if (phases->region != 0)
        phases->regions[phases->region - 1].begun++;
}

static void enter_part(struct session_phases *phases, const struct watch_part *part)
{
    phases->inside = part->where == WATCH_INSIDE;
    phases->uncounted = part->where == WATCH_UNCOUNTED;
    if (part->where == WATCH_OUTSIDE)
        phases->region = 0;
    else if (part->begins && phases->config.regions)
        begin_region(phases, part);
}

/* ------------------------------------------------------------------ the list */

/* What was measured so far does not count. */
static void phases_drop(struct session_phases *phases)
{
    for (uint32_t i = 0; i < phases->count; i++)
        if (phases->list[i].kind == STREAM_MEASURE)
            phases->list[i].kind = STREAM_WARM;
    for (uint32_t i = 0; i < phases->region_count; i++)
        phases->regions[i].measured = 0;
}

/* So many instructions more were executed inside. */
static void phases_use(struct session_phases *phases, uint64_t length)
{
    phases->spent += length;
    if (phases->part.instructions != 0 && phases->part.instructions != EMU_TO_THE_END)
        phases->part.instructions -= length;
}

static void end_last(struct session_phases *phases, uint64_t now)
{
    const uint64_t length = now - phases->start;
    phases->start = now;
    if (phases->inside)
        phases_use(phases, length);
    if (phases->count == 0)
        return;
    struct report_phase *last = &phases->list[phases->count - 1];
    last->instructions += length;
    if (phases->region != 0) {
        phases->regions[phases->region - 1].instructions += length;
        phases->regions[phases->region - 1].measured += last->kind == STREAM_MEASURE ? length : 0;
    }
    if (last->instructions == 0)
        phases->count--;
}

/* What is not measured is one phase, and what is, in one region. */
static void phases_add(struct session_phases *phases, enum stream_phase kind)
{
    const struct report_phase *last = phases->count != 0 ? &phases->list[phases->count - 1] : NULL;
    if (last && last->kind == kind && last->region == phases->region && kind != STREAM_MEASURE)
        return;
    phases->lost |= !c2_grow((void **)&phases->list, &phases->room, phases->count, sizeof *phases->list);
    if (!phases->lost)
        phases->list[phases->count++] = (struct report_phase){kind, 0, phases->region};
}

struct emu_phase session_phases_next(void *self, uint64_t now, const struct watch_part *part)
{
    static const char *const names[] = {
        [STREAM_MEASURE] = "measuring", [STREAM_WARM] = "warming up", [STREAM_SKIP] = "skipping"};
    struct session_phases *phases = self;
    end_last(phases, now);
    if (part->zeroes)
        phases_drop(phases);
    enter_part(phases, part);
    struct emu_phase next = phases_choose(phases);
    next.empties = phases->config.warm == SESSION_WARM_FLUSH && phases->skipped && next.phase != STREAM_SKIP;
    phases->skipped = next.phase == STREAM_SKIP;
    phases->config.progress->phase = names[next.phase];
    phases_add(phases, next.phase);
    return next;
}

enum c2_status session_phases_end(struct session_phases *phases, uint64_t instructions, struct session_division *out,
                                  struct c2_error *err)
{
    if (phases->lost)
        return c2_fail_memory(err, "the phases of the run");
    end_last(phases, instructions);
    *out = (struct session_division){.phases = phases->list,
                                     .phase_count = phases->count,
                                     .start = phases->config.sampling->start != 0 && phases->count != 0};
    if (!phases->config.regions)
        return C2_OK;
    out->regions = phases->regions;
    out->region_count = phases->region_count;
    return C2_OK;
}

/* ------------------------------------------------------------------ runs that are shorter than what was asked for */

static uint64_t phases_measured(const struct session_phases *phases)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < phases->count; i++)
        sum += phases->list[i].kind == STREAM_MEASURE ? phases->list[i].instructions : 0;
    return sum;
}

static void say_length(struct c2_words *words, const char *option, uint64_t length)
{
    char count[32];
    if (length != 0)
        c2_say(words, "%s%s %s", words->used == 0 ? "" : ", ", option, c2_group_digits(count, length));
}

/* "--skip 1,000,000, --warmup 5,000": what comes before the first sample. */
static uint64_t say_gap(char *buffer, size_t bytes, const struct session_sampling *asked)
{
    struct c2_words words = {buffer, bytes, 0};
    say_length(&words, "--skip", asked->skip);
    say_length(&words, "--start", asked->start);
    say_length(&words, "--warmup", asked->warmup);
    return asked->skip + asked->start + asked->warmup;
}

static bool say_nothing_measured(struct c2_words *words, const struct session_phases *phases)
{
    char gap[128] = "", had[32], first[32];
    const bool regions = phases->config.regions;
    const uint64_t before = say_gap(gap, sizeof gap, phases->config.sampling);
    c2_say(words,
           "nothing was measured: the run had %s instructions%s, and the first sample begins behind %s of them (%s)",
           c2_group_digits(had, phases->spent), regions ? " in its regions" : "", c2_group_digits(first, before), gap);
    return true;
}

/* The last sample was not over; of one without a length nothing is missing. */
static bool is_cut(const struct session_phases *phases)
{
    return phases->step == GAP && phases->begun != 0 && phases->part.phase == STREAM_MEASURE &&
           phases->part.instructions != 0 && phases->part.instructions != EMU_TO_THE_END;
}

static bool say_short_samples(struct c2_words *words, const struct session_phases *phases)
{
    const struct session_sampling *asked = phases->config.sampling;
    const bool cut = is_cut(phases);
    const uint64_t wanted = asked->samples != 0 ? asked->samples : 1, left = cut ? phases->part.instructions : 0;
    char had[32], part[32], whole[32], samples[32], all[32];
    c2_group_digits(had, phases->spent);
    c2_group_digits(part, asked->measure - left);
    c2_group_digits(whole, asked->measure);
    if (phases->begun == wanted && !cut)
        return false;
    if (wanted == 1)
        c2_say(words, "--measure %s: the run had no more than %s instructions, of which %s were measured", whole, had,
               part);
    else
        c2_say(words, "--samples %s: the run had %s instructions, room for %s of them", c2_group_digits(all, wanted),
               had, c2_group_digits(samples, phases->begun - cut));
    if (wanted != 1 && cut)
        c2_say(words, " and %s instructions of one more", part);
    return true;
}

static bool say_short_period(struct c2_words *words, const struct session_phases *phases)
{
    char period[32], had[32];
    if (phases->config.sampling->samples != 0)
        return say_short_samples(words, phases);
    if (phases->begun != 0)
        return false;
    c2_say(words,
           "--period %s: the run had %s instructions and ended before the first sample; only its start was measured",
           c2_group_digits(period, phases->config.sampling->period), c2_group_digits(had, phases->spent));
    return true;
}

/* A place that was to end what is measured, and has not done so once. */
static bool say_unended(struct c2_words *words, const struct session_phases *phases)
{
    const struct watch_regions *regions = phases->config.regions;
    uint64_t begun = 0;
    for (uint32_t i = 0; i < phases->region_count; i++)
        begun += phases->regions[i].begun;
    if (!regions || !regions->to || begun != 1 || phases->region == 0)
        return false;
    c2_say(words, "%s: the program did not come there any more; it was measured to its end", regions->to->asked);
    return true;
}

bool session_phases_short(char *buffer, size_t bytes, const struct session_phases *phases)
{
    struct c2_words words = {buffer, bytes, 0};
    const struct session_sampling *asked = phases->config.sampling;
    const bool samples = asked->measure != 0 && !phases->config.chosen;
    if (!phases->config.chosen && session_sampling_asked(asked) && phases->spent != 0 && phases_measured(phases) == 0 &&
        phases->begun == 0)
        return say_nothing_measured(&words, phases);
    if (samples && (asked->period != 0 ? say_short_period(&words, phases) : say_short_samples(&words, phases)))
        return true;
    return say_unended(&words, phases);
}
