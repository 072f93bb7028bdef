/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * complete: the words that may follow `c2emu` or a verb, for the completion of shells (completions/).
 *
 * Model
 *   Lines of fields with tabs between them, out of the tables that --help is made of:
 *
 *       program                                       the first argument is a program, what follows is its own
 *       verb     NAME    SUMMARY                      for c2emu itself only
 *       option   --NAME  -LETTER  VALUE  TEXT         VALUE: empty, it takes none; else what it is
 *
 *   VALUE is read from the name of the value in the table: `file`, `directory`; `machine`, one of --list-machines;
 *   words of small letters between bars ("auto|always|never"): `= auto always never`; `free`, anything else.
 */
#include <ctype.h>
#include <string.h>

#include "cli/cli.h"

/* Whether a word of a value's name stands for itself, and not for something else. */
static bool is_literal(const char *word, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!islower((unsigned char)word[i]) && word[i] != '-')
            return false;
    return bytes > 0;
}

/* Whether there were any. */
static bool put_literals(FILE *to, const char *argument)
{
    bool any = false;
    for (const char *word = argument; *word != '\0';) {
        const size_t length = strcspn(word, "|");
        if (is_literal(word, length)) {
            fprintf(to, "%s %.*s", any ? "" : "=", (int)length, word);
            any = true;
        }
        word += length + (word[length] == '|');
    }
    return any;
}

static void put_value(FILE *to, const struct argp_option *row)
{
    if (!row->arg)
        return;
    if (strcmp(row->name, "machine") == 0)
        fputs("machine", to);
    else if (strcmp(row->arg, "DIR") == 0)
        fputs("directory", to);
    else if (strcmp(row->arg, "FILE") == 0)
        fputs("file", to);
    else if (!put_literals(to, row->arg))
        fputs("free", to);
}

static void complete_put_option(FILE *to, const struct argp_option *row)
{
    fprintf(to, "option\t--%s\t", row->name);
    if (isgraph(row->key))
        fprintf(to, "-%c", row->key);
    fputc('\t', to);
    put_value(to, row);
    fprintf(to, "\t%s\n", row->doc);
}

void cli_complete(FILE *to, const struct cli_command *verb)
{
    const struct cli_command *command = verb ? verb : &cli_run_command;
    struct argp_option rows[CLI_ROWS];
    size_t count;
    if (command->runs_program)
        fputs("program\n", to);
    const struct cli_command *verbs = cli_verbs(&count);
    for (size_t i = 0; i < count && !verb; i++)
        fprintf(to, "verb\t%s\t%s\n", verbs[i].verb, verbs[i].summary);
    count = cli_words_shown(rows, command);
    for (size_t i = 0; i < count; i++)
        if (rows[i].name)
            complete_put_option(to, &rows[i]);
}
