/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Random machines and random traces, for tests that hold the caches, or their listeners, to a twin.
 */
#ifndef CACHES_RANDOM_H
#define CACHES_RANDOM_H

#include "caches/caches.h"

/* ------------------------------------------------------------------ random machines */

static uint32_t pick(struct c2_rng *rng, const uint32_t *from, size_t count) { return from[c2_rng_below(rng, count)]; }
#define PICK(rng, ...) pick(rng, (const uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

static const struct {
    const char *name;
    uint32_t slices;
} hashes[] = {
    {"none", 1}, {"lin2", 2}, {"lin8", 8}, {"modulo", 3}, {"modulo", 4}, {"amd-low4", 4}, {"cf6", 6},
};

static struct caches_level random_level(struct c2_rng *rng, const char *name, uint32_t line_bytes, uint32_t depth)
{
    struct caches_level level = {.slices = 1, .hash = "none"};
    snprintf(level.name, sizeof level.name, "%s", name);
    level.policy = (enum caches_policy)c2_rng_below(rng, CACHES_MRU3_PLRU4); /* which is of TLBs alone */
    level.ways = level.policy == CACHES_TREE_PLRU ? PICK(rng, 1, 2, 4, 8, 16) : PICK(rng, 1, 2, 3, 4, 5, 8, 8, 11, 20);
    if (c2_rng_below(rng, 40) == 0)
        level.ways = CACHES_MAX_WAYS;
    uint32_t sets = PICK(rng, 1, 2, 3, 4, 8, 12, 16);
    if (c2_rng_below(rng, 3) == 0) {
        size_t at = c2_rng_below(rng, sizeof hashes / sizeof hashes[0]);
        snprintf(level.hash, sizeof level.hash, "%s", hashes[at].name);
        level.slices = hashes[at].slices;
        sets = sets > 4 ? 2 : sets;
    }
    level.index = (enum caches_index)c2_rng_below(rng, 2);
    level.inclusion = depth == 0 ? CACHES_NON_INCLUSIVE : (enum caches_inclusion)c2_rng_below(rng, 3);
    if (level.inclusion == CACHES_EXCLUSIVE && caches_policy_needs_misses(level.policy))
        level.policy = CACHES_SHIP_MEM;
    level.size_bytes = (uint64_t)line_bytes * level.ways * sets * level.slices;
    return level;
}

/* As most machines are: those take a way of their own. */
static void make_usual(struct caches_level *level, struct c2_rng *rng)
{
    level->policy = CACHES_LRU;
    level->index = CACHES_PHYSICAL;
    if (level->inclusion == CACHES_EXCLUSIVE)
        level->inclusion = (enum caches_inclusion)c2_rng_below(rng, CACHES_EXCLUSIVE);
}

static void add_prefetchers_to(struct caches_level *level, struct c2_rng *rng)
{
    if (level->inclusion == CACHES_EXCLUSIVE || c2_rng_below(rng, 2) == 0)
        return;
    level->prefetchers = (unsigned)c2_rng_below(rng, 1u << CACHES_PREFETCHERS);
    level->prefetch_on = (enum caches_prefetch_on)c2_rng_below(rng, CACHES_PREFETCH_ONS);
    level->stream_distance = PICK(rng, 1, 2, 5, 5, 63);
    level->stride_distance = PICK(rng, 1, 1, 2, 7);
}

static struct caches_machine random_machine(struct c2_rng *rng)
{
    static const char *const names[] = {"L1D", "L2", "L3", "L4"};
    struct caches_machine machine = {.name = "random"};
    const bool usual = c2_rng_below(rng, 2);
    machine.line_bytes = PICK(rng, 64, 64, 64, 16, 512, 1024, 4096);
    machine.level_count = PICK(rng, 1, 2, 3, 3, 4);
    machine.has_l1i = c2_rng_below(rng, 2);
    for (uint32_t i = 0; i < machine.level_count; i++)
        machine.levels[i] = random_level(rng, names[i], machine.line_bytes, i);
    if (machine.has_l1i)
        machine.l1i = random_level(rng, "L1I", machine.line_bytes, 0);
    machine.walks_from = (uint32_t)c2_rng_below(rng, machine.level_count);
    for (uint32_t i = 0; i <= machine.level_count && usual; i++)
        make_usual(i < machine.level_count ? &machine.levels[i] : &machine.l1i, rng);
    return machine;
}

static void add_prefetchers(struct caches_machine *machine, struct c2_rng *rng)
{
    for (uint32_t i = 0; i <= machine->level_count; i++)
        add_prefetchers_to(i < machine->level_count ? &machine->levels[i] : &machine->l1i, rng);
}

/* Stores go on from some levels, or past them, as the rules of machine files allow: not where an exclusive level is
 * below, and past a level only where they come to it. */
static __attribute__((unused)) void add_writes(struct caches_machine *machine, struct c2_rng *rng)
{
    uint32_t first = machine->level_count;
    while (first > 0 && machine->levels[first - 1].inclusion != CACHES_EXCLUSIVE)
        first--;
    for (uint32_t i = first; i < machine->level_count; i++) {
        struct caches_level *level = &machine->levels[i];
        const bool comes = i == 0 || machine->levels[i - 1].through || machine->levels[i - 1].around;
        level->through = c2_rng_below(rng, 2);
        level->around = comes && c2_rng_below(rng, 2);
        level->index = level->around ? CACHES_PHYSICAL : level->index;
    }
}

/* Half of the levels have ways that are never filled. */
static __attribute__((unused)) void add_masks(struct caches_machine *machine, struct c2_rng *rng)
{
    for (uint32_t i = 0; i <= machine->level_count; i++) {
        struct caches_level *level = i < machine->level_count ? &machine->levels[i] : &machine->l1i;
        const bool is_there = i < machine->level_count || machine->has_l1i;
        const uint64_t ways = is_there ? c2_rng_next(rng) & c2_mask(0, level->ways - 1) : 0;
        if (ways == 0 || c2_rng_below(rng, 2) == 0)
            continue;
        level->mask_count = 1;
        level->masks[0] = (struct caches_mask){.ways = ways};
    }
}

/* How it takes instructions made for caches; what it says of latencies it does not. */
static __attribute__((unused)) void add_hints(struct caches_machine *machine, struct c2_rng *rng)
{
    for (unsigned i = 0; i < CACHES_PREFETCH_FOR_WRITE; i++)
        machine->hints[i] = (uint32_t)c2_rng_below(rng, 5);
    machine->combining = PICK(rng, 1, 2, 3, 10);
}

static void print_level(const struct caches_level *level)
{
    printf("  %s: %llu bytes, %u ways, %u slices by %s, %s, %s, %s", level->name, (unsigned long long)level->size_bytes,
           level->ways, level->slices, level->hash, caches_policy_name(level->policy), caches_index_name(level->index),
           caches_inclusion_name(level->inclusion));
    for (unsigned i = 0; i < CACHES_PREFETCHERS; i++)
        if (level->prefetchers >> i & 1)
            printf(", %s", caches_prefetcher_names[i]);
    printf(" on %s, distances %u and %u%s%s\n", caches_prefetch_on_names[level->prefetch_on], level->stream_distance,
           level->stride_distance, level->through ? ", write through" : "", level->around ? ", write around" : "");
    if (level->mask_count != 0)
        printf("    ways %#llx\n", (unsigned long long)level->masks[0].ways);
}

static void print_machine(const struct caches_machine *machine)
{
    printf("lines of %u bytes, walks from level %u\n", machine->line_bytes, machine->walks_from);
    for (uint32_t i = 0; i < machine->level_count; i++)
        print_level(&machine->levels[i]);
    if (machine->has_l1i)
        print_level(&machine->l1i);
}

/* ------------------------------------------------------------------ random traces */

#define MAX_FRAMES 512

/* Twice as many virtual pages as frames: every frame has synonyms. Frames lie anywhere in 40 bits, so that slice
 * hashes have something to hash. */
struct trace {
    struct c2_rng rng;
    uint64_t page_lines;
    uint64_t frames;
    uint64_t frame[MAX_FRAMES];
    uint64_t cursor; /* of the sequential stretch */
    uint64_t left;   /* of it */
};

static uint64_t lines_of(const struct caches_machine *machine)
{
    uint64_t most = machine->has_l1i ? machine->l1i.size_bytes : 0;
    for (uint32_t i = 0; i < machine->level_count; i++)
        if (machine->levels[i].size_bytes > most)
            most = machine->levels[i].size_bytes;
    return most / machine->line_bytes;
}

static void trace_init(struct trace *trace, const struct caches_machine *machine, uint64_t seed)
{
    c2_rng_init(&trace->rng, seed, "trace");
    trace->page_lines = C2_PAGE_BYTES / machine->line_bytes;
    trace->frames = lines_of(machine) * (1 + c2_rng_below(&trace->rng, 2)) / trace->page_lines + 2;
    if (trace->frames > MAX_FRAMES)
        trace->frames = MAX_FRAMES;
    for (uint64_t i = 0; i < trace->frames; i++)
        trace->frame[i] = c2_rng_below(&trace->rng, UINT64_C(1) << 28);
    trace->cursor = trace->left = 0;
}

struct step {
    enum caches_side side;
    bool write;
    bool walk; /* by the physical line; the rest does not matter */
    bool other_access_site;
    uint64_t access_site;
    uint64_t pc; /* of the instruction; 0: unknown */
    uint64_t virtual_, physical;
    uint64_t repeats; /* of the same access, after it */
};

/* Half of the accesses go to a twentieth of the lines, some run through neighbours, the rest goes anywhere. */
static uint64_t next_virtual(struct trace *trace)
{
    uint64_t lines = 2 * trace->frames * trace->page_lines;
    if (trace->left > 0) {
        trace->left--;
        return ++trace->cursor % lines;
    }
    uint64_t kind = c2_rng_below(&trace->rng, 16);
    uint64_t line = c2_rng_below(&trace->rng, kind < 8 ? lines / 20 + 1 : lines);
    if (kind == 15) {
        trace->cursor = line;
        trace->left = c2_rng_below(&trace->rng, 40);
    }
    return line;
}

static struct step next_step(struct trace *trace, const struct caches_machine *machine)
{
    struct step step = {.virtual_ = next_virtual(trace)};
    uint64_t page = step.virtual_ / trace->page_lines;
    step.physical = trace->frame[page % trace->frames] * trace->page_lines + step.virtual_ % trace->page_lines;
    step.other_access_site = c2_rng_below(&trace->rng, 2) == 0;
    const uint64_t word = c2_rng_next(
        &trace->rng); /* most words are narrow, so that some come before the first wide one */
    step.access_site = c2_rng_below(&trace->rng, 8) == 0 ? 0 : word % 64 == 0 ? word : word >> 48;
    if (caches_machine_hears_instructions(machine)) /* the last has all the pieces of a signature */
        step.pc = PICK(&trace->rng, 0, 1, 2, 3, 4) * UINT64_C(0x4444123456789abc);
    step.walk = c2_rng_below(&trace->rng, 10) == 0;
    if (step.walk)
        return step;
    step.side = machine->has_l1i && c2_rng_below(&trace->rng, 4) == 0 ? CACHES_FETCH : CACHES_DATA;
    step.write = step.side == CACHES_DATA && c2_rng_below(&trace->rng, 3) == 0;
    if (step.side == CACHES_DATA && c2_rng_below(&trace->rng, 8) == 0)
        step.repeats = c2_rng_below(&trace->rng, 4);
    return step;
}

#endif
