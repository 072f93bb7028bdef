/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * line_use_chapter: how much of each line was used where, by object, function, loop, line and instruction, and what
 * evicts what.
 *
 * Counting
 *   In the lists stands first what costs most by the bytes that were not used: of each level, unused bytes in lines,
 *   times the cycles of a miss there. It ranks, it is no time. (Weidendorfer's misses * (1 - spatial use), section
 *   3.5.3, with what a miss costs.)
 *   The text shows the first level and the last; objects and places of the program's data.
 */
#include "analyses/chapter.h"
#include "analyses/line_use.h"

#include <stdlib.h>

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])
#define SHOWN 2u        /* objects, and places; one of each where a structure is to be split */
#define NAMED 6u        /* fields of a part of it */
#define SPLIT_SHARE 20u /* one in so many of the bytes that cost something for nothing must be its */
#define TEXT 256

/* ------------------------------------------------------------------ groups of rows */

/* of: by number of the level. */
struct group {
    uint32_t number; /* of what is listed */
    uint64_t lost;   /* cycles, as above */
    struct analyses_line_use of[DIGEST_LEVELS];
};
struct groups {
    struct group *list;
    size_t count;
};

static const struct analyses_line_use_result *line_use_chapter_result_of(const struct digest *digest)
{
    return digest->run->found[ANALYSIS_line_use];
}

static void line_use_chapter_add_levels(struct group *to, const struct analyses_line_use *from, uint32_t levels)
{
    for (uint32_t i = 0; i < levels; i++)
        analyses_line_use_add(&to->of[i], &from[i]);
}

static bool line_use_chapter_is_empty(const struct group *group, uint32_t levels)
{
    uint64_t loads = 0;
    for (uint32_t i = 0; i < levels; i++)
        loads += group->of[i].loads;
    return loads == 0;
}

static void line_use_chapter_weigh(struct group *group, const struct digest *digest)
{
    const uint32_t line_bytes = line_use_chapter_result_of(digest)->line_bytes;
    uint64_t lost = 0;
    for (size_t i = 0; i < digest->level_count; i++)
        lost += analyses_line_use_loss(&group->of[digest->levels[i].number], line_bytes) *
                digest->levels[i].miss_cycles;
    group->lost = lost / line_bytes;
}

static int by_lost(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->lost != b->lost)
        return a->lost > b->lost ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Which of a list a row belongs to; UINT32_MAX: none. */
typedef uint32_t numbering(const struct digest *digest, const struct digest_ranking *ranking, size_t row);

static bool is_code(const struct digest *digest, size_t row)
{
    return digest->profile->objects[line_use_chapter_result_of(digest)->rows[row].object].kind == ANALYSES_CODE;
}

static uint32_t line_use_chapter_object_of(const struct digest *digest, const struct digest_ranking *ranking,
                                           size_t row)
{
    (void)ranking;
    return line_use_chapter_result_of(digest)->rows[row].object;
}

static uint32_t ranked_of(const struct digest *digest, const struct digest_ranking *ranking, size_t row)
{
    return is_code(digest, row) ? UINT32_MAX : ranking->number_of[line_use_chapter_result_of(digest)->rows[row].insn];
}

static uint32_t row_itself(const struct digest *digest, const struct digest_ranking *ranking, size_t row)
{
    (void)ranking;
    return is_code(digest, row) ? UINT32_MAX : (uint32_t)row;
}

/* numbers: all are below. */
static struct groups line_use_chapter_make_groups(struct document *d, const struct digest *digest,
                                                  const struct digest_ranking *ranking, size_t numbers,
                                                  numbering *number_of)
{
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    struct groups groups = {.list = c2_calloc(numbers + 1, sizeof *groups.list)};
    d->failed |= !groups.list;
    for (size_t i = 0; groups.list && i < of->row_count; i++) {
        const uint32_t number = number_of(digest, ranking, i);
        if (number != UINT32_MAX)
            line_use_chapter_add_levels(&groups.list[number], of->rows[i].level, of->level_count);
    }
    for (size_t i = 0; groups.list && i < numbers; i++) {
        if (line_use_chapter_is_empty(&groups.list[i], of->level_count))
            continue;
        groups.list[groups.count] = groups.list[i];
        groups.list[groups.count].number = (uint32_t)i;
        line_use_chapter_weigh(&groups.list[groups.count++], digest);
    }
    if (groups.list)
        qsort(groups.list, groups.count, sizeof *groups.list, by_lost);
    return groups;
}

static struct groups line_use_chapter_make_ranked(struct document *d, const struct digest *digest,
                                                  const struct digest_ranking *ranking)
{
    return line_use_chapter_make_groups(d, digest, ranking, ranking->numbers, ranked_of);
}

/* ------------------------------------------------------------------ the JSON */

static void line_use_chapter_add_counters(struct document *d, const struct analyses_line_use *of, uint32_t line_bytes)
{
#define X(field, help) doc_count(d, DOC_JSON, #field, of->field);
    ANALYSES_LINE_USE_COUNTERS(X)
#undef X
    doc_count(d, DOC_JSON, "unused_bytes", analyses_line_use_loss(of, line_bytes));
}

static void add_group_levels(struct document *d, const struct digest *digest, const struct group *group)
{
    doc_count(d, DOC_JSON, "cost", group->lost);
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        if (group->of[level->number].loads == 0)
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "level", level->level->name);
        line_use_chapter_add_counters(d, &group->of[level->number], line_use_chapter_result_of(digest)->line_bytes);
        doc_close(d);
    }
    doc_close(d);
}

typedef void naming(struct document *d, const struct digest *digest, const struct digest_ranking *ranking,
                    uint32_t number);

/* At most `limit`, and what the others have together. */
static void line_use_chapter_add_groups(struct document *d, const struct digest *digest, const char *key,
                                        const struct groups *groups, size_t limit, const struct digest_ranking *ranking,
                                        naming *name)
{
    struct group rest = {.number = 0};
    doc_table(d, DOC_JSON, key);
    for (size_t i = 0; i < groups->count && i < limit; i++) {
        doc_group(d, DOC_JSON, NULL);
        name(d, digest, ranking, groups->list[i].number);
        add_group_levels(d, digest, &groups->list[i]);
        doc_close(d);
    }
    for (size_t i = limit; i < groups->count; i++)
        line_use_chapter_add_levels(&rest, groups->list[i].of, line_use_chapter_result_of(digest)->level_count);
    if (groups->count > limit) {
        line_use_chapter_weigh(&rest, digest);
        doc_group(d, DOC_JSON, NULL);
        doc_group(d, DOC_JSON, "rest");
        doc_count(d, DOC_JSON, key, groups->count - limit);
        doc_close(d);
        add_group_levels(d, digest, &rest);
        doc_close(d);
    }
    doc_close(d);
}

static void line_use_chapter_name_object(struct document *d, const struct digest *digest,
                                         const struct digest_ranking *ranking, uint32_t number)
{
    const struct analyses_object *object = &digest->profile->objects[number];
    (void)ranking;
    doc_string(d, DOC_JSON, "name", object->name);
    doc_string(d, DOC_JSON, "kind", analyses_kind_name(object->kind));
    chapter_add_address(d, "base", object->base);
}

static const struct digest_ranked *ranked_at(const struct digest_ranking *ranking, uint32_t number)
{
    for (uint32_t i = 0; i < ranking->count; i++)
        if (ranking->list[i].number == number)
            return &ranking->list[i];
    return NULL;
}

static void name_ranked(struct document *d, const struct digest *digest, const struct digest_ranking *ranking,
                        uint32_t number)
{
    chapter_add_ranked(d, digest, ranking, ranked_at(ranking, number));
}

static void line_use_chapter_add_insn(struct document *d, const struct digest *digest, uint32_t row)
{
    const struct analyses_line_use_row *of = &line_use_chapter_result_of(digest)->rows[row];
    const struct guest_va pc = digest->profile->insns[of->insn].pc;
    struct loader_place place;
    names_place(&place, digest->run, pc);
    chapter_add_address(d, "pc", pc.v);
    chapter_add_place(d, &place);
    doc_string(d, DOC_JSON, "object", digest->profile->objects[of->object].name);
    doc_string(d, DOC_JSON, "kind", analyses_kind_name(digest->profile->objects[of->object].kind));
}

static void line_use_chapter_name_row(struct document *d, const struct digest *digest,
                                      const struct digest_ranking *ranking, uint32_t number)
{
    (void)ranking;
    line_use_chapter_add_insn(d, digest, number);
}

static void line_use_chapter_add_level(struct document *d, const struct digest *digest,
                                       const struct digest_level *level)
{
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    const struct analyses_line_use_level *use = &of->levels[level->number];
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "level", level->level->name);
    line_use_chapter_add_counters(d, &use->of, of->line_bytes);
    doc_count(d, DOC_JSON, "evicted", use->evicted);
    doc_count(d, DOC_JSON, "invalidated", use->invalidated);
    if (caches_machine_cores(digest->run->machine) > 1) {
        doc_count(d, DOC_JSON, "taken", use->taken);
        doc_count(d, DOC_JSON, "filtered", use->filtered);
    }
    if (digest->run->instructed_count != 0)
        doc_count(d, DOC_JSON, "flushed", use->flushed);
    doc_count(d, DOC_JSON, "left", use->left);
    doc_table(d, DOC_JSON, "by_bytes");
    for (uint32_t i = 0; i <= ANALYSES_LINE_USE_PARTS; i++)
        doc_count(d, DOC_JSON, NULL, use->by_bytes[i]);
    doc_close(d);
    doc_close(d);
}

static const struct digest_level *line_use_chapter_level_of(const struct digest *digest, uint32_t number)
{
    size_t i = 0;
    while (digest->levels[i].number != number)
        i++;
    return &digest->levels[i];
}

static void line_use_chapter_add_pair(struct document *d, const struct digest *digest,
                                      const struct analyses_line_use_pair *pair)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "level", line_use_chapter_level_of(digest, pair->level)->level->name);
    doc_group(d, DOC_JSON, "loader");
    line_use_chapter_add_insn(d, digest, pair->loader);
    doc_close(d);
    if (pair->evictor != ANALYSES_NOBODY) {
        doc_group(d, DOC_JSON, "evictor");
        line_use_chapter_add_insn(d, digest, pair->evictor);
        doc_close(d);
    }
    doc_count(d, DOC_JSON, "loads", pair->residencies);
    doc_count(d, DOC_JSON, "unused_bytes", pair->unused_bytes);
    doc_close(d);
}

/* At most so many of each level; the others' sums behind them. */
static void line_use_chapter_add_pairs(struct document *d, const struct digest *digest)
{
    enum { PAIRS = 200 };
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    doc_table(d, DOC_JSON, "pairs");
    for (size_t from = 0, to; from < of->pair_count; from = to) {
        uint64_t residencies = 0, unused = 0;
        for (to = from; to < of->pair_count && of->pairs[to].level == of->pairs[from].level; to++) {
            if (to - from < PAIRS)
                line_use_chapter_add_pair(d, digest, &of->pairs[to]);
            residencies += to - from < PAIRS ? 0 : of->pairs[to].residencies;
            unused += to - from < PAIRS ? 0 : of->pairs[to].unused_bytes;
        }
        if (to - from <= PAIRS)
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "level", line_use_chapter_level_of(digest, of->pairs[from].level)->level->name);
        doc_group(d, DOC_JSON, "rest");
        doc_count(d, DOC_JSON, "pairs", to - from - PAIRS);
        doc_close(d);
        doc_count(d, DOC_JSON, "loads", residencies);
        doc_count(d, DOC_JSON, "unused_bytes", unused);
        doc_close(d);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ structures */

/* Of what came into the level less than half was used. */
static bool is_cold(const struct analyses_line_use_field *field, uint32_t number)
{
    return 2 * field->level[number].used < field->level[number].loaded;
}

/* The level of the data where its unused bytes cost most. */
static const struct digest_level *dearest_level(const struct digest *digest, const struct analyses_line_use_struct *of,
                                                uint64_t *cost)
{
    const struct digest_level *dearest = &digest->levels[0];
    *cost = 0;
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        uint64_t unused = 0;
        for (uint32_t k = 0; k < of->field_count && !level->code; k++)
            unused += of->fields[k].level[level->number].loaded - of->fields[k].level[level->number].used;
        if (unused * level->miss_cycles <= *cost)
            continue;
        *cost = unused * level->miss_cycles;
        dearest = level;
    }
    return dearest;
}

/* Of named fields at a level: bytes of those that are cold, or that are not. */
static uint32_t line_use_chapter_bytes_of(const struct analyses_line_use_struct *of, uint32_t number, bool cold)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < of->field_count; i++)
        if (of->fields[i].name && is_cold(&of->fields[i], number) == cold)
            bytes += of->fields[i].bytes;
    return bytes;
}

static bool line_use_chapter_is_split(const struct analyses_line_use_struct *of, uint32_t number)
{
    return line_use_chapter_bytes_of(of, number, true) != 0 && line_use_chapter_bytes_of(of, number, false) != 0;
}

static void line_use_chapter_add_part(struct document *d, const struct analyses_line_use_struct *of, uint32_t number,
                                      bool cold)
{
    doc_table(d, DOC_JSON, cold ? "cold" : "hot");
    for (uint32_t i = 0; i < of->field_count; i++)
        if (of->fields[i].name && is_cold(&of->fields[i], number) == cold)
            doc_string(d, DOC_JSON, NULL, of->fields[i].name);
    doc_close(d);
}

static void line_use_chapter_add_field(struct document *d, const struct digest *digest,
                                       const struct analyses_line_use_field *field)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", field->name);
    doc_count(d, DOC_JSON, "start", field->start);
    doc_count(d, DOC_JSON, "bytes", field->bytes);
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct analyses_line_use_bytes *of = &field->level[digest->levels[i].number];
        if (of->loaded == 0)
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "level", digest->levels[i].level->name);
        doc_count(d, DOC_JSON, "loaded_bytes", of->loaded);
        doc_count(d, DOC_JSON, "used_bytes", of->used);
        doc_close(d);
    }
    doc_close(d);
    doc_close(d);
}

static void add_struct(struct document *d, const struct digest *digest, const struct analyses_line_use_struct *of)
{
    uint64_t cost;
    const struct digest_level *level = dearest_level(digest, of, &cost);
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", of->name);
    doc_count(d, DOC_JSON, "bytes", of->bytes);
    doc_count(d, DOC_JSON, "objects", of->object_count);
    doc_string(d, DOC_JSON, "object", digest->profile->objects[of->object].name);
    doc_count(d, DOC_JSON, "unused_bytes", of->unused_bytes);
    doc_table(d, DOC_JSON, "fields");
    for (uint32_t i = 0; i < of->field_count; i++)
        line_use_chapter_add_field(d, digest, &of->fields[i]);
    doc_close(d);
    if (line_use_chapter_is_split(of, level->number)) {
        doc_group(d, DOC_JSON, "split");
        doc_string(d, DOC_JSON, "level", level->level->name);
        line_use_chapter_add_part(d, of, level->number, false);
        doc_count(d, DOC_JSON, "hot_bytes", line_use_chapter_bytes_of(of, level->number, false));
        line_use_chapter_add_part(d, of, level->number, true);
        doc_count(d, DOC_JSON, "cold_bytes", line_use_chapter_bytes_of(of, level->number, true));
        doc_close(d);
    }
    doc_close(d);
}

static void add_structs(struct document *d, const struct digest *digest)
{
    enum { STRUCTS = 200 };
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    uint64_t rest = 0;
    doc_table(d, DOC_JSON, "structs");
    for (size_t i = 0; i < of->struct_count && i < STRUCTS; i++)
        add_struct(d, digest, &of->structs[i]);
    for (size_t i = STRUCTS; i < of->struct_count; i++)
        rest += of->structs[i].unused_bytes;
    if (of->struct_count > STRUCTS) {
        doc_group(d, DOC_JSON, NULL);
        doc_group(d, DOC_JSON, "rest");
        doc_count(d, DOC_JSON, "structs", of->struct_count - STRUCTS);
        doc_close(d);
        doc_count(d, DOC_JSON, "unused_bytes", rest);
        doc_close(d);
    }
    doc_close(d);
}

/* At most NAMED of them. */
static void say_part(struct document *d, const struct analyses_line_use_struct *of, uint32_t number, bool cold)
{
    const char *before = "{";
    uint32_t named = 0;
    for (uint32_t i = 0; i < of->field_count; i++) {
        if (!of->fields[i].name || is_cold(&of->fields[i], number) != cold)
            continue;
        if (named++ < NAMED)
            doc_say(d, "%s%s%s", before, of->fields[i].name, of->fields[i].level[number].used == 0 ? " (never)" : "");
        before = ", ";
    }
    if (named > NAMED)
        doc_say(d, ", %u more", named - NAMED);
    doc_say(d, "}");
}

/* A structure that is worth to be split, and where. */
struct split {
    const struct analyses_line_use_struct *of; /* NULL: none is */
    const struct digest_level *level;
};

/* What all that came into the levels of the data has cost for nothing, as dearest_level() has it of a structure's. */
static uint64_t whole_cost(const struct digest *digest)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < digest->level_count; i++) {
        const struct digest_level *level = &digest->levels[i];
        if (!level->code)
            cost += analyses_line_use_loss(&line_use_chapter_result_of(digest)->levels[level->number].of,
                                           line_use_chapter_result_of(digest)->line_bytes) *
                    level->miss_cycles;
    }
    return cost;
}

/* The one that would gain most, if that is a part of the whole. */
static struct split find_split(const struct digest *digest)
{
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    struct split split = {.of = NULL};
    uint64_t most = whole_cost(digest) / SPLIT_SHARE;
    for (size_t i = 0; i < of->struct_count; i++) {
        uint64_t cost;
        const struct digest_level *at = dearest_level(digest, &of->structs[i], &cost);
        if (cost <= most || !line_use_chapter_is_split(&of->structs[i], at->number))
            continue;
        most = cost;
        split = (struct split){&of->structs[i], at};
    }
    return split;
}

static void note_split(struct document *d, const struct digest *digest, const struct split *split)
{
    const struct analyses_line_use_struct *of = split->of;
    char text[TEXT];
    if (!of)
        return;
    doc_note(d, DOC_FLOW, "fields:",
             "%u of %u bytes of %s (%s%s) were used in most of their loads into %s: split hot and cold fields: ",
             line_use_chapter_bytes_of(of, split->level->number, false), of->bytes, of->name,
             names_object_text(text, sizeof text, digest->run, &digest->profile->objects[of->object]),
             of->object_count > 1 ? " ..." : "", split->level->level->name);
    say_part(d, of, split->level->number, false);
    doc_say(d, " and ");
    say_part(d, of, split->level->number, true);
}

/* ------------------------------------------------------------------ all of the JSON */

static void line_use_chapter_add_json(struct document *d, const struct digest *digest, const struct groups *objects,
                                      const struct groups *lines, const struct groups *loops)
{
    enum { OBJECTS = 500, LINES = 1000, LOOPS = 1000, FUNCTIONS = 1000, ROWS = 1000 };
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    struct groups functions = line_use_chapter_make_ranked(d, digest, &digest->functions);
    struct groups rows = line_use_chapter_make_groups(d, digest, NULL, of->row_count, row_itself);
    doc_group(d, DOC_JSON, "line_use");
    doc_count(d, DOC_JSON, "line", of->line_bytes);
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++)
        line_use_chapter_add_level(d, digest, &digest->levels[i]);
    doc_close(d);
    line_use_chapter_add_groups(d, digest, "objects", objects, OBJECTS, NULL, line_use_chapter_name_object);
    line_use_chapter_add_groups(d, digest, "functions", &functions, FUNCTIONS, &digest->functions, name_ranked);
    line_use_chapter_add_groups(d, digest, "lines", lines, LINES, &digest->lines, name_ranked);
    if (loops->list)
        line_use_chapter_add_groups(d, digest, "loops", loops, LOOPS, &digest->loops, name_ranked);
    line_use_chapter_add_groups(d, digest, "instructions", &rows, ROWS, NULL, line_use_chapter_name_row);
    line_use_chapter_add_pairs(d, digest);
    add_structs(d, digest);
    doc_close(d);
    c2_free(functions.list);
    c2_free(rows.list);
}

/* ------------------------------------------------------------------ the text */

static uint64_t loaded_bytes(const struct digest *digest, const struct analyses_line_use *of)
{
    return of->loads * line_use_chapter_result_of(digest)->line_bytes;
}

/* "2.7"; of no load "-". */
static const char *mean_text(struct document *d, uint64_t accesses, uint64_t loads)
{
    if (loads == 0)
        return "-";
    const uint64_t tenths = (uint64_t)(((unsigned __int128)accesses * 20 + loads) / ((unsigned __int128)loads * 2));
    return doc_keep(d, "%s.%u", doc_digits(d, tenths / 10), (unsigned)(tenths % 10));
}

/* The data's levels that are shown: the first, and the last where that is another. */
static size_t shown_levels(const struct digest *digest, const struct digest_level *out[2])
{
    out[0] = &digest->levels[0];
    out[1] = &digest->levels[digest->level_count - 1];
    return out[1]->code || out[1] == out[0] ? 1 : 2;
}

static void line_use_chapter_note_finding(struct document *d, const struct digest *digest, const char *worst)
{
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    const struct digest_level *levels[2];
    char size[32];
    const size_t count = shown_levels(digest, levels);
    doc_note(d, DOC_FLOW, "line use:", "of what came into");
    for (size_t i = 0; i < count; i++) {
        const struct analyses_line_use *use = &of->levels[levels[i]->number].of;
        const uint64_t loaded = loaded_bytes(digest, use);
        doc_say(d, "%s %s (%s) %s%s", i == 0 ? "" : ",", levels[i]->level->name, doc_size(size, loaded),
                loaded == 0 ? "nothing" : doc_share(d, use->used_bytes, loaded),
                i == 0 ? " was used before it left" : "");
    }
    if (worst)
        doc_say(d, "; most is wasted on %s", worst);
}

static const char *const loads_keys[2] = {"first", "last"}, *const used_keys[2] = {"first used", "last used"},
                         *const mean_keys[2] = {"first mean", "last mean"};

static void line_use_chapter_add_use(struct document *d, const struct digest *digest, const char *name,
                                     const struct analyses_line_use *of)
{
    const struct digest_level *levels[2];
    const size_t count = shown_levels(digest, levels);
    doc_group(d, DOC_TEXT, NULL);
    for (size_t i = 0; i < count; i++) {
        const struct analyses_line_use *use = &of[levels[i]->number];
        doc_count(d, DOC_TEXT, loads_keys[i], use->loads);
        doc_string(d, DOC_TEXT, used_keys[i], doc_share(d, use->used_bytes, loaded_bytes(digest, use)));
        doc_string(d, DOC_TEXT, mean_keys[i], mean_text(d, use->accesses, use->loads));
    }
    doc_string(d, DOC_TEXT, "name", name);
    doc_close(d);
}

static void line_use_chapter_add_columns(struct document *d, const struct digest *digest)
{
    struct doc_column columns[7];
    const struct digest_level *levels[2];
    const size_t count = shown_levels(digest, levels);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        columns[n++] = (struct doc_column){.heading = doc_keep(d, "into %s", levels[i]->level->name),
                                           .key = loads_keys[i]};
        columns[n++] = (struct doc_column){.heading = "used", .key = used_keys[i], .spare = i};
        columns[n++] = (struct doc_column){.heading = "accesses", .key = mean_keys[i], .spare = 2};
    }
    columns[n++] = (struct doc_column){.heading = "lines; accesses of each", .key = "name", .form = DOC_NAME};
    doc_columns(d, columns, n, 0);
}

static const char *line_use_chapter_place_text(struct document *d, const struct digest_ranking *ranking,
                                               uint32_t number, bool loops)
{
    char text[TEXT];
    const struct digest_ranked *place = ranked_at(ranking, number);
    if (loops && !place->loop)
        return "outside of loops";
    return doc_keep(d, "%s%s", loops ? "loop " : "", loader_place_text(text, sizeof text, place->pc, &place->place));
}

/* most: objects, and as many places. */
static void line_use_chapter_add_tables(struct document *d, const struct digest *digest, const struct groups *objects,
                                        const struct groups *places, const struct digest_ranking *ranking, size_t most)
{
    struct group all = {.number = 0};
    char text[TEXT];
    for (uint32_t i = 0; i < line_use_chapter_result_of(digest)->level_count; i++)
        all.of[i] = line_use_chapter_result_of(digest)->levels[i].of;
    doc_table(d, DOC_TEXT, NULL);
    line_use_chapter_add_columns(d, digest);
    line_use_chapter_add_use(d, digest, "all", all.of);
    for (size_t i = 0, shown = 0; i < objects->count && shown < most; i++) {
        const struct analyses_object *object = &digest->profile->objects[objects->list[i].number];
        if (object->kind == ANALYSES_CODE)
            continue;
        line_use_chapter_add_use(d, digest, names_object_text(text, sizeof text, digest->run, object),
                                 objects->list[i].of);
        shown++;
    }
    for (size_t i = 0; i < places->count && i < most; i++)
        line_use_chapter_add_use(
            d, digest, line_use_chapter_place_text(d, ranking, places->list[i].number, ranking == &digest->loops),
            places->list[i].of);
    doc_close(d);
}

/* What lets the most unused bytes go, at the level of the data where that costs most. */
static const struct analyses_line_use_pair *worst_pair(const struct digest *digest)
{
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    const struct analyses_line_use_pair *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < of->pair_count; i++) {
        const struct digest_level *level = line_use_chapter_level_of(digest, of->pairs[i].level);
        const uint64_t lost = of->pairs[i].unused_bytes * level->miss_cycles;
        if (level->code || of->pairs[i].evictor == ANALYSES_NOBODY || lost <= most)
            continue;
        worst = &of->pairs[i];
        most = lost;
    }
    return worst;
}

static void note_pair(struct document *d, const struct digest *digest)
{
    const struct analyses_line_use_pair *pair = worst_pair(digest);
    char loader[TEXT], evictor[TEXT];
    if (!pair)
        return;
    const struct analyses_line_use_result *of = line_use_chapter_result_of(digest);
    const struct analyses_insn *insns = digest->profile->insns;
    const char *name = line_use_chapter_level_of(digest, pair->level)->level->name;
    names_place_text(loader, sizeof loader, digest->run, insns[of->rows[pair->loader].insn].pc);
    names_place_text(evictor, sizeof evictor, digest->run, insns[of->rows[pair->evictor].insn].pc);
    doc_note(d, DOC_FLOW, "evicted:", "of what %s loads into %s, %s lets %s lines go with %s of their bytes unused",
             loader, name, pair->loader == pair->evictor ? "its own next access" : evictor,
             doc_digits(d, pair->residencies), doc_share(d, pair->unused_bytes, pair->residencies * of->line_bytes));
}

static void line_use_chapter_add_text(struct document *d, const struct digest *digest, const struct groups *objects,
                                      const struct groups *places, const struct digest_ranking *ranking)
{
    char text[TEXT];
    const char *worst = NULL;
    const struct split split = find_split(digest);
    for (size_t i = 0; i < objects->count && !worst; i++) {
        const struct analyses_object *object = &digest->profile->objects[objects->list[i].number];
        if (object->kind != ANALYSES_CODE && objects->list[i].lost != 0)
            worst = names_object_text(text, sizeof text, digest->run, object);
    }
    line_use_chapter_note_finding(d, digest, worst);
    line_use_chapter_add_tables(d, digest, objects, places, ranking, split.of ? 1 : SHOWN);
    note_pair(d, digest);
    note_split(d, digest, &split);
}

static void add_line_use_chapter(struct document *d, struct digest *digest)
{
    if (!line_use_chapter_result_of(digest))
        return;
    const bool by_loop = digest->run->found[ANALYSIS_loops];
    struct groups objects = line_use_chapter_make_groups(d, digest, NULL, digest->profile->object_count,
                                                         line_use_chapter_object_of);
    struct groups lines = line_use_chapter_make_ranked(d, digest, &digest->lines), loops = {NULL, 0};
    if (by_loop)
        loops = line_use_chapter_make_ranked(d, digest, &digest->loops);
    line_use_chapter_add_text(d, digest, &objects, by_loop ? &loops : &lines,
                              by_loop ? &digest->loops : &digest->lines);
    line_use_chapter_add_json(d, digest, &objects, &lines, &loops);
    c2_free(objects.list);
    c2_free(lines.list);
    c2_free(loops.list);
}

const struct analysis_chapter analyses_line_use_chapter = {
    .add = add_line_use_chapter, .profiled = true, .in = DOC_BOTH, .place = 12, .order = 110};
