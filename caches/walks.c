/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * walks: reads of page-table entries. The model card of the levels is in hierarchy.c.
 *
 * Model
 *   A walker reads through the data side of the hierarchy, by physical address: such a read is an access like a load of
 *   the program's. Only levels with a virtual index would know a difference, and tables have no virtual address that a
 *   program uses: their physical line stands for it.
 *   It enters at the level that the machine says. This one is to the walk what L1D is to a load: it is asked first, it
 *   is filled, and the levels above it are neither asked nor filled; those below follow the rules of any access. That
 *   holds for an exclusive level too. It keeps the line at a hit, and its policy sees the hit; at a miss it is filled.
 *   A hit in an exclusive level further down moves the line up, to the entry at the most.
 *
 * Not modelled
 *   A walk does not see a copy in the levels above its entry: one that is dirty there stays.
 */
#include "caches/hierarchy_priv.h"

static enum c2_status walk_below(struct caches *caches, struct line_no line, struct caches_outcome *outcome,
                                 struct c2_error *err)
{
    C2_PROMISE(caches->port[CACHE_PORT_WALK]->depth != 0);
    caches->port[CACHE_PORT_WALK]->walked++;
    struct cache_request request = {.first = caches->port[CACHE_PORT_WALK], .line = {line, line}};
    return cache_access_at(caches, &request, outcome, err);
}

enum c2_status caches_walk(struct caches *caches, struct line_no physical_line, uint32_t *served_by,
                           struct caches_outcome *outcome, struct c2_error *err)
{
    C2_PROMISE(caches->port[CACHE_PORT_WALK] && !caches->port[CACHE_PORT_WALK]->clean);
    struct caches_outcome own;
    struct caches_outcome *what = outcome ? outcome : &own;
    enum c2_status status = caches->port[CACHE_PORT_WALK] != caches->port[CACHE_PORT_DATA]
                                ? walk_below(caches, physical_line, what, err)
                                : caches_access(caches, CACHES_DATA, false, physical_line, physical_line, what, err);
    caches->last[CACHES_DATA] = LINES_NO_SLOT;
    if (status == C2_OK)
        *served_by = what->served_by;
    return status;
}
