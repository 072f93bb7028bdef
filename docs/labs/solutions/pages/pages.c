/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pages: walks a list of 64 nodes, each at the start of a page of its own, eight times.
 */
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 64, TIMES = 8 };
#define NODE_BYTES (4096 + 64) /* nodes lie at the 64 places of a page in turn */

struct node {
    struct node *next;
    long value;
};
_Static_assert(NODE_BYTES >= 4096 && NODE_BYTES <= 4608 && NODE_BYTES % 16 == 0,
               "a node has its page, and little more");

__attribute__((noinline)) long walk(const struct node *first)
{
    long sum = 0;
    for (int t = 0; t < TIMES; t++)
        for (const struct node *node = first; node; node = node->next)
            sum += node->value;
    return sum;
}

int main(void)
{
    char *memory = aligned_alloc(2 << 20, 2 << 20);
    struct node *first = NULL;
    if (!memory)
        return 1;
    for (int i = NODES; i-- > 0;) {
        struct node *node = (struct node *)(memory + (size_t)i * NODE_BYTES);
        *node = (struct node){first, i};
        first = node;
    }
    printf("%ld\n", walk(first));
    return 0;
}
