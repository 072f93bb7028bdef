/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tuned: walks by columns, by links and over a power of two that L1D holds: what would be wrong with more data costs
 * nothing with 6 KiB: 24 rows of 128 bytes; 16 nodes; 4 arrays 4096 bytes apart.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t grid[24][32], apart[4][1024];
static struct node {
    const struct node *next;
    uint32_t value;
} nodes[16];

__attribute__((noinline)) static uint32_t walk(uint32_t key)
{
    uint32_t sum = 0;
    for (int j = 0; j < 32; j++) {
        for (int i = 0; i < 24; i++)
            sum += grid[i][j] ^ key;
    }
    for (const struct node *node = &nodes[0]; node; node = node->next)
        sum = sum * 3 + node->value;
    for (int k = 0; k < 128; k++)
        sum += apart[0][k] ^ apart[1][k] ^ apart[2][k] ^ apart[3][k];
    return sum;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 12000;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 24 * 32; i++)
        grid[i / 32][i % 32] = i * i;
    for (uint32_t i = 0; i < 16; i++)
        nodes[i * 5 % 16] = (struct node){i < 15 ? &nodes[(i + 1) * 5 % 16] : 0, i};
    for (uint32_t k = 0; k < 128; k++)
        apart[k % 4][k] = k;
    for (uint32_t round = 0; round < rounds; round++)
        sum += walk(round);
    printf("%u\n", sum);
    return 0;
}
