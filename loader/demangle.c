/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names of C++ as their source writes them.
 *
 * Model
 *   A name of the C++ ABI (it begins with _Z) is handed to the C++ runtime's own demangler, which is kept with the
 *   compiler; every other name, and one that it does not know, is shown as it is.
 * Invariants
 *   Each name is demangled once; the same symbol gives the same address.
 * Not modelled
 *   Other manglings (Rust v0, D).
 * Source
 *   Itanium C++ ABI, 3.4: abi::__cxa_demangle. It answers in memory of malloc.
 */
#include "loader/symbols_priv.h"

#include <stdlib.h>
#include <string.h>

/* As <cxxabi.h> declares it, for C. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

/* As long as this a name is demangled: templates may make more text of a name than anybody reads. */
#define MANGLED_BYTES 4096

static const char *demangle(struct loader_names *names, const char *symbol)
{
    int status;
    char *text = strlen(symbol) < MANGLED_BYTES ? __cxa_demangle(symbol, NULL, NULL, &status) : NULL;
    const char *kept = text ? loader_names_keep(names, text, strlen(text)) : symbol;
    free(text);
    return kept;
}

const char *loader_names_shown(struct loader_names *names, struct c2_map *shown, const char *symbol)
{
    uint64_t found;
    const char *kept = loader_names_keep(names, symbol, loader_symbol_length(symbol));
    if (!kept || strncmp(kept, "_Z", 2) != 0)
        return kept;
    if (c2_map_get(shown, (uintptr_t)kept, &found))
        return (const char *)(uintptr_t)found;
    const char *text = demangle(names, kept);
    if (!text || c2_map_put(shown, (uintptr_t)kept, (uintptr_t)text, NULL) != C2_OK)
        return NULL;
    return text;
}

bool loader_is_cxx_library(const char *symbol)
{
    static const char *const starts[] = {"_ZNS", "_ZNKS", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(symbol, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}
