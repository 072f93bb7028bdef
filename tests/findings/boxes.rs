// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a list of boxes is where the allocator put them, and each box names the next.
// Truth: 40,000 boxes, linked in a random order: each step of a walk waits for a line anywhere in 1.2 MB, and L2 has
// 256 KiB. Nodes of one vector that follow each other are four a line.
struct Node {
    value: u64,
    next: Option<&'static Node>,
}

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[cfg(cured)]
fn nodes(count: u64) -> Vec<&'static mut Node> {
    let pool: Vec<Node> = (0..count).map(|value| Node { value, next: None }).collect();
    pool.leak().iter_mut().collect()
}

#[cfg(not(cured))]
fn nodes(count: u64) -> Vec<&'static mut Node> {
    let mut boxes: Vec<&mut Node> = (0..count).map(|value| Box::leak(Box::new(Node { value, next: None }))).collect();
    let mut random = 1u64;
    for i in (1..boxes.len()).rev() {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        boxes.swap(i, (random >> 33) as usize % (i + 1));
    }
    boxes
}

fn build(count: u64) -> Option<&'static Node> {
    nodes(count).into_iter().rev().fold(None, |next, node| {
        node.next = next;
        Some(node)
    })
}

#[inline(never)]
fn walk(list: Option<&Node>, factor: u64) -> u64 {
    let (mut sum, mut at) = (0u64, list);
    while let Some(node) = at { // here
        sum = sum.wrapping_add(node.value * factor); // here
        at = node.next; // here
    }
    sum
}

fn main() {
    let list = build(40000);
    let mut sum = 0u64;
    for round in 1..=arg(1, 80) as u64 {
        sum = sum.wrapping_add(walk(list, round));
    }
    println!("{}", sum);
}
