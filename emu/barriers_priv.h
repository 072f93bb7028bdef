/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * barriers: where all threads of the guest have come to a barrier: a mark (STREAM_BARRIER) in the stream.
 */
#ifndef C2_BARRIERS_PRIV_H
#define C2_BARRIERS_PRIV_H

#include "emu/emu.h"
#include "emu/engine.h"
#include "emu/schedule_priv.h"
#include "loader/loader.h"

struct barriers;
struct barriers_config {
    struct mmu *mmu;
    struct loader_symbols *symbols;
    struct schedule *const *schedule; /* is there when the guest runs */
};
/* Lent until destroy. */
enum c2_status barriers_create(struct barriers **out, const struct barriers_config *config, struct c2_error *err);
void barriers_destroy(struct barriers *barriers);              /* takes NULL */
struct engine_watch barriers_watch(struct barriers *barriers); /* for engine_config; lends them */

#endif
