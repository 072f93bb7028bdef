/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The x87 register stack, its tags and its status word in the FXSAVE64 image, which holds the registers from the top
 *   down: so pushing and popping moves them in it.
 */
#include "interpret/x87_priv.h"

uint8_t *x87_st(uint8_t *image, unsigned i) { return image + FXSAVE_ST + 16 * i; }

bool x87_is_empty(const uint8_t *image, unsigned i)
{
    return !(image[FXSAVE_TAGS] >> ((image_top(image) + i) & 7) & 1);
}

void x87_raise(uint8_t *image, uint16_t flags)
{
    image_set16(image, FXSAVE_STATUS, image_get16(image, FXSAVE_STATUS) | flags);
}

void x87_set_conditions(uint8_t *image, uint16_t which, uint16_t value)
{
    image_set16(image, FXSAVE_STATUS, (image_get16(image, FXSAVE_STATUS) & ~which) | (value & which));
}

enum x80_rounding x87_rounding(const uint8_t *image)
{
    return (enum x80_rounding)(image_get16(image, FXSAVE_CONTROL) >> 10 & 3);
}

static void set_top(uint8_t *image, unsigned top)
{
    image_set16(image, FXSAVE_STATUS, (image_get16(image, FXSAVE_STATUS) & ~0x3800u) | (uint16_t)((top & 7) << 11));
}

void x87_set(uint8_t *image, unsigned i, struct x80 value)
{
    image[FXSAVE_TAGS] |= (uint8_t)(1u << ((image_top(image) + i) & 7));
    x80_store(x87_st(image, i), value);
}

void x87_push(uint8_t *image, struct x80 value)
{
    uint8_t last[16];
    memcpy(last, x87_st(image, 7), 16);
    memmove(x87_st(image, 1), x87_st(image, 0), 7 * 16);
    memcpy(x87_st(image, 0), last, 16);
    set_top(image, image_top(image) - 1);
    x87_set(image, 0, value);
}

void x87_pop(uint8_t *image)
{
    uint8_t first[16];
    unsigned top = image_top(image);
    image[FXSAVE_TAGS] &= (uint8_t) ~(1u << top);
    memcpy(first, x87_st(image, 0), 16);
    memmove(x87_st(image, 0), x87_st(image, 1), 7 * 16);
    memcpy(x87_st(image, 7), first, 16);
    set_top(image, top + 1);
}
