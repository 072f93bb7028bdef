/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * attribute: what missed, the owner of the memory, and what is to blame - for runs with attribution. The interface is
 * in sim.h; the subscribers are in notify.c.
 *
 * Model
 *   Code      Every instruction of every block has a number; how often it ran and what it read and wrote is counted for
 *             the block where all of it ran, for the instruction in every other record.
 *   Owners    A reference counts for the owner of its first byte. Repeats of a line that has one owner are counted
 *             together when the line is left. Owners are remembered: of a page that has one, of lines of others, and of
 *             words of lines that have several.
 *   Actors    The word that the caches keep with the lines that an access makes them lose. It is not requested as
 *             long as the first level has the line: such an access takes nothing from anyone.
 *   Misses    An access that the first level missed is notified behind it, with its outcome; a walk's read before the
 *             access that needed it. Where the caches can do both apart it is notified by the second stage
 *             (classifier.c).
 *   TLBs      A first level's miss is notified, with whether a walk followed. Where it is only counted, and the line
 *   access
 *             that follows misses too, both are one record, and the access site is asked for once.
 *   Prefetches  On a machine that prefetches every access comes here, none is a repeat. What prefetchers did in it and
 *             behind it is notified when its miss has been; then the same machine without them gets the access, for
 *             those that compare.
 *   Stores    On a machine whose levels pass stores on every access comes here, too. What has been passed on is
 *   notified
 *             when its access has been.
 *   Marks     When all have been notified, the attribution gives what has other owners now; those remembered for that
 *             range are forgotten. So are those of memory that appears or goes.
 *
 * Invariants
 *   Nothing is simulated otherwise than without attribution: the counts are the same.
 *   line_refs is the owner of all of the data line, or NULL.
 *
 * Cost
 *   A repeat is one more addition; a hit in another line looks up the owner of its page. What a miss costs is the
 *   analysis's affair.
 */
#include <string.h>

#include "sim/sim_priv.h"

static void forget_owners(struct sim *sim)
{
    struct sim_attributed *a = &sim->attributed;
    a->last = (struct sim_owner){.start = 1};
    for (uint32_t core = 0; core < sim->core_count; core++)
        for (size_t i = 0; i < SIM_PAGES; i++)
            sim_core_at(sim, core)->pages[i].refs = NULL;
    for (size_t i = 0; i < SIM_OWNED_LINES; i++)
        a->lines[i].line = SIM_NOWHERE;
    for (size_t i = 0; i < SIM_OWNED_WORDS; i++)
        a->words[i].word = SIM_NOWHERE;
}

void sim_attribute_init(struct sim *sim, const struct sim_attribution *attribution)
{
    C2_ASSERT(sim->core_count >= 1 && !sim->attributed.codes);
    static const struct sim_last_access_sites none;
    struct sim_attributed *a = &sim->attributed;
    forget_owners(sim);
    a->on = attribution || sim->notifies_misses || sim->notifies_accesses || sim->prefetches || sim->writes_on ||
            sim->hears_instructions || sim->core_count > 1;
    a->measuring = true;
    a->measured_bits = UINT32_MAX;
    if (attribution)
        a->to = *attribution;
    a->access_sites = sim->counts_plain && a->to.last ? a->to.last : &none;
}

void sim_attribute_free(struct sim *sim) { c2_free(sim->attributed.codes); }

/* ------------------------------------------------------------------ code */

static enum c2_status attribute_reach(struct sim_attributed *a, uint32_t count, struct c2_error *err)
{
    C2_ASSERT(a->code_count <= a->code_capacity && count >= a->code_count);
    if (count <= a->code_capacity)
        return C2_OK;
    uint64_t capacity = a->code_capacity == 0 ? C2_HOST_SIZE(16384, 1) : a->code_capacity;
    while (capacity < count)
        capacity *= 2;
    struct sim_code *codes = c2_realloc(a->codes, capacity * sizeof *codes);
    if (!codes)
        return c2_fail_memory(err, "the table of instructions");
    a->codes = codes;
    a->code_capacity = (uint32_t)capacity;
    return C2_OK;
}

/* Numbers for the instructions of a block that is simulated for the first time. */
enum c2_status sim_attribute_block(struct sim *sim, const struct stream_block *block, uint32_t *first_code,
                                   struct c2_error *err)
{
    C2_ASSERT(sim->attributed.on && block->insn_count >= 1);
    struct sim_attributed *a = &sim->attributed;
    enum c2_status status = attribute_reach(a, a->code_count + block->insn_count, err);
    if (status == C2_OK)
        status = sim_classifier_before(sim, err);
    if (status != C2_OK)
        return status;
    *first_code = a->code_count;
    sim_notify_block(sim, block);
    for (uint32_t i = 0; i < block->insn_count; i++)
        a->codes[a->code_count++] = (struct sim_code){.pc = {block->pc.v + block->insns[i].offset}};
    return C2_OK;
}

size_t sim_code_count(const struct sim *sim) { return sim->attributed.code_count; }

/* Adds the whole runs of the block that these instructions are. */
static void add_runs(struct sim_code *codes, const struct stream_block *block, uint64_t runs)
{
    for (uint32_t i = 0; i < block->insn_count; i++)
        codes[i].executed += runs;
    for (uint32_t i = 0; i < block->slot_count; i++) {
        C2_PROMISE(block->slots[i].insn < block->insn_count);
        struct sim_code *code = &codes[block->slots[i].insn];
        code->reads += stream_reads(&block->slots[i]) ? runs : 0;
        code->writes += stream_writes(&block->slots[i]) ? runs : 0;
    }
}

void sim_attribute_codes(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->plan_capacity; i++) {
        struct sim_plan *plan = &sim->plans[i];
        C2_ASSERT(plan->runs == 0 || (sim->attributed.on && plan->built));
        if (plan->runs != 0)
            add_runs(&sim->attributed.codes[plan->first.code], stream_blocks_at(sim->blocks, i), plan->runs);
        plan->runs = 0;
    }
}

void sim_attribute_drop(struct sim *sim)
{
    C2_ASSERT(sim->attributed.on);
    struct sim_attributed *a = &sim->attributed;
    sim_attribute_codes(sim);
    for (uint32_t i = 0; i < a->code_count; i++)
        a->codes[i] = (struct sim_code){.pc = a->codes[i].pc};
}

struct sim_code sim_attribute_sum(const struct sim *sim)
{
    struct sim_code sum = {.executed = 0};
    for (uint32_t i = 0; i < sim->attributed.code_count; i++) {
        const struct sim_code *code = &sim->attributed.codes[i];
        sum.executed += code->executed;
        sum.reads += code->reads;
        sum.writes += code->writes;
    }
    return sum;
}

struct sim_code sim_code_at(const struct sim *sim, uint32_t code)
{
    C2_ASSERT(code < sim->attributed.code_count);
    return sim->attributed.codes[code];
}

/* ------------------------------------------------------------------ owners */

static bool attribute_within(const struct sim_owner *owner, uint64_t start, uint64_t end)
{
    C2_PROMISE(start < end || start > UINT64_MAX - C2_PAGE_BYTES);
    return owner->start <= start && end <= owner->end;
}

/* The counter of va's owner; *whole: all of its page is his. Otherwise a->last is the owner's extent around va. */
static uint64_t *find_owner(struct sim_core *core, struct sim_page *page, uint64_t va, bool *whole)
{
    struct sim_attributed *a = &core->sim->attributed;
    *whole = SHORTCUT(page->refs);
    if (*whole)
        return page->refs;
    if (!a->to.owner || !a->measuring)
        a->last = (struct sim_owner){&a->nobody, 0, UINT64_MAX};
    else if (!SHORTCUT(attribute_within(&a->last, va, va + 1)))
        a->to.owner(a->to.self, (struct guest_va){va}, &a->last);
    C2_ASSERT(attribute_within(&a->last, va, va + 1));
    const uint64_t start = c2_align_down(va, C2_PAGE_BYTES);
    *whole = attribute_within(&a->last, start, start + C2_PAGE_BYTES);
    if (*whole)
        page->refs = a->last.refs;
    return a->last.refs;
}

/* a->last is the owner's extent around va. All of the line, if it is his. */
static bool owns_line(const struct sim_core *core, uint64_t va)
{
    const uint64_t start = va & ~core->line_mask;
    return attribute_within(&core->sim->attributed.last, start, start + core->sim->line_bytes);
}

/* His part of a line with several owners. */
static void attribute_note_word(struct sim_core *core, uint64_t va, uint64_t *refs)
{
    C2_PROMISE(refs);
    struct sim_attributed *a = &core->sim->attributed;
    const uint64_t word = va >> SIM_WORD_SHIFT, start = word << SIM_WORD_SHIFT;
    if (attribute_within(&a->last, start, start + (1u << SIM_WORD_SHIFT)))
        a->words[word & (SIM_OWNED_WORDS - 1)] = (struct sim_owned_word){word, refs};
}

void sim_attribute_own(struct sim_core *core, struct guest_va va, uint32_t refs)
{
    bool whole;
    uint64_t *of = sim_owned_word(core, va.v);
    if (!of) {
        of = find_owner(core, sim_page_of(core, va), va.v, &whole);
        if (!whole && !owns_line(core, va.v))
            attribute_note_word(core, va.v, of);
    }
    C2_PROMISE(of);
    *of += refs;
}

bool sim_attribute_line_holds(const struct sim_core *core)
{
    const struct sim_attributed *a = &core->sim->attributed;
    const uint64_t start = core->data_start;
    struct sim_owner owner;
    if (!core->line_refs || !a->to.owner || !a->measuring)
        return true;
    a->to.owner(a->to.self, (struct guest_va){start}, &owner);
    return owner.refs == core->line_refs && attribute_within(&owner, start, start + core->sim->line_bytes);
}

bool sim_attribute_word_holds(const struct sim_core *core, struct guest_va va, const uint64_t *refs)
{
    const struct sim_attributed *a = &core->sim->attributed;
    struct sim_owner owner;
    C2_ASSERT(a->to.owner && a->measuring);
    a->to.owner(a->to.self, va, &owner);
    return owner.refs == refs;
}

uint64_t *sim_attribute_line(struct sim_core *core, struct sim_page *page, struct guest_va va)
{
    bool whole;
    uint64_t *refs = find_owner(core, page, va.v, &whole);
    C2_PROMISE(refs);
    if (whole)
        return refs;
    if (!owns_line(core, va.v))
        return NULL;
    *sim_owned_line(core, va.v) = (struct sim_owned_line){va.v >> core->line_shift, refs};
    return refs;
}

static void core_changed(struct sim_core *core, uint64_t first, uint64_t pages)
{
    sim_part_line(core);
    for (uint64_t i = 0; i < pages && i < SIM_PAGES; i++) {
        struct sim_page *page = &core->pages[(first + i) & (SIM_PAGES - 1)];
        if (page->vpn - first < pages)
            page->refs = NULL;
    }
}

void sim_attribute_changed(struct sim *sim, struct guest_va start, uint64_t bytes)
{
    struct sim_attributed *a = &sim->attributed;
    a->last = (struct sim_owner){.start = 1};
    const uint64_t first = start.v >> C2_PAGE_SHIFT;
    const uint64_t pages = c2_align_up((start.v & (C2_PAGE_BYTES - 1)) + bytes, C2_PAGE_BYTES) >> C2_PAGE_SHIFT;
    for (uint32_t i = 0; i < sim->core_count; i++)
        core_changed(sim_core_at(sim, i), first, pages);
    for (size_t i = 0; i < SIM_OWNED_LINES; i++) {
        const uint64_t page = a->lines[i].line >> (C2_PAGE_SHIFT - sim->line_shift);
        if (page - first < pages)
            a->lines[i].line = SIM_NOWHERE;
    }
    for (size_t i = 0; i < SIM_OWNED_WORDS; i++) {
        const uint64_t page = a->words[i].word >> (C2_PAGE_SHIFT - SIM_WORD_SHIFT);
        if (page - first < pages)
            a->words[i].word = SIM_NOWHERE;
    }
}

/* Owners that are remembered would go on counting, or not. */
void sim_attribute_phase(struct sim *sim, enum stream_phase next)
{
    C2_ASSERT(next <= STREAM_SKIP);
    struct sim_attributed *a = &sim->attributed;
    for (uint32_t i = 0; i < sim->core_count; i++)
        sim_part_line(sim_core_at(sim, i));
    forget_owners(sim);
    a->measuring = next == STREAM_MEASURE;
    a->measured_bits = a->measuring ? UINT32_MAX : 0;
}

enum c2_status sim_attribute_mark(struct sim *sim, uint64_t header, const uint64_t *words, struct c2_error *err)
{
    C2_ASSERT(stream_header_block(header) == STREAM_MARK);
    const struct sim_attribution *to = &sim->attributed.to;
    uint64_t start = 0, bytes = 0;
    enum c2_status status = sim_classifier_before(sim, err);
    if (status == C2_OK)
        status = sim_notify_mark(sim, (enum stream_mark)stream_header_insns(header), words, err);
    if (status == C2_OK && to->changed)
        to->changed(to->self, &start, &bytes);
    if (bytes != 0)
        sim_attribute_changed(sim, (struct guest_va){start}, bytes);
    return status;
}

/* ------------------------------------------------------------------ accesses */

/* For the access that follows. */
static enum c2_status set_access_site(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                      uint64_t *access_site, struct c2_error *err)
{
    C2_PROMISE(core->sim->now == core);
    enum c2_status status = sim_ask_access_site(core, kind, va, access_site, err);
    caches_set_access_site(core->sim->caches, *access_site);
    return status;
}

/* What is notified of a line access, whatever it was. */
static struct sim_miss attribute_describe(const struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                          struct line_no line, uint64_t access_site, uint32_t first,
                                          const struct caches_outcome *outcome)
{
    C2_PROMISE(outcome && (kind != SIM_WALK || core->sim->walks_cached));
    return (struct sim_miss){.number = core->sim->attributed.number,
                             .code = core->code,
                             .kind = kind,
                             .va = va,
                             .line = line,
                             .access_site = access_site,
                             .first = first,
                             .page_log2 = sim_page_log2(core, va),
                             .entry = kind == SIM_WALK ? core->walk_entry : 0,
                             .core = core->number,
                             .turn = core->turns,
                             .measured = core->sim->attributed.measuring,
                             .outcome = outcome};
}

/* The level that an access of the program's, or a read of a walk, asks first. */
static uint32_t attribute_first_of(const struct sim *sim, enum sim_kind kind)
{
    return kind == SIM_WALK ? caches_machine(sim->caches)->walks_from : 0;
}

static bool notifies_found(const struct sim *sim, enum sim_kind kind, uint32_t first)
{
    return kind == SIM_WALK ? sim->notifies_walks : first > 0 && sim->notifies_stores;
}

static enum c2_status notify_miss(struct sim_core *core, enum sim_kind kind, struct guest_va va, struct line_no line,
                                  uint64_t access_site, uint32_t first, const struct caches_outcome *outcome,
                                  struct c2_error *err)
{
    C2_PROMISE(first <= outcome->served_by);
    struct sim *sim = core->sim;
    const bool found = outcome->served_by == first;
    if (found && !notifies_found(sim, kind, first))
        return C2_OK;
    const struct sim_miss miss = attribute_describe(core, kind, va, line, access_site, first, outcome);
    enum c2_status status = sim_records_missing(sim, err);
    if (status == C2_OK)
        status = (found ? sim_notify_found : sim_notify_miss)(sim, &miss, err);
    return status;
}

/* ------------------------------------------------------------------ prefetches */

/* The access, on the machine without prefetchers; miss: it, with another outcome. */
static enum c2_status access_plain(struct sim_core *core, const struct sim_miss *miss, struct caches_outcome *outcome,
                                   struct c2_error *err)
{
    C2_PROMISE(core->sim->plain && core->sim->prefetches);
    struct caches *plain = core->sim->plain;
    const enum caches_side side = miss->kind == SIM_FETCH ? CACHES_FETCH : CACHES_DATA;
    const struct line_no virtual_line = {miss->va.v >> core->sim->line_shift};
    uint32_t served_by;
    return miss->kind == SIM_WALK
               ? caches_walk(plain, miss->line, &served_by, outcome, err)
               : caches_access(plain, side, miss->kind == SIM_WRITE, virtual_line, miss->line, outcome, err);
}

/* The access is done, with what prefetchers did behind it. */
static enum c2_status notify_prefetched(struct sim_core *core, const struct sim_miss *access, struct c2_error *err)
{
    C2_PROMISE(core->sim->prefetches && core->repeats == 0);
    struct sim *sim = core->sim;
    struct caches_outcome outcome;
    struct sim_miss unaided = *access;
    struct sim_prefetched prefetched = {.code = access->code,
                                        .kind = access->kind,
                                        .va = access->va,
                                        .core = access->core,
                                        .measured = access->measured};
    prefetched.events = caches_prefetched(sim->caches, &prefetched.count);
    sim_leave_line(core);
    enum c2_status status = prefetched.count != 0 || sim->plain ? sim_records_missing(sim, err) : C2_OK;
    if (status == C2_OK && prefetched.count != 0)
        status = sim_notify_prefetched(sim, &prefetched, err);
    if (status == C2_OK && sim->plain)
        status = access_plain(core, access, &outcome, err);
    if (status != C2_OK || !sim->plain)
        return status;
    unaided.outcome = &outcome;
    const bool missed = outcome.served_by != access->first || access->outcome->served_by != access->first;
    return missed ? sim_notify_unaided(sim, &unaided, access->outcome->served_by, err) : C2_OK;
}

/* Stride prefetchers and SHiP know the instruction of a read or a write. */
static struct guest_va attribute_instruction_of(const struct sim_core *core, enum sim_kind kind)
{
    const bool data = kind == SIM_READ || kind == SIM_WRITE;
    C2_ASSERT(core->sim->hears_instructions && (!data || core->code < core->sim->attributed.code_count));
    return data ? core->sim->attributed.codes[core->code].pc : (struct guest_va){0};
}

void sim_attribute_try(struct sim_core *core, enum sim_kind kind, struct guest_va va)
{
    C2_PROMISE(core->sim->attributed.on);
    caches_set_instruction(core->sim->caches, kind == SIM_FETCH ? va : attribute_instruction_of(core, kind));
}

static void set_instruction(struct sim_core *core, enum sim_kind kind)
{
    C2_PROMISE(core->sim->hears_instructions);
    const struct sim *sim = core->sim;
    const struct guest_va pc = attribute_instruction_of(core, kind);
    caches_set_instruction(sim->caches, pc);
    if (sim->plain)
        caches_set_instruction(sim->plain, pc);
}

/* ------------------------------------------------------------------ one line access */

static enum c2_status notify_upgrade(const struct sim_core *core, uint64_t access_site, struct c2_error *err)
{
    C2_PROMISE(core->sim->core_count > 1);
    struct sim *sim = core->sim;
    const struct sim_attribution *to = &sim->attributed.to;
    if (!sim->attributed.measuring)
        return C2_OK;
    enum c2_status status = sim->notifies_upgrades ? sim_records_missing(sim, err) : C2_OK;
    if (status == C2_OK && sim->notifies_upgrades)
        sim_notify_upgraded(sim, core->code);
    return status == C2_OK && to->upgraded ? to->upgraded(to->self, access_site, err) : status;
}

/* The stores that levels have passed on. What comes next is no repeat of this access: it may have to go on as well. */
static enum c2_status notify_stores(struct sim_core *core, struct guest_va va, struct line_no line,
                                    uint64_t access_site, struct c2_error *err)
{
    C2_PROMISE(core->sim->writes_on && core->repeats == 0);
    size_t count;
    const struct caches_stored *stored = caches_stored(core->sim->caches, &count);
    enum c2_status status = C2_OK;
    sim_leave_line(core);
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = notify_miss(core, SIM_WRITE, va, line, access_site, stored[i].first, &stored[i].outcome, err);
    return status;
}

static enum c2_status notify_approach(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                      struct line_no line, struct c2_error *err)
{
    C2_PROMISE(core->sim->notifies_accesses && core->code < core->sim->attributed.code_count);
    struct sim *sim = core->sim;
    const struct sim_approach access = {.number = sim->attributed.number,
                                        .code = core->code,
                                        .kind = kind,
                                        .va = va,
                                        .pc = sim->attributed.codes[core->code].pc,
                                        .line = line,
                                        .first = attribute_first_of(sim, kind),
                                        .core = core->number,
                                        .measured = sim->attributed.measuring,
                                        .caches = sim->caches};
    sim_leave_line(core);
    enum c2_status status = sim_records_missing(sim, err);
    return status == C2_OK ? sim_notify_approach(sim, &access, err) : status;
}

/* A line access that the first level may not have. */
enum c2_status sim_attribute_any(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                 struct line_no virtual_line, struct line_no physical_line, struct c2_error *err)
{
    C2_PROMISE(kind != SIM_WALK && !core->sim->classifier.event_log);
    struct sim *sim = core->sim;
    const enum caches_side side = kind == SIM_FETCH ? CACHES_FETCH : CACHES_DATA;
    struct caches_outcome outcome;
    uint64_t access_site;
    enum c2_status status = set_access_site(core, kind, va, &access_site, err);
    if (sim->hears_instructions)
        set_instruction(core, kind);
    if (status == C2_OK && sim->notifies_accesses)
        status = notify_approach(core, kind, va, physical_line, err);
    if (status == C2_OK)
        status = caches_access(sim->caches, side, kind == SIM_WRITE, virtual_line, physical_line, &outcome, err);
    if (status == C2_OK)
        status = notify_miss(core, kind, va, physical_line, access_site, 0, &outcome, err);
    if (status == C2_OK && sim->writes_on)
        status = notify_stores(core, va, physical_line, access_site, err);
    if (status == C2_OK && sim->core_count > 1 && outcome.upgraded)
        status = notify_upgrade(core, access_site, err);
    if (status != C2_OK || !sim->prefetches)
        return status;
    const struct sim_miss access = attribute_describe(core, kind, va, physical_line, access_site, 0, &outcome);
    return notify_prefetched(core, &access, err);
}

/* A walk's read of an entry on the way to va. */
enum c2_status sim_attribute_walk(struct sim_core *core, struct guest_va va, struct line_no entry, uint32_t *served_by,
                                  struct c2_error *err)
{
    C2_PROMISE(core->sim->walks_cached && !core->sim->classifier.event_log);
    struct sim *sim = core->sim;
    struct caches_outcome outcome;
    uint64_t access_site;
    enum c2_status status = set_access_site(core, SIM_WALK, va, &access_site, err);
    if (sim->hears_instructions)
        set_instruction(core, SIM_WALK);
    if (status == C2_OK && sim->notifies_accesses)
        status = notify_approach(core, SIM_WALK, va, entry, err);
    if (status == C2_OK)
        status = caches_walk(sim->caches, entry, served_by, &outcome, err);
    if (status == C2_OK)
        status = notify_miss(core, SIM_WALK, va, entry, access_site, attribute_first_of(sim, SIM_WALK), &outcome, err);
    if (status != C2_OK || !sim->prefetches)
        return status;
    const struct sim_miss access = attribute_describe(core, SIM_WALK, va, entry, access_site,
                                                      attribute_first_of(sim, SIM_WALK), &outcome);
    return notify_prefetched(core, &access, err);
}

/* A walk's read that the first level asked has had, where there is a listener for those: after all others. */
enum c2_status sim_attribute_found(struct sim_core *core, struct guest_va va, struct line_no entry,
                                   struct c2_error *err)
{
    C2_PROMISE(core->sim->notifies_walks && core->sim->classifier.event_log);
    const uint32_t first = caches_machine(core->sim->caches)->walks_from;
    const struct caches_outcome outcome = {.depth = first + 1, .served_by = first};
    uint64_t access_site;
    enum c2_status status = sim_classifier_settle(core->sim, err);
    if (status == C2_OK)
        status = sim_ask_access_site(core, SIM_WALK, va, &access_site, err);
    return status == C2_OK ? notify_miss(core, SIM_WALK, va, entry, access_site, first, &outcome, err) : status;
}

static enum c2_status notify_page(struct sim *sim, enum sim_kind kind, unsigned reads, struct c2_error *err)
{
    enum c2_status status = sim_records_missing(sim, err);
    if (status == C2_OK && sim->notifies_pages)
        sim_notify_untranslated(sim, kind, reads);
    return status;
}

/* The first level of the TLBs has missed. */
enum c2_status sim_attribute_tlb(struct sim_core *core, unsigned tlb_side, struct guest_va va, unsigned reads,
                                 struct c2_error *err)
{
    C2_PROMISE(core->tlb && reads <= MMU_WALK_ENTRIES);
    struct sim *sim = core->sim;
    const struct sim_attribution *to = &sim->attributed.to;
    const enum sim_kind kind = tlb_side == CACHES_TLB_FETCH ? SIM_FETCH : SIM_READ;
    struct sim_tlb_miss miss = {.code = core->code, .kind = kind, .va = va, .reads = reads};
    if (!sim->attributed.measuring)
        return C2_OK;
    enum c2_status status = sim->notifies_pages || sim->notifies_tlb ? notify_page(sim, kind, reads, err) : C2_OK;
    if (status == C2_OK && sim->counts_pages) {
        sim_wait_for_line(core, reads);
        return C2_OK;
    }
    if (status == C2_OK)
        status = sim_ask_access_site(core, kind, va, &miss.access_site, err);
    if (status == C2_OK && to->untranslated)
        to->untranslated(to->self, miss.access_site, reads);
    if (status != C2_OK || !sim->notifies_tlb)
        return status;
    return sim->classifier.event_log ? sim_classifier_tlb_missed(core, kind, va, reads, miss.access_site, err)
                                     : sim_notify_tlb_miss(sim, &miss, err);
}

/* The access that missed the TLBs found its line at once. status: what is known of it so far. */
enum c2_status sim_attribute_page(struct sim_core *core, enum sim_kind kind, struct guest_va va, enum c2_status status,
                                  struct c2_error *err)
{
    C2_PROMISE(core->untranslated >> SIM_COUNTED_UNTRANSLATED & 1 && core->sim->attributed.to.untranslated);
    const struct sim_attribution *to = &core->sim->attributed.to;
    const unsigned reads = core->untranslated >> SIM_COUNTED_READS & 7;
    uint64_t access_site;
    core->untranslated = 0;
    if (status == C2_OK)
        status = sim_ask_access_site(core, kind, va, &access_site, err);
    if (status == C2_OK)
        to->untranslated(to->self, access_site, reads);
    return status;
}
