/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * describe: from lanes that have eaten a run to its reports. Whether the run was live or is played back is no matter
 * here.
 */
#include <string.h>
#include <unistd.h>

#include "session/session_priv.h"

/* What one placement of the memory decides. */
static void describe_lane(struct report_run *report, const struct lane *lane)
{
    const struct sim *sim = lane_sim(lane);
    const struct caches *caches = sim_caches(sim);
    const struct sim_totals *measured = sim_measured(sim);
    report->sim.measured = measured;
    report->samples = sim_samples(sim);
    report->dumps = sim_dumps(sim, &report->dump_count);
    report->sim.counts = &measured->counts;
    report->sim.machine = caches_machine(caches);
    report->sim.l1i = report->sim.machine->has_l1i ? &measured->l1i : NULL;
    for (uint32_t i = 0; i < report->sim.machine->level_count; i++)
        report->sim.levels[i] = &measured->levels[i];
    report->sim.tlb = sim_tlb(sim);
    report->sim.instructed = sim_instructed(sim, &report->sim.instructed_count);
    report->sim.walk_reads = measured->walk_reads;
    report->has_threads = sim_has_threads(sim);
    report->pages = mmu_replica_counts(lane_memory(lane));
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        report->sim.found[i] = analyses_result(lane_analyses(lane), (enum analysis_number)i);
    report->sim.profile = report->sim.found[ANALYSIS_profile];
    report->sim.symbols = lane_symbols(lane);
}

static void describe_placement(struct report_run *report, const struct mmu_replica *memory)
{
    report->sim.placement = mmu_replica_config(memory);
    report->seed = report->sim.placement->seed;
    report->rules = mmu_replica_rule_counts(memory, 0);
    report->huge_regions = mmu_replica_region_counts(memory, 0);
}

static void describe_against(struct report_run *report, struct report_run *against, const struct lanes *lanes,
                             const char *text)
{
    const struct lane *other = lanes_at(lanes, 1);
    *against = *report;
    describe_lane(against, other);
    describe_placement(against, lane_memory(other));
    report->against = against;
    report->against_text = text;
}

/* The file is the program's own, and whole when that has ended. Without it there are fewer names, and all counts. */
static void describe_name_jit(const struct session_options *options, struct loader_symbols *symbols)
{
    struct c2_error err;
    if (options->perf_map && symbols && loader_symbols_jit(symbols, options->perf_map, &err) != C2_OK)
        fprintf(stderr, "c2emu: --perf-map: %s; code in no file has no names\n", err.text);
}

void session_describe(struct report_run *report, struct report_run *against, const struct session_options *options,
                      const struct lanes *lanes)
{
    const struct lane *lane = lanes ? lanes_at(lanes, 0) : NULL;
    report->simulated = !options->no_sim;
    report->sim.full = options->full;
    report->folded_event = options->folded_event;
    report->altered = options->override_count != 0;
    report->precision = options->sampling.precision;
    if (lane)
        describe_placement(report, lane_memory(lane));
    if (!report->simulated)
        return;
    describe_lane(report, lane);
    describe_name_jit(options, lane_symbols(lane));
    if (options->analyses[ANALYSIS_against])
        describe_against(report, against, lanes, options->analyses[ANALYSIS_against]);
}

/* program: NULL: there was none. What cannot be found out any more, of a run that is played back, is not hinted at. */
enum c2_status session_describe_program(struct report_run *report, const char *program, struct c2_error *err)
{
    bool debug = true;
    struct loader_libraries *libraries;
    if (!program || access(program, R_OK) != 0)
        return C2_OK;
    enum c2_status status = loader_libraries_find(&libraries, program, NULL, LOADER_CALLS, err);
    if (status != C2_OK)
        return status;
    report->threading = loader_libraries_threading(libraries);
    loader_libraries_release(libraries);
    status = loader_has_debug(&debug, program, err);
    const char *slash = strrchr(program, '/');
    report->undebugged = debug ? NULL : slash ? slash + 1 : program;
    return status;
}

/* The same run once for each lane. To be freed; NULL: there is one. */
static enum c2_status describe_lanes(struct report_run **out, struct report_run *report,
                                     const struct session_simulation *simulation, struct c2_error *err)
{
    const struct lanes *lanes = simulation->lanes;
    const struct session_variants *variants = simulation->plan ? &simulation->plan->variants : NULL;
    *out = NULL;
    if (lanes) {
        report->varied = variants->keys;
        report->varied_count = variants->key_count;
        report->values = variants->list[0].values;
    }
    if (!lanes || lanes_count(lanes) == 1 || lanes_compare(lanes))
        return C2_OK;
    const unsigned count = lanes_count(lanes);
    struct report_run *runs = *out = c2_calloc(count, sizeof *runs);
    if (!runs)
        return c2_fail_memory(err, "the report");
    for (unsigned i = 0; i < count; i++) {
        runs[i] = *report;
        describe_lane(&runs[i], lanes_at(lanes, i));
        describe_placement(&runs[i], lane_memory(lanes_at(lanes, i)));
        runs[i].lane_name = lanes_name(lanes, i);
        runs[i].values = variants->list[i].values;
    }
    report->lanes = runs;
    report->lane_count = count;
    return C2_OK;
}

/* What is wrong with the run, where its misses were attributed and it will be read. */
enum c2_status session_find(struct findings **out, struct report_run *report, struct c2_error *err)
{
    *out = NULL;
    if (!report->sim.profile || !report->sim.found[ANALYSIS_excerpts])
        return C2_OK;
    const struct findings_input input = {.profile = report->sim.profile,
                                         .excerpts = report->sim.found[ANALYSIS_excerpts],
                                         .coherence = report->sim.found[ANALYSIS_coherence],
                                         .reuse = report->sim.found[ANALYSIS_reuse],
                                         .machine = report->sim.machine,
                                         .placement = report->sim.placement,
                                         .symbols = report->sim.symbols,
                                         .instructed = report->sim.instructed,
                                         .instructed_count = report->sim.instructed_count,
                                         .instructions = report->sim.counts->instructions};
    enum c2_status status = findings_create(out, &input, err);
    report->findings = *out;
    return status;
}

static enum c2_status describe_write_all(struct session_outputs *outputs, const struct session_options *options,
                                         const struct session_simulation *simulation, const struct report_run *report,
                                         struct findings *findings, bool shown, struct c2_error *err)
{
    const struct lane *lane = simulation->lanes ? lanes_at(simulation->lanes, 0) : NULL;
    enum c2_status status = C2_OK;
    if (!shown || report->lanes) /* else the text says it */
        report_warn_of_precision(stderr, report);
    if (options->advise) {
        struct c2_outfile *json = outputs->json;
        outputs->json = NULL;
        status = session_advise(options, simulation, report, findings, json, err);
    }
    if (options->explain)
        status = session_explain_check(options, report, err);
    if (status == C2_OK)
        status = session_outputs_commit(outputs, options, lane ? lane_analyses(lane) : NULL, report,
                                        shown && !options->advise, err);
    if (status == C2_OK && options->dump_pagemap)
        status = session_outputs_commit_pagemap(outputs, lane_memory(lane), options->dump_pagemap, err);
    return status == C2_OK && options->step && shown ? session_step(options, report, err) : status;
}

enum c2_status session_write_reports(struct session_outputs *outputs, const struct session_options *options,
                                     const struct session_simulation *simulation, const struct report_run *report,
                                     bool shown, struct c2_error *err)
{
    if (options->explain && !shown) {
        session_explain_leave_out(report);
        session_outputs_abandon(outputs);
        return C2_OK;
    }
    struct report_run whole = *report, *lanes;
    struct findings *findings = NULL;
    enum c2_status status = describe_lanes(&lanes, &whole, simulation, err);
    const bool read = (shown && !options->quiet) || options->advise || session_outputs_report(outputs);
    if (status == C2_OK && !whole.findings && read)
        status = session_find(&findings, &whole, err);
    if (status == C2_OK && options->reported)
        options->reported(options->reported_self, &whole);
    if (status == C2_OK)
        status = describe_write_all(outputs, options, simulation, &whole, findings, shown && !options->quiet, err);
    findings_destroy(findings);
    c2_free(lanes);
    return status;
}
