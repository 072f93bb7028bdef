#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: interpret_transcendental_vectors.py FILE

Writes the table of tests/unit/interpret_transcendental.c: results of F2XM1, FYL2X, FYL2XP1, FPATAN, FSIN, FCOS and
FPTAN, computed with nothing but whole numbers, by series that have nothing in common with MPFR, in all four rounding
modes.

A number is N / 2**SCALE, cut off; what is cut off adds up to far less than GUARD units. Arguments are fractions."""
import random
import sys
from fractions import Fraction
from math import isqrt

SCALE = 420
ONE = 1 << SCALE
GUARD = 1 << 40
MODES = ("nearest", "down", "up", "to zero")


def mul(a, b):
    return a * b >> SCALE


def fixed(x):
    return x.numerator * ONE // x.denominator


def arctan_of_fraction(x):
    """|x| <= 1: halved by atan x = 2 atan(x / (1 + sqrt(1 + x^2))), then by the series."""
    halvings = 0
    while abs(x) > ONE >> 10:
        x = (x << SCALE) // (ONE + isqrt((ONE + mul(x, x)) << SCALE))
        halvings += 1
    power, total, n, square = x, 0, 1, mul(x, x)
    while abs(power) > 1:
        total += power // n if n % 4 == 1 else -(power // n)
        power, n = mul(power, square), n + 2
    return total << halvings


PI = 4 * arctan_of_fraction(ONE)


def angle_of(y, x):
    if abs(y) <= abs(x):
        base = arctan_of_fraction(fixed(y / x))
        return base if x > 0 else base + (PI if y > 0 else -PI)
    return (PI // 2 if y > 0 else -(PI // 2)) - arctan_of_fraction(fixed(x / y))


def log(x):
    """Of a positive fraction: atanh series after square roots, as 2^k times the logarithm of the root."""
    value, doublings = fixed(x), 0
    while abs(value - ONE) > ONE >> 10:
        value = isqrt(value << SCALE)
        doublings += 1
    z = ((value - ONE) << SCALE) // (value + ONE)
    power, total, n, square = z, 0, 1, mul(z, z)
    while abs(power) > 1:
        total += power // n
        power, n = mul(power, square), n + 2
    return total << (doublings + 1)


LN2 = log(Fraction(2))


def log2(x):
    return (log(x) << SCALE) // LN2


def exp_less_1(t):
    term, total, n = t, 0, 1
    while abs(term) > 1:
        total += term
        n += 1
        term = mul(term, t) // n
    return total


def sine_cosine(x):
    t = fixed(x) % (2 * PI)
    sine, cosine, term, n = 0, ONE, t, 1
    while abs(term) > 1:
        if n % 2:
            sine += term if n % 4 == 1 else -term
        else:
            cosine += term if n % 4 == 0 else -term
        n += 1
        term = mul(term, t) // n
    return sine, cosine


def tangent(x):
    sine, cosine = sine_cosine(x)
    return (sine << SCALE) // cosine


FUNCTIONS = {
    "f2xm1": lambda x, y: exp_less_1(mul(fixed(x), LN2)),
    "fyl2x": lambda x, y: log2(x) * y.numerator // y.denominator,
    "fyl2xp1": lambda x, y: log2(1 + x) * y.numerator // y.denominator,
    "fpatan": lambda x, y: angle_of(y, x),
    "fsin": lambda x, y: sine_cosine(x)[0],
    "fcos": lambda x, y: sine_cosine(x)[1],
    "fptan": lambda x, y: tangent(x),
}


def encoded(x):
    """A fraction that is a number of 64 bits, as (sign and exponent, significand)."""
    magnitude, exponent = abs(x), 16383 + 63
    while magnitude < 1 << 63:
        magnitude, exponent = magnitude * 2, exponent - 1
    while magnitude >= 1 << 64:
        magnitude, exponent = magnitude / 2, exponent + 1
    assert magnitude.denominator == 1
    return exponent | (0x8000 if x < 0 else 0), int(magnitude)


def rounded(value, mode):
    """Sign and exponent, significand, and whether the magnitude was rounded up. The exact value must lie between the
    same two numbers as all within GUARD of it, or be one of them itself, and be no tie."""
    negative, magnitude = value < 0, abs(value)
    bits = magnitude.bit_length()
    assert bits > 64 + 64, "too small for this scale"
    unit = 1 << (bits - 64)
    kept, rest = divmod(magnitude, unit)
    if rest > unit - GUARD:
        kept, rest = kept + 1, 0
    exact = rest < GUARD
    assert abs(rest - unit // 2) > GUARD
    up = {"nearest": rest > unit // 2, "down": negative, "up": not negative, "to zero": False}[mode] and not exact
    kept += up
    exponent = bits - SCALE - 1 + 16383
    if kept == 1 << 64:
        kept, exponent = kept >> 1, exponent + 1
    return exponent | (0x8000 if negative else 0), kept, up


def number(rng, low, high):
    """64 random bits, or few; 2**low <= |number| < 2**high."""
    significand = rng.getrandbits(64) | 1 << 63
    if rng.random() < 0.3:
        significand &= ~0 << rng.randrange(64)
    return Fraction(significand) * Fraction(2) ** (rng.randrange(low, high) - 63) * rng.choice((1, -1))


def arguments(rng, name):
    if name == "f2xm1":
        return number(rng, -70, 0), Fraction(1)
    if name == "fyl2x":
        near_1 = 1 + number(rng, -63, -1).limit_denominator(1 << 63)
        x = rng.choice((abs(number(rng, -100, 100)), near_1))
        x = Fraction(int(x * 2**163) & ~0 << max(0, int(x * 2**163).bit_length() - 64), 2**163)
        return x, number(rng, -20, 20)
    if name == "fyl2xp1":
        return number(rng, -70, -2), number(rng, -20, 20)
    if name == "fpatan":
        return number(rng, -30, 30), number(rng, -30, 30)
    return number(rng, -40, 63), Fraction(1)


# Where much cancels or is exact: pi and the 64-bit number whose sine is smallest next to it, a tie's neighbours.
CHOSEN = {
    "f2xm1": [(1, 1), (-1, 1), (Fraction(1, 2), 1), (Fraction(1, 2**64), 1), (1 - Fraction(1, 2**64), 1)],
    "fyl2x": [(8, 3), (Fraction(1, 4), -5), (1 + Fraction(1, 2**63), 1), (1 - Fraction(1, 2**64), 7), (10, 1), (3, 2)],
    "fyl2xp1": [(1, 1), (3, Fraction(1, 2)), (Fraction(-1, 2), 3), (Fraction(1, 2**80), 1), (7, 5)],
    "fpatan": [(1, 1), (-1, 1), (-1, -1), (1, Fraction(1, 2**60)), (Fraction(-1, 2**60), 1), (3, 4)],
    "fsin": [(1, 1), (0xc90fdaa22168c235, 2**62), (0xc90fdaa22168c234, 2**62), (2**62, 1), (8227740058411162616, 1)],
    "fcos": [(1, 1), (0xc90fdaa22168c235, 2**63), (0xc90fdaa22168c234, 2**63), (2**62, 1), (8227740058411162616, 1)],
    "fptan": [(1, 1), (0xc90fdaa22168c235, 2**62), (0xc90fdaa22168c235, 2**63), (8227740058411162616, 1)],
}


def chosen(name):
    for first, second in CHOSEN[name]:
        trigonometric = name in ("fsin", "fcos", "fptan")
        yield (Fraction(first, second), Fraction(1)) if trigonometric else (Fraction(first), Fraction(second))


def main():
    rng = random.Random(87)
    lines = ["/* Written by interpret_transcendental_vectors.py. */"]
    for name, function in FUNCTIONS.items():
        cases = list(chosen(name)) + [arguments(rng, name) for _ in range(40)]
        for x, y in cases:
            value = function(x, y)
            for mode, title in enumerate(MODES):
                fields = encoded(x) + encoded(y)
                sign_exponent, significand, up = rounded(value, title)
                lines.append('{"%s", %d, {0x%016x, 0x%04x}, {0x%016x, 0x%04x}, {0x%016x, 0x%04x}, %d},'
                             % (name, mode, fields[1], fields[0], fields[3], fields[2], significand, sign_exponent, up))
    with open(sys.argv[1], "w") as out:
        print("\n".join(lines), file=out)


main()
