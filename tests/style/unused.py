#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""unused.py ROOT: functions that a header of a room declares and nothing in the rooms calls.

What tests alone may call are the checks and dumps of structures (`x_check`, `x_dump`) and the hooks named below, each
with what a test sees through it.
"""

import glob
import os
import re
import sys

HOOKS = {
    "buddy_blocks_of": "free blocks of each order, beside those of a naive model",
    "c2_alloc_count": "how many allocations a task makes",
    "c2_alloc_fail_from": "what a task does when the n-th of them fails",
    "caches_hash_slices": "slices of a hash, beside those of a naive one",
    "interpret_refused": "forms of instructions that are not to be compared with the processor's",
    "machine_write": "a machine that is written and read again is the same",
    "machine_write_keys": "the keys, for the check of the documentation",

    "pagemap_names": "frames that a map names",
    "sim_walk_reads": "reads of cached walks by level, beside those of a naive model",
    "stream_recording_fact": "what a recording says of its run",
    "unicorn_gate_withhold": "an engine whose library lacks something",
    "unicorn_code_distrust": "a run that goes over to hooks",
    "where_count": "for analyses that count references", "where_create": "likewise", "where_rows": "likewise",
    "where_spot": "likewise",
    "analyses_callgraph_contexts": "for a test whose functions no file has",
    "contexts_functions": "likewise",
}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARED = re.compile(r"^(?!static|typedef|#)[a-z][\w ]*[ *](\w+)\([^;{]*\)(?: C2_\w+\([^;]*\))?;", re.M)


def rooms():
    with open(os.path.join(sys.argv[1], "tests", "layers.txt"), encoding="utf-8") as file:
        return [line.split()[1] for line in file if line[0] != "#"]


def sources(ending):
    text = ""
    for room in rooms():
        for path in sorted(glob.glob(os.path.join(sys.argv[1], room, "*." + ending))):
            with open(path, encoding="utf-8") as file:
                text += COMMENT.sub(" ", file.read())
    return text


def main():
    headers, code = sources("h"), sources("c") + sources("S") # assembler calls as C does
    declared = set(DECLARED.findall(headers))
    if len(declared) < 500:
        sys.exit("only %d functions declared in %s" % (len(declared), sys.argv[1]))
    words = {}
    for word in re.findall(r"\w+", code + re.sub(DECLARED, "", headers)):
        words[word] = words.get(word, 0) + 1
    unused = {name for name in declared if words.get(name, 0) < 2 and not re.search(r"_(check|dump)$", name)}
    for name in sorted(unused - set(HOOKS)):
        print("%s: called by no room" % name)
    sys.exit(1 if unused - set(HOOKS) else 0)


main()
