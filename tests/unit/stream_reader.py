#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stream_reader.py PROGRAM: a reader of recordings made from docs/recording.md alone.

PROGRAM FILE writes a recording of a random stream, and prints a digest of the stream. This reads the recording, and
must come to the same digest.
"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile

WORD = (1 << 64) - 1
MARK = 0xffffffff
SOURCE, MODIFY, CACHE = 3, 2, 7


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def short(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def signed(self):
        number = self.short()
        return number >> 1 if number & 1 == 0 else -(number >> 1) - 1

    def done(self):
        return self.at == len(self.data)


class Slot:
    def __init__(self, kind, size):
        self.kind, self.size = kind, size
        self.last = self.stride = self.difference = 0

    def address(self, residual):
        address = (self.last + self.stride + residual) & WORD
        if address == (self.last + self.difference) & WORD:
            self.stride = self.difference
        self.difference = (address - self.last) & WORD
        self.last = address
        return address


class Block:
    def __init__(self, insn_slots, slots):
        self.insn_slots, self.slots = insn_slots, slots

    def string(self):
        return bool(self.slots) and self.slots[0].kind == SOURCE

    def slots_used(self, insns):
        return len(self.slots) if self.string() else sum(self.insn_slots[:insns])

    def references(self, words):
        if self.string():
            elements = min(words[2], -words[2] & WORD)
            return elements * sum(1 for slot in self.slots[:2] if slot.size)
        return sum({MODIFY: 2, CACHE: 0}.get(slot.kind, 1) for slot in self.slots[:len(words)])


class Reader:
    def __init__(self):
        self.blocks, self.facts, self.marks = [], [], {}
        self.follower, self.before = {}, None
        self.residual = self.predecessor_end = 0
        self.flops = []
        self.thread, self.digest = 1, 0
        self.totals = [0, 0, 0, 0]

    def mix(self, header, words):
        for word in [self.thread, header] + words:
            self.digest = (self.digest ^ word) * 0x100000001b3 & WORD

    def record(self, block, insns, surprising):
        """surprising: the slots with a residual."""
        slots = self.blocks[block].slots[:self.blocks[block].slots_used(insns)]
        words = [slot.address(self.next_residual() if i in surprising else 0) for i, slot in enumerate(slots)]
        self.mix(block << 32 | insns << 16 | len(words), words)
        self.follower[self.before] = (block, insns)
        self.before = block
        for i, count in enumerate((1, 0, insns, self.blocks[block].references(words))):
            self.totals[i] += count

    def next_residual(self):
        number = self.second.short()
        if number != 0:
            self.residual = number >> 1 if number & 1 == 0 else -(number >> 1) - 1
        return self.residual

    def masks(self, count):
        mask = int.from_bytes(self.first.bytes((count + 7) // 8), "little")
        return {i for i in range(count) if mask >> i & 1}

    def surprising(self, block, insns):
        count = self.blocks[block].slots_used(insns)
        return self.masks(count) if count > 1 else {0}

    def item(self):
        first = self.first.byte()
        expected = first >> 3
        for _ in range(expected + (self.first.short() if expected == 31 else 0)):
            self.record(*self.follower[self.before], set())
        getattr(self, "item_%d" % (first & 7))()

    def item_0(self):
        block, insns = self.follower[self.before]
        self.record(block, insns, self.surprising(block, insns))

    def item_1(self):
        block = self.first.short()
        self.record(block, len(self.blocks[block].insn_slots), set())

    def item_2(self):
        block = self.first.short()
        insns = len(self.blocks[block].insn_slots)
        self.record(block, insns, self.surprising(block, insns))

    def item_3(self):
        block, insns = self.first.short(), self.first.short()
        self.record(block, insns, self.masks(self.blocks[block].slots_used(insns)))

    def item_4(self):
        number, count = self.first.short(), self.first.short()
        words = [self.second.signed() & WORD for _ in range(count)]
        if number < 64:
            last = self.marks.setdefault(number, [0] * 8)
            words[:8] = [word + before & WORD for word, before in zip(words, last)]
            last[:len(words[:8])] = words[:8]
        self.mix(MARK << 32 | number << 16 | count, words)
        self.totals[1] += 1

    def item_5(self):
        address, length, count, _ = (self.first.signed(), self.first.short(), self.first.short(), self.first.byte())
        self.predecessor_end += address + length
        insn_slots = []
        for _ in range(count):
            shape = self.first.short()
            insn_slots.append(shape >> 10)
            if shape & 1:
                self.first.short()
            self.flops.append(self.first.short() if shape & 2 else 0)
        self.blocks.append(Block(insn_slots, [Slot(self.first.byte() & 7, self.first.short())
                                              for _ in range(sum(insn_slots))]))

    def item_6(self):
        self.thread = self.first.short()

    def item_7(self):
        pass

    def chunk(self, kind, first, second):
        self.first, self.second = Numbers(first), Numbers(second)
        if kind == 1:
            name = self.first.bytes(self.first.short())
            self.facts.append((name, self.first.bytes(len(first) - self.first.at)))
        while kind == 2 and not self.first.done():
            self.item()
        if kind == 3:
            said = [self.first.short() for _ in range(5)]
            if said != self.totals + [len(self.blocks)]:
                sys.exit("counted %r and %d blocks, the end says %r" % (self.totals, len(self.blocks), said))
        if not self.first.done() or not self.second.done():
            sys.exit("a chunk is longer than what it says")
        return kind == 3

    def read(self, data):
        check, at, ended = data[8:12], 12, False
        if data[:12] != bytes.fromhex("894332524543 0d0a 05000000"):
            sys.exit("another start")
        while at < len(data):
            end = at + 4 + struct.unpack("<I", data[at:at + 4])[0]
            content = subprocess.run(["zstd", "-dcq"], input=data[at + 4:end], stdout=subprocess.PIPE,
                                     check=True).stdout
            if ended or content[:4] != check:
                sys.exit("the chunk at %d does not follow the one before" % at)
            at, check = end, data[end - 4:end]
            section = 9 + struct.unpack("<I", content[5:9])[0]
            ended = self.chunk(content[4], content[9:section], content[section:])
        if not ended:
            sys.exit("no end")
        for flops in self.flops:
            self.digest = (self.digest ^ flops) * 0x100000001b3 & WORD


def main():
    if not shutil.which("zstd"):
        print("SKIPPED: there is no zstd")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "recording")
        digest = subprocess.run([sys.argv[1], path], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        reader = Reader()
        with open(path, "rb") as file:
            reader.read(file.read())
    if reader.facts != [(b"program", b"./app")] or reader.totals[0] < 10000 or reader.totals[1] < 100:
        sys.exit("facts %r, counts %r" % (reader.facts, reader.totals))
    if "%016x" % reader.digest != digest:
        sys.exit("the digest of what was read is %016x, of what was recorded %s" % (reader.digest, digest))


main()
