/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Instructions that read or write the control, status and tag registers of the x87 unit and of SSE, one by one or
 *   with all registers: LDMXCSR STMXCSR FXSAVE FXRSTOR FLDCW FNSTSW FNCLEX FNINIT FNSTENV FLDENV FNSAVE FRSTOR. All
 *   of them work on the FXSAVE64 image, so that sticky exception flags are where programs look for them.
 * Invariants
 *   Exceptions of the x87 unit for denormal operands stay masked: a guest that unmasks them is refused, because no
 *   engine here has their flag. Of others the engine sees to it that they trap.
 *   MXCSR_MASK is FFFFh: MXCSR has no bit 17 (misaligned accesses, of AMD's CPUs), whatever the host has.
 * Not modelled
 *   The last x87 instruction and operand (FOP, FIP, FDP): always 0. The 16-bit formats of FNSTENV and FNSAVE: refused.
 * Source
 *   Intel SDM volume 1, 8.1.8-8.1.10 (x87 state), 10.5 (FXSAVE), 10.2.3 (MXCSR); volume 2, the pages of these
 *   instructions.
 */
#include <signal.h>

#include "interpret/interpret_priv.h"

#define CONTROL_KEPT 0x1f3fu  /* what the control register holds of what is loaded ... */
#define CONTROL_FIXED 0x0040u /* ... and the bit that always reads as 1 */
#define CONTROL_INITIAL 0x037fu
#define STATUS_KEPT_BY_FNCLEX 0x7f00u

static void fpstate_get_state(const struct interpret_run *run, struct x87_state *state)
{
    run->cpu->get_fxsave(run->cpu->self, state->image);
}

static void set_state(const struct interpret_run *run, const struct x87_state *state)
{
    run->cpu->set_fxsave(run->cpu->self, state->image);
}

/* ------------------------------------------------------------------ MXCSR */

void interpret_stmxcsr(struct interpret_run *run)
{
    uint64_t address;
    if (interpret_place(run, 0, MMU_ACCESS_WRITE, &address))
        guest_store(address, 4, run->cpu->get_mxcsr(run->cpu->self));
}

/* Whether MXCSR may take the value: a reserved bit is a general protection fault. */
static bool mxcsr_accepted(struct interpret_run *run, uint32_t mxcsr)
{
    if (mxcsr & ~MXCSR_DEFINED)
        interpret_signal(run, SIGSEGV, 0x80 /* SI_KERNEL */);
    return run->effect->status == INTERPRET_DONE;
}

void interpret_ldmxcsr(struct interpret_run *run)
{
    uint64_t address;
    if (!interpret_place(run, 0, MMU_ACCESS_READ, &address))
        return;
    uint32_t mxcsr = (uint32_t)guest_load(address, 4);
    if (mxcsr_accepted(run, mxcsr))
        run->cpu->set_mxcsr(run->cpu->self, mxcsr);
}

/* ------------------------------------------------------------------ x87 control and status */

static bool control_accepted(struct interpret_run *run, uint16_t control)
{
    if (!(control & X87_DE))
        interpret_refuse(run, "traps on denormal operands of x87 instructions are not modelled: do not unmask them");
    return run->effect->status == INTERPRET_DONE;
}

static void set_control(uint8_t *image, uint16_t control)
{
    image_set16(image, FXSAVE_CONTROL, (control & CONTROL_KEPT) | CONTROL_FIXED);
}

/* The error summary and the busy bit are set while an unmasked exception waits, where the engine refuses to go on. */
static void fpstate_set_status(uint8_t *image, uint16_t status) { image_set16(image, FXSAVE_STATUS, status & 0x7f7f); }

void interpret_fldcw(struct interpret_run *run)
{
    uint64_t address;
    if (!interpret_place(run, 0, MMU_ACCESS_READ, &address))
        return;
    uint16_t control = (uint16_t)guest_load(address, 2);
    if (!control_accepted(run, control))
        return;
    struct x87_state state;
    fpstate_get_state(run, &state);
    set_control(state.image, control);
    set_state(run, &state);
}

void interpret_fnstsw(struct interpret_run *run)
{
    struct x87_state state;
    struct interpret_value to = {0};
    if (interpret_is_memory(&run->operands[0]) && !interpret_place(run, 0, MMU_ACCESS_WRITE, &to.address))
        return;
    fpstate_get_state(run, &state);
    to.value = image_get16(state.image, FXSAVE_STATUS);
    interpret_put(run, 0, &to);
}

void interpret_fnclex(struct interpret_run *run)
{
    struct x87_state state;
    fpstate_get_state(run, &state);
    image_set16(state.image, FXSAVE_STATUS, image_get16(state.image, FXSAVE_STATUS) & STATUS_KEPT_BY_FNCLEX);
    set_state(run, &state);
}

static void clear_pointers(uint8_t *image)
{
    memset(image + FXSAVE_OPCODE, 0, 2);
    memset(image + FXSAVE_CODE, 0, 16);
}

void image_rotate_to_top(uint8_t *image, unsigned top)
{
    uint8_t old[8 * 16];
    unsigned by = (top - image_top(image)) & 7;
    memcpy(old, image + FXSAVE_ST, sizeof old);
    for (unsigned i = 0; i < 8; i++)
        memcpy(image + FXSAVE_ST + 16 * i, old + 16 * ((i + by) & 7), 16);
    image_set16(image, FXSAVE_STATUS, (image_get16(image, FXSAVE_STATUS) & ~0x3800u) | (uint16_t)(top << 11));
}

static void initialise(uint8_t *image)
{
    image_rotate_to_top(image, 0);
    set_control(image, CONTROL_INITIAL);
    fpstate_set_status(image, 0);
    image[FXSAVE_TAGS] = 0;
    clear_pointers(image);
}

void interpret_fninit(struct interpret_run *run)
{
    struct x87_state state;
    fpstate_get_state(run, &state);
    initialise(state.image);
    set_state(run, &state);
}

/* ------------------------------------------------------------------ the environment: 28 bytes
 *   0 control  4 status  8 tags (2 bits a register)  12 FIP  16 FCS, FOP  20 FDP  24 FDS; unused halves are ones */

enum { TAG_VALID, TAG_ZERO, TAG_SPECIAL, TAG_EMPTY };

static unsigned tag_of(const uint8_t *image, unsigned physical)
{
    if (!(image[FXSAVE_TAGS] >> physical & 1))
        return TAG_EMPTY;
    unsigned i = (physical - image_top(image)) & 7;
    switch (x80_class_of(x80_load(image + FXSAVE_ST + 16 * i))) {
    case X80_NORMAL:
        return TAG_VALID;
    case X80_ZERO:
        return TAG_ZERO;
    default:
        return TAG_SPECIAL;
    }
}

static void write_environment(uint64_t to, const uint8_t *image)
{
    uint32_t tags = 0;
    for (unsigned physical = 0; physical < 8; physical++)
        tags |= tag_of(image, physical) << (2 * physical);
    guest_store(to, 4, 0xffff0000u | image_get16(image, FXSAVE_CONTROL));
    guest_store(to + 4, 4, 0xffff0000u | image_get16(image, FXSAVE_STATUS));
    guest_store(to + 8, 4, 0xffff0000u | tags);
    guest_store(to + 12, 4, 0);
    guest_store(to + 16, 4, 0);
    guest_store(to + 20, 4, 0);
    guest_store(to + 24, 4, 0xffff0000u);
}

static void fpstate_read_environment(uint64_t from, uint8_t *image)
{
    uint16_t status = (uint16_t)guest_load(from + 4, 2), tags = (uint16_t)guest_load(from + 8, 2);
    image_rotate_to_top(image, status >> 11 & 7);
    set_control(image, (uint16_t)guest_load(from, 2));
    fpstate_set_status(image, status);
    image[FXSAVE_TAGS] = 0;
    for (unsigned physical = 0; physical < 8; physical++)
        if ((tags >> (2 * physical) & 3) != TAG_EMPTY)
            image[FXSAVE_TAGS] |= (uint8_t)(1u << physical);
    clear_pointers(image);
}

static bool is_short_format(struct interpret_run *run)
{
    if (run->insn->operand_width != 16)
        return false;
    interpret_refuse(run, "the 16-bit formats of FNSTENV, FLDENV, FNSAVE and FRSTOR are not modelled");
    return true;
}

/* What FNSTENV and FNSAVE begin with; false: the instruction has ended otherwise. */
static bool store_environment(struct interpret_run *run, uint64_t *address, struct x87_state *state)
{
    if (is_short_format(run) || !interpret_place(run, 0, MMU_ACCESS_WRITE, address))
        return false;
    fpstate_get_state(run, state);
    write_environment(*address, state->image);
    return true;
}

/* What FLDENV and FRSTOR begin with, likewise. */
static bool load_environment(struct interpret_run *run, uint64_t *address, struct x87_state *state)
{
    if (is_short_format(run) || !interpret_place(run, 0, MMU_ACCESS_READ, address))
        return false;
    if (!control_accepted(run, (uint16_t)guest_load(*address, 2)))
        return false;
    fpstate_get_state(run, state);
    fpstate_read_environment(*address, state->image);
    return true;
}

void interpret_fnstenv(struct interpret_run *run)
{
    uint64_t address;
    struct x87_state state;
    if (!store_environment(run, &address, &state))
        return;
    image_set16(state.image, FXSAVE_CONTROL, image_get16(state.image, FXSAVE_CONTROL) | X87_EXCEPTIONS);
    set_state(run, &state);
}

void interpret_fldenv(struct interpret_run *run)
{
    uint64_t address;
    struct x87_state state;
    if (!load_environment(run, &address, &state))
        return;
    set_state(run, &state);
}

void interpret_fnsave(struct interpret_run *run)
{
    uint64_t address;
    struct x87_state state;
    if (!store_environment(run, &address, &state))
        return;
    for (unsigned i = 0; i < 8; i++)
        memcpy((void *)(uintptr_t)(address + 28 + 10 * i), state.image + FXSAVE_ST + 16 * i, 10);
    initialise(state.image);
    set_state(run, &state);
}

void interpret_frstor(struct interpret_run *run)
{
    uint64_t address;
    struct x87_state state;
    if (!load_environment(run, &address, &state))
        return;
    for (unsigned i = 0; i < 8; i++)
        memcpy(state.image + FXSAVE_ST + 16 * i, (const void *)(uintptr_t)(address + 28 + 10 * i), 10);
    set_state(run, &state);
}

/* ------------------------------------------------------------------ all of it: 512 bytes */

static bool place_of_image(struct interpret_run *run, enum mmu_access access, uint64_t *address)
{
    interpret_address(address, run->cpu, run->pc, run->insn, &run->operands[0]);
    if (*address % 16 != 0) {
        interpret_signal(run, SIGSEGV, 0x80 /* SI_KERNEL: a general protection fault */);
        return false;
    }
    return interpret_place(run, 0, access, address);
}

void interpret_fxsave(struct interpret_run *run)
{
    uint64_t address;
    struct x87_state state;
    if (!place_of_image(run, MMU_ACCESS_WRITE, &address))
        return;
    fpstate_get_state(run, &state);
    clear_pointers(state.image);
    state.image[FXSAVE_TAGS + 1] = 0;
    image_set32(state.image, FXSAVE_MXCSR_MASK, MXCSR_DEFINED);
    for (unsigned i = 0; i < 8; i++)
        memset(state.image + FXSAVE_ST + 16 * i + 10, 0, 6);
    /* the last 96 bytes are left to software: no CPU writes them */
    memcpy((void *)(uintptr_t)address, state.image, FXSAVE_XMM + 16 * 16);
}

void interpret_fxrstor(struct interpret_run *run)
{
    uint64_t address;
    struct x87_state state, loaded;
    if (!place_of_image(run, MMU_ACCESS_READ, &address))
        return;
    memcpy(loaded.image, (const void *)(uintptr_t)address, FXSAVE_BYTES);
    uint16_t control = image_get16(loaded.image, FXSAVE_CONTROL);
    if (!mxcsr_accepted(run, image_get32(loaded.image, FXSAVE_MXCSR)) || !control_accepted(run, control))
        return;
    fpstate_get_state(run, &state);
    memcpy(state.image, loaded.image, FXSAVE_XMM + 16 * 16);
    set_control(state.image, control);
    fpstate_set_status(state.image, image_get16(loaded.image, FXSAVE_STATUS));
    state.image[FXSAVE_TAGS + 1] = 0;
    clear_pointers(state.image);
    image_set32(state.image, FXSAVE_MXCSR_MASK, MXCSR_DEFINED);
    for (unsigned i = 0; i < 8; i++)
        memset(state.image + FXSAVE_ST + 16 * i + 10, 0, 6);
    set_state(run, &state);
}
