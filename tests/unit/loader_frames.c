/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Chains of inlined calls: every instruction of programs of two compilers against addr2line -i -f -C.
 * Nothing is mapped here, so that this runs under the sanitizers too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/symbols_priv.h"

typedef unsigned long long ull;

/* Modules are opened here by their path, so no address space is needed. */
static struct loader_symbols *symbols;
static bool quiet; /* differences are expected */

static int start(void **state)
{
    (void)state;
    return loader_symbols_create(&symbols, NULL, NULL) != C2_OK;
}

static int finish(void **state)
{
    (void)state;
    loader_symbols_check(symbols);
    loader_symbols_destroy(symbols);
    return 0;
}

static struct loader_module *open_path(const char *path)
{
    struct stat st;
    struct loader_module *module;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(loader_module_open(&module, path, st.st_ino, st.st_dev, NULL), C2_OK);
    return module;
}

/* ------------------------------------------------------------------ what addr2line says */

#define FRAMES 32

struct answer {
    char function[512], file[512];
    int line;
};

/* "file:12 (discriminator 3)", "file:?", "??:0" */
static void read_place(struct answer *out, char *line)
{
    char *colon = strrchr(line, ':');
    assert_non_null(colon);
    out->line = atoi(colon + 1);
    *colon = '\0';
    snprintf(out->file, sizeof out->file, "%s", out->line ? line : "");
}

struct listing {
    FILE *from;
    char next[1024]; /* the line read ahead: the next address, or "" at the end */
};

static void advance(struct listing *listing)
{
    if (!fgets(listing->next, sizeof listing->next, listing->from))
        listing->next[0] = '\0';
    listing->next[strcspn(listing->next, "\n")] = '\0';
}

static bool next_answer(struct listing *listing, uint64_t *address, struct answer *answers, size_t *count)
{
    if (strncmp(listing->next, "0x", 2) != 0)
        return false;
    *address = strtoull(listing->next, NULL, 16);
    *count = 0;
    for (advance(listing); listing->next[0] && strncmp(listing->next, "0x", 2) != 0; advance(listing)) {
        struct answer *out = &answers[(*count)++];
        assert_true(*count <= FRAMES);
        snprintf(out->function, sizeof out->function, "%.500s", strcmp(listing->next, "??") == 0 ? "" : listing->next);
        advance(listing);
        read_place(out, listing->next);
    }
    return true;
}

/* addr2line on every instruction that objdump lists; code and lines are read from `by`. */
static void open_listing(struct listing *listing, const char *path, const char *by)
{
    char command[2048];
    snprintf(command, sizeof command,
             "objdump -d --no-show-raw-insn '%s' 2>/dev/null | sed -n 's/^ *\\([0-9a-f]*\\):\t.*/0x\\1/p' | "
             "addr2line -a -i -f -C -e '%s' 2>/dev/null",
             path, by);
    listing->from = popen(command, "r");
    assert_non_null(listing->from);
    advance(listing);
}

/* The extents of functions, as nm lists them. */
struct extents {
    uint64_t start[4000], bytes[4000];
    size_t count;
};

static void read_extents(struct extents *out, const char *path)
{
    char command[700], line[1024];
    ull start, bytes;
    snprintf(command, sizeof command, "nm -S --defined-only '%s' 2>/dev/null", path);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    out->count = 0;
    while (fgets(line, sizeof line, from) && out->count < 4000)
        if (sscanf(line, "%llx %llx", &start, &bytes) == 2) {
            out->start[out->count] = start;
            out->bytes[out->count++] = bytes;
        }
    pclose(from);
}

/* ------------------------------------------------------------------ the comparison
 * addr2line of binutils 2.40 differs in three ways here (in larger programs also in two that need no exception: of
 * several names of one address it takes another one, and it calls a part of a C++ main "main.cold" once):
 *   padding   it gives the name of the function before, which does not hold the address; here it has no name;
 *   C++       for the innermost of several frames whose function has no linkage name - lambdas, static inline
 *             functions - it gives the name of the function that holds the code, once; here it is the DWARF name;
 *   rnglistx  it does not read the ranges that clang writes in DWARF 5, and loses these frames: such programs are
 *             compared with what it says of the same code in DWARF 4.
 * Whatever does not fit the first two exactly is a failure. */

/* What the linker pads functions with belongs to none. addr2line names the symbol before it. */
static bool is_padding(const struct extents *extents, uint64_t address)
{
    for (size_t i = 0; i < extents->count; i++)
        if (address >= extents->start[i] && address - extents->start[i] < extents->bytes[i])
            return false;
    return true;
}

static bool same_text(const char *ours, const char *theirs) { return strcmp(ours ? ours : "", theirs) == 0; }

static bool same(const struct loader_frame *frame, const struct answer *answer)
{
    return same_text(frame->function, answer->function) && same_text(frame->file, answer->file) &&
           frame->line == answer->line;
}

static void show(const struct loader_frame *frames, size_t count, const struct answer *answers, size_t answer_count)
{
    for (size_t i = 0; i < count || i < answer_count; i++) {
        if (i < count)
            fprintf(stderr, "  ours   %s %s:%d\n", frames[i].function, frames[i].file, frames[i].line);
        if (i < answer_count)
            fprintf(stderr, "  theirs %s %s:%d\n", answers[i].function, answers[i].file, answers[i].line);
    }
}

struct totals {
    unsigned addresses, inlined, named, padding, misnamed, differing;
};

static bool is_misnamed(const struct loader_frame *frames, size_t count, const struct answer *answers, size_t expected)
{
    for (size_t i = 1; i < count && i < expected; i++)
        if (!same(&frames[i], &answers[i]))
            return false;
    return count > 1 && count == expected && same_text(frames[0].file, answers[0].file) &&
           frames[0].line == answers[0].line && same_text(frames[count - 1].function, answers[0].function);
}

static void compare_one(struct totals *totals, struct loader_module *module, const struct extents *extents,
                        uint64_t address, const struct answer *answers, size_t expected)
{
    struct loader_frame frames[FRAMES];
    size_t count = loader_module_frames(symbols, module, address, frames, FRAMES);
    bool equal = count == expected;
    for (size_t i = 0; equal && i < count; i++)
        equal = same(&frames[i], &answers[i]);
    totals->addresses++;
    totals->inlined += count > 1;
    totals->named += !!frames[0].function;
    if (equal)
        return;
    if (count == 1 && expected == 1 && !frames[0].function && is_padding(extents, address))
        totals->padding++;
    else if (is_misnamed(frames, count, answers, expected))
        totals->misnamed++;
    else if (totals->differing++ == 0 && !quiet) {
        fprintf(stderr, "%s 0x%llx:\n", module->path, (ull)address);
        show(frames, count, answers, expected);
    }
}

/* Every instruction of the guest; addr2line reads the file `by`. */
static struct totals compare(const char *guest, const char *by)
{
    static struct extents extents;
    struct listing listing;
    struct totals totals = {0};
    struct answer answers[FRAMES];
    char path[512], other[512];
    uint64_t address;
    size_t expected;
    snprintf(path, sizeof path, GUESTS "/%s", guest);
    snprintf(other, sizeof other, GUESTS "/%s", by);
    struct loader_module *module = open_path(path);
    read_extents(&extents, other);
    open_listing(&listing, path, other);
    while (next_answer(&listing, &address, answers, &expected))
        compare_one(&totals, module, &extents, address, answers, expected);
    pclose(listing.from);
    loader_units_check(module);
    loader_module_close(module);
    return totals;
}

static void check(const char *guest, const char *by)
{
    struct totals totals = compare(guest, by);
    bool cxx = strstr(guest, "cxx");
    if (totals.differing)
        fail_msg("%s: %u of %u addresses differ", guest, totals.differing, totals.addresses);
    assert_true(totals.addresses > 140);
    assert_true(totals.inlined > (cxx ? 20 : 400));
    assert_true(totals.named > totals.addresses * 9 / 10);
    assert_true(totals.padding < totals.addresses / 10);
    assert_true(cxx ? totals.misnamed < 6 : totals.misnamed == 0);
}

static void test_frames_agree_with_addr2line(void **state)
{
    (void)state;
    char guests[] = INLINE_GUESTS;
    for (char *guest = strtok(guests, " "); guest; guest = strtok(NULL, " "))
        check(guest, guest);
}

static void test_frames_of_the_other_compiler(void **state)
{
    (void)state;
    char guests[] = CLANG_GUESTS;
    for (char *guest = strtok(guests, " "); guest; guest = strtok(NULL, " ")) {
        char four[128], five[128];
        snprintf(four, sizeof four, "%s_dwarf4", guest);
        snprintf(five, sizeof five, "%s_dwarf5", guest);
        check(four, four);
        check(five, four);
    }
}

static void test_frames_from_a_debug_file(void **state)
{
    (void)state;
    check("inline_linked", "inline");
}

/* The comparison can fail: the same source compiled otherwise has its code elsewhere. */
static void test_the_comparison_notices_other_frames(void **state)
{
    (void)state;
    quiet = true;
    assert_true(compare("inline_o3", "inline").differing > 100);
    quiet = false;
}

/* Without symbols and DWARF there is one frame, and nothing in it. */
static void test_stripped(void **state)
{
    (void)state;
    struct loader_module *module = open_path(GUESTS "/cxx_stripped");
    struct loader_frame frame;
    for (uint64_t address = module->elf.low; address < module->elf.high; address++) {
        assert_int_equal(loader_module_frames(symbols, module, address, &frame, 1), 1);
        assert_null(frame.function);
        assert_null(frame.file);
        assert_int_equal(frame.line, 0);
    }
    loader_module_close(module);
}

static void test_discarded_functions_are_nowhere(void **state)
{
    (void)state;
    struct loader_module *module = open_path(GUESTS "/inline_sections");
    struct loader_frame frame;
    for (uint64_t address = 0; address < 0x1000; address++) {
        assert_int_equal(loader_module_frames(symbols, module, address, &frame, 1), 1);
        assert_null(frame.function);
    }
    loader_module_close(module);
}

/* ------------------------------------------------------------------ what the source says */

/* The only line of the source that holds this text. */
static int line_with(const char *text)
{
    char line[256];
    int number = 0, found = 0;
    FILE *source = fopen(C2_SOURCE_DIR "/tests/unit/loader_guest_inline.c", "r");
    assert_non_null(source);
    while (fgets(line, sizeof line, source)) {
        number++;
        if (strstr(line, text)) {
            assert_int_equal(found, 0);
            found = number;
        }
    }
    fclose(source);
    assert_true(found > 0);
    return found;
}

static void check_caller(const struct loader_frame *frame, const char *function, int one, int other)
{
    assert_string_equal(frame->function, function);
    if (frame->line != one && frame->line != other)
        fail_msg("%s: line %d, neither %d nor %d", function, frame->line, one, other);
    assert_string_equal(frame->base, "loader_guest_inline.c");
    assert_true(frame->column > 0);
}

/* add() is called by middle() at two places, that by outer() at two, and that by first() at one. Whatever the
 * compiler makes of it: an instruction of add() within first() came by these, or through slow_path(). */
static void test_chains_known_by_reading(void **state)
{
    (void)state;
    struct loader_module *module = open_path(GUESTS "/inline");
    struct loader_frame f[8];
    unsigned seen = 0;
    int loop = line_with("sum += add(i, a)"), macro = line_with("sum + TWICE(a)");
    int both = line_with("middle(a) + middle(a + 1)"), once = line_with("return middle(a);");
    int outer = line_with("return outer(n);"), own = line_with("return a + b * table");
    for (uint64_t address = module->elf.low; address < module->elf.high; address++) {
        size_t count = loader_module_frames(symbols, module, address, f, 8);
        if (count != 4 || strcmp(f[3].function, "first") != 0)
            continue;
        assert_string_equal(f[0].function, "add");
        check_caller(&f[1], "middle", loop, macro);
        check_caller(&f[2], "outer", both, once);
        check_caller(&f[3], "first", outer, outer);
        seen += f[0].line == own; /* compilers put the end of a loop here as well, with the loop's line */
    }
    assert_true(seen > 10);
    loader_module_close(module);
}

/* Of a longer chain the first frames are filled, and all are counted. */
static void test_little_room(void **state)
{
    (void)state;
    struct loader_module *module = open_path(GUESTS "/inline");
    struct loader_frame all[8], few[3];
    unsigned seen = 0;
    for (uint64_t address = module->elf.low; address < module->elf.high; address++) {
        size_t count = loader_module_frames(symbols, module, address, all, 8);
        few[2].line = -1;
        assert_int_equal(loader_module_frames(symbols, module, address, few, 2), count);
        assert_memory_equal(few, all, 2 * sizeof *few);
        assert_int_equal(few[2].line, -1);
        seen += count > 2;
    }
    assert_true(seen > 100);
    loader_module_close(module);
}

/* ------------------------------------------------------------------ damaged files, no memory */

static size_t read_guest(const char *path, unsigned char **bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    *bytes = c2_alloc((size_t)st.st_size);
    assert_int_equal(pread(fd, *bytes, (size_t)st.st_size, 0), st.st_size);
    close(fd);
    return (size_t)st.st_size;
}

static void ask_everywhere(const char *path, unsigned step)
{
    struct loader_module *module = open_path(path);
    struct loader_frame frames[4];
    if (module->is_elf)
        for (uint64_t address = 0x1000; address < 0x2000; address += step)
            assert_true(loader_module_frames(symbols, module, address, frames, 4) > 0);
    loader_units_check(module);
    loader_module_close(module);
}

/* Cut at every byte of the headers at both ends, and at every 211th between. */
static void test_cut_files(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-cut-XXXXXX";
    unsigned char *bytes;
    size_t count = read_guest(GUESTS "/cxx", &bytes);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, bytes, count), count);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    size_t head = header->e_phoff + (size_t)header->e_phnum * sizeof(Elf64_Phdr), tail = header->e_shoff;
    for (size_t cut = count; cut-- > 0;) {
        if (cut > head && cut < tail && cut % 211 != 0)
            continue;
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        ask_everywhere(path, 61);
    }
    close(fd);
    unlink(path);
    c2_free(bytes);
}

static void test_damaged_files(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-damaged-XXXXXX";
    unsigned char *good;
    size_t count = read_guest(GUESTS "/inline", &good), low = 0x3000; /* what is not loaded lies behind */
    int fd = mkstemp(path);
    struct c2_rng rng;
    assert_int_equal(write(fd, good, count), count);
    c2_rng_init(&rng, 9, "damaged frames");
    for (int round = 0; round < 1000; round++) {
        size_t at = low + (size_t)c2_rng_below(&rng, count - low - 8), width = (size_t)1 << c2_rng_below(&rng, 4);
        uint64_t value = round % 3 ? c2_rng_next(&rng) : 0;
        assert_int_equal(pwrite(fd, &value, width, (off_t)at), width);
        ask_everywhere(path, 23);
        assert_int_equal(pwrite(fd, good + at, width, (off_t)at), width);
    }
    close(fd);
    unlink(path);
    c2_free(good);
}

/* Without memory a frame is unknown or part of it is, never wrong; with memory again the same module knows all. */
static void test_no_memory(void **state)
{
    (void)state;
    struct loader_module *asked = open_path(GUESTS "/inline");
    struct loader_frame good[8], frames[8];
    uint64_t address = asked->elf.low;
    while (loader_module_frames(symbols, asked, address, good, 8) != 4)
        address++;
    bool complete = false;
    for (uint64_t n = 1; !complete; n++) {
        struct loader_symbols *own;
        assert_int_equal(loader_symbols_create(&own, NULL, NULL), C2_OK);
        struct loader_module *module = open_path(GUESTS "/inline");
        c2_alloc_fail_from(n);
        size_t count = loader_module_frames(own, module, address, frames, 8);
        c2_alloc_fail_from(0);
        complete = count == 4;
        for (size_t i = 0; i < count; i++) {
            assert_true(!frames[i].function || strcmp(frames[i].function, good[i].function) == 0);
            assert_true(!frames[i].file || frames[i].line == good[i].line);
            complete &= frames[i].function && frames[i].file;
        }
        assert_int_equal(loader_module_frames(own, module, address, frames, 8), 4);
        for (size_t i = 0; i < 4; i++)
            assert_true(frames[i].line == good[i].line && strcmp(frames[i].function, good[i].function) == 0);
        loader_module_close(module);
        loader_symbols_destroy(own);
    }
    loader_module_close(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_agree_with_addr2line),
        cmocka_unit_test(test_frames_of_the_other_compiler),
        cmocka_unit_test(test_frames_from_a_debug_file),
        cmocka_unit_test(test_the_comparison_notices_other_frames),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_discarded_functions_are_nowhere),
        cmocka_unit_test(test_chains_known_by_reading),
        cmocka_unit_test(test_little_room),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
