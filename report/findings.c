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
#include <string.h>

#include "document/shorten.h"
#include "report/findings_priv.h"

#define TEXT_FINDINGS 5u
#define SENTENCE_BYTES 1024u

const struct analyses_object *report_finding_object(const struct telling *t, uint32_t number)
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
    char *via = strlen(buffer) > FINDING_WIDTH ? strstr(buffer, " via ") : NULL;
    if (via)
        *via = '\0';
    doc_shorten(buffer, FINDING_WIDTH);
}

static void findings_begin(struct telling *t, const struct report_run *run, const struct finding *of)
{
    const struct analyses_object *object, *evictor, *other;
    *t = (struct telling){.run = run, .of = of};
    object = report_finding_object(t, of->object);
    evictor = report_finding_object(t, of->evictor);
    other = report_finding_object(t, of->other);
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
int report_finding_loop_line(const struct telling *t, uint32_t loop)
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
void report_finding_place(struct loader_place *out, const struct telling *t)
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
void report_finding_place_text(char *buffer, size_t bytes, struct guest_va pc, struct loader_place place)
{
    char bare[FINDING_NAME_BYTES];
    if (place.function && place.file) {
        snprintf(bare, sizeof bare, "%s", place.function);
        place.function = doc_bare_name(bare);
    }
    doc_shorten(loader_place_text(buffer, bytes, pc, &place), FINDING_WIDTH);
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
    report_finding_place(&own, t);
    const bool same = own.object && out->object && strcmp(own.object, out->object) == 0;
    return out->file && !(same && own.file && !loader_is_system_file(own.file));
}

/* "main (life.c:51), in __memcpy_sse2 (memmove.S:549)"; *place: that of the user's code. */
static void name_places(char *buffer, size_t bytes, const struct telling *t, struct loader_place *place)
{
    struct loader_place caller;
    struct guest_va pc;
    struct c2_words words = {buffer, bytes, 0};
    char inside[FINDING_NAME_BYTES], outside[FINDING_NAME_BYTES];
    report_finding_place_text(inside, sizeof inside, t->of->pc, *place);
    if (!findings_caller_of(&caller, &pc, t)) {
        c2_say(&words, "%s", inside);
        return;
    }
    report_finding_place_text(outside, sizeof outside, pc, caller);
    c2_say(&words, "%s, in %s", outside, inside);
    *place = caller;
}

/* The file of code that has no names; NULL: there is one. */
static const char *nameless(const struct telling *t)
{
    struct loader_place place;
    report_finding_place(&place, t);
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
    char text[FINDING_NAME_BYTES], source[FINDING_NAME_BYTES];
    report_finding_place(&place, t);
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
    report_finding_store(&place, t);
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

/* What is 0 is left out: the pattern has no such number. */
static void evidence_count(struct document *d, const char *name, uint64_t count)
{
    if (count != 0)
        doc_count(d, DOC_JSON, name, count);
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
    evidence_count(d, "others", of->others);
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
    evidence_count(d, "tile", of->tile);
    const uint32_t loop = of->swapped == ANALYSES_NO_LOOP ? of->loop : of->swapped;
    if (report_finding_loop_line(t, loop) != 0)
        doc_count(d, DOC_JSON, "loop_line", (uint64_t)report_finding_loop_line(t, loop));
    if (report_finding_loop_line(t, of->with) != 0)
        doc_count(d, DOC_JSON, "with_line", (uint64_t)report_finding_loop_line(t, of->with));
    if (of->level != FINDINGS_NOBODY)
        doc_string(d, DOC_JSON, "level", report_finding_level(t));
    if (of->element_bytes != 0) {
        doc_count(d, DOC_JSON, "element_bytes", of->element_bytes);
        doc_count(d, DOC_JSON, "used_bytes", of->used_bytes);
    }
    evidence_count(d, "false_sharing", of->false_sharing);
    if (of->handed_over)
        doc_flag(d, DOC_JSON, "handed_over", true);
    if (of->loops > 1) {
        doc_count(d, DOC_JSON, "places", of->loops);
        doc_flag(d, DOC_JSON, "by_field", of->by_field);
    }
    if (of->passes != 0)
        doc_decimal(d, DOC_JSON, "passes", of->passes);
    evidence_count(d, "fits_bytes", of->fits_bytes);
    if (of->block_rounds != 0) {
        doc_count(d, DOC_JSON, "block_rounds", of->block_rounds);
        if (report_finding_loop_line(t, of->block_loop) != 0)
            doc_count(d, DOC_JSON, "block_line", (uint64_t)report_finding_loop_line(t, of->block_loop));
    }
    evidence_count(d, "room_bytes", of->room_bytes);
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
    report_finding_place(&place, t);
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
        doc_string(d, DOC_JSON, "object", source_name(t, report_finding_object(t, t->of->object)));
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
    report_finding_add_pattern(&to, &t);
    report_finding_add_others(&to, &t);
    to = (struct c2_words){remedy, sizeof remedy, 0};
    report_finding_add_remedy(&to, &t);
    if (number < TEXT_FINDINGS)
        findings_add_text(d, digest, &t, number + 1, pattern, remedy);
    findings_add_json(d, &t, pattern, remedy);
}

char *report_finding_text(char *buffer, size_t bytes, const struct report_run *run, uint32_t number)
{
    struct c2_words words = {buffer, bytes, 0};
    struct loader_place place;
    struct telling t;
    char where[FINDING_NAME_BYTES];
    findings_begin(&t, run, &run->findings->list[number]);
    report_finding_place(&place, &t);
    name_places(where, sizeof where, &t, &place);
    if (t.of->pattern != FINDINGS_STARTUP)
        c2_say(&words, "%s: ", where);
    report_finding_add_pattern(&words, &t);
    report_finding_add_others(&words, &t);
    c2_say(&words, ": ");
    report_finding_add_remedy(&words, &t);
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
