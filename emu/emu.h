/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * emu: the run of a guest - an engine, the guest's kernel, and the loop between them.
 */
#ifndef C2_EMU_H
#define C2_EMU_H

#include "base/base.h"
#include "engine/engine.h"
#include "loader/loader.h"
#include "mmu/mmu.h"
#include "stream/stream.h"
#include "syscalls/syscalls.h"
#include "watch/watch.h"

#define EMU_ENGINES "native, which is this processor; unicorn, as with --sandbox; auto, which is native where it can"
#define EMU_ENGINE "auto" /* the default */
/* Which engine a name stands for, for ever: itself; or of "auto" the native one, where this host has what that needs
 * and the program is not held to be hostile, else the one that is a wall. */
const char *emu_engine_of(const char *name, bool hostile);
const char *emu_native_lacks(void); /* what this host lacks for the native engine, part of a sentence; NULL: nothing */
/* The engine of that name, which is not "auto". C2_ERR_INVALID: there is none; the message names the nearest. */
struct engine_ops;
enum c2_status emu_engine(const struct engine_ops **out, const char *name, struct c2_error *err);
/* Its name, a space, and the version of what it executes with. */
#define EMU_VERSION_BYTES 64
enum c2_status emu_engine_version(char out[EMU_VERSION_BYTES], const char *name, struct c2_error *err);
/* Whether the memory that it works on must have its rights enforced (mmu_enforce). */
bool emu_engine_is_on_host(const char *name);

/* What is made of the next instructions: skipped ones are executed and not recorded; the stream says when each begins
 * (STREAM_PHASE). */
#define EMU_TO_THE_END UINT64_MAX
#define EMU_QUANTUM 50000u /* instructions of a thread's turn */
/* The same where threads have cores of their own: the most, in whole blocks. What cores do to each other at one time
 * shows in short turns only (docs/coherence.md). */
#define EMU_QUANTUM_OF_CORES 100u
struct emu_phase {
    enum stream_phase phase;
    uint64_t instructions; /* so many, not 0, or fewer where the guest comes to another part of the run before */
    bool empties;          /* caches and TLBs are empty when it begins (STREAM_EMPTIED) */
};

struct engine; /* one that emu_retire has left */
struct emu_turns;
/* Other processes of the guest, each of which is a process of the host: made by its fork, in lockstep (turns.c). */
struct emu_family {
    struct emu_turns *turns; /* lent; NULL: there are none, and none is made */
    void *self;
    /* Before the fork: all that was recorded is eaten, and no host thread runs but this one. */
    enum c2_status (*before)(void *self, struct c2_error *err);
    enum c2_status (*parent)(void *self, struct c2_error *err); /* behind it, in the parent; */
    /* in the child, which is process `pid` of the guest. *followed: what it does is recorded, as its parent's was. */
    enum c2_status (*child)(void *self, uint32_t pid, bool *followed, struct c2_error *err);
};

struct emu_config {
    const char *engine;          /* by its name (emu_engine) */
    const struct cpu_model *cpu; /* that the guest finds; NULL: x86-64-v2 */
    struct engine *retired;      /* that of the process's program before; NULL: there is none. emu_create takes it */
    struct mmu *mmu;
    struct syscalls *kernel;
    struct emu_family family;
    struct stream_blocks *blocks;
    struct stream_writer *writer; /* outlives the emulator; may be NULL with record == false */
    bool record;
    /* With a writer: marks of the guest's allocations and frees in the stream (STREAM_ALLOCATED, STREAM_FREED); its
     * allocator is found by name in `symbols`, which is lent until emu_destroy. */
    bool mark_allocations;
    struct loader_symbols *symbols;
    const char *const *wrappers; /* names of functions of the guest that hand on what they allocate; lent as well */
    size_t wrapper_count;
    /* With a writer: marks where all threads have come to a barrier (STREAM_BARRIER), found by name in `symbols`. */
    bool mark_barriers;
    /* With a writer: functions whose arguments are marked where they are entered (STREAM_ARGUMENTS), by their numbers
     * in this list; they are found in `symbols`. Lent until destroy. */
    const struct watch_place *argued;
    uint32_t argued_count;
    /* With record or count_blocks: asked at the start, at the end of each phase, which without record are all skipped,
     * and where a region begins or ends; NULL: all is measured. */
    struct emu_phase (*phase)(void *self, uint64_t instructions, const struct watch_part *part);
    void *phase_self;
    /* Instructions of a thread's turn, where others want one; 0: EMU_QUANTUM, or what a checkpoint says. */
    uint64_t quantum;
    bool whole_blocks;                   /* it ends before the block that does not fit; at least STREAM_BLOCK_INSNS */
    bool count_blocks;                   /* emu_take_executed() will be asked */
    const struct watch_regions *regions; /* with phase: lent until destroy; NULL: all of the run is one, INSIDE */
    /* With phase: the one that has begun before, up to so many instructions; 0: none has. */
    struct emu_phase begun;
    /* Once, where so many instructions have been completed, between two of them: emu_checkpoint may be called then. */
    struct emu_checkpoint_trigger {
        uint64_t instructions;
        const struct watch_place *place; /* else NULL: before its first instruction, */
        uint64_t arrival;                /* when the guest comes there for the n-th time; lent until destroy */
        enum c2_status (*reached)(void *self, struct c2_error *err);
        void *self;
        bool ends; /* the run is over then */
    } checkpoint_trigger;
    /* Called every `progress_every` instructions or so, if not NULL. */
    void (*progress)(void *self, uint64_t instructions);
    void *progress_self;
    uint64_t progress_every;
};

enum emu_end_kind {
    EMU_EXITED,      /* status */
    EMU_KILLED,      /* by `signal`, at rip, with fault address where it has one */
    EMU_REFUSED,     /* an instruction that cannot be executed rightly, at rip */
    EMU_EXHAUSTED,   /* what processes have in common has no room for more */
    EMU_INTERRUPTED, /* emu_interrupt */
    EMU_STOPPED,     /* config.moment, which ends the run */
    EMU_EXECUTED,    /* it is another program now: syscalls_take_program */
    EMU_ABANDONED,   /* another process of the guest has failed, and has said so */
    EMU_FAILED,      /* c2emu failed: *err */
};
struct emu_end {
    enum emu_end_kind kind;
    int status;       /* EXITED and KILLED: 0..255 */
    int signal, code; /* KILLED */
    struct guest_va rip;
    struct guest_va address; /* of the fault; valid if has_address */
    bool has_address;
    char disassembly[160]; /* of the instruction at rip, AT&T syntax; of KILLED and REFUSED; "": it cannot be read */
    char refusal[256];     /* why; of REFUSED and EXHAUSTED */
    char *stacks; /* of a deadlock: lines that say what each thread waits for, and where; the caller's to free() */
};

struct emu;
enum c2_status emu_create(struct emu **out, const struct emu_config *config, const struct loader_image *image,
                          struct c2_error *err);
void emu_destroy(struct emu *emu); /* takes NULL */
/* The same, but for the engine, which is for the process's next program; to be destroyed where there is none. It refers
 * to nothing that emu_config names. */
struct engine *emu_retire(struct emu *emu);
void emu_engine_destroy(struct engine *engine); /* takes NULL */
/* Runs the guest to its end and flushes the stream. Only EMU_FAILED fills *err; so does a deadlock. */
void emu_run(struct emu *emu, struct emu_end *end, struct c2_error *err);
uint64_t emu_instructions(const struct emu *emu);
uint64_t emu_turn(const struct emu *emu); /* of a thread's turn, at most: the quantum, a checkpoint's as well */
/* With count_blocks, inside config.phase or after the run: as engine_take_executed. */
void emu_take_executed(struct emu *emu, void (*take)(void *self, struct guest_va pc, uint64_t instructions),
                       void *self);
/* The registers, how far the guest has come, and with mark_allocations what is followed for the marks: to a checkpoint,
 * or from one into an emulator that has not run; its run goes on there. Both have mark_allocations. */
void emu_checkpoint(struct emu *emu, struct checkpoint *checkpoint);
/* Whether a block has been allocated in the function that config.wrappers[wrapper] names. */
bool emu_wrapper_met(const struct emu *emu, size_t wrapper);
/* Once the run is over: fails if a place of the regions is nowhere in the guest's memory, and names what is near. */
enum c2_status emu_find_regions(struct emu *emu, struct c2_error *err);
/* Once the run is over: the same of the moment's place, and of config.argued. */
enum c2_status emu_find_checkpoint_trigger(struct emu *emu, struct c2_error *err);
enum c2_status emu_find_argued(struct emu *emu, struct c2_error *err);
void emu_interrupt(struct emu *emu); /* from a signal handler */

/* ------------------------------------------------------------------ turns.c: the lockstep of processes
 * In memory that all of them share; for the first one, which has the turn. */
enum c2_status emu_turns_create(struct emu_turns **out, uint32_t pid, struct c2_error *err);
void emu_turns_destroy(struct emu_turns *turns); /* takes NULL */
/* The process has ended, at this guest time, and it is the turn of another. */
void emu_turns_leave(struct emu_turns *turns, uint64_t now);
/* It has failed: none goes on. */
void emu_turns_fail(struct emu_turns *turns);
bool emu_turns_failed(const struct emu_turns *turns); /* one has */
/* Sends a signal to the processes of the host that the others are. */
void emu_turns_signal(const struct emu_turns *turns, int number);

#endif
