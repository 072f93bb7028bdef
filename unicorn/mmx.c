/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   An instruction that writes an MMX register sets sign and exponent of the x87 register that it is a part of to ones,
 *   so that code that takes it for a number finds a NaN. Unicorn leaves them as they are. So they are set before it:
 *   what a block writes before its first x87 instruction, when the block begins; what it writes later, by a code hook
 *   before the instruction. A block that is left before it wrote a register gives back what was there, as does an
 *   instruction that faults.
 * Cost
 *   20 ns for each register that a block writes, at each of its executions.
 * Source
 *   Intel SDM volume 1, 9.6.2 (the aliasing of MMX and x87 registers).
 */
#include <string.h>

#include "unicorn/unicorn_priv.h"

enum c2_status unicorn_mmx_init(struct unicorn_mmx *mmx, uc_engine *uc, struct c2_error *err)
{
    mmx->uc = uc;
    return c2_map_create(&mmx->late, err);
}

void unicorn_mmx_release(struct unicorn_mmx *mmx) { c2_map_destroy(mmx->late); }

static uint16_t exchange_upper(uc_engine *uc, int i, uint16_t upper)
{
    uint8_t number[16];
    uint16_t old;
    uc_reg_read(uc, UC_X86_REG_FP0 + i, number);
    memcpy(&old, number + 8, 2);
    memcpy(number + 8, &upper, 2);
    uc_reg_write(uc, UC_X86_REG_FP0 + i, number);
    return old;
}

void unicorn_mmx_write(struct unicorn_mmx *mmx, uint8_t registers)
{
    for (int i = 0; i < 8; i++)
        if (registers >> i & 1)
            mmx->old[i] = exchange_upper(mmx->uc, i, 0xffff);
}

void unicorn_mmx_give_back(struct unicorn_mmx *mmx, uint8_t registers)
{
    for (int i = 0; i < 8; i++)
        if (registers >> i & 1)
            exchange_upper(mmx->uc, i, mmx->old[i]);
}

static void on_late(uc_engine *uc, uint64_t pc, uint32_t size, void *self)
{
    struct unicorn_mmx *mmx = self;
    uint64_t registers = 0;
    (void)uc, (void)size;
    c2_map_get(mmx->late, pc, &registers);
    mmx->late_pc = pc;
    mmx->late_registers = (uint8_t)registers;
    for (int i = 0; i < 8; i++)
        if (registers >> i & 1)
            mmx->late_old[i] = exchange_upper(mmx->uc, i, 0xffff);
}

void unicorn_mmx_faulted(struct unicorn_mmx *mmx, uint64_t pc)
{
    for (int i = 0; mmx->late_pc == pc && i < 8; i++)
        if (mmx->late_registers >> i & 1)
            exchange_upper(mmx->uc, i, mmx->late_old[i]);
    mmx->late_pc = 0;
}

static enum c2_status hook_late(struct unicorn_mmx *mmx, uint64_t pc, struct c2_error *err)
{
    uc_hook hook;
    if (uc_hook_add(mmx->uc, &hook, UC_HOOK_CODE, (void *)on_late, mmx, pc, pc) != UC_ERR_OK)
        return c2_fail_memory(err, "a hook before an MMX instruction");
    return C2_OK;
}

uint8_t unicorn_mmx_early(const struct decode_block *decoded)
{
    uint8_t registers = 0;
    for (unsigned i = 0; i < decoded->block.insn_count && i < decoded->first_x87; i++)
        registers |= decoded->mmx[i];
    return registers;
}

/* What stands at pc writes the registers. Of code that has changed, a hook may be there that knows others. */
static enum c2_status learn_insn(struct unicorn_mmx *mmx, uint64_t pc, uint8_t registers, bool late, bool *hooked,
                                 struct c2_error *err)
{
    uint64_t old;
    bool known = c2_map_get(mmx->late, pc, &old);
    if (!known && !late)
        return C2_OK;
    *hooked = *hooked || !known;
    enum c2_status status = known ? C2_OK : hook_late(mmx, pc, err);
    return status == C2_OK ? c2_map_put(mmx->late, pc, registers, err) : status;
}

enum c2_status unicorn_mmx_learn(struct unicorn_mmx *mmx, const struct decode_block *decoded, bool *hooked,
                                 struct c2_error *err)
{
    unsigned count = decoded->block.insn_count;
    enum c2_status status = C2_OK;
    *hooked = false;
    for (unsigned i = 0; i < count && status == C2_OK; i++) {
        uint64_t pc = decoded->block.pc.v + decoded->insns[i].offset;
        bool late = i > decoded->first_x87 && decoded->mmx[i] != 0;
        status = learn_insn(mmx, pc, decoded->mmx[i], late, hooked, err);
    }
    return status;
}
