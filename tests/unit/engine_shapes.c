/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The slots of instructions of VEX and EVEX (interpret_touched has all forms on the processor, what is wanted of caches
 * apart), and the blocks of masked ones: random shapes beside a list of all that were asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/shapes.h"

static struct decode_insn decoded(const uint8_t *bytes, size_t count)
{
    struct decode_insn insn;
    assert_int_equal(decode_one(&insn, (struct guest_va){(uintptr_t)bytes}, count), DECODE_GOOD);
    assert_int_equal(insn.insn.length, count);
    return insn;
}

/* ------------------------------------------------------------------ slots */

static const struct row {
    const char *bytes;
    uint8_t length, count;
    struct stream_slot slot;
} rows[] = {
    {"\xc5\xfc\x10\x00", 4, 1, {0, 32, STREAM_READ, 0}},          /* vmovups (%rax), %ymm0 */
    {"\xc5\xfc\x11\x00", 4, 1, {0, 32, STREAM_WRITE, 0}},         /* vmovups %ymm0, (%rax) */
    {"\x62\xf1\x7c\x48\x11\x00", 6, 1, {0, 64, STREAM_WRITE, 0}}, /* vmovups %zmm0, (%rax) */
    {"\xc5\xfc\x2b\x00", 4, 1, {0, 32, STREAM_WRITE, 1}},         /* vmovntps %ymm0, (%rax) */
    {"\xc5\xfd\x2b\x00", 4, 1, {0, 32, STREAM_WRITE, 1}},         /* vmovntpd %ymm0, (%rax) */
    {"\x62\xf1\x7d\x48\xe7\x00", 6, 1, {0, 64, STREAM_WRITE, 1}}, /* vmovntdq %zmm0, (%rax) */
    {"\xc4\xe2\x7d\x2a\x00", 5, 1, {0, 32, STREAM_READ, 0}},      /* vmovntdqa (%rax), %ymm0 */
    {"\xc4\xe2\x7d\x18\x00", 5, 1, {0, 4, STREAM_READ, 0}},       /* vbroadcastss (%rax), %ymm0 */
    {"\xc4\xe2\x7d\x1a\x00", 5, 1, {0, 16, STREAM_READ, 0}},      /* vbroadcastf128 (%rax), %ymm0 */
    {"\x62\xf1\x74\x58\x58\x00", 6, 1, {0, 4, STREAM_READ, 0}},   /* vaddps (%rax){1to16}, %zmm1, %zmm0 */
    {"\x62\xf2\x75\x49\x36\x00", 6, 1, {0, 64, STREAM_READ, 0}},  /* vpermd (%rax), %zmm1, %zmm0 {%k1}: NF */
    {"\xc4\xe2\x75\xb8\x00", 5, 1, {0, 32, STREAM_READ, 0}},      /* vfmadd231ps (%rax), %ymm1, %ymm0 */
    {"\xc4\xe3\x7d\x1d\x00\x00", 6, 1, {0, 16, STREAM_WRITE, 0}}, /* vcvtps2ph $0, %ymm0, (%rax) */
    {"\xc4\xe2\x7d\x13\x00", 5, 1, {0, 16, STREAM_READ, 0}},      /* vcvtph2ps (%rax), %ymm0 */
    {"\xc4\xe2\x70\xf2\x00", 5, 1, {0, 4, STREAM_READ, 0}},       /* andn (%rax), %ecx, %eax */
    {"\xc4\xe2\xf2\xf5\x00", 5, 1, {0, 8, STREAM_READ, 0}},       /* pext (%rax), %rcx, %rax */
    {"\x66\x48\x0f\x38\xf6\x00", 6, 1, {0, 8, STREAM_READ, 0}},   /* adcx (%rax), %rax */
    {"\x48\x0f\x38\xf1\x00", 5, 1, {0, 8, STREAM_WRITE, 0}},      /* movbe %rax, (%rax) */
    {"\x66\x0f\x38\xdc\x00", 5, 1, {0, 16, STREAM_READ, 0}},      /* aesenc (%rax), %xmm0 */
    {"\xc4\xe2\x75\xdc\x00", 5, 1, {0, 32, STREAM_READ, 0}},      /* vaesenc (%rax), %ymm1, %ymm0 */
    {"\x0f\x38\xcb\x00", 4, 1, {0, 16, STREAM_READ, 0}},          /* sha256rnds2 (%rax), %xmm0 */
    {"\x66\x0f\x3a\x44\x00\x00", 6, 1, {0, 16, STREAM_READ, 0}},  /* pclmulqdq $0, (%rax), %xmm0 */
    {"\x66\x0f\x38\xcf\x00", 5, 1, {0, 16, STREAM_READ, 0}},      /* gf2p8mulb (%rax), %xmm0 */
    {"\xc4\xe1\xf8\x90\x08", 5, 1, {0, 8, STREAM_READ, 0}},       /* kmovq (%rax), %k1 */
    {"\xc5\xf8\x91\x08", 4, 1, {0, 2, STREAM_WRITE, 0}},          /* kmovw %k1, (%rax) */
    {"\xc5\xf8\x77", 3, 0, {0, 0, 0, 0}},                         /* vzeroupper */
    {"\xc5\xfc\x77", 3, 0, {0, 0, 0, 0}},                         /* vzeroall */
    {"\xc4\xe2\x75\xb8\xc2", 5, 0, {0, 0, 0, 0}},                 /* vfmadd231ps %ymm2, %ymm1, %ymm0 */
};

static void test_slots(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct stream_slot slots[DECODE_INSN_SLOTS];
        const struct decode_insn insn = decoded((const uint8_t *)rows[i].bytes, rows[i].length);
        assert_false(interpret_is_masked(&insn.insn, insn.operands));
        assert_int_equal(decode_slots(slots, &insn, 0), rows[i].count);
        if (rows[i].count != 0)
            assert_memory_equal(&slots[0], &rows[i].slot, sizeof slots[0]);
    }
}

/* ------------------------------------------------------------------ shapes */

static const char *const masked[] = {
    "\x62\xf1\x7c\x49\x10\x00",     /* vmovups (%rax), %zmm0 {%k1} */
    "\x62\xf1\x7c\x49\x11\x00",     /* vmovups %zmm0, (%rax) {%k1} */
    "\x62\xf2\x7d\x49\x92\x0c\x20", /* vgatherdps (%rax,%zmm4), %zmm1 {%k1} */
};
static const uint8_t lengths[] = {6, 6, 7};

struct asked {
    uint64_t pc;
    unsigned insn;
    struct interpret_touched touched;
    uint32_t number;
    bool stale;
};
static struct asked list[4096];
static unsigned count;

static bool same(const struct asked *a, const struct asked *b)
{
    bool equal = a->pc == b->pc && lengths[a->insn] == lengths[b->insn] && a->touched.count == b->touched.count;
    for (unsigned i = 0; equal && i < a->touched.count; i++)
        equal = a->touched.list[i].bytes == b->touched.list[i].bytes &&
                a->touched.list[i].kind == b->touched.list[i].kind;
    return equal;
}

static void check_block(const struct stream_blocks *blocks, const struct asked *it)
{
    const struct stream_block *block = stream_blocks_at(blocks, it->number);
    assert_true(stream_block_obeys(block));
    assert_int_equal(block->pc.v, it->pc);
    assert_int_equal(block->bytes, lengths[it->insn]);
    assert_int_equal(block->insn_count, 1);
    assert_int_equal(block->insns[0].length, lengths[it->insn]);
    assert_int_equal(block->slot_count, it->touched.count);
    for (unsigned i = 0; i < it->touched.count; i++) {
        assert_int_equal(block->slots[i].size, it->touched.list[i].bytes);
        assert_int_equal(block->slots[i].kind, it->insn == 1 ? STREAM_WRITE : STREAM_READ);
    }
}

static struct asked draw(struct c2_rng *rng)
{
    struct asked it = {.pc = 0x401000 + 4 * c2_rng_below(rng, 20), .insn = (unsigned)c2_rng_below(rng, 3)};
    it.touched.count = (unsigned)c2_rng_below(rng, 4);
    for (unsigned i = 0; i < it.touched.count; i++)
        it.touched.list[i] = (struct interpret_touch){.address = c2_rng_next(rng),
                                                      .bytes = (uint16_t)(4 + 4 * c2_rng_below(rng, 3)),
                                                      .kind = it.insn == 1 ? STREAM_WRITE : STREAM_READ};
    return it;
}

static void test_shapes(void **state)
{
    struct stream_blocks *blocks;
    struct shapes *shapes;
    struct c2_rng rng;
    uint32_t made = 0;
    (void)state;
    c2_rng_init(&rng, 1, "shapes");
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    assert_int_equal(shapes_create(&shapes, blocks, NULL), C2_OK);
    for (unsigned round = 0; round < 40000 && count < 4096; round++) {
        struct asked it = draw(&rng);
        unsigned known = count;
        if (c2_rng_below(&rng, 500) == 0) { /* code changes, of this instruction or beside it */
            const uint64_t start = it.pc - 10 + c2_rng_below(&rng, 20), bytes = 1 + c2_rng_below(&rng, 8);
            shapes_forget(shapes, (struct guest_va){start}, bytes);
            for (unsigned i = 0; i < count; i++)
                list[i].stale |= list[i].pc < start + bytes && start < list[i].pc + lengths[list[i].insn];
        }
        for (unsigned i = 0; i < count; i++)
            if (!list[i].stale && same(&list[i], &it))
                known = i;
        const struct decode_insn insn = decoded((const uint8_t *)masked[it.insn], lengths[it.insn]);
        assert_true(interpret_is_masked(&insn.insn, insn.operands));
        assert_int_equal(shapes_find(&it.number, shapes, (struct guest_va){it.pc}, &insn, &it.touched, NULL), C2_OK);
        assert_int_equal(it.number, known < count ? list[known].number : made++);
        assert_int_equal(stream_blocks_count(blocks), made);
        check_block(blocks, &it);
        if (known == count)
            list[count++] = it;
    }
    assert_true(count > 1000);
    shapes_destroy(shapes);
    stream_blocks_destroy(blocks);
}

/* The n-th allocation fails, until none does. */
static void test_no_memory(void **state)
{
    const struct decode_insn insn = decoded((const uint8_t *)masked[0], lengths[0]);
    const struct interpret_touched touched = {.count = 1, .list = {{0x1000, 64, STREAM_READ}}};
    enum c2_status status = C2_ERR_NO_MEMORY;
    (void)state;
    for (unsigned n = 1; status != C2_OK; n++) {
        struct stream_blocks *blocks;
        struct shapes *shapes;
        uint32_t number;
        assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
        c2_alloc_fail_from(n);
        status = shapes_create(&shapes, blocks, NULL);
        if (status == C2_OK)
            status = shapes_find(&number, shapes, (struct guest_va){0x401000}, &insn, &touched, NULL);
        c2_alloc_fail_from(0);
        shapes_destroy(shapes);
        stream_blocks_destroy(blocks);
        assert_true(n < 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
