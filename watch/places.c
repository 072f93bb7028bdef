/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A place is a number of addresses: the entries of the functions that have its name, where a line of the source
 *   begins (loader_line_entries), or the address that was given. They are found when the guest comes to a file's code
 *   first, so libraries that are loaded later are found as well. A block starts at each.
 *   A function of the C library may stand for several (IFUNC): its symbol is that of a resolver, which returns the
 *   entry of the one to use. The resolver is followed to its return, and is no place itself.
 * Counting
 *   Coming to a place is told once, also when its first instruction faults and is started again.
 * Invariants (places_check)
 *   Every address that a file gave is known until the file's code changes.
 * Not modelled
 *   A function that was inlined has no entry there.
 */
#include "watch/places_priv.h"

#include <fnmatch.h>
#include <string.h>

#include "watch/callers_priv.h"
#include "watch/modules_priv.h"

enum { RAX = 0, RSP = 4 };

/* One of the places that an address has. */
struct point {
    uint32_t place;
    uint32_t next; /* 1 + number of another one, 0: none */
    bool resolver; /* the address is that of an IFUNC's resolver */
};

/* A resolver that has not returned. */
struct resolving {
    uint64_t rsp, site; /* of the return address, and what it is */
    uint32_t place;
};

struct places {
    struct places_config config;
    uint64_t program_base;
    struct modules *modules;
    struct c2_map *points; /* pc -> 1 + number of the first point */
    struct point *list;
    uint32_t count, room;
    bool *found;                        /* [place] */
    struct loader_line_answer *answers; /* [place], of lines */
    struct c2_map *sites;               /* where resolvers return to */
    struct resolving *resolving;
    uint32_t resolving_count, resolving_room;
    uint64_t told_pc, told_at; /* the last arrival: where, and after how many instructions */
    uint32_t adding;           /* the place that addresses are found of */
};

/* ------------------------------------------------------------------ addresses */

static enum c2_status add_point(struct places *places, uint32_t place, struct guest_va pc, bool resolver,
                                struct c2_error *err)
{
    uint64_t first = 0;
    c2_map_get(places->points, pc.v, &first);
    for (uint64_t i = first; i != 0; i = places->list[i - 1].next)
        if (places->list[i - 1].place == place)
            return C2_OK; /* two names of one function */
    if (!c2_grow((void **)&places->list, &places->room, places->count, sizeof *places->list))
        return c2_fail_memory(err, "places in the program");
    places->list[places->count++] = (struct point){place, (uint32_t)first, resolver};
    places->found[place] = true;
    enum c2_status status = c2_map_put(places->points, pc.v, places->count, err);
    return status == C2_OK ? modules_keep(places->modules, pc, pc.v, err) : status;
}

static void places_forget(void *self, uint64_t address) { c2_map_remove(((struct places *)self)->points, address); }

/* ------------------------------------------------------------------ names */

/* How many bytes of what reports show are the name alone: "f" of "f(int) const". */
static size_t without_parameters(const char *shown)
{
    const char *end = strrchr(shown, ')');
    size_t open = 0;
    for (const char *at = end; at && at > shown; at--) {
        open += *at == ')';
        open -= *at == '(';
        if (open == 0)
            return (size_t)(at - shown);
    }
    return strlen(shown);
}

/* The symbol itself, what reports show for it, and that without parameters; these two by a pattern, if what is there is
 * a function: a label within one is meant by its whole name only. */
static bool matches(struct places *places, const char *pattern, const char *symbol, struct guest_va at)
{
    char name[512];
    struct guest_va entry;
    const char *shown = loader_shown_name(places->config.symbols, symbol);
    const size_t bytes = shown ? without_parameters(shown) : 0, all = strcspn(symbol, "@");
    if (bytes == 0)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)bytes, shown);
    if ((strlen(pattern) == all && strncmp(pattern, symbol, all) == 0) || strcmp(pattern, shown) == 0 ||
        strcmp(pattern, name) == 0)
        return true;
    return strpbrk(pattern, "*?[") && (fnmatch(pattern, shown, 0) == 0 || fnmatch(pattern, name, 0) == 0) &&
           loader_function_entry(places->config.symbols, at, &entry) && entry.v == at.v;
}

static enum c2_status note_function(void *self, const char *name, struct guest_va entry, bool resolver,
                                    struct c2_error *err)
{
    struct places *places = self;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < places->config.count && status == C2_OK; i++) {
        const struct watch_place *place = &places->config.list[i];
        if (place->kind == WATCH_FUNCTION && matches(places, place->name, name, entry))
            status = add_point(places, i, entry, resolver, err);
    }
    return status;
}

static enum c2_status places_note_line(void *self, struct guest_va entry, struct c2_error *err)
{
    struct places *places = self;
    return add_point(places, places->adding, entry, false, err);
}

static bool any_function(const struct places *places)
{
    for (uint32_t i = 0; i < places->config.count; i++)
        if (places->config.list[i].kind == WATCH_FUNCTION)
            return true;
    return false;
}

static enum c2_status places_read_file(void *self, struct guest_va code, struct c2_error *err)
{
    struct places *places = self;
    const struct loader_entry_listener functions = {places, note_function};
    const struct loader_line_listener lines = {places, places_note_line};
    enum c2_status status = C2_OK;
    if (any_function(places))
        status = loader_function_entries(places->config.symbols, code, &functions, err);
    for (uint32_t i = 0; i < places->config.count && status == C2_OK; i++) {
        const struct watch_place *place = &places->config.list[i];
        places->adding = i;
        if (place->kind == WATCH_LINE)
            status = loader_line_entries(places->config.symbols, code, place->name, (int)place->number,
                                         &places->answers[i], &lines, err);
    }
    return status;
}

/* ------------------------------------------------------------------ what is in none */

struct names {
    struct places *places;
    const char **list;
    uint32_t count, room;
};

static enum c2_status note_name(void *self, const char *name, struct guest_va entry, bool resolver,
                                struct c2_error *err)
{
    struct names *names = self;
    (void)entry, (void)resolver;
    const char *shown = loader_shown_name(names->places->config.symbols, name);
    if (!shown || !c2_grow((void **)&names->list, &names->room, names->count, sizeof *names->list))
        return c2_fail_memory(err, "names of functions");
    names->list[names->count++] = shown;
    return C2_OK;
}

/* The names of all functions in the memory. */
static enum c2_status places_gather(struct names *names, struct c2_error *err)
{
    const struct loader_entry_listener listener = {names, note_name};
    const struct places_config *config = &names->places->config;
    enum c2_status status = C2_OK;
    struct guest_va at = {0};
    for (const struct mmu_area *area; status == C2_OK && (area = mmu_area_at(mmu_areas(config->mmu), at, true));) {
        at.v = area->start.v + area->bytes;
        if (area->path && (area->prot & MMU_EXEC))
            status = loader_function_entries(config->symbols, area->start, &listener, err);
    }
    return status;
}

static enum c2_status no_function(struct places *places, const struct watch_place *place, struct c2_error *err)
{
    struct names names = {.places = places};
    enum c2_status status = places_gather(&names, err);
    const char *near = status == C2_OK ? c2_nearest(place->name, names.list, names.count) : NULL;
    c2_free(names.list);
    if (status != C2_OK)
        return status;
    const char *what = strpbrk(place->name, "*?[") ? "no function has a name like this" : "no function has this name";
    if (near)
        return c2_fail(err, C2_ERR_NOT_FOUND, "%s: %s; did you mean \"%s\"?", place->asked, what, near);
    return c2_fail(err, C2_ERR_NOT_FOUND, "%s: %s (one that the compiler has inlined has no code of its own)",
                   place->asked, what);
}

static enum c2_status no_line(const struct watch_place *place, const struct loader_line_answer *answer,
                              struct c2_error *err)
{
    if (!answer->known)
        return c2_fail(err, C2_ERR_NOT_FOUND,
                       "%s: no debug information names this source file; was the program compiled with -g?",
                       place->asked);
    return c2_fail(err, C2_ERR_NOT_FOUND, "%s: no code begins on this line; the nearest one with code is %d",
                   place->asked, answer->nearest);
}

/* Addresses below those of a program that can lie anywhere are as linked. */
static struct guest_va places_address_of(const struct places *places, const struct watch_place *place)
{
    const uint64_t base = place->number < places->program_base ? places->program_base : 0;
    return (struct guest_va){place->number + base};
}

static bool is_found(const struct places *places, uint32_t i)
{
    const struct watch_place *place = &places->config.list[i];
    if (place->kind != WATCH_ADDRESS)
        return places->found[i];
    const struct mmu_area *area = mmu_area_at(mmu_areas(places->config.mmu), places_address_of(places, place), false);
    return area && (area->prot & MMU_EXEC);
}

static enum c2_status places_complain(struct places *places, uint32_t i, struct c2_error *err)
{
    const struct watch_place *place = &places->config.list[i];
    if (place->kind == WATCH_FUNCTION)
        return no_function(places, place, err);
    if (place->kind == WATCH_LINE)
        return no_line(place, &places->answers[i], err);
    return c2_fail(err, C2_ERR_NOT_FOUND, "%s: no code is mapped at this address", place->asked);
}

enum c2_status places_find(struct places *places, uint32_t place, struct c2_error *err)
{
    if (is_found(places, place))
        return C2_OK;
    enum c2_status status = modules_know_all(places->modules, err);
    return status == C2_OK && !is_found(places, place) ? places_complain(places, place, err) : status;
}

/* ------------------------------------------------------------------ the guest comes there */

static bool places_splits(void *self, struct guest_va pc)
{
    uint64_t any;
    return c2_map_get(((const struct places *)self)->points, pc.v, &any);
}

static enum c2_status places_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    struct places *places = self;
    uint64_t any;
    enum c2_status status = modules_know(places->modules, pc, err);
    *out = places_splits(self, pc) || c2_map_get(places->sites, pc.v, &any);
    return status;
}

static enum c2_status follow_resolver(struct places *places, struct engine *engine, uint32_t place,
                                      struct c2_error *err)
{
    struct resolving resolving = {.rsp = engine_gpr(engine, RSP), .place = place};
    if (!guest_word(places->config.mmu, resolving.rsp, &resolving.site))
        return C2_OK;
    if (!c2_grow((void **)&places->resolving, &places->resolving_room, places->resolving_count,
                 sizeof *places->resolving))
        return c2_fail_memory(err, "places in the program");
    places->resolving[places->resolving_count++] = resolving;
    enum c2_status status = c2_map_put(places->sites, resolving.site, 1, err);
    return status == C2_OK ? engine_watch(engine, (struct guest_va){resolving.site}, err) : status;
}

/* Resolvers that have returned to pc: the function begins where they say. */
static enum c2_status places_resolve(struct places *places, struct engine *engine, struct guest_va pc,
                                     struct c2_error *err)
{
    const uint64_t rsp = engine_gpr(engine, RSP);
    const struct guest_va entry = {engine_gpr(engine, RAX)};
    enum c2_status status = C2_OK;
    for (uint32_t i = places->resolving_count; i-- > 0 && status == C2_OK;) {
        const struct resolving *resolving = &places->resolving[i];
        if (resolving->site != pc.v || resolving->rsp + sizeof(uint64_t) != rsp)
            continue;
        status = add_point(places, resolving->place, entry, false, err);
        places->resolving[i] = places->resolving[--places->resolving_count];
        if (status == C2_OK)
            status = engine_watch(engine, entry, err);
    }
    return status;
}

static enum c2_status places_arrive(struct places *places, struct engine *engine, struct guest_va pc,
                                    struct c2_error *err)
{
    const uint64_t now = engine_instructions(engine);
    uint64_t at = 0;
    enum c2_status status = C2_OK;
    if (!c2_map_get(places->points, pc.v, &at) || (places->told_pc == pc.v && places->told_at == now))
        return C2_OK;
    places->told_pc = pc.v;
    places->told_at = now;
    for (; at != 0 && status == C2_OK; at = places->list[at - 1].next) {
        const struct point point = places->list[at - 1];
        status = point.resolver ? follow_resolver(places, engine, point.place, err)
                                : places->config.arrived(places->config.self, engine, point.place, pc, err);
    }
    return status;
}

static enum c2_status places_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    struct places *places = self;
    uint64_t any;
    enum c2_status status = modules_know(places->modules, pc, err); /* a part of its file may have changed */
    if (status == C2_OK && c2_map_get(places->sites, pc.v, &any))
        status = places_resolve(places, engine, pc, err);
    return status == C2_OK ? places_arrive(places, engine, pc, err) : status;
}

struct engine_watch places_watch(struct places *places)
{
    return (struct engine_watch){
        .self = places, .wants = places_wants, .splits = places_splits, .reached = places_reached};
}

/* ------------------------------------------------------------------ life */

static enum c2_status add_addresses(struct places *places, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < places->config.count && status == C2_OK; i++) {
        const struct watch_place *place = &places->config.list[i];
        if (place->kind == WATCH_ADDRESS)
            status = add_point(places, i, places_address_of(places, place), false, err);
    }
    return status;
}

/* What the program has. In one without libraries what is not there is nowhere. */
static enum c2_status read_program(struct places *places, const struct loader_image *image, struct c2_error *err)
{
    enum c2_status status = modules_know(places->modules, (struct guest_va){image->program_entry}, err);
    for (uint32_t i = 0; i < places->config.count && status == C2_OK; i++) {
        const bool whole = image->interpreter_base == 0 && places->config.list[i].kind != WATCH_ADDRESS;
        if (!places->found[i] && (whole || places->answers[i].known))
            status = places_complain(places, i, err);
    }
    return status;
}

static enum c2_status places_make(struct places *places, struct c2_error *err)
{
    const struct modules_reader reader = {places, places_read_file, places_forget, NULL};
    const uint32_t count = places->config.count;
    places->found = c2_calloc(count ? count : 1, sizeof *places->found);
    places->answers = c2_calloc(count ? count : 1, sizeof *places->answers);
    if (!places->found || !places->answers)
        return c2_fail_memory(err, "places in the program");
    enum c2_status status = c2_map_create(&places->points, err);
    if (status == C2_OK)
        status = c2_map_create(&places->sites, err);
    if (status == C2_OK)
        status = modules_create(&places->modules, places->config.mmu, &reader, err);
    return status == C2_OK ? add_addresses(places, err) : status;
}

enum c2_status places_create(struct places **out, const struct places_config *config, struct c2_error *err)
{
    *out = NULL;
    struct places *places = c2_calloc(1, sizeof *places);
    if (!places)
        return c2_fail_memory(err, "places in the program");
    places->config = *config;
    places->program_base = config->image->program_base;
    enum c2_status status = places_make(places, err);
    if (status == C2_OK)
        status = read_program(places, config->image, err);
    if (status == C2_OK)
        *out = places;
    else
        places_destroy(places);
    return status;
}

void places_destroy(struct places *places)
{
    if (!places)
        return;
    modules_destroy(places->modules);
    c2_map_destroy(places->points);
    c2_map_destroy(places->sites);
    c2_free(places->list);
    c2_free(places->found);
    c2_free(places->answers);
    c2_free(places->resolving);
    c2_free(places);
}

static bool is_point(const void *self, uint64_t address)
{
    uint64_t any;
    return c2_map_get(((const struct places *)self)->points, address, &any);
}

void places_check(const struct places *places)
{
    C2_ASSERT(places->count <= places->room && places->resolving_count <= places->resolving_room);
    modules_check(places->modules, is_point, places);
}
