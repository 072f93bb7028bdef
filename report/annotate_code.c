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
#include <string.h>

#include "loader/loader.h"
#include "report/callgrind_priv.h"

#define GAP 64 /* bytes; beyond it comes "..." */

/* ------------------------------------------------------------------ a function */

static void annotate_code_put_row(FILE *to, const struct report_shown *shown, const struct report_annotated *insn,
                                  uint64_t address, const char *text)
{
    static const uint64_t none[REPORT_MAX_SHOWN];
    report_put_counts(to, shown, insn ? insn->sums : none);
    const bool placed = insn && insn->cost->line != 0 && strcmp(insn->cost->file, "???") != 0;
    char *whole = placed ? c2_format("%s  # %s:%" PRIu64, text, basename(insn->cost->file), insn->cost->line) : NULL;
    fprintf(to, "%8" PRIx64 "  ", address);
    report_put_cut(to, shown, 10, whole ? whole : text); /* without memory, without its place */
    c2_free(whole);
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

static void put_insns(FILE *to, const struct report_shown *shown, const struct report_part *function,
                      const struct loader_code *code)
{
    char text[256];
    for (size_t i = 0; i < function->count; i++) {
        uint64_t address = function->rows[i].number;
        const uint64_t next = i + 1 < function->count ? function->rows[i + 1].number : address;
        size_t length = disassemble(text, sizeof text, code, address);
        annotate_code_put_row(to, shown, &function->rows[i], address, text);
        if (next - address > GAP)
            fputs("...\n", to);
        else if (code) { /* what was not executed; it may run into the next by a byte of data */
            for (address += length; address < next; address += length) {
                length = disassemble(text, sizeof text, code, address);
                annotate_code_put_row(to, shown, NULL, address, text);
            }
        }
    }
}

static void put_function(FILE *to, const struct report_shown *shown, const struct report_part *function)
{
    char path[4096];
    struct c2_error err;
    struct loader_code *code = NULL;
    const char *object = function->rows->object;
    FILE *there = report_open_near(shown->request, object, path, sizeof path);
    fprintf(to, "\n%s in %s: ", function->rows->name, object);
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
    struct report_parts functions;
    enum c2_status status = report_parts_make(&functions, shown, true, err);
    for (size_t i = 0; status == C2_OK && i < functions.count; i++) {
        if (report_shown_any(shown, functions.list[i].sums))
            put_function(to, shown, &functions.list[i]);
    }
    report_parts_release(&functions);
    return status;
}
