/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the files behind loader_symbols share: ranges of addresses, names kept once, the functions of an ELF file,
 * separate debug files, modules.
 */
#ifndef C2_LOADER_SYMBOLS_PRIV_H
#define C2_LOADER_SYMBOLS_PRIV_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "loader/loader_priv.h"

/* ------------------------------------------------------------------ ranges (ranges.c) */

/* [start, end) holds value. */
struct loader_range {
    uint64_t start, end, value;
};
/* A set of ranges that may nest and overlap. Add them all, seal, then ask. */
struct loader_ranges {
    size_t count, room;
    struct loader_range *items;
    uint64_t *reach; /* sealed: reach[i] = the largest end of items 0..i */
};
enum c2_status loader_ranges_add(struct loader_ranges *ranges, struct loader_range range, struct c2_error *err);
/* Sorts; of several ranges that are the same, the one that `prefer` puts first stays. prefer(a, b) < 0: a first. */
enum c2_status loader_ranges_seal(struct loader_ranges *ranges, int (*prefer)(uint64_t a, uint64_t b),
                                  struct c2_error *err);
/* The innermost range that holds address: the latest start, then the earliest end. NULL if none. */
const struct loader_range *loader_ranges_find(const struct loader_ranges *ranges, uint64_t address);
void loader_ranges_check(const struct loader_ranges *ranges);
void loader_ranges_release(struct loader_ranges *ranges);

/* ------------------------------------------------------------------ names, each kept once (names.c) */
struct loader_names;
enum c2_status loader_names_create(struct loader_names **out, struct c2_error *err);
void loader_names_destroy(struct loader_names *names);
/* The one copy of these bytes, terminated; NULL without memory. Lent until destroy. */
const char *loader_names_keep(struct loader_names *names, const char *text, size_t bytes);
size_t loader_names_count(const struct loader_names *names);

/* ------------------------------------------------------------------ functions of a symbol table (functions.c) */
struct loader_functions {
    struct loader_ranges sized;  /* value: address of the name, in the Elf's memory */
    struct loader_ranges labels; /* symbols without a size, extended; asked when no sized one holds the address */
};
/* Reads .symtab, or .dynsym when there is none. An Elf without both gives no functions. */
enum c2_status loader_functions_read(struct loader_functions *out, Elf *elf, struct c2_error *err);
bool loader_functions_have_table(Elf *elf); /* whether .symtab is there */
/* The name (a version suffix may follow) and start of the function at address. */
bool loader_functions_find(const struct loader_functions *functions, uint64_t address, const char **name,
                           uint64_t *start);
void loader_functions_release(struct loader_functions *functions);

/* ------------------------------------------------------------------ separate debug files (debugfile.c) */
#define LOADER_DEBUG_ROOT "/usr/lib/debug"
/* Opens the debug file that belongs to this Elf, whose file is at path: by build-id, else by .gnu_debuglink. root is
 * LOADER_DEBUG_ROOT except in tests. Returns a descriptor, or -1 if there is none that fits. */
int loader_debugfile_open(Elf *elf, const char *path, const char *root);
uint32_t loader_crc32(uint32_t crc, const void *bytes, size_t count); /* of .gnu_debuglink; start with 0 */

/* ------------------------------------------------------------------ modules (module.c) */

/* One mapped file, opened at the first question about it. */
struct loader_module {
    struct loader_module *next;
    char *path;
    const char *object; /* basename, within path */
    uint64_t inode, device;
    bool is_elf;
    struct loader_elf elf;
    int fd, debug_fd;
    Elf *file, *debug;
    Dwarf *dwarf; /* of file or of debug */
    struct loader_functions functions;
    struct loader_ranges units; /* value: offset of the compilation unit's DIE */
};
/* Fails only without memory; a file that has gone or changed is a module without names. */
enum c2_status loader_module_open(struct loader_module **out, const char *path, uint64_t inode, uint64_t device,
                                  struct c2_error *err);
void loader_module_close(struct loader_module *module);
/* The line of the instruction at this linked address; false if unknown. *file is lent until close. */
bool loader_module_line(struct loader_module *module, uint64_t address, const char **file, int *line);

#endif
