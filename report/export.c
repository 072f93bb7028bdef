/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * export: what the writers of profiles for other tools share.
 *
 * Model
 *   An instruction belongs to the function whose symbol holds it, in the file of that function, and to a line of a
 *   file: the innermost one where calls were inlined, so that a function can have lines of other files. Code without a
 *   symbol is one function for each object, "unnamed in OBJECT"; a file that is not known is "???", as Callgrind writes
 *   it.
 *
 * Invariants
 *   Two functions have one number only if object, file and name are the same.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/export_priv.h"

#define FRAMES 32 /* deeper chains of inlined calls end in the last frame seen */

/* ------------------------------------------------------------------ names and their numbers */

enum c2_status export_names_create(struct export_names *out, const struct report_run *run, struct c2_error *err)
{
    *out = (struct export_names){.run = run};
    enum c2_status status = c2_map_create(&out->text_of, err);
    if (status == C2_OK)
        status = c2_map_create(&out->in_context, err);
    return status == C2_OK ? c2_map_create(&out->function_of, err) : status;
}

void export_names_release(struct export_names *names)
{
    c2_pool_release(&names->pool);
    c2_free(names->texts);
    c2_free(names->functions);
    c2_map_destroy(names->text_of);
    c2_map_destroy(names->function_of);
    c2_map_destroy(names->in_context);
}

static enum c2_status export_no_memory(struct c2_error *err) { return c2_fail_memory(err, "the names of a profile"); }

static enum c2_status text_number(struct export_names *names, const char *text, uint32_t *out, struct c2_error *err)
{
    uint64_t hash = c2_hash(text, strlen(text)), found;
    for (; c2_map_get(names->text_of, hash, &found); hash++) {
        *out = (uint32_t)found;
        if (strcmp(names->texts[*out - 1].text, text) == 0)
            return C2_OK;
    }
    if (!c2_grow((void **)&names->texts, &names->text_room, names->text_count, sizeof *names->texts))
        return export_no_memory(err);
    names->texts[names->text_count++] = (struct export_text){.text = text};
    *out = names->text_count;
    return c2_map_put(names->text_of, hash, *out, err);
}

static bool same_function(const struct export_function *a, const struct export_function *b)
{
    return a->object == b->object && a->file == b->file && strcmp(a->name, b->name) == 0;
}

static enum c2_status export_function_number(struct export_names *names, const struct export_function *function,
                                             uint32_t *out, struct c2_error *err)
{
    uint64_t found, hash = c2_hash(function->name, strlen(function->name)) ^
                           ((uint64_t)function->object << 32 | function->file) * 0x9e3779b1u;
    for (; c2_map_get(names->function_of, hash, &found); hash++) {
        *out = (uint32_t)found;
        if (same_function(&names->functions[*out - 1], function))
            return C2_OK;
    }
    if (!c2_grow((void **)&names->functions, &names->function_room, names->function_count, sizeof *names->functions))
        return export_no_memory(err);
    names->functions[names->function_count++] = *function;
    *out = names->function_count;
    return c2_map_put(names->function_of, hash, *out, err);
}

/* "unnamed in libc.so.6"; NULL without memory. */
static const char *unnamed(struct export_names *names, const char *object)
{
    return object ? c2_pool_format(&names->pool, "unnamed in %s", object) : "unnamed code";
}

/* ------------------------------------------------------------------ places */

/* The file of the function that holds pc, which is that of its outermost frame; of its entry, so that all of a function
 * has one file. *inner: the frame whose line the instruction comes from. */
static const char *function_file(struct loader_symbols *symbols, struct guest_va pc, struct loader_frame *inner)
{
    struct loader_frame frames[FRAMES];
    struct guest_va entry;
    size_t count = loader_frames_of(symbols, pc, frames, FRAMES);
    *inner = frames[0];
    if (loader_function_entry(symbols, pc, &entry) && entry.v != pc.v)
        count = loader_frames_of(symbols, entry, frames, FRAMES);
    return frames[count < FRAMES ? count - 1 : FRAMES - 1].file;
}

static const char *or_unknown(const char *text) { return !text ? "???" : text; }

static enum c2_status number_place(struct export_names *names, const char *path, const char *object,
                                   const char *function, const char *file, const char *line_file,
                                   struct export_place *out, struct c2_error *err)
{
    struct export_function mine = {.name = !function ? unnamed(names, object) : function};
    if (!mine.name)
        return export_no_memory(err);
    enum c2_status status = text_number(names, or_unknown(path), &mine.object, err);
    if (status == C2_OK)
        status = text_number(names, or_unknown(file), &mine.file, err);
    out->file = mine.file;
    if (status == C2_OK && line_file)
        status = text_number(names, line_file, &out->file, err);
    return status == C2_OK ? export_function_number(names, &mine, &out->function, err) : status;
}

enum c2_status export_place_of(struct export_names *names, struct guest_va pc, struct export_place *out,
                               struct c2_error *err)
{
    struct loader_symbols *symbols = names->run->sim.symbols;
    struct loader_place place = {.offset = pc.v};
    struct loader_frame inner = {.function = NULL};
    const char *path = NULL, *file = NULL;
    *out = (struct export_place){.address = pc.v};
    if (symbols) {
        loader_place_of(symbols, pc, &place);
        loader_linked_of(symbols, pc, &path, &out->address);
        file = function_file(symbols, pc, &inner);
        out->line = inner.file ? inner.line : 0;
    }
    return number_place(names, path, place.object, place.function, file, inner.file, out, err);
}

enum c2_status export_in_context(struct export_names *names, uint32_t context, struct export_place *place,
                                 struct c2_error *err)
{
    const struct analyses_callgraph_result *calls = names->run->sim.found[ANALYSIS_callgraph];
    const uint64_t key = (uint64_t)place->function << 32 | context;
    uint64_t found;
    if (c2_map_get(names->in_context, key, &found)) {
        place->function = (uint32_t)found;
        return C2_OK;
    }
    struct export_function mine = names->functions[place->function - 1];
    const char *suffix = names_context_suffix(&names->pool, &names->run->sim, &calls->contexts->contexts[context]);
    mine.name = suffix ? c2_pool_format(&names->pool, "%s%s", mine.name, suffix) : NULL;
    mine.written = false;
    if (!mine.name)
        return export_no_memory(err);
    enum c2_status status = export_function_number(names, &mine, &place->function, err);
    return status == C2_OK ? c2_map_put(names->in_context, key, place->function, err) : status;
}

enum c2_status export_node(struct export_names *names, const char *name, struct export_place *out, bool *taken,
                           struct c2_error *err)
{
    const uint32_t before = names->function_count;
    const char *kept = c2_pool_format(&names->pool, "%s", name);
    *out = (struct export_place){.address = 0};
    if (!kept)
        return export_no_memory(err);
    enum c2_status status = number_place(names, NULL, NULL, kept, NULL, NULL, out, err);
    *taken = names->function_count == before;
    return status;
}

enum c2_status export_places(struct export_place **out, struct export_names *names, struct c2_error *err)
{
    const struct analyses_profile_result *profile = names->run->sim.profile;
    *out = c2_calloc(profile->insn_count + 1, sizeof **out);
    if (!*out)
        return export_no_memory(err);
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < profile->insn_count && status == C2_OK; i++)
        status = export_place_of(names, profile->insns[i].pc, &(*out)[i], err);
    return status;
}

/* ------------------------------------------------------------------ what all files have */

/* Of a line's text every control character is a space. */
static void export_write_text(FILE *to, const char *text)
{
    for (; *text != '\0'; text++)
        putc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

void export_command(FILE *to, const struct report_run *run)
{
    fputs("cmd:", to);
    for (const char *const *word = run->command; *word; word++) {
        putc(' ', to);
        export_write_text(to, *word);
    }
    putc('\n', to);
}

void export_caches(FILE *to, const struct report_run *run)
{
    struct digest_level levels[DIGEST_LEVELS];
    const size_t count = digest_levels(levels, &run->sim);
    fputs("desc: Machine: ", to);
    export_write_text(to, run->sim.machine->name);
    putc('\n', to);
    if (caches_machine_cores(run->sim.machine) > 1)
        fprintf(to, "desc: Cores: %" PRIu32 "; counts are sums over them\n", run->sim.machine->cores);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "desc: %s cache: %" PRIu64 " B, %" PRIu32 " B, %" PRIu32 "-way associative\n",
                levels[i].level->name, levels[i].level->size_bytes, run->sim.machine->line_bytes,
                levels[i].level->ways);
}

/* The format has no loops, but lines that describe: "desc: Loop: line 189, entered 65536, rounds 16777216, depth 2,
 * file /src/needle.c". */
static void write_loops(FILE *to, const struct report_run *run)
{
    const struct analyses_loops_result *found = run->sim.found[ANALYSIS_loops];
    for (uint32_t i = 0; found && i < found->count; i++) {
        const struct analyses_loop *loop = &found->loops[i];
        struct loader_place place;
        names_loop_place(&place, &run->sim, loop);
        if (!place.file || loop->iterations == 0)
            continue;
        fprintf(to, "desc: Loop: line %d, entered %" PRIu64 ", rounds %" PRIu64 ", depth %" PRIu32 ", file ",
                place.line, loop->entries, loop->iterations, loop->depth);
        export_write_text(to, place.file);
        putc('\n', to);
    }
}

/* ------------------------------------------------------------------ what levels write back */

void export_writeback_events(struct analyses_events *events, const struct report_run *run)
{
    const struct analyses_writebacks_result *of = run->sim.found[ANALYSIS_writebacks];
    for (uint32_t i = 0; of && i < of->level_count; i++) {
        C2_ASSERT(events->count < ANALYSES_EVENTS);
        struct analyses_event *event = &events->list[events->count++];
        const char *level = run->sim.machine->levels[i].name;
        size_t length = (size_t)snprintf(event->name, sizeof event->name, "writebacks");
        for (; *level != '\0' && length + 1 < sizeof event->name; level++)
            if (isalnum((unsigned char)*level))
                event->name[length++] = *level;
        event->name[length] = '\0';
        snprintf(event->help, sizeof event->help, "%.15s Write-Back", run->sim.machine->levels[i].name);
    }
}

void export_writebacks_of(const struct report_run *run, size_t insn, uint64_t *cost)
{
    const struct analyses_writebacks_result *of = run->sim.found[ANALYSIS_writebacks];
    for (uint32_t i = 0; of && i < of->level_count; i++)
        cost[i] += of->counts[insn * of->level_count + i];
}

void export_cost(FILE *to, const uint64_t *cost, uint32_t count)
{
    while (count > 1 && cost[count - 1] == 0)
        count--;
    for (uint32_t i = 0; i < count; i++)
        fprintf(to, " %" PRIu64, cost[i]);
    putc('\n', to);
}

enum c2_status export_written(FILE *to, struct c2_error *err)
{
    if (fflush(to) == 0 && !ferror(to))
        return C2_OK;
    return c2_fail(err, C2_ERR_IO, "a profile cannot be written");
}

/* ------------------------------------------------------------------ Callgrind's format */

/* An event that tools compute: what the misses cost. */
static void write_formula(FILE *to, const struct analyses_event *events, uint32_t count)
{
    bool first = true;
    fputs("event: waitCycles =", to);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].cycles == 0)
            continue;
        fprintf(to, "%s %" PRIu32 " %s", first ? "" : " +", events[i].cycles, events[i].name);
        first = false;
    }
    fputs(" : Cycles of Waiting\n", to);
}

void export_header(FILE *to, const struct report_run *run, uint32_t thread, bool lines_only,
                   const struct analyses_event *events, uint32_t count, const uint64_t *totals)
{
    fputs("# callgrind format\nversion: 1\ncreator: c2emu\n", to);
    export_command(to, run);
    fputs("part: 1\n", to);
    if (thread != 0)
        fprintf(to, "thread: %" PRIu32 "\n", thread);
    putc('\n', to);
    export_caches(to, run);
    write_loops(to, run);
    fprintf(to, "\npositions: %sline\n", lines_only ? "" : "instr ");
    for (uint32_t i = 0; i < count; i++)
        fprintf(to, "event: %s : %s\n", events[i].name, events[i].help);
    write_formula(to, events, count);
    fputs("events:", to);
    for (uint32_t i = 0; i < count; i++)
        fprintf(to, " %s", events[i].name);
    fputs("\nsummary:", to);
    export_cost(to, totals, count);
}

static void export_write_name(FILE *to, const char *key, uint32_t number, const char *text, bool *written)
{
    fprintf(to, "%s=(%" PRIu32 ")", key, number);
    if (!*written) {
        putc(' ', to);
        export_write_text(to, text);
    }
    putc('\n', to);
    *written = true;
}

static void export_write_file(struct export_body *body, const char *key, uint32_t number)
{
    struct export_text *text = &body->names->texts[number - 1];
    export_write_name(body->to, key, number, text->text, &text->file_written);
}

static void export_write_object(struct export_body *body, const char *key, uint32_t number)
{
    struct export_text *text = &body->names->texts[number - 1];
    export_write_name(body->to, key, number, text->text, &text->object_written);
}

static void write_function(struct export_body *body, const char *key, uint32_t number)
{
    struct export_function *function = &body->names->functions[number - 1];
    export_write_name(body->to, key, number, function->name, &function->written);
}

/* The lines to come belong to this place's function and file. */
static void go_to(struct export_body *body, const struct export_place *at)
{
    const struct export_function *function = &body->names->functions[at->function - 1];
    if (body->function != at->function) {
        putc('\n', body->to);
        if (body->object != function->object)
            export_write_object(body, "ob", function->object);
        export_write_file(body, "fl", function->file);
        write_function(body, "fn", at->function);
        body->object = function->object;
        body->function = at->function;
        body->file = function->file;
    }
    if (body->file != at->file)
        export_write_file(body, at->file == function->file ? "fe" : "fi", at->file);
    body->file = at->file;
}

static void write_at(const struct export_body *body, const struct export_place *at)
{
    if (!body->lines_only)
        fprintf(body->to, "0x%" PRIx64 " ", at->address);
    fprintf(body->to, "%d", at->line);
}

void export_self(struct export_body *body, const struct export_place *at, const uint64_t *cost, uint32_t count)
{
    go_to(body, at);
    write_at(body, at);
    export_cost(body->to, cost, count);
}

void export_call(struct export_body *body, const struct export_place *from, const struct export_place *to,
                 uint64_t calls, const uint64_t *cost, uint32_t count)
{
    const struct export_function *function = &body->names->functions[to->function - 1];
    go_to(body, from);
    export_write_object(body, "cob", function->object);
    export_write_file(body, "cfi", function->file);
    write_function(body, "cfn", to->function);
    fprintf(body->to, "calls=%" PRIu64 " ", calls);
    write_at(body, to);
    putc('\n', body->to);
    write_at(body, from);
    export_cost(body->to, cost, count);
}

void export_jump(struct export_body *body, const struct export_place *from, const struct export_place *to,
                 const struct analyses_jump *jump)
{
    go_to(body, from);
    if (to->file != body->file)
        export_write_file(body, "jfi", to->file);
    if (jump->conditional)
        fprintf(body->to, "jcnd=%" PRIu64 "/%" PRIu64 " ", jump->taken, jump->executed);
    else
        fprintf(body->to, "jump=%" PRIu64 " ", jump->taken);
    write_at(body, to);
    putc('\n', body->to);
    write_at(body, from);
    putc('\n', body->to);
}

void export_totals(struct export_body *body, const uint64_t *totals, uint32_t count)
{
    fputs("\ntotals:", body->to);
    export_cost(body->to, totals, count);
}
