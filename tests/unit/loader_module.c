/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Functions and lines of real programs: functions against nm, lines against addr2line, on addresses all over the code.
 * Nothing is mapped here, so that this runs under the sanitizers too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/symbols_priv.h"

static int start_libelf(void **state)
{
    (void)state;
    return elf_version(EV_CURRENT) == EV_NONE;
}

static struct loader_module *open_guest(const char *name)
{
    char path[512];
    struct stat st;
    struct loader_module *module;
    snprintf(path, sizeof path, "%s%s", *name == '/' ? "" : GUESTS "/", name);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(loader_module_open(&module, path, st.st_ino, st.st_dev, NULL), C2_OK);
    assert_true(module->is_elf);
    return module;
}

/* ------------------------------------------------------------------ what nm says */

struct nm_symbol {
    uint64_t start, bytes;
    char type;
    char name[200];
};
struct nm_table {
    struct nm_symbol *items;
    size_t count;
};

/* Code symbols of the file as nm lists them. */
static struct nm_table nm(const char *options, const char *path)
{
    struct nm_table table = {0};
    char command[700], line[800];
    snprintf(command, sizeof command, "nm --defined-only -f sysv %s '%s' 2>/dev/null", options, path);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    while (fgets(line, sizeof line, from)) {
        /* name|value|class|type|size|line|section */
        char *field[7] = {line}, *at = line;
        int fields = 1;
        while (fields < 7 && (at = strchr(at, '|'))) {
            *at++ = '\0';
            field[fields++] = at;
        }
        if (fields < 7 || !strchr("tTwWi", field[2][strspn(field[2], " ")]))
            continue;
        if (c2_is_power_of_two(table.count) || table.count == 0)
            table.items = c2_realloc(table.items, (table.count ? 2 * table.count : 1) * sizeof *table.items);
        struct nm_symbol *symbol = &table.items[table.count++];
        *symbol = (struct nm_symbol){.start = strtoull(field[1], NULL, 16),
                                     .bytes = strtoull(field[4], NULL, 16),
                                     .type = field[2][strspn(field[2], " ")]};
        snprintf(symbol->name, sizeof symbol->name, "%.*s", (int)strcspn(field[0], " @"), field[0]);
    }
    pclose(from);
    return table;
}

/* The latest start among sized symbols that hold the address; 0 if there is none. */
static uint64_t nm_start(const struct nm_table *table, uint64_t address)
{
    uint64_t best = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct nm_symbol *s = &table->items[i];
        if (address >= s->start && address - s->start < s->bytes && s->start > best)
            best = s->start;
    }
    return best;
}

static bool nm_has(const struct nm_table *table, uint64_t start, const char *name, bool sized)
{
    size_t length = strcspn(name, "@");
    for (size_t i = 0; i < table->count; i++)
        if (table->items[i].start == start && (table->items[i].bytes > 0) == sized &&
            strncmp(table->items[i].name, name, length) == 0 && !table->items[i].name[length])
            return true;
    return false;
}

/* Every step-th byte of the executable segments; nm reads the file at `by`. How many addresses had a name. */
static unsigned compare_module(const struct loader_module *module, const char *options, const char *by, unsigned step)
{
    struct nm_table table = nm(options, by);
    unsigned named = 0;
    for (size_t i = 0; i < module->elf.count; i++) {
        const struct loader_segment *s = &module->elf.segments[i];
        if (!(s->prot & MMU_EXEC))
            continue;
        for (uint64_t at = s->address; at < s->address + s->bytes; at += step) {
            const char *function = NULL;
            uint64_t start = 0, expected = nm_start(&table, at);
            bool found = loader_functions_find(&module->functions, at, &function, &start);
            if (expected) {
                assert_true(found);
                assert_int_equal(start, expected);
                assert_true(nm_has(&table, start, function, true));
            } else if (found) {
                assert_true(nm_has(&table, start, function, false));
            }
            named += found;
        }
    }
    c2_free(table.items);
    return named;
}

static unsigned compare_functions(const char *name, unsigned step)
{
    struct loader_module *module = open_guest(name);
    unsigned named = compare_module(module, "", module->path, step);
    loader_module_close(module);
    return named;
}

static void test_functions_agree_with_nm(void **state)
{
    (void)state;
    assert_true(compare_functions("static", 131) > 1000);
    assert_true(compare_functions("static_pie", 131) > 1000);
    assert_true(compare_functions("few_symbols", 131) > 1000);
    assert_true(compare_functions("dynamic", 1) > 100);
    assert_true(compare_functions("no_pie", 1) > 100);
    assert_true(compare_functions("no_lines", 1) > 100);
    assert_true(compare_functions("shared", 1) > 100);
    assert_true(compare_functions("bare", 1) > 5);
    assert_true(compare_functions("assembly", 1) > 5);
}

/* The host's libc: stripped, so that its functions come from its debug file where that is installed (and its lines,
 * through compressed sections and a supplementary file), else from its dynamic table. */
static void test_functions_of_libc(void **state)
{
    (void)state;
    static const char *const places[] = {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"};
    const char *path = access(places[0], R_OK) == 0 ? places[0] : places[1];
    if (access(path, R_OK) != 0)
        skip();
    struct loader_module *module = open_guest(path);
    char by[64];
    snprintf(by, sizeof by, "/proc/%d/fd/%d", (int)getpid(), module->debug ? module->debug_fd : module->fd);
    assert_true(compare_module(module, module->debug ? "" : "-D", by, 1009) > 500);
    loader_module_close(module);
}

static void check_function(const char *guest, uint64_t address, const char *expected)
{
    struct loader_module *module = open_guest(guest);
    const char *name = NULL;
    uint64_t start;
    bool found = loader_functions_find(&module->functions, address, &name, &start);
    if (expected) {
        assert_true(found);
        assert_string_equal(name, expected);
    } else {
        assert_false(found);
    }
    loader_module_close(module);
}

static uint64_t address_of(const char *guest, const char *name)
{
    char path[512];
    uint64_t address = 0;
    snprintf(path, sizeof path, GUESTS "/%s", guest);
    struct nm_table table = nm("", path);
    for (size_t i = 0; i < table.count; i++)
        if (strcmp(table.items[i].name, name) == 0)
            address = table.items[i].start;
    c2_free(table.items);
    assert_true(address != 0);
    return address;
}

/* Of alias, visible and __under: fewest underscores, all global, the shorter. */
static void test_aliases(void **state)
{
    (void)state;
    assert_int_equal(address_of("dynamic", "alias"), address_of("dynamic", "__under"));
    check_function("dynamic", address_of("dynamic", "visible"), "alias");
    check_function("dynamic", address_of("dynamic", "weak_one"), "weak_one");
    check_function("static", address_of("static", "malloc"), "malloc");
    check_function("static", address_of("static", "__libc_malloc") + 3, "malloc");
    check_function("static", address_of("static", "write"), "write");
}

/* first: 2 bytes, _start: 5 + 5 + 2 or 5, sized: 3, 13 of none, exit_now: 9; other stands in a section that the
 * linker puts into .text as well. */
static void test_labels_of_assembly(void **state)
{
    (void)state;
    uint64_t first = address_of("assembly", "first"), start = address_of("assembly", "_start");
    uint64_t sized = address_of("assembly", "sized"), exit_now = address_of("assembly", "exit_now");
    assert_int_equal(start, first + 2);
    assert_int_equal(exit_now, sized + 16);
    check_function("assembly", first, "first");
    check_function("assembly", first + 1, "first");
    check_function("assembly", start, "_start");
    check_function("assembly", sized - 1, "_start");
    check_function("assembly", sized + 2, "sized");
    check_function("assembly", sized + 3, NULL);
    check_function("assembly", exit_now - 1, NULL);
    check_function("assembly", exit_now + 8, "exit_now");
    check_function("assembly", first - 1, NULL);
}

/* hidden() has lost its symbol: nothing takes its place. In the whole table the label _init is extended. */
static void test_removed_symbols_leave_no_wrong_name(void **state)
{
    (void)state;
    check_function("static", address_of("static", "hidden"), "hidden");
    check_function("few_symbols", address_of("static", "hidden"), NULL);
    check_function("few_symbols", address_of("static", "main") + 1, "main");
    check_function("static", address_of("static", "_init") + 1, "_init");
    check_function("few_symbols", address_of("static", "_init") + 1, NULL);
    check_function("stripped", address_of("static", "main"), NULL);
    check_function("stripped_dynamic", address_of("dynamic", "main"), NULL);
    check_function("linked", address_of("dynamic", "hidden"), "hidden");
}

/* ------------------------------------------------------------------ what addr2line says */

/* Lines of every step-th byte of the code sections (elsewhere addr2line names variables); addr2line reads the file at
 * `by`. Returns how many had a line. */
static unsigned compare_lines(const char *name, const char *by, unsigned step)
{
    struct loader_module *module = open_guest(name);
    char list[] = "/tmp/c2emu-lines-XXXXXX", command[700], line[800];
    int fd = mkstemp(list);
    FILE *addresses = fdopen(fd, "w");
    GElf_Shdr section;
    for (Elf_Scn *at = NULL; (at = elf_nextscn(module->file, at));)
        if (gelf_getshdr(at, &section) && (section.sh_flags & SHF_EXECINSTR))
            for (uint64_t offset = 0; offset < section.sh_size; offset += step)
                fprintf(addresses, "0x%llx\n", (unsigned long long)(section.sh_addr + offset));
    fclose(addresses);
    snprintf(command, sizeof command, "addr2line -a -e %s%s < %s 2>/dev/null", *by == '/' ? "" : GUESTS "/", by, list);
    FILE *from = popen(command, "r");
    unsigned known = 0;
    while (fgets(line, sizeof line, from)) {
        uint64_t address = strtoull(line, NULL, 16);
        assert_non_null(fgets(line, sizeof line, from));
        char *colon = strrchr(line, ':'), *slash = strrchr(line, '/');
        assert_non_null(colon);
        *colon = '\0';
        int expected = atoi(colon + 1);
        struct loader_line got = {0};
        bool found = loader_module_line(module, address, &got);
        if (found != (expected > 0) || (found && got.line != expected))
            fail_msg("%s 0x%llx: line %d, addr2line says %d", name, (unsigned long long)address, got.line, expected);
        if (found) {
            const char *base = strrchr(got.file, '/');
            assert_string_equal(base ? base + 1 : got.file, slash ? slash + 1 : line);
            known++;
        }
    }
    pclose(from);
    unlink(list);
    loader_module_close(module);
    return known;
}

static void test_lines_agree_with_addr2line(void **state)
{
    (void)state;
    assert_true(compare_lines("dynamic", "dynamic", 1) > 100);
    assert_true(compare_lines("no_pie", "no_pie", 1) > 100);
    assert_true(compare_lines("dwarf4", "dwarf4", 1) > 100);
    assert_true(compare_lines("shared", "shared", 1) > 100);
    assert_true(compare_lines("bare", "bare", 1) > 5);
    assert_true(compare_lines("static", "static", 7) > 10);
    assert_true(compare_lines("static_pie", "static_pie", 7) > 10);
    assert_true(compare_lines("linked", "dynamic", 1) > 100);
    assert_true(compare_lines("packed", "dynamic", 1) > 100);
    assert_int_equal(compare_lines("no_lines", "no_lines", 1), 0);
    assert_int_equal(compare_lines("stripped", "stripped", 101), 0);
}

static void test_a_line_known_by_reading(void **state)
{
    (void)state;
    struct loader_module *module = open_guest("dynamic");
    struct loader_line at;
    assert_true(loader_module_line(module, address_of("dynamic", "main"), &at));
    assert_non_null(strstr(at.file, "tests/unit/loader_guest.c"));
    assert_in_range(at.line, 40, 41); /* the head of main or its opening brace, as the compiler likes */
    loader_module_close(module);
}

/* Which unit holds what, by .debug_aranges and by the units' own entries; this test has many units. */
static void test_units_are_where_they_say(void **state)
{
    static const char *const files[] = {"dynamic", "static", "shared", "cxx_no_pie", "packed", "/proc/self/exe"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct loader_module *module = open_guest(files[i]);
        Dwarf *dwarf = loader_module_dwarf(module);
        Dwarf_Aranges *listed;
        size_t count;
        struct loader_ranges by_list = {0}, by_entries = {0};
        assert_int_equal(dwarf_getaranges(dwarf, &listed, &count), 0);
        assert_true(count != 0);
        assert_int_equal(loader_index_read(&by_list, dwarf, &module->elf, true), C2_OK);
        assert_int_equal(loader_index_read(&by_entries, dwarf, &module->elf, false), C2_OK);
        assert_true(by_list.count != 0);
        assert_int_equal(by_list.count, by_entries.count);
        assert_memory_equal(by_list.items, by_entries.items, by_list.count * sizeof *by_list.items);
        loader_ranges_check(&by_list);
        loader_ranges_release(&by_list);
        loader_ranges_release(&by_entries);
        loader_module_close(module);
    }
}

/* ------------------------------------------------------------------ separate debug files */

static void test_crc(void **state)
{
    (void)state;
    assert_int_equal(loader_crc32(0, "123456789", 9), 0xcbf43926u); /* the check value of this CRC */
    assert_int_equal(loader_crc32(loader_crc32(0, "1234", 4), "56789", 5), 0xcbf43926u);
    assert_int_equal(loader_crc32(0, "", 0), 0);
}

static Elf *open_elf(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(*fd >= 0);
    Elf *elf = elf_begin(*fd, ELF_C_READ, NULL);
    assert_non_null(elf);
    return elf;
}

static void shell(const char *format, const char *argument)
{
    char command[1024];
    snprintf(command, sizeof command, format, argument);
    assert_int_equal(system(command), 0);
}

/* Opens what belongs to `file` in the directory made for it, and says whether there was something. */
static bool finds(const char *directory, const char *file, const char *root)
{
    char path[256];
    int fd;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    bool packaged;
    Elf *elf = open_elf(path, &fd);
    int debug = loader_debugfile_open(elf, path, root, &packaged);
    assert_int_equal(packaged, debug >= 0 && strcmp(file, "by_id") == 0);
    elf_end(elf);
    close(fd);
    if (debug >= 0)
        close(debug);
    return debug >= 0;
}

static void test_debug_file_by_link(void **state)
{
    (void)state;
    char directory[] = "/tmp/c2emu-debug-XXXXXX";
    assert_non_null(mkdtemp(directory));
    shell("cp " GUESTS "/linked %s/", directory);
    assert_false(finds(directory, "linked", "/nowhere"));
    shell("cp " GUESTS "/linked.debug %s/", directory);
    assert_true(finds(directory, "linked", "/nowhere"));
    shell("cd %s && mkdir .debug && mv linked.debug .debug/", directory);
    assert_true(finds(directory, "linked", "/nowhere"));
    shell("cd %s && mkdir -p root/$PWD && mv .debug/linked.debug root/$PWD/", directory);
    char root[64];
    snprintf(root, sizeof root, "%s/root", directory);
    assert_true(finds(directory, "linked", root));
    shell("cd %s && printf x >> root/$PWD/linked.debug", directory); /* the CRC is another now */
    assert_false(finds(directory, "linked", root));
    shell("rm -rf %s", directory);
}

static void test_debug_file_by_build_id(void **state)
{
    (void)state;
    char directory[] = "/tmp/c2emu-debug-XXXXXX", root[64];
    assert_non_null(mkdtemp(directory));
    snprintf(root, sizeof root, "%s/root", directory);
    shell("cp " GUESTS "/by_id %s/", directory);
    assert_false(finds(directory, "by_id", root));
    shell("cd %s && id=$(readelf -n by_id | sed -n 's/.*Build ID: //p') && d=root/.build-id/$(echo $id | cut -c1-2) && "
          "mkdir -p $d && cp " GUESTS "/by_id.debug $d/$(echo $id | cut -c3-).debug",
          directory);
    assert_true(finds(directory, "by_id", root));
    /* another program under that name has another id */
    shell("cd %s && cp " GUESTS "/shared root/.build-id/*/*.debug", directory);
    assert_false(finds(directory, "by_id", root));
    shell("rm -rf %s", directory);
}

/* ------------------------------------------------------------------ files that changed, damaged files, no memory */

static void test_another_file_gives_no_names(void **state)
{
    (void)state;
    struct stat st;
    struct loader_module *module;
    assert_int_equal(stat(GUESTS "/dynamic", &st), 0);
    assert_int_equal(loader_module_open(&module, GUESTS "/dynamic", st.st_ino + 1, st.st_dev, NULL), C2_OK);
    assert_false(module->is_elf);
    assert_string_equal(module->object, "dynamic");
    loader_module_close(module);
    assert_int_equal(loader_module_open(&module, "/no/such/file", 1, 1, NULL), C2_OK);
    assert_false(module->is_elf);
    loader_module_close(module);
    loader_module_close(NULL);
}

/* Bytes of the section headers, the symbol table and its names changed: no crash, no address outside code. */
static void test_damaged_symbols(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-damaged-XXXXXX";
    int fd = mkstemp(path);
    shell("cp " GUESTS "/no_lines %s", path);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    unsigned char *good = c2_alloc((size_t)st.st_size);
    assert_int_equal(pread(fd, good, (size_t)st.st_size, 0), st.st_size);
    struct c2_rng rng;
    c2_rng_init(&rng, 3, "damaged symbols");
    uint64_t low = 0x3000; /* what is not loaded lies behind */
    for (int round = 0; round < 1500; round++) {
        uint64_t at = low + c2_rng_below(&rng, (uint64_t)st.st_size - low - 8), value = c2_rng_next(&rng);
        size_t width = (size_t)1 << c2_rng_below(&rng, 4);
        if (round % 3 == 0)
            value = 0;
        assert_int_equal(pwrite(fd, &value, width, (off_t)at), width);
        struct loader_module *module;
        assert_int_equal(loader_module_open(&module, path, st.st_ino, st.st_dev, NULL), C2_OK);
        loader_ranges_check(&module->functions.sized);
        loader_ranges_check(&module->functions.labels);
        loader_module_close(module);
        assert_int_equal(pwrite(fd, good + at, width, (off_t)at), width);
    }
    c2_free(good);
    close(fd);
    unlink(path);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct stat st;
    enum c2_status status = C2_ERR_NO_MEMORY;
    assert_int_equal(stat(GUESTS "/dynamic", &st), 0);
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct loader_module *module;
        c2_alloc_fail_from(n);
        status = loader_module_open(&module, GUESTS "/dynamic", st.st_ino, st.st_dev, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !module));
        loader_module_close(module);
    }
}

/* What is asked while a program runs is answered without DWARF; a line, and a type, open it. */
static void test_debug_information_waits_for_a_question(void **state)
{
    (void)state;
    struct loader_names *names;
    struct loader_line at;
    assert_int_equal(loader_names_create(&names, NULL), C2_OK);
    for (int question = 0; question < 2; question++) {
        struct loader_module *module = open_guest("dynamic");
        assert_int_equal(loader_module_variables(module, NULL), C2_OK);
        assert_true(module->functions.sized.count > 0 && module->variables.count > 0);
        assert_true(!module->dwarf && !module->dwarf_sought && module->units.count == 0 && !module->types);
        if (question == 0)
            assert_true(loader_module_line(module, address_of("dynamic", "main"), &at));
        else
            assert_int_equal(loader_module_type(module, 0, names, NULL), C2_OK);
        assert_non_null(module->dwarf);
        loader_module_close(module);
    }
    loader_names_destroy(names);
}

/* Without memory for the index of units a line is unknown, not wrong; with memory again it is known. */
static void test_lines_without_memory(void **state)
{
    (void)state;
    const uint64_t address = address_of("dynamic", "main");
    struct loader_line at = {0};
    bool known = false;
    for (uint64_t n = 1; !known; n++) {
        struct loader_module *module = open_guest("dynamic");
        c2_alloc_fail_from(n);
        known = loader_module_line(module, address, &at);
        c2_alloc_fail_from(0);
        assert_true(n > 1 || !known); /* the index needs some */
        assert_true(loader_module_line(module, address, &at) && at.line > 0);
        loader_module_close(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_agree_with_nm),
        cmocka_unit_test(test_functions_of_libc),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_labels_of_assembly),
        cmocka_unit_test(test_removed_symbols_leave_no_wrong_name),
        cmocka_unit_test(test_lines_agree_with_addr2line),
        cmocka_unit_test(test_a_line_known_by_reading),
        cmocka_unit_test(test_units_are_where_they_say),
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_debug_file_by_link),
        cmocka_unit_test(test_debug_file_by_build_id),
        cmocka_unit_test(test_another_file_gives_no_names),
        cmocka_unit_test(test_damaged_symbols),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_debug_information_waits_for_a_question),
        cmocka_unit_test(test_lines_without_memory),
    };
    return cmocka_run_group_tests(tests, start_libelf, NULL);
}
