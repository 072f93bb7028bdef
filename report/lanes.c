/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lanes: one execution on several machines and placements, compared.
 *
 * Model
 *   Lanes are matched by the names of their levels, which need not be the same in all; what a lane has not takes no
 *   part. Objects are matched by what they are: the program makes the same ones known in the same order in every lane,
 *   but for those of code and page tables, which not every machine has.
 *   What changed most is the level whose misses lie furthest apart, weighed by what one costs on the first machine, and
 *   there the class and the object whose misses do.
 *
 * Counting
 *   Least, quartiles and most of a figure are figures of lanes, by nearest rank: nothing lies between two of them. Each
 *   column is ordered by itself. A percentile is the share of the other lanes that have less, and half of those that
 *   have the same. Costs are those of the report of one run.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_priv.h"

#define TABLE_LEVELS 3u /* side by side */
#define MOST_ROWS 16u
#define ENOUGH 5u /* lanes, for quartiles to say something */
#define OBJECTS_LISTED 10u
#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

enum what { COST, WALKS, MISSES, RATE, CONFLICTS };

struct column {
    enum what what;
    const char *level, *heading;
};

/* of: of the share; 1: it is a count. 0: the lane has none. */
struct figure {
    uint64_t part, of;
    size_t lane;
};

struct lane_levels {
    struct digest_level list[DIGEST_LEVELS];
    size_t count;
};

struct lanes {
    struct document *d;
    const struct report_run *runs;
    size_t count;
    struct lane_levels *levels; /* one a lane */
    const char *names[REPORT_LEVEL_NAMES];
    size_t name_count;
    struct figure *sorted;
};

/* ------------------------------------------------------------------ levels by name */

static const struct digest_level *lanes_level_of(const struct lanes *lanes, size_t lane, const char *name)
{
    const struct lane_levels *levels = &lanes->levels[lane];
    for (size_t i = 0; i < levels->count; i++)
        if (strcmp(levels->list[i].level->name, name) == 0)
            return &levels->list[i];
    return NULL;
}

/* Behind the level that is above it in its machine; returns the place of the next one. */
static size_t lanes_add_name(const char *names[REPORT_LEVEL_NAMES], size_t *count, const char *name, size_t at)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return i + 1;
    C2_ASSERT(*count < REPORT_LEVEL_NAMES);
    memmove(&names[at + 1], &names[at], (*count - at) * sizeof *names);
    names[at] = name;
    (*count)++;
    return at + 1;
}

size_t report_level_names(const char *out[REPORT_LEVEL_NAMES], const struct report_run *runs, size_t count)
{
    struct digest_level levels[DIGEST_LEVELS];
    size_t names = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t level_count = digest_levels(levels, &runs[i].sim);
        for (size_t k = 0, at = 0; k < level_count; k++)
            at = lanes_add_name(out, &names, levels[k].level->name, at);
    }
    return names;
}

static bool lanes_prepare(struct lanes *lanes)
{
    lanes->levels = c2_calloc(lanes->count, sizeof *lanes->levels);
    lanes->sorted = c2_calloc(lanes->count, sizeof *lanes->sorted);
    lanes->d->failed |= !lanes->levels || !lanes->sorted;
    for (size_t i = 0; i < lanes->count && !lanes->d->failed; i++)
        lanes->levels[i].count = digest_levels(lanes->levels[i].list, &lanes->runs[i].sim);
    lanes->name_count = report_level_names(lanes->names, lanes->runs, lanes->count);
    return !lanes->d->failed;
}

static void lanes_release(struct lanes *lanes)
{
    c2_free(lanes->levels);
    c2_free(lanes->sorted);
}

/* ------------------------------------------------------------------ figures */

static uint64_t lanes_cost_of(const struct lanes *lanes, size_t lane)
{
    const struct caches_cost cost = digest_run_cost(&lanes->runs[lane].sim);
    return caches_cost_sum(&cost);
}

static struct figure lanes_figure_of(const struct lanes *lanes, size_t lane, const struct column *column)
{
    const struct report_run *run = &lanes->runs[lane];
    if (column->what == COST)
        return (struct figure){lanes_cost_of(lanes, lane), 1, lane};
    if (column->what == WALKS)
        return (struct figure){run->sim.measured->walks.count, run->sim.tlb ? 1 : 0, lane};
    const struct digest_level *level = lanes_level_of(lanes, lane, column->level);
    if (!level)
        return (struct figure){0, 0, lane};
    const struct caches_counts *n = level->counts;
    if (column->what == MISSES)
        return (struct figure){n->misses, 1, lane};
    return column->what == RATE ? (struct figure){n->misses, n->accesses, lane}
                                : (struct figure){n->conflict, n->misses, lane};
}

static int by_size(const void *a_pointer, const void *b_pointer)
{
    const struct figure *a = a_pointer, *b = b_pointer;
    const unsigned __int128 left = (unsigned __int128)a->part * b->of, right = (unsigned __int128)b->part * a->of;
    if (left != right)
        return left < right ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

/* Keeps the figure, in lanes->sorted, once all are in. */
static size_t add_figure(struct lanes *lanes, size_t count, struct figure figure)
{
    if (figure.of != 0)
        lanes->sorted[count++] = figure;
    return count;
}

/* Into lanes->sorted; how many lanes have it. */
static size_t sort_column(struct lanes *lanes, const struct column *column)
{
    size_t count = 0;
    for (size_t i = 0; i < lanes->count; i++)
        count = add_figure(lanes, count, lanes_figure_of(lanes, i, column));
    qsort(lanes->sorted, count, sizeof *lanes->sorted, by_size);
    return count;
}

/* quarter: 0 the least, 4 the most. */
static const struct figure *ranked(const struct lanes *lanes, size_t count, unsigned quarter)
{
    const size_t rank = (count * quarter + 3) / 4;
    return &lanes->sorted[rank == 0 ? 0 : rank - 1];
}

static const char *figure_text(struct document *d, const struct column *column, const struct figure *figure)
{
    if (figure->of == 0)
        return "-";
    return column->what == RATE || column->what == CONFLICTS ? doc_share(d, figure->part, figure->of)
                                                             : doc_digits(d, figure->part);
}

/* ------------------------------------------------------------------ what is the same in all */

/* In all that the text shows of a level. */
static bool same_counts(const struct caches_counts *a, const struct caches_counts *b)
{
    return a->accesses == b->accesses && a->misses == b->misses && a->conflict == b->conflict;
}

static bool same_level(const struct lanes *lanes, const char *name)
{
    const struct digest_level *first = lanes_level_of(lanes, 0, name);
    bool same = first;
    for (size_t i = 1; i < lanes->count && same; i++) {
        const struct digest_level *other = lanes_level_of(lanes, i, name);
        same = other && same_counts(first->counts, other->counts);
    }
    return same;
}

static bool same_figures(const struct lanes *lanes, const struct column *column)
{
    const struct figure first = lanes_figure_of(lanes, 0, column);
    bool same = true;
    for (size_t i = 1; i < lanes->count && same; i++) {
        const struct figure other = lanes_figure_of(lanes, i, column);
        same = other.of == first.of && other.part == first.part;
    }
    return same;
}

static void note_same(const struct lanes *lanes)
{
    struct document *d = lanes->d;
    bool begun = false;
    for (size_t i = 0; i < lanes->name_count; i++) {
        if (!same_level(lanes, lanes->names[i]))
            continue;
        const struct caches_counts *n = lanes_level_of(lanes, 0, lanes->names[i])->counts;
        if (!begun)
            doc_note(d, DOC_FLOW, "the same in all:", "%s", "");
        doc_say(d, "%s%s %s misses (%s, conflict %s)", begun ? ", " : "", lanes->names[i], doc_digits(d, n->misses),
                doc_share(d, n->misses, n->accesses), doc_share(d, n->conflict, n->misses));
        begun = true;
    }
}

/* ------------------------------------------------------------------ tables of the text */

struct columns {
    struct column list[2 + 3 * TABLE_LEVELS];
    size_t count;
};

static void lanes_add_column(struct columns *to, struct document *d, enum what what, const char *level,
                             const char *heading)
{
    to->list[to->count++] = (struct column){what, level, doc_keep(d, "%s%s", level ? level : "", heading)};
}

static void lanes_add_cell(struct document *d, const struct column *column, const struct figure *figure)
{
    doc_string(d, DOC_TEXT, column->heading, figure_text(d, column, figure));
}

static void add_lane_rows(const struct lanes *lanes, const struct columns *columns)
{
    for (size_t lane = 0; lane < lanes->count; lane++) {
        doc_group(lanes->d, DOC_TEXT, NULL);
        doc_string(lanes->d, DOC_TEXT, "name", lanes->runs[lane].lane_name);
        for (size_t i = 0; i < columns->count; i++) {
            const struct figure figure = lanes_figure_of(lanes, lane, &columns->list[i]);
            lanes_add_cell(lanes->d, &columns->list[i], &figure);
        }
        doc_close(lanes->d);
    }
}

static void add_ranked_rows(struct lanes *lanes, const struct columns *columns)
{
    static const char *const names[] = {"least", "lower quartile", "median", "upper quartile", "most"};
    static const struct figure none;
    for (unsigned quarter = 0; quarter <= 4; quarter++) {
        doc_group(lanes->d, DOC_TEXT, NULL);
        doc_string(lanes->d, DOC_TEXT, "name", names[quarter]);
        for (size_t i = 0; i < columns->count; i++) {
            const size_t count = sort_column(lanes, &columns->list[i]);
            lanes_add_cell(lanes->d, &columns->list[i], count == 0 ? &none : ranked(lanes, count, quarter));
        }
        doc_close(lanes->d);
    }
}

/* Rows of lanes, where there is room for them, and rows of ranks, where there are lanes enough. */
static void lanes_add_table(struct lanes *lanes, const struct columns *columns, size_t tables)
{
    struct doc_column shown[1 + COUNT_OF(columns->list)] = {{.heading = "", .key = "name", .form = DOC_LEFT}};
    for (size_t i = 0; i < columns->count; i++) {
        const char *heading = columns->list[i].heading, *space = strchr(heading, ' ');
        shown[i + 1] = (struct doc_column){.heading = heading, .key = heading};
        if (columns->list[i].what == RATE || columns->list[i].what == CONFLICTS)
            shown[i + 1].heading = space + 1; /* it stands beside the level's misses */
        shown[i + 1].spare = columns->list[i].what == RATE ? 2 : columns->list[i].what == CONFLICTS;
    }
    doc_table(lanes->d, DOC_TEXT, NULL);
    doc_columns(lanes->d, shown, columns->count + 1, 0);
    if (lanes->count * tables <= MOST_ROWS)
        add_lane_rows(lanes, columns);
    if (lanes->count >= ENOUGH || lanes->count * tables > MOST_ROWS)
        add_ranked_rows(lanes, columns);
    doc_close(lanes->d);
}

static void add_level_columns(struct columns *to, struct document *d, const char *name)
{
    lanes_add_column(to, d, MISSES, name, " misses");
    lanes_add_column(to, d, RATE, name, " rate");
    lanes_add_column(to, d, CONFLICTS, name, " conflict");
}

static void lanes_add_tables(struct lanes *lanes)
{
    static const struct column cost = {COST, NULL, ""}, walks = {WALKS, NULL, ""};
    const char *names[REPORT_LEVEL_NAMES];
    size_t count = 0, from = 0;
    for (size_t i = 0; i < lanes->name_count; i++)
        if (!same_level(lanes, lanes->names[i]))
            names[count++] = lanes->names[i];
    const size_t tables = (count + TABLE_LEVELS - 1) / TABLE_LEVELS;
    for (size_t table = 0; table < tables; table++) {
        const size_t to = from + (count - from + (tables - table) - 1) / (tables - table);
        struct columns columns = {.count = 0};
        if (table == 0 && !same_figures(lanes, &cost))
            lanes_add_column(&columns, lanes->d, COST, NULL, "cost");
        if (table == 0 && !same_figures(lanes, &walks))
            lanes_add_column(&columns, lanes->d, WALKS, NULL, "page walks");
        for (; from < to; from++)
            add_level_columns(&columns, lanes->d, names[from]);
        lanes_add_table(lanes, &columns, tables);
    }
}

/* ------------------------------------------------------------------ objects */

static bool lanes_same_object(const struct analyses_object *a, const struct analyses_object *b)
{
    const bool allocated = a->site_count != 0; /* then it may have no name in other lanes than the first */
    return a->kind == b->kind && a->base == b->base && a->site_count == b->site_count && a->layout == b->layout &&
           a->local_number == b->local_number && a->number == b->number &&
           (allocated ? a->sites[0].v == b->sites[0].v : strcmp(a->name, b->name) == 0);
}

static uint64_t misses_in(const struct analyses_tally *tally)
{
    uint64_t sum = 0;
    for (unsigned class_ = 0; class_ < ANALYSES_CLASSES; class_++)
        sum += tally->reads[class_] + tally->writes[class_];
    return sum;
}

/* An object of the first lane, and the least and the most that it missed at a level in any. */
struct spread {
    const struct analyses_object *object;
    uint64_t least, most;
};

static void lanes_widen(struct spread *spread, uint64_t misses)
{
    spread->least = misses < spread->least ? misses : spread->least;
    spread->most = misses > spread->most ? misses : spread->most;
}

/* The lane's objects are the first one's, in the same order, but for some. */
static void widen_by_lane(struct spread *spreads, size_t count, const struct lanes *lanes, size_t lane,
                          const char *level)
{
    const struct analyses_profile_result *profile = lanes->runs[lane].sim.profile;
    const struct digest_level *mine = lanes_level_of(lanes, lane, level);
    size_t at = 0;
    for (size_t i = 0; i < count && mine; i++) {
        size_t found = at;
        while (found < profile->object_count && !lanes_same_object(spreads[i].object, &profile->objects[found]))
            found++;
        if (found == profile->object_count)
            continue;
        lanes_widen(&spreads[i], misses_in(&profile->objects[found].level[mine->number]));
        at = found + 1;
    }
}

static int by_spread(const void *a_pointer, const void *b_pointer)
{
    const struct spread *a = a_pointer, *b = b_pointer;
    const uint64_t left = a->most - a->least, right = b->most - b->least;
    if (left != right)
        return left > right ? -1 : 1;
    return a->object < b->object ? -1 : a->object > b->object;
}

/* NULL: the lanes have no profiles, or memory is short. To be freed. */
static struct spread *spread_objects(size_t *count, const struct lanes *lanes, const char *level)
{
    const struct analyses_profile_result *first = lanes->runs[0].sim.profile;
    *count = first && lanes_level_of(lanes, 0, level) ? first->object_count : 0;
    struct spread *spreads = *count == 0 ? NULL : c2_calloc(*count, sizeof *spreads);
    lanes->d->failed |= *count != 0 && !spreads;
    if (!spreads)
        return NULL;
    const uint32_t number = lanes_level_of(lanes, 0, level)->number;
    for (size_t i = 0; i < *count; i++) {
        const uint64_t misses = misses_in(&first->objects[i].level[number]);
        spreads[i] = (struct spread){&first->objects[i], misses, misses};
    }
    for (size_t lane = 1; lane < lanes->count; lane++)
        widen_by_lane(spreads, *count, lanes, lane, level);
    qsort(spreads, *count, sizeof *spreads, by_spread);
    return spreads;
}

static void lanes_add_objects(const struct lanes *lanes, const char *level)
{
    struct document *d = lanes->d;
    char name[512];
    size_t count;
    struct spread *spreads = spread_objects(&count, lanes, level);
    doc_table(d, DOC_JSON, "objects");
    for (size_t i = 0; i < count && spreads && i < OBJECTS_LISTED && spreads[i].most != spreads[i].least; i++) {
        names_object_text(name, sizeof name, &lanes->runs[0].sim, spreads[i].object);
        if (i == 0)
            doc_say(d, "; most of it in %s: %s to %s", name, doc_digits(d, spreads[i].least),
                    doc_digits(d, spreads[i].most));
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "object", name);
        doc_count(d, DOC_JSON, "least", spreads[i].least);
        doc_count(d, DOC_JSON, "most", spreads[i].most);
        doc_close(d);
    }
    doc_close(d);
    c2_free(spreads);
}

/* ------------------------------------------------------------------ what changed most */

typedef uint64_t counter(const struct caches_counts *n);
#define X(field, help) \
    static uint64_t count_##field(const struct caches_counts *n) { return n->field; }
CACHES_COUNTERS(X)
#undef X

static size_t sort_counter(struct lanes *lanes, const char *level, counter *of)
{
    size_t count = 0;
    for (size_t i = 0; i < lanes->count; i++) {
        const struct digest_level *mine = lanes_level_of(lanes, i, level);
        if (mine)
            count = add_figure(lanes, count, (struct figure){of(mine->counts), 1, i});
    }
    qsort(lanes->sorted, count, sizeof *lanes->sorted, by_size);
    return count;
}

/* NULL: nothing changed. */
static const char *most_changed(struct lanes *lanes)
{
    const char *found = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < lanes->name_count; i++) {
        const struct digest_level *first = lanes_level_of(lanes, 0, lanes->names[i]);
        const struct column misses = {MISSES, lanes->names[i], ""};
        const size_t count = sort_column(lanes, &misses);
        const uint64_t apart = (ranked(lanes, count, 4)->part - ranked(lanes, count, 0)->part) *
                               (first ? first->miss_cycles : 1);
        if (apart > most) {
            most = apart;
            found = lanes->names[i];
        }
    }
    return found;
}

static void note_class(struct lanes *lanes, const char *level)
{
    static const struct {
        const char *name;
        counter *of;
    } classes[] = {{"conflict", count_conflict}, {"capacity", count_capacity}, {"cold", count_cold}};
    uint64_t least = 0, most = 0;
    const char *found = NULL;
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        const size_t count = sort_counter(lanes, level, classes[i].of);
        const uint64_t low = ranked(lanes, count, 0)->part, high = ranked(lanes, count, 4)->part;
        if (found && high - low <= most - least)
            continue;
        found = classes[i].name;
        least = low;
        most = high;
    }
    doc_say(lanes->d, "; %s misses %s to %s", found, doc_digits(lanes->d, least), doc_digits(lanes->d, most));
    doc_string(lanes->d, DOC_JSON, "class", found);
}

static void add_changed(struct lanes *lanes)
{
    struct document *d = lanes->d;
    const char *level = most_changed(lanes);
    if (!level) {
        doc_note(d, DOC_LINE, NULL, "nothing changes: all have the same misses at every level");
        return;
    }
    const struct column misses = {MISSES, level, ""};
    const size_t count = sort_column(lanes, &misses);
    const struct figure least = *ranked(lanes, count, 0), most = *ranked(lanes, count, 4);
    doc_group(d, DOC_BOTH, "changed");
    doc_note(d, DOC_FLOW, "changes most:", "%s misses, %s (%s) to %s (%s)", level, doc_digits(d, least.part),
             lanes->runs[least.lane].lane_name, doc_digits(d, most.part), lanes->runs[most.lane].lane_name);
    doc_string(d, DOC_JSON, "level", level);
    note_class(lanes, level);
    lanes_add_objects(lanes, level);
    doc_close(d);
}

/* ------------------------------------------------------------------ where the first one lies */

struct place {
    size_t below, equal, above; /* of the other lanes */
};

static struct place place_of_first(const struct lanes *lanes, size_t count)
{
    struct place place = {0};
    const struct figure *first = NULL;
    for (size_t i = 0; i < count; i++)
        first = lanes->sorted[i].lane == 0 ? &lanes->sorted[i] : first;
    for (size_t i = 0; i < count && first; i++) {
        place.below += lanes->sorted[i].part < first->part;
        place.above += lanes->sorted[i].part > first->part;
        place.equal += lanes->sorted[i].part == first->part && &lanes->sorted[i] != first;
    }
    return place;
}

/* Of the level that changes most: whether its number says something, or was drawn. */
static void note_luck(struct lanes *lanes)
{
    struct document *d = lanes->d;
    const char *level = most_changed(lanes);
    if (!level || lanes->count < ENOUGH || !lanes_level_of(lanes, 0, level))
        return;
    const struct column misses = {MISSES, level, ""};
    const size_t count = sort_column(lanes, &misses);
    const struct place place = place_of_first(lanes, count);
    const size_t others = place.below + place.equal + place.above;
    if (others == 0)
        return;
    const size_t percentile = (200 * place.below + 100 * place.equal + others) / (2 * others);
    doc_note(d, DOC_FLOW, "is it luck?", "%s misses of the first, %s (%s), are more than those of %zu of %zu others",
             level, doc_digits(d, lanes_level_of(lanes, 0, level)->counts->misses), lanes->runs[0].lane_name,
             place.below, others);
    if (place.equal != 0)
        doc_say(d, ", as many as those of %zu", place.equal);
    doc_say(d, " and fewer than those of %zu: percentile %zu; half of all lie within %s and %s", place.above,
            percentile, doc_digits(d, ranked(lanes, count, 1)->part), doc_digits(d, ranked(lanes, count, 3)->part));
}

/* ------------------------------------------------------------------ JSON */

static void add_lanes(const struct lanes *lanes)
{
    doc_table(lanes->d, DOC_JSON, "lanes");
    for (size_t i = 0; i < lanes->count; i++) {
        doc_group(lanes->d, DOC_JSON, NULL);
        doc_string(lanes->d, DOC_JSON, "name", lanes->runs[i].lane_name);
        report_add_machine(lanes->d, &lanes->runs[i]);
        report_add_counted(lanes->d, &lanes->runs[i]);
        doc_count(lanes->d, DOC_JSON, "cost", lanes_cost_of(lanes, i));
        doc_close(lanes->d);
    }
    doc_close(lanes->d);
}

static void add_spread(struct lanes *lanes, const char *level, const char *name, size_t count)
{
    struct document *d = lanes->d;
    const struct place place = place_of_first(lanes, count);
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "level", level);
    doc_string(d, DOC_JSON, "counter", name);
    doc_count(d, DOC_JSON, "least", ranked(lanes, count, 0)->part);
    doc_count(d, DOC_JSON, "lower_quartile", ranked(lanes, count, 1)->part);
    doc_count(d, DOC_JSON, "median", ranked(lanes, count, 2)->part);
    doc_count(d, DOC_JSON, "upper_quartile", ranked(lanes, count, 3)->part);
    doc_count(d, DOC_JSON, "most", ranked(lanes, count, 4)->part);
    doc_string(d, DOC_JSON, "least_lane", lanes->runs[ranked(lanes, count, 0)->lane].lane_name);
    doc_string(d, DOC_JSON, "most_lane", lanes->runs[ranked(lanes, count, 4)->lane].lane_name);
    doc_count(d, DOC_JSON, "below_first", place.below);
    doc_count(d, DOC_JSON, "above_first", place.above);
    doc_close(d);
}

static void add_spreads(struct lanes *lanes)
{
    static const struct {
        const char *name;
        counter *of;
    } counters[] = {
#define X(field, help) {#field, count_##field},
        CACHES_COUNTERS(X)
#undef X
    };
    static const struct column cost = {COST, NULL, ""};
    doc_table(lanes->d, DOC_JSON, "spread");
    for (size_t i = 0; i < lanes->name_count; i++)
        for (size_t k = 0; k < COUNT_OF(counters); k++)
            add_spread(lanes, lanes->names[i], counters[k].name, sort_counter(lanes, lanes->names[i], counters[k].of));
    add_spread(lanes, NULL, "cost", sort_column(lanes, &cost));
    doc_close(lanes->d);
}

/* ------------------------------------------------------------------ what the program saw */

/* It ran once, and saw of each thing the largest that a lane has; a run of its own would have shown it less. */
static void note_seen(const struct lanes *lanes)
{
    struct mmu_guest_config all = {0};
    char size[32];
    bool differ = false;
    for (size_t i = 0; i < lanes->count; i++)
        mmu_config_suit(&all, lanes->runs[i].sim.placement);
    for (size_t i = 0; i < lanes->count; i++) {
        struct mmu_guest_config own = {0};
        mmu_config_suit(&own, lanes->runs[i].sim.placement);
        differ |= own.guest_bytes != all.guest_bytes || own.heap_page != all.heap_page;
    }
    if (!differ)
        return;
    doc_note(lanes->d, DOC_FLOW, "the program saw",
             "%s of memory and a heap for pages of %s, the largest of all: runs "
             "on machines that have less show it less, and may differ",
             c2_size_text(size, all.guest_bytes),
             all.heap_page == MMU_PAGE_4K   ? "4 KiB"
             : all.heap_page == MMU_PAGE_2M ? "2 MiB"
                                            : "1 GiB");
}

/* ------------------------------------------------------------------ the chapter */

void report_add_lanes(struct document *d, struct digest *digest)
{
    const struct report_run *run = report_of(digest);
    struct lanes lanes = {.d = d, .runs = run->lanes, .count = run->lane_count};
    if (!run->lanes)
        return;
    if (lanes_prepare(&lanes)) {
        doc_note(d, DOC_LINE, NULL, "%zu side by side, of one execution; above is the first, %s:", lanes.count,
                 run->lanes[0].lane_name);
        lanes_add_tables(&lanes);
        note_same(&lanes);
        add_lanes(&lanes);
        add_spreads(&lanes);
        add_changed(&lanes);
        note_luck(&lanes);
        note_seen(&lanes);
    }
    lanes_release(&lanes);
}
