/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * reuse_stack: lines by how recently they were accessed, and how many lie before one. reuse_stack.c has the model.
 */
#ifndef C2_ANALYSES_REUSE_STACK_PRIV_H
#define C2_ANALYSES_REUSE_STACK_PRIV_H

#include "base/base.h"

#define REUSE_COLD UINT64_MAX
#define REUSE_TAKEN (UINT64_MAX - 1)

struct reuse_stack;
enum c2_status reuse_stack_create(struct reuse_stack **out, struct c2_error *err);
void reuse_stack_destroy(struct reuse_stack *stack); /* takes NULL */
/* *distance: how many other lines were accessed since this one was; COLD: it never was; TAKEN: it was removed since.
 * It is the youngest then. */
enum c2_status reuse_stack_access(struct reuse_stack *stack, uint64_t line, uint64_t *distance, struct c2_error *err);
/* Caches of all sizes lose the line, if they have it: room that the next lines take which they do not have. */
enum c2_status reuse_stack_remove(struct reuse_stack *stack, uint64_t line, struct c2_error *err);
void reuse_stack_empty(struct reuse_stack *stack); /* as if nothing had been accessed */
void reuse_stack_check(const struct reuse_stack *stack);

#endif
