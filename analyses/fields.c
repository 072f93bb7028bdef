/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fields: which fields of structures the used bytes of lines are.
 *
 * Model
 *   Debug information says of some objects that they are structures, or arrays of them: static variables, and blocks
 *   that a variable takes which points to such (loader/structs.c). An object whose size is no multiple of the
 *   structure's is none. A line is cut into pieces, one for each such object that has bytes of it, by what lies there
 *   when its residency ends, and of the other bytes by what lay there when it began: a block may be freed meanwhile, or
 *   allocated, as the allocator loads lines before it gives them away. The bytes of each piece count for their place in
 *   the structure, loaded, and used if they were touched during the residency.
 *   Structures of one name with the same fields are one, whatever unit describes them.
 *
 * Counting
 *   Bytes, by level: sums over the residencies that count. What the allocator writes into freed blocks counts as use.
 *
 * Not modelled
 *   Memory that is freed and given to another object during a residency: its bytes count for the last one. Arrays on
 *   the stack: their lines are mostly there before them and stay behind, and which access touched which bytes is not
 *   known.
 *
 * Price
 *   Two searches among the objects for each line that comes into a level; 24 bytes for each piece of each line there,
 *   and 16 for each byte of each structure and level.
 */
#include "analyses/fields_priv.h"
#include "analyses/residencies_priv.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, NONE, FIRST }; /* of an owner: FIRST + i: it has structure i */

/* Some bytes of a line. */
struct piece {
    uint32_t next;   /* of the same line, or of those that are unused; 0: none */
    uint32_t number; /* of the structure */
    uint32_t owner;
    uint32_t offset;      /* of its first byte in the structure */
    uint16_t from, bytes; /* in the line */
};

struct counted { /* of a byte at a level */
    uint64_t loaded, used;
};

struct structure {
    const struct loader_struct *of;
    struct counted *bytes; /* [level * of->bytes + byte] */
};

struct fields {
    const struct profile *profile;
    uint32_t levels, line_bytes;
    uint32_t *of_owner; /* [owner] */
    uint64_t *loaded;   /* [owner]: bytes, at all levels */
    uint32_t owner_room, loaded_room;
    struct structure *structures;
    uint32_t count, room;
    struct piece *pieces; /* [0] is none */
    uint32_t piece_count, piece_room, unused, alive;
    struct analyses_line_use_struct *result;
    struct analyses_line_use_field *result_fields;
    struct analyses_line_use_bytes *result_bytes;
};

/* ------------------------------------------------------------------ life */

static enum c2_status fields_no_memory(struct c2_error *err) { return c2_fail_memory(err, "the use of fields"); }

enum c2_status fields_create(struct fields **out, const struct profile *profile, uint32_t levels, struct c2_error *err)
{
    struct fields *fields = *out = c2_calloc(1, sizeof *fields);
    if (!fields)
        return fields_no_memory(err);
    fields->profile = profile;
    fields->levels = levels;
    fields->line_bytes = profile->machine->line_bytes;
    fields->piece_count = 1;
    return C2_OK;
}

void fields_destroy(struct fields *fields)
{
    if (!fields)
        return;
    for (uint32_t i = 0; i < fields->count; i++)
        c2_free(fields->structures[i].bytes);
    c2_free(fields->structures);
    c2_free(fields->of_owner);
    c2_free(fields->loaded);
    c2_free(fields->pieces);
    c2_free(fields->result);
    c2_free(fields->result_fields);
    c2_free(fields->result_bytes);
    c2_free(fields);
}

/* ------------------------------------------------------------------ whose type */

/* The first thing that takes the block and has a type. */
static const struct loader_struct *struct_of_block(const struct fields *fields, uint32_t owner)
{
    uint64_t words[STREAM_CALLERS];
    struct loader_symbols *symbols = fields->profile->symbols;
    const uint32_t count = objects_sites(fields->profile->objects, owner, words);
    struct analyses_object object = {
        .site_count = count,
        .allocator = (enum stream_allocator)objects_owner(fields->profile->objects, owner)->allocator};
    if (count == 0)
        return NULL;
    sites_choose(symbols, words, &object);
    const struct guest_va site = {words[object.site_shown] & ~STREAM_ASSUMED};
    return object.receiver ? loader_struct_of(symbols, loader_receiver_type(symbols, site), true) : NULL;
}

static const struct loader_struct *fields_struct_of(const struct fields *fields, uint32_t number)
{
    const struct objects_owner *owner = objects_owner(fields->profile->objects, number);
    struct loader_symbols *symbols = fields->profile->symbols;
    if (!symbols)
        return NULL;
    if (owner->allocated)
        return struct_of_block(fields, number);
    const struct loader_struct *of = owner->kind == ANALYSES_STATIC && !owner->is_local
                                         ? loader_struct_of(symbols, loader_variable_type(symbols, owner->variable),
                                                            false)
                                         : NULL;
    return of && of->bytes <= LOADER_STRUCT_BYTES ? of : NULL; /* a common block may be too large to be counted */
}

static bool fields_is_same(const struct loader_struct *a, const struct loader_struct *b)
{
    bool same = a->bytes == b->bytes && a->field_count == b->field_count && strcmp(a->name, b->name) == 0;
    for (uint32_t i = 0; same && i < a->field_count; i++)
        same = a->fields[i].start == b->fields[i].start && a->fields[i].bytes == b->fields[i].bytes &&
               strcmp(a->fields[i].name, b->fields[i].name) == 0;
    return same;
}

static enum c2_status number_struct(struct fields *fields, const struct loader_struct *of, uint32_t *out,
                                    struct c2_error *err)
{
    uint32_t i = 0;
    while (i < fields->count && fields->structures[i].of != of && !fields_is_same(fields->structures[i].of, of))
        i++;
    *out = FIRST + i;
    if (i < fields->count)
        return C2_OK;
    if (!c2_grow((void **)&fields->structures, &fields->room, fields->count, sizeof *fields->structures))
        return fields_no_memory(err);
    struct counted *bytes = c2_calloc((size_t)of->bytes * fields->levels, sizeof *bytes);
    if (!bytes)
        return fields_no_memory(err);
    fields->structures[fields->count++] = (struct structure){of, bytes};
    return C2_OK;
}

static bool reach_owner(struct fields *fields, uint32_t owner)
{
    uint32_t i = fields->owner_room;
    if (owner >= fields->owner_room && !c2_reach((void **)&fields->of_owner, &fields->owner_room, owner,
                                                 sizeof *fields->of_owner, C2_HOST_SIZE(256u, 1u)))
        return false;
    for (; i < fields->owner_room; i++)
        fields->of_owner[i] = UNKNOWN;
    i = fields->loaded_room;
    if (owner >= fields->loaded_room && !c2_reach((void **)&fields->loaded, &fields->loaded_room, owner,
                                                  sizeof *fields->loaded, C2_HOST_SIZE(256u, 1u)))
        return false;
    for (; i < fields->loaded_room; i++)
        fields->loaded[i] = 0;
    return true;
}

static enum c2_status know_owner(struct fields *fields, uint32_t owner, uint32_t *out, struct c2_error *err)
{
    if (!reach_owner(fields, owner))
        return fields_no_memory(err);
    *out = fields->of_owner[owner];
    if (*out != UNKNOWN)
        return C2_OK;
    const struct loader_struct *of = fields_struct_of(fields, owner);
    enum c2_status status = C2_OK;
    *out = NONE;
    if (of)
        status = number_struct(fields, of, out, err);
    fields->of_owner[owner] = *out;
    return status;
}

/* ------------------------------------------------------------------ pieces */

static uint32_t new_piece(struct fields *fields)
{
    const uint32_t piece = fields->unused;
    if (piece != 0) {
        fields->unused = fields->pieces[piece].next;
        return piece;
    }
    if (fields->piece_count >= fields->piece_room &&
        !c2_reach((void **)&fields->pieces, &fields->piece_room, fields->piece_count, sizeof *fields->pieces,
                  C2_HOST_SIZE(256u, 2u)))
        return 0;
    return fields->piece_count++;
}

/* The object's own extent; of a static variable found there may be a part. */
static uint64_t fields_base_of(const struct fields *fields, const struct objects_found *found, uint64_t *bytes)
{
    const struct objects_owner *owner = objects_owner(fields->profile->objects, found->owner);
    const bool whole = owner->kind == ANALYSES_STATIC && !owner->is_local;
    *bytes = whole ? owner->bytes : found->end - found->start;
    return whole ? owner->base : found->start;
}

/* [va, end) of the line at `start` is found's. */
static enum c2_status add_piece(struct fields *fields, const struct objects_found *found, uint64_t start, uint64_t va,
                                uint64_t end, uint32_t *pieces, struct c2_error *err)
{
    uint32_t number = NONE;
    uint64_t bytes;
    const uint64_t base = fields_base_of(fields, found, &bytes);
    enum c2_status status = know_owner(fields, found->owner, &number, err);
    if (status != C2_OK || number < FIRST || va < base)
        return status;
    const uint32_t size = fields->structures[number - FIRST].of->bytes;
    if (bytes % size != 0)
        return C2_OK;
    const uint32_t piece = new_piece(fields);
    if (piece == 0)
        return fields_no_memory(err);
    fields->pieces[piece] = (struct piece){.next = *pieces,
                                           .number = number - FIRST,
                                           .owner = found->owner,
                                           .offset = (uint32_t)((va - base) % size),
                                           .from = (uint16_t)(va - start),
                                           .bytes = (uint16_t)(end - va)};
    *pieces = piece;
    fields->alive++;
    return C2_OK;
}

enum c2_status fields_begin(struct fields *fields, uint64_t va, uint32_t *pieces, struct c2_error *err)
{
    const uint64_t start = va & ~(uint64_t)(fields->line_bytes - 1), end = start + fields->line_bytes;
    enum c2_status status = C2_OK;
    *pieces = 0;
    for (uint64_t at = start, next; at < end && status == C2_OK; at = next) {
        struct objects_found found;
        objects_find(fields->profile->objects, at, &found);
        next = found.end < end ? found.end : end;
        status = add_piece(fields, &found, start, at, next, pieces, err);
    }
    return status;
}

static bool has_bit(const uint64_t *mask, uint32_t i) { return mask[i / 64] >> i % 64 & 1; }

/* But for the bytes in `others`. */
static void count_piece(struct fields *fields, uint32_t level, const struct piece *piece, const uint64_t *mask,
                        const uint64_t *others)
{
    const struct structure *structure = &fields->structures[piece->number];
    struct counted *bytes = &structure->bytes[(size_t)level * structure->of->bytes];
    uint32_t at = piece->offset;
    for (uint32_t i = piece->from; i < piece->from + (uint32_t)piece->bytes; i++) {
        const bool mine = !has_bit(others, i);
        bytes[at].loaded += mine;
        bytes[at].used += mine && has_bit(mask, i);
        fields->loaded[piece->owner] += mine;
        at = at + 1 == structure->of->bytes ? 0 : at + 1;
    }
}

static void fields_count_pieces(struct fields *fields, uint32_t level, uint32_t pieces, const uint64_t *mask,
                                uint64_t *others)
{
    for (uint32_t i = pieces; i != 0; i = fields->pieces[i].next)
        count_piece(fields, level, &fields->pieces[i], mask, others);
    for (uint32_t i = pieces; i != 0; i = fields->pieces[i].next)
        residencies_mask_add(others, fields->pieces[i].from, fields->pieces[i].bytes);
}

static void fields_give_back(struct fields *fields, uint32_t pieces)
{
    while (pieces != 0) {
        const uint32_t next = fields->pieces[pieces].next;
        fields->pieces[pieces].next = fields->unused;
        fields->unused = pieces;
        fields->alive--;
        pieces = next;
    }
}

enum c2_status fields_end(struct fields *fields, uint32_t level, uint64_t va, uint32_t before, const uint64_t *mask,
                          struct c2_error *err)
{
    uint64_t others[C2_PAGE_BYTES / 64]; /* a line is a page at most */
    uint32_t now = 0;
    memset(others, 0, (fields->line_bytes + 63) / 64 * sizeof *others);
    enum c2_status status = mask ? fields_begin(fields, va, &now, err) : C2_OK;
    if (mask && status == C2_OK) {
        fields_count_pieces(fields, level, now, mask, others);
        fields_count_pieces(fields, level, before, mask, others);
    }
    fields_give_back(fields, now);
    fields_give_back(fields, before);
    return status;
}

void fields_drop(struct fields *fields)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct structure *structure = &fields->structures[i];
        memset(structure->bytes, 0, (size_t)structure->of->bytes * fields->levels * sizeof *structure->bytes);
    }
    for (uint32_t i = 0; i < fields->loaded_room; i++)
        fields->loaded[i] = 0;
}

void fields_check(const struct fields *fields) { C2_ASSERT(fields->alive == 0); }

/* ------------------------------------------------------------------ the result */

static void fields_add_bytes(const struct fields *fields, const struct structure *structure, uint32_t start,
                             uint32_t bytes, struct analyses_line_use_bytes *to)
{
    for (uint32_t level = 0; level < fields->levels; level++)
        for (uint32_t i = start; i < start + bytes; i++) {
            const struct counted *of = &structure->bytes[(size_t)level * structure->of->bytes + i];
            to[level].loaded += of->loaded;
            to[level].used += of->used;
        }
}

/* Fields, and what is between them. Without `to` they are only counted. */
static uint32_t list_fields(const struct fields *fields, const struct structure *structure,
                            struct analyses_line_use_field *to, struct analyses_line_use_bytes *bytes)
{
    const struct loader_struct *of = structure->of;
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i <= of->field_count; i++) {
        const uint32_t start = i < of->field_count ? of->fields[i].start : of->bytes;
        const struct analyses_line_use_field found[2] = {{NULL, at, start - at, NULL},
                                                         {i < of->field_count ? of->fields[i].name : NULL, start,
                                                          i < of->field_count ? of->fields[i].bytes : 0, NULL}};
        for (unsigned k = 0; k < 2; k++) {
            if (found[k].bytes == 0)
                continue;
            if (to) {
                to[count] = found[k];
                to[count].level = &bytes[count * fields->levels];
                fields_add_bytes(fields, structure, found[k].start, found[k].bytes, &bytes[count * fields->levels]);
            }
            count++;
        }
        at = start + found[1].bytes;
    }
    return count;
}

/* Those whose lines were loaded, by their first and their greatest in bytes. */
static void fields_find_objects(const struct fields *fields, uint32_t number, struct analyses_line_use_struct *out)
{
    uint64_t most = 0;
    out->object = ANALYSES_NOBODY;
    for (uint32_t owner = 0; owner < fields->loaded_room; owner++) {
        if (fields->of_owner[owner] != FIRST + number || fields->loaded[owner] == 0)
            continue;
        const uint32_t object = profile_object(fields->profile, owner);
        if (object == PROFILE_NONE)
            continue;
        out->object_count++;
        if (fields->loaded[owner] > most) {
            most = fields->loaded[owner];
            out->object = object;
        }
    }
}

static uint64_t unused_of(const struct analyses_line_use_struct *of, uint32_t levels)
{
    uint64_t unused = 0;
    for (uint32_t i = 0; i < of->field_count; i++)
        for (uint32_t level = 0; level < levels; level++)
            unused += of->fields[i].level[level].loaded - of->fields[i].level[level].used;
    return unused;
}

static int fields_by_unused(const void *left, const void *right)
{
    const struct analyses_line_use_struct *a = left, *b = right;
    if (a->unused_bytes != b->unused_bytes)
        return a->unused_bytes > b->unused_bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

enum c2_status fields_result(const struct analyses_line_use_struct **out, size_t *count, struct fields *fields,
                             struct c2_error *err)
{
    size_t all = 0, kept = 0, at = 0;
    for (uint32_t i = 0; i < fields->count; i++)
        all += list_fields(fields, &fields->structures[i], NULL, NULL);
    fields->result = c2_calloc(fields->count + (size_t)1, sizeof *fields->result);
    fields->result_fields = c2_calloc(all + 1, sizeof *fields->result_fields);
    fields->result_bytes = c2_calloc((all + 1) * fields->levels, sizeof *fields->result_bytes);
    if (!fields->result || !fields->result_fields || !fields->result_bytes)
        return fields_no_memory(err);
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct structure *structure = &fields->structures[i];
        struct analyses_line_use_struct *of = &fields->result[kept];
        *of = (struct analyses_line_use_struct){
            .name = structure->of->name, .bytes = structure->of->bytes, .fields = &fields->result_fields[at]};
        of->field_count = list_fields(fields, structure, &fields->result_fields[at],
                                      &fields->result_bytes[at * fields->levels]);
        at += of->field_count;
        of->unused_bytes = unused_of(of, fields->levels);
        fields_find_objects(fields, i, of);
        kept += of->object_count != 0;
    }
    qsort(fields->result, kept, sizeof *fields->result, fields_by_unused);
    *out = fields->result;
    *count = kept;
    return C2_OK;
}
