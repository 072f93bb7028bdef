/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * names: places, objects and events of the report as texts, and links from one part of the page to another.
 */

const base = path => path.slice(path.lastIndexOf("/") + 1);

/* "matmul.c:30"; "" where no line is known. */
const fileLine = place => place && place.file ? base(place.file) + (place.line ? ":" + place.line : "") : "";

/* "main (matmul.c:30)", "main in libc.so.6", "0x1234 in app". */
function placeText(place) {
    if (!place)
        return "nobody known";
    const name = place.function || place.address || place.pc || "";
    const line = fileLine(place);
    if (line)
        return name ? name + " (" + line + ")" : line;
    return (name || "code") + (place.module ? " in " + place.module : "");
}

/* How many the last entry of a list stands for. */
const restOf = of => Object.values(of.rest)[0];

/* "b (matmul.c:44)", "code of libc.so.6". */
function objectText(object) {
    if (object.rest)
        return plural(restOf(object), "other object");
    if (object.kind === "code")
        return "code of " + object.name;
    if (object.kind === "file")
        return "data of " + object.name;
    const where = fileLine(object.site) || fileLine(object);
    return object.name + (where ? " (" + where + ")" : object.module ? " in " + object.module : "");
}

const functionText = of => of.rest ? plural(restOf(of), "other function")
    : (of.name || "code without a symbol") + (of.module ? " in " + of.module : "");
const lineText = of => of.rest ? plural(restOf(of), "other line") : placeText(of);

/* ------------------------------------------------------------------ links */

const sources = data.sources || [];
const sourceOf = file => sources.findIndex(source => source.file === file);
const lineId = (file, line) => "line-" + sourceOf(file) + "-" + line;

/* To the line in the annotated source, where that is in the page. */
function placeLink(place, text) {
    const shown = text || placeText(place);
    if (!place || !place.file || !place.line || sourceOf(place.file) < 0)
        return shown;
    return element("a", {href: "#" + lineId(place.file, place.line)}, shown);
}

/* ------------------------------------------------------------------ events
 * What can be counted for objects, functions and lines: {key, text, of: thing -> number}. */

const levelOf = (thing, name) => (thing.levels || []).find(level => level.name === name) || {};
const CLASSES = ["cold", "capacity", "conflict", "coherence"];
const levels = report.levels;
const cores = report.machine && report.machine.cores || 1;
const wholeCost = report.cost ? report.cost.cost : 0;

/* What its accesses cost but for start-up, in cycles, as the lists are ordered. */
const ownCost = thing => (thing.cost || 0) - (thing.startup || 0);

function makeEvents() {
    const list = [{key: "cost", text: "cost, cycles", of: ownCost}];
    for (const level of levels) {
        list.push({key: level.name, text: level.name + " misses", of: thing => levelOf(thing, level.name).misses || 0});
        for (const name of CLASSES) {
            if (level[name])
                list.push({key: level.name + "." + name, text: level.name + " " + name + " misses",
                    of: thing => levelOf(thing, level.name)[name] || 0});
        }
    }
    if (report.tlb)
        list.push({key: "tlb", text: "TLB misses", of: thing => thing.tlb_misses || 0},
            {key: "walks", text: "page walks", of: thing => thing.walks || 0});
    return list;
}
const events = makeEvents();
const eventOf = key => events.find(event => event.key === key) || events[0];
const eventChoices = list => (list || events).map(event => [event.key, event.text]);
