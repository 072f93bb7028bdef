/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * host: a machine file of the processor that c2emu runs on.
 *
 * Model
 *   What the processor states of its caches (CPUID leaf 4 of Intel's, 0x8000001D of AMD's; where a hypervisor hides
 *   these, the files of sysfs) and TLBs (leaves 2 and 0x18 of Intel's, 0x80000005, 6 and 0x19 of AMD's) changes the
 *   included machine that it is nearest to, by vendor, family and model. All else is that machine's: latencies,
 *   bandwidths, policies, how levels include each other, TLBs that the processor does not tell of. Each line of the
 *   file states which, with the letters of the included ones.
 *   A last level of the shape of that machine's keeps its slices and their hash. Another one keeps them, as stand-ins,
 *   where they fit; else a number of sets that is no power of two is divided among as many slices as make it one, by
 *   the line number.
 * Not modelled
 *   Several kinds of cores in one processor: what is described is the one that this runs on. A hypervisor's processor
 *   is what it shows of it.
 * Source
 *   Intel SDM volume 2A, CPUID; AMD64 manual volume 3, appendix E.
 */
#include <cpuid.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "machine/host_priv.h"
#include "machine/machine_priv.h"

enum { EAX, EBX, ECX, EDX };
enum { SIZES_X32 = 14 }; /* of leaf 0x80000021: the second TLBs' sizes are multiples of 32 */
enum { PARTS = 16 };     /* of leaf 0x18 that are looked at */
enum { CHANGES = 96, DATA = 1, CODE = 2, UNIFIED = 3 };

struct cache {
    unsigned level, type, ways, line;
    uint64_t sets;
};

struct change {
    char text[96];    /* "L1D.size=49152", as --set has it */
    char source[128]; /* what the file states of it */
};

struct host {
    const struct machine_processor *processor;
    char vendor[13], brand[49];
    unsigned family, model, stepping;
    const char *base; /* the included machine */
    struct caches_machine machine;
    struct change changes[CHANGES];
    size_t count;
};

static void host_ask(const struct host *host, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    memset(out, 0, 4 * sizeof *out);
    host->processor->cpuid(host->processor->self, leaf, sub, out);
}

/* ------------------------------------------------------------------ which processor */

/* What a machine file may have in a text; a processor may have no brand. */
static void keep_brand(struct host *host, const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes && text[i] != '\0'; i++)
        if (isprint((unsigned char)text[i]) && !strchr(";#", text[i]) && (count != 0 || text[i] != ' '))
            host->brand[count++] = text[i];
    while (count > 0 && host->brand[count - 1] == ' ')
        count--;
    host->brand[count] = '\0';
    if (count == 0)
        snprintf(host->brand, sizeof host->brand, "%s", host->vendor);
}

static void read_identity(struct host *host)
{
    uint32_t r[4], brand[12] = {0};
    host_ask(host, 0, 0, r);
    memcpy(host->vendor, &r[EBX], 4);
    memcpy(host->vendor + 4, &r[EDX], 4);
    memcpy(host->vendor + 8, &r[ECX], 4);
    host_ask(host, 1, 0, r);
    const unsigned family = r[EAX] >> 8 & 15, model = r[EAX] >> 4 & 15;
    host->family = family == 15 ? family + (r[EAX] >> 20 & 255) : family;
    host->model = family == 15 || family == 6 ? model | (r[EAX] >> 12 & 0xf0) : model;
    host->stepping = r[EAX] & 15;
    for (uint32_t i = 0; i < 3; i++)
        host_ask(host, 0x80000002u + i, 0, brand + 4 * i);
    keep_brand(host, (const char *)brand, sizeof brand);
}

static bool is_intel(const struct host *host) { return strcmp(host->vendor, "GenuineIntel") == 0; }

/* Models of family 6, and the included machine that each is nearest to; one that is not here, newer ones all, takes
 * icelake-sp. */
static const struct {
    unsigned model;
    const char *base;
} intel[] = {{42, "sandybridge-ep"}, {45, "sandybridge-ep"}, {58, "sandybridge-ep"}, {60, "haswell-ep"},
             {61, "haswell-ep"},     {62, "sandybridge-ep"}, {63, "haswell-ep"},     {69, "haswell-ep"},
             {70, "haswell-ep"},     {71, "haswell-ep"},     {78, "skylake"},        {79, "haswell-ep"},
             {85, "skylake-sp"},     {86, "haswell-ep"},     {94, "skylake"},        {106, "icelake-sp"},
             {108, "icelake-sp"},    {126, "icelake-sp"},    {142, "skylake"},       {143, "icelake-sp"},
             {158, "skylake"},       {166, "skylake"}};
#define INTEL (sizeof intel / sizeof intel[0])

static enum c2_status find_base(struct host *host, struct c2_error *err)
{
    host->base = is_intel(host) && host->family == 6 ? "icelake-sp" : NULL;
    for (size_t i = 0; host->base && i < INTEL; i++)
        if (intel[i].model == host->model)
            host->base = intel[i].base;
    if (strcmp(host->vendor, "AuthenticAMD") == 0 && host->family >= 0x17) {
        const bool zen4 = host->family > 0x19 ||
                          (host->family == 0x19 && (host->model >= 0x60 || host->model >> 4 == 1));
        host->base = zen4 ? "zen4" : "zen3";
    }
    if (host->base)
        return C2_OK;
    return c2_fail(
        err, C2_ERR_UNSUPPORTED,
        "-m host: of processors by \"%s\", family %u, no machine is included whose latencies could stand in; "
        "write a machine file (c2emu machines NAME prints one to start from)",
        host->vendor, host->family);
}

/* ------------------------------------------------------------------ what is changed */

static void host_change(struct host *host, const char *source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void host_change(struct host *host, const char *source, const char *format, ...)
{
    va_list list;
    C2_ASSERT(host->count < CHANGES);
    struct change *to = &host->changes[host->count++];
    va_start(list, format);
    vsnprintf(to->text, sizeof to->text, format, list);
    va_end(list);
    snprintf(to->source, sizeof to->source, "%s", source);
}

/* "256K", as files have it. */
static const char *host_size_of(char text[32], uint64_t bytes)
{
    const char *unit = bytes % (1 << 20) == 0 ? "M" : bytes % 1024 == 0 ? "K" : "";
    snprintf(text, 32, "%llu%s", (unsigned long long)(bytes / (*unit == 'M' ? 1 << 20 : *unit ? 1024 : 1)), unit);
    return text;
}

/* ------------------------------------------------------------------ caches */

static bool read_leaf(const struct host *host, uint32_t leaf, uint32_t number, struct cache *out)
{
    uint32_t r[4];
    host_ask(host, leaf, number, r);
    *out = (struct cache){.type = r[EAX] & 31,
                          .level = r[EAX] >> 5 & 7,
                          .line = (r[EBX] & 4095) + 1,
                          .ways = (r[EBX] >> 22) + 1,
                          .sets = (uint64_t)r[ECX] + 1};
    return out->type != 0;
}

static bool host_read_text(const struct host *host, uint32_t number, const char *name, char text[64])
{
    char path[256];
    snprintf(path, sizeof path, "%s/index%u/%s", host->processor->sysfs, number, name);
    FILE *file = fopen(path, "re");
    const bool read = file && fgets(text, 64, file);
    if (file)
        fclose(file);
    return read;
}

static bool read_count(const struct host *host, uint32_t number, const char *name, unsigned *out)
{
    char text[64];
    *out = host_read_text(host, number, name, text) ? (unsigned)strtoul(text, NULL, 10) : 0;
    return *out != 0;
}

static bool host_read_files(const struct host *host, uint32_t number, struct cache *out)
{
    char type[64];
    unsigned sets;
    *out = (struct cache){0};
    if (!host_read_text(host, number, "type", type) || !read_count(host, number, "level", &out->level) ||
        !read_count(host, number, "ways_of_associativity", &out->ways) ||
        !read_count(host, number, "coherency_line_size", &out->line) ||
        !read_count(host, number, "number_of_sets", &sets))
        return false;
    out->sets = sets;
    out->type = type[0] == 'D' ? DATA : type[0] == 'I' ? CODE : UNIFIED;
    return true;
}

static const char *host_name_of(const struct cache *cache)
{
    static const char *const data[] = {NULL, "L1D", "L2", "L3", "L4"};
    if (cache->level == 0 || cache->level > 4 || (cache->level > 1 && cache->type != UNIFIED))
        return NULL;
    return cache->level == 1 && cache->type == CODE ? "L1I" : data[cache->level];
}

static struct caches_level *host_level_of(struct caches_machine *machine, const char *name)
{
    if (machine->has_l1i && strcmp(machine->l1i.name, name) == 0)
        return &machine->l1i;
    for (uint32_t i = 0; i < machine->level_count; i++)
        if (strcmp(machine->levels[i].name, name) == 0)
            return &machine->levels[i];
    return NULL;
}

/* Slices, where those of the included machine do not fit. */
static void change_slices(struct host *host, const char *name, const struct cache *cache,
                          const struct caches_level *level)
{
    uint64_t odd = cache->sets;
    const uint64_t part = cache->sets / level->slices;
    if (cache->sets % level->slices == 0 && c2_is_power_of_two(part))
        return;
    while (odd % 2 == 0)
        odd /= 2;
    host_change(host, "C: as many as leave a power of two of sets in each", "%s.slices=%llu", name,
                (unsigned long long)odd);
    host_change(host, odd == 1 ? "C: not known" : "C: a stand-in, by the line number", "%s.hash=%s", name,
                odd == 1 ? "none" : "modulo");
}

static enum c2_status change_cache(struct host *host, const struct cache *cache, const char *source,
                                   struct c2_error *err)
{
    char size[32];
    const char *name = host_name_of(cache);
    const struct caches_level *level = name ? host_level_of(&host->machine, name) : NULL;
    if (!level)
        return name ? c2_fail(err, C2_ERR_UNSUPPORTED,
                              "-m host: the processor has a level %s, and %s, which latencies would be taken from, has "
                              "none; write a machine file",
                              name, host->base)
                    : C2_OK;
    if (cache->level == 1 && !c2_is_power_of_two(cache->sets))
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "-m host: %s has %llu sets, which is no power of two, and so cannot be simulated; take -m %s",
                       name, (unsigned long long)cache->sets, host->base);
    host_change(host, source, "%s.size=%s", name, host_size_of(size, cache->sets * cache->ways * cache->line));
    host_change(host, source, "%s.ways=%u", name, cache->ways);
    if (cache->level > 1)
        change_slices(host, name, cache, level);
    if (cache->level == 1 && cache->type == DATA)
        host_change(host, source, "machine.line=%u", cache->line);
    return C2_OK;
}

/* Whether each level of the included machine was spoken of. */
static enum c2_status check_levels(const struct host *host, const char *leaf, struct c2_error *err)
{
    for (uint32_t i = 0; i < host->machine.level_count; i++) {
        bool changed = false;
        const char *name = host->machine.levels[i].name;
        for (size_t k = 0; k < host->count; k++)
            changed |= strncmp(host->changes[k].text, name, strlen(name)) == 0 &&
                       strncmp(host->changes[k].text + strlen(name), ".size", 5) == 0;
        if (!changed)
            return c2_fail(
                err, C2_ERR_UNSUPPORTED,
                "-m host: neither CPUID (leaf %s) nor %s tells of an %s; take -m %s, or write a machine file", leaf,
                host->processor->sysfs, name, host->base);
    }
    return C2_OK;
}

static enum c2_status read_caches(struct host *host, struct c2_error *err)
{
    char source[64];
    struct cache cache;
    const uint32_t leaf = is_intel(host) ? 4 : 0x8000001Du;
    const char *leaf_name = is_intel(host) ? "4" : "0x8000001D";
    enum c2_status status = C2_OK;
    const bool told = read_leaf(host, leaf, 0, &cache);
    snprintf(source, sizeof source, told ? "A: CPUID leaf %s" : "B: %.0ssysfs", leaf_name);
    for (uint32_t i = 0; i < 8 && status == C2_OK; i++) {
        if (!(told ? read_leaf(host, leaf, i, &cache) : host_read_files(host, i, &cache)))
            break;
        status = change_cache(host, &cache, source, err);
    }
    return status == C2_OK ? check_levels(host, leaf_name, err) : status;
}

/* ------------------------------------------------------------------ AMD's TLBs */

static unsigned ways_of(unsigned code)
{
    static const unsigned ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
    return ways[code & 15];
}

static bool host_has_tlb(const struct host *host, const char *name)
{
    for (uint32_t i = 0; i < host->machine.tlb_count; i++)
        if (strcmp(host->machine.tlbs[i].name, name) == 0)
            return true;
    return false;
}

/* Entries for pages of 1 GiB, where they are a TLB of their own. */
static void change_giant(struct host *host, const char *name, uint32_t half)
{
    const unsigned entries = half & 4095, code = half >> 12, ways = code == 15 ? entries : ways_of(code);
    if (!host_has_tlb(host, name) || ways == 0 || entries % ways != 0 || !c2_is_power_of_two(entries / ways))
        return;
    host_change(host, "A: CPUID leaf 0x80000019", "%s.entries=%u", name, entries);
    host_change(host, "A: CPUID leaf 0x80000019", "%s.ways=%u", name, ways);
}

/* Fully associative ones of the first level. */
static void change_first(struct host *host, const char *name, unsigned entries, unsigned ways)
{
    if (!host_has_tlb(host, name) || entries == 0 || ways != 0xff)
        return;
    host_change(host, "A: CPUID leaf 0x80000005", "%s.entries=%u", name, entries);
    host_change(host, "A: CPUID leaf 0x80000005: fully associative", "%s.ways=%u", name, entries);
}

/* Ways that leave a power of two of sets; else the included machine's, with its entries. */
static void change_second(struct host *host, const char *name, unsigned entries, unsigned ways)
{
    if (!host_has_tlb(host, name) || ways == 0 || entries % ways != 0 || !c2_is_power_of_two(entries / ways))
        return;
    host_change(host, "A: CPUID leaf 0x80000006", "%s.entries=%u", name, entries);
    host_change(host, "A: CPUID leaf 0x80000006", "%s.ways=%u", name, ways);
}

static void read_amd(struct host *host)
{
    uint32_t first[4], second[4], giant[4], more[4];
    host_ask(host, 0x80000021u, 0, more);
    const unsigned unit = more[EAX] >> SIZES_X32 & 1 ? 32 : 1;
    host_ask(host, 0x80000005u, 0, first);
    host_ask(host, 0x80000006u, 0, second);
    host_ask(host, 0x80000019u, 0, giant);
    change_first(host, "DTLB", first[EBX] >> 16 & 255, first[EBX] >> 24);
    change_first(host, "ITLB", first[EBX] & 255, first[EBX] >> 8 & 255);
    change_second(host, "L2-DTLB", unit * (second[EBX] >> 16 & 4095), ways_of(second[EBX] >> 28));
    change_second(host, "L2-ITLB-4K", unit * (second[EBX] & 4095), ways_of(second[EBX] >> 12));
    change_second(host, "L2-ITLB-2M", unit * (second[EAX] & 4095), ways_of(second[EAX] >> 12));
    change_giant(host, "L2-DTLB-1G", giant[EBX] >> 16);
}

/* ------------------------------------------------------------------ Intel's TLBs */

struct translations {
    enum caches_tlb_place place;
    unsigned sides, holds, entries, ways;
};

/* What a byte of leaf 2 means; of other bytes nothing is known here. ITLBs are a thread's. */
static const struct {
    uint8_t byte;
    struct translations is;
} descriptors[] = {
    {0x03, {CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_4K, 64, 4}},
    {0x55, {CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_2M, 7, 7}},
    {0x5a, {CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_2M, 32, 4}},
    {0x63, {CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_2M, 32, 4}},
    {0x63, {CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_1G, 4, 4}},
    {0x76, {CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_2M, 8, 8}},
    {0xb0, {CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 128, 4}},
    {0xb2, {CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 64, 4}},
    {0xb5, {CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 64, 8}},
    {0xb6, {CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 128, 8}},
    {0xc1, {CACHES_TLB_SECOND, CACHES_TLB_DATA | CACHES_TLB_FETCHES, CACHES_TLB_4K | CACHES_TLB_2M, 1024, 8}},
    {0xc3, {CACHES_TLB_SECOND, CACHES_TLB_DATA | CACHES_TLB_FETCHES, CACHES_TLB_4K | CACHES_TLB_2M, 1536, 6}},
    {0xc3, {CACHES_TLB_SECOND, CACHES_TLB_DATA | CACHES_TLB_FETCHES, CACHES_TLB_1G, 16, 4}},
    {0xca, {CACHES_TLB_SECOND, CACHES_TLB_DATA | CACHES_TLB_FETCHES, CACHES_TLB_4K, 512, 4}},
};
#define DESCRIPTORS (sizeof descriptors / sizeof descriptors[0])

/* The included machine's TLB for the same; NULL: it has none. */
static const struct caches_tlb *tlb_for(const struct host *host, const struct translations *is)
{
    for (uint32_t i = 0; i < host->machine.tlb_count; i++) {
        const struct caches_tlb *tlb = &host->machine.tlbs[i];
        if (tlb->place == is->place && tlb->sides == is->sides && (tlb->holds & CACHES_TLB_PAGES) == is->holds)
            return tlb;
    }
    return NULL;
}

/* Where both have as many entries the ways stay: those of the included machines are measured. Another number of sets
 * has another index, of which nothing is said. */
static void change_tlb(struct host *host, const struct translations *is, const char *source)
{
    const struct caches_tlb *tlb = tlb_for(host, is);
    if (!tlb || is->entries == 0 || is->ways == 0 || is->entries % is->ways != 0)
        return;
    const uint32_t sets = is->entries / is->ways;
    if (is->entries == tlb->entries) {
        host_change(host, source, "%s.entries=%u", tlb->name, is->entries);
        return;
    }
    if (!c2_is_power_of_two(sets) || (sets == 1) != (tlb->entries == tlb->ways))
        return;
    host_change(host, source, "%s.entries=%u", tlb->name, is->entries);
    host_change(host, source, "%s.ways=%u", tlb->name, is->ways);
    if (tlb->policy == CACHES_MRU3_PLRU4 || (tlb->policy == CACHES_TREE_PLRU && !c2_is_power_of_two(is->ways)))
        host_change(host, "C: a stand-in, which is of any number of ways", "%s.policy=lru", tlb->name);
    if (sets > 1 && sets != tlb->entries / tlb->ways)
        host_change(host, "C: the low bits", "%s.index=vpn[%d:0]", tlb->name, __builtin_ctz(sets) - 1);
}

static void read_descriptors(struct host *host)
{
    uint32_t r[4];
    host_ask(host, 2, 0, r);
    for (unsigned i = 1; i < 16; i++) { /* the first byte is no descriptor */
        const uint32_t word = r[i / 4];
        const uint8_t byte = word >> 31 != 0 ? 0 : (uint8_t)(word >> i % 4 * 8);
        for (size_t k = 0; byte != 0 && k < DESCRIPTORS; k++)
            if (descriptors[k].byte == byte)
                change_tlb(host, &descriptors[k].is, "A: CPUID leaf 2");
    }
}

/* A part of leaf 0x18: EBX has the pages by bits 0, 1 and 3 (4 MiB, of no program of 64 bits, is bit 2) and the ways,
 * ECX the sets, EDX what it is for and its level. */
static bool read_translations(const struct host *host, uint32_t number, struct translations *out)
{
    static const unsigned sides[] = {0,
                                     CACHES_TLB_DATA,
                                     CACHES_TLB_FETCHES,
                                     CACHES_TLB_DATA | CACHES_TLB_FETCHES,
                                     CACHES_TLB_LOADS,
                                     CACHES_TLB_STORES};
    uint32_t r[4];
    host_ask(host, 0x18, number, r);
    const unsigned type = r[EDX] & 31, level = r[EDX] >> 5 & 7, ways = r[EBX] >> 16;
    *out = (struct translations){.place = level == 1 ? CACHES_TLB_FIRST : CACHES_TLB_SECOND,
                                 .sides = type < sizeof sides / sizeof sides[0] ? sides[type] : 0,
                                 .holds = (r[EBX] & 1 ? CACHES_TLB_4K : 0u) | (r[EBX] & 2 ? CACHES_TLB_2M : 0u) |
                                          (r[EBX] & 8 ? CACHES_TLB_1G : 0u),
                                 .entries = ways * r[ECX],
                                 .ways = ways};
    return out->sides != 0 && (level == 1 || level == 2);
}

static void read_intel(struct host *host)
{
    uint32_t r[4];
    struct translations is;
    read_descriptors(host);
    host_ask(host, 0x18, 0, r);
    for (uint32_t i = 0; i <= r[EAX] && i < PARTS; i++)
        if (read_translations(host, i, &is))
            change_tlb(host, &is, "A: CPUID leaf 0x18");
}

static void host_read_tlbs(struct host *host)
{
    if (is_intel(host))
        read_intel(host);
    else
        read_amd(host);
}

/* ------------------------------------------------------------------ the file */

static const struct change *host_change_of(const struct host *host, const char *section, const char *key)
{
    char start[80];
    const size_t length = (size_t)snprintf(start, sizeof start, "%s.%s=", section, key);
    for (size_t i = 0; i < host->count; i++)
        if (strncmp(host->changes[i].text, start, length) == 0)
            return &host->changes[i];
    return NULL;
}

/* Each key with where it is from. text is cut into its lines. */
static void host_write_lines(FILE *to, const struct host *host, char *text)
{
    char section[64] = "";
    for (char *line; (line = strsep(&text, "\n")) && text;) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(line, " "), line);
        if (line[0] == '[')
            snprintf(section, sizeof section, "%.*s", (int)strcspn(line + 1, "]"), line + 1);
        const struct change *from = host_change_of(host, section, key);
        const bool words = strcmp(key, "name") == 0 || strcmp(key, "description") == 0;
        if (line[0] == '\0' || line[0] == '[' || words)
            fprintf(to, "%s\n", line);
        else if (from)
            fprintf(to, "%-26s ; %s\n", line, from->source);
        else
            fprintf(to, "%-26s ; C: as %s has it\n", line, host->base);
    }
}

static enum c2_status host_write_file(FILE *to, const struct host *host, struct c2_error *err)
{
    char *text = NULL;
    size_t bytes;
    FILE *lines = open_memstream(&text, &bytes);
    if (!lines)
        return c2_fail_memory(err, "a machine file");
    machine_write(lines, &host->machine);
    if (fclose(lines) != 0) {
        free(text);
        return c2_fail_memory(err, "a machine file");
    }
    fprintf(to, "; This processor: %s, %s, family %u, model %u, stepping %u.\n", host->brand, host->vendor,
            host->family, host->model, host->stepping);
    fprintf(to, "; What it says of itself, and the rest as the machine has it that it is nearest to, %s.\n",
            host->base);
    fprintf(to, "; Letters: A = the processor says so, B = the system says so, C = a stand-in.\n\n");
    host_write_lines(to, host, text);
    free(text);
    return C2_OK;
}

/* The included machine, and that with all changes. */
static enum c2_status host_apply(struct host *host, const char *machines_dir, struct c2_error *err)
{
    const char *texts[CHANGES];
    struct c2_error why;
    for (size_t i = 0; i < host->count; i++)
        texts[i] = host->changes[i].text;
    enum c2_status status = machine_read(&host->machine, host->base, machines_dir, texts, host->count, &why);
    return status == C2_OK
               ? status
               : c2_fail(err, status, "-m host: this processor cannot be simulated as it is: %s; take -m %s", why.text,
                         host->base);
}

enum c2_status machine_host_write(FILE *to, const struct machine_processor *processor, const char *machines_dir,
                                  struct c2_error *err)
{
    struct host *host = c2_calloc(1, sizeof *host);
    if (!host)
        return c2_fail_memory(err, "a machine file");
    host->processor = processor;
    read_identity(host);
    enum c2_status status = find_base(host, err);
    if (status == C2_OK)
        status = machine_read(&host->machine, host->base, machines_dir, NULL, 0, err);
    if (status == C2_OK) {
        host_change(host, "", "machine.name=host");
        host_change(host, "", "machine.description=%s, the rest as %s", host->brand, host->base);
        status = read_caches(host, err);
    }
    if (status == C2_OK)
        host_read_tlbs(host);
    if (status == C2_OK)
        status = host_apply(host, machines_dir, err);
    if (status == C2_OK)
        status = host_write_file(to, host, err);
    c2_free(host);
    return status;
}

/* ------------------------------------------------------------------ this one */

static void ask_this(void *self, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    (void)self;
    __get_cpuid_count(leaf, sub, &out[EAX], &out[EBX], &out[ECX], &out[EDX]);
}

static char host_file[MACHINE_PATH_BYTES]; /* in its place; "": none */

void machine_host_is(const char *path) { snprintf(host_file, sizeof host_file, "%s", path); }

static enum c2_status read_host_file(FILE *to, struct c2_error *err)
{
    char part[4096];
    size_t bytes;
    FILE *from = fopen(host_file, "re");
    if (!from)
        return c2_fail(err, C2_ERR_NOT_FOUND, "-m host: its machine file %s cannot be opened: %m", host_file);
    while ((bytes = fread(part, 1, sizeof part, from)) > 0)
        fwrite(part, 1, bytes, to);
    fclose(from);
    return C2_OK;
}

enum c2_status machine_host_text(char **out, const char *machines_dir, struct c2_error *err)
{
    const struct machine_processor this = {NULL, ask_this, "/sys/devices/system/cpu/cpu0/cache"};
    size_t bytes;
    *out = NULL;
    FILE *to = open_memstream(out, &bytes);
    if (!to)
        return c2_fail_memory(err, "a machine file");
    enum c2_status status = host_file[0] != '\0' ? read_host_file(to, err)
                                                 : machine_host_write(to, &this, machines_dir, err);
    if (fclose(to) != 0 && status == C2_OK)
        status = c2_fail_memory(err, "a machine file");
    if (status != C2_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}
