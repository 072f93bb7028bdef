/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The file itself.
 *
 * Model
 *   A start (magic bytes, format, version of the program), then the state as a row of bytes, cut into chunks that
 *   are compressed one by one. Each chunk begins with the checksum of the one before and ends with its own, so that
 *   one that is missing, changed or in another place shows before anything in it is used.
 * Invariants
 *   A chunk is unpacked into memory that was there before; whatever is allocated while reading is in proportion to what
 *   has been read.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/checkpoint_priv.h"

#define MAGIC \
    "\x89\x43\x32" \
    "CKP\r\n" /* as a recording's: no text has them */
#define MAGIC_BYTES 8u
#define LEVEL 3
#define CONTENT_BYTES C2_HOST_SIZE(128u << 10, 512u)
#define CONTENT_MOST (128u << 10)
#define VERSION_BYTES 63u

/* ------------------------------------------------------------------ failures */

bool checkpoint_writes(const struct checkpoint *c) { return c->writes; }

enum c2_status checkpoint_status(const struct checkpoint *c, struct c2_error *err)
{
    return checkpoint_good(c) ? C2_OK : c2_fail(err, c->failure.status, "%s", c->failure.text);
}

void checkpoint_fail(struct checkpoint *c, const struct c2_error *why)
{
    if (checkpoint_good(c))
        c->failure = *why;
}

void checkpoint_damaged(struct checkpoint *c, const char *what)
{
    if (!checkpoint_good(c))
        return;
    c2_fail(&c->failure, C2_ERR_FORMAT,
            "the checkpoint %s is damaged: %s (%s, in the part that begins at byte %" PRIu64 "); make it again",
            c->name, what, c->part, c->chunk);
}

void checkpoint_refuse(struct checkpoint *c, const char *format, ...)
{
    char text[800];
    va_list values;
    if (!checkpoint_good(c))
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    c2_fail(&c->failure, C2_ERR_UNSUPPORTED, "the checkpoint %s cannot be written: %s", c->name, text);
}

static void checkpoint_fail_host(struct checkpoint *c)
{
    c2_fail(&c->failure, C2_ERR_IO, "cannot %s the checkpoint %s: %s", c->writes ? "write" : "read", c->name,
            strerror(errno));
}

/* ------------------------------------------------------------------ the host's file */

static void checkpoint_put(struct checkpoint *c, const void *bytes, size_t count)
{
    if (checkpoint_good(c) && fwrite(bytes, 1, count, c->file) != count)
        checkpoint_fail_host(c);
}

static bool checkpoint_get(struct checkpoint *c, void *to, size_t count)
{
    if (!checkpoint_good(c))
        return false;
    const size_t got = fread(to, 1, count, c->file);
    c->offset += got;
    if (got == count)
        return true;
    if (ferror(c->file))
        checkpoint_fail_host(c);
    else
        c2_fail(&c->failure, C2_ERR_FORMAT,
                "the checkpoint %s ends at byte %" PRIu64 ", before its end: it was cut; make it again", c->name,
                c->offset);
    return false;
}

/* ------------------------------------------------------------------ chunks */

static void checkpoint_put_chunk(struct checkpoint *c)
{
    size_t bytes;
    struct c2_error why;
    if (c2_chunks_pack(&bytes, &c->chunks, c->used, &why) == C2_OK)
        checkpoint_put(c, c->chunks.packed, bytes);
    else
        checkpoint_fail(c, &why);
    c->used = C2_CHUNK_CHAIN;
}

static void get_chunk(struct checkpoint *c)
{
    uint8_t length[C2_CHUNK_LENGTH];
    size_t bytes;
    c->chunk = c->offset;
    if (!checkpoint_get(c, length, sizeof length))
        return;
    if (!c2_chunks_length(&bytes, &c->chunks, length)) {
        checkpoint_damaged(c, "its length cannot be right");
        return;
    }
    if (!checkpoint_get(c, c->chunks.packed, bytes))
        return;
    const char *problem = c2_chunks_unpack(&c->filled, &c->chunks, bytes, C2_CHUNK_CHAIN + 1);
    c->used = C2_CHUNK_CHAIN;
    if (problem)
        checkpoint_damaged(c, problem);
}

void checkpoint_bytes(struct checkpoint *c, void *bytes, size_t count)
{
    uint8_t *at = bytes;
    while (count > 0 && checkpoint_good(c)) {
        const size_t end = c->writes ? CONTENT_BYTES : c->filled;
        const size_t part = end - c->used < count ? end - c->used : count;
        if (c->writes)
            memcpy(c->chunks.content + c->used, at, part);
        else
            memcpy(at, c->chunks.content + c->used, part);
        c->used += part;
        at += part;
        count -= part;
        if (count > 0 && c->writes)
            checkpoint_put_chunk(c);
        else if (count > 0)
            get_chunk(c);
    }
    if (!c->writes)
        memset(at, 0, count);
}

/* ------------------------------------------------------------------ the start */

static void checkpoint_put_start(struct checkpoint *c, const char *version)
{
    uint8_t start[MAGIC_BYTES + 4];
    char *text = (char *)version;
    memcpy(start, MAGIC, MAGIC_BYTES);
    c2_put_u32(start + MAGIC_BYTES, CHECKPOINT_FORMAT);
    checkpoint_put(c, start, sizeof start);
    checkpoint_text(c, &text, VERSION_BYTES);
}

static void refuse_version(struct checkpoint *c, const char *there, uint32_t format, const char *here)
{
    c2_fail(&c->failure, C2_ERR_UNSUPPORTED,
            "the checkpoint %s is of c2emu %s, format %" PRIu32
            ", and this is c2emu %s, format %u: restore it with the "
            "c2emu that made it, or make it again with this one",
            c->name, there, format, here, CHECKPOINT_FORMAT);
}

/* The text of the version comes first in every format. */
static void get_start(struct checkpoint *c, const char *version)
{
    uint8_t start[MAGIC_BYTES + 4];
    char *there = NULL;
    if (!checkpoint_get(c, start, MAGIC_BYTES))
        return;
    if (memcmp(start, MAGIC, MAGIC_BYTES) != 0) {
        c2_fail(&c->failure, C2_ERR_FORMAT,
                "%s is no checkpoint: its first bytes are other ones; name a file that --checkpoint has written",
                c->name);
        return;
    }
    if (!checkpoint_get(c, start + MAGIC_BYTES, 4))
        return;
    const uint32_t format = c2_get_u32(start + MAGIC_BYTES);
    checkpoint_text(c, &there, VERSION_BYTES);
    if (format != CHECKPOINT_FORMAT)
        refuse_version(c, there ? there : "(unknown)", format, version);
    else if (checkpoint_good(c) && (!there || strcmp(there, version) != 0))
        refuse_version(c, there ? there : "(unknown)", format, version);
    c2_free(there);
}

/* ------------------------------------------------------------------ life */

static enum c2_status checkpoint_open_file(struct checkpoint **out, FILE *file, bool writes, const char *name,
                                           const char *version, struct c2_error *err)
{
    *out = NULL;
    struct checkpoint *c = c2_calloc(1, sizeof *c);
    if (!c)
        return c2_fail_memory(err, "a checkpoint");
    *c = (struct checkpoint){
        .file = file, .writes = writes, .part = "its start", .used = C2_CHUNK_CHAIN, .name = c2_strdup(name)};
    c->changed = (struct c2_words){c->changed_text, sizeof c->changed_text, 0};
    c->filled = writes ? 0 : C2_CHUNK_CHAIN;
    enum c2_status status = c2_chunks_create(&c->chunks, writes, CONTENT_MOST, CHECKPOINT_FORMAT, LEVEL, err);
    if (status == C2_OK && !c->name)
        status = c2_fail_memory(err, "a checkpoint");
    if (status == C2_OK && writes)
        checkpoint_put_start(c, version);
    else if (status == C2_OK)
        get_start(c, version);
    if (status == C2_OK)
        status = checkpoint_status(c, err);
    if (status == C2_OK)
        *out = c;
    else
        checkpoint_close(c);
    return status;
}

enum c2_status checkpoint_write(struct checkpoint **out, FILE *to, const char *name, const char *version,
                                struct c2_error *err)
{
    return checkpoint_open_file(out, to, true, name, version, err);
}

enum c2_status checkpoint_read(struct checkpoint **out, FILE *from, const char *name, const char *version,
                               struct c2_error *err)
{
    return checkpoint_open_file(out, from, false, name, version, err);
}

enum c2_status checkpoint_finish(struct checkpoint *c, struct c2_error *err)
{
    if (checkpoint_good(c) && c->writes && c->used > C2_CHUNK_CHAIN)
        checkpoint_put_chunk(c);
    if (!c->writes && c->used != c->filled)
        checkpoint_damaged(c, "there is more than can be");
    if (checkpoint_good(c) && c->changed_count != 0)
        c2_fail(&c->failure, C2_ERR_INVALID, "the checkpoint %s cannot be restored: %s", c->name, c->changed_text);
    return checkpoint_status(c, err);
}

void checkpoint_close(struct checkpoint *c)
{
    if (!c)
        return;
    c2_chunks_release(&c->chunks);
    for (uint32_t i = 0; i < c->cut_count; i++)
        close(c->cuts[i].fd);
    c2_free(c->cuts);
    c2_free(c->name);
    c2_free(c);
}
