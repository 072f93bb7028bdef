// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a table of chains follows a box for each entry that it looks at.
// Truth: 4096 chains of some eight boxes each, filled by random keys, and every chain is walked: each box is a line
// anywhere in 1.5 MB, and L2 has 256 KiB. Chain after chain in one vector, with an index of where each begins, a line
// holds four entries, and none waits for the one before.
struct Entry {
    key: u64,
    value: u64,
    next: Option<Box<Entry>>,
}

struct Table {
    chains: Vec<Option<Box<Entry>>>,
    begins: Vec<usize>,
    packed: Vec<(u64, u64)>,
}

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

fn build() -> Table {
    let mut table = Table { chains: (0..4096).map(|_| None).collect(), begins: vec![0], packed: Vec::new() };
    let mut key = 1u64;
    for value in 0..32768 {
        key = key.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let chain = &mut table.chains[(key >> 52) as usize];
        let next = chain.take();
        *chain = Some(Box::new(Entry { key, value, next }));
    }
    for chain in &table.chains {
        let mut at = chain;
        while let Some(entry) = at {
            table.packed.push((entry.key, entry.value));
            at = &entry.next;
        }
        table.begins.push(table.packed.len());
    }
    table
}

#[inline(never)]
fn greatest_sum(table: &Table, factor: u64) -> u64 {
    let mut greatest = 0u64;
    for chain in 0..table.chains.len() {
        let mut sum = 0u64;
        if cfg!(cured) {
            for (key, value) in &table.packed[table.begins[chain]..table.begins[chain + 1]] {
                sum = sum.wrapping_add((key >> 40) * factor + value);
            }
        } else {
            let mut at = &table.chains[chain];
            while let Some(entry) = at { // here
                sum = sum.wrapping_add((entry.key >> 40) * factor + entry.value); // here
                at = &entry.next; // here
            }
        }
        greatest = greatest.max(sum);
    }
    greatest
}

fn main() {
    let table = build();
    let mut sum = 0u64;
    for round in 1..=arg(1, 25) as u64 {
        sum = sum.wrapping_add(greatest_sum(&table, round));
    }
    println!("{}", sum);
}
