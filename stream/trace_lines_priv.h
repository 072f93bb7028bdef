/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The lines of a trace in text, and the shapes of line that nearly all of a trace has. The model card is in
 * trace_lines.c.
 */
#ifndef C2_TRACE_LINES_PRIV_H
#define C2_TRACE_LINES_PRIV_H

#include "stream/stream.h"

#define TRACE_LINE_BYTES 256u /* a line that has an access is shorter */
/* A line of a usual shape is shorter than this, its end included; no fewer bytes may be read before a piece, too. */
#define TRACE_USUAL_BYTES 48u

struct trace_lines {
    FILE *from;  /* lent */
    char *piece; /* of the file, what is not yet taken from `at` to `end`; TRACE_USUAL_BYTES before it may be read */
    size_t at, end;
    int reason; /* errno of a read that failed; 0: none has */
    bool ended; /* nothing follows the piece */
};

enum c2_status trace_lines_create(struct trace_lines *lines, FILE *from, struct c2_error *err);
void trace_lines_end(struct trace_lines *lines); /* takes what was all zeros */
/* The next line without its end, cut to fit `text` of TRACE_LINE_BYTES; false: there is none. *zero: it has a byte that
 * no text has. Where reading has failed is to be asked behind either (lines->reason). */
bool trace_lines_next(struct trace_lines *lines, char *text, bool *zero);
/* The bytes from the next line on, of which TRACE_USUAL_BYTES may be read; NULL: there are fewer. Nothing is taken. */
static inline const char *trace_lines_look(const struct trace_lines *lines)
{
    return lines->end - lines->at >= TRACE_USUAL_BYTES ? lines->piece + lines->at : NULL;
}

/* An access of a line of a usual shape. */
struct trace_usual {
    char kind; /* R, W, M, F */
    uint64_t address, size;
};
/* How many bytes the line at `at` takes, its end included, if it is of a usual shape: of din `label address` or `label
 * address size`, single spaces between; of lackey as Lackey writes it. Numbers without 0x, of up to 15 and 3 digits. 0:
 * it is not, which says nothing of whether it is a line of the form. */
size_t trace_usual_din(const char *at, struct trace_usual *out);
size_t trace_usual_lackey(const char *at, struct trace_usual *out);

#endif
