/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * coherence_objects: the object of each shared line, of those that lie in it.
 *
 * Model
 *   In a line that several objects lie in each of them has misses for coherence. The line counts for the one with most
 *   (of equal ones the first in the profile); what the others miss there is their part in lines of that object.
 */
#ifndef C2_ANALYSES_COHERENCE_OBJECTS_H
#define C2_ANALYSES_COHERENCE_OBJECTS_H

#include "analyses/coherence.h"

/* Measured misses for coherence of an object in the line of this number. */
struct coherence_share {
    uint32_t line, object;
    uint64_t misses;
};

/* shares: in any order, several of a line and object add up; sorted and added up here. object_of: [line], set for those
 * that occur. parts: of at least *count, the parts of others, ascending by line_object, most misses first; *count
 * becomes their number. */
void coherence_objects_divide(struct coherence_part *parts, uint32_t *object_of, struct coherence_share *shares,
                              size_t *count);

#endif
