/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The registers of the Unicorn engine as interpret.h sees them. `self` is the engine.
 */
#include "unicorn/engine_priv.h"

static uint64_t unicorn_cpu_get_gpr(void *self, unsigned gpr)
{
    return unicorn_get(&((struct unicorn *)self)->state, unicorn_gprs[gpr]);
}
static void unicorn_cpu_set_gpr(void *self, unsigned gpr, uint64_t value)
{
    unicorn_set(&((struct unicorn *)self)->state, unicorn_gprs[gpr], value);
}
static uint64_t unicorn_cpu_get_flags(void *self)
{
    return unicorn_get(&((struct unicorn *)self)->state, UC_X86_REG_EFLAGS);
}
static void unicorn_cpu_set_flags(void *self, uint64_t flags)
{
    unicorn_set(&((struct unicorn *)self)->state, UC_X86_REG_EFLAGS, flags);
}
static void unicorn_cpu_get_xmm(void *self, unsigned xmm, uint8_t out[16])
{
    uc_reg_read(((struct unicorn *)self)->state.uc, UC_X86_REG_XMM0 + (int)xmm, out);
}
static void unicorn_cpu_set_xmm(void *self, unsigned xmm, const uint8_t in[16])
{
    uc_reg_write(((struct unicorn *)self)->state.uc, UC_X86_REG_XMM0 + (int)xmm, in);
}
static uint32_t unicorn_cpu_get_mxcsr(void *self) { return unicorn_get_mxcsr(&((struct unicorn *)self)->state); }
static void unicorn_cpu_set_mxcsr(void *self, uint32_t mxcsr)
{
    unicorn_set_mxcsr(&((struct unicorn *)self)->state, mxcsr);
}
static void unicorn_cpu_get_fxsave(void *self, uint8_t out[512])
{
    unicorn_get_fxsave(&((struct unicorn *)self)->state, out);
}
static void unicorn_cpu_set_fxsave(void *self, const uint8_t in[512])
{
    unicorn_set_fxsave(&((struct unicorn *)self)->state, in);
}
static uint64_t unicorn_cpu_get_segment_base(void *self, ZydisRegister segment)
{
    struct unicorn_state *state = &((struct unicorn *)self)->state;
    return segment == ZYDIS_REGISTER_FS   ? unicorn_get(state, UC_X86_REG_FS_BASE)
           : segment == ZYDIS_REGISTER_GS ? unicorn_get(state, UC_X86_REG_GS_BASE)
                                          : 0;
}
static uint64_t unicorn_cpu_get_time_ns(void *self)
{
    struct unicorn *u = self;
    const struct engine_config *config = &u->base.config;
    return config->time_ns ? config->time_ns(config->time_self, u->run_state.instructions) : u->run_state.instructions;
}
static bool unicorn_cpu_ready(void *self, struct guest_va va, enum mmu_access access)
{
    return mmu_ready(((struct unicorn *)self)->base.config.mmu, va, access);
}

const struct interpret_cpu unicorn_cpu_functions = {
    .get_gpr = unicorn_cpu_get_gpr,
    .set_gpr = unicorn_cpu_set_gpr,
    .get_flags = unicorn_cpu_get_flags,
    .set_flags = unicorn_cpu_set_flags,
    .get_xmm = unicorn_cpu_get_xmm,
    .set_xmm = unicorn_cpu_set_xmm,
    .get_mxcsr = unicorn_cpu_get_mxcsr,
    .set_mxcsr = unicorn_cpu_set_mxcsr,
    .get_fxsave = unicorn_cpu_get_fxsave,
    .set_fxsave = unicorn_cpu_set_fxsave,
    .get_segment_base = unicorn_cpu_get_segment_base,
    .get_time_ns = unicorn_cpu_get_time_ns,
    .ready = unicorn_cpu_ready,
};
