// SPDX-License-Identifier: GPL-2.0-or-later

//! Threads, a channel, a hash map, and a panic that is caught.
use std::collections::HashMap;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0u64));
    let (to, from) = mpsc::channel();
    let threads: Vec<_> = (0..4u64)
        .map(|n| {
            let (total, to) = (Arc::clone(&total), to.clone());
            thread::spawn(move || {
                let sum: u64 = (0..10000).map(|x| x % (n + 2)).sum();
                *total.lock().unwrap() += sum;
                to.send(sum).unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    drop(to);
    let mut sums: Vec<u64> = from.iter().collect();
    sums.sort();
    println!("{:?} {}", sums, *total.lock().unwrap());
    let mut words = HashMap::new();
    for word in "a b a c".split(' ') {
        *words.entry(word).or_insert(0) += 1;
    }
    let mut counts: Vec<_> = words.into_iter().collect();
    counts.sort();
    println!("{:?}", counts);
    std::panic::set_hook(Box::new(|_| println!("a panic")));
    let none: Vec<i32> = vec![];
    println!("{}", std::panic::catch_unwind(|| none[counts_len()]).is_err());
    std::process::exit(5);
}

fn counts_len() -> usize {
    3
}
