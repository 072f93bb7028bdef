# SPDX-License-Identifier: GPL-2.0-or-later
"""A second implementation of points/, straight from its description, in plain Python: Python's floats are the same IEEE
doubles, so coordinates, centres and distances have the same bits. Only the logarithm may differ in its last digit.
"""

import math

MASK = (1 << 64) - 1
SAME, ENOUGH, NEGLIGIBLE, TRIES, ROUNDS = 0.001, 0.9, 1e-9, 5, 100


class Generator:
    """xoshiro256**, seeded by SplitMix64 from a seed and a name."""

    def __init__(self, seed, name):
        state, mixed = self.split(seed & MASK)
        code = 0xcbf29ce484222325
        for byte in name.encode():
            code = (code ^ byte) * 0x100000001b3 & MASK
        state = mixed ^ code
        self.s = []
        for _ in range(4):
            state, mixed = self.split(state)
            self.s.append(mixed)

    @staticmethod
    def split(state):
        state = z = (state + 0x9e3779b97f4a7c15) & MASK
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
        return state, z ^ z >> 31

    def next(self):
        def left(v, by):
            return (v << by | v >> (64 - by)) & MASK
        s = self.s
        result = left(s[1] * 5 & MASK, 7) * 9 & MASK
        shifted = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = left(s[3], 45)
        return result

    def below(self, limit):
        while True:
            draw = self.next()
            if draw >= (1 << 64) % limit:
                return draw % limit


def row(key, block, dimensions):
    generator = Generator(key + block, "row")
    numbers = [generator.next() >> 32 for _ in range(dimensions)]
    return [n - (1 << 32) if n >> 31 else n for n in numbers]


def project(intervals, dimensions, seed):
    """intervals: a list of {block: instructions} each."""
    key, rows, vectors = Generator(seed, "projection").next(), {}, []
    for interval in intervals:
        sums, total = [0] * dimensions, sum(interval.values())
        for block, instructions in interval.items():
            if block not in rows:
                rows[block] = row(key, block, dimensions)
            sums = [s + instructions * r for s, r in zip(sums, rows[block])]
        vectors.append([float(s) / (float(total) * 2.0 ** 31) for s in sums])
    return vectors


def distance(a, b):
    total = 0.0
    for x, y in zip(a, b):
        total += (x - y) * (x - y)
    return total


def nearest(vector, centres):
    found = min(range(len(centres)), key=lambda k: distance(vector, centres[k]))  # the first of equals
    return found, distance(vector, centres[found])


def drawn(vectors, k, generator):
    taken = []
    for i in range(len(vectors)):
        if generator.below(len(vectors) - i) < k - len(taken):
            taken.append(list(vectors[i]))
    return taken


def spread(vectors, weights, k, generator):
    taken = [list(vectors[generator.below(len(vectors))])]
    while len(taken) < k:
        far = max(range(len(vectors)), key=lambda i: nearest(vectors[i], taken)[1] * float(weights[i]))
        taken.append(list(vectors[far]))
    return taken


def cluster(vectors, weights, centres):
    """Moves the centres; returns which each vector belongs to."""
    of = [nearest(v, centres)[0] for v in vectors]
    for _ in range(ROUNDS):
        for k in range(len(centres)):
            mine = [i for i in range(len(vectors)) if of[i] == k]
            if mine:
                sums = [0.0] * len(vectors[0])
                for i in mine:
                    sums = [s + x * float(weights[i]) for s, x in zip(sums, vectors[i])]
                centres[k] = [s / float(sum(weights[i] for i in mine)) for s in sums]
        before, of = of, [nearest(v, centres)[0] for v in vectors]
        if of == before:
            break
    return of


def score(vectors, weights, centres, of):
    n, dimensions, k, total = float(len(vectors)), float(len(vectors[0])), float(len(centres)), float(sum(weights))
    squares = 0.0
    for vector, weight, c in zip(vectors, weights, of):
        squares += distance(vector, centres[c]) * float(weight)
    variance = max(squares / (total * dimensions), SAME * SAME)
    likelihood = -dimensions / 2 * (math.log(2 * math.pi * variance) + 1)
    for c in range(len(centres)):
        share = float(sum(weight for weight, mine in zip(weights, of) if mine == c)) / total
        likelihood += share * math.log(share) if share > 0 else 0
    return n * likelihood - (k + k * dimensions) / 2 * math.log(n)


def clusters(vectors, weights, k, seed, attempt):
    generator = Generator(Generator(seed, "clusters").next() + k * TRIES + attempt, "centres")
    centres = spread(vectors, weights, k, generator) if attempt == 0 else drawn(vectors, k, generator)
    of = cluster(vectors, weights, centres)
    return score(vectors, weights, centres, of), centres, of


def best_clusters(vectors, weights, k, seed):
    best = None
    for attempt in range(TRIES):
        found = clusters(vectors, weights, k, seed, attempt)
        if best is None or found[0] > best[0] + NEGLIGIBLE * abs(best[0]):
            best = found
    return best


def choose(intervals, dimensions=15, max_k=30, seed=1):
    """Returns the points: (interval, cluster, weight), one a cluster."""
    vectors, weights = project(intervals, dimensions, seed), [sum(interval.values()) for interval in intervals]
    whole = len(vectors) - (weights[-1] < weights[0] // 2)
    found = [best_clusters(vectors[:whole], weights[:whole], k, seed) for k in range(1, min(max_k, whole) + 1)]
    scores = [f[0] for f in found]
    bound = min(scores) + ENOUGH * (max(scores) - min(scores))
    _, centres, of = next(f for f in found if f[0] >= bound or f[0] == max(scores))
    numbers = list(dict.fromkeys(of))
    points = []
    for number, k in enumerate(numbers):
        best = None
        for i in range(whole):
            d = distance(vectors[i], centres[k])
            if of[i] == k and (best is None or d < best[1] * (1 - NEGLIGIBLE)):
                best = i, d
        mine = sum(w for w, v in zip(weights, vectors) if nearest(v, centres)[0] == k)
        points.append((best[0], number, mine / sum(weights)))
    return points


def text_of(points):
    """What the two files hold."""
    return ("".join("%d %d\n" % (interval, number) for interval, number, _ in points),
            "".join("%.12g %d\n" % (weight, number) for _, number, weight in points))


def read_vectors(path):
    with open(path, encoding="ascii") as file:
        lines = [line for line in file if line[0] == "T"]
    return [{int(block): int(count) for block, count in
             (entry.split(":")[1:3] for entry in line[1:].split())} for line in lines]
