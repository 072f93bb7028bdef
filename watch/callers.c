/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A call of the allocator returns to a site in some function. When that function returns the block that it has just
 *   got, it is a wrapper, and the place where it returns to states more of the block; so on outwards. Of a site is
 *   known:
 *
 *       passes   a block that came there was the result of the function around it; or that function is one of the
 *                standard library of C++ or Rust (the container of a block follows from its caller), or has been
 *                named
 *       keeps    a block that came there was not
 *       else     not known: the return of that function is watched, and RAX there is held against the block
 *
 *   A result is the block when it is its address, or the address in it that rounding up to 16 or more bytes gives, with
 *   room for a header. The first block decides for the site; those that came in between are told one by one.
 *   Where a function returns to and with what RSP is in the call frame information (loader_unwind).
 * Cost
 *   Nothing more for a site that keeps its blocks; about 0.6 us a block for the registers and frames of the functions
 *   that pass it on. A return is watched until its site is known.
 * Invariants (callers_check)
 *   RSP never rises from one wait to the next; no site is waited for more than WAITS times, so memory is bounded by the
 *   sites.
 * Not modelled
 *   Functions that give a block out through a pointer or in a structure: they keep it, unless named. Code without call
 *   frame information; functions that are inlined into others (the line table knows those). A pool whose first answer
 *   is the start of its memory passes that memory on. Sites further than STREAM_CALLERS calls out.
 */
#include "watch/callers_priv.h"

#include <string.h>

#define WAITS 32u

enum { RAX = 0, RSP = 4 };

/* What is known of a site: one of these, or how many blocks are waited for. */
enum { SITE_PASSES = 1u << 29, SITE_NAMED = 1u << 30, SITE_KEEPS = 1u << 31 };
#define SITE_GOES_ON (SITE_PASSES | SITE_NAMED) /* NAMED: by the name of its function */

/* A function that may return a block. */
struct wait {
    uint64_t rsp, pc; /* where it returns to */
    uint64_t site;    /* in it: where it got the block */
    uint32_t passed;  /* sites that the block has come to */
    struct callers_block block;
};

/* A thread's functions that may return one, the innermost last. */
struct waits {
    struct wait *waits;
    uint32_t count, room;
};

struct callers {
    struct callers_config config;
    bool *met; /* [wrapper]: a block came to it */
    struct c2_map *sites;
    struct waits *threads;
    uint32_t thread_count, thread_room;
    struct waits *now; /* of the thread that runs */
};

/* ------------------------------------------------------------------ sites */

/* NAME means a function of that symbol, the compiler's variants of it (NAME.part.0), and one that is shown as
 * NAME(...). */
static bool callers_is_called(const char *symbol, const char *shown, const char *name)
{
    const size_t bytes = strlen(name);
    return (strncmp(symbol, name, bytes) == 0 && strchr("@.", symbol[bytes])) ||
           (shown && strncmp(shown, name, bytes) == 0 && strchr("(", shown[bytes]));
}

static bool callers_is_named(struct callers *callers, struct guest_va call, const char *symbol)
{
    struct loader_place place = {.function = NULL};
    if (callers->config.wrapper_count != 0)
        loader_symbol_of(callers->config.symbols, call, &place);
    bool named = false;
    for (size_t i = 0; i < callers->config.wrapper_count; i++) {
        if (!callers_is_called(symbol, place.function, callers->config.wrappers[i]))
            continue;
        callers->met[i] = named = true;
    }
    return named;
}

static uint64_t knowledge_of(struct callers *callers, uint64_t site)
{
    uint64_t known;
    const struct guest_va call = {site - 1};
    if (c2_map_get(callers->sites, site, &known))
        return known;
    const char *symbol = loader_symbol_name_of(callers->config.symbols, call);
    return symbol && (loader_is_library(symbol) || callers_is_named(callers, call, symbol)) ? SITE_NAMED : 0;
}

/* ------------------------------------------------------------------ going outwards */

static bool callers_read_guest(void *self, uint64_t address, uint64_t *out) { return guest_word(self, address, out); }

static bool step_out(const struct callers *callers, struct loader_registers *registers)
{
    const struct loader_memory memory = {callers->config.mmu, callers_read_guest};
    return loader_unwind(callers->config.symbols, registers, &memory);
}

static void callers_take_registers(struct loader_registers *registers, struct engine *engine, uint64_t pc)
{
    static const uint8_t needed[] = {3, 4, 5, 12, 13, 14, 15};
    *registers = (struct loader_registers){.pc = pc};
    for (size_t i = 0; i < sizeof needed; i++)
        registers->gpr[needed[i]] = engine_gpr(engine, needed[i]);
}

/* A wait is over without an answer. */
static void callers_give_up(struct callers *callers, uint64_t site)
{
    uint64_t known;
    if (c2_map_get(callers->sites, site, &known) && known < SITE_PASSES && known > 0)
        c2_map_put(callers->sites, site, known - 1, NULL); /* is there: needs no memory */
}

static void callers_drop(struct callers *callers)
{
    callers_give_up(callers, callers->now->waits[--callers->now->count].site);
}

/* Outwards over the sites that pass, at most `room`; then waits for the return of the function around the last one, if
 * that is not known to keep its blocks. registers: at the first site; *count: sites gone to. */
static enum c2_status climb(struct callers *callers, struct engine *engine, struct loader_registers *registers,
                            uint64_t *sites, uint32_t *count, uint32_t room, struct wait *wait, struct c2_error *err)
{
    *wait = (struct wait){.pc = 0};
    *count = 0;
    uint64_t known;
    while (*count < room && ((known = knowledge_of(callers, registers->pc)) & SITE_GOES_ON)) {
        if (!step_out(callers, registers))
            return C2_OK;
        sites[(*count)++] = registers->pc | (known & SITE_NAMED ? STREAM_ASSUMED : 0);
    }
    wait->site = registers->pc;
    if (*count == room || knowledge_of(callers, wait->site) >= WAITS || !step_out(callers, registers))
        return C2_OK;
    wait->pc = registers->pc;
    wait->rsp = registers->gpr[RSP];
    return callers->config.watch(callers->config.watch_self, engine, wait->pc, err);
}

static enum c2_status add_wait(struct callers *callers, const struct wait *wait, struct c2_error *err)
{
    if (!c2_grow((void **)&callers->now->waits, &callers->now->room, callers->now->count, sizeof *callers->now->waits))
        return c2_fail_memory(err, "the callers of the allocator");
    enum c2_status status = c2_map_put(callers->sites, wait->site, knowledge_of(callers, wait->site) + 1, err);
    if (status == C2_OK)
        callers->now->waits[callers->now->count++] = *wait;
    return status;
}

enum c2_status callers_allocated(struct callers *callers, struct engine *engine, const struct callers_block *block,
                                 uint64_t sites[STREAM_CALLERS], uint32_t *count, struct c2_error *err)
{
    struct loader_registers registers;
    struct wait wait;
    *count = 1;
    if (knowledge_of(callers, sites[0]) & SITE_KEEPS)
        return C2_OK;
    callers_take_registers(&registers, engine, sites[0]);
    enum c2_status status = climb(callers, engine, &registers, &sites[1], count, STREAM_CALLERS - 1, &wait, err);
    ++*count;
    if (status != C2_OK || wait.pc == 0)
        return status;
    while (callers->now->count && callers->now->waits[callers->now->count - 1].rsp < wait.rsp)
        callers_drop(callers); /* of functions that were left */
    wait.block = *block;
    wait.passed = *count;
    return add_wait(callers, &wait, err);
}

/* ------------------------------------------------------------------ returns */

static bool callers_is_block(const struct callers_block *block, uint64_t result)
{
    const uint64_t offset = result - block->address, alignment = result & -result;
    return offset == 0 || (offset < block->bytes && alignment >= 16 && offset < 2 * alignment);
}

static bool callers_is_alive(const struct callers *callers, const struct callers_block *block)
{
    uint64_t number;
    return c2_map_get(callers->config.blocks, block->address, &number) && number == block->number;
}

/* The waits for this return; those whose blocks came back go to the front of the list that begins at `out`. */
static uint32_t callers_judge(struct callers *callers, struct engine *engine, uint64_t pc, struct wait *out,
                              uint32_t count)
{
    const uint64_t result = engine_gpr(engine, RAX);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct wait wait = out[i];
        if (wait.pc != pc || !callers_is_alive(callers, &wait.block)) {
            callers_give_up(callers, wait.site);
            continue;
        }
        const bool passed = callers_is_block(&wait.block, result);
        if (knowledge_of(callers, wait.site) < SITE_PASSES)
            c2_map_put(callers->sites, wait.site, passed ? SITE_PASSES : SITE_KEEPS, NULL); /* is there */
        if (passed)
            out[kept++] = wait;
    }
    return kept;
}

static enum c2_status mark_passed(struct engine *engine, const struct wait *wait, const uint64_t *sites, uint32_t count,
                                  struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < count && wait->passed + i < STREAM_CALLERS && status == C2_OK; i++)
        status = engine_mark(engine, STREAM_PASSED, (const uint64_t[]){wait->block.address, sites[i]}, 2, err);
    return status;
}

/* The blocks of these waits have come to `pc`, and go on from there all alike. */
static enum c2_status callers_go_on(struct callers *callers, struct engine *engine, uint64_t pc, uint32_t first,
                                    uint32_t count, struct c2_error *err)
{
    struct loader_registers registers;
    uint64_t sites[STREAM_CALLERS] = {pc};
    uint32_t further;
    struct wait next;
    callers_take_registers(&registers, engine, pc);
    enum c2_status status = climb(callers, engine, &registers, &sites[1], &further, STREAM_CALLERS - 1, &next, err);
    callers->now->count = first;
    for (uint32_t i = first; i < first + count && status == C2_OK; i++) {
        struct wait wait = callers->now->waits[i]; /* none is added before it */
        status = mark_passed(engine, &wait, sites, 1 + further, err);
        next.block = wait.block;
        next.passed = wait.passed + 1 + further;
        if (status == C2_OK && next.pc != 0 && next.passed < STREAM_CALLERS && knowledge_of(callers, next.site) < WAITS)
            status = add_wait(callers, &next, err);
    }
    return status;
}

static bool waits_fall(const struct waits *waits)
{
    for (uint32_t i = 1; i < waits->count; i++)
        if (waits->waits[i].rsp > waits->waits[i - 1].rsp)
            return false;
    return true;
}

enum c2_status callers_returned(struct callers *callers, struct engine *engine, uint64_t pc, uint64_t rsp,
                                struct c2_error *err)
{
    C2_PROMISE(waits_fall(callers->now));
    while (callers->now->count && callers->now->waits[callers->now->count - 1].rsp < rsp)
        callers_drop(callers);
    uint32_t first = callers->now->count;
    while (first && callers->now->waits[first - 1].rsp == rsp)
        first--;
    const uint32_t count = callers->now->count - first;
    if (count == 0)
        return C2_OK;
    const uint32_t passed = callers_judge(callers, engine, pc, &callers->now->waits[first], count);
    callers->now->count = first;
    return passed == 0 ? C2_OK : callers_go_on(callers, engine, pc, first, passed, err);
}

/* ------------------------------------------------------------------ threads */

enum c2_status callers_switch(struct callers *callers, uint32_t thread, struct c2_error *err)
{
    while (callers->thread_count <= thread) {
        if (!c2_grow((void **)&callers->threads, &callers->thread_room, callers->thread_count,
                     sizeof *callers->threads))
            return c2_fail_memory(err, "the callers of the allocator");
        callers->threads[callers->thread_count++] = (struct waits){.count = 0};
    }
    callers->now = &callers->threads[thread];
    return C2_OK;
}

void callers_ended(struct callers *callers, uint32_t thread)
{
    struct waits *waits = &callers->threads[thread];
    while (waits->count)
        callers_give_up(callers, waits->waits[--waits->count].site);
}

/* ------------------------------------------------------------------ life */

enum c2_status callers_create(struct callers **out, const struct callers_config *config, struct c2_error *err)
{
    *out = NULL;
    struct callers *callers = c2_calloc(1, sizeof *callers);
    if (!callers)
        return c2_fail_memory(err, "the callers of the allocator");
    callers->config = *config;
    callers->met = c2_calloc(config->wrapper_count + 1, sizeof *callers->met);
    enum c2_status status = !callers->met ? c2_fail_memory(err, "the callers of the allocator")
                                          : c2_map_create(&callers->sites, err);
    if (status == C2_OK)
        status = callers_switch(callers, 0, err);
    if (status == C2_OK)
        *out = callers;
    else
        callers_destroy(callers);
    return status;
}

void callers_destroy(struct callers *callers)
{
    if (!callers)
        return;
    c2_map_destroy(callers->sites);
    for (uint32_t i = 0; i < callers->thread_count; i++)
        c2_free(callers->threads[i].waits);
    c2_free(callers->threads);
    c2_free(callers->met);
    c2_free(callers);
}

bool callers_met(const struct callers *callers, size_t wrapper) { return callers->met[wrapper]; }

void callers_forget(struct callers *callers)
{
    struct c2_map *sites;
    if (c2_map_create(&sites, NULL) != C2_OK)
        return; /* what is known of code that has gone stays */
    c2_map_destroy(callers->sites);
    callers->sites = sites;
    for (uint32_t i = 0; i < callers->thread_count; i++)
        callers->threads[i].count = 0;
    loader_unwind_forget(callers->config.symbols);
}

static void callers_visit_wait(struct wait *wait, struct checkpoint *c)
{
    checkpoint_number(c, &wait->rsp, CHECKPOINT_ANY);
    checkpoint_number(c, &wait->pc, CHECKPOINT_ANY);
    checkpoint_number(c, &wait->site, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, wait->passed, STREAM_CALLERS);
    checkpoint_number(c, &wait->block.address, CHECKPOINT_ANY);
    checkpoint_number(c, &wait->block.bytes, CHECKPOINT_ANY);
    checkpoint_number(c, &wait->block.number, CHECKPOINT_ANY);
}

static void visit_waits(struct waits *waits, struct checkpoint *c)
{
    uint64_t count = waits->count;
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!checkpoint_writes(c) && !checkpoint_room(c, (void **)&waits->waits, &waits->room, i, sizeof *waits->waits))
            break;
        callers_visit_wait(&waits->waits[i], c);
        waits->count = i + 1;
    }
    if (!waits_fall(waits))
        checkpoint_damaged(c, "calls of the allocator that are in no order");
}

void callers_checkpoint(struct callers *callers, uint32_t threads, struct checkpoint *c)
{
    struct c2_error why;
    uint64_t running = (uint64_t)(callers->now - callers->threads);
    for (size_t i = 0; i < callers->config.wrapper_count; i++)
        CHECKPOINT_NUMBER(c, callers->met[i], 1);
    checkpoint_map(c, callers->sites);
    checkpoint_number(c, &running, threads ? threads - 1 : 0);
    if (checkpoint_status(c, NULL) != C2_OK)
        return;
    if (callers_switch(callers, threads - 1, &why) != C2_OK ||
        callers_switch(callers, (uint32_t)running, &why) != C2_OK)
        checkpoint_fail(c, &why);
    for (uint32_t i = 0; i < threads && checkpoint_status(c, NULL) == C2_OK; i++)
        visit_waits(&callers->threads[i], c);
}

void callers_check(const struct callers *callers)
{
    for (uint32_t i = 0; i < callers->thread_count; i++) {
        C2_ASSERT(callers->threads[i].count <= callers->threads[i].room);
        C2_ASSERT(waits_fall(&callers->threads[i]));
    }
}
