/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * tables: objects, functions and lines, what cost most first.
 */

function costColumns() {
    const columns = [{head: "cost", of: ownCost, show: value => share(value, wholeCost)},
        {head: "cycles", of: ownCost}];
    for (const level of levels.filter(level => level.misses > 0))
        columns.push({head: level.name + " misses", of: thing => levelOf(thing, level.name).misses});
    if (report.tlb)
        columns.push({head: "TLB misses", of: thing => thing.tlb_misses});
    return columns;
}

function makeTables(to) {
    if (report.cost && report.cost.startup)
        to.append(element("p", {class: "note"}, "The start-up of libraries, " + share(report.cost.startup, wholeCost) +
            " of the cost, is left out of cost and cycles."));
    const kinds = [["objects", "Objects", objectText, [{head: "size", of: o => o.size, show: v => v ? size(v) : "-"}]],
        ["lines", "Lines", null, []], ["functions", "Functions", functionText,
            [{head: "instructions", of: f => f.executed}]]];
    for (const [key, title, text, more] of kinds) {
        const list = report[key];
        if (!list)
            continue;
        const name = {head: key.slice(0, -1), text: true, name: true, of: text || lineText,
            show: text ? null : (value, row) => placeLink(row, value)};
        to.append(element("h3", {id: key, style: "margin:1.4rem 0 .3rem"}, title),
            table([...costColumns(), ...more, name], list, {caption: title, limit: 12}));
    }
    if (!report.objects)
        to.append(nothing("Misses were not attributed to objects, functions and lines:", "leave out ",
            option("--no-attribution"), "."));
}
