/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pointer chase: chase [KIB [STEPS]]
 *
 * One cycle through all lines of an array in a random order, so that no access can be guessed from the last. The
 * lesson: with an array larger than the L3, nearly every step misses every level, and the misses are capacity - no
 * placement helps, only a smaller or better ordered structure does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64 };

struct node {
    struct node *next;
    char rest[LINE - sizeof(struct node *)];
};

/* xorshift64 (Marsaglia 2003): the same cycle on every machine */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Sattolo's shuffle: one cycle through all nodes */
static void link_up(struct node *nodes, size_t count)
{
    size_t *order = malloc(count * sizeof *order);
    uint64_t state = 88172645463325252u;
    if (!order)
        exit(1);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = draw(&state) % i, kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (size_t i = 0; i < count; i++)
        nodes[order[i]].next = &nodes[order[(i + 1) % count]];
    free(order);
}

int main(int argc, char **argv)
{
    size_t kib = argc > 1 ? strtoul(argv[1], NULL, 10) : 32768;
    size_t steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000000;
    size_t count = kib * 1024 / LINE;
    struct node *nodes = aligned_alloc(LINE, count * LINE);
    if (count < 2 || !nodes) {
        fprintf(stderr, "usage: chase [KIB [STEPS]], KIB >= 1\n");
        return 2;
    }
    link_up(nodes, count);
    struct node *at = nodes;
    for (size_t i = 0; i < steps; i++)
        at = at->next;
    printf("after %zu steps at node %zu of %zu\n", steps, (size_t)(at - nodes), count);
    free(nodes);
    return 0;
}
