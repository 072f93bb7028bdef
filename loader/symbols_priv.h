/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the files behind loader_symbols share: ranges of addresses, names kept once, the functions and variables of an
 * ELF file, separate debug files, modules.
 */
#ifndef C2_LOADER_SYMBOLS_PRIV_H
#define C2_LOADER_SYMBOLS_PRIV_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <time.h>

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
/* Where the first range above address starts, if that is below end; else end. */
uint64_t loader_ranges_next(const struct loader_ranges *ranges, uint64_t address, uint64_t end);
void loader_ranges_check(const struct loader_ranges *ranges);
void loader_ranges_release(struct loader_ranges *ranges);

/* ------------------------------------------------------------------ names, each kept once (names.c) */
struct loader_names;
enum c2_status loader_names_create(struct loader_names **out, struct c2_error *err);
void loader_names_destroy(struct loader_names *names);
/* The one copy of these bytes, terminated; NULL without memory. Lent until destroy. */
const char *loader_names_keep(struct loader_names *names, const char *text, size_t bytes);
size_t loader_names_count(const struct loader_names *names);

/* What a report shows for a symbol (demangle.c): without its version, demangled if it is of C++ or Rust. `shown`
 * remembers. */
const char *loader_names_shown(struct loader_names *names, struct c2_map *shown, const char *symbol);

/* ------------------------------------------------------------------ symbol tables (symtab.c) */
struct loader_symtab {
    Elf *elf;
    Elf_Data *data;
    Elf_Data *extended; /* section numbers that do not fit a symbol, or NULL */
    Elf_Data *versions; /* of .dynsym, or NULL */
    size_t strings;     /* section of the names */
    size_t count;
    bool dynamic;
};
struct loader_symbol {
    const char *name; /* in the Elf's memory; a version suffix may follow */
    uint64_t address, bytes;
    unsigned section, type; /* STT_... */
    bool local, hidden;     /* hidden: an old version of the name */
};
bool loader_symtab_whole(Elf *elf); /* whether .symtab is there */
/* Whether a symbol of this table has the name. */
bool loader_section_names(Elf *elf, int fd, Elf_Scn *section, const char *symbol);
/* Opens .symtab, or .dynsym when there is none. */
bool loader_symtab_open(struct loader_symtab *out, Elf *elf);
/* Entry i, if it is a named symbol that is defined in a section. */
bool loader_symtab_get(const struct loader_symtab *table, size_t i, struct loader_symbol *out);
bool loader_symtab_section(const struct loader_symtab *table, const struct loader_symbol *symbol, GElf_Shdr *header);
size_t loader_symbol_length(const char *name); /* without the version suffix */
/* A symbol as the value of a range, its name, and which of two aliases stays (for loader_ranges_seal). */
uint64_t loader_symbol_pack(const struct loader_symbol *symbol);
const char *loader_symbol_name(uint64_t packed);
int loader_symbol_prefer(uint64_t a, uint64_t b);

/* ------------------------------------------------------------------ functions of a symbol table (functions.c) */
struct loader_functions {
    struct loader_ranges sized;  /* value: loader_symbol_pack */
    struct loader_ranges labels; /* symbols without a size, extended; asked when no sized one holds the address */
};
/* Reads .symtab, or .dynsym when there is none. An Elf without both gives no functions. */
enum c2_status loader_functions_read(struct loader_functions *out, Elf *elf, struct c2_error *err);
/* The name (a version suffix may follow) and start of the function at address. */
bool loader_functions_find(const struct loader_functions *functions, uint64_t address, const char **name,
                           uint64_t *start);
void loader_functions_release(struct loader_functions *functions);

/* ------------------------------------------------------------------ variables, types (variables.c, types.c) */

/* The static variables, none overlapping, linked addresses; value: loader_symbol_pack. Needs nothing but the Elf. */
enum c2_status loader_variables_read(struct loader_ranges *out, Elf *elf, struct c2_error *err);

/* What stands before and after the name in a declaration; both NULL when that is unknown. */
struct loader_type {
    const char *before, *after;
    uint64_t die; /* of the type, by its offset; 0: unknown */
};
/* How far they have been sought. */
struct loader_type_search {
    Dwarf_CU *unit; /* the last one; NULL: none so far */
    bool within;    /* in functions, too, when it had been done without */
    bool done;
};
/* Fills in types of variables, as the DWARF (NULL: none) tells, until that of the wanted one is known, or none is to be
 * found any more. The texts are kept in names. */
enum c2_status loader_types_read(struct loader_type *types, Dwarf *dwarf, const struct loader_ranges *variables,
                                 uint32_t wanted, struct loader_names *names, struct loader_type_search *search,
                                 struct c2_error *err);

/* "double W[64]" of any variable into text; false: its type has no such form. */
bool loader_declaration(Dwarf_Die *variable, const char *name, bool tags, char *text, size_t bytes);

enum language { LANGUAGE_C, LANGUAGE_CXX, LANGUAGE_FORTRAN, LANGUAGE_RUST, LANGUAGE_OTHER };
enum language loader_unit_language(Dwarf_Die *unit);

/* ------------------------------------------------------------------ separate debug files (debugfile.c) */
#define LOADER_DEBUG_ROOT "/usr/lib/debug"
/* Opens the debug file that belongs to this Elf, whose file is at path: by build-id, else by .gnu_debuglink. root is
 * LOADER_DEBUG_ROOT except in tests. Returns a descriptor, or -1 if there is none that fits. packaged: it lies under
 * root by its build-id, where packages put theirs, which are replaced whole and never written in place. */
int loader_debugfile_open(Elf *elf, const char *path, const char *root, bool *packaged);
uint32_t loader_crc32(uint32_t crc, const void *bytes, size_t count); /* of .gnu_debuglink; start with 0 */

/* ------------------------------------------------------------------ compressed sections (unpack.c) */
struct loader_unpack;
/* Compressed debug sections of the Elf are unpacked from now on, by other threads; the Elf must not be asked for them
 * until they are. NULL: no memory, and nothing happens. */
struct loader_unpack *loader_unpack_begin(Elf *elf);
void loader_unpack_end(struct loader_unpack *unpack); /* they are, but for lists of places; once */
/* These, too, from now on, if the others are. Takes NULL. */
void loader_unpack_places(struct loader_unpack *unpack);
void loader_unpack_destroy(struct loader_unpack *unpack); /* takes NULL; behind all uses of the sections */

/* ------------------------------------------------------------------ modules (module.c) */

/* What a file was when it was opened. */
struct loader_stamp {
    uint64_t bytes;
    struct timespec modified, changed;
};

/* One mapped file, opened at the first question about it. */
struct loader_module {
    struct loader_module *next;
    char *path;
    const char *object; /* basename, within path */
    uint64_t inode, device;
    bool is_elf, asked; /* asked: by the program that runs */
    struct loader_stamp stamp, debug_stamp;
    struct loader_elf elf;
    int fd, debug_fd;
    Elf *file, *debug;
    struct loader_unpack *unpack_file, *unpack_debug; /* of these; NULL before a question */
    Elf *table;                                       /* the one of both whose symbols are read */
    Dwarf *dwarf;                                     /* of file or of debug; loader_module_dwarf() opens it */
    bool debug_sought, dwarf_sought, read_variables, indexed_units; /* what is made at the first question */
    struct loader_functions functions;
    struct loader_ranges variables;
    struct loader_type *types; /* [variable]; NULL before a question */
    struct loader_type_search type_search;
    struct loader_ranges units; /* value: offset of the compilation unit's DIE */
    struct c2_map *indexed;     /* frames.c: from the offset of a unit to its loader_unit; NULL before a question */
    struct loader_unit *newest; /* of those */
    struct c2_map *layout_of;   /* locals.c: from the entry of a function to its layout; NULL before a question */
    Dwarf_CFI *cfi;             /* of .eh_frame; NULL: none, or not yet sought */
    bool cfi_sought;
    bool own_dwarf_sought, own_dwarf; /* locals.c: `file` itself has debug information */
};
/* Fails only without memory; a file that has gone or changed is a module without names. */
enum c2_status loader_module_open(struct loader_module **out, const char *path, uint64_t inode, uint64_t device,
                                  struct c2_error *err);
void loader_module_close(struct loader_module *module);
/* Whether its path still leads to the file that was opened, and neither that nor its debug file is another by now. */
bool loader_module_lasts(const struct loader_module *module);
void loader_module_foresee(struct loader_module *module); /* loader_symbols_foresee of it */
Dwarf *loader_module_dwarf(struct loader_module *module); /* NULL: there is none */
void loader_module_places(struct loader_module *module);  /* before lists of places are asked for, of its DWARF */
/* The range of a compilation unit that holds the address; NULL: none, or no memory. */
const struct loader_range *loader_module_unit(struct loader_module *module, uint64_t address);
/* Read what is not there yet; types are those of the variables read before. */
enum c2_status loader_module_variables(struct loader_module *module, struct c2_error *err);
/* So that `types` has that of a variable, if any is known; NULL: the module has no symbols. */
enum c2_status loader_module_type(struct loader_module *module, uint32_t variable, struct loader_names *names,
                                  struct c2_error *err);
struct loader_line {
    const char *file; /* lent until close */
    int line, column; /* column 0: unknown */
};
/* The line of the instruction at this linked address; false if unknown. */
bool loader_module_line(struct loader_module *module, uint64_t address, struct loader_line *out);
/* Sets *found where code of the file begins on this line of the source (lines.c); answer: as loader_line_entries. */
enum c2_status loader_module_has_line(bool *found, struct loader_module *module, const char *file, int line,
                                      struct loader_line_answer *answer, struct c2_error *err);
/* Bytes of the file at this linked address; returns how many there are. */
size_t loader_module_code(const struct loader_module *module, uint64_t address, uint8_t *out, size_t bytes);
void loader_capstone_close(struct loader_symbols *symbols);
bool loader_die_next(Dwarf_Die *die); /* to the next sibling; in damaged data never backwards */
/* What DW_AT_type refers to; out may be die. False: nothing, as void. */
bool loader_die_type(Dwarf_Die *die, Dwarf_Die *out);
bool loader_die_address(Dwarf_Die *die, Dwarf_Addr *out); /* types.c; false: it has no one fixed address */
/* Where the variables of a common block begin and end; false: it does not say where each is. types.c */
bool loader_common_extent(Dwarf_Die *block, Dwarf_Addr *start, Dwarf_Addr *end);
/* The ranges of all units (index.c); value: offset of the unit's DIE. dwarf may be NULL. by_list: by .debug_aranges,
 * where a unit stands there; else by their own entries alone, which gives the same. */
enum c2_status loader_index_read(struct loader_ranges *out, Dwarf *dwarf, const struct loader_elf *elf, bool by_list);
/* Adds the ranges of code of this DIE. What the linker has thrown away still has ranges, at 0 or nowhere: left out. */
enum c2_status loader_unit_ranges(struct loader_ranges *ranges, const struct loader_elf *elf, Dwarf_Die *die,
                                  uint64_t value, struct c2_error *err);

/* ------------------------------------------------------------------ functions of units (frames.c) */
/* As loader_frames_of, at a linked address. */
size_t loader_module_frames(struct loader_symbols *symbols, struct loader_module *module, uint64_t address,
                            struct loader_frame *frames, size_t room);
/* The function that holds the code at a linked address, and the blocks and inlined functions in it that hold the
 * address, from the outside in. 0: no debug information. */
#define LOADER_SCOPES 64u
size_t loader_module_scopes(struct loader_module *module, uint64_t address, Dwarf_Die scopes[LOADER_SCOPES]);
void loader_units_release(struct loader_module *module);
void loader_units_check(const struct loader_module *module);

/* ------------------------------------------------------------------ call frame information (unwind.c) */
/* Of one address; registers by their numbers in instructions. */
struct loader_cfi {
    uint8_t base;
    bool indirect; /* CFA = *(base + offset) + further; else base + offset + further */
    int64_t offset, further;
    uint16_t saved; /* bit i: register i lies at CFA + saved_at[i] */
    int64_t saved_at[16];
};
uint8_t loader_register(uint64_t number); /* of DWARF, to that of instructions; 16: another one */
/* At this linked address; false: there is none, or none of these forms. */
bool loader_module_cfi(struct loader_module *module, uint64_t address, struct loader_cfi *out);

/* ------------------------------------------------------------------ places of variables (locations.c) */
enum loader_location_kind { LOADER_IN_REGISTER, LOADER_FROM_REGISTER, LOADER_FROM_CFA, LOADER_FIXED };
struct loader_location {
    enum loader_location_kind kind;
    uint8_t base;   /* register, by its number in instructions; else 0 */
    int64_t offset; /* from the base or the CFA; FIXED: the linked address; else 0 */
};
/* While the instruction at this linked address is executed. function: around it, for the frame base; may be NULL, as
 * may be the call frame information of the address. False: nowhere, or in no such form. */
bool loader_location_at(struct loader_location *out, Dwarf_Die *variable, Dwarf_Die *function, uint64_t address,
                        const struct loader_cfi *cfi);
/* One operation of a location, as above. */
bool loader_location_of(struct loader_location *out, Dwarf_Attribute *attribute, const Dwarf_Op *op,
                        Dwarf_Die *function, uint64_t address);
/* From a register to the CFA, where that is one. */
void loader_location_settle(struct loader_location *location, const struct loader_cfi *cfi);

/* Of a variable, in this module (structs.c). */
struct loader_type_id loader_type_of_die(struct loader_module *module, Dwarf_Die *variable);
void loader_structs_release(struct loader_symbols *symbols);
/* What a pointer points to, or something of the library holds (arrays.c); false: it does not. */
bool loader_type_pointed(Dwarf_Die *die);
void loader_arrays_release(struct loader_symbols *symbols);

struct loader_layout;
/* The places in this code where RSP moves by what has been computed, ascending; none if all it moves by is fixed. Each
 * has 0 for its local. (alloca.c) */
enum c2_status loader_changes_read(struct loader_change **out, uint32_t *count, const struct loader_module *module,
                                   uint64_t entry, uint64_t bytes, struct c2_error *err);
void loader_layouts_retire(struct loader_symbols *symbols); /* the program that asked has ended */
void loader_layouts_drop(struct loader_symbols *symbols, const struct loader_module *module); /* behind that */
void loader_layouts_release(struct loader_symbols *symbols);

/* ------------------------------------------------------------------ what results go to (receiver.c, assigned.c) */
struct loader_received {
    const char *name; /* NULL: unknown */
    bool kept;        /* it is no local variable */
    uint32_t depth;   /* of the function it belongs to, in those that are inlined into others; 0: the outermost */
    struct loader_type_id type;         /* of the variable; unknown: */
    struct loader_variable_id variable; /* it may be a static one */
    const char *declared; /* the one object of a class declared on the line of the call; NULL: none, or several */
    struct loader_type_id declared_type;
    bool library; /* the call was inlined, and by the standard library */
};
/* What the result of the one call of a function of these names is assigned to in the statement on this line: "p",
 * "s->data[i]"; NULL: the file cannot be read, or does not say. Kept in names. */
const char *loader_assigned(struct loader_names *names, const char *file, int line,
                            const struct loader_callees *callees);

/* ------------------------------------------------------------------ the whole (symbols.c) */
struct loader_symbols {
    const struct mmu_areas *areas;
    struct loader_names *names;
    struct c2_map *shown;          /* mangled name to the one shown */
    struct loader_module *modules; /* the last one asked first */
    struct c2_map *rule_of;        /* unwind.c: from a pc to its rule; NULL before a question */
    struct loader_cfi *rules;
    uint32_t rule_count, rule_room;
    struct c2_map *receiver_of; /* receiver.c: from a site to its number; NULL before a question */
    struct loader_received *receivers;
    uint32_t receiver_count, receiver_room;
    struct loader_received nobody;      /* the answer without memory */
    struct loader_structs *structs;     /* structs.c */
    struct loader_arrays *arrays;       /* arrays.c */
    struct loader_layout **layouts;     /* locals.c: by their numbers in this program */
    struct loader_layout *every_layout; /* the one read last */
    uint32_t layout_count, layout_room;
    size_t capstone;        /* loader_capstone; 0 before a question */
    struct loader_jit *jit; /* jit.c; NULL: there are no such names */
};
/* Of code that lies in no file; false: it has no name. */
struct loader_jit_place {
    const char *object, *function;
    uint64_t start;          /* of the function */
    const char *file, *base; /* NULL: not known */
    int line;
};
bool loader_jit_find(const struct loader_symbols *symbols, struct guest_va pc, struct loader_jit_place *out);
void loader_jit_release(struct loader_jit *jit); /* takes NULL */
/* The module of a file mapping; NULL without memory, or if the area is none. */
struct loader_module *loader_symbols_module(struct loader_symbols *symbols, const struct mmu_area *area);
/* Where an address lies: false if in no file mapping. */
struct loader_spot {
    struct loader_module *module;
    uint64_t address; /* linked, or if that is unknown the offset in the file */
    bool linked;
};
bool loader_spot_of(struct loader_symbols *symbols, struct guest_va va, struct loader_spot *out);
/* The module whose code is mapped at `at`, and what was added to its linked addresses; NULL: none. */
enum c2_status loader_code_at(struct loader_symbols *symbols, struct guest_va at, struct loader_module **module,
                              uint64_t *bias, struct c2_error *err);
bool loader_module_shown(const struct loader_module *module, const struct mmu_area *area); /* area maps its file */

#endif
