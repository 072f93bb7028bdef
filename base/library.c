/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * library: a shared library is loaded when it is needed.
 *
 * Model
 *   The program is linked without it, so a run that does not need it has neither its symbols to bind nor its tables to
 *   relocate. What the program exports stands before what the library does: the dynamic linker looks for each symbol
 *   in the program first, also for those of a library that comes later.
 * Invariants
 *   A table has its handle when it has all its functions. A library stays loaded.
 * Source
 *   dlopen(3); System V ABI, "Shared Object Dependencies": the order in which symbols are sought.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "base/base.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads that need the same library at once */

/* NULL: all are there; else the name of the first that is not. */
static const char *find_functions(const struct c2_library *library, void *handle)
{
    for (size_t i = 0; i < library->count; i++)
        if (!(*library->functions[i].to = dlsym(handle, library->functions[i].name)))
            return library->functions[i].name;
    return NULL;
}

static enum c2_status load(const struct c2_library *library, struct c2_error *err)
{
    void *handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s cannot be loaded: %s", library->what, dlerror());
    const char *lacks = find_functions(library, handle);
    if (lacks) {
        dlclose(handle);
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s %s has no %s", library->what, library->soname, lacks);
    }
    *library->handle = handle;
    return C2_OK;
}

enum c2_status c2_library_load(const struct c2_library *library, struct c2_error *err)
{
    pthread_mutex_lock(&lock);
    enum c2_status status = *library->handle ? C2_OK : load(library, err);
    pthread_mutex_unlock(&lock);
    return status;
}
