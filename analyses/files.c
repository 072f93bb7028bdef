/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * files: those that analyses write for spreadsheets and gnuplot.
 */
#include "analyses/analyses.h"

enum c2_status analyses_open_file(struct c2_outfile **out, const struct analyses_setup *setup,
                                  enum analysis_setting setting, struct c2_error *err)
{
    const char *path = analyses_setting(setup, setting);
    return path ? c2_outfile_open(out, path, err) : C2_OK;
}

enum c2_status analyses_commit_file(struct c2_outfile **file, struct c2_error *err)
{
    struct c2_outfile *of = *file;
    *file = NULL; /* gone either way */
    return of ? c2_outfile_commit(of, err) : C2_OK;
}

void analyses_write_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; text && *text != '\0'; text++)
        fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', to);
}
