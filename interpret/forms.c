/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   One row a mnemonic: executed by the engine (the allowlist), interpreted, a signal, or refused. What has no row is
 *   refused, with the name of the extension it belongs to. tests/engine/ executes every form of the allowlist on the
 *   host CPU and in the engine; a mnemonic enters it only if they agree.
 * Not modelled
 *   Where the engine differs from a CPU and executes all the same, because nothing that a compiler emits can tell:
 *   - C1 and the flag of a denormal operand in the x87 status; x87 stack overflow and underflow;
 *   - a successful 32-bit CMPXCHG clears the upper half of RAX, BSF and BSR of a zero that of their destination;
 *   - alignment that an SSE instruction requests is not checked.
 * Source
 *   Intel SDM volume 2; names of mnemonics and extensions: Zydis 4.0.
 */
#include "interpret/interpret_priv.h"

/* ------------------------------------------------------------------ predicates of the rows */

#define PREDICATE(name) \
    static bool name(const ZydisDecodedInstruction *insn __attribute__((unused)), \
                     const ZydisDecodedOperand *operands __attribute__((unused)))

/* Engines that watch memory spoil CF and OF of shifts of memory by CL. */
PREDICATE(memory_by_cl) { return interpret_is_memory(&operands[0]) && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER; }
PREDICATE(memory_first) { return interpret_is_memory(&operands[0]); }
PREDICATE(of_16_bits) { return insn->operand_width == 16; }
/* CPUs differ in what shifts by more than 16 leave of 16 bits. */
PREDICATE(memory_or_16_bits) { return memory_first(insn, operands) || of_16_bits(insn, operands); }
PREDICATE(locked) { return memory_first(insn, operands) && (insn->attributes & ZYDIS_ATTRIB_HAS_LOCK); }
PREDICATE(string_search) { return (operands[2].imm.value.u >> 2 & 3) == 3; }
PREDICATE(from_segment)
{
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
PREDICATE(memory_second) { return interpret_is_memory(&operands[1]); }

/* What engines get wrong and no compiler emits. */
PREDICATE(with_rex) { return insn->attributes & ZYDIS_ATTRIB_HAS_REX; }
PREDICATE(reserved_comparison) { return insn->meta.category != ZYDIS_CATEGORY_STRINGOP && operands[2].imm.value.u > 7; }
PREDICATE(of_16_bits_enter) { return insn->operand_width == 16; }
PREDICATE(undocumented_test) { return (insn->opcode | 1) == 0xf7 && insn->raw.modrm.reg == 1; }
PREDICATE(extended_group) { return (insn->opcode | 1) == 0xc7 && insn->raw.rex.R; }
PREDICATE(pops_much) { return insn->raw.imm[0].size == 16 && insn->raw.imm[0].value.u >= 0x8000; }
PREDICATE(of_registers_32) { return insn->operand_width == 32 && !interpret_is_memory(&operands[0]); }
PREDICATE(mmx_from_memory)
{
    return ZydisRegisterGetClass(operands[0].reg.value) == ZYDIS_REGCLASS_MMX && interpret_is_memory(&operands[1]);
}
PREDICATE(prefetch_of_register)
{
    bool prefetch = insn->opcode_map == ZYDIS_OPCODE_MAP_0F && (insn->opcode == 0x0d || insn->opcode == 0x18);
    return prefetch && insn->raw.modrm.mod == 3;
}
PREDICATE(far_branch) { return insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR; }
PREDICATE(same_register)
{
    return operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value == operands[1].reg.value;
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

#define RUN(m, handler) [ZYDIS_MNEMONIC_##m] = {.run = (handler)}
#define RUN_IF(m, predicate, handler) [ZYDIS_MNEMONIC_##m] = {.native = true, .run = (handler), .only = (predicate)}
#define REFUSE(m, why) [ZYDIS_MNEMONIC_##m] = {.refusal = (why)}
/* engines compute the flags in the place of what they are computed from, and lose both when the store faults */
#define SETCC(condition) RUN_IF(SET##condition, memory_first, interpret_setcc),
#define NATIVE_BUT(m, predicate, why) [ZYDIS_MNEMONIC_##m] = {.native = true, .not = (predicate), .refusal = (why)}

#define USELESS_REX "a REX prefix on LAHF, SAHF or PAUSE is not modelled"
#define RESERVED_COMPARISON "an SSE comparison with a reserved predicate is not modelled"
#define OTHER_SEGMENTS "instructions that look into descriptor tables are not modelled"

/* Executed by the engine as they are. */
/* clang-format off */
#define NATIVE_INTEGERS(X) \
    X(ADD) X(ADC) X(SUB) X(SBB) X(CMP) X(AND) X(OR) X(XOR) X(INC) X(DEC) X(NOT) X(MUL) X(IMUL) X(DIV) X(IDIV) \
    X(ADCX) X(ADOX) X(CBW) X(CWDE) X(CDQE) X(CWD) X(CDQ) X(CQO) X(LEA) X(MOVZX) X(MOVSX) X(MOVSXD) X(XCHG) X(XADD) \
    X(MOVNTI) X(XLAT) X(CRC32) X(BT) X(BTS) X(BTR) X(BTC) X(BSF) X(BSR) X(LZCNT) \
    X(TZCNT) X(ANDN) X(SHLX) X(SHRX) X(SARX) X(MULX)
/* clang-format on */
#define NATIVE_FLAGS(X) X(CLC) X(STC) X(CMC) X(CLD) X(STD) X(PUSHF) X(PUSHFQ)
/* clang-format off */
#define NATIVE_STACK_BRANCHES(X) \
    X(PUSH) X(POP) X(LEAVE) X(JB) X(JBE) X(JL) X(JLE) X(JNB) X(JNBE) X(JNL) X(JNLE) X(JNO) X(JNP) \
    X(JNS) X(JNZ) X(JO) X(JP) X(JS) X(JZ) X(JRCXZ) X(JECXZ) X(LOOP) X(CMOVB) X(CMOVBE) \
    X(CMOVL) X(CMOVLE) X(CMOVNB) X(CMOVNBE) X(CMOVNL) X(CMOVNLE) X(CMOVNO) X(CMOVNP) X(CMOVNS) \
    X(CMOVNZ) X(CMOVO) X(CMOVP) X(CMOVS) X(CMOVZ)
#define NATIVE_STRINGS(X) /* without a REP prefix; MOVSD is also an SSE instruction */ \
    X(MOVSB) X(MOVSW) X(MOVSD) X(MOVSQ) X(STOSB) X(STOSW) X(STOSD) X(STOSQ) X(LODSB) X(LODSW) X(LODSD) X(LODSQ) \
    X(CMPSB) X(CMPSW) X(CMPSQ) X(SCASB) X(SCASW) X(SCASD) X(SCASQ)
#define NATIVE_HINTS(X) /* and fences, and the system call */ \
    X(ENDBR64) X(ENDBR32) X(RDSSPD) X(RDSSPQ) X(LFENCE) X(MFENCE) X(SFENCE) X(SYSCALL)
#define NATIVE_MOVES(X) /* SSE and MMX */ \
    X(MOVAPS) X(MOVAPD) X(MOVUPS) X(MOVUPD) X(MOVDQA) X(MOVDQU) X(LDDQU) X(MOVSS) X(MOVD) X(MOVQ) X(MOVHPS) \
    X(MOVHPD) X(MOVLPS) X(MOVLPD) X(MOVHLPS) X(MOVLHPS) X(MOVMSKPS) X(MOVMSKPD) X(PMOVMSKB) X(MOVNTPS) X(MOVNTPD) \
    X(MOVNTDQ) X(MOVNTDQA) X(MOVNTQ) X(MOVQ2DQ) X(MOVDQ2Q) X(MOVDDUP) X(MOVSHDUP) X(MOVSLDUP) X(EMMS)
#define NATIVE_FLOATING_POINT(X) /* SSE */ \
    X(ADDPS) X(ADDPD) X(ADDSS) X(ADDSD) X(SUBPS) X(SUBPD) X(SUBSS) X(SUBSD) X(MULPS) X(MULPD) X(MULSS) X(MULSD) \
    X(DIVPS) X(DIVPD) X(DIVSS) X(DIVSD) X(MINPS) X(MINPD) X(MINSS) X(MINSD) X(MAXPS) X(MAXPD) X(MAXSS) X(MAXSD) \
    X(SQRTPS) X(SQRTPD) X(SQRTSS) X(SQRTSD) X(ANDPS) X(ANDPD) X(ANDNPS) X(ANDNPD) X(ORPS) X(ORPD) \
    X(XORPS) X(XORPD) X(COMISS) X(COMISD) X(UCOMISS) X(UCOMISD) X(SHUFPS) X(SHUFPD) \
    X(UNPCKHPS) X(UNPCKHPD) X(UNPCKLPS) X(UNPCKLPD) X(ADDSUBPS) X(ADDSUBPD) X(HADDPS) X(HADDPD) X(HSUBPS) \
    X(HSUBPD) X(ROUNDPS) X(ROUNDPD) X(BLENDPS) X(BLENDPD) X(BLENDVPS) X(BLENDVPD) X(INSERTPS) X(EXTRACTPS) \
    X(CVTDQ2PS) X(CVTPD2DQ) X(CVTPD2PI) X(CVTPD2PS) X(CVTPS2DQ) X(CVTSD2SI) X(CVTSD2SS) X(CVTSI2SD) X(CVTSI2SS) \
    X(CVTSS2SD) X(CVTSS2SI) X(CVTTPD2DQ) X(CVTTPD2PI) X(CVTTPS2DQ) X(CVTTSD2SI) X(CVTTSS2SI)
#define NATIVE_PACKED_INTEGERS(X) /* SSE and MMX */ \
    X(PADDB) X(PADDW) X(PADDD) X(PADDQ) X(PADDSB) X(PADDSW) X(PADDUSB) X(PADDUSW) X(PSUBB) X(PSUBW) X(PSUBD) \
    X(PSUBQ) X(PSUBSB) X(PSUBSW) X(PSUBUSB) X(PSUBUSW) X(PMULLW) X(PMULHW) X(PMULHUW) X(PMULUDQ) X(PMADDWD) \
    X(PMULLD) X(PMULDQ) X(PMADDUBSW) X(PMULHRSW) X(PSADBW) X(MPSADBW) X(PAVGB) X(PAVGW) X(PAND) X(PANDN) X(POR) \
    X(PXOR) X(PTEST) X(PCMPEQB) X(PCMPEQW) X(PCMPEQD) X(PCMPEQQ) X(PCMPGTB) X(PCMPGTW) X(PCMPGTD) X(PCMPGTQ) \
    X(PMINUB) X(PMINUW) X(PMINUD) X(PMINSB) X(PMINSW) X(PMINSD) X(PMAXUB) X(PMAXUW) X(PMAXUD) X(PMAXSB) X(PMAXSW) \
    X(PMAXSD) X(PHMINPOSUW) X(PSLLW) X(PSLLD) X(PSLLQ) X(PSLLDQ) X(PSRLW) X(PSRLD) X(PSRLQ) X(PSRLDQ) X(PSRAW) \
    X(PSRAD) X(PACKSSWB) X(PACKSSDW) X(PACKUSWB) X(PACKUSDW) X(PUNPCKHBW) X(PUNPCKHWD) X(PUNPCKHDQ) X(PUNPCKHQDQ) \
    X(PUNPCKLQDQ) X(PSHUFB) X(PSHUFD) X(PSHUFHW) X(PSHUFLW) X(PSHUFW) X(PALIGNR) X(PBLENDVB) X(PBLENDW) X(PABSB) \
    X(PABSW) X(PABSD) X(PSIGNB) X(PSIGNW) X(PSIGND) \
    X(PMOVSXBW) X(PMOVSXBD) X(PMOVSXBQ) X(PMOVSXWD) X(PMOVSXWQ) X(PMOVSXDQ) X(PMOVZXBW) X(PMOVZXBD) X(PMOVZXBQ) \
    X(PMOVZXWD) X(PMOVZXWQ) X(PMOVZXDQ) X(PEXTRB) X(PEXTRW) X(PEXTRD) X(PEXTRQ) X(PINSRB) X(PINSRW) X(PINSRD) \
    X(PINSRQ)
#define NATIVE_X87(X) \
    X(FLD) X(FST) X(FSTP) X(FILD) X(FIST) X(FISTP) X(FXCH) X(FLD1) X(FLDZ) X(FADD) X(FADDP) X(FIADD) X(FSUB) \
    X(FSUBP) X(FISUB) X(FSUBR) X(FSUBRP) X(FISUBR) X(FMUL) X(FMULP) X(FIMUL) X(FDIV) X(FDIVP) X(FIDIV) X(FDIVR) \
    X(FDIVRP) X(FIDIVR) X(FCHS) X(FABS) X(FSQRT) X(FRNDINT) X(FCOM) X(FCOMP) X(FCOMPP) X(FUCOM) X(FUCOMP) \
    X(FUCOMPP) X(FCOMI) X(FCOMIP) X(FUCOMI) X(FUCOMIP) X(FICOM) X(FICOMP) X(FTST) X(FXAM) X(FCMOVB) X(FCMOVBE) \
    X(FCMOVE) X(FCMOVNB) X(FCMOVNBE) X(FCMOVNE) X(FCMOVNU) X(FCMOVU) X(FDECSTP) X(FINCSTP) X(FFREE) X(FNOP) \
    X(FWAIT) X(FNSTCW)
/* clang-format on */

#define NATIVE(m) [ZYDIS_MNEMONIC_##m] = {.native = true},
static const struct interpret_form forms[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    NATIVE_INTEGERS(NATIVE) NATIVE_FLAGS(NATIVE) NATIVE_STACK_BRANCHES(NATIVE) NATIVE_STRINGS(NATIVE)
        NATIVE_HINTS(NATIVE) NATIVE_MOVES(NATIVE) NATIVE_FLOATING_POINT(NATIVE) NATIVE_PACKED_INTEGERS(NATIVE)
            NATIVE_X87(NATIVE)

    /* integers */
    RUN_IF(TEST, undocumented_test, interpret_test), /* an engine takes it for no instruction at all */
    NATIVE_BUT(BSWAP, of_16_bits, "BSWAP of 16 bits has no defined result"),
    NATIVE_BUT(CMPXCHG, of_registers_32, "CMPXCHG of 32-bit registers is not modelled"),
    RUN(BEXTR, interpret_bextr),
    RUN(RORX, interpret_rorx),
    [ZYDIS_MNEMONIC_MOV] = {.native = true,
                            .run = mov_special_run,
                            .only = mov_special,
                            .not = extended_group,
                            .refusal = "a REX.R prefix on MOV of an immediate is not modelled"},
    RUN_IF(NEG, locked, interpret_neg),
    RUN_IF(SHL, memory_by_cl, interpret_shift),
    RUN_IF(SHR, memory_by_cl, interpret_shift),
    RUN_IF(SAR, memory_by_cl, interpret_shift),
    RUN_IF(ROL, memory_by_cl, interpret_shift),
    RUN_IF(ROR, memory_by_cl, interpret_shift),
    RUN_IF(RCL, memory_first, interpret_shift), /* as SETcc */
    RUN_IF(RCR, memory_first, interpret_shift),
    RUN_IF(SHLD, memory_or_16_bits, interpret_shift_double),
    RUN_IF(SHRD, memory_or_16_bits, interpret_shift_double),
    RUN(POPCNT, interpret_popcnt),
    RUN(MOVBE, interpret_movbe),
    RUN(PDEP, interpret_pdep),
    RUN(PEXT, interpret_pext),
    RUN(BZHI, interpret_bzhi),
    RUN(BLSI, interpret_blsi),
    RUN(BLSR, interpret_blsr),
    RUN(BLSMSK, interpret_blsmsk),

    /* flags */
    RUN(CMPXCHG8B, interpret_cmpxchg_pair),
    RUN(CMPXCHG16B, interpret_cmpxchg_pair),
    RUN(LOOPE, interpret_loop_while),
    RUN(LOOPNE, interpret_loop_while),
    RUN(POPF, interpret_popf),
    RUN(POPFQ, interpret_popf),
    SETCC(B) SETCC(BE) SETCC(L) SETCC(LE) SETCC(NB) SETCC(NBE) SETCC(NL) SETCC(NLE) SETCC(NO) SETCC(NP) SETCC(NS)
        SETCC(NZ) SETCC(O) SETCC(P) SETCC(S) SETCC(Z) NATIVE_BUT(LAHF, with_rex, USELESS_REX),
    NATIVE_BUT(SAHF, with_rex, USELESS_REX),

    /* stack, branches */
    [ZYDIS_MNEMONIC_RET] = {.native = true,
                            .run = interpret_far_return,
                            .only = far_branch,
                            .not = pops_much,
                            .refusal = "RET that pops 32 KiB or more is not modelled"},
    RUN_IF(CALL, far_branch, interpret_far_call),
    RUN_IF(JMP, far_branch, interpret_far_jump),
    [ZYDIS_MNEMONIC_ENTER] = {.run = interpret_enter,
                              .not = of_16_bits_enter,
                              .refusal = "ENTER of 16 bits is not modelled"},

    /* made for caches: engines do not look at their addresses */
    RUN(PREFETCH, interpret_prefetch),
    RUN(PREFETCHT0, interpret_prefetch),
    RUN(PREFETCHT1, interpret_prefetch),
    RUN(PREFETCHT2, interpret_prefetch),
    RUN(PREFETCHNTA, interpret_prefetch),
    RUN(PREFETCHW, interpret_prefetch),
    RUN(CLFLUSH, interpret_clflush),
    RUN(CLFLUSHOPT, interpret_clflush),
    RUN(CLWB, interpret_clflush),

    /* also a string instruction, to which the predicate does not apply */
    NATIVE_BUT(CMPSD, reserved_comparison, RESERVED_COMPARISON),

    /* hints, fences, the system call */
    NATIVE_BUT(NOP, prefetch_of_register, "a prefetch of a register is not modelled"),
    NATIVE_BUT(PAUSE, with_rex, USELESS_REX),

    /* SSE: floating point */
    NATIVE_BUT(CMPPS, reserved_comparison, RESERVED_COMPARISON),
    NATIVE_BUT(CMPPD, reserved_comparison, RESERVED_COMPARISON),
    NATIVE_BUT(CMPSS, reserved_comparison, RESERVED_COMPARISON),
    /* of these an engine loads 16 bytes, and may meet a fault that no CPU has */
    RUN_IF(ROUNDSS, memory_second, interpret_round_scalar),
    RUN_IF(ROUNDSD, memory_second, interpret_round_scalar),
    RUN_IF(CVTPS2PD, memory_second, interpret_cvtps2pd),
    RUN_IF(CVTDQ2PD, memory_second, interpret_cvtdq2pd),
    RUN(RCPPS, interpret_reciprocal), /* of CPUs no two makes agree */
    RUN(RCPSS, interpret_reciprocal),
    RUN(RSQRTPS, interpret_reciprocal),
    RUN(RSQRTSS, interpret_reciprocal),
    RUN(DPPS, interpret_dpps), /* another order of additions */
    RUN(DPPD, interpret_dppd),
    RUN_IF(CVTPI2PD, memory_second, interpret_from_integers),
    RUN_IF(CVTPI2PS, memory_second, interpret_from_integers),
    RUN_IF(CVTPS2PI, memory_second, interpret_to_integers),
    RUN_IF(CVTTPS2PI, memory_second, interpret_to_integers),

    /* SSE and MMX: packed integers */
    RUN_IF(PUNPCKLBW, mmx_from_memory, interpret_unpack_low),
    RUN_IF(PUNPCKLWD, mmx_from_memory, interpret_unpack_low),
    RUN_IF(PUNPCKLDQ, mmx_from_memory, interpret_unpack_low),
    /* engines overwrite the source that they still need */
    RUN_IF(PHADDW, same_register, interpret_horizontal),
    RUN_IF(PHADDD, same_register, interpret_horizontal),
    RUN_IF(PHADDSW, same_register, interpret_horizontal),
    RUN_IF(PHSUBW, same_register, interpret_horizontal),
    RUN_IF(PHSUBD, same_register, interpret_horizontal),
    RUN_IF(PHSUBSW, same_register, interpret_horizontal),
    RUN(MASKMOVQ, interpret_maskmov),
    RUN(MASKMOVDQU, interpret_maskmov),
    RUN(PCMPESTRI, interpret_pcmpstr), /* an engine may crash on a length of -2^31, and ignores REX.W */
    RUN(PCMPESTRM, interpret_pcmpstr),
    RUN_IF(PCMPISTRI, string_search, interpret_pcmpstr),
    RUN_IF(PCMPISTRM, string_search, interpret_pcmpstr),

    /* x87 */
    RUN(FSCALE, interpret_fscale),
    RUN(FXTRACT, interpret_fxtract),
    RUN(FBLD, interpret_fbld),
    RUN(FBSTP, interpret_fbstp),
    RUN(FPREM, interpret_fprem),
    RUN(FPREM1, interpret_fprem1),
    RUN(FISTTP, interpret_fisttp),
    RUN(FLDPI, interpret_x87_constant),
    RUN(FLDL2T, interpret_x87_constant),
    RUN(FLDL2E, interpret_x87_constant),
    RUN(FLDLG2, interpret_x87_constant),
    RUN(FLDLN2, interpret_x87_constant),
    RUN(FSIN, interpret_fsin),
    RUN(FCOS, interpret_fcos),
    RUN(FSINCOS, interpret_fsincos),
    RUN(FPTAN, interpret_fptan),
    RUN(FPATAN, interpret_fpatan),
    RUN(F2XM1, interpret_f2xm1),
    RUN(FYL2X, interpret_fyl2x),
    RUN(FYL2XP1, interpret_fyl2xp1),

    /* floating-point state */
    RUN(LDMXCSR, interpret_ldmxcsr),
    RUN(STMXCSR, interpret_stmxcsr),
    RUN(FXSAVE, interpret_fxsave),
    RUN(FXSAVE64, interpret_fxsave),
    RUN(FXRSTOR, interpret_fxrstor),
    RUN(FXRSTOR64, interpret_fxrstor),
    RUN(FLDCW, interpret_fldcw),
    RUN(FNSTSW, interpret_fnstsw),
    RUN(FNCLEX, interpret_fnclex),
    RUN(FNINIT, interpret_fninit),
    RUN(FNSTENV, interpret_fnstenv),
    RUN(FLDENV, interpret_fldenv),
    RUN(FNSAVE, interpret_fnsave),
    RUN(FRSTOR, interpret_frstor),
    RUN(XSAVE, interpret_xsave),
    RUN(XSAVE64, interpret_xsave),
    RUN(XRSTOR, interpret_xrstor),
    RUN(XRSTOR64, interpret_xrstor),

    /* the system */
    RUN(XGETBV, interpret_xgetbv),
    RUN(CPUID, interpret_cpuid),
    RUN(RDTSC, interpret_rdtsc),
    RUN(RDTSCP, interpret_rdtscp),
    RUN(INT3, interpret_breakpoint),
    RUN(INT1, interpret_debug_trap),
    RUN(INT, interpret_interrupt),
    RUN(UD0, interpret_undefined),
    RUN(UD1, interpret_undefined),
    RUN(UD2, interpret_undefined),
    RUN(HLT, interpret_privileged),
    RUN(CLI, interpret_privileged),
    RUN(STI, interpret_privileged),
    RUN(IN, interpret_privileged),
    RUN(OUT, interpret_privileged),
    RUN(INSB, interpret_privileged),
    RUN(INSW, interpret_privileged),
    RUN(INSD, interpret_privileged),
    RUN(OUTSB, interpret_privileged),
    RUN(OUTSW, interpret_privileged),
    RUN(OUTSD, interpret_privileged),
    RUN(RDMSR, interpret_privileged),
    RUN(WRMSR, interpret_privileged),
    RUN(RDPMC, interpret_privileged),
    RUN(LGDT, interpret_privileged),
    RUN(LIDT, interpret_privileged),
    RUN(LLDT, interpret_privileged),
    RUN(LTR, interpret_privileged),
    RUN(LMSW, interpret_privileged),
    RUN(CLTS, interpret_privileged),
    RUN(INVD, interpret_privileged),
    RUN(WBINVD, interpret_privileged),
    RUN(INVLPG, interpret_privileged),
    RUN(SWAPGS, interpret_privileged),
    RUN(SYSRET, interpret_privileged),
    RUN(SYSEXIT, interpret_privileged),
    REFUSE(SYSENTER, "SYSENTER calls the 32-bit kernel, which is not modelled: build the program for x86-64 only"),
    RUN(IRET, interpret_iret),
    RUN(IRETD, interpret_iret),
    RUN(IRETQ, interpret_iret),
    REFUSE(LAR, OTHER_SEGMENTS),
    REFUSE(LSL, OTHER_SEGMENTS),
    REFUSE(VERR, OTHER_SEGMENTS),
    REFUSE(VERW, OTHER_SEGMENTS),
    REFUSE(SGDT, OTHER_SEGMENTS),
    REFUSE(SIDT, OTHER_SEGMENTS),
    REFUSE(SLDT, OTHER_SEGMENTS),
    REFUSE(STR, OTHER_SEGMENTS),
    REFUSE(SMSW, OTHER_SEGMENTS),
    REFUSE(LFS, OTHER_SEGMENTS),
    REFUSE(LGS, OTHER_SEGMENTS),
    REFUSE(LSS, OTHER_SEGMENTS),
};

const struct interpret_form *interpret_form_of(ZydisMnemonic mnemonic)
{
    C2_ASSERT((unsigned)mnemonic <= ZYDIS_MNEMONIC_MAX_VALUE);
    return &forms[mnemonic];
}

/* ------------------------------------------------------------------ why the rest is refused */

#define BEYOND(name) \
    name " is beyond x86-64-v2 and not modelled: " \
         "build the program with -march=x86-64-v2, or let it choose its code by CPUID"
/* Of features that another processor of cpu/ has. */
#define BEYOND_FOR(name, cpu) \
    name " is beyond the processor that the guest finds: run it with --cpu " cpu \
         ", build it with -march=x86-64-v2, or let it choose its code by CPUID"
#define EXT(e, name) [ZYDIS_ISA_EXT_##e] = BEYOND(name)
#define EXT_FOR(e, name, cpu) [ZYDIS_ISA_EXT_##e] = BEYOND_FOR(name, cpu)

static const char *const extensions[ZYDIS_ISA_EXT_MAX_VALUE + 1] = {
    EXT_FOR(AES, "AES-NI", "host"),
    EXT(AMD3DNOW, "3DNow!"),
    EXT(AMX_BF16, "AMX"),
    EXT(AMX_INT8, "AMX"),
    EXT(AMX_TILE, "AMX"),
    EXT_FOR(AVX, "AVX", "x86-64-v3"),
    EXT_FOR(AVX2, "AVX2", "x86-64-v3"),
    EXT_FOR(AVX2GATHER, "AVX2", "x86-64-v3"),
    EXT_FOR(AVX512EVEX, "AVX-512", "x86-64-v4"),
    EXT_FOR(AVX512VEX, "AVX-512", "x86-64-v4"),
    EXT_FOR(AVXAES, "AVX", "host"),
    EXT_FOR(AVX_VNNI, "AVX-VNNI", "host"),
    EXT(CET, "CET"),
    EXT(CLDEMOTE, "CLDEMOTE"),
    EXT(CLZERO, "CLZERO"),
    EXT(ENQCMD, "ENQCMD"),
    EXT_FOR(F16C, "F16C", "x86-64-v3"),
    EXT_FOR(FMA, "FMA", "x86-64-v3"),
    EXT(FMA4, "FMA4"),
    EXT_FOR(GFNI, "GFNI", "host"),
    EXT(MONITORX, "MONITORX"),
    EXT(MOVDIR, "MOVDIR"),
    EXT(MPX, "MPX"),
    EXT_FOR(PCLMULQDQ, "PCLMULQDQ", "host"),
    EXT(PKU, "PKU"),
    EXT(PREFETCHWT1, "PREFETCHWT1"),
    EXT(RDPID, "RDPID"),
    EXT(RDPRU, "RDPRU"),
    EXT(RDRAND, "RDRAND"),
    EXT(RDSEED, "RDSEED"),
    EXT(RDWRFSGS, "FSGSBASE"),
    EXT(RTM, "TSX"),
    EXT(SERIALIZE, "SERIALIZE"),
    EXT(SGX, "SGX"),
    EXT_FOR(SHA, "SHA-NI", "host"),
    EXT(SSE4A, "SSE4a"),
    EXT(TBM, "TBM"),
    EXT(TSX_LDTRK, "TSX"),
    EXT(UINTR, "UINTR"),
    EXT_FOR(VAES, "VAES", "host"),
    EXT_FOR(VPCLMULQDQ, "VPCLMULQDQ", "host"),
    EXT(WAITPKG, "WAITPKG"),
    EXT(XOP, "XOP"),
    EXT_FOR(XSAVE, "XSAVE", "x86-64-v3"),
    EXT(XSAVEC, "XSAVE"),
    EXT(XSAVEOPT, "XSAVE"),
    EXT(XSAVES, "XSAVE"),
};

const char *interpret_refusal(const ZydisDecodedInstruction *insn)
{
    if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return BEYOND_FOR("AVX-512", "x86-64-v4");
    const char *reason = extensions[insn->meta.isa_ext];
    return reason ? reason : "this instruction is not among those known to come out right";
}
