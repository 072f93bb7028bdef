/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * walks: reads of page-table entries. The model card of the levels is in hierarchy.c.
 *
 * Model
 *   A walker reads through the data side of the hierarchy, by physical address: such a read is an access like a load of
 *   the program's. Only levels with a virtual index would know a difference, and tables have no virtual address that a
 *   program uses: their physical line stands for it.
 */
#include "caches/caches.h"

enum c2_status caches_walk(struct caches *caches, struct line_no physical_line, uint32_t *served_by,
                           struct c2_error *err)
{
    struct caches_outcome outcome;
    enum c2_status status = caches_access(caches, CACHES_DATA, false, physical_line, physical_line, &outcome, err);
    *served_by = outcome.served_by;
    return status;
}
