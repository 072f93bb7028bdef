/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * html: the template with its places filled.
 */
#include <string.h>

#include "html/html_priv.h"

#define DIGITS 15    /* of a number that is no count, as in report.json */
#define CHANGES 4000 /* counters that differ: the first of them, where things differ most */

/* ------------------------------------------------------------------ what a page shows */

static enum c2_status read_json(json_t **out, const char *text, const char *name, struct c2_error *err)
{
    json_error_t why;
    *out = json_loads(text, 0, &why);
    return *out ? C2_OK : c2_fail(err, C2_ERR_FORMAT, "html: %s is no JSON: line %d: %s", name, why.line, why.text);
}

static enum c2_status check_report(const json_t *report, const char *name, struct c2_error *err)
{
    const char *format = json_string_value(json_object_get(report, "format"));
    if (!format || strncmp(format, "c2emu-", 6) != 0)
        return c2_fail(err, C2_ERR_FORMAT, "html: %s is no report of c2emu (--json writes one)", name);
    if (strcmp(format, "c2emu-report") != 0)
        return c2_fail(err, C2_ERR_FORMAT, "html: %s is of the format %s; a page shows the report of a run (--json)",
                       name, format);
    if (json_integer_value(json_object_get(report, "version")) != 1)
        return c2_fail(err, C2_ERR_FORMAT, "html: %s has another version than 1", name);
    if (!json_is_array(json_object_get(report, "levels")))
        return c2_fail(err, C2_ERR_FORMAT, "html: %s has no counts of caches: it was written with --no-sim", name);
    return C2_OK;
}

static bool is_story(const json_t *report)
{
    const char *format = json_string_value(json_object_get(report, "format"));
    return format && strcmp(format, "c2emu-explain") == 0;
}

static enum c2_status check_story(const json_t *story, const char *name, struct c2_error *err)
{
    const json_t *steps = json_object_get(story, "steps");
    if (json_integer_value(json_object_get(story, "version")) != 1)
        return c2_fail(err, C2_ERR_FORMAT, "html: %s has another version than 1", name);
    if (json_array_size(steps) == 0 || !json_is_object(json_object_get(story, "miss")) ||
        !json_is_array(json_object_get(story, "levels")))
        return c2_fail(err, C2_ERR_FORMAT, "html: %s has no miss and no steps", name);
    return C2_OK;
}

/* An explained miss (explain --json) is shown as it is. */
static enum c2_status add_story(json_t *data, json_t *story, const struct html_request *request, struct c2_error *err)
{
    if (request->other)
        return c2_fail(err, C2_ERR_FORMAT, "html: %s is of one miss, which is compared with nothing", request->name);
    enum c2_status status = check_story(story, request->name, err);
    return status == C2_OK && json_object_set(data, "story", story) != 0 ? c2_fail_memory(err, "the page") : status;
}

/* Under its key, with its sources. */
static enum c2_status add_report(json_t *data, const char *key, const char *sources_key, const char *text,
                                 const char *name, const struct html_request *request, struct c2_error *err)
{
    json_t *report;
    enum c2_status status = read_json(&report, text, name, err);
    if (status == C2_OK && is_story(report)) {
        status = add_story(data, report, request, err);
        json_decref(report);
        return status;
    }
    if (status == C2_OK)
        status = check_report(report, name, err);
    if (status == C2_OK && (json_object_set_new(data, sources_key, html_sources(report, request)) != 0 ||
                            !html_select(report) || json_object_set(data, key, report) != 0))
        status = c2_fail_memory(err, "the page");
    json_decref(report);
    return status;
}

static enum c2_status add_other(json_t *data, const struct html_request *request, struct c2_error *err)
{
    json_t *changes;
    enum c2_status status = add_report(data, "other", "other_sources", request->other, request->other_name, request,
                                       err);
    if (status == C2_OK)
        status = read_json(&changes, request->changes, "what differs", err);
    if (status != C2_OK)
        return status;
    html_cut(json_object_get(changes, "changes"), CHANGES);
    if (json_object_set_new(data, "differ", changes) != 0 ||
        json_object_set_new(data, "name", json_string(request->name)) != 0 ||
        json_object_set_new(data, "other_name", json_string(request->other_name)) != 0)
        status = c2_fail_memory(err, "the page");
    return status;
}

static enum c2_status make_data(json_t **out, const struct html_request *request, struct c2_error *err)
{
    json_t *data = *out = json_object();
    if (!data)
        return c2_fail_memory(err, "the page");
    enum c2_status status = add_report(data, "report", "sources", request->report, request->name, request, err);
    return status == C2_OK && request->other ? add_other(data, request, err) : status;
}

/* ------------------------------------------------------------------ writing */

/* In a text of JSON these may be written so; then nothing in it is a tag or the start of a comment. */
static int put_escaped(const char *text, size_t bytes, void *self)
{
    FILE *to = self;
    for (size_t i = 0; i < bytes; i++) {
        if (strchr("<>&", text[i]) && text[i] != '\0')
            fprintf(to, "\\u%04x", (unsigned)text[i]);
        else
            fputc(text[i], to);
    }
    return ferror(to) ? -1 : 0;
}

/* Text between tags. */
static void html_put_text(FILE *to, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '<' || text[i] == '&')
            fputs(text[i] == '<' ? "&lt;" : "&amp;", to);
        else
            fputc(text[i], to);
    }
}

static const struct place {
    const char *word, *start, *end;
} places[] = {
#define X(name) {#name, html_##name##_start, html_##name##_end},
    HTML_ASSETS(X)
#undef X
        {"data", NULL, NULL},
};

static const struct place *html_find_place(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strlen(places[i].word) == length && strncmp(places[i].word, word, length) == 0)
            return &places[i];
    return NULL;
}

static bool fill_place(FILE *to, const struct place *place, const json_t *data)
{
    C2_ASSERT(place);
    if (!place->start)
        return json_dump_callback(data, put_escaped, to, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) == 0;
    if (strcmp(place->word, "licence") == 0)
        html_put_text(to, place->start, (size_t)(place->end - place->start));
    else
        fwrite(place->start, 1, (size_t)(place->end - place->start), to);
    return true;
}

/* The scripts are those of what is shown. */
static const struct place *html_place_of(const char *word, size_t length, const json_t *data)
{
    const struct place *place = html_find_place(word, length);
    const bool story = place && strcmp(place->word, "scripts") == 0 && json_object_get(data, "story");
    return story ? html_find_place("story", strlen("story")) : place;
}

static enum c2_status html_fill_page(FILE *to, const json_t *data, struct c2_error *err)
{
    const char *at = html_page_start, *open;
    bool whole = true;
    while ((open = strstr(at, "{{"))) { /* a NUL is behind each asset */
        const char *word = open + 2, *close = strstr(word, "}}");
        C2_ASSERT(close);
        fwrite(at, 1, (size_t)(open - at), to);
        whole &= fill_place(to, html_place_of(word, (size_t)(close - word), data), data);
        at = close + 2;
    }
    fwrite(at, 1, (size_t)(html_page_end - at), to);
    if (ferror(to))
        return c2_fail(err, C2_ERR_IO, "cannot write the page");
    return whole ? C2_OK : c2_fail_memory(err, "the page");
}

enum c2_status html_write(FILE *to, const struct html_request *request, struct c2_error *err)
{
    json_t *data;
    json_set_alloc_funcs(c2_alloc, c2_free);
    enum c2_status status = make_data(&data, request, err);
    if (status == C2_OK)
        status = html_fill_page(to, data, err);
    json_decref(data);
    return status;
}
