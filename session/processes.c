/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * processes: the programs of a run beside the one of the command line.
 *
 * Model
 *   A program is a run of its own (run.c): memory, lanes, symbols and reports are made anew for it, so that addresses
 *   of two programs never meet in one report. The process, with its kernel, goes on; the engine is as new, but need
 *   not translate again what the program before had at the same place.
 *   The first program has the names that the user gave to files. The others' have a mark before the first dot: the
 *   process's number, and from its second program on "-2", "-3" ...: report.1000-2.json, trace.1000-2.din. What is no
 *   file that can be replaced - standard output, a pipe, a device - is written of the first program alone.
 *   Where there are several processes, a list of the programs is shown instead of their reports.
 *   --follow says which programs are simulated and reported. The others run as with --no-sim --quiet, but see the same
 *   memory.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session_priv.h"

enum { BOARD_ROWS = 4096, BOARD_TEXT = 64, BOARD_FOUND = 512 };
struct run_list_row {
    struct report_program is; /* but for its texts: */
    char name[PATH_MAX];      /* whole: findings of one program are known by it */
    char ending[BOARD_TEXT], report[BOARD_TEXT], found[REPORT_FOUND][BOARD_FOUND];
};
struct session_run_list {
    uint32_t followed;
    bool forked;    /* there has been more than one process */
    bool told;      /* that a process was not followed */
    uint32_t count; /* more than there are rows: the last ones are not kept */
    uint64_t cost;  /* of those that are */
    struct run_list_row rows[BOARD_ROWS];
};

/* ------------------------------------------------------------------ names of files */

/* "" of the first program. */
static void mark_of(char out[SESSION_MARK_BYTES], const struct session_process *process)
{
    if (process->programs > 1)
        snprintf(out, SESSION_MARK_BYTES, ".%u-%u", process->pid, process->programs);
    else if (process->forked)
        snprintf(out, SESSION_MARK_BYTES, ".%u", process->pid);
    else
        out[0] = '\0';
}

/* "out/report.json" -> "out/report.1000-2.json"; a name that begins with a dot keeps that. */
static size_t place_of_mark(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = name[0] ? strchr(name + 1, '.') : NULL;
    return (size_t)((dot ? dot : path + strlen(path)) - path);
}

static bool is_replaceable(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

/* old: the mark that the path has, where it has one. */
static enum c2_status rename_file(const char **path, const char *old, const char *mark, struct c2_pool *texts,
                                  struct c2_error *err)
{
    if (!*path || !is_replaceable(*path)) {
        *path = NULL;
        return C2_OK;
    }
    const int front = (int)place_of_mark(*path);
    const char *rest = *path + front;
    if (strncmp(rest, old, strlen(old)) == 0)
        rest += strlen(old);
    *path = c2_pool_format(texts, "%.*s%s%s", front, *path, mark, rest);
    return *path ? C2_OK : c2_fail_memory(err, "the name of a file");
}

static enum c2_status rename_files(struct session_options *options, const char *mark, struct c2_pool *texts,
                                   struct c2_error *err)
{
    const char **const files[] = {&options->json,
                                  &options->json_full,
                                  &options->vary_csv,
                                  &options->html,
                                  &options->evictors,
                                  &options->cachegrind,
                                  &options->folded,
                                  &options->pprof,
                                  &options->record,
                                  &options->dump_pagemap,
#define X(name, option, argument, help) &options->analyses[ANALYSIS_##name],
                                  ANALYSES_OF_FILES(X)
#undef X
#define X(name, analysis, option, argument, help) &options->settings[ANALYSES_SETTING_##name],
                                      ANALYSES_SETTINGS_OF_FILES(X)
#undef X
    };
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == C2_OK; i++)
        status = rename_file(files[i], "", mark, texts, err);
    return status;
}

/* ------------------------------------------------------------------ which processes are followed */

static const char *processes_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool processes_is_word(const char *text, const char *word) { return text && strcmp(text, word) == 0; }

bool session_follows(const struct session_process *process, const char *name)
{
    const struct session_options *options = process->options;
    const char *follow = options->follow;
    if (process->programs > 1 && (options->points.find || options->sampling.points))
        return false; /* the intervals are of one program */
    if (processes_is_word(follow, "first"))
        return !process->forked;
    if (!follow || processes_is_word(follow, "all"))
        return true;
    return strcmp(processes_base_name(name), follow) == 0;
}

bool session_shows_program(const struct session_process *process, const struct session_options *options, bool becomes)
{
    const bool named = options->follow && !processes_is_word(options->follow, "all");
    return options->full || named || !(becomes || session_process_has_relatives(process));
}

void session_process_followed(const struct session_process *process) { process->run_list->followed++; }

/* What the guest can see of its memory stays as it is. */
static void leave_out(struct session_options *options)
{
    options->no_sim = options->quiet = true;
    options->output_dir = options->json = options->json_full = options->html = options->evictors = options->cachegrind =
        NULL;
    options->vary_csv = options->record = options->dump_pagemap = options->checkpoint = options->checkpoint_place =
        NULL;
    options->folded = options->folded_event = options->pprof = NULL;
    options->checkpoint_caches = options->checkpoint_stop = options->advise = false;
    options->explain = options->step = false;
    memset(options->analyses, 0, sizeof options->analyses);
    memset(options->settings, 0, sizeof options->settings);
    options->place_count = options->huge_region_count = options->wrapper_count = options->vary_count = 0;
    options->sampling = (struct session_sampling){0};
    options->regions = (struct session_regions){0};
    options->separate = (struct session_separate){0};
    options->points = (struct session_points_asked){0};
}

enum c2_status session_program_options(struct session_options *out, struct session_process *process,
                                       const struct syscalls_program *program, struct c2_error *err)
{
    char *mark = c2_pool_get(&process->texts, SESSION_MARK_BYTES);
    if (!mark)
        return c2_fail_memory(err, "the name of a file");
    mark_of(mark, process);
    *out = *process->options;
    out->mark = mark;
    if (program) {
        out->command = program->argv;
        out->restored = out->checkpoint = out->checkpoint_place = NULL; /* of the first program */
        out->checkpoint_caches = out->checkpoint_stop = false;
    }
    if (!session_follows(process, program ? program->name : out->command[0])) {
        leave_out(out);
        return C2_OK;
    }
    session_process_followed(process);
    return program ? rename_files(out, mark, &process->texts, err) : C2_OK;
}

/* ------------------------------------------------------------------ the list of programs */

enum c2_status session_run_list_create(struct session_run_list **out, struct c2_error *err)
{
    void *at = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *out = at == MAP_FAILED ? NULL : at;
    return *out ? C2_OK : c2_fail(err, C2_ERR_NO_MEMORY, "the list of processes: %s", strerror(errno));
}

void session_run_list_destroy(struct session_run_list *run_list)
{
    if (run_list)
        munmap(run_list, sizeof *run_list);
}

static void processes_put_text(char out[BOARD_TEXT], const char *text) { snprintf(out, BOARD_TEXT, "%s", text); }

/* What the same finding costs in the programs of this name that have ended; and whether one of them has its words. */
static uint64_t cost_so_far(const struct session_run_list *run_list, const char *name, const struct report_found *of,
                            bool *has_words)
{
    uint64_t cost = 0;
    for (uint32_t i = 0; i < run_list->count && i < BOARD_ROWS; i++) {
        const struct run_list_row *row = &run_list->rows[i];
        for (uint32_t k = 0; k < row->is.found_count; k++) {
            if (!report_is_same_finding(&row->is.found[k], row->name, of, name))
                continue;
            cost += row->is.found[k].cost;
            *has_words = *has_words || row->found[k][0];
        }
    }
    return cost;
}

static struct report_found found_of(const struct report_program *program, const struct finding *from)
{
    struct report_found found = {
        .cost = from->cost, .gain = from->gain, .pattern = (uint32_t)from->pattern, .pc = from->pc};
    for (uint32_t k = 0; k < program->found_count; k++)
        found.nth += program->found[k].pattern == found.pattern && program->found[k].pc.v == found.pc.v;
    return found;
}

/* The first ones, but for its start. Of those that are one the first that makes them costly enough has the words. What
 * the list will not have, as it is too small a part of what the programs have cost by now, needs none: for those a
 * library's debug file may have to be unpacked. */
static void processes_add_found(const struct session_run_list *run_list, struct run_list_row *row,
                                const struct report_run *run)
{
    const struct findings *findings = run->findings;
    for (uint32_t i = 0; findings && i < findings->count && row->is.found_count < REPORT_FOUND; i++) {
        bool has_words = false;
        if (findings->list[i].pattern == FINDINGS_STARTUP)
            continue;
        const struct report_found found = found_of(&row->is, &findings->list[i]);
        const uint64_t cost = cost_so_far(run_list, row->name, &found, &has_words) + found.cost;
        if (!has_words && report_is_listed(cost, run_list->cost))
            report_finding_text(row->found[row->is.found_count], BOARD_FOUND, run, i);
        row->is.found[row->is.found_count++] = found;
    }
}

void session_run_list_add(const struct session_process *process, const struct report_run *run, bool reported)
{
    char mark[SESSION_MARK_BYTES];
    struct session_run_list *run_list = process->run_list;
    const uint32_t number = run_list->count++;
    if (number >= BOARD_ROWS)
        return;
    struct run_list_row *row = &run_list->rows[number];
    row->is = (struct report_program){.pid = process->pid,
                                      .parent = process->parent,
                                      .number = process->programs,
                                      .instructions = run->instructions,
                                      .followed = run->simulated};
    snprintf(row->name, sizeof row->name, "%s", run->command[0]);
    if (run->simulated) {
        row->is.first_misses = run->sim.levels[0]->misses;
        row->is.last_misses = run->sim.levels[run->sim.machine->level_count - 1]->misses;
        row->is.cost = report_cost(run);
        run_list->cost += row->is.cost;
        processes_add_found(run_list, row, run);
    }
    mark_of(mark, process);
    if (reported)
        snprintf(row->report, sizeof row->report, "report%s.json", mark);
    snprintf(row->ending, sizeof row->ending, "exit status %d", run->exit_status);
    if (run->ending)
        processes_put_text(row->ending, run->ending);
}

static int by_process(const void *a, const void *b)
{
    const struct report_program *one = a, *other = b;
    const uint64_t left = (uint64_t)one->pid << 32 | one->number, right = (uint64_t)other->pid << 32 | other->number;
    return (left > right) - (left < right);
}

static enum c2_status write_list(const struct report *list, const char *directory, struct c2_error *err)
{
    struct c2_outfile *file;
    enum c2_status status = session_outputs_open_in(&file, directory, "programs.json", err);
    if (status != C2_OK)
        return status;
    status = report_json(c2_outfile_stream(file), list, err);
    if (status == C2_OK || status == C2_ERR_IO)
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return status;
}

static enum c2_status processes_show_list(const struct session_process *process, const struct report_program *list_of,
                                          size_t count, struct c2_error *err)
{
    struct report *list;
    const struct session_options *options = process->options;
    const char *directory = options->points.find ? NULL : options->output_dir;
    struct report_programs programs = {
        .list = list_of, .count = count, .command = options->command, .full = options->full};
    enum c2_status status = C2_OK;
    if (process->receipt && directory)
        status = session_receipt_finish(&programs.receipt, process->receipt, process->kernel, err);
    if (status == C2_OK)
        status = report_create_programs(&list, &programs,
                                        (options->quiet ? 0 : REPORT_TEXT) | (directory ? REPORT_JSON : 0), err);
    if (status != C2_OK)
        return status;
    if (status == C2_OK && !options->quiet) {
        fputc('\n', stderr);
        session_show_report(list, options);
    }
    if (status == C2_OK && directory)
        status = write_list(list, directory, err);
    report_destroy(list);
    return status;
}

enum c2_status session_run_list_write(const struct session_process *process, struct c2_error *err)
{
    const struct session_run_list *run_list = process->run_list;
    if (run_list->followed == 0)
        return c2_fail(err, C2_ERR_NOT_FOUND, "--follow %s: no program of this name was run", process->options->follow);
    const uint32_t count = run_list->count < BOARD_ROWS ? run_list->count : BOARD_ROWS;
    if (count < 2)
        return C2_OK;
    struct report_program *programs = c2_calloc(count, sizeof *programs);
    if (!programs)
        return c2_fail_memory(err, "the list of processes");
    for (uint32_t i = 0; i < count; i++) {
        programs[i] = run_list->rows[i].is;
        programs[i].name = run_list->rows[i].name;
        programs[i].ending = run_list->rows[i].ending;
        programs[i].report = run_list->rows[i].report[0] ? run_list->rows[i].report : NULL;
        for (uint32_t k = 0; k < programs[i].found_count; k++)
            programs[i].found[k].text = run_list->rows[i].found[k];
    }
    qsort(programs, count, sizeof *programs, by_process);
    if (run_list->count > count)
        fprintf(stderr, "c2emu: %u programs have run; the list has the first %u that ended\n", run_list->count, count);
    enum c2_status status = processes_show_list(process, programs, count, err);
    c2_free(programs);
    return status;
}

/* ------------------------------------------------------------------ processes */

enum c2_status session_process_create(struct session_process *process, struct c2_error *err)
{
    enum c2_status status = session_run_list_create(&process->run_list, err);
    return status == C2_OK ? emu_turns_create(&process->turns, process->pid, err) : status;
}

void session_process_release(struct session_process *process)
{
    session_receipt_destroy(process->receipt);
    emu_engine_destroy(process->engine);
    loader_symbols_destroy(process->symbols);
    loader_symbols_destroy(process->lane_symbols);
    syscalls_destroy(process->kernel);
    emu_turns_destroy(process->turns);
    session_run_list_destroy(process->run_list);
    c2_pool_release(&process->texts);
}

bool session_process_has_relatives(const struct session_process *process) { return process->run_list->forked; }

/* What keeps or measures a part of a stream from its beginning on cannot begin amid it. */
static const char *kept_from_beginning(const struct session_options *options)
{
    return options->record                              ? "--record"
           : options->advise                            ? "advise"
           : options->explain                           ? "explain"
           : options->restored                          ? "restore"
           : options->checkpoint                        ? "--checkpoint"
           : options->points.find                       ? "points"
           : session_regions_asked(&options->regions)   ? "a region (--roi, --from ...)"
           : session_sampling_asked(&options->sampling) ? "sampling (--skip, --period ...)"
                                                        : NULL;
}

bool session_process_follows_child(const struct session_process *process, const struct session_options *options)
{
    return !processes_is_word(process->options->follow, "first") && !kept_from_beginning(options);
}

void session_process_not_followed(const struct session_process *process, const struct session_options *options)
{
    const char *what = kept_from_beginning(options);
    if (!what || processes_is_word(process->options->follow, "first") || process->run_list->told)
        return;
    process->run_list->told = true;
    fprintf(stderr,
            "c2emu: process %u was a copy of its parent to its end, and is in no report: %s begins with a program\n",
            process->pid, what);
}

struct naming {
    const char *old, *mark;
    bool wanted, failed;
    struct c2_pool *texts;
};

static const char *processes_child_name(void *self, const char *path)
{
    struct naming *naming = self;
    struct c2_error err;
    const char *name = naming->wanted ? path : NULL;
    naming->failed |= rename_file(&name, naming->old, naming->mark, naming->texts, &err) != C2_OK;
    return name;
}

enum c2_status session_process_become(struct session_process *process, uint32_t pid, bool followed,
                                      struct c2_error *err)
{
    char old[SESSION_MARK_BYTES], mark[SESSION_MARK_BYTES];
    mark_of(old, process);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    process->parent = process->pid;
    process->pid = pid;
    process->programs = 1;
    process->forked = process->run_list->forked = true;
    mark_of(mark, process);
    struct naming naming = {.old = old, .mark = mark, .wanted = followed, .texts = &process->texts};
    enum c2_status status = c2_outfiles_rename(processes_child_name, &naming, err);
    if (status == C2_OK && naming.failed)
        status = c2_fail_memory(err, "the name of a file");
    if (status == C2_OK && followed)
        session_process_followed(process);
    return status;
}

void session_process_ended(struct session_process *process, const struct emu_end *end, int interrupting_signal,
                           uint64_t instructions)
{
    process->ran = true;
    process->failed = end->kind == EMU_FAILED || session_is_cut(end) || end->kind == EMU_ABANDONED;
    process->interrupted_by = end->kind == EMU_INTERRUPTED ? interrupting_signal : 0;
    process->ending = end->kind == EMU_KILLED ? end->signal : session_exit_status(end, interrupting_signal) << 8;
    process->instructions = instructions;
}

/* Those of the host: a process stays until its children have ended, so that all end when the first one is killed. */
static void wait_for_children(void)
{
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
}

int session_process_end(struct session_process *process, int status)
{
    if (!process->ran)
        return status;
    if (process->failed)
        emu_turns_fail(process->turns);
    else
        emu_turns_leave(process->turns, syscalls_end(process->kernel, process->ending, process->instructions));
    if (process->interrupted_by)
        emu_turns_signal(process->turns, process->interrupted_by);
    wait_for_children();
    return emu_turns_failed(process->turns) ? SESSION_EXIT_FAILED : status;
}
