/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * processes: the programs of a run of several, a line each.
 */
#include "report/report_priv.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static void add_program(struct document *d, const struct report_program *program)
{
    doc_group(d, DOC_BOTH, NULL);
    doc_count(d, DOC_JSON, "pid", program->pid);
    doc_count(d, DOC_JSON, "parent", program->parent);
    doc_count(d, DOC_JSON, "number", program->number);
    if (program->number == 1)
        doc_words(d, DOC_TEXT, "who", "%u", program->pid);
    else
        doc_words(d, DOC_TEXT, "who", "%u-%u", program->pid, program->number);
    doc_string(d, DOC_BOTH, "program", program->name);
    doc_count(d, DOC_BOTH, "instructions", program->instructions);
    if (program->followed) {
        doc_count(d, DOC_BOTH, "first_misses", program->first_misses);
        doc_count(d, DOC_BOTH, "last_misses", program->last_misses);
    }
    doc_string(d, DOC_BOTH, "ending", program->ending);
    doc_string(d, DOC_JSON, "report", program->report);
    doc_close(d);
}

static void add_command(struct document *d, const char *const *command)
{
    doc_table(d, DOC_JSON, "command");
    for (size_t i = 0; command[i]; i++)
        doc_string(d, DOC_JSON, NULL, command[i]);
    doc_close(d);
}

void report_add_programs(struct document *d, const struct report_programs *programs)
{
    static const struct doc_column columns[] = {{.heading = "process", .key = "who"},
                                                {.heading = "program", .key = "program", .form = DOC_LEFT},
                                                {.heading = "instructions", .key = "instructions"},
                                                {.heading = "L1D misses", .key = "first_misses"},
                                                {.heading = "to memory", .key = "last_misses"},
                                                {.heading = "ending", .key = "ending", .form = DOC_NAME}};
    doc_section(d, DOC_BOTH, 0);
    doc_string(d, DOC_JSON, "format", "c2emu-programs");
    add_command(d, programs->command);
    doc_note(d, DOC_LINE, NULL, "processes: %zu programs", programs->count);
    doc_table(d, DOC_BOTH, "programs");
    doc_columns(d, columns, COUNT_OF(columns), 0);
    for (size_t i = 0; i < programs->count; i++)
        add_program(d, &programs->list[i]);
    doc_close(d);
}
