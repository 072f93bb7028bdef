// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a walk that has a page at each step needs a translation at each step, even where all lines are in the cache.
// Truth: the diagonal of a matrix with rows of 512 doubles: 440 lines, 27 KiB, in all sets of L1D alike, which stay
// there; but 440 pages, for a DTLB of 64 entries. In huge pages the whole matrix needs one or two.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

static constexpr size_t COLUMNS = 512, HUGE_PAGE = 2 << 20;

__attribute__((noinline)) static uint64_t damp(uint64_t *matrix, size_t rows, uint64_t carry)
{
    for (size_t i = 0; i < rows; i++) {
        uint64_t &each = matrix[i * COLUMNS + i % COLUMNS];
        each = (each ^ carry) * 5; // here
        carry += each;
    }
    return carry;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 3000;
    const size_t rows = argc > 2 ? strtoul(argv[2], nullptr, 0) : 440;
    const size_t bytes = (rows * COLUMNS * sizeof(uint64_t) / HUGE_PAGE + 1) * HUGE_PAGE;
    uint64_t *const matrix = static_cast<uint64_t *>(aligned_alloc(HUGE_PAGE, bytes));
    uint64_t carry = 1;
    if (!matrix)
        return 1;
#ifdef CURED
    madvise(matrix, bytes, MADV_HUGEPAGE);
#endif
    for (size_t i = 0; i < rows; i++)
        matrix[i * COLUMNS + i % COLUMNS] = i;
    for (int round = 0; round < rounds; round++)
        carry = damp(matrix, rows, carry);
    printf("%llu\n", static_cast<unsigned long long>(carry));
    return 0;
}
