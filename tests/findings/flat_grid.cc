// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a class that hides where its cells lie also hides which loop belongs inside.
// Truth: cell (x, y) lies at y * width + x; the inner loop over y strides 1440 bytes, over 5000 rows: 313 KiB of lines
// before the next x wants them again, and L2 has 256 KiB. The outer loop over x strides 8 bytes.
#include <cstdio>
#include <cstdlib>
#include <vector>

class grid {
  public:
    grid(size_t width, size_t height) : columns(width), rows(height), cells(width * height) {}
    double &at(size_t x, size_t y)
    {
        return cells[y * columns + x]; // here
    }
    size_t width() const { return columns; }
    size_t height() const { return rows; }

  private:
    size_t columns, rows;
    std::vector<double> cells;
};

__attribute__((noinline)) static void grow(grid &field, double by)
{
#ifdef CURED
    for (size_t y = 0; y < field.height(); y++) {
        for (size_t x = 0; x < field.width(); x++)
            field.at(x, y) += by;
    }
#else
    for (size_t x = 0; x < field.width(); x++) {
        for (size_t y = 0; y < field.height(); y++)
            field.at(x, y) += by; // here
    }
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    grid field(180, argc > 2 ? strtoul(argv[2], nullptr, 0) : 5000);
    for (int round = 1; round <= rounds; round++)
        grow(field, round);
    printf("%.0f\n", field.at(0, 0) + field.at(field.width() - 1, field.height() - 1));
    return 0;
}
