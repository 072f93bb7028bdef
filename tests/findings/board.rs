// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a board in one vector, row after row, wants its rows walked.
// Truth: the inner loop over y strides a row, 1440 bytes; 5000 rows are 313 KiB of lines before the next x wants the
// same lines again, and L2 has 256 KiB. The outer loop over x strides 4 bytes.
const WIDTH: usize = 360;

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
fn score(board: &[u32], height: usize, weight: u32) -> u32 {
    let mut sum = 0u32;
    #[cfg(cured)]
    for y in 0..height {
        for x in 0..WIDTH {
            sum = sum.wrapping_add(board[y * WIDTH + x] ^ weight);
        }
    }
    #[cfg(not(cured))]
    for x in 0..WIDTH {
        for y in 0..height {
            sum = sum.wrapping_add(board[y * WIDTH + x] ^ weight); // here
        }
    }
    sum
}

fn main() {
    let (rounds, height) = (arg(1, 3), arg(2, 5000));
    let board: Vec<u32> = (0..(WIDTH * height) as u32).map(|i| i % 251).collect();
    let mut sum = 0u32;
    for round in 1..=rounds {
        sum = sum.wrapping_add(score(&board, height, round as u32));
    }
    println!("{}", sum);
}
