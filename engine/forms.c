/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * forms: what blocks are made of, instruction by instruction, remembered.
 *
 * Model
 *   Zydis decodes; an instruction that differs from an earlier one in its displacement and immediate alone is not
 *   decoded again: a table has what was found out, by the bytes in front of these. How far they go is known without
 *   decoding, from prefixes, opcode and ModR/M; where Zydis, which is the definition, has displacement or immediate
 *   begin elsewhere, nothing is remembered. Nor is what an immediate may decide: all with one but those in which it is
 *   a number or a distance (is_number).
 * Cost
 *   20 ns in place of 400, where the form is there.
 * Invariants (tests/unit/engine_remembered.c)
 *   What is found is what decoding gives, whatever was looked up before.
 * Source
 *   Intel SDM volume 2, 2.1 (the order of prefixes, opcode, ModR/M and SIB), 2.3.5 (VEX), and appendix A (opcode maps).
 */
#include <string.h>

#include "engine/decode.h"

enum { KEY_MOST = 7, FORMS_LOG2 = C2_HOST_SIZE(13, 1) };

struct known {
    uint64_t key; /* the bytes, and above them how many */
    struct decode_form form;
};

/* A program has some hundred forms: they lie side by side, in a few pages, and a small table finds them. */
struct decode_forms {
    const struct cpu_model *cpu;
    decode_own *own;
    uint32_t count;
    uint16_t number_of[1u << FORMS_LOG2]; /* by key; 0: none */
    struct known list[1u << FORMS_LOG2];  /* [number - 1] */
};

enum c2_status decode_forms_create(struct decode_forms **out, decode_own *own, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "what is known of instructions");
    (*out)->own = own;
    return C2_OK;
}

void decode_forms_destroy(struct decode_forms *forms) { c2_free(forms); }

void decode_forms_begin(struct decode_forms *forms, const struct cpu_model *cpu)
{
    if (forms->cpu != cpu && forms->count != 0) {
        memset(forms->number_of, 0, sizeof forms->number_of);
        forms->count = 0;
    }
    forms->cpu = cpu;
}

/* ------------------------------------------------------------------ which bytes */

/* A bit an opcode, the lowest first: ModR/M comes behind it. */
static const uint16_t one_byte[16] = {0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0x0000, 0x0000, 0x0a08, 0x0000,
                                      0xffff, 0x0000, 0x0000, 0x0000, 0x00c3, 0xff0f, 0x0000, 0xc0c0};
static const uint16_t two_bytes[16] = {0x200f, 0xffff, 0xffff, 0x0000, 0xffff, 0xffff, 0xffff, 0xff7f,
                                       0x0000, 0xffff, 0xf838, 0xffff, 0x00ff, 0xffff, 0xffff, 0xffff};

static bool has_modrm(const uint16_t map[16], uint8_t opcode) { return map[opcode >> 4] >> (opcode & 15) & 1; }

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
        return true;
    default:
        return false;
    }
}

/* Behind the opcode at `at`; *modrm: one follows. 0: none that is looked for (3DNow!, XOP, EVEX). */
static unsigned behind_opcode(const uint8_t *bytes, unsigned at, bool *modrm)
{
    enum { TWO_BYTES = 0x0f, MAP_38 = 0x38, MAP_3A = 0x3a, VEX_2 = 0xc5, VEX_3 = 0xc4, NOW_3D = 0x0f };
    const uint8_t opcode = bytes[at], second = bytes[at + 1];
    *modrm = true;
    switch (opcode) {
    case 0x62:
    case 0x8f:
        return 0;
    case VEX_2:
        return at + 3;
    case VEX_3:
        return at + 4;
    case TWO_BYTES:
        if (second == MAP_38 || second == MAP_3A)
            return at + 3;
        *modrm = has_modrm(two_bytes, second);
        return second == NOW_3D ? 0 : at + 2;
    default:
        *modrm = has_modrm(one_byte, opcode);
        return at + 1;
    }
}

/* How many bytes, of 15 that there are, come before displacement and immediate; 0: it is not looked for. */
static unsigned key_bytes(const uint8_t *bytes)
{
    unsigned at = 0;
    bool modrm;
    while (at < 4 && is_prefix(bytes[at]))
        at++;
    if ((bytes[at] & 0xf0) == 0x40)
        at++;
    at = behind_opcode(bytes, at, &modrm);
    if (at == 0 || !modrm)
        return at <= KEY_MOST ? at : 0;
    const uint8_t byte = bytes[at++];
    at += byte >> 6 != 3 && (byte & 7) == 4; /* SIB */
    return at <= KEY_MOST ? at : 0;
}

static uint64_t key_of(const uint8_t *bytes, unsigned count)
{
    C2_PROMISE(count != 0 && count <= KEY_MOST);
    uint64_t key;
    memcpy(&key, bytes, sizeof key);
    return (key & ((UINT64_C(1) << 8 * count) - 1)) | (uint64_t)count << 56;
}

static uint16_t *forms_number_of(struct decode_forms *forms, uint64_t key)
{
    return &forms->number_of[(key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FORMS_LOG2)];
}

/* ------------------------------------------------------------------ what is remembered */

static void forms_keep(struct decode_forms *forms, uint64_t key, const struct decode_form *form)
{
    uint16_t *number = forms_number_of(forms, key);
    if (*number == 0)
        *number = (uint16_t)++forms->count;
    forms->list[*number - 1] = (struct known){key, *form};
}

/* Whether the immediate is no more than a number that the instruction works on, or a distance. */
static bool is_number(const ZydisDecodedInstruction *insn)
{
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
        return insn->meta.isa_ext == ZYDIS_ISA_EXT_BASE;
    default:
        return false;
    }
}

static bool is_remembered(const ZydisDecodedInstruction *insn, unsigned key)
{
    const unsigned immediates = (insn->raw.imm[0].size + insn->raw.imm[1].size) / 8u;
    return key + insn->raw.disp.size / 8u + immediates >= insn->length && (immediates == 0 || is_number(insn));
}

static void describe(struct decode_form *out, const struct decode_insn *insn, const struct cpu_model *cpu)
{
    *out = (struct decode_form){.length = insn->insn.length, .alone = decode_is_alone(insn, cpu)};
    if (!out->alone)
        decode_describe(out, insn);
}

enum decode_result decode_form_anew(struct decode_form *out, const struct cpu_model *cpu, struct guest_va pc,
                                    uint64_t bytes)
{
    struct decode_insn insn;
    const enum decode_result result = decode_one(&insn, pc, bytes);
    if (result == DECODE_GOOD)
        describe(out, &insn, cpu);
    return result;
}

enum decode_result decode_form(struct decode_form *out, struct decode_forms *forms, struct guest_va pc, uint64_t bytes)
{
    struct decode_insn insn;
    const uint8_t *at = (const uint8_t *)(uintptr_t)pc.v;
    const unsigned count = bytes >= ZYDIS_MAX_INSTRUCTION_LENGTH ? key_bytes(at) : 0;
    const uint64_t key = count == 0 ? 0 : key_of(at, count);
    const uint16_t number = count == 0 ? 0 : *forms_number_of(forms, key);
    if (SHORTCUT(number != 0 && forms->list[number - 1].key == key)) {
        *out = forms->list[number - 1].form;
        return DECODE_GOOD;
    }
    const enum decode_result result = decode_one(&insn, pc, bytes);
    if (result != DECODE_GOOD)
        return result;
    describe(out, &insn, forms->cpu);
    if (!out->alone && forms->own)
        forms->own(&out->own, &insn);
    if (count != 0 && is_remembered(&insn.insn, count))
        forms_keep(forms, key, out);
    return DECODE_GOOD;
}
