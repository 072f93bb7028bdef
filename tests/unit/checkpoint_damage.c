/* SPDX-License-Identifier: GPL-2.0-or-later
 * Checkpoints of memory and kernel: what is restored is saved again as the same bytes; those that are cut or damaged
 * are refused; those that are made up, with right checksums, never harm.
 *
 * C2_FUZZ_INPUTS is how many inputs the random tests make, 10,000 in all where it is not set. */
#include "syscalls_guest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "checkpoint/checkpoint.h"
#include "watch/allocations.h"
#include "watch/locals.h"

#define VERSION "1.2.3"
#define NAME "FILE"
#define START_BYTES 12u
#define CONTENT_BYTES ((size_t)1 << 17)

static unsigned fuzz_inputs(unsigned share)
{
    const char *wanted = getenv("C2_FUZZ_INPUTS");
    return (unsigned)((wanted ? strtoul(wanted, NULL, 10) : 10000) / share);
}

/* ------------------------------------------------------------------ a guest with something in it */

struct bytes {
    char *at;
    size_t count;
};

static void fill_memory(void)
{
    struct c2_error err;
    struct guest_va at;
    char *text = guest_text("some text in the guest's memory");
    assert_int_equal(mmu_touch_range(g.mmu, (struct guest_va){U(text)}, 5000, MMU_ACCESS_WRITE, &at, &err),
                     MMU_FAULT_NONE);
    memset(text + 4096, 7, 100);
    assert_int_equal(mmu_brk(g.mmu, MMU_HEAP_BASE + 10000), MMU_HEAP_BASE + 10000);
    assert_int_equal(mmu_touch(g.mmu, (struct guest_va){MMU_HEAP_BASE + 4096}, MMU_ACCESS_READ, &err), MMU_FAULT_NONE);
    *(volatile char *)(uintptr_t)(MMU_HEAP_BASE + 4096) = 9;
    assert_true(CALL(mmap, 0, 12288, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) > 0);
}

static void fill_kernel(void)
{
    const struct {
        uint64_t handler, flags, restorer, mask;
    } action = {0x401000, SA_SIGINFO | 0x04000000, 0x402000, 5};
    void *sent = guest_take(sizeof action);
    const uint64_t blocked = 1u << (SIGUSR1 - 1);
    void *set = guest_take(sizeof blocked);
    memcpy(sent, &action, sizeof action);
    memcpy(set, &blocked, sizeof blocked);
    assert_call(0, rt_sigaction, SIGUSR2, sent, 0, 8);
    assert_call(0, rt_sigprocmask, SIG_BLOCK, set, 0, 8);
    assert_call(0, kill, 1000, SIGUSR1);
    guest_file("in", "0123456789");
    assert_call(3, openat, AT_FDCWD, guest_text("in"), O_RDONLY);
    assert_call(4, read, 3, guest_take(4), 4);
    assert_call(4, dup, 3);
    assert_call(5, openat, AT_FDCWD, guest_text("out"), O_WRONLY | O_CREAT, 0600);
    assert_call(5, write, 5, guest_text("hello"), 5);
    assert_call(6, openat, AT_FDCWD, guest_text("/proc/self/maps"), O_RDONLY);
    assert_call(7, openat, AT_FDCWD, guest_text("/dev/urandom"), O_RDONLY);
    assert_call(022, umask, 027);
}

/* ------------------------------------------------------------------ there and back */

struct parts {
    struct loader_symbols *symbols;
    struct allocations *allocations;
    struct locals *locals;
};

static void make_parts(struct parts *parts)
{
    struct c2_error err;
    assert_int_equal(loader_symbols_create(&parts->symbols, mmu_areas(g.mmu), &err), C2_OK);
    const struct allocations_config config = {.mmu = g.mmu, .symbols = parts->symbols};
    assert_int_equal(allocations_create(&parts->allocations, &config, &err), C2_OK);
    assert_int_equal(locals_create(&parts->locals, g.mmu, parts->symbols, (struct guest_va){0x401000}, &err), C2_OK);
}

static void end_parts(struct parts *parts)
{
    allocations_destroy(parts->allocations);
    locals_destroy(parts->locals);
    loader_symbols_destroy(parts->symbols);
}

/* All of the guest, either way. */
static enum c2_status visit(struct checkpoint *c, struct c2_error *err)
{
    struct parts parts;
    mmu_checkpoint(g.mmu, c);
    syscalls_checkpoint(g.kernel, c);
    syscalls_cpu_checkpoint(&g.cpu, c);
    make_parts(&parts);
    allocations_watch(parts.allocations).calls->checkpoint(parts.allocations, c);
    locals_watch(parts.locals).calls->checkpoint(parts.locals, c);
    const enum c2_status status = checkpoint_finish(c, err);
    if (status == C2_OK) {
        allocations_check(parts.allocations);
        locals_check(parts.locals);
    }
    end_parts(&parts);
    return status;
}

static struct bytes save(void)
{
    struct bytes out;
    struct checkpoint *c;
    struct c2_error err;
    FILE *to = open_memstream(&out.at, &out.count);
    assert_int_equal(checkpoint_write(&c, to, NAME, VERSION, &err), C2_OK);
    if (visit(c, &err) != C2_OK)
        fail_msg("%s", err.text);
    checkpoint_close(c);
    fclose(to);
    return out;
}

/* A guest as it is before anything is in it. */
static void fresh(void)
{
    static const char *const none[] = {NULL};
    const struct mmu_guest_config memory = {.guest_bytes = GUEST_PHYSICAL};
    const struct syscalls_config config = {.program_path = "/bin/true", .argv = none, .envp = none, .seed = 9};
    syscalls_destroy(g.kernel);
    mmu_destroy(g.mmu);
    assert_int_equal(mmu_create(&g.mmu, &memory, &g.err), C2_OK);
    assert_int_equal(syscalls_create(&g.kernel, g.mmu, &config, &g.err), C2_OK);
}

static enum c2_status restore(const char *bytes, size_t count, struct c2_error *err)
{
    struct checkpoint *c;
    fresh();
    FILE *from = count == 0 ? fopen("/dev/null", "rb") : fmemopen((void *)bytes, count, "rb");
    enum c2_status status = checkpoint_read(&c, from, NAME, VERSION, err);
    assert_true((status == C2_OK) == !!c);
    if (status == C2_OK)
        status = visit(c, err);
    checkpoint_close(c);
    fclose(from);
    if (status == C2_OK) {
        mmu_check(g.mmu);
        syscalls_check(g.kernel);
    } else {
        assert_true(syscalls_time_ns(g.kernel, 1000) >= syscalls_time_ns(g.kernel, 0)); /* the clock goes */
        fresh(); /* half a guest is good for release only */
    }
    return status;
}

static void test_what_is_restored_is_what_was_saved(void **state)
{
    (void)state;
    struct c2_error err;
    fill_memory();
    fill_kernel();
    const struct bytes first = save();
    if (restore(first.at, first.count, &err) != C2_OK)
        fail_msg("%s", err.text);
    const struct bytes second = save();
    assert_int_equal(second.count, first.count);
    assert_memory_equal(second.at, first.at, first.count);
    char *read = guest_take(8); /* both descriptors share their position; the generator goes on */
    assert_call(2, read, 4, read, 2);
    assert_call(4, read, 3, read + 2, 4);
    assert_memory_equal(read, "456789", 6);
    assert_call(027, umask, 0);
    assert_int_equal(syscalls_pending(g.kernel), 0);
    free(first.at);
    free(second.at);
}

/* ------------------------------------------------------------------ what is said */

static void assert_refused(const char *bytes, size_t count, enum c2_status status, const char *text)
{
    struct c2_error err;
    assert_int_equal(restore(bytes, count, &err), status);
    assert_string_equal(err.text, text);
}

static void test_other_files_and_versions(void **state)
{
    (void)state;
    struct checkpoint *c;
    struct c2_error err;
    struct bytes other;
    FILE *to = open_memstream(&other.at, &other.count);
    assert_int_equal(checkpoint_write(&c, to, NAME, "9.9", &err), C2_OK);
    uint64_t number = 5;
    checkpoint_number(c, &number, CHECKPOINT_ANY);
    assert_int_equal(checkpoint_finish(c, &err), C2_OK);
    checkpoint_close(c);
    fclose(to);
    char expected[160];
    snprintf(expected, sizeof expected,
             "the checkpoint FILE is of c2emu 9.9, format %u, and this is c2emu 1.2.3, format %u: restore it with "
             "the c2emu that made it, or make it again with this one",
             CHECKPOINT_FORMAT, CHECKPOINT_FORMAT);
    assert_refused(other.at, other.count, C2_ERR_UNSUPPORTED, expected);
    assert_refused("\x7f"
                   "ELF and more",
                   13, C2_ERR_FORMAT,
                   "FILE is no checkpoint: its first bytes are other ones; name a file that --checkpoint has written");
    assert_refused(other.at, 0, C2_ERR_FORMAT,
                   "the checkpoint FILE ends at byte 0, before its end: it was cut; make it again");
    assert_refused(other.at, 11, C2_ERR_FORMAT,
                   "the checkpoint FILE ends at byte 11, before its end: it was cut; make it again");
    free(other.at);
}

/* The registers of a processor that has all components, some, and none of them. */
static void test_wide_registers(void **state)
{
    static const uint64_t has[] = {0, CPU_LEGACY | CPU_AVX, CPU_LEGACY | CPU_AVX512};
    static struct syscalls_cpu cpu, back;
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "registers");
    for (unsigned i = 0; i < 3; i++) {
        struct checkpoint *c;
        struct bytes file;
        c2_rng_fill(&rng, cpu.fxsave, sizeof cpu.fxsave);
        c2_rng_fill(&rng, &cpu.wide, sizeof cpu.wide);
        cpu.xcr0 = has[i];
        back = (struct syscalls_cpu){.rip = 0};
        FILE *to = open_memstream(&file.at, &file.count);
        assert_int_equal(checkpoint_write(&c, to, NAME, VERSION, NULL), C2_OK);
        syscalls_cpu_checkpoint(&cpu, c);
        assert_int_equal(checkpoint_finish(c, NULL), C2_OK);
        checkpoint_close(c);
        fclose(to);
        FILE *from = fmemopen(file.at, file.count, "r");
        assert_int_equal(checkpoint_read(&c, from, NAME, VERSION, NULL), C2_OK);
        syscalls_cpu_checkpoint(&back, c);
        assert_int_equal(checkpoint_finish(c, NULL), C2_OK);
        checkpoint_close(c);
        fclose(from);
        for (unsigned k = 0; k < CPU_COMPONENTS; k++)
            if ((has[i] & cpu_components[k].bit) == 0)
                memset((uint8_t *)&cpu.wide + cpu_components[k].at, 0, cpu_components[k].bytes);
        assert_memory_equal(&cpu, &back, sizeof cpu);
        free(file.at);
    }
}

/* ------------------------------------------------------------------ cuts and flips */

static void test_cut_checkpoints_are_refused(void **state)
{
    (void)state;
    char expected[80];
    struct c2_error err;
    fill_memory();
    fill_kernel();
    const struct bytes whole = save();
    for (size_t cut = 0; cut < whole.count; cut += cut < 40 ? 1 : whole.count / 100 + 1) {
        assert_int_equal(restore(whole.at, cut, &err), C2_ERR_FORMAT);
        snprintf(expected, sizeof expected, "the checkpoint FILE ends at byte %zu, before its end", cut);
        assert_memory_equal(err.text, expected, strlen(expected));
    }
    free(whole.at);
}

/* A few bits say nothing (a spare bit of a frame's head, say): what comes back then is what was saved. */
static void test_flipped_bits_show(void **state)
{
    (void)state;
    struct c2_error err;
    struct c2_rng rng;
    unsigned harmless = 0;
    c2_rng_init(&rng, 1, "flips");
    fill_memory();
    fill_kernel();
    const struct bytes whole = save();
    for (unsigned i = fuzz_inputs(2); i != 0; i--) {
        const uint64_t bit = c2_rng_below(&rng, whole.count * 8);
        whole.at[bit / 8] ^= (char)(1u << bit % 8);
        if (restore(whole.at, whole.count, &err) == C2_OK) {
            const struct bytes again = save();
            whole.at[bit / 8] ^= (char)(1u << bit % 8);
            assert_int_equal(again.count, whole.count);
            assert_memory_equal(again.at, whole.at, whole.count);
            whole.at[bit / 8] ^= (char)(1u << bit % 8);
            free(again.at);
            harmless++;
        }
        whole.at[bit / 8] ^= (char)(1u << bit % 8);
    }
    assert_in_range(harmless, 0, fuzz_inputs(2) / 40); /* of 750 bytes */
    free(whole.at);
}

/* ------------------------------------------------------------------ made-up ones, whose checksums are right */

static uint32_t get_u32(const void *from)
{
    uint32_t n;
    memcpy(&n, from, 4);
    return n;
}

/* The state in one piece: the contents of the chunks without what they begin with. */
static struct bytes unpack(const struct bytes *from)
{
    struct bytes out = {.at = malloc(CONTENT_BYTES * 16)};
    char *content = malloc(CONTENT_BYTES);
    for (size_t at = START_BYTES; at < from->count; at += 4 + get_u32(from->at + at)) {
        const size_t bytes = ZSTD_decompress(content, CONTENT_BYTES, from->at + at + 4, get_u32(from->at + at));
        assert_false(ZSTD_isError(bytes));
        memcpy(out.at + out.count, content + 4, bytes - 4);
        out.count += bytes - 4;
    }
    free(content);
    return out;
}

/* In chunks again, of 60,000 bytes. */
static struct bytes pack(const struct bytes *state)
{
    struct bytes out = {.at = malloc(state->count + 100000)};
    char content[60004];
    const uint32_t format = CHECKPOINT_FORMAT;
    uint32_t check = format;
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    memcpy(out.at,
           "\x89\x43\x32"
           "CKP\r\n",
           START_BYTES - 4);
    memcpy(out.at + START_BYTES - 4, &format, 4);
    out.count = START_BYTES;
    for (size_t at = 0; at < state->count; at += 60000) {
        const size_t part = state->count - at < 60000 ? state->count - at : 60000;
        memcpy(content, &check, 4);
        memcpy(content + 4, state->at + at, part);
        const size_t bytes = ZSTD_compress2(zstd, out.at + out.count + 4, part + 1000, content, part + 4);
        const uint32_t length = (uint32_t)bytes;
        memcpy(out.at + out.count, &length, 4);
        out.count += 4 + bytes;
        check = get_u32(out.at + out.count - 4);
    }
    ZSTD_freeCCtx(zstd);
    return out;
}

/* Most fields are small numbers, so bits of them are turned, and small numbers put in. Those of pages are skipped. */
static void change(struct c2_rng *rng, struct bytes *state)
{
    for (uint64_t n = 1 + c2_rng_below(rng, 3); n != 0; n--) {
        char *byte = &state->at[c2_rng_below(rng, state->count)];
        if (c2_rng_below(rng, 2))
            *byte ^= (char)(1u << c2_rng_below(rng, 8));
        else
            *byte = (char)(c2_rng_below(rng, 3) == 0 ? 0xff : c2_rng_below(rng, 4));
    }
    if (c2_rng_below(rng, 8) == 0)
        state->count -= c2_rng_below(rng, state->count);
}

static void test_made_up_checkpoints_do_no_harm(void **state)
{
    (void)state;
    struct c2_error err;
    struct c2_rng rng;
    unsigned accepted = 0;
    c2_rng_init(&rng, 1, "made up");
    fill_memory();
    fill_kernel();
    const struct bytes whole = save();
    const struct bytes right = unpack(&whole);
    struct bytes changed = {.at = malloc(right.count)};
    for (unsigned i = fuzz_inputs(2); i != 0; i--) {
        memcpy(changed.at, right.at, changed.count = right.count);
        change(&rng, &changed);
        const struct bytes made_up = pack(&changed);
        accepted += restore(made_up.at, made_up.count, &err) == C2_OK;
        free(made_up.at);
    }
    assert_in_range(accepted, 1, fuzz_inputs(2) - 1); /* what the bytes of memory are, cannot be checked */
    free(changed.at);
    free(right.at);
    free(whole.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_restored_is_what_was_saved, guest_setup, guest_teardown),
        cmocka_unit_test(test_wide_registers),
        cmocka_unit_test_setup_teardown(test_other_files_and_versions, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(test_cut_checkpoints_are_refused, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(test_flipped_bits_show, guest_setup, guest_teardown),
        cmocka_unit_test_setup_teardown(test_made_up_checkpoints_do_no_harm, guest_setup, guest_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
