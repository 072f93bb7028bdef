/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sections and keys of a machine file, and what each value may be by itself: one table of each.
 *
 * Model
 *   A row of machine_keys states everything about a key: its section, what may stand there, what is taken when it is
 *   left out, how it is read and how it is written. Messages, defaults, files that are written and the tables of
 *   docs/machine-files.md come from these rows.
 * Invariants
 *   A value that passes here is one of its kind; whether it fits the others is for rules.c and tlbs.c.
 * Not modelled
 *   Cores that differ: each has what the sections say.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_priv.h"

#define MAX_PHYSICAL ((uint64_t)1 << 40)
#define MAX_FILTER (1u << 26)               /* lines */
#define MAX_LEVEL_BYTES ((uint64_t)1 << 34) /* 16 GiB: then the number of sets fits 32 bits whatever the geometry */
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define DATA CACHES_TLB_DATA
#define ALL (CACHES_TLB_DATA | CACHES_TLB_FETCHES)

/* clang-format off */
const struct machine_section_row machine_sections[SECTION_COUNT] = {
    [SECTION_MACHINE] = {.name = "machine", .kind = KIND_MACHINE},
    [SECTION_L1D] = {.name = "L1D", .kind = KIND_CACHE},
    [SECTION_L1I] = {.name = "L1I", .kind = KIND_CACHE},
    [SECTION_L2] = {.name = "L2", .kind = KIND_CACHE},
    [SECTION_L3] = {.name = "L3", .kind = KIND_CACHE},
    [SECTION_L4] = {.name = "L4", .kind = KIND_CACHE},
    [SECTION_WALKS] = {.name = "walks", .kind = KIND_WALKS},
    [SECTION_TLB] = {"DTLB", KIND_TLB, CACHES_TLB_FIRST, DATA},
    {"DTLB-4K", KIND_TLB, CACHES_TLB_FIRST, DATA},
    {"DTLB-2M", KIND_TLB, CACHES_TLB_FIRST, DATA},
    {"DTLB-1G", KIND_TLB, CACHES_TLB_FIRST, DATA},
    {"DTLB-load-4K", KIND_TLB, CACHES_TLB_FIRST, CACHES_TLB_LOADS},
    {"DTLB-load-2M", KIND_TLB, CACHES_TLB_FIRST, CACHES_TLB_LOADS},
    {"DTLB-load-1G", KIND_TLB, CACHES_TLB_FIRST, CACHES_TLB_LOADS},
    {"DTLB-store", KIND_TLB, CACHES_TLB_FIRST, CACHES_TLB_STORES},
    {"ITLB", KIND_TLB, CACHES_TLB_FIRST, CACHES_TLB_FETCHES},
    {"ITLB-4K", KIND_TLB, CACHES_TLB_FIRST, CACHES_TLB_FETCHES},
    {"ITLB-2M", KIND_TLB, CACHES_TLB_FIRST, CACHES_TLB_FETCHES},
    {"STLB", KIND_TLB, CACHES_TLB_SECOND, ALL},
    {"STLB-A", KIND_TLB, CACHES_TLB_SECOND, ALL},
    {"STLB-B", KIND_TLB, CACHES_TLB_SECOND, ALL},
    {"STLB-1G", KIND_TLB, CACHES_TLB_SECOND, ALL},
    {"L2-DTLB", KIND_TLB, CACHES_TLB_SECOND, DATA},
    {"L2-DTLB-1G", KIND_TLB, CACHES_TLB_SECOND, DATA},
    {"L2-ITLB", KIND_TLB, CACHES_TLB_SECOND, CACHES_TLB_FETCHES},
    {"L2-ITLB-4K", KIND_TLB, CACHES_TLB_SECOND, CACHES_TLB_FETCHES},
    {"L2-ITLB-2M", KIND_TLB, CACHES_TLB_SECOND, CACHES_TLB_FETCHES},
    {"PSC-PDE", KIND_TLB, CACHES_TLB_WALK, ALL},
    {"PSC-PDPTE", KIND_TLB, CACHES_TLB_WALK, ALL},
    {"PSC-PML4E", KIND_TLB, CACHES_TLB_WALK, ALL},
    {"PDC", KIND_TLB, CACHES_TLB_WALK, ALL},
};
/* clang-format on */

/* ------------------------------------------------------------------ [machine] */

#define SET(key) \
    static enum c2_status set_##key(struct machine_subject *to, const char *value, const char *where, \
                                    struct c2_error *err)
#define WRITE(key) static void write_##key(char *value, const struct machine_subject *of)

static void keys_write_text(char *value, const char *text) { snprintf(value, MACHINE_VALUE_BYTES, "%s", text); }
static void write_number(char *value, uint32_t number) { snprintf(value, MACHINE_VALUE_BYTES, "%u", number); }

SET(name) { return machine_parse_text(to->machine->name, sizeof to->machine->name, value, where, err); }
WRITE(name) { keys_write_text(value, of->machine->name); }

SET(description)
{
    return machine_parse_text(to->machine->description, sizeof to->machine->description, value, where, err);
}
WRITE(description) { keys_write_text(value, of->machine->description); }

SET(line)
{
    uint64_t bytes;
    enum c2_status status = c2_parse_size(&bytes, value, where, err);
    if (status != C2_OK)
        return status;
    if (!c2_is_power_of_two(bytes) || bytes < 8 || bytes > C2_PAGE_BYTES)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is no line size: a power of two from 8 to 4096", where, value);
    to->machine->line_bytes = (uint32_t)bytes;
    return C2_OK;
}
WRITE(line) { write_number(value, of->machine->line_bytes); }

SET(physical_memory)
{
    uint64_t bytes;
    enum c2_status status = c2_parse_size(&bytes, value, where, err);
    if (status != C2_OK)
        return status;
    if (bytes == 0 || bytes % C2_PAGE_BYTES != 0 || bytes > MAX_PHYSICAL)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is not possible: a multiple of 4K, at most 1T", where, value);
    to->machine->physical_bytes = bytes;
    return C2_OK;
}
WRITE(physical_memory) { machine_write_size(value, of->machine->physical_bytes); }

SET(cores) { return machine_parse_ranged(&to->machine->cores, value, 1, CACHES_MAX_CORES, where, err); }
WRITE(cores)
{
    *value = '\0';
    if (of->machine->cores > 1)
        write_number(value, of->machine->cores);
}

static void write_unless_0(char *value, uint32_t number)
{
    *value = '\0';
    if (number != 0)
        write_number(value, number);
}

SET(snoop_filter)
{
    uint64_t lines;
    enum c2_status status = c2_parse_size(&lines, value, where, err);
    if (status != C2_OK)
        return status;
    if (lines > MAX_FILTER)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is not possible: at most %u lines", where, value, MAX_FILTER);
    to->machine->filter_lines = (uint32_t)lines;
    return C2_OK;
}
WRITE(snoop_filter) { write_unless_0(value, of->machine->filter_lines); }

SET(snoop_filter_ways)
{
    return machine_parse_ranged(&to->machine->filter_ways, value, 1, CACHES_MAX_WAYS, where, err);
}
WRITE(snoop_filter_ways) { write_unless_0(value, of->machine->filter_ways); }

/* What a cycle can do at most; a machine that does not say it has no such line when it is written. */
#define RATE(key, member) \
    SET(key) { return machine_parse_rate(&to->member, value, where, err); } \
    WRITE(key) { machine_write_rate(value, of->member); }

RATE(instructions_per_cycle, machine->instruction_rate)
RATE(flops_per_cycle, machine->flop_rate)
RATE(memory_read_bandwidth, machine->memory.read)
RATE(memory_write_bandwidth, machine->memory.write)

SET(sharing_penalty) { return machine_parse_ranged(&to->machine->sharing_cycles, value, 0, 1000000, where, err); }
WRITE(sharing_penalty) { write_unless_0(value, of->machine->sharing_cycles); }

/* What is as it would be anyway is not written. */
#define HINT(key, hint) \
    SET(key) \
    { \
        unsigned word = 0; \
        enum c2_status status = machine_parse_word(&word, value, machine_from_names, COUNT_OF(machine_from_names), \
                                                   where, err); \
        to->machine->hints[hint] = word; \
        return status; \
    } \
    WRITE(key) \
    { \
        const uint32_t level = of->machine->hints[hint]; \
        keys_write_text(value, level == machine_usual_hint(of->machine, hint) ? "" : machine_from_names[level]); \
    }
HINT(prefetcht0, CACHES_PREFETCH_T0)
HINT(prefetcht1, CACHES_PREFETCH_T1)
HINT(prefetcht2, CACHES_PREFETCH_T2)
HINT(prefetchnta, CACHES_PREFETCH_NTA)

SET(write_combining)
{
    return machine_parse_ranged(&to->machine->combining, value, 1, CACHES_MAX_COMBINING, where, err);
}
WRITE(write_combining)
{
    *value = '\0';
    if (of->machine->combining != CACHES_COMBINING)
        write_number(value, of->machine->combining);
}

SET(clock) { return machine_parse_ranged(&to->machine->clock_mhz, value, 0, 100000, where, err); }
WRITE(clock)
{
    *value = '\0';
    if (of->machine->clock_mhz != 0)
        write_number(value, of->machine->clock_mhz);
}

/* ------------------------------------------------------------------ a cache */

SET(size)
{
    uint64_t bytes;
    enum c2_status status = c2_parse_size(&bytes, value, where, err);
    if (status != C2_OK)
        return status;
    if (bytes == 0 || bytes > MAX_LEVEL_BYTES)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is no size of a cache: at least one line, at most 16G", where,
                       value);
    to->level->size_bytes = bytes;
    return C2_OK;
}
WRITE(size) { machine_write_size(value, of->level->size_bytes); }

SET(ways) { return machine_parse_ranged(&to->level->ways, value, 1, CACHES_MAX_WAYS, where, err); }
WRITE(ways) { write_number(value, of->level->ways); }

SET(slices) { return machine_parse_ranged(&to->level->slices, value, 1, CACHES_MAX_SLICES, where, err); }
WRITE(slices) { write_number(value, of->level->slices); }

SET(hash) { return machine_parse_text(to->level->hash, sizeof to->level->hash, value, where, err); }

/* "perm:PATH:MASKS" are two keys; PATH is relative to the file that the machine was read from. */
WRITE(hash)
{
    const char *hash = of->level->hash, *path = hash + strlen("perm:");
    if (strncmp(hash, "perm:", strlen("perm:")) != 0) {
        keys_write_text(value, hash);
        return;
    }
    char *directory = *path == '/' ? NULL : realpath(of->machine->directory, NULL);
    snprintf(value, MACHINE_VALUE_BYTES, "perm:%s%s%.*s", directory ? directory : "", directory ? "/" : "",
             (int)(strrchr(path, ':') - path), path);
    free(directory);
}

/* Appends without blanks, so that the masks become part of the hash's name. */
static enum c2_status append_masks(char *masks, const char *value, const char *where, struct c2_error *err)
{
    size_t length = strlen(masks);
    for (; *value; value++) {
        if (isspace((unsigned char)*value))
            continue;
        if (length + 1 >= CACHES_HASH_BYTES)
            return c2_fail(err, C2_ERR_INVALID, "%s: more than %d characters", where, CACHES_HASH_BYTES - 1);
        masks[length++] = *value;
    }
    masks[length] = '\0';
    return C2_OK;
}

SET(hash_masks)
{
    to->hash_masks[0] = '\0';
    return append_masks(to->hash_masks, value, where, err);
}

WRITE(hash_masks)
{
    const bool from_file = strncmp(of->level->hash, "perm:", strlen("perm:")) == 0;
    keys_write_text(value, from_file ? strrchr(of->level->hash, ':') + 1 : "");
}

/* A member of an enum type, by its words. */
#define SET_WORD(key, member, type, words) \
    SET(key) \
    { \
        unsigned word = 0; \
        enum c2_status status = machine_parse_word(&word, value, words, COUNT_OF(words), where, err); \
        if (status == C2_OK) \
            to->member = (type)word; \
        return status; \
    } \
    WRITE(key) { keys_write_text(value, words[of->member]); }

/* One of those that this user may have. */
static enum c2_status keys_parse_policy(enum caches_policy *out, enum caches_policy_user user, const char *value,
                                        const char *where, struct c2_error *err)
{
    enum caches_policy policies[CACHES_POLICIES];
    const char *words[CACHES_POLICIES];
    size_t count = 0;
    unsigned word = 0;
    for (unsigned i = 0; i < CACHES_POLICIES; i++) {
        if (!(caches_policy_users[i] & user))
            continue;
        policies[count] = (enum caches_policy)i;
        words[count++] = caches_policy_names[i];
    }
    enum c2_status status = machine_parse_word(&word, value, words, count, where, err);
    if (status == C2_OK)
        *out = policies[word];
    return status;
}

SET(policy) { return keys_parse_policy(&to->level->policy, CACHES_OF_LEVELS, value, where, err); }
WRITE(policy) { keys_write_text(value, caches_policy_name(of->level->policy)); }

SET_WORD(index, level->index, enum caches_index, caches_index_names)
SET_WORD(inclusion, level->inclusion, enum caches_inclusion, caches_inclusion_names)

SET(ways_of) { return machine_parse_masks(to->level, value, where, err); }
WRITE(ways_of) { machine_write_masks(value, of->level); }

/* A member that is true or false, by its words. */
#define SET_EITHER(key, words, statement) \
    SET(key) \
    { \
        unsigned word = 0; \
        enum c2_status status = machine_parse_word(&word, value, words, COUNT_OF(words), where, err); \
        if (status == C2_OK) \
            statement; \
        return status; \
    }

/* A default is not written. */
SET_EITHER(write, caches_write_names, to->level->through = word)
WRITE(write) { keys_write_text(value, of->level->through ? caches_write_names[1] : ""); }
SET_EITHER(allocate, caches_allocate_names, to->level->around = !word)
WRITE(allocate) { keys_write_text(value, of->level->around ? caches_allocate_names[0] : ""); }

static const char *const shared_names[] = {"no", "yes"};
SET_EITHER(shared, shared_names, to->level->shared = word)
WRITE(shared) { keys_write_text(value, of->machine->cores > 1 ? shared_names[of->level->shared] : ""); }

#define MAX_LATENCY 1000000
#define MAX_DISTANCE 511 /* a page of the smallest lines has one more */
#define NO_PREFETCHER "none"
SET(latency) { return machine_parse_ranged(&to->level->latency_cycles, value, 0, MAX_LATENCY, where, err); }
WRITE(latency) { write_number(value, of->level->latency_cycles); }

RATE(read_bandwidth, level->path.read)
RATE(write_bandwidth, level->path.write)
SET(prefetch)
{
    if (strcmp(value, NO_PREFETCHER) == 0) {
        to->level->prefetchers = 0;
        return C2_OK;
    }
    return machine_parse_words(&to->level->prefetchers, value, caches_prefetcher_names,
                               COUNT_OF(caches_prefetcher_names), where, err);
}
WRITE(prefetch)
{
    machine_write_words(value, of->level->prefetchers, caches_prefetcher_names, COUNT_OF(caches_prefetcher_names));
}

SET(prefetch_on)
{
    unsigned word = 0;
    enum c2_status status = machine_parse_word(&word, value, caches_prefetch_on_names,
                                               COUNT_OF(caches_prefetch_on_names), where, err);
    if (status == C2_OK)
        to->level->prefetch_on = (enum caches_prefetch_on)word;
    return status;
}
WRITE(prefetch_on)
{
    keys_write_text(value, of->level->prefetchers != 0 ? caches_prefetch_on_names[of->level->prefetch_on] : "");
}

static void write_distance(char *value, const struct caches_level *level, enum caches_prefetcher of, uint32_t distance)
{
    *value = '\0';
    if (level->prefetchers & 1u << of)
        write_number(value, distance);
}

SET(stream_distance) { return machine_parse_ranged(&to->level->stream_distance, value, 1, MAX_DISTANCE, where, err); }
WRITE(stream_distance) { write_distance(value, of->level, CACHES_PREFETCH_STREAM, of->level->stream_distance); }

SET(stride_distance) { return machine_parse_ranged(&to->level->stride_distance, value, 1, MAX_DISTANCE, where, err); }
WRITE(stride_distance) { write_distance(value, of->level, CACHES_PREFETCH_STRIDE, of->level->stride_distance); }

/* ------------------------------------------------------------------ [walks] */

static const char *const mode_names[] = {"counted", "cached"};

SET_WORD(mode, machine->walks_cached, bool, mode_names)
SET_WORD(from, machine->walks_from, uint32_t, machine_from_names)

SET(walk_latency) { return machine_parse_ranged(&to->machine->walk_cycles, value, 0, MAX_LATENCY, where, err); }
WRITE(walk_latency) { write_number(value, of->machine->walk_cycles); }

/* ------------------------------------------------------------------ a TLB */

SET(pages)
{
    return machine_parse_words(&to->tlb->holds, value, caches_kind_names, COUNT_OF(caches_kind_names), where, err);
}
WRITE(pages) { machine_write_words(value, of->tlb->holds, caches_kind_names, COUNT_OF(caches_kind_names)); }

SET(entries) { return machine_parse_ranged(&to->tlb->entries, value, 1, UINT16_MAX, where, err); }
WRITE(entries) { write_number(value, of->tlb->entries); }

SET(tlb_ways) { return machine_parse_ranged(&to->tlb->ways, value, 1, CACHES_TLB_MAX_WAYS, where, err); }
WRITE(tlb_ways) { write_number(value, of->tlb->ways); }

SET(tlb_policy) { return keys_parse_policy(&to->tlb->policy, CACHES_OF_TLBS, value, where, err); }
WRITE(tlb_policy) { keys_write_text(value, caches_policy_name(of->tlb->policy)); }

SET(tlb_index) { return machine_parse_index(to->index, value, where, err); }
WRITE(tlb_index)
{
    const unsigned fold = of->tlb->fold, bits = c2_log2(of->tlb->entries / of->tlb->ways);
    *value = '\0';
    if (fold != 0)
        snprintf(value, MACHINE_VALUE_BYTES, "vpn[%u:0]^vpn[%u:%u]", bits - 1, fold + bits - 1, fold);
}

SET(tlb_latency) { return machine_parse_ranged(&to->tlb->latency_cycles, value, 0, MAX_LATENCY, where, err); }
WRITE(tlb_latency) { write_number(value, of->tlb->latency_cycles); }

/* ------------------------------------------------------------------ the table of keys */

/* clang-format off */
const struct machine_key_row machine_keys[KEY_COUNT] = {
    [KEY_NAME] = {KIND_MACHINE, true, "name", "up to 63 characters", NULL, NULL, set_name, write_name},
    [KEY_DESCRIPTION] = {KIND_MACHINE, false, "description", "up to 255 characters", NULL, "empty",
        set_description, write_description},
    [KEY_LINE] = {KIND_MACHINE, true, "line",
        "bytes of a line on every level: a power of two, 8 to 4096; 64 where a level has slices", NULL, NULL,
        set_line, write_line},
    [KEY_PHYSICAL_MEMORY] = {KIND_MACHINE, false, "physical_memory",
        "bytes, whole 4 KiB pages, at most 1T; no more than the slice hashes are known for", "64G", NULL,
        set_physical_memory, write_physical_memory},
    [KEY_CORES] = {KIND_MACHINE, false, "cores",
        "1 to 64; each has levels and TLBs of its own but for those that are shared", "1", NULL,
        set_cores, write_cores},
    [KEY_SNOOP_FILTER] = {KIND_MACHINE, false, "snoop_filter",
        "lines that the directory has room for, all slices together, where the first shared level is not inclusive; "
        "0: without bounds", "0", NULL, set_snoop_filter, write_snoop_filter},
    [KEY_SNOOP_FILTER_WAYS] = {KIND_MACHINE, false, "snoop_filter_ways", "its ways, 1 to 64; lru",
        NULL, "needed by `snoop_filter`", set_snoop_filter_ways, write_snoop_filter_ways},
    [KEY_CLOCK] = {KIND_MACHINE, false, "clock", "MHz; 0 is unknown. For seconds and GB/s in reports", "0", NULL,
        set_clock, write_clock},
    [KEY_INSTRUCTIONS_PER_CYCLE] = {KIND_MACHINE, false, "instructions_per_cycle",
        "at most, up to three decimals; 0 is unknown. For `--bandwidth`, changes no count", "0", NULL,
        set_instructions_per_cycle, write_instructions_per_cycle},
    [KEY_FLOPS_PER_CYCLE] = {KIND_MACHINE, false, "flops_per_cycle", "floating-point operations, likewise", "0", NULL,
        set_flops_per_cycle, write_flops_per_cycle},
    [KEY_MEMORY_READ_BANDWIDTH] = {KIND_MACHINE, false, "memory_read_bandwidth",
        "bytes per cycle from memory to the last level, likewise", "0", NULL,
        set_memory_read_bandwidth, write_memory_read_bandwidth},
    [KEY_MEMORY_WRITE_BANDWIDTH] = {KIND_MACHINE, false, "memory_write_bandwidth",
        "bytes per cycle from the last level to memory, likewise", "0", NULL,
        set_memory_write_bandwidth, write_memory_write_bandwidth},
    [KEY_SHARING_PENALTY] = {KIND_MACHINE, false, "sharing_penalty",
        "cycles that a line takes from one core's cache to another's; 0 is unknown. For `--sharing-estimate` and "
        "`cost`", "0", NULL, set_sharing_penalty, write_sharing_penalty},
    [KEY_PREFETCHT0] = {KIND_MACHINE, false, "prefetcht0",
        "the nearest level that the instruction, and PREFETCHW, fills: L1D, L2, L3 or L4, one that the machine has and "
        "that is not exclusive", NULL, "L1D", set_prefetcht0, write_prefetcht0},
    [KEY_PREFETCHT1] = {KIND_MACHINE, false, "prefetcht1", "the same of PREFETCHT1", NULL,
        "L2, else the nearest above it", set_prefetcht1, write_prefetcht1},
    [KEY_PREFETCHT2] = {KIND_MACHINE, false, "prefetcht2", "the same of PREFETCHT2", NULL,
        "L3, else the nearest above it", set_prefetcht2, write_prefetcht2},
    [KEY_PREFETCHNTA] = {KIND_MACHINE, false, "prefetchnta",
        "the same of PREFETCHNTA, which fills behind it only levels that are inclusive", NULL, "L1D",
        set_prefetchnta, write_prefetchnta},
    [KEY_WRITE_COMBINING] = {KIND_MACHINE, false, "write_combining",
        "lines that a core puts together from non-temporal stores at one time, 1 to 64", "10", NULL,
        set_write_combining, write_write_combining},

    [KEY_SIZE] = {KIND_CACHE, true, "size", "bytes, all slices together, at most 16G; a whole number of sets", NULL,
        NULL, set_size, write_size},
    [KEY_WAYS] = {KIND_CACHE, true, "ways", "1 to 64", NULL, NULL, set_ways, write_ways},
    [KEY_SLICES] = {KIND_CACHE, false, "slices", "1 to 256; with more than one, index must be physical", "1", NULL,
        set_slices, write_slices},
    [KEY_HASH] = {KIND_CACHE, false, "hash", "a slice hash, below; its number of slices must be the level's", "none",
        NULL, set_hash, write_hash},
    [KEY_HASH_MASKS] = {KIND_CACHE, false, "hash_masks",
        "masks for `hash = perm:PATH`; the list may go on in indented lines", NULL, "none; needed by `perm:`",
        set_hash_masks, write_hash_masks},
    [KEY_POLICY] = {KIND_CACHE, false, "policy", "a policy, below", "lru", NULL, set_policy, write_policy},
    [KEY_INDEX] = {KIND_CACHE, false, "index", "virtual or physical", NULL, "virtual in L1D and L1I, else physical",
        set_index, write_index},
    [KEY_INCLUSION] = {KIND_CACHE, false, "inclusion",
        "towards the levels above, below; the L1s have only non-inclusive", "non-inclusive", NULL,
        set_inclusion, write_inclusion},
    [KEY_WAYS_OF] = {KIND_CACHE, false, "ways_of",
        "ways that cores may fill, as bits of a number: `core 0: 0xf; core 1-3: 0xff0`, 1 to 16 of these", NULL,
        "all ways, of every core", set_ways_of, write_ways_of},
    [KEY_WRITE] = {KIND_CACHE, false, "write",
        "back, or through: a store that the level has or takes goes on to the next level; not of L1I, nor where an "
        "exclusive level is below", "back", NULL, set_write, write_write},
    [KEY_ALLOCATE] = {KIND_CACHE, false, "allocate",
        "yes, or no: a store that the level misses does not fill it, but goes on; where stores come to it, and not "
        "where an exclusive level is below", "yes", NULL, set_allocate, write_allocate},
    [KEY_SHARED] = {KIND_CACHE, false, "shared", "no, or yes: of several cores by all; then the levels below it, too",
        NULL, "yes in the last level of several", set_shared, write_shared},
    [KEY_LATENCY] = {KIND_CACHE, false, "latency",
        "cycles from load to use; 0 is unknown. For `cost`, changes no count", "0", NULL,
        set_latency, write_latency},
    [KEY_READ_BANDWIDTH] = {KIND_CACHE, false, "read_bandwidth",
        "bytes per cycle from it to the level above, or the core, at most; up to three decimals, 0 is unknown. Not of "
        "L1I. For `--bandwidth`, changes no count", "0", NULL, set_read_bandwidth, write_read_bandwidth},
    [KEY_WRITE_BANDWIDTH] = {KIND_CACHE, false, "write_bandwidth", "the same into it, from above", "0", NULL,
        set_write_bandwidth, write_write_bandwidth},
    [KEY_PREFETCH] = {KIND_CACHE, false, "prefetch",
        "none, or what the level fetches ahead, below, joined by `+`; not where inclusion is exclusive", NO_PREFETCHER,
        NULL, set_prefetch, write_prefetch},
    [KEY_PREFETCH_ON] = {KIND_CACHE, false, "prefetch_on",
        "what its prefetchers look at: accesses, misses, or tagged, below", "accesses", NULL,
        set_prefetch_on, write_prefetch_on},
    [KEY_STREAM_DISTANCE] = {KIND_CACHE, false, "stream_distance", "lines ahead of a stream, 1 to 511", "5", NULL,
        set_stream_distance, write_stream_distance},
    [KEY_STRIDE_DISTANCE] = {KIND_CACHE, false, "stride_distance", "steps ahead of a stride, 1 to 511", "1", NULL,
        set_stride_distance, write_stride_distance},

    [KEY_MODE] = {KIND_WALKS, false, "mode", "counted, or cached: the reads of a walk go through the caches", "counted",
        NULL, set_mode, write_mode},
    [KEY_FROM] = {KIND_WALKS, false, "from", "the level they enter at: L1D, L2, L3 or L4, one that the machine has",
        "L1D", NULL, set_from, write_from},
    [KEY_WALK_LATENCY] = {KIND_WALKS, false, "latency",
        "cycles of each read of a walk that is only counted; 0 is unknown: the latency of L2. For `cost`, changes no "
        "count", "0", NULL, set_walk_latency, write_walk_latency},

    [KEY_PAGES] = {KIND_TLB, true, "pages",
        "what it holds, joined by `+`: 4K, 2M, 1G; page-walk caches: PDE, PDPTE, PML4E", NULL, NULL,
        set_pages, write_pages},
    [KEY_ENTRIES] = {KIND_TLB, true, "entries", "1 to 65535", NULL, NULL, set_entries, write_entries},
    [KEY_TLB_WAYS] = {KIND_TLB, false, "ways", "1 to 128; a power of two of sets", NULL, "fully associative",
        set_tlb_ways, write_tlb_ways},
    [KEY_TLB_POLICY] = {KIND_TLB, false, "policy", "lru, tree-plru, or mru3-plru4 of 12 ways", "lru", NULL,
        set_tlb_policy, write_tlb_policy},
    [KEY_TLB_INDEX] = {KIND_TLB, false, "index",
        "bits of the page's number: `vpn[3:0]`, or two ranges joined by `^`", NULL, "the low bits",
        set_tlb_index, write_tlb_index},
    [KEY_TLB_LATENCY] = {KIND_TLB, false, "latency",
        "cycles on top of the level above; 0 is unknown. For `cost`, changes no count", "0", NULL,
        set_tlb_latency, write_tlb_latency},
};
/* clang-format on */

static bool has_key(enum machine_section section, unsigned key)
{
    return machine_keys[key].kind == machine_sections[section].kind;
}

enum c2_status machine_find_section(enum machine_section *out, const char *name, const char *where,
                                    struct c2_error *err)
{
    char suggestion[512];
    const char *names[SECTION_COUNT];
    for (unsigned i = 0; i < SECTION_COUNT; i++) {
        names[i] = machine_sections[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = (enum machine_section)i;
            return C2_OK;
        }
    }
    return c2_fail(err, C2_ERR_INVALID, "%s: there is no section [%s]%s", where, name,
                   c2_suggest(suggestion, sizeof suggestion, name, names, SECTION_COUNT));
}

enum c2_status machine_find_key(enum machine_key *out, enum machine_section section, const char *name,
                                const char *where, struct c2_error *err)
{
    const char *names[KEY_COUNT];
    char suggestion[256];
    size_t count = 0;
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        if (!has_key(section, i))
            continue;
        names[count++] = machine_keys[i].name;
        if (strcmp(name, machine_keys[i].name) == 0) {
            *out = (enum machine_key)i;
            return C2_OK;
        }
    }
    return c2_fail(err, C2_ERR_INVALID, "%s: [%s] has no key \"%s\"%s", where, machine_sections[section].name, name,
                   c2_suggest(suggestion, sizeof suggestion, name, names, count));
}

/* ------------------------------------------------------------------ values into the draft */

bool machine_given(const struct machine_draft *draft, enum machine_section section, enum machine_key key)
{
    const struct machine_origin *origin = &draft->origin[section][key];
    return origin->line != 0 || origin->override;
}

char *machine_where(char *buffer, const struct machine_draft *draft, enum machine_section section, enum machine_key key)
{
    const struct machine_origin *origin = &draft->origin[section][key];
    const char *name = machine_sections[section].name;
    if (origin->override)
        snprintf(buffer, MACHINE_WHERE_BYTES, "--set %.480s", origin->override);
    else if (origin->line)
        snprintf(buffer, MACHINE_WHERE_BYTES, "%s:%u: [%s] %s", draft->shown, origin->line, name,
                 machine_keys[key].name);
    else
        snprintf(buffer, MACHINE_WHERE_BYTES, "%s:%u: [%s]", draft->shown, draft->section_line[section], name);
    return buffer;
}

static struct machine_subject subject_of(struct machine_draft *draft, enum machine_section section)
{
    return (struct machine_subject){draft->machine, &draft->level[section], &draft->tlb[section],
                                    &draft->index[section], draft->hash_masks[section]};
}

enum c2_status machine_set(struct machine_draft *draft, enum machine_section section, enum machine_key key,
                           const char *value, struct machine_origin origin, struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    struct machine_subject to = subject_of(draft, section);
    draft->origin[section][key] = origin;
    return machine_keys[key].set(&to, value, machine_where(where, draft, section, key), err);
}

enum c2_status machine_add_masks(struct machine_draft *draft, enum machine_section section, const char *value,
                                 struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    return append_masks(draft->hash_masks[section], value, machine_where(where, draft, section, KEY_HASH_MASKS), err);
}

enum c2_status machine_complete(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < KEY_COUNT && status == C2_OK; i++) {
        const struct machine_key_row *row = &machine_keys[i];
        const enum machine_key key = (enum machine_key)i;
        if (!has_key(section, i) || machine_given(draft, section, key))
            continue;
        if (row->required)
            return c2_fail(err, C2_ERR_INVALID, "%s has no key \"%s\"", machine_where(where, draft, section, key),
                           row->name);
        if (row->otherwise)
            status = machine_set(draft, section, key, row->otherwise, (struct machine_origin){0}, err);
    }
    return status;
}
