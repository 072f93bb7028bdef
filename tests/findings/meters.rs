// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: an array of atomics, one a thread, is one line for all of them.
// Truth: four threads write their own counter of 8 bytes; all four lie in one line, which each write takes from another
// core. Counters that are aligned to lines stay with their threads.
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg_attr(cured, repr(align(64)))]
#[cfg_attr(not(cured), repr(C))]
struct Meter(AtomicU64);

#[repr(align(64))]
struct Meters([Meter; 4]);

const ZERO: Meter = Meter(AtomicU64::new(0));
static METERS: Meters = Meters([ZERO; 4]);

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

fn run(own: &'static Meter, steps: usize) {
    for i in 0..steps {
        let sum = own.0.load(Ordering::Relaxed) + (i as u64 & 7); // here
        own.0.store(sum, Ordering::Relaxed); // here
    }
}

fn main() {
    let steps = arg(1, 250000);
    let threads: Vec<_> = METERS.0.iter().map(|own| std::thread::spawn(move || run(own, steps))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", METERS.0.iter().map(|meter| meter.0.load(Ordering::Relaxed)).sum::<u64>());
}
