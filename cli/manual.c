/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * manual: the pages of man(1), out of the tables that --help is made of.
 *
 * Model
 *   A page for c2emu itself and one for each verb, c2emu-VERB(1), in the macros of man(7). There is no date in them:
 *   the same version makes the same bytes.
 */
#include <ctype.h>
#include <string.h>

#include "cli/cli.h"

/* Text of a line that begins with no macro: what groff would take for its own is escaped. */
static void manual_put_text(FILE *to, const char *text, size_t bytes)
{
    if (bytes > 0 && (*text == '.' || *text == '\''))
        fputs("\\&", to);
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\\')
            fputs("\\e", to);
        else if (text[i] == '-')
            fputs("\\-", to);
        else if (text[i] == '`' || text[i] == '\'')
            fputs(text[i] == '`' ? "\\(ga" : "\\(aq", to);
        else
            fputc(text[i], to);
    }
}

static void manual_put_line(FILE *to, const char *text, size_t bytes)
{
    manual_put_text(to, text, bytes);
    fputc('\n', to);
}

static void put_paragraph(FILE *to, const char *text) { manual_put_line(to, text, strlen(text)); }

static void put_bold(FILE *to, const char *text)
{
    fputs("\\fB", to);
    manual_put_text(to, text, strlen(text));
    fputs("\\fR", to);
}

static void manual_put_option(FILE *to, const struct argp_option *row)
{
    fputs(".TP\n", to);
    char name[80];
    if (isgraph(row->key)) {
        snprintf(name, sizeof name, "-%c", row->key);
        put_bold(to, name);
        fputs(", ", to);
    }
    snprintf(name, sizeof name, "--%s", row->name);
    put_bold(to, name);
    if (row->arg) {
        fputs("=\\fI", to);
        manual_put_text(to, row->arg, strlen(row->arg));
        fputs("\\fR", to);
    }
    fputc('\n', to);
    put_paragraph(to, row->doc);
}

static void put_options(FILE *to, const struct cli_command *command)
{
    struct argp_option shown[CLI_ROWS];
    const size_t count = cli_words_shown(shown, command);
    fputs(".SH OPTIONS\n", to);
    for (size_t i = 0; i < count; i++) {
        if (shown[i].name) {
            manual_put_option(to, &shown[i]);
            continue;
        }
        fputs(".SS ", to);
        manual_put_line(to, shown[i].doc, strcspn(shown[i].doc, ":"));
    }
}

static void put_verbs(FILE *to)
{
    size_t count;
    const struct cli_command *verbs = cli_verbs(&count);
    fputs(".SH VERBS\n", to);
    for (size_t i = 0; i < count; i++) {
        fprintf(to, ".TP\n.BR c2emu\\-%s (1)\n", verbs[i].verb);
        put_paragraph(to, verbs[i].summary);
    }
}

static void put_see_also(FILE *to, const struct cli_command *command)
{
    fputs(".SH SEE ALSO\n", to);
    fputs(command->verb ? ".BR c2emu (1)\n" : ".BR valgrind (1),\n.BR perf (1)\n", to);
}

void cli_manual(FILE *to, const struct cli_command *verb, const char *version)
{
    const struct cli_command *command = verb ? verb : &cli_run_command;
    const char *dash = verb ? "\\-" : "", *name = verb ? verb->verb : "", *behind = strchr(command->text, '\v');
    char upper[32] = "";
    for (size_t i = 0; name[i] != '\0' && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)name[i]);
    fprintf(to, ".TH C2EMU%s%s 1 \"\" \"c2emu %s\" \"User Commands\"\n", dash, upper, version);
    fprintf(to, ".SH NAME\nc2emu%s%s \\- ", dash, name);
    put_paragraph(to, verb ? verb->summary : "run a program in an emulator and report what its caches did");
    fprintf(to, ".SH SYNOPSIS\n.B c2emu%s%s\n", verb ? " " : "", name);
    fputs("[\\fIOPTION\\fR]... ", to);
    put_paragraph(to, command->arguments);
    fputs(".SH DESCRIPTION\n", to);
    manual_put_line(to, command->text, behind ? (size_t)(behind - command->text) : strlen(command->text));
    if (behind) {
        fputs(".PP\n", to);
        put_paragraph(to, behind + 1);
    }
    if (!verb)
        put_verbs(to);
    put_options(to, command);
    put_see_also(to, command);
}
