/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explained: whether a run has the miss that is asked for, and is the run that the question is about.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/explain.h"
#include "session/session_priv.h"

static const char *level_name(const struct report_run *run, const struct analyses_explain_result *result)
{
    return result->level < run->sim.machine->level_count ? run->sim.machine->levels[result->level].name
                                                         : run->sim.machine->l1i.name;
}

/* ------------------------------------------------------------------ is it there? */

static enum c2_status fail_none(const struct report_run *run, const struct analyses_explain_result *result,
                                struct c2_error *err)
{
    const char *level = level_name(run, result);
    const unsigned long long all = result->all, asked = result->asked, miss = result->miss;
    char lines[128], file[PATH_MAX];
    if (result->at && asked == 0) {
        snprintf(file, sizeof file, "%.*s", (int)(strrchr(result->at, ':') - result->at), result->at);
        report_missing_lines(lines, sizeof lines, run, file, result->level);
        return c2_fail(err, C2_ERR_NOT_FOUND, "explain: no access of %s missed in %s, which had %llu misses; %s%s%s",
                       result->at, level, all, lines[0] != '\0' ? "lines of the file that did: " : "of ",
                       lines[0] != '\0' ? lines : file, lines[0] != '\0' ? "" : " no line did");
    }
    if (result->at)
        return c2_fail(err, C2_ERR_NOT_FOUND, "explain: --miss %llu: %s had %llu misses at %s", miss, level, asked,
                       result->at);
    if (all == 0)
        return c2_fail(err, C2_ERR_NOT_FOUND, "explain: %s had no misses; --level names another one", level);
    return c2_fail(err, C2_ERR_NOT_FOUND, "explain: --miss %llu: %s had %llu misses", miss, level, all);
}

static enum c2_status check_saved(const struct report_saved *saved, const char *path, const struct report_run *run,
                                  const struct analyses_explain_result *result, struct c2_error *err)
{
    uint64_t misses;
    const char *level = level_name(run, result);
    if (!report_saved_misses(saved, level, &misses))
        return c2_fail(err, C2_ERR_INVALID, "explain: %s has no counts of %s", path, level);
    if (misses == result->all)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID,
                   "explain: this run is not that of %s: %s had %llu misses, and has %llu now; `c2emu verify %s` says "
                   "what differs",
                   path, level, (unsigned long long)misses, (unsigned long long)result->all, path);
}

enum c2_status session_explain_check(const struct session_options *options, const struct report_run *run,
                                     struct c2_error *err)
{
    const struct analyses_explain_result *result = run->sim.found[ANALYSIS_explain];
    struct report_saved *saved;
    enum c2_status status = C2_OK;
    if (options->explained) {
        status = report_saved_open_values(&saved, options->explained, err);
        if (status == C2_OK)
            status = check_saved(saved, options->explained, run, result, err);
        report_saved_close(saved);
    }
    return status == C2_OK && !result->story ? fail_none(run, result, err) : status;
}

void session_explain_leave_out(const struct report_run *run)
{
    const char *slash = strrchr(run->command[0], '/'), *name = slash ? slash + 1 : run->command[0];
    fprintf(stderr, "c2emu: explain: the run has several programs; --follow %s tells of this one\n", name);
}
