/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The accesses of a loop to an object, by order and search, against a walk over all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "findings/findings_priv.h"

enum { ACCESSES = 300, INSNS = 60, LOOPS = 5, OBJECTS = 7 };

static struct analyses_access accesses[ACCESSES];
static uint32_t loop_of[INSNS];
static struct analyses_excerpts_result excerpts = {.accesses = accesses, .loops = {.loop_of = loop_of}};

/* Loops are 0 to LOOPS - 1 and none; the last ones have no access, nor have some objects. */
static void draw(unsigned count)
{
    excerpts.access_count = count;
    for (unsigned i = 0; i < INSNS; i++)
        loop_of[i] = rand() % 4 == 0 ? ANALYSES_NO_LOOP : (uint32_t)rand() % (LOOPS - 1);
    for (unsigned i = 0; i < count; i++)
        accesses[i] = (struct analyses_access){.insn = (uint32_t)rand() % INSNS,
                                               .object = (uint32_t)rand() % (OBJECTS - 1) * 1000};
}

/* Of those found, each is one that the walk finds, none comes twice, and none is left out. */
static unsigned wrong(const struct findings_input *input, uint32_t loop, uint32_t object)
{
    const struct findings_accesses found = findings_accesses_of(input, loop, object);
    unsigned all = 0, errors = 0;
    for (size_t i = 0; i < excerpts.access_count; i++)
        all += loop_of[accesses[i].insn] == loop && (object == FINDINGS_NOBODY || accesses[i].object == object);
    for (size_t i = 0; i < found.count; i++) {
        const struct analyses_access *access = findings_access(&found, i);
        errors += loop_of[access->insn] != loop || (object != FINDINGS_NOBODY && access->object != object);
        errors += i != 0 && access == findings_access(&found, i - 1);
    }
    return errors + (all != found.count);
}

static unsigned all_wrong(const struct findings_input *input)
{
    unsigned errors = 0;
    for (uint32_t i = 0; i <= LOOPS; i++) {
        const uint32_t loop = i == LOOPS ? ANALYSES_NO_LOOP : i;
        errors += wrong(input, loop, FINDINGS_NOBODY);
        for (uint32_t object = 0; object < OBJECTS; object++)
            errors += wrong(input, loop, object * 1000);
    }
    return errors;
}

static void against_a_walk(void **state)
{
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 200; round++) {
        struct findings_sorted *sorted;
        draw(1 + (unsigned)rand() % ACCESSES);
        assert_int_equal(findings_accesses_sort(&sorted, &excerpts, NULL), C2_OK);
        const struct findings_input input = {.excerpts = &excerpts, .sorted = sorted};
        assert_int_equal(all_wrong(&input), 0);
        if (round == 7 && sorted[0].loop != sorted[excerpts.access_count - 1].loop) { /* out of order, it is noticed */
            const struct findings_sorted first = sorted[0];
            sorted[0] = sorted[excerpts.access_count - 1];
            sorted[excerpts.access_count - 1] = first;
            assert_true(all_wrong(&input) > 0);
        }
        c2_free(sorted);
    }
}

static void of_no_excerpts(void **state)
{
    (void)state;
    struct findings_sorted *sorted;
    assert_int_equal(findings_accesses_sort(&sorted, NULL, NULL), C2_OK);
    assert_null(sorted);
    excerpts.access_count = 0;
    assert_int_equal(findings_accesses_sort(&sorted, &excerpts, NULL), C2_OK);
    const struct findings_input input = {.excerpts = &excerpts, .sorted = sorted};
    assert_int_equal(findings_accesses_of(&input, 0, FINDINGS_NOBODY).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_a_walk), cmocka_unit_test(of_no_excerpts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
