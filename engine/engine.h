/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The contract of an engine: something that executes guest instructions in the window of mmu/ and writes the
 * reference stream. Every engine must produce the same references, record for record.
 */
#ifndef C2_ENGINE_H
#define C2_ENGINE_H

#include "base/base.h"
#include "mmu/mmu.h"
#include "stream/stream.h"
#include "syscalls/syscalls.h" /* struct syscalls_cpu: registers as data */

enum engine_stop {
    ENGINE_BUDGET,    /* as many instructions as the budget allows have been completed, or as many whole blocks */
    ENGINE_SYSCALL,   /* at a SYSCALL instruction, which counts as executed; rip is behind it */
    ENGINE_FAULT,     /* a page fault at `address`: nothing of the instruction at rip took effect. An engine may make
                       * first touches itself, and go on */
    ENGINE_TRAP,      /* a signal is due: `signal` (SIGFPE, SIGTRAP, SIGILL, SIGSEGV for privileged), rip as of Linux */
    ENGINE_REFUSED,   /* the instruction at rip is one this engine cannot execute rightly: `refusal` says why */
    ENGINE_STOPPED,   /* engine_stop() was called: before the block at rip */
    ENGINE_INTERRUPT, /* engine_interrupt() was called */
    ENGINE_FAILED,    /* *err */
};

struct engine_event {
    enum engine_stop stop;
    struct guest_va address; /* FAULT: CR2 */
    enum mmu_access access;  /* FAULT: READ, WRITE, EXEC or UNKNOWN */
    int signal, code;        /* TRAP: signal and si_code */
    char refusal[256];       /* REFUSED: "AVX is not modelled ..." */
};

struct engine;

/* For code that follows the guest's calls: a notice when the guest comes to certain places. */
struct engine_watch {
    void *self;
    /* Whether blocks that start at pc are of interest; asked when code is met there for the first time, and again when
     * it may have changed. NULL: none is. */
    enum c2_status (*wants)(bool *out, void *self, struct guest_va pc, struct c2_error *err);
    /* Whether a block has to start at pc; asked for each instruction of a block that is met for the first time. NULL:
     * nowhere. */
    bool (*splits)(void *self, struct guest_va pc);
    /* The guest is about to execute a block that starts at such a pc, or at one given to engine_watch(). All that went
     * before is recorded. Called once more when the block must be started again (its first instruction faulted). */
    enum c2_status (*reached)(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err);
    bool guards; /* engine_guard() is called; costs 20 ns a block while a guard is set */
};

struct engine_config {
    struct mmu *mmu;
    struct stream_blocks *blocks;
    struct stream_writer *writer; /* outlives the engine; may be NULL if nothing is ever recorded */
    uint64_t (*time_ns)(void *self, uint64_t instructions); /* for RDTSC (1 GHz); */
    void *time_self;
    struct engine_watch watch;
    const struct cpu_model *cpu; /* what the guest finds; NULL: x86-64-v2 */
    bool count_blocks;           /* engine_take_executed() will be asked */
};

/* ops: which engine (engine_ops.h). A self-test of what it relies on runs at creation and fails by name. */
struct engine_ops;
enum c2_status engine_create(struct engine **out, const struct engine_ops *ops, const struct engine_config *config,
                             struct c2_error *err);
void engine_destroy(struct engine *engine); /* takes NULL */
/* The guest's program has ended: the engine lets go of memory, stream and watch, which may end before it. What it has
 * found out about code it keeps for another program of the process. Only the next two may follow. */
void engine_retire(struct engine *engine);
/* As engine_create, with a retired engine, which may be NULL, and is no longer the caller's: where it suits the
 * configuration it is the one that goes on, as new but for what it knows of code that it meets again. */
enum c2_status engine_reuse(struct engine **out, struct engine *retired, const struct engine_ops *ops,
                            const struct engine_config *config, struct c2_error *err);

void engine_get_cpu(struct engine *engine, struct syscalls_cpu *cpu);
void engine_set_cpu(struct engine *engine, const struct syscalls_cpu *cpu);
/* The registers of a thread that does not run, all of them, as the engine has them: a tenth of what engine_get_cpu and
 * engine_set_cpu cost. Room for one thread's, for c2_free(); NULL: no memory. Between two runs: the engine's are kept
 * there, are again what was kept, or what was kept is read. */
struct engine_registers;
struct engine_registers *engine_registers_create(struct engine *engine);
void engine_keep(struct engine *engine, struct engine_registers *to);
void engine_take(struct engine *engine, struct engine_registers *from); /* behind it, engine_set_amid_block */
void engine_read_kept(struct engine *engine, struct engine_registers *from, struct syscalls_cpu *out);
/* After ENGINE_SYSCALL: the result goes to RAX; bases, if not NULL, gives new FS and GS bases. Cheaper than all. */
void engine_set_result(struct engine *engine, uint64_t rax, const struct syscalls_cpu *bases);

/* Between two runs: references are recorded from now on, or, as at first, instructions are only counted, at full speed.
 * Marks are written all the same. A switch off and on costs 4 us. */
enum c2_status engine_set_recording(struct engine *engine, bool on, struct c2_error *err);

/* Runs until an event. budget: instructions, exactly; 0 = no limit. */
void engine_run(struct engine *engine, uint64_t budget, struct engine_event *event, struct c2_error *err);
/* The same up to the first block that has more instructions than are left of the budget, not 0, which may be the first
 * one: then nothing is executed. No block is cut, which costs less. Where a block ends as engine_watch.splits wants
 * another one to start, both count as one: watching does not change where such a run ends, but in code that has more
 * than STREAM_BLOCK_INSNS instructions without a jump. */
void engine_run_blocks(struct engine *engine, uint64_t budget, struct engine_event *event, struct c2_error *err);
/* Instructions completed since creation, and those of engine_resume. */
uint64_t engine_instructions(const struct engine *engine);
/* With count_blocks, between two runs: for each block that was executed since the last call, while nothing was
 * recorded, how many of its instructions were completed; in an order that depends on the run alone. Blocks that start
 * at one address, of other code or cut elsewhere, come one by one. The sum is that of engine_instructions(). */
void engine_take_executed(struct engine *engine, void (*take)(void *self, struct guest_va pc, uint64_t instructions),
                          void *self);
/* Whether the last run was cut amid a block: what comes next is the rest of it, which is not what a watch looks for. */
bool engine_amid_block(const struct engine *engine);
/* Between two runs, behind engine_set_cpu or engine_take: what engine_amid_block said where those registers were. */
void engine_set_amid_block(struct engine *engine, bool amid);
/* Before the first run: so many instructions have been completed elsewhere. */
void engine_resume(struct engine *engine, uint64_t instructions);
/* These inside engine_watch.reached only. A general register by its number in instructions (4 is RSP). */
uint64_t engine_gpr(struct engine *engine, unsigned gpr);
/* Blocks that start at pc, known or not, are of interest from now on. */
enum c2_status engine_watch(struct engine *engine, struct guest_va pc, struct c2_error *err);
/* Puts a mark (stream.h) behind what is recorded so far; with a writer only. */
enum c2_status engine_mark(struct engine *engine, enum stream_mark mark, const uint64_t *words, uint32_t count,
                           struct c2_error *err);
/* The run ends before the block that is about to be executed. When the guest goes on there, no second notice. */
void engine_stop(struct engine *engine);
/* Blocks that the guest comes to, not by running on, with RSP in [from, from + bytes) are of interest as well from now
 * on, in place of the last such range; 0 bytes: none. Between two runs, too. */
void engine_guard(struct engine *engine, struct guest_va from, uint64_t bytes);
bool engine_beyond(const struct engine *engine); /* inside engine_watch.reached: this is one of those */
/* From a signal handler: the run stops at the end of a block, at once or within some million instructions, as the
 * engine lets handlers run. */
void engine_interrupt(struct engine *engine);

#endif
