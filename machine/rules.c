/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the keys of a machine mean together: the rules of geometry, and which value is to blame when one is broken.
 *
 * Model
 *   - [L1D] is there; the levels below it follow without a gap; [L1I] stands beside [L1D] and needs [L2].
 *   - sets = size / (ways * line * slices) is a whole number, at least 1; it need not be a power of two.
 *   - tree-plru needs a power of two of ways; ship learns from what misses, so an exclusive level cannot have it.
 *   - ways_of names ways that the level has, at least one, and cores of the machine, none twice.
 *   - inclusion is towards the levels above, so L1D and L1I have none but non-inclusive.
 *   - An exclusive level holds victims of the level above and nothing else: it has no prefetcher.
 *   - Stores go on from a level (write = through), or past it (allocate = no), where the data path has no exclusive
 *     level and nothing prefetches; past it only where the levels above let them come. A level that is not always
 *     filled has one set for a line, whatever its virtual address.
 *   - The slice hash has the level's number of slices. It works on physical addresses and 64-byte lines, so a level
 *     of several slices is physically indexed and the machine's lines have 64 bytes.
 *   - Of several cores the last levels may be shared, from one on; lines have 64 bytes at most.
 *   - No physical address has a bit that the hash was not published for.
 *   - hash_masks belongs to hash = perm:PATH, and that to hash_masks.
 *   - A hint of prefetches names a level that the machine has, and that is not exclusive; what is left out is
 *     L1D, L2 and L3 as the manual has T0, T1 and T2 (Intel SDM volume 2, PREFETCHh), or the nearest such level.
 *   - Rates of paths and of floating-point operations need that of instructions; L1I has no path.
 * Invariants
 *   A machine that passes can be built. A message names the override to blame before a line of the file: the user who
 *   changes one key of a good machine sees the change they made.
 */
#include <inttypes.h>
#include <string.h>

#include "machine/machine_priv.h"

static const enum machine_section data_path[] = {SECTION_L1D, SECTION_L2, SECTION_L3, SECTION_L4};
#define DATA_PATH_COUNT (sizeof data_path / sizeof data_path[0])
_Static_assert(DATA_PATH_COUNT <= CACHES_MAX_LEVELS, "every section of the data path has a level");

static bool first_level(enum machine_section section) { return section == SECTION_L1D || section == SECTION_L1I; }

/* ------------------------------------------------------------------ what to blame */

char *machine_blame(char *where, const struct machine_draft *draft, const struct machine_suspect *suspects,
                    size_t count)
{
    const struct machine_suspect *chosen = NULL;
    size_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        size_t its_rank = draft->origin[suspects[i].section][suspects[i].key].override_rank;
        bool given = machine_given(draft, suspects[i].section, suspects[i].key);
        if (given && (!chosen || its_rank > rank)) {
            chosen = &suspects[i];
            rank = its_rank;
        }
    }
    chosen = chosen ? chosen : &suspects[0];
    return machine_where(where, draft, chosen->section, chosen->key);
}

/* ------------------------------------------------------------------ what was left out */

static enum c2_status require_section(const struct machine_draft *draft, enum machine_section section,
                                      const char *because, struct c2_error *err)
{
    if (draft->section_line[section])
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "%s: there is no section [%s]: %s", draft->shown,
                   machine_sections[section].name, because);
}

static enum c2_status check_sections(const struct machine_draft *draft, struct c2_error *err)
{
    enum c2_status status = require_section(draft, SECTION_MACHINE, "it gives the name and the line size", err);
    if (status == C2_OK)
        status = require_section(draft, SECTION_L1D, "every machine has a first-level data cache", err);
    if (status == C2_OK && draft->section_line[SECTION_L1I])
        status = require_section(draft, SECTION_L2, "[L1I] needs it, to share it with [L1D]", err);
    for (size_t i = DATA_PATH_COUNT - 1; status == C2_OK && i > 0; i--)
        if (draft->section_line[data_path[i]])
            status = require_section(draft, data_path[i - 1], "the levels follow each other without a gap", err);
    return status;
}

static enum c2_status complete_level(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    struct caches_level *level = &draft->level[section];
    snprintf(level->name, sizeof level->name, "%s", machine_sections[section].name);
    if (!machine_given(draft, section, KEY_INDEX))
        level->index = first_level(section) ? CACHES_VIRTUAL : CACHES_PHYSICAL;
    return machine_complete(draft, section, err);
}

/* ------------------------------------------------------------------ the rules of a level */

static enum c2_status check_sets(const struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES], below[64];
    uint64_t step = (uint64_t)level->ways * draft->machine->line_bytes * level->slices;
    uint64_t sets = level->size_bytes / step;
    if (level->size_bytes % step == 0)
        return C2_OK;
    snprintf(below, sizeof below, "%" PRIu64 " or ", sets * step);
    BLAME(where, draft, {section, KEY_SIZE}, {section, KEY_WAYS}, {section, KEY_SLICES}, {SECTION_MACHINE, KEY_LINE});
    return c2_fail(err, C2_ERR_INVALID,
                   "%s: [%s] size %" PRIu64 " is no whole number of sets of %u ways x %u bytes x %u slice%s = %" PRIu64
                   " bytes (nearest sizes: %s%" PRIu64 ")",
                   where, level->name, level->size_bytes, level->ways, draft->machine->line_bytes, level->slices,
                   level->slices == 1 ? "" : "s", step, sets ? below : "", (sets + 1) * step);
}

static enum c2_status check_learning(const struct machine_draft *draft, enum machine_section section,
                                     struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    if (level->inclusion != CACHES_EXCLUSIVE || !caches_policy_needs_misses(level->policy))
        return C2_OK;
    BLAME(where, draft, {section, KEY_POLICY}, {section, KEY_INCLUSION});
    return c2_fail(err, C2_ERR_INVALID,
                   "%s: [%s] is exclusive: what the level above evicts nobody has missed, so policy %s learns nothing "
                   "(policy ship-mem or drrip, or make it non-inclusive)",
                   where, level->name, caches_policy_name(level->policy));
}

static enum c2_status rules_check_policy(const struct machine_draft *draft, enum machine_section section,
                                         struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    if (level->policy != CACHES_TREE_PLRU || c2_is_power_of_two(level->ways))
        return C2_OK;
    uint32_t below = 1u << c2_log2(level->ways);
    BLAME(where, draft, {section, KEY_POLICY}, {section, KEY_WAYS});
    return c2_fail(err, C2_ERR_INVALID,
                   "%s: [%s] policy tree-plru needs a power of two of ways, not %u (nearest: %u "
                   "or %u ways, or policy lru)",
                   where, level->name, level->ways, below, 2 * below);
}

static enum c2_status rules_check_mask(const struct machine_draft *draft, enum machine_section section,
                                       const struct caches_mask *mask, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    const uint64_t all = c2_mask(0, level->ways - 1);
    const uint32_t cores = caches_machine_cores(draft->machine);
    char where[MACHINE_WHERE_BYTES];
    BLAME(where, draft, {section, KEY_WAYS_OF}, {section, KEY_WAYS}, {SECTION_MACHINE, KEY_CORES});
    if (mask->ways == 0)
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] ways_of leaves core %u no way", where, level->name, mask->first);
    if (mask->ways & ~all)
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] has %u ways: ways_of %#" PRIx64 " is more than %#" PRIx64, where,
                       level->name, level->ways, mask->ways, all);
    if (mask->last >= cores)
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] ways_of names core %u, and the machine has %u, from 0 on", where,
                       level->name, mask->last, cores);
    return C2_OK;
}

static enum c2_status check_masks(const struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < level->mask_count && status == C2_OK; i++) {
        const struct caches_mask *mask = &level->masks[i];
        status = rules_check_mask(draft, section, mask, err);
        for (uint32_t k = 0; k < i && status == C2_OK; k++)
            if (mask->first <= level->masks[k].last && level->masks[k].first <= mask->last)
                status = c2_fail(err, C2_ERR_INVALID, "%s: [%s] ways_of names core %u twice",
                                 machine_where(where, draft, section, KEY_WAYS_OF), level->name,
                                 mask->first > level->masks[k].first ? mask->first : level->masks[k].first);
    }
    return status;
}

static enum c2_status check_inclusion(const struct machine_draft *draft, enum machine_section section,
                                      struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    if (!first_level(section) || level->inclusion == CACHES_NON_INCLUSIVE)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "%s: %s is not possible: no level is above [%s] (only non-inclusive)",
                   machine_where(where, draft, section, KEY_INCLUSION), caches_inclusion_name(level->inclusion),
                   level->name);
}

static enum c2_status check_prefetch(const struct machine_draft *draft, enum machine_section section,
                                     struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    if (level->prefetchers == 0 || level->inclusion != CACHES_EXCLUSIVE)
        return C2_OK;
    BLAME(where, draft, {section, KEY_PREFETCH}, {section, KEY_INCLUSION});
    return c2_fail(err, C2_ERR_INVALID,
                   "%s: [%s] is exclusive: it holds what the level above evicts, and cannot fetch (prefetch in the "
                   "level above, or make it non-inclusive)",
                   where, level->name);
}

static enum c2_status check_sliced(const struct machine_draft *draft, enum machine_section section,
                                   struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    if (level->slices > 1 && level->index != CACHES_PHYSICAL) {
        BLAME(where, draft, {section, KEY_INDEX}, {section, KEY_SLICES});
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] has %u slices and index virtual: a slice is chosen by the "
                       "physical address, so index must be physical",
                       where, level->name, level->slices);
    }
    if (level->slices > 1 && draft->machine->line_bytes != CACHES_HASH_LINE_BYTES) {
        BLAME(where, draft, {SECTION_MACHINE, KEY_LINE}, {section, KEY_SLICES});
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] has %u slices, and slice hashes are defined on lines of %d "
                       "bytes, not %u",
                       where, level->name, level->slices, CACHES_HASH_LINE_BYTES, draft->machine->line_bytes);
    }
    return C2_OK;
}

/* hash = perm:PATH and hash_masks become the hash's whole name. */
static enum c2_status join_masks(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    struct caches_level *level = &draft->level[section];
    const char *masks = draft->hash_masks[section];
    char where[MACHINE_WHERE_BYTES];
    bool from_file = strncmp(level->hash, "perm:", 5) == 0;
    bool has_masks = machine_given(draft, section, KEY_HASH_MASKS);
    size_t length = strlen(level->hash);
    if (!from_file && !has_masks)
        return C2_OK;
    BLAME(where, draft, {section, KEY_HASH}, {section, KEY_HASH_MASKS});
    if (from_file != has_masks)
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] hash = perm:PATH and hash_masks = MASK,MASK,... need each "
                       "other; here hash = %s%s",
                       where, level->name, level->hash, has_masks ? "" : " without masks");
    if (length + 1 + strlen(masks) >= sizeof level->hash)
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] hash and hash_masks have more than %zu characters together",
                       where, level->name, sizeof level->hash - 2);
    level->hash[length] = ':';
    memcpy(level->hash + length + 1, masks, strlen(masks) + 1);
    return C2_OK;
}

static enum c2_status check_reach(const struct machine_draft *draft, enum machine_section section, unsigned valid_bit,
                                  struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES], has[32], most[32];
    uint64_t reach = valid_bit >= 63 ? UINT64_MAX : (uint64_t)1 << (valid_bit + 1);
    if (draft->machine->physical_bytes <= reach)
        return C2_OK;
    BLAME(where, draft, {SECTION_MACHINE, KEY_PHYSICAL_MEMORY}, {section, KEY_HASH});
    return c2_fail(err, C2_ERR_INVALID,
                   "%s: the machine has %s of memory, and the hash of [%s], %.64s, is known up "
                   "to address bit %u only (remedy: physical_memory of at most %s, or hash = modulo)",
                   where, c2_size_text(has, draft->machine->physical_bytes), level->name, level->hash, valid_bit,
                   c2_size_text(most, reach));
}

static enum c2_status check_hash(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    struct caches_hash *hash;
    struct c2_error reason;
    enum c2_status status = join_masks(draft, section, err);
    if (status != C2_OK)
        return status;
    status = caches_hash_create(&hash, level->hash, level->slices, draft->machine->directory, &reason);
    if (status != C2_OK) {
        BLAME(where, draft, {section, KEY_HASH}, {section, KEY_HASH_MASKS}, {section, KEY_SLICES});
        return c2_fail(err, status, "%s: [%s] %s", where, level->name, reason.text);
    }
    status = check_reach(draft, section, caches_hash_valid_bit(hash), err);
    caches_hash_destroy(hash);
    return status;
}

/* What is limited by a path is compared with what instructions take, so their rate must be known. */
static enum c2_status check_path(const struct machine_draft *draft, enum machine_section section, enum machine_key key,
                                 uint32_t rate, struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    if (rate == 0)
        return C2_OK;
    if (section == SECTION_L1I)
        return c2_fail(err, C2_ERR_INVALID, "%s: what is fetched from [L1I] is on no path that is looked at",
                       machine_where(where, draft, section, key));
    if (draft->machine->instruction_rate != 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "%s needs instructions_per_cycle in [machine], to be compared with",
                   machine_where(where, draft, section, key));
}

static enum c2_status check_paths(const struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    const struct caches_path *path = &draft->level[section].path;
    enum c2_status status = check_path(draft, section, KEY_READ_BANDWIDTH, path->read, err);
    return status == C2_OK ? check_path(draft, section, KEY_WRITE_BANDWIDTH, path->write, err) : status;
}

static enum c2_status check_rates(const struct machine_draft *draft, struct c2_error *err)
{
    const struct caches_machine *machine = draft->machine;
    enum c2_status status = check_path(draft, SECTION_MACHINE, KEY_FLOPS_PER_CYCLE, machine->flop_rate, err);
    if (status == C2_OK)
        status = check_path(draft, SECTION_MACHINE, KEY_MEMORY_READ_BANDWIDTH, machine->memory.read, err);
    if (status == C2_OK)
        status = check_path(draft, SECTION_MACHINE, KEY_MEMORY_WRITE_BANDWIDTH, machine->memory.write, err);
    return status;
}

static enum c2_status finish_level(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    enum c2_status status = complete_level(draft, section, err);
    if (status == C2_OK)
        status = check_sets(draft, section, err);
    if (status == C2_OK)
        status = rules_check_policy(draft, section, err);
    if (status == C2_OK)
        status = check_masks(draft, section, err);
    if (status == C2_OK)
        status = check_learning(draft, section, err);
    if (status == C2_OK)
        status = check_inclusion(draft, section, err);
    if (status == C2_OK)
        status = check_prefetch(draft, section, err);
    if (status == C2_OK)
        status = check_sliced(draft, section, err);
    if (status == C2_OK)
        status = check_hash(draft, section, err);
    if (status == C2_OK)
        status = check_paths(draft, section, err);
    return status;
}

/* ------------------------------------------------------------------ several cores */

static enum c2_status check_shareable(const struct machine_draft *draft, enum machine_section section,
                                      struct c2_error *err)
{
    const struct caches_level *level = &draft->level[section];
    char where[MACHINE_WHERE_BYTES];
    if (level->shared && first_level(section))
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] cannot be shared: each core has its own first level",
                       machine_where(where, draft, section, KEY_SHARED), level->name);
    return C2_OK;
}

static enum c2_status rules_check_line(const struct machine_draft *draft, struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    if (draft->machine->cores == 1 || draft->machine->line_bytes <= CACHES_MAX_COHERENT_LINE)
        return C2_OK;
    BLAME(where, draft, {SECTION_MACHINE, KEY_CORES}, {SECTION_MACHINE, KEY_LINE});
    return c2_fail(err, C2_ERR_UNSUPPORTED, "%s: lines of %u bytes: of several cores at most %u are modelled", where,
                   draft->machine->line_bytes, CACHES_MAX_COHERENT_LINE);
}

/* What is shared stays so further down. */
static enum c2_status check_order(const struct machine_draft *draft, size_t count, struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    for (size_t i = 1; i + 1 < count; i++) {
        const enum machine_section upper = data_path[i], lower = data_path[i + 1];
        if (!draft->level[upper].shared || draft->level[lower].shared)
            continue;
        BLAME(where, draft, {upper, KEY_SHARED}, {lower, KEY_SHARED});
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] is shared, and [%s] below it is not", where,
                       draft->level[upper].name, draft->level[lower].name);
    }
    return C2_OK;
}

static enum c2_status check_filter_sets(const struct machine_draft *draft, const struct caches_level *shared,
                                        struct c2_error *err)
{
    const uint32_t lines = draft->machine->filter_lines, ways = draft->machine->filter_ways;
    const uint32_t slices = shared ? shared->slices : 1;
    char where[MACHINE_WHERE_BYTES];
    if (ways != 0 && lines % (ways * slices) == 0)
        return C2_OK;
    BLAME(where, draft, {SECTION_MACHINE, KEY_SNOOP_FILTER}, {SECTION_MACHINE, KEY_SNOOP_FILTER_WAYS});
    return c2_fail(err, C2_ERR_INVALID, "%s: %u lines are no whole number of sets of %u ways in %u slices", where,
                   lines, ways, slices);
}

/* The directory of cores has bounds where it does not stand in an inclusive level. */
static enum c2_status check_filter(const struct machine_draft *draft, size_t count, struct c2_error *err)
{
    const struct caches_level *shared = NULL;
    char where[MACHINE_WHERE_BYTES];
    if (draft->machine->filter_lines == 0 || draft->machine->cores == 1)
        return C2_OK;
    for (size_t i = count; i-- > 0;)
        shared = draft->level[data_path[i]].shared ? &draft->level[data_path[i]] : shared;
    if (!shared || shared->inclusion != CACHES_INCLUSIVE)
        return check_filter_sets(draft, shared, err);
    return c2_fail(err, C2_ERR_INVALID,
                   "%s: [%s] is inclusive, so its lines say which cores have them, and there is no snoop filter",
                   machine_where(where, draft, SECTION_MACHINE, KEY_SNOOP_FILTER), shared->name);
}

/* count: levels of the data path. The default: the last level is shared. */
static enum c2_status finish_sharing(struct machine_draft *draft, size_t count, struct c2_error *err)
{
    const enum machine_section last = data_path[count - 1];
    if (count > 1 && draft->machine->cores > 1 && !machine_given(draft, last, KEY_SHARED))
        draft->level[last].shared = true;
    enum c2_status status = rules_check_line(draft, err);
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = check_shareable(draft, data_path[i], err);
    if (status == C2_OK && draft->section_line[SECTION_L1I])
        status = check_shareable(draft, SECTION_L1I, err);
    if (status == C2_OK)
        status = check_order(draft, count, err);
    return status == C2_OK ? check_filter(draft, count, err) : status;
}

/* ------------------------------------------------------------------ where stores go */

/* The key to blame of a level that lets stores go on; KEY_COUNT: it does not. */
static enum machine_key goes_on_by(const struct caches_level *level)
{
    return level->through ? KEY_WRITE : level->around ? KEY_ALLOCATE : KEY_COUNT;
}

static const char *goes_on_words(const struct caches_level *level)
{
    return level->through ? "write = through" : "allocate = no";
}

static enum c2_status check_below(const struct machine_draft *draft, size_t at, size_t count, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[data_path[at]];
    const enum machine_key key = goes_on_by(level);
    char where[MACHINE_WHERE_BYTES];
    for (size_t i = at; i < count; i++) {
        const struct caches_level *below = &draft->level[data_path[i]];
        if (below->inclusion != CACHES_EXCLUSIVE)
            continue;
        BLAME(where, draft, {data_path[at], key}, {data_path[i], KEY_INCLUSION});
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] %s sends stores to the exclusive [%s], which holds what is evicted and nothing else",
                       where, level->name, goes_on_words(level), below->name);
    }
    return C2_OK;
}

/* What takes every store leaves none for the levels below. */
static enum c2_status check_comes(const struct machine_draft *draft, size_t at, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[data_path[at]];
    char where[MACHINE_WHERE_BYTES];
    for (size_t i = 0; i < at && level->around; i++) {
        const struct caches_level *above = &draft->level[data_path[i]];
        if (goes_on_by(above) != KEY_COUNT)
            continue;
        BLAME(where, draft, {data_path[at], KEY_ALLOCATE}, {data_path[i], KEY_WRITE}, {data_path[i], KEY_ALLOCATE});
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] allocate = no has nothing to do: [%s] takes every store (write = through or "
                       "allocate = no there lets them go on)",
                       where, level->name, above->name);
    }
    return C2_OK;
}

static enum c2_status check_names_of_lines(const struct machine_draft *draft, size_t at, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[data_path[at]];
    char where[MACHINE_WHERE_BYTES];
    if (!level->around || level->index != CACHES_VIRTUAL || level->size_bytes / level->ways <= C2_PAGE_BYTES)
        return C2_OK;
    BLAME(where, draft, {data_path[at], KEY_ALLOCATE}, {data_path[at], KEY_INDEX}, {data_path[at], KEY_SIZE},
          {data_path[at], KEY_WAYS});
    return c2_fail(err, C2_ERR_INVALID,
                   "%s: [%s] allocate = no with index virtual and more than 4 KiB a way: a store past the level would "
                   "leave the line of another address of it as it was (index physical, or more ways)",
                   where, level->name);
}

static enum c2_status check_prefetched(const struct machine_draft *draft, size_t at, size_t count, struct c2_error *err)
{
    const struct caches_level *level = &draft->level[data_path[at]];
    char where[MACHINE_WHERE_BYTES];
    for (size_t i = 0; i <= count; i++) {
        const enum machine_section section = i < count ? data_path[i] : SECTION_L1I;
        if (!draft->section_line[section] || draft->level[section].prefetchers == 0)
            continue;
        BLAME(where, draft, {data_path[at], goes_on_by(level)}, {section, KEY_PREFETCH});
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] prefetches and [%s] has %s: prefetchers are modelled where stores stay alone", where,
                       draft->level[section].name, level->name, goes_on_words(level));
    }
    return C2_OK;
}

/* count: levels of the data path. */
static enum c2_status check_stores(const struct machine_draft *draft, size_t count, struct c2_error *err)
{
    const struct caches_level *l1i = &draft->level[SECTION_L1I];
    char where[MACHINE_WHERE_BYTES];
    enum c2_status status = C2_OK;
    if (draft->section_line[SECTION_L1I] && goes_on_by(l1i) != KEY_COUNT)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is not possible: nothing is stored in [L1I]",
                       machine_where(where, draft, SECTION_L1I, goes_on_by(l1i)), goes_on_words(l1i));
    for (size_t i = 0; i < count && status == C2_OK; i++) {
        if (goes_on_by(&draft->level[data_path[i]]) == KEY_COUNT)
            continue;
        status = check_below(draft, i, count, err);
        if (status == C2_OK)
            status = check_comes(draft, i, err);
        if (status == C2_OK)
            status = check_names_of_lines(draft, i, err);
        if (status == C2_OK)
            status = check_prefetched(draft, i, count, err);
    }
    return status;
}

/* ------------------------------------------------------------------ hints of prefetches */

/* What the manuals say of the hint, as far as the machine goes. */
uint32_t machine_usual_hint(const struct caches_machine *machine, enum caches_instruction hint)
{
    uint32_t level = hint == CACHES_PREFETCH_T1 ? 1 : hint == CACHES_PREFETCH_T2 ? 2 : 0;
    if (level >= machine->level_count)
        level = machine->level_count - 1;
    while (machine->levels[level].inclusion == CACHES_EXCLUSIVE)
        level--;
    return level;
}

static enum c2_status check_hint(struct machine_draft *draft, enum machine_key key, enum caches_instruction hint,
                                 struct c2_error *err)
{
    struct caches_machine *machine = draft->machine;
    const uint32_t level = machine->hints[hint];
    char where[MACHINE_WHERE_BYTES];
    if (!machine_given(draft, SECTION_MACHINE, key)) {
        machine->hints[hint] = machine_usual_hint(machine, hint);
        return C2_OK;
    }
    if (level >= machine->level_count)
        return c2_fail(err, C2_ERR_INVALID, "%s: there is no %s: the last level is %s",
                       machine_where(where, draft, SECTION_MACHINE, key), machine_from_names[level],
                       machine->levels[machine->level_count - 1].name);
    if (machine->levels[level].inclusion != CACHES_EXCLUSIVE)
        return C2_OK;
    BLAME(where, draft, {SECTION_MACHINE, key}, {data_path[level], KEY_INCLUSION});
    return c2_fail(err, C2_ERR_INVALID, "%s: %s is exclusive: it holds what the level above evicts, and cannot fetch",
                   where, machine->levels[level].name);
}

static enum c2_status rules_check_hints(struct machine_draft *draft, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned hint = CACHES_PREFETCH_T0; hint <= CACHES_PREFETCH_NTA && status == C2_OK; hint++)
        status = check_hint(draft, (enum machine_key)(KEY_PREFETCHT0 + hint), (enum caches_instruction)hint, err);
    return status;
}

/* ------------------------------------------------------------------ the machine */

static enum c2_status finish_levels(struct machine_draft *draft, struct c2_error *err)
{
    struct caches_machine *machine = draft->machine;
    enum c2_status status = C2_OK;
    size_t count = 0;
    for (; status == C2_OK && count < DATA_PATH_COUNT && draft->section_line[data_path[count]]; count++)
        status = finish_level(draft, data_path[count], err);
    machine->has_l1i = draft->section_line[SECTION_L1I] != 0;
    if (status == C2_OK && machine->has_l1i)
        status = finish_level(draft, SECTION_L1I, err);
    if (status == C2_OK)
        status = finish_sharing(draft, count, err);
    if (status == C2_OK)
        status = check_stores(draft, count, err);
    for (size_t i = 0; i < count; i++)
        machine->levels[machine->level_count++] = draft->level[data_path[i]];
    if (machine->has_l1i)
        machine->l1i = draft->level[SECTION_L1I];
    return status;
}

enum c2_status machine_finish(struct machine_draft *draft, struct c2_error *err)
{
    enum c2_status status = check_sections(draft, err);
    if (status == C2_OK)
        status = machine_complete(draft, SECTION_MACHINE, err);
    if (status == C2_OK)
        status = check_rates(draft, err);
    if (status == C2_OK)
        status = finish_levels(draft, err);
    if (status == C2_OK)
        status = rules_check_hints(draft, err);
    return status == C2_OK ? machine_finish_tlbs(draft, err) : status;
}
