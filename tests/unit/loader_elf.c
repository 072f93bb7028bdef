/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The headers of ELF files: what a good one gives, what each bad one is told, and that no file at all leads
 * anywhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unit/loader_elf_build.h"

/* ------------------------------------------------------------------ good files */

static void test_good_program(void **state)
{
    (void)state;
    struct elf_build b = build_program();
    build_interpreter(&b, "/lib64/ld.so");
    struct loader_file file = build_file(&b, "app");
    struct loader_elf elf;
    struct c2_error err;
    assert_int_equal(loader_elf_read(&elf, &file, &err), C2_OK);
    assert_false(elf.relocatable);
    assert_false(elf.exec_stack);
    assert_int_equal(elf.entry, 0x401000);
    assert_true(elf.phdr_loaded);
    assert_int_equal(elf.phdr, 0x400040);
    assert_int_equal(elf.phnum, 5);
    assert_int_equal(elf.low, 0x400000);
    assert_int_equal(elf.high, 0x406000);
    assert_int_equal(elf.align, 0x1000);
    assert_string_equal(elf.interpreter, "/lib64/ld.so");
    assert_int_equal(elf.count, 3);
    assert_int_equal(elf.segments[1].address, 0x401000);
    assert_int_equal(elf.segments[1].offset, 0x1000);
    assert_int_equal(elf.segments[1].prot, MMU_READ | MMU_EXEC);
    assert_int_equal(elf.segments[2].file_bytes, 0x123);
    assert_int_equal(elf.segments[2].bytes, 0x3210);
    assert_int_equal(elf.segments[2].prot, MMU_READ | MMU_WRITE);
    assert_int_equal(loader_elf_check_entry(&elf, &file, &err), C2_OK);
    assert_int_equal(loader_elf_check_place(&elf, &file, 0, &err), C2_OK);
    loader_elf_release(&elf);
    loader_file_close(&file);
}

static void test_pie_and_executable_stack(void **state)
{
    (void)state;
    struct elf_build b = build_pie();
    b.table[BUILD_STACK].p_flags |= PF_X;
    b.table[BUILD_DATA].p_align = 0x200000;
    struct loader_file file = build_file(&b, "app");
    struct loader_elf elf;
    assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
    assert_true(elf.relocatable);
    assert_true(elf.exec_stack);
    assert_int_equal(elf.low, 0);
    assert_int_equal(elf.high, 0x6000);
    assert_int_equal(elf.align, 0x200000);
    assert_int_equal(elf.phdr, 0x40);
    assert_null(elf.interpreter);
    assert_int_equal(loader_elf_check_place(&elf, &file, MMU_PIE_BASE, NULL), C2_OK);
    loader_elf_release(&elf);
    loader_file_close(&file);
}

static void test_segments_are_sorted(void **state)
{
    (void)state;
    struct elf_build b = build_program();
    Elf64_Phdr text = b.table[BUILD_TEXT];
    b.table[BUILD_TEXT] = b.table[BUILD_DATA];
    b.table[BUILD_DATA] = b.table[BUILD_HEADERS];
    b.table[BUILD_HEADERS] = text;
    struct loader_file file = build_file(&b, "app");
    struct loader_elf elf;
    assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
    assert_int_equal(elf.segments[0].address, 0x400000);
    assert_int_equal(elf.segments[1].address, 0x401000);
    assert_int_equal(elf.segments[2].address, 0x402000);
    loader_elf_release(&elf);
    loader_file_close(&file);
}

/* PT_PHDR is believed only when a segment shows the table there; a table in no segment has no address. */
static void test_place_of_the_table(void **state)
{
    (void)state;
    struct elf_build b = build_program();
    b.table[BUILD_INTERP] = (Elf64_Phdr){.p_type = PT_PHDR, .p_vaddr = 0x4003f0};
    struct loader_file file = build_file(&b, "app");
    struct loader_elf elf;
    assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
    assert_int_equal(elf.phdr, 0x400040);
    loader_elf_release(&elf);
    loader_file_close(&file);

    b.table[BUILD_HEADERS].p_type = PT_NULL;
    file = build_file(&b, "app");
    assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
    assert_false(elf.phdr_loaded);
    loader_elf_release(&elf);
    loader_file_close(&file);
}

/* One page of the file seen by two segments: text's end in the data's first page. */
static void test_pages_shared_by_two_segments(void **state)
{
    (void)state;
    struct elf_build b = build_program();
    b.table[BUILD_DATA].p_offset = 0x1080;
    b.table[BUILD_DATA].p_vaddr = BUILD_BASE + 0x1080;
    struct loader_file file = build_file(&b, "app");
    struct loader_elf elf;
    assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
    assert_int_equal(elf.count, 3);
    loader_elf_release(&elf);
    loader_file_close(&file);
}

/* Offsets to addresses: the code segment answers for the page it shares with data, and the other way round. */
static void test_addresses_of_offsets(void **state)
{
    (void)state;
    struct elf_build b = build_program();
    b.table[BUILD_DATA].p_offset = 0x1080;
    b.table[BUILD_DATA].p_vaddr = BUILD_BASE + 0x5080;
    struct loader_file file = build_file(&b, "app");
    struct loader_elf elf;
    uint64_t address = 0;
    assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
    assert_true(loader_elf_address(&elf, 0x1010, true, &address));
    assert_int_equal(address, 0x401010);
    assert_true(loader_elf_address(&elf, 0x1010, false, &address));
    assert_int_equal(address, 0x405010);
    assert_true(loader_elf_address(&elf, 0x44, false, &address));
    assert_int_equal(address, 0x400044);
    assert_false(loader_elf_address(&elf, 0x3000, false, &address));
    loader_elf_release(&elf);
    loader_file_close(&file);
}

/* ------------------------------------------------------------------ bad files and what they are told */

typedef void spoil(struct elf_build *b);

static void spoil_class32(struct elf_build *b)
{
    b->header.e_ident[EI_CLASS] = ELFCLASS32;
    b->header.e_machine = EM_386;
}
static void spoil_x32(struct elf_build *b) { b->header.e_ident[EI_CLASS] = ELFCLASS32; }
static void spoil_class(struct elf_build *b) { b->header.e_ident[EI_CLASS] = 7; }
static void spoil_big(struct elf_build *b)
{
    b->header.e_ident[EI_DATA] = ELFDATA2MSB;
    b->header.e_machine = __builtin_bswap16(EM_PPC64);
}
static void spoil_order(struct elf_build *b) { b->header.e_ident[EI_DATA] = 0; }
static void spoil_arm(struct elf_build *b) { b->header.e_machine = EM_AARCH64; }
static void spoil_machine(struct elf_build *b) { b->header.e_machine = 4711; }
static void spoil_rel(struct elf_build *b) { b->header.e_type = ET_REL; }
static void spoil_core(struct elf_build *b) { b->header.e_type = ET_CORE; }
static void spoil_type(struct elf_build *b) { b->header.e_type = 77; }
static void spoil_phentsize(struct elf_build *b) { b->header.e_phentsize = 32; }
static void spoil_phnum_none(struct elf_build *b) { b->header.e_phnum = 0; }
static void spoil_phnum_many(struct elf_build *b) { b->header.e_phnum = 1171; }
static void spoil_phnum_escape(struct elf_build *b) { b->header.e_phnum = PN_XNUM; }
static void spoil_phoff(struct elf_build *b) { b->header.e_phoff = BUILD_BYTES - 5 * sizeof(Elf64_Phdr) + 1; }
static void spoil_phoff_huge(struct elf_build *b) { b->header.e_phoff = UINT64_MAX - 8; }
static void spoil_no_load(struct elf_build *b)
{
    for (int i = 0; i <= BUILD_DATA; i++)
        b->table[i].p_type = PT_NOTE;
}
static void spoil_filesz(struct elf_build *b) { b->table[BUILD_TEXT].p_filesz = 0x81; }
static void spoil_memsz(struct elf_build *b) { b->table[BUILD_DATA].p_memsz = UINT64_MAX - 0x10; }
static void spoil_vaddr(struct elf_build *b) { b->table[BUILD_DATA].p_vaddr = MMU_WINDOW_END - 0x1000; }
static void spoil_offset(struct elf_build *b) { b->table[BUILD_TEXT].p_offset = 0x3000; }
static void spoil_offset_huge(struct elf_build *b) { b->table[BUILD_TEXT].p_offset = ~(uint64_t)0xfff; }
static void spoil_congruence(struct elf_build *b) { b->table[BUILD_TEXT].p_offset += 8; }
static void spoil_overlap(struct elf_build *b) { b->table[BUILD_TEXT].p_vaddr = BUILD_BASE + 0x3000; }
static void spoil_shared_page(struct elf_build *b)
{
    b->table[BUILD_DATA].p_vaddr = BUILD_BASE + 0x1800;
    b->table[BUILD_DATA].p_offset = 0x1800 - 0x1000;
}
static void spoil_align(struct elf_build *b)
{
    *b = build_pie();
    b->table[BUILD_DATA].p_align = 1ull << 40;
}
static void spoil_interp_none(struct elf_build *b) { build_interpreter(b, ""); }
static void spoil_interp_text(struct elf_build *b)
{
    build_interpreter(b, "/lib64/ld.so");
    b->table[BUILD_INTERP].p_filesz--;
}
static void spoil_interp_size(struct elf_build *b)
{
    build_interpreter(b, "/lib64/ld.so");
    b->table[BUILD_INTERP].p_filesz = 4097;
}
static void spoil_interp_offset(struct elf_build *b)
{
    build_interpreter(b, "/lib64/ld.so");
    b->table[BUILD_INTERP].p_offset = BUILD_BYTES;
}

static const struct {
    spoil *how;
    enum c2_status status;
    const char *text;
} bad[] = {
    {spoil_class32, C2_ERR_UNSUPPORTED, "app: is a 32-bit ELF file (x86 (i386)); c2emu runs 64-bit x86-64 (gcc -m64)"},
    {spoil_x32, C2_ERR_UNSUPPORTED, "app: is a 32-bit ELF file (x86-64, x32 ABI); c2emu runs 64-bit x86-64 (gcc -m64)"},
    {spoil_class, C2_ERR_FORMAT, "app: ELF class 7 is neither 32-bit nor 64-bit: the file is damaged"},
    {spoil_big, C2_ERR_UNSUPPORTED, "app: is a big-endian ELF file (PowerPC64); c2emu runs x86-64"},
    {spoil_order, C2_ERR_FORMAT, "app: ELF byte order 0 is unknown: the file is damaged"},
    {spoil_arm, C2_ERR_UNSUPPORTED, "app: is a program for AArch64; c2emu runs x86-64"},
    {spoil_machine, C2_ERR_UNSUPPORTED, "app: is a program for machine number 4711; c2emu runs x86-64"},
    {spoil_rel, C2_ERR_FORMAT, "app: is an object file, not a program (link it first)"},
    {spoil_core, C2_ERR_FORMAT, "app: is a core dump, not a program"},
    {spoil_type, C2_ERR_FORMAT, "app: ELF type 77 is neither a program nor a shared object"},
    {spoil_phentsize, C2_ERR_FORMAT, "app: its program headers have 32 bytes each instead of 56"},
    {spoil_phnum_none, C2_ERR_FORMAT, "app: has no program headers: nothing to load"},
    {spoil_phnum_many, C2_ERR_FORMAT, "app: has too many program headers (1171, Linux takes at most 1170)"},
    {spoil_phnum_escape, C2_ERR_FORMAT, "app: has too many program headers (65535, Linux takes at most 1170)"},
    {spoil_phoff, C2_ERR_FORMAT,
     "app: is cut off or damaged: its program headers lie at offset 8204 (280 bytes), the file has 8483 bytes"},
    {spoil_phoff_huge, C2_ERR_FORMAT,
     "app: is cut off or damaged: its program headers lie at offset 18446744073709551607 (280 bytes), the file has "
     "8483 bytes"},
    {spoil_no_load, C2_ERR_FORMAT, "app: has no loadable segment"},
    {spoil_filesz, C2_ERR_FORMAT, "app: segment 1 is larger in the file (129 bytes) than in memory (128)"},
    {spoil_memsz, C2_ERR_FORMAT,
     "app: segment 2 (0x402000, 18446744073709551599 bytes) ends outside the guest's address space, whose end is "
     "0x400000000000"},
    {spoil_vaddr, C2_ERR_FORMAT,
     "app: segment 2 (0x3ffffffff000, 12816 bytes) ends outside the guest's address space, whose end is "
     "0x400000000000"},
    {spoil_offset, C2_ERR_FORMAT,
     "app: is cut off or damaged: segment 1 lies at offset 12288 (128 bytes), the file has 8483 bytes"},
    {spoil_offset_huge, C2_ERR_FORMAT,
     "app: is cut off or damaged: segment 1 lies at offset 18446744073709547520 (128 bytes), the file has 8483 bytes"},
    {spoil_congruence, C2_ERR_FORMAT,
     "app: segment 1 cannot be mapped: address 0x401000 and offset 0x1008 differ modulo the page size"},
    {spoil_overlap, C2_ERR_FORMAT, "app: the segments at 0x402000 and 0x403000 overlap"},
    {spoil_shared_page, C2_ERR_FORMAT, "app: the segments at 0x401000 and 0x401800 share a page that cannot hold both"},
    {spoil_align, C2_ERR_UNSUPPORTED, "app: asks for an alignment of 0x10000000000, at most 0x10000000 is modelled"},
    {spoil_interp_none, C2_ERR_FORMAT, "app: the name of its interpreter has 1 bytes: the file is damaged"},
    {spoil_interp_text, C2_ERR_FORMAT, "app: the name of its interpreter is no text: the file is damaged"},
    {spoil_interp_size, C2_ERR_FORMAT, "app: the name of its interpreter has 4097 bytes: the file is damaged"},
    {spoil_interp_offset, C2_ERR_FORMAT, "app: is cut off or damaged: the name of its interpreter lies at offset 8483"},
};

static void test_bad_files_are_told_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct elf_build b = build_program();
        bad[i].how(&b);
        struct loader_file file = build_file(&b, "app");
        struct loader_elf elf;
        struct c2_error err = {0};
        assert_int_equal(loader_elf_read(&elf, &file, &err), bad[i].status);
        assert_string_equal(err.text, bad[i].text);
        assert_int_equal(err.status, bad[i].status);
        assert_null(elf.segments);
        assert_null(elf.interpreter);
        loader_file_close(&file);
    }
}

static const struct {
    const char *bytes;
    size_t count;
    const char *text;
} strangers[] = {
    {"", 0, "app: is an empty file"},
    {"M", 1,
     "app: is neither an ELF program nor a script with a #! line (a shell script: add #!/bin/sh as its first line)"},
    {"echo hello\n", 11,
     "app: is neither an ELF program nor a script with a #! line (a shell script: add #!/bin/sh as its first line)"},
    {"MZ\x90", 3, "app: is a Windows program, not a Linux ELF program"},
    {"!<arch>\nx", 9, "app: is a static library, not a Linux ELF program"},
    {"\x1f\x8b\x08", 3, "app: is a gzip archive, not a Linux ELF program"},
    {"\0asm\1", 5, "app: is a WebAssembly module, not a Linux ELF program"},
    {"\x7f"
     "ELF",
     4, "app: is cut off: 4 of the 64 bytes of the ELF header are there"},
};

static void test_files_that_are_no_elf(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        struct loader_file file = build_file_of(strangers[i].bytes, strangers[i].count, "app");
        struct loader_elf elf;
        struct c2_error err = {0};
        assert_int_equal(loader_elf_read(&elf, &file, &err), C2_ERR_FORMAT);
        assert_string_equal(err.text, strangers[i].text);
        loader_file_close(&file);
    }
}

static void check_place(uint64_t base, const char *text)
{
    struct elf_build b = build_program();
    for (int i = 0; i <= BUILD_DATA; i++)
        b.table[i].p_vaddr += base - BUILD_BASE;
    struct loader_file file = build_file(&b, "app");
    struct loader_elf elf;
    struct c2_error err = {0};
    assert_int_equal(loader_elf_read(&elf, &file, &err), C2_OK);
    assert_int_equal(loader_elf_check_place(&elf, &file, 0, &err), text ? C2_ERR_UNSUPPORTED : C2_OK);
    if (text)
        assert_string_equal(err.text, text);
    loader_elf_release(&elf);
    loader_file_close(&file);
}

static void test_places_that_are_taken(void **state)
{
    (void)state;
    check_place(MMU_WINDOW_START, NULL);
    check_place(MMU_WINDOW_START - 0x1000,
                "app: a segment at 0xf000-0x10000 overlaps the lowest addresses, which are never mapped (0x0-0x10000): "
                "relink the program at its default address or as PIE");
    check_place(MMU_TABLES_BASE - 0x6000, NULL);
    check_place(MMU_TABLES_BASE - 0x5000,
                "app: a segment at 0x7fffffd000-0x8000001000 overlaps c2emu's page tables (0x8000000000-0x9000000000): "
                "relink the program at its default address or as PIE");
    check_place(MMU_TABLES_END, NULL);
    check_place(LOADER_STACK_LOW - 0x6000, NULL);
}

static void test_entry_outside_code(void **state)
{
    (void)state;
    const uint64_t entries[] = {0, 0x400000, 0x401080, 0x402000, UINT64_MAX};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct elf_build b = build_program();
        b.header.e_entry = entries[i];
        struct loader_file file = build_file(&b, "app");
        struct loader_elf elf;
        struct c2_error err;
        char expected[128];
        snprintf(expected, sizeof expected, "app: its entry point 0x%llx lies in no executable segment",
                 (unsigned long long)entries[i]);
        assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
        assert_int_equal(loader_elf_check_entry(&elf, &file, &err), C2_ERR_FORMAT);
        assert_string_equal(err.text, expected);
        loader_elf_release(&elf);
        loader_file_close(&file);
    }
}

/* ------------------------------------------------------------------ any file at all */

/* What loader_elf_read promises of a description that it returns. */
static void check_promises(const struct loader_elf *elf, uint64_t file_bytes)
{
    assert_true(elf->count >= 1 && elf->count <= elf->phnum);
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        assert_true(s->bytes > 0 && s->file_bytes <= s->bytes);
        assert_true(s->address <= MMU_WINDOW_END && s->bytes <= MMU_WINDOW_END - s->address);
        assert_true(s->offset <= file_bytes && s->file_bytes <= file_bytes - s->offset);
        assert_true(s->file_bytes == 0 || (s->address - s->offset) % 4096 == 0);
        assert_true(i == 0 || s[-1].address + s[-1].bytes <= s->address);
        assert_true(elf->low <= s->address && s->address + s->bytes <= elf->high);
    }
    assert_true(elf->low % 4096 == 0 && elf->high % 4096 == 0 && c2_is_power_of_two(elf->align));
}

/* Reads the file; returns whether it was accepted. */
static bool try_file(const struct loader_file *file)
{
    struct loader_elf elf;
    struct c2_error err = {0};
    enum c2_status status = loader_elf_read(&elf, file, &err);
    if (status != C2_OK) {
        assert_true(status == C2_ERR_FORMAT || status == C2_ERR_UNSUPPORTED);
        assert_true(strncmp(err.text, "app: ", 5) == 0);
        return false;
    }
    check_promises(&elf, file->bytes);
    (void)loader_elf_check_entry(&elf, file, NULL);
    (void)loader_elf_check_place(&elf, file, elf.relocatable ? MMU_PIE_BASE : 0, NULL);
    loader_elf_release(&elf);
    return true;
}

/* The three kinds of program, as bytes. */
#define KINDS 3
static void kind_bytes(int kind, unsigned char bytes[BUILD_BYTES])
{
    struct elf_build b = kind == 1 ? build_pie() : build_program();
    if (kind == 2)
        build_interpreter(&b, "/lib64/ld-linux-x86-64.so.2");
    build_bytes(&b, bytes);
}

#define HEADER_BYTES (BUILD_INTERP_OFFSET + 0x20u)

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    unsigned char bytes[BUILD_BYTES];
    for (int kind = 0; kind < KINDS; kind++) {
        kind_bytes(kind, bytes);
        struct loader_file file = build_file_of(bytes, sizeof bytes, "app");
        assert_true(try_file(&file));
        for (uint64_t cut = BUILD_BYTES; cut-- > 0;) {
            if (cut > HEADER_BYTES && cut % 61 != 0 && cut < BUILD_BYTES - 2)
                continue;
            assert_int_equal(ftruncate(file.fd, (off_t)cut), 0);
            file.bytes = cut;
            assert_false(try_file(&file));
        }
        loader_file_close(&file);
    }
}

/* A file that is cut after its size was taken: a read error, not a short read. */
static void test_cut_while_reading(void **state)
{
    (void)state;
    unsigned char bytes[BUILD_BYTES];
    kind_bytes(0, bytes);
    struct loader_file file = build_file_of(bytes, sizeof bytes, "app");
    struct loader_elf elf;
    struct c2_error err;
    assert_int_equal(ftruncate(file.fd, 100), 0);
    assert_int_equal(loader_elf_read(&elf, &file, &err), C2_ERR_IO);
    assert_string_equal(err.text, "app: cannot be read at offset 100: the file has become shorter");
    loader_file_close(&file);
}

static void test_every_header_byte_changed(void **state)
{
    (void)state;
    unsigned char bytes[BUILD_BYTES];
    unsigned accepted = 0, refused = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        kind_bytes(kind, bytes);
        struct loader_file file = build_file_of(bytes, sizeof bytes, "app");
        for (unsigned at = 0; at < HEADER_BYTES; at++) {
            for (int change = 0; change < 11; change++) {
                unsigned char value = change < 8 ? bytes[at] ^ (unsigned char)(1u << change)
                                                 : (const unsigned char[]){0, 0x7f, 0xff}[change - 8];
                assert_int_equal(pwrite(file.fd, &value, 1, at), 1);
                *(try_file(&file) ? &accepted : &refused) += 1;
            }
            assert_int_equal(pwrite(file.fd, &bytes[at], 1, at), 1);
        }
        loader_file_close(&file);
    }
    assert_int_equal(accepted + refused, KINDS * HEADER_BYTES * 11);
    assert_true(accepted > 1000 && refused > 1000); /* both ways are walked */
}

/* Several numbers wrong at once, each one near a limit or anywhere. */
static void test_hostile_numbers(void **state)
{
    (void)state;
    static const uint64_t limits[] = {0,
                                      1,
                                      0xfff,
                                      0x1000,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      MMU_WINDOW_END,
                                      MMU_WINDOW_END - 1,
                                      1ull << 63,
                                      (1ull << 63) - 1,
                                      UINT64_MAX,
                                      UINT64_MAX - 0xfff,
                                      BUILD_BYTES,
                                      BUILD_BASE};
    unsigned char good[BUILD_BYTES], bytes[BUILD_BYTES];
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "hostile elf");
    kind_bytes(2, good);
    struct loader_file file = build_file_of(good, sizeof good, "app");
    for (int round = 0; round < 20000; round++) {
        memcpy(bytes, good, sizeof bytes);
        for (uint64_t n = 1 + c2_rng_below(&rng, 3); n > 0; n--) {
            uint64_t value = limits[c2_rng_below(&rng, sizeof limits / sizeof *limits)];
            size_t width = (size_t)1 << c2_rng_below(&rng, 4);
            size_t at = 24 + width * (size_t)c2_rng_below(&rng, (64 + 5 * 56 - 24) / width);
            value += c2_rng_below(&rng, 3) - 1;
            memcpy(bytes + at, &value, width);
        }
        assert_int_equal(pwrite(file.fd, bytes, 0x200, 0), 0x200);
        (void)try_file(&file);
    }
    loader_file_close(&file);
}

static void test_no_memory(void **state)
{
    (void)state;
    unsigned char bytes[BUILD_BYTES];
    kind_bytes(2, bytes);
    struct loader_file file = build_file_of(bytes, sizeof bytes, "app");
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    while (status != C2_OK) {
        struct loader_elf elf;
        struct c2_error err = {0};
        c2_alloc_fail_from(++n);
        status = loader_elf_read(&elf, &file, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        if (status == C2_OK)
            loader_elf_release(&elf);
        else
            assert_null(elf.segments);
    }
    assert_int_equal(n, 5); /* raw and translated table, segments, interpreter: the fifth never comes */
    loader_file_close(&file);
}

/* ------------------------------------------------------------------ what it needs of the processor */

#define NOTE_AT 0x2000u
#define PROPERTIES_NEEDED 0xc0008002u

static uint32_t needed(const uint32_t *words, size_t bytes)
{
    struct elf_build b = build_program();
    unsigned char file_bytes[BUILD_BYTES];
    struct loader_elf elf;
    b.table[BUILD_INTERP] = (Elf64_Phdr){
        .p_type = PT_GNU_PROPERTY, .p_flags = PF_R, .p_offset = NOTE_AT, .p_filesz = bytes, .p_align = 8};
    build_bytes(&b, file_bytes);
    memcpy(file_bytes + NOTE_AT, words, bytes);
    struct loader_file file = build_file_of(file_bytes, sizeof file_bytes, "app");
    assert_int_equal(loader_elf_read(&elf, &file, NULL), C2_OK);
    const uint32_t bits = elf.isa_needed;
    loader_elf_release(&elf);
    loader_file_close(&file);
    return bits;
}

#define NAME 0x00554e47u /* "GNU" */
static void test_processor_that_is_needed(void **state)
{
    (void)state;
    /* what is used besides (ISA_1_USED), then what is needed */
    const uint32_t good[] = {4, 32, 5, NAME, 0xc0010002, 4, 9, 0, PROPERTIES_NEEDED, 4, 5, 0};
    assert_int_equal(needed(good, sizeof good), 5);
    for (size_t bytes = 0; bytes < sizeof good; bytes++)
        assert_int_equal(needed(good, bytes), 0);
    const uint32_t odd[][12] = {
        {4, 32, 1, NAME, 0xc0010002, 4, 9, 0, PROPERTIES_NEEDED, 4, 5, 0},          /* another note */
        {4, 32, 5, NAME + 1, 0xc0010002, 4, 9, 0, PROPERTIES_NEEDED, 4, 5, 0},      /* another name */
        {8, 32, 5, NAME, 0xc0010002, 4, 9, 0, PROPERTIES_NEEDED, 4, 5, 0},          /* a longer one */
        {4, 32, 5, NAME, 0xc0010002, 0xfffffff8, 9, 0, PROPERTIES_NEEDED, 4, 5, 0}, /* a value beyond the note */
        {4, 32, 5, NAME, 0xc0010002, 0xffffffff, 9, 0, PROPERTIES_NEEDED, 4, 5, 0},
        {4, 32, 5, NAME, 0xc0010002, 4, 9, 0, PROPERTIES_NEEDED, 8, 5, 0}, /* none of 4 bytes */
        {4, 16, 5, NAME, 0xc0010002, 4, 9, 0, PROPERTIES_NEEDED, 4, 5, 0}, /* behind the end */
        {4, 0xfffffff0, 5, NAME, 0xc0010002, 4, 9, 0, PROPERTIES_NEEDED, 4, 5, 0},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_int_equal(needed(odd[i], sizeof odd[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_program),
        cmocka_unit_test(test_pie_and_executable_stack),
        cmocka_unit_test(test_segments_are_sorted),
        cmocka_unit_test(test_place_of_the_table),
        cmocka_unit_test(test_pages_shared_by_two_segments),
        cmocka_unit_test(test_addresses_of_offsets),
        cmocka_unit_test(test_bad_files_are_told_why),
        cmocka_unit_test(test_files_that_are_no_elf),
        cmocka_unit_test(test_places_that_are_taken),
        cmocka_unit_test(test_entry_outside_code),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_cut_while_reading),
        cmocka_unit_test(test_every_header_byte_changed),
        cmocka_unit_test(test_hostile_numbers),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_processor_that_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
