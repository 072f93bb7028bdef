// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a sort moves whole elements, which is much to move where they are large.
// Truth: sort_by_key moves orders of 256 bytes, 4.9 MiB of them, where L2 has 256 KiB. sort_by_cached_key sorts keys
// with numbers, 16 bytes each, and then moves each order once.
#[derive(Clone, Copy)]
struct Order {
    key: u64,
    lines: [u64; 31],
}

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

fn main() {
    let mut random: u64 = 88172645463325252;
    let mut orders = Vec::new();
    for _ in 0..arg(1, 20000) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        orders.push(Order { key: random, lines: [random >> 5; 31] });
    }
    if cfg!(cured) {
        orders.sort_by_cached_key(|order| order.key);
    } else {
        orders.sort_by_key(|order| order.key); // here
    }
    let mut sum: u64 = 0;
    for order in &orders {
        sum = sum.wrapping_mul(31).wrapping_add(order.lines[30]);
    }
    println!("{}", sum);
}
