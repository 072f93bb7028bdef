/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two threads' work, done in turn: what follows a store to turn_1 is the first one's, to turn_2 the second's, and at
 * a store to barrier both have come to one (threads_of.c makes threads of it in a recording). No function is called
 * meanwhile, as the two have one stack. */
/* A block of code ends here, so that what follows is no record with it. */
#define NOTE(variable, to) \
    variable.value = to; \
    __asm__ volatile("jmp 1f\n1:")
#define OWN_LINE __attribute__((aligned(64)))

struct own {
    volatile long value;
    char rest[56];
};

OWN_LINE struct own turn_1, turn_2, barrier;
OWN_LINE volatile long counters[8];  /* of the first thread [0], of the second [1] */
OWN_LINE volatile long message[8];   /* written by one, read by the other */
OWN_LINE volatile long table[8];     /* read by both */
OWN_LINE struct own padded[2];

int main(void)
{
    long sum = 0;
    NOTE(turn_2, 1);
    for (int i = 0; i < 1000; i++)
        counters[1] += 1;
    for (int i = 0; i < 500; i++)
        padded[1].value += table[i % 8];
    NOTE(turn_1, 1);
    for (int i = 0; i < 1000; i++)
        counters[0] += 1;
    for (int i = 0; i < 500; i++)
        padded[0].value += table[i % 8];
    NOTE(barrier, 1);
    for (int i = 0; i < 100; i++)
        message[0] = i;
    NOTE(turn_2, 2);
    for (int i = 0; i < 100; i++)
        sum += message[0];
    NOTE(turn_1, 2);
    return sum != 9900;
}
