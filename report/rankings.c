/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rankings: what accesses cost, all of them and by object, function, line and loop.
 *
 * Model
 *   The JSON lists what cost most, up to a limit, which is that of the text in the slim form; a list that is longer
 *   ends with an entry that has the key `rest` and the sums of all that was not listed. Levels without a miss are left
 *   out of an entry. Costs are cycles.
 *   The text has the first rows of each list, as shares of the whole cost and without start-up: a line of its own tells
 *   that. A table ends when COVERED percent of what is not start-up is in it, or after ROWS rows; a second row is shown
 *   when it is at least a NOTICEABLE-th of what is not start-up. The misses of TLBs, page walks and misses of L1I are
 *   in the tables where there are enough of them (cost.c).
 *
 * Invariants
 *   Sums over a list of the JSON are whole whatever its limit: all misses of a level and all the cost (cost.c).
 */
#include <inttypes.h>

#include "report/samples.h"

#define ROWS 10u
#define COVERED 95u
#define STRONG 20u /* per cent of the cost */

/* ------------------------------------------------------------------ what something missed */

/* One of a list. */
struct sampled {
    enum samples_kind kind;
    uint32_t number;
};

static bool has_coherence(const struct digest *digest) { return caches_machine_cores(digest->run->machine) > 1; }

static void rankings_add_sums(struct document *d, const struct digest *digest, const struct digest_missed *missed,
                              size_t level)
{
    const struct digest_sums *sums = &missed->levels[level];
    doc_string(d, DOC_JSON, "name", digest->levels[level].level->name);
    doc_count(d, DOC_JSON, "misses", sums->misses);
    doc_count(d, DOC_JSON, "cold", sums->cold);
    doc_count(d, DOC_JSON, "capacity", sums->capacity);
    doc_count(d, DOC_JSON, "conflict", sums->conflict);
    if (has_coherence(digest))
        doc_count(d, DOC_JSON, "coherence", sums->coherence);
    doc_count(d, DOC_JSON, "startup", missed->startup[level].misses);
    if (digest->profile->compared)
        doc_count(d, DOC_JSON, "placement", sums->placement);
}

/* sampled: what they are of, where there are estimates by samples; else NULL. */
static void add_missed(struct document *d, const struct digest *digest, const struct digest_missed *missed,
                       const struct sampled *sampled)
{
    doc_count(d, DOC_JSON, "cost", missed->own + missed->loading);
    doc_count(d, DOC_JSON, "startup", missed->loading);
    if (digest->translated) {
        doc_count(d, DOC_JSON, "tlb_misses", missed->tlb.misses);
        doc_count(d, DOC_JSON, "walks", missed->tlb.walks);
        doc_count(d, DOC_JSON, "walk_reads", missed->tlb.reads);
    }
    if (has_coherence(digest))
        doc_count(d, DOC_JSON, "upgrades", missed->levels[0].upgrades);
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        if (missed->levels[i].misses == 0)
            continue;
        doc_group(d, DOC_JSON, NULL);
        rankings_add_sums(d, digest, missed, i);
        if (sampled)
            report_add_sampled(d, digest, sampled->kind, sampled->number, digest->levels[i].number);
        doc_close(d);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ the whole cost */

static void note_classes(struct document *d, const struct digest *digest)
{
    const struct digest_missed *all = &digest->missed;
    const uint64_t whole = digest_whole_cost(digest);
    doc_note(d, DOC_KEY, "classes", ". cold %s, = capacity %s, # conflict %s", doc_share(d, all->cold, whole),
             doc_share(d, all->capacity, whole), doc_share(d, all->conflict, whole));
    if (digest->translated)
        doc_say(d, ", t translations %s", doc_share(d, all->translation, whole));
    if (has_coherence(digest))
        doc_say(d, ", c coherence %s", doc_share(d, all->coherence, whole));
    doc_say(d, "; a mark is a tenth");
}

void report_note_cost(struct document *d, const struct digest *digest)
{
    const struct digest_missed *all = &digest->missed;
    const uint64_t whole = digest_whole_cost(digest), instructions = digest->run->counts->instructions;
    const uint64_t hundredths = instructions == 0 ? 0 : whole * 100 / instructions;
    doc_note(d, DOC_KEY, "cost",
             "%s cycles that accesses would wait one after the other, %" PRIu64 ".%02u an instruction; it is not time",
             doc_digits(d, whole), hundredths / 100, (unsigned)(hundredths % 100));
    if (caches_machine_prefetches(digest->run->machine))
        doc_note(d, DOC_KEY, "", "what prefetchers hide is not counted");
    if (all->loading != 0)
        doc_note(d, DOC_KEY, "", "start-up of libraries: %s of the cost, left out below",
                 doc_share(d, all->loading, whole));
    note_classes(d, digest);
}

/* What one of each costs. */
static void add_prices(struct document *d, const struct digest *digest)
{
    if (digest->translated) {
        doc_count(d, DOC_JSON, "tlb_cycles", digest->costs.second_tlb);
        doc_count(d, DOC_JSON, "walk_read_cycles", digest->costs.walk_read);
    }
    if (has_coherence(digest))
        doc_count(d, DOC_JSON, "upgrade_cycles", digest->costs.upgrade);
}

void report_add_cost(struct document *d, struct digest *digest)
{
    if (digest->run->full)
        report_note_cost(d, digest);
    doc_group(d, DOC_JSON, "cost");
    chapter_add_parts(d, digest->run->machine, &digest->missed.parts);
    doc_count(d, DOC_JSON, "startup", digest->missed.loading);
    add_prices(d, digest);
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", digest->levels[i].level->name);
        doc_count(d, DOC_JSON, "miss_cycles", digest->levels[i].miss_cycles);
        if (has_coherence(digest))
            doc_count(d, DOC_JSON, "coherence_cycles", digest->costs.taken[digest->levels[i].number]);
        doc_count(d, DOC_JSON, "framed", digest->missed.levels[i].framed);
        doc_close(d);
    }
    doc_close(d);
    doc_close(d);
}

/* ------------------------------------------------------------------ objects, functions and lines */

static void rankings_add_site(struct document *d, const struct report_run *run, const struct analyses_object *of,
                              uint32_t number)
{
    struct loader_place place;
    chapter_add_address(d, "pc", of->sites[number].v);
    if (names_site(&place, &run->sim, of, number))
        chapter_add_place(d, &place);
    chapter_add_inlined(d, &run->sim, (struct guest_va){of->sites[number].v - 1});
}

/* The site to be shown; where there are several, all of them from the call of the allocator outwards. */
static void rankings_add_sites(struct document *d, const struct report_run *run, const struct analyses_object *of)
{
    if (of->site_count == 0)
        return;
    if (doc_group(d, DOC_JSON, "site"))
        rankings_add_site(d, run, of, of->site_shown);
    doc_close(d);
    if (of->site_count == 1)
        return;
    doc_table(d, DOC_JSON, "sites");
    for (uint32_t i = 0; i < of->site_count; i++) {
        if (doc_group(d, DOC_JSON, NULL))
            rankings_add_site(d, run, of, i);
        doc_close(d);
    }
    doc_close(d);
}

/* Where a variable of a function is declared. */
static void rankings_add_local(struct document *d, const struct loader_local *local)
{
    doc_string(d, DOC_JSON, "function", local->function);
    if (!local->function)
        doc_flag(d, DOC_JSON, "thread_local", true);
    doc_string(d, DOC_JSON, "file", local->file);
    if (local->line != 0)
        doc_count(d, DOC_JSON, "line", (uint64_t)local->line);
}

static void rankings_add_object(struct document *d, const struct digest *digest, const struct digest_ranked *from)
{
    const struct analyses_object *of = from->of;
    doc_string(d, DOC_JSON, "name", of->name);
    doc_string(d, DOC_JSON, "kind", analyses_kind_name(of->kind));
    doc_string(d, DOC_JSON, "type", names_type(digest->run, of));
    doc_string(d, DOC_JSON, "module", of->module);
    chapter_add_address(d, "base", of->base);
    doc_count(d, DOC_BOTH, "size", of->bytes);
    doc_count(d, DOC_JSON, "blocks", of->blocks);
    rankings_add_sites(d, report_of(digest), of);
    if (of->local)
        rankings_add_local(d, of->local);
    doc_count(d, DOC_JSON, "refs", of->refs);
}

static void add_objects_rest(struct document *d, const struct digest_ranked *from, size_t count)
{
    uint64_t refs = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        refs += from[i].of->refs;
        bytes += from[i].of->bytes;
    }
    doc_count(d, DOC_JSON, "size", bytes);
    doc_count(d, DOC_JSON, "refs", refs);
}

static void add_functions_rest(struct document *d, const struct digest_ranked *from, size_t count)
{
    uint64_t executed = 0, reads = 0, writes = 0;
    for (size_t i = 0; i < count; i++) {
        executed += from[i].executed;
        reads += from[i].reads;
        writes += from[i].writes;
    }
    doc_count(d, DOC_JSON, "executed", executed);
    doc_count(d, DOC_JSON, "reads", reads);
    doc_count(d, DOC_JSON, "writes", writes);
}

static void rankings_add_function(struct document *d, const struct digest *digest, const struct digest_ranked *from)
{
    (void)digest;
    doc_string(d, DOC_JSON, "name", from->place.function);
    doc_string(d, DOC_JSON, "module", from->place.object);
    add_functions_rest(d, from, 1);
}

static void rankings_add_line(struct document *d, const struct digest *digest, const struct digest_ranked *from)
{
    chapter_add_place(d, &from->place);
    if (!from->place.file)
        chapter_add_address(d, "pc", from->pc.v);
    chapter_add_charged(d, digest, from);
}

/* A loop's rounds for each time it was entered. */
static double rounds(const struct analyses_loop *loop)
{
    return loop->entries == 0 ? 0 : (double)loop->iterations / (double)loop->entries;
}

static void rankings_add_loop(struct document *d, const struct digest *digest, const struct digest_ranked *from)
{
    const struct analyses_loops_result *found = digest->run->found[ANALYSIS_loops];
    const struct analyses_loop *loop = from->loop;
    chapter_add_loop_name(d, &from->place, loop);
    if (!loop) {
        add_functions_rest(d, from, 1);
        return;
    }
    if (loop->parent != ANALYSES_NO_LOOP)
        chapter_add_address(d, "within", found->loops[loop->parent].header.v);
    doc_count(d, DOC_JSON, "depth", loop->depth);
    if (loop->irreducible)
        doc_flag(d, DOC_JSON, "irreducible", true);
    doc_count(d, DOC_BOTH, "entries", loop->entries);
    doc_count(d, DOC_JSON, "iterations", loop->iterations);
    if (loop->entries != 0)
        doc_decimal(d, DOC_JSON, "trip_count", rounds(loop));
    if (loop->entries != 0)
        doc_words(d, DOC_TEXT, "rounds", "%.1f", rounds(loop));
    add_functions_rest(d, from, 1);
}

/* ------------------------------------------------------------------ their names in the text */

static void rankings_name_object(char *buffer, size_t bytes, const struct report_run *run,
                                 const struct digest_ranked *of)
{
    names_object_text(buffer, bytes, &run->sim, of->of);
}

static void name_charged(char *buffer, size_t bytes, const struct report_run *run, const struct digest_ranked *of)
{
    names_charged_text(buffer, bytes, &run->sim, of->dearest);
}

static void rankings_name_loop(char *buffer, size_t bytes, const struct report_run *run, const struct digest_ranked *of)
{
    char place[NAMES_BYTES];
    (void)run;
    if (!of->loop) {
        snprintf(buffer, bytes, "outside of loops");
        return;
    }
    loader_place_text(place, sizeof place, of->pc, &of->place);
    snprintf(buffer, bytes, "%s%s", place, of->loop->irreducible ? ", irreducible" : "");
}

static void rankings_name_function(char *buffer, size_t bytes, const struct report_run *run,
                                   const struct digest_ranked *of)
{
    const char *name = of->place.function, *module = of->place.object;
    (void)run;
    snprintf(buffer, bytes, "%s%s%s", name ? name : "unnamed code", module ? " in " : "", module ? module : "");
}

/* ------------------------------------------------------------------ a list of them */

struct kind {
    const char *key, *heading;
    size_t limit;              /* of the full JSON, at least what the text shows */
    enum samples_kind sampled; /* SAMPLES_KINDS: nothing is told by samples */
    /* in the JSON; NULL: nothing */
    void (*add)(struct document *d, const struct digest *digest, const struct digest_ranked *from);
    void (*add_rest)(struct document *d, const struct digest_ranked *from, size_t count); /* NULL: nothing but misses */
    void (*name)(char *buffer, size_t bytes, const struct report_run *run, const struct digest_ranked *of);
    enum doc_in in;
};
static const struct kind objects = {
    "objects", "object", 500, SAMPLES_OBJECTS, rankings_add_object, add_objects_rest, rankings_name_object, DOC_BOTH};
static const struct kind functions = {
    "functions", "function", 1000, SAMPLES_FUNCTIONS, rankings_add_function, add_functions_rest, rankings_name_function,
    DOC_BOTH};
static const struct kind lines = {"lines", "line", 200, SAMPLES_LINES, rankings_add_line, NULL, NULL, DOC_JSON};
static const struct kind charged = {"lines", "line", 200, SAMPLES_CHARGED, NULL, NULL, name_charged, DOC_TEXT};
static const struct kind loops = {
    "loops", "loop", 1000, SAMPLES_KINDS, rankings_add_loop, add_functions_rest, rankings_name_loop, DOC_BOTH};

/* What a form lists no more: all from `first` on. */
static void rankings_add_rest(struct document *d, const struct digest *digest, const struct kind *kind,
                              enum doc_in form, const struct digest_ranking *ranking, size_t first)
{
    if (ranking->count <= first)
        return;
    const struct digest_ranked *from = &ranking->list[first];
    const size_t count = ranking->count - first;
    struct digest_missed missed = {.own = 0};
    for (size_t i = 0; i < count; i++)
        digest_add_missed(&missed, &from[i].missed);
    doc_group(d, form, NULL);
    doc_group(d, DOC_JSON, "rest");
    doc_count(d, DOC_JSON, kind->key, count);
    doc_close(d);
    if (kind->add_rest)
        kind->add_rest(d, from, count);
    add_missed(d, digest, &missed, NULL);
    doc_close(d);
}

/* Several samples say how sure a share of the cost is. */
static bool has_margins(const struct digest *digest, const struct kind *kind)
{
    return kind->sampled != SAMPLES_KINDS && samples_count(report_of(digest)) > 1 && !report_of(digest)->weights;
}

/* Which columns go where the page is narrow, the last of these first. */
enum { SPARE_FIRST = 1, SPARE_LAST, SPARE_SIZE, SPARE_ENTRIES, SPARE_TLB, SPARE_WALKS, SPARE_MIDDLE, SPARE_CODE };

static unsigned spare_level(const struct digest *digest, size_t level)
{
    if (digest->levels[level].code)
        return SPARE_CODE;
    return level == 0 ? SPARE_FIRST : level + 1 == digest->level_count ? SPARE_LAST : SPARE_MIDDLE;
}

static void rankings_add_columns(struct document *d, const struct digest *digest, const struct kind *kind)
{
    struct doc_column columns[9 + DIGEST_LEVELS] = {{.heading = "cost", .key = "own", .of = "whole", .strong = STRONG}};
    size_t count = 1;
    if (has_margins(digest, kind))
        columns[count++] = (struct doc_column){.heading = report_of(digest)->start ? "of the run" : "+-",
                                               .key = "margin"};
    columns[count++] = (struct doc_column){.heading = "classes", .key = "classes", .form = DOC_BAR};
    for (size_t i = 0; i < digest->level_count; i++) {
        const char *words = doc_keep(d, "%s misses", digest->levels[i].level->name);
        if (digest->levels[i].code && !digest_shows_code(digest))
            continue;
        columns[count++] = (struct doc_column){.heading = words, .key = words, .spare = spare_level(digest, i)};
    }
    if (digest_tlbs_matter(digest)) {
        columns[count++] = (struct doc_column){.heading = "TLB misses", .key = "TLB misses", .spare = SPARE_TLB};
        columns[count++] = (struct doc_column){.heading = "walks", .key = "TLB walks", .spare = SPARE_WALKS};
    }
    if (kind == &objects)
        columns[count++] = (struct doc_column){
            .heading = "size", .key = "size", .form = DOC_BYTES, .spare = SPARE_SIZE};
    if (kind == &loops) {
        columns[count++] = (struct doc_column){.heading = "entered", .key = "entries", .spare = SPARE_ENTRIES};
        columns[count++] = (struct doc_column){.heading = "rounds each", .key = "rounds", .spare = SPARE_SIZE};
    }
    columns[count++] = (struct doc_column){.heading = kind->heading, .key = "words", .form = DOC_NAME};
    doc_columns(d, columns, count, 0);
}

/* Of the share of the cost. With a start, which the share itself has once, the samples tell another one of the run. */
static void add_margin(struct document *d, const struct digest *digest, const struct kind *kind,
                       const struct digest_ranked *from)
{
    const struct estimate cost = samples_groups_cost(samples_of(digest), kind->sampled, from->number);
    if (!estimate_has_margin(&cost))
        return;
    const double margin = 100 * estimate_margin(&cost, samples_left(report_of(digest)));
    if (report_of(digest)->start)
        doc_words(d, DOC_TEXT, "margin", "%.1f +- %.1f %%", 100 * estimate_mean(&cost), margin);
    else
        doc_words(d, DOC_TEXT, "margin", "%.1f %%", margin);
}

/* What the columns show, without start-up. */
static void rankings_add_row(struct document *d, const struct digest *digest, const struct kind *kind,
                             const struct digest_ranked *from)
{
    const struct digest_missed *missed = &from->missed;
    char text[NAMES_BYTES];
    doc_count(d, DOC_TEXT, "own", missed->own);
    doc_count(d, DOC_TEXT, "whole", digest_whole_cost(digest));
    if (has_margins(digest, kind))
        add_margin(d, digest, kind, from);
    doc_string(d, DOC_TEXT, "classes", digest_class_bar(text, missed));
    for (size_t i = 0; i < digest->level_count; i++)
        doc_count(d, DOC_TEXT, doc_keep(d, "%s misses", digest->levels[i].level->name),
                  missed->levels[i].misses - missed->startup[i].misses);
    doc_count(d, DOC_TEXT, "TLB misses", missed->tlb.misses - missed->tlb_startup.misses);
    doc_count(d, DOC_TEXT, "TLB walks", missed->tlb.walks - missed->tlb_startup.walks);
    kind->name(text, sizeof text, report_of(digest), from);
    doc_string(d, DOC_TEXT, "words", text);
}

/* How many the text shows; *cost: theirs. */
static size_t count_shown(const struct digest *digest, const struct digest_ranking *ranking, uint64_t *cost)
{
    size_t count = 0;
    for (*cost = 0; count < ranking->count && count < ROWS; count++) {
        const uint64_t own = ranking->list[count].missed.own;
        const bool covered = (unsigned __int128)*cost * 100 >= (unsigned __int128)digest->missed.own * COVERED;
        if (own == 0 || (count != 0 && (covered || !digest_noticeable(digest, own))))
            break;
        *cost += own;
    }
    return count;
}

/* Those that cost something, and are not in the text. */
static void rankings_note_others(struct document *d, const struct digest *digest, const struct digest_ranking *ranking,
                                 size_t shown, uint64_t cost)
{
    size_t others = 0;
    while (shown + others < ranking->count && ranking->list[shown + others].missed.own != 0)
        others++;
    if (shown != 0 && others != 0)
        doc_note(d, DOC_LINE, NULL, "and %s other%s: %s of the cost", doc_digits(d, others), others == 1 ? "" : "s",
                 doc_share(d, digest->missed.own - cost, digest_whole_cost(digest)));
}

static void rankings_add_list(struct document *d, const struct digest *digest, const struct digest_ranking *ranking,
                              const struct kind *kind)
{
    uint64_t cost;
    const size_t shown = count_shown(digest, ranking, &cost);
    if (!doc_table(d, kind->in, kind->key)) {
        doc_close(d);
        return;
    }
    rankings_add_columns(d, digest, kind);
    for (size_t i = 0; i < ranking->count && i < kind->limit; i++) {
        if (doc_group(d, (i < shown ? DOC_TEXT : 0) | (i < ROWS ? DOC_SLIM : 0) | DOC_FULL, NULL) && kind->add) {
            const struct sampled sampled = {kind->sampled, ranking->list[i].number};
            kind->add(d, digest, &ranking->list[i]);
            add_missed(d, digest, &ranking->list[i].missed, kind->sampled == SAMPLES_KINDS ? NULL : &sampled);
        }
        if (i < shown && (kind->in & DOC_TEXT) != 0)
            rankings_add_row(d, digest, kind, &ranking->list[i]);
        doc_close(d);
    }
    rankings_add_rest(d, digest, kind, DOC_SLIM, ranking, ROWS);
    rankings_add_rest(d, digest, kind, DOC_FULL, ranking, kind->limit);
    doc_close(d);
    if ((kind->in & DOC_TEXT) != 0)
        rankings_note_others(d, digest, ranking, shown, cost);
}

void report_add_objects(struct document *d, struct digest *digest)
{
    rankings_add_list(d, digest, &digest->objects, &objects);
}

void report_add_functions(struct document *d, struct digest *digest)
{
    rankings_add_list(d, digest, &digest->functions, &functions);
}

/* The JSON has lines where the code lies, and where they are charged to; the text where they are charged to alone. */
void report_add_lines(struct document *d, struct digest *digest)
{
    rankings_add_list(d, digest, &digest->lines, &lines);
    rankings_add_list(d, digest, &digest->charged, &charged);
}

void report_add_loops(struct document *d, struct digest *digest)
{
    if (digest->run->found[ANALYSIS_loops])
        rankings_add_list(d, digest, &digest->loops, &loops);
}
