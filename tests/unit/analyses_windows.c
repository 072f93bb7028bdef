/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Windows: a random run of a program of three functions is analysed in one piece; cut into windows; and twice in parts,
 * where each half is warm-up in the one and measured in the other. Profile and call graph come out the same when it is
 * cut, and the halves add up to the whole, to the digit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyses/analyses.h"
#include "unit/made_level.h"

#define FUNCTIONS 3u
#define RECORDS 6000u
#define DEPTH 20u
#define HEAP 0x1120000000ull
#define HEAP_BYTES 0x21000ull
#define STACK 0x3fff37800000ull
#define STACK_BYTES 0x800000ull

/* ------------------------------------------------------------------ the program */

enum part { ENTRY, BODY, CALL, RETURN = CALL + FUNCTIONS, PARTS };

struct program {
    struct stream_blocks *blocks;
    uint32_t number[FUNCTIONS][PARTS];
    uint64_t words[RECORDS][3]; /* a record each: header and slots */
    enum stream_phase phase[RECORDS];
    struct c2_rng rng;
};

static uint32_t below(struct program *p, uint32_t limit) { return (uint32_t)c2_rng_below(&p->rng, limit); }

static uint64_t base_of(uint32_t function) { return 0x400000 + 0x1000 * (uint64_t)function; }

/* Two instructions; a modify and a read, or the one slot of a call or a return. */
static void add_block(struct program *p, uint32_t function, enum part part)
{
    static const struct stream_slot body[2] = {{0, 8, STREAM_MODIFY, 0}, {1, 16, STREAM_READ, 0}};
    static const struct stream_slot call[1] = {{1, 8, STREAM_WRITE, 0}}, ret[1] = {{1, 8, STREAM_READ, 0}};
    const bool is_body = part <= BODY, is_return = part == RETURN;
    const struct stream_insn insns[2] = {{.length = 4}, {.offset = 4, .first_slot = is_body ? 1 : 0, .length = 5}};
    const struct stream_block block = {.pc = {base_of(function) + 0x60 * (uint64_t)part},
                                       .bytes = 9,
                                       .insn_count = 2,
                                       .slot_count = is_body ? 2 : 1,
                                       .ending = is_body     ? STREAM_JUMP
                                                 : is_return ? STREAM_RETURN
                                                             : STREAM_CALL,
                                       .insns = insns,
                                       .slots = is_body     ? body
                                                : is_return ? ret
                                                            : call};
    assert_int_equal(C2_OK, stream_blocks_add(&p->number[function][part], p->blocks, &block, NULL));
}

/* A walk over the functions: `at` is where it stands, `up` its caller. */
static void make_run(struct program *p)
{
    uint32_t up[DEPTH], depth = 0, at = 0;
    enum part part = ENTRY;
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint64_t *words = p->words[i];
        const bool is_body = part <= BODY;
        words[0] = stream_header(p->number[at][part], 2, is_body ? 2 : 1);
        words[1] = is_body ? HEAP + 8 * below(p, HEAP_BYTES / 8 - 1) : STACK + STACK_BYTES - 64 * (depth + 1);
        words[2] = is_body ? HEAP + 64 * below(p, 24) * 7 : 0;
        if (part == RETURN) {
            at = up[--depth];
            words[1] += 64;
        } else if (!is_body) {
            up[depth++] = at;
            at = part - CALL;
        }
        const uint32_t dice = below(p, 10);
        const bool calls = is_body && dice < 2 && depth < DEPTH, returns = is_body && dice >= 8 && depth > 0;
        part = part >= CALL && part < RETURN ? ENTRY : calls ? CALL + below(p, FUNCTIONS) : returns ? RETURN : BODY;
    }
}

static void set_up(struct program *p)
{
    c2_rng_init(&p->rng, 9, "test");
    assert_int_equal(C2_OK, stream_blocks_create(&p->blocks, NULL));
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        for (uint32_t part = 0; part < PARTS; part++)
            add_block(p, f, (enum part)part);
    make_run(p);
}

/* ------------------------------------------------------------------ the machine */

static struct caches_level level(const char *name, uint64_t bytes, uint32_t ways)
{
    struct caches_level made = made_level(name, bytes, ways);
    made.latency_cycles = 9;
    return made;
}

static const struct caches_tlb tlbs[] = {
    {"DTLB", CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_4K, 8, 4, CACHES_LRU, 0, 0},
    {"ITLB", CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 2, 2, CACHES_LRU, 0, 0},
};

static struct caches_machine make_machine(void)
{
    struct caches_machine machine = {.name = "test",
                                     .line_bytes = 64,
                                     .physical_bytes = 1ull << 47,
                                     .has_l1i = true,
                                     .l1i = level("L1I", 256, 1),
                                     .level_count = 2,
                                     .levels = {level("L1D", 1024, 2), level("L2", 16384, 4)},
                                     .tlb_count = 2};
    memcpy(machine.tlbs, tlbs, sizeof tlbs);
    return machine;
}

/* ------------------------------------------------------------------ analysing it */

/* What came out of it; windows: how many, and their sum. */
struct analysed {
    struct caches_machine machine;
    struct analyses *analyses;
    struct sim *sim;
    const struct analyses_profile_result *profile;
    const struct analyses_callgraph_result *calls;
    uint32_t windows;
    struct sim_totals measured, rest;
};

static enum c2_status add_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct analysed *a = self;
    (void)err;
    a->windows++;
    sim_totals_add(window->phase == STREAM_MEASURE ? &a->measured : &a->rest, &window->of);
    return C2_OK;
}

static void map(struct analysed *a, uint64_t start, uint64_t bytes, enum mmu_kind kind)
{
    const struct mmu_area area = {.start = {start}, .bytes = bytes, .kind = kind};
    assert_int_equal(C2_OK, sim_memory(a->sim, true, &area, NULL));
}

static void create(struct analysed *a, const struct program *p)
{
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_callgraph] = "x"};
    struct sim_subscriber all[ANALYSES_KINDS + 1];
    a->machine = make_machine();
    const struct analyses_setup setup = {.machine = &a->machine, .given = given, .samples = true};
    struct sim_config config = {.machine = &a->machine,
                                .seed = 1,
                                .translation = {.translate = identity},
                                .blocks = p->blocks,
                                .samples = true};
    assert_int_equal(C2_OK, analyses_create(&a->analyses, &setup, NULL));
    analyses_subscribe(a->analyses, &config);
    memcpy(all, config.subscribers, config.subscriber_count * sizeof *all);
    all[config.subscriber_count++] = (struct sim_subscriber){.self = a, .window = add_window};
    config.subscribers = all;
    assert_int_equal(C2_OK, sim_create(&a->sim, &config, NULL));
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        assert_int_equal(C2_OK, analyses_callgraph_entry(analyses_find(a->analyses, ANALYSIS_callgraph),
                                                         (struct guest_va){base_of(f)}, false, NULL));
    map(a, HEAP, HEAP_BYTES, MMU_HEAP);
    map(a, STACK, STACK_BYTES, MMU_STACK);
}

/* cut: a mark in front of each record whose bit is set, with its phase. */
static void analyse(struct analysed *a, const struct program *p, const bool *cut)
{
    struct stream_batch *batch = calloc(1, sizeof *batch);
    *a = (struct analysed){.windows = 0};
    create(a, p);
    batch->tid = 1;
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (batch->used > 1000) {
            assert_int_equal(C2_OK, sim_consume(a->sim, batch, NULL));
            batch->used = 0;
        }
        if (cut && cut[i]) {
            batch->words[batch->used++] = stream_header(STREAM_MARK, STREAM_PHASE, 1);
            batch->words[batch->used++] = p->phase[i];
        }
        const uint32_t count = 1 + stream_header_slots(p->words[i][0]);
        memcpy(&batch->words[batch->used], p->words[i], count * sizeof **p->words);
        batch->used += count;
    }
    assert_int_equal(C2_OK, sim_consume(a->sim, batch, NULL));
    assert_int_equal(C2_OK, sim_finish(a->sim, NULL));
    a->profile = analyses_result(a->analyses, ANALYSIS_profile);
    a->calls = analyses_result(a->analyses, ANALYSIS_callgraph);
    free(batch);
}

static void end(struct analysed *a)
{
    sim_destroy(a->sim);
    analyses_destroy(a->analyses);
}

/* ------------------------------------------------------------------ comparing */

/* The row of this instruction and object; NULL: there is none. */
static const struct analyses_row *row_of(const struct analyses_profile_result *of, uint64_t pc, const char *object)
{
    for (size_t i = 0; i < of->row_count; i++)
        if (of->insns[of->rows[i].insn].pc.v == pc && strcmp(of->objects[of->rows[i].object].name, object) == 0)
            return &of->rows[i];
    return NULL;
}

static void add_row(struct analyses_tally sum[ANALYSES_LEVELS], struct analyses_translations *tlb,
                    const struct analyses_row *row)
{
    for (unsigned l = 0; l < 3 && row; l++)
        for (unsigned c = 0; c < ANALYSES_CLASSES; c++) {
            sum[l].reads[c] += row->level[l].reads[c];
            sum[l].writes[c] += row->level[l].writes[c];
            sum[l].framed += c == 0 ? row->level[l].framed : 0;
        }
    tlb->misses += row ? row->tlb.misses : 0;
    tlb->walks += row ? row->tlb.walks : 0;
}

static uint64_t executed(const struct analyses_profile_result *of, uint64_t pc)
{
    for (size_t i = 0; i < of->insn_count; i++)
        if (of->insns[i].pc.v == pc)
            return of->insns[i].executed + (of->insns[i].reads << 20) + (of->insns[i].writes << 40);
    return 0;
}

static uint64_t refs_of(const struct analyses_profile_result *of, const char *name)
{
    for (size_t i = 0; i < of->object_count; i++)
        if (strcmp(of->objects[i].name, name) == 0)
            return of->objects[i].refs;
    return 0;
}

/* parts: of the whole, `count` of them; their sums are what the whole has. */
static void profiles_add_up(const struct analysed *whole, const struct analysed *parts, unsigned count)
{
    const struct analyses_profile_result *of = whole->profile;
    for (size_t i = 0; i < of->row_count; i++) {
        struct analyses_tally sum[2][ANALYSES_LEVELS];
        struct analyses_translations tlb[2];
        memset(sum, 0, sizeof sum);
        memset(tlb, 0, sizeof tlb);
        const uint64_t pc = of->insns[of->rows[i].insn].pc.v;
        const char *object = of->objects[of->rows[i].object].name;
        add_row(sum[0], &tlb[0], &of->rows[i]);
        for (unsigned k = 0; k < count; k++)
            add_row(sum[1], &tlb[1], row_of(parts[k].profile, pc, object));
        assert_memory_equal(sum[0], sum[1], sizeof sum[0]);
        assert_memory_equal(&tlb[0], &tlb[1], sizeof tlb[0]);
    }
    for (size_t i = 0; i < of->insn_count; i++) {
        uint64_t sum = 0;
        for (unsigned k = 0; k < count; k++)
            sum += executed(parts[k].profile, of->insns[i].pc.v);
        assert_int_equal(executed(of, of->insns[i].pc.v), sum);
    }
    for (size_t i = 0; i < of->object_count; i++) {
        uint64_t sum = 0;
        for (unsigned k = 0; k < count; k++)
            sum += refs_of(parts[k].profile, of->objects[i].name);
        assert_int_equal(of->objects[i].refs, sum);
    }
    for (unsigned r = 0; r < 3 * ANALYSES_REASONS; r++) {
        uint64_t sum = 0;
        for (unsigned k = 0; k < count; k++)
            sum += parts[k].profile->reasons[r / ANALYSES_REASONS][r % ANALYSES_REASONS];
        assert_int_equal(of->reasons[r / ANALYSES_REASONS][r % ANALYSES_REASONS], sum);
    }
}

/* Each window that is measured is a sample. What its rows have missed is what the levels have counted in it; and what
 * one row has missed in all is the row's. */
static void samples_add_up(const struct analysed *a)
{
    const struct analyses_profile_result *of = a->profile;
    const struct sim_samples samples = sim_samples(a->sim);
    uint64_t(*rows)[3][ANALYSES_CLASSES] = calloc(of->row_count, sizeof *rows);
    uint64_t instructions = 0, cost = 0, others[ANALYSES_SAMPLED_KINDS] = {0};
    assert_int_equal(samples.count, of->sample_count);
    assert_int_equal(3, samples.level_count);
    for (size_t i = 0, at = 0; i < samples.count; i++) {
        struct sim_sampled sum[3] = {{.accesses = 0}};
        for (; at < of->sample_ends[i]; at++) {
            const struct analyses_sampled *entry = &of->sampled[at];
            if (entry->kind >= ANALYSES_CLASSES) {
                others[entry->kind] += entry->count;
                continue;
            }
            sum[entry->level].classes[entry->kind] += entry->count;
            rows[entry->row][entry->level][entry->kind] += entry->count;
        }
        for (unsigned l = 0; l < 3; l++)
            assert_memory_equal(sum[l].classes, samples.levels[i * 3 + l].classes, sizeof sum[l].classes);
        instructions += samples.instructions[i];
        cost += samples.costs[i];
    }
    const struct caches_cost whole = sim_cost(&a->machine, &a->measured);
    assert_int_equal(a->measured.counts.instructions, instructions);
    assert_int_equal(caches_cost_sum(&whole), cost);
    assert_int_equal(a->measured.tlb_misses, others[ANALYSES_SAMPLED_TRANSLATIONS]);
    assert_int_equal(a->measured.walks.reads, others[ANALYSES_SAMPLED_WALK_READS]);
    for (size_t i = 0; i < of->row_count; i++)
        for (unsigned k = 0; k < 3 * ANALYSES_CLASSES; k++) {
            const struct analyses_tally *tally = &of->rows[i].level[k / ANALYSES_CLASSES];
            const unsigned c = k % ANALYSES_CLASSES;
            assert_int_equal(tally->reads[c] + tally->writes[c], rows[i][k / ANALYSES_CLASSES][c]);
        }
    free(rows);
}

static uint64_t cost_of(const struct analyses_callgraph_result *of, const struct analyses_arc *arc, uint32_t event)
{
    for (size_t i = 0; i < of->arc_count; i++)
        if (of->arcs[i].from.v == arc->from.v && of->arcs[i].to.v == arc->to.v)
            return of->arcs[i].cost[event];
    return 0;
}

static void calls_add_up(const struct analysed *whole, const struct analysed *parts, unsigned count)
{
    struct analyses_events events;
    analyses_events_init(&events, &whole->machine);
    assert_true(whole->calls->arc_count > 5);
    for (size_t i = 0; i < whole->calls->arc_count; i++)
        for (uint32_t event = 0; event < events.count; event++) {
            uint64_t sum = 0;
            for (unsigned k = 0; k < count; k++)
                sum += cost_of(parts[k].calls, &whole->calls->arcs[i], event);
            assert_int_equal(whole->calls->arcs[i].cost[event], sum);
        }
}

static void totals_equal(const struct sim_totals *a, const struct sim_totals *b)
{
    assert_memory_equal(a, b, sizeof *a);
    assert_true(a->counts.instructions == 2 * RECORDS && a->levels[0].conflict > 100 && a->levels[1].conflict > 10 &&
                a->l1i.conflict > 10 && a->tlb_misses > 100);
}

static bool *random_cuts(struct program *p)
{
    bool *cut = calloc(RECORDS, sizeof *cut);
    for (uint32_t i = 0; i < RECORDS; i++)
        cut[i] = below(p, 40) == 0;
    return cut;
}

static void windows_add_up_to_the_run(void **state)
{
    (void)state;
    struct program *p = calloc(1, sizeof *p);
    struct analysed whole, cut;
    set_up(p);
    bool *cuts = random_cuts(p);
    analyse(&whole, p, NULL);
    analyse(&cut, p, cuts);
    assert_int_equal(1, whole.windows);
    assert_true(cut.windows > 100);
    totals_equal(&whole.measured, &cut.measured);
    assert_int_equal(1, sim_samples(whole.sim).count);
    assert_true(sim_samples(cut.sim).count > 100);
    samples_add_up(&whole);
    samples_add_up(&cut);
    profiles_add_up(&whole, &cut, 1);
    calls_add_up(&whole, &cut, 1);
    assert_int_equal(whole.profile->pair_count, cut.profile->pair_count);
    assert_int_equal(whole.profile->row_count, cut.profile->row_count);
    assert_int_equal(whole.calls->arc_count, cut.calls->arc_count);
    for (size_t i = 0; i < whole.calls->arc_count; i++)
        assert_int_equal(whole.calls->arcs[i].calls, cut.calls->arcs[i].calls);
    end(&whole);
    end(&cut);
    free(cuts);
    stream_blocks_destroy(p->blocks);
    free(p);
}

static void halves_add_up_to_the_run(void **state)
{
    (void)state;
    struct program *p = calloc(1, sizeof *p);
    struct analysed whole, half[2];
    set_up(p);
    bool *cuts = random_cuts(p);
    cuts[0] = true;
    analyse(&whole, p, NULL);
    for (unsigned k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < RECORDS; i++)
            p->phase[i] = k == 0 ? (below(p, 2) != 0 ? STREAM_MEASURE : STREAM_WARM)
                                 : (p->phase[i] == STREAM_MEASURE ? STREAM_WARM : STREAM_MEASURE);
        analyse(&half[k], p, cuts);
        samples_add_up(&half[k]);
        assert_true(half[k].measured.counts.instructions > RECORDS / 4);
        assert_true(half[k].rest.counts.instructions > RECORDS / 4);
    }
    assert_memory_equal(&half[0].measured, &half[1].rest, sizeof half[0].rest);
    sim_totals_add(&half[0].rest, &half[0].measured);
    totals_equal(&whole.measured, &half[0].rest);
    profiles_add_up(&whole, half, 2);
    calls_add_up(&whole, half, 2);
    end(&whole);
    end(&half[0]);
    end(&half[1]);
    free(cuts);
    stream_blocks_destroy(p->blocks);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_add_up_to_the_run),
                                       cmocka_unit_test(halves_add_up_to_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
