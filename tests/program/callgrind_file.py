# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a file of Callgrind's format, version 1, by its specification; whatever that does not allow is an error."""

import re


class Profile:
    """events; long: names by event; formulas: {computed event: {event: factor}}; summary, totals; self: {(object,
    file, function): cost}; lines: {(file of the line, function, line): cost}; insns: {(object, address): (line's
    file, line, cost)}; calls: {(caller, callee): [count, cost]}, both (object, file, function); sites: {(caller,
    address): {callee: count}}; addresses: {function's name: {address}};
    jumps: {(object, address): {target: (taken, executed)}}, executed None where it is not conditional."""

    def __init__(self):
        self.header, self.events, self.long, self.formulas = {}, [], {}, {}
        self.summary = self.totals = None
        self.self, self.lines, self.insns, self.calls, self.sites = {}, {}, {}, {}, {}
        self.addresses = {}
        self.jumps = {}

    def cost(self, words):
        if len(words) > len(self.events):
            raise ValueError("more costs than events: %s" % words)
        return [int(word) for word in words] + [0] * (len(self.events) - len(words))

    def by_name(self, name, event="Ir"):
        """Self cost of the functions of this name."""
        index = self.events.index(event)
        return sum(cost[index] for key, cost in self.self.items() if key[2] == name)

    def arcs(self, event="Ir"):
        """{(caller's name, callee's name): (count, cost)}"""
        index, out = self.events.index(event), {}
        for (caller, callee), (count, cost) in self.calls.items():
            before = out.get((caller[2], callee[2]), (0, 0))
            out[caller[2], callee[2]] = (before[0] + count, before[1] + cost[index])
        return out


def add(table, key, cost):
    table[key] = [a + b for a, b in zip(table.get(key, [0] * len(cost)), cost)]


class Reader:
    def __init__(self):
        self.profile = Profile()
        self.names = {"ob": {}, "fl": {}, "fn": {}}
        self.at = {"ob": "", "fl": "", "line_file": "", "fn": ""}
        self.callee = {}
        self.calls = self.jump = None
        self.last = [0, 0]
        self.positions = ["line"]

    def name(self, kind, text):
        match = re.fullmatch(r"\((\d+)\)(?: +(.*))?", text)
        if match is None:
            return text
        if match.group(2) is not None:
            self.names[kind][match.group(1)] = match.group(2)
        return self.names[kind][match.group(1)]

    def position(self, key, text):
        kind = {"fi": "fl", "fe": "fl", "cfi": "fl", "cfl": "fl", "cob": "ob", "cfn": "fn"}.get(key, key)
        name = self.name(kind, text)
        if key.startswith("c"):
            self.callee[kind] = name
        elif key in ("fi", "fe"):
            self.at["line_file"] = name
        else:
            self.at[kind] = name
            if key == "fl":
                self.at["line_file"] = name

    def number(self, word, index):
        if word == "*":
            return self.last[index]
        if word[0] in "+-":
            return self.last[index] + int(word, 0)
        return int(word, 0)

    def places(self, words):
        return [self.number(word, index) for index, word in enumerate(words[:len(self.positions)])]

    def function(self):
        return self.at["ob"], self.at["fl"], self.at["fn"]

    def costs(self, words):
        p = self.profile
        place = self.places(words)
        self.last = place
        cost = p.cost(words[len(self.positions):])
        if self.jump is not None:
            to, taken, executed = self.jump
            jumps = p.jumps.setdefault((self.at["ob"], place[0]), {})
            before = jumps.get(to[0], (0, 0 if executed is not None else None))
            jumps[to[0]] = before[0] + taken, executed if executed is None else before[1] + executed
            self.jump = None
            return
        if self.calls is not None:
            callee = tuple(self.callee.get(kind, self.at[kind]) for kind in ("ob", "fl", "fn"))
            entry = p.calls.setdefault((self.function(), callee), [0, [0] * len(p.events)])
            entry[0] += self.calls
            entry[1] = [a + b for a, b in zip(entry[1], cost)]
            site = p.sites.setdefault((self.function(), place[0]), {})
            site[callee] = site.get(callee, 0) + self.calls
            self.calls, self.callee = None, {}
            return
        add(p.self, self.function(), cost)
        add(p.lines, (self.at["line_file"], self.at["fn"], place[-1]), cost)
        if self.positions[0] == "instr":
            key = self.at["ob"], place[0]
            before = p.insns[key][2] if key in p.insns else [0] * len(cost)
            p.insns[key] = (self.at["line_file"], place[-1], [a + b for a, b in zip(before, cost)])
            p.addresses.setdefault(self.at["fn"], set()).add(place[0])

    def head(self, key, value):
        p = self.profile
        if key == "events":
            p.events = value.split()
            for name in p.events:
                if not re.fullmatch("[A-Za-z][A-Za-z0-9]*", name):
                    raise ValueError("no name of an event: " + name)
        elif key == "event":
            name, equals, formula = value.split(":")[0].partition("=")
            if equals:
                p.formulas[name.strip()] = {term.split()[1]: int(term.split()[0]) for term in formula.split("+")}
                return
            p.long[value.split(":")[0].strip()] = value.split(":")[1].strip()
        elif key == "positions":
            self.positions = value.split()
        elif key in ("summary", "totals"):
            setattr(p, key, p.cost(value.split()))
        elif key in ("version", "creator", "cmd", "pid", "part", "thread", "desc"):
            p.header.setdefault(key, []).append(value.strip())
        else:
            raise ValueError("unknown key " + key)

    def line(self, line):
        if line == "" or line.startswith("#"):
            return
        match = re.match(r"(ob|fl|fi|fe|fn|cob|cfi|cfl|cfn|jfi|jfn)= *(.*)$", line)
        if match and match.group(1)[0] == "j":
            self.name("fn" if match.group(1) == "jfn" else "fl", match.group(2))
        elif match:
            self.position(match.group(1), match.group(2))
        elif re.match(r"calls=", line):
            words = line[6:].split()
            self.calls = int(words[0], 0)
            self.places(words[1:])
        elif re.match(r"(jump|jcnd)=", line):
            counts, *place = line[5:].split()
            taken, _, executed = counts.partition("/")
            self.jump = self.places(place), int(taken), int(executed) if executed else None
        elif re.match(r"[0-9+*-]", line):
            self.costs(line.split())
        else:
            key, _, value = line.partition(":")
            self.head(key, value)


def read(path):
    reader = Reader()
    with open(path) as file:
        for line in file:
            reader.line(line.rstrip("\n"))
    return reader.profile
