/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cyclic: elements that threads take in turn, each the next one, so that each line goes to several cores.
 *
 * Model
 *   An instruction goes through the object in steps of several elements, and no loop around it comes to the elements
 *   between; they are accessed all the same, as all distances in the object are multiples of one element only: by other
 *   threads (a cyclic distribution). Each core fetches the lines that its steps touch, all of them where a step is no
 *   longer than a line. With elements in a row for each thread (a block distribution) a line is fetched by one core: of
 *   what the levels of single cores cost all but one part in as many as take turns in a line is spared, and false
 *   sharing of the object.
 *
 * Not modelled
 *   What shared levels would miss less or more often.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

#define MOST_TURNS 64u
#define FIRM(step) ((step)->of >= 2 && (step)->times * 10 >= (step)->of * 9)

/* Of the cost, that of levels which each core has for itself: what is not of the shared ones. */
static uint64_t private_cost(const struct findings_input *input, const struct group *group)
{
    const uint32_t last = input->profile->level_count - 1;
    const struct caches_costs costs = caches_costs(input->machine);
    uint64_t shared = group->new_lines * costs.miss[last];
    for (uint32_t i = caches_machine_private(input->machine); i <= last; i++)
        shared += group->level[i];
    const uint64_t all = group->cost.cold + group->cost.capacity + group->cost.conflict;
    return all > shared ? all - shared : 0;
}

bool findings_is_cyclic(struct finding *out, const struct findings_input *input, const struct group *group)
{
    const struct analyses_access *access = group->access;
    const uint64_t line = input->machine->line_bytes;
    int64_t outer;
    if (caches_machine_cores(input->machine) < 2 || !access || group->loop == ANALYSES_NO_LOOP ||
        !FIRM(&access->step[0]) || access->grid == 0)
        return false;
    const uint64_t step = (uint64_t)llabs(access->step[0].bytes), turns = step / access->grid;
    const bool is_between = findings_step(access, 1, &outer) && outer != 0 && (uint64_t)llabs(outer) < step;
    if (step % access->grid != 0 || turns < 2 || turns > MOST_TURNS || access->grid < access->bytes ||
        access->grid * 2 > line || is_between)
        return false;
    const uint64_t cores = (step < line ? step : line) / access->grid;
    out->pattern = FINDINGS_CYCLIC;
    out->step = access->step[0].bytes;
    out->element_bytes = out->used_bytes = access->grid;
    out->passes = (double)cores;
    out->gain = private_cost(input, group) / cores * (cores - 1);
    return true;
}
