/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * document: the tree of a report's items, as it is built.
 */
#include <string.h>

#include "document/document.h"

/* ------------------------------------------------------------------ what the document keeps */

static const char *document_keep(struct document *d, const char *format, va_list values)
{
    const char *text = c2_pool_format_list(&d->pool, format, values);
    d->failed |= !text;
    return text ? text : "";
}

const char *doc_keep(struct document *d, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const char *text = document_keep(d, format, values);
    va_end(values);
    return text;
}

const char *doc_digits(struct document *d, uint64_t n)
{
    char text[32];
    return doc_keep(d, "%s", c2_group_digits(text, n));
}

const char *doc_share(struct document *d, uint64_t part, uint64_t whole)
{
    char text[32];
    return doc_keep(d, "%s", doc_percent(text, part, whole));
}

void doc_begin(struct document *d, unsigned wanted)
{
    *d = (struct document){.root = {.kind = DOC_SECTION, .in = wanted}, .page = {.width = DOC_WIDTH}};
    d->at = &d->root;
}

void doc_release(struct document *d) { c2_pool_release(&d->pool); }

/* ------------------------------------------------------------------ items */

/* NULL: no memory. */
static struct doc_item *document_add(struct document *d, enum doc_kind kind, enum doc_in in, const char *key)
{
    struct doc_item *item = c2_pool_get(&d->pool, sizeof *item), *parent = d->at;
    d->failed |= !item;
    if (!item)
        return NULL;
    *item = (struct doc_item){.kind = kind, .in = in & parent->in, .key = key, .parent = parent};
    *(parent->last ? &parent->last->next : &parent->first) = item;
    return parent->last = item;
}

/* Nothing is kept of what is not wanted. */
static struct doc_item *add_leaf(struct document *d, enum doc_kind kind, enum doc_in in, const char *key)
{
    return (in & d->at->in) != 0 ? document_add(d, kind, in, key) : NULL;
}

static bool open_item(struct document *d, enum doc_kind kind, enum doc_in in, const char *key)
{
    struct doc_item *item = d->failed ? NULL : document_add(d, kind, in, key);
    d->at = item ? item : d->at;
    return item && item->in != 0;
}

bool doc_section(struct document *d, enum doc_in in, unsigned place)
{
    d->at = &d->root;
    const bool seen = open_item(d, DOC_SECTION, in, NULL);
    d->at->number = place;
    return seen;
}

bool doc_group(struct document *d, enum doc_in in, const char *key) { return open_item(d, DOC_GROUP, in, key); }

bool doc_table(struct document *d, enum doc_in in, const char *key) { return open_item(d, DOC_TABLE, in, key); }

/* Once an item could not be opened, where things go no longer matters. */
void doc_close(struct document *d)
{
    C2_ASSERT(d->failed || d->at->kind != DOC_SECTION);
    d->at = d->failed ? d->at : d->at->parent;
}

void doc_columns(struct document *d, const struct doc_column *columns, size_t count, unsigned indent)
{
    struct doc_column *mine = c2_pool_get(&d->pool, count * sizeof *mine);
    d->failed |= !mine;
    if (!mine)
        return;
    memcpy(mine, columns, count * sizeof *mine);
    d->at->columns = mine;
    d->at->column_count = count;
    d->at->number = indent;
}

void doc_count(struct document *d, enum doc_in in, const char *key, uint64_t value)
{
    struct doc_item *item = add_leaf(d, DOC_COUNT, in, key);
    if (item)
        item->number = value;
}

void doc_decimal(struct document *d, enum doc_in in, const char *key, double value)
{
    struct doc_item *item = add_leaf(d, DOC_DECIMAL, in, key);
    if (item)
        item->decimal = value;
}

void doc_flag(struct document *d, enum doc_in in, const char *key, bool value)
{
    struct doc_item *item = add_leaf(d, DOC_FLAG, in, key);
    if (item)
        item->number = value;
}

void doc_string(struct document *d, enum doc_in in, const char *key, const char *value)
{
    if (value)
        doc_words(d, in, key, "%s", value);
}

void doc_words(struct document *d, enum doc_in in, const char *key, const char *format, ...)
{
    struct doc_item *item = add_leaf(d, DOC_STRING, in, key);
    va_list values;
    va_start(values, format);
    if (item)
        item->text = document_keep(d, format, values);
    va_end(values);
}

/* ------------------------------------------------------------------ notes */

static void document_say(struct document *d, const char *format, va_list values)
{
    if (d->note)
        d->note->text = doc_keep(d, "%s%s", d->note->text, document_keep(d, format, values));
}

void doc_note(struct document *d, enum doc_shape shape, const char *label, const char *format, ...)
{
    va_list values;
    d->note = add_leaf(d, DOC_NOTE, DOC_TEXT, label);
    if (!d->note)
        return;
    d->note->number = shape;
    d->note->text = "";
    va_start(values, format);
    document_say(d, format, values);
    va_end(values);
}

void doc_say(struct document *d, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    document_say(d, format, values);
    va_end(values);
}
