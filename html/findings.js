/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * findings: what is wrong with the run, in the sentences of the report, and how the evidence is reached.
 */

/* A bar as wide as the whole cost: what the finding costs, and what of it the remedy would spare. */
function shareBar(finding) {
    const wide = 208, scale = d3.scaleLinear([0, wholeCost || 1], [0, wide]);
    const svg = d3.create("svg").attr("viewBox", "0 0 " + wide + " 10").attr("aria-hidden", "true");
    svg.append("rect").attr("width", wide).attr("height", 10).attr("rx", 2).style("fill", "var(--rule)");
    let x = 0;
    const parts = ["cold", "capacity", "conflict", "translation", "coherence"];
    const sum = d3.sum(parts, part => finding.evidence[part]);
    for (const part of parts) {
        const w = sum ? scale(finding.cost) * finding.evidence[part] / sum : 0;
        svg.append("rect").attr("class", part).attr("x", x).attr("width", w).attr("height", 10);
        x += w;
    }
    if (!sum)
        svg.append("rect").attr("class", "other").attr("width", scale(finding.cost)).attr("height", 10).attr("rx", 2);
    if (finding.gain)
        svg.append("rect").attr("y", 0.5).attr("x", 0.5).attr("width", Math.max(1, scale(finding.gain) - 1))
            .attr("height", 9).style("fill", "none").style("stroke", "var(--ink)");
    return svg.node();
}

function shareText(finding) {
    const spared = finding.gain ? [element("div", {class: "note"}, (finding.gain_by === "simulated" ? "" : "about ") +
        share(finding.gain, wholeCost) + " spared by the remedy (outlined), " +
        (finding.gain_by === "simulated" ? "simulated" : "estimated"))] : [];
    return element("div", {class: "share"}, shareBar(finding), element("span", {class: "big"},
        share(finding.cost, wholeCost)), element("span", {class: "quiet"}, " of the cost"), spared);
}

/* Its line, and one more on either side. */
function excerpt(place) {
    const source = place && place.file ? sources[sourceOf(place.file)] : null;
    const lines = source ? source.lines.filter(([number]) => Math.abs(number - place.line) <= 1) : [];
    if (!lines.some(([number]) => number === place.line))
        return null;
    return element("div", {class: "excerpt code", tabindex: "0", role: "group", "aria-label": "source"},
        lines.map(([number, text]) => element("div", {class: number === place.line ? "here" : null},
            element("span", {class: "number"}, String(number)), text)));
}

const EVIDENCE = {cold: "cold misses, cycles", capacity: "capacity misses, cycles", conflict: "conflict misses, cycles",
    translation: "translations, cycles", coherence: "coherence, cycles", misses: "misses", walks: "page walks",
    refetched: "lines fetched again", store_line: "line that stores", step: "step, bytes",
    with_step: "step of the loop around, bytes", loop_line: "line of the loop", with_line: "line of the other loop",
    level: "level", element_bytes: "bytes of an element", used_bytes: "bytes used", passes: "passes",
    room_bytes: "bytes of the level", evictor: "evicted by", row_bytes: "bytes of a row", pad_bytes: "padding, bytes",
    functions: "functions", function_cost: "cost of the function, cycles", draws: "placements drawn",
    luck_least: "least of these, cycles", luck_most: "most of these, cycles", others: "other places like it"};

function evidence(finding) {
    const rows = Object.entries(finding.evidence).filter(([, value]) => value !== 0);
    return element("details", null, element("summary", null, "Evidence"),
        table([{head: "what", text: true, of: row => EVIDENCE[row[0]] || row[0]},
            {head: "value", of: row => row[1]}], rows, {sortable: false, caption: "evidence"}));
}

function links(finding) {
    const place = finding.where, list = [];
    if (place.file && sourceOf(place.file) >= 0)
        list.push(element("a", {href: "#" + lineId(place.file, place.line)}, "annotated source"));
    if (finding.object)
        list.push(element("a", {href: "#objects"}, "object " + finding.object));
    if (finding.evidence.conflict)
        list.push(element("a", {href: "#evictions"}, "who evicts whom"), element("a", {href: "#sets"}, "sets"));
    if (finding.evidence.coherence)
        list.push(element("a", {href: "#cores"}, "shared lines"));
    return list.length ? element("div", {class: "links"}, list) : null;
}

function findingItem(finding, i) {
    const known = finding.where.function || finding.where.file || finding.where.module;
    const place = !known ? null : placeText(finding.where) +
        (finding.within ? ", in " + placeText(finding.within) : "");
    return element("li", {class: "finding", "data-pattern": finding.pattern},
        element("h3", null, element("span", {class: "rank"}, i + 1 + "."), place || "The start of the program"),
        shareText(finding), element("p", null, finding.what, element("span", {class: "remedy"}, ". ",
            element("b", null, "Remedy: "), finding.remedy.replace(/^no remedy: /, "none; "), ".")),
        excerpt(finding.where), links(finding), evidence(finding));
}

function makeFindings(to) {
    const list = report.findings;
    if (!list)
        to.append(nothing("Nobody has looked for findings:",
            "the run was made with ", option("--no-findings"), " or ", option("--no-attribution"), "."));
    else if (!list.length)
        to.append(element("p", null, "Nothing worth a change: the caches serve it well."));
    else
        to.append(element("p", {class: "note"}, "What is wrong, the most worthwhile first. The bar is the whole cost: ",
            "its part in colours is what the finding costs, by class of misses."),
            element("ol", {class: "findings"}, list.map(findingItem)), classKey());
}

function classKey() {
    const used = ["cold", "capacity", "conflict"].concat(report.tlb ? ["translation"] : [], cores > 1 ? ["coherence"]
        : []);
    return element("ul", {class: "key"}, used.map(name =>
        element("li", null, element("i", {style: "background:var(--" + name + ")"}), name)));
}
