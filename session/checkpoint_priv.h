/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * checkpoint_priv: a checkpoint of a run, to be written (checkpoint.c) and to go on from (restore.c).
 */
#ifndef C2_SESSION_CHECKPOINT_PRIV_H
#define C2_SESSION_CHECKPOINT_PRIV_H

#include "session/session_priv.h"

/* ------------------------------------------------------------------ saved.c: what of a run is no room's */
struct session_texts {
    char **list; /* NULL-terminated */
    uint32_t count, room;
};
struct session_saved {
    struct session_texts command, environment, wrappers;
    uint64_t seed, clock_start;
    bool clock_set;
    char *cpu;             /* the processor that the guest found, by its name for --cpu, */
    uint64_t cpu_features; /* and what it had */
    struct mmu_guest_config guest;
    struct loader_image image;
    uint64_t instructions;
    bool caches; /* the references that led here are in the recording */
};
struct session_texts session_texts_of(const char *const *list); /* lends it */
void session_saved_checkpoint(struct session_saved *saved, struct checkpoint *checkpoint);
void session_saved_release(struct session_saved *saved); /* of one that was read */
/* Whether the guest goes on on the processor that it found; the checkpoint at `path`. */
enum c2_status session_saved_suits(const struct session_saved *saved, const char *path, const struct cpu_model *cpu,
                                   struct c2_error *err);

/* ------------------------------------------------------------------ checkpoint.c: --checkpoint */
struct session_saver;
/* Opens the file. blocks: of the stream; lent. */
enum c2_status session_saver_create(struct session_saver **out, const struct session_options *options,
                                    const struct stream_blocks *blocks, struct c2_error *err);
void session_saver_destroy(struct session_saver *saver); /* takes NULL; without session_saver_save there is no file */
/* Each batch of the stream, until it is saved; afterwards nothing is done. */
enum c2_status session_saver_take(struct session_saver *saver, const struct stream_batch *batch, struct c2_error *err);
/* The stream is flushed. Writes all of it; the file is there. */
enum c2_status session_saver_save(struct session_saver *saver, struct session_saved *saved, struct mmu *mmu,
                                  struct syscalls *kernel, struct emu *emu, struct c2_error *err);
bool session_saver_done(const struct session_saver *saver);

/* ------------------------------------------------------------------ restore.c: `c2emu restore` */
struct session_restored {
    const char *path;
    FILE *file;
    struct checkpoint *state; /* what comes next is the memory */
    struct session_saved saved;
};
enum c2_status session_restored_open(struct session_restored **out, const char *path, struct c2_error *err);
void session_restored_close(struct session_restored *restored); /* takes NULL */
/* The options with what the checkpoint has of them: command, seed, clock, phases. Refuses those that go with none. The
 * strings are lent by both. */
enum c2_status session_restored_options(struct session_options *options, const struct session_restored *restored,
                                        struct c2_error *err);
/* Whether the memory that the options want can be placed: what the guest sees of it was decided at its start. */
enum c2_status session_restored_suits(const struct session_restored *restored, const struct mmu_guest_config *wanted,
                                      struct c2_error *err);
/* What led to the checkpoint goes into the stream, and files that the guest writes become what they were: nothing is
 * left to do but to run it. phase: the first one, NULL: there are none. */
enum c2_status session_restored_play(struct session_restored *restored, struct session_simulation *simulation,
                                     const struct emu_phase *phase, struct session_progress *progress,
                                     struct c2_error *err);

#endif
