/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Traces of din and lackey, beside naive readers: lines of the usual shapes beside regular expressions, and whole
 * traces, in which usual lines and others take turns, beside the list of accesses that they were written from.
 */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stream/trace_lines_priv.h"

/* ------------------------------------------------------------------ usual lines, and what is none */

typedef size_t usual_line(const char *at, struct trace_usual *out);

struct shape {
    usual_line *read;
    const char *pattern; /* label or letter, address, and the size in the group `size` */
    unsigned size;
    const char *letters, *kinds;
    const char *samples[6];
};

static const struct shape shapes[] = {
    {trace_usual_din,
     "^([012]) ([0-9a-fA-F]{1,15})( ([0-9]{1,3}))?\n",
     4,
     "012",
     "RWF",
     {"2 401000 4\n", "0 7fff00001000 8\n", "1 7FFF00001008\n", "0 0 512\n", "2 123456789abcdef 1\n", "1 fffff 064\n"}},
    {trace_usual_lackey,
     "^(I  | [LSMI] )([0-9a-fA-F]{1,15}),([0-9]{1,3})\n",
     3,
     "LSMI",
     "RWMF",
     {"I  00401000,3\n", " L 1fff000878,8\n", " S 1FFF000870,16\n", " M 4,1\n", " I 123456789abcdef,64\n",
      " L 0,512\n"}}};

static size_t naive_usual(const struct shape *shape, const regex_t *pattern, const char *line, struct trace_usual *out)
{
    regmatch_t at[5];
    if (regexec(pattern, line, 5, at, 0) != 0)
        return 0;
    const char *letter = line + at[1].rm_so;
    letter += letter[0] == ' ';
    out->kind = shape->kinds[strchr(shape->letters, *letter) - shape->letters];
    out->address = strtoull(line + at[2].rm_so, NULL, 16);
    out->size = at[shape->size].rm_so < 0 ? 1 : strtoull(line + at[shape->size].rm_so, NULL, 10);
    return (size_t)at[0].rm_eo;
}

/* One of the samples with up to three of its characters changed, mostly to those that such lines have. */
static void draw_line(struct c2_rng *rng, const struct shape *shape, char *line)
{
    static const char likely[] = "0123456789abcdefABCDEFxX \t\r\n,ILSMgG@`\x7f\xb0\xff";
    strcpy(line, shape->samples[c2_rng_below(rng, 6)]);
    for (uint64_t i = c2_rng_below(rng, 4); i > 0; i--)
        line[c2_rng_below(rng, strlen(line))] = likely[c2_rng_below(rng, sizeof likely - 1)];
}

static void usual_lines(void **state)
{
    char bytes[2 * TRACE_USUAL_BYTES + 1], *const line = bytes + TRACE_USUAL_BYTES;
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "usual lines");
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        unsigned usual = 0;
        regex_t pattern;
        assert_int_equal(regcomp(&pattern, shapes[s].pattern, REG_EXTENDED), 0);
        for (unsigned i = 0; i < 200000; i++) {
            struct trace_usual got = {0}, expected = {0};
            memset(bytes, i % 2 ? 'f' : ' ', sizeof bytes - 1);
            bytes[sizeof bytes - 1] = '\0';
            draw_line(&rng, &shapes[s], line);
            const size_t length = naive_usual(&shapes[s], &pattern, line, &expected);
            assert_int_equal(shapes[s].read(line, &got), length);
            usual += length != 0;
            if (length == 0)
                continue;
            assert_int_equal(got.kind, expected.kind);
            assert_int_equal(got.address, expected.address);
            assert_int_equal(got.size, expected.size);
        }
        assert_in_range(usual, 60000, 150000); /* both happen often */
        regfree(&pattern);
    }
}

/* ------------------------------------------------------------------ whole traces */

#define ACCESSES 20000u
#define PAGES 40u

struct access {
    char kind;
    uint64_t address, size;
};

struct played {
    const struct stream_blocks *blocks;
    const struct access *list;
    size_t next;
    bool touched[PAGES + 1][2]; /* [whether it was for a write] */
};

/* Few instructions, so that blocks come again, each of which may have one size or another. */
static struct access draw_access(struct c2_rng *rng, bool lackey)
{
    static const uint64_t sizes[] = {1, 4, 8, 64};
    struct access access = {lackey ? "FFRRWM"[c2_rng_below(rng, 6)] : "FFRRWW"[c2_rng_below(rng, 6)], 0, 0};
    access.address = (access.kind == 'F' ? c2_rng_below(rng, 40) * 129 : c2_rng_below(rng, PAGES << C2_PAGE_SHIFT));
    access.size = sizes[c2_rng_below(rng, 4)];
    return access;
}

/* Most as usual; others with tabs, 0x, capitals, returns, lines without an access between. */
static void write_access(FILE *to, const struct access *access, bool lackey, uint64_t how)
{
    static const char *const din[] = {"%u %llx %llu\n", "%u %llx %llu\n", "%u %llx %llu\n", "%u\t0x%llX  %llu\r\n",
                                      "\n  %u %llx %llu\n"};
    static const char *const usual[] = {" L %08llx,%llu\n", " S %08llx,%llu\n", " M %08llx,%llu\n", "I  %08llx,%llu\n"};
    static const char *const odd[] = {"L\t0x%llX,%llu\r\n", "==1== so\nS %llx,%llu \n", "  M %llx,%llu\n",
                                      "I %llx,%llu\n"};
    const unsigned letter = (unsigned)(strchr("RWMF", access->kind) - "RWMF");
    if (lackey)
        fprintf(to, how < 3 ? usual[letter] : odd[letter], (unsigned long long)access->address,
                (unsigned long long)access->size);
    else
        fprintf(to, din[how], letter == 3 ? 2 : letter, (unsigned long long)access->address,
                (unsigned long long)access->size);
}

static void take_next(struct played *played, char kind, uint64_t address, uint64_t size)
{
    const struct access *access = &played->list[played->next++];
    assert_in_range(played->next, 1, ACCESSES);
    assert_int_equal(access->kind, kind);
    assert_int_equal(access->address, address);
    assert_int_equal(access->size, size);
    for (uint64_t page = address >> C2_PAGE_SHIFT; page <= (address + size - 1) >> C2_PAGE_SHIFT; page++)
        assert_true(played->touched[page][1] || (played->touched[page][0] && kind != 'W' && kind != 'M'));
}

/* A page is told of once, and once more when it is first written. */
static void take_touch(struct played *played, uint64_t page, bool write)
{
    assert_in_range(page, 0, PAGES);
    assert_false(played->touched[page][write] || played->touched[page][1]);
    played->touched[page][write] = true;
}

static enum c2_status compare(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct played *played = self;
    (void)err;
    for (uint32_t at = 0; at < batch->used; at += stream_header_slots(batch->words[at]) + 1) {
        const uint64_t *const record = &batch->words[at];
        if (stream_header_block(*record) == STREAM_MARK) {
            if (stream_header_insns(*record) == STREAM_TOUCHED)
                take_touch(played, record[1] >> C2_PAGE_SHIFT, record[2] == 1);
            continue;
        }
        const struct stream_block *block = stream_blocks_at(played->blocks, stream_header_block(*record));
        if (block->bytes != 0)
            take_next(played, 'F', block->pc.v, block->bytes);
        for (uint32_t i = 0; i < block->slot_count; i++)
            take_next(played, "RWM"[block->slots[i].kind], record[1 + i], block -> slots[i].size);
    }
    return C2_OK;
}

static void whole_trace(bool lackey, uint64_t seed, bool last_line_ends)
{
    static struct access list[ACCESSES];
    struct played played = {.list = list};
    struct stream_trace *trace;
    struct c2_error err = {0};
    struct c2_rng rng;
    char *text;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    c2_rng_init(&rng, seed, "traces");
    for (size_t i = 0; i < ACCESSES; i++) {
        list[i] = draw_access(&rng, lackey);
        write_access(to, &list[i], lackey, c2_rng_below(&rng, 50) == 0 ? 3 + c2_rng_below(&rng, 2) : 0);
    }
    fclose(to);
    FILE *from = fmemopen(text, bytes - !last_line_ends, "r");
    assert_int_equal(stream_trace_open(&trace, from, "trace", lackey ? "lackey" : "din", &err), C2_OK);
    played.blocks = stream_trace_blocks(trace);
    assert_int_equal(stream_trace_play(trace, (struct stream_sink){&played, compare, NULL}, &err), C2_OK);
    assert_int_equal(played.next, ACCESSES);
    stream_blocks_check(played.blocks);
    stream_trace_close(trace);
    fclose(from);
    free(text);
}

static void whole_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        for (unsigned lackey = 0; lackey < 2; lackey++)
            whole_trace(lackey, seed, seed % 2 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(usual_lines), cmocka_unit_test(whole_traces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
