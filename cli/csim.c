/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * csim: `c2emu csim [-v] -s S -E E -b B [--results] (-t FILE | [--roi FUNCTION]... [--cpu LEVEL] [--engine NAME]
 * PROGRAM [ARG]...)`.
 *
 * Model
 *   A trace is played as a stream, or a program is run that writes one (session_run); teach/csim.c eats it. What is
 *   printed goes to standard output of a trace, and to standard error of a program, whose standard output that is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"
#include "machine/machine.h"
#include "stream/stream.h"
#include "teach/teach.h"

#define RESULTS ".csim_results" /* the name that the lab's driver looks for */
#define OWN_WORDS 5u            /* of the command line of a run, at most; and two for each option of it */

struct words {
    struct machine_geometry geometry;
    bool sets_given, block_given; /* ways are never 0 */
    bool lines, results;
    const char *trace; /* NULL: a program is run */
    struct option_of_run {
        char word[16]; /* "--roi" */
        char *value;
    } * options;
    const char *const *program; /* and its arguments, NULL-terminated; NULL: a trace is read */
    size_t option_count;
};

/* ------------------------------------------------------------------ the words */

static enum c2_status csim_take_number(uint32_t *out, const struct argp_option *row, const char *value,
                                       struct c2_error *err)
{
    uint64_t number;
    if (c2_parse_number(&number, value, "", NULL) != C2_OK || number > INT32_MAX)
        return c2_fail(err, C2_ERR_INVALID, "csim: -%c %s: must be a number", row->key, value);
    *out = (uint32_t)number;
    return C2_OK;
}

static void csim_keep_option(struct words *words, const char *name, char *value)
{
    struct option_of_run *option = &words->options[words->option_count++];
    snprintf(option->word, sizeof option->word, "--%s", name);
    option->value = value;
}

static enum c2_status csim_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct words *words = self;
    switch (row->key) {
    case 's':
        words->sets_given = true;
        return csim_take_number(&words->geometry.set_bits, row, value, err);
    case 'E':
        return csim_take_number(&words->geometry.ways, row, value, err);
    case 'b':
        words->block_given = true;
        return csim_take_number(&words->geometry.block_bits, row, value, err);
    case 't':
        words->trace = value;
        return C2_OK;
    case 'v':
        words->lines = true;
        return C2_OK;
    }
    if (value)
        csim_keep_option(words, row->name, value);
    else
        words->results = true;
    return C2_OK;
}

static enum c2_status csim_take_program(void *self, char *const *program, struct c2_error *err)
{
    struct words *words = self;
    (void)err;
    words->program = (const char *const *)program;
    return C2_OK;
}

static enum c2_status csim_check_words(const struct words *words, struct c2_error *err)
{
    const char *missing = !words->sets_given          ? "-s: how many bits of an address choose the set"
                          : words->geometry.ways == 0 ? "-E: how many lines a set has, at least one"
                          : !words->block_given       ? "-b: how many bits of an address lie in a block"
                                                      : NULL;
    if (missing)
        return c2_fail(err, C2_ERR_INVALID, "csim: give %s (example: c2emu csim -s 4 -E 1 -b 4 -t FILE)", missing);
    if (!words->trace && !words->program)
        return c2_fail(err, C2_ERR_INVALID,
                       "csim: give a trace, -t FILE (- is standard input), or a program: csim -s 4 -E 1 -b 4 PROGRAM");
    if (words->trace && words->program)
        return c2_fail(err, C2_ERR_INVALID, "csim: -t %s or the program %s: one of them", words->trace,
                       words->program[0]);
    if (words->trace && words->option_count != 0)
        return c2_fail(err, C2_ERR_INVALID, "csim: %s %s is of a program, and -t %s is a trace; leave it out",
                       words->options[0].word, words->options[0].value, words->trace);
    return C2_OK;
}

/* ------------------------------------------------------------------ a trace */

static enum c2_status csim_play(struct teach_csim *sim, FILE *content, const char *name, struct c2_error *err)
{
    struct stream_trace *trace;
    enum c2_status status = stream_trace_open(&trace, content, name, "lackey", err);
    if (status != C2_OK)
        return status;
    teach_csim_blocks(sim, stream_trace_blocks(trace));
    status = stream_trace_play(trace, teach_csim_sink(sim), err);
    stream_trace_close(trace);
    return status;
}

static enum c2_status unpack_and_play(struct teach_csim *sim, FILE *from, const char *name, struct c2_error *err)
{
    FILE *content;
    enum c2_status status = c2_unpack(&content, from, err);
    if (status != C2_OK)
        return status;
    status = csim_play(sim, content, name, err);
    fclose(content);
    return status;
}

static enum c2_status play_file(struct teach_csim *sim, const char *path, struct c2_error *err)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *from = standard ? stdin : fopen(path, "re");
    if (!from)
        return c2_fail(err, C2_ERR_NOT_FOUND, "csim: the trace %s cannot be opened: %s", path, strerror(errno));
    enum c2_status status = c2_outfile_spare(standard ? SESSION_STANDARD_INPUT : path, err);
    if (status == C2_OK)
        status = unpack_and_play(sim, from, standard ? "standard input" : path, err);
    if (!standard)
        fclose(from);
    return status;
}

/* ------------------------------------------------------------------ a program */

static bool has_functions(const struct words *words)
{
    for (size_t i = 0; i < words->option_count; i++)
        if (strcmp(words->options[i].word, "--roi") == 0)
            return true;
    return false;
}

/* The command line of its run: nothing is simulated there, and what is outside of the functions is not in the trace. */
static void run_words(char **argv, const struct words *words)
{
    size_t count = 0;
    argv[count++] = "c2emu";
    argv[count++] = "--quiet";
    if (has_functions(words))
        argv[count++] = "--warm=none";
    for (size_t i = 0; i < words->option_count; i++) {
        argv[count++] = words->options[i].word;
        argv[count++] = words->options[i].value;
    }
    argv[count++] = "--";
    for (size_t i = 0; words->program[i]; i++)
        argv[count++] = (char *)words->program[i];
    argv[count] = NULL;
}

static size_t word_count(char *const *argv)
{
    size_t count = 0;
    while (argv[count])
        count++;
    return count;
}

static enum c2_status csim_run_program(struct session_csim *csim, const struct words *words, int *exit_status,
                                       struct c2_error *err)
{
    struct cli_options options;
    const size_t count = OWN_WORDS + 2 * words->option_count + word_count((char *const *)words->program);
    char **argv = c2_calloc(count, sizeof *argv);
    if (!argv)
        return c2_fail_memory(err, "the command line of the program");
    run_words(argv, words);
    enum c2_status status = cli_options_parse(&options, (int)word_count(argv), argv, err);
    if (status == C2_OK) {
        options.run.csim = csim;
        options.run.no_sim = true;
        *exit_status = session_run(&options.run, environ);
        cli_options_release(&options);
    }
    c2_free(argv);
    return status;
}

/* ------------------------------------------------------------------ the verb */

static enum c2_status write_results(struct teach_counts counts, struct c2_error *err)
{
    struct c2_outfile *file;
    enum c2_status status = c2_outfile_open(&file, RESULTS, err);
    if (status != C2_OK)
        return status;
    fprintf(c2_outfile_stream(file), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts.hits, counts.misses,
            counts.evictions);
    return c2_outfile_commit(file, err);
}

static enum c2_status csim_finish(const struct words *words, const struct teach_csim *sim, FILE *to,
                                  struct c2_error *err)
{
    const struct teach_counts counts = teach_csim_counts(sim);
    fprintf(to, "hits:%" PRIu64 " misses:%" PRIu64 " evictions:%" PRIu64 "\n", counts.hits, counts.misses,
            counts.evictions);
    if (fflush(to) != 0)
        return c2_fail(err, C2_ERR_IO, "csim: the counts cannot be written: %m");
    return words->results ? write_results(counts, err) : C2_OK;
}

static enum c2_status csim_simulate(const struct words *words, FILE *to, int *exit_status, struct c2_error *err)
{
    struct caches_machine machine;
    struct session_csim csim = {NULL, false};
    enum c2_status status = machine_of_geometry(&machine, &words->geometry, err);
    if (status == C2_OK)
        status = teach_csim_create(&csim.sim, &machine, words->lines ? to : NULL, err);
    if (status == C2_OK && words->trace)
        status = play_file(csim.sim, words->trace, err);
    else if (status == C2_OK)
        status = csim_run_program(&csim, words, exit_status, err);
    if (status == C2_OK && (words->trace || csim.whole))
        status = csim_finish(words, csim.sim, to, err);
    teach_csim_destroy(csim.sim);
    return status;
}

/* A stream of its own: what is written line by line is not to be a system call each. */
static enum c2_status simulate_on(int fd, const struct words *words, int *exit_status, struct c2_error *err)
{
    const int copy = dup(fd);
    FILE *to = copy < 0 ? NULL : fdopen(copy, "w");
    if (!to)
        return c2_fail(err, C2_ERR_IO, "csim: cannot write to standard %s: %m", fd == 1 ? "output" : "error");
    enum c2_status status = csim_simulate(words, to, exit_status, err);
    const bool lost = fclose(to) != 0;
    return status == C2_OK && lost ? c2_fail(err, C2_ERR_IO, "csim: the lines cannot be written: %m") : status;
}

enum c2_status cli_csim(int *exit_status, int argc, char **argv, struct c2_error *err)
{
    struct words words = {.options = c2_calloc((size_t)argc, sizeof *words.options)};
    const struct cli_taker taker = {&words, csim_take_option, csim_take_program};
    if (!words.options)
        return c2_fail_memory(err, "the words of a command line");
    enum c2_status status = cli_words_take(cli_verb("csim"), argc, argv, &taker, err);
    if (status == C2_OK)
        status = csim_check_words(&words, err);
    if (status == C2_OK)
        status = simulate_on(words.trace ? STDOUT_FILENO : STDERR_FILENO, &words, exit_status, err);
    c2_free(words.options);
    return status;
}
