/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The contract of an engine, event by event: where it stops, how many instructions it has counted by then and which
 * records it has written; and that want of memory ends a run with a message at whatever allocation it comes.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/emu.h"
#include "engine/engine.h"
#include "tested.h"
#include "unicorn/unicorn_priv.h"

enum { CODE = 0x400000, DATA = 0x10000000 };

struct guest {
    struct mmu *mmu;
    struct stream_blocks *blocks;
    struct engine *engine;
    struct stream_writer *writer;
    uint64_t words[4096]; /* of all batches, one after the other */
    size_t used;
};

static enum c2_status keep(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct guest *guest = self;
    (void)err;
    assert_true(guest->used + batch->used <= sizeof guest->words / sizeof *guest->words);
    memcpy(guest->words + guest->used, batch->words, batch->used * sizeof *batch->words);
    guest->used += batch->used;
    return C2_OK;
}

static void map(struct guest *guest, uint64_t address, unsigned prot)
{
    struct mmu_request request = {.address = address,
                                  .bytes = 2 * C2_PAGE_BYTES,
                                  .prot = prot,
                                  .fixed = true,
                                  .kind = MMU_ANONYMOUS,
                                  .host_fd = -1};
    assert_int_equal(mmu_map(guest->mmu, &request), address);
}

/* Where rights are enforced, what is in a page that was not touched is not kept. */
static void put(struct guest *guest, uint64_t address, const void *bytes, size_t count)
{
    struct guest_va at;
    struct c2_error err;
    assert_int_equal(mmu_lend(guest->mmu, (struct guest_va){address}, count), 0);
    if (tests_native())
        assert_int_equal(mmu_touch_range(guest->mmu, (struct guest_va){address}, count, MMU_ACCESS_READ, &at, &err), 0);
    memcpy((void *)(uintptr_t)address, bytes, count);
    mmu_lend_end(guest->mmu);
}

static enum c2_status make_engine_of(struct guest *guest, bool record, bool counts, struct c2_error *err)
{
    struct engine_config config = {.mmu = guest->mmu, .blocks = guest->blocks, .count_blocks = counts};
    enum c2_status status = stream_writer_create(&guest->writer, (struct stream_sink){guest, keep, NULL}, err);
    config.writer = guest->writer;
    if (status == C2_OK)
        status = engine_create(&guest->engine, tested_engine(), &config, err);
    return status == C2_OK ? engine_set_recording(guest->engine, record, err) : status;
}

static enum c2_status make_engine(struct guest *guest, bool record, struct c2_error *err)
{
    return make_engine_of(guest, record, true, err);
}

/* A guest of this code at CODE, rdi = DATA (two pages, untouched). */
static void make_guest(struct guest *guest, const void *code, size_t bytes)
{
    struct mmu_guest_config config = {.guest_bytes = 1 << 30};
    struct c2_error err;
    memset(guest, 0, sizeof *guest);
    assert_int_equal(tested_memory(&guest->mmu, &config, &err), C2_OK);
    assert_int_equal(stream_blocks_create(&guest->blocks, &err), C2_OK);
    map(guest, CODE, MMU_READ | MMU_EXEC);
    map(guest, DATA, MMU_READ | MMU_WRITE);
    put(guest, CODE, code, bytes);
}

static void start_at(struct guest *guest, uint64_t pc)
{
    struct syscalls_cpu cpu;
    engine_get_cpu(guest->engine, &cpu);
    memset(cpu.gpr, 0, sizeof cpu.gpr);
    cpu.gpr[7] = DATA;
    cpu.rip = pc;
    cpu.rflags = 0x202;
    engine_set_cpu(guest->engine, &cpu);
}

static void start(struct guest *guest) { start_at(guest, CODE); }

static void end_guest(struct guest *guest)
{
    engine_destroy(guest->engine);
    stream_writer_destroy(guest->writer);
    stream_blocks_destroy(guest->blocks);
    mmu_destroy(guest->mmu);
}

/* Runs on through first touches, as the run of a guest does. */
static enum engine_stop run(struct guest *guest, uint64_t budget, struct engine_event *event, struct c2_error *err)
{
    for (;;) {
        engine_run(guest->engine, budget, event, err);
        if (event->stop != ENGINE_FAULT)
            return event->stop;
        enum mmu_fault fault = mmu_touch(guest->mmu, event->address, event->access, err);
        if (fault == MMU_FAULT_FAILED)
            return ENGINE_FAILED;
        if (fault != MMU_FAULT_NONE)
            return ENGINE_FAULT;
    }
}

static uint64_t rip(struct guest *guest)
{
    struct syscalls_cpu cpu;
    engine_get_cpu(guest->engine, &cpu);
    return cpu.rip;
}

/* The guest stops as said, at CODE + at, after this many instructions. */
static void expect(const void *code, size_t bytes, enum engine_stop stop, uint64_t at, uint64_t instructions,
                   struct engine_event *event)
{
    for (int record = 0; record < 2; record++) {
        struct guest guest;
        struct c2_error err;
        make_guest(&guest, code, bytes);
        assert_int_equal(make_engine(&guest, record, &err), C2_OK);
        start(&guest);
        assert_int_equal(run(&guest, 0, event, &err), stop);
        assert_int_equal(rip(&guest) - CODE, at);
        assert_int_equal(engine_instructions(guest.engine), instructions);
        end_guest(&guest);
    }
}
#define EXPECT(stop, at, instructions, event, ...) \
    expect((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, stop, at, instructions, event)

/* ------------------------------------------------------------------ where it stops */

static void stops(void **state)
{
    struct engine_event event;
    (void)state;
    EXPECT(ENGINE_SYSCALL, 3, 2, &event, 0x90, 0x0f, 0x05);          /* nop; syscall */
    EXPECT(ENGINE_TRAP, 3, 2, &event, 0x31, 0xc9, 0x90, 0xf7, 0xf1); /* xor %ecx,%ecx; nop; div %ecx */
    assert_int_equal(event.signal, SIGFPE);
    EXPECT(ENGINE_TRAP, 2, 1, &event, 0x90, 0xcc); /* nop; int3: a trap, RIP is behind it */
    assert_int_equal(event.signal, SIGTRAP);
    EXPECT(ENGINE_TRAP, 1, 1, &event, 0x90, 0xf4); /* nop; hlt is privileged */
    assert_int_equal(event.signal, SIGSEGV);
    EXPECT(ENGINE_TRAP, 1, 1, &event, 0x90, 0x0f, 0x0b); /* nop; ud2 */
    assert_int_equal(event.signal, SIGILL);
    EXPECT(ENGINE_TRAP, 1, 1, &event, 0x90, 0x06); /* nop; push %es is no instruction in 64-bit mode */
    assert_int_equal(event.signal, SIGILL);
    EXPECT(ENGINE_REFUSED, 1, 1, &event, 0x90, 0xc5, 0xf0, 0x58, 0xc2); /* nop; vaddps %xmm2,%xmm1,%xmm0 */
    assert_non_null(strstr(event.refusal, "AVX"));
}

static void faults(void **state)
{
    struct engine_event event;
    (void)state;
    /* mov %eax,(%rdi); mov %eax,0x1ffe(%rdi): the last byte but one of the second page, two bytes too far */
    EXPECT(ENGINE_FAULT, 2, 1, &event, 0x89, 0x07, 0x89, 0x87, 0xfe, 0x1f, 0, 0);
    assert_int_equal(event.address.v, DATA + 0x2000);
    /* mov -8(%rdi),%rax: below the area */
    EXPECT(ENGINE_FAULT, 0, 0, &event, 0x48, 0x8b, 0x47, 0xf8);
    assert_int_equal(event.address.v, DATA - 8);
    /* jmp *%rdi: readable, not executable */
    EXPECT(ENGINE_FAULT, DATA - CODE, 1, &event, 0xff, 0xe7);
    assert_int_equal(event.address.v, DATA);
    assert_int_equal(event.access, MMU_ACCESS_EXEC);
    /* mov %eax,-15(%rip): its own page, not writable */
    EXPECT(ENGINE_FAULT, 0, 0, &event, 0x89, 0x05, 0xf1, 0xff, 0xff, 0xff);
    assert_int_equal(event.address.v, CODE + 6 - 15);
}

/* Where nobody hears of blocks the native engine makes first touches by itself, and no block ends at one. */
static void touches_without_a_reader(void **state)
{
    /* mov %eax,0xffe(%rdi), over the end of a page; push %rax; mov 4(%rdi),%ecx; syscall */
    static const uint8_t code[] = {0x89, 0x87, 0xfe, 0x0f, 0, 0, 0x50, 0x8b, 0x4f, 0x04, 0x0f, 0x05};
    struct guest guest;
    struct syscalls_cpu cpu;
    struct engine_event event;
    struct c2_error err;
    (void)state;
    if (!tests_native() || !SHORTCUT(true))
        skip();
    make_guest(&guest, code, sizeof code);
    map(&guest, DATA + 0x10000, MMU_READ | MMU_WRITE);
    const struct engine_config config = {.mmu = guest.mmu, .blocks = guest.blocks};
    assert_int_equal(engine_create(&guest.engine, tested_engine(), &config, &err), C2_OK);
    start(&guest);
    engine_get_cpu(guest.engine, &cpu);
    cpu.gpr[4] = DATA + 0x12000;
    cpu.gpr[0] = 0x12345678;
    engine_set_cpu(guest.engine, &cpu);
    const uint64_t touched = mmu_usage(guest.mmu).faults;
    engine_run(guest.engine, 0, &event, &err);
    assert_int_equal(event.stop, ENGINE_SYSCALL);
    assert_int_equal(engine_instructions(guest.engine), 4);
    assert_int_equal(mmu_usage(guest.mmu).faults, touched + 3);
    assert_int_equal(stream_blocks_count(guest.blocks), 1);
    assert_int_equal(*(const uint32_t *)(uintptr_t)(DATA + 0xffe), 0x12345678);
    assert_int_equal(*(const uint64_t *)(uintptr_t)(DATA + 0x11ff8), 0x12345678);
    end_guest(&guest);
}

/* ------------------------------------------------------------------ instructions across the end of a page */

/* Executed by the engine, and interpreted. */
static const struct {
    uint8_t bytes[10];
    unsigned length;
} crossers[] = {
    {{0xf3, 0x48, 0x0f, 0xb8, 0xc1}, 5},                               /* popcnt %rcx,%rax */
    {{0x48, 0x0f, 0x38, 0xf0, 0x87, 0, 0, 0, 0}, 9},                   /* movbe 0(%rdi),%rax */
    {{0xf3, 0x0f, 0x11, 0x87, 0, 0, 0, 0}, 8},                         /* movss %xmm0,0(%rdi) */
    {{0xc4, 0xe2, 0xf3, 0xf5, 0xc1}, 5},                               /* pdep %rcx,%rcx,%rax */
    {{0xf0, 0x48, 0x0f, 0xc7, 0x8f, 0, 0, 0, 0}, 9},                   /* lock cmpxchg16b 0(%rdi) */
    {{0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}, 10} /* movabs */
};

/* The code pages are untouched; with `pages` 1 there is no second one. */
static void cross(unsigned crosser, unsigned before_end, unsigned pages, struct engine_event *event)
{
    struct guest guest;
    struct c2_error err;
    unsigned length = crossers[crosser].length;
    uint64_t at = CODE + C2_PAGE_BYTES - before_end;
    make_guest(&guest, "", 1);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    put(&guest, at, crossers[crosser].bytes, length);
    put(&guest, at + length, "\x0f\x05", 2);
    if (pages == 1)
        assert_int_equal(mmu_unmap(guest.mmu, CODE + C2_PAGE_BYTES, C2_PAGE_BYTES), 0);
    start_at(&guest, at);
    assert_int_equal(run(&guest, 0, event, &err), pages == 2 ? ENGINE_SYSCALL : ENGINE_FAULT);
    assert_int_equal(rip(&guest), pages == 2 ? at + length + 2 : at);
    assert_int_equal(engine_instructions(guest.engine), pages == 2 ? 2 : 0);
    end_guest(&guest);
}

static void crossings(void **state)
{
    struct engine_event event;
    (void)state;
    for (unsigned i = 0; i < sizeof crossers / sizeof *crossers; i++)
        for (unsigned before_end = 1; before_end < crossers[i].length; before_end++) {
            cross(i, before_end, 2, &event);
            cross(i, before_end, 1, &event);
            assert_int_equal(event.address.v, CODE + C2_PAGE_BYTES);
            assert_int_equal(event.access, MMU_ACCESS_EXEC);
        }
}

/* Code without a jump, of which Unicorn makes several translations for one block, and whose next page is missed between
 * two of them: every load is recorded once, and all instructions are counted. */
static void a_page_in_the_middle(void **state)
{
    static const uint8_t turn[] = {0x41, 0xc1, 0xc9, 0x06, /* ror $6,%r9d */
                                   0x41, 0xc1, 0xc2, 0x07, /* rol $7,%r10d */
                                   0x45, 0x31, 0xd1,       /* xor %r10d,%r9d */
                                   0x44, 0x8b, 0x0f};      /* mov (%rdi),%r9d */
    enum { INSNS = 4, TURNS = 500 };
    static uint8_t code[TURNS * sizeof turn + 2];
    (void)state;
    for (unsigned i = 0; i < TURNS; i++)
        memcpy(&code[i * sizeof turn], turn, sizeof turn);
    memcpy(&code[TURNS * sizeof turn], (const uint8_t[]){0x0f, 0x05}, 2);
    for (unsigned skipped = 0; skipped < TURNS - 80; skipped += 7) {
        struct guest guest;
        struct c2_error err;
        struct engine_event event;
        uint64_t loads = 0;
        make_guest(&guest, code, sizeof code);
        assert_int_equal(make_engine(&guest, true, &err), C2_OK);
        start_at(&guest, CODE + skipped * sizeof turn);
        assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
        assert_int_equal(engine_instructions(guest.engine), (TURNS - skipped) * INSNS + 1);
        assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
        for (size_t i = 0; i < guest.used; i += 1 + stream_header_slots(guest.words[i]))
            loads += stream_header_block(guest.words[i]) == STREAM_MARK ? 0 : stream_header_slots(guest.words[i]);
        assert_int_equal(loads, TURNS - skipped);
        end_guest(&guest);
    }
}

/* ------------------------------------------------------------------ flags that live across instructions */

/* The code ends in a system call, with what it has read of the flags in RAX. */
static void expect_flags(const void *code, size_t bytes, uint64_t flags)
{
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    struct syscalls_cpu cpu;
    make_guest(&guest, code, bytes);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
    engine_get_cpu(guest.engine, &cpu);
    assert_int_equal(cpu.gpr[0], flags);
    end_guest(&guest);
}
#define EXPECT_FLAGS(flags, ...) \
    expect_flags((const uint8_t[]){STACK, __VA_ARGS__, READ_FLAGS}, \
                 sizeof(const uint8_t[]){STACK, __VA_ARGS__, READ_FLAGS}, flags)
#define STACK 0xc7, 0x07, 1, 0, 0, 0, 0x48, 0x8d, 0xa7, 0x00, 0x10, 0, 0 /* movl $1,(%rdi); lea 0x1000(%rdi),%rsp */
#define COMPARE 0xb9, 7, 0, 0, 0, 0xbe, 5, 0, 0, 0, 0x48, 0x39, 0xce     /* mov $7,%ecx; mov $5,%esi; cmp %rcx,%rsi */
#define READ_FLAGS 0x9c, 0x58, 0x0f, 0x05                                /* pushfq; pop %rax; syscall */

static void flags(void **state)
{
    enum { IF = 0x202, CF = 1, PF = 4, AF = 16, ZF = 64, SF = 128 };
    (void)state;
    EXPECT_FLAGS(IF | SF | AF | CF, COMPARE, 0xf0, 0x48, 0x0f, 0xc7, 0x0f); /* lock cmpxchg16b (%rdi) */
    EXPECT_FLAGS(IF | SF | AF | CF, COMPARE, 0x0f, 0xc7, 0x0f);             /* cmpxchg8b (%rdi) */
    EXPECT_FLAGS(IF | ZF | PF, 0xb9, 1, 0, 0, 0, 0x39, 0xc9, 0xe1, 0x00);   /* mov $1,%ecx; cmp %ecx,%ecx; loope */
    EXPECT_FLAGS(IF | SF | AF | CF | PF, 0xb9, 1, 0, 0, 0, 0x31, 0xf6, 0x39, 0xce, 0xe0, 0x00); /* ... loopne */
    EXPECT_FLAGS(IF, 0x6a, 0x00, 0x9d);                                                         /* push $0; popfq */
    EXPECT_FLAGS(IF | CF | ZF, 0x68, 0x41, 0x30, 0, 0, 0x9d); /* push $0x3041: IOPL is not a program's; popfq */
}

/* ------------------------------------------------------------------ prefixes that decoders read differently */

static void prefixes(void **state)
{
    struct engine_event event;
    (void)state;
    EXPECT(ENGINE_REFUSED, 1, 1, &event, 0x90, 0x41, 0xf3, 0x5f); /* nop; a REX prefix before REP; pop %rdi */
    assert_non_null(strstr(event.refusal, "REX"));
    EXPECT(ENGINE_REFUSED, 0, 0, &event, 0x65, 0x2e, 0x8b, 0x3b); /* mov %gs:%cs:(%rbx),%edi */
    assert_non_null(strstr(event.refusal, "segment"));
    EXPECT(ENGINE_REFUSED, 0, 0, &event, 0x66, 0xf3, 0x0f, 0x10, 0xc1); /* movss with 66 */
    assert_non_null(strstr(event.refusal, "66"));
    EXPECT(ENGINE_REFUSED, 0, 0, &event, 0x66, 0xf3, 0x0f, 0x38, 0xf6, 0xc1); /* adox with 66 */
    EXPECT(ENGINE_REFUSED, 0, 0, &event, 0xf2, 0xf3, 0x0f, 0xbc, 0xc1);       /* tzcnt with F2 as well */
    assert_non_null(strstr(event.refusal, "F2"));
    EXPECT(ENGINE_REFUSED, 0, 0, &event, 0x4c, 0xc6, 0xc6, 0xd9);             /* mov $0xd9,%sil with REX.R */
    EXPECT(ENGINE_REFUSED, 0, 0, &event, 0x66, 0xf2, 0x41, 0x0f, 0xf0, 0x07); /* lddqu with 66 */
    /* 66 on TZCNT of 16 bits, CS on data, data16 rex.W call: as compilers write them */
    EXPECT(ENGINE_SYSCALL, 7, 2, &event, 0x66, 0xf3, 0x0f, 0xbc, 0xc1, 0x0f, 0x05);
    EXPECT(ENGINE_SYSCALL, 7, 2, &event, 0x2e, 0x2e, 0x8b, 0x47, 0x08, 0x0f, 0x05);
    EXPECT(ENGINE_SYSCALL, 13, 2, &event, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x0f, 0x05);
}

/* ------------------------------------------------------------------ stores into code */

/* The code, which it may write itself, ends in a system call with this in RAX, in runs of so many instructions (0: in
 * one). So many instructions and these references are recorded. */
static void expect_written(const void *code, size_t bytes, uint64_t budget, uint64_t rax, uint64_t instructions,
                           const uint64_t references[], size_t count)
{
    for (int round = 0; round < 2; round++) { /* again with everything known */
        struct guest guest;
        struct c2_error err;
        struct engine_event event;
        struct syscalls_cpu cpu;
        size_t slot = 0;
        make_guest(&guest, "", 1);
        map(&guest, CODE, MMU_READ | MMU_WRITE | MMU_EXEC);
        assert_int_equal(make_engine(&guest, true, &err), C2_OK);
        for (int again = 0; again <= round; again++) {
            put(&guest, CODE, code, bytes);
            start(&guest);
            while (run(&guest, budget, &event, &err) == ENGINE_BUDGET)
                ;
            assert_int_equal(event.stop, ENGINE_SYSCALL);
        }
        engine_get_cpu(guest.engine, &cpu);
        assert_int_equal(cpu.gpr[0], rax);
        assert_int_equal(engine_instructions(guest.engine), instructions * (unsigned)(round + 1));
        assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
        for (size_t i = 0; i < guest.used; i += 1 + stream_header_slots(guest.words[i]))
            for (unsigned k = 0; k < stream_header_slots(guest.words[i]); k++, slot++)
                assert_int_equal(guest.words[i + 1 + k], references[slot % count]);
        assert_int_equal(slot, count * (unsigned)(round + 1));
        end_guest(&guest);
    }
}
#define EXPECT_WRITTEN_IN_RUNS(budget, rax, instructions, references, ...) \
    expect_written((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, budget, rax, instructions, \
                   references, sizeof references / sizeof *references)
#define EXPECT_WRITTEN(rax, instructions, references, ...) \
    EXPECT_WRITTEN_IN_RUNS(0, rax, instructions, references, __VA_ARGS__)

static void stores_into_code(void **state)
{
    static const uint64_t ahead[] = {CODE + 11}, across[] = {CODE + 2, CODE + 2}, set[] = {CODE + 9};
    static const uint64_t before[] = {CODE + 2, CODE + 2};
    static const uint64_t string[] = {0, CODE + 17, 1, 0};
    struct engine_event event;
    (void)state;
    /* movl $42,1f+1; 1: mov $7,%eax; syscall */
    EXPECT_WRITTEN(42, 3, ahead, 0xc7, 0x05, 1, 0, 0, 0, 42, 0, 0, 0, 0xb8, 7, 0, 0, 0, 0x0f, 0x05);
    /* jmp 1f; .short 0x1234; 1: xorl $0xffff,1b-2; movzwl 1b-2,%eax; syscall: two of four bytes are in the block */
    EXPECT_WRITTEN(0xedcb, 4, across, 0xeb, 2, 0x34, 0x12, 0x81, 0x35, 0xf4, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x0f,
                   0xb7, 0x05, 0xed, 0xff, 0xff, 0xff, 0x0f, 0x05);
    /* stc; setb 1f+1; 1: mov $7,%al; adc $0,%al; syscall: the carry lives on */
    EXPECT_WRITTEN(2, 5, set, 0xf9, 0x0f, 0x92, 0x05, 1, 0, 0, 0, 0xb0, 7, 0x14, 0, 0x0f, 0x05);
    /* lea 1f+1,%rdi; mov $1,%ecx; mov $42,%al; rep stosb; 1: mov $7,%edx; mov %edx,%eax; syscall */
    EXPECT_WRITTEN(42, 7, string, 0x48, 0x8d, 0x3d, 10, 0, 0, 0, 0xb9, 1, 0, 0, 0, 0xb0, 42, 0xf3, 0xaa, 0xba, 7, 0, 0,
                   0, 0x89, 0xd0, 0x0f, 0x05);
    /* 1: mov $7,%eax; xorl $0x10ffffff,1b+2; mov 1b+2,%eax; syscall: a run ends within the block, before the
     * instruction that changes its own first byte, too */
    for (uint64_t budget = 0; budget <= 4; budget++)
        EXPECT_WRITTEN_IN_RUNS(budget, 0x91ffffff, 4, before, 0xb8, 7, 0, 0, 0, 0x81, 0x35, 0xf3, 0xff, 0xff, 0xff,
                               0xff, 0xff, 0xff, 0x10, 0x8b, 0x05, 0xed, 0xff, 0xff, 0xff, 0x0f, 0x05);
    if (tests_native())
        return;
    /* fld1; fstpt 1f: bytes stored one by one, which cannot be recorded */
    static const uint8_t fstp[] = {0xd9, 0xe8, 0xdb, 0x3d, 1, 0, 0, 0, [18] = 0x0f, [19] = 0x05};
    struct guest guest;
    struct c2_error err;
    make_guest(&guest, "", 1);
    map(&guest, CODE, MMU_READ | MMU_WRITE | MMU_EXEC);
    put(&guest, CODE, fstp, sizeof fstp);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_REFUSED);
    assert_non_null(strstr(event.refusal, "FSTP"));
    end_guest(&guest);
}

/* Marks of the stream that code of just this range has changed; none is of another one. */
static unsigned code_changes(struct guest *guest, uint64_t start, uint64_t bytes)
{
    struct c2_error err;
    unsigned found = 0;
    assert_int_equal(stream_writer_flush(guest->writer, &err), C2_OK);
    for (size_t i = 0; i < guest->used; i += 1 + stream_header_slots(guest->words[i])) {
        if (guest->words[i] != stream_header(STREAM_MARK, STREAM_CODE, 2))
            continue;
        assert_int_equal(guest->words[i + 1], start);
        assert_int_equal(guest->words[i + 2], bytes);
        found++;
    }
    return found;
}

/* The same memory twice: executable at CODE, writable at DATA. */
static void stores_through_another_mapping(void **state)
{
    static const uint8_t code[] = {0x48, 0x8d, 0xa7, 0x00, 0x20, 0, 0,  /*  0 lea 0x2000(%rdi),%rsp */
                                   0xe8, 0xf4, 0,    0,    0,           /*  7 call 0x100 */
                                   0xc6, 0x87, 0x01, 0x01, 0,    0, 42, /* 12 movb $42,0x101(%rdi) */
                                   0xe8, 0xe8, 0,    0,    0,           /* 19 call 0x100 */
                                   0x0f, 0x05};                         /* 24 syscall */
    static const uint8_t function[] = {0xb8, 7, 0, 0, 0, 0xc3};         /* mov $7,%eax; ret */
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    struct syscalls_cpu cpu;
    int fd = memfd_create("code", 0);
    (void)state;
    assert_true(fd >= 0 && pwrite(fd, code, sizeof code, 0) == sizeof code && ftruncate(fd, 2 * C2_PAGE_BYTES) == 0);
    assert_true(pwrite(fd, function, sizeof function, 0x100) == sizeof function);
    make_guest(&guest, "", 1);
    struct mmu_request request = {.bytes = 2 * C2_PAGE_BYTES,
                                  .fixed = true,
                                  .shared = true,
                                  .kind = MMU_FILE,
                                  .host_fd = fd,
                                  .path = "/memfd:code"};
    request.address = CODE;
    request.prot = MMU_READ | MMU_EXEC;
    assert_int_equal(mmu_map(guest.mmu, &request), CODE);
    request.address = DATA;
    request.prot = MMU_READ | MMU_WRITE;
    assert_int_equal(mmu_map(guest.mmu, &request), DATA);
    close(fd);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
    engine_get_cpu(guest.engine, &cpu);
    assert_int_equal(cpu.gpr[0], 42);
    assert_int_equal(engine_instructions(guest.engine), 9);
    assert_int_equal(code_changes(&guest, CODE + 0x100, sizeof function), 1);
    end_guest(&guest);
}

/* Other code at the same place, as after dlclose and dlopen, whose pages were never met: what was translated before the
 * pages went is not executed. */
static void replaced_code(void **state)
{
    static const uint8_t first[] = {0xb8, 7, 0, 0, 0, 0x0f, 0x05}, second[] = {0xb8, 42, 0, 0, 0, 0x0f, 0x05};
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    struct syscalls_cpu cpu;
    (void)state;
    make_guest(&guest, first, sizeof first);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    for (int i = 0; i < 8; i++) {
        start(&guest);
        assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
        engine_get_cpu(guest.engine, &cpu);
        assert_int_equal(cpu.gpr[0], i % 2 ? 42 : 7);
        map(&guest, CODE, MMU_READ | MMU_EXEC);
        map(&guest, CODE, MMU_READ | MMU_EXEC); /* the second change finds no translation of the page */
        put(&guest, CODE, i % 2 ? first : second, sizeof first);
    }
    assert_int_equal(engine_instructions(guest.engine), 16);
    assert_int_equal(code_changes(&guest, CODE, 2 * C2_PAGE_BYTES), 8);
    end_guest(&guest);
}

/* ------------------------------------------------------------------ indirect jumps */

enum { HOPPED = 9, HOP_AWAY = 0x10000, HOPS = 900 };

static uint64_t hop_at(unsigned place) { return CODE + (uint64_t)place * HOP_AWAY; }

/* Adds `what` to EAX and goes on to where the table at RDI says, ECX times with the others. */
static void put_hop(struct guest *guest, unsigned place, uint32_t what)
{
    uint8_t code[] = {0x05, 0,    0,    0,    0,          /* add $what,%eax */
                      0xff, 0xc9, 0x74, 0x09,             /* dec %ecx; jz behind the jump */
                      0x48, 0x8b, 0x17,                   /* mov (%rdi),%rdx */
                      0x48, 0x83, 0xc7, 0x08, 0xff, 0xe2, /* add $8,%rdi; jmp *%rdx */
                      0x0f, 0x05};                        /* syscall */
    memcpy(code + 1, &what, sizeof what);
    map(guest, hop_at(place), MMU_READ | MMU_EXEC);
    put(guest, hop_at(place), code, sizeof code);
}

static void hop(struct guest *guest, unsigned place, unsigned count, uint64_t budget)
{
    struct engine_event event;
    struct syscalls_cpu cpu;
    struct c2_error err;
    start_at(guest, hop_at(place));
    engine_get_cpu(guest->engine, &cpu);
    cpu.gpr[1] = count;
    engine_set_cpu(guest->engine, &cpu);
    while (run(guest, budget, &event, &err) == ENGINE_BUDGET)
        ;
    assert_int_equal(event.stop, ENGINE_SYSCALL);
}

/* Between addresses that differ in their upper bits alone, in random order, with code that is replaced meanwhile; in
 * stays of any length. The twin is a sum. */
static void random_hops(void **state)
{
    struct guest guest;
    struct c2_error err;
    struct syscalls_cpu cpu;
    struct c2_rng rng;
    uint32_t adds[HOPPED];
    uint64_t table[HOPS], expected = 0;
    (void)state;
    c2_rng_init(&rng, 5, "hops");
    make_guest(&guest, "", 1);
    assert_int_equal(make_engine(&guest, false, &err), C2_OK);
    for (unsigned place = 0; place < HOPPED; place++)
        put_hop(&guest, place, adds[place] = place);
    for (unsigned round = 0; round < 300; round++) {
        const unsigned changed = (unsigned)c2_rng_below(&rng, 2 * HOPPED),
                       count = 1 + (unsigned)c2_rng_below(&rng, HOPS);
        unsigned place = (unsigned)c2_rng_below(&rng, HOPPED);
        const unsigned first = place;
        uint32_t sum = 0;
        if (changed < HOPPED)
            put_hop(&guest, changed, adds[changed] = (uint32_t)c2_rng_below(&rng, 1000));
        for (unsigned i = 0; i < count; i++) {
            sum += adds[place];
            place = (unsigned)c2_rng_below(&rng, HOPPED);
            table[i] = hop_at(place);
        }
        put(&guest, DATA, table, count * sizeof *table);
        assert_int_equal(engine_set_recording(guest.engine, c2_rng_below(&rng, 2), &err), C2_OK);
        hop(&guest, first, count, c2_rng_below(&rng, 3) ? 0 : 1 + c2_rng_below(&rng, 3000));
        engine_get_cpu(guest.engine, &cpu);
        assert_int_equal(cpu.gpr[0], sum);
        expected += 6 * (count - 1) + 4;
        assert_int_equal(engine_instructions(guest.engine), expected);
        assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
        guest.used = 0;
    }
    end_guest(&guest);
}

/* ------------------------------------------------------------------ single steps */

static void single_steps(void **state)
{
    struct engine_event event;
    (void)state;
    /* lea 0x1000(%rdi),%rsp; push $0x102; popfq; then an instruction of the engine, or an interpreted one */
    EXPECT(ENGINE_TRAP, 14, 4, &event, 0x48, 0x8d, 0xa7, 0, 0x10, 0, 0, 0x68, 0x02, 1, 0, 0, 0x9d, 0x90, 0x90);
    assert_int_equal(event.signal, SIGTRAP);
    assert_int_equal(event.code, TRAP_TRACE);
    EXPECT(ENGINE_TRAP, 17, 4, &event, 0x48, 0x8d, 0xa7, 0, 0x10, 0, 0, 0x68, 0x02, 1, 0, 0, 0x9d, 0xf3, 0x0f, 0xb8,
           0xc1, 0x90);
    assert_int_equal(event.signal, SIGTRAP);
    EXPECT(ENGINE_REFUSED, 13, 3, &event, 0x48, 0x8d, 0xa7, 0, 0x10, 0, 0, 0x68, 0x02, 1, 0, 0, 0x9d, 0xf3, 0xaa);
}

/* ------------------------------------------------------------------ budgets and interruption */

static const uint8_t loop[] = {0xff, 0xc0, 0x90, 0xeb,
                               0xfb}; /* inc %eax; nop; jmp to the start: 3 instructions a turn */

static void budgets(void **state)
{
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    make_guest(&guest, loop, sizeof loop);
    assert_int_equal(make_engine(&guest, false, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 10, &event, &err), ENGINE_BUDGET);
    assert_int_equal(engine_instructions(guest.engine), 10);
    assert_int_equal(rip(&guest), CODE + 2);
    assert_int_equal(run(&guest, 1, &event, &err), ENGINE_BUDGET);
    assert_int_equal(engine_instructions(guest.engine), 11);
    assert_int_equal(rip(&guest), CODE + 3);
    assert_int_equal(run(&guest, 3000000, &event, &err),
                     ENGINE_BUDGET); /* across the growth of the translation cache */
    assert_int_equal(engine_instructions(guest.engine), 3000011);
    assert_int_equal(rip(&guest), CODE + 3);
    engine_interrupt(guest.engine);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_INTERRUPT);
    assert_int_equal(engine_instructions(guest.engine), 3000011);
    assert_int_equal(rip(&guest), CODE + 3);
    end_guest(&guest);
}

/* What engine_take_executed() says, in the order in which it says it. */
struct executed {
    uint64_t at, instructions;
};
struct executed_list {
    struct executed list[16];
    size_t count;
};

static void note_executed(void *self, struct guest_va pc, uint64_t instructions)
{
    struct executed_list *executed = self;
    executed->list[executed->count++] = (struct executed){pc.v - CODE, instructions};
}

static void expect_executed(struct guest *guest, const struct executed *expected, size_t count)
{
    struct executed_list executed = {.count = 0};
    engine_take_executed(guest->engine, note_executed, &executed);
    assert_int_equal(executed.count, count);
    assert_memory_equal(executed.list, expected, count * sizeof *expected);
}

/* Blocks that complete, one that a budget cuts and one that a fault does, an interpreted instruction; what is recorded
 * is not told. */
static void executed_blocks(void **state)
{
    static const uint8_t code[] = {
        0xb9, 5,    0, 0,    0,    /*  0 mov $5,%ecx */
        0x90,                      /*  5 nop */
        0xff, 0xc9,                /*  6 dec %ecx */
        0x75, 0xfb,                /*  8 jne 5 */
        0xb9, 3,    0, 0,    0,    /* 10 mov $3,%ecx */
        0xf3, 0xaa,                /* 15 rep stosb */
        0x90,                      /* 17 nop */
        0x8b, 0x87, 0, 0x10, 0, 0, /* 18 mov 0x1000(%rdi),%eax: the second page's first touch */
        0x0f, 0x05,                /* 24 syscall */
        0xeb, 0xe4,                /* 26 jmp 0 */
    };
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    make_guest(&guest, code, sizeof code);
    assert_int_equal(make_engine(&guest, false, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 6, &event, &err), ENGINE_BUDGET);
    expect_executed(&guest, (const struct executed[]){{0, 4}, {5, 2}}, 2);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
    assert_int_equal(engine_instructions(guest.engine), 21);
    expect_executed(&guest, (const struct executed[]){{5, 9}, {8, 1}, {10, 1}, {17, 1}, {18, 2}, {15, 1}}, 6);
    expect_executed(&guest, NULL, 0);
    assert_int_equal(engine_set_recording(guest.engine, true, &err), C2_OK);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
    expect_executed(&guest, NULL, 0);
    end_guest(&guest);
}

/* A register that MMX writes behind an instruction of x87 numbers is a number until then, also where a block begins
 * with FISTTP, which came with SSE3. */
static void numbers_before_mmx(void **state)
{
    static const uint8_t code[] = {
        0xdb, 0xe3,                         /*  0 fninit */
        0xd9, 0xe8, 0xd9, 0xee,             /*  2 fld1; fldz: register 6 */
        0xeb, 0x00,                         /*  6 jmp 8 */
        0x66, 0xdf, 0x0f,                   /*  8 fisttp (%rdi) */
        0x0f, 0x71, 0xd6, 0x00, 0x0f, 0x05, /* 11 psrlw $0,%mm6; syscall */
    };
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    make_guest(&guest, code, sizeof code);
    put(&guest, DATA, "\x55\x55", 2);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
    assert_int_equal(*(const uint16_t *)(uintptr_t)DATA, 0);
    end_guest(&guest);
}

/* What this engine has interpreted stands in its block as everything does, first, last and in between; what is alone by
 * its nature does not. Each run of N instructions ends behind exactly as many of the same record. */
static void interpreted_amid_blocks(void **state)
{
    static const uint8_t code[] = {
        0xf3, 0x48, 0x0f, 0xb8, 0x07, /*  0 popcnt (%rdi),%rax */
        0x48, 0x8b, 0x4f, 0x08,       /*  5 mov 8(%rdi),%rcx */
        0x0f, 0x94, 0x47, 0x10,       /*  9 sete 16(%rdi) */
        0x48, 0xd3, 0x67, 0x18,       /* 13 shl %cl,24(%rdi) */
        0x0f, 0x18, 0x4f, 0x20,       /* 17 prefetcht0 32(%rdi) */
        0x48, 0x89, 0x4f, 0x28,       /* 21 mov %rcx,40(%rdi) */
        0x0f, 0x38, 0xf1, 0x47, 0x30, /* 25 movbe %eax,48(%rdi) */
        0x0f, 0xa2,                   /* 30 cpuid */
        0x0f, 0x53, 0xc0,             /* 32 rcpps %xmm0,%xmm0 */
        0x90, 0xe1, 0x00,             /* 35 nop; loope 38 */
        0x0f, 0x05,                   /* 38 syscall */
    };
    static const uint64_t slots[] = {DATA, DATA + 8, DATA + 16, DATA + 24, DATA + 32, DATA + 40, DATA + 48};
    static const unsigned insns[] = {7, 1, 1, 2, 1};
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    for (uint64_t budget = 0; budget <= 7; budget++) {
        make_guest(&guest, code, sizeof code);
        assert_int_equal(make_engine(&guest, true, &err), C2_OK);
        start(&guest);
        if (budget != 0)
            assert_int_equal(run(&guest, budget, &event, &err), ENGINE_BUDGET);
        assert_int_equal(engine_instructions(guest.engine), budget);
        const bool amid = budget > 0 && budget < 7;
        assert_int_equal(engine_amid_block(guest.engine), amid);
        assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
        assert_int_equal(engine_instructions(guest.engine), 12);
        assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
        const uint64_t *word = guest.words;
        if (amid) {
            assert_int_equal(stream_header_insns(*word), budget);
            assert_memory_equal(word + 1, slots, budget * sizeof *slots);
            word += 1 + budget;
        }
        assert_int_equal(stream_header_insns(*word), 7 - (amid ? budget : 0));
        assert_memory_equal(word + 1, slots + (amid ? budget : 0), (7 - (amid ? budget : 0)) * sizeof *slots);
        word += 1 + 7 - (amid ? budget : 0);
        for (unsigned i = 1; i < sizeof insns / sizeof *insns; i++)
            assert_int_equal(stream_header_insns(*word++), insns[i]);
        assert_ptr_equal(word, guest.words + guest.used);
        end_guest(&guest);
    }
}

/* A budget that ends where the next instruction cannot be fetched is spent; the fault comes when the guest goes on. */
static void budget_before_a_fault(void **state)
{
    static const uint8_t jump[] = {0xff, 0xe7}; /* jmp *%rdi: data */
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    make_guest(&guest, jump, sizeof jump);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 1, &event, &err), ENGINE_BUDGET);
    assert_int_equal(rip(&guest), DATA);
    assert_int_equal(run(&guest, 1, &event, &err), ENGINE_FAULT);
    assert_int_equal(event.access, MMU_ACCESS_EXEC);
    assert_int_equal(engine_instructions(guest.engine), 1);
    end_guest(&guest);
}

static unsigned translations;

/* Unicorn calls it for each translation that it makes; it stands in front of the real one. */
typedef int generate_function(void *context, void *block);
__attribute__((visibility("default"))) generate_function tcg_gen_code_x86_64;
int tcg_gen_code_x86_64(void *context, void *block)
{
    translations++;
    return ((generate_function *)unicorn_find("tcg_gen_code_x86_64"))(context, block);
}

/* Turns of 192 instructions in a loop of 512 without a jump end at 8 places in it. Once they have ended at each of them
 * nothing is translated anew, recording or not. */
static void cuts_of_long_blocks(void **state)
{
    enum { COUNT = 512, TURN = 192, PLACES = 8, TURNS = 1000 };
    static uint8_t code[COUNT - 1 + 5];
    static const bool recording[] = {false, true, false, true};
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    memset(code, 0x90, COUNT - 1);
    memcpy(code + COUNT - 1, (const uint8_t[]){0xe9, 0xfc, 0xfd, 0xff, 0xff}, 5); /* jmp to the start */
    make_guest(&guest, code, sizeof code);
    assert_int_equal(make_engine(&guest, false, &err), C2_OK);
    start(&guest);
    for (size_t i = 0; i < sizeof recording / sizeof *recording; i++) {
        assert_int_equal(engine_set_recording(guest.engine, recording[i], &err), C2_OK);
        unsigned made = 0;
        for (unsigned turn = 0; turn < TURNS; turn++) {
            if (turn == PLACES)
                made = translations;
            assert_int_equal(run(&guest, TURN, &event, &err), ENGINE_BUDGET);
            assert_int_equal(rip(&guest), CODE + (i * TURNS + turn + 1) * TURN % COUNT);
            guest.used = 0;
        }
        assert_int_equal(translations, made);
    }
    assert_int_equal(engine_instructions(guest.engine), sizeof recording / sizeof *recording * TURNS * TURN);
    assert_true(tests_native() || translations > 0); /* Unicorn's */
    end_guest(&guest);
}

/* A budget of whole blocks ends before the one that does not fit, which may be the first: at 10, of blocks of 3, behind
 * the third; then nothing fits into 2. What goes on amid a block is a block of its own. */
static void budgets_of_blocks(void **state)
{
    static const struct {
        unsigned budget, total;
        bool whole;
    } runs[] = {{10, 9, true}, {2, 9, true},   {3, 12, true}, {1, 13, false}, {5, 18, true},
                {4, 21, true}, {1, 22, false}, {3, 24, true}, {2, 24, true}};
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    for (unsigned recording = 0; recording < 2; recording++) {
        make_guest(&guest, loop, sizeof loop);
        assert_int_equal(make_engine(&guest, recording, &err), C2_OK);
        start(&guest);
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            do
                (runs[i].whole ? engine_run_blocks : engine_run)(guest.engine, runs[i].budget, &event, &err);
            while (event.stop == ENGINE_FAULT &&
                   mmu_touch(guest.mmu, event.address, event.access, &err) == MMU_FAULT_NONE);
            assert_int_equal(event.stop, ENGINE_BUDGET);
            assert_int_equal(engine_instructions(guest.engine), runs[i].total);
            assert_int_equal(engine_amid_block(guest.engine), !runs[i].whole);
        }
        end_guest(&guest);
    }
}

/* The block is left after two of its three instructions; the rest of it is a block of its own. */
static void cut_records(void **state)
{
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    make_guest(&guest, loop, sizeof loop);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    for (unsigned budget = 2; budget > 0; budget--)
        assert_int_equal(run(&guest, budget, &event, &err), ENGINE_BUDGET);
    assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
    assert_int_equal(guest.used, 2);
    const struct stream_block *whole = stream_blocks_at(guest.blocks, stream_header_block(guest.words[0]));
    const struct stream_block *rest = stream_blocks_at(guest.blocks, stream_header_block(guest.words[1]));
    assert_int_equal(whole->pc.v, CODE);
    assert_int_equal(whole->insn_count, 3);
    assert_int_equal(stream_header_insns(guest.words[0]), 2);
    assert_int_equal(rest->pc.v, CODE + 3);
    assert_int_equal(rest->insn_count, 1);
    assert_int_equal(stream_header_insns(guest.words[1]), 1);
    end_guest(&guest);
}

/* The records of a run from CODE + at to its system call are of blocks of these many instructions. */
static void expect_blocks(struct guest *guest, uint64_t at, const unsigned *insns, size_t count)
{
    struct c2_error err;
    struct engine_event event;
    size_t word = 0;
    guest->used = 0;
    start_at(guest, CODE + at);
    assert_int_equal(run(guest, 0, &event, &err), ENGINE_SYSCALL);
    assert_int_equal(stream_writer_flush(guest->writer, &err), C2_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(word < guest->used);
        const uint64_t header = guest->words[word];
        assert_int_equal(stream_header_insns(header), insns[i]);
        assert_int_equal(stream_blocks_at(guest->blocks, stream_header_block(header))->insn_count, insns[i]);
        word += 1 + stream_header_slots(header);
    }
    assert_int_equal(word, guest->used);
}

/* 1300 instructions without a jump, and a system call, are 14 blocks; where they are entered so far on that blocks end
 * elsewhere, 12. */
static void long_blocks(void **state)
{
    static const struct {
        uint8_t bytes[3];
        unsigned length;
    } insns[] = {
        {{0x48, 0x01, 0x07}, 3}, /* add %rax,(%rdi): Unicorn has room for some 200 of them */
        {{0xd8, 0xc0}, 2},       /* fadd %st,%st: of 256 it would die */
        {{0x90}, 1},             /* nop: it takes 512 */
    };
    enum { COUNT = 1300, ENTRY = 150 };
    static const unsigned whole[14] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 1};
    static const unsigned behind_entry[12] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 51};
    static uint8_t code[3 * COUNT + 2];
    (void)state;
    for (size_t i = 0; i < sizeof insns / sizeof *insns; i++) {
        const unsigned length = insns[i].length;
        struct guest guest;
        struct c2_error err;
        for (size_t k = 0; k < COUNT; k++)
            memcpy(code + k * length, insns[i].bytes, length);
        memcpy(code + COUNT * length, (const uint8_t[]){0x0f, 0x05}, 2); /* syscall */
        make_guest(&guest, code, COUNT * length + 2);
        assert_int_equal(make_engine(&guest, true, &err), C2_OK);
        for (unsigned round = 0; round < 3; round++) {
            expect_blocks(&guest, 0, whole, 14);
            expect_blocks(&guest, ENTRY * length, behind_entry, 12);
        }
        end_guest(&guest);
    }
}

/* Marks stand between the records also where nothing is recorded. */
static void marks_while_off(void **state)
{
    static const bool recording[] = {false, true, false, false, true};
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    (void)state;
    make_guest(&guest, loop, sizeof loop);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    for (uint64_t i = 0; i < sizeof recording / sizeof *recording; i++) {
        assert_int_equal(engine_set_recording(guest.engine, recording[i], &err), C2_OK);
        assert_int_equal(run(&guest, 3, &event, &err), ENGINE_BUDGET);
        assert_int_equal(engine_mark(guest.engine, STREAM_FREED, &i, 1, &err), C2_OK);
    }
    assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
    const uint64_t mark = stream_header(STREAM_MARK, STREAM_FREED, 1), turn = stream_header(0, 3, 0);
    const uint64_t expected[] = {mark, 0, turn, mark, 1, mark, 2, mark, 3, turn, mark, 4};
    assert_int_equal(guest.used, sizeof expected / sizeof *expected);
    assert_memory_equal(guest.words, expected, sizeof expected);
    end_guest(&guest);
}

/* ------------------------------------------------------------------ records */

/* add %eax,(%rdi); movups 0x18(%rdi),%xmm0; mov 0xffc(%rdi),%rcx (crosses into the second page); rep movsb; syscall.
 * The first touches of both pages come in the middle of it and must leave no trace. */
static const uint8_t mixed[] = {0x01, 0x07, 0x0f, 0x10, 0x47, 0x18, 0x48, 0x8b, 0x8f, 0xfc, 0x0f, 0,    0,
                                0xb9, 5,    0,    0,    0,    0x48, 0x8d, 0x77, 0x40, 0xf3, 0xa4, 0x0f, 0x05};

static void records(void **state)
{
    /* Addresses of the slots, in order: a modify, a load of 16 bytes, the load across pages, then the string. */
    static const uint64_t expected[] = {DATA, DATA + 0x18, DATA + 0xffc, DATA + 0x40, DATA, 5, 0};
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    size_t slot = 0, insns = 0;
    (void)state;
    make_guest(&guest, mixed, sizeof mixed);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
    assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
    for (size_t i = 0; i < guest.used; i += 1 + stream_header_slots(guest.words[i])) {
        insns += stream_header_insns(guest.words[i]);
        for (unsigned k = 0; k < stream_header_slots(guest.words[i]); k++)
            assert_int_equal(guest.words[i + 1 + k], expected[slot++]);
    }
    assert_int_equal(slot, sizeof expected / sizeof *expected);
    assert_int_equal(insns, 7);
    assert_int_equal(engine_instructions(guest.engine), 7);
    end_guest(&guest);
}

/* ------------------------------------------------------------------ how blocks end */

static void endings(void **state)
{
    static const uint8_t code[] = {0x48, 0x8d, 0xa7, 0x00, 0x10, 0,    0, /*  0 lea 0x1000(%rdi),%rsp */
                                   0x48, 0x8d, 0x05, 0x1f, 0,    0,    0, /*  7 lea 45,%rax */
                                   0x48, 0x89, 0x07,                      /* 14 mov %rax,(%rdi) */
                                   0xe8, 0x15, 0,    0,    0,             /* 17 call 43 */
                                   0xff, 0x17,                            /* 22 call *(%rdi) */
                                   0xff, 0xd0,                            /* 24 call *%rax */
                                   0x31, 0xc9,                            /* 26 xor %ecx,%ecx */
                                   0xe3, 0x00,                            /* 28 jrcxz 30 */
                                   0xe8, 0x0b, 0,    0,    0,             /* 30 call 46 */
                                   0x0f, 0x05,                            /* 35 syscall */
                                   0x90, 0x90, 0x90, 0x90, 0x90, 0x90,    /* 37 */
                                   0xc3,                                  /* 43 ret */
                                   0x90,                                  /* 44 */
                                   0xc3,                                  /* 45 ret */
                                   0x6a, 0x00,                            /* 46 push $0 */
                                   0x58,                                  /* 48 pop %rax */
                                   0x48, 0x8d, 0x64, 0x24, 0xf0,          /* 49 lea -16(%rsp),%rsp */
                                   0xff, 0x74, 0x24, 0x10,                /* 54 push 16(%rsp) */
                                   0xc2, 0x10, 0x00};                     /* 58 ret $16 */
    static const struct {
        uint64_t at;
        enum stream_ending ending;
        uint64_t slot; /* of the return address, from DATA */
    } expected[] = {
        {0, STREAM_CALL, 0xff8},    {43, STREAM_RETURN, 0xff8}, {22, STREAM_CALL, 0xff8}, {45, STREAM_RETURN, 0xff8},
        {24, STREAM_CALL, 0xff8},   {45, STREAM_RETURN, 0xff8}, {26, STREAM_JUMP, 0},     {30, STREAM_CALL, 0xff8},
        {46, STREAM_RETURN, 0xfe0}, {35, STREAM_JUMP, 0},
    };
    struct guest guest;
    struct c2_error err;
    struct engine_event event;
    size_t at = 0;
    (void)state;
    make_guest(&guest, code, sizeof code);
    assert_int_equal(make_engine(&guest, true, &err), C2_OK);
    start(&guest);
    assert_int_equal(run(&guest, 0, &event, &err), ENGINE_SYSCALL);
    assert_int_equal(rip(&guest), CODE + 37);
    assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
    stream_blocks_check(guest.blocks);
    for (size_t i = 0; i < guest.used; i += 1 + stream_header_slots(guest.words[i])) {
        const struct stream_block *block = stream_blocks_at(guest.blocks, stream_header_block(guest.words[i]));
        if (stream_header_insns(guest.words[i]) < block->insn_count)
            continue; /* before a first touch; then the rest of it is a block of its own */
        if (block->pc.v != CODE + expected[at].at) {
            assert_int_equal(at, 0);
            assert_true(block->pc.v < CODE + 22);
        }
        assert_int_equal(block->ending, expected[at].ending);
        unsigned slot = block->ending == STREAM_CALL ? block->slot_count - 1u
                                                     : block->insns[block->insn_count - 1].first_slot;
        if (block->ending != STREAM_JUMP)
            assert_int_equal(guest.words[i + 1 + slot], DATA + expected[at].slot);
        at++;
    }
    assert_int_equal(at, sizeof expected / sizeof *expected);
    end_guest(&guest);
}

/* ------------------------------------------------------------------ an engine that runs several programs */

struct CPUState;
struct TranslationBlock;
typedef struct TranslationBlock *make_translation(struct CPUState *, uint64_t, uint64_t, uint32_t, int);
__attribute__((visibility("default"))) make_translation tb_gen_code_x86_64;

static unsigned translations;

/* Unicorn's, counted. */
struct TranslationBlock *tb_gen_code_x86_64(struct CPUState *cpu, uint64_t pc, uint64_t base, uint32_t flags, int how)
{
    static void *unicorns;
    translations += pc >= CODE;
    return ((make_translation *)unicorn_original(&unicorns, "tb_gen_code_x86_64"))(cpu, pc, base, flags, how);
}

/* ACROSS: the end of a page lies within a place. */
enum { PLACES = 32, PLACE_BYTES = 64, PIECES = 8, ACROSS = C2_PAGE_BYTES - 10 * PLACE_BYTES - 9 };

/* Places that jump on to each other, the last one to a system call. */
struct program {
    uint8_t code[ACROSS + PLACES * PLACE_BYTES];
    unsigned first;  /* place */
    uint64_t splits; /* chooses where a watch wants blocks to start; 0: nowhere */
    uint64_t budget; /* of each of its runs */
};

static const struct {
    uint8_t bytes[8];
    unsigned length;
} pieces[PIECES] = {
    {{0x48, 0x8d, 0x44, 0x00, 0x03}, 5},             /* lea 3(%rax,%rax),%rax */
    {{0x48, 0x89, 0x47, 0x08}, 4},                   /* mov %rax,8(%rdi) */
    {{0x48, 0x03, 0x9f, 0x40, 0x00, 0x00, 0x00}, 7}, /* add 64(%rdi),%rbx */
    {{0x48, 0x01, 0x47, 0x40}, 4},                   /* add %rax,64(%rdi) */
    {{0xf3, 0x48, 0x0f, 0xb8, 0xc8}, 5},             /* popcnt %rax,%rcx */
    {{0x0f, 0x11, 0x47, 0x48}, 4},                   /* movups %xmm0,72(%rdi) */
    {{0xf3, 0x48, 0x0f, 0x2a, 0xc0}, 5},             /* cvtsi2ss %rax,%xmm0 */
    {{0xa8, 0x01, 0x74, 0x00}, 4},                   /* test $1,%al; je to what follows */
};

static void make_place(struct program *program, struct c2_rng *rng, unsigned place)
{
    uint8_t *at = program->code + program->first + place * PLACE_BYTES, *const end = at + PLACE_BYTES;
    for (uint64_t count = 1 + c2_rng_below(rng, 6); count > 0; count--) {
        const size_t piece = c2_rng_below(rng, PIECES);
        memcpy(at, pieces[piece].bytes, pieces[piece].length);
        at += pieces[piece].length;
    }
    if (place == PLACES - 1) {
        memcpy(at, (const uint8_t[]){0x0f, 0x05}, 2); /* syscall */
        return;
    }
    const unsigned next = place + 1 + (unsigned)c2_rng_below(rng, place + 2 < PLACES ? 2 : 1);
    const int32_t distance = (int32_t)(program->code + program->first + next * PLACE_BYTES - (at + 5));
    *at++ = 0xe9; /* jmp */
    memcpy(at, &distance, sizeof distance);
    assert_true(at + sizeof distance <= end);
}

static void make_program(struct program *program, struct c2_rng *rng, unsigned first)
{
    memset(program, 0, sizeof *program);
    program->first = first;
    for (unsigned place = 0; place < PLACES; place++)
        make_place(program, rng, place);
}

static bool splits_program(void *self, struct guest_va pc)
{
    const struct program *program = self;
    return program->splits != 0 && (pc.v * 0x9e3779b97f4a7c15u) >> 60 == program->splits;
}

/* What can be seen of a run to its system call. */
struct seen {
    struct syscalls_cpu begin, cpu;
    uint64_t instructions, words[4096];
    size_t used;
    uint32_t blocks;
    unsigned translations;
};

/* In this engine, or in a new one; it is retired then. */
static struct engine *run_program(struct seen *seen, struct engine *retired, struct program *program, bool record,
                                  bool count)
{
    static struct guest guest;
    struct engine_event event;
    struct c2_error err;
    memset(seen, 0, sizeof *seen);
    make_guest(&guest, program->code, sizeof program->code);
    assert_int_equal(stream_writer_create(&guest.writer, (struct stream_sink){&guest, keep, NULL}, &err), C2_OK);
    const struct engine_config config = {.mmu = guest.mmu,
                                         .blocks = guest.blocks,
                                         .writer = guest.writer,
                                         .count_blocks = count,
                                         .watch = {.self = program, .splits = splits_program}};
    translations = 0;
    assert_int_equal(engine_reuse(&guest.engine, retired, tested_engine(), &config, &err), C2_OK);
    assert_int_equal(engine_instructions(guest.engine), 0);
    engine_get_cpu(guest.engine, &seen->begin);
    assert_int_equal(engine_set_recording(guest.engine, record, &err), C2_OK);
    start_at(&guest, CODE + program->first);
    do
        run(&guest, program->budget, &event, &err);
    while (event.stop == ENGINE_BUDGET);
    assert_int_equal(event.stop, ENGINE_SYSCALL);
    assert_int_equal(stream_writer_flush(guest.writer, &err), C2_OK);
    engine_get_cpu(guest.engine, &seen->cpu);
    seen->instructions = engine_instructions(guest.engine);
    seen->used = guest.used;
    memcpy(seen->words, guest.words, sizeof seen->words);
    seen->blocks = stream_blocks_count(guest.blocks);
    seen->translations = translations;
    struct engine *engine = guest.engine;
    engine_retire(engine);
    guest.engine = NULL;
    end_guest(&guest);
    return engine;
}

static void assert_same(const struct seen *a, const struct seen *b)
{
    assert_memory_equal(&a->begin, &b->begin, sizeof a->begin);
    assert_memory_equal(&a->cpu, &b->cpu, sizeof a->cpu);
    assert_int_equal(a->instructions, b->instructions);
    assert_int_equal(a->used, b->used);
    assert_memory_equal(a->words, b->words, sizeof a->words);
    assert_int_equal(a->blocks, b->blocks);
}

/* Many programs in one engine, each of which has other places and splits: as each in an engine of its own. */
static void random_programs_in_one_engine(void **state)
{
    static struct seen one, own;
    static struct program program;
    struct engine *engine = NULL;
    struct c2_rng rng;
    unsigned together = 0, apart = 0;
    (void)state;
    c2_rng_init(&rng, 11, "programs");
    make_program(&program, &rng, ACROSS);
    for (unsigned round = 0; round < 400; round++) {
        const bool record = c2_rng_below(&rng, 2), count = round >= 350;
        for (unsigned place = 0; place < PLACES; place++)
            if (c2_rng_below(&rng, 6) == 0)
                make_place(&program, &rng, place);
        program.splits = c2_rng_below(&rng, 3);
        program.budget = c2_rng_below(&rng, 10);
        engine = run_program(&one, engine, &program, record, count);
        engine_destroy(run_program(&own, NULL, &program, record, count));
        assert_same(&one, &own);
        together += one.translations;
        apart += own.translations;
    }
    engine_destroy(engine);
    /* an engine that records by hooks begins anew, and so does the native one */
    assert_true(!SHORTCUT(true) || tests_native() || together < apart);
}

/* The same program again is not translated again; in an engine that needs another hook it is. */
static void translations_that_stay(void **state)
{
    static struct seen first, again;
    static struct program program;
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 12, "programs");
    make_program(&program, &rng, 0);
    struct engine *engine = run_program(&first, NULL, &program, true, false);
    assert_true(tests_native() || first.translations > PLACES / 2); /* Unicorn's */
    engine = run_program(&again, engine, &program, true, false);
    assert_true(!SHORTCUT(true) || again.translations == 0);
    assert_same(&first, &again);
    engine = run_program(&again, engine, &program, true, true);
    assert_int_equal(again.translations, first.translations);
    engine_destroy(engine);
}

/* ------------------------------------------------------------------ errors */

/* Where they cannot, hooks record the same, only slower: so this is where it shows. */
static void records_in_translations(void **state)
{
    struct unicorn_layout layout;
    struct c2_error err;
    (void)state;
    assert_int_equal(unicorn_library_load(&err), C2_OK);
    assert_int_equal(unicorn_layout_find(&layout, &err), C2_OK);
    assert_int_equal(layout.inlines, SHORTCUT(true));
}

static void unknown_name(void **state)
{
    const struct engine_ops *ops;
    struct c2_error err;
    (void)state;
    assert_int_equal(emu_engine(&ops, "unicorn", &err), C2_OK);
    assert_ptr_equal(ops, &engine_unicorn_ops);
    assert_int_equal(emu_engine(&ops, "unicron", &err), C2_ERR_INVALID);
    assert_null(ops);
    assert_string_equal(err.text, "unknown engine \"unicron\" (did you mean \"unicorn\"?)");
}

/* The n-th allocation and all later ones fail, for every n until the guest reaches its system call. */
static void want_of_memory(void **state)
{
    uint64_t failed = 0;
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct guest guest;
        struct c2_error err = {.status = C2_OK};
        struct engine_event event = {.stop = ENGINE_FAILED};
        make_guest(&guest, mixed, sizeof mixed);
        c2_alloc_fail_from(n);
        enum c2_status status = make_engine(&guest, true, &err);
        if (status == C2_OK) {
            start(&guest);
            run(&guest, 0, &event, &err);
        }
        c2_alloc_fail_from(0);
        end_guest(&guest);
        if (event.stop == ENGINE_SYSCALL)
            break;
        assert_int_equal(err.status, C2_ERR_NO_MEMORY);
        failed++;
    }
    assert_true(failed > 10);
}

/* By hand: the name of a test, alone. */
/* ------------------------------------------------------------------ loops of one block */

enum { LOOP_BYTES = 11, LOOP_INSNS = 4 };

/* mov $count,%ecx; mov %cl,(%rdi); add $16,%rdi; dec %ecx; jnz back to the second; syscall */
static void make_loop(struct guest *guest, uint32_t count)
{
    uint8_t code[] = {0xb9, 0, 0, 0, 0, 0x88, 0x0f, 0x48, 0x83, 0xc7, 0x10, 0xff, 0xc9, 0x75, 0xf6, 0x0f, 0x05};
    memcpy(code + 1, &count, sizeof count);
    make_guest(guest, code, sizeof code);
}

/* As the program is after `done` instructions of it, the loop not left. */
static void assert_in_loop(struct guest *guest, uint32_t count, uint64_t from, uint64_t done)
{
    static const uint8_t offsets[LOOP_INSNS] = {0, 2, 6, 8};
    struct syscalls_cpu cpu;
    engine_get_cpu(guest->engine, &cpu);
    const uint64_t rounds = (done - 1) / LOOP_INSNS, rest = (done - 1) % LOOP_INSNS;
    assert_int_equal(engine_instructions(guest->engine), done);
    assert_int_equal(cpu.gpr[1], count - rounds - (rest > 2));
    assert_int_equal(cpu.gpr[7], from + 16 * (rounds + (rest > 1)));
    assert_int_equal(cpu.rip, CODE + 5 + (rounds == count ? LOOP_BYTES - 1 : offsets[rest]));
}

/* To this instruction, or what comes before it, but first touches. */
static enum engine_stop run_to(struct guest *guest, uint64_t instructions, struct engine_event *event)
{
    struct c2_error err;
    do
        engine_run(guest->engine, instructions - engine_instructions(guest->engine), event, &err);
    while (event->stop == ENGINE_FAULT && engine_instructions(guest->engine) < instructions &&
           mmu_touch(guest->mmu, event->address, event->access, &err) == MMU_FAULT_NONE);
    return event->stop;
}

/* The loop is left, or meets a page that is not there, in any round, and is cut at any instruction. */
static void try_loop(struct c2_rng *rng, bool record)
{
    struct guest guest;
    struct engine_event event = {.stop = ENGINE_BUDGET};
    struct syscalls_cpu cpu;
    struct c2_error err;
    const uint32_t count = 1 + (uint32_t)c2_rng_below(rng, c2_rng_below(rng, 2) ? 20 : 800);
    const uint64_t rounds = 1 + c2_rng_below(rng, 2 * C2_PAGE_BYTES / 16),
                   from = DATA + 2 * C2_PAGE_BYTES - 16 * rounds;
    const bool faults = count > rounds;
    const uint64_t end = 1 + LOOP_INSNS * (faults ? rounds : count);
    make_loop(&guest, count);
    assert_int_equal(make_engine_of(&guest, record, false, &err), C2_OK);
    start(&guest);
    engine_get_cpu(guest.engine, &cpu);
    cpu.gpr[7] = from;
    engine_set_cpu(guest.engine, &cpu);
    for (uint64_t to = 0; event.stop == ENGINE_BUDGET;) {
        to += 1 + c2_rng_below(rng, c2_rng_below(rng, 2) ? 1 << 16 : 1500);
        run_to(&guest, to, &event);
        if (to <= end)
            assert_int_equal(event.stop, ENGINE_BUDGET);
        if (event.stop == ENGINE_BUDGET)
            assert_in_loop(&guest, count, from, to);
    }
    assert_int_equal(event.stop, faults ? ENGINE_FAULT : ENGINE_SYSCALL);
    if (faults)
        assert_in_loop(&guest, count, from, end);
    else
        assert_int_equal(engine_instructions(guest.engine), end + 1);
    if (faults)
        assert_int_equal(event.address.v, DATA + 2 * C2_PAGE_BYTES);
    end_guest(&guest);
}

static void loops(void **state)
{
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "loops");
    for (unsigned i = 0; i < C2_HOST_SIZE(600, 100); i++)
        try_loop(&rng, i % 4 == 0);
}

static enum c2_status count_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    (void)engine, (void)err;
    assert_int_equal(pc.v, CODE + 5);
    ++*(unsigned *)self;
    return C2_OK;
}

/* A loop that is watched from some round on: each round that is to come is told. */
static void watched_loop(void **state)
{
    static const uint8_t code[] = {0xb9, 0xa0, 0x0f, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x0f, 0x05};
    unsigned reached = 0;
    struct guest guest;
    struct engine_event event;
    struct c2_error err;
    (void)state;
    make_guest(&guest, code, sizeof code); /* mov $4000,%ecx; dec %ecx; jnz back to it; syscall */
    const struct engine_config config = {
        .mmu = guest.mmu, .blocks = guest.blocks, .watch = {.self = &reached, .reached = count_reached}};
    assert_int_equal(engine_create(&guest.engine, tested_engine(), &config, &err), C2_OK);
    start(&guest);
    assert_int_equal(run_to(&guest, 1 + 2 * 1000, &event), ENGINE_BUDGET);
    assert_int_equal(engine_watch(guest.engine, (struct guest_va){CODE + 5}, &err), C2_OK);
    assert_int_equal(run_to(&guest, 100000, &event), ENGINE_SYSCALL);
    assert_in_range(reached, 2999, 3000); /* with the block that was cut, or without */
    end_guest(&guest);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops),
        cmocka_unit_test(faults),
        cmocka_unit_test(touches_without_a_reader),
        cmocka_unit_test(crossings),
        cmocka_unit_test(a_page_in_the_middle),
        cmocka_unit_test(flags),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(stores_into_code),
        cmocka_unit_test(stores_through_another_mapping),
        cmocka_unit_test(replaced_code),
        cmocka_unit_test(random_hops),
        cmocka_unit_test(single_steps),
        cmocka_unit_test(budgets),
        cmocka_unit_test(loops),
        cmocka_unit_test(watched_loop),
        cmocka_unit_test(executed_blocks),
        cmocka_unit_test(interpreted_amid_blocks),
        cmocka_unit_test(numbers_before_mmx),
        cmocka_unit_test(budget_before_a_fault),
        cmocka_unit_test(cuts_of_long_blocks),
        cmocka_unit_test(budgets_of_blocks),
        cmocka_unit_test(cut_records),
        cmocka_unit_test(long_blocks),
        cmocka_unit_test(marks_while_off),
        cmocka_unit_test(records),
        cmocka_unit_test(endings),
        cmocka_unit_test(records_in_translations),
        cmocka_unit_test(random_programs_in_one_engine),
        cmocka_unit_test(translations_that_stay),
        cmocka_unit_test(unknown_name),
        cmocka_unit_test(want_of_memory),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
