/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a line access costs: host nanoseconds by access pattern, on a three-level machine with an L3 of the given size.
 *
 *     caches_bench [L3_MIB [PATTERN [ACCESSES [EXTRA]]]]
 *
 * EXTRA is what is switched on besides: "evictors" keeps which access made a level lose a line, and reads every
 * outcome. The time is then printed beside that of the plain run just before. "stages" prints the two stages' times
 * apart, each with its own clock on this one thread: contents, with the bench's loop and looking ahead as the simulator
 * does, and classes.
 *
 * Instructions instead of time, for the claim that the L3's size does not matter to a hit in L1:
 *     valgrind --tool=callgrind --toggle-collect='run' caches_bench 8 hits 1000000      (and with 64)
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "caches/caches_fast.h"

#define LINE 64u
#define KIB 1024u
#define MIB (1024u * KIB)

/* One pattern: the line of the i-th access, and whether every fourth one writes. */
struct pattern {
    const char *name;
    const char *what;
    uint64_t span_bytes; /* the lines accessed */
    bool random;
    uint32_t writes; /* one access in so many, a power of two; 0: none but the first */
};

static const struct pattern patterns[] = {
    {"hits", "random lines of 32 KiB: hits in L1, any way", 32 * KIB, true, 4},
    {"same-set-mru", "16 lines in turn: hits in L1 at the way touched last", 1 * KIB, false, 4},
    {"l2", "random lines of 192 KiB: most hit in L2", 192 * KIB, true, 4},
    {"l3", "random lines of 4 MiB: most hit in L3", 4 * MIB, true, 4},
    {"stream", "lines of 256 MiB in order: each misses everywhere", 256 * MIB, false, 0},
    {"stream-write", "the same, written", 256 * MIB, false, 1},
    {"random", "random lines of 256 MiB: most miss everywhere", 256 * MIB, true, 4},
};
#define PATTERN_COUNT (sizeof patterns / sizeof patterns[0])

static struct caches_machine machine_with_l3(uint64_t l3_bytes)
{
    struct caches_machine machine = {
        .line_bytes = LINE, .physical_bytes = (uint64_t)64 << 30, .level_count = 3, .name = "bench"};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 32 * KIB, .ways = 8, .slices = 1, .hash = "none", .index = CACHES_VIRTUAL};
    machine.levels[1] = (struct caches_level){
        .name = "L2", .size_bytes = 256 * KIB, .ways = 8, .slices = 1, .hash = "none", .index = CACHES_PHYSICAL};
    machine.levels[2] = (struct caches_level){.name = "L3",
                                              .size_bytes = l3_bytes,
                                              .ways = 16,
                                              .slices = 8,
                                              .hash = "lin8",
                                              .index = CACHES_PHYSICAL,
                                              .inclusion = CACHES_INCLUSIVE};
    return machine;
}

#define PREPARED (1u << 16)

/* Lines are drawn beforehand, so that the time is the caches'; a long run goes through them again, moved on. */
static uint64_t *draw_lines(const struct pattern *pattern)
{
    uint64_t lines = pattern->span_bytes / LINE;
    uint64_t *drawn = calloc(PREPARED, sizeof *drawn);
    struct c2_rng rng;
    c2_rng_init(&rng, 1, pattern->name);
    for (uint64_t i = 0; drawn && i < PREPARED; i++)
        drawn[i] = pattern->random ? c2_rng_below(&rng, lines) : i % lines;
    return drawn;
}

/* The slots of lines, page by page, as the simulator knows them. */
#define PAGES (256u * MIB / C2_PAGE_BYTES)
static uint32_t page_slots[PAGES];
#define FIRST_LINE (1u << 20)

static uint32_t slot_of(struct caches *caches, uint64_t line)
{
    uint32_t *slot = &page_slots[(line - FIRST_LINE) / CACHES_SLOTS];
    if (C2_UNLIKELY(*slot == CACHES_NO_SLOT))
        *slot = caches_slot(caches, (struct line_no){line - line % CACHES_SLOTS});
    return *slot + (uint32_t)(line % CACHES_SLOTS);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Between two stages: as long as a event log of the simulator's. */
#define EVENT_LOG_WORDS (32u * KIB)
static uint64_t event_log[EVENT_LOG_WORDS];
static double classifier_ns;

static bool say_verdicts(struct caches *caches)
{
    static const struct caches_listener nobody; /* hears of misses: none is noted for him */
    const double start = now_ns();
    const enum c2_status status = caches_hear(caches, event_log, caches_deferred(caches), &nobody, NULL);
    classifier_ns += now_ns() - start;
    return status == C2_OK;
}

/* As the simulator does it: in steps, and at once where an outcome is wanted. */
static inline bool access_line(struct caches *caches, bool write, struct line_no line, struct caches_outcome *outcome)
{
    if (outcome)
        return caches_access(caches, CACHES_DATA, write, line, line, outcome, NULL) == C2_OK;
    enum caches_tried tried = caches_try(caches, CACHES_DATA, write, slot_of(caches, line.v), line);
    if (tried == CACHES_MISSED)
        tried = caches_defer(caches, NULL);
    return tried != CACHES_FULL || say_verdicts(caches);
}

/* As far as the simulator looks ahead, of two accesses in a record. */
#define AHEAD 32

static inline struct line_no line_at(const uint64_t *drawn, uint64_t lines, uint64_t i)
{
    const uint64_t round = (i & ~(uint64_t)(PREPARED - 1)) & (lines - 1);
    return (struct line_no){((drawn[i & (PREPARED - 1)] + round) & (lines - 1)) + FIRST_LINE};
}

/* Kept apart and never inlined, so that callgrind can collect just this. */
__attribute__((noinline)) bool run(struct caches *caches, const struct pattern *pattern, const uint64_t *drawn,
                                   uint64_t accesses, const uint32_t *ahead, struct caches_outcome *outcome);

__attribute__((noinline)) bool run(struct caches *caches, const struct pattern *pattern, const uint64_t *drawn,
                                   uint64_t accesses, const uint32_t *ahead, struct caches_outcome *outcome)
{
    const uint64_t lines = pattern->span_bytes / LINE;
    const uint64_t writes = pattern->writes != 0 ? pattern->writes - 1 : UINT64_MAX; /* and the very first one */
    for (uint64_t done = 0; done < accesses; done++) {
        const struct line_no line = line_at(drawn, lines, done);
        const bool write = (done & writes) == 0;
        if (ahead && *ahead != 0) {
            const struct line_no soon = line_at(drawn, lines, done + AHEAD);
            caches_expect(caches, slot_of(caches, soon.v), soon);
        }
        if (outcome)
            caches_set_access_site(caches, done + 1);
        if (!access_line(caches, write, line, outcome))
            return false;
    }
    return true;
}

enum extra { PLAIN, EVICTORS, STAGES, EXTRAS };
static const char *const extra_names[EXTRAS] = {"plain", "evictors", "stages"};

/* Nanoseconds an access; 0: no memory. */
static double time_of(const struct pattern *pattern, const uint64_t *drawn, uint64_t l3_bytes, uint64_t accesses,
                      enum extra extra, struct caches **caches)
{
    struct caches_machine machine = machine_with_l3(l3_bytes);
    struct caches_outcome outcome, *wanted = extra == EVICTORS ? &outcome : NULL;
    memset(page_slots, 0xff, sizeof page_slots);
    if (caches_create(caches, &machine, 1, NULL) != C2_OK ||
        (extra == EVICTORS && caches_keep_evictors(*caches, NULL) != C2_OK))
        return 0;
    if (extra == STAGES)
        caches_defer_to(*caches, event_log, EVENT_LOG_WORDS);
    const uint32_t *ahead = extra == STAGES ? caches_far(*caches) : NULL;
    if (!run(*caches, pattern, drawn, PREPARED, ahead, wanted))
        return 0;
    classifier_ns = 0;
    double start = now_ns();
    if (!run(*caches, pattern, drawn, accesses, ahead, wanted))
        return 0;
    return (now_ns() - start) / (double)accesses;
}

static bool measure(const struct pattern *pattern, uint64_t l3_bytes, uint64_t accesses, enum extra extra)
{
    struct caches *caches = NULL;
    uint64_t *drawn = draw_lines(pattern);
    double plain = drawn ? time_of(pattern, drawn, l3_bytes, accesses, PLAIN, &caches) : 0;
    if (plain > 0) {
        const struct caches_counts *l1 = caches_level_counts(caches, 0), *l3 = caches_level_counts(caches, 2);
        printf("%-13s %7.2f ns  L1 misses %5.1f %%  L3 accesses %9" PRIu64 "  misses %9" PRIu64 "  %s\n", pattern->name,
               plain, 100.0 * (double)l1->misses / (double)l1->accesses, l3->accesses, l3->misses, pattern->what);
    }
    caches_destroy(caches);
    caches = NULL;
    double other = extra == PLAIN || plain <= 0 ? plain : time_of(pattern, drawn, l3_bytes, accesses, extra, &caches);
    if (extra == EVICTORS && other > 0)
        printf("%-13s %7.2f ns  %.2f times as long: %s\n", "", other, other / plain, extra_names[extra]);
    const double classifier = classifier_ns / (double)accesses;
    if (extra == STAGES && other > 0)
        printf("%-13s %7.2f ns  contents, %.2f ns  verdicts\n", "", other - classifier, classifier);
    caches_destroy(caches);
    free(drawn);
    return other > 0;
}

static enum extra extra_named(const char *name)
{
    enum extra extra = PLAIN;
    while (extra < EXTRAS && strcmp(name, extra_names[extra]) != 0)
        extra++;
    return extra;
}

int main(int argc, char **argv)
{
    uint64_t l3_mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 16;
    uint64_t accesses = argc > 3 ? strtoull(argv[3], NULL, 10) : 20000000;
    enum extra extra = argc > 4 ? extra_named(argv[4]) : PLAIN;
    if (l3_mib == 0 || (l3_mib & (l3_mib - 1)) != 0 || accesses == 0 || extra == EXTRAS) {
        fprintf(stderr,
                "usage: caches_bench [L3_MIB (a power of two) [PATTERN|all [ACCESSES [plain|evictors|stages]]]]\n");
        return 2;
    }
    bool any = false;
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        if (argc > 2 && strcmp(argv[2], "all") != 0 && strcmp(argv[2], patterns[i].name) != 0)
            continue;
        any = true;
        if (!measure(&patterns[i], l3_mib * MIB, accesses, extra)) {
            fprintf(stderr, "caches_bench: out of memory\n");
            return 1;
        }
    }
    return any ? 0 : 2;
}
