/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The loop of consume.c, a set four places at a time; and of any machine.
 */
#define CACHE_FORM CACHE_FORM_SSE2
#define CACHE_FORM_NAME sse2
#include "sim/consume_rules.h"

enum c2_status sim_consume_fast(struct sim_core *core, const struct stream_batch *batch, struct c2_error *err)
{
    return consume(core, batch, 0, err);
}
