/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * locals: follows the guest's calls of functions that have arrays on the stack, and puts marks (stream.h) where they
 * are entered and left.
 */
#ifndef C2_LOCALS_H
#define C2_LOCALS_H

#include "engine/engine.h"
#include "loader/loader.h"

struct locals;
/* The mmu and the symbols are lent until destroy. program: where it is entered. */
enum c2_status locals_create(struct locals **out, struct mmu *mmu, struct loader_symbols *symbols,
                             struct guest_va program, struct c2_error *err);
void locals_destroy(struct locals *locals);
/* The guest has set its thread pointer (FS). */
void locals_thread(struct locals *locals, uint64_t thread_pointer);
/* A thread has been started; it is the turn of the thread of this number, which has been; the one that runs ends. The
 * first one's number is 1. */
struct locals_start {
    uint32_t number;
    uint64_t pointer, rsp; /* its thread pointer and stack pointer, as it begins with them */
};
enum c2_status locals_started(struct locals *locals, struct engine *engine, const struct locals_start *start,
                              struct c2_error *err);
void locals_switch(struct locals *locals, uint32_t number);
enum c2_status locals_ended(struct locals *locals, struct engine *engine, struct c2_error *err);
/* For engine_config; lends the locals. */
struct engine_watch locals_watch(struct locals *locals);
/* What is known of the process and its threads, to a checkpoint or, before anything has run, from one: layouts get the
 * numbers again that they had. */
void locals_checkpoint(struct locals *locals, struct checkpoint *checkpoint);
void locals_check(const struct locals *locals);

#endif
