// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a cold field between hot ones makes each record a line or two.
// Truth: 20,000 customers of 128 bytes; the loop wants `balance` and `rate`, 16 bytes, and the address of 112 bytes
// between the records is never read in it: 2.5 MB of lines for 320 KB. With the addresses in a vector of their own,
// four customers share a line.
#[repr(C)]
#[derive(Clone)]
struct Customer {
    balance: u64,
    #[cfg(not(cured))]
    address: [u8; 112],
    rate: u64,
}

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
fn interest(customers: &[Customer], day: u64) -> u64 {
    let mut sum = 0u64;
    for customer in customers {
        sum = sum.wrapping_add(customer.balance * customer.rate ^ day); // here
    }
    sum
}

fn main() {
    let (rounds, count) = (arg(1, 40) as u64, 20000u64);
    #[cfg(cured)]
    let addresses = vec![[7u8; 112]; count as usize];
    let customers: Vec<Customer> = (0..count)
        .map(|i| Customer {
            balance: i % 1000,
            #[cfg(not(cured))]
            address: [7; 112],
            rate: i % 3,
        })
        .collect();
    let mut sum = 0u64;
    for day in 1..=rounds {
        sum = sum.wrapping_add(interest(&customers, day));
    }
    #[cfg(cured)]
    let first = addresses[customers.len() / 2][0];
    #[cfg(not(cured))]
    let first = customers[customers.len() / 2].address[0];
    println!("{} {}", sum, first);
}
