/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a loop that wants one field loads whole records.
 * Truth: 50,000 records of 64 bytes; the sum of balances uses 8 bytes of each line, 3.2 MB for 400 KB. The field by
 * itself, in an array of its own, needs an eighth of the lines.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 50000
#ifdef CURED
struct account {
    uint64_t number, opened, flags;
    char name[32];
};
static uint64_t balances[COUNT];
#define BALANCE(i) balances[i]
#else
struct account {
    uint64_t balance, number, opened, flags;
    char name[32];
};
#define BALANCE(i) accounts[i].balance
#endif
static struct account accounts[COUNT] __attribute__((aligned(64)));

__attribute__((noinline)) static uint64_t total(uint64_t rate)
{
    uint64_t sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += BALANCE(i) * rate; /* here */
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    uint64_t sum = 0;
    for (int i = 0; i < COUNT; i++) {
        accounts[i].number = (uint64_t)i;
        BALANCE(i) = (uint64_t)(i % 1000);
    }
    for (int round = 1; round <= rounds; round++)
        sum += total((uint64_t)round);
    printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)accounts[COUNT / 2].number);
    return 0;
}
