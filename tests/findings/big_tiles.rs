// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tuned: a matrix product of 160 * 160 in tiles of 16 rows of b, 20 KiB, each used by all rows of a while L1D holds it,
// and two rows of a at a time. All matrices are walked along their rows.
const N: usize = 160;
const TILE: usize = 16;

fn arg(number: usize, default: usize) -> usize {
    std::env::args().nth(number).map_or(default, |word| word.parse().expect("a number"))
}

#[inline(never)]
fn tile(a: &[u64], b: &[u64], c: &mut [u64], begin: usize) {
    for i in 0..N / 2 {
        let (upper, lower) = c[2 * i * N..(2 * i + 2) * N].split_at_mut(N);
        for k in begin..begin + TILE {
            let (x, y, row) = (a[2 * i * N + k], a[(2 * i + 1) * N + k], &b[k * N..(k + 1) * N]);
            for ((up, low), value) in upper.iter_mut().zip(lower.iter_mut()).zip(row) {
                *up = up.wrapping_add(x.wrapping_mul(*value));
                *low = low.wrapping_add(y.wrapping_mul(*value));
            }
        }
    }
}

fn main() {
    let a: Vec<u64> = (0..(N * N) as u64).map(|i| i % 7).collect();
    let b: Vec<u64> = (0..(N * N) as u64).map(|i| i % 5).collect();
    let mut c = vec![0u64; N * N];
    for _ in 0..arg(1, 3) {
        for begin in (0..N).step_by(TILE) {
            tile(&a, &b, &mut c, begin);
        }
    }
    println!("{}", c.iter().fold(0u64, |sum, x| sum.wrapping_mul(31).wrapping_add(*x)));
}
