/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rows of table.h as data, and the names of all calls.
 */
#include "syscalls/kinds_priv.h"

/* A number that stands twice in the table is an error of the compiler: an initialiser that overrides another. */
#pragma GCC diagnostic error "-Woverride-init"
static const struct call_row rows[CALL_TABLE_END] = {
#define SYSCALL(number, call, function, kind, text, ...) \
    [number] = {.name = #call, .handler = function, .result = CALL_##kind, .note = text, .arg = {__VA_ARGS__}},
#include "syscalls/table.h"
};

static const char *const names_without_row[CALL_TABLE_END] = {
#define NAME(number, name) [number] = #name,
#include "syscalls/names.h"
};

const struct call_row *call_row_of(uint64_t number)
{
    return number < CALL_TABLE_END && rows[number].name ? &rows[number] : NULL;
}

const char *syscalls_name(uint64_t nr)
{
    if (nr >= CALL_TABLE_END)
        return NULL;
    return rows[nr].name ? rows[nr].name : names_without_row[nr];
}
