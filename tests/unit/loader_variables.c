/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Static variables of real programs: extents and names against nm, types against the declarations in the source.
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

static struct loader_names *names;

static int start(void **state)
{
    (void)state;
    return elf_version(EV_CURRENT) == EV_NONE || loader_names_create(&names, NULL) != C2_OK;
}

static int finish(void **state)
{
    (void)state;
    loader_names_destroy(names);
    return 0;
}

static struct loader_module *open_path(const char *path)
{
    struct stat st;
    struct loader_module *module;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(loader_module_open(&module, path, st.st_ino, st.st_dev, NULL), C2_OK);
    if (module->is_elf) {
        assert_int_equal(loader_module_variables(module, NULL), C2_OK);
        for (uint32_t i = 0; i < module->variables.count; i++)
            assert_int_equal(loader_module_type(module, i, names, NULL), C2_OK);
    }
    return module;
}

static struct loader_module *open_guest(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, GUESTS "/%s", name);
    struct loader_module *module = open_path(path);
    assert_true(module->is_elf);
    return module;
}

/* ------------------------------------------------------------------ what nm says */

struct object {
    uint64_t start, bytes;
    char name[128];
    bool local;
};

static size_t read_objects(const char *options, const char *path, struct object *out, size_t room)
{
    char command[700], line[800], name[128], kind[32];
    size_t count = 0;
    snprintf(command, sizeof command, "nm -f sysv --defined-only %s '%s' 2>/dev/null", options, path);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    while (fgets(line, sizeof line, from) && count < room) {
        /* name|value|class|type|size|line|section; no size: the field is blank */
        unsigned long long at, bytes;
        char class;
        if (sscanf(line, "%127[^|]|%llx|%*[ ]%c%*[ ]|%31[^|]|%llx|", name, &at, &class, kind, &bytes) != 5 ||
            !strstr(kind, "OBJECT") || !strchr("bBdDrRvVu", class) || bytes == 0)
            continue;
        struct object *o = &out[count++];
        *o = (struct object){.start = at, .bytes = bytes, .local = strchr("bdr", class)};
        snprintf(o->name, sizeof o->name, "%.*s", (int)strcspn(name, " @"), name);
    }
    pclose(from);
    return count;
}

/* Whether a is named rather than b: the rule of symtab.c, written anew. */
static bool goes_before(const struct object *a, const struct object *b)
{
    if (a->local != b->local)
        return b->local;
    size_t left = strspn(a->name, "_"), right = strspn(b->name, "_");
    if (left != right)
        return left < right;
    left = strlen(a->name), right = strlen(b->name);
    return left != right ? left < right : strcmp(a->name, b->name) < 0;
}

/* The twin: an object is shown unless another one starts below it and reaches into it, or starts with it and is longer
 * or as long and goes before it. (No test file chains overlaps, where the first would hide the second but not what
 * only the second hides.) */
static bool is_shown(const struct object *objects, size_t count, size_t i)
{
    const struct object *o = &objects[i];
    for (size_t j = 0; j < count; j++) {
        const struct object *p = &objects[j];
        if (p->start < o->start && o->start - p->start < p->bytes)
            return false;
        if (j != i && p->start == o->start && (p->bytes > o->bytes || (p->bytes == o->bytes && goes_before(p, o))))
            return false;
        /* constants of one name that the linker has merged are listed twice */
        if (j < i && p->start == o->start && p->bytes == o->bytes && strcmp(p->name, o->name) == 0)
            return false;
    }
    return true;
}

static const struct loader_range *find_range(const struct loader_module *module, const struct object *o)
{
    const struct loader_range *range = loader_ranges_find(&module->variables, o->start);
    return range && range->start == o->start && range->end - range->start == o->bytes ? range : NULL;
}

/* How many variables; every one is one of nm's, and every one of nm's that is to be shown is there. */
static size_t compare(const char *path, const char *options, const char *by)
{
    static struct object objects[20000];
    struct loader_module *module = open_path(path);
    size_t count = read_objects(options, by, objects, 20000), shown = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_shown(objects, count, i))
            continue;
        const struct loader_range *range = find_range(module, &objects[i]);
        if (!range)
            fail_msg("%s: no variable %s", path, objects[i].name);
        const char *name = loader_symbol_name(range->value);
        if (strlen(objects[i].name) != loader_symbol_length(name) ||
            strncmp(objects[i].name, name, loader_symbol_length(name)) != 0)
            fail_msg("%s: %s, nm says %s", path, name, objects[i].name);
        shown++;
    }
    assert_int_equal(module->variables.count, shown);
    loader_ranges_check(&module->variables);
    loader_module_close(module);
    return shown;
}

static size_t compare_guest(const char *guest, const char *options, const char *by)
{
    char path[512], other[512];
    snprintf(path, sizeof path, GUESTS "/%s", guest);
    snprintf(other, sizeof other, GUESTS "/%s", by);
    return compare(path, options, other);
}

static void test_variables_agree_with_nm(void **state)
{
    (void)state;
    assert_true(compare_guest("dynamic", "", "dynamic") > 3);
    assert_true(compare_guest("no_pie", "", "no_pie") > 3);
    assert_true(compare_guest("shared", "", "shared") > 3);
    assert_true(compare_guest("static", "", "static") > 100);
    assert_true(compare_guest("data", "", "data") > 25);
    assert_true(compare_guest("data_dwarf4", "", "data_dwarf4") > 25);
    assert_true(compare_guest("cxx", "", "cxx") > 5);
    assert_true(compare_guest("linked", "", "dynamic") > 3); /* from the debug file */
    assert_int_equal(compare_guest("stripped", "", "stripped"), 0);
    compare_guest("stripped_data", "-D", "stripped_data"); /* what others may link to */
}

/* The comparison can fail: an extent that is one byte too short is none of nm's. */
static void test_the_comparison_notices_a_wrong_extent(void **state)
{
    (void)state;
    static struct object objects[200];
    struct loader_module *module = open_guest("data");
    size_t count = read_objects("", GUESTS "/data", objects, 200), before = 0, after = 0;
    for (size_t i = 0; i < count; i++)
        before += !!find_range(module, &objects[i]);
    module->variables.items[module->variables.count / 2].end--;
    for (size_t i = 0; i < count; i++)
        after += !!find_range(module, &objects[i]);
    assert_true(after < before);
    loader_module_close(module);
}

/* The host's libc, from its dynamic table or its debug file: versions, aliases, parts. */
static void test_variables_of_libc(void **state)
{
    (void)state;
    const char *path = "/lib/x86_64-linux-gnu/libc.so.6";
    if (access(path, R_OK) != 0)
        skip();
    struct loader_module *module = open_path(path);
    bool own = module->table == module->file;
    loader_module_close(module);
    if (own)
        assert_true(compare(path, "-D", path) > 50);
}

/* ------------------------------------------------------------------ types */

static void check_declaration(const char *guest, const char *name, uint64_t bytes, const char *expected)
{
    struct loader_module *module = open_guest(guest);
    bool found = false;
    for (size_t i = 0; i < module->variables.count; i++) {
        const struct loader_range *range = &module->variables.items[i];
        if (strcmp(loader_symbol_name(range->value), name) != 0)
            continue;
        const struct loader_type *type = &module->types[i];
        char text[512];
        snprintf(text, sizeof text, "%s%s%s", type->before ? type->before : "", name, type->before ? type->after : "");
        assert_string_equal(text, expected);
        assert_int_equal(range->end - range->start, bytes);
        found = true;
    }
    if (!found)
        fail_msg("%s has no variable %s", guest, name);
    loader_module_close(module);
}

/* Sizes of x86-64: pointers 8, double 8, struct node 8 + 4 + 4 of padding. */
static void check_declarations(const char *guest)
{
    check_declaration(guest, "A", 40 * 30 * 8, "double A[40][30]");
    check_declaration(guest, "counter", 4, "int counter");
    check_declaration(guest, "head", 8, "struct node *head");
    check_declaration(guest, "nodes", 5 * 16, "struct node nodes[5]");
    check_declaration(guest, "one_of", 4, "union either one_of");
    check_declaration(guest, "color", 4, "enum color color");
    check_declaration(guest, "corner", 32, "point corner[2]");
    check_declaration(guest, "sum", 8, "uint64_t sum");
    check_declaration(guest, "text", 10, "const char text[10]");
    check_declaration(guest, "names", 24, "const char *const names[3]");
    check_declaration(guest, "moving", 8, "char *volatile moving");
    check_declaration(guest, "anything", 8, "void *anything");
    check_declaration(guest, "handler", 8, "int (*handler)(int, const char *)");
    check_declaration(guest, "table", 32, "void (*table[4])(void)");
    check_declaration(guest, "row", 8, "int (*row)[30]");
    check_declaration(guest, "maker", 8, "int (*(*maker)(void))(int, ...)");
    check_declaration(guest, "pair", 8, "struct {...} pair");
    check_declaration(guest, "local_table", 256, "unsigned char local_table[256]");
    check_declaration(guest, "flag", 1, "_Bool flag");
    check_declaration(guest, "weak_data", 8, "double weak_data");
    check_declaration(guest, "both", 16, "both"); /* assembly: no type */
    check_declaration(guest, "longer", 12, "longer");
    check_declaration(guest, "plain", 4, "int plain");
}

static void test_types(void **state)
{
    (void)state;
    check_declarations("data");
    check_declarations("data_dwarf4");
    if (access(GUESTS "/data_clang", R_OK) == 0) /* its DWARF 5 has addresses by number */
        check_declarations("data_clang");
}

/* ------------------------------------------------------------------ dimensions */

/* text: with one element more in the last dimension; NULL: it has none. */
static void check_array(const char *guest, const char *symbol, bool pointed, const char *text, const char *element,
                        uint64_t element_bytes)
{
    struct loader_module *module = open_guest(guest);
    struct loader_symbols symbols = {.names = names};
    char got[64];
    size_t i = 0;
    while (i < module->variables.count && strcmp(loader_symbol_name(module->variables.items[i].value), symbol) != 0)
        i++;
    assert_true(i < module->variables.count);
    const struct loader_array *array = loader_array_of(&symbols, (struct loader_type_id){module, module->types[i].die},
                                                       pointed);
    assert_non_null(array);
    assert_ptr_equal(array, loader_array_of(&symbols, (struct loader_type_id){module, module->types[i].die}, pointed));
    assert_int_equal(array->element_bytes, element_bytes);
    assert_true(!array->element == !element);
    if (element)
        assert_string_equal(array->element, element);
    assert_true((array->count == 0) == !text);
    if (text)
        assert_string_equal(loader_array_text(got, sizeof got, symbol, array, array->count - 1, 1), text);
    loader_arrays_release(&symbols);
    loader_module_close(module);
}

static void check_no_array(const char *guest, const char *symbol, bool pointed)
{
    struct loader_module *module = open_guest(guest);
    struct loader_symbols symbols = {.names = names};
    for (size_t i = 0; i < module->variables.count; i++)
        if (strcmp(loader_symbol_name(module->variables.items[i].value), symbol) == 0)
            assert_null(loader_array_of(&symbols, (struct loader_type_id){module, module->types[i].die}, pointed));
    loader_arrays_release(&symbols);
    loader_module_close(module);
}

static void check_arrays(const char *guest)
{
    check_array(guest, "A", false, "A[40][31]", "double", 8);
    check_array(guest, "nodes", false, "nodes[6]", "struct node", 16);
    check_array(guest, "corner", false, "corner[3]", "point", 16);
    check_array(guest, "local_table", false, "local_table[257]", "unsigned char", 1); /* a bound of 255, in one byte */
    check_array(guest, "names", false, "names[4]", NULL, 8);
    check_array(guest, "row", true, "(*row)[31]", "int", 4);
    check_array(guest, "head", true, NULL, "struct node", 16);
    check_no_array(guest, "counter", false);
    check_no_array(guest, "counter", true);
    check_no_array(guest, "row", false);
    check_no_array(guest, "A", true);
    check_no_array(guest, "both", false); /* assembly: no type */
}

static void test_arrays(void **state)
{
    (void)state;
    check_arrays("data");
    check_arrays("data_dwarf4");
    if (access(GUESTS "/data_clang", R_OK) == 0)
        check_arrays("data_clang");
}

static void test_arrays_of_all_languages(void **state)
{
    struct loader_array cube = {
        .element = "f32", .element_bytes = 4, .count = 3, .dimensions = {{0, 64}, {0, 16}, {0, 128}}};
    char text[64];
    (void)state;
    assert_int_equal(loader_array_step(&cube, 0), 16 * 128 * 4);
    assert_int_equal(loader_array_step(&cube, 1), 128 * 4);
    assert_int_equal(loader_array_step(&cube, 2), 4);
    assert_string_equal(loader_array_text(text, sizeof text, "a", &cube, 1, 1), "a[64][17][128]");
    cube.notation = LOADER_RUST;
    assert_string_equal(loader_array_text(text, sizeof text, "A", &cube, 2, 16), "A: [[[f32; 144]; 16]; 64]");
    cube.notation = LOADER_FORTRAN; /* the first index is that of neighbours */
    cube.dimensions[0].first = cube.dimensions[1].first = 1;
    assert_string_equal(loader_array_text(text, sizeof text, "a", &cube, 2, 16), "a(0:143, 16, 64)");
    cube.dimensions[2] = (struct loader_dimension){-3, 8};
    assert_string_equal(loader_array_text(text, sizeof text, "a", &cube, 0, 1), "a(-3:4, 16, 65)");
    assert_string_equal(loader_array_text(text, 8, "a", &cube, 0, 1), "a(-3:4,"); /* as much as there is room for */
}

static bool has_variable(const char *guest, const char *name)
{
    struct loader_module *module = open_guest(guest);
    bool found = false;
    for (size_t i = 0; i < module->variables.count; i++)
        found |= strcmp(loader_symbol_name(module->variables.items[i].value), name) == 0;
    loader_module_close(module);
    return found;
}

static void test_what_is_left_out(void **state)
{
    (void)state;
    assert_true(has_variable("data", "counter"));
    assert_false(has_variable("data", "per_thread"));
    assert_false(has_variable("data", "unsized"));
    assert_false(has_variable("data", "part"));
    assert_false(has_variable("data", "shorter"));
    assert_false(has_variable("data", "_under_name"));
    assert_false(has_variable("data", "plain_name"));
    assert_false(has_variable("stripped_data", "counter"));
}

struct mangled {
    const char *symbol, *shown;
};

static void check_shown(const struct mangled *list, size_t count)
{
    struct c2_map *shown;
    assert_int_equal(c2_map_create(&shown, NULL), C2_OK);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(loader_names_shown(names, shown, list[i].symbol), list[i].shown);
    c2_map_destroy(shown);
}

/* By RFC 2603: a crate is C, its hash s..._ before its name, a nested path N, a function's namespace v, a closure's C,
 * an instance I...E; d is f64. */
static void test_names_of_rust(void **state)
{
    static const struct mangled of_rust[] = {
        {"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
        {"_RNCNvCs1234_7mycrate4main0", "mycrate::main::{closure#0}"},
        {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
    };
    (void)state;
    check_shown(of_rust, sizeof of_rust / sizeof of_rust[0]);
}

/* Rust's older form is C++'s with a hash for its last part; C++ has names that look nearly the same. */
static void test_older_names_of_rust(void **state)
{
    static const struct mangled of_rust[] = {
        {"_ZN3foo3bar17h05af221e174051e9E", "foo::bar"},
        {"_ZN3foo3bar17h05af221e174051e9E.llvm.1234567", "foo::bar"},
        {"_ZN45_$LT$Test$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE", "<Test as foo::Bar<Test>>::bar"},
        {"_ZN3foo3bar17g05af221e174051e9E", "foo::bar::g05af221e174051e9"},
    };
    (void)state;
    check_shown(of_rust, sizeof of_rust / sizeof of_rust[0]);
}

/* Crates and namespaces of the library; what a program makes of its traits and types is the program's. */
static void test_names_of_libraries(void **state)
{
    static const char *const library[] = {
        "_ZNSt6vectorIiSaIiEE7reserveEm",
        "_ZN9__gnu_cxx13new_allocatorIiE8allocateEmPKv",
        "_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE",
        "_ZN3std2io5stdio6_print17h0123456789abcdefE",
        "_ZN63_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
        "_ZN52_$LT$T$u20$as$u20$alloc..slice..hack..ConvertVec$GT$6to_vec17h0123456789abcdefE",
        "_RINvNtC3std3mem8align_ofdE",
    };
    static const char *const own[] = {
        "main",
        "_Z3addii",
        "_ZN6shapes4areaEv",
        "_ZN6boxes25build17h0123456789abcdefE",
        "_ZN5allocator3get17h0123456789abcdefE",
        "_ZN56_$LT$mine..Node$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
        "_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$mine..Total$GT$5total17h0123456789abcdefE",
        "_RNvCskwGfYPst2Cb_3foo16example_function",
    };
    (void)state;
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        if (!loader_is_library(library[i]))
            fail_msg("%s is no library", library[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (loader_is_library(own[i]))
            fail_msg("%s is the library", own[i]);
}

static void test_names_of_cxx(void **state)
{
    (void)state;
    check_declaration("cxx", "_ZN6shapes11global_ringE", 8 * 4 + 4, "ring<int, 8> _ZN6shapes11global_ringE");
    check_declaration("cxx", "_ZN6shapesL5boxesE", 3 * 8, "box _ZN6shapesL5boxesE[3]");
    struct c2_map *shown;
    assert_int_equal(c2_map_create(&shown, NULL), C2_OK);
    const char *ring = loader_names_shown(names, shown, "_ZN6shapes11global_ringE@@V1");
    assert_string_equal(ring, "shapes::global_ring");
    assert_ptr_equal(loader_names_shown(names, shown, "_ZN6shapes11global_ringE"), ring);
    assert_string_equal(loader_names_shown(names, shown, "_ZZL7countervE5count"), "counter()::count");
    assert_string_equal(loader_names_shown(names, shown, "_ZNK6shapes3box4areaEv.cold"),
                        "shapes::box::area() const [clone .cold]");
    assert_string_equal(loader_names_shown(names, shown, "_Z3mulRKSt6vectorIdSaIdEEi"),
                        "mul(std::vector<double, std::allocator<double> > const&, int)");
    assert_string_equal(loader_names_shown(names, shown, "_ZSt4swapIiEvRT_S1_"), "void std::swap<int>(int&, int&)");
    assert_string_equal(loader_names_shown(names, shown, "_Z"), "_Z");
    assert_string_equal(loader_names_shown(names, shown, "_R"), "_R");
    assert_string_equal(loader_names_shown(names, shown, "i"), "i"); /* a type to the demangler, a variable to us */
    assert_string_equal(loader_names_shown(names, shown, "main"), "main");
    c2_map_destroy(shown);
}

/* ------------------------------------------------------------------ damaged files, no memory */

/* A copy of the guest; the caller unlinks it. */
static int copy_of(const char *guest, char *path, unsigned char **bytes, size_t *count)
{
    char from[512];
    struct stat st;
    snprintf(from, sizeof from, GUESTS "/%s", guest);
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    *count = (size_t)st.st_size;
    *bytes = c2_alloc(*count);
    assert_int_equal(pread(fd, *bytes, *count, 0), *count);
    close(fd);
    int copy = mkstemp(path);
    assert_int_equal(write(copy, *bytes, *count), *count);
    return copy;
}

static void check_sane(const char *path)
{
    struct loader_module *module = open_path(path);
    loader_ranges_check(&module->variables);
    for (size_t i = 0; i < module->variables.count; i++) {
        const struct loader_range *range = &module->variables.items[i];
        assert_true(loader_elf_holds(&module->elf, range->start, range->end));
        assert_true(i == 0 || range[-1].end <= range->start);
    }
    loader_module_close(module);
}

/* Cut at every byte of the ELF header and the program headers, and of the section headers at its end; elsewhere at
 * every 97th byte. */
static void test_cut_files(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-cut-XXXXXX";
    unsigned char *bytes;
    size_t count;
    int fd = copy_of("data", path, &bytes, &count);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    size_t head = header->e_phoff + (size_t)header->e_phnum * sizeof(Elf64_Phdr), tail = header->e_shoff;
    for (size_t cut = count; cut-- > 0;) {
        if (cut > head && cut < tail && cut % 97 != 0)
            continue;
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        check_sane(path);
    }
    close(fd);
    unlink(path);
    c2_free(bytes);
}

/* Random bytes in section headers, symbols and DWARF. */
static void test_damaged_files(void **state)
{
    (void)state;
    char path[] = "/tmp/c2emu-damaged-XXXXXX";
    unsigned char *good;
    size_t count, low = 0x3000; /* what is not loaded lies behind */
    int fd = copy_of("data", path, &good, &count);
    struct c2_rng rng;
    c2_rng_init(&rng, 5, "damaged variables");
    for (int round = 0; round < 1500; round++) {
        size_t at = low + (size_t)c2_rng_below(&rng, count - low - 8), width = (size_t)1 << c2_rng_below(&rng, 4);
        uint64_t value = round % 3 ? c2_rng_next(&rng) : 0;
        assert_int_equal(pwrite(fd, &value, width, (off_t)at), width);
        check_sane(path);
        assert_int_equal(pwrite(fd, good + at, width, (off_t)at), width);
    }
    close(fd);
    unlink(path);
    c2_free(good);
}

/* The first whose name begins so: statics of functions have a number behind theirs. */
static uint32_t variable_named(const struct loader_module *module, const char *name)
{
    uint32_t i = 0;
    while (i < module->variables.count &&
           strncmp(loader_symbol_name(module->variables.items[i].value), name, strlen(name)) != 0)
        i++;
    assert_true(i < module->variables.count);
    return i;
}

static void expect_type(const struct loader_module *module, uint32_t variable, const char *before, const char *after)
{
    assert_string_equal(module->types[variable].before, before);
    assert_string_equal(module->types[variable].after, after);
}

/* What is in functions is looked into when something is asked for that is not outside. */
static void test_types_in_functions_come_last(void **state)
{
    (void)state;
    struct loader_module *module = NULL;
    struct stat st;
    assert_int_equal(stat(GUESTS "/data", &st), 0);
    assert_int_equal(loader_module_open(&module, GUESTS "/data", st.st_ino, st.st_dev, NULL), C2_OK);
    assert_int_equal(loader_module_variables(module, NULL), C2_OK);
    const uint32_t outside = variable_named(module, "local_table"), inside = variable_named(module, "scratch.");
    assert_int_equal(loader_module_type(module, outside, names, NULL), C2_OK);
    expect_type(module, outside, "unsigned char ", "[256]");
    assert_true(!module->type_search.within && !module->types[inside].before);
    assert_int_equal(loader_module_type(module, inside, names, NULL), C2_OK);
    expect_type(module, outside, "unsigned char ", "[256]");
    expect_type(module, inside, "char ", "[64]");
    assert_true(module->type_search.within);
    loader_module_close(module);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct loader_module *module = NULL;
    enum c2_status status = C2_ERR_NO_MEMORY;
    struct stat st;
    assert_int_equal(stat(GUESTS "/data", &st), 0);
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct loader_names *own;
        assert_int_equal(loader_names_create(&own, NULL), C2_OK);
        assert_int_equal(loader_module_open(&module, GUESTS "/data", st.st_ino, st.st_dev, NULL), C2_OK);
        c2_alloc_fail_from(n);
        status = loader_module_variables(module, NULL);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && module->variables.count == 0));
        if (status == C2_OK)
            status = loader_module_type(module, (uint32_t)(n % module->variables.count), own, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        assert_int_equal(loader_module_variables(module, NULL), C2_OK); /* asked again, it knows */
        assert_int_equal(loader_module_type(module, 0, own, NULL), C2_OK);
        assert_true(module->variables.count > 25 && module->types);
        loader_module_close(module);
        loader_names_destroy(own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_agree_with_nm),
        cmocka_unit_test(test_the_comparison_notices_a_wrong_extent),
        cmocka_unit_test(test_variables_of_libc),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_types_in_functions_come_last),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_arrays_of_all_languages),
        cmocka_unit_test(test_names_of_libraries),
        cmocka_unit_test(test_what_is_left_out),
        cmocka_unit_test(test_names_of_cxx),
        cmocka_unit_test(test_names_of_rust),
        cmocka_unit_test(test_older_names_of_rust),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
