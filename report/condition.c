/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * condition: "L1D.conflict>+0", "function:kernel.L2.misses>=+5%": what is too much of a change.
 *
 * Model
 *   [function:NAME.|object:NAME.]LEVEL.COUNTER, one of > >= < <= = !=, and an amount: a signed count, or a percentage
 *   of the first report's value. Compared is the change from the first report to the second. It is read from its end,
 *   because names of C++ have dots, > and = in them. NAME is whole ("kernel in app") or, where only one has it, the
 *   part before " in " or " at ".
 *
 * Counting
 *   Exact, in integers of 128 bits: a percentage has at most 6 decimals.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff_priv.h"

#define MOST_NAMES 1024 /* that a message chooses from */
#define PERCENT_UNIT 1000000

typedef __int128 wide;

struct condition {
    char target[256]; /* what stands before the operator */
    char operator[3];
    bool percent;
    wide amount; /* of percent: in millionths */
};

/* ------------------------------------------------------------------ words */

static enum c2_status condition_fail_form(const char *text, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID,
                   "diff: --fail-if \"%s\" is no condition: write LEVEL.COUNTER, function:NAME.LEVEL.COUNTER or "
                   "object:NAME.LEVEL.COUNTER, then > >= < <= = or !=, then a change such as +0, -1000 or +5%%",
                   text);
}

/* "+5", "-0.25%"; false: no amount. */
static bool take_amount(struct condition *out, const char *text)
{
    const bool negative = *text == '-';
    unsigned decimals = 0;
    bool point = false, digits = false;
    text += *text == '-' || *text == '+';
    out->amount = 0;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (decimals == 6 || out->amount > ((wide)1 << 62))
            return false;
        out->amount = 10 * out->amount + (*text - '0');
        decimals += point;
        digits = true;
    }
    out->percent = *text == '%';
    text += out->percent;
    for (; out->percent && decimals < 6; decimals++)
        out->amount *= 10;
    out->amount = negative ? -out->amount : out->amount;
    return digits && *text == '\0' && (out->percent || !point);
}

static enum c2_status condition_take_words(struct condition *out, const char *text, struct c2_error *err)
{
    static const char *const operators[] = {">", ">=", "<", "<=", "=", "!="};
    size_t end = strlen(text), length = 1;
    while (end > 0 && !strchr("<>=", text[end - 1]))
        end--;
    if (end == 0 || !take_amount(out, text + end))
        return condition_fail_form(text, err);
    if (end > 1 && text[end - 1] == '=' && strchr("<>!", text[end - 2]))
        length = 2;
    snprintf(out->operator, sizeof out->operator, "%.*s", (int)length, text + end - length);
    bool known = false;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        known |= strcmp(out->operator, operators[i]) == 0;
    if (!known || end - length == 0 || end - length >= sizeof out->target)
        return condition_fail_form(text, err);
    snprintf(out->target, sizeof out->target, "%.*s", (int)(end - length), text);
    return C2_OK;
}

/* ------------------------------------------------------------------ the counter that is meant */

/* The distinct texts at `field` (an offset in the entry) of a subject's entries, as far as they go. */
static size_t condition_collect(const char *out[MOST_NAMES], const struct report_comparison *c,
                                enum report_subject subject, const char *level, size_t field)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count && count < MOST_NAMES; i++) {
        const char *text = *(const char *const *)(const void *)((const char *)&c->entries[i] + field);
        bool there = c->entries[i].subject != subject || (level && strcmp(c->entries[i].level, level) != 0);
        for (size_t j = 0; j < count && !there; j++)
            there = strcmp(out[j], text) == 0;
        if (!there)
            out[count++] = text;
    }
    return count;
}

static enum c2_status condition_fail_unknown(const char *what, const char *text, const struct report_comparison *c,
                                             enum report_subject subject, const char *level, size_t field,
                                             struct c2_error *err)
{
    const char *known[MOST_NAMES];
    char hint[512] = "";
    const size_t count = condition_collect(known, c, subject, level, field);
    if (count == 0)
        return c2_fail(err, C2_ERR_NOT_FOUND, "diff: --fail-if: the reports have no %s: they were written with%s", what,
                       subject == REPORT_LOOP ? "out --by loop" : " --no-attribution");
    return c2_fail(err, C2_ERR_NOT_FOUND, "diff: --fail-if: unknown %s \"%s\"%s", what, text,
                   c2_suggest(hint, sizeof hint, text, known, count));
}

/* Names may be given without what follows them when only one has it. */
static enum c2_status condition_find_name(const char **out, const struct report_comparison *c,
                                          enum report_subject subject, const char *name, struct c2_error *err)
{
    static const char *const words[REPORT_SUBJECTS] = {"level", "function", "object", "loop"};
    const char *what = words[subject];
    *out = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct report_entry *entry = &c->entries[i];
        if (entry->subject != subject || (strcmp(entry->name, name) != 0 && strcmp(entry->bare, name) != 0))
            continue;
        if (*out && strcmp(*out, entry->name) != 0)
            return c2_fail(err, C2_ERR_INVALID, "diff: --fail-if: several are called \"%s\": write \"%s\" or \"%s\"",
                           name, *out, entry->name);
        *out = entry->name;
    }
    return *out ? C2_OK
                : condition_fail_unknown(what, name, c, subject, NULL, offsetof(struct report_entry, bare), err);
}

/* A list that ends before all are named does not say that the others have no misses. */
static enum c2_status check_listed(const struct report_comparison *c, enum report_subject subject, const char *name,
                                   struct c2_error *err)
{
    bool listed[2] = {false, false};
    for (size_t i = 0; i < c->count; i++) {
        const struct report_entry *entry = &c->entries[i];
        for (int side = 0; side < 2 && entry->subject == subject; side++)
            listed[side] |= entry->in[side] && strcmp(entry->name, name) == 0;
    }
    for (int side = 0; side < 2; side++) {
        if (!listed[side] && c->cut[subject][side])
            return c2_fail(err, C2_ERR_NOT_FOUND,
                           "diff: --fail-if: \"%s\" is not among those that %s lists, which are "
                           "the dearest%s",
                           name, c->path[side],
                           report_comparison_slim(c, side) ? "; a report of --json-full lists more" : "");
    }
    return C2_OK;
}

static const struct report_entry *find_entry(const struct report_comparison *c, const struct report_entry *like)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct report_entry *entry = &c->entries[i];
        if (entry->subject == like->subject && strcmp(entry->name, like->name) == 0 &&
            strcmp(entry->level, like->level) == 0 && strcmp(entry->counter, like->counter) == 0)
            return entry;
    }
    return NULL;
}

/* A level of both reports, and one of its counters. Functions and objects have only levels where they missed: 0
 * else. */
static enum c2_status find_counter(struct report_entry *entry, const struct report_comparison *c, struct c2_error *err)
{
    static const char *const classes[] = {"misses", "cold", "capacity", "conflict"};
    const char *known[MOST_NAMES];
    size_t count = condition_collect(known, c, REPORT_LEVEL, NULL, offsetof(struct report_entry, level));
    bool level = false, counter = false;
    for (size_t i = 0; i < count; i++)
        level |= strcmp(known[i], entry->level) == 0;
    if (!level)
        return condition_fail_unknown("level", entry->level, c, REPORT_LEVEL, NULL,
                                      offsetof(struct report_entry, level), err);
    const bool run = strcmp(entry->level, "run") == 0;
    const char *of = entry->subject == REPORT_LEVEL || run ? entry->level : NULL;
    count = condition_collect(known, c, entry->subject, of, offsetof(struct report_entry, counter));
    for (size_t i = 0; i < count; i++)
        counter |= strcmp(known[i], entry->counter) == 0;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0] && entry->subject != REPORT_LEVEL && !run; i++)
        counter |= strcmp(classes[i], entry->counter) == 0;
    if (!counter)
        return condition_fail_unknown("counter", entry->counter, c, entry->subject, of,
                                      offsetof(struct report_entry, counter), err);
    const struct report_entry *found = find_entry(c, entry);
    for (int side = 0; side < 2 && entry->subject == REPORT_LEVEL; side++) {
        if (!found->in[side])
            return c2_fail(err, C2_ERR_NOT_FOUND, "diff: --fail-if: %s has no %s.%s", c->path[side], entry->level,
                           entry->counter);
    }
    entry->value[0] = found ? found->value[0] : 0;
    entry->value[1] = found ? found->value[1] : 0;
    return C2_OK;
}

/* Takes target apart from its end; entry's texts point into it. */
static enum c2_status find_target(struct report_entry *entry, const struct report_comparison *c, char *target,
                                  struct c2_error *err)
{
    *entry = (struct report_entry){.name = ""};
    char *name = NULL;
    if (strncmp(target, "function:", 9) == 0)
        entry->subject = REPORT_FUNCTION, name = target + 9;
    else if (strncmp(target, "object:", 7) == 0)
        entry->subject = REPORT_OBJECT, name = target + 7;
    else if (strncmp(target, "loop:", 5) == 0)
        entry->subject = REPORT_LOOP, name = target + 5;
    char *dot = strrchr(target, '.');
    if (!dot)
        return condition_fail_form(target, err);
    *dot = '\0';
    entry->counter = dot + 1;
    entry->level = target;
    if (name) {
        dot = strrchr(name, '.');
        if (!dot)
            return condition_fail_form(target, err);
        *dot = '\0';
        entry->level = dot + 1;
        enum c2_status status = condition_find_name(&entry->name, c, entry->subject, name, err);
        if (status == C2_OK)
            status = check_listed(c, entry->subject, entry->name, err);
        if (status != C2_OK)
            return status;
    }
    return find_counter(entry, c, err);
}

/* ------------------------------------------------------------------ whether it holds */

static bool condition_compare(const char *operator, wide change, wide limit)
{
    const bool less = change < limit, same = change == limit;
    if (strcmp(operator, ">") == 0)
        return !less && !same;
    if (strcmp(operator, ">=") == 0)
        return !less;
    if (strcmp(operator, "<") == 0)
        return less;
    if (strcmp(operator, "<=") == 0)
        return less || same;
    return strcmp(operator, "=") == 0 ? same : !same;
}

enum c2_status report_condition(bool *holds, struct report_entry *entry, const struct report_comparison *comparison,
                                const char *text, struct c2_error *err)
{
    struct condition condition;
    enum c2_status status = condition_take_words(&condition, text, err);
    if (status == C2_OK)
        status = find_target(entry, comparison, condition.target, err);
    if (status != C2_OK)
        return status;
    const wide change = (wide)entry->value[1] - (wide)entry->value[0];
    *holds = condition.percent ? condition_compare(condition.operator, change * 100 * PERCENT_UNIT,
                                                   condition.amount * (wide)entry->value[0])
                               : condition_compare(condition.operator, change, condition.amount);
    return C2_OK;
}
