/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The forms of a trace to the letter; the compressed ones read back with zstd's own decoder, which must refuse each
 * altered or cut one; a full disk; no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <cmocka.h>

#include "analyses/analyses.h"

static char directory[] = "/tmp/c2emu-trace-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return !mkdtemp(directory);
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory); /* fails when a test left a file: none may be left */
}

static char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* The file's bytes, to be freed, and gone from the folder. */
static char *take_file(const char *name, size_t *bytes)
{
    FILE *from = fopen(path_of(name), "r");
    assert_non_null(from);
    char *content = malloc(1 << 22);
    *bytes = fread(content, 1, (1 << 22) - 1, from);
    content[*bytes] = '\0';
    fclose(from);
    unlink(path_of(name));
    return content;
}

static void notify(struct sim_subscriber trace, enum sim_kind kind, uint32_t tid, uint64_t pc, uint64_t va, uint64_t pa,
                   uint32_t size)
{
    struct sim_reference reference = {.kind = kind, .tid = tid, .size = size, .pc = {pc}, .va = {va}, .parts = 1};
    reference.part[0].va.v = va;
    reference.part[0].pa.v = pa;
    reference.part[0].size = size;
    uint32_t here = (uint32_t)(C2_PAGE_BYTES - (va & (C2_PAGE_BYTES - 1)));
    if (size > here) { /* the next virtual page lies ten frames below */
        reference.parts = 2;
        reference.part[0].size = here;
        reference.part[1].va.v = va + here;
        reference.part[1].pa.v = pa + here - 11 * C2_PAGE_BYTES;
        reference.part[1].size = size - here;
    }
    assert_int_equal(C2_OK, trace.references(trace.self, &reference, 1, NULL));
}

static enum c2_status create(struct analysis **out, const char *path, struct c2_error *err)
{
    static const struct caches_machine machine = {.line_bytes = 64};
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_trace] = path};
    const struct analyses_setup setup = {.machine = &machine, .given = given};
    *out = NULL;
    return analysis_trace.create(out, &setup, NULL, err);
}

static void notify_all(struct analysis *trace)
{
    struct sim_subscriber subscriber = analysis_trace.subscriber(trace);
    notify(subscriber, SIM_FETCH, 1, 0x401000, 0x401000, 0x1000, 5);
    notify(subscriber, SIM_READ, 1, 0x401000, 0x7fffffffe008, 0x2008, 8);
    notify(subscriber, SIM_WRITE, 1, 0x401000, 0x7fffffffe008, 0x2008, 8);
    notify(subscriber, SIM_FETCH, 12, 0x401005, 0x401005, 0x1005, 3);
    notify(subscriber, SIM_READ, 12, 0x401005, 0x10003c, 0xffff0003c, 16);
    notify(subscriber, SIM_WRITE, 12, 0x401005, 0x200fc0, 0x30fc0, 512);
    notify(subscriber, SIM_READ, 4294967295u, 0xffffffffffffffff, 0, 0, 1);
    notify(subscriber, SIM_FETCH, 1, 0x401ffe, 0x401ffe, 0x61ffe, 4);
}

static const char text_golden[] = "F 401000 401000 1000 5 1\n"
                                  "R 401000 7fffffffe008 2008 8 1\n"
                                  "W 401000 7fffffffe008 2008 8 1\n"
                                  "F 401005 401005 1005 3 12\n"
                                  "R 401005 10003c ffff0003c 16 12\n"
                                  "W 401005 200fc0 30fc0 64 12\n"
                                  "w 401005 201000 26000 448 12\n"
                                  "R ffffffffffffffff 0 0 1 4294967295\n"
                                  "F 401ffe 401ffe 61ffe 2 1\n"
                                  "f 401ffe 402000 57000 2 1\n";

/* One record a line of 64 bytes: the read of 16 at ..3c touches two, the write of 512 at ..fc0 eight. */
static const char din_golden[] = "2 1000\n"
                                 "0 2008\n"
                                 "1 2008\n"
                                 "2 1005\n"
                                 "0 ffff0003c\n"
                                 "0 ffff00040\n"
                                 "1 30fc0\n"
                                 "1 26000\n"
                                 "1 26040\n"
                                 "1 26080\n"
                                 "1 260c0\n"
                                 "1 26100\n"
                                 "1 26140\n"
                                 "1 26180\n"
                                 "0 0\n"
                                 "2 61ffe\n"
                                 "2 57000\n";

static void write_trace(const char *name, int times)
{
    struct analysis *trace;
    struct c2_error err;
    assert_int_equal(C2_OK, create(&trace, path_of(name), &err));
    for (int i = 0; i < times; i++)
        notify_all(trace);
    assert_int_not_equal(0, access(path_of(name), F_OK)); /* not before it is whole */
    assert_int_equal(C2_OK, analysis_trace.commit(trace, &err));
    analysis_trace.destroy(trace);
}

static void the_plain_forms(void **state)
{
    (void)state;
    static const struct {
        const char *name, *golden;
    } rows[] = {{"a.txt", text_golden}, {"a", text_golden}, {"a.din", din_golden}, {"din", text_golden}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t bytes;
        write_trace(rows[i].name, 1);
        char *content = take_file(rows[i].name, &bytes);
        assert_string_equal(rows[i].golden, content);
        free(content);
    }
}

/* Every frame must decode; the length of the plain form, or -1. */
static long decompress(char *to, size_t room, const char *from, size_t bytes)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    size_t length = ZSTD_decompressDCtx(zstd, to, room, from, bytes);
    ZSTD_freeDCtx(zstd);
    return ZSTD_isError(length) ? -1 : (long)length;
}

static void compressed(const char *name, const char *golden, const char *word, int times)
{
    size_t bytes, length = strlen(golden);
    write_trace(name, times);
    char *content = take_file(name, &bytes), *plain = malloc(length * (size_t)times + 1);
    assert_memory_equal("\x50\x2a\x4d\x18", content, 4);
    assert_memory_equal(word, content + 8, strlen(word));
    assert_int_equal(strlen(word), content[4]);
    assert_int_equal((long)length * times, decompress(plain, length * (size_t)times, content, bytes));
    for (int i = 0; i < times; i++)
        assert_memory_equal(golden, plain + (size_t)i * length, length);
    size_t header = 8 + strlen(word), step = bytes > 5000 ? bytes / 300 : 1;
    for (size_t cut = header + 1; cut < bytes; cut += step)
        assert_int_equal(-1, decompress(plain, length * (size_t)times, content, cut));
    for (size_t at = header; at < bytes; at += step) {
        content[at] ^= 0x10;
        long got = decompress(plain, length * (size_t)times, content, bytes);
        /* some bits of a frame mean nothing to a decoder: then the text must be right all the same */
        assert_true(got == -1 || (got == (long)length * times && memcmp(golden, plain, length) == 0));
        content[at] ^= 0x10;
    }
    free(content);
    free(plain);
}

static void the_compressed_forms(void **state)
{
    (void)state;
    compressed("a.zst", text_golden, "c2emu-trace 1 text\n", 1);
    compressed("a.din.zst", din_golden, "c2emu-trace 1 din\n", 1);
    compressed("big.zst", text_golden, "c2emu-trace 1 text\n", 5000);
}

static void more_than_a_buffer(void **state)
{
    (void)state;
    size_t bytes;
    write_trace("long", 3000);
    char *content = take_file("long", &bytes);
    assert_int_equal(3000 * strlen(text_golden), bytes);
    for (size_t i = 0; i < 3000; i++)
        assert_memory_equal(text_golden, content + i * strlen(text_golden), strlen(text_golden));
    free(content);
}

static void given_up_leaves_nothing(void **state)
{
    (void)state;
    struct analysis *trace;
    assert_int_equal(C2_OK, create(&trace, path_of("b.zst"), NULL));
    notify_all(trace);
    analysis_trace.destroy(trace);
    assert_int_not_equal(0, access(path_of("b.zst"), F_OK));
}

/* /dev/full takes nothing: said at the first buffer that is written, and at the latest by commit. */
static void a_full_disk(void **state)
{
    (void)state;
    struct analysis *trace;
    struct c2_error err;
    assert_int_equal(C2_OK, create(&trace, "/dev/full", &err));
    notify_all(trace);
    assert_int_not_equal(C2_OK, analysis_trace.commit(trace, &err));
    assert_non_null(strstr(err.text, "/dev/full"));
    analysis_trace.destroy(trace);
    assert_int_equal(C2_OK, create(&trace, "/dev/full", &err));
    struct sim_subscriber subscriber = analysis_trace.subscriber(trace);
    struct sim_reference reference = {.kind = SIM_READ, .parts = 1, .size = 1};
    enum c2_status status = C2_OK;
    int notified = 0;
    for (; notified < 1000000 && status == C2_OK; notified++)
        status = subscriber.references(subscriber.self, &reference, 1, &err);
    assert_int_equal(C2_ERR_IO, status);
    assert_string_equal("cannot write the trace \"/dev/full\": No space left on device", err.text);
    analysis_trace.destroy(trace);
}

static void a_folder_that_is_not_there(void **state)
{
    (void)state;
    struct analysis *trace;
    struct c2_error err;
    assert_int_not_equal(C2_OK, create(&trace, path_of("none/x.din"), &err));
    assert_null(trace);
    assert_non_null(strstr(err.text, "none/x.din"));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct analysis *trace;
        struct c2_error err;
        c2_alloc_fail_from(n);
        status = create(&trace, path_of("c.zst"), &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK ? n > 3 : status == C2_ERR_NO_MEMORY && !trace);
        if (trace)
            analysis_trace.destroy(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plain_forms),
        cmocka_unit_test(the_compressed_forms),
        cmocka_unit_test(more_than_a_buffer),
        cmocka_unit_test(given_up_leaves_nothing),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_folder_that_is_not_there),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
