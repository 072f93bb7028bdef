/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * modules: the files that the guest executes code of, each told once, and forgotten when its code changes.
 */
#ifndef C2_MODULES_PRIV_H
#define C2_MODULES_PRIV_H

#include "base/base.h"
#include "mmu/mmu.h"

/* forgot may be NULL. */
struct modules_reader {
    void *self;
    /* Code of a file is there that has not been read: at `code`. What is found in it is given to modules_keep. */
    enum c2_status (*read)(void *self, struct guest_va code, struct c2_error *err);
    void (*forget)(void *self, uint64_t address); /* something that was kept: its code is gone, or may have changed */
    void (*forgot)(void *self);                   /* behind all of a change */
};

struct modules;
enum c2_status modules_create(struct modules **out, struct mmu *mmu, const struct modules_reader *reader,
                              struct c2_error *err);
void modules_destroy(struct modules *modules); /* takes NULL; forgets nothing */
/* Has the file that is mapped at pc read, unless it is known. */
enum c2_status modules_know(struct modules *modules, struct guest_va pc, struct c2_error *err);
/* The same for all code that is mapped. */
enum c2_status modules_know_all(struct modules *modules, struct c2_error *err);
/* The address is to be forgotten together with the file at `code`, which is known or being read. */
enum c2_status modules_keep(struct modules *modules, struct guest_va code, uint64_t address, struct c2_error *err);

/* What is known, to a checkpoint or, where nothing is known yet, from one; nothing is read anew. */
void modules_checkpoint(struct modules *modules, struct checkpoint *checkpoint);

size_t modules_count(const struct modules *modules);
/* Whether `holds` is true of every address that was kept. */
bool modules_hold(const struct modules *modules, bool (*holds)(const void *self, uint64_t address), const void *self);
void modules_check(const struct modules *modules, bool (*holds)(const void *self, uint64_t address), const void *self);

#endif
