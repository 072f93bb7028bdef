/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rcd_chapter: re-conflict distances in the report - which loops suffer from conflicts, and how well that can be
 * notified.
 *
 * Model
 *   Loops with a hundredth of the level's misses or more are in the text, those with most first; the JSON has all that
 *   have missed, and objects likewise. Each method is a way to tell: by single distances or by deep ones, of all
 *   misses or of samples. It is judged by the loops that are in the text, with the shadow for the truth: precision is
 *   how many of those that it names suffer, recall how many of those that suffer it names, F1 their harmonic mean. A
 *   loop that no sample was judged of is not named.
 */
#include <stdlib.h>

#include "analyses/chapter.h"
#include "analyses/rcd.h"

#define ROWS 6u

static const char *const kind_names[ANALYSES_RCD_KINDS] = {"single", "deep"};

struct chapter {
    const struct digest *digest;
    const struct analyses_rcd_result *of;
    const struct analyses_loops_result *loops;
    uint32_t *order; /* loops with misses, those with most first; the one behind all is what is in none */
    uint32_t count;
};

static double rcd_chapter_share(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : (double)part / (double)whole; }

/* ------------------------------------------------------------------ what is said of a loop */

/* Its bursts go back as far as deep distances do. */
static bool looks_deep(const struct chapter *c, const struct analyses_rcd_sampling *samples)
{
    return samples->burst > c->of->threshold * c->of->ways;
}

struct method {
    enum analyses_rcd_kind kind;
    const struct analyses_rcd_sampling *samples; /* NULL: all misses */
};

static bool rcd_chapter_is_named(const struct chapter *c, const struct method *method, uint32_t loop)
{
    const struct analyses_rcd_sum *sum = &c->of->loops[loop];
    uint64_t whole = sum->misses, below = sum->below[method->kind];
    if (method->samples) {
        whole = method->samples->loops[loop].judged[method->kind];
        below = method->samples->loops[loop].below[method->kind];
    }
    const bool single = method->samples && method->samples->burst == 1;
    return whole != 0 && analyses_rcd_probability(method->kind, single, rcd_chapter_share(below, whole)) > 0.5;
}

static bool is_judged(const struct chapter *c, uint32_t loop)
{
    return loop < c->loops->count && analyses_rcd_counts(c->of, &c->of->loops[loop]);
}

struct quality {
    uint64_t right, wrong, missed, neither; /* named and suffers, named and not, ... */
};

static struct quality quality_of(const struct chapter *c, const struct method *method)
{
    struct quality q = {0};
    for (uint32_t i = 0; i < c->loops->count; i++) {
        if (!is_judged(c, i))
            continue;
        const bool named = rcd_chapter_is_named(c, method, i), suffers = analyses_rcd_suffers(&c->of->loops[i]);
        q.right += named && suffers;
        q.wrong += named && !suffers;
        q.missed += !named && suffers;
        q.neither += !named && !suffers;
    }
    return q;
}

static void add_quality(struct document *d, const struct quality *q)
{
    doc_count(d, DOC_BOTH, "right", q->right);
    doc_count(d, DOC_BOTH, "wrong", q->wrong);
    doc_count(d, DOC_BOTH, "missed", q->missed);
    doc_count(d, DOC_BOTH, "neither", q->neither);
    if (q->right + q->wrong != 0) {
        doc_decimal(d, DOC_JSON, "precision", rcd_chapter_share(q->right, q->right + q->wrong));
        doc_words(d, DOC_TEXT, "precision", "%.2f", rcd_chapter_share(q->right, q->right + q->wrong));
    }
    if (q->right + q->missed != 0) {
        doc_decimal(d, DOC_JSON, "recall", rcd_chapter_share(q->right, q->right + q->missed));
        doc_words(d, DOC_TEXT, "recall", "%.2f", rcd_chapter_share(q->right, q->right + q->missed));
    }
    if (q->right + q->wrong + q->missed != 0) {
        doc_decimal(d, DOC_JSON, "f1", rcd_chapter_share(2 * q->right, 2 * q->right + q->wrong + q->missed));
        doc_words(d, DOC_TEXT, "f1", "%.2f", rcd_chapter_share(2 * q->right, 2 * q->right + q->wrong + q->missed));
    }
}

/* ------------------------------------------------------------------ the JSON */

static void add_sum(struct document *d, const struct analyses_rcd_sum *sum)
{
    doc_count(d, DOC_JSON, "misses", sum->misses);
    doc_count(d, DOC_JSON, "conflicts", sum->conflicts);
    doc_count(d, DOC_JSON, "first", sum->first);
    doc_count(d, DOC_JSON, "below", sum->below[ANALYSES_RCD_SINGLE]);
    doc_count(d, DOC_JSON, "deep", sum->below[ANALYSES_RCD_DEEP]);
    doc_decimal(d, DOC_JSON, "contribution", rcd_chapter_share(sum->below[ANALYSES_RCD_SINGLE], sum->misses));
    doc_decimal(d, DOC_JSON, "deep_contribution", rcd_chapter_share(sum->below[ANALYSES_RCD_DEEP], sum->misses));
    doc_count(d, DOC_JSON, "sets", sum->sets);
    doc_count(d, DOC_JSON, "periods", sum->periods);
    if (sum->periods != 0)
        doc_decimal(d, DOC_JSON, "mean_period", rcd_chapter_share(sum->period_misses, sum->periods));
}

static void add_loop_name(struct document *d, const struct chapter *c, uint32_t loop)
{
    const struct analyses_loop *of = loop == c->loops->count ? NULL : &c->loops->loops[loop];
    struct loader_place place;
    if (of)
        names_loop_place(&place, c->digest->run, of);
    chapter_add_loop_name(d, &place, of);
}

static void add_sampled(struct document *d, const struct chapter *c, uint32_t loop)
{
    doc_table(d, DOC_JSON, "samples");
    for (uint32_t i = 0; i < c->of->sampling_count; i++) {
        const struct analyses_rcd_sampled *s = &c->of->samplings[i].loops[loop];
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "samples", s->samples);
        doc_count(d, DOC_JSON, "judged", s->judged[ANALYSES_RCD_SINGLE]);
        doc_count(d, DOC_JSON, "below", s->below[ANALYSES_RCD_SINGLE]);
        if (looks_deep(c, &c->of->samplings[i])) {
            doc_count(d, DOC_JSON, "deep_judged", s->judged[ANALYSES_RCD_DEEP]);
            doc_count(d, DOC_JSON, "deep", s->below[ANALYSES_RCD_DEEP]);
        }
        doc_close(d);
    }
    doc_close(d);
}

static void rcd_chapter_add_loops(struct document *d, const struct chapter *c)
{
    doc_table(d, DOC_JSON, "loops");
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t loop = c->order[i];
        const struct analyses_rcd_sum *sum = &c->of->loops[loop];
        doc_group(d, DOC_JSON, NULL);
        add_loop_name(d, c, loop);
        add_sum(d, sum);
        if (is_judged(c, loop)) {
            const struct method exact = {ANALYSES_RCD_DEEP, NULL};
            doc_flag(d, DOC_JSON, "suffers", analyses_rcd_suffers(sum));
            if (c->of->judged)
                doc_flag(d, DOC_JSON, "named", rcd_chapter_is_named(c, &exact, loop));
        }
        if (c->of->sampling_count != 0)
            add_sampled(d, c, loop);
        doc_close(d);
    }
    doc_close(d);
}

static void rcd_chapter_add_objects(struct document *d, const struct chapter *c)
{
    const struct digest_ranking *objects = &c->digest->objects;
    doc_table(d, DOC_JSON, "objects");
    for (uint32_t i = 0; i < objects->count; i++) {
        const struct analyses_rcd_sum *sum = &c->of->objects[objects->list[i].number];
        if (sum->misses == 0)
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", objects->list[i].of->name);
        chapter_add_address(d, "base", objects->list[i].of->base);
        add_sum(d, sum);
        doc_close(d);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ the text */

static void rcd_chapter_add_row(struct document *d, const struct chapter *c, uint32_t loop)
{
    const struct analyses_rcd_sum *sum = &c->of->loops[loop];
    const struct method exact = {ANALYSES_RCD_DEEP, NULL};
    struct loader_place place;
    char text[256];
    doc_group(d, DOC_TEXT, NULL);
    doc_count(d, DOC_TEXT, "misses", sum->misses);
    doc_count(d, DOC_TEXT, "all", c->of->all.misses);
    doc_count(d, DOC_TEXT, "below", sum->below[ANALYSES_RCD_SINGLE]);
    doc_count(d, DOC_TEXT, "deep", sum->below[ANALYSES_RCD_DEEP]);
    doc_count(d, DOC_TEXT, "conflicts", sum->conflicts);
    doc_count(d, DOC_TEXT, "sets", sum->sets);
    if (c->of->judged)
        doc_string(d, DOC_TEXT, "verdict", rcd_chapter_is_named(c, &exact, loop) ? "conflict" : "-");
    names_loop_place(&place, c->digest->run, &c->loops->loops[loop]);
    doc_string(d, DOC_TEXT, "words", loader_place_text(text, sizeof text, c->loops->loops[loop].header, &place));
    doc_close(d);
}

static void rcd_chapter_add_table(struct document *d, const struct chapter *c)
{
    const struct doc_column columns[] = {
        {.heading = "misses", .key = "misses", .of = "all"},
        {.heading = doc_keep(d, "below %llu", (unsigned long long)c->of->threshold), .key = "below", .of = "misses"},
        {.heading = "deep", .key = "deep", .of = "misses", .spare = 2},
        {.heading = "shadow", .key = "conflicts", .of = "misses"},
        {.heading = "sets", .key = "sets", .spare = 1},
        {.heading = "verdict", .key = "verdict"},
        {.heading = "loop", .key = "words", .form = DOC_NAME}};
    doc_table(d, DOC_TEXT, NULL);
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < c->count && shown < ROWS; i++) {
        if (!is_judged(c, c->order[i]))
            continue;
        rcd_chapter_add_row(d, c, c->order[i]);
        shown++;
    }
    doc_close(d);
}

static const char *method_name(struct document *d, const struct method *method)
{
    if (!method->samples)
        return "all misses";
    if (method->samples->burst == 1)
        return doc_keep(d, "1 of %llu", (unsigned long long)method->samples->period);
    return doc_keep(d, "1 of %llu, in bursts of %llu", (unsigned long long)method->samples->period,
                    (unsigned long long)method->samples->burst);
}

static void add_method(struct document *d, const struct chapter *c, const struct method *method)
{
    const struct quality q = quality_of(c, method);
    doc_group(d, DOC_BOTH, NULL);
    doc_string(d, DOC_BOTH, "kind", kind_names[method->kind]);
    if (method->samples) {
        doc_count(d, DOC_JSON, "period", method->samples->period);
        doc_count(d, DOC_JSON, "burst", method->samples->burst);
        doc_count(d, DOC_JSON, "samples", method->samples->samples);
    }
    doc_string(d, DOC_TEXT, "of", method_name(d, method));
    add_quality(d, &q);
    doc_close(d);
}

static void add_methods(struct document *d, const struct chapter *c)
{
    static const struct doc_column columns[] = {{.heading = "told by", .key = "kind", .form = DOC_LEFT},
                                                {.heading = "right", .key = "right"},
                                                {.heading = "wrong", .key = "wrong"},
                                                {.heading = "missed", .key = "missed"},
                                                {.heading = "precision", .key = "precision"},
                                                {.heading = "recall", .key = "recall"},
                                                {.heading = "F1", .key = "f1", .spare = 1},
                                                {.heading = "of", .key = "of", .form = DOC_NAME}};
    if (!c->of->judged)
        return;
    doc_table(d, c->of->sampling_count != 0 ? DOC_BOTH : DOC_JSON, "methods");
    doc_columns(d, columns, sizeof columns / sizeof columns[0], 0);
    for (uint32_t i = 0; i <= c->of->sampling_count; i++)
        for (unsigned kind = 0; kind < ANALYSES_RCD_KINDS; kind++) {
            const struct method method = {(enum analyses_rcd_kind)kind, i == 0 ? NULL : &c->of->samplings[i - 1]};
            if (kind == ANALYSES_RCD_SINGLE || !method.samples || looks_deep(c, method.samples))
                add_method(d, c, &method);
        }
    doc_close(d);
}

static void rcd_chapter_note_finding(struct document *d, const struct chapter *c)
{
    uint64_t judged = 0, suffer = 0, named = 0;
    const struct method exact = {ANALYSES_RCD_DEEP, NULL};
    for (uint32_t i = 0; i < c->loops->count; i++) {
        if (!is_judged(c, i))
            continue;
        judged++;
        suffer += analyses_rcd_suffers(&c->of->loops[i]);
        named += c->of->judged && rcd_chapter_is_named(c, &exact, i);
    }
    doc_note(d, DOC_KEY, "re-conflict",
             "%s: the shadow finds conflicts in %llu of %llu loops with 1 %% of the misses or more",
             c->digest->run->machine->levels[c->of->level].name, (unsigned long long)suffer,
             (unsigned long long)judged);
    if (c->of->judged)
        doc_say(d, ", their distances in %llu", (unsigned long long)named);
    else
        doc_say(d, "; the classifier is for --rcd-below 9 and 64 sets");
}

/* ------------------------------------------------------------------ all of it */

struct placed {
    uint64_t misses;
    uint32_t loop;
};

static int rcd_chapter_by_misses(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->misses != b->misses)
        return a->misses > b->misses ? -1 : 1;
    return (a->loop > b->loop) - (a->loop < b->loop);
}

/* Those that have missed. */
static bool rcd_chapter_order_loops(struct chapter *c)
{
    const uint32_t count = c->loops->count + 1;
    struct placed *placed = c2_alloc(count * sizeof *placed);
    c->order = c2_alloc(count * sizeof *c->order);
    for (uint32_t i = 0; placed && c->order && i < count; i++)
        if (c->of->loops[i].misses != 0)
            placed[c->count++] = (struct placed){c->of->loops[i].misses, i};
    if (placed && c->order)
        qsort(placed, c->count, sizeof *placed, rcd_chapter_by_misses);
    for (uint32_t i = 0; i < c->count; i++)
        c->order[i] = placed[i].loop;
    const bool made = placed && c->order;
    c2_free(placed);
    return made;
}

static void rcd_chapter_add_all(struct document *d, const struct chapter *c)
{
    rcd_chapter_note_finding(d, c);
    rcd_chapter_add_table(d, c);
    doc_group(d, DOC_BOTH, "rcd");
    doc_string(d, DOC_JSON, "level", c->digest->run->machine->levels[c->of->level].name);
    doc_count(d, DOC_JSON, "of_sets", c->of->sets);
    doc_count(d, DOC_JSON, "threshold", c->of->threshold);
    add_sum(d, &c->of->all);
    add_methods(d, c);
    rcd_chapter_add_loops(d, c);
    rcd_chapter_add_objects(d, c);
    doc_close(d);
}

static void add_rcd_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_rcd_result *of = digest->run->found[ANALYSIS_rcd];
    struct chapter c = {.digest = digest, .of = of, .loops = digest->run->found[ANALYSIS_loops]};
    if (!of)
        return;
    if (rcd_chapter_order_loops(&c))
        rcd_chapter_add_all(d, &c);
    else
        d->failed = true;
    c2_free(c.order);
}

const struct analysis_chapter analyses_rcd_chapter = {
    .add = add_rcd_chapter, .profiled = true, .in = DOC_BOTH, .place = 10, .order = 290};
