/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sections and keys of a machine file, and what each value may be by itself.
 *
 * Model
 *   [machine]  name (required), description, line (required; bytes, a power of two, 8 to 4096),
 *              physical_memory (64G; bytes, whole 4 KiB pages, at most 1T)
 *   [L1D] (required) [L1I] [L2] [L3] [L4], the same keys in each:
 *              size (required; bytes, of all slices together), ways (required; 1 to 64), slices (1; to 256),
 *              hash (none), hash_masks (for hash = perm:PATH; a list of masks that may go on in indented lines),
 *              policy (lru), index (virtual in L1D and L1I, physical below), inclusion (non-inclusive; towards the
 *              levels above), latency (0, unknown; cycles, load to use)
 *   [DTLB-4K] [STLB] ... (machine_tlbs.c has the names), the same keys in each:
 *              pages (required; what it holds: 4K, 2M, 1G, and where pointers are cached PDE, PDPTE, PML4E, joined by
 *              +), entries (required), ways (all: fully associative), policy (lru; tree-plru, mru3-plru4),
 *              index (the low bits; vpn[3:0], or vpn[6:0]^vpn[13:7] - the number of the page that an entry is of),
 *              latency (0, unknown; cycles on top of the level above)
 *   [walks]    mode (counted; or cached: a walk's reads go through the caches), from (L1D, L2 ...; the level they enter
 *   at) In brackets what is taken when the key is left out. Sizes take K, M, G, T, powers of 1024.
 * Invariants
 *   A value that passes here is one of its kind; whether it fits the others is for machine_rules.c.
 * Not modelled
 *   Prefetchers and cores have no sections: the models are not here, so the words are unknown.
 */
#include "caches/machine_priv.h"

#include <ctype.h>
#include <string.h>

#define MAX_PHYSICAL ((uint64_t)1 << 40)
#define MAX_LEVEL_BYTES ((uint64_t)1 << 34) /* 16 GiB: then the number of sets fits 32 bits whatever the geometry */

static const char *const section_names[SECTION_TLB] = {"machine", "L1D", "L1I", "L2", "L3", "L4", "walks"};
static const char *const policy_names[] = {"lru", "fifo", "random", "tree-plru", "nru", "srrip", "brrip"};
static const char *const inclusion_names[] = {"non-inclusive", "inclusive", "exclusive"};
static const char *const index_names[] = {"virtual", "physical"};
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

const char *caches_policy_name(enum caches_policy policy) { return policy_names[policy]; }
const char *caches_inclusion_name(enum caches_inclusion inclusion) { return inclusion_names[inclusion]; }
const char *caches_index_name(enum caches_index index) { return index_names[index]; }

const char *machine_section_name(enum machine_section section)
{
    return section < SECTION_TLB ? section_names[section] : machine_tlb_rows[section - SECTION_TLB].name;
}

/* ------------------------------------------------------------------ kinds of values
 * Each takes the words to begin a message with, and says in it what would have been right. */

enum c2_status machine_parse_word(unsigned *out, const char *value, const char *const *words, size_t count,
                                  const char *where, struct c2_error *err)
{
    char suggestion[256];
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = (unsigned)i;
            return C2_OK;
        }
    return c2_fail(err, C2_ERR_INVALID, "%s: \"%s\" is not known%s", where, value,
                   c2_suggest(suggestion, sizeof suggestion, value, words, count));
}

enum c2_status machine_parse_ranged(uint32_t *out, const char *value, uint32_t low, uint32_t high, const char *where,
                                    struct c2_error *err)
{
    uint64_t number;
    enum c2_status status = c2_parse_number(&number, value, where, err);
    if (status != C2_OK)
        return status;
    if (number < low || number > high)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is out of range: %u to %u", where, value, low, high);
    *out = (uint32_t)number;
    return C2_OK;
}

static enum c2_status copy_text(char *to, size_t bytes, const char *value, const char *where, struct c2_error *err)
{
    size_t length = strlen(value);
    if (length == 0 || length >= bytes)
        return c2_fail(err, C2_ERR_INVALID, "%s: %zu characters: 1 to %zu are possible", where, length, bytes - 1);
    memcpy(to, value, length + 1);
    return C2_OK;
}

/* ------------------------------------------------------------------ one setter a key */

/* What a setter works on. */
struct slot {
    struct caches_machine *machine;
    struct caches_level *level;
    char *hash_masks;
    const char *where;
};

static enum c2_status set_name(struct slot *to, const char *value, struct c2_error *err)
{
    return copy_text(to->machine->name, sizeof to->machine->name, value, to->where, err);
}

static enum c2_status set_description(struct slot *to, const char *value, struct c2_error *err)
{
    return copy_text(to->machine->description, sizeof to->machine->description, value, to->where, err);
}

static enum c2_status set_line(struct slot *to, const char *value, struct c2_error *err)
{
    uint64_t bytes;
    enum c2_status status = c2_parse_size(&bytes, value, to->where, err);
    if (status != C2_OK)
        return status;
    if (!c2_is_power_of_two(bytes) || bytes < 8 || bytes > C2_PAGE_BYTES)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is no line size: a power of two from 8 to 4096", to->where, value);
    to->machine->line_bytes = (uint32_t)bytes;
    return C2_OK;
}

static enum c2_status set_physical_memory(struct slot *to, const char *value, struct c2_error *err)
{
    uint64_t bytes;
    enum c2_status status = c2_parse_size(&bytes, value, to->where, err);
    if (status != C2_OK)
        return status;
    if (bytes == 0 || bytes % C2_PAGE_BYTES != 0 || bytes > MAX_PHYSICAL)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is not possible: a multiple of 4K, at most 1T", to->where, value);
    to->machine->physical_bytes = bytes;
    return C2_OK;
}

static enum c2_status set_size(struct slot *to, const char *value, struct c2_error *err)
{
    uint64_t bytes;
    enum c2_status status = c2_parse_size(&bytes, value, to->where, err);
    if (status != C2_OK)
        return status;
    if (bytes == 0 || bytes > MAX_LEVEL_BYTES)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s is no size of a cache: at least one line, at most 16G", to->where,
                       value);
    to->level->size_bytes = bytes;
    return C2_OK;
}

static enum c2_status set_ways(struct slot *to, const char *value, struct c2_error *err)
{
    return machine_parse_ranged(&to->level->ways, value, 1, CACHES_MAX_WAYS, to->where, err);
}

static enum c2_status set_slices(struct slot *to, const char *value, struct c2_error *err)
{
    return machine_parse_ranged(&to->level->slices, value, 1, CACHES_MAX_SLICES, to->where, err);
}

static enum c2_status set_hash(struct slot *to, const char *value, struct c2_error *err)
{
    return copy_text(to->level->hash, sizeof to->level->hash, value, to->where, err);
}

/* Appends without blanks, so that the masks become part of the hash's name. */
static enum c2_status append_masks(struct slot *to, const char *value, struct c2_error *err)
{
    size_t length = strlen(to->hash_masks);
    for (; *value; value++) {
        if (isspace((unsigned char)*value))
            continue;
        if (length + 1 >= CACHES_HASH_BYTES)
            return c2_fail(err, C2_ERR_INVALID, "%s: more than %d characters", to->where, CACHES_HASH_BYTES - 1);
        to->hash_masks[length++] = *value;
    }
    to->hash_masks[length] = '\0';
    return C2_OK;
}

static enum c2_status set_hash_masks(struct slot *to, const char *value, struct c2_error *err)
{
    to->hash_masks[0] = '\0';
    return append_masks(to, value, err);
}

static enum c2_status set_policy(struct slot *to, const char *value, struct c2_error *err)
{
    unsigned word = to->level->policy;
    enum c2_status status = machine_parse_word(&word, value, policy_names, COUNT_OF(policy_names), to->where, err);
    to->level->policy = (enum caches_policy)word;
    return status;
}

static enum c2_status set_index(struct slot *to, const char *value, struct c2_error *err)
{
    unsigned word = to->level->index;
    enum c2_status status = machine_parse_word(&word, value, index_names, COUNT_OF(index_names), to->where, err);
    to->level->index = (enum caches_index)word;
    return status;
}

static enum c2_status set_inclusion(struct slot *to, const char *value, struct c2_error *err)
{
    unsigned word = to->level->inclusion;
    enum c2_status status = machine_parse_word(&word, value, inclusion_names, COUNT_OF(inclusion_names), to->where,
                                               err);
    to->level->inclusion = (enum caches_inclusion)word;
    return status;
}

static enum c2_status set_latency(struct slot *to, const char *value, struct c2_error *err)
{
    return machine_parse_ranged(&to->level->latency_cycles, value, 0, 1000000, to->where, err);
}

/* ------------------------------------------------------------------ the table of keys */

struct key_row {
    const char *name;
    enum c2_status (*set)(struct slot *to, const char *value, struct c2_error *err); /* of the machine or a cache */
    enum c2_status (*set_tlb)(struct machine_draft *draft, enum machine_section section, const char *value,
                              const char *where, struct c2_error *err); /* of a TLB or of walks */
};

static const struct key_row keys[KEY_COUNT] = {
    [KEY_NAME] = {"name", set_name, NULL},
    [KEY_DESCRIPTION] = {"description", set_description, NULL},
    [KEY_LINE] = {"line", set_line, NULL},
    [KEY_PHYSICAL_MEMORY] = {"physical_memory", set_physical_memory, NULL},
    [KEY_SIZE] = {"size", set_size, NULL},
    [KEY_WAYS] = {"ways", set_ways, NULL},
    [KEY_SLICES] = {"slices", set_slices, NULL},
    [KEY_HASH] = {"hash", set_hash, NULL},
    [KEY_HASH_MASKS] = {"hash_masks", set_hash_masks, NULL},
    [KEY_POLICY] = {"policy", set_policy, NULL},
    [KEY_INDEX] = {"index", set_index, NULL},
    [KEY_INCLUSION] = {"inclusion", set_inclusion, NULL},
    [KEY_LATENCY] = {"latency", set_latency, NULL},
    [KEY_MODE] = {"mode", NULL, machine_set_mode},
    [KEY_FROM] = {"from", NULL, machine_set_from},
    [KEY_PAGES] = {"pages", NULL, machine_set_pages},
    [KEY_ENTRIES] = {"entries", NULL, machine_set_entries},
    [KEY_TLB_WAYS] = {"ways", NULL, machine_set_tlb_ways},
    [KEY_TLB_POLICY] = {"policy", NULL, machine_set_tlb_policy},
    [KEY_TLB_INDEX] = {"index", NULL, machine_set_tlb_index},
    [KEY_TLB_LATENCY] = {"latency", NULL, machine_set_tlb_latency},
};

/* The keys of a section: [*first, *end). */
static void keys_of(enum machine_section section, unsigned *first, unsigned *end)
{
    if (section == SECTION_MACHINE)
        *first = KEY_NAME, *end = KEY_SIZE;
    else if (section == SECTION_WALKS)
        *first = KEY_MODE, *end = KEY_PAGES;
    else if (section >= SECTION_TLB)
        *first = KEY_PAGES, *end = KEY_COUNT;
    else
        *first = KEY_SIZE, *end = KEY_MODE;
}

const char *machine_key_name(enum machine_key key) { return keys[key].name; }

enum c2_status machine_find_section(enum machine_section *out, const char *name, const char *where,
                                    struct c2_error *err)
{
    char suggestion[512];
    const char *names[SECTION_COUNT];
    for (unsigned i = 0; i < SECTION_COUNT; i++) {
        names[i] = machine_section_name((enum machine_section)i);
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
    unsigned first, end;
    const char *names[KEY_COUNT];
    char suggestion[256];
    keys_of(section, &first, &end);
    for (unsigned i = first; i < end; i++) {
        names[i - first] = keys[i].name;
        if (strcmp(name, keys[i].name) == 0) {
            *out = (enum machine_key)i;
            return C2_OK;
        }
    }
    return c2_fail(err, C2_ERR_INVALID, "%s: [%s] has no key \"%s\"%s", where, machine_section_name(section), name,
                   c2_suggest(suggestion, sizeof suggestion, name, names, end - first));
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
    if (origin->override)
        snprintf(buffer, MACHINE_WHERE_BYTES, "--set %.480s", origin->override);
    else if (origin->line)
        snprintf(buffer, MACHINE_WHERE_BYTES, "%s:%u: [%s] %s", draft->shown, origin->line,
                 machine_section_name(section), keys[key].name);
    else
        snprintf(buffer, MACHINE_WHERE_BYTES, "%s:%u: [%s]", draft->shown, draft->section_line[section],
                 machine_section_name(section));
    return buffer;
}

static struct slot slot_of(struct machine_draft *draft, enum machine_section section, const char *where)
{
    return (struct slot){draft->machine, &draft->level[section], draft->hash_masks[section], where};
}

enum c2_status machine_set(struct machine_draft *draft, enum machine_section section, enum machine_key key,
                           const char *value, struct machine_origin origin, struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    draft->origin[section][key] = origin;
    struct slot to = slot_of(draft, section, machine_where(where, draft, section, key));
    if (keys[key].set_tlb)
        return keys[key].set_tlb(draft, section, value, where, err);
    return keys[key].set(&to, value, err);
}

enum c2_status machine_add_masks(struct machine_draft *draft, enum machine_section section, const char *value,
                                 struct c2_error *err)
{
    char where[MACHINE_WHERE_BYTES];
    struct slot to = slot_of(draft, section, machine_where(where, draft, section, KEY_HASH_MASKS));
    return append_masks(&to, value, err);
}
