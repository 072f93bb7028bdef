/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * accesses: what excerpts show - loops, and by which steps each instruction went through each object.
 *
 * Model
 *   The excerpts are read twice: for their loops, as loops.c finds them, and for the accesses of each instruction to
 *   each object. While the second reading goes on it is known of each loop how often it has been entered and in which
 *   round it is: its header begins a round where the function was in the loop before, and else enters it. Two accesses
 *   of an instruction in consecutive rounds of its innermost loop are a step of that. For a loop around it the accesses
 *   compared are the first ones of each time that the loop inside was entered; where an excerpt begins amid that loop
 *   none is the first one. What is not accessed in each round, as in a branch, would be there in another round of the
 *   loop inside each time: so it is compared where it would have been in the first round, by the step that is most
 *   frequent there so far.
 *   Of the steps of a loop the most frequent one is found in one pass with a few candidates, by the algorithm of Misra
 *   and Gries: its count is a lower bound.
 *   Elements of a string instruction are steps of the innermost loop. How often a step was that of the round before is
 *   counted beside: a loop may go in steps of one length each time, and of another one the next time.
 *   Around the outermost loops of a function is the loop that it is called in: a reading before finds out in which loop
 *   of its caller a function is entered, or, where it is called outside of loops, in which its caller is. It is the one
 *   of more than half of the calls, or none.
 *   Of an access in a library, or in a function from a header of the system, it is known which instruction of the
 *   user's code - with a line, in a file outside of /usr/lib and /lib - its thread executed last: mostly the call that
 *   led there. The most frequent one is found by a majority vote.
 *
 * Not modelled
 *   Recursion: activations of a function share its loops, and a function is not called by itself.
 *
 * Source: Misra & Gries, Finding repeated elements, Science of Computer Programming 2 (1982).
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/excerpts_priv.h"

#define CANDIDATES 4u
#define NO_INSN UINT32_MAX
#define NO_FUNCTION UINT32_MAX
#define FRAMES 8u /* of inlined calls */

struct candidate {
    int64_t bytes;
    uint64_t votes;
};
struct steps {
    struct candidate list[CANDIDATES];
    uint64_t of;
};

/* Where a loop was when something was accessed. */
struct visit {
    uint64_t va, entry, round;
    bool valid;
};

/* An access in one of the loops around it. */
struct in_loop {
    struct steps steps;
    struct visit visit;
    int64_t last;    /* the distance that was seen last, */
    uint64_t steady; /* and how often one was that of the round before */
};

/* An access while it is being found out; its result has the same number. */
struct tracked {
    struct in_loop *loops[EXCERPTS_DEPTH]; /* the innermost first; NULL: it was not seen in that many */
    uint64_t anchor, round;                /* round: of one that is in no loop */
    uint32_t caller;                       /* that of most votes so far, */
    uint64_t caller_votes;                 /* over those of the others */
};

struct header_at {
    uint32_t insn, loop;
};

/* A function while records are read. */
struct function_read {
    bool known;         /* it is one, and no code between functions */
    bool seen;          /* where it was before is known: in this excerpt it was entered, or has run */
    uint32_t at;        /* the loop that it was in last; or NO_LOOP */
    uint32_t called_in; /* the same of its callers when it was entered last */
    struct steps calls; /* and of all its calls */
};

struct block_known {
    bool made, user;           /* user: it is the user's code */
    bool enters;               /* it begins where its function does */
    uint32_t function;         /* number */
    uint32_t *insns;           /* [instruction]: of the profile; NO_INSN: it never completed */
    uint32_t *loops;           /* [instruction]: innermost one */
    uint32_t *last;            /* [slot]: access that it was last, + 1 */
    struct header_at *headers; /* ascending by instruction; of one the innermost loop first */
    uint32_t header_count;
};

struct turn { /* of a loop */
    uint64_t entry, round;
    bool begun; /* it was seen to be entered */
};

struct accesses {
    const struct excerpt *excerpts;
    uint32_t excerpt_count;
    bool follows;
    const struct stream_blocks *blocks;
    const struct profile *profile;
    const struct analyses_profile_result *view;
    struct loader_symbols *symbols;
    struct loops *loops;
    struct block_known *known; /* [block] */
    uint32_t block_count;
    struct c2_pool pool; /* of what is known of blocks, and of accesses in their loops */
    struct c2_map *function_of;
    uint32_t caller;                 /* the user's instruction that ran last; NO_INSN: none has */
    struct function_read *functions; /* [function] */
    uint32_t function_count, function_room;
    uint32_t last;            /* the function that ran last; NO_FUNCTION: none that is known */
    bool calls_only;          /* the first of two readings: the call graph */
    uint32_t *around;         /* [loop] */
    struct turn *turns;       /* [loop] */
    struct c2_map *number_of; /* insn, object -> access */
    struct tracked *tracked;
    struct analyses_access *list;
    uint32_t count, list_room, tracked_room;
    struct analyses_excerpts_result result;
};

static enum c2_status accesses_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the accesses of the excerpts");
}

void accesses_destroy(struct accesses *accesses)
{
    if (!accesses)
        return;
    loops_destroy(accesses->loops);
    c2_pool_release(&accesses->pool);
    c2_map_destroy(accesses->function_of);
    c2_map_destroy(accesses->number_of);
    c2_free(accesses->known);
    c2_free(accesses->functions);
    c2_free(accesses->around);
    c2_free(accesses->turns);
    c2_free(accesses->tracked);
    c2_free(accesses->list);
    c2_free(accesses);
}

const struct analyses_excerpts_result *accesses_result(const struct accesses *accesses) { return &accesses->result; }

/* ------------------------------------------------------------------ records, in the order in which they ran */

static uint32_t accesses_end_of(const struct excerpt *excerpt, uint32_t stretch)
{
    return stretch + 1 < excerpt->stretch_count ? excerpt->stretches[stretch + 1].from : excerpt->used;
}

static void record_at(struct sim_executed *out, const struct accesses *accesses, const struct excerpt *excerpt,
                      uint32_t word, uint32_t tid)
{
    const uint64_t header = excerpt->words[word];
    const uint32_t number = stream_header_block(header);
    *out = (struct sim_executed){.block = stream_blocks_at(accesses->blocks, number),
                                 .number = number,
                                 .insns_run = stream_header_insns(header),
                                 .words = &excerpt->words[word + 1],
                                 .tid = tid};
}

static uint32_t accesses_behind(const struct excerpt *excerpt, uint32_t word)
{
    return word + 1 + stream_header_slots(excerpt->words[word]);
}

/* ------------------------------------------------------------------ the loops */

static enum c2_status read_loops_of(struct accesses *accesses, const struct excerpt *excerpt, uint32_t stretch,
                                    struct c2_error *err)
{
    enum c2_status status = C2_OK;
    const uint32_t end = accesses_end_of(excerpt, stretch);
    for (uint32_t word = excerpt->stretches[stretch].from; word < end && status == C2_OK;
         word = accesses_behind(excerpt, word)) {
        struct sim_executed record;
        record_at(&record, accesses, excerpt, word, excerpt->stretches[stretch].tid);
        accesses->loops->instructions += sim_completed(&record);
        status = loops_record(accesses->loops, &record, err);
    }
    return status;
}

static bool has_holes(const struct accesses *accesses)
{
    const struct excerpt *last = accesses->excerpt_count == 0 ? NULL : &accesses->excerpts[accesses->excerpt_count - 1];
    return last && last->stretch_count != 0 && last->stretches[last->stretch_count - 1].hole != 0;
}

static enum c2_status accesses_find_loops(struct accesses *accesses, struct c2_error *err)
{
    enum c2_status status = loops_create(&accesses->loops, &accesses->profile->base, accesses->symbols, err);
    uint32_t hole = 0;
    if (status == C2_OK)
        accesses->loops->torn = !accesses->follows || has_holes(accesses);
    for (uint32_t i = 0; i < accesses->excerpt_count && status == C2_OK; i++) {
        const struct excerpt *excerpt = &accesses->excerpts[i];
        if (!accesses->follows)
            loops_forget(accesses->loops);
        for (uint32_t k = 0; k < excerpt->stretch_count && status == C2_OK; k++) {
            if (excerpt->stretches[k].hole != hole)
                loops_forget(accesses->loops);
            hole = excerpt->stretches[k].hole;
            status = read_loops_of(accesses, excerpt, k, err);
        }
    }
    if (status == C2_OK)
        status = loops_finish(accesses->loops, err);
    if (status != C2_OK)
        return status;
    accesses->result.loops = accesses->loops->result;
    accesses->result.instructions = accesses->loops->instructions;
    accesses->turns = c2_calloc(accesses->result.loops.count + (size_t)1, sizeof *accesses->turns);
    return accesses->turns ? C2_OK : accesses_no_memory(err);
}

/* ------------------------------------------------------------------ what is known of a block */

static enum c2_status accesses_function_number(struct accesses *accesses, struct guest_va pc, uint32_t *out,
                                               struct c2_error *err)
{
    struct guest_va entry = {LOOPS_NO_FUNCTION};
    uint64_t found = accesses->function_count;
    enum c2_status status = C2_OK;
    if (accesses->symbols && !loader_function_entry(accesses->symbols, pc, &entry))
        entry.v = LOOPS_NO_FUNCTION;
    *out = accesses->function_count;
    if (c2_map_get(accesses->function_of, entry.v, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    if (!c2_grow((void **)&accesses->functions, &accesses->function_room, accesses->function_count,
                 sizeof *accesses->functions))
        return accesses_no_memory(err);
    status = c2_map_put(accesses->function_of, entry.v, accesses->function_count, err);
    if (status == C2_OK)
        accesses->functions[accesses->function_count++] = (struct function_read){
            .known = entry.v != LOOPS_NO_FUNCTION, .at = ANALYSES_NO_LOOP, .called_in = ANALYSES_NO_LOOP};
    return status;
}

/* The instruction at pc in the profile; NO_INSN: it never completed there. */
static uint32_t accesses_insn_at(const struct analyses_profile_result *view, uint64_t pc)
{
    size_t low = 0, high = view->insn_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (view->insns[middle].pc.v < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < view->insn_count && view->insns[low].pc.v == pc ? (uint32_t)low : NO_INSN;
}

/* The loops whose header is at pc, the innermost one first: loops ascend by header, outer ones first. */
static uint32_t headers_at(const struct analyses_loops_result *loops, uint64_t pc, uint32_t *last)
{
    uint32_t low = 0, high = loops->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (loops->loops[middle].header.v <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t count = 0;
    *last = low;
    while (count < low && loops->loops[low - 1 - count].header.v == pc)
        count++;
    return count;
}

static enum c2_status note_headers(struct accesses *accesses, const struct stream_block *block,
                                   struct block_known *known, struct c2_error *err)
{
    uint32_t count = 0, last;
    for (uint32_t i = 0; i < block->insn_count; i++)
        count += headers_at(&accesses->result.loops, block->pc.v + block->insns[i].offset, &last);
    known->headers = c2_pool_get(&accesses->pool, (count + 1) * sizeof *known->headers);
    if (!known->headers)
        return accesses_no_memory(err);
    for (uint32_t i = 0; i < block->insn_count; i++) {
        const uint32_t here = headers_at(&accesses->result.loops, block->pc.v + block->insns[i].offset, &last);
        for (uint32_t k = 0; k < here; k++)
            known->headers[known->header_count++] = (struct header_at){i, last - 1 - k};
    }
    return C2_OK;
}

static bool accesses_is_entry(struct loader_symbols *symbols, struct guest_va pc)
{
    struct guest_va entry;
    return symbols && loader_function_entry(symbols, pc, &entry) && entry.v == pc.v;
}

static bool is_users(struct loader_symbols *symbols, struct guest_va pc)
{
    struct loader_frame frames[FRAMES];
    const char *path;
    uint64_t address;
    if (!symbols || !loader_linked_of(symbols, pc, &path, &address) || loader_is_system_code(symbols, pc))
        return false;
    const size_t count = loader_frames_of(symbols, pc, frames, FRAMES);
    for (size_t i = 0; i < count && i < FRAMES; i++)
        if (frames[i].file && !loader_is_system_file(frames[i].file))
            return true;
    return false;
}

static enum c2_status accesses_know(struct accesses *accesses, uint32_t number, const struct stream_block *block,
                                    struct c2_error *err)
{
    struct block_known *known = &accesses->known[number];
    const size_t insns = block->insn_count;
    if (known->made)
        return C2_OK;
    known->insns = c2_pool_get(&accesses->pool, insns * sizeof *known->insns);
    known->loops = c2_pool_get(&accesses->pool, insns * sizeof *known->loops);
    known->last = c2_pool_get(&accesses->pool, (block->slot_count + (size_t)1) * sizeof *known->last);
    if (!known->insns || !known->loops || !known->last)
        return accesses_no_memory(err);
    for (size_t i = 0; i < insns; i++) {
        const uint32_t insn = accesses_insn_at(accesses->view, block->pc.v + block->insns[i].offset);
        known->insns[i] = insn;
        known->loops[i] = insn == NO_INSN ? ANALYSES_NO_LOOP : accesses->result.loops.loop_of[insn];
    }
    known->made = true;
    known->user = is_users(accesses->symbols, block->pc);
    known->enters = accesses_is_entry(accesses->symbols, block->pc);
    enum c2_status status = accesses_function_number(accesses, block->pc, &known->function, err);
    return status == C2_OK ? note_headers(accesses, block, known, err) : status;
}

/* ------------------------------------------------------------------ steps */

static void vote(struct steps *steps, int64_t bytes, uint64_t votes)
{
    struct candidate *free = NULL;
    uint64_t least = votes;
    steps->of += votes;
    for (unsigned i = 0; i < CANDIDATES; i++) {
        struct candidate *candidate = &steps->list[i];
        if (candidate->votes != 0 && candidate->bytes == bytes) {
            candidate->votes += votes;
            return;
        }
        least = candidate->votes < least ? candidate->votes : least;
        free = candidate->votes == 0 ? candidate : free;
    }
    if (free) {
        *free = (struct candidate){bytes, votes};
        return;
    }
    for (unsigned i = 0; i < CANDIDATES; i++)
        steps->list[i].votes -= least;
}

static struct analyses_step most(const struct steps *steps)
{
    struct analyses_step step = {.of = steps->of};
    for (unsigned i = 0; i < CANDIDATES; i++) {
        const struct candidate *candidate = &steps->list[i];
        if (candidate->votes > step.times ||
            (candidate->votes == step.times && step.times != 0 && llabs(candidate->bytes) < llabs(step.bytes))) {
            step.bytes = candidate->bytes;
            step.times = candidate->votes;
        }
    }
    return step;
}

/* Whether it is one more time that the loop was entered. */
static bool visited(struct in_loop *in, uint64_t va, const struct turn *turn)
{
    struct visit *visit = &in->visit;
    const bool again = visit->valid && visit->entry == turn->entry;
    if (again && turn->round == visit->round + 1) {
        const int64_t bytes = (int64_t)(va - visit->va);
        vote(&in->steps, bytes, 1);
        in->steady += bytes == in->last;
        in->last = bytes;
    }
    *visit = (struct visit){va, turn->entry, turn->round, true};
    return !again;
}

static enum c2_status reach_depth(struct accesses *accesses, struct tracked *tracked, unsigned depth,
                                  struct c2_error *err)
{
    if (!tracked->loops[depth] && !(tracked->loops[depth] = c2_pool_get(&accesses->pool, sizeof(struct in_loop))))
        return accesses_no_memory(err);
    return C2_OK;
}

/* Where an access of this round would have been in the first one, if most go on by one step. */
static uint64_t in_first_round(const struct in_loop *in, uint64_t va, uint64_t round)
{
    const struct analyses_step step = most(&in->steps);
    return step.times * 2 > step.of ? va - (uint64_t)step.bytes * round : va;
}

static enum c2_status step_in_loops(struct accesses *accesses, struct tracked *tracked, uint32_t loop, uint64_t va,
                                    struct c2_error *err)
{
    enum c2_status status = C2_OK;
    bool anew = true;
    for (unsigned depth = 0; depth < EXCERPTS_DEPTH && loop != ANALYSES_NO_LOOP && anew; depth++) {
        if ((status = reach_depth(accesses, tracked, depth, err)) != C2_OK)
            break;
        const struct turn *turn = &accesses->turns[loop];
        anew = visited(tracked->loops[depth], va, turn) && turn->begun;
        va = anew ? in_first_round(tracked->loops[depth], va, turn->round) : va;
        loop = accesses->around[loop];
    }
    return status;
}

static void fit_grid(struct analyses_access *access, const struct tracked *tracked, uint64_t offset)
{
    access->grid = c2_divisor(offset > tracked->anchor ? offset - tracked->anchor : tracked->anchor - offset,
                              access->grid);
}

/* ------------------------------------------------------------------ accesses */

static enum c2_status new_access(struct accesses *accesses, uint32_t insn, uint32_t object, uint64_t anchor,
                                 struct c2_error *err)
{
    if (!c2_grow((void **)&accesses->list, &accesses->list_room, accesses->count, sizeof *accesses->list) ||
        !c2_grow((void **)&accesses->tracked, &accesses->tracked_room, accesses->count, sizeof *accesses->tracked))
        return accesses_no_memory(err);
    accesses->list[accesses->count] = (struct analyses_access){.insn = insn, .object = object};
    accesses->tracked[accesses->count] = (struct tracked){.anchor = anchor, .caller = NO_INSN};
    enum c2_status status = reach_depth(accesses, &accesses->tracked[accesses->count], 0, err);
    if (status != C2_OK)
        return status;
    return c2_map_put(accesses->number_of, (uint64_t)insn << 32 | object, accesses->count++, err);
}

/* What a slot did; *number: its access + 1, as it was last. */
static enum c2_status find_access(struct accesses *accesses, uint32_t *number, uint32_t insn, uint32_t object,
                                  uint64_t anchor, struct c2_error *err)
{
    uint64_t found;
    if (*number != 0 && accesses->list[*number - 1].object == object)
        return C2_OK;
    if (c2_map_get(accesses->number_of, (uint64_t)insn << 32 | object, &found)) {
        *number = (uint32_t)found + 1;
        return C2_OK;
    }
    enum c2_status status = new_access(accesses, insn, object, anchor, err);
    *number = accesses->count;
    return status;
}

struct touch {
    uint32_t insn, loop, object, bytes;
    uint32_t caller;     /* NO_INSN: none, or it is the user's code itself */
    uint64_t va, offset; /* offset: in its object or block */
    uint64_t reads, writes;
};

static void vote_caller(struct tracked *tracked, uint32_t caller)
{
    if (tracked->caller_votes == 0)
        tracked->caller = caller;
    tracked->caller_votes += tracked->caller == caller ? 1 : UINT64_MAX;
}

static enum c2_status accesses_touch(struct accesses *accesses, uint32_t *number, const struct touch *touch,
                                     struct c2_error *err)
{
    enum c2_status status = find_access(accesses, number, touch->insn, touch->object, touch->offset, err);
    if (status != C2_OK)
        return status;
    struct analyses_access *access = &accesses->list[*number - 1];
    struct tracked *tracked = &accesses->tracked[*number - 1];
    access->bytes = touch->bytes > access->bytes ? touch->bytes : access->bytes;
    access->reads += touch->reads;
    access->writes += touch->writes;
    fit_grid(access, tracked, touch->offset);
    if (touch->caller != NO_INSN)
        vote_caller(tracked, touch->caller);
    if (touch->loop != ANALYSES_NO_LOOP)
        return step_in_loops(accesses, tracked, touch->loop, touch->va, err);
    visited(tracked->loops[0], touch->va, &(struct turn){0, tracked->round++, true});
    return C2_OK;
}

/* Further elements of a string instruction. */
static void accesses_repeat(struct accesses *accesses, uint32_t number, const struct stream_slot *slot,
                            const uint64_t *words)
{
    const uint64_t count = stream_string_elements(words);
    const int64_t size = slot->size;
    struct analyses_access *access = &accesses->list[number - 1];
    if (count < 2)
        return;
    struct in_loop *in = accesses->tracked[number - 1].loops[0];
    vote(&in->steps, stream_string_goes_down(words) ? -size : size, count - 1);
    in->steady += count - 2;
    access->grid = c2_divisor(slot->size, access->grid);
    access->reads += slot->how != 0 ? 0 : count - 1;
    access->writes += slot->how != 0 ? count - 1 : 0;
}

static bool is_string(const struct stream_block *block)
{
    return block->slot_count != 0 && block->slots[0].kind == STREAM_SOURCE;
}

static enum c2_status touch_slot(struct accesses *accesses, const struct excerpt *excerpt, uint32_t word, uint32_t slot,
                                 const struct stream_block *block, struct c2_error *err)
{
    struct block_known *known = &accesses->known[stream_header_block(excerpt->words[word])];
    const struct stream_slot *of = &block->slots[slot];
    const struct excerpt_place *place = &excerpt->list[excerpt->places[word + 1 + slot]];
    const uint32_t object = place->owner == PROFILE_NONE ? PROFILE_NONE
                                                         : profile_object(accesses->profile, place->owner);
    const uint64_t va = excerpt->words[word + 1 + slot];
    const bool many = object != PROFILE_NONE && accesses->view->objects[object].blocks > 1;
    const bool writes = stream_writes(of) || of->how != 0;
    if (object == PROFILE_NONE || known->insns[of->insn] == NO_INSN)
        return C2_OK;
    const struct touch it = {.insn = known->insns[of->insn],
                             .loop = known->loops[of->insn],
                             .object = object,
                             .bytes = of->size,
                             .caller = known->user ? NO_INSN : accesses->caller,
                             .va = va,
                             .offset = va - (many ? place->start : accesses->view->objects[object].base),
                             .reads = !writes || of->kind == STREAM_MODIFY,
                             .writes = writes};
    enum c2_status status = accesses_touch(accesses, &known->last[slot], &it, err);
    if (status == C2_OK && is_string(block))
        accesses_repeat(accesses, known->last[slot], of, &excerpt->words[word + 1]);
    return status;
}

/* ------------------------------------------------------------------ rounds */

/* The headers at this instruction: the innermost loop that the function was in goes round, those inside it are
 * entered. */
static uint32_t pass_headers(struct accesses *accesses, const struct block_known *known, uint32_t header, uint32_t insn)
{
    const struct function_read *function = &accesses->functions[known->function];
    const uint32_t at = function->at;
    bool round = false;
    for (; header < known->header_count && known->headers[header].insn == insn; header++) {
        const uint32_t loop = known->headers[header].loop;
        struct turn *turn = &accesses->turns[loop];
        if (round)
            continue;
        round = analyses_loop_within(&accesses->result.loops, at, loop);
        *turn = round ? (struct turn){turn->entry, turn->round + 1, turn->begun}
                      : (struct turn){turn->entry + 1, 0, function->seen};
    }
    return header;
}

/* A call: what the function was in before is over. */
static void accesses_enter(struct accesses *accesses, const struct block_known *known)
{
    struct function_read *function = &accesses->functions[known->function];
    if (known->enters && accesses->last != NO_FUNCTION && accesses->last != known->function) {
        const struct function_read *caller = &accesses->functions[accesses->last];
        function->called_in = caller->at != ANALYSES_NO_LOOP ? caller->at : caller->called_in;
        function->at = ANALYSES_NO_LOOP;
        if (accesses->calls_only)
            vote(&function->calls, function->called_in, 1);
    }
    function->seen |= known->enters;
    if (function->known)
        accesses->last = known->function;
}

static enum c2_status read_record(struct accesses *accesses, const struct excerpt *excerpt, uint32_t word,
                                  struct c2_error *err)
{
    struct sim_executed record;
    record_at(&record, accesses, excerpt, word, 0);
    enum c2_status status = accesses_know(accesses, record.number, record.block, err);
    const struct block_known *known = &accesses->known[record.number];
    const uint32_t slots = stream_header_slots(excerpt->words[word]);
    uint32_t slot = 0, header = 0;
    /* Elements of a string instruction that goes on belong to it as well. */
    const uint32_t insns = is_string(record.block) ? 1 : record.insns_run;
    if (status != C2_OK)
        return status;
    accesses_enter(accesses, known);
    if (known->user && insns != 0 && known->insns[insns - 1] != NO_INSN)
        accesses->caller = known->insns[insns - 1];
    if (accesses->calls_only && insns != 0) /* only where the function was last matters to calls */
        accesses->functions[known->function].at = known->loops[insns - 1];
    for (uint32_t i = 0; i < insns && !accesses->calls_only && status == C2_OK; i++) {
        header = pass_headers(accesses, known, header, i);
        accesses->functions[known->function].at = known->loops[i];
        accesses->functions[known->function].seen = true;
        for (; slot < slots && record.block->slots[slot].insn == i && status == C2_OK; slot++)
            if (excerpt->places[word + 1 + slot] != 0)
                status = touch_slot(accesses, excerpt, word, slot, record.block, err);
    }
    return status;
}

/* What was before does not go on. */
static void accesses_forget(struct accesses *accesses)
{
    for (uint32_t i = 0; i < accesses->result.loops.count; i++)
        accesses->turns[i] = (struct turn){accesses->turns[i].entry + 1, 0, false};
    for (uint32_t i = 0; i < accesses->function_count; i++) {
        accesses->functions[i].at = accesses->functions[i].called_in = ANALYSES_NO_LOOP;
        accesses->functions[i].seen = false;
    }
    accesses->last = NO_FUNCTION;
    for (uint32_t i = 0; i < accesses->count; i++)
        accesses->tracked[i].loops[0]->visit.valid = false;
    accesses->caller = NO_INSN;
}

static enum c2_status read_thread(struct accesses *accesses, const struct excerpt *excerpt, uint32_t tid,
                                  struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < excerpt->stretch_count; i++) {
        if (excerpt->stretches[i].tid != tid)
            continue;
        const uint32_t end = accesses_end_of(excerpt, i);
        for (uint32_t word = excerpt->stretches[i].from; word < end && status == C2_OK;
             word = accesses_behind(excerpt, word))
            status = read_record(accesses, excerpt, word, err);
    }
    return status;
}

/* Each thread by itself, in the order in which they come. */
static enum c2_status read_excerpt(struct accesses *accesses, const struct excerpt *excerpt, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < excerpt->stretch_count && status == C2_OK; i++) {
        bool done = false;
        for (uint32_t k = 0; k < i && !done; k++)
            done = excerpt->stretches[k].tid == excerpt->stretches[i].tid;
        if (done)
            continue;
        if (i != 0 || !accesses->follows)
            accesses_forget(accesses);
        status = read_thread(accesses, excerpt, excerpt->stretches[i].tid, err);
    }
    return status;
}

static enum c2_status accesses_read_all(struct accesses *accesses, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    accesses_forget(accesses);
    for (uint32_t i = 0; i < accesses->excerpt_count && status == C2_OK; i++)
        status = read_excerpt(accesses, &accesses->excerpts[i], err);
    return status;
}

/* The loop that the function is called in, of more than half of its calls. */
static uint32_t loop_of_calls(const struct function_read *function)
{
    const struct analyses_step call = most(&function->calls);
    return function->known && call.times * 2 > call.of ? (uint32_t)call.bytes : ANALYSES_NO_LOOP;
}

static enum c2_status accesses_find_calls(struct accesses *accesses, struct c2_error *err)
{
    const struct analyses_loops_result *loops = &accesses->result.loops;
    uint32_t function;
    accesses->around = c2_alloc((loops->count + (size_t)1) * sizeof *accesses->around);
    if (!accesses->around)
        return accesses_no_memory(err);
    accesses->calls_only = true;
    enum c2_status status = accesses_read_all(accesses, err);
    accesses->calls_only = false;
    for (uint32_t i = 0; i < loops->count && status == C2_OK; i++) {
        accesses->around[i] = loops->loops[i].parent;
        status = accesses_function_number(accesses, loops->loops[i].header, &function, err);
        if (status == C2_OK && accesses->around[i] == ANALYSES_NO_LOOP)
            accesses->around[i] = loop_of_calls(&accesses->functions[function]);
    }
    accesses->result.around = accesses->around;
    return status;
}

/* ------------------------------------------------------------------ the result */

static int accesses_by_insn(const void *left, const void *right)
{
    const struct analyses_access *a = left, *b = right;
    if (a->insn != b->insn)
        return a->insn < b->insn ? -1 : 1;
    return (a->object > b->object) - (a->object < b->object);
}

static void accesses_put_in_order(struct accesses *accesses)
{
    for (uint32_t i = 0; i < accesses->count; i++) {
        struct analyses_access *access = &accesses->list[i];
        for (unsigned depth = 0; depth < EXCERPTS_DEPTH; depth++)
            if (accesses->tracked[i].loops[depth])
                access->step[depth] = most(&accesses->tracked[i].loops[depth]->steps);
        access->steady = accesses->tracked[i].loops[0]->steady;
        access->anchor = accesses->tracked[i].anchor;
        access->offset = access->grid == 0 ? access->anchor : access->anchor % access->grid;
        access->caller = accesses->tracked[i].caller;
    }
    if (accesses->count != 0)
        qsort(accesses->list, accesses->count, sizeof *accesses->list, accesses_by_insn);
    accesses->result.accesses = accesses->list;
    accesses->result.access_count = accesses->count;
}

/* Instructions mostly access one object each. */
static bool make_room(struct accesses *accesses)
{
    const uint32_t count = (uint32_t)accesses->view->insn_count;
    return c2_reach((void **)&accesses->list, &accesses->list_room, count, sizeof *accesses->list, 0) &&
           c2_reach((void **)&accesses->tracked, &accesses->tracked_room, count, sizeof *accesses->tracked, 0);
}

static enum c2_status find_accesses(struct accesses *accesses, struct c2_error *err)
{
    enum c2_status status = c2_map_create(&accesses->function_of, err);
    if (status == C2_OK)
        status = c2_map_create(&accesses->number_of, err);
    accesses->block_count = accesses->blocks ? stream_blocks_count(accesses->blocks) : 0;
    accesses->known = c2_calloc(accesses->block_count + (size_t)1, sizeof *accesses->known);
    if (status == C2_OK && (!accesses->known || !make_room(accesses)))
        status = accesses_no_memory(err);
    if (status == C2_OK)
        status = accesses_find_calls(accesses, err);
    if (status == C2_OK)
        status = accesses_read_all(accesses, err);
    if (status == C2_OK)
        accesses_put_in_order(accesses);
    return status;
}

enum c2_status accesses_create(struct accesses **out, const struct excerpt *excerpts, uint32_t count, bool follows,
                               const struct stream_blocks *blocks, const struct profile *profile,
                               struct loader_symbols *symbols, struct c2_error *err)
{
    struct accesses *accesses = *out = c2_calloc(1, sizeof *accesses);
    if (!accesses)
        return accesses_no_memory(err);
    accesses->excerpts = excerpts;
    accesses->excerpt_count = count;
    accesses->follows = follows;
    accesses->caller = NO_INSN;
    accesses->blocks = blocks;
    accesses->profile = profile;
    accesses->view = profile_result(&profile->base);
    accesses->symbols = symbols;
    enum c2_status status = accesses_find_loops(accesses, err);
    if (status == C2_OK)
        status = find_accesses(accesses, err);
    if (status == C2_OK)
        return C2_OK;
    accesses_destroy(accesses);
    *out = NULL;
    return status;
}

const struct analyses_access *analyses_access_of(const struct analyses_excerpts_result *result, uint32_t insn,
                                                 uint32_t object)
{
    const struct analyses_access key = {.insn = insn, .object = object};
    return result->access_count == 0
               ? NULL
               : bsearch(&key, result->accesses, result->access_count, sizeof key, accesses_by_insn);
}
