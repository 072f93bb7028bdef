/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * teach: the caches in the forms that courses use. A simulator with the counts and lines of a well-known course's
 * (csim.c); questions whose answers are what the caches do (quiz.c).
 */
#ifndef C2_TEACH_H
#define C2_TEACH_H

#include "base/base.h"
#include "caches/caches.h"
#include "stream/stream.h"

/* ------------------------------------------------------------------ csim.c: hits, misses, evictions
 * Eats a stream; each reference is one access of one cache. lines: where a line for each reference goes, lent until
 * destroy; NULL: nowhere. */
struct teach_counts {
    uint64_t hits, misses, evictions; /* of accesses; a modify is two */
};
struct teach_csim;
/* The machine has one level. */
enum c2_status teach_csim_create(struct teach_csim **out, const struct caches_machine *machine, FILE *lines,
                                 struct c2_error *err);
void teach_csim_destroy(struct teach_csim *csim); /* takes NULL */
/* What comes has its blocks in this table, which outlives it: before the first batch, and where another program's
 * stream goes on. The cache stays as it is. */
void teach_csim_blocks(struct teach_csim *csim, const struct stream_blocks *blocks);
struct stream_sink teach_csim_sink(struct teach_csim *csim); /* fails with C2_ERR_IO, C2_ERR_NO_MEMORY */
struct teach_counts teach_csim_counts(const struct teach_csim *csim);

/* ------------------------------------------------------------------ quiz.c: predict, then see
 * One row a topic: constant, word, what is asked. */
/* clang-format off */
#define TEACH_TOPIC_LIST(X) \
    X(SET, "set", "which set an address goes to") \
    X(MISSES, "misses", "how many of eight loads miss") \
    X(VICTIM, "victim", "which line is pushed out: lru, fifo, tree-plru") \
    X(CLASS, "class", "cold, capacity or conflict") \
    X(STRIDE, "stride", "how many loads of a loop miss") \
    X(LEVEL, "level", "where a line is found; inclusive and exclusive levels")
/* clang-format on */
enum teach_topic {
#define X(constant, word, about) TEACH_##constant,
    TEACH_TOPIC_LIST(X)
#undef X
        TEACH_TOPICS
};
struct teach_topic_row {
    const char *word, *about;
};
extern const struct teach_topic_row teach_topics[TEACH_TOPICS];

#define TEACH_LOADS 32u
enum teach_answer { TEACH_NUMBER, TEACH_ADDRESS, TEACH_WORD };
struct teach_question {
    enum teach_topic topic;
    struct caches_machine machine;
    uint32_t load_count;
    uint64_t loads[TEACH_LOADS]; /* addresses, in order; caches are empty before */
    uint32_t rounds, steps;      /* STRIDE: the loads are rounds times `steps` multiples of the stride */
    uint64_t stride;
    const char *asks; /* static */
    enum teach_answer kind;
    const char *const *words; /* WORD: static */
    size_t word_count;
    uint64_t answer; /* the caches': a number, the first address of a line, the index of a word */
};
/* C2_ERR_NO_MEMORY. */
enum c2_status teach_question_make(struct teach_question *out, enum teach_topic topic, struct c2_rng *rng,
                                   struct c2_error *err);
void teach_question_ask(const struct teach_question *question, FILE *to);
enum teach_judgement { TEACH_RIGHT, TEACH_WRONG, TEACH_NO_ANSWER }; /* the last: of another kind than the question's */
enum teach_judgement teach_question_judge(const struct teach_question *question, const char *text);
void teach_question_answer(const struct teach_question *question, FILE *to); /* a word or two */
/* What the caches do at each load, a line each. C2_ERR_NO_MEMORY. */
enum c2_status teach_question_show(const struct teach_question *question, FILE *to, struct c2_error *err);

#endif
