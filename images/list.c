/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Walks a linked list whose nodes lie one page apart: list [TIMES [NODES]]
 *
 * The lesson: malloc(4080) makes blocks of exactly 4096 bytes with its header, so the links of all nodes lie in one
 * set of a 32 KiB, 8-way L1. A list of 64 nodes needs 64 lines of 512, and yet every step misses, because of another
 * block of the same kind. In L2 the nodes have one set in each page colour: where the pages lie decides
 * (docs/placement-lab.md).
 * The cure: 64 bytes more a node. 64 nodes are then in 64 sets.
 */
#include "sample.h"

enum { BODY_BYTES = 4080 - 16 + (PADDED ? 64 : 0) };

struct node {
    struct node *next;
    long value;
    char body[BODY_BYTES];
};

static struct node *new_node(struct node *next, long value)
{
    struct node *node = malloc(sizeof *node);
    if (!node)
        exit(1);
    node->next = next;
    node->value = value;
    return node;
}

KERNEL long walk(const struct node *first, int times)
{
    long sum = 0;
    for (int t = 0; t < times; t++) {
        for (const struct node *node = first; node; node = node->next)
            sum += node->value; /* the conflict */
        KEEP();
    }
    return sum;
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv), nodes = argc > 2 ? atoi(argv[2]) : 64;
    struct node *first = NULL;
    if (nodes < 1 || nodes > 100000) {
        fprintf(stderr, "usage: list [TIMES [NODES]], 1 <= NODES <= 100000\n");
        return 2;
    }
    for (int i = 0; i < nodes; i++)
        first = new_node(first, i);
    print_checksum("list", walk(first, times));
    return 0;
}
