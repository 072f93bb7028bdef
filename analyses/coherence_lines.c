/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * coherence_lines: shared lines, objects and pairs of instructions put in order, and the padding that would help.
 *
 * Padding
 *   Misses of false sharing have two sides each, and these the bytes of their accesses. Where those of each core, from
 *   the first byte to the last, overlap with no other's, the pieces begin at some distances; so many bytes more, behind
 *   each piece, make the least of them a whole line. Where they overlap no padding does.
 */
#include <stdlib.h>

#include "analyses/coherence.h"

void coherence_found_free(struct coherence_found *found)
{
    c2_free(found->lines);
    c2_free(found->users);
    c2_free(found->pairs);
    c2_free(found->sites);
    c2_free(found->objects);
}

/* ------------------------------------------------------------------ padding */

/* The bytes by core, of both sides of the line's misses of false sharing. */
static void find_bytes(uint64_t bytes[CACHES_MAX_CORES], const struct coherence_pair *pairs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (pairs[i].false_sharing != 0) {
            bytes[pairs[i].misser_core] |= pairs[i].misser_bytes;
            bytes[pairs[i].taker_core] |= pairs[i].taker_bytes;
        }
}

static unsigned coherence_lines_first_of(uint64_t bytes) { return (unsigned)__builtin_ctzll(bytes); }

/* Of those that begin at `from` or behind, those that begin first; 0: none do. */
static uint64_t next_bytes(const uint64_t bytes[CACHES_MAX_CORES], unsigned from)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < CACHES_MAX_CORES; i++)
        if (bytes[i] != 0 && coherence_lines_first_of(bytes[i]) >= from &&
            (next == 0 || coherence_lines_first_of(bytes[i]) < coherence_lines_first_of(next)))
            next = bytes[i];
    return next;
}

uint32_t coherence_padding(const struct coherence_pair *pairs, uint32_t count, uint32_t line_bytes)
{
    uint64_t bytes[CACHES_MAX_CORES] = {0};
    uint32_t least = line_bytes, pieces = 0, used = 0;
    find_bytes(bytes, pairs, count);
    for (uint32_t i = 0; i < CACHES_MAX_CORES; i++)
        used += bytes[i] != 0;
    for (uint64_t at = next_bytes(bytes, 0), next; at != 0; at = next, pieces++) {
        const unsigned last = c2_log2(at);
        next = last == 63 ? 0 : next_bytes(bytes, last + 1);
        if (next != 0 && coherence_lines_first_of(next) - coherence_lines_first_of(at) < least)
            least = coherence_lines_first_of(next) - coherence_lines_first_of(at);
    }
    return pieces == used ? line_bytes - least : 0; /* else some begin within others */
}

/* ------------------------------------------------------------------ order */

static int coherence_lines_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int coherence_lines_by_misses(uint64_t false_a, uint64_t true_a, uint64_t false_b, uint64_t true_b)
{
    return false_a != false_b ? coherence_lines_compare(false_b, false_a) : coherence_lines_compare(true_b, true_a);
}

static int order_lines(const void *left, const void *right)
{
    const struct coherence_line *a = left, *b = right;
    const int order = coherence_lines_by_misses(a->false_sharing, a->true_sharing, b->false_sharing, b->true_sharing);
    return order != 0 ? order : coherence_lines_compare(a->va.v, b->va.v);
}

static int coherence_lines_order_objects(const void *left, const void *right)
{
    const struct coherence_object *a = left, *b = right;
    const int order = coherence_lines_by_misses(a->false_sharing, a->true_sharing, b->false_sharing, b->true_sharing);
    return order != 0 ? order : coherence_lines_compare(a->object, b->object);
}

static int coherence_lines_by_place(const void *left, const void *right)
{
    const struct coherence_pair *a = left, *b = right;
    const uint64_t keys[4][2] = {{a->misser.v, b->misser.v},
                                 {a->taker.v, b->taker.v},
                                 {a->misser_core, b->misser_core},
                                 {a->taker_core, b->taker_core}};
    unsigned i = 0;
    while (i < 3 && keys[i][0] == keys[i][1])
        i++;
    return coherence_lines_compare(keys[i][0], keys[i][1]);
}

static int coherence_lines_order_pairs(const void *left, const void *right)
{
    const struct coherence_pair *a = left, *b = right;
    const int order = coherence_lines_by_misses(a->false_sharing, a->true_sharing, b->false_sharing, b->true_sharing);
    return order != 0 ? order : coherence_lines_by_place(left, right);
}

/* ------------------------------------------------------------------ lines */

/* Where a list of all lines' stands. */
struct filling {
    const struct sim *sim;
    struct coherence_user *user;
    struct coherence_pair *pair;
};

static void fill_users(struct coherence_line *line, struct filling *to, size_t i, uint32_t cores)
{
    line->users = to->user;
    for (uint32_t core = 0; core < cores; core++) {
        const struct caches_shared_user of = caches_shared_by(sim_caches(to->sim), i, core);
        if ((of.read | of.written) == 0 && of.losses == 0)
            continue;
        *to->user++ = (struct coherence_user){core, of};
        line->true_sharing += of.true_sharing;
        line->false_sharing += of.false_sharing;
    }
    line->user_count = (uint32_t)(to->user - line->users);
}

/* Several code numbers may be of one instruction. */
static uint32_t coherence_lines_merge(struct coherence_pair *pairs, uint32_t count)
{
    uint32_t merged = 0;
    qsort(pairs, count, sizeof *pairs, coherence_lines_by_place);
    for (uint32_t i = 0; i < count; i++) {
        if (merged == 0 || coherence_lines_by_place(&pairs[merged - 1], &pairs[i]) != 0) {
            pairs[merged++] = pairs[i];
            continue;
        }
        pairs[merged - 1].misser_bytes |= pairs[i].misser_bytes;
        pairs[merged - 1].taker_bytes |= pairs[i].taker_bytes;
        pairs[merged - 1].true_sharing += pairs[i].true_sharing;
        pairs[merged - 1].false_sharing += pairs[i].false_sharing;
    }
    qsort(pairs, merged, sizeof *pairs, coherence_lines_order_pairs);
    return merged;
}

static void fill_pairs(struct coherence_line *line, struct filling *to, uint32_t first)
{
    struct coherence_pair *pairs = to->pair;
    for (uint32_t at = first; at != 0; at = caches_shared_pair(sim_caches(to->sim), at)->next) {
        const struct caches_shared_pair *pair = caches_shared_pair(sim_caches(to->sim), at);
        *to->pair++ = (struct coherence_pair){.misser_core = pair->misser_core,
                                              .taker_core = pair->taker_core,
                                              .misser = sim_code_at(to->sim, pair->misser).pc,
                                              .taker = sim_code_at(to->sim, pair->taker).pc,
                                              .misser_bytes = pair->misser_bytes,
                                              .taker_bytes = pair->taker_bytes,
                                              .true_sharing = pair->true_sharing,
                                              .false_sharing = pair->false_sharing};
    }
    line->pair_count = coherence_lines_merge(pairs, (uint32_t)(to->pair - pairs));
    line->pairs = pairs;
    to->pair = pairs + line->pair_count;
}

static size_t pairs_of_all(const struct caches *caches)
{
    size_t count = 0;
    for (size_t i = 0; i < caches_shared_count(caches); i++)
        for (uint32_t at = caches_shared_at(caches, i).pairs; at != 0; at = caches_shared_pair(caches, at)->next)
            count++;
    return count;
}

static void fill_lines(struct analyses_coherence_result *out, struct coherence_found *found, const struct sim *sim,
                       const struct coherence_named *named)
{
    const struct caches *caches = sim_caches(sim);
    struct filling to = {sim, found->users, found->pairs};
    for (size_t i = 0; i < caches_shared_count(caches); i++) {
        const struct caches_shared_line shared = caches_shared_at(caches, i);
        struct coherence_line *line = &found->lines[out->line_count];
        if (shared.pairs == 0)
            continue;
        *line = (struct coherence_line){.va = named[i].va, .object = named[i].object};
        fill_users(line, &to, i, out->core_count);
        fill_pairs(line, &to, shared.pairs);
        line->padding = coherence_padding(line->pairs, line->pair_count, caches_machine(caches)->line_bytes);
        out->line_count++;
    }
    qsort(found->lines, out->line_count, sizeof *found->lines, order_lines);
    out->lines = found->lines;
}

/* ------------------------------------------------------------------ sums of them */

/* No byte is written by several cores: what one reads of another is handed over to it. */
static bool has_one_writer(const struct coherence_line *line)
{
    uint64_t written = 0, twice = 0;
    for (uint32_t i = 0; i < line->user_count; i++) {
        twice |= written & line->users[i].of.written;
        written |= line->users[i].of.written;
    }
    return twice == 0;
}

static void fill_objects(struct analyses_coherence_result *out, struct coherence_found *found, uint32_t *number_of)
{
    for (size_t i = 0; i < out->line_count; i++) {
        const struct coherence_line *line = &out->lines[i];
        uint32_t *number = &number_of[line->object == COHERENCE_NOBODY ? 0 : line->object + 1];
        if (*number == 0) {
            found->objects[out->object_count] = (struct coherence_object){.object = line->object};
            *number = (uint32_t)++out->object_count;
        }
        struct coherence_object *object = &found->objects[*number - 1];
        object->lines++;
        object->true_sharing += line->true_sharing;
        object->false_sharing += line->false_sharing;
        object->handed_over += has_one_writer(line) ? line->true_sharing : 0;
        object->padding = line->padding > object->padding ? line->padding : object->padding;
    }
    qsort(found->objects, out->object_count, sizeof *found->objects, coherence_lines_order_objects);
    out->objects = found->objects;
}

/* The bytes of different lines have nothing to do with each other. */
static void fill_sites(struct analyses_coherence_result *out, struct coherence_found *found)
{
    size_t count = 0;
    for (size_t i = 0; i < out->line_count; i++)
        for (uint32_t k = 0; k < out->lines[i].pair_count; k++) {
            found->sites[count] = out->lines[i].pairs[k];
            found->sites[count].misser_core = found->sites[count].taker_core = 0;
            found->sites[count].misser_bytes = found->sites[count].taker_bytes = 0;
            count++;
        }
    out->site_count = coherence_lines_merge(found->sites, (uint32_t)count);
    out->sites = found->sites;
}

enum c2_status coherence_find_lines(struct analyses_coherence_result *out, struct coherence_found *found,
                                    const struct sim *sim, const struct coherence_named *named, struct c2_error *err)
{
    const struct caches *caches = sim_caches(sim);
    const size_t lines = caches_shared_count(caches), pairs = pairs_of_all(caches);
    uint32_t objects = 1;
    for (size_t i = 0; i < lines; i++)
        if (named[i].object != COHERENCE_NOBODY && named[i].object + 2 > objects)
            objects = named[i].object + 2;
    uint32_t *number_of = c2_calloc(objects, sizeof *number_of);
    found->lines = c2_calloc(lines + 1, sizeof *found->lines);
    found->users = c2_calloc(lines * out->core_count + 1, sizeof *found->users);
    found->pairs = c2_calloc(pairs + 1, sizeof *found->pairs);
    found->sites = c2_calloc(pairs + 1, sizeof *found->sites);
    found->objects = c2_calloc(objects, sizeof *found->objects);
    const bool room = number_of && found->lines && found->users && found->pairs && found->sites && found->objects;
    if (room) {
        fill_lines(out, found, sim, named);
        fill_objects(out, found, number_of);
        fill_sites(out, found);
    }
    c2_free(number_of);
    return room ? C2_OK : c2_fail_memory(err, "what cores share");
}
