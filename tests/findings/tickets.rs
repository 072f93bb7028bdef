// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: big records of which one line is hot put each hot line on a page of its own.
// Truth: 420 records of 4160 bytes, of which the first line is in use: 26 KiB of lines, spread over all sets of L1D,
// where they stay; but 420 pages for a DTLB of 64 entries. In huge pages, all records need one entry.
use std::alloc::{alloc, Layout};

const RECORD: usize = 4160 / 8;
const HUGE_PAGE: usize = 2 << 20;

extern "C" {
    fn madvise(address: *mut u64, bytes: usize, advice: i32) -> i32;
}

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
unsafe fn draw(tickets: *mut u64, count: usize, draws: usize) -> u64 {
    let mut last = 1u64;
    for i in 0..draws {
        let next = (last.wrapping_mul(2654435761) & 0xffff_ffff) as usize * count >> 32;
        let ticket = tickets.add(next * RECORD);
        *ticket += 1; // here
        *ticket.add(1) = (*ticket.add(1)).wrapping_add(last); // here
        last = (*ticket.add(1)).wrapping_add(i as u64); // here
    }
    last
}

fn main() {
    let (count, draws) = (arg(1, 420), arg(2, 800000));
    let bytes = (count * RECORD * 8 / HUGE_PAGE + 1) * HUGE_PAGE;
    unsafe {
        let tickets = alloc(Layout::from_size_align(bytes, HUGE_PAGE).unwrap()) as *mut u64;
        if cfg!(cured) {
            madvise(tickets, bytes, 14); // MADV_HUGEPAGE
        }
        for i in 0..count {
            *tickets.add(i * RECORD) = 0;
            *tickets.add(i * RECORD + 1) = i as u64;
        }
        println!("{}", draw(tickets, count, draws));
    }
}
