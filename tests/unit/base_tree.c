/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The ordered tree against a slow twin (an ascending array) under random operations, its summaries, and what a call
 * costs however many nodes there are and in whatever order they come.
 */
#include "base/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEYS 300

struct item {
    struct c2_node node;
    uint64_t value, sum; /* of the subtree's values */
};

static uint64_t sum_of(const struct c2_node *node) { return node ? ((const struct item *)node)->sum : 0; }

static void add_up(struct c2_node *node)
{
    struct item *item = (struct item *)node;
    item->sum = item->value + sum_of(node->left) + sum_of(node->right);
}

static uint64_t key_of(const struct c2_node *node, uint64_t none) { return node ? node->key : none; }

/* ------------------------------------------------------------------ random operations on both */

/* A mutant breaks one operation of the tree on purpose, to show that the comparison notices. */
enum mutant { NO_MUTANT, INSERT_IS_LOST, REMOVE_IS_LOST, CHANGE_IS_NOT_TOLD };

struct pair {
    struct c2_tree tree;
    struct item items[KEYS];
    bool there[KEYS]; /* the twin: which keys there are */
    uint64_t values[KEYS];
};

static bool same_neighbours(const struct pair *pair, uint64_t key)
{
    int64_t below = (int64_t)key, above = (int64_t)key + 1, first = 0;
    while (below >= 0 && !pair->there[below])
        below--;
    while (above < KEYS && !pair->there[above])
        above++;
    while (first < KEYS && !pair->there[first])
        first++;
    return key_of(c2_tree_at_or_below(&pair->tree, key), UINT64_MAX) == (uint64_t)below &&
           key_of(c2_tree_above(&pair->tree, key), KEYS) == (uint64_t)above &&
           key_of(c2_tree_first(&pair->tree), KEYS) == (uint64_t)first;
}

static bool same_sum(const struct pair *pair)
{
    uint64_t sum = 0, count = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        sum += pair->there[key] ? pair->values[key] : 0;
        count += pair->there[key];
    }
    return sum == sum_of(pair->tree.root) && count == pair->tree.count;
}

static void toggle(struct pair *pair, uint64_t key, enum mutant mutant)
{
    struct item *item = &pair->items[key];
    const bool was = pair->there[key];
    pair->there[key] = !was;
    if (was && mutant != REMOVE_IS_LOST)
        c2_tree_remove(&pair->tree, &item->node);
    if (was || mutant == INSERT_IS_LOST)
        return;
    *item = (struct item){.node.key = key, .value = pair->values[key]};
    c2_tree_insert(&pair->tree, &item->node);
}

static void change(struct pair *pair, uint64_t key, uint64_t value, enum mutant mutant)
{
    pair->values[key] = value;
    if (!pair->there[key])
        return;
    pair->items[key].value = value;
    if (mutant != CHANGE_IS_NOT_TOLD)
        c2_tree_changed(&pair->tree, &pair->items[key].node);
}

/* True when no difference was found. */
static bool run(uint64_t seed, enum mutant mutant)
{
    static struct pair pair;
    struct c2_rng rng;
    memset(&pair, 0, sizeof pair);
    pair.tree.summarize = add_up;
    c2_rng_init(&rng, seed, "tree");
    for (int i = 0; i < 20000; i++) {
        const uint64_t key = c2_rng_below(&rng, KEYS);
        const bool last = i == 19999;
        if (c2_rng_below(&rng, 3) > 0)
            toggle(&pair, key, last ? mutant : NO_MUTANT);
        else
            change(&pair, key, c2_rng_below(&rng, 1000) + 1, last ? mutant : NO_MUTANT);
        if (!same_sum(&pair) || !same_neighbours(&pair, c2_rng_below(&rng, KEYS)))
            return false;
        if (i % 500 == 0)
            c2_tree_check(&pair.tree);
    }
    return true;
}

static void tree_is_as_its_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_true(run(seed, NO_MUTANT));
}

/* Of a few seeds, some draw the operation that is broken last. */
static void broken_trees_are_found_out(void **state)
{
    (void)state;
    for (enum mutant mutant = INSERT_IS_LOST; mutant <= CHANGE_IS_NOT_TOLD; mutant++) {
        bool found = false;
        for (uint64_t seed = 1; seed <= 12 && !found; seed++)
            found = !run(seed, mutant);
        assert_true(found);
    }
}

/* ------------------------------------------------------------------ the price */

static uint64_t key_at(unsigned order, uint64_t i, uint64_t count)
{
    switch (order) {
    case 0:
        return i;
    case 1:
        return count - 1 - i;
    default:
        return i % 2 ? count - i : i; /* from both ends to the middle; distinct for an even count */
    }
}

/* No call on n nodes looks at more than 6 log2 n of them, and the mean is below 3 log2 n: whatever the order. */
static void price_is_logarithmic(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 3; order++) {
        for (unsigned bits = 8; bits <= 16; bits += 4) {
            const uint64_t count = (uint64_t)1 << bits;
            uint64_t visits = 0, most = 0;
            struct c2_tree tree = {.visits = &visits};
            struct item *items = c2_calloc(count, sizeof *items);
            for (uint64_t i = 0; i < count; i++) {
                const uint64_t before = visits;
                items[i].node.key = key_at(order, i, count);
                c2_tree_insert(&tree, &items[i].node);
                c2_tree_at_or_below(&tree, i);
                most = visits - before > most ? visits - before : most;
            }
            assert_true(most <= 2 * 6 * bits && visits <= count * 2 * 3 * bits);
            c2_tree_check(&tree);
            visits = 0;
            for (uint64_t i = 0; i < count; i++)
                c2_tree_remove(&tree, &items[i].node);
            assert_true(!tree.root && tree.count == 0 && visits <= count * 3 * bits);
            c2_free(items);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_is_as_its_twin),
        cmocka_unit_test(broken_trees_are_found_out),
        cmocka_unit_test(price_is_logarithmic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
