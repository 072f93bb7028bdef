/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pprof: what each stack of calls has cost, in the format of pprof.
 *
 * Model
 *   A message Profile of protocol buffers, compressed by gzip. A sample is a stack that has cost anything by itself,
 *   innermost function first, with a value for each event of the profiles and, last and usual, waitCycles. A location
 *   is a function: its address is that of its entry, in its file as linked; its line is that of its entry. Files of
 *   code are mappings, which have no addresses: those of locations need none. No time is in it, so that the same run
 *   makes the same file.
 *
 * Invariants
 *   The sums over all samples are the report's numbers.
 *
 * Source: proto/profile.proto of github.com/google/pprof, for the numbers of fields; "Encoding" of protobuf.dev.
 */
#include <stdlib.h>
#include <string.h>

#include "report/stacks_priv.h"

enum { VARINT = 0, BYTES = 2 }; /* kinds of fields */
enum {                          /* of Profile */
       SAMPLE_TYPE = 1,
       SAMPLE = 2,
       MAPPING = 3,
       LOCATION = 4,
       FUNCTION = 5,
       STRING_TABLE = 6,
       DEFAULT_SAMPLE_TYPE = 14,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILES = 8, MAPPING_HAS_LINES = 9 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4, FUNCTION_LINE = 5 };

/* A message under way. */
struct message {
    uint8_t *bytes;
    size_t count, room;
    bool failed; /* no memory */
};

struct writer {
    struct report_stacks stacks;
    struct message profile, part, inner;
    struct c2_map *strings; /* text's address -> number: names are lent once each */
    const char **texts;
    uint32_t text_count, text_room;
    struct c2_map *locations; /* function and address -> number */
    struct c2_map *mappings;  /* number of an object's text -> number */
    bool *functions;          /* [function]: it was written */
};

/* ------------------------------------------------------------------ messages */

static void add_byte(struct message *to, uint8_t byte)
{
    if (to->count == to->room && !to->failed) {
        const size_t room = to->room * 2 + 256;
        uint8_t *bytes = c2_realloc(to->bytes, room);
        to->failed = !bytes;
        if (bytes) {
            to->bytes = bytes;
            to->room = room;
        }
    }
    if (!to->failed)
        to->bytes[to->count++] = byte;
}

static void add_varint(struct message *to, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        add_byte(to, (uint8_t)(n | 0x80));
    add_byte(to, (uint8_t)n);
}

static void pprof_add_number(struct message *to, unsigned field, uint64_t n)
{
    if (n == 0)
        return; /* as what is not there */
    add_varint(to, field << 3 | VARINT);
    add_varint(to, n);
}

static void pprof_add_bytes(struct message *to, unsigned field, const void *bytes, size_t count)
{
    add_varint(to, field << 3 | BYTES);
    add_varint(to, count);
    for (size_t i = 0; i < count; i++)
        add_byte(to, ((const uint8_t *)bytes)[i]);
}

/* The part, which is empty then. */
static void pprof_add_part(struct message *to, unsigned field, struct message *part)
{
    pprof_add_bytes(to, field, part->bytes, part->count);
    to->failed |= part->failed;
    part->count = 0;
}

/* ------------------------------------------------------------------ names */

/* The number of a text that lives as long as the writer. */
static uint64_t pprof_string_of(struct writer *w, const char *text)
{
    struct c2_error ignored;
    uint64_t number;
    if (c2_map_get(w->strings, (uint64_t)(uintptr_t)text, &number))
        return number;
    if (!c2_grow((void **)&w->texts, &w->text_room, w->text_count, sizeof *w->texts) ||
        c2_map_put(w->strings, (uint64_t)(uintptr_t)text, w->text_count, &ignored) != C2_OK) {
        w->profile.failed = true;
        return 0;
    }
    w->texts[w->text_count] = text;
    return w->text_count++;
}

/* Counting from 1; *fresh: it is new. */
static uint64_t pprof_number_in(struct writer *w, struct c2_map *map, uint64_t key, bool *fresh)
{
    struct c2_error ignored;
    uint64_t number;
    *fresh = !c2_map_get(map, key, &number);
    if (!*fresh)
        return number;
    number = c2_map_count(map) + 1;
    w->profile.failed |= c2_map_put(map, key, number, &ignored) != C2_OK;
    return number;
}

static const char *pprof_text_of(const struct writer *w, uint32_t number)
{
    return w->stacks.names.texts[number - 1].text;
}

static uint64_t add_mapping(struct writer *w, uint32_t object)
{
    bool fresh;
    if (strcmp(pprof_text_of(w, object), "???") == 0)
        return 0;
    const uint64_t id = pprof_number_in(w, w->mappings, object, &fresh);
    if (!fresh)
        return id;
    pprof_add_number(&w->part, MAPPING_ID, id);
    pprof_add_number(&w->part, MAPPING_FILE, pprof_string_of(w, pprof_text_of(w, object)));
    for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_LINES; field++)
        pprof_add_number(&w->part, field, 1);
    pprof_add_part(&w->profile, MAPPING, &w->part);
    return id;
}

static void pprof_add_function(struct writer *w, const struct export_place *place)
{
    const struct export_function *function = &w->stacks.names.functions[place->function - 1];
    if (w->functions[place->function - 1])
        return;
    w->functions[place->function - 1] = true;
    pprof_add_number(&w->part, FUNCTION_ID, place->function);
    pprof_add_number(&w->part, FUNCTION_NAME, pprof_string_of(w, function->name));
    pprof_add_number(&w->part, FUNCTION_SYSTEM_NAME, pprof_string_of(w, function->name));
    if (strcmp(pprof_text_of(w, function->file), "???") != 0)
        pprof_add_number(&w->part, FUNCTION_FILE, pprof_string_of(w, pprof_text_of(w, function->file)));
    pprof_add_number(&w->part, FUNCTION_LINE, (uint64_t)place->line);
    pprof_add_part(&w->profile, FUNCTION, &w->part);
}

static uint64_t add_location(struct writer *w, const struct export_place *place)
{
    bool fresh;
    const uint64_t id = pprof_number_in(w, w->locations, (uint64_t)place->function << 40 ^ place->address, &fresh);
    if (!fresh)
        return id;
    const uint64_t mapping = add_mapping(w, w->stacks.names.functions[place->function - 1].object);
    pprof_add_function(w, place);
    pprof_add_number(&w->inner, LINE_FUNCTION, place->function);
    pprof_add_number(&w->inner, LINE_LINE, (uint64_t)place->line);
    pprof_add_number(&w->part, LOCATION_ID, id);
    pprof_add_number(&w->part, LOCATION_MAPPING, mapping);
    pprof_add_number(&w->part, LOCATION_ADDRESS, place->address);
    pprof_add_part(&w->part, LOCATION_LINE, &w->inner);
    pprof_add_part(&w->profile, LOCATION, &w->part);
    return id;
}

/* ------------------------------------------------------------------ what is written */

static void add_types(struct writer *w)
{
    const struct analyses_events *events = &w->stacks.events;
    for (uint32_t i = 0; i <= events->count; i++) {
        const bool waits = i == events->count;
        pprof_add_number(&w->part, TYPE_TYPE,
                         pprof_string_of(w, waits ? report_stack_waits_name() : events->list[i].name));
        pprof_add_number(&w->part, TYPE_UNIT, pprof_string_of(w, waits ? "cycles" : "count"));
        pprof_add_part(&w->profile, SAMPLE_TYPE, &w->part);
    }
    pprof_add_number(&w->profile, DEFAULT_SAMPLE_TYPE, pprof_string_of(w, report_stack_waits_name()));
}

static bool has_cost(const struct analyses_events *events, const uint64_t *cost)
{
    uint32_t i = 0;
    while (i < events->count && cost[i] == 0)
        i++;
    return i < events->count;
}

static void pprof_add_sample(struct writer *w, uint32_t stack)
{
    const struct report_stacks *stacks = &w->stacks;
    const uint64_t *cost = stacks->list[stack].cost;
    uint64_t ids[ANALYSES_STACK_DEPTH];
    uint32_t depth = 0;
    for (uint32_t at = stack; at != UINT32_MAX; at = stacks->list[at].parent)
        ids[depth++] = add_location(w, &stacks->places[at]);
    for (uint32_t i = 0; i < depth; i++)
        add_varint(&w->inner, ids[i]);
    pprof_add_part(&w->part, SAMPLE_LOCATIONS, &w->inner);
    for (uint32_t i = 0; i < stacks->events.count; i++)
        add_varint(&w->inner, cost[i]);
    add_varint(&w->inner, report_stack_waits(&stacks->events, cost));
    pprof_add_part(&w->part, SAMPLE_VALUES, &w->inner);
    pprof_add_part(&w->profile, SAMPLE, &w->part);
}

static enum c2_status pprof_make(struct writer *w, const struct report_run *run, struct c2_error *err)
{
    enum c2_status status = report_stacks_create(&w->stacks, run, err);
    struct c2_map **const maps[] = {&w->strings, &w->locations, &w->mappings};
    for (unsigned i = 0; i < 3 && status == C2_OK; i++)
        status = c2_map_create(maps[i], err);
    w->functions = c2_calloc(w->stacks.names.function_count + (size_t)1, sizeof *w->functions);
    if (status != C2_OK || !w->functions)
        return status != C2_OK ? status : c2_fail_memory(err, "a profile");
    pprof_string_of(w, ""); /* number 0 */
    add_types(w);
    for (uint32_t i = 0; i < w->stacks.count; i++)
        if (has_cost(&w->stacks.events, w->stacks.list[i].cost))
            pprof_add_sample(w, i);
    for (uint32_t i = 0; i < w->text_count; i++)
        pprof_add_bytes(&w->profile, STRING_TABLE, w->texts[i], strlen(w->texts[i]));
    return w->profile.failed ? c2_fail_memory(err, "a profile") : C2_OK;
}

static enum c2_status write_packed(FILE *to, const struct message *profile, struct c2_error *err)
{
    struct c2_packer *packer;
    enum c2_status status = c2_packer_create(&packer, C2_GZIP, err);
    if (status == C2_OK)
        status = c2_pack(packer, to, profile->bytes, profile->count, true, err);
    c2_packer_destroy(packer);
    return status == C2_OK ? export_written(to, err) : status;
}

enum c2_status report_pprof(FILE *to, const struct report_run *run, struct c2_error *err)
{
    struct writer w = {.text_count = 0};
    enum c2_status status = pprof_make(&w, run, err);
    if (status == C2_OK)
        status = write_packed(to, &w.profile, err);
    report_stacks_release(&w.stacks);
    struct c2_map *maps[] = {w.strings, w.locations, w.mappings};
    for (unsigned i = 0; i < 3; i++)
        c2_map_destroy(maps[i]);
    c2_free(w.texts);
    c2_free(w.functions);
    c2_free(w.profile.bytes);
    c2_free(w.part.bytes);
    c2_free(w.inner.bytes);
    return status;
}
