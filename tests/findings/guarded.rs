// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a Mutex that is locked for each small thing goes from core to core each time, and what it guards with it.
// Truth: four threads count words of each length under one Mutex, which lies in one block with the counts. What each
// has counted by itself, added under the lock once, leaves nothing to wait for.
use std::sync::{Arc, Mutex};

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

fn length(i: usize) -> usize {
    ((i as u64).wrapping_mul(0x9e3779b97f4a7c15) >> 60) as usize
}

fn count(lengths: &Mutex<[u32; 16]>, begin: usize, end: usize) {
    let mut own = [0u32; 16];
    for i in begin..end {
        if cfg!(cured) {
            own[length(i)] += 1;
        } else {
            let mut guarded = lengths.lock().unwrap(); // here
            guarded[length(i)] += 1; // here
        } // here
    }
    let mut guarded = lengths.lock().unwrap();
    for (all, own) in guarded.iter_mut().zip(own) {
        *all += own;
    }
}

fn main() {
    let words = arg(1, 20000);
    let lengths = Arc::new(Mutex::new([0u32; 16]));
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let lengths = Arc::clone(&lengths);
            std::thread::spawn(move || count(&lengths, i * words, (i + 1) * words))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", lengths.lock().unwrap());
}
