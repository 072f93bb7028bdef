/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * reuse_chapter: at which distances lines are used again, by stack, object, function, loop, line and instruction.
 *
 * Counting
 *   A rate is the share of accesses that a fully associative LRU cache of that size would miss. What has the most
 *   misses in a cache of FAR lines stands first in a list.
 *   The curve of a stack falls at a size where a power of two of lines more would have KNEE_SHARE of the accesses more:
 *   the size that has nine of ten of these. Three such sizes are named, those with the most accesses.
 */
#include "analyses/chapter.h"
#include "analyses/reuse.h"

#include <stdlib.h>

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])
#define FAR_LOG2 4u     /* lines, as a power of two: 1 KiB of lines of 64 bytes */
#define SIZES 6u        /* columns in the text: FAR, and each eight times the one before */
#define SIZES_STEP 3u   /* eight, as a power of two */
#define KNEES 3u        /* at most */
#define KNEE_SHARE 200u /* of the accesses: one in so many */
#define SHOWN_OBJECTS 3u
#define SHOWN_PLACES 2u
#define TEXT 256

/* ------------------------------------------------------------------ histograms */

static uint64_t accesses_of(const struct analyses_reuse *of)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ANALYSES_REUSE_BUCKETS; i++)
        sum += of->count[i];
    return sum;
}

/* In a cache of 2^size_log2 lines. */
static uint64_t reuse_chapter_misses_of(const struct analyses_reuse *of, uint32_t size_log2)
{
    uint64_t sum = 0;
    for (uint32_t i = size_log2 + 1; i < ANALYSES_REUSE_BUCKETS; i++)
        sum += of->count[i];
    return sum;
}

static void add_distances(struct document *d, const struct analyses_run *run, const struct analyses_reuse *of)
{
    uint32_t count = ANALYSES_REUSE_COLD;
    while (count > 0 && of->count[count - 1] == 0)
        count--;
    doc_count(d, DOC_JSON, "accesses", accesses_of(of));
    doc_count(d, DOC_JSON, "cold", of->count[ANALYSES_REUSE_COLD]);
    if (caches_machine_cores(run->machine) > 1)
        doc_count(d, DOC_JSON, "taken", of->count[ANALYSES_REUSE_TAKEN]);
    doc_table(d, DOC_JSON, "distances");
    for (uint32_t i = 0; i < count; i++)
        doc_count(d, DOC_JSON, NULL, of->count[i]);
    doc_close(d);
}

/* ------------------------------------------------------------------ where the curve falls */

struct knee {
    uint64_t lines, accesses;
};

/* The size that has nine of ten of those that 2^k lines have more than half as many. */
static uint64_t knee_lines(const struct analyses_reuse_stack *of, uint32_t k)
{
    const uint64_t from = UINT64_C(1) << (k - 1), to = UINT64_C(1) << k;
    uint64_t left = of->by_size.count[k] - of->by_size.count[k] / 10;
    for (uint64_t distance = from; distance < to && distance < of->exact_count; distance++) {
        if (of->exact[distance] >= left)
            return distance + 1;
        left -= of->exact[distance];
    }
    return to;
}

static void remove_least(struct knee *knees, size_t count)
{
    size_t least = 0;
    for (size_t i = 1; i < count; i++)
        least = knees[i].accesses < knees[least].accesses ? i : least;
    for (size_t i = least; i + 1 < count; i++)
        knees[i] = knees[i + 1];
}

/* By size; those with the most accesses, where there are more. */
static size_t find_knees(struct knee out[KNEES + 1], const struct analyses_reuse_stack *of)
{
    size_t count = 0;
    for (uint32_t k = FAR_LOG2; k < ANALYSES_REUSE_COLD; k++) {
        const uint64_t accesses = of->by_size.count[k];
        if (accesses <= of->accesses / KNEE_SHARE)
            continue;
        out[count++] = (struct knee){knee_lines(of, k), accesses};
        if (count > KNEES)
            remove_least(out, count--);
    }
    return count;
}

/* ------------------------------------------------------------------ stacks */

static void add_sizes(struct document *d, const struct analyses_reuse_stack *of, uint32_t line_bytes)
{
    doc_table(d, DOC_JSON, "sizes");
    for (uint32_t k = 0; k < ANALYSES_REUSE_COLD; k++) {
        const uint64_t misses = reuse_chapter_misses_of(&of->by_size, k);
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "bytes", (uint64_t)line_bytes << k);
        doc_count(d, DOC_JSON, "misses", misses);
        doc_close(d);
        if (misses == of->by_size.count[ANALYSES_REUSE_COLD] + of->by_size.count[ANALYSES_REUSE_TAKEN])
            break;
    }
    doc_close(d);
}

static void add_knees(struct document *d, const struct analyses_reuse_stack *of, uint32_t line_bytes)
{
    struct knee knees[KNEES + 1];
    const size_t count = find_knees(knees, of);
    doc_table(d, DOC_JSON, "knees");
    for (size_t i = 0; i < count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "bytes", knees[i].lines * line_bytes);
        doc_count(d, DOC_JSON, "accesses", knees[i].accesses);
        doc_close(d);
    }
    doc_close(d);
}

static void reuse_chapter_add_stack(struct document *d, const struct analyses_run *run,
                                    const struct analyses_reuse_stack *of, uint32_t line_bytes)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", of->name);
    add_distances(d, run, &of->by_size);
    add_sizes(d, of, line_bytes);
    add_knees(d, of, line_bytes);
    doc_group(d, DOC_JSON, "level");
    doc_string(d, DOC_JSON, "name", of->level);
    doc_count(d, DOC_JSON, "bytes", of->level_lines * line_bytes);
    doc_count(d, DOC_JSON, "fa_misses", of->fa_misses);
    doc_close(d);
    doc_close(d);
}

/* ------------------------------------------------------------------ by object, function, line, instruction */

struct group {
    uint32_t number;
    struct analyses_reuse of;
};
struct groups {
    struct group *list;
    size_t count;
};

static int by_far(const void *a, const void *b)
{
    const struct group *one = a, *other = b;
    const uint64_t far = reuse_chapter_misses_of(&one->of, FAR_LOG2),
                   other_far = reuse_chapter_misses_of(&other->of, FAR_LOG2);
    if (far != other_far)
        return far > other_far ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

static void reuse_chapter_add_up(struct analyses_reuse *to, const struct analyses_reuse *what)
{
    for (uint32_t i = 0; i < ANALYSES_REUSE_BUCKETS; i++)
        to->count[i] += what->count[i];
}

static struct groups sorted(struct document *d, struct group *list, size_t count)
{
    d->failed |= !list;
    if (list)
        qsort(list, count, sizeof *list, by_far);
    return (struct groups){list, list ? count : 0};
}

/* Objects, by their number in the profile; with their code, which is in no other list. */
static struct groups reuse_chapter_make_objects(struct document *d, const struct digest *digest)
{
    const struct analyses_reuse_result *of = digest->run->found[ANALYSIS_reuse];
    const size_t objects = digest->profile->object_count;
    struct group *list = c2_calloc(objects + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; list && i < of->row_count; i++)
        reuse_chapter_add_up(&list[of->rows[i].object].of, &of->rows[i].of);
    for (size_t i = 0; list && i < objects; i++)
        if (accesses_of(&list[i].of) != 0)
            list[count++] = (struct group){(uint32_t)i, list[i].of};
    return sorted(d, list, count);
}

/* Functions, loops or lines, by their place in the ranking. */
static struct groups reuse_chapter_make_ranked(struct document *d, const struct digest *digest,
                                               const struct digest_ranking *ranking)
{
    const struct analyses_reuse_result *of = digest->run->found[ANALYSIS_reuse];
    struct analyses_reuse *sums = c2_calloc(ranking->numbers + 1, sizeof *sums);
    struct group *list = sums ? c2_calloc(ranking->count + 1, sizeof *list) : NULL;
    size_t count = 0;
    for (size_t i = 0; list && i < of->row_count; i++) {
        const uint32_t number = ranking->number_of[of->rows[i].insn];
        if (number != UINT32_MAX && !of->rows[i].code)
            reuse_chapter_add_up(&sums[number], &of->rows[i].of);
    }
    for (uint32_t i = 0; list && i < ranking->count; i++)
        if (accesses_of(&sums[ranking->list[i].number]) != 0)
            list[count++] = (struct group){i, sums[ranking->list[i].number]};
    c2_free(sums);
    return sorted(d, list, count);
}

/* The rows themselves, but those of code: an instruction in an object. */
static struct groups reuse_chapter_make_rows(struct document *d, const struct digest *digest)
{
    const struct analyses_reuse_result *of = digest->run->found[ANALYSIS_reuse];
    struct group *list = c2_calloc(of->row_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; list && i < of->row_count; i++)
        if (!of->rows[i].code)
            list[count++] = (struct group){(uint32_t)i, of->rows[i].of};
    return sorted(d, list, count);
}

/* In the JSON: at most `limit`, and what the others have together. */
static void reuse_chapter_add_groups(struct document *d, const struct digest *digest, const char *key,
                                     const struct groups *groups, size_t limit,
                                     void (*name)(struct document *d, const struct digest *digest, uint32_t number))
{
    struct analyses_reuse rest = {{0}};
    doc_table(d, DOC_JSON, key);
    for (size_t i = 0; i < groups->count && i < limit; i++) {
        doc_group(d, DOC_JSON, NULL);
        name(d, digest, groups->list[i].number);
        add_distances(d, digest->run, &groups->list[i].of);
        doc_close(d);
    }
    for (size_t i = limit; i < groups->count; i++)
        reuse_chapter_add_up(&rest, &groups->list[i].of);
    if (groups->count > limit) {
        doc_group(d, DOC_JSON, NULL);
        doc_group(d, DOC_JSON, "rest");
        doc_count(d, DOC_JSON, key, groups->count - limit);
        doc_close(d);
        add_distances(d, digest->run, &rest);
        doc_close(d);
    }
    doc_close(d);
}

static void reuse_chapter_name_object(struct document *d, const struct digest *digest, uint32_t number)
{
    const struct analyses_object *object = &digest->profile->objects[number];
    doc_string(d, DOC_JSON, "name", object->name);
    doc_string(d, DOC_JSON, "kind", analyses_kind_name(object->kind));
    chapter_add_address(d, "base", object->base);
}

static void reuse_chapter_name_line(struct document *d, const struct digest *digest, uint32_t number)
{
    chapter_add_ranked(d, digest, &digest->lines, &digest->lines.list[number]);
}

static void reuse_chapter_name_function(struct document *d, const struct digest *digest, uint32_t number)
{
    chapter_add_ranked(d, digest, &digest->functions, &digest->functions.list[number]);
}

static void reuse_chapter_name_loop(struct document *d, const struct digest *digest, uint32_t number)
{
    chapter_add_ranked(d, digest, &digest->loops, &digest->loops.list[number]);
}

static void reuse_chapter_name_row(struct document *d, const struct digest *digest, uint32_t number)
{
    const struct analyses_reuse_result *of = digest->run->found[ANALYSIS_reuse];
    const struct guest_va pc = digest->profile->insns[of->rows[number].insn].pc;
    struct loader_place place;
    names_place(&place, digest->run, pc);
    chapter_add_address(d, "pc", pc.v);
    chapter_add_place(d, &place);
    doc_string(d, DOC_JSON, "object", digest->profile->objects[of->rows[number].object].name);
}

/* ------------------------------------------------------------------ in the text */

static void reuse_chapter_note_finding(struct document *d, const struct analyses_reuse_stack *of, uint32_t line_bytes)
{
    struct knee knees[KNEES + 1];
    char size[32];
    const size_t count = find_knees(knees, of);
    doc_note(d, DOC_FLOW, "reuse:", "of %s line accesses of %s %s come back at once;", doc_digits(d, of->accesses),
             of->name, doc_share(d, of->by_size.count[0], of->accesses));
    doc_say(d, count == 0 ? " the miss curve falls nowhere by much" : " the miss curve falls");
    for (size_t i = 0; i < count; i++)
        doc_say(d, "%s at %s by %s%s", i == 0 ? "" : ",", doc_size(size, knees[i].lines * line_bytes),
                doc_share(d, knees[i].accesses, of->accesses), i == 0 ? " of the accesses" : "");
    doc_say(d, "; %s are cold", doc_share(d, of->by_size.count[ANALYSES_REUSE_COLD], of->accesses));
    if (of->by_size.count[ANALYSES_REUSE_TAKEN] != 0)
        doc_say(d, ", %s of lines that another core has written since",
                doc_share(d, of->by_size.count[ANALYSES_REUSE_TAKEN], of->accesses));
}

static void add_rates(struct document *d, const char *name, const struct analyses_reuse *of)
{
    static const char *const keys[SIZES] = {"a", "b", "c", "d", "e", "f"};
    const uint64_t accesses = accesses_of(of);
    doc_group(d, DOC_TEXT, NULL);
    doc_count(d, DOC_TEXT, "accesses", accesses);
    for (uint32_t i = 0; i < SIZES; i++)
        doc_string(d, DOC_TEXT, keys[i],
                   doc_share(d, reuse_chapter_misses_of(of, FAR_LOG2 + SIZES_STEP * i), accesses));
    doc_string(d, DOC_TEXT, "name", name);
    doc_close(d);
}

static const char *size_heading(struct document *d, uint32_t line_bytes, uint32_t i)
{
    char size[32];
    return doc_keep(d, "%s", c2_size_text(size, (uint64_t)line_bytes << (FAR_LOG2 + SIZES_STEP * i)));
}

static void reuse_chapter_add_columns(struct document *d, uint32_t line_bytes)
{
    const struct doc_column columns[] = {{.heading = "accesses", .key = "accesses"},
                                         {.heading = size_heading(d, line_bytes, 0), .key = "a"},
                                         {.heading = size_heading(d, line_bytes, 1), .key = "b", .spare = 1},
                                         {.heading = size_heading(d, line_bytes, 2), .key = "c"},
                                         {.heading = size_heading(d, line_bytes, 3), .key = "d", .spare = 2},
                                         {.heading = size_heading(d, line_bytes, 4), .key = "e"},
                                         {.heading = size_heading(d, line_bytes, 5), .key = "f"},
                                         {.heading = "miss rates by size", .key = "name", .form = DOC_NAME}};
    doc_columns(d, columns, COUNT_OF(columns), 0);
}

/* places: lines, or loops where they are known, of that ranking. */
static void reuse_chapter_add_text(struct document *d, const struct digest *digest, const struct groups *objects,
                                   const struct groups *places, const struct digest_ranking *ranking)
{
    const struct analyses_reuse_result *of = digest->run->found[ANALYSIS_reuse];
    char text[TEXT];
    reuse_chapter_note_finding(d, &of->stacks[0], of->line_bytes);
    doc_table(d, DOC_TEXT, NULL);
    reuse_chapter_add_columns(d, of->line_bytes);
    for (uint32_t i = 0; i < of->stack_count && of->stacks[i].name != of->stacks[i].level; i++)
        add_rates(d, of->stacks[i].name, &of->stacks[i].by_size);
    for (size_t i = 0, shown = 0; i < objects->count && shown < SHOWN_OBJECTS; i++) {
        const struct analyses_object *object = &digest->profile->objects[objects->list[i].number];
        if (object->kind == ANALYSES_CODE)
            continue;
        add_rates(d, names_object_text(text, sizeof text, digest->run, object), &objects->list[i].of);
        shown++;
    }
    for (size_t i = 0; i < places->count && i < SHOWN_PLACES; i++) {
        const struct digest_ranked *place = &ranking->list[places->list[i].number];
        const bool outside = ranking == &digest->loops && !place->loop;
        loader_place_text(text, sizeof text, place->pc, &place->place);
        add_rates(d, outside ? "outside of loops" : text, &places->list[i].of);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ all of it */

static void reuse_chapter_add_json(struct document *d, const struct digest *digest, const struct groups *objects,
                                   const struct groups *lines, const struct groups *loops)
{
    enum { OBJECTS = 500, LINES = 1000, LOOPS = 1000, FUNCTIONS = 1000, ROWS = 1000 };
    const struct analyses_reuse_result *of = digest->run->found[ANALYSIS_reuse];
    struct groups functions = reuse_chapter_make_ranked(d, digest, &digest->functions);
    struct groups rows = reuse_chapter_make_rows(d, digest);
    doc_group(d, DOC_JSON, "reuse");
    doc_count(d, DOC_JSON, "line", of->line_bytes);
    doc_table(d, DOC_JSON, "stacks");
    for (uint32_t i = 0; i < of->stack_count; i++)
        reuse_chapter_add_stack(d, digest->run, &of->stacks[i], of->line_bytes);
    doc_close(d);
    reuse_chapter_add_groups(d, digest, "objects", objects, OBJECTS, reuse_chapter_name_object);
    reuse_chapter_add_groups(d, digest, "functions", &functions, FUNCTIONS, reuse_chapter_name_function);
    reuse_chapter_add_groups(d, digest, "lines", lines, LINES, reuse_chapter_name_line);
    if (loops->list)
        reuse_chapter_add_groups(d, digest, "loops", loops, LOOPS, reuse_chapter_name_loop);
    reuse_chapter_add_groups(d, digest, "instructions", &rows, ROWS, reuse_chapter_name_row);
    doc_close(d);
    c2_free(functions.list);
    c2_free(rows.list);
}

static void add_reuse_chapter(struct document *d, struct digest *digest)
{
    if (!digest->run->found[ANALYSIS_reuse])
        return;
    struct groups objects = reuse_chapter_make_objects(d, digest);
    const bool by_loop = digest->run->found[ANALYSIS_loops];
    struct groups lines = reuse_chapter_make_ranked(d, digest, &digest->lines), loops = {NULL, 0};
    if (by_loop)
        loops = reuse_chapter_make_ranked(d, digest, &digest->loops);
    reuse_chapter_add_text(d, digest, &objects, by_loop ? &loops : &lines, by_loop ? &digest->loops : &digest->lines);
    reuse_chapter_add_json(d, digest, &objects, &lines, &loops);
    c2_free(objects.list);
    c2_free(lines.list);
    c2_free(loops.list);
}

const struct analysis_chapter analyses_reuse_chapter = {
    .add = add_reuse_chapter, .profiled = true, .in = DOC_BOTH, .place = 12, .order = 100};
