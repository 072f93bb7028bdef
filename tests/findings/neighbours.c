/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a graph is gone through in the order in which it is discovered, and what is known of its nodes is looked up
 * in none: what helps is less of it.
 * Truth: a search in breadth asks of 8 neighbours of each node in 8 B whether it was reached, anywhere in 2.3 MiB,
 * where L2 holds 256 KiB. A bit of each node, 37 KiB, fits. The edges of a node lie side by side, but the nodes come in
 * the order of the queue: to find the edges in the loop that makes them is out of the question.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef NODES
#define NODES 300000
#endif
#define DEGREE 8
static uint32_t edges[NODES][DEGREE], queue[NODES];
#ifdef CURED
static uint64_t reached[NODES / 64 + 1];
static int is_new(uint32_t node)
{
    const uint64_t bit = (uint64_t)1 << node % 64, before = reached[node / 64];
    reached[node / 64] |= bit;
    return (before & bit) == 0;
}
#else
static uint64_t reached[NODES];
static int is_new(uint32_t node)
{
    const uint64_t before = reached[node]; /* here */
    reached[node] = 1;
    return before == 0;
}
#endif

__attribute__((noinline)) static uint32_t search(void)
{
    uint32_t head = 0, tail = 0;
    queue[tail++] = 0;
    is_new(0);
    while (head < tail) {
        const uint32_t node = queue[head++];
        for (int i = 0; i < DEGREE; i++) {
            if (is_new(edges[node][i]))
                queue[tail++] = edges[node][i];
        }
    }
    return tail;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint32_t found = 0;
    uint64_t random = 88172645463325252u;
    for (uint32_t i = 0; i < NODES; i++) {
        for (int k = 0; k < DEGREE; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            edges[i][k] = (uint32_t)((random >> 32) % NODES);
        }
    }
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < sizeof reached / sizeof reached[0]; i++)
            reached[i] = 0;
        found += search();
    }
    printf("%u\n", found);
    return 0;
}
