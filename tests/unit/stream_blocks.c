/* SPDX-License-Identifier: GPL-2.0-or-later
 * The table of blocks: copies, addresses that never move, the contract of a block, failing allocations. */
#include "stream/stream.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define INSNS_MAX 6
#define SLOTS_MAX 16

/* A block made from its number alone, so that the test knows what each entry must hold. */
struct made {
    struct stream_block block;
    struct stream_insn insns[INSNS_MAX];
    struct stream_slot slots[SLOTS_MAX];
};

/* 1 to 6 instructions; instruction i of block n has (n + i) mod 3 slots. */
static void make_block(struct made *made, uint32_t n)
{
    memset(made, 0, sizeof *made);
    struct stream_block *block = &made->block;
    block->pc.v = 0x401000 + 16 * (uint64_t)n;
    block->insn_count = (uint16_t)(1 + n % INSNS_MAX);
    block->insns = made->insns;
    block->slots = made->slots;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        made->insns[i] = (struct stream_insn){.offset = block->bytes, .first_slot = block->slot_count, .length = 3};
        block->bytes += 3;
        for (uint32_t j = 0; j < (n + i) % 3; j++)
            made->slots[block->slot_count++] = (struct stream_slot){
                .insn = (uint16_t)i, .size = (uint16_t)(1 + n % 64), .kind = (uint8_t)j};
    }
}

static void assert_same_block(const struct stream_block *block, uint32_t n)
{
    struct made made;
    make_block(&made, n);
    assert_int_equal(block->pc.v, made.block.pc.v);
    assert_int_equal(block->bytes, made.block.bytes);
    assert_int_equal(block->insn_count, made.block.insn_count);
    assert_int_equal(block->slot_count, made.block.slot_count);
    for (uint32_t i = 0; i < block->insn_count; i++) {
        assert_int_equal(block->insns[i].offset, made.insns[i].offset);
        assert_int_equal(block->insns[i].first_slot, made.insns[i].first_slot);
        assert_int_equal(block->insns[i].length, made.insns[i].length);
    }
    for (uint32_t i = 0; i < block->slot_count; i++) {
        assert_int_equal(block->slots[i].insn, made.slots[i].insn);
        assert_int_equal(block->slots[i].size, made.slots[i].size);
        assert_int_equal(block->slots[i].kind, made.slots[i].kind);
    }
}

static enum c2_status add_block(struct stream_blocks *blocks, uint32_t n, uint32_t *number, struct c2_error *err)
{
    struct made made;
    make_block(&made, n);
    enum c2_status status = stream_blocks_add(number, blocks, &made.block, err);
    memset(&made, 0xee, sizeof made); /* the table has a copy */
    return status;
}

#define MANY 10000u /* two chunks and a part of a third; 39 chunks and a part under stress */

static void test_numbers_count_up_and_entries_stay(void **state)
{
    (void)state;
    static const struct stream_block *first_seen[MANY];
    struct stream_blocks *blocks;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    assert_int_equal(stream_blocks_count(blocks), 0);
    for (uint32_t n = 0; n < MANY; n++) {
        uint32_t number = ~0u;
        assert_int_equal(add_block(blocks, n, &number, NULL), C2_OK);
        assert_int_equal(number, n);
        assert_int_equal(stream_blocks_count(blocks), n + 1);
        first_seen[n] = stream_blocks_at(blocks, n);
    }
    for (uint32_t n = 0; n < MANY; n++) {
        assert_ptr_equal(stream_blocks_at(blocks, n), first_seen[n]);
        assert_same_block(first_seen[n], n);
    }
    stream_blocks_check(blocks);
    stream_blocks_destroy(blocks);
    stream_blocks_destroy(NULL);
}

static void test_header_word(void **state)
{
    (void)state;
    uint64_t header = stream_header(0xfedcba98, 0xffff, 0x1234);
    assert_int_equal(header, 0xfedcba98ffff1234);
    assert_int_equal(stream_header_block(header), 0xfedcba98);
    assert_int_equal(stream_header_insns(header), 0xffff);
    assert_int_equal(stream_header_slots(header), 0x1234);
}

/* Creates a table and adds blocks until an allocation fails; C2_OK when none did. */
static enum c2_status fill(uint32_t count, struct c2_error *err)
{
    struct stream_blocks *blocks;
    enum c2_status status = stream_blocks_create(&blocks, err);
    uint32_t added = 0, number;
    for (; status == C2_OK && added < count; added += status == C2_OK)
        status = add_block(blocks, added, &number, err);
    if (blocks) {
        assert_int_equal(stream_blocks_count(blocks), added);
        for (uint32_t n = 0; n < added; n++)
            assert_same_block(stream_blocks_at(blocks, n), n);
    }
    stream_blocks_destroy(blocks);
    return status;
}

static void test_survives_each_failing_allocation(void **state)
{
    (void)state;
    struct c2_error err;
    uint64_t n = 0;
    enum c2_status status;
    do {
        c2_alloc_fail_from(++n);
        status = fill(3, &err);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    /* The table, its directory, a chunk, room for what the blocks have: 16, 48 and 48 bytes (instructions of 8, slots
     * of 6, in sixteens), of which the 64 of a stress build's pool hold the first two. */
    assert_int_equal(n - 1, C2_HOST_SIZE(4, 5));
}

/* A failed add takes no number: the next one gets it. */
static void test_add_after_a_failure(void **state)
{
    (void)state;
    struct stream_blocks *blocks;
    uint32_t number = 99;
    struct c2_error err;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    for (uint64_t n = 1; n <= 2; n++) { /* the chunk, then room for what the block has */
        c2_alloc_fail_from(n);
        assert_int_equal(add_block(blocks, 0, &number, &err), C2_ERR_NO_MEMORY);
        assert_string_equal(err.text, "no host memory left for a basic block");
        assert_int_equal(number, 99);
        assert_int_equal(stream_blocks_count(blocks), 0);
    }
    c2_alloc_fail_from(0);
    assert_int_equal(add_block(blocks, 0, &number, NULL), C2_OK);
    assert_int_equal(number, 0);
    stream_blocks_destroy(blocks);
}

/* ------------------------------------------------------------------ blocks that break the contract are not taken */

static void make_string_block(struct made *made)
{
    memset(made, 0, sizeof *made);
    made->block = (struct stream_block){
        .pc = {0x401000}, .bytes = 2, .insn_count = 1, .slot_count = 4, .insns = made->insns, .slots = made->slots};
    for (uint8_t i = 0; i < 4; i++)
        made->slots[i].kind = (uint8_t)(STREAM_SOURCE + i);
}

static void break_nothing(struct made *made) { (void)made; }
static void break_no_insns(struct made *made) { made->block.insn_count = 0; }
static void break_first_slot(struct made *made) { made->insns[0].first_slot = 1; }
static void break_slot_range(struct made *made) { made->insns[2].first_slot = 99; }
static void break_slot_owner(struct made *made) { made->slots[0].insn = 5; }
static void break_kind(struct made *made) { made->slots[0].kind = STREAM_REMAINING + 1; }
static void break_string_alone(struct made *made) { made->slots[0].kind = STREAM_SOURCE; }
static void make_string(struct made *made) { make_string_block(made); }

static void break_string_kind(struct made *made)
{
    make_string_block(made);
    made->slots[1].kind = STREAM_READ;
}

/* Block 5: six instructions of 2, 0, 1, 2, 0, 1 slots; the slot of the last is a read of 6 bytes. */
static void make_ending(struct made *made, enum stream_ending ending, uint8_t kind, uint16_t size)
{
    struct stream_slot *slot = &made->slots[made->block.slot_count - 1];
    made->block.ending = (uint8_t)ending;
    slot->kind = kind;
    slot->size = size;
}
static void make_call(struct made *made) { make_ending(made, STREAM_CALL, STREAM_WRITE, 8); }
static void make_return(struct made *made) { make_ending(made, STREAM_RETURN, STREAM_READ, 8); }
static void break_call_reads(struct made *made) { make_ending(made, STREAM_CALL, STREAM_READ, 8); }
static void break_call_size(struct made *made) { make_ending(made, STREAM_CALL, STREAM_WRITE, 6); }
static void break_return_writes(struct made *made) { make_ending(made, STREAM_RETURN, STREAM_MODIFY, 8); }
static void break_ending(struct made *made) { made->block.ending = STREAM_RETURN + 1; }

/* The last instruction without a slot: the one before has it. */
static void break_call_slots(struct made *made)
{
    make_call(made);
    made->block.slot_count--;
}

static void break_string_order(struct made *made)
{
    make_string_block(made);
    made->slots[2].kind = STREAM_REMAINING;
    made->slots[3].kind = STREAM_DONE;
}

static void break_string_slots(struct made *made)
{
    make_string_block(made);
    made->block.slot_count = 3;
}

/* Adds a made block after `change` in a child; true when the child was aborted by an assertion. */
static bool aborts(void (*change)(struct made *made))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct made made;
        struct stream_blocks *blocks;
        uint32_t number;
        signal(SIGABRT, SIG_DFL);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        make_block(&made, 5);
        change(&made);
        if (stream_blocks_create(&blocks, NULL) != C2_OK)
            _exit(1);
        stream_blocks_add(&number, blocks, &made.block, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_contract_of_a_block(void **state)
{
    (void)state;
    assert_false(aborts(break_nothing));
    assert_false(aborts(make_string));
    assert_true(aborts(break_no_insns));
    assert_true(aborts(break_first_slot));
    assert_true(aborts(break_slot_range));
    assert_true(aborts(break_slot_owner));
    assert_true(aborts(break_kind));
    assert_true(aborts(break_string_alone));
    assert_true(aborts(break_string_order));
    assert_true(aborts(break_string_kind));
    assert_true(aborts(break_string_slots));
    assert_false(aborts(make_call));
    assert_false(aborts(make_return));
    assert_true(aborts(break_call_reads));
    assert_true(aborts(break_call_size));
    assert_true(aborts(break_call_slots));
    assert_true(aborts(break_return_writes));
    assert_true(aborts(break_ending));
}

static void test_dump(void **state)
{
    (void)state;
    struct stream_blocks *blocks;
    struct made made;
    char *text = NULL;
    size_t bytes;
    uint32_t number;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    make_block(&made, 2); /* three instructions with 2, 0 and 1 slots */
    made.slots[1].how = 1;
    assert_int_equal(stream_blocks_add(&number, blocks, &made.block, NULL), C2_OK);
    FILE *to = open_memstream(&text, &bytes);
    stream_blocks_dump(blocks, to);
    fclose(to);
    assert_string_equal(text, "block 0: pc 0x401020, 9 bytes, 3 instructions, 3 slots\n"
                              "  +0 read 3\n  +0 write non-temporal 3\n  +6 read 3\n");
    free(text);
    stream_blocks_destroy(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_count_up_and_entries_stay),
        cmocka_unit_test(test_header_word),
        cmocka_unit_test(test_survives_each_failing_allocation),
        cmocka_unit_test(test_add_after_a_failure),
        cmocka_unit_test(test_contract_of_a_block),
        cmocka_unit_test(test_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
