/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A hash map from one 64-bit number to another.
 *
 * Model
 *   Open addressing with linear probing in a power-of-two table that is at most half full, so that a miss looks at
 *   two or three neighbouring entries. Key 0 marks a free entry; the real key 0 lives beside the table.
 *   A removal moves the entries behind it back (Knuth, TAOCP vol. 3, 6.4, algorithm R): there are no tombstones, and
 *   a map that churns never fills with them.
 * Invariants (c2_map_check)
 *   Between an entry's home and its place no entry is free; table_count entries are taken; 2*table_count <= capacity.
 * Not modelled
 *   The table never shrinks.
 */
#include "base/base.h"

#include <stdlib.h>

uint64_t c2_hash(const void *bytes, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#define FIRST_CAPACITY_LOG2 C2_HOST_SIZE(6u, 1u)

struct entry {
    uint64_t key;
    uint64_t value;
};

struct c2_map {
    struct entry *table;
    uint64_t mask;  /* capacity - 1 */
    unsigned shift; /* 64 - log2(capacity) */
    uint64_t table_count;
    bool has_zero; /* key 0 is in the map */
    uint64_t zero_value;
};

/* The high bits of a multiplicative hash. Folding the high half in first matters: page-aligned or shifted keys
 * would otherwise leave the product's high bits to few of their bits. */
static uint64_t home_of(const struct c2_map *map, uint64_t key)
{
    return (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> map->shift;
}

/* The place of key, or the free entry where it would go. */
static uint64_t map_place_of(const struct c2_map *map, uint64_t key)
{
    uint64_t at = home_of(map, key);
    while (map->table[at].key != key && map->table[at].key != 0)
        at = (at + 1) & map->mask;
    return at;
}

static bool table_set_up(struct c2_map *map, unsigned capacity_log2)
{
    struct entry *table = c2_calloc((size_t)1 << capacity_log2, sizeof *table);
    if (!table)
        return false;
    map->table = table;
    map->mask = ((uint64_t)1 << capacity_log2) - 1;
    map->shift = 64 - capacity_log2;
    return true;
}

enum c2_status c2_map_create(struct c2_map **out, struct c2_error *err)
{
    *out = NULL;
    struct c2_map *map = c2_calloc(1, sizeof *map);
    if (!map || !table_set_up(map, FIRST_CAPACITY_LOG2)) {
        c2_free(map);
        return c2_fail_memory(err, "a hash map");
    }
    *out = map;
    return C2_OK;
}

void c2_map_destroy(struct c2_map *map)
{
    if (!map)
        return;
    c2_free(map->table);
    c2_free(map);
}

bool c2_map_get(const struct c2_map *map, uint64_t key, uint64_t *value)
{
    if (key == 0) {
        if (map->has_zero)
            *value = map->zero_value;
        return map->has_zero;
    }
    const struct entry *entry = &map->table[map_place_of(map, key)];
    if (entry->key != key)
        return false;
    *value = entry->value;
    return true;
}

static bool map_grow(struct c2_map *map)
{
    struct entry *old = map->table;
    uint64_t old_capacity = map->mask + 1;
    if (!table_set_up(map, c2_log2(old_capacity) + 1))
        return false;
    for (uint64_t i = 0; i < old_capacity; i++) {
        if (old[i].key != 0)
            map->table[map_place_of(map, old[i].key)] = old[i];
    }
    c2_free(old);
    return true;
}

enum c2_status c2_map_put(struct c2_map *map, uint64_t key, uint64_t value, struct c2_error *err)
{
    if (key == 0) {
        map->has_zero = true;
        map->zero_value = value;
        return C2_OK;
    }
    uint64_t at = map_place_of(map, key);
    if (map->table[at].key == 0) {
        if (2 * (map->table_count + 1) > map->mask + 1) {
            if (!map_grow(map))
                return c2_fail_memory(err, "a hash map that grows");
            at = map_place_of(map, key);
        }
        map->table_count++;
    }
    map->table[at] = (struct entry){.key = key, .value = value};
    return C2_OK;
}

/* Closes the gap at `hole`: an entry further on moves into it unless its home lies behind the gap. */
static void close_gap(struct c2_map *map, uint64_t hole)
{
    struct entry *table = map->table;
    for (uint64_t at = (hole + 1) & map->mask; table[at].key != 0; at = (at + 1) & map->mask) {
        uint64_t from_home = (at - home_of(map, table[at].key)) & map->mask;
        uint64_t from_hole = (at - hole) & map->mask;
        if (from_home >= from_hole) {
            table[hole] = table[at];
            hole = at;
        }
    }
    table[hole].key = 0;
}

bool c2_map_remove(struct c2_map *map, uint64_t key)
{
    if (key == 0) {
        bool was_there = map->has_zero;
        map->has_zero = false;
        return was_there;
    }
    uint64_t at = map_place_of(map, key);
    if (map->table[at].key == 0)
        return false;
    close_gap(map, at);
    map->table_count--;
    return true;
}

uint64_t c2_map_count(const struct c2_map *map) { return map->table_count + map->has_zero; }

static int map_by_key(const void *a, const void *b)
{
    const uint64_t first = ((const struct c2_pair *)a)->key, second = ((const struct c2_pair *)b)->key;
    return (first > second) - (first < second);
}

enum c2_status c2_map_list(struct c2_pair **out, const struct c2_map *map, struct c2_error *err)
{
    uint64_t count = 0;
    struct c2_pair *pairs = *out = c2_calloc(c2_map_count(map) + 1, sizeof *pairs);
    if (!pairs)
        return c2_fail_memory(err, "the list of a hash map");
    if (map->has_zero)
        pairs[count++] = (struct c2_pair){0, map->zero_value};
    for (uint64_t at = 0; at <= map->mask; at++) {
        if (map->table[at].key != 0)
            pairs[count++] = (struct c2_pair){map->table[at].key, map->table[at].value};
    }
    qsort(pairs, count, sizeof *pairs, map_by_key);
    return C2_OK;
}

void c2_map_check(const struct c2_map *map)
{
    uint64_t taken = 0;
    for (uint64_t at = 0; at <= map->mask; at++) {
        if (map->table[at].key == 0)
            continue;
        taken++;
        C2_ASSERT(map_place_of(map, map->table[at].key) == at);
    }
    C2_ASSERT(taken == map->table_count);
    C2_ASSERT(2 * taken <= map->mask + 1);
}

void c2_map_dump(const struct c2_map *map, FILE *to)
{
    fprintf(to, "map: %llu keys, capacity %llu\n", (unsigned long long)c2_map_count(map),
            (unsigned long long)map->mask + 1);
    if (map->has_zero)
        fprintf(to, "  0 -> %#llx\n", (unsigned long long)map->zero_value);
    for (uint64_t at = 0; at <= map->mask; at++) {
        if (map->table[at].key != 0)
            fprintf(to, "  [%llu] %#llx -> %#llx\n", (unsigned long long)at, (unsigned long long)map->table[at].key,
                    (unsigned long long)map->table[at].value);
    }
}
