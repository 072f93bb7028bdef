/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files in chunks: what recordings and checkpoints are made of.
 *
 * Model
 *   A chunk is four bytes with the length of a zstd frame, and the frame, with its size and checksum. The frame's
 *   content begins with the last four bytes of the frame before, which are its checksum; that of the first chunk
 *   with a number of the caller's. So a chunk that is missing, changed or in another place shows before anything in
 *   it is used.
 * Invariants
 *   A frame is unpacked into memory that was there before: no length in a file requests any.
 */
#include <string.h>
#include <zstd.h>

#include "base/base.h"

#define FRAME_START "\x28\xb5\x2f\xfd"
#define FRAME_LEAST 16u  /* bytes of one with anything in it */
#define CHECKSUM_FLAG 4u /* in the byte behind the start */
#define LENGTH_BYTES 4u

enum c2_status c2_chunks_create(struct c2_chunks *out, bool writes, size_t most, uint32_t first, int level,
                                struct c2_error *err)
{
    *out = (struct c2_chunks){.writes = writes, .most = most, .check = first, .room = ZSTD_compressBound(most)};
    out->content = c2_alloc(most);
    out->packed = c2_alloc(out->room + LENGTH_BYTES);
    out->zstd = writes ? (void *)ZSTD_createCCtx() : (void *)ZSTD_createDCtx();
    if (!out->content || !out->packed || !out->zstd)
        return c2_fail_memory(err, "a file in chunks");
    if (writes) {
        ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_checksumFlag, 1);
    }
    return C2_OK;
}

void c2_chunks_release(struct c2_chunks *chunks)
{
    if (chunks->writes)
        ZSTD_freeCCtx(chunks->zstd);
    else
        ZSTD_freeDCtx(chunks->zstd);
    c2_free(chunks->content);
    c2_free(chunks->packed);
}

enum c2_status c2_chunks_pack(size_t *out, struct c2_chunks *chunks, size_t count, struct c2_error *err)
{
    c2_put_u32(chunks->content, chunks->check);
    const size_t bytes = ZSTD_compress2(chunks->zstd, chunks->packed + LENGTH_BYTES, chunks->room, chunks->content,
                                        count);
    if (ZSTD_isError(bytes))
        return c2_fail(err, C2_ERR_INTERNAL, "cannot compress a part of a file: %s", ZSTD_getErrorName(bytes));
    c2_put_u32(chunks->packed, (uint32_t)bytes);
    chunks->check = c2_get_u32(chunks->packed + bytes);
    *out = bytes + LENGTH_BYTES;
    return C2_OK;
}

bool c2_chunks_length(size_t *out, const struct c2_chunks *chunks, const uint8_t length[C2_CHUNK_LENGTH])
{
    *out = c2_get_u32(length);
    return *out <= chunks->room;
}

/* One frame of ours: with its checksum, a content that fits, and nothing behind it. */
static bool is_frame(const struct c2_chunks *chunks, size_t bytes, size_t least)
{
    const uint8_t *packed = chunks->packed;
    if (bytes < FRAME_LEAST || memcmp(packed, FRAME_START, 4) != 0 || !(packed[4] & CHECKSUM_FLAG))
        return false;
    const unsigned long long content = ZSTD_getFrameContentSize(packed, bytes);
    return content >= least && content <= chunks->most && ZSTD_findFrameCompressedSize(packed, bytes) == bytes;
}

const char *c2_chunks_unpack(size_t *out, struct c2_chunks *chunks, size_t bytes, size_t least)
{
    if (!is_frame(chunks, bytes, least))
        return "its head cannot be right";
    *out = ZSTD_decompressDCtx(chunks->zstd, chunks->content, chunks->most, chunks->packed, bytes);
    if (ZSTD_isError(*out))
        return ZSTD_getErrorName(*out);
    if (c2_get_u32(chunks->content) != chunks->check)
        return "it does not follow the part before";
    chunks->check = c2_get_u32(chunks->packed + bytes - 4);
    return NULL;
}
