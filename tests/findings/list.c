/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a list whose nodes lie anywhere waits for memory at each step: the next address is in the line that misses.
 * Truth: 40,000 nodes, each a block of malloc, linked in a random order and walked again and again. From a pool in the
 * order of the walk, one miss serves several nodes, and the next lines can be foreseen.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    uint64_t value;
};

static struct node *build(uint32_t count)
{
    struct node **order = malloc(count * sizeof *order), *first;
#ifdef CURED
    struct node *const pool = malloc(count * sizeof *pool);
    for (uint32_t i = 0; i < count; i++)
        order[i] = &pool[i];
#else
    for (uint32_t i = 0; i < count; i++)
        order[i] = malloc(sizeof *order[i]);
    uint32_t random = 1;
    for (uint32_t i = count - 1; i > 0; i--) {
        random = random * 1664525u + 1013904223u;
        const uint32_t other = (uint32_t)((uint64_t)random * (i + 1) >> 32);
        struct node *const moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
#endif
    for (uint32_t i = 0; i < count; i++)
        *order[i] = (struct node){i + 1 < count ? order[i + 1] : 0, i % 100};
    first = order[0];
    free(order);
    return first;
}

__attribute__((noinline)) static uint64_t walk(const struct node *node, uint64_t factor)
{
    uint64_t sum = 0;
    for (; node; node = node->next)  /* here */
        sum += node->value * factor; /* here */
    return sum;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 80;
    const struct node *const nodes = build(40000);
    uint64_t sum = 0;
    for (uint32_t round = 1; round <= rounds; round++)
        sum += walk(nodes, round);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
