/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the source assigns the result of a call to.
 *
 * Model
 *   The statements that a line has a part of: from behind the last `;`, `{` or `}` before the line, at most LINES lines
 *   up, to the first `;` that ends it or comes behind. Comments, strings and backslashes are blanked first.
 *   In it:
 *       NAME = CASTS CALLEE (       NAME: identifiers, joined by `.`, `->` and `[...]`, stars in front, unless a
 *       declaration's;
 *       NAME = CASTS new            CASTS: any number of `(...)`, `NAME<...>(`;
 *       CALLEE ( CASTS & NAME ,     for callees that store the address (posix_memalign)
 *   Only if there is one such place, and one call of a callee.
 *   Of Fortran, whose allocations are no calls, the line
 *       allocate(NAME(...))         with no other name.
 * Invariants
 *   What does not have this form gives no name.
 * Not modelled
 *   Macros: their text is elsewhere. A source that has been changed since it was compiled says what it says now.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/root.h"
#include "loader/symbols_priv.h"

#define LINES 4 /* of a statement, up and down */
#define TEXT_BYTES 4096

/* ------------------------------------------------------------------ the statement */

/* The lines around this one; its own is [*at, *end). False: there is none. */
static bool assigned_read_lines(const char *file, int line, char *text, size_t bytes, size_t *at, size_t *end)
{
    char one[1024];
    size_t used = 0;
    bool there = false;
    char host[PATH_MAX];
    FILE *from = c2_root_find(file, host) == 0 ? fopen(host, "re") : NULL;
    if (!from)
        return false;
    for (int i = 1; i <= line + LINES && fgets(one, sizeof one, from); i++) {
        const size_t length = strcspn(one, "\r\n");
        if (i < line - LINES || used + length + 2 > bytes)
            continue;
        if (i == line)
            *at = used;
        there |= i == line;
        memcpy(text + used, one, length);
        used += length;
        if (i == line)
            *end = used;
        text[used++] = '\n';
    }
    fclose(from);
    text[used] = '\0';
    return there;
}

/* Behind the string or character that begins here. */
static char *skip_quoted(char *text)
{
    const char quote = *text++;
    while (*text && *text != quote && *text != '\n')
        text += *text == '\\' && text[1] ? 2 : 1;
    return *text == quote ? text + 1 : text;
}

static char *skip_comment(char *text)
{
    char *end = text[1] == '/' ? strchr(text, '\n') : strstr(text + 2, "*/");
    return !end ? text + strlen(text) : text[1] == '/' ? end : end + 2;
}

/* Comments and what stands in quotes become blanks. */
static void assigned_blank(char *text)
{
    while (*text) {
        const bool comment = *text == '/' && (text[1] == '/' || text[1] == '*');
        char *end = comment ? skip_comment(text) : *text == '"' || *text == '\'' ? skip_quoted(text) : text + 1;
        if (end != text + 1 || comment)
            memset(text, ' ', (size_t)(end - text));
        else if (isspace((unsigned char)*text) || *text == '\\')
            *text = ' ';
        text = end;
    }
}

/* The statements that the line [at, end) has a part of; the text is cut behind them. */
static char *statements(char *text, size_t at, size_t end)
{
    char *start = text + at, *behind = text + end;
    while (start > text && !strchr(";{}", start[-1]))
        start--;
    while (behind > text + at && strchr(" {}", behind[-1]))
        behind--;
    if (behind == text + at || behind[-1] != ';')
        behind = text + end + strcspn(text + end, ";");
    *behind = '\0';
    return start;
}

/* ------------------------------------------------------------------ what it says */

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }
static const char *assigned_skip_space(const char *at) { return at + strspn(at, " "); }
static const char *back_space(const char *start, const char *at)
{
    while (at > start && at[-1] == ' ')
        at--;
    return at;
}

/* Before the bracket that ends at `at` and what belongs to it; NULL: none opens it. */
static const char *back_bracket(const char *start, const char *at)
{
    const char close = at[-1], open = close == ')' ? '(' : close == ']' ? '[' : '<';
    unsigned depth = 0;
    while (at-- > start) {
        depth += *at == close;
        depth -= *at == open;
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* Before casts that end at `at`. */
static const char *back_casts(const char *start, const char *at)
{
    for (;;) {
        at = back_space(start, at);
        const char *cast = NULL;
        if (at > start && at[-1] == ')') {
            cast = back_bracket(start, at);
        } else if (at > start + 1 && at[-1] == '(' && at[-2] == '>' && (cast = back_bracket(start, at - 1))) {
            while (cast > start && in_word(cast[-1]))
                cast--;
        }
        if (!cast)
            return at;
        at = cast;
    }
}

/* The start of the expression that ends at `at`. */
static const char *back_name(const char *start, const char *at)
{
    const char *name = at;
    for (;;) {
        if (name > start && name[-1] == ']')
            name = back_bracket(start, name);
        else if (name > start && in_word(name[-1]))
            while (name > start && in_word(name[-1]))
                name--;
        else
            return NULL;
        if (!name)
            return NULL;
        if (*name == '[')
            continue;
        if (name > start && name[-1] == '.')
            name--;
        else if (name > start + 1 && name[-1] == '>' && name[-2] == '-')
            name -= 2;
        else
            return name;
    }
}

struct text_range {
    const char *start, *end;
};

/* `NAME =` before `at`; without it nothing. */
static struct text_range assigned_before(const char *start, const char *at)
{
    const char *equals = back_casts(start, at);
    if (equals == start || equals[-1] != '=' || equals - 1 == start || strchr("=!<>+-*/%&|^", equals[-2]))
        return (struct text_range){NULL, NULL};
    const char *end = back_space(start, equals - 1), *name = back_name(start, end);
    const char *stars = name;
    while (stars && stars > start && (stars[-1] == '*' || stars[-1] == ' '))
        stars--;
    if (stars && (stars == start || (!in_word(stars[-1]) && stars[-1] != '>')))
        name = assigned_skip_space(stars); /* no type stands before them: it is what the pointer points to */
    return (struct text_range){name && !isdigit((unsigned char)*name) ? name : NULL, end};
}

/* `& NAME ,` behind the bracket at `at`. */
static struct text_range stored_behind(const char *at)
{
    at = assigned_skip_space(at + 1);
    while (*at == '(') {
        at += strcspn(at, ")");
        at = assigned_skip_space(*at ? at + 1 : at);
    }
    if (*at != '&')
        return (struct text_range){NULL, NULL};
    const char *name = assigned_skip_space(at + 1), *end = name;
    while (in_word(*end) || *end == '.' || (*end == '-' && end[1] == '>') || (*end == '>' && end[-1] == '-'))
        end++;
    return *assigned_skip_space(end) == ',' && end > name ? (struct text_range){name, end}
                                                          : (struct text_range){NULL, NULL};
}

static bool is_callee(const char *at, size_t length, const struct loader_callees *callees)
{
    for (size_t i = 0; i < callees->count; i++)
        if (strlen(callees->names[i]) == length && strncmp(at, callees->names[i], length) == 0)
            return true;
    return false;
}

/* What the call at this word goes to. */
static struct text_range assigned_receiver(const char *start, const char *word, size_t length)
{
    const char *behind = assigned_skip_space(word + length);
    if (length == 14 && strncmp(word, "posix_memalign", length) == 0)
        return stored_behind(behind);
    return assigned_before(start, word);
}

static struct text_range assigned_find(const char *start, const struct loader_callees *callees)
{
    struct text_range found = {NULL, NULL};
    unsigned calls = 0;
    for (const char *at = start; *at;) {
        size_t length = 0;
        while (in_word(at[length]))
            length++;
        const bool made = length != 0 && is_callee(at, length, callees) &&
                          (*assigned_skip_space(at + length) == '(' || strncmp(at, "new", length) == 0);
        if (made && calls++ == 0)
            found = assigned_receiver(start, at, length);
        at += length != 0 ? length : 1;
    }
    return calls == 1 ? found : (struct text_range){NULL, NULL};
}

/* ------------------------------------------------------------------ Fortran */

static bool is_fortran(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && (dot[1] == 'f' || dot[1] == 'F') && (dot[2] == '\0' || (isdigit((unsigned char)dot[2]) && !dot[4]));
}

/* Behind the expression whose brackets are all closed: at a comma, the bracket that ends the list, or the end. */
static const char *skip_item(const char *at)
{
    unsigned depth = 0;
    for (; *at && (depth != 0 || !strchr(",)", *at)); at++) {
        depth += *at == '(';
        depth -= *at == ')';
    }
    return at;
}

/* "allocate(NAME(...))", in one line, which allocates nothing else. */
static struct text_range find_allocated(char *line)
{
    struct text_range found = {NULL, NULL};
    line[strcspn(line, "!\n")] = '\0';
    const char *at = strcasestr(line, "allocate");
    if (!at || (at > line && in_word(at[-1])) || *assigned_skip_space(at + 8) != '(')
        return found;
    const char *name = assigned_skip_space(assigned_skip_space(at + 8) + 1), *end = name;
    while (in_word(*end) || *end == '%')
        end++;
    const char *behind = skip_item(end);
    if (*assigned_skip_space(end) != '(' || end == name || !*behind)
        return found;
    for (; *behind == ','; behind = skip_item(behind + 1)) { /* only options: stat=, source= */
        const char *option = behind + 1;
        if (!memchr(option, '=', (size_t)(skip_item(option) - option)))
            return found;
    }
    return (struct text_range){name, end};
}

const char *loader_assigned(struct loader_names *names, const char *file, int line,
                            const struct loader_callees *callees)
{
    char text[TEXT_BYTES];
    size_t at = 0, end = 0;
    if (!assigned_read_lines(file, line, text, sizeof text, &at, &end))
        return NULL;
    if (is_fortran(file)) {
        const struct text_range allocated = find_allocated(text + at);
        return allocated.start ? loader_names_keep(names, allocated.start, (size_t)(allocated.end - allocated.start))
                               : NULL;
    }
    assigned_blank(text);
    const struct text_range found = assigned_find(statements(text, at, end), callees);
    return found.start ? loader_names_keep(names, found.start, (size_t)(found.end - found.start)) : NULL;
}

/* ------------------------------------------------------------------ names of functions, as calls have them */

/* "std::make_unique<double []>(unsigned long)" is called by make_unique. */
static const char *bare_name(struct loader_names *names, const char *function)
{
    const char *end = function + strcspn(function, "(<"), *start = end;
    while (start > function && in_word(start[-1]))
        start--;
    return start == end ? NULL : loader_names_keep(names, start, (size_t)(end - start));
}

void loader_callees_add(struct loader_symbols *symbols, struct guest_va pc, struct loader_callees *out)
{
    struct loader_frame frames[LOADER_CALLEES];
    const size_t count = loader_frames_of(symbols, pc, frames, LOADER_CALLEES);
    for (size_t i = 0; i < count && i < LOADER_CALLEES && out->count < LOADER_CALLEES; i++) {
        const char *name = !frames[i].function ? NULL : bare_name(symbols->names, frames[i].function);
        if (name)
            out->names[out->count++] = name;
    }
}
