/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * packed: files that are compressed by zstd, gzip or xz, written and read as a row of bytes.
 *
 * Model
 *   What is written is one frame (zstd), member (gzip) or stream (xz), each with a checksum of its content. What is
 *   read may be several behind each other, as the tools of these names take them; zstd's skippable frames are skipped.
 *   Which one a file is in shows in its first bytes: 28 b5 2f fd, or x of 50 to 5f and 2a 4d 18; 1f 8b 08 and flags
 *   below 20; fd 37 7a 58 5a 00. Any other file is as it is.
 *
 * Invariants
 *   A file that was cut or has changed is never read as a shorter one: reading fails with EBADMSG.
 *
 * Not modelled
 *   bzip2, lz4, zip.
 *
 * Source: RFC 8878 (zstd, 3.1), RFC 1952 (gzip, 2.3.1), "The .xz File Format" 1.2.0, 2.1.1.1.
 */
#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/base.h"

#define BUFFER_BYTES C2_HOST_SIZE(65536u, 64u)
#define MAGIC_BYTES 6u
#define GZIP_WINDOW (15 + 16) /* zlib's: the largest window, in gzip's form */
#define GZIP_MEMORY 8
#define XZ_PRESET 3u /* a trace takes a fifth of the time of the usual preset, 6, and a few percent more room */

static const char *const endings[] = {[C2_ZSTD] = ".zst", [C2_GZIP] = ".gz", [C2_XZ] = ".xz"};

size_t c2_unpacked_length(const char *path)
{
    const size_t length = strlen(path);
    const enum c2_packing packing = c2_packing_of(path);
    return packing == C2_PLAIN ? length : length - strlen(endings[packing]);
}

enum c2_packing c2_packing_of(const char *path)
{
    const size_t length = strlen(path);
    for (unsigned i = C2_ZSTD; i <= C2_XZ; i++) {
        const size_t ending = strlen(endings[i]);
        if (length >= ending && strcmp(path + length - ending, endings[i]) == 0)
            return (enum c2_packing)i;
    }
    return C2_PLAIN;
}

/* ------------------------------------------------------------------ writing */

struct c2_packer {
    enum c2_packing packing;
    ZSTD_CCtx *zstd;
    z_stream gzip;
    lzma_stream xz;
    bool begun; /* gzip and xz have something to be ended */
    uint8_t out[BUFFER_BYTES];
};

static void packed_forget(struct c2_packer *packer)
{
    if (packer->begun && packer->packing == C2_GZIP)
        deflateEnd(&packer->gzip);
    if (packer->begun && packer->packing == C2_XZ)
        lzma_end(&packer->xz);
    packer->begun = false;
}

enum c2_status c2_packer_restart(struct c2_packer *packer, struct c2_error *err)
{
    bool ready = true;
    packed_forget(packer);
    if (packer->packing == C2_ZSTD)
        ready = !ZSTD_isError(ZSTD_CCtx_reset(packer->zstd, ZSTD_reset_session_only));
    if (packer->packing == C2_GZIP) {
        packer->gzip = (z_stream){0};
        ready = deflateInit2(&packer->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                             Z_DEFAULT_STRATEGY) == Z_OK;
        packer->begun = ready;
    }
    if (packer->packing == C2_XZ) {
        packer->xz = (lzma_stream)LZMA_STREAM_INIT;
        ready = lzma_easy_encoder(&packer->xz, XZ_PRESET, LZMA_CHECK_CRC64) == LZMA_OK;
        packer->begun = ready;
    }
    return ready ? C2_OK : c2_fail_memory(err, "a compressor");
}

enum c2_status c2_packer_create(struct c2_packer **out, enum c2_packing packing, struct c2_error *err)
{
    *out = NULL;
    struct c2_packer *packer = c2_calloc(1, sizeof *packer);
    if (!packer)
        return c2_fail_memory(err, "a compressor");
    packer->packing = packing;
    enum c2_status status = C2_OK;
    if (packing == C2_ZSTD) {
        packer->zstd = ZSTD_createCCtx();
        if (!packer->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1)))
            status = c2_fail_memory(err, "a compressor");
    }
    if (status == C2_OK)
        status = c2_packer_restart(packer, err);
    if (status == C2_OK)
        *out = packer;
    else
        c2_packer_destroy(packer);
    return status;
}

void c2_packer_destroy(struct c2_packer *packer)
{
    if (!packer)
        return;
    packed_forget(packer);
    ZSTD_freeCCtx(packer->zstd);
    c2_free(packer);
}

/* What is still to be packed, and one step of it: into packer->out, whose *made bytes are then there. */
struct rest {
    const uint8_t *bytes;
    size_t count;
    bool end;
};

/* Whether there is more to come out. False and *failed: it cannot be packed. */
static bool step_zstd(struct c2_packer *packer, struct rest *rest, size_t *made, bool *failed)
{
    ZSTD_inBuffer in = {rest->bytes, rest->count, 0};
    ZSTD_outBuffer out = {packer->out, sizeof packer->out, 0};
    const size_t left = ZSTD_compressStream2(packer->zstd, &out, &in, rest->end ? ZSTD_e_end : ZSTD_e_continue);
    *failed = ZSTD_isError(left);
    *made = out.pos;
    rest->bytes += in.pos;
    rest->count -= in.pos;
    return !*failed && (rest->end ? left != 0 : rest->count != 0);
}

static bool step_gzip(struct c2_packer *packer, struct rest *rest, size_t *made, bool *failed)
{
    z_stream *gzip = &packer->gzip;
    const size_t some = rest->count < BUFFER_BYTES ? rest->count : BUFFER_BYTES; /* zlib counts in 32 bits */
    gzip->next_in = (Bytef *)(uintptr_t)rest->bytes;
    gzip->avail_in = (uInt)some;
    gzip->next_out = packer->out;
    gzip->avail_out = sizeof packer->out;
    const bool last = rest->end && some == rest->count;
    const int result = deflate(gzip, last ? Z_FINISH : Z_NO_FLUSH);
    const size_t taken = some - gzip->avail_in;
    *failed = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    *made = sizeof packer->out - gzip->avail_out;
    rest->bytes += taken;
    rest->count -= taken;
    return !*failed && (rest->end ? result != Z_STREAM_END : rest->count != 0 || gzip->avail_out == 0);
}

static bool step_xz(struct c2_packer *packer, struct rest *rest, size_t *made, bool *failed)
{
    lzma_stream *xz = &packer->xz;
    xz->next_in = rest->bytes;
    xz->avail_in = rest->count;
    xz->next_out = packer->out;
    xz->avail_out = sizeof packer->out;
    const lzma_ret result = lzma_code(xz, rest->end ? LZMA_FINISH : LZMA_RUN);
    const size_t taken = rest->count - xz->avail_in;
    *failed = result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR;
    *made = sizeof packer->out - xz->avail_out;
    rest->bytes += taken;
    rest->count -= taken;
    return !*failed && (rest->end ? result != LZMA_STREAM_END : rest->count != 0);
}

static bool packed_step(struct c2_packer *packer, struct rest *rest, size_t *made, bool *failed)
{
    switch (packer->packing) {
    case C2_ZSTD:
        return step_zstd(packer, rest, made, failed);
    case C2_GZIP:
        return step_gzip(packer, rest, made, failed);
    default:
        return step_xz(packer, rest, made, failed);
    }
}

enum c2_status c2_pack(struct c2_packer *packer, FILE *to, const void *bytes, size_t count, bool end,
                       struct c2_error *err)
{
    struct rest rest = {bytes, count, end};
    bool more = true, failed = false;
    if (count == 0 && (packer->packing == C2_PLAIN || !end)) /* bytes may be NULL */
        return C2_OK;
    if (packer->packing == C2_PLAIN)
        return fwrite(bytes, 1, count, to) == count ? C2_OK : c2_fail(err, C2_ERR_IO, "%s", strerror(errno));
    while (more) {
        size_t made = 0;
        more = packed_step(packer, &rest, &made, &failed);
        if (failed)
            return c2_fail(err, C2_ERR_IO, "it cannot be compressed");
        if (made != 0 && fwrite(packer->out, 1, made, to) != made)
            return c2_fail(err, C2_ERR_IO, "%s", strerror(errno));
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ reading */

struct unpacker {
    FILE *from;
    enum c2_packing packing;
    ZSTD_DCtx *zstd;
    z_stream gzip;
    lzma_stream xz;
    bool whole; /* a frame or member has ended, and no other begun */
    bool over;  /* the file has been read to its end, and xz's last stream too */
    const uint8_t *at;
    size_t left;
    uint8_t in[BUFFER_BYTES];
};

static enum c2_packing packing_of_bytes(const uint8_t *bytes, size_t count)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18},
                         gzip[] = {0x1f, 0x8b, 0x08}, xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    if (count >= sizeof zstd && memcmp(bytes, zstd, sizeof zstd) == 0)
        return C2_ZSTD;
    if (count >= 4 && (bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, skippable, sizeof skippable) == 0)
        return C2_ZSTD;
    if (count >= 4 && memcmp(bytes, gzip, sizeof gzip) == 0 && bytes[3] < 0x20)
        return C2_GZIP;
    return count >= sizeof xz && memcmp(bytes, xz, sizeof xz) == 0 ? C2_XZ : C2_PLAIN;
}

/* More of the file; false: it cannot be read. At its end there is nothing left. */
static bool packed_fill(struct unpacker *unpacker)
{
    if (unpacker->left != 0 || unpacker->over)
        return true;
    unpacker->left = fread(unpacker->in, 1, sizeof unpacker->in, unpacker->from);
    unpacker->at = unpacker->in;
    unpacker->over = unpacker->left == 0;
    return unpacker->left != 0 || !ferror(unpacker->from);
}

static void packed_take(struct unpacker *unpacker, size_t count)
{
    unpacker->at += count;
    unpacker->left -= count;
}

/* Each puts up to `bytes` bytes into `to`, from what is left, and returns how many; SIZE_MAX: it is damaged. */
static size_t unpack_zstd(struct unpacker *unpacker, uint8_t *to, size_t bytes)
{
    ZSTD_inBuffer in = {unpacker->at, unpacker->left, 0};
    ZSTD_outBuffer out = {to, bytes, 0};
    const size_t left = ZSTD_decompressStream(unpacker->zstd, &out, &in);
    if (ZSTD_isError(left))
        return SIZE_MAX;
    unpacker->whole = left == 0;
    packed_take(unpacker, in.pos);
    return out.pos;
}

static size_t unpack_gzip(struct unpacker *unpacker, uint8_t *to, size_t bytes)
{
    z_stream *gzip = &unpacker->gzip;
    if (unpacker->whole && inflateReset(gzip) != Z_OK)
        return SIZE_MAX;
    unpacker->whole = false;
    gzip->next_in = (Bytef *)(uintptr_t)unpacker->at;
    gzip->avail_in = (uInt)unpacker->left;
    gzip->next_out = to;
    gzip->avail_out = bytes < UINT32_MAX ? (uInt)bytes : UINT32_MAX;
    const uInt room = gzip->avail_out;
    const int result = inflate(gzip, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return SIZE_MAX;
    unpacker->whole = result == Z_STREAM_END;
    packed_take(unpacker, unpacker->left - gzip->avail_in);
    return room - gzip->avail_out;
}

static size_t unpack_xz(struct unpacker *unpacker, uint8_t *to, size_t bytes)
{
    lzma_stream *xz = &unpacker->xz;
    xz->next_in = unpacker->at;
    xz->avail_in = unpacker->left;
    xz->next_out = to;
    xz->avail_out = bytes;
    const lzma_ret result = lzma_code(xz, unpacker->over ? LZMA_FINISH : LZMA_RUN);
    if (result != LZMA_OK && result != LZMA_STREAM_END)
        return SIZE_MAX;
    unpacker->whole = result == LZMA_STREAM_END;
    packed_take(unpacker, unpacker->left - xz->avail_in);
    return bytes - xz->avail_out;
}

static size_t packed_unpack_some(struct unpacker *unpacker, uint8_t *to, size_t bytes)
{
    size_t count = unpacker->left < bytes ? unpacker->left : bytes;
    switch (unpacker->packing) {
    case C2_ZSTD:
        return unpack_zstd(unpacker, to, bytes);
    case C2_GZIP:
        return unpack_gzip(unpacker, to, bytes);
    case C2_XZ:
        return unpack_xz(unpacker, to, bytes);
    default:
        memcpy(to, unpacker->at, count);
        packed_take(unpacker, count);
        return count;
    }
}

/* At the end of the file: what came last may still have something to give, and must be whole. */
static ssize_t unpack_end(struct unpacker *unpacker, uint8_t *to, size_t bytes)
{
    size_t count = 0;
    if (!unpacker->whole && (unpacker->packing == C2_ZSTD || unpacker->packing == C2_XZ))
        count = packed_unpack_some(unpacker, to, bytes);
    if (count != 0 && count != SIZE_MAX)
        return (ssize_t)count;
    if (count != SIZE_MAX && (unpacker->whole || unpacker->packing == C2_PLAIN))
        return 0;
    errno = EBADMSG;
    return -1;
}

static ssize_t read_unpacked(void *self, char *to, size_t bytes)
{
    struct unpacker *unpacker = self;
    while (bytes != 0) {
        if (!packed_fill(unpacker))
            return -1;
        if (unpacker->left == 0)
            return unpack_end(unpacker, (uint8_t *)to, bytes);
        const size_t count = packed_unpack_some(unpacker, (uint8_t *)to, bytes);
        if (count == SIZE_MAX) {
            errno = EBADMSG;
            return -1;
        }
        if (count != 0)
            return (ssize_t)count;
    }
    return 0;
}

static int close_unpacked(void *self)
{
    struct unpacker *unpacker = self;
    ZSTD_freeDCtx(unpacker->zstd);
    if (unpacker->packing == C2_GZIP)
        inflateEnd(&unpacker->gzip);
    if (unpacker->packing == C2_XZ)
        lzma_end(&unpacker->xz);
    c2_free(unpacker);
    return 0;
}

static bool packed_begin(struct unpacker *unpacker)
{
    unpacker->xz = (lzma_stream)LZMA_STREAM_INIT;
    switch (unpacker->packing) {
    case C2_ZSTD:
        unpacker->zstd = ZSTD_createDCtx();
        return unpacker->zstd;
    case C2_GZIP:
        return inflateInit2(&unpacker->gzip, GZIP_WINDOW) == Z_OK;
    case C2_XZ:
        return lzma_stream_decoder(&unpacker->xz, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK;
    default:
        return true;
    }
}

enum c2_status c2_unpack(FILE **out, FILE *from, struct c2_error *err)
{
    *out = NULL;
    struct unpacker *unpacker = c2_calloc(1, sizeof *unpacker);
    if (!unpacker)
        return c2_fail_memory(err, "a file's content");
    unpacker->from = from;
    unpacker->at = unpacker->in;
    unpacker->left = fread(unpacker->in, 1, MAGIC_BYTES, from);
    unpacker->packing = packing_of_bytes(unpacker->in, unpacker->left);
    const cookie_io_functions_t functions = {.read = read_unpacked, .close = close_unpacked};
    if (packed_begin(unpacker))
        *out = fopencookie(unpacker, "r", functions);
    if (*out)
        return C2_OK;
    close_unpacked(unpacker);
    return c2_fail_memory(err, "a file's content");
}

const char *c2_unpack_reason(int error)
{
    return error == EBADMSG ? "it was cut or has changed since it was compressed" : strerror(error);
}
