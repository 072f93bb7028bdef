/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * advice: the one line that says what to look at.
 *
 * Model
 *   Each (level, class) pair costs its misses times what a miss of the level costs (caches/cost.c); where misses were
 *   attributed, without those of start-up. Named is the pair whose cure buys most:
 *     conflict   all of its cost: other sets have room for the lines;
 *     capacity   half of it: work in blocks saves most fetches of a line, but the borders and the rest remain;
 *     cold       nothing but less data helps: named only where the others together are less than a tenth of the cost,
 *                the dearest level of them.
 *   On a tie the level nearer the core wins, then conflict before capacity: what is easier to mend. When all misses
 *   together cost less than one cycle in QUIET instructions, nothing is worth a look.
 *   With a profile the line and object with most of the pair's misses are named, and of conflicts who evicted them,
 *   with the remedy for the reason.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_priv.h"

#define QUIET 20u

struct finding {
    const struct report_level *level;
    enum analyses_class class_;
    uint64_t misses, of; /* of the class; of all classes, at that level */
    uint64_t cost;
};

/* The misses of a level by class; where misses were attributed, without those of start-up. */
static void count_classes(uint64_t out[ANALYSES_CLASSES], const struct report_digest *digest, size_t number)
{
    const struct caches_counts *n = digest->levels[number].counts;
    out[ANALYSES_COLD] = n->cold;
    out[ANALYSES_CAPACITY] = n->capacity;
    out[ANALYSES_CONFLICT] = n->conflict;
    const struct report_sums *startup = &digest->missed.startup[number];
    out[ANALYSES_COLD] -= startup->cold;
    out[ANALYSES_CAPACITY] -= startup->capacity;
    out[ANALYSES_CONFLICT] -= startup->conflict;
}

/* What a cure buys, twice. */
static uint64_t gain(const struct finding *finding)
{
    return finding->class_ == ANALYSES_CONFLICT   ? 2 * finding->cost
           : finding->class_ == ANALYSES_CAPACITY ? finding->cost
                                                  : 0;
}

static void take_better(struct finding *cure, struct finding *cold, const struct finding *finding)
{
    if (finding->class_ == ANALYSES_COLD && finding->cost > cold->cost)
        *cold = *finding;
    if (gain(finding) > gain(cure))
        *cure = *finding;
}

/* Of what is no miss of a class: translations and coherence. */
static uint64_t other_cost(const struct report_digest *digest)
{
    const struct caches_cost whole = report_run_cost(digest->run);
    return digest->profile ? digest->missed.translation + digest->missed.coherence
                           : whole.translations + whole.walks + whole.coherence;
}

/* The pair to look at into *out; returns what all misses cost. */
static uint64_t weigh(struct finding *out, const struct report_digest *digest)
{
    const struct report_level *levels = digest->levels;
    static const enum analyses_class easiest_first[] = {ANALYSES_CONFLICT, ANALYSES_CAPACITY, ANALYSES_COLD};
    struct finding cold = {.class_ = ANALYSES_COLD};
    uint64_t total = 0, curable = 0;
    *out = (struct finding){.class_ = ANALYSES_COLD};
    for (size_t i = 0; i < digest->level_count; i++) {
        uint64_t n[ANALYSES_CLASSES];
        count_classes(n, digest, i);
        for (unsigned c = 0; c < ANALYSES_CLASSES; c++) {
            const enum analyses_class class_ = easiest_first[c];
            const struct finding finding = {&levels[i], class_, n[class_], n[0] + n[1] + n[2],
                                            n[class_] * levels[i].miss_cycles};
            total += finding.cost;
            curable += class_ == ANALYSES_COLD ? 0 : finding.cost;
            take_better(out, &cold, &finding);
        }
    }
    if (curable < total / 10 || !out->level)
        *out = cold;
    return total;
}

static const char *class_text(enum analyses_class class_)
{
    return class_ == ANALYSES_CONFLICT ? "conflict" : class_ == ANALYSES_CAPACITY ? "capacity" : "cold";
}

/* What the class means there and what usually helps. code: of instructions. framed: the frames of pages have a say. */
static void say_remedy(struct document *d, const struct finding *finding, bool code, bool framed)
{
    char size[32];
    c2_size_text(size, finding->level->level->size_bytes);
    if (finding->class_ == ANALYSES_COLD)
        doc_say(d, "%s touched for the first time: only touching fewer lines helps%s", code ? "code" : "data",
                code ? "" : " (smaller types, denser layout, buffers used again)");
    else if (finding->class_ == ANALYSES_CAPACITY && code)
        doc_say(d, "the code in use does not fit %s: keep hot code together, unroll and inline less", size);
    else if (finding->class_ == ANALYSES_CAPACITY)
        doc_say(d, "the data in use does not fit %s: work in blocks that do, or make the data smaller", size);
    else if (code)
        doc_say(d, "lines of code compete for the same sets: place functions that run together side by side");
    else
        doc_say(d,
                "lines compete for the same sets while others are idle: change strides that are a power of two (pad "
                "rows, offset arrays)%s",
                framed ? ", or try another --pages" : "");
}

/* ------------------------------------------------------------------ whose misses */

/* Misses of the finding's class and level, of one row, or of a line in one object. */
struct part {
    const struct analyses_row *row;
    struct loader_place place;
    uint64_t misses;
};

static uint64_t misses_of(const struct analyses_tally *tally, enum analyses_class class_)
{
    return tally->reads[class_] + tally->writes[class_];
}

static uint64_t row_misses(const struct analyses_row *row, const struct finding *finding)
{
    return misses_of(&row->level[finding->level->number], finding->class_) -
           misses_of(&row->startup[finding->level->number], finding->class_);
}

static int by_line(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    const int order = report_by_place(&a->place, &b->place);
    if (order != 0)
        return order;
    return a->row->object != b->row->object ? (a->row->object > b->row->object) - (a->row->object < b->row->object)
                                            : (a->row > b->row) - (a->row < b->row);
}

static bool same_part(const struct part *a, const struct part *b)
{
    return a->row->object == b->row->object && report_by_place(&a->place, &b->place) == 0;
}

/* The line and object with most, its row the one with most; parts: one for each row with misses. */
static struct part largest(const struct part *parts, size_t count)
{
    struct part most = {.misses = 0};
    for (size_t i = 0, end; i < count; i = end) {
        struct part sum = parts[i];
        uint64_t best = parts[i].misses;
        for (end = i + 1; end < count && same_part(&parts[i], &parts[end]); end++) {
            sum.misses += parts[end].misses;
            sum.row = parts[end].misses > best ? parts[end].row : sum.row;
            best = parts[end].misses > best ? parts[end].misses : best;
        }
        if (sum.misses > most.misses)
            most = sum;
    }
    return most;
}

/* Whose misses the finding mostly is. Nobody's (row NULL): no profile, or no memory to find out. */
static struct part main_part(const struct report_digest *digest, const struct finding *finding)
{
    const struct analyses_profile_result *profile = digest->profile;
    struct part *parts = profile ? c2_calloc(profile->row_count + 1, sizeof *parts) : NULL;
    size_t count = 0;
    if (!parts)
        return (struct part){.row = NULL};
    for (size_t i = 0; i < profile->row_count; i++) {
        struct part part = {.row = &profile->rows[i], .misses = row_misses(&profile->rows[i], finding)};
        if (part.misses == 0)
            continue;
        report_place(&part.place, digest->run, profile->insns[part.row->insn].pc);
        parts[count++] = part;
    }
    qsort(parts, count, sizeof *parts, by_line);
    const struct part most = largest(parts, count);
    c2_free(parts);
    return most;
}

static const struct report_victim *victim_of(const struct report_digest *digest, const struct report_level *level,
                                             const struct analyses_row *row)
{
    for (size_t i = 0; i < digest->victim_count; i++) {
        const struct report_victim *victim = &digest->victims[i];
        if (&digest->levels[victim->level] == level && &digest->profile->rows[victim->row] == row)
            return victim;
    }
    return NULL;
}

static const char *remedy_of(enum analyses_reason reason)
{
    switch (reason) {
    case ANALYSES_REASON_INTRA:
        return "it lies in few sets: change its stride (pad its rows, work in blocks)";
    case ANALYSES_REASON_INTER:
        return "both lie in the same sets: shift one of them (pad it, or put it elsewhere)";
    case ANALYSES_REASON_SCALAR:
        return "a few bytes compete with other data: put them beside what is used with them";
    case ANALYSES_REASON_CODE:
        return "place functions that run together side by side";
    case ANALYSES_REASON_TABLES:
        return "page tables compete with data: use larger pages (--huge)";
    default:
        return "change strides that are a power of two";
    }
}

/* Whether another placement of pages can change the finding's misses. */
static bool is_framed(const struct report_digest *digest, const struct finding *finding)
{
    if (!digest->profile)
        return finding->level->level->index == CACHES_PHYSICAL;
    return digest->missed.levels[finding->level - digest->levels].framed != 0;
}

/* "64.5 % of them in malloc#2 at matmul.c:15, missed at main (matmul.c:30)" */
static void say_part(struct document *d, const struct report_digest *digest, const struct finding *finding,
                     const struct part *part)
{
    char object[256], place[256];
    doc_say(d, "%s of them in %s, missed at %s", doc_share(d, part->misses, finding->misses),
            report_object_text(object, sizeof object, digest->run, &digest->profile->objects[part->row->object]),
            report_place_text(place, sizeof place, digest->run, digest->profile->insns[part->row->insn].pc));
}

/* " and mostly evicted by the same array: ..." */
static void say_evictor(struct document *d, struct report_digest *digest, const struct finding *finding,
                        const struct report_victim *victim)
{
    const struct report_share evictor = report_main_evictor(digest, victim);
    char by[256];
    doc_say(d, " and mostly evicted by %s: %s%s",
            report_evictor_text(by, sizeof by, digest->run, digest->profile->rows[victim->row].object, &evictor),
            remedy_of(evictor.reason), is_framed(digest, finding) ? ", or try another --pages" : "");
}

static void say_cause(struct document *d, struct report_digest *digest, const struct finding *finding)
{
    const struct part part = main_part(digest, finding);
    const bool conflict = part.row && finding->class_ == ANALYSES_CONFLICT;
    const struct report_victim *victim = conflict ? victim_of(digest, finding->level, part.row) : NULL;
    if (part.row)
        say_part(d, digest, finding, &part);
    if (victim) {
        say_evictor(d, digest, finding, victim);
        return;
    }
    doc_say(d, "%s", part.row ? ": " : "");
    say_remedy(d, finding,
               part.row ? digest->profile->objects[part.row->object].kind == ANALYSES_CODE : finding->level->code,
               is_framed(digest, finding));
}

void report_add_advice(struct document *d, struct report_digest *digest)
{
    struct finding finding;
    const uint64_t total = weigh(&finding, digest) + other_cost(digest);
    const uint64_t shared = report_coherence_cost(digest);
    doc_note(d, DOC_FLOW, "look at:", "%s", "");
    if (shared > finding.cost && shared >= digest->run->counts->instructions / QUIET) {
        report_say_shared(d, digest, total);
        return;
    }
    if (!finding.level || total < digest->run->counts->instructions / QUIET) {
        doc_say(d, "nothing in the caches: all misses together cost less than one cycle in %u instructions", QUIET);
        return;
    }
    doc_say(d, "%s %s misses (%s, %s of its misses, %s of the cost): ", finding.level->level->name,
            class_text(finding.class_), doc_digits(d, finding.misses), doc_share(d, finding.misses, finding.of),
            doc_share(d, finding.cost, total));
    say_cause(d, digest, &finding);
}
