/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * replay_words: which options of a run are for `c2emu replay`, and why others are not.
 *
 * Model
 *   Whatever says how a stream is simulated and what is written of it is, analyses among them. Whatever says how the
 *   program runs has been decided when it was recorded; an option that is not named here is taken for one of those.
 */
#include <string.h>

#include "cli/cli.h"

static const char *const taken[] = {"machine",
                                    "set",
                                    "cores",
                                    "pages",
                                    "place",
                                    "huge",
                                    "huge-size",
                                    "zero-page",
                                    "seed",
                                    "output",
                                    "json",
                                    "json-full",
                                    "html",
                                    "quiet",
                                    "full",
                                    "width",
                                    "color",
                                    "format",
                                    "help",
                                    "dump-pagemap",
                                    "evictors",
                                    "cachegrind",
                                    "folded",
                                    "perf-map",
                                    "folded-event",
                                    "pprof",
                                    "stats",
                                    "progress",
                                    "vary",
                                    "vary-csv",
                                    "jobs",
                                    "version",
                                    "list-machines",
                                    "precision",
                                    "separate-par",
                                    "separate-callers",
                                    "separate-recs",
                                    "separate-threads",
#define X(name, option, argument, help) option,
                                    ANALYSES(X)
#undef X
#define X(name, analysis, option, argument, help) option,
                                        ANALYSES_SETTINGS(X)
#undef X
};

static const struct {
    const char *option, *why;
} refused[] = {
    {"no-sim", "there is no program to run without it"},
    {"record", "copy the file instead"},
    {"dim", "it belongs to `c2emu advise`"},
    {"verbose", "the system calls were made when it was recorded"},
    {"engine", "nothing is executed"},
    {"cpu", "nothing is executed"},
    {"follow", "a recording is of one program"},
    {"skip", "a recording has what was recorded; record the samples: c2emu --record FILE --skip N ..."},
    {"start", "record the samples: c2emu --record FILE --start N ..."},
    {"warmup", "record the samples: c2emu --record FILE --warmup N ..."},
    {"measure", "record the samples: c2emu --record FILE --measure N ..."},
};

enum c2_status cli_replay_takes(const char *option, struct c2_error *err)
{
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(option, taken[i]) == 0)
            return C2_OK;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (strcmp(option, refused[i].option) == 0)
            return c2_fail(err, C2_ERR_INVALID, "replay takes no --%s: %s", option, refused[i].why);
    return c2_fail(err, C2_ERR_INVALID,
                   "replay takes no --%s: it says how a program runs, which is decided when it is recorded; record the "
                   "run with it",
                   option);
}
