/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * evictions: who evicted whom - conflict misses by what missed and by what had taken the line away.
 */

const EVICTION_NAMES = 10;

/* Pairs {victim, evictor, count} of a level, the names beyond the first put together; and the names, most first. */
function evictionPairs(level, by) {
    const name = place => !place || (!place.object && !place.function && !place.pc && !place.address) ? "nobody known"
        : by === "object" ? place.object || "?" : placeText(place);
    const pairs = [], weight = new Map();
    const add = (victim, evictor, count) => {
        if (!count)
            return;
        pairs.push({victim, evictor, count});
        for (const one of new Set([victim, evictor]))
            weight.set(one, (weight.get(one) || 0) + count);
    };
    let left = levels.find(of => of.name === level).conflict; /* the rest of the level, which is not listed */
    for (const conflict of (report.conflicts || []).filter(conflict => conflict.level === level && conflict.miss)) {
        let own = conflict.count;
        for (const other of conflict.originators.filter(other => !other.rest)) {
            add(name(conflict.miss), name(other), other.count);
            own -= other.count;
        }
        add(name(conflict.miss), "not listed", own);
        left -= conflict.count;
    }
    add("not listed", "not listed", left);
    const names = [...weight.keys()].sort((a, b) => d3.descending(weight.get(a), weight.get(b)) || d3.ascending(a, b));
    const shown = new Set(names.slice(0, EVICTION_NAMES)), short = one => shown.has(one) ? one : "others";
    const sums = new Map();
    for (const pair of pairs) {
        const victim = short(pair.victim), evictor = short(pair.evictor), key = JSON.stringify([victim, evictor]);
        const sum = sums.get(key) || {victim, evictor, count: 0};
        sum.count += pair.count;
        sums.set(key, sum);
    }
    const list = [...sums.values()].sort((a, b) => d3.descending(a.count, b.count));
    const all = names.slice(0, EVICTION_NAMES).concat(list.some(pair => pair.victim === "others" ||
        pair.evictor === "others") ? ["others"] : []);
    return {list, names: all, total: d3.sum(list, pair => pair.count)};
}

const describePair = total => d => [count(d.count) + " conflict misses, " + share(d.count, total) + " of the level's",
    d.victim + " missed", "what " + d.evictor + " had evicted"];

function drawMatrix(of, svg, width, picture) {
    const {list, names, total} = of, left = Math.min(230, width * 0.32), top = 104;
    const cell = Math.max(14, Math.min(44, (width - left - 60) / names.length)), high = Math.min(cell, 30);
    const at = new Map(names.map((name, i) => [name, i]));
    const heat = heatScale(d3.max(list, pair => pair.count));
    const side = names.length * cell;
    svg.append("text").attr("class", "quiet").attr("x", 0).attr("y", 12).text("evicted by \u2192");
    svg.append("text").attr("class", "quiet").attr("x", 0).attr("y", 28).text("missed \u2193");
    svg.selectAll("text.row").data(names).join("text").attr("class", "row").attr("x", left - 8)
        .attr("y", (d, i) => top + i * high + high / 2 + 4).attr("text-anchor", "end").text(d => fit(d, left - 12));
    svg.selectAll("text.head").data(names).join("text").attr("class", "head").attr("text-anchor", "start")
        .attr("transform", (d, i) => "translate(" + (left + i * cell + cell / 2 + 3) + "," + (top - 6) +
            ") rotate(-50)")
        .text((d, i) => fit(d, Math.min(110, (width - left - (i + 0.5) * cell - 16) / 0.65)));
    svg.selectAll("rect.back").data(d3.cross(names, names)).join("rect").attr("x", d => left + at.get(d[1]) * cell)
        .attr("y", d => top + at.get(d[0]) * high).attr("width", cell - 1).attr("height", high - 1)
        .style("fill", "var(--heat0)");
    const marks = svg.selectAll("rect.cell").data(list).join("rect").attr("class", "cell")
        .attr("x", d => left + at.get(d.evictor) * cell).attr("y", d => top + at.get(d.victim) * high)
        .attr("width", cell - 1).attr("height", high - 1).style("fill", d => heat(d.count));
    if (cell > 30) {
        svg.selectAll("text.number").data(list).join("text").attr("class", "number").attr("text-anchor", "middle")
            .attr("x", d => left + at.get(d.evictor) * cell + cell / 2)
            .attr("y", d => top + at.get(d.victim) * high + high / 2 + 4).attr("font-size", 11)
            .style("fill", d => inkOn(heat(d.count))).style("pointer-events", "none").text(d => rough(d.count));
    }
    explore(picture, marks, describePair(total));
    return Math.max(top + names.length * high, 40) + (side > width ? 0 : 4);
}

/* Two columns, what evicted to the left and what missed to the right, and bands as wide as their misses. */
function drawFlow(of, svg, width, picture) {
    const {list, names, total} = of, label = Math.min(220, width * 0.3), high = Math.max(140, Math.min(320,
        names.length * 34)), gap = 6, paint = new Map(names.map((name, i) => [name, ["others", "not listed",
        "nobody known"].includes(name) ? "var(--other)" : series(i)]));
    const stack = key => {
        const used = names.filter(name => list.some(pair => pair[key] === name));
        const room = high - gap * (used.length - 1), places = new Map();
        let y = 22;
        for (const name of used) {
            const sum = d3.sum(list.filter(pair => pair[key] === name), pair => pair.count);
            places.set(name, {name, y, next: y, high: room * sum / total, sum});
            y += room * sum / total + gap;
        }
        return places;
    };
    const left = stack("evictor"), right = stack("victim"), x0 = label, x1 = width - label;
    const order = (a, b) => names.indexOf(a.evictor) - names.indexOf(b.evictor) ||
        names.indexOf(a.victim) - names.indexOf(b.victim);
    const bands = [...list].sort(order).map(pair => {
        const a = left.get(pair.evictor), b = right.get(pair.victim), wide = a.high * pair.count / a.sum;
        const band = Object.assign({wide, y0: a.next, y1: b.next}, pair);
        a.next += wide;
        b.next += wide;
        return band;
    });
    const middle = (x0 + x1) / 2;
    const path = d => "M" + (x0 + 8) + "," + d.y0 + "C" + middle + "," + d.y0 + " " + middle + "," + d.y1 + " " +
        (x1 - 8) + "," + d.y1 + "V" + (d.y1 + d.wide) + "C" + middle + "," + (d.y1 + d.wide) + " " + middle + "," +
        (d.y0 + d.wide) + " " + (x0 + 8) + "," + (d.y0 + d.wide) + "Z";
    svg.append("text").attr("class", "quiet").attr("x", x0).attr("y", 12).attr("text-anchor", "end").text("evicted by");
    svg.append("text").attr("class", "quiet").attr("x", x1).attr("y", 12).text("missed");
    const marks = svg.selectAll("path.band").data(bands).join("path").attr("class", "band").attr("d", path)
        .style("fill", d => paint.get(d.evictor)).attr("fill-opacity", 0.45);
    for (const [places, x, anchor, shift] of [[left, x0, "end", -6], [right, x1 - 8, "start", 14]]) {
        const nodes = [...places.values()];
        svg.append("g").selectAll("rect").data(nodes).join("rect").attr("x", x).attr("y", d => d.y).attr("width", 8)
            .attr("height", d => Math.max(1, d.high)).style("fill", d => paint.get(d.name));
        let free = 0; /* labels of thin nodes would overlap: those that fit are written */
        svg.append("g").selectAll("text").data(nodes.filter(d => {
            const y = d.y + d.high / 2;
            const fits = y - free >= 13;
            free = fits ? y : free;
            return fits;
        })).join("text").attr("x", x + shift).attr("y", d => d.y + d.high / 2 + 4).attr("text-anchor", anchor)
            .text(d => fit(d.name, label - 16));
    }
    explore(picture, marks, describePair(total));
    return high + 30;
}

function makeEvictions(to) {
    const found = levels.filter(level => (report.conflicts || []).some(conflict => conflict.level === level.name));
    if (!found.length) {
        to.append(report.conflicts ? element("p", null, "No level has conflict misses.") : nothing(
            "Conflict misses were not attributed:", "leave out ", option("--no-attribution"), "."));
        return;
    }
    let level = found.slice().sort((a, b) => d3.descending(a.conflict, b.conflict))[0].name;
    let by = "object";
    const pairs = () => evictionPairs(level, by), again = [];
    const redraw = () => again.forEach(draw => draw());
    to.append(element("div", {class: "bar"}, element("p", {class: "note", style: "margin-right:auto"},
        "Conflict misses: of which object, or line, something missed, and whose access had evicted it."),
    choice("level", found.map(l => [l.name, l.name]), level, value => { level = value; redraw(); }),
    choice("by", [["object", "object"], ["line", "line"]], by, value => { by = value; redraw(); })));
    again.push(figure(to, {id: "matrix", title: "Who evicts whom",
        says: "A matrix of conflict misses: a row for what missed, a column for what had evicted it.",
        caption: "A row is what missed, a column what had evicted it; the diagonal is what evicts itself."},
    (svg, width, picture) => drawMatrix(pairs(), svg, width, picture)));
    again.push(figure(to, {id: "flow", title: "The same as a flow",
        says: "Bands from what evicted to what missed.", caption: "A band is as wide as its conflict misses."},
    (svg, width, picture) => drawFlow(pairs(), svg, width, picture)));
}
