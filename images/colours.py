#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the colours of some pages in a page map (c2emu --dump-pagemap).

usage: colours.py MAP COLOURS FIRST-PAGE PAGES [WAYS]

The colour of a page is its frame mod COLOURS. With WAYS the last line says how many of the pages have a colour that
more than WAYS of them share.
"""

import sys


def frames_of(path):
    """{page: frame}, huge pages as their small ones."""
    frames = {}
    with open(path) as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                page, frame = int(words[0], 0), int(words[1], 0)
                for i in range({"4K": 1, "2M": 512, "1G": 512 * 512}[words[2]]):
                    frames[page + i] = frame + i
    return frames


def main(path, colours, first, pages, ways=0):
    frames, of_colour = frames_of(path), [0] * colours
    for page in range(first, first + pages):
        of_colour[frames[page] % colours] += 1
    for colour, count in enumerate(of_colour):
        print("colour %2d %3d %s" % (colour, count, "#" * count))
    if ways:
        print("in colours of more than %d: %d pages" % (ways, sum(n for n in of_colour if n > ways)))


if len(sys.argv) < 5:
    sys.exit(__doc__.split("\n\n")[1])
main(sys.argv[1], *(int(word, 0) for word in sys.argv[2:]))
