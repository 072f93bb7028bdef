/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What lies in the frame of a function: its arrays.
 *
 * Model
 *   Of a function, found at its entry, is kept
 *       its prologue: the instructions that compute RSP and other registers from RSP, straight on up to the first call,
 *       jump without a condition, or release of stack, so that these are known for any RSP at the entry;
 *       its arrays: variables of LOCAL_BYTES and more that debug information of the file itself says are in the frame:
 *       at an offset from the canonical frame address, or from a register that the prologue computes. Variables of
 *       different scopes that share their place are one: "T, U".
 *       where it moves RSP by what it has computed (alloca.c), and what that makes: the variable-length array that
 *       debug information has declared on the line of the instruction, else what the source line assigns alloca to.
 *   Thread-local variables of the program lie at fixed offsets below the thread pointer (variant II), as its symbols
 *   say. Without debug information of its own, or without an array in it, a frame of FRAME_BYTES and more is one
 *   object.
 * Counting
 *   A function is looked at once, when it is first entered; debug information is read unit by unit. That of separate
 *   files is not opened for this: it takes longer than many a run.
 * Invariants
 *   Extents of one frame do not overlap. What cannot be computed is left out.
 * Not modelled
 *   Arrays that a compiler has taken apart; what is passed on the stack.
 * Source
 *   DWARF 5, 2.6, 3.4 and 4.1.
 */
#include <Zydis/Zydis.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "loader/symbols_priv.h"

#define LOCAL_BYTES 256u
#define FRAME_BYTES 4096u
#define STEPS 64u
#define SCOPE_DEPTH 64u

enum { RSP = 4 };

/* ------------------------------------------------------------------ the prologue */

enum step_kind { STEP_SET, STEP_ALIGN, STEP_LOSE };

/* SET: to = from + value; ALIGN: to &= value; LOSE: nothing is known of it any more. */
struct step {
    enum step_kind kind;
    uint8_t to, from;
    int64_t value;
};

struct place {
    bool from_cfa;
    uint8_t base; /* else from this register */
    int64_t offset;
    uint64_t bytes;
    bool moves; /* it lies where RSP moves to */
    struct loader_local local;
};

struct loader_layout {
    struct step steps[STEPS];
    size_t step_count;
    struct place *places; /* ascending by base and offset */
    uint32_t place_count, place_room;
    struct loader_change *changes;
    uint32_t change_count;
    bool whole;                 /* the frame itself is the object: places[0].local has its name */
    struct loader_layout *next; /* read before this one */
    uint64_t number;            /* in the program that runs; LOADER_NO_LAYOUT: it has not been asked for there */
    const struct loader_module *module; /* which finds it again, by its function; NULL: none does */
};

struct prologue_insn {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

static void locals_add_step(struct loader_layout *layout, enum step_kind kind, unsigned to, unsigned from,
                            int64_t value)
{
    if (layout->step_count < STEPS)
        layout->steps[layout->step_count++] = (struct step){kind, (uint8_t)to, (uint8_t)from, value};
}

static bool prologue_is_register(const ZydisDecodedOperand *op) { return op->type == ZYDIS_OPERAND_TYPE_REGISTER; }

static unsigned number_of_operand(const ZydisDecodedOperand *op)
{
    return prologue_is_register(op) ? loader_zydis_register(op->reg.value, false) : 16;
}

static void lose_written(struct loader_layout *layout, const struct prologue_insn *insn)
{
    for (uint8_t i = 0; i < insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *op = &insn->op[i];
        const bool written = prologue_is_register(op) && (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
        if (written && loader_zydis_register(op->reg.value, true) < 16)
            locals_add_step(layout, STEP_LOSE, loader_zydis_register(op->reg.value, true), 0, 0);
    }
}

/* False: the prologue ends before this instruction. */
static bool add_arithmetic(struct loader_layout *layout, const struct prologue_insn *insn)
{
    const ZydisDecodedOperand *op = insn->op;
    const ZydisMnemonic mnemonic = insn->insn.mnemonic;
    const unsigned to = number_of_operand(&op[0]);
    if (to >= 16 || op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        lose_written(layout, insn);
        return !(mnemonic == ZYDIS_MNEMONIC_SUB && to == RSP); /* an array of a size that the program decides */
    }
    const int64_t value = op[1].imm.value.s;
    if (mnemonic == ZYDIS_MNEMONIC_AND)
        locals_add_step(layout, STEP_ALIGN, to, to, value);
    else if (to == RSP && (mnemonic == ZYDIS_MNEMONIC_ADD) == (value > 0))
        return false; /* the frame is released */
    else
        locals_add_step(layout, STEP_SET, to, to, mnemonic == ZYDIS_MNEMONIC_ADD ? value : -value);
    return true;
}

static void locals_add_move(struct loader_layout *layout, const struct prologue_insn *insn)
{
    const ZydisDecodedOperand *op = insn->op;
    const bool lea = insn->insn.mnemonic == ZYDIS_MNEMONIC_LEA;
    const unsigned to = number_of_operand(&op[0]);
    const unsigned from = !lea                                     ? number_of_operand(&op[1])
                          : op[1].mem.index == ZYDIS_REGISTER_NONE ? loader_zydis_register(op[1].mem.base, false)
                                                                   : 16;
    if (to < 16 && from < 16)
        locals_add_step(layout, STEP_SET, to, from, lea ? op[1].mem.disp.value : 0);
    else
        lose_written(layout, insn);
}

/* The loop that touches a large frame page by page ends where RSP is the register that it is compared with. */
static void add_compare(struct loader_layout *layout, const struct prologue_insn *insn)
{
    const unsigned a = number_of_operand(&insn->op[0]), b = number_of_operand(&insn->op[1]);
    if (a < 16 && b < 16 && (a == RSP) != (b == RSP))
        locals_add_step(layout, STEP_SET, RSP, a == RSP ? b : a, 0);
}

static bool locals_add_insn(struct loader_layout *layout, const struct prologue_insn *insn)
{
    switch (insn->insn.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
        locals_add_step(layout, STEP_SET, RSP, RSP, -8);
        return true;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_AND:
        return add_arithmetic(layout, insn);
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_LEA:
        locals_add_move(layout, insn);
        return true;
    case ZYDIS_MNEMONIC_CMP:
        add_compare(layout, insn);
        return true;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_LEAVE:
    case ZYDIS_MNEMONIC_JMP:
        return false;
    default:
        break;
    }
    if (insn->insn.meta.category == ZYDIS_CATEGORY_CALL || insn->insn.meta.category == ZYDIS_CATEGORY_RET)
        return false;
    lose_written(layout, insn);
    return true;
}

static void read_prologue(struct loader_layout *layout, const struct loader_module *module, uint64_t address)
{
    uint8_t code[STEPS * LOADER_LONGEST_INSN];
    const size_t bytes = loader_module_code(module, address, code, sizeof code);
    struct prologue_insn insn;
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t at = 0, i = 0; at < bytes && i < STEPS; at += insn.insn.length, i++)
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, bytes - at, &insn.insn, insn.op)) ||
            !locals_add_insn(layout, &insn))
            break;
}

/* The registers behind the prologue; returns which are known, by bit. */
static uint32_t run_prologue(const struct loader_layout *layout, uint64_t rsp, uint64_t registers[16])
{
    uint32_t known = 1u << RSP;
    registers[RSP] = rsp;
    for (size_t i = 0; i < layout->step_count; i++) {
        const struct step *step = &layout->steps[i];
        const bool sure = step->kind != STEP_LOSE && (known >> step->from & 1);
        known = (known & ~(1u << step->to)) | (uint32_t)sure << step->to;
        if (sure && step->kind == STEP_SET)
            registers[step->to] = registers[step->from] + (uint64_t)step->value;
        else if (sure)
            registers[step->to] &= (uint64_t)step->value;
    }
    return known;
}

/* ------------------------------------------------------------------ arrays */

struct reader {
    struct loader_symbols *symbols;
    struct loader_module *module;
    struct loader_layout *layout;
    Dwarf_Die function;
    const char *name; /* of the function */
    bool tags, debugged;
};

/* Where the variable is in the frame, whenever it is; false: nowhere, or not always there. */
static bool locals_place_of(const struct reader *reader, Dwarf_Die *variable, struct place *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr base, start = 0, end;
    Dwarf_Op *ops;
    size_t count;
    ptrdiff_t offset = 0;
    bool found = false;
    Dwarf_Die function = reader->function;
    loader_module_places(reader->module);
    if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute))
        return false;
    while ((offset = dwarf_getlocations(&attribute, offset, &base, &start, &end, &ops, &count)) > 0) {
        struct loader_location location;
        if (count != 1 || !loader_location_of(&location, &attribute, &ops[0], &function, start) ||
            (location.kind != LOADER_FROM_CFA && location.kind != LOADER_FROM_REGISTER))
            continue;
        const bool from_cfa = location.kind == LOADER_FROM_CFA;
        if (found && (out->from_cfa != from_cfa || out->base != location.base || out->offset != location.offset))
            return false;
        out->from_cfa = from_cfa;
        out->base = location.base;
        out->offset = location.offset;
        found = true;
    }
    return found;
}

static bool locals_bytes_of(Dwarf_Die *variable, uint64_t *bytes)
{
    Dwarf_Die type;
    Dwarf_Word size;
    if (!loader_die_type(variable, &type) || dwarf_aggregate_size(&type, &size) != 0)
        return false;
    *bytes = size;
    return size >= LOCAL_BYTES;
}

static const char *locals_keep(const struct reader *reader, const char *text)
{
    return text ? loader_names_keep(reader->symbols->names, text, strlen(text)) : NULL;
}

/* dwarf_decl_file() knows no file of number 0, which is one since DWARF 5. */
static const char *declaring_file(Dwarf_Die *variable)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    Dwarf_Files *files;
    Dwarf_Word number;
    size_t count;
    if (dwarf_formudata(dwarf_attr_integrate(variable, DW_AT_decl_file, &attribute), &number) != 0 ||
        !dwarf_diecu(variable, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static void locals_describe(const struct reader *reader, Dwarf_Die *variable, struct loader_local *out)
{
    char text[1024];
    int line = 0;
    out->name = locals_keep(reader, dwarf_diename(variable));
    out->function = reader->name;
    out->file = locals_keep(reader, declaring_file(variable));
    out->line = out->file && dwarf_decl_line(variable, &line) == 0 ? line : 0;
    if (out->name && loader_declaration(variable, out->name, reader->tags, text, sizeof text))
        out->declaration = locals_keep(reader, text);
    out->type = loader_type_of_die(reader->module, variable);
}

static enum c2_status locals_add_local(const struct reader *reader, Dwarf_Die *variable, struct c2_error *err)
{
    struct loader_layout *layout = reader->layout;
    struct place place = {.from_cfa = false};
    if (!locals_bytes_of(variable, &place.bytes) || !locals_place_of(reader, variable, &place))
        return C2_OK;
    if (!c2_grow((void **)&layout->places, &layout->place_room, layout->place_count, sizeof *layout->places))
        return c2_fail_memory(err, "variables on the stack");
    locals_describe(reader, variable, &place.local);
    place.local.bytes = place.bytes;
    if (place.local.name)
        layout->places[layout->place_count++] = place;
    return C2_OK;
}

static bool locals_is_scope(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block;
}

static enum c2_status locals_walk(const struct reader *reader, Dwarf_Die *scope, unsigned depth, struct c2_error *err)
{
    Dwarf_Die die;
    enum c2_status status = C2_OK;
    for (bool more = depth < SCOPE_DEPTH && dwarf_child(scope, &die) == 0; more && status == C2_OK;
         more = loader_die_next(&die)) {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            status = locals_add_local(reader, &die, err);
        else if (locals_is_scope(tag))
            status = locals_walk(reader, &die, depth + 1, err);
    }
    return status;
}

static int locals_by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->from_cfa != y->from_cfa || x->base != y->base)
        return x->from_cfa != y->from_cfa ? (x->from_cfa ? -1 : 1) : x->base < y->base ? -1 : 1;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* "T, U": b shares the place of a. Two symbols of one thread-local variable are one. */
static void locals_join(struct loader_symbols *symbols, struct place *a, const struct place *b)
{
    char text[256];
    if (!a->local.function && a->offset == b->offset && a->bytes == b->bytes) {
        if (strspn(b->local.name, "_") < strspn(a->local.name, "_"))
            a->local = b->local;
        return;
    }
    const int64_t end = b->offset + (int64_t)b->bytes;
    if (snprintf(text, sizeof text, "%s, %s", a->local.name, b->local.name) < (int)sizeof text)
        a->local.name = loader_names_keep(symbols->names, text, strlen(text));
    a->local.declaration = NULL;
    a->local.type = (struct loader_type_id){.module = NULL};
    if (end > a->offset + (int64_t)a->bytes)
        a->bytes = a->local.bytes = (uint64_t)(end - a->offset);
}

static void locals_join_shared(struct loader_symbols *symbols, struct loader_layout *layout)
{
    uint32_t kept = 0;
    if (layout->place_count != 0)
        qsort(layout->places, layout->place_count, sizeof *layout->places, locals_by_place);
    for (uint32_t i = 0; i < layout->place_count; i++) {
        struct place *last = kept == 0 ? NULL : &layout->places[kept - 1], *place = &layout->places[i];
        if (last && last->from_cfa == place->from_cfa && last->base == place->base &&
            place->offset < last->offset + (int64_t)last->bytes)
            locals_join(symbols, last, place);
        else
            layout->places[kept++] = *place;
    }
    layout->place_count = kept;
}

/* ------------------------------------------------------------------ alloca, variable-length arrays */

static bool is_variable_length(Dwarf_Die *variable)
{
    Dwarf_Die type, plain;
    Dwarf_Word bytes;
    return dwarf_tag(variable) == DW_TAG_variable && loader_die_type(variable, &type) &&
           dwarf_peel_type(&type, &plain) == 0 && dwarf_tag(&plain) == DW_TAG_array_type &&
           dwarf_aggregate_size(&plain, &bytes) != 0;
}

struct declared {
    Dwarf_Die last;
    char names[256]; /* "U, V"; one that is inlined several times has one name */
    unsigned count;
};

static void add_declared(struct declared *found, Dwarf_Die *variable)
{
    const size_t used = strlen(found->names);
    const char *name = dwarf_diename(variable), *last = found->count ? dwarf_diename(&found->last) : NULL;
    if (!name || (last && strcmp(name, last) == 0))
        return;
    snprintf(found->names + used, sizeof found->names - used, "%s%s", used ? ", " : "", name);
    found->last = *variable;
    found->count++;
}

/* The variable-length arrays declared on the line. */
static void declared_on(Dwarf_Die *scope, const struct loader_line *line, unsigned depth, struct declared *found)
{
    Dwarf_Die die;
    for (bool more = depth < SCOPE_DEPTH && dwarf_child(scope, &die) == 0; more; more = loader_die_next(&die)) {
        int declared;
        const char *file;
        if (locals_is_scope(dwarf_tag(&die)))
            declared_on(&die, line, depth + 1, found);
        else if (is_variable_length(&die) && dwarf_decl_line(&die, &declared) == 0 && declared == line->line &&
                 (file = declaring_file(&die)) && strcmp(file, line->file) == 0)
            add_declared(found, &die);
    }
}

static void name_change(const struct reader *reader, const struct loader_line *line, struct loader_local *out)
{
    static const struct loader_callees callees = {{"alloca", "__builtin_alloca"}, 2};
    Dwarf_Die function = reader->function;
    struct declared arrays = {.count = 0};
    declared_on(&function, line, 0, &arrays);
    if (arrays.count == 1) {
        locals_describe(reader, &arrays.last, out);
        return;
    }
    out->name = arrays.count ? locals_keep(reader, arrays.names)
                             : loader_assigned(reader->symbols->names, line->file, line->line, &callees);
    out->file = locals_keep(reader, line->file);
    out->line = line->line;
}

static bool is_same_line(const struct loader_local *a, const struct loader_line *line)
{
    return a->file && line->file && a->line == line->line && strcmp(a->file, line->file) == 0;
}

/* What is made on the line of this instruction. */
static enum c2_status local_of(const struct reader *reader, uint64_t address, uint32_t *local, struct c2_error *err)
{
    struct loader_layout *layout = reader->layout;
    struct loader_line line = {.file = NULL};
    const bool known = reader->debugged && loader_module_line(reader->module, address, &line);
    for (*local = 0; known && *local < layout->place_count; ++*local)
        if (layout->places[*local].moves && is_same_line(&layout->places[*local].local, &line))
            return C2_OK;
    *local = layout->place_count;
    if (!c2_grow((void **)&layout->places, &layout->place_room, layout->place_count, sizeof *layout->places))
        return c2_fail_memory(err, "variables on the stack");
    struct place *place = &layout->places[layout->place_count++];
    *place = (struct place){.moves = true, .local.function = reader->name};
    if (known)
        name_change(reader, &line, &place->local);
    if (!place->local.name)
        place->local.name = locals_keep(reader, "alloca");
    return C2_OK;
}

static enum c2_status read_changes(const struct reader *reader, uint64_t entry, struct c2_error *err)
{
    struct loader_layout *layout = reader->layout;
    const struct loader_range *range = loader_ranges_find(&reader->module->functions.sized, entry);
    if (!range)
        return C2_OK;
    enum c2_status status = loader_changes_read(&layout->changes, &layout->change_count, reader->module, entry,
                                                range->end - entry, err);
    for (uint32_t i = 1; i < layout->change_count && status == C2_OK; i++)
        if (layout->changes[i].behind) /* the instruction itself is the place before it */
            status = local_of(reader, entry + layout->changes[i - 1].offset, &layout->changes[i].local, err);
    return status;
}

/* ------------------------------------------------------------------ a function */

static bool find_own_dwarf(const struct loader_module *module)
{
    size_t names;
    GElf_Shdr header;
    Elf_Scn *section = NULL;
    if (!module->file || elf_getshdrstrndx(module->file, &names) != 0)
        return false;
    while ((section = elf_nextscn(module->file, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(module->file, names, header.sh_name) : NULL;
        if (name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
            return true;
    }
    return false;
}

static bool has_own_dwarf(struct loader_module *module)
{
    if (!module->own_dwarf_sought)
        module->own_dwarf = find_own_dwarf(module);
    module->own_dwarf_sought = SHORTCUT(true);
    return module->own_dwarf;
}

static enum c2_status read_arrays(struct reader *reader, uint64_t address, struct c2_error *err)
{
    Dwarf_Die scopes[LOADER_SCOPES], unit;
    if (loader_module_scopes(reader->module, address, scopes) == 0)
        return C2_OK;
    reader->debugged = true;
    reader->function = scopes[0];
    reader->tags = dwarf_diecu(&reader->function, &unit, NULL, NULL) && loader_unit_language(&unit) == LANGUAGE_C;
    return locals_walk(reader, &reader->function, 0, err);
}

/* The frame as one object. */
static enum c2_status add_whole(const struct reader *reader, uint64_t address, struct c2_error *err)
{
    struct loader_layout *layout = reader->layout;
    struct loader_line line;
    uint64_t registers[16];
    const uint64_t rsp = 1ull << 40; /* any */
    if (!(run_prologue(layout, rsp, registers) >> RSP & 1) || rsp - registers[RSP] < FRAME_BYTES)
        return C2_OK;
    if (!c2_grow((void **)&layout->places, &layout->place_room, layout->place_count, sizeof *layout->places))
        return c2_fail_memory(err, "variables on the stack");
    struct place *place = &layout->places[layout->place_count++];
    *place = (struct place){.local = {.function = reader->name, .bytes = rsp + 8 - registers[RSP]}};
    if (loader_module_line(reader->module, address, &line))
        place->local.file = locals_keep(reader, line.file);
    layout->whole = true;
    return C2_OK;
}

static enum c2_status read_layout(struct loader_symbols *symbols, struct loader_spot *spot, const char *function,
                                  struct loader_layout *layout, struct c2_error *err)
{
    struct reader reader = {.symbols = symbols, .module = spot->module, .layout = layout};
    enum c2_status status = C2_OK;
    reader.name = loader_names_shown(symbols->names, symbols->shown, function);
    read_prologue(layout, spot->module, spot->address);
    if (has_own_dwarf(spot->module))
        status = read_arrays(&reader, spot->address, err);
    if (status == C2_OK)
        locals_join_shared(symbols, layout);
    if (status == C2_OK && layout->place_count == 0)
        status = add_whole(&reader, spot->address, err);
    if (status == C2_OK)
        status = read_changes(&reader, spot->address, err);
    return status;
}

/* Layouts are numbered in the order in which a program's run asks for them. */
static enum c2_status give_number(struct loader_symbols *symbols, struct loader_layout *layout, struct c2_error *err)
{
    if (!c2_grow((void **)&symbols->layouts, &symbols->layout_room, symbols->layout_count, sizeof *symbols->layouts))
        return c2_fail_memory(err, "variables on the stack");
    layout->number = symbols->layout_count;
    symbols->layouts[symbols->layout_count++] = layout;
    return C2_OK;
}

/* NULL: no memory; else it is numbered, and has taken the lists of the one given. */
static struct loader_layout *keep_layout(struct loader_symbols *symbols, const struct loader_layout *layout,
                                         struct c2_error *err)
{
    struct loader_layout *copy = c2_alloc(sizeof *copy);
    if (!copy || give_number(symbols, copy, err) != C2_OK) {
        c2_free(copy);
        c2_fail_memory(err, "variables on the stack");
        return NULL;
    }
    const uint64_t number = symbols->layout_count - 1;
    *copy = *layout;
    copy->number = number;
    copy->next = symbols->every_layout;
    return symbols->every_layout = copy;
}

/* What the module knows of the function, which has been asked for before; in this program perhaps not. */
static enum c2_status known_layout(struct loader_symbols *symbols, uint64_t known, uint64_t *number,
                                   struct c2_error *err)
{
    struct loader_layout *layout = (struct loader_layout *)(uintptr_t)known;
    enum c2_status status = C2_OK;
    if (layout && layout->number == LOADER_NO_LAYOUT)
        status = give_number(symbols, layout, err);
    *number = layout && status == C2_OK ? layout->number : LOADER_NO_LAYOUT;
    return status;
}

enum c2_status loader_layout_at(struct loader_symbols *symbols, struct guest_va entry, uint64_t *number,
                                struct c2_error *err)
{
    struct loader_spot spot;
    const char *function;
    uint64_t start, known;
    struct loader_layout layout = {.whole = false}, *kept = NULL;
    *number = LOADER_NO_LAYOUT;
    if (!loader_spot_of(symbols, entry, &spot) || !spot.linked ||
        !loader_functions_find(&spot.module->functions, spot.address, &function, &start) || start != spot.address)
        return C2_OK;
    enum c2_status status = spot.module->layout_of ? C2_OK : c2_map_create(&spot.module->layout_of, err);
    if (status == C2_OK && c2_map_get(spot.module->layout_of, spot.address, &known))
        return known_layout(symbols, known, number, err);
    layout.module = spot.module;
    if (status == C2_OK)
        status = read_layout(symbols, &spot, function, &layout, err);
    if (status == C2_OK && layout.place_count != 0 && !(kept = keep_layout(symbols, &layout, err)))
        status = C2_ERR_NO_MEMORY;
    if (!kept) {
        c2_free(layout.places);
        c2_free(layout.changes);
    } else {
        *number = kept->number;
    }
    return status == C2_OK ? c2_map_put(spot.module->layout_of, spot.address, (uintptr_t)kept, err) : status;
}

enum c2_status loader_layout_gone(struct loader_symbols *symbols, uint64_t *number, struct c2_error *err)
{
    const struct loader_layout *layout = keep_layout(symbols, &(struct loader_layout){.whole = false}, err);
    *number = layout ? layout->number : LOADER_NO_LAYOUT;
    return layout ? C2_OK : C2_ERR_NO_MEMORY;
}

/* ------------------------------------------------------------------ thread-local variables */

/* Where the program's block of them begins, from the thread pointer; false: it has none. */
static bool find_threads(const struct loader_module *module, int64_t *offset)
{
    size_t count;
    GElf_Phdr header;
    if (!module->file || elf_getphdrnum(module->file, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(module->file, (int)i, &header) && header.p_type == PT_TLS) {
            const uint64_t align = header.p_align ? header.p_align : 1;
            *offset = -(int64_t)(c2_align_up(header.p_memsz + header.p_vaddr % align, align) - header.p_vaddr % align);
            return true;
        }
    return false;
}

static enum c2_status add_thread_local(struct loader_symbols *symbols, struct loader_layout *layout,
                                       const struct loader_symbol *symbol, int64_t block, struct c2_error *err)
{
    if (!c2_grow((void **)&layout->places, &layout->place_room, layout->place_count, sizeof *layout->places))
        return c2_fail_memory(err, "thread-local variables");
    struct place *place = &layout->places[layout->place_count];
    *place = (struct place){
        .from_cfa = true,
        .offset = block + (int64_t)symbol->address - (int64_t)sizeof(uint64_t),
        .bytes = symbol->bytes,
        .local = {.name = loader_names_shown(symbols->names, symbols->shown, symbol->name), .bytes = symbol->bytes}};
    layout->place_count += place->local.name ? 1 : 0;
    return C2_OK;
}

enum c2_status loader_layout_threads(struct loader_symbols *symbols, struct guest_va at, uint64_t *number,
                                     struct c2_error *err)
{
    struct loader_spot spot;
    struct loader_symtab table;
    struct loader_symbol symbol;
    struct loader_layout layout = {.whole = false}, *kept = NULL;
    int64_t block;
    enum c2_status status = C2_OK;
    *number = LOADER_NO_LAYOUT;
    if (!loader_spot_of(symbols, at, &spot) || !spot.linked || !find_threads(spot.module, &block) ||
        !spot.module->table || !loader_symtab_open(&table, spot.module->table))
        return C2_OK;
    for (size_t i = 1; i < table.count && status == C2_OK; i++)
        if (loader_symtab_get(&table, i, &symbol) && symbol.type == STT_TLS && symbol.bytes != 0)
            status = add_thread_local(symbols, &layout, &symbol, block, err);
    if (status == C2_OK)
        locals_join_shared(symbols, &layout);
    if (status == C2_OK && layout.place_count != 0 && !(kept = keep_layout(symbols, &layout, err)))
        status = C2_ERR_NO_MEMORY;
    if (kept)
        *number = kept->number;
    else
        c2_free(layout.places);
    return status;
}

static void layout_destroy(struct loader_layout *layout)
{
    c2_free(layout->places);
    c2_free(layout->changes);
    c2_free(layout);
}

void loader_layouts_drop(struct loader_symbols *symbols, const struct loader_module *module)
{
    for (struct loader_layout **link = &symbols->every_layout; *link;) {
        struct loader_layout *layout = *link;
        C2_ASSERT(layout->number == LOADER_NO_LAYOUT);
        if (layout->module != module) {
            link = &layout->next;
            continue;
        }
        *link = layout->next;
        layout_destroy(layout);
    }
}

void loader_layouts_retire(struct loader_symbols *symbols)
{
    symbols->layout_count = 0;
    for (struct loader_layout *layout = symbols->every_layout; layout; layout = layout->next)
        layout->number = LOADER_NO_LAYOUT;
    loader_layouts_drop(symbols, NULL);
}

void loader_layouts_release(struct loader_symbols *symbols)
{
    while (symbols->every_layout) {
        struct loader_layout *next = symbols->every_layout->next;
        layout_destroy(symbols->every_layout);
        symbols->every_layout = next;
    }
    c2_free(symbols->layouts);
}

uint32_t loader_layout_changes(const struct loader_symbols *symbols, uint64_t layout)
{
    return symbols->layouts[layout]->change_count;
}

const struct loader_change *loader_layout_change(const struct loader_symbols *symbols, uint64_t layout, uint32_t number)
{
    C2_ASSERT(layout < symbols->layout_count && number < symbols->layouts[layout]->change_count);
    return &symbols->layouts[layout]->changes[number];
}

uint32_t loader_layout_count(const struct loader_symbols *symbols, uint64_t layout)
{
    return symbols->layouts[layout]->place_count;
}

const struct loader_local *loader_layout_local(const struct loader_symbols *symbols, uint64_t layout, uint32_t number)
{
    C2_ASSERT(layout < symbols->layout_count && number < symbols->layouts[layout]->place_count);
    return &symbols->layouts[layout]->places[number].local;
}

bool loader_layout_extent(const struct loader_symbols *symbols, uint64_t number, uint32_t local, uint64_t rsp,
                          uint64_t *start)
{
    const struct loader_layout *layout = symbols->layouts[number];
    const struct place *place = &layout->places[local];
    uint64_t registers[16];
    if (place->moves)
        return false;
    const uint32_t known = run_prologue(layout, rsp, registers);
    *start = layout->whole ? registers[RSP]
                           : (place->from_cfa ? rsp + 8 : registers[place->base]) + (uint64_t)place->offset;
    return place->from_cfa || layout->whole || (known >> place->base & 1);
}
