/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * main: the parts of the page, in order.
 */

const PARTS = [
    ["findings", "Findings", makeFindings],
    ["changes", "A and B", makeChanges, () => data.other],
    ["levels", "Levels", makeLevels],
    ["sets", "Sets", makeSets],
    ["evictions", "Evictions", makeEvictions],
    ["source", "Source", makeSource],
    ["trees", "Code and data", makeTrees],
    ["sizes", "Sizes", makeCurve],
    ["time", "Time", makeTime],
    ["pages", "Pages", makePages],
    ["cores", "Cores", makeCores],
    ["costs", "Tables", makeTables],
];

function makeHead() {
    const run = report.run || {}, command = (report.command || []).join(" ");
    const facts = [["machine", report.machine.name + (cores > 1 ? ", " + cores + " cores" : "")],
        ["instructions", count(run.instructions || 0)],
        ["cost", report.cost ? count(wholeCost) + " cycles that accesses would wait one after the other" : null],
        ["pages", report.pages ? report.pages.policy + ", huge " + report.pages.huge : null],
        ["ended", report.ending || "exit status " + report.exit_status]];
    document.title = command + " - c2emu";
    byId("head").append(element("h1", null, command), element("ul", {class: "facts"},
        facts.filter(fact => fact[1]).map(([name, value]) => element("li", null, element("span", {class: "quiet"},
            name + " "), element("b", null, value)))));
    if (report.slim)
        byId("head").append(element("p", {class: "note", id: "slim"}, "The report that this page is of lists the " +
            "dearest objects, functions, lines and conflicts alone, and adds up the others; one that --json-full has " +
            "written, or -o, has them, too."));
    const receipt = report.receipt;
    byId("made").textContent = "Report of c2emu" + (receipt ? " " + receipt.c2emu : "") +
        (receipt && receipt.options && receipt.options.length ? ", options " + receipt.options.join(" ") : "") +
        ". Counts are exact and the same in every run.";
}

function makePage() {
    const main = byId("main"), contents = byId("contents");
    main.replaceChildren();
    makeHead();
    for (const [id, title, make, applies] of PARTS) {
        if (applies && !applies())
            continue;
        const heading = element("h2", {id: id + "-title"}, title);
        const section = element("section", {id, "aria-labelledby": id + "-title"}, heading);
        contents.append(element("a", {href: "#" + id}, title));
        main.append(section);
        make(section);
    }
    document.documentElement.dataset.drawn = "yes";
    if (location.hash && byId(location.hash.slice(1)))
        byId(location.hash.slice(1)).scrollIntoView();
}

makePage();
