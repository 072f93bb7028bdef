/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sim against a slow twin: a random program of blocks is run at random; the generator knows what each run fetches and
 * accesses and tells the twin directly, while the simulator gets the encoded records. The twin has its own caches
 * (those have a twin of their own) and gives them every line access one by one. Every count and every reference that an
 * subscriber sees must be the same. The run is cut into windows at random places, some of them warm-ups: they add up to
 * the whole, and what is counted by attribution is what the measured ones have. Broken twins show that the comparison
 * can fail. On usual machines each of the fast loops that the host can run is at it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "caches/contents_priv.h"
#include "sim/sim_priv.h"

#define BLOCKS 60
#define MAX_INSNS 12
#define MAX_SLOTS 24
#if defined(__SANITIZE_ADDRESS__) || defined(C2_STRESS)
#define RUNS 3000 /* each takes six times as long; it is about memory and promises there */
#else
#define RUNS 8000
#endif

/* ------------------------------------------------------------------ translations of the test's own */

/* Pages are scattered by an odd factor; `generation` moves those of the upper half elsewhere. */
struct pages {
    uint64_t generation;
};

static bool translate(void *self, struct guest_va va, struct guest_pa *out)
{
    const struct pages *pages = self;
    uint64_t vpn = va.v >> C2_PAGE_SHIFT;
    uint64_t moved = vpn & 0x8 ? pages->generation * 0x1234567 : 0;
    out->v = ((vpn * 2654435761u + moved) & 0xffffff) << C2_PAGE_SHIFT | (va.v & (C2_PAGE_BYTES - 1));
    return true;
}

/* Tables at made-up places. Every eighth page is part of a large one. */
static bool walk(void *self, struct guest_va va, struct mmu_walk *out)
{
    (void)self;
    out->entry_count = (va.v >> C2_PAGE_SHIFT & 7) == 5 ? 3 : 4;
    for (unsigned i = 0; i < out->entry_count; i++)
        out->entry[i].v = 0x7000000 + ((va.v >> (39 - 9 * i)) * 8 + i * 0x1238) % 0x8000;
    return true;
}

/* ------------------------------------------------------------------ owners of the test's own
 * Every third stretch of 16 KiB has one owner, the others change owner every 24 bytes; a mark moves them on. */
#define OWNERS 8
#define FIRST_PC 0x40000u
#define PCS (5 * 4096)

static unsigned owner_of(uint64_t marks, uint64_t va, struct sim_owner *extent)
{
    const uint64_t stretch = va >> 14, start = stretch << 14, end = start + (1u << 14);
    if (stretch % 3 == 0) {
        *extent = (struct sim_owner){NULL, start, end};
        return (unsigned)((stretch + marks) % OWNERS);
    }
    const uint64_t piece = va / 24 * 24;
    *extent = (struct sim_owner){NULL, piece > start ? piece : start, piece + 24 < end ? piece + 24 : end};
    return (unsigned)((va / 24 + marks) % OWNERS);
}

/* ------------------------------------------------------------------ the twin */

enum mutant { HEALTHY, NO_SECOND_LINE, FETCH_EVERY_INSN, MODIFY_READS_ONLY, DATA_BEFORE_FETCH, TLB_BY_LINE };

struct twin {
    enum mutant mutant;
    struct caches *caches, *plain; /* plain: without prefetchers; NULL: the machine has none */
    uint64_t pc;                   /* its instruction; 0: none */
    struct pages *pages;
    uint64_t line_bytes;
    bool has_l1i;
    uint64_t fetch_line;
    struct caches_tlbs *tlb; /* or NULL */
    bool walks_cached;
    uint64_t walk_reads[CACHES_MAX_LEVELS + 1];
    bool rep_unfinished;
    uint32_t rep_block;
    uint64_t rep_left;
    struct sim_counts counts;
    bool warming; /* what is only simulated counts for no owner and no code, and is not seen */
    uint64_t marks, owned[OWNERS];
    struct sim_code codes[PCS]; /* by pc */
    struct sim_reference *seen; /* what a subscriber must see, in order */
    size_t seen_count, seen_room;
};

static void remember(struct twin *twin, const struct sim_reference *reference)
{
    if (twin->warming)
        return;
    if (twin->seen_count == twin->seen_room) {
        twin->seen_room = twin->seen_room * 2 + 1024;
        twin->seen = realloc(twin->seen, twin->seen_room * sizeof *twin->seen);
        assert_non_null(twin->seen);
    }
    twin->seen[twin->seen_count++] = *reference;
}

static void twin_see(struct twin *twin, enum sim_kind kind, uint32_t tid, uint64_t pc, uint64_t va, uint32_t size)
{
    struct sim_reference reference;
    memset(&reference, 0, sizeof reference);
    reference.kind = kind;
    reference.tid = tid;
    reference.size = size;
    reference.pc.v = pc;
    reference.va.v = va;
    for (uint32_t i = 0; i < size; i++) { /* byte by byte: a part is what lies on one page */
        uint32_t part = (va + i) / C2_PAGE_BYTES != va / C2_PAGE_BYTES;
        if (reference.part[part].size++ == 0) {
            reference.parts++;
            reference.part[part].va.v = va + i;
            translate(twin->pages, reference.part[part].va, &reference.part[part].pa);
        }
    }
    remember(twin, &reference);
}

static void twin_set_instruction(struct twin *twin, uint64_t pc)
{
    caches_set_instruction(twin->caches, (struct guest_va){pc});
    if (twin->plain)
        caches_set_instruction(twin->plain, (struct guest_va){pc});
}

/* Every access is notified to the TLBs, at its full length. */
static void twin_tlb(struct twin *twin, enum caches_tlb_side side, uint64_t va)
{
    struct mmu_walk path;
    if (!twin->tlb)
        return;
    walk(NULL, (struct guest_va){va}, &path);
    const unsigned reads = caches_tlbs_access(twin->tlb, side, (struct guest_va){va}, path.entry_count, NULL);
    for (unsigned i = path.entry_count - reads; i < path.entry_count && twin->walks_cached; i++) {
        struct line_no line = {path.entry[i].v / twin->line_bytes};
        uint32_t served_by, unaided;
        twin_set_instruction(twin, 0);
        assert_int_equal(C2_OK, caches_walk(twin->caches, line, &served_by, NULL, NULL));
        if (twin->plain)
            assert_int_equal(C2_OK, caches_walk(twin->plain, line, &unaided, NULL, NULL));
        twin->walk_reads[served_by]++;
    }
}

static void twin_line(struct twin *twin, enum caches_side side, bool write, uint64_t line)
{
    struct guest_pa pa;
    struct c2_error err;
    translate(twin->pages, (struct guest_va){line * twin->line_bytes}, &pa);
    const struct line_no physical = {pa.v / twin->line_bytes};
    twin_set_instruction(twin, side == CACHES_DATA ? twin->pc : 0);
    assert_int_equal(C2_OK, caches_access(twin->caches, side, write, (struct line_no){line}, physical, NULL, &err));
    if (twin->plain)
        assert_int_equal(C2_OK, caches_access(twin->plain, side, write, (struct line_no){line}, physical, NULL, &err));
}

static void twin_fetch(struct twin *twin, uint32_t tid, uint64_t pc, uint32_t length)
{
    twin_see(twin, SIM_FETCH, tid, pc, pc, length);
    for (uint64_t byte = pc; byte < pc + length && twin->has_l1i; byte++) {
        uint64_t line = byte / twin->line_bytes;
        bool first = byte == pc && twin->mutant == FETCH_EVERY_INSN;
        if (line != twin->fetch_line || first)
            twin_tlb(twin, CACHES_TLB_FETCH, byte);
        if (line != twin->fetch_line || first)
            twin_line(twin, CACHES_FETCH, false, line);
        twin->fetch_line = line;
    }
}

static void twin_data(struct twin *twin, bool write, uint32_t tid, uint64_t pc, uint64_t va, uint32_t size)
{
    twin->counts.refs++;
    twin->counts.reads += !write;
    twin->counts.writes += write;
    struct sim_owner extent;
    twin->owned[owner_of(twin->marks, va, &extent)] += !twin->warming;
    *(write ? &twin->codes[pc - FIRST_PC].writes : &twin->codes[pc - FIRST_PC].reads) += !twin->warming;
    twin_see(twin, write ? SIM_WRITE : SIM_READ, tid, pc, va, size);
    twin->pc = pc;
    uint64_t lines = 0, last = UINT64_MAX;
    for (uint64_t byte = va; byte < va + size; byte++) {
        if (byte / twin->line_bytes == last)
            continue;
        last = byte / twin->line_bytes;
        if (byte == va || byte % C2_PAGE_BYTES == 0 || twin->mutant == TLB_BY_LINE)
            twin_tlb(twin, write ? CACHES_TLB_STORE : CACHES_TLB_LOAD, byte);
        if (lines++ > 0 && twin->mutant == NO_SECOND_LINE)
            continue;
        twin_line(twin, CACHES_DATA, write, last);
        twin->counts.line_accesses++;
    }
    twin->counts.straddles += lines > 1;
}

/* ------------------------------------------------------------------ a random program */

struct spec_insn {
    uint32_t length, slots;
    struct {
        enum stream_kind kind;
        uint32_t size;
    } slot[3];
};

struct spec {
    uint64_t pc;
    uint32_t insns;
    bool string;
    uint32_t source_size, destination_size; /* string: 0 = that side is absent */
    bool store;
    struct spec_insn insn[MAX_INSNS];
};

struct world {
    struct c2_rng rng;
    struct spec specs[BLOCKS];
    struct stream_blocks *blocks;
    struct stream_batch batch;
    uint64_t hot[8]; /* places that are visited again and again */
};

static uint32_t below(struct world *world, uint32_t limit) { return (uint32_t)c2_rng_below(&world->rng, limit); }

/* Often on a line of before, often close to the end of a line or of a page. */
static uint64_t random_address(struct world *world)
{
    uint64_t *hot = &world->hot[below(world, 8)];
    switch (below(world, 8)) {
    case 0:
        *hot = 0x100000 + below(world, 64 * 4096);
        break;
    case 1:
        *hot = 0x100000 + (below(world, 64) + 1) * 4096ull - below(world, 24);
        break;
    case 2:
        *hot = 0x100000 + (below(world, 4096) + 1) * 64ull - below(world, 12);
        break;
    case 3:
        *hot += 8;
        break;
    case 4:
        *hot += 4096;
        break;
    default:
        break;
    }
    if (*hot >= 0x100000 + 80 * 4096)
        *hot = 0x100000;
    return *hot;
}

static void make_plain(struct world *world, struct spec *spec)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 8, 8, 16, 16, 28, 108, 512};
    spec->insns = 1 + below(world, MAX_INSNS);
    for (uint32_t i = 0; i < spec->insns; i++) {
        struct spec_insn *insn = &spec->insn[i];
        insn->length = 1 + below(world, 15);
        insn->slots = below(world, 3);
        for (uint32_t s = 0; s < insn->slots; s++) {
            insn->slot[s].kind = (enum stream_kind)below(world, 3);
            insn->slot[s].size = sizes[below(world, sizeof sizes / sizeof sizes[0])];
        }
    }
}

static void make_string(struct world *world, struct spec *spec)
{
    static const uint32_t sizes[] = {1, 2, 4, 8};
    uint32_t size = sizes[below(world, 4)], sides = below(world, 3);
    spec->string = true;
    spec->insns = 1;
    spec->insn[0].length = 2 + below(world, 2);
    spec->source_size = sides != 1 ? size : 0;
    spec->destination_size = sides != 0 ? size : 0;
    spec->store = below(world, 2) != 0;
}

static void add_block(struct world *world, const struct spec *spec)
{
    struct stream_insn insns[MAX_INSNS];
    struct stream_slot slots[MAX_SLOTS + 4];
    uint16_t slot = 0;
    uint32_t offset = 0;
    for (uint32_t i = 0; i < spec->insns; i++) {
        insns[i] = (struct stream_insn){offset, slot, (uint8_t)spec->insn[i].length, 0};
        offset += spec->insn[i].length;
        for (uint32_t s = 0; s < spec->insn[i].slots; s++)
            slots[slot++] = (struct stream_slot){(uint16_t)i, (uint16_t)spec->insn[i].slot[s].size,
                                                 (uint8_t)spec->insn[i].slot[s].kind, 0};
    }
    if (spec->string) {
        slots[0] = (struct stream_slot){0, (uint16_t)spec->source_size, STREAM_SOURCE, 0};
        slots[1] = (struct stream_slot){0, (uint16_t)spec->destination_size, STREAM_DESTINATION, spec->store};
        slots[2] = (struct stream_slot){0, 0, STREAM_DONE, 0};
        slots[3] = (struct stream_slot){0, 0, STREAM_REMAINING, 0};
        slot = 4;
    }
    struct stream_block block = {{spec->pc}, offset, (uint16_t)spec->insns, slot, STREAM_JUMP, insns, slots};
    uint32_t number;
    struct c2_error err;
    assert_int_equal(C2_OK, stream_blocks_add(&number, world->blocks, &block, &err));
    assert_ptr_equal(spec, &world->specs[number]);
}

static void world_init(struct world *world, uint64_t seed)
{
    struct c2_error err;
    memset(world, 0, sizeof *world);
    c2_rng_init(&world->rng, seed, "test");
    assert_int_equal(C2_OK, stream_blocks_create(&world->blocks, &err));
    for (uint32_t i = 0; i < 8; i++)
        world->hot[i] = 0x100000;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        struct spec *spec = &world->specs[i];
        spec->pc = FIRST_PC + below(world, 4 * 4096);
        if (below(world, 6) == 0)
            make_string(world, spec);
        else
            make_plain(world, spec);
        add_block(world, spec);
    }
}

/* ------------------------------------------------------------------ a run: told to the twin, encoded for sim */

static void run_string(struct world *world, struct twin *twin, uint32_t number, uint32_t tid, uint64_t *words)
{
    const struct spec *spec = &world->specs[number];
    bool down = below(world, 2), completes = below(world, 4) != 0;
    bool go_on = twin->rep_unfinished && twin->rep_block == number && below(world, 2);
    uint64_t before = go_on ? twin->rep_left : below(world, 40) + (below(world, 4) == 0 ? (uint64_t)-1 - 40 : 0);
    uint64_t elements = below(world, before < 40 ? (uint32_t)before + 1 : 40), after = before - elements;
    uint64_t source = random_address(world), destination = random_address(world);
    words[0] = stream_header(number, completes, 4);
    words[1] = spec->source_size != 0 ? source : 0;
    words[2] = spec->destination_size != 0 ? destination : 0;
    words[3] = stream_string_done(elements, down);
    words[4] = after;
    go_on = twin->rep_unfinished && twin->rep_block == number && twin->rep_left == before; /* by chance, too */
    if (!go_on)
        twin_fetch(twin, tid, spec->pc, spec->insn[0].length);
    twin->counts.instructions += completes;
    twin->counts.fetches += completes;
    twin->codes[spec->pc - FIRST_PC].executed += completes && !twin->warming;
    twin->rep_unfinished = !completes;
    twin->rep_block = number;
    twin->rep_left = after;
    for (uint64_t i = before; i > after; i--) {
        if (spec->source_size != 0)
            twin_data(twin, false, tid, spec->pc, source, spec->source_size);
        if (spec->destination_size != 0)
            twin_data(twin, spec->store, tid, spec->pc, destination, spec->destination_size);
        source += down ? -(uint64_t)spec->source_size : spec->source_size;
        destination += down ? -(uint64_t)spec->destination_size : spec->destination_size;
    }
}

static void run_plain(struct world *world, struct twin *twin, uint32_t number, uint32_t tid, uint64_t *words)
{
    const struct spec *spec = &world->specs[number];
    uint32_t insns = below(world, 8) == 0 ? below(world, spec->insns) : spec->insns, slot = 0;
    uint64_t pc = spec->pc;
    for (uint32_t i = 0; i < insns; pc += spec->insn[i].length, i++) {
        const struct spec_insn *insn = &spec->insn[i];
        twin->counts.instructions++;
        twin->counts.fetches++;
        twin->codes[pc - FIRST_PC].executed += !twin->warming;
        if (twin->mutant != DATA_BEFORE_FETCH)
            twin_fetch(twin, tid, pc, insn->length);
        for (uint32_t s = 0; s < insn->slots; s++) {
            uint64_t va = words[1 + slot++] = random_address(world);
            twin_data(twin, insn->slot[s].kind == STREAM_WRITE, tid, pc, va, insn->slot[s].size);
            if (insn->slot[s].kind == STREAM_MODIFY && twin->mutant != MODIFY_READS_ONLY) {
                twin->counts.modifies++;
                twin_data(twin, true, tid, pc, va, insn->slot[s].size);
            }
        }
        if (twin->mutant == DATA_BEFORE_FETCH)
            twin_fetch(twin, tid, pc, insn->length);
    }
    words[0] = stream_header(number, insns, slot);
}

/* ------------------------------------------------------------------ comparing */

struct watch {
    bool silent;
    const struct twin *twin;
    size_t next;
    bool equal;
    uint64_t records, instructions, misses; /* told so far */
};

static enum c2_status watch_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct watch *watch = self;
    (void)err;
    for (const uint64_t *at = records->words; at < records->end && !watch->silent; at = sim_record_behind(at)) {
        watch->records++;
        watch->instructions += stream_header_insns(*at);
    }
    return C2_OK;
}

static void watch_reference(struct watch *watch, const struct sim_reference *reference)
{
    const struct sim_reference *want = &watch->twin->seen[watch->next];
    bool equal = watch->next < watch->twin->seen_count && want->kind == reference->kind &&
                 want->tid == reference->tid && want->size == reference->size && want->pc.v == reference->pc.v &&
                 want->va.v == reference->va.v && want->parts == reference->parts;
    for (uint32_t i = 0; i < reference->parts && equal; i++)
        equal = want->part[i].va.v == reference->part[i].va.v && want->part[i].pa.v == reference->part[i].pa.v &&
                want->part[i].size == reference->part[i].size;
    watch->next++;
    watch->equal = watch->equal && equal;
}

static enum c2_status watch_references(void *self, const struct sim_reference *list, size_t count, struct c2_error *err)
{
    struct watch *watch = self;
    (void)err;
    for (size_t i = 0; i < count && !watch->silent; i++)
        watch_reference(watch, &list[i]);
    return C2_OK;
}

/* What misses is what was notified last. */
static enum c2_status watch_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct watch *watch = self;
    (void)err;
    if (watch->silent || miss->kind == SIM_WALK)
        return C2_OK;
    const struct sim_reference *of = watch->next != 0 ? &watch->twin->seen[watch->next - 1] : NULL;
    watch->misses++;
    watch->equal = watch->equal && of && of->kind == miss->kind && miss->va.v < of->va.v + of->size &&
                   miss->va.v + watch->twin->line_bytes > of->va.v;
    return C2_OK;
}

static struct caches_level level(const char *name, uint64_t size, uint32_t ways, enum caches_policy policy,
                                 enum caches_index index, enum caches_inclusion inclusion)
{
    struct caches_level made = {.size_bytes = size,
                                .ways = ways,
                                .slices = 1,
                                .hash = "none",
                                .policy = policy,
                                .index = index,
                                .inclusion = inclusion,
                                .latency_cycles = 4};
    snprintf(made.name, sizeof made.name, "%s", name);
    return made;
}

static struct caches_machine machine(uint32_t line_bytes, bool has_l1i, enum caches_policy policy,
                                     enum caches_inclusion inclusion)
{
    struct caches_machine made = {
        .name = "test", .line_bytes = line_bytes, .physical_bytes = 64ull << 30, .has_l1i = has_l1i, .level_count = 2};
    made.levels[0] = level("L1D", 4096, 4, policy, CACHES_VIRTUAL, CACHES_NON_INCLUSIVE);
    made.l1i = level("L1I", 2048, 2, policy, CACHES_VIRTUAL, CACHES_NON_INCLUSIVE);
    made.levels[1] = level("L2", 16384, 8, policy, CACHES_PHYSICAL, inclusion);
    return made;
}

static bool counts_equal(const struct caches_counts *a, const struct caches_counts *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* TLBs small enough for 80 pages: shared by loads and stores, or not. */
static void add_tlbs(struct caches_machine *machine, bool split, bool cached)
{
    static const struct caches_tlb shared[] = {
        {"DTLB", CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_4K | CACHES_TLB_2M, 8, 4, CACHES_TREE_PLRU, 0, 0},
        {"ITLB", CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 2, 2, CACHES_LRU, 0, 0},
        {"STLB", CACHES_TLB_SECOND, 7, CACHES_TLB_4K, 24, 12, CACHES_MRU3_PLRU4, 1, 0},
        {"PDE", CACHES_TLB_WALK, 0, CACHES_TLB_PDE, 1, 1, CACHES_LRU, 0, 0},
    };
    static const struct caches_tlb apart[] = {
        {"load", CACHES_TLB_FIRST, CACHES_TLB_LOADS, CACHES_TLB_4K, 8, 2, CACHES_LRU, 0, 0},
        {"store", CACHES_TLB_FIRST, CACHES_TLB_STORES, CACHES_TLB_4K | CACHES_TLB_2M, 4, 4, CACHES_TREE_PLRU, 0, 0},
        {"ITLB", CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 2, 1, CACHES_LRU, 0, 0},
        {"STLB", CACHES_TLB_SECOND, 7, CACHES_TLB_4K, 16, 4, CACHES_LRU, 0, 0},
    };
    memcpy(machine->tlbs, split ? apart : shared, sizeof shared);
    machine->tlb_count = 4;
    machine->walks_cached = cached;
    machine->walks_from = split ? machine->level_count - 1 : 0;
}

static struct caches_tlbs *tlbs_of(const struct caches_machine *machine)
{
    struct caches_tlbs *tlbs;
    assert_int_equal(C2_OK, caches_tlbs_create(&tlbs, machine->tlbs, machine->tlb_count, NULL));
    return tlbs;
}

static bool tlbs_equal(const struct twin *twin, const struct sim *sim)
{
    bool equal = memcmp(twin->walk_reads, sim_walk_reads(sim), sizeof twin->walk_reads) == 0;
    if (!twin->tlb)
        return equal && !sim_tlb(sim);
    for (uint32_t i = 0; i < 4; i++)
        equal = equal && memcmp(caches_tlbs_counts(twin->tlb, i), caches_tlbs_counts(sim_tlb(sim), i),
                                sizeof(struct caches_tlb_counts)) == 0;
    assert_true(caches_tlbs_counts(twin->tlb, 0)->misses > 100 && caches_tlbs_walks(twin->tlb)->count > 100);
    return equal && memcmp(caches_tlbs_walks(twin->tlb), caches_tlbs_walks(sim_tlb(sim)),
                           sizeof(struct caches_walk_counts)) == 0;
}

/* ------------------------------------------------------------------ attribution */

/* What is notified of one simulator. */
struct notified {
    uint64_t marks, changed, owned[OWNERS];
    uint64_t tally[CACHES_MAX_LEVELS + 1][CACHES_COHERENCE]; /* by level, L1I last; by class */
    uint32_t level_count;
    uint64_t last_number;
    uint64_t digest;          /* of the numbers, kinds and outcomes of all misses */
    uint64_t counted, calls;  /* of what is notified where they are only counted; how often they were notified so */
    uint64_t untranslated[5]; /* by what a walk read, 0: there was none */
    uint64_t with_misses[5];  /* likewise, those that came with a miss of the caches, on whatever thread */
    uint64_t windows;
    struct sim_totals all, measured; /* sums of windows */
};

static enum c2_status notify_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct notified *notified = self;
    (void)err;
    notified->windows++;
    sim_totals_add(&notified->all, &window->of);
    if (window->phase == STREAM_MEASURE)
        sim_totals_add(&notified->measured, &window->of);
    return C2_OK;
}

static void notify_owner(void *self, struct guest_va va, struct sim_owner *out)
{
    struct notified *notified = self;
    const unsigned owner = owner_of(notified->marks, va.v, out);
    out->refs = &notified->owned[owner];
}

/* How long words of access sites are: of 16 bits; of 16 until a longer one comes; of 32; of two halves, the upper one
 * of which is not always the same. */
static enum { SHORT, SHORT_FIRST, LONG, HALVES } breadth = HALVES;

static uint64_t access_site_of(uint32_t code, enum sim_kind kind)
{
    const unsigned side = kind == SIM_WRITE ? SIM_READ : kind;
    const uint64_t word = (uint64_t)code << 2 | side, high = breadth == HALVES ? (uint64_t)(code % 3) << 40 : 0;
    const bool is_short = breadth == SHORT || (breadth == SHORT_FIRST && code < 50);
    assert_true(word >> 15 == 0);
    return is_short ? word + 1 : high | word | 1u << 31;
}

static enum c2_status notify_access_site(void *self, uint32_t code, enum sim_kind kind, struct guest_va va,
                                         uint64_t *out, struct c2_error *err)
{
    (void)self, (void)va, (void)err;
    *out = access_site_of(code, kind);
    return C2_OK;
}

/* What is known of access sites without a request: of some instructions nothing, of some what is over, of some in low
 * memory only. */
#define SITES 300u
static struct sim_last_access_sites known_sites(struct sim_last_access_site *sites)
{
    for (uint32_t code = 0; code < SITES; code++)
        sites[code] = (struct sim_last_access_site){.bytes = code % 5 == 0 ? UINT64_C(1) << 22 : UINT64_MAX,
                                                    .word = access_site_of(code, SIM_READ),
                                                    .epoch = code % 7 != 0};
    return (struct sim_last_access_sites){.code = sites, .room = SITES, .epoch = 1};
}

static void notify_untranslated(void *self, uint64_t access_site, unsigned reads)
{
    struct notified *notified = self;
    assert_true(access_site != 0 && reads <= 4);
    notified->untranslated[reads]++;
}

static void count_compact(struct notified *notified, const struct caches_compact *miss)
{
    const uint64_t rest = (uint64_t)miss->bits << 24 | (uint64_t)miss->level << 16 | (uint64_t)miss->class_ << 8;
    notified->counted = notified->counted * 6364136223846793005u + ((uint64_t)miss->access_site << 32 | miss->evictor);
    notified->counted = notified->counted * 6364136223846793005u + (rest | miss->same_high);
}

static enum c2_status notify_counted(void *self, const struct caches_compact *misses, size_t count,
                                     struct c2_error *err)
{
    struct notified *notified = self;
    (void)err;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        struct caches_compact miss = misses[i];
        const bool first = miss.level == 0 || miss.level == notified->level_count;
        if (sim_counted_untranslated(&miss) && first)
            notified->with_misses[sim_counted_reads(&miss)]++;
        miss.bits &= (1u << SIM_COUNTED_UNTRANSLATED) - 1;
        count_compact(notified, &miss);
    }
    notified->calls++;
    return C2_OK;
}

static enum c2_status notify_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct notified *notified = self;
    (void)err;
    assert_true(miss->number >= notified->last_number);
    assert_true(miss->access_site == 0 || miss->access_site == access_site_of(miss->code, miss->kind));
    assert_true(miss->first < miss->outcome->served_by);
    notified->last_number = miss->number;
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++) {
        const uint32_t level = i == 0 && miss->kind == SIM_FETCH ? notified->level_count : i;
        notified->tally[level][miss->outcome->event[i].class_]++;
        notified->digest = notified->digest * 6364136223846793005u + miss->outcome->event[i].class_;
        const uint64_t evictor = miss->outcome->event[i].evictor;
        const struct caches_compact compact = {.access_site = (uint32_t)miss->access_site,
                                               .evictor = (uint32_t)evictor,
                                               .bits = sim_counted_bits(miss->kind, miss->page_log2),
                                               .level = (uint8_t)level,
                                               .class_ = (uint8_t)miss->outcome->event[i].class_,
                                               .same_high = miss->access_site >> 32 == evictor >> 32};
        count_compact(notified, &compact);
    }
    notified->digest = notified->digest * 6364136223846793005u + (miss->number << 3 | miss->kind);
    return C2_OK;
}

/* What the machine without prefetchers has missed, and what the prefetchers did, in every phase. */
struct unaided {
    uint32_t level_count;
    uint64_t misses[CACHES_MAX_LEVELS + 1], aided[CACHES_MAX_LEVELS + 1], issued;
};

static enum c2_status notify_unaided(void *self, const struct sim_miss *miss, uint32_t served_by, struct c2_error *err)
{
    struct unaided *unaided = self;
    (void)err;
    for (uint32_t i = miss->first; i < served_by; i++)
        unaided->aided[i == 0 && miss->kind == SIM_FETCH ? unaided->level_count : i]++;
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++)
        unaided->misses[i == 0 && miss->kind == SIM_FETCH ? unaided->level_count : i]++;
    return C2_OK;
}

static enum c2_status notify_prefetched(void *self, const struct sim_prefetched *prefetched, struct c2_error *err)
{
    struct unaided *unaided = self;
    (void)err;
    for (size_t i = 0; i < prefetched->count; i++)
        unaided->issued += prefetched->events[i].what == CACHES_PREFETCH_ISSUED;
    return C2_OK;
}

/* Line accesses before they are made, in every phase; of those that the look at the first level's set shows to miss. */
struct approach {
    uint32_t level_count;
    uint64_t accesses[CACHES_MAX_LEVELS + 1], absent[CACHES_MAX_LEVELS + 1];
};

static enum c2_status notify_approach(void *self, const struct sim_approach *access, struct c2_error *err)
{
    struct approach *approach = self;
    (void)err;
    const uint64_t line_bytes = caches_machine(access->caches)->line_bytes;
    const struct line_no virtual_line = {access->kind == SIM_WALK ? access->line.v : access->va.v / line_bytes};
    const uint32_t level = access->kind == SIM_FETCH ? approach->level_count : access->first;
    const struct caches_place place = caches_place_of(access->caches, level, virtual_line, access->line);
    struct caches_set set;
    bool found = false;
    caches_look(&set, access->caches, access->core, level, place.set);
    for (uint32_t w = 0; w < set.ways; w++)
        found |= set.way[w].holds && set.way[w].line.v == access->line.v;
    approach->accesses[level]++;
    approach->absent[level] += !found;
    return C2_OK;
}

/* Each line access was notified once, with the caches as they were before. */
static bool approaches_equal(const struct sim *sim, const struct approach *approach, bool has_l1i)
{
    const struct caches_counts *data = caches_level_counts(sim_caches(sim), 0);
    bool equal = approach->accesses[0] == data->accesses && approach->absent[0] == data->misses;
    if (has_l1i) {
        const struct caches_counts *code = caches_l1i_counts(sim_caches(sim));
        equal = equal && approach->accesses[approach->level_count] == code->accesses &&
                approach->absent[approach->level_count] == code->misses;
    }
    return equal;
}

static bool prefetches_equal(const struct twin *twin, const struct sim *sim, const struct unaided *unaided)
{
    const uint32_t levels = unaided->level_count, all = levels + twin->has_l1i;
    uint64_t issued = 0;
    bool equal = true;
    for (uint32_t i = 0; i < all; i++) {
        for (unsigned p = 0; p < CACHES_PREFETCHERS; p++) {
            const struct caches_prefetch_counts *n = caches_prefetch_counts(twin->caches, i, (enum caches_prefetcher)p);
            equal = equal &&
                    memcmp(n, caches_prefetch_counts(sim_caches(sim), i, (enum caches_prefetcher)p), sizeof *n) == 0;
            issued += n->issued;
        }
        const struct caches_counts *plain = i < levels ? caches_level_counts(twin->plain, i)
                                                       : caches_l1i_counts(twin->plain);
        const struct caches_counts *aided = i < levels ? caches_level_counts(twin->caches, i)
                                                       : caches_l1i_counts(twin->caches);
        equal = equal && plain->misses == unaided->misses[i] && aided->misses == unaided->aided[i];
    }
    return equal && issued == unaided->issued && issued > 1000;
}

static enum c2_status notify_mark(void *self, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    struct notified *notified = self;
    (void)err;
    assert_int_equal(STREAM_FREED, mark);
    notified->changed = words[0];
    notified->marks++;
    return C2_OK;
}

static void notify_changed(void *self, uint64_t *start, uint64_t *bytes)
{
    const struct notified *notified = self;
    *start = notified->changed;
    *bytes = (uint64_t)1 << 30;
}

static bool tallies_equal(const struct caches_counts *counts, const uint64_t tally[CACHES_COHERENCE])
{
    return counts->cold == tally[CACHES_COLD] && counts->capacity == tally[CACHES_CAPACITY] &&
           counts->conflict == tally[CACHES_CONFLICT];
}

static bool codes_equal(const struct twin *twin, struct sim *sim)
{
    struct sim_code *codes = calloc(PCS, sizeof *codes);
    for (uint32_t i = 0; i < sim_code_count(sim); i++) {
        const struct sim_code code = sim_code_at(sim, i);
        struct sim_code *sum = &codes[code.pc.v - FIRST_PC];
        sum->executed += code.executed, sum->reads += code.reads, sum->writes += code.writes;
    }
    const bool equal = memcmp(codes, twin->codes, PCS * sizeof *codes) == 0;
    free(codes);
    return equal;
}

/* What was notified of the attributed simulator is what the twin has counted. */
static bool attributed_equal(const struct twin *twin, struct sim *sim, const struct notified *notified)
{
    bool equal = memcmp(twin->owned, notified->owned, sizeof twin->owned) == 0 && codes_equal(twin, sim);
    for (uint32_t i = 0; i < notified->level_count; i++)
        equal = equal && tallies_equal(&notified->measured.levels[i], notified->tally[i]);
    uint64_t walks = 0, reads = 0;
    for (unsigned i = 1; i <= 4; i++) {
        walks += notified->untranslated[i];
        reads += notified->untranslated[i] * i;
    }
    equal = equal && notified->untranslated[0] + walks == notified->measured.tlb_misses;
    equal = equal && walks == notified->measured.walks.count && reads == notified->measured.walks.reads;
    return equal && tallies_equal(&notified->measured.l1i, notified->tally[notified->level_count]);
}

static bool counted_equal(const struct notified *notified, const struct notified *compact)
{
    bool equal = notified->counted == compact->counted;
    for (unsigned reads = 0; reads <= 4; reads++)
        equal = equal && notified->untranslated[reads] == compact->untranslated[reads] + compact->with_misses[reads];
    return equal;
}

/* Wherever the run was cut, the windows add up to it. */
static bool windows_add_up(const struct notified *notified, const struct sim *sim)
{
    const struct sim_totals *all = &notified->all;
    bool equal = memcmp(&all->counts, sim_counts(sim), sizeof all->counts) == 0 &&
                 memcmp(all->walk_reads, sim_walk_reads(sim), sizeof all->walk_reads) == 0;
    for (uint32_t i = 0; i < notified->level_count; i++)
        equal = equal && counts_equal(&all->levels[i], caches_level_counts(sim_caches(sim), i));
    if (caches_machine(sim_caches(sim))->has_l1i)
        equal = equal && counts_equal(&all->l1i, caches_l1i_counts(sim_caches(sim)));
    for (uint32_t i = 0; i < 4 && sim_tlb(sim); i++)
        equal = equal && memcmp(&all->tlbs[i], caches_tlbs_counts(sim_tlb(sim), i), sizeof all->tlbs[i]) == 0;
    if (sim_tlb(sim))
        equal = equal && memcmp(&all->walks, caches_tlbs_walks(sim_tlb(sim)), sizeof all->walks) == 0;
    return equal && notified->windows > RUNS / 160 && notified->measured.counts.refs > 1000 &&
           notified->measured.counts.refs < all->counts.refs;
}

/* A phase begins, in front of a record. */
static uint64_t *cut(struct world *world, struct twin *twin, uint64_t *words)
{
    twin->warming = below(world, 3) == 0;
    *words++ = stream_header(STREAM_MARK, STREAM_PHASE, 1);
    *words++ = twin->warming ? STREAM_WARM : STREAM_MEASURE;
    world->batch.used += 2;
    return words;
}

enum how { PLAIN, OBSERVED, ATTRIBUTED, BOTH, RECORDS, APPROACHED };

/* The loop of this form, where there are several; told: whether it is one of those for usual machines. */
static bool use_form(struct sim *sim, unsigned form)
{
    sim->consume = sim_loop_choose(sim, form);
    return sim->consume != sim_consume_fast;
}

/* Which loops: the best of the host's, but for the test of all. Misses have the same numbers in any. */
static unsigned loop_form, other_form;
static unsigned loops_used;

/* The same batches to both; whether everything came out the same. Every second one has a thread for classes. */
static bool same(const struct caches_machine *shape, enum how how, enum mutant mutant, uint64_t seed)
{
    const bool observed = how == OBSERVED || how == BOTH, attributed = how >= ATTRIBUTED, threads = seed % 2;
    struct notified notified = {.level_count = shape->level_count}, also = notified, compact = notified;
    const struct sim_attribution attribution = {
        &notified, notify_owner, notify_access_site, notify_untranslated, NULL, notify_changed, NULL};
    struct sim_last_access_site sites[SITES];
    const struct sim_last_access_sites last = known_sites(sites);
    const struct sim_attribution access_sites = {
        .self = &compact, .access_site = notify_access_site, .untranslated = notify_untranslated, .last = &last};
    struct unaided unaided = {.level_count = shape->level_count};
    struct approach approach = {.level_count = shape->level_count};
    const struct caches_machine plain = caches_machine_plain(shape);
    struct c2_error err;
    struct pages pages = {0};
    struct world *world = malloc(sizeof *world);
    struct twin twin = {.mutant = mutant,
                        .pages = &pages,
                        .line_bytes = shape->line_bytes,
                        .has_l1i = shape->has_l1i,
                        .fetch_line = UINT64_MAX};
    struct watch watch = {.twin = &twin, .equal = true};
    const bool counting = seed / 2 % 2 != 0;
    const struct sim_subscriber only_misses = {
        .self = &compact, .missed = notify_missed, .counted = counting ? notify_counted : NULL};
    const struct sim_subscriber approaching = {
        .self = &approach, .in_every_phase = true, .approached = notify_approach};
    struct sim_subscriber listeners[] = {
        {.self = &watch,
         .references = how == RECORDS ? NULL : watch_references,
         .missed = how == BOTH && !threads ? watch_missed : NULL,
         .records = how == RECORDS ? watch_records : NULL},
        {.self = &notified, .apart = threads, .mark = notify_mark, .missed = notify_missed, .window = notify_window},
        {.self = &also, .missed = notify_missed},
        {.self = &unaided, .in_every_phase = true, .unaided = notify_unaided, .prefetched = notify_prefetched},
    };
    const bool prefetches = caches_machine_prefetches(shape);
    const struct sim_subscriber *first = observed || how >= RECORDS ? listeners : listeners + 1;
    if (how == APPROACHED)
        listeners[0] = approaching;
    struct sim *sim,
        *other = NULL; /* the other one is notified of misses only, with a thread for what is said of them */
    world_init(world, seed);
    struct sim_config config = {.machine = shape,
                                .seed = seed,
                                .translation = {&pages, translate, walk, NULL},
                                .blocks = world->blocks,
                                .subscribers = first,
                                .attribution = attributed ? &attribution : NULL,
                                .apart = threads};
    assert_int_equal(C2_OK, caches_create(&twin.caches, shape, seed, &err));
    if (prefetches)
        assert_int_equal(C2_OK, caches_create(&twin.plain, &plain, seed, &err));
    config.subscriber_count = (size_t)((attributed ? listeners + 3 + prefetches : listeners + 1) - first);
    assert_int_equal(C2_OK, sim_create(&sim, &config, &err));
    config.attribution = counting ? &access_sites : NULL;
    config.subscribers = &only_misses;
    config.subscriber_count = 1;
    config.apart = true;
    if (attributed)
        assert_int_equal(C2_OK, sim_create(&other, &config, &err));
    loops_used += use_form(sim, loop_form) + (other && use_form(other, other_form));
    twin.tlb = shape->tlb_count != 0 ? tlbs_of(shape) : NULL;
    twin.walks_cached = shape->walks_cached;
    for (uint32_t run = 0; run < RUNS;) {
        world->batch.tid = 1 + below(world, 3);
        world->batch.used = 0;
        for (uint32_t wanted = 1 + below(world, 200); wanted > 0 && run < RUNS; wanted--, run++) {
            uint32_t number = below(world, BLOCKS);
            uint64_t *words = &world->batch.words[world->batch.used];
            if (world->batch.used + MAX_SLOTS + 8 > STREAM_BATCH_WORDS)
                break;
            if (below(world, 20) == 0 && attributed) { /* a mark in front of the record */
                *words++ = stream_header(STREAM_MARK, STREAM_FREED, 1);
                *words++ = 0;
                world->batch.used += 2;
                twin.marks++;
            }
            if (below(world, 50) == 0)
                words = cut(world, &twin, words);
            if (world->specs[number].string)
                run_string(world, &twin, number, world->batch.tid, words);
            else
                run_plain(world, &twin, number, world->batch.tid, words);
            world->batch.used += 1 + stream_header_slots(words[0]);
        }
        assert_int_equal(C2_OK, sim_consume(sim, &world->batch, &err));
        watch.silent = true; /* the subscriber has seen it all */
        if (other)
            assert_int_equal(C2_OK, sim_consume(other, &world->batch, &err));
        watch.silent = false;
        if (below(world, 10) == 0) { /* all pages of an upper half move */
            pages.generation++;
            sim_forget(sim, (struct guest_va){0}, 1u << 30);
            if (other)
                sim_forget(other, (struct guest_va){0}, 1u << 30);
            if (twin.tlb)
                caches_tlbs_forget(twin.tlb, (struct guest_va){0}, 1u << 30);
        }
    }
    assert_int_equal(C2_OK, sim_finish(sim, &err));
    assert_int_equal(C2_OK, other ? sim_finish(other, &err) : C2_OK);
    sim_check(sim);
    bool equal = memcmp(&twin.counts, sim_counts(sim), sizeof twin.counts) == 0;
    for (uint32_t i = 0; i < shape->level_count; i++)
        equal = equal && counts_equal(caches_level_counts(twin.caches, i), caches_level_counts(sim_caches(sim), i));
    if (shape->has_l1i)
        equal = equal && counts_equal(caches_l1i_counts(twin.caches), caches_l1i_counts(sim_caches(sim)));
    equal = equal && tlbs_equal(&twin, sim);
    if (attributed && prefetches)
        equal = equal && prefetches_equal(&twin, sim, &unaided);
    if (attributed)
        equal = equal && attributed_equal(&twin, sim, &notified) && windows_add_up(&notified, sim) &&
                notified.digest == also.digest &&
                (counting ? counted_equal(&notified, &compact) : notified.digest == compact.digest);
    assert_true(!other || !counting || !SHORTCUT(caches_can_defer(sim_caches(other))) || compact.calls > 1);
    assert_true(compact.calls == 0 || shape->tlb_count == 0 || mutant != HEALTHY || compact.with_misses[0] > 100);
    assert_true(!attributed || mutant != HEALTHY || (notified.marks > RUNS / 80 && notified.digest != 0));
    if (observed)
        equal = equal && watch.equal && watch.next == twin.seen_count;
    if (how == APPROACHED)
        equal = equal && approaches_equal(sim, &approach, shape->has_l1i);
    assert_true(how != BOTH || threads || mutant != HEALTHY || watch.misses > 1000);
    if (how == RECORDS)
        equal = equal && watch.equal && watch.records == RUNS && watch.instructions == twin.counts.instructions;
    assert_true(mutant != HEALTHY || (twin.counts.straddles > 1000 && twin.counts.modifies > 1000));
    if (!equal && mutant == HEALTHY) {
        fprintf(stderr, "line %u, policy %s, observed %d, attributed %d:\n", shape->line_bytes,
                caches_policy_name(shape->levels[0].policy), observed, attributed);
        sim_dump(sim, stderr);
        fprintf(stderr, "twin: instructions %llu, line accesses %llu\n", (unsigned long long)twin.counts.instructions,
                (unsigned long long)twin.counts.line_accesses);
        caches_dump(twin.caches, stderr);
    }
    sim_destroy(sim);
    sim_destroy(other);
    caches_destroy(twin.caches);
    caches_destroy(twin.plain);
    caches_tlbs_destroy(twin.tlb);
    stream_blocks_destroy(world->blocks);
    free(world);
    free(twin.seen);
    return equal;
}

static void random_programs(void **state)
{
    (void)state;
    static const enum caches_policy policies[] = {CACHES_LRU,      CACHES_FIFO,   CACHES_TREE_PLRU, CACHES_NRU,
                                                  CACHES_SRRIP,    CACHES_RANDOM, CACHES_BRRIP,     CACHES_DRRIP,
                                                  CACHES_SHIP_MEM, CACHES_SHIP};
    static const enum caches_inclusion inclusions[] = {CACHES_NON_INCLUSIVE, CACHES_INCLUSIVE, CACHES_EXCLUSIVE};
    for (uint32_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        struct caches_machine shape = machine(64, i % 2 == 0, policies[i], inclusions[i % 3]);
        assert_true(same(&shape, PLAIN, HEALTHY, 100 + i));
        assert_true(same(&shape, OBSERVED, HEALTHY, 200 + i));
    }
}

/* In both stages, notified of each instruction. */
static void instructions(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct caches_machine shape = machine(64, i % 2 == 0, i < 3 ? CACHES_LRU : CACHES_SHIP,
                                              i % 3 == 0 ? CACHES_INCLUSIVE : CACHES_NON_INCLUSIVE);
        shape.levels[0].index = shape.levels[1].index = CACHES_PHYSICAL;
        shape.levels[1].policy = CACHES_SHIP;
        if (i % 3 != 0)
            add_tlbs(&shape, i % 2 == 0, true);
        assert_true(same(&shape, PLAIN, HEALTHY, 1500 + i));
        assert_true(same(&shape, ATTRIBUTED, HEALTHY, 1520 + i));
        assert_true(same(&shape, i % 2 == 0 ? BOTH : RECORDS, HEALTHY, 1540 + i));
        assert_true(same(&shape, APPROACHED, HEALTHY, 1560 + i));
    }
}

/* Each access comes by itself, whatever the listeners; those of before may be in the way of a repeat. */
static void prefetchers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct caches_machine shape = machine(i == 5 ? 512 : 64, i % 2 == 0, i % 2 == 0 ? CACHES_LRU : CACHES_FIFO,
                                              i % 3 == 0 ? CACHES_INCLUSIVE : CACHES_NON_INCLUSIVE);
        if (i % 3 != 0)
            add_tlbs(&shape, i % 2 == 0, true);
        shape.levels[0].prefetchers = i % 3 == 1 ? 0 : 1u << CACHES_PREFETCH_STRIDE | 1u << CACHES_PREFETCH_ADJACENT;
        shape.levels[1].prefetchers = i % 3 == 0 ? 0 : 1u << CACHES_PREFETCH_STREAM | 1u << CACHES_PREFETCH_NEXT_LINE;
        shape.levels[1].prefetch_on = (enum caches_prefetch_on)(i % CACHES_PREFETCH_ONS);
        shape.levels[0].stride_distance = 1;
        shape.levels[1].stream_distance = 2;
        if (i == 3) /* of which the machine without prefetchers has to be notified instructions, too */
            shape.levels[1].policy = CACHES_SHIP;
        if (i == 4) /* one way: a prefetch evicts the line of the access that it follows */
            shape.levels[0].size_bytes = 1024, shape.levels[0].ways = 1;
        assert_true(same(&shape, i % 2 == 0 ? PLAIN : ATTRIBUTED, HEALTHY, 900 + i));
        assert_true(same(&shape, i % 2 == 0 ? BOTH : RECORDS, HEALTHY, 950 + i));
        assert_true(same(&shape, APPROACHED, HEALTHY, 970 + i));
    }
}

/* Each access comes by itself here, too. Stores past L1D, on from it, on from L2, and all of that. */
static void stores(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct caches_machine shape = machine(i == 5 ? 512 : 64, i % 2 == 0, i == 3 ? CACHES_SHIP : CACHES_LRU,
                                              i % 3 == 0 ? CACHES_INCLUSIVE : CACHES_NON_INCLUSIVE);
        if (i % 3 != 0)
            add_tlbs(&shape, i % 2 == 0, true);
        shape.levels[0].index = CACHES_PHYSICAL;
        shape.levels[0].through = i != 0 && i != 2;
        shape.levels[0].around = i != 1 && i != 2;
        shape.levels[1].through = i == 2 || i == 4;
        shape.levels[1].around = i >= 4;
        assert_true(same(&shape, i % 2 == 0 ? PLAIN : ATTRIBUTED, HEALTHY, 1300 + i));
        assert_true(same(&shape, i % 2 == 0 ? BOTH : RECORDS, HEALTHY, 1350 + i));
        assert_true(same(&shape, ATTRIBUTED, HEALTHY, 1400 + i));
    }
}

static void line_lengths(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {8, 16, 32, 128, 512};
    for (uint32_t i = 0; i < 5; i++) {
        struct caches_machine shape = machine(lengths[i], true, CACHES_LRU, CACHES_INCLUSIVE);
        assert_true(same(&shape, i % 2 != 0 ? OBSERVED : PLAIN, HEALTHY, 300 + i));
    }
}

static void tlbs_and_walks(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct caches_machine shape = machine(i & 4 ? 512 : 64, true, CACHES_LRU, CACHES_INCLUSIVE);
        add_tlbs(&shape, i & 1, i & 2);
        assert_true(same(&shape, PLAIN, HEALTHY, 500 + i));
        assert_true(same(&shape, OBSERVED, HEALTHY, 600 + i));
        assert_false(same(&shape, PLAIN, TLB_BY_LINE, 500 + i));
    }
}

/* A page has one line of each set of L1D and L1I. */
static struct caches_machine usual_machine(uint32_t ways, bool has_l1i, enum caches_inclusion inclusion)
{
    struct caches_machine made = machine(64, has_l1i, CACHES_LRU, inclusion);
    made.levels[0] = level("L1D", 4096 * ways, ways, CACHES_LRU, CACHES_VIRTUAL, CACHES_NON_INCLUSIVE);
    made.l1i = level("L1I", 32768, 8, CACHES_LRU, CACHES_VIRTUAL, CACHES_NON_INCLUSIVE);
    made.levels[1] = level("L2", 65536, 8, CACHES_LRU, CACHES_PHYSICAL, inclusion);
    return made;
}

static void fast_loops(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct caches_machine shape = usual_machine(i & 1 ? 12 : 8, i != 4,
                                                    i & 2 ? CACHES_INCLUSIVE : CACHES_NON_INCLUSIVE);
        if (i >= 3)
            add_tlbs(&shape, false, i & 1);
        if (i != 3) /* most fetches hit it */
            shape.tlbs[1].policy = CACHES_TREE_PLRU, shape.tlbs[1].entries = 8, shape.tlbs[1].ways = 4;
        loop_form = i % 3 == 0 ? CACHE_FORM_SSE2 : cache_contents_best();
        other_form = i & 1 ? CACHE_FORM_SCALAR : loop_form;
        loops_used = 0;
        assert_true(same(&shape, ATTRIBUTED, HEALTHY, 1000 + i));
        assert_int_equal(SHORTCUT(2) ? 2 - i % 2 : 0, loops_used);
        assert_true(i % 2 != 0 || same(&shape, PLAIN, HEALTHY, 1100 + i));
        assert_true(i % 4 != 3 || !same(&shape, PLAIN, MODIFY_READS_ONLY, 1000 + i));
    }
    loop_form = other_form = cache_contents_best();
}

/* Misses that are only counted, in the loop: of second levels that it asks by itself, and of others. */
static void counted_misses(void **state)
{
    (void)state;
    static const uint32_t ways[] = {4, 8, 16};
    for (uint32_t i = 0; i < 12; i++) {
        struct caches_machine shape = usual_machine(i & 1 ? 12 : 8, i != 4,
                                                    i & 2 ? CACHES_INCLUSIVE : CACHES_NON_INCLUSIVE);
        shape.levels[1].ways = ways[i % 3];
        if (i >= 6)
            add_tlbs(&shape, false, false);
        loop_form = other_form = i & 4 ? CACHE_FORM_SSE2 : cache_contents_best();
        breadth = i & 8 ? HALVES : LONG;
        loops_used = 0;
        assert_true(same(&shape, ATTRIBUTED, HEALTHY, 2000 + 4 * i + 2 + i / 2 % 2));
        assert_int_equal(SHORTCUT(2) ? 2 : 0, loops_used);
    }
    loop_form = other_form = cache_contents_best();
    breadth = HALVES;
}

static void broken_twins_differ(void **state)
{
    (void)state;
    struct caches_machine shape = machine(64, true, CACHES_LRU, CACHES_NON_INCLUSIVE);
    for (enum mutant mutant = NO_SECOND_LINE; mutant <= DATA_BEFORE_FETCH; mutant++)
        assert_false(same(&shape, PLAIN, mutant, 400));
}

static void attribution_counts_alike(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {64, 64, 8, 512};
    static const enum caches_inclusion inclusions[] = {CACHES_NON_INCLUSIVE, CACHES_INCLUSIVE, CACHES_EXCLUSIVE};
    for (uint32_t i = 0; i < 12; i++) {
        struct caches_machine shape = machine(lengths[i % 4], i % 5 != 0, i % 6 == 5 ? CACHES_NRU : CACHES_LRU,
                                              inclusions[i % 3]);
        if (i % 2 != 0)
            add_tlbs(&shape, i & 4, i & 8);
        breadth = i / 3;
        assert_true(same(&shape, ATTRIBUTED, HEALTHY, 700 + i));
        assert_true(same(&shape, BOTH, HEALTHY, 800 + i));
        assert_true(same(&shape, RECORDS, HEALTHY, 900 + i));
        assert_true(same(&shape, APPROACHED, HEALTHY, 1000 + i));
        assert_false(same(&shape, ATTRIBUTED, MODIFY_READS_ONLY, 700 + i));
    }
    breadth = HALVES;
}

int main(void)
{
    loop_form = other_form = cache_contents_best();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs), cmocka_unit_test(attribution_counts_alike),
        cmocka_unit_test(prefetchers),     cmocka_unit_test(line_lengths),
        cmocka_unit_test(stores),          cmocka_unit_test(tlbs_and_walks),
        cmocka_unit_test(instructions),    cmocka_unit_test(fast_loops),
        cmocka_unit_test(counted_misses),  cmocka_unit_test(broken_twins_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
