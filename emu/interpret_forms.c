/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   One row a mnemonic: executed by the engine (the allowlist), interpreted, a signal, or refused. What has no row is
 *   refused, with the name of the extension it belongs to. tests/engine/ executes every form of the allowlist on the
 *   host CPU and in the engine; a mnemonic enters it only if they agree.
 * Not modelled
 *   RCPPS, RCPSS, RSQRTPS, RSQRTSS give the exactly rounded quotient, where a CPU gives 12 good bits of it (and CPUs of
 *   different makers give different ones).
 * Source
 *   Intel SDM volume 2; names of mnemonics and extensions: Zydis 4.0.
 */
#include "emu/interpret_priv.h"

/* ------------------------------------------------------------------ predicates of the rows */

#define PREDICATE(name) static bool name(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)

/* Engines that watch memory spoil CF and OF of shifts of memory by CL. */
PREDICATE(memory_by_cl)
{
    (void)insn;
    return interpret_is_memory(&operands[0]) && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}
PREDICATE(memory_first)
{
    (void)insn;
    return interpret_is_memory(&operands[0]);
}
PREDICATE(locked) { return memory_first(insn, operands) && (insn->attributes & ZYDIS_ATTRIB_HAS_LOCK); }
PREDICATE(equal_ordered)
{
    (void)insn;
    return (operands[2].imm.value.u >> 2 & 3) == 3;
}
PREDICATE(from_segment)
{
    (void)insn;
    return operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ZydisRegisterGetClass(operands[1].reg.value) == ZYDIS_REGCLASS_SEGMENT;
}
PREDICATE(control_or_debug_register)
{
    for (unsigned i = 0; i < 2 && i < insn->operand_count_visible; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        ZydisRegisterClass class = ZydisRegisterGetClass(operands[i].reg.value);
        if (class == ZYDIS_REGCLASS_CONTROL || class == ZYDIS_REGCLASS_DEBUG)
            return true;
    }
    return false;
}
PREDICATE(mov_special) { return from_segment(insn, operands) || control_or_debug_register(insn, operands); }

static void mov_special_run(struct interpret_run *run)
{
    if (control_or_debug_register(run->insn, run->operands))
        interpret_privileged(run);
    else
        interpret_read_segment(run);
}

/* ------------------------------------------------------------------ the rows */

#define NATIVE(m) [ZYDIS_MNEMONIC_##m] = {.native = true}
#define RUN(m, handler) [ZYDIS_MNEMONIC_##m] = {.run = (handler)}
#define RUN_IF(m, predicate, handler) [ZYDIS_MNEMONIC_##m] = {.native = true, .run = (handler), .only = (predicate)}
#define REFUSE(m, why) [ZYDIS_MNEMONIC_##m] = {.refusal = (why)}

#define DOUBLE_ONLY(name) \
    name " would come out in double precision only: use the C library's function without -ffast-math (it is not x87 code)"
#define OTHER_SEGMENTS "instructions that look into descriptor tables are not modelled"

static const struct interpret_form forms[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    /* integers */
    NATIVE(ADD), NATIVE(ADC), NATIVE(SUB), NATIVE(SBB), NATIVE(CMP), NATIVE(AND), NATIVE(OR), NATIVE(XOR), NATIVE(TEST),
    NATIVE(INC), NATIVE(DEC), NATIVE(NOT), NATIVE(MUL), NATIVE(IMUL), NATIVE(DIV), NATIVE(IDIV), NATIVE(ADCX), NATIVE(ADOX),
    NATIVE(CBW), NATIVE(CWDE), NATIVE(CDQE), NATIVE(CWD), NATIVE(CDQ), NATIVE(CQO), NATIVE(BSWAP), NATIVE(LEA),
    NATIVE(MOVZX), NATIVE(MOVSX), NATIVE(MOVSXD), NATIVE(XCHG), NATIVE(XADD), NATIVE(CMPXCHG),
    NATIVE(CMPXCHG8B), NATIVE(CMPXCHG16B), NATIVE(MOVNTI), NATIVE(XLAT), NATIVE(CRC32),
    NATIVE(BT), NATIVE(BTS), NATIVE(BTR), NATIVE(BTC), NATIVE(BSF), NATIVE(BSR), NATIVE(LZCNT), NATIVE(TZCNT),
    NATIVE(ANDN), NATIVE(BEXTR), NATIVE(SHLX), NATIVE(SHRX), NATIVE(SARX), NATIVE(RORX), NATIVE(MULX),
    RUN_IF(MOV, mov_special, mov_special_run),
    RUN_IF(NEG, locked, interpret_neg),
    RUN_IF(SHL, memory_by_cl, interpret_shift), RUN_IF(SHR, memory_by_cl, interpret_shift),
    RUN_IF(SAR, memory_by_cl, interpret_shift), RUN_IF(ROL, memory_by_cl, interpret_shift),
    RUN_IF(ROR, memory_by_cl, interpret_shift), RUN_IF(RCL, memory_by_cl, interpret_shift),
    RUN_IF(RCR, memory_by_cl, interpret_shift),
    RUN_IF(SHLD, memory_first, interpret_shift_double), RUN_IF(SHRD, memory_first, interpret_shift_double),
    RUN(POPCNT, interpret_popcnt), RUN(MOVBE, interpret_movbe),
    RUN(PDEP, interpret_pdep), RUN(PEXT, interpret_pext), RUN(BZHI, interpret_bzhi),
    RUN(BLSI, interpret_blsi), RUN(BLSR, interpret_blsr), RUN(BLSMSK, interpret_blsmsk),

    /* flags */
    NATIVE(CLC), NATIVE(STC), NATIVE(CMC), NATIVE(CLD), NATIVE(STD), NATIVE(LAHF), NATIVE(SAHF),
    NATIVE(PUSHF), NATIVE(PUSHFQ), NATIVE(POPF), NATIVE(POPFQ),

    /* stack, branches */
    NATIVE(PUSH), NATIVE(POP), NATIVE(CALL), NATIVE(RET), NATIVE(JMP), NATIVE(LEAVE), NATIVE(ENTER),
    NATIVE(JB), NATIVE(JBE), NATIVE(JL), NATIVE(JLE), NATIVE(JNB), NATIVE(JNBE), NATIVE(JNL), NATIVE(JNLE), NATIVE(JNO),
    NATIVE(JNP), NATIVE(JNS), NATIVE(JNZ), NATIVE(JO), NATIVE(JP), NATIVE(JS), NATIVE(JZ),
    NATIVE(JRCXZ), NATIVE(JECXZ), NATIVE(LOOP), NATIVE(LOOPE), NATIVE(LOOPNE),
    NATIVE(SETB), NATIVE(SETBE), NATIVE(SETL), NATIVE(SETLE), NATIVE(SETNB), NATIVE(SETNBE), NATIVE(SETNL), NATIVE(SETNLE),
    NATIVE(SETNO), NATIVE(SETNP), NATIVE(SETNS), NATIVE(SETNZ), NATIVE(SETO), NATIVE(SETP), NATIVE(SETS), NATIVE(SETZ),
    NATIVE(CMOVB), NATIVE(CMOVBE), NATIVE(CMOVL), NATIVE(CMOVLE), NATIVE(CMOVNB), NATIVE(CMOVNBE), NATIVE(CMOVNL),
    NATIVE(CMOVNLE), NATIVE(CMOVNO), NATIVE(CMOVNP), NATIVE(CMOVNS), NATIVE(CMOVNZ), NATIVE(CMOVO), NATIVE(CMOVP),
    NATIVE(CMOVS), NATIVE(CMOVZ),

    /* strings without a REP prefix (MOVSD and CMPSD: also the SSE instructions) */
    NATIVE(MOVSB), NATIVE(MOVSW), NATIVE(MOVSD), NATIVE(MOVSQ), NATIVE(STOSB), NATIVE(STOSW), NATIVE(STOSD), NATIVE(STOSQ),
    NATIVE(LODSB), NATIVE(LODSW), NATIVE(LODSD), NATIVE(LODSQ), NATIVE(CMPSB), NATIVE(CMPSW), NATIVE(CMPSD), NATIVE(CMPSQ),
    NATIVE(SCASB), NATIVE(SCASW), NATIVE(SCASD), NATIVE(SCASQ),

    /* hints, fences, the system call */
    NATIVE(NOP), NATIVE(PAUSE), NATIVE(ENDBR64), NATIVE(ENDBR32), NATIVE(RDSSPD), NATIVE(RDSSPQ),
    NATIVE(LFENCE), NATIVE(MFENCE), NATIVE(SFENCE), NATIVE(CLFLUSH),
    NATIVE(PREFETCHNTA), NATIVE(PREFETCHT0), NATIVE(PREFETCHT1), NATIVE(PREFETCHT2), NATIVE(PREFETCH), NATIVE(PREFETCHW),
    NATIVE(SYSCALL),

    /* SSE and MMX: moves */
    NATIVE(MOVAPS), NATIVE(MOVAPD), NATIVE(MOVUPS), NATIVE(MOVUPD), NATIVE(MOVDQA), NATIVE(MOVDQU), NATIVE(LDDQU),
    NATIVE(MOVSS), NATIVE(MOVD), NATIVE(MOVQ), NATIVE(MOVHPS), NATIVE(MOVHPD), NATIVE(MOVLPS), NATIVE(MOVLPD),
    NATIVE(MOVHLPS), NATIVE(MOVLHPS), NATIVE(MOVMSKPS), NATIVE(MOVMSKPD), NATIVE(PMOVMSKB), NATIVE(MOVNTPS), NATIVE(MOVNTPD),
    NATIVE(MOVNTDQ), NATIVE(MOVNTDQA), NATIVE(MOVNTQ), NATIVE(MOVQ2DQ), NATIVE(MOVDQ2Q), NATIVE(MOVDDUP), NATIVE(MOVSHDUP),
    NATIVE(MOVSLDUP), NATIVE(EMMS),

    /* SSE: floating point */
    NATIVE(ADDPS), NATIVE(ADDPD), NATIVE(ADDSS), NATIVE(ADDSD), NATIVE(SUBPS), NATIVE(SUBPD), NATIVE(SUBSS), NATIVE(SUBSD),
    NATIVE(MULPS), NATIVE(MULPD), NATIVE(MULSS), NATIVE(MULSD), NATIVE(DIVPS), NATIVE(DIVPD), NATIVE(DIVSS), NATIVE(DIVSD),
    NATIVE(MINPS), NATIVE(MINPD), NATIVE(MINSS), NATIVE(MINSD), NATIVE(MAXPS), NATIVE(MAXPD), NATIVE(MAXSS), NATIVE(MAXSD),
    NATIVE(SQRTPS), NATIVE(SQRTPD), NATIVE(SQRTSS), NATIVE(SQRTSD), NATIVE(RCPPS), NATIVE(RCPSS), NATIVE(RSQRTPS),
    NATIVE(RSQRTSS), NATIVE(ANDPS), NATIVE(ANDPD), NATIVE(ANDNPS), NATIVE(ANDNPD), NATIVE(ORPS), NATIVE(ORPD), NATIVE(XORPS),
    NATIVE(XORPD), NATIVE(CMPPS), NATIVE(CMPPD), NATIVE(CMPSS), NATIVE(COMISS), NATIVE(COMISD), NATIVE(UCOMISS),
    NATIVE(UCOMISD), NATIVE(SHUFPS), NATIVE(SHUFPD), NATIVE(UNPCKHPS), NATIVE(UNPCKHPD), NATIVE(UNPCKLPS), NATIVE(UNPCKLPD),
    NATIVE(ADDSUBPS), NATIVE(ADDSUBPD), NATIVE(HADDPS), NATIVE(HADDPD), NATIVE(HSUBPS), NATIVE(HSUBPD),
    NATIVE(ROUNDPS), NATIVE(ROUNDPD), NATIVE(ROUNDSS), NATIVE(ROUNDSD), NATIVE(DPPS), NATIVE(DPPD), NATIVE(BLENDPS),
    NATIVE(BLENDPD), NATIVE(BLENDVPS), NATIVE(BLENDVPD), NATIVE(INSERTPS), NATIVE(EXTRACTPS),
    NATIVE(CVTDQ2PD), NATIVE(CVTDQ2PS), NATIVE(CVTPD2DQ), NATIVE(CVTPD2PI), NATIVE(CVTPD2PS), NATIVE(CVTPI2PD),
    NATIVE(CVTPI2PS), NATIVE(CVTPS2DQ), NATIVE(CVTPS2PD), NATIVE(CVTPS2PI), NATIVE(CVTSD2SI), NATIVE(CVTSD2SS),
    NATIVE(CVTSI2SD), NATIVE(CVTSI2SS), NATIVE(CVTSS2SD), NATIVE(CVTSS2SI), NATIVE(CVTTPD2DQ), NATIVE(CVTTPD2PI),
    NATIVE(CVTTPS2DQ), NATIVE(CVTTPS2PI), NATIVE(CVTTSD2SI), NATIVE(CVTTSS2SI),

    /* SSE and MMX: packed integers */
    NATIVE(PADDB), NATIVE(PADDW), NATIVE(PADDD), NATIVE(PADDQ), NATIVE(PADDSB), NATIVE(PADDSW), NATIVE(PADDUSB),
    NATIVE(PADDUSW), NATIVE(PSUBB), NATIVE(PSUBW), NATIVE(PSUBD), NATIVE(PSUBQ), NATIVE(PSUBSB), NATIVE(PSUBSW),
    NATIVE(PSUBUSB), NATIVE(PSUBUSW), NATIVE(PMULLW), NATIVE(PMULHW), NATIVE(PMULHUW), NATIVE(PMULUDQ), NATIVE(PMADDWD),
    NATIVE(PMULLD), NATIVE(PMULDQ), NATIVE(PMADDUBSW), NATIVE(PMULHRSW), NATIVE(PSADBW), NATIVE(MPSADBW), NATIVE(PAVGB),
    NATIVE(PAVGW), NATIVE(PAND), NATIVE(PANDN), NATIVE(POR), NATIVE(PXOR), NATIVE(PTEST),
    NATIVE(PCMPEQB), NATIVE(PCMPEQW), NATIVE(PCMPEQD), NATIVE(PCMPEQQ), NATIVE(PCMPGTB), NATIVE(PCMPGTW), NATIVE(PCMPGTD),
    NATIVE(PCMPGTQ), NATIVE(PMINUB), NATIVE(PMINUW), NATIVE(PMINUD), NATIVE(PMINSB), NATIVE(PMINSW), NATIVE(PMINSD),
    NATIVE(PMAXUB), NATIVE(PMAXUW), NATIVE(PMAXUD), NATIVE(PMAXSB), NATIVE(PMAXSW), NATIVE(PMAXSD), NATIVE(PHMINPOSUW),
    NATIVE(PSLLW), NATIVE(PSLLD), NATIVE(PSLLQ), NATIVE(PSLLDQ), NATIVE(PSRLW), NATIVE(PSRLD), NATIVE(PSRLQ),
    NATIVE(PSRLDQ), NATIVE(PSRAW), NATIVE(PSRAD), NATIVE(PACKSSWB), NATIVE(PACKSSDW), NATIVE(PACKUSWB), NATIVE(PACKUSDW),
    NATIVE(PUNPCKHBW), NATIVE(PUNPCKHWD), NATIVE(PUNPCKHDQ), NATIVE(PUNPCKHQDQ), NATIVE(PUNPCKLBW), NATIVE(PUNPCKLWD),
    NATIVE(PUNPCKLDQ), NATIVE(PUNPCKLQDQ), NATIVE(PSHUFB), NATIVE(PSHUFD), NATIVE(PSHUFHW), NATIVE(PSHUFLW), NATIVE(PSHUFW),
    NATIVE(PALIGNR), NATIVE(PBLENDVB), NATIVE(PBLENDW), NATIVE(PABSB), NATIVE(PABSW), NATIVE(PABSD), NATIVE(PSIGNB),
    NATIVE(PSIGNW), NATIVE(PSIGND), NATIVE(PHADDW), NATIVE(PHADDD), NATIVE(PHADDSW), NATIVE(PHSUBW), NATIVE(PHSUBD),
    NATIVE(PHSUBSW), NATIVE(PMOVSXBW), NATIVE(PMOVSXBD), NATIVE(PMOVSXBQ), NATIVE(PMOVSXWD), NATIVE(PMOVSXWQ),
    NATIVE(PMOVSXDQ), NATIVE(PMOVZXBW), NATIVE(PMOVZXBD), NATIVE(PMOVZXBQ), NATIVE(PMOVZXWD), NATIVE(PMOVZXWQ),
    NATIVE(PMOVZXDQ), NATIVE(PEXTRB), NATIVE(PEXTRW), NATIVE(PEXTRD), NATIVE(PEXTRQ), NATIVE(PINSRB), NATIVE(PINSRW),
    NATIVE(PINSRD), NATIVE(PINSRQ), NATIVE(MASKMOVQ), NATIVE(MASKMOVDQU),
    RUN_IF(PCMPESTRI, equal_ordered, interpret_pcmpstr), RUN_IF(PCMPESTRM, equal_ordered, interpret_pcmpstr),
    RUN_IF(PCMPISTRI, equal_ordered, interpret_pcmpstr), RUN_IF(PCMPISTRM, equal_ordered, interpret_pcmpstr),

    /* x87 */
    NATIVE(FLD), NATIVE(FST), NATIVE(FSTP), NATIVE(FILD), NATIVE(FIST), NATIVE(FISTP), NATIVE(FXCH), NATIVE(FLD1),
    NATIVE(FLDZ), NATIVE(FADD), NATIVE(FADDP), NATIVE(FIADD), NATIVE(FSUB), NATIVE(FSUBP), NATIVE(FISUB), NATIVE(FSUBR),
    NATIVE(FSUBRP), NATIVE(FISUBR), NATIVE(FMUL), NATIVE(FMULP), NATIVE(FIMUL), NATIVE(FDIV), NATIVE(FDIVP), NATIVE(FIDIV),
    NATIVE(FDIVR), NATIVE(FDIVRP), NATIVE(FIDIVR), NATIVE(FCHS), NATIVE(FABS), NATIVE(FSQRT), NATIVE(FRNDINT),
    NATIVE(FCOM), NATIVE(FCOMP), NATIVE(FCOMPP), NATIVE(FUCOM), NATIVE(FUCOMP), NATIVE(FUCOMPP), NATIVE(FCOMI),
    NATIVE(FCOMIP), NATIVE(FUCOMI), NATIVE(FUCOMIP), NATIVE(FICOM), NATIVE(FICOMP), NATIVE(FTST), NATIVE(FXAM),
    NATIVE(FCMOVB), NATIVE(FCMOVBE), NATIVE(FCMOVE), NATIVE(FCMOVNB), NATIVE(FCMOVNBE), NATIVE(FCMOVNE), NATIVE(FCMOVNU),
    NATIVE(FCMOVU), NATIVE(FDECSTP), NATIVE(FINCSTP), NATIVE(FFREE), NATIVE(FNOP), NATIVE(FWAIT), NATIVE(FNSTCW),
    NATIVE(FSCALE), NATIVE(FXTRACT), NATIVE(FBLD), NATIVE(FBSTP),
    RUN(FPREM, interpret_fprem), RUN(FPREM1, interpret_fprem1), RUN(FISTTP, interpret_fisttp),
    RUN(FLDPI, interpret_x87_constant), RUN(FLDL2T, interpret_x87_constant), RUN(FLDL2E, interpret_x87_constant),
    RUN(FLDLG2, interpret_x87_constant), RUN(FLDLN2, interpret_x87_constant),
    REFUSE(FSIN, DOUBLE_ONLY("FSIN")), REFUSE(FCOS, DOUBLE_ONLY("FCOS")), REFUSE(FSINCOS, DOUBLE_ONLY("FSINCOS")),
    REFUSE(FPTAN, DOUBLE_ONLY("FPTAN")), REFUSE(FPATAN, DOUBLE_ONLY("FPATAN")), REFUSE(F2XM1, DOUBLE_ONLY("F2XM1")),
    REFUSE(FYL2X, DOUBLE_ONLY("FYL2X")), REFUSE(FYL2XP1, DOUBLE_ONLY("FYL2XP1")),

    /* floating-point state */
    RUN(LDMXCSR, interpret_ldmxcsr), RUN(STMXCSR, interpret_stmxcsr), RUN(FXSAVE, interpret_fxsave),
    RUN(FXSAVE64, interpret_fxsave), RUN(FXRSTOR, interpret_fxrstor), RUN(FXRSTOR64, interpret_fxrstor),
    RUN(FLDCW, interpret_fldcw), RUN(FNSTSW, interpret_fnstsw), RUN(FNCLEX, interpret_fnclex), RUN(FNINIT, interpret_fninit),
    RUN(FNSTENV, interpret_fnstenv), RUN(FLDENV, interpret_fldenv), RUN(FNSAVE, interpret_fnsave),
    RUN(FRSTOR, interpret_frstor),

    /* the system */
    RUN(CPUID, interpret_cpuid), RUN(RDTSC, interpret_rdtsc), RUN(RDTSCP, interpret_rdtscp),
    RUN(INT3, interpret_breakpoint), RUN(INT1, interpret_debug_trap), RUN(INT, interpret_interrupt),
    RUN(UD0, interpret_undefined), RUN(UD1, interpret_undefined), RUN(UD2, interpret_undefined),
    RUN(HLT, interpret_privileged), RUN(CLI, interpret_privileged), RUN(STI, interpret_privileged),
    RUN(IN, interpret_privileged), RUN(OUT, interpret_privileged), RUN(INSB, interpret_privileged),
    RUN(INSW, interpret_privileged), RUN(INSD, interpret_privileged), RUN(OUTSB, interpret_privileged),
    RUN(OUTSW, interpret_privileged), RUN(OUTSD, interpret_privileged), RUN(RDMSR, interpret_privileged),
    RUN(WRMSR, interpret_privileged), RUN(RDPMC, interpret_privileged), RUN(LGDT, interpret_privileged),
    RUN(LIDT, interpret_privileged), RUN(LLDT, interpret_privileged), RUN(LTR, interpret_privileged),
    RUN(LMSW, interpret_privileged), RUN(CLTS, interpret_privileged), RUN(INVD, interpret_privileged),
    RUN(WBINVD, interpret_privileged), RUN(INVLPG, interpret_privileged), RUN(SWAPGS, interpret_privileged),
    RUN(SYSRET, interpret_privileged), RUN(SYSEXIT, interpret_privileged),
    REFUSE(SYSENTER, "SYSENTER calls the 32-bit kernel, which is not modelled: build the program for x86-64 only"),
    REFUSE(IRET, OTHER_SEGMENTS), REFUSE(IRETD, OTHER_SEGMENTS), REFUSE(IRETQ, OTHER_SEGMENTS),
    REFUSE(LAR, OTHER_SEGMENTS), REFUSE(LSL, OTHER_SEGMENTS), REFUSE(VERR, OTHER_SEGMENTS), REFUSE(VERW, OTHER_SEGMENTS),
    REFUSE(SGDT, OTHER_SEGMENTS), REFUSE(SIDT, OTHER_SEGMENTS), REFUSE(SLDT, OTHER_SEGMENTS), REFUSE(STR, OTHER_SEGMENTS),
    REFUSE(SMSW, OTHER_SEGMENTS), REFUSE(LFS, OTHER_SEGMENTS), REFUSE(LGS, OTHER_SEGMENTS), REFUSE(LSS, OTHER_SEGMENTS),
};

const struct interpret_form *interpret_form_of(ZydisMnemonic mnemonic)
{
    C2_ASSERT((unsigned)mnemonic <= ZYDIS_MNEMONIC_MAX_VALUE);
    return &forms[mnemonic];
}

/* ------------------------------------------------------------------ why the rest is refused */

#define BEYOND(name) \
    name " is beyond x86-64-v2 and not modelled: build the program with -march=x86-64-v2, or let it choose its code by CPUID"
#define EXT(e, name) [ZYDIS_ISA_EXT_##e] = BEYOND(name)

static const char *const extensions[ZYDIS_ISA_EXT_MAX_VALUE + 1] = {
    EXT(AES, "AES-NI"), EXT(AMD3DNOW, "3DNow!"), EXT(AMX_BF16, "AMX"), EXT(AMX_INT8, "AMX"), EXT(AMX_TILE, "AMX"),
    EXT(AVX, "AVX"), EXT(AVX2, "AVX2"), EXT(AVX2GATHER, "AVX2"), EXT(AVX512EVEX, "AVX-512"), EXT(AVX512VEX, "AVX-512"),
    EXT(AVXAES, "AVX"), EXT(AVX_VNNI, "AVX-VNNI"), EXT(CET, "CET"), EXT(CLDEMOTE, "CLDEMOTE"),
    EXT(CLFLUSHOPT, "CLFLUSHOPT"), EXT(CLWB, "CLWB"), EXT(CLZERO, "CLZERO"), EXT(ENQCMD, "ENQCMD"), EXT(F16C, "F16C"),
    EXT(FMA, "FMA"), EXT(FMA4, "FMA4"), EXT(GFNI, "GFNI"), EXT(MONITORX, "MONITORX"), EXT(MOVDIR, "MOVDIR"), EXT(MPX, "MPX"),
    EXT(PCLMULQDQ, "PCLMULQDQ"), EXT(PKU, "PKU"), EXT(PREFETCHWT1, "PREFETCHWT1"), EXT(RDPID, "RDPID"),
    EXT(RDPRU, "RDPRU"), EXT(RDRAND, "RDRAND"), EXT(RDSEED, "RDSEED"), EXT(RDWRFSGS, "FSGSBASE"), EXT(RTM, "TSX"),
    EXT(SERIALIZE, "SERIALIZE"), EXT(SGX, "SGX"), EXT(SHA, "SHA-NI"), EXT(SSE4A, "SSE4a"), EXT(TBM, "TBM"),
    EXT(TSX_LDTRK, "TSX"), EXT(UINTR, "UINTR"), EXT(VAES, "VAES"), EXT(VPCLMULQDQ, "VPCLMULQDQ"), EXT(WAITPKG, "WAITPKG"),
    EXT(XOP, "XOP"), EXT(XSAVE, "XSAVE"), EXT(XSAVEC, "XSAVE"), EXT(XSAVEOPT, "XSAVE"), EXT(XSAVES, "XSAVE"),
};

const char *interpret_refusal(const ZydisDecodedInstruction *insn)
{
    if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return BEYOND("AVX-512");
    const char *reason = extensions[insn->meta.isa_ext];
    return reason != NULL ? reason : "this instruction is not among those known to come out right";
}
