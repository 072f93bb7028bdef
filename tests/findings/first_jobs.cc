/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: what is taken off the front of an array moves all the rest.
 * Truth: a queue of 4000 jobs of 64 B, 250 KiB at first, moves up by one job for each that is done: until 32 KiB are
 * left, each move goes through more than L1D has. A start that moves in place of the jobs reads each of them once.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef JOBS
#define JOBS 4000
#endif

struct job {
    uint32_t number, cost;
    char name[56];
};

static uint32_t work_off(std::vector<job> &queue)
{
    uint32_t sum = 0;
#ifdef CURED
    for (const job &first : queue)
        sum = sum * 31 + first.cost;
    queue.clear();
#else
    while (!queue.empty()) {
        sum = sum * 31 + queue.front().cost;
        queue.erase(queue.begin()); /* here */
    }
#endif
    return sum;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    uint32_t sum = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        std::vector<job> queue;
        queue.reserve(JOBS);
        for (uint32_t i = 0; i < JOBS; i++)
            queue.push_back({i, i % 7 + round, "job"});
        sum += work_off(queue);
    }
    printf("%u\n", sum);
    return 0;
}
