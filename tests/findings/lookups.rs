// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: looking up in any order loads a line for each word.
// Truth: 120,000 indices in a random order, walked 12 times, into a table of 100,000 words of 8 bytes: 800 KB, and L2
// has 256 KiB. All of the table is in use, and the indices are read in order: the addresses are known early. Sorted
// once, neighbours are looked up one after the other.
fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
fn total(table: &[u64], indices: &[u32], key: u64) -> u64 {
    let mut sum = 0u64;
    for index in indices {
        sum = sum.wrapping_add(table[*index as usize] ^ key); // here
    }
    sum
}

fn main() {
    let (rounds, words) = (arg(1, 12) as u64, arg(2, 100000) as u64);
    let table: Vec<u64> = (0..words).map(|i| i * i).collect();
    let mut random = 1u64;
    let mut indices: Vec<u32> = (0..words + words / 5)
        .map(|_| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((random >> 33) * words >> 31) as u32
        })
        .collect();
    if cfg!(cured) {
        indices.sort_unstable();
    }
    let mut sum = 0u64;
    for round in 1..=rounds {
        sum = sum.wrapping_add(total(&table, &indices, round));
    }
    println!("{}", sum);
}
