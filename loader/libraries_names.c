/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names in the files that a program is linked with, which is not in memory yet: functions, lines, variables.
 *
 * Model
 *   Each file is a module without a place (module.c), with its debug file where that is installed. Beside them are the
 *   files that the C library loads by itself: for names of users and hosts, character sets, and the end of a thread.
 * Not modelled
 *   Names that only source text has: macros.
 */
#include <dwarf.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "loader/libraries_priv.h"
#include "loader/symbols_priv.h"

/* What is done with each file. */
struct visitor {
    void *self;
    enum c2_status (*file)(void *self, struct loader_module *module, struct c2_error *err);
};

static enum c2_status libraries_names_visit_file(const struct visitor *visitor, const char *path, struct c2_error *err)
{
    struct stat st;
    struct loader_module *module;
    if (!path || stat(path, &st) != 0)
        return C2_OK;
    enum c2_status status = loader_module_open(&module, path, st.st_ino, st.st_dev, err);
    if (status != C2_OK)
        return status;
    if (module->is_elf)
        status = visitor->file(visitor->self, module, err);
    loader_module_close(module);
    return status;
}

/* Those beside the C library that it may load. */
static enum c2_status visit_loaded(const struct visitor *visitor, const char *libc, struct c2_error *err)
{
    static const char *const patterns[] = {"libnss_*.so*", "libgcc_s.so.1", "gconv/[A-Z]*.so"};
    const char *slash = strrchr(libc, '/');
    enum c2_status status = C2_OK;
    for (size_t i = 0; slash && i < sizeof patterns / sizeof patterns[0] && status == C2_OK; i++) {
        glob_t found;
        char *pattern = c2_format("%.*s/%s", (int)(slash - libc), libc, patterns[i]);
        if (!pattern)
            return c2_fail_memory(err, "the program's libraries");
        if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc && status == C2_OK; k++)
                status = libraries_names_visit_file(visitor, found.gl_pathv[k], err);
            globfree(&found);
        }
        c2_free(pattern);
    }
    return status;
}

static enum c2_status libraries_names_visit(const struct visitor *visitor, const struct loader_libraries *libraries,
                                            struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < loader_libraries_count(libraries) && status == C2_OK; i++) {
        const char *host = loader_libraries_host(libraries, i);
        status = libraries_names_visit_file(visitor, host, err);
        if (status == C2_OK && host && strcmp(loader_libraries_name(libraries, i), "libc.so.6") == 0)
            status = visit_loaded(visitor, host, err);
    }
    return status;
}

/* ------------------------------------------------------------------ functions and variables */

struct telling {
    const struct loader_name_listener *listener;
    struct loader_names *names;
    struct c2_map *shown;
    bool variables;
};

static enum c2_status libraries_names_tell(const struct telling *telling, const char *symbol, struct c2_error *err)
{
    const char *shown = loader_names_shown(telling->names, telling->shown, symbol);
    return shown ? telling->listener->name(telling->listener->self, symbol, shown, err)
                 : c2_fail_memory(err, "names of the program");
}

static enum c2_status tell_symbols(const struct telling *telling, struct loader_module *module, struct c2_error *err)
{
    struct loader_symtab table;
    struct loader_symbol symbol;
    enum c2_status status = C2_OK;
    if (!module->table || !loader_symtab_open(&table, module->table))
        return C2_OK;
    for (size_t i = 1; i < table.count && status == C2_OK; i++)
        if (loader_symtab_get(&table, i, &symbol) && (telling->variables || symbol.type == STT_FUNC ||
                                                      symbol.type == STT_NOTYPE || symbol.type == STT_GNU_IFUNC))
            status = libraries_names_tell(telling, symbol.name, err);
    return status;
}

static bool is_variable(int tag)
{
    return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter || tag == DW_TAG_member;
}

static enum c2_status tell_dies(const struct telling *telling, Dwarf_Die *die, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    do {
        Dwarf_Die child;
        const char *name = is_variable(dwarf_tag(die)) ? dwarf_diename(die) : NULL;
        if (name)
            status = telling->listener->name(telling->listener->self, name, name, err);
        if (status == C2_OK && dwarf_child(die, &child) == 0)
            status = tell_dies(telling, &child, err);
    } while (status == C2_OK && loader_die_next(die));
    return status;
}

static enum c2_status tell_file(void *self, struct loader_module *module, struct c2_error *err)
{
    const struct telling *telling = self;
    enum c2_status status = tell_symbols(telling, module, err);
    Dwarf *dwarf = status == C2_OK && telling->variables ? loader_module_dwarf(module) : NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf && status == C2_OK && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        status = tell_dies(telling, &die, err);
    return status;
}

static enum c2_status tell_all(const struct loader_libraries *libraries, const struct loader_name_listener *listener,
                               bool variables, struct c2_error *err)
{
    struct telling telling = {.listener = listener, .variables = variables};
    const struct visitor visitor = {&telling, tell_file};
    enum c2_status status = loader_names_create(&telling.names, err);
    if (status == C2_OK)
        status = c2_map_create(&telling.shown, err);
    if (status == C2_OK)
        status = libraries_names_visit(&visitor, libraries, err);
    c2_map_destroy(telling.shown);
    loader_names_destroy(telling.names);
    return status;
}

enum c2_status loader_libraries_functions(const struct loader_libraries *libraries,
                                          const struct loader_name_listener *listener, struct c2_error *err)
{
    return tell_all(libraries, listener, false, err);
}

enum c2_status loader_libraries_variables(const struct loader_libraries *libraries,
                                          const struct loader_name_listener *listener, struct c2_error *err)
{
    return tell_all(libraries, listener, true, err);
}

/* ------------------------------------------------------------------ lines */

struct asking {
    const char *file;
    int line;
    bool *found;
    struct loader_line_answer *answer;
};

static enum c2_status ask_file(void *self, struct loader_module *module, struct c2_error *err)
{
    const struct asking *asking = self;
    return loader_module_has_line(asking->found, module, asking->file, asking->line, asking->answer, err);
}

enum c2_status loader_libraries_line(bool *found, const struct loader_libraries *libraries, const char *file, int line,
                                     struct loader_line_answer *answer, struct c2_error *err)
{
    struct asking asking = {file, line, found, answer};
    const struct visitor visitor = {&asking, ask_file};
    *found = false;
    *answer = (struct loader_line_answer){0};
    return libraries_names_visit(&visitor, libraries, err);
}

/* ------------------------------------------------------------------ debug information */

static enum c2_status look_for_debug(void *self, struct loader_module *module, struct c2_error *err)
{
    bool *has = self;
    (void)err;
    *has = loader_module_dwarf(module);
    return C2_OK;
}

enum c2_status loader_has_debug(bool *out, const char *path, struct c2_error *err)
{
    const struct visitor visitor = {out, look_for_debug};
    *out = true;
    return libraries_names_visit_file(&visitor, path, err);
}
