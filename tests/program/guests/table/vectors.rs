// SPDX-License-Identifier: GPL-2.0-or-later
// Loops that a compiler makes vectors of, and words that are counted, sorted and hashed.
use std::collections::HashMap;

fn main() {
    let numbers: Vec<u32> = (0..100_000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let squares: u64 = numbers.iter().map(|&n| u64::from(n) * u64::from(n) % 1009).sum();
    let bits: u32 = numbers.iter().map(|n| n.count_ones() + n.leading_zeros()).sum();
    let floats: Vec<f32> = numbers.iter().map(|&n| n as f32 / 3.0).collect();
    let largest = floats.iter().fold(0f32, |most, &f| most.max(f.sqrt()));
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    let mut seen: HashMap<u32, u32> = HashMap::new();
    for n in &numbers {
        *seen.entry(n % 97).or_default() += 1;
    }
    let text: String = sorted.iter().step_by(9_999).map(|n| format!("{n:x} ")).collect();
    println!("{squares} {bits} {largest} {} {text}", seen[&13]);
}
