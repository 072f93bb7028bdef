# SPDX-License-Identifier: GPL-2.0-or-later
"""quiz.py: `c2emu quiz` through a pipe.

Empty answers show the right ones, and these, given to the same seed, are all right; each topic alone, and all in turn.
The end of input and `quit` end it; what is no answer is asked again; options that are wrong are refused.
"""

import re
import subprocess

from common import EMULATOR, contains, done, emulate, equal

TOPICS = ["set", "misses", "victim", "class", "stride", "level"]


def quiz(words, answers):
    text = "".join(answer + "\n" for answer in answers)
    result = subprocess.run([EMULATOR, "quiz"] + words, input=text.encode(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    equal((result.returncode, result.stderr), (0, b""), "quiz " + " ".join(words))
    return result.stdout.decode()


def shown(output):
    return re.findall(r"^(?:No|Right): (\w+)(?: to \w+)?\.$", output, re.M)


# The first one that there is, worked out by hand: lines of 32 bytes and 32 sets, 0x2102 / 32 = 264 = 8 * 32 + 8.
first = quiz(["--questions", "1"], ["8"])
equal(first, """\
1 of 1: set
cache  32 sets of 2 lines of 32 bytes, empty; the least recently used line goes
loads  0x2102
Which set does it go to? (the first is 0)
> 8
Right: 8.
  0x2102  miss in set 8 (cold)

1 of 1 right. Other questions: --seed 2
""", "the first question")

for words in [[]] + [[topic] for topic in TOPICS]:
    for seed in ("1", "2", "77"):
        options = ["--seed", seed, "--questions", "12"] + words
        what = " ".join(options)
        blank = quiz(options, [""] * 12)
        answers = shown(blank)
        equal(len(answers), 12, what + ": answers")
        contains(blank, ["\n0 of 12 right. Other questions: --seed %d\n" % (int(seed) + 1)], what)
        right = quiz(options, answers)
        contains(right, ["\n12 of 12 right. "], what)
        equal(re.sub(r"^> .*|^Right|^\d+ of 12 right", "", right, flags=re.M),
              re.sub(r"^> .*|^No|^\d+ of 12 right", "", blank, flags=re.M), what + ": all else")
        equal(quiz(options, answers), right, what + ": once more")
        equal(re.findall(r"^\d+ of 12: (\w+)$", blank, re.M), (words or TOPICS) * (12 // len(words or TOPICS)), what)

# other seeds ask other things
equal(quiz(["--seed", "1"], [""] * 6) == quiz(["--seed", "2"], [""] * 6), False, "two seeds")

contains(quiz([], []), ["\n> \n0 of 0 right. "], "no input")
contains(quiz([], ["8", "quit", "6"]), ["2 of 6: misses", "> quit\n1 of 1 right. "], "quit")
contains(quiz(["--questions", "1"], ["x", "  8 "]), ["> x\nA number, such as 12 or 0x40; or quit.\n> 8\nRight: 8."],
         "x")
contains(quiz(["class", "--questions", "1"], ["3"]), ["> 3\nOne of cold capacity conflict; or quit.\n"], "no word")

for words, says in ((["sets"], 'did you mean "set"?'), (["set", "class"], "one topic at a time"),
                    (["--questions", "0"], "--questions"), (["--seed", "x"], "--seed")):
    result = emulate(["quiz"] + words)
    equal((result.returncode, result.stdout), (125, b""), "quiz " + " ".join(words))
    contains(result.stderr.decode(), ["c2emu: quiz: ", says], "quiz " + " ".join(words))
with open("/dev/full", "w") as full:
    result = subprocess.run([EMULATOR, "quiz"], input=b"8\n", stdout=full, stderr=subprocess.PIPE)
equal(result.returncode, 125, "status on a full disk")
done()
