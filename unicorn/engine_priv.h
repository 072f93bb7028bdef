/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The Unicorn engine's own state, and the record of the block that runs.
 */
#ifndef C2_UNICORN_ENGINE_PRIV_H
#define C2_UNICORN_ENGINE_PRIV_H

#include <signal.h>

#include "unicorn/unicorn_priv.h"

enum unicorn_pause {
    PAUSE_NONE,
    PAUSE_LEARN,     /* a block not seen before: at pause_pc, pause_size */
    PAUSE_CHANGED,   /* a block whose code has changed */
    PAUSE_SPECIAL,   /* before an instruction at pause_pc that is alone in its block */
    PAUSE_INTERPRET, /* before one of the current block at pause_pc that is interpreted */
    PAUSE_BUDGET,    /* before a block, or code not seen before, that does not fit below pause_at */
    PAUSE_TRIM,      /* before a translation that goes on behind the end of the current block */
    PAUSE_STEP,      /* the instructions of the block that is cut have been executed; the next one is at pause_pc */
    PAUSE_REFUSED,   /* before a block at pause_pc of which a translation cannot be recorded inline */
    PAUSE_STOP,      /* before a block at pause_pc that a watch wants the run to end at */
    PAUSE_SYSCALL,
    PAUSE_EXCEPTION, /* exception number pause_number */
    PAUSE_DEAF,      /* before a store into its own block at pause_pc that could not be recorded */
    PAUSE_INVALID,   /* Unicorn does not know the instruction at RIP */
    PAUSE_FAILED,    /* failure in a hook: `failure` */
};

/* A batch may be overrun by the raw events of its last block until they are folded. */
_Static_assert(3u * 2u * DECODE_MAX_SLOTS + 16u <= STREAM_SLACK_WORDS, "raw events of a block");

/* Instructions are executed one by one: none has been yet; some have. */
enum unicorn_step { STEP_NONE, STEP_BEFORE, STEP_BEHIND };

struct unicorn {
    struct engine base;
    struct unicorn_state state;
    struct unicorn_code *code;
    struct unicorn_block **front; /* of code */
    struct stream_batch *batch;   /* the writer's */
    uint64_t *words;              /* of the batch, and STREAM_SLACK_WORDS more */
    uint64_t *header;             /* of the current block's record, unless inlined */
    struct unicorn_access access; /* access.next: where the next event goes */
    struct unicorn_run_state run_state;
    volatile uint64_t pause_at; /* instruction count not to go beyond; 0 asks for a pause now */
    bool joined;                /* the current block goes on in the next translation */
    bool recording;
    bool inlined;  /* by the translations themselves; false: by hooks */
    bool counting; /* count_blocks */
    bool guarded;  /* the block hook is the one for guards */
    volatile sig_atomic_t interrupted;
    enum unicorn_pause cause;
    uint64_t pause_pc;
    uint32_t pause_size;
    uint32_t pause_number;
    struct c2_error failure;
    bool failed;        /* outside of a run */
    uint64_t budget_at; /* instruction count at which this run ends */
    bool whole, full;   /* or before the block that goes beyond; which is next */
    /* A block of which the budget leaves only the first `steps` instructions: they are executed one by one, and `steps`
     * is how many are left. */
    struct unicorn_block *cut;
    uint64_t steps;
    enum unicorn_step step;
    bool single;     /* Unicorn uses translations of single instructions */
    uint64_t cut_pc; /* where a run was cut or stopped last, 0: the guest has been sent elsewhere since; ... */
    uint64_t cut_at; /* ... and at which instruction count */
    bool stopped;    /* engine_stop() */
    uint64_t guard_from, guard_bytes; /* engine_guard() */
    /* Where there may be a guard: the block that began last, the first byte behind it, and how the guest came there. */
    uint64_t began_pc, began_at, behind;
    bool arrived, beyond;
    uint64_t grow_at; /* instruction count at which to let the translation cache grow */
    uint64_t grow_step;
    bool translations_stale; /* Unicorn may hold rights that the tables no longer give */
    struct interpret_cpu cpu;
    uc_hook hooks[8];    /* never taken back */
    uc_hook access_hook; /* while recording */
};

extern const struct interpret_cpu unicorn_cpu_functions; /* unicorn_cpu.c; self is a struct unicorn */

/* ------------------------------------------------------------------ unicorn_record.c */
void unicorn_record_init(struct unicorn *u);
/* Ends the record of the current block, of which `insns` instructions completed. */
enum c2_status unicorn_record_close_partly(struct unicorn *u, unsigned insns);

/* Slots of the block's first `insns` instructions. */
unsigned unicorn_record_slots(const struct unicorn_block *block, unsigned insns);

/* Begins the record of a block; false: the batch before it could not be handed on, and `failure` says why. */
static inline bool unicorn_record_open(struct unicorn *u, const struct unicorn_block *block)
{
    if (C2_UNLIKELY(stream_writer_room(u->base.config.writer, block->slots, &u->failure) != C2_OK))
        return false;
    C2_PROMISE(!u->run_state.current && u->batch->used + block->slots < STREAM_BATCH_WORDS);
    u->header = u->run_state.base = u->words + u->batch->used;
    u->access.next = u->header + 1;
    if (u->inlined) {
        *u->run_state.base = block->header;
        u->run_state.next = u->run_state.base + 1 + block->slots;
    }
    return true;
}

/* What translations have recorded, all of it whole. */
static inline void unicorn_record_take(struct unicorn *u) { u->batch->used = (uint32_t)(u->run_state.next - u->words); }

/* Ends the record of the current block, if there is one: all of it was executed. */
static inline enum c2_status unicorn_record_close(struct unicorn *u)
{
    struct unicorn_block *block = u->run_state.current;
    if (!block)
        return C2_OK;
    if (!u->recording || u->inlined) {
        u->run_state.current = NULL;
        if (u->recording)
            unicorn_record_take(u);
        return C2_OK;
    }
    bool plain = block->direct && (size_t)(u->access.next - u->header) == block->slots + 1u;
    if (!SHORTCUT(plain))
        return unicorn_record_close_partly(u, block->insns);
    C2_PROMISE(u->header == u->words + u->batch->used);
    *u->header = block->header;
    u->batch->used += block->slots + 1u;
    u->run_state.current = NULL;
    return C2_OK;
}

#endif
