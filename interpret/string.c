/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A REP string instruction is a loop over elements; here it is a loop over stretches: as many elements as lie on one
 *   source page and one destination page. The rights of both pages are asked for once a stretch, the source first, and
 *   the elements of a stretch are done in one inner loop (or memmove, where no element reads what an earlier one
 *   wrote).
 * Counting
 *   The effect carries the start addresses, the elements done with their direction, and the count that remains, also
 *   when a fault ends it between elements.
 * Invariants
 *   RCX, RSI and RDI always describe whole elements. Flags change only when the instruction completes: a handler of a
 *   page fault in CMPS or SCAS sees those from before it. So Intel's manual has it, and CPUID states that this is
 *   Intel's CPU; AMD's shows the handler those of the last comparison. Of two operands of CMPS that cannot be read the
 *   source faults, as on AMD's CPUs of family 26; on those of family 25 the destination does.
 * Not modelled
 *   Two guest pages that show the same memory: overlap is judged by address.
 * Source
 *   Intel SDM volume 2, REP/REPE/REPNE and the string instructions.
 */
#include "interpret/interpret_priv.h"
#include "stream/stream.h"

enum string_kind { STRING_MOVS, STRING_STOS, STRING_LODS, STRING_CMPS, STRING_SCAS };

struct string_op {
    enum string_kind kind;
    unsigned bytes;               /* of an element */
    bool down;                    /* DF */
    bool until_equal;             /* REPNE: stop after an equal pair; else REPE: after an unequal one */
    uint64_t source, destination; /* addresses of the next element */
    uint64_t left;
    uint64_t accumulator;
    uint64_t flags; /* of the last comparison */
    bool stopped;   /* by a comparison */
};

static bool string_kind_of(const ZydisDecodedInstruction *insn, enum string_kind *kind, unsigned *bytes)
{
    static const struct {
        ZydisMnemonic first[4]; /* b w d q */
    } kinds[] = {
        {{ZYDIS_MNEMONIC_MOVSB, ZYDIS_MNEMONIC_MOVSW, ZYDIS_MNEMONIC_MOVSD, ZYDIS_MNEMONIC_MOVSQ}},
        {{ZYDIS_MNEMONIC_STOSB, ZYDIS_MNEMONIC_STOSW, ZYDIS_MNEMONIC_STOSD, ZYDIS_MNEMONIC_STOSQ}},
        {{ZYDIS_MNEMONIC_LODSB, ZYDIS_MNEMONIC_LODSW, ZYDIS_MNEMONIC_LODSD, ZYDIS_MNEMONIC_LODSQ}},
        {{ZYDIS_MNEMONIC_CMPSB, ZYDIS_MNEMONIC_CMPSW, ZYDIS_MNEMONIC_CMPSD, ZYDIS_MNEMONIC_CMPSQ}},
        {{ZYDIS_MNEMONIC_SCASB, ZYDIS_MNEMONIC_SCASW, ZYDIS_MNEMONIC_SCASD, ZYDIS_MNEMONIC_SCASQ}},
    };
    if (insn->meta.category != ZYDIS_CATEGORY_STRINGOP) /* MOVSD and CMPSD are SSE instructions as well */
        return false;
    for (unsigned k = 0; k < 5; k++)
        for (unsigned size = 0; size < 4; size++)
            if (kinds[k].first[size] == insn->mnemonic) {
                *kind = (enum string_kind)k;
                *bytes = 1u << size;
                return true;
            }
    return false;
}

/* The last of F2 and F3 counts. CPUs take F2 on movs, stos and lods for REP. */
static uint8_t repeat_prefix(const ZydisDecodedInstruction *insn)
{
    uint8_t found = 0;
    for (unsigned i = 0; i < insn->raw.prefix_count; i++)
        if (insn->raw.prefixes[i].value == 0xf2 || insn->raw.prefixes[i].value == 0xf3)
            found = insn->raw.prefixes[i].value;
    return found;
}

bool interpret_is_rep_string(const ZydisDecodedInstruction *insn)
{
    enum string_kind kind;
    unsigned bytes;
    return string_kind_of(insn, &kind, &bytes) && repeat_prefix(insn) != 0;
}

static bool reads_source(const struct string_op *op)
{
    return op->kind == STRING_MOVS || op->kind == STRING_LODS || op->kind == STRING_CMPS;
}

static bool uses_destination(const struct string_op *op) { return op->kind != STRING_LODS; }

static enum mmu_access destination_access(const struct string_op *op)
{
    return op->kind == STRING_MOVS || op->kind == STRING_STOS ? MMU_ACCESS_WRITE : MMU_ACCESS_READ;
}

/* Elements from address on, in the direction of op, that lie wholly on its page; an element across the edge is a
 * stretch of its own. */
static uint64_t on_one_page(const struct string_op *op, uint64_t address)
{
    uint64_t offset = address % C2_PAGE_BYTES;
    if (offset + op->bytes > C2_PAGE_BYTES)
        return 1;
    return op->down ? offset / op->bytes + 1 : (C2_PAGE_BYTES - offset) / op->bytes;
}

static uint64_t stretch_of(const struct string_op *op)
{
    uint64_t elements = op->left;
    if (reads_source(op) && on_one_page(op, op->source) < elements)
        elements = on_one_page(op, op->source);
    if (uses_destination(op) && on_one_page(op, op->destination) < elements)
        elements = on_one_page(op, op->destination);
    return elements;
}

/* ------------------------------------------------------------------ the inner loops
 * Each is instantiated for its element size by string_stretch, so that loads and stores are single instructions. */

#define INNER_LOOP static inline __attribute__((always_inline))

static inline uint64_t string_step_of(const struct string_op *op, unsigned bytes)
{
    return op->down ? (uint64_t)0 - bytes : bytes;
}

/* Whether an element would read bytes that an earlier element has written. */
static bool feeds_itself(const struct string_op *op, uint64_t length)
{
    if (op->down)
        return op->destination < op->source && op->source - op->destination < length;
    return op->destination > op->source && op->destination - op->source < length;
}

INNER_LOOP uint64_t movs_stretch(struct string_op *op, uint64_t elements, unsigned bytes)
{
    uint64_t length = elements * bytes, back = op->down ? length - bytes : 0;
    if (SHORTCUT(!feeds_itself(op, length))) {
        memmove((void *)(uintptr_t)(op->destination - back), (const void *)(uintptr_t)(op->source - back), length);
        return elements;
    }
    uint64_t step = string_step_of(op, bytes);
    for (uint64_t i = 0; i < elements; i++)
        guest_store(op->destination + i * step, bytes, guest_load(op->source + i * step, bytes));
    return elements;
}

INNER_LOOP uint64_t stos_stretch(struct string_op *op, uint64_t elements, unsigned bytes)
{
    uint64_t lowest = op->down ? op->destination - (elements - 1) * bytes : op->destination;
    if (SHORTCUT(bytes == 1)) {
        memset((void *)(uintptr_t)lowest, (int)op->accumulator, elements);
        return elements;
    }
    for (uint64_t i = 0; i < elements; i++)
        guest_store(lowest + i * bytes, bytes, op->accumulator);
    return elements;
}

INNER_LOOP uint64_t lods_stretch(struct string_op *op, uint64_t elements, unsigned bytes)
{
    op->accumulator = guest_load(op->source + (elements - 1) * string_step_of(op, bytes), bytes);
    return elements;
}

/* CMPS compares the source element, SCAS the accumulator, with the destination element. */
INNER_LOOP uint64_t compare_stretch(struct string_op *op, uint64_t elements, unsigned bytes, bool is_cmps)
{
    uint64_t step = string_step_of(op, bytes), left = op->accumulator, right = 0;
    uint64_t i = 0;
    while (i < elements && !op->stopped) {
        if (is_cmps)
            left = guest_load(op->source + i * step, bytes);
        right = guest_load(op->destination + i * step, bytes);
        op->stopped = (left == right) == op->until_equal;
        i++;
    }
    op->flags = interpret_flags_of_subtraction(left, right, 8 * bytes);
    return i;
}

INNER_LOOP uint64_t sized_stretch(struct string_op *op, uint64_t elements, unsigned bytes)
{
    switch (op->kind) {
    case STRING_MOVS:
        return movs_stretch(op, elements, bytes);
    case STRING_STOS:
        return stos_stretch(op, elements, bytes);
    case STRING_LODS:
        return lods_stretch(op, elements, bytes);
    case STRING_CMPS:
        return compare_stretch(op, elements, bytes, true);
    default:
        return compare_stretch(op, elements, bytes, false);
    }
}

/* Does at most `elements` elements, all of which may be accessed; returns how many were done. */
static uint64_t string_stretch(struct string_op *op, uint64_t elements)
{
    switch (op->bytes) {
    case 1:
        return sized_stretch(op, elements, 1);
    case 2:
        return sized_stretch(op, elements, 2);
    case 4:
        return sized_stretch(op, elements, 4);
    default:
        return sized_stretch(op, elements, 8);
    }
}

/* ------------------------------------------------------------------ the instruction */

static bool stretch_may_run(struct interpret_run *run, const struct string_op *op)
{
    return (!reads_source(op) || interpret_may_access(run, op->source, op->bytes, MMU_ACCESS_READ)) &&
           (!uses_destination(op) || interpret_may_access(run, op->destination, op->bytes, destination_access(op)));
}

static void run_elements(struct interpret_run *run, struct string_op *op)
{
    while (op->left > 0 && !op->stopped) {
        if (!stretch_may_run(run, op))
            return;
        uint64_t done = string_stretch(op, stretch_of(op));
        uint64_t distance = done * string_step_of(op, op->bytes);
        op->source += distance;
        op->destination += distance;
        op->left -= done;
    }
}

static uint64_t source_segment_base(const struct interpret_run *run)
{
    for (unsigned i = 0; i < run->insn->operand_count; i++) {
        const ZydisDecodedOperand *operand = &run->operands[i];
        bool is_source = interpret_is_memory(operand) && operand->mem.base == ZYDIS_REGISTER_RSI;
        if (is_source && (operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS))
            return run->cpu->get_segment_base(run->cpu->self, operand->mem.segment);
    }
    return 0;
}

static void string_commit(struct interpret_run *run, const struct string_op *op, uint64_t before)
{
    static const ZydisRegister accumulators[] = {
        [1] = ZYDIS_REGISTER_AL, [2] = ZYDIS_REGISTER_AX, [4] = ZYDIS_REGISTER_EAX, [8] = ZYDIS_REGISTER_RAX};
    const struct interpret_cpu *cpu = run->cpu;
    uint64_t done = before - op->left, distance = done * string_step_of(op, op->bytes);
    cpu->set_gpr(cpu->self, RCX, op->left);
    if (reads_source(op))
        cpu->set_gpr(cpu->self, RSI, cpu->get_gpr(cpu->self, RSI) + distance);
    if (uses_destination(op))
        cpu->set_gpr(cpu->self, RDI, cpu->get_gpr(cpu->self, RDI) + distance);
    if (op->kind == STRING_LODS && done > 0)
        interpret_set_register(cpu, accumulators[op->bytes], op->accumulator);
    bool compares = op->kind == STRING_CMPS || op->kind == STRING_SCAS;
    if (compares && done > 0 && run->effect->status == INTERPRET_DONE)
        interpret_change_flags(run, FLAGS_STATUS, op->flags);
}

void interpret_rep_string(struct interpret_run *run)
{
    const struct interpret_cpu *cpu = run->cpu;
    struct string_op op = {0};
    bool is_string = string_kind_of(run->insn, &op.kind, &op.bytes);
    C2_ASSERT(is_string);
    if (run->insn->address_width != 64) {
        interpret_refuse(run, "a repeated string instruction with 32-bit addresses (prefix 67h) is not modelled");
        return;
    }
    op.down = (cpu->get_flags(cpu->self) & FLAG_DF) != 0;
    op.until_equal = repeat_prefix(run->insn) == 0xf2;
    op.source = reads_source(&op) ? cpu->get_gpr(cpu->self, RSI) + source_segment_base(run) : 0;
    op.destination = uses_destination(&op) ? cpu->get_gpr(cpu->self, RDI) : 0;
    op.left = cpu->get_gpr(cpu->self, RCX);
    op.accumulator = cpu->get_gpr(cpu->self, RAX) & c2_mask(0, 8 * op.bytes - 1);

    uint64_t before = op.left;
    *run->effect = (struct interpret_effect){.address_count = 4, .address = {op.source, op.destination, 0, before}};
    run_elements(run, &op);
    string_commit(run, &op, before);
    run->effect->address[2] = stream_string_done(before - op.left, op.down);
    run->effect->address[3] = op.left;
}
