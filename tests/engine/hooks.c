/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a translation of Unicorn's makes other accesses than its block, hooks record from there on. That happens
 * nowhere that is known; here it is made to, at each instruction of a guest in turn, with each budget: the stream is
 * that of translations all the same, word for word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unicorn/unicorn_engine.h"
#include "unicorn/unicorn_priv.h"

enum { CODE = 0x400000, DATA = 0x10000000, PAGES = 3 };

/* Loads and stores of 1 to 16 bytes, some across pages, what is interpreted and what Unicorn does in C, in a loop. */
static const uint8_t code[] = {
    0xb9, 0x05, 0,    0,    0,                /*  0 mov $5,%ecx */
    0x48, 0x8b, 0x87, 0xfc, 0x0f, 0,    0,    /*  5 mov 4092(%rdi),%rax: across a page */
    0x48, 0xa7,                               /* 12 cmpsq */
    0x48, 0x8d, 0x7f, 0xf8,                   /* 14 lea -8(%rdi),%rdi */
    0x48, 0x8d, 0x76, 0xf8,                   /* 18 lea -8(%rsi),%rsi */
    0xf3, 0x48, 0x0f, 0xb8, 0x17,             /* 22 popcnt (%rdi),%rdx */
    0x0f, 0x11, 0x87, 0xf8, 0x0f, 0,    0,    /* 27 movups %xmm0,4088(%rdi): across a page */
    0x66, 0x0f, 0x10, 0x8f, 0xf4, 0x0f, 0, 0, /* 34 movupd 4084(%rdi),%xmm1: a half across a page */
    0x48, 0xd3, 0x67, 0x18,                   /* 42 shl %cl,24(%rdi): interpreted, reads and writes */
    0xf0, 0x48, 0x0f, 0xc7, 0x0e,             /* 46 lock cmpxchg16b (%rsi) */
    0xdb, 0x6f, 0x20,                         /* 51 fldt 32(%rdi) */
    0xdb, 0x7f, 0x30,                         /* 54 fstpt 48(%rdi) */
    0x48, 0x01, 0x47, 0x40,                   /* 57 add %rax,64(%rdi) */
    0x0f, 0x18, 0x4f, 0x50,                   /* 61 prefetcht0 80(%rdi) */
    0x83, 0xe9, 0x01,                         /* 65 sub $1,%ecx */
    0x75, 0xbf,                               /* 68 jne 5 */
    0x0f, 0x05,                               /* 70 syscall */
};
static const uint8_t starts[] = {0, 5, 12, 14, 18, 22, 27, 34, 42, 46, 51, 54, 57, 61, 65, 68, 70};
enum { STARTS = sizeof starts, LOOP = 15, ROUNDS = 5, INSNS = 1 + LOOP * ROUNDS + 1 };

struct record {
    uint64_t words[4096];
    size_t used;
};

static enum c2_status keep(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct record *record = self;
    (void)err;
    assert_true(record->used + batch->used <= sizeof record->words / sizeof *record->words);
    memcpy(record->words + record->used, batch->words, batch->used * sizeof *batch->words);
    record->used += batch->used;
    return C2_OK;
}

static void map(struct mmu *mmu, uint64_t address, unsigned pages, unsigned prot)
{
    struct mmu_request request = {.address = address,
                                  .bytes = pages * C2_PAGE_BYTES,
                                  .prot = prot,
                                  .fixed = true,
                                  .kind = MMU_ANONYMOUS,
                                  .host_fd = -1};
    struct c2_error err;
    assert_int_equal(mmu_map(mmu, &request), address);
    for (unsigned i = 0; i < pages; i++) {
        const struct guest_va at = {address + i * C2_PAGE_BYTES};
        assert_int_equal(mmu_touch(mmu, at, prot & MMU_WRITE ? MMU_ACCESS_WRITE : MMU_ACCESS_EXEC, &err),
                         MMU_FAULT_NONE);
    }
}

static void run_guest(struct engine *engine, uint64_t budget)
{
    struct syscalls_cpu cpu;
    struct engine_event event;
    struct c2_error err;
    engine_get_cpu(engine, &cpu);
    memset(cpu.gpr, 0, sizeof cpu.gpr);
    cpu.gpr[7] = DATA;
    cpu.gpr[6] = DATA + 0x100;
    cpu.rip = CODE;
    cpu.rflags = 0x202;
    engine_set_cpu(engine, &cpu);
    uint64_t done = 0;
    do {
        engine_run(engine, budget, &event, &err);
        done += budget;
        if (event.stop == ENGINE_BUDGET)
            assert_int_equal(engine_instructions(engine), done);
    } while (event.stop == ENGINE_BUDGET);
    assert_int_equal(event.stop, ENGINE_SYSCALL);
    assert_int_equal(engine_instructions(engine), INSNS);
}

/* The stream of a run in slices of `budget` instructions, in which translations from `distrusted` on are refused. */
static void run(struct record *record, uint64_t budget, uint64_t distrusted)
{
    struct mmu_guest_config memory = {.guest_bytes = 1 << 30};
    struct engine_config config = {0};
    struct engine *engine;
    struct c2_error err;
    assert_int_equal(mmu_create(&config.mmu, &memory, &err), C2_OK);
    assert_int_equal(stream_blocks_create(&config.blocks, &err), C2_OK);
    map(config.mmu, CODE, 1, MMU_READ | MMU_EXEC);
    map(config.mmu, DATA, PAGES, MMU_READ | MMU_WRITE);
    memcpy((void *)(uintptr_t)CODE, code, sizeof code);
    record->used = 0;
    assert_int_equal(stream_writer_create(&config.writer, (struct stream_sink){record, keep, NULL}, &err), C2_OK);
    assert_int_equal(engine_create(&engine, &engine_unicorn_ops, &config, &err), C2_OK);
    assert_int_equal(engine_set_recording(engine, true, &err), C2_OK);
    unicorn_code_distrust(distrusted);
    run_guest(engine, budget);
    unicorn_code_distrust(0);
    assert_int_equal(stream_writer_flush(config.writer, &err), C2_OK);
    engine_destroy(engine);
    stream_writer_destroy(config.writer);
    stream_blocks_destroy(config.blocks);
    mmu_destroy(config.mmu);
}

static void change_amid_a_run(void **state)
{
    static struct record by_translations, by_hooks;
    (void)state;
    for (uint64_t budget = 0; budget <= INSNS; budget++) {
        run(&by_translations, budget, 0);
        for (unsigned i = 0; i < STARTS; i++) {
            run(&by_hooks, budget, CODE + starts[i]);
            assert_int_equal(by_hooks.used, by_translations.used);
            assert_memory_equal(by_hooks.words, by_translations.words, by_hooks.used * sizeof *by_hooks.words);
        }
        if (budget == LOOP)
            budget = INSNS - 1;
    }
}

/* Of a library that lacks one function no translation is trusted: hooks record all of the run. */
static void library_that_lacks_a_function(void **state)
{
    static struct record by_translations, by_hooks;
    (void)state;
    assert_null(unicorn_gate());
    run(&by_translations, 0, 0);
    unicorn_gate_withhold("tcg_gen_op3_x86_64");
    assert_string_equal(unicorn_gate(), "tcg_gen_op3_x86_64");
    assert_false(unicorn_inline_possible());
    run(&by_hooks, 0, 0);
    unicorn_gate_withhold(NULL);
    assert_null(unicorn_gate());
    assert_int_equal(by_hooks.used, by_translations.used);
    assert_memory_equal(by_hooks.words, by_translations.words, by_hooks.used * sizeof *by_hooks.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(change_amid_a_run),
                                       cmocka_unit_test(library_that_lacks_a_function)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
