/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * figure: the frame of each picture - its title, what can be chosen, its keys, its file - and what is said of a mark
 * that the pointer or the keyboard is at.
 */

const tip = byId("tip"), live = byId("live");

function showTip(lines, x, y) {
    tip.replaceChildren(...lines.map(line => element("div", null, line)));
    tip.hidden = false;
    const wide = document.documentElement.clientWidth;
    const left = Math.max(4, Math.min(x + 14, wide - tip.offsetWidth - 8));
    const above = y - tip.offsetHeight - 12;
    tip.style.left = left + window.scrollX + "px";
    tip.style.top = (above > 50 ? above : y + 18) + window.scrollY + "px";
}

function hideTip() {
    tip.hidden = true;
}

/* ------------------------------------------------------------------ a file of the picture */

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "fill-opacity",
    "font-family", "font-size", "font-weight", "text-anchor", "shape-rendering", "image-rendering"];

/* The picture as it is seen, by itself: what the style sheet says becomes attributes. */
function standalone(svg, title) {
    const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")];
    const to = [copy, ...copy.querySelectorAll("*")];
    const box = svg.viewBox.baseVal;
    from.forEach((node, i) => {
        const style = getComputedStyle(node);
        for (const key of KEPT)
            to[i].setAttribute(key, style.getPropertyValue(key));
        for (const left of ["class", "tabindex", "style"])
            to[i].removeAttribute(left);
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", box.width);
    copy.setAttribute("height", box.height);
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    paper.setAttribute("width", box.width);
    paper.setAttribute("height", box.height);
    paper.setAttribute("fill", colour("paper"));
    const name = document.createElementNS("http://www.w3.org/2000/svg", "title");
    name.textContent = title;
    copy.prepend(name, paper);
    return new XMLSerializer().serializeToString(copy);
}

function save(svg, title, id) {
    const url = URL.createObjectURL(new Blob([standalone(svg, title)], {type: "image/svg+xml"}));
    element("a", {href: url, download: "c2emu-" + id + ".svg"}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* ------------------------------------------------------------------ marks */

/* The marks of a picture, in order: what is said of each is shown at the pointer, and read aloud at the keyboard, where
 * arrows go from one to the next and Enter does what a click does. */
function explore(picture, marks, describe, act) {
    const nodes = marks.nodes();
    let at = -1;
    const datum = node => d3.select(node).datum();
    function leave() {
        if (at >= 0 && nodes[at])
            nodes[at].classList.remove("on");
        hideTip();
    }
    function go(to) {
        leave();
        at = Math.max(0, Math.min(nodes.length - 1, to));
        if (!nodes[at])
            return;
        nodes[at].classList.add("on");
        const lines = describe(datum(nodes[at])), box = nodes[at].getBoundingClientRect();
        showTip(lines, box.x + box.width / 2, box.y);
        live.textContent = lines.join(", ");
    }
    marks.on("mousemove", function () {
        showTip(describe(datum(this)), d3.event.clientX, d3.event.clientY);
    }).on("mouseleave", hideTip);
    if (act)
        marks.classed("act", true).on("click", d => act(d));
    picture.onkeydown = event => {
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e9, End: 1e9}[event.key];
        if (step)
            go(at + step);
        else if (event.key === "Enter" && act && nodes[at])
            act(datum(nodes[at]));
        else if (event.key === "Escape")
            leave();
        else
            return;
        event.preventDefault();
    };
    picture.onblur = leave;
}

/* ------------------------------------------------------------------ the frame */

/* A picture of {id, title, says: for those who do not see it, caption: node or text, key: [[class or colour, text]...],
 * controls: [node...]}. draw(svg, width, picture) draws into an empty svg and returns the height; it is called again
 * when the width or the colours change, and by the function that comes back. */
function figure(to, of, draw) {
    const picture = element("div", {class: "picture", tabindex: "0", role: "group",
        "aria-label": of.title + ". " + (of.says || "") + " Arrow keys go through what is drawn."});
    const caption = element("figcaption", null, of.caption || "");
    const keys = element("ul", {class: "key"});
    const bar = element("div", {class: "bar"}, element("h3", null, of.title), of.controls || [],
        element("button", {class: "act", type: "button", title: "Save this picture as an SVG file",
            click: () => save(picture.firstChild, of.title, of.id)}, "SVG"));
    to.append(element("figure", {id: of.id}, bar, picture, keys, caption));
    let width = 0;
    function again() {
        const svg = d3.create("svg").attr("role", "img").attr("aria-label", of.title + ". " + (of.says || ""));
        width = picture.clientWidth || 900;
        hideTip();
        picture.replaceChildren(svg.node());
        const height = draw(svg, width, picture);
        svg.attr("viewBox", "0 0 " + width + " " + height).attr("width", width).attr("height", height);
        const list = typeof of.key === "function" ? of.key() : of.key || [];
        keys.replaceChildren(...list.map(([paint, text]) =>
            element("li", null, element("i", {style: "background:" + paint}), text)));
    }
    again();
    new ResizeObserver(() => {
        if (Math.abs(picture.clientWidth - width) > 1)
            again();
    }).observe(picture);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    return again;
}

/* A text of at most so many pixels, its middle left out; in the letters that pictures have. */
const ruler = document.createElement("canvas").getContext("2d");

function fit(text, pixels) {
    ruler.font = "12px " + getComputedStyle(document.body).fontFamily;
    if (ruler.measureText(text).width <= pixels)
        return text;
    let least = 0, most = text.length; /* letters that stay */
    const cut = kept => text.slice(0, Math.ceil(kept / 2)) + "\u2026" + text.slice(text.length - Math.floor(kept / 2));
    while (most - least > 1) {
        const kept = least + most >> 1;
        if (ruler.measureText(cut(kept)).width <= pixels)
            least = kept;
        else
            most = kept;
    }
    return least < 6 ? "" : cut(least);
}

/* A level axis of counts at the bottom, or one to the left. */
function bottomAxis(svg, scale, y, format, ticks = 6) {
    return svg.append("g").attr("class", "axis").attr("transform", "translate(0," + y + ")")
        .call(d3.axisBottom(scale).ticks(ticks).tickFormat(format).tickSizeOuter(0)).attr("font-size", null)
        .attr("font-family", null);
}

function leftAxis(svg, scale, x, format, ticks = 5) {
    return svg.append("g").attr("class", "axis").attr("transform", "translate(" + x + ",0)")
        .call(d3.axisLeft(scale).ticks(ticks).tickFormat(format).tickSizeOuter(0)).attr("font-size", null)
        .attr("font-family", null);
}

/* ------------------------------------------------------------------ heat */

/* From nothing to most, by the square root, so that what is little is seen. */
function heatScale(most) {
    const stops = ["heat0", "heat1", "heat2", "heat3", "heat4"].map(colour);
    return d3.scalePow([0, 1, 2, 3, 4].map(i => (most || 1) * (i / 4) ** 2), stops).exponent(0.5).clamp(true);
}

/* What the weakest and the strongest stand for. */
const heatKey = (most, of) => [["var(--heat0)", "none"], ["var(--heat2)", count(Math.round((most || 0) / 4))],
    ["var(--heat4)", count(most || 0) + " " + of]];

/* Dark letters on what is light, light ones on what is dark. */
function inkOn(paint) {
    const {r, g, b} = d3.rgb(paint);
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "var(--on-light)" : "var(--on-dark)";
}
