/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explain: the report of `c2emu explain`: one miss in words, and the accesses of its set from there on.
 *
 * Model
 *   What happened is the analysis's (analyses/explain.c); here it is put in words: what made the access, where the line
 *   goes in each level and by which bits, what the ways held, which of them the policy takes and why, what a fully
 *   associative cache would have had, when the line was there last, and what would have kept it. The victim is the one
 *   that the simulated policy has chosen; the sentence says by which of its rules.
 *
 * Not modelled
 *   How many bytes an access has; of a line the element that was accessed in it is named, and no other.
 */
#include "analyses/explain.h"

#include <inttypes.h>
#include <string.h>

#include "findings/findings.h"
#include "report/explain_priv.h"

#define TEXT 1024

/* ------------------------------------------------------------------ names */

static const struct caches_level *explain_level_at(const struct report_run *run, uint32_t level)
{
    return level < run->sim.machine->level_count ? &run->sim.machine->levels[level] : &run->sim.machine->l1i;
}

const char *report_story_class(enum caches_class class_)
{
    static const char *const names[] = {"hit", "cold", "capacity", "conflict", "coherence"};
    return names[class_];
}

const char *report_story_kind(uint8_t kind)
{
    static const char *const names[] = {"load", "store", "fetch", "page walk"};
    return names[kind];
}

/* "A[3][12]" */
static void add_indices(struct c2_words *words, const struct loader_array *array, uint64_t offset)
{
    const bool fortran = array->notation == LOADER_FORTRAN;
    int64_t index[LOADER_DIMENSIONS + 1];
    uint32_t count = 0;
    const uint64_t whole = array->count != 0 ? loader_array_step(array, 0) * array->dimensions[0].length
                                             : array->element_bytes;
    if (array->pointed && whole != 0)
        index[count++] = (int64_t)(offset / whole);
    for (uint32_t i = 0; i < array->count; i++) {
        const struct loader_dimension *of = &array->dimensions[i];
        index[count++] = (int64_t)(offset / loader_array_step(array, i) % of->length) + of->first;
    }
    if (array->pointed && count > 1 && index[0] == 0)
        memmove(index, index + 1, --count * sizeof *index);
    for (uint32_t i = 0; i < count; i++)
        c2_say(words, fortran ? (i == 0 ? "(%" PRId64 : ", %" PRId64) : "[%" PRId64 "]",
               index[fortran ? count - 1 - i : i]);
    c2_say(words, fortran ? ")" : "");
}

static void explain_add_field(struct c2_words *words, const struct loader_struct *of, uint64_t offset)
{
    for (uint32_t i = 0; of && i < of->field_count; i++)
        if (offset >= of->fields[i].start && offset - of->fields[i].start < of->fields[i].bytes)
            c2_say(words, ".%s", of->fields[i].name);
}

static void add_element(struct c2_words *words, const struct report_run *run, const struct analyses_object *object,
                        uint64_t offset)
{
    bool pointed;
    const struct loader_type_id type = findings_type(run->sim.symbols, object, &pointed);
    const struct loader_array *array = type.module ? loader_array_of(run->sim.symbols, type, pointed) : NULL;
    const struct loader_struct *of = type.module ? loader_struct_of(run->sim.symbols, type, pointed) : NULL;
    const uint64_t element = array && array->element_bytes != 0 ? array->element_bytes : of ? of->bytes : 0;
    if (array && element != 0 && (array->count != 0 || array->pointed))
        add_indices(words, array, offset);
    else if (!of && offset != 0)
        c2_say(words, " + %" PRIu64 " B", offset);
    if (of && element != 0)
        explain_add_field(words, of, offset % element);
}

const char *report_story_thing(struct document *d, const struct report_run *run, const struct explain_access *access)
{
    char text[TEXT];
    struct c2_words words = {.buffer = text, .bytes = sizeof text};
    const struct analyses_object *object = access->object != EXPLAIN_NOBODY ? &run->sim.profile->objects[access->object]
                                                                            : NULL;
    const struct guest_va va = access->va;
    text[0] = '\0';
    if (access->kind == SIM_WALK)
        return doc_keep(d, "a page-table entry for 0x%" PRIx64, va.v);
    if (!object)
        return doc_keep(d, "0x%" PRIx64, va.v);
    if (object->kind == ANALYSES_CODE)
        return doc_keep(d, "code of %s", object->name);
    c2_say(&words, "%s", object->name);
    if (object->blocks <= 1 && va.v >= object->base && va.v - object->base < object->bytes)
        add_element(&words, run, object, va.v - object->base);
    else
        c2_say(&words, " (0x%" PRIx64 ")", va.v);
    return doc_keep(d, "%s", text);
}

const char *report_story_who(struct document *d, const struct report_run *run, const struct explain_access *access)
{
    char text[NAMES_BYTES];
    const char *place = names_place_text(text, sizeof text, &run->sim, access->pc);
    if (access->pc.v == 0)
        return "nobody known";
    if (access->prefetcher == CACHES_PREFETCH_SOFTWARE)
        return doc_keep(d, "a prefetch instruction of %s", place);
    if (access->prefetcher != EXPLAIN_DEMAND)
        return doc_keep(d, "the %s prefetcher behind %s", caches_prefetcher_names[access->prefetcher], place);
    return doc_keep(d, "%s", place);
}

/* ------------------------------------------------------------------ where a line goes */

/* "address bits 6 to 11"; "the line's number modulo 12". */
static void say_index(struct c2_words *words, const struct report_run *run, const struct caches_level *level)
{
    const uint32_t sets = caches_level_sets(run->sim.machine, level), shift = c2_log2(run->sim.machine->line_bytes);
    const char *address = level->index == CACHES_VIRTUAL ? "virtual" : "physical";
    struct caches_hash *hash = NULL;
    uint32_t divisor = 1;
    if (level->slices > 1 &&
        caches_hash_create(&hash, level->hash, level->slices, run->sim.machine->directory, NULL) == C2_OK)
        divisor = caches_hash_index_divisor(hash);
    caches_hash_destroy(hash);
    if (sets == 1)
        c2_say(words, "the only set");
    else if (divisor != 1)
        c2_say(words, "by the number of the %s line / %" PRIu32 ", modulo %" PRIu32, address, divisor, sets);
    else if (!c2_is_power_of_two(sets))
        c2_say(words, "by the number of the %s line modulo %" PRIu32, address, sets);
    else if (sets == 2)
        c2_say(words, "by bit %" PRIu32 " of the %s address", shift, address);
    else
        c2_say(words, "by bits %" PRIu32 " to %" PRIu32 " of the %s address", shift, shift + c2_log2(sets) - 1,
               address);
}

static const char *explain_place_text(struct document *d, const struct report_run *run, const struct explain_level *at)
{
    char text[TEXT] = "", slice[32] = "";
    struct c2_words words = {.buffer = text, .bytes = sizeof text};
    const struct caches_level *level = explain_level_at(run, at->level);
    if (level->slices > 1)
        snprintf(slice, sizeof slice, "slice %" PRIu32 ", ", at->place.slice);
    c2_say(&words, "%sset %" PRIu32 " of %" PRIu32 ", ", slice, at->place.index,
           caches_level_sets(run->sim.machine, level));
    say_index(&words, run, level);
    if (level->slices > 1)
        c2_say(&words, "; the slice by the hash %s of the physical address", level->hash);
    return doc_keep(d, "%s", text);
}

static void say_level(struct document *d, const struct report_run *run, const struct explain_level *at)
{
    const bool hit = at->class_ == CACHES_HIT;
    doc_note(d, DOC_KEY, explain_level_at(run, at->level)->name, "%s%s: %s%s",
             hit ? "" : report_story_class(at->class_), hit ? "hit" : " miss", explain_place_text(d, run, at),
             at->evicted ? doc_keep(d, "; line 0x%" PRIx64 " makes room", at->victim.v) : "");
}

static void explain_add_level(struct document *d, const struct report_run *run, const struct explain_level *at)
{
    const struct caches_level *level = explain_level_at(run, at->level);
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", level->name);
    doc_string(d, DOC_JSON, "result", report_story_class(at->class_));
    doc_count(d, DOC_JSON, "slice", at->place.slice);
    doc_count(d, DOC_JSON, "set", at->place.index);
    doc_count(d, DOC_JSON, "sets", caches_level_sets(run->sim.machine, level));
    doc_string(d, DOC_JSON, "by", explain_place_text(d, run, at));
    if (at->evicted)
        doc_words(d, DOC_JSON, "victim", "0x%" PRIx64, at->victim.v);
    doc_close(d);
}

void report_story_levels(struct document *d, const struct report_run *run, const struct explain_story *story)
{
    doc_table(d, DOC_JSON, "levels");
    for (uint32_t i = 0; i < story->level_count; i++)
        explain_add_level(d, run, &story->levels[i]);
    doc_close(d);
    for (uint32_t i = 0; i < story->level_count; i++)
        say_level(d, run, &story->levels[i]);
    if (story->served_by == run->sim.machine->level_count)
        doc_note(d, DOC_KEY, "memory", "has the line");
}

/* ------------------------------------------------------------------ ways */

/* What the policy goes by. */
static const char *state_text(struct document *d, const struct caches_set *set, uint32_t way)
{
    const struct caches_way *of = &set->way[way];
    switch (set->policy) {
    case CACHES_LRU:
    case CACHES_FIFO:
        return doc_keep(d, "%" PRIu32, of->order);
    case CACHES_RANDOM:
    case CACHES_TREE_PLRU:
    case CACHES_MRU3_PLRU4:
        return "";
    default:
        return doc_keep(d, "%" PRIu32, of->value);
    }
}

static const char *state_heading(enum caches_policy policy)
{
    switch (policy) {
    case CACHES_LRU:
        return "touched later";
    case CACHES_FIFO:
        return "filled later";
    case CACHES_RANDOM:
    case CACHES_TREE_PLRU:
    case CACHES_MRU3_PLRU4:
        return "";
    case CACHES_NRU:
        return "bit";
    default:
        return "prediction";
    }
}

static const char *line_text(struct document *d, const struct report_run *run, const struct explain_line *line)
{
    return line->asked != 0 ? report_story_thing(d, run, &line->asking) : "not asked for yet";
}

/* Which way it is: by the order of touches there is no number but that. */
static void add_way(struct document *d, const struct report_run *run, const struct explain_step *step, uint32_t w)
{
    const struct caches_way *way = &step->set.way[w];
    const struct explain_line *line = &step->lines[w];
    const bool taken = w == step->way;
    doc_group(d, DOC_BOTH, NULL);
    doc_count(d, DOC_BOTH, "way", w);
    doc_string(d, DOC_TEXT, "mark",
               !taken                       ? ""
               : step->class_ == CACHES_HIT ? "hit"
               : way->holds                 ? "leaves"
                                            : "filled");
    doc_flag(d, DOC_JSON, "may_be_filled", step->set.allowed >> w & 1);
    doc_flag(d, DOC_JSON, "holds", way->holds);
    if (!way->holds) {
        doc_string(d, DOC_TEXT, "what", "empty");
        doc_close(d);
        return;
    }
    doc_words(d, DOC_BOTH, "line", "0x%" PRIx64, way->line.v);
    doc_string(d, DOC_BOTH, "what", line_text(d, run, line));
    doc_string(d, DOC_TEXT, "dirty", way->dirty ? "dirty" : "");
    doc_flag(d, DOC_JSON, "dirty", way->dirty);
    doc_string(d, DOC_BOTH, "state", state_text(d, &step->set, w));
    doc_string(d, DOC_BOTH, "brought_by", report_story_who(d, run, &line->brought));
    doc_count(d, DOC_BOTH, "brought_ago", step->access.when - line->brought.when);
    doc_count(d, DOC_BOTH, "touched_ago", step->access.when - line->touched.when);
    doc_close(d);
}

static const struct doc_column *explain_columns_of(struct document *d, enum caches_policy policy, size_t *count)
{
    const struct doc_column columns[] = {
        {.heading = "way", .key = "way"},
        {.heading = "", .key = "mark", .form = DOC_LEFT},
        {.heading = state_heading(policy), .key = "state", .spare = 3},
        {.heading = "brought", .key = "brought_ago"},
        {.heading = "touched", .key = "touched_ago"},
        {.heading = "", .key = "dirty", .form = DOC_LEFT, .spare = 2},
        {.heading = "line", .key = "line", .form = DOC_LEFT, .spare = 4},
        {.heading = "of", .key = "what", .form = DOC_LEFT},
        {.heading = "brought by", .key = "brought_by", .form = DOC_NAME},
    };
    struct doc_column *kept = c2_pool_get(&d->pool, sizeof columns);
    const bool stateless = state_heading(policy)[0] == '\0';
    *count = 0;
    d->failed |= !kept;
    for (size_t i = 0; kept && i < sizeof columns / sizeof columns[0]; i++)
        if (!stateless || strcmp(columns[i].key, "state") != 0)
            kept[(*count)++] = columns[i];
    return kept;
}

void report_story_ways(struct document *d, enum doc_in in, const struct report_run *run,
                       const struct explain_step *step)
{
    size_t count;
    const struct doc_column *columns = explain_columns_of(d, step->set.policy, &count);
    doc_table(d, in, "ways");
    doc_columns(d, columns, count, 2);
    for (uint32_t w = 0; w < step->set.ways; w++)
        add_way(d, run, step, w);
    doc_close(d);
}

/* ------------------------------------------------------------------ why the victim */

/* From the root to the way: "right at node 1, left at node 3". */
static void say_tree(struct c2_words *words, const struct caches_set *set)
{
    uint32_t node = 1;
    const char *between = "";
    const uint64_t all = c2_mask(0, set->ways - 1);
    c2_say(words, "the bits of the tree lead from the root to way %" PRIu32 ": ", set->victim);
    for (uint32_t half = set->ways / 2; half != 0; half /= 2) {
        const bool points = set->tree >> node & 1, goes = set->victim / half & 1;
        c2_say(words, "%s%s at node %" PRIu32 "%s", between, goes ? "right" : "left", node,
               points == goes ? "" : " (its bit points to ways that may not be filled)");
        node = 2 * node + goes;
        between = ", ";
    }
    if (set->allowed != all)
        c2_say(words, "; only some ways may be filled");
}

static uint32_t highest(const struct caches_set *set)
{
    uint32_t most = 0;
    for (uint32_t w = 0; w < set->ways; w++)
        if ((set->allowed >> w & 1) && set->way[w].value > most)
            most = set->way[w].value;
    return most;
}

static void say_bits(struct c2_words *words, const struct caches_set *set)
{
    if (highest(set) == 1)
        c2_say(words, "way %" PRIu32 " is the lowest whose bit says that it was not touched of late", set->victim);
    else
        c2_say(words, "all ways were touched of late, so all bits are set again, and way %" PRIu32 " is the lowest",
               set->victim);
}

static void say_duel(struct c2_words *words, const struct caches_set *set)
{
    if (set->role != CACHES_FOLLOWER)
        c2_say(words, "; the set leads by %s", set->role == CACHES_SRRIP_LEADER ? "srrip" : "brrip");
    else
        c2_say(words, "; the set follows: the selector stands at %" PRIu32 " of 1023, so fills go by %s", set->selector,
               set->selector > 511 ? "brrip" : "srrip");
}

static void say_predictions(struct c2_words *words, const struct caches_set *set)
{
    const uint32_t most = highest(set);
    if (most == 3)
        c2_say(words, "way %" PRIu32 " is the lowest with the prediction 3, which is farthest from its next use",
               set->victim);
    else
        c2_say(words,
               "no way has the prediction 3, so %" PRIu32 " is added to all, and way %" PRIu32
               " is the lowest that comes to 3",
               3 - most, set->victim);
    if (set->policy == CACHES_DRRIP)
        say_duel(words, set);
}

static void say_choice(struct c2_words *words, const struct explain_step *step)
{
    const struct caches_set *set = &step->set;
    const struct explain_line *victim = &step->lines[set->victim];
    const uint64_t touched = step->access.when - victim->touched.when,
                   brought = step->access.when - victim->brought.when;
    switch (set->policy) {
    case CACHES_LRU:
        c2_say(words, "way %" PRIu32 " was touched longest ago, %" PRIu64 " accesses before", set->victim, touched);
        break;
    case CACHES_FIFO:
        c2_say(words,
               "way %" PRIu32 " was filled longest ago, %" PRIu64 " accesses before; that it was touched %" PRIu64
               " before does not count",
               set->victim, brought, touched);
        break;
    case CACHES_RANDOM:
        c2_say(words, "a draw among %d ways came to way %" PRIu32, __builtin_popcountll(set->allowed), set->victim);
        break;
    case CACHES_TREE_PLRU:
        say_tree(words, set);
        break;
    case CACHES_NRU:
        say_bits(words, set);
        break;
    default:
        say_predictions(words, set);
        break;
    }
}

const char *report_story_why(struct document *d, const struct explain_step *step)
{
    char text[TEXT] = "";
    struct c2_words words = {.buffer = text, .bytes = sizeof text};
    const struct caches_set *set = &step->set;
    const bool some = set->allowed != c2_mask(0, set->ways - 1);
    if (step->class_ == CACHES_HIT)
        c2_say(&words, "way %" PRIu32 " has the line: nothing has to leave", step->way);
    else if (step->way == EXPLAIN_NO_WAY)
        c2_say(&words, "the level is exclusive: what misses it goes to the level above, and nothing comes in");
    else if (!set->way[set->victim].holds)
        c2_say(&words, "way %" PRIu32 " is empty: nothing has to leave", set->victim);
    else
        say_choice(&words, step);
    if (some && step->class_ != CACHES_HIT)
        c2_say(&words, " (the core may fill %d of the %" PRIu32 " ways)", __builtin_popcountll(set->allowed),
               set->ways);
    return doc_keep(d, "%s: %s", caches_policy_name(set->policy), text);
}

/* ------------------------------------------------------------------ the fully associative cache */

static uint64_t explain_lines_of(const struct report_run *run, uint32_t level)
{
    return explain_level_at(run, level)->size_bytes / run->sim.machine->line_bytes;
}

const char *report_story_full(struct document *d, const struct report_run *run, uint32_t level,
                              const struct explain_step *step)
{
    const char *lines = doc_digits(d, explain_lines_of(run, level)), *distance = doc_digits(d, step->distance);
    if (step->class_ == CACHES_COHERENCE)
        return "does not have the line either: another core's write took it from there, too";
    if (step->class_ == CACHES_COLD)
        return "misses, too: the level was never asked for the line before";
    const bool known = step->distance != EXPLAIN_UNKNOWN;
    if (step->class_ == CACHES_CONFLICT)
        return known
                   ? doc_keep(d, "has the line: %s other lines were asked for since, and it holds %s", distance, lines)
                   : doc_keep(d, "has the line among its %s", lines);
    if (step->class_ == CACHES_CAPACITY)
        return known ? doc_keep(d, "misses, too: %s other lines were asked for since, and it holds %s", distance, lines)
                     : doc_keep(d, "misses, too: the line is not among its %s", lines);
    return known ? doc_keep(d, "%s: %s other lines were asked for since, and it holds %s",
                            step->distance < explain_lines_of(run, level) ? "hits, too" : "would miss", distance, lines)
                 : "is not known of a hit here";
}

/* ------------------------------------------------------------------ the line's past, and what would have kept it */

static const char *left_text(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    const struct explain_line *own = &step->own;
    const char *by = report_story_who(d, run, &own->left);
    const char *line = doc_keep(d, "line 0x%" PRIx64 " (%s)", own->left_for.v, report_story_thing(d, run, &own->left));
    switch (own->how) {
    case EXPLAIN_MADE_ROOM:
        return doc_keep(d, "it made room for %s, which %s brought", line, by);
    case EXPLAIN_FOR_AHEAD:
        return doc_keep(d, "it made room for line 0x%" PRIx64 ", which %s fetched ahead", own->left_for.v, by);
    case EXPLAIN_INCLUSION:
        return doc_keep(d, "an inclusive level below evicted it, for %s, which %s brought", line, by);
    case EXPLAIN_MOVED_UP:
        return doc_keep(d, "%s took it to the level above, as this one is exclusive", by);
    case EXPLAIN_TAKEN:
        return doc_keep(d, "a write of another core took it: %s", by);
    default:
        return doc_keep(d, "it was taken out without being replaced: %s", by);
    }
}

const char *report_story_past(struct document *d, const struct report_run *run, const struct explain_step *step)
{
    const struct explain_line *own = &step->own;
    if (own->asked == 0)
        return "it was never asked for here before";
    if (!own->brought_once)
        return doc_keep(d, "it was asked for %s accesses before, and never came in",
                        doc_digits(d, step->access.when - own->asked));
    if (own->here)
        return doc_keep(d, "it came %s accesses before, by %s, and was touched last %s before",
                        doc_digits(d, step->access.when - own->brought.when), report_story_who(d, run, &own->brought),
                        doc_digits(d, step->access.when - own->touched.when));
    const char *left = left_text(d, run, step);
    const uint64_t ago = own->left.when != 0 ? step->access.when - own->left.when : 0;
    return doc_keep(d, "it came %s accesses before, by %s, was touched last %s before, and left%s: %s",
                    doc_digits(d, step->access.when - own->brought.when), report_story_who(d, run, &own->brought),
                    doc_digits(d, step->access.when - own->touched.when),
                    own->left.when != 0 ? doc_keep(d, " %s before", doc_digits(d, ago)) : "", left);
}

const char *report_story_remedy(struct document *d, const struct report_run *run, uint32_t level,
                                const struct explain_step *step)
{
    char size[32];
    const uint32_t ways = (uint32_t)__builtin_popcountll(step->set.allowed);
    const uint64_t here = step->set_distance, all = step->distance;
    if (step->class_ == CACHES_COLD)
        return "nothing keeps what never was there; to fetch it ahead hides the wait";
    if (step->class_ == CACHES_COHERENCE)
        return "data that the other core does not write, or padding between the two, so that they share no line";
    if (step->class_ == CACHES_CONFLICT && step->own.how == EXPLAIN_INCLUSION)
        return "a level below that does not take back what it evicts, or has more ways";
    if (step->class_ == CACHES_CONFLICT && here < ways)
        return doc_keep(d,
                        "true LRU: of its set only %s other lines were asked for since, and there are %" PRIu32 " ways",
                        doc_digits(d, here), ways);
    if (step->class_ == CACHES_CONFLICT)
        return doc_keep(d,
                        "%s ways under LRU instead of %" PRIu32
                        ": so many lines of its set were in use; or these lines "
                        "in other sets: padding, another placement",
                        doc_digits(d, here + 1), ways);
    if (all == EXPLAIN_UNKNOWN)
        return "to use the line again sooner, or a larger level";
    return doc_keep(d, "a level of %s lines (%s) instead of %s, or to use the line again before so many others",
                    doc_digits(d, all + 1), doc_size(size, (all + 1) * run->sim.machine->line_bytes),
                    doc_digits(d, explain_lines_of(run, level)));
}
