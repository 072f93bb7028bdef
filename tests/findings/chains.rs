// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a table of chains follows a box for each entry that it looks at.
// Truth: 4096 chains of some eight boxes each, filled by random keys, and every chain is walked: each box is a line
// anywhere in 1.5 MB, and L2 has 256 KiB. From one vector, chain after chain in the order of the walk, eight entries
// are three lines.
struct Entry {
    key: u64,
    value: u64,
    next: Option<Box<Entry>>,
}

struct Table {
    chains: Vec<Option<Box<Entry>>>,
    begins: Vec<usize>,
    pool: Vec<Packed>,
}

struct Packed {
    key: u64,
    value: u64,
    next: usize,
}

const END: usize = usize::MAX;

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

fn build() -> Table {
    let mut table = Table { chains: (0..4096).map(|_| None).collect(), begins: Vec::new(), pool: Vec::new() };
    let mut key = 1u64;
    for value in 0..32768 {
        key = key.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let chain = &mut table.chains[(key >> 52) as usize];
        let next = chain.take();
        *chain = Some(Box::new(Entry { key, value, next }));
    }
    for chain in &table.chains {
        let mut at = chain;
        table.begins.push(if at.is_some() { table.pool.len() } else { END });
        while let Some(entry) = at {
            at = &entry.next;
            let next = if at.is_some() { table.pool.len() + 1 } else { END };
            table.pool.push(Packed { key: entry.key, value: entry.value, next });
        }
    }
    table
}

#[inline(never)]
fn greatest_sum(table: &Table, factor: u64) -> u64 {
    let mut greatest = 0u64;
    for chain in 0..table.chains.len() {
        let mut sum = 0u64;
        if cfg!(cured) {
            let mut at = table.begins[chain];
            while at != END {
                let entry = &table.pool[at];
                sum = sum.wrapping_add((entry.key >> 40) * factor + entry.value);
                at = entry.next;
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
