# SPDX-License-Identifier: GPL-2.0-or-later
"""names.py heap|unread|option|containers|text: what reports call blocks of the heap.

heap        guests/wrappers.c by two compilers, optimised and not, with old and new debug information: every block has
            the name that the comment behind its call gives, the place of that call, and the functions that passed it on
unread      the same without the source: what only the source says is not said, the rest is
option      --alloc-wrapper
containers  guests/containers.cc: blocks of the C++ library
text        how the text report says it
"""

import os
import re
import sys

from common import check, contains, done, emulate, equal, report

GUESTS = os.environ["GUESTS"]
HERE = os.path.dirname(os.path.realpath(__file__))


def expected(source):
    """{bytes: (name, line)} of the comments `NAME BYTES`."""
    names = {}
    with open(os.path.join(HERE, "guests", source)) as file:
        for number, line in enumerate(file, 1):
            match = re.search(r"(?:/\* |// )(\S+) ([0-9]{2,})(?: \*/)?$", line.rstrip())
            if match:
                names[int(match.group(2))] = (match.group(1), number)
    return names


def blocks(program, *options):
    """{bytes: object}, of sizes that only one block has; the objects of several are by name."""
    found = report(list(options), [os.path.join(GUESTS, program)])
    heap = [entry for entry in found["objects"] if entry.get("kind") == "heap" and "site" in entry]
    sizes = [entry["size"] for entry in heap]
    return {entry["size"]: entry for entry in heap if sizes.count(entry["size"]) == 1}, \
        {entry["name"]: entry for entry in heap}


def bare(function):
    """Without what a compiler adds to the names of its variants."""
    return re.sub(r"\(.*|\..*", "", function)


def chain(entry):
    return [bare(site["function"]) for site in entry.get("sites", [])]


BUILDS = ["%s_%s_%s" % (compiler, level, dwarf) for compiler in ("gcc", "clang") for level in ("O0", "O2")
          for dwarf in (4, 5)]


def check_block(entry, name, line, what):
    equal((entry["name"], entry["site"]["line"], bare(entry["site"]["function"])), (name, line, "main"), what)


def heap():
    wanted = expected("wrappers.c")
    check(len(wanted) == 9, "comments: %s" % wanted)
    table = wanted.pop(13312)
    for build in BUILDS:
        sizes, names = blocks("wrappers_" + build)
        for size, (name, line) in wanted.items():
            check_block(sizes[size], name, line, build)
        equal((sizes[13312]["name"], sizes[13312]["site"]["line"]), table, build + ": a field")
        equal(chain(sizes[13312]), [], build + ": a field")
        outer = chain(sizes[5120])
        check(outer in (["xmalloc", "alloc_data", "main"], ["xmalloc", "main"]), "%s: %s" % (build, outer))
        equal(chain(sizes[8192]), ["xmalloc", "main"], build)
        equal(chain(sizes[10312]), ["aligned", "main"], build)
        equal(chain(sizes[12288]), [], build)
        equal(sizes[5120]["refs"], 2 * 5120 // 64 + 10000, build + ": references")
        # four blocks of one call in a loop
        rows = sorted(name for name, entry in names.items() if entry["size"] == 9216)
        check(rows in (["rows[i]#%d" % n for n in range(5, 9)], ["rows.%d" % n for n in range(4)]),
              "%s: %s" % (build, rows))
        # a tree's nodes: each is what a call of build() has given; the root's is main's
        tree = [entry for entry in names.values() if entry["size"] % 4216 == 0]
        equal({(entry["name"].split("#")[0], bare(entry["site"]["function"])) for entry in tree},
              {("tree", "main"), ("node->left", "build"), ("node->right", "build")}, build + ": nodes")
        # not a wrapper: it gives the block out through a pointer
        equal((sizes[11264]["name"], bare(sizes[11264]["site"]["function"])), ("*out", "make"), build)


def unread():
    wanted = expected("wrappers.c")
    for build in ("gcc_O0_unread", "gcc_O2_unread", "clang_O2_unread"):
        sizes, _ = blocks("wrappers_" + build)
        for size in (5120, 6144, 7168, 8192, 10312, 16, 39):
            check_block(sizes[size], *wanted[size], build)
        for size in (13312, 12288, 11264):
            check(re.fullmatch(r"malloc#\d+", sizes[size]["name"]), "%s: %s" % (build, sizes[size]["name"]))


def option():
    for build in ("gcc_O0_5", "gcc_O2_5"):
        sizes, _ = blocks("wrappers_" + build, "--alloc-wrapper", "make")
        equal(chain(sizes[11264]), ["make", "main"], build)
        check(re.fullmatch(r"malloc#\d+", sizes[11264]["name"]), "not `status`: " + sizes[11264]["name"])
        equal(sizes[5120]["name"], "beta", build)
    guest = os.path.join(GUESTS, "wrappers_gcc_O0_5")
    said = emulate(["-q", "--alloc-wrapper", "mike", guest]).stderr.decode()
    equal(said, 'c2emu: --alloc-wrapper mike: no function has this name; did you mean "make"?\n', "an unknown name")
    said = emulate(["-q", "--alloc-wrapper", "_exit", guest]).stderr.decode()
    equal(said, "c2emu: --alloc-wrapper _exit: no block was allocated in a function of this name\n", "no allocator")
    for leave_out in ("sim", "attribution"):
        result = emulate(["--no-" + leave_out, "--alloc-wrapper", "make", guest])
        equal((result.returncode, result.stderr.decode()),
              (125, "c2emu: --alloc-wrapper names blocks, which --no-%s leaves out; leave one out\n" % leave_out),
              leave_out)


def containers():
    wanted = expected("containers.cc")
    inlined = {20480: "cells"}  # the constructor of main's object is a part of main
    for build in ("gcc_O0", "gcc_O2", "clang_O0", "clang_O2"):
        sizes, _ = blocks("containers_" + build)
        for size, (name, line) in wanted.items():
            entry = sizes[size]
            if name != "malloc":
                check_block(entry, name, line, build)
            elif size in inlined and build.endswith("O2"):
                equal(entry["name"], inlined[size], build)
            elif entry["name"] != "owned":  # clang keeps the pointer in the register that the class is
                check(re.fullmatch(r"malloc#\d+", entry["name"]), "%s: %s" % (build, entry["name"]))
                equal(entry["site"]["line"], line, build)


def text():
    said = " ".join(emulate(["-m", "teach", os.path.join(GUESTS, "wrappers_gcc_O0_5")]).stderr.decode().split())
    wanted = {name: line for name, line in expected("wrappers.c").values()}
    for name, size in (("beta", "5.0"), ("gamma", "6.0"), ("delta", "7.0")):
        contains(said, ["%s at wrappers.c:%d via alloc_data (wrappers.c:28), xmalloc (wrappers.c:17) (%s KiB): "
                        "9,999 conflict misses in L1D at main " % (name, wanted[name], size)], "the text")


{"heap": heap, "unread": unread, "option": option, "containers": containers, "text": text}[sys.argv[1]]()
done()
