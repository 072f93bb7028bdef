/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * diff: `c2emu diff [--all] [--fail-if CONDITION]... A.json B.json`.
 */
#include <string.h>

#include "cli/cli_priv.h"

static enum c2_status fail_words(struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID,
                   "diff: give two reports: c2emu diff [--fail-if 'L1D.conflict>+0']... A.json B.json");
}

enum c2_status cli_diff(bool *failed, int count, char *const *words, struct c2_error *err)
{
    const char *paths[2], **conditions = c2_calloc((size_t)count + 1, sizeof *conditions);
    size_t path_count = 0, condition_count = 0;
    enum c2_status status = conditions ? C2_OK : c2_fail_memory(err, "the conditions");
    bool all = false;
    *failed = false;
    for (int i = 0; i < count && status == C2_OK; i++) {
        if (strncmp(words[i], "--fail-if=", 10) == 0)
            conditions[condition_count++] = words[i] + 10;
        else if (strcmp(words[i], "--fail-if") == 0 && i + 1 < count)
            conditions[condition_count++] = words[++i];
        else if (strcmp(words[i], "--all") == 0)
            all = true;
        else if (words[i][0] == '-')
            status = c2_fail(err, C2_ERR_INVALID, "diff: %s is no option%s", words[i],
                             strcmp(words[i], "--fail-if") == 0 ? " without a condition: --fail-if 'L1D.conflict>+0'"
                                                                : " (known: --all, --fail-if)");
        else if (path_count == 2)
            status = fail_words(err);
        else
            paths[path_count++] = words[i];
    }
    if (status == C2_OK && path_count < 2)
        status = fail_words(err);
    if (status == C2_OK)
        status = report_diff(failed, stdout, paths[0], paths[1], all, conditions, condition_count, err);
    c2_free(conditions);
    return status;
}
