/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tape: what is played is what was recorded, word for word, batches and notes in their order, twice over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"

#define BLOCKS 40u
#define ITEMS 60u

/* What was recorded: [kind, count, words...] one after the other. */
struct script {
    uint64_t *words;
    size_t count, room, at;
};

static void script_put(struct script *script, uint64_t kind, const uint64_t *words, uint64_t count)
{
    if (script->count + count + 2 > script->room) {
        script->room = (script->count + count + 2) * 2;
        script->words = realloc(script->words, script->room * sizeof *script->words);
        assert_non_null(script->words);
    }
    script->words[script->count++] = kind;
    script->words[script->count++] = count;
    memcpy(&script->words[script->count], words, count * sizeof *words);
    script->count += count;
}

static enum c2_status compare(struct script *script, uint64_t kind, const uint64_t *words, uint64_t count)
{
    assert_true(script->at + 2 + count <= script->count);
    assert_int_equal(script->words[script->at], kind);
    assert_int_equal(script->words[script->at + 1], count);
    assert_memory_equal(&script->words[script->at + 2], words, count * sizeof *words);
    script->at += 2 + count;
    return C2_OK;
}

static enum c2_status play_batch(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)err;
    return compare(self, batch->tid, batch->words, batch->used);
}

static struct stream_blocks *make_blocks(void)
{
    struct stream_blocks *blocks;
    struct stream_slot slots[7];
    assert_int_equal(C2_OK, stream_blocks_create(&blocks, NULL));
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const struct stream_insn insn = {0, 0, 4};
        for (unsigned s = 0; s < 7; s++)
            slots[s] = (struct stream_slot){0, 8, STREAM_READ, 0};
        const struct stream_block block = {.pc = {0x1000 + i * 16},
                                           .bytes = 4,
                                           .insn_count = 1,
                                           .slot_count = (uint16_t)(i % 7),
                                           .insns = &insn,
                                           .slots = slots};
        uint32_t number;
        assert_int_equal(C2_OK, stream_blocks_add(&number, blocks, &block, NULL));
    }
    return blocks;
}

/* Whole records, partial ones and marks, with addresses that stride and that jump. */
static void fill(struct stream_batch *batch, const struct stream_blocks *blocks, struct c2_rng *rng)
{
    batch->used = 0;
    batch->tid = 1;
    while (batch->used + 8 <= STREAM_BATCH_WORDS && c2_rng_below(rng, 500) != 0) {
        const uint32_t block = (uint32_t)c2_rng_below(rng, BLOCKS + 2);
        const bool mark = block >= BLOCKS;
        uint32_t slots = mark ? 4 : stream_blocks_at(blocks, block)->slot_count;
        if (c2_rng_below(rng, 10) == 0 && slots > 1)
            slots--;
        batch->words[batch->used++] = stream_header(mark ? STREAM_MARK : block, 1, slots);
        for (uint32_t i = 0; i < slots; i++, batch->used++)
            batch->words[batch->used] = c2_rng_below(rng, 3) == 0 ? c2_rng_next(rng) : 0x10000 + batch->used * 8;
    }
}

static void comes_back(void **state)
{
    (void)state;
    struct c2_rng rng;
    struct script script = {.count = 0};
    struct stream_tape *tape;
    struct stream_blocks *blocks = make_blocks();
    struct stream_batch *batch = calloc(1, sizeof *batch);
    c2_rng_init(&rng, 1, "tape");
    assert_int_equal(C2_OK, stream_tape_create(&tape, blocks, NULL));
    const struct stream_sink sink = stream_tape_sink(tape);
    for (unsigned i = 0; i < ITEMS; i++) {
        fill(batch, blocks, &rng);
        assert_int_equal(C2_OK, sink.consume(sink.self, batch, NULL));
        script_put(&script, batch->tid, batch->words, batch->used);
    }
    const struct stream_sink player = {&script, play_batch, NULL};
    for (unsigned times = 0; times < 2; times++) {
        script.at = 0;
        assert_int_equal(C2_OK, stream_tape_play(tape, player, NULL));
        assert_int_equal(script.at, script.count);
    }
    assert_true(stream_tape_bytes(tape) > 0);
    stream_tape_destroy(tape);
    stream_blocks_destroy(blocks);
    free(batch);
    free(script.words);
}

/* A loop over arrays: the same differences again and again. 30 batches of 8192 words take less than a byte a word. */
static void loops_are_small(void **state)
{
    (void)state;
    struct stream_tape *tape;
    struct stream_blocks *blocks = make_blocks();
    struct stream_batch *batch = calloc(1, sizeof *batch);
    uint64_t words = 0, step = 0;
    assert_int_equal(C2_OK, stream_tape_create(&tape, blocks, NULL));
    const struct stream_sink sink = stream_tape_sink(tape);
    for (unsigned i = 0; i < 30; i++) {
        for (batch->used = 0; batch->used + 4 <= STREAM_BATCH_WORDS; step++) {
            batch->words[batch->used++] = stream_header(3, 1, 3); /* block 3 has 3 slots */
            for (uint64_t s = 0; s < 3; s++)
                batch->words[batch->used++] = (s << 32) + step * 8;
        }
        batch->tid = 1;
        words += batch->used;
        assert_int_equal(C2_OK, sink.consume(sink.self, batch, NULL));
    }
    assert_true(stream_tape_bytes(tape) < words);
    stream_tape_destroy(tape);
    stream_blocks_destroy(blocks);
    free(batch);
}

static void no_directory_is_an_error_that_names_it(void **state)
{
    (void)state;
    struct stream_tape *tape;
    struct c2_error err;
    struct stream_blocks *blocks = make_blocks();
    setenv("TMPDIR", "/does/not/exist", 1);
    assert_int_equal(C2_ERR_IO, stream_tape_create(&tape, blocks, &err));
    assert_non_null(strstr(err.text, "/does/not/exist/c2emu-"));
    assert_non_null(strstr(err.text, "TMPDIR"));
    unsetenv("TMPDIR");
    stream_blocks_destroy(blocks);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct stream_tape *tape;
    struct stream_blocks *blocks = make_blocks();
    uint64_t tries = 0;
    enum c2_status status;
    do { /* each allocation fails once */
        c2_alloc_fail_from(++tries);
        status = stream_tape_create(&tape, blocks, NULL);
        c2_alloc_fail_from(0);
    } while (status == C2_ERR_NO_MEMORY);
    assert_int_equal(C2_OK, status);
    assert_true(tries > 2);
    stream_tape_destroy(tape);
    stream_blocks_destroy(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(loops_are_small),
                                       cmocka_unit_test(no_directory_is_an_error_that_names_it),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
