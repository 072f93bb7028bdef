/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * annotate_code: functions as instructions with counts.
 *
 * Model
 *   Functions with counts, most first; of each all instructions of the file's cost lines, that is those that were
 *   executed, and what lies between them up to GAP bytes. An instruction is taken from the object file at its address.
 *
 * Invariants
 *   Every cost line has its row: where the object file does not have the instruction, the row says so.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loader/loader.h"
#include "report/callgrind_priv.h"

#define GAP 64 /* bytes; beyond it comes "..." */

#define UP(a, b) (((a) > (b)) - ((a) < (b)))

struct insn {
    const char *object, *function;
    uint64_t address, line;
    const char *file;
    uint64_t sums[REPORT_MAX_SHOWN];
};
struct function {
    const struct insn *insns;
    size_t count;
    uint64_t sums[REPORT_MAX_SHOWN];
};

static int by_place(const void *left, const void *right)
{
    const struct insn *a = left, *b = right;
    int order = strcmp(a->object, b->object);
    if (order == 0)
        order = strcmp(a->function, b->function);
    return order != 0 ? order : UP(a->address, b->address);
}

static bool same_function(const struct insn *a, const struct insn *b)
{
    return strcmp(a->object, b->object) == 0 && strcmp(a->function, b->function) == 0;
}

static int by_sum(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    const int order = UP(b->sums[0], a->sums[0]);
    return order != 0 ? order : by_place(a->insns, b->insns);
}

static size_t gather(struct insn *insns, const struct report_shown *shown)
{
    const struct report_callgrind *file = shown->file;
    size_t kept = 0;
    for (size_t i = 0; i < file->cost_count; i++) {
        const struct report_cost *cost = &file->costs[i];
        insns[i] = (struct insn){cost->object, cost->function, cost->address, cost->line, cost->file, {0}};
        report_shown_add(shown, insns[i].sums, cost);
    }
    qsort(insns, file->cost_count, sizeof *insns, by_place);
    for (size_t i = 0; i < file->cost_count; i++) {
        if (kept == 0 || by_place(&insns[kept - 1], &insns[i]) != 0) {
            insns[kept++] = insns[i];
            continue;
        }
        for (size_t j = 0; j < shown->count; j++)
            insns[kept - 1].sums[j] += insns[i].sums[j];
    }
    return kept;
}

static size_t make_functions(struct function *functions, const struct insn *insns, size_t count)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (made == 0 || !same_function(functions[made - 1].insns, &insns[i]))
            functions[made++] = (struct function){.insns = &insns[i]};
        functions[made - 1].count++;
        for (size_t j = 0; j < REPORT_MAX_SHOWN; j++)
            functions[made - 1].sums[j] += insns[i].sums[j];
    }
    qsort(functions, made, sizeof *functions, by_sum);
    return made;
}

/* ------------------------------------------------------------------ a function */

static void put_row(FILE *to, const struct report_shown *shown, const struct insn *insn, uint64_t address,
                    const char *text)
{
    static const uint64_t none[REPORT_MAX_SHOWN];
    report_put_counts(to, shown, insn ? insn->sums : none);
    fprintf(to, "%8" PRIx64 "  %s", address, text);
    const char *slash = insn ? strrchr(insn->file, '/') : NULL;
    if (insn && insn->line != 0 && strcmp(insn->file, "???") != 0)
        fprintf(to, "  # %s:%" PRIu64, slash ? slash + 1 : insn->file, insn->line);
    fputc('\n', to);
}

/* The length of the instruction there, at least 1; code may be NULL. */
static size_t disassemble(char *text, size_t bytes, const struct loader_code *code, uint64_t address)
{
    uint8_t insn[LOADER_LONGEST_INSN] = {0};
    const size_t count = code ? loader_code_read(code, address, insn, sizeof insn) : 0;
    const size_t length = loader_disassemble(text, bytes, insn, count, address);
    if (count == 0)
        snprintf(text, bytes, "(the file has no code there)");
    return length > 0 ? length : 1;
}

static void put_insns(FILE *to, const struct report_shown *shown, const struct function *function,
                      const struct loader_code *code)
{
    char text[256];
    for (size_t i = 0; i < function->count; i++) {
        uint64_t address = function->insns[i].address;
        const uint64_t next = i + 1 < function->count ? function->insns[i + 1].address : address;
        size_t length = disassemble(text, sizeof text, code, address);
        put_row(to, shown, &function->insns[i], address, text);
        if (next - address > GAP)
            fputs("...\n", to);
        else if (code) { /* what was not executed; it may run into the next by a byte of data */
            for (address += length; address < next; address += length) {
                length = disassemble(text, sizeof text, code, address);
                put_row(to, shown, NULL, address, text);
            }
        }
    }
}

static void put_function(FILE *to, const struct report_shown *shown, const struct function *function)
{
    char path[4096];
    struct c2_error err;
    struct loader_code *code = NULL;
    const char *object = function->insns->object;
    FILE *there = report_open_near(shown->request, object, path, sizeof path);
    fprintf(to, "\n%s in %s: ", function->insns->function, object);
    report_put_sums(to, shown, function->sums);
    fputc('\n', to);
    if (!there) {
        fputs("no such file: ", to);
        report_put_looked(to, shown->request, object);
        fputc('\n', to);
    } else if (loader_code_open(&code, path, &err) != C2_OK) {
        fprintf(to, "no instructions: %s\n", err.text);
    }
    fputc('\n', to);
    report_put_count_headings(to, shown);
    fputs(" address\n", to);
    put_insns(to, shown, function, code);
    loader_code_close(code);
    if (there)
        fclose(there);
}

enum c2_status report_annotate_code(FILE *to, const struct report_shown *shown, struct c2_error *err)
{
    if (!shown->file->has_addresses)
        return c2_fail(err, C2_ERR_FORMAT,
                       "annotate: %s has no addresses of instructions (\"positions: instr line\"), "
                       "which --asm needs",
                       shown->request->path);
    struct insn *insns = c2_calloc(shown->file->cost_count + 1, sizeof *insns);
    struct function *functions = c2_calloc(shown->file->cost_count + 1, sizeof *functions);
    const bool room = insns && functions;
    if (room) {
        const size_t count = make_functions(functions, insns, gather(insns, shown));
        for (size_t i = 0; i < count; i++) {
            if (report_shown_any(shown, functions[i].sums))
                put_function(to, shown, &functions[i]);
        }
    }
    c2_free(insns);
    c2_free(functions);
    return room ? C2_OK : c2_fail_memory(err, "the annotation");
}
