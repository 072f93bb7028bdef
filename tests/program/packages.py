#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""packages.py manuals|bash|zsh|fish|install: what comes with the program.

manuals  a page for c2emu and each verb, which groff takes without a warning and apropos can read; every option of
         --help is in it
bash     completions in the shell itself: the words that it would offer for a line; zsh and fish: the same
install  what `cmake --install` puts below a prefix, and the program runs from there
"""

import os
import re
import subprocess
import sys
import tempfile

from common import need_terminals

C2EMU = os.environ["C2EMU"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
failed = []


def expect(what, is_so, wanted):
    if is_so != wanted:
        failed.append(what)
        print(f"{what}\n  is      {is_so!r}\n  wanted  {wanted!r}")


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, **options)


def rows(*words):
    return [line.split("\t") for line in run([C2EMU, "complete", *words]).stdout.splitlines()]


def verbs():
    return [row[1] for row in rows() if row[0] == "verb"]


# ---------------------------------------------------------------- manual pages

def manuals():
    listed = re.findall(r"^  c2emu (\w+)  ", run([C2EMU, "--help"]).stdout, re.M)
    expect("verbs of `complete` and of --help", verbs(), listed)
    for verb in [None, *listed]:
        words = [verb] if verb else []
        name = "c2emu-" + verb if verb else "c2emu"
        page = run([C2EMU, "manual", *words]).stdout
        shown = run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou"], input=page)
        expect(f"{name}: warnings", shown.stderr, "")
        flat = " ".join(shown.stdout.replace("\N{HYPHEN}\n", "").split())
        begin = re.search(r"NAME (\S+) - (.*?) SYNOPSIS (.*?) DESCRIPTION ", flat)
        expect(f"{name}: its name", begin and begin.group(1), name)
        options = re.findall(r"^(?:  -\w, |      )--([\w-]+)", run([C2EMU, "help", *words]).stdout, re.M)
        in_page = re.findall(r"^\.TP\n(?:\\fB\\-\w\\fR, )?\\fB\\-\\-([\w\\-]+)\\fR", page, re.M)
        expect(f"{name}: its options", sorted(word.replace("\\", "") for word in in_page), sorted(options))
    expect("an unknown verb", run([C2EMU, "manual", "dif"]).stderr,
           'c2emu: manual: there is no verb "dif" (did you mean "diff"?)\n')


# ---------------------------------------------------------------- shells

def make_place(place):
    """A directory to complete in: c2emu is in PATH by its name."""
    os.mkdir(os.path.join(place, "bin"))
    os.symlink(os.path.abspath(C2EMU), os.path.join(place, "bin", "c2emu"))
    os.mkdir(os.path.join(place, "here"))
    os.mkdir(os.path.join(place, "here", "reports"))
    for name in ("first.json", "second.json"):
        with open(os.path.join(place, "here", name), "w", encoding="ascii") as file:
            file.write("{}\n")


def machines():
    return [line.split()[0] for line in run([C2EMU, "--list-machines"]).stdout.splitlines()]


# The line, and what is offered for its last word.
def cases(equals):
    """equals: whether the shell shows the option before a value as well."""
    both = (lambda option, words: [option + word for word in words]) if equals else (lambda option, words: words)
    return [
        ("c2emu machi", ["machines"]),
        ("c2emu help poi", ["points"]),
        ("c2emu --huge-", ["--huge-size="]),
        ("c2emu --color=", both("--color=", ["always", "auto", "never"])),
        ("c2emu --color al", ["always"]),
        ("c2emu -m zen", ["zen3", "zen4"]),
        ("c2emu -q -m zen3 --color ne", ["never"]),
        ("c2emu diff --fail", ["--fail-if="]),
        ("c2emu diff --wi", ["--width="]),
        ("c2emu --output ", ["reports/"]),
        ("c2emu verify fir", ["first.json"]),
        ("c2emu replay --jso", ["--json-full=", "--json="]),
    ]


def check_shell(offer, equals):
    expect("machines that begin with zen", [name for name in machines() if name.startswith("zen")], ["zen3", "zen4"])
    with tempfile.TemporaryDirectory() as place:
        make_place(place)
        environment = {"PATH": f"{place}/bin:/usr/bin:/bin", "HOME": place, "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        for line, wanted in cases(equals):
            expect(line, sorted(set(offer(line, environment, os.path.join(place, "here")))), wanted)


def offer_bash(line, environment, where):
    # COMP_WORDS as readline makes them: `=` is a word of its own.
    words = re.findall(r"=|[^\s=]+", line) + ([""] if line[-1] == " " else [])
    script = f"""
        compopt() {{ :; }}
        . {ROOT}/completions/c2emu.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _c2emu c2emu "${{@: -1}}" "${{@: -2:1}}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    shown = run(["bash", "-c", script, "bash", *words], env=environment, cwd=where)
    expect(f"{line}: errors", shown.stderr, "")
    return [word + "/" if os.path.isdir(os.path.join(where, word)) else word for word in shown.stdout.split()]


def offer_zsh(line, environment, where):
    need_terminals()
    # A shell of its own at a terminal, whose list of matches stands between marks; it shows them without `=` and `/`.
    script = f"""
        zmodload zsh/zpty
        zpty shell zsh -f
        zpty -w shell 'PS1="" fpath=({ROOT}/completions $fpath); autoload -U compinit; compinit -u -D
            zstyle ":completion:*" insert-tab false
            compadd() {{ local -a offered; builtin compadd -O offered "$@"
                for word in $offered; do print -r -- "<$word>"; done; builtin compadd "$@" }}
            offer() {{ _main_complete; print -r -- "<$((1 + 1)) end>" }}
            zle -C offer list-choices offer; bindkey "^I" offer; print "ready-$((1 + 1))"'
        zpty -r shell text '*ready-2*'
        zpty -w -n shell "$1"$'\\t'
        zpty -r shell text '*<2 end>*'
        print -r -- "$text"
    """
    shown = run(["zsh", "-fc", script, "zsh", line], env=environment, cwd=where)
    expect(f"{line}: errors", shown.stderr, "")
    return [word + "=" * (word.startswith("--")) + "/" * os.path.isdir(os.path.join(where, word))
            for word in re.findall(r"<([^<>]*)>", shown.stdout) if word != "2 end"]


def offer_fish(line, environment, where):
    script = f"source {ROOT}/completions/c2emu.fish; complete -C \"$argv[1]\""
    shown = run(["fish", "--no-config", "-c", script, line], env=environment, cwd=where)
    expect(f"{line}: errors", shown.stderr, "")
    return [row.split("\t")[0] for row in shown.stdout.splitlines()]


# ---------------------------------------------------------------- installed

def install():
    build = os.path.dirname(os.path.abspath(C2EMU))
    with tempfile.TemporaryDirectory() as place:
        installed = run(["cmake", "--install", build, "--prefix", place])
        expect("cmake --install", (installed.returncode, installed.stderr), (0, ""))
        found = sorted(os.path.relpath(os.path.join(at, name), place)
                       for at, _, names in os.walk(place) for name in names)
        pages = ["c2emu", *("c2emu-" + verb for verb in verbs())]
        docs = run(["find", "docs", "-type", "f"], cwd=ROOT).stdout.split()
        wanted = ["bin/c2emu", "share/bash-completion/completions/c2emu", "share/zsh/vendor-completions/_c2emu",
                  "share/fish/vendor_completions.d/c2emu.fish"]
        wanted += [f"share/man/man1/{page}.1.gz" for page in pages]
        wanted += [f"share/c2emu/machines/{name}" for name in os.listdir(os.path.join(ROOT, "machines"))]
        wanted += [f"share/c2emu/sweep/{name}" for name in os.listdir(os.path.join(ROOT, "sweep"))
                   if name != "__pycache__"]
        wanted += [f"share/doc/c2emu/{name}" for name in ("README.md", "CHANGELOG.md", "CITATION.cff", "copyright")]
        wanted += [f"share/doc/c2emu/{name}" for name in docs]
        wanted += ["lib/python3/dist-packages/c2emu.py"]
        wanted += [f"share/doc/c2emu/examples/{name}" for name in os.listdir(os.path.join(ROOT, "python", "examples"))
                   if name != "__pycache__"]
        expect("files installed", found, sorted(wanted))
        program = os.path.join(place, "bin", "c2emu")
        expect("machines", run([program, "machines", "zen4"]).stdout, run([C2EMU, "machines", "zen4"]).stdout)
        ran = run([program, "-q", "-m", "zen4", "--json", os.path.join(place, "r.json"), "/bin/echo", "hello"])
        expect("a run", (ran.returncode, ran.stdout, ran.stderr), (0, "hello\n", ""))
        version = re.search(r"project\(c2emu VERSION ([\d.]+)", open(os.path.join(ROOT, "CMakeLists.txt")).read())
        expect("the version", run([program, "--version"]).stdout.split()[:2], ["c2emu", version.group(1)])
        cited = re.search(r"^version: (.*)", open(os.path.join(ROOT, "CITATION.cff")).read(), re.M)
        expect("the version cited", cited.group(1), version.group(1))


{"manuals": manuals,
 "bash": lambda: check_shell(offer_bash, False),
 "zsh": lambda: check_shell(offer_zsh, False),
 "fish": lambda: check_shell(offer_fish, True),
 "install": install}[sys.argv[1]]()
sys.exit(1 if failed else 0)
