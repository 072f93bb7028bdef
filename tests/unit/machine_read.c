/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine files that are right: the presets against a table of the hardware, what is taken for keys left out,
 * overrides, directories of machines. The wrong ones are in caches_machine_errors.c. */
#include "machine/machine.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MACHINES C2_SOURCE_DIR "/machines"
#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static char directory[64]; /* scratch, removed at the end; the working directory of this test */

static void read_with(struct caches_machine *machine, const char *name, const char *const *overrides, size_t count)
{
    struct c2_error err = {0};
    if (machine_read(machine, name, MACHINES, overrides, count, &err) != C2_OK)
        fail_msg("%s: %s", name, err.text);
}

static void read_machine(struct caches_machine *machine, const char *name) { read_with(machine, name, NULL, 0); }

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* ------------------------------------------------------------------ the presets */

struct level_row {
    const char *name;
    uint64_t size_bytes;
    uint32_t ways, sets, slices;
    const char *hash;
    enum caches_inclusion inclusion;
    uint32_t latency;
};

struct machine_row {
    const char *name;
    bool has_l1i;
    uint64_t physical_bytes;
    uint32_t level_count;
    struct level_row level[4]; /* the data path, then L1I */
};

#define NI CACHES_NON_INCLUSIVE
#define IN CACHES_INCLUSIVE
#define EX CACHES_EXCLUSIVE
#define L1I_32K(latency) \
    { \
        "L1I", 32 * KIB, 8, 64, 1, "none", NI, latency \
    }

/* CPUID leaf 4 (Intel) and 8000001D (AMD): ways, sets; the size they multiply to; slices as the publications of the
 * hashes have them; latencies as measured. The sets are of one slice. */
static const struct machine_row rows[] = {
    {"c2sim",
     false,
     64 * GIB,
     3,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4},
      {"L2", 256 * KIB, 8, 512, 1, "none", NI, 12},
      {"L3", 20 * MIB, 20, 2048, 8, "lin8", IN, 43}}},
    {"haswell-ep",
     true,
     64 * GIB,
     3,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4},
      {"L2", 256 * KIB, 8, 512, 1, "none", NI, 12},
      {"L3", 20 * MIB, 20, 2048, 8, "lin8", IN, 53},
      L1I_32K(4)}},
    {"icelake-sp",
     true,
     64 * GIB,
     3,
     {{"L1D", 48 * KIB, 12, 64, 1, "none", NI, 5},
      {"L2", 1280 * KIB, 20, 1024, 1, "none", NI, 14},
      {"L3", 60 * MIB, 12, 2048, 40, "cf40", EX, 77},
      L1I_32K(5)}},
    {"sandybridge-ep",
     true,
     64 * GIB,
     3,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4},
      {"L2", 256 * KIB, 8, 512, 1, "none", NI, 12},
      {"L3", 20 * MIB, 20, 2048, 8, "lin8", IN, 43},
      L1I_32K(4)}},
    {"skylake",
     true,
     64 * GIB,
     3,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4},
      {"L2", 256 * KIB, 4, 1024, 1, "none", NI, 12},
      {"L3", 8 * MIB, 16, 2048, 4, "lin4", IN, 44},
      L1I_32K(4)}},
    {"skylake-sp",
     true,
     64 * GIB,
     3,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4},
      {"L2", 1 * MIB, 16, 1024, 1, "none", NI, 14},
      {"L3", 22 * MIB, 11, 2048, 16, "lin16", EX, 75},
      L1I_32K(4)}},
    {"teach",
     true,
     64 * MIB,
     3,
     {{"L1D", 2 * KIB, 2, 16, 1, "none", NI, 3},
      {"L2", 32 * KIB, 4, 128, 1, "none", NI, 10},
      {"L3", 256 * KIB, 8, 256, 2, "teach2", IN, 30},
      {"L1I", 2 * KIB, 2, 16, 1, "none", NI, 3}}},
    {"weidendorfer",
     false,
     64 * GIB,
     2,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4}, {"L2", 3 * MIB, 12, 4096, 1, "none", IN, 30}}},
    {"zen3",
     true,
     64 * GIB,
     3,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4},
      {"L2", 512 * KIB, 8, 1024, 1, "none", IN, 12},
      {"L3", 32 * MIB, 16, 4096, 8, "amd-low8", EX, 48},
      L1I_32K(4)}},
    {"zen4",
     true,
     64 * GIB,
     3,
     {{"L1D", 32 * KIB, 8, 64, 1, "none", NI, 4},
      {"L2", 1 * MIB, 8, 2048, 1, "none", IN, 14},
      {"L3", 32 * MIB, 16, 4096, 8, "amd-low8", EX, 52},
      L1I_32K(4)}},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void check_level(const struct caches_machine *machine, const struct caches_level *level,
                        const struct level_row *row, enum caches_index index)
{
    assert_string_equal(level->name, row->name);
    assert_int_equal(level->size_bytes, row->size_bytes);
    assert_int_equal(level->ways, row->ways);
    assert_int_equal(level->slices, row->slices);
    assert_int_equal(caches_level_sets(machine, level), row->sets);
    assert_int_equal(row->size_bytes, (uint64_t)row->ways * 64 * row->sets * row->slices); /* the table itself */
    assert_string_equal(level->hash, row->hash);
    assert_int_equal(level->inclusion, row->inclusion);
    assert_int_equal(level->latency_cycles, row->latency);
    assert_int_equal(level->policy, CACHES_LRU);
    assert_int_equal(level->index, index);
}

static void test_presets(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct caches_machine machine;
        read_machine(&machine, rows[i].name);
        assert_string_equal(machine.name, rows[i].name);
        assert_true(machine.description[0] != '\0');
        assert_string_equal(machine.directory, MACHINES);
        assert_int_equal(machine.line_bytes, 64);
        assert_int_equal(machine.physical_bytes, rows[i].physical_bytes);
        assert_int_equal(machine.has_l1i, rows[i].has_l1i);
        assert_int_equal(machine.level_count, rows[i].level_count);
        for (uint32_t level = 0; level < machine.level_count; level++)
            check_level(&machine, &machine.levels[level], &rows[i].level[level],
                        level ? CACHES_PHYSICAL : CACHES_VIRTUAL);
        if (machine.has_l1i)
            check_level(&machine, &machine.l1i, &rows[i].level[3], CACHES_VIRTUAL);
    }
}

static void test_every_preset_is_in_the_table(void **state)
{
    (void)state;
    char **names;
    size_t count;
    struct c2_error err;
    assert_int_equal(machine_names(&names, &count, MACHINES, &err), C2_OK);
    assert_int_equal(count, ROW_COUNT);
    for (size_t i = 0; i < ROW_COUNT; i++) /* both are sorted */
        assert_string_equal(names[i], rows[i].name);
    machine_names_free(names, count);
}

/* Every number of a preset of hardware says where it comes from: after its ; stands a letter and a colon, or a word
 * of why. teach is no hardware. */
static void check_comments(const char *name)
{
    char path[512], line[256];
    snprintf(path, sizeof path, MACHINES "/%s.ini", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        bool key = strstr(line, " = ") && line[0] != ';';
        bool names_itself = strncmp(line, "name ", 5) == 0 || strncmp(line, "description ", 12) == 0;
        if (key && !names_itself && !strstr(line, " ; "))
            fail_msg("%s: no source: %s", name, line);
        assert_true(strlen(line) <= 121);
    }
    fclose(file);
}

static void test_every_value_has_its_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, "teach") != 0)
            check_comments(rows[i].name);
}

/* ------------------------------------------------------------------ files of one's own */

/* Why write-backs have no price (docs/model.md): to write a line to memory takes the path fewer cycles than the miss
 * has waited that brought it in. */
static void test_write_backs_limit_nothing(void **state)
{
    (void)state;
    char **names;
    size_t count, known = 0;
    assert_int_equal(machine_names(&names, &count, MACHINES, NULL), C2_OK);
    for (size_t i = 0; i < count; i++) {
        struct caches_machine machine;
        read_machine(&machine, names[i]);
        if (machine.memory.write == 0)
            continue;
        known++;
        assert_true(1000 * machine.line_bytes / machine.memory.write <
                    caches_costs(&machine).miss[machine.level_count - 1]);
    }
    machine_names_free(names, count);
    assert_int_equal(known, 4);
}

static void test_what_is_taken_when_left_out(void **state)
{
    (void)state;
    struct caches_machine machine;
    write_file("least.ini", "[machine]\nname = least\nline = 32\n[L1D]\nsize = 96\nways = 3\n");
    read_machine(&machine, "least.ini");
    const struct caches_level *l1d = &machine.levels[0];
    assert_string_equal(machine.name, "least");
    assert_string_equal(machine.description, "");
    assert_string_equal(machine.directory, ".");
    assert_int_equal(machine.line_bytes, 32);
    assert_int_equal(machine.physical_bytes, 64 * GIB);
    assert_false(machine.has_l1i);
    assert_int_equal(machine.level_count, 1);
    assert_string_equal(l1d->name, "L1D");
    assert_int_equal(caches_level_sets(&machine, l1d), 1);
    assert_int_equal(l1d->slices, 1);
    assert_string_equal(l1d->hash, "none");
    assert_int_equal(l1d->policy, CACHES_LRU);
    assert_int_equal(l1d->index, CACHES_VIRTUAL);
    assert_int_equal(l1d->inclusion, CACHES_NON_INCLUSIVE);
    assert_int_equal(l1d->latency_cycles, 0);
}

static void test_four_levels_in_any_order(void **state)
{
    (void)state;
    struct caches_machine machine;
    write_file("four.ini",
               "\xef\xbb\xbf; a mark, then a comment\n[L4]\nsize = 1M ; of all\nways=16\npolicy = brrip\n"
               "inclusion = exclusive\n# another\n\n[L2]\nsize: 3K\nways: 6\npolicy: nru\nindex = virtual\n"
               "[machine]\r\nname = four\r\nline = 8\r\nphysical_memory = 0x100000\r\n"
               "[L3]\nsize = 64K\nways = 64\npolicy = srrip\ninclusion = inclusive\n   ; indented comment\n \t\n"
               "[L1D]\nsize = 1K\nways = 1\npolicy = random\nindex = physical\n"
               "[L1I] ; with a comment\nsize = 2K\nways = 4\npolicy = tree-plru\nlatency = 0x10\n");
    read_machine(&machine, "./four.ini");
    assert_int_equal(machine.level_count, 4);
    assert_true(machine.has_l1i);
    assert_int_equal(machine.physical_bytes, 1 * MIB);
    const struct caches_level *level = machine.levels;
    static const char *const names[] = {"L1D", "L2", "L3", "L4"};
    static const enum caches_policy policies[] = {CACHES_RANDOM, CACHES_NRU, CACHES_SRRIP, CACHES_BRRIP};
    static const uint32_t sets[] = {128, 64, 128, 8192};
    static const enum caches_inclusion inclusions[] = {NI, NI, IN, EX};
    static const enum caches_index indices[] = {CACHES_PHYSICAL, CACHES_VIRTUAL, CACHES_PHYSICAL, CACHES_PHYSICAL};
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(level[i].name, names[i]);
        assert_int_equal(level[i].policy, policies[i]);
        assert_int_equal(caches_level_sets(&machine, &level[i]), sets[i]);
        assert_int_equal(level[i].inclusion, inclusions[i]);
        assert_int_equal(level[i].index, indices[i]);
    }
    assert_string_equal(machine.l1i.name, "L1I");
    assert_int_equal(machine.l1i.latency_cycles, 16);
    assert_int_equal(machine.l1i.policy, CACHES_TREE_PLRU);
    assert_int_equal(machine.l1i.index, CACHES_VIRTUAL);
}

static void test_names_of_words(void **state)
{
    (void)state;
    static const char *const policies[] = {"lru",   "fifo",  "random", "tree-plru", "nru",
                                           "srrip", "brrip", "drrip",  "ship",      "ship-mem"};
    for (unsigned i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        char override[32];
        const char *overrides[] = {override};
        struct caches_machine machine;
        sprintf(override, "L2.policy=%s", policies[i]);
        read_with(&machine, "teach", overrides, 1);
        assert_int_equal(machine.levels[1].policy, i);
        assert_string_equal(caches_policy_name((enum caches_policy)i), policies[i]);
    }
    assert_string_equal(caches_inclusion_name(CACHES_NON_INCLUSIVE), "non-inclusive");
    assert_string_equal(caches_inclusion_name(CACHES_INCLUSIVE), "inclusive");
    assert_string_equal(caches_inclusion_name(CACHES_EXCLUSIVE), "exclusive");
    assert_string_equal(caches_index_name(CACHES_VIRTUAL), "virtual");
    assert_string_equal(caches_index_name(CACHES_PHYSICAL), "physical");
}

/* The masks of a base sequence may go on in indented lines, and its file lies beside the machine's. */
#define MASKED_LEVEL \
    "[machine]\nname = masked\nline = 64\nphysical_memory = 1M\n[L1D]\nsize = 1K\nways = 2\n" \
    "[L2]\nsize = 16K\nways = 4\nslices = 4\nhash = perm:sub.txt\n"

static void test_hash_of_a_file(void **state)
{
    (void)state;
    struct caches_machine machine;
    assert_int_equal(mkdir("sub", 0700), 0);
    write_file("sub/sub.txt", "0\n1\n2\n3\n");
    write_file("sub/masked.ini", MASKED_LEVEL "hash_masks = 0x10100,\n             0xf0200\nlatency = 9\n");
    read_machine(&machine, "sub/masked.ini");
    assert_string_equal(machine.directory, "sub");
    assert_string_equal(machine.levels[1].hash, "perm:sub.txt:0x10100,0xf0200");
    assert_int_equal(machine.levels[1].latency_cycles, 9);
    static const char *const other[] = {"L2.hash=modulo"}; /* leaves the masks of the first behind */
    read_with(&machine, "sub/masked.ini", other, 1);
    assert_string_equal(machine.levels[1].hash, "modulo");
    static const char *const masks[] = {"L2.hash_masks=0x80000, 0x40000"};
    read_with(&machine, "sub/masked.ini", masks, 1);
    assert_string_equal(machine.levels[1].hash, "perm:sub.txt:0x80000,0x40000");
    unlink("sub/sub.txt");
    unlink("sub/masked.ini");
    rmdir("sub");
}

/* ------------------------------------------------------------------ overrides */

static void test_overrides(void **state)
{
    (void)state;
    static const char *const overrides[] = {
        "L2.ways=4",  "machine.physical_memory=1G",  "L1I.size=64K",   "L3.inclusion=non-inclusive",
        "L2.ways=16", "machine.description=a = b.c", "L3.policy=fifo",
    };
    struct caches_machine machine;
    read_with(&machine, "sandybridge-ep", overrides, sizeof overrides / sizeof overrides[0]);
    assert_int_equal(machine.levels[1].ways, 16); /* the last one wins */
    assert_int_equal(caches_level_sets(&machine, &machine.levels[1]), 256);
    assert_int_equal(machine.physical_bytes, 1 * GIB);
    assert_int_equal(machine.l1i.size_bytes, 64 * KIB);
    assert_int_equal(machine.levels[2].inclusion, CACHES_NON_INCLUSIVE);
    assert_int_equal(machine.levels[2].policy, CACHES_FIFO);
    assert_string_equal(machine.description, "a = b.c");
    assert_int_equal(machine.levels[0].ways, 8);
}

/* Only the whole is checked: two changes that fit together may each alone not fit. */
static void test_overrides_are_checked_together(void **state)
{
    (void)state;
    static const char *const overrides[] = {"L3.slices=16", "L3.hash=lin16", "L3.size=40M"};
    struct caches_machine machine;
    read_with(&machine, "sandybridge-ep", overrides, 3);
    assert_int_equal(machine.levels[2].slices, 16);
    assert_int_equal(caches_level_sets(&machine, &machine.levels[2]), 2048);
}

/* The largest memory that each hash allows; one page more is refused (caches_machine_errors.c). */
static void test_reach_of_the_hashes(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *most;
    } cases[] = {
        {"sandybridge-ep", "256G"},
        {"icelake-sp", "256G"},
        {"teach", "64M"},
        {"zen4", "1T"},
    };
    for (unsigned i = 0; i < 4; i++) {
        char override[64];
        const char *overrides[] = {override};
        struct caches_machine machine;
        sprintf(override, "machine.physical_memory=%s", cases[i].most);
        read_with(&machine, cases[i].machine, overrides, 1);
    }
}

/* ------------------------------------------------------------------ directories of machines */

static void test_names_of_a_directory(void **state)
{
    (void)state;
    char **names;
    size_t count;
    struct c2_error err;
    assert_int_equal(mkdir("machines", 0700), 0);
    assert_int_equal(machine_names(&names, &count, "machines", &err), C2_OK);
    assert_int_equal(count, 0);
    machine_names_free(names, count);
    static const char *const files[] = {"machines/b.ini", "machines/a-b.ini",   "machines/.hidden.ini",
                                        "machines/.ini",  "machines/notes.txt", "machines/ini",
                                        "machines/B.ini"};
    for (unsigned i = 0; i < 7; i++)
        write_file(files[i], "");
    assert_int_equal(machine_names(&names, &count, "machines", &err), C2_OK);
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "B"); /* bytes, not letters of a language */
    assert_string_equal(names[1], "a-b");
    assert_string_equal(names[2], "b");
    machine_names_free(names, count);
    for (unsigned i = 0; i < 7; i++)
        unlink(files[i]);
    rmdir("machines");
}

static void test_names_of_no_directory(void **state)
{
    (void)state;
    char **names = (char **)1;
    size_t count = 7;
    struct c2_error err;
    assert_int_equal(machine_names(&names, &count, "absent", &err), C2_ERR_NOT_FOUND);
    assert_string_equal(err.text, "the directory of machines, absent, cannot be read: No such file or directory");
    assert_null(names);
    assert_int_equal(count, 0);
    machine_names_free(NULL, 0);
}

/* ------------------------------------------------------------------ */

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/c2-machine-XXXXXX");
    return mkdtemp(directory) ? chdir(directory) : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink("least.ini");
    unlink("four.ini");
    return chdir("/") || rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_every_preset_is_in_the_table),
        cmocka_unit_test(test_every_value_has_its_source),
        cmocka_unit_test(test_write_backs_limit_nothing),
        cmocka_unit_test(test_what_is_taken_when_left_out),
        cmocka_unit_test(test_four_levels_in_any_order),
        cmocka_unit_test(test_names_of_words),
        cmocka_unit_test(test_hash_of_a_file),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_overrides_are_checked_together),
        cmocka_unit_test(test_reach_of_the_hashes),
        cmocka_unit_test(test_names_of_a_directory),
        cmocka_unit_test(test_names_of_no_directory),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
