/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which variable takes the result of a call.
 *
 * Model
 *   Behind the call RAX has the result. The instructions there are followed, straight on, as long as some register has
 *   it: moves hand it on, anything else that writes a register ends it there. A variable that debug information says is
 *   in such a register, or where such a register is stored, is the receiver: a pointer, an object of a class with a
 *   pointer's size, or an allocatable array, whose descriptor begins with the address. Of the functions that are
 *   inlined there, the outermost with a variable counts, and its line: that far out the result has come.
 *   Functions of the standard library that are inlined there keep what they get, in the object that they are called
 *   for: the one object of a class that is declared on the line of the call.
 *   Without such a variable: a symbol of eight bytes that the result is stored to; else what the source line says
 *   (assigned.c), where nothing is inlined.
 *   The place of a call is the line of that function; without a receiver, of the outermost function that is none of the
 *   library.
 * Counting
 *   Followed once a site: STEPS instructions and the variables in scope at each.
 * Invariants
 *   A name that debug information gives is of a variable that has the result: proved, instruction by instruction.
 * Not modelled
 *   Results that are used in place, or stored to where no variable lies: into fields, elements, through pointers. The
 *   source line may know those.
 */
#include <dwarf.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "loader/capstone.h"
#include "loader/symbols_priv.h"

#define STEPS 32u
#define CODE_BYTES (STEPS * LOADER_LONGEST_INSN)
#define STORES 4u
#define FRAMES 64u
#define NO_REGISTER 16u

/* Where the result is. */
struct track {
    struct loader_symbols *symbols;
    struct loader_module *module;
    Dwarf_Die scopes[LOADER_SCOPES]; /* around the call, from the outside in */
    size_t scope_count;              /* 0 without debug information */
    uint64_t pc;
    uint32_t held; /* registers, by bit */
    struct loader_location stores[STORES];
    uint32_t store_count;
    struct loader_received found;
};

/* ------------------------------------------------------------------ variables */

static bool is_handle(Dwarf_Die *variable)
{
    Dwarf_Die type, plain;
    Dwarf_Word bytes;
    if (!loader_die_type(variable, &type) || dwarf_peel_type(&type, &plain) != 0)
        return false;
    const int tag = dwarf_tag(&plain);
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           (tag == DW_TAG_array_type && dwarf_hasattr(&plain, DW_AT_data_location)) ||
           ((tag == DW_TAG_class_type || tag == DW_TAG_structure_type) && dwarf_aggregate_size(&plain, &bytes) == 0 &&
            bytes == sizeof(uint64_t));
}

static bool receiver_is_same(const struct loader_location *a, const struct loader_location *b)
{
    return a->kind == b->kind && a->base == b->base && a->offset == b->offset;
}

static bool has_result(const struct track *track, const struct loader_location *location)
{
    if (location->kind == LOADER_IN_REGISTER)
        return track->held >> location->base & 1;
    for (uint32_t i = 0; i < track->store_count; i++)
        if (receiver_is_same(&track->stores[i], location))
            return true;
    return false;
}

static void look_at_variable(struct track *track, Dwarf_Die *variable, Dwarf_Die *function, uint32_t depth,
                             const struct loader_cfi *cfi)
{
    struct loader_location location;
    const char *name = dwarf_diename(variable);
    loader_module_places(track->module);
    if (!name || (track->found.name && track->found.depth <= depth) ||
        !loader_location_at(&location, variable, function, track->pc, cfi) || !has_result(track, &location) ||
        !is_handle(variable))
        return;
    track->found = (struct loader_received){.name = loader_names_keep(track->symbols->names, name, strlen(name)),
                                            .kept = location.kind == LOADER_FIXED,
                                            .type = loader_type_of_die(track->module, variable),
                                            .depth = depth};
}

static void look_in_scope(struct track *track, Dwarf_Die *scope, Dwarf_Die *function, uint32_t depth,
                          const struct loader_cfi *cfi)
{
    Dwarf_Die die;
    for (bool more = dwarf_child(scope, &die) == 0; more; more = loader_die_next(&die))
        if (dwarf_tag(&die) == DW_TAG_variable || dwarf_tag(&die) == DW_TAG_formal_parameter)
            look_at_variable(track, &die, function, depth, cfi);
}

/* A function of the standard library that is inlined here. */
static bool receiver_is_library(Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute));
    return dwarf_tag(scope) == DW_TAG_inlined_subroutine && name && loader_is_library(name);
}

static bool is_around_call(struct track *track, Dwarf_Die *scope)
{
    for (size_t i = 0; i < track->scope_count; i++)
        if (dwarf_dieoffset(&track->scopes[i]) == dwarf_dieoffset(scope))
            return true;
    return false;
}

/* The variables in scope that have the result now; of inlined functions only those that the call was made in. */
static void receiver_look(struct track *track)
{
    struct loader_cfi cfi;
    Dwarf_Die scopes[LOADER_SCOPES];
    const bool known = loader_module_cfi(track->module, track->pc, &cfi);
    const size_t count = track->scope_count == 0 ? 0 : loader_module_scopes(track->module, track->pc, scopes);
    uint32_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_inlined_subroutine && (!is_around_call(track, &scopes[i]) || receiver_is_library(&scopes[i])))
            break;
        depth += tag == DW_TAG_inlined_subroutine;
        look_in_scope(track, &scopes[i], &scopes[0], depth, known ? &cfi : NULL);
    }
}

/* A symbol of a pointer's size there. */
static void look_at_symbol(struct track *track, uint64_t address)
{
    if (track->found.name || loader_module_variables(track->module, NULL) != C2_OK)
        return;
    const struct loader_range *range = loader_ranges_find(&track->module->variables, address);
    if (!range || range->start != address || range->end - range->start != sizeof(uint64_t))
        return;
    const char *name = loader_names_shown(track->symbols->names, track->symbols->shown,
                                          loader_symbol_name(range->value));
    const size_t number = (size_t)(range - track->module->variables.items);
    track->found = (struct loader_received){.name = name, .kept = true, .variable = {track->module, number}};
}

/* ------------------------------------------------------------------ instructions */

static void receiver_store(struct track *track, const cs_insn *insn, const x86_op_mem *to)
{
    struct loader_cfi cfi;
    struct loader_location location = {
        .kind = LOADER_FROM_REGISTER, .base = (uint8_t)loader_capstone_register(to->base, false), .offset = to->disp};
    if (to->index != X86_REG_INVALID || to->segment != X86_REG_INVALID || track->store_count == STORES)
        return;
    if (to->base == X86_REG_RIP)
        location = (struct loader_location){.kind = LOADER_FIXED,
                                            .offset = (int64_t)(insn->address + insn->size) + to->disp};
    else if (to->base == X86_REG_INVALID)
        location = (struct loader_location){.kind = LOADER_FIXED, .offset = to->disp};
    else if (location.base != 4 && location.base != 5) /* RSP and RBP lead into the frame */
        return;
    if (loader_module_cfi(track->module, insn->address, &cfi))
        loader_location_settle(&location, &cfi);
    track->stores[track->store_count++] = location;
    if (location.kind == LOADER_FIXED)
        look_at_symbol(track, (uint64_t)location.offset);
}

/* Every register that the instruction writes loses the result. */
static void receiver_lose(struct track *track, csh capstone, const cs_insn *insn)
{
    cs_regs read, written;
    uint8_t reads, writes;
    if (cs_regs_access(capstone, insn, read, &reads, written, &writes) != CS_ERR_OK) {
        track->held = 0;
        return;
    }
    for (uint8_t i = 0; i < writes; i++)
        if (loader_capstone_register(written[i], true) != NO_REGISTER)
            track->held &= ~(1u << loader_capstone_register(written[i], true));
}

static void receiver_move(struct track *track, csh capstone, const cs_insn *insn)
{
    const cs_x86_op *to = &insn->detail->x86.operands[0], *from = &insn->detail->x86.operands[1];
    const unsigned source = from->type == X86_OP_REG ? loader_capstone_register(from->reg, false) : NO_REGISTER;
    const bool result = source != NO_REGISTER && (track->held >> source & 1);
    if (result && to->type == X86_OP_MEM)
        receiver_store(track, insn, &to->mem);
    receiver_lose(track, capstone, insn);
    if (result && to->type == X86_OP_REG && loader_capstone_register(to->reg, false) != NO_REGISTER)
        track->held |= 1u << loader_capstone_register(to->reg, false);
}

/* False: the way ends here. */
static bool receiver_step(struct track *track, csh capstone, const cs_insn *insn)
{
    if (cs_insn_group(capstone, insn, X86_GRP_CALL) || cs_insn_group(capstone, insn, X86_GRP_RET) ||
        insn->id == X86_INS_JMP)
        return false;
    if (insn->id == X86_INS_MOV)
        receiver_move(track, capstone, insn);
    else
        receiver_lose(track, capstone, insn);
    track->pc = insn->address + insn->size;
    return track->held != 0 || track->store_count != 0;
}

static void follow_code(struct track *track)
{
    csh capstone;
    cs_insn *insn = NULL;
    uint8_t code[CODE_BYTES];
    const size_t bytes = loader_module_code(track->module, track->pc, code, sizeof code);
    if (bytes == 0 || loader_capstone(&capstone, track->symbols, NULL) != C2_OK)
        return;
    const size_t count = cs_disasm(capstone, code, bytes, track->pc, STEPS, &insn);
    receiver_look(track);
    for (size_t i = 0; i < count && receiver_step(track, capstone, &insn[i]); i++)
        receiver_look(track);
    if (count)
        cs_free(insn, count);
}

/* ------------------------------------------------------------------ declarations */

static bool is_class(Dwarf_Die *variable)
{
    Dwarf_Die type, plain;
    if (!loader_die_type(variable, &type) || dwarf_peel_type(&type, &plain) != 0)
        return false;
    return dwarf_tag(&plain) == DW_TAG_class_type || dwarf_tag(&plain) == DW_TAG_structure_type;
}

static bool receiver_is_block(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* The variables of class type that are declared on the line, in this scope or in blocks within; the last one. Of Rust
 * the block of a variable begins behind the call that makes it. */
static unsigned declared_in(Dwarf_Die *scope, int line, unsigned depth, Dwarf_Die *variable)
{
    Dwarf_Die die;
    unsigned count = 0;
    int declared;
    for (bool more = dwarf_child(scope, &die) == 0; more; more = loader_die_next(&die)) {
        const int tag = dwarf_tag(&die);
        if (receiver_is_block(tag) && depth < LOADER_SCOPES)
            count += declared_in(&die, line, depth + 1, variable);
        if (tag != DW_TAG_variable || dwarf_decl_line(&die, &declared) != 0 || declared != line || !is_class(&die) ||
            !dwarf_diename(&die))
            continue;
        *variable = die;
        count++;
    }
    return count;
}

/* The one object of class type that is declared on the line of the call, in the function that holds the code. */
static void find_declared(struct track *track, int line)
{
    Dwarf_Die variable;
    if (track->scope_count == 0 || declared_in(&track->scopes[0], line, 0, &variable) != 1)
        return;
    const char *name = dwarf_diename(&variable);
    track->found.declared = loader_names_keep(track->symbols->names, name, strlen(name));
    track->found.declared_type = loader_type_of_die(track->module, &variable);
}

/* ------------------------------------------------------------------ the answer */

static bool find_receiver(struct loader_symbols *symbols, struct guest_va site, struct loader_received *out)
{
    struct loader_spot spot;
    struct loader_frame frames[FRAMES];
    *out = (struct loader_received){.name = NULL};
    if (!loader_spot_of(symbols, (struct guest_va){site.v - 1}, &spot) || !spot.linked)
        return false;
    struct track track = {.symbols = symbols, .module = spot.module, .pc = spot.address + 1, .held = 1};
    track.scope_count = loader_module_scopes(spot.module, spot.address, track.scopes);
    follow_code(&track);
    for (size_t i = 0; i < track.scope_count; i++)
        track.found.library |= receiver_is_library(&track.scopes[i]);
    const size_t count = loader_module_frames(symbols, spot.module, spot.address, frames, FRAMES);
    if (count <= FRAMES)
        find_declared(&track, frames[count - 1].line);
    *out = track.found;
    return true;
}

/* As find_receiver, once a site. */
static struct loader_received *receiver_at(struct loader_symbols *symbols, struct guest_va site)
{
    struct loader_received found;
    uint64_t number;
    symbols->nobody = (struct loader_received){.name = NULL};
    if (!symbols->receiver_of && c2_map_create(&symbols->receiver_of, NULL) != C2_OK)
        return &symbols->nobody;
    if (c2_map_get(symbols->receiver_of, site.v, &number))
        return &symbols->receivers[number];
    find_receiver(symbols, site, &found);
    if (!c2_grow((void **)&symbols->receivers, &symbols->receiver_room, symbols->receiver_count,
                 sizeof *symbols->receivers) ||
        c2_map_put(symbols->receiver_of, site.v, symbols->receiver_count, NULL) != C2_OK)
        return &symbols->nobody;
    symbols->receivers[symbols->receiver_count] = found;
    return &symbols->receivers[symbols->receiver_count++];
}

/* The function that the line of a call is of: the receiver's; else the outermost. */
static size_t receiver_frame_of(const struct loader_received *received, size_t count)
{
    return !received->name || received->depth >= count ? count - 1 : count - 1 - received->depth;
}

void loader_call_place_of(struct loader_symbols *symbols, struct guest_va site, struct loader_place *out)
{
    struct loader_frame frames[FRAMES];
    const struct guest_va call = {site.v - 1};
    const size_t count = loader_frames_of(symbols, call, frames, FRAMES);
    loader_place_of(symbols, call, out);
    if (count < 2 || count > FRAMES)
        return;
    const struct loader_frame *frame = &frames[receiver_frame_of(receiver_at(symbols, site), count)];
    if (!frame->file)
        return;
    out->file = frame->file;
    out->line = frame->line;
}

/* The type of the variable of this name, of the function that holds the call, where debug information has one. */
static struct loader_type_id type_of_name(struct loader_symbols *symbols, struct guest_va site, const char *name)
{
    struct loader_spot spot;
    Dwarf_Die scopes[LOADER_SCOPES], die;
    if (!loader_spot_of(symbols, (struct guest_va){site.v - 1}, &spot) || !spot.linked)
        return (struct loader_type_id){.module = NULL};
    const size_t count = loader_module_scopes(spot.module, spot.address, scopes);
    for (size_t i = count; i-- > 0;)
        for (bool more = dwarf_child(&scopes[i], &die) == 0; more; more = loader_die_next(&die)) {
            const char *own = dwarf_diename(&die);
            if ((dwarf_tag(&die) == DW_TAG_variable || dwarf_tag(&die) == DW_TAG_formal_parameter) && own &&
                strcasecmp(own, name) == 0)
                return loader_type_of_die(spot.module, &die);
        }
    return (struct loader_type_id){.module = NULL};
}

const char *loader_receiver(struct loader_symbols *symbols, struct guest_va site, const struct loader_callees *callees,
                            bool *kept)
{
    struct loader_frame frames[1];
    struct loader_received *received = receiver_at(symbols, site);
    *kept = false;
    if (callees->count == 0 || (received->library && !received->name))
        return received->declared;
    *kept = received->kept;
    if (received->name || loader_frames_of(symbols, (struct guest_va){site.v - 1}, frames, 1) != 1 || !frames[0].file)
        return received->name;
    const char *name = loader_assigned(symbols->names, frames[0].file, frames[0].line, callees);
    *kept = name && strpbrk(name, ".>[*%");
    if (name && !received->type.module && !received->variable.module)
        received->type = type_of_name(symbols, site, name);
    return name;
}

struct loader_type_id loader_receiver_type(struct loader_symbols *symbols, struct guest_va site)
{
    const struct loader_received *received = receiver_at(symbols, site);
    if (received->type.module)
        return received->type;
    if (received->library && !received->name)
        return received->declared_type;
    return loader_variable_type(symbols, received->variable);
}
