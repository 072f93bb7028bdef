/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The command line, row by row: what is understood, and the message for what is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/cli.h"

#define MAX_WORDS 12

/* Splits at single spaces; argv[0] is c2emu. Returns argc. */
static int split(char *argv[MAX_WORDS + 1], char *line)
{
    int argc = 0;
    argv[argc++] = "c2emu";
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        assert_true(argc < MAX_WORDS);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    return argc;
}

/* The options in the order of the struct, those that are not the default only, then the command. */
static char *describe(const struct cli_options *o)
{
    static char text[512];
    FILE *to = fmemopen(text, sizeof text, "w");
    static const char *const actions[] = {"",         "help",    "manual", "complete", "version", "machine list",
                                          "machines", "pagemap", "diff",   "annotate", "html",    "replay "};
    const bool about = o->verb && (o->action == CLI_HELP || o->action == CLI_MANUAL || o->action == CLI_COMPLETE);
    fprintf(to, "%s%s%s", actions[o->action], about ? " of " : "", about ? o->verb->verb : "");
    for (size_t i = 0; i < o->run.machine_count; i++)
        fprintf(to, "machine=%s ", o->run.machines[i]);
    for (size_t i = 0; i < o->run.vary_count; i++)
        fprintf(to, "vary=%s ", o->run.vary[i]);
    if (o->run.jobs != 0)
        fprintf(to, "jobs=%llu ", (unsigned long long)o->run.jobs);
    for (size_t i = 0; i < o->run.override_count; i++)
        fprintf(to, "set=%s ", o->run.overrides[i]);
    if (strcmp(o->run.pages, "sequential") != 0)
        fprintf(to, "pages=%s ", o->run.pages);
    if (o->run.zero_page)
        fputs("zero-page ", to);
    for (size_t i = 0; i < o->run.place_count; i++)
        fprintf(to, "place=%s ", o->run.places[i]);
    if (o->run.huge != MMU_HUGE_ASKED)
        fprintf(to, "huge=%s ", mmu_huge_name(o->run.huge));
    for (size_t i = 0; i < o->run.huge_region_count; i++)
        fprintf(to, "huge-region=%s ", o->run.huge_regions[i]);
    if (strcmp(o->run.engine, "auto") != 0)
        fprintf(to, "engine=%s ", o->run.engine);
    if (o->run.seed != 1)
        fprintf(to, "seed=%llu ", (unsigned long long)o->run.seed);
    if (o->run.clock_set)
        fprintf(to, "clock=%llu ", (unsigned long long)o->run.clock_start);
    for (size_t i = 0; i < o->run.env_count; i++)
        fprintf(to, "env=%s ", o->run.env[i]);
    if (o->run.output_dir)
        fprintf(to, "output=%s ", o->run.output_dir);
    if (o->run.json)
        fprintf(to, "json=%s ", o->run.json);
    if (o->run.vary_csv)
        fprintf(to, "vary-csv=%s ", o->run.vary_csv);
    if (o->run.json_full)
        fprintf(to, "json-full=%s ", o->run.json_full);
    if (o->run.html)
        fprintf(to, "html=%s ", o->run.html);
    if (o->run.record)
        fprintf(to, "record=%s ", o->run.record);
    if (o->run.format)
        fprintf(to, "format=%s ", o->run.format);
    if (o->run.recording)
        fprintf(to, "recording=%s ", o->run.recording);
    if (o->run.analyses[ANALYSIS_explain])
        fprintf(to, "explain miss=%s %s", o->run.analyses[ANALYSIS_explain], o->run.step ? "step " : "");
    if (o->run.analyses[ANALYSIS_trace])
        fprintf(to, "trace=%s ", o->run.analyses[ANALYSIS_trace]);
    for (unsigned i = 0; i < ANALYSES_SETTING_KINDS; i++)
        if (o->run.settings[i])
            fprintf(to, "%s=%s ", analyses_setting_option((enum analysis_setting)i), o->run.settings[i]);
    const char *const profiles[][2] = {{"callgrind", o->run.analyses[ANALYSIS_callgraph]},
                                       {"evictors", o->run.evictors},
                                       {"cachegrind", o->run.cachegrind},
                                       {"folded", o->run.folded},
                                       {"folded-event", o->run.folded_event},
                                       {"pprof", o->run.pprof},
                                       {"misses", o->run.analyses[ANALYSIS_misses]}};
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        if (profiles[i][1])
            fprintf(to, "%s=%s ", profiles[i][0], profiles[i][1]);
    fprintf(to, "%s%s%s%s%s%s%s", o->run.no_sim ? "no-sim " : "", o->run.analyses[ANALYSIS_fifo] ? "fifo " : "",
            o->run.inherit_env ? "inherit-env " : "", o->run.progress ? "progress " : "", o->run.stats ? "stats " : "",
            o->run.quiet ? "quiet " : "", o->run.verbose ? "verbose " : "");
    if (o->run.perf_map)
        fprintf(to, "perf-map=%s ", o->run.perf_map);
    if (o->run.full)
        fprintf(to, "full ");
    if (o->run.width != 0)
        fprintf(to, "width=%llu ", (unsigned long long)o->run.width);
    if (o->run.color != SESSION_COLOR_AUTO)
        fprintf(to, "color=%s ", o->run.color == SESSION_COLOR_ALWAYS ? "always" : "never");
    for (size_t i = 0; o->run.command && o->run.command[i]; i++)
        fprintf(to, "%s%s", i == 0 ? "run: " : " ", o->run.command[i]);
    fputc('\0', to);
    fclose(to);
    return text;
}

static const struct {
    const char *line, *meaning;
} understood[] = {
    {"./a", "run: ./a"},
    {"./a -m x --json", "run: ./a -m x --json"}, /* options end at PROGRAM */
    {"-- ./a -q", "run: ./a -q"},
    {"-q -- -a", "quiet run: -a"},
    {"-m teach ./a", "machine=teach run: ./a"},
    {"-mteach ./a", "machine=teach run: ./a"},
    {"-m teach -m zen3 --jobs 3 ./a", "machine=teach machine=zen3 jobs=3 run: ./a"},
    {"--vary L2.ways=4,8 --vary pages.seed=1..32 ./a", "vary=L2.ways=4,8 vary=pages.seed=1..32 run: ./a"},
    {"--vary huge=off,all --huge-size 1G ./a", "vary=huge=off,all run: ./a"},
    {"-m teach --against huge ./a", "machine=teach run: ./a"},
    {"--machine teach ./a", "machine=teach run: ./a"},
    {"--machine=teach ./a", "machine=teach run: ./a"},
    {"--mach=teach ./a", "machine=teach run: ./a"}, /* an unambiguous beginning */
    {"--set L2.ways=4 --set L1D.size=16K ./a", "set=L2.ways=4 set=L1D.size=16K run: ./a"},
    {"--cores 4 ./a", "set=cores=4 run: ./a"},
    {"--cores 4 --set L2.ways=4 --cores 2 ./a", "set=L2.ways=4 set=cores=2 run: ./a"},
    {"--set cores=3 --cores=64 ./a", "set=cores=3 set=cores=64 run: ./a"},
    {"--pages random ./a", "pages=random run: ./a"},
    {"--pages=same-color,color=3 ./a", "pages=same-color,color=3 run: ./a"},
    {"--huge off ./a", "run: ./a"},
    {"--huge all --huge-size 1G --dump-pagemap f ./a", "huge=all run: ./a"},
    {"--huge heap ./a", "huge=heap run: ./a"}, /* a word of its own */
    {"--huge heap --huge B --huge off ./a", "huge=heap huge-region=B run: ./a"},
    {"--huge heap --huge thp --huge stack ./a", "huge=thp huge-region=heap huge-region=stack run: ./a"},
    {"--huge thp --huge thp ./a", "huge=thp run: ./a"},
    {"--huge B --huge-size 1G ./a", "huge-region=B run: ./a"},
    {"--place heap=random --place=A=file=x ./a", "place=heap=random place=A=file=x run: ./a"},
    {"--zero-page ./a", "zero-page run: ./a"},
    {"--seed 0x10 ./a", "seed=16 run: ./a"},
    {"--seed 0 ./a", "seed=0 run: ./a"},
    {"--no-sim ./a", "no-sim run: ./a"},
    {"--fifo-detector ./a", "fifo run: ./a"},
    {"--fifo-ways 3 --fifo-detector ./a", "fifo-ways=3 fifo run: ./a"},
    {"--engine auto ./a", "run: ./a"},
    {"--engine unicorn ./a", "engine=unicorn run: ./a"},
    {"--engine other ./a", "engine=other run: ./a"},
    {"-E A=b -EC --env D= ./a", "env=A=b env=C env=D= run: ./a"},
    {"--inherit-env ./a", "inherit-env run: ./a"},
    {"--clock 2024-02-29 ./a", "clock=1709164800 run: ./a"},
    {"--clock 2024-02-29T12:30 ./a", "clock=1709209800 run: ./a"},
    {"--clock=2024-02-29T12:30Z ./a", "clock=1709209800 run: ./a"},
    {"--clock 2024-02-29T12:30:59 ./a", "clock=1709209859 run: ./a"},
    {"--clock 2024-02-29T12:30:59Z ./a", "clock=1709209859 run: ./a"},
    {"--clock 2261-12-31T23:59:59Z ./a", "clock=9214646399 run: ./a"},
    {"--clock @0 ./a", "clock=0 run: ./a"},
    {"--clock @1700000000 ./a", "clock=1700000000 run: ./a"},
    {"-o dir --json j --trace=x.din ./a", "output=dir json=j trace=x.din run: ./a"},
    {"--html h --json j ./a", "json=j html=h run: ./a"},
    {"--json-full f --json j ./a", "json=j json-full=f run: ./a"},
    {"--vary-csv f --vary L2.ways=1,2 ./a", "vary=L2.ways=1,2 vary-csv=f run: ./a"},
    {"replay --json - r", "replay json=- recording=r "},
    {"replay --html h r", "replay html=h recording=r "},
    {"--callgrind a --cachegrind=b --evictors c ./a", "callgrind=a evictors=c cachegrind=b run: ./a"},
    {"--folded a --folded-event Ir --pprof=b --misses c ./a", "folded=a folded-event=Ir pprof=b misses=c run: ./a"},
    {"--perf-map a ./a", "perf-map=a run: ./a"},
    {"--trace a.champsim --trace-addresses physical ./a", "trace=a.champsim trace-addresses=physical run: ./a"},
    {"-qv --stats --progress ./a", "progress stats quiet verbose run: ./a"},
    {"-q --full ./a", "quiet full run: ./a"},
    {"replay --full f", "replay recording=f full "},
    {"--width 80 --color always ./a", "width=80 color=always run: ./a"},
    {"--width=200 --color never --color auto ./a", "width=200 run: ./a"},
    {"replay --width 100 --color never f", "replay recording=f width=100 color=never "},
    {"-qm teach ./a", "machine=teach quiet run: ./a"},
    {"-qo -q ./a", "output=-q quiet run: ./a"},
    {"-h", "help"},
    {"--help", "help"},
    {"-V", "version"},
    {"--version", "version"},
    {"-V -h", "version"}, /* the first wins */
    {"-h -V", "help"},
    {"--list-machines", "machine list"},
    {"machines", "machines"},
    {"machines zen3 --set L2.ways=4", "machines"},
    {"help", "help"},
    {"help diff", "help of diff"},
    {"help help", "help of help"},
    {"diff --help", "help of diff"},
    {"manual", "manual"},
    {"manual diff", "manual of diff"},
    {"complete diff", "complete of diff"},
    {"manual --help", "help of manual"},
    {"diff a -h", "help of diff"},
    {"diff --fail-if --help", "diff"}, /* a value */
    {"diff -- --help", "diff"},
    {"advise --help", "help of advise"},
    {"advise ./a --help", "run: ./a --help"},
    {"explain --help", "help of explain"},
    {"explain --miss 3 --at a.c:4 ./a --step", "explain miss=3 at=a.c:4 run: ./a --step"},
    {"explain --step --level=L2 ./a", "explain miss= step level=L2 run: ./a"},
    {"pagemap 1 -h", "help of pagemap"},
    {"annotate --as -h", "help of annotate"}, /* an unambiguous beginning */
    {"annotate x", "annotate"},
    {"html x -o y", "html"},
    {"-- diff", "run: diff"},
    {"./diff", "run: ./diff"},
    {"--record f ./a", "record=f run: ./a"},
    {"replay f", "replay recording=f "},
    {"replay -m teach f --seed 3 -q", "replay machine=teach seed=3 recording=f quiet "},
    {"replay --format din -", "replay format=din recording=- "},
    {"-q replay", "quiet run: replay"}, /* verbs are first words only */
    {"-- replay", "run: replay"},
    {"./replay", "run: ./replay"},
};

static void words_that_are_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof understood / sizeof understood[0]; i++) {
        char line[256], *argv[MAX_WORDS + 1];
        struct cli_options options;
        struct c2_error err = {0};
        snprintf(line, sizeof line, "%s", understood[i].line);
        int argc = split(argv, line);
        if (cli_options_parse(&options, argc, argv, &err) != C2_OK)
            fail_msg("%s: %s", understood[i].line, err.text);
        assert_string_equal(understood[i].meaning, describe(&options));
        cli_options_release(&options);
    }
}

static const struct {
    const char *line;
    enum c2_status status;
    const char *message;
} refused[] = {
    {"", C2_ERR_INVALID, "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)"},
    {"-q", C2_ERR_INVALID, "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)"},
    {"--", C2_ERR_INVALID, "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)"},
    {"--cores 0 ./a", C2_ERR_INVALID, "--cores 0: must be a number of cores, 1 to 64"},
    {"--cores 65 ./a", C2_ERR_INVALID, "--cores 65: must be a number of cores, 1 to 64"},
    {"--cores all ./a", C2_ERR_INVALID, "--cores all: must be a number of cores, 1 to 64"},
    {"--jobs 0 ./a", C2_ERR_INVALID, "--jobs 0: must be a number of threads, 1 to 1024"},
    {"--jobs 1025 ./a", C2_ERR_INVALID, "--jobs 1025: must be a number of threads, 1 to 1024"},
    {"--jobs few ./a", C2_ERR_INVALID, "--jobs few: must be a number of threads, 1 to 1024"},
    {"--vary L2.ways=4,8 --no-sim ./a", C2_ERR_INVALID,
     "--no-sim simulates no machine to compare; leave it out, or --vary"},
    {"-m teach -m zen3 --no-sim ./a", C2_ERR_INVALID,
     "--no-sim simulates no machine to compare; leave it out, or all -m but one"},
    {"points --vary L2.ways=4,8 ./a", C2_ERR_INVALID, "points simulates no machine; leave out --vary"},
    {"advise --vary L2.ways=4,8 ./a", C2_ERR_INVALID, "advise is for one machine and one placement; leave out --vary"},
    {"-m teach -m zen3 --against huge ./a", C2_ERR_INVALID,
     "--against compares one machine with one other placement, access by access; leave it out (--vary pages=... "
     "compares the counts of several), or all -m but one"},
    {"--machnie x ./a", C2_ERR_INVALID, "unknown option --machnie (did you mean --machine?)"},
    {"--jsn=x ./a", C2_ERR_INVALID, "unknown option --jsn (did you mean --json?)"},
    {"--nosim ./a", C2_ERR_INVALID, "unknown option --nosim (did you mean --no-sim?)"},
    {"--frobnicate ./a", C2_ERR_INVALID, "unknown option --frobnicate (see c2emu --help)"},
    {"--s ./a", C2_ERR_INVALID, "option --s is ambiguous (see c2emu --help)"},
    {"-x ./a", C2_ERR_INVALID, "unknown option -x (see c2emu --help)"},
    {"-qx ./a", C2_ERR_INVALID, "unknown option -x (see c2emu --help)"},
    {"--width 79 ./a", C2_ERR_INVALID, "--width 79: must be a number of columns, 80 to 200"},
    {"--width 201 ./a", C2_ERR_INVALID, "--width 201: must be a number of columns, 80 to 200"},
    {"--width wide ./a", C2_ERR_INVALID, "--width wide: must be a number of columns, 80 to 200"},
    {"--quiet=1 ./a", C2_ERR_INVALID, "option --quiet takes no value"},
    {"--machine", C2_ERR_INVALID, "option --machine needs a value: --machine=NAME|FILE"},
    {"-q -o", C2_ERR_INVALID, "option --output needs a value: --output=DIR"},
    {"--seed 12x ./a", C2_ERR_INVALID, NULL},
    {"--seed -1 ./a", C2_ERR_INVALID, NULL},
    {"--clock 2023-02-29 ./a", C2_ERR_INVALID,
     "--clock 2023-02-29: no date; give one of UTC, as 2024-02-29, 2024-02-29T12:30 or 2024-02-29T12:30:00Z, or "
     "@SECONDS since 1970"},
    {"--clock yesterday ./a", C2_ERR_INVALID, NULL},
    {"--clock 2024-02-29T12 ./a", C2_ERR_INVALID, NULL},
    {"--clock 2024-2-9 ./a", C2_ERR_INVALID, NULL},
    {"--clock 2024-02-29T24:00 ./a", C2_ERR_INVALID, NULL},
    {"--clock 2024-02-29T12:30+01:00 ./a", C2_ERR_INVALID, NULL},
    {"--clock 2024-02-29Z ./a", C2_ERR_INVALID, NULL},
    {"--clock @12s ./a", C2_ERR_INVALID, NULL},
    {"--clock @ ./a", C2_ERR_INVALID, NULL},
    {"--clock 1969-12-31 ./a", C2_ERR_INVALID, "--clock 1969-12-31: give a date from 1970-01-01 to 2261-12-31"},
    {"--clock 2262-01-01 ./a", C2_ERR_INVALID, "--clock 2262-01-01: give a date from 1970-01-01 to 2261-12-31"},
    {"--clock @18446744073709551615 ./a", C2_ERR_INVALID,
     "--clock @18446744073709551615: give a date from 1970-01-01 to 2261-12-31"},
    {"--huge off --huge all ./a", C2_ERR_INVALID, "--huge off and --huge all contradict each other"},
    {"--huge all --huge-size 4M ./a", C2_ERR_INVALID, NULL},
    {"--huge thp --huge-size 2M ./a", C2_ERR_INVALID,
     "--huge-size is the size of the pages of --huge all, --huge REGION or --against huge; add one"},
    {"--huge-size 1G --against random ./a", C2_ERR_INVALID,
     "--huge-size is the size of the pages of --huge all, --huge REGION or --against huge; add one"},
    {"--json f --trace t --dump-pagemap f ./a", C2_ERR_INVALID,
     "--json and --dump-pagemap are both to write f; give each a file of its own"},
    {"--skip 5x ./a", C2_ERR_INVALID, "--skip 5x: must be a number, with k, M or G for powers of 1000"},
    {"--skip G ./a", C2_ERR_INVALID, "--skip G: must be a number, with k, M or G for powers of 1000"},
    {"--skip 2000000000G ./a", C2_ERR_INVALID, "--skip 2000000000G: must be 0 to 10^18"},
    {"--measure 0 ./a", C2_ERR_INVALID, "--measure 0: must be 1 to 10^18"},
    {"--samples 3 ./a", C2_ERR_INVALID, "--samples needs to know how long a sample is; add --measure N"},
    {"--precision 3 ./a", C2_ERR_INVALID, "--precision is of samples; add --period N, or --measure N and --samples K"},
    {"--measure 9 --precision 0 ./a", C2_ERR_INVALID,
     "--precision 0: must be per cent, 0.001 to 100, such as 3 or 0.5"},
    {"--measure 9 --precision 1.2.3 ./a", C2_ERR_INVALID,
     "--precision 1.2.3: must be per cent, 0.001 to 100, such as 3 or 0.5"},
    {"--roi main --from f ./a", C2_ERR_INVALID, "--roi and --from both say what is measured; leave one out"},
    {"--roi main --to f ./a", C2_ERR_INVALID, "--roi and --to both say what is measured; leave one out"},
    {"--roi main --no-sim ./a", C2_ERR_INVALID,
     "--roi says what is measured, and --no-sim measures nothing; leave one out"},
    {"advise --from main ./a", C2_ERR_INVALID, "advise plays the whole run; leave --from out"},
    {"--from f.c:0 ./a", C2_ERR_INVALID, "--from f.c:0: must be SYMBOL[:N], 0xADDRESS[:N] or FILE:LINE[:N]"},
    {"--to f:0 ./a", C2_ERR_INVALID, "--to f:0: arrivals at a place are counted from 1"},
    {"--to f.c:7:0 ./a", C2_ERR_INVALID, "--to f.c:7:0: arrivals at a place are counted from 1"},
    {"--requests instr-atstart=on ./a", C2_ERR_INVALID,
     "--requests instr-atstart=on: unknown value (did you mean \"instr-atstart=no\"?)"},
    {"--requests yes --against random ./a", C2_ERR_INVALID,
     "--against cannot drop what was counted, which the program may request; leave --requests out"},
    {"--requests yes,no ./a", C2_ERR_INVALID, NULL},
    {"--warm none ./a", C2_ERR_INVALID,
     "--warm says what becomes of what is not measured; add --roi, --from, --to or --skip"},
    {"--warm nome --roi f ./a", C2_ERR_INVALID, "--warm nome: unknown value (did you mean \"none\"?)"},
    {"report x", C2_ERR_UNSUPPORTED,
     "`c2emu report` is not available in this version; a program of that name is run by `c2emu -- report` or as "
     "./report"},
    {"replay", C2_ERR_INVALID,
     "replay: no recording given: c2emu replay [OPTION]... FILE (- is standard input; see c2emu help replay)"},
    {"replay a b", C2_ERR_INVALID, "replay: one file at a time: a, and then b"},
    {"replay a --env X=1", C2_ERR_INVALID,
     "replay takes no --env: it says how a program runs, which is decided when it is recorded; record the run with it"},
    {"replay --skip 5 a", C2_ERR_INVALID,
     "replay takes no --skip: a recording has what was recorded; record the samples: c2emu --record FILE --skip N ..."},
    {"replay --engine unicorn a", C2_ERR_INVALID, "replay takes no --engine: nothing is executed"},
    {"replay --clock @5 a", C2_ERR_INVALID, NULL},
    {"replay --no-sim a", C2_ERR_INVALID, "replay takes no --no-sim: there is no program to run without it"},
    {"replay --no-attribution --callgrind f a", C2_ERR_INVALID,
     "--callgrind tells which instruction missed, which --no-attribution does not note; leave one out"},
    {"--format din ./a", C2_ERR_INVALID, "--format belongs to `c2emu replay`"},
    {"--record - ./a", C2_ERR_INVALID,
     "--record -: the program writes to standard output as well; name a file, or another descriptor, as in "
     "--record /dev/fd/3 3>&1 >/dev/null"},
    {"--json - ./a", C2_ERR_INVALID,
     "--json -: the program writes to standard output as well; name a file, or another descriptor, as in "
     "--json /dev/fd/3 3>&1 >/dev/null"},
    {"restore --callgrind - k", C2_ERR_INVALID,
     "--callgrind -: the program writes to standard output as well; name a file, or another descriptor, as in "
     "--callgrind /dev/fd/3 3>&1 >/dev/null"},
    {"--record f --json f ./a", C2_ERR_INVALID, "--json and --record are both to write f; give each a file of its own"},
    {"advise --record f ./a", C2_ERR_INVALID,
     "advise keeps no recording; run the program with --record FILE by itself"},
    {"machines --kyes", C2_ERR_INVALID, "machines: unknown option --kyes (did you mean --keys?)"},
    {"complete dif", C2_ERR_INVALID, "complete: there is no verb \"dif\" (did you mean \"diff\"?)"},
    {"manual a b", C2_ERR_INVALID, "manual: one verb at a time: c2emu manual [VERB]"},
    {"help dif", C2_ERR_INVALID, "help: there is no verb \"dif\" (did you mean \"diff\"?)"},
    {"help diff pagemap", C2_ERR_INVALID, "help: one verb at a time: c2emu help [VERB]"},
    {"diff --brief a b", C2_ERR_INVALID, "diff: unknown option --brief (see c2emu help diff)"},
    {"diff -r a b", C2_ERR_INVALID, "diff: unknown option -r (see c2emu help diff)"},
    {"diff a b --fail-if", C2_ERR_INVALID, "diff: option --fail-if needs a value: --fail-if=CONDITION"},
    {"diff a b --all=1", C2_ERR_INVALID, "diff: option --all takes no value"},
    {"annotate --evnt x f", C2_ERR_INVALID, "annotate: unknown option --evnt (did you mean --event?)"},
    {"annotate f -I", C2_ERR_INVALID, "annotate: option --include needs a value: --include=DIR"},
    {"pagemap --all", C2_ERR_INVALID, "pagemap: unknown option --all (see c2emu help pagemap)"},
    {"advise --brief ./a", C2_ERR_INVALID, "advise: unknown option --brief (see c2emu help advise)"},
    {"report", C2_ERR_UNSUPPORTED, NULL},
    {"advise", C2_ERR_INVALID, "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)"},
    {"advise --no-sim ./a", C2_ERR_INVALID, "advise needs the misses that --no-sim leaves out; leave it out"},
    {"advise --no-findings ./a", C2_ERR_INVALID, "advise tries the remedies of findings; leave --no-findings out"},
    {"advise --no-attribution ./a", C2_ERR_INVALID,
     "advise needs the misses that --no-attribution leaves out; leave it out"},
    {"advise --full ./a", C2_ERR_INVALID, "advise has a report of its own, which is always whole; leave --full out"},
    {"advise --html h ./a", C2_ERR_INVALID, "advise has a report of its own, and no page of it; leave --html out"},
    {"--html h --no-sim ./a", C2_ERR_INVALID, "--html shows the caches that --no-sim leaves out; leave one out"},
    {"--json-full f --json f ./a", C2_ERR_INVALID,
     "--json and --json-full are both to write f; give each a file of its own"},
    {"--html f --json f ./a", C2_ERR_INVALID, "--json and --html are both to write f; give each a file of its own"},
    {"--html - ./a", C2_ERR_INVALID,
     "--html -: the program writes to standard output as well; name a file, or another descriptor, as in "
     "--html /dev/fd/3 3>&1 >/dev/null"},
    {"advise --against random ./a", C2_ERR_INVALID, "advise compares placements by itself; leave --against out"},
    {"advise --vary-csv d ./a", C2_ERR_INVALID, "advise has one machine; leave --vary-csv out"},
    {"--no-sim --vary-csv d ./a", C2_ERR_INVALID,
     "--vary-csv needs the references that --no-sim does not record; leave one out"},
    {"advise --json-full d ./a", C2_ERR_INVALID,
     "advise has one report, which --json writes whole; leave --json-full out"},
    {"advise -o d ./a", C2_ERR_INVALID, "advise has one report; write it with --json FILE and leave --output out"},
    {"advise --pages file=m ./a", C2_ERR_UNSUPPORTED,
     "advise moves objects to pages that a map does not know; use another --pages than file=m"},
    {"--dim A=64 ./a", C2_ERR_INVALID, "--dim belongs to `c2emu advise`"},
    {"--miss 3 ./a", C2_ERR_INVALID, "--miss belongs to `c2emu explain`"},
    {"--step ./a", C2_ERR_INVALID, "--step belongs to `c2emu explain`"},
    {"--level L2 ./a", C2_ERR_INVALID, "--level belongs to --miss; add that, or leave it out"},
    {"explain --no-sim ./a", C2_ERR_INVALID,
     "--miss needs the references that --no-sim does not record; leave one out"},
    {"explain -m teach -m zen3 ./a", C2_ERR_INVALID,
     "explain is for one machine and one placement; leave out all -m but one"},
    {"explain --sets ./a", C2_ERR_INVALID, "explain has a report of its own, without what --sets finds; leave it out"},
    {"explain --record f ./a", C2_ERR_INVALID, "explain writes its story alone; leave --record out"},
    {"points", C2_ERR_INVALID, "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)"},
    {"points --json-full x ./a", C2_ERR_INVALID, "points simulates nothing; leave --json-full out"},
    {"points --json x ./a", C2_ERR_INVALID, "points simulates nothing; leave --json out"},
    {"points --html x ./a", C2_ERR_INVALID, "points simulates nothing; leave --html out"},
    {"points --full ./a", C2_ERR_INVALID, "points simulates nothing; leave --full out"},
    {"points --width 90 ./a", C2_ERR_INVALID, "points simulates nothing; leave --width out"},
    {"points --color never ./a", C2_ERR_INVALID, "points simulates nothing; leave --color out"},
    {"points --pages random ./a", C2_ERR_INVALID, "points simulates nothing; leave --pages out"},
    {"--huge-size 3M ./a", C2_ERR_INVALID, "--huge-size 3M: unknown value (did you mean \"2M\"?)"},
    {"--measure 1 --offsets randm ./a", C2_ERR_INVALID, "--offsets randm: unknown value (did you mean \"random\"?)"},
    {"replay --format dinn -", C2_ERR_INVALID, "--format dinn: unknown value (did you mean \"din\"?)"},
    {"points --from-bbv x ./a", C2_ERR_INVALID, "--from-bbv x takes the place of a run; leave it out, or ./a"},
    {"--points p ./a", C2_ERR_INVALID,
     "--points p does not say how long an interval is; add --interval N, with the N that the points are of"},
    {"--points p --interval 2k --skip 1 ./a", C2_ERR_INVALID,
     "--points says which samples there are, and what each stands for; leave it out, or --skip"},
    {"--weights w ./a", C2_ERR_INVALID, "--weights w belongs to --points FILE"},
    {"--max-k 3 ./a", C2_ERR_INVALID, "--max-k belongs to `c2emu points`"},
    {"report", C2_ERR_UNSUPPORTED, NULL},
    {"--root d --checkpoint f --checkpoint-at 9 ./a", C2_ERR_INVALID,
     "--checkpoint keeps files by their paths on the host, and --root gives them others; leave one out"},
    {"--writable d ./a", C2_ERR_INVALID, "--writable d: without --sandbox the program may write anywhere; add it"},
    {"replay --sandbox a", C2_ERR_INVALID,
     "replay takes no --sandbox: it says how a program runs, which is decided when it is recorded; record the run with "
     "it"},
    {"--no-sim --fifo-detector ./a", C2_ERR_INVALID,
     "--fifo-detector needs the caches that --no-sim leaves out; leave one out"},
    {"--no-sim --windows 5 ./a", C2_ERR_INVALID,
     "--windows needs the references that --no-sim does not record; leave one out"},
    {"--windows-csv x ./a", C2_ERR_INVALID, "--windows-csv belongs to --windows; add that, or leave it out"},
    {"--windows 5 --windows-csv x --json x ./a", C2_ERR_INVALID,
     "--json and --windows-csv are both to write x; give each a file of its own"},
    {"advise --windows 5 ./a", C2_ERR_INVALID,
     "advise has a report of its own, without what --windows finds; leave it out"},
    {"--fifo-ways 3 ./a", C2_ERR_INVALID, "--fifo-ways belongs to --fifo-detector; add that, or leave it out"},
    {"--no-sim --trace x ./a", C2_ERR_INVALID,
     "--trace needs the references that --no-sim does not record; leave one out"},
    {"--no-sim --callgrind x ./a", C2_ERR_INVALID,
     "--callgrind needs the references that --no-sim does not record; leave one out"},
    {"--evictors x --no-sim ./a", C2_ERR_INVALID,
     "--evictors needs the references that --no-sim does not record; leave one out"},
    {"--folded x --no-sim ./a", C2_ERR_INVALID,
     "--folded needs the references that --no-sim does not record; leave one out"},
    {"--perf-map a --no-sim ./a", C2_ERR_INVALID,
     "--perf-map names what is counted, and --no-sim counts nothing; leave one out"},
    {"--collect-jumps ./a", C2_ERR_INVALID, "--collect-jumps belongs to --callgrind; add that, or leave it out"},
    {"--folded-event Ir ./a", C2_ERR_INVALID, "--folded-event belongs to --folded; add that, or leave it out"},
    {"--pprof a --folded a ./a", C2_ERR_INVALID,
     "--folded and --pprof are both to write a; give each a file of its own"},
    {"--trace-addresses virtual ./a", C2_ERR_INVALID,
     "--trace-addresses belongs to --trace; add that, or leave it out"},
    {"--skip 5 --pprof x ./a", C2_ERR_INVALID,
     "--pprof follows every call, also of what is not measured; add --warm functional"},
    {"--cachegrind x --no-sim ./a", C2_ERR_INVALID,
     "--cachegrind needs the references that --no-sim does not record; leave one out"},
    {"--callgrind x --no-attribution ./a", C2_ERR_INVALID,
     "--callgrind tells which instruction missed, which --no-attribution does not note; leave one out"},
    {"--no-attribution --evictors x ./a", C2_ERR_INVALID,
     "--evictors tells which instruction missed, which --no-attribution does not note; leave one out"},
    {"--no-attribution --cachegrind x ./a", C2_ERR_INVALID,
     "--cachegrind tells which instruction missed, which --no-attribution does not note; leave one out"},
};

static void words_that_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char line[256], *argv[MAX_WORDS + 1];
        struct cli_options options;
        struct c2_error err = {0};
        snprintf(line, sizeof line, "%s", refused[i].line);
        int argc = split(argv, line);
        enum c2_status status = cli_options_parse(&options, argc, argv, &err);
        if (status != refused[i].status)
            fail_msg("%s: status %d, %s", refused[i].line, status, err.text);
        if (refused[i].message)
            assert_string_equal(refused[i].message, err.text);
        assert_int_not_equal('\0', err.text[0]);
    }
}

/* An empty word is no program. */
static void an_empty_program(void **state)
{
    (void)state;
    char *argv[] = {"c2emu", "-q", "", NULL};
    struct cli_options options;
    struct c2_error err;
    assert_int_equal(C2_ERR_INVALID, cli_options_parse(&options, 3, argv, &err));
}

static char *help_of(const struct cli_command *verb)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    cli_help(to, verb);
    fclose(to);
    return text;
}

/* Every option that can be used stands in the help, every one that cannot does not. */
static void the_help(void **state)
{
    (void)state;
    static const char *const shown[] = {"--machine=NAME|FILE",
                                        "--set=LEVEL.KEY=VALUE",
                                        "--pages=POLICY",
                                        "--place=REGION=POLICY",
                                        "--huge=off|never|thp|all|REGION",
                                        "--huge-size=2M|1G",
                                        "--zero-page",
                                        "--dump-pagemap=FILE",
                                        "--seed=N",
                                        "--clock=DATE|@SECONDS",
                                        "--no-sim",
                                        "--fifo-detector",
                                        "--fifo-ways=N",
                                        "--engine=NAME",
                                        "--env=NAME[=VALUE]",
                                        "--inherit-env",
                                        "--output=DIR",
                                        "--json=FILE",
                                        "--html=FILE",
                                        "--roi=FUNCTION",
                                        "--from=PLACE",
                                        "--to=PLACE",
                                        "--requests=yes|...",
                                        "--warm=HOW",
                                        "--trace=FILE",
                                        "--callgrind=FILE",
                                        "--evictors=FILE",
                                        "--cachegrind=FILE",
                                        "--quiet",
                                        "--full",
                                        "--width=N",
                                        "--color=auto|always|never",
                                        "--progress",
                                        "--stats",
                                        "--verbose",
                                        "--version",
                                        "--help",
                                        "--list-machines",
                                        "Usage: c2emu [OPTION...] [--] PROGRAM [ARG]..."};
    char *text = help_of(NULL);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        if (!strstr(text, shown[i]))
            fail_msg("not in the help: %s\n%s", shown[i], text);
    }
    free(text);
}

/* Each verb's has its usage, its options and how a program of its name is run; c2emu's has a line for each verb. */
static void the_help_of_verbs(void **state)
{
    (void)state;
    static const char *const shown[][4] = {
        {"explain", "Usage: c2emu explain [OPTION...] REPORT.json|RECORDING|[--] PROGRAM [ARG]...", "--at=FILE:LINE"},
        {"advise", "Usage: c2emu advise [OPTION...] [--] PROGRAM [ARG]...", "--dim=OBJECT=ROWBYTES"},
        {"annotate", "Usage: c2emu annotate [OPTION...] FILE", "--event=NAME", "-I, --include=DIR"},
        {"diff", "Usage: c2emu diff [OPTION...] A.json B.json", "--fail-if=CONDITION", "--all"},
        {"help", "Usage: c2emu help [OPTION...] [VERB]"},
        {"html", "Usage: c2emu html [OPTION...] REPORT.json [OTHER.json] -o FILE", "-o, --output=FILE",
         "-I, --include=DIR"},
        {"pagemap", "Usage: c2emu pagemap [OPTION...] PID [FILE]"}};
    char *all = help_of(NULL);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        const struct cli_command *verb = cli_verb(shown[i][0]);
        char line[128], *text = help_of(verb);
        for (size_t k = 1; k < 4 && shown[i][k]; k++)
            assert_non_null(strstr(text, shown[i][k]));
        snprintf(line, sizeof line, "A program called %s is run by `c2emu -- %s`", verb->verb, verb->verb);
        assert_non_null(strstr(text, line));
        snprintf(line, sizeof line, "\n  c2emu %-8s  %s\n", verb->verb, verb->summary);
        assert_non_null(strstr(all, line));
        free(text);
    }
    free(all);
    assert_null(cli_verb("dif"));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char *argv[] = {"c2emu", "--set", "L2.ways=4", "-E", "A=b", "./a", NULL};
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct cli_options options;
        struct c2_error err;
        c2_alloc_fail_from(n);
        status = cli_options_parse(&options, 6, argv, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK ? n == 13 : status == C2_ERR_NO_MEMORY);
        if (status == C2_OK)
            cli_options_release(&options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_are_understood), cmocka_unit_test(words_that_are_refused),
        cmocka_unit_test(an_empty_program),          cmocka_unit_test(the_help),
        cmocka_unit_test(the_help_of_verbs),         cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
