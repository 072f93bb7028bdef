/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * render_text: a document as text: notes in lines, tables in aligned columns two spaces apart.
 *
 * Model
 *   A table takes the columns that it needs. Is that too much for the page, the names of its last column get what the
 *   others leave, but not less than DOC_LEAST_NAME; then spare columns are left out, the most spare first; then texts
 *   of other columns are shortened; at last columns are left out from the right, but for the first and the names.
 *   Colours are those of the terminal itself (SGR 1 and 31 to 36): it decides what is read well on its background.
 *
 * Invariants
 *   No row of a table is wider than the page. Without colour there is no escape in the text.
 */
#include <inttypes.h>
#include <string.h>

#include "document/document.h"
#include "document/shorten.h"

#define CELL_BYTES 64 /* of a number */
#define MOST_COLUMNS 32
#define BETWEEN 2    /* columns of a table */
#define KEY_WIDTH 12 /* keys are shorter */
#define ITEM_INDENT 6
#define LINE_INDENT 2

static const char plain[] = "\033[0m", bold[] = "\033[1m";

struct page {
    FILE *to;
    struct doc_page is;
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

/* escape: NULL for text as it is. */
static void put_styled(const struct page *page, const char *escape, const char *text, size_t bytes)
{
    const bool styled = escape && page->is.coloured && bytes != 0;
    fprintf(page->to, "%s%.*s%s", styled ? escape : "", (int)bytes, text, styled ? plain : "");
}

/* ------------------------------------------------------------------ notes */

/* Breaks the text between words; the first line has begun with `column` characters. What fits stays as it is. */
static void put_broken(const struct page *page, const char *text, size_t column, size_t indent)
{
    FILE *to = page->to;
    if (column + strlen(text) <= page->is.width) {
        fputs(text, to);
        return;
    }
    text += strspn(text, " ");
    for (bool first = true; *text != '\0'; first = false) {
        const size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > page->is.width) {
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

/* A label in at least `width` columns, and the text beside it. */
static void put_labelled(const struct page *page, const struct doc_item *note, size_t width)
{
    const size_t length = strlen(note->key), before = length > width ? length : width;
    put_styled(page, bold, note->key, length);
    fprintf(page->to, "%*s", (int)(before - length), "");
    put_broken(page, note->text, before, before);
}

static void render_text_put_line(const struct page *page, const struct doc_item *note)
{
    const size_t indent = strspn(note->text, " ");
    const bool heads = note->number == DOC_HEADING && page->is.coloured;
    fprintf(page->to, "%*s%s", (int)indent, "", heads ? bold : "");
    put_broken(page, note->text + indent, indent, indent + LINE_INDENT);
    fputs(heads ? plain : "", page->to);
}

static void put_note(struct page *page, const struct doc_item *note)
{
    begin_item(page);
    switch ((enum doc_shape)note->number) {
    case DOC_LINE:
    case DOC_HEADING:
        render_text_put_line(page, note);
        break;
    case DOC_KEY:
        put_labelled(page, note, KEY_WIDTH);
        break;
    case DOC_FLOW:
        put_labelled(page, note, strlen(note->key) + 1);
        break;
    case DOC_ITEM:
        fputs("  ", page->to);
        put_broken(page, note->text, 2, ITEM_INDENT);
        break;
    }
    fputc('\n', page->to);
}

/* ------------------------------------------------------------------ cells */

static const struct doc_item *render_text_figure_of(const struct doc_item *row, const char *key)
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
    const struct doc_item *figure = render_text_figure_of(row, column->key);
    const struct doc_item *whole = column->of ? render_text_figure_of(row, column->of) : NULL;
    if (!figure || (column->of && !whole))
        return "-";
    if (figure->kind == DOC_STRING)
        return figure->text;
    if (whole)
        return doc_percent(buffer, figure->number, whole->number);
    if (column->form == DOC_BYTES)
        return figure->number == 0 ? "-" : doc_size(buffer, figure->number);
    return c2_group_digits(buffer, figure->number);
}

/* ------------------------------------------------------------------ the columns that fit */

/* Those of a table that are on the page, and how wide they are there. */
struct layout {
    const struct doc_item *table;
    size_t widths[MOST_COLUMNS];
    bool left_out[MOST_COLUMNS];
};

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

static bool render_text_is_name(const struct layout *of, size_t column)
{
    return of->table->columns[column].form == DOC_NAME;
}

static size_t needed(const struct layout *of, size_t least_name)
{
    size_t width = of->table->number, count = 0;
    for (size_t i = 0; i < of->table->column_count; i++) {
        if (of->left_out[i])
            continue;
        width += render_text_is_name(of, i) && of->widths[i] > least_name ? least_name : of->widths[i];
        width += count++ == 0 ? 0 : BETWEEN;
    }
    return width;
}

/* The most spare column, of equal ones the last; false: none is. */
static bool leave_out_spare(struct layout *of)
{
    const struct doc_column *columns = of->table->columns;
    size_t most = 0;
    for (size_t i = 0; i < of->table->column_count; i++)
        if (!of->left_out[i] && columns[i].spare != 0 && columns[i].spare >= columns[most].spare)
            most = i;
    return columns[most].spare != 0 && !of->left_out[most] && (of->left_out[most] = true);
}

/* Takes from the widest column of texts what is too much. */
static void narrow_texts(struct layout *of, size_t excess)
{
    size_t most = of->table->column_count;
    for (size_t i = 0; i < of->table->column_count; i++)
        if (of->table->columns[i].form == DOC_LEFT && !of->left_out[i] && of->widths[i] > DOC_SHORTEST &&
            (most == of->table->column_count || of->widths[i] > of->widths[most]))
            most = i;
    if (most != of->table->column_count)
        of->widths[most] = of->widths[most] > excess + DOC_SHORTEST ? of->widths[most] - excess : DOC_SHORTEST;
}

static bool leave_out_last(struct layout *of)
{
    for (size_t i = of->table->column_count; i-- > 1;)
        if (!of->left_out[i] && !render_text_is_name(of, i))
            return of->left_out[i] = true;
    return false;
}

static void render_text_lay_out(struct layout *out, const struct doc_item *table, size_t width)
{
    *out = (struct layout){.table = table};
    C2_ASSERT(table->column_count <= MOST_COLUMNS);
    for (size_t i = 0; i < table->column_count; i++)
        out->widths[i] = widest(table, &table->columns[i]);
    while (needed(out, DOC_LEAST_NAME) > width && leave_out_spare(out))
        ;
    if (needed(out, DOC_LEAST_NAME) > width)
        narrow_texts(out, needed(out, DOC_LEAST_NAME) - width);
    while (needed(out, DOC_SHORTEST) > width && leave_out_last(out))
        ;
    const size_t last = table->column_count - 1, whole = needed(out, SIZE_MAX);
    if (render_text_is_name(out, last) && whole > width)
        out->widths[last] -= whole - width;
}

/* ------------------------------------------------------------------ tables */

/* To the left, in the width of its column. */
static void render_text_put_text(struct page *page, const char *text, size_t width, bool last)
{
    char *shortened = strlen(text) > width ? c2_strdup(text) : NULL;
    page->failed |= strlen(text) > width && !shortened;
    fprintf(page->to, "%-*s", last ? 0 : (int)width, shortened ? doc_shorten(shortened, width) : text);
    c2_free(shortened);
}

static void put_bar(const struct page *page, const char *bar)
{
    static const char marks[] = ".=#tc"; /* cold, capacity, conflict, translations, coherence */
    static const char *const escapes[] = {"\033[34m", "\033[33m", "\033[31m", "\033[36m", "\033[35m"};
    while (*bar != '\0') {
        const char *mark = strchr(marks, *bar);
        const size_t length = strspn(bar, (const char[]){*bar, '\0'});
        put_styled(page, mark ? escapes[mark - marks] : NULL, bar, length);
        bar += length;
    }
}

static bool is_strong(const struct doc_item *row, const struct doc_column *column)
{
    const struct doc_item *figure = render_text_figure_of(row, column->key);
    const struct doc_item *whole = column->of ? render_text_figure_of(row, column->of) : NULL;
    return column->strong != 0 && figure && whole && whole->number != 0 &&
           (unsigned __int128)figure->number * 100 >= (unsigned __int128)whole->number * column->strong;
}

/* last: of its row, which ends with the text. */
static void put_cell(struct page *page, const struct doc_item *row, const struct doc_column *column, size_t width,
                     bool last)
{
    char buffer[CELL_BYTES];
    const char *text = row ? cell(buffer, row, column) : column->heading;
    const size_t length = strlen(text);
    if (column->form == DOC_LEFT || column->form == DOC_NAME) {
        render_text_put_text(page, text, width, last);
        return;
    }
    fprintf(page->to, "%*s", (int)(width - length), "");
    if (row && column->form == DOC_BAR)
        put_bar(page, text);
    else
        put_styled(page, row && is_strong(row, column) ? bold : NULL, text, length);
}

/* row: NULL for the headings. */
static void render_text_put_row(struct page *page, const struct layout *of, const struct doc_item *row)
{
    const bool heads = !row && page->is.coloured;
    size_t count = 0, last = of->table->column_count - 1;
    while (of->left_out[last])
        last--;
    fprintf(page->to, "%*s%s", (int)of->table->number, "", heads ? bold : "");
    for (size_t i = 0; i < of->table->column_count; i++) {
        if (of->left_out[i])
            continue;
        fprintf(page->to, "%*s", count++ == 0 ? 0 : BETWEEN, "");
        put_cell(page, row, &of->table->columns[i], of->widths[i], i == last);
    }
    fprintf(page->to, "%s\n", heads ? plain : "");
}

static bool render_text_has_rows(const struct doc_item *table)
{
    for (const struct doc_item *row = table->first; row; row = row->next) {
        if ((row->in & DOC_TEXT) != 0)
            return true;
    }
    return false;
}

static void put_table(struct page *page, const struct doc_item *table)
{
    struct layout layout;
    if (!render_text_has_rows(table))
        return;
    begin_item(page);
    render_text_lay_out(&layout, table, page->is.width);
    render_text_put_row(page, &layout, NULL);
    for (const struct doc_item *row = table->first; row; row = row->next) {
        if ((row->in & DOC_TEXT) != 0)
            render_text_put_row(page, &layout, row);
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
    struct page page = {.to = to, .is = d->page};
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
