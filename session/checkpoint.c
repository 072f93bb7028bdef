/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * checkpoint: --checkpoint, the state of a run in a file.
 *
 * Model
 *   A checkpoint is the state of the guest, and a recording of the stream that led to it. No lane is saved: a run that
 *   goes on gives the recording to the lanes of then, which come to where they would be, whatever machine, placement
 *   and analyses they have. The recording has the marks alone (what was mapped, touched, allocated), as if all
 *   before the checkpoint had been skipped; with --checkpoint-caches the references, too. The recording is made from
 *   the run's start on, in a file without a name; the state is known only at the moment itself, and comes first in
 *   the checkpoint.
 * Invariants
 *   The file appears whole (c2_outfile). Phases are not in the recording: they are of the run that is made of it.
 */
#include <errno.h>
#include <string.h>

#include "session/checkpoint_priv.h"

struct session_saver {
    const char *path;
    bool caches, done;
    struct c2_outfile *file;
    FILE *recorded;
    struct stream_recorder *recorder;
    struct stream_blocks *none; /* what a recording without references has of blocks */
    struct stream_batch *kept;
};

#define RECORDED "for the checkpoint, in a temporary file (TMPDIR names another directory)"

/* ------------------------------------------------------------------ life */

static enum c2_status checkpoint_make(struct session_saver *saver, const struct stream_blocks *blocks,
                                      struct c2_error *err)
{
    enum c2_status status = c2_outfile_open(&saver->file, saver->path, err);
    if (status == C2_OK)
        status = stream_blocks_create(&saver->none, err);
    if (status == C2_OK)
        status = stream_temporary(&saver->recorded, err);
    return status == C2_OK ? stream_recorder_create(&saver->recorder, saver->recorded, RECORDED,
                                                    saver->caches ? blocks : saver->none, NULL, 0, err)
                           : status;
}

enum c2_status session_saver_create(struct session_saver **out, const struct session_options *options,
                                    const struct stream_blocks *blocks, struct c2_error *err)
{
    struct session_saver *saver = *out = c2_calloc(1, sizeof *saver);
    if (!saver || !(saver->kept = c2_calloc(1, sizeof *saver->kept)))
        return c2_fail_memory(err, "a checkpoint");
    saver->path = options->checkpoint;
    saver->caches = options->checkpoint_caches;
    return checkpoint_make(saver, blocks, err);
}

void session_saver_destroy(struct session_saver *saver)
{
    if (!saver)
        return;
    c2_outfile_abandon(saver->file);
    stream_recorder_destroy(saver->recorder);
    stream_blocks_destroy(saver->none);
    if (saver->recorded)
        fclose(saver->recorded);
    c2_free(saver->kept);
    c2_free(saver);
}

bool session_saver_done(const struct session_saver *saver) { return saver->done; }

/* ------------------------------------------------------------------ the stream */

static bool is_kept(const struct session_saver *saver, uint64_t header)
{
    if (stream_header_block(header) != STREAM_MARK)
        return saver->caches;
    return stream_header_insns(header) != STREAM_PHASE;
}

enum c2_status session_saver_take(struct session_saver *saver, const struct stream_batch *batch, struct c2_error *err)
{
    struct stream_batch *kept = saver->kept;
    if (saver->done)
        return C2_OK;
    kept->used = 0;
    kept->tid = batch->tid;
    for (uint32_t i = 0, words; i < batch->used; i += words) {
        words = 1 + stream_header_slots(batch->words[i]);
        if (!is_kept(saver, batch->words[i]))
            continue;
        memcpy(&kept->words[kept->used], &batch->words[i], words * sizeof *kept->words);
        kept->used += words;
    }
    const struct stream_sink sink = stream_recorder_sink(saver->recorder);
    return sink.consume(sink.self, kept, err);
}

/* ------------------------------------------------------------------ the file */

static enum c2_status write_state(const struct session_saver *saver, struct session_saved *saved, struct mmu *mmu,
                                  struct syscalls *kernel, struct emu *emu, struct c2_error *err)
{
    struct checkpoint *state;
    enum c2_status status = checkpoint_write(&state, c2_outfile_stream(saver->file), saver->path, C2_VERSION, err);
    if (status != C2_OK)
        return status;
    session_saved_checkpoint(saved, state);
    mmu_checkpoint(mmu, state);
    syscalls_checkpoint(kernel, state);
    emu_checkpoint(emu, state);
    status = checkpoint_finish(state, err);
    checkpoint_close(state);
    return status;
}

/* What cannot be written shows when the file is committed. */
static enum c2_status copy_recording(const struct session_saver *saver, struct c2_error *err)
{
    char part[16384];
    size_t got;
    enum c2_status status = stream_recorder_finish(saver->recorder, NULL, 0, err);
    if (status != C2_OK)
        return status;
    rewind(saver->recorded);
    while ((got = fread(part, 1, sizeof part, saver->recorded)) > 0)
        fwrite(part, 1, got, c2_outfile_stream(saver->file));
    return ferror(saver->recorded)
               ? c2_fail(err, C2_ERR_IO, "cannot read the recording %s: %s", RECORDED, strerror(errno))
               : C2_OK;
}

enum c2_status session_saver_save(struct session_saver *saver, struct session_saved *saved, struct mmu *mmu,
                                  struct syscalls *kernel, struct emu *emu, struct c2_error *err)
{
    saved->caches = saver->caches;
    saver->done = true;
    enum c2_status status = write_state(saver, saved, mmu, kernel, emu, err);
    if (status == C2_OK)
        status = copy_recording(saver, err);
    if (status != C2_OK)
        return status;
    status = c2_outfile_commit(saver->file, err);
    saver->file = NULL; /* gone either way */
    return status;
}
