/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * tape: what the contents of a usual machine tell its verdicts.
 *
 * Model
 *   An access is simulated in two stages. The first (access.c, contents.c) decides what the levels hold, and writes a
 *   record on the tape; the second (verdict.c) reads it and says what it was: shadows, classes, evictors. Nothing goes
 *   back, so that the second may come at any time later, in the order of the tape, on whatever thread.
 *     hit        one word: the slot, and the column of the level. None where the level was asked for this line last
 *     miss       the same word, with the number of levels that missed. If somebody wants to hear of it, behind it the
 *                actor, three words of the caller's, and for each level that missed its set and its victim; and, of
 *                more than the first level, what those above have lost
 *     brief      a miss that is only counted by actor: in the first word the caller's bits as well; behind it, side by
 *                side, the victim of the first level and the low half of the actor; then, of each further level that
 *                missed, its victim and what those above have lost; and, if either is not 0, the actor's upper half and
 *                what those above the first level have lost. So a miss that the second level serves takes two words
 *     note       three words of the caller's, and an actor
 *     group      lines that are new get their rows
 *   The tape is the caller's (caches_defer_to), who hands it on when it is full; else the caches have one, and judge it
 *   themselves when it is full, when they tell an outcome, and when they are asked for counts.
 *
 * Invariants
 *   Between two accesses the tape has room for all that one access and its walks may write.
 */
#include "caches/contents_priv.h"
#include "caches/tape_priv.h"

#define OWN_WORDS C2_HOST_SIZE(512u, 4u)

enum c2_status cache_tape_init(struct caches *caches, struct c2_error *err)
{
    caches->verdicts = c2_calloc(1, sizeof *caches->verdicts);
    caches->tape.own = c2_alloc((OWN_WORDS + CACHES_TAPE_SLACK) * sizeof *caches->tape.own);
    if (!caches->verdicts || !caches->tape.own)
        return c2_fail_memory(err, "what is to be said of a cache");
    caches->tape.end.at = caches->tape.words = caches->tape.own;
    caches->tape.end.stop = caches->tape.own + OWN_WORDS;
    cache_verdicts_init(caches->verdicts, caches);
    return C2_OK;
}

void cache_tape_end(struct caches *caches)
{
    c2_free(caches->tape.own);
    cache_verdicts_end(caches->verdicts);
}

/* Of its own tape: the rows are there, so all that may go wrong is what `failed` says. */
static void say(struct caches *caches, struct caches_outcome *outcome)
{
    const size_t count = caches_deferred(caches);
    const enum c2_status status = cache_verdicts_say(caches->verdicts, caches->tape.own, count, NULL, outcome, NULL);
    C2_ASSERT(status == C2_OK || caches->verdicts->rows.failed);
}

bool cache_tape_is_own(const struct caches *caches) { return caches->tape.words == caches->tape.own; }

void cache_tape_catch_up(struct caches *caches)
{
    if (caches->usual && cache_tape_is_own(caches))
        say(caches, &caches->verdicts->outcome);
}

enum caches_tried cache_tape_full(struct caches *caches)
{
    if (!cache_tape_is_own(caches))
        return CACHES_FULL;
    cache_tape_catch_up(caches);
    return CACHES_TRIED;
}

bool cache_tape_group(struct caches *caches)
{
    const uint64_t key = caches->lines.group_key[caches->lines.groups - 1];
    if (cache_tape_is_own(caches)) {
        cache_tape_catch_up(caches);
        return cache_rows_add(&caches->verdicts->rows, key);
    }
    cache_tape_put(caches, TAPE_GROUP << TAPE_COLUMN | UINT64_C(1) << TAPE_BEHIND);
    cache_tape_put(caches, key);
    return true;
}

/* ------------------------------------------------------------------ misses and notes */

/* Returns where the next word goes. The place is kept by the caller: behind each word it would be read anew. */
static inline uint64_t *put_head(uint64_t *at, uint64_t first, const struct caches_noted *noted)
{
    *at++ = first;
    *at++ = noted->actor;
    for (unsigned i = 0; i < CACHES_NOTED; i++)
        *at++ = noted->word[i];
    return at;
}

static inline uint64_t first_word(const struct cache_trail *trail, uint32_t behind)
{
    return trail->slot | (uint64_t)trail->first->column << TAPE_COLUMN | (uint64_t)trail->missed << TAPE_MISSED |
           (uint64_t)behind << TAPE_BEHIND;
}

static inline uint64_t passed_word(const struct cache_passed *at) { return (uint64_t)at->set << 32 | at->victim; }

/* What levels above have lost, by levels that missed. */
static uint64_t lost_above(const struct cache_trail *trail)
{
    const struct cache_level *level = trail->first;
    uint64_t lost = 0;
    for (uint32_t i = 0; i < trail->missed; i++, level = level->next) {
        const struct cache_passed *at = &trail->at[level->depth];
        if (at->victim != 0)
            lost |= (uint64_t)(at->lost & ~(1u << level->column)) << 8 * i;
    }
    return lost;
}

static __attribute__((noinline)) uint64_t *put_further(uint64_t *at, const struct cache_trail *trail,
                                                       const struct caches_noted *noted)
{
    at = put_head(at, first_word(trail, TAPE_HEAD + 1 + trail->missed), noted);
    for (uint32_t i = 0; i < trail->missed; i++)
        *at++ = passed_word(&trail->at[trail->first->depth + i]);
    *at++ = lost_above(trail);
    return at;
}

/* One level has missed that is above all others, so what it loses only it has lost. */
static inline uint64_t *put_miss(uint64_t *at, const struct cache_trail *trail, const struct caches_noted *noted)
{
    if (C2_UNLIKELY(trail->missed != 1 || trail->first->depth != 0))
        return put_further(at, trail, noted);
    at = put_head(at, first_word(trail, TAPE_HEAD + 1), noted);
    *at++ = passed_word(&trail->at[0]);
    return at;
}

static inline enum caches_tried written(struct caches *caches, uint64_t *at)
{
    caches->tape.end.at = at;
    return C2_UNLIKELY(at >= caches->tape.end.stop) ? cache_tape_full(caches) : CACHES_TRIED;
}

enum caches_tried caches_defer(struct caches *caches, const struct caches_noted *noted)
{
    cache_tape_asked(caches->trail.first, caches->trail.slot);
    uint64_t *at = caches->tape.end.at;
    if (noted)
        return written(caches, put_miss(at, &caches->trail, noted));
    *at++ = first_word(&caches->trail, 0);
    return written(caches, at);
}

/* ------------------------------------------------------------------ misses that are only counted */

/* Who above has lost a level's victim, in the upper half of a word. */
static inline uint64_t lost_word(const struct cache_trail *trail, const struct cache_level *level)
{
    const struct cache_passed *at = &trail->at[level->depth];
    return at->victim != 0 ? (uint64_t)(at->lost & ~(1u << level->column)) << 32 : 0;
}

static __attribute__((noinline)) uint64_t *put_brief_further(uint64_t *at, const struct cache_trail *trail,
                                                             uint64_t actor, uint64_t bits)
{
    const uint64_t rest = actor >> 32 | lost_word(trail, trail->first);
    const struct cache_level *level = trail->first;
    *at++ = first_word(trail, trail->missed + (rest != 0)) | bits;
    *at++ = trail->at[level->depth].victim | actor << 32;
    for (uint32_t i = 1; i < trail->missed; i++) {
        level = level->next;
        *at++ = trail->at[level->depth].victim | lost_word(trail, level);
    }
    if (rest != 0)
        *at++ = rest;
    return at;
}

enum caches_tried caches_defer_briefly(struct caches *caches, uint64_t actor, uint32_t own_bits)
{
    const struct cache_trail *trail = &caches->trail;
    const uint64_t bits = (uint64_t)own_bits << TAPE_BITS | TAPE_IS_BRIEF;
    uint64_t *at = caches->tape.end.at;
    C2_ASSERT(own_bits >> CACHES_BRIEF_BITS == 0);
    cache_tape_asked(trail->first, trail->slot);
    if (C2_UNLIKELY(trail->missed != 1 || trail->first->depth != 0 || actor >> 32 != 0))
        return written(caches, put_brief_further(at, trail, actor, bits));
    at[0] = first_word(trail, 1) | bits;
    at[1] = trail->at[0].victim | actor << 32;
    return written(caches, at + 2);
}

enum caches_tried caches_note(struct caches *caches, const struct caches_noted *noted)
{
    const uint64_t first = TAPE_NOTE << TAPE_COLUMN | (uint64_t)TAPE_HEAD << TAPE_BEHIND;
    return written(caches, put_head(caches->tape.end.at, first, noted));
}

void caches_judge(struct caches *caches, struct caches_outcome *outcome)
{
    const struct caches_noted noted = {.actor = caches->lines.actor};
    C2_ASSERT(cache_tape_is_own(caches));
    cache_tape_asked(caches->trail.first, caches->trail.slot);
    caches->tape.end.at = put_miss(caches->tape.end.at, &caches->trail, &noted);
    say(caches, outcome ? outcome : &caches->verdicts->outcome);
    C2_PROMISE(cache_access_holds(caches, caches->trail.slot));
}

/* ------------------------------------------------------------------ a tape of the caller's */

bool caches_can_defer(const struct caches *caches) { return caches->usual; }

void caches_defer_to(struct caches *caches, uint64_t *words, uint32_t room)
{
    C2_ASSERT(caches->usual && caches->tape.end.at == caches->tape.words && room > CACHES_TAPE_SLACK);
    caches->tape.end.at = caches->tape.words = words;
    caches->tape.end.stop = words + room - CACHES_TAPE_SLACK;
}

uint32_t caches_deferred(struct caches *caches)
{
    const size_t count = (size_t)(caches->tape.end.at - caches->tape.words);
    caches->tape.end.at = caches->tape.words;
    return (uint32_t)count;
}

enum c2_status caches_hear(struct caches *caches, const uint64_t *words, uint32_t count,
                           const struct caches_hearer *hearer, struct c2_error *err)
{
    struct cache_verdicts *verdicts = caches->verdicts;
    return cache_verdicts_say(verdicts, words, count, hearer, &verdicts->outcome, err);
}
