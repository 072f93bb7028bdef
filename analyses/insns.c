/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * insns: which instructions are branches, and which registers they read and write.
 *
 * Model
 *   The code of an instruction is read from the file that is mapped where it lies. Registers are whole ones, whatever
 *   part of them is meant, with Pin's numbers, as ChampSim's tracer writes them: RDI 3, RSI 4, RBP 5, RSP 6, RBX 7, RDX
 *   8, RCX 9, RAX 10, R8 to R15 11 to 18, segments from 19 on, flags 25, RIP 26. Behind these Pin's numbers differ from
 *   version to version; here ZMM0 to ZMM31 and their parts are 64 to 95, K0 to K7 96 to 103, those of x87 and MMX 104
 *   to 111, all others 112. What is more than the record has room for is left out.
 *   Of branches the registers are those by which ChampSim knows which kind they are (its inc/instruction.h):
 *                         reads                                writes
 *     direct jump         RIP                                  RIP
 *     indirect jump       those of its operand, or MEMORY      RIP
 *     conditional jump    RIP, flags or RCX                    RIP, RCX of LOOP
 *     direct call         RIP, RSP                             RIP, RSP
 *     indirect call       RIP, RSP, those of its operand,      RIP, RSP
 *                         or MEMORY
 *     return              RSP                                  RIP, RSP
 *   MEMORY is a register that there is not, 127: a target that is loaded from an address without registers, or from one
 *   by RIP or RSP, would make it a direct one. No other instruction writes RIP here, SYSCALL included.
 *
 * Invariants
 *   An instruction that is known has as many bytes as were fetched.
 *
 * Not modelled
 *   Code in no file (of a JIT compiler), and code that was changed or whose rights were after it ran: nothing is known
 *   of it.
 *
 * Source: Intel SDM volume 2, through Capstone; ChampSim's tracer/pin/champsim_tracer.cpp and inc/instruction.h for
 *   what is written where; Pin's reg_ia32.PH for the numbers up to 26.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analyses/insns_priv.h"
#include "loader/capstone.h"

#define RECENT C2_HOST_SIZE(4096u, 4u)
#define GENERAL 16u /* registers */
enum { FIRST_SEGMENT = 19, FIRST_ZMM = 64, FIRST_K = 96, FIRST_ST = 104, OTHER_REGISTER = 112, MEMORY_REGISTER = 127 };

struct mapped {
    uint64_t start, end, offset;
    int fd;
};

struct insns {
    csh capstone;
    cs_insn *insn;
    struct mapped *files;
    uint32_t file_count, file_room;
    struct insns_insn recent[RECENT]; /* by a hash of pc */
};

/* ------------------------------------------------------------------ files that are mapped */

static void insns_drop(struct insns *insns, uint32_t i)
{
    close(insns->files[i].fd);
    insns->files[i] = insns->files[--insns->file_count];
}

static enum c2_status insns_add(struct insns *insns, const struct mapped *file, struct c2_error *err)
{
    if (!c2_grow((void **)&insns->files, &insns->file_room, insns->file_count, sizeof *insns->files)) {
        close(file->fd);
        return c2_fail_memory(err, "the code of a trace");
    }
    insns->files[insns->file_count++] = *file;
    return C2_OK;
}

/* Nothing is known of the range any more. */
static enum c2_status insns_forget(struct insns *insns, uint64_t start, uint64_t end, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    memset(insns->recent, 0, sizeof insns->recent);
    for (uint32_t i = insns->file_count; i-- > 0 && status == C2_OK;) {
        struct mapped *file = &insns->files[i], behind = *file;
        if (file->end <= start || file->start >= end)
            continue;
        behind.start = end;
        behind.offset += end - file->start;
        const bool both = file->start < start && file->end > end;
        if (both) {
            file->end = start;
            behind.fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
            status = behind.fd < 0 ? C2_OK : insns_add(insns, &behind, err);
        } else if (file->start < start) {
            file->end = start;
        } else if (file->end > end) {
            file->start = end;
            file->offset = behind.offset;
        } else {
            insns_drop(insns, i);
        }
    }
    return status;
}

enum c2_status insns_memory(struct insns *insns, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    struct mapped file = {area->start.v, area->start.v + area->bytes, 0, -1};
    enum c2_status status = insns_forget(insns, file.start, file.end, err);
    if (status != C2_OK || !appeared || !area->path)
        return status;
    file.offset = area->offset;
    file.fd = open(area->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return file.fd < 0 ? C2_OK : insns_add(insns, &file, err);
}

void insns_mark(struct insns *insns, enum stream_mark mark, const uint64_t *words)
{
    struct c2_error ignored; /* what cannot be kept is unknown */
    if (mark == STREAM_CODE)
        insns_forget(insns, words[0], words[0] + words[1], &ignored);
}

/* ------------------------------------------------------------------ registers */

static uint8_t insns_number_of(unsigned id)
{
    static const uint8_t general[GENERAL] = {10, 9, 8, 7, 6, 5, 4, 3, 11, 12, 13, 14, 15, 16, 17, 18};
    static const x86_reg segments[] = {X86_REG_CS, X86_REG_SS, X86_REG_DS, X86_REG_ES, X86_REG_FS, X86_REG_GS};
    static const struct {
        unsigned first, last;
        uint8_t number;
    } ranges[] = {{X86_REG_XMM0, X86_REG_XMM31, FIRST_ZMM}, {X86_REG_YMM0, X86_REG_YMM31, FIRST_ZMM},
                  {X86_REG_ZMM0, X86_REG_ZMM31, FIRST_ZMM}, {X86_REG_K0, X86_REG_K7, FIRST_K},
                  {X86_REG_ST0, X86_REG_ST7, FIRST_ST},     {X86_REG_MM0, X86_REG_MM7, FIRST_ST}};
    const unsigned whole = loader_capstone_register(id, true);
    if (whole < GENERAL)
        return general[whole];
    for (uint8_t i = 0; i < sizeof segments / sizeof segments[0]; i++)
        if (segments[i] == id)
            return (uint8_t)(FIRST_SEGMENT + i);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (id >= ranges[i].first && id <= ranges[i].last)
            return (uint8_t)(ranges[i].number + id - ranges[i].first);
    if (id == X86_REG_EFLAGS)
        return INSNS_FLAGS;
    return id == X86_REG_RIP || id == X86_REG_EIP || id == X86_REG_IP ? INSNS_INSTRUCTION_POINTER : OTHER_REGISTER;
}

/* Once each, while there is room. */
static void insns_put(uint8_t *list, size_t room, uint8_t number)
{
    for (size_t i = 0; i < room; i++) {
        if (list[i] == 0)
            list[i] = number;
        if (list[i] == number)
            return;
    }
}

static void reads(struct insns_insn *to, uint8_t number) { insns_put(to->read, INSNS_READ_REGISTERS, number); }
static void insns_writes(struct insns_insn *to, uint8_t number)
{
    insns_put(to->written, INSNS_WRITTEN_REGISTERS, number);
}

static void insns_take_plain(struct insns_insn *to, const struct insns *insns)
{
    cs_regs read, written;
    uint8_t read_count = 0, written_count = 0;
    if (cs_regs_access(insns->capstone, insns->insn, read, &read_count, written, &written_count) != CS_ERR_OK)
        return;
    for (unsigned i = 0; i < read_count; i++)
        reads(to, insns_number_of(read[i]));
    for (unsigned i = 0; i < written_count; i++)
        if (insns_number_of(written[i]) != INSNS_INSTRUCTION_POINTER)
            insns_writes(to, insns_number_of(written[i]));
}

/* What an indirect target comes from. */
static void take_operand(struct insns_insn *to, const cs_x86_op *op)
{
    const unsigned ids[] = {op->type == X86_OP_REG ? op->reg : (unsigned)op->mem.base,
                            op->type == X86_OP_REG ? X86_REG_INVALID : (unsigned)op->mem.index};
    bool any = false;
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t number = ids[i] == X86_REG_INVALID ? 0 : insns_number_of(ids[i]);
        if (number == 0 || number == INSNS_STACK_POINTER || number == INSNS_INSTRUCTION_POINTER)
            continue;
        reads(to, number);
        any = true;
    }
    if (!any)
        reads(to, MEMORY_REGISTER);
}

static bool counts_rcx(unsigned id)
{
    return id == X86_INS_JRCXZ || id == X86_INS_JECXZ || id == X86_INS_LOOP || id == X86_INS_LOOPE ||
           id == X86_INS_LOOPNE;
}

static enum insns_branch branch_of(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    const bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
    bool call = false, jump = false, back = false;
    for (unsigned i = 0; i < insn->detail->groups_count; i++) {
        call |= insn->detail->groups[i] == CS_GRP_CALL;
        jump |= insn->detail->groups[i] == CS_GRP_JUMP;
        back |= insn->detail->groups[i] == CS_GRP_RET;
    }
    if (back)
        return INSNS_RETURN;
    if (call)
        return direct ? INSNS_DIRECT_CALL : INSNS_INDIRECT_CALL;
    if (insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP)
        return direct ? INSNS_DIRECT_JUMP : INSNS_INDIRECT_JUMP;
    return (jump || counts_rcx(insn->id)) && direct ? INSNS_CONDITIONAL_JUMP : INSNS_NO_BRANCH;
}

static void take_branch(struct insns_insn *to, const cs_insn *insn)
{
    const cs_x86_op *op = insn->detail->x86.operands;
    const bool calls = to->branch == INSNS_DIRECT_CALL || to->branch == INSNS_INDIRECT_CALL;
    insns_writes(to, INSNS_INSTRUCTION_POINTER);
    if (to->branch != INSNS_RETURN && to->branch != INSNS_INDIRECT_JUMP)
        reads(to, INSNS_INSTRUCTION_POINTER);
    if (calls || to->branch == INSNS_RETURN) {
        reads(to, INSNS_STACK_POINTER);
        insns_writes(to, INSNS_STACK_POINTER);
    }
    if (to->branch == INSNS_INDIRECT_JUMP || to->branch == INSNS_INDIRECT_CALL)
        take_operand(to, op);
    else if (to->branch != INSNS_RETURN)
        to->target = (uint64_t)op->imm;
    if (to->branch != INSNS_CONDITIONAL_JUMP)
        return;
    const bool rcx = counts_rcx(insn->id), loops = rcx && insn->id != X86_INS_JRCXZ && insn->id != X86_INS_JECXZ;
    if (rcx)
        reads(to, insns_number_of(X86_REG_RCX));
    if (!rcx || insn->id == X86_INS_LOOPE || insn->id == X86_INS_LOOPNE)
        reads(to, INSNS_FLAGS);
    if (loops)
        insns_writes(to, insns_number_of(X86_REG_RCX));
}

/* References of an element of an instruction with a REP prefix; 0: it has none. */
static uint8_t insns_element_of(const cs_insn *insn)
{
    const uint8_t prefix = insn->detail->x86.prefix[0];
    if (prefix != X86_PREFIX_REP && prefix != X86_PREFIX_REPNE)
        return 0;
    switch (insn->id) {
    case X86_INS_MOVSB:
    case X86_INS_MOVSW:
    case X86_INS_MOVSD:
    case X86_INS_MOVSQ:
    case X86_INS_CMPSB:
    case X86_INS_CMPSW:
    case X86_INS_CMPSD:
    case X86_INS_CMPSQ:
        return 2;
    case X86_INS_STOSB:
    case X86_INS_STOSW:
    case X86_INS_STOSD:
    case X86_INS_STOSQ:
    case X86_INS_LODSB:
    case X86_INS_LODSW:
    case X86_INS_LODSD:
    case X86_INS_LODSQ:
    case X86_INS_SCASB:
    case X86_INS_SCASW:
    case X86_INS_SCASD:
    case X86_INS_SCASQ:
        return 1;
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ instructions */

static size_t read_code(const struct insns *insns, uint64_t pc, uint8_t *to, size_t bytes)
{
    for (uint32_t i = 0; i < insns->file_count; i++) {
        const struct mapped *file = &insns->files[i];
        if (pc < file->start || pc >= file->end)
            continue;
        const size_t there = file->end - pc < bytes ? (size_t)(file->end - pc) : bytes;
        const ssize_t count = pread(file->fd, to, there, (off_t)(file->offset + pc - file->start));
        return count < 0 ? 0 : (size_t)count;
    }
    return 0;
}

static void insns_decode(struct insns_insn *to, struct insns *insns, uint64_t pc, uint32_t bytes)
{
    uint8_t code[LOADER_LONGEST_INSN];
    size_t count = read_code(insns, pc, code, sizeof code);
    const uint8_t *at = code;
    uint64_t address = pc;
    *to = (struct insns_insn){.pc = pc};
    if (count == 0 || !cs_disasm_iter(insns->capstone, &at, &count, &address, insns->insn) ||
        (bytes != 0 && insns->insn->size != bytes))
        return;
    to->bytes = insns->insn->size;
    to->branch = (uint8_t)branch_of(insns->insn);
    to->element = insns_element_of(insns->insn);
    if (to->branch == INSNS_NO_BRANCH)
        insns_take_plain(to, insns);
    else
        take_branch(to, insns->insn);
}

const struct insns_insn *insns_at(struct insns *insns, uint64_t pc, uint32_t bytes)
{
    struct insns_insn *insn = &insns->recent[(pc ^ pc >> 12) % RECENT];
    if (insn->pc != pc || insn->bytes == 0 || (bytes != 0 && insn->bytes != bytes))
        insns_decode(insn, insns, pc, bytes);
    return insn;
}

/* ------------------------------------------------------------------ life */

enum c2_status insns_create(struct insns **out, struct loader_symbols *symbols, struct c2_error *err)
{
    *out = NULL;
    struct insns *insns = c2_calloc(1, sizeof *insns);
    if (!insns)
        return c2_fail_memory(err, "the code of a trace");
    enum c2_status status = loader_capstone(&insns->capstone, symbols, err);
    if (status == C2_OK && !(insns->insn = cs_malloc(insns->capstone)))
        status = c2_fail_memory(err, "the code of a trace");
    if (status == C2_OK)
        *out = insns;
    else
        insns_destroy(insns);
    return status;
}

void insns_destroy(struct insns *insns)
{
    if (!insns)
        return;
    while (insns->file_count != 0)
        insns_drop(insns, insns->file_count - 1);
    if (insns->insn)
        cs_free(insns->insn, 1);
    c2_free(insns->files);
    c2_free(insns);
}
