/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * traces: a stream made of a trace of another tool, line by line or record by record.
 *
 * Model
 *   din      `label address [size]`: label 0 read, 1 write, 2 fetch; numbers in hex, the size in bytes, in decimal.
 *            Without a size a line is one byte: it touches one line of a cache. (Dinero IV; Edler & Hill.)
 *   lackey   `I  address,size`, ` L`, ` S` and ` M` likewise, as `valgrind --tool=lackey --trace-mem=yes` writes them;
 *            lines of Valgrind's own (==PID== ...) lie between.
 *   text     `R|W|N|F pc vaddr paddr size tid`, and P, C, K of instructions made for caches, as c2emu --trace writes
 *            them (analyses/trace.c); a small letter is the part on the next page. A line `B` is a barrier of all
 *            threads.
 *   champsim Records of 64 bytes, as ChampSim's tracers write them (struct stream_champsim): one an instruction, with
 *            the addresses of what it reads and writes. It has no sizes, as ChampSim asks for one line with each
 *            address: instructions and accesses are one byte each here. Reads come before writes. Registers and
 *            branches are passed over: they are nothing to a cache.
 *   The first thread has the number 1; only the text form has others. The lines of an instruction stand together.
 *   Each fetch begins an instruction, which is a block of its own; references behind it are its slots. Those that come
 *   before any fetch, or are more than OWN_SLOTS, are in blocks whose instruction has no bytes: it is neither fetched
 *   nor counted (stream.h).
 *   Nothing is said of memory: all of a program's addresses are anonymous memory that may be read, written and
 *   executed, but for those of the page tables (WITHOUT), and a page is there when it is referred to.
 * Counting
 *   Lines, or records, for messages; instructions are fetches.
 * Invariants
 *   What is not understood is an error with its line: a trace is not guessed at.
 * Not modelled
 *   When threads start and end: one starts where its first line is, and all end behind the last. The physical addresses
 *   of the text form: pages are placed anew.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/trace_lines_priv.h"

#define ADDRESSES ((uint64_t)1 << 47) /* of a program */
/* A replica keeps no pages there: mmu.h, MMU_TABLES_BASE and _END. */
#define WITHOUT_START 0x8000000000ull
#define WITHOUT_END 0x9000000000ull
#define OWN_SLOTS 8u
#define REFERENCE_BYTES 512u
#define INSN_BYTES 64u
#define TOUCHED 1u
#define WRITTEN 2u
/* Pages and blocks looked up of late, each in the place that its number or address chooses. */
#define LATE_PAGES C2_HOST_SIZE(1024u, 2u)
#define LATE_BLOCKS C2_HOST_SIZE(4096u, 2u)
#define SHAPE_SLOTS 4u /* a shape has 16 bits for each */

static const char *const names[STREAM_TRACE_FORMS] = {"din", "lackey", "text", "champsim"};

struct item {
    char kind; /* R, W, N, M, F, P, C, K; r, w, n, f: goes on with the one before; B: none, a barrier */
    uint64_t address, size;
    uint64_t pc, tid; /* of the text form; else the thread is 1 */
};

/* A page, and what was notified of it; a block of up to SHAPE_SLOTS slots. */
struct late_page {
    uint64_t page, state; /* a state of 0: none */
};
struct late_block {
    uint64_t pc, shape;
    uint32_t number;
    uint8_t length, slot_count;
    bool known;
};

struct stream_trace {
    FILE *from;
    char *name;
    enum stream_trace_form form;
    struct trace_lines lines; /* of forms in lines */
    char text[TRACE_LINE_BYTES];
    bool peeked; /* text is a line that was read ahead */
    uint64_t line, instructions;
    struct stream_blocks *blocks;
    struct c2_map *numbers; /* hash of what a block is -> number */
    struct c2_map *pages;   /* number -> TOUCHED, WRITTEN */
    struct c2_map *threads; /* those that have started */
    struct stream_writer *writer;
    struct stream_insn insn; /* under way: its length, 0: it has none */
    uint64_t pc;
    bool open; /* an instruction is under way, or slots without one */
    uint32_t slot_count;
    uint64_t shape; /* of the last slots: all that traces_is_block() compares */
    struct stream_slot slots[OWN_SLOTS];
    uint64_t addresses[OWN_SLOTS];
    struct late_page late_pages[LATE_PAGES];
    struct late_block late_blocks[LATE_BLOCKS];
};

/* ------------------------------------------------------------------ lines */

static enum c2_status traces_fail_line(const struct stream_trace *t, struct c2_error *err, const char *what)
{
    if (t->form == STREAM_TRACE_CHAMPSIM)
        return c2_fail(err, C2_ERR_FORMAT, "%s, record %" PRIu64 ": %s", t->name, t->line, what);
    return c2_fail(err, C2_ERR_FORMAT, "%s, line %" PRIu64 ": %s: \"%.60s\"", t->name, t->line, what, t->text);
}

/* The next line. *more: there was one. */
static enum c2_status traces_next_line(struct stream_trace *t, bool *more, struct c2_error *err)
{
    bool zero;
    *more = t->peeked;
    if (t->peeked) {
        t->peeked = false;
        return C2_OK;
    }
    *more = trace_lines_next(&t->lines, t->text, &zero);
    if (t->lines.reason != 0 && t->lines.at == t->lines.end)
        return c2_fail(err, C2_ERR_IO, "cannot read %s: %s", t->name, c2_unpack_reason(t->lines.reason));
    t->line += *more;
    if (*more && zero)
        return c2_fail(err, C2_ERR_FORMAT,
                       "%s, line %" PRIu64 ": a zero byte, so this is no trace in lines; one of ChampSim's wants "
                       "--format champsim, or a name in .champsim",
                       t->name, t->line);
    return C2_OK;
}

/* Empty lines, and what Valgrind says itself. */
static bool says_nothing(const char *text)
{
    text += strspn(text, " \t");
    return text[0] == '\0' || strncmp(text, "==", 2) == 0 || strncmp(text, "--", 2) == 0 || strncmp(text, "**", 2) == 0;
}

/* A number of the base at *at, which moves behind it. */
static bool traces_take_number(const char **at, int base, uint64_t *out)
{
    const char *text = *at;
    uint64_t value = 0;
    unsigned digits = 0;
    if (base == 16 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && isxdigit((unsigned char)text[2]))
        text += 2;
    for (; base == 16 ? isxdigit((unsigned char)*text) : isdigit((unsigned char)*text); text++, digits++) {
        const unsigned digit = *text <= '9' ? (unsigned)(*text - '0') : (unsigned)((*text | 0x20) - 'a' + 10);
        if (value > (UINT64_MAX - digit) / (unsigned)base)
            return false;
        value = value * (unsigned)base + digit;
    }
    *out = value;
    *at = text;
    return digits != 0;
}

static bool traces_take_space(const char **at)
{
    const size_t spaces = strspn(*at, " \t");
    *at += spaces;
    return spaces != 0;
}

static bool at_end(const char *at) { return at[strspn(at, " \t")] == '\0'; }

static bool read_din(struct item *item, const char *at)
{
    uint64_t label;
    at += strspn(at, " \t");
    if (!traces_take_number(&at, 10, &label) || label > 2 || !traces_take_space(&at) ||
        !traces_take_number(&at, 16, &item->address))
        return false;
    item->kind = "RWF"[label];
    item->size = 1;
    return at_end(at) || (traces_take_space(&at) && traces_take_number(&at, 10, &item->size) && at_end(at));
}

static bool read_lackey(struct item *item, const char *at)
{
    static const char letters[] = "LSMI", kinds[] = "RWMF";
    at += strspn(at, " \t");
    const char *letter = *at == '\0' ? NULL : strchr(letters, *at);
    if (!letter)
        return false;
    item->kind = kinds[letter - letters];
    at++;
    return traces_take_space(&at) && traces_take_number(&at, 16, &item->address) && *at++ == ',' &&
           traces_take_number(&at, 10, &item->size) && at_end(at);
}

static bool traces_read_text(struct item *item, const char *at)
{
    uint64_t physical;
    if (*at == '\0' || !strchr("RWNFPCKrwnfB", *at))
        return false;
    item->kind = *at++;
    if (item->kind == 'B')
        return at_end(at);
    return traces_take_space(&at) && traces_take_number(&at, 16, &item->pc) && traces_take_space(&at) &&
           traces_take_number(&at, 16, &item->address) && traces_take_space(&at) &&
           traces_take_number(&at, 16, &physical) && traces_take_space(&at) &&
           traces_take_number(&at, 10, &item->size) && traces_take_space(&at) &&
           traces_take_number(&at, 10, &item->tid) && at_end(at);
}

static bool read_item(const struct stream_trace *t, struct item *item)
{
    *item = (struct item){.tid = 1};
    switch (t->form) {
    case STREAM_TRACE_DIN:
        return read_din(item, t->text);
    case STREAM_TRACE_LACKEY:
        return read_lackey(item, t->text);
    default:
        return traces_read_text(item, t->text);
    }
}

/* ------------------------------------------------------------------ memory */

static inline struct late_page *late_page_of(struct stream_trace *t, uint64_t page)
{
    return &t->late_pages[page & (LATE_PAGES - 1)];
}

static inline uint64_t wanted_state(unsigned access) { return access == 1 ? TOUCHED | WRITTEN : TOUCHED; }

/* A page is there from its first reference on; its first write is notified as well. */
static enum c2_status traces_touch_page(struct stream_trace *t, uint64_t page, unsigned access, struct c2_error *err)
{
    const uint64_t wanted = wanted_state(access);
    uint64_t state = 0;
    c2_map_get(t->pages, page, &state);
    *late_page_of(t, page) = (struct late_page){page, state | wanted};
    if ((state & wanted) == wanted)
        return C2_OK;
    enum c2_status status = c2_map_put(t->pages, page, state | wanted, err);
    return status == C2_OK ? stream_writer_mark(t->writer, STREAM_TOUCHED,
                                                (const uint64_t[]){page << C2_PAGE_SHIFT, access}, 2, err)
                           : status;
}

static __attribute__((noinline)) enum c2_status touch_trace_pages(struct stream_trace *t, uint64_t page, uint64_t last,
                                                                  unsigned access, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (; page <= last && status == C2_OK; page++)
        status = traces_touch_page(t, page, access, err);
    return status;
}

static inline enum c2_status traces_touch(struct stream_trace *t, uint64_t address, uint64_t size, unsigned access,
                                          struct c2_error *err)
{
    const uint64_t page = address >> C2_PAGE_SHIFT, last = (address + size - 1) >> C2_PAGE_SHIFT;
    const uint64_t wanted = wanted_state(access);
    const struct late_page *const late = late_page_of(t, page);
    if (SHORTCUT(page == last && late->page == page && (late->state & wanted) == wanted))
        return C2_OK;
    return touch_trace_pages(t, page, last, access, err);
}

static enum c2_status traces_map(struct stream_trace *t, uint64_t start, uint64_t end, struct c2_error *err)
{
    const uint64_t words[] = {start, end - start, STREAM_MAPPED_RIGHTS | STREAM_MAPPED_MAY_WRITE, 0, 0, 0};
    return stream_writer_mark(t->writer, STREAM_MAPPED, words, 6, err);
}

static enum c2_status traces_begin(struct stream_trace *t, struct c2_error *err)
{
    enum c2_status status = traces_map(t, 0, WITHOUT_START, err);
    if (status == C2_OK)
        status = traces_map(t, WITHOUT_END, ADDRESSES, err);
    if (status == C2_OK)
        status = c2_map_put(t->threads, 1, 1, err);
    if (status == C2_OK)
        status = stream_writer_mark(t->writer, STREAM_THREAD, (const uint64_t[]){1, STREAM_START}, 2, err);
    return status;
}

static enum c2_status check_address(const struct stream_trace *t, const struct item *item, struct c2_error *err)
{
    const uint64_t most = item->kind == 'F' ? INSN_BYTES : REFERENCE_BYTES;
    if (item->kind == 'P' && item->size > STREAM_PREFETCH_W)
        return traces_fail_line(t, err, "a prefetch has another hint than one can have, 0 to 4");
    if (item->kind != 'P' && (item->size == 0 || item->size > most))
        return traces_fail_line(t, err, "an access has another size than one can have");
    if (item->address >= ADDRESSES || item->address + item->size > ADDRESSES)
        return traces_fail_line(t, err, "the address is beyond those of a program, 2^47");
    if (item->address + item->size > WITHOUT_START && item->address < WITHOUT_END)
        return traces_fail_line(t, err, "c2emu has no place for the addresses 0x8000000000 to 0x8fffffffff");
    return C2_OK;
}

/* ------------------------------------------------------------------ blocks */

static bool traces_is_block(const struct stream_trace *t, const struct stream_block *block)
{
    if (block->pc.v != t->pc || block->bytes != t->insn.length || block->slot_count != t->slot_count)
        return false;
    for (uint32_t i = 0; i < t->slot_count; i++)
        if (block->slots[i].kind != t->slots[i].kind || block->slots[i].size != t->slots[i].size ||
            block->slots[i].how != t->slots[i].how)
            return false;
    return true;
}

static uint64_t traces_hash_of(const struct stream_trace *t)
{
    uint64_t hash = (t->pc << 8 | t->insn.length) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < t->slot_count; i++)
        hash = (hash ^ (hash >> 29) ^
                ((uint64_t)t->slots[i].how << 24 | (uint64_t)t->slots[i].kind << 16 | t->slots[i].size)) *
               0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

/* Those of one hash have it and the numbers behind it for keys. */
static __attribute__((noinline)) enum c2_status look_up_block(struct stream_trace *t, uint32_t *out,
                                                              struct c2_error *err)
{
    uint64_t key = traces_hash_of(t), number;
    for (; c2_map_get(t->numbers, key, &number); key++) {
        *out = (uint32_t)number;
        if (traces_is_block(t, stream_blocks_at(t->blocks, *out)))
            return C2_OK;
    }
    const struct stream_block block = {.pc = {t->pc},
                                       .bytes = t->insn.length,
                                       .insn_count = 1,
                                       .slot_count = (uint16_t)t->slot_count,
                                       .insns = &t->insn,
                                       .slots = t->slots};
    enum c2_status status = stream_blocks_add(out, t->blocks, &block, err);
    return status == C2_OK ? c2_map_put(t->numbers, key, *out, err) : status;
}

static inline uint64_t slot_shape(const struct stream_slot *slot)
{
    _Static_assert(REFERENCE_BYTES < 1u << 10 && STREAM_CACHE < 8 && STREAM_WRITE_BACK < 8, "a slot has 16 bits");
    return (uint64_t)slot->kind << 13 | (uint64_t)slot->how << 10 | slot->size;
}

static inline enum c2_status block_number(struct stream_trace *t, uint32_t *out, struct c2_error *err)
{
    struct late_block *const late = &t->late_blocks[(t->pc ^ t->pc >> 12) & (LATE_BLOCKS - 1)];
    if (SHORTCUT(late->pc == t->pc && late->shape == t->shape && late->slot_count == t->slot_count &&
                 late->length == t->insn.length && late->known)) {
        *out = late->number;
        C2_PROMISE(traces_is_block(t, stream_blocks_at(t->blocks, *out)));
        return C2_OK;
    }
    const enum c2_status status = look_up_block(t, out, err);
    if (status == C2_OK && t->slot_count <= SHAPE_SLOTS)
        *late = (struct late_block){t->pc, t->shape, *out, t->insn.length, (uint8_t)t->slot_count, true};
    return status;
}

static enum c2_status touch_all(struct stream_trace *t, struct c2_error *err)
{
    enum c2_status status = t->insn.length == 0 ? C2_OK : traces_touch(t, t->pc, t->insn.length, 2, err);
    for (uint32_t i = 0; i < t->slot_count && status == C2_OK; i++)
        status = traces_touch(t, t->addresses[i], t->slots[i].size, stream_writes(&t->slots[i]), err);
    return status;
}

/* The record of the instruction under way; what follows without a fetch has none. */
static enum c2_status close_record(struct stream_trace *t, struct c2_error *err)
{
    uint32_t number;
    if (!t->open)
        return C2_OK;
    enum c2_status status = touch_all(t, err);
    if (status == C2_OK)
        status = block_number(t, &number, err);
    if (status == C2_OK)
        status = stream_writer_room(t->writer, t->slot_count, err);
    if (status != C2_OK)
        return status;
    struct stream_batch *batch = t->writer->batch;
    uint64_t *to = &batch->words[batch->used];
    *to = stream_header(number, 1, t->slot_count);
    for (uint32_t i = 0; i < t->slot_count; i++)
        to[1 + i] = t->addresses[i];
    batch->used += t->slot_count + 1;
    t->instructions += t->insn.length != 0;
    t->open = false;
    t->slot_count = 0;
    t->shape = 0;
    t->insn.length = 0;
    return C2_OK;
}

static enum c2_status traces_take_fetch(struct stream_trace *t, const struct item *item, struct c2_error *err)
{
    enum c2_status status = close_record(t, err);
    t->open = true;
    t->pc = item->address;
    t->insn.length = (uint8_t)item->size;
    return status;
}

static uint8_t how_of(const struct item *item)
{
    switch (item->kind) {
    case 'N':
        return 1;
    case 'P':
        return (uint8_t)item->size;
    case 'C':
        return STREAM_FLUSH;
    case 'K':
        return STREAM_WRITE_BACK;
    default:
        return 0;
    }
}

static enum c2_status traces_take_reference(struct stream_trace *t, const struct item *item, struct c2_error *err)
{
    static const uint8_t kinds[] = {
        ['R'] = STREAM_READ,  ['W'] = STREAM_WRITE, ['M'] = STREAM_MODIFY, ['N'] = STREAM_WRITE,
        ['P'] = STREAM_CACHE, ['C'] = STREAM_CACHE, ['K'] = STREAM_CACHE};
    enum c2_status status = t->slot_count == OWN_SLOTS ? close_record(t, err) : C2_OK;
    t->open = true;
    t->slots[t->slot_count] = (struct stream_slot){
        .kind = kinds[(unsigned char)item->kind], .size = (uint16_t)item->size, .how = how_of(item)};
    if (t->slots[t->slot_count].kind == STREAM_CACHE)
        t->slots[t->slot_count].size = 1;
    t->shape = t->shape << 16 | slot_shape(&t->slots[t->slot_count]);
    t->addresses[t->slot_count++] = item->address;
    return status;
}

/* The part on the next page of what came last. */
static enum c2_status take_part(struct stream_trace *t, const struct item *item, struct c2_error *err)
{
    const bool fetch = item->kind == 'f';
    const uint32_t last = t->slot_count - 1;
    if (fetch && t->open && t->slot_count == 0 && item->address == t->pc + t->insn.length &&
        t->insn.length + item->size <= INSN_BYTES) {
        t->insn.length = (uint8_t)(t->insn.length + item->size);
        return C2_OK;
    }
    if (fetch || t->slot_count == 0 || item->address != t->addresses[last] + t->slots[last].size ||
        t->slots[last].size + item->size > REFERENCE_BYTES ||
        t->slots[last].kind != (item->kind == 'r' ? STREAM_READ : STREAM_WRITE) ||
        t->slots[last].how != (item->kind == 'n'))
        return traces_fail_line(t, err, "this part of an access does not follow its first one");
    t->slots[last].size = (uint16_t)(t->slots[last].size + item->size);
    t->shape = (t->shape & ~(uint64_t)UINT16_MAX) | slot_shape(&t->slots[last]);
    return C2_OK;
}

/* ------------------------------------------------------------------ threads */

static enum c2_status mark_thread(struct stream_trace *t, uint64_t tid, enum stream_thread what, struct c2_error *err)
{
    return stream_writer_mark(t->writer, STREAM_THREAD, (const uint64_t[]){tid, what}, 2, err);
}

static enum c2_status traces_turn_to(struct stream_trace *t, const struct item *item, struct c2_error *err)
{
    uint64_t known;
    if (item->tid == 0 || item->tid > UINT32_MAX)
        return traces_fail_line(t, err, "no thread has this number: they count from 1");
    enum c2_status status = close_record(t, err);
    if (status == C2_OK)
        status = stream_writer_flush(t->writer, err);
    t->writer->batch->tid = (uint32_t)item->tid;
    t->pc = item->pc;
    if (status != C2_OK || c2_map_get(t->threads, item->tid, &known))
        return status;
    status = c2_map_put(t->threads, item->tid, 1, err);
    return status == C2_OK ? mark_thread(t, item->tid, STREAM_START, err) : status;
}

static enum c2_status take_barrier(struct stream_trace *t, struct c2_error *err)
{
    enum c2_status status = close_record(t, err);
    return status == C2_OK ? stream_writer_mark(t->writer, STREAM_BARRIER, NULL, 0, err) : status;
}

/* The first one is the last. */
static enum c2_status end_threads(struct stream_trace *t, struct c2_error *err)
{
    struct c2_pair *list;
    const uint64_t count = c2_map_count(t->threads);
    enum c2_status status = c2_map_list(&list, t->threads, err);
    if (status != C2_OK)
        return status;
    for (uint64_t i = count; i-- > 0 && status == C2_OK;)
        status = mark_thread(t, list[i].key, STREAM_EXIT, err);
    c2_free(list);
    return status;
}

static enum c2_status traces_take_line(struct stream_trace *t, struct c2_error *err)
{
    struct item item;
    if (says_nothing(t->text))
        return C2_OK;
    if (!read_item(t, &item))
        return c2_fail(err, C2_ERR_FORMAT,
                       "%s, line %" PRIu64 ": this is no line of a trace in the form \"%s\": \"%.60s\"", t->name,
                       t->line, names[t->form], t->text);
    if (item.kind == 'B')
        return take_barrier(t, err);
    enum c2_status status = check_address(t, &item, err);
    if (status == C2_OK && item.tid != t->writer->batch->tid)
        status = traces_turn_to(t, &item, err);
    if (status != C2_OK)
        return status;
    if (item.kind == 'F')
        return traces_take_fetch(t, &item, err);
    return islower((unsigned char)item.kind) ? take_part(t, &item, err) : traces_take_reference(t, &item, err);
}

/* What check_address() lets pass. */
static inline bool is_plain(const struct trace_usual *usual)
{
    const uint64_t most = usual->kind == 'F' ? INSN_BYTES : REFERENCE_BYTES, end = usual->address + usual->size;
    return usual->size - 1 < most && (end <= WITHOUT_START || (usual->address >= WITHOUT_END && end <= ADDRESSES));
}

static inline __attribute__((always_inline)) enum c2_status take_usual(struct stream_trace *t,
                                                                       const struct trace_usual *usual,
                                                                       struct c2_error *err)
{
    const struct item item = {.kind = usual->kind, .address = usual->address, .size = usual->size, .tid = 1};
    return item.kind == 'F' ? traces_take_fetch(t, &item, err) : traces_take_reference(t, &item, err);
}

/* Lines from here on, up to one that is not of a usual shape, or is not to be taken as it is. */
static inline __attribute__((always_inline)) enum c2_status take_usual_lines(
    struct stream_trace *t, size_t (*usual_line)(const char *at, struct trace_usual *out), struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const char *at = trace_lines_look(&t->lines); at && status == C2_OK; at = trace_lines_look(&t->lines)) {
        struct trace_usual usual;
        const size_t bytes = usual_line(at, &usual);
        if (C2_UNLIKELY(bytes == 0) || !is_plain(&usual))
            break;
        t->lines.at += bytes;
        t->line++;
        status = take_usual(t, &usual, err);
    }
    return status;
}

static enum c2_status take_all_usual(struct stream_trace *t, struct c2_error *err)
{
    if (!SHORTCUT(!t->peeked))
        return C2_OK;
    switch (t->form) {
    case STREAM_TRACE_DIN:
        return take_usual_lines(t, trace_usual_din, err);
    case STREAM_TRACE_LACKEY:
        return take_usual_lines(t, trace_usual_lackey, err);
    default:
        return C2_OK;
    }
}

static enum c2_status traces_take_lines(struct stream_trace *t, struct c2_error *err)
{
    bool more = true;
    enum c2_status status = C2_OK;
    while (status == C2_OK) {
        status = take_all_usual(t, err);
        if (status == C2_OK)
            status = traces_next_line(t, &more, err);
        if (status != C2_OK || !more)
            break;
        status = traces_take_line(t, err);
    }
    return status;
}

/* ------------------------------------------------------------------ records of ChampSim's */

static enum c2_status next_record(struct stream_trace *t, struct stream_champsim *record, bool *more,
                                  struct c2_error *err)
{
    const size_t count = fread(record, 1, sizeof *record, t->from);
    *more = count == sizeof *record;
    if (count != sizeof *record && ferror(t->from))
        return c2_fail(err, C2_ERR_IO, "cannot read %s: %s", t->name, c2_unpack_reason(errno));
    t->line += count != 0;
    if (count == 0 || *more)
        return C2_OK;
    return c2_fail(err, C2_ERR_FORMAT, "%s, record %" PRIu64 ": the file ends behind %zu of its %zu bytes", t->name,
                   t->line, count, sizeof *record);
}

static enum c2_status take_addresses(struct stream_trace *t, char kind, const uint64_t *addresses, unsigned count,
                                     struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < count && status == C2_OK; i++) {
        const struct item item = {.kind = kind, .address = addresses[i], .size = 1, .tid = 1};
        if (addresses[i] == 0)
            continue;
        status = check_address(t, &item, err);
        if (status == C2_OK)
            status = traces_take_reference(t, &item, err);
    }
    return status;
}

static enum c2_status traces_take_record(struct stream_trace *t, const struct stream_champsim *record,
                                         struct c2_error *err)
{
    const struct item fetch = {.kind = 'F', .address = record->ip, .size = 1, .tid = 1};
    if (record->is_branch > 1 || record->branch_taken > 1)
        return traces_fail_line(t, err, "this is none of ChampSim's: whether it is a branch, and taken, is 0 or 1");
    enum c2_status status = check_address(t, &fetch, err);
    if (status == C2_OK)
        status = traces_take_fetch(t, &fetch, err);
    if (status == C2_OK)
        status = take_addresses(t, 'R', record->source_memory, STREAM_CHAMPSIM_READS, err);
    return status == C2_OK ? take_addresses(t, 'W', record->destination_memory, STREAM_CHAMPSIM_WRITES, err) : status;
}

static enum c2_status traces_take_records(struct stream_trace *t, struct c2_error *err)
{
    struct stream_champsim record;
    bool more = true;
    enum c2_status status = C2_OK;
    while (status == C2_OK) {
        status = next_record(t, &record, &more, err);
        if (status != C2_OK || !more)
            break;
        status = traces_take_record(t, &record, err);
    }
    return status;
}

/* ------------------------------------------------------------------ life */

static bool ends_in(const char *path, size_t length, const char *ending)
{
    const size_t bytes = strlen(ending);
    return length >= bytes && strncmp(path + length - bytes, ending, bytes) == 0;
}

const char *stream_trace_form_of(const char *path)
{
    const size_t length = c2_unpacked_length(path);
    const bool champsim = ends_in(path, length, ".champsim") || ends_in(path, length, ".champsimtrace");
    return champsim ? names[STREAM_TRACE_CHAMPSIM] : NULL;
}

/* The form that the first line that says something is in. */
static bool traces_guess(struct stream_trace *t)
{
    struct item item;
    for (unsigned form = 0; form <= STREAM_TRACE_TEXT; form++) {
        t->form = (enum stream_trace_form)form;
        if (read_item(t, &item))
            return true;
    }
    return false;
}

static enum c2_status find_form(struct stream_trace *t, struct c2_error *err)
{
    bool more = true;
    enum c2_status status = C2_OK;
    do
        status = traces_next_line(t, &more, err);
    while (status == C2_OK && more && says_nothing(t->text));
    t->peeked = more;
    if (status != C2_OK || !more || traces_guess(t))
        return status;
    return c2_fail(err, C2_ERR_FORMAT,
                   "%s is no recording of c2emu, and no trace of a known form (din, lackey, text) from line %" PRIu64
                   " on: \"%.60s\"; one of ChampSim's wants --format champsim, or a name in .champsim",
                   t->name, t->line, t->text);
}

static enum c2_status traces_make(struct stream_trace *t, const char *name, const char *form, struct c2_error *err)
{
    t->name = c2_strdup(name);
    enum c2_status status = trace_lines_create(&t->lines, t->from, err);
    if (status == C2_OK)
        status = t->name ? stream_blocks_create(&t->blocks, err) : c2_fail_memory(err, "a trace's name");
    if (status == C2_OK)
        status = c2_map_create(&t->numbers, err);
    if (status == C2_OK)
        status = c2_map_create(&t->pages, err);
    if (status == C2_OK)
        status = c2_map_create(&t->threads, err);
    for (unsigned i = 0; form && i < STREAM_TRACE_FORMS; i++)
        if (strcmp(form, names[i]) == 0)
            t->form = (enum stream_trace_form)i;
    return status == C2_OK && !form ? find_form(t, err) : status;
}

enum c2_status stream_trace_open(struct stream_trace **out, FILE *from, const char *name, const char *form,
                                 struct c2_error *err)
{
    *out = NULL;
    struct stream_trace *t = c2_calloc(1, sizeof *t);
    if (!t)
        return c2_fail_memory(err, "a trace");
    t->from = from;
    enum c2_status status = traces_make(t, name, form, err);
    if (status == C2_OK)
        *out = t;
    else
        stream_trace_close(t);
    return status;
}

void stream_trace_close(struct stream_trace *trace)
{
    if (!trace)
        return;
    stream_writer_destroy(trace->writer);
    c2_map_destroy(trace->pages);
    c2_map_destroy(trace->threads);
    c2_map_destroy(trace->numbers);
    trace_lines_end(&trace->lines);
    stream_blocks_destroy(trace->blocks);
    c2_free(trace->name);
    c2_free(trace);
}

const struct stream_blocks *stream_trace_blocks(const struct stream_trace *trace) { return trace->blocks; }
const char *stream_trace_form(const struct stream_trace *trace) { return names[trace->form]; }
uint64_t stream_trace_instructions(const struct stream_trace *trace) { return trace->instructions; }

const char *const *stream_trace_forms(size_t *count)
{
    *count = STREAM_TRACE_FORMS;
    return names;
}

static enum c2_status traces_end(struct stream_trace *t, struct c2_error *err)
{
    enum c2_status status = close_record(t, err);
    if (status == C2_OK)
        status = end_threads(t, err);
    return status == C2_OK ? stream_writer_flush(t->writer, err) : status;
}

enum c2_status stream_trace_play(struct stream_trace *trace, struct stream_sink to, struct c2_error *err)
{
    C2_ASSERT(!trace->writer); /* once */
    enum c2_status status = stream_writer_create(&trace->writer, to, err);
    if (status == C2_OK)
        status = traces_begin(trace, err);
    if (status == C2_OK)
        status = trace->form == STREAM_TRACE_CHAMPSIM ? traces_take_records(trace, err) : traces_take_lines(trace, err);
    return status == C2_OK ? traces_end(trace, err) : status;
}
