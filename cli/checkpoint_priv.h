/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * checkpoint_priv: a checkpoint of a run, to be written (checkpoint.c) and to go on from (restore.c).
 */
#ifndef C2_CLI_CHECKPOINT_PRIV_H
#define C2_CLI_CHECKPOINT_PRIV_H

#include "cli/cli_priv.h"

/* ------------------------------------------------------------------ saved.c: what of a run is no room's */
struct cli_texts {
    char **list; /* NULL-terminated */
    uint32_t count, room;
};
struct cli_saved {
    struct cli_texts command, environment, wrappers;
    uint64_t seed, clock_start;
    bool clock_set;
    char *cpu;             /* the processor that the guest found, by its name for --cpu, */
    uint64_t cpu_features; /* and what it had */
    struct mmu_guest_config guest;
    struct loader_image image;
    uint64_t instructions;
    bool caches; /* the references that led here are in the recording */
};
struct cli_texts cli_texts_of(const char *const *list); /* lends it */
void cli_saved_checkpoint(struct cli_saved *saved, struct checkpoint *checkpoint);
void cli_saved_release(struct cli_saved *saved); /* of one that was read */
/* Whether the guest goes on on the processor that it found; the checkpoint at `path`. */
enum c2_status cli_saved_suits(const struct cli_saved *saved, const char *path, const struct cpu_model *cpu,
                               struct c2_error *err);

/* ------------------------------------------------------------------ checkpoint.c: --checkpoint */
struct cli_saver;
/* Opens the file. blocks: of the stream; lent. */
enum c2_status cli_saver_create(struct cli_saver **out, const struct cli_options *options,
                                const struct stream_blocks *blocks, struct c2_error *err);
void cli_saver_destroy(struct cli_saver *saver); /* takes NULL; without cli_saver_save there is no file */
/* Each batch of the stream, until it is saved; afterwards nothing is done. */
enum c2_status cli_saver_take(struct cli_saver *saver, const struct stream_batch *batch, struct c2_error *err);
/* The stream is flushed. Writes all of it; the file is there. */
enum c2_status cli_saver_save(struct cli_saver *saver, struct cli_saved *saved, struct mmu *mmu,
                              struct syscalls *kernel, struct emu *emu, struct c2_error *err);
bool cli_saver_done(const struct cli_saver *saver);

/* ------------------------------------------------------------------ restore.c: `c2emu restore` */
struct cli_restored {
    const char *path;
    FILE *file;
    struct checkpoint *state; /* what comes next is the memory */
    struct cli_saved saved;
};
enum c2_status cli_restored_open(struct cli_restored **out, const char *path, struct c2_error *err);
void cli_restored_close(struct cli_restored *restored); /* takes NULL */
/* The options with what the checkpoint has of them: command, seed, clock, phases. Refuses those that go with none. The
 * strings are lent by both. */
enum c2_status cli_restored_options(struct cli_options *options, const struct cli_restored *restored,
                                    struct c2_error *err);
/* Whether the memory that the options want can be placed: what the guest sees of it was decided at its start. */
enum c2_status cli_restored_suits(const struct cli_restored *restored, const struct mmu_guest_config *wanted,
                                  struct c2_error *err);
/* What led to the checkpoint goes into the stream, and files that the guest writes become what they were: nothing is
 * left to do but to run it. phase: the first one, NULL: there are none. */
enum c2_status cli_restored_play(struct cli_restored *restored, struct cli_simulation *simulation,
                                 const struct emu_phase *phase, struct cli_progress *progress, struct c2_error *err);

#endif
