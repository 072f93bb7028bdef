/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * advice: the one line that says what to look at.
 *
 * Model
 *   Each (level, class) pair costs its misses times what a miss of the level costs (caches/cost.c); the dearest pair is
 *   named, with the remedy usual for it. On a tie the level nearer the core wins, then conflict before capacity before
 *   cold: what is easier to mend. When all misses together cost less than one cycle in QUIET instructions, nothing is
 *   worth a look.
 *   When the dearest pair is conflicts and a profile says who evicted whom, the instruction and object with most of
 *   them are named, with the remedy for their reason.
 */
#include <inttypes.h>
#include <string.h>

#include "report/profile_priv.h"

#define QUIET 20u

struct finding {
    const struct report_level *level;
    enum caches_class class_;
    uint64_t misses, cost;
};

/* The dearest pair into *dearest; returns what all misses cost. */
static uint64_t weigh(struct finding *dearest, const struct caches_machine *machine, const struct report_level *levels,
                      size_t count)
{
    uint64_t total = 0;
    *dearest = (struct finding){0};
    for (size_t i = 0; i < count; i++) {
        const struct caches_counts *n = levels[i].counts;
        const struct {
            enum caches_class class_;
            uint64_t misses;
        } classes[] = {{CACHES_CONFLICT, n->conflict}, {CACHES_CAPACITY, n->capacity}, {CACHES_COLD, n->cold}};
        for (size_t c = 0; c < sizeof classes / sizeof classes[0]; c++) {
            uint64_t cost = classes[c].misses * caches_miss_cycles(machine, levels[i].depth, levels[i].code);
            total += cost;
            if (cost > dearest->cost)
                *dearest = (struct finding){&levels[i], classes[c].class_, classes[c].misses, cost};
        }
    }
    return total;
}

static const char *class_text(enum caches_class class_)
{
    return class_ == CACHES_CONFLICT ? "conflict" : class_ == CACHES_CAPACITY ? "capacity" : "cold";
}

/* What the class means there and what usually helps. size: the level's, as text. */
static void remedy(char *buffer, size_t bytes, const struct finding *finding, const char *size)
{
    const bool code = finding->level->code;
    switch (finding->class_) {
    case CACHES_CONFLICT:
        if (code)
            snprintf(buffer, bytes,
                     "lines of code compete for the same sets: place functions that run together "
                     "side by side");
        else
            snprintf(buffer, bytes,
                     "lines compete for the same sets while others are idle: change strides that are a "
                     "power of two (pad rows, offset arrays)%s",
                     finding->level->level->index == CACHES_PHYSICAL ? ", or try another --pages" : "");
        break;
    case CACHES_CAPACITY:
        if (code)
            snprintf(buffer, bytes, "the code in use does not fit %s: keep hot code together, unroll and inline less",
                     size);
        else
            snprintf(buffer, bytes, "the data in use does not fit %s: work in blocks that do, or make the data smaller",
                     size);
        break;
    default:
        snprintf(buffer, bytes, "%s touched for the first time: only touching fewer lines helps%s",
                 code ? "code" : "data", code ? "" : " (smaller types, denser layout, buffers used again)");
        break;
    }
}

/* ------------------------------------------------------------------ conflicts whose parties are known */

static const struct report_victim *first_victim(const struct report_digest *digest, size_t level)
{
    for (size_t i = 0; digest && i < digest->victim_count; i++) {
        if (digest->victims[i].level == level)
            return &digest->victims[i];
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

/* "99.0 % of them in malloc#2 at matmul.c:15, missed at main (matmul.c:30) and mostly evicted by the same array:
 * ..." */
static void parties(char *buffer, size_t bytes, const struct report_run *run, struct report_digest *digest,
                    const struct finding *finding, const struct report_victim *victim)
{
    const struct analyses_row *row = &digest->profile->rows[victim->row];
    const struct report_share evictor = report_main_evictor(digest, victim);
    char share[32], object[192], place[192], by[192];
    snprintf(buffer, bytes, "%s of them in %s, missed at %s and mostly evicted by %s: %s%s",
             report_percent(share, victim->count, finding->misses),
             report_object_text(object, sizeof object, run, &digest->profile->objects[row->object]),
             report_place_text(place, sizeof place, run, digest->profile->insns[row->insn].pc),
             report_evictor_text(by, sizeof by, run, row->object, &evictor), remedy_of(evictor.reason),
             finding->level->level->index == CACHES_PHYSICAL ? ", or try another --pages" : "");
}

char *report_advice(char *buffer, size_t bytes, const struct report_run *run, struct report_digest *digest)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    struct finding finding;
    const uint64_t total = weigh(&finding, run->machine, levels, report_levels(levels, run));
    if (!finding.level || total < run->counts->instructions / QUIET) {
        snprintf(buffer, bytes,
                 "nothing in the caches: all misses together cost less than one cycle in %u instructions", QUIET);
        return buffer;
    }
    char count[32], share[32], size[32], help[896];
    const struct report_victim *victim = finding.class_ == CACHES_CONFLICT
                                             ? first_victim(digest, (size_t)(finding.level - levels))
                                             : NULL;
    if (victim)
        parties(help, sizeof help, run, digest, &finding, victim);
    else
        remedy(help, sizeof help, &finding, c2_size_text(size, finding.level->level->size_bytes));
    snprintf(buffer, bytes, "%s %s misses (%s, %s of its misses): %s", finding.level->level->name,
             class_text(finding.class_), c2_group_digits(count, finding.misses),
             report_percent(share, finding.misses, finding.level->counts->misses), help);
    return buffer;
}
