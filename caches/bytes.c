/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bytes: whether a coherence miss was needed - true sharing - or comes of two things that lie in one line: false
 * sharing.
 *
 * Model
 *   From a write that takes a line from a core until the core has the line again, all bytes are remembered that other
 *   cores write in it. The core's coherence miss is true sharing if it accesses one of these, by the access that misses
 *   or by a later one, before its last copy goes; else it is false sharing. So until then, or until the end, a miss may
 *   wait. (Dubois, Skeppstedt, Ricciulli, Ramamurthy, Stenstrom, ISCA 1993: essential and useless misses.)
 *   Both sides of a miss are the access that took the line by a write, and the one that missed; by line and both sides
 *   there are the misses, and the bytes of those accesses.
 *
 * Counting
 *   For a line, from when it is first taken from a core: by core, the bytes that it reads and writes, its losses, its
 *   misses of both kinds. A miss counts where it happens, measured or not, whenever it is known what it was.
 *
 * Invariants
 *   When all is settled true_sharing + false_sharing = coherence_misses of a core; the pairs and the lines sum up to
 *   the same.
 *
 * Cost
 *   A record of 104 bytes a core for each line that was ever taken, and 56 bytes for each pair of two sides in a line.
 */
#include <string.h>

#include "caches/coherence_priv.h"

static uint64_t origin_bytes_of(const struct caches_origin *origin)
{
    C2_PROMISE(origin->bytes >= 1 && origin->first + origin->bytes <= CACHES_MAX_COHERENT_LINE);
    return c2_mask(origin->first, origin->first + origin->bytes - 1);
}

static struct cache_byte_user *user_of(struct cache_coherence *coherence, const struct cache_directed *line,
                                       uint32_t core)
{
    C2_PROMISE(line->record >= 1 && line->record <= coherence->record_count && core < coherence->cores);
    return &coherence->users[(size_t)(line->record - 1) * coherence->cores + core];
}

static bool grow_users(struct cache_coherence *coherence)
{
    if (coherence->record_count < coherence->user_room)
        return true;
    const uint32_t room = coherence->user_room ? 2 * coherence->user_room : 16;
    const size_t bytes = coherence->cores * sizeof *coherence->users;
    struct cache_byte_user *users = c2_realloc(coherence->users, room * bytes);
    if (!users)
        return false;
    coherence->users = users;
    coherence->user_room = room;
    return true;
}

static bool begin_record(struct cache_coherence *coherence, uint32_t slot)
{
    C2_PROMISE(slot < coherence->room);
    struct cache_directed *line = &coherence->lines[slot];
    if (line->record != 0)
        return true;
    if (!grow_users(coherence) || !c2_grow((void **)&coherence->records, &coherence->record_room,
                                           coherence->record_count, sizeof *coherence->records))
        return false;
    coherence->records[coherence->record_count] = (struct cache_byte_line){.slot = slot};
    line->record = ++coherence->record_count;
    memset(user_of(coherence, line, 0), 0, coherence->cores * sizeof *coherence->users);
    return true;
}

/* ------------------------------------------------------------------ what a miss was */

static bool bytes_is_pair(const struct caches_shared_pair *pair, const struct cache_byte_user *user, uint32_t core)
{
    return pair->taker == user->taker && pair->misser == user->misser && pair->taker_core == user->taker_core &&
           pair->misser_core == core;
}

/* NULL: no memory. */
static struct caches_shared_pair *bytes_find_pair(struct cache_coherence *coherence, uint32_t record,
                                                  const struct cache_byte_user *user, uint32_t core)
{
    C2_PROMISE(record < coherence->record_count && coherence->records[record].pairs <= coherence->pair_count);
    uint32_t *first = &coherence->records[record].pairs;
    for (uint32_t at = *first; at != 0; at = coherence->pairs[at - 1].next)
        if (bytes_is_pair(&coherence->pairs[at - 1], user, core))
            return &coherence->pairs[at - 1];
    if (!c2_grow((void **)&coherence->pairs, &coherence->pair_room, coherence->pair_count, sizeof *coherence->pairs))
        return NULL;
    coherence->pairs[coherence->pair_count] = (struct caches_shared_pair){.taker = user->taker,
                                                                          .misser = user->misser,
                                                                          .taker_core = user->taker_core,
                                                                          .misser_core = core,
                                                                          .next = *first};
    *first = ++coherence->pair_count;
    return &coherence->pairs[*first - 1];
}

/* What waits is true sharing or not. */
static bool bytes_settle(struct cache_coherence *coherence, uint32_t record, uint32_t core, bool truly)
{
    C2_PROMISE(record < coherence->record_count && core < coherence->cores);
    struct cache_byte_user *user = &coherence->users[(size_t)record * coherence->cores + core];
    if (!user->waits)
        return true;
    user->waits = false;
    if (!user->measured)
        return true;
    struct caches_shared_pair *pair = bytes_find_pair(coherence, record, user, core);
    if (!pair)
        return false;
    pair->taker_bytes |= user->taker_bytes;
    pair->misser_bytes |= user->miss_bytes;
    *(truly ? &pair->true_sharing : &pair->false_sharing) += 1;
    *(truly ? &user->sums.true_sharing : &user->sums.false_sharing) += 1;
    *(truly ? &coherence->counts[core].true_sharing : &coherence->counts[core].false_sharing) += 1;
    return true;
}

/* ------------------------------------------------------------------ what happens to a line */

bool cache_bytes_taken(struct cache_coherence *coherence, uint32_t slot, uint32_t core)
{
    C2_PROMISE(core != coherence->origin.core);
    const struct caches_origin *by = &coherence->origin;
    if (!begin_record(coherence, slot))
        return false;
    const struct cache_directed *line = &coherence->lines[slot];
    struct cache_byte_user *user = user_of(coherence, line, core);
    if (!(line->lost & cache_core_bit(core)))
        user->foreign = 0;
    user->taker = by->tag;
    user->taker_core = by->core;
    user->taker_bytes = origin_bytes_of(by);
    user->sums.losses += coherence->measuring;
    return true;
}

void cache_bytes_written(struct cache_coherence *coherence, const struct cache_directed *line)
{
    C2_PROMISE(line->record != 0 && coherence->lines[coherence->records[line->record - 1].slot].record == line->record);
    const uint64_t me = cache_core_bit(coherence->origin.core), bytes = origin_bytes_of(&coherence->origin);
    for (uint64_t cores = line->lost & ~me; cores != 0; cores &= cores - 1)
        user_of(coherence, line, (uint32_t)__builtin_ctzll(cores))->foreign |= bytes;
}

bool cache_bytes_accessed(struct cache_coherence *coherence, const struct cache_directed *line, bool write, bool missed)
{
    C2_PROMISE(line->record != 0 && (line->lost & line->sharers) == 0);
    const struct caches_origin *by = &coherence->origin;
    struct cache_byte_user *user = user_of(coherence, line, by->core);
    const uint64_t bytes = origin_bytes_of(by);
    if (coherence->measuring)
        *(write ? &user->sums.written : &user->sums.read) |= bytes;
    if (missed) {
        if (!bytes_settle(coherence, line->record - 1, by->core, false))
            return false;
        user->waits = true;
        user->measured = coherence->measuring;
        user->misser = by->tag;
        user->miss_bytes = bytes;
    }
    return !user->waits || !(user->foreign & bytes) || bytes_settle(coherence, line->record - 1, by->core, true);
}

bool cache_bytes_left(struct cache_coherence *coherence, const struct cache_directed *line, uint32_t core)
{
    return line->record == 0 || bytes_settle(coherence, line->record - 1, core, false);
}

bool cache_bytes_settle(struct cache_coherence *coherence)
{
    bool done = true;
    for (uint32_t record = 0; record < coherence->record_count; record++)
        for (uint32_t core = 0; core < coherence->cores; core++)
            done &= bytes_settle(coherence, record, core, false);
    return done;
}

/* ------------------------------------------------------------------ for others */

enum c2_status caches_settle_shared(struct caches *caches, struct c2_error *err)
{
    C2_ASSERT(caches->coherence);
    return cache_bytes_settle(caches->coherence) ? C2_OK : c2_fail_memory(err, "what cores share");
}

void caches_drop_shared(struct caches *caches)
{
    C2_ASSERT(caches->coherence && caches->coherence->counts && caches->coherence->levels);
    struct cache_coherence *coherence = caches->coherence;
    memset(coherence->counts, 0, coherence->cores * sizeof *coherence->counts);
    memset(coherence->levels, 0, (size_t)coherence->cores * coherence->own_nodes * sizeof *coherence->levels);
    coherence->pair_count = 0;
    for (uint32_t record = 0; record < coherence->record_count; record++)
        coherence->records[record].pairs = 0;
    for (size_t i = 0; i < (size_t)coherence->record_count * coherence->cores; i++) {
        coherence->users[i].sums = (struct caches_shared_user){0};
        coherence->users[i].measured = false;
    }
}

size_t caches_shared_count(const struct caches *caches) { return caches->coherence->record_count; }

struct caches_shared_line caches_shared_at(const struct caches *caches, size_t i)
{
    C2_ASSERT(i < caches->coherence->record_count);
    const struct cache_coherence *coherence = caches->coherence;
    const struct cache_byte_line *record = &coherence->records[i];
    return (struct caches_shared_line){.line = {cache_lines_line(&caches->lines, record->slot)},
                                       .pairs = record->pairs};
}

struct caches_shared_user caches_shared_by(const struct caches *caches, size_t i, uint32_t core)
{
    C2_ASSERT(i < caches->coherence->record_count && core < caches->coherence->cores);
    return caches->coherence->users[i * caches->coherence->cores + core].sums;
}

const struct caches_shared_pair *caches_shared_pair(const struct caches *caches, uint32_t pair)
{
    C2_ASSERT(pair >= 1 && pair <= caches->coherence->pair_count);
    return &caches->coherence->pairs[pair - 1];
}
