/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * excerpts: pieces of the run, kept as they were, so that what a program does can be looked at when it is over.
 *
 * Model
 *   Records of what is measured are numbered by their words. An excerpt is so many of them, or a few more, as its last
 *   record is whole. Those of one series have one length, and one begins every so many words. When there would be more
 *   than are kept every second one is dropped, and from then on one begins half as often: so they are spread evenly
 *   over the run, whatever its length. With each address goes the owner of the memory at that time. When the run is
 *   over, accesses.c reads them.
 *   The first series begins with excerpts that follow on each other, so that of a short run all is kept. Of a longer
 *   run there are two more: many short excerpts, as a loop of which most accesses miss may be a hundredth of the run,
 *   and a few long ones, in which the outer loops of nests go round, and which the run's start is not one of.
 *   Between two phases that are measured there is a hole, and control does not go from one to the other.
 *
 * Invariants
 *   What is kept depends on the records alone, not on how they were cut into batches.
 *
 * Not modelled
 *   What happens between excerpts: a loop whose rounds are longer than one has no step there.
 *
 * Price
 *   12 bytes a word, and 16 for each place that was accessed: at most some 60 MB. Time only in excerpts; beyond the
 *   first series they are at most a quarter of the words.
 */
#include <string.h>

#include "analyses/excerpts_priv.h"

#define REMEMBERED 16u /* places by the number of a slot */

/* What all excerpts of a series have in common. Those of the further series are a part of the words, one in SPARSE of a
 * series, and begin where none of the first one does. */
enum { WHOLE, SHORT, LONG, SERIES };
#define WHOLE_WORDS 65536u
#define SHORT_WORDS 4096u
#define LONG_WORDS (8 * WHOLE_WORDS)
#define SPARSE 8u
static const struct series_rule {
    uint32_t words, most; /* of an excerpt; excerpts that are kept */
    uint32_t first;       /* of them in struct excerpts */
    uint64_t from, every; /* in words: where the first one begins; from one to the next, at first */
    bool amid;            /* each stands for what is on both sides of it; else for what follows, from the start on */
} rules[SERIES] = {
    [WHOLE] = {WHOLE_WORDS, 16, 0, 0, WHOLE_WORDS},
    [SHORT] = {SHORT_WORDS, 128, 16, WHOLE_WORDS, SPARSE *SHORT_WORDS},
    [LONG] = {LONG_WORDS, 4, 144, 2 * WHOLE_WORDS, SPARSE *LONG_WORDS, true},
};
enum { ALL_KEPT = 148 };

struct series {
    const struct series_rule *rule;
    uint64_t from, every; /* as in the rule, for those that are left and those to come */
    struct excerpt *kept;
    uint32_t count;
    struct objects_found remembered[REMEMBERED];
    uint32_t number_of[REMEMBERED]; /* of the place in the excerpt that goes on; 0: none */
};

struct excerpts {
    struct analysis base;
    struct profile *profile;
    struct loader_symbols *symbols;
    bool measuring;
    const struct stream_blocks *blocks;
    uint64_t word;  /* so many so far */
    uint32_t holes; /* in them: what is not measured */
    struct series series[SERIES];
    struct excerpt kept[ALL_KEPT]; /* series after series */
    struct accesses *accesses;
};

/* ------------------------------------------------------------------ life */

static void excerpts_release(struct excerpt *excerpt)
{
    c2_free(excerpt->words);
    c2_free(excerpt->places);
    c2_free(excerpt->list);
    c2_free(excerpt->stretches);
    *excerpt = (struct excerpt){.used = 0};
}

static void excerpts_destroy(struct analysis *analysis)
{
    struct excerpts *excerpts = (struct excerpts *)analysis;
    for (uint32_t i = 0; i < ALL_KEPT; i++)
        excerpts_release(&excerpts->kept[i]);
    accesses_destroy(excerpts->accesses);
    c2_free(excerpts);
}

static void begin_series(struct excerpts *excerpts)
{
    excerpts->word = 0;
    excerpts->holes = 0;
    for (unsigned i = 0; i < SERIES; i++)
        excerpts->series[i] = (struct series){
            .rule = &rules[i], .from = rules[i].from, .every = rules[i].every, .kept = &excerpts->kept[rules[i].first]};
}

static enum c2_status excerpts_create(struct analysis **out, const struct analyses_setup *setup,
                                      const struct analyses *analyses, struct c2_error *err)
{
    struct excerpts *excerpts = c2_calloc(1, sizeof *excerpts);
    if (!excerpts)
        return c2_fail_memory(err, "the excerpts of the run");
    excerpts->base.kind = &analysis_excerpts;
    excerpts->profile = (struct profile *)analyses_find(analyses, ANALYSIS_profile);
    excerpts->symbols = setup->symbols;
    excerpts->measuring = true;
    begin_series(excerpts);
    *out = &excerpts->base;
    return C2_OK;
}

/* ------------------------------------------------------------------ one excerpt */

static enum c2_status excerpts_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the excerpts of the run");
}

/* least: words of an excerpt of the series. */
static enum c2_status excerpts_reach(struct excerpt *excerpt, uint32_t words, uint32_t least, struct c2_error *err)
{
    const uint32_t room = excerpt->room == 0 ? least + 1024u : excerpt->used + words;
    if (excerpt->used + words <= excerpt->room)
        return C2_OK;
    uint64_t *kept = c2_realloc(excerpt->words, room * sizeof *kept);
    if (kept)
        excerpt->words = kept;
    uint32_t *places = c2_realloc(excerpt->places, room * sizeof *places);
    if (places)
        excerpt->places = places;
    if (!kept || !places)
        return excerpts_no_memory(err);
    excerpt->room = room;
    return C2_OK;
}

static enum c2_status new_place(struct excerpt *excerpt, const struct excerpt_place *place, struct c2_error *err)
{
    if (!c2_grow((void **)&excerpt->list, &excerpt->place_room, excerpt->place_count, sizeof *excerpt->list))
        return excerpts_no_memory(err);
    excerpt->list[excerpt->place_count++] = *place;
    return C2_OK;
}

static enum c2_status new_stretch(struct excerpt *excerpt, uint32_t tid, uint32_t hole, struct c2_error *err)
{
    const uint32_t count = excerpt->stretch_count;
    const struct excerpt_stretch *last = count == 0 ? NULL : &excerpt->stretches[count - 1];
    if (last && last->tid == tid && last->hole == hole)
        return C2_OK;
    if (!c2_grow((void **)&excerpt->stretches, &excerpt->stretch_room, count, sizeof *excerpt->stretches))
        return excerpts_no_memory(err);
    excerpt->stretches[excerpt->stretch_count++] = (struct excerpt_stretch){excerpt->used, tid, hole};
    return C2_OK;
}

/* The place of an address. A slot mostly goes on in the place of another with its number. */
static enum c2_status excerpts_place_of(struct excerpts *excerpts, struct series *series, struct excerpt *excerpt,
                                        uint32_t slot, uint64_t va, uint32_t *out, struct c2_error *err)
{
    struct objects_found *found = &series->remembered[slot % REMEMBERED];
    uint32_t *number = &series->number_of[slot % REMEMBERED];
    enum c2_status status = C2_OK;
    if (*number == 0 || va < found->start || va >= found->end) {
        status = profile_owner(excerpts->profile, SIM_READ, (struct guest_va){va}, found, err);
        *number = excerpt->place_count;
        if (status == C2_OK)
            status = new_place(excerpt, &(struct excerpt_place){found->owner, found->start}, err);
    }
    *out = *number;
    return status;
}

static bool excerpts_is_address(const struct stream_slot *slot)
{
    return slot->size != 0 && slot->kind != STREAM_CACHE;
}

static enum c2_status keep_record(struct excerpts *excerpts, struct series *series, struct excerpt *excerpt,
                                  const uint64_t *record, struct c2_error *err)
{
    const struct stream_block *block = stream_blocks_at(excerpts->blocks, stream_header_block(record[0]));
    const uint32_t slots = stream_header_slots(record[0]);
    enum c2_status status = excerpts_reach(excerpt, slots + 1, series->rule->words, err);
    if (status != C2_OK)
        return status;
    uint32_t *places = &excerpt->places[excerpt->used];
    memcpy(&excerpt->words[excerpt->used], record, (slots + 1) * sizeof *record);
    memset(places, 0, (slots + 1) * sizeof *places);
    for (uint32_t i = 0; i < slots && status == C2_OK; i++)
        if (excerpts_is_address(&block->slots[i]))
            status = excerpts_place_of(excerpts, series, excerpt, i, record[i + 1], &places[i + 1], err);
    excerpt->used += slots + 1;
    return status;
}

/* ------------------------------------------------------------------ all of them */

/* Every second one goes. */
static void thin_out(struct series *series)
{
    const uint32_t stays = series->rule->amid ? 1 : 0;
    for (uint32_t i = 0; i < series->rule->most; i += 2) {
        const struct excerpt kept = series->kept[i + stays];
        excerpts_release(&series->kept[i + 1 - stays]);
        series->kept[i + stays] = (struct excerpt){.used = 0};
        series->kept[i / 2] = kept;
    }
    series->count = series->rule->most / 2;
    series->from += stays * series->every;
    series->every *= 2;
}

/* Words from here to where the next excerpt may begin; 0: one does, or goes on. */
static uint64_t words_to_skip(const struct series *series, uint64_t word)
{
    if (word < series->from)
        return series->from - word;
    const uint64_t at = (word - series->from) % series->every;
    return at < series->rule->words ? 0 : series->every - at;
}

/* The one that the word is in, begun if need be; NULL: it is in none. */
static enum c2_status current(struct series *series, uint64_t word, struct excerpt **out, struct c2_error *err)
{
    *out = NULL;
    while (words_to_skip(series, word) == 0 && (word - series->from) / series->every >= series->rule->most)
        thin_out(series);
    if (words_to_skip(series, word) != 0)
        return C2_OK;
    const uint64_t number = (word - series->from) / series->every;
    struct excerpt *excerpt = *out = &series->kept[number];
    if (number < series->count)
        return C2_OK;
    series->count = (uint32_t)number + 1;
    memset(series->number_of, 0, sizeof series->number_of);
    return new_place(excerpt, &(struct excerpt_place){.owner = PROFILE_NONE}, err);
}

static enum c2_status keep_in_series(struct excerpts *excerpts, struct series *series, const uint64_t *record,
                                     uint32_t tid, struct c2_error *err)
{
    struct excerpt *excerpt;
    enum c2_status status = current(series, excerpts->word, &excerpt, err);
    if (status == C2_OK && excerpt)
        status = new_stretch(excerpt, tid, excerpts->holes, err);
    return status == C2_OK && excerpt ? keep_record(excerpts, series, excerpt, record, err) : status;
}

static enum c2_status excerpts_keep(struct excerpts *excerpts, const struct sim_records *records, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (const uint64_t *record = records->words; record < records->end && status == C2_OK;) {
        const uint32_t words = 1 + stream_header_slots(*record);
        for (unsigned i = 0; i < SERIES && status == C2_OK; i++)
            status = keep_in_series(excerpts, &excerpts->series[i], record, records->tid, err);
        excerpts->word += words;
        record += words;
    }
    return status;
}

static bool are_in_none(const struct excerpts *excerpts, uint64_t words)
{
    for (unsigned i = 0; i < SERIES; i++)
        if (words_to_skip(&excerpts->series[i], excerpts->word) < words)
            return false;
    return true;
}

/* Objects may have changed since the last call. */
static enum c2_status excerpts_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct excerpts *excerpts = self;
    const uint64_t words = (uint64_t)(records->end - records->words);
    if (!excerpts->measuring)
        return C2_OK;
    if (are_in_none(excerpts, words)) {
        excerpts->word += words;
        return C2_OK;
    }
    excerpts->blocks = records->blocks;
    for (unsigned i = 0; i < SERIES; i++)
        memset(excerpts->series[i].number_of, 0, sizeof excerpts->series[i].number_of);
    return excerpts_keep(excerpts, records, err);
}

static enum c2_status excerpts_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct excerpts *excerpts = self;
    const bool measures = window->next == STREAM_MEASURE;
    (void)err;
    excerpts->holes += measures && !excerpts->measuring && excerpts->word != 0;
    excerpts->measuring = measures;
    return C2_OK;
}

static enum c2_status excerpts_dropped(void *self, struct c2_error *err)
{
    struct excerpts *excerpts = self;
    (void)err;
    for (uint32_t i = 0; i < ALL_KEPT; i++)
        excerpts_release(&excerpts->kept[i]);
    begin_series(excerpts);
    return C2_OK;
}

/* Where the first series has all of the run, the others would show it again. */
static enum c2_status excerpts_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct excerpts *excerpts = self;
    (void)sim;
    const bool whole = excerpts->series[WHOLE].every == WHOLE_WORDS;
    return accesses_create(&excerpts->accesses, excerpts->kept, whole ? excerpts->series[WHOLE].count : ALL_KEPT, whole,
                           excerpts->blocks, excerpts->profile, excerpts->symbols, err);
}

static struct sim_subscriber excerpts_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .records = excerpts_records,
                                   .window = excerpts_window,
                                   .dropped = excerpts_dropped,
                                   .finish = excerpts_finish};
}

static const void *excerpts_result(const struct analysis *analysis)
{
    const struct excerpts *excerpts = (const struct excerpts *)analysis;
    return excerpts->accesses ? accesses_result(excerpts->accesses) : NULL;
}

const struct analysis_kind analysis_excerpts = {.on_without_option = true,
                                                .for_findings = true,
                                                .only_with = 1u << ANALYSIS_profile,
                                                .create = excerpts_create,
                                                .subscriber = excerpts_subscriber,
                                                .result = excerpts_result,
                                                .destroy = excerpts_destroy};
