/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * shapes: the blocks of instructions whose references depend on masks or on vectors of indices (stream.h). Such an
 * instruction is alone in its block, and has one for each shape: how many references there are, and of which sizes.
 */
#ifndef C2_SHAPES_H
#define C2_SHAPES_H

#include "engine/decode.h"
#include "interpret/interpret.h"

struct shapes;
/* The blocks that it makes go to the table, which outlives it. */
enum c2_status shapes_create(struct shapes **out, struct stream_blocks *blocks, struct c2_error *err);
void shapes_destroy(struct shapes *shapes); /* takes NULL */
/* The number of the block of the instruction at pc, as it is there now, that touches so much; made where it has not
 * been met. Its record has a word for each touch, in their order. */
enum c2_status shapes_find(uint32_t *out, struct shapes *shapes, struct guest_va pc, const struct decode_insn *insn,
                           const struct interpret_touched *touched, struct c2_error *err);
/* Code has changed: instructions there have other blocks from now on. */
void shapes_forget(struct shapes *shapes, struct guest_va start, uint64_t bytes);

#endif
