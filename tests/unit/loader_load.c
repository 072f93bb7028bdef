/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Programs in guest memory: every byte and every right of every segment against the file itself, the stack, the
 * pages touched and their order, and names of addresses that are mapped. Needs the window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/personality.h>
#include <sys/wait.h>

#include "unit/loader_elf_build.h"
#include "unit/mmu_touches.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct mmu *new_mmu(void)
{
    const struct mmu_guest_config config = {.guest_bytes = 4096 * C2_PAGE_BYTES};
    struct mmu *mmu;
    struct c2_error err = {0};
    if (mmu_create(&mmu, &config, &err) != C2_OK)
        fail_msg("%s", err.text);
    return mmu;
}

static struct loader_request request_of(const char *program)
{
    static const char *const argv[] = {"app", "one", NULL}, *const envp[] = {"A=1", NULL};
    return (struct loader_request){.program = program, .argv = argv, .envp = envp, .seed = 1};
}

static struct loader_image load(struct mmu *mmu, const char *program)
{
    struct loader_image image;
    struct c2_error err = {0};
    const struct loader_request request = request_of(program);
    if (loader_load(&image, mmu, &request, &err) != C2_OK)
        fail_msg("%s: %s", program, err.text);
    return image;
}

/* The loader gives paths without links; the directory of the build may have some. */
static void check_path(const char *got, const char *expected)
{
    char *real = realpath(expected, NULL);
    assert_non_null(real);
    assert_string_equal(got, real);
    free(real);
}

/* ------------------------------------------------------------------ segments against the file */

/* The whole file, read here and not by the loader. */
static unsigned char *slurp(const char *path, size_t *bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    unsigned char *all = c2_alloc((size_t)st.st_size);
    *bytes = (size_t)st.st_size;
    assert_int_equal(read(fd, all, *bytes), st.st_size);
    close(fd);
    return all;
}

static bool all_zero(const unsigned char *at, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (at[i])
            return false;
    return true;
}

/* Returns how many pages the loader had to touch for it. */
static unsigned check_segment(const struct mmu *mmu, const unsigned char *file, const Elf64_Phdr *p, uint64_t bias)
{
    uint64_t address = p->p_vaddr + bias;
    const unsigned char *memory = (const unsigned char *)(uintptr_t)address;
    unsigned prot = (p->p_flags & PF_R ? MMU_READ : 0u) | (p->p_flags & PF_W ? MMU_WRITE : 0u) |
                    (p->p_flags & PF_X ? MMU_EXEC : 0u);
    assert_true(mmu_allows(mmu, (struct guest_va){address}, p->p_memsz, prot));
    assert_false(mmu_allows(mmu, (struct guest_va){address}, 1, 7));
    assert_memory_equal(memory, file + p->p_offset, p->p_filesz);
    assert_true(all_zero(memory + p->p_filesz, p->p_memsz - p->p_filesz));
    if (p->p_memsz == p->p_filesz || (address + p->p_filesz) % 4096 == 0)
        return 0;
    /* cleared to the end of its page, even where bss ends earlier */
    assert_true(all_zero(memory + p->p_filesz, 4096 - (address + p->p_filesz) % 4096));
    return 1;
}

static unsigned check_image(const struct mmu *mmu, const char *path, uint64_t bias)
{
    size_t bytes;
    unsigned char *file = slurp(path, &bytes);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    const Elf64_Phdr *table = (const Elf64_Phdr *)(file + header->e_phoff);
    unsigned touched = 0, segments = 0;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (table[i].p_type == PT_LOAD) {
            touched += check_segment(mmu, file, &table[i], bias);
            segments++;
        }
    assert_true(segments >= 2);
    c2_free(file);
    return touched;
}

static uint64_t auxv_of(const struct loader_image *image, uint64_t type)
{
    const uint64_t *word = (const uint64_t *)(uintptr_t)image->stack;
    word += 1 + word[0] + 1;
    while (*word++)
        ;
    for (; word[0] != AT_NULL; word += 2)
        if (word[0] == type)
            return word[1];
    fail_msg("no auxv entry %llu", (unsigned long long)type);
    return 0;
}

static void check_stack(const struct mmu *mmu, const struct loader_image *image)
{
    const uint64_t *word = (const uint64_t *)(uintptr_t)image->stack;
    assert_int_equal(image->stack, MMU_STACK_TOP - LOADER_ARGUMENTS_BYTES);
    assert_int_equal(word[0], 2);
    assert_string_equal((const char *)(uintptr_t)word[1], "app");
    assert_string_equal((const char *)(uintptr_t)word[2], "one");
    assert_int_equal(word[3], 0);
    assert_string_equal((const char *)(uintptr_t)word[4], "A=1");
    assert_int_equal(word[5], 0);
    assert_int_equal(auxv_of(image, AT_ENTRY), image->program_entry);
    assert_int_equal(auxv_of(image, AT_BASE), image->interpreter_base);
    assert_int_equal(auxv_of(image, AT_PHDR), image->phdr);
    assert_int_equal(auxv_of(image, AT_PHNUM), image->phnum);
    const struct mmu_area *area = mmu_area_at(mmu_areas(mmu), (struct guest_va){image->stack}, false);
    assert_non_null(area);
    assert_int_equal(area->kind, MMU_STACK);
    assert_int_equal(area->start.v, image->stack - MMU_STACK_BYTES);
    assert_int_equal(area->start.v + area->bytes, MMU_STACK_TOP);
}

/* A guest of the build, its bias, and whether an interpreter comes with it. */
static void check_load(const char *path, uint64_t bias, bool interpreted)
{
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    Elf64_Ehdr header;
    size_t bytes;
    unsigned char *file = slurp(path, &bytes);
    memcpy(&header, file, sizeof header);
    c2_free(file);

    assert_int_equal(image.program_base, bias);
    assert_int_equal(image.program_entry, header.e_entry + bias);
    assert_int_equal(image.phnum, header.e_phnum);
    assert_memory_equal((const void *)(uintptr_t)(image.phdr - header.e_phoff), &header, sizeof header);
    check_path(image.path, path);
    unsigned touched = check_image(mmu, path, bias);
    if (interpreted) {
        assert_int_equal(image.interpreter_base, MMU_LOW_BASE);
        const struct mmu_area *area = mmu_area_at(mmu_areas(mmu), (struct guest_va){image.entry}, false);
        assert_non_null(area);
        assert_true(image.entry > MMU_LOW_BASE && (area->prot & MMU_EXEC));
        touched += check_image(mmu, area->path, MMU_LOW_BASE);
    } else {
        assert_int_equal(image.interpreter_base, 0);
        assert_int_equal(image.entry, image.program_entry);
    }
    check_stack(mmu, &image);
    assert_int_equal(mmu_usage(mmu).faults, touched + 2); /* one page of strings, one of vectors */
    mmu_check(mmu);
    loader_image_release(&image);
    mmu_destroy(mmu);
}

static void test_every_form_of_program(void **state)
{
    (void)state;
    check_load(GUESTS "/static", 0, false);
    check_load(GUESTS "/stripped", 0, false);
    check_load(GUESTS "/static_pie", MMU_PIE_BASE, false);
    check_load(GUESTS "/dynamic", MMU_PIE_BASE, true);
    check_load(GUESTS "/no_pie", 0, true);
    check_load(GUESTS "/assembly", 0, false);
    check_load(GUESTS "/bare", 0, false);
}

/* As Linux has it when it moves nothing: the break is behind the bss. */
static void test_the_heap_lies_behind_the_program_if_wanted(void **state)
{
    (void)state;
    static const char *const programs[] = {GUESTS "/static", GUESTS "/dynamic"};
    for (size_t i = 0; i < 2; i++) {
        struct mmu *mmu = new_mmu();
        struct loader_image image;
        struct loader_request request = request_of(programs[i]);
        request.personality = ADDR_NO_RANDOMIZE;
        assert_int_equal(loader_load(&image, mmu, &request, NULL), C2_OK);
        const uint64_t heap = mmu_brk(mmu, 0);
        const struct mmu_area *last = mmu_area_at(mmu_areas(mmu), (struct guest_va){heap - 1}, false);
        assert_non_null(last);
        assert_int_equal(last->start.v + last->bytes, heap);
        assert_int_equal(last->prot, MMU_READ | MMU_WRITE);
        assert_true(heap > image.program_entry && heap < MMU_LOW_BASE);
        assert_int_equal(mmu_brk(mmu, heap + 1), heap + 1);
        loader_image_release(&image);
        mmu_destroy(mmu);
    }
}

static void check_stack_rights(const char *path, unsigned prot)
{
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    assert_int_equal(mmu_area_at(mmu_areas(mmu), (struct guest_va){image.stack}, false)->prot, prot);
    loader_image_release(&image);
    mmu_destroy(mmu);
}

static void test_rights_of_the_stack(void **state)
{
    (void)state;
    check_stack_rights(GUESTS "/no_lines", MMU_READ | MMU_WRITE);
    check_stack_rights(GUESTS "/exec_stack", MMU_READ | MMU_WRITE | MMU_EXEC);
}

/* End of data, then strings, then vectors. */
static void test_order_of_first_touches(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-order-XXXXXX";
    struct elf_build b = build_program();
    close(mkstemp(path));
    build_save(&b, path);
    struct mmu *mmu = new_mmu();
    static struct touches touches;
    touches_open(&touches, mmu);
    struct loader_image image = load(mmu, path);
    assert_int_equal(touches_at(&touches, BUILD_BASE + 0x2000), 0);
    assert_int_equal(touches_at(&touches, LOADER_STACK_STRINGS), 1);
    assert_int_equal(touches_at(&touches, image.stack), 2);
    assert_int_equal(touches.count, 3);
    touches_close(&touches, mmu);
    assert_null(mmu_area_at(mmu_areas(mmu), (struct guest_va){BUILD_BASE + 0x6000}, false));
    loader_image_release(&image);
    mmu_destroy(mmu);
    unlink(path);
}

static void test_stack_does_not_follow_the_environment(void **state)
{
    (void)state;
    const char *const few[] = {NULL}, *const many[] = {"A=1", "B=22222222222222222222222222222222222", NULL};
    uint64_t rsp[2], random[2][2];
    for (int i = 0; i < 2; i++) {
        struct mmu *mmu = new_mmu();
        struct loader_image image;
        struct loader_request request = request_of(GUESTS "/bare");
        request.argv = WORDS("app");
        request.envp = i ? many : few;
        assert_int_equal(loader_load(&image, mmu, &request, NULL), C2_OK);
        rsp[i] = image.stack;
        memcpy(random[i], (const void *)(uintptr_t)auxv_of(&image, AT_RANDOM), 16);
        loader_image_release(&image);
        mmu_destroy(mmu);
    }
    assert_int_equal(rsp[0], rsp[1]);
    assert_memory_equal(random[0], random[1], 16);
}

/* A bss behind read-only data: its page is cleared, and is read-only for the guest afterwards. */
static void test_bss_of_a_read_only_segment(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-rodata-XXXXXX";
    struct elf_build b = build_program();
    b.table[BUILD_DATA].p_flags = PF_R;
    b.table[BUILD_DATA].p_memsz = 0x200;
    close(mkstemp(path));
    build_save(&b, path);
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    struct guest_va end = {BUILD_BASE + 0x2123};
    assert_true(mmu_allows(mmu, end, 0x80, MMU_READ));
    assert_false(mmu_allows(mmu, end, 0x80, MMU_WRITE));
    assert_true(all_zero((const unsigned char *)(uintptr_t)end.v, 4096 - 0x123));
    assert_int_equal(*(const unsigned char *)(uintptr_t)(end.v - 1), 0xda);
    loader_image_release(&image);
    mmu_destroy(mmu);
    unlink(path);
}

/* A position independent program that wants 2 MiB pages, linked at 0x401000: its bias keeps the alignment. */
static void test_alignment_is_kept(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-align-XXXXXX", outer[] = "/tmp/c2emu-outer-XXXXXX";
    struct elf_build b = build_program();
    b.header.e_type = ET_DYN;
    b.table[BUILD_TEXT].p_align = 0x200000;
    close(mkstemp(path));
    build_save(&b, path);
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    assert_int_equal(image.program_base, MMU_PIE_BASE - 0x400000);
    assert_int_equal(image.entry, MMU_PIE_BASE + 0x1000);
    loader_image_release(&image);
    mmu_destroy(mmu);

    /* the same as an interpreter, where the first page of the zone is taken */
    struct elf_build program = build_program();
    build_interpreter(&program, path);
    close(mkstemp(outer));
    build_save(&program, outer);
    mmu = new_mmu();
    const struct mmu_request taken = {
        .address = MMU_LOW_BASE, .bytes = 4096, .prot = MMU_READ, .fixed = true, .host_fd = -1};
    assert_int_equal(mmu_map(mmu, &taken), MMU_LOW_BASE);
    image = load(mmu, outer);
    assert_int_equal(image.interpreter_base, MMU_LOW_BASE + 0x200000 - 0x400000);
    assert_int_equal(image.entry, MMU_LOW_BASE + 0x200000 + 0x1000);
    assert_int_equal(image.program_entry, BUILD_BASE + 0x1000);
    loader_image_release(&image);
    mmu_destroy(mmu);
    unlink(path);
    unlink(outer);
}

static void test_script(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-script-XXXXXX";
    close(mkstemp(path));
    const char text[] = "#!" GUESTS "/bare -x y\n";
    build_write(path, text, sizeof text - 1, 0755);
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    const uint64_t *word = (const uint64_t *)(uintptr_t)image.stack;
    check_path(image.path, GUESTS "/bare");
    assert_int_equal(word[0], 4);
    assert_string_equal((const char *)(uintptr_t)word[1], GUESTS "/bare");
    assert_string_equal((const char *)(uintptr_t)word[2], "-x y");
    assert_string_equal((const char *)(uintptr_t)word[3], path);
    assert_string_equal((const char *)(uintptr_t)word[4], "one");
    assert_string_equal((const char *)(uintptr_t)auxv_of(&image, AT_EXECFN), path);
    loader_image_release(&image);
    mmu_destroy(mmu);
    unlink(path);
}

/* ------------------------------------------------------------------ the host as judge */

/* In a child: gives the areas the host's rights and starts the image on the host's CPU, as a kernel would. */
static void start_on_host(const char *program, int output)
{
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, program);
    const struct mmu_area *area = mmu_area_at(mmu_areas(mmu), (struct guest_va){0}, true);
    for (; area; area = mmu_area_at(mmu_areas(mmu), (struct guest_va){area->start.v + area->bytes}, true))
        if (mprotect((void *)(uintptr_t)area->start.v, area->bytes, (int)area->prot) != 0)
            _exit(99);
    dup2(output, 1);
    __asm__ volatile("mov %0, %%rsp\n\txor %%edx, %%edx\n\txor %%ebp, %%ebp\n\tjmp *%1"
                     :
                     : "c"(image.stack), "a"(image.entry)
                     : "memory");
    __builtin_unreachable();
}

static void check_runs(const char *program)
{
    int ends[2], status;
    char loaded[128] = "", native[128] = "";
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        start_on_host(program, ends[1]);
    close(ends[1]);
    assert_true(read(ends[0], loaded, sizeof loaded - 1) >= 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    char command[512];
    snprintf(command, sizeof command, "'%s' one", program); /* argc is part of what it prints */
    FILE *from = popen(command, "r");
    native[fread(native, 1, sizeof native - 1, from)] = '\0';
    assert_int_equal(pclose(from), 0);
    assert_string_equal(loaded, native);
}

/* Start-up code of libc walks the vectors, the program headers and the relocations: it finds what is wrong. */
static void test_images_run_on_the_host(void **state)
{
    (void)state;
    check_runs(GUESTS "/static");
    check_runs(GUESTS "/static_pie");
    check_runs(GUESTS "/dynamic");
    check_runs(GUESTS "/no_pie");
    check_runs(GUESTS "/stripped");
    check_runs(GUESTS "/exec_stack");
    check_runs(GUESTS "/assembly");
    check_runs(GUESTS "/bare");
}

/* ------------------------------------------------------------------ what cannot be loaded */

/* On a machine that has memory for so many touches. */
static void check_failure(const char *program, uint64_t pages, enum c2_status status, const char *text)
{
    static struct touches touches;
    struct mmu *mmu = new_mmu();
    touches_open(&touches, mmu);
    touches.limit = pages;
    struct loader_image image;
    const struct loader_request request = request_of(program);
    struct c2_error err = {0};
    assert_int_equal(loader_load(&image, mmu, &request, &err), status);
    if (text)
        assert_string_equal(err.text, text);
    assert_null(image.path);
    touches_close(&touches, mmu);
    mmu_destroy(mmu);
}

static void test_failures(void **state)
{
    (void)state;
    char directory[] = "/tmp/c2emu-load-XXXXXX";
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    struct elf_build b = build_program(), interpreter = build_pie();

    check_failure("./nothing", 64, C2_ERR_NOT_FOUND, "./nothing: No such file or directory");
    check_failure(GUESTS "/shared", 64, C2_ERR_FORMAT, NULL);
    build_interpreter(&b, "./ld.so");
    build_save(&b, "app");
    check_failure("./app", 64, C2_ERR_FORMAT, "./app: bad interpreter: ./ld.so does not exist");
    interpreter.header.e_machine = EM_RISCV;
    build_save(&interpreter, "ld.so");
    check_failure("./app", 64, C2_ERR_UNSUPPORTED,
                  "./ld.so (the interpreter of ./app): is a program for RISC-V; c2emu runs x86-64");
    build_write("ld.so", "", 0, 0755);
    check_failure("./app", 64, C2_ERR_FORMAT, "./ld.so (the interpreter of ./app): is an empty file");

    interpreter = build_program(); /* linked where the program is */
    build_save(&interpreter, "ld.so");
    char expected[256];
    snprintf(expected, sizeof expected,
             "./ld.so (the interpreter of ./app): its segment at 0x400000 overlaps %s/app, mapped at 0x400000",
             directory);
    check_failure("./app", 64, C2_ERR_UNSUPPORTED, expected);

    b = build_program();
    for (int i = 0; i <= BUILD_DATA; i++)
        b.table[i].p_vaddr += LOADER_STACK_LOW - BUILD_BASE;
    b.header.e_entry += LOADER_STACK_LOW - BUILD_BASE;
    build_save(&b, "app");
    snprintf(expected, sizeof expected,
             "./app: a segment at 0x%llx-0x%llx overlaps the stack (0x%llx-0x%llx): relink the program at its default "
             "address or as PIE",
             LOADER_STACK_LOW, LOADER_STACK_LOW + 0x1000, LOADER_STACK_LOW, MMU_STACK_TOP);
    check_failure("./app", 64, C2_ERR_UNSUPPORTED, expected);
    check_failure(GUESTS "/static", 2, C2_ERR_EXHAUSTED, NULL);

    assert_int_equal(chdir("/"), 0);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

/* The mmu is made with memory, the load without. */
static void test_no_memory(void **state)
{
    (void)state;
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct mmu *mmu = new_mmu();
        struct loader_image image;
        const struct loader_request request = request_of(GUESTS "/dynamic");
        c2_alloc_fail_from(n);
        status = loader_load(&image, mmu, &request, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !image.path));
        loader_image_release(&image);
        mmu_destroy(mmu);
    }
}

/* ------------------------------------------------------------------ names of mapped addresses */

/* The linked address of a symbol, from nm. */
static uint64_t linked(const char *guest, const char *name)
{
    char command[512], line[512];
    uint64_t address = 0;
    snprintf(command, sizeof command, "nm '%s' | grep ' [tTwWbBdDrR] %s$'", guest, name);
    FILE *from = popen(command, "r");
    assert_non_null(fgets(line, sizeof line, from));
    address = strtoull(line, NULL, 16);
    pclose(from);
    return address;
}

/* The line of a linked address, from addr2line: where a function begins is the compiler's choice. */
static int line_of(const char *guest, uint64_t address)
{
    char command[512], line[512];
    snprintf(command, sizeof command, "addr2line -e '%s' 0x%llx", guest, (unsigned long long)address);
    FILE *from = popen(command, "r");
    assert_non_null(fgets(line, sizeof line, from));
    pclose(from);
    return atoi(strrchr(line, ':') + 1);
}

static void check_names(const char *path)
{
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    struct loader_symbols *symbols;
    struct loader_place place, again;
    char text[128], expected[128];
    assert_int_equal(loader_symbols_create(&symbols, mmu_areas(mmu), NULL), C2_OK);
    uint64_t hidden = linked(path, "hidden");
    struct guest_va pc = {hidden + image.program_base};
    loader_place_of(symbols, pc, &place);
    assert_string_equal(place.object, strrchr(path, '/') + 1);
    assert_string_equal(place.function, "hidden");
    assert_int_equal(place.offset, 0);
    assert_non_null(strstr(place.file, "loader_guest.c"));
    assert_int_equal(place.line, line_of(path, hidden));
    snprintf(expected, sizeof expected, "hidden (loader_guest.c:%d)", place.line);
    assert_string_equal(loader_place_text(text, sizeof text, pc, &place), expected);
    struct loader_frame frame;
    assert_true(loader_frames_of(symbols, pc, &frame, 1) > 0);
    assert_string_equal(frame.function, "hidden");
    assert_ptr_equal(frame.file, place.file);
    assert_string_equal(frame.base, "loader_guest.c");
    assert_int_equal(frame.line, place.line);
    pc.v++;
    loader_place_of(symbols, pc, &again);
    assert_ptr_equal(again.function, place.function);
    assert_ptr_equal(again.file, place.file);
    assert_int_equal(again.offset, 1);
    uint64_t counted = mmu_usage(mmu).faults;
    loader_place_of(symbols, (struct guest_va){image.program_entry}, &place);
    assert_string_equal(place.function, "_start");
    loader_place_of(symbols, (struct guest_va){image.entry}, &place);
    assert_true(image.interpreter_base == 0 || strncmp(place.object, "ld", 2) == 0);
    assert_int_equal(mmu_usage(mmu).faults, counted); /* asking touches nothing */
    loader_symbols_check(symbols);
    loader_symbols_destroy(symbols);
    loader_image_release(&image);
    mmu_destroy(mmu);
}

static void test_names(void **state)
{
    (void)state;
    check_names(GUESTS "/static");
    check_names(GUESTS "/static_pie");
    check_names(GUESTS "/dynamic");
    check_names(GUESTS "/no_pie");
}

static void check_unknown(struct loader_symbols *symbols, uint64_t pc, const char *object, uint64_t offset)
{
    struct loader_place place;
    loader_place_of(symbols, (struct guest_va){pc}, &place);
    if (object)
        assert_string_equal(place.object, object);
    else
        assert_null(place.object);
    assert_null(place.function);
    assert_null(place.file);
    assert_int_equal(place.line, 0);
    assert_int_equal(place.offset, offset);
    struct loader_frame frame;
    assert_int_equal(loader_frames_of(symbols, (struct guest_va){pc}, &frame, 1), 1);
    assert_null(frame.function);
    assert_null(frame.file);
    assert_null(frame.base);
    assert_int_equal(frame.line, 0);
}

static void test_addresses_without_names(void **state)
{
    (void)state;
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, GUESTS "/stripped_dynamic");
    struct loader_symbols *symbols;
    assert_int_equal(loader_symbols_create(&symbols, mmu_areas(mmu), NULL), C2_OK);
    uint64_t main_at = linked(GUESTS "/dynamic", "main");
    check_unknown(symbols, MMU_PIE_BASE + main_at, "stripped_dynamic", main_at);
    check_unknown(symbols, image.stack, NULL, image.stack);
    check_unknown(symbols, 0x123456789000, NULL, 0x123456789000);
    check_unknown(symbols, 0, NULL, 0);

    /* a file that is no ELF, mapped from its second page */
    char path[] = "/tmp/c2emu-data-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(ftruncate(fd, 8192), 0);
    const struct mmu_request request = {
        .bytes = 4096, .prot = MMU_READ, .kind = MMU_FILE, .host_fd = fd, .offset = 4096, .path = path};
    int64_t at = mmu_map(mmu, &request);
    assert_true(at > 0);
    check_unknown(symbols, (uint64_t)at + 5, path + 5, 4096 + 5);
    loader_symbols_check(symbols);

    FILE *null = fopen("/dev/null", "w");
    loader_symbols_dump(symbols, null);
    fclose(null);
    close(fd);
    unlink(path);
    loader_symbols_destroy(symbols);
    loader_symbols_destroy(NULL);
    loader_image_release(&image);
    mmu_destroy(mmu);
}

/* Without memory a name is unknown, never wrong; with memory again the same symbols know it. */
static void test_names_without_memory(void **state)
{
    (void)state;
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, GUESTS "/dynamic");
    uint64_t hidden = linked(GUESTS "/dynamic", "hidden");
    struct guest_va pc = {MMU_PIE_BASE + hidden};
    int line = line_of(GUESTS "/dynamic", hidden);
    bool complete = false;
    for (uint64_t n = 1; !complete; n++) {
        struct loader_symbols *symbols;
        struct loader_place place = {0};
        c2_alloc_fail_from(n);
        enum c2_status status = loader_symbols_create(&symbols, mmu_areas(mmu), NULL);
        if (status == C2_OK)
            loader_place_of(symbols, pc, &place);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !symbols));
        assert_true(!place.function || strcmp(place.function, "hidden") == 0);
        complete = place.line != 0;
        if (status == C2_OK) {
            loader_place_of(symbols, pc, &place);
            assert_string_equal(place.function, "hidden");
            assert_int_equal(place.line, line);
        }
        loader_symbols_destroy(symbols);
    }
    loader_image_release(&image);
    mmu_destroy(mmu);
}

/* ------------------------------------------------------------------ one program behind the other */

static void same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

/* All that two answer about an address. */
static void same_answers(struct loader_symbols *ours, struct loader_symbols *fresh, struct guest_va pc)
{
    struct loader_place a, b;
    struct loader_frame frames[2][4];
    uint64_t layouts[2];
    loader_place_of(ours, pc, &a);
    loader_place_of(fresh, pc, &b);
    same_text(a.object, b.object);
    same_text(a.function, b.function);
    same_text(a.file, b.file);
    assert_int_equal(a.offset, b.offset);
    assert_int_equal(a.line, b.line);
    const size_t count = loader_frames_of(ours, pc, frames[0], 4);
    assert_int_equal(count, loader_frames_of(fresh, pc, frames[1], 4));
    for (size_t i = 0; i < count && i < 4; i++) {
        same_text(frames[0][i].function, frames[1][i].function);
        assert_int_equal(frames[0][i].line, frames[1][i].line);
    }
    assert_int_equal(loader_layout_at(ours, pc, &layouts[0], NULL), C2_OK);
    assert_int_equal(loader_layout_at(fresh, pc, &layouts[1], NULL), C2_OK);
    assert_int_equal(layouts[0], layouts[1]);
    if (layouts[0] == LOADER_NO_LAYOUT)
        return;
    assert_int_equal(loader_layout_count(ours, layouts[0]), loader_layout_count(fresh, layouts[1]));
    same_text(loader_layout_local(ours, layouts[0], 0)->name, loader_layout_local(fresh, layouts[1], 0)->name);
}

/* Code of the program, and the functions that it belongs to. Returns how many had names. */
static unsigned compare_programs(struct loader_symbols *ours, struct loader_symbols *fresh, const struct mmu *mmu,
                                 uint64_t entry, struct c2_rng *rng)
{
    const struct mmu_area *code = mmu_area_at(mmu_areas(mmu), (struct guest_va){entry}, false);
    unsigned named = 0;
    for (unsigned i = 0; i < 24; i++) {
        struct loader_place place;
        struct guest_va pc = {code->start.v + c2_rng_below(rng, code->bytes)};
        loader_function_entry(fresh, pc, &pc);
        same_answers(ours, fresh, pc);
        loader_place_of(ours, pc, &place);
        named += place.function ? 1 : 0;
    }
    return named;
}

static void write_file(const char *path, const char *from, int flags)
{
    static char bytes[1 << 21];
    const int in = open(from, O_RDONLY), out = open(path, O_WRONLY | O_CREAT | flags, 0755);
    const ssize_t count = read(in, bytes, sizeof bytes);
    assert_true(count > 0 && (size_t)count < sizeof bytes);
    assert_int_equal(write(out, bytes, (size_t)count), count);
    close(in);
    close(out);
}

/* The file at the path is another one, written over the old one or put in its place, or is as it was: symbols that have
 * known the programs before answer as new ones. */
static void test_names_of_program_behind_program(void **state)
{
    static const char *const guests[] = {GUESTS "/dynamic", GUESTS "/no_pie", GUESTS "/static",
                                         GUESTS "/stripped_dynamic", GUESTS "/linked"};
    enum { PROGRAMS = 60, OTHERS = sizeof guests / sizeof *guests };
    char directory[] = "/tmp/c2emu-programs-XXXXXX", path[64], other[64];
    struct loader_symbols *retired = NULL;
    struct c2_rng rng;
    unsigned named = 0;
    (void)state;
    c2_rng_init(&rng, 1, "programs");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/program", directory);
    snprintf(other, sizeof other, "%s/other", directory);
    write_file(path, guests[0], O_TRUNC);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        const char *guest = guests[c2_rng_below(&rng, OTHERS)];
        const uint64_t what = c2_rng_below(&rng, 4);
        if (what == 0) {
            write_file(path, guest, O_TRUNC);
        } else if (what == 1) {
            write_file(other, guest, O_TRUNC);
            assert_int_equal(rename(other, path), 0);
        }
        const char *program = what == 2 ? guest : path;
        struct mmu *mmu = new_mmu();
        struct loader_image image = load(mmu, program);
        struct loader_symbols *ours, *fresh, *const before = retired;
        assert_int_equal(loader_symbols_take(&ours, &retired, mmu_areas(mmu), NULL), C2_OK);
        assert_null(retired);
        assert_true(!before || ours == before);
        assert_int_equal(loader_symbols_create(&fresh, mmu_areas(mmu), NULL), C2_OK);
        if (c2_rng_below(&rng, 2))
            loader_symbols_foresee(ours, c2_rng_below(&rng, 2));
        named += compare_programs(ours, fresh, mmu, image.program_entry, &rng);
        loader_symbols_check(ours);
        loader_symbols_destroy(fresh);
        loader_symbols_retire(ours);
        retired = ours;
        loader_image_release(&image);
        mmu_destroy(mmu);
    }
    assert_true(named > PROGRAMS);
    loader_symbols_destroy(retired);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

/* ------------------------------------------------------------------ modules and variables in memory */

/* What one call of loader_variables tells. */
struct heard {
    struct loader_variable variables[4000];
    size_t count;
};

static void hear(void *self, const struct loader_variable *variable)
{
    struct heard *heard = self;
    assert_true(heard->count < 4000);
    assert_true(heard->count == 0 || heard->variables[heard->count - 1].start < variable->start);
    heard->variables[heard->count++] = *variable;
}

static const struct loader_variable *find_variable(const struct heard *heard, const char *name)
{
    for (size_t i = 0; i < heard->count; i++)
        if (strcmp(heard->variables[i].name, name) == 0)
            return &heard->variables[i];
    fail_msg("no variable %s", name);
    return NULL;
}

/* Extents of the guest's variables, and the bytes that lie there: initialised is 1 to 11, constant "constant". */
static void check_variables(struct loader_symbols *symbols, struct guest_va at, const char *object)
{
    static struct heard heard;
    heard.count = 0;
    assert_int_equal(loader_variables(symbols, at, hear, &heard, NULL), C2_OK);
    const struct loader_variable *v = find_variable(&heard, "initialised");
    assert_int_equal(v->bytes, 44);
    assert_string_equal(v->module, object);
    assert_string_equal(loader_variable_declaration(symbols, v->id), "int initialised[11]");
    for (int i = 0; i < 11; i++)
        assert_int_equal(((const int *)(uintptr_t)v->start)[i], i + 1);
    v = find_variable(&heard, "constant");
    assert_int_equal(v->bytes, 9);
    assert_string_equal((const char *)(uintptr_t)v->start, "constant");
    v = find_variable(&heard, "zeroed");
    assert_int_equal(v->bytes, 3 * 4096 + 77);
}

/* The extent is the same wherever in the module one asks; one byte outside there is none. */
static void check_extent(struct loader_symbols *symbols, uint64_t inside, uint64_t low, uint64_t high,
                         const char *object)
{
    uint64_t start, bytes;
    const char *name;
    assert_true(loader_module_extent(symbols, (struct guest_va){inside}, &start, &bytes, &name));
    assert_int_equal(start, low);
    assert_int_equal(start + bytes, high);
    assert_string_equal(name, object);
}

/* What loader_function_entries tells of one name. */
struct told {
    const char *name;
    unsigned times;
    uint64_t entry; /* the last time */
    bool resolver;
};

static enum c2_status listen(void *self, const char *name, struct guest_va entry, bool resolver, struct c2_error *err)
{
    struct told *told = self;
    (void)err;
    if (strcmp(name, told->name) != 0)
        return C2_OK;
    told->times++;
    told->entry = entry.v;
    told->resolver = resolver;
    return C2_OK;
}

static struct told told_of(struct loader_symbols *symbols, uint64_t at, const char *name)
{
    struct told told = {.name = name};
    const struct loader_entry_listener listener = {&told, listen};
    assert_int_equal(loader_function_entries(symbols, (struct guest_va){at}, &listener, NULL), C2_OK);
    return told;
}

/* Every name of a function is told, an alias too, and no other. */
static void check_entries(struct loader_symbols *symbols, uint64_t code, uint64_t hidden, uint64_t visible)
{
    assert_int_equal(told_of(symbols, code, "hidden").entry, hidden);
    assert_int_equal(told_of(symbols, code, "visible").entry, visible);
    assert_int_equal(told_of(symbols, code, "__under").entry, visible);
    assert_int_equal(told_of(symbols, code, "hidde").times, 0);
    assert_int_equal(told_of(symbols, code, "hidden_").times, 0);
    assert_int_equal(told_of(symbols, code, "initialised").times, 0);
    assert_int_equal(told_of(symbols, MMU_STACK_TOP - 8, "hidden").times, 0);
}

static void check_module(const char *path)
{
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    struct loader_symbols *symbols;
    uint64_t start, bytes;
    const char *name, *object = strrchr(path, '/') + 1;
    assert_int_equal(loader_symbols_create(&symbols, mmu_areas(mmu), NULL), C2_OK);
    assert_true(loader_module_extent(symbols, (struct guest_va){image.program_entry}, &start, &bytes, &name));
    /* zeroed is longer than three pages: two of them at least are anonymous memory behind the file's */
    uint64_t zeroed = linked(path, "zeroed") + image.program_base, hidden = linked(path, "hidden") + image.program_base;
    uint64_t constant = linked(path, "constant") + image.program_base;
    check_extent(symbols, zeroed + 3 * 4096, start, start + bytes, object);
    check_extent(symbols, constant, start, start + bytes, object);
    check_extent(symbols, start, start, start + bytes, object);
    check_extent(symbols, start + bytes - 1, start, start + bytes, object);
    assert_false(loader_module_extent(symbols, (struct guest_va){start + bytes}, &start, &bytes, &name));
    assert_false(loader_module_extent(symbols, (struct guest_va){start - 1}, &start, &bytes, &name));
    assert_false(loader_module_extent(symbols, (struct guest_va){image.stack}, &start, &bytes, &name));
    check_variables(symbols, (struct guest_va){image.program_entry}, object);
    check_variables(symbols, (struct guest_va){zeroed + 4096}, object);

    struct guest_va found;
    check_entries(symbols, image.program_entry, hidden, linked(path, "visible") + image.program_base);
    assert_true(loader_function_entry(symbols, (struct guest_va){hidden + 5}, &found));
    assert_int_equal(found.v, hidden);
    assert_false(loader_function_entry(symbols, (struct guest_va){zeroed}, &found));
    loader_symbols_check(symbols);
    loader_symbols_destroy(symbols);
    loader_image_release(&image);
    mmu_destroy(mmu);
}

static void test_modules(void **state)
{
    (void)state;
    check_module(GUESTS "/static");
    check_module(GUESTS "/static_pie");
    check_module(GUESTS "/dynamic");
    check_module(GUESTS "/no_pie"); /* its pages on the borders of segments are mapped twice */
    check_module(GUESTS "/dwarf4");
}

/* What is told of a name in the guest, its entry as linked. */
static struct told told_in(const char *path, const char *name)
{
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, path);
    struct loader_symbols *symbols;
    assert_int_equal(loader_symbols_create(&symbols, mmu_areas(mmu), NULL), C2_OK);
    struct told told = told_of(symbols, image.program_entry, name);
    told.entry -= told.times == 0 ? 0 : image.program_base;
    loader_symbols_destroy(symbols);
    loader_image_release(&image);
    mmu_destroy(mmu);
    return told;
}

/* Versions are told with their names, and local functions of one name each; a stripped program knows what others may
 * link to. */
static void test_functions_of_one_name(void **state)
{
    (void)state;
    const char *whole = GUESTS "/versions", *stripped = GUESTS "/versions_stripped";
    assert_int_equal(told_in(whole, "answer@@V2").entry, linked(whole, "new_answer"));
    assert_int_equal(told_in(whole, "answer@V1").entry, linked(whole, "old_answer"));
    assert_int_equal(told_in(whole, "gone@V1").entry, linked(whole, "older"));
    assert_int_equal(told_in(whole, "alone").entry, linked(whole, "alone"));
    assert_int_equal(told_in(GUESTS "/versions_twins", "alone").times, 2);
    assert_int_equal(told_in(stripped, "answer").times, 2);
    assert_int_equal(told_in(stripped, "gone").entry, linked(whole, "older"));
    assert_int_equal(told_in(stripped, "alone").times, 0);
}

/* strlen of a static glibc is an indirect function. */
static void test_functions_that_resolve(void **state)
{
    (void)state;
    const struct told function = told_in(GUESTS "/static", "malloc"), resolver = told_in(GUESTS "/static", "strlen");
    assert_true(function.times == 1 && !function.resolver);
    assert_int_equal(function.entry, linked(GUESTS "/static", "malloc"));
    assert_true(resolver.times == 1 && resolver.resolver);
}

/* A program that maps an ELF file to read it has no second module. */
static void test_a_file_to_be_read_is_no_module(void **state)
{
    (void)state;
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, GUESTS "/static");
    struct loader_symbols *symbols;
    static struct heard heard;
    uint64_t start, bytes;
    const char *name;
    int fd = open(GUESTS "/dynamic", O_RDONLY | O_CLOEXEC);
    const struct mmu_request request = {
        .bytes = 0x5000, .prot = MMU_READ, .kind = MMU_FILE, .host_fd = fd, .path = GUESTS "/dynamic"};
    int64_t at = mmu_map(mmu, &request);
    assert_true(at > 0);
    assert_int_equal(loader_symbols_create(&symbols, mmu_areas(mmu), NULL), C2_OK);
    for (uint64_t page = 0; page < 0x5000; page += 0x1000) {
        struct guest_va inside = {(uint64_t)at + page};
        assert_false(loader_module_extent(symbols, inside, &start, &bytes, &name));
        assert_int_equal(loader_variables(symbols, inside, hear, &heard, NULL), C2_OK);
    }
    assert_int_equal(heard.count, 0);
    close(fd);
    loader_symbols_destroy(symbols);
    loader_image_release(&image);
    mmu_destroy(mmu);
}

/* Without memory there is an error and no wrong variable; with memory again the same symbols know all. */
static void test_variables_without_memory(void **state)
{
    (void)state;
    struct mmu *mmu = new_mmu();
    struct loader_image image = load(mmu, GUESTS "/dynamic");
    struct guest_va at = {image.program_entry};
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        static struct heard heard;
        struct loader_symbols *symbols;
        assert_int_equal(loader_symbols_create(&symbols, mmu_areas(mmu), NULL), C2_OK);
        heard.count = 0;
        c2_alloc_fail_from(n);
        status = loader_variables(symbols, at, hear, &heard, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        check_variables(symbols, at, "dynamic");
        loader_symbols_destroy(symbols);
    }
    loader_image_release(&image);
    mmu_destroy(mmu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_of_program),
        cmocka_unit_test(test_rights_of_the_stack),
        cmocka_unit_test(test_order_of_first_touches),
        cmocka_unit_test(test_stack_does_not_follow_the_environment),
        cmocka_unit_test(test_bss_of_a_read_only_segment),
        cmocka_unit_test(test_alignment_is_kept),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_images_run_on_the_host),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_addresses_without_names),
        cmocka_unit_test(test_names_without_memory),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_functions_of_one_name),
        cmocka_unit_test(test_functions_that_resolve),
        cmocka_unit_test(test_a_file_to_be_read_is_no_module),
        cmocka_unit_test(test_the_heap_lies_behind_the_program_if_wanted),
        cmocka_unit_test(test_names_of_program_behind_program),
        cmocka_unit_test(test_variables_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
