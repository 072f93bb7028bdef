/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * elements: which bytes of the elements of an object its loops use, and what splitting the elements spares.
 *
 * Model
 *   An element is as large as the grid that the accesses of a group fit; of a site with many blocks it is a block. A
 *   block of the heap takes a chunk of it, as one of what is used would. A structure whose fields are all used, if only
 *   in part, cannot be split. What lies between the blocks of the heap, or on the stack beside arrays, has no elements.
 *   Those of an array of numbers have a size that its declaration has.
 *
 *   Elements are split once. Where several loops use different bytes of them, findings are one, the dearest first, as
 *   long as it spares more that all that any of them uses goes apart. Where that spares less than most of what a split
 *   of its own would spare each of them (MOST), each field of an array is to have an array of its own, and all of them
 *   are one finding; of blocks of the heap the others stay findings of their own.
 *
 * Not modelled
 *   Loops without a finding, which would go through more arrays than now.
 */
#include <string.h>

#include "findings/findings_priv.h"

#define CHUNK_HEADER 8u /* bytes: of the heap's blocks, as glibc has them (malloc/malloc.c, "Chunk size") */
#define CHUNK_GRID 16u
#define LEAST_CHUNK 32u
#define MOST 3u / 4u
#define FINDINGS_TOGETHER 64u /* findings of one object that are looked at, and those between them */

/* ------------------------------------------------------------------ what is used of them */

/* Accesses of the group's loop and of those inside it, which go on in the same elements; those that are in no loop are
 * of one function. */
static bool is_of(const struct group *group, const struct findings_input *input, const struct analyses_access *access)
{
    const struct analyses_loops_result *loops = &input->excerpts->loops;
    const uint32_t loop = loops->loop_of[access->insn];
    if (access->object != group->object)
        return false;
    if (group->loop != ANALYSES_NO_LOOP)
        return analyses_loop_within(loops, loop, group->loop);
    return loop == ANALYSES_NO_LOOP && findings_function(input, access->insn) == group->function;
}

/* Bytes of an element: of a site with many blocks those of one, else the grid that all accesses of the group fit; 0:
 * it is none. */
uint64_t findings_element_of(const struct findings_input *input, const struct group *group)
{
    const struct analyses_object *object = &input->profile->objects[group->object];
    uint64_t grid = 0;
    if (object->blocks > 1)
        return object->bytes / object->blocks;
    for (size_t i = 0; i < input->excerpts->access_count; i++)
        if (is_of(group, input, &input->excerpts->accesses[i]))
            grid = c2_divisor(input->excerpts->accesses[i].grid, grid);
    return grid;
}

/* In each element, or, where the access comes to several places of one, as in an array within it, at all of them. */
static void elements_use(uint8_t *used, const struct analyses_access *access, uint64_t element)
{
    const uint64_t grid = access->grid != 0 && access->grid < element ? access->grid : element;
    for (uint64_t start = access->offset % grid; start < element; start += grid)
        for (uint64_t k = 0; k < access->bytes; k++)
            used[(start + k) % element / 8] |= (uint8_t)(1u << (start + k) % element % 8);
}

/* Bytes of an element that the loop's accesses use. */
static uint64_t used_of(uint8_t *used, const struct findings_input *input, const struct group *group, uint64_t element)
{
    uint64_t count = 0;
    for (size_t i = 0; i < input->excerpts->access_count; i++)
        if (is_of(group, input, &input->excerpts->accesses[i]))
            elements_use(used, &input->excerpts->accesses[i], element);
    for (uint64_t i = 0; i < element; i++)
        count += used[i / 8] >> i % 8 & 1;
    return count;
}

static bool is_bit(const uint8_t *bits, uint64_t i) { return bits[i / 8] >> i % 8 & 1; }

static bool repeats(const uint8_t *used, uint64_t element, uint64_t period)
{
    for (uint64_t i = period; i < element; i++)
        if (is_bit(used, i) != is_bit(used, i - period))
            return false;
    return true;
}

/* Where a round of the loop does several elements (compilers unroll loops), the grid is a multiple of one: the least
 * part of it that what is used repeats. */
static void find_period(struct finding *out)
{
    const uint64_t element = out->element_bytes;
    for (uint64_t period = 1; period < element; period++) {
        if (element % period != 0 || !repeats(out->used, element, period))
            continue;
        for (uint64_t i = period; i < element; i++)
            out->used[i / 8] &= (uint8_t) ~(1u << i % 8);
        out->used_bytes = out->used_bytes * period / element;
        out->element_bytes = period;
        return;
    }
}

static uint64_t lines_used(const struct finding *of, uint64_t line_bytes)
{
    uint64_t count = 0, last = UINT64_MAX;
    for (uint64_t i = 0; i < of->element_bytes; i++) {
        count += is_bit(of->used, i) && i / line_bytes != last;
        last = is_bit(of->used, i) ? i / line_bytes : last;
    }
    return count;
}

/* Bytes from one element to the next: blocks of the heap lie in chunks of their own. */
static uint64_t elements_pitch(const struct findings_input *input, const struct finding *finding, uint64_t element)
{
    if (input->profile->objects[finding->object].blocks <= 1)
        return element;
    const uint64_t chunk = c2_align_up(element + CHUNK_HEADER, CHUNK_GRID);
    return chunk < LEAST_CHUNK ? LEAST_CHUNK : chunk;
}

uint64_t findings_packed_cost(const struct finding *finding, const struct findings_input *input, uint64_t bytes)
{
    const uint64_t line = input->machine->line_bytes, pitch = elements_pitch(input, finding, finding->element_bytes);
    const uint64_t now = pitch < line ? pitch : line * lines_used(finding, line);
    return (uint64_t)((double)finding->cost * (double)elements_pitch(input, finding, bytes) / (double)now);
}

/* Whether the declaration of an element has a part that can go by itself: a field that is not used, or of an array
 * some. */
/* Types of the languages' libraries, which the user does not change. */
static bool is_librarys(const struct loader_struct *of)
{
    static const char *const names[] = {"basic_string<", "vector<", "shared_ptr<", "String", "Vec<"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(of->name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool findings_can_split(const struct finding *finding, const struct findings_input *input)
{
    bool pointed;
    const struct loader_type_id type = findings_type(input->symbols, &input->profile->objects[finding->object],
                                                     &pointed);
    const struct loader_struct *of = type.module ? loader_struct_of(input->symbols, type, pointed) : NULL;
    if (!of || of->bytes != finding->element_bytes)
        return true;
    if (is_librarys(of))
        return false;
    for (uint32_t i = 0; i < of->field_count; i++) {
        const struct loader_field *field = &of->fields[i];
        uint64_t used = 0;
        for (uint32_t k = field->start; k < field->start + field->bytes; k++)
            used += is_bit(finding->used, k);
        if (used == 0 || (used < field->bytes && loader_array_of(input->symbols, field->type, false)))
            return true;
    }
    return false;
}

/* Headers and free blocks of the heap, and frames, are of no type. */
bool findings_has_elements(const struct analyses_object *object)
{
    return (object->kind != ANALYSES_HEAP || object->site.v != 0) && (object->kind != ANALYSES_STACK || object->local);
}

/* Whether the declaration of an array of numbers has something of this size, where it is known: an element, a row. What
 * it has not is a matter of how the loop goes through it. */
static bool is_declared(const struct findings_input *input, const struct analyses_object *object, uint64_t bytes)
{
    bool pointed;
    const struct loader_type_id type = findings_type(input->symbols, object, &pointed);
    if (!type.module || object->blocks > 1)
        return true;
    const struct loader_array *array = loader_array_of(input->symbols, type, pointed);
    if (!array || array->pointed || array->count == 0 || loader_struct_of(input->symbols, type, pointed))
        return true;
    for (uint32_t i = 0; i < array->count; i++)
        if (loader_array_step(array, i) == bytes)
            return true;
    return false;
}

bool findings_measure_element(struct finding *out, const struct findings_input *input, const struct group *group)
{
    if (!group->access || !findings_has_elements(&input->profile->objects[group->object]))
        return false;
    const uint64_t element = findings_element_of(input, group);
    if (element == 0 || element > FINDINGS_ELEMENT)
        return false;
    out->element_bytes = element;
    out->used_bytes = used_of(out->used, input, group, element);
    if (!findings_is_irregular(input, group)) /* else the code comes to one element at a time */
        find_period(out);
    return is_declared(input, &input->profile->objects[group->object], out->element_bytes);
}

/* ------------------------------------------------------------------ one split for all loops */

static bool elements_same(const struct finding *a, const struct finding *b)
{
    return a->pattern == FINDINGS_PARTIAL_LINES && b->pattern == FINDINGS_PARTIAL_LINES && a->object == b->object &&
           a->element_bytes == b->element_bytes;
}

/* What the finding would spare if all these bytes went apart. */
static uint64_t gain_with(const struct finding *of, const struct findings_input *input, uint64_t bytes)
{
    const uint64_t left = findings_packed_cost(of, input, bytes);
    return left < of->cost ? of->cost - left : 0;
}

/* The bytes that go apart for some findings of one kind of elements, and what that spares these. */
struct together {
    uint8_t used[FINDINGS_ELEMENT / 8];
    uint64_t used_bytes, gain;
    bool has[FINDINGS_TOGETHER]; /* by number, from the first of them on */
    uint32_t count;
};

static struct together elements_with(const struct together *now, const struct findings *findings, uint32_t first,
                                     uint32_t more, const struct findings_input *input)
{
    struct together all = *now;
    all.has[more] = true;
    all.count++;
    all.used_bytes = all.gain = 0;
    for (unsigned k = 0; k < sizeof all.used; k++) {
        all.used[k] |= findings->list[first + more].used[k];
        all.used_bytes += (uint64_t)__builtin_popcount(all.used[k]);
    }
    for (uint32_t i = 0; i <= more; i++)
        if (all.has[i])
            all.gain += gain_with(&findings->list[first + i], input, all.used_bytes);
    return all;
}

/* One by one as long as that spares more. gains: of all, with splits of their own; loops: how many there are. */
static struct together elements_together(const struct findings *findings, uint32_t first,
                                         const struct findings_input *input, uint64_t *gains, uint32_t *loops)
{
    struct together all = {.count = 0};
    *gains = *loops = 0;
    for (uint32_t i = 0; first + i < findings->count && i < FINDINGS_TOGETHER; i++) {
        if (!elements_same(&findings->list[first], &findings->list[first + i]))
            continue;
        const struct together more = elements_with(&all, findings, first, i, input);
        *gains += findings->list[first + i].gain;
        ++*loops;
        if (more.gain > all.gain)
            all = more;
    }
    return all;
}

/* Those become one with the first one. every: all of these elements, else those that are together. */
static void elements_unite(struct findings *findings, uint32_t first, const struct together *all, bool every)
{
    uint32_t kept = first + 1;
    for (uint32_t i = first + 1; i < findings->count; i++) {
        const bool has = i - first < FINDINGS_TOGETHER && all->has[i - first];
        if (every ? elements_same(&findings->list[first], &findings->list[i]) : has)
            findings_add_finding(&findings->list[first], &findings->list[i]);
        else
            findings->list[kept++] = findings->list[i];
    }
    findings->count = kept;
}

static void elements_join(struct findings *findings, uint32_t first, const struct findings_input *input)
{
    struct finding *of = &findings->list[first];
    uint64_t gains;
    uint32_t loops;
    const struct together all = elements_together(findings, first, input, &gains, &loops);
    of->by_field = all.gain < gains * MOST && input->profile->objects[of->object].blocks <= 1;
    of->loops = of->by_field ? loops : all.count;
    if (of->loops < 2)
        return;
    elements_unite(findings, first, &all, of->by_field);
    if (of->by_field)
        return;
    of->gain = all.gain;
    of->used_bytes = all.used_bytes;
    memcpy(of->used, all.used, sizeof of->used);
}

void findings_join_splits(struct findings *findings, const struct findings_input *input)
{
    for (uint32_t i = 0; i < findings->count; i++)
        if (findings->list[i].pattern == FINDINGS_PARTIAL_LINES && findings->list[i].loops == 0)
            elements_join(findings, i, input);
}
