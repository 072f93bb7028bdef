// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a chain of iterators that each walk the whole vector loads it as often as the chain is long.
// Truth: 24 filters, one after the other, over 1 MB of samples, which L2 (256 KiB) does not hold: each loads all of
// them from L3 again. Chunk by chunk (128 KiB), all filters but the first find the samples in L2.
const CHUNK: usize = 32768;
const FILTERS: u32 = 24;

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
fn filter(samples: &mut [u32], key: u32) {
    for sample in samples.iter_mut() {
        *sample = (*sample ^ key).wrapping_add(key); // here
    }
}

fn main() {
    let chunks = arg(1, 8);
    let mut samples: Vec<u32> = (0..(chunks * CHUNK) as u32).collect();
    let span = if cfg!(cured) { CHUNK } else { samples.len() };
    for part in samples.chunks_mut(span) {
        for key in 1..=FILTERS {
            filter(part, 3 * key);
        }
    }
    println!("{}", samples.iter().step_by(1001).fold(0u32, |sum, x| sum.wrapping_mul(31).wrapping_add(*x)));
}
