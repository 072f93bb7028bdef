/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * declared: which part of a declaration repeats at some distance, and is to be longer so that it repeats at another.
 *
 * Model
 *   In the declaration of an object a distance is
 *     a dimension     whose length times the step of its elements is a part of it: of several the one with the longest
 *                     rows. More elements of it make all rows longer.
 *     an element      of an array of structures.
 *     members         of a structure, or of a common block: arrays as long as the distance, several of one type; or a
 *                     dimension of the largest array that has such rows, and of all that have its dimensions.
 *     a pointer       to elements, which lie in rows that only the program knows.
 *
 * Not modelled
 *   Common blocks that only modules declare, whose members the debug information of gfortran does not have.
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

static bool is_alike(const struct loader_array *a, const struct loader_array *b)
{
    bool alike = a->count == b->count && a->element_bytes == b->element_bytes;
    for (uint32_t i = 0; alike && i < a->count; i++)
        alike = a->dimensions[i].length == b->dimensions[i].length;
    return alike;
}

const struct loader_array *findings_member(struct loader_symbols *symbols, const struct findings_declared *declared,
                                           const struct loader_field *field)
{
    const struct loader_array *array = loader_array_of(symbols, field->type, false);
    return array && is_alike(array, declared->array) ? array : NULL;
}

/* The first of at least two arrays of one type, of one dimension, that are as long as the distance. */
static bool find_equal_members(struct findings_declared *out, struct loader_symbols *symbols,
                               const struct loader_struct *of, uint64_t distance)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < of->field_count; i++) {
        const struct loader_array *array = loader_array_of(symbols, of->fields[i].type, false);
        if (!array || of->fields[i].bytes != distance || array->count != 1 ||
            (out->array && !is_alike(array, out->array)))
            continue;
        out->array = out->array ? out->array : array;
        count++;
    }
    out->row_bytes = distance;
    out->dimension = 0;
    return count >= 2;
}

/* The largest array with rows that are a part of the distance. */
static bool find_member_rows(struct findings_declared *out, struct loader_symbols *symbols,
                             const struct loader_struct *of, uint64_t distance, uint32_t line_bytes)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < of->field_count; i++) {
        const struct loader_array *array = loader_array_of(symbols, of->fields[i].type, false);
        if (array && of->fields[i].bytes > largest && find_dimension(out, array, distance, line_bytes))
            largest = of->fields[i].bytes;
    }
    return largest != 0;
}

static bool find_members(struct findings_declared *out, struct loader_symbols *symbols, const struct loader_struct *of,
                         uint64_t distance, uint32_t line_bytes)
{
    *out = (struct findings_declared){.row_bytes = distance};
    if (!of ||
        (!find_equal_members(out, symbols, of, distance) && !find_member_rows(out, symbols, of, distance, line_bytes)))
        return false;
    out->part = FINDINGS_MEMBERS;
    out->members = of;
    out->step = loader_array_step(out->array, out->dimension);
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
    else if (!array && !find_members(out, symbols, loader_struct_of(symbols, type, pointed), distance, line_bytes))
        *out = (struct findings_declared){.row_bytes = distance};
}
