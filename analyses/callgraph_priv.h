/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The set of addresses where functions start, for callgraph.c: asked for every jump.
 */
#ifndef C2_ANALYSES_CALLGRAPH_PRIV_H
#define C2_ANALYSES_CALLGRAPH_PRIV_H

#include "analyses/analyses.h"

struct entries; /* entries.c */
enum c2_status entries_create(struct entries **out, struct c2_error *err);
void entries_destroy(struct entries *entries);
enum c2_status entries_add(struct entries *entries, uint64_t va, struct c2_error *err);
/* Page aligned. Says whether there had been functions. */
bool entries_remove(struct entries *entries, uint64_t start, uint64_t end);
bool entries_has(struct entries *entries, uint64_t va);

#endif
