/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * conflicts: what missed by conflict, and what had evicted the line.
 *
 * Model
 *   The JSON has one entry a victim (an instruction and the object it missed in, at one level) with its originators. A
 *   list that is longer than its limit ends with an entry that has the key `rest` and the sums of all that was not
 *   listed. The text has a sentence for each of the dearest victims, over all levels and without start-up, that are
 *   worth a line; and one on what the frames of pages chose. "evicted by": the object that caused most of these
 *   evictions, with its share.
 *
 * Invariants
 *   Sums over a list of the JSON are whole whatever its limit: the counts of a level's conflicts are its conflict
 *   misses, those of an entry's originators are the entry's.
 */
#include <string.h>

#include "report/report_priv.h"

/* In the JSON, in its slim form the second: victims of a level, some 300 bytes each, and originators of each. */
#define VICTIMS 200
#define SLIM_VICTIMS 3
#define ORIGINATORS 10
#define SLIM_ORIGINATORS 2
#define SHOWN 5  /* in the text, */
#define WORTH 5u /* where they are that many per cent of the cost */

/* ------------------------------------------------------------------ all of them */

static void conflicts_add_insn(struct document *d, const struct report_run *run, uint32_t row_number)
{
    const struct analyses_row *row = &run->sim.profile->rows[row_number];
    const struct guest_va pc = run->sim.profile->insns[row->insn].pc;
    struct loader_place place;
    names_place(&place, &run->sim, pc);
    chapter_add_address(d, "pc", pc.v);
    chapter_add_place(d, &place);
    chapter_add_inlined(d, &run->sim, pc);
    doc_string(d, DOC_JSON, "object", run->sim.profile->objects[row->object].name);
}

static void add_originator(struct document *d, enum doc_in in, const struct report_run *run,
                           const struct analyses_pair *pair)
{
    doc_group(d, in, NULL);
    if (pair->evictor != ANALYSES_NOBODY)
        conflicts_add_insn(d, run, pair->evictor);
    doc_string(d, DOC_JSON, "reason", analyses_reason_name(pair->reason));
    doc_count(d, DOC_JSON, "count", pair->count);
    doc_close(d);
}

/* What a form lists no more: all from `first` on. */
static void add_other_originators(struct document *d, enum doc_in form, const struct digest_victim *victim,
                                  size_t first)
{
    uint64_t rest = 0;
    if (victim->pair_count <= first)
        return;
    for (size_t i = first; i < victim->pair_count; i++)
        rest += victim->pairs[i]->count;
    doc_group(d, form, NULL);
    doc_group(d, DOC_JSON, "rest");
    doc_count(d, DOC_JSON, "originators", victim->pair_count - first);
    doc_close(d);
    doc_count(d, DOC_JSON, "count", rest);
    doc_close(d);
}

static void add_originators(struct document *d, const struct report_run *run, const struct digest_victim *victim)
{
    doc_table(d, DOC_JSON, "originators");
    for (size_t i = 0; i < victim->pair_count && i < ORIGINATORS; i++)
        add_originator(d, i < SLIM_ORIGINATORS ? DOC_JSON : DOC_FULL, run, victim->pairs[i]);
    add_other_originators(d, DOC_SLIM, victim, SLIM_ORIGINATORS);
    add_other_originators(d, DOC_FULL, victim, ORIGINATORS);
    doc_close(d);
}

static void add_victim(struct document *d, enum doc_in in, const struct digest *digest,
                       const struct digest_victim *victim)
{
    const struct digest_level *level = &digest->levels[victim->level];
    if (!doc_group(d, in, NULL)) {
        doc_close(d);
        return;
    }
    doc_string(d, DOC_JSON, "level", level->level->name);
    doc_count(d, DOC_JSON, "count", victim->count);
    if (digest->profile->compared)
        doc_count(d, DOC_JSON, "placement", digest->profile->rows[victim->row].level[level->number].placement);
    doc_group(d, DOC_JSON, "miss");
    conflicts_add_insn(d, report_of(digest), victim->row);
    doc_close(d);
    add_originators(d, report_of(digest), victim);
    doc_close(d);
}

static void add_other_victims(struct document *d, enum doc_in form, const char *level,
                              const struct digest_victim *victims, size_t count)
{
    uint64_t misses = 0, pairs = 0;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        misses += victims[i].count;
        pairs += victims[i].pair_count;
    }
    doc_group(d, form, NULL);
    doc_string(d, DOC_JSON, "level", level);
    doc_count(d, DOC_JSON, "count", misses);
    doc_group(d, DOC_JSON, "rest");
    doc_count(d, DOC_JSON, "misses", count);
    doc_count(d, DOC_JSON, "pairs", pairs);
    doc_close(d);
    doc_close(d);
}

static void add_victims(struct document *d, const struct digest *digest)
{
    for (size_t i = 0, end; i < digest->victim_count; i = end) {
        const struct digest_victim *first = &digest->victims[i];
        const char *level = digest->levels[first->level].level->name;
        for (end = i; end < digest->victim_count && digest->victims[end].level == first->level; end++) {
            if (end - i < VICTIMS)
                add_victim(d, end - i < SLIM_VICTIMS ? DOC_JSON : DOC_FULL, digest, &digest->victims[end]);
        }
        const size_t count = end - i;
        const size_t slim = count < SLIM_VICTIMS ? count : SLIM_VICTIMS, full = count < VICTIMS ? count : VICTIMS;
        add_other_victims(d, DOC_SLIM, level, first + slim, count - slim);
        add_other_victims(d, DOC_FULL, level, first + full, count - full);
    }
}

static void add_reasons(struct document *d, const struct digest *digest)
{
    doc_table(d, DOC_JSON, "reasons");
    for (size_t i = 0; i < digest->level_count; i++) {
        const uint64_t *counts = digest->profile->reasons[digest->levels[i].number];
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "level", digest->levels[i].level->name);
        for (unsigned reason = 0; reason < ANALYSES_REASONS; reason++)
            doc_count(d, DOC_JSON, analyses_reason_name((enum analyses_reason)reason), counts[reason]);
        doc_close(d);
    }
    doc_close(d);
}

void report_add_conflicts(struct document *d, struct digest *digest)
{
    doc_table(d, DOC_JSON, "conflicts");
    add_victims(d, digest);
    doc_close(d);
    add_reasons(d, digest);
}

/* ------------------------------------------------------------------ the dearest, in sentences */

/* Conflict misses but for those of start-up. */
static uint64_t own_conflicts(const struct digest *digest, const struct digest_victim *victim)
{
    const struct analyses_tally *startup =
        &digest->profile->rows[victim->row].startup[digest->levels[victim->level].number];
    return victim->count - startup->reads[ANALYSES_CONFLICT] - startup->writes[ANALYSES_CONFLICT];
}

static uint64_t conflicts_cost_of(const struct digest *digest, const struct digest_victim *victim)
{
    return own_conflicts(digest, victim) * digest->levels[victim->level].miss_cycles;
}

/* The dearest ones worth a line, of equal ones the nearest to the core, into *out; returns how many. */
static size_t dearest(const struct digest_victim *out[SHOWN], const struct digest *digest)
{
    size_t count = 0;
    for (size_t i = 0; i < digest->victim_count; i++) {
        const uint64_t cost = conflicts_cost_of(digest, &digest->victims[i]);
        size_t at = count;
        while (at > 0 && conflicts_cost_of(digest, out[at - 1]) < cost)
            at--;
        if (at == SHOWN || !digest_noticeable(digest, cost))
            continue;
        count += count < SHOWN;
        memmove(&out[at + 1], &out[at], (count - 1 - at) * sizeof out[0]);
        out[at] = &digest->victims[i];
    }
    return count;
}

static void note_victim(struct document *d, struct digest *digest, const struct digest_victim *victim)
{
    const struct analyses_row *row = &digest->profile->rows[victim->row];
    const struct analyses_object *object = &digest->profile->objects[row->object];
    const struct digest_share evictor = digest_main_evictor(digest, victim);
    const uint64_t misses = own_conflicts(digest, victim);
    char text[NAMES_BYTES], size[32];
    doc_note(d, DOC_ITEM, NULL, "%s", names_object_text(text, sizeof text, digest->run, object));
    if (object->bytes != 0)
        doc_say(d, " (%s)", doc_size(size, object->bytes));
    doc_say(d, ": %s conflict miss%s in %s at %s;", doc_digits(d, misses), misses == 1 ? "" : "es",
            digest->levels[victim->level].level->name,
            names_charged_text(text, sizeof text, digest->run, digest->profile->insns[row->insn].pc));
    doc_say(d, " %s evicted by %s (%s)", doc_share(d, evictor.count, victim->count),
            names_evictor_text(text, sizeof text, digest->run, row->object, &evictor),
            analyses_reason_name(evictor.reason));
}

static void note_none(struct document *d, const struct digest *digest, uint64_t misses)
{
    doc_note(d, DOC_LINE, NULL, "conflict misses: %s, %s of the cost", misses == 0 ? "none" : doc_digits(d, misses),
             doc_share(d, digest->missed.conflict, digest_whole_cost(digest)));
}

void report_add_dearest(struct document *d, struct digest *digest)
{
    const struct digest_victim *shown[SHOWN];
    const size_t count = dearest(shown, digest);
    uint64_t misses = 0;
    size_t places = 0;
    for (size_t i = 0; i < digest->victim_count; i++) {
        const uint64_t own = own_conflicts(digest, &digest->victims[i]);
        misses += own;
        places += own != 0;
    }
    if (!digest_shows(digest, digest->missed.conflict, WORTH))
        return;
    if (count == 0) {
        note_none(d, digest, misses);
        return;
    }
    doc_note(d, DOC_HEADING, NULL, "conflict misses by instruction and object, the dearest:");
    for (size_t i = 0; i < count; i++) {
        note_victim(d, digest, shown[i]);
        misses -= own_conflicts(digest, shown[i]);
    }
    if (misses != 0)
        doc_note(d, DOC_LINE, NULL, "  and %s more at %s other%s", doc_digits(d, misses), doc_digits(d, places - count),
                 places - count == 1 ? "" : "s");
}

/* ------------------------------------------------------------------ what another placement could change */

/* Conflict misses in sets that the frames of pages have chosen, but for those of start-up. */
static uint64_t framed(const struct digest *digest, size_t level)
{
    return digest->missed.levels[level].framed - digest->missed.startup[level].framed;
}

void report_add_framed(struct document *d, struct digest *digest)
{
    const char *between = " ";
    uint64_t cost = 0;
    for (size_t i = 0; i < digest->level_count; i++)
        cost += framed(digest, i) * digest->levels[i].miss_cycles;
    if (report_of(digest)->against || !digest_noticeable(digest, cost) || !digest_shows(digest, cost, WORTH))
        return;
    doc_note(d, DOC_KEY, "placement", "conflict misses in sets that the frames of pages chose:");
    for (size_t i = 0; i < digest->level_count; i++) {
        if (framed(digest, i) == 0)
            continue;
        doc_say(d, "%s%s in %s", between, doc_digits(d, framed(digest, i)), digest->levels[i].level->name);
        between = ", ";
    }
    doc_say(d, " (see what another placement changes: --against %s)",
            digest->run->placement->placement == MMU_RANDOM ? "sequential" : "random");
}
