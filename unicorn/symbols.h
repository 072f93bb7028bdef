/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * symbols: all of Unicorn's own functions that this room takes the place of, by defining functions of the same name in
 * the executable, and those that it calls beside them: none of it is a public interface, and all of it is of version
 * 2.0.1. The build looks whether the library has them (symbols.cmake), an engine when it is created (gate.c).
 * Each name ends in _x86_64.
 */
#ifndef C2_UNICORN_SYMBOLS_H
#define C2_UNICORN_SYMBOLS_H

/* clang-format off */
#define UNICORN_REPLACED(X) \
    X(check_exit_request) X(cpu_loop_exit_noexc) X(float32_add) X(float32_compare_quiet) X(float32_compare) \
    X(float32_div) X(float32_eq_quiet) X(float32_le) X(float32_lt) X(float32_mul) X(float32_sqrt) X(float32_sub) \
    X(float32_to_float64) X(float32_unordered_quiet) X(float64_add) X(float64_compare_quiet) X(float64_compare) \
    X(float64_div) X(float64_eq_quiet) X(float64_le) X(float64_lt) X(float64_mul) X(float64_sqrt) X(float64_sub) \
    X(float64_to_float32) X(float64_unordered_quiet) X(gen_intermediate_code) X(helper_addpd) X(helper_addps) \
    X(helper_addsd) X(helper_addss) X(helper_addsubpd) X(helper_addsubps) X(helper_boundl) X(helper_cmpeqpd) \
    X(helper_cmpeqps) X(helper_cmpeqsd) X(helper_cmpeqss) X(helper_cmplepd) X(helper_cmpleps) X(helper_cmplesd) \
    X(helper_cmpless) X(helper_cmpltpd) X(helper_cmpltps) X(helper_cmpltsd) X(helper_cmpltss) X(helper_cmpneqpd) \
    X(helper_cmpneqps) X(helper_cmpneqsd) X(helper_cmpneqss) X(helper_cmpnlepd) X(helper_cmpnleps) X(helper_cmpnlesd) \
    X(helper_cmpnless) X(helper_cmpnltpd) X(helper_cmpnltps) X(helper_cmpnltsd) X(helper_cmpnltss) X(helper_cmpordpd) \
    X(helper_cmpordps) X(helper_cmpordsd) X(helper_cmpordss) X(helper_cmpunordpd) X(helper_cmpunordps) \
    X(helper_cmpunordsd) X(helper_cmpunordss) X(helper_comisd) X(helper_comiss) X(helper_cvtdq2ps) X(helper_cvtpd2dq) \
    X(helper_cvtpd2pi) X(helper_cvtpd2ps) X(helper_cvtpi2ps) X(helper_cvtps2dq) X(helper_cvtps2pd) X(helper_cvtps2pi) \
    X(helper_cvtsd2si) X(helper_cvtsd2sq) X(helper_cvtsd2ss) X(helper_cvtsi2ss) X(helper_cvtsq2sd) X(helper_cvtsq2ss) \
    X(helper_cvtss2sd) X(helper_cvtss2si) X(helper_cvtss2sq) X(helper_cvttpd2dq) X(helper_cvttpd2pi) \
    X(helper_cvttps2dq) X(helper_cvttps2pi) X(helper_cvttsd2si) X(helper_cvttsd2sq) X(helper_cvttss2si) \
    X(helper_cvttss2sq) X(helper_divpd) X(helper_divps) X(helper_divsd) X(helper_divss) X(helper_emms) \
    X(helper_enter_mmx) X(helper_fcomi_ST0_FT0) X(helper_fist_ST0) X(helper_fldl_ST0) X(helper_flds_ST0) \
    X(helper_fucomi_ST0_FT0) X(helper_haddpd) X(helper_haddps) X(helper_hsubpd) X(helper_hsubps) X(helper_le_ldq_mmu) \
    X(helper_le_ldul_mmu) X(helper_le_lduw_mmu) X(helper_le_stl_mmu) X(helper_le_stq_mmu) X(helper_le_stw_mmu) \
    X(helper_maxpd) X(helper_maxps) X(helper_maxsd) X(helper_maxss) X(helper_minpd) X(helper_minps) X(helper_minsd) \
    X(helper_minss) X(helper_mulpd) X(helper_mulps) X(helper_mulsd) X(helper_mulss) X(helper_pabsb_mmx) \
    X(helper_pabsd_mmx) X(helper_pabsw_mmx) X(helper_palignr_mmx) X(helper_phaddd_mmx) X(helper_phaddsw_mmx) \
    X(helper_phaddw_mmx) X(helper_phsubd_mmx) X(helper_phsubsw_mmx) X(helper_phsubw_mmx) X(helper_pmaddubsw_mmx) \
    X(helper_pmulhrsw_mmx) X(helper_pshufb_mmx) X(helper_psignb_mmx) X(helper_psignd_mmx) X(helper_psignw_mmx) \
    X(helper_ret_ldub_mmu) X(helper_ret_stb_mmu) X(helper_roundpd_xmm) X(helper_roundps_xmm) X(helper_roundsd_xmm) \
    X(helper_roundss_xmm) X(helper_sqrtpd) X(helper_sqrtps) X(helper_sqrtsd) X(helper_sqrtss) X(helper_subpd) \
    X(helper_subps) X(helper_subsd) X(helper_subss) X(helper_ucomisd) X(helper_ucomiss) X(page_collection_lock) \
    X(page_collection_unlock) X(tcg_gen_brcond_i64) X(tcg_gen_brcondi_i32) X(tcg_gen_callN) X(tcg_gen_qemu_ld_i32) \
    X(tcg_gen_qemu_ld_i64) X(tcg_gen_qemu_st_i32) X(tcg_gen_qemu_st_i64)

#define UNICORN_CALLED(X) \
    X(gen_new_label) X(helper_cmpxchg16b_unlocked) X(helper_cmpxchg16b) X(helper_cmpxchg8b_unlocked) \
    X(helper_cmpxchg8b) X(helper_fbld_ST0) X(helper_fbst_ST0) X(helper_fistl_ST0) X(helper_fldt_ST0) \
    X(helper_fstt_ST0) X(raise_exception_ra) X(tcg_const_i32) X(tcg_const_i64) X(tcg_gen_op1) X(tcg_gen_op3) \
    X(tcg_temp_free_internal) X(tcg_temp_new_internal) X(tlb_flush_page) X(tlb_set_dirty)
/* clang-format on */

#endif
