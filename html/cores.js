/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cores: lines that cores take from each other, byte by byte.
 */

const SHARED_LINES = 6;

/* "0-7, 16-23" as a list of bytes. */
function bytesOf(text) {
    return (text || "").split(",").map(part => part.trim()).filter(Boolean).flatMap(part => {
        const [from, to] = part.split("-").map(Number);
        return d3.range(from, (to === undefined ? from : to) + 1);
    });
}

function sharedCells(line) {
    return line.cores.filter(core => !core.rest).flatMap((core, row) => {
        const written = new Set(bytesOf(core.written)), read = new Set(bytesOf(core.read));
        return d3.range(report.machine.line).filter(byte => written.has(byte) || read.has(byte))
            .map(byte => ({core, row, byte, written: written.has(byte)}));
    });
}

const lineName = line => (line.object ? line.object + (line.offset ? " + " + line.offset : "") : "line") + " at " +
    line.address;

function drawShared(lines, svg, width, picture) {
    const left = 62, wide = Math.min(12, (width - left - 4) / report.machine.line), row = 15;
    let top = 0;
    const all = [];
    for (const line of lines) {
        const rows = line.cores.filter(core => !core.rest);
        svg.append("text").attr("x", 0).attr("y", top + 14).text(fit(lineName(line) + ": " + plural(line.false_sharing,
            "miss", "misses") + " of false, " + count(line.true_sharing) + " of true sharing" + (line.padding ? "; " +
            line.padding + " bytes of padding" : ""), width));
        top += 22;
        svg.append("g").selectAll("text").data(rows).join("text").attr("class", "quiet").attr("x", left - 8)
            .attr("text-anchor", "end").attr("y", (d, i) => top + i * row + 11).text(d => "core " + d.core);
        svg.append("g").selectAll("rect").data(rows).join("rect").attr("x", left).attr("y", (d, i) => top + i * row)
            .attr("width", wide * report.machine.line).attr("height", row - 2).style("fill", "var(--raised)");
        all.push(...sharedCells(line).map(cell => Object.assign({line, y: top + cell.row * row}, cell)));
        top += rows.length * row;
        const scale = d3.scaleLinear([0, report.machine.line], [left, left + wide * report.machine.line]);
        svg.append("g").attr("class", "axis").attr("transform", "translate(0," + top + ")").call(d3.axisBottom(scale)
            .tickValues(d3.range(0, report.machine.line + 1, 8)).tickSizeOuter(0)).attr("font-size", null)
            .attr("font-family", null);
        top += 40;
    }
    const marks = svg.append("g").selectAll("rect").data(all).join("rect").attr("x", d => left + d.byte * wide + 0.5)
        .attr("y", d => d.y).attr("width", wide - 1).attr("height", row - 2)
        .style("fill", d => series(d.core.core)).attr("fill-opacity", d => d.written ? 1 : 0.35);
    explore(picture, marks, d => [lineName(d.line) + ", byte " + d.byte, "core " + d.core.core +
        (d.written ? " writes it" : " reads it"), plural(d.core.losses, "loss", "losses") + " of the line, " +
        plural(d.core.false_sharing, "miss", "misses") + " of false sharing"]);
    return top - 12;
}

function makeCores(to) {
    const coherence = report.coherence;
    if (!coherence) {
        to.append(cores > 1 ? nothing("What cores share was not collected:", "leave out ",
            option("--no-coherence-report"), ".") : nothing("The machine has one core:", option("--cores 4"),
            " gives it four, and threads of the program run on all of them."));
        return;
    }
    const lines = coherence.lines.filter(line => !line.rest), taken = lines.filter(line => line.cores.length);
    if (taken.length)
        figure(to, {id: "shared", title: "Lines that cores take from each other",
            says: "A row for each core, a column for each byte of the line.",
            caption: "The bytes of a line that each core writes, strong, and reads, pale; those with most false " +
                "sharing first. What cores write apart in one line is false sharing.",
            key: [...new Set(taken.slice(0, SHARED_LINES).flatMap(line => line.cores.map(core => core.core)))]
                .filter(core => core !== undefined).sort(d3.ascending).map(core => [series(core), "core " + core])},
        (svg, width, picture) => drawShared(taken.slice(0, SHARED_LINES), svg, width, picture));
    else
        to.append(element("p", null, "No line went from one core to another."));
    to.append(table([{head: "core", text: true, of: c => String(c.core)},
        {head: "instructions", of: c => c.instructions},
        {head: "coherence misses", of: c => c.coherence_misses}, {head: "false sharing", of: c => c.false_sharing},
        {head: "true sharing", of: c => c.true_sharing}, {head: "upgrades", of: c => c.upgrades},
        {head: "lines taken by others", of: c => c.invalidations_received}],
    coherence.cores.filter(core => !core.rest), {caption: "cores"}));
    const pairs = coherence.pairs.filter(pair => !pair.rest);
    if (pairs.length)
        to.append(element("h3", {style: "margin:1.2rem 0 .3rem"}, "Who missed, and whose write had taken the line"),
            table([{head: "false sharing", of: p => p.false_sharing}, {head: "true sharing", of: p => p.true_sharing},
                {head: "missed", text: true, of: p => placeText(p.misser), show: (v, p) => placeLink(p.misser, v)},
                {head: "taken by", text: true, name: true, of: p => placeText(p.taker),
                    show: (v, p) => placeLink(p.taker, v)}], pairs, {caption: "pairs", limit: 8}));
}
