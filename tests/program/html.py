# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a page (--html, c2emu html), in a headless Chromium.

page      findings, levels and tables of the page are those of report.json; nothing is loaded, no script fails
same      a run and its report.json give the same bytes, and so does the run once more
escape    names and words that are tags stay text
pictures  marks of pictures are the numbers of the report; arrow keys, Enter, the file of a picture; the other side of
          the conflicts of a line; what was not collected is named with its option
screens   RUN: at 1280 pixels and, dark, at 400: nothing is wider than the page, labels of a picture do not overlap and
          lie in it, each picture has marks, each label can be read; on paper, too
large     a page of a thousand functions, and one of ten million instructions, has no more marks than a small one
verb      what c2emu html refuses, and in which words; two reports
"""

import json
import os
import re
import sys
import tempfile

import browser
from common import EMULATOR, check, contains, done, emulate, equal, run

IMAGES = os.environ["IMAGES"]
directory = tempfile.TemporaryDirectory()
MATMUL = [os.path.join(IMAGES, "matmul"), "60"]


def path(name):
    return os.path.join(directory.name, name)


def make(name, words, program):
    """A page of a run, and its report.json."""
    result = emulate(["-q", "--html", path(name + ".html"), "--json-full", path(name + ".json")] + words + program)
    equal(result.returncode, 0, "status of " + " ".join(words + program))
    with open(path(name + ".json"), encoding="utf-8") as file:
        return path(name + ".html"), json.load(file)


def text_of(page):
    with open(page, encoding="utf-8") as file:
        return file.read()


# ---------------------------------------------------------------- parts

def page():
    page, report = make("matmul", [], MATMUL)
    seen = browser.ask(page, """({
        drawn: document.documentElement.dataset.drawn, title: document.title, broken: window.broken || null,
        loaded: performance.getEntriesByType("resource").map(entry => entry.name),
        findings: [...document.querySelectorAll(".finding")].map(item => item.dataset.pattern),
        sentences: [...document.querySelectorAll(".finding p")].map(p => p.textContent),
        lines: [...document.querySelectorAll(".excerpt .here")].map(line => line.textContent),
        parts: [...document.querySelectorAll("main section")].map(section => section.id),
        levels: [...document.querySelectorAll("#levels table")][0].innerText.split("\\n"),
        bars: document.querySelectorAll("#classes rect.conflict").length,
        object: document.querySelector("#objects + div tbody tr").innerText,
        dead: [...document.querySelectorAll("a[href^='#']")].map(a => a.getAttribute("href"))
            .filter(to => !document.getElementById(to.slice(1)))})""")
    equal((seen["drawn"], seen["broken"], seen["loaded"]), ("yes", None, []), "drawn, errors, files loaded")
    equal(seen["title"], " ".join(report["command"]) + " - c2emu", "title")
    equal(seen["findings"], [finding["pattern"] for finding in report["findings"]], "patterns of the findings")
    for finding, sentence in zip(report["findings"], seen["sentences"]):
        contains(sentence, [finding["what"]], "a finding")
    found = [finding for finding in report["findings"] if finding["pattern"] == "loop-order"]
    equal(len(found), 1, "findings of the loops' order")
    check(any(str(found[0]["where"]["line"]) in line and "sum +=" in line for line in seen["lines"]),
          "no excerpt has the line: %r" % seen["lines"])
    digits = "{:,}".format
    for level in report["levels"]:
        row = [level["name"], digits(level["accesses"]), digits(level["misses"])]
        check(any(line.split("\t")[:3] == row for line in seen["levels"]), "no row %r in %r" % (row, seen["levels"]))
    equal(seen["bars"], len([level for level in report["levels"] if level["conflict"]]), "bars of conflict misses")
    first = report["objects"][0]
    contains(seen["object"], [digits(first["cost"] - first["startup"]), first["name"]], "the first object")
    equal(seen["dead"], [], "links that lead nowhere")
    text = text_of(page)
    equal(re.findall(r"(?:src|href)=.?https?:", text), [], "links to elsewhere")
    contains(text, ["Content-Security-Policy", "default-src 'none'", "Mike Bostock",
                    "Redistribution and use in source"], "the page")
    check(len(text.encode()) < 2000000, "the page has %d bytes" % len(text.encode()))


def same():
    page, _ = make("first", [], MATMUL)
    again, _ = make("second", [], MATMUL)
    check(text_of(page) == text_of(again), "two runs gave two pages")
    result = run([EMULATOR, "html", path("first.json"), "-o", path("saved.html")])
    equal((result.returncode, result.stdout, result.stderr), (0, b"", b""), "c2emu html")
    check(text_of(page) == text_of(path("saved.html")), "the page of report.json is another")
    result = emulate(["-q", "--record", path("recording")] + MATMUL)
    result = run([EMULATOR, "replay", "-q", "--html", path("replayed.html"), path("recording")])
    equal(result.returncode, 0, "status of the replay")
    told = browser.ask(path("replayed.html"), "document.querySelectorAll('.finding').length")
    equal(told, browser.ask(page, "document.querySelectorAll('.finding').length"), "findings of the replay")


HOSTILE = "</script><script>window.broken=1</script><img src=x onerror=window.broken=2>&lt;b&gt;<!--{{data}}"


def poison(value, key=""):
    """Every name of a report becomes a piece of HTML."""
    if isinstance(value, dict):
        return {k: poison(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poison(v, key) for v in value]
    names = ("function", "name", "module", "file", "object", "what", "remedy", "type", "evictor", "address", "ending")
    return value + HOSTILE if isinstance(value, str) and key in names else value


def escape():
    page, report = make("plain", ["--windows", "50k", "--reuse"], MATMUL + [HOSTILE])
    levels = [level["name"] for level in report["levels"]]
    poisoned = poison(report)
    for part in (poisoned, poisoned["machine"]):
        for level, name in zip(part["levels"], levels):
            level["name"] = name
    poisoned["ending"] = HOSTILE
    with open(path("bad.json"), "w", encoding="utf-8") as file:
        json.dump(poisoned, file)
    result = run([EMULATOR, "html", path("bad.json"), "-o", path("bad.html")])
    equal(result.returncode, 0, "status: %s" % result.stderr.decode())
    for made in (page, path("bad.html")):
        text = text_of(made)
        equal((text.count("</script"), text.count("<img"), text.count("<!--")), (3, 0, 1), "tags of " + made)
        seen = browser.ask(made, """({broken: window.broken || null, images: document.images.length,
            drawn: document.documentElement.dataset.drawn, title: document.querySelector("h1").textContent,
            text: document.querySelector("main").textContent})""")
        equal((seen["broken"], seen["images"], seen["drawn"]), (None, 0, "yes"), "what hostile names did")
        contains(seen["title"], [HOSTILE], "the title")
    contains(seen["text"], [HOSTILE], "names as text")


COLLECTED = ["--windows", "100k", "--reuse", "--separate-callers", "8"]
MARKS = """%s.map(name => {
    const picture = document.querySelector("#" + name + " .picture"), press = key =>
        picture.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    picture.focus();
    press("ArrowRight");
    const first = document.getElementById("live").textContent;
    press("ArrowRight");
    const second = document.getElementById("live").textContent, tip = !document.getElementById("tip").hidden;
    press("Escape");
    return [first, second, tip, document.getElementById("tip").hidden];
})"""


def pictures():
    page, report = make("all", COLLECTED, MATMUL)
    seen = browser.ask(page, """(async () => {
        const texts = query => [...document.querySelectorAll(query)].map(node => node.textContent);
        const marks = query => d3.selectAll(query).data();
        const line = [...document.querySelectorAll("#source button.more")][0];
        document.querySelectorAll("#source button.more").forEach(button => button.click());
        const saved = new DOMParser().parseFromString(standalone(document.querySelector("#matrix svg"), "t"),
            "image/svg+xml");
        return {broken: window.broken || null, nothing: texts("p.nothing"),
            level: document.querySelector("#evictions select").value,
            matrix: marks("#matrix rect.cell").map(pair => [pair.victim, pair.evictor, pair.count]),
            flow: d3.sum(marks("#flow path.band"), pair => pair.count),
            map: [marks("#map rect.leaf")[0].ancestors().slice(-1)[0].value, wholeCost - report.cost.startup],
            flame: d3.max(marks("#flame rect"), node => node.value), frames: marks("#flame rect").length,
            heat: [d3.select("#heat image").attr("width") > 0, document.querySelector("#sets select").value,
                d3.sum(marks("#fills rect").filter(cell => cell.number >= 0), cell => cell.to - cell.from)],
            pages: marks("#map-of-pages rect").filter(mark => mark.page).map(mark =>
                [mark.page.start, mark.page.frame]),
            curve: marks("#curve circle").filter(point => point.curve.name === "data")
                .map(point => [point.bytes, point.misses]),
            windows: [d3.sum(report.windows.levels[0].misses), marks("#windows rect").length],
            sides: texts("#source .sides li"),
            saved: [saved.documentElement.tagName, saved.querySelectorAll("[fill^='var']").length,
                saved.querySelectorAll("rect").length, saved.querySelectorAll("parsererror").length]};
    })()""")
    equal(seen["broken"], None, "errors")
    equal([text for text in seen["nothing"] if "one core" not in text], [], "what is said to be missing")
    pairs = {}
    for conflict in report["conflicts"]:
        for other in conflict["originators"] if conflict["level"] == seen["level"] else []:
            key = conflict["miss"]["object"], other.get("object", "nobody known")
            pairs[key] = pairs.get(key, 0) + other["count"]
    conflicts = [level["conflict"] for level in report["levels"] if level["name"] == seen["level"]][0]
    equal(sum(pairs.values()), conflicts, "conflict misses that are listed")
    equal(sum(count for _, _, count in seen["matrix"]), conflicts, "conflict misses of the matrix")
    equal(seen["flow"], conflicts, "conflict misses of the flow")
    for victim, evictor, count in seen["matrix"]:
        if "others" not in (victim, evictor):
            equal(count, pairs[victim, evictor], "%s evicted by %s" % (victim, evictor))
    equal(*seen["map"], "cost of the tree map, and of the run without start-up")
    check(seen["frames"] > 20, "%d frames in the flame graph" % seen["frames"])
    sets = [of for of in report["sets"]["levels"] if of["name"] == seen["heat"][1]][0]
    equal(seen["heat"][::2], [True, sum(sum(fills[1::2]) for fills in sets["fills"])], "bars of what filled the sets")
    listed = sorted(zip(report["sets"]["pages"]["start"], report["sets"]["pages"]["frame"]))
    equal(sorted(map(tuple, seen["pages"])), listed, "pages of the map")
    data = [stack for stack in report["reuse"]["stacks"] if stack["name"] == "data"][0]
    equal(seen["curve"], [[size["bytes"], size["misses"]] for size in data["sizes"]], "the curve of data")
    l1d = report["levels"][0]
    equal(seen["windows"], [l1d["misses"], len(report["windows"])], "L1D misses of the windows, and how many there are")
    inner = [conflict for conflict in report["conflicts"] if conflict["level"] == "L1D"][0]
    first = inner["originators"][0]
    check(any(text.startswith("{:,} misses in L1D of b: evicted for {} by main (matmul.c:{})".format(
        first["count"], first["object"], first["line"])) for text in seen["sides"]), "sides: %r" % seen["sides"])
    equal(seen["saved"][0::3], ["svg", 0], "the file of a picture")
    equal(seen["saved"][1], 0, "colours of the style sheet in the file of a picture")
    check(seen["saved"][2] > len(seen["matrix"]), "marks in the file of a picture")
    names = ["classes", "matrix", "flow", "map", "flame", "heat", "fills", "map-of-pages", "colours", "curve",
             "windows"]
    for name, (first, second, shown, hidden) in zip(names, browser.ask(page, MARKS % json.dumps(names))):
        check(first and second and first != second and shown and hidden,
              "keys in %s: %r, %r, shown %r, hidden %r" % (name, first, second, shown, hidden))
    plain, _ = make("plain", ["--no-attribution"], MATMUL)
    told = browser.ask(plain, "[...document.querySelectorAll('p.nothing')].map(p => p.innerText)")
    for words in ("--sets", "--reuse", "--no-attribution", "--cores 4"):
        check(any(words in text for text in told), "no part without data names %s: %r" % (words, told))


# ---------------------------------------------------------------- how it looks

RUNS = {
    "matmul": ["-m", "teach", "--windows", "50k", "--reuse", "--separate-callers", "8"] + MATMUL,
    "chase": ["--windows", "20k", os.path.join(IMAGES, "chase"), "20000"],
    "threads": ["--cores", "4", "--windows", "10k", os.path.join(IMAGES, "counters"), "4", "1000"],
    "gzip": ["--windows", "200k", "--reuse", "--separate-callers", "8", "gzip", "-cn", __file__],
}
LAYOUT = """(() => {
    const box = node => { const b = node.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
    const meet = (a, b) => Math.min(a[2], b[2]) - Math.max(a[0], b[0]) > 2 && Math.min(a[3], b[3]) -
        Math.max(a[1], b[1]) > 2;
    const figures = [...document.querySelectorAll("figure")].filter(figure => figure.offsetParent);
    return {broken: window.broken || null, width: document.documentElement.clientWidth,
        scrolls: document.documentElement.scrollWidth, high: document.documentElement.scrollHeight,
        figures: figures.map(figure => {
            const svg = figure.querySelector("svg"), frame = box(svg);
            const texts = [...svg.querySelectorAll("text")].filter(text => text.textContent.trim())
                .map(text => [text.textContent, box(text), text.classList.contains("head")]);
            const level = texts.filter(text => !text[2]);
            return {id: figure.id, frame, title: box(figure.querySelector("h3")), texts,
                overlap: level.flatMap((a, i) => level.slice(i + 1).filter(b => meet(a[1], b[1]))
                    .map(b => [a[0], b[0]])),
                outside: texts.filter(([, b]) => b[0] < frame[0] - 3 || b[2] > document.documentElement.clientWidth)
                    .map(text => text[0])};
        })};
})()"""


def luminance(colour):
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(colours):
    """Of the darkest and the lightest pixel, as WCAG has it."""
    all_of_them = [luminance(colour) for colour in colours]
    return (max(all_of_them) + 0.05) / (min(all_of_them) + 0.05)


def look_at(name, page, width, dark, pixels=True):
    """Pixels take this program seconds for each megabyte."""
    layout = browser.ask(page, LAYOUT, width=width, dark=dark)
    what = "%s at %d" % (name, width)
    equal((layout["broken"], layout["width"]), (None, width), what)
    equal(layout["scrolls"], width, what + ": the width of all")
    for figure in layout["figures"]:
        equal((figure["overlap"], figure["outside"]), ([], []),
              "%s: %s: labels that overlap, that are outside" % (what, figure["id"]))
        check(bool(figure["texts"]), "%s: %s has no labels" % (what, figure["id"]))
    if pixels:
        look_at_pixels(what, browser.photograph(page, width, layout["high"], dark=dark), layout, width, dark)
    return [figure["id"] for figure in layout["figures"]]


def look_at_pixels(what, picture, layout, width, dark):
    equal((picture.width, picture.height), (width, layout["high"]), what + ": the screenshot")
    paper = picture.at(2, 2)
    check((luminance(paper) < 0.05) == dark, what + ": the paper is %r" % (paper,))
    for figure in layout["figures"]:
        here = "%s: %s" % (what, figure["id"])
        colours = picture.colours(*[round(at) for at in figure["frame"]])
        area = sum(colours.values())
        check(colours.get(paper, 0) < 0.995 * area and len(colours) > 4,
              "%s is blank: %d colours, %d of %d pixels are paper" % (here, len(colours), colours.get(paper, 0), area))
        for text, box, _ in figure["texts"]:
            seen = picture.colours(*[round(at) for at in box])
            check(seen and contrast(seen) >= 3, "%s: %r cannot be read" % (here, text))


def screens(name):
    page, _ = make(name, [], RUNS[name])
    wide, narrow = look_at(name, page, 1280, False, name == "matmul"), look_at(name, page, 400, True)
    equal(wide, narrow, "pictures at both widths")
    expected = {"matmul": {"classes", "heat", "fills", "matrix", "flow", "map", "flame", "curve", "windows",
                           "map-of-pages", "colours"},
                "threads": {"classes", "heat", "map", "windows", "shared"}}.get(name, {"classes", "heat", "map"})
    check(expected <= set(wide), "pictures: %r" % wide)
    browser.start(["--print-to-pdf=" + path("page.pdf"), "--virtual-time-budget=10000"], page)
    with open(path("page.pdf"), "rb") as file:
        pdf = file.read()
    check(pdf.startswith(b"%PDF") and 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 40, "pages on paper")


def large():
    """What is drawn does not grow with the report. How long it takes is measured by bench/pages.py."""
    page, report = make("long", ["--windows", "100k"], [MATMUL[0], "130"])
    check(report["run"]["instructions"] > 10000000, "%d instructions" % report["run"]["instructions"])
    rows = [row for row in report["functions"] if "rest" not in row]
    marks = []
    for count in (100, 1000):
        report["functions"] = [dict(row, name="%s_%d" % (row.get("name", "f"), i))
                               for i in range(1 + count // len(rows)) for row in rows][:count]
        equal(len(report["functions"]), count, "functions")
        with open(path("many.json"), "w", encoding="utf-8") as file:
            json.dump(report, file)
        equal(run([EMULATOR, "html", path("many.json"), "-o", path("many.html")]).returncode, 0, "status")
        marks.append(browser.ask(path("many.html"), "document.querySelectorAll('*').length"))
    check(1000 < marks[0] <= marks[1] < marks[0] + 450, "elements for a hundred and a thousand functions: %r" % marks)
    check(browser.ask(page, "document.querySelectorAll('*').length") < 4000, "elements of ten million instructions")


def verb():
    page, report = make("a", [], MATMUL)
    with open(path("list.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "c2emu-programs", "version": 1}, file)
    with open(path("none.json"), "w", encoding="utf-8") as file:
        file.write("{")
    open(path("empty.json"), "w", encoding="utf-8").close()
    emulate(["-q", "--no-sim", "--json-full", path("unsimulated.json")] + MATMUL)
    for words, message in (
            ([], "html: give a report, or two to compare, and the page: c2emu html REPORT.json [OTHER.json] -o FILE"),
            ([path("a.json")], "html: give a report"),
            ([path("a.json"), "-o", path("nowhere/x.html")], "No such file"),
            ([path("no.json"), "-o", path("x.html")], "no.json cannot be opened: No such file or directory"),
            ([path("none.json"), "-o", path("x.html")], "none.json is no JSON: line 1"),
            ([path("empty.json"), "-o", path("x.html")], "empty.json cannot be read, or is empty"),
            ([path("list.json"), "-o", path("x.html")], "list.json is of the format c2emu-programs"),
            ([path("unsimulated.json"), "-o", path("x.html")], "it was written with --no-sim"),
            ([path("a.json"), "-o", path("a.json")], "a.json"),
            ([path("a.json")] * 3 + ["-o", path("x.html")], "html: give a report, or two to compare")):
        result = run([EMULATOR, "html"] + words)
        equal(result.returncode, 125, "status of html " + " ".join(words))
        contains(result.stderr.decode(), [message], "html " + " ".join(words))
        check(not os.path.exists(path("x.html")), "a page was left behind")
    with open(path("a.json"), encoding="utf-8") as file:
        equal(json.load(file), report, "the report that was to be written over")
    _, other = make("b", ["--set", "L1D.size=16K"], MATMUL)
    result = run([EMULATOR, "html", path("a.json"), path("b.json"), "-o", path("both.html")])
    equal((result.returncode, result.stderr), (0, b""), "status of two reports")
    seen = browser.ask(path("both.html"), """({pairs: document.querySelectorAll("#pairs rect").length,
        rows: document.querySelector("#changes .wide").innerText.split("\\n"), broken: window.broken || null,
        facts: document.querySelector("#changes .facts").innerText})""")
    equal(seen["broken"], None, "errors")
    contains(seen["facts"], [path("a.json"), path("b.json")], "what is compared")
    a, b = ({level["name"]: level["misses"] for level in of["levels"]} for of in (report, other))
    changed = [name for name in a if a[name] != b[name]]
    check(changed, "nothing differs between the machines")
    for name in changed:
        row = [name, "misses", "{:,}".format(a[name]), "{:,}".format(b[name])]
        check(any(line.split("\t")[:4] == row for line in seen["rows"]), "no row %r in %r" % (row, seen["rows"][:30]))


if __name__ == "__main__":
    {"page": page, "same": same, "escape": escape, "pictures": pictures, "screens": screens, "large": large,
     "verb": verb}[sys.argv[1]](*sys.argv[2:])
    done()
