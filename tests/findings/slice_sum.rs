// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tuned: an iterator over a slice of 16 KiB, again and again: L1D serves it all.
fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
fn weigh(values: &[u64], weight: u64) -> u64 {
    values.iter().map(|value| (value ^ weight).rotate_left(7)).fold(0, u64::wrapping_add)
}

fn main() {
    let values: Vec<u64> = (0..2048).map(|i| i * 977).collect();
    let sum = (1..=arg(1, 3500) as u64).fold(0u64, |sum, weight| sum.wrapping_add(weigh(&values, weight)));
    println!("{}", sum);
}
