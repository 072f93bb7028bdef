/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The loop over a batch, for any machine and for those that sim_loop_choose() finds usual: the file that includes this
 * says by CACHE_FORM with which instructions sets are searched. The model card is in consume.c.
 * ways: of L1D of a usual machine; 0: any machine, then all that is not a repeat is left to functions.
 */
#ifndef C2_CONSUME_RULES_H
#define C2_CONSUME_RULES_H

#include "caches/l1_handle_simd.h"
#include "sim/sim_priv.h"

#define PART static inline __attribute__((always_inline))

/* The part of the state that every slot changes, in registers while a batch is done; the calls take it from struct
 * sim_core and give it back. (In memory each slot would wait for the store of the one before.) Of any machine the first
 * two alone, and only repeats change here.
 * What a line access adds to counters is added when the line is left: `pending` are its accesses, the one that found it
 * in L1D, or missed it, included. */
struct hot {
    uint64_t line_start;
    uint64_t pending;    /* as sim_core.repeats */
    uint64_t *refs;      /* as sim_core.line_refs; of no line that is known: where nothing is counted */
    uint32_t *youngest;  /* of the set of the line */
    uint64_t *event_log; /* where the next word goes: see ROOM */
};

/* Records that begin in so many words of a batch go by before the event log is looked at, or ahead. There is room on it
 * for all of them, and the last one whatever it is, when they begin and behind each call that is not to L1D's next
 * level alone: a word for a fetch, two for a reference; a call looks to its own. */
#define STRIDE C2_HOST_SIZE(16, 2)
#define ROOM (STRIDE * (SIM_PLAN_LINES + 2) + 2 * SIM_PLAN_MOST)
_Static_assert(ROOM < STREAM_BATCH_WORDS - CACHES_EVENT_LOG_SLACK, "an event log has room for more");

#define PAGE_BYTES_SHIFT 6u /* of struct sim_page */

PART uint64_t line_in_page(uint64_t va) { return va >> SIM_USUAL_LINE_SHIFT & (SIM_USUAL_SETS - 1); }

/* Of the side's last access; tlb_page is of another one if hits have come since. */
PART void page_known(struct sim_core *core, const enum caches_tlb_side side, uint64_t vpn)
{
    if (core->tlb_page[side] != vpn)
        core->tlb_page[side] = SIM_NOWHERE;
}

/* What is counted of lines that were left, and of fetches. */
static __attribute__((noinline)) void settle_left(struct sim_core *core)
{
    const uint64_t reads = sim_repeats_reads(core->left), writes = sim_repeats_writes(core->left);
    core->left = 0;
    core->sim->attributed.number += reads + writes;
    *core->tlb_accesses[CACHES_TLB_LOAD] += reads + writes;
    struct caches_l1_handle *const data = core->l1_handle[CACHES_DATA];
    caches_l1_handle_count(data, reads - core->missed[0] - core->served[0], writes - core->missed[1] - core->served[1]);
    if (data->second)
        caches_l1_handle_count_served(data, core->served[0], core->served[1]);
    core->missed[0] = core->missed[1] = core->served[0] = core->served[1] = 0;
}

static __attribute__((noinline)) void settle_fetched(struct sim_core *core)
{
    const uint64_t fetched = core->fetched;
    core->fetched = 0;
    core->sim->attributed.number += fetched;
    *core->tlb_accesses[CACHES_TLB_FETCH] += fetched;
    if (fetched != 0)
        caches_l1_handle_count(core->l1_handle[CACHES_FETCH], fetched, 0);
}

PART void data_line_is(struct sim_core *core, uint64_t start)
{
    core->data_start = start;
    page_known(core, CACHES_TLB_LOAD, start >> C2_PAGE_SHIFT);
}

/* What follows from what was stored is notified too: only hits have come since. */
static __attribute__((noinline)) void hot_stored(struct sim_core *core)
{
    struct caches_l1_handle *const code = core->l1_handle[CACHES_FETCH];
    settle_left(core);
    settle_fetched(core);
    page_known(core, CACHES_TLB_FETCH, core->fetch_line >> (C2_PAGE_SHIFT - SIM_USUAL_LINE_SHIFT));
    caches_l1_handle_forget(core->l1_handle[CACHES_DATA]);
    if (code)
        caches_l1_handle_forget(code);
    if (core->line_start == SIM_NO_START)
        core->line_refs = NULL;
    else
        data_line_is(core, core->line_start);
}

PART void hot_store(struct sim_core *core, const struct hot *hot, const uint32_t ways)
{
    core->repeats = hot->pending;
    if (ways == 0)
        return;
    struct caches_l1_handle *const l1_handle = core->l1_handle[CACHES_DATA];
    core->line_start = hot->line_start;
    core->line_refs = hot->refs;
    l1_handle->youngest = hot->youngest;
    l1_handle->event_log->at = hot->event_log;
    hot_stored(core);
}

/* Of the line of the last access, of which nothing is pending. */
PART void disown_line(struct sim_core *core, struct hot *hot)
{
    C2_PROMISE(hot->pending == 0);
    if (hot->line_start != SIM_NO_START)
        data_line_is(core, hot->line_start);
    hot->line_start = SIM_NO_START;
}

/* The line of the last data access has counted for owners one by one: what is pending of it is counted now, and from
 * now on it counts for the owner of all of it, if that is remembered. If it is not, references to the line go slowly.
 * */
static __attribute__((noinline)) void adopt_line(struct sim_core *core)
{
    C2_PROMISE(!core->line_refs && core->line_start == SIM_NO_START);
    const uint64_t start = core->data_start;
    const struct sim_page *const page = sim_page_at(core, start);
    const struct sim_owned_line *const line = sim_owned_line(core, start);
    sim_flush_repeats(core);
    if (start == SIM_NO_START || page->vpn != start >> C2_PAGE_SHIFT)
        return;
    uint64_t *const refs = page->refs ? page->refs : line->line == start >> SIM_USUAL_LINE_SHIFT ? line->refs : NULL;
    if (!SHORTCUT(refs))
        return;
    core->line_start = start;
    core->line_refs = refs;
    C2_PROMISE(sim_attribute_line_holds(core));
}

static __attribute__((noinline)) void hot_prepare(struct sim_core *core)
{
    const struct caches_l1_handle *const code = core->l1_handle[CACHES_FETCH];
    if (core->line_start == SIM_NO_START)
        adopt_line(core);
    core->words[CACHES_DATA] = core->l1_handle[CACHES_DATA]->word;
    core->words[CACHES_FETCH] = code ? code->word : NULL;
    core->code_line = SIM_NOWHERE;
}

PART struct hot hot_load(struct sim_core *core, const uint32_t ways)
{
    if (ways == 0)
        return (struct hot){.line_start = core->line_start, .pending = core->repeats};
    const struct caches_l1_handle *const l1_handle = core->l1_handle[CACHES_DATA];
    hot_prepare(core);
    return (struct hot){.line_start = core->line_start,
                        .pending = core->repeats,
                        .refs = core->line_refs ? core->line_refs : &core->sim->attributed.nobody,
                        .youngest = caches_l1_handle_youngest(l1_handle),
                        .event_log = l1_handle->event_log->at};
}

PART enum c2_status keep_room(struct sim_core *core, enum c2_status status, struct c2_error *err)
{
    const struct caches_event_log_end *event_log = core->l1_handle[CACHES_DATA]->event_log;
    const bool lacks = event_log->stop - event_log->at < ROOM;
    return C2_UNLIKELY(lacks) && status == C2_OK ? sim_classifier_pass(core->sim, err) : status;
}

/* Behind a call. */
PART enum c2_status back(struct sim_core *core, struct hot *hot, enum c2_status status, const uint32_t ways,
                         struct c2_error *err)
{
    if (ways != 0)
        status = keep_room(core, status, err);
    *hot = hot_load(core, ways);
    return status;
}

/* ------------------------------------------------------------------ one access */

/* Where the page of an address is remembered. (The distance from the first one is added to the core, so that the rest
 * of it is a constant: the compiler does not look into it.) */
PART struct sim_page *page_at(struct sim_core *core, uint64_t va)
{
    _Static_assert(sizeof(struct sim_page) == 1 << PAGE_BYTES_SHIFT, "so it is a shift");
    char *at = (char *)core +
               (va >> (C2_PAGE_SHIFT - PAGE_BYTES_SHIFT) & (uint64_t)(SIM_PAGES - 1) << PAGE_BYTES_SHIFT);
    __asm__("" : "+r"(at));
    return ((struct sim_core *)(void *)at)->pages;
}

/* A TLB that hears of all hits has the page where it had it last. */
PART bool translated_and_notified(struct sim_core *core, const struct sim_page *page, const enum caches_tlb_side side,
                                  uint64_t va)
{
    return SHORTCUT(va >> C2_PAGE_SHIFT == core->tlb_page[side]) ||
           sim_tlb_again_any(core, side, page, (struct guest_va){va});
}

/* The TLBs have the page where they had it last: all that changes but for the count. Else nothing has changed. */
PART bool found_again(const struct sim_core *core, const struct sim_page *page, const enum caches_tlb_side side,
                      uint64_t va)
{
    const uint64_t tag = side == CACHES_TLB_LOAD ? 0 : core->tlb_tag[side];
    if (C2_UNLIKELY(!caches_tlbs_again(&page->found, va >> C2_PAGE_SHIFT | tag)))
        return false;
    C2_PROMISE(!core->tlb || caches_tlbs_found_holds(&page->found));
    return true;
}

PART bool translated(struct sim_core *core, const struct sim_page *page, const enum caches_tlb_side side, uint64_t va)
{
    return C2_LIKELY(found_again(core, page, side, va)) ||
           (caches_tlbs_hears(&page->found) && translated_and_notified(core, page, side, va));
}

/* What was said of a hit is true; for C2_PROMISE. */
PART bool hit_holds(struct sim_core *core, struct hot *hot, enum caches_side side, uint64_t va,
                    const uint32_t data_ways, const uint32_t ways)
{
    struct caches_l1_handle *l1_handle = core->l1_handle[side];
    hot_store(core, hot, data_ways);
    caches_l1_handle_at(l1_handle, line_in_page(va), ways);
    return sim_attribute_line_holds(core) && caches_l1_handle_last_holds(l1_handle);
}

/* ------------------------------------------------------------------ a fetch that enters a line */

/* L1I, or its TLB, does not have it: what follows may take the data line from the caches. */
PART enum c2_status fetch_slowly(struct sim_core *core, struct hot *hot, uint64_t start, uint32_t code,
                                 const bool missed, const uint32_t ways, struct c2_error *err)
{
    hot_store(core, hot, ways);
    if (missed)
        caches_l1_handle_at(core->l1_handle[CACHES_FETCH], line_in_page(start), SIM_USUAL_WAYS);
    return back(core, hot, (missed ? sim_fetch_missed : sim_fetch)(core, start, code, err), ways, err);
}

/* The TLBs have the page, which is the one of code_line, and have done their part but for the count. */
PART enum c2_status fetch_near(struct sim_core *core, struct hot *hot, uint64_t line, uint32_t code,
                               const uint32_t ways, struct c2_error *err)
{
    const uint64_t start = line << SIM_USUAL_LINE_SHIFT, n = line - core->code_line, word = core->code_word + n;
    uint32_t *const words = caches_l1_handle_words(core->words[CACHES_FETCH], n, SIM_USUAL_WAYS);
    C2_PROMISE(n < SIM_USUAL_SETS && sim_page_holds(core, page_at(core, start), (struct guest_va){start}));
    if (C2_UNLIKELY(!caches_l1_handle_hit(words, (uint32_t)word, SIM_USUAL_WAYS))) {
        ++*core->tlb_accesses[CACHES_TLB_FETCH];
        return fetch_slowly(core, hot, start, code, true, ways, err);
    }
    core->fetched++;
    *hot->event_log++ = word;
    core->fetch_line = line;
    C2_PROMISE(hit_holds(core, hot, CACHES_FETCH, start, ways, SIM_USUAL_WAYS));
    return C2_OK;
}

/* Of another page than that of the last fetch. */
PART enum c2_status fetch_far(struct sim_core *core, struct hot *hot, uint64_t line, uint32_t code, const uint32_t ways,
                              struct c2_error *err)
{
    const uint64_t start = line << SIM_USUAL_LINE_SHIFT;
    const struct sim_page *const page = page_at(core, start);
    if (C2_UNLIKELY(page->vpn != start >> C2_PAGE_SHIFT || !translated(core, page, CACHES_TLB_FETCH, start)))
        return fetch_slowly(core, hot, start, code, false, ways, err);
    if (C2_UNLIKELY(core->tlb_accesses[CACHES_TLB_FETCH] != page->found.accesses)) {
        settle_fetched(core);
        core->tlb_accesses[CACHES_TLB_FETCH] = page->found.accesses;
    }
    core->code_line = line & ~(uint64_t)(SIM_USUAL_SETS - 1);
    core->code_word = core->l1_handle[CACHES_FETCH]->level_index_word | page->slot;
    return fetch_near(core, hot, line, code, ways, err);
}

PART enum c2_status fetch(struct sim_core *core, struct hot *hot, uint64_t line, uint32_t code, const uint32_t ways,
                          struct c2_error *err)
{
    if (ways == 0)
        return fetch_slowly(core, hot, line << core->line_shift, code, false, ways, err);
    return C2_LIKELY(SHORTCUT(line - core->code_line < SIM_USUAL_SETS)) ? fetch_near(core, hot, line, code, ways, err)
                                                                        : fetch_far(core, hot, line, code, ways, err);
}

/* ------------------------------------------------------------------ a reference that is no repeat */

PART enum c2_status refer_slowly(struct sim_core *core, struct hot *hot, const struct sim_slot *slot, uint64_t va,
                                 const uint32_t ways, struct c2_error *err)
{
    hot_store(core, hot, ways);
    return back(core, hot, sim_refer(core, slot, va, err), ways, err);
}

/* What is rare works out anew what it needs of an address, so that no register holds it meanwhile. */
PART uint64_t rarely(uint64_t va)
{
    __asm__("" : "+r"(va));
    return va;
}

/* The line is left: what is pending is counted. */
PART void leave(struct sim_core *core, struct hot *hot)
{
    core->left += hot->pending;
    *hot->refs += sim_repeats_all(hot->pending);
    /* (A store that is not needed would hold up whole sets. A dirty line is compared as if nothing could be more.) */
    if (C2_UNLIKELY(sim_repeats_writes(hot->pending) > *hot->youngest << 31))
        *(uint32_t *)rarely((uintptr_t)hot->youngest) |= CACHE_SETS_DIRTY;
    hot->pending = 0;
}

/* A miss whose access site is known, and of no upper half, is only counted, and its record takes two words. Else NULL.
 */
PART const struct sim_last_access_site *site_known(const struct sim_core *core, const struct sim_slot *slot,
                                                   uint64_t va)
{
    const struct sim_last_access_site *const last = sim_last_access_site(core, slot->code, (struct guest_va){va});
    return C2_LIKELY(last && last->word >> 32 == 0) ? last : NULL;
}

/* Whether the second level has a line that the first does not have; nothing has changed if it has not. */
enum second { SECOND_UNASKED, SECOND_HAS, SECOND_MISSED };

/* The second level has so many ways. If it has the line all is done. */
PART enum second ask_second(struct sim_core *core, struct hot *hot, const struct sim_slot *slot,
                            const struct sim_page *page, uint64_t va, uint64_t access_site, const uint32_t ways,
                            const uint32_t second_ways)
{
    struct caches_l1_handle *const l1_handle = core->l1_handle[CACHES_DATA];
    const uint32_t line = (uint32_t)line_in_page(va), line_slot = page->slot + line;
    const bool write = slot->write;
    uint32_t victim;
    if (!caches_l1_handle_served(l1_handle, hot->youngest, write, line_slot, page->line + line, ways, second_ways,
                                 &victim))
        return SECOND_MISSED;
    const uint64_t bits = sim_miss_bits(core, write ? SIM_WRITE : SIM_READ, page);
    caches_l1_handle_record(l1_handle, hot->event_log, line_slot, victim, bits << CACHES_EVENT_LOG_BITS,
                            access_site << 32);
    hot->event_log += 2;
    hot->pending = slot->repeated;
    core->served[write]++;
    if (C2_UNLIKELY(victim & CACHE_SETS_DIRTY))
        l1_handle->wrote(l1_handle, victim);
    return SECOND_HAS;
}

/* The same of most second levels. */
PART enum second ask_any_second(struct sim_core *core, struct hot *hot, const struct sim_slot *slot,
                                const struct sim_page *page, uint64_t va, uint64_t access_site, const uint32_t ways)
{
    switch (core->l1_handle[CACHES_DATA]->second_ways) {
    case 4:
        return ask_second(core, hot, slot, page, va, access_site, ways, 4);
    case 8:
        return ask_second(core, hot, slot, page, va, access_site, ways, 8);
    default:
        return SECOND_UNASKED;
    }
}

/* What calls of the caches need in place. */
PART void miss_begin(struct sim_core *core, struct hot *hot, const struct sim_slot *slot)
{
    struct caches_l1_handle *const l1_handle = core->l1_handle[CACHES_DATA];
    hot->pending = slot->repeated;
    l1_handle->event_log->at = hot->event_log;
    l1_handle->youngest = hot->youngest;
    core->code = slot->code;
}

/* The levels below are asked, from the third on if the second has missed. */
PART enum c2_status miss_further(struct sim_core *core, struct hot *hot, const struct sim_slot *slot, uint64_t va,
                                 uint64_t access_site, const bool second_missed, struct c2_error *err)
{
    const struct sim_page *const page = page_at(core, va);
    struct caches_l1_handle *const l1_handle = core->l1_handle[CACHES_DATA];
    const uint32_t line = (uint32_t)line_in_page(va);
    const bool write = slot->write;
    miss_begin(core, hot, slot);
    const uint32_t bits = sim_miss_bits(core, write ? SIM_WRITE : SIM_READ, page);
    const uint32_t missed = caches_count_missed(l1_handle, second_missed, write, page->slot + line,
                                                (struct line_no){page->line + line}, access_site, bits);
    core->missed[write]++;
    const enum c2_status status = C2_UNLIKELY(missed != 1) ? keep_room(core, C2_OK, err) : C2_OK;
    hot->event_log = l1_handle->event_log->at;
    return status;
}

/* Whose access site is not known, or has to be notified with more. */
PART enum c2_status miss_any(struct sim_core *core, struct hot *hot, const struct sim_slot *slot, uint64_t va,
                             struct c2_error *err)
{
    const struct sim_page *const page = page_at(core, va);
    struct caches_l1_handle *const l1_handle = core->l1_handle[CACHES_DATA];
    const uint32_t line = (uint32_t)line_in_page(va);
    miss_begin(core, hot, slot);
    settle_left(core); /* a listener may have to know the number of the access: */
    settle_fetched(core);
    core->sim->attributed.number++;
    const enum caches_tried tried = caches_try_missed(l1_handle, slot->write, page->slot + line,
                                                      (struct line_no){page->line + line});
    C2_PROMISE(tried == CACHES_MISSED);
    (void)tried;
    enum c2_status status = sim_line_missed(core, slot, va, err);
    core->sim->attributed.number--; /* it is pending */
    core->missed[slot->write]++;
    status = keep_room(core, status, err);
    hot->event_log = l1_handle->event_log->at;
    return status;
}

/* The first level does not have it, and the TLBs have done their part: the levels below are asked, and what is to be
 * said of it goes on the event log. */
PART enum c2_status miss(struct sim_core *core, struct hot *hot, const struct sim_slot *slot,
                         const struct sim_page *page, uint64_t va, const uint32_t ways, struct c2_error *err)
{
    enum second second = SECOND_UNASKED;
    enum c2_status status = C2_OK;
    const struct sim_last_access_site *const last = site_known(core, slot, va);
    if (C2_LIKELY(last))
        second = ask_any_second(core, hot, slot, page, rarely(va), last->word, ways);
    C2_PROMISE(!last || sim_last_access_site_holds(core, slot->code, slot->write ? SIM_WRITE : SIM_READ,
                                                   (struct guest_va){va}, last->word));
    if (second != SECOND_HAS)
        status = last ? miss_further(core, hot, slot, rarely(va), last->word, second == SECOND_MISSED, err)
                      : miss_any(core, hot, slot, rarely(va), err);
    C2_PROMISE(status != C2_OK || hit_holds(core, hot, CACHES_DATA, va, ways, ways));
    return status;
}

/* Of a page that the TLBs have, but for the count; `again`: they had it where they had it last. The line was entered.
 * */
PART enum c2_status refer_translated(struct sim_core *core, struct hot *hot, const struct sim_slot *slot,
                                     const struct sim_page *page, uint64_t va, const bool again, const uint32_t ways,
                                     struct c2_error *err)
{
    const uint64_t line = line_in_page(va), line_slot = page->slot + line;
    C2_PROMISE(page->slot != SIM_NO_SLOTS); /* else there was no memory, and it was not accessed */
    if (C2_UNLIKELY(core->tlb_accesses[CACHES_TLB_LOAD] != page->found.accesses)) {
        settle_left(core);
        core->tlb_accesses[CACHES_TLB_LOAD] = page->found.accesses;
    }
    hot->youngest = caches_l1_handle_words(core->words[CACHES_DATA], line, ways);
    if (C2_LIKELY(caches_l1_handle_hit(hot->youngest, (uint32_t)line_slot, ways))) {
        *hot->event_log++ = line_slot; /* L1D is level index 0 */
        hot->pending = slot->repeated;
        C2_PROMISE(hit_holds(core, hot, CACHES_DATA, va, ways, ways));
        return again ? C2_OK : sim_line_found(core, slot, va, err);
    }
    return miss(core, hot, slot, page, va, ways, err);
}

/* Whose line it is, if that is remembered of it and not of all of its page; else NULL. */
PART uint64_t *owner_of_line(struct sim_core *core, uint64_t va)
{
    const struct sim_owned_line *line = sim_owned_line(core, va);
    return line->line == va >> SIM_USUAL_LINE_SHIFT ? line->refs : NULL;
}

/* The line is entered, if its owner is remembered. Else the one that was left has no owner from now on, either. */
PART bool enter_owned(struct sim_core *core, struct hot *hot, const struct sim_page *page, uint64_t va)
{
    C2_PROMISE(sim_page_holds(core, page, (struct guest_va){va}));
    hot->refs = page->refs;
    if (C2_UNLIKELY(!hot->refs))
        hot->refs = owner_of_line(core, rarely(va));
    if (C2_UNLIKELY(!hot->refs)) {
        disown_line(core, hot);
        return false;
    }
    hot->line_start = va & ~SIM_USUAL_LINE_MASK;
    return true;
}

/* The TLBs have lost the page, or have to be asked otherwise; or it is not remembered. */
PART enum c2_status refer_refilled(struct sim_core *core, struct hot *hot, const struct sim_slot *slot, uint64_t va,
                                   const uint32_t ways, struct c2_error *err)
{
    struct sim_page *const page = page_at(core, va);
    const uint64_t left = hot->line_start;
    if (C2_UNLIKELY(page->vpn != va >> C2_PAGE_SHIFT || !enter_owned(core, hot, page, va)))
        return refer_slowly(core, hot, slot, va, ways, err);
    if (caches_tlbs_hears(&page->found) && translated_and_notified(core, page, CACHES_TLB_LOAD, va))
        return refer_translated(core, hot, slot, page, va, true, ways, err);
    if (C2_LIKELY(sim_refilled(core, page, (struct guest_va){va})))
        return refer_translated(core, hot, slot, page, va, false, ways, err);
    hot->line_start = left; /* it was entered, and is not accessed yet */
    disown_line(core, hot);
    return refer_slowly(core, hot, slot, va, ways, err);
}

/* To another line than the one before, mostly of a page that is remembered and that the TLBs have where they had it
 * last: to compare what they have there is enough, as no other page gets there that does not take its place in `pages`,
 * too. */
PART enum c2_status refer(struct sim_core *core, struct hot *hot, const struct sim_slot *slot, uint64_t va,
                          const uint32_t ways, struct c2_error *err)
{
    if (ways == 0)
        return refer_slowly(core, hot, slot, va, ways, err);
    const struct sim_page *const page = page_at(core, va);
    leave(core, hot);
    if (C2_UNLIKELY((va & SIM_USUAL_LINE_MASK) >= slot->limit))
        return refer_slowly(core, hot, slot, va, ways, err);
    if (C2_UNLIKELY(!caches_tlbs_there(&page->found, va >> C2_PAGE_SHIFT)))
        return refer_refilled(core, hot, slot, rarely(va), ways, err);
    C2_PROMISE(page->vpn == va >> C2_PAGE_SHIFT);
    if (C2_UNLIKELY(!enter_owned(core, hot, page, va)))
        return refer_slowly(core, hot, slot, va, ways, err);
    caches_tlbs_order(&page->found);
    C2_PROMISE(!core->tlb || caches_tlbs_found_holds(&page->found));
    return refer_translated(core, hot, slot, page, va, true, ways, err);
}

/* ------------------------------------------------------------------ records */

/* To the TLBs a repeat of the line would be another page, as only a load or a store may be, on machines that are not
 * usual. */
PART bool leaves(const struct sim_core *core, const struct sim_slot *slot, uint64_t va, const uint32_t ways)
{
    const bool reads = sim_repeats_reads(slot->repeated) != 0, writes = sim_repeats_writes(slot->repeated) != 0;
    return ways == 0 && C2_UNLIKELY(core->tlb_split) &&
           ((reads && sim_tlb_leaves(core, false, (struct guest_va){va})) ||
            (writes && sim_tlb_leaves(core, true, (struct guest_va){va})));
}

/* Up to `end`. */
PART enum c2_status run_slots(struct sim_core *core, struct hot *hot, const struct sim_slot *slot,
                              const uint64_t **words, const uint64_t *end, const uint32_t ways, struct c2_error *err)
{
    __asm__("" : "+m"(end)); /* in memory, so that a register is free for what changes */
    for (; *words < end; ++*words, slot++) {
        const uint64_t va = **words;
        if (C2_LIKELY(va - hot->line_start < slot->limit) && !leaves(core, slot, va, ways)) {
            hot->pending += slot->repeated;
            continue;
        }
        const enum c2_status status = refer(core, hot, slot, va, ways, err);
        if (C2_UNLIKELY(status != C2_OK))
            return status;
    }
    return C2_OK;
}

/* A run of a planned block. The fetch of each of its lines comes before what is done on it. *words: its slots; behind
 * them afterwards. */
PART enum c2_status run_plan(struct sim_core *core, struct hot *hot, const struct sim_plan *plan,
                             const uint64_t **words, const uint32_t ways, struct c2_error *err)
{
    C2_PROMISE(plan->built && plan->whole != SIM_NO_RUN);
    const struct sim_fetch_run *fetch_run = &plan->first;
    do {
        enum c2_status status = C2_OK;
        if (fetch_run->line != core->fetch_line)
            status = fetch(core, hot, fetch_run->line, fetch_run->code, ways, err);
        if (C2_LIKELY(status == C2_OK))
            status = run_slots(core, hot, fetch_run->slots, words, *words + fetch_run->slot_count, ways, err);
        if (C2_UNLIKELY(status != C2_OK))
            return status;
        fetch_run = fetch_run->next;
    } while (fetch_run);
    return C2_OK;
}

/* Any record. *words: it; behind all of it afterwards. */
PART enum c2_status run_record(struct sim_core *core, struct hot *hot, const struct stream_batch *batch,
                               const uint64_t **words, const uint32_t ways, struct c2_error *err)
{
    struct sim *sim = core->sim;
    sim->pending_records.at = *words;
    const uint64_t header = *(*words)++;
    const uint32_t number = stream_header_block(header);
    if (C2_LIKELY(SHORTCUT(number < sim->plan_capacity && sim->plans[number].whole == (uint32_t)header))) {
        struct sim_plan *plan = &sim->plans[number];
        if (++plan->pending == 0)
            sim->pending[sim->pending_count++] = number;
        const enum c2_status status = run_plan(core, hot, plan, words, ways, err);
        core->begun += ways == 0 ? plan->insns : 0;
        return status;
    }
    const uint64_t *slots = *words;
    *words += stream_header_slots(header);
    hot_store(core, hot, ways);
    return back(core, hot, sim_take_other(core, batch->tid, header, slots, err), ways, err);
}

/* Hits alone have filled the event log. */
PART enum c2_status make_room(struct sim_core *core, struct hot *hot, const uint32_t ways, struct c2_error *err)
{
    if (ways == 0 || C2_LIKELY(core->l1_handle[CACHES_DATA]->event_log->stop - hot->event_log >= ROOM))
        return C2_OK;
    hot_store(core, hot, ways);
    return back(core, hot, C2_OK, ways, err);
}

PART enum c2_status consume(struct sim_core *core, const struct stream_batch *batch, const uint32_t ways,
                            struct c2_error *err)
{
    const uint64_t *word = batch->words, *const end = word + batch->used, *ahead = word;
    struct hot hot = hot_load(core, ways);
    enum c2_status status = C2_OK;
    while (word < end && status == C2_OK) {
        const uint64_t *const limit = end - word > STRIDE ? word + STRIDE : end;
        if (C2_UNLIKELY(SHORTCUT(*core->far != 0 && ahead - word < SIM_LOOK_AHEAD)))
            ahead = sim_look_ahead(core, word, ahead, end);
        status = make_room(core, &hot, ways, err);
        while (word < limit && C2_LIKELY(status == C2_OK))
            status = run_record(core, &hot, batch, &word, ways, err);
    }
    hot_store(core, &hot, ways);
    return sim_finish_batch(core, status, err);
}

/* ------------------------------------------------------------------ the functions of the form */

#define CONSUME_JOIN2(a, b, c) a##b##_##c
#define CONSUME_JOIN(a, b, c) CONSUME_JOIN2(a, b, c)
#define CONSUMES(ways) \
    enum c2_status CONSUME_JOIN(sim_consume_, ways, CACHE_FORM_NAME)( \
        struct sim_core * core, const struct stream_batch *batch, struct c2_error *err) \
    { \
        return consume(core, batch, ways, err); \
    }

CONSUMES(8)
CONSUMES(12)

#endif
