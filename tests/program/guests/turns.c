/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * turns short|long: two threads that do not wait for each other, behind a barrier. short: 1400 times 7 instructions, one
 * of which adds to a word that both write. long: 1400 times 132 instructions, without a jump but the last.
 */
#include <pthread.h>
#include <string.h>

#define ROUNDS 1400

_Alignas(64) long word[8];
static pthread_barrier_t both;

static void *add(void *unused)
{
    long one = 1, rounds = ROUNDS;
    pthread_barrier_wait(&both);
    __asm__ volatile("1: mov $1, %0\n"
                     "lock xadd %0, word(%%rip)\n"
                     "nop\n nop\n nop\n"
                     "dec %1\n"
                     "jne 1b\n"
                     : "+r"(one), "+r"(rounds)
                     :
                     : "memory", "cc");
    return unused;
}

static void *run(void *unused)
{
    long rounds = ROUNDS;
    pthread_barrier_wait(&both);
    __asm__ volatile("1: .rept 130\n nop\n .endr\n dec %0\n jne 1b\n" : "+r"(rounds) : : "cc");
    return unused;
}

int main(int argc, char **argv)
{
    void *(*work)(void *) = argc > 1 && strcmp(argv[1], "long") == 0 ? run : add;
    pthread_t other;
    pthread_barrier_init(&both, NULL, 2);
    if (pthread_create(&other, NULL, work, NULL) != 0)
        return 1;
    work(NULL);
    pthread_join(other, NULL);
    return 0;
}
