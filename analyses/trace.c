/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trace: writes every reference to a file, for other tools.
 *
 * Model
 *   Text form, one line a reference in program order, fetches included:
 *       R|W|F pc vaddr paddr size tid         addresses in hex without prefix, size (bytes) and tid in decimal
 *   A modify is its R line and its W line. A non-temporal store has N for W. Instructions made for caches are no
 *   references, and have lines all the same: P, a prefetch, with its hint in the place of the size (0 to 3: T0, T1,
 *   T2, NTA; 4: for writing), if its page is there; C, CLFLUSH or CLFLUSHOPT; K, CLWB. A reference that crosses a
 *   page has a second line whose letter is small (r|w|f) for the part on the next page; size is then each part's
 *   own.
 *   A name that ends in .din (or .din.zst) gives the classic din form instead, `0|1|2 paddr` (read, write, fetch). It
 *   knows no instructions made for caches, which are left out, and no non-temporal stores, which are writes.
 *   Its records carry no size, so there is one record for each cache line that the reference touches: the first with
 *   the reference's own address, the others with their line's. A simulator that takes a record for one access of one
 *   line then counts what we count. On a machine with other line lengths it is another file.
 *   A name that ends in .zst is compressed with zstd.
 *
 * Header and checksum
 *   The plain forms have none: each line is a record, so awk and every din reader can take the file as it is. The
 *   compressed forms begin with a zstd skippable frame that holds "c2emu-trace 1 text\n" or "c2emu-trace 1 din\n"; what
 *   follows is one frame with a content checksum. zstd and its library step over the first, so `zstd -dc` yields the
 *   plain form, refuse an altered frame by its checksum and a cut one by its missing end.
 *
 *   A child of a fork has a trace of its own, from there on.
 *
 * Invariants
 *   The file appears under its name only when whole (c2_outfile). A write that fails (full disk) ends the run at
 *   the next buffer, not at the end.
 *
 * Not modelled
 *   Which line accesses hit: the trace is the same for every machine with the same line length and physical memory.
 *
 * Source: the din form is that of Dinero IV (Edler & Hill); zstd frames: RFC 8878, skippable frames 3.1.2.
 */
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "analyses/analyses.h"

#define BUFFER_BYTES C2_HOST_SIZE(65536u, 256u)
#define LINE_BYTES_MAX 128u /* the longest line: a letter, three 16-digit and two 10-digit numbers, six separators */

static const char letters[2][4] = {{'R', 'W', 'F', 'N'}, {'r', 'w', 'f', 'n'}}; /* by part, enum sim_kind; past */

struct trace {
    struct analysis base;
    struct c2_outfile *file;
    FILE *stream;
    bool din;
    uint64_t line_mask; /* clears the offset in a line */
    uint64_t line_bytes;
    ZSTD_CCtx *zstd; /* NULL: not compressed */
    size_t used;
    char buffer[BUFFER_BYTES];
    char packed[BUFFER_BYTES];
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* ------------------------------------------------------------------ bytes out */

static enum c2_status put_out(struct trace *trace, const void *bytes, size_t count, struct c2_error *err)
{
    if (fwrite(bytes, 1, count, trace->stream) == count)
        return C2_OK;
    return c2_fail(err, C2_ERR_IO, "cannot write the trace \"%s\": %s", c2_outfile_path(trace->file), strerror(errno));
}

static enum c2_status compress(struct trace *trace, ZSTD_EndDirective directive, struct c2_error *err)
{
    ZSTD_inBuffer in = {trace->buffer, trace->used, 0};
    bool more = true;
    while (more) {
        ZSTD_outBuffer out = {trace->packed, sizeof trace->packed, 0};
        size_t left = ZSTD_compressStream2(trace->zstd, &out, &in, directive);
        if (ZSTD_isError(left))
            return c2_fail(err, C2_ERR_IO, "cannot compress the trace \"%s\": %s", c2_outfile_path(trace->file),
                           ZSTD_getErrorName(left));
        enum c2_status status = put_out(trace, trace->packed, out.pos, err);
        if (status != C2_OK)
            return status;
        more = directive == ZSTD_e_end ? left != 0 : in.pos < in.size;
    }
    return C2_OK;
}

static enum c2_status flush(struct trace *trace, ZSTD_EndDirective directive, struct c2_error *err)
{
    enum c2_status status = trace->zstd ? compress(trace, directive, err)
                                        : put_out(trace, trace->buffer, trace->used, err);
    trace->used = 0;
    return status;
}

/* ------------------------------------------------------------------ numbers in text; printf takes ten times as long */

static char *put_hex(char *to, uint64_t n)
{
    static const char digits[] = "0123456789abcdef";
    int shift = n == 0 ? 0 : (int)(c2_log2(n) & ~3u);
    for (; shift >= 0; shift -= 4)
        *to++ = digits[n >> shift & 15];
    return to;
}

static char *put_decimal(char *to, uint32_t n)
{
    char reversed[10];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    while (count > 0)
        *to++ = reversed[--count];
    return to;
}

/* ------------------------------------------------------------------ the two forms */

static enum c2_status reserve_line(struct trace *trace, struct c2_error *err)
{
    return BUFFER_BYTES - trace->used >= LINE_BYTES_MAX ? C2_OK : flush(trace, ZSTD_e_continue, err);
}

/* letter: of the parts, NULL: as the reference is. */
static enum c2_status put_reference(struct trace *trace, const struct sim_reference *reference, const char *letter,
                                    struct c2_error *err)
{
    const unsigned kind = reference->past ? 3 : reference->kind;
    for (uint32_t i = 0; i < reference->parts; i++) {
        enum c2_status status = reserve_line(trace, err);
        if (status != C2_OK)
            return status;
        char *to = trace->buffer + trace->used;
        *to++ = letter ? *letter : letters[i][kind];
        *to++ = ' ';
        to = put_hex(to, reference->pc.v);
        *to++ = ' ';
        to = put_hex(to, reference->part[i].va.v);
        *to++ = ' ';
        to = put_hex(to, reference->part[i].pa.v);
        *to++ = ' ';
        to = put_decimal(to, reference->part[i].size);
        *to++ = ' ';
        to = put_decimal(to, reference->tid);
        *to++ = '\n';
        trace->used = (size_t)(to - trace->buffer);
    }
    return C2_OK;
}

static enum c2_status din_record(struct trace *trace, enum sim_kind kind, uint64_t address, struct c2_error *err)
{
    enum c2_status status = reserve_line(trace, err);
    if (status != C2_OK)
        return status;
    char *to = trace->buffer + trace->used;
    *to++ = (char)('0' + kind);
    *to++ = ' ';
    to = put_hex(to, address);
    *to++ = '\n';
    trace->used = (size_t)(to - trace->buffer);
    return C2_OK;
}

_Static_assert(SIM_READ == 0 && SIM_WRITE == 1 && SIM_FETCH == 2, "the labels of the din form");

static enum c2_status din_reference(void *self, const struct sim_reference *reference, struct c2_error *err)
{
    struct trace *trace = self;
    for (uint32_t i = 0; i < reference->parts; i++) {
        const uint64_t start = reference->part[i].pa.v, end = start + reference->part[i].size;
        uint64_t address = start;
        while (address < end) {
            enum c2_status status = din_record(trace, reference->kind, address, err);
            if (status != C2_OK)
                return status;
            address = (address & trace->line_mask) + trace->line_bytes;
        }
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

static enum c2_status put_header(struct trace *trace, struct c2_error *err)
{
    const char *word = trace->din ? "c2emu-trace 1 din\n" : "c2emu-trace 1 text\n";
    /* little-endian: magic of a skippable frame, then its length */
    char header[8] = {0x50, 0x2a, 0x4d, 0x18, (char)strlen(word), 0, 0, 0};
    enum c2_status status = put_out(trace, header, sizeof header, err);
    return status != C2_OK ? status : put_out(trace, word, strlen(word), err);
}

static enum c2_status start_zstd(struct trace *trace, struct c2_error *err)
{
    trace->zstd = ZSTD_createCCtx();
    if (!trace->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(trace->zstd, ZSTD_c_checksumFlag, 1)))
        return c2_fail_memory(err, "the trace's compressor");
    return put_header(trace, err);
}

static enum c2_status restart(struct analysis *analysis, struct c2_error *err)
{
    struct trace *trace = (struct trace *)analysis;
    trace->used = 0;
    if (!trace->zstd)
        return C2_OK;
    ZSTD_CCtx_reset(trace->zstd, ZSTD_reset_session_only);
    return put_header(trace, err);
}

static void destroy(struct analysis *analysis)
{
    struct trace *trace = (struct trace *)analysis;
    c2_outfile_abandon(trace->file);
    ZSTD_freeCCtx(trace->zstd);
    c2_free(trace);
}

static enum c2_status create(struct analysis **out, const struct analyses_setup *setup, const struct analyses *analyses,
                             struct c2_error *err)
{
    const char *path = setup->given[ANALYSIS_trace];
    struct trace *trace = c2_calloc(1, sizeof *trace);
    (void)analyses;
    if (!trace)
        return c2_fail_memory(err, "the trace");
    trace->base.kind = &analysis_trace;
    trace->line_bytes = setup->machine->line_bytes;
    trace->line_mask = ~(trace->line_bytes - 1);
    trace->din = ends_with(path, ".din") || ends_with(path, ".din.zst");
    enum c2_status status = c2_outfile_open(&trace->file, path, err);
    if (status == C2_OK) {
        trace->stream = c2_outfile_stream(trace->file);
        if (ends_with(path, ".zst"))
            status = start_zstd(trace, err);
    }
    if (status == C2_OK)
        *out = &trace->base;
    else
        destroy(&trace->base);
    return status;
}

static enum c2_status text_reference(void *self, const struct sim_reference *reference, struct c2_error *err)
{
    return put_reference(self, reference, NULL, err);
}

static enum c2_status text_instruction(void *self, const struct sim_reference *named, enum caches_instruction what,
                                       struct c2_error *err)
{
    struct sim_reference line = *named;
    if (what < CACHES_FLUSH)
        line.part[0].size = what;
    return put_reference(self, &line, what < CACHES_FLUSH ? "P" : what == CACHES_FLUSH ? "C" : "K", err);
}

static struct sim_subscriber subscriber(struct analysis *analysis)
{
    struct trace *trace = (struct trace *)analysis;
    return (struct sim_subscriber){.self = trace,
                                   .reference = trace->din ? din_reference : text_reference,
                                   .instructed = trace->din ? NULL : text_instruction};
}

static enum c2_status commit(struct analysis *analysis, struct c2_error *err)
{
    struct trace *trace = (struct trace *)analysis;
    enum c2_status status = flush(trace, ZSTD_e_end, err);
    if (status == C2_OK) {
        status = c2_outfile_commit(trace->file, err);
        trace->file = NULL; /* gone either way */
    }
    return status;
}

const struct analysis_kind analysis_trace = {
    .create = create, .subscriber = subscriber, .commit = commit, .restart = restart, .destroy = destroy};
