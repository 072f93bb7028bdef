/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A place as text: as much as is known, in one phrase that fits a column of a report.
 */
#include "loader/loader.h"

#include <string.h>

typedef unsigned long long ull;

static const char *place_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A function's name that is too long loses its end, not the file and the line behind it. */
static void with_line(char *buffer, size_t bytes, const struct loader_place *place)
{
    const size_t behind = (size_t)snprintf(NULL, 0, " (%s:%d)", place_base_name(place->file), place->line);
    const size_t room = behind < bytes ? bytes - 1 - behind : bytes;
    snprintf(buffer, bytes, "%.*s (%s:%d)", (int)room, place->function, place_base_name(place->file), place->line);
}

static void with_function(char *buffer, size_t bytes, const struct loader_place *place)
{
    if (place->file)
        with_line(buffer, bytes, place);
    else if (place->offset)
        snprintf(buffer, bytes, "%s+0x%llx in %s", place->function, (ull)place->offset, place->object);
    else
        snprintf(buffer, bytes, "%s in %s", place->function, place->object);
}

char *loader_place_text(char *buffer, size_t bytes, struct guest_va pc, const struct loader_place *place)
{
    if (place->function)
        with_function(buffer, bytes, place);
    else if (place->object && place->file)
        snprintf(buffer, bytes, "0x%llx in %s (%s:%d)", (ull)place->offset, place->object, place_base_name(place->file),
                 place->line);
    else if (place->object)
        snprintf(buffer, bytes, "0x%llx in %s", (ull)place->offset, place->object);
    else
        snprintf(buffer, bytes, "0x%llx", (ull)pc.v);
    return buffer;
}

static bool place_begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

bool loader_is_system_code(struct loader_symbols *symbols, struct guest_va pc)
{
    const char *path;
    uint64_t address;
    return loader_linked_of(symbols, pc, &path, &address) &&
           (place_begins(path, "/usr/lib/") || place_begins(path, "/lib"));
}

bool loader_is_system_file(const char *file)
{
    static const char *const starts[] = {"/usr/include/", "/usr/lib/",      "/usr/src/",   "/rustc/",
                                         "library/core/", "library/alloc/", "library/std/"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (place_begins(file, starts[i]))
            return true;
    return strstr(file, "/rustlib/src/rust/library/");
}
