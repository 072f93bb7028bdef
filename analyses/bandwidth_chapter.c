/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth_chapter: what moves on the paths between the levels, and which of them limits the run.
 *
 * Model
 *   The text has the finding, a row for each path and the functions that take longest; the JSON all flows of the run,
 *   of functions, of lines and (--by loop) of loops. Rates are amounts by instruction, cycles those of the analysis's
 *   model. On a machine without limits there are no cycles, and nothing that follows from them.
 *   Where the use of lines is known as well (--line-use), it says how much of what was read on a path the level above
 *   it has used; but of an exclusive level, which is filled from above.
 */
#include "analyses/chapter.h"
#include "analyses/bandwidth.h"
#include "analyses/line_use.h"

#define LISTED 50u /* of functions, lines and loops in the JSON, */
#define THREADS 8u
#define SHOWN 2u /* and in the text */

/* ------------------------------------------------------------------ figures */

static double by(uint64_t amount, uint64_t units) { return units != 0 ? (double)amount / (double)units : 0; }

static double slowdown(const struct bandwidth_windows *windows)
{
    return windows->peak_cycles > 0 ? windows->cycles / windows->peak_cycles : 1;
}

static const char *bandwidth_chapter_direction(const struct bandwidth_flow *flow)
{
    return flow->writes ? "written" : "read";
}

/* "L3-memory read"; "FLOPs"; NULL: none. */
static const char *flow_name(struct document *d, const struct analyses_bandwidth_result *result, uint32_t flow)
{
    if (flow == result->flow_count)
        return NULL;
    const struct bandwidth_flow *of = &result->flows[flow];
    return of->computes ? of->path : doc_keep(d, "%s %s", of->path, bandwidth_chapter_direction(of));
}

/* Of the bytes that this flow has moved, those that were used where they came to; false: not known. */
static bool used_bytes(const struct analyses_run *run, uint32_t flow, uint64_t *used)
{
    const struct analyses_bandwidth_result *result = run->found[ANALYSIS_bandwidth];
    const struct analyses_line_use_result *use = run->found[ANALYSIS_line_use];
    const uint32_t path = flow / 2, levels = run->machine->level_count;
    *used = 0;
    if (!use || result->flows[flow].computes || result->flows[flow].writes || path == 0 ||
        run->machine->levels[path - 1].inclusion == CACHES_EXCLUSIVE)
        return false;
    uint64_t loads = use->levels[path - 1].of.loads;
    *used = use->levels[path - 1].of.used_bytes;
    if (path == 1 && run->machine->has_l1i) {
        loads += use->levels[levels].of.loads;
        *used += use->levels[levels].of.used_bytes;
    }
    C2_ASSERT(loads * use->line_bytes == result->all.flow[flow].amount);
    return true;
}

/* ------------------------------------------------------------------ JSON */

static void bandwidth_chapter_add_flow(struct document *d, const struct analyses_run *run,
                                       const struct bandwidth_windows *windows, uint32_t i)
{
    const struct analyses_bandwidth_result *result = run->found[ANALYSIS_bandwidth];
    uint64_t used;
    const struct bandwidth_flow *flow = &result->flows[i];
    const struct bandwidth_moved *moved = &windows->flow[i];
    const uint64_t flops = windows->flow[result->flow_count - 1].amount;
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "path", flow->path);
    if (!flow->computes)
        doc_string(d, DOC_JSON, "direction", bandwidth_chapter_direction(flow));
    if (flow->limit != 0 && windows == &result->all)
        doc_decimal(d, DOC_JSON, "limit", flow->limit / 1000.0);
    doc_count(d, DOC_JSON, flow->computes ? "operations" : "bytes", moved->amount);
    if (windows == &result->all && used_bytes(run, i, &used))
        doc_count(d, DOC_JSON, "used_bytes", used);
    doc_decimal(d, DOC_JSON, "per_instruction", by(moved->amount, windows->instructions));
    doc_decimal(d, DOC_JSON, "least", moved->least);
    doc_decimal(d, DOC_JSON, "most", moved->most);
    if (flops != 0 && !flow->computes)
        doc_decimal(d, DOC_JSON, "per_flop", by(moved->amount, flops));
    if (flow->limit != 0) {
        doc_decimal(d, DOC_JSON, "lost_cycles", moved->lost);
        doc_count(d, DOC_JSON, "dominated", moved->dominated);
        doc_count(d, DOC_JSON, "dominated_instructions", moved->instructions);
        doc_decimal(d, DOC_JSON, "dominated_lost_cycles", moved->lost_dominated);
    }
    doc_close(d);
}

static void add_windows(struct document *d, const struct analyses_run *run, const struct bandwidth_windows *windows)
{
    const struct analyses_bandwidth_result *result = run->found[ANALYSIS_bandwidth];
    doc_count(d, DOC_JSON, "windows", windows->windows);
    doc_count(d, DOC_JSON, "instructions", windows->instructions);
    if (result->limited) {
        doc_decimal(d, DOC_JSON, "peak_cycles", windows->peak_cycles);
        doc_decimal(d, DOC_JSON, "cycles", windows->cycles);
        doc_decimal(d, DOC_JSON, "slowdown", slowdown(windows));
        doc_string(d, DOC_JSON, "dominant", flow_name(d, result, bandwidth_main(result, windows)));
    }
    doc_table(d, DOC_JSON, "flows");
    for (uint32_t i = 0; i < result->flow_count; i++)
        if (windows == &result->all || windows->flow[i].amount != 0)
            bandwidth_chapter_add_flow(d, run, windows, i);
    doc_close(d);
}

static void bandwidth_chapter_add_rest(struct document *d, const struct analyses_bandwidth_result *result,
                                       const struct bandwidth_places *places)
{
    struct bandwidth_windows rest = {0};
    for (size_t i = LISTED; i < places->count; i++) {
        rest.windows += places->list[i].windows.windows;
        rest.instructions += places->list[i].windows.instructions;
        rest.cycles += places->list[i].windows.cycles;
    }
    if (places->count <= LISTED)
        return;
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "rest", places->count - LISTED);
    doc_count(d, DOC_JSON, "windows", rest.windows);
    doc_count(d, DOC_JSON, "instructions", rest.instructions);
    if (result->limited)
        doc_decimal(d, DOC_JSON, "cycles", rest.cycles);
    doc_close(d);
}

static void bandwidth_chapter_name_function(struct document *d, const struct analyses_run *run,
                                            const struct bandwidth_place *of)
{
    (void)run;
    doc_string(d, DOC_JSON, "module", of->place.object);
    doc_string(d, DOC_JSON, "function", of->place.function);
}

static void bandwidth_chapter_name_line(struct document *d, const struct analyses_run *run,
                                        const struct bandwidth_place *of)
{
    (void)run;
    chapter_add_address(d, "pc", of->pc.v);
    chapter_add_place(d, &of->place);
}

static void bandwidth_chapter_name_loop(struct document *d, const struct analyses_run *run,
                                        const struct bandwidth_place *of)
{
    struct loader_place place;
    if (of->loop)
        names_loop_place(&place, run, of->loop);
    chapter_add_loop_name(d, &place, of->loop);
}

static void bandwidth_chapter_add_places(struct document *d, const char *key, const struct analyses_run *run,
                                         const struct bandwidth_places *places,
                                         void (*name)(struct document *, const struct analyses_run *,
                                                      const struct bandwidth_place *))
{
    const struct analyses_bandwidth_result *result = run->found[ANALYSIS_bandwidth];
    doc_table(d, DOC_JSON, key);
    for (size_t i = 0; i < places->count && i < LISTED; i++) {
        doc_group(d, DOC_JSON, NULL);
        name(d, run, &places->list[i]);
        add_windows(d, run, &places->list[i].windows);
        doc_close(d);
    }
    bandwidth_chapter_add_rest(d, result, places);
    doc_close(d);
}

static void bandwidth_chapter_add_threads(struct document *d, const struct analyses_run *run,
                                          const struct analyses_bandwidth_result *result)
{
    doc_table(d, DOC_JSON, "threads");
    for (uint32_t i = 0; i < result->thread_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "thread", result->threads[i].tid);
        add_windows(d, run, &result->threads[i].windows);
        doc_close(d);
    }
    doc_close(d);
}

/* What all cores ask of the paths that they share, at one time. */
static void add_core_shares(struct document *d, const struct bandwidth_together *together, uint32_t flow)
{
    doc_table(d, DOC_JSON, "cores");
    for (uint32_t core = 0; core < together->core_count; core++) {
        const struct bandwidth_of_core *of = &together->of_core[(size_t)flow * together->core_count + core];
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "core", core);
        doc_count(d, DOC_JSON, "bytes", of->amount);
        doc_decimal(d, DOC_JSON, "contended_bytes", of->contended);
        doc_close(d);
    }
    doc_close(d);
}

static double lost_together(const struct bandwidth_together *together)
{
    double lost = 0;
    for (uint32_t i = 0; i < BANDWIDTH_FLOWS; i++)
        lost += together->flow[i].lost;
    return lost;
}

static void add_together(struct document *d, const struct analyses_bandwidth_result *result)
{
    const struct bandwidth_together *together = result->together;
    doc_group(d, DOC_JSON, "together");
    doc_count(d, DOC_JSON, "rounds", together->rounds);
    doc_count(d, DOC_JSON, "parallel_rounds", together->parallel);
    doc_decimal(d, DOC_JSON, "cycles", together->alone);
    doc_decimal(d, DOC_JSON, "contended_cycles", together->alone + lost_together(together));
    doc_table(d, DOC_JSON, "flows");
    for (uint32_t i = 0; i < result->flow_count; i++) {
        const struct bandwidth_contended *of = &together->flow[i];
        if (!of->shared)
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "path", result->flows[i].path);
        doc_string(d, DOC_JSON, "direction", bandwidth_chapter_direction(&result->flows[i]));
        doc_decimal(d, DOC_JSON, "most", of->most);
        doc_decimal(d, DOC_JSON, "dominated_cycles", of->cycles);
        doc_decimal(d, DOC_JSON, "lost_cycles", of->lost);
        add_core_shares(d, together, i);
        doc_close(d);
    }
    doc_close(d);
    doc_close(d);
}

static void bandwidth_chapter_add_json(struct document *d, const struct analyses_run *run,
                                       const struct analyses_bandwidth_result *result)
{
    doc_group(d, DOC_JSON, "bandwidth");
    doc_count(d, DOC_JSON, "window", result->window);
    if (result->limited && run->machine->clock_mhz != 0)
        doc_decimal(d, DOC_JSON, "seconds", result->all.cycles / (run->machine->clock_mhz * 1e6));
    add_windows(d, run, &result->all);
    bandwidth_chapter_add_places(d, "functions", run, &result->functions, bandwidth_chapter_name_function);
    bandwidth_chapter_add_places(d, "lines", run, &result->lines, bandwidth_chapter_name_line);
    if (result->loops.list)
        bandwidth_chapter_add_places(d, "loops", run, &result->loops, bandwidth_chapter_name_loop);
    if (result->thread_count > 1)
        bandwidth_chapter_add_threads(d, run, result);
    if (result->together)
        add_together(d, result);
    doc_close(d);
}

/* ------------------------------------------------------------------ text */

static void bandwidth_chapter_note_finding(struct document *d, const struct analyses_run *run,
                                           const struct analyses_bandwidth_result *result)
{
    const struct bandwidth_windows *all = &result->all;
    const uint32_t most = bandwidth_main(result, all);
    const char *windows = doc_keep(d, "%s windows of %s instructions", doc_digits(d, all->windows),
                                   doc_digits(d, result->window));
    if (!result->limited)
        doc_note(d, DOC_KEY, "bandwidth", "%s; the machine file says no limits to compare with", windows);
    else if (most == result->flow_count)
        doc_note(d, DOC_KEY, "bandwidth", "no path limits any of %s", windows);
    else
        doc_note(d, DOC_KEY, "bandwidth", "%s limits %s of %s: at least %.2f times slower than without limits",
                 flow_name(d, result, most), doc_share(d, all->flow[most].dominated, all->windows), windows,
                 slowdown(all));
    if (result->limited && run->machine->clock_mhz != 0)
        doc_say(d, "; %.3f ms", all->cycles / (run->machine->clock_mhz * 1e3));
}

static void show_flow(struct document *d, const struct analyses_bandwidth_result *result, uint32_t i,
                      const char *amount, const char *rate)
{
    const struct bandwidth_moved *moved = &result->all.flow[i];
    doc_count(d, DOC_TEXT, amount, moved->amount);
    doc_words(d, DOC_TEXT, rate, "%.3f", by(moved->amount, result->all.instructions));
}

/* What one or both ways of a path have lost, and how many windows they limit. */
static void show_limits(struct document *d, const struct analyses_bandwidth_result *result, uint32_t first,
                        uint32_t end)
{
    const struct bandwidth_windows *all = &result->all;
    uint64_t dominated = 0;
    double lost = 0;
    for (uint32_t i = first; i < end; i++) {
        dominated += all->flow[i].dominated;
        lost += all->flow[i].lost_dominated;
    }
    doc_count(d, DOC_TEXT, "dominated", dominated);
    doc_count(d, DOC_TEXT, "windows", all->windows);
    doc_words(d, DOC_TEXT, "lost", "%.1f %%", all->cycles > 0 ? 100 * lost / all->cycles : 0);
}

static void show_row(struct document *d, const struct analyses_run *run, uint32_t first, uint32_t end)
{
    const struct analyses_bandwidth_result *result = run->found[ANALYSIS_bandwidth];
    uint64_t used;
    doc_group(d, DOC_TEXT, NULL);
    doc_string(d, DOC_TEXT, "path", result->flows[first].path);
    show_flow(d, result, first, "read", "read rate");
    if (end - first == 2)
        show_flow(d, result, first + 1, "written", "written rate");
    if (used_bytes(run, first, &used))
        doc_string(d, DOC_TEXT, "used", doc_share(d, used, result->all.flow[first].amount));
    if (result->limited)
        show_limits(d, result, first, end);
    doc_close(d);
}

static void bandwidth_chapter_add_columns(struct document *d, bool limited, bool used)
{
    static const struct doc_column all[] = {{.heading = "path", .key = "path", .form = DOC_LEFT},
                                            {.heading = "read", .key = "read"},
                                            {.heading = "by insn", .key = "read rate"},
                                            {.heading = "used", .key = "used"},
                                            {.heading = "written", .key = "written"},
                                            {.heading = "by insn", .key = "written rate"},
                                            {.heading = "limits", .key = "dominated", .of = "windows", .spare = 1},
                                            {.heading = "of the time", .key = "lost"}};
    enum { COLUMNS = sizeof all / sizeof all[0], USED = 3, LIMITS = 2 };
    struct doc_column columns[COLUMNS];
    size_t count = 0;
    for (size_t i = 0; i < COLUMNS - (limited ? 0 : LIMITS); i++)
        if (i != USED || used)
            columns[count++] = all[i];
    doc_columns(d, columns, count, 0);
}

static void show_paths(struct document *d, const struct analyses_run *run)
{
    const struct analyses_bandwidth_result *result = run->found[ANALYSIS_bandwidth];
    doc_table(d, DOC_TEXT, NULL);
    bandwidth_chapter_add_columns(d, result->limited, run->found[ANALYSIS_line_use]);
    const uint32_t flops = result->flow_count - 1;
    for (uint32_t i = 0; i < flops; i += 2)
        show_row(d, run, i, i + 2);
    if (result->all.flow[flops].amount != 0)
        show_row(d, run, flops, flops + 1);
    doc_close(d);
}

static void show_windows(struct document *d, const struct analyses_bandwidth_result *result, const char *name,
                         const struct bandwidth_windows *windows)
{
    const uint32_t most = bandwidth_main(result, windows);
    doc_note(d, DOC_ITEM, NULL, "%s: %.1f %% of the time, %.2f times slower", name,
             100 * windows->cycles / result->all.cycles, slowdown(windows));
    if (most != result->flow_count)
        doc_say(d, "; %s %.3f by insn (%.3f to %.3f)", flow_name(d, result, most),
                by(windows->flow[most].amount, windows->instructions), windows->flow[most].least,
                windows->flow[most].most);
}

static void show_function(struct document *d, const struct analyses_bandwidth_result *result,
                          const struct bandwidth_place *place)
{
    char text[512];
    const char *name = place->place.function ? place->place.function
                                             : loader_place_text(text, sizeof text, place->pc, &place->place);
    show_windows(d, result, name, &place->windows);
}

/* The flow that costs most where cores run at one time; flow_count: none. */
static uint32_t most_contended(const struct analyses_bandwidth_result *result)
{
    uint32_t most = result->flow_count;
    double lost = 0;
    for (uint32_t i = 0; i + 1 < result->flow_count; i++)
        if (result->together->flow[i].lost > lost) {
            lost = result->together->flow[i].lost;
            most = i;
        }
    return most;
}

static void show_together(struct document *d, const struct analyses_bandwidth_result *result)
{
    const struct bandwidth_together *together = result->together;
    const uint32_t most = most_contended(result);
    const double all = together->alone + lost_together(together);
    if (most == result->flow_count) {
        doc_note(d, DOC_ITEM, NULL, "cores at one time: no path that they share is asked for more than it gives");
        return;
    }
    const struct bandwidth_contended *of = &together->flow[most];
    double sum = 0;
    for (uint32_t core = 0; core < together->core_count; core++)
        sum += together->of_core[(size_t)most * together->core_count + core].contended;
    doc_note(d, DOC_ITEM, NULL,
             "cores at one time: %.2f times slower than each alone; %s is asked for up to %.3f of %.3f"
             " a cycle, too much in %.1f %% of the time",
             all / together->alone, flow_name(d, result, most), of->most, result->flows[most].limit / 1000.0,
             100 * of->cycles / together->alone);
    for (uint32_t core = 0; core < together->core_count && core < THREADS; core++)
        doc_say(d, "%s core %u %.0f %%", core == 0 ? ", by" : ",", core,
                100 * together->of_core[(size_t)most * together->core_count + core].contended / sum);
}

static void add_bandwidth_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_bandwidth_result *result = digest->run->found[ANALYSIS_bandwidth];
    if (!result || !result->functions.list)
        return;
    bandwidth_chapter_add_json(d, digest->run, result);
    bandwidth_chapter_note_finding(d, digest->run, result);
    show_paths(d, digest->run);
    for (size_t i = 0; result->limited && i < SHOWN && i < result->functions.count; i++)
        show_function(d, result, &result->functions.list[i]);
    for (uint32_t i = 0; result->limited && result->thread_count > 1 && i < THREADS && i < result->thread_count; i++)
        show_windows(d, result, doc_keep(d, "thread %u", result->threads[i].tid), &result->threads[i].windows);
    if (result->together && result->together->parallel != 0)
        show_together(d, result);
}

const struct analysis_chapter analyses_bandwidth_chapter = {
    .add = add_bandwidth_chapter, .in = DOC_BOTH, .place = 12, .order = 70};
