# SPDX-License-Identifier: GPL-2.0-or-later
"""root.py PART: --root DIR with small trees.

debian   Debian's own programs and libraries, copied: paths, links and ".." stay in the tree, and so do /proc and errors
write    what is made lies in the tree, and with --sandbox below the directory that the program starts in
musl     a program with musl's dynamic linker, which the host need not have: its report has lines of the tree's source
cache    what else is in the dynamic linker's cache of libraries changes nothing; what a program needs of it, it gets
receipt  names the tree; verify finds that the same run comes out, and what has changed in the tree
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from common import EMULATOR, check, contains, done, equal, need, run, without_receipt

PROGRAMS = ["bash", "cat", "ls", "readlink", "touch", "rmdir", "rm"]
APP = r"""
#include <stdio.h>
#include <stdlib.h>

static int data[1000];

int main(int argc, char **argv)
{
    char text[64] = "", *path = realpath("/usr/link", NULL);
    FILE *file = fopen("/etc/motd", "r");
    if (!file || !fgets(text, sizeof text, file) || argc != 2)
        return 1;
    for (int i = 0; i < 1000; i++)
        data[i] += i;
    printf("%s%s %d %s\n", text, argv[1], data[999], path);
    return 3;
}
"""


def copy(tree, path):
    to = tree + path
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(path, to)


def debian(tree):
    """bin, lib and etc/file; usr/bin is an absolute link, home/up one that would lead out."""
    os.mkdir(tree)
    for name in PROGRAMS:
        real = os.path.realpath(shutil.which(name, path="/usr/bin:/bin"))
        os.makedirs(os.path.join(tree, "bin"), exist_ok=True)
        shutil.copy(real, os.path.join(tree, "bin", name))
        for library in re.findall(r"(/\S+)", run(["ldd", real]).stdout.decode()):
            if not os.path.exists(tree + library):
                copy(tree, library)
    for name in ("etc", "home", "usr"):
        os.mkdir(os.path.join(tree, name))
    with open(os.path.join(tree, "etc", "file"), "w") as file:
        file.write("in the tree\n")
    os.symlink("/bin", os.path.join(tree, "usr", "bin"))
    os.symlink("../../../../../etc/file", os.path.join(tree, "home", "up"))
    os.symlink("/home/again", os.path.join(tree, "home", "again"))


def inside(tree, *words, options=(), cwd=None):
    return run([EMULATOR, "-q", "--no-sim", "--root", tree, *options, "--", *words], cwd=cwd or "/")


def says(result, text, what):
    equal((result.returncode, result.stdout.decode(), result.stderr.decode()), (0, text, ""), what)


def paths(top):
    tree, home = os.path.join(top, "tree"), os.path.join(top, "tree", "home")
    debian(tree)
    once = "in the tree\n"
    says(inside(tree, "cat", "/etc/file", "/home/up", "../../etc/file", "/usr/bin/../etc/file"), 4 * once, "a file")
    says(inside(tree, "/usr/bin/cat", "up", "./../home/../etc/file", cwd=home), 2 * once, "from a directory")
    says(inside(tree, "ls", "/"), "".join(name + "\n" for name in sorted(os.listdir(tree))), "the top")
    says(inside(tree, "ls", "/.."), "".join(name + "\n" for name in sorted(os.listdir(tree))), "above the top")
    says(inside(tree, "readlink", "/proc/self/exe", "/proc/self/cwd", "/usr/bin", cwd=home),
         "/bin/readlink\n/home\n/bin\n", "links")
    says(inside(tree, "bash", "-c", "pwd; cd /; pwd; cd /usr/bin; pwd; pwd -P; cd ../..; pwd"),
         "/\n/\n/usr/bin\n/bin\n/\n", "where it is")
    says(inside(tree, "bash", "-c", "exec cat </etc/file"), once, "another program")
    maps = inside(tree, "cat", "/proc/self/maps").stdout.decode()
    contains(maps, [" /bin/cat\n"], "maps")
    check(top not in maps, "maps shows the host's path")
    says(inside(tree, "cat", "/dev/null"), "", "a device that the tree does not have")
    for path, why in (("/etc/hostname", "No such file or directory"), (top, "No such file or directory"),
                      ("/none/../etc/file", "No such file or directory"), ("/etc/file/../file", "Not a directory"),
                      ("/etc/file/.", "Not a directory"), ("/home/again", "Too many levels of symbolic links")):
        result = inside(tree, "cat", path)
        equal((result.returncode, result.stderr.decode()), (1, "cat: %s: %s\n" % (path, why)), path)
    result = inside(tree, "gzip")
    equal((result.returncode, result.stderr), (127, b"c2emu: gzip: not found in PATH\n"), "a program of the host")
    result = inside(os.path.join(top, "none"), "cat")
    equal(result.returncode, 125, "no tree")
    contains(result.stderr.decode(), ["--root %s: No such file or directory" % os.path.join(top, "none")], "no tree")


def write(top):
    tree, home = os.path.join(top, "tree"), os.path.join(top, "tree", "home")
    debian(tree)
    outside = os.path.join(top, "outside")
    os.mkdir(outside)
    os.symlink(outside, os.path.join(home, "out"))  # the tree has no such directory
    says(inside(tree, "touch", "/home/new", "/etc/new"), "", "touch")
    says(inside(tree, "bash", "-c", "echo line >>own; echo line >/home/own2", cwd=home), "", "bash")
    equal(sorted(os.listdir(home)), ["again", "new", "out", "own", "own2", "up"], "what was made")
    result = inside(tree, "touch", "out/x", cwd=home)
    equal((result.returncode, os.listdir(outside)), (1, []), "through a link that leads out")
    result = inside(tree, "rmdir", "/home/.")
    equal((result.returncode, os.path.isdir(home)), (1, True), "rmdir of a path that ends in a dot")
    for options, path, status in ((["--sandbox"], "/home/a", 0), (["--sandbox"], "/etc/a", 1),
                                  (["--sandbox", "--writable", tree + "/etc"], "/etc/a", 0),
                                  (["--sandbox"], "/home/../etc/b", 1)):
        result = inside(tree, "touch", path, options=options, cwd=home)
        equal(result.returncode, status, "touch %s with %s" % (path, " ".join(options)))
        if status:
            contains(result.stderr.decode(), ["Read-only file system"], path)
    equal(os.path.exists(tree + "/etc/b"), False, "what the sandbox refuses")


def musl(top):
    compiler, tree = shutil.which("musl-gcc"), os.path.join(top, "tree")
    if not compiler:
        print("not installed: musl-tools")
        return
    for name in ("bin", "lib", "etc", "usr/src"):
        os.makedirs(os.path.join(tree, name))
    with open(os.path.join(tree, "usr/src/app.c"), "w") as file:
        file.write(APP)
    with open(os.path.join(tree, "etc/motd"), "w") as file:
        file.write("of musl\n")
    subprocess.run([compiler, "-g", "-O1", "-fdebug-prefix-map=%s=" % tree, tree + "/usr/src/app.c", "-o",
                    tree + "/bin/app"], check=True)
    linker = re.search(rb"/lib/ld-musl\S*?\.so\.1", open(tree + "/bin/app", "rb").read()).group().decode()
    shutil.copy(os.path.realpath(linker), tree + linker)
    os.symlink("/bin/app", tree + "/usr/link")
    report = os.path.join(top, "report.json")
    result = run([EMULATOR, "-q", "--root", tree, "--json-full", report, "app", "word"], cwd="/")
    equal((result.returncode, result.stdout, result.stderr), (3, b"of musl\nword 999 /bin/app\n", b""), "the program")
    with open(report) as file:
        lines = json.load(file)["lines"]
    check(any(str(line.get("file")).endswith("app.c") and line["line"] == 14 for line in lines), "no line of its loop")
    os.remove(tree + linker)
    result = run([EMULATOR, "-q", "--root", tree, "app", "word"], cwd="/")
    equal(result.returncode, 126, "without its linker in the tree")
    contains(result.stderr.decode(), ["bad interpreter: %s does not exist" % linker], "without its linker")


def receipt(top):
    tree, report = os.path.join(top, "tree"), os.path.join(top, "report.json")
    debian(tree)
    equal(run([EMULATOR, "-q", "--root", tree, "--json-full", report, "cat", "/etc/file"]).returncode, 0, "the run")
    with open(report) as file:
        saved = json.load(file)["receipt"]
    check("--root=" + tree in saved["options"], "the receipt's options: %r" % saved["options"])
    names = [item["path"] for item in saved["inputs"] if item.get("path")]
    check(tree + "/etc/file" in names and tree + "/bin/cat" in names, "inputs: %r" % names)
    equal([name for name in names if not name.startswith(tree) and "machines" not in name], [], "inputs elsewhere")
    result = run([EMULATOR, "verify", report])
    equal((result.returncode, result.stderr), (0, b""), "verify: " + result.stdout.decode())
    with open(tree + "/etc/file", "a") as file:
        file.write("more\n")
    result = run([EMULATOR, "verify", report])
    equal(result.returncode, 1, "verify of a tree that has changed")
    contains(result.stdout.decode(), [tree + "/etc/file"], "verify")


def cache_of(libraries):
    """/etc/ld.so.cache as ldconfig writes it: {name: path}; the linker searches by names that descend."""
    names = sorted(libraries, reverse=True)
    texts, rows, start = b"", b"", 48 + 24 * len(names)
    for name in names:
        at = start + len(texts)
        texts += name.encode() + b"\0" + libraries[name].encode() + b"\0"
        rows += struct.pack("<iIIIQ", 0x0303, at, at + len(name) + 1, 0, 0)
    return struct.pack("<20sIIB3xI12x", b"glibc-ld.so.cache1.1", len(names), len(texts), 2, 0) + rows + texts


def put_cache(tree, libraries):
    with open(tree + "/etc/ld.so.cache", "wb") as file:
        file.write(cache_of(libraries))


def cache(top):
    tree, report = os.path.join(top, "tree"), os.path.join(top, "report.json")
    debian(tree)
    beside = os.path.dirname(next(path for path in re.findall(r"(/\S+)", run(["ldd", "/bin/cat"]).stdout.decode())
                                  if "libc.so" in path))
    usual = {name: os.path.join(beside, name) for name in os.listdir(tree + beside)}

    def reported():
        result = run([EMULATOR, "--root", tree, "--json-full", report, "cat", "/etc/file"], cwd="/")
        equal((result.returncode, result.stdout), (0, b"in the tree\n"), "the program")
        with open(report, "rb") as file:
            return without_receipt(file.read()), result.stderr

    without = reported()
    more = dict(usual, **{"lib%d.so.%d" % (i, i % 7): beside + "/lib%d.so" % i for i in range(5000)})
    for libraries in (usual, more):
        put_cache(tree, libraries)
        check(reported() == without, "a cache of %d libraries changes the report" % len(libraries))
    said = inside(tree, "cat", "/etc/ld.so.cache")
    equal(said.stdout, cache_of(more), "what a program itself reads of it")

    put_cache(tree, dict(usual, **{"libelsewhere.so": "/opt/libelsewhere.so"})) # which nobody here needs
    check(reported() == without, "a library elsewhere that is not needed changes the report")
    need("cc")
    for name in ("opt", "bin"):
        os.makedirs(os.path.join(tree, name), exist_ok=True)
    with open(top + "/library.c", "w") as file:
        file.write("int answer(void) { return 42; }\n")
    with open(top + "/app.c", "w") as file:
        file.write("int answer(void);\nint main(void) { return answer(); }\n")
    run(["cc", "-shared", "-fPIC", top + "/library.c", "-o", tree + "/opt/libelsewhere.so"], check=True)
    run(["cc", top + "/app.c", "-L" + tree + "/opt", "-lelsewhere", "-o", tree + "/bin/app"], check=True)
    equal(inside(tree, "app").returncode, 42, "a library that only the cache has")
    put_cache(tree, usual)
    result = inside(tree, "app")
    equal(result.returncode, 127, "one that it has not")
    contains(result.stderr.decode(), ["libelsewhere.so: cannot open shared object file"], "one that it has not")


PARTS = {"cache": cache, "debian": paths, "write": write, "musl": musl, "receipt": receipt}
with tempfile.TemporaryDirectory() as directory:
    PARTS[sys.argv[1]](os.path.realpath(directory))
done()
