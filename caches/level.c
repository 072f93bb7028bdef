/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One level of the hierarchy: an array of sets in one or more slices.
 *
 * Model
 *   set   = index line / divisor mod sets    index line: the virtual or the physical line, as the level's key says
 *   slice = hash(physical address)
 *   The divisor is 1 but for the hashes that deal out neighbouring lines (see caches.h). The number of sets need not be a
 *   power of two. The tag is the whole physical line number: what differs in any bit never matches.
 *   A virtually indexed level may hold one physical line in several sets, as a real one may (synonyms). The virtual
 *   and the physical line agree below the page (4 KiB), so a level whose sets span no more than a page has none.
 *   What is written down from a level finds its way into a virtually indexed level below by the virtual line it was
 *   filled under; only then is that kept.
 *
 * Counting
 *   Nothing here: what counts as what is the hierarchy's business.
 *
 * Invariants (cache_level_check)
 *   Those of each set; each line lies in a set where it may be; and the shadow's.
 *
 * Not modelled
 *   Ports, banks, fill buffers, time.
 */
#include "caches/level_priv.h"

#include <inttypes.h>
#include <string.h>

static uint32_t set_step_of(const struct cache_level *level)
{
    uint32_t page_lines = (uint32_t)(C2_PAGE_BYTES >> level->line_shift);
    if (!level->virtual_index)
        return 0;
    if (!level->power_of_two || level->divisor != 1 || page_lines == 0)
        return 1;
    return level->set_count <= page_lines ? 0 : page_lines;
}

/* What caches_machine_read() refuses must not get here by another way. */
static enum c2_status check_config(const struct caches_machine *machine, const struct caches_level *config,
                                   struct c2_error *err)
{
    uint64_t set_bytes = (uint64_t)machine->line_bytes * config->ways * config->slices;
    C2_ASSERT(config->ways >= 1 && config->ways <= CACHES_MAX_WAYS && config->slices >= 1);
    C2_ASSERT(config->size_bytes >= set_bytes && config->size_bytes % set_bytes == 0);
    if (config->size_bytes / machine->line_bytes > SHADOW_MAX_CAPACITY)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s has %" PRIu64 " lines: at most %" PRIu32 " are possible",
                       config->name, config->size_bytes / machine->line_bytes, SHADOW_MAX_CAPACITY);
    return C2_OK;
}

static enum c2_status allocate(struct cache_level *level, bool needs_origin, struct c2_error *err)
{
    size_t sets = (size_t)level->set_count * level->slice_count;
    level->sets = c2_calloc(sets, level->stride);
    if (needs_origin)
        level->origin = c2_calloc(sets * level->policy.ways, sizeof *level->origin);
    if (!level->sets || (needs_origin && !level->origin))
        return c2_fail_memory(err, "the sets of a cache");
    return C2_OK;
}

enum c2_status cache_level_init(struct cache_level *level, const struct caches_machine *machine,
                                const struct caches_level *config, bool needs_origin, uint64_t seed,
                                struct c2_error *err)
{
    enum c2_status status = check_config(machine, config, err);
    if (status != C2_OK)
        return status;
    level->config = config;
    level->slice_count = config->slices;
    level->set_count = caches_level_sets(machine, config);
    level->power_of_two = c2_is_power_of_two(level->set_count);
    level->virtual_index = config->index == CACHES_VIRTUAL;
    level->exclusive = config->inclusion == CACHES_EXCLUSIVE;
    level->inclusive = config->inclusion == CACHES_INCLUSIVE;
    level->line_shift = c2_log2(machine->line_bytes);
    level->divisor = 1;
    cache_policy_init(&level->policy, config->policy, config->ways, seed, config->name);
    level->stride = cache_policy_set_bytes(&level->policy);
    if (config->slices > 1) {
        status = caches_hash_create(&level->hash, config->hash, config->slices, machine->directory, err);
        if (status != C2_OK)
            return status;
        level->divisor = caches_hash_index_divisor(level->hash);
    }
    level->hint_shift = c2_log2((uint64_t)level->set_count * level->divisor);
    level->set_step = set_step_of(level);
    level->plain = !level->hash && level->power_of_two && level->policy.hint_words == 1 && config->policy == CACHES_LRU;
    return allocate(level, needs_origin, err);
}

void cache_level_end(struct cache_level *level)
{
    cache_shadow_end(&level->shadow);
    caches_hash_destroy(level->hash);
    c2_free(level->sets);
    c2_free(level->origin);
}

/* ------------------------------------------------------------------ in and out */

static uint64_t *origin_of(const struct cache_level *level, const struct cache_set *set, uint32_t way)
{
    size_t number = (size_t)((const char *)set - level->sets) / level->stride;
    return &level->origin[number * level->policy.ways + way];
}

void cache_level_put(struct cache_level *level, struct cache_set *set, uint32_t way, const struct cache_line *line,
                     bool dirty)
{
    C2_ASSERT(set->tag[way] == 0);
    set->tag[way] = line->physical_line.v + 1;
    ((uint8_t *)cache_set_hints(&level->policy, set))[way] = (uint8_t)cache_level_hint(level, line->physical_line);
    set->valid |= (uint64_t)1 << way;
    set->dirty |= (uint64_t)dirty << way;
    if (level->origin)
        *origin_of(level, set, way) = line->virtual_line.v;
    cache_policy_fill(&level->policy, set, way);
}

struct cache_victim cache_level_take(struct cache_level *level, struct cache_set *set, uint32_t way)
{
    C2_ASSERT(set->tag[way] != 0);
    struct cache_victim victim = { .dirty = set->dirty >> way & 1 };
    victim.line.physical_line.v = set->tag[way] - 1;
    victim.line.virtual_line.v = level->origin ? *origin_of(level, set, way) : 0;
    uint64_t bit = (uint64_t)1 << way;
    set->tag[way] = 0;
    set->valid &= ~bit;
    set->dirty &= ~bit;
    return victim;
}

/* ------------------------------------------------------------------ by physical line, whatever the set */

struct cache_set *cache_level_set(const struct cache_level *level, uint32_t slice, uint32_t number)
{
    return (struct cache_set *)(level->sets + ((size_t)slice * level->set_count + number) * level->stride);
}

static bool take_copy(struct cache_level *level, struct cache_set *set, struct line_no physical_line, bool *dirty)
{
    uint32_t way = cache_level_find(level, set, physical_line);
    if (way == CACHE_NO_WAY)
        return false;
    *dirty |= cache_level_take(level, set, way).dirty;
    cache_policy_forget(&level->policy, set, way);
    return true;
}

/* Without synonyms the virtual index of a line is its physical one: the bits that count are the page's. */
static struct cache_place only_place(const struct cache_level *level, struct line_no physical_line)
{
    struct cache_line line = { .virtual_line = physical_line, .physical_line = physical_line };
    return cache_level_place(level, line);
}

uint32_t cache_level_invalidate(struct cache_level *level, struct line_no physical_line, bool *dirty)
{
    struct cache_place place = only_place(level, physical_line);
    if (level->set_step == 0)
        return take_copy(level, place.set, physical_line, dirty);
    uint32_t copies = 0;
    for (uint32_t set = place.number % level->set_step; set < level->set_count; set += level->set_step)
        copies += take_copy(level, cache_level_set(level, place.slice, set), physical_line, dirty);
    return copies;
}

bool cache_level_has(const struct cache_level *level, struct line_no physical_line)
{
    struct cache_place place = only_place(level, physical_line);
    if (level->set_step == 0)
        return cache_level_find(level, place.set, physical_line) != CACHE_NO_WAY;
    for (uint32_t set = place.number % level->set_step; set < level->set_count; set += level->set_step)
        if (cache_level_find(level, cache_level_set(level, place.slice, set), physical_line) != CACHE_NO_WAY)
            return true;
    return false;
}

/* ------------------------------------------------------------------ invariants */

static void check_set(const struct cache_level *level, uint32_t slice, uint32_t number)
{
    const struct cache_set *set = cache_level_set(level, slice, number);
    cache_policy_check(&level->policy, set);
    for (uint32_t way = 0; way < level->policy.ways; way++) {
        if (set->tag[way] == 0)
            continue;
        C2_ASSERT(cache_level_find(level, set, (struct line_no){ set->tag[way] - 1 }) == way);
        struct cache_place place = only_place(level, (struct line_no){ set->tag[way] - 1 });
        C2_ASSERT(place.slice == slice);
        C2_ASSERT(level->set_step ? place.number % level->set_step == number % level->set_step
                                  : place.number == number);
    }
}

void cache_level_check(const struct cache_level *level)
{
    for (uint32_t slice = 0; slice < level->slice_count; slice++)
        for (uint32_t number = 0; number < level->set_count; number++)
            check_set(level, slice, number);
    cache_shadow_check(&level->shadow);
}

static void dump_set(const struct cache_level *level, const struct cache_set *set, FILE *to)
{
    for (uint32_t way = 0; way < level->policy.ways; way++)
        if (set->tag[way] != 0)
            fprintf(to, " %" PRIu32 ":%#" PRIx64 "%s", way, set->tag[way] - 1, set->dirty >> way & 1 ? "*" : "");
}

void cache_level_dump(const struct cache_level *level, FILE *to)
{
    fprintf(to, "%s: %" PRIu32 " slices of %" PRIu32 " sets of %" PRIu32 " ways, %s; shadow %" PRIu32 " of %" PRIu32
            " lines; way:line, * is dirty\n", level->config->name, level->slice_count, level->set_count,
            level->policy.ways, caches_policy_name(level->config->policy), level->shadow.live, level->shadow.capacity);
    for (uint32_t slice = 0; slice < level->slice_count; slice++)
        for (uint32_t number = 0; number < level->set_count; number++) {
            const struct cache_set *set = cache_level_set(level, slice, number);
            if (set->valid == 0)
                continue;
            fprintf(to, "  slice %" PRIu32 " set %" PRIu32 ":", slice, number);
            dump_set(level, set, to);
            fputc('\n', to);
        }
}
