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
 *   A name that ends in .champsim or .champsimtrace is written in ChampSim's form (trace_champsim.c), one that ends in
 *   .memtrace in that of DynamoRIO's drcachesim (trace_memtrace.c).
 *   A name that ends in .zst, .gz or .xz behind that is compressed so (base/packed.c).
 *   Addresses of the din form are physical ones; --trace-addresses says otherwise.
 *
 * Header and checksum
 *   The plain forms have none: each line is a record, so awk and every din reader can take the file as it is. Text and
 *   din of zstd begin with a skippable frame that holds "c2emu-trace 1 text\n" or "c2emu-trace 1 din\n"; what
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
#include <string.h>

#include "analyses/trace_priv.h"

static const char letters[2][4] = {{'R', 'W', 'F', 'N'}, {'r', 'w', 'f', 'n'}}; /* by part, enum sim_kind; past */

/* ------------------------------------------------------------------ bytes out */

static enum c2_status trace_flush(struct trace *trace, bool last, struct c2_error *err)
{
    struct c2_error why;
    const size_t used = trace->used;
    trace->used = 0;
    enum c2_status status = c2_pack(trace->packer, trace->stream, trace->buffer, used, last, &why);
    return status == C2_OK
               ? C2_OK
               : c2_fail(err, status, "cannot write the trace \"%s\": %s", c2_outfile_path(trace->file), why.text);
}

static enum c2_status trace_reserve(struct trace *trace, size_t bytes, struct c2_error *err)
{
    return TRACE_BUFFER_BYTES - trace->used >= bytes ? C2_OK : trace_flush(trace, false, err);
}

enum c2_status trace_put(struct trace *trace, const void *bytes, size_t count, struct c2_error *err)
{
    const enum c2_status status = trace_reserve(trace, count, err);
    if (status != C2_OK)
        return status;
    memcpy(trace->buffer + trace->used, bytes, count);
    trace->used += count;
    return C2_OK;
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

/* letter: of the parts, NULL: as the reference is. */
static enum c2_status put_reference(struct trace *trace, const struct sim_reference *reference, const char *letter,
                                    struct c2_error *err)
{
    const unsigned kind = reference->past ? 3 : reference->kind;
    for (uint32_t i = 0; i < reference->parts; i++) {
        enum c2_status status = trace_reserve(trace, TRACE_ITEM_BYTES, err);
        if (status != C2_OK)
            return status;
        char *const start = (char *)trace->buffer + trace->used;
        char *to = start;
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
        trace->used += (size_t)(to - start);
    }
    return C2_OK;
}

static enum c2_status din_record(struct trace *trace, enum sim_kind kind, uint64_t address, struct c2_error *err)
{
    enum c2_status status = trace_reserve(trace, TRACE_ITEM_BYTES, err);
    if (status != C2_OK)
        return status;
    char *const start = (char *)trace->buffer + trace->used;
    char *to = start;
    *to++ = (char)('0' + kind);
    *to++ = ' ';
    to = put_hex(to, address);
    *to++ = '\n';
    trace->used += (size_t)(to - start);
    return C2_OK;
}

_Static_assert(SIM_READ == 0 && SIM_WRITE == 1 && SIM_FETCH == 2, "the labels of the din form");

static enum c2_status din_reference(void *self, const struct sim_reference *reference, struct c2_error *err)
{
    struct trace *trace = self;
    for (uint32_t i = 0; i < reference->parts; i++) {
        const uint64_t start = trace_address(trace, reference, i), end = start + reference->part[i].size;
        uint64_t address = start;
        while (address < end) {
            enum c2_status status = din_record(trace, reference->kind, address, err);
            if (status != C2_OK)
                return status;
            address = (address & ~(trace->line_bytes - 1)) + trace->line_bytes;
        }
    }
    return C2_OK;
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

static const struct trace_form text_form = {.name = "text",
                                            .endings = {""},
                                            .has_both = true,
                                            .header = "c2emu-trace 1 text\n",
                                            .reference = text_reference,
                                            .instructed = text_instruction};
static const struct trace_form din_form = {
    .name = "din", .endings = {".din"}, .physical = true, .header = "c2emu-trace 1 din\n", .reference = din_reference};

/* ------------------------------------------------------------------ life */

/* Each row's endings before those of the rows behind it; the last one's has any. */
static const struct trace_form *form_of(const char *path)
{
    static const struct trace_form *const forms[] = {&din_form, &trace_champsim, &trace_memtrace, &text_form};
    const size_t length = c2_unpacked_length(path);
    for (size_t i = 0;; i++)
        for (unsigned k = 0; k < 2 && forms[i]->endings[k]; k++) {
            const size_t bytes = strlen(forms[i]->endings[k]);
            if (length >= bytes && strncmp(path + length - bytes, forms[i]->endings[k], bytes) == 0)
                return forms[i];
        }
}

/* In front of what zstd writes, where the form has one. */
static enum c2_status put_header(struct trace *trace, struct c2_error *err)
{
    const char *path = c2_outfile_path(trace->file), *word = trace->form->header;
    if (c2_packing_of(path) != C2_ZSTD || !word)
        return C2_OK;
    const size_t length = strlen(word);
    /* little-endian: magic of a skippable frame, then its length */
    const char header[8] = {0x50, 0x2a, 0x4d, 0x18, (char)length, 0, 0, 0};
    if (fwrite(header, 1, sizeof header, trace->stream) == sizeof header &&
        fwrite(word, 1, length, trace->stream) == length)
        return C2_OK;
    return c2_fail(err, C2_ERR_IO, "cannot write the trace \"%s\": %m", path);
}

static enum c2_status trace_start(struct trace *trace, struct c2_error *err)
{
    trace->used = 0;
    const enum c2_status status = put_header(trace, err);
    return status == C2_OK && trace->form->begin ? trace->form->begin(trace, err) : status;
}

static enum c2_status trace_restart(struct analysis *analysis, struct c2_error *err)
{
    struct trace *trace = (struct trace *)analysis;
    const enum c2_status status = c2_packer_restart(trace->packer, err);
    return status == C2_OK ? trace_start(trace, err) : status;
}

static void trace_destroy(struct analysis *analysis)
{
    struct trace *trace = (struct trace *)analysis;
    if (trace->form->forget)
        trace->form->forget(trace);
    insns_destroy(trace->insns);
    c2_outfile_abandon(trace->file);
    c2_packer_destroy(trace->packer);
    c2_free(trace);
}

static enum c2_status choose_addresses(struct trace *trace, const struct analyses_setup *setup, struct c2_error *err)
{
    const char *word = analyses_setting(setup, ANALYSES_SETTING_trace_addresses);
    trace->physical = trace->form->physical;
    if (!word)
        return C2_OK;
    if (strcmp(word, "virtual") != 0 && strcmp(word, "physical") != 0)
        return c2_fail(err, C2_ERR_INVALID, "--%s %s: known are virtual and physical",
                       analyses_setting_option(ANALYSES_SETTING_trace_addresses), word);
    if (trace->form->has_both)
        return c2_fail(err, C2_ERR_INVALID, "--%s: the text form of --%s has both addresses; leave it out",
                       analyses_setting_option(ANALYSES_SETTING_trace_addresses), analyses_option(ANALYSIS_trace));
    trace->physical = strcmp(word, "physical") == 0;
    return C2_OK;
}

static enum c2_status trace_open_all(struct trace *trace, const struct analyses_setup *setup, struct c2_error *err)
{
    const char *path = setup->given[ANALYSIS_trace];
    enum c2_status status = choose_addresses(trace, setup, err);
    if (status == C2_OK)
        status = c2_packer_create(&trace->packer, c2_packing_of(path), err);
    if (status == C2_OK && trace->form->wants_insns)
        status = insns_create(&trace->insns, setup->symbols, err);
    if (status == C2_OK)
        status = c2_outfile_open(&trace->file, path, err);
    if (status != C2_OK)
        return status;
    trace->stream = c2_outfile_stream(trace->file);
    return trace_start(trace, err);
}

static enum c2_status trace_create(struct analysis **out, const struct analyses_setup *setup,
                                   const struct analyses *analyses, struct c2_error *err)
{
    struct trace *trace = c2_calloc(1, sizeof *trace);
    (void)analyses;
    if (!trace)
        return c2_fail_memory(err, "the trace");
    trace->base.kind = &analysis_trace;
    trace->form = form_of(setup->given[ANALYSIS_trace]);
    trace->line_bytes = setup->machine->line_bytes;
    const enum c2_status status = trace_open_all(trace, setup, err);
    if (status == C2_OK)
        *out = &trace->base;
    else
        trace_destroy(&trace->base);
    return status;
}

static enum c2_status trace_memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    return insns_memory(((struct trace *)self)->insns, appeared, area, err);
}

static enum c2_status trace_mark(void *self, enum stream_mark what, const uint64_t *words, struct c2_error *err)
{
    (void)err;
    insns_mark(((struct trace *)self)->insns, what, words);
    return C2_OK;
}

static enum c2_status trace_references(void *self, const struct sim_reference *list, size_t count, struct c2_error *err)
{
    struct trace *trace = self;
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = trace->form->reference(trace, &list[i], err);
    return status;
}

static struct sim_subscriber trace_subscriber(struct analysis *analysis)
{
    struct trace *trace = (struct trace *)analysis;
    return (struct sim_subscriber){.self = trace,
                                   .references = trace_references,
                                   .instructed = trace->form->instructed,
                                   .memory = trace->insns ? trace_memory : NULL,
                                   .mark = trace->insns ? trace_mark : NULL};
}

static enum c2_status trace_commit(struct analysis *analysis, struct c2_error *err)
{
    struct trace *trace = (struct trace *)analysis;
    enum c2_status status = trace->form->end ? trace->form->end(trace, err) : C2_OK;
    if (status == C2_OK)
        status = trace_flush(trace, true, err);
    if (status == C2_OK) {
        status = c2_outfile_commit(trace->file, err);
        trace->file = NULL; /* gone either way */
    }
    return status;
}

const struct analysis_kind analysis_trace = {.create = trace_create,
                                             .subscriber = trace_subscriber,
                                             .commit = trace_commit,
                                             .restart = trace_restart,
                                             .destroy = trace_destroy};
