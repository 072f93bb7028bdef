/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * moved: an object whose contents are moved within it again and again, as when elements are taken off its front, or by
 * sorts that change neighbours.
 *
 * Model
 *   A copying function of a system library reads the object and writes it; or most of what a loop stores there are
 *   registers that it has loaded from the object and not changed, but for the order of their parts, as its instructions
 *   in the order of their addresses have it. Steps are of less than a page, and most of what misses are capacity
 *   misses. What goes on at one end, leaves the gap where it is, or moves indices, moves nothing: all but the cost of a
 *   first walk is spared.
 *
 * Not modelled
 *   The instructions that are spared as well. Contents that are moved by way of other memory, or of functions that are
 *   called. Branches within the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "findings/code.h"

#define SHARE 4u /* of what a library reads of the object, at least one part in so many is what it writes there */

/* Stores of a loop to the object: all, and those of what has been loaded from it. */
struct stores {
    uint64_t all, moved;
    bool holds[ZYDIS_REGISTER_MAX_VALUE + 1]; /* registers that have what was loaded, as their largest ones */
};

static ZydisRegister whole(ZydisRegister reg)
{
    const ZydisRegister largest = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return largest == ZYDIS_REGISTER_NONE ? reg : largest;
}

static bool is_operand(const ZydisDecodedOperand *op, ZydisOperandType type, ZydisOperandActions action)
{
    return op->type == type && op->actions == action;
}

/* Whether the instruction leaves in its first operand, whole or in another order, what the second one had. */
static bool transfers(const struct findings_code *code)
{
    const ZydisMnemonic mnemonic = code->insn.mnemonic;
    const bool reorders = mnemonic == ZYDIS_MNEMONIC_PSHUFD || mnemonic == ZYDIS_MNEMONIC_VPSHUFD;
    return reorders || (code->insn.meta.category == ZYDIS_CATEGORY_DATAXFER && code->insn.operand_count_visible == 2);
}

static void forget_written(struct stores *stores, const struct findings_code *code)
{
    for (unsigned i = 0; i < code->insn.operand_count; i++)
        if (code->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (code->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
            stores->holds[whole(code->op[i].reg.value)] = false;
}

/* access: of the object by the instruction; NULL: there is none. */
static void follow_move(struct stores *stores, const struct findings_code *code, const struct analyses_access *access)
{
    const ZydisDecodedOperand *to = &code->op[0], *from = &code->op[1];
    const bool of_register = from->type == ZYDIS_OPERAND_TYPE_REGISTER, is_transfer = transfers(code);
    const bool holds = is_transfer && (of_register ? stores->holds[whole(from->reg.value)]
                                                   : access && from->type == ZYDIS_OPERAND_TYPE_MEMORY);
    forget_written(stores, code);
    if (holds && is_operand(to, ZYDIS_OPERAND_TYPE_REGISTER, ZYDIS_OPERAND_ACTION_WRITE))
        stores->holds[whole(to->reg.value)] = true;
    if (!access)
        return;
    stores->all += access->writes;
    if (holds && of_register && is_operand(to, ZYDIS_OPERAND_TYPE_MEMORY, ZYDIS_OPERAND_ACTION_WRITE))
        stores->moved += access->writes;
}

/* All of the loop's instructions once. */
static void go_around(struct stores *stores, struct findings_code *code, const struct findings_input *input,
                      const struct group *group)
{
    stores->all = stores->moved = 0;
    for (uint32_t i = 0; i < input->profile->insn_count; i++)
        if (input->excerpts->loops.loop_of[i] == group->loop &&
            findings_code_decode(code, input->symbols, input->profile->insns[i].pc))
            follow_move(stores, code, analyses_access_of(input->excerpts, i, group->object));
}

static bool loop_moves(const struct findings_input *input, const struct group *group)
{
    struct stores stores = {.all = 0};
    struct findings_code code;
    if (group->loop == ANALYSES_NO_LOOP)
        return false;
    findings_code_open(&code);
    for (unsigned round = 0; round < 2; round++) /* registers keep what the round before has loaded */
        go_around(&stores, &code, input, group);
    findings_code_close(&code);
    return stores.all != 0 && stores.moved * 4 >= stores.all * 3;
}

static bool library_moves(const struct findings_input *input, const struct group *group)
{
    const struct findings_accesses accesses = findings_accesses_of(input, group->loop, group->object);
    uint64_t reads = 0, writes = 0;
    for (size_t i = 0; i < accesses.count; i++) {
        reads += findings_access(&accesses, i)->reads;
        writes += findings_access(&accesses, i)->writes;
    }
    return reads != 0 && writes * SHARE >= reads;
}

bool findings_is_moved(const struct findings_input *input, const struct group *group)
{
    const struct guest_va pc = input->profile->insns[input->profile->rows[group->lead].insn].pc;
    int64_t step;
    if (!input->symbols || !group->access || !findings_step(group->access, 0, &step) ||
        llabs(step) >= (int64_t)C2_PAGE_BYTES)
        return false;
    return loader_is_system_code(input->symbols, pc) ? library_moves(input, group) : loop_moves(input, group);
}
