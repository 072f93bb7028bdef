/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * misses: a line of text for each miss, as `perf script` prints samples.
 *
 * Model
 *   What `perf script --ns -F comm,pid,tid,time,event,addr,ip,sym,symoff,dso` prints:
 *       transpose     1/1         0.000012345: L1D-load-misses/conflict/:     7ffff7ff2040     401136 main+0x1f (/a/b)
 *   One line for each level that a line access missed, L1 first, in program order. The event is the level, what the
 *   access was (load, store, fetch; walk, of a page walk), and the class of the miss. addr is the access's first byte
 *   in the line, of a walk what is translated; ip the instruction, in the function that holds it, with the path of its
 *   file. What is not known is [unknown], as there.
 *   There is no clock: a time is the instructions of the whole run, before the block that the access is of, in
 *   nanoseconds. The process is 1, the thread its number; the program's name has 15 characters at most, and _ for what
 *   is no letter of a name, so that the first column is one word.
 *   A name that ends in .zst, .gz or .xz is compressed so.
 *
 * Counting
 *   Misses in phases that are measured. The lines of a level and a class are as many as the report counts.
 *
 * Not modelled
 *   Inlined functions: the one whose symbol holds the code is named. Translations, and stores that a level passes on.
 *
 * Source: perf-script(1), fields of -F; tools/perf/builtin-script.c of Linux for their order and columns.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "analyses/analyses.h"

#define BUFFER_BYTES C2_HOST_SIZE(65536u, 8192u)
#define NAME_BYTES 16u
#define BILLION UINT64_C(1000000000)

struct misses {
    struct analysis base;
    const struct caches_machine *machine;
    struct loader_symbols *symbols;
    struct c2_outfile *file;
    struct c2_packer *packer;
    char program[NAME_BYTES];
    uint64_t *pcs; /* [code number] */
    char **names;  /* [code number]: "main+0x1f (/path)", NULL: not asked for yet */
    uint32_t code_count, pc_room, name_room;
    bool short_of_memory;            /* in a function that cannot say so */
    uint64_t executed, instructions; /* so far; before the record told last */
    uint32_t tid;
    size_t used;
    char buffer[BUFFER_BYTES];
};

/* ------------------------------------------------------------------ bytes out */

static enum c2_status misses_flush(struct misses *misses, bool last, struct c2_error *err)
{
    struct c2_error why;
    const size_t used = misses->used;
    misses->used = 0;
    const enum c2_status status = c2_pack(misses->packer, c2_outfile_stream(misses->file), misses->buffer, used, last,
                                          &why);
    return status == C2_OK
               ? C2_OK
               : c2_fail(err, status, "cannot write the misses \"%s\": %s", c2_outfile_path(misses->file), why.text);
}

/* A line; names may be of any length. */
static enum c2_status misses_put(struct misses *misses, const char *line, size_t bytes, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    while (bytes != 0 && status == C2_OK) {
        const size_t room = BUFFER_BYTES - misses->used, some = bytes < room ? bytes : room;
        memcpy(misses->buffer + misses->used, line, some);
        misses->used += some;
        line += some;
        bytes -= some;
        if (misses->used == BUFFER_BYTES)
            status = misses_flush(misses, false, err);
    }
    return status;
}

/* ------------------------------------------------------------------ names */

static char *misses_make_name(struct misses *misses, uint64_t pc)
{
    struct loader_place place;
    const char *path = NULL;
    uint64_t address;
    loader_symbol_of(misses->symbols, (struct guest_va){pc}, &place);
    const bool linked = loader_linked_of(misses->symbols, (struct guest_va){pc}, &path, &address);
    const char *object = linked ? path : place.object ? place.object : "[unknown]";
    return place.function ? c2_format("%s+0x%" PRIx64 " (%s)", place.function, place.offset, object)
                          : c2_format("[unknown] (%s)", object);
}

/* Lent until the code goes. */
static enum c2_status misses_name_of(struct misses *misses, uint32_t code, const char **out, struct c2_error *err)
{
    C2_ASSERT(code < misses->code_count);
    char **name = &misses->names[code];
    if (!*name)
        *name = misses_make_name(misses, misses->pcs[code]);
    *out = *name;
    return *name ? C2_OK : c2_fail_memory(err, "the names of misses");
}

static void block(void *self, const struct stream_block *block)
{
    struct misses *misses = self;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        const uint32_t code = misses->code_count;
        if (!c2_grow((void **)&misses->pcs, &misses->pc_room, code, sizeof *misses->pcs) ||
            !c2_grow((void **)&misses->names, &misses->name_room, code, sizeof *misses->names)) {
            misses->short_of_memory = true;
            return;
        }
        misses->pcs[code] = block->pc.v + block->insns[i].offset;
        misses->names[code] = NULL;
        misses->code_count++;
    }
}

/* What lies there now has other names. */
static enum c2_status misses_memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    struct misses *misses = self;
    (void)appeared;
    (void)err;
    for (uint32_t i = 0; i < misses->code_count; i++)
        if (misses->names[i] && misses->pcs[i] - area->start.v < area->bytes) {
            c2_free(misses->names[i]);
            misses->names[i] = NULL;
        }
    return C2_OK;
}

static enum c2_status misses_mark(void *self, enum stream_mark what, const uint64_t *words, struct c2_error *err)
{
    struct misses *misses = self;
    const char *path, *slash;
    uint64_t address;
    (void)err;
    if (what != STREAM_LOADED || !loader_linked_of(misses->symbols, (struct guest_va){words[0]}, &path, &address))
        return C2_OK;
    slash = strrchr(path, '/');
    snprintf(misses->program, sizeof misses->program, "%s", slash ? slash + 1 : path);
    for (char *c = misses->program; *c != '\0'; c++)
        *c = isgraph((unsigned char)*c) || (*c & 0x80) ? *c : '_';
    return C2_OK;
}

/* ------------------------------------------------------------------ misses */

static enum c2_status misses_records(void *self, const struct sim_records *records, struct c2_error *err)
{
    struct misses *misses = self;
    misses->tid = records->tid;
    for (const uint64_t *at = records->words; at < records->end; at = sim_record_behind(at)) {
        const struct sim_executed executed = sim_executed_at(records, at);
        misses->instructions = misses->executed;
        misses->executed += sim_completed(&executed);
    }
    return misses->short_of_memory ? c2_fail_memory(err, "the names of misses") : C2_OK;
}

static const char *misses_level_name(const struct misses *misses, uint32_t level)
{
    return level == misses->machine->level_count ? misses->machine->l1i.name : misses->machine->levels[level].name;
}

static enum c2_status misses_put_miss(struct misses *misses, const struct sim_miss *miss, uint32_t depth,
                                      const char *name, struct c2_error *err)
{
    static const char *const kinds[] = {
        [SIM_READ] = "load", [SIM_WRITE] = "store", [SIM_FETCH] = "fetch", [SIM_WALK] = "walk"};
    static const char *const classes[] = {[CACHES_COLD] = "cold",
                                          [CACHES_CAPACITY] = "capacity",
                                          [CACHES_CONFLICT] = "conflict",
                                          [CACHES_COHERENCE] = "coherence"};
    char event[64], line[256];
    snprintf(event, sizeof event, "%s-%s-misses/%s/",
             misses_level_name(misses, analyses_level_of(misses->machine, miss->kind, depth)), kinds[miss->kind],
             classes[miss->outcome->event[depth].class_]);
    const int bytes = snprintf(line, sizeof line,
                               "%-15s %5u/%-5" PRIu32 " %5" PRIu64 ".%09" PRIu64 ": %s: %16" PRIx64 " %16" PRIx64 " ",
                               misses->program, 1u, misses->tid, misses->instructions / BILLION,
                               misses->instructions % BILLION, event, miss->va.v, misses->pcs[miss->code]);
    enum c2_status status = misses_put(misses, line, (size_t)bytes, err);
    if (status == C2_OK)
        status = misses_put(misses, name, strlen(name), err);
    return status == C2_OK ? misses_put(misses, "\n", 1, err) : status;
}

static enum c2_status misses_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct misses *misses = self;
    const char *name;
    enum c2_status status = misses_name_of(misses, miss->code, &name, err);
    for (uint32_t i = miss->first; i < miss->outcome->served_by && status == C2_OK; i++)
        status = misses_put_miss(misses, miss, i, name, err);
    return status;
}

/* ------------------------------------------------------------------ life */

static void misses_destroy(struct analysis *analysis)
{
    struct misses *misses = (struct misses *)analysis;
    for (uint32_t i = 0; i < misses->code_count; i++)
        c2_free(misses->names[i]);
    c2_free(misses->names);
    c2_free(misses->pcs);
    c2_outfile_abandon(misses->file);
    c2_packer_destroy(misses->packer);
    c2_free(misses);
}

static enum c2_status misses_create(struct analysis **out, const struct analyses_setup *setup,
                                    const struct analyses *analyses, struct c2_error *err)
{
    const char *path = setup->given[ANALYSIS_misses];
    struct misses *misses = c2_calloc(1, sizeof *misses);
    (void)analyses;
    if (!misses)
        return c2_fail_memory(err, "the misses");
    misses->base.kind = &analysis_misses;
    misses->machine = setup->machine;
    misses->symbols = setup->symbols;
    strcpy(misses->program, "trace"); /* of another tool, which has no program */
    enum c2_status status = c2_packer_create(&misses->packer, c2_packing_of(path), err);
    if (status == C2_OK)
        status = c2_outfile_open(&misses->file, path, err);
    if (status == C2_OK)
        *out = &misses->base;
    else
        misses_destroy(&misses->base);
    return status;
}

static struct sim_subscriber misses_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .memory = misses_memory,
                                   .mark = misses_mark,
                                   .records = misses_records,
                                   .block = block,
                                   .missed = misses_missed};
}

static enum c2_status misses_commit(struct analysis *analysis, struct c2_error *err)
{
    struct misses *misses = (struct misses *)analysis;
    enum c2_status status = misses_flush(misses, true, err);
    if (status == C2_OK) {
        status = c2_outfile_commit(misses->file, err);
        misses->file = NULL; /* gone either way */
    }
    return status;
}

static enum c2_status misses_restart(struct analysis *analysis, struct c2_error *err)
{
    struct misses *misses = (struct misses *)analysis;
    misses->used = 0;
    return c2_packer_restart(misses->packer, err);
}

const struct analysis_kind analysis_misses = {.create = misses_create,
                                              .subscriber = misses_subscriber,
                                              .commit = misses_commit,
                                              .restart = misses_restart,
                                              .destroy = misses_destroy};
