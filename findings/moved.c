/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * moved: an object whose contents are moved within it again and again, as when elements are taken off its front.
 *
 * Model
 *   A copying function of a system library reads the object and writes it, in steps
 *   of less than a page, and most of what it misses are capacity misses. What goes on at one end, or leaves the gap
 *   where it is, moves nothing: all but the cost of a first walk is spared.
 *
 * Not modelled
 *   The instructions that are spared as well. Moves by loops of the program's own, which look like stencils.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

#define SHARE 4u /* of what the function reads of the object, at least one part in so many is what it writes there */

bool findings_is_moved(const struct findings_input *input, const struct group *group)
{
    const struct findings_accesses accesses = findings_accesses_of(input, group->loop, group->object);
    const struct guest_va pc = input->profile->insns[input->profile->rows[group->lead].insn].pc;
    uint64_t reads = 0, writes = 0;
    int64_t step;
    if (!input->symbols || !loader_is_system_code(input->symbols, pc) || !group->access ||
        !findings_step(group->access, 0, &step) || llabs(step) >= (int64_t)C2_PAGE_BYTES)
        return false;
    for (size_t i = 0; i < accesses.count; i++) {
        reads += findings_access(&accesses, i)->reads;
        writes += findings_access(&accesses, i)->writes;
    }
    return reads != 0 && writes * SHARE >= reads;
}
