/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * names: what options call by its name is looked up before the program runs.
 *
 * Model
 *   Functions, lines and variables are looked for in the files that the program is linked with. One that is in none of
 *   them is certainly wrong where these files are all that can be executed (loader_libraries_closed); else it may come
 *   with a library or a program that is not known yet, and is judged at the end of the run. A pattern as in a shell
 *   is wrong where no function of the files matches it; addresses are not looked at.
 *   An object (--dim) may have the name of a mapped file, too. It is refused only where a variable has nearly this name
 *   and it is written as variables are: what has a dot, a '#' or a blank is made by the run.
 * Not modelled
 *   Programs behind the first: whether a name is meant for them is not known.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "session/session_priv.h"

#define MOST_ASKED 256u

/* A name that is looked for. */
struct asked {
    const char *option, *name; /* "--roi kernl" as it was given, and what of it is the name */
    bool found;
};

struct lookup {
    const struct loader_libraries *libraries;
    struct asked list[MOST_ASKED];
    uint32_t count;
    struct c2_pool texts;
    const char **near; /* all names that were seen, where one is missing */
    uint32_t near_count, near_room;
    bool gathers;
};

/* ------------------------------------------------------------------ what a name means */

/* A pattern may mean a function with its parameters or without. */
static bool is_like(const char *pattern, const char *shown)
{
    char part[512];
    if (fnmatch(pattern, shown, 0) == 0)
        return true;
    for (const char *open = strchr(shown, '('); open; open = strchr(open + 1, '(')) {
        snprintf(part, sizeof part, "%.*s", (int)(open - shown), shown);
        if (fnmatch(pattern, part, 0) == 0)
            return true;
    }
    return false;
}

/* Whatever one of the options would take for the name: the symbol without its version, a variant of the compiler's
 * (NAME.part.0), what reports show with its parameters or without. */
static bool names_is_meant(const char *name, const char *symbol, const char *shown)
{
    const size_t bytes = strlen(name);
    return (strncmp(symbol, name, bytes) == 0 && strchr("@.", symbol[bytes])) || strcmp(shown, name) == 0 ||
           (strncmp(shown, name, bytes) == 0 && shown[bytes] == '(') || (strpbrk(name, "*?[") && is_like(name, shown));
}

static enum c2_status names_gather(struct lookup *lookup, const char *shown, struct c2_error *err)
{
    const char *copy = c2_pool_format(&lookup->texts, "%s", shown);
    if (!copy || !c2_grow((void **)&lookup->near, &lookup->near_room, lookup->near_count, sizeof *lookup->near))
        return c2_fail_memory(err, "names of the program");
    lookup->near[lookup->near_count++] = copy;
    return C2_OK;
}

static enum c2_status names_look_at(void *self, const char *symbol, const char *shown, struct c2_error *err)
{
    struct lookup *lookup = self;
    for (uint32_t i = 0; i < lookup->count; i++)
        lookup->list[i].found |= names_is_meant(lookup->list[i].name, symbol, shown);
    return lookup->gathers ? names_gather(lookup, shown, err) : C2_OK;
}

/* ------------------------------------------------------------------ functions */

static void names_ask(struct lookup *lookup, const char *option, const char *name)
{
    if (option && name && lookup->count < MOST_ASKED)
        lookup->list[lookup->count++] = (struct asked){.option = option, .name = name};
}

static void ask_place(struct lookup *lookup, const struct watch_place *place)
{
    if (place && place->name && place->kind == WATCH_FUNCTION)
        names_ask(lookup, place->asked, place->name);
}

/* --phase-at: words with commas, two of which are no functions. */
static void ask_phases(struct lookup *lookup, const char *words)
{
    for (const char *at = words; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *word = c2_pool_format(&lookup->texts, "%.*s", (int)strcspn(at, ","), at);
        if (word && strcmp(word, "barriers") != 0 && strcmp(word, "regions") != 0)
            names_ask(lookup, c2_pool_format(&lookup->texts, "--phase-at %s", word), word);
    }
}

static void ask_functions(struct lookup *lookup, const struct session_options *options,
                          const struct session_named *named)
{
    const struct watch_regions *regions = named->regions;
    for (uint32_t i = 0; regions && i < regions->function_count; i++)
        ask_place(lookup, &regions->functions[i]);
    ask_place(lookup, regions ? regions->from : NULL);
    ask_place(lookup, regions ? regions->to : NULL);
    ask_place(lookup, named->checkpoint_trigger);
    for (uint32_t i = 0; i < named->argued_count; i++)
        ask_place(lookup, &named->argued[i]);
    ask_phases(lookup, options->settings[ANALYSES_SETTING_phase_at]);
    for (size_t i = 0; i < options->wrapper_count; i++)
        names_ask(lookup, c2_pool_format(&lookup->texts, "--alloc-wrapper %s", options->wrappers[i]),
                  options->wrappers[i]);
}

static enum c2_status fail_function(struct lookup *lookup, const struct asked *asked, struct c2_error *err)
{
    const struct loader_name_listener listener = {lookup, names_look_at};
    lookup->gathers = true;
    enum c2_status status = loader_libraries_functions(lookup->libraries, &listener, err);
    if (status != C2_OK)
        return status;
    const char *near = c2_nearest(asked->name, lookup->near, lookup->near_count);
    const char *what = strpbrk(asked->name, "*?[") ? "no function has a name like this" : "no function has this name";
    if (near)
        return c2_fail(err, C2_ERR_NOT_FOUND, "%s: %s; did you mean \"%s\"?", asked->option, what, near);
    return c2_fail(err, C2_ERR_NOT_FOUND, "%s: %s, in the program and in its %zu libraries%s", asked->option, what,
                   loader_libraries_count(lookup->libraries) - 1,
                   strpbrk(asked->name, "*?[") ? "" : " (one that the compiler has inlined has no code of its own)");
}

static enum c2_status check_functions(struct lookup *lookup, struct c2_error *err)
{
    const struct loader_name_listener listener = {lookup, names_look_at};
    enum c2_status status = lookup->count == 0 ? C2_OK : loader_libraries_functions(lookup->libraries, &listener, err);
    for (uint32_t i = 0; i < lookup->count && status == C2_OK; i++)
        if (!lookup->list[i].found)
            return fail_function(lookup, &lookup->list[i], err);
    return status;
}

/* ------------------------------------------------------------------ lines */

static enum c2_status names_check_line(const struct loader_libraries *libraries, const struct watch_place *place,
                                       struct c2_error *err)
{
    struct loader_line_answer answer;
    bool found;
    if (!place || place->kind != WATCH_LINE)
        return C2_OK;
    enum c2_status status = loader_libraries_line(&found, libraries, place->name, (int)place->number, &answer, err);
    if (status != C2_OK || found)
        return status;
    if (!answer.known)
        return c2_fail(err, C2_ERR_NOT_FOUND,
                       "%s: no debug information names this source file; was the program compiled with -g?",
                       place->asked);
    return c2_fail(err, C2_ERR_NOT_FOUND, "%s: no code begins on this line; the nearest one with code is %d",
                   place->asked, answer.nearest);
}

static enum c2_status check_lines(const struct lookup *lookup, const struct session_named *named, struct c2_error *err)
{
    const struct watch_place *places[] = {named->regions ? named->regions->from : NULL,
                                          named->regions ? named->regions->to : NULL, named->checkpoint_trigger};
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && status == C2_OK; i++)
        status = names_check_line(lookup->libraries, places[i], err);
    return status;
}

/* ------------------------------------------------------------------ objects */

static bool is_identifier(const char *name)
{
    bool is = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *at = name; *at != '\0' && is; at++)
        is = isalnum((unsigned char)*at) || *at == '_';
    return is;
}

static enum c2_status check_objects(struct lookup *lookup, const struct session_options *options, struct c2_error *err)
{
    const struct loader_name_listener listener = {lookup, names_look_at};
    lookup->count = 0;
    for (size_t i = 0; i < options->dim_count; i++) {
        const char *text = options->dims[i], *equals = strrchr(text, '=');
        const char *name = equals ? c2_pool_format(&lookup->texts, "%.*s", (int)(equals - text), text) : NULL;
        if (name && is_identifier(name))
            names_ask(lookup, text, name);
    }
    lookup->gathers = true;
    enum c2_status status = lookup->count == 0 ? C2_OK : loader_libraries_variables(lookup->libraries, &listener, err);
    for (uint32_t i = 0; i < lookup->count && status == C2_OK; i++) {
        const struct asked *asked = &lookup->list[i];
        const char *near = asked->found ? NULL : c2_nearest(asked->name, lookup->near, lookup->near_count);
        if (near)
            status = c2_fail(err, C2_ERR_NOT_FOUND,
                             "--dim %s: no variable of the program is called \"%s\" (did you mean \"%s\"?)",
                             asked->option, asked->name, near);
    }
    return status;
}

/* ------------------------------------------------------------------ all */

enum c2_status session_names_check(const struct session_options *options, const struct session_named *named,
                                   struct c2_error *err)
{
    struct lookup *lookup = c2_calloc(1, sizeof *lookup);
    struct loader_libraries *libraries = NULL;
    if (!lookup)
        return c2_fail_memory(err, "names of the program");
    ask_functions(lookup, options, named);
    enum c2_status status = C2_OK;
    if (lookup->count != 0 || options->dim_count != 0 || named->regions || named->checkpoint_trigger)
        status = loader_libraries_find(&libraries, named->program, named->envp, LOADER_CALLS, err);
    lookup->libraries = libraries;
    if (libraries && loader_libraries_closed(libraries)) {
        status = check_functions(lookup, err);
        if (status == C2_OK)
            status = check_lines(lookup, named, err);
        if (status == C2_OK)
            status = check_objects(lookup, options, err);
    }
    loader_libraries_release(libraries);
    c2_free(lookup->near);
    c2_pool_release(&lookup->texts);
    c2_free(lookup);
    return status;
}
