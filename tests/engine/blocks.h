/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The slow twin of how blocks are cut: the rule of stream/stream.h, applied to guest code as it lies in memory now.
 */
#ifndef C2_TEST_ENGINE_BLOCKS_H
#define C2_TEST_ENGINE_BLOCKS_H

#include "cpu/cpu.h"
#include "stream/stream.h"

/* Whether the block ends where the rule says, and its instructions are those in memory. starts: where other blocks may
 * have to start (keys), or NULL. model: what executes it; NULL: x86-64-v2. */
bool blocks_cut_by_rule(const struct stream_block *block, const struct c2_map *starts, const struct cpu_model *model);

#endif
