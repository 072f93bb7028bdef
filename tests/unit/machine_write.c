/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machines written as files: read again they are the same machines; and the documentation's tables of keys, which are
 * those of the program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/machine.h"

#define MACHINES C2_SOURCE_DIR "/machines"
#define SEQUENCE "0\n1\n2\n0\n1\n2\n0\n1\n"

static char directory[64]; /* scratch, removed at the end; the working directory of this test */

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static char *text_of(const struct caches_machine *machine)
{
    char *text;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    machine_write(file, machine);
    fclose(file);
    return text;
}

/* What is written is read, and is what it was but for the directory, which is that of the file. */
static void assert_survives(const struct caches_machine *machine)
{
    char *text = text_of(machine);
    struct caches_machine again;
    struct c2_error err;
    write_file("again.ini", text);
    if (machine_read(&again, "./again.ini", NULL, NULL, 0, &err) != C2_OK)
        fail_msg("%s: %s\n%s", machine->name, err.text, text);
    memcpy(again.directory, machine->directory, sizeof again.directory);
    assert_memory_equal(machine, &again, sizeof again);
    free(text);
}

static void test_every_preset_survives(void **state)
{
    (void)state;
    char **names;
    size_t count;
    struct caches_machine machine;
    assert_int_equal(machine_names(&names, &count, MACHINES, NULL), C2_OK);
    assert_true(count >= 9);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(machine_read(&machine, names[i], MACHINES, NULL, 0, NULL), C2_OK);
        assert_survives(&machine);
    }
    machine_names_free(names, count);
}

static void test_every_key_survives(void **state)
{
    (void)state;
    static const char *const overrides[] = {
        "machine.description=another",
        "machine.physical_memory=3G",
        "L1D.size=48K",
        "L1D.ways=16",
        "L2.policy=brrip",
        "L2.policy=ship",
        "L1D.write=through",
        "L3.ways_of=core 0: 0xf",
        "L1D.allocate=no",
        "L2.index=virtual",
        "L2.latency=999999",
        "L2.read_bandwidth=12.889",
        "L3.write_bandwidth=0.05",
        "machine.flops_per_cycle=9999.999",
        "machine.sharing_penalty=125",
        "machine.snoop_filter=24",
        "machine.snoop_filter_ways=12",
        "machine.prefetcht0=L2",
        "machine.prefetcht1=L3",
        "machine.prefetcht2=L1D",
        "machine.prefetchnta=L2",
        "machine.write_combining=12",
        "L3.inclusion=exclusive",
        "STLB.index=vpn[6:0]^vpn[13:7]",
        "walks.from=L3",
        "walks.mode=cached",
        "walks.latency=17",
        "ITLB-4K.latency=3",
    };
    struct caches_machine machine;
    struct c2_error err;
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        if (machine_read(&machine, "skylake", MACHINES, &overrides[i], 1, &err) != C2_OK)
            fail_msg("%s", err.text);
        assert_survives(&machine);
    }
}

/* The sequence lies beside the machine's file, and is found from elsewhere too. */
static void test_a_base_sequence_survives(void **state)
{
    (void)state;
    struct caches_machine machine, again;
    struct c2_error err;
    assert_int_equal(symlink(".", "beside"), 0);
    write_file("sequence.txt", SEQUENCE);
    write_file("masked.ini",
               "[machine]\nname = masked\nline = 64\nphysical_memory = 1G\n[L1D]\nsize = 3K\nways = 2\nslices = 3\n"
               "index = physical\nhash = perm:sequence.txt\nhash_masks = 0x20000200,\n 0x40000400,\n  0x80000800\n");
    if (machine_read(&machine, "beside/masked.ini", NULL, NULL, 0, &err) != C2_OK)
        fail_msg("%s", err.text);
    char *text = text_of(&machine), *real = realpath("sequence.txt", NULL), expected[256];
    snprintf(expected, sizeof expected, "\nhash = perm:%s\nhash_masks = 0x20000200,0x40000400,0x80000800\n", real);
    assert_non_null(strstr(text, expected));
    write_file("again.ini", text);
    assert_int_equal(machine_read(&again, "./again.ini", NULL, NULL, 0, &err), C2_OK);
    assert_string_equal(strrchr(again.levels[0].hash, ':'), ":0x20000200,0x40000400,0x80000800");
    free(real);
    free(text);
}

static void test_the_documented_keys_are_these(void **state)
{
    (void)state;
    static char page[1 << 16];
    char *keys;
    size_t bytes;
    FILE *file = fopen(PAGE, "r"), *to = open_memstream(&keys, &bytes);
    assert_non_null(file);
    assert_in_range(fread(page, 1, sizeof page - 1, file), 1000, sizeof page - 2);
    fclose(file);
    machine_write_keys(to);
    fclose(to);
    if (!strstr(page, keys))
        fail_msg("docs/machine-files.md lacks these tables:\n%s", keys);
    free(keys);
}

static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/c2_machine_write.XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    static const char *const files[] = {"again.ini", "masked.ini", "sequence.txt", "beside"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(files[i]);
    return chdir("/") == 0 ? rmdir(directory) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_preset_survives),
        cmocka_unit_test(test_every_key_survives),
        cmocka_unit_test(test_a_base_sequence_survives),
        cmocka_unit_test(test_the_documented_keys_are_these),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
