/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stream: the reference stream, the one thing that passes between an engine and the consumers of its
 * references. It names no engine, holds no host pointer and no timestamp: it can be recorded and replayed.
 *
 * Model
 *   A guest basic block is described once by a struct stream_block (what its instructions are, and what each of
 *   its slots means). Each execution of it then appends to the current batch one header word and one effective
 *   address a slot:
 *
 *       header:  63........32 31......16 15.......0        then slots_used x 64-bit effective addresses
 *                block number  insns run  slots used
 *
 *   insns run < insn_count when the block was left early: then slots used is first_slot of the first instruction that
 *   did not complete. A faulting instruction leaves no slot and is not counted.
 *
 * Blocks
 *   Where the guest comes to, a block starts. All engines cut it alike; it ends
 *     - behind an instruction that may go on elsewhere: jump, call, return, loop, system call; and behind PAUSE;
 *     - before and behind an instruction that is a block of its own (engine/alone.c): those with a REP prefix; whose
 *       result is not the processor's to give (CPUID), or differs between processors (RCPPS, FSIN); which trap; which
 *       load CS (far branches, IRET); which store or load the whole state of the floating-point units; ENTER with a
 *       nesting level;
 *     - before and behind an instruction whose references depend on a mask or on a vector of indices;
 *     - behind STREAM_BLOCK_INSNS instructions;
 *     - before a place where a block has to start (engine_watch.splits).
 *   It is left early by a fault, before a store into its own code (which is then alone in its record), behind an
 *   instruction that has changed the rest of it in another way, and where a run is cut: by a budget of instructions,
 *   and with it where recording is switched on or off. The rest is then a block that starts there. So the records of a
 *   run that was cut are, instruction for instruction, those of a whole one.
 *
 * Slots, in the program order of the accesses, at most one record for one access of one instruction:
 *   READ, WRITE     one address
 *   MODIFY          one address: read, then written (a read reference and then a write reference of the same bytes)
 *   CACHE           what an instruction made for caches names (enum stream_cache): nothing is read or written
 *   A masked move, or an operation under a mask on memory, makes a reference for each run of bytes that it touches; a
 *   gather or scatter one for each element, by index. Those that the mask leaves out make none. How many there are, and
 *   of which sizes, is known when it is executed: so each such instruction has several blocks, one for each shape of
 *   what it has touched, and its record is of the one that fits. All or nothing of it is done: a fault of one element
 *   is one of the instruction.
 *   String instructions with a REP prefix use four slots: SOURCE, DESTINATION (addresses at the start), DONE (how many
 *   elements were done, negative if they went downwards: fewer than 2^63, as they lie in memory) and REMAINING (the
 *   count register after them, any number of 64 bits). Each element is: the source read (if there is one), then the
 *   destination access (if there is one). Addresses wrap nowhere: element i is at address +- i*size. A REP instruction
 *   is always alone in its block. When it is interrupted by a fault between elements, a record is written for the
 *   elements done, with insns run = 0; the record that completes it has insns run = 1. The functions stream_string_...
 *   read the four words.
 *
 * Marks
 *   What the meaning of later references depends on, in its place in program order: a record whose block number is
 *   STREAM_MARK; insns run says which mark it is (enum stream_mark), slots used how many words follow. A consumer that
 *   does not want marks skips them. No mark parts the records of one REP instruction.
 */
#ifndef C2_STREAM_H
#define C2_STREAM_H

#include "base/base.h"

enum stream_kind {
    STREAM_READ,
    STREAM_WRITE,
    STREAM_MODIFY,
    STREAM_SOURCE,      /* string: address of the first element read, DS:RSI side; unused (0) if size is 0 */
    STREAM_DESTINATION, /* string: address of the first element at ES:RDI; unused (0) if size is 0 */
    STREAM_DONE,        /* string: elements done, negative (two's complement): downwards */
    STREAM_REMAINING,   /* string: count after them */
    STREAM_CACHE,       /* no reference: an instruction made for caches, of the line of the address */
};

/* What a slot of the kind CACHE wants of the caches. */
enum stream_cache {
    STREAM_PREFETCH_T0, /* the line is fetched ahead: PREFETCHT0 (and PREFETCH of 3DNow!), T1, T2, NTA; PREFETCHW */
    STREAM_PREFETCH_T1,
    STREAM_PREFETCH_T2,
    STREAM_PREFETCH_NTA,
    STREAM_PREFETCH_W,
    STREAM_FLUSH,      /* CLFLUSH, CLFLUSHOPT: no cache has the line any more */
    STREAM_WRITE_BACK, /* CLWB: no cache has it dirty */
    STREAM_CACHES
};

struct stream_slot {
    uint16_t insn; /* index into the block's instructions */
    uint16_t size; /* bytes; of one element for SOURCE and DESTINATION; 0 for DONE and REMAINING; 1 for CACHE */
    uint8_t kind;  /* enum stream_kind */
    uint8_t how;   /* DESTINATION: 1 = the elements are written (movs, stos), 0 = read (scas, cmps); WRITE: 1 =
                    * non-temporal (MOVNT, MASKMOV); CACHE: enum stream_cache; else 0 */
};
/* Whether it is a reference that reads, or writes; not of string instructions. A modify does both. */
static inline bool stream_reads(const struct stream_slot *slot)
{
    return slot->kind == STREAM_READ || slot->kind == STREAM_MODIFY;
}
static inline bool stream_writes(const struct stream_slot *slot)
{
    return slot->kind == STREAM_WRITE || slot->kind == STREAM_MODIFY;
}
/* Whether it is one for the rules of caches' own instructions, or past them. */
static inline bool stream_is_special(const struct stream_slot *slot)
{
    return slot->kind == STREAM_CACHE || (slot->kind == STREAM_WRITE && slot->how != 0);
}

struct stream_insn {
    uint32_t offset;     /* from the block's pc, bytes */
    uint16_t first_slot; /* slots of instruction i: first_slot[i] .. first_slot[i+1] (slot_count for the last) */
    uint8_t length;      /* bytes; 0: the instruction is unknown, and neither fetched nor counted */
    uint8_t flops;       /* floating-point operations of one execution, each lane's; 0 where they are not known */
};

#define STREAM_BLOCK_INSNS 100u /* of a block, at most: a turn of that many has room for any (emu/schedule.c) */

/* How a block's last instruction goes on. A call's last slot writes the return address at the new top of the stack, a
 * return's first slot reads it; far forms count as jumps. */
enum stream_ending {
    STREAM_JUMP, /* anything that is neither of: falls through, jumps, system call */
    STREAM_CALL,
    STREAM_RETURN,
};

/* Immutable once added. A change of the code at pc makes a new block with a new number. */
struct stream_block {
    struct guest_va pc;
    uint32_t bytes;
    uint16_t insn_count; /* at least 1 */
    uint16_t slot_count;
    uint8_t ending; /* enum stream_ending, of the last instruction */
    const struct stream_insn *insns;
    const struct stream_slot *slots;
};

static inline bool stream_is_string(const struct stream_block *block)
{
    return block->slot_count != 0 && block->slots[0].kind == STREAM_SOURCE;
}
/* Of the four words of a string instruction's record, behind its header. */
static inline uint64_t stream_string_done(uint64_t elements, bool down) { return down ? 0 - elements : elements; }
static inline bool stream_string_goes_down(const uint64_t *words) { return words[2] >> 63 != 0; }
static inline uint64_t stream_string_elements(const uint64_t *words)
{
    return stream_string_goes_down(words) ? 0 - words[2] : words[2];
}
static inline uint64_t stream_string_remaining(const uint64_t *words) { return words[3]; }
/* The count register before: what the record before, of a REP that goes on, has left. */
static inline uint64_t stream_string_before(const uint64_t *words)
{
    return stream_string_elements(words) + stream_string_remaining(words);
}
/* Where element i of the source (side 0) or the destination (1) lies; size: of an element. */
static inline uint64_t stream_string_address(const uint64_t *words, unsigned side, uint64_t i, uint64_t size)
{
    return stream_string_goes_down(words) ? words[side] - i * size : words[side] + i * size;
}

#define STREAM_MARK UINT32_MAX
enum stream_mark {
    STREAM_ALLOCATED = 1, /* 4 words and further sites: address, bytes asked for, allocator, site */
    STREAM_FREED,         /* 1 word: address, of a block that was allocated */
    STREAM_PASSED,        /* 2 words: address, of a block that was allocated; one more site of it */
    STREAM_LOCAL,         /* 4 words: address, bytes, layout, number; in its upper half 1 if another one is alive */
    STREAM_LEFT,          /* 2 words: address, bytes: what was marked LOCAL in there is gone */
    STREAM_LAYOUT,        /* 2 words: layout, before the first LOCAL of it, and the address of the function that is its;
                           * with the bit STREAM_THREADS: of the code of a program, of whose thread-local variables it
                           * is */
    STREAM_LOADED,        /* 2 words: the program is in memory: its entry; that of its interpreter, 0: it has none */
    STREAM_ENTERED,       /* no words: the program's own first instruction comes next, where LOCALs are marked */
    /* The guest's memory, behind what happened; starts and sizes are whole pages: */
    STREAM_MAPPED,    /* 6 words and the path's: start, bytes, flags (see there), offset, inode, device */
    STREAM_UNMAPPED,  /* 2 words: start, bytes; there may be holes in it */
    STREAM_PROTECTED, /* 3 words: start, bytes, rights as in the flags of MAPPED; all of it is mapped */
    STREAM_MOVED,     /* 5 words: from, to, bytes, bytes there (it has grown behind what moved), kind there. Part of one
                       * mapping, to where nothing is */
    STREAM_DISCARDED, /* 2 words: start, bytes, of one mapping that is not shared: its pages are absent again */
    STREAM_ADVISED,   /* 3 words: start, bytes; huge pages are 1 wanted, 0 refused there. All of it is mapped */
    STREAM_TOUCHED,   /* 2 words: address, access (0 read, 1 write, 2 fetch): its page became present, or was written
                       * first where reads and writes are told apart. A huge page's small ones are all touched */
    STREAM_PHASE,     /* 1 word: enum stream_phase: it begins here */
    STREAM_THREAD,    /* 2 words: tid, enum stream_thread: what becomes of it */
    STREAM_CODE,      /* 2 words: address, bytes: code there has changed; blocks there are not executed again */
    STREAM_EMPTIED,   /* no words: caches and TLBs are empty from here on, whatever was in them */
    STREAM_DUMPED,    /* STREAM_DUMP_WORDS words: instructions of the run, and what the program says, as text with zeros
                    * behind: what was measured since the last such mark, or ZEROED, or the beginning, is wanted by
                    * itself */
    STREAM_ZEROED,    /* no words: what was measured so far is dropped */
    STREAM_ARGUMENTS, /* 8 words: the entry of a function, which is executed next; which one it is of those whose
                       * arguments are wanted; RDI, RSI, RDX, RCX, R8, R9 there */
    STREAM_BARRIER,   /* no words: all threads have come to a barrier: what was before is before what comes */
    STREAM_STACK,     /* 3 words: tid, address, bytes: so much of an anonymous mapping is the stack of this thread, with
                       * what its C library knows of it */
    STREAM_MARKS
};
#define STREAM_DUMP_WORDS 33u
#define STREAM_ARGUMENT_REGISTERS 6u
/* The first thread's START comes before any record, its EXIT is the last of a run that ends by itself. Which thread a
 * record is of, its batch says. */
enum stream_thread { STREAM_START, STREAM_EXIT };
/* What is made of the records up to the next such mark. A stream begins with MEASURE. */
enum stream_phase {
    STREAM_MEASURE, /* simulated and counted */
    STREAM_WARM,    /* simulated, counted by no analysis */
    STREAM_SKIP,    /* there are none: executed unrecorded */
};
/* Whether the mark changes which memory is mapped, or present. */
static inline bool stream_changes_memory(enum stream_mark mark)
{
    return mark >= STREAM_MAPPED && mark <= STREAM_TOUCHED;
}
/* MAPPED: memory is there now, in place of what was: a mapping, or growth of one, or of the heap, whose flags, offset
 * and so on are such that it belongs to what lies below. The flags have these bits; the kind is 0 for anonymous memory,
 * 1 a file's, 2 the heap's, 3 the stack's; the size of MAP_HUGETLB's pages is 4 KiB (none) << 9 * n. Behind the words
 * of a file's follows its path, with zeros to the end of the last word, at least one; inode and device are as fstat
 * says. Shared anonymous memory has a number of its own instead of an inode. */
enum stream_mapped {
    STREAM_MAPPED_RIGHTS = 7, /* 1 read, 2 write, 4 execute */
    STREAM_MAPPED_SHARED = 1 << 3,
    STREAM_MAPPED_MAY_WRITE = 1 << 4, /* or may be made writable later */
    STREAM_MAPPED_KIND_SHIFT = 8,     /* 2 bits */
    STREAM_MAPPED_PAGES_SHIFT = 12,   /* 2 bits */
    STREAM_MAPPED_HUGE = 1 << 16,     /* MADV_HUGEPAGE */
    STREAM_MAPPED_SMALL = 1 << 17,    /* MADV_NOHUGEPAGE */
};
/* LOCAL: an array of a function that is being entered, or a thread-local variable: which one, layout and number say. */
/* Which function of the allocator's family the program called. The site is the return address of that call: of the
 * outermost one, when operator new calls malloc. A reallocation is one mark FREED, then one ALLOCATED.
 * Marks stand where the call returns: behind the allocator's own references, a free's as well. No two blocks that are
 * allocated have the same address.
 * A function that gets a block and has it as its result passes it on: the further sites are the return addresses of
 * such functions, from the inside out; how many stands in the upper half of the word of the allocator. Those with the
 * bit STREAM_ASSUMED are of functions that are taken for such by their names. What shows only when the function returns
 * is a mark PASSED there. */
#define STREAM_MARK_WORDS 1024u /* of a mark, at most */
#define STREAM_CALLERS 8u       /* sites of a block */
#define STREAM_ASSUMED ((uint64_t)1 << 63)
#define STREAM_THREADS ((uint64_t)1 << 63)
enum stream_allocator { STREAM_MALLOC, STREAM_CALLOC, STREAM_REALLOC, STREAM_ALIGNED, STREAM_NEW, STREAM_ALLOCATORS };

/* Words of a batch: a few fit the L2 of the host. At least the largest record or mark. */
#define STREAM_BATCH_WORDS C2_HOST_SIZE(8192u, 1100u)

struct stream_batch {
    uint32_t used; /* words filled, whole records only */
    uint32_t tid;  /* guest thread of every record in it, the first is 1 */
    uint64_t words[STREAM_BATCH_WORDS];
};

static inline uint64_t stream_header(uint32_t block, uint32_t insns_run, uint32_t slots_used)
{
    return (uint64_t)block << 32 | insns_run << 16 | slots_used;
}
static inline uint32_t stream_header_block(uint64_t header) { return (uint32_t)(header >> 32); }
static inline uint32_t stream_header_insns(uint64_t header) { return (uint32_t)(header >> 16) & 0xffff; }
static inline uint32_t stream_header_slots(uint64_t header) { return (uint32_t)header & 0xffff; }

/* ------------------------------------------------------------------ the table of blocks
 * One thread adds, any thread that has been given a batch looks up the numbers in it: entries never move.
 * Block numbers count up from 0. */
struct stream_blocks;
enum c2_status stream_blocks_create(struct stream_blocks **out, struct c2_error *err);
void stream_blocks_destroy(struct stream_blocks *blocks);
/* Copies *block with its insns and slots. */
enum c2_status stream_blocks_add(uint32_t *out, struct stream_blocks *blocks, const struct stream_block *block,
                                 struct c2_error *err);
uint32_t stream_blocks_count(const struct stream_blocks *blocks);
/* Lent for the life of the table. number < count. */
const struct stream_block *stream_blocks_at(const struct stream_blocks *blocks, uint32_t number);
bool stream_block_obeys(const struct stream_block *block);    /* the contract above */
void stream_blocks_check(const struct stream_blocks *blocks); /* every block obeys the contract above */
void stream_blocks_dump(const struct stream_blocks *blocks, FILE *to);

/* ------------------------------------------------------------------ a consumer of batches */
struct stream_sink {
    void *self;
    /* Takes one full (or last) batch in program order; the memory is the caller's again on return. */
    enum c2_status (*consume)(void *self, const struct stream_batch *batch, struct c2_error *err);
    /* Returns when everything consumed so far has taken effect; what it read may then be changed. */
    enum c2_status (*drain)(void *self, struct c2_error *err);
};

/* ------------------------------------------------------------------ the writer: where a stream is put together
 * The batch is open to engines, which write records in place: whole ones below `used`, and up to STREAM_SLACK_WORDS
 * behind the batch's end while a record is not yet complete. All of it on one thread. */
#define STREAM_SLACK_WORDS 8192u
struct stream_writer {
    struct stream_sink sink;
    struct stream_batch *batch; /* the same one until destroy */
    /* stream_writer_change: when all is eaten, how many changes more no consumer can fail at; NULL: it may at any. */
    uint64_t (*guaranteed)(void *self);
    void *guaranteed_self;
    uint64_t sure; /* so many are left of those */
};
enum c2_status stream_writer_create(struct stream_writer **out, struct stream_sink sink, struct c2_error *err);
void stream_writer_destroy(struct stream_writer *writer); /* what was not flushed is lost */
/* Hands the batch to the sink. No record is open. */
enum c2_status stream_writer_flush(struct stream_writer *writer, struct c2_error *err);
/* Appends a mark. No record is open. */
enum c2_status stream_writer_mark(struct stream_writer *writer, enum stream_mark mark, const uint64_t *words,
                                  uint32_t count, struct c2_error *err);
/* The same for what consumers may fail at, as the guest's memory may be more than a simulated machine's. Unless they
 * are certain of it, it returns when the mark has been eaten, with the consumer's failure: so a run ends at the same
 * change every time, whatever threads there are. */
enum c2_status stream_writer_change(struct stream_writer *writer, enum stream_mark mark, const uint64_t *words,
                                    uint32_t count, struct c2_error *err);
/* Makes room for a record of `slots` slots. */
static inline enum c2_status stream_writer_room(struct stream_writer *writer, uint32_t slots, struct c2_error *err)
{
    if (C2_LIKELY(writer->batch->used + slots + 1 <= STREAM_BATCH_WORDS))
        return C2_OK;
    return stream_writer_flush(writer, err);
}

/* ------------------------------------------------------------------ the ring: consumers on host threads of their own
 * A ring of batches in front of `count` other sinks (at least one), which `threads` host threads feed (at least one;
 * more than sinks are not made). Each sink gets every batch, in order, so results do not depend on threads. The first
 * error of a sink behind - of several at one batch that of the first sink - is returned by a consume that comes after
 * it, when the place is full that is filled meanwhile, and by every consume and drain from then on; what the ring holds
 * at that time never reaches that sink. Short batches share a place, and are given on when half of it is used.
 * stream_ring_sink lends the front sink until destroy; destroy drains, joins the threads and drops errors. The sinks
 * behind have both functions; each is called by one thread at a time, its drain by the producer's. name: the threads'
 * in the host's eyes (/proc/PID/task/TID/comm), up to 15 characters; lent until destroy. */
struct stream_ring;
enum c2_status stream_ring_create(struct stream_ring **out, const struct stream_sink *behind, unsigned count,
                                  unsigned threads, const char *name, struct c2_error *err);
struct stream_sink stream_ring_sink(struct stream_ring *ring);
void stream_ring_destroy(struct stream_ring *ring);
/* Before and after fork(2), which no thread survives but the one that calls it: those of all rings of this process end,
 * and are there again. What is in the rings is eaten before: those that were made last first, as they feed the others.
 * No other thread makes or destroys one meanwhile. */
void stream_rings_pause(void);
enum c2_status stream_rings_resume(struct c2_error *err);
void stream_ring_check(struct stream_ring *ring); /* on the producer's thread */
void stream_ring_dump(struct stream_ring *ring, FILE *to);

/* ------------------------------------------------------------------ recordings: a stream in a file
 * The file needs nothing beside it: what it says of its run (facts), blocks before their first record, records and
 * marks with their threads, facts that are known at the end, and totals; docs/recording.md has its bytes. Batches may
 * come back cut in other places; blocks have the numbers that they had. `name` is for messages. */
#define STREAM_FACT_NAME_BYTES 127u
struct stream_fact {
    const char *name; /* 1 .. STREAM_FACT_NAME_BYTES bytes */
    const char *value;
};

/* Writes to a file of the caller's, which outlives it, as do the blocks: those of the stream. No recording is in the
 * file until finish, which flushes it, behind what else is to be said of the run. */
struct stream_recorder;
enum c2_status stream_recorder_create(struct stream_recorder **out, FILE *to, const char *name,
                                      const struct stream_blocks *blocks, const struct stream_fact *facts,
                                      size_t fact_count, struct c2_error *err);
struct stream_sink stream_recorder_sink(struct stream_recorder *recorder); /* drain does nothing */
/* Once, the last call. */
enum c2_status stream_recorder_finish(struct stream_recorder *recorder, const struct stream_fact *facts,
                                      size_t fact_count, struct c2_error *err);
void stream_recorder_destroy(struct stream_recorder *recorder);

/* Reads from a file of the caller's, which outlives it: from its beginning, a pipe from where it is. */
struct stream_recording;
enum c2_status stream_recording_open(struct stream_recording **out, FILE *from, const char *name, struct c2_error *err);
/* The same of one that begins further on in its file, and is the rest of it. Messages count bytes from its start. */
enum c2_status stream_recording_open_at(struct stream_recording **out, FILE *from, long start, const char *name,
                                        struct c2_error *err);
void stream_recording_close(struct stream_recording *recording);
/* Gives all of it to the sink, whose drain is not called; as often as wanted, a pipe once. */
enum c2_status stream_recording_play(struct stream_recording *recording, struct stream_sink to, struct c2_error *err);
/* From the next time on what marks say is checked, too (stream_marks_take), and where string instructions go: for files
 * whose writer may not have been a recorder. */
void stream_recording_distrust(struct stream_recording *recording);
uint64_t stream_recording_instructions(const struct stream_recording *recording); /* of what was played so far */
/* The table that the batches' numbers are of; filled while it is played. Lent until close. */
const struct stream_blocks *stream_recording_blocks(const struct stream_recording *recording);
/* NULL: it does not say, or not until it has been played. Lent until close. Those that follow each other are found at
 * once. */
const char *stream_recording_fact(struct stream_recording *recording, const char *name);

/* ------------------------------------------------------------------ traces of other tools
 * traces.c has the forms: "din", "lackey", "text", lines of text, and "champsim", records. What is not understood is
 * C2_ERR_FORMAT with the number of its line or record. */
enum stream_trace_form {
    STREAM_TRACE_DIN,
    STREAM_TRACE_LACKEY,
    STREAM_TRACE_TEXT,
    STREAM_TRACE_CHAMPSIM,
    STREAM_TRACE_FORMS
};
const char *const *stream_trace_forms(size_t *count); /* their names */
/* The name of the form that a file says by its own: *.champsim or *.champsimtrace, compressed or not. NULL: it shows in
 * the first line. */
const char *stream_trace_form_of(const char *path);

/* An instruction in ChampSim's form (its inc/trace_instruction.h, input_instr): numbers of registers and addresses of
 * what it reads and writes, 0 where there are no more. Lowest byte first, 64 bytes, without a head of the file. */
#define STREAM_CHAMPSIM_WRITES 2u
#define STREAM_CHAMPSIM_READS 4u
struct stream_champsim {
    uint64_t ip;
    uint8_t is_branch, branch_taken;
    uint8_t destination_registers[STREAM_CHAMPSIM_WRITES], source_registers[STREAM_CHAMPSIM_READS];
    uint64_t destination_memory[STREAM_CHAMPSIM_WRITES], source_memory[STREAM_CHAMPSIM_READS];
};
_Static_assert(sizeof(struct stream_champsim) == 64, "as the form has it");

/* Reads from a file of the caller's, which outlives it, from where it is. form: a name; NULL: by the first line.
 * Errors of reading have c2_unpack_reason(). */
struct stream_trace;
enum c2_status stream_trace_open(struct stream_trace **out, FILE *from, const char *name, const char *form,
                                 struct c2_error *err);
void stream_trace_close(struct stream_trace *trace);
const struct stream_blocks *stream_trace_blocks(const struct stream_trace *trace); /* lent until close */
enum c2_status stream_trace_play(struct stream_trace *trace, struct stream_sink to, struct c2_error *err); /* once */
const char *stream_trace_form(const struct stream_trace *trace);
uint64_t stream_trace_instructions(const struct stream_trace *trace); /* so far */

/* Whether a row of marks is one that a run can have written, but for what is mapped. C2_ERR_FORMAT: it is not; the
 * message is part of a sentence. The first mark finds it as it was made. */
struct stream_marks;
enum c2_status stream_marks_create(struct stream_marks **out, struct c2_error *err);
void stream_marks_destroy(struct stream_marks *marks);
enum c2_status stream_marks_take(struct stream_marks *marks, uint32_t mark, const uint64_t *words, uint32_t count,
                                 struct c2_error *err);

/* A file without a name in TMPDIR, else in /tmp, to write and to read. */
enum c2_status stream_temporary(FILE **out, struct c2_error *err);
/* The same, of so many bytes at most, and no more than the host has room for: it is full then, and what is written from
 * there on is kept in memory. Writing goes on behind all that was written. The file is lent until destroy. */
struct stream_scratch;
enum c2_status stream_scratch_create(struct stream_scratch **out, uint64_t limit, struct c2_error *err);
FILE *stream_scratch_file(struct stream_scratch *scratch);
bool stream_scratch_full(const struct stream_scratch *scratch); /* as far as what was written has left stdio's buffer */
void stream_scratch_destroy(struct stream_scratch *scratch);    /* takes NULL */

#endif
