/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * where: what a reference is counted for - the instruction that makes it and the object that it is made to - for
 * analyses that count references or misses in numbers of their own.
 *
 * How it is used
 *   The analysis says in its kind that it needs the profile (.needs = 1u << ANALYSIS_profile), and makes a `where`
 *   in create(). For each reference (sim_reference.code) or miss (sim_miss.code) it asks for its spot: a small
 *   number, of each pair of instruction and object, from 0 on, which it counts under in an array that it lets grow.
 *   In finish() the profile is finished already (its row is the first): where_rows() says which rows of what is
 *   reported the spots have become, in the order of reports. Instructions are then numbers in
 *   analyses_profile_result.insns, and objects in .objects; lines, functions and loops are sums of instructions.
 *   Instead of counts by spot, counts by instruction alone need none of this: see where_insn().
 *
 * Cost
 *   An instruction that stays in its object is answered from a table; else a search among the objects and in a map.
 *   Memory: 24 bytes an instruction, some 40 for each instruction and object that meet.
 */
#ifndef C2_ANALYSES_WHERE_H
#define C2_ANALYSES_WHERE_H

#include "analyses/analyses.h"

#define WHERE_NOWHERE UINT32_MAX /* nothing of it was measured, so the reports do not have it */

struct where;
/* analyses: as create() has them, with the profile. */
enum c2_status where_create(struct where **out, const struct analyses *analyses, struct c2_error *err);
void where_destroy(struct where *where); /* takes NULL */

/* The spot of what the instruction of this code number does to va: reads or writes its data there, fetches it (va is
 * its own), or has it translated (WALK). While simulated, on the thread that consumes. */
enum c2_status where_spot(struct where *where, uint32_t code, enum sim_kind kind, struct guest_va va, uint32_t *spot,
                          struct c2_error *err);
uint32_t where_count(const struct where *where); /* spots are below */

/* In finish(), from here on. All spots of instructions and objects that reports have: ascending by insn, then object,
 * then spot; a pair may have several. The caller frees *out. */
struct where_row {
    uint32_t insn, object, spot;
};
enum c2_status where_rows(struct where_row **out, size_t *count, const struct where *where, struct c2_error *err);
/* An analysis that counts misses alone needs no spots: the profile has an access site for each pair, which a miss
 * names. Its number (small, from 0 on), and in finish() its row in analyses_profile_result.rows. */
static inline uint32_t where_access_site(uint64_t access_site)
{
    return (uint32_t)access_site - 1;
} /* sim_miss.access site */
uint32_t where_access_site_row(const struct analysis *profile, uint32_t access_site);
/* The instruction of a code number, in analyses_profile_result.insns; or NOWHERE. profile: that analysis. */
uint32_t where_insn(const struct analysis *profile, uint32_t code);

#endif
