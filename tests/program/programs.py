# SPDX-License-Identifier: GPL-2.0-or-later
"""programs.py GROUP: real programs under c2emu and natively: the same output, the same messages, the same status.

Both run with the environment that c2emu gives its guests. What is not installed is left out, and said.
The group `simulated` runs with all caches on; the others with --no-sim. The owners of files are left out: under c2emu
they are the guest's. `identity` instead of a group looks at these.
"""

import json
import os
import random
import shutil
import sys
import tempfile

from common import EMULATOR, check, done, equal, run

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C"}

PYTHON = """
import collections, hashlib, itertools, json, math, re, struct, zlib
data = [{"n": i, "root": math.sqrt(i), "name": "item%d" % i} for i in range(200)]
text = json.dumps(data)
print(json.loads(text) == data, len(text), hashlib.sha256(text.encode()).hexdigest())
print(re.findall(r"(\\d+)\\.(\\d{3})", text)[:5], re.sub("item(\\\\d)", r"<\\1>", text)[:80])
print(math.sin(1e3), math.exp(1.5), math.gamma(7.5), math.log1p(1e-9), 0.1 + 0.2, 10 ** 40 // 7)
print(sorted(collections.Counter(text).items())[:6], "%.3e" % sum(math.atan(i) for i in range(1000)))
print(zlib.crc32(text.encode()), len(zlib.compress(text.encode())), struct.pack("<dIq", 2.5, 7, -1).hex())
print(sum(1 for p in itertools.permutations(range(6)) if p[0] < p[-1]))
"""
PERL = """my %h; my $t = join "", map { chr(97 + $_ % 26) } 0..5000; $h{$_}++ for split //, $t;
print join(",", map { "$_=$h{$_}" } sort keys %h), "\\n"; (my $u = $t) =~ s/([aeiou])/<$1>/g; print length $u, "\\n";
printf "%.15g %s %d\\n", atan2(1,1)*4, join("-", sort { $b <=> $a } 3,10,2), 2**40; print scalar reverse("abc"), "\\n";
open my $f, "<", "fixture.txt"; my $n = () = <$f>; print "$n\\n"; exit 3;"""
AWK = """{ n[$1 % 7] += length($2); s += $1 } END { for (i = 0; i < 7; i++) printf "%d:%d ", i, n[i]; print s, NR,
sin(1), exp(2), sqrt(3), substr("hello", 2, 3), toupper("abc"), index("foobar", "bar"),
sprintf("%5.2f|%x", 3.14159, 255) }"""
SHELL = """set -e; i=0; while [ $i -lt 300 ]; do i=$((i + 1)); case $i in *7) s="$s,$i";; esac; done; echo "$s"
f() { local x=$1; [ $x -le 1 ] && { r=1; return; }; f $((x - 1)); r=$((r * x)); }; f 12; echo $r
while read -r a b; do t=$((t + a)); done <fixture.txt; echo $t; printf '%05d %s %x\\n' 42 word 255; cd sub && echo *
"""
BASH = """declare -A m; for i in {1..200}; do m[$((i % 13))]+=x$i; done; echo "${#m[@]} ${m[5]}"; a=(3 1 2)
[[ foo123 =~ ([a-z]+)([0-9]+) ]] && echo "${BASH_REMATCH[2]}-${BASH_REMATCH[1]}"
s=abcdef; echo "${s:2:3} ${s^^} ${s/cd/XY}"
printf -v p '%s;' "${a[@]}"; echo "$p"; mapfile -t l <fixture.txt; echo "${#l[@]} ${l[7]}"
echo $((16#ff ** 3 % 1000)); exit 9"""

NUMPY = """
import numpy
print(numpy.linspace(0, 1, 5).sum(), numpy.longdouble(2) ** 0.5, numpy.finfo(numpy.longdouble).eps)
print(numpy.power(numpy.longdouble(1.7), numpy.longdouble(2.3)).astype(float), numpy.fft.fft([1, 2, 3, 4]))
print(numpy.random.default_rng(7).random(3), numpy.sin(numpy.arange(4)), numpy.arange(12).reshape(3, 4).T @ [1, 2, 3])
"""

GROUPS = {
    "coreutils": [
        ["true"], ["false"], ["echo", "-e", "a\\tb\\n", "c"], ["cat", "fixture.txt"], ["cat", "-A", "binary"],
        ["ls", "-go"], ["ls", "-goAR", "--full-time"], ["ls", "nothing-here"], ["wc", "fixture.txt", "binary"],
        ["head", "-n", "5", "fixture.txt"], ["tail", "-n", "3", "fixture.txt"], ["head", "-c", "100", "binary"],
        ["cut", "-d", " ", "-f", "2", "fixture.txt"], ["uniq", "-c", "sorted.txt"], ["tac", "sorted.txt"],
        ["od", "-A", "x", "-t", "x1z", "binary"], ["seq", "1", "7", "900"], ["seq", "-f", "%.3f", "0", ".1", "2"],
        ["expr", "17", "*", "(", "3", "+", "4", ")"], ["expr", "abc123", ":", "[a-z]*\\([0-9]*\\)"],
        ["sha256sum", "binary", "fixture.txt"], ["md5sum", "binary"], ["sha1sum", "binary"], ["cksum", "binary"],
        ["base64", "binary"], ["date", "-u", "-d", "@1700000000", "+%F %T %A %j"],
        ["date", "-u", "-d", "2024-02-29 +1 year"],
        ["stat", "-c", "%n %s %a %F %Y", "fixture.txt", "sub"], ["readlink", "-f", "link"],
        ["basename", "/a/b.c", ".c"],
        ["paste", "-d", ",", "sorted.txt", "sorted.txt"], ["join", "sorted.txt", "sorted.txt"], ["nl", "sorted.txt"],
        ["factor", "600851475143", "18446744073709551557"], ["numfmt", "--to=iec", "123456789"], ["test", "-d", "sub"],
        ["printf", "%d %s %5.2f\\n", "1", "x", "2.5"], ["env"], ["id", "-u", "root"], ["du", "-b", "fixture.txt"],
        ["shuf", "-i", "1-20", "--random-source=binary"], ["fold", "-w", "17", "fixture.txt"],
        ["cp", "fixture.txt", "/dev/stdout"],
    ],
    "text": [
        ["grep", "-nE", "(ab|ba)+c?|7[0-9]{2} ", "fixture.txt"], ["grep", "-c", "e", "fixture.txt"],
        ["grep", "-r", "-l", "deep", "."], ["grep", "nothing-like-it", "fixture.txt"],
        ["sed", "-n", "s/\\([0-9]*\\) \\(.*\\)/\\2:\\1/p;20q", "fixture.txt"],
        ["sed", "y/abc/xyz/;3d;$!N", "sorted.txt"],
        ["awk", AWK, "fixture.txt"], ["gawk", AWK, "fixture.txt"], ["mawk", AWK, "fixture.txt"],
        ["find", ".", "-type", "f", "-size", "+1k"], ["find", ".", "-name", "*.txt", "-newer", "binary"],
        ["diff", "-u", "fixture.txt", "sorted.txt"], ["cmp", "fixture.txt", "sorted.txt"],
        ["file", "binary", "/bin/true"],
        ["bc", "-l", "sum.bc"],
    ],
    "sort": [
        ["sort", "large.txt"], ["sort", "-n", "-r", "fixture.txt"], ["uniq", "-d", "large.txt"],
        ["wc", "-l", "large.txt"],
    ],
    "archives": [
        ["gzip", "-9", "-n", "-c", "fixture.txt"], ["gzip", "-dc", "fixture.gz"], ["bzip2", "-c", "fixture.txt"],
        ["bzip2", "-dc", "fixture.bz2"], ["xz", "-0", "-T1", "-c", "sorted.txt"], ["xz", "-dc", "sorted.xz"],
        ["tar", "--owner=0", "--group=0", "-cf", "-", "sub", "sorted.txt"],
        ["tar", "tvf", "sub.tar"],
    ],
    "languages": [
        ["/usr/bin/python3", "-I", "-c", PYTHON],
        ["/usr/bin/python3", "-S", "-c", "import sys; sys.exit(sum(range(100)) % 256)"],
        ["/usr/bin/python3", "-I", "-S", "-c", "raise ValueError('to standard error')"],
        ["perl", "-w", "-e", PERL], ["bash", "-c", BASH], ["bash", "--norc", "-c", "exit $((7 * 6))"],
        ["dash", "-c", SHELL], ["sh", "script.sh", "one", "two words"], ["./script.sh"],
        ["busybox", "sort", "sorted.txt"],
        ["sqlite3", ":memory:", "create table t(a, b); insert into t values (1, 'x'), (2, 'y'), (3, null); "
         "select sum(a), max(b), count(*) from t where a > 1; select sqrt(2), hex('ab'), printf('%.3f', 2.0 / 3);"],
    ],
    "linkage": [[os.path.join(GUESTS, "hello_" + name), "pear", "apple", "fig"]
                for name in ("dynamic", "no_pie", "static", "static_pie", "musl", "clang", "o3")] +
    [[os.path.join(IMAGES, "matmul"), "60"], [os.path.join(IMAGES, "chase"), "300", "50000"],
     [os.path.join(IMAGES, "sort"), "20000"], [os.path.join(IMAGES, "stencil"), "100", "5"]],
    "long_double": [
        [os.path.join(GUESTS, "long_double")], ["bc", "-l", "sum.bc"],
        ["gawk", "BEGIN { printf \"%.15g %.15g %.15g %d\\n\", 1.7 ^ 2.3, exp(-30), atan2(1, -3), 2 ^ 53 % 1000 }"],
        ["/usr/bin/python3", "-I", "-c", NUMPY],
    ],
    "corners": [[os.path.join(GUESTS, "corners")], [os.path.join(GUESTS, "changing_code")]],
    "areas": [[os.path.join(GUESTS, "many_areas"), "20000"], [os.path.join(GUESTS, "many_areas"), "33000", "holes"]],
    "simulated": [
        [os.path.join(GUESTS, "many_areas"), "3000", "holes"],
        [os.path.join(GUESTS, "corners")], [os.path.join(GUESTS, "changing_code")],
        ["ls", "-go"], ["sha256sum", "fixture.txt"], ["grep", "-cE", "(ab|ba)+", "fixture.txt"],
        ["sort", "fixture.txt"],
        ["gzip", "-c", "-n", "fixture.txt"], ["awk", AWK, "fixture.txt"], ["perl", "-e", PERL], ["dash", "-c", SHELL],
        ["/usr/bin/python3", "-I", "-S", "-c", "import math; print(sum(math.sqrt(i) for i in range(3000)))"],
        [os.path.join(IMAGES, "matmul"), "100"], [os.path.join(GUESTS, "hello_musl"), "x"],
        [os.path.join(GUESTS, "hello_static_pie"), "x"],
    ],
}


def fixture(directory):
    """Files with contents and times that never change."""
    draw = random.Random(20240229)

    def put(name, content):
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def words(count):
        return "".join("%d %s\n" % (draw.randrange(1000), "".join(draw.choices("abcde", k=draw.randrange(1, 9))))
                       for _ in range(count))

    text = words(1200)
    put("fixture.txt", text)
    put("sorted.txt", "".join(sorted(set(line[:3].strip() + "\n" for line in text.splitlines()))))
    put("large.txt", words(100000))
    put("binary", bytes(draw.randrange(256) for _ in range(3000)))
    put("sub/deep/file.txt", "deep down\n" * 300)
    put("sub/empty", "")
    put("sum.bc", "scale=30; 4*a(1); e(1); 2^100\n"
        "define f(n) { if (n < 2) return 1; return n * f(n - 1) }\nf(25)\nquit\n")
    put("script.sh", "#!/bin/sh\necho \"$#:$1:$2\"; s=; while read n x; do s=$n$s; done <sorted.txt; echo $s; exit 4\n")
    os.chmod(os.path.join(directory, "script.sh"), 0o755)
    os.symlink("sub/deep/file.txt", os.path.join(directory, "link"))
    for words, name in ((["gzip", "-nc", "fixture.txt"], "fixture.gz"), (["bzip2", "-c", "fixture.txt"], "fixture.bz2"),
                        (["xz", "-c", "sorted.txt"], "sorted.xz"), (["tar", "cf", "-", "sub"], "sub.tar")):
        if shutil.which(words[0]):
            put(name, run(words, cwd=directory).stdout)
    for root, folders, files in os.walk(directory):
        for name in folders + files + ["."]:
            os.utime(os.path.join(root, name), (1600000000, 1600000000), follow_symlinks=False)


def same(words, options, directory):
    what = " ".join(words)[:60]
    native = run(words, cwd=directory, env=ENVIRONMENT)
    emulated = run([EMULATOR, "-q"] + options + ["--"] + words, cwd=directory, env=dict(os.environ, HOST_ONLY="1"))
    equal(emulated.returncode, native.returncode, "status of " + what)
    for i, (a, b) in enumerate(zip(emulated.stdout.splitlines(), native.stdout.splitlines())):
        if not equal(a, b, "line %d of %s" % (i + 1, what)):
            break
    equal(len(emulated.stdout), len(native.stdout), "bytes of output of " + what)
    equal(emulated.stderr, native.stderr, "standard error of " + what)


def identity():
    """The files of who runs this belong to the guest, whoever that is: git refuses to work for others. And it is when
    the guest is told that it is."""
    equal(run([EMULATOR, "-q", "--no-sim", "--clock", "2024-02-29T12:30", "date", "-u", "+%F %T"]).stdout,
          b"2024-02-29 12:30:00\n", "the date")
    with tempfile.TemporaryDirectory() as directory:
        fixture(directory)
        result = run([EMULATOR, "-q", "--no-sim", "stat", "-c", "%u %g %F", "fixture.txt", "."], cwd=directory)
        equal(result.stdout, b"1000 1000 regular file\n1000 1000 directory\n", "owners")
        if not shutil.which("git", path=ENVIRONMENT["PATH"]):
            print("not installed: git")
            done()
        who = ["-c", "user.name=a", "-c", "user.email=b"]
        for words in (["init", "-q"], ["add", "fixture.txt"], who + ["commit", "-q", "-m", "first"]):
            equal(run(["git"] + words, cwd=directory, env=ENVIRONMENT).returncode, 0, "git " + words[0])
        same(["git", "log", "--format=%an %s"], ["--no-sim"], directory)
    done()


def is_there(words, directory):
    if words[-1] == NUMPY and not os.path.isdir("/usr/lib/python3/dist-packages/numpy"):
        return False
    return shutil.which(words[0], path=ENVIRONMENT["PATH"]) or os.path.exists(os.path.join(directory, words[0]))


def main(group):
    programs = []
    with tempfile.TemporaryDirectory() as directory:
        fixture(directory)
        for words in GROUPS[group]:
            program = words[0]
            if not is_there(words, directory):
                print("not installed:", "python3-numpy" if words[-1] == NUMPY else program)
                continue
            options = ["--no-sim"]
            if group == "simulated":
                report = os.path.join(directory, "..", os.path.basename(directory) + ".json")
                options = ["--json", report]
            same(words, options, directory)
            if group == "simulated":
                with open(report) as file:
                    n = json.load(file)["run"]
                os.remove(report)
                check(n["measured"]["instructions"] == n["instructions"] > 10000, "%s: %r" % (program, n))
            programs.append(os.path.basename(program))
    print("%d runs of %s" % (len(programs), " ".join(sorted(set(programs)))))
    done()


identity() if sys.argv[1] == "identity" else main(sys.argv[1])
