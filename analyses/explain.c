/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explain: one miss of one level, and the accesses of its set from there on.
 *
 * Model
 *   Of one level all line accesses are followed: when each line came, was touched last, left, and by which access; and
 *   how many other lines the level was asked for since. Before each access that the level may be asked for its set is
 *   looked at (caches_look), so that what is shown of ways is what the simulated caches hold.
 *   Misses are counted as reports count them: those of phases that are measured. Which one becomes the story: the N-th
 *   of the level, or the N-th of those that instructions of one line of the source made; or, without a number, one that
 *   is typical: of each class the 1st, 2nd, 4th, 8th ... is kept, the last of these residencies, and of the classes
 *   that with most misses is notified. So it is one of the second half, when the set is as it mostly is.
 *   The steps are the accesses behind it that the same cache was asked for in the same set.
 *
 * Counting
 *   Time is the accesses that the cache was asked for, of every phase; walks that enter there are among them.
 *
 * Invariants
 *   The misses of the level are those that the caches counted (asserted window by window). On machines of one core
 *   without prefetchers a miss is cold, capacity or conflict by its distance as it is by its shadow: cold if there is
 *   none, else capacity if it is the level's lines or more (asserted).
 *
 * Not modelled
 *   Levels that stores pass on: refused. Distances where prefetchers, instructions made for caches or several cores
 *   change what the shadow holds.
 */
#include "analyses/explain.h"

#include <string.h>

#include "analyses/reuse_stack_priv.h"
#include "analyses/where.h"

#define NO_SPOT UINT32_MAX
#define LONGEST_FILE 4096u

/* One cache of the level: of each core, or of all. */
struct copy {
    struct c2_map *line_of; /* line -> number in `lines` */
    struct explain_line *lines;
    uint32_t count, room;
    struct reuse_stack *stack;
    uint64_t asked;
};

/* A story while its steps are collected. */
struct notified_of {
    struct explain_story story;
    uint32_t room; /* of its steps */
    uint32_t set;  /* through all slices */
};

/* The access that is being made. */
struct approach {
    struct guest_va pc;
    bool looked;    /* the first level asked does not have it, or is the level: then the level's set was looked at */
    uint32_t depth; /* of the level */
    struct caches_set set;
    struct caches_place place[CACHES_MAX_LEVELS]; /* [depth]: where the line goes in each level */
};

struct explain {
    struct analysis base;
    const struct caches_machine *machine;
    const struct analyses *analyses;
    struct loader_symbols *symbols;
    struct where *where;
    uint32_t line_shift, capacity; /* of the level, in lines */
    bool distances;                /* are known, so far */
    char file[LONGEST_FILE];       /* of --at; "": any */
    uint64_t source_line;
    uint8_t *lies; /* [code]: whether it is of the line asked for: 0 not known, 1 no, 2 yes */
    uint32_t lies_room;
    struct copy copies[CACHES_MAX_CORES];
    struct notified_of notified_of[EXPLAIN_CLASSES]; /* by class; of a miss by its number the first */
    struct approach now;
    uint64_t then; /* measured misses where the window began */
    struct analyses_explain_result result;
    uint32_t *object_of; /* [spot], once finished */
};

static enum c2_status explain_no_memory(struct c2_error *err) { return c2_fail_memory(err, "the story of a miss"); }

static const struct caches_level *explain_level_of(const struct explain *explain)
{
    const struct caches_machine *machine = explain->machine;
    const uint32_t level = explain->result.level;
    return level < machine->level_count ? &machine->levels[level] : &machine->l1i;
}

/* Its place among the levels that an access asks one after the other. */
static uint32_t explain_depth_of(const struct explain *explain)
{
    return explain->result.level == explain->machine->level_count ? 0 : explain->result.level;
}

/* Whether accesses of this kind come to the level, if those above it miss. */
static bool may_ask(const struct explain *explain, enum sim_kind kind, uint32_t first)
{
    const uint32_t level = explain->result.level;
    if (level == explain->machine->level_count)
        return kind == SIM_FETCH;
    return level >= first && (level > 0 || kind != SIM_FETCH);
}

static struct copy *copy_of(struct explain *explain, uint32_t core)
{
    return &explain->copies[analyses_copies(explain->machine, explain->result.level) > 1 ? core : 0];
}

/* ------------------------------------------------------------------ what is known of lines */

/* Lent until the next one. */
static enum c2_status explain_line_at(struct explain_line **out, struct copy *copy, struct line_no line,
                                      struct c2_error *err)
{
    uint64_t at;
    enum c2_status status = C2_OK;
    if (!c2_map_get(copy->line_of, line.v, &at)) {
        at = copy->count;
        if (!c2_grow((void **)&copy->lines, &copy->room, copy->count, sizeof *copy->lines))
            return explain_no_memory(err);
        copy->lines[copy->count++] = (struct explain_line){.line = line};
        status = c2_map_put(copy->line_of, line.v, at, err);
    }
    *out = &copy->lines[at];
    return status;
}

static void explain_lose(struct copy *copy, struct line_no line, enum explain_left how, const struct explain_access *by,
                         struct line_no for_line)
{
    uint64_t at;
    if (!c2_map_get(copy->line_of, line.v, &at) || !copy->lines[at].here)
        return;
    struct explain_line *of = &copy->lines[at];
    of->here = false;
    of->how = how;
    of->left = *by;
    of->left_for = for_line;
}

static enum c2_status explain_bring(struct copy *copy, struct line_no line, const struct explain_access *by,
                                    struct c2_error *err)
{
    struct explain_line *of;
    enum c2_status status = explain_line_at(&of, copy, line, err);
    if (status != C2_OK)
        return status;
    of->brought = of->touched = *by;
    of->brought_once = of->here = true;
    return C2_OK;
}

/* ------------------------------------------------------------------ which misses are asked for */

static enum c2_status lies_there(bool *out, struct explain *explain, uint32_t code, struct guest_va pc,
                                 struct c2_error *err)
{
    const uint32_t room = explain->lies_room;
    *out = explain->file[0] == '\0';
    if (*out)
        return C2_OK;
    if (code >= room && !c2_reach((void **)&explain->lies, &explain->lies_room, code, 1, C2_HOST_SIZE(16384u, 1u)))
        return explain_no_memory(err);
    if (code >= room)
        memset(explain->lies + room, 0, explain->lies_room - room);
    if (explain->lies[code] == 0) {
        struct loader_frame frame;
        loader_frames_of(explain->symbols, pc, &frame, 1);
        explain->lies[code] = 1 + (frame.file && (uint64_t)frame.line == explain->source_line &&
                                   loader_names_file(frame.file, explain->file));
    }
    *out = explain->lies[code] == 2;
    return C2_OK;
}

/* The telling that the miss, which was just counted, begins; NULL: none. */
static struct notified_of *explain_begins(struct explain *explain, enum caches_class class_)
{
    const struct analyses_explain_result *result = &explain->result;
    if (result->miss != 0)
        return result->asked == result->miss ? &explain->notified_of[0] : NULL;
    return c2_is_power_of_two(result->classes[class_]) ? &explain->notified_of[class_] : NULL;
}

/* ------------------------------------------------------------------ steps */

static void release_steps(struct notified_of *notified_of)
{
    for (uint32_t i = 0; i < notified_of->story.step_count; i++)
        c2_free(notified_of->story.steps[i].lines);
    c2_free(notified_of->story.steps);
    *notified_of = (struct notified_of){.set = 0};
}

static enum c2_status keep_lines(struct explain_step *step, struct copy *copy, struct c2_error *err)
{
    step->lines = c2_calloc(step->set.ways, sizeof *step->lines);
    if (!step->lines)
        return explain_no_memory(err);
    enum c2_status status = C2_OK;
    for (uint32_t w = 0; w < step->set.ways && status == C2_OK; w++) {
        struct explain_line *line;
        if (!step->set.way[w].holds)
            continue;
        status = explain_line_at(&line, copy, step->set.way[w].line, err);
        if (status == C2_OK)
            step->lines[w] = *line;
    }
    return status;
}

static uint32_t way_of(const struct caches_set *set, struct line_no line)
{
    for (uint32_t w = 0; w < set->ways; w++)
        if (set->way[w].holds && set->way[w].line.v == line.v)
            return w;
    return EXPLAIN_NO_WAY;
}

/* An access of the set of what is notified, as it stands before. */
static enum c2_status explain_add_step(struct explain *explain, struct notified_of *notified_of,
                                       const struct explain_step *step, struct copy *copy, struct c2_error *err)
{
    struct explain_story *story = &notified_of->story;
    if (!c2_grow((void **)&story->steps, &notified_of->room, story->step_count, sizeof *story->steps))
        return explain_no_memory(err);
    struct explain_step *to = &story->steps[story->step_count];
    *to = *step;
    to->set = explain->now.set;
    to->lines = NULL;
    to->set_distance = EXPLAIN_UNKNOWN;
    to->way = step->class_ == CACHES_HIT ? way_of(&to->set, step->line) : to->set.victim;
    if (explain_level_of(explain)->inclusion == CACHES_EXCLUSIVE && step->class_ != CACHES_HIT)
        to->way = EXPLAIN_NO_WAY;
    enum c2_status status = keep_lines(to, copy, err);
    story->step_count += status == C2_OK;
    if (status != C2_OK)
        c2_free(to->lines);
    return status;
}

static bool explain_goes_on(const struct explain *explain, const struct notified_of *notified_of, uint32_t copy)
{
    const uint32_t count = notified_of->story.step_count;
    return count != 0 && count <= explain->result.steps && notified_of->story.copy == copy &&
           notified_of->set == explain->now.place[explain->now.depth].set;
}

static enum c2_status explain_add_steps(struct explain *explain, const struct explain_step *step, struct copy *copy,
                                        struct c2_error *err)
{
    const uint32_t number = (uint32_t)(copy - explain->copies);
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < EXPLAIN_CLASSES && status == C2_OK; i++)
        if (explain_goes_on(explain, &explain->notified_of[i], number))
            status = explain_add_step(explain, &explain->notified_of[i], step, copy, err);
    return status;
}

/* ------------------------------------------------------------------ the story */

static void describe_levels(struct explain_story *story, const struct explain *explain, const struct sim_miss *miss)
{
    const struct caches_outcome *outcome = miss->outcome;
    for (uint32_t depth = miss->first; depth < outcome->depth; depth++) {
        struct explain_level *to = &story->levels[story->level_count++];
        *to = (struct explain_level){.level = analyses_level_of(explain->machine, miss->kind, depth),
                                     .class_ = outcome->event[depth].class_,
                                     .place = explain->now.place[depth],
                                     .evicted = outcome->evicted >> depth & 1,
                                     .victim = outcome->event[depth].victim};
        C2_ASSERT(to->class_ == CACHES_HIT || to->place.set == outcome->event[depth].set_number);
    }
}

/* Other lines of the set that were asked for since the line was. */
static uint64_t distance_in_set(const struct copy *copy, const struct explain_line *own)
{
    uint64_t distance = 0;
    for (uint32_t i = 0; i < copy->count; i++)
        distance += copy->lines[i].set == own->set && copy->lines[i].asked > own->asked &&
                    copy->lines[i].line.v != own->line.v;
    return distance;
}

static enum c2_status begin_story(struct explain *explain, struct notified_of *notified_of, const struct sim_miss *miss,
                                  const struct explain_step *step, struct copy *copy, struct c2_error *err)
{
    release_steps(notified_of);
    struct explain_story *story = &notified_of->story;
    notified_of->set = explain->now.place[explain->now.depth].set;
    story->of_all = explain->result.all;
    story->of_asked = explain->result.asked;
    story->of_class = explain->result.classes[step->class_];
    story->copy = (uint32_t)(copy - explain->copies);
    story->page_log2 = miss->page_log2;
    story->served_by = miss->outcome->served_by;
    describe_levels(story, explain, miss);
    enum c2_status status = explain_add_step(explain, notified_of, step, copy, err);
    if (status == C2_OK)
        story->steps[0].set_distance = step->own.asked != 0 ? distance_in_set(copy, &step->own) : 0;
    return status;
}

/* ------------------------------------------------------------------ an access of the level */

static void check_class(const struct explain *explain, const struct explain_step *step)
{
    if (!explain->distances || step->class_ == CACHES_HIT)
        return;
    const bool cold = step->distance == REUSE_COLD, far = step->distance >= explain->capacity;
    C2_ASSERT(step->class_ == (cold ? CACHES_COLD : far ? CACHES_CAPACITY : CACHES_CONFLICT));
}

/* The level is asked: what is known of the line by then goes into the step. */
static enum c2_status explain_ask(struct explain *explain, struct explain_step *step, struct copy *copy,
                                  struct c2_error *err)
{
    struct explain_line *line;
    enum c2_status status = explain_line_at(&line, copy, step->line, err);
    if (status != C2_OK)
        return status;
    step->access.when = ++copy->asked;
    line->asking = step->access;
    line->set = explain->now.place[explain->now.depth].set;
    step->own = *line;
    line->asked = copy->asked;
    status = reuse_stack_access(copy->stack, step->line.v, &step->distance, err);
    if (status == C2_OK)
        check_class(explain, step);
    step->distance = !explain->distances ? EXPLAIN_UNKNOWN : step->distance == REUSE_COLD ? 0 : step->distance;
    return status;
}

static enum c2_status hit(struct explain *explain, struct explain_step *step, struct copy *copy, struct c2_error *err)
{
    struct explain_line *line;
    enum c2_status status = explain_ask(explain, step, copy, err);
    if (status == C2_OK)
        status = explain_add_steps(explain, step, copy, err);
    if (status == C2_OK)
        status = explain_line_at(&line, copy, step->line, err);
    if (status == C2_OK)
        line->touched = step->access;
    return status;
}

/* A measured miss of the level; says which telling it begins. */
static enum c2_status explain_count(struct notified_of **out, struct explain *explain, const struct sim_miss *miss,
                                    enum caches_class class_, struct c2_error *err)
{
    bool there;
    *out = NULL;
    if (!miss->measured)
        return C2_OK;
    explain->result.all++;
    enum c2_status status = lies_there(&there, explain, miss->code, explain->now.pc, err);
    if (status != C2_OK || !there)
        return status;
    explain->result.asked++;
    explain->result.classes[class_]++;
    *out = explain_begins(explain, class_);
    return C2_OK;
}

/* Nothing that is followed has taken a line that was there; the caches may hold the access site that did. */
static void lose_unseen(struct explain_step *step, struct copy *copy, uint64_t evictor)
{
    const enum explain_left how = step->class_ == CACHES_COHERENCE ? EXPLAIN_TAKEN : EXPLAIN_OTHERWISE;
    const struct explain_access unseen = {.spot = NO_SPOT, .prefetcher = EXPLAIN_DEMAND};
    explain_lose(copy, step->line, how, &unseen, step->line);
    step->own.here = false;
    step->own.how = how;
    step->own.left = unseen;
    step->evictor = evictor;
}

/* The line is not in the level; what that comes to with other lines is explain_settle()'s. */
static enum c2_status miss_level(struct explain *explain, const struct sim_miss *miss, struct explain_step *step,
                                 struct copy *copy, struct c2_error *err)
{
    struct notified_of *notified_of;
    enum c2_status status = explain_ask(explain, step, copy, err);
    if (status == C2_OK && step->own.here)
        lose_unseen(step, copy, miss->outcome->event[explain->now.depth].evictor);
    if (status == C2_OK)
        status = explain_add_steps(explain, step, copy, err);
    if (status == C2_OK)
        status = explain_count(&notified_of, explain, miss, step->class_, err);
    return status == C2_OK && notified_of ? begin_story(explain, notified_of, miss, step, copy, err) : status;
}

/* ------------------------------------------------------------------ what comes and goes */

static void lose_everywhere(struct explain *explain, struct line_no line, const struct explain_access *by,
                            struct line_no for_line)
{
    for (uint32_t i = 0; i < analyses_copies(explain->machine, explain->result.level); i++)
        explain_lose(&explain->copies[i], line, EXPLAIN_INCLUSION, by, for_line);
}

/* What the access has made the level itself lose and take. */
static enum c2_status settle_level(struct explain *explain, const struct sim_miss *miss,
                                   const struct explain_access *by, struct c2_error *err)
{
    const struct caches_outcome *outcome = miss->outcome;
    const uint32_t depth = explain_depth_of(explain);
    const bool exclusive = explain_level_of(explain)->inclusion == CACHES_EXCLUSIVE;
    struct copy *copy = copy_of(explain, miss->core);
    if (exclusive && outcome->served_by == depth)
        explain_lose(copy, miss->line, EXPLAIN_MOVED_UP, by, miss->line);
    if (outcome->evicted >> depth & 1)
        explain_lose(copy, outcome->event[depth].victim, EXPLAIN_MADE_ROOM, by, miss->line);
    if (exclusive && depth > 0 && (outcome->evicted >> (depth - 1) & 1))
        return explain_bring(copy, outcome->event[depth - 1].victim, by, err);
    const bool missed = miss->first <= depth && depth < outcome->served_by;
    return missed && !exclusive ? explain_bring(copy, miss->line, by, err) : C2_OK;
}

/* Inclusive levels below take from all above what they evict; L1I is above them, too. */
static enum c2_status explain_settle(struct explain *explain, const struct sim_miss *miss,
                                     const struct explain_access *by, struct c2_error *err)
{
    const struct caches_machine *machine = explain->machine;
    const struct caches_outcome *outcome = miss->outcome;
    for (uint32_t i = explain_depth_of(explain) + 1; i < machine->level_count; i++)
        if (machine->levels[i].inclusion == CACHES_INCLUSIVE && (outcome->evicted >> i & 1))
            lose_everywhere(explain, outcome->event[i].victim, by, miss->line);
    const bool code = explain->result.level == machine->level_count, data = explain->result.level == 0;
    const bool other_first = (code && miss->kind != SIM_FETCH) || (data && miss->kind == SIM_FETCH);
    return other_first ? C2_OK : settle_level(explain, miss, by, err);
}

/* All that was asked for is known; what is left is to be counted. */
static bool explain_is_told(const struct explain *explain)
{
    return explain->result.miss != 0 && explain->notified_of[0].story.step_count > explain->result.steps;
}

/* Whether what is fetched ahead goes into the level. */
static bool goes_ahead(const struct explain *explain, const struct caches_prefetched *event)
{
    const struct caches_machine *machine = explain->machine;
    const uint32_t level = explain->result.level, depth = event->level == machine->level_count ? 0 : event->level;
    if (event->level == level)
        return true;
    if (level >= machine->level_count || level <= depth || level >= event->served_by)
        return false;
    const enum caches_inclusion inclusion = machine->levels[level].inclusion;
    return inclusion != CACHES_EXCLUSIVE && (!event->by_passing || inclusion == CACHES_INCLUSIVE);
}

static enum c2_status explain_prefetched(void *self, const struct sim_prefetched *notified, struct c2_error *err)
{
    struct explain *explain = self;
    struct copy *copy = copy_of(explain, notified->core);
    if (explain_is_told(explain))
        return C2_OK;
    struct explain_access by = {
        .when = copy->asked, .va = notified->va, .spot = NO_SPOT, .kind = (uint8_t)notified->kind};
    enum c2_status status = where_spot(explain->where, notified->code, notified->kind, notified->va, &by.spot, err);
    by.pc = explain->now.pc;
    by.core = (uint8_t)notified->core;
    for (size_t i = 0; i < notified->count && status == C2_OK; i++) {
        const struct caches_prefetched *event = &notified->events[i];
        by.prefetcher = (uint8_t)event->prefetcher;
        if (event->what == CACHES_PREFETCH_EVICTED && event->level == explain->result.level)
            explain_lose(copy, event->line, EXPLAIN_FOR_AHEAD, &by, event->line);
        else if (event->what == CACHES_PREFETCH_FLUSHED)
            explain_lose(copy, event->line, EXPLAIN_OTHERWISE, &by, event->line);
        else if (event->what == CACHES_PREFETCH_ISSUED && goes_ahead(explain, event))
            status = explain_bring(copy, event->line, &by, err);
    }
    return status;
}

/* ------------------------------------------------------------------ what is notified */

static struct explain_step explain_step_of(const struct explain *explain, enum sim_kind kind, struct guest_va va,
                                           struct line_no line, uint32_t core, uint64_t number)
{
    return (struct explain_step){.access = {.va = va,
                                            .pc = explain->now.pc,
                                            .object = EXPLAIN_NOBODY,
                                            .spot = NO_SPOT,
                                            .kind = (uint8_t)kind,
                                            .core = (uint8_t)core,
                                            .prefetcher = EXPLAIN_DEMAND},
                                 .number = number,
                                 .line = line};
}

/* Whether the set that the line goes to has it. */
static bool explain_holds(struct explain *explain, const struct sim_approach *access, uint32_t depth,
                          enum sim_kind kind)
{
    struct approach *now = &explain->now;
    const uint32_t level = analyses_level_of(explain->machine, kind, depth);
    caches_look(&now->set, access->caches, access->core, level, now->place[depth].set);
    return way_of(&now->set, access->line) != EXPLAIN_NO_WAY;
}

static void explain_find_places(struct explain *explain, const struct sim_approach *access)
{
    const struct line_no virtual_line = {access->kind == SIM_WALK ? access->line.v
                                                                  : access->va.v >> explain->line_shift};
    for (uint32_t depth = access->first; depth < explain->machine->level_count; depth++)
        explain->now.place[depth] = caches_place_of(
            access->caches, analyses_level_of(explain->machine, access->kind, depth), virtual_line, access->line);
}

static enum c2_status explain_approached(void *self, const struct sim_approach *access, struct c2_error *err)
{
    struct explain *explain = self;
    struct approach *now = &explain->now;
    now->pc = access->pc;
    now->looked = false;
    explain->distances &= !caches_were_instructed(access->caches);
    if (explain_is_told(explain) || !may_ask(explain, access->kind, access->first))
        return C2_OK;
    explain_find_places(explain, access);
    if (now->depth != access->first && explain_holds(explain, access, access->first, access->kind))
        return C2_OK;
    now->looked = true;
    if (!explain_holds(explain, access, now->depth, access->kind) || now->depth != access->first)
        return C2_OK;
    struct explain_step step = explain_step_of(explain, access->kind, access->va, access->line, access->core,
                                               access->number);
    enum c2_status status = where_spot(explain->where, access->code, access->kind, access->va, &step.access.spot, err);
    return status == C2_OK ? hit(explain, &step, copy_of(explain, access->core), err) : status;
}

static enum c2_status only_count(struct explain *explain, const struct sim_miss *miss, struct c2_error *err)
{
    const uint32_t depth = explain->now.depth;
    struct notified_of *none;
    if (!may_ask(explain, miss->kind, miss->first) || depth >= miss->outcome->served_by)
        return C2_OK;
    return explain_count(&none, explain, miss, miss->outcome->event[depth].class_, err);
}

static enum c2_status explain_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    struct explain *explain = self;
    const uint32_t depth = explain->now.depth;
    if (explain_is_told(explain))
        return only_count(explain, miss, err);
    struct copy *copy = copy_of(explain, miss->core);
    struct explain_step step = explain_step_of(explain, miss->kind, miss->va, miss->line, miss->core, miss->number);
    enum c2_status status = where_spot(explain->where, miss->code, miss->kind, miss->va, &step.access.spot, err);
    if (status != C2_OK)
        return status;
    step.access.when = copy->asked;
    if (explain->now.looked && depth < miss->outcome->depth) {
        step.class_ = miss->outcome->event[depth].class_;
        status = step.class_ == CACHES_HIT ? hit(explain, &step, copy, err)
                                           : miss_level(explain, miss, &step, copy, err);
    }
    return status == C2_OK ? explain_settle(explain, miss, &step.access, err) : status;
}

static enum c2_status explain_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct explain *explain = self;
    const uint32_t level = explain->result.level;
    const struct caches_counts *counts = level < explain->machine->level_count ? &window->of.levels[level]
                                                                               : &window->of.l1i;
    (void)err;
    C2_ASSERT(explain->result.all - explain->then == (window->phase == STREAM_MEASURE ? counts->misses : 0));
    explain->then = explain->result.all;
    return C2_OK;
}

static void explain_emptied(void *self)
{
    struct explain *explain = self;
    for (uint32_t i = 0; i < CACHES_MAX_CORES && explain->copies[i].stack; i++) {
        struct copy *copy = &explain->copies[i];
        for (uint32_t k = 0; k < copy->count; k++)
            copy->lines[k] = (struct explain_line){.line = copy->lines[k].line};
        reuse_stack_empty(copy->stack);
    }
}

static enum c2_status explain_dropped(void *self, struct c2_error *err)
{
    struct explain *explain = self;
    (void)err;
    for (unsigned i = 0; i < EXPLAIN_CLASSES; i++)
        release_steps(&explain->notified_of[i]);
    explain->result.all = explain->result.asked = explain->then = 0;
    memset(explain->result.classes, 0, sizeof explain->result.classes);
    return C2_OK;
}

/* ------------------------------------------------------------------ the result */

/* The story that is notified: of what is typical that of the class with most misses. */
static struct notified_of *explain_choose(struct explain *explain)
{
    static const enum caches_class order[] = {CACHES_CONFLICT, CACHES_CAPACITY, CACHES_COHERENCE, CACHES_COLD};
    enum caches_class most = order[0];
    if (explain->result.miss != 0)
        return &explain->notified_of[0];
    for (unsigned i = 1; i < sizeof order / sizeof order[0]; i++)
        if (explain->result.classes[order[i]] > explain->result.classes[most])
            most = order[i];
    return &explain->notified_of[most];
}

static enum c2_status name_spots(struct explain *explain, struct c2_error *err)
{
    struct where_row *rows;
    size_t count;
    const uint32_t spots = where_count(explain->where);
    enum c2_status status = where_rows(&rows, &count, explain->where, err);
    explain->object_of = status == C2_OK ? c2_alloc((spots + (size_t)1) * sizeof *explain->object_of) : NULL;
    if (status == C2_OK && !explain->object_of)
        status = explain_no_memory(err);
    for (uint32_t i = 0; status == C2_OK && i < spots; i++)
        explain->object_of[i] = EXPLAIN_NOBODY;
    for (size_t i = 0; status == C2_OK && i < count; i++)
        explain->object_of[rows[i].spot] = rows[i].object;
    c2_free(rows);
    return status;
}

static void name_access(const struct explain *explain, struct explain_access *access)
{
    access->object = access->spot != NO_SPOT ? explain->object_of[access->spot] : EXPLAIN_NOBODY;
}

static void explain_name_line(const struct explain *explain, struct explain_line *line)
{
    name_access(explain, &line->asking);
    name_access(explain, &line->brought);
    name_access(explain, &line->touched);
    name_access(explain, &line->left);
}

/* The caches keep a word for the access that made a level lose a line: its instruction and object. */
static void name_evictor(const struct explain *explain, struct explain_step *step)
{
    const struct analysis *profile = analyses_find(explain->analyses, ANALYSIS_profile);
    const struct analyses_profile_result *of = analyses_result(explain->analyses, ANALYSIS_profile);
    if (step->evictor == 0)
        return;
    const struct analyses_row *row = &of->rows[where_access_site_row(profile, where_access_site(step->evictor))];
    step->own.left.object = row->object;
    step->own.left.pc = of->insns[row->insn].pc;
}

static enum c2_status explain_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct explain *explain = self;
    struct explain_story *story = &explain_choose(explain)->story;
    (void)sim;
    explain->result.story = story->step_count != 0 ? story : NULL;
    enum c2_status status = name_spots(explain, err);
    for (uint32_t i = 0; i < story->step_count && status == C2_OK; i++) {
        struct explain_step *step = &story->steps[i];
        name_access(explain, &step->access);
        explain_name_line(explain, &step->own);
        name_evictor(explain, step);
        for (uint32_t w = 0; w < step->set.ways; w++)
            explain_name_line(explain, &step->lines[w]);
    }
    return status;
}

/* ------------------------------------------------------------------ life */

static void explain_destroy(struct analysis *analysis)
{
    struct explain *explain = (struct explain *)analysis;
    for (unsigned i = 0; i < EXPLAIN_CLASSES; i++)
        release_steps(&explain->notified_of[i]);
    for (uint32_t i = 0; i < CACHES_MAX_CORES; i++) {
        c2_map_destroy(explain->copies[i].line_of);
        c2_free(explain->copies[i].lines);
        reuse_stack_destroy(explain->copies[i].stack);
    }
    where_destroy(explain->where);
    c2_free(explain->lies);
    c2_free(explain->object_of);
    c2_free(explain);
}

static enum c2_status explain_take_level(struct explain *explain, const char *word, struct c2_error *err)
{
    const struct caches_machine *machine = explain->machine;
    char names[(CACHES_MAX_LEVELS + 1) * (CACHES_NAME_BYTES + 2)] = "";
    if (!word)
        return C2_OK;
    for (uint32_t i = 0; i < machine->level_count + machine->has_l1i; i++) {
        const char *name = i < machine->level_count ? machine->levels[i].name : machine->l1i.name;
        explain->result.level = i;
        if (strcmp(name, word) == 0)
            return C2_OK;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i == 0 ? "" : ", ", name);
    }
    return c2_fail(err, C2_ERR_INVALID, "--level %s: the levels of machine %s are %s", word, machine->name, names);
}

static enum c2_status take_at(struct explain *explain, const char *word, struct c2_error *err)
{
    const char *colon = word ? strrchr(word, ':') : NULL;
    explain->result.at = word;
    if (!word)
        return C2_OK;
    if (!colon || colon == word || (size_t)(colon - word) >= sizeof explain->file ||
        c2_parse_number(&explain->source_line, colon + 1, "", NULL) != C2_OK || explain->source_line == 0)
        return c2_fail(err, C2_ERR_INVALID, "--at %s: must be FILE:LINE, as in matmul.c:12", word);
    snprintf(explain->file, sizeof explain->file, "%.*s", (int)(colon - word), word);
    return C2_OK;
}

static enum c2_status take_miss(struct explain *explain, const char *word, struct c2_error *err)
{
    uint64_t *miss = &explain->result.miss;
    if (word[0] == '\0' || (c2_parse_number(miss, word, "", NULL) == C2_OK && *miss != 0))
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--miss %s: must be a number, 1 for the first miss", word);
}

static enum c2_status explain_take_words(struct explain *explain, const struct analyses_setup *setup,
                                         struct c2_error *err)
{
    uint64_t steps;
    enum c2_status status = explain_take_level(explain, analyses_setting(setup, ANALYSES_SETTING_explain_level), err);
    if (status == C2_OK)
        status = take_at(explain, analyses_setting(setup, ANALYSES_SETTING_explain_at), err);
    if (status == C2_OK)
        status = take_miss(explain, setup->given[ANALYSIS_explain], err);
    if (status == C2_OK)
        status = analyses_setting_number(&steps, setup, ANALYSES_SETTING_explain_steps, EXPLAIN_STEPS, 0,
                                         EXPLAIN_MOST_STEPS, err);
    explain->result.steps = status == C2_OK ? (uint32_t)steps : 0;
    return status;
}

static enum c2_status make_copies(struct explain *explain, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < analyses_copies(explain->machine, explain->result.level) && status == C2_OK; i++) {
        status = c2_map_create(&explain->copies[i].line_of, err);
        if (status == C2_OK)
            status = reuse_stack_create(&explain->copies[i].stack, err);
    }
    return status;
}

static enum c2_status explain_make(struct explain *explain, const struct analyses_setup *setup,
                                   const struct analyses *analyses, struct c2_error *err)
{
    enum c2_status status = analyses_need_stores_to_stay(setup->machine, "explain", err);
    if (status == C2_OK)
        status = explain_take_words(explain, setup, err);
    if (status == C2_OK)
        status = make_copies(explain, err);
    if (status == C2_OK)
        status = where_create(&explain->where, analyses, err);
    explain->now.depth = explain_depth_of(explain);
    explain->capacity = (uint32_t)(explain_level_of(explain)->size_bytes >> explain->line_shift);
    return status;
}

static enum c2_status explain_create(struct analysis **out, const struct analyses_setup *setup,
                                     const struct analyses *analyses, struct c2_error *err)
{
    struct explain *explain = c2_calloc(1, sizeof *explain);
    if (!explain)
        return explain_no_memory(err);
    explain->base.kind = &analysis_explain;
    explain->machine = setup->machine;
    explain->symbols = setup->symbols;
    explain->analyses = analyses;
    explain->line_shift = c2_log2(setup->machine->line_bytes);
    explain->distances = !caches_machine_prefetches(setup->machine) && caches_machine_cores(setup->machine) == 1;
    enum c2_status status = explain_make(explain, setup, analyses, err);
    if (status == C2_OK)
        *out = &explain->base;
    else
        explain_destroy(&explain->base);
    return status;
}

static struct sim_subscriber explain_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .in_every_phase = true,
                                   .approached = explain_approached,
                                   .missed = explain_missed,
                                   .prefetched = explain_prefetched,
                                   .window = explain_window,
                                   .emptied = explain_emptied,
                                   .dropped = explain_dropped,
                                   .finish = explain_finish};
}

static const void *explain_result(const struct analysis *analysis)
{
    return &((const struct explain *)analysis)->result;
}

const struct analysis_kind analysis_explain = {.needs = 1u << ANALYSIS_profile,
                                               .create = explain_create,
                                               .subscriber = explain_subscriber,
                                               .result = explain_result,
                                               .destroy = explain_destroy};
