/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names, each kept once.
 *
 * Model
 *   A map from the hash of a text to the newest of the names with that hash, which are chained.
 * Invariants
 *   Equal texts give the same address for the life of the set: code that aggregates by function may compare pointers.
 * Source
 *   FNV-1a (Fowler, Noll, Vo), 64 bits.
 */
#include "loader/symbols_priv.h"

#include <string.h>

struct name {
    struct name *chain; /* same hash, older */
    size_t bytes;
    char text[];
};

struct loader_names {
    struct c2_map *by_hash;
    size_t count;
    size_t room;
    struct name **all; /* for destroy */
};

static uint64_t names_hash_of(const char *text, size_t bytes)
{
    const uint64_t hash = c2_hash(text, bytes);
    return C2_HOST_SIZE(hash, hash % 2);
}

enum c2_status loader_names_create(struct loader_names **out, struct c2_error *err)
{
    *out = NULL;
    struct loader_names *names = c2_calloc(1, sizeof *names);
    if (!names)
        return c2_fail_memory(err, "names");
    enum c2_status status = c2_map_create(&names->by_hash, err);
    if (status == C2_OK)
        *out = names;
    else
        loader_names_destroy(names);
    return status;
}

void loader_names_destroy(struct loader_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->count; i++)
        c2_free(names->all[i]);
    c2_free(names->all);
    c2_map_destroy(names->by_hash);
    c2_free(names);
}

static bool names_make_room(struct loader_names *names)
{
    if (names->count < names->room)
        return true;
    size_t room = names->room ? 2 * names->room : C2_HOST_SIZE(64u, 1u);
    struct name **grown = c2_realloc(names->all, room * sizeof *grown);
    if (!grown)
        return false;
    names->all = grown;
    names->room = room;
    return true;
}

static const char *names_add(struct loader_names *names, uint64_t hash, struct name *chain, const char *text,
                             size_t bytes)
{
    struct name *name = names_make_room(names) ? c2_alloc(sizeof *name + bytes + 1) : NULL;
    if (!name)
        return NULL;
    *name = (struct name){.chain = chain, .bytes = bytes};
    memcpy(name->text, text, bytes);
    name->text[bytes] = '\0';
    if (c2_map_put(names->by_hash, hash, (uintptr_t)name, NULL) != C2_OK) {
        c2_free(name);
        return NULL;
    }
    names->all[names->count++] = name;
    return name->text;
}

const char *loader_names_keep(struct loader_names *names, const char *text, size_t bytes)
{
    uint64_t hash = names_hash_of(text, bytes), found = 0;
    struct name *newest = c2_map_get(names->by_hash, hash, &found) ? (struct name *)(uintptr_t)found : NULL;
    for (struct name *at = newest; at; at = at->chain)
        if (at->bytes == bytes && memcmp(at->text, text, bytes) == 0)
            return at->text;
    return names_add(names, hash, newest, text, bytes);
}

size_t loader_names_count(const struct loader_names *names) { return names->count; }
