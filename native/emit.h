/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The few instructions of the host that translations are made of, beside the guest's own. None changes a flag unless
 * it says so.
 */
#ifndef C2_NATIVE_EMIT_H
#define C2_NATIVE_EMIT_H

#include "base/base.h"

/* As instructions number them; no register: an address has none such. */
enum native_register {
    NATIVE_RAX,
    NATIVE_RCX,
    NATIVE_RDX,
    NATIVE_RBX,
    NATIVE_RSP,
    NATIVE_RBP,
    NATIVE_RSI,
    NATIVE_RDI,
    NATIVE_R10 = 10,
    NATIVE_R11 = 11,
    NATIVE_NO_REGISTER = 16,
};

struct emit {
    uint8_t *at; /* where the next byte goes */
};

/* A place in memory: base + index * scale + displacement. */
struct emit_place {
    unsigned base, index; /* NATIVE_NO_REGISTER: none */
    unsigned scale;       /* 1, 2, 4, 8 */
    int32_t displacement;
    bool narrow; /* the sum has 32 bits (67h) */
    bool fs;     /* behind the FS base */
};

void emit_bytes(struct emit *e, const void *bytes, size_t count);
void emit_byte(struct emit *e, uint8_t byte);
void emit_word(struct emit *e, uint32_t word);

void emit_move(struct emit *e, unsigned to, unsigned from);
void emit_constant(struct emit *e, unsigned to, uint64_t value);
void emit_load(struct emit *e, unsigned to, struct emit_place from);           /* 64 bits */
void emit_store(struct emit *e, struct emit_place to, unsigned from);          /* 64 bits */
void emit_store_half(struct emit *e, struct emit_place to, uint32_t value);    /* 32 bits */
void emit_store_constant(struct emit *e, struct emit_place to, int32_t value); /* 64 bits, extended by its sign */
void emit_read_byte(struct emit *e, unsigned to, struct emit_place from);      /* with zeros above */
void emit_lea(struct emit *e, unsigned to, struct emit_place from);
void emit_add(struct emit *e, unsigned to, int32_t value); /* changes flags */
/* What the context has at an offset. */
void emit_get(struct emit *e, unsigned to, uint32_t offset);
void emit_put(struct emit *e, uint32_t offset, unsigned from);
void emit_put_constant(struct emit *e, uint32_t offset, uint32_t value); /* 64 bits */
void emit_jump_to(struct emit *e, uint32_t offset);                      /* to an address that the context has */
void emit_jump_indexed(struct emit *e, uint32_t offset, unsigned index); /* likewise, at offset + index * 8 */
void emit_set_gs(struct emit *e, unsigned from);                         /* the base of GS */
void emit_compare_with(struct emit *e, unsigned what, uint32_t offset);  /* changes flags */
/* What lies there with a constant of 1, 2 or 4 bytes; changes flags. */
void emit_compare_constant(struct emit *e, struct emit_place what, uint32_t value, unsigned bytes);
void emit_complement(struct emit *e, unsigned what); /* NOT */
void emit_shift_rcx(struct emit *e, unsigned by);    /* to the right, by what a register has (BMI2) */
void emit_save_flags(struct emit *e);                /* the six of arithmetic go to RAX, ... */
void emit_restore_flags(struct emit *e);             /* ... and come back; what RAX has then is lost */

/* Jumps forward or back by 32 bits: returns where these are, for emit_aim. condition: as in the opcode of Jcc. */
uint8_t *emit_jump(struct emit *e);
uint8_t *emit_jump_if(struct emit *e, unsigned condition);
static inline void emit_aim(uint8_t *jump, int64_t distance) /* from behind the jump */
{
    const int32_t relative = (int32_t)distance;
    C2_ASSERT(relative == distance);
    __builtin_memcpy(jump, &relative, sizeof relative);
}

static inline struct emit_place emit_at(unsigned base, int32_t displacement)
{
    C2_PROMISE(base < NATIVE_NO_REGISTER);
    return (struct emit_place){.base = base, .index = NATIVE_NO_REGISTER, .scale = 1, .displacement = displacement};
}

#endif
