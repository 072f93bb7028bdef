# SPDX-License-Identifier: GPL-2.0-or-later
"""programs.py GROUP [PROCESSOR]: real programs under c2emu and natively: the same output, messages and status, and the
same files. With a processor, a word for --cpu, all run without caches on that one; by hand, "all" is all groups of the
table: programs.py all x86-64-v3.

Both run in copies of one directory, with the environment that c2emu gives its guests. Groups are those of
tests/programs.tsv and of the list here, whose programs this build makes. What is not installed is left out, and said.
The group `simulated`, and rows of the table that say so, run with all caches on; the others with --no-sim. The owners
of files are left out: under c2emu they are the guest's, and so are links and sizes of directories. `identity` instead
of a group looks at the owners.
"""

import json
import os
import random
import shlex
import shutil
import sys
import tempfile
import time

from common import EMULATOR, check, done, equal, run, skip

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C"}

STARTED = ("gcc", "git", "python3", "sqlite3", "x264")  # by another program of the row

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs.tsv")
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guests", "table")

GROUPS = {
    "linkage": [[os.path.join(GUESTS, "hello_" + name), "pear", "apple", "fig"]
                for name in ("dynamic", "no_pie", "static", "static_pie", "musl", "clang", "o3")] +
    [[os.path.join(IMAGES, "matmul"), "60"], [os.path.join(IMAGES, "chase"), "300", "50000"],
     [os.path.join(IMAGES, "sort"), "20000"], [os.path.join(IMAGES, "stencil"), "100", "5"]],
    "long_double": [
        [os.path.join(GUESTS, "long_double")], ["bc", "-l", "sum.bc"],
        ["gawk", "BEGIN { printf \"%.15g %.15g %.15g %d\\n\", 1.7 ^ 2.3, exp(-30), atan2(1, -3), 2 ^ 53 % 1000 }"],
        ["/usr/bin/python3", "-I", "long_numbers.py"],
    ],
    "corners": [[os.path.join(GUESTS, "corners")], [os.path.join(GUESTS, "changing_code")]],
    "areas": [[os.path.join(GUESTS, "many_areas"), "20000"], [os.path.join(GUESTS, "many_areas"), "33000", "holes"]],
    "simulated": [
        [os.path.join(GUESTS, "many_areas"), "3000", "holes"],
        [os.path.join(GUESTS, "corners")], [os.path.join(GUESTS, "changing_code")],
        ["ls", "-go", "--hide=sub"], ["sha256sum", "fixture.txt"], ["grep", "-cE", "(ab|ba)+", "fixture.txt"],
        ["sort", "fixture.txt"],
        ["gzip", "-c", "-n", "fixture.txt"], ["awk", "-f", "sums.awk", "fixture.txt"], ["perl", "words.pl"],
        ["dash", "loops.sh"],
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
    for name in os.listdir(SOURCES):
        shutil.copy(os.path.join(SOURCES, name), directory)
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
                        (["xz", "-c", "sorted.txt"], "sorted.xz"), (["tar", "cf", "-", "sub"], "sub.tar"),
                        (["tar", "cJf", "-", "--mtime=@0", "sub"], "sub.txz")):
        if shutil.which(words[0]):
            put(name, run(words, cwd=directory).stdout)
    settle(directory)


def settle(directory):
    for root, folders, files in os.walk(directory):
        for name in folders + files + ["."]:
            os.utime(os.path.join(root, name), (1500000000, 1500000000), follow_symlinks=False)


def contents(directory):
    """What each file of a directory holds."""
    found = {}
    for root, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(root, name)
            if os.path.islink(path):
                found[os.path.relpath(path, directory)] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, directory)] = file.read()
    return found


def run_in_copy(words, directory, environment):
    """In a directory of the same name each time."""
    copy = directory + ".run"
    shutil.copytree(directory, copy, symlinks=True)
    try:
        return run(words, cwd=copy, env=environment, timeout=300), contents(copy)
    finally:
        shutil.rmtree(copy)


def same(words, options, directory):
    what = " ".join(words)[:60]
    native, made = run_in_copy(words, directory, ENVIRONMENT)
    emulated, files = run_in_copy([EMULATOR, "-q"] + options + ["--"] + words, directory,
                                  dict(ENVIRONMENT, HOST_ONLY="1"))
    equal(emulated.returncode, native.returncode, "status of " + what)
    for i, (a, b) in enumerate(zip(emulated.stdout.splitlines(), native.stdout.splitlines())):
        if not equal(a, b, "line %d of %s" % (i + 1, what)):
            break
    equal(len(emulated.stdout), len(native.stdout), "bytes of output of " + what)
    equal(emulated.stderr, native.stderr, "standard error of " + what)
    equal(sorted(files), sorted(made), "files of " + what)
    for name in files:
        check(files[name] == made.get(name), "%s makes another %s" % (what, name))


def identity():
    """The files of who runs this belong to the guest, whoever that is: git refuses to work for others. And it is when
    the guest is told that it is, while times of files that it does not change are the host's."""
    equal(run([EMULATOR, "-q", "--no-sim", "--clock", "2024-02-29T12:30", "date", "-u", "+%F %T"]).stdout,
          b"2024-02-29 12:30:00\n", "the date")
    with tempfile.TemporaryDirectory() as directory:
        fixture(directory)
        result = run([EMULATOR, "-q", "--no-sim", "stat", "-c", "%u %g %F", "fixture.txt", "."], cwd=directory)
        equal(result.stdout, b"1000 1000 regular file\n1000 1000 directory\n", "owners")
        os.utime(os.path.join(directory, "fixture.txt"))
        for clock, warns in ((["--clock", "2040-01-01"], False), ([], True)):
            result = run([EMULATOR, "-q", "--no-sim", *clock, "make", "-B", "-f", "rules.mk", "one"], cwd=directory)
            equal((result.returncode, result.stdout), (0, b"cp fixture.txt one\n"), "make")
            equal(b"in the future" in result.stderr, warns, "make warns of times, %s" % clock)
        times(directory)
        if not shutil.which("git", path=ENVIRONMENT["PATH"]):
            print("not installed: git")
            done()
        who = ["-c", "user.name=a", "-c", "user.email=b"]
        for words in (["init", "-q"], ["add", "fixture.txt"], who + ["commit", "-q", "-m", "first"]):
            equal(run(["git"] + words, cwd=directory, env=ENVIRONMENT).returncode, 0, "git " + words[0])
        same(["git", "log", "--format=%an %s"], ["--no-sim"], directory)
    done()


def times(directory):
    """Of what a run makes: the same every time, though the host's clock goes on, and newer than what it was made from.
    """
    script = ("make -f rules.mk one && make -f rules.mk one; cat one > two; chmod +x two\n"
              "stat -c '%n %y %z' one two; test two -nt fixture.txt && echo newer")
    said = []
    for _ in range(2):
        for name in ("one", "two"):
            if os.path.exists(os.path.join(directory, name)):
                os.remove(os.path.join(directory, name))
        said.append(run([EMULATOR, "-q", "--no-sim", "sh", "-c", script], cwd=directory).stdout.decode())
        made = "cp fixture.txt one\nmake: 'one' is up to date.\n"
        check(said[-1].startswith(made), "make makes it once: " + said[-1])
        check(said[-1].endswith("\nnewer\n"), "what is made is newer: " + said[-1])
        time.sleep(0.02)
    equal(said[0], said[1], "times of files")


def rows_of(group):
    """Of the table: package, how it is run, words."""
    with open(TABLE) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [(package, how, shlex.split(line)) for name, package, how, line in rows if name == group]


def groups_of(group):
    with open(TABLE) as file:
        names = [line.split("\t")[0] for line in file if not line.startswith("#")]
    return list(dict.fromkeys(names)) if group == "all" else [group]


def need_processor(processor):
    result = run([EMULATOR, "-q", "--no-sim", "--cpu", processor, "/bin/true"])
    if result.returncode != 0:
        skip(result.stderr.decode().strip())


def build(group, directory):
    """What its programs need of compilers, where these are."""
    for package, how, words in rows_of(group):
        if how == "build" and shutil.which(words[0]):
            equal(run(words, cwd=directory).returncode, 0, " ".join(words))
    settle(directory)


def is_there(words, package, directory):
    if package == "python3-numpy" and not os.path.isdir("/usr/lib/python3/dist-packages/numpy"):
        return False
    if words[0] == "java" and not os.path.exists(os.path.join(directory, "Count.class")):
        return False
    if package in STARTED and not shutil.which(package, path=ENVIRONMENT["PATH"]):
        return False
    return shutil.which(words[0], path=ENVIRONMENT["PATH"]) or os.path.exists(os.path.join(directory, words[0]))


def run_simulated(words, directory):
    report = directory + ".json"
    same(words, ["--json", report], directory)
    with open(report) as file:
        n = json.load(file)["run"]
    os.remove(report)
    check(n["measured"]["instructions"] == n["instructions"] > 10000, "%s: %r" % (words[0], n))


def main(group, *processor):
    programs = []
    options = [word for name in processor for word in ("--cpu", name)]
    rows = [row for row in rows_of(group) if row[1] != "build"]
    rows += [("", "sim" if group == "simulated" else "run", words) for words in GROUPS.get(group, [])]
    with tempfile.TemporaryDirectory() as top:
        directory = os.path.join(top, "here")
        os.mkdir(directory)
        fixture(directory)
        build(group, directory)
        for package, how, words in rows:
            if words[-1] == "long_numbers.py":
                package = "python3-numpy"
            if not is_there(words, package, directory):
                print("not installed: %s, for %s" % (package or words[0], words[0]))
                continue
            if how == "sim" and not processor:
                run_simulated(words, directory)
            else:
                same(words, ["--no-sim"] + options, directory)
            programs.append(os.path.basename(words[0]))
    check(programs, "no program of " + group)
    print("%d runs of %s" % (len(programs), " ".join(sorted(set(programs)))))


if __name__ == "__main__":
    if sys.argv[1] == "identity":
        identity()
    for name in sys.argv[2:]:
        need_processor(name)
    for name in groups_of(sys.argv[1]):
        main(name, *sys.argv[2:])
    done()
