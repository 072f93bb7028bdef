/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sorting: large elements that a library's merge sort, or its heap, moves over and over.
 *
 * Model
 *   The code is that of std::stable_sort or std::priority_queue of GCC's library, or of Rust's stable sort, by the
 *   names of its functions, or is called by it. Elements are as large as their declaration has them, or as the grid
 *   that its accesses fit; those of less than LARGE bytes are left as they are. What is moved in place of an element,
 *   its key and its number or address, has KEY bytes: that leaves so large a part of capacity and conflict misses. Each
 *   line of the dearest object is fetched once more, at the level where most is lost, when its elements are moved.
 *
 * Not modelled
 *   Cold misses of the buffer of a sort, which are spared as well. Sorts of the program's own. std::sort is left out:
 *   it moves elements in order, and too seldom to pay for moving each to its place once, in no order (measured: nothing
 *   gained with elements of 256 bytes).
 */
#include <string.h>

#include "findings/findings_priv.h"

#define KEY 16u   /* bytes */
#define LARGE 48u /* bytes */
#define FRAMES 8u /* of inlined calls */

/* bits/stl_algo.h and bits/stl_heap.h of GCC 12; library/alloc/src/slice.rs and library/core/src/slice/ of Rust. */
static const char *const sorts[] = {
    "__move_merge",          "__merge_adaptive",    "__merge_without_buffer",   "__merge_sort_",
    "__inplace_stable_sort", "alloc::slice::merge", "core::slice::sort::merge", "core::slice::sort::stable"};
static const char *const heaps[] = {"__adjust_heap", "__push_heap"};

static bool is_named_by(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; name && i < count; i++)
        if (strstr(name, list[i]))
            return true;
    return false;
}

/* Whether one of the functions around the instruction, inlined or not, is in the list. */
static bool is_in_code_of(struct loader_symbols *symbols, struct guest_va pc, const char *const *list, size_t count)
{
    struct loader_frame frames[FRAMES];
    struct loader_place place;
    loader_symbol_of(symbols, pc, &place);
    bool is = is_named_by(place.function, list, count);
    const size_t frame_count = loader_frames_of(symbols, pc, frames, FRAMES);
    for (size_t i = 0; i < frame_count && i < FRAMES && !is; i++)
        is = is_named_by(frames[i].function, list, count);
    return is;
}
#define IN_CODE_OF(symbols, pc, list) is_in_code_of(symbols, pc, list, sizeof(list) / sizeof(list)[0])

/* The largest grid that an access of the function fits: code that copies elements begins each at the same place, and
 * goes on in steps of its own. */
static uint64_t largest_grid(const struct findings_input *input, uint32_t insn, uint32_t object)
{
    const struct analyses_excerpts_result *excerpts = input->excerpts;
    const uint64_t function = findings_function(input, insn);
    uint64_t largest = 0;
    for (size_t i = 0; i < excerpts->access_count; i++) {
        const struct analyses_access *access = &excerpts->accesses[i];
        if (access->object == object && access->grid > largest && access->grid <= FINDINGS_ELEMENT &&
            findings_function(input, access->insn) == function)
            largest = access->grid;
    }
    return largest;
}

/* Bytes of an element, by the object's declaration or its accesses. */
static uint64_t element_of(const struct findings_input *input, const struct finding *of, const struct group *group)
{
    bool pointed;
    const struct analyses_object *object = &input->profile->objects[of->object];
    const struct loader_type_id type = findings_type(input->symbols, object, &pointed);
    const struct loader_array *array = type.module ? loader_array_of(input->symbols, type, pointed) : NULL;
    return array && array->element_bytes != 0              ? array->element_bytes
           : loader_is_system_code(input->symbols, of->pc) ? largest_grid(input, of->insn, of->object)
                                                           : findings_element_of(input, group);
}

bool findings_is_sorted(struct finding *out, const struct findings_input *input, const struct group *group)
{
    if (!input->symbols || !group->access)
        return false;
    const uint32_t insn = out->caller == FINDINGS_NOBODY ? out->insn : out->caller;
    const struct guest_va pcs[] = {out->pc, input->profile->insns[insn].pc};
    const bool heap = IN_CODE_OF(input->symbols, pcs[0], heaps) || IN_CODE_OF(input->symbols, pcs[1], heaps);
    if (!heap && !IN_CODE_OF(input->symbols, pcs[0], sorts) && !IN_CODE_OF(input->symbols, pcs[1], sorts))
        return false;
    const uint64_t element = element_of(input, out, group);
    if (element < LARGE)
        return false;
    out->pattern = FINDINGS_SORTED;
    out->element_bytes = element;
    out->used_bytes = KEY;
    out->heap = heap;
    out->level = findings_dearest_level(group);
    out->gain = (uint64_t)((double)(group->cost.capacity + group->cost.conflict) * (1 - (double)KEY / (double)element));
    return true;
}

void findings_move_sorted(struct findings *findings, const struct findings_input *input)
{
    const struct caches_costs costs = caches_costs(input->machine);
    for (uint32_t i = 0; i < findings->count; i++) {
        struct finding *of = &findings->list[i];
        if (of->pattern != FINDINGS_SORTED || of->heap)
            continue;
        const uint64_t lines = input->profile->objects[of->object].bytes / input->machine->line_bytes,
                       moves = lines * costs.miss[of->level];
        of->gain = of->gain > moves ? of->gain - moves : 0;
        of->gained = of->gain == 0 ? FINDINGS_NO_GAIN : FINDINGS_ESTIMATED;
    }
}
