/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * quiz: `c2emu quiz [--seed N] [--questions N] [TOPIC]`: asks, reads an answer a line, and shows what the caches do.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"
#include "teach/teach.h"

#define QUESTIONS 6u /* one a topic */

struct words {
    uint64_t seed, questions;
    bool one; /* topic: of that alone */
    unsigned topic;
};

struct score {
    uint64_t asked, right;
};

static enum c2_status quiz_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct words *words = self;
    if (strcmp(row->name, "seed") == 0)
        return c2_parse_number(&words->seed, value, "quiz: --seed", err);
    return c2_parse_count(&words->questions, value, "quiz: --questions", 1, err);
}

static enum c2_status take_topic(void *self, char *const *word, struct c2_error *err)
{
    struct words *words = self;
    const char *known[TEACH_TOPICS];
    for (unsigned i = 0; i < TEACH_TOPICS; i++)
        known[i] = teach_topics[i].word;
    if (words->one)
        return c2_fail(err, C2_ERR_INVALID, "quiz: one topic at a time: %s, and then %s", known[words->topic], word[0]);
    words->one = true;
    return session_word(&words->topic, "quiz: topic ", word[0], known, TEACH_TOPICS, err);
}

/* The next line without blanks around it; false: there is none, or it says to end. What comes by a pipe is shown, as a
 * terminal would. */
static bool read_answer(char **text, size_t *room, char **answer)
{
    fputs("> ", stdout);
    fflush(stdout);
    ssize_t length = getline(text, room, stdin);
    if (length < 0) {
        fputc('\n', stdout);
        return false;
    }
    while (length > 0 && strchr(" \t\r\n", (*text)[length - 1]))
        (*text)[--length] = '\0';
    *answer = *text + strspn(*text, " \t");
    if (!isatty(STDIN_FILENO))
        printf("%s\n", *answer);
    return strcmp(*answer, "quit") != 0;
}

static void tell_kind(const struct teach_question *question)
{
    if (question->kind != TEACH_WORD) {
        printf("A number, such as 12 or 0x40; or quit.\n");
        return;
    }
    fputs("One of", stdout);
    for (size_t i = 0; i < question->word_count; i++)
        printf(" %s", question->words[i]);
    printf("; or quit.\n");
}

/* *more: there was an answer; an empty line is one, and wrong. */
static enum teach_judgement take_answer(const struct teach_question *question, bool *more)
{
    char *text = NULL, *answer;
    size_t room = 0;
    enum teach_judgement judgement = TEACH_NO_ANSWER;
    while (judgement == TEACH_NO_ANSWER && (*more = read_answer(&text, &room, &answer))) {
        judgement = *answer == '\0' ? TEACH_WRONG : teach_question_judge(question, answer);
        if (judgement == TEACH_NO_ANSWER)
            tell_kind(question);
    }
    free(text);
    return judgement;
}

static enum c2_status quiz_ask(struct score *score, const struct teach_question *question, bool *more,
                               struct c2_error *err)
{
    teach_question_ask(question, stdout);
    const enum teach_judgement judgement = take_answer(question, more);
    if (!*more)
        return C2_OK;
    score->asked++;
    score->right += judgement == TEACH_RIGHT;
    fputs(judgement == TEACH_RIGHT ? "Right: " : "No: ", stdout);
    teach_question_answer(question, stdout);
    fputs(".\n", stdout);
    enum c2_status status = teach_question_show(question, stdout, err);
    fputc('\n', stdout);
    return status;
}

static enum c2_status ask_all(const struct words *words, struct c2_error *err)
{
    struct c2_rng rng;
    struct score score = {0, 0};
    bool more = true;
    enum c2_status status = C2_OK;
    c2_rng_init(&rng, words->seed, "quiz");
    for (uint64_t i = 0; i < words->questions && more && status == C2_OK; i++) {
        struct teach_question question;
        const unsigned topic = words->one ? words->topic : (unsigned)(i % TEACH_TOPICS);
        printf("%llu of %llu: %s\n", (unsigned long long)i + 1, (unsigned long long)words->questions,
               teach_topics[topic].word);
        status = teach_question_make(&question, (enum teach_topic)topic, &rng, err);
        if (status == C2_OK)
            status = quiz_ask(&score, &question, &more, err);
    }
    if (status == C2_OK)
        printf("%llu of %llu right. Other questions: --seed %llu\n", (unsigned long long)score.right,
               (unsigned long long)score.asked, (unsigned long long)words->seed + 1);
    return status;
}

enum c2_status cli_quiz(int argc, char **argv, struct c2_error *err)
{
    struct words words = {.seed = 1, .questions = QUESTIONS};
    const struct cli_taker taker = {&words, quiz_take_option, take_topic};
    enum c2_status status = cli_words_take(cli_verb("quiz"), argc, argv, &taker, err);
    return status == C2_OK ? ask_all(&words, err) : status;
}
