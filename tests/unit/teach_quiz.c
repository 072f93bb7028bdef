/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Answers of the quiz against sets that are lists of lines, worked out from what a question shows; many questions of
 * each topic. What is judged right, and what is no answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "teach/teach.h"

#define QUESTIONS 3000
#define MOST 64 /* lines of a set, and sets */

/* ------------------------------------------------------------------ sets as lists */

struct slow_set {
    uint64_t line[MOST]; /* lru, fifo: the one that goes first is first; tree-plru: by way */
    uint32_t count;
    bool points_up[MOST]; /* tree-plru: node n has the children 2n and 2n+1; the upper one is that of higher ways */
};

struct slow_level {
    struct slow_set set[MOST];
    uint32_t sets, ways;
    enum caches_policy policy;
};

static void slow_init(struct slow_level *level, const struct caches_machine *machine, uint32_t number)
{
    memset(level, 0, sizeof *level);
    level->sets = caches_level_sets(machine, &machine->levels[number]);
    level->ways = machine->levels[number].ways;
    level->policy = machine->levels[number].policy;
    assert_in_range(level->sets, 1, MOST);
}

static struct slow_set *set_of(struct slow_level *level, uint64_t line) { return &level->set[line % level->sets]; }

static uint32_t find(const struct slow_set *set, uint64_t line)
{
    uint32_t i = 0;
    while (i < set->count && set->line[i] != line)
        i++;
    return i;
}

static void take_out(struct slow_set *set, uint32_t at)
{
    set->count--;
    for (uint32_t i = at; i < set->count; i++)
        set->line[i] = set->line[i + 1];
}

/* From the way up to the root, each node comes to point away from it. */
static void point_away(struct slow_level *level, struct slow_set *set, uint32_t way)
{
    for (uint32_t node = level->ways + way; node > 1; node /= 2)
        set->points_up[node / 2] = node % 2 == 0;
}

static uint32_t pointed_at(const struct slow_level *level, const struct slow_set *set)
{
    uint32_t node = 1;
    while (node < level->ways)
        node = 2 * node + set->points_up[node];
    return node - level->ways;
}

static bool slow_has(struct slow_level *level, uint64_t line)
{
    struct slow_set *set = set_of(level, line);
    const uint32_t at = find(set, line);
    if (at == set->count)
        return false;
    if (level->policy == CACHES_TREE_PLRU)
        point_away(level, set, at);
    if (level->policy == CACHES_LRU) {
        take_out(set, at);
        set->line[set->count++] = line;
    }
    return true;
}

/* Whether a line goes for it; which one. */
static bool slow_fill(struct slow_level *level, uint64_t line, uint64_t *victim)
{
    struct slow_set *set = set_of(level, line);
    const bool full = set->count == level->ways;
    uint32_t at = full ? 0 : set->count;
    if (full && level->policy == CACHES_TREE_PLRU)
        at = pointed_at(level, set);
    *victim = set->line[at];
    if (full && level->policy != CACHES_TREE_PLRU) {
        take_out(set, 0);
        at = set->count;
    }
    set->line[at] = line;
    set->count += at == set->count;
    if (level->policy == CACHES_TREE_PLRU)
        point_away(level, set, at);
    return full;
}

static void slow_drop(struct slow_level *level, uint64_t line)
{
    struct slow_set *set = set_of(level, line);
    const uint32_t at = find(set, line);
    if (at < set->count)
        take_out(set, at);
}

/* ------------------------------------------------------------------ answers */

static uint64_t line_at(const struct teach_question *question, uint32_t load)
{
    return question->loads[load] / question->machine.line_bytes;
}

/* One level: misses; and of the last load whether it missed, and what went. */
struct slow_end {
    uint64_t misses, victim;
    bool missed, evicted;
};

static struct slow_end slow_play(struct slow_level *level, const struct teach_question *question)
{
    struct slow_end end = {0};
    for (uint32_t i = 0; i < question->load_count; i++) {
        end.missed = !slow_has(level, line_at(question, i));
        end.misses += end.missed;
        if (end.missed)
            end.evicted = slow_fill(level, line_at(question, i), &end.victim);
    }
    return end;
}

/* "cold", "capacity", "conflict": 0, 1, 2. */
static uint64_t slow_class(const struct teach_question *question)
{
    struct slow_level whole;
    bool before = false;
    const uint32_t last = question->load_count - 1;
    for (uint32_t i = 0; i < last; i++)
        before |= line_at(question, i) == line_at(question, last);
    slow_init(&whole, &question->machine, 0);
    whole.ways *= whole.sets;
    whole.sets = 1;
    const struct slow_end end = slow_play(&whole, question);
    return !before ? 0 : end.missed ? 1 : 2;
}

/* L1, L2, memory: 0, 1, 2. */
static uint64_t slow_place(const struct teach_question *question)
{
    struct slow_level first, second;
    const enum caches_inclusion inclusion = question->machine.levels[1].inclusion;
    uint64_t place = 0, victim;
    slow_init(&first, &question->machine, 0);
    slow_init(&second, &question->machine, 1);
    for (uint32_t i = 0; i < question->load_count; i++) {
        const uint64_t line = line_at(question, i);
        place = slow_has(&first, line) ? 0 : slow_has(&second, line) ? 1 : 2;
        if (place == 1 && inclusion == CACHES_EXCLUSIVE)
            slow_drop(&second, line);
        if (place == 2 && inclusion != CACHES_EXCLUSIVE && slow_fill(&second, line, &victim) &&
            inclusion == CACHES_INCLUSIVE)
            slow_drop(&first, victim);
        if (place != 0 && slow_fill(&first, line, &victim) && inclusion == CACHES_EXCLUSIVE)
            slow_fill(&second, victim, &(uint64_t){0});
    }
    return place;
}

static uint64_t slow_answer(const struct teach_question *question)
{
    struct slow_level level;
    slow_init(&level, &question->machine, 0);
    const struct slow_end end = slow_play(&level, question);
    switch (question->topic) {
    case TEACH_SET:
        return line_at(question, 0) % level.sets;
    case TEACH_VICTIM:
        assert_true(end.missed && end.evicted);
        return end.victim * question->machine.line_bytes;
    case TEACH_CLASS:
        assert_true(end.missed);
        return slow_class(question);
    case TEACH_LEVEL:
        return slow_place(question);
    default:
        return end.misses;
    }
}

/* ------------------------------------------------------------------ tests */

/* Loads of a loop are those that it is described by. */
static void check_loop(const struct teach_question *question)
{
    uint32_t load = 0;
    for (uint32_t round = 0; round < question->rounds; round++)
        for (uint32_t i = 0; i < question->steps; i++)
            assert_int_equal(question->loads[load++], i * question->stride);
    assert_int_equal(load, question->load_count);
}

static void answers(void **state)
{
    (void)state;
    struct c2_rng rng;
    struct c2_error err;
    unsigned by_word[TEACH_TOPICS][3] = {{0}}, by_policy[CACHES_POLICIES] = {0}, by_inclusion[CACHES_INCLUSIONS] = {0};
    c2_rng_init(&rng, 1, "tests");
    for (unsigned i = 0; i < TEACH_TOPICS * QUESTIONS; i++) {
        struct teach_question question;
        const enum teach_topic topic = i % TEACH_TOPICS;
        assert_int_equal(teach_question_make(&question, topic, &rng, &err), C2_OK);
        assert_int_equal(question.answer, slow_answer(&question));
        assert_in_range(question.load_count, 1, TEACH_LOADS);
        if (topic == TEACH_STRIDE)
            check_loop(&question);
        if (question.kind == TEACH_WORD)
            by_word[topic][question.answer]++;
        by_policy[question.machine.levels[0].policy] += topic == TEACH_VICTIM;
        by_inclusion[question.machine.levels[1].inclusion] += topic == TEACH_LEVEL;
    }
    /* each of three comes up about as often */
    for (unsigned i = 0; i < 3; i++) {
        assert_in_range(by_word[TEACH_CLASS][i], QUESTIONS / 5, QUESTIONS / 2);
        assert_in_range(by_word[TEACH_LEVEL][i], QUESTIONS / 5, QUESTIONS / 2);
        assert_in_range(by_inclusion[i], QUESTIONS / 5, QUESTIONS / 2);
    }
    assert_in_range(by_policy[CACHES_LRU], QUESTIONS / 5, QUESTIONS / 2);
    assert_in_range(by_policy[CACHES_FIFO], QUESTIONS / 5, QUESTIONS / 2);
    assert_in_range(by_policy[CACHES_TREE_PLRU], QUESTIONS / 5, QUESTIONS / 2);
}

static void judged(void **state)
{
    (void)state;
    static const char *const words[] = {"cold", "capacity", "conflict"};
    struct teach_question number = {.kind = TEACH_NUMBER, .answer = 12};
    struct teach_question address = {.kind = TEACH_ADDRESS, .answer = 0x40, .machine = {.line_bytes = 16}};
    struct teach_question word = {.kind = TEACH_WORD, .answer = 1, .words = words, .word_count = 3};
    assert_int_equal(teach_question_judge(&number, "12"), TEACH_RIGHT);
    assert_int_equal(teach_question_judge(&number, "0xc"), TEACH_RIGHT);
    assert_int_equal(teach_question_judge(&number, "13"), TEACH_WRONG);
    assert_int_equal(teach_question_judge(&number, "twelve"), TEACH_NO_ANSWER);
    assert_int_equal(teach_question_judge(&number, ""), TEACH_NO_ANSWER);
    assert_int_equal(teach_question_judge(&address, "0x40"), TEACH_RIGHT);
    assert_int_equal(teach_question_judge(&address, "0x4f"), TEACH_RIGHT);
    assert_int_equal(teach_question_judge(&address, "64"), TEACH_RIGHT);
    assert_int_equal(teach_question_judge(&address, "0x50"), TEACH_WRONG);
    assert_int_equal(teach_question_judge(&address, "0x3f"), TEACH_WRONG);
    assert_int_equal(teach_question_judge(&word, "capacity"), TEACH_RIGHT);
    assert_int_equal(teach_question_judge(&word, "Capacity"), TEACH_RIGHT);
    assert_int_equal(teach_question_judge(&word, "conflict"), TEACH_WRONG);
    assert_int_equal(teach_question_judge(&word, "capacit"), TEACH_NO_ANSWER);
    assert_int_equal(teach_question_judge(&word, "12"), TEACH_NO_ANSWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
