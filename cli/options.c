/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * options: from words to struct cli_options.
 *
 * Model
 *   The table of a run's options; words.c says what becomes of it, verbs.c has those of the verbs. Options end at
 *   PROGRAM; its own are its own.
 */
#include <string.h>

#include "cli/options_priv.h"
#include "emu/emu.h"

#define ANALYSIS_ROW(name, option, argument, help, section) \
    {option, KEY_ANALYSES + ANALYSIS_##name, argument, 0, help, section},
#define SETTING_ROW(name, option, argument, help, section) \
    {option, KEY_SETTINGS + ANALYSES_SETTING_##name, argument, 0, help, section},

const struct argp_option cli_run_options[] = {
    {NULL, 0, NULL, 0, "Machine and memory:", 1},
    {"machine", KEY_MACHINE, "NAME|FILE", 0,
     "machine: a preset's name, an INI file, or host, which is this processor (" SESSION_DEFAULT_MACHINE
     "); several times: the run on each, compared",
     1},
    {"set", KEY_SET, "LEVEL.KEY=VALUE", 0, "change one key of the machine, e.g. L2.ways=4; repeatable", 1},
    {"cores", KEY_CORES, "N", 0, "how many cores the machine has, short for --set cores=N; threads run on all of them",
     1},
    {"vary", KEY_VARY, "KEY=VALUE,...|A..B", 0,
     "simulate the run with each value side by side, and compare: a key of the machine (L2.ways=4,8,16), pages, "
     "pages.seed (1..32) and the policies' other keys, huge; several: every combination; repeatable",
     1},
    {"pages", KEY_PAGES, "POLICY[,KEY=VALUE]", 0,
     "placement of pages: sequential (default), random, identity, colored[,level=NAME], "
     "same-color[,color=N][,level=NAME], buddy[,age=0..1], file=PATH (a page map); each but that with ,seed=N",
     1},
    {"place", KEY_PLACE, "REGION=POLICY[,KEY]", 0,
     "placement of one region: heap, stack, mmap, text, a mapped file (libc.so.6) or a symbol of the program; the rest "
     "goes by --pages; repeatable",
     1},
    {"huge", KEY_HUGE, "off|never|thp|all|REGION", 0,
     "huge pages: off (only where the program requests them), never, thp (transparent, as Linux does), all; or for one "
     "region: heap, stack, mmap or a symbol of the program; repeatable",
     1},
#define X(name, option, argument, help) ANALYSIS_ROW(name, option, argument, help, 1)
    ANALYSES_OF_MEMORY(X)
#undef X
        {"huge-size", KEY_HUGE_SIZE, "2M|1G", 0, "size of the pages of --huge all and REGION (2M)", 1},
    {"zero-page", KEY_ZERO_PAGE, NULL, 0, "pages of anonymous memory that are only read share one frame, as on Linux",
     1},
    {"seed", KEY_SEED, "N", 0, "master seed of everything random (1)", 1},
    {NULL, 0, NULL, 0, "The run:", 2},
    {"no-sim", KEY_NO_SIM, NULL, 0, "run the program only: nothing recorded, no caches", 2},
#define X(name, option, argument, help) ANALYSIS_ROW(name, option, argument, help, 2)
    ANALYSES_OF_RUN(X)
#undef X
#define X(name, analysis, option, argument, help) SETTING_ROW(name, option, argument, help, 2)
        ANALYSES_SETTINGS_OF_RUN(X)
#undef X
            {"skip", KEY_SKIP, "N", 0, "execute N instructions before each sample, and simulate nothing (0)", 2},
    {"warmup", KEY_WARMUP, "N", 0,
     "simulate N instructions before each sample, and count nothing (0; with --period a quarter of it)", 2},
    {"measure", KEY_MEASURE, "N", 0, "a sample's instructions (all that are left; with --period a tenth of it)", 2},
    {"samples", KEY_SAMPLES, "K", 0, "how many samples (1; with --period as many as there is room for)", 2},
    {"period", KEY_PERIOD, "N", 0, "a sample in each N instructions, the first after --start or --skip", 2},
    {"start", KEY_START, "N", 0,
     "with --period: measure the first N instructions as well; they stand for themselves alone (half a period)", 2},
    {"offsets", KEY_OFFSETS, "systematic|random", 0, "where in its period a sample begins: at the start, or drawn", 2},
    {"precision", KEY_PRECISION, "P", 0,
     "warn when samples estimate the miss rate of a level less surely than to P per cent of itself", 2},
    {"points", KEY_POINTS, "FILE", 0, "measure these intervals, each with its weight, as `c2emu points` writes", 2},
    {"weights", KEY_WEIGHTS, "FILE", 0, "the weights of --points NAME.simpoints (NAME.weights)", 2},
    {"interval", KEY_INTERVAL, "N", 0, "instructions of an interval of --points; and of points (10M)", 2},
    {"dimensions", KEY_DIMENSIONS, "N", 0, "points: to how many vectors of blocks are projected (15)", 2},
    {"max-k", KEY_MAX_K, "K", 0, "points: the most there may be (30)", 2},
    {"roi", KEY_ROI, "FUNCTION", 0,
     "measure only the calls of a function, from entry to return; *, ? and [] as in a shell; repeatable", 2},
    {"from", KEY_FROM, "PLACE", 0,
     "measure from a place on: SYMBOL[:N], 0xADDRESS[:N] or FILE:LINE[:N]; N: only from the N-th arrival there", 2},
    {"to", KEY_TO, "PLACE", 0, "... and up to one", 2},
    {"requests", KEY_REQUESTS, "yes|...", 0,
     "honour the program's requests to Callgrind: yes; instr-atstart=no, nothing is measured before it starts "
     "instrumentation; collect-atstart=no, nothing is counted before it toggles; or both with a comma",
     2},
    {"warm", KEY_WARM, "HOW", 0,
     "what is not measured is simulated and not counted (functional), not simulated (none), or that, and caches and "
     "TLBs are empty then (flush); outside of --roi, --from and --to functional, for --skip none",
     2},
    {"separate-par", KEY_SEPARATE_PAR, "FUNCTION:ARG[:B1,...]", 0,
     "distinguish calls of a function by an argument: its name, or the number of its integer register (1 is RDI); by "
     "its "
     "values, or by the ranges up to B1, B2 ...; repeatable",
     2},
    {"separate-callers", KEY_SEPARATE_CALLERS, "N", 0, "distinguish functions by their N nearest callers", 2},
    {"separate-recs", KEY_SEPARATE_RECS, "N", 0, "distinguish N levels of a function's recursion (1)", 2},
    {"separate-threads", KEY_SEPARATE_THREADS, NULL, 0,
     "distinguish threads: --callgrind FILE writes FILE-01, FILE-02 ..., a file a thread", 2},
    {"jobs", KEY_JOBS, "N", 0,
     "simulation threads, beside the guest's: one a machine, then a second one each, which classifies its misses, as "
     "far as they go (as many as processors)",
     2},
    {"engine", KEY_ENGINE, "NAME", 0, "what executes the guest: " EMU_ENGINES " (" EMU_ENGINE ")", 2},
    {"cpu", KEY_CPU, "LEVEL", 0,
     "the processor that the guest finds: x86-64-v2, x86-64-v3, x86-64-v4 or host, beyond v2 by --engine native; auto: "
     "v2, or what the program's note of properties needs (auto)",
     2},
    {"env", KEY_ENV, "NAME[=VALUE]", 0,
     "add to the guest's environment (PATH, HOME and LANG=C); without VALUE: the host's; repeatable", 2},
    {"clock", KEY_CLOCK, "DATE|@SECONDS", 0,
     "the guest's clock at the start, in UTC: 2024-02-29, 2024-02-29T12:30:00 (2020-01-01)", 2},
    {"quantum", KEY_QUANTUM, "N", 0,
     "a thread's turn, where others want one: N instructions (50000; several cores: at most 100)", 2},
    {"inherit-env", KEY_INHERIT_ENV, NULL, 0, "pass the host's environment through", 2},
    {"follow", KEY_FOLLOW, "all|first|NAME", 0,
     "which programs are simulated and reported: all, of the first process, or by name; others run without (all)", 2},
    {"root", KEY_ROOT, "DIR", 0, "the program's /: it, its libraries and all its files are looked for below DIR", 2},
    {"sandbox", KEY_SANDBOX, NULL, 0,
     "let the program change nothing but below the directory it starts in, and use no devices and sockets", 2},
    {"writable", KEY_WRITABLE, "DIR", 0, "... and below DIR; repeatable", 2},
    {"no-net", KEY_NO_NET, NULL, 0, "refuse the program sockets of its own loopback; others it never has", 2},
    {"alloc-wrapper", KEY_ALLOC_WRAPPER, "FUNCTION", 0,
     "a function whose callers are shown for the blocks that it allocates, whatever it returns; repeatable", 2},
    {"perf-map", KEY_PERF_MAP, "FILE", 0,
     "names of code that a compiler makes while the program runs: its /tmp/perf-PID.map or jit-PID.dump", 2},
    {"dim", KEY_DIM, "OBJECT=ROWBYTES", 0,
     "advise: the length of the rows of an object, named as reports do; repeatable", 2},
    {"format", KEY_FORMAT, "FORMAT", 0,
     "replay: what FILE is, where it is not to be seen: recording, din, lackey, text, champsim", 2},
    {NULL, 0, NULL, 0, "What is written:", 3},
    {"checkpoint", KEY_CHECKPOINT, "FILE", 0, "write the state of the program, for `c2emu restore FILE`", 3},
    {"checkpoint-at", KEY_CHECKPOINT_AT, "N|PLACE", 0,
     "... when N instructions have been executed, or before the first one of a place as of --from", 3},
    {"checkpoint-caches", KEY_CHECKPOINT_CACHES, NULL, 0,
     "... with all references up to there, so that the caches can be as they were", 3},
    {"checkpoint-stop", KEY_CHECKPOINT_STOP, NULL, 0, "... and end the run there", 3},
    {"output", KEY_OUTPUT, "DIR", 0, "write report.txt and report.json there", 3},
    {"json", KEY_JSON, "FILE", 0,
     "write the JSON report, of rankings the first rows; of replay, which runs no program, - is standard output", 3},
    {"json-full", KEY_JSON_FULL, "FILE", 0, "write the JSON report with all that was counted, as --output does", 3},
    {"vary-csv", KEY_VARY_CSV, "FILE", 0, "write a row a machine: what --vary and -m gave it, and its counts", 3},
    {"html", KEY_HTML, "FILE", 0,
     "write the report as one page for a browser, with pictures; the run is one with --sets and --windows auto", 3},
    {"record", KEY_RECORD, "FILE", 0, "keep all that was simulated, for c2emu replay", 3},
    {"dump-pagemap", KEY_DUMP_PAGEMAP, "FILE", 0,
     "write the frame of each page touched, for --pages file=FILE; FILE.textproto: DynamoRIO's v2p form", 3},
#define X(name, option, argument, help) ANALYSIS_ROW(name, option, argument, help, 3)
    ANALYSES_OF_FILES(X)
#undef X
#define X(name, analysis, option, argument, help) SETTING_ROW(name, option, argument, help, 3)
        ANALYSES_SETTINGS_OF_FILES(X)
#undef X
            {"evictors", KEY_EVICTORS, "FILE", 0,
             "write evictions in the same format: conflict misses, with a call from each victim to each evictor", 3},
    {"cachegrind", KEY_CACHEGRIND, "FILE", 0, "write costs by line in Cachegrind's format, for cg_annotate", 3},
    {"folded", KEY_FOLDED, "FILE", 0, "write what each stack of calls has cost, a line each, for flame graphs", 3},
    {"folded-event", KEY_FOLDED_EVENT, "EVENT", 0,
     "... of this event of --callgrind: Ir, D1mr, conflictL1D ... (waitCycles, what accesses would wait)", 3},
    {"pprof", KEY_PPROF, "FILE", 0, "write the same, of all events, as pprof reads it", 3},
    {"bbv", KEY_BBV, "FILE", 0, "points: write which blocks each interval executes, as SimPoint reads it", 3},
    {"from-bbv", KEY_FROM_BBV, "FILE", 0,
     "points: read that from FILE, of any program that writes it; no PROGRAM is run", 3},
    {"quiet", KEY_QUIET, NULL, 0, "no text report", 3},
    {"full", KEY_FULL, NULL, 0, "everything in the text report, not only what matters", 3},
    {"width", KEY_WIDTH, "N", 0, "columns of the text report, 80 to 200 (the terminal's; 100 in files and pipes)", 3},
    {"color", KEY_COLOR, "auto|always|never", 0,
     "colours of the text report on standard error: auto, where it is a terminal and NO_COLOR is not set (auto)", 3},
    {NULL, 0, NULL, 0, "Beside the report:", 4},
    {"step", KEY_STEP, NULL, 0,
     "explain: walk through the accesses of the set: by arrow keys on a terminal, else as text", 4},
    {"progress", KEY_PROGRESS, NULL, 0, "progress on standard error, even where it is no terminal", 4},
    {"stats", KEY_STATS, NULL, 0, "host time, speed and memory on standard error", 4},
    {"verbose", KEY_VERBOSE, NULL, 0, "trace the guest's system calls on standard error", 4},
    {"list-machines", KEY_LIST_MACHINES, NULL, 0, "print the included machines, one a line", 5},
    {"version", KEY_VERSION, NULL, 0, "print the version", 5},
    {"help", KEY_HELP, NULL, 0, "print this", 5},
    {0},
};
_Static_assert(sizeof cli_run_options / sizeof cli_run_options[0] <= CLI_ROWS, "c2_nearest has no room for the names");

const struct cli_command cli_run_command = {
    .runs_program = true,
    .arguments = "[--] PROGRAM [ARG]...",
    .text = "Run an x86-64 Linux program in an emulator and report what its caches did."
            "\vThe report goes to standard error when PROGRAM ends. Exit status: PROGRAM's own; 128+N when signal N "
            "killed it; 125 when c2emu failed; 126 when PROGRAM cannot be executed; 127 when it is not found.",
    .options = cli_run_options,
};

/* ------------------------------------------------------------------ taking the words */

static enum c2_status options_take_program(void *self, char *const *words, struct c2_error *err)
{
    struct cli_parse *parse = self;
    if (parse->replay && parse->options->run.recording)
        return c2_fail(err, C2_ERR_INVALID, "replay: one file at a time: %s, and then %s",
                       parse->options->run.recording, words[0]);
    if (parse->replay) {
        parse->options->run.recording = words[0];
        return C2_OK;
    }
    parse->options->run.command = (const char *const *)words;
    return C2_OK;
}

static enum c2_status take_checkpoint(void *self, char *const *words, struct c2_error *err)
{
    struct cli_parse *parse = self;
    if (parse->options->run.restored)
        return c2_fail(err, C2_ERR_INVALID,
                       "restore: \"%s\" is one word too many: there is one checkpoint, and the program's arguments are "
                       "in it",
                       words[0]);
    parse->options->run.restored = words[0];
    return C2_OK;
}
/* The words behind `c2emu`, `c2emu advise`, `c2emu points`, `c2emu replay` or `c2emu restore`. */
static enum c2_status parse_run(struct cli_options *out, int argc, char **argv, struct c2_error *err)
{
    const bool replay = out->action == CLI_REPLAY, restore = out->action == CLI_RESTORE;
    struct cli_parse parse = {.options = out, .replay = replay};
    const struct cli_command *command = replay ? cli_verb("replay") : restore ? out->verb : &cli_run_command;
    const struct cli_taker taker = {&parse, cli_options_take, restore ? take_checkpoint : options_take_program};
    enum c2_status status = cli_options_make_room(out, (size_t)argc, err);
    if (status == C2_OK)
        status = cli_words_take(command, argc, argv, &taker, err);
    cli_options_settle(out);
    if (status == C2_OK)
        status = cli_options_check(out, err);
    out->run.no_sim |= out->run.points.find;
    if (status != C2_OK)
        cli_options_release(out);
    return status;
}

/* c2emu help [VERB], and the like */
static enum c2_status parse_about(struct cli_options *out, int argc, char **argv, struct c2_error *err)
{
    const char *of = out->verb->verb;
    if (argc > 3)
        return c2_fail(err, C2_ERR_INVALID, "%s: one verb at a time: c2emu %s [VERB]", of, of);
    out->verb = NULL;
    return argc == 3 ? cli_verb_named(&out->verb, of, argv[2], err) : C2_OK;
}

enum c2_status cli_options_parse(struct cli_options *out, int argc, char **argv, struct c2_error *err)
{
    *out = (struct cli_options){0};
    session_options_init(&out->run);
    out->verb = argc > 1 ? cli_verb(argv[1]) : NULL;
    out->run.verb = out->verb ? out->verb->verb : NULL;
    out->action = out->verb ? out->verb->action : CLI_RUN;
    out->run.points.find = out->verb && strcmp(out->verb->verb, "points") == 0;
    out->run.explain = out->verb && strcmp(out->verb->verb, "explain") == 0;
    out->run.advise = out->verb && out->action == CLI_RUN && !out->run.points.find && !out->run.explain;
    enum c2_status status = argc > 1 && !out->verb ? cli_verb_check_missing(argv[1], err) : C2_OK;
    argc -= out->verb ? 1 : 0;
    argv += out->verb ? 1 : 0;
    bool help = false;
    if (status == C2_OK)
        status = cli_words_check(out->verb ? out->verb : &cli_run_command, argc, argv, &help, err);
    if (status != C2_OK)
        return status;
    if (out->verb && help)
        out->action = CLI_HELP;
    else if (out->run.explain)
        status = cli_explain_what(out, argc, argv, err);
    if (status != C2_OK)
        return status;
    if (out->action == CLI_HELP && help)
        return C2_OK;
    else if (out->action == CLI_HELP || out->action == CLI_MANUAL || out->action == CLI_COMPLETE)
        return parse_about(out, argc + 1, argv - 1, err);
    else if (out->action == CLI_RUN || out->action == CLI_REPLAY || out->action == CLI_RESTORE)
        return parse_run(out, argc, argv, err);
    return C2_OK; /* a verb's words are its own */
}
