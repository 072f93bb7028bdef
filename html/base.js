/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * base: what the page knows, numbers as texts, elements. Texts of the report come into the page as text alone.
 */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report;

/* ------------------------------------------------------------------ numbers */

const count = d3.format(",");

/* "12.3 %"; "<0.1 %" where that would be none, ">99.9 %" where it would be all. */
function share(part, whole) {
    if (!whole)
        return "-";
    const tenths = Math.round(1000 * part / whole);
    if (tenths === 0 && part > 0)
        return "<0.1 %";
    if (tenths === 1000 && part < whole)
        return ">99.9 %";
    return (tenths / 10).toFixed(1) + " %";
}

function size(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    return (Number.isInteger(bytes) ? bytes : bytes.toFixed(1)) + " " + units[unit];
}

/* "1.2 M" on axes. */
function rough(n) {
    const units = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
    for (const [of, unit] of units) {
        if (Math.abs(n) >= of)
            return d3.format(".3~r")(n / of) + " " + unit;
    }
    return Number.isInteger(n) ? String(n) : d3.format(".2~r")(n);
}

const plural = (n, one, many) => count(n) + " " + (n === 1 ? one : many || one + "s");

/* ------------------------------------------------------------------ elements */

/* element("a", {href: "#x"}, "text", child, ...); what is null or false is left out, lists are taken apart. */
function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (typeof value === "function")
            made.addEventListener(key, value);
        else if (value !== null && value !== false && value !== undefined)
            made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter(child => child !== null && child !== false && child !== undefined));
    return made;
}

const byId = id => document.getElementById(id);

/* A colour of the style sheet. */
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const series = i => i < 8 ? "var(--series" + i + ")" : "var(--other)";

function choice(label, values, chosen, change) {
    const select = element("select", {change: () => change(select.value)},
        values.map(([value, text]) => element("option", {value, selected: value === chosen}, text)));
    return element("label", null, label + " ", select);
}

/* What a table is made of: {head, text: to the left, name: may be long, of: row -> value, show: value -> text or node,
 * first: sorted by it at first}. */
function table(columns, rows, options) {
    const {caption, limit = 20, sortable = true} = options || {};
    const body = element("tbody");
    let sorted = null, shown = Math.min(limit, rows.length), order = rows;
    const kind = column => (column.text ? "text" : "") + (column.name ? " name" : "");
    const more = element("button", {class: "act", type: "button", click: () => { shown = rows.length; fill(); }});
    function cell(column, row) {
        const value = column.of(row);
        const known = value !== undefined && value !== null;
        return element("td", {class: kind(column)}, !known ? "-" : column.show ? column.show(value, row)
            : typeof value === "number" ? count(value) : value);
    }
    function fill() {
        body.replaceChildren(...order.slice(0, shown).map(row => element("tr", null, columns.map(c => cell(c, row)))));
        more.hidden = shown >= rows.length;
        more.textContent = "all " + count(rows.length);
    }
    function sort(column, head) {
        const down = sorted !== column || column.text ? 1 : -1;
        const value = row => column.of(row) === undefined ? -Infinity : column.of(row);
        order = [...rows].sort((a, b) => column.text ? d3.ascending(value(a), value(b))
            : down * d3.descending(value(a), value(b)));
        sorted = down === 1 ? column : null;
        for (const other of head.parentNode.children)
            other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", column.text || down === -1 ? "ascending" : "descending");
        fill();
    }
    const heads = columns.map(column => {
        const head = element("th", {class: kind(column), scope: "col"});
        head.append(sortable ? element("button", {type: "button", click: () => sort(column, head)}, column.head)
            : column.head);
        return head;
    });
    fill();
    return element("div", {class: rows.length > 40 ? "wide long" : "wide"},
        element("table", null, caption ? element("caption", {class: "unseen"}, caption) : null,
            element("thead", null, element("tr", null, heads)), body), more);
}

/* In the place of a picture: what collects its data. */
const nothing = (what, ...how) => element("p", {class: "nothing"}, what + " ", ...how);
const option = text => element("code", null, text);
