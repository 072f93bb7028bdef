/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * coherence_chapter: threads and cores, what these do to each other, and the lines that they share.
 *
 * Model
 *   The first line has the finding. A table has a row a thread, with what was counted while it ran; another a row a
 *   core, with what its accesses did and what was done to it; a third the hottest shared lines. Below stand, of each of
 *   these with false sharing, the bytes that each core uses, the padding that separates them, and both instructions of
 *   the pair with most misses. The JSON has lists up to a limit, which end with the number of those left out.
 *
 * Counting
 *   Lines are in the order of their misses of false sharing, then of true sharing.
 */
#include "analyses/chapter.h"
#include "analyses/coherence.h"

#define SHOWN 5u
#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

/* ------------------------------------------------------------------ threads and cores */

/* "L1D": those that missed there, and those of them for coherence. */
static void coherence_chapter_add_misses(struct document *d, const struct digest *digest, const struct sim_totals *of)
{
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        doc_group(d, DOC_JSON, NULL);
        chapter_add_counts(d, DOC_JSON, digest->run->machine, level->level->name,
                           level->code ? &of->l1i : &of->levels[level->depth]);
        doc_close(d);
    }
    doc_close(d);
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        const struct caches_counts *n = level->code ? &of->l1i : &of->levels[level->depth];
        doc_count(d, DOC_TEXT, level->level->name, n->misses);
    }
}

static void coherence_chapter_add_thread(struct document *d, const struct digest *digest,
                                         const struct sim_thread *thread)
{
    doc_group(d, DOC_BOTH, NULL);
    doc_count(d, DOC_BOTH, "thread", thread->tid);
    doc_count(d, DOC_BOTH, "core", thread->core);
    doc_count(d, DOC_BOTH, "instructions", thread->of.counts.instructions);
    doc_count(d, DOC_BOTH, "refs", thread->of.counts.refs);
    doc_count(d, DOC_JSON, "reads", thread->of.counts.reads);
    doc_count(d, DOC_JSON, "writes", thread->of.counts.writes);
    doc_count(d, DOC_JSON, "tlb_misses", thread->of.tlb_misses);
    coherence_chapter_add_misses(d, digest, &thread->of);
    doc_count(d, DOC_TEXT, "coherence", thread->of.levels[0].coherence);
    doc_close(d);
}

static void coherence_chapter_add_threads(struct document *d, const struct digest *digest,
                                          const struct analyses_coherence_result *result)
{
    struct doc_column columns[5 + DIGEST_LEVELS] = {{.heading = "thread", .key = "thread"},
                                                    {.heading = "core", .key = "core"},
                                                    {.heading = "instructions", .key = "instructions"},
                                                    {.heading = "refs", .key = "refs", .spare = 2}};
    size_t count = 4;
    for (size_t i = 0; i < digest->level_count; i++) {
        const char *name = digest->levels[i].level->name;
        columns[count++] = (struct doc_column){
            .heading = doc_keep(d, "%s misses", name), .key = name, .spare = i == 0 ? 0 : 1};
    }
    columns[count++] = (struct doc_column){.heading = "L1D coherence", .key = "coherence"};
    doc_table(d, DOC_BOTH, "threads");
    doc_columns(d, columns, count, 0);
    for (size_t i = 0; i < result->thread_count; i++)
        coherence_chapter_add_thread(d, digest, &result->threads[i]);
    doc_close(d);
}

/* What was taken from each level of its own. */
static void add_own_levels(struct document *d, const struct digest *digest, const struct coherence_core *core)
{
    const uint32_t own = caches_machine_private(digest->run->machine);
    doc_table(d, DOC_JSON, "own_levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        if (!level->code && level->depth >= own)
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", level->level->name);
        doc_count(d, DOC_JSON, "coherence", (level->code ? &core->of.l1i : &core->of.levels[level->depth])->coherence);
        doc_count(d, DOC_JSON, "invalidations", core->levels[level->number].invalidations);
        doc_count(d, DOC_JSON, "interventions", core->levels[level->number].interventions);
        doc_count(d, DOC_JSON, "filter_invalidations", core->levels[level->number].filter_invalidations);
        doc_close(d);
    }
    doc_close(d);
}

static void add_core(struct document *d, const struct digest *digest, const struct coherence_core *core,
                     uint32_t number)
{
    doc_group(d, core->of.counts.instructions + core->counts.invalidations_received != 0 ? DOC_BOTH : DOC_JSON, NULL);
    doc_count(d, DOC_BOTH, "core", number);
    doc_count(d, DOC_BOTH, "instructions", core->of.counts.instructions);
#define X(field, help) doc_count(d, DOC_BOTH, #field, core->counts.field);
    CACHES_CORE_COUNTERS(X)
#undef X
    doc_count(d, DOC_JSON, "shootdowns_sent", core->shootdowns.sent);
    doc_count(d, DOC_BOTH, "shootdowns_received", core->shootdowns.received);
    add_own_levels(d, digest, core);
    doc_close(d);
}

static void add_cores(struct document *d, const struct digest *digest, const struct analyses_coherence_result *result)
{
    static const struct doc_column columns[] = {
        {.heading = "core", .key = "core"},
        {.heading = "coherence misses", .key = "coherence_misses"},
        {.heading = "true", .key = "true_sharing"},
        {.heading = "false", .key = "false_sharing"},
        {.heading = "upgrades", .key = "upgrades"},
        {.heading = "invalidations sent", .key = "invalidations_sent", .spare = 3},
        {.heading = "received", .key = "invalidations_received", .spare = 2},
        {.heading = "interventions", .key = "interventions", .spare = 1},
        {.heading = "shootdowns", .key = "shootdowns_received", .spare = 4}};
    doc_table(d, DOC_BOTH, "cores");
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (uint32_t i = 0; i < result->core_count; i++)
        add_core(d, digest, &result->cores[i], i);
    doc_close(d);
}

/* ------------------------------------------------------------------ lines */

/* "0-7, 16-23" */
static const char *byte_text(struct document *d, uint64_t bytes)
{
    const char *text = "";
    while (bytes != 0) {
        const unsigned first = (unsigned)__builtin_ctzll(bytes);
        const uint64_t above = ~(bytes >> first);
        const unsigned count = above == 0 ? 64 : (unsigned)__builtin_ctzll(above);
        text = doc_keep(d, "%s%s%u-%u", text, *text ? ", " : "", first, first + count - 1);
        bytes &= ~c2_mask(first, first + count - 1);
    }
    return text;
}

static void add_sharing(struct document *d, uint64_t true_sharing, uint64_t false_sharing)
{
    doc_count(d, DOC_BOTH, "true_sharing", true_sharing);
    doc_count(d, DOC_BOTH, "false_sharing", false_sharing);
}

static void coherence_chapter_add_object(struct document *d, const struct analyses_run *run, uint32_t object)
{
    char text[512];
    if (object == COHERENCE_NOBODY || !run->profile)
        return;
    doc_string(d, DOC_JSON, "object", run->profile->objects[object].name);
    doc_string(d, DOC_TEXT, "object", names_object_text(text, sizeof text, run, &run->profile->objects[object]));
}

/* Where the line begins in its object, of one block. */
static void add_offset(struct document *d, const struct analyses_run *run, const struct coherence_line *line)
{
    if (line->object == COHERENCE_NOBODY || !run->profile)
        return;
    const struct analyses_object *object = &run->profile->objects[line->object];
    if (object->blocks > 1 || line->va.v < object->base || line->va.v - object->base >= object->bytes)
        return;
    doc_count(d, DOC_JSON, "offset", line->va.v - object->base);
}

static void add_user(struct document *d, const struct coherence_user *user)
{
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "core", user->core);
    doc_string(d, DOC_JSON, "read", byte_text(d, user->of.read));
    doc_string(d, DOC_JSON, "written", byte_text(d, user->of.written));
    doc_count(d, DOC_JSON, "losses", user->of.losses);
    add_sharing(d, user->of.true_sharing, user->of.false_sharing);
    doc_close(d);
}

static void add_side(struct document *d, const struct analyses_run *run, const char *key, struct guest_va pc)
{
    struct loader_place place;
    names_place(&place, run, pc);
    doc_group(d, DOC_JSON, key);
    chapter_add_address(d, "pc", pc.v);
    chapter_add_place(d, &place);
    doc_close(d);
}

/* cores: of one line, with the bytes; else of all. */
static void coherence_chapter_add_pair(struct document *d, const struct analyses_run *run,
                                       const struct coherence_pair *pair, bool cores)
{
    doc_group(d, DOC_JSON, NULL);
    add_sharing(d, pair->true_sharing, pair->false_sharing);
    if (cores) {
        doc_count(d, DOC_JSON, "misser_core", pair->misser_core);
        doc_string(d, DOC_JSON, "misser_bytes", byte_text(d, pair->misser_bytes));
        doc_count(d, DOC_JSON, "taker_core", pair->taker_core);
        doc_string(d, DOC_JSON, "taker_bytes", byte_text(d, pair->taker_bytes));
    }
    add_side(d, run, "misser", pair->misser);
    add_side(d, run, "taker", pair->taker);
    doc_close(d);
}

static void coherence_chapter_add_line(struct document *d, const struct analyses_run *run,
                                       const struct coherence_line *line, enum doc_in in)
{
    doc_group(d, in, NULL);
    chapter_add_address(d, "address", line->va.v);
    doc_words(d, DOC_TEXT, "address", "0x%llx", (unsigned long long)line->va.v);
    coherence_chapter_add_object(d, run, line->object);
    add_offset(d, run, line);
    add_sharing(d, line->true_sharing, line->false_sharing);
    doc_count(d, DOC_TEXT, "cores", line->user_count);
    if (line->padding != 0)
        doc_count(d, DOC_BOTH, "padding", line->padding);
    doc_table(d, DOC_JSON, "cores");
    for (uint32_t i = 0; i < line->user_count; i++)
        add_user(d, &line->users[i]);
    doc_close(d);
    doc_table(d, DOC_JSON, "pairs");
    for (uint32_t i = 0; i < line->pair_count && i < CHAPTER_LISTED; i++)
        coherence_chapter_add_pair(d, run, &line->pairs[i], true);
    chapter_add_rest(d, line->pair_count);
    doc_close(d);
    doc_close(d);
}

static void coherence_chapter_add_lines(struct document *d, const struct analyses_run *run,
                                        const struct analyses_coherence_result *result)
{
    static const struct doc_column columns[] = {{.heading = "shared line", .key = "address", .form = DOC_LEFT},
                                                {.heading = "false", .key = "false_sharing"},
                                                {.heading = "true", .key = "true_sharing"},
                                                {.heading = "cores", .key = "cores"},
                                                {.heading = "padding", .key = "padding", .spare = 1},
                                                {.heading = "object", .key = "object", .form = DOC_NAME}};
    doc_table(d, DOC_BOTH, "lines");
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (size_t i = 0; i < result->line_count && i < CHAPTER_LISTED; i++)
        coherence_chapter_add_line(d, run, &result->lines[i], i < SHOWN ? DOC_BOTH : DOC_JSON);
    chapter_add_rest(d, result->line_count);
    doc_close(d);
}

static void coherence_chapter_note_line(struct document *d, const struct analyses_run *run,
                                        const struct coherence_line *line)
{
    const struct coherence_pair *pair = &line->pairs[0];
    char misser[256], taker[256];
    doc_note(d, DOC_ITEM, NULL, "0x%llx:", (unsigned long long)line->va.v);
    for (uint32_t i = 0; i < line->user_count; i++)
        doc_say(d, "%s core %u uses bytes %s", i == 0 ? "" : ",", line->users[i].core,
                byte_text(d, line->users[i].of.read | line->users[i].of.written));
    if (line->padding != 0)
        doc_say(d, "; %u bytes more behind each give each a line", line->padding);
    doc_say(d, ". Most often %s on core %u misses what %s on core %u has taken",
            names_place_text(misser, sizeof misser, run, pair->misser), pair->misser_core,
            names_place_text(taker, sizeof taker, run, pair->taker), pair->taker_core);
}

/* ------------------------------------------------------------------ objects, instructions */

static void coherence_chapter_add_objects(struct document *d, const struct analyses_run *run,
                                          const struct analyses_coherence_result *result)
{
    doc_table(d, DOC_JSON, "objects");
    for (size_t i = 0; i < result->object_count && i < CHAPTER_LISTED; i++) {
        const struct coherence_object *object = &result->objects[i];
        doc_group(d, DOC_JSON, NULL);
        coherence_chapter_add_object(d, run, object->object);
        doc_count(d, DOC_JSON, "lines", object->lines);
        add_sharing(d, object->true_sharing, object->false_sharing);
        if (object->padding != 0)
            doc_count(d, DOC_JSON, "padding", object->padding);
        doc_close(d);
    }
    chapter_add_rest(d, result->object_count);
    doc_close(d);
}

static void coherence_chapter_add_sites(struct document *d, const struct analyses_run *run,
                                        const struct analyses_coherence_result *result)
{
    doc_table(d, DOC_JSON, "pairs");
    for (size_t i = 0; i < result->site_count && i < CHAPTER_LISTED; i++)
        coherence_chapter_add_pair(d, run, &result->sites[i], false);
    chapter_add_rest(d, result->site_count);
    doc_close(d);
}

/* ------------------------------------------------------------------ all of it */

static uint64_t coherence_cost(const struct digest *digest) { return digest_run_cost(digest->run).coherence; }

/* How fine threads are interleaved, and what the number of misses would be where they are less so. */
static void say_turns(struct document *d, const struct analyses_run *run,
                      const struct analyses_coherence_result *result)
{
    if (run->turn != 0)
        doc_say(d, ". Threads take turns of at most %s instructions (--quantum)", doc_digits(d, run->turn));
    else
        doc_say(d, ". Threads take turns");
    for (unsigned i = 0; i < COHERENCE_LONGER; i++)
        doc_say(d, "%s about %s in turns %u times as long", i == 0 ? ":" : ",", doc_digits(d, result->longer[i].misses),
                result->longer[i].times);
    doc_say(d, "; shorter ones may have more");
}

static void add_turns(struct document *d, const struct analyses_run *run,
                      const struct analyses_coherence_result *result)
{
    if (run->turn != 0)
        doc_count(d, DOC_JSON, "turn", run->turn);
    doc_table(d, DOC_JSON, "longer_turns");
    for (unsigned i = 0; i < COHERENCE_LONGER; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "times", result->longer[i].times);
        doc_count(d, DOC_JSON, "coherence_misses", result->longer[i].misses);
        doc_close(d);
    }
    doc_close(d);
}

static void coherence_chapter_note_finding(struct document *d, const struct digest *digest,
                                           const struct analyses_coherence_result *result)
{
    uint64_t true_sharing = 0, false_sharing = 0;
    for (uint32_t i = 0; i < result->core_count; i++) {
        true_sharing += result->cores[i].counts.true_sharing;
        false_sharing += result->cores[i].counts.false_sharing;
    }
    doc_note(d, DOC_KEY, "coherence", "%s threads on %u cores: ", doc_digits(d, result->thread_count),
             result->core_count);
    if (true_sharing + false_sharing == 0)
        doc_say(d, "no miss of a line that another core has taken");
    else
        doc_say(d,
                "%s misses of lines that another core had taken, %s of true sharing, %s of false sharing; with the "
                "upgrades they cost %s cycles",
                doc_digits(d, true_sharing + false_sharing), doc_digits(d, true_sharing), doc_digits(d, false_sharing),
                doc_digits(d, coherence_cost(digest)));
    if (true_sharing + false_sharing != 0)
        say_turns(d, digest->run, result);
}

static void add_coherence_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_run *run = digest->run;
    const struct analyses_coherence_result *result = run->found[ANALYSIS_coherence];
    if (!result)
        return;
    coherence_chapter_note_finding(d, digest, result);
    doc_group(d, digest_shows(digest, coherence_cost(digest), 1) ? DOC_BOTH : DOC_JSON, "coherence");
    add_turns(d, run, result);
    coherence_chapter_add_threads(d, digest, result);
    add_cores(d, digest, result);
    coherence_chapter_add_lines(d, run, result);
    for (size_t i = 0; i < result->line_count && i < SHOWN; i++)
        if (result->lines[i].false_sharing != 0)
            coherence_chapter_note_line(d, run, &result->lines[i]);
    coherence_chapter_add_objects(d, run, result);
    coherence_chapter_add_sites(d, run, result);
    doc_close(d);
}

const struct analysis_chapter analyses_coherence_chapter = {
    .add = add_coherence_chapter, .in = DOC_BOTH, .place = 4, .order = 50};
