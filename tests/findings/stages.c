/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: loops that hand a large array to each other fetch it once each; one loop fetches it once.
 * Truth: readings, levels and alarms are 8 MB each. Three loops follow on each other: readings are drawn, levels made
 * of them, alarms of both. What a loop has written is gone from a last level of 8 MiB when the next one comes: of the
 * lines of the three arrays six times an array are fetched, where one loop would fetch three.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const size_t count = argc > 1 ? strtoul(argv[1], 0, 0) : 1000000;
    const size_t rounds = argc > 2 ? strtoul(argv[2], 0, 0) : 1;
    uint64_t *readings = malloc(count * sizeof *readings), *levels = malloc(count * sizeof *levels);
    uint64_t *alarms = malloc(count * sizeof *alarms);
    uint64_t wave = 12345;
    if (!readings || !levels || !alarms)
        return 1;
    for (size_t round = 0; round < rounds; round++) {
#ifdef CURED
        for (size_t i = 0; i < count; i++) {
            wave = wave * 6364136223846793005u + 1442695040888963407u;
            readings[i] = wave >> 40;
            levels[i] = readings[i] * 3 / 7;
            alarms[i] = levels[i] ^ readings[i];
        }
#else
        for (size_t i = 0; i < count; i++) {
            wave = wave * 6364136223846793005u + 1442695040888963407u;
            readings[i] = wave >> 40;
        }
        for (size_t i = 0; i < count; i++)
            levels[i] = readings[i] * 3 / 7; /* here */
        for (size_t i = 0; i < count; i++)
            alarms[i] = levels[i] ^ readings[i]; /* here */
#endif
    }
    printf("%d %d\n", (int)levels[count / 2], (int)alarms[count / 3]);
    free(readings);
    free(levels);
    free(alarms);
    return 0;
}
