// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a column of a static array whose rows are a power of two long lies in one set.
// Truth: 64 numbers of a column, 8 KiB from row to row: 64 lines, 4 KiB, in one set of L1D, of 8 ways. They are summed
// up and down six times, and each column begins with what the last one gave, so no loop over the columns can go inside.
// Rows of a line more spread the column over the sets.
const ROWS: usize = 64;
const COLUMNS: usize = 1024;
const LEADING: usize = if cfg!(cured) { COLUMNS + 8 } else { COLUMNS };
static mut SHAFTS: [[u64; LEADING]; ROWS] = [[0; LEADING]; ROWS];

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
unsafe fn settle(column: usize, carry: u64) -> u64 {
    SHAFTS[0][column] ^= carry;
    for _ in 0..6 {
        for row in 1..ROWS {
            SHAFTS[row][column] ^= SHAFTS[row - 1][column].rotate_left(7); // here
        }
        SHAFTS[0][column] += 1;
    }
    SHAFTS[ROWS - 1][column]
}

fn main() {
    let mut carry = 1;
    for _ in 0..arg(1, 4) {
        for column in 0..COLUMNS {
            carry = unsafe { settle(column, carry) };
        }
    }
    println!("{}", carry);
}
