/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * nest: what two loops of a nest would spare if they were swapped, or gone through in blocks.
 *
 * Model
 *   The accesses of the innermost loop, as the excerpts have shown them, are made again: each at its object's start,
 *   its first offset, and for each loop around it the step times the round. Steps that are not known are 0. A loop has
 *   as many rounds as its first instruction ran more often than it was entered: as often as the instruction in front of
 *   it ran, where the one behind the loop ran as often; else as often as that of the loop around it, or that of the
 *   function, did. Once the loops are as they are, once the two are swapped, and once they go through blocks of so many
 *   rounds of each that whole lines are used; each time with caches and TLBs of the run's machine that begin empty,
 *   physical addresses being the virtual ones. Blocks are the remedy of transpositions, and where they spare more than
 *   the swap by one part in NOTABLE of the cost.
 *   A sweep is one execution of the outer one of the two. A second sweep goes on as the loop around does, and
 *   costs what all but the first cost; where hardly any miss of the run was cold it stands for the first one too.
 *   Sweeps of more than MOST_ACCESSES are cut there, and there is no second one: then costs are those of an access, and
 *   a miss that is the first one of its line costs nothing where hardly any of the run was, and the level holds all
 *   objects of the loop: it had the line before.
 *   The gain is what the accesses of the finding's object cost less, and what those of other objects cost more, as a
 *   part of what the object's cost as it is: the same part of the finding's cost.
 *
 * Not modelled
 *   Accesses outside of the innermost loop. Walks that go through the caches. What frames do to physically indexed
 *   levels. Loops whose bounds depend on another's round. Whether the program's meaning allows the swap.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

#define MOST_ACCESSES 150000u
#define REFERENCES 64u /* of a loop; further ones are left out */
#define LONGEST 15u    /* bytes of an instruction */
#define COLD_SHARE 10u /* one part of the cost: fewer are hardly any */
#define NOTABLE 10u
#define LEAST_BLOCK 4u
#define MOST_BLOCK 32u

struct reference {
    uint64_t first; /* address of the first round */
    uint64_t past;  /* bytes by which the object's first reference begins behind a line */
    int64_t step[EXCERPTS_DEPTH];
    uint32_t object;
    bool write;
    struct guest_va pc;
    uint64_t cycles; /* of the accesses made */
};

struct nest {
    const struct findings_input *input;
    struct caches_machine machine;
    struct caches_costs costs;
    uint64_t rounds[EXCERPTS_DEPTH]; /* [0] of the innermost loop */
    unsigned inner, with;            /* the depths of the two; loops within the inner one stay there */
    unsigned order[EXCERPTS_DEPTH];  /* depths, the one that turns fastest first; */
    uint64_t block[EXCERPTS_DEPTH];  /* rounds of a block of the two; 0: there are none */
    uint64_t sweeps;                 /* of the run */
    uint64_t bytes;                  /* of all objects of the loop */
    bool warm;                       /* hardly any miss of the run was cold */
    struct reference references[REFERENCES];
    uint32_t count;
    struct caches *caches;
    struct caches_tlbs *tlbs;
};

/* ------------------------------------------------------------------ the nest as it is */

/* How often the loop's first instruction ran. */
static uint64_t runs_of(const struct findings_input *input, uint32_t loop)
{
    const struct guest_va header = input->excerpts->loops.loops[loop].header;
    const uint64_t times = input->profile->insns[analyses_profile_insn(input->profile, header)].executed;
    return times == 0 ? 1 : times;
}

/* How often the loop was entered by the code around it: the instruction in front of its first one, which leads there,
 * and the one behind its last, which it ends with, ran equally often. 0: they did not, so that there are other ways in
 * or out. */
static uint64_t entries_seen(const struct findings_input *input, uint32_t loop)
{
    const struct analyses_loop *of = &input->excerpts->loops.loops[loop];
    const struct analyses_profile_result *profile = input->profile;
    const size_t header = analyses_profile_insn(profile, of->header), latch = analyses_profile_insn(profile, of->latch);
    if (header == 0 || latch < header || latch + 1 == profile->insn_count ||
        profile->insns[header].pc.v - profile->insns[header - 1].pc.v > LONGEST ||
        profile->insns[latch + 1].pc.v - profile->insns[latch].pc.v > LONGEST)
        return 0;
    const uint64_t before = profile->insns[header - 1].executed, behind = profile->insns[latch + 1].executed;
    const uint64_t left = profile->insns[header].executed - profile->insns[latch].executed + behind;
    return left == before ? before : 0;
}

/* How often the loop was entered: by the code around it; or once in each round of the one around it, or each time that
 * its function was. */
static uint64_t nest_entries_of(const struct findings_input *input, uint32_t loop)
{
    const struct analyses_loop *of = &input->excerpts->loops.loops[loop];
    const uint64_t seen = entries_seen(input, loop);
    struct guest_va entry;
    if (seen != 0)
        return seen;
    if (of->parent != ANALYSES_NO_LOOP)
        return runs_of(input, of->parent);
    if (!input->symbols || !loader_function_entry(input->symbols, of->header, &entry))
        return 1;
    for (size_t i = 0; i < input->profile->insn_count; i++)
        if (input->profile->insns[i].pc.v == entry.v && input->profile->insns[i].executed != 0)
            return input->profile->insns[i].executed;
    return 1;
}

uint64_t findings_rounds(const struct findings_input *input, uint32_t loop)
{
    const uint64_t runs = runs_of(input, loop), entries = nest_entries_of(input, loop);
    return runs < entries ? 1 : (runs + entries / 2) / entries;
}

/* NULL: there is none yet. */
static const struct reference *first_of(const struct nest *nest, uint32_t object)
{
    for (uint32_t i = 0; i < nest->count; i++)
        if (nest->references[i].object == object)
            return &nest->references[i];
    return NULL;
}

static void add_reference(struct nest *nest, const struct analyses_access *access)
{
    const struct analyses_profile_result *profile = nest->input->profile;
    if (nest->count == REFERENCES)
        return;
    const uint64_t first = profile->objects[access->object].base + access->anchor;
    const struct reference *known = first_of(nest, access->object);
    if (!known)
        nest->bytes += profile->objects[access->object].bytes;
    struct reference *reference = &nest->references[nest->count++];
    *reference = (struct reference){.first = first,
                                    .past = known ? known->past : first % nest->machine.line_bytes,
                                    .object = access->object,
                                    .write = access->writes != 0,
                                    .pc = profile->insns[access->insn].pc};
    for (unsigned depth = 0; depth < EXCERPTS_DEPTH; depth++)
        if (!findings_step(access, depth, &reference->step[depth]))
            reference->step[depth] = 0;
}

/* What stands for the instruction from here on, in the order of objects: the finding's object where it is the finding's
 * instruction, else what it accesses most; as with two arrays that change places. NULL: it is not in most rounds. */
static const struct analyses_access *stands_for(const struct findings_input *input, const struct finding *finding,
                                                size_t *i)
{
    const struct analyses_excerpts_result *excerpts = input->excerpts;
    const struct analyses_access *best = &excerpts->accesses[*i];
    const uint32_t insn = best->insn;
    uint64_t times = 0;
    for (; *i < excerpts->access_count && excerpts->accesses[*i].insn == insn; ++*i) {
        const struct analyses_access *one = &excerpts->accesses[*i];
        const bool is_own = insn == finding->insn && one->object == finding->object,
                   best_is = insn == finding->insn && best->object == finding->object;
        times += one->reads + one->writes;
        if (is_own || (!best_is && one->reads + one->writes > best->reads + best->writes))
            best = one;
    }
    return times * 2 > excerpts->loops.loops[finding->loop].iterations ? best : NULL;
}

/* The loops from the innermost one on, and the accesses of that. */
static void nest_describe(struct nest *nest, const struct findings_input *input, const struct finding *finding)
{
    const struct analyses_loops_result *loops = &input->excerpts->loops;
    uint32_t loop = finding->loop;
    for (nest->with = 0; loop != finding->with; nest->with++) {
        if (loop == finding->swapped)
            nest->inner = nest->with;
        nest->rounds[nest->with] = findings_rounds(input, loop);
        loop = analyses_loop_around(input->excerpts, loop);
    }
    nest->rounds[nest->with] = findings_rounds(input, loop);
    nest->sweeps = nest_entries_of(input, loop);
    for (size_t i = 0; i < input->excerpts->access_count;) { /* in the order of the instructions */
        const bool is_in = loops->loop_of[input->excerpts->accesses[i].insn] == finding->loop;
        const struct analyses_access *access = stands_for(input, finding, &i);
        if (is_in && access)
            add_reference(nest, access);
    }
}

/* ------------------------------------------------------------------ its accesses, made again */

static enum c2_status open_machine(struct nest *nest, struct c2_error *err)
{
    enum c2_status status = caches_create(&nest->caches, &nest->machine, 1, err);
    return status == C2_OK ? caches_tlbs_create(&nest->tlbs, nest->machine.tlbs, nest->machine.tlb_count, err) : status;
}

static void close_machine(struct nest *nest)
{
    caches_destroy(nest->caches);
    caches_tlbs_destroy(nest->tlbs);
    nest->caches = NULL;
    nest->tlbs = NULL;
}

static uint64_t nest_translate(struct nest *nest, const struct reference *reference, uint64_t va)
{
    const enum caches_tlb_side side = reference->write ? CACHES_TLB_STORE : CACHES_TLB_LOAD;
    if (!caches_tlbs_has(nest->tlbs, side))
        return 0;
    const uint64_t before = *caches_tlbs_first_misses(nest->tlbs);
    const unsigned reads = caches_tlbs_access(nest->tlbs, side, (struct guest_va){va}, 4, NULL);
    return (*caches_tlbs_first_misses(nest->tlbs) - before) * nest->costs.second_tlb + reads * nest->costs.walk_read;
}

static bool costs(const struct nest *nest, uint32_t level, enum caches_class class_)
{
    if (class_ == CACHES_COLD)
        return !nest->warm || nest->bytes > nest->machine.levels[level].size_bytes;
    return class_ != CACHES_HIT;
}

static enum c2_status access(struct nest *nest, struct reference *reference, uint64_t va, struct c2_error *err)
{
    const struct line_no line = {va / nest->machine.line_bytes};
    struct caches_outcome outcome;
    reference->cycles += nest_translate(nest, reference, va);
    caches_set_instruction(nest->caches, reference->pc);
    enum c2_status status = caches_access(nest->caches, CACHES_DATA, reference->write, line, line, &outcome, err);
    for (uint32_t i = 0; status == C2_OK && i < outcome.depth; i++)
        reference->cycles += costs(nest, i, outcome.event[i].class_) ? nest->costs.miss[i] : 0;
    return status;
}

/* One round of the innermost loop; addresses are those of a program's half of the address space. Blocks begin where
 * lines do, as they do from the first round of the loops on. */
static enum c2_status round_of(struct nest *nest, const uint64_t at[EXCERPTS_DEPTH], struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < nest->count && status == C2_OK; i++) {
        uint64_t va = nest->references[i].first - (nest->block[nest->inner] != 0 ? nest->references[i].past : 0);
        for (unsigned depth = 0; depth < EXCERPTS_DEPTH; depth++)
            va += (uint64_t)nest->references[i].step[depth] * at[depth];
        status = access(nest, &nest->references[i], va & (((uint64_t)1 << 47) - 1), err);
    }
    return status;
}

/* The next round of a loop within its block; false: the block is over, and it is where that began. */
static bool turn_in_block(const struct nest *nest, unsigned depth, uint64_t at[EXCERPTS_DEPTH])
{
    const uint64_t next = at[depth] + 1;
    if (next < nest->rounds[depth] && next % nest->block[depth] != 0)
        at[depth] = next;
    else
        at[depth] -= at[depth] % nest->block[depth];
    return at[depth] == next;
}

/* The first round of the next block of a loop; false: there is none, and it begins again. */
static bool turn_block(const struct nest *nest, unsigned depth, uint64_t at[EXCERPTS_DEPTH])
{
    at[depth] += nest->block[depth];
    if (at[depth] < nest->rounds[depth])
        return true;
    at[depth] = 0;
    return false;
}

/* The next round; false: the sweep is over. */
static bool turn(const struct nest *nest, uint64_t at[EXCERPTS_DEPTH])
{
    for (unsigned depth = 0; depth < nest->inner; depth++) {
        if (++at[depth] < nest->rounds[depth])
            return true;
        at[depth] = 0;
    }
    if (nest->block[nest->inner] != 0 && (turn_in_block(nest, nest->inner, at) || turn_in_block(nest, nest->with, at)))
        return true;
    for (unsigned i = nest->inner; i <= nest->with; i++) {
        const unsigned depth = nest->order[i];
        if (nest->block[depth] != 0) {
            if (turn_block(nest, depth, at))
                return true;
            continue;
        }
        if (++at[depth] < nest->rounds[depth])
            return true;
        at[depth] = 0;
    }
    return false;
}

/* *rounds: how many it had. */
static enum c2_status nest_sweep(struct nest *nest, uint64_t number, uint64_t most, uint64_t *rounds,
                                 struct c2_error *err)
{
    uint64_t at[EXCERPTS_DEPTH] = {0};
    enum c2_status status = C2_OK;
    if (nest->with + 1 < EXCERPTS_DEPTH)
        at[nest->with + 1] = number;
    *rounds = 0;
    do {
        status = round_of(nest, at, err);
        ++*rounds;
    } while (status == C2_OK && *rounds < most && turn(nest, at));
    return status;
}

/* ------------------------------------------------------------------ what they cost */

/* Of the run's sweeps, by reference, in cycles a round. */
struct outcome {
    double cycles[REFERENCES];
};

static void take_cycles(struct nest *nest, struct outcome *out, double weight)
{
    for (uint32_t i = 0; i < nest->count; i++) {
        out->cycles[i] += (double)nest->references[i].cycles * weight;
        nest->references[i].cycles = 0;
    }
}

static uint64_t rounds_of_sweep(const struct nest *nest, uint64_t most)
{
    uint64_t rounds = 1;
    for (unsigned depth = 0; depth <= nest->with && rounds < most; depth++)
        rounds *= nest->rounds[depth];
    return rounds < most ? rounds : most;
}

static enum c2_status nest_simulate(struct nest *nest, struct outcome *out, struct c2_error *err)
{
    const uint64_t most = MOST_ACCESSES / nest->count, all = rounds_of_sweep(nest, UINT64_MAX >> 1);
    const bool again = all <= most && nest->sweeps > 1;
    const double first = !again ? 1 : nest->warm ? 0 : 1.0 / (double)nest->sweeps;
    uint64_t rounds;
    *out = (struct outcome){{0}};
    enum c2_status status = open_machine(nest, err);
    if (status == C2_OK)
        status = nest_sweep(nest, 0, most, &rounds, err);
    if (status == C2_OK)
        take_cycles(nest, out, first / (double)rounds);
    if (status == C2_OK && again)
        status = nest_sweep(nest, 1, most, &rounds, err);
    if (status == C2_OK && again)
        take_cycles(nest, out, (1 - first) / (double)rounds);
    close_machine(nest);
    return status;
}

/* ------------------------------------------------------------------ the gain */

static double of_object(const struct nest *nest, const struct outcome *outcome, uint32_t object)
{
    double sum = 0;
    for (uint32_t i = 0; i < nest->count; i++)
        sum += nest->references[i].object == object ? outcome->cycles[i] : 0;
    return sum;
}

/* What other objects lose: the first reference of each speaks for it. */
static double lost_by_others(const struct nest *nest, const struct outcome *now, const struct outcome *then,
                             uint32_t object)
{
    double lost = 0;
    for (uint32_t i = 0; i < nest->count; i++) {
        const uint32_t other = nest->references[i].object;
        bool counted = other == object;
        for (uint32_t k = 0; k < i && !counted; k++)
            counted = nest->references[k].object == other;
        const double more = counted ? 0 : of_object(nest, then, other) - of_object(nest, now, other);
        lost += more > 0 ? more : 0;
    }
    return lost;
}

static uint64_t gain_of(const struct nest *nest, const struct finding *finding, const struct outcome *now,
                        const struct outcome *then)
{
    const double before = of_object(nest, now, finding->object);
    const double spared = before - of_object(nest, then, finding->object) -
                          lost_by_others(nest, now, then, finding->object);
    if (before <= 0 || spared <= 0)
        return 0;
    return (uint64_t)((double)finding->cost * spared / before);
}

/* Rounds of a loop around the accesses of which whole lines are used by all that goes in steps shorter than one. */
static uint32_t block_of(const struct findings_input *input, uint32_t loop, struct findings_inner inner, unsigned depth)
{
    const struct findings_accesses accesses = findings_accesses_of(input, loop, FINDINGS_NOBODY);
    const uint64_t line = input->machine->line_bytes;
    uint64_t block = LEAST_BLOCK;
    for (size_t i = 0; i < accesses.count; i++) {
        const struct analyses_access *of = findings_access(&accesses, i);
        int64_t step;
        const bool known = depth == inner.depth ? findings_step(of, depth, &step)
                                                : findings_outer_step(input, inner, of, depth, &step);
        if (known && step != 0 && line / (uint64_t)llabs(step) > block)
            block = line / (uint64_t)llabs(step);
    }
    return (uint32_t)(block < MOST_BLOCK ? block : MOST_BLOCK);
}

uint32_t findings_tile(const struct findings_input *input, uint32_t loop, struct findings_inner inner, unsigned depth)
{
    const uint32_t block = block_of(input, loop, inner, inner.depth), outer = block_of(input, loop, inner, depth);
    return block > outer ? block : outer;
}

/* The loops as they are, swapped, and in blocks. */
static enum c2_status try_nest(struct nest *nest, struct finding *finding, struct c2_error *err)
{
    struct outcome now, swapped, tiled;
    enum c2_status status = nest_simulate(nest, &now, err);
    nest->order[nest->inner] = nest->with;
    nest->order[nest->with] = nest->inner;
    if (status == C2_OK)
        status = nest_simulate(nest, &swapped, err);
    nest->order[nest->inner] = nest->inner;
    nest->order[nest->with] = nest->with;
    const struct findings_inner of = {finding->swapped, nest->inner};
    const uint32_t inner = block_of(nest->input, finding->loop, of, nest->inner),
                   outer = block_of(nest->input, finding->loop, of, nest->with);
    nest->block[nest->inner] = inner;
    nest->block[nest->with] = outer;
    if (status == C2_OK)
        status = nest_simulate(nest, &tiled, err);
    if (status != C2_OK)
        return status;
    const uint64_t by_swap = gain_of(nest, finding, &now, &swapped), by_tile = gain_of(nest, finding, &now, &tiled);
    const bool tile = finding->tile != 0 ? by_tile != 0 : by_tile > by_swap + finding->cost / NOTABLE;
    finding->tile = !tile ? 0 : inner > outer ? inner : outer;
    finding->gain = tile ? by_tile : by_swap;
    return C2_OK;
}

enum c2_status findings_swap(struct finding *finding, const struct findings_input *input, struct c2_error *err)
{
    struct nest *nest = c2_calloc(1, sizeof *nest);
    if (!nest)
        return c2_fail_memory(err, "the findings");
    nest->input = input;
    nest->machine = *input->machine;
    nest->machine.cores = 1;
    nest->costs = caches_costs(input->machine);
    for (unsigned depth = 0; depth < EXCERPTS_DEPTH; depth++)
        nest->order[depth] = depth;
    nest_describe(nest, input, finding);
    nest->warm = finding->parts.cold * COLD_SHARE < finding->cost;
    const enum c2_status status = nest->count == 0 ? C2_OK : try_nest(nest, finding, err);
    c2_free(nest);
    return status;
}
