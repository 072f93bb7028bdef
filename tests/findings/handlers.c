/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: each item through all stages reloads all code; all items through each stage does not.
 * Truth: 64 stages of some 1.4 KiB of straight code each, together nearly three times L1I (32 KiB), are executed for
 * one item after the other, in a cycle: each stage is gone when the next item comes. Stage by stage, a stage stays in
 * L1I for all 300 items.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS 300
static uint32_t items[ITEMS][4];

/* Four sums that wait little for each other: straight code, as fast as it can be fetched. */
#define STEP(k) \
    p += q ^ (k); \
    q += r ^ (k + 77777); \
    r += s ^ (k + 3333333); \
    s += p ^ (k + 999); /* here */
#define STEPS(k) STEP(k) STEP(k + 11111) STEP(k + 2222222) STEP(k + 33333) STEP(k + 4444444) STEP(k + 55555)
#define STAGE(n) \
    __attribute__((noinline)) static void stage_##n(uint32_t *item) \
    { \
        uint32_t p = item[0], q = item[1], r = item[2], s = item[3]; \
        STEPS(0x1##n) STEPS(0x2##n) STEPS(0x3##n) STEPS(0x4##n) item[0] = p, item[1] = q, item[2] = r, item[3] = s; \
    }
#define EIGHT(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7)
#define ALL(f) EIGHT(f, 0) EIGHT(f, 1) EIGHT(f, 2) EIGHT(f, 3) EIGHT(f, 4) EIGHT(f, 5) EIGHT(f, 6) EIGHT(f, 7)
ALL(STAGE) /* here */
#define NAME(n) stage_##n,
static void (*const stages[])(uint32_t *) = {ALL(NAME)};
#define STAGES ((int)(sizeof stages / sizeof *stages))

static void run(void)
{
#ifdef CURED
    for (int stage = 0; stage < STAGES; stage++) {
        for (int item = 0; item < ITEMS; item++)
            stages[stage](items[item]);
    }
#else
    for (int item = 0; item < ITEMS; item++) {
        for (int stage = 0; stage < STAGES; stage++)
            stages[stage](items[item]); /* here */
    }
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        items[i][0] = i;
    for (int round = 0; round < rounds; round++)
        run();
    for (int i = 0; i < ITEMS; i++)
        sum = sum * 31 + (items[i][0] ^ items[i][1] ^ items[i][2] ^ items[i][3]);
    printf("%u\n", sum);
    return 0;
}
