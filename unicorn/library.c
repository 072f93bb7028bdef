/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * library: Unicorn is loaded.
 *
 * Model
 *   The program is linked without the library, and loads it when the first engine of it is made. What it replaces of
 *   the library (symbols.h) stands among its exported symbols: the dynamic linker looks for each symbol in the program
 *   first, also for those of a library that comes later.
 * Invariants
 *   All functions of the table are there, or none.
 * Source
 *   dlopen(3); System V ABI, "Shared Object Dependencies": the order in which symbols are sought.
 */
#include <dlfcn.h>

#include "unicorn/library.h"

struct unicorn_library unicorn_library;

static const char *library_find_all(struct unicorn_library *library)
{
#define FIND(name) \
    if (!(library->name = (__typeof__(library->name))dlsym(library->handle, "uc_" #name))) \
        return "uc_" #name;
    UNICORN_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

enum c2_status unicorn_library_load(struct c2_error *err)
{
    struct unicorn_library library = {0};
    if (unicorn_library.handle)
        return C2_OK;
    library.handle = dlopen(C2_UNICORN_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!library.handle)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "the engine's library cannot be loaded: %s", dlerror());
    const char *lacks = library_find_all(&library);
    if (lacks) {
        dlclose(library.handle);
        return c2_fail(err, C2_ERR_UNSUPPORTED, "the engine's library " C2_UNICORN_SONAME " has no %s", lacks);
    }
    unicorn_library = library;
    return C2_OK;
}
