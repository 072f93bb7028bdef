/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * names: instructions and objects in words, and where they lie, in the JSON.
 *
 * Invariants
 *   A name is the loader's or the analysis's; what neither knows is shown as an address in its file, never guessed.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report_priv.h"

void report_place(struct loader_place *out, const struct report_run *run, struct guest_va pc)
{
    *out = (struct loader_place){.offset = pc.v};
    if (run->symbols)
        loader_place_of(run->symbols, pc, out);
}

void report_loop_place(struct loader_place *out, const struct report_run *run, const struct analyses_loop *loop)
{
    *out = (struct loader_place){.offset = loop->header.v};
    if (run->symbols)
        analyses_loop_place(out, run->symbols, loop);
}

bool report_site(struct loader_place *out, const struct report_run *run, const struct analyses_object *object,
                 uint32_t site)
{
    if (site >= object->site_count)
        return false;
    *out = (struct loader_place){.offset = object->sites[site].v};
    if (run->symbols)
        loader_call_place_of(run->symbols, object->sites[site], out);
    return true;
}

char *report_place_text(char *buffer, size_t bytes, const struct report_run *run, struct guest_va pc)
{
    struct loader_place place;
    report_place(&place, run, pc);
    return loader_place_text(buffer, bytes, pc, &place);
}

/* " at doitgen.c:41"; " by 0x1234 in libc.so.6" where there is no line. A name with an @ says its site itself. */
static void add_site(char *buffer, size_t bytes, const struct report_run *run, const struct analyses_object *object)
{
    struct loader_place place;
    char text[REPORT_NAME_BYTES];
    const size_t used = strlen(buffer);
    if (strchr(object->name, '@') || !report_site(&place, run, object, object->site_shown))
        return;
    if (place.file)
        snprintf(buffer + used, bytes - used, " at %s:%d", basename(place.file), place.line);
    else
        snprintf(buffer + used, bytes - used, " by %s",
                 loader_place_text(text, sizeof text, (struct guest_va){object->site.v - 1}, &place));
}

/* " via alloc_data (polybench.c:568), xmalloc (polybench.c:90)": who passed the block on, from the outside in;
 * functions of the library of C++ or Rust are left out. */
static void add_wrappers(char *buffer, size_t bytes, const struct report_run *run, const struct analyses_object *object)
{
    const char *before = " via ";
    for (uint32_t i = object->site_shown; i-- > 0;) {
        struct loader_place place;
        char text[REPORT_NAME_BYTES];
        const struct guest_va call = {object->sites[i].v - 1};
        const char *symbol = run->symbols ? loader_symbol_name_of(run->symbols, call) : NULL;
        const size_t used = strlen(buffer);
        if (!report_site(&place, run, object, i) || (symbol && loader_is_library(symbol)))
            continue;
        snprintf(buffer + used, bytes - used, "%s%s", before, loader_place_text(text, sizeof text, call, &place));
        before = ", ";
    }
}

const char *report_type(const struct report_run *run, const struct analyses_object *object)
{
    if (object->local)
        return object->local->declaration;
    return run->symbols ? loader_variable_declaration(run->symbols, object->variable) : NULL;
}

static void name_static(char *buffer, size_t bytes, const struct report_run *run, const struct analyses_object *object)
{
    const bool in = object->module;
    const char *type = report_type(run, object); /* a declaration, which has the name in it */
    snprintf(buffer, bytes, "%s%s%s", type ? type : object->name, in ? " in " : "", in ? object->module : "");
}

/* "double W[1024][64] in main (t.c:12)", "frame of main (t.c)", "double buffer[8], thread-local". */
static void name_local(char *buffer, size_t bytes, const struct analyses_object *object)
{
    const struct loader_local *local = object->local;
    const char *name = local->declaration ? local->declaration : object->name;
    const char *file = local->file ? basename(local->file) : NULL;
    if (!local->function)
        snprintf(buffer, bytes, "%s, thread-local", name);
    else if (local->name && local->line != 0)
        snprintf(buffer, bytes, "%s in %s (%s:%d)", name, local->function, file, local->line);
    else if (local->name)
        snprintf(buffer, bytes, "%s in %s", name, local->function);
    else
        snprintf(buffer, bytes, file ? "%s (%s)" : "%s", name, file);
}

static void name_allocated(char *buffer, size_t bytes, const struct report_run *run,
                           const struct analyses_object *object)
{
    snprintf(buffer, bytes, "%s", object->name);
    add_site(buffer, bytes, run, object);
    add_wrappers(buffer, bytes, run, object);
}

char *report_object_text(char *buffer, size_t bytes, const struct report_run *run, const struct analyses_object *object)
{
    if (object->local) {
        name_local(buffer, bytes, object);
        return buffer;
    }
    switch (object->kind) {
    case ANALYSES_STATIC:
        name_static(buffer, bytes, run, object);
        break;
    case ANALYSES_CODE:
        snprintf(buffer, bytes, "code of %s", object->name);
        break;
    case ANALYSES_FILE:
        snprintf(buffer, bytes, "data of %s", object->name);
        break;
    default:
        name_allocated(buffer, bytes, run, object);
        break;
    }
    return buffer;
}

static const char *same_object(const struct analyses_object *object, enum analyses_reason reason)
{
    if (reason == ANALYSES_REASON_INTRA)
        return "the same array";
    return reason == ANALYSES_REASON_INTER && object->blocks > 1 ? "other blocks of the same site" : "the same object";
}

char *report_evictor_text(char *buffer, size_t bytes, const struct report_run *run, uint32_t victim,
                          const struct report_share *evictor)
{
    if (evictor->object == ANALYSES_NOBODY)
        snprintf(buffer, bytes, "nobody known");
    else if (evictor->object == victim)
        snprintf(buffer, bytes, "%s", same_object(&run->profile->objects[victim], evictor->reason));
    else
        report_object_text(buffer, bytes, run, &run->profile->objects[evictor->object]);
    return buffer;
}

/* ------------------------------------------------------------------ in the JSON */

void report_add_address(struct document *d, const char *key, uint64_t address)
{
    doc_words(d, DOC_JSON, key, "0x%" PRIx64, address);
}

static void add_source(struct document *d, const char *function, const char *file, int line)
{
    doc_string(d, DOC_JSON, "function", function);
    doc_string(d, DOC_JSON, "file", file);
    if (file)
        doc_count(d, DOC_JSON, "line", (uint64_t)line);
}

/* Without a function `address` is where it lies in the file as linked. */
void report_add_place(struct document *d, const struct loader_place *place)
{
    add_source(d, place->function, place->file, place->line);
    doc_string(d, DOC_JSON, "module", place->object);
    if (place->object && !place->function)
        report_add_address(d, "address", place->offset);
}

void report_add_loop_name(struct document *d, const struct loader_place *place, const struct analyses_loop *loop)
{
    if (!loop) {
        doc_flag(d, DOC_JSON, "outside", true);
        return;
    }
    report_add_place(d, place);
    report_add_address(d, "header", loop->header.v);
}

void report_add_rest(struct document *d, size_t count)
{
    if (count <= REPORT_LISTED)
        return;
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "rest", count - REPORT_LISTED);
    doc_close(d);
}

void report_add_ranked(struct document *d, const struct report_digest *digest, const struct report_ranking *ranking,
                       const struct report_ranked *of)
{
    if (ranking == &digest->functions) {
        doc_string(d, DOC_JSON, "name", of->place.function);
        doc_string(d, DOC_JSON, "module", of->place.object);
    } else if (ranking == &digest->loops) {
        report_add_loop_name(d, &of->place, of->loop);
    } else {
        report_add_place(d, &of->place);
        report_add_address(d, "pc", of->pc.v);
    }
}

void report_add_inlined(struct document *d, const struct report_run *run, struct guest_va pc)
{
    struct loader_frame frames[REPORT_FRAMES];
    size_t count = run->symbols ? loader_frames_of(run->symbols, pc, frames, REPORT_FRAMES) : 1;
    if (count < 2)
        return;
    doc_table(d, DOC_JSON, "inlined");
    for (size_t i = 0; i < count && i < REPORT_FRAMES; i++) {
        doc_group(d, DOC_JSON, NULL);
        add_source(d, frames[i].function, frames[i].file, frames[i].line);
        doc_close(d);
    }
    doc_close(d);
}
