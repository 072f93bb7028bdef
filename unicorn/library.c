/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * library: Unicorn is loaded when the first engine of it is made. What the program replaces of the library (symbols.h)
 * stands among its exported symbols, which come first.
 */
#include "unicorn/library.h"

struct unicorn_library unicorn_library;

enum c2_status unicorn_library_load(struct c2_error *err)
{
#define FUNCTION(name) {"uc_" #name, (void **)&unicorn_library.name},
    static const struct c2_library_function functions[] = {UNICORN_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    static const struct c2_library library = {"the engine's library", C2_UNICORN_SONAME, &unicorn_library.handle,
                                              functions, sizeof functions / sizeof *functions};
    return c2_library_load(&library, err);
}
