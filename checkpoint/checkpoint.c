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
#include <zstd.h>

#include "checkpoint/checkpoint_priv.h"

#define MAGIC \
    "\x89\x43\x32" \
    "CKP\r\n" /* as a recording's: no text has them */
#define MAGIC_BYTES 8u
#define LEVEL 3
#define HEAD_BYTES 4u
#define CONTENT_BYTES C2_HOST_SIZE(128u << 10, 512u)
#define CONTENT_MOST (128u << 10)
#define VERSION_BYTES 63u
#define ZSTD_FRAME_START "\x28\xb5\x2f\xfd"
#define ZSTD_CHECKSUM_FLAG 4u /* in the byte behind it */

static void put_u32(uint8_t *to, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(n >> 8 * i);
}

static uint32_t get_u32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

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

static void fail_host(struct checkpoint *c)
{
    c2_fail(&c->failure, C2_ERR_IO, "cannot %s the checkpoint %s: %s", c->writes ? "write" : "read", c->name,
            strerror(errno));
}

/* ------------------------------------------------------------------ the host's file */

static void put(struct checkpoint *c, const void *bytes, size_t count)
{
    if (checkpoint_good(c) && fwrite(bytes, 1, count, c->file) != count)
        fail_host(c);
}

static bool get(struct checkpoint *c, void *to, size_t count)
{
    if (!checkpoint_good(c))
        return false;
    const size_t got = fread(to, 1, count, c->file);
    c->offset += got;
    if (got == count)
        return true;
    if (ferror(c->file))
        fail_host(c);
    else
        c2_fail(&c->failure, C2_ERR_FORMAT,
                "the checkpoint %s ends at byte %" PRIu64 ", before its end: it was cut; make it again", c->name,
                c->offset);
    return false;
}

/* ------------------------------------------------------------------ chunks */

static void put_chunk(struct checkpoint *c)
{
    put_u32(c->content, c->check);
    const size_t bytes = ZSTD_compress2(c->zstd, c->packed + 4, c->packed_room, c->content, c->used);
    if (ZSTD_isError(bytes)) {
        c2_fail(&c->failure, C2_ERR_INTERNAL, "cannot compress a part of a checkpoint: %s", ZSTD_getErrorName(bytes));
        return;
    }
    put_u32(c->packed, (uint32_t)bytes);
    c->check = get_u32(c->packed + bytes);
    put(c, c->packed, bytes + 4);
    c->used = HEAD_BYTES;
}

/* One frame of ours: with its checksum, a content that fits, and nothing behind it. */
static bool is_frame(const uint8_t *packed, size_t bytes)
{
    if (bytes < 16 || memcmp(packed, ZSTD_FRAME_START, 4) != 0 || !(packed[4] & ZSTD_CHECKSUM_FLAG))
        return false;
    const unsigned long long content = ZSTD_getFrameContentSize(packed, bytes);
    return content > HEAD_BYTES && content <= CONTENT_MOST && ZSTD_findFrameCompressedSize(packed, bytes) == bytes;
}

/* Why the chunk in packed is none; NULL: it is unpacked. */
static const char *unpack(struct checkpoint *c, size_t bytes)
{
    if (!is_frame(c->packed, bytes))
        return "its head cannot be right";
    c->filled = ZSTD_decompressDCtx(c->zstd, c->content, CONTENT_MOST, c->packed, bytes);
    if (ZSTD_isError(c->filled))
        return ZSTD_getErrorName(c->filled);
    if (get_u32(c->content) != c->check)
        return "it does not follow the part before";
    c->check = get_u32(c->packed + bytes - 4);
    c->used = HEAD_BYTES;
    return NULL;
}

static void get_chunk(struct checkpoint *c)
{
    uint8_t length[4];
    c->chunk = c->offset;
    if (!get(c, length, sizeof length))
        return;
    const uint32_t bytes = get_u32(length);
    if (bytes > c->packed_room) {
        checkpoint_damaged(c, "its length cannot be right");
        return;
    }
    if (!get(c, c->packed, bytes))
        return;
    const char *problem = unpack(c, bytes);
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
            memcpy(c->content + c->used, at, part);
        else
            memcpy(at, c->content + c->used, part);
        c->used += part;
        at += part;
        count -= part;
        if (count > 0 && c->writes)
            put_chunk(c);
        else if (count > 0)
            get_chunk(c);
    }
    if (!c->writes)
        memset(at, 0, count);
}

/* ------------------------------------------------------------------ the start */

static void put_start(struct checkpoint *c, const char *version)
{
    uint8_t start[MAGIC_BYTES + 4];
    char *text = (char *)version;
    memcpy(start, MAGIC, MAGIC_BYTES);
    put_u32(start + MAGIC_BYTES, CHECKPOINT_FORMAT);
    put(c, start, sizeof start);
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
    if (!get(c, start, MAGIC_BYTES))
        return;
    if (memcmp(start, MAGIC, MAGIC_BYTES) != 0) {
        c2_fail(&c->failure, C2_ERR_FORMAT,
                "%s is no checkpoint: its first bytes are other ones; name a file that --checkpoint has written",
                c->name);
        return;
    }
    if (!get(c, start + MAGIC_BYTES, 4))
        return;
    const uint32_t format = get_u32(start + MAGIC_BYTES);
    checkpoint_text(c, &there, VERSION_BYTES);
    if (format != CHECKPOINT_FORMAT)
        refuse_version(c, there ? there : "(unknown)", format, version);
    else if (checkpoint_good(c) && (!there || strcmp(there, version) != 0))
        refuse_version(c, there ? there : "(unknown)", format, version);
    c2_free(there);
}

/* ------------------------------------------------------------------ life */

static bool make_buffers(struct checkpoint *c, const char *name)
{
    c->name = c2_strdup(name);
    c->content = c2_alloc(CONTENT_MOST);
    c->packed_room = ZSTD_compressBound(CONTENT_MOST);
    c->packed = c2_alloc(c->packed_room + 4);
    c->zstd = c->writes ? (void *)ZSTD_createCCtx() : (void *)ZSTD_createDCtx();
    return c->name && c->content && c->packed && c->zstd;
}

static enum c2_status open_file(struct checkpoint **out, FILE *file, bool writes, const char *name, const char *version,
                                struct c2_error *err)
{
    *out = NULL;
    struct checkpoint *c = c2_calloc(1, sizeof *c);
    if (!c)
        return c2_fail_memory(err, "a checkpoint");
    *c = (struct checkpoint){
        .file = file, .writes = writes, .part = "its start", .check = CHECKPOINT_FORMAT, .used = HEAD_BYTES};
    c->changed = (struct c2_words){c->changed_text, sizeof c->changed_text, 0};
    c->filled = writes ? 0 : HEAD_BYTES;
    if (!make_buffers(c, name)) {
        checkpoint_close(c);
        return c2_fail_memory(err, "a checkpoint");
    }
    if (writes) {
        ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_checksumFlag, 1);
        put_start(c, version);
    } else {
        get_start(c, version);
    }
    const enum c2_status status = checkpoint_status(c, err);
    if (status == C2_OK)
        *out = c;
    else
        checkpoint_close(c);
    return status;
}

enum c2_status checkpoint_write(struct checkpoint **out, FILE *to, const char *name, const char *version,
                                struct c2_error *err)
{
    return open_file(out, to, true, name, version, err);
}

enum c2_status checkpoint_read(struct checkpoint **out, FILE *from, const char *name, const char *version,
                               struct c2_error *err)
{
    return open_file(out, from, false, name, version, err);
}

enum c2_status checkpoint_finish(struct checkpoint *c, struct c2_error *err)
{
    if (checkpoint_good(c) && c->writes && c->used > HEAD_BYTES)
        put_chunk(c);
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
    if (c->writes)
        ZSTD_freeCCtx(c->zstd);
    else
        ZSTD_freeDCtx(c->zstd);
    for (uint32_t i = 0; i < c->cut_count; i++)
        close(c->cuts[i].fd);
    c2_free(c->cuts);
    c2_free(c->name);
    c2_free(c->content);
    c2_free(c->packed);
    c2_free(c);
}
