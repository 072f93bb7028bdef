/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The hierarchy against its slow twin: random machines, random traces, every counter and every outcome compared after
 * every access. A failure prints the machine, the seed and the access.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/caches_random.h"
#include "unit/caches_twin.h"

/* ------------------------------------------------------------------ side by side */

static bool quiet; /* differences are wanted: say nothing */

static bool same_counts(const char *level, const struct caches_counts *fast, const struct caches_counts *slow)
{
    bool same = true;
#define X(field, help) \
    if (fast->field != slow->field) { \
        if (!quiet) \
            printf("%s %s: %llu, the twin has %llu\n", level, #field, (unsigned long long)fast->field, \
                   (unsigned long long)slow->field); \
        same = false; \
    }
    CACHES_COUNTERS(X)
    CACHES_STORE_COUNTERS(X)
#undef X
    return same;
}

static bool same_fifo(const char *level, const struct analyses_fifo_counts *fast,
                      const struct analyses_fifo_counts *slow)
{
    bool same = memcmp(fast, slow, sizeof *fast) == 0;
    if (!same && !quiet)
        printf("%s: the FIFO detectors differ\n", level);
    return same;
}

static bool same_prefetches(const struct caches *caches, uint32_t number, const struct twin_level *slow)
{
    bool same = true;
    for (unsigned i = 0; i < CACHES_PREFETCHERS; i++) {
        const struct caches_prefetch_counts *fast = caches_prefetch_counts(caches, number, (enum caches_prefetcher)i);
#define X(field, help) \
    if (fast->field != slow->prefetch[i].field) { \
        if (!quiet) \
            printf("%s %s %s: %llu, the twin has %llu\n", slow->config.name, caches_prefetcher_names[i], #field, \
                   (unsigned long long)fast->field, (unsigned long long)slow->prefetch[i].field); \
        same = false; \
    }
        CACHES_PREFETCH_COUNTERS(X)
#undef X
    }
    return same;
}

/* fifo: the detector's counts; NULL: there is none. */
static bool same_state(const struct caches *caches, const struct analyses_fifo_counts *fifo, const struct twin *twin)
{
    bool same = true;
    for (uint32_t i = 0; i < twin->machine.level_count; i++)
        same &= same_counts(twin->level[i].config.name, caches_level_counts(caches, i), &twin->level[i].counts);
    for (uint32_t i = 0; i < twin->machine.level_count && fifo; i++)
        same &= same_fifo(twin->level[i].config.name, &fifo[i], &twin->level[i].fifo);
    if (twin->machine.has_l1i)
        same &= same_counts("L1I", caches_l1i_counts(caches), &twin->l1i.counts);
    if (twin->machine.has_l1i && fifo)
        same &= same_fifo("L1I", &fifo[twin->machine.level_count], &twin->l1i.fifo);
    for (uint32_t i = 0; i < twin->machine.level_count + twin->machine.has_l1i && same; i++)
        same = !caches_machine_prefetches(&twin->machine) ||
               same_prefetches(caches, i, i < twin->machine.level_count ? &twin->level[i] : &twin->l1i);
    return same;
}

static bool same_victim(const struct caches_outcome *fast, const struct caches_outcome *slow, uint32_t i)
{
    const bool evicted = slow->evicted >> i & 1;
    return (fast->evicted >> i & 1) == evicted && (!evicted || fast->event[i].victim.v == slow->event[i].victim.v);
}

/* A level that was asked. */
static bool same_event(const struct caches_event *fast, const struct caches_event *slow, bool evictors)
{
    bool same = fast->class_ == slow->class_;
    if (slow->class_ != CACHES_HIT)
        same &= fast->set_number == slow->set_number && fast->evictor == (evictors ? slow->evictor : 0);
    return same;
}

/* What a miss leaves unsaid and what a hit does is in caches.h. */
static bool same_outcomes(const struct caches_outcome *fast, const struct caches_outcome *slow, uint32_t first,
                          const struct twin *twin, bool evictors)
{
    bool same = fast->depth == slow->depth && fast->served_by == slow->served_by;
    bool hit = slow->served_by == first && slow->depth == first + 1;
    for (uint32_t i = first; i < twin->machine.level_count && same; i++) {
        same = hit || same_victim(fast, slow, i);
        if (i < slow->depth)
            same &= same_event(&fast->event[i], &slow->event[i], evictors);
    }
    if (!same && !quiet)
        printf("the outcomes differ\n");
    return same;
}

static bool same_outcome(const struct caches_outcome *fast, const struct twin *twin, bool evictors)
{
    return same_outcomes(fast, &twin->outcome, twin->entry, twin, evictors);
}

/* The stores that the last access has passed on. */
static bool same_stores(const struct caches *caches, const struct twin *twin, bool evictors)
{
    size_t count;
    const struct caches_stored *fast = caches_stored(caches, &count);
    bool same = count == twin->stored_count;
    for (size_t i = 0; i < count && same; i++)
        same = fast[i].first == twin->stored[i].first &&
               same_outcomes(&fast[i].outcome, &twin->stored[i].outcome, fast[i].first, twin, evictors);
    if (!same && !quiet)
        printf("the stores passed on differ\n");
    return same;
}

/* How the fast one is wronged. */
enum wrong { RIGHT, OTHER_LINE, OTHER_ACTOR, OTHER_PC };

struct pair {
    struct caches *caches;
    struct analysis *fifo; /* hears of the misses; NULL: there is none */
    struct twin *twin;
    bool evictors;
    struct trace trace;
    bool instructs; /* one step of four is an instruction made for caches; */
    bool begun;     /* there was one */
};

static void notify_fifo(struct pair *pair, enum sim_kind kind, uint64_t physical, const struct caches_outcome *outcome)
{
    const uint32_t first = kind == SIM_WALK ? pair->twin->machine.walks_from : 0;
    const struct sim_miss miss = {
        .kind = kind, .line = {physical}, .first = first, .measured = true, .outcome = outcome};
    struct sim_prefetched prefetched = {.measured = true};
    prefetched.events = caches_prefetched(pair->caches, &prefetched.count);
    if (outcome->served_by != first)
        analysis_fifo.subscriber(pair->fifo).missed(pair->fifo, &miss, NULL);
    if (prefetched.count > 0)
        analysis_fifo.subscriber(pair->fifo).prefetched(pair->fifo, &prefetched, NULL);
}

static bool do_walk(struct pair *pair, uint64_t physical, bool wanted)
{
    struct caches_outcome outcome;
    uint32_t served_by;
    struct line_no line = {physical};
    assert_int_equal(caches_walk(pair->caches, line, &served_by, wanted || pair->fifo ? &outcome : NULL, NULL), C2_OK);
    twin_walk(pair->twin, physical);
    if (pair->fifo)
        notify_fifo(pair, SIM_WALK, physical, &outcome);
    return served_by == pair->twin->outcome.served_by &&
           (!wanted || same_outcome(&outcome, pair->twin, pair->evictors));
}

/* In steps, as far as they go; false: not at all. */
static bool do_steps(struct pair *pair, const struct step *step, struct line_no line, struct caches_outcome *outcome)
{
    const uint32_t slot = caches_slot(pair->caches, (struct line_no){line.v - line.v % CACHES_SLOTS});
    const bool fetch = step->side == CACHES_FETCH;
    if (caches_can_defer(pair->caches) && fetch)
        caches_set_instruction(pair->caches, (struct guest_va){step->virtual_ * pair->twin->machine.line_bytes});
    switch (caches_try(pair->caches, step->side, step->write, slot + (uint32_t)(line.v % CACHES_SLOTS), line)) {
    case CACHES_UNTRIED:
        return false;
    case CACHES_TRIED:
        outcome->depth = 1;
        outcome->served_by = 0;
        outcome->event[0].class_ = CACHES_HIT;
        return true;
    default:
        caches_classify(pair->caches, outcome);
        return true;
    }
}

/* With the outcome or without, in steps or in one. */
static bool do_access(struct pair *pair, const struct step *step, uint64_t physical, bool wanted, bool try)
{
    struct caches_outcome outcome;
    struct line_no virtual_ = {step->virtual_}, line = {physical};
    twin_access(pair->twin, step->side, step->write, step->virtual_, step->physical);
    struct caches_outcome *out = wanted || pair->fifo ? &outcome : NULL;
    if (!try || !do_steps(pair, step, line, &outcome))
        assert_int_equal(caches_access(pair->caches, step->side, step->write, virtual_, line, out, NULL), C2_OK);
    if (pair->fifo)
        notify_fifo(pair, step->side == CACHES_FETCH ? SIM_FETCH : SIM_READ, physical, &outcome);
    return !wanted || same_outcome(&outcome, pair->twin, pair->evictors);
}

static bool same_pair(const struct pair *pair)
{
    return same_state(pair->caches, pair->fifo ? analysis_fifo.result(pair->fifo) : NULL, pair->twin);
}

/* On a machine that prefetches the line may be gone, and stores may have to go on. */
static bool takes_repeats(const struct caches_machine *machine)
{
    return !caches_machine_prefetches(machine) && !caches_machine_writes_on(machine);
}

/* Both do the step; the fast one its repeats in one go or one by one. */
static bool do_step(struct pair *pair, const struct step *step, enum wrong wrong)
{
    struct c2_rng *rng = &pair->trace.rng;
    uint64_t how = c2_rng_below(rng, 8);
    uint64_t physical = step->physical ^ (wrong == OTHER_LINE ? UINT64_C(1) << 40 : 0);
    if (step->other_access_site) {
        pair->twin->access_site = step->access_site;
        caches_set_access_site(pair->caches, step->access_site ^ (wrong == OTHER_ACTOR));
    }
    if (*caches_far(pair->caches) != 0) /* a hint, of any slot and line, changes nothing */
        caches_expect(pair->caches, (uint32_t)physical % 512, (struct line_no){physical});
    pair->twin->pc = wrong == OTHER_PC ? step->pc + 1 : step->pc;
    caches_set_instruction(pair->caches, (struct guest_va){step->pc});
    if (step->walk)
        return do_walk(pair, physical, how & 1) && same_pair(pair);
    bool same = do_access(pair, step, physical, how & 1, how & 4);
    if (caches_machine_writes_on(&pair->twin->machine))
        same &= same_stores(pair->caches, pair->twin, pair->evictors);
    if (!takes_repeats(&pair->twin->machine)) {
        struct step again = *step;
        again.write = !step->write;
        for (uint64_t i = 0; i < step->repeats; i++)
            same &= do_access(pair, &again, physical, how & 1, how & 4);
        return same && same_pair(pair);
    }
    struct line_no virtual_ = {step->virtual_}, line = {physical};
    if (how & 2)
        caches_repeat(pair->caches, !step->write, step->repeats);
    for (uint64_t i = 0; i < step->repeats; i++) {
        if (!(how & 2))
            caches_access(pair->caches, step->side, !step->write, virtual_, line, NULL, NULL);
        twin_access(pair->twin, step->side, !step->write, step->virtual_, step->physical);
    }
    return same && same_pair(pair);
}

/* ------------------------------------------------------------------ instructions made for caches */

static bool same_instructed(const struct pair *pair)
{
    size_t count;
    bool same = true;
    const struct caches_instructed *fast = caches_instructed(pair->caches, &count);
    for (size_t tag = 0; tag < TWIN_TAGS; tag++) {
        const struct caches_instructed *slow = &pair->twin->instructed.by[tag];
#define X(field, help) \
    if ((tag < count ? fast[tag].field : 0) != slow->field) { \
        if (!quiet) \
            printf("tag %zu %s: %llu, the twin has %llu\n", tag, #field, \
                   (unsigned long long)(tag < count ? fast[tag].field : 0), (unsigned long long)slow->field); \
        same = false; \
    }
        CACHES_INSTRUCTED_COUNTERS(X)
#undef X
    }
    return same;
}

/* Bytes of a line, whole words as a rule. */
static struct caches_past draw_store(struct pair *pair, uint64_t physical)
{
    struct c2_rng *rng = &pair->trace.rng;
    const uint32_t line = pair->twin->machine.line_bytes, unit = line <= 64 ? 1 : line / 64;
    const uint32_t drawn = unit * PICK(rng, 1, 4, 8, 16, 16), bytes = drawn < line ? drawn : line;
    return (struct caches_past){{physical}, (uint32_t)c2_rng_below(rng, line / bytes) * bytes, bytes};
}

static bool do_instruction(struct pair *pair, const struct step *step, enum wrong wrong)
{
    struct c2_rng *rng = &pair->trace.rng;
    const uint32_t tag = (uint32_t)c2_rng_below(rng, TWIN_TAGS);
    const enum caches_instruction what = (enum caches_instruction)c2_rng_below(rng, CACHES_INSTRUCTIONS);
    const struct line_no virtual_ = {step->virtual_}, line = {step->physical};
    if (!pair->begun)
        assert_int_equal(caches_instructed_begin(pair->caches, NULL), C2_OK);
    pair->begun = true;
    pair->twin->instructed.now += c2_rng_below(rng, 30);
    pair->twin->pc = step->pc;
    caches_set_instruction(pair->caches, (struct guest_va){step->pc});
    caches_set_clock(pair->caches, pair->twin->instructed.now);
    if (what != CACHES_STORE_PAST) {
        const enum caches_instruction notified = wrong == RIGHT ? what : CACHES_FLUSH;
        assert_int_equal(caches_instruct(pair->caches, notified, virtual_, line, tag, NULL), C2_OK);
        twin_instruct(pair->twin, what, step->virtual_, step->physical, tag);
        return same_pair(pair) && same_instructed(pair);
    }
    for (uint64_t n = 1 + c2_rng_below(rng, 6); n > 0; n--) {
        const struct caches_past store = draw_store(pair, step->physical);
        assert_int_equal(caches_store_past(pair->caches, &store, tag, NULL), C2_OK);
        twin_store_past(pair->twin, step->physical, store.first, store.bytes, tag);
    }
    return same_pair(pair) && same_instructed(pair);
}

static bool any_step(struct pair *pair, const struct step *step, enum wrong wrong)
{
    if (pair->instructs && c2_rng_below(&pair->trace.rng, 4) == 0)
        return do_instruction(pair, step, wrong);
    pair->twin->instructed.now += c2_rng_below(&pair->trace.rng, 9);
    if (pair->begun)
        caches_set_clock(pair->caches, pair->twin->instructed.now);
    return do_step(pair, step, pair->instructs ? RIGHT : wrong) && same_instructed(pair);
}

/* Some instructions less than all are made before the machine has seen a good part of the trace. */
static bool run_instructed(const struct caches_machine *machine, uint64_t seed, uint64_t steps, enum wrong wrong)
{
    struct pair pair = {.evictors = seed % 2 != 0, .twin = twin_create(machine, seed)};
    assert_int_equal(caches_create(&pair.caches, machine, seed, NULL), C2_OK);
    if (pair.evictors)
        assert_int_equal(caches_keep_evictors(pair.caches, NULL), C2_OK);
    trace_init(&pair.trace, machine, seed);
    const uint64_t from = c2_rng_below(&pair.trace.rng, steps / 2);
    bool same = true;
    uint64_t i;
    for (i = 0; i < steps && same; i++) {
        struct step step = next_step(&pair.trace, machine);
        pair.instructs = i >= from;
        same = any_step(&pair, &step, wrong);
        if (i % 256 == 255)
            caches_check(pair.caches);
    }
    caches_check(pair.caches);
    caches_settle_instructed(pair.caches);
    while (pair.twin->instructed.buffers != 0)
        twin_write_out(pair.twin, 0);
    same = same && same_instructed(&pair);
    if (!same && !quiet) {
        printf("seed %llu, step %llu\n", (unsigned long long)seed, (unsigned long long)i - 1);
        print_machine(machine);
    }
    caches_destroy(pair.caches);
    twin_destroy(pair.twin);
    return same;
}

#define WRONG_LINES 8 /* one alone may never be asked for again */

/* Says whether fast and slow agree all the way. From step `from` on the fast one is wronged: told other lines for a few
 * steps, or another access site. */
static bool run(const struct caches_machine *machine, uint64_t seed, uint64_t steps, enum wrong wrong, uint64_t from)
{
    const struct analyses_setup setup = {.machine = machine};
    struct pair pair = {.evictors = seed % 2 != 0 || wrong == OTHER_ACTOR, .twin = twin_create(machine, seed)};
    assert_int_equal(caches_create(&pair.caches, machine, seed, NULL), C2_OK);
    if (pair.evictors)
        assert_int_equal(caches_keep_evictors(pair.caches, NULL), C2_OK);
    if (seed % 3 != 0 && !caches_machine_writes_on(machine))
        assert_int_equal(analysis_fifo.create(&pair.fifo, &setup, NULL, NULL), C2_OK);
    trace_init(&pair.trace, machine, seed);
    bool same = true;
    uint64_t i;
    for (i = 0; i < steps && same; i++) {
        struct step step = next_step(&pair.trace, machine);
        bool now = i >= from && (wrong != OTHER_LINE || i < from + WRONG_LINES);
        same = do_step(&pair, &step, now ? wrong : RIGHT);
        if (i % 1024 == 1023)
            caches_check(pair.caches);
    }
    caches_check(pair.caches);
    if (!same && !quiet) {
        printf("seed %llu, step %llu\n", (unsigned long long)seed, (unsigned long long)i - 1);
        print_machine(machine);
    }
    caches_destroy(pair.caches);
    if (pair.fifo)
        analysis_fifo.destroy(pair.fifo);
    twin_destroy(pair.twin);
    return same;
}

static void run_many(uint64_t first, uint64_t machines, uint64_t steps)
{
    for (uint64_t seed = first; seed < first + machines; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        assert_true(run(&machine, seed, steps, RIGHT, 0));
    }
}

/* ------------------------------------------------------------------ tests */

#if defined(__SANITIZE_ADDRESS__) || defined(C2_STRESS)
enum { MACHINES = 400, STEPS = 2000 }; /* each takes four times as long; it is about memory and promises */
#else
enum { MACHINES = 2000, STEPS = 8000 };
#endif

static void many_machines(void **state)
{
    (void)state;
    run_many(1, MACHINES, 1500);
}

static void long_runs(void **state)
{
    (void)state;
    run_many(100001, 20, 60000);
}

static enum caches_policy policy_for(const struct caches_level *level, enum caches_policy policy)
{
    const bool may = level->inclusion != CACHES_EXCLUSIVE || !caches_policy_needs_misses(policy);
    return may ? policy : CACHES_SRRIP;
}

/* Each policy at each depth, with each inclusion, in front of a common L1: none of the combinations may be left to the
 * luck of the draw. */
static void every_combination(void **state)
{
    (void)state;
    struct caches_machine machine = {.line_bytes = 64, .level_count = 3, .has_l1i = true};
    machine.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 64 * 8 * 2, .ways = 2, .slices = 1};
    machine.l1i = (struct caches_level){.name = "L1I", .size_bytes = 64 * 4 * 2, .ways = 2, .slices = 1};
    machine.levels[1] = (struct caches_level){.name = "L2", .size_bytes = 64 * 8 * 4, .ways = 4, .slices = 1};
    machine.levels[2] = (struct caches_level){
        .name = "L3", .size_bytes = 64 * 8 * 8, .ways = 8, .slices = 2, .hash = "lin2"};
    uint64_t seed = 1;
    for (unsigned policy = CACHES_LRU; policy < CACHES_MRU3_PLRU4; policy++)
        for (unsigned inclusion = 0; inclusion < 9; inclusion++) {
            machine.levels[1].inclusion = (enum caches_inclusion)(inclusion % 3);
            machine.levels[2].inclusion = (enum caches_inclusion)(inclusion / 3);
            for (uint32_t i = 0; i < 3; i++)
                machine.levels[i].policy = policy_for(&machine.levels[i], (enum caches_policy)policy);
            machine.walks_from = seed % 3;
            assert_true(run(&machine, seed++, STEPS, RIGHT, 0));
        }
}

/* The same machines with prefetchers. */
static void prefetching_machines(void **state)
{
    (void)state;
    uint64_t prefetching = 0;
    for (uint64_t seed = 1; seed <= MACHINES / 10; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        add_prefetchers(&machine, &rng);
        prefetching += caches_machine_prefetches(&machine);
        assert_true(run(&machine, seed, 1500, RIGHT, 0));
    }
    assert_true(prefetching > MACHINES / 20);
}

/* The same machines, of which levels let stores go on. The FIFO detector does not hear of those. */
static void writing_machines(void **state)
{
    (void)state;
    uint64_t writing = 0;
    for (uint64_t seed = 1; seed <= MACHINES / 4; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        add_writes(&machine, &rng);
        writing += caches_machine_writes_on(&machine);
        assert_true(run(&machine, seed, 1500, RIGHT, 0));
    }
    assert_true(writing > MACHINES / 10);
}

/* The same machines, of which levels have ways that are not filled; some prefetch, some let stores go on. */
static void masked_machines(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES / 4; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        add_masks(&machine, &rng);
        if (seed % 4 == 0)
            add_prefetchers(&machine, &rng);
        else if (seed % 4 == 1)
            add_writes(&machine, &rng);
        assert_true(run(&machine, seed, 1500, RIGHT, 0));
    }
}

/* Instructions made for caches, on machines with prefetchers and without. Usual ones are so until the first. */
static void instructed_machines(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES / 4; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        add_hints(&machine, &rng);
        if (seed % 3 == 0)
            add_prefetchers(&machine, &rng);
        else if (seed % 3 == 1)
            add_writes(&machine, &rng);
        if (seed % 5 == 0)
            add_masks(&machine, &rng);
        assert_true(run_instructed(&machine, seed, 1500, RIGHT));
    }
}

static void wrong_hint_is_caught(void **state)
{
    (void)state;
    quiet = true;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        add_hints(&machine, &rng);
        assert_false(run_instructed(&machine, seed, 1500, OTHER_LINE));
    }
    quiet = false;
}

/* An instruction told wrongly is noticed where a prefetcher or a policy looks at it. */
static void wrong_instruction_is_caught(void **state)
{
    (void)state;
    struct caches_machine machine = {.line_bytes = 64, .level_count = 1};
    machine.levels[0] = (struct caches_level){.name = "L1D",
                                              .size_bytes = 64 * 8 * 2,
                                              .ways = 2,
                                              .slices = 1,
                                              .prefetchers = 1u << CACHES_PREFETCH_STRIDE,
                                              .stride_distance = 1};
    quiet = true;
    assert_true(run(&machine, 1, 3000, RIGHT, 0));
    assert_false(run(&machine, 1, 3000, OTHER_PC, 0));
    machine.levels[0].prefetchers = 0;
    machine.levels[0].policy = CACHES_SHIP; /* which does not mind other instructions as long as they stay the same */
    assert_true(run(&machine, 1, 3000, RIGHT, 0));
    assert_false(run(&machine, 1, 3000, OTHER_PC, 1500));
    quiet = false;
}

/* The check can fail: lines told wrongly and access sites told wrongly are noticed on every machine. */
static void mutant_is_caught(void **state)
{
    (void)state;
    quiet = true;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        assert_false(run(&machine, seed, 2000, OTHER_LINE, 10 * seed));
        assert_false(run(&machine, seed, 4000, OTHER_ACTOR, 10 * seed));
    }
    quiet = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_machines),
        cmocka_unit_test(long_runs),
        cmocka_unit_test(every_combination),
        cmocka_unit_test(prefetching_machines),
        cmocka_unit_test(writing_machines),
        cmocka_unit_test(masked_machines),
        cmocka_unit_test(instructed_machines),
        cmocka_unit_test(wrong_hint_is_caught),
        cmocka_unit_test(wrong_instruction_is_caught),
        cmocka_unit_test(mutant_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
