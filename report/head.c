/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * head: what ran, on which machine, where its pages were placed, and how much of it there was.
 */
#include <inttypes.h>

#include "report/report_priv.h"

/* ------------------------------------------------------------------ the program */

static void add_ending(struct document *d, const struct report_run *run)
{
    if (run->ending)
        doc_note(d, DOC_KEY, "ending", "%s", run->ending);
    else
        doc_note(d, DOC_KEY, "ending", "exit status %d", run->exit_status);
}

static void add_process(struct document *d, const struct report_run *run)
{
    if (run->process == 0)
        return;
    doc_note(d, DOC_KEY, "process", "%" PRIu32, run->process);
    if (run->number > 1)
        doc_say(d, ", its program %" PRIu32, run->number);
    doc_count(d, DOC_JSON, "process", run->process);
    doc_count(d, DOC_JSON, "program_number", run->number);
}

/* What else is to be said in one line: ": exit status 0; 123,773 instructions on teach". */
static void say_run(struct document *d, const struct report_run *run)
{
    if (!run->trace && !run->ending)
        doc_say(d, ": exit status %d;", run->exit_status);
    else
        doc_say(d, ":");
    doc_say(d, " %s instructions", doc_digits(d, run->instructions));
    if (run->simulated)
        doc_say(d, " on %s", run->sim.machine->name);
    else
        doc_say(d, ", nothing simulated");
}

static void head_add_program(struct document *d, const struct report_run *run)
{
    add_process(d, run);
    doc_note(d, DOC_KEY, run->trace ? "trace" : "program", "%s", "");
    doc_table(d, DOC_JSON, "command");
    for (size_t i = 0; run->command[i]; i++) {
        doc_say(d, "%s%s", i == 0 ? "" : " ", run->command[i]);
        doc_string(d, DOC_JSON, NULL, run->command[i]);
    }
    doc_close(d);
    if (run->trace)
        doc_say(d, ", in the form \"%s\"; memory as it is referred to, without names", run->trace);
    if (!run->sim.full)
        say_run(d, run);
    doc_count(d, DOC_JSON, "exit_status", (uint64_t)run->exit_status);
    doc_string(d, DOC_JSON, "ending", run->ending);
    if (run->interrupted)
        doc_flag(d, DOC_JSON, "interrupted", true);
    doc_string(d, DOC_JSON, "clock", run->clock);
    if (run->trace)
        doc_string(d, DOC_JSON, "trace", run->trace);
    else if (run->sim.full || run->ending)
        add_ending(d, run);
    if (run->clock)
        doc_note(d, DOC_KEY, "clock", "%s at the start", run->clock);
}

/* ------------------------------------------------------------------ the machine */

static void head_add_prefetchers(struct document *d, const struct caches_level *level)
{
    doc_table(d, DOC_JSON, "prefetch");
    for (unsigned i = 0; i < CACHES_PREFETCHERS; i++)
        if (level->prefetchers >> i & 1)
            doc_string(d, DOC_JSON, NULL, caches_prefetcher_names[i]);
    doc_close(d);
    doc_string(d, DOC_JSON, "prefetch_on", caches_prefetch_on_names[level->prefetch_on]);
    if (level->prefetchers >> CACHES_PREFETCH_STREAM & 1)
        doc_count(d, DOC_JSON, "stream_distance", level->stream_distance);
    if (level->prefetchers >> CACHES_PREFETCH_STRIDE & 1)
        doc_count(d, DOC_JSON, "stride_distance", level->stride_distance);
}

static void add_masks(struct document *d, const struct caches_level *level)
{
    doc_table(d, DOC_JSON, "ways_of");
    for (uint32_t i = 0; i < level->mask_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_count(d, DOC_JSON, "first", level->masks[i].first);
        doc_count(d, DOC_JSON, "last", level->masks[i].last);
        doc_words(d, DOC_JSON, "ways", "%#" PRIx64, level->masks[i].ways);
        doc_close(d);
    }
    doc_close(d);
}

/* " ways 0xf of core 0, 0xff0 of cores 1-3" */
static void say_masks(struct document *d, const struct caches_level *level)
{
    for (uint32_t i = 0; i < level->mask_count; i++) {
        const struct caches_mask *mask = &level->masks[i];
        doc_say(d, "%s %#" PRIx64 " of core%s %" PRIu32, i == 0 ? " ways" : ",", mask->ways,
                mask->first == mask->last ? "" : "s", mask->first);
        if (mask->first != mask->last)
            doc_say(d, "-%" PRIu32, mask->last);
    }
}

static void head_add_level(struct document *d, const struct caches_machine *machine, const struct caches_level *level)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", level->name);
    doc_count(d, DOC_JSON, "size", level->size_bytes);
    doc_count(d, DOC_JSON, "ways", level->ways);
    doc_count(d, DOC_JSON, "sets", caches_level_sets(machine, level));
    doc_count(d, DOC_JSON, "slices", level->slices);
    doc_string(d, DOC_JSON, "policy", caches_policy_name(level->policy));
    doc_string(d, DOC_JSON, "index", caches_index_name(level->index));
    doc_string(d, DOC_JSON, "inclusion", caches_inclusion_name(level->inclusion));
    if (level->slices > 1)
        doc_string(d, DOC_JSON, "hash", level->hash);
    if (machine->cores > 1)
        doc_flag(d, DOC_JSON, "shared", level->shared);
    if (level->mask_count != 0)
        add_masks(d, level);
    if (level->through)
        doc_string(d, DOC_JSON, "write", caches_write_names[level->through]);
    if (level->around)
        doc_string(d, DOC_JSON, "allocate", caches_allocate_names[!level->around]);
    if (level->latency_cycles != 0)
        doc_count(d, DOC_JSON, "latency", level->latency_cycles);
    if (level->prefetchers != 0)
        head_add_prefetchers(d, level);
    doc_close(d);
}

/* "L3 20 MiB 20-way lru in 8 slices (lin8)" */
static void say_shape(struct document *d, const struct caches_machine *machine, const struct caches_level *level)
{
    char size[32];
    doc_say(d, "%s %s %" PRIu32 "-way %s", level->name, c2_size_text(size, level->size_bytes), level->ways,
            caches_policy_name(level->policy));
    if (level->slices > 1)
        doc_say(d, " in %" PRIu32 " slices (%s)", level->slices, level->hash);
    for (unsigned i = 0, said = 0; i < CACHES_PREFETCHERS; i++)
        if (level->prefetchers >> i & 1)
            doc_say(d, "%s%s", said++ == 0 ? " prefetching " : "+", caches_prefetcher_names[i]);
    say_masks(d, level);
    if (level->through)
        doc_say(d, " write-through");
    if (level->around)
        doc_say(d, " write-around");
    if (machine->cores > 1 && level->shared)
        doc_say(d, " shared");
}

static void add_filter(struct document *d, const struct caches_machine *machine)
{
    doc_group(d, DOC_JSON, "snoop_filter");
    doc_count(d, DOC_JSON, "lines", machine->filter_lines);
    doc_count(d, DOC_JSON, "ways", machine->filter_ways);
    doc_close(d);
}

void report_add_machine(struct document *d, const struct report_run *run)
{
    const struct caches_machine *machine = run->sim.machine;
    struct digest_level levels[DIGEST_LEVELS];
    const size_t count = digest_levels(levels, &run->sim);
    doc_group(d, DOC_JSON, "machine");
    doc_string(d, DOC_JSON, "name", machine->name);
    doc_count(d, DOC_JSON, "line", machine->line_bytes);
    if (machine->cores > 1)
        doc_count(d, DOC_JSON, "cores", machine->cores);
    if (machine->cores > 1 && machine->filter_lines != 0)
        add_filter(d, machine);
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < count; i++)
        head_add_level(d, machine, levels[i].level);
    doc_close(d);
    doc_close(d);
}

static void note_machine(struct document *d, const struct digest *digest)
{
    const struct caches_machine *machine = digest->run->machine;
    if (digest->run->full)
        doc_note(d, DOC_KEY, "machine", "%s%s%s", machine->name, machine->description[0] != '\0' ? ": " : "",
                 machine->description);
    doc_note(d, DOC_KEY, "caches", "%s", "");
    for (size_t i = 0; i < digest->level_count; i++) {
        say_shape(d, machine, digest->levels[i].level);
        doc_say(d, i + 1 < digest->level_count ? ", " : "; ");
    }
    doc_say(d, "lines of %" PRIu32 " bytes", machine->line_bytes);
    if (machine->cores > 1)
        doc_say(d, "; %" PRIu32 " cores", machine->cores);
    if (machine->cores > 1 && machine->filter_lines != 0)
        doc_say(d, ", snoop filter of %s lines %" PRIu32 "-way", doc_digits(d, machine->filter_lines),
                machine->filter_ways);
}

/* ------------------------------------------------------------------ pages */

static void add_huge_pages(struct document *d, const struct mmu_counts *n)
{
    if (n->huge_2m + n->huge_1g + n->huge_fallbacks == 0)
        doc_say(d, " no huge pages,");
    else
        doc_say(d, " %s of 2 MiB, %s of 1 GiB (%s more found no huge frame),", doc_digits(d, n->huge_2m),
                doc_digits(d, n->huge_1g), doc_digits(d, n->huge_fallbacks));
    doc_count(d, DOC_JSON, "huge_2m", n->huge_2m);
    doc_count(d, DOC_JSON, "huge_1g", n->huge_1g);
    doc_count(d, DOC_JSON, "huge_fallbacks", n->huge_fallbacks);
}

static void add_zero_page(struct document *d, const struct mmu_counts *n)
{
    doc_note(d, DOC_KEY, "zero page",
             "%s pages were read before they were written, %s of them written later; the others share one frame",
             doc_digits(d, n->zero_pages), doc_digits(d, n->zero_copies));
    doc_count(d, DOC_JSON, "zero_pages", n->zero_pages);
    doc_count(d, DOC_JSON, "zero_copies", n->zero_copies);
}

/* Where the guest went on with zeros and Linux would have raised SIGBUS, what it computed since may be wrong. */
static void warn_of_lost_pages(struct document *d, uint64_t lost)
{
    if (lost != 0)
        doc_note(d, DOC_KEY, "",
                 "WARNING: %s pages of mapped files vanished while the program ran (a file was cut) and were read as "
                 "zeros",
                 doc_digits(d, lost));
}

static void add_placement(struct document *d, const struct report_run *run)
{
    char size[32];
    doc_note(d, DOC_KEY, "pages", "%s placement, seed %" PRIu64 "; %s pages of 4 KiB touched,",
             mmu_placement_name(run->sim.placement->placement), run->seed, doc_digits(d, run->pages->small_pages));
    doc_string(d, DOC_JSON, "policy", mmu_placement_name(run->sim.placement->placement));
    doc_count(d, DOC_JSON, "seed", run->seed);
    doc_string(d, DOC_JSON, "huge", mmu_huge_name(run->sim.placement->huge));
    doc_count(d, DOC_JSON, "small", run->pages->small_pages);
    add_huge_pages(d, run->pages);
    doc_say(d, " %s of memory%s", c2_size_text(size, run->sim.placement->physical_bytes),
            !run->sim.tlb ? "; no TLBs" : "");
    if (run->sim.placement->zero_page)
        add_zero_page(d, run->pages);
    warn_of_lost_pages(d, run->lost_pages);
}

/* ------------------------------------------------------------------ rules of placement */

/* What a rule that placed nothing was about, in case it was misspelt. */
static const char *why_nothing(const struct mmu_region *region, bool zero_page)
{
    if (zero_page)
        return "none of its pages was touched, or all were only read";
    return region->kind == MMU_REGION_FILE
               ? "no page of a mapping of such a file was touched, or more precise rules placed them"
               : "none of its pages was touched";
}

static void note_rule(struct document *d, const struct mmu_rule *rule, const struct mmu_rule_counts *n, bool zero_page)
{
    if (n->small_pages + n->huge_2m + n->huge_1g == 0) {
        doc_note(d, DOC_KEY, "", "WARNING: --place %s=%s placed nothing: %s", rule->region.name, rule->text,
                 why_nothing(&rule->region, zero_page));
        return;
    }
    doc_note(d, DOC_KEY, "", "%s=%s: %s pages of 4 KiB", rule->region.name, rule->text, doc_digits(d, n->small_pages));
    if (n->huge_2m + n->huge_1g != 0)
        doc_say(d, ", %s of 2 MiB, %s of 1 GiB", doc_digits(d, n->huge_2m), doc_digits(d, n->huge_1g));
}

static void head_add_rule(struct document *d, const struct mmu_rule *rule, const struct mmu_rule_counts *n,
                          bool zero_page)
{
    doc_group(d, DOC_BOTH, NULL);
    note_rule(d, rule, n, zero_page);
    doc_string(d, DOC_JSON, "region", rule->region.name);
    doc_string(d, DOC_JSON, "policy", rule->text);
    doc_count(d, DOC_JSON, "small", n->small_pages);
    doc_count(d, DOC_JSON, "huge_2m", n->huge_2m);
    doc_count(d, DOC_JSON, "huge_1g", n->huge_1g);
    doc_close(d);
}

static void note_huge_region(struct document *d, const struct mmu_region *region, const struct mmu_rule_counts *n)
{
    if (n->huge_2m + n->huge_1g + n->huge_fallbacks == 0)
        doc_note(d, DOC_KEY, "", "WARNING: --huge %s made no huge page: no aligned range of it was touched",
                 region->name);
    else
        doc_note(d, DOC_KEY, "", "--huge %s: %s of 2 MiB, %s of 1 GiB (%s more found no huge frame)", region->name,
                 doc_digits(d, n->huge_2m), doc_digits(d, n->huge_1g), doc_digits(d, n->huge_fallbacks));
}

static void add_huge_region(struct document *d, const struct mmu_region *region, const struct mmu_rule_counts *n)
{
    doc_group(d, DOC_BOTH, NULL);
    note_huge_region(d, region, n);
    doc_string(d, DOC_JSON, "region", region->name);
    doc_count(d, DOC_JSON, "huge_2m", n->huge_2m);
    doc_count(d, DOC_JSON, "huge_1g", n->huge_1g);
    doc_count(d, DOC_JSON, "huge_fallbacks", n->huge_fallbacks);
    doc_close(d);
}

static void head_add_rules(struct document *d, const struct report_run *run)
{
    const struct mmu_config *placement = run->sim.placement;
    doc_table(d, DOC_BOTH, "rules");
    for (size_t i = 0; i < placement->rule_count; i++)
        head_add_rule(d, &placement->rules[i], &run->rules[i], placement->zero_page);
    doc_close(d);
}

static void add_huge_regions(struct document *d, const struct report_run *run)
{
    doc_table(d, DOC_BOTH, "huge_regions");
    for (size_t i = 0; i < run->sim.placement->huge_region_count; i++)
        add_huge_region(d, &run->sim.placement->huge_regions[i], &run->huge_regions[i]);
    doc_close(d);
}

/* Whether the text has the pages: they are not as they are by default. */
static bool shows_pages(const struct report_run *run)
{
    const struct mmu_config *placement = run->sim.placement;
    const struct mmu_counts *pages = run->pages;
    return run->sim.full || run->lost_pages != 0 || placement->placement != MMU_SEQUENTIAL ||
           placement->rule_count != 0 || placement->huge != MMU_HUGE_ASKED || placement->huge_region_count != 0 ||
           placement->zero_page || (pages && pages->huge_2m + pages->huge_1g + pages->huge_fallbacks != 0);
}

void report_add_pages(struct document *d, enum doc_in in, const struct report_run *run)
{
    doc_group(d, run->sim.placement && shows_pages(run) ? in : in & DOC_JSON, "pages");
    if (run->pages)
        add_placement(d, run);
    if (run->sim.placement && run->sim.placement->rule_count != 0)
        head_add_rules(d, run);
    if (run->sim.placement && run->sim.placement->huge_region_count != 0)
        add_huge_regions(d, run);
    doc_close(d);
}

/* ------------------------------------------------------------------ the run */

#define PHASES_LISTED 10000 /* a region that begins and ends a million times has two million */
static const char *const phase_kinds[] = {
    [STREAM_MEASURE] = "measure", [STREAM_WARM] = "warmup", [STREAM_SKIP] = "skip"};
#define PHASE_KINDS (sizeof phase_kinds / sizeof phase_kinds[0])

static void add_phase(struct document *d, const struct report_run *run, const struct report_phase *phase)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "kind", phase_kinds[phase->kind]);
    doc_count(d, DOC_JSON, "instructions", phase->instructions);
    if (phase->region != 0)
        doc_string(d, DOC_JSON, "region", run->regions[phase->region - 1].name);
    doc_close(d);
}

/* Behind those that are listed: of each kind how many more there are, and their instructions. */
static void add_more_phases(struct document *d, const struct report_run *run, size_t listed)
{
    uint64_t counts[PHASE_KINDS] = {0}, instructions[PHASE_KINDS] = {0};
    for (size_t i = listed; i < run->phase_count; i++) {
        counts[run->phases[i].kind]++;
        instructions[run->phases[i].kind] += run->phases[i].instructions;
    }
    for (size_t kind = 0; kind < PHASE_KINDS; kind++) {
        if (counts[kind] == 0)
            continue;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "kind", phase_kinds[kind]);
        doc_count(d, DOC_JSON, "instructions", instructions[kind]);
        doc_count(d, DOC_JSON, "rest", counts[kind]);
        doc_close(d);
    }
}

static void add_region(struct document *d, const struct report_region *region)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "asked", region->asked);
    doc_string(d, DOC_JSON, "name", region->name);
    doc_count(d, DOC_JSON, "begun", region->begun);
    doc_count(d, DOC_JSON, "instructions", region->instructions);
    doc_count(d, DOC_JSON, "measured", region->measured);
    doc_close(d);
}

#define REGIONS_SHOWN 8

static void note_region(struct document *d, const struct report_region *region, bool first)
{
    doc_note(d, DOC_KEY, first ? "regions" : "", "%s: %s time%s, %s instructions", region->name,
             doc_digits(d, region->begun), region->begun == 1 ? "" : "s", doc_digits(d, region->instructions));
}

static void head_add_regions(struct document *d, const struct report_run *run)
{
    for (size_t i = 0; i < run->region_count && i < REGIONS_SHOWN; i++)
        note_region(d, &run->regions[i], i == 0);
    if (run->region_count > REGIONS_SHOWN)
        doc_note(d, DOC_KEY, "", "and %s more, in the JSON report", doc_digits(d, run->region_count - REGIONS_SHOWN));
    doc_table(d, DOC_JSON, "regions");
    for (size_t i = 0; i < run->region_count; i++)
        add_region(d, &run->regions[i]);
    doc_close(d);
}

static void head_note_samples(struct document *d, const struct report_run *run)
{
    uint64_t sums[] = {[STREAM_MEASURE] = 0, [STREAM_WARM] = 0, [STREAM_SKIP] = 0}, samples = 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        sums[run->phases[i].kind] += run->phases[i].instructions;
        samples += run->phases[i].kind == STREAM_MEASURE;
    }
    const char *what = run->regions ? "piece" : "sample";
    samples -= run->start;
    doc_note(d, DOC_KEY, "phases", "%s%s %s%s measured: %s instructions of %s; %s warmed up, %s skipped",
             run->start ? "the start and " : "", doc_digits(d, samples), what, samples == 1 ? "" : "s",
             doc_digits(d, sums[STREAM_MEASURE]), doc_digits(d, run->instructions), doc_digits(d, sums[STREAM_WARM]),
             doc_digits(d, sums[STREAM_SKIP]));
}

/* Without phases all of it was measured, or (--no-sim) skipped. */
static void head_add_phases(struct document *d, const struct report_run *run)
{
    const struct report_phase whole = {run->simulated ? STREAM_MEASURE : STREAM_SKIP, run->instructions, 0};
    if (run->phases)
        head_note_samples(d, run);
    else if (run->sim.full)
        doc_note(d, DOC_KEY, "phases", "%s: %s instructions",
                 run->simulated ? "everything measured" : "run only, nothing simulated",
                 doc_digits(d, run->instructions));
    doc_table(d, DOC_JSON, "phases");
    const size_t listed = run->phase_count < PHASES_LISTED ? run->phase_count : PHASES_LISTED;
    for (size_t i = 0; i < listed; i++)
        add_phase(d, run, &run->phases[i]);
    add_more_phases(d, run, listed);
    if (!run->phases)
        add_phase(d, run, &whole);
    doc_close(d);
    if (run->regions)
        head_add_regions(d, run);
}

static void note_references(struct document *d, const struct sim_counts *n)
{
    doc_note(d, DOC_KEY, "references", "%s: %s reads, %s writes (%s modifies count as one read and one write each)",
             doc_digits(d, n->refs), doc_digits(d, n->reads), doc_digits(d, n->writes), doc_digits(d, n->modifies));
    doc_note(d, DOC_KEY, "", "%s line accesses; %s references touch more than one line",
             doc_digits(d, n->line_accesses), doc_digits(d, n->straddles));
}

static void add_dump(struct document *d, const struct report_run *run, const struct sim_dumped *dump)
{
    doc_group(d, DOC_JSON, NULL);
    doc_count(d, DOC_JSON, "at", dump->instructions);
    doc_string(d, DOC_JSON, "text", dump->text);
    chapter_add_totals(d, run->sim.machine, &dump->of);
    doc_close(d);
}

static void add_dumps(struct document *d, const struct report_run *run)
{
    doc_note(d, DOC_KEY, "dumps", "%s, which the program asked for: in the JSON report",
             doc_digits(d, run->dump_count));
    doc_table(d, DOC_JSON, "dumps");
    for (size_t i = 0; i < run->dump_count; i++)
        add_dump(d, run, &run->dumps[i]);
    doc_close(d);
}

static void head_add_run(struct document *d, const struct report_run *run)
{
    doc_group(d, DOC_BOTH, "run");
    doc_count(d, DOC_JSON, "instructions", run->instructions);
    if (run->simulated)
        chapter_add_measured(d, run->sim.counts);
    head_add_phases(d, run);
    if (run->dump_count != 0)
        add_dumps(d, run);
    if (run->simulated && run->sim.full)
        note_references(d, run->sim.counts);
    doc_close(d);
}

void report_add_head(struct document *d, struct digest *digest)
{
    const struct report_run *run = report_of(digest);
    doc_string(d, DOC_JSON, "format", "c2emu-report");
    doc_count(d, DOC_JSON, "version", 1);
    doc_flag(d, DOC_SLIM, "slim", true);
    head_add_program(d, run);
    if (digest->profile && !run->sim.full && !run->lanes)
        report_note_cost(d, digest);
    if (run->simulated && (run->sim.full || run->altered))
        note_machine(d, digest);
    if (run->simulated)
        report_add_machine(d, run);
    /* Rules are told even where nothing was simulated: people misspell them there as well. */
    report_add_pages(d, run->simulated ? DOC_BOTH : DOC_TEXT, run);
    head_add_run(d, run);
}
