/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * source: the lines of the sources with what they cost, and of each conflict the other side: who evicted what this line
 * misses, and what the lines that it takes had been.
 */

/* What is known of each line of a file, by number. */
function collectLines(file) {
    const lines = new Map();
    const at = number => {
        if (!lines.has(number))
            lines.set(number, {things: [], lost: [], taken: []});
        return lines.get(number);
    };
    for (const line of report.lines || []) {
        if (line.file === file && line.line)
            at(line.line).things.push(line);
    }
    for (const conflict of report.conflicts || []) {
        for (const other of conflict.originators || []) {
            if (conflict.miss && conflict.miss.file === file && conflict.miss.line)
                at(conflict.miss.line).lost.push({conflict, other});
            if (other.file === file && other.line && conflict.miss)
                at(other.line).taken.push({conflict, other});
        }
    }
    return lines;
}

/* "2,333 L1D misses of b: evicted for a by main (matmul.c:30), inter-array", most first. */
function sideList(title, pairs, lost) {
    const list = [...pairs].filter(({other}) => !other.rest)
        .sort((a, b) => d3.descending(a.other.count, b.other.count));
    return list.length === 0 ? null : element("div", {class: "sides"}, element("b", null, title), element("ul", null,
        list.slice(0, 12).map(({conflict, other}) => element("li", null, plural(other.count, "miss", "misses") +
            " in " + conflict.level + (lost ? " of " + (conflict.miss.object || "?") + ": evicted for " +
            (other.object || "?") +
            " by " : ": " + (conflict.miss.object || "?") + ", missed again by "),
        lost ? placeLink(other) : placeLink(conflict.miss), other.reason ? ", " + other.reason : "")),
        list.length > 12 ? element("li", null, plural(list.length - 12, "other")) : null));
}

function sidesRow(line, columns) {
    return element("tr", null, element("td", {class: "sides text", colspan: columns},
        sideList("Evicted before it was used again here", line.lost, true),
        sideList("What accesses here have evicted", line.taken, false)));
}

function sourceTable(source, index, event) {
    const lines = collectLines(source.file), body = element("tbody"), most = d3.max([...lines.values()],
        line => d3.sum(line.things, event.of)) || 1;
    let before = 0;
    for (const [number, text] of source.lines) {
        const line = lines.get(number), value = line ? d3.sum(line.things, event.of) : 0;
        if (before && number !== before + 1)
            body.append(element("tr", {class: "gap"}, element("td", {colspan: 4}, "\u22ee")));
        before = number;
        const part = (100 * value / most).toFixed(1) + "%";
        const conflicts = line ? d3.sum(line.lost, pair => pair.other.count) : 0;
        const evicts = line ? d3.sum(line.taken, pair => pair.other.count) : 0;
        const row = element("tr", {id: "line-" + index + "-" + number, tabindex: "-1"});
        let sides = null;
        const button = conflicts + evicts === 0 ? null : element("button", {class: "more", type: "button",
            "aria-expanded": "false", click: () => {
                button.setAttribute("aria-expanded", sides ? "false" : "true");
                if (sides)
                    sides.remove();
                else
                    row.after(sidesRow(line, 4));
                sides = sides ? null : row.nextSibling;
            }, title: "the other side of the conflicts of this line"}, conflicts ? count(conflicts) : "evicts");
        row.append(element("td", {class: "heat", style: value ? "background:linear-gradient(to left,var(--heat1) " +
            part + ",transparent " + part + ")" : null}, value ? count(value) : ""), element("td", null, button),
        element("td", {class: "quiet"}, String(number)), element("td", {class: "text"}, text));
        body.append(row);
    }
    return element("div", {class: "wide"}, element("table", null, element("caption", {class: "unseen"}, source.file),
        element("thead", null, element("tr", null, element("th", {scope: "col"}, event.text),
            element("th", {scope: "col"}, "conflicts"), element("th", {scope: "col"}, "line"),
            element("th", {class: "text", scope: "col"}, base(source.file)))), body));
}

function makeSource(to) {
    const named = (report.lines || []).filter(line => line.file);
    if (!sources.length) {
        to.append(named.length ? nothing("None of the source files was found:", "say where they are with ",
            option("c2emu html REPORT.json -I DIR"), ".") : nothing("Nothing has line information:",
            "compile the program with ", option("-g"), "."));
        return;
    }
    let event = events[0];
    const place = element("div"), fill = () => place.replaceChildren(...sources.map((source, i) =>
        element("div", {class: "source"}, element("h3", null, source.file), sourceTable(source, i, event))));
    to.append(element("div", {class: "bar"}, element("p", {class: "note", style: "margin-right:auto"},
        "Lines that cost something and those around them. The second column has the conflict misses of a line; it ",
        "opens to who evicted what it misses, and what it evicts itself."), choice("count", eventChoices(), event.key,
        key => { event = eventOf(key); fill(); })), place);
    fill();
}
