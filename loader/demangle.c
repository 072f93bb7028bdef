/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names of C++ and Rust as their source writes them.
 *
 * Model
 *   A mangled name begins with _Z (C++, and Rust as it was) or _R (Rust, v0). Rust's own form of _Z ends with a hash,
 *   "17h" and 16 hexadecimal digits, and is tried first; hashes of Rust are not shown. Every other name, and one that
 *   libiberty does not know, is shown as it is.
 * Invariants
 *   Each name is demangled once; the same symbol gives the same address.
 * Not modelled
 *   Other manglings (D, Ada).
 * Source
 *   Itanium C++ ABI, 3.4; Rust RFC 2603: libiberty of GNU binutils. It answers in memory of malloc.
 */
#include "loader/symbols_priv.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* As long as this a name is demangled: templates may make more text of a name than is ever read. */
#define MANGLED_BYTES 4096

static const char *demangle(struct loader_names *names, const char *symbol)
{
    const bool tried = strlen(symbol) < MANGLED_BYTES;
    char *text = tried ? rust_demangle(symbol, DMGL_NO_OPTS) : NULL;
    if (tried && !text)
        text = cplus_demangle_v3(symbol, DMGL_PARAMS | DMGL_ANSI);
    const char *kept = text ? loader_names_keep(names, text, strlen(text)) : symbol;
    free(text);
    return kept;
}

static bool is_mangled(const char *symbol) { return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R'); }

const char *loader_names_shown(struct loader_names *names, struct c2_map *shown, const char *symbol)
{
    uint64_t found;
    const char *kept = loader_names_keep(names, symbol, loader_symbol_length(symbol));
    if (!kept || !is_mangled(kept))
        return kept;
    if (c2_map_get(shown, (uintptr_t)kept, &found))
        return (const char *)(uintptr_t)found;
    const char *text = demangle(names, kept);
    if (!text || c2_map_put(shown, (uintptr_t)kept, (uintptr_t)text, NULL) != C2_OK)
        return NULL;
    return text;
}

/* ------------------------------------------------------------------ the standard libraries */

static bool is_cxx_library(const char *symbol)
{
    static const char *const starts[] = {"_ZNS", "_ZNKS", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(symbol, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

enum crate { CRATE_NONE, CRATE_LIBRARY, CRATE_OTHER }; /* NONE: a parameter, a type of the language */

/* Whose path or type begins there. */
static enum crate crate_at(const char *text)
{
    static const char *const library[] = {"alloc", "core", "std"};
    const char *start = text + strspn(text, "<&*[( ");
    static const char *const words[] = {"mut ", "const ", "dyn "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        start += strncmp(start, words[i], strlen(words[i])) == 0 ? strlen(words[i]) : 0;
    const size_t bytes = strcspn(start, ":<>&*[]() ,");
    if (strncmp(start + bytes, "::", 2) != 0)
        return CRATE_NONE;
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        if (strlen(library[i]) == bytes && strncmp(start, library[i], bytes) == 0)
            return CRATE_LIBRARY;
    return CRATE_OTHER;
}

/* " as " outside of further brackets, in "<A as B>::f"; NULL: there is none. */
static const char *trait_of(const char *text)
{
    unsigned depth = 0;
    for (; *text; text++) {
        depth += *text == '<';
        depth -= *text == '>' && text[-1] != '-' && depth != 0;
        if (depth == 0)
            return NULL;
        if (depth == 1 && strncmp(text, " as ", 4) == 0)
            return text + 4;
    }
    return NULL;
}

/* "alloc::vec::f", "<alloc::vec::Vec<T> as core::clone::Clone>::f", "<T as alloc::slice::hack::ConvertVec>::f"; a trait
 * of a program for a type of the library is the program's, as the library's traits are for its types. */
static bool is_rust_library(const char *text)
{
    const char *trait = text[0] == '<' ? trait_of(text) : NULL;
    const enum crate own = crate_at(text);
    if (!trait)
        return own == CRATE_LIBRARY;
    return own != CRATE_OTHER && crate_at(trait) == CRATE_LIBRARY;
}

bool loader_is_library(const char *symbol)
{
    if (is_cxx_library(symbol))
        return true;
    if (!is_mangled(symbol) || strlen(symbol) >= MANGLED_BYTES)
        return false;
    char *text = rust_demangle(symbol, DMGL_NO_OPTS);
    const bool library = text && is_rust_library(text);
    free(text);
    return library;
}
