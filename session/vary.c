/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * vary: the machines that one execution is simulated on, side by side: --machine given several times, and --vary.
 *
 * Model
 *   Each is an axis of settings: the machines, and for each --vary the values of one key, in the order of the command
 *   line. A variant takes one setting of each axis; there is one for every choice, and the last axis changes fastest.
 *   Its name is what it has of each. With one axis of one setting, which is a run as any other, it has none.
 *
 *   KEY=VALUE,VALUE,...        a value of its own, or numbers:
 *   KEY=A..B  A..B+N  A..B*N   from A to B at most, by steps of 1 or N, or N times as much each. With K, M, G or T
 *                              behind A or B they are sizes.
 *   A value of `pages` may have keys behind commas: what has a '=' belongs to the policy before it.
 *   Nothing but the host's memory limits how many there are: what their descriptions take is looked at here, before
 *   they are made, and what they themselves take when the first one is (lanes/memory.c).
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/session_priv.h"

#define PAGES_KEY "pages."

enum kind { MACHINE, KEY_OF_MACHINE, PAGES, KEY_OF_PAGES, HUGE };

struct axis {
    enum kind kind;
    const char *key; /* "L2.ways", "cores", "pages.seed"; of machines: NULL */
    const char **values;
    uint32_t count, room;
};

struct maker {
    const struct session_options *options;
    struct session_variants *out;
    struct axis *axes;
    size_t axis_count;
};

/* ------------------------------------------------------------------ how many */

/* Of each, whatever it has: what it is to be, and its name. */
#define DESCRIPTION_BYTES (sizeof(struct session_variant) + sizeof(struct session_plan_lane) + 8 * sizeof(char *))

static enum c2_status check_count(const char *what, unsigned __int128 count, struct c2_error *err)
{
    const uint64_t left = c2_host_memory().left;
    char machines[32];
    if (count <= UINT32_MAX && count * DESCRIPTION_BYTES <= left)
        return C2_OK;
    const uint64_t shown = count < UINT64_MAX ? (uint64_t)count : UINT64_MAX;
    const uint64_t mebibytes = (uint64_t)((unsigned __int128)shown * DESCRIPTION_BYTES >> 20);
    return c2_fail(err, C2_ERR_NO_MEMORY,
                   "%s: %s%s machines side by side take %" PRIu64 " MiB or more before anything is simulated, and the "
                   "host has %" PRIu64 " MiB left: vary fewer at a time",
                   what, shown == count ? "" : "more than ", c2_group_digits(machines, shown), mebibytes, left >> 20);
}

/* ------------------------------------------------------------------ values */

static enum c2_status add_value(struct axis *axis, const char *value, struct c2_error *err)
{
    if (!value || !c2_grow((void **)&axis->values, &axis->room, axis->count, sizeof *axis->values))
        return c2_fail_memory(err, "the machines");
    axis->values[axis->count++] = value;
    return C2_OK;
}

struct range {
    uint64_t from, to, step;
    bool multiplies, sizes;
};

static bool is_size(const char *text) { return isalpha((unsigned char)text[strlen(text) - 1]) && text[1] != 'x'; }

/* text: the pool's, and cut here. */
static enum c2_status parse_range(struct range *out, const char *key, char *text, struct c2_error *err)
{
    char what[128];
    char *to = strstr(text, ".."), *step = strpbrk(to + 2, "+*");
    *to = '\0';
    to += 2;
    *out = (struct range){.step = 1, .multiplies = step && *step == '*'};
    if (step)
        *step++ = '\0';
    snprintf(what, sizeof what, "--vary %.100s", key);
    enum c2_status status = c2_parse_size(&out->from, text, what, err);
    if (status == C2_OK)
        status = c2_parse_size(&out->to, to, what, err);
    if (status == C2_OK && step)
        status = c2_parse_size(&out->step, step, what, err);
    if (status != C2_OK)
        return status;
    out->sizes = is_size(text) || is_size(to);
    if (out->from > out->to)
        return c2_fail(err, C2_ERR_INVALID, "%s: %s..%s goes down; write the smaller one first", what, text, to);
    if (out->step < (out->multiplies ? 2 : 1) || (out->multiplies && out->from == 0))
        return c2_fail(err, C2_ERR_INVALID, "%s: %s..%s%c%s never gets further; write A..B, A..B+N or A..B*N", what,
                       text, to, out->multiplies ? '*' : '+', step ? step : "");
    return C2_OK;
}

static unsigned __int128 count_range(const struct range *range)
{
    unsigned __int128 count = 1;
    if (!range->multiplies)
        return (unsigned __int128)((range->to - range->from) / range->step) + 1;
    for (uint64_t n = range->from; n <= range->to / range->step; n *= range->step)
        count++;
    return count;
}

/* In the largest unit that is exact. */
static const char *number_text(struct c2_pool *pool, uint64_t number, bool size)
{
    static const char units[] = {'K', 'M', 'G', 'T'};
    unsigned unit = 0;
    for (; size && number != 0 && number % 1024 == 0 && unit < sizeof units; unit++)
        number /= 1024;
    return unit == 0 ? c2_pool_format(pool, "%" PRIu64, number)
                     : c2_pool_format(pool, "%" PRIu64 "%c", number, units[unit - 1]);
}

static enum c2_status add_range(struct maker *maker, struct axis *axis, char *text, struct c2_error *err)
{
    struct range range;
    char what[128];
    enum c2_status status = parse_range(&range, axis->key, text, err);
    snprintf(what, sizeof what, "--vary %.100s", axis->key);
    if (status == C2_OK)
        status = check_count(what, count_range(&range), err);
    for (uint64_t n = range.from; status == C2_OK; n = range.multiplies ? n * range.step : n + range.step) {
        status = add_value(axis, number_text(&maker->out->pool, n, range.sizes), err);
        if (range.multiplies ? n > range.to / range.step : range.to - n < range.step)
            break; /* the next one is beyond */
    }
    return status;
}

static bool vary_is_range(const char *text) { return isdigit((unsigned char)text[0]) && strstr(text, ".."); }

/* Where the value ends that begins here. */
static char *end_of_value(const struct axis *axis, char *text)
{
    char *end = text + strcspn(text, ",");
    while (axis->kind == PAGES && *end == ',') {
        char *next = end + 1;
        const size_t word = strcspn(next, ",=");
        if (next[word] != '=' || (word == strlen("file") && strncmp(next, "file", word) == 0))
            break;
        end = next + strcspn(next, ",");
    }
    return end;
}

static enum c2_status read_values(struct maker *maker, struct axis *axis, char *text, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (bool more = true; more && status == C2_OK;) {
        char *end = end_of_value(axis, text);
        more = *end == ',';
        *end = '\0';
        if (*text == '\0')
            return c2_fail(err, C2_ERR_INVALID, "--vary %s: a value is empty; write %s=A,B or %s=A..B", axis->key,
                           axis->key, axis->key);
        status = vary_is_range(text) ? add_range(maker, axis, text, err) : add_value(axis, text, err);
        text = end + 1;
    }
    return status;
}

/* ------------------------------------------------------------------ keys */

static enum c2_status find_kind(enum kind *out, const char *key, struct c2_error *err)
{
    static const char *const words[] = {"pages",       "pages.seed", "pages.color", "pages.age",
                                        "pages.level", "huge",       "cores"};
    char hint[256];
    if (strcmp(key, "pages") == 0)
        *out = PAGES;
    else if (strncmp(key, PAGES_KEY, strlen(PAGES_KEY)) == 0)
        *out = KEY_OF_PAGES;
    else if (strcmp(key, "huge") == 0)
        *out = HUGE;
    else if (strchr(key, '.') || strcmp(key, "cores") == 0)
        *out = KEY_OF_MACHINE;
    else if (strcmp(key, "seed") == 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "--vary seed: the program sees the seed, and runs once; pages.seed is that of the placement");
    else if (strcmp(key, "machine") == 0)
        return c2_fail(err, C2_ERR_INVALID, "--vary machine: give -m several times instead");
    else
        return c2_fail(err, C2_ERR_INVALID, "--vary: \"%s\" is neither a key of machines (LEVEL.KEY) nor of pages%s",
                       key, c2_suggest(hint, sizeof hint, key, words, sizeof words / sizeof words[0]));
    return C2_OK;
}

static enum c2_status read_axis(struct maker *maker, const char *text, struct c2_error *err)
{
    struct axis *axis = &maker->axes[maker->axis_count];
    char *copy = c2_pool_format(&maker->out->pool, "%s", text), *values = copy ? strchr(copy, '=') : NULL;
    if (!copy)
        return c2_fail_memory(err, "the machines");
    if (!values || values == copy)
        return c2_fail(err, C2_ERR_INVALID, "--vary %s: must be KEY=VALUE,VALUE or KEY=A..B, such as L2.ways=4,8,16",
                       text);
    *values++ = '\0';
    axis->key = copy;
    for (size_t i = 0; i < maker->axis_count; i++)
        if (maker->axes[i].key && strcmp(maker->axes[i].key, copy) == 0)
            return c2_fail(err, C2_ERR_INVALID, "--vary %s is given twice; give all values in one", copy);
    maker->axis_count++;
    enum c2_status status = find_kind(&axis->kind, copy, err);
    return status == C2_OK ? read_values(maker, axis, values, err) : status;
}

static enum c2_status read_axes(struct maker *maker, struct c2_error *err)
{
    const struct session_options *options = maker->options;
    enum c2_status status = C2_OK;
    maker->axes = c2_calloc(options->vary_count + 1, sizeof *maker->axes);
    if (!maker->axes)
        return c2_fail_memory(err, "the machines");
    maker->axis_count = 1;
    for (size_t i = 0; i < options->machine_count && status == C2_OK; i++)
        status = add_value(&maker->axes[0], options->machines[i], err);
    if (options->machine_count == 0)
        status = add_value(&maker->axes[0], SESSION_DEFAULT_MACHINE, err);
    for (size_t i = 0; i < options->vary_count && status == C2_OK; i++)
        status = read_axis(maker, options->vary[i], err);
    return status;
}

/* ------------------------------------------------------------------ variants */

static enum c2_status set_key_of_pages(struct maker *maker, struct session_variant *variant, const struct axis *axis,
                                       const char *value, struct c2_error *err)
{
    if (strncmp(variant->pages, "file", strlen("file")) == 0)
        return c2_fail(err, C2_ERR_INVALID, "--vary %s: a page map (--pages %s) has no keys; leave one out", axis->key,
                       variant->pages);
    variant->pages = c2_pool_format(&maker->out->pool, "%s,%s=%s", variant->pages, axis->key + strlen(PAGES_KEY),
                                    value);
    return variant->pages ? C2_OK : c2_fail_memory(err, "the machines");
}

static enum c2_status vary_set(struct maker *maker, struct session_variant *variant, const struct axis *axis,
                               const char *value, struct c2_error *err)
{
    const char *override;
    switch (axis->kind) {
    case MACHINE:
        variant->machine = value;
        return C2_OK;
    case KEY_OF_MACHINE:
        override = c2_pool_format(&maker->out->pool, "%s=%s", axis->key, value);
        variant->overrides[variant->override_count++] = override;
        return override ? C2_OK : c2_fail_memory(err, "the machines");
    case PAGES:
        variant->pages = value;
        return C2_OK;
    case KEY_OF_PAGES:
        return set_key_of_pages(maker, variant, axis, value, err);
    case HUGE:
        return session_huge(&variant->huge, "--vary huge=", value, err);
    }
    return C2_OK;
}

/* Adds a setting to the name; a single one of an axis is no difference. */
static bool vary_add_name(struct maker *maker, struct session_variant *variant, const struct axis *axis,
                          const char *value)
{
    const char *before = variant->name ? variant->name : "";
    if (axis->count == 1)
        return true;
    variant->name = c2_pool_format(&maker->out->pool, "%s%s%s%s%s", before, *before ? " " : "",
                                   axis->key ? axis->key : "", axis->key ? "=" : "", value);
    return variant->name;
}

/* The values of variant `number`. Keys of a policy go behind the policy, whatever their order. */
static enum c2_status vary_fill(struct maker *maker, uint32_t number, struct c2_error *err)
{
    const struct session_options *options = maker->options;
    struct session_variant *variant = &maker->out->list[number];
    *variant = (struct session_variant){.pages = options->pages, .huge = options->huge};
    variant->overrides = c2_pool_get(&maker->out->pool,
                                     (options->override_count + options->vary_count + 1) * sizeof(char *));
    variant->values = c2_pool_get(&maker->out->pool, maker->axis_count * sizeof(char *));
    if (!variant->overrides || !variant->values)
        return c2_fail_memory(err, "the machines");
    for (size_t i = 0; i < options->override_count; i++)
        variant->overrides[variant->override_count++] = options->overrides[i];
    enum c2_status status = C2_OK;
    uint32_t rest = maker->out->count;
    for (unsigned round = 0; round < 2; round++, rest = maker->out->count) {
        for (size_t i = 0; i < maker->axis_count && status == C2_OK; i++) {
            const struct axis *axis = &maker->axes[i];
            rest /= axis->count;
            const char *value = variant->values[i] = axis->values[number / rest % axis->count];
            if (round == 0 && !vary_add_name(maker, variant, axis, value))
                return c2_fail_memory(err, "the machines");
            if ((axis->kind == KEY_OF_PAGES) == (round == 1))
                status = vary_set(maker, variant, axis, value, err);
        }
    }
    return status;
}

static enum c2_status cli_vary_count(struct maker *maker, struct c2_error *err)
{
    unsigned __int128 product = 1;
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < maker->axis_count && status == C2_OK; i++) {
        product *= maker->axes[i].count;
        status = check_count("--vary and -m", product, err);
    }
    maker->out->count = (unsigned)product;
    return status;
}

static enum c2_status name_keys(struct maker *maker, struct c2_error *err)
{
    struct session_variants *out = maker->out;
    out->keys = c2_pool_get(&out->pool, maker->axis_count * sizeof *out->keys);
    if (!out->keys)
        return c2_fail_memory(err, "the machines");
    for (size_t i = 0; i < maker->axis_count; i++)
        out->keys[i] = maker->axes[i].key ? maker->axes[i].key : "machine";
    out->key_count = maker->axis_count;
    return C2_OK;
}

enum c2_status session_variants_make(struct session_variants *out, const struct session_options *options,
                                     struct c2_error *err)
{
    *out = (struct session_variants){0};
    struct maker maker = {.options = options, .out = out};
    enum c2_status status = read_axes(&maker, err);
    if (status == C2_OK)
        status = cli_vary_count(&maker, err);
    if (status == C2_OK)
        status = name_keys(&maker, err);
    if (status == C2_OK) {
        out->list = c2_pool_get(&out->pool, out->count * sizeof *out->list);
        if (!out->list)
            status = c2_fail_memory(err, "the machines");
    }
    for (unsigned i = 0; i < out->count && status == C2_OK; i++)
        status = vary_fill(&maker, i, err);
    for (size_t i = 0; i < maker.axis_count; i++)
        c2_free(maker.axes[i].values);
    c2_free(maker.axes);
    if (status != C2_OK)
        session_variants_release(out);
    return status;
}

void session_variants_release(struct session_variants *variants)
{
    c2_pool_release(&variants->pool);
    *variants = (struct session_variants){0};
}
