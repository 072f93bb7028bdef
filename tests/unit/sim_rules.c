/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sim's counting rules on programs small enough to count by hand, and its failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/sim.h"

static bool shifted(void *self, struct guest_va va, struct guest_pa *out)
{
    out->v = va.v + *(const uint64_t *)self;
    return true;
}

struct bench {
    uint64_t shift; /* physical = virtual + shift */
    struct caches_machine machine;
    struct stream_blocks *blocks;
    struct sim *sim;
    struct stream_batch batch;
};

static void set_machine(struct caches_machine *machine, bool has_l1i)
{
    *machine = (struct caches_machine){
        .name = "test", .line_bytes = 64, .physical_bytes = 1ull << 32, .has_l1i = has_l1i, .level_count = 2};
    machine->levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 1024, .ways = 2, .slices = 1, .hash = "none"};
    machine->l1i = (struct caches_level){.name = "L1I", .size_bytes = 1024, .ways = 2, .slices = 1, .hash = "none"};
    machine->levels[1] = (struct caches_level){
        .name = "L2", .size_bytes = 8192, .ways = 4, .slices = 1, .hash = "none", .index = CACHES_PHYSICAL};
}

static struct bench *bench_create(bool has_l1i, const struct sim_subscriber *subscriber)
{
    struct c2_error err;
    struct bench *bench = calloc(1, sizeof *bench);
    set_machine(&bench->machine, has_l1i);
    bench->batch.tid = 1;
    assert_int_equal(C2_OK, stream_blocks_create(&bench->blocks, &err));
    struct sim_config config = {.machine = &bench->machine,
                                .seed = 1,
                                .translation = {.self = &bench->shift, .translate = shifted},
                                .blocks = bench->blocks,
                                .subscribers = subscriber,
                                .subscriber_count = !!subscriber};
    assert_int_equal(C2_OK, sim_create(&bench->sim, &config, &err));
    return bench;
}

static void bench_destroy(struct bench *bench)
{
    sim_check(bench->sim);
    sim_destroy(bench->sim);
    stream_blocks_destroy(bench->blocks);
    free(bench);
}

/* A block of instructions of one length, each with the slot of its index where the size is not 0. */
static uint32_t add_block(struct bench *bench, uint64_t pc, uint8_t length, uint16_t insn_count,
                          const struct stream_slot *slots)
{
    struct stream_insn insns[16];
    struct stream_slot used[16];
    uint16_t slot_count = 0;
    for (uint16_t i = 0; i < insn_count; i++) {
        insns[i] = (struct stream_insn){(uint32_t)i * length, slot_count, length, 0};
        if (slots && slots[i].size != 0) {
            used[slot_count] = slots[i];
            used[slot_count++].insn = i;
        }
    }
    struct stream_block block = {{pc}, (uint32_t)insn_count * length, insn_count, slot_count, STREAM_JUMP, insns, used};
    uint32_t number;
    assert_int_equal(C2_OK, stream_blocks_add(&number, bench->blocks, &block, NULL));
    return number;
}

static void put(struct bench *bench, uint64_t word) { bench->batch.words[bench->batch.used++] = word; }

static void consume(struct bench *bench)
{
    assert_int_equal(C2_OK, sim_consume(bench->sim, &bench->batch, NULL));
    bench->batch.used = 0;
}

/* Four instructions of 10 bytes at 0x1038: bytes 38-41 (two lines), 42-4b, 4c-55, 56-5f. */
static void fetches_are_line_accesses_when_the_line_changes(void **state)
{
    (void)state;
    struct bench *bench = bench_create(true, NULL);
    uint32_t block = add_block(bench, 0x1038, 10, 4, NULL);
    for (int i = 0; i < 3; i++)
        put(bench, stream_header(block, 4, 0));
    consume(bench);
    assert_int_equal(12, sim_counts(bench->sim)->fetches);
    /* each round: line 0x40 (left in the round before), then line 0x41 */
    assert_int_equal(6, caches_l1i_counts(sim_caches(bench->sim))->accesses);
    assert_int_equal(2, caches_l1i_counts(sim_caches(bench->sim))->cold);
    uint32_t inside = add_block(bench, 0x1050, 4, 4, NULL); /* 0x1050-0x105f: the line of the fetch before */
    put(bench, stream_header(inside, 4, 0));
    put(bench, stream_header(inside, 4, 0));
    consume(bench);
    assert_int_equal(6, caches_l1i_counts(sim_caches(bench->sim))->accesses);
    assert_int_equal(20, sim_counts(bench->sim)->instructions);
    bench_destroy(bench);
}

static void without_l1i_fetches_are_only_counted(void **state)
{
    (void)state;
    struct bench *bench = bench_create(false, NULL);
    uint32_t block = add_block(bench, 0x1038, 10, 4, NULL);
    put(bench, stream_header(block, 4, 0));
    put(bench, stream_header(block, 3, 0));
    consume(bench);
    assert_int_equal(7, sim_counts(bench->sim)->fetches);
    assert_int_equal(0, caches_level_counts(sim_caches(bench->sim), 0)->accesses);
    assert_int_equal(0, caches_level_counts(sim_caches(bench->sim), 1)->accesses);
    bench_destroy(bench);
}

/* A read of 8 bytes, a modify of 4, a write of 16 and a read of 512, twice: once aligned, once across lines. */
static void references_and_their_lines(void **state)
{
    (void)state;
    static const struct stream_slot slots[] = {
        {0, 8, STREAM_READ, 0}, {0, 4, STREAM_MODIFY, 0}, {0, 16, STREAM_WRITE, 0}, {0, 512, STREAM_READ, 0}};
    struct bench *bench = bench_create(false, NULL);
    uint32_t block = add_block(bench, 0x1000, 4, 4, slots);
    for (uint64_t off = 0; off < 2; off++) { /* the first run has no plan yet, the others have */
        for (int run = 0; run < 2; run++) {
            put(bench, stream_header(block, 4, 4));
            put(bench, 0x10000 + off * 0x39);
            put(bench, 0x20000 + off * 0x3d);
            put(bench, 0x30000 + off * 0x3f);
            put(bench, 0x40000 + off * 0x10);
        }
    }
    consume(bench);
    const struct sim_counts *n = sim_counts(bench->sim);
    assert_int_equal(16, n->instructions);
    assert_int_equal(20, n->refs); /* a run: 8, 4 read, 4 written, 16, 512 */
    assert_int_equal(12, n->reads);
    assert_int_equal(8, n->writes);
    assert_int_equal(4, n->modifies);
    /* aligned: 1+1+1+1+8 lines; displaced: 2+2+2+2+9 lines, all five straddle, and so does the aligned 512 */
    assert_int_equal(2 * 12 + 2 * 17, n->line_accesses);
    assert_int_equal(2 * 1 + 2 * 5, n->straddles);
    bench_destroy(bench);
}

/* rep movsq of 3 elements downwards: left by a fault after 2, then completed. Its fetch comes first, its count last;
 * when it is run again with as many elements as were left, it is fetched again. */
static void a_string_is_one_instruction_when_it_completes(void **state)
{
    (void)state;
    struct bench *bench = bench_create(true, NULL);
    const struct stream_insn insn = {.length = 3};
    const struct stream_slot slots[4] = {
        {0, 8, STREAM_SOURCE, 0}, {0, 8, STREAM_DESTINATION, 1}, {0, 0, STREAM_DONE, 0}, {0, 0, STREAM_REMAINING, 0}};
    const struct stream_block block = {{0x1000}, 3, 1, 4, STREAM_JUMP, &insn, slots};
    uint32_t number;
    assert_int_equal(C2_OK, stream_blocks_add(&number, bench->blocks, &block, NULL));
    const uint64_t partial[] = {stream_header(number, 0, 4), 0x10044, 0x20010, stream_string_done(2, true), 1};
    const uint64_t rest[] = {stream_header(number, 1, 4), 0x10034, 0x20000, stream_string_done(1, true), 0};
    for (int i = 0; i < 5; i++)
        put(bench, partial[i]);
    consume(bench);
    const struct sim_counts *n = sim_counts(bench->sim);
    assert_int_equal(0, n->instructions);
    assert_int_equal(2, n->reads);
    assert_int_equal(2, n->writes);
    assert_int_equal(1, n->straddles); /* 0x1003c-0x10043 */
    assert_int_equal(1, caches_l1i_counts(sim_caches(bench->sim))->accesses);
    for (int i = 0; i < 5; i++)
        put(bench, rest[i]);
    consume(bench);
    assert_int_equal(1, n->instructions);
    assert_int_equal(6, n->refs);
    assert_int_equal(1, caches_l1i_counts(sim_caches(bench->sim))->accesses);
    assert_int_equal(7, caches_level_counts(sim_caches(bench->sim), 0)->accesses);
    bench_destroy(bench);
}

/* The same virtual line is another physical line after the change: a cold miss, also as a repeat. */
static void forget_forgets(void **state)
{
    (void)state;
    static const struct stream_slot slot = {0, 8, STREAM_READ, 0};
    struct bench *bench = bench_create(false, NULL);
    uint32_t block = add_block(bench, 0x1000, 4, 1, &slot);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            put(bench, stream_header(block, 1, 1));
            put(bench, 0x10ff8);
        }
        consume(bench);
        bench->shift = 0x100000;
        sim_forget(bench->sim, (struct guest_va){0x10ff8}, 1);
    }
    const struct caches_counts *l1 = caches_level_counts(sim_caches(bench->sim), 0);
    assert_int_equal(6, l1->accesses);
    assert_int_equal(2, l1->cold);
    assert_int_equal(4, l1->hits);
    bench_destroy(bench);
}

static enum c2_status refuse(void *self, const struct sim_reference *list, size_t count, struct c2_error *err)
{
    int *left = self;
    (void)list;
    for (size_t i = 0; i < count; i++)
        if (--*left < 0)
            return c2_fail(err, C2_ERR_IO, "full");
    return C2_OK;
}

static void a_subscribers_failure_ends_the_batch(void **state)
{
    (void)state;
    int left = 2;
    struct sim_subscriber subscriber = {.self = &left, .references = refuse};
    struct c2_error err;
    struct bench *bench = bench_create(false, &subscriber);
    uint32_t block = add_block(bench, 0x1000, 4, 4, NULL);
    put(bench, stream_header(block, 4, 0));
    put(bench, stream_header(block, 4, 0));
    assert_int_equal(C2_ERR_IO, sim_consume(bench->sim, &bench->batch, &err));
    assert_string_equal("full", err.text);
    assert_int_equal(-1, left);
    bench_destroy(bench);
}

/* The notices of each, in one string: a letter each. */
struct ear {
    char letter;
    char *heard;
    bool fails; /* at the first miss */
};

static enum c2_status hear(const struct ear *ear, char what)
{
    const size_t length = strlen(ear->heard);
    ear->heard[length] = ear->letter, ear->heard[length + 1] = what, ear->heard[length + 2] = ' ';
    return ear->fails && what == 'm' ? C2_ERR_IO : C2_OK;
}

static enum c2_status hear_memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    (void)area, (void)err;
    return hear(self, appeared ? '+' : '-');
}

static enum c2_status hear_mark(void *self, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    (void)words, (void)err;
    return hear(self, (char)('0' + mark));
}

/* A letter a record. */
static enum c2_status hear_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    (void)err;
    for (const uint64_t *at = records->words; at < records->end; at = sim_record_behind(at))
        hear(self, 'r');
    return C2_OK;
}

static void hear_block(void *self, const struct stream_block *block)
{
    (void)block;
    hear(self, 'b');
}

static enum c2_status hear_miss(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    (void)miss;
    return hear(self, 'm') == C2_OK ? C2_OK : c2_fail(err, C2_ERR_IO, "full");
}

/* What they hear of two runs of a block that reads one line, and of a mark between them: listeners of misses, of the
 * record before. */
static enum c2_status listen(char *heard, bool first_fails)
{
    static const struct stream_slot slot = {0, 8, STREAM_READ, 0};
    const struct mmu_area area = {.start = {0x10000}, .bytes = 0x1000};
    struct ear ears[3] = {{'A', heard, first_fails}, {'B', heard, false}, {'C', heard, false}};
    const struct sim_subscriber subscribers[3] = {
        {&ears[0], .memory = hear_memory, .mark = hear_mark, .missed = hear_miss},
        {&ears[1], .records = hear_records, .block = hear_block},
        {&ears[2], .memory = hear_memory, .mark = hear_mark, .records = hear_records, .block = hear_block,
         .missed = hear_miss}};
    struct bench *bench = bench_create(false, NULL);
    struct sim_config config = {.machine = &bench->machine,
                                .translation = {.self = &bench->shift, .translate = shifted},
                                .blocks = bench->blocks,
                                .subscribers = subscribers,
                                .subscriber_count = 3};
    struct c2_error err;
    struct sim *sim;
    const uint32_t block = add_block(bench, 0x1000, 4, 1, &slot);
    assert_int_equal(C2_OK, sim_create(&sim, &config, &err));
    for (unsigned i = 0; i < 2; i++) {
        put(bench, stream_header(block, 1, 1));
        put(bench, 0x10000);
        if (i == 0)
            put(bench, stream_header(STREAM_MARK, STREAM_FREED, 1)), put(bench, 0x10000);
    }
    assert_int_equal(C2_OK, sim_memory(sim, true, &area, &err));
    enum c2_status status = sim_consume(sim, &bench->batch, &err);
    if (status == C2_OK)
        assert_int_equal(C2_OK, sim_memory(sim, false, &area, &err));
    sim_destroy(sim);
    bench_destroy(bench);
    return status;
}

static void several_hear_of_the_same(void **state)
{
    (void)state;
    char heard[64] = "";
    assert_int_equal(C2_OK, listen(heard, false));
    assert_string_equal("A+ C+ Bb Cb Cr Am Cm Br A2 C2 Br Cr A- C- ", heard);
    memset(heard, 0, sizeof heard);
    assert_int_equal(C2_ERR_IO, listen(heard, true));
    assert_string_equal("A+ C+ Bb Cb Cr Am ", heard);
}

static void impossible_lines_are_refused(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 4, 48, 8192};
    struct caches_machine machine;
    struct c2_error err;
    set_machine(&machine, false);
    for (int i = 0; i < 4; i++) {
        struct sim *sim = (struct sim *)&err;
        struct sim_config config = {.machine = &machine};
        machine.line_bytes = lengths[i];
        assert_int_equal(C2_ERR_INVALID, sim_create(&sim, &config, &err));
        assert_null(sim);
    }
}

/* Each allocation of creating and of consuming the first batch fails once. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const struct stream_slot slot = {0, 8, STREAM_READ, 0};
    struct bench *bench = bench_create(true, NULL);
    uint32_t block = add_block(bench, 0x1000, 4, 1, &slot);
    struct sim_subscriber subscriber = {.self = bench};
    put(bench, stream_header(block, 1, 1));
    put(bench, 0x10000);
    enum c2_status created = C2_ERR_NO_MEMORY, consumed = C2_ERR_NO_MEMORY;
    uint64_t tries = 0;
    while (created != C2_OK || consumed != C2_OK) {
        struct sim_config config = {.machine = &bench->machine,
                                    .seed = 1,
                                    .translation = {.self = &bench->shift, .translate = shifted},
                                    .blocks = bench->blocks,
                                    .subscribers = &subscriber};
        struct sim *sim;
        struct c2_error err;
        c2_alloc_fail_from(++tries);
        created = sim_create(&sim, &config, &err);
        consumed = created == C2_OK ? sim_consume(sim, &bench->batch, &err) : created;
        c2_alloc_fail_from(0);
        assert_true(consumed == C2_OK || (consumed == C2_ERR_NO_MEMORY && err.status == C2_ERR_NO_MEMORY));
        sim_destroy(sim);
    }
    assert_true(tries > 3);
    sim_destroy(NULL);
    bench_destroy(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetches_are_line_accesses_when_the_line_changes),
        cmocka_unit_test(without_l1i_fetches_are_only_counted),
        cmocka_unit_test(references_and_their_lines),
        cmocka_unit_test(a_string_is_one_instruction_when_it_completes),
        cmocka_unit_test(forget_forgets),
        cmocka_unit_test(a_subscribers_failure_ends_the_batch),
        cmocka_unit_test(several_hear_of_the_same),
        cmocka_unit_test(impossible_lines_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
