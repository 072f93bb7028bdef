/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * writebacks: which instructions make levels write dirty lines back, for profiles for other tools.
 *
 * Model
 *   A level writes a dirty line back when the line has to leave: the instruction is the one whose access, or whose
 *   request to the caches, has made it leave, not the one that had written the line. What a level has written back
 *   between one line access and the next is the former's; so are lines that leave for a page walk, for a prefetch, or
 *   further up and down for the sake of one.
 *
 * Counting
 *   In phases that are measured. The sums over all instructions are the `writebacks` of each level in the report.
 *
 * Invariants
 *   No counter of a level goes backwards.
 *
 * Not modelled
 *   Lines that a store past the caches makes leave are those of the access before it. Whose line it is. Calls have
 *   none of it, and contexts neither: an event of instructions and lines.
 */
#include <string.h>

#include "analyses/where.h"

struct writebacks {
    struct analysis base;
    struct analysis *profile;
    uint32_t level_count;
    const struct caches *caches; /* NULL: nothing has been notified yet */
    uint64_t before[CACHES_MAX_LEVELS];
    uint32_t code;    /* of the last reference; UINT32_MAX: there was none since the counts were taken */
    bool idle;        /* in a phase that is not measured */
    uint64_t *counts; /* [code * level_count] */
    uint32_t code_room;
    uint64_t *sums; /* [instruction of the profile * level_count] */
    struct analyses_writebacks_result result;
};

/* What was written back since the last time goes to the last reference. */
static void writebacks_settle(struct writebacks *w)
{
    for (uint32_t i = 0; i < w->level_count && w->caches; i++) {
        const uint64_t now = caches_level_counts(w->caches, i)->writebacks;
        C2_ASSERT(now >= w->before[i]);
        if (w->code != UINT32_MAX && !w->idle)
            w->counts[(size_t)w->code * w->level_count + i] += now - w->before[i];
        w->before[i] = now;
    }
}

/* From now on it is this instruction's. */
static enum c2_status writebacks_turn_to(struct writebacks *w, uint32_t code, struct c2_error *err)
{
    const uint32_t before = w->code_room;
    writebacks_settle(w);
    w->code = code;
    if (code < before)
        return C2_OK;
    if (!c2_reach((void **)&w->counts, &w->code_room, code, w->level_count * sizeof *w->counts,
                  C2_HOST_SIZE(4096u, 1u)))
        return c2_fail_memory(err, "what instructions make levels write back");
    memset(w->counts + (size_t)before * w->level_count, 0,
           (size_t)(w->code_room - before) * w->level_count * sizeof *w->counts);
    return C2_OK;
}

static enum c2_status writebacks_approached(void *self, const struct sim_approach *access, struct c2_error *err)
{
    struct writebacks *w = self;
    w->caches = access->caches;
    return writebacks_turn_to(w, access->code, err);
}

static enum c2_status instructed(void *self, const struct sim_reference *named, enum caches_instruction what,
                                 struct c2_error *err)
{
    (void)what;
    return writebacks_turn_to(self, named->code, err);
}

static enum c2_status writebacks_window(void *self, const struct sim_window *ended, struct c2_error *err)
{
    struct writebacks *w = self;
    (void)err;
    writebacks_settle(w);
    w->code = UINT32_MAX;
    w->idle = ended->next != STREAM_MEASURE;
    return C2_OK;
}

static enum c2_status writebacks_dropped(void *self, struct c2_error *err)
{
    struct writebacks *w = self;
    (void)err;
    writebacks_settle(w);
    w->code = UINT32_MAX;
    if (w->code_room != 0)
        memset(w->counts, 0, (size_t)w->code_room * w->level_count * sizeof *w->counts);
    return C2_OK;
}

static enum c2_status writebacks_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct writebacks *w = self;
    const struct analyses_profile_result *profile = w->profile->kind->result(w->profile);
    w->sums = c2_calloc(profile->insn_count + 1, w->level_count * sizeof *w->sums);
    if (!w->sums)
        return c2_fail_memory(err, "what instructions make levels write back");
    for (uint32_t code = 0; code < w->code_room && code < sim_code_count(sim); code++) {
        const uint32_t insn = where_insn(w->profile, code);
        for (uint32_t i = 0; i < w->level_count && insn != WHERE_NOWHERE; i++)
            w->sums[(size_t)insn * w->level_count + i] += w->counts[(size_t)code * w->level_count + i];
    }
    w->result = (struct analyses_writebacks_result){w->level_count, w->sums};
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

static void writebacks_destroy(struct analysis *analysis)
{
    struct writebacks *w = (struct writebacks *)analysis;
    c2_free(w->counts);
    c2_free(w->sums);
    c2_free(w);
}

static enum c2_status writebacks_create(struct analysis **out, const struct analyses_setup *setup,
                                        const struct analyses *analyses, struct c2_error *err)
{
    struct writebacks *w = c2_calloc(1, sizeof *w);
    if (!w)
        return c2_fail_memory(err, "what instructions make levels write back");
    w->base.kind = &analysis_writebacks;
    w->profile = analyses_find(analyses, ANALYSIS_profile);
    w->level_count = setup->machine->level_count;
    w->code = UINT32_MAX;
    *out = &w->base;
    return C2_OK;
}

static struct sim_subscriber writebacks_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .in_every_phase = true,
                                   .approached = writebacks_approached,
                                   .instructed = instructed,
                                   .window = writebacks_window,
                                   .dropped = writebacks_dropped,
                                   .finish = writebacks_finish};
}

static const void *writebacks_result(const struct analysis *analysis)
{
    return &((const struct writebacks *)analysis)->result;
}

const struct analysis_kind analysis_writebacks = {.needs = 1u << ANALYSIS_profile,
                                                  .create = writebacks_create,
                                                  .subscriber = writebacks_subscriber,
                                                  .result = writebacks_result,
                                                  .destroy = writebacks_destroy};
