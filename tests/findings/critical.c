/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a critical section for each small thing is a lock that goes from core to core each time.
 * Truth: four threads add up what they measure, and each addition is a critical section, whose lock another thread has
 * taken last. OpenMP's reduction gives each thread a sum of its own and enters nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    _Alignas(64) uint64_t sum, count;
} above;

static uint32_t measure(uint32_t i) { return i * 2654435761u >> 12; }

int main(int argc, char **argv)
{
    const int number = argc > 1 ? atoi(argv[1]) : 60000;
    uint64_t sum = 0, count = 0;
#ifdef CURED
#pragma omp parallel for num_threads(4) reduction(+ : sum, count)
#else
#pragma omp parallel for num_threads(4)
#endif
    for (int i = 0; i < number; i++) {
        const uint32_t measured = measure((uint32_t)i);
#ifdef CURED
        sum += measured, count += measured > 1000;
#else
#pragma omp critical(adding) /* here */
        {
            above.sum += measured, above.count += measured > 1000; /* here */
        }
#endif
    }
    printf("%llu %llu\n", (unsigned long long)(above.sum + sum), (unsigned long long)(above.count + count));
    return 0;
}
