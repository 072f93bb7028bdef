/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * coherence: what the cores of a machine do to each other - the view that perf c2c has of a processor.
 *
 * Model
 *   Cores, states, invalidations and what true and false sharing are is caches/coherence.c's and bytes.c's; threads and
 *   TLB shootdowns are sim/cores.c's. Here a line that was missed for coherence gets its virtual address at the first
 *   such miss, and when the run is over lines, objects and pairs of instructions are put in order. A line's object is
 *   the one that most of its misses are of (coherence_objects.h).
 *
 *   How the count depends on the length of turns: a core that has a line all through a turn misses it once, however
 *   long the turn is. So of the misses of one core and one line those in ten turns of the core are one where turns are
 *   ten times as long. Each thread is taken to do the same then, in whatever order: one that waits may do otherwise.
 *
 * Counting
 *   Misses of lines, of objects and of pairs of instructions each add up to those of the cores (asserted).
 *
 * Price
 *   Memory is bounded by the lines that were ever taken from a core, and the pairs of instructions that met there.
 */
#include "analyses/coherence_objects.h"
#include "analyses/where.h"

struct coherence {
    struct analysis base;
    const struct caches_machine *machine;
    const struct analysis *profile; /* NULL: no attribution */
    struct c2_map *misses;          /* number in `lines` << 32 and access site -> measured misses there */
    struct c2_map *number_of;       /* physical line -> of `lines` */
    struct guest_va *lines;
    uint32_t line_count, line_room;
    struct coherence_part *parts;
    struct c2_map *last; /* number in `lines` and core -> the turn of the last miss there */
    struct coherence_core *cores;
    struct coherence_found found;
    struct analyses_coherence_result result;
};

/* ------------------------------------------------------------------ life */

static void coherence_destroy(struct analysis *analysis)
{
    struct coherence *coherence = (struct coherence *)analysis;
    c2_map_destroy(coherence->misses);
    c2_map_destroy(coherence->number_of);
    c2_map_destroy(coherence->last);
    c2_free(coherence->lines);
    c2_free(coherence->parts);
    c2_free(coherence->cores);
    coherence_found_free(&coherence->found);
    c2_free(coherence);
}

static enum c2_status coherence_create(struct analysis **out, const struct analyses_setup *setup,
                                       const struct analyses *analyses, struct c2_error *err)
{
    struct coherence *coherence = c2_calloc(1, sizeof *coherence);
    if (!coherence)
        return c2_fail_memory(err, "what cores share");
    coherence->base.kind = &analysis_coherence;
    coherence->machine = setup->machine;
    coherence->profile = analyses_find(analyses, ANALYSIS_profile);
    for (unsigned i = 0; i < COHERENCE_LONGER; i++)
        coherence->result.longer[i].times = i == 0 ? 10 : 100;
    enum c2_status status = c2_map_create(&coherence->number_of, err);
    if (status == C2_OK)
        status = c2_map_create(&coherence->last, err);
    if (status == C2_OK)
        status = c2_map_create(&coherence->misses, err);
    if (status == C2_OK)
        *out = &coherence->base;
    else
        coherence_destroy(&coherence->base);
    return status;
}

static bool applies(const struct caches_machine *machine) { return caches_machine_cores(machine) > 1; }

/* ------------------------------------------------------------------ while simulated */

static bool is_coherence_miss(const struct sim_miss *miss)
{
    bool is = false;
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++)
        is |= miss->outcome->event[i].class_ == CACHES_COHERENCE;
    return is;
}

static enum c2_status coherence_name_line(struct coherence *coherence, const struct sim_miss *miss,
                                          struct c2_error *err)
{
    if (!c2_grow((void **)&coherence->lines, &coherence->line_room, coherence->line_count, sizeof *coherence->lines))
        return c2_fail_memory(err, "what cores share");
    coherence->lines[coherence->line_count].v = c2_align_down(miss->va.v, coherence->machine->line_bytes);
    return c2_map_put(coherence->number_of, miss->line.v, coherence->line_count++, err);
}

static enum c2_status count_site(struct coherence *coherence, const struct sim_miss *miss, uint64_t number,
                                 struct c2_error *err)
{
    const uint64_t key = number << 32 | where_access_site(miss->access_site);
    uint64_t misses = 0;
    if (!coherence->profile)
        return C2_OK;
    c2_map_get(coherence->misses, key, &misses);
    return c2_map_put(coherence->misses, key, misses + 1, err);
}

static enum c2_status count_longer(struct coherence *coherence, const struct sim_miss *miss, uint64_t number,
                                   struct c2_error *err)
{
    const uint64_t key = number * CACHES_MAX_CORES + miss->core;
    uint64_t last;
    const bool known = c2_map_get(coherence->last, key, &last);
    for (unsigned i = 0; i < COHERENCE_LONGER; i++) {
        struct coherence_longer *longer = &coherence->result.longer[i];
        longer->misses += !known || last / longer->times != miss->turn / longer->times;
    }
    return known && last == miss->turn ? C2_OK : c2_map_put(coherence->last, key, miss->turn, err);
}

static enum c2_status coherence_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct coherence *coherence = self;
    uint64_t number = coherence->line_count;
    enum c2_status status = C2_OK;
    if (!is_coherence_miss(miss))
        return C2_OK;
    if (!c2_map_get(coherence->number_of, miss->line.v, &number))
        status = coherence_name_line(coherence, miss, err);
    if (status == C2_OK && miss->measured)
        status = count_site(coherence, miss, number, err);
    return status == C2_OK && miss->measured ? count_longer(coherence, miss, number, err) : status;
}

/* ------------------------------------------------------------------ the end */

/* object_of: [line], set for those with a measured miss. */
static enum c2_status coherence_find_objects(struct coherence *coherence, uint32_t *object_of, struct c2_error *err)
{
    struct c2_pair *misses = NULL;
    enum c2_status status = coherence->profile ? c2_map_list(&misses, coherence->misses, err) : C2_OK;
    if (status != C2_OK || !coherence->profile)
        return status;
    const struct analyses_profile_result *profile = analysis_profile.result(coherence->profile);
    size_t count = c2_map_count(coherence->misses);
    struct coherence_share *shares = c2_alloc((count + 1) * sizeof *shares);
    coherence->parts = c2_alloc((count + 1) * sizeof *coherence->parts);
    if (shares && coherence->parts) {
        for (size_t i = 0; i < count; i++) {
            const uint32_t row = where_access_site_row(coherence->profile, (uint32_t)misses[i].key);
            shares[i] = (struct coherence_share){(uint32_t)(misses[i].key >> 32), profile->rows[row].object,
                                                 misses[i].value};
        }
        coherence_objects_divide(coherence->parts, object_of, shares, &count);
        coherence->result.parts = coherence->parts;
        coherence->result.part_count = count;
    } else {
        status = c2_fail_memory(err, "what cores share");
    }
    c2_free(shares);
    c2_free(misses);
    return status;
}

/* *named: of each shared line. One without a measured miss has no name, and nothing to be shown. */
static enum c2_status name_lines(struct coherence *coherence, const struct sim *sim, struct coherence_named **named,
                                 struct c2_error *err)
{
    const struct caches *caches = sim_caches(sim);
    const size_t count = caches_shared_count(caches);
    uint32_t *object_of = c2_alloc((coherence->line_count + (size_t)1) * sizeof *object_of);
    uint64_t number;
    *named = c2_calloc(count + 1, sizeof **named);
    enum c2_status status = object_of && *named ? C2_OK : c2_fail_memory(err, "what cores share");
    for (uint32_t i = 0; i < coherence->line_count && status == C2_OK; i++)
        object_of[i] = COHERENCE_NOBODY;
    if (status == C2_OK)
        status = coherence_find_objects(coherence, object_of, err);
    for (size_t i = 0; i < count && status == C2_OK; i++) {
        (*named)[i].object = COHERENCE_NOBODY;
        if (!c2_map_get(coherence->number_of, caches_shared_at(caches, i).line.v, &number))
            continue;
        (*named)[i] = (struct coherence_named){coherence->lines[number], object_of[number]};
    }
    c2_free(object_of);
    return status;
}

static void read_core(struct coherence *coherence, const struct sim *sim, uint32_t number)
{
    const struct caches *caches = sim_caches(sim);
    const uint32_t own = caches_machine_private(coherence->machine);
    struct coherence_core *core = &coherence->cores[number];
    core->counts = *caches_core_counts(caches, number);
    core->shootdowns = sim_shootdowns(sim, number);
    for (uint32_t i = 0; i < own; i++)
        core->levels[i] = *caches_core_level(caches, number, i);
    if (coherence->machine->has_l1i)
        core->levels[coherence->machine->level_count] = *caches_core_level(caches, number,
                                                                           coherence->machine->level_count);
    for (size_t i = 0; i < coherence->result.thread_count; i++)
        if (coherence->result.threads[i].core == number)
            sim_totals_add(&core->of, &coherence->result.threads[i].of);
}

/* All that is said of misses says the same. */
static void coherence_check(const struct coherence *coherence)
{
    const struct analyses_coherence_result *result = &coherence->result;
    uint64_t sums[4][2] = {{0}};
    for (uint32_t i = 0; i < result->core_count; i++) {
        const struct caches_core_counts *n = &result->cores[i].counts;
        C2_ASSERT(n->coherence_misses == n->true_sharing + n->false_sharing);
        sums[0][0] += n->true_sharing, sums[0][1] += n->false_sharing;
    }
    for (size_t i = 0; i < result->line_count; i++)
        sums[1][0] += result->lines[i].true_sharing, sums[1][1] += result->lines[i].false_sharing;
    for (size_t i = 0; i < result->site_count; i++)
        sums[2][0] += result->sites[i].true_sharing, sums[2][1] += result->sites[i].false_sharing;
    for (size_t i = 0; i < result->object_count; i++)
        sums[3][0] += result->objects[i].true_sharing, sums[3][1] += result->objects[i].false_sharing;
    for (unsigned i = 1; i < 4; i++)
        C2_ASSERT(sums[i][0] == sums[0][0] && sums[i][1] == sums[0][1]);
}

static enum c2_status coherence_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct coherence *coherence = self;
    struct analyses_coherence_result *result = &coherence->result;
    struct coherence_named *named = NULL;
    result->core_count = sim_core_count(sim);
    result->threads = sim_threads(sim, &result->thread_count);
    result->cores = coherence->cores = c2_calloc(result->core_count, sizeof *coherence->cores);
    if (!coherence->cores)
        return c2_fail_memory(err, "the table of cores");
    for (uint32_t i = 0; i < result->core_count; i++)
        read_core(coherence, sim, i);
    enum c2_status status = name_lines(coherence, sim, &named, err);
    if (status == C2_OK)
        status = coherence_find_lines(result, &coherence->found, sim, named, err);
    c2_free(named);
    if (status == C2_OK)
        coherence_check(coherence);
    return status;
}

static struct sim_subscriber coherence_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){
        .self = analysis, .apart = true, .missed = coherence_missed, .finish = coherence_finish};
}

static const void *coherence_result_of(const struct analysis *analysis)
{
    return &((const struct coherence *)analysis)->result;
}

const struct analysis_kind analysis_coherence = {.on_without_option = true,
                                                 .beside = true,
                                                 .applies = applies,
                                                 .chapter = &analyses_coherence_chapter,
                                                 .create = coherence_create,
                                                 .subscriber = coherence_subscriber,
                                                 .result = coherence_result_of,
                                                 .destroy = coherence_destroy};
