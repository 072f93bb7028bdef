/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * emu: what the files of the loop share.
 */
#ifndef C2_EMU_PRIV_H
#define C2_EMU_PRIV_H

#include "emu/emu.h"
#include "emu/schedule_priv.h"
#include "emu/turns_priv.h"
#include "watch/watcher.h"

/* Beside its memory and its kernel, which config names. Calls that have not returned lie in the allocations and the
 * locals, a thread's in a struct of its own; what the kernel keeps of it, there. */
struct emu_process {
    struct engine *engine;
    struct allocations *allocations;       /* NULL: no marks */
    struct region_tracker *region_tracker; /* NULL: all of the run is one */
    struct arrival *arrival;               /* NULL: no place is waited for */
    struct arguments *arguments;           /* NULL: no function's are marked */
    struct watchers watchers;              /* all of them */
};

struct emu {
    struct emu_config config;
    struct emu_process process;
    struct schedule *schedule;
    struct emu_thread *thread;   /* the one that runs */
    bool blocked;                /* it waits in its call */
    uint64_t turn;               /* instructions at which the process's turn began, */
    uint64_t turn_events;        /* and events (syscalls_events) */
    enum turns_news news;        /* why no turn has come, when none has */
    bool interrupted;            /* from outside, while it waited for its turn */
    bool exhausted;              /* so that its turn could not begin: *err */
    uint64_t phase_end;          /* instructions; UINT64_MAX: that of the run */
    uint64_t tick;               /* instructions at which progress is told next */
    uint64_t checkpoint_trigger; /* instructions; UINT64_MAX: it has been, or never comes */
    bool over;                   /* the moment has come that ends the run */
    bool resumed;                /* the stream has begun elsewhere */
    struct emu_end *end;
    struct c2_error *err;
};

/* ------------------------------------------------------------------ watches.c */
/* Those that the configuration asks for, before the engine is made. */
enum c2_status emu_make_watches(struct emu *emu, const struct loader_image *image, struct c2_error *err);

/* ------------------------------------------------------------------ emu.c */
/* Those of the thread that runs, out of the engine. */
void emu_take_registers(struct emu *emu);
void emu_take_all_registers(struct emu *emu); /* those of the others as well */
/* What becomes of a thread, for readers of the stream. */
enum c2_status emu_mark_thread(struct emu *emu, const struct emu_thread *thread, enum stream_thread what,
                               struct c2_error *err);

/* ------------------------------------------------------------------ events.c
 * Each bool says whether the guest goes on. */
bool emu_finish(struct emu *emu, enum emu_end_kind kind);                    /* false: the run has ended so */
bool emu_stop_for(struct emu *emu, enum emu_end_kind kind, const char *why); /* the same, for a reason */
bool emu_deadlocked(struct emu *emu); /* the same: none of the threads can ever go on; *err says so */
bool emu_raise_pending(struct emu *emu);
void emu_set_result(struct emu *emu, const struct syscalls_cpu *before, const struct syscalls_result *result);
bool emu_on_syscall(struct emu *emu);
bool emu_on_event(struct emu *emu, const struct engine_event *event);

/* ------------------------------------------------------------------ children.c */
bool emu_start_process(struct emu *emu, const struct syscalls_cpu *before, struct syscalls_result *result);

/* ------------------------------------------------------------------ rounds.c */
/* Turns that are due end, and the next ones begin. False: the guest does not go on. */
bool emu_keep_turns(struct emu *emu);
bool emu_wait_for_anything(void *emu, uint64_t instructions); /* schedule_idle's pass */
uint64_t emu_quiet_until(void *emu, uint64_t instructions);   /* schedule_idle's quiet_until */
/* The process's turn begins, with these news; false: the guest does not go on. */
bool emu_take_over(struct emu *emu, enum turns_news news, uint64_t now);
void emu_end_without_turn(struct emu *emu);

#endif
