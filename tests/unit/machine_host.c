/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machine files of processors that this is not: what they say of themselves is made up, or as published.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/host_priv.h"

#define MACHINES C2_SOURCE_DIR "/machines"
#define NO_FILES "/nonexistent"

/* One row a leaf; ends with a row of zeroes behind the first. */
struct leaf {
    uint32_t leaf, sub, answer[4];
};
#define INTEL_VENDOR \
    { \
        0, 0, { 22, 0x756e6547, 0x6c65746e, 0x49656e69 } \
    }
#define AMD_VENDOR \
    { \
        0, 0, { 16, 0x68747541, 0x444d4163, 0x69746e65 } \
    }
/* EAX of type and level, EBX of ways and lines of 64 bytes, ECX of sets. */
#define CACHE(leaf, sub, type, level, ways, sets) \
    { \
        leaf, sub, { (level) << 5 | (type), ((ways)-1) << 22 | 63, (sets)-1, 0 } \
    }

static void ask(void *self, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    for (const struct leaf *row = self; row->leaf != 0 || row->answer[0] != 0; row++)
        if (row->leaf == leaf && row->sub == sub)
            memcpy(out, row->answer, sizeof row->answer);
}

static enum c2_status write_file(char **text, const struct leaf *leaves, const char *sysfs, struct c2_error *err)
{
    size_t bytes;
    const struct machine_processor processor = {(void *)leaves, ask, sysfs};
    FILE *to = open_memstream(text, &bytes);
    assert_non_null(to);
    const enum c2_status status = machine_host_write(to, &processor, MACHINES, err);
    fclose(to);
    return status;
}

/* The machine that the file makes. */
static void read_text(struct caches_machine *out, const char *text)
{
    char path[64];
    struct c2_error err;
    snprintf(path, sizeof path, "/tmp/c2-host-%ld.ini", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    if (machine_read(out, path, NULL, NULL, 0, &err) != C2_OK)
        fail_msg("%s\n%s", err.text, text);
    unlink(path);
}

static char *made(struct caches_machine *out, const struct leaf *leaves, const char *sysfs)
{
    char *text;
    struct c2_error err;
    if (write_file(&text, leaves, sysfs, &err) != C2_OK)
        fail_msg("%s", err.text);
    read_text(out, text);
    return text;
}

static void assert_refused(const struct leaf *leaves, const char *sysfs, const char *expected)
{
    char *text;
    struct c2_error err;
    assert_int_not_equal(write_file(&text, leaves, sysfs, &err), C2_OK);
    assert_string_equal(err.text, expected);
    free(text);
}

/* ------------------------------------------------------------------ processors */

/* A60F12: what zen4.ini is from. */
static const struct leaf zen4[] = {
    AMD_VENDOR,
    {1, 0, {0x00a60f12, 0, 0, 0}},
    {0x80000002, 0, {0x20444d41, 0x657a7952, 0x2039206e, 0x30353937}},
    {0x80000005, 0, {0xff48ff40, 0xff48ff40, 0, 0}},
    {0x80000006, 0, {0x5c002200, 0x6c004200, 0, 0}},
    CACHE(0x8000001d, 0, 1, 1, 8, 64),
    CACHE(0x8000001d, 1, 2, 1, 8, 64),
    CACHE(0x8000001d, 2, 3, 2, 8, 2048),
    CACHE(0x8000001d, 3, 3, 3, 16, 32768),
    {0, 0, {0}},
};

static void the_included_one(void **state)
{
    (void)state;
    struct caches_machine host, same;
    char *text = made(&host, zen4, NO_FILES);
    assert_non_null(
        strstr(text, "; This processor: AMD Ryzen 9 7950, AuthenticAMD, family 25, model 97, stepping 2.\n"));
    assert_non_null(strstr(text, "description = AMD Ryzen 9 7950, the rest as zen4\n"));
    assert_non_null(strstr(text, "\nsize = 32M                 ; A: CPUID leaf 0x8000001D\n"));
    assert_non_null(strstr(text, "\nlatency = 52               ; C: as zen4 has it\n"));
    assert_int_equal(machine_read(&same, "zen4", MACHINES, NULL, 0, NULL), C2_OK);
    assert_string_equal(host.name, "host");
    memcpy(host.name, same.name, sizeof host.name);
    memcpy(host.description, same.description, sizeof host.description);
    memcpy(host.directory, same.directory, sizeof host.directory);
    assert_memory_equal(&host, &same, sizeof host);
    free(text);
}

/* Twelve cores with 2.5 MiB of L3 each: 24,576 sets are three times 8192. */
static const struct leaf broadwell[] = {
    INTEL_VENDOR,
    {1, 0, {0x000406f1, 0, 0, 0}},
    CACHE(4, 0, 1, 1, 8, 64),
    CACHE(4, 1, 2, 1, 8, 64),
    CACHE(4, 2, 3, 2, 8, 512),
    CACHE(4, 3, 3, 3, 20, 24576),
    {0, 0, {0}},
};

static void sets_that_are_no_power_of_two(void **state)
{
    (void)state;
    struct caches_machine host;
    char *text = made(&host, broadwell, NO_FILES);
    const struct caches_level *last = &host.levels[host.level_count - 1];
    assert_int_equal(last->size_bytes, 30 << 20);
    assert_int_equal(last->slices, 3);
    assert_string_equal(last->hash, "modulo");
    assert_non_null(strstr(text, "\nlatency = 53               ; C: as haswell-ep has it\n"));
    assert_non_null(strstr(text, "; C: a stand-in, by the line number\n"));
    free(text);
}

static void sizes_of_second_tlbs_in_units_of_32(void **state)
{
    (void)state;
    static const struct leaf zen5[] = {
        AMD_VENDOR,
        {1, 0, {0x00b00f21, 0, 0, 0}},
        {0x80000005, 0, {0, 0xff60ff40, 0, 0}},
        {0x80000006, 0, {0, 0x60804040, 0, 0}},
        {0x80000021, 0, {1 << 14, 0, 0, 0}},
        CACHE(0x8000001d, 0, 1, 1, 12, 64),
        CACHE(0x8000001d, 1, 2, 1, 8, 64),
        CACHE(0x8000001d, 2, 3, 2, 16, 1024),
        CACHE(0x8000001d, 3, 3, 3, 16, 32768),
        {0, 0, {0}},
    };
    struct caches_machine host;
    char *text = made(&host, zen5, NO_FILES);
    assert_int_equal(host.levels[0].size_bytes, 48 << 10);
    assert_int_equal(host.levels[0].ways, 12);
    assert_non_null(strstr(text, "[DTLB]\npages = 4K+2M+1G           ; C: as zen4 has it\nentries = 96 "));
    assert_non_null(strstr(text, "[L2-DTLB]\npages = 4K+2M+PDE          ; C: as zen4 has it\n"
                                 "entries = 4096             ; A: CPUID leaf 0x80000006\nways = 8 "));
    assert_non_null(strstr(text, "[L2-ITLB-4K]\npages = 4K                 ; C: as zen4 has it\n"
                                 "entries = 2048             ; A: CPUID leaf 0x80000006\nways = 4 "));
    free(text);
}

/* ------------------------------------------------------------------ Intel's TLBs */

#define SANDY_BRIDGE_CACHES \
    CACHE(4, 0, 1, 1, 8, 64), CACHE(4, 1, 2, 1, 8, 64), CACHE(4, 2, 3, 2, 8, 512), CACHE(4, 3, 3, 3, 20, 16384)

/* 206D5: bytes 5A, 03, 76, B2 and CA of leaf 2; the ITLB's are those of a thread. */
static void descriptors_of_leaf_2(void **state)
{
    (void)state;
    static const struct leaf sandy_bridge[] = {
        INTEL_VENDOR,
        {1, 0, {0x000206d5, 0, 0, 0}},
        {2, 0, {0x76035a01, 0x00f0b2ff, 0, 0x00ca0000}},
        SANDY_BRIDGE_CACHES,
        {0, 0, {0}},
    };
    struct caches_machine host;
    char *text = made(&host, sandy_bridge, NO_FILES);
    assert_non_null(strstr(text, "[DTLB-4K]\npages = 4K                 ; C: as sandybridge-ep has it\n"
                                 "entries = 64               ; A: CPUID leaf 2\n"));
    assert_non_null(strstr(text, "[DTLB-1G]\npages = 1G                 ; C: as sandybridge-ep has it\n"
                                 "entries = 4                ; C: as sandybridge-ep has it\n")); /* no byte of it */
    assert_non_null(strstr(text, "[ITLB-4K]\npages = 4K                 ; C: as sandybridge-ep has it\n"
                                 "entries = 64               ; A: CPUID leaf 2\n"
                                 "ways = 4                   ; A: CPUID leaf 2\n"));
    assert_null(strstr(text, "index = vpn")); /* the low bits, which need no word */
    assert_non_null(strstr(text, "entries = 512              ; A: CPUID leaf 2\n"));
    free(text);
}

/* 506E3: byte C3 says six ways, where twelve have been measured: as many entries, which stay as they are. A register
 * whose highest bit is set says nothing, whatever it holds. */
static void what_has_been_measured_stays(void **state)
{
    (void)state;
    static const struct leaf skylake[] = {
        INTEL_VENDOR,
        {1, 0, {0x000506e3, 0, 0, 0}},
        {2, 0, {0x76036301, 0x00f0b5ff, 0x800000b0, 0x00c30000}},
        CACHE(4, 0, 1, 1, 8, 64),
        CACHE(4, 1, 2, 1, 8, 64),
        CACHE(4, 2, 3, 2, 4, 1024),
        CACHE(4, 3, 3, 3, 16, 8192),
        {0, 0, {0}},
    };
    struct caches_machine host;
    char *text = made(&host, skylake, NO_FILES);
    assert_non_null(strstr(text, "entries = 1536             ; A: CPUID leaf 2\n"
                                 "ways = 12                  ; C: as skylake has it\n"));
    assert_non_null(strstr(text, "[ITLB-4K]\npages = 4K                 ; C: as skylake has it\n"
                                 "entries = 64               ; A: CPUID leaf 2\n"
                                 "ways = 8                   ; A: CPUID leaf 2\n"));
    free(text);
}

/* EBX of pages and ways, ECX of sets, EDX of what it is for, its level, and whether it is fully associative. */
#define TLB(sub, pages, ways, sets, type, level) \
    { \
        0x18, sub, { 0, (ways) << 16 | (pages), sets, (uint32_t)((sets) == 1) << 8 | (level) << 5 | (type) } \
    }
#define ICE_LAKE_CACHES \
    CACHE(4, 0, 1, 1, 12, 64), CACHE(4, 1, 2, 1, 8, 64), CACHE(4, 2, 3, 2, 20, 1024), CACHE(4, 3, 3, 3, 12, 81920)

/* 606A6, by what icelake-sp.ini has of its leaf 0x18. */
static void parts_of_leaf_18(void **state)
{
    (void)state;
    static const struct leaf ice_lake[] = {
        INTEL_VENDOR,
        {1, 0, {0x000606a6, 0, 0, 0}},
        {2, 0, {0x00feff01, 0xf0, 0, 0}},
        {0x18, 0, {7, 0, 0, 0}},
        TLB(1, 2 | 4, 8, 1, 2, 1),
        TLB(2, 1 | 2 | 4 | 8, 16, 1, 5, 1),
        TLB(3, 1, 4, 16, 4, 1),
        TLB(4, 2 | 4, 4, 8, 4, 1),
        TLB(5, 8, 8, 1, 4, 1),
        TLB(6, 1 | 2 | 4, 8, 128, 3, 2),
        TLB(7, 1 | 8, 8, 128, 3, 2),
        ICE_LAKE_CACHES,
        {0, 0, {0}},
    };
    static const char *const told[] = {"DTLB-load-4K", "DTLB-load-2M", "DTLB-load-1G", "DTLB-store",
                                       "ITLB-2M",      "STLB-A",       "STLB-B"};
    struct caches_machine host;
    char *text = made(&host, ice_lake, NO_FILES);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        char section[32];
        snprintf(section, sizeof section, "[%s]\n", told[i]);
        const char *at = strstr(text, section), *entries = at ? strstr(at, "entries = ") : NULL;
        const char *from = entries ? strchr(entries, ';') : NULL;
        if (!from || strncmp(from, "; A: CPUID leaf 0x18\n", 21) != 0)
            fail_msg("%s is not from leaf 0x18", told[i]);
    }
    assert_non_null(strstr(text, "[ITLB-4K]\npages = 4K                 ; C: as icelake-sp has it\n"
                                 "entries = 128              ; C: as icelake-sp has it\n")); /* no part of it */
    free(text);
}

/* Six ways, of which tree-plru knows nothing, and twice the sets of STLB-A. */
static void larger_tlbs(void **state)
{
    (void)state;
    static const struct leaf newer[] = {
        INTEL_VENDOR,
        {1, 0, {0x000806f8, 0, 0, 0}},
        {0x18, 0, {2, 0, 0, 0}},
        TLB(1, 1, 6, 16, 4, 1),
        TLB(2, 1 | 2 | 4, 8, 256, 3, 2),
        ICE_LAKE_CACHES,
        {0, 0, {0}},
    };
    struct caches_machine host;
    char *text = made(&host, newer, NO_FILES);
    assert_non_null(strstr(text, "entries = 96               ; A: CPUID leaf 0x18\n"
                                 "ways = 6                   ; A: CPUID leaf 0x18\n"
                                 "policy = lru               ; C: a stand-in, which is of any number of ways\n"));
    assert_non_null(strstr(text, "entries = 2048             ; A: CPUID leaf 0x18\n"
                                 "ways = 8                   ; A: CPUID leaf 0x18\n"));
    assert_null(strstr(text, "index = vpn"));
    free(text);
}

/* A second TLB for pages of 1 GiB: EBX of leaf 0x80000019, 15 being fully associative; what is 0 is not told. */
static void giant_pages(void **state)
{
    (void)state;
    struct leaf amd[] = {
        AMD_VENDOR,
        {1, 0, {0x00a60f12, 0, 0, 0}},
        {0x80000019, 0, {0xf048f040, 0xf0800000, 0, 0}},
        CACHE(0x8000001d, 0, 1, 1, 8, 64),
        CACHE(0x8000001d, 1, 2, 1, 8, 64),
        CACHE(0x8000001d, 2, 3, 2, 8, 2048),
        CACHE(0x8000001d, 3, 3, 3, 16, 32768),
        {0, 0, {0}},
    };
    struct caches_machine host;
    char *text = made(&host, amd, NO_FILES);
    assert_non_null(strstr(text, "[L2-DTLB-1G]\npages = 1G                 ; C: as zen4 has it\n"
                                 "entries = 128              ; A: CPUID leaf 0x80000019\n"));
    free(text);
    amd[2].answer[1] = 0;
    text = made(&host, amd, NO_FILES);
    assert_non_null(strstr(text, "[L2-DTLB-1G]\npages = 1G                 ; C: as zen4 has it\n"
                                 "entries = 64               ; C: as zen4 has it\n"));
    free(text);
}

/* ------------------------------------------------------------------ sysfs */

static void put(const char *directory, unsigned index, const char *name, const char *value)
{
    char path[128];
    snprintf(path, sizeof path, "%s/index%u/%s", directory, index, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", value);
    fclose(file);
}

static void put_all(const char *directory)
{
    static const char *const names[] = {"level", "type", "ways_of_associativity", "coherency_line_size",
                                        "number_of_sets"};
    static const char *const values[][5] = {{"1", "Data", "8", "64", "64"},
                                            {"1", "Instruction", "8", "64", "64"},
                                            {"2", "Unified", "16", "64", "1024"},
                                            {"3", "Unified", "11", "64", "65536"}};
    for (unsigned i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/index%u", directory, i);
        assert_int_equal(mkdir(path, 0700), 0);
        for (unsigned k = 0; k < 5; k++)
            put(directory, i, names[k], values[i][k]);
    }
}

static void remove_all(const char *directory)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    assert_int_equal(system(command), 0);
}

static const struct leaf hidden[] = {INTEL_VENDOR, {1, 0, {0x00050654, 0, 0, 0}}, {0, 0, {0}}};

static void what_a_hypervisor_hides(void **state)
{
    (void)state;
    char directory[] = "/tmp/c2-sysfs-XXXXXX";
    struct caches_machine host;
    assert_non_null(mkdtemp(directory));
    put_all(directory);
    char *text = made(&host, hidden, directory);
    assert_int_equal(host.levels[host.level_count - 1].size_bytes, 44 << 20); /* 32 slices would fit lin16's 16 */
    assert_int_equal(host.levels[host.level_count - 1].slices, 16);
    assert_non_null(strstr(text, "\nsize = 44M                 ; B: sysfs\n"));
    free(text);
    remove_all(directory);
}

/* ------------------------------------------------------------------ refused */

static void refused(void **state)
{
    (void)state;
    static const struct leaf other[] = {{0, 0, {1, 0x746e6543, 0x736c7561, 0x48727561}}, {0, 0, {0}}};
    static const struct leaf odd[] = {
        INTEL_VENDOR, {1, 0, {0x000406f1, 0, 0, 0}}, CACHE(4, 0, 1, 1, 8, 96), {0, 0, {0}}};
    static const struct leaf short_one[] = {INTEL_VENDOR,
                                            {1, 0, {0x000406f1, 0, 0, 0}},
                                            CACHE(4, 0, 1, 1, 8, 64),
                                            CACHE(4, 1, 2, 1, 8, 64),
                                            CACHE(4, 2, 3, 2, 8, 512),
                                            {0, 0, {0}}};
    assert_refused(other, NO_FILES,
                   "-m host: of processors by \"CentaurHauls\", family 0, no machine is included whose latencies could "
                   "stand in; write a machine file (c2emu machines NAME prints one to start from)");
    assert_refused(
        odd, NO_FILES,
        "-m host: L1D has 96 sets, which is no power of two, and so cannot be simulated; take -m haswell-ep");
    assert_refused(short_one, NO_FILES,
                   "-m host: neither CPUID (leaf 4) nor /nonexistent tells of an L3; take -m haswell-ep, or write a "
                   "machine file");
    assert_refused(hidden, NO_FILES,
                   "-m host: neither CPUID (leaf 4) nor /nonexistent tells of an L1D; take -m skylake-sp, or write a "
                   "machine file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_included_one),
        cmocka_unit_test(sets_that_are_no_power_of_two),
        cmocka_unit_test(sizes_of_second_tlbs_in_units_of_32),
        cmocka_unit_test(descriptors_of_leaf_2),
        cmocka_unit_test(what_has_been_measured_stays),
        cmocka_unit_test(parts_of_leaf_18),
        cmocka_unit_test(larger_tlbs),
        cmocka_unit_test(giant_pages),
        cmocka_unit_test(what_a_hypervisor_hides),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
