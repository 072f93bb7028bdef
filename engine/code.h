/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * code: what every engine asks of the guest's code, whatever it makes of it: how much of it can be read, whether it may
 * change, what watches it; and instructions that are interpreted, with their events and records.
 */
#ifndef C2_ENGINE_CODE_H
#define C2_ENGINE_CODE_H

#include "engine/decode.h"
#include "engine/engine.h"
#include "interpret/interpret.h"

/* An instruction to interpret, or what is none; alone in its block or not. */
struct engine_special {
    uint64_t pc;
    struct decode_insn insn;
    enum decode_result decoded;                  /* CUT: the rest lies on a page that is not there yet */
    bool stale;                                  /* its page may be gone: decode again */
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH]; /* what was decoded */
    uint32_t number;                             /* of the stream block, where it is alone; its slots */
    uint8_t slots;
    uint64_t executed; /* times alone; the engine counts */
    uint32_t own;      /* the engine's, 0 at first */
};

/* Of one program; zeroed before the first. */
struct engine_code {
    const struct mmu *mmu;
    struct stream_blocks *blocks;
    struct engine_watch watch;
    const struct cpu_model *cpu; /* as decode_splits has it */
    struct c2_map *watched;      /* pcs given to engine_code_watch() */
    struct c2_map *specials;     /* pc -> struct engine_special * */
    struct engine_special **all_specials;
    size_t special_count, special_capacity;
    struct decode_block scratch;
};
/* A program begins; what an earlier one had to interpret is decoded anew when it is met. */
enum c2_status engine_code_begin(struct engine_code *code, const struct engine_config *config, struct c2_error *err);
void engine_code_release(struct engine_code *code);

/* How many bytes may be read from pc, whose page is there: to the end of that, or of the next if that is executable. */
uint64_t engine_code_readable(const struct engine_code *code, uint64_t pc);
/* Whether the code may change without a word from mmu/: its pages are writable, or shared. */
bool engine_code_may_change(const struct engine_code *code, uint64_t pc, uint32_t bytes);
struct decode_splits engine_code_splits(const struct engine_code *code);
/* How many instructions more the block at pc, of `insns` instructions up to `end`, would have without a split for
 * another block to start there. */
uint16_t engine_code_rest(struct engine_code *code, uint64_t pc, uint16_t insns, struct guest_va end);
/* Whether there is a listener for blocks that start at pc; ... */
enum c2_status engine_code_is_watched(bool *out, struct engine_code *code, uint64_t pc, struct c2_error *err);
enum c2_status engine_code_watch(struct engine_code *code, uint64_t pc, struct c2_error *err); /* ... from now on */
/* Whether two stretches of bytes have one in common. */
bool engine_code_overlaps(uint64_t start, uint64_t bytes, uint64_t other, uint64_t other_bytes);

/* ------------------------------------------------------------------ instructions that are interpreted (special.c) */
/* Whether the references of the instruction, which the guest's processor has, depend on a mask: what it touches makes a
 * shape, and blocks are those of its shapes (shapes.h). */
bool engine_special_is_masked(const struct engine_special *special, const struct cpu_model *cpu);
/* The one at pc; added if need be, and a block of the stream if it is alone in its own and not masked. */
enum c2_status engine_special_at(struct engine_special **out, struct engine_code *code, uint64_t pc,
                                 struct c2_error *err);
/* Those in the range are decoded anew. */
void engine_specials_forget(struct engine_code *code, uint64_t start, uint64_t bytes);
/* What was executed of each since the last call (engine_take_executed). */
void engine_specials_take(struct engine_code *code, void (*take)(void *self, struct guest_va pc, uint64_t instructions),
                          void *self);
/* Executes it; *traced: with TF set. False: it cannot be, and *event says why. */
bool engine_special_execute(const struct engine_special *special, const struct interpret_cpu *cpu,
                            struct interpret_effect *effect, bool *traced, struct engine_event *event);
/* Writes the record of one that is alone: of what was done, maybe the first elements of a string instruction. */
enum c2_status engine_special_record(const struct engine_special *special, const struct interpret_effect *effect,
                                     struct stream_writer *writer, struct c2_error *err);
/* Behind it, *rip is where the guest goes on. False: it does not by itself, and *event says why. */
bool engine_special_finish(const struct engine_special *special, const struct interpret_effect *effect, bool traced,
                           uint64_t *rip, struct engine_event *event);
/* ENGINE_REFUSED, with this text. */
struct engine_event engine_refusal(const char *why);

#endif
