/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * extensions: which instructions a processor beyond x86-64-v2 has.
 *
 * Model
 *   Instructions of an ISA set of Zydis need one feature of the processor or two (cpu/cpu.h). All forms of a set that
 *   has a row are known to come out alike on all processors which have the features, but for the approximations: these
 *   are refused by name where the model is not this host itself. Sets without a row are judged by the mnemonic
 *   (forms.c), whatever the processor.
 * Source
 *   Intel SDM volume 2, "CPUID Feature Flag" of the instructions' pages.
 */
#include "interpret/interpret_priv.h"

#define BIT(feature) ((uint64_t)1 << CPU_##feature)

static const uint64_t needed[ZYDIS_ISA_SET_MAX_VALUE + 1] = {
    [ZYDIS_ISA_SET_AVX] = BIT(AVX1),
    [ZYDIS_ISA_SET_AVX2] = BIT(AVX2),
    [ZYDIS_ISA_SET_AVX2GATHER] = BIT(AVX2),
    [ZYDIS_ISA_SET_F16C] = BIT(F16C),
    [ZYDIS_ISA_SET_FMA] = BIT(FMA),
    [ZYDIS_ISA_SET_XSAVE] = BIT(XSAVE),

    [ZYDIS_ISA_SET_AVX512F_128] = BIT(AVX512F) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512F_256] = BIT(AVX512F) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512F_512] = BIT(AVX512F),
    [ZYDIS_ISA_SET_AVX512F_128N] = BIT(AVX512F),
    [ZYDIS_ISA_SET_AVX512F_SCALAR] = BIT(AVX512F),
    [ZYDIS_ISA_SET_AVX512F_KOP] = BIT(AVX512F),
    [ZYDIS_ISA_SET_AVX512BW_128] = BIT(AVX512BW) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512BW_256] = BIT(AVX512BW) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512BW_512] = BIT(AVX512BW),
    [ZYDIS_ISA_SET_AVX512BW_128N] = BIT(AVX512BW),
    [ZYDIS_ISA_SET_AVX512BW_KOP] = BIT(AVX512BW),
    [ZYDIS_ISA_SET_AVX512DQ_128] = BIT(AVX512DQ) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512DQ_256] = BIT(AVX512DQ) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512DQ_512] = BIT(AVX512DQ),
    [ZYDIS_ISA_SET_AVX512DQ_128N] = BIT(AVX512DQ),
    [ZYDIS_ISA_SET_AVX512DQ_SCALAR] = BIT(AVX512DQ),
    [ZYDIS_ISA_SET_AVX512DQ_KOP] = BIT(AVX512DQ),
    [ZYDIS_ISA_SET_AVX512CD_128] = BIT(AVX512CD) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512CD_256] = BIT(AVX512CD) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512CD_512] = BIT(AVX512CD),

    [ZYDIS_ISA_SET_AES] = BIT(AES),
    [ZYDIS_ISA_SET_AVXAES] = BIT(AES) | BIT(AVX1),
    [ZYDIS_ISA_SET_PCLMULQDQ] = BIT(PCLMULQDQ),
    [ZYDIS_ISA_SET_SHA] = BIT(SHA),
    [ZYDIS_ISA_SET_GFNI] = BIT(GFNI),
    [ZYDIS_ISA_SET_AVX_GFNI] = BIT(GFNI) | BIT(AVX1),
    [ZYDIS_ISA_SET_AVX_VNNI] = BIT(AVX_VNNI),
    [ZYDIS_ISA_SET_VAES] = BIT(VAES),
    [ZYDIS_ISA_SET_VPCLMULQDQ] = BIT(VPCLMULQDQ),
    [ZYDIS_ISA_SET_AVX512_GFNI_128] = BIT(GFNI) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_GFNI_256] = BIT(GFNI) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_GFNI_512] = BIT(GFNI) | BIT(AVX512F),
    [ZYDIS_ISA_SET_AVX512_VAES_128] = BIT(VAES) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VAES_256] = BIT(VAES) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VAES_512] = BIT(VAES) | BIT(AVX512F),
    [ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_128] = BIT(VPCLMULQDQ) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_256] = BIT(VPCLMULQDQ) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_512] = BIT(VPCLMULQDQ) | BIT(AVX512F),
    [ZYDIS_ISA_SET_AVX512_IFMA_128] = BIT(AVX512_IFMA) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_IFMA_256] = BIT(AVX512_IFMA) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_IFMA_512] = BIT(AVX512_IFMA),
    [ZYDIS_ISA_SET_AVX512_VBMI_128] = BIT(AVX512_VBMI) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VBMI_256] = BIT(AVX512_VBMI) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VBMI_512] = BIT(AVX512_VBMI),
    [ZYDIS_ISA_SET_AVX512_VBMI2_128] = BIT(AVX512_VBMI2) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VBMI2_256] = BIT(AVX512_VBMI2) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VBMI2_512] = BIT(AVX512_VBMI2),
    [ZYDIS_ISA_SET_AVX512_VNNI_128] = BIT(AVX512_VNNI) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VNNI_256] = BIT(AVX512_VNNI) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VNNI_512] = BIT(AVX512_VNNI),
    [ZYDIS_ISA_SET_AVX512_BITALG_128] = BIT(AVX512_BITALG) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_BITALG_256] = BIT(AVX512_BITALG) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_BITALG_512] = BIT(AVX512_BITALG),
    [ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_128] = BIT(AVX512_VPOPCNTDQ) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_256] = BIT(AVX512_VPOPCNTDQ) | BIT(AVX512VL),
    [ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_512] = BIT(AVX512_VPOPCNTDQ),
};

static bool is_approximate(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_VRCPPS:
    case ZYDIS_MNEMONIC_VRCPSS:
    case ZYDIS_MNEMONIC_VRSQRTPS:
    case ZYDIS_MNEMONIC_VRSQRTSS:
    case ZYDIS_MNEMONIC_VRCP14PS:
    case ZYDIS_MNEMONIC_VRCP14PD:
    case ZYDIS_MNEMONIC_VRCP14SS:
    case ZYDIS_MNEMONIC_VRCP14SD:
    case ZYDIS_MNEMONIC_VRSQRT14PS:
    case ZYDIS_MNEMONIC_VRSQRT14PD:
    case ZYDIS_MNEMONIC_VRSQRT14SS:
    case ZYDIS_MNEMONIC_VRSQRT14SD:
        return true;
    default:
        return false;
    }
}

bool interpret_is_extension(const ZydisDecodedInstruction *insn) { return needed[insn->meta.isa_set] != 0; }

const char *interpret_extension_refused(const struct cpu_model *model, const ZydisDecodedInstruction *insn)
{
    if (!model || (needed[insn->meta.isa_set] & ~model->features) != 0)
        return interpret_refusal(insn);
    if (!is_approximate(insn->mnemonic) || model->approximates)
        return NULL;
    return "processors of different makers have other results of this approximation: take --cpu host, with which the "
           "results are this processor's, or x86-64-v3";
}
