/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lanes side by side: whatever machines, placements and seeds they have, and however many host threads feed them, each
 * counts what it counts alone, its profile included, for which all read the same file's names; and where memory ends in
 * one, the same lane fails at the same change. Lanes of random machines that may share what they simulate alike count
 * what they count alone, too, whether they can follow to the end, begin again, or part while the stream goes on. The
 * program is this one, as far as names go.
 */
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lanes/lanes.h"
#include "unit/made_level.h"

#define LANES 7u
#define BASE 0x1000000ull
#define PROGRAM 0x10000000000ull /* it is position independent */
#define PAGES 300u
#define STEPS 40000u
#define SHARED_STEPS 6000u
#define SHARED_ROUNDS 40u
#define SPECIAL_AT 4500u
#define LITTLE ((PAGES + 10) * C2_PAGE_BYTES)
#define MAPPED 6u

/* ------------------------------------------------------------------ machines and placements */

/* Sizes and policies of L2, and placements: no two of the first four are the same, the others differ by their seeds. */
static void make_machines(struct caches_machine machines[LANES], struct lane_config configs[LANES],
                          const struct stream_blocks *blocks)
{
    static const enum mmu_placement placements[] = {MMU_SEQUENTIAL, MMU_RANDOM, MMU_RANDOM, MMU_BUDDY};
    static const char *const given[ANALYSES_KINDS]; /* no option: the profile */
    static const char *const names[LANES] = {"a", "b", "c", "d", "e", "f", "g"};
    for (unsigned i = 0; i < LANES; i++) {
        machines[i] = (struct caches_machine){.name = "many", .line_bytes = 64, .level_count = 2};
        machines[i].levels[0] = made_level("L1D", 4096, 2);
        machines[i].levels[1] = made_level("L2", (uint64_t)(i % 2 + 1) << 15, 4);
        machines[i].levels[1].policy = i % 3 == 2 ? CACHES_RANDOM : CACHES_LRU;
        configs[i] = (struct lane_config){
            .machine = &machines[i], .seed = 1, .blocks = blocks, .given = given, .name = names[i]};
        configs[i].placement = (struct mmu_config){
            .physical_bytes = 64 << 20, .placement = placements[i < 4 ? i : 1], .colors = 1, .age = 500, .seed = i};
    }
}

/* ------------------------------------------------------------------ a stream */

static uint32_t add_block(struct stream_blocks *blocks)
{
    static const struct stream_slot slots[] = {{0, 8, STREAM_READ, 0}, {0, 4, STREAM_WRITE, 0}};
    static const struct stream_insn insn = {.length = 4};
    const struct stream_block block = {
        .pc = {PROGRAM + 0x1000}, .bytes = 4, .insn_count = 1, .slot_count = 2, .insns = &insn, .slots = slots};
    uint32_t number;
    assert_int_equal(stream_blocks_add(&number, blocks, &block, NULL), C2_OK);
    return number;
}

/* With a store past the caches. */
static uint32_t add_special_block(struct stream_blocks *blocks)
{
    static const struct stream_slot slots[] = {{0, 8, STREAM_READ, 0}, {0, 4, STREAM_WRITE, 1}};
    static const struct stream_insn insn = {.length = 4};
    const struct stream_block block = {
        .pc = {PROGRAM + 0x1100}, .bytes = 4, .insn_count = 1, .slot_count = 2, .insns = &insn, .slots = slots};
    uint32_t number;
    assert_int_equal(stream_blocks_add(&number, blocks, &block, NULL), C2_OK);
    return number;
}

static void write_record(struct stream_writer *writer, uint32_t block, uint64_t a, uint64_t b)
{
    assert_int_equal(stream_writer_room(writer, 2, NULL), C2_OK);
    uint64_t *words = writer->batch->words + writer->batch->used;
    words[0] = stream_header(block, 1, 2);
    words[1] = a;
    words[2] = b;
    writer->batch->used += 3;
}

/* ------------------------------------------------------------------ this program, as the stream would have it */

static uint64_t table[64] = {1}; /* its references are those of an object with this name */
static uint64_t table_at;        /* where it lies in the stream */
static char own_path[4096];
static struct stat own_stat;

static void map_segment(struct stream_writer *writer, uint64_t base, const ElfW(Phdr) * segment)
{
    uint64_t words[MAPPED + sizeof own_path / 8] = {0};
    const uint64_t skipped = segment->p_vaddr % C2_PAGE_BYTES, rights = (segment->p_flags & PF_R ? MMU_READ : 0) |
                                                                        (segment->p_flags & PF_W ? MMU_WRITE : 0) |
                                                                        (segment->p_flags & PF_X ? MMU_EXEC : 0);
    words[0] = base + segment->p_vaddr - skipped;
    words[1] = c2_align_up(segment->p_filesz + skipped, C2_PAGE_BYTES);
    words[2] = rights | (uint64_t)MMU_FILE << STREAM_MAPPED_KIND_SHIFT;
    words[3] = segment->p_offset - skipped;
    words[4] = own_stat.st_ino;
    words[5] = own_stat.st_dev;
    memcpy(&words[MAPPED], own_path, strlen(own_path));
    assert_int_equal(
        stream_writer_change(writer, STREAM_MAPPED, words, MAPPED + (uint32_t)strlen(own_path) / 8 + 1, NULL), C2_OK);
}

/* Of all that is loaded the first is the program. */
static int map_program(struct dl_phdr_info *info, size_t bytes, void *writer)
{
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_filesz != 0)
            map_segment(writer, PROGRAM, &info->dlpi_phdr[i]);
    table_at = PROGRAM + (uintptr_t)table - info->dlpi_addr;
    return 1;
}

static void load_program(struct stream_writer *writer)
{
    const uint64_t words[2] = {PROGRAM + 0x1000, 0};
    const ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    assert_true(length > 0 && stat(own_path, &own_stat) == 0);
    own_path[length] = '\0';
    dl_iterate_phdr(map_program, writer);
    for (unsigned last = 0; last < 2; last++) {
        const uint64_t touched[] = {c2_align_down(table_at + last * (sizeof table - 1), C2_PAGE_BYTES),
                                    MMU_ACCESS_WRITE};
        assert_int_equal(stream_writer_change(writer, STREAM_TOUCHED, touched, 2, NULL), C2_OK);
    }
    const uint64_t fetched[] = {PROGRAM + 0x1000, MMU_ACCESS_EXEC};
    assert_int_equal(stream_writer_change(writer, STREAM_TOUCHED, fetched, 2, NULL), C2_OK);
    assert_int_equal(stream_writer_mark(writer, STREAM_LOADED, words, 2, NULL), C2_OK);
}

/* ------------------------------------------------------------------ what it does */

static enum c2_status touch(struct stream_writer *writer, bool present[PAGES], uint64_t page, struct c2_error *err)
{
    const uint64_t words[] = {BASE + page * C2_PAGE_BYTES, MMU_ACCESS_WRITE};
    if (present[page])
        return C2_OK;
    present[page] = true;
    return stream_writer_change(writer, STREAM_TOUCHED, words, 2, err);
}

static uint64_t draw(struct c2_rng *rng, struct stream_writer *writer, bool present[PAGES], enum c2_status *status,
                     struct c2_error *err)
{
    const uint64_t page = c2_rng_below(rng, 1 + c2_rng_below(rng, PAGES));
    if (*status == C2_OK)
        *status = touch(writer, present, page, err);
    return BASE + page * C2_PAGE_BYTES + c2_rng_below(rng, C2_PAGE_BYTES - 8);
}

/* Pages lose their frames, which others get. */
static enum c2_status discard(struct stream_writer *writer, bool present[PAGES], uint64_t first, struct c2_error *err)
{
    const uint64_t words[] = {BASE + first * C2_PAGE_BYTES, 8 * C2_PAGE_BYTES};
    for (unsigned i = 0; i < 8; i++)
        present[first + i] = false;
    return stream_writer_change(writer, STREAM_DISCARDED, words, 2, err);
}

struct program {
    uint32_t block, special; /* the second is executed once */
    uint32_t steps;
};

/* Blocks of the heap come and go, pages too, phases begin; what was measured is kept, and dropped. */
static enum c2_status mark_something(struct stream_writer *writer, bool present[PAGES], uint32_t at,
                                     struct c2_error *err)
{
    const uint64_t allocated[] = {BASE + at % PAGES * C2_PAGE_BYTES, 600, 0, PROGRAM + 0x1000};
    const uint64_t freed[] = {BASE + (at - 40) % PAGES * C2_PAGE_BYTES};
    const uint64_t phase[] = {at / 500 % 3 == 1 ? STREAM_WARM : STREAM_MEASURE};
    const uint64_t dumped[STREAM_DUMP_WORDS] = {at, 'd'};
    enum c2_status status = C2_OK;
    if (at % 100 == 50)
        status = stream_writer_mark(writer, STREAM_ALLOCATED, allocated, 4, err);
    if (at % 100 == 90)
        status = stream_writer_mark(writer, STREAM_FREED, freed, 1, err);
    if (at % 700 == 330 && status == C2_OK)
        status = discard(writer, present, at % (PAGES - 8), err);
    if (at % 500 == 0 && status == C2_OK)
        status = stream_writer_mark(writer, STREAM_PHASE, phase, 1, err);
    if (at % 2000 == 600 && status == C2_OK)
        status = stream_writer_mark(writer, STREAM_DUMPED, dumped, STREAM_DUMP_WORDS, err);
    if (at == 1300 && status == C2_OK)
        status = stream_writer_mark(writer, STREAM_ZEROED, NULL, 0, err);
    if (at == 3700 && status == C2_OK)
        status = stream_writer_mark(writer, STREAM_EMPTIED, NULL, 0, err);
    return status;
}

/* Until a lane fails. *at: the step that this came back to. */
static enum c2_status write_stream(struct stream_writer *writer, const struct program *program, uint32_t *at,
                                   struct c2_error *err)
{
    const uint32_t steps = program->steps;
    const uint64_t map[MAPPED] = {BASE, PAGES * C2_PAGE_BYTES,
                                  MMU_READ | MMU_WRITE | STREAM_MAPPED_MAY_WRITE |
                                      (uint64_t)MMU_ANONYMOUS << STREAM_MAPPED_KIND_SHIFT};
    bool present[PAGES] = {false};
    struct c2_rng rng;
    c2_rng_init(&rng, 11, "many lanes");
    enum c2_status status = stream_writer_change(writer, STREAM_MAPPED, map, MAPPED, err);
    load_program(writer);
    for (uint64_t page = 0; page < PAGES && steps != STEPS && status == C2_OK; page++)
        status = touch(writer, present, page, err); /* so little memory is left, and frames are used again */
    for (*at = 0; *at < steps && status == C2_OK; ++*at) {
        if (steps != STEPS)
            status = mark_something(writer, present, *at, err);
        const uint64_t a = draw(&rng, writer, present, &status, err), b = draw(&rng, writer, present, &status, err);
        if (status == C2_OK)
            write_record(writer, *at == SPECIAL_AT ? program->special : program->block, a,
                         *at % 16 == 0 ? table_at + *at % sizeof table : b);
    }
    return status == C2_OK ? stream_writer_flush(writer, err) : status;
}

/* ------------------------------------------------------------------ runs */

struct run {
    enum c2_status status;
    struct c2_error err;
    uint32_t failed_at;
    struct caches_counts counts[LANES][2];
    struct sim_totals measured[LANES];
    uint64_t dumps[LANES];
    uint64_t digest[LANES]; /* of the profiles */
    unsigned followers, departed;
};

static void mix(uint64_t *hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void mix_pair(uint64_t *hash, const struct analyses_pair *pair)
{
    const uint64_t words[] = {pair->level, pair->victim, pair->evictor, pair->reason, pair->count};
    mix(hash, words, sizeof words);
}

/* Objects by name, rows with all their counts. */
static uint64_t digest_of(const struct analyses_profile_result *profile)
{
    uint64_t hash = 1;
    bool named = false;
    for (size_t i = 0; i < profile->object_count; i++) {
        named |= strcmp(profile->objects[i].name, "table") == 0;
        mix(&hash, profile->objects[i].name, strlen(profile->objects[i].name));
        mix(&hash, profile->objects[i].level, profile->level_count * sizeof *profile->objects[i].level);
    }
    for (size_t i = 0; i < profile->row_count; i++) {
        mix(&hash, profile->rows[i].level, profile->level_count * sizeof *profile->rows[i].level);
        mix(&hash, &profile->rows[i].tlb, sizeof profile->rows[i].tlb);
    }
    for (size_t i = 0; i < profile->insn_count; i++)
        mix(&hash, &profile->insns[i], sizeof profile->insns[i]);
    for (size_t i = 0; i < profile->pair_count; i++)
        mix_pair(&hash, &profile->pairs[i]);
    assert_true(named);
    return hash;
}

static uint64_t digest_of_dumps(const struct sim *sim)
{
    size_t count;
    const struct sim_dumped *dumps = sim_dumps(sim, &count);
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        mix(&hash, &dumps[i].of, sizeof dumps[i].of);
    return hash;
}

/* All of the stream, to the groups that there are. */
static void feed(struct run *run, struct lanes *lanes, unsigned threads, const struct program *program)
{
    struct stream_ring *ring;
    struct stream_writer *writer;
    struct stream_sink groups[LANES];
    const unsigned count = lanes_group_count(lanes);
    for (unsigned i = 0; i < count; i++)
        groups[i] = lanes_sink(lanes, i);
    assert_int_equal(stream_ring_create(&ring, groups, count, threads, "test", NULL), C2_OK);
    const struct stream_sink sink = stream_ring_sink(ring);
    assert_int_equal(stream_writer_create(&writer, sink, NULL), C2_OK);
    writer->guaranteed = lanes_guaranteed;
    writer->guaranteed_self = lanes;
    run->status = write_stream(writer, program, &run->failed_at, &run->err);
    if (run->status == C2_OK)
        assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    stream_ring_destroy(ring);
    if (run->status == C2_OK)
        assert_int_equal(lanes_finish(lanes, NULL), C2_OK);
    stream_writer_destroy(writer);
}

static void take_results(struct run *run, const struct lanes *lanes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct lane *lane = lanes_at(lanes, i);
        const struct analyses_profile_result *profile = analyses_result(lane_analyses(lane), ANALYSIS_profile);
        for (uint32_t depth = 0; depth < 2; depth++)
            run->counts[i][depth] = *caches_level_counts(sim_caches(lane_sim(lane)), depth);
        run->digest[i] = run->status == C2_OK && profile ? digest_of(profile) : 0;
        run->measured[i] = *sim_measured(lane_sim(lane));
        run->dumps[i] = digest_of_dumps(lane_sim(lane));
    }
}

static void simulate(struct run *run, const struct lane_config *configs, unsigned count, unsigned threads,
                     uint32_t block)
{
    struct lanes *lanes;
    assert_int_equal(lanes_create(&lanes, configs, count, NULL), C2_OK);
    assert_int_equal(lanes_group_count(lanes), count);
    feed(run, lanes, threads, &(struct program){block, block, STEPS});
    take_results(run, lanes, count);
    lanes_destroy(lanes);
}

static void each_counts_what_it_counts_alone(void **state)
{
    (void)state;
    struct caches_machine machines[LANES];
    struct lane_config configs[LANES];
    struct stream_blocks *blocks;
    static struct run alone[LANES], many;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    const uint32_t block = add_block(blocks);
    make_machines(machines, configs, blocks);
    for (unsigned i = 0; i < LANES; i++) {
        simulate(&alone[i], &configs[i], 1, 1, block);
        assert_int_equal(alone[i].status, C2_OK);
        assert_true(alone[i].counts[0][1].misses > 1000);
    }
    for (unsigned threads = 1; threads <= 8; threads++) {
        simulate(&many, configs, LANES, threads, block);
        assert_int_equal(many.status, C2_OK);
        for (unsigned i = 0; i < LANES; i++) {
            assert_memory_equal(many.counts[i], alone[i].counts[0], sizeof many.counts[i]);
            assert_int_equal(many.digest[i], alone[i].digest[0]);
        }
    }
    for (unsigned i = 0; i < LANES; i++) /* they are not all the same anyway */
        for (unsigned k = 0; k < i; k++)
            assert_memory_not_equal(&alone[i].counts[0][1], &alone[k].counts[0][1], sizeof alone[i].counts[0][1]);
    stream_blocks_destroy(blocks);
}

/* ------------------------------------------------------------------ lanes that share */

static enum caches_policy draw_policy(struct c2_rng *rng)
{
    static const enum caches_policy policies[] = {CACHES_LRU, CACHES_LRU, CACHES_RANDOM, CACHES_NRU, CACHES_SRRIP};
    return policies[c2_rng_below(rng, sizeof policies / sizeof *policies)];
}

static struct caches_level draw_level(struct c2_rng *rng, const char *name, uint64_t least)
{
    struct caches_level level = made_level(name, least << c2_rng_below(rng, 5), 1u << c2_rng_below(rng, 4));
    level.policy = draw_policy(rng);
    return level;
}

/* One first level for most; what is below is anything: some can follow, some take lines from it. */
static void draw_machines(struct caches_machine machines[LANES], struct c2_rng *rng, bool first_takes)
{
    const bool l1i = c2_rng_below(rng, 2) == 0, tlbs = c2_rng_below(rng, 2) == 0;
    for (unsigned i = 0; i < LANES; i++) {
        struct caches_machine *machine = &machines[i];
        machine->level_count = 2 + (uint32_t)c2_rng_below(rng, 2);
        machine->levels[0] = made_level("L1D", 4096, c2_rng_below(rng, 8) == 0 ? 4 : 2);
        machine->has_l1i = l1i;
        machine->l1i = made_level("L1I", 4096, 2);
        machine->levels[1] = draw_level(rng, "L2", 8192);
        machine->levels[2] = draw_level(rng, "L3", 32768);
        machine->levels[1].inclusion = c2_rng_below(rng, 4) == 0 ? CACHES_INCLUSIVE : CACHES_NON_INCLUSIVE;
        machine->levels[2].inclusion = (enum caches_inclusion)c2_rng_below(rng, 3);
        if (first_takes) { /* by conflicts, which the others do not have */
            machine->level_count = 2;
            machine->levels[1] = made_level("L2", 1 << 16, i == 0 ? 1 : 16);
            machine->levels[1].inclusion = CACHES_INCLUSIVE;
        }
        machine->tlb_count = tlbs;
        machine->tlbs[0] = (struct caches_tlb){.name = "TLB",
                                               .place = CACHES_TLB_FIRST,
                                               .sides = CACHES_TLB_DATA,
                                               .holds = CACHES_TLB_4K,
                                               .entries = 64,
                                               .ways = 4,
                                               .policy = CACHES_LRU};
    }
}

static void share(struct run *run, const struct lane_config *configs, unsigned threads, const struct program *program)
{
    struct lanes *lanes;
    assert_int_equal(lanes_create(&lanes, configs, LANES, NULL), C2_OK);
    assert_int_equal(lanes_share(lanes, 1, threads, NULL), C2_OK);
    run->followers = lanes_follower_count(lanes);
    assert_int_equal(lanes_group_count(lanes) + run->followers, LANES);
    feed(run, lanes, threads, program);
    run->departed = lanes_departed(lanes);
    if (run->departed != 0) {
        assert_int_equal(lanes_begin_again(lanes, NULL), C2_OK);
        assert_int_equal(lanes_group_count(lanes), run->departed);
        feed(run, lanes, threads, program);
        assert_int_equal(lanes_departed(lanes), 0);
    }
    take_results(run, lanes, LANES);
    lanes_destroy(lanes);
}

/* All batches of a stream, one behind the other. */
struct kept {
    struct stream_batch *batches;
    uint32_t count, room;
};

static enum c2_status keep(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct kept *kept = self;
    (void)err;
    assert_true(c2_grow((void **)&kept->batches, &kept->room, kept->count, sizeof *kept->batches));
    struct stream_batch *copy = &kept->batches[kept->count++];
    copy->tid = batch->tid;
    copy->used = batch->used;
    memcpy(copy->words, batch->words, batch->used * sizeof *batch->words);
    return C2_OK;
}

static enum c2_status nothing_to_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

static void keep_stream(struct kept *kept, const struct program *program)
{
    struct stream_writer *writer;
    struct c2_error err;
    uint32_t failed_at;
    *kept = (struct kept){.batches = NULL};
    assert_int_equal(stream_writer_create(&writer, (struct stream_sink){kept, keep, nothing_to_drain}, NULL), C2_OK);
    assert_int_equal(write_stream(writer, program, &failed_at, &err), C2_OK);
    stream_writer_destroy(writer);
}

static enum c2_status feed_kept(struct lanes *lanes, const struct kept *kept, uint32_t from, uint32_t to)
{
    enum c2_status status = C2_OK;
    struct c2_error err;
    for (unsigned i = 0; i < lanes_group_count(lanes); i++) {
        const struct stream_sink sink = lanes_sink(lanes, i);
        for (uint32_t k = from; k < to && status == C2_OK; k++)
            status = sink.consume(sink.self, &kept->batches[k], &err);
    }
    return status;
}

/* They part behind so many batches. */
static void part_at(struct run *run, const struct lane_config *configs, unsigned threads, const struct kept *kept,
                    uint32_t at)
{
    struct lanes *lanes;
    assert_int_equal(lanes_create(&lanes, configs, LANES, NULL), C2_OK);
    assert_int_equal(lanes_share(lanes, 1, threads, NULL), C2_OK);
    run->followers = lanes_follower_count(lanes);
    assert_int_equal(feed_kept(lanes, kept, 0, at), C2_OK);
    assert_int_equal(lanes_look(lanes, &run->departed, NULL), C2_OK);
    assert_int_equal(run->departed, lanes_departed(lanes));
    assert_false(lanes_unplaced(lanes));
    assert_int_equal(lanes_part(lanes, NULL), C2_OK);
    assert_int_equal(lanes_group_count(lanes), run->followers);
    assert_int_equal(lanes_follower_count(lanes), 0);
    assert_int_equal(feed_kept(lanes, kept, 0, at), C2_OK);
    lanes_rejoin(lanes);
    assert_int_equal(lanes_group_count(lanes), LANES);
    assert_int_equal(feed_kept(lanes, kept, at, kept->count), C2_OK);
    assert_int_equal(lanes_finish(lanes, NULL), C2_OK);
    run->status = C2_OK;
    take_results(run, lanes, LANES);
    lanes_destroy(lanes);
}

static void run_alone(struct run *run, const struct lane_config *config, const struct program *program)
{
    struct lanes *lanes;
    assert_int_equal(lanes_create(&lanes, config, 1, NULL), C2_OK);
    feed(run, lanes, 1, program);
    take_results(run, lanes, 1);
    lanes_destroy(lanes);
}

static void sharing_changes_nothing(void **state)
{
    (void)state;
    static const char *const unattributed[ANALYSES_KINDS] = {[ANALYSIS_profile] = ""};
    static struct caches_machine machines[LANES];
    static struct run alone, shared, parted;
    struct lane_config configs[LANES];
    struct stream_blocks *blocks;
    struct kept kept;
    struct c2_rng rng, at;
    unsigned parted_with = 0;
    unsigned followed[2] = {0}, departed[2] = {0}; /* [whether each has a placement of its own] */
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    const uint32_t block = add_block(blocks), special = add_special_block(blocks);
    c2_rng_init(&rng, 5, "lanes that share");
    c2_rng_init(&at, 5, "lanes that part");
    for (unsigned round = 0; round < SHARED_ROUNDS; round++) {
        make_machines(machines, configs, blocks);
        draw_machines(machines, &rng, round % 8 == 5);
        for (unsigned i = 0; i < LANES; i++) {
            configs[i].placement.placement = round % 2 == 0 ? MMU_SEQUENTIAL : MMU_RANDOM;
            configs[i].placement.seed = round % 4 == 3 ? i : 1 + round; /* of some rounds each has its own */
            configs[i].placement.physical_bytes = round % 8 == 3 ? LITTLE : 1 << 30;
            configs[i].unnamed = i > 0 || round % 3 == 0;
            configs[i].given = round % 5 == 4 ? unattributed : configs[i].given;
            configs[i].shares = true;
        }
        const struct program program = {block, round % 16 == 7 ? special : block, SHARED_STEPS};
        share(&shared, configs, 1 + round % 4, &program);
        keep_stream(&kept, &program);
        part_at(&parted, configs, 1 + round % 4, &kept, (uint32_t)c2_rng_below(&at, kept.count + 1));
        c2_free(kept.batches);
        parted_with += parted.followers - parted.departed;
        assert_int_equal(parted.followers, shared.followers);
        assert_true(parted.departed <= shared.departed);
        followed[round % 4 == 3] += shared.followers - shared.departed;
        departed[round % 4 == 3] += shared.departed;
        for (unsigned i = 0; i < LANES; i++) {
            run_alone(&alone, &configs[i], &program);
            assert_int_equal(alone.status, C2_OK);
            assert_memory_equal(&shared.measured[i], &alone.measured[0], sizeof shared.measured[i]);
            assert_int_equal(shared.digest[i], alone.digest[0]);
            assert_int_equal(shared.dumps[i], alone.dumps[0]);
            assert_memory_equal(&parted.measured[i], &alone.measured[0], sizeof parted.measured[i]);
            assert_int_equal(parted.digest[i], alone.digest[0]);
            assert_int_equal(parted.dumps[i], alone.dumps[0]);
        }
    }
    assert_true(!SHORTCUT(true) || parted_with > SHARED_ROUNDS / 2);
    for (unsigned placed = 0; placed < 2; placed++)
        assert_true(!SHORTCUT(true) || (followed[placed] > SHARED_ROUNDS / 8 && departed[placed] > SHARED_ROUNDS / 8));
    stream_blocks_destroy(blocks);
}

/* The second level of a takes lines from its first one, so another machine leads, and a alone departs. Where fewer
 * would follow than are asked for, none does. */
static void one_with_more_room_leads(void **state)
{
    (void)state;
    struct caches_machine machines[LANES];
    struct lane_config configs[LANES];
    struct stream_blocks *blocks;
    struct lanes *lanes;
    static struct run shared;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    const uint32_t block = add_block(blocks);
    make_machines(machines, configs, blocks);
    for (unsigned i = 0; i < LANES; i++) {
        machines[i].levels[1] = made_level("L2", i == 0 ? 8192 : 1 << 16, i == 0 ? 1 : 4);
        machines[i].levels[1].inclusion = i == 0 ? CACHES_INCLUSIVE : CACHES_NON_INCLUSIVE;
        configs[i].placement.placement = MMU_SEQUENTIAL;
        configs[i].placement.seed = 1;
        configs[i].unnamed = true;
        configs[i].shares = true;
    }
    share(&shared, configs, 1, &(struct program){block, block, SHARED_STEPS});
    assert_true(!SHORTCUT(true) || (shared.followers == LANES - 1 && shared.departed == 1));
    for (unsigned least = LANES - 1; least <= LANES; least++) {
        assert_int_equal(lanes_create(&lanes, configs, LANES, NULL), C2_OK);
        assert_int_equal(lanes_share(lanes, least, 1, NULL), C2_OK);
        const unsigned followers = least < LANES ? LANES - 1 : 0;
        assert_true(!SHORTCUT(true) || lanes_follower_count(lanes) == followers);
        assert_int_equal(lanes_group_count(lanes) + lanes_follower_count(lanes), LANES);
        lanes_destroy(lanes);
    }
    stream_blocks_destroy(blocks);
}

/* The machines of d and f have 60 and 50 pages; g has 50 as well, and comes after f. */
static void the_same_lane_fails_at_the_same_change(void **state)
{
    (void)state;
    struct caches_machine machines[LANES];
    struct lane_config configs[LANES];
    struct stream_blocks *blocks;
    static struct run alone, many;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    const uint32_t block = add_block(blocks);
    make_machines(machines, configs, blocks);
    configs[3].placement.placement = configs[5].placement.placement = configs[6].placement.placement = MMU_SEQUENTIAL;
    configs[3].placement.physical_bytes = 60 * C2_PAGE_BYTES;
    configs[5].placement.physical_bytes = configs[6].placement.physical_bytes = 50 * C2_PAGE_BYTES;
    simulate(&alone, &configs[5], 1, 1, block);
    assert_int_equal(alone.status, C2_ERR_EXHAUSTED);
    for (unsigned round = 0; round < 24; round++) {
        simulate(&many, configs, LANES, 1 + round % 8, block);
        assert_int_equal(many.status, C2_ERR_EXHAUSTED);
        assert_int_equal(many.failed_at, alone.failed_at);
        assert_memory_equal(many.err.text, "f: ", 3);
        assert_string_equal(many.err.text + 3, alone.err.text);
    }
    stream_blocks_destroy(blocks);
}

/* Each has frames of its own, and those of f are too few; or all but the first have the same, too few. */
static void draw_little(struct lane_config configs[LANES], bool same)
{
    for (unsigned i = 0; i < LANES; i++) {
        const bool little = same ? i > 0 : i == 5;
        configs[i].placement.placement = same ? MMU_SEQUENTIAL : MMU_RANDOM;
        configs[i].placement.seed = same ? 1 : i;
        configs[i].placement.physical_bytes = little ? 50 * C2_PAGE_BYTES : 64 << 20;
        configs[i].shares = true;
        configs[i].unnamed = i > 0;
    }
}

/* One without a place fails when it is by itself; and so does one that follows what fails. */
static void one_that_follows_fails_at_the_same_change(void **state)
{
    (void)state;
    static const char *const named[] = {"f: ", "b: "};
    struct caches_machine machines[LANES];
    struct lane_config configs[LANES];
    struct stream_blocks *blocks;
    struct lanes *lanes;
    struct kept kept;
    static struct run alone, shared;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    const uint32_t block = add_block(blocks);
    const struct program program = {block, block, STEPS};
    make_machines(machines, configs, blocks);
    for (unsigned i = 0; i < LANES; i++)
        machines[i].levels[1].policy = CACHES_LRU;
    keep_stream(&kept, &program);
    for (unsigned same = 0; same < 2; same++) {
        draw_little(configs, same);
        simulate(&alone, &configs[5], 1, 1, block);
        assert_int_equal(alone.status, C2_ERR_EXHAUSTED);
        assert_int_equal(lanes_create(&lanes, configs, LANES, NULL), C2_OK);
        assert_int_equal(lanes_share(lanes, 1, 1, NULL), C2_OK);
        assert_true(!SHORTCUT(true) || lanes_follower_count(lanes) == LANES - 1);
        const enum c2_status status = feed_kept(lanes, &kept, 0, kept.count);
        assert_true(same || (status == C2_OK) == lanes_unplaced(lanes));
        assert_int_equal(lanes_failed(lanes) < LANES, status != C2_OK);
        assert_int_equal(lanes_part(lanes, NULL), C2_OK);
        if (lanes_group_count(lanes) != 0) {
            feed(&shared, lanes, 1, &program);
            assert_int_equal(shared.status, C2_ERR_EXHAUSTED);
            assert_int_equal(shared.failed_at, alone.failed_at);
            assert_memory_equal(shared.err.text, named[same], 3);
        }
        assert_int_equal(lanes_failed(lanes), named[same][0] - 'a');
        lanes_destroy(lanes);
    }
    c2_free(kept.batches);
    stream_blocks_destroy(blocks);
}

static void failing_allocations(void **state)
{
    (void)state;
    struct caches_machine machines[LANES];
    struct lane_config configs[LANES];
    struct stream_blocks *blocks;
    struct lanes *lanes;
    assert_int_equal(stream_blocks_create(&blocks, NULL), C2_OK);
    make_machines(machines, configs, blocks);
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        c2_alloc_fail_from(n);
        status = lanes_create(&lanes, configs, 3, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK ? !!lanes : !lanes && status == C2_ERR_NO_MEMORY);
    }
    lanes_destroy(lanes);
    stream_blocks_destroy(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_counts_what_it_counts_alone),
        cmocka_unit_test(the_same_lane_fails_at_the_same_change),
        cmocka_unit_test(sharing_changes_nothing),
        cmocka_unit_test(one_with_more_room_leads),
        cmocka_unit_test(one_that_follows_fails_at_the_same_change),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("lanes: side by side", tests, NULL, NULL);
}
