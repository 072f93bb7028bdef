/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The recording: the end that reads.
 *
 * Model
 *   A file or a pipe is taken chunk by chunk; recording_items.c makes records of them. What a recording says of its run
 *   comes first, and is read when it is opened.
 * Invariants
 *   Nothing that was read is used before it was checked: lengths, heads and checksums here. A chunk is unpacked into
 *   memory that was there before, so no length asks for any.
 *   The counts at the end are those of what was read. What comes behind the end, or lacks before it, is an error.
 * Not modelled
 *   No index: to get to a place in a recording is to play it from the start.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/recording_reader_priv.h"

/* ------------------------------------------------------------------ errors */

bool recording_damaged(struct stream_recording *r, const char *what)
{
    r->status = c2_fail(r->err, C2_ERR_FORMAT,
                        "the recording %s is damaged: %s, in the part that begins at byte %" PRIu64
                        "; record the run again",
                        r->name, what, r->chunk);
    return false;
}

static bool out_of_memory(struct stream_recording *r)
{
    r->status = c2_fail_memory(r->err, "a recording");
    return false;
}

bool recording_good(struct stream_recording *r, enum c2_status status)
{
    r->status = status;
    return status == C2_OK;
}

/* ------------------------------------------------------------------ bytes */

static bool recording_read_bytes(struct stream_recording *r, void *to, size_t count)
{
    const size_t got = fread(to, 1, count, r->from);
    r->offset += got;
    if (got == count)
        return true;
    if (ferror(r->from))
        r->status = c2_fail(r->err, C2_ERR_IO, "cannot read the recording %s: %s", r->name, strerror(errno));
    else
        r->status = c2_fail(r->err, C2_ERR_FORMAT,
                            "the recording %s ends at byte %" PRIu64
                            ", before its end: it was cut, or its writer was stopped; record the run again",
                            r->name, r->offset);
    return false;
}

/* ------------------------------------------------------------------ chunks */

static bool recording_open_content(struct stream_recording *r, size_t bytes)
{
    const uint8_t *content = r->chunks.content;
    const uint32_t control = c2_get_u32(content + 5);
    if (control > bytes - RECORDING_HEAD_BYTES)
        return recording_damaged(r, "its first section is longer than the part");
    r->kind = (enum recording_chunk)content[4];
    r->control = (struct recording_section){content + RECORDING_HEAD_BYTES, content + RECORDING_HEAD_BYTES + control};
    r->values = (struct recording_section){r->control.end, content + bytes};
    r->words_left = RECORDING_CHUNK_WORDS;
    return true;
}

static bool next_chunk(struct stream_recording *r)
{
    uint8_t length[C2_CHUNK_LENGTH];
    size_t packed, bytes;
    r->chunk = r->offset;
    if (!recording_read_bytes(r, length, sizeof length))
        return false;
    if (!c2_chunks_length(&packed, &r->chunks, length))
        return recording_damaged(r, "its length cannot be right");
    if (!recording_read_bytes(r, r->chunks.packed, packed))
        return false;
    const char *problem = c2_chunks_unpack(&bytes, &r->chunks, packed, RECORDING_HEAD_BYTES);
    return problem ? recording_damaged(r, problem) : recording_open_content(r, bytes);
}

/* ------------------------------------------------------------------ the start */

static bool recording_take_start(struct stream_recording *r)
{
    uint8_t start[RECORDING_MAGIC_BYTES + 4];
    const size_t got = fread(start, 1, sizeof start, r->from);
    const size_t known = got < RECORDING_MAGIC_BYTES ? got : RECORDING_MAGIC_BYTES;
    if (ferror(r->from) || (got < sizeof start && memcmp(start, RECORDING_MAGIC, known) == 0)) {
        r->offset = got;
        return recording_read_bytes(r, start, 1); /* says why */
    }
    r->offset = got;
    if (memcmp(start, RECORDING_MAGIC, known) != 0)
        return recording_good(
            r, c2_fail(r->err, C2_ERR_FORMAT,
                       "%s is no recording of a run: its first bytes are other ones; name a file that was "
                       "recorded by c2emu",
                       r->name));
    const uint32_t version = c2_get_u32(start + RECORDING_MAGIC_BYTES);
    if (version == RECORDING_VERSION)
        return true;
    return recording_good(
        r, c2_fail(r->err, C2_ERR_UNSUPPORTED,
                   "the recording %s has format %u, and this c2emu knows format %u: use the c2emu that wrote it, "
                   "or record the run again with this one",
                   r->name, version, RECORDING_VERSION));
}

static char *recording_copy_text(const uint8_t *from, size_t bytes)
{
    char *text = c2_alloc(bytes + 1);
    if (!text)
        return NULL;
    memcpy(text, from, bytes);
    text[bytes] = '\0';
    return text;
}

/* A fact begins. */
static bool add_fact(struct stream_recording *r, size_t name_bytes)
{
    if (!c2_grow((void **)&r->facts, &r->fact_room, r->fact_count, sizeof *r->facts))
        return out_of_memory(r);
    char *name = recording_copy_text(r->control.at, name_bytes), *value = recording_copy_text(r->control.at, 0);
    r->facts[r->fact_count++] = (struct stream_fact){name, value};
    return (name && value) || out_of_memory(r);
}

/* What is left of the section comes behind the last fact's text. */
static bool continue_fact(struct stream_recording *r)
{
    struct stream_fact *fact = &r->facts[r->fact_count - 1];
    const size_t before = strlen(fact->value), bytes = (size_t)(r->control.end - r->control.at);
    char *value = c2_realloc((void *)fact->value, before + bytes + 1);
    if (!value)
        return out_of_memory(r);
    memcpy(value + before, r->control.at, bytes);
    value[before + bytes] = '\0';
    fact->value = value;
    return true;
}

static bool take_fact(struct stream_recording *r)
{
    uint64_t name_bytes;
    const size_t bytes = (size_t)(r->control.end - r->control.at);
    r->fact_bytes += bytes + 1;
    if (r->fact_bytes > RECORDING_FACT_BYTES || memchr(r->control.at + 1, 0, bytes == 0 ? 0 : bytes - 1))
        return recording_damaged(r, "it says of its run what cannot be right");
    if (!recording_get_number(r, &r->control, STREAM_FACT_NAME_BYTES, &name_bytes))
        return false;
    if (name_bytes > (size_t)(r->control.end - r->control.at) || (name_bytes == 0 && r->fact_count == 0))
        return recording_damaged(r, "it names nothing that it could say of its run");
    if (name_bytes != 0 && !add_fact(r, name_bytes))
        return false;
    r->control.at += name_bytes;
    return continue_fact(r);
}

/* Up to the first chunk that has no fact. `again`: they are known. */
static bool recording_start(struct stream_recording *r, bool again)
{
    r->offset = 0;
    r->chunk = 0;
    r->chunks.check = RECORDING_VERSION;
    if (!recording_take_start(r) || !recording_good(r, recording_model_start(&r->model, r->err)))
        return false;
    while (next_chunk(r)) {
        if (r->kind != RECORDING_FACTS)
            return true;
        if (!again && !take_fact(r))
            return false;
    }
    return false;
}

/* ------------------------------------------------------------------ life */

static bool recording_make_buffers(struct stream_recording *r, const char *name)
{
    r->name = c2_strdup(name);
    r->batch = c2_alloc(sizeof *r->batch);
    return r->name && r->batch;
}

enum c2_status stream_recording_open(struct stream_recording **out, FILE *from, const char *name, struct c2_error *err)
{
    return stream_recording_open_at(out, from, 0, name, err);
}

enum c2_status stream_recording_open_at(struct stream_recording **out, FILE *from, long start_at, const char *name,
                                        struct c2_error *err)
{
    *out = NULL;
    struct stream_recording *r = c2_calloc(1, sizeof *r);
    if (!r)
        return c2_fail_memory(err, "a recording");
    r->from = from;
    r->err = err;
    r->start = start_at;
    r->seekable = fseek(from, start_at, SEEK_SET) == 0;
    enum c2_status status = stream_blocks_create(&r->blocks, err);
    if (status == C2_OK)
        status = c2_chunks_create(&r->chunks, false, RECORDING_CONTENT_BYTES, RECORDING_VERSION, 0, err);
    if (status == C2_OK && !recording_make_buffers(r, name))
        status = c2_fail_memory(err, "a recording");
    if (status == C2_OK && !recording_start(r, false))
        status = r->status;
    if (status != C2_OK) {
        stream_recording_close(r);
        return status;
    }
    *out = r;
    return C2_OK;
}

void stream_recording_close(struct stream_recording *recording)
{
    if (!recording)
        return;
    for (uint32_t i = 0; i < recording->fact_count; i++) {
        c2_free((void *)recording->facts[i].name);
        c2_free((void *)recording->facts[i].value);
    }
    c2_free(recording->facts);
    c2_chunks_release(&recording->chunks);
    recording_model_release(&recording->model);
    stream_marks_destroy(recording->marks);
    stream_blocks_destroy(recording->blocks);
    c2_free(recording->batch);
    c2_free(recording->name);
    c2_free(recording);
}

const struct stream_blocks *stream_recording_blocks(const struct stream_recording *recording)
{
    return recording->blocks;
}

const char *stream_recording_fact(struct stream_recording *recording, const char *name)
{
    for (uint32_t i = 0; i < recording->fact_count; i++) {
        const uint32_t at = (recording->fact_asked + i) % recording->fact_count;
        if (strcmp(recording->facts[at].name, name) != 0)
            continue;
        recording->fact_asked = at;
        return recording->facts[at].value;
    }
    return NULL;
}

void stream_recording_distrust(struct stream_recording *recording) { recording->distrusted = true; }

uint64_t stream_recording_instructions(const struct stream_recording *recording)
{
    return recording->model.totals.instructions;
}

/* ------------------------------------------------------------------ the end */

static bool recording_take_end(struct stream_recording *r)
{
    const struct recording_totals *totals = &r->model.totals;
    const uint64_t counted[] = {totals->records, totals->marks, totals->instructions, totals->references,
                                r->model.block_count};
    uint64_t said;
    for (unsigned i = 0; i < sizeof counted / sizeof *counted; i++) {
        if (!recording_get_number(r, &r->control, UINT64_MAX, &said))
            return false;
        if (said != counted[i])
            return recording_damaged(r, "its counts at the end are not those of what it holds");
    }
    if (r->control.at != r->control.end || r->values.at != r->values.end || getc(r->from) != EOF)
        return recording_damaged(r, "something comes behind its end");
    return true;
}

static bool rewind_it(struct stream_recording *r)
{
    if (r->seekable && fseek(r->from, r->start, SEEK_SET) == 0)
        return recording_start(r, true);
    return recording_good(r, c2_fail(r->err, C2_ERR_UNSUPPORTED,
                                     "the recording %s comes from a pipe and can be played once: write it to a file",
                                     r->name));
}

static bool restart_marks(struct stream_recording *r)
{
    stream_marks_destroy(r->marks);
    return recording_good(r, stream_marks_create(&r->marks, r->err));
}

static bool recording_play(struct stream_recording *r)
{
    if (r->started && !rewind_it(r))
        return false;
    r->started = true;
    if (r->distrusted && !restart_marks(r))
        return false;
    r->batch->used = 0;
    r->batch->tid = 1;
    while (r->kind == RECORDING_STREAM)
        if (!recording_take_items(r) || !next_chunk(r))
            return false;
    while (r->kind == RECORDING_FACTS)
        if ((!r->facts_known && !take_fact(r)) || !next_chunk(r))
            return false;
    r->facts_known = true;
    if (r->kind != RECORDING_END)
        return recording_damaged(r, "its kind cannot be right");
    return recording_take_end(r) && recording_deliver(r);
}

enum c2_status stream_recording_play(struct stream_recording *recording, struct stream_sink to, struct c2_error *err)
{
    recording->to = to;
    recording->err = err;
    recording->status = C2_OK;
    const bool whole = recording_play(recording);
    C2_ASSERT(whole == (recording->status == C2_OK));
    return recording->status;
}

/* ------------------------------------------------------------------ without a name */

enum c2_status stream_temporary(FILE **out, struct c2_error *err)
{
    const char *directory = getenv("TMPDIR");
    char *path = c2_format("%s/c2emu-XXXXXX", !directory || directory[0] == '\0' ? "/tmp" : directory);
    *out = NULL;
    if (!path)
        return c2_fail_memory(err, "the name of a temporary file");
    const int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        *out = fdopen(fd, "w+b");
        if (!*out)
            close(fd);
    }
    enum c2_status status = C2_OK;
    if (!*out)
        status = c2_fail(err, C2_ERR_IO, "cannot make a temporary file %s: %s (TMPDIR names another directory)", path,
                         strerror(errno));
    c2_free(path);
    return status;
}
