/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Registers beyond SSE's lie in the context behind the image of FXSAVE, where the host's XSAVE puts them: at offsets
 *   that are the host's own. Outside of this engine they are as cpu/cpu.h has them. Those of a processor without them
 *   are never loaded.
 *   What instructions under masks touch comes out of these registers (interpret/touched.c). Such an instruction is
 *   executed by itself, at the end of the cache of translations, with the address of its operand in RAX in place of
 *   what its own addressing gives; it uses no general register otherwise. Where it faults, that is found before.
 * Not modelled
 *   Such an instruction with 32-bit addresses of a vector of indices, or while exceptions of SSE trap: refused.
 */
#include <cpuid.h>
#include <signal.h>
#include <string.h>

#include "engine/code.h"
#include "native/native_priv.h"

enum { MASKED_BYTES = 32, MASKED_PLACES = NATIVE_MASKED_BYTES / MASKED_BYTES, RETURN = 0xc3 };

static uint32_t host_offset(const struct cpu_component *component)
{
    uint32_t bytes, offset, c, d;
    __cpuid_count(0xd, (unsigned)__builtin_ctz(component->bit), bytes, offset, c, d);
    C2_ASSERT(bytes == component->bytes && offset + bytes <= CONTEXT_TABLES - CONTEXT_FXSAVE);
    return offset;
}

void native_wide_begin(struct native *n, const struct cpu_model *model)
{
    C2_ASSERT(n->context && model);
    n->cpu.model = model;
    n->context->wide = model->xcr0 & ~(uint64_t)CPU_LEGACY;
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        if ((n->context->wide & cpu_components[i].bit) != 0)
            n->wide_offset[i] = host_offset(&cpu_components[i]);
}

void native_get_wide(const struct native *n, struct cpu_wide *out)
{
    const struct native_context *context = n->context;
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const struct cpu_component *c = &cpu_components[i];
        uint8_t *to = (uint8_t *)out + c->at;
        if ((context->wide & context->there & c->bit) != 0)
            memcpy(to, context->fxsave + n->wide_offset[i], c->bytes);
        else
            memset(to, 0, c->bytes);
    }
}

void native_set_wide(struct native *n, const struct cpu_wide *in)
{
    struct native_context *context = n->context;
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const struct cpu_component *c = &cpu_components[i];
        if ((context->wide & c->bit) == 0)
            continue;
        C2_PROMISE(n->wide_offset[i] >= sizeof context->fxsave);
        context->there |= c->bit;
        memcpy(context->fxsave + n->wide_offset[i], (const uint8_t *)in + c->at, c->bytes);
    }
}

/* ------------------------------------------------------------------ as interpret.h sees it */

static void cpu_get_wide(void *self, struct cpu_wide *out) { native_get_wide(self, out); }
static void cpu_set_wide(void *self, const struct cpu_wide *in) { native_set_wide(self, in); }

static void cpu_get_vector(void *self, unsigned vector, uint8_t out[64])
{
    C2_PROMISE(vector < 32);
    struct native *n = self;
    struct cpu_wide wide;
    native_get_wide(n, &wide);
    if (vector >= 16) {
        memcpy(out, wide.zmm_rest[vector - 16], 64);
        return;
    }
    n->cpu.get_xmm(n, vector, out);
    memcpy(out + 16, wide.ymm_high[vector], 16);
    memcpy(out + 32, wide.zmm_high[vector], 32);
}

static uint64_t cpu_get_opmask(void *self, unsigned opmask)
{
    C2_PROMISE(opmask < 8);
    struct cpu_wide wide;
    native_get_wide(self, &wide);
    return wide.opmask[opmask];
}

void native_wide_functions(struct interpret_cpu *cpu)
{
    cpu->get_wide = cpu_get_wide;
    cpu->set_wide = cpu_set_wide;
    cpu->get_vector = cpu_get_vector;
    cpu->get_opmask = cpu_get_opmask;
}

/* ------------------------------------------------------------------ instructions under masks */

/* The instruction with [RAX], or [RAX + index * scale], in place of its operand; of VEX or EVEX. */
static unsigned rewrite(uint8_t out[MASKED_BYTES], const struct decode_insn *insn, const uint8_t *bytes, bool indexed)
{
    const ZydisDecodedInstruction *in = &insn->insn;
    const bool evex = in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    const unsigned prefix = evex ? in->raw.evex.offset : in->raw.vex.offset, sib = indexed ? 1 : 0;
    const unsigned had = (in->attributes & ZYDIS_ATTRIB_HAS_SIB ? 1u : 0u) + in->raw.disp.size / 8u;
    const unsigned behind = in->raw.modrm.offset + 1u + had;
    unsigned count = in->raw.modrm.offset - prefix;
    memcpy(out, bytes + prefix, count);
    if (evex || in->raw.vex.size == 3)
        out[1] |= indexed ? 0x20 : 0x60; /* B, and X without an index, are of no register above 7 */
    out[count++] = (uint8_t)(in->raw.modrm.reg << 3 | (indexed ? 4 : 0));
    if (sib)
        out[count++] = (uint8_t)(in->raw.sib.scale << 6 | in->raw.sib.index << 3);
    memcpy(out + count, bytes + behind, in->length - behind);
    count += in->length - behind;
    out[count++] = RETURN;
    C2_PROMISE(count <= MASKED_BYTES);
    return count;
}

static const ZydisDecodedOperand *operand_of(const struct decode_insn *insn)
{
    const ZydisDecodedOperand *found = NULL;
    for (unsigned i = 0; i < insn->insn.operand_count; i++)
        if (insn->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            found = &insn->operands[i];
    C2_ASSERT(found);
    return found;
}

static bool is_indexed(const ZydisDecodedOperand *operand) { return operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB; }

/* Pieces of code are numbered from 1 on; the oldest one makes room. */
static uint32_t place_number(uint32_t number)
{
    C2_PROMISE(number != 0);
    return (number - 1) % MASKED_PLACES;
}

/* Whether what was made of it is still there, and it is still the same. */
static bool has_code(const struct native *n, const struct engine_special *special)
{
    C2_PROMISE(special->own <= n->masked_count);
    return special->own != 0 && n->masked_count - (special->own - 1) <= MASKED_PLACES &&
           memcmp(n->masked_of[place_number(special->own)], special->bytes, sizeof special->bytes) == 0;
}

static uint8_t *wide_place_of(const struct native *n, uint32_t number)
{
    C2_PROMISE(number <= n->masked_count);
    return native_cache_end(n->codes.cache.written) + place_number(number) * MASKED_BYTES;
}

/* Where the rewritten instruction is executed; NULL: no memory. */
static const void *wide_code_of(struct native *n, struct engine_special *special, bool indexed)
{
    C2_PROMISE(special->decoded == DECODE_GOOD);
    if (!n->masked_of)
        n->masked_of = c2_calloc(MASKED_PLACES, sizeof *n->masked_of);
    if (!n->masked_of)
        return NULL;
    if (!has_code(n, special)) {
        special->own = ++n->masked_count;
        rewrite(wide_place_of(n, special->own), &special->insn, special->bytes, indexed);
        memcpy(n->masked_of[place_number(special->own)], special->bytes, sizeof special->bytes);
    }
    return native_executed(&n->codes.cache, wide_place_of(n, special->own));
}

static uint64_t wide_address_of(struct native *n, const struct engine_special *special, ZydisDecodedOperand operand)
{
    C2_PROMISE(operand.type == ZYDIS_OPERAND_TYPE_MEMORY);
    uint64_t address = 0;
    operand.mem.type = ZYDIS_MEMOP_TYPE_MEM;
    operand.mem.index = is_indexed(operand_of(&special->insn)) ? ZYDIS_REGISTER_NONE : operand.mem.index;
    interpret_address(&address, &n->cpu, (struct guest_va){special->pc}, &special->insn.insn, &operand);
    return address;
}

static bool traps(const struct native *n)
{
    enum { MASKS = 0x1f80 };
    return (native_get_mxcsr(n) & MASKS) != MASKS;
}

static void wide_refuse(struct interpret_effect *effect, const char *why)
{
    effect->status = INTERPRET_REFUSED;
    effect->reason = why;
}

/* Moves that want their operand at a multiple of its size. */
static bool is_misaligned(const struct decode_insn *insn, const ZydisDecodedOperand *operand, uint64_t address)
{
    C2_PROMISE(operand->size >= 8);
    return insn->insn.meta.exception_class == ZYDIS_EXCEPTION_CLASS_E1 && address % (operand->size / 8u) != 0;
}

void native_do_masked(struct native *n, struct engine_special *special, struct interpret_touched *touched,
                      struct interpret_effect *effect)
{
    C2_PROMISE(engine_special_is_masked(special, n->base.config.cpu));
    const struct decode_insn *insn = &special->insn;
    const struct guest_va pc = {special->pc};
    *effect = (struct interpret_effect){.status = INTERPRET_DONE};
    interpret_touched(touched, &n->cpu, pc, &insn->insn, insn->operands);
    if (!interpret_may_touch(effect, touched, &n->cpu, &insn->insn, insn->operands))
        return;
    if (interpret_is_xsave(&insn->insn)) {
        interpret_execute(&n->cpu, pc, &insn->insn, insn->operands, effect);
        return;
    }
    const ZydisDecodedOperand *operand = operand_of(insn);
    const bool indexed = is_indexed(operand);
    const uint64_t address = wide_address_of(n, special, *operand);
    if (is_misaligned(insn, operand, address)) {
        *effect = (struct interpret_effect){.status = INTERPRET_SIGNAL, .signal = SIGSEGV, .code = SI_KERNEL};
    } else if (traps(n)) {
        wide_refuse(effect, "an instruction under a mask is not modelled while floating-point exceptions trap "
                            "(feenableexcept)");
    } else if (indexed && insn->insn.address_width != 64) {
        wide_refuse(effect, "32-bit addresses of a vector of indices (67h) are not modelled");
    } else if (insn->insn.mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU) {
        wide_refuse(effect, "VMASKMOVDQU is not modelled by the native engine");
    } else {
        const void *code = wide_code_of(n, special, indexed);
        if (code)
            native_execute_masked(n->context, code, address);
        else
            wide_refuse(effect, "the host has no memory for instructions under masks");
    }
}

void native_wide_end(struct native *n) { c2_free(n->masked_of); }
