/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * levels: what each level was asked for and missed, by class.
 */

const classesOf = level => CLASSES.filter(name => level[name] !== undefined && (name !== "coherence" || cores > 1));

function describeClass(d) {
    return [d.level.name + " " + d.name, count(d.count) + " misses, " + share(d.count, d.level.misses) +
        " of the level's"];
}

/* A bar a level, of all its misses; how many there are stands beside it. */
function drawLevels(svg, width, picture) {
    const asked = levels.filter(level => level.accesses > 0);
    const left = 44, right = width < 560 ? 96 : 190, row = 30, x = d3.scaleLinear([0, 1], [left, width - right]);
    const cells = [];
    for (const [i, level] of asked.entries()) {
        let sum = 0;
        for (const name of classesOf(level)) {
            if (level[name] > 0)
                cells.push({level, name, i, count: level[name], from: sum / level.misses,
                    to: (sum + level[name]) / level.misses});
            sum += level[name];
        }
    }
    svg.selectAll("text.level").data(asked).join("text").attr("class", "level").attr("x", left - 8)
        .attr("y", (d, i) => i * row + 18).attr("text-anchor", "end").text(d => d.name);
    svg.selectAll("rect.back").data(asked).join("rect").attr("x", left).attr("y", (d, i) => i * row + 4)
        .attr("width", width - right - left).attr("height", row - 10).style("fill", "var(--raised)");
    const marks = svg.selectAll("rect.cell").data(cells).join("rect").attr("class", d => d.name)
        .attr("x", d => x(d.from)).attr("width", d => Math.max(0.5, x(d.to) - x(d.from) - 1))
        .attr("y", d => d.i * row + 4).attr("height", row - 10);
    svg.selectAll("text.count").data(asked).join("text").attr("class", "count").attr("x", width - right + 10)
        .attr("y", (d, i) => i * row + 18)
        .text(d => width < 560 ? share(d.misses, d.accesses) : count(d.misses) + " (" +
            share(d.misses, d.accesses) + ")");
    explore(picture, marks, describeClass);
    bottomAxis(svg, x, asked.length * row + 2, d3.format(".0%"), width < 560 ? 2 : 5);
    return asked.length * row + 26;
}

function makeLevels(to) {
    figure(to, {id: "classes", title: "Misses of each level by class",
        says: levels.map(level => level.name + ": " + plural(level.misses, "miss", "misses")).join("; ") + ".",
        caption: "Shares of the level's misses; beside each bar how many these are, and the miss rate.",
        key: [...new Set(levels.flatMap(classesOf))].map(name => ["var(--" + name + ")", name])}, drawLevels);
    const columns = [{head: "level", text: true, of: level => level.name}, {head: "accesses", of: l => l.accesses},
        {head: "misses", of: l => l.misses}, {head: "miss rate",
            of: l => l.accesses ? l.misses / l.accesses : undefined, show: (v, l) => share(l.misses, l.accesses)}];
    for (const name of CLASSES.filter(name => levels.some(level => classesOf(level).includes(name))))
        columns.push({head: name, of: level => level[name]});
    columns.push({head: "FA misses", of: l => l.fa_misses}, {head: "write-backs", of: l => l.writebacks});
    to.append(table(columns, levels, {sortable: false, caption: "levels"}));
    const tlbs = (report.tlb || []).filter(tlb => tlb.accesses > 0);
    if (!tlbs.length)
        return;
    const cover = tlb => Object.values(tlb.coverage || {});
    to.append(element("h3", {style: "margin-top:1.2rem"}, "Translations"),
        table([{head: "TLB", text: true, of: t => t.name}, {head: "entries", of: t => t.entries},
            {head: "covers", of: t => d3.max(cover(t)), show: v => size(v)}, {head: "accesses", of: t => t.accesses},
            {head: "misses", of: t => t.misses}, {head: "miss rate", of: t => t.misses / t.accesses,
                show: (v, t) => share(t.misses, t.accesses)}], tlbs, {sortable: false, caption: "TLBs"}));
    if (report.walks)
        to.append(element("p", {class: "note"}, plural(report.walks.count, "page walk") + ", " +
            plural(report.walks.reads, "read") + " of page-table entries."));
}
