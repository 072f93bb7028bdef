/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * time: how misses go over the run, window by window.
 */

function drawTime(svg, width, picture) {
    const windows = report.windows, n = windows.start.length, left = 46, right = 12, high = 64, gap = 22;
    const end = windows.start[n - 1] + windows.instructions[n - 1];
    const shown = windows.levels.filter(level => d3.sum(level.misses) > 0);
    const x = d3.scaleLinear([windows.start[0], end], [left, width - right]);
    const rate = (level, name, i) => windows.instructions[i] ? 1000 * level[name][i] / windows.instructions[i] : 0;
    let top = 16;
    for (const level of shown) {
        const used = CLASSES.filter(name => d3.sum(level[name]) > 0);
        const most = d3.max(d3.range(n), i => rate(level, "misses", i)) || 1;
        const y = d3.scaleLinear([0, most], [top + high, top]).nice(3), below = new Array(n + 1).fill(0);
        leftAxis(svg, y, left, rough, 3);
        svg.append("text").attr("x", left + 4).attr("y", top - 4).text(level.name);
        for (const name of used) {
            const area = d3.area().curve(d3.curveStepAfter).x((d, i) => x(i < n ? windows.start[i] : end))
                .y0((d, i) => y(below[i])).y1((d, i) => y(below[i] + d));
            const values = d3.range(n).map(i => rate(level, name, i));
            values.push(values[n - 1]);
            svg.append("path").attr("class", name).attr("d", area(values));
            values.forEach((value, i) => { below[i] += value; });
        }
        top += high + gap;
    }
    const bottom = top - gap;
    bottomAxis(svg, x, bottom, rough, width < 560 ? 4 : 8);
    svg.append("text").attr("class", "quiet").attr("x", width - right).attr("y", bottom + 34)
        .attr("text-anchor", "end").text("instructions measured");
    const marks = svg.append("g").selectAll("rect").data(d3.range(n)).join("rect").attr("x", i => x(windows.start[i]))
        .attr("width", i => Math.max(0.5, x(windows.start[i] + windows.instructions[i]) - x(windows.start[i])))
        .attr("y", 10).attr("height", bottom - 10).style("fill", "transparent");
    explore(picture, marks, i => ["from instruction " + count(windows.start[i]) + ", " +
        count(windows.instructions[i]) + " long"].concat(shown.map(level => level.name + ": " +
        plural(level.misses[i], "miss", "misses"))));
    return bottom + 42;
}

function makeTime(to) {
    if (!report.windows || !report.windows.start || !report.windows.start.length) {
        to.append(nothing("Counts were not collected by windows:", option("--windows auto"),
            " collects them, and ", option("--html"), " does."));
        return;
    }
    const used = CLASSES.filter(name => report.windows.levels.some(level => d3.sum(level[name]) > 0));
    figure(to, {id: "windows", title: "Misses in 1000 instructions, over the run",
        says: "An area for each level, by class.", key: used.map(name => ["var(--" + name + ")", name]),
        caption: "Windows of " + count(report.window.length) + " instructions" + (report.windows.start.length <
            report.window.count ? ", neighbours added up" : "") + (report.window.listed < report.window.count ?
            "; the first " + count(report.window.listed) + " of " + count(report.window.count) : "") +
            "; each level has a scale of its own."}, drawTime);
}
