/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trees: where counts come from - a tree map of the code or of the data, and a flame graph of the calls.
 */

/* Modules, their functions, and the lines of these as far as they are listed. */
function codeTree(event) {
    const modules = new Map();
    const lines = new Map();
    for (const line of (report.lines || []).filter(line => !line.rest)) {
        const key = JSON.stringify([line.module, line.function]);
        lines.set(key, (lines.get(key) || []).concat(line));
    }
    for (const of of report.functions || []) {
        const module = of.rest ? "others" : of.module || "no module";
        const own = of.rest ? [] : (lines.get(JSON.stringify([of.module, of.name])) || []).filter(l => event.of(l) > 0);
        const rest = event.of(of) - d3.sum(own, event.of);
        const children = own.map(line => ({name: lineText(line), place: line, value: event.of(line)}));
        if (rest > 0)
            children.push({name: own.length ? "other lines of " + of.name : functionText(of), value: rest});
        if (!modules.has(module))
            modules.set(module, {name: module, children: []});
        if (children.length)
            modules.get(module).children.push({name: functionText(of), children});
    }
    return {name: "all", children: [...modules.values()]};
}

function dataTree(event) {
    const kinds = new Map();
    for (const object of report.objects || []) {
        const kind = object.rest ? "others" : object.kind;
        if (!kinds.has(kind))
            kinds.set(kind, {name: kind, children: []});
        kinds.get(kind).children.push({name: objectText(object), place: object.site, value: event.of(object)});
    }
    return {name: "all", children: [...kinds.values()]};
}

function drawTreeMap(tree, event, svg, width, picture) {
    const high = Math.max(260, Math.min(460, width * 0.5));
    const root = d3.hierarchy(tree).sum(node => node.value || 0).sort((a, b) => b.value - a.value);
    if (!root.value) {
        svg.append("text").attr("class", "quiet").attr("y", 16).text("There is none of this.");
        return 28;
    }
    d3.treemap().size([width, high]).paddingInner(1).paddingTop(node => node.depth === 1 ? 17 : 0).round(true)(root);
    const groups = root.children.filter(group => group.x1 > group.x0 && group.y1 > group.y0);
    const paint = new Map(groups.map((group, i) => [group, series(i)]));
    svg.selectAll("rect.group").data(groups).join("rect").attr("class", "group").attr("x", d => d.x0)
        .attr("y", d => d.y0).attr("width", d => d.x1 - d.x0).attr("height", d => d.y1 - d.y0)
        .style("fill", "var(--raised)");
    svg.selectAll("text.group").data(groups.filter(d => d.x1 - d.x0 > 40 && d.y1 - d.y0 > 16)).join("text")
        .attr("class", "group quiet").attr("x", d => d.x0 + 3)
        .attr("y", d => d.y0 + 12).text(d => fit(d.data.name + "  " + share(d.value, root.value), d.x1 - d.x0 - 6));
    const leaves = root.leaves().filter(leaf => leaf.x1 > leaf.x0 && leaf.y1 > leaf.y0 && leaf.value);
    const groupOf = leaf => leaf.ancestors().find(node => node.depth === 1);
    const marks = svg.selectAll("rect.leaf").data(leaves).join("rect").attr("class", "leaf").attr("x", d => d.x0)
        .attr("y", d => d.y0).attr("width", d => d.x1 - d.x0).attr("height", d => d.y1 - d.y0)
        .style("fill", d => paint.get(groupOf(d)) || "var(--other)").attr("fill-opacity", 0.32);
    svg.selectAll("text.leaf").data(leaves.filter(d => d.x1 - d.x0 > 54 && d.y1 - d.y0 > 17)).join("text")
        .attr("class", "leaf").attr("x", d => d.x0 + 4).attr("y", d => d.y0 + 13).style("pointer-events", "none")
        .text(d => fit(d.data.name, d.x1 - d.x0 - 8));
    explore(picture, marks, d => [d.data.name, count(d.value) + " " + event.text + ", " + share(d.value, root.value),
        d.ancestors().slice(1, -1).map(node => node.data.name).join(" in ")].filter(Boolean), d => {
        const place = d.data.place;
        if (place && place.file && sourceOf(place.file) >= 0)
            location.hash = lineId(place.file, place.line);
    });
    return high;
}

/* ------------------------------------------------------------------ calls */

/* What a context cost by itself in cycles of misses, by the prices of the report. */
function missCycles(self) {
    let cycles = (self.missDTLB || 0) * (report.cost.tlb_cycles || 0) + (self.missITLB || 0) *
        (report.cost.tlb_cycles || 0) + (self.walkReads || 0) * (report.cost.walk_read_cycles || 0) +
        (self.upgrades || 0) * (report.cost.upgrade_cycles || 0);
    for (const level of report.cost.levels) {
        for (const name of ["cold", "capacity", "conflict"])
            cycles += (self[name + level.name] || 0) * level.miss_cycles;
        cycles += (self["coherence" + level.name] || 0) * (level.coherence_cycles || 0);
    }
    return cycles;
}

function flameEvents() {
    const list = [["Ir", "instructions", self => self.Ir || 0], ["cycles", "cycles of misses", missCycles]];
    for (const level of levels) {
        for (const name of CLASSES.filter(name => level[name]))
            list.push([name + level.name, level.name + " " + name + " misses", self => self[name + level.name] || 0]);
    }
    return list;
}

/* Contexts are functions with their callers, nearest first: from the outermost inwards they are a tree. */
function callTree(of) {
    const root = {name: "all", children: [], own: 0, byName: new Map()};
    for (const context of report.contexts.filter(context => context.function)) {
        let at = root;
        for (const name of (context.callers || []).map(i => report.callers[i]).reverse().concat(context.function)) {
            if (!at.byName.has(name)) {
                const child = {name, children: [], own: 0, byName: new Map()};
                at.byName.set(name, child);
                at.children.push(child);
            }
            at = at.byName.get(name);
        }
        at.own += of(context.self || {});
    }
    return root;
}

function drawFlame(state, svg, width, picture, again) {
    const [, text, of] = state.event, row = 19;
    const root = d3.hierarchy(callTree(of)).sum(node => node.own).sort((a, b) => b.value - a.value);
    let top = root;
    for (const name of state.path)
        top = (top.children || []).find(child => child.data.name === name) || top;
    const shown = top.copy();
    d3.partition().size([width, (shown.height + 1) * row])(shown);
    const nodes = shown.descendants().filter(node => node.x1 - node.x0 >= 0.6);
    const heat = d3.scaleLinear([0, 0.25, 1], ["heat0", "heat1", "heat2"].map(colour)).clamp(true);
    const marks = svg.selectAll("rect").data(nodes).join("rect").attr("x", d => d.x0).attr("y", d => d.depth * row)
        .attr("width", d => Math.max(0.5, d.x1 - d.x0 - 0.7)).attr("height", row - 1).attr("rx", 1.5)
        .style("fill", d => heat(d.value ? d.data.own / d.value : 0));
    svg.selectAll("text").data(nodes.filter(node => node.x1 - node.x0 > 34)).join("text").attr("x", d => d.x0 + 4)
        .attr("y", d => d.depth * row + 13).style("pointer-events", "none")
        .style("fill", d => inkOn(heat(d.value ? d.data.own / d.value : 0)))
        .text(d => fit(d.data.name, d.x1 - d.x0 - 8));
    explore(picture, marks, d => [d.data.name, count(d.value) + " " + text + ", " + share(d.value, root.value),
        count(d.data.own) + " by itself"], d => {
        const names = d.ancestors().map(node => node.data.name).reverse().slice(1);
        state.path = d === shown ? state.path.slice(0, -1) : state.path.concat(names);
        again();
    });
    return (d3.max(nodes, node => node.depth) + 1) * row;
}

function makeTrees(to) {
    if (!report.functions) {
        to.append(nothing("Counts were not attributed:", "leave out ", option("--no-attribution"), "."));
        return;
    }
    let event = events[0], kind = "code", again = null;
    again = figure(to, {id: "map", title: "Where it comes from", says: "A tree map.",
        caption: "An area is a count. Code: files, their functions and lines; data: kinds of objects, and these. A " +
            "line that is in the page is one click away.",
        controls: [choice("count", eventChoices(), event.key, key => { event = eventOf(key); again(); }),
            choice("of", [["code", "code"], ["data", "data"]], kind, value => { kind = value; again(); })]},
    (svg, width, picture) => drawTreeMap(kind === "code" ? codeTree(event) : dataTree(event), event, svg, width,
        picture));
    if (!(report.contexts || []).some(context => context.callers)) {
        to.append(nothing("There is no flame graph of the calls:", "who called whom is collected with ",
            option("--separate-callers 16"), "."));
        return;
    }
    const list = flameEvents(), state = {event: list[1], path: []};
    const draw = figure(to, {id: "flame", title: "Calls", says: "A flame graph, callers above what they call.",
        caption: "Callers lie above what they call; a frame is as wide as what it counts with all that it calls, the " +
            "darker, the more of that by itself. A click looks closer, one on the uppermost frame goes back.",
        controls: [choice("count", list.map(([key, text]) => [key, text]), state.event[0],
            key => { state.event = list.find(one => one[0] === key); draw(); })]},
    (svg, width, picture) => drawFlame(state, svg, width, picture, () => draw()));
}
