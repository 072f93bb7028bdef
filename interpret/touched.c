/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * touched: the bytes that an instruction touches where registers other than those of its address decide on that.
 *
 * Model
 *   A masked move, or an operation under a mask whose memory operand is part of it, touches the elements whose bits are
 *   set; those that lie side by side are one touch. A compressing store and an expanding load touch as many elements as
 *   there are bits, from the first on. One that broadcasts touches an element if any bit is set that it is for. The
 *   mask is an opmask register, or the sign bits of a vector (VMASKMOV, VPMASKMOV; VMASKMOVDQU, of bytes).
 *   A gather or scatter touches each of its elements by itself, in the order of their numbers, whether or not two have
 *   the same address.
 *   Forms whose faults a mask does not suppress read all of their operand whatever the mask is: they are none of these.
 *   So are those without a mask, or with one of K0.
 *   A store of such a form (VEXTRACTx, VMASKMOVDQU) writes the elements that the mask leaves, and faults where any byte
 *   of its operand does: those are probed.
 * Not modelled
 *   The order in which a CPU stores masked elements, or gathers some before others: it is seen only by other
 *   processors. AVX-512 of the Xeon Phi alone (prefetching gathers, 4FMAPS, 4VNNIW): refused by name.
 * Source
 *   Intel SDM volume 1, 15.6.4 (masks and faults); volume 2, 2.8 (exception classes: NF is without suppression) and the
 *   pages of these instructions.
 */
#include "interpret/interpret_priv.h"

#define OPMASK_BITS 64u

static bool is_vsib(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
}

/* The only one that instructions with masks have; NULL: none. */
static const ZydisDecodedOperand *touched_memory_operand(const ZydisDecodedInstruction *insn,
                                                         const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (is_vsib(&operands[i]) || interpret_is_memory(&operands[i]))
            return &operands[i];
    return NULL;
}

static bool has_opmask(const ZydisDecodedInstruction *insn)
{
    return insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && insn->avx.mask.reg > ZYDIS_REGISTER_K0 &&
           insn->avx.mask.reg <= ZYDIS_REGISTER_K7;
}

/* AVX: the sign bits of a vector's elements. */
static bool has_vector_mask(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
        return true;
    default:
        return false;
    }
}

static enum stream_kind touched_kind_of(const ZydisDecodedOperand *memory)
{
    return (memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 ? STREAM_WRITE : STREAM_READ;
}

static bool suppresses_faults(const ZydisDecodedInstruction *insn)
{
    switch (insn->meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_E4NF:
    case ZYDIS_EXCEPTION_CLASS_E5NF:
    case ZYDIS_EXCEPTION_CLASS_E6NF:
        return false;
    default:
        break;
    }
    switch (insn->mnemonic) { /* of the manual's class E4NF, which Zydis 4.0 has in E4 */
    case ZYDIS_MNEMONIC_VDBPSADBW:
    case ZYDIS_MNEMONIC_VCVTNE2PS2BF16:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEQB:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB:
    case ZYDIS_MNEMONIC_VMASKMOVDQU: /* the manual leaves it to the implementation */
        return false;
    default:
        return true;
    }
}

bool interpret_is_masked(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    const ZydisDecodedOperand *memory = touched_memory_operand(insn, operands);
    if (!memory)
        return false;
    return is_vsib(memory) || interpret_is_xsave(insn) || has_vector_mask(insn) ||
           (has_opmask(insn) && (touched_kind_of(memory) == STREAM_WRITE || suppresses_faults(insn)));
}

/* ------------------------------------------------------------------ masks */

/* Element by element of a vector: bit i is the sign of element i. */
static uint64_t signs(const struct interpret_cpu *cpu, ZydisRegister reg, unsigned element_bytes, unsigned count)
{
    uint8_t vector[64];
    uint64_t mask = 0;
    cpu->get_vector(cpu->self, (unsigned)ZydisRegisterGetId(reg), vector);
    for (unsigned i = 0; i < count; i++)
        mask |= (uint64_t)(vector[(i + 1) * element_bytes - 1] >> 7) << i;
    return mask;
}

static uint64_t opmask(const struct interpret_cpu *cpu, const ZydisDecodedInstruction *insn)
{
    return cpu->get_opmask(cpu->self, (unsigned)ZydisRegisterGetId(insn->avx.mask.reg));
}

/* Whose elements the mask's bits are, of an instruction that broadcasts; 0: it does not. */
static unsigned broadcast_lanes(ZydisBroadcastMode mode)
{
    switch (mode) {
    case ZYDIS_BROADCAST_MODE_1_TO_2:
        return 2;
    case ZYDIS_BROADCAST_MODE_1_TO_4:
    case ZYDIS_BROADCAST_MODE_2_TO_4:
        return 4;
    case ZYDIS_BROADCAST_MODE_1_TO_8:
    case ZYDIS_BROADCAST_MODE_2_TO_8:
    case ZYDIS_BROADCAST_MODE_4_TO_8:
        return 8;
    case ZYDIS_BROADCAST_MODE_1_TO_16:
    case ZYDIS_BROADCAST_MODE_2_TO_16:
    case ZYDIS_BROADCAST_MODE_4_TO_16:
    case ZYDIS_BROADCAST_MODE_8_TO_16:
        return 16;
    case ZYDIS_BROADCAST_MODE_1_TO_32:
        return 32;
    case ZYDIS_BROADCAST_MODE_1_TO_64:
        return 64;
    default:
        return 0;
    }
}

static bool is_dense(const ZydisDecodedInstruction *insn)
{
    return insn->meta.category == ZYDIS_CATEGORY_COMPRESS || insn->meta.category == ZYDIS_CATEGORY_EXPAND;
}

/* Element i of `count` is for the bits i, i + count, ... */
static uint64_t touched_fold(uint64_t mask, unsigned lanes, unsigned count)
{
    uint64_t folded = 0;
    for (unsigned i = 0; i < lanes; i++)
        folded |= (mask >> i & 1) << i % count;
    return folded;
}

/* Which of the `count` elements of the memory operand are touched. */
static uint64_t elements_touched(const struct interpret_cpu *cpu, const ZydisDecodedInstruction *insn,
                                 const ZydisDecodedOperand *operands, unsigned bytes, unsigned count)
{
    if (has_vector_mask(insn))
        return signs(cpu, operands[1].reg.value, bytes, count);
    const unsigned lanes = broadcast_lanes(insn->avx.broadcast.mode);
    const uint64_t mask = opmask(cpu, insn);
    if (lanes != 0)
        return touched_fold(mask, lanes, count);
    const uint64_t own = mask & c2_mask(0, count - 1);
    return is_dense(insn) && own != 0 ? c2_mask(0, (unsigned)__builtin_popcountll(own) - 1) : own;
}

/* ------------------------------------------------------------------ runs of elements */

static unsigned put_runs(struct interpret_touch *out, uint64_t address, uint64_t touched, unsigned bytes,
                         enum stream_kind kind)
{
    unsigned count = 0;
    while (touched != 0) {
        const unsigned first = (unsigned)__builtin_ctzll(touched);
        const uint64_t from_first = ~(touched >> first);
        const unsigned run = from_first == 0 ? OPMASK_BITS : (unsigned)__builtin_ctzll(from_first);
        out[count++] = (struct interpret_touch){address + first * bytes, (uint16_t)(run * bytes), kind};
        touched = first + run == OPMASK_BITS ? 0 : touched >> (first + run) << (first + run);
    }
    return count;
}

/* ------------------------------------------------------------------ gathers and scatters */

struct indexed {
    unsigned index_bytes, element_bytes, count;
};

/* Both sizes are in the name: a D or Q for the index, then D, Q, PS or PD. */
static struct indexed indexed_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *memory)
{
    struct indexed it = {.index_bytes = 8, .element_bytes = memory->element_size / 8u};
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VPGATHERDQ:
    case ZYDIS_MNEMONIC_VGATHERDPS:
    case ZYDIS_MNEMONIC_VGATHERDPD:
    case ZYDIS_MNEMONIC_VPSCATTERDD:
    case ZYDIS_MNEMONIC_VPSCATTERDQ:
    case ZYDIS_MNEMONIC_VSCATTERDPS:
    case ZYDIS_MNEMONIC_VSCATTERDPD:
        it.index_bytes = 4;
        break;
    default:
        break;
    }
    const unsigned wider = it.index_bytes > it.element_bytes ? it.index_bytes : it.element_bytes;
    it.count = insn->avx.vector_length / 8u / wider;
    return it;
}

static int64_t index_at(const uint8_t *vector, unsigned i, unsigned bytes)
{
    const uint64_t raw = guest_load((uint64_t)(uintptr_t)(vector + i * bytes), bytes);
    return bytes == 4 ? (int32_t)raw : (int64_t)raw;
}

/* Registers and displacement without the index; *base: of the segment, which is in it. */
static uint64_t touched_start_of(const struct interpret_cpu *cpu, struct guest_va pc,
                                 const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand,
                                 uint64_t *base)
{
    ZydisDecodedOperand plain = *operand;
    const ZydisRegister segment = operand->mem.segment;
    uint64_t start = 0;
    plain.mem.type = ZYDIS_MEMOP_TYPE_MEM;
    plain.mem.index = ZYDIS_REGISTER_NONE;
    interpret_address(&start, cpu, pc, insn, &plain);
    *base = segment == ZYDIS_REGISTER_FS || segment == ZYDIS_REGISTER_GS ? cpu->get_segment_base(cpu->self, segment)
                                                                         : 0;
    return start;
}

static unsigned put_indexed(struct interpret_touch *out, const struct interpret_cpu *cpu, struct guest_va pc,
                            const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                            const ZydisDecodedOperand *memory)
{
    const struct indexed it = indexed_of(insn, memory);
    const bool vex = insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
    const uint64_t mask = vex ? signs(cpu, operands[2].reg.value, it.element_bytes, it.count) : opmask(cpu, insn);
    uint8_t indices[64];
    uint64_t base;
    unsigned count = 0;
    const uint64_t start = touched_start_of(cpu, pc, insn, memory, &base);
    cpu->get_vector(cpu->self, (unsigned)ZydisRegisterGetId(memory->mem.index), indices);
    for (unsigned i = 0; i < it.count; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        uint64_t offset = start - base + (uint64_t)index_at(indices, i, it.index_bytes) * memory->mem.scale;
        if (insn->address_width == 32)
            offset &= 0xffffffff;
        out[count++] = (struct interpret_touch){base + offset, (uint16_t)it.element_bytes, touched_kind_of(memory)};
    }
    return count;
}

static unsigned put_elements(struct interpret_touched *out, const struct interpret_cpu *cpu, struct guest_va pc,
                             const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                             const ZydisDecodedOperand *memory)
{
    uint64_t address;
    const bool is_place = interpret_address(&address, cpu, pc, insn, memory);
    const bool of_bytes = insn->mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU;
    const unsigned bytes = of_bytes ? 1 : memory->element_size / 8u, count = memory->size / 8u / bytes;
    C2_ASSERT(is_place && count <= OPMASK_BITS);
    if (!suppresses_faults(insn))
        out->probed = (struct interpret_touch){address, memory->size / 8, touched_kind_of(memory)};
    return put_runs(out->list, address, elements_touched(cpu, insn, operands, bytes, count), bytes,
                    touched_kind_of(memory));
}

void interpret_touched(struct interpret_touched *out, const struct interpret_cpu *cpu, struct guest_va pc,
                       const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    const ZydisDecodedOperand *memory = touched_memory_operand(insn, operands);
    C2_ASSERT(memory);
    uint64_t area;
    out->probed = (struct interpret_touch){0, 0, STREAM_READ};
    if (interpret_is_xsave(insn) && interpret_address(&area, cpu, pc, insn, memory)) {
        interpret_xsave_touched(out, cpu, insn, area);
        return;
    }
    out->count = is_vsib(memory) ? put_indexed(out->list, cpu, pc, insn, operands, memory)
                                 : put_elements(out, cpu, pc, insn, operands, memory);
}

static bool may_touch(struct interpret_run *run, const struct interpret_touch *touch)
{
    const enum mmu_access access = touch->kind == STREAM_READ ? MMU_ACCESS_READ : MMU_ACCESS_WRITE;
    return touch->bytes == 0 || interpret_may_access(run, touch->address, touch->bytes, access);
}

bool interpret_may_touch(struct interpret_effect *effect, const struct interpret_touched *touched,
                         const struct interpret_cpu *cpu, const ZydisDecodedInstruction *insn,
                         const ZydisDecodedOperand *operands)
{
    struct interpret_run run = {.cpu = cpu, .insn = insn, .operands = operands, .effect = effect};
    bool may = may_touch(&run, &touched->probed);
    for (unsigned i = 0; i < touched->count && may; i++)
        may = may_touch(&run, &touched->list[i]);
    return may;
}
