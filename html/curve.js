/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * curve: what a fully associative cache of each size would miss.
 */

/* {name, points: [{bytes, misses, accesses}], level}, of what reuse distances were collected for. A list of distances
 * has at [k] the accesses that 2^k lines have, and fewer have not. */
function curveOf(name, of, line) {
    let missed = of.accesses;
    const points = of.distances.map((hits, k) => ({bytes: line * 2 ** k, misses: missed -= hits}));
    return {name, points: points.map(point => Object.assign(point, {rate: point.misses / of.accesses})),
        accesses: of.accesses, level: of.level};
}

function curves(kind) {
    const reuse = report.reuse;
    if (kind === "levels")
        return reuse.stacks.filter(stack => stack.accesses).map(stack => curveOf(stack.name, stack, reuse.line));
    const name = kind === "objects" ? objectText : lineText;
    return (reuse[kind] || []).filter(one => !one.rest && one.accesses).slice(0, 8)
        .map(one => curveOf(name(one), one, reuse.line));
}

function drawCurve(kind, svg, width, picture) {
    const list = curves(kind), left = 46, top = 22, high = 250, bottom = top + high;
    const marked = report.machine.levels.filter(level => level.name !== "L1I");
    const most = d3.max([d3.max(list, c => d3.max(c.points, p => p.bytes)), d3.max(marked, level => level.size)]);
    const x = d3.scaleLog([report.reuse.line, most], [left, width - 12]).base(2);
    const y = d3.scaleLinear([0, 1], [bottom, top]);
    const ticks = d3.range(Math.log2(report.reuse.line), Math.log2(most) + 0.01).filter((k, i, all) =>
        (k - 10) % (all.length > 14 || width < 560 ? 5 : 2) === 0).map(k => 2 ** k);
    svg.append("g").selectAll("path").data(y.ticks(5)).join("path").attr("class", "grid")
        .attr("d", d => "M" + left + "," + y(d) + "H" + (width - 12));
    leftAxis(svg, y, left, d => Math.round(100 * d) + " %");
    svg.append("g").attr("class", "axis").attr("transform", "translate(0," + bottom + ")")
        .call(d3.axisBottom(x).tickValues(ticks).tickFormat(size).tickSizeOuter(0)).attr("font-size", null)
        .attr("font-family", null);
    svg.append("text").attr("class", "quiet").attr("x", width - 12).attr("y", bottom + 34).attr("text-anchor", "end")
        .text("size of the cache");
    svg.append("text").attr("class", "quiet").attr("x", 0).attr("y", 11).text("miss rate");
    const group = svg.append("g").selectAll("g").data(marked).join("g");
    group.append("path").attr("class", "frame").attr("stroke-dasharray", "3 3")
        .attr("d", d => "M" + x(d.size) + "," + top + "V" + bottom);
    group.append("text").attr("class", "quiet").attr("x", d => x(d.size)).attr("y", top - 6)
        .attr("text-anchor", "middle").text(d => d.name);
    const step = d3.line().x(d => x(d.bytes)).y(d => y(d.rate)).curve(d3.curveStepAfter);
    svg.append("g").selectAll("path").data(list).join("path").attr("class", "line")
        .style("stroke", (d, i) => series(i)).attr("d", d => step(d.points.concat(Object.assign({},
            d.points[d.points.length - 1], {bytes: most}))));
    const points = list.flatMap((curve, i) => curve.points.map(point => Object.assign({curve, i}, point)));
    const marks = svg.append("g").selectAll("circle").data(points).join("circle").attr("cx", d => x(d.bytes))
        .attr("cy", d => y(d.rate)).attr("r", 3.2).style("fill", d => series(d.i));
    explore(picture, marks, d => [d.curve.name, size(d.bytes) + ": " + share(d.misses, d.curve.accesses) + " missed",
        count(d.misses) + " of " + count(d.curve.accesses) + " accesses"]);
    return bottom + 42;
}

function makeCurve(to) {
    if (!report.reuse) {
        to.append(nothing("The misses of caches of other sizes were not collected:", option("--reuse"),
            " collects them."));
        return;
    }
    let kind = "levels";
    const again = figure(to, {id: "curve", title: "Miss rate by size of the cache",
        says: "Lines of miss rates that fall with the size.",
        caption: "Of a fully associative cache with LRU, exact at powers of two. Dashed: the levels of the machine; " +
            "L2 and L3 are curves of what the level above misses.",
        key: () => curves(kind).map((curve, i) => [series(i), curve.name]),
        controls: [choice("of", [["levels", "what levels are asked"], ["objects", "objects"], ["lines", "lines"]]
            .filter(([key]) => key === "levels" || curves(key).length), kind, value => { kind = value; again(); })]},
    (svg, width, picture) => drawCurve(kind, svg, width, picture));
}
