/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A made-up profile for the run of report_sample.h: its misses are those of the sample's levels, class by class, reads
 * and writes apart. And made-up names of its addresses, in place of the loader's (report.cmake).
 *
 *      insn                              L1D                         L2                  L3       L1I
 *   r0 main      fetches the code                                    cold 2              cold 2   cold 2, capacity 1
 *   r1 main      writes the stack        cold 8                      cold 8              cold 8
 *   r2 kernel:12 reads A                 cold 80 cap. 40 confl. 200  80, 10, 6           cold 80
 *   r3 kernel:14 reads and writes A      conflict 30 + 20
 *   r4 kernel:14 both malloc#1           cold 40 cap. 24 confl. 60   40, 10, 4           cold 40
 *   r5 nameless  reads A                 conflict 10
 * Start-up: one cold miss of r0 in L1I, L2 and L3, and all of r5.
 */
#ifndef C2_TEST_REPORT_PROFILE_H
#define C2_TEST_REPORT_PROFILE_H

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/report_priv.h"
#include "unit/report_sample.h"

enum { L1D, L2, L3, L1I, SAMPLE_LEVELS };

struct profile_sample {
    struct report_sample base;
    struct analyses_profile_result result;
    struct analyses_insn insns[4];
    struct analyses_object objects[4];
    struct analyses_row rows[6];
    struct analyses_pair pairs[9];
    struct analyses_tally row_tallies[6][SAMPLE_LEVELS], object_tallies[4][SAMPLE_LEVELS];
    struct analyses_tally row_startup[6][SAMPLE_LEVELS], object_startup[4][SAMPLE_LEVELS];
};

/* The instruction of kernel:14 is of a header of the system, and inlined at line 20. */
static bool profile_of_header;

void loader_place_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_place *out)
{
    (void)symbols;
    static const struct {
        uint64_t pc;
        struct loader_place place;
    } places[] = {
        {0x401000, {"app", "main", 0, "/src/app.c", 5}},       {0x401010, {"app", "kernel", 0, "/src/app.c", 12}},
        {0x401020, {"app", "kernel", 0x10, "/src/app.c", 14}}, {0x401103, {"app", "main", 0x103, "/src/app.c", 4}},
        {0x40010000, {"libc.so.6", NULL, 0x10000, NULL, 0}},
    };
    *out = (struct loader_place){.offset = pc.v};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i].pc == pc.v)
            *out = places[i].place;
    }
    if (profile_of_header && pc.v == 0x401020)
        *out = (struct loader_place){"app", "kernel", 0x10, "/usr/include/add.h", 3};
}

void loader_symbol_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_place *out)
{
    loader_place_of(symbols, pc, out);
    out->file = NULL;
    out->line = 0;
}

void loader_call_place_of(struct loader_symbols *symbols, struct guest_va site, struct loader_place *out)
{
    loader_place_of(symbols, (struct guest_va){site.v - 1}, out);
}

const char *loader_symbol_name_of(struct loader_symbols *symbols, struct guest_va pc)
{
    (void)symbols, (void)pc;
    return NULL;
}

bool loader_is_library(const char *symbol)
{
    (void)symbol;
    return false;
}

const char *loader_variable_declaration(struct loader_symbols *symbols, struct loader_variable_id id)
{
    (void)symbols;
    return id.module && id.number == 7 ? "double A[64][64]" : NULL;
}

/* The instruction of kernel:14 comes from add(), inlined there. */
size_t loader_frames_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_frame *frames, size_t room)
{
    (void)symbols, (void)room;
    frames[0] = (struct loader_frame){0};
    if (pc.v != 0x401020)
        return 1;
    frames[0] = (struct loader_frame){"add", "/src/add.h", "add.h", 3, 0};
    frames[1] = (struct loader_frame){"kernel", "/src/app.c", "app.c", 14, 0};
    if (!profile_of_header)
        return 2;
    frames[0] = (struct loader_frame){"lib::inner(int)", "/usr/include/add.h", "add.h", 3, 0};
    frames[1] = (struct loader_frame){"lib::list<int>::add(int)", "/usr/include/list.h", "list.h", 9, 0};
    frames[2] = (struct loader_frame){"kernel", "/src/app.c", "app.c", 20, 0};
    return 3;
}

/* Both instructions of kernel have the file of its second one, the only one whose frames are known. */
bool loader_function_entry(struct loader_symbols *symbols, struct guest_va pc, struct guest_va *out)
{
    (void)symbols;
    out->v = 0x401020;
    return pc.v == 0x401010 || pc.v == 0x401020;
}

bool loader_linked_of(struct loader_symbols *symbols, struct guest_va pc, const char **path, uint64_t *address)
{
    (void)symbols;
    const bool program = pc.v < 0x40000000;
    *path = program ? "/bin/app" : "/lib/libc.so.6";
    *address = pc.v - (program ? 0x400000 : 0x40000000);
    return true;
}

bool loader_names_file(const char *path, const char *file) { return strcmp(path, file) == 0; }

/* Nothing is known of structures. */
struct loader_type_id loader_variable_type(struct loader_symbols *symbols, struct loader_variable_id id)
{
    (void)symbols, (void)id;
    return (struct loader_type_id){.module = NULL};
}

struct loader_type_id loader_receiver_type(struct loader_symbols *symbols, struct guest_va site)
{
    (void)symbols, (void)site;
    return (struct loader_type_id){.module = NULL};
}

const struct loader_struct *loader_struct_of(struct loader_symbols *symbols, struct loader_type_id type, bool pointed)
{
    (void)symbols, (void)type, (void)pointed;
    return NULL;
}

/* Nor of arrays. */
const struct loader_array *loader_array_of(struct loader_symbols *symbols, struct loader_type_id type, bool pointed)
{
    (void)symbols, (void)type, (void)pointed;
    return NULL;
}

uint64_t loader_array_step(const struct loader_array *array, uint32_t dimension)
{
    (void)array, (void)dimension;
    return 0;
}

char *loader_array_text(char *buffer, size_t bytes, const char *name, const struct loader_array *array,
                        uint32_t dimension, uint64_t more)
{
    (void)bytes, (void)name, (void)array, (void)dimension, (void)more;
    return buffer;
}

static inline void profile_add(struct analyses_tally *to, const struct analyses_tally *from)
{
    for (size_t class_ = 0; class_ < ANALYSES_CLASSES; class_++) {
        to->reads[class_] += from->reads[class_];
        to->writes[class_] += from->writes[class_];
    }
    to->placement += from->placement;
}

static inline void profile_sum_objects(struct profile_sample *s)
{
    for (size_t row = 0; row < s->result.row_count; row++) {
        for (size_t level = 0; level < SAMPLE_LEVELS; level++) {
            profile_add(&s->object_tallies[s->rows[row].object][level], &s->row_tallies[row][level]);
            profile_add(&s->object_startup[s->rows[row].object][level], &s->row_startup[row][level]);
        }
    }
}

static inline void profile_fill(struct profile_sample *s)
{
    static const struct analyses_insn insns[4] = {{{0x401000}, 10, 0, 10},
                                                  {{0x401010}, 2000, 2000, 0},
                                                  {{0x401020}, 1500, 400, 1490},
                                                  {{0x40010000}, 6490, 100, 0}};
    static const struct guest_va sites[] = {{0x401104}};
    const struct analyses_object objects[4] = {
        {.kind = ANALYSES_CODE, .name = "app", .module = "app", .base = 0x401000, .bytes = 4096, .blocks = 1},
        {.kind = ANALYSES_STATIC,
         .name = "A",
         .variable = {(struct loader_module *)s, 7},
         .module = "app",
         .base = 0x404000,
         .bytes = 32768,
         .blocks = 1,
         .refs = 2400},
        {.kind = ANALYSES_HEAP,
         .name = "malloc#1",
         .base = 0x100001000,
         .bytes = 4500,
         .blocks = 1,
         .site = {0x401104},
         .sites = sites,
         .site_count = 1,
         .refs = 1590},
        {.kind = ANALYSES_STACK, .name = "stack", .base = 0x3ffff0000000, .bytes = 8192, .blocks = 1, .refs = 10}};
    static const struct analyses_pair pairs[9] = {{0, 2, 2, ANALYSES_REASON_INTRA, 150},
                                                  {0, 4, 2, ANALYSES_REASON_INTER, 60},
                                                  {0, 3, 2, ANALYSES_REASON_INTRA, 45},
                                                  {0, 2, 4, ANALYSES_REASON_INTER, 40},
                                                  {0, 2, ANALYSES_NOBODY, ANALYSES_REASON_UNKNOWN, 10},
                                                  {0, 5, 5, ANALYSES_REASON_INTRA, 10},
                                                  {0, 3, 1, ANALYSES_REASON_SCALAR, 5},
                                                  {1, 2, 0, ANALYSES_REASON_CODE, 6},
                                                  {1, 4, 2, ANALYSES_REASON_INTER, 4}};
    static const struct {
        uint32_t insn, object;
        struct analyses_tally level[SAMPLE_LEVELS];
    } rows[6] = {
        {0, 0, {[L2] = {.reads = {2}}, [L3] = {.reads = {2}}, [L1I] = {.reads = {2, 1}}}},
        {0, 3, {[L1D] = {.writes = {8}}, [L2] = {.writes = {8}}, [L3] = {.writes = {8}}}},
        {1,
         1,
         {[L1D] = {.reads = {80, 40, 200}, .placement = 7}, [L2] = {.reads = {80, 10, 6}}, [L3] = {.reads = {80}}}},
        {2, 1, {[L1D] = {.reads = {0, 0, 30}, .writes = {0, 0, 20}}}},
        {2,
         2,
         {[L1D] = {.reads = {40}, .writes = {0, 24, 60}},
          [L2] = {.reads = {22}, .writes = {18, 10, 4}},
          [L3] = {.reads = {18}, .writes = {22}}}},
        {3, 1, {[L1D] = {.reads = {0, 0, 10}}}}};
    *s = (struct profile_sample){
        .result = {
            .level_count = 3, .has_l1i = true, .insn_count = 4, .object_count = 4, .row_count = 6, .pair_count = 9}};
    sample_fill(&s->base);
    memcpy(s->insns, insns, sizeof insns);
    memcpy(s->objects, objects, sizeof objects);
    memcpy(s->pairs, pairs, sizeof pairs);
    for (size_t i = 0; i < 6; i++) {
        memcpy(s->row_tallies[i], rows[i].level, sizeof rows[i].level);
        s->rows[i] = (struct analyses_row){
            .insn = rows[i].insn, .object = rows[i].object, .level = s->row_tallies[i], .startup = s->row_startup[i]};
    }
    s->row_startup[0][L1I].reads[0] = s->row_startup[0][L2].reads[0] = s->row_startup[0][L3].reads[0] = 1;
    s->row_startup[5][L1D].reads[2] = 10;
    for (size_t i = 0; i < 4; i++) {
        s->objects[i].level = s->object_tallies[i];
        s->objects[i].startup = s->object_startup[i];
    }
    profile_sum_objects(s);
    for (size_t i = 0; i < 9; i++)
        s->result.reasons[pairs[i].level][pairs[i].reason] += pairs[i].count;
    s->result.insns = s->insns;
    s->result.objects = s->objects;
    s->result.rows = s->rows;
    s->result.pairs = s->pairs;
    s->base.run.sim.profile = &s->result;
    s->base.run.sim.symbols = (struct loader_symbols *)s; /* only handed on to loader_place_of() above */
}

/* The report as JSON, for json_decref(). */
static inline json_t *json_of(const struct report_run *run)
{
    char *text = written_report(run, REPORT_JSON);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

#endif
