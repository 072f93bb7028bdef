/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * quiz: questions about a few loads in a small cache, and what the caches say.
 *
 * Model
 *   A question is a machine and a row of loads, drawn at random, and what is asked of them: its topic. The loads are
 *   given to the caches, and the answer is what these did; there is no other. Where one of several answers would come
 *   up too seldom - kinds of misses, levels - the answer is drawn first, and loads until they have it.
 * Counting
 *   Loads are drawn TRIES times at most; what has come last is asked then.
 * Invariants
 *   Same topic, same generator: same question.
 * Not modelled
 *   Stores, fetches, pages: addresses are what the cache gets.
 */
#include <inttypes.h>
#include <string.h>

#include "machine/machine.h"
#include "teach/teach.h"

#define TRIES 2000u

const struct teach_topic_row teach_topics[TEACH_TOPICS] = {
#define X(constant, word, about) {word, about},
    TEACH_TOPIC_LIST(X)
#undef X
};

static const char *const classes[] = {"cold", "capacity", "conflict"};
static const char *const places[] = {"L1", "L2", "memory"};

/* ------------------------------------------------------------------ the model */

/* All loads in order; after each: told(self, load, outcome). */
struct listener {
    void *self;
    void (*told)(void *self, uint32_t load, const struct caches_outcome *outcome);
};

static enum c2_status quiz_play(const struct teach_question *question, const struct listener *listener,
                                struct caches_counts *counts, struct c2_error *err)
{
    struct caches *caches;
    const unsigned shift = c2_log2(question->machine.line_bytes);
    enum c2_status status = caches_create(&caches, &question->machine, 1, err);
    for (uint32_t i = 0; i < question->load_count && status == C2_OK; i++) {
        struct caches_outcome outcome;
        const struct line_no line = {question->loads[i] >> shift};
        status = caches_access(caches, CACHES_DATA, false, line, line, &outcome, err);
        if (status == C2_OK)
            listener->told(listener->self, i, &outcome);
    }
    if (status == C2_OK)
        *counts = *caches_level_counts(caches, 0);
    caches_destroy(caches);
    return status;
}

static void keep_last(void *self, uint32_t load, const struct caches_outcome *outcome)
{
    struct caches_outcome *last = self;
    (void)load;
    *last = *outcome;
}

/* What is asked, of what the caches did. */
static uint64_t answer_of(const struct teach_question *question, const struct caches_outcome *last,
                          const struct caches_counts *counts)
{
    switch (question->topic) {
    case TEACH_SET:
        return last->event[0].set_number;
    case TEACH_VICTIM:
        return last->event[0].victim.v * question->machine.line_bytes;
    case TEACH_CLASS:
        return last->event[0].class_ - CACHES_COLD;
    case TEACH_LEVEL:
        return last->served_by;
    default:
        return counts->misses;
    }
}

static enum c2_status solve(struct teach_question *question, struct caches_outcome *last, struct c2_error *err)
{
    struct caches_counts counts = {0};
    enum c2_status status = quiz_play(question, &(struct listener){last, keep_last}, &counts, err);
    if (status == C2_OK)
        question->answer = answer_of(question, last, &counts);
    return status;
}

/* ------------------------------------------------------------------ drawing */

static uint32_t quiz_draw(struct c2_rng *rng, uint32_t least, uint32_t most)
{
    return least + (uint32_t)c2_rng_below(rng, most - least + 1);
}

static enum c2_status draw_machine(struct teach_question *question, struct machine_geometry geometry,
                                   struct c2_error *err)
{
    return machine_of_geometry(&question->machine, &geometry, err);
}

/* An address in the line that is the tag-th of its set. */
static uint64_t address_in(const struct teach_question *question, uint64_t set, uint64_t tag, struct c2_rng *rng)
{
    const struct caches_machine *machine = &question->machine;
    const uint64_t line = tag * caches_level_sets(machine, &machine->levels[0]) + set;
    return line * machine->line_bytes + 4 * c2_rng_below(rng, machine->line_bytes / 4);
}

static void quiz_add(struct teach_question *question, uint64_t address)
{
    question->loads[question->load_count++] = address;
}

static enum c2_status make_set(struct teach_question *question, struct c2_rng *rng, struct c2_error *err)
{
    const struct machine_geometry geometry = {quiz_draw(rng, 2, 6), 1u << quiz_draw(rng, 0, 2), quiz_draw(rng, 4, 6),
                                              CACHES_LRU};
    enum c2_status status = draw_machine(question, geometry, err);
    quiz_add(question, quiz_draw(rng, 0, 0xffff));
    question->asks = "Which set does it go to? (the first is 0)";
    return status;
}

static enum c2_status make_misses(struct teach_question *question, struct c2_rng *rng, struct c2_error *err)
{
    const struct machine_geometry geometry = {quiz_draw(rng, 1, 2), 1u << quiz_draw(rng, 0, 1), 4, CACHES_LRU};
    enum c2_status status = draw_machine(question, geometry, err);
    for (uint32_t i = 0; i < 8 && status == C2_OK; i++)
        quiz_add(question, address_in(question, quiz_draw(rng, 0, 1), quiz_draw(rng, 0, 2), rng));
    question->asks = "How many of these loads miss?";
    return status;
}

/* All of one set: so many lines as it has ways, some of them again, and one more. */
static enum c2_status make_victim(struct teach_question *question, struct c2_rng *rng, struct c2_error *err)
{
    static const enum caches_policy policies[] = {CACHES_LRU, CACHES_FIFO, CACHES_TREE_PLRU};
    const struct machine_geometry geometry = {quiz_draw(rng, 1, 2), 1u << quiz_draw(rng, 1, 2), 4,
                                              policies[quiz_draw(rng, 0, 2)]};
    const uint32_t set = quiz_draw(rng, 0, 1), again = quiz_draw(rng, 1, 4);
    enum c2_status status = draw_machine(question, geometry, err);
    for (uint32_t i = 0; i < geometry.ways && status == C2_OK; i++)
        quiz_add(question, address_in(question, set, i, rng));
    for (uint32_t i = 0; i < again && status == C2_OK; i++)
        quiz_add(question, address_in(question, set, quiz_draw(rng, 0, geometry.ways - 1), rng));
    if (status == C2_OK)
        quiz_add(question, address_in(question, set, geometry.ways, rng));
    question->kind = TEACH_ADDRESS;
    question->asks = "Which line does the last load push out? (an address in it)";
    return status;
}

static enum c2_status make_stride(struct teach_question *question, struct c2_rng *rng, struct c2_error *err)
{
    const struct machine_geometry geometry = {quiz_draw(rng, 1, 3), 1u << quiz_draw(rng, 0, 1), 4, CACHES_LRU};
    question->rounds = quiz_draw(rng, 2, 3);
    question->steps = quiz_draw(rng, 3, 10);
    question->stride = UINT64_C(8) << quiz_draw(rng, 0, 4);
    for (uint32_t i = 0; i < question->rounds * question->steps; i++)
        quiz_add(question, i % question->steps * question->stride);
    question->asks = "How many of these loads miss?";
    return draw_machine(question, geometry, err);
}

/* comes_back: one in two is the last but one again, so that the first level hits, of which the second knows nothing. */
static void draw_loads(struct teach_question *question, uint32_t count, uint32_t tags, bool comes_back,
                       struct c2_rng *rng)
{
    question->load_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t other = address_in(question, quiz_draw(rng, 0, 1), quiz_draw(rng, 0, tags - 1), rng);
        quiz_add(question, comes_back && i >= 2 && quiz_draw(rng, 0, 1) == 1 ? question->loads[i - 2] : other);
    }
}

static enum c2_status make_class(struct teach_question *question, struct c2_rng *rng, struct c2_error *err)
{
    const struct machine_geometry geometry = {1, quiz_draw(rng, 1, 2), 4, CACHES_LRU};
    const uint64_t wanted = quiz_draw(rng, 0, 2);
    struct caches_outcome last = {0};
    enum c2_status status = draw_machine(question, geometry, err);
    question->kind = TEACH_WORD;
    question->words = classes;
    question->word_count = 3;
    question->asks = "The last load misses. Is it a cold miss, or one of capacity, or a conflict?";
    for (uint32_t i = 0; i < TRIES && status == C2_OK; i++) {
        draw_loads(question, 6 + 2 * geometry.ways, geometry.ways + 1, false, rng);
        status = solve(question, &last, err);
        if (last.served_by != 0 && question->answer == wanted)
            break;
    }
    return status;
}

/* A second level of twice the sets. */
static enum c2_status quiz_add_level(struct teach_question *question, struct machine_geometry geometry,
                                     enum caches_inclusion inclusion, struct c2_error *err)
{
    struct caches_machine below;
    struct caches_machine *machine = &question->machine;
    enum c2_status status = machine_of_geometry(&below, &geometry, err);
    if (status != C2_OK)
        return status;
    machine->levels[1] = below.levels[0];
    machine->levels[1].inclusion = inclusion;
    snprintf(machine->levels[1].name, sizeof machine->levels[1].name, "L2");
    machine->level_count = 2;
    return C2_OK;
}

static enum c2_status make_level(struct teach_question *question, struct c2_rng *rng, struct c2_error *err)
{
    struct machine_geometry geometry = {0, 2, 4, CACHES_LRU};
    const uint64_t wanted = quiz_draw(rng, 0, 2);
    struct caches_outcome last = {0};
    enum c2_status status = draw_machine(question, geometry, err);
    geometry.set_bits = 1;
    if (status == C2_OK)
        status = quiz_add_level(question, geometry, (enum caches_inclusion)quiz_draw(rng, 0, CACHES_INCLUSIONS - 1),
                                err);
    question->kind = TEACH_WORD;
    question->words = places;
    question->word_count = 3;
    question->asks = "Where is the line of the last load found: in L1, in L2 or in memory?";
    for (uint32_t i = 0; i < TRIES && status == C2_OK; i++) {
        draw_loads(question, 10, 6, true, rng);
        status = solve(question, &last, err);
        if (question->answer == wanted)
            break;
    }
    return status;
}

enum c2_status teach_question_make(struct teach_question *out, enum teach_topic topic, struct c2_rng *rng,
                                   struct c2_error *err)
{
    static enum c2_status (*const make[TEACH_TOPICS])(struct teach_question *, struct c2_rng *, struct c2_error *) = {
        [TEACH_SET] = make_set,     [TEACH_MISSES] = make_misses, [TEACH_VICTIM] = make_victim,
        [TEACH_CLASS] = make_class, [TEACH_STRIDE] = make_stride, [TEACH_LEVEL] = make_level};
    struct caches_outcome last = {0};
    *out = (struct teach_question){.topic = topic, .kind = TEACH_NUMBER};
    enum c2_status status = make[topic](out, rng, err);
    return status == C2_OK ? solve(out, &last, err) : status;
}

/* ------------------------------------------------------------------ asking */

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static void describe_level(const struct teach_question *question, uint32_t number, FILE *to)
{
    static const char *const words[] = {
        [CACHES_LRU] = "the least recently used line goes",
        [CACHES_FIFO] = "the line goes that came first (fifo)",
        [CACHES_TREE_PLRU] = "the line goes that the tree of bits points to (tree-plru)"};
    static const char *const inclusions[] = {[CACHES_NON_INCLUSIVE] = "",
                                             [CACHES_INCLUSIVE] = "; inclusive: what goes here goes in L1",
                                             [CACHES_EXCLUSIVE] = "; exclusive: it takes what goes in L1"};
    const struct caches_machine *machine = &question->machine;
    const struct caches_level *level = &machine->levels[number];
    const uint32_t sets = caches_level_sets(machine, level);
    const char *name = machine->level_count == 1 ? "cache" : places[number];
    fprintf(to, "%-6s %" PRIu32 " set%s of %" PRIu32 " line%s of %" PRIu32 " bytes, empty%s%s%s\n", name, sets,
            plural(sets), level->ways, plural(level->ways), machine->line_bytes, level->ways == 1 ? "" : "; ",
            level->ways == 1 ? "" : words[level->policy], inclusions[level->inclusion]);
}

void teach_question_ask(const struct teach_question *question, FILE *to)
{
    for (uint32_t i = 0; i < question->machine.level_count; i++)
        describe_level(question, i, to);
    if (question->topic == TEACH_STRIDE)
        fprintf(to, "loads  0, %" PRIu64 ", %" PRIu64 " ... %" PRIu64 " (%" PRIu32 " of them), %" PRIu32 " times\n",
                question->stride, 2 * question->stride, (question->steps - 1) * question->stride, question->steps,
                question->rounds);
    else {
        fputs("loads ", to);
        for (uint32_t i = 0; i < question->load_count; i++)
            fprintf(to, " 0x%02" PRIx64, question->loads[i]);
        fputc('\n', to);
    }
    fprintf(to, "%s\n", question->asks);
}

/* ------------------------------------------------------------------ judging */

static bool quiz_is_word(const char *text, const char *word)
{
    for (; *text != '\0' && *word != '\0'; text++, word++)
        if ((*text | 0x20) != (*word | 0x20))
            return false;
    return *text == *word;
}

enum teach_judgement teach_question_judge(const struct teach_question *question, const char *text)
{
    uint64_t number;
    if (question->kind == TEACH_WORD) {
        for (size_t i = 0; i < question->word_count; i++)
            if (quiz_is_word(text, question->words[i]))
                return i == question->answer ? TEACH_RIGHT : TEACH_WRONG;
        return TEACH_NO_ANSWER;
    }
    if (c2_parse_number(&number, text, "", NULL) != C2_OK)
        return TEACH_NO_ANSWER;
    if (question->kind == TEACH_ADDRESS)
        number = c2_align_down(number, question->machine.line_bytes);
    return number == question->answer ? TEACH_RIGHT : TEACH_WRONG;
}

void teach_question_answer(const struct teach_question *question, FILE *to)
{
    if (question->kind == TEACH_WORD)
        fputs(question->words[question->answer], to);
    else if (question->kind == TEACH_ADDRESS)
        fprintf(to, "0x%02" PRIx64 " to 0x%02" PRIx64, question->answer,
                question->answer + question->machine.line_bytes - 1);
    else
        fprintf(to, "%" PRIu64, question->answer);
}

/* ------------------------------------------------------------------ showing */

struct showing {
    const struct teach_question *question;
    FILE *to;
};

static void show_level(const struct showing *showing, const struct caches_outcome *outcome, uint32_t number)
{
    const struct caches_machine *machine = &showing->question->machine;
    const struct caches_event *event = &outcome->event[number];
    const char *name = machine->level_count == 1 ? "" : places[number], *space = *name ? " " : "";
    if (number == outcome->served_by) {
        fprintf(showing->to, "  %s%shit", name, space);
        return;
    }
    fprintf(showing->to, "  %s%smiss in set %" PRIu32 " (%s)", name, space, event->set_number,
            classes[event->class_ - CACHES_COLD]);
    if ((outcome->evicted >> number & 1) != 0)
        fprintf(showing->to, ", 0x%02" PRIx64 " goes", event->victim.v * machine->line_bytes);
}

static void show_load(void *self, uint32_t load, const struct caches_outcome *outcome)
{
    const struct showing *showing = self;
    fprintf(showing->to, "  0x%02" PRIx64, showing->question->loads[load]);
    for (uint32_t i = 0; i < outcome->depth; i++)
        show_level(showing, outcome, i);
    fputc('\n', showing->to);
}

enum c2_status teach_question_show(const struct teach_question *question, FILE *to, struct c2_error *err)
{
    struct caches_counts counts;
    struct showing showing = {question, to};
    return quiz_play(question, &(struct listener){&showing, show_load}, &counts, err);
}
