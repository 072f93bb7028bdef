/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * schedule: which of the guest's threads has the turn.
 */
#ifndef C2_SCHEDULE_PRIV_H
#define C2_SCHEDULE_PRIV_H

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "emu/emu.h"
#include "syscalls/syscalls.h"

struct emu_thread {
    uint32_t number;         /* in the stream: the first is 1 */
    uint32_t tid;            /* for the guest */
    bool amid;               /* its next instruction is one amid a block (engine_amid_block) */
    struct syscalls_cpu cpu; /* while another one runs; else scratch */
    bool inside;             /* another one runs, and of `cpu` only RSP holds: the engine keeps them all, here */
    struct engine_registers *kept;
};

struct schedule;
/* What the schedule asks for. */
struct schedule_idle {
    void *self;
    bool (*pass)(void *self, uint64_t instructions); /* no thread can go on: false when none ever will */
    /* The count until which no other process takes a turn before this one does something; UINT64_MAX: none ever does */
    uint64_t (*quiet_until)(void *self, uint64_t instructions);
};
/* With the first thread, which runs. quantum, whole: as in struct emu_config; 0: EMU_QUANTUM, or both of the checkpoint
 * that it goes on from. The kernel is lent until destroy. */
enum c2_status schedule_create(struct schedule **out, struct syscalls *kernel, uint64_t quantum, bool whole,
                               struct schedule_idle idle, struct c2_error *err);
void schedule_destroy(struct schedule *schedule);
uint64_t schedule_quantum(const struct schedule *schedule);

struct emu_thread *schedule_running(const struct schedule *schedule); /* NULL: it has ended, and none was chosen */
uint32_t schedule_count(const struct schedule *schedule);
struct emu_thread *schedule_at(const struct schedule *schedule, uint32_t i); /* by the time of their start */
/* Behind the others; NULL: no memory. Lent until it ends. */
struct emu_thread *schedule_add(struct schedule *schedule, uint32_t tid);
void schedule_end(struct schedule *schedule); /* of the one that runs */
/* In the child of a fork: the one that runs is the only one, and the first. */
void schedule_become_child(struct schedule *schedule, uint32_t tid);
bool schedule_has_ready(const struct schedule *schedule, uint64_t instructions); /* some thread can go on */
/* The one that runs gives up what is left of its turn. */
void schedule_give_up(struct schedule *schedule);
/* What is left of its turn has no room for a block. */
void schedule_end_turn(struct schedule *schedule);

/* Instructions of the turn that are left; UINT64_MAX: no other thread can need one before this one does something. */
uint64_t schedule_budget(struct schedule *schedule, uint64_t instructions);
/* Turns end before the block that does not fit. */
bool schedule_has_whole_blocks(const struct schedule *schedule);
/* It is another thread's turn, but no other process's: that of this one began when so many had been completed. */
bool schedule_keeps_process(const struct schedule *schedule, uint64_t instructions, uint64_t began);
bool schedule_is_due(const struct schedule *schedule, uint64_t instructions);
/* The turn of the next thread that can go on begins; *how: WAITS is none. NULL: none ever can. Guest time may go on. */
struct emu_thread *schedule_next(struct schedule *schedule, uint64_t instructions, enum syscalls_readiness *how);
/* Whether the thread waits for what has not come. */
bool schedule_waits(struct schedule *schedule, uint32_t i, uint64_t instructions);
/* All of it, registers too, to a checkpoint, or from one into a new one. */
void schedule_checkpoint(struct schedule *schedule, struct checkpoint *checkpoint);
void schedule_check(const struct schedule *schedule);

#endif
