/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A made-up run whose every number is stated here, for the goldens of the reports.
 */
#ifndef C2_TEST_REPORT_SAMPLE_H
#define C2_TEST_REPORT_SAMPLE_H

#include "report/report_priv.h"
#include "unit/made_level.h"

struct report_sample {
    struct report_run run;
    struct sim_counts counts;
    struct caches_machine machine;
    struct caches_counts l1d, l1i, l2, l3;
    struct mmu_counts pages;
    struct mmu_config placement;
    const char *command[4];
    struct analyses_fifo_counts fifo[4]; /* L1D, L2, L3, L1I */
};

static inline struct caches_level sample_level(const char *name, uint64_t size, uint32_t ways, enum caches_index index,
                                               uint32_t latency)
{
    struct caches_level level = made_level(name, size, ways);
    level.index = index;
    level.latency_cycles = latency;
    return level;
}

static inline void sample_fill(struct report_sample *s)
{
    *s = (struct report_sample){.command = {"./app", "two words", NULL}};
    s->machine = (struct caches_machine){.name = "sample",
                                         .description = "made up",
                                         .line_bytes = 64,
                                         .physical_bytes = 1ull << 36,
                                         .has_l1i = true,
                                         .level_count = 3};
    s->machine.levels[0] = sample_level("L1D", 32768, 8, CACHES_VIRTUAL, 4);
    s->machine.l1i = sample_level("L1I", 32768, 8, CACHES_VIRTUAL, 4);
    s->machine.levels[1] = sample_level("L2", 262144, 8, CACHES_PHYSICAL, 12);
    s->machine.levels[2] = sample_level("L3", 20971520, 20, CACHES_PHYSICAL, 40);
    s->machine.levels[2].slices = 8;
    s->machine.levels[2].inclusion = CACHES_INCLUSIVE;
    snprintf(s->machine.levels[2].hash, sizeof s->machine.levels[2].hash, "lin8");
    s->counts = (struct sim_counts){.instructions = 10000,
                                    .refs = 4000,
                                    .reads = 2500,
                                    .writes = 1500,
                                    .modifies = 200,
                                    .fetches = 10000,
                                    .line_accesses = 4096,
                                    .straddles = 96};
    s->l1d = (struct caches_counts){.accesses = 4096,
                                    .hits = 3584,
                                    .misses = 512,
                                    .reads = 2560,
                                    .read_misses = 400,
                                    .writes = 1536,
                                    .write_misses = 112,
                                    .cold = 128,
                                    .capacity = 64,
                                    .conflict = 320,
                                    .fa_misses = 200,
                                    .fa_only_misses = 8,
                                    .writebacks = 100};
    s->l1i = (struct caches_counts){.accesses = 1000,
                                    .hits = 997,
                                    .misses = 3,
                                    .reads = 1000,
                                    .read_misses = 3,
                                    .cold = 2,
                                    .capacity = 1,
                                    .fa_misses = 3};
    s->l2 = (struct caches_counts){.accesses = 515,
                                   .hits = 355,
                                   .misses = 160,
                                   .reads = 403,
                                   .read_misses = 120,
                                   .writes = 112,
                                   .write_misses = 40,
                                   .cold = 130,
                                   .capacity = 20,
                                   .conflict = 10,
                                   .fa_misses = 150,
                                   .writebacks = 10};
    s->l3 = (struct caches_counts){.accesses = 160,
                                   .hits = 30,
                                   .misses = 130,
                                   .reads = 120,
                                   .read_misses = 100,
                                   .writes = 40,
                                   .write_misses = 30,
                                   .cold = 130,
                                   .fa_misses = 130,
                                   .back_invalidations = 7};
    s->pages = (struct mmu_counts){.small_pages = 1234};
    s->placement = (struct mmu_config){.physical_bytes = 1ull << 36, .placement = MMU_SEQUENTIAL, .seed = 7};
    s->run = (struct report_run){.command = s->command,
                                 .exit_status = 3,
                                 .seed = 7,
                                 .instructions = 10000,
                                 .sim.full = true,
                                 .simulated = true,
                                 .sim.counts = &s->counts,
                                 .sim.machine = &s->machine,
                                 .sim.l1i = &s->l1i,
                                 .sim.levels = {&s->l1d, &s->l2, &s->l3},
                                 .pages = &s->pages,
                                 .sim.placement = &s->placement};
}

/* Of L1D's 384 misses that are not cold the shadow has 320 conflicts and the FIFO 288: they share 256, so the FIFO has
 * 32 of its own and the shadow 64; the 32 left are capacity to both. L1I: its one is the FIFO's. L2: the FIFO sees none
 * of ten. */
static inline void sample_detect_fifo(struct report_sample *s)
{
    s->fifo[0] = (struct analyses_fifo_counts){
        .fifo_conflict = 288, .fifo_capacity = 96, .both_conflict = 256, .only_fifo = 32, .only_fa = 64};
    s->fifo[3] = (struct analyses_fifo_counts){.fifo_conflict = 1, .only_fifo = 1};
    s->fifo[1] = (struct analyses_fifo_counts){.fifo_capacity = 30, .only_fa = 10};
    s->run.sim.found[ANALYSIS_fifo] = s->fifo;
}

/* form: REPORT_TEXT, REPORT_SLIM or REPORT_JSON */
static inline enum c2_status write_report(FILE *to, const struct report_run *run, unsigned form, struct c2_error *err)
{
    struct report *report;
    enum c2_status status = report_create(&report, run, form, err);
    if (status == C2_OK)
        report_set_page(report, 120, false);
    if (status == C2_OK)
        status = form == REPORT_TEXT   ? report_text(to, report, err)
                 : form == REPORT_SLIM ? report_json_slim(to, report, err)
                                       : report_json(to, report, err);
    report_destroy(report);
    return status;
}

/* The same as a text, for free(). (Inlined, gcc 12 takes what the stream allocates for a local variable.) */
static __attribute__((noinline, unused)) char *written_report(const struct report_run *run, unsigned form)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(C2_OK, write_report(to, run, form, NULL));
    fclose(to);
    return text;
}

#endif
