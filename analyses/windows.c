/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * windows: all counts, every N instructions.
 *
 * Model
 *   A window is an interval of the simulator (sim/interval.c): N instructions in a row of a phase that is measured,
 *   exact to the instruction. It ends with its phase, so the last of each may be shorter; what is not measured is in
 *   none. A window's place is the number of its phase among those that are measured, and how many instructions were
 *   measured before it.
 *   The first of them are kept for the report; in the file are all of them, a line each, written as they come.
 *   With "auto" a window begins with AUTO_LENGTH instructions. Where there are AUTO_MOST of them, neighbours of one
 *   phase are added up, and windows are twice as long from then on: so a run has between half of that number and all of
 *   it, however long it is, but for runs of many phases, which have one for each at least.
 *
 * Counting
 *   A miss is in the window of the instruction that makes it. The windows add up to the counts of the run (asserted in
 *   sim/interval.c). What the program asks to be dropped, their windows are too, in the file as well.
 *
 * Price
 *   1.5 KB for each window that is kept, and a temporary file where one is written.
 */
#include "analyses/windows.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define AUTO_LENGTH 1000u
#define AUTO_MOST 400u
#define AUTO_LISTED 10000u /* of runs with as many phases: the first of them */

struct windows {
    struct analysis base;
    const struct caches_machine *machine;
    struct analyses_windows_result result;
    struct analyses_window *list;
    uint32_t listed, room;
    uint64_t phase, measured; /* of the window that is counted now: as in it */
    bool in_phase;            /* something of the phase has been measured */
    bool automatic, full;     /* "auto"; full: the last window has not been listed, for want of room */
    uint64_t span, in_last;   /* of "auto": intervals in a window, and in the last one so far; */
    uint64_t last_phase;      /* its phase, */
    uint32_t most;            /* and how many windows there may be before they are added up */
    struct c2_outfile *file;  /* NULL: none is wanted */
    FILE *lines;              /* what it will have */
};

/* ------------------------------------------------------------------ the file */

static void head_level(FILE *to, const struct caches_machine *machine, const char *name)
{
#define X(field, help) fprintf(to, ",%s." #field, name);
    CACHES_COUNTERS(X)
    if (caches_machine_writes_on(machine)) {
        CACHES_STORE_COUNTERS(X)
    }
#undef X
}

static void windows_write_head(FILE *to, const struct caches_machine *machine)
{
    fputs("window,phase,start", to);
#define X(field, help) fputs("," #field, to);
    SIM_COUNTERS(X)
#undef X
    for (uint32_t i = 0; i < machine->level_count; i++) {
        head_level(to, machine, machine->levels[i].name);
        if (i == 0 && machine->has_l1i)
            head_level(to, machine, machine->l1i.name);
    }
    for (uint32_t i = 0; i < machine->tlb_count; i++)
        fprintf(to, ",%s.accesses,%s.misses", machine->tlbs[i].name, machine->tlbs[i].name);
    if (machine->tlb_count != 0)
        fputs(",walks.count,walks.reads", to);
    for (uint32_t i = machine->walks_from; machine->walks_cached && i <= machine->level_count; i++)
        fprintf(to, ",walks.%s", i < machine->level_count ? machine->levels[i].name : "memory");
    fputc('\n', to);
}

static void windows_write_level(FILE *to, const struct caches_machine *machine, const struct caches_counts *n)
{
#define X(field, help) fprintf(to, ",%" PRIu64, n->field);
    CACHES_COUNTERS(X)
    if (caches_machine_writes_on(machine)) {
        CACHES_STORE_COUNTERS(X)
    }
#undef X
}

static void windows_write_line(FILE *to, const struct caches_machine *machine, uint64_t number,
                               const struct analyses_window *window)
{
    const struct sim_totals *of = &window->of;
    fprintf(to, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, number, window->phase, window->start);
#define X(field, help) fprintf(to, ",%" PRIu64, of->counts.field);
    SIM_COUNTERS(X)
#undef X
    for (uint32_t i = 0; i < machine->level_count; i++) {
        windows_write_level(to, machine, &of->levels[i]);
        if (i == 0 && machine->has_l1i)
            windows_write_level(to, machine, &of->l1i);
    }
    for (uint32_t i = 0; i < machine->tlb_count; i++)
        fprintf(to, ",%" PRIu64 ",%" PRIu64, of->tlbs[i].accesses, of->tlbs[i].misses);
    if (machine->tlb_count != 0)
        fprintf(to, ",%" PRIu64 ",%" PRIu64, of->walks.count, of->walks.reads);
    for (uint32_t i = machine->walks_from; machine->walks_cached && i <= machine->level_count; i++)
        fprintf(to, ",%" PRIu64, of->walk_reads[i]);
    fputc('\n', to);
}

static enum c2_status fail_lines(struct c2_error *err)
{
    return c2_fail(err, C2_ERR_IO, "cannot write the windows to a temporary file (TMPDIR names another directory)");
}

static enum c2_status windows_open_file(struct windows *windows, const char *path, struct c2_error *err)
{
    if (!path)
        return C2_OK;
    enum c2_status status = c2_outfile_open(&windows->file, path, err);
    return status == C2_OK ? stream_temporary(&windows->lines, err) : status;
}

static enum c2_status windows_commit(struct analysis *analysis, struct c2_error *err)
{
    struct windows *windows = (struct windows *)analysis;
    struct c2_outfile *file = windows->file;
    char buffer[4096];
    if (!file)
        return C2_OK;
    windows->file = NULL; /* gone either way */
    windows_write_head(c2_outfile_stream(file), windows->machine);
    rewind(windows->lines);
    for (size_t bytes; (bytes = fread(buffer, 1, sizeof buffer, windows->lines)) != 0;)
        fwrite(buffer, 1, bytes, c2_outfile_stream(file));
    if (!ferror(windows->lines))
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return fail_lines(err);
}

/* ------------------------------------------------------------------ life */

static void windows_destroy(struct analysis *analysis)
{
    struct windows *windows = (struct windows *)analysis;
    c2_outfile_abandon(windows->file);
    if (windows->lines)
        fclose(windows->lines);
    c2_free(windows->list);
    c2_free(windows);
}

static void begin_automatic(struct windows *windows)
{
    windows->span = 1;
    windows->in_last = windows->last_phase = 0;
    windows->most = AUTO_MOST;
    windows->full = false;
}

static enum c2_status read_length(struct windows *windows, const struct analyses_setup *setup, struct c2_error *err)
{
    const char *word = setup->given[ANALYSIS_windows];
    windows->automatic = strcmp(word, "auto") == 0;
    if (!windows->automatic)
        return c2_parse_count(&windows->result.length, word, "--windows", 1, err);
    if (analyses_setting(setup, ANALYSES_SETTING_windows_csv))
        return c2_fail(err, C2_ERR_INVALID,
                       "--windows-csv writes windows as they end, and those of --windows auto are added up later; give "
                       "--windows N");
    windows->result.length = AUTO_LENGTH;
    begin_automatic(windows);
    return C2_OK;
}

static enum c2_status windows_create(struct analysis **out, const struct analyses_setup *setup,
                                     const struct analyses *analyses, struct c2_error *err)
{
    struct windows *windows = c2_calloc(1, sizeof *windows);
    (void)analyses;
    if (!windows)
        return c2_fail_memory(err, "the windows of the run");
    windows->base.kind = &analysis_windows;
    windows->machine = setup->machine;
    windows->phase = 1;
    enum c2_status status = read_length(windows, setup, err);
    if (status == C2_OK)
        status = windows_open_file(windows, analyses_setting(setup, ANALYSES_SETTING_windows_csv), err);
    if (status == C2_OK)
        *out = &windows->base;
    else
        windows_destroy(&windows->base);
    return status;
}

/* ------------------------------------------------------------------ windows */

static enum c2_status windows_list(struct windows *windows, const struct analyses_window *window, uint32_t most,
                                   struct c2_error *err)
{
    if (windows->listed >= most)
        return C2_OK;
    if (!c2_grow((void **)&windows->list, &windows->room, windows->listed, sizeof *windows->list))
        return c2_fail_memory(err, "the windows of the run");
    windows->list[windows->listed++] = *window;
    return C2_OK;
}

/* Two of one phase become one. Of a phase only the last window may be shorter than span. */
static void analyses_windows_add_up(struct windows *windows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, next; i < windows->listed; i = next) {
        struct analyses_window *to = &windows->list[kept++];
        next = i + 1;
        *to = windows->list[i];
        if (next < windows->listed && windows->list[next].phase == to->phase) {
            sim_totals_add(&to->of, &windows->list[next++].of);
            windows->in_last += next == windows->listed ? windows->span : 0;
        }
    }
    windows->listed = kept;
    windows->span *= 2;
    if (kept > windows->most / 4 * 3)
        windows->most = 2 * windows->most < AUTO_LISTED ? 2 * windows->most : AUTO_LISTED + 1; /* no more of this */
}

static bool windows_goes_on(const struct windows *windows, const struct analyses_window *window)
{
    return windows->in_last != 0 && windows->in_last < windows->span && windows->last_phase == window->phase;
}

/* Goes on with the last window, or begins one. */
static enum c2_status list_automatic(struct windows *windows, const struct analyses_window *window,
                                     struct c2_error *err)
{
    if (!windows_goes_on(windows, window) && windows->listed == windows->most && !windows->full)
        analyses_windows_add_up(windows);
    if (windows_goes_on(windows, window)) {
        windows->in_last++;
        if (!windows->full)
            sim_totals_add(&windows->list[windows->listed - 1].of, &window->of);
        return C2_OK;
    }
    windows->in_last = 1;
    windows->last_phase = window->phase;
    windows->full = windows->listed >= AUTO_LISTED;
    windows->result.count = windows->full ? windows->result.count + 1 : windows->listed + 1u;
    return windows_list(windows, window, AUTO_LISTED, err);
}

static enum c2_status windows_interval(void *self, const struct sim_interval *interval, struct c2_error *err)
{
    struct windows *windows = self;
    const struct analyses_window window = {windows->phase, windows->measured, interval->of};
    const uint64_t instructions = interval->of.counts.instructions;
    windows->measured += instructions;
    windows->in_phase |= instructions != 0;
    if (windows->automatic)
        return list_automatic(windows, &window, err);
    windows->result.count++;
    if (windows->lines)
        windows_write_line(windows->lines, windows->machine, windows->result.count, &window);
    if (windows->lines && ferror(windows->lines))
        return fail_lines(err);
    return windows_list(windows, &window, ANALYSES_WINDOWS_LISTED, err);
}

static enum c2_status phase_ended(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct windows *windows = self;
    (void)window, (void)err;
    windows->phase += windows->in_phase;
    windows->in_phase = false;
    return C2_OK;
}

static enum c2_status windows_dropped(void *self, struct c2_error *err)
{
    struct windows *windows = self;
    windows->result.count = windows->measured = windows->listed = 0;
    windows->phase = 1;
    windows->in_phase = false;
    begin_automatic(windows);
    if (!windows->lines)
        return C2_OK;
    rewind(windows->lines);
    return ftruncate(fileno(windows->lines), 0) == 0 ? C2_OK : fail_lines(err);
}

static enum c2_status windows_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct windows *windows = self;
    (void)err;
    C2_ASSERT(windows->measured == sim_measured(sim)->counts.instructions);
    if (windows->automatic)
        windows->result.length = AUTO_LENGTH * windows->span;
    windows->result.listed = windows->listed;
    windows->result.list = windows->list;
    return C2_OK;
}

static struct sim_subscriber windows_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .interval_instructions = ((struct windows *)analysis)->result.length,
                                   .interval = windows_interval,
                                   .window = phase_ended,
                                   .dropped = windows_dropped,
                                   .finish = windows_finish};
}

static const void *windows_result(const struct analysis *analysis)
{
    return &((const struct windows *)analysis)->result;
}

const struct analysis_kind analysis_windows = {.chapter = &analyses_windows_chapter,
                                               .create = windows_create,
                                               .subscriber = windows_subscriber,
                                               .result = windows_result,
                                               .commit = windows_commit,
                                               .destroy = windows_destroy};
