/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * html_priv: the parts of a page.
 */
#ifndef C2_HTML_PRIV_H
#define C2_HTML_PRIV_H

#include <jansson.h>

#include "html/html.h"

/* Leaves of a report what pictures read, and puts windows together (select.c). False: no memory. */
bool html_select(json_t *report);
/* Of a list the first `keep` elements, and those that stand for a rest. */
void html_cut(json_t *array, size_t keep);
#define HTML_WINDOWS 400u /* at most, of those that were counted: neighbours are added up */

/* The lines of the sources that a report names, as a new array: `file`, as the report calls it, `path`, where it was
 * found, and `lines`, each its number and its text (sources.c). Files that are not found are left out. NULL: no
 * memory. */
json_t *html_sources(const json_t *report, const struct html_request *request);

/* ------------------------------------------------------------------ what is built in (assets.S) */
#define HTML_ASSETS(X) \
    X(page)  /* page.html, with a {{word}} where something goes */ \
    X(style) /* page.css */ \
    X(d3) \
    X(licence) /* of D3, as Debian has it */ \
    X(scripts) /* of our own, one behind the other */ \
    X(story)   /* those of a page of an explained miss, in their place */
struct html_asset {
    const char *start, *end;
};
#define X(name) extern const char html_##name##_start[], html_##name##_end[];
HTML_ASSETS(X)
#undef X

#endif
