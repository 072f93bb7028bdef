/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * advise: `c2emu advise`, after the run.
 *
 * Model
 *   The run was recorded. It is played back twice: as it was, to see how long the rows of objects are (--dim says it
 *   for those that it names) and in which order walks come to their nodes, and once more with all proposals side by
 *   side: the remedies of the run's findings (findings/remedies.c), and what else might be done about conflict misses.
 *   Then the report.
 */
#include <string.h>

#include "analyses/coherence.h"
#include "session/session_priv.h"

#define PADDINGS 8u /* that are looked at */

struct advising {
    const struct analyses_profile_result *profile;
    struct lanes_replay replay;
    uint64_t *rows, *dims; /* [object]; dims: as --dim says, 0: it does not */
    bool *wanted;          /* [object]: named by --dim */
    struct analyses_outcome before, outcomes[ANALYSES_PROPOSALS];
    struct analyses_proposal proposals[ANALYSES_PROPOSALS];
    uint32_t count;
    struct analyses_padding paddings[PADDINGS];
    uint32_t padding_count;
    struct findings *findings;
    struct findings_wishes wishes;
    struct session_progress progress;
    bool shows_progress;
    uint64_t instructions; /* of the run */
};

/* ------------------------------------------------------------------ --dim */

static bool has_conflicts(const struct analyses_profile_result *profile, const struct analyses_object *object)
{
    uint64_t conflicts = 0;
    for (uint32_t i = 0; i < profile->level_count; i++)
        conflicts += object->level[i].reads[ANALYSES_CONFLICT] + object->level[i].writes[ANALYSES_CONFLICT];
    return conflicts != 0 && analyses_movable(object);
}

/* The objects that can be named: with a suggestion among all, else those with conflicts. */
static enum c2_status advise_fail_unknown(const struct analyses_profile_result *profile, const char *text,
                                          const char *name, struct c2_error *err)
{
    char known[512] = "";
    size_t count = 0, used = 0;
    const char **names = c2_alloc((profile->object_count + 1) * sizeof *names);
    if (!names)
        return c2_fail_memory(err, "the names of objects");
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct analyses_object *object = &profile->objects[i];
        if (analyses_movable(object))
            names[count++] = object->name;
        if (has_conflicts(profile, object) && used < sizeof known - 80)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%.64s", used == 0 ? "" : ", ", object->name);
    }
    const char *nearest = c2_nearest(name, names, count);
    c2_free(names);
    return c2_fail(err, C2_ERR_INVALID,
                   "--dim %s: the run has no object \"%s\" that can be moved%s%s%s; with conflict "
                   "misses: %s",
                   text, name, !nearest ? "" : " (did you mean \"", !nearest ? "" : nearest, !nearest ? "" : "\"?)",
                   used == 0 ? "none" : known);
}

/* Names are not unique: all objects of this name are meant. */
static enum c2_status take_dim(struct advising *advising, const char *text, struct c2_error *err)
{
    char name[256];
    uint64_t bytes;
    bool found = false;
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return c2_fail(err, C2_ERR_INVALID, "--dim %s: must be OBJECT=ROWBYTES, e.g. A=4096", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    enum c2_status status = c2_parse_size(&bytes, equals + 1, "--dim", err);
    if (status != C2_OK)
        return status;
    for (size_t i = 0; i < advising->profile->object_count; i++) {
        const struct analyses_object *object = &advising->profile->objects[i];
        if (strcmp(object->name, name) != 0 || !analyses_movable(object))
            continue;
        if (bytes == 0 || bytes > object->bytes / 2)
            return c2_fail(err, C2_ERR_INVALID, "--dim %s: %s has %llu bytes, so its rows have 1 to %llu", text, name,
                           (unsigned long long)object->bytes, (unsigned long long)object->bytes / 2);
        found = true;
        advising->wanted[i] = true;
        advising->dims[i] = bytes;
    }
    return found ? C2_OK : advise_fail_unknown(advising->profile, text, name, err);
}

/* ------------------------------------------------------------------ several cores */

static void take_paddings(struct advising *advising, const struct report_run *run)
{
    const struct analyses_coherence_result *result = run->sim.found[ANALYSIS_coherence];
    for (size_t i = 0; result && i < result->object_count && advising->padding_count < PADDINGS; i++) {
        const struct coherence_object *object = &result->objects[i];
        if (object->padding != 0 && object->object != COHERENCE_NOBODY)
            advising->paddings[advising->padding_count++] = (struct analyses_padding){
                object->object, run->sim.machine->line_bytes - object->padding, object->padding};
    }
}

/* ------------------------------------------------------------------ the two times */

static void begin_pass(struct advising *advising, const char *phase)
{
    session_progress_start(&advising->progress, phase);
    advising->progress.whole = advising->instructions;
    advising->replay.tick = advising->shows_progress ? session_progress_tick : NULL;
    advising->replay.tick_self = &advising->progress;
}

static enum c2_status find_rows(struct advising *advising, const struct analyses_plan_input *input,
                                struct c2_error *err)
{
    uint32_t objects[ANALYSES_OBJECTS], count;
    enum c2_status status = analyses_plan_objects(objects, &count, input, err);
    begin_pass(advising, "looking for rows");
    if (status == C2_OK)
        status = lanes_replay_rows(&advising->before, advising->rows, objects, count, &advising->replay,
                                   advising->wishes.walks, advising->wishes.walk_count, err);
    if (status == C2_OK && advising->before.status != C2_OK) {
        *err = advising->before.error;
        status = advising->before.status;
    }
    for (size_t i = 0; i < advising->profile->object_count; i++)
        if (advising->dims[i] != 0)
            advising->rows[i] = advising->dims[i];
    return status;
}

static enum c2_status advise_try_all(struct advising *advising, struct c2_error *err)
{
    struct findings_wishes *wishes = &advising->wishes;
    findings_wish(wishes, advising->findings, advising->profile, advising->replay.machine, advising->replay.placement);
    const struct analyses_plan_input input = {.profile = advising->profile,
                                              .machine = advising->replay.machine,
                                              .placement = advising->replay.placement,
                                              .rows = advising->rows,
                                              .paddings = advising->paddings,
                                              .padding_count = advising->padding_count,
                                              .wishes = wishes->list,
                                              .wish_count = wishes->count,
                                              .wanted = advising->wanted};
    enum c2_status status = find_rows(advising, &input, err);
    if (status == C2_OK)
        status = analyses_plan(advising->proposals, &advising->count, &input, err);
    session_progress_clear(&advising->progress);
    begin_pass(advising, "trying layouts");
    if (status == C2_OK && advising->count != 0)
        status = lanes_replay(advising->outcomes, advising->proposals, advising->count, &advising->replay, err);
    session_progress_clear(&advising->progress);
    if (status == C2_OK)
        findings_settle(advising->findings, advising->proposals, advising->outcomes, advising->count,
                        &advising->before);
    return status;
}

/* ------------------------------------------------------------------ the report */

static enum c2_status write_report(const struct advising *advising, const struct report_run *run,
                                   const struct session_options *options, struct c2_outfile *file, struct c2_error *err)
{
    const struct report_proposals of = {.run = run,
                                        .proposals = advising->proposals,
                                        .outcomes = advising->outcomes,
                                        .count = advising->count,
                                        .before = &advising->before};
    struct report *report;
    enum c2_status status = report_create_advice(&report, &of,
                                                 (options->quiet ? 0 : REPORT_TEXT) | (file ? REPORT_JSON : 0), err);
    if (status == C2_OK && !options->quiet)
        session_show_report(report, options);
    if (status == C2_OK && file)
        status = report_json(c2_outfile_stream(file), report, err);
    report_destroy(report);
    if (!file)
        return status;
    if (status == C2_OK || status == C2_ERR_IO) /* commit names the file and the reason of a failed write */
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return status;
}

static enum c2_status advise_prepare(struct advising *advising, const struct session_options *options,
                                     struct c2_error *err)
{
    const size_t count = advising->profile->object_count;
    advising->rows = c2_calloc(count + 1, sizeof *advising->rows);
    advising->dims = c2_calloc(count + 1, sizeof *advising->dims);
    advising->wanted = c2_calloc(count + 1, sizeof *advising->wanted);
    if (!advising->rows || !advising->dims || !advising->wanted)
        return c2_fail_memory(err, "the rows of objects");
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < options->dim_count && status == C2_OK; i++)
        status = take_dim(advising, options->dims[i], err);
    return status;
}

static void advise_release(struct advising *advising)
{
    for (uint32_t i = 0; i < advising->wishes.walk_count; i++)
        c2_free(advising->wishes.walks[i].order);
    c2_free(advising->rows);
    c2_free(advising->dims);
    c2_free(advising->wanted);
    c2_free(advising);
}

enum c2_status session_advise(const struct session_options *options, const struct session_simulation *simulation,
                              const struct report_run *run, struct findings *findings, struct c2_outfile *file,
                              struct c2_error *err)
{
    struct advising *advising = c2_calloc(1, sizeof *advising);
    if (!advising) {
        c2_outfile_abandon(file);
        return c2_fail_memory(err, "the advice");
    }
    advising->profile = run->sim.profile;
    advising->findings = findings;
    advising->replay = (struct lanes_replay){.machine = run->sim.machine,
                                             .placement = run->sim.placement,
                                             .recording = simulation->recording,
                                             .profile = run->sim.profile,
                                             .seed = options->seed};
    advising->shows_progress = session_progress_wanted(options);
    advising->instructions = run->instructions;
    take_paddings(advising, run);
    enum c2_status status = advise_prepare(advising, options, err);
    if (status == C2_OK)
        status = advise_try_all(advising, err);
    if (status == C2_OK)
        status = write_report(advising, run, options, file, err);
    else
        c2_outfile_abandon(file);
    advise_release(advising);
    return status;
}
