/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One level of the hierarchy: an array of sets in one or more slices.
 *
 * Model
 *   set   = index line / divisor mod sets    index line: the virtual or the physical line, as the level's key says
 *   slice = hash(physical address)
 *   The divisor is 1 but for the hashes that deal out neighbouring lines (see caches.h). The number of sets need not
 *   be a power of two. A line is itself and no other: nothing of its number is ever dropped.
 *   Masks. A fill takes its way, and its victim, among those that the core may fill which makes the access; that of an
 *   exclusive level, or of what a prefetcher fetches, likewise by the core whose access led to it. A line is hit in
 *   whatever way it is. So it is with Intel's Cache Allocation Technology, a class of service for each core.
 *   Synonyms. A line is in a level once. In a virtually indexed level whose sets span more than a page (4 KiB, below
 *   which the virtual and the physical line agree) it may be asked for under a virtual line of another set than the
 *   one it is in: that is a miss, and the fill that follows takes the line, dirty or not, over from the other set. So
 *   a level whose misses do not always fill it (allocate = no) has no synonyms.
 *
 * Counting
 *   Nothing here: what counts as what is the hierarchy's business. What the policy of level NAME draws is the consumer
 *   "cache NAME" of the master seed: it draws the same whatever the others do. Of a core behind the first, which is 0,
 *   it is "cache NAME CORE".
 *
 * Not modelled
 *   Ports, banks, fill buffers, time.
 */
#include "caches/level_priv.h"
#include "caches/shadow_priv.h"

#include <inttypes.h>

static bool has_synonyms(const struct cache_level *level)
{
    uint64_t page_lines = C2_PAGE_BYTES >> level->line_shift;
    bool within_a_page = level->power_of_two && level->divisor == 1 && level->set_count <= page_lines;
    return level->virtual_index && level->set_count > 1 && !within_a_page;
}

/* What machine_read() refuses must not get here by another way. */
static enum c2_status level_check_config(const struct caches_machine *machine, const struct caches_level *config,
                                         struct c2_error *err)
{
    uint64_t set_bytes = (uint64_t)machine->line_bytes * config->ways * config->slices;
    C2_ASSERT(config->ways >= 1 && config->ways <= CACHES_MAX_WAYS && config->slices >= 1);
    C2_ASSERT(caches_policy_users[config->policy] & CACHES_OF_LEVELS);
    C2_ASSERT(config->inclusion != CACHES_EXCLUSIVE || (!config->through && !config->around));
    C2_ASSERT(config->inclusion != CACHES_EXCLUSIVE || !caches_policy_needs_misses(config->policy));
    C2_ASSERT(config->size_bytes >= set_bytes && config->size_bytes % set_bytes == 0);
    if (config->size_bytes / machine->line_bytes > SHADOW_MAX_CAPACITY)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s has %" PRIu64 " lines: at most %" PRIu32 " are possible",
                       config->name, config->size_bytes / machine->line_bytes, SHADOW_MAX_CAPACITY);
    return C2_OK;
}

static enum c2_status init_hash(struct cache_level *level, const struct caches_machine *machine, struct c2_error *err)
{
    level->divisor = 1;
    if (level->slice_count == 1)
        return C2_OK;
    enum c2_status status = caches_hash_create(&level->hash, level->config->hash, level->slice_count,
                                               machine->directory, err);
    if (status == C2_OK)
        level->divisor = caches_hash_index_divisor(level->hash);
    return status;
}

static enum c2_status init_policy(struct cache_level *level, uint64_t seed, struct c2_error *err)
{
    const struct caches_level *config = level->config;
    char consumer[CACHES_NAME_BYTES + 20];
    enum c2_status status = cache_policy_init(&level->policy, config->policy, config->ways,
                                              level->set_count * level->slice_count, err);
    if (level->core == 0)
        snprintf(consumer, sizeof consumer, "cache %s", config->name);
    else
        snprintf(consumer, sizeof consumer, "cache %s %" PRIu32, config->name, level->core);
    c2_rng_init(&level->policy.rng, seed, consumer);
    return status;
}

static enum c2_status init_allowed(struct cache_level *level, uint32_t cores, struct c2_error *err)
{
    if (level->config->mask_count == 0)
        return C2_OK;
    level->allowed = c2_calloc(cores, sizeof *level->allowed);
    for (uint32_t core = 0; level->allowed && core < cores; core++) {
        level->allowed[core] = caches_level_ways_of(level->config, core);
        C2_ASSERT(level->allowed[core] != 0 && (level->allowed[core] & ~c2_mask(0, level->config->ways - 1)) == 0);
    }
    return level->allowed ? C2_OK : c2_fail_memory(err, "the ways of cores");
}

enum c2_status cache_level_init(struct cache_level *level, const struct caches_machine *machine,
                                const struct caches_level *config, struct cache_lines *lines, uint32_t level_index,
                                bool keeps_names, uint64_t seed, struct c2_error *err)
{
    enum c2_status status = level_check_config(machine, config, err);
    if (status != C2_OK)
        return status;
    level->config = config;
    level->lines = lines;
    level->level_index = level_index;
    level->slice_count = config->slices;
    level->set_count = caches_level_sets(machine, config);
    level->power_of_two = c2_is_power_of_two(level->set_count);
    level->virtual_index = config->index == CACHES_VIRTUAL;
    level->exclusive = config->inclusion == CACHES_EXCLUSIVE;
    level->inclusive = config->inclusion == CACHES_INCLUSIVE;
    level->through = config->through;
    level->around = config->around;
    level->line_shift = c2_log2(machine->line_bytes);
    status = init_hash(level, machine, err);
    level->synonyms = has_synonyms(level);
    C2_ASSERT(!level->around || !level->synonyms);
    level->keeps_names = keeps_names || level->synonyms;
    level->coherent = caches_machine_cores(machine) > 1;
    if (status == C2_OK)
        status = init_policy(level, seed, err);
    if (status == C2_OK)
        status = init_allowed(level, caches_machine_cores(machine), err);
    return status;
}

void cache_level_end(struct cache_level *level)
{
    cache_policy_end(&level->policy);
    caches_hash_destroy(level->hash);
    c2_free(level->allowed);
    c2_free(level->names);
    c2_free(level->above);
}

/* ------------------------------------------------------------------ dump */

static uint32_t dump_set(const struct cache_level *level, uint32_t set, FILE *to)
{
    uint32_t lines = 0;
    for (uint32_t w = 0; w < level->policy.ways; w++) {
        const uint32_t word = cache_sets_at(&level->sets, set - 1)[w], line = cache_sets_tag(word);
        if (line == 0)
            continue;
        if (lines++ == 0)
            fprintf(to, "  slice %" PRIu32 " set %" PRIu32 ":", (set - 1) / level->set_count,
                    (set - 1) % level->set_count);
        fprintf(to, " %" PRIu32 ":%#" PRIx64 "%s", w, cache_lines_line(level->lines, line - 1),
                word & CACHE_SETS_DIRTY ? "*" : "");
    }
    return lines;
}

void cache_level_dump(const struct cache_level *level, FILE *to)
{
    fprintf(to, "%s: %" PRIu32 " slices of %" PRIu32 " sets of %" PRIu32 " ways, %s; way:line, * is dirty\n",
            level->config->name, level->slice_count, level->set_count, level->policy.ways,
            caches_policy_name(level->config->policy));
    for (uint32_t set = 1; set <= level->policy.set_count; set++)
        if (dump_set(level, set, to) != 0)
            fputc('\n', to);
}
