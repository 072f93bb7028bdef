/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * test_engine_marks [mutant] [calls] [program] [cut] PROGRAM [ARGUMENT...]: runs a guest of guests/, which prints what
 * it has allocated and freed, and compares that with the marks of the stream: all of them, in order, and the functions
 * and lines of the sites. Every block allocated must be marked right behind the return of the call, before the block at
 * the site.
 *   calls    also holds the endings of blocks to a shadow stack: a return reads the slot that the innermost call wrote,
 *            and goes on behind that call. For guests without signals and longjmp.
 *   program  compares only the marks of calls that lie in the program's own file. For guests whose libraries allocate.
 *   cut      runs it in pieces of 97 instructions, which must leave the same marks.
 *   mutant   with one mark altered: then the comparison must fail.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/emu.h"
#include "engine/blocks.h"

enum { FIRST = 54321, LAST = 54322, CALLS_MAX = 1 << 16 };

struct mark {
    enum stream_mark kind;
    uint64_t words[4];
};

/* What the records before have left to check at the next one. */
struct follow {
    uint64_t expected; /* pc of the next record, 0: any */
    const char *why;
    uint8_t ending; /* of the last record */
    uint64_t slots[CALLS_MAX], behind[CALLS_MAX];
    size_t depth;
};

struct test {
    struct mmu *mmu;
    struct syscalls *kernel;
    struct stream_blocks *blocks;
    struct loader_symbols *symbols;
    struct emu *emu;
    struct stream_writer *writer;
    struct mark *marks;
    size_t count, room;
    struct follow follow;
    bool calls, cut;
    unsigned batches_begun_by_mark, threads;
    uint64_t records;
    unsigned failures;
};

#define CHECK(test, cond, ...) ((cond) ? (void)0 : complain(test, __VA_ARGS__))

static __attribute__((format(printf, 2, 3))) void complain(struct test *test, const char *format, ...)
{
    va_list args;
    if (++test->failures > 20)
        return;
    va_start(args, format);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* ------------------------------------------------------------------ the stream */

/* The thread starts before its first record, and exits behind the last. */
static void take_thread(struct test *test, const uint64_t *words)
{
    CHECK(test, words[0] == 1 && words[1] == (test->threads == 0 ? STREAM_START : STREAM_EXIT) && test->threads < 2,
          "thread %" PRIu64 " is marked %" PRIu64, words[0], words[1]);
    CHECK(test, test->records == 0 || words[1] == STREAM_EXIT, "a thread starts behind its first record");
    test->threads++;
}

static void take_mark(struct test *test, uint64_t header, const uint64_t *words)
{
    static const struct {
        unsigned least, most;
    } words_of[STREAM_MARKS] = {
        [STREAM_ALLOCATED] = {4, 3 + STREAM_CALLERS},
        [STREAM_FREED] = {1, 1},
        [STREAM_PASSED] = {2, 2},
        [STREAM_LOCAL] = {4, 4},
        [STREAM_LEFT] = {2, 2},
        [STREAM_LAYOUT] = {2, 2},
        [STREAM_LOADED] = {2, 2},
        [STREAM_MAPPED] = {6, STREAM_MARK_WORDS},
        [STREAM_UNMAPPED] = {2, 2},
        [STREAM_PROTECTED] = {3, 3},
        [STREAM_MOVED] = {5, 5},
        [STREAM_DISCARDED] = {2, 2},
        [STREAM_ADVISED] = {3, 3},
        [STREAM_TOUCHED] = {2, 2},
        [STREAM_PHASE] = {1, 1},
        [STREAM_THREAD] = {2, 2},
        [STREAM_CODE] = {2, 2},
        [STREAM_EMPTIED] = {0, 0},
        [STREAM_DUMPED] = {STREAM_DUMP_WORDS, STREAM_DUMP_WORDS},
        [STREAM_ZEROED] = {0, 0},
        [STREAM_ARGUMENTS] = {2 + STREAM_ARGUMENT_REGISTERS, 2 + STREAM_ARGUMENT_REGISTERS},
        [STREAM_STACK] = {3, 3},
    };
    unsigned kind = stream_header_insns(header), count = stream_header_slots(header);
    if (kind == 0 || kind >= STREAM_MARKS || count < words_of[kind].least || count > words_of[kind].most) {
        complain(test, "mark %u has %u words", kind, count);
        return;
    }
    if (kind == STREAM_THREAD)
        take_thread(test, words);
    if (kind != STREAM_ALLOCATED && kind != STREAM_FREED)
        return;
    count = words_of[kind].least;
    if (test->count == test->room) {
        test->room = test->room ? 2 * test->room : 1024;
        test->marks = realloc(test->marks, test->room * sizeof *test->marks);
    }
    struct mark *mark = &test->marks[test->count++];
    *mark = (struct mark){.kind = kind};
    memcpy(mark->words, words, count * sizeof *words);
    CHECK(test, test->follow.ending == STREAM_RETURN, "mark %zu does not follow a return", test->count - 1);
    if (kind == STREAM_ALLOCATED) {
        mark->words[2] = (uint32_t)mark->words[2]; /* above: how many sites follow */
        test->follow.expected = words[3];
        test->follow.why = "the site of the mark before it";
    }
}

static void follow_call(struct test *test, const struct stream_block *block, const uint64_t *words)
{
    struct follow *follow = &test->follow;
    if (follow->depth == CALLS_MAX) {
        complain(test, "%d calls without a return", CALLS_MAX);
        return;
    }
    follow->slots[follow->depth] = words[block->slot_count - 1];
    follow->behind[follow->depth++] = block->pc.v + block->bytes;
}

static void follow_return(struct test *test, const struct stream_block *block, const uint64_t *words)
{
    struct follow *follow = &test->follow;
    uint64_t slot = words[block->insns[block->insn_count - 1].first_slot];
    if (follow->depth == 0 || follow->slots[follow->depth - 1] != slot) {
        complain(test, "the return at 0x%" PRIx64 " is not that of the last call", block->pc.v);
        return;
    }
    follow->expected = follow->behind[--follow->depth];
    follow->why = "where the last call returns to";
}

static void take_record(struct test *test, uint64_t header, const uint64_t *words)
{
    const struct stream_block *block = stream_blocks_at(test->blocks, stream_header_block(header));
    struct follow *follow = &test->follow;
    bool whole = stream_header_insns(header) == block->insn_count;
    CHECK(test, test->threads == 1, "a record before its thread starts, or behind its end");
    test->records++;
    CHECK(test, !follow->expected || block->pc.v == follow->expected,
          "the block at 0x%" PRIx64 " comes where 0x%" PRIx64 " should, %s", block->pc.v, follow->expected,
          follow->why);
    follow->expected = 0;
    follow->ending = whole ? block->ending : STREAM_JUMP;
    if (test->calls && follow->ending == STREAM_CALL)
        follow_call(test, block, words);
    if (test->calls && follow->ending == STREAM_RETURN)
        follow_return(test, block, words);
}

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct test *test = self;
    (void)err;
    CHECK(test, batch->used > 0 && batch->used <= STREAM_BATCH_WORDS, "a batch of %u words", batch->used);
    test->batches_begun_by_mark += stream_header_block(batch->words[0]) == STREAM_MARK;
    uint32_t at = 0;
    while (at < batch->used) {
        uint64_t header = batch->words[at];
        if (stream_header_block(header) == STREAM_MARK)
            take_mark(test, header, batch->words + at + 1);
        else
            take_record(test, header, batch->words + at + 1);
        at += 1 + stream_header_slots(header);
    }
    CHECK(test, at == batch->used, "the last record of a batch is not whole");
    return C2_OK;
}

/* ------------------------------------------------------------------ the run */

static void must(enum c2_status status, const struct c2_error *err)
{
    if (status == C2_OK)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* Those of libraries that are gone cannot be looked at any more. Some end where arrays on the stack are made. */
static void check_blocks(struct test *test)
{
    struct c2_map *starts;
    struct c2_error err;
    const uint32_t count = stream_blocks_count(test->blocks);
    must(c2_map_create(&starts, &err), &err);
    for (uint32_t i = 0; i < count; i++)
        must(c2_map_put(starts, stream_blocks_at(test->blocks, i)->pc.v, 1, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        const struct stream_block *block = stream_blocks_at(test->blocks, i);
        CHECK(test, !mmu_ready(test->mmu, block->pc, MMU_ACCESS_EXEC) || blocks_cut_by_rule(block, starts, NULL),
              "the block at 0x%" PRIx64 " is not cut by the rule", block->pc.v);
    }
    c2_map_destroy(starts);
}

static void ignore_progress(void *self, uint64_t instructions) { (void)self, (void)instructions; }

/* Standard output goes to `log` while the guest runs. */
static void run(struct test *test, const char *const *argv, FILE *log)
{
    static const char *const environment[] = {"LANG=C", NULL};
    struct c2_error err;
    struct emu_end end;
    struct loader_image image;
    struct mmu_guest_config memory = {.guest_bytes = 4ull << 30};
    struct loader_request request = {.program = argv[0], .argv = argv, .envp = environment, .seed = 1};
    int output = dup(STDOUT_FILENO);
    dup2(fileno(log), STDOUT_FILENO);
    must(mmu_create(&test->mmu, &memory, &err), &err);
    must(loader_load(&image, test->mmu, &request, &err), &err);
    must(loader_symbols_create(&test->symbols, mmu_areas(test->mmu), &err), &err);
    struct syscalls_config kernel = {.start_seconds = SYSCALLS_START_SECONDS,
                                     .program_path = image.path,
                                     .argv = argv,
                                     .envp = environment,
                                     .seed = 1,
                                     .physical_bytes = memory.guest_bytes,
                                     .complaints = stderr,
                                     .complaint_prefix = "guest: "};
    must(syscalls_create(&test->kernel, test->mmu, &kernel, &err), &err);
    must(stream_blocks_create(&test->blocks, &err), &err);
    must(stream_writer_create(&test->writer, (struct stream_sink){test, consume, NULL}, &err), &err);
    struct emu_config config = {.engine = "unicorn",
                                .mmu = test->mmu,
                                .kernel = test->kernel,
                                .blocks = test->blocks,
                                .writer = test->writer,
                                .record = true,
                                .mark_allocations = true,
                                .symbols = test->symbols,
                                .progress = test->cut ? ignore_progress : NULL,
                                .progress_every = 97};
    must(emu_create(&test->emu, &config, &image, &err), &err);
    emu_run(test->emu, &end, &err);
    dup2(output, STDOUT_FILENO);
    close(output);
    must(end.kind == EMU_FAILED ? err.status : C2_OK, &err);
    CHECK(test, end.kind == EMU_EXITED && end.status == 0,
          "the guest ended with kind %d, status %d at 0x%" PRIx64 " %s %s", end.kind, end.status, end.rip.v,
          end.disassembly, end.refusal);
    CHECK(test, test->threads == 2, "the thread's end is not marked");
    stream_blocks_check(test->blocks);
    check_blocks(test);
    loader_image_release(&image);
}

static void release(struct test *test)
{
    emu_destroy(test->emu);
    stream_writer_destroy(test->writer);
    stream_blocks_destroy(test->blocks);
    syscalls_destroy(test->kernel);
    loader_symbols_destroy(test->symbols);
    mmu_destroy(test->mmu);
    free(test->marks);
}

/* ------------------------------------------------------------------ the log */

static void compare_site(struct test *test, uint64_t site, const char *function, unsigned line)
{
    struct loader_place place;
    char text[256];
    struct guest_va call = {site - 1}; /* within the call instruction */
    loader_place_of(test->symbols, call, &place);
    CHECK(test, place.function && strstr(place.function, function) && (unsigned)place.line == line,
          "the call lies in %s, not in %s:%u", loader_place_text(text, sizeof text, call, &place), function, line);
}

/* False at the end of the log. */
static bool compare_entry(struct test *test, FILE *log, size_t number)
{
    char text[256], function[100] = "-";
    unsigned allocator = 0, line = 0;
    uint64_t address = 0, bytes = 0;
    if (!fgets(text, sizeof text, log))
        return false;
    bool allocated = sscanf(text, "A %x %" SCNx64 " %" SCNx64 " %99s %x", &allocator, &address, &bytes, function,
                            &line) == 5;
    if (!allocated && sscanf(text, "F %" SCNx64, &address) != 1) {
        complain(test, "the guest says: %s", text);
        return false;
    }
    if (number >= test->count) {
        complain(test, "there is no mark for entry %s", text);
        return false;
    }
    const struct mark *mark = &test->marks[number];
    bool same = mark->words[0] == address && mark->kind == (allocated ? STREAM_ALLOCATED : STREAM_FREED) &&
                (!allocated || (mark->words[1] == bytes && mark->words[2] == allocator));
    if (!same) {
        complain(test, "mark %zu is %s 0x%" PRIx64 " %" PRIx64 " %" PRIx64 ", the guest says: %s", number,
                 mark->kind == STREAM_ALLOCATED ? "A" : "F", mark->words[0], mark->words[1], mark->words[2], text);
        return false;
    }
    if (allocated && strcmp(function, "-") != 0)
        compare_site(test, mark->words[3], function, line);
    return true;
}

/* Marks of the blocks that others than the program have allocated are taken out. */
static void keep_program(struct test *test, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t kept = 0;
    for (size_t i = 0; i < test->count; i++) {
        const struct mark mark = test->marks[i];
        struct loader_place place = {.object = NULL};
        if (mark.kind == STREAM_ALLOCATED)
            loader_place_of(test->symbols, (struct guest_va){mark.words[3]}, &place);
        bool known = mark.kind == STREAM_ALLOCATED && place.object &&
                     strcmp(place.object, slash ? slash + 1 : path) == 0;
        for (size_t j = kept; mark.kind == STREAM_FREED && j-- > 0 && !known;) {
            if (test->marks[j].words[0] != mark.words[0])
                continue;
            known = test->marks[j].kind == STREAM_ALLOCATED;
            break;
        }
        if (known)
            test->marks[kept++] = mark;
    }
    test->count = kept;
}

static void compare(struct test *test, FILE *log)
{
    size_t first = 0, number;
    while (first < test->count && (test->marks[first].kind != STREAM_ALLOCATED || test->marks[first].words[1] != FIRST))
        first++;
    rewind(log);
    for (number = first; compare_entry(test, log, number); number++)
        ;
    /* the last block, whose allocation is in the log, and whatever the C library does at exit */
    CHECK(test, number > first && test->marks[number - 1].words[1] == LAST, "the log does not end with the last mark");
    printf("%zu marks, %zu compared; %u batches began with a mark\n", test->count, number - first,
           test->batches_begun_by_mark);
}

int main(int argc, char **argv)
{
    static struct test test;
    bool mutant = argc > 1 && strcmp(argv[1], "mutant") == 0;
    argv += 1 + mutant;
    test.calls = *argv && strcmp(*argv, "calls") == 0;
    argv += test.calls;
    bool program = *argv && strcmp(*argv, "program") == 0;
    argv += program;
    test.cut = *argv && strcmp(*argv, "cut") == 0;
    argv += test.cut;
    if (!*argv) {
        fprintf(stderr, "usage: test_engine_marks [mutant] [calls] [program] [cut] PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    FILE *log = tmpfile();
    if (!log) {
        perror("tmpfile");
        return 2;
    }
    run(&test, (const char *const *)argv, log);
    if (mutant && test.count > 0)
        test.marks[test.count / 2].words[0] ^= 16;
    if (program)
        keep_program(&test, *argv);
    compare(&test, log);
    fclose(log);
    release(&test);
    return (test.failures != 0) == mutant ? 0 : 1;
}
