/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * code_ranges: what lies in ranges of guest addresses, found by a range that overlaps it: blocks of code, as code
 * changes.
 */
#ifndef C2_ENGINE_CODE_RANGES_H
#define C2_ENGINE_CODE_RANGES_H

#include "base/base.h"

struct code_ranges;
enum c2_status code_ranges_create(struct code_ranges **out, struct c2_error *err);
void code_ranges_destroy(struct code_ranges *ranges); /* takes NULL */
/* bytes > 0, and start + bytes does not wrap. Several may lie in the same range. */
enum c2_status code_ranges_add(struct code_ranges *ranges, uint64_t start, uint32_t bytes, void *what,
                               struct c2_error *err);
/* Removes all that have a byte in common with the range, each of which is handed to taken(), in any order; it may not
 * call back. Takes time for what lies on the pages of the range, and on few before it. */
void code_ranges_take(struct code_ranges *ranges, uint64_t start, uint64_t bytes, void (*taken)(void *self, void *what),
                      void *self);

#endif
