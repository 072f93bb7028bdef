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
#include <jansson.h>
#include <string.h>

#include "report/report_priv.h"

/* json_object_set_new and json_array_append_new free the value they could not add, and refuse a NULL one: so the
 * builders below just add, and `failed` says at the end whether anything was missed. */
struct builder {
    bool failed;
};

static void add(struct builder *b, json_t *object, const char *key, json_t *value)
{
    b->failed |= json_object_set_new(object, key, value) != 0;
}

static void append(struct builder *b, json_t *array, json_t *value)
{
    b->failed |= json_array_append_new(array, value) != 0;
}

static void add_count(struct builder *b, json_t *object, const char *key, uint64_t count)
{
    add(b, object, key, json_integer((json_int_t)count));
}

/* Length of the well-formed UTF-8 sequence at text, 0 if there is none (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *text)
{
    const unsigned char c = text[0];
    if (c < 0x80)
        return 1;
    const size_t length = c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte: no overlong forms, no surrogates, below 0x110000 */
    low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : low;
    high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : high;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80, high = 0xbf;
    }
    return length;
}

static json_t *text(const char *from)
{
    char *clean = c2_alloc(3 * strlen(from) + 1);
    if (clean == NULL)
        return NULL;
    char *to = clean;
    while (*from != '\0') {
        size_t length = utf8_length((const unsigned char *)from);
        if (length == 0) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            from++;
        }
        for (; length > 0; length--)
            *to++ = *from++;
    }
    *to = '\0';
    json_t *value = json_string(clean);
    c2_free(clean);
    return value;
}

static json_t *command(struct builder *b, const struct report_run *run)
{
    json_t *words = json_array();
    for (size_t i = 0; run->command[i] != NULL; i++)
        append(b, words, text(run->command[i]));
    return words;
}

static json_t *machine_level(struct builder *b, const struct caches_machine *machine, const struct caches_level *level)
{
    json_t *object = json_object();
    add(b, object, "name", text(level->name));
    add_count(b, object, "size", level->size_bytes);
    add_count(b, object, "ways", level->ways);
    add_count(b, object, "sets", caches_level_sets(machine, level));
    add_count(b, object, "slices", level->slices);
    add(b, object, "policy", text(caches_policy_name(level->policy)));
    add(b, object, "index", text(caches_index_name(level->index)));
    add(b, object, "inclusion", text(caches_inclusion_name(level->inclusion)));
    if (level->slices > 1)
        add(b, object, "hash", text(level->hash));
    if (level->latency_cycles != 0)
        add_count(b, object, "latency", level->latency_cycles);
    return object;
}

static json_t *machine(struct builder *b, const struct report_run *run)
{
    struct report_level levels[REPORT_MAX_LEVELS];
    const size_t count = report_levels(levels, run);
    json_t *object = json_object(), *array = json_array();
    add(b, object, "name", text(run->machine->name));
    add_count(b, object, "line", run->machine->line_bytes);
    for (size_t i = 0; i < count; i++)
        append(b, array, machine_level(b, run->machine, levels[i].level));
    add(b, object, "levels", array);
    return object;
}

static json_t *pages(struct builder *b, const struct report_run *run)
{
    json_t *object = json_object();
    add(b, object, "policy", text(mmu_placement_name(run->placement->placement)));
    add_count(b, object, "seed", run->seed);
    add(b, object, "huge", text(mmu_huge_name(run->placement->huge)));
    add_count(b, object, "small", run->pages->small_pages);
    add_count(b, object, "huge_2m", run->pages->huge_2m);
    add_count(b, object, "huge_1g", run->pages->huge_1g);
    add_count(b, object, "huge_fallbacks", run->pages->huge_fallbacks);
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
    add(b, phase, "kind", text(run->simulated ? "measure" : "skip"));
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

static json_t *level(struct builder *b, const struct report_level *from)
{
    json_t *object = json_object();
    add(b, object, "name", text(from->level->name));
#define X(field, help) add_count(b, object, #field, from->counts->field);
    CACHES_COUNTERS(X)
#undef X
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
    add(b, object, "name", text(structure->name));
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
    for (uint32_t i = 0; run->tlb != NULL && i < mmu_tlb_config(run->tlb)->count; i++)
        append(b, array, tlb(b, &mmu_tlb_config(run->tlb)->structure[i], mmu_tlb_counts(run->tlb, i)));
    return array;
}

static json_t *served_by(struct builder *b, const struct report_run *run)
{
    const struct caches_machine *machine = run->machine;
    json_t *array = json_array();
    for (uint32_t i = machine->walks_from; i <= machine->level_count; i++) {
        json_t *object = json_object();
        add(b, object, "level", text(i < machine->level_count ? machine->levels[i].name : "memory"));
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
    add(b, object, "mode", text(run->machine->walks_cached ? "cached" : "counted"));
    if (run->machine->walks_cached)
        add(b, object, "served_by", served_by(b, run));
    return object;
}

static json_t *root(struct builder *b, const struct report_run *run)
{
    json_t *object = json_object();
    add(b, object, "format", text("c2emu-report"));
    add_count(b, object, "version", 1);
    add(b, object, "command", command(b, run));
    add(b, object, "exit_status", json_integer(run->exit_status));
    if (run->ending != NULL)
        add(b, object, "ending", text(run->ending));
    if (run->simulated) {
        add(b, object, "machine", machine(b, run));
        add(b, object, "pages", pages(b, run));
    }
    add(b, object, "run", whole_run(b, run));
    if (run->simulated) {
        add(b, object, "levels", all_levels(b, run));
        add(b, object, "tlb", all_tlbs(b, run));
        if (run->tlb != NULL)
            add(b, object, "walks", walks(b, run));
    }
    return object;
}

enum c2_status report_json(FILE *to, const struct report_run *run, struct c2_error *err)
{
    json_set_alloc_funcs(c2_alloc, c2_free);
    struct builder builder = {false};
    json_t *object = root(&builder, run);
    enum c2_status status = C2_OK;
    if (builder.failed)
        status = c2_fail_memory(err, "the JSON report");
    else if (json_dumpf(object, to, JSON_INDENT(2)) != 0 || fputc('\n', to) == EOF || ferror(to))
        status = ferror(to) ? c2_fail(err, C2_ERR_IO, "cannot write the JSON report")
                            : c2_fail_memory(err, "the JSON report");
    json_decref(object);
    return status;
}
