/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What translation costs: host nanoseconds by access pattern, for one load a reference.
 *
 *     translation_bench [PATTERN|all [REFERENCES [REPEATS]]]
 *
 *   simulated     sim_consume of a stream of such loads, on page tables of mmu/ and three caches
 *   identity      the same with physical = virtual: no page table is ever walked
 *   translation   sim_translate alone, of the same addresses: what translating adds to a reference at most
 *   walk          mmu_replica_translate alone: what it would be without the memory of pages in sim/
 *
 * The least of REPEATS measurements, all four taken in turn. A reference to the line of the one before is not
 * translated at all; no pattern has those but "line".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/sim.h"
#include "sim/sim_priv.h"

#define MIB ((uint64_t)1 << 20)
#define BASE MMU_PIE_BASE
#define SPAN (256 * MIB)
#define SLOTS 500u
#define PREPARED (SLOTS * 128u) /* addresses, drawn beforehand and used again and again */

struct pattern {
    const char *name, *what;
    uint64_t span_bytes, step_bytes; /* step 0: random lines of the span */
};
static const struct pattern patterns[] = {
    {"line", "one line: never translated", 64, 64},
    {"l1", "random lines of 32 KiB", 32 * 1024, 0},
    {"l2", "random lines of 192 KiB", 192 * 1024, 0},
    {"16M", "random lines of 16 MiB: as many pages as sim/ remembers", 16 * MIB, 0},
    {"256M", "random lines of 256 MiB: 15 of 16 pages are not remembered", SPAN, 0},
    {"pages", "pages of 256 MiB one after the other: none is remembered", SPAN, C2_PAGE_BYTES + 64},
};
#define PATTERN_COUNT (sizeof patterns / sizeof patterns[0])

enum way { SIMULATED, IDENTITY, TRANSLATION, WALK, WAYS };
struct bench {
    struct mmu_replica *memory;
    struct stream_blocks *blocks;
    struct sim *sims[2]; /* SIMULATED, IDENTITY */
    uint64_t *addresses;
    struct stream_batch batch;
    uint64_t sum; /* so that no result is thrown away */
};

static bool translate(void *self, struct guest_va va, struct guest_pa *out)
{
    return mmu_replica_translate(self, va, out);
}
static bool walk(void *self, struct guest_va va, struct mmu_walk *out) { return mmu_replica_walk(self, va, out); }

static bool identical(void *self, struct guest_va va, struct guest_pa *out)
{
    (void)self;
    out->v = va.v;
    return true;
}

static enum c2_status make_memory(struct bench *b, struct c2_error *err)
{
    struct mmu_config config = {.physical_bytes = 1024 * MIB};
    const uint64_t map[] = {BASE, SPAN, MMU_READ | MMU_WRITE, 0, 0, 0};
    enum c2_status status = mmu_replica_create(&b->memory, &config, err);
    if (status == C2_OK)
        status = mmu_replica_apply(b->memory, STREAM_MAPPED, map, 6, err);
    for (uint64_t at = BASE; at < BASE + SPAN && status == C2_OK; at += C2_PAGE_BYTES)
        status = mmu_replica_apply(b->memory, STREAM_TOUCHED, (const uint64_t[]){at, MMU_ACCESS_READ}, 2, err);
    return status;
}

/* One block of SLOTS instructions, each a load of 8 bytes. */
static enum c2_status make_block(struct bench *b, struct c2_error *err)
{
    struct stream_insn insns[SLOTS];
    struct stream_slot slots[SLOTS];
    uint32_t number;
    for (uint16_t i = 0; i < SLOTS; i++) {
        insns[i] = (struct stream_insn){.offset = 4u * i, .first_slot = i, .length = 4};
        slots[i] = (struct stream_slot){.insn = i, .size = 8, .kind = STREAM_READ};
    }
    struct stream_block block = {.pc = {MMU_WINDOW_START},
                                 .bytes = 4 * SLOTS,
                                 .insn_count = SLOTS,
                                 .slot_count = SLOTS,
                                 .insns = insns,
                                 .slots = slots};
    enum c2_status status = stream_blocks_create(&b->blocks, err);
    return status == C2_OK ? stream_blocks_add(&number, b->blocks, &block, err) : status;
}

static enum c2_status make_sims(struct bench *b, struct c2_error *err)
{
    struct caches_machine machine = {.name = "bench", .line_bytes = 64, .physical_bytes = 1024 * MIB, .level_count = 3};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 32 * 1024, .ways = 8, .slices = 1, .hash = "none"};
    machine.levels[1] = (struct caches_level){
        .name = "L2", .size_bytes = 256 * 1024, .ways = 8, .slices = 1, .hash = "none", .index = CACHES_PHYSICAL};
    machine.levels[2] = (struct caches_level){.name = "L3",
                                              .size_bytes = 16 * MIB,
                                              .ways = 16,
                                              .slices = 1,
                                              .hash = "none",
                                              .index = CACHES_PHYSICAL,
                                              .inclusion = CACHES_INCLUSIVE};
    enum c2_status status = C2_OK;
    for (int i = 0; i < 2 && status == C2_OK; i++) {
        struct sim_config config = {.machine = &machine,
                                    .seed = 1,
                                    .blocks = b->blocks,
                                    .translation = {.self = b->memory, .translate = translate, .walk = walk}};
        if (i == IDENTITY)
            config.translation = (struct sim_translation){.translate = identical};
        status = sim_create(&b->sims[i], &config, err);
    }
    return status;
}

static void draw(struct bench *b, const struct pattern *pattern)
{
    struct c2_rng rng;
    c2_rng_init(&rng, 1, pattern->name);
    for (uint64_t i = 0; i < PREPARED; i++)
        b->addresses[i] = BASE + (pattern->step_bytes ? i * pattern->step_bytes % pattern->span_bytes
                                                      : c2_rng_below(&rng, pattern->span_bytes / 64) * 64);
}

static bool consume(struct bench *b, struct sim *sim, const uint64_t *addresses)
{
    b->batch.used = SLOTS + 1;
    b->batch.tid = 1;
    b->batch.words[0] = stream_header(0, SLOTS, SLOTS);
    memcpy(b->batch.words + 1, addresses, SLOTS * sizeof *addresses);
    return sim_consume(sim, &b->batch, NULL) == C2_OK;
}

static bool do_part(struct bench *b, enum way way, const uint64_t *addresses)
{
    struct guest_pa pa = {0};
    if (way == SIMULATED || way == IDENTITY)
        return consume(b, b->sims[way], addresses);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (way == TRANSLATION)
            pa = sim_translate(&b->sims[SIMULATED]->core, (struct guest_va){addresses[i]});
        else if (!mmu_replica_translate(b->memory, (struct guest_va){addresses[i]}, &pa))
            return false;
        b->sum += pa.v;
    }
    return true;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds a reference; 0: failed. */
static double time_of(struct bench *b, enum way way, uint64_t references)
{
    double start = now_ns();
    for (uint64_t done = 0; done < references; done += SLOTS) {
        if (!do_part(b, way, b->addresses + done % PREPARED))
            return 0;
    }
    return (now_ns() - start) / (double)references;
}

static bool measure(struct bench *b, const struct pattern *pattern, uint64_t references, unsigned repeats)
{
    double best[WAYS] = {0};
    draw(b, pattern);
    for (unsigned i = 0; i <= repeats; i++) { /* the first round warms up */
        for (unsigned way = 0; way < WAYS; way++) {
            double ns = time_of(b, (enum way)way, references);
            if (ns == 0)
                return false;
            best[way] = i <= 1 || ns < best[way] ? ns : best[way];
        }
    }
    printf("%-6s  %7.2f  %8.2f  %11.2f  %5.1f %%  %6.2f   %s\n", pattern->name, best[SIMULATED], best[IDENTITY],
           best[TRANSLATION], 100 * best[TRANSLATION] / best[SIMULATED], best[WALK], pattern->what);
    return true;
}

static enum c2_status make(struct bench *b, struct c2_error *err)
{
    b->addresses = calloc(PREPARED, sizeof *b->addresses);
    enum c2_status status = b->addresses ? make_memory(b, err) : c2_fail_memory(err, "the addresses");
    if (status == C2_OK)
        status = make_block(b, err);
    return status == C2_OK ? make_sims(b, err) : status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "all";
    uint64_t references = argc > 2 ? strtoull(argv[2], NULL, 10) / SLOTS * SLOTS : 5000000;
    unsigned repeats = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 5;
    static struct bench b;
    struct c2_error err;
    if (references == 0 || repeats == 0) {
        fprintf(stderr, "usage: translation_bench [PATTERN|all [REFERENCES [REPEATS]]]\n");
        return 2;
    }
    if (make(&b, &err) != C2_OK) {
        fprintf(stderr, "translation_bench: %s\n", err.text);
        return 1;
    }
    printf("        simulated  identity  translation   share    walk   ns a reference\n");
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        if ((strcmp(name, "all") == 0 || strcmp(name, patterns[i].name) == 0) &&
            !measure(&b, &patterns[i], references, repeats))
            return 1;
    }
    sim_destroy(b.sims[0]);
    sim_destroy(b.sims[1]);
    stream_blocks_destroy(b.blocks);
    mmu_replica_destroy(b.memory);
    free(b.addresses);
    return 0;
}
