/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * declared: which part of a declaration repeats at some distance, and is to be longer so that it repeats at another.
 *
 * Model
 *   In the declaration of an object a distance is
 *     a dimension     whose length times the step of its elements is a part of it: of several the one with the longest
 *                     rows. More elements of it make all rows longer.
 *     an element      of an array of structures.
 *     members         of a structure: arrays as long as the distance.
 *     a pointer       to elements, which lie in rows that only the program knows.
 *
 * Not modelled
 *   Common blocks, whose members no debug information has.
 */
#include "findings/findings.h"

struct loader_type_id findings_type(struct loader_symbols *symbols, const struct analyses_object *object, bool *pointed)
{
    *pointed = object->kind == ANALYSES_HEAP;
    if (!symbols)
        return (struct loader_type_id){.module = NULL};
    if (*pointed)
        return loader_receiver_type(symbols, object->site);
    return object->local ? object->local->type : loader_variable_type(symbols, object->variable);
}

static bool is_part(uint64_t bytes, uint64_t distance) { return bytes != 0 && distance % bytes == 0; }

/* The first dimension whose rows are a part of the distance. That of all elements of a variable is none. */
static bool find_dimension(struct findings_declared *out, const struct loader_array *array, uint64_t distance,
                           uint32_t line_bytes)
{
    for (uint32_t i = array->pointed ? 0 : 1; i < array->count; i++) {
        const uint64_t step = loader_array_step(array, i), row = step * array->dimensions[i].length;
        if (row < line_bytes || !is_part(row, distance))
            continue;
        *out = (struct findings_declared){
            .part = FINDINGS_DIMENSION, .array = array, .dimension = i, .row_bytes = row, .step = step};
        return true;
    }
    return false;
}

static bool find_element(struct findings_declared *out, const struct loader_array *array, uint64_t distance,
                         uint32_t line_bytes)
{
    if (array->element_bytes < line_bytes || !is_part(array->element_bytes, distance))
        return false;
    *out = (struct findings_declared){
        .part = FINDINGS_WHOLE_ELEMENT, .array = array, .row_bytes = array->element_bytes, .step = line_bytes};
    return true;
}

/* At least two arrays of the same type. */
static bool find_members(struct findings_declared *out, struct loader_symbols *symbols, const struct loader_struct *of,
                         uint64_t distance)
{
    uint32_t count = 0;
    for (uint32_t i = 0; of && i < of->field_count; i++) {
        const struct loader_array *array = loader_array_of(symbols, of->fields[i].type, false);
        if (!array || of->fields[i].bytes != distance || array->count != 1 ||
            (out->array && array->element_bytes != out->array->element_bytes))
            continue;
        out->array = array;
        count++;
    }
    if (count < 2)
        return false;
    out->part = FINDINGS_MEMBERS;
    out->members = of;
    out->row_bytes = distance;
    out->step = out->array->element_bytes;
    return true;
}

void findings_declared(struct findings_declared *out, struct loader_symbols *symbols,
                       const struct analyses_object *object, uint64_t distance, uint32_t line_bytes)
{
    bool pointed;
    const struct loader_type_id type = findings_type(symbols, object, &pointed);
    *out = (struct findings_declared){.row_bytes = distance};
    if (!type.module || distance == 0 || object->blocks != 1)
        return;
    const struct loader_array *array = loader_array_of(symbols, type, pointed);
    if (array && (find_dimension(out, array, distance, line_bytes) || find_element(out, array, distance, line_bytes)))
        return;
    if (array && array->count == 0 && is_part(array->element_bytes, distance))
        *out = (struct findings_declared){
            .part = FINDINGS_POINTED, .array = array, .row_bytes = distance, .step = array->element_bytes};
    else if (!array && !find_members(out, symbols, loader_struct_of(symbols, type, pointed), distance))
        *out = (struct findings_declared){.row_bytes = distance};
}
