/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trace_memtrace: a trace as DynamoRIO's drcachesim reads them (-infile).
 *
 * Model
 *   Entries of 12 bytes, lowest byte first: a type of 2, a size of 2, an address of 8. First a head: the version (3: a
 *   jump is conditional, taken or not; no code), what the file is (a whole trace of x86-64), thread, process, the
 *   machine's line, pages. Then the instructions, each before what it reads and writes, with the kind of branch that it
 *   is. Each turn of a thread begins with its number, a time and a processor, and at the end all threads exit.
 *   There is no clock here: the time is how many instructions were written before, and one. No processor is known: -1.
 *   Of a string instruction with a REP prefix each element behind the first is an instruction that is not fetched
 *   again, and so are elements before an interruption.
 *   Where physical addresses are asked for, addresses stay virtual, as drcachesim wants them, and two markers say where
 *   a page lies when it is met first, or lies elsewhere than before.
 *   Instructions made for caches: prefetches by their hints, CLFLUSH of its line. Non-temporal stores are writes.
 *
 * Counting
 *   Instructions that are fetched are the run's; reads and writes are its references.
 *
 * Not modelled
 *   Signals and system calls: no marker says that a handler runs. CLWB, for which there is no type. Code of which
 *   nothing is known (insns.c): none of it is a branch, and elements of its string instructions stand together.
 *
 * Source: clients/drcachesim/common/trace_entry.h of DynamoRIO, release 11: trace_entry_t, trace_type_t,
 *   trace_marker_type_t, trace_version_t, offline_file_type_t; the order of a file's first entries in
 *   tracer/raw2trace.cpp, create_essential_header_entries. Numbers, which are a fact of the format; no code of it.
 */
#include <string.h>

#include "analyses/trace_priv.h"

enum { /* trace_type_t */
       READ = 0,
       WRITE = 1,
       PREFETCH_T0 = 3,
       PREFETCH_T1 = 4,
       PREFETCH_T2 = 5,
       PREFETCH_NTA = 6,
       PREFETCH_WRITE = 8,
       INSTR = 10,
       DIRECT_JUMP = 11,
       INDIRECT_JUMP = 12,
       CONDITIONAL_JUMP = 13,
       DIRECT_CALL = 14,
       INDIRECT_CALL = 15,
       RETURN = 16,
       DATA_FLUSH = 20,
       THREAD = 22,
       THREAD_EXIT = 23,
       PROCESS = 24,
       HEADER = 25,
       FOOTER = 26,
       MARKER = 28,
       NO_FETCH = 29,
};
enum { /* trace_marker_type_t, in the place of a size */
       TIMESTAMP = 2,
       CPU_ID = 3,
       FILE_TYPE = 9,
       LINE_SIZE = 10,
       VERSION = 12,
       PHYSICAL = 15,
       VIRTUAL = 17,
       PAGE_SIZE = 18,
};
enum { ENTRY_VERSION = 3, FILE_OF_X86_64 = 0x40, TID_BYTES = 4, ENTRY_BYTES = 12, PROCESS_NUMBER = 1 };
#define NO_PROCESSOR UINT64_MAX

struct memtrace {
    uint32_t tid;                /* of what was written last; 0: nothing was */
    uint64_t instructions;       /* written */
    uint64_t pc;                 /* of the instruction whose accesses come; 0: none */
    uint8_t element, references; /* of a string instruction: of an element, and so far */
    uint32_t bytes;
    struct c2_map *threads; /* those that were there */
    struct c2_map *frames;  /* page -> frame, as was said */
};

static enum c2_status trace_memtrace_put(struct trace *trace, unsigned type, uint64_t size, uint64_t address,
                                         struct c2_error *err)
{
    uint8_t entry[ENTRY_BYTES];
    for (unsigned i = 0; i < 2; i++) {
        entry[i] = (uint8_t)(type >> 8 * i);
        entry[2 + i] = (uint8_t)(size >> 8 * i);
    }
    for (unsigned i = 0; i < 8; i++)
        entry[4 + i] = (uint8_t)(address >> 8 * i);
    return trace_put(trace, entry, sizeof entry, err);
}

/* A turn of a thread. */
static enum c2_status trace_memtrace_turn_to(struct trace *trace, uint32_t tid, struct c2_error *err)
{
    struct memtrace *of = trace->own;
    const bool first = of->tid == 0;
    if (of->tid == tid)
        return C2_OK;
    of->tid = tid;
    of->pc = 0;
    enum c2_status status = c2_map_put(of->threads, tid, 1, err);
    if (status == C2_OK)
        status = trace_memtrace_put(trace, THREAD, TID_BYTES, tid, err);
    if (status == C2_OK)
        status = trace_memtrace_put(trace, PROCESS, TID_BYTES, PROCESS_NUMBER, err);
    if (status == C2_OK && first)
        status = trace_memtrace_put(trace, MARKER, LINE_SIZE, trace->line_bytes, err);
    if (status == C2_OK && first)
        status = trace_memtrace_put(trace, MARKER, PAGE_SIZE, C2_PAGE_BYTES, err);
    if (status == C2_OK)
        status = trace_memtrace_put(trace, MARKER, TIMESTAMP, of->instructions + 1, err);
    return status == C2_OK ? trace_memtrace_put(trace, MARKER, CPU_ID, NO_PROCESSOR, err) : status;
}

/* Where the page of a part lies, if nothing else was said of it. */
static enum c2_status say_frame(struct trace *trace, uint64_t va, uint64_t pa, struct c2_error *err)
{
    const uint64_t page = c2_align_down(va, C2_PAGE_BYTES), frame = c2_align_down(pa, C2_PAGE_BYTES);
    struct memtrace *of = trace->own;
    uint64_t said;
    if (!trace->physical || (c2_map_get(of->frames, page, &said) && said == frame))
        return C2_OK;
    enum c2_status status = c2_map_put(of->frames, page, frame, err);
    if (status == C2_OK)
        status = trace_memtrace_put(trace, MARKER, PHYSICAL, frame, err);
    return status == C2_OK ? trace_memtrace_put(trace, MARKER, VIRTUAL, page, err) : status;
}

static enum c2_status trace_memtrace_say_frames(struct trace *trace, const struct sim_reference *reference,
                                                struct c2_error *err)
{
    enum c2_status status = trace_memtrace_turn_to(trace, reference->tid, err);
    for (uint32_t i = 0; i < reference->parts && status == C2_OK; i++)
        status = say_frame(trace, reference->part[i].va.v, reference->part[i].pa.v, err);
    return status;
}

static enum c2_status trace_memtrace_take_fetch(struct trace *trace, const struct sim_reference *reference,
                                                struct c2_error *err)
{
    static const uint8_t types[] = {
        [INSNS_NO_BRANCH] = INSTR,
        [INSNS_DIRECT_JUMP] = DIRECT_JUMP,
        [INSNS_INDIRECT_JUMP] = INDIRECT_JUMP,
        [INSNS_CONDITIONAL_JUMP] = CONDITIONAL_JUMP,
        [INSNS_DIRECT_CALL] = DIRECT_CALL,
        [INSNS_INDIRECT_CALL] = INDIRECT_CALL,
        [INSNS_RETURN] = RETURN,
    };
    struct memtrace *of = trace->own;
    const struct insns_insn *insn = insns_at(trace->insns, reference->pc.v, reference->size);
    of->pc = reference->pc.v;
    of->bytes = reference->size;
    of->element = insn->element;
    of->references = 0;
    of->instructions++;
    return trace_memtrace_put(trace, types[insn->branch], reference->size, reference->va.v, err);
}

/* Before an access of data: an instruction that is not fetched, if it is of another one than what was written last, or
 * of a further element. Of an instruction that is not known nothing can be written. */
static enum c2_status find_insn(struct trace *trace, const struct sim_reference *reference, struct c2_error *err)
{
    struct memtrace *of = trace->own;
    const bool same = of->pc == reference->pc.v && of->bytes != 0;
    if (same && (of->element == 0 || of->references < of->element))
        return C2_OK;
    if (!same) {
        const struct insns_insn *insn = insns_at(trace->insns, reference->pc.v, 0);
        of->pc = reference->pc.v;
        of->bytes = insn->bytes;
        of->element = insn->element;
    }
    of->references = 0;
    return of->bytes != 0 ? trace_memtrace_put(trace, NO_FETCH, of->bytes, of->pc, err) : C2_OK;
}

static enum c2_status trace_memtrace_take_reference(void *self, const struct sim_reference *reference,
                                                    struct c2_error *err)
{
    struct trace *trace = self;
    struct memtrace *of = trace->own;
    enum c2_status status = trace_memtrace_say_frames(trace, reference, err);
    if (status != C2_OK || reference->kind == SIM_FETCH)
        return status == C2_OK ? trace_memtrace_take_fetch(trace, reference, err) : status;
    status = find_insn(trace, reference, err);
    of->references++;
    return status == C2_OK ? trace_memtrace_put(trace, reference->kind == SIM_WRITE ? WRITE : READ, reference->size,
                                                reference->va.v, err)
                           : status;
}

static enum c2_status take_instructed(void *self, const struct sim_reference *named, enum caches_instruction what,
                                      struct c2_error *err)
{
    static const uint8_t types[CACHES_FLUSH] = {PREFETCH_T0, PREFETCH_T1, PREFETCH_T2, PREFETCH_NTA, PREFETCH_WRITE};
    struct trace *trace = self;
    if (what > CACHES_FLUSH)
        return C2_OK;
    const enum c2_status status = trace_memtrace_say_frames(trace, named, err);
    if (status != C2_OK)
        return status;
    return what == CACHES_FLUSH ? trace_memtrace_put(trace, DATA_FLUSH, trace->line_bytes,
                                                     c2_align_down(named->va.v, trace->line_bytes), err)
                                : trace_memtrace_put(trace, types[what], 1, named->va.v, err);
}

/* ------------------------------------------------------------------ life */

static void trace_memtrace_forget(struct trace *trace)
{
    struct memtrace *of = trace->own;
    if (!of)
        return;
    c2_map_destroy(of->threads);
    c2_map_destroy(of->frames);
    c2_free(of);
    trace->own = NULL;
}

static enum c2_status trace_memtrace_begin(struct trace *trace, struct c2_error *err)
{
    trace_memtrace_forget(trace);
    struct memtrace *of = trace->own = c2_calloc(1, sizeof *of);
    if (!of)
        return c2_fail_memory(err, "a trace");
    enum c2_status status = c2_map_create(&of->threads, err);
    if (status == C2_OK)
        status = c2_map_create(&of->frames, err);
    if (status == C2_OK)
        status = trace_memtrace_put(trace, HEADER, 0, ENTRY_VERSION, err);
    if (status == C2_OK)
        status = trace_memtrace_put(trace, MARKER, VERSION, ENTRY_VERSION, err);
    return status == C2_OK ? trace_memtrace_put(trace, MARKER, FILE_TYPE, FILE_OF_X86_64, err) : status;
}

static enum c2_status trace_memtrace_end(struct trace *trace, struct c2_error *err)
{
    struct memtrace *of = trace->own;
    struct c2_pair *list;
    const uint64_t count = c2_map_count(of->threads);
    enum c2_status status = c2_map_list(&list, of->threads, err);
    if (status != C2_OK)
        return status;
    for (uint64_t i = 0; i < count && status == C2_OK; i++)
        status = trace_memtrace_put(trace, THREAD_EXIT, TID_BYTES, list[i].key, err);
    c2_free(list);
    return status == C2_OK ? trace_memtrace_put(trace, FOOTER, 0, 0, err) : status;
}

const struct trace_form trace_memtrace = {.name = "memtrace",
                                          .endings = {".memtrace"},
                                          .wants_insns = true,
                                          .begin = trace_memtrace_begin,
                                          .reference = trace_memtrace_take_reference,
                                          .instructed = take_instructed,
                                          .end = trace_memtrace_end,
                                          .forget = trace_memtrace_forget};
