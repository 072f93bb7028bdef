/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * gate: whether the library is the one whose functions this room takes the place of (symbols.h). Where it is not, hooks
 * record: a translation of another version may be made otherwise. What an engine needs beside that is tried when it is
 * created (state.c).
 */
#include <dlfcn.h>
#include <string.h>

#include "unicorn/symbols.h"
#include "unicorn/unicorn_priv.h"

#define NAME(symbol) #symbol "_x86_64",
static const char *const symbols[] = {UNICORN_REPLACED(NAME) UNICORN_CALLED(NAME)};

static const char *withheld;

void unicorn_gate_withhold(const char *symbol) { withheld = symbol; }

void *unicorn_find(const char *name)
{
    C2_ASSERT(unicorn_library.handle);
    return withheld && strcmp(withheld, name) == 0 ? NULL : dlsym(unicorn_library.handle, name);
}

static const char *gate_look(void)
{
    if (uc_version(NULL, NULL) >> 8 != 0x020001)
        return "version 2.0.1";
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (!unicorn_find(symbols[i]))
            return symbols[i];
    return NULL;
}

const char *unicorn_gate(void)
{
    static const char *lacks;
    static bool looked;
    if (!looked || withheld)
        lacks = gate_look();
    looked = !withheld;
    return lacks;
}
