#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What an engine costs: the table of README.md, "The native engine". usage: bench/engines.py [RUNS [PROGRAM...]]

Processor time, user and system, of programs without c2emu, with --no-sim, and with a recording written to /dev/null,
which compresses it (gcc's is in its children, which write none there): medians of RUNS runs (5), those of a program in
turn; and the geometric means of the ratios. C2EMU and IMAGES name others than build/c2emu and build/images; PROGRAM:
rows of the table (all). What is not installed is left out by name.
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile

from paired import C2EMU, ROOT, in_turn, timed

IMAGES = os.environ.get("IMAGES", os.path.join(ROOT, "build", "images"))

AVX2 = r"""
#include <immintrin.h>
#include <stdio.h>
static float x[2048], y[2048];
int main(void)
{
    for (int i = 0; i < 2048; i++)
        x[i] = i, y[i] = 1;
    for (int round = 0; round < 400000; round++)
        for (int i = 0; i < 2048; i += 8)
            _mm256_storeu_ps(y + i, _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(1e-6f),
                                                    _mm256_loadu_ps(y + i)));
    printf("%g\n", y[2047]);
}
"""
SCRIPT = """
function f(n) { let a = new Int32Array(1000), s = 0;
for (let k = 0; k < n; k++) for (let i = 0; i < 1000; i++) { a[i] = a[i] + i * k | 0; s = s + a[i] | 0; } return s; }
console.log(f(20000));
"""
SQL = ("create table t(a integer, b text); insert into t with recursive n(i) as (select 1 union all select i+1 from n "
       "where i < 200000) select i * 7919 % 65537, 'row ' || i from n; create index u on t(a); "
       "select count(*), sum(length(b)) from t where a < 30000; select a % 7, count(*) from t group by 1;")


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def numbers(lines):
    state, out = 1, []
    for _ in range(lines):
        state = (state * 1103515245 + 12345) % 2**31
        out.append("%d %d\n" % (state >> 11, state % 997))
    return "".join(out)


def source(functions):
    body = "int f%d(int a, const char *s) { int t = %d; for (int i = 0; i < a; i++) t += s[i] * i %% %d; return t; }\n"
    return "#include <stdio.h>\n#include <stdlib.h>\n" + "".join(body % (i, i, i + 3) for i in range(functions))


def avx2(directory):
    out = os.path.join(directory, "avx2")
    subprocess.run(["cc", "-O2", "-mavx2", "-mfma", "-o", out, write(directory, "avx2.c", AVX2)], check=True)
    return out


def programs(directory):
    """(row, options, command)"""
    text = write(directory, "t.txt", numbers(200000))
    return [("multiplication of 400 x 400", [], [os.path.join(IMAGES, "matmul"), "400"]),
            ("chase", [], [os.path.join(IMAGES, "chase")]),
            ("sort", [], ["sort", "--parallel=1", text]),
            ("gzip -9c", [], ["gzip", "-9c", text]),
            ("mawk, a loop", [], ["mawk", "BEGIN{for(i=0;i<5000000;i++)s+=i%7;print s}"]),
            ("python3, a loop", [], ["/usr/bin/python3", "-I", "-S", "-c",
                                     "print(sum(i*i%7 for i in range(1500000)))"]),
            ("gcc -c", [], ["gcc", "-O1", "-c", "-o", "/dev/null", write(directory, "s.c", source(150))]),
            ("node, a loop", [], ["node", write(directory, "s.js", SCRIPT)]),
            ("sqlite3", [], ["sqlite3", ":memory:", SQL]),
            ("an AVX2 loop", ["--cpu", "x86-64-v3"], [avx2(directory)])]


def row(name, options, command, runs):
    before = [C2EMU, "-q", *options]
    commands = [command, [*before, "--no-sim", "--", *command],
                [*before, "--no-sim", "--record", "/dev/null", "--", *command]]
    native, alone, *recorded = (processor for processor, _ in
                                in_turn(commands[:2] if command[0] == "gcc" else commands, runs, timed))
    recording = "%.2f | %.2f" % (recorded[0], recorded[0] / alone) if recorded else " | "
    print("| %s | %.2f | %.2f | %.2f | %s |" % (name, native, alone, alone / native, recording), flush=True)
    return alone / native, recorded[0] / alone if recorded else None


def mean(ratios):
    known = [ratio for ratio in ratios if ratio]
    return math.exp(sum(map(math.log, known)) / len(known))


def main(runs="5", *wanted):
    with tempfile.TemporaryDirectory() as directory:
        chosen = [each for each in programs(directory) if not wanted or each[0] in wanted]
        print("| program | without c2emu | `--no-sim` | ratio | `--record` | to `--no-sim` |\n"
              "|---|---|---|---|---|---|")
        ratios = []
        for name, options, command in chosen:
            if shutil.which(command[0]):
                ratios.append(row(name, options, command, int(runs)))
            else:
                print("%s is not installed" % command[0], file=sys.stderr)
        print("| geometric mean | | | %.2f | | %.2f |" % tuple(mean(column) for column in zip(*ratios)))


if __name__ == "__main__":
    main(*sys.argv[1:])
