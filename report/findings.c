/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * findings: what is wrong, where, and what to do about it, in words.
 *
 * Model
 *   The list is findings/'s; here each gets its place, its line of source where the file is at hand, and sentences: the
 *   pattern with its evidence, the remedy, what it concerns and what it spares. The text shows TEXT_FINDINGS of them,
 *   the JSON all.
 *
 * Invariants
 *   A name or a dimension in a sentence is one of the source or of the run; what is not known is left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_priv.h"
#include "document/shorten.h"

#define TEXT_FINDINGS 5u
#define NAME_BYTES ((size_t)NAMES_BYTES)
#define SENTENCE_BYTES 1024u
#define DIGITS 32 /* of c2_group_digits */
#define FIELDS 6u /* of an element that are named */
#define WIDTH 84u /* of a name in a sentence, at most */

struct telling {
    const struct report_run *run;
    const struct finding *of;
    char object[NAME_BYTES], evictor[NAME_BYTES], other[NAME_BYTES];
};

static const struct analyses_object *findings_object_of(const struct telling *t, uint32_t number)
{
    return number == FINDINGS_NOBODY ? NULL : &t->run->sim.profile->objects[number];
}

/* The name that the source has: of a variable of a Fortran module without what its compiler adds. */
static const char *short_name(const struct analyses_object *object)
{
    const char *name = object->local && object->local->name ? object->local->name : object->name;
    const char *in = strncmp(name, "__", 2) == 0 ? strstr(name, "_MOD_") : NULL;
    return in ? in + strlen("_MOD_") : name;
}

/* The name as its source writes it: a common block of Fortran is /NAME/ there. */
static const char *source_name(const struct telling *t, const struct analyses_object *object)
{
    bool pointed;
    const struct loader_type_id type = object->kind == ANALYSES_STATIC && !object->local
                                           ? findings_type(t->run->sim.symbols, object, &pointed)
                                           : (struct loader_type_id){.module = NULL};
    const struct loader_struct *of = type.module ? loader_struct_of(t->run->sim.symbols, type, false) : NULL;
    return of && of->name[0] == '/' ? of->name : short_name(object);
}

/* A block without a name by what allocated it, "data of gzip" where nothing has a name. Names of templates, and chains
 * of calls, are cut as in tables. */
static void findings_name_object(char *buffer, size_t bytes, const struct telling *t,
                                 const struct analyses_object *object)
{
    if (strchr(object->name, '#') || object->kind == ANALYSES_FILE || object->kind == ANALYSES_CODE)
        names_object_text(buffer, bytes, &t->run->sim, object);
    else
        snprintf(buffer, bytes, "%s", source_name(t, object));
    char *via = strlen(buffer) > WIDTH ? strstr(buffer, " via ") : NULL;
    if (via)
        *via = '\0';
    doc_shorten(buffer, WIDTH);
}

static void findings_begin(struct telling *t, const struct report_run *run, const struct finding *of)
{
    const struct analyses_object *object, *evictor, *other;
    *t = (struct telling){.run = run, .of = of};
    object = findings_object_of(t, of->object);
    evictor = findings_object_of(t, of->evictor);
    other = findings_object_of(t, of->other);
    snprintf(t->object, sizeof t->object, "data");
    snprintf(t->evictor, sizeof t->evictor, "others");
    if (object)
        findings_name_object(t->object, sizeof t->object, t, object);
    if (evictor)
        findings_name_object(t->evictor, sizeof t->evictor, t, evictor);
    if (other)
        findings_name_object(t->other, sizeof t->other, t, other);
}

/* ------------------------------------------------------------------ places */

/* The line of a loop's head, which compilers give to the jump back. 0: not known. */
static int loop_line(const struct telling *t, uint32_t loop)
{
    const struct analyses_excerpts_result *excerpts = t->run->sim.found[ANALYSIS_excerpts];
    struct loader_place place;
    if (loop == ANALYSES_NO_LOOP || !excerpts)
        return 0;
    names_charge(&place, &t->run->sim, excerpts->loops.loops[loop].latch);
    return place.file ? place.line : 0;
}

/* Where something is in the source. An instruction that has no line - compilers know none of what they have put
 * together - has that of the nearest one of its loop. */
static void findings_place_of(struct loader_place *out, const struct telling *t)
{
    const struct analyses_excerpts_result *excerpts = t->run->sim.found[ANALYSIS_excerpts];
    const struct analyses_profile_result *profile = t->run->sim.profile;
    uint64_t nearest = UINT64_MAX;
    names_charge(out, &t->run->sim, t->of->pc);
    if (out->file || t->of->loop == ANALYSES_NO_LOOP || !excerpts)
        return;
    for (size_t i = 0; i < profile->insn_count; i++) {
        const uint64_t pc = profile->insns[i].pc.v;
        const uint64_t distance = pc > t->of->pc.v ? pc - t->of->pc.v : t->of->pc.v - pc;
        struct loader_place place;
        if (excerpts->loops.loop_of[i] != t->of->loop || distance >= nearest)
            continue;
        names_charge(&place, &t->run->sim, profile->insns[i].pc);
        if (!place.file || place.line == 0)
            continue;
        *out = place;
        nearest = distance;
    }
}

/* A place: the function by its bare name where a line goes with it, which overloads do not share. */
static void name_place(char *buffer, size_t bytes, struct guest_va pc, struct loader_place place)
{
    char bare[NAME_BYTES];
    if (place.function && place.file) {
        snprintf(bare, sizeof bare, "%s", place.function);
        place.function = doc_bare_name(bare);
    }
    doc_shorten(loader_place_text(buffer, bytes, pc, &place), WIDTH);
}

/* ------------------------------------------------------------------ the pattern, with its evidence */

static void say_steps(struct c2_words *words, const struct telling *t)
{
    char step[DIGITS], other[DIGITS];
    c2_say(words, "the innermost loop goes through %s in steps of %s B, the loop around it in steps of %s B", t->object,
           c2_group_digits(step, (uint64_t)llabs(t->of->step)),
           c2_group_digits(other, (uint64_t)llabs(t->of->with_step)));
}

static const char *findings_level_name(const struct telling *t)
{
    const struct caches_machine *machine = t->run->sim.machine;
    return t->of->level >= machine->level_count ? machine->l1i.name : machine->levels[t->of->level].name;
}

static uint64_t level_bytes(const struct telling *t)
{
    const struct caches_machine *machine = t->run->sim.machine;
    return t->of->level >= machine->level_count ? machine->l1i.size_bytes : machine->levels[t->of->level].size_bytes;
}

static void say_conflicts(struct c2_words *words, const struct telling *t)
{
    char step[DIGITS];
    c2_say(words, "lines of %s compete for few sets of %s while others are idle", t->object, findings_level_name(t));
    if (t->of->evictor != FINDINGS_NOBODY && t->of->evictor != t->of->object)
        c2_say(words, ", mostly with %s", t->evictor);
    else if (t->of->step != 0)
        c2_say(words, ", in steps of %s B", c2_group_digits(step, (uint64_t)llabs(t->of->step)));
}

/* Of all objects that the finding is about; UINT64_MAX: there are too many. */
static uint64_t bytes_of_objects(const struct telling *t)
{
    const struct analyses_object *object = findings_object_of(t, t->of->object);
    uint64_t bytes = object ? object->bytes : 0;
    if (t->of->others > FINDINGS_ALSO)
        return UINT64_MAX;
    for (uint32_t i = 0; i < t->of->others; i++)
        bytes += findings_object_of(t, t->of->also[i])->bytes;
    return bytes;
}

/* Why lines come back too late: by measured distances, by the size of the objects, or because they do. */
static void say_too_late(struct c2_words *words, const struct telling *t)
{
    char size[32], level[32];
    const uint64_t bytes = bytes_of_objects(t);
    doc_size(level, level_bytes(t));
    if (t->of->fits_bytes != 0)
        c2_say(words, "as they come back after %s of lines, and %s holds %s", doc_size(size, t->of->fits_bytes),
               findings_level_name(t), level);
    else if (bytes <= level_bytes(t))
        c2_say(words, "as more than %s (%s) holds is accessed before they come back", findings_level_name(t), level);
    else if (t->of->others == 0 || bytes == UINT64_MAX)
        c2_say(words, "as it does not fit %s (%s)", findings_level_name(t), level);
    else
        c2_say(words, "as all that these loops go through, %s, does not fit %s (%s)", doc_size(size, bytes),
               findings_level_name(t), level);
}

static void say_capacity(struct c2_words *words, const struct telling *t)
{
    char size[32];
    const struct analyses_object *object = findings_object_of(t, t->of->object);
    c2_say(words, "lines of %s", t->object);
    if (object)
        c2_say(words, " (%s)", doc_size(size, object->bytes));
    c2_say(words, " are fetched %.0f times each, ", t->of->passes);
    say_too_late(words, t);
}

static bool mostly_cold(const struct finding *of) { return of->parts.cold >= of->parts.capacity + of->parts.conflict; }

/* What the allocator keeps for itself, which has no blocks. */
static bool is_heap_itself(const struct telling *t)
{
    const struct analyses_object *object = findings_object_of(t, t->of->object);
    return object && object->kind == ANALYSES_HEAP && object->site.v == 0;
}

static void say_streaming(struct c2_words *words, const struct telling *t)
{
    if (is_heap_itself(t))
        c2_say(words, "what the allocator keeps for itself beside the blocks is fetched%s",
               mostly_cold(t->of) ? ", for the first time" : "");
    else if (mostly_cold(t->of))
        c2_say(words, "lines of %s are fetched for the first time", t->object);
    else if (t->of->passes == 0)
        c2_say(words, "lines of %s are fetched again, in steps that are not known", t->object);
    else
        c2_say(words, "%s is walked through once, and all of each line is used", t->object);
}

static void say_scattered(struct c2_words *words, const struct telling *t)
{
    if (is_heap_itself(t))
        c2_say(words, "what the allocator keeps for itself is looked up in no order");
    else if (mostly_cold(t->of))
        c2_say(words, "places in %s follow no order, and most lines are fetched for the first time", t->object);
    else
        c2_say(words, "places in %s follow no order, and it does not fit %s", t->object, findings_level_name(t));
}

/* The lines of the function's code that is fetched, in the file of the finding's own. */
static bool lines_of_code(int *first, int *last, const struct telling *t)
{
    const struct analyses_profile_result *profile = t->run->sim.profile;
    struct loader_place own, place;
    struct guest_va entry;
    findings_place_of(&own, t);
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
    char name[NAME_BYTES];
    int first, last;
    loader_symbol_of(t->run->sim.symbols, t->of->function, &place);
    if (!place.function)
        return;
    snprintf(name, sizeof name, "%s", place.function);
    c2_say(words, "; %.0f %% of that is %s", 100.0 * (double)t->of->function_cost / (double)t->of->cost,
           doc_shorten(name, WIDTH));
    if (lines_of_code(&first, &last, t))
        c2_say(words, first == last ? ", line %d" : ", lines %d to %d", first, last);
    if (t->of->functions > 1)
        c2_say(words, ", the rest that of %" PRIu32 " other%s", t->of->functions - 1, t->of->functions == 2 ? "" : "s");
}

/* All fetches that miss are the first of their line: another order of the code would spare nothing. */
static bool is_new_code(const struct finding *of) { return of->parts.capacity + of->parts.conflict == 0; }

static void findings_say_code(struct c2_words *words, const struct telling *t)
{
    const char *level = t->run->sim.machine->l1i.name;
    if (is_new_code(t->of))
        c2_say(words, "lines of code are fetched for the first time");
    else if (t->of->parts.conflict > t->of->parts.capacity)
        c2_say(words, "lines of the code in use compete for few sets of %s", level);
    else
        c2_say(words, "the code in use does not fit %s", level);
    if (t->of->function.v != 0)
        say_function(words, t);
}

/* Many blocks of one site: they are the elements. */
static bool has_blocks(const struct telling *t)
{
    const struct analyses_object *object = findings_object_of(t, t->of->object);
    return object && object->blocks > 1;
}

static const char *findings_code_of(const struct telling *t)
{
    return t->of->loop == ANALYSES_NO_LOOP ? "function" : "loop";
}

/* "x, y (16 of 96 B)" */
static void say_used(struct c2_words *words, const struct telling *t)
{
    c2_say(words, "this %s uses %" PRIu64 " of the %" PRIu64 " B of each %s of %s", findings_code_of(t),
           t->of->used_bytes, t->of->element_bytes, has_blocks(t) ? "block" : "element", t->object);
}

static void say_pages(struct c2_words *words, const struct telling *t)
{
    char count[DIGITS], walks[DIGITS];
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
           findings_level_name(t));
    if (t->of->draws != 0 && t->of->luck_now != 0)
        c2_say(words, "; with %" PRIu32 " other draws of the frames the run costs %.1f to %.1f %% of what it does",
               t->of->draws, 100.0 * (double)t->of->luck_least / (double)t->of->luck_now,
               100.0 * (double)t->of->luck_most / (double)t->of->luck_now);
}

/* The stores, by where they are in the user's code. */
static void place_of_store(struct loader_place *out, const struct telling *t)
{
    names_charge(out, &t->run->sim, t->run->sim.profile->insns[t->of->store].pc);
}

static void say_past(struct c2_words *words, const struct telling *t)
{
    struct loader_place place;
    char count[DIGITS], text[NAME_BYTES];
    place_of_store(&place, t);
    name_place(text, sizeof text, t->run->sim.profile->insns[t->of->store].pc, place);
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
    char count[DIGITS];
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
    char cycles[DIGITS];
    c2_say(words,
           "%.1f %% of the lines that these prefetches bring in use are asked for before they can be there, %.0f "
           "instructions behind the prefetch in the mean; accesses still wait %s cycles for them",
           per_cent(of->late, of->useful), (double)of->late_ahead / (double)of->late,
           c2_group_digits(cycles, of->late_cycles));
}

static void say_overwritten(struct c2_words *words, const struct telling *t)
{
    char size[32];
    const struct analyses_object *object = findings_object_of(t, t->of->object);
    c2_say(words, "lines of %s", t->object);
    if (object)
        c2_say(words, " (%s)", doc_size(size, object->bytes));
    c2_say(words, " are fetched from memory %.0f times each, and overwritten whole before anybody reads them",
           t->of->passes);
}

static void say_pattern(struct c2_words *words, const struct telling *t)
{
    char count[DIGITS];
    switch (t->of->pattern) {
    case FINDINGS_LOOP_ORDER:
        say_steps(words, t);
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
    case FINDINGS_FALSE_SHARING:
        c2_say(words, "cores take lines of %s from each other for different bytes, %s times", t->object,
               c2_group_digits(count, t->of->misses));
        break;
    case FINDINGS_TRUE_SHARING:
        c2_say(words, "cores take lines of %s from each other for the same bytes, %s times", t->object,
               c2_group_digits(count, t->of->misses));
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

/* Objects that it is true of as well. */
static void say_others(struct c2_words *words, const struct telling *t)
{
    if (t->of->others == 1)
        c2_say(words, "; likewise %s", t->other);
    else if (t->of->others > 1)
        c2_say(words, "; likewise %s and %" PRIu32 " more", t->other, t->of->others - 1);
}

/* ------------------------------------------------------------------ the remedy */

static bool findings_is_used(const struct finding *of, uint32_t start, uint32_t bytes)
{
    for (uint32_t i = start; i < start + bytes && i < FINDINGS_ELEMENT; i++)
        if (of->used[i / 8] >> i % 8 & 1)
            return true;
    return false;
}

static const struct loader_struct *findings_struct_of(const struct telling *t)
{
    const struct analyses_object *object = findings_object_of(t, t->of->object);
    if (!object || !t->run->sim.symbols)
        return NULL;
    bool pointed;
    const struct loader_type_id type = findings_type(t->run->sim.symbols, object, &pointed);
    const struct loader_struct *of = type.module ? loader_struct_of(t->run->sim.symbols, type, pointed) : NULL;
    return of && of->bytes == t->of->element_bytes ? of : NULL;
}

static void say_fields(struct c2_words *words, const struct telling *t, const struct loader_struct *of)
{
    uint32_t said = 0;
    c2_say(words, "{");
    for (uint32_t i = 0; i < of->field_count; i++) {
        if (!findings_is_used(t->of, of->fields[i].start, of->fields[i].bytes))
            continue;
        if (said < FIELDS)
            c2_say(words, "%s%s", said == 0 ? "" : ", ", of->fields[i].name);
        said++;
    }
    c2_say(words, "%s}", said > FIELDS ? ", ..." : "");
}

static void say_split(struct c2_words *words, const struct telling *t)
{
    const struct loader_struct *of = findings_struct_of(t);
    c2_say(words, "split ");
    if (of) {
        say_fields(words, t, of);
        c2_say(words, " of %s from its other fields, into %s of their own",
               strstr(of->name, "{...}") ? t->object : of->name, has_blocks(t) ? "blocks" : "an array");
    } else if (has_blocks(t)) {
        c2_say(words, "what this %s uses of a block from the rest, into smaller blocks of its own",
               findings_code_of(t));
    } else {
        c2_say(words, "what this %s uses of an element of %s from the rest, into an array of its own",
               findings_code_of(t), t->object);
    }
}

/* The function that the outer loop is in, where that is a caller of the inner one's; else NULL. */
static const char *caller_with_loop(char *buffer, size_t bytes, const struct telling *t)
{
    const struct analyses_excerpts_result *excerpts = t->run->sim.found[ANALYSIS_excerpts];
    struct loader_place place;
    struct guest_va inner, outer, header;
    if (!excerpts || !loader_function_entry(t->run->sim.symbols, excerpts->loops.loops[t->of->loop].header, &inner))
        return NULL;
    header = excerpts->loops.loops[t->of->with].header;
    if (!loader_function_entry(t->run->sim.symbols, header, &outer) || inner.v == outer.v)
        return NULL;
    loader_symbol_of(t->run->sim.symbols, header, &place);
    snprintf(buffer, bytes, "%s", !place.function ? "another function" : place.function);
    return doc_shorten(buffer, WIDTH);
}

static void say_swap(struct c2_words *words, const struct telling *t)
{
    const int inner = loop_line(t, t->of->loop), outer = loop_line(t, t->of->with);
    char name[NAME_BYTES];
    const char *caller = caller_with_loop(name, sizeof name, t);
    if (inner != 0 && outer != 0 && inner != outer)
        c2_say(words, "swap the loop of line %d with that of line %d", inner, outer);
    else
        c2_say(words, "swap the two loops");
    if (caller)
        c2_say(words, ", the outer one in %s, which calls this function", caller);
    c2_say(words, ", or work in blocks");
}

/* The name as its declaration has it, without namespaces and crates. */
static const char *bare_of(const char *name)
{
    const char *at = strstr(name, "::");
    return at ? bare_of(at + 2) : name;
}

/* "a: declare it a[512][520] instead of a[512][512]" */
static void say_dimension(struct c2_words *words, const struct telling *t, const struct findings_declared *declared)
{
    char now[NAME_BYTES], then[NAME_BYTES];
    const uint64_t more = t->of->padding / declared->step;
    loader_array_text(now, sizeof now, bare_of(t->object), declared->array, declared->dimension, 0);
    loader_array_text(then, sizeof then, bare_of(t->object), declared->array, declared->dimension, more);
    c2_say(words, "pad %s: declare it %s instead of %s", t->object, then, now);
}

/* "the arrays in book: price[520], amount[520], ... instead of 512 elements" */
static void say_members(struct c2_words *words, const struct telling *t, const struct findings_declared *declared)
{
    char then[NAME_BYTES];
    const uint64_t more = t->of->padding / declared->step;
    uint32_t said = 0;
    c2_say(words, "pad the arrays in %s: ", t->object);
    for (uint32_t i = 0; i < declared->members->field_count; i++) {
        const struct loader_field *field = &declared->members->fields[i];
        const struct loader_array *array = findings_member(t->run->sim.symbols, declared, field);
        if (array && said++ < FIELDS)
            c2_say(words, "%s%s", said == 1 ? "" : ", ",
                   loader_array_text(then, sizeof then, field->name, array, declared->dimension, more));
    }
    c2_say(words, "%s instead of %" PRIu64 " elements", said > FIELDS ? ", ..." : "",
           declared->array->dimensions[declared->dimension].length);
}

/* What there is to be longer, in the words of the source as far as it is known. */
static void say_longer(struct c2_words *words, const struct telling *t)
{
    char row[DIGITS], padded[DIGITS];
    const struct finding *of = t->of;
    const struct analyses_object *object = findings_object_of(t, of->object);
    struct findings_declared declared = {.part = FINDINGS_NO_PART};
    if (object && of->row_bytes != 0 && of->padding != 0)
        findings_declared(&declared, t->run->sim.symbols, object, of->row_bytes, t->run->sim.machine->line_bytes);
    if (declared.row_bytes != of->row_bytes || (declared.step != 0 && of->padding % declared.step != 0))
        declared.part = FINDINGS_NO_PART;
    c2_group_digits(row, of->row_bytes);
    c2_group_digits(padded, of->row_bytes + of->padding);
    if (has_blocks(t))
        c2_say(words, "pad each block of %s by a line (%" PRIu32 " B)", t->object, t->run->sim.machine->line_bytes);
    else if (of->row_bytes == 0 || of->padding == 0)
        c2_say(words, "pad the rows of %s by a line (%" PRIu32 " B)", t->object, t->run->sim.machine->line_bytes);
    else if (declared.part == FINDINGS_DIMENSION)
        say_dimension(words, t, &declared);
    else if (declared.part == FINDINGS_MEMBERS)
        say_members(words, t, &declared);
    else if (declared.part == FINDINGS_WHOLE_ELEMENT && declared.array->element)
        c2_say(words, "pad %s from %s B to %s B", declared.array->element, row, padded);
    else if (declared.part == FINDINGS_POINTED && declared.array->element)
        c2_say(words, "pad the rows of %s: %" PRIu64 " instead of %" PRIu64 " elements of type %s (%" PRIu32 " B more)",
               t->object, (of->row_bytes + of->padding) / declared.step, of->row_bytes / declared.step,
               declared.array->element, of->padding);
    else
        c2_say(words, "pad each %s B of %s by %" PRIu32 " B", row, t->object, of->padding);
}

static void say_pad(struct c2_words *words, const struct telling *t)
{
    char step[DIGITS], modulo[DIGITS];
    if (t->of->evictor == FINDINGS_NOBODY || t->of->evictor == t->of->object) {
        say_longer(words, t);
        c2_say(words, ", so that the steps spread over all sets");
    } else {
        c2_say(words, "move %s, or pad the space before it, so that it does not start at the same sets as %s",
               t->object, t->evictor);
        if (t->of->apart_bytes != 0)
            c2_say(words, ", but %s B from it or a multiple (modulo %s B)", c2_group_digits(step, t->of->apart_bytes),
                   c2_group_digits(modulo, t->of->apart_of));
    }
    if (t->of->in_huge_pages)
        c2_say(words, ", in pages of 2 MiB");
}

static void say_apart(struct c2_words *words, const struct telling *t)
{
    c2_say(words, "align or pad what each thread writes in %s to a line", t->object);
    if (t->of->padding != 0)
        c2_say(words, " (%" PRIu32 " B more each)", t->of->padding);
    c2_say(words, ", or let each thread have a sum of its own");
}

static void say_huge(struct c2_words *words, const struct telling *t)
{
    if (has_blocks(t))
        c2_say(words, "put the heap on huge pages (with glibc: GLIBC_TUNABLES=glibc.malloc.hugetlb=1), or take the "
                      "blocks from one pool that is aligned to 2 MiB (madvise MADV_HUGEPAGE)");
    else
        c2_say(words, "put %s on huge pages (aligned to 2 MiB, madvise MADV_HUGEPAGE, or hugetlbfs), or work in blocks",
               t->object);
}

static void say_fewer_bytes(struct c2_words *words, const struct telling *t)
{
    if (is_heap_itself(t))
        c2_say(words, "allocate fewer and larger blocks, or use blocks again");
    else
        c2_say(words, "nothing to win in the caches but fewer bytes: smaller types, or loops fused");
}

static void say_order(struct c2_words *words, const struct telling *t)
{
    if (is_heap_itself(t))
        c2_say(words, "allocate fewer and larger blocks, or use blocks again");
    else
        c2_say(words, "sort the accesses, or make what is accessed smaller");
}

/* Bytes of an element of the finding's object by its declaration; 0: it is not known. */
static uint64_t declared_element(const struct telling *t)
{
    const struct analyses_object *object = findings_object_of(t, t->of->object);
    bool pointed;
    if (!object || !t->run->sim.symbols || object->blocks > 1)
        return 0;
    const struct loader_type_id type = findings_type(t->run->sim.symbols, object, &pointed);
    const struct loader_array *array = type.module ? loader_array_of(t->run->sim.symbols, type, pointed) : NULL;
    return array ? array->element_bytes : 0;
}

/* "block the loop of line 26 to 65,536 elements of samples, which fit L2 (256 KiB), or fuse the passes" */
static void say_block(struct c2_words *words, const struct telling *t)
{
    char size[DIGITS], count[DIGITS];
    const int line = loop_line(t, t->of->block_loop);
    const uint64_t element = declared_element(t), bytes = t->of->block_bytes;
    doc_size(size, level_bytes(t));
    if (t->of->block_rounds == 0 || line == 0)
        c2_say(words, "work in blocks of %s that fit", size);
    else if (bytes == 0)
        c2_say(words, "block the loop of line %d to %s rounds, which fit %s (%s)", line,
               c2_group_digits(count, t->of->block_rounds), findings_level_name(t), size);
    else if (element != 0)
        c2_say(words, "block the loop of line %d to %s elements of %s, which fit %s (%s)", line,
               c2_group_digits(count, bytes / element), t->object, findings_level_name(t), size);
    else
        c2_say(words, "block the loop of line %d to %s of %s, which fit %s (%s)", line, doc_size(count, bytes),
               t->object, findings_level_name(t), size);
    c2_say(words, ", or fuse the passes");
}

static void say_fewer_prefetches(struct c2_words *words, const struct telling *t)
{
    const struct caches_instructed *of = &t->of->prefetches;
    if (t->of->some_stay)
        c2_say(words, "prefetch each line once, which is one in %.0f of these",
               (double)of->executed / (double)of->issued);
    else if (of->useless > of->present + of->nowhere)
        c2_say(words, "remove them, or prefetch less far ahead");
    else
        c2_say(words, "remove them");
}

/* The level that most of the lines come from is not known beyond memory: else it is the last one at most. */
static void say_earlier(struct c2_words *words, const struct telling *t)
{
    const struct caches_machine *machine = t->run->sim.machine;
    const bool memory = t->of->prefetches.from_memory * 2 >= t->of->prefetches.issued;
    const uint32_t depth = memory ? machine->level_count : machine->level_count - 1;
    c2_say(words, "prefetch earlier: %" PRIu32 " instructions ahead or more, as %s takes %" PRIu32 " cycles",
           caches_latency(machine, depth), memory ? "memory" : machine->levels[depth].name,
           caches_latency(machine, depth));
}

static void say_remedy(struct c2_words *words, const struct telling *t)
{
    switch (t->of->pattern) {
    case FINDINGS_LOOP_ORDER:
        say_swap(words, t);
        break;
    case FINDINGS_SET_CONFLICTS:
        say_pad(words, t);
        break;
    case FINDINGS_PAGE_PLACEMENT:
        c2_say(words, "let pages be coloured, or put %s on huge pages (try --pages colored, --huge thp)", t->object);
        break;
    case FINDINGS_CAPACITY:
        say_block(words, t);
        break;
    case FINDINGS_PARTIAL_LINES:
        say_split(words, t);
        break;
    case FINDINGS_POINTER_CHASING:
        c2_say(words, "take the nodes from one pool in the order of the walk, or walk over an index");
        break;
    case FINDINGS_NON_TEMPORAL:
        c2_say(words, "write %s by ordinary stores, so that its lines stay in the caches until they are read",
               t->object);
        break;
    case FINDINGS_WRITE_ALLOCATE:
        c2_say(words, "write %s by non-temporal stores (as _mm_stream_si128), which fetch nothing", t->object);
        break;
    case FINDINGS_USELESS_PREFETCHES:
        say_fewer_prefetches(words, t);
        break;
    case FINDINGS_LATE_PREFETCHES:
        say_earlier(words, t);
        break;
    case FINDINGS_TLB:
        say_huge(words, t);
        break;
    case FINDINGS_FALSE_SHARING:
        say_apart(words, t);
        break;
    case FINDINGS_TRUE_SHARING:
        c2_say(words, "let each thread have a sum or part of its own, and put them together at the end");
        break;
    case FINDINGS_INSTRUCTION_CACHE:
        if (is_new_code(t->of))
            c2_say(words, "nothing to win in the caches but less code");
        else
            c2_say(words, "make the hot code smaller (-Os, less inlining and unrolling), or put functions that run "
                          "together side by side");
        break;
    case FINDINGS_STREAMING:
        say_fewer_bytes(words, t);
        break;
    case FINDINGS_SCATTERED:
        say_order(words, t);
        break;
    default:
        c2_say(words, "no remedy: start-up is all that there is");
        break;
    }
}

/* ------------------------------------------------------------------ the list */

static const char *gained_by(enum findings_gained gained)
{
    return gained == FINDINGS_SIMULATED ? "simulated" : gained == FINDINGS_ESTIMATED ? "estimated" : "none";
}

/* The line of source, without the spaces around it; false: the file is not at hand. */
static bool read_source(char *buffer, size_t bytes, const struct loader_place *place)
{
    FILE *file = place->file && place->line > 0 ? fopen(place->file, "r") : NULL;
    bool there = file;
    for (int line = 0; there && line < place->line; line++)
        there = fgets(buffer, (int)bytes, file);
    if (file)
        fclose(file);
    if (!there)
        return false;
    const size_t before = strspn(buffer, " \t");
    memmove(buffer, buffer + before, strlen(buffer + before) + 1);
    buffer[strcspn(buffer, "\r\n")] = '\0';
    return buffer[0] != '\0';
}

/* Where the user's code led to what happens in a library; false: it happens in the user's code, or it is not known. A
 * block without a line may stand between lines of the user's, which then is no library. */
static bool findings_caller_of(struct loader_place *out, struct guest_va *pc, const struct telling *t)
{
    struct loader_place own;
    if (t->of->caller == FINDINGS_NOBODY)
        return false;
    *pc = t->run->sim.profile->insns[t->of->caller].pc;
    names_charge(out, &t->run->sim, *pc);
    findings_place_of(&own, t);
    const bool same = own.object && out->object && strcmp(own.object, out->object) == 0;
    return out->file && !(same && own.file && !loader_is_system_file(own.file));
}

/* "main (life.c:51), in __memcpy_sse2 (memmove.S:549)"; *place: that of the user's code. */
static void name_places(char *buffer, size_t bytes, const struct telling *t, struct loader_place *place)
{
    struct loader_place caller;
    struct guest_va pc;
    struct c2_words words = {buffer, bytes, 0};
    char inside[NAME_BYTES], outside[NAME_BYTES];
    name_place(inside, sizeof inside, t->of->pc, *place);
    if (!findings_caller_of(&caller, &pc, t)) {
        c2_say(&words, "%s", inside);
        return;
    }
    name_place(outside, sizeof outside, pc, caller);
    c2_say(&words, "%s, in %s", outside, inside);
    *place = caller;
}

/* The file of code that has no names; NULL: there is one. */
static const char *nameless(const struct telling *t)
{
    struct loader_place place;
    findings_place_of(&place, t);
    return t->of->pattern == FINDINGS_STARTUP || place.function || place.file ? NULL : place.object;
}

/* Once a file, at the first finding in it. */
static void add_nameless(struct document *d, const struct telling *t, uint32_t number)
{
    const char *file = nameless(t);
    for (uint32_t i = 0; file && i + 1 < number; i++) {
        struct telling other;
        findings_begin(&other, t->run, &t->run->findings->list[i]);
        const char *before = nameless(&other);
        if (before && strcmp(before, file) == 0)
            return;
    }
    if (file)
        doc_note(
            d, DOC_LINE, NULL,
            "     %s has no names for its code: its symbols (a -dbgsym package, in Debian) would give function and "
            "line, and show loops around calls",
            file);
}

/* What prefetches are for nothing: instructions, and what they have pushed out. */
static void add_instructions(struct document *d, const struct digest *digest, const struct telling *t)
{
    doc_note(d, DOC_ITEM, NULL, "   %s of the instructions",
             doc_share(d, t->of->beside, t->run->sim.counts->instructions));
    if (t->of->gain != 0)
        doc_say(d, "; the remedy would spare these, and about %s of the cost",
                doc_share(d, t->of->gain, digest_whole_cost(digest)));
    else
        doc_say(d, "; the remedy would spare these, and none of the cost");
}

static void findings_add_text(struct document *d, const struct digest *digest, const struct telling *t, uint32_t number,
                              const char *pattern, const char *remedy)
{
    const uint64_t whole = digest_whole_cost(digest);
    struct loader_place place;
    char text[NAME_BYTES], source[NAME_BYTES];
    findings_place_of(&place, t);
    name_places(text, sizeof text, t, &place);
    if (t->of->pattern == FINDINGS_STARTUP)
        doc_note(d, DOC_ITEM, NULL, "%u. %s: %s", number, pattern, remedy);
    else
        doc_note(d, DOC_ITEM, NULL, "%u. %s: %s: %s", number, text, pattern, remedy);
    if (t->of->pattern != FINDINGS_STARTUP && read_source(source, sizeof source, &place))
        doc_note(d, DOC_LINE, NULL, "       %d | %s", place.line, source);
    add_nameless(d, t, number);
    if (t->of->pattern == FINDINGS_USELESS_PREFETCHES)
        add_instructions(d, digest, t);
    else if (t->of->pattern == FINDINGS_LATE_PREFETCHES)
        doc_note(d, DOC_ITEM, NULL, "   these cycles are no part of the cost");
    else if (t->of->gain != 0)
        doc_note(d, DOC_ITEM, NULL, "   %s of the cost; the remedy would spare %s%s of the cost",
                 doc_share(d, t->of->cost, whole), t->of->gained == FINDINGS_SIMULATED ? "" : "about ",
                 doc_share(d, t->of->gain, whole));
    else
        doc_note(d, DOC_ITEM, NULL, "   %s of the cost%s", doc_share(d, t->of->cost, whole),
                 t->of->gained == FINDINGS_SIMULATED ? "; the remedy would spare nothing" : "");
}

static void add_stores(struct document *d, const struct telling *t)
{
    struct loader_place place;
    place_of_store(&place, t);
    doc_count(d, DOC_JSON, "refetched", t->of->refetched);
    if (place.file && place.line > 0)
        doc_count(d, DOC_JSON, "store_line", (uint64_t)place.line);
}

static void add_prefetches(struct document *d, const struct finding *of)
{
    const struct caches_instructed *n = &of->prefetches;
    doc_count(d, DOC_JSON, "beside", of->beside);
    doc_count(d, DOC_JSON, "executed", n->executed);
    doc_count(d, DOC_JSON, "nowhere", n->nowhere);
    doc_count(d, DOC_JSON, "present", n->present);
    doc_count(d, DOC_JSON, "issued", n->issued);
    report_add_prefetched(d, n);
}

static void add_evidence(struct document *d, const struct telling *t)
{
    const struct finding *of = t->of;
    doc_group(d, DOC_JSON, "evidence");
    doc_count(d, DOC_JSON, "cold", of->parts.cold);
    doc_count(d, DOC_JSON, "capacity", of->parts.capacity);
    doc_count(d, DOC_JSON, "conflict", of->parts.conflict);
    doc_count(d, DOC_JSON, "translation", of->parts.translation);
    doc_count(d, DOC_JSON, "coherence", of->parts.coherence);
    doc_count(d, DOC_JSON, "misses", of->misses);
    if (of->others != 0)
        doc_count(d, DOC_JSON, "others", of->others);
    if (of->pattern == FINDINGS_TLB)
        doc_count(d, DOC_JSON, "walks", of->walks);
    if (of->pattern == FINDINGS_NON_TEMPORAL)
        add_stores(d, t);
    if (of->prefetches.executed != 0)
        add_prefetches(d, of);
    if (of->step != 0)
        doc_words(d, DOC_JSON, "step", "%" PRId64, of->step);
    if (of->with_step != 0)
        doc_words(d, DOC_JSON, "with_step", "%" PRId64, of->with_step);
    if (loop_line(t, of->loop) != 0)
        doc_count(d, DOC_JSON, "loop_line", (uint64_t)loop_line(t, of->loop));
    if (loop_line(t, of->with) != 0)
        doc_count(d, DOC_JSON, "with_line", (uint64_t)loop_line(t, of->with));
    if (of->level != FINDINGS_NOBODY)
        doc_string(d, DOC_JSON, "level", findings_level_name(t));
    if (of->element_bytes != 0) {
        doc_count(d, DOC_JSON, "element_bytes", of->element_bytes);
        doc_count(d, DOC_JSON, "used_bytes", of->used_bytes);
    }
    if (of->passes != 0)
        doc_decimal(d, DOC_JSON, "passes", of->passes);
    if (of->fits_bytes != 0)
        doc_count(d, DOC_JSON, "fits_bytes", of->fits_bytes);
    if (of->block_rounds != 0) {
        doc_count(d, DOC_JSON, "block_rounds", of->block_rounds);
        if (loop_line(t, of->block_loop) != 0)
            doc_count(d, DOC_JSON, "block_line", (uint64_t)loop_line(t, of->block_loop));
    }
    if (of->room_bytes != 0)
        doc_count(d, DOC_JSON, "room_bytes", of->room_bytes);
    if (of->evictor != FINDINGS_NOBODY)
        doc_string(d, DOC_JSON, "evictor", t->evictor);
    if (of->draws != 0) {
        doc_count(d, DOC_JSON, "draws", of->draws);
        doc_count(d, DOC_JSON, "luck_least", of->luck_least);
        doc_count(d, DOC_JSON, "luck_most", of->luck_most);
    }
    if (of->pattern == FINDINGS_INSTRUCTION_CACHE) {
        doc_count(d, DOC_JSON, "functions", of->functions);
        doc_count(d, DOC_JSON, "function_cost", of->function_cost);
    }
    if (of->row_bytes != 0) {
        doc_count(d, DOC_JSON, "row_bytes", of->row_bytes);
        doc_count(d, DOC_JSON, "pad_bytes", of->padding);
    }
    doc_close(d);
}

static void findings_add_json(struct document *d, const struct telling *t, const char *pattern, const char *remedy)
{
    struct loader_place place, caller;
    struct guest_va pc;
    findings_place_of(&place, t);
    if (!doc_group(d, DOC_JSON, NULL)) {
        doc_close(d);
        return;
    }
    doc_string(d, DOC_JSON, "pattern", findings_pattern_name(t->of->pattern));
    const bool called = findings_caller_of(&caller, &pc, t);
    doc_group(d, DOC_JSON, "where");
    if (t->of->pattern != FINDINGS_STARTUP)
        chapter_add_place(d, called ? &caller : &place);
    doc_close(d);
    if (called) {
        doc_group(d, DOC_JSON, "within");
        chapter_add_place(d, &place);
        doc_close(d);
    }
    if (t->of->object != FINDINGS_NOBODY)
        doc_string(d, DOC_JSON, "object", source_name(t, findings_object_of(t, t->of->object)));
    doc_count(d, DOC_JSON, "cost", t->of->cost);
    doc_count(d, DOC_JSON, "gain", t->of->gain);
    doc_string(d, DOC_JSON, "gain_by", gained_by(t->of->gained));
    doc_string(d, DOC_JSON, "what", pattern);
    doc_string(d, DOC_JSON, "remedy", remedy);
    add_evidence(d, t);
    doc_close(d);
}

static void report_findings_add_finding(struct document *d, const struct digest *digest, uint32_t number)
{
    char pattern[SENTENCE_BYTES], remedy[SENTENCE_BYTES];
    struct telling t;
    findings_begin(&t, report_of(digest), &report_of(digest)->findings->list[number]);
    struct c2_words to = {pattern, sizeof pattern, 0};
    say_pattern(&to, &t);
    say_others(&to, &t);
    to = (struct c2_words){remedy, sizeof remedy, 0};
    say_remedy(&to, &t);
    if (number < TEXT_FINDINGS)
        findings_add_text(d, digest, &t, number + 1, pattern, remedy);
    findings_add_json(d, &t, pattern, remedy);
}

char *report_finding_text(char *buffer, size_t bytes, const struct report_run *run, uint32_t number)
{
    struct c2_words words = {buffer, bytes, 0};
    struct loader_place place;
    struct telling t;
    char where[NAME_BYTES];
    findings_begin(&t, run, &run->findings->list[number]);
    findings_place_of(&place, &t);
    name_places(where, sizeof where, &t, &place);
    if (t.of->pattern != FINDINGS_STARTUP)
        c2_say(&words, "%s: ", where);
    say_pattern(&words, &t);
    say_others(&words, &t);
    c2_say(&words, ": ");
    say_remedy(&words, &t);
    return buffer;
}

void report_add_findings(struct document *d, struct digest *digest)
{
    const struct findings *findings = report_of(digest)->findings;
    if (!findings)
        return;
    doc_note(d, DOC_LINE, NULL,
             findings->count == 0 ? "findings    nothing worth a change: the caches serve it well" : "findings");
    doc_table(d, DOC_BOTH, "findings");
    for (uint32_t i = 0; i < findings->count; i++)
        report_findings_add_finding(d, digest, i);
    doc_close(d);
}
