// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: one atomic for all threads is a line that all of them want at each step.
// Truth: four threads add what they find to one counter. A sum per thread, added at its end, is touched once a thread.
use std::sync::atomic::{AtomicU64, Ordering};

#[repr(align(64))]
struct Line(AtomicU64);
static TALLY: Line = Line(AtomicU64::new(0));

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

fn run(begin: u64, end: u64) {
    let mut own = 0;
    for i in begin..end {
        let found = (i * 2654435761 >> 7) & 3;
        if cfg!(cured) {
            own += found;
        } else {
            TALLY.0.fetch_add(found, Ordering::Relaxed); // here
        }
    }
    TALLY.0.fetch_add(own, Ordering::Relaxed);
}

fn main() {
    let steps = arg(1, 120000) as u64;
    let threads: Vec<_> = (0..4).map(|i| std::thread::spawn(move || run(i * steps, (i + 1) * steps))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", TALLY.0.load(Ordering::Relaxed));
}
