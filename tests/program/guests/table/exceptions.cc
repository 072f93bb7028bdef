// SPDX-License-Identifier: GPL-2.0-or-later
// Exceptions through frames with destructors, from a library, and from other threads by futures.
#include <future>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct guard {
    std::string name;
    explicit guard(int depth) : name(std::to_string(depth)) {}
    ~guard() { std::cout << "left " << name << "\n"; }
};

static int descend(int depth)
{
    guard held(depth);
    if (depth == 0)
        throw std::runtime_error("bottom");
    return descend(depth - 1) + 1;
}

static long sum(int part)
{
    long total = 0;
    for (long i = 0; i < 10000 * (part + 1); i++)
        total += i % 7;
    if (part == 2)
        throw part;
    return total;
}

int main()
{
    try {
        descend(3);
    } catch (const std::exception &e) {
        std::cout << e.what() << "\n";
    }
    std::map<std::string, int> numbers{{"one", 1}};
    try {
        numbers.at("two");
    } catch (const std::out_of_range &) {
        std::cout << "out of range\n";
    }
    std::vector<std::future<long>> parts;
    for (int i = 0; i < 4; i++)
        parts.push_back(std::async(std::launch::async, sum, i));
    for (auto &part : parts)
        try {
            std::cout << part.get() << "\n";
        } catch (int number) {
            std::cout << "threw " << number << "\n";
        }
    return 3;
}
