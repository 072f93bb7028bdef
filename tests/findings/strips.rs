// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: narrow strips of a matrix with rows of a power of two lie in one set.
// Truth: a strip of 48 rows and 4 columns, 48 lines, is smoothed 16 times, row by row, each row by the one above. Rows
// are 4096 bytes apart: one set of L1D, of 8 ways, for 48 lines, which miss each time. Rows of a line more spread the
// strip over the sets; each strip begins with the end of the last one, so that strips cannot be walked side by side.
const ROWS: usize = 48;
const COLUMNS: usize = 512;
const LEADING: usize = if cfg!(cured) { COLUMNS + 8 } else { COLUMNS };

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
fn smooth(grid: &mut [u64], column: usize, carry: u64) -> u64 {
    grid[column] ^= carry;
    for _ in 0..16 {
        for row in 1..ROWS {
            for at in row * LEADING + column..row * LEADING + column + 4 {
                grid[at] = grid[at].wrapping_add(grid[at - LEADING] >> 1); // here
            }
        }
    }
    grid[(ROWS - 1) * LEADING + column]
}

fn main() {
    let rounds = arg(1, 10);
    let mut grid: Vec<u64> = (0..ROWS * LEADING).map(|i| (i % LEADING * 7 + i / LEADING) as u64).collect();
    let mut carry = 1;
    for _ in 0..rounds {
        for column in (0..COLUMNS).step_by(8) {
            carry = smooth(&mut grid, column, carry);
        }
    }
    println!("{}", carry);
}
