/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cost: what the misses of something have cost.
 *
 * Model
 *   A miss costs the cycles of its level (caches/cost.c). What something has cost is the sum over its misses, by class,
 *   without those of start-up, whose cost is a sum of its own: libraries are loaded and bound whatever the program
 *   does.
 *
 * Counting
 *   Whole cycles, so that every order and share is the same everywhere.
 */
#include "report/report_priv.h"

static void add_tally(struct report_sums *to, const struct analyses_tally *tally)
{
    const uint64_t cold = tally->reads[ANALYSES_COLD] + tally->writes[ANALYSES_COLD];
    const uint64_t capacity = tally->reads[ANALYSES_CAPACITY] + tally->writes[ANALYSES_CAPACITY];
    const uint64_t conflict = tally->reads[ANALYSES_CONFLICT] + tally->writes[ANALYSES_CONFLICT];
    to->cold += cold;
    to->capacity += capacity;
    to->conflict += conflict;
    to->misses += cold + capacity + conflict;
    to->placement += tally->placement;
    to->framed += tally->framed;
}

static void add_sums(struct report_sums *to, const struct report_sums *from)
{
    to->misses += from->misses;
    to->cold += from->cold;
    to->capacity += from->capacity;
    to->conflict += from->conflict;
    to->placement += from->placement;
    to->framed += from->framed;
}

static void weigh(struct report_missed *missed, const struct report_digest *digest)
{
    missed->cold = missed->capacity = missed->conflict = missed->loading = 0;
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct report_sums *all = &missed->levels[i], *startup = &missed->startup[i];
        const uint64_t cycles = digest->levels[i].miss_cycles;
        missed->cold += (all->cold - startup->cold) * cycles;
        missed->capacity += (all->capacity - startup->capacity) * cycles;
        missed->conflict += (all->conflict - startup->conflict) * cycles;
        missed->loading += startup->misses * cycles;
    }
    missed->own = missed->cold + missed->capacity + missed->conflict;
}

/* One tally a level, by the profile's numbers. */
static void add_tallies(struct report_missed *to, const struct report_digest *digest,
                        const struct analyses_tally *tallies, const struct analyses_tally *startup)
{
    for (size_t i = 0; i < digest->level_count; i++) {
        add_tally(&to->levels[i], &tallies[digest->levels[i].number]);
        add_tally(&to->startup[i], &startup[digest->levels[i].number]);
    }
    weigh(to, digest);
}

static void add_translations(struct analyses_translations *to, const struct analyses_translations *from)
{
    to->misses += from->misses;
    to->walks += from->walks;
}

void report_add_object(struct report_missed *to, const struct report_digest *digest,
                       const struct analyses_object *object)
{
    add_tallies(to, digest, object->level, object->startup);
    add_translations(&to->tlb, &object->tlb);
    add_translations(&to->tlb_startup, &object->tlb_startup);
}

void report_add_row(struct report_missed *to, const struct report_digest *digest, const struct analyses_row *row)
{
    add_tallies(to, digest, row->level, row->startup);
    add_translations(&to->tlb, &row->tlb);
    add_translations(&to->tlb_startup, &row->tlb_startup);
}

void report_add_missed(struct report_missed *to, const struct report_missed *from)
{
    for (size_t i = 0; i < REPORT_MAX_LEVELS; i++) {
        add_sums(&to->levels[i], &from->levels[i]);
        add_sums(&to->startup[i], &from->startup[i]);
    }
    to->cold += from->cold;
    to->capacity += from->capacity;
    to->conflict += from->conflict;
    to->own += from->own;
    to->loading += from->loading;
    add_translations(&to->tlb, &from->tlb);
    add_translations(&to->tlb_startup, &from->tlb_startup);
}

int report_by_cost(const struct report_missed *a, const struct report_missed *b)
{
    if (a->own != b->own)
        return a->own > b->own ? -1 : 1;
    return (a->loading < b->loading) - (a->loading > b->loading);
}

/* How many of BAR marks the first `part` of `whole` have, rounded half up. */
static unsigned marks(uint64_t part, uint64_t whole)
{
    return (unsigned)(((unsigned __int128)part * 2 * REPORT_BAR + whole) / ((unsigned __int128)whole * 2));
}

char *report_class_bar(char *buffer, const struct report_missed *missed)
{
    const unsigned cold = missed->own == 0 ? 0 : marks(missed->cold, missed->own);
    const unsigned fits = missed->own == 0 ? 0 : marks(missed->cold + missed->capacity, missed->own);
    const unsigned length = missed->own == 0 ? 0 : REPORT_BAR;
    for (unsigned i = 0; i < length; i++)
        buffer[i] = i < cold ? '.' : i < fits ? '=' : '#';
    buffer[length] = '\0';
    return buffer;
}
