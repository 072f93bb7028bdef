// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a vector of pointers to records is an array of records of which one word is used, with pointers on top.
// Truth: 20,000 records of 112 bytes, each on its own, pointed to by a vector in the order of their addresses. The sum
// of weights reads 8 bytes of each, out of 2.2 MB of lines. No address comes out of a record: the walk is free to run
// ahead. The weights side by side are 160 KB, with pointers to them 320 KB.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct record {
    uint64_t weight;
    char text[104];
};

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    std::vector<std::unique_ptr<record>> records;
    for (uint64_t i = 0; i < 20000; i++) {
        records.push_back(std::make_unique<record>());
        records.back()->weight = i % 1000;
    }
#ifdef CURED
    std::vector<uint64_t> weights;
    std::vector<const uint64_t *> places;
    for (const auto &each : records)
        weights.push_back(each->weight);
    for (const uint64_t &weight : weights)
        places.push_back(&weight);
#endif
    uint64_t sum = 0;
    for (int round = 1; round <= rounds; round++) {
#ifdef CURED
        for (const uint64_t *each : places)
            sum += *each * round;
#else
        for (const auto &each : records)
            sum += each->weight * round; // here
#endif
    }
    printf("%llu %d\n", static_cast<unsigned long long>(sum), records[7]->text[3]);
    return 0;
}
