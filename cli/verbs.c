/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * verbs: what `c2emu VERB` understands, verb by verb, and the help of each.
 *
 * Model
 *   A verb is the first word. A program of the same name is run behind `--`, or by its path: a command that seems to
 *   have meant it is told so.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "loader/loader.h"

#define HELP_ROW \
    { \
        "help", CLI_KEY_HELP, NULL, 0, "print this", 5 \
    }

enum { KEY_FIRST = 256, KEY_SECOND, KEY_THIRD, KEY_FOURTH }; /* no short form */

static const struct argp_option annotate_options[] = {
    {"event", KEY_FIRST, "NAME", 0,
     "show the counts of this event, conflictL1D or conflict.L1D; up to eight may stand side by side", 1},
    {"asm", KEY_SECOND, NULL, 0, "show functions as instructions instead of source", 1},
    {"width", KEY_THIRD, "N", 0, "cut longer lines, 80 to 200 columns (the terminal's; in files and pipes none is cut)",
     1},
    {"include", 'I', "DIR", 0, "look there for sources, programs and libraries as well; repeatable", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option csim_options[] = {
    {"sets", 's', "S", 0, "2^S sets", 1},
    {"lines", 'E', "E", 0, "E lines in a set, 1 to 64", 1},
    {"block", 'b', "B", 0, "blocks of 2^B bytes", 1},
    {"trace", 't', "FILE", 0, "the trace, as lackey of Valgrind writes it; - is standard input", 1},
    {"verbose", 'v', NULL, 0, "a line for each reference: hit, miss, eviction", 1},
    {"roi", KEY_FIRST, "FUNCTION", 0, "of PROGRAM only the calls of a function, from entry to return; repeatable", 1},
    {"cpu", KEY_THIRD, "LEVEL", 0, "the processor that PROGRAM finds, as of a run", 1},
    {"engine", KEY_FOURTH, "NAME", 0, "what executes PROGRAM, as of a run", 1},
    {"results", KEY_SECOND, NULL, 0, "write hits, misses and evictions into .csim_results here, too", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option diff_options[] = {
    {"fail-if", KEY_FIRST, "CONDITION", 0,
     "exit with status 1 when it holds: [function:NAME.|object:NAME.]LEVEL.COUNTER, one of > >= < <= = !=, and a "
     "change "
     "from A to B such as +0 or +5%, as in 'L1D.conflict>+0'; repeatable",
     1},
    {"all", KEY_SECOND, NULL, 0, "show every function and object that differs, not the first ten", 1},
    {"width", KEY_THIRD, "N", 0, "columns, 80 to 200 (the terminal's; 100 in files and pipes)", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option html_options[] = {
    {"output", 'o', "FILE", 0, "the page to write", 1},
    {"include", 'I', "DIR", 0, "look there for sources as well; repeatable", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option machines_options[] = {
    {"set", KEY_FIRST, "SECTION.KEY=VALUE", 0, "change one key of the machine; repeatable", 1},
    {"keys", KEY_SECOND, NULL, 0, "print the keys that a machine file may have", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option verify_options[] = {
    {"stdin", KEY_FIRST, "FILE", 0, "what the run reads as its standard input; else what it was, or this one's", 1},
    {"directory", KEY_SECOND, "DIR", 0, "where the run is made; else where it was", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option quiz_options[] = {
    {"seed", KEY_FIRST, "N", 0, "other questions (1); the same N, the same questions", 1},
    {"questions", KEY_SECOND, "N", 0, "how many (6)", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option sweep_options[] = {
    {"output", 'o', "DIR", 0, "where everything goes, and what was done before is found (the study's name, and .sweep)",
     1},
    {"cores", KEY_FIRST, "N", 0, "processors of this host to use (all)", 1},
    {"slurm", KEY_SECOND, NULL, 0, "run on Slurm's nodes, by sbatch; DIR lies where all of them see it", 1},
    {"sbatch", KEY_THIRD, "WORDS", 0, "... with these words for sbatch, such as '--partition=long'", 1},
    {"list", KEY_FOURTH, NULL, 0, "print the runs and their cells, and make none", 1},
    HELP_ROW,
    {0},
};

static const struct argp_option plain_options[] = {HELP_ROW, {0}};

static const struct cli_command verbs[] = {
    {"advise", CLI_RUN, true, "[--] PROGRAM [ARG]...", "try out the remedies of what a run finds",
     "Run a program and simulate the remedies of what its report finds, on the same run; print what each would spare, "
     "the most first, and the layouts of its data that were tried."
     "\vThe options are those of a run, and --dim. --no-sim, --no-attribution, --against, --output, --full and "
     "--pages file=PATH "
     "are not for advise; --json FILE writes its report.",
     cli_run_options, NULL},
    {"annotate", CLI_ANNOTATE, false, "FILE", "show source or instructions with the counts of a callgrind file",
     "Show the source, or the instructions, of a program with the counts of FILE, which --callgrind or --evictors has "
     "written."
     "\vWithout --event the counts are of the misses that cost most, by the file's formula; else of its first event.",
     annotate_options, NULL},
    {"complete", CLI_COMPLETE, false, "[VERB]", "print what shells complete behind c2emu or a verb",
     "Print the options and verbs of c2emu, or the options of a verb, a line each with tabs between its fields: for "
     "the "
     "completion of shells.",
     plain_options, NULL},
    {"csim", CLI_CSIM, true, "-t FILE | PROGRAM [ARG]...", "count hits, misses and evictions as the Cache Lab does",
     "Simulate one cache of 2^S sets of E lines of 2^B bytes with LRU, on a trace of Valgrind's lackey or on the "
     "references of a program, and print hits, misses and evictions as the reference simulator of the Cache Lab does."
     "\vFetches are left out, a modify is a load and a store, and each access is of the block that its first byte lies "
     "in. Lines go to standard output; with PROGRAM, whose standard output that is, to standard error. Exit status: "
     "PROGRAM's; else 0, and 125 when the trace or the options are wrong.",
     csim_options, NULL},
    {"diff", CLI_DIFF, false, "A.json B.json", "compare two reports",
     "Compare two reports that --json has written: counters, functions and objects that differ."
     "\vExit status: 1 when a condition holds, 0 otherwise; 125 when the files or conditions are wrong.",
     diff_options, NULL},
    {"explain", CLI_RUN, true, "REPORT.json|RECORDING|[--] PROGRAM [ARG]...", "explain one miss as a story",
     "Run a program, or simulate what --record has kept, or make the run of a report again, and explain one miss: its "
     "set, "
     "what lay in the ways and what had brought it, why the policy chose the victim, what a fully associative cache "
     "would have done."
     "\vThe options are those of a run, and --miss, --at, --level, --steps and --step; of a report they are its own, "
     "and with a report or a recording they may stand behind it. --no-sim, --no-attribution, --against, --vary, "
     "several -m, --output and --full are not for explain; --json FILE and --html FILE write the story.",
     cli_run_options, NULL},
    {"help", CLI_HELP, false, "[VERB]", "print the options of c2emu or of a verb",
     "Print the options of c2emu, or what a verb does and its options.", plain_options, NULL},
    {"html", CLI_HTML, false, "REPORT.json [OTHER.json] -o FILE", "make a page for a browser of a report, or of two",
     "Write what REPORT.json has, as --json has written it, as one page for a browser, with pictures: its findings, "
     "levels, objects, lines; and with OTHER.json what differs."
     "\vPictures are of what the run has collected: docs/html.md names the option of each. Lines of sources are read "
     "when the page is made.",
     html_options, NULL},
    {"machines", CLI_MACHINES, false, "[NAME|FILE]", "list the included machines, or print one as a file",
     "List the included machines, a line each, or print the one that NAME or FILE describes as a machine file: every "
     "key with its value, what was left out filled in and --set applied. NAME host is this processor, with where each "
     "number is from."
     "\vWhat is printed, kept in a file, is the same machine for -m FILE.",
     machines_options, NULL},
    {"manual", CLI_MANUAL, false, "[VERB]", "print the manual page of c2emu or of a verb",
     "Print the manual page of c2emu, or of a verb, in the macros of man(7)."
     "\v`c2emu manual diff | man -l -` shows one.",
     plain_options, NULL},
    {"pagemap", CLI_PAGEMAP, false, "PID [FILE]", "write the page map of a live process",
     "Write which frame each page of a live process has, to FILE or standard output, for --pages file=FILE."
     "\vThe kernel shows frames to root only.",
     plain_options, NULL},
    {"points", CLI_RUN, true, "[--] PROGRAM [ARG]...", "find the intervals of a run that stand for all of it",
     "Run a program, cut the run into intervals by the blocks that each executes into groups, and write which interval "
     "is the midst of each group and what share of the run it stands for: NAME.simpoints and NAME.weights, NAME that "
     "of "
     "the program. Nothing is simulated."
     "\vThe options are those of a run, and --interval, --dimensions, --max-k, --bbv and --from-bbv. --output DIR "
     "writes the files there. What belongs to a simulation is not for points, but for the machine, --set and --huge, "
     "of "
     "which the program sees how much memory it has.",
     cli_run_options, cli_points_takes},
    {"quiz", CLI_QUIZ, false, "[set|misses|victim|class|stride|level]", "questions on what a small cache does",
     "Show a small cache and a few loads, ask what happens, read the answer, and show what the caches do, load by "
     "load. "
     "Without a topic all come in turn."
     "\vAn answer is a line of standard input; an empty one shows, and `quit` ends. Addresses are hexadecimal with 0x. "
     "Exit status: 0, whatever the score.",
     quiz_options, NULL},
    {"replay", CLI_REPLAY, false, "FILE", "simulate a recorded run again, or a trace of another tool",
     "Simulate what --record has kept in FILE, by any machine and placement, without running the program; - is "
     "standard input."
     "\vThe options are those of a run on how it is simulated and what is written; those on how the "
     "program runs were decided when it was recorded. Exit status: that of the run; 125 when c2emu failed.",
     cli_run_options, cli_replay_takes},
    {"restore", CLI_RESTORE, false, "FILE", "go on from a checkpoint",
     "Go on from a checkpoint that --checkpoint FILE has written, under the machine, placement and analyses of the "
     "options."
     "\vThe options are those of a run, but for what the program was started with (--env, --inherit-env, --clock, "
     "--alloc-wrapper), which is the checkpoint's. The report is that of a run with --skip N, N being where the "
     "checkpoint is; of one with its caches, that of a whole run.",
     cli_run_options, NULL},
    {"sweep", CLI_SWEEP, false, "STUDY", "make the runs of a study: programs by machines by placements",
     "Make all runs that STUDY describes, a file of TOML: programs, machines, placements, seeds and options, as a "
     "grid, "
     "a list, or both. What one execution can serve is one run. Results are results.csv, results.sqlite and "
     "results.html."
     "\vThe runs are scheduled by Snakemake. The same command goes on where another one was stopped, however it was; "
     "what was done is not done again. Exit status: 0 when all is done, else 125.",
     sweep_options, NULL},
    {"verify", CLI_VERIFY, false, "REPORT.json", "make the run of a report again, and print what differs",
     "Run what REPORT.json is the report of again, by its receipt, and print `equal`, or what differs: inputs first, "
     "then the report's values."
     "\vIt executes the program that the report names: give it reports that you trust. What the program writes to its "
     "standard streams is thrown away. Exit status: 0 when all is equal, 1 when something differs, 125 when the run "
     "cannot be made again.",
     verify_options, NULL},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static const char *const missing[] = {"report"}; /* verbs of other versions */

const struct cli_command *cli_verb(const char *word)
{
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(word, verbs[i].verb) == 0)
            return &verbs[i];
    }
    return NULL;
}

enum c2_status cli_verb_check_missing(const char *word, struct c2_error *err)
{
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        if (strcmp(word, missing[i]) == 0)
            return c2_fail(err, C2_ERR_UNSUPPORTED,
                           "`c2emu %s` is not available in this version; a program of that name is run by "
                           "`c2emu -- %s` or as ./%s",
                           word, word, word);
    }
    return C2_OK;
}

const struct cli_command *cli_verbs(size_t *count)
{
    *count = VERBS;
    return verbs;
}

enum c2_status cli_verb_named(const struct cli_command **out, const char *of, const char *word, struct c2_error *err)
{
    const char *names[VERBS];
    char hint[128];
    *out = cli_verb(word);
    if (*out)
        return C2_OK;
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].verb;
    return c2_fail(err, C2_ERR_INVALID, "%s: there is no verb \"%s\"%s", of, word,
                   c2_suggest(hint, sizeof hint, word, names, VERBS));
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

const char *cli_verb_hides(char *buffer, size_t bytes, const struct cli_command *verb)
{
    char *path, here[32];
    snprintf(here, sizeof here, "./%s", verb->verb);
    if (is_program(here)) {
        snprintf(buffer, bytes, "`%s` is a verb of c2emu; the program here is run by `c2emu %s`", verb->verb, here);
        return buffer;
    }
    if (loader_find(&path, verb->verb, NULL) != C2_OK)
        return NULL;
    snprintf(buffer, bytes, "`%s` is a verb of c2emu; the program %s is run by `c2emu -- %s`", verb->verb, path,
             verb->verb);
    c2_free(path);
    return buffer;
}

const char *cli_verb_meant(const char *program)
{
    const char *names[VERBS];
    char *path;
    if (strchr(program, '/'))
        return NULL;
    if (loader_find(&path, program, NULL) == C2_OK) {
        c2_free(path);
        return NULL;
    }
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].verb;
    return c2_nearest(program, names, VERBS);
}

void cli_help(FILE *to, const struct cli_command *verb)
{
    cli_words_help(verb ? verb : &cli_run_command, to);
    if (verb) {
        fprintf(to, "\nA program called %s is run by `c2emu -- %s`, or by its path.\n", verb->verb, verb->verb);
        return;
    }
    fprintf(to, "\nVerbs (c2emu help VERB has more):\n");
    for (size_t i = 0; i < VERBS; i++)
        fprintf(to, "  c2emu %-8s  %s\n", verbs[i].verb, verbs[i].summary);
}
