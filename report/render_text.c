/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * render_text: a document as text: notes in lines, tables in aligned columns two spaces apart.
 */
#include <inttypes.h>
#include <string.h>

#include "report/document.h"
#include "report/shorten.h"

#define CELL_BYTES 64 /* of a number */
#define LEAST_NAME 40 /* that much of a name is shown, whatever the width */
#define MOST_COLUMNS 32
#define KEY_WIDTH 12 /* keys are shorter */
#define ITEM_INDENT 6

struct page {
    FILE *to;
    bool begun, gap; /* something stands on it; an empty line comes before the next thing */
    bool failed;     /* for want of memory */
};

static void begin_item(struct page *page)
{
    if (page->gap && page->begun)
        fputc('\n', page->to);
    page->begun = true;
    page->gap = false;
}

/* ------------------------------------------------------------------ notes */

/* Breaks the text between words; the first line has begun with `column` characters. */
static void put_broken(FILE *to, const char *text, size_t column, size_t indent)
{
    text += strspn(text, " ");
    for (bool first = true; *text != '\0'; first = false) {
        const size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > DOC_WIDTH) {
            fprintf(to, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", (int)length, text);
        column += length;
        text += length + strspn(text + length, " ");
    }
}

static void put_note(struct page *page, const struct doc_item *note)
{
    FILE *to = page->to;
    begin_item(page);
    switch ((enum doc_shape)note->number) {
    case DOC_LINE:
        fputs(note->text, to);
        break;
    case DOC_KEY:
        fprintf(to, "%-*s%s", KEY_WIDTH, note->key, note->text);
        break;
    case DOC_KEY_FLOW:
        fprintf(to, "%-*s", KEY_WIDTH, note->key);
        put_broken(to, note->text, KEY_WIDTH, KEY_WIDTH);
        break;
    case DOC_FLOW:
        fprintf(to, "%s ", note->key);
        put_broken(to, note->text, strlen(note->key) + 1, strlen(note->key) + 1);
        break;
    case DOC_ITEM:
        fputs("  ", to);
        put_broken(to, note->text, 2, ITEM_INDENT);
        break;
    }
    fputc('\n', to);
}

/* ------------------------------------------------------------------ tables */

static const struct doc_item *figure_of(const struct doc_item *row, const char *key)
{
    for (const struct doc_item *item = row->first; item; item = item->next) {
        if ((item->in & DOC_TEXT) != 0 && item->key && strcmp(item->key, key) == 0)
            return item;
    }
    return NULL;
}

/* In buffer, of CELL_BYTES, or lent by the document. */
static const char *cell(char *buffer, const struct doc_item *row, const struct doc_column *column)
{
    const struct doc_item *figure = figure_of(row, column->key);
    const struct doc_item *whole = column->of ? figure_of(row, column->of) : NULL;
    if (!figure || (column->of && !whole))
        return "-";
    if (figure->kind == DOC_STRING)
        return figure->text;
    if (whole)
        return report_percent(buffer, figure->number, whole->number);
    if (column->form == DOC_BYTES)
        return figure->number == 0 ? "-" : report_size(buffer, figure->number);
    return c2_group_digits(buffer, figure->number);
}

static size_t widest(const struct doc_item *table, const struct doc_column *column)
{
    size_t width = strlen(column->heading);
    for (const struct doc_item *row = table->first; row; row = row->next) {
        char buffer[CELL_BYTES];
        const size_t own = (row->in & DOC_TEXT) != 0 ? strlen(cell(buffer, row, column)) : 0;
        width = own > width ? own : width;
    }
    return width;
}

static void put_name(struct page *page, const char *name, size_t before)
{
    const size_t room = before + LEAST_NAME < DOC_WIDTH ? DOC_WIDTH - before : LEAST_NAME;
    char *shortened = strlen(name) > room ? c2_strdup(name) : NULL;
    page->failed |= strlen(name) > room && !shortened;
    fputs(shortened ? report_shorten(shortened, room) : name, page->to);
    c2_free(shortened);
}

/* row: NULL for the headings. */
static void put_row(struct page *page, const struct doc_item *table, const struct doc_item *row, const size_t *widths)
{
    FILE *to = page->to;
    size_t before = table->number;
    fprintf(to, "%*s", (int)before, "");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct doc_column *column = &table->columns[i];
        char buffer[CELL_BYTES];
        const char *text = row ? cell(buffer, row, column) : column->heading;
        fputs(i == 0 ? "" : "  ", to);
        before += i == 0 ? 0 : 2;
        if (column->form == DOC_NAME)
            put_name(page, text, before);
        else
            fprintf(to, "%*s", column->form == DOC_LEFT ? -(int)widths[i] : (int)widths[i], text);
        before += widths[i];
    }
    fputc('\n', to);
}

static bool has_rows(const struct doc_item *table)
{
    for (const struct doc_item *row = table->first; row; row = row->next) {
        if ((row->in & DOC_TEXT) != 0)
            return true;
    }
    return false;
}

static void put_table(struct page *page, const struct doc_item *table)
{
    size_t widths[MOST_COLUMNS];
    if (!has_rows(table))
        return;
    begin_item(page);
    C2_ASSERT(table->column_count <= MOST_COLUMNS);
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = widest(table, &table->columns[i]);
    put_row(page, table, NULL, widths);
    for (const struct doc_item *row = table->first; row; row = row->next) {
        if ((row->in & DOC_TEXT) != 0)
            put_row(page, table, row, widths);
    }
}

/* ------------------------------------------------------------------ all of it */

static void put_items(struct page *page, const struct doc_item *in)
{
    for (const struct doc_item *item = in->first; item; item = item->next) {
        if ((item->in & DOC_TEXT) == 0)
            continue;
        if (item->kind == DOC_NOTE)
            put_note(page, item);
        else if (item->column_count != 0)
            put_table(page, item);
        else
            put_items(page, item);
    }
}

static uint64_t last_place(const struct document *d)
{
    uint64_t last = 0;
    for (const struct doc_item *section = d->root.first; section; section = section->next)
        last = section->number > last ? section->number : last;
    return last;
}

enum c2_status doc_render_text(FILE *to, const struct document *d, const char *what, struct c2_error *err)
{
    struct page page = {.to = to};
    if (d->failed)
        return c2_fail_memory(err, what);
    for (uint64_t place = 0; place <= last_place(d); place++) {
        for (const struct doc_item *section = d->root.first; section; section = section->next) {
            if (section->number != place)
                continue;
            page.gap = true;
            put_items(&page, section);
        }
    }
    if (page.failed)
        return c2_fail_memory(err, what);
    return ferror(to) ? c2_fail(err, C2_ERR_IO, "cannot write %s", what) : C2_OK;
}
