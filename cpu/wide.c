/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * wide: the registers that not every processor has, in the standard format of XSAVE.
 *
 * Model
 *       0     legacy area: the image of FXSAVE64, 512 bytes
 *       512   header: XSTATE_BV, which components are not as after a reset; XCOMP_BV, 0 in this format; zeros
 *       576   AVX         1088  opmask         1152  ZMM_Hi256         1664  Hi16_ZMM
 *   The offsets are those of Intel's processors, on every host: what a program finds does not depend on it.
 * Not modelled
 *   Other components: MPX (whose gap remains), PKRU, AMX. The compacted format.
 * Source
 *   Intel SDM volume 1, 13.4 (XSAVE area), 13.5 (components), 13.6 (in use).
 */
#include <stddef.h>
#include <string.h>

#include "cpu/cpu.h"

#define COMPONENT(name, offset, field) \
    { \
        name, offset, sizeof((struct cpu_wide *)NULL)->field, offsetof(struct cpu_wide, field) \
    }
const struct cpu_component cpu_components[CPU_COMPONENTS] = {
    COMPONENT(CPU_AVX, 576, ymm_high),
    COMPONENT(CPU_OPMASK, 1088, opmask),
    COMPONENT(CPU_ZMM_HIGH, 1152, zmm_high),
    COMPONENT(CPU_ZMM_REST, 1664, zmm_rest),
};

uint32_t cpu_xsave_bytes(uint64_t xcr0)
{
    uint32_t bytes = CPU_FXSAVE_BYTES + CPU_XSAVE_HEADER_BYTES;
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        if ((xcr0 & cpu_components[i].bit) != 0)
            bytes = cpu_components[i].offset + cpu_components[i].bytes;
    return bytes;
}

static bool wide_is_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Control word 37Fh; status, tags, last instruction and operand 0; registers 0. */
static bool is_x87_initial(const uint8_t *fxsave)
{
    return fxsave[0] == 0x7f && fxsave[1] == 3 && wide_is_zero(fxsave + 2, 22) && wide_is_zero(fxsave + 32, 128);
}

uint64_t cpu_in_use(const uint8_t fxsave[CPU_FXSAVE_BYTES], const struct cpu_wide *wide, uint64_t which)
{
    uint64_t used = 0;
    if (!is_x87_initial(fxsave))
        used |= CPU_X87;
    if (!wide_is_zero(fxsave + 160, 256))
        used |= CPU_SSE;
    for (unsigned i = 0; i < CPU_COMPONENTS; i++)
        if (!wide_is_zero((const uint8_t *)wide + cpu_components[i].at, cpu_components[i].bytes))
            used |= cpu_components[i].bit;
    return used & which;
}

void cpu_put_wide(uint8_t *area, const struct cpu_wide *wide, uint64_t which)
{
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const struct cpu_component *c = &cpu_components[i];
        if ((which & c->bit) != 0)
            memcpy(area + c->offset, (const uint8_t *)wide + c->at, c->bytes);
    }
}

void cpu_take_wide(struct cpu_wide *wide, const uint8_t *area, uint64_t which, uint64_t there)
{
    for (unsigned i = 0; i < CPU_COMPONENTS; i++) {
        const struct cpu_component *c = &cpu_components[i];
        if ((which & there & c->bit) != 0)
            memcpy((uint8_t *)wide + c->at, area + c->offset, c->bytes);
        else if ((which & c->bit) != 0)
            memset((uint8_t *)wide + c->at, 0, c->bytes);
    }
}
