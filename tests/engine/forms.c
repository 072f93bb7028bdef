/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/forms.h"

#include <string.h>

#include "interpret/interpret_priv.h"

static const struct cpu_model *the_model; /* NULL: x86-64-v2 */

bool forms_decode(ZydisDecodedInstruction *insn, ZydisDecodedOperand *operands, const uint8_t *bytes, uint64_t length)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, length, insn, operands));
}

void forms_text(char *out, size_t bytes, const uint8_t *code, uint64_t at)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisFormatter formatter;
    snprintf(out, bytes, "(bad)");
    if (!forms_decode(&insn, operands, code, 15))
        return;
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
    ZydisFormatterFormatInstruction(&formatter, &insn, operands, insn.operand_count_visible, out, bytes, at, NULL);
}

/* What the unit tests of interpret compare, because its outcome is not a CPU's own: traps, CPUID, time, selectors. */
static bool tested_elsewhere(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    const struct interpret_form *form = interpret_form_of(insn->mnemonic);
    if (insn->mnemonic == ZYDIS_MNEMONIC_SYSCALL || interpret_is_foreign(insn))
        return true;
    if (!form->run || (form->only && !form->only(insn, operands)))
        return false;
    static interpret_handler *const handlers[] = {
        interpret_cpuid,      interpret_rdtsc,      interpret_rdtscp,     interpret_privileged,
        interpret_undefined,  interpret_breakpoint, interpret_debug_trap, interpret_interrupt,
        interpret_far_return, interpret_far_jump,   interpret_far_call,   interpret_iret,
    };
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++)
        if (form->run == handlers[i])
            return true;
    return insn->mnemonic == ZYDIS_MNEMONIC_MOV;
}

/* The 16-bit formats of the x87 environment, which their handlers refuse. */
static bool is_short_environment(const ZydisDecodedInstruction *insn)
{
    return insn->operand_width == 16 &&
           (insn->mnemonic == ZYDIS_MNEMONIC_FNSTENV || insn->mnemonic == ZYDIS_MNEMONIC_FLDENV ||
            insn->mnemonic == ZYDIS_MNEMONIC_FNSAVE || insn->mnemonic == ZYDIS_MNEMONIC_FRSTOR);
}

bool forms_refused(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    return is_short_environment(insn) || interpret_refused(the_model, insn, operands);
}

/* ------------------------------------------------------------------ enumeration */

struct collection {
    struct form *forms;
    size_t count, capacity;
    struct c2_map *seen;
};

static void append(struct collection *c, const struct form *form)
{
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 1024;
        c->forms = c2_realloc(c->forms, c->capacity * sizeof *c->forms);
        C2_ASSERT(c->forms);
    }
    c->forms[c->count++] = *form;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xff51afd7ed558ccdu;
    return (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
}

/* Two encodings are the same form if they differ in nothing but free registers, addresses and immediates. */
static uint64_t identity(const struct form *form, const ZydisDecodedInstruction *insn,
                         const ZydisDecodedOperand *operands)
{
    uint64_t hash = mix(mix(0, insn->mnemonic), (uint64_t)form->map << 8 | form->opcode);
    if (form->evex)
        hash = mix(hash, 1);
    hash = mix(hash, insn->operand_width);
    hash = mix(hash, form->has_modrm ? 64 : insn->address_width);
    hash = mix(hash, insn->attributes & (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
                                         ZYDIS_ATTRIB_HAS_REPNE));
    hash = mix(hash, (uint64_t)(form->reg + 1) << 8 | (uint64_t)(form->rm + 1));
    for (unsigned i = 0; i < insn->operand_count; i++) {
        hash = mix(hash, (uint64_t)operands[i].type << 32 | operands[i].size);
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
            hash = mix(hash, ZydisRegisterGetClass(operands[i].reg.value));
    }
    return hash;
}

/* Under K1 it may be one that has to be under a mask. */
static unsigned evex_skeleton(uint8_t out[15], const struct form *form, bool masked)
{
    out[0] = 0x62;
    out[1] = (uint8_t)(0xf0 | form->map);
    out[2] = (uint8_t)(form->wide << 7 | 0x7c | form->vex_pp);
    out[3] = (uint8_t)(form->vector << 5 | 8 | masked);
    return 4;
}

static unsigned skeleton(uint8_t out[15], const struct form *form, bool masked, uint8_t modrm)
{
    unsigned n = 0;
    memset(out, 0, 15);
    for (unsigned i = 0; i < form->prefix_count; i++)
        out[n++] = form->prefixes[i];
    if (form->evex) {
        n = evex_skeleton(out, form, masked);
    } else if (form->vex) {
        out[n++] = 0xc4;
        out[n++] = (uint8_t)(0xe0 | form->map);
        out[n++] = (uint8_t)(form->wide << 7 | 0x78 | form->vector << 2 | form->vex_pp);
    } else {
        if (form->wide)
            out[n++] = 0x48;
        if (form->map != MAP_ONE)
            out[n++] = 0x0f;
        if (form->map == MAP_0F38)
            out[n++] = 0x38;
        if (form->map == MAP_0F3A)
            out[n++] = 0x3a;
    }
    out[n++] = form->opcode;
    out[n++] = modrm;
    if (form->vex || form->evex)
        out[n] = 0x2b; /* where a SIB comes: [rbx + rbp], or a vector of indices */
    return n;
}

static bool operand_is_reg_field(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (operands[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG)
            return true;
    return false;
}

static bool operand_is_rm_field(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (operands[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
            return true;
    return false;
}

static bool has_byte_registers(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_GPR8)
            return true;
    return false;
}

static bool is_x87(const ZydisDecodedInstruction *insn)
{
    return insn->meta.category == ZYDIS_CATEGORY_X87_ALU || insn->meta.category == ZYDIS_CATEGORY_FCMOV;
}

static bool has_vector_index(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            return true;
    return false;
}

/* Considers the encoding with this ModR/M byte. */
static void consider(struct collection *c, struct form form, bool masked, uint8_t modrm)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t bytes[15];
    skeleton(bytes, &form, masked, modrm);
    if (!forms_decode(&insn, operands, bytes, sizeof bytes))
        return;
    if (forms_refused(&insn, operands) || tested_elsewhere(&insn, operands))
        return;
    if (insn.mnemonic == ZYDIS_MNEMONIC_FLD && modrm == 0xc7) /* pushes ST(7), where the push must find it empty */
        return;
    form.mnemonic = insn.mnemonic;
    form.interpreted = interpret_wants(&insn, operands);
    form.has_modrm = insn.attributes & ZYDIS_ATTRIB_HAS_MODRM;
    form.memory = form.has_modrm && modrm >> 6 != 3;
    form.indexed = has_vector_index(&insn, operands);
    form.reg = form.has_modrm && !operand_is_reg_field(&insn, operands) ? modrm >> 3 & 7 : -1;
    bool fixed_rm = form.has_modrm && !form.memory && (is_x87(&insn) || !operand_is_rm_field(&insn, operands));
    form.rm = fixed_rm ? modrm & 7 : -1;
    form.byte_registers = has_byte_registers(&insn, operands);
    uint64_t key = identity(&form, &insn, operands);
    if (c2_map_get(c->seen, key, &(uint64_t){0}))
        return;
    c2_map_put(c->seen, key, 1, NULL);
    append(c, &form);
}

static void consider_opcode(struct collection *c, const struct form *form)
{
    for (unsigned modrm = 0; modrm < 256; modrm++) {
        unsigned mod = modrm >> 6, rm = modrm & 7;
        bool memory = mod == 0 && rm == 3; /* [rbx] */
        bool registers = mod == 3;
        if (memory || registers)
            consider(c, *form, false, (uint8_t)modrm);
    }
}

/* Prefixes, and bytes that lead to another map or encoding. */
static bool is_prefix(const struct form *form)
{
    uint8_t o = form->opcode;
    if (form->map == MAP_0F && (o == 0x38 || o == 0x3a || o == 0x0f))
        return true;
    if (form->map == MAP_ONE && (o == 0xc4 || o == 0xc5 || o == 0x62))
        return true;
    bool segment = (o & 0xe7) == 0x26 || o == 0x64 || o == 0x65, rex = (o & 0xf0) == 0x40;
    bool other = o == 0x0f || o == 0x66 || o == 0x67 || o == 0xf0 || o == 0xf2 || o == 0xf3;
    return form->map == MAP_ONE && (segment || rex || other);
}

static void consider_prefixes(struct collection *c, struct form form)
{
    static const uint8_t sets[][3] = {{0},          {0x66}, {0xf2},       {0xf3}, {0x66, 0xf2},
                                      {0x66, 0xf3}, {0xf0}, {0x66, 0xf0}, {0x67}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        for (unsigned wide = 0; wide < 2; wide++) {
            form.prefix_count = 0;
            while (form.prefix_count < 3 && sets[i][form.prefix_count] != 0) {
                form.prefixes[form.prefix_count] = sets[i][form.prefix_count];
                form.prefix_count++;
            }
            form.wide = wide;
            consider_opcode(c, &form);
        }
}

static void consider_vex(struct collection *c)
{
    for (unsigned map = MAP_0F38; map <= MAP_0F3A; map++)
        for (unsigned opcode = 0xf0; opcode < 0x100; opcode++)
            for (unsigned pp = 0; pp < 4; pp++)
                for (unsigned wide = 0; wide < 2; wide++) {
                    struct form form = {.vex = true, .map = map, .opcode = (uint8_t)opcode, .vex_pp = pp, .wide = wide};
                    consider_opcode(c, &form);
                }
}

/* Of one encoding: with a register, with memory, and with a vector of indices, where ModR/M has a SIB behind it. */
static void consider_operands(struct collection *c, const struct form *form)
{
    for (unsigned reg = 0; reg < 8; reg++)
        for (unsigned masked = 0; masked <= form->evex; masked++) {
            consider(c, *form, masked, (uint8_t)(0xc1 | reg << 3));
            consider(c, *form, masked, (uint8_t)(0x04 | reg << 3));
        }
}

static void consider_vectors(struct collection *c, struct form form)
{
    for (form.vex_pp = 0; form.vex_pp < 4; form.vex_pp++)
        for (unsigned wide = 0; wide < 2; wide++)
            for (form.vector = 0; form.vector < (form.evex ? 3u : 2u); form.vector++) {
                form.wide = wide;
                consider_operands(c, &form);
            }
}

struct form *forms_of(const struct cpu_model *model, size_t *count)
{
    struct collection c = {0};
    the_model = model;
    c.forms = forms_all(&c.count);
    c.capacity = c.count;
    enum c2_status status = c2_map_create(&c.seen, NULL);
    C2_ASSERT(status == C2_OK);
    for (unsigned map = MAP_0F; map <= MAP_0F3A; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++)
            for (unsigned evex = 0; evex < 2; evex++)
                consider_vectors(&c, (struct form){.vex = !evex, .evex = evex, .map = map, .opcode = (uint8_t)opcode});
    c2_map_destroy(c.seen);
    *count = c.count;
    return c.forms;
}

struct form *forms_all(size_t *count)
{
    struct collection c = {0};
    enum c2_status status = c2_map_create(&c.seen, NULL);
    C2_ASSERT(status == C2_OK);
    for (unsigned map = MAP_ONE; map <= MAP_0F3A; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++) {
            struct form form = {.map = map, .opcode = (uint8_t)opcode};
            if (!is_prefix(&form))
                consider_prefixes(&c, form);
        }
    consider_vex(&c);
    c2_map_destroy(c.seen);
    *count = c.count;
    return c.forms;
}

bool forms_unaligned(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_LDDQU:
    case ZYDIS_MNEMONIC_PCMPESTRI:
    case ZYDIS_MNEMONIC_PCMPESTRM:
    case ZYDIS_MNEMONIC_PCMPISTRI:
    case ZYDIS_MNEMONIC_PCMPISTRM:
        return true;
    default:
        return false;
    }
}

unsigned forms_alignment(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    switch (insn->encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
        return insn->meta.exception_class == ZYDIS_EXCEPTION_CLASS_AVX1 ? operand->size / 8u : 1;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
        return insn->meta.exception_class == ZYDIS_EXCEPTION_CLASS_E1 ||
                       insn->meta.exception_class == ZYDIS_EXCEPTION_CLASS_E1NF
                   ? operand->size / 8u
                   : 1;
    default:
        return operand->size == 128 && !forms_unaligned(insn) ? 16 : 1;
    }
}
