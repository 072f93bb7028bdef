/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * render_json: a document as JSON, in the order of its items. Decimals are rounded half up to six places. Of a text,
 * each byte that is no UTF-8 becomes U+FFFD. The slim form has the elements of a list a line each.
 */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "document/document.h"

#define DIGITS 15 /* of a number that is no count: all that a double surely has */

/* Length of the well-formed UTF-8 sequence at text, 0 if there is none (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *text)
{
    const unsigned char c = text[0];
    if (c < 0x80)
        return 1;
    const size_t length = c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte: no overlong forms, no surrogates, below 0x110000 */
    low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : low;
    high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : high;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80, high = 0xbf;
    }
    return length;
}

static json_t *render_json_string_of(const char *from)
{
    char *clean = c2_alloc(3 * strlen(from) + 1);
    if (!clean)
        return NULL;
    char *to = clean;
    while (*from != '\0') {
        size_t length = utf8_length((const unsigned char *)from);
        if (length == 0) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            from++;
        }
        for (; length > 0; length--)
            *to++ = *from++;
    }
    *to = '\0';
    json_t *value = json_string(clean);
    c2_free(clean);
    return value;
}

/* json_object_set_new and json_array_append_new free the value they could not add, and refuse a NULL one. */
static bool add_members(json_t *object, const struct doc_item *in, enum doc_in form);

static bool add_elements(json_t *array, const struct doc_item *table, enum doc_in form);

static json_t *render_json_value_of(const struct doc_item *item, enum doc_in form)
{
    json_t *value;
    switch (item->kind) {
    case DOC_COUNT:
        return json_integer((json_int_t)item->number);
    case DOC_DECIMAL:
        return json_real(floor(item->decimal * 1e6 + 0.5) / 1e6);
    case DOC_FLAG:
        return json_boolean(item->number != 0);
    case DOC_STRING:
        return render_json_string_of(item->text);
    default:
        value = item->kind == DOC_TABLE ? json_array() : json_object();
        if (item->kind == DOC_TABLE ? add_elements(value, item, form) : add_members(value, item, form))
            return value;
        json_decref(value);
        return NULL;
    }
}

static bool add_elements(json_t *array, const struct doc_item *table, enum doc_in form)
{
    bool added = true;
    for (const struct doc_item *item = table->first; item && added; item = item->next)
        added = (item->in & form) == 0 || json_array_append_new(array, render_json_value_of(item, form)) == 0;
    return added;
}

static bool add_members(json_t *object, const struct doc_item *in, enum doc_in form)
{
    bool added = true;
    for (const struct doc_item *item = in->first; item && added; item = item->next) {
        if (item->kind == DOC_SECTION)
            added = add_members(object, item, form);
        else if ((item->in & form) != 0)
            added = json_object_set_new(object, item->key, render_json_value_of(item, form)) == 0;
    }
    return added;
}

/* ------------------------------------------------------------------ the slim form on lines */

static bool render_json_write_plain(FILE *to, const json_t *value)
{
    return json_dumpf(value, to, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) == 0;
}

static bool write_elements(FILE *to, const json_t *array, int indent)
{
    size_t index;
    json_t *element;
    bool written = true;
    json_array_foreach(array, index, element)
    {
        fprintf(to, "%s\n%*s", index == 0 ? "[" : ",", indent + 2, "");
        written = written && render_json_write_plain(to, element);
    }
    fprintf(to, "\n%*s]", indent, "");
    return written;
}

/* Members of objects stand a line each as well, if they are in no list. */
static bool render_json_write_lines(FILE *to, json_t *value, int indent)
{
    const char *key, *before = "{";
    json_t *member;
    bool written = true;
    if (json_array_size(value) != 0)
        return write_elements(to, value, indent);
    if (json_object_size(value) == 0)
        return render_json_write_plain(to, value);
    json_object_foreach(value, key, member)
    {
        fprintf(to, "%s\n%*s\"%s\": ", before, indent + 2, "", key);
        written = written && render_json_write_lines(to, member, indent + 2);
        before = ",";
    }
    fprintf(to, "\n%*s}", indent, "");
    return written;
}

enum c2_status doc_render_json(FILE *to, const struct document *d, enum doc_in form, const char *what,
                               struct c2_error *err)
{
    json_set_alloc_funcs(c2_alloc, c2_free);
    json_t *root = d->failed ? NULL : render_json_value_of(&d->root, form);
    bool written = root;
    if (form == DOC_SLIM)
        written = written && render_json_write_lines(to, root, 0);
    else
        written = written && json_dumpf(root, to, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) == 0;
    written = written && fputc('\n', to) != EOF;
    json_decref(root);
    if (written && !ferror(to))
        return C2_OK;
    return ferror(to) ? c2_fail(err, C2_ERR_IO, "cannot write %s", what) : c2_fail_memory(err, what);
}
