/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The files that a program is linked with, and names in them; the dynamic linker's cache, whole and damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "loader/libraries_priv.h"
#include "loader/symbols_priv.h"
#include "unit/damage.h"

static const char *const no_environment[] = {NULL};

static struct loader_libraries *libraries_of(const char *program, const char *const *envp)
{
    struct loader_libraries *libraries;
    assert_int_equal(loader_libraries_find(&libraries, program, envp, LOADER_CALLS | LOADER_LEAKS, NULL), C2_OK);
    return libraries;
}

/* ------------------------------------------------------------------ files */

static void a_dynamic_program(void **state)
{
    (void)state;
    struct loader_libraries *libraries = libraries_of(GUESTS "/dynamic", no_environment);
    assert_int_equal(loader_libraries_count(libraries), 3);
    assert_string_equal(loader_libraries_name(libraries, 0), "dynamic");
    assert_string_equal(loader_libraries_name(libraries, 1), "ld-linux-x86-64.so.2");
    assert_string_equal(loader_libraries_name(libraries, 2), "libc.so.6");
    assert_true(loader_libraries_closed(libraries));
    assert_int_equal(loader_libraries_threading(libraries), LOADER_PLAIN);
    loader_libraries_release(libraries);
    libraries = libraries_of("/usr/bin/nproc", no_environment);
    assert_int_equal(loader_libraries_threading(libraries), LOADER_ASKS_PROCESSORS);
    loader_libraries_release(libraries);
}

static void a_bare_program(void **state)
{
    (void)state;
    struct loader_libraries *libraries = libraries_of(GUESTS "/bare", no_environment);
    assert_int_equal(loader_libraries_count(libraries), 1);
    assert_true(loader_libraries_closed(libraries));
    loader_libraries_release(libraries);
}

static void what_may_bring_in_more(void **state)
{
    (void)state;
    static const char *const preloads[] = {"LD_PRELOAD=/lib/x.so", NULL}, *const empty[] = {"LD_PRELOAD=", NULL};
    struct loader_libraries *libraries = libraries_of(GUESTS "/dynamic", preloads);
    assert_false(loader_libraries_closed(libraries));
    loader_libraries_release(libraries);
    libraries = libraries_of(GUESTS "/dynamic", empty);
    assert_true(loader_libraries_closed(libraries));
    loader_libraries_release(libraries);
    libraries = libraries_of("/bin/sh", no_environment); /* executes others */
    assert_false(loader_libraries_closed(libraries));
    loader_libraries_release(libraries);
}

/* What is asked about alone is read: without calls no file closes the world, and the files are the same. */
static void only_what_is_asked(void **state)
{
    (void)state;
    struct loader_libraries *libraries;
    assert_int_equal(loader_libraries_find(&libraries, GUESTS "/dynamic", no_environment, 0, NULL), C2_OK);
    assert_int_equal(loader_libraries_count(libraries), 3);
    loader_libraries_release(libraries);
    assert_int_equal(loader_libraries_find(&libraries, GUESTS "/dynamic", no_environment, LOADER_LEAKS, NULL), C2_OK);
    assert_false(loader_libraries_look_for_leaks(libraries));
    loader_libraries_release(libraries);
}

/* ------------------------------------------------------------------ names */

struct opened {
    int fd;
    Elf *elf;
    Elf_Scn *section; /* .symtab */
    GElf_Shdr header;
};

static struct opened open_symbols(const char *path)
{
    struct opened file = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    assert_true(file.fd >= 0 && elf_version(EV_CURRENT) != EV_NONE);
    file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
    while ((file.section = elf_nextscn(file.elf, file.section)))
        if (gelf_getshdr(file.section, &file.header) && file.header.sh_type == SHT_SYMTAB)
            return file;
    fail();
    return file;
}

static void close_symbols(struct opened *file)
{
    elf_end(file->elf);
    close(file->fd);
}

static void a_name_of_a_table(void **state)
{
    (void)state;
    struct opened file = open_symbols(GUESTS "/dynamic");
    assert_true(loader_section_names(file.elf, file.fd, file.section, "main"));
    assert_false(loader_section_names(file.elf, file.fd, file.section, "niam"));
    assert_false(loader_section_names(file.elf, file.fd, file.section, "ain")); /* the end of one */
    assert_false(loader_section_names(file.elf, file.fd, file.section, "mai"));
    close_symbols(&file);
}

/* Names lie across the pieces in which a large table is read. */
static void every_name_of_a_large_table(void **state)
{
    (void)state;
    struct opened file = open_symbols("/proc/self/exe");
    Elf_Data *data = elf_getdata(file.section, NULL);
    const size_t count = data->d_size / file.header.sh_entsize;
    GElf_Sym symbol;
    for (size_t i = 1; i < count; i += 1 + count / 400) {
        assert_non_null(gelf_getsym(data, (int)i, &symbol));
        const char *name = elf_strptr(file.elf, file.header.sh_link, symbol.st_name);
        if (name && *name)
            assert_true(loader_section_names(file.elf, file.fd, file.section, name));
    }
    close_symbols(&file);
}

struct wanted {
    const char *name;
    unsigned seen;
};

static enum c2_status note(void *self, const char *symbol, const char *shown, struct c2_error *err)
{
    struct wanted *wanted = self;
    (void)symbol, (void)err;
    wanted->seen += strcmp(shown, wanted->name) == 0;
    return C2_OK;
}

static bool has(const struct loader_libraries *libraries, const char *name, bool variable)
{
    struct wanted wanted = {name, 0};
    const struct loader_name_listener listener = {&wanted, note};
    assert_int_equal((variable ? loader_libraries_variables : loader_libraries_functions)(libraries, &listener, NULL),
                     C2_OK);
    return wanted.seen != 0;
}

static void names(void **state)
{
    (void)state;
    struct loader_libraries *libraries = libraries_of(GUESTS "/dynamic", no_environment);
    assert_true(has(libraries, "main", false));
    assert_true(has(libraries, "qsort", false));
    assert_false(has(libraries, "qsrot", false));
    assert_true(has(libraries, "argc", true));
    assert_false(has(libraries, "argc", false));
    loader_libraries_release(libraries);
}

static void lines(void **state)
{
    (void)state;
    bool found;
    struct loader_line_answer answer;
    struct loader_libraries *libraries = libraries_of(GUESTS "/dynamic", no_environment);
    assert_int_equal(loader_libraries_line(&found, libraries, "loader_guest.c", 1, &answer, NULL), C2_OK);
    assert_false(found);
    assert_true(answer.known);
    const int nearest = answer.nearest;
    assert_int_equal(loader_libraries_line(&found, libraries, "loader_guest.c", nearest, &answer, NULL), C2_OK);
    assert_true(found);
    assert_int_equal(loader_libraries_line(&found, libraries, "no_guest.c", 1, &answer, NULL), C2_OK);
    assert_true(!found && !answer.known);
    loader_libraries_release(libraries);
}

static void debug_information(void **state)
{
    (void)state;
    bool has_debug;
    assert_int_equal(loader_has_debug(&has_debug, GUESTS "/dynamic", NULL), C2_OK);
    assert_true(has_debug);
    assert_int_equal(loader_has_debug(&has_debug, GUESTS "/no_lines", NULL), C2_OK);
    assert_false(has_debug);
    assert_int_equal(loader_has_debug(&has_debug, GUESTS "/linked", NULL), C2_OK); /* in a file of its own */
    assert_true(has_debug);
}

/* ------------------------------------------------------------------ the cache */

/* Two names for x86-64; a third for another processor; a fourth only for some. */
static size_t make_cache(char *bytes, size_t front)
{
    static const char texts[] = "libb.so\0/b/libb.so\0liba.so\0/a/liba.so\0libc.so\0/c/libc.so";
    const struct {
        uint32_t flags, name, path;
        uint64_t hwcap;
    } rows[] = {{0x0303, 0, 8, 0}, {0x0303, 19, 27, 0}, {0x0803, 38, 46, 0}, {0x0303, 38, 46, 1ull << 62}};
    const uint32_t count = 4, texts_at = 48 + 24 * count, text_bytes = sizeof texts;
    char *at = bytes + front;
    memset(bytes, 0, front + texts_at);
    memcpy(at, "glibc-ld.so.cache1.1", 20);
    memcpy(at + 20, &count, 4);
    memcpy(at + 24, &text_bytes, 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t words[] = {rows[i].flags, texts_at + rows[i].name, texts_at + rows[i].path, 0};
        memcpy(at + 48 + 24 * i, words, 16);
        memcpy(at + 64 + 24 * i, &rows[i].hwcap, 8);
    }
    memcpy(at + texts_at, texts, sizeof texts);
    return front + texts_at + sizeof texts;
}

static struct loader_cache *open_cache(const char *bytes, size_t count)
{
    struct loader_cache *cache;
    char *copy = c2_alloc(count + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    copy[count] = '\0';
    assert_int_equal(loader_cache_take(&cache, copy, count, NULL), C2_OK);
    return cache;
}

static void a_cache(void **state)
{
    (void)state;
    char bytes[512];
    static const size_t fronts[] = {0, 16}; /* an older table */
    for (size_t i = 0; i < 2; i++) {
        struct loader_cache *cache = open_cache(bytes, make_cache(bytes, fronts[i]));
        assert_string_equal(loader_cache_find(cache, "liba.so"), "/a/liba.so");
        assert_string_equal(loader_cache_find(cache, "libb.so"), "/b/libb.so");
        assert_null(loader_cache_find(cache, "libc.so"));
        assert_null(loader_cache_find(cache, "lib"));
        loader_cache_close(cache);
    }
}

/* What is found lies in the file's bytes. */
static void try(char *bytes, size_t count, void *context)
{
    unsigned long *found = context;
    struct loader_cache *cache = open_cache(bytes, count);
    const char *path = loader_cache_find(cache, "liba.so");
    if (path)
        assert_true(strlen(path) <= count);
    *found += path ? 1 : 0;
    loader_cache_close(cache);
}

static void damaged_caches(void **state)
{
    (void)state;
    char bytes[512];
    unsigned long found = 0;
    const size_t count = make_cache(bytes, 0);
    damage_cut(bytes, count, try, &found);
    assert_int_not_equal(found, 0);
    damage_at_random(bytes, count, damage_inputs(10000), try, &found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dynamic_program),
        cmocka_unit_test(a_bare_program),
        cmocka_unit_test(what_may_bring_in_more),
        cmocka_unit_test(only_what_is_asked),
        cmocka_unit_test(a_name_of_a_table),
        cmocka_unit_test(every_name_of_a_large_table),
        cmocka_unit_test(names),
        cmocka_unit_test(lines),
        cmocka_unit_test(debug_information),
        cmocka_unit_test(a_cache),
        cmocka_unit_test(damaged_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
