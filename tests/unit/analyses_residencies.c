/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Stays of lines in levels, beside a twin that sees each line come into each level and leave it, on random machines:
 * every policy and inclusion, prefetchers, page walks, synonyms. Of several cores beside what the caches count, access
 * by access.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyses/residencies_priv.h"
#include "unit/caches_random.h"
#include "unit/caches_twin.h"

enum { MOST_ENDED = 1 << 17, MOST_BYTES = 4096 };

/* A line in a level, its bytes one by one. */
struct slow_residency {
    uint32_t level, loader;
    uint64_t line, accesses;
    bool touched[MOST_BYTES];
    struct slow_residency *next;
};

/* What is notified of the end of a residency, as one number each. */
struct ended {
    uint64_t list[MOST_ENDED];
    uint32_t count;
};

struct both {
    const struct caches_machine *machine;
    struct caches *caches;
    struct twin *twin;
    struct residencies *residencies;
    struct slow_residency *slow; /* the youngest first */
    struct ended fast_ended, slow_ended;
    uint32_t access_site; /* of the step */
    bool fetch;
    struct trace trace;
    struct c2_rng rng;
    bool mutant; /* the twin touches a byte more */
};

static void note(struct ended *ended, uint32_t level, uint32_t loader, uint64_t accesses, uint64_t bytes_hash)
{
    uint64_t word = level;
    word = word * UINT64_C(0x9e3779b97f4a7c15) + loader;
    word = (word ^ word >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + accesses;
    word = (word ^ word >> 32) * UINT64_C(0x94d049bb133111eb) + bytes_hash;
    if (ended->count == MOST_ENDED)
        fail_msg("too many stays");
    ended->list[ended->count++] = word;
}

static enum c2_status fast_end(void *self, uint32_t level, const struct residency *residency, const uint64_t *mask,
                               enum residencies_end end, uint32_t evictor, struct c2_error *err)
{
    struct both *both = self;
    uint64_t hash = 0;
    (void)err;
    assert_true((end == STAYS_LEFT) == (evictor == STAYS_NOBODY));
    assert_true(end == STAYS_LEFT || evictor == both->access_site);
    for (uint32_t i = 0; i < both->machine->line_bytes; i++)
        hash = hash * 31 + (mask[i / 64] >> i % 64 & 1);
    note(&both->fast_ended, level, residency->loader, residency->accesses, hash);
    return C2_OK;
}

static void slow_end(struct both *both, struct slow_residency **at)
{
    struct slow_residency *residency = *at;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < both->machine->line_bytes; i++)
        hash = hash * 31 + residency->touched[i];
    note(&both->slow_ended, residency->level, residency->loader, residency->accesses, hash);
    *at = residency->next;
    free(residency);
}

static struct slow_residency **slow_find(struct both *both, uint32_t level, uint64_t line)
{
    struct slow_residency **at = &both->slow;
    while (*at && ((*at)->level != level || (*at)->line != line))
        at = &(*at)->next;
    return at;
}

static uint32_t number_of(const struct both *both, const struct twin_level *level)
{
    return level == &both->twin->l1i ? both->machine->level_count : (uint32_t)(level - both->twin->level);
}

/* What comes into an exclusive level from above has its loader: it has left a level above just before. */
enum { LOST = 64 };
static struct {
    uint32_t level, loader;
    uint64_t line;
} lost[LOST];
static uint32_t lost_count;

static uint32_t loader_above(const struct both *both, uint32_t level, uint64_t line)
{
    for (uint32_t i = 1; i <= LOST; i++) {
        const uint32_t at = (lost_count - i) % LOST;
        if (lost[at].line == line &&
            (lost[at].level + 1 == level || (level == 1 && lost[at].level == both->machine->level_count)))
            return lost[at].loader;
    }
    fail_msg("nobody had the line");
    return 0;
}

static void slow_touch(struct both *both, uint32_t level, uint64_t line, uint32_t from, uint32_t bytes);
static uint32_t step_from, step_bytes;
static uint64_t step_line;

static void moved(void *self, const struct twin_level *level, uint64_t physical, bool came)
{
    struct both *both = self;
    const uint32_t number = number_of(both, level);
    const bool exclusive = level->config.inclusion == CACHES_EXCLUSIVE;
    struct slow_residency **at = slow_find(both, number, physical);
    if (!came) {
        assert_non_null(*at);
        lost[lost_count % LOST].level = number;
        lost[lost_count % LOST].line = physical;
        lost[lost_count++ % LOST].loader = (*at)->loader;
        /* The access takes the line up from where it was: that is its last use there. */
        if (exclusive && physical == step_line && !both->twin->target && both->twin->outcome.served_by == number)
            slow_touch(both, number, physical, step_from, step_bytes);
        slow_end(both, at);
        return;
    }
    assert_null(*at);
    struct slow_residency *residency = calloc(1, sizeof *residency);
    const bool from_above = exclusive && (physical != step_line || number != both->twin->entry) &&
                            (!both->twin->target || level != both->twin->target);
    *residency = (struct slow_residency){.level = number, .line = physical, .next = both->slow};
    residency->loader = from_above ? loader_above(both, number, physical) : both->access_site;
    both->slow = residency;
}

static void slow_touch(struct both *both, uint32_t level, uint64_t line, uint32_t from, uint32_t bytes)
{
    struct slow_residency *residency = *slow_find(both, level, line);
    if (!residency)
        return;
    residency->accesses++;
    for (uint32_t i = from; i < from + bytes; i++)
        residency->touched[i] = true;
}

/* ------------------------------------------------------------------ one step */

static void notify_prefetches(struct both *both, const struct residencies_access_site *access_site)
{
    size_t count;
    const struct caches_prefetched *events = caches_prefetched(both->caches, &count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(residencies_prefetched(both->residencies, &events[i], access_site, NULL), C2_OK);
}

/* As line_use.c does it, and the twin. Touches come before what prefetchers do behind the access. */
static void do_step(struct both *both, const struct step *step)
{
    const uint32_t first = step->walk ? both->machine->walks_from : 0, levels = both->machine->level_count;
    const bool fetch = step->side == CACHES_FETCH && !step->walk;
    const struct line_no line = {step->physical};
    const struct residencies_access_site access_site = {++both->access_site, {0}, true};
    struct caches_outcome outcome;
    uint32_t served_by;
    step_from = (uint32_t)c2_rng_below(&both->rng, both->machine->line_bytes);
    step_bytes = 1 + (uint32_t)c2_rng_below(&both->rng, both->machine->line_bytes - step_from);
    step_line = step->physical;
    caches_set_instruction(both->caches, (struct guest_va){step->walk || fetch ? 0 : step->pc});
    both->twin->pc = step->walk || fetch ? 0 : step->pc;
    if (step->walk)
        assert_int_equal(caches_walk(both->caches, line, &served_by, &outcome, NULL), C2_OK);
    else
        assert_int_equal(caches_access(both->caches, step->side, step->write, (struct line_no){step->virtual_}, line,
                                       &outcome, NULL),
                         C2_OK);
    assert_int_equal(residencies_missed(both->residencies, line.v, fetch, first, &outcome, &access_site, step_from,
                                        step_bytes, NULL),
                     C2_OK);
    residencies_touch(both->residencies, line.v, fetch, first, step_from, step_bytes);
    notify_prefetches(both, &access_site);
    /* The twin's prefetches are part of its access: it is stopped between the two. */
    const enum caches_side side = step->walk ? CACHES_DATA : step->side;
    const uint64_t virtual_ = step->walk ? step->physical : step->virtual_;
    twin_access_levels(both->twin, side, first, step->write, virtual_, step->physical);
    for (uint32_t i = first; i < levels; i++)
        slow_touch(both, i == 0 && fetch ? levels : i, step->physical, step_from,
                   step_bytes + (both->mutant && step_from + step_bytes < both->machine->line_bytes));
    twin_follow(both->twin, side, virtual_, step->physical);
}

static void stop(struct both *both)
{
    caches_destroy(both->caches);
    twin_destroy(both->twin);
    residencies_destroy(both->residencies);
    while (both->slow) {
        struct slow_residency *next = both->slow->next;
        free(both->slow);
        both->slow = next;
    }
    free(both);
}

static int by_word(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return *one < *other ? -1 : *one > *other;
}

static bool same_ended(struct both *both)
{
    struct ended *fast = &both->fast_ended, *slow = &both->slow_ended;
    qsort(fast->list, fast->count, sizeof fast->list[0], by_word);
    qsort(slow->list, slow->count, sizeof slow->list[0], by_word);
    return fast->count == slow->count && memcmp(fast->list, slow->list, fast->count * sizeof fast->list[0]) == 0;
}

static bool run(const struct caches_machine *machine, uint64_t seed, uint32_t steps, bool mutant)
{
    struct both *both = calloc(1, sizeof *both);
    const struct residencies_listener listener = {both, NULL, fast_end};
    both->machine = machine;
    both->mutant = mutant;
    both->twin = twin_create(machine, seed);
    both->twin->moved = moved;
    both->twin->self = both;
    assert_int_equal(caches_create(&both->caches, machine, seed, NULL), C2_OK);
    assert_int_equal(residencies_create(&both->residencies, machine, &listener, NULL), C2_OK);
    trace_init(&both->trace, machine, seed);
    c2_rng_init(&both->rng, seed, "bytes");
    for (uint32_t i = 0; i < steps; i++) {
        const struct step step = next_step(&both->trace, machine);
        do_step(both, &step);
        if (i % 256 == 255)
            residencies_check(both->residencies);
    }
    residencies_check(both->residencies);
    both->access_site = STAYS_NOBODY;
    assert_int_equal(residencies_end_all(both->residencies, NULL), C2_OK);
    while (both->slow)
        slow_end(both, &both->slow);
    const bool same = same_ended(both);
    if (!same && !mutant) {
        printf("seed %llu: %u and %u stays\n", (unsigned long long)seed, both->fast_ended.count,
               both->slow_ended.count);
        print_machine(machine);
    }
    stop(both);
    return same;
}

/* ------------------------------------------------------------------ tests */

#if defined(__SANITIZE_ADDRESS__) || defined(C2_NO_SHORTCUTS)
enum { MACHINES = 40 };
#else
enum { MACHINES = 100 };
#endif

static void residencies_are_the_twins(void **state)
{
    uint64_t prefetching = 0, exclusive = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "machine");
        struct caches_machine machine = random_machine(&rng);
        if (seed % 2 == 0)
            add_prefetchers(&machine, &rng);
        prefetching += caches_machine_prefetches(&machine);
        for (uint32_t i = 1; i < machine.level_count; i++)
            exclusive += machine.levels[i].inclusion == CACHES_EXCLUSIVE;
        assert_true(run(&machine, seed, 800, false));
    }
    assert_true(prefetching > MACHINES / 4 && exclusive > MACHINES / 10);
}

static void a_byte_more_is_noticed(void **state)
{
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 4, "machine");
    struct caches_machine machine = random_machine(&rng);
    assert_false(run(&machine, 4, 3000, true));
}

/* ------------------------------------------------------------------ several cores */

/* How stays began and ended, by level. */
struct counted {
    uint64_t began, ended[STAYS_LEFT + 1];
};
static struct counted counted[CACHES_MAX_LEVELS + 1];

static enum c2_status count_end(void *self, uint32_t level, const struct residency *residency, const uint64_t *mask,
                                enum residencies_end end, uint32_t evictor, struct c2_error *err)
{
    (void)self, (void)residency, (void)mask, (void)evictor, (void)err;
    counted[level].ended[end]++;
    counted[level].began++; /* each ends, once */
    return C2_OK;
}

static struct caches_machine random_cores(struct c2_rng *rng)
{
    struct caches_machine machine = random_machine(rng);
    while (machine.line_bytes > CACHES_MAX_COHERENT_LINE)
        machine = random_machine(rng);
    machine.cores = 2 + (uint32_t)c2_rng_below(rng, 3);
    const uint32_t own = 1 + (uint32_t)c2_rng_below(rng, machine.level_count);
    for (uint32_t i = own; i < machine.level_count; i++)
        machine.levels[i].shared = true;
    const uint32_t slices = own < machine.level_count ? machine.levels[own].slices : 1;
    if (own < machine.level_count && machine.levels[own].inclusion == CACHES_INCLUSIVE)
        return machine;
    machine.filter_ways = (uint32_t)c2_rng_below(rng, 4); /* 0: without bounds */
    machine.filter_lines = machine.filter_ways * slices * (1 + (uint32_t)c2_rng_below(rng, 8));
    return machine;
}

/* mutant: writes take nothing. */
static void step_on_core(struct residencies *residencies, struct caches *caches, const struct step *step,
                         struct c2_rng *rng, bool mutant)
{
    const struct caches_machine *machine = caches_machine(caches);
    const uint32_t first = step->walk ? machine->walks_from : 0, core = (uint32_t)c2_rng_below(rng, machine->cores);
    const bool fetch = step->side == CACHES_FETCH && !step->walk, write = step->write && !step->walk && !fetch;
    const struct line_no line = {step->physical};
    const struct residencies_access_site access_site = {1, {0}, true};
    struct caches_outcome outcome;
    uint32_t served_by;
    caches_on_core(caches, &(struct caches_origin){.core = core, .bytes = machine->line_bytes});
    if (step->walk)
        assert_int_equal(caches_walk(caches, line, &served_by, &outcome, NULL), C2_OK);
    else
        assert_int_equal(
            caches_access(caches, step->side, write, (struct line_no){step->virtual_}, line, &outcome, NULL), C2_OK);
    residencies_on_core(residencies, core);
    if (write && !mutant)
        assert_int_equal(residencies_written(residencies, line.v, 2, NULL), C2_OK);
    assert_int_equal(residencies_missed(residencies, line.v, fetch, first, &outcome, &access_site, 0, 1, NULL), C2_OK);
    residencies_touch(residencies, line.v, fetch, first, 0, 1);
}

/* What is there at the end began as well: so began is the misses of a level that is not exclusive. */
static bool level_agrees(const struct caches *caches, uint32_t level)
{
    const struct caches_machine *machine = caches_machine(caches);
    const bool l1i = level == machine->level_count, own = l1i || level < caches_machine_private(machine);
    const bool exclusive = !l1i && machine->levels[level].inclusion == CACHES_EXCLUSIVE;
    uint64_t taken = 0, filtered = 0;
    for (uint32_t core = 0; core < machine->cores && own; core++) {
        taken += caches_core_level(caches, core, level)->invalidations;
        filtered += caches_core_level(caches, core, level)->filter_invalidations;
    }
    const struct caches_counts *n = l1i ? caches_l1i_counts(caches) : caches_level_counts(caches, level);
    return (exclusive || counted[level].began == n->misses) && counted[level].ended[STAYS_TAKEN] == taken &&
           counted[level].ended[STAYS_FILTERED] == filtered;
}

static bool cores_agree(const struct caches_machine *machine, uint64_t seed, bool mutant)
{
    const struct residencies_listener listener = {NULL, NULL, count_end};
    struct caches *caches;
    struct residencies *residencies;
    struct trace trace;
    struct c2_rng rng;
    uint64_t invalidated = 0, back = 0;
    memset(counted, 0, sizeof counted);
    assert_int_equal(caches_create(&caches, machine, seed, NULL), C2_OK);
    assert_int_equal(residencies_create(&residencies, caches_machine(caches), &listener, NULL), C2_OK);
    trace_init(&trace, machine, seed);
    c2_rng_init(&rng, seed, "cores");
    for (uint32_t i = 0; i < 800; i++) {
        const struct step step = next_step(&trace, machine);
        step_on_core(residencies, caches, &step, &rng, mutant);
    }
    residencies_check(residencies);
    assert_int_equal(residencies_end_all(residencies, NULL), C2_OK);
    bool agree = true;
    for (uint32_t i = 0; i < machine->level_count + machine->has_l1i; i++) {
        agree &= level_agrees(caches, i);
        invalidated += counted[i].ended[STAYS_INVALIDATED];
        back += i < machine->level_count ? caches_level_counts(caches, i)->back_invalidations : 0;
    }
    caches_destroy(caches);
    residencies_destroy(residencies);
    return agree && invalidated == back;
}

static void cores_are_as_the_caches_count(void **state)
{
    uint64_t taken = 0, filtered = 0, mutants = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        struct c2_rng rng;
        c2_rng_init(&rng, seed, "cores");
        const struct caches_machine machine = random_cores(&rng);
        if (!cores_agree(&machine, seed, false)) {
            print_machine(&machine);
            fail_msg("seed %llu, %u cores", (unsigned long long)seed, machine.cores);
        }
        taken += counted[0].ended[STAYS_TAKEN];
        filtered += counted[0].ended[STAYS_FILTERED];
        mutants += seed <= 10 && !cores_agree(&machine, seed, true);
    }
    assert_true(taken > MACHINES && filtered > MACHINES);
    assert_true(mutants > 7); /* a small filter leaves little to take */
}

/* Lines of 128 bytes have two words of mask. */
static void masks(void **state)
{
    uint64_t mask[2] = {0, 0};
    (void)state;
    residencies_mask_add(mask, 60, 8);
    assert_int_equal(mask[0], UINT64_C(0xf) << 60);
    assert_int_equal(mask[1], 0xf);
    residencies_mask_add(mask, 0, 64);
    assert_int_equal(mask[0], UINT64_MAX);
    residencies_mask_add(mask, 127, 1);
    assert_int_equal(residencies_mask_count(mask, 2), 64 + 5);
}

/* ------------------------------------------------------------------ want of memory */

static enum c2_status hears_nothing(void *self, uint32_t level, const struct residency *residency, const uint64_t *mask,
                                    enum residencies_end end, uint32_t evictor, struct c2_error *err)
{
    (void)self, (void)level, (void)residency, (void)mask, (void)end, (void)evictor, (void)err;
    return C2_OK;
}

static void want_of_memory_is_said(void **state)
{
    const struct caches_machine machine = {.line_bytes = 64, .level_count = 1, .levels = {{.name = "L1D"}}};
    const struct residencies_listener listener = {NULL, NULL, hears_nothing};
    const struct caches_outcome outcome = {.served_by = 1, .depth = 1};
    enum c2_status status = C2_ERR_NO_MEMORY;
    (void)state;
    for (uint64_t n = 1; status != C2_OK && n < 1000; n++) {
        struct c2_error err;
        struct residencies *residencies;
        const struct residencies_access_site access_site = {0, {0}, true};
        c2_alloc_fail_from(n);
        status = residencies_create(&residencies, &machine, &listener, &err);
        for (uint64_t line = 0; line < 3000 && status == C2_OK; line++)
            status = residencies_missed(residencies, line, false, 0, &outcome, &access_site, 0, 8, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        residencies_destroy(residencies);
    }
    assert_int_equal(status, C2_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residencies_are_the_twins),     cmocka_unit_test(a_byte_more_is_noticed),
        cmocka_unit_test(cores_are_as_the_caches_count), cmocka_unit_test(masks),
        cmocka_unit_test(want_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
