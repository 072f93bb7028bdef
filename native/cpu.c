/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The guest's registers between two runs of translated code: general ones, and the image of FXSAVE, in the context.
 *   Of the flags, those that instructions calculate with are the processor's; the others (TF, IF, AC, ID ...) are kept
 *   here and never loaded.
 *   What the guest sees of the image is the same on every host: no addresses of the last x87 instruction, which are
 *   the host's and kept by some processors only; a mask of MXCSR of 16 bits; zeros where nothing is defined.
 */
#include <string.h>

#include "native/native_priv.h"

/* SDM volume 1, 10.5.1. */
enum { FX_TAG = 4, FX_LAST = 6, FX_MXCSR = 24, FX_MASK = 28, FX_ST = 32, FX_XMM = 160, FX_RESERVED = 416 };
enum { ST_BYTES = 10, ST_STEP = 16 };

uint32_t native_get_mxcsr(const struct native *n)
{
    uint32_t mxcsr;
    memcpy(&mxcsr, n->context->fxsave + FX_MXCSR, sizeof mxcsr);
    return mxcsr;
}

static void set_mxcsr(struct native *n, uint32_t mxcsr)
{
    mxcsr &= 0xffff;
    memcpy(n->context->fxsave + FX_MXCSR, &mxcsr, sizeof mxcsr);
}

void native_get_fxsave(const struct native *n, uint8_t out[512])
{
    _Static_assert(FX_RESERVED == FX_XMM + 16 * 16 && FX_XMM == FX_ST + 8 * ST_STEP, "the parts of FXSAVE's image");
    const uint32_t mask = 0xffff;
    memcpy(out, n->context->fxsave, 512);
    memset(out + FX_TAG + 1, 0, FX_MXCSR - FX_TAG - 1);
    memcpy(out + FX_MASK, &mask, sizeof mask);
    for (unsigned i = 0; i < 8; i++)
        memset(out + FX_ST + ST_STEP * i + ST_BYTES, 0, ST_STEP - ST_BYTES);
    memset(out + FX_RESERVED, 0, 512 - FX_RESERVED);
}

void native_set_fxsave(struct native *n, const uint8_t in[512])
{
    uint32_t mxcsr;
    memcpy(n->context->fxsave, in, 512);
    memcpy(&mxcsr, in + FX_MXCSR, sizeof mxcsr);
    set_mxcsr(n, mxcsr);
    memset(n->context->fxsave + FX_LAST, 0, FX_MXCSR - FX_LAST);
}

uint64_t native_get_flags(const struct native *n)
{
    C2_PROMISE((n->flags & NATIVE_FLAGS) == 0);
    return (n->context->flags & NATIVE_FLAGS) | n->flags;
}

void native_set_flags(struct native *n, uint64_t flags)
{
    n->context->flags = flags & NATIVE_FLAGS;
    n->flags = flags & ~NATIVE_FLAGS;
}

/* ------------------------------------------------------------------ as interpret.h sees it */

static uint64_t native_cpu_get_gpr(void *self, unsigned gpr)
{
    C2_PROMISE(gpr < 16);
    return ((struct native *)self)->context->gpr[gpr];
}
static void native_cpu_set_gpr(void *self, unsigned gpr, uint64_t value)
{
    C2_PROMISE(gpr < 16);
    ((struct native *)self)->context->gpr[gpr] = value;
}
static uint64_t native_cpu_get_flags(void *self) { return native_get_flags(self); }
static void native_cpu_set_flags(void *self, uint64_t flags) { native_set_flags(self, flags); }
static void native_cpu_get_xmm(void *self, unsigned xmm, uint8_t out[16])
{
    C2_PROMISE(xmm < 16);
    memcpy(out, ((struct native *)self)->context->fxsave + FX_XMM + 16 * xmm, 16);
}
static void native_cpu_set_xmm(void *self, unsigned xmm, const uint8_t in[16])
{
    C2_PROMISE(xmm < 16);
    memcpy(((struct native *)self)->context->fxsave + FX_XMM + 16 * xmm, in, 16);
}
static uint32_t native_cpu_get_mxcsr(void *self) { return native_get_mxcsr(self); }
static void native_cpu_set_mxcsr(void *self, uint32_t mxcsr) { set_mxcsr(self, mxcsr); }
static void native_cpu_get_fxsave(void *self, uint8_t out[512]) { native_get_fxsave(self, out); }
static void native_cpu_set_fxsave(void *self, const uint8_t in[512]) { native_set_fxsave(self, in); }
static uint64_t native_cpu_get_segment_base(void *self, ZydisRegister segment)
{
    const struct native_context *context = ((struct native *)self)->context;
    return segment == ZYDIS_REGISTER_FS ? context->fs_base : segment == ZYDIS_REGISTER_GS ? context->gs_base : 0;
}
static uint64_t native_cpu_get_time_ns(void *self)
{
    const struct native *n = self;
    const struct engine_config *config = &n->base.config;
    return config->time_ns ? config->time_ns(config->time_self, n->instructions) : n->instructions;
}
static bool native_cpu_ready(void *self, struct guest_va va, enum mmu_access access)
{
    return mmu_ready(((struct native *)self)->base.config.mmu, va, access);
}

const struct interpret_cpu native_cpu_functions = {
    .get_gpr = native_cpu_get_gpr,
    .set_gpr = native_cpu_set_gpr,
    .get_flags = native_cpu_get_flags,
    .set_flags = native_cpu_set_flags,
    .get_xmm = native_cpu_get_xmm,
    .set_xmm = native_cpu_set_xmm,
    .get_mxcsr = native_cpu_get_mxcsr,
    .set_mxcsr = native_cpu_set_mxcsr,
    .get_fxsave = native_cpu_get_fxsave,
    .set_fxsave = native_cpu_set_fxsave,
    .get_segment_base = native_cpu_get_segment_base,
    .get_time_ns = native_cpu_get_time_ns,
    .ready = native_cpu_ready,
};
