/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * outputs: the files of a run.
 *
 * Invariants
 *   Every file is open before the guest runs, but those of threads behind the first (--separate-threads), of which it
 *   is known at the end how many there are. A file appears under its name only when whole; one that cannot be
 *   finished (full disk) leaves the old one and an error, and does not keep the others from being finished.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "session/session_priv.h"
#include "html/html.h"

/* Makes `directory` and what lacks above it. */
static enum c2_status outputs_make_directory(const char *directory, struct c2_error *err)
{
    char *path = c2_strdup(directory);
    if (!path)
        return c2_fail_memory(err, "a directory's name");
    int failed = 0;
    for (char *slash = path + 1; slash[-1] != '\0' && failed == 0; slash++) {
        if (*slash != '/' && *slash != '\0')
            continue;
        const char ended = *slash;
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            failed = errno;
        *slash = ended;
    }
    c2_free(path);
    struct stat stat_buffer;
    if (failed == 0 && stat(directory, &stat_buffer) == 0 && !S_ISDIR(stat_buffer.st_mode))
        failed = ENOTDIR;
    return failed == 0
               ? C2_OK
               : c2_fail(err, C2_ERR_IO, "cannot make the output directory \"%s\": %s", directory, strerror(failed));
}

enum c2_status session_outputs_open_in(struct c2_outfile **out, const char *directory, const char *name,
                                       struct c2_error *err)
{
    enum c2_status status = directory ? outputs_make_directory(directory, err) : C2_OK;
    if (status != C2_OK)
        return status;
    char *path = directory ? c2_format("%s/%s", directory, name) : c2_strdup(name);
    if (!path)
        return c2_fail_memory(err, "an output file's name");
    status = c2_outfile_open(out, path, err);
    c2_free(path);
    return status;
}

/* "report.txt", with the mark of a program that is not the first. */
static enum c2_status outputs_open_report(struct c2_outfile **out, const struct session_options *options,
                                          const char *ending, struct c2_error *err)
{
    char name[64 + SESSION_MARK_BYTES];
    snprintf(name, sizeof name, "report%s.%s", options->mark ? options->mark : "", ending);
    return session_outputs_open_in(out, options->output_dir, name, err);
}

/* Of a thread: "calls.out-01", as Callgrind has it; thread 0: of the whole run. */
static enum c2_status open_of_thread(struct c2_outfile **out, const char *name, uint32_t thread, struct c2_error *err)
{
    if (thread == 0)
        return c2_outfile_open(out, name, err);
    char *own = c2_format("%s-%02u", name, thread);
    if (!own)
        return c2_fail_memory(err, "an output file's name");
    enum c2_status status = c2_outfile_open(out, own, err);
    c2_free(own);
    return status;
}

static enum c2_status outputs_open_all(struct session_outputs *outputs, const struct session_options *options,
                                       struct c2_error *err)
{
    const char *callgrind = options->analyses[ANALYSIS_callgraph];
    const struct {
        struct c2_outfile **file;
        const char *name; /* NULL: it is not wanted */
        uint32_t thread;
    } named[] = {
        {&outputs->json, options->json, 0},
        {&outputs->json_full, options->json_full, 0},
        {&outputs->varied, options->vary_csv, 0},
        {&outputs->html, options->html, 0},
        {&outputs->callgrind, callgrind, options->separate.threads ? 1 : 0},
        {&outputs->evictors, options->evictors, 0},
        {&outputs->cachegrind, options->cachegrind, 0},
        {&outputs->folded, options->folded, 0},
        {&outputs->pprof, options->pprof, 0},
        {&outputs->pagemap, options->dump_pagemap, 0},
        {&outputs->recording, options->record, 0},
    };
    enum c2_status status = C2_OK;
    if (options->output_dir && !options->points.find) {
        status = outputs_open_report(&outputs->report_text, options, "txt", err);
        if (status == C2_OK)
            status = outputs_open_report(&outputs->report_json, options, "json", err);
    }
    outputs->of_threads = options->separate.threads ? callgrind : NULL;
    for (size_t i = 0; i < sizeof named / sizeof *named && status == C2_OK; i++)
        if (named[i].name)
            status = open_of_thread(named[i].file, named[i].name, named[i].thread, err);
    return status;
}

enum c2_status session_outputs_open(struct session_outputs *out, const struct session_options *options,
                                    struct c2_error *err)
{
    *out = (struct session_outputs){0};
    enum c2_status status = outputs_open_all(out, options, err);
    if (status != C2_OK)
        session_outputs_abandon(out);
    return status;
}

static void keep_first(enum c2_status *first, enum c2_status status, const struct c2_error *mine, struct c2_error *err)
{
    if (status == C2_OK || *first != C2_OK)
        return;
    *first = status;
    *err = *mine;
}

/* A file of the report, or a profile, which is written from the run itself. */
struct written {
    struct c2_outfile **file;
    enum c2_status (*report)(FILE *to, const struct report *report, struct c2_error *err);
    enum c2_status (*profile)(FILE *to, const struct report_run *run, struct c2_error *err);
};

static enum c2_status finish_thread(struct c2_outfile *file, const struct report_run *run, uint32_t thread,
                                    struct c2_error *err)
{
    enum c2_status status = report_callgrind_of(c2_outfile_stream(file), run, thread, err);
    if (status == C2_OK || status == C2_ERR_IO)
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return status;
}

/* A file for each thread; that of the first one is open. */
static enum c2_status finish_threads(struct session_outputs *outputs, const struct report_run *run,
                                     struct c2_error *err)
{
    struct c2_outfile *file = outputs->callgrind;
    outputs->callgrind = NULL;
    enum c2_status status = finish_thread(file, run, 1, err);
    for (uint32_t thread = 1; status == C2_OK && (thread = report_callgrind_thread_after(run, thread)) != 0;) {
        status = open_of_thread(&file, outputs->of_threads, thread, err);
        if (status == C2_OK)
            status = finish_thread(file, run, thread, err);
    }
    return status;
}

/* The file is gone afterwards. */
static enum c2_status outputs_finish(const struct written *written, const struct report *report,
                                     const struct report_run *run, struct c2_error *err)
{
    struct c2_outfile *mine = *written->file;
    *written->file = NULL;
    if (!mine)
        return C2_OK;
    enum c2_status status = C2_ERR_NO_MEMORY; /* for the report, which was said before */
    if (written->profile)
        status = written->profile(c2_outfile_stream(mine), run, err);
    else if (report)
        status = written->report(c2_outfile_stream(mine), report, err);
    if (status == C2_OK || status == C2_ERR_IO) /* commit names the file and the reason of a failed write */
        return c2_outfile_commit(mine, err);
    c2_outfile_abandon(mine);
    return status;
}

/* The page is made of what the full JSON has. */
static enum c2_status outputs_write_page(FILE *to, const struct report *report, struct c2_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *json = open_memstream(&text, &bytes);
    if (!json)
        return c2_fail_memory(err, "the page");
    enum c2_status status = report_json(json, report, err);
    if (fclose(json) != 0 && status == C2_OK)
        status = c2_fail_memory(err, "the page");
    const struct html_request request = {.report = text, .name = "the report"};
    if (status == C2_OK)
        status = html_write(to, &request, err);
    free(text);
    return status;
}

static void finish_all(enum c2_status *first, struct session_outputs *outputs, const struct report *report,
                       const struct report_run *run, struct c2_error *err)
{
    const struct written files[] = {{&outputs->report_text, report_text, NULL},
                                    {&outputs->report_json, report_json, NULL},
                                    {&outputs->json, report_json_slim, NULL},
                                    {&outputs->json_full, report_json, NULL},
                                    {&outputs->html, outputs_write_page, NULL},
                                    {&outputs->varied, NULL, report_varied},
                                    {&outputs->callgrind, NULL, report_callgrind},
                                    {&outputs->evictors, NULL, report_evictors},
                                    {&outputs->cachegrind, NULL, report_cachegrind},
                                    {&outputs->folded, NULL, report_folded},
                                    {&outputs->pprof, NULL, report_pprof}};
    struct c2_error mine;
    if (outputs->of_threads && outputs->callgrind)
        keep_first(first, finish_threads(outputs, run, &mine), &mine, err);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        keep_first(first, outputs_finish(&files[i], report, run, &mine), &mine, err);
}

bool session_outputs_report(const struct session_outputs *outputs)
{
    return outputs->report_text || outputs->report_json || outputs->json || outputs->json_full || outputs->html;
}

/* The report is built once, for all its outputs. */
enum c2_status session_outputs_commit(struct session_outputs *outputs, const struct session_options *options,
                                      struct analyses *analyses, const struct report_run *run, bool shown,
                                      struct c2_error *err)
{
    const bool full = outputs->report_json || outputs->json_full || outputs->html;
    const unsigned forms = (shown || outputs->report_text ? REPORT_TEXT : 0) | (outputs->json ? REPORT_SLIM : 0) |
                           (full ? REPORT_JSON : 0);
    struct report *report = NULL;
    struct c2_error mine;
    enum c2_status first = forms == 0         ? C2_OK
                           : options->explain ? report_create_story(&report, run, forms, err)
                                              : report_create(&report, run, forms, err);
    if (report)
        session_page_of_file(report, options);
    if (report && shown)
        session_show_report(report, options);
    if (analyses)
        keep_first(&first, analyses_commit(analyses, &mine), &mine, err);
    finish_all(&first, outputs, report, run, err);
    report_destroy(report);
    return first;
}

enum c2_status session_outputs_commit_pagemap(struct session_outputs *outputs, const struct mmu_replica *memory,
                                              const char *path, struct c2_error *err)
{
    struct c2_outfile *file = outputs->pagemap;
    outputs->pagemap = NULL;
    if (!file)
        return C2_OK;
    enum c2_status status = mmu_replica_pagemap_write(memory, c2_outfile_stream(file), mmu_pagemap_is_textproto(path),
                                                      err);
    if (status == C2_OK || status == C2_ERR_IO)
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return status;
}

enum c2_status session_outputs_commit_recording(struct session_outputs *outputs, struct c2_error *err)
{
    struct c2_outfile *file = outputs->recording;
    outputs->recording = NULL;
    return file ? c2_outfile_commit(file, err) : C2_OK;
}

void session_outputs_abandon(struct session_outputs *outputs)
{
    c2_outfile_abandon(outputs->report_text);
    c2_outfile_abandon(outputs->report_json);
    c2_outfile_abandon(outputs->json);
    c2_outfile_abandon(outputs->json_full);
    c2_outfile_abandon(outputs->html);
    c2_outfile_abandon(outputs->varied);
    c2_outfile_abandon(outputs->callgrind);
    c2_outfile_abandon(outputs->evictors);
    c2_outfile_abandon(outputs->cachegrind);
    c2_outfile_abandon(outputs->folded);
    c2_outfile_abandon(outputs->pprof);
    c2_outfile_abandon(outputs->pagemap);
    c2_outfile_abandon(outputs->recording);
    *outputs = (struct session_outputs){0};
}
