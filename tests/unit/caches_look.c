/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A look at a set against the slow twin's ways: random machines and traces; behind each access the set that it went to
 * at one level is looked at, and what the look names as the next victim must be what the next eviction there takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/caches_random.h"
#include "unit/caches_twin.h"

/* How often the expectation is wronged. */
enum wrong { RIGHT, OTHER_DIRT, OTHER_VICTIM };

static const struct twin_level *level_of(const struct twin *twin, uint32_t number)
{
    return number < twin->machine.level_count ? &twin->level[number] : &twin->l1i;
}

/* ------------------------------------------------------------------ what the twin would show */

static uint32_t order_of(const struct twin_set *set, uint32_t way)
{
    for (int i = 0; i < set->ordered; i++)
        if (set->order[i] == (int)way)
            return (uint32_t)i;
    return UINT32_MAX;
}

static uint32_t value_of(const struct twin_level *level, const struct twin_way *way)
{
    switch (level->config.policy) {
    case CACHES_NRU:
        return (uint32_t)way->unused;
    case CACHES_SRRIP:
    case CACHES_BRRIP:
    case CACHES_DRRIP:
    case CACHES_SHIP:
    case CACHES_SHIP_MEM:
        return (uint32_t)way->prediction;
    default:
        return 0;
    }
}

/* The lowest empty way that may be filled, else the victim. What choosing changes is a copy, of that alone which a
 * choice depends on: a level of the twin has more than a megabyte. */
static uint32_t next_way(const struct twin_level *level, const struct twin_set *set)
{
    static struct twin_level chooses;
    struct twin_set ways = *set;
    chooses.config = level->config;
    chooses.rng = level->rng;
    for (uint32_t w = 0; w < level->config.ways; w++)
        if (!set->way[w].valid && twin_may(level, (int)w))
            return w;
    return (uint32_t)twin_victim(&chooses, &ways);
}

/* ------------------------------------------------------------------ side by side */

static bool same_way(const struct caches_way *way, const struct twin_level *level, const struct twin_set *set,
                     uint32_t w)
{
    const struct twin_way *slow = &set->way[w];
    if (!slow->valid)
        return !way->holds;
    const bool ordered = level->config.policy == CACHES_LRU || level->config.policy == CACHES_FIFO;
    return way->holds && way->line.v == slow->physical && way->dirty == slow->dirty &&
           way->value == value_of(level, slow) && (!ordered || way->order == order_of(set, w));
}

/* Listed by age: the n-th is the twin's n-th in order. */
static bool same_by_age(const struct caches_set *look, const struct twin_level *level, const struct twin_set *set)
{
    bool same = look->victim == (set->ordered < (int)look->ways ? (uint32_t)set->ordered : look->ways - 1);
    for (uint32_t i = 0; i < look->ways; i++)
        same &= (int)i < set->ordered ? same_way(&look->way[i], level, set, (uint32_t)set->order[i])
                                      : !look->way[i].holds && look->way[i].order == i;
    return same;
}

static bool same_by_number(const struct caches_set *look, const struct twin_level *level, const struct twin_set *set)
{
    bool same = look->victim == next_way(level, set);
    for (uint32_t w = 0; w < look->ways; w++)
        same &= same_way(&look->way[w], level, set, w) && (look->allowed >> w & 1) == twin_may(level, (int)w);
    for (uint32_t node = 1; node < look->ways && look->policy == CACHES_TREE_PLRU; node++)
        same &= (look->tree >> node & 1) == set->tree[node];
    if (look->policy != CACHES_DRRIP)
        return same;
    const char *const roles = "\0sb";
    return same && look->selector == (uint32_t)level->selector && roles[look->role] == set->leads;
}

static bool same_set(struct caches_set *look, const struct twin_level *level, const struct twin_set *set,
                     enum wrong wrong)
{
    look->way[0].dirty ^= wrong == OTHER_DIRT;
    look->victim ^= wrong == OTHER_VICTIM;
    const bool by_age = level->config.policy == CACHES_LRU && level->config.mask_count == 0;
    bool same = look->policy == level->config.policy && look->ways == level->config.ways && look->by_age == by_age;
    return same && (by_age ? same_by_age(look, level, set) : same_by_number(look, level, set));
}

static bool look_at(const struct caches *caches, const struct twin *twin, uint32_t number, const struct step *step,
                    enum wrong wrong)
{
    const struct twin_level *level = level_of(twin, number);
    uint32_t index, slice;
    const struct line_no line = {step->physical}, virtual_line = {step->walk ? step->physical : step->virtual_};
    const struct twin_set *set = twin_home(twin, level, virtual_line.v, line.v, &index, &slice);
    const struct caches_place place = caches_place_of(caches, number, virtual_line, line);
    struct caches_set look;
    if (place.index != index || place.slice != slice || place.set != (uint32_t)(set - level->set))
        return false;
    caches_look(&look, caches, 0, number, place.set);
    return same_set(&look, level, set, wrong);
}

static void do_step(struct caches *caches, struct twin *twin, const struct step *step)
{
    const struct line_no physical = {step->physical}, virtual_line = {step->virtual_};
    uint32_t served_by;
    caches_set_instruction(caches, (struct guest_va){step->pc});
    twin->pc = step->pc;
    if (step->walk) {
        assert_int_equal(caches_walk(caches, physical, &served_by, NULL, NULL), C2_OK);
        twin_walk(twin, step->physical);
        return;
    }
    assert_int_equal(caches_access(caches, step->side, step->write, virtual_line, physical, NULL, NULL), C2_OK);
    twin_access(twin, step->side, step->write, step->virtual_, step->physical);
}

static bool run(const struct caches_machine *machine, uint64_t seed, uint64_t steps, enum wrong wrong)
{
    struct caches *caches;
    struct trace trace;
    struct twin *twin = twin_create(machine, seed);
    assert_int_equal(caches_create(&caches, machine, seed, NULL), C2_OK);
    trace_init(&trace, machine, seed);
    bool same = true;
    for (uint64_t i = 0; i < steps && same; i++) {
        const struct step step = next_step(&trace, machine);
        const uint32_t number = (uint32_t)(i % (machine->level_count + machine->has_l1i));
        do_step(caches, twin, &step);
        same = look_at(caches, twin, number, &step, i == steps - 1 ? wrong : RIGHT);
        if (!same && wrong == RIGHT)
            printf("seed %llu, step %llu, level %u\n", (unsigned long long)seed, (unsigned long long)i, number);
    }
    if (!same && wrong == RIGHT)
        print_machine(machine);
    caches_destroy(caches);
    twin_destroy(twin);
    return same;
}

/* ------------------------------------------------------------------ tests */

enum { MACHINES = 300, STEPS = 600 };

static struct caches_machine draw(uint64_t seed)
{
    struct c2_rng rng;
    c2_rng_init(&rng, seed, "machine");
    struct caches_machine machine = random_machine(&rng);
    if (seed % 4 == 1)
        add_masks(&machine, &rng);
    if (seed % 4 == 2)
        add_prefetchers(&machine, &rng);
    if (seed % 4 == 3)
        add_writes(&machine, &rng);
    return machine;
}

static void many_machines(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        const struct caches_machine machine = draw(seed);
        assert_true(run(&machine, seed, STEPS, RIGHT));
    }
}

/* A set of another state is noticed. */
static void wrong_sets(void **state)
{
    (void)state;
    struct caches_machine machine = {.name = "small", .line_bytes = 64, .level_count = 1};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 512, .ways = 4, .slices = 1, .hash = "none", .policy = CACHES_SRRIP};
    assert_true(run(&machine, 1, STEPS, RIGHT));
    assert_false(run(&machine, 1, STEPS, OTHER_DIRT));
    assert_false(run(&machine, 1, STEPS, OTHER_VICTIM));
}

/* To look changes nothing: with and without, a level that draws comes to the same counts. */
static void looks_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const struct caches_machine machine = draw(seed);
        struct caches *seen, *unseen;
        struct trace trace;
        struct caches_set look;
        trace_init(&trace, &machine, seed);
        assert_int_equal(caches_create(&seen, &machine, seed, NULL), C2_OK);
        assert_int_equal(caches_create(&unseen, &machine, seed, NULL), C2_OK);
        for (unsigned i = 0; i < STEPS; i++) {
            struct step step = next_step(&trace, &machine);
            step.walk = false;
            const struct line_no line = {step.physical}, virtual_line = {step.virtual_};
            for (uint32_t level = 0; level < machine.level_count; level++)
                caches_look(&look, seen, 0, level, caches_place_of(seen, level, virtual_line, line).set);
            assert_int_equal(caches_access(seen, step.side, step.write, virtual_line, line, NULL, NULL), C2_OK);
            assert_int_equal(caches_access(unseen, step.side, step.write, virtual_line, line, NULL, NULL), C2_OK);
        }
        for (uint32_t level = 0; level < machine.level_count; level++)
            assert_memory_equal(caches_level_counts(seen, level), caches_level_counts(unseen, level),
                                sizeof(struct caches_counts));
        caches_check(seen);
        caches_destroy(seen);
        caches_destroy(unseen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_machines),
        cmocka_unit_test(wrong_sets),
        cmocka_unit_test(looks_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
