/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * document: a report before it is text or JSON, and its two renderers, which know nothing of what it is about.
 *
 * Model
 *   A tree of items. Figures are numbers, texts and flags, each under a key; a group holds figures; a table has rows,
 *   which are groups or figures without a key; notes are sentences for people; sections hold all of it, first of all.
 *   Each item says where it appears, and is nowhere where what it lies in is not.
 *     JSON   a figure is its key and value, a group an object, a table an array; a section adds nothing of its own.
 *     text   a note is a line or more; a table shows those figures of its rows that its columns name, and a figure that
 *            no column names is not shown. An empty line stands between sections, which are in the order of their
 *            numbers; in the JSON everything is in the order in which it was added.
 *
 * Invariants
 *   What the renderers write depends on the document alone. Want of memory makes a document that fails to be rendered,
 *   never one with holes, so builders just add. Texts are copied; keys, labels and headings are not.
 */
#ifndef C2_DOCUMENT_H
#define C2_DOCUMENT_H

#include "base/base.h"

/* The JSON is rendered slim or full: what is in one of them alone says so. */
enum doc_in {
    DOC_TEXT = 1,
    DOC_SLIM = 2,
    DOC_FULL = 4,
    DOC_JSON = DOC_SLIM | DOC_FULL,
    DOC_BOTH = DOC_TEXT | DOC_JSON
};
enum doc_kind { DOC_SECTION, DOC_GROUP, DOC_TABLE, DOC_NOTE, DOC_COUNT, DOC_DECIMAL, DOC_STRING, DOC_FLAG };

/* What the text is written on. Lines of notes are broken between words, and are no wider where the words allow it. */
#define DOC_WIDTH 100 /* of files and pipes */
struct doc_page {
    unsigned width; /* in columns, at least DOC_NARROWEST */
    bool coloured;  /* for a terminal: headings bold, classes in colours */
};
#define DOC_NARROWEST 80u

/* How a note is laid out. */
enum doc_shape {
    DOC_LINE,    /* the text; its later lines are indented by two more than the first */
    DOC_HEADING, /* the same, of what follows */
    DOC_KEY,     /* "pages       text": later lines begin below the text */
    DOC_FLOW,    /* "label text", in the same way */
    DOC_ITEM,    /* "  text": later lines are indented more */
};

/* A column of a table in the text shows the figure `key` of each row: numbers with their digits in groups, to the
 * right. A row without the figure has a "-". Where a table is too wide for the page its names are shortened, but not
 * below DOC_LEAST_NAME; then whole columns are left out. */
#define DOC_LEAST_NAME 44u
enum doc_form {
    DOC_RIGHT,
    DOC_LEFT,
    DOC_BYTES, /* as a size, "18.0 MiB"; 0: not known */
    DOC_BAR,   /* of classes, "..===##ttc" */
    DOC_NAME,  /* the last column: to the left, and shortened (shorten.h) where the line would be too wide */
};
struct doc_column {
    const char *heading, *key;
    const char *of; /* not NULL: shown is the share that the figure has of this one */
    enum doc_form form;
    unsigned spare;  /* 0: shown on every page; else left out where there is no room, the highest first */
    unsigned strong; /* a share of that many per cent is emphasised; 0: none is */
};

struct doc_item {
    enum doc_kind kind;
    unsigned in;     /* doc_in, after all that it lies in had its say; may be 0 */
    const char *key; /* of a note: its label */
    uint64_t
        number; /* a count, a flag; of a section its place in the text, of a table its indent, of a note its shape */
    double decimal;
    const char *text;
    const struct doc_column *columns;
    size_t column_count;
    struct doc_item *parent, *first, *last, *next;
};

struct document {
    struct doc_item root;
    struct doc_item *at;   /* what items are added to */
    struct doc_item *note; /* that doc_say() goes on with; NULL: it is in nothing */
    struct c2_pool pool;
    struct doc_page page; /* of the text; may be set before each rendering */
    bool failed;
};

/* wanted: of doc_in, what it will be rendered as; the rest is not kept. It must not move until it is released. */
void doc_begin(struct document *d, unsigned wanted);
void doc_release(struct document *d);

/* What opens something returns whether anything in it will be seen; to be closed in any case. A section ends all that
 * is open; it is closed by the next one. */
bool doc_section(struct document *d, enum doc_in in, unsigned place);
bool doc_group(struct document *d, enum doc_in in, const char *key);
bool doc_table(struct document *d, enum doc_in in, const char *key);
void doc_close(struct document *d);
/* Of the open table, in the text; indent in spaces. */
void doc_columns(struct document *d, const struct doc_column *columns, size_t count, unsigned indent);

/* key: NULL in a table. value: NULL adds nothing. */
void doc_count(struct document *d, enum doc_in in, const char *key, uint64_t value);
void doc_decimal(struct document *d, enum doc_in in, const char *key, double value); /* in the JSON: 6 decimals */
void doc_flag(struct document *d, enum doc_in in, const char *key, bool value);
void doc_string(struct document *d, enum doc_in in, const char *key, const char *value);
void doc_words(struct document *d, enum doc_in in, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Notes are in the text alone. label: of the shapes that have one. doc_say adds to the note made last. */
void doc_note(struct document *d, enum doc_shape shape, const char *label, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void doc_say(struct document *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text that lives as long as the document; never NULL. doc_digits: "1,234"; doc_share: "12.3 %". */
const char *doc_keep(struct document *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *doc_digits(struct document *d, uint64_t n);
const char *doc_share(struct document *d, uint64_t part, uint64_t whole);

/* what: "the report". */
enum c2_status doc_render_text(FILE *to, const struct document *d, const char *what, struct c2_error *err);
/* form: DOC_SLIM or DOC_FULL. */
enum c2_status doc_render_json(FILE *to, const struct document *d, enum doc_in form, const char *what,
                               struct c2_error *err);

/* ------------------------------------------------------------------ numbers as text (numbers.c)
 * They return buffer, of at least 32 bytes. */

/* "12.3 %", rounded half up from the exact quotient; "<0.1 %" and ">99.9 %" where that would say none or all of them;
 * "-" when whole is 0. */
char *doc_percent(char *buffer, uint64_t part, uint64_t whole);
/* "18.0 MiB", rounded half up to a tenth; "640 B" below 1 KiB. */
char *doc_size(char *buffer, uint64_t bytes);

#endif
