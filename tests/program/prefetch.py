# SPDX-License-Identifier: GPL-2.0-or-later
"""Prefetchers of machine files: exact counts of a guest that reads 16 pages upwards and writes them downwards.

L1D has 32 lines, L2 room for all. Upwards L1D misses each of the 1024 lines; downwards it has the last 32 still.

Stream prefetcher in L2. Upwards, in each page: lines 0 to 6 miss, the accesses of 2 to 58 fetch 7 to 63, those of 59 to
63 would leave the page. Downwards L2 has every line. In pages 14 to 0 line 63 is the one seen last, the three lines 63,
62, 61 are a stream, and the accesses of 61 to 5 ask for lines that are there; in page 15 L2 sees line 31 first, so it
is those of 29 to 5.

Stride prefetcher in L1D. Upwards: lines 0 to 2 miss, then the first of each page, as the request of the page's last
line would leave it. 61 + 15 x 63 lines are fetched. Downwards: page 15 has its upper half in L1D: 29 requests are for
lines that are there, then 32 lines are fetched; of the other pages the last line misses, and 63 are fetched. These 15
last lines were pushed out by prefetches upwards, long before; without prefetchers they miss as well.
"""

import json
import os
import tempfile

from common import contains, done, emulate, equal, report, run, without_receipt

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
MACHINE = """[machine]
name = two
line = 64
[L1D]
size = 2K
ways = 2
%s
[L2]
size = 128K
ways = 8
%s
"""
COUNTERS = ("issued", "present", "stopped", "from_memory", "useful", "useless", "polluting")


def counters(*values):
    return dict(zip(COUNTERS, values))


def by_name(rows, key="name"):
    return {row[key]: row for row in rows}


def levels_of(rows, pc):
    row, = [row for row in rows if row["pc"] == "0x%x" % pc]
    keys = ("misses", "unaided", "caused") + COUNTERS
    return {level["name"]: {key: level[key] for key in keys} for level in row["levels"]}


def address(name):
    symbols = run(["nm", os.path.join(GUESTS, "streams")]).stdout.decode()
    return int([line.split()[0] for line in symbols.splitlines() if line.split()[-1] == name][0], 16)


def written(directory, name, *keys):
    path = os.path.join(directory, name + ".ini")
    with open(path, "w") as file:
        file.write(MACHINE % keys)
    return path


def check_stream(directory):
    machine = written(directory, "stream", "", "prefetch = stream")
    found = report(["-m", machine], [os.path.join(GUESTS, "streams")])
    equal(found["machine"]["levels"][1]["prefetch"], ["stream"], "the machine of the report")
    chapter = found["prefetch"]
    level = by_name(chapter["levels"])
    equal((level["L1D"]["misses"], level["L1D"]["unaided"]["misses"]), (2016, 2016), "misses of L1D")
    equal((level["L2"]["misses"], level["L2"]["unaided"]["misses"]), (16 * 7, 1024), "misses of L2")
    equal(level["L2"]["unused"], 0, "lines that nobody asked for")
    equal(chapter["prefetchers"], [dict(level="L2", name="stream",
                                        **counters(912, 15 * 57 + 25, 32 * 5, 912, 912, 0, 0))], "prefetchers")
    up, down = (levels_of(chapter["instructions"], address(name)) for name in ("up", "down"))
    equal(up["L2"], dict(misses=112, unaided=1024, caused=0, **counters(912, 0, 80, 912, 912, 0, 0)), "reading upwards")
    equal(down["L2"], dict(misses=0, unaided=0, caused=0, **counters(0, 880, 80, 0, 0, 0, 0)), "writing downwards")
    data = by_name(chapter["objects"])["data"]["levels"]
    equal(by_name(data)["L2"]["issued"], 912, "of the array")
    return machine, found


def check_stride(directory):
    machine = written(directory, "stride", "prefetch = stride", "")
    chapter = report(["-m", machine], [os.path.join(GUESTS, "streams")])["prefetch"]
    level = by_name(chapter["levels"])
    equal((level["L1D"]["misses"], level["L1D"]["unaided"]["misses"]), (3 + 15 + 15, 2016), "misses of L1D, strides")
    equal(chapter["prefetchers"], [dict(level="L1D", name="stride",
                                        **counters(1006 + 32 + 945, 29, 32, 1006, 1983, 0, 15))], "strides")
    equal(level["L1D"]["caused"], 0, "misses that are due to prefetching")


def check_without(options, guest):
    """What is said of the machine without prefetchers is what a run on it says, for every level and class."""
    program = [os.path.join(GUESTS, guest)]
    keys = ["--set", "L1D.prefetch=next-line+stride", "--set", "L2.prefetch=stream+adjacent", "--set",
            "L1I.prefetch=next-line", "--set", "L3.prefetch=next-line", "--set", "L3.prefetch_on=tagged"]
    aided, plain = report(options + keys, program), report(options, program)
    unaided = by_name(aided["prefetch"]["levels"])
    for level in plain["levels"]:
        plain_counts = {key: level[key] for key in ("misses", "cold", "capacity", "conflict")}
        equal(unaided[level["name"]]["unaided"], plain_counts,
              "%s %s without prefetchers" % (guest, level["name"]))
    for level in aided["levels"]:
        equal(unaided[level["name"]]["misses"], level["misses"], "%s with them" % level["name"])
    for listed in ("instructions", "lines", "objects"):
        for name, level in unaided.items():
            sums = [of for row in aided["prefetch"][listed] for of in row["levels"] if of["name"] == name]
            equal([sum(of[key] for of in sums) for key in ("misses", "unaided", "caused")],
                  [level["misses"], level["unaided"]["misses"], level["caused"]],
                  "%s of %s by %s" % (guest, name, listed))
            for key in COUNTERS:
                equal(sum(of[key] for of in sums),
                      sum(of[key] for of in aided["prefetch"]["prefetchers"] if of["level"] == name),
                      "%s of %s by %s" % (key, name, listed))


def check_replay(directory, machine, found):
    recording, path = os.path.join(directory, "recording"), os.path.join(directory, "replayed.json")
    made = emulate(["-q", "--no-sim", "--record", recording, os.path.join(GUESTS, "streams")])
    equal(made.returncode, 0, "recording")
    equal(emulate(["replay", "-q", "-m", machine, "--json-full", path, recording]).returncode, 0, "replaying")
    with open(path, "rb") as file:
        replayed = json.loads(without_receipt(file.read()))
    equal(replayed["prefetch"], found["prefetch"], "replayed")
    equal(replayed["levels"], found["levels"], "levels replayed")


def check_forms(machine):
    program = [os.path.join(GUESTS, "streams")]
    equal("prefetch" in report(["-m", machine, "--no-prefetch-report"], program), False, "without the chapter")
    equal("prefetch" in report(["-m", "teach"], program), False, "a machine without prefetchers")
    plain = [stack["accesses"] for stack in report(["-m", machine, "--reuse"], program)["reuse"]["stacks"]]
    equal(plain[0], 2048, "accesses that reuse distances are measured of")
    bare = report(["-m", machine, "--no-attribution"], program)["prefetch"]
    equal(sorted(bare), ["levels", "prefetchers"], "without attribution")
    text = emulate(["--full", "--width", "160", "-m", machine] + program).stderr.decode()
    row = "L2          stream     912     912    100.0 %        0          0     880          160          912"
    contains(text, ["L2 128 KiB 8-way lru prefetching stream", "L2 misses 112, 1,024 without.", row], "the text report")
    parts = ["--skip", "500", "--warmup", "300", "--measure", "1000", "--period", "2000", "--pages", "random"]
    sampled = report(["-m", machine] + parts, program)["prefetch"]["prefetchers"][0]
    equal(sampled["issued"] > 0 and sampled["issued"] < 912, True, "samples count what is measured")


def check_table():
    """8 MiB in blocks that are read twice: every line misses in every second pass, as in the paper's Table 3.4; of a
    page the first 7 are left. One line is in L1D when it begins."""
    found = report(["--roi", "sum_up", "-m", "c2sim", "--set", "L2.size=1M", "--set", "L2.prefetch=stream"],
                   [os.path.join(IMAGES, "blocks"), "2", "2"])
    level = by_name(by_name(found["prefetch"]["objects"])["number"]["levels"])["L2"]
    equal((level["unaided"], level["misses"]), (131072 - 1, 131072 * 7 // 64 - 1), "blocks read twice")


def check_files():
    printed = emulate(["machines", "--set", "L2.prefetch=next-line+stream", "--set", "L2.stream_distance=7", "teach"])
    contains(printed.stdout.decode(), ["prefetch = stream+next-line\nprefetch_on = accesses\nstream_distance = 7\n"],
             "the machine printed")
    plain = emulate(["machines", "teach"]).stdout.decode()
    equal("prefetch" in plain or "stream" in plain, False, "a machine without prefetchers is printed as ever")
    exclusive = emulate(["-m", "zen3", "--set", "L3.prefetch=stream", os.path.join(GUESTS, "streams")])
    contains(exclusive.stderr.decode(), ["--set L3.prefetch=stream: [L3] is exclusive"], "an exclusive level")
    bytes_wanted = emulate(["--bandwidth", "--set", "L2.prefetch=stream", os.path.join(GUESTS, "streams")])
    contains(bytes_wanted.stderr.decode(), ["--bandwidth does not count the bytes of prefetched lines"], "--bandwidth")
    word = emulate(["machines", "--set", "L2.prefetch=next-page", "teach"])
    contains(word.stderr.decode(), ['"next-page" is not known', "next-line"], "an unknown prefetcher")


def main():
    with tempfile.TemporaryDirectory() as directory:
        machine, found = check_stream(directory)
        check_stride(directory)
        check_replay(directory, machine, found)
        check_forms(machine)
    check_without(["-m", "teach"], "strides")
    check_without(["-m", "teach", "--set", "walks.mode=cached", "--set", "walks.from=L2", "--pages", "random"], "fetch")
    check_files()
    check_table()
    done()


main()
