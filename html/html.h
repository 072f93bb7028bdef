/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * html: a report as one page for a browser: it opens from disk, needs nothing else, the network neither.
 *
 * Model
 *   A page is the template page.html with the style sheet, the scripts and D3 in their places, and what the pictures
 *   read as JSON: those parts of a report.json that some picture shows (select.c), the lines of the sources that it
 *   names (sources.c), and of two reports what differs, as `c2emu diff` finds it. The scripts draw all of it, findings
 *   and tables too, so that a page of a run and one of its report.json are the same.
 *
 * Invariants
 *   The same reports and sources give the same bytes. Nothing of a report is text of the page: it is JSON in
 *   which no tag can end or begin, and scripts put it into the page as text.
 */
#ifndef C2_HTML_H
#define C2_HTML_H

#include "base/base.h"

struct html_request {
    const char *report; /* report.json, or an explained miss (explain --json), as text */
    const char *name;   /* of it, for messages: a path */
    const char *other;  /* the same of the report that it is compared with; NULL: there is one report */
    const char *other_name;
    const char *changes;            /* what differs: report_changes(); NULL: there is one report */
    const char *const *directories; /* where sources are looked for besides their own path */
    size_t directory_count;
};
/* Writes the page. C2_ERR_FORMAT: no JSON, or no report of a run. A failed write is C2_ERR_IO. */
enum c2_status html_write(FILE *to, const struct html_request *request, struct c2_error *err);

#endif
