/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * json: the report for programs.
 *
 * Model
 *   One object, "format": "c2emu-report". Keys stand in a fixed order, counts are integers; a key whose subject was not
 *   part of the run is left out entirely (never 0 for "not measured"). Words of the command line that are no UTF-8 have
 *   each offending byte replaced by U+FFFD.
 *
 * Invariants
 *   The same run gives the same bytes. Every allocation is jansson's, through c2_alloc; nothing is kept.
 */
#include "report/json_priv.h"

static json_t *command(struct builder *b, const struct report_run *run)
{
    json_t *words = json_array();
    for (size_t i = 0; run->command[i]; i++)
        append(b, words, report_json_text(run->command[i]));
    return words;
}

static json_t *machine_level(struct builder *b, const struct caches_machine *machine, const struct caches_level *level)
{
    json_t *object = json_object();
    add_text(b, object, "name", level->name);
    add_count(b, object, "size", level->size_bytes);
    add_count(b, object, "ways", level->ways);
    add_count(b, object, "sets", caches_level_sets(machine, level));
    add_count(b, object, "slices", level->slices);
    add_text(b, object, "policy", caches_policy_name(level->policy));
    add_text(b, object, "index", caches_index_name(level->index));
    add_text(b, object, "inclusion", caches_inclusion_name(level->inclusion));
    if (level->slices > 1)
        add_text(b, object, "hash", level->hash);
    if (level->latency_cycles != 0)
        add_count(b, object, "latency", level->latency_cycles);
    return object;
}

static json_t *machine(struct builder *b, const struct report_run *run)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    const size_t count = report_levels(levels, run);
    json_t *object = json_object(), *array = json_array();
    add_text(b, object, "name", run->machine->name);
    add_count(b, object, "line", run->machine->line_bytes);
    for (size_t i = 0; i < count; i++)
        append(b, array, machine_level(b, run->machine, levels[i].level));
    add(b, object, "levels", array);
    return object;
}

static json_t *rules(struct builder *b, const struct report_run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->placement->rule_count; i++) {
        json_t *rule = json_object();
        add_text(b, rule, "region", run->placement->rules[i].region.name);
        add_text(b, rule, "policy", run->placement->rules[i].text);
        add_count(b, rule, "small", run->rules[i].small_pages);
        add_count(b, rule, "huge_2m", run->rules[i].huge_2m);
        add_count(b, rule, "huge_1g", run->rules[i].huge_1g);
        append(b, array, rule);
    }
    return array;
}

static json_t *huge_regions(struct builder *b, const struct report_run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->placement->huge_region_count; i++) {
        json_t *region = json_object();
        add_text(b, region, "region", run->placement->huge_regions[i].name);
        add_count(b, region, "huge_2m", run->huge_regions[i].huge_2m);
        add_count(b, region, "huge_1g", run->huge_regions[i].huge_1g);
        add_count(b, region, "huge_fallbacks", run->huge_regions[i].huge_fallbacks);
        append(b, array, region);
    }
    return array;
}

static json_t *pages(struct builder *b, const struct report_run *run)
{
    json_t *object = json_object();
    add_text(b, object, "policy", mmu_placement_name(run->placement->placement));
    add_count(b, object, "seed", run->seed);
    add_text(b, object, "huge", mmu_huge_name(run->placement->huge));
    add_count(b, object, "small", run->pages->small_pages);
    add_count(b, object, "huge_2m", run->pages->huge_2m);
    add_count(b, object, "huge_1g", run->pages->huge_1g);
    add_count(b, object, "huge_fallbacks", run->pages->huge_fallbacks);
    if (run->placement->zero_page) {
        add_count(b, object, "zero_pages", run->pages->zero_pages);
        add_count(b, object, "zero_copies", run->pages->zero_copies);
    }
    if (run->placement->rule_count > 0)
        add(b, object, "rules", rules(b, run));
    if (run->placement->huge_region_count > 0)
        add(b, object, "huge_regions", huge_regions(b, run));
    return object;
}

static json_t *measured(struct builder *b, const struct sim_counts *counts)
{
    json_t *object = json_object();
#define X(field, help) add_count(b, object, #field, counts->field);
    SIM_COUNTERS(X)
#undef X
    return object;
}

/* One phase: all of it was measured, or (--no-sim) all of it was skipped. */
static json_t *phases(struct builder *b, const struct report_run *run)
{
    json_t *array = json_array(), *phase = json_object();
    add_text(b, phase, "kind", run->simulated ? "measure" : "skip");
    add_count(b, phase, "instructions", run->instructions);
    append(b, array, phase);
    return array;
}

static json_t *whole_run(struct builder *b, const struct report_run *run)
{
    json_t *object = json_object();
    add_count(b, object, "instructions", run->instructions);
    if (run->simulated)
        add(b, object, "measured", measured(b, run->counts));
    add(b, object, "phases", phases(b, run));
    return object;
}

static json_t *fifo(struct builder *b, const struct caches_fifo_counts *counts)
{
    json_t *object = json_object();
#define X(field, help) add_count(b, object, #field, counts->field);
    CACHES_FIFO_COUNTERS(X)
#undef X
    return object;
}

static json_t *level(struct builder *b, const struct report_level *from)
{
    json_t *object = json_object();
    add_text(b, object, "name", from->level->name);
#define X(field, help) add_count(b, object, #field, from->counts->field);
    CACHES_COUNTERS(X)
#undef X
    if (from->fifo)
        add(b, object, "fifo", fifo(b, from->fifo));
    return object;
}

static json_t *all_levels(struct builder *b, const struct report_run *run)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    const size_t count = report_levels(levels, run);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        append(b, array, level(b, &levels[i]));
    return array;
}

static json_t *tlb(struct builder *b, const struct mmu_tlb_structure *structure, const struct mmu_tlb_counts *counts)
{
    static const char *const names[MMU_TLB_PAGE_KINDS] = {"4K", "2M", "1G"};
    json_t *object = json_object(), *coverage = json_object();
    add_text(b, object, "name", structure->name);
    add_count(b, object, "accesses", counts->accesses);
    add_count(b, object, "misses", counts->misses);
    add_count(b, object, "entries", structure->entries);
    add_count(b, object, "ways", structure->ways);
    for (unsigned kind = 0; kind < MMU_TLB_PAGE_KINDS; kind++) {
        const uint64_t bytes = mmu_tlb_coverage(structure, (enum mmu_tlb_kind)kind);
        if (bytes != 0)
            add_count(b, coverage, names[kind], bytes);
    }
    add(b, object, "coverage", coverage);
    return object;
}

static json_t *all_tlbs(struct builder *b, const struct report_run *run)
{
    json_t *array = json_array();
    for (uint32_t i = 0; run->tlb && i < mmu_tlb_config(run->tlb)->count; i++)
        append(b, array, tlb(b, &mmu_tlb_config(run->tlb)->structure[i], mmu_tlb_counts(run->tlb, i)));
    return array;
}

static json_t *served_by(struct builder *b, const struct report_run *run)
{
    const struct caches_machine *machine = run->machine;
    json_t *array = json_array();
    for (uint32_t i = machine->walks_from; i <= machine->level_count; i++) {
        json_t *object = json_object();
        add_text(b, object, "level", i < machine->level_count ? machine->levels[i].name : "memory");
        add_count(b, object, "reads", run->walk_reads[i]);
        append(b, array, object);
    }
    return array;
}

static json_t *walks(struct builder *b, const struct report_run *run)
{
    json_t *object = json_object();
    add_count(b, object, "count", mmu_tlb_walks(run->tlb)->count);
    add_count(b, object, "reads", mmu_tlb_walks(run->tlb)->reads);
    add_text(b, object, "mode", run->machine->walks_cached ? "cached" : "counted");
    if (run->machine->walks_cached)
        add(b, object, "served_by", served_by(b, run));
    return object;
}

static json_t *labels(struct builder *b, const struct report_run *run)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    const size_t count = report_levels(levels, run);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct analyses_against_counts *of = &run->labels[levels[i].number];
        json_t *object = json_object();
        add_text(b, object, "level", levels[i].level->name);
        add_count(b, object, "inherent", of->inherent);
        add_count(b, object, "placement", of->placement);
        add_count(b, object, "walks", of->walks);
        append(b, array, object);
    }
    return array;
}

/* The labels are of the run's conflict misses, the rest are the other placement's own counts. */
static json_t *against(struct builder *b, const struct report_run *run)
{
    json_t *object = json_object();
    add_text(b, object, "with", run->against_text);
    add(b, object, "labels", labels(b, run));
    add(b, object, "pages", pages(b, run->against));
    add(b, object, "levels", all_levels(b, run->against));
    add(b, object, "tlb", all_tlbs(b, run->against));
    if (run->against->tlb)
        add(b, object, "walks", walks(b, run->against));
    return object;
}

static json_t *root(struct builder *b, const struct report_run *run)
{
    json_t *object = json_object();
    add_text(b, object, "format", "c2emu-report");
    add_count(b, object, "version", 1);
    add(b, object, "command", command(b, run));
    add(b, object, "exit_status", json_integer(run->exit_status));
    if (run->ending)
        add_text(b, object, "ending", run->ending);
    if (run->clock)
        add_text(b, object, "clock", run->clock);
    if (run->simulated) {
        add(b, object, "machine", machine(b, run));
        add(b, object, "pages", pages(b, run));
    }
    add(b, object, "run", whole_run(b, run));
    if (run->simulated) {
        add(b, object, "levels", all_levels(b, run));
        add(b, object, "tlb", all_tlbs(b, run));
        if (run->tlb)
            add(b, object, "walks", walks(b, run));
        if (run->against)
            add(b, object, "against", against(b, run));
        if (run->profile)
            report_json_profile(b, object, run);
    }
    return object;
}

enum c2_status report_json(FILE *to, const struct report_run *run, struct c2_error *err)
{
    json_set_alloc_funcs(c2_alloc, c2_free);
    struct builder builder = {false};
    return report_json_write(to, &builder, root(&builder, run), err);
}
