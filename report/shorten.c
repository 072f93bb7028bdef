/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * shorten: a name in fewer characters, without its place in the source.
 *
 * Model
 *   What a reader misses least goes first, one part after the other until the rest fits:
 *
 *     template arguments   std::vector<int>::at   -> std::vector<...>::at     the longest first
 *     arguments            mul(m const&, int)     -> mul(m const&, ...)       the longest list first, from its end
 *     scopes, directories  std::map<...>::find    -> ...map<...>::find        from the left
 *     middles              new_matrix_of_rows     -> new...rows               the longest word first
 *     words                via new_matrix (a.c:9) -> via ... (a.c:9)          behind the first place
 *     the rest             b at a.c:4 via f (b.c:9) -> b at a.c:4...          behind the last place, but the first
 *
 *   and at last the middle of all of it. A place is a file and a line, "matmul.c:15"; it is cut by the last step alone.
 *
 * Invariants
 *   Each step makes the text shorter, and cuts between characters of UTF-8.
 */
#include <ctype.h>
#include <string.h>

#include "report/shorten.h"

#define DOTS "..."
#define DOTS_BYTES 3u
#define WORD_BYTES 11u /* a word that has lost its middle is not shorter */

/* A part of the text. */
struct part {
    size_t begin, end; /* not included */
};

static size_t length_of(struct part part) { return part.end - part.begin; }

static bool is_dots(const char *text, struct part part)
{
    return length_of(part) == DOTS_BYTES && memcmp(text + part.begin, DOTS, DOTS_BYTES) == 0;
}

/* Puts dots for a part that is longer. False, and nothing is done: it is not. */
static bool replace(char *text, struct part part)
{
    if (length_of(part) <= DOTS_BYTES)
        return false;
    memcpy(text + part.begin, DOTS, DOTS_BYTES);
    memmove(text + part.begin + DOTS_BYTES, text + part.end, strlen(text + part.end) + 1);
    return true;
}

/* ------------------------------------------------------------------ places */

static bool ends_place(char c) { return c == '\0' || c == ' ' || c == ',' || c == ')' || c == ';' || c == '.'; }

/* The first place at or behind `from`: characters of a file's name, a colon, digits. */
static bool find_place(struct part *out, const char *text, size_t from)
{
    for (size_t colon = from; text[colon] != '\0'; colon++) {
        size_t begin = colon, end = colon + 1;
        if (text[colon] != ':' || !isdigit((unsigned char)text[end]))
            continue;
        while (begin > from && !strchr(" (),:", text[begin - 1]))
            begin--;
        while (isdigit((unsigned char)text[end]))
            end++;
        if (begin == colon || !ends_place(text[end]))
            continue;
        *out = (struct part){begin, end};
        return true;
    }
    return false;
}

static bool in_place(const char *text, size_t at)
{
    struct part place = {0, 0};
    while (place.end <= at && find_place(&place, text, place.end))
        if (at >= place.begin && at < place.end)
            return true;
    return false;
}

/* ------------------------------------------------------------------ brackets */

static bool behind_operator(const char *text, size_t at)
{
    static const char word[] = "operator";
    while (at > 0 && strchr("<>-=!+*/%^&|~[]", text[at - 1]))
        at--;
    return at >= sizeof word - 1 && memcmp(text + at - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* A "<" that is neither "less" nor the arrow of a chain of calls. */
static bool opens_angle(const char *text, size_t at)
{
    return text[at] == '<' && !strchr(" =<", text[at + 1]) && !behind_operator(text, at);
}

static bool closes_angle(const char *text, size_t at) { return text[at] == '>' && at > 0 && text[at - 1] != '-'; }

/* Behind the bracket that closes the one at `at`; 0: none does. */
static size_t behind_bracket(const char *text, size_t at)
{
    size_t depth = 0;
    for (const bool angle = text[at] == '<'; text[at] != '\0'; at++) {
        if (angle ? opens_angle(text, at) : text[at] == '(')
            depth++;
        else if (angle ? closes_angle(text, at) && depth > 0 : text[at] == ')')
            depth--;
        if (depth == 0)
            return at + 1;
    }
    return 0;
}

/* Arguments stand at a name; behind a blank stands a place, or a remark. */
static bool opens_arguments(const char *text, size_t at)
{
    return text[at] == '(' && at > 0 && text[at - 1] != ' ' && strncmp(text + at, "(anonymous", 10) != 0;
}

/* The longest outermost part between brackets that is more than dots. */
static bool longest_bracket(struct part *out, const char *text, bool opens(const char *text, size_t at))
{
    *out = (struct part){0, 0};
    for (size_t at = 0; text[at] != '\0'; at++) {
        const size_t behind = opens(text, at) ? behind_bracket(text, at) : 0;
        if (behind == 0)
            continue;
        const struct part inside = {at + 1, behind - 1};
        if (length_of(inside) > DOTS_BYTES && length_of(inside) > length_of(*out))
            *out = inside;
        at = behind - 1;
    }
    return length_of(*out) != 0;
}

static bool drop_template(char *text, size_t width)
{
    struct part part;
    (void)width;
    return longest_bracket(&part, text, opens_angle) && replace(text, part);
}

/* Where the last argument begins that is not dots; the list's begin where there is one alone. */
static struct part last_argument(const char *text, struct part list)
{
    struct part last = {list.begin, list.end};
    size_t depth = 0;
    for (size_t at = list.begin; at < list.end; at++) {
        depth += strchr("(<[{", text[at]) ? 1 : 0;
        depth -= strchr(")>]}", text[at]) && depth > 0 ? 1 : 0;
        const struct part rest = {at + 2, list.end};
        if (depth == 0 && text[at] == ',' && !is_dots(text, rest))
            last.begin = at + 2;
    }
    return last;
}

static bool drop_argument(char *text, size_t width)
{
    struct part list;
    (void)width;
    if (!longest_bracket(&list, text, opens_arguments))
        return false;
    return replace(text, last_argument(text, list)) || replace(text, list);
}

/* ------------------------------------------------------------------ scopes and directories */

/* Where the name begins that has `at` in it; names hold what is in brackets. */
static size_t name_begin(const char *text, size_t at)
{
    size_t depth = 0;
    for (; at > 0; at--) {
        const char before = text[at - 1];
        if (strchr(")>]}", before))
            depth++;
        else if (strchr("(<[{", before) && depth > 0)
            depth--;
        else if (depth == 0 && strchr(" ,(<[{&*", before))
            break;
    }
    return at;
}

/* How many characters of a separator are at `at`. */
static size_t separator(const char *text, size_t at)
{
    if (text[at] == ':' && text[at + 1] == ':')
        return 2;
    return text[at] == '/' && !behind_operator(text, at) ? 1 : 0;
}

static bool drop_scope(char *text, size_t width)
{
    (void)width;
    for (size_t at = 0; text[at] != '\0'; at++) {
        const size_t behind = opens_angle(text, at) || opens_arguments(text, at) ? behind_bracket(text, at) : 0;
        const size_t bytes = separator(text, at);
        if (bytes != 0 && !in_place(text, at) && replace(text, (struct part){name_begin(text, at), at + bytes}))
            return true;
        at = behind != 0 ? behind - 1 : at;
    }
    return false;
}

/* ------------------------------------------------------------------ words */

static bool of_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || (c & 0x80); }

/* The longest word of those that begin at or behind `from`, places left out. */
static struct part longest_word(const char *text, size_t from)
{
    struct part longest = {0, 0};
    for (size_t at = from; text[at] != '\0';) {
        size_t end = at;
        while (of_word(text[end]))
            end++;
        const struct part word = {at, end};
        if (length_of(word) > length_of(longest) && !in_place(text, at))
            longest = word;
        at = end == at ? at + 1 : end;
    }
    return longest;
}

/* Leaves `left` bytes of the part, dots included, and a character's bytes together. */
static bool cut_middle(char *text, struct part part, size_t left)
{
    struct part middle = {part.begin + (left - DOTS_BYTES + 1) / 2, part.end - (left - DOTS_BYTES) / 2};
    while (middle.begin > part.begin && ((unsigned char)text[middle.begin] & 0xc0) == 0x80)
        middle.begin--;
    while (middle.end < part.end && ((unsigned char)text[middle.end] & 0xc0) == 0x80)
        middle.end++;
    return replace(text, middle);
}

static bool cut_word(char *text, size_t width)
{
    const struct part word = longest_word(text, 0);
    const size_t excess = strlen(text) - width, bytes = length_of(word);
    return bytes > WORD_BYTES && cut_middle(text, word, bytes > WORD_BYTES + excess ? bytes - excess : WORD_BYTES);
}

static size_t behind(const char *text, struct part place) { return place.end + (text[place.end] == ')'); }

static bool drop_word(char *text, size_t width)
{
    struct part place;
    (void)width;
    return find_place(&place, text, 0) && replace(text, longest_word(text, place.end));
}

/* What stands behind the last place but one goes, up to the first. */
static bool drop_rest(char *text, size_t width)
{
    struct part place, next;
    (void)width;
    if (!find_place(&place, text, 0))
        return false;
    while (find_place(&next, text, place.end) && text[behind(text, next)] != '\0' &&
           strcmp(text + behind(text, next), DOTS) != 0)
        place = next;
    return replace(text, (struct part){behind(text, place), strlen(text)});
}

/* What stands before the first place, or all of it. */
static bool cut_front(char *text, size_t width)
{
    struct part place;
    const size_t bytes = strlen(text), excess = bytes - width;
    const bool placed = find_place(&place, text, 0);
    const struct part front = {0, placed ? place.begin : bytes};
    return length_of(front) >= DOTS_BYTES + excess && cut_middle(text, front, length_of(front) - excess);
}

static bool cut_all(char *text, size_t width) { return cut_middle(text, (struct part){0, strlen(text)}, width); }

char *report_shorten(char *text, size_t width)
{
    static bool (*const steps[])(char *text, size_t width) = {drop_template, drop_argument, drop_scope, cut_word,
                                                              drop_word,     drop_rest,     cut_front,  cut_all};
    C2_ASSERT(width >= REPORT_SHORTEST);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        while (strlen(text) > width && steps[i](text, width))
            ;
    return text;
}
