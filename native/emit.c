/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Source
 *   Intel SDM volume 2, 2.1.5 (ModR/M and SIB), 2.2.1 (REX), and the pages of the instructions.
 */
#include "native/emit.h"

#include <string.h>

#include "native/context.h"

enum { REX = 0x40, REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };
enum { SIB_FOLLOWS = 4, NO_INDEX = 4, NO_BASE = 5 };

void emit_bytes(struct emit *e, const void *bytes, size_t count)
{
    memcpy(e->at, bytes, count);
    e->at += count;
}

void emit_byte(struct emit *e, uint8_t byte) { *e->at++ = byte; }
void emit_word(struct emit *e, uint32_t word) { emit_bytes(e, &word, sizeof word); }

static uint8_t modrm(unsigned mod, unsigned reg, unsigned rm)
{
    C2_PROMISE(mod < 4);
    return (uint8_t)(mod << 6 | (reg & 7) << 3 | (rm & 7));
}

static bool is_register(unsigned number) { return number < NATIVE_NO_REGISTER; }

static uint8_t rex_of(unsigned reg, const struct emit_place *place)
{
    C2_PROMISE(reg < 16);
    unsigned rex = REX | REX_W;
    rex |= reg & 8 ? REX_R : 0;
    rex |= is_register(place->index) && place->index & 8 ? REX_X : 0;
    rex |= is_register(place->base) && place->base & 8 ? REX_B : 0;
    return (uint8_t)rex;
}

static void emit_sib(struct emit *e, const struct emit_place *place)
{
    C2_PROMISE(place->scale == 1 || place->scale == 2 || place->scale == 4 || place->scale == 8);
    C2_PROMISE(place->index != NATIVE_RSP);
    const unsigned index = is_register(place->index) ? place->index & 7 : NO_INDEX;
    const unsigned base = is_register(place->base) ? place->base & 7 : NO_BASE;
    emit_byte(e, modrm((unsigned)__builtin_ctz(place->scale), index, base));
}

/* ModR/M and what follows. Without a base the displacement has 32 bits. */
static void emit_operand(struct emit *e, unsigned reg, const struct emit_place *place)
{
    const bool sib = is_register(place->index) || !is_register(place->base) || (place->base & 7) == NATIVE_RSP;
    const unsigned rm = sib ? SIB_FOLLOWS : place->base;
    const bool is_short = place->displacement >= -128 && place->displacement < 128;
    const bool none = place->displacement == 0 && (place->base & 7) != NATIVE_RBP;
    const unsigned mod = !is_register(place->base) || none ? 0 : is_short ? 1 : 2;
    emit_byte(e, modrm(mod, reg, rm));
    if (sib)
        emit_sib(e, place);
    if (mod == 1)
        emit_byte(e, (uint8_t)place->displacement);
    else if (mod == 2 || !is_register(place->base))
        emit_word(e, (uint32_t)place->displacement);
}

static void emit_prefixes(struct emit *e, const struct emit_place *place)
{
    if (place->fs)
        emit_byte(e, 0x64);
    if (place->narrow)
        emit_byte(e, 0x67);
}

static void emit_with_place(struct emit *e, uint8_t opcode, unsigned reg, const struct emit_place *place)
{
    C2_PROMISE(reg < 16 && place->base <= NATIVE_NO_REGISTER && place->index <= NATIVE_NO_REGISTER);
    emit_prefixes(e, place);
    emit_byte(e, rex_of(reg, place));
    emit_byte(e, opcode);
    emit_operand(e, reg, place);
}

void emit_load(struct emit *e, unsigned to, struct emit_place from) { emit_with_place(e, 0x8b, to, &from); }
void emit_store(struct emit *e, struct emit_place to, unsigned from) { emit_with_place(e, 0x89, from, &to); }

void emit_store_half(struct emit *e, struct emit_place to, uint32_t value)
{
    C2_PROMISE(is_register(to.base));
    emit_prefixes(e, &to);
    emit_byte(e, rex_of(0, &to) & (uint8_t)~REX_W);
    emit_byte(e, 0xc7);
    emit_operand(e, 0, &to);
    emit_word(e, value);
}

void emit_store_constant(struct emit *e, struct emit_place to, int32_t value)
{
    emit_with_place(e, 0xc7, 0, &to);
    emit_word(e, (uint32_t)value);
}

void emit_read_byte(struct emit *e, unsigned to, struct emit_place from)
{
    emit_prefixes(e, &from);
    emit_byte(e, rex_of(to, &from) & (uint8_t)~REX_W);
    emit_byte(e, 0x0f);
    emit_byte(e, 0xb6);
    emit_operand(e, to, &from);
}

void emit_lea(struct emit *e, unsigned to, struct emit_place from)
{
    C2_PROMISE(to < 16);
    from.fs = false;
    emit_with_place(e, 0x8d, to, &from);
}

void emit_move(struct emit *e, unsigned to, unsigned from)
{
    C2_PROMISE(to < 16 && from < 16);
    emit_byte(e, (uint8_t)(REX | REX_W | (from & 8 ? REX_R : 0) | (to & 8 ? REX_B : 0)));
    emit_byte(e, 0x89);
    emit_byte(e, modrm(3, from, to));
}

void emit_constant(struct emit *e, unsigned to, uint64_t value)
{
    C2_PROMISE(to < 16);
    const bool narrow = value <= UINT32_MAX;
    if (!narrow || to & 8)
        emit_byte(e, (uint8_t)(REX | (narrow ? 0 : REX_W) | (to & 8 ? REX_B : 0)));
    emit_byte(e, (uint8_t)(0xb8 | (to & 7)));
    emit_bytes(e, &value, narrow ? 4 : 8);
}

void emit_add(struct emit *e, unsigned to, int32_t value)
{
    C2_PROMISE(to < 16);
    emit_byte(e, (uint8_t)(REX | REX_W | (to & 8 ? REX_B : 0)));
    emit_byte(e, 0x81);
    emit_byte(e, modrm(3, 0, to));
    emit_word(e, (uint32_t)value);
}

/* ------------------------------------------------------------------ the context: behind the GS base */

static struct emit_place emit_in_context(uint32_t offset, unsigned index)
{
    C2_PROMISE(offset < sizeof(struct native_context));
    return (struct emit_place){.base = NATIVE_NO_REGISTER,
                               .index = index,
                               .scale = is_register(index) ? 8 : 1,
                               .displacement = (int32_t)offset};
}

static void emit_with_context(struct emit *e, uint8_t opcode, unsigned reg, uint32_t offset, unsigned index)
{
    const struct emit_place place = emit_in_context(offset, index);
    emit_byte(e, 0x65);
    emit_with_place(e, opcode, reg, &place);
}

void emit_get(struct emit *e, unsigned to, uint32_t offset)
{
    emit_with_context(e, 0x8b, to, offset, NATIVE_NO_REGISTER);
}

void emit_put(struct emit *e, uint32_t offset, unsigned from)
{
    emit_with_context(e, 0x89, from, offset, NATIVE_NO_REGISTER);
}

void emit_put_constant(struct emit *e, uint32_t offset, uint32_t value)
{
    C2_ASSERT(value <= INT32_MAX);
    emit_with_context(e, 0xc7, 0, offset, NATIVE_NO_REGISTER);
    emit_word(e, value);
}

void emit_compare_with(struct emit *e, unsigned what, uint32_t offset)
{
    emit_with_context(e, 0x3b, what, offset, NATIVE_NO_REGISTER);
}

void emit_compare_constant(struct emit *e, struct emit_place what, uint32_t value, unsigned bytes)
{
    C2_PROMISE(bytes == 1 || bytes == 2 || bytes == 4);
    C2_PROMISE(!what.fs && !what.narrow);
    if (bytes == 2)
        emit_byte(e, 0x66);
    emit_byte(e, rex_of(0, &what) & (uint8_t)~REX_W);
    emit_byte(e, bytes == 1 ? 0x80 : 0x81);
    emit_operand(e, 7, &what);
    emit_bytes(e, &value, bytes);
}

void emit_complement(struct emit *e, unsigned what)
{
    C2_PROMISE(what < 16);
    emit_byte(e, (uint8_t)(REX | REX_W | (what & 8 ? REX_B : 0)));
    emit_byte(e, 0xf7);
    emit_byte(e, modrm(3, 2, what));
}

void emit_shift_rcx(struct emit *e, unsigned by)
{
    C2_PROMISE(by < 16);
    const uint8_t shrx[] = {0xc4, 0xe2, (uint8_t)(0x83 | (~by & 15) << 3), 0xf7, 0xc9};
    emit_bytes(e, shrx, sizeof shrx);
}

void emit_save_flags(struct emit *e)
{
    static const uint8_t save[] = {0x9f, 0x0f, 0x90, 0xc0}; /* lahf; seto %al */
    emit_bytes(e, save, sizeof save);
}

/* The sum of 1 and 127 overflows. */
void emit_restore_flags(struct emit *e)
{
    static const uint8_t restore[] = {0x04, 0x7f, 0x9e}; /* add $127,%al; sahf */
    emit_bytes(e, restore, sizeof restore);
}

void emit_jump_to(struct emit *e, uint32_t offset) { emit_with_context(e, 0xff, 4, offset, NATIVE_NO_REGISTER); }

void emit_jump_indexed(struct emit *e, uint32_t offset, unsigned index)
{
    C2_PROMISE(is_register(index) && index != NATIVE_RSP);
    emit_with_context(e, 0xff, 4, offset, index);
}

void emit_set_gs(struct emit *e, unsigned from)
{
    C2_PROMISE(from < 16);
    emit_byte(e, 0xf3);
    emit_byte(e, (uint8_t)(REX | REX_W | (from & 8 ? REX_B : 0)));
    emit_byte(e, 0x0f);
    emit_byte(e, 0xae);
    emit_byte(e, modrm(3, 3, from));
}

/* ------------------------------------------------------------------ jumps */

uint8_t *emit_jump(struct emit *e)
{
    emit_byte(e, 0xe9);
    emit_word(e, 0);
    return e->at - 4;
}

uint8_t *emit_jump_if(struct emit *e, unsigned condition)
{
    C2_PROMISE(condition < 16);
    emit_byte(e, 0x0f);
    emit_byte(e, (uint8_t)(0x80 | condition));
    emit_word(e, 0);
    return e->at - 4;
}
