// SPDX-License-Identifier: GPL-2.0-or-later
// A vector and a list of the C++ library: the calls of operator new lie in headers that are inlined here.
#include <cstdio>
#include <list>
#include <vector>

int main()
{
    std::vector<double> numbers(4096); // 32768 bytes, one call
    std::list<int> nodes;
    for (int i = 0; i < 100; i++)
        nodes.push_back(i); // 24 bytes each, a hundred calls
    double sum = 0;
    for (double number : numbers)
        sum += number;
    for (int node : nodes)
        sum += node;
    std::printf("%f\n", sum);
}
