/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/interpret_near.h"

#include <math.h>
#include <string.h>

enum { CONTROL = 0, STATUS = 2, ST = 32 };
enum { OE = 8, UE = 0x10, PE = 0x20, SF = 0x40, C1 = 0x200 };

static uint16_t word(const uint8_t *image, unsigned at)
{
    uint16_t value;
    memcpy(&value, image + at, 2);
    return value;
}

static long double number(const uint8_t *image, unsigned i)
{
    long double value = 0;
    memcpy(&value, image + ST + 16 * i, 10);
    return value;
}

/* Numbers in their order, one apart where no other lies between them. */
static __int128 rank(const uint8_t *image, unsigned i)
{
    uint64_t significand;
    uint16_t sign_exponent = word(image, ST + 16 * i + 8);
    memcpy(&significand, image + ST + 16 * i, 8);
    __int128 magnitude = ((__int128)(sign_exponent & 0x7fff) << 63) + (significand & INT64_MAX);
    return sign_exponent & 0x8000 ? -magnitude : magnitude;
}

static bool is_trigonometric(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_FSIN || m == ZYDIS_MNEMONIC_FCOS || m == ZYDIS_MNEMONIC_FSINCOS ||
           m == ZYDIS_MNEMONIC_FPTAN;
}

static bool pushes(ZydisMnemonic m) { return m == ZYDIS_MNEMONIC_FSINCOS || m == ZYDIS_MNEMONIC_FPTAN; }

static bool is_transcendental(ZydisMnemonic m)
{
    return is_trigonometric(m) || m == ZYDIS_MNEMONIC_F2XM1 || m == ZYDIS_MNEMONIC_FYL2X ||
           m == ZYDIS_MNEMONIC_FYL2XP1 || m == ZYDIS_MNEMONIC_FPATAN;
}

/* An error below 1 unit to nearest, below 1.5 in other modes, and ours of 0.5 or 1. */
static bool is_next(const uint8_t *cpu, const uint8_t *ours, unsigned i)
{
    __int128 apart = rank(cpu, i) - rank(ours, i);
    int most = (word(ours, CONTROL) & 0xc00) == 0 ? 1 : 2;
    return apart >= -most && apart <= most;
}

/* What the reduction by the short pi does to the angle, and that to the result. */
static bool is_reduced_otherwise(ZydisMnemonic m, const uint8_t *before, const uint8_t *cpu, const uint8_t *ours,
                                 unsigned i)
{
    long double angle_error = fabsl(number(before, 0)) * 0x1p-66L, result = number(ours, i);
    if (m == ZYDIS_MNEMONIC_FPTAN) {
        if (fabsl(result) * angle_error > 0x1p-6L) /* near a pole nothing can be said */
            return true;
        angle_error *= 2 * (1 + result * result);
    }
    return fabsl(number(cpu, i) - result) <= angle_error + 2 * 0x1p-63L * fabsl(result);
}

static bool is_near(ZydisMnemonic m, const uint8_t *before, const uint8_t *cpu, const uint8_t *ours, unsigned i)
{
    if (isnan(number(cpu, i)) || isnan(number(ours, i)))
        return false;
    return is_next(cpu, ours, i) || (is_trigonometric(m) && is_reduced_otherwise(m, before, cpu, ours, i));
}

void near_settle(ZydisMnemonic mnemonic, const uint8_t before[512], uint8_t cpu[512], const uint8_t ours[512])
{
    uint16_t status = word(cpu, STATUS), wanted = word(ours, STATUS), loose = C1;
    bool computed = (status & PE) && (wanted & PE) && !((status | wanted) & SF & ~word(before, STATUS));
    if (!is_transcendental(mnemonic) || !computed)
        return;
    for (unsigned i = 0; i < (pushes(mnemonic) ? 2u : 1u); i++) {
        if (!is_near(mnemonic, before, cpu, ours, i))
            continue;
        if (memcmp(cpu + ST + 16 * i, ours + ST + 16 * i, 10) != 0)
            loose |= OE | UE;
        memcpy(cpu + ST + 16 * i, ours + ST + 16 * i, 10);
    }
    status = (uint16_t)((status & ~loose) | (wanted & loose));
    memcpy(cpu + STATUS, &status, 2);
}
