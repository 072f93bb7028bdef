/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * locals: follows the guest's calls of functions that have arrays on the stack, and puts marks (stream.h) where they
 * are entered and left.
 */
#ifndef C2_LOCALS_H
#define C2_LOCALS_H

#include "loader/loader.h"
#include "watch/watcher.h"

struct locals;
/* The mmu and the symbols are lent until destroy. program: where it is entered. */
enum c2_status locals_create(struct locals **out, struct mmu *mmu, struct loader_symbols *symbols,
                             struct guest_va program, struct c2_error *err);
void locals_destroy(struct locals *locals);
struct watcher locals_watch(struct locals *locals); /* lends them */
void locals_check(const struct locals *locals);

#endif
