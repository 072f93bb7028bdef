/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pages: where the pages of the program lie in physical memory - colour, slice, size - and what they missed.
 */

const PAGE_ROWS = 120;

/* {i, start, frame, size, slice} of each page that is listed, numbers in pages of 4 KiB. */
function pageList() {
    const pages = report.sets.pages;
    return pages.start.map((start, i) => ({i, start, frame: pages.frame[i], size: pages.size[i],
        slice: pages.slice ? pages.slice[i] : 0}));
}

const hex = page => "0x" + (page * 4096).toString(16);
const pageLevel = name => report.sets.pages.levels.find(level => level.name === name);
const colourOf = (page, level) => page.frame % level.colours;

function describePage(page, level) {
    const lines = [hex(page.start) + ", " + size(4096 * page.size), "frame " + hex(page.frame)];
    for (const of of report.sets.pages.levels.filter(of => of.colours > 1 && page.size < of.colours))
        lines.push(of.name + " colour " + colourOf(page, of) + " of " + of.colours);
    if (report.sets.pages.slice)
        lines.push("slice " + page.slice + " (its first line)");
    lines.push(level.name + ": " + plural(level.misses[page.i], "miss", "misses") + ", " +
        count(level.conflict[page.i]) + " of them conflicts");
    return lines;
}

/* How a page is painted, and what the keys say. */
function pagePaint(kind, level) {
    const ramp = n => i => d3.interpolateViridis(n < 2 ? 0.5 : i / (n - 1));
    if (kind === "colour") {
        const paint = ramp(level.colours);
        return {of: page => page.size >= level.colours ? "var(--other)" : paint(colourOf(page, level)),
            key: d3.range(Math.min(8, level.colours)).map(i => Math.round(i * (level.colours - 1) /
                (Math.min(8, level.colours) - 1 || 1))).map(i => [paint(i), "colour " + i])
                .concat(pageList().some(page => page.size >= level.colours) ? [["var(--other)", "all colours"]] : [])};
    }
    if (kind === "slice") {
        const slices = d3.max(report.sets.pages.slice) + 1, paint = ramp(slices);
        return {of: page => paint(page.slice), key: d3.range(slices).map(i => [paint(i), "slice " + i])};
    }
    if (kind === "size")
        return {of: page => series(page.size === 1 ? 0 : page.size === 512 ? 1 : 2),
            key: [[series(0), "4 KiB"], [series(1), "2 MiB"], [series(2), "1 GiB"]].filter((one, i) =>
                pageList().some(page => page.size === [1, 512, 262144][i]))};
    const values = level[kind], heat = heatScale(d3.max(values));
    return {of: page => heat(values[page.i]),
        key: heatKey(d3.max(values), kind === "conflict" ? "conflict misses" : kind)};
}

/* Rows of so many pages that lie side by side in the program's memory; where none missed there is no row. */
function pageRows(columns) {
    const rows = new Map();
    for (const page of pageList()) {
        const row = Math.floor(page.start / columns);
        rows.set(row, (rows.get(row) || []).concat(page));
    }
    return [...rows.entries()].sort((a, b) => a[0] - b[0]);
}

function drawPages(state, svg, width, picture) {
    const columns = width < 560 ? 32 : 64, left = 112, cell = (width - left) / columns, high = Math.min(13, cell);
    const level = pageLevel(state.level), paint = pagePaint(state.kind, level), rows = pageRows(columns);
    const cells = [], labels = [];
    let y = 2, before = null;
    for (const [row, pages] of rows.slice(0, PAGE_ROWS)) {
        if (before !== null && row !== before + 1)
            y += 5;
        labels.push({row, y});
        const seen = new Map();
        for (const page of pages) {
            const place = page.start % columns, times = seen.get(place) || 0;
            seen.set(place, times + 1);
            cells.push({page, x: left + place * cell, y, width: Math.min(page.size, columns - place) * cell - 1});
        }
        y += high + 1;
        before = row;
    }
    svg.append("g").selectAll("rect").data(labels).join("rect").attr("x", left).attr("y", d => d.y)
        .attr("width", width - left - 1).attr("height", high).style("fill", "var(--raised)");
    let free = -20;
    svg.append("g").selectAll("text").data(labels.filter(label => {
        const fits = label.y - free >= 13;
        free = fits ? label.y : free;
        return fits;
    })).join("text").attr("class", "quiet").attr("x", left - 8).attr("y", d => d.y + high / 2 + 4)
        .attr("text-anchor", "end").attr("font-size", 11).text(d => hex(d.row * columns));
    const marks = svg.append("g").selectAll("rect").data(cells).join("rect").attr("x", d => d.x).attr("y", d => d.y)
        .attr("width", d => d.width).attr("height", high).style("fill", d => paint.of(d.page));
    explore(picture, marks, d => describePage(d.page, level));
    if (rows.length > PAGE_ROWS) {
        svg.append("text").attr("class", "quiet").attr("x", left).attr("y", y + 14)
            .text("and " + plural(rows.length - PAGE_ROWS, "row") + " of higher addresses");
        y += 20;
    }
    return y + 2;
}

/* How many pages each colour has, and what they missed. */
function drawColours(state, svg, width, picture) {
    const level = pageLevel(state.level), left = 46, high = 90, gap = 30;
    const pages = pageList().filter(page => page.size < level.colours);
    const x = d3.scaleLinear([0, level.colours], [left, width - 4]);
    const sums = d3.range(level.colours).map(number => ({number, pages: 0, misses: 0, conflict: 0}));
    for (const page of pages) {
        const sum = sums[colourOf(page, level)];
        sum.pages++;
        sum.misses += level.misses[page.i];
        sum.conflict += level.conflict[page.i];
    }
    let top = 18;
    const all = [];
    for (const [key, text, paint] of [["pages", "pages", "var(--series0)"], ["misses", "misses", "var(--other)"],
        ["conflict", "conflict misses", "var(--conflict)"]]) {
        const y = d3.scaleLinear([0, d3.max(sums, sum => sum[key]) || 1], [top + high, top]).nice(3);
        leftAxis(svg, y, left, d => Number.isInteger(d) ? rough(d) : "", 3);
        svg.append("text").attr("x", left + 2).attr("y", top - 5).text(text);
        all.push(...sums.map(sum => ({sum, y: y(sum[key]), high: top + high - y(sum[key]), paint})));
        top += high + gap;
    }
    const marks = svg.append("g").selectAll("rect").data(all).join("rect").attr("x", d => x(d.sum.number) + 0.5)
        .attr("width", Math.max(0.5, x(1) - x(0) - 1)).attr("y", d => d.y).attr("height", d => d.high)
        .style("fill", d => d.paint);
    bottomAxis(svg, x, top - gap, d => Number.isInteger(d) ? d : "", Math.min(level.colours, width < 560 ? 4 : 16));
    svg.append("text").attr("class", "quiet").attr("x", width - 4).attr("y", top + 4).attr("text-anchor", "end")
        .text("colour");
    explore(picture, marks, d => [level.name + " colour " + d.sum.number, plural(d.sum.pages, "page"),
        plural(d.sum.misses, "miss", "misses") + ", " + count(d.sum.conflict) + " of them conflicts"]);
    return top + 10;
}

function makePages(to) {
    if (!report.sets) {
        to.append(nothing("Misses were not collected by page:", option("--sets"), " collects them."));
        return;
    }
    const pages = report.sets.pages, coloured = pages.levels.filter(level => level.colours > 1);
    if (!pages.listed) {
        to.append(element("p", null, "No page has missed."));
        return;
    }
    const state = {kind: coloured.length ? "colour" : "misses", level: (coloured[0] || pages.levels[0]).name};
    const colours = element("div"), draws = [];
    const settle = () => {
        if (state.kind === "colour" && !(pageLevel(state.level).colours > 1))
            state.kind = "misses";
        colours.hidden = !(pageLevel(state.level).colours > 1);
    };
    const again = () => {
        settle();
        draws.forEach(draw => draw());
    };
    settle();
    const kinds = [["colour", "colour"], ["misses", "misses"], ["conflict", "conflict misses"], ["size", "size"]]
        .filter(([key]) => key !== "colour" || coloured.length).concat(pages.slice ? [["slice", "slice"]] : []);
    draws.push(figure(to, {id: "map-of-pages", title: "Pages of the program",
        says: "A map of pages by virtual address.", key: () => pagePaint(state.kind, pageLevel(state.level)).key,
        caption: plural(pages.listed, "page") + " that missed, by virtual address" + (pages.more ? "; " +
            count(pages.more) + " with fewer misses are not listed" : "") + ". A page's colour is its frame's number " +
            "modulo the pages that the sets of a slice span; pages of one colour compete for the same sets.",
        controls: [choice("level", pages.levels.map(l => [l.name, l.name]), state.level,
            value => { state.level = value; again(); }), choice("show", kinds, state.kind,
            value => { state.kind = value; again(); })]},
    (svg, width, picture) => drawPages(state, svg, width, picture)));
    to.append(colours);
    draws.push(figure(colours, {id: "colours", title: "Pages and misses by colour", says: "Bars for each colour.",
        caption: "Of the level above; huge pages that have all colours are left out."}, (svg, width, picture) =>
        pageLevel(state.level).colours > 1 ? drawColours(state, svg, width, picture) : 1));
}
