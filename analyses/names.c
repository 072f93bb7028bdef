/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * names: instructions and objects in words.
 *
 * Invariants
 *   A name is the loader's or the analysis's; what neither knows is shown as an address in its file, never guessed.
 */
#include <inttypes.h>
#include <string.h>

#include "analyses/names.h"

void names_place(struct loader_place *out, const struct analyses_run *run, struct guest_va pc)
{
    *out = (struct loader_place){.offset = pc.v};
    if (run->symbols)
        loader_place_of(run->symbols, pc, out);
}

void names_loop_place(struct loader_place *out, const struct analyses_run *run, const struct analyses_loop *loop)
{
    *out = (struct loader_place){.offset = loop->header.v};
    if (run->symbols)
        analyses_loop_place(out, run->symbols, loop);
}

bool names_site(struct loader_place *out, const struct analyses_run *run, const struct analyses_object *object,
                uint32_t site)
{
    if (site >= object->site_count)
        return false;
    *out = (struct loader_place){.offset = object->sites[site].v};
    if (run->symbols)
        loader_call_place_of(run->symbols, object->sites[site], out);
    return true;
}

char *names_place_text(char *buffer, size_t bytes, const struct analyses_run *run, struct guest_va pc)
{
    struct loader_place place;
    names_place(&place, run, pc);
    return loader_place_text(buffer, bytes, pc, &place);
}

/* " at doitgen.c:41"; " by 0x1234 in libc.so.6" where there is no line. A name with an @ says its site itself. */
static void names_add_site(char *buffer, size_t bytes, const struct analyses_run *run,
                           const struct analyses_object *object)
{
    struct loader_place place;
    char text[NAMES_BYTES];
    const size_t used = strlen(buffer);
    if (strchr(object->name, '@') || !names_site(&place, run, object, object->site_shown))
        return;
    if (place.file)
        snprintf(buffer + used, bytes - used, " at %s:%d", basename(place.file), place.line);
    else
        snprintf(buffer + used, bytes - used, " by %s",
                 loader_place_text(text, sizeof text, (struct guest_va){object->site.v - 1}, &place));
}

/* " via alloc_data (polybench.c:568), xmalloc (polybench.c:90)": the callers that passed it on, from the outside in;
 * functions of the library of C++ or Rust are left out. */
static void add_wrappers(char *buffer, size_t bytes, const struct analyses_run *run,
                         const struct analyses_object *object)
{
    const char *before = " via ";
    for (uint32_t i = object->site_shown; i-- > 0;) {
        struct loader_place place;
        char text[NAMES_BYTES];
        const struct guest_va call = {object->sites[i].v - 1};
        const char *symbol = run->symbols ? loader_symbol_name_of(run->symbols, call) : NULL;
        const size_t used = strlen(buffer);
        if (!names_site(&place, run, object, i) || (symbol && loader_is_library(symbol)))
            continue;
        snprintf(buffer + used, bytes - used, "%s%s", before, loader_place_text(text, sizeof text, call, &place));
        before = ", ";
    }
}

const char *names_type(const struct analyses_run *run, const struct analyses_object *object)
{
    if (object->local)
        return object->local->declaration;
    return run->symbols ? loader_variable_declaration(run->symbols, object->variable) : NULL;
}

static void name_static(char *buffer, size_t bytes, const struct analyses_run *run,
                        const struct analyses_object *object)
{
    const bool in = object->module;
    const char *type = names_type(run, object); /* a declaration, which has the name in it */
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

static void name_allocated(char *buffer, size_t bytes, const struct analyses_run *run,
                           const struct analyses_object *object)
{
    snprintf(buffer, bytes, "%s", object->name);
    names_add_site(buffer, bytes, run, object);
    add_wrappers(buffer, bytes, run, object);
}

char *names_object_text(char *buffer, size_t bytes, const struct analyses_run *run,
                        const struct analyses_object *object)
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

static const char *names_same_object(const struct analyses_object *object, enum analyses_reason reason)
{
    if (reason == ANALYSES_REASON_INTRA)
        return "the same array";
    return reason == ANALYSES_REASON_INTER && object->blocks > 1 ? "other blocks of the same site" : "the same object";
}

char *names_evictor_text(char *buffer, size_t bytes, const struct analyses_run *run, uint32_t victim,
                         const struct digest_share *evictor)
{
    if (evictor->object == ANALYSES_NOBODY)
        snprintf(buffer, bytes, "nobody known");
    else if (evictor->object == victim)
        snprintf(buffer, bytes, "%s", names_same_object(&run->profile->objects[victim], evictor->reason));
    else
        names_object_text(buffer, bytes, run, &run->profile->objects[evictor->object]);
    return buffer;
}
