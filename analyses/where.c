/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * where: what a reference is counted for.
 *
 * Model
 *   A spot is an instruction (by its code number) together with an owner, as objects.c has them: what the profile calls
 *   an access site, but for all that is referred to, not only what missed, and whatever the profile does. Owners become
 *   objects when the profile is finished; so several spots may become one row.
 *   What an instruction did last is remembered with the extent in which the answer holds, until the profile's epoch
 *   says that objects may have changed.
 *
 * Invariants
 *   The same stream gives the same numbers. Each spot has a code number and an owner of its own.
 */
#include "analyses/where.h"

#include <stdlib.h>

#include "analyses/profile_priv.h"

struct pair {
    uint32_t code, owner;
};

/* What an instruction did to data last: all of [start, start + bytes) is the same spot. */
struct last {
    uint64_t start, bytes, epoch; /* epoch 0: it did nothing yet */
    uint32_t spot;
};

struct where {
    struct profile *profile;
    struct pair *pairs; /* [spot] */
    uint32_t count, room;
    struct c2_map *spot_of; /* code, owner -> spot */
    struct last *last;      /* [code] */
    uint32_t code_room;
};

enum c2_status where_create(struct where **out, const struct analyses *analyses, struct c2_error *err)
{
    struct analysis *profile = analyses_find(analyses, ANALYSIS_profile);
    C2_ASSERT(profile);
    *out = NULL;
    struct where *where = c2_calloc(1, sizeof *where);
    if (!where)
        return c2_fail_memory(err, "the table of references by instruction and object");
    where->profile = (struct profile *)profile;
    enum c2_status status = c2_map_create(&where->spot_of, err);
    if (status == C2_OK)
        *out = where;
    else
        where_destroy(where);
    return status;
}

void where_destroy(struct where *where)
{
    if (!where)
        return;
    c2_map_destroy(where->spot_of);
    c2_free(where->pairs);
    c2_free(where->last);
    c2_free(where);
}

uint32_t where_count(const struct where *where) { return where->count; }

/* ------------------------------------------------------------------ while simulated */

static enum c2_status where_reach_code(struct where *where, uint32_t code, struct c2_error *err)
{
    if (code < where->code_room)
        return C2_OK;
    uint32_t i = where->code_room;
    if (!c2_reach((void **)&where->last, &where->code_room, code, sizeof *where->last, C2_HOST_SIZE(16384u, 1u)))
        return c2_fail_memory(err, "the table of references by instruction and object");
    for (; i < where->code_room; i++)
        where->last[i] = (struct last){.epoch = 0};
    return C2_OK;
}

static enum c2_status number_pair(struct where *where, uint32_t code, uint32_t owner, uint32_t *spot,
                                  struct c2_error *err)
{
    const uint64_t key = (uint64_t)code << 32 | owner;
    uint64_t found;
    if (c2_map_get(where->spot_of, key, &found)) {
        *spot = (uint32_t)found;
        return C2_OK;
    }
    if (!c2_grow((void **)&where->pairs, &where->room, where->count, sizeof *where->pairs))
        return c2_fail_memory(err, "the table of references by instruction and object");
    *spot = where->count;
    enum c2_status status = c2_map_put(where->spot_of, key, *spot, err);
    if (status == C2_OK)
        where->pairs[where->count++] = (struct pair){code, owner};
    return status;
}

static enum c2_status where_search(struct where *where, uint32_t code, enum sim_kind kind, struct guest_va va,
                                   uint32_t *spot, struct c2_error *err)
{
    struct objects_found found;
    enum c2_status status = profile_owner(where->profile, kind, va, &found, err);
    if (status == C2_OK)
        status = number_pair(where, code, found.owner, spot, err);
    if (status == C2_OK)
        status = where_reach_code(where, code, err);
    if (status == C2_OK && kind <= SIM_WRITE)
        where->last[code] = (struct last){found.start, found.end - found.start, where->profile->last.epoch, *spot};
    return status;
}

/* C2_PROMISE: what the objects say now. */
static bool where_holds(const struct where *where, uint32_t spot, struct guest_va va)
{
    struct objects_found found;
    objects_find(where->profile->objects, va.v, &found);
    return found.owner == where->pairs[spot].owner;
}

enum c2_status where_spot(struct where *where, uint32_t code, enum sim_kind kind, struct guest_va va, uint32_t *spot,
                          struct c2_error *err)
{
    if (!SHORTCUT(kind <= SIM_WRITE && code < where->code_room &&
                  where->last[code].epoch == where->profile->last.epoch &&
                  va.v - where->last[code].start < where->last[code].bytes))
        return where_search(where, code, kind, va, spot, err);
    *spot = where->last[code].spot;
    C2_PROMISE(where_holds(where, *spot, va));
    return C2_OK;
}

/* ------------------------------------------------------------------ when the run is over */

static int where_by_row(const void *left, const void *right)
{
    const struct where_row *a = left, *b = right;
    if (a->insn != b->insn)
        return a->insn < b->insn ? -1 : 1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->spot < b->spot ? -1 : a->spot > b->spot;
}

enum c2_status where_rows(struct where_row **out, size_t *count, const struct where *where, struct c2_error *err)
{
    struct where_row *rows = *out = c2_alloc((where->count + (size_t)1) * sizeof *rows);
    *count = 0;
    if (!rows)
        return c2_fail_memory(err, "references by instruction and object");
    for (uint32_t i = 0; i < where->count; i++) {
        const struct where_row row = {where_insn(&where->profile->base, where->pairs[i].code),
                                      profile_object(where->profile, where->pairs[i].owner), i};
        if (row.insn != WHERE_NOWHERE && row.object != WHERE_NOWHERE)
            rows[(*count)++] = row;
    }
    qsort(rows, *count, sizeof *rows, where_by_row);
    return C2_OK;
}

uint32_t where_access_site_row(const struct analysis *profile, uint32_t access_site)
{
    return profile_row((const struct profile *)profile, access_site);
}

uint32_t where_insn(const struct analysis *profile, uint32_t code)
{
    return profile_insn((const struct profile *)profile, code);
}
