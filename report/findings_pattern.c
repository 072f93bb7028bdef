/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * findings_pattern: what is wrong, in a sentence: the pattern with its evidence.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "document/shorten.h"
#include "report/findings_priv.h"

#define FEW 100u /* a part of the misses that a sentence leaves out */

static void say_steps(struct c2_words *words, const struct telling *t)
{
    char step[FINDING_DIGITS], other[FINDING_DIGITS];
    const int line = t->of->swapped == t->of->loop ? 0 : report_finding_loop_line(t, t->of->swapped);
    if (line != 0)
        c2_say(words, "the loop of line %d", line);
    else
        c2_say(words, "the innermost loop");
    c2_say(words, " goes through %s in steps of %s B, the loop around it in steps of %s B", t->object,
           c2_group_digits(step, (uint64_t)llabs(t->of->step)),
           c2_group_digits(other, (uint64_t)llabs(t->of->with_step)));
}

const char *report_finding_level(const struct telling *t)
{
    const struct caches_machine *machine = t->run->sim.machine;
    return t->of->level >= machine->level_count ? machine->l1i.name : machine->levels[t->of->level].name;
}

uint64_t report_finding_level_bytes(const struct telling *t)
{
    const struct caches_machine *machine = t->run->sim.machine;
    return t->of->level >= machine->level_count ? machine->l1i.size_bytes : machine->levels[t->of->level].size_bytes;
}

static void say_conflicts(struct c2_words *words, const struct telling *t)
{
    char apart[FINDING_DIGITS];
    const bool longer = (uint64_t)llabs(t->of->step) >= t->run->sim.machine->line_bytes;
    c2_say(words, "%s of %s compete for few sets of %s while others are idle",
           t->of->scattered ? "places in no order" : "lines", t->object, report_finding_level(t));
    if (t->of->evictor != FINDINGS_NOBODY && t->of->evictor != t->of->object)
        c2_say(words, ", mostly with %s", t->evictor);
    else if (longer)
        c2_say(words, ", in steps of %s B", c2_group_digits(apart, (uint64_t)llabs(t->of->step)));
    else if (t->of->row_bytes != 0)
        c2_say(words, ", %s B apart", c2_group_digits(apart, t->of->row_bytes));
}

/* Of all objects that the finding is about; UINT64_MAX: there are too many. */
static uint64_t bytes_of_objects(const struct telling *t)
{
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    uint64_t bytes = object ? object->bytes : 0;
    if (t->of->others > FINDINGS_ALSO)
        return UINT64_MAX;
    for (uint32_t i = 0; i < t->of->others; i++)
        bytes += report_finding_object(t, t->of->also[i])->bytes;
    return bytes;
}

/* Why lines come back too late: by measured distances, by the size of the objects, or because they do. */
static void say_too_late(struct c2_words *words, const struct telling *t)
{
    char size[32], level[32];
    const uint64_t bytes = bytes_of_objects(t);
    doc_size(level, report_finding_level_bytes(t));
    if (t->of->fits_bytes != 0)
        c2_say(words, "as they come back after %s of lines, and %s holds %s", doc_size(size, t->of->fits_bytes),
               report_finding_level(t), level);
    else if (bytes <= report_finding_level_bytes(t))
        c2_say(words, "as more than %s (%s) holds is accessed before they come back", report_finding_level(t), level);
    else if (t->of->others == 0 || bytes == UINT64_MAX)
        c2_say(words, "as it does not fit %s (%s)", report_finding_level(t), level);
    else
        c2_say(words, "as all that these loops go through, %s, does not fit %s (%s)", doc_size(size, bytes),
               report_finding_level(t), level);
}

static void say_capacity(struct c2_words *words, const struct telling *t)
{
    char size[32];
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    c2_say(words, "lines of %s", t->object);
    if (object)
        c2_say(words, " (%s)", doc_size(size, object->bytes));
    if (t->of->fuse != ANALYSES_NO_LOOP)
        c2_say(words, " are fetched by one loop after the other, ");
    else if (t->of->moved)
        c2_say(words, " are fetched %.0f times each, as what is in it is moved within it, ", t->of->passes);
    else if (t->of->passes < 1.5) /* prefetches bring most of them */
        c2_say(words, " are fetched again, ");
    else
        c2_say(words, " are fetched %.0f times each, ", t->of->passes);
    say_too_late(words, t);
}

static bool mostly_cold(const struct finding *of) { return of->parts.cold >= of->parts.capacity + of->parts.conflict; }

/* What the allocator keeps for itself, which has no blocks. */
bool report_finding_in_heap(const struct telling *t)
{
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    return object && object->kind == ANALYSES_HEAP && object->site.v == 0;
}

const char *report_finding_library_function(const struct telling *t)
{
    struct loader_symbols *symbols = t->run->sim.symbols;
    struct loader_place place;
    if (!symbols || !loader_is_system_code(symbols, t->of->pc))
        return "";
    loader_symbol_of(symbols, t->of->pc, &place);
    return place.function ? place.function + strspn(place.function, "_") : "";
}

/* The C library fills no memory of its allocator with bytes but in calloc. */
bool report_finding_clears_blocks(const struct telling *t)
{
    return report_finding_in_heap(t) && strncmp(report_finding_library_function(t), "memset", strlen("memset")) == 0;
}

static void say_streaming(struct c2_words *words, const struct telling *t)
{
    if (report_finding_clears_blocks(t))
        c2_say(words, "blocks of the heap are fetched%s to be cleared, as by calloc",
               mostly_cold(t->of) ? " for the first time," : "");
    else if (report_finding_in_heap(t))
        c2_say(words, "what the allocator keeps for itself beside the blocks is fetched%s",
               mostly_cold(t->of) ? ", for the first time" : "");
    else if (mostly_cold(t->of))
        c2_say(words, "lines of %s are fetched for the first time", t->object);
    else if (t->of->passes == 0)
        c2_say(words, "lines of %s are fetched again; by which steps was not seen", t->object);
    else
        c2_say(words, "%s is walked through once, and all of each line is used", t->object);
}

static void say_scattered(struct c2_words *words, const struct telling *t)
{
    if (report_finding_in_heap(t))
        c2_say(words, "what the allocator keeps for itself is looked up in no order");
    else if (mostly_cold(t->of))
        c2_say(words, "places in %s follow no order, and most lines are fetched for the first time", t->object);
    else
        c2_say(words, "places in %s follow no order, and it does not fit %s", t->object, report_finding_level(t));
}

/* The lines of the function's code that is fetched, in the file of the finding's own. */
static bool lines_of_code(int *first, int *last, const struct telling *t)
{
    const struct analyses_profile_result *profile = t->run->sim.profile;
    struct loader_place own, place;
    struct guest_va entry;
    report_finding_place(&own, t);
    *first = *last = own.line;
    for (size_t i = 0; own.file && i < profile->insn_count; i++) {
        if (!loader_function_entry(t->run->sim.symbols, profile->insns[i].pc, &entry) || entry.v != t->of->function.v)
            continue;
        names_charge(&place, &t->run->sim, profile->insns[i].pc);
        if (!place.file || place.line == 0 || strcmp(place.file, own.file) != 0)
            continue;
        *first = place.line < *first ? place.line : *first;
        *last = place.line > *last ? place.line : *last;
    }
    return own.file && own.line != 0;
}

/* "; 38 % of that is main, lines 12 to 40, the rest that of 11 others" */
static void say_function(struct c2_words *words, const struct telling *t)
{
    struct loader_place place;
    char name[FINDING_NAME_BYTES];
    int first, last;
    loader_symbol_of(t->run->sim.symbols, t->of->function, &place);
    if (!place.function)
        return;
    snprintf(name, sizeof name, "%s", place.function);
    c2_say(words, "; %.0f %% of that is %s", 100.0 * (double)t->of->function_cost / (double)t->of->cost,
           doc_shorten(name, FINDING_WIDTH));
    if (lines_of_code(&first, &last, t))
        c2_say(words, first == last ? ", line %d" : ", lines %d to %d", first, last);
    if (t->of->functions > 1)
        c2_say(words, ", the rest that of %" PRIu32 " other%s", t->of->functions - 1, t->of->functions == 2 ? "" : "s");
}

/* All fetches that miss are the first of their line: another order of the code would spare nothing. */
bool report_finding_all_cold(const struct finding *of) { return of->parts.capacity + of->parts.conflict == 0; }

static void findings_say_code(struct c2_words *words, const struct telling *t)
{
    const char *level = t->run->sim.machine->l1i.name;
    if (report_finding_all_cold(t->of))
        c2_say(words, "lines of code are fetched for the first time");
    else if (t->of->parts.conflict > t->of->parts.capacity)
        c2_say(words, "lines of the code in use compete for few sets of %s", level);
    else
        c2_say(words, "the code in use does not fit %s", level);
    if (t->of->function.v != 0)
        say_function(words, t);
}

/* Many blocks of one site: they are the elements. */
bool report_finding_has_blocks(const struct telling *t)
{
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    return object && object->blocks > 1;
}

const char *report_finding_unit(const struct telling *t)
{
    return t->of->loop == ANALYSES_NO_LOOP ? "function" : "loop";
}

/* "this loop and 2 other places use 40 of the 144 B of each element of swarm" */
static void say_used(struct c2_words *words, const struct telling *t)
{
    const uint32_t others = t->of->loops < 2 ? 0 : t->of->loops - 1;
    const char *places = others == 1 ? "place" : "places";
    c2_say(words, "this %s ", report_finding_unit(t));
    if (others != 0 && !t->of->by_field)
        c2_say(words, "and %" PRIu32 " other %s ", others, places);
    c2_say(words, "%s %" PRIu64 " of the %" PRIu64 " B of each %s of %s",
           others != 0 && !t->of->by_field ? "use" : "uses", t->of->used_bytes, t->of->element_bytes,
           report_finding_has_blocks(t) ? "block" : "element", t->object);
    if (t->of->by_field)
        c2_say(words, ", and %" PRIu32 " other %s other bytes of it", others,
               others == 1 ? "place uses" : "places use");
}

static void say_pages(struct c2_words *words, const struct telling *t)
{
    char count[FINDING_DIGITS], walks[FINDING_DIGITS];
    c2_group_digits(count, t->of->misses);
    if (t->of->walks == 0)
        c2_say(words, "more pages of %s are in use than the first TLB holds: %s misses of it, and no page walk",
               t->object, count);
    else
        c2_say(words, "more pages of %s are in use than the TLBs hold: %s misses of the first of them, %s page walks",
               t->object, count, c2_group_digits(walks, t->of->walks));
}

/* "; with 3 other draws of the frames the run costs 82.1 to 104.3 % of what it does" */
static void findings_say_frames(struct c2_words *words, const struct telling *t)
{
    c2_say(words, "the frames of its pages put lines of %s into the same sets of %s", t->object,
           report_finding_level(t));
    if (t->of->draws != 0 && t->of->luck_now != 0)
        c2_say(words, "; with %" PRIu32 " other draws of the frames the run costs %.1f to %.1f %% of what it does",
               t->of->draws, 100.0 * (double)t->of->luck_least / (double)t->of->luck_now,
               100.0 * (double)t->of->luck_most / (double)t->of->luck_now);
}

/* The stores, by where they are in the user's code. */
void report_finding_store(struct loader_place *out, const struct telling *t)
{
    names_charge(out, &t->run->sim, t->run->sim.profile->insns[t->of->store].pc);
}

static void say_past(struct c2_words *words, const struct telling *t)
{
    struct loader_place place;
    char count[FINDING_DIGITS], text[FINDING_NAME_BYTES];
    report_finding_store(&place, t);
    report_finding_place_text(text, sizeof text, t->run->sim.profile->insns[t->of->store].pc, place);
    c2_say(words,
           "%s lines of %s are fetched from memory shortly after non-temporal stores took them out of the caches, "
           "in %s",
           c2_group_digits(count, t->of->refetched), t->object, text);
}

static double per_cent(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : 100.0 * (double)part / (double)whole; }

/* "of 4,096 prefetches 99.9 % find their line in the caches, 0.1 % name a page that is not there" */
static void say_useless(struct c2_words *words, const struct telling *t)
{
    const struct caches_instructed *of = &t->of->prefetches;
    char count[FINDING_DIGITS];
    const char *between = "";
    c2_say(words, "of %s prefetches", c2_group_digits(count, of->executed));
    const struct {
        uint64_t count;
        const char *what;
    } parts[] = {{of->present, "find their line in the caches"},
                 {of->nowhere, "name a page that is not there"},
                 {of->useless, "fetch a line that is lost before anybody asks for it"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count == 0)
            continue;
        c2_say(words, "%s %.1f %% %s", between, per_cent(parts[i].count, of->executed), parts[i].what);
        between = ",";
    }
}

static void say_late(struct c2_words *words, const struct telling *t)
{
    const struct caches_instructed *of = &t->of->prefetches;
    char cycles[FINDING_DIGITS];
    c2_say(words,
           "%.1f %% of the lines that these prefetches bring in use are asked for before they can be there, %.0f "
           "instructions behind the prefetch in the mean; accesses still wait %s cycles for them",
           per_cent(of->late, of->useful), (double)of->late_ahead / (double)of->late,
           c2_group_digits(cycles, of->late_cycles));
}

static void say_overwritten(struct c2_words *words, const struct telling *t)
{
    char size[32];
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    c2_say(words, "lines of %s", t->object);
    if (object)
        c2_say(words, " (%s)", doc_size(size, object->bytes));
    c2_say(words, " are fetched from memory %.0f times each, and overwritten whole before anybody reads them",
           t->of->passes);
}

static void say_cyclic(struct c2_words *words, const struct telling *t)
{
    char step[FINDING_DIGITS], element[FINDING_DIGITS];
    c2_say(words,
           "threads take elements of %s in turn, in steps of %s B where an element has %s: each line goes to up to "
           "%.0f cores",
           t->object, c2_group_digits(step, (uint64_t)llabs(t->of->step)),
           c2_group_digits(element, t->of->element_bytes), t->of->passes);
}

/* "cores take lines of X from each other for the same bytes, 12 times, and for other bytes beside them, 3 times" */
static void say_taken(struct c2_words *words, const struct telling *t)
{
    char count[FINDING_DIGITS];
    c2_say(words, "cores take lines of ");
    report_finding_add_sharers(words, t);
    c2_say(words, " from each other for %s bytes, %s times",
           t->of->pattern == FINDINGS_FALSE_SHARING ? "different" : "the same", c2_group_digits(count, t->of->misses));
    if (t->of->false_sharing * FEW >= t->of->misses)
        c2_say(words, ", and for other bytes beside them, %s times", c2_group_digits(count, t->of->false_sharing));
    if (t->of->handed_over)
        c2_say(words, ": each byte is written by one core and read by others");
}

/* "elements of v, of 256 B each, are moved over and over as they are sorted" */
static void say_sorted(struct c2_words *words, const struct telling *t)
{
    char element[FINDING_DIGITS];
    c2_say(words, "elements of %s, of %s B each, are moved over and over as %s", t->object,
           c2_group_digits(element, t->of->element_bytes),
           t->of->heap ? "a heap of them is kept in order" : "they are sorted");
}

void report_finding_add_pattern(struct c2_words *words, const struct telling *t)
{
    switch (t->of->pattern) {
    case FINDINGS_LOOP_ORDER:
        say_steps(words, t);
        break;
    case FINDINGS_CYCLIC:
        say_cyclic(words, t);
        break;
    case FINDINGS_SET_CONFLICTS:
        say_conflicts(words, t);
        break;
    case FINDINGS_PAGE_PLACEMENT:
        findings_say_frames(words, t);
        break;
    case FINDINGS_CAPACITY:
        say_capacity(words, t);
        break;
    case FINDINGS_PARTIAL_LINES:
        say_used(words, t);
        break;
    case FINDINGS_POINTER_CHASING:
        c2_say(words, "each address in %s comes from the load before it, and the nodes are scattered", t->object);
        break;
    case FINDINGS_NON_TEMPORAL:
        say_past(words, t);
        break;
    case FINDINGS_WRITE_ALLOCATE:
        say_overwritten(words, t);
        break;
    case FINDINGS_USELESS_PREFETCHES:
        say_useless(words, t);
        break;
    case FINDINGS_LATE_PREFETCHES:
        say_late(words, t);
        break;
    case FINDINGS_TLB:
        say_pages(words, t);
        break;
    case FINDINGS_SORTED:
        say_sorted(words, t);
        break;
    case FINDINGS_FALSE_SHARING:
    case FINDINGS_TRUE_SHARING:
        say_taken(words, t);
        break;
    case FINDINGS_INSTRUCTION_CACHE:
        findings_say_code(words, t);
        break;
    case FINDINGS_STREAMING:
        say_streaming(words, t);
        break;
    case FINDINGS_SCATTERED:
        say_scattered(words, t);
        break;
    default:
        c2_say(words, "the start of the program and its libraries is what costs");
        break;
    }
}

static bool is_sharing(const struct finding *of)
{
    return of->pattern == FINDINGS_FALSE_SHARING || of->pattern == FINDINGS_TRUE_SHARING;
}

/* Objects that it is true of as well. */
void report_finding_add_others(struct c2_words *words, const struct telling *t)
{
    if (is_sharing(t->of)) /* the sentence has named them */
        return;
    if (t->of->others == 1)
        c2_say(words, "; likewise %s", t->other);
    else if (t->of->others > 1)
        c2_say(words, "; likewise %s and %" PRIu32 " more", t->other, t->of->others - 1);
}

/* "closed", "closed and opened", "closed, opened and 2 more" */
void report_finding_add_sharers(struct c2_words *words, const struct telling *t)
{
    if (t->of->others == 0)
        c2_say(words, "%s", t->object);
    else if (t->of->others == 1)
        c2_say(words, "%s and %s", t->object, t->other);
    else
        c2_say(words, "%s, %s and %" PRIu32 " more", t->object, t->other, t->of->others - 1);
}
