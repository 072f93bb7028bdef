/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trace_champsim: a trace in ChampSim's form, a record an instruction (struct stream_champsim).
 *
 * Model
 *   An instruction with its registers (insns.c), whether it is a branch that was taken, and the addresses that it
 *   reads and writes. A conditional jump was taken if its target comes next. Addresses are virtual ones, or, where that
 *   is asked for, physical ones, those of instructions too.
 *   The form has no sizes: ChampSim asks for one line with each address. So a reference has an address for each line
 *   that it touches, the first its own, the others their line's. What is more than a record has room for is in further
 *   records of the same instruction, without registers. An element of a string instruction with a REP prefix has a
 *   record, as each is an instruction to Pin; one of no elements has one as well.
 *   Non-temporal stores are writes; instructions made for caches are instructions without addresses.
 *
 * Counting
 *   Addresses read and written are the run's line accesses, if lines are as long as the machine's. Records are
 *   instructions, elements, and what was too much for one.
 *
 * Invariants
 *   Each instruction's branch is the one that ChampSim makes of its registers.
 *
 * Not modelled
 *   Several threads: the form has no room for them, and a run that has them is refused. Code of which nothing is known
 *   (insns.c) likewise. A jump behind which a signal's handler runs is not taken. What an instruction fetches
 *   beyond its first line.
 */
#include <inttypes.h>
#include <string.h>

#include "analyses/trace_priv.h"

#define ADDRESSES 64u /* of an instruction that are kept; more make records before it is over */

struct champsim {
    bool open;           /* an instruction is under way */
    bool first;          /* none of its records has been written */
    uint32_t references; /* of its element */
    uint32_t tid;        /* of all; 0: none yet */
    uint64_t ip;
    struct insns_insn insn;
    uint32_t reads, writes; /* addresses */
    uint64_t read[ADDRESSES], written[ADDRESSES];
    struct sim_reference *held; /* of an instruction that has not been fetched yet */
    uint32_t held_count, held_room;
};

static struct champsim *trace_champsim_own(void *trace) { return ((struct trace *)trace)->own; }

static bool was_taken(const struct insns_insn *insn, uint64_t next)
{
    return insn->branch == INSNS_CONDITIONAL_JUMP ? next == insn->target : insn->branch != INSNS_NO_BRANCH;
}

static uint32_t some(uint64_t *to, uint32_t room, const uint64_t *from, uint32_t count)
{
    const uint32_t taken = count < room ? count : room;
    memcpy(to, from, taken * sizeof *to);
    return taken;
}

static enum c2_status write_record(struct trace *trace, bool taken, uint32_t *read, uint32_t *written,
                                   struct c2_error *err)
{
    struct champsim *of = trace->own;
    struct stream_champsim record = {.ip = of->ip};
    if (of->first) {
        record.is_branch = of->insn.branch != INSNS_NO_BRANCH;
        record.branch_taken = taken;
        memcpy(record.source_registers, of->insn.read, sizeof record.source_registers);
        memcpy(record.destination_registers, of->insn.written, sizeof record.destination_registers);
    }
    of->first = false;
    *read += some(record.source_memory, STREAM_CHAMPSIM_READS, of->read + *read, of->reads - *read);
    *written += some(record.destination_memory, STREAM_CHAMPSIM_WRITES, of->written + *written, of->writes - *written);
    return trace_put(trace, &record, sizeof record, err);
}

/* All that is known of the instruction so far. next: what is executed behind it, 0: not known. */
static enum c2_status write_records(struct trace *trace, uint64_t next, struct c2_error *err)
{
    struct champsim *of = trace->own;
    uint32_t read = 0, written = 0;
    enum c2_status status = C2_OK;
    while (status == C2_OK && (of->first || read < of->reads || written < of->writes))
        status = write_record(trace, was_taken(&of->insn, next), &read, &written, err);
    of->reads = of->writes = 0;
    return status;
}

static enum c2_status trace_champsim_complete(struct trace *trace, uint64_t next, struct c2_error *err)
{
    struct champsim *of = trace->own;
    const bool open = of->open;
    of->open = false;
    return open ? write_records(trace, next, err) : C2_OK;
}

/* An instruction begins. ip: its address in the trace. */
static enum c2_status open_insn(struct trace *trace, const struct sim_reference *reference, uint64_t ip, uint32_t bytes,
                                struct c2_error *err)
{
    struct champsim *of = trace->own;
    if (of->tid != 0 && of->tid != reference->tid)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "a trace in ChampSim's form is of one thread, and thread %" PRIu32 " runs, too: trace the "
                       "program as FILE.memtrace",
                       reference->tid);
    const struct insns_insn *insn = insns_at(trace->insns, reference->pc.v, bytes);
    if (insn->bytes == 0)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "a trace in ChampSim's form has the registers of each instruction, and the code at 0x%" PRIx64
                       " is in no file, or is not what the file has: trace the program as FILE.memtrace",
                       reference->pc.v);
    of->tid = reference->tid;
    of->insn = *insn;
    of->ip = ip;
    of->open = of->first = true;
    of->references = 0;
    return C2_OK;
}

static enum c2_status add_address(struct trace *trace, bool write, uint64_t address, struct c2_error *err)
{
    struct champsim *of = trace->own;
    uint32_t *count = write ? &of->writes : &of->reads;
    if (*count == ADDRESSES) {
        const enum c2_status status = write_records(trace, of->insn.pc, err);
        if (status != C2_OK)
            return status;
    }
    (write ? of->written : of->read)[(*count)++] = address;
    return C2_OK;
}

/* Of a string instruction all that an element has refers to is there: the next one is a record of its own. */
static enum c2_status next_element(struct trace *trace, struct c2_error *err)
{
    struct champsim *of = trace->own;
    if (of->insn.element == 0 || of->references != of->insn.element)
        return C2_OK;
    const enum c2_status status = write_records(trace, of->insn.pc, err);
    of->first = true;
    of->references = 0;
    return status;
}

static enum c2_status take_data(struct trace *trace, const struct sim_reference *reference, struct c2_error *err)
{
    enum c2_status status = next_element(trace, err);
    for (uint32_t i = 0; i < reference->parts && status == C2_OK; i++) {
        const uint64_t start = trace_address(trace, reference, i), end = start + reference->part[i].size;
        for (uint64_t at = start; at < end && status == C2_OK; at = (at & ~(trace->line_bytes - 1)) + trace->line_bytes)
            status = add_address(trace, reference->kind == SIM_WRITE, at, err);
    }
    trace_champsim_own(trace)->references++;
    return status;
}

/* ------------------------------------------------------------------ string instructions that are interrupted
 * Their elements so far are notified before they are fetched, which is when they are complete. */

static enum c2_status trace_champsim_hold(struct trace *trace, const struct sim_reference *reference,
                                          struct c2_error *err)
{
    struct champsim *of = trace->own;
    if (!c2_grow((void **)&of->held, &of->held_room, of->held_count, sizeof *of->held))
        return c2_fail_memory(err, "a trace");
    of->held[of->held_count++] = *reference;
    return C2_OK;
}

static enum c2_status take_held(struct trace *trace, struct c2_error *err)
{
    struct champsim *of = trace->own;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < of->held_count && status == C2_OK; i++)
        status = take_data(trace, &of->held[i], err);
    of->held_count = 0;
    return status;
}

/* It was left for something else, such as a signal's handler, and is fetched later, or never. */
static enum c2_status give_up_held(struct trace *trace, struct c2_error *err)
{
    struct champsim *of = trace->own;
    if (of->held_count == 0)
        return C2_OK;
    const struct sim_reference *first = of->held;
    if (trace->physical)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "where the instruction at 0x%" PRIx64 " lies is not known, as it was interrupted: trace virtual "
                       "addresses",
                       first->pc.v);
    enum c2_status status = trace_champsim_complete(trace, first->pc.v, err);
    if (status == C2_OK)
        status = open_insn(trace, first, first->pc.v, 0, err);
    return status == C2_OK ? take_held(trace, err) : status;
}

static enum c2_status trace_champsim_take_fetch(struct trace *trace, const struct sim_reference *reference,
                                                struct c2_error *err)
{
    struct champsim *of = trace->own;
    const bool same = of->held_count != 0 && of->held->pc.v == reference->pc.v && of->held->tid == reference->tid;
    enum c2_status status = same ? C2_OK : give_up_held(trace, err);
    if (status == C2_OK)
        status = trace_champsim_complete(trace, reference->va.v, err);
    if (status == C2_OK)
        status = open_insn(trace, reference, trace_address(trace, reference, 0), reference->size, err);
    return status == C2_OK ? take_held(trace, err) : status;
}

static enum c2_status reference_(void *self, const struct sim_reference *reference, struct c2_error *err)
{
    const struct champsim *of = trace_champsim_own(self);
    if (reference->kind == SIM_FETCH)
        return trace_champsim_take_fetch(self, reference, err);
    const bool fetched = of->held_count == 0 && of->open && of->insn.pc == reference->pc.v && of->tid == reference->tid;
    return fetched ? take_data(self, reference, err) : trace_champsim_hold(self, reference, err);
}

/* ------------------------------------------------------------------ life */

static void trace_champsim_forget(struct trace *trace)
{
    if (trace->own)
        c2_free(trace_champsim_own(trace)->held);
    c2_free(trace->own);
}

static enum c2_status trace_champsim_begin(struct trace *trace, struct c2_error *err)
{
    trace_champsim_forget(trace);
    trace->own = c2_calloc(1, sizeof(struct champsim));
    return trace->own ? C2_OK : c2_fail_memory(err, "a trace");
}

static enum c2_status trace_champsim_end(struct trace *trace, struct c2_error *err)
{
    const enum c2_status status = give_up_held(trace, err);
    return status == C2_OK ? trace_champsim_complete(trace, 0, err) : status;
}

const struct trace_form trace_champsim = {.name = "champsim",
                                          .endings = {".champsim", ".champsimtrace"},
                                          .wants_insns = true,
                                          .begin = trace_champsim_begin,
                                          .reference = reference_,
                                          .end = trace_champsim_end,
                                          .forget = trace_champsim_forget};
