/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * story: the page of an explained miss: what is told of it, and its set as boxes that change access by access.
 */

const story = data.story, steps = story.steps, STEP_MS = 1400;

function makeStoryHead() {
    const miss = story.miss, first = steps[0];
    const title = "A " + first.result + " miss of " + miss.level + " on " + story.machine;
    document.title = title + " - c2emu";
    document.querySelector(".skip").textContent = "To the story";
    byId("head").append(element("h1", null, title), element("ul", {class: "facts"},
        [["of", (story.command || []).join(" ")],
            ["miss", count(miss.number) + " of " + count(miss.of) + (miss.at ? " at " + miss.at : "")],
            ["of the level", count(miss.of_level)]].map(([name, value]) => element("li", null,
            element("span", {class: "quiet"}, name + " "), element("b", null, value)))));
    const receipt = story.receipt;
    byId("made").textContent = "Told by c2emu" + (receipt ? " " + receipt.c2emu : "") +
        ". Counts are exact and the same in every run.";
}

/* ------------------------------------------------------------------ in words */

function levelText(level) {
    return (level.result === "hit" ? "hit" : level.result + " miss") + ": " + level.by +
        (level.victim ? "; line " + level.victim + " makes room" : "");
}

function makeStory(to) {
    const first = steps[0];
    const rows = [[first.kind, "by " + first.by], ["code", (first.instruction ? first.instruction + ", at " : "at ") +
        first.pc], ["data", first.to + ", at " + first.address], ["line", first.line + " of physical memory"]]
        .concat(story.levels.map(level => [level.name, levelText(level)]),
            [["victim", first.why], ["the line", first.past],
                ["ideal", "a fully associative LRU cache of this size " + first.ideal], ["kept by", first.kept_by]]);
    to.append(element("dl", {class: "story"}, rows.filter(row => row[1]).map(([key, text]) =>
        [element("dt", null, key), element("dd", null, text)])));
}

/* ------------------------------------------------------------------ the set */

/* What becomes of a way in a step. */
function fate(step, way) {
    if (step.way !== way.way)
        return "";
    return step.result === "hit" ? "hit" : way.holds ? "leaves" : "filled";
}

function wayBox(step, way) {
    const what = fate(step, way);
    const state = way.holds && way.state ? [element("div", {class: "quiet"}, stateName(step.policy) + " " + way.state)]
        : [];
    const held = way.holds ? [element("b", null, way.what), element("div", {class: "code"}, way.line +
        (way.dirty ? ", dirty" : "")), element("div", {class: "quiet"}, "brought " + plural(way.brought_ago,
        "access", "accesses") + " before by " + way.brought_by), element("div", {class: "quiet"}, "touched " +
        count(way.touched_ago) + " before"), ...state] : [element("div", {class: "quiet"}, "empty")];
    const comes = what === "leaves" || what === "filled" ? [element("div", {class: "comes " + step.result},
        element("b", null, step.to), element("div", {class: "code"}, step.line))] : [];
    return element("li", {class: "way " + what, "data-way": way.way, "data-line": way.holds ? way.line : ""},
        element("div", {class: "label"}, "way " + way.way + (what ? ": " + what : "")), held, comes);
}

const stateName = policy => policy === "lru" ? "touched later:" : policy === "fifo" ? "filled later:" : policy === "nru"
    ? "bit" : "prediction";

const resultText = step => step.result === "hit" ? "hit in way " + step.way : step.result + " miss" +
    (step.way === undefined ? "" : step.ways[step.way].holds ? ", line " + step.ways[step.way].line + " leaves"
        : ", into an empty way");

/* The player: one step is shown; buttons and keys go from one to another, by themselves while it plays. */
function makeSteps(to) {
    const last = steps.length - 1, boxes = element("ul", {class: "ways"}), said = element("p", {class: "said"});
    const why = element("p", {class: "quiet"});
    let at = 0, timer = null;
    const position = element("input", {type: "range", min: 0, max: last, value: 0, "aria-label": "step",
        input: () => { stop(); show(Number(position.value)); }});
    const button = (id, text, label, click) => element("button", {id, class: "act", type: "button", "aria-label": label,
        title: label, click}, text);
    const play = button("play", "Play", "play or stop", () => timer ? stop() : start());
    const number = element("span", {id: "step-number", class: "quiet"});

    function show(step) {
        at = Math.max(0, Math.min(last, step));
        const of = steps[at];
        boxes.replaceChildren(...of.ways.map(way => wayBox(of, way)));
        said.replaceChildren(of.kind + " of ", element("b", null, of.to), ", line " + of.line + ", by " + of.by + ": ",
            element("b", {class: "result " + of.result}, resultText(of)));
        why.textContent = of.why;
        position.value = at;
        number.textContent = "step " + at + " of " + last;
        live.textContent = number.textContent + ": " + said.textContent;
    }
    function stop() {
        clearInterval(timer);
        timer = null;
        play.textContent = "Play";
    }
    function start() {
        if (at === last)
            show(0);
        play.textContent = "Stop";
        timer = setInterval(() => {
            show(at + 1);
            if (at === last)
                stop();
        }, STEP_MS);
    }
    const go = step => { stop(); show(step); };
    const player = element("div", {id: "player", class: "player", tabindex: "0", role: "group",
        "aria-label": "The set, access by access. Arrow keys go from step to step, Home and End to the first and the " +
            "last, the space bar plays."},
        element("div", {class: "bar"}, button("first", "|<", "first step", () => go(0)),
            button("back", "<", "step before", () => go(at - 1)), play, button("next", ">", "next step",
                () => go(at + 1)), button("last", ">|", "last step", () => go(last)), position, number),
        said, boxes, why);
    player.addEventListener("keydown", event => {
        const step = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last};
        if (event.key in step)
            go(step[event.key]);
        else if (event.key === " " && event.target === player)
            play.click();
        else
            return;
        event.preventDefault();
    });
    to.append(player, element("p", {class: "note"}, "Each step shows the set before the access, and what the access " +
        "brings into it. " + (steps[0].by_age ? "A level with true LRU knows no ways but their order: the line that " +
        "was touched last comes first." : "")));
    show(0);
}

/* ------------------------------------------------------------------ the page */

function makeStoryPage() {
    const main = byId("main"), contents = byId("contents");
    main.replaceChildren();
    makeStoryHead();
    for (const [id, title, make] of [["steps", "The set, step by step", makeSteps], ["story", "The miss", makeStory]]) {
        const section = element("section", {id, "aria-labelledby": id + "-title"},
            element("h2", {id: id + "-title"}, title));
        contents.append(element("a", {href: "#" + id}, title));
        main.append(section);
        make(section);
    }
    document.documentElement.dataset.drawn = "yes";
}

makeStoryPage();
