/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An ordered tree for things that know where they begin.
 *
 * Model
 *   A treap: ordered by key, and by weights as a heap, which are drawn when a node comes in. Its shape is that of the
 *   keys inserted in a random order, whatever order they really came in. The node lies in what is kept, so inserting
 *   cannot fail, and a pointer to a node stays valid while others come and go.
 *   A tree may keep a summary of each subtree in its top node: `summarize` makes a node's from the node and its
 *   children's, and is called from the bottom up wherever something changed.
 * Invariants
 *   Keys ascend from left to right; no node weighs more than its parent.
 * Cost
 *   Each call looks at some 2 ln n nodes, at few more than that in the worst of many.
 * Source
 *   Seidel and Aragon, Randomized search trees, Algorithmica 16 (1996). libc's tsearch and GLib's GTree keep no
 *   summaries and allocate when they insert.
 */
#include "base/base.h"

/* SplitMix64's last step: draws that are the same in every run, and that no key has a part in. */
static uint64_t draw_weight(struct c2_tree *tree)
{
    uint64_t z = ++tree->draws * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void c2_tree_visit(const struct c2_tree *tree)
{
    if (C2_UNLIKELY(tree->visits))
        ++*tree->visits;
}

static void tree_settle(const struct c2_tree *tree, struct c2_node *node)
{
    c2_tree_visit(tree);
    if (tree->summarize)
        tree->summarize(node);
}

/* ------------------------------------------------------------------ finding */

struct c2_node *c2_tree_at_or_below(const struct c2_tree *tree, uint64_t key)
{
    struct c2_node *best = NULL;
    for (struct c2_node *node = tree->root; node;) {
        c2_tree_visit(tree);
        const bool fits = node->key <= key;
        best = fits ? node : best;
        node = fits ? node->right : node->left;
    }
    return best;
}

struct c2_node *c2_tree_above(const struct c2_tree *tree, uint64_t key)
{
    struct c2_node *best = NULL;
    for (struct c2_node *node = tree->root; node;) {
        c2_tree_visit(tree);
        const bool fits = node->key > key;
        best = fits ? node : best;
        node = fits ? node->left : node->right;
    }
    return best;
}

struct c2_node *c2_tree_first(const struct c2_tree *tree)
{
    struct c2_node *node = tree->root;
    while (node && node->left)
        node = node->left;
    return node;
}

/* ------------------------------------------------------------------ changing */

/* Parts the subtree at `node`: keys below `key`, and the others. */
static void part(const struct c2_tree *tree, struct c2_node *node, uint64_t key, struct c2_node **below,
                 struct c2_node **others)
{
    if (!node) {
        *below = *others = NULL;
        return;
    }
    if (node->key < key) {
        part(tree, node->right, key, &node->right, others);
        *below = node;
    } else {
        part(tree, node->left, key, below, &node->left);
        *others = node;
    }
    tree_settle(tree, node);
}

/* Joins two subtrees; all keys of the first are below those of the second. */
static struct c2_node *tree_join(const struct c2_tree *tree, struct c2_node *low, struct c2_node *high)
{
    if (!low || !high)
        return low ? low : high;
    struct c2_node *top = low->weight >= high->weight ? low : high;
    if (top == low)
        low->right = tree_join(tree, low->right, high);
    else
        high->left = tree_join(tree, low, high->left);
    tree_settle(tree, top);
    return top;
}

static struct c2_node *tree_insert(const struct c2_tree *tree, struct c2_node *at, struct c2_node *node)
{
    if (!at || at->weight < node->weight) {
        part(tree, at, node->key, &node->left, &node->right);
        tree_settle(tree, node);
        return node;
    }
    C2_ASSERT(at->key != node->key);
    if (node->key < at->key)
        at->left = tree_insert(tree, at->left, node);
    else
        at->right = tree_insert(tree, at->right, node);
    tree_settle(tree, at);
    return at;
}

void c2_tree_insert(struct c2_tree *tree, struct c2_node *node)
{
    node->weight = draw_weight(tree);
    tree->root = tree_insert(tree, tree->root, node);
    tree->count++;
}

static struct c2_node *tree_take_out(const struct c2_tree *tree, struct c2_node *at, const struct c2_node *node)
{
    C2_ASSERT(at);
    if (at == node)
        return tree_join(tree, at->left, at->right);
    if (node->key < at->key)
        at->left = tree_take_out(tree, at->left, node);
    else
        at->right = tree_take_out(tree, at->right, node);
    tree_settle(tree, at);
    return at;
}

void c2_tree_remove(struct c2_tree *tree, struct c2_node *node)
{
    tree->root = tree_take_out(tree, tree->root, node);
    tree->count--;
}

static void settle_path(const struct c2_tree *tree, struct c2_node *at, const struct c2_node *node)
{
    C2_ASSERT(at);
    if (at != node)
        settle_path(tree, node->key < at->key ? at->left : at->right, node);
    tree_settle(tree, at);
}

void c2_tree_changed(struct c2_tree *tree, struct c2_node *node) { settle_path(tree, tree->root, node); }

/* ------------------------------------------------------------------ check */

static size_t tree_check(const struct c2_node *node, const uint64_t *above, const uint64_t *below)
{
    if (!node)
        return 0;
    C2_ASSERT(!above || node->key > *above);
    C2_ASSERT(!below || node->key < *below);
    C2_ASSERT(!node->left || node->left->weight <= node->weight);
    C2_ASSERT(!node->right || node->right->weight <= node->weight);
    return 1 + tree_check(node->left, above, &node->key) + tree_check(node->right, &node->key, below);
}

void c2_tree_check(const struct c2_tree *tree) { C2_ASSERT(tree_check(tree->root, NULL, NULL) == tree->count); }
