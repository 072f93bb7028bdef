// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: what all threads only read is written by each copy of a pointer to it, where references are counted.
// Truth: four threads pass settings on by value, as a shared_ptr: each call counts a reference up and down again, in the
// block that settings and counts are in, and another core counted last. By reference nothing is counted.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

struct settings {
    long offset = 3, scale = 7;
};

#ifdef CURED
using passed = const std::shared_ptr<settings> &;
#else
using passed = std::shared_ptr<settings>;
#endif

static long use(passed settings, long value) { return settings->offset + settings->scale * value; }

static void work(const std::shared_ptr<settings> &settings, int count, long *sum)
{
    long own = 0;
    for (int i = 0; i < count; i++)
        own += use(settings, i); // here
    *sum = own;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : 20000;
    const auto shared = std::make_shared<settings>();
    long sums[4] = {};
    std::vector<std::thread> threads;
    for (long &sum : sums)
        threads.emplace_back(work, std::cref(shared), count, &sum);
    for (auto &thread : threads)
        thread.join();
    std::printf("%ld\n", sums[0] + sums[1] + sums[2] + sums[3]);
}
