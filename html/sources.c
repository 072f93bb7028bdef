/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sources: the lines of source files that a page shows.
 *
 * Model
 *   A line is wanted where the report names it - what cost something, what missed, what evicted, a finding, a loop -
 *   and NEAR lines around are. Files that are not the user's (headers of the system, of compilers, of languages'
 *   libraries) are not shown, as in annotations of the text's kind; nor are those that are not there.
 */
#include <stdlib.h>
#include <string.h>

#include "html/html_priv.h"
#include "loader/loader.h"
#include "report/report.h"

#define NEAR 8
#define FILES 64u          /* the first so many that the report names */
#define LINES 200000u      /* what is behind them is not looked at */
#define TEXT_BYTES 300000u /* of all of them: files behind that are left out */
#define LINE_BYTES 400u    /* what is behind them in a line is left out */

struct source {
    const char *file;
    uint8_t *wanted; /* [line], LINES + 1 */
};
struct sources {
    struct source list[FILES];
    size_t count;
    size_t bytes; /* that have been read */
    bool failed;
};

static struct source *sources_find(struct sources *sources, const char *file)
{
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->list[i].file, file) == 0)
            return &sources->list[i];
    if (sources->count == FILES || loader_is_system_file(file))
        return NULL;
    struct source *source = &sources->list[sources->count];
    *source = (struct source){file, c2_calloc(LINES + 1, 1)};
    sources->failed |= !source->wanted;
    sources->count += !!source->wanted;
    return source->wanted ? source : NULL;
}

static void want(struct sources *sources, const char *file, json_int_t line)
{
    if (!file || line <= 0 || line > (json_int_t)LINES)
        return;
    struct source *source = sources_find(sources, file);
    const json_int_t first = line > NEAR ? line - NEAR : 1;
    const json_int_t last = line + NEAR < (json_int_t)LINES ? line + NEAR : (json_int_t)LINES;
    if (source)
        memset(source->wanted + first, 1, (size_t)(last - first + 1));
}

/* Every place of the report: an object with a file and a line. */
static void want_all(struct sources *sources, const json_t *at)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_array(at)) {
        json_array_foreach(at, i, value) want_all(sources, value);
        return;
    }
    want(sources, json_string_value(json_object_get(at, "file")), json_integer_value(json_object_get(at, "line")));
    json_object_foreach((json_t *)at, key, value) want_all(sources, value);
}

/* What cost most comes first, so that its files are among the first. */
static void want_report(struct sources *sources, const json_t *report)
{
    static const char *const keys[] = {"findings", "lines", "conflicts", "objects", "coherence", "loops"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        want_all(sources, json_object_get(report, keys[i]));
    const json_t *findings = json_object_get(report, "findings"), *finding;
    size_t i;
    json_array_foreach(findings, i, finding)
    {
        const json_t *evidence = json_object_get(finding, "evidence");
        const char *file = json_string_value(json_object_get(json_object_get(finding, "where"), "file"));
        want(sources, file, json_integer_value(json_object_get(evidence, "loop_line")));
        want(sources, file, json_integer_value(json_object_get(evidence, "with_line")));
        want(sources, file, json_integer_value(json_object_get(evidence, "store_line")));
    }
}

/* ------------------------------------------------------------------ reading */

/* A byte that is no UTF-8 makes the text unfit for JSON: then all that is not ASCII becomes a question mark. */
static json_t *sources_line_of(char *text)
{
    text[strcspn(text, "\r\n")] = '\0';
    if (strlen(text) > LINE_BYTES)
        text[LINE_BYTES] = '\0';
    json_t *line = json_string(text);
    if (line)
        return line;
    for (char *c = text; *c != '\0'; c++)
        *c = (*c & 0x80) != 0 ? '?' : *c;
    return json_string(text);
}

static bool sources_add_lines(json_t *lines, const struct source *source, size_t *bytes, FILE *from)
{
    char *text = NULL;
    size_t room = 0;
    bool added = true;
    for (size_t number = 1; added && number <= LINES && getline(&text, &room, from) >= 0; number++) {
        if (!source->wanted[number])
            continue;
        json_t *pair = json_array();
        added = json_array_append_new(lines, pair) == 0 &&
                json_array_append_new(pair, json_integer((json_int_t)number)) == 0 &&
                json_array_append_new(pair, sources_line_of(text)) == 0;
        *bytes += json_string_length(json_array_get(pair, 1));
    }
    free(text);
    return added;
}

static bool sources_add_source(json_t *list, const struct source *source, const char *const *directories, size_t count,
                               size_t *bytes)
{
    char path[4096];
    FILE *from = report_open_source(source->file, directories, count, path, sizeof path);
    json_t *to, *lines;
    if (!from)
        return true;
    bool added = json_array_append_new(list, to = json_object()) == 0;
    added = added && json_object_set_new(to, "file", json_string(source->file)) == 0 &&
            json_object_set_new(to, "lines", lines = json_array()) == 0 &&
            sources_add_lines(lines, source, bytes, from);
    fclose(from);
    return added;
}

/* ------------------------------------------------------------------ where they are looked for */

#define OWN 2u /* directories that the report names */

/* Those of the request; where the run was made; and where its program lies, as paths in debug information may begin at
 * the directory of a build. */
struct places {
    const char **list; /* OWN more than the request has */
    size_t count;
    char *program;
};

static bool sources_find_places(struct places *places, const json_t *report, const struct html_request *request)
{
    const char *ran_in = json_string_value(json_object_get(json_object_get(report, "receipt"), "directory"));
    const char *program = json_string_value(json_array_get(json_object_get(report, "command"), 0));
    const char *slash = program ? strrchr(program, '/') : NULL;
    *places = (struct places){.list = c2_calloc(request->directory_count + OWN, sizeof *places->list)};
    if (!places->list)
        return false;
    for (size_t i = 0; i < request->directory_count; i++)
        places->list[places->count++] = request->directories[i];
    if (ran_in)
        places->list[places->count++] = ran_in;
    if (!slash)
        return true;
    const char *from = ran_in && program[0] != '/' ? ran_in : "", *join = *from ? "/" : "";
    places->program = c2_format("%s%s%.*s", from, join, (int)(slash - program), program);
    if (places->program)
        places->list[places->count++] = places->program;
    return places->program;
}

json_t *html_sources(const json_t *report, const struct html_request *request)
{
    struct sources sources = {.count = 0};
    struct places places;
    json_t *list = json_array();
    bool added = sources_find_places(&places, report, request) && list;
    want_report(&sources, report);
    added = added && !sources.failed;
    for (size_t i = 0; i < sources.count; i++) {
        if (sources.bytes < TEXT_BYTES)
            added = added && sources_add_source(list, &sources.list[i], places.list, places.count, &sources.bytes);
        c2_free(sources.list[i].wanted);
    }
    c2_free(places.list);
    c2_free(places.program);
    if (added)
        return list;
    json_decref(list);
    return NULL;
}
