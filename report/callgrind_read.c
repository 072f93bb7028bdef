/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * callgrind_read: a file of the callgrind format, version 1, as Valgrind's manual specifies it.
 *
 * Model
 *   Self costs only: a cost line behind calls=, jump= or jcnd= moves the position and is not counted. Names may be
 *   compressed; files, objects and functions number theirs apart. Positions may be relative to the last cost line.
 *   fl=, fi= and fe= alike say where the next costs come from.
 *
 * Invariants
 *   What the file says its totals are is what was read: a cut or altered file is refused.
 *
 * Not modelled
 *   Derived events (event: ... =), positions by basic block, parts with other events than the first.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/callgrind_priv.h"

enum name_space { OBJECTS, FILES, FUNCTIONS, NAME_SPACES };

struct parser {
    struct report_callgrind *file;
    const char *path;
    uint64_t line_number;
    struct c2_map *names; /* id * NAME_SPACES + space -> text */
    const char *current[NAME_SPACES];
    uint64_t address, line; /* of the last cost line */
    bool association;       /* the next cost line belongs to a call or jump */
    uint64_t *claimed;      /* what the file says its totals are; NULL: nothing */
    bool totals_seen;
    struct c2_error *err;
};

/* ------------------------------------------------------------------ errors and memory */

static enum c2_status callgrind_read_fail_line(const struct parser *p, const char *what)
{
    return c2_fail(p->err, C2_ERR_FORMAT,
                   "annotate: %s, line %llu: %s; this is no whole callgrind file (--callgrind "
                   "writes one)",
                   p->path, (unsigned long long)p->line_number, what);
}

static enum c2_status callgrind_read_fail_memory(const struct parser *p)
{
    return c2_fail_memory(p->err, "a callgrind file");
}

/* ------------------------------------------------------------------ numbers */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Decimal, or hexadecimal behind 0x; moves *at behind it and the blanks. */
static bool callgrind_read_take_number(uint64_t *out, const char **at)
{
    const bool hex = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *out = strtoull(*at, &end, hex ? 16 : 10);
    if (errno != 0 || end == *at || (*end != '\0' && *end != ' ' && *end != '\t'))
        return false;
    *at = skip_blanks(end);
    return true;
}

static bool take_position(uint64_t *position, const char **at)
{
    const char sign = **at;
    uint64_t number;
    if (sign == '*' && ((*at)[1] == '\0' || isblank((unsigned char)(*at)[1]))) {
        *at = skip_blanks(*at + 1);
        return true;
    }
    *at += sign == '+' || sign == '-';
    if (!callgrind_read_take_number(&number, at))
        return false;
    *position = sign == '+' ? *position + number : sign == '-' ? *position - number : number;
    return true;
}

/* ------------------------------------------------------------------ body lines */

static enum c2_status take_cost(struct parser *p, const char *at)
{
    struct report_callgrind *file = p->file;
    if (file->event_count == 0)
        return callgrind_read_fail_line(p, "costs before a line \"events:\"");
    if ((file->has_addresses && !take_position(&p->address, &at)) || (file->has_lines && !take_position(&p->line, &at)))
        return callgrind_read_fail_line(p, "a position is no number");
    const bool counted = !p->association;
    p->association = false;
    if (!counted || *at == '\0')
        return C2_OK;
    uint64_t *values = c2_pool_get(&file->pool, file->event_count * sizeof *values);
    if (!values || !c2_grow((void **)&file->costs, &file->cost_room, file->cost_count, sizeof *file->costs))
        return callgrind_read_fail_memory(p);
    file->costs[file->cost_count++] = (struct report_cost){
        p->current[OBJECTS],           p->current[FILES],
        p->current[FUNCTIONS],         file->has_addresses ? p->address : 0,
        file->has_lines ? p->line : 0, values};
    for (size_t i = 0; i < file->event_count; i++) {
        if (*at != '\0' && !callgrind_read_take_number(&values[i], &at))
            return callgrind_read_fail_line(p, "a cost is no number");
        file->totals[i] += values[i];
    }
    return *at == '\0' ? C2_OK : callgrind_read_fail_line(p, "more costs than events");
}

/* "(5) name" defines, "(5)" refers, anything else is the name. */
static enum c2_status take_name(struct parser *p, enum name_space space, const char *text, bool current)
{
    uint64_t id, found;
    char *end;
    const char *name = NULL;
    text = skip_blanks(text);
    if (text[0] == '(' && isdigit((unsigned char)text[1])) {
        id = strtoull(text + 1, &end, 10) * NAME_SPACES + space;
        if (*end != ')')
            return callgrind_read_fail_line(p, "a name's number has no end");
        text = skip_blanks(end + 1);
        if (*text == '\0') {
            if (!c2_map_get(p->names, id, &found))
                return callgrind_read_fail_line(p, "a name's number that was not given before");
            name = (const char *)(uintptr_t)found;
        } else {
            name = c2_pool_format(&p->file->pool, "%s", text);
            if (!name || c2_map_put(p->names, id, (uintptr_t)name, NULL) != C2_OK)
                return callgrind_read_fail_memory(p);
        }
    } else {
        name = c2_pool_format(&p->file->pool, "%s", text);
    }
    if (!name)
        return callgrind_read_fail_memory(p);
    if (current)
        p->current[space] = name;
    return C2_OK;
}

/* key=value; equals: where the = stands. */
static enum c2_status take_specification(struct parser *p, const char *line, const char *equals)
{
    static const struct {
        const char *key;
        enum name_space space;
        bool current;
    } keys[] = {{"ob", OBJECTS, true},     {"fl", FILES, true},     {"fi", FILES, true},      {"fe", FILES, true},
                {"fn", FUNCTIONS, true},   {"cob", OBJECTS, false}, {"cfi", FILES, false},    {"cfl", FILES, false},
                {"cfn", FUNCTIONS, false}, {"jfi", FILES, false},   {"jfn", FUNCTIONS, false}};
    static const char *const associations[] = {"calls", "jump", "jcnd"};
    const size_t length = (size_t)(equals - line);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i].key) == length && strncmp(keys[i].key, line, length) == 0)
            return take_name(p, keys[i].space, equals + 1, keys[i].current);
    }
    for (size_t i = 0; i < sizeof associations / sizeof associations[0]; i++) {
        if (strlen(associations[i]) == length && strncmp(associations[i], line, length) == 0) {
            p->association = true;
            return C2_OK;
        }
    }
    return callgrind_read_fail_line(p, "unknown kind of line");
}

/* ------------------------------------------------------------------ header lines */

static enum c2_status take_events(struct parser *p, char *text)
{
    struct report_callgrind *file = p->file;
    const bool first = file->event_count == 0;
    size_t count = 0;
    if (first) {
        file->events = c2_pool_get(&file->pool, (strlen(text) / 2 + 1) * sizeof *file->events);
        file->totals = c2_pool_get(&file->pool, (strlen(text) / 2 + 1) * sizeof *file->totals);
        if (!file->events || !file->totals)
            return callgrind_read_fail_memory(p);
    }
    for (char *word = strtok(text, " \t"); word; word = strtok(NULL, " \t"), count++) {
        if (first) {
            file->events[file->event_count] = c2_pool_format(&file->pool, "%s", word);
            if (!file->events[file->event_count++])
                return callgrind_read_fail_memory(p);
        } else if (count >= file->event_count || strcmp(word, file->events[count]) != 0) {
            return callgrind_read_fail_line(p, "a part with other events");
        }
    }
    return count == file->event_count && count > 0 ? C2_OK
                                                   : callgrind_read_fail_line(p, "no events, or fewer than before");
}

static enum c2_status take_positions(struct parser *p, char *text)
{
    p->file->has_addresses = p->file->has_lines = false;
    for (char *word = strtok(text, " \t"); word; word = strtok(NULL, " \t")) {
        if (strcmp(word, "instr") == 0 && !p->file->has_lines)
            p->file->has_addresses = true;
        else if (strcmp(word, "line") == 0)
            p->file->has_lines = true;
        else
            return callgrind_read_fail_line(p, "positions are neither \"instr\" nor \"line\"");
    }
    return C2_OK;
}

/* What is left out is 0; there is one of each part. The summary at the beginning stands in for totals at the end that
 * are not there: then the file was cut. */
static enum c2_status take_totals(struct parser *p, const char *text, bool at_end)
{
    struct report_callgrind *file = p->file;
    if (file->event_count == 0 || (!at_end && p->totals_seen))
        return C2_OK;
    if (!p->claimed && !(p->claimed = c2_pool_get(&file->pool, file->event_count * sizeof *p->claimed)))
        return callgrind_read_fail_memory(p);
    if (at_end && !p->totals_seen)
        memset(p->claimed, 0, file->event_count * sizeof *p->claimed);
    p->totals_seen |= at_end;
    const char *at = skip_blanks(text);
    for (size_t i = 0; i < file->event_count && *at != '\0'; i++) {
        uint64_t value;
        if (!callgrind_read_take_number(&value, &at))
            return callgrind_read_fail_line(p, "a total is no number");
        p->claimed[i] += value;
    }
    return C2_OK;
}

/* Of all descriptions only loops are of use: "Loop: line 189, entered 1, rounds 256, depth 2, file PATH". */
static enum c2_status take_description(struct parser *p, const char *text)
{
    struct report_callgrind *file = p->file;
    unsigned long long line, entered, rounds, depth;
    int length = 0;
    text += strspn(text, " \t");
    if (sscanf(text, "Loop: line %llu, entered %llu, rounds %llu, depth %llu, file %n", &line, &entered, &rounds,
               &depth, &length) != 4 ||
        length == 0)
        return C2_OK;
    const char *path = c2_pool_format(&file->pool, "%s", text + length);
    if (!path || !c2_grow((void **)&file->loops, &file->loop_room, file->loop_count, sizeof *file->loops))
        return callgrind_read_fail_memory(p);
    file->loops[file->loop_count++] = (struct report_described_loop){path, line, entered, rounds, depth};
    return C2_OK;
}

/* "NAME = FORMULA : long name"; without a formula there is nothing to know. */
static enum c2_status callgrind_read_take_event(struct parser *p, char *text)
{
    char *formula = strchr(text, '=');
    if (!formula || p->file->formula)
        return C2_OK;
    formula[strcspn(formula, ":")] = '\0';
    p->file->formula = c2_pool_format(&p->file->pool, "%s", formula + 1);
    return p->file->formula ? C2_OK : callgrind_read_fail_memory(p);
}

static enum c2_status take_header(struct parser *p, const char *line, char *colon)
{
    const size_t length = (size_t)(colon - line);
    char *value = colon + 1 + strspn(colon + 1, " \t");
    if (length == 6 && strncmp(line, "events", 6) == 0)
        return take_events(p, value);
    if (length == 5 && strncmp(line, "event", 5) == 0)
        return callgrind_read_take_event(p, value);
    if (length == 9 && strncmp(line, "positions", 9) == 0)
        return take_positions(p, value);
    if (length == 6 && strncmp(line, "totals", 6) == 0)
        return take_totals(p, value, true);
    if (length == 7 && strncmp(line, "summary", 7) == 0)
        return take_totals(p, value, false);
    if (length == 7 && strncmp(line, "version", 7) == 0 && strcmp(value, "1") != 0)
        return callgrind_read_fail_line(p, "another version than 1");
    if (length == 4 && strncmp(line, "desc", 4) == 0)
        return take_description(p, value);
    if (length == 3 && strncmp(line, "cmd", 3) == 0 && !p->file->command) {
        p->file->command = c2_pool_format(&p->file->pool, "%s", value);
        return p->file->command ? C2_OK : callgrind_read_fail_memory(p);
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ the file */

static enum c2_status callgrind_read_take_line(struct parser *p, char *line)
{
    if (line[0] == '\0' || line[0] == '#')
        return C2_OK;
    if (isdigit((unsigned char)line[0]) || line[0] == '+' || line[0] == '-' || line[0] == '*')
        return take_cost(p, line);
    size_t length = 0;
    while (islower((unsigned char)line[length]))
        length++;
    if (length > 0 && line[length] == ':')
        return take_header(p, line, line + length);
    return length > 0 && line[length] == '=' ? take_specification(p, line, line + length)
                                             : callgrind_read_fail_line(p, "unknown kind of line");
}

static enum c2_status check_whole(struct parser *p)
{
    const struct report_callgrind *file = p->file;
    if (file->event_count == 0)
        return callgrind_read_fail_line(p, "the end, and no line \"events:\" before it");
    if (file->cost_count == 0)
        return callgrind_read_fail_line(p, "the end, and no costs before it");
    for (size_t i = 0; i < file->event_count && p->claimed; i++) {
        if (file->totals[i] != p->claimed[i])
            return c2_fail(p->err, C2_ERR_FORMAT,
                           "annotate: %s is cut or altered: its lines have %llu %s, its totals "
                           "say %llu",
                           p->path, (unsigned long long)file->totals[i], file->events[i],
                           (unsigned long long)p->claimed[i]);
    }
    return C2_OK;
}

static enum c2_status take_all(struct parser *p, FILE *from)
{
    char *line = NULL; /* getline()'s memory comes from malloc */
    size_t room = 0;
    ssize_t length;
    enum c2_status status = C2_OK;
    while (status == C2_OK && (length = getline(&line, &room, from)) >= 0) {
        p->line_number++;
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        status = strlen(line) == (size_t)length ? callgrind_read_take_line(p, line)
                                                : callgrind_read_fail_line(p, "a byte 0");
    }
    free(line);
    if (status == C2_OK && ferror(from))
        return c2_fail(p->err, C2_ERR_IO, "annotate: %s cannot be read: %m", p->path);
    return status == C2_OK ? check_whole(p) : status;
}

enum c2_status report_callgrind_read(struct report_callgrind *out, const char *path, struct c2_error *err)
{
    *out = (struct report_callgrind){.has_lines = true};
    struct parser parser = {.file = out, .path = path, .current = {"???", "???", "???"}, .err = err};
    FILE *from = fopen(path, "re");
    if (!from)
        return c2_fail(err, C2_ERR_NOT_FOUND, "annotate: %s cannot be opened: %m", path);
    enum c2_status status = c2_map_create(&parser.names, err);
    if (status == C2_OK)
        status = take_all(&parser, from);
    c2_map_destroy(parser.names);
    fclose(from);
    return status;
}

void report_callgrind_release(struct report_callgrind *file)
{
    c2_free(file->costs);
    c2_free(file->loops);
    c2_pool_release(&file->pool);
    *file = (struct report_callgrind){0};
}
