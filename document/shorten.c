/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * shorten: a name in fewer characters, without its place in the source.
 *
 * Model
 *   What a reader misses least goes first, one part after the other until the rest fits:
 *
 *     clones               main [clone .cold]     -> main
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

#include "document/shorten.h"

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
static bool shorten_replace(char *text, struct part part)
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
static bool shorten_find_place(struct part *out, const char *text, size_t from)
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
    while (place.end <= at && shorten_find_place(&place, text, place.end))
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

/* " [clone .cold]" and the like, which the compiler adds. */
static bool drop_clone(char *text, size_t width)
{
    char *begin = strstr(text, " [clone "), *end = begin ? strchr(begin, ']') : NULL;
    (void)width;
    if (!end)
        return false;
    memmove(begin, end + 1, strlen(end + 1) + 1);
    return true;
}

static bool drop_template(char *text, size_t width)
{
    struct part part;
    (void)width;
    return longest_bracket(&part, text, opens_angle) && shorten_replace(text, part);
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
    return shorten_replace(text, last_argument(text, list)) || shorten_replace(text, list);
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
        if (bytes != 0 && !in_place(text, at) && shorten_replace(text, (struct part){name_begin(text, at), at + bytes}))
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
    return shorten_replace(text, middle);
}

static bool cut_word(char *text, size_t width)
{
    const struct part word = longest_word(text, 0);
    const size_t excess = strlen(text) - width, bytes = length_of(word);
    return bytes > WORD_BYTES && cut_middle(text, word, bytes > WORD_BYTES + excess ? bytes - excess : WORD_BYTES);
}

static size_t shorten_behind(const char *text, struct part place) { return place.end + (text[place.end] == ')'); }

/* With its arguments, where they have become dots. */
static bool drop_word(char *text, size_t width)
{
    struct part place;
    (void)width;
    if (!shorten_find_place(&place, text, 0))
        return false;
    struct part word = longest_word(text, place.end);
    if (length_of(word) != 0 && strncmp(text + word.end, "(" DOTS ")", DOTS_BYTES + 2) == 0)
        word.end += DOTS_BYTES + 2;
    return shorten_replace(text, word);
}

/* What stands behind the last place but one goes, up to the first. */
static bool drop_rest(char *text, size_t width)
{
    struct part place, next;
    (void)width;
    if (!shorten_find_place(&place, text, 0))
        return false;
    while (shorten_find_place(&next, text, place.end) && text[shorten_behind(text, next)] != '\0' &&
           strcmp(text + shorten_behind(text, next), DOTS) != 0)
        place = next;
    return shorten_replace(text, (struct part){shorten_behind(text, place), strlen(text)});
}

/* What stands before the first place, or all of it. */
static bool cut_front(char *text, size_t width)
{
    struct part place;
    const size_t bytes = strlen(text), excess = bytes - width;
    const bool placed = shorten_find_place(&place, text, 0);
    const struct part front = {0, placed ? place.begin : bytes};
    return length_of(front) >= DOTS_BYTES + excess && cut_middle(text, front, length_of(front) - excess);
}

static bool cut_all(char *text, size_t width) { return cut_middle(text, (struct part){0, strlen(text)}, width); }

char *doc_shorten(char *text, size_t width)
{
    static bool (*const steps[])(char *text, size_t width) = {
        drop_clone, drop_template, drop_argument, drop_scope, cut_word, drop_word, drop_rest, cut_front, cut_all};
    C2_ASSERT(width >= DOC_SHORTEST);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        while (strlen(text) > width && steps[i](text, width))
            ;
    return text;
}

/* ------------------------------------------------------------------ bare names */

/* The brackets of operator() are its name. */
static bool ends_name(const char *name, size_t at)
{
    static const char word[] = "operator";
    const bool operator_ = at >= sizeof word - 1 && memcmp(name + at - (sizeof word - 1), word, sizeof word - 1) == 0;
    return opens_arguments(name, at) && !(operator_ && name[at + 1] == ')');
}

/* Behind what stands for no name at `at`: template arguments, with the separator that had them between others. */
static size_t behind_nameless(const char *name, size_t at, bool begins)
{
    static const char anonymous[] = "(anonymous namespace)::";
    if (strncmp(name + at, anonymous, sizeof anonymous - 1) == 0)
        return at + sizeof anonymous - 1;
    const size_t behind = opens_angle(name, at) ? behind_bracket(name, at) : 0;
    return behind != 0 && begins && strncmp(name + behind, "::", 2) == 0 ? behind + 2 : behind;
}

/* Copies the name over itself without what is in brackets, up to its arguments; closures ("{lambda(int)#1}") are names.
 */
static void drop_brackets(char *name)
{
    char *to = name;
    size_t depth = 0;
    for (size_t at = 0; name[at] != '\0' && (depth != 0 || !ends_name(name, at)); at++) {
        const bool begins = to == name || to[-1] == ':' || to[-1] == ' ';
        const size_t behind = depth == 0 ? behind_nameless(name, at, begins) : 0;
        depth += name[at] == '{';
        depth -= name[at] == '}' && depth > 0;
        if (behind == 0)
            *to++ = name[at];
        else
            at = behind - 1;
    }
    while (to > name && (to[-1] == ' ' || to[-1] == ':'))
        to--;
    *to = '\0';
}

static bool ends_type(const char *name, const char *at)
{
    return at[-1] == ' ' && !(at - name >= 9 && memcmp(at - 9, "operator ", 9) == 0);
}

/* Where the last two of its scopes begin. */
static char *last_scopes(char *name)
{
    unsigned count = 0;
    char *at = name + strlen(name);
    for (; at > name && !ends_type(name, at); at--)
        if (at[0] != '\0' && at[0] != ':' && at[-1] == ':' && ++count == 2)
            return at;
    return at;
}

char *doc_bare_name(char *name)
{
    drop_clone(name, 0);
    drop_brackets(name);
    const char *bare = last_scopes(name);
    return memmove(name, bare, strlen(bare) + 1);
}
