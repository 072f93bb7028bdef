#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench/sieve.py [N]: the trace of a sieve of primes below N (16,384) by two threads, for `c2emu replay`.

Weidendorfer, section 4.2.4, listing 1: the multiples of 2, 3, 4 ... are marked in an array of bits; the numbers are
dealt out to the threads in turn, one at a time. Each mark reads a byte and writes it. The array begins at a line.

    bench/sieve.py | c2emu replay -m weidendorfer --sharing-estimate -
"""

import sys

ARRAY, MARK = 0x7000, 0x401000
THREADS = 2


def main():
    bound = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    for number in range(2, bound):
        thread = 1 + (number - 2) % THREADS
        for multiple in range(2 * number, bound, number):
            byte = ARRAY + multiple // 8
            print(f"R {MARK:x} {byte:x} 0 1 {thread}\nW {MARK:x} {byte:x} 0 1 {thread}")


if __name__ == "__main__":
    main()
