/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine files that are wrong: each mistake with the whole message it gets, files cut or altered anywhere, and
 * allocations that fail. */
#include "machine/machine.h"

#include <glob.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MACHINES C2_SOURCE_DIR "/machines"
#define FILE_BYTES 8192

static char directory[64]; /* scratch, removed at the end; the working directory of this test */

static void write_bytes(const char *name, const char *bytes, size_t count)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void expect(const char *name, const char *const *overrides, size_t count, enum c2_status status,
                   const char *text)
{
    struct caches_machine machine;
    struct c2_error err = {0};
    assert_int_equal(machine_read(&machine, name, MACHINES, overrides, count, &err), status);
    assert_int_equal(err.status, status);
    assert_string_equal(err.text, text);
}

/* ------------------------------------------------------------------ the file as text */

#define HEAD "[machine]\nname = x\nline = 64\n" /* three lines */
#define L1D "[L1D]\nsize = 1K\nways = 2\n"      /* three lines */
#define L2 "[L2]\nsize = 4K\nways = 4\n"

struct file_case {
    const char *text;
    enum c2_status status;
    const char *message; /* behind "m.ini" */
};

static void check_files(const struct file_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char message[512];
        write_bytes("m.ini", cases[i].text, strlen(cases[i].text));
        snprintf(message, sizeof message, "m.ini%s", cases[i].message);
        expect("m.ini", NULL, 0, cases[i].status, message);
    }
}
#define CHECK_FILES(...) \
    do { \
        static const struct file_case cases[] = {__VA_ARGS__}; \
        check_files(cases, sizeof cases / sizeof cases[0]); \
    } while (0)

static void test_lines(void **state)
{
    (void)state;
    CHECK_FILES(
        {HEAD L1D "policy lru\n", C2_ERR_FORMAT, ":7: neither `key = value` nor `[section]` nor a comment"},
        {HEAD L1D "policy lru\nways = 3\n", C2_ERR_FORMAT, ":7: neither `key = value` nor `[section]` nor a comment"},
        {HEAD L1D "  policy = lru\n", C2_ERR_FORMAT,
         ":7: the line begins with a blank (only a hash_masks list may go on in indented lines)"},
        {HEAD "[L1D]\n\tsize = 1K\n", C2_ERR_FORMAT,
         ":5: the line begins with a blank (only a hash_masks list may go on in indented lines)"},
        {HEAD L1D "ways", C2_ERR_FORMAT,
         ":7: the last line does not end with a newline: the file may be cut (end it with one)"},
        {"name = x\n", C2_ERR_FORMAT, ":1: the key \"name\" stands before any section"},
        {HEAD "[L1D\nsize = 1K\n", C2_ERR_FORMAT, ":4: a heading without its closing bracket"},
        {HEAD "[L1D] size = 1K\n", C2_ERR_FORMAT, ":4: text behind a heading"});
}

static void test_lines_too_long(void **state)
{
    (void)state;
    char text[1024] = HEAD "; ";
    size_t length = strlen(text);
    memset(text + length, 'x', 500);
    strcpy(text + length + 500, "\n" L1D);
    write_bytes("m.ini", text, strlen(text));
    expect("m.ini", NULL, 0, C2_ERR_FORMAT, "m.ini:4: the line is too long");
    write_bytes("m.ini", HEAD "\0\n" L1D, sizeof(HEAD "\0\n" L1D) - 1);
    expect("m.ini", NULL, 0, C2_ERR_FORMAT, "m.ini:4: a NUL byte: this is no text file");
}

static void test_sections(void **state)
{
    (void)state;
    CHECK_FILES(
        {"", C2_ERR_INVALID, ": there is no section [machine]: it gives the name and the line size"},
        {HEAD, C2_ERR_INVALID, ": there is no section [L1D]: every machine has a first-level data cache"},
        {HEAD "[L1]\n", C2_ERR_INVALID, ":4: there is no section [L1] (did you mean \"L1D\"?)"},
        {HEAD "[prefetcher]\nentries = 64\n", C2_ERR_INVALID,
         ":4: there is no section [prefetcher] (known: machine, L1D, L1I, L2, L3, L4, walks, DTLB, DTLB-4K, DTLB-2M, "
         "DTLB-1G, DTLB-load-4K, DTLB-load-2M, DTLB-load-1G, DTLB-store, ITLB, ITLB-4K, ITLB-2M, STLB, STLB-A, STLB-B, "
         "STLB-1G, L2-DTLB, L2-DTLB-1G, L2-ITLB, L2-ITLB-4K, L2-ITLB-2M, PSC-PDE, PSC-PDPTE, PSC-PML4E, PDC)"},
        {HEAD L1D "[machine]\n", C2_ERR_FORMAT, ":7: [machine] was there before, on line 1"},
        {HEAD L1D "[L3]\n", C2_ERR_INVALID, ": there is no section [L2]: the levels follow each other without a gap"},
        {HEAD L1D "[L4]\n" L2, C2_ERR_INVALID,
         ": there is no section [L3]: the levels follow each other without a gap"},
        {HEAD L1D "[L1I]\nsize = 1K\nways = 1\n", C2_ERR_INVALID,
         ": there is no section [L2]: [L1I] needs it, to share it with [L1D]"},
        {HEAD L2, C2_ERR_INVALID, ": there is no section [L1D]: every machine has a first-level data cache"});
}

static void test_keys(void **state)
{
    (void)state;
    CHECK_FILES(
        {HEAD "lines = 3\n", C2_ERR_INVALID, ":4: [machine] has no key \"lines\" (did you mean \"line\"?)"},
        {HEAD "size = 3\n", C2_ERR_INVALID, ":4: [machine] has no key \"size\" (did you mean \"line\"?)"},
        {HEAD L1D "name = L1\n", C2_ERR_INVALID,
         ":7: [L1D] has no key \"name\" (known: size, ways, slices, "
         "hash, hash_masks, policy, index, inclusion, ways_of, write, allocate, shared, latency, read_bandwidth, "
         "write_bandwidth, "
         "prefetch, prefetch_on, stream_distance, stride_distance)"},
        {HEAD L1D "associativity = 1\n", C2_ERR_INVALID,
         ":7: [L1D] has no key \"associativity\" (known: size, "
         "ways, slices, hash, hash_masks, policy, index, inclusion, ways_of, write, allocate, shared, latency, "
         "read_bandwidth, "
         "write_bandwidth, prefetch, prefetch_on, stream_distance, stride_distance)"},
        {HEAD L1D "ways = 4\n", C2_ERR_FORMAT, ":7: [L1D] ways = 4: the key was there before, on line 6"},
        {"[machine]\nline = 64\n" L1D, C2_ERR_INVALID, ":1: [machine] has no key \"name\""},
        {"[machine]\nname = x\n" L1D, C2_ERR_INVALID, ":1: [machine] has no key \"line\""},
        {HEAD "[L1D]\nways = 2\n", C2_ERR_INVALID, ":4: [L1D] has no key \"size\""},
        {HEAD L1D "[L2]\nsize = 4K\n", C2_ERR_INVALID, ":7: [L2] has no key \"ways\""});
}

static void test_values(void **state)
{
    (void)state;
    CHECK_FILES(
        {"[machine]\nname =\n", C2_ERR_INVALID, ":2: [machine] name: 0 characters: 1 to 63 are possible"},
        {"[machine]\nname =; not mine\n", C2_ERR_INVALID,
         ":2: [machine] name: a ; at the start of a text, or behind a space, begins a comment"},
        {"[machine]\nline = 48\n", C2_ERR_INVALID,
         ":2: [machine] line: 48 is no line size: a power of two from 8 to 4096"},
        {"[machine]\nline = 4\n", C2_ERR_INVALID,
         ":2: [machine] line: 4 is no line size: a power of two from 8 to 4096"},
        {"[machine]\nline = 8K\n", C2_ERR_INVALID,
         ":2: [machine] line: 8K is no line size: a power of two from 8 to 4096"},
        {HEAD "physical_memory = 4097\n", C2_ERR_INVALID,
         ":4: [machine] physical_memory: 4097 is not possible: a multiple of 4K, at most 1T"},
        {HEAD "physical_memory = 2T\n", C2_ERR_INVALID,
         ":4: [machine] physical_memory: 2T is not possible: a multiple of 4K, at most 1T"},
        {HEAD "[L1D]\nsize = 32 K\n", C2_ERR_INVALID,
         ":5: [L1D] size: \"32 K\" is not a size in bytes (examples: 64, 32K, 20M, 0x1000)"},
        {HEAD "[L1D]\nsize = 32K # half\n", C2_ERR_INVALID,
         ":5: [L1D] size: \"32K # half\" is not a size in bytes (examples: 64, 32K, 20M, 0x1000)"},
        {HEAD "[L1D]\nsize = 0\n", C2_ERR_INVALID,
         ":5: [L1D] size: 0 is no size of a cache: at least one line, at most 16G"},
        {HEAD "[L1D]\nsize = 17G\n", C2_ERR_INVALID,
         ":5: [L1D] size: 17G is no size of a cache: at least one line, at most 16G"},
        {HEAD "[L1D]\nways = 8-way\n", C2_ERR_INVALID,
         ":5: [L1D] ways: \"8-way\" is not a number (examples: 12, 0x1000)"},
        {HEAD "[L1D]\nways = 0\n", C2_ERR_INVALID, ":5: [L1D] ways: 0 is out of range: 1 to 64"},
        {HEAD "[L1D]\nways = 65\n", C2_ERR_INVALID, ":5: [L1D] ways: 65 is out of range: 1 to 64"},
        {HEAD "[L1D]\nways = 4294967297\n", C2_ERR_INVALID, ":5: [L1D] ways: 4294967297 is out of range: 1 to 64"},
        {HEAD "[L1D]\nslices = 257\n", C2_ERR_INVALID, ":5: [L1D] slices: 257 is out of range: 1 to 256"},
        {HEAD "[L1D]\nlatency = -1\n", C2_ERR_INVALID,
         ":5: [L1D] latency: \"-1\" is not a number (examples: 12, 0x1000)"});
}

static void test_rates(void **state)
{
    (void)state;
    CHECK_FILES({HEAD "[L1D]\nread_bandwidth = fast\n", C2_ERR_INVALID,
                 ":5: [L1D] read_bandwidth: fast is no rate: a number below 10000, with three decimals at most"},
                {HEAD "[L1D]\nread_bandwidth = 1.2345\n", C2_ERR_INVALID,
                 ":5: [L1D] read_bandwidth: 1.2345 is no rate: a number below 10000, with three decimals at most"},
                {HEAD "[L1D]\nread_bandwidth = .5\n", C2_ERR_INVALID,
                 ":5: [L1D] read_bandwidth: .5 is no rate: a number below 10000, with three decimals at most"},
                {HEAD "[L1D]\nread_bandwidth = 0x10\n", C2_ERR_INVALID,
                 ":5: [L1D] read_bandwidth: 0x10 is no rate: a number below 10000, with three decimals at most"},
                {HEAD "[L1D]\nwrite_bandwidth = 10000\n", C2_ERR_INVALID,
                 ":5: [L1D] write_bandwidth: 10000 is no rate: a number below 10000, with three decimals at most"},
                {HEAD L1D "write_bandwidth = 4\n", C2_ERR_INVALID,
                 ":7: [L1D] write_bandwidth needs instructions_per_cycle in [machine], to be compared with"},
                {HEAD "flops_per_cycle = 4\n" L1D, C2_ERR_INVALID,
                 ":4: [machine] flops_per_cycle needs instructions_per_cycle in [machine], to be compared with"},
                {HEAD "instructions_per_cycle = 4\n" L1D L2 "[L1I]\nsize = 1K\nways = 2\nread_bandwidth = 8\n",
                 C2_ERR_INVALID,
                 ":14: [L1I] read_bandwidth: what is fetched from [L1I] is on no path that is looked at"});
}

static void test_words(void **state)
{
    (void)state;
    CHECK_FILES({HEAD "[L1D]\npolicy = rlu\n", C2_ERR_INVALID,
                 ":5: [L1D] policy: \"rlu\" is not known (did you mean \"lru\"?)"},
                {HEAD "[L1D]\npolicy = LRU\n", C2_ERR_INVALID,
                 ":5: [L1D] policy: \"LRU\" is not known (did you mean \"lru\"?)"},
                {HEAD "[L1D]\ninclusion = partly\n", C2_ERR_INVALID,
                 ":5: [L1D] inclusion: \"partly\" is not known (known: non-inclusive, inclusive, exclusive)"},
                {HEAD "[L1D]\nindex = phys\n", C2_ERR_INVALID,
                 ":5: [L1D] index: \"phys\" is not known (known: virtual, physical)"},
                {HEAD "[L1D]\ninclusion = none\n", C2_ERR_INVALID,
                 ":5: [L1D] inclusion: \"none\" is not known (known: non-inclusive, inclusive, exclusive)"});
}

/* ------------------------------------------------------------------ rules between keys */

static void test_geometry(void **state)
{
    (void)state;
    CHECK_FILES(
        {HEAD "[L1D]\nsize = 1000\nways = 2\n", C2_ERR_INVALID,
         ":5: [L1D] size: [L1D] size 1000 is no whole number "
         "of sets of 2 ways x 64 bytes x 1 slice = 128 bytes (nearest sizes: 896 or 1024)"},
        {HEAD "[L1D]\nsize = 64\nways = 2\n", C2_ERR_INVALID,
         ":5: [L1D] size: [L1D] size 64 is no whole number of "
         "sets of 2 ways x 64 bytes x 1 slice = 128 bytes (nearest sizes: 128)"},
        {HEAD L1D "[L2]\nsize = 4K\nways = 4\nslices = 3\nhash = modulo\n", C2_ERR_INVALID,
         ":8: [L2] size: [L2] "
         "size 4096 is no whole number of sets of 4 ways x 64 bytes x 3 slices = 768 bytes (nearest sizes: 3840 or "
         "4608)"},
        {HEAD "[L1D]\nsize = 768\nways = 12\npolicy = tree-plru\n", C2_ERR_INVALID,
         ":7: [L1D] policy: [L1D] policy "
         "tree-plru needs a power of two of ways, not 12 (nearest: 8 or 16 ways, or policy lru)"},
        {HEAD L1D L2 "policy = ship\ninclusion = exclusive\n", C2_ERR_INVALID,
         ":10: [L2] policy: [L2] is exclusive: what the level above evicts nobody has missed, so policy ship learns "
         "nothing (policy ship-mem or drrip, or make it non-inclusive)"},
        {HEAD L1D "inclusion = inclusive\n", C2_ERR_INVALID,
         ":7: [L1D] inclusion: inclusive is not possible: no level is above [L1D] (only non-inclusive)"},
        {HEAD L1D L2 "[L1I]\nsize = 1K\nways = 1\ninclusion = exclusive\n", C2_ERR_INVALID,
         ":13: [L1I] inclusion: exclusive is not possible: no level is above [L1I] (only non-inclusive)"},
        {HEAD L1D L2 "prefetch = stream\ninclusion = exclusive\n", C2_ERR_INVALID,
         ":10: [L2] prefetch: [L2] is exclusive: it holds what the level above evicts, and cannot fetch (prefetch in "
         "the "
         "level above, or make it non-inclusive)"});
}

static void test_slices(void **state)
{
    (void)state;
    CHECK_FILES(
        {HEAD L1D L2 "slices = 2\n", C2_ERR_INVALID,
         ":10: [L2] slices: [L2] the slice hash \"none\" has 1 slice, "
         "not 2 (for 2: lin2, teach2, modulo or perm:...)"},
        {HEAD L1D L2 "hash = lin4\n", C2_ERR_INVALID,
         ":10: [L2] hash: [L2] the slice hash \"lin4\" has 4 slices, "
         "not 1 (for 1: none, modulo or perm:...)"},
        {HEAD L1D L2 "slices = 2\nhash = lin22\n", C2_ERR_INVALID,
         ":11: [L2] hash: [L2] no slice hash is called "
         "\"lin22\" (did you mean \"lin2\"?); a file is named perm:PATH:MASK,MASK,..."},
        {HEAD L1D L2 "slices = 2\nhash = lin2\nindex = virtual\n", C2_ERR_INVALID,
         ":12: [L2] index: [L2] has 2 "
         "slices and index virtual: a slice is chosen by the physical address, so index must be physical"},
        {HEAD "[L1D]\nsize = 1K\nways = 2\nslices = 2\nhash = lin2\n", C2_ERR_INVALID,
         ":7: [L1D] slices: [L1D] has "
         "2 slices and index virtual: a slice is chosen by the physical address, so index must be physical"},
        {"[machine]\nname = x\nline = 32\n" L1D L2 "slices = 2\nhash = lin2\n", C2_ERR_INVALID,
         ":3: [machine] "
         "line: [L2] has 2 slices, and slice hashes are defined on lines of 64 bytes, not 32"},
        {HEAD "physical_memory = 262144004K\n", C2_ERR_INVALID,
         ": there is no section [L1D]: every machine has a first-level data cache"},
        {HEAD "physical_memory = 268435460K\n" L1D L2 "slices = 2\nhash = lin2\n", C2_ERR_INVALID,
         ":4: [machine] physical_memory: the machine has 274877911040 B of memory, and the hash of [L2], lin2, is "
         "known up to address bit 37 only (remedy: physical_memory of at most 256 GiB, or hash = modulo)"},
        {HEAD L1D L2 "slices = 2\nhash = teach2\n", C2_ERR_INVALID,
         ":11: [L2] hash: the machine has 64 GiB of "
         "memory, and the hash of [L2], teach2, is known up to address bit 25 only (remedy: physical_memory of at "
         "most 64 MiB, or hash = modulo)"});
}

static void test_hashes_of_files(void **state)
{
    (void)state;
    write_bytes("base.txt", "0\n1\n1\n0\n", 8);
    CHECK_FILES(
        {HEAD L1D L2 "slices = 2\nhash = perm:base.txt\n", C2_ERR_INVALID,
         ":11: [L2] hash: [L2] hash = perm:PATH "
         "and hash_masks = MASK,MASK,... need each other; here hash = perm:base.txt without masks"},
        {HEAD L1D L2 "slices = 2\nhash_masks = 0x100\n", C2_ERR_INVALID,
         ":11: [L2] hash_masks: [L2] hash = "
         "perm:PATH and hash_masks = MASK,MASK,... need each other; here hash = none"},
        {HEAD L1D L2 "slices = 2\nhash = perm:base.txt\nhash_masks = 0x100\n", C2_ERR_INVALID,
         ":11: [L2] hash: [L2] ./base.txt: 4 slice numbers need 2 masks, not 1"},
        {HEAD L1D L2 "slices = 2\nhash = perm:absent\nhash_masks = 0x100\n", C2_ERR_NOT_FOUND,
         ":11: [L2] hash: "
         "[L2] ./absent: no base sequence can be read there: No such file or directory"},
        {HEAD L1D L2 "slices = 2\nhash = perm:base.txt\nhash_masks = 0x100,\n0x200\n", C2_ERR_FORMAT,
         ":13: neither `key = value` nor `[section]` nor a comment"},
        {HEAD L1D L2 "slices = 2\nhash = perm:base.txt\nhash_masks = 0x100,\n 0x200\n", C2_ERR_INVALID,
         ":11: [L2] hash: the machine has 64 GiB of memory, and the hash of [L2], perm:base.txt:0x100,0x200, is "
         "known up to address bit 9 only (remedy: physical_memory of at most 1 KiB, or hash = modulo)"});
}

/* ------------------------------------------------------------------ overrides */

struct override_case {
    const char *machine;
    const char *overrides[3];
    const char *message;
};

static const struct override_case override_cases[] = {
    {"teach", {"L2ways=4"}, "--set L2ways=4: not of the form SECTION.KEY=VALUE (example: L2.ways=4)"},
    {"teach", {"L2.ways"}, "--set L2.ways: not of the form SECTION.KEY=VALUE (example: L2.ways=4)"},
    {"teach", {".ways=4"}, "--set .ways=4: not of the form SECTION.KEY=VALUE (example: L2.ways=4)"},
    {"teach", {"L2.=4"}, "--set L2.=4: not of the form SECTION.KEY=VALUE (example: L2.ways=4)"},
    {"teach", {""}, "--set : not of the form SECTION.KEY=VALUE (example: L2.ways=4)"},
    {"teach", {"l2.ways=4"}, "--set l2.ways=4: there is no section [l2] (did you mean \"L2\"?)"},
    {"teach", {"L2.way=4"}, "--set L2.way=4: [L2] has no key \"way\" (did you mean \"ways\"?)"},
    {"teach",
     {"machine.ways=4"},
     "--set machine.ways=4: [machine] has no key \"ways\" (known: name, description, "
     "line, physical_memory, cores, snoop_filter, snoop_filter_ways, clock, instructions_per_cycle, flops_per_cycle, "
     "memory_read_bandwidth, "
     "memory_write_bandwidth, sharing_penalty, prefetcht0, prefetcht1, prefetcht2, ...)"},
    {"teach", {"machine.prefetcht2=L4"}, "--set machine.prefetcht2=L4: there is no L4: the last level is L3"},
    {"teach",
     {"machine.prefetchnta=L2", "L2.inclusion=exclusive"},
     "--set L2.inclusion=exclusive: L2 is exclusive: it holds what the level above evicts, and cannot fetch"},
    {"teach", {"machine.write_combining=65"}, "--set machine.write_combining=65: 65 is out of range: 1 to 64"},
    {"teach", {"L2.ways="}, "--set L2.ways=: \"\" is not a number (examples: 12, 0x1000)"},
    {"teach", {"L2.ways=65"}, "--set L2.ways=65: 65 is out of range: 1 to 64"},
    {"teach", {"L4.ways=4"}, "--set L4.ways=4: the machine of " MACHINES "/teach.ini has no section [L4]"},
    {"c2sim", {"L1I.ways=4"}, "--set L1I.ways=4: the machine of " MACHINES "/c2sim.ini has no section [L1I]"},
    /* of several values to blame the last one changed is named, not the first written */
    {"teach",
     {"L2.ways=3"},
     "--set L2.ways=3: [L2] size 32768 is no whole number of sets of 3 ways x 64 bytes x "
     "1 slice = 192 bytes (nearest sizes: 32640 or 32832)"},
    {"teach",
     {"L2.ways=3", "L2.size=1000"},
     "--set L2.size=1000: [L2] size 1000 is no whole number of sets of 3 "
     "ways x 64 bytes x 1 slice = 192 bytes (nearest sizes: 960 or 1152)"},
    {"teach",
     {"L2.size=1000", "L1D.latency=9", "L2.ways=3"},
     "--set L2.ways=3: [L2] size 1000 is no whole number "
     "of sets of 3 ways x 64 bytes x 1 slice = 192 bytes (nearest sizes: 960 or 1152)"},
    {"teach",
     {"machine.line=4096"},
     "--set machine.line=4096: [L1D] size 2048 is no whole number of sets of 2 "
     "ways x 4096 bytes x 1 slice = 8192 bytes (nearest sizes: 8192)"},
    {"teach",
     {"L3.slices=4"},
     "--set L3.slices=4: [L3] the slice hash \"teach2\" has 2 slices, not 4 (for 4: "
     "lin4, lin4x, amd-low4, modulo or perm:...)"},
    {"teach",
     {"machine.physical_memory=65540K"},
     "--set machine.physical_memory=65540K: the machine has "
     "67112960 B of memory, and the hash of [L3], teach2, is known up to address bit 25 only (remedy: "
     "physical_memory of at most 64 MiB, or hash = modulo)"},
    {"skylake-sp",
     {"L3.policy=tree-plru"},
     "--set L3.policy=tree-plru: [L3] policy tree-plru needs a power of two "
     "of ways, not 11 (nearest: 8 or 16 ways, or policy lru)"},
    {"skylake",
     {"L3.ways_of=core 0: 0x10000"},
     "--set L3.ways_of=core 0: 0x10000: [L3] has 16 ways: ways_of 0x10000 is more than 0xffff"},
    {"skylake", {"L3.ways_of=core 0: 0"}, "--set L3.ways_of=core 0: 0: [L3] ways_of leaves core 0 no way"},
    {"skylake",
     {"L3.ways_of=core 0: 1; core 1-4: 2", "machine.cores=4"},
     "--set machine.cores=4: [L3] ways_of names core 4, and the machine has 4, from 0 on"},
    {"skylake",
     {"machine.cores=4", "L3.ways_of=core 0-2: 1;core 2-3: 2"},
     "--set L3.ways_of=core 0-2: 1;core 2-3: 2: [L3] ways_of names core 2 twice"},
    {"skylake",
     {"L3.ways_of=core 1: 0xf; cpu 2: 3"},
     "--set L3.ways_of=core 1: 0xf; cpu 2: 3: \"cpu 2: 3\" is not of the form core 0: 0xf or core 1-3: 0xff0"},
    {"skylake",
     {"L1I.write=through"},
     "--set L1I.write=through: write = through is not possible: nothing is stored in [L1I]"},
    {"skylake", {"L2.write=around"}, "--set L2.write=around: \"around\" is not known (known: back, through)"},
    {"skylake",
     {"L2.allocate=no"},
     "--set L2.allocate=no: [L2] allocate = no has nothing to do: [L1D] takes every store (write = through or "
     "allocate = no there lets them go on)"},
    {"skylake-sp",
     {"L1D.write=through"},
     "--set L1D.write=through: [L1D] write = through sends stores to the exclusive [L3], which holds what is evicted "
     "and nothing else"},
    {"skylake",
     {"L1D.write=through", "L3.inclusion=exclusive"},
     "--set L3.inclusion=exclusive: [L1D] write = through sends stores to the exclusive [L3], which holds what is "
     "evicted and nothing else"},
    {"skylake",
     {"L1D.allocate=no", "L1D.ways=4"},
     "--set L1D.ways=4: [L1D] allocate = no with index virtual and more than 4 KiB a way: a store past the level would "
     "leave the line of another address of it as it was (index physical, or more ways)"},
    {"skylake",
     {"L1D.allocate=no", "L2.prefetch=stream"},
     "--set L2.prefetch=stream: [L2] prefetches and [L1D] has allocate = no: prefetchers are modelled where stores "
     "stay "
     "alone"},
    {"skylake",
     {"L1I.inclusion=inclusive"},
     "--set L1I.inclusion=inclusive: inclusive is not possible: no level "
     "is above [L1I] (only non-inclusive)"},
};

static void test_overrides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof override_cases / sizeof override_cases[0]; i++) {
        const struct override_case *c = &override_cases[i];
        size_t count = 1;
        while (count < 3 && c->overrides[count])
            count++;
        expect(c->machine, c->overrides, count, C2_ERR_INVALID, c->message);
    }
}

static void test_very_long_overrides(void **state)
{
    (void)state;
    char text[4000];
    const char *overrides[] = {text};
    struct caches_machine machine;
    struct c2_error err;
    for (size_t length = 100; length < sizeof text; length += 300) {
        memset(text, 'x', length);
        memcpy(text, "machine.name=", 13);
        text[length] = '\0';
        assert_int_equal(machine_read(&machine, "teach", MACHINES, overrides, 1, &err), C2_ERR_INVALID);
        assert_true(strncmp(err.text, "--set machine.name=xxx", 22) == 0);
    }
}

/* ------------------------------------------------------------------ finding the file */

static int compare_words(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* "c2sim, haswell-ep, ...": what lies in the directory, by name. Returns how many. */
static size_t list_machines(char *text, size_t bytes)
{
    glob_t found;
    size_t used = 0;
    assert_int_equal(glob(MACHINES "/*.ini", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 9);
    for (size_t i = 0; i < found.gl_pathc; i++)
        *strrchr(found.gl_pathv[i], '.') = '\0';
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_words);
    for (size_t i = 0; i < found.gl_pathc; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i == 0 ? "" : ", ",
                                 strrchr(found.gl_pathv[i], '/') + 1);
    assert_true(used < bytes);
    const size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

static void test_no_such_machine(void **state)
{
    (void)state;
    char names[512], all[700], text[1024];
    list_machines(names, sizeof names);
    snprintf(all, sizeof all, "machines in " MACHINES ": %s. A file of your own is named by its path", names);
    snprintf(text, sizeof text, "there is no machine \"skylak\" (did you mean \"skylake\"?); %s", all);
    expect("skylak", NULL, 0, C2_ERR_NOT_FOUND, text);
    snprintf(text, sizeof text, "there is no machine \"pentium\"; %s", all);
    expect("pentium", NULL, 0, C2_ERR_NOT_FOUND, text);
    expect("pentium.ini", NULL, 0, C2_ERR_NOT_FOUND,
           "the machine file pentium.ini cannot be opened: No such file or directory");
    expect("./zen3", NULL, 0, C2_ERR_NOT_FOUND, "the machine file ./zen3 cannot be opened: No such file or directory");
    expect("/", NULL, 0, C2_ERR_IO, "/: cannot be read: Is a directory");
}

static void test_no_directory_of_machines(void **state)
{
    (void)state;
    struct caches_machine machine;
    struct c2_error err;
    assert_int_equal(machine_read(&machine, "zen3", NULL, NULL, 0, &err), C2_ERR_NOT_FOUND);
    assert_string_equal(err.text, "the directory of machines, (none), cannot be read: none is known");
    assert_int_equal(machine_read(&machine, "zen3", "absent", NULL, 0, &err), C2_ERR_NOT_FOUND);
    assert_string_equal(err.text, "the directory of machines, absent, cannot be read: No such file or directory");
    assert_int_equal(mkdir("empty", 0700), 0);
    assert_int_equal(machine_read(&machine, "zen3", "empty", NULL, 0, &err), C2_ERR_NOT_FOUND);
    assert_string_equal(err.text, "there is no machine \"zen3\"; machines in empty: none. A file of your own is named "
                                  "by its path");
    rmdir("empty");
}

/* "./././.../m.ini" of any length: read, or refused by its length, and messages keep its end. */
static void test_long_paths(void **state)
{
    (void)state;
    char path[3000];
    struct caches_machine machine;
    struct c2_error err;
    write_bytes("m.ini", HEAD, strlen(HEAD));
    for (size_t dots = 1; dots < 1400; dots += 7) {
        for (size_t i = 0; i < dots; i++)
            memcpy(path + 2 * i, "./", 2);
        strcpy(path + 2 * dots, "m.ini");
        enum c2_status status = machine_read(&machine, path, MACHINES, NULL, 0, &err);
        assert_int_equal(status, C2_ERR_INVALID);
        if (2 * dots <= 1024) /* the directory, its last slash not counted, fits */
            assert_non_null(strstr(err.text, "./m.ini: there is no section [L1D]"));
        else
            assert_non_null(strstr(err.text, "the path of the machine file is too long: ././"));
    }
}

/* ------------------------------------------------------------------ faults */

static size_t load(char *text, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, MACHINES "/%s.ini", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, FILE_BYTES, file);
    assert_true(length > 0 && length < FILE_BYTES);
    fclose(file);
    return length;
}

/* What a machine that was accepted must be, whatever its file looked like. */
static void check_sound(const struct caches_machine *machine)
{
    assert_true(c2_is_power_of_two(machine->line_bytes));
    assert_true(machine->level_count >= 1 && machine->level_count <= CACHES_MAX_LEVELS);
    for (uint32_t i = 0; i < machine->level_count; i++) {
        const struct caches_level *level = &machine->levels[i];
        uint64_t sets = caches_level_sets(machine, level);
        assert_true(level->ways >= 1 && level->ways <= CACHES_MAX_WAYS && sets >= 1);
        assert_int_equal(sets * level->ways * machine->line_bytes * level->slices, level->size_bytes);
        assert_true(i > 0 || level->inclusion == CACHES_NON_INCLUSIVE);
    }
}

/* Cut anywhere: refused, unless what is left is a whole smaller machine, which ends with a whole line and has all
 * sizes and ways of its levels. No number is ever misread. */
static void test_cut_files(void **state)
{
    (void)state;
    char text[FILE_BYTES];
    struct caches_machine whole, machine;
    struct c2_error err;
    size_t length = load(text, "sandybridge-ep"), accepted = 0;
    assert_int_equal(machine_read(&whole, "sandybridge-ep", MACHINES, NULL, 0, &err), C2_OK);
    for (size_t cut = 0; cut < length; cut++) {
        write_bytes("m.ini", text, cut);
        if (machine_read(&machine, "m.ini", MACHINES, NULL, 0, &err) != C2_OK)
            continue;
        accepted++;
        assert_int_equal(text[cut - 1], '\n');
        check_sound(&machine);
        for (uint32_t i = 0; i < machine.level_count; i++) {
            assert_int_equal(machine.levels[i].size_bytes, whole.levels[i].size_bytes);
            assert_int_equal(machine.levels[i].ways, whole.levels[i].ways);
        }
    }
    /* Behind the lines ways, policy, index, inclusion, latency, both bandwidths and the empty line of [L1D], then of
     * [L2] (it takes [L1I] along), then behind ways of [L3] (one slice, no hash; slices = 8 is refused without its
     * hash), hash, policy, index, inclusion, latency, both bandwidths, the empty line and the comment. Behind the
     * lines of each TLB but heading and pages (the STLB has too many entries for one set, so not behind those
     * either) and the empty line: 4K, 2M, 1G data, 4K and 2M code, STLB, and the three of the walks; behind the
     * heading, the mode and the entry of [walks]. */
    assert_int_equal(accepted, 8 + 8 + 10 + (5 + 4 + 3) + (5 + 3) + 5 + (3 + 2 + 2) + 3);
}

/* Bytes changed at random: refused or sound, never a crash. */
static void test_altered_files(void **state)
{
    (void)state;
    char original[FILE_BYTES], text[FILE_BYTES];
    size_t length = load(original, "teach");
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "altered");
    for (int i = 0; i < 3000; i++) {
        struct caches_machine machine;
        struct c2_error err;
        memcpy(text, original, length);
        for (int changes = 0; changes <= i % 3; changes++)
            text[c2_rng_below(&rng, length)] = (char)c2_rng_next(&rng);
        write_bytes("m.ini", text, length);
        if (machine_read(&machine, "m.ini", MACHINES, NULL, 0, &err) == C2_OK)
            check_sound(&machine);
    }
}

static void check_allocations(const char *name, enum c2_status last, uint64_t expected)
{
    struct caches_machine machine;
    struct c2_error err;
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    while (status == C2_ERR_NO_MEMORY) {
        c2_alloc_fail_from(++n);
        status = machine_read(&machine, name, MACHINES, NULL, 0, &err);
        c2_alloc_fail_from(0);
    }
    assert_int_equal(status, last);
    assert_int_equal(n, expected + 1);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    char names[512];
    const size_t presets = list_machines(names, sizeof names);
    check_allocations("zen3", C2_OK, 1 + 4 * 2);                     /* the draft; two for each level's hash */
    check_allocations("pentium", C2_ERR_NOT_FOUND, 1 + presets * 2); /* the draft; list and name of each preset */
}

static void test_names_when_allocations_fail(void **state)
{
    (void)state;
    char **names, known[512];
    const size_t presets = list_machines(known, sizeof known);
    size_t count;
    struct c2_error err;
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    while (status != C2_OK) {
        c2_alloc_fail_from(++n);
        status = machine_names(&names, &count, MACHINES, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !names && count == 0));
    }
    assert_int_equal(n, presets * 2 + 1);
    machine_names_free(names, count);
}

/* ------------------------------------------------------------------ */

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/c2-errors-XXXXXX");
    return mkdtemp(directory) ? chdir(directory) : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink("m.ini");
    unlink("base.txt");
    return chdir("/") || rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_lines_too_long),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_hashes_of_files),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_very_long_overrides),
        cmocka_unit_test(test_no_such_machine),
        cmocka_unit_test(test_no_directory_of_machines),
        cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_altered_files),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_names_when_allocations_fail),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
