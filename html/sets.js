/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sets: misses of each set of a level, slice by slice, and the objects that filled it.
 */

const FILL_COLOURS = 8;

/* The objects of a level by what they filled, most first, as numbers. */
function fillers(level) {
    const sums = new Map();
    for (const fills of level.fills) {
        for (let i = 0; i < fills.length; i += 2)
            sums.set(fills[i], (sums.get(fills[i]) || 0) + fills[i + 1]);
    }
    return [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a) || a - b);
}

const fillName = number => report.sets.objects[number] ? objectText(report.sets.objects[number]) : "another object";
const fillKey = level => fillers(level).slice(0, FILL_COLOURS).map((number, i) => [series(i), fillName(number)])
    .concat(fillers(level).length > FILL_COLOURS ? [["var(--other)", "others"]] : []);

/* What is said of an entry. */
function describeSet(level, i) {
    const entries = level.misses.length / level.slices, first = i % entries * level.group;
    const name = level.group > 1 ? "sets " + first + " to " + Math.min(level.sets, first + level.group) - 1 :
        "set " + first;
    const lines = [level.name + " " + name + (level.slices > 1 ? ", slice " + Math.floor(i / entries) : ""),
        plural(level.misses[i], "miss", "misses") + ", " + count(level.conflict[i]) + " of them conflicts"];
    for (let k = 0; k < level.fills[i].length; k += 2)
        lines.push(fillName(level.fills[i][k]) + ": " + count(level.fills[i][k + 1]));
    return lines;
}

/* Where each entry lies: rows of `columns` entries, a slice below the other. */
function setGrid(level, width) {
    const entries = level.misses.length / level.slices, left = level.slices > 1 ? 58 : 46;
    const columns = Math.min(entries, width < 560 ? 64 : 128), rows = Math.ceil(entries / columns);
    const high = Math.max(2, Math.min(24, Math.round(440 / (rows * level.slices)))), gap = level.slices > 1 ? 5 : 0;
    const wide = (width - left) / columns, band = rows * high + gap;
    return {entries, columns, rows, left, high, wide, band, top: 18, bottom: 18 + band * level.slices,
        x: i => left + i % entries % columns * wide,
        y: i => 18 + Math.floor(i / entries) * band + Math.floor(i % entries / columns) * high,
        at: (x, y) => {
            const slice = Math.floor((y - 18) / band), row = Math.floor((y - 18 - slice * band) / high);
            const column = Math.floor((x - left) / wide), entry = row * columns + column;
            return slice >= 0 && slice < level.slices && row >= 0 && row < rows && column >= 0 && column < columns &&
                entry < entries ? slice * entries + entry : -1;
        }};
}

/* A pixel an entry, as an image that is scaled up: sixteen thousand rectangles are too many for a browser. */
function setImage(level, grid, slice, paint) {
    const canvas = element("canvas", {width: grid.columns, height: grid.rows}), context = canvas.getContext("2d");
    const image = context.createImageData(grid.columns, grid.rows);
    for (let i = 0; i < grid.entries; i++) {
        const {r, g, b} = d3.rgb(paint(slice * grid.entries + i));
        image.data.set([r, g, b, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL();
}

/* The entry that the pointer or the keyboard is at, as explore() has it for marks. */
function exploreGrid(svg, picture, level, grid) {
    const cursor = svg.append("rect").attr("class", "frame on").attr("width", Math.max(3, grid.wide))
        .attr("height", grid.high).style("visibility", "hidden");
    let at = -1;
    const show = (i, x, y) => {
        at = i;
        cursor.attr("x", grid.x(i)).attr("y", grid.y(i)).style("visibility", "visible");
        showTip(describeSet(level, i), x, y);
    };
    const hide = () => {
        cursor.style("visibility", "hidden");
        hideTip();
    };
    svg.on("mousemove", function () {
        const [x, y] = d3.mouse(this), i = grid.at(x, y);
        if (i >= 0)
            show(i, d3.event.clientX, d3.event.clientY);
        else
            hide();
    }).on("mouseleave", hide);
    picture.onkeydown = event => {
        const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid.columns, ArrowUp: -grid.columns, Home: -1e9,
            End: 1e9}[event.key];
        if (step === undefined && event.key !== "Escape")
            return;
        event.preventDefault();
        if (step === undefined) {
            hide();
            return;
        }
        const to = at < 0 ? 0 : Math.max(0, Math.min(level.misses.length - 1, at + step));
        const box = picture.getBoundingClientRect();
        show(to, box.x + grid.x(to), box.y + grid.y(to));
        live.textContent = describeSet(level, to).join(", ");
    };
    picture.onblur = hide;
}

function drawSets(level, kind, svg, width, picture) {
    const grid = setGrid(level, width), top = new Map(fillers(level).slice(0, FILL_COLOURS).map((n, i) => [n, i]));
    const values = kind === "conflict" ? level.conflict : level.misses, heat = heatScale(d3.max(values));
    const objects = d3.range(FILL_COLOURS).map(i => colour("series" + i)), none = colour("heat0");
    const paint = kind !== "object" ? i => heat(values[i]) : i => level.fills[i].length === 0 ? none
        : top.has(level.fills[i][0]) ? objects[top.get(level.fills[i][0])] : colour("other");
    for (let slice = 0; slice < level.slices; slice++) {
        const y = grid.top + slice * grid.band;
        svg.append("image").attr("x", grid.left).attr("y", y).attr("width", grid.wide * grid.columns)
            .attr("height", grid.rows * grid.high).attr("preserveAspectRatio", "none")
            .style("image-rendering", "pixelated").attr("href", setImage(level, grid, slice, paint));
        if (level.slices > 1 && (grid.band > 13 || slice % Math.ceil(14 / grid.band) === 0))
            svg.append("text").attr("class", "quiet").attr("x", grid.left - 8).attr("text-anchor", "end")
                .attr("y", y + Math.min(grid.rows * grid.high, 24) / 2 + 4).text("slice " + slice);
    }
    const marks = d3.range(0, grid.columns + 1, grid.columns / (width < 560 ? 4 : 8));
    svg.append("g").selectAll("text").data(marks).join("text").attr("class", "quiet").attr("y", 12)
        .attr("x", d => grid.left + d * grid.wide).attr("text-anchor", d => d === 0 ? "start" : d === grid.columns
            ? "end" : "middle").text(d => d === 0 ? "set 0" : d * level.group);
    if (level.slices === 1 && grid.rows > 1)
        svg.append("g").selectAll("text").data(d3.range(grid.rows).filter(row => row % Math.ceil(14 / grid.high) === 0))
            .join("text").attr("class", "quiet").attr("x", grid.left - 8).attr("text-anchor", "end")
            .attr("y", row => grid.top + row * grid.high + Math.min(grid.high, 24) / 2 + 4)
            .text(row => "+" + row * grid.columns * level.group);
    exploreGrid(svg, picture, level, grid);
    return grid.bottom + 2;
}

/* Of few sets a bar each, of the objects that filled it. */
function drawFills(level, svg, width, picture) {
    const n = level.misses.length, left = 46, high = 130, top = 8, bottom = top + high;
    const ranks = new Map(fillers(level).slice(0, FILL_COLOURS).map((number, i) => [number, i]));
    const x = d3.scaleLinear([0, n], [left, width - 4]), y = d3.scaleLinear([0, d3.max(level.misses) || 1],
        [bottom, top]).nice(4);
    const cells = level.fills.flatMap((fills, set) => {
        const list = [];
        let sum = 0;
        for (let k = 0; k < fills.length; k += 2) {
            list.push({set, number: fills[k], from: sum, to: sum += fills[k + 1]});
        }
        if (level.misses[set] > sum)
            list.push({set, number: -1, from: sum, to: level.misses[set]});
        return list;
    });
    leftAxis(svg, y, left, rough, 4);
    const marks = svg.selectAll("rect").data(cells).join("rect").attr("x", d => x(d.set) + 0.5)
        .attr("width", Math.max(0.5, x(1) - x(0) - 1)).attr("y", d => y(d.to)).attr("height", d => y(d.from) - y(d.to))
        .style("fill", d => ranks.has(d.number) ? series(ranks.get(d.number)) : "var(--other)");
    bottomAxis(svg, x, bottom, d => d, width < 560 ? 4 : 8);
    svg.append("text").attr("class", "quiet").attr("x", width - 4).attr("y", bottom + 34).attr("text-anchor", "end")
        .text("set");
    explore(picture, marks, d => describeSet(level, d.set).concat(d.number < 0 ? ["here: other objects"] :
        ["here: " + fillName(d.number)]));
    return bottom + 40;
}

function makeSets(to) {
    if (!report.sets) {
        to.append(nothing("Misses were not collected by set:", option("--sets"), " collects them, and ",
            option("--html"), " does where misses are attributed."));
        return;
    }
    const list = report.sets.levels.filter(level => d3.sum(level.misses) > 0);
    if (!list.length) {
        to.append(element("p", null, "No level has misses."));
        return;
    }
    let level = list.slice().sort((a, b) => d3.sum(b.conflict) - d3.sum(a.conflict))[0], kind = "misses";
    const small = () => level.misses.length <= 128, bars = element("div"), draws = [];
    const again = () => {
        bars.hidden = !small();
        draws.forEach(draw => draw());
    };
    bars.hidden = !small();
    draws.push(figure(to, {id: "heat", title: "Misses of each set",
        says: "A heat map of sets and slices.",
        key: () => kind === "object" ? fillKey(level) : heatKey(d3.max(level[kind]),
            kind === "conflict" ? "conflict misses" : "misses"),
        caption: "Rows of sets, one behind the other; with objects, which has filled each set most." + (cores > 1 ?
            " Of levels that cores have for themselves a set is that of all of them." : ""),
        controls: [choice("level", list.map(l => [l.name, l.name]), level.name, name => {
            level = list.find(l => l.name === name);
            again();
        }), choice("show", [["misses", "misses"], ["conflict", "conflict misses"], ["object", "objects"]], kind,
            value => { kind = value; again(); })]},
    (svg, width, picture) => drawSets(level, kind, svg, width, picture)));
    to.append(bars);
    draws.push(figure(bars, {id: "fills", title: "What filled each set", says: "A bar for each set, by object.",
        key: () => fillKey(level), caption: "Misses of each set by the object that was brought in: up to three, and " +
            "the rest together."}, (svg, width, picture) => small() ? drawFills(level, svg, width, picture) : 1));
}
