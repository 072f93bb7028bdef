# SPDX-License-Identifier: GPL-2.0-or-later
"""sandbox.py PART: --sandbox with real programs.

tools   Debian's own programs change what lies below the directory and --writable, and say "Read-only file system" of
        all else
report  a program that changes nothing has the same report
race    another process exchanges a directory and a link that leads out of it, while the program writes through the name
outputs reports and profiles are written where they were to go, though the program could not write there
root    on a terminal root is told, once, and not with --sandbox
escapes system calls that are hidden, written, or those of 32-bit programs; other bases and keys: none leads out, by
        either engine
apart   what the program has lies below 64 TiB, what c2emu has above; what of that the program can reach, by each
        engine; no page of the native engine's is ever written where it is executed, and none of the program's executed
"""

import ctypes
import json
import os
import pty
import subprocess
import sys
import tempfile

from common import EMULATOR, check, contains, done, equal, need_terminals, run, skip

GUESTS = os.environ["GUESTS"]
RENAME_EXCHANGE = 2
AT_FDCWD = -100


def under(directory, *words, options=(), **more):
    return run([EMULATOR, "-q", "--no-sim", "--sandbox", *options, "--", *words], cwd=directory, **more)


def make(top):
    for name in ("in", "out", "more"):
        os.mkdir(os.path.join(top, name))
    with open(os.path.join(top, "out", "file"), "w") as file:
        file.write("kept\n")
    with open(os.path.join(top, "in", "own"), "w") as file:
        file.write("yes\n")
    return os.path.join(top, "in"), os.path.join(top, "out"), os.path.join(top, "more")


def tools(top):
    inside, outside, more = make(top)
    for words in (["touch", "a"], ["cp", "own", "b"], ["mv", "b", "c"], ["ln", "c", "d"], ["ln", "-s", "c", "e"],
                  ["mkdir", "-p", "f/g"], ["rmdir", "f/g"], ["chmod", "600", "c"], ["truncate", "-s", "9", "c"],
                  ["sed", "-i", "s/yes/no/", "own"], ["cp", "../out/file", "h"], ["dd", "if=/dev/zero", "of=/dev/null",
                                                                                "bs=1", "count=1", "status=none"]):
        result = under(inside, *words)
        equal((result.returncode, result.stdout, result.stderr), (0, b"", b""), " ".join(words))
    equal(sorted(os.listdir(inside)), ["a", "c", "d", "e", "f", "h", "own"], "what was made")
    equal(open(os.path.join(inside, "own")).read(), "no\n", "what sed wrote")
    for words in (["touch", "../out/file"], ["cp", "own", "../out/new"], ["mv", "own", "../out/new"],
                  ["rm", "-f", "../out/file"], ["ln", "../out/file", "i"], ["mkdir", "../out/d"],
                  ["chmod", "777", "../out/file"], ["truncate", "-s", "0", "../out/file"], ["touch", "../more/x"],
                  ["sed", "-i", "s/k/x/", "../out/file"]):
        result = under(inside, *words)
        check(result.returncode != 0, "%s has succeeded" % " ".join(words))
        contains(result.stderr.decode(), ["Read-only file system"], " ".join(words))
    equal(under(inside, "touch", "../more/x", options=["--writable", "../more"]).returncode, 0, "--writable")
    equal((os.listdir(more), os.listdir(outside), open(os.path.join(outside, "file")).read()),
          (["x"], ["file"], "kept\n"), "what lies outside")
    refused = run([EMULATOR, "--sandbox", "--writable", "nowhere", "/bin/true"], cwd=inside)
    equal((refused.returncode, refused.stderr), (125, b"c2emu: --writable nowhere: No such file or directory\n"),
          "a directory that is not there")


def same_report(top):
    inside, _, _ = make(top)
    written = []
    for options in ([], ["--sandbox"]):
        path = os.path.join(top, "report.json")
        run([EMULATOR, "-q", "--json", path, *options, "wc", "/usr/include/stdio.h"], cwd=inside)
        with open(path) as file:
            written.append(json.load(file))
        del written[-1]["receipt"]
    equal(written[1], written[0], "the report of a program that changes nothing")


def flip(directory, guest, options):
    """The guest's words and whether a file appeared outside, at any time."""
    libc = ctypes.CDLL(None, use_errno=True)
    paths = [os.path.join(directory, name).encode() for name in ("in/way", "in/link")]
    outside = os.path.join(directory, "out", "file")
    escaped = flips = 0
    process = subprocess.Popen([EMULATOR, "-q", "--no-sim", *options, os.path.join(GUESTS, "race"), "4000"],
                               cwd=os.path.join(directory, "in"), stdout=subprocess.PIPE)
    while process.poll() is None:
        if libc.renameat2(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) != 0:
            return "renameat2: " + os.strerror(ctypes.get_errno()), 0
        flips += 1
        if os.path.exists(outside):
            escaped += 1
    return process.stdout.read().decode().split(), escaped + os.path.exists(outside)


def race(top):
    for name in ("in", "out", "in/way"):
        os.mkdir(os.path.join(top, name))
    os.symlink("../out", os.path.join(top, "in", "link"))
    words, escaped = flip(top, "race", ["--sandbox"])
    check(len(words) == 6 and int(words[0]) > 0 and int(words[2]) > 0, "the race was none: %s" % words)
    equal(escaped, 0, "files outside")
    words, escaped = flip(top, "race", [])
    check(escaped > 0, "without --sandbox the race leads nowhere: %s" % words)


def outputs(top):
    inside, _, _ = make(top)
    reports = os.path.join(top, "reports")
    os.mkdir(reports)
    files = {"--json": "r.json", "--record": "r.rec", "--callgrind": "r.cg", "--cachegrind": "r.cac",
             "--evictors": "r.evi", "--trace": "r.din", "--dump-pagemap": "r.map"}
    words = [word for option, name in files.items() for word in (option, os.path.join(reports, name))]
    result = run([EMULATOR, "-q", "--sandbox", "-o", os.path.join(top, "dir"), *words, "touch", "a", "../reports/x"],
                 cwd=inside)
    contains(result.stderr.decode(), ["touch: cannot touch '../reports/x': Read-only file system"], "its words")
    equal((result.returncode, sorted(os.listdir(reports))), (1, sorted(files.values())), "the files")
    equal(sorted(os.listdir(os.path.join(top, "dir"))), ["report.json", "report.txt"], "the directory")
    result = run([EMULATOR, "advise", "--sandbox", "-q", "--json", os.path.join(reports, "a.json"), "/bin/true"],
                 cwd=inside)
    equal((result.returncode, os.path.exists(os.path.join(reports, "a.json"))), (0, True), "advise")


def on_a_terminal(words, cwd):
    output = []

    def read(fd):
        output.append(os.read(fd, 4096))
        return b""

    here = os.getcwd()
    os.chdir(cwd)
    pty.spawn(words, read, lambda fd: b"")
    os.chdir(here)
    return b"".join(output).decode()


def root(top):
    need_terminals()
    said = "you are root"
    options = [EMULATOR, "--no-sim"]
    equal(on_a_terminal(options + ["/bin/true"], top).count(said), int(os.geteuid() == 0), "what root is told")
    for more in (["--sandbox"], ["-q"]):
        equal(on_a_terminal(options + more + ["/bin/true"], top).count(said), 0, "with " + more[0])


ENGINES = ("unicorn", "native")
REFUSED = {"int80": "INT 80h calls the 32-bit kernel", "sysenter": "SYSENTER calls the 32-bit kernel",
           "wrgsbase": "FSGSBASE is beyond", "selector": "loading, pushing and popping segment registers",
           "wrpkru": "PKU is beyond"}
WINDOW_END = 64 << 40


def confined(engine, way, inside, **more):
    return subprocess.Popen([EMULATOR, "-q", "--no-sim", "--sandbox", "--engine", engine, "--",
                             os.path.join(GUESTS, "escapes"), way], cwd=inside, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def need_native():
    result = run([EMULATOR, "-q", "--no-sim", "--engine", "native", "/bin/true"])
    if b"the native engine needs" in result.stderr:
        skip(result.stderr.decode().strip())


def escapes(top):
    inside, outside, _ = make(top)
    need_native()
    for engine in ENGINES:
        for way in ("hidden", "made", "changed", "aliased"):
            output, _ = confined(engine, way, inside).communicate()
            equal(output, "-30\n", "%s by %s: EROFS" % (way, engine))
        equal(confined(engine, "swapgs", inside).communicate()[0], "SEGV\n", "swapgs by " + engine)
        for way, words in REFUSED.items():
            process = confined(engine, way, inside)
            output, messages = process.communicate()
            equal((process.returncode, output), (125, ""), "%s by %s" % (way, engine))
            contains(messages, [words], "%s by %s" % (way, engine))
    equal(os.listdir(outside), ["file"], "what lies outside")


def mappings(pid):
    """Start, end and rights of each."""
    with open("/proc/%d/maps" % pid) as file:
        rows = [line.split()[:2] for line in file]
    return [(*(int(word, 16) for word in where.split("-")), rights) for where, rights in rows]


def sent(engine, way, inside, choose):
    """What the program writes that jumps to, or loads from, the address that `choose` takes from c2emu's mappings."""
    process = confined(engine, way, inside)
    equal(process.stdout.readline(), "waits\n", "%s by %s" % (way, engine))
    address = choose(mappings(process.pid))
    return process.communicate("%x" % address)[0]


def of_code(found):
    """What c2emu executes itself: the native engine's translations, if there are any, lie in shared memory."""
    codes = [start for start, _, rights in found if start >= WINDOW_END and "x" in rights]
    shared = [start for start, _, rights in found if rights == "r-xs"]
    return (shared or codes)[0]


def of_data(found):
    return [start for start, _, rights in found if start >= WINDOW_END and rights.startswith("rw-")][0]


def keeps_apart(found):
    check(all(end <= WINDOW_END or start >= WINDOW_END for start, end, _ in found), "a mapping on both sides")
    check(not any("x" in rights for start, _, rights in found if start < WINDOW_END), "the host executes the program")
    check(not any("w" in rights and "x" in rights for _, _, rights in found), "code that may be written")
    equal(len([rights for _, _, rights in found if rights == "r-xs"]), 1, "where translations are executed")
    return of_code(found)


def apart(top):
    inside, _, _ = make(top)
    need_native()
    for engine in ENGINES:
        equal(sent(engine, "jump", inside, of_code), "SEGV\n", "into c2emu's code, by " + engine)
        equal(sent(engine, "jump", inside, lambda found: 0xffffffffff600000), "SEGV\n", "into vsyscall, " + engine)
    equal(sent("native", "jump", inside, keeps_apart), "SEGV\n", "into a translation")
    equal(sent("unicorn", "load", inside, of_data), "SEGV\n", "c2emu's memory, by Unicorn")
    equal(sent("native", "load", inside, of_data), "0\n", "c2emu's memory, as docs/sandbox.md says, by native")


PARTS = {"tools": tools, "report": same_report, "race": race, "outputs": outputs, "root": root,
         "escapes": escapes, "apart": apart}
with tempfile.TemporaryDirectory() as directory:
    PARTS[sys.argv[1]](directory)
done()
