// SPDX-License-Identifier: GPL-2.0-or-later
//
// Blocks of C++, each of a size of its own. The comment behind a line says what reports call its block: NAME BYTES, and
// malloc where the block has no name.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

struct grid {
    std::vector<double> cells;
    explicit grid(std::size_t count) : cells(count) {} // malloc 20480
};

__attribute__((noinline)) static double *make_row(std::size_t count)
{
    double *row = new double[count];
    for (std::size_t i = 0; i < count; i++)
        row[i] = static_cast<double>(i);
    return row;
}

__attribute__((noinline)) static void use(volatile char *block, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; i += 64)
        block[i] = static_cast<char>(block[i] + 1);
}

template <typename T> static void use(T &block)
{
    use(reinterpret_cast<volatile char *>(&block[0]), block.size() * sizeof block[0]);
}

int main()
{
    double *plain = new double[1024]; // plain 8192
    double *row = make_row(1280);     // row 10240
    std::vector<double> numbers(1536); // numbers 12288
    std::unique_ptr<double[]> owned(new double[1792]); // malloc 14336
    std::string text(16383, 'x'); // text 16384
    grid cells(2560);
    std::vector<int> grown;
    grown.reserve(6144); // malloc 24576
    use(reinterpret_cast<volatile char *>(plain), 8192);
    use(reinterpret_cast<volatile char *>(row), 10240);
    use(numbers), use(text), use(cells.cells);
    use(reinterpret_cast<volatile char *>(owned.get()), 14336);
    grown.resize(6144);
    use(grown);
    std::printf("%g\n", plain[0] + row[5] + numbers[3]);
    delete[] plain;
    delete[] row;
}
