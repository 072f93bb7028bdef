/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * changes: two reports compared, as `c2emu diff` compares them.
 */

const changedText = change => change.a === undefined ? "only in B" : change.b === undefined ? "only in A"
    : (change.b < change.a ? "-" : "+") + count(Math.abs(change.b - change.a));
const changedBy = change => (change.b || 0) - (change.a || 0);

/* What each level misses in A and in B. */
function drawPairs(svg, width, picture) {
    const sides = [["A", report], ["B", data.other]], left = 62, right = 110, row = 20, gap = 12;
    const names = [...new Set(sides.flatMap(([, of]) => of.levels.filter(l => l.accesses > 0).map(l => l.name)))];
    const cells = [], rows = [];
    let y = 4;
    for (const name of names) {
        const pair = sides.map(([, of]) => of.levels.find(level => level.name === name) || {misses: 0});
        const most = d3.max(pair, level => level.misses) || 1;
        const x = d3.scaleLinear([0, most], [left, width - right]);
        pair.forEach((level, side) => {
            let sum = 0;
            for (const part of CLASSES) {
                if (level[part] > 0)
                    cells.push({level, name: part, count: level[part], x: x(sum), y, side,
                        width: x(sum + level[part]) - x(sum)});
                sum += level[part] || 0;
            }
            rows.push({name: side ? "" : name, side: sides[side][0], y, end: x(level.misses), misses: level.misses});
            y += row;
        });
        y += gap;
    }
    const text = svg.selectAll("g").data(rows).join("g");
    text.append("text").attr("x", 0).attr("y", d => d.y + 13).text(d => d.name);
    text.append("text").attr("class", "quiet").attr("x", left - 8).attr("text-anchor", "end").attr("y", d => d.y + 13)
        .text(d => d.side);
    text.append("text").attr("x", d => d.end + 8).attr("y", d => d.y + 13).text(d => count(d.misses));
    const marks = svg.selectAll("rect").data(cells).join("rect").attr("class", d => d.name).attr("x", d => d.x)
        .attr("y", d => d.y).attr("width", d => Math.max(0.5, d.width - 1)).attr("height", row - 4);
    explore(picture, marks, d => ["AB"[d.side] + ": " + d.level.name + " " + d.name, count(d.count) + " misses"]);
    return y;
}

function makeChanges(to) {
    const changes = data.differ.changes;
    const command = of => of.command.join(" ") + " on " + of.machine.name;
    to.append(element("ul", {class: "facts"}, element("li", null, element("b", null, "A "), data.name + ": " +
        command(report)), element("li", null, element("b", null, "B "), data.other_name + ": " + command(data.other))),
        element("p", {class: "note"}, "The rest of the page is of A."));
    figure(to, {id: "pairs", title: "Misses of A and B by class", says: "Two bars a level.",
        caption: "Each pair of bars has a scale of its own.",
        key: CLASSES.filter(name => name !== "coherence" || cores > 1).map(name => ["var(--" + name + ")", name])},
    drawPairs);
    if (!changes.length)
        to.append(element("p", null, "No counter differs."));
    if (data.differ.unlisted)
        to.append(element("p", {class: "note"}, plural(data.differ.unlisted, "function, object or loop",
            "functions, objects and loops") + " not compared: one of the reports does not list what the other does."));
    for (const [subject, title] of [["level", "Counters of the run"], ["function", "Functions"], ["object", "Objects"],
        ["loop", "Loops"]]) {
        const list = changes.filter(change => change.subject === subject);
        const columns = [{head: "level", text: true, of: c => c.level},
            {head: "counter", text: true, of: c => c.counter}, {head: "A", of: c => c.a}, {head: "B", of: c => c.b},
            {head: "change", of: changedBy,
                show: (value, c) => changedText(c)}, {head: "of A", of: c => c.a ? changedBy(c) / c.a : undefined,
                show: (value, c) => (changedBy(c) < 0 ? "-" : "+") + share(Math.abs(changedBy(c)), c.a)}];
        if (subject !== "level")
            columns.push({head: subject, text: true, name: true, of: c => c.name});
        if (list.length)
            to.append(element("h3", {style: "margin:1.2rem 0 .3rem"}, title), table(columns, list,
                {caption: title, limit: 15}));
    }
}
