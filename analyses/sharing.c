/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing: an estimate of false sharing, by what threads access and not by when.
 *
 * Model
 *   A parallel section is what lies between two barriers (STREAM_BARRIER), and between the points where the program
 *   begins and ends to have more than one thread. Within it accesses of different threads may come in any order. Each
 *   thread has a core and a cache of its own, without end. Of each block, a line of memory:
 *   phi    the most coherence events that an order of the section's accesses can cause: 2 p - 1, where p is the largest
 *          number of pairs of accesses that can follow each other so that one takes the block from the other: of two
 *          threads, and one of them a store (sharing_pairs.c). The first access of all is no loss.
 *   theta  of these, those that may be an exchange of data: twice the pairs of a store and a load of different threads
 *          with the same offset and size.
 *   A block that a thread accesses in a section, and that another one had when it was last accessed before, moves once
 *   more, as an exchange: one event of both, if one of the two sections has stored to it.
 *   What is false is phi less theta, for each block in each section, and not below 0.
 * Counting
 *   A reference is an access of each block that it touches, with its bytes there; a modification is a load and a store.
 *   Sections without accesses are not counted as such.
 *   Objects  A block belongs to the object that is accessed most in it, of equal ones the first in the reports.
 *   Lines    of the source: accesses to blocks with false events, in sections of several threads.
 * Invariants (asserted when the run is over)
 *   The accesses to all blocks are the simulator's line accesses; blocks, sections and objects have the same sums.
 * Memory
 *   Some 100 bytes for each line of memory that is accessed; while there are several threads, 50 for each way in which
 *   one accesses a block in the section (offset, size, load or store), and 60 for each block and instruction.
 * Not modelled
 *   When things happen: the real number of events may be anything up to phi, and phi less theta is no bound but a
 *   guess. Caches that lose blocks; synchronization of some threads only (locks, joins): it makes less of what is
 *   counted here possible. More than two caches holding a block at the same time cost no more than two.
 * Source
 *   J. Weidendorfer, "Simulation Driven Performance Analysis for Software Optimization", habilitation thesis, TU
 *   Muenchen, section 4.2 (Pluto, by S. M. Guenther). There two threads; loads before the first store of a block are
 *   dropped there, and counted here; a block moves between neighbouring sections only there, with its holders.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/sharing.h"
#include "analyses/where.h"

#define THREADS_MOST 512u

/* The threads that had a block in a section. */
struct holders {
    uint64_t section; /* 0: none */
    uint32_t thread;  /* one of them */
    bool several, stored;
};

struct block {
    uint64_t line;
    struct holders now, before;
    struct sharing_block result;
};

/* Of one block: accesses by one instruction to one object, in sections of several threads. */
struct contact {
    uint32_t block, spot;
    struct sharing_accesses accesses;
};

struct sharing {
    struct analysis base;
    const struct caches_machine *machine;
    struct loader_symbols *symbols;
    const struct analyses_profile_result *profile; /* of this machine, at the end */
    const struct analysis *profiler;
    struct where *where;
    unsigned line_shift;

    uint32_t tids[THREADS_MOST]; /* [thread] */
    uint32_t thread_count, last_thread, alive;
    struct c2_map *number_of; /* line -> block */
    struct block *blocks;
    uint32_t block_count, block_room;
    struct c2_map *contact_of; /* block and spot -> contact */
    struct contact *contacts;
    uint32_t contact_count, contact_room;

    /* Of the section under way: */
    uint64_t section, accesses;                     /* its number, from 1 on */
    uint32_t *touched, touched_count, touched_room; /* blocks */
    struct c2_map *way_of; /* block, offset, size, load or store, thread -> number of accesses */
    uint32_t threads;      /* the most alive */

    struct sharing_section *sections; /* with events */
    uint32_t listed, section_room;
    uint64_t sections_counted, all_accesses;
    struct sharing_block *block_list;
    struct sharing_object *object_list;
    struct sharing_line *line_list;
    struct sharing_insn *insn_list;
    struct analyses_sharing_result result;
};

/* ------------------------------------------------------------------ life */

static void sharing_destroy(struct analysis *analysis)
{
    struct sharing *s = (struct sharing *)analysis;
    where_destroy(s->where);
    c2_map_destroy(s->number_of);
    c2_map_destroy(s->contact_of);
    c2_map_destroy(s->way_of);
    c2_free(s->blocks);
    c2_free(s->contacts);
    c2_free(s->touched);
    c2_free(s->sections);
    c2_free(s->block_list);
    c2_free(s->object_list);
    c2_free(s->line_list);
    c2_free(s->insn_list);
    c2_free(s);
}

static enum c2_status make_maps(struct sharing *s, struct c2_error *err)
{
    enum c2_status status = c2_map_create(&s->number_of, err);
    if (status == C2_OK)
        status = c2_map_create(&s->contact_of, err);
    return status == C2_OK ? c2_map_create(&s->way_of, err) : status;
}

static enum c2_status sharing_create(struct analysis **out, const struct analyses_setup *setup,
                                     const struct analyses *analyses, struct c2_error *err)
{
    struct sharing *s = c2_calloc(1, sizeof *s);
    if (!s)
        return c2_fail_memory(err, "the estimate of sharing");
    s->base.kind = &analysis_sharing;
    s->machine = setup->machine;
    s->symbols = setup->symbols;
    s->line_shift = c2_log2(setup->machine->line_bytes);
    s->profiler = analyses_find(analyses, ANALYSIS_profile);
    s->section = 1;
    enum c2_status status = make_maps(s, err);
    if (status == C2_OK)
        status = where_create(&s->where, analyses, err);
    if (status == C2_OK)
        *out = &s->base;
    else
        sharing_destroy(&s->base);
    return status;
}

/* ------------------------------------------------------------------ accesses */

static enum c2_status sharing_thread_of(struct sharing *s, uint32_t tid, uint32_t *out, struct c2_error *err)
{
    if (s->last_thread < s->thread_count && s->tids[s->last_thread] == tid) {
        *out = s->last_thread;
        return C2_OK;
    }
    uint32_t i = 0;
    while (i < s->thread_count && s->tids[i] != tid)
        i++;
    if (i == THREADS_MOST)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "--sharing-estimate: the run has more than %u threads", THREADS_MOST);
    s->tids[i] = tid;
    s->thread_count += i == s->thread_count;
    *out = s->last_thread = i;
    return C2_OK;
}

static enum c2_status sharing_block_of(struct sharing *s, uint64_t line, uint32_t *out, struct c2_error *err)
{
    uint64_t number;
    if (c2_map_get(s->number_of, line, &number)) {
        *out = (uint32_t)number;
        return C2_OK;
    }
    *out = s->block_count;
    if (!c2_grow((void **)&s->blocks, &s->block_room, s->block_count, sizeof *s->blocks))
        return c2_fail_memory(err, "the blocks that may be shared");
    s->blocks[s->block_count++] = (struct block){.line = line, .result.address = {line << s->line_shift}};
    return c2_map_put(s->number_of, line, *out, err);
}

static enum c2_status sharing_hold(struct sharing *s, uint32_t number, uint32_t thread, bool store,
                                   struct c2_error *err)
{
    struct block *block = &s->blocks[number];
    if (block->now.section != s->section) {
        if (!c2_grow((void **)&s->touched, &s->touched_room, s->touched_count, sizeof *s->touched))
            return c2_fail_memory(err, "the blocks of a section");
        s->touched[s->touched_count++] = number;
        block->before = block->now;
        block->now = (struct holders){.section = s->section, .thread = thread};
    }
    block->now.several |= block->now.thread != thread;
    block->now.stored |= store;
    return C2_OK;
}

static enum c2_status count_way(struct sharing *s, uint64_t key, struct c2_error *err)
{
    uint64_t count = 0;
    c2_map_get(s->way_of, key, &count);
    return c2_map_put(s->way_of, key, count + 1, err);
}

static uint64_t way_key(uint32_t block, uint32_t offset, uint32_t size, bool store, uint32_t thread)
{
    return (uint64_t)block << 32 | offset << 20 | size << 10 | (uint32_t)store << 9 | thread;
}

static enum c2_status contact_of(struct sharing *s, uint32_t block, uint32_t spot, uint32_t *out, struct c2_error *err)
{
    const uint64_t key = (uint64_t)block << 32 | spot;
    uint64_t number;
    if (c2_map_get(s->contact_of, key, &number)) {
        *out = (uint32_t)number;
        return C2_OK;
    }
    *out = s->contact_count;
    if (!c2_grow((void **)&s->contacts, &s->contact_room, s->contact_count, sizeof *s->contacts))
        return c2_fail_memory(err, "who accesses shared blocks");
    s->contacts[s->contact_count++] = (struct contact){.block = block, .spot = spot};
    return c2_map_put(s->contact_of, key, *out, err);
}

static void count_access(struct sharing_accesses *accesses, bool store)
{
    accesses->loads += !store;
    accesses->stores += store;
}

static enum c2_status contact(struct sharing *s, uint32_t block, const struct sim_reference *reference,
                              struct guest_va va, struct c2_error *err)
{
    uint32_t spot, number;
    enum c2_status status = where_spot(s->where, reference->code, reference->kind, va, &spot, err);
    if (status == C2_OK)
        status = contact_of(s, block, spot, &number, err);
    if (status == C2_OK)
        count_access(&s->contacts[number].accesses, reference->kind == SIM_WRITE);
    return status;
}

/* The bytes of a reference that lie in one block. */
static enum c2_status sharing_access_block(struct sharing *s, const struct sim_reference *reference, uint32_t thread,
                                           uint64_t from, uint64_t end, struct c2_error *err)
{
    const bool store = reference->kind == SIM_WRITE;
    const uint32_t offset = (uint32_t)(from & (s->machine->line_bytes - 1)), size = (uint32_t)(end - from);
    uint32_t block;
    enum c2_status status = sharing_block_of(s, from >> s->line_shift, &block, err);
    if (status == C2_OK)
        status = sharing_hold(s, block, thread, store, err);
    s->accesses++;
    if (status != C2_OK || s->alive < 2)
        return status;
    status = count_way(s, way_key(block, offset, size, store, thread), err);
    return status == C2_OK ? contact(s, block, reference, (struct guest_va){from}, err) : status;
}

static enum c2_status sharing_reference(struct sharing *s, const struct sim_reference *reference, struct c2_error *err)
{
    const uint64_t end = reference->va.v + reference->size;
    uint32_t thread = 0;
    if (reference->kind == SIM_FETCH)
        return C2_OK;
    enum c2_status status = sharing_thread_of(s, reference->tid, &thread, err);
    for (uint64_t at = reference->va.v; at < end && status == C2_OK;) {
        const uint64_t next = c2_align_down(at, s->machine->line_bytes) + s->machine->line_bytes;
        status = sharing_access_block(s, reference, thread, at, next < end ? next : end, err);
        at = next;
    }
    return status;
}

static enum c2_status sharing_references(void *self, const struct sim_reference *list, size_t count,
                                         struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = sharing_reference(self, &list[i], err);
    return status;
}

/* ------------------------------------------------------------------ sections */

static void sharing_add_events(struct sharing *s, struct block *block, struct sharing_section *section,
                               const struct sharing_events *events)
{
    sharing_add(&block->result.events, events);
    sharing_add(&section->events, events);
    sharing_add(&s->result.all, events);
}

/* Of one block: its ways, from *at on, which is left behind them. */
static struct sharing_events sharing_judge(const struct c2_pair *ways, size_t count, size_t *at,
                                           struct sharing_accesses all[THREADS_MOST],
                                           struct sharing_accesses same[THREADS_MOST], uint32_t threads)
{
    const uint64_t block = ways[*at].key >> 32;
    uint64_t exchanges = 0;
    memset(all, 0, threads * sizeof *all);
    while (*at < count && ways[*at].key >> 32 == block) {
        const uint64_t place = ways[*at].key >> 10; /* offset and size */
        memset(same, 0, threads * sizeof *same);
        for (; *at < count && ways[*at].key >> 10 == place; ++*at) {
            const uint32_t thread = ways[*at].key & (THREADS_MOST - 1);
            const bool store = ways[*at].key >> 9 & 1;
            *(store ? &same[thread].stores : &same[thread].loads) += ways[*at].value;
            *(store ? &all[thread].stores : &all[thread].loads) += ways[*at].value;
        }
        exchanges += sharing_exchanges(same, threads);
    }
    const uint64_t pairs = sharing_pairs(all, threads);
    struct sharing_events events = {.worst = pairs != 0 ? 2 * pairs - 1 : 0, .exchanged = 2 * exchanges};
    events.false_ones = events.worst > events.exchanged ? events.worst - events.exchanged : 0;
    return events;
}

static void sharing_note_block(struct block *block, const struct sharing_accesses *all, uint32_t threads)
{
    uint32_t had = 0;
    for (uint32_t i = 0; i < threads; i++) {
        had += all[i].loads + all[i].stores != 0;
        block->result.accesses.loads += all[i].loads;
        block->result.accesses.stores += all[i].stores;
    }
    block->result.threads = had > block->result.threads ? had : block->result.threads;
    block->result.sections += had > 1;
}

static enum c2_status judge_blocks(struct sharing *s, struct sharing_section *section, struct c2_error *err)
{
    struct sharing_accesses all[THREADS_MOST], same[THREADS_MOST];
    const size_t count = (size_t)c2_map_count(s->way_of);
    struct c2_pair *ways;
    enum c2_status status = c2_map_list(&ways, s->way_of, err);
    for (size_t at = 0; at < count && status == C2_OK;) {
        struct block *block = &s->blocks[ways[at].key >> 32];
        const uint64_t shared = block->result.sections;
        const struct sharing_events events = sharing_judge(ways, count, &at, all, same, s->thread_count);
        sharing_note_block(block, all, s->thread_count);
        section->blocks += block->result.sections - shared;
        sharing_add_events(s, block, section, &events);
    }
    if (status == C2_OK)
        c2_free(ways);
    return status;
}

/* What other threads had before. */
static void judge_carried(struct sharing *s, struct sharing_section *section)
{
    static const struct sharing_events moved = {.worst = 1, .exchanged = 1, .carried = 1};
    for (uint32_t i = 0; i < s->touched_count; i++) {
        struct block *block = &s->blocks[s->touched[i]];
        const struct holders *now = &block->now, *before = &block->before;
        const bool others = before->several || now->several || before->thread != now->thread;
        if (before->section != 0 && others && (before->stored || now->stored))
            sharing_add_events(s, block, section, &moved);
    }
}

static enum c2_status keep_section(struct sharing *s, const struct sharing_section *section, struct c2_error *err)
{
    s->sections_counted++;
    s->all_accesses += s->accesses;
    if (section->events.worst == 0)
        return C2_OK;
    if (!c2_grow((void **)&s->sections, &s->section_room, s->listed, sizeof *s->sections))
        return c2_fail_memory(err, "the sections of the run");
    s->sections[s->listed++] = *section;
    return C2_OK;
}

static enum c2_status end_section(struct sharing *s, struct c2_error *err)
{
    struct sharing_section section = {.number = s->section, .accesses = s->accesses, .threads = s->threads};
    if (s->accesses == 0)
        return C2_OK;
    enum c2_status status = judge_blocks(s, &section, err);
    if (status != C2_OK)
        return status;
    judge_carried(s, &section);
    status = keep_section(s, &section, err);
    s->section++;
    s->accesses = 0;
    s->touched_count = 0;
    c2_map_destroy(s->way_of);
    s->way_of = NULL;
    return status == C2_OK ? c2_map_create(&s->way_of, err) : status;
}

/* Where the program begins or ends to have more than one thread, all that was before is done. */
static enum c2_status sharing_thread(struct sharing *s, enum stream_thread what, struct c2_error *err)
{
    const uint32_t before = s->alive;
    s->alive = what == STREAM_START ? before + 1 : before - (before != 0);
    const bool parts = (before == 1 && s->alive == 2) || (before == 2 && s->alive == 1);
    const enum c2_status status = parts ? end_section(s, err) : C2_OK;
    s->threads = parts || s->alive > s->threads ? s->alive : s->threads;
    return status;
}

static enum c2_status sharing_mark(void *self, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    struct sharing *s = self;
    if (mark == STREAM_THREAD)
        return sharing_thread(s, (enum stream_thread)words[1], err);
    if (mark != STREAM_BARRIER)
        return C2_OK;
    s->threads = s->alive;
    return end_section(s, err);
}

/* Nothing has been measured so far. */
static enum c2_status sharing_dropped(void *self, struct c2_error *err)
{
    struct sharing *s = self;
    c2_map_destroy(s->number_of);
    c2_map_destroy(s->contact_of);
    c2_map_destroy(s->way_of);
    s->number_of = s->contact_of = s->way_of = NULL;
    s->block_count = s->contact_count = s->touched_count = s->listed = 0;
    s->accesses = s->sections_counted = s->all_accesses = 0;
    s->section = 1;
    s->result.all = (struct sharing_events){0};
    return make_maps(s, err);
}

/* ------------------------------------------------------------------ the end */

static int by_events(const struct sharing_events *a, const struct sharing_events *b)
{
    if (a->false_ones != b->false_ones)
        return a->false_ones > b->false_ones ? -1 : 1;
    return (a->worst < b->worst) - (a->worst > b->worst);
}

static int by_block(const void *a, const void *b)
{
    const struct sharing_block *x = a, *y = b;
    const int first = by_events(&x->events, &y->events);
    return first != 0 ? first : (x->address.v > y->address.v) - (x->address.v < y->address.v);
}

static int by_section(const void *a, const void *b)
{
    const struct sharing_section *x = a, *y = b;
    const int first = by_events(&x->events, &y->events);
    return first != 0 ? first : (x->number > y->number) - (x->number < y->number);
}

static int sharing_by_object(const void *a, const void *b)
{
    const struct sharing_object *x = a, *y = b;
    const int first = by_events(&x->events, &y->events);
    return first != 0 ? first : (x->object > y->object) - (x->object < y->object);
}

static int sharing_by_place(const void *a, const void *b)
{
    const struct sharing_line *x = a, *y = b;
    const char *const names[3][2] = {
        {x->place.object, y->place.object}, {x->place.function, y->place.function}, {x->place.file, y->place.file}};
    for (unsigned i = 0; i < 3; i++) {
        const int order = strcmp(names[i][0] ? names[i][0] : "", names[i][1] ? names[i][1] : "");
        if (order != 0)
            return order;
    }
    if (x->place.file)
        return (x->place.line > y->place.line) - (x->place.line < y->place.line);
    return (x->pc.v > y->pc.v) - (x->pc.v < y->pc.v);
}

static int sharing_by_accesses(const void *a, const void *b)
{
    const struct sharing_line *x = a, *y = b;
    const uint64_t all[2] = {x->accesses.loads + x->accesses.stores, y->accesses.loads + y->accesses.stores};
    return all[0] != all[1] ? (all[0] < all[1] ? 1 : -1) : sharing_by_place(a, b);
}

/* Of one block: the object that is accessed most. tally: zeros for each object, and left so. */
static void sharing_name_object(struct sharing *s, const struct where_row *const *row_of, const uint32_t *contacts,
                                size_t count, uint64_t *tally)
{
    struct sharing_block *block = &s->blocks[s->contacts[contacts[0]].block].result;
    block->object = SHARING_NOBODY;
    for (size_t i = 0; i < count; i++) {
        const struct contact *contact = &s->contacts[contacts[i]];
        const struct where_row *row = row_of[contact->spot];
        if (!row)
            continue;
        tally[row->object] += contact->accesses.loads + contact->accesses.stores;
        const uint64_t most = block->object != SHARING_NOBODY ? tally[block->object] : 0;
        if (tally[row->object] > most || (tally[row->object] == most && row->object < block->object))
            block->object = row->object;
    }
    for (size_t i = 0; i < count; i++)
        if (row_of[s->contacts[contacts[i]].spot])
            tally[row_of[s->contacts[contacts[i]].spot]->object] = 0;
}

/* The contacts of each block, in the order of the map's keys: block, then spot. */
static enum c2_status sharing_name_objects(struct sharing *s, const struct where_row *const *row_of,
                                           struct c2_error *err)
{
    struct c2_pair *pairs = NULL;
    uint64_t *tally = c2_calloc(s->profile->object_count + 1, sizeof *tally);
    uint32_t *list = c2_calloc(s->contact_count + 1u, sizeof *list);
    enum c2_status status = tally && list ? c2_map_list(&pairs, s->contact_of, err)
                                          : c2_fail_memory(err, "the objects of shared blocks");
    for (uint32_t i = 0; i < s->contact_count && status == C2_OK; i++)
        list[i] = (uint32_t)pairs[i].value;
    for (uint32_t i = 0, end; i < s->contact_count && status == C2_OK; i = end) {
        for (end = i + 1; end < s->contact_count && pairs[end].key >> 32 == pairs[i].key >> 32;)
            end++;
        sharing_name_object(s, row_of, &list[i], end - i, tally);
    }
    c2_free(pairs);
    c2_free(list);
    c2_free(tally);
    return status;
}

static enum c2_status list_blocks(struct sharing *s, struct c2_error *err)
{
    s->block_list = c2_calloc(s->block_count + 1u, sizeof *s->block_list);
    if (!s->block_list)
        return c2_fail_memory(err, "the blocks that may be shared");
    for (uint32_t i = 0; i < s->block_count; i++)
        if (s->blocks[i].result.events.worst != 0)
            s->block_list[s->result.block_count++] = s->blocks[i].result;
    qsort(s->block_list, s->result.block_count, sizeof *s->block_list, by_block);
    s->result.blocks = s->block_list;
    return C2_OK;
}

static enum c2_status list_objects(struct sharing *s, struct c2_error *err)
{
    const size_t count = s->profile->object_count;
    size_t used = 0;
    s->object_list = c2_calloc(count + 2, sizeof *s->object_list); /* the last one: no object */
    if (!s->object_list)
        return c2_fail_memory(err, "the objects that may be shared");
    for (size_t i = 0; i < s->result.block_count; i++) {
        const struct sharing_block *block = &s->block_list[i];
        struct sharing_object *object = &s->object_list[block->object < count ? block->object : count];
        object->blocks++;
        sharing_add(&object->events, &block->events);
    }
    for (size_t i = 0; i <= count; i++) {
        if (s->object_list[i].blocks == 0)
            continue;
        s->object_list[used] = s->object_list[i];
        s->object_list[used++].object = i < count ? (uint32_t)i : SHARING_NOBODY;
    }
    qsort(s->object_list, used, sizeof *s->object_list, sharing_by_object);
    s->result.objects = s->object_list;
    s->result.object_count = used;
    return C2_OK;
}

/* Accesses of a line of the source to blocks with false events. */
static enum c2_status list_lines(struct sharing *s, const struct where_row *const *row_of, struct c2_error *err)
{
    size_t count = 0, used = 0;
    struct sharing_line *list = s->line_list = c2_calloc(s->contact_count + 1u, sizeof *list);
    if (!list)
        return c2_fail_memory(err, "the lines that share");
    for (uint32_t i = 0; i < s->contact_count; i++) {
        const struct contact *contact = &s->contacts[i];
        if (!row_of[contact->spot] || s->blocks[contact->block].result.events.false_ones == 0)
            continue;
        const struct guest_va pc = s->profile->insns[row_of[contact->spot]->insn].pc;
        list[count] = (struct sharing_line){.place = {.offset = pc.v}, .pc = pc, .accesses = contact->accesses};
        if (s->symbols)
            loader_place_of(s->symbols, pc, &list[count].place);
        count++;
    }
    qsort(list, count, sizeof *list, sharing_by_place);
    for (size_t i = 0; i < count; i++) {
        if (used == 0 || sharing_by_place(&list[used - 1], &list[i]) != 0) {
            list[used++] = list[i];
            continue;
        }
        list[used - 1].accesses.loads += list[i].accesses.loads;
        list[used - 1].accesses.stores += list[i].accesses.stores;
    }
    qsort(list, used, sizeof *list, sharing_by_accesses);
    s->result.lines = list;
    s->result.line_count = used;
    return C2_OK;
}

static int sharing_by_insn(const void *a, const void *b)
{
    const struct sharing_insn *x = a, *y = b;
    return (x->insn > y->insn) - (x->insn < y->insn);
}

/* The same by instruction. */
static enum c2_status list_insns(struct sharing *s, const struct where_row *const *row_of, struct c2_error *err)
{
    size_t count = 0, used = 0;
    struct sharing_insn *list = s->insn_list = c2_calloc(s->contact_count + 1u, sizeof *list);
    if (!list)
        return c2_fail_memory(err, "the instructions that share");
    for (uint32_t i = 0; i < s->contact_count; i++) {
        const struct contact *contact = &s->contacts[i];
        if (row_of[contact->spot] && s->blocks[contact->block].result.events.false_ones != 0)
            list[count++] = (struct sharing_insn){row_of[contact->spot]->insn, contact->accesses};
    }
    qsort(list, count, sizeof *list, sharing_by_insn);
    for (size_t i = 0; i < count; i++) {
        if (used == 0 || sharing_by_insn(&list[used - 1], &list[i]) != 0) {
            list[used++] = list[i];
            continue;
        }
        list[used - 1].accesses.loads += list[i].accesses.loads;
        list[used - 1].accesses.stores += list[i].accesses.stores;
    }
    s->result.insns = list;
    s->result.insn_count = used;
    return C2_OK;
}

static enum c2_status make_lists(struct sharing *s, const struct where_row *rows, size_t row_count,
                                 struct c2_error *err)
{
    const struct where_row **row_of = c2_calloc(where_count(s->where) + 1u, sizeof *row_of);
    if (!row_of)
        return c2_fail_memory(err, "who shares");
    for (size_t i = 0; i < row_count; i++)
        row_of[rows[i].spot] = &rows[i];
    for (uint32_t i = 0; i < s->block_count; i++)
        s->blocks[i].result.object = SHARING_NOBODY;
    enum c2_status status = sharing_name_objects(s, row_of, err);
    if (status == C2_OK)
        status = list_blocks(s, err);
    if (status == C2_OK)
        status = list_objects(s, err);
    if (status == C2_OK)
        status = list_lines(s, row_of, err);
    if (status == C2_OK)
        status = list_insns(s, row_of, err);
    c2_free(row_of);
    return status;
}

static void check_events(const struct sharing_events *a, const struct sharing_events *b)
{
    C2_ASSERT(a->worst == b->worst && a->exchanged == b->exchanged && a->false_ones == b->false_ones &&
              a->carried == b->carried);
}

static void sharing_check_sums(const struct sharing *s, const struct sim_totals *measured)
{
    struct sharing_events blocks = {0}, sections = {0}, objects = {0};
    for (size_t i = 0; i < s->result.block_count; i++)
        sharing_add(&blocks, &s->result.blocks[i].events);
    for (size_t i = 0; i < s->result.sections_listed; i++)
        sharing_add(&sections, &s->result.sections[i].events);
    for (size_t i = 0; i < s->result.object_count; i++)
        sharing_add(&objects, &s->result.objects[i].events);
    check_events(&blocks, &s->result.all);
    check_events(&sections, &s->result.all);
    check_events(&objects, &s->result.all);
    C2_ASSERT(s->all_accesses == measured->counts.line_accesses);
}

static enum c2_status sharing_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct sharing *s = self;
    struct where_row *rows;
    size_t count;
    enum c2_status status = end_section(s, err);
    if (status == C2_OK)
        status = where_rows(&rows, &count, s->where, err);
    if (status != C2_OK)
        return status;
    s->profile = s->profiler->kind->result(s->profiler);
    status = make_lists(s, rows, count, err);
    c2_free(rows);
    if (status != C2_OK)
        return status;
    if (s->listed != 0)
        qsort(s->sections, s->listed, sizeof *s->sections, by_section);
    s->result.sections = s->sections;
    s->result.sections_listed = s->listed;
    s->result.section_count = s->sections_counted;
    s->result.threads = s->thread_count;
    sharing_check_sums(s, sim_measured(sim));
    return C2_OK;
}

static struct sim_subscriber sharing_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .mark = sharing_mark,
                                   .references = sharing_references,
                                   .dropped = sharing_dropped,
                                   .finish = sharing_finish};
}

static const void *sharing_result(const struct analysis *analysis)
{
    return &((const struct sharing *)analysis)->result;
}

const struct analysis_kind analysis_sharing = {.needs = 1u << ANALYSIS_profile,
                                               .chapter = &analyses_sharing_chapter,
                                               .create = sharing_create,
                                               .subscriber = sharing_subscriber,
                                               .result = sharing_result,
                                               .destroy = sharing_destroy};
