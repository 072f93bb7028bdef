/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Proposals, simulated on a recorded stream, against a twin: the same references one by one, each moved by a naive
 * formula, in a simulator of its own. The stream is random: loads, stores, modifies and string instructions of all
 * sizes and directions, blocks that come and go. The machine has no L1I, so only data decides; its L2 is indexed by
 * physical address, so that the order in which pages are touched counts as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lanes/lanes.h"

#define STATIC_BASE 0x500040ull
#define STATIC_BYTES 20000u
#define HEAP_BASE 0x1120000000ull
#define HEAP_BYTES (1u << 20)
#define SPAN 60000u /* bytes of each that are accessed */
#define STEPS 30000u
#define SITE 0x401234u
#define SITE_BYTES 200u
#define NUMBERED 3u /* the object malloc#3 */
#define REGION 0x200818000000ull

/* ------------------------------------------------------------------ the program's blocks of code */

enum { PLAIN, MOVS, STOS, SCAS, KINDS };
struct code {
    struct stream_blocks *blocks;
    uint32_t plain;            /* four slots: read 8, write 4, modify 2, read 16 */
    uint32_t string[KINDS][4]; /* by element size 1 << i */
    uint32_t single[2][17];    /* twin: one read (0) or write (1) of this size */
};

static uint32_t add_block(struct code *code, const struct stream_slot *slots, uint16_t count)
{
    uint32_t number;
    const struct stream_insn insn = {.length = 4};
    const struct stream_block block = {
        .pc = {0x400000}, .bytes = 4, .insn_count = 1, .slot_count = count, .insns = &insn, .slots = slots};
    assert_int_equal(C2_OK, stream_blocks_add(&number, code->blocks, &block, NULL));
    return number;
}

static uint32_t add_string(struct code *code, unsigned kind, uint16_t size)
{
    const struct stream_slot slots[] = {{0, kind == MOVS ? size : 0, STREAM_SOURCE, 0},
                                        {0, size, STREAM_DESTINATION, kind != SCAS},
                                        {0, 0, STREAM_DONE, 0},
                                        {0, 0, STREAM_REMAINING, 0}};
    return add_block(code, slots, 4);
}

static void make_code(struct code *code)
{
    static const struct stream_slot plain[] = {
        {0, 8, STREAM_READ, 0}, {0, 4, STREAM_WRITE, 0}, {0, 2, STREAM_MODIFY, 0}, {0, 16, STREAM_READ, 0}};
    assert_int_equal(C2_OK, stream_blocks_create(&code->blocks, NULL));
    code->plain = add_block(code, plain, 4);
    for (unsigned kind = MOVS; kind < KINDS; kind++)
        for (unsigned i = 0; i < 4; i++)
            code->string[kind][i] = add_string(code, kind, (uint16_t)(1u << i));
    for (unsigned write = 0; write < 2; write++)
        for (uint16_t size = 1; size <= 16; size *= 2) {
            const struct stream_slot slot = {0, size, write ? STREAM_WRITE : STREAM_READ, 0};
            code->single[write][size] = add_block(code, &slot, 1);
        }
}

/* ------------------------------------------------------------------ the twin: where a byte lies, naively */

struct live {
    uint64_t base, bytes;
    int thing; /* 1: malloc#3, 2: the site's; 0: none's */
    uint32_t slot;
    bool alive;
};

struct twin {
    struct code *code;
    const struct analyses_proposal *proposal; /* objects: 0 static, 1 malloc#3, 2 the site */
    uint64_t base[3];
    bool on[3];
    struct live lives[4096];
    uint32_t live_count, slots, unused[4096], unused_count;
    struct mmu_replica *memory;
    struct sim *sim;
    struct stream_batch batch;
    uint64_t mutant; /* added to each pad */
};

static const struct analyses_object objects[3] = {
    {.kind = ANALYSES_STATIC, .name = "A", .base = STATIC_BASE, .bytes = STATIC_BYTES, .blocks = 1},
    {.kind = ANALYSES_HEAP,
     .name = "malloc#3",
     .base = HEAP_BASE,
     .bytes = 9000,
     .blocks = 1,
     .number = NUMBERED,
     .site = {0x409999},
     .sites = (const struct guest_va[]){{0x409999}},
     .site_count = 1},
    {.kind = ANALYSES_HEAP,
     .name = "malloc@f",
     .base = HEAP_BASE,
     .bytes = 100 * SITE_BYTES,
     .blocks = 100,
     .site = {SITE},
     .sites = (const struct guest_va[]){{SITE}},
     .site_count = 1},
};
static const struct analyses_profile_result profile = {.objects = objects, .object_count = 3};

static const struct analyses_change *change_of(const struct analyses_proposal *proposal, uint32_t object)
{
    for (uint32_t i = 0; i < proposal->change_count; i++)
        if (proposal->changes[i].object == object)
            return &proposal->changes[i];
    return NULL;
}

/* One behind the other, each at the next address with its offset. */
static void twin_lay_out(struct twin *twin)
{
    uint64_t at = REGION;
    for (uint32_t i = 0; i < twin->proposal->change_count; i++) {
        const struct analyses_change *change = &twin->proposal->changes[i];
        const uint64_t rows = change->row_bytes == 0 ? 0 : objects[change->object].bytes / change->row_bytes;
        while (at % change->align != change->offset)
            at++;
        twin->on[change->object] = true;
        twin->base[change->object] = at;
        at += change->object == 2 ? objects[2].blocks * (change->row_bytes + change->pad_bytes)
                                  : objects[change->object].bytes + rows * change->pad_bytes;
    }
}

static uint64_t twin_stretch(const struct twin *twin, uint32_t object, uint64_t offset)
{
    const struct analyses_change *change = change_of(twin->proposal, object);
    uint64_t at = twin->base[object];
    for (; change->row_bytes != 0 && offset >= change->row_bytes; offset -= change->row_bytes)
        at += change->row_bytes + change->pad_bytes + twin->mutant;
    return at + offset;
}

/* Elements split, or in another order; element and rest as they were. */
static uint64_t twin_element(const struct twin *twin, uint64_t element, uint64_t rest)
{
    const struct analyses_proposal *proposal = twin->proposal;
    const uint32_t object = proposal->changes[0].object;
    const uint64_t bytes = proposal->element_bytes, base = twin->base[object];
    const uint64_t elements = object == 2 ? objects[2].blocks : (objects[object].bytes + bytes - 1) / bytes;
    uint64_t apart = 0, before[2] = {0, 0};
    if (proposal->means & ANALYSES_IN_ORDER)
        return base + proposal->walk->order[element] * (object == 2 ? proposal->changes[0].row_bytes : bytes) + rest;
    for (uint64_t i = 0; i < bytes; i++) {
        const bool is_apart = proposal->apart[i / 8] >> i % 8 & 1;
        apart += is_apart;
        before[is_apart] += i < rest;
    }
    if (proposal->apart[rest / 8] >> rest % 8 & 1)
        return base + element * apart + before[1];
    return (base + elements * apart + 63) / 64 * 64 + element * (bytes - apart) + before[0];
}

static uint64_t twin_move(const struct twin *twin, uint64_t va)
{
    const uint64_t bytes = twin->proposal->element_bytes;
    for (uint32_t i = twin->live_count; i-- > 0;) {
        const struct live *live = &twin->lives[i];
        if (!live->alive || va < live->base || va >= live->base + live->bytes)
            continue;
        if (live->thing == 0 || !twin->on[live->thing])
            return va;
        if (live->thing == 1)
            return twin_stretch(twin, 1, va - live->base);
        if (bytes != 0)
            return twin_element(twin, live->slot, va - live->base);
        const struct analyses_change *change = change_of(twin->proposal, 2);
        return twin->base[2] + live->slot * (change->row_bytes + change->pad_bytes + twin->mutant) + va - live->base;
    }
    if (twin->on[0] && va >= STATIC_BASE && va < STATIC_BASE + STATIC_BYTES && bytes != 0)
        return twin_element(twin, (va - STATIC_BASE) / bytes, (va - STATIC_BASE) % bytes);
    if (twin->on[0] && va >= STATIC_BASE && va < STATIC_BASE + STATIC_BYTES)
        return twin_stretch(twin, 0, va - STATIC_BASE);
    return va;
}

static bool twin_translate(void *self, struct guest_va va, struct guest_pa *out)
{
    const struct twin *twin = self;
    const uint64_t words[] = {va.v, MMU_ACCESS_WRITE};
    assert_int_equal(C2_OK, mmu_replica_apply(twin->memory, STREAM_TOUCHED, words, 2, NULL));
    return mmu_replica_translate(twin->memory, va, out);
}

static void twin_access(struct twin *twin, bool write, uint64_t va, uint16_t size)
{
    twin->batch.used = 2;
    twin->batch.tid = 1;
    twin->batch.words[0] = stream_header(twin->code->single[write][size], 1, 1);
    twin->batch.words[1] = twin_move(twin, va);
    assert_int_equal(C2_OK, sim_consume(twin->sim, &twin->batch, NULL));
}

static void twin_string(struct twin *twin, unsigned kind, uint16_t size, uint64_t source, uint64_t destination,
                        uint64_t count, bool down)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t distance = down ? -(i * size) : i * size;
        if (kind == MOVS)
            twin_access(twin, false, source + distance, size);
        twin_access(twin, kind != SCAS, destination + distance, size);
    }
}

static void twin_allocated(struct twin *twin, uint64_t number, const uint64_t *words)
{
    struct live live = {.base = words[0], .bytes = words[1], .alive = true};
    live.thing = number == NUMBERED ? 1 : words[3] == SITE && words[1] <= SITE_BYTES ? 2 : 0;
    if (live.thing == 2)
        live.slot = twin->unused_count != 0 ? twin->unused[--twin->unused_count] : twin->slots++;
    assert_true(twin->live_count < 4096);
    twin->lives[twin->live_count++] = live;
}

static void twin_freed(struct twin *twin, uint64_t address)
{
    for (uint32_t i = 0; i < twin->live_count; i++) {
        struct live *live = &twin->lives[i];
        if (!live->alive || live->base != address)
            continue;
        live->alive = false;
        if (live->thing == 2)
            twin->unused[twin->unused_count++] = live->slot;
    }
}

/* ------------------------------------------------------------------ the stream, recorded and for the twins */

#define TWINS 10u
#define ELEMENT 72u
#define ELEMENTS 278u /* of the static object: the last one is not whole */
struct recording {
    struct code code;
    FILE *file;
    struct stream_recorder *recorder;
    struct stream_recording *played;
    struct stream_batch batch;
    struct c2_rng rng;
    struct caches_machine machine;
    struct mmu_config placement;
    struct twin *twins;
    uint64_t allocations, heap_top;
    uint64_t alive[64];
    uint32_t alive_count;
    uint32_t come[2][ELEMENTS]; /* of the static object, of the site: elements in the order of their first access */
    uint32_t come_count[2];
};

static void flush(struct recording *r)
{
    const struct stream_sink sink = stream_recorder_sink(r->recorder);
    r->batch.tid = 1;
    assert_int_equal(C2_OK, sink.consume(sink.self, &r->batch, NULL));
    r->batch.used = 0;
}

static void record(struct recording *r, uint64_t header, const uint64_t *words)
{
    const uint32_t count = stream_header_slots(header);
    if (r->batch.used + 1 + count > STREAM_BATCH_WORDS || c2_rng_below(&r->rng, 500) == 0) {
        flush(r);
    }
    r->batch.words[r->batch.used++] = header;
    memcpy(&r->batch.words[r->batch.used], words, count * sizeof *words);
    r->batch.used += count;
}

#define MAPPING_WORDS 6u
#define FLAGS(kind) (MMU_READ | MMU_WRITE | STREAM_MAPPED_MAY_WRITE | (kind) << STREAM_MAPPED_KIND_SHIFT)

static void record_mapping(struct recording *r, const uint64_t words[MAPPING_WORDS])
{
    record(r, stream_header(STREAM_MARK, STREAM_MAPPED, MAPPING_WORDS), words);
}

static uint64_t some_address(struct recording *r)
{
    return (c2_rng_below(&r->rng, 2) ? STATIC_BASE - 0x40 : HEAP_BASE) + 2048 + c2_rng_below(&r->rng, SPAN);
}

static void come_to(struct recording *r, unsigned which, uint32_t element)
{
    for (uint32_t i = 0; i < r->come_count[which]; i++)
        if (r->come[which][i] == element)
            return;
    r->come[which][r->come_count[which]++] = element;
}

/* All plain accesses are one instruction's. */
static void see_walk(struct recording *r, uint64_t va)
{
    for (uint32_t i = r->twins[0].live_count; i-- > 0;) {
        const struct live *live = &r->twins[0].lives[i];
        if (!live->alive || va < live->base || va >= live->base + live->bytes)
            continue;
        if (live->thing == 2)
            come_to(r, 1, live->slot);
        return;
    }
    if (va >= STATIC_BASE && va < STATIC_BASE + STATIC_BYTES)
        come_to(r, 0, (uint32_t)(va - STATIC_BASE) / ELEMENT);
}

static void plain(struct recording *r)
{
    uint64_t words[4];
    for (unsigned i = 0; i < 4; i++)
        see_walk(r, words[i] = some_address(r));
    record(r, stream_header(r->code.plain, 1, 4), words);
    for (unsigned i = 0; i < TWINS; i++) {
        twin_access(&r->twins[i], false, words[0], 8);
        twin_access(&r->twins[i], true, words[1], 4);
        twin_access(&r->twins[i], false, words[2], 2);
        twin_access(&r->twins[i], true, words[2], 2);
        twin_access(&r->twins[i], false, words[3], 16);
    }
}

/* Whole, or interrupted once; downwards it stays behind the start of what is mapped, 2048 bytes before each address. */
static void string(struct recording *r)
{
    const unsigned kind = MOVS + (unsigned)c2_rng_below(&r->rng, KINDS - MOVS),
                   log = (unsigned)c2_rng_below(&r->rng, 4);
    const uint64_t count = c2_rng_below(&r->rng, 250), cut = c2_rng_below(&r->rng, count + 1), size = 1u << log;
    const bool down = c2_rng_below(&r->rng, 2);
    const uint64_t at[2] = {some_address(r), some_address(r)},
                   high = c2_rng_below(&r->rng, 2) ? 0 : (uint64_t)-1 - count;
    const uint64_t distance = down ? -((count - cut) * size) : (count - cut) * size;
    const uint32_t block = r->code.string[kind][log];
    if (cut != 0 && cut != count)
        record(r, stream_header(block, 0, 4),
               (const uint64_t[4]){at[0], at[1], stream_string_done(count - cut, down), high + cut});
    const bool parted = cut != 0 && cut != count;
    record(r, stream_header(block, 1, 4),
           (const uint64_t[4]){parted ? at[0] + distance : at[0], parted ? at[1] + distance : at[1],
                               stream_string_done(parted ? cut : count, down), high});
    for (unsigned i = 0; i < TWINS; i++)
        twin_string(&r->twins[i], kind, (uint16_t)size, at[0], at[1], count, down);
}

static void allocate(struct recording *r)
{
    const bool of_site = c2_rng_below(&r->rng, 2);
    const uint64_t number = ++r->allocations;
    const uint64_t bytes = number == NUMBERED ? 9000 : of_site ? 100 + c2_rng_below(&r->rng, 120) : 64;
    const uint64_t words[4] = {r->heap_top, bytes, STREAM_MALLOC, of_site && number != NUMBERED ? SITE : 0x409999};
    r->heap_top += c2_align_up(bytes, 16);
    if (r->heap_top > HEAP_BASE + SPAN)
        return (void)(r->allocations--, r->heap_top -= c2_align_up(bytes, 16));
    r->alive[r->alive_count++] = words[0];
    record(r, stream_header(STREAM_MARK, STREAM_ALLOCATED, 4), words);
    for (unsigned i = 0; i < TWINS; i++)
        twin_allocated(&r->twins[i], number, words);
}

static void release(struct recording *r)
{
    const uint32_t which = (uint32_t)c2_rng_below(&r->rng, r->alive_count);
    const uint64_t address = r->alive[which];
    r->alive[which] = r->alive[--r->alive_count];
    record(r, stream_header(STREAM_MARK, STREAM_FREED, 1), &address);
    for (unsigned i = 0; i < TWINS; i++)
        twin_freed(&r->twins[i], address);
}

static void step(struct recording *r)
{
    const uint64_t what = c2_rng_below(&r->rng, 100);
    if (what < 2 && r->alive_count < 64)
        allocate(r);
    else if (what < 3 && r->alive_count > 0)
        release(r);
    else if (what < 12)
        string(r);
    else
        plain(r);
}

/* ------------------------------------------------------------------ proposals and machines */

static uint32_t turned[ELEMENTS], shuffled[100]; /* main() fills them in */
static const struct analyses_walk turned_walk = {.order = turned, .count = ELEMENTS},
                                  shuffled_walk = {.order = shuffled, .count = 100};

static const struct analyses_proposal proposals[TWINS] = {
    {.means = 0},
    {.means = ANALYSES_PAD_ROWS, .change_count = 1, .changes = {{0, 1000, 64, 4096, 0x40}}},
    {.means = ANALYSES_PAD_ROWS, .change_count = 2, .changes = {{0, 72, 64, 4096, 0x40}, {1, 512, 64, 4096, 0x10}}},
    {.means = ANALYSES_STAGGER, .change_count = 2, .changes = {{0, 0, 0, 4096, 0}, {1, 0, 0, 4096, 2048}}},
    {.means = ANALYSES_PAD_BLOCKS, .change_count = 1, .changes = {{2, 208, 64, 4096, 16}}},
    {.means = ANALYSES_HUGE | ANALYSES_PAD_ROWS,
     .change_count = 3,
     .changes = {{0, 1000, 64, 4096, 0x40}, {1, 0, 0, 4096, 0x30}, {2, 208, 64, 4096, 16}}},
    {.means = ANALYSES_SPLIT, /* bytes 4 to 11 and 40 of 72 */
     .element_bytes = ELEMENT,
     .apart = {0xf0, 0x0f, 0, 0, 0, 1},
     .change_count = 1,
     .changes = {{0, 0, 0, 4096, 0x40}}},
    {.means = ANALYSES_SPLIT, /* bytes 0 to 7 and 64 to 67 of each block */
     .element_bytes = SITE_BYTES,
     .apart = {0xff, [8] = 0x0f},
     .change_count = 1,
     .changes = {{2, SITE_BYTES, 0, 4096, 16}}},
    {.means = ANALYSES_IN_ORDER,
     .element_bytes = ELEMENT,
     .walk = &turned_walk,
     .change_count = 1,
     .changes = {{0, 0, 0, 4096, 0x40}}},
    {.means = ANALYSES_IN_ORDER,
     .element_bytes = SITE_BYTES,
     .walk = &shuffled_walk,
     .change_count = 1,
     .changes = {{2, 208, 0, 4096, 16}}},
};

static struct caches_level make_level(uint64_t bytes, enum caches_index index)
{
    struct caches_level level = {.name = "L",
                                 .size_bytes = bytes,
                                 .ways = 2,
                                 .slices = 1,
                                 .hash = "none",
                                 .policy = CACHES_LRU,
                                 .index = index,
                                 .inclusion = CACHES_NON_INCLUSIVE};
    return level;
}

static const uint64_t mappings[][MAPPING_WORDS] = {
    {0x500000, 1 << 20, FLAGS(MMU_ANONYMOUS)},
    {HEAP_BASE, HEAP_BYTES, FLAGS(MMU_HEAP)},
};

static void open_twin(struct recording *r, struct twin *twin, const struct analyses_proposal *proposal)
{
    const uint64_t map[MAPPING_WORDS] = {REGION, 2 << 20, FLAGS(MMU_ANONYMOUS)}, advise[] = {REGION, 2 << 20, 1};
    const struct sim_config config = {
        .machine = &r->machine, .translation = {.self = twin, .translate = twin_translate}, .blocks = r->code.blocks};
    twin->code = &r->code;
    twin->proposal = proposal;
    twin_lay_out(twin);
    assert_int_equal(C2_OK, mmu_replica_create(&twin->memory, &r->placement, NULL));
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(C2_OK, mmu_replica_apply(twin->memory, STREAM_MAPPED, mappings[i], MAPPING_WORDS, NULL));
    assert_int_equal(C2_OK, mmu_replica_apply(twin->memory, STREAM_MAPPED, map, MAPPING_WORDS, NULL));
    if (proposal->means & ANALYSES_HUGE)
        assert_int_equal(C2_OK, mmu_replica_apply(twin->memory, STREAM_ADVISED, advise, 3, NULL));
    assert_int_equal(C2_OK, sim_create(&twin->sim, &config, NULL));
}

static struct recording *make(uint64_t seed, uint64_t mutant)
{
    struct recording *r = calloc(1, sizeof *r);
    r->twins = calloc(TWINS, sizeof *r->twins);
    r->machine = (struct caches_machine){.name = "twin", .line_bytes = 64, .level_count = 2};
    r->machine.levels[0] = make_level(8 << 10, CACHES_VIRTUAL);
    r->machine.levels[1] = make_level(32 << 10, CACHES_PHYSICAL);
    r->placement = (struct mmu_config){.physical_bytes = 64 << 20, .placement = MMU_SEQUENTIAL, .seed = 1};
    r->heap_top = HEAP_BASE + 4096;
    c2_rng_init(&r->rng, seed, "stream");
    make_code(&r->code);
    assert_int_equal(C2_OK, stream_temporary(&r->file, NULL));
    assert_int_equal(C2_OK, stream_recorder_create(&r->recorder, r->file, "the test's", r->code.blocks, NULL, 0, NULL));
    for (unsigned i = 0; i < TWINS; i++) {
        open_twin(r, &r->twins[i], &proposals[i]);
        r->twins[i].mutant = mutant;
    }
    for (unsigned i = 0; i < 2; i++)
        record_mapping(r, mappings[i]);
    for (unsigned i = 0; i < STEPS / 10; i++)
        step(r);
    flush(r);
    return r;
}

static void destroy(struct recording *r)
{
    for (unsigned i = 0; i < TWINS; i++) {
        sim_destroy(r->twins[i].sim);
        mmu_replica_destroy(r->twins[i].memory);
    }
    stream_recording_close(r->played);
    stream_recorder_destroy(r->recorder);
    fclose(r->file);
    stream_blocks_destroy(r->code.blocks);
    free(r->twins);
    free(r);
}

/* Ends the recording. */
static struct lanes_replay replay_of(struct recording *r)
{
    if (!r->played) {
        assert_int_equal(C2_OK, stream_recorder_finish(r->recorder, NULL, 0, NULL));
        assert_int_equal(C2_OK, stream_recording_open(&r->played, r->file, "the test's", NULL));
    }
    return (struct lanes_replay){
        .machine = &r->machine, .placement = &r->placement, .recording = r->played, .profile = &profile};
}

/* ------------------------------------------------------------------ tests */

static bool same(const struct recording *r, unsigned twin, const struct analyses_outcome *outcome)
{
    bool equal = true;
    for (uint32_t i = 0; i < 2; i++)
        equal &= memcmp(caches_level_counts(sim_caches(r->twins[twin].sim), i), &outcome->levels[i],
                        sizeof outcome->levels[i]) == 0;
    return equal;
}

static void like_the_twins(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct analyses_outcome outcomes[TWINS], alone;
        struct recording *r = make(seed, 0);
        const struct lanes_replay replay = replay_of(r);
        assert_int_equal(C2_OK, lanes_replay(outcomes, proposals, TWINS, &replay, NULL));
        for (unsigned i = 0; i < TWINS; i++) {
            assert_int_equal(C2_OK, outcomes[i].status);
            assert_true(same(r, i, &outcomes[i]));
            for (unsigned k = 0; k < i; k++) /* and the layouts do differ */
                assert_memory_not_equal(&outcomes[i].levels, &outcomes[k].levels, sizeof outcomes[i].levels);
        }
        assert_int_equal(C2_OK, lanes_replay(&alone, &proposals[4], 1, &replay, NULL));
        assert_true(same(r, 4, &alone));
        destroy(r);
    }
}

/* A twin whose pads are a line longer is another one, wherever there are pads. */
static void another_pad_shows(void **state)
{
    struct analyses_outcome outcomes[TWINS];
    (void)state;
    struct recording *r = make(1, 64);
    const struct lanes_replay replay = replay_of(r);
    assert_int_equal(C2_OK, lanes_replay(outcomes, proposals, TWINS, &replay, NULL));
    for (unsigned i = 0; i < TWINS; i++)
        assert_int_equal(same(r, i, &outcomes[i]), i == 0 || i == 3 || i >= 6);
    destroy(r);
}

/* A lane that cannot go on says why; the others go on. */
static void a_lane_that_fails(void **state)
{
    struct analyses_outcome outcomes[2];
    (void)state;
    struct recording *r = make(1, 0);
    const uint64_t in_the_way[MAPPING_WORDS] = {REGION, 4096, FLAGS(MMU_ANONYMOUS)};
    record_mapping(r, in_the_way);
    flush(r);
    const struct lanes_replay replay = replay_of(r);
    assert_int_equal(C2_OK, lanes_replay(outcomes, proposals, 2, &replay, NULL));
    assert_int_equal(C2_OK, outcomes[0].status);
    assert_true(same(r, 0, &outcomes[0]));
    assert_int_equal(C2_ERR_UNSUPPORTED, outcomes[1].status);
    assert_string_equal(outcomes[1].error.text,
                        "the program maps memory at 0x200818000000, where objects would be moved");
    destroy(r);
}

/* Walks have the order of first accesses by their instruction, and behind it what it did not come to; a walk of another
 * instruction has none. */
static void walks_are_followed(void **state)
{
    struct analyses_outcome outcome;
    uint64_t rows[3];
    (void)state;
    struct recording *r = make(3, 0);
    const struct lanes_replay replay = replay_of(r);
    struct analyses_walk walks[] = {{.object = 0, .pc = {0x400000}, .element_bytes = ELEMENT},
                                    {.object = 2, .pc = {0x400000}},
                                    {.object = 2, .pc = {0x400004}}};
    assert_int_equal(C2_OK, lanes_replay_rows(&outcome, rows, (const uint32_t[]){0, 2}, 2, &replay, walks, 3, NULL));
    assert_int_equal(walks[0].count, ELEMENTS);
    assert_int_equal(walks[1].count, 100);
    for (unsigned which = 0; which < 2; which++) {
        uint32_t next = r->come_count[which];
        assert_in_range(next, 5, walks[which].count);
        for (uint32_t i = 0; i < walks[which].count; i++) {
            uint32_t place = 0;
            while (place < r->come_count[which] && r->come[which][place] != i)
                place++;
            assert_int_equal(walks[which].order[i], place < r->come_count[which] ? place : next++);
        }
        c2_free(walks[which].order);
    }
    assert_null(walks[2].order);
    assert_true(same(r, 0, &outcome));
    destroy(r);
}

/* A level that is larger, as if work in blocks had left what it holds there: nothing moves, and the level has as many
 * misses as it had cold ones. One that is too large for the model fails alone. */
static void room_for_all(void **state)
{
    static const struct analyses_proposal roomy[2] = {
        {.means = ANALYSES_ROOM, .level = 0, .room_bytes = 1 << 20},
        {.means = ANALYSES_ROOM, .level = 1, .room_bytes = (uint64_t)1 << 45}};
    struct analyses_outcome outcomes[2];
    (void)state;
    struct recording *r = make(1, 0);
    const struct lanes_replay replay = replay_of(r);
    assert_int_equal(C2_OK, lanes_replay(outcomes, roomy, 2, &replay, NULL));
    const struct caches_counts *was = caches_level_counts(sim_caches(r->twins[0].sim), 0);
    assert_int_equal(outcomes[0].status, C2_OK);
    assert_int_equal(outcomes[0].levels[0].accesses, was->accesses);
    assert_int_equal(outcomes[0].levels[0].misses, was->cold);
    assert_int_equal(outcomes[0].levels[1].accesses, was->cold);
    assert_int_equal(outcomes[1].status, C2_ERR_UNSUPPORTED);
    destroy(r);
}

/* Want of memory is an error, and leaves nothing behind. A lane that lacks some in the middle fails alone. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct recording *r = make(2, 0);
    const struct lanes_replay replay = replay_of(r);
    struct analyses_outcome outcomes[2];
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct analyses_walk walk = {.object = 2, .pc = {0x400000}};
        uint64_t rows[3];
        struct c2_error err;
        c2_alloc_fail_from(n);
        status = lanes_replay_rows(outcomes, rows, (const uint32_t[]){0, 2}, 2, &replay, &walk, 1, &err);
        c2_alloc_fail_from(0);
        c2_free(walk.order);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        if (status == C2_OK && outcomes[0].status != C2_OK) {
            assert_int_equal(C2_ERR_NO_MEMORY, outcomes[0].status);
            status = C2_ERR_NO_MEMORY;
        }
    }
    assert_true(same(r, 0, &outcomes[0]));
    destroy(r);
}

/* What is remembered is what is there, byte by byte, while blocks come and go. */
static void the_finder_remembers(void **state)
{
    static const uint32_t all[] = {0, 1, 2};
    struct finder *finder;
    struct c2_rng rng;
    uint64_t top = HEAP_BASE, alive[64];
    uint32_t alive_count = 0;
    (void)state;
    c2_rng_init(&rng, 5, "finder");
    assert_int_equal(C2_OK, finder_create(&finder, &profile, all, 3, NULL));
    for (unsigned i = 0; i < STEPS; i++) {
        const uint64_t what = c2_rng_below(&rng, 50);
        if (what == 0 && alive_count < 64) {
            const uint64_t words[4] = {top, 150, STREAM_MALLOC, c2_rng_below(&rng, 2) ? SITE : 1};
            alive[alive_count++] = top;
            top += 160;
            assert_int_equal(C2_OK, finder_mark(finder, STREAM_ALLOCATED, words, NULL));
        } else if (what == 1 && alive_count > 0) {
            assert_int_equal(C2_OK, finder_mark(finder, STREAM_FREED, &alive[--alive_count], NULL));
        } else {
            struct finder_found looked;
            const uint64_t va = (c2_rng_below(&rng, 2) ? HEAP_BASE : STATIC_BASE - 500) + c2_rng_below(&rng, 30000);
            finder_look(finder, va, &looked);
            const struct finder_found *found = finder_find(finder, va);
            assert_true(found->start <= va && va < found->end);
            assert_int_equal(found->thing, looked.thing);
            assert_int_equal(found->base, looked.base);
            assert_int_equal(found->slot, looked.slot);
        }
    }
    finder_destroy(finder);
}

/* Rows of 1000 bytes: down the columns, then in tiles of 5 * 8 bytes, 8 rows each. A walk along the rows says nothing,
 * nor do leaps at random. */
static void rows_are_found(void **state)
{
    struct rows *rows;
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "leaps");
    assert_int_equal(C2_OK, rows_create(&rows, 64, 5, NULL));
    for (uint64_t column = 0; column < 20; column++)
        for (uint64_t row = 0; row < 20; row++)
            assert_int_equal(C2_OK, rows_see(rows, 7, 1, 4, 0, row * 1000 + column * 8, NULL));
    for (uint64_t tile = 0; tile < 5; tile++)
        for (uint64_t row = 0; row < 8; row++)
            for (uint64_t i = 0; i < 5; i++)
                assert_int_equal(C2_OK, rows_see(rows, 9, 0, 2, 1, row * 1000 + (tile * 5 + i) * 8, NULL));
    for (uint64_t i = 0; i < 2000; i++)
        assert_int_equal(C2_OK, rows_see(rows, 9, 1, 2, 2, i * 8, NULL));
    for (uint64_t i = 0; i < 2000; i++)
        assert_int_equal(C2_OK, rows_see(rows, 10, 0, 1, 3, c2_rng_below(&rng, 1 << 20), NULL));
    assert_int_equal(rows_of(rows, 3), 0);
    for (uint64_t i = 0; i < 200; i++) /* five lines of each row, line by line */
        assert_int_equal(C2_OK, rows_see(rows, 11, 0, 1, 4, i / 5 * 1000 + i % 5 * 64, NULL));
    assert_int_equal(rows_of(rows, 4), 1000);
    assert_int_equal(rows_of(rows, 0), 1000);
    assert_int_equal(rows_of(rows, 1), 1000);
    assert_int_equal(rows_of(rows, 2), 0);
    rows_destroy(rows);
}

/* Four arrays of 4096 bytes side by side, or a loop over rows unrolled: each instruction goes on in small steps, and
 * the next one is a row further on. Another block, or another object in between, begins anew; steps of one instruction
 * go before. */
static void rows_side_by_side(void **state)
{
    struct rows *rows;
    (void)state;
    assert_int_equal(C2_OK, rows_create(&rows, 64, 4, NULL));
    for (uint64_t k = 0; k < 100; k++) {
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(C2_OK, rows_see(rows, 3, i, 4, 0, i * 4096 + k * 8, NULL));
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(C2_OK, rows_see(rows, 4, i, 4, i % 2 == 0 ? 1 : 2, i * 2048 + k * 8, NULL));
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(C2_OK, rows_see(rows, 5, i, 2, 3, i * 512 + k * 1000, NULL));
    }
    assert_int_equal(rows_of(rows, 0), 4096);
    assert_int_equal(rows_of(rows, 1), 0);
    assert_int_equal(rows_of(rows, 2), 0);
    assert_int_equal(rows_of(rows, 3), 1000);
    rows_destroy(rows);
}

int main(void)
{
    for (uint32_t i = 0; i < ELEMENTS; i++)
        turned[i] = i * 101 % ELEMENTS;
    for (uint32_t i = 0; i < 100; i++)
        shuffled[i] = i * 37 % 100;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_the_twins),       cmocka_unit_test(another_pad_shows),
        cmocka_unit_test(a_lane_that_fails),    cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_finder_remembers), cmocka_unit_test(rows_are_found),
        cmocka_unit_test(rows_side_by_side),    cmocka_unit_test(walks_are_followed),
        cmocka_unit_test(room_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
