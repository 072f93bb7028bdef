# SPDX-License-Identifier: GPL-2.0-or-later
"""A page in a headless Chromium: what its scripts have drawn, and how it looks. The standard library only."""

import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

from common import fail, skip

RESULT = re.compile(r'<pre id="answer">(.*?)</pre>', re.S)
directory = tempfile.TemporaryDirectory()


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return skip("chromium is not installed")


def start(words, page):
    """No network: every name is unknown, and the proxy is not there."""
    profile = tempfile.mkdtemp(dir=directory.name)
    environment = dict(os.environ, HOME=profile, LANG="C.UTF-8")
    result = subprocess.run(
        [find(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
         "--disable-dev-shm-usage", "--force-device-scale-factor=1", "--font-render-hinting=none",
         "--proxy-server=127.0.0.1:9", "--user-data-dir=" + profile] + words + ["file://" + page],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, env=environment, check=False)
    if result.returncode != 0:
        fail("chromium ended with status %d: %s" % (result.returncode, result.stderr.decode()[-2000:]))
    return result.stdout.decode("utf-8", "replace")


def with_script(page, script):
    """The same page with a script behind all of its own, in a file beside it."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    cut = text.rindex("</body>")
    path = tempfile.mktemp(dir=directory.name, suffix=".html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:cut] + "<script>" + script + "</script>" + text[cut:])
    return path


FRAME = """<!DOCTYPE html><meta charset="utf-8"><style>body { margin: 0 }</style>
<iframe src="file://%s" style="border: 0; width: %dpx; height: %dpx"></iframe><script>
window.addEventListener("message", event => {
    const answer = document.createElement("pre");
    answer.id = "answer";
    answer.textContent = JSON.stringify(event.data).replace(/[<>&]/g, c => "\\\\u00" + c.charCodeAt(0).toString(16));
    document.body.append(answer);
});
</script>"""


def ask(page, expression, width=1280, height=900, dark=False, real_time=False):
    """What a JavaScript expression is once the page is drawn; a promise is waited for. `drawn`: in how many
    milliseconds since the page was begun, which are real with real_time. The page lies in a frame, as windows have a
    least width."""
    script = """
    const drawn = performance.now();
    window.addEventListener("error", event => { window.broken = event.message; });
    (async () => {
        const put = value => parent.postMessage(value, "*");
        try { put({is: await (%s)}); } catch (error) { put({error: String(error.stack || error)}); }
    })();""" % expression
    frame = tempfile.mktemp(dir=directory.name, suffix=".html")
    with open(frame, "w", encoding="utf-8") as file:
        file.write(FRAME % (with_script(page, script), width, height))
    words = ["--window-size=%d,%d" % (max(width, 600), height), "--dump-dom"]
    if not real_time:
        words.append("--virtual-time-budget=10000")
    if dark:
        words.append("--blink-settings=preferredColorScheme=0")
    found = RESULT.search(start(words, frame))
    answer = json.loads(found.group(1)) if found else {"error": "the page gave no answer"}
    if "error" in answer:
        fail("in the page: " + answer["error"])
    return answer.get("is")


# ---------------------------------------------------------------- screenshots

class Picture:
    """Pixels of a PNG of 8 bits a channel: at(x, y) is (red, green, blue)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            png = file.read()
        data, at = b"", 8
        while at < len(png):
            length, kind = struct.unpack(">I4s", png[at:at + 8])
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack(">IIBB", png[at + 8:at + 18])
            elif kind == b"IDAT":
                data += png[at + 8:at + 8 + length]
            at += length + 12
        assert depth == 8 and colour in (2, 6)
        self.bytes = 3 if colour == 2 else 4
        self.rows = self.undo(zlib.decompress(data), self.width * self.bytes)

    def undo(self, data, length):
        rows, above, step = [], bytearray(length), self.bytes
        for y in range(self.height):
            kind, row = data[y * (length + 1)], bytearray(data[y * (length + 1) + 1:(y + 1) * (length + 1)])
            if kind == 1:
                for i in range(step, length):
                    row[i] = row[i] + row[i - step] & 255
            elif kind == 2:
                row = bytearray(a + b & 255 for a, b in zip(row, above))
            elif kind == 3:
                for i in range(length):
                    row[i] = row[i] + ((row[i - step] if i >= step else 0) + above[i] >> 1) & 255
            elif kind == 4:
                for i in range(length):
                    row[i] = row[i] + paeth(row[i - step] if i >= step else 0, above[i],
                                            above[i - step] if i >= step else 0) & 255
            rows.append(row)
            above = row
        return rows

    def at(self, x, y):
        return tuple(self.rows[y][x * self.bytes:x * self.bytes + 3])

    def colours(self, left, top, right, bottom):
        """How many pixels of a rectangle have each colour."""
        counts = {}
        for y in range(max(0, top), min(self.height, bottom)):
            for x in range(max(0, left), min(self.width, right)):
                counts[self.at(x, y)] = counts.get(self.at(x, y), 0) + 1
        return counts


def paeth(left, above, corner):
    guess = left + above - corner
    a, b, c = abs(guess - left), abs(guess - above), abs(guess - corner)
    return left if a <= b and a <= c else above if b <= c else corner


def photograph(page, width, height, dark=False, script=""):
    """A screenshot of the page's upper end; script: run before it."""
    path = tempfile.mktemp(dir=directory.name, suffix=".png")
    words = ["--window-size=%d,%d" % (width, height), "--virtual-time-budget=10000", "--screenshot=" + path]
    if dark:
        words.append("--blink-settings=preferredColorScheme=0")
    start(words, with_script(page, script) if script else page)
    return Picture(path)
