/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * options_check: which options go together.
 */
#include <string.h>

#include "cli/options_priv.h"

/* The analyses that files are written of. */
static const enum analysis_number with_files[] = {
#define X(name, option, argument, help) ANALYSIS_##name,
    ANALYSES_OF_FILES(X)
#undef X
};
#define WITH_FILES (sizeof with_files / sizeof with_files[0])

/* The settings that are files, and an end. */
static const enum analysis_setting files_of_settings[] = {
#define X(name, analysis, option, argument, help) ANALYSES_SETTING_##name,
    ANALYSES_SETTINGS_OF_FILES(X)
#undef X
        ANALYSES_SETTING_KINDS};
#define SETTING_FILES (sizeof files_of_settings / sizeof files_of_settings[0] - 1)

static enum c2_status fail_unrecorded(const char *option, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID, "--%s needs the references that --no-sim does not record; leave one out",
                   option);
}

/* Files of references, and profiles, which are of instructions: what they cost, whose lines they took. */
static enum c2_status check_profiles(const struct cli_options *options, struct c2_error *err)
{
    const char *const profiles[][2] = {{"callgrind", options->run.analyses[ANALYSIS_callgraph]},
                                       {"evictors", options->run.evictors},
                                       {"cachegrind", options->run.cachegrind},
                                       {"folded", options->run.folded},
                                       {"pprof", options->run.pprof}};
    if (options->run.perf_map && options->run.no_sim)
        return c2_fail(err, C2_ERR_INVALID,
                       "--perf-map names what is counted, and --no-sim counts nothing; leave one out");
    if (options->run.folded_event && !options->run.folded)
        return c2_fail(err, C2_ERR_INVALID, "--folded-event belongs to --folded; add that, or leave it out");
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (profiles[i][1] && options->run.no_sim)
            return fail_unrecorded(profiles[i][0], err);
        if (profiles[i][1] && options->run.analyses[ANALYSIS_profile])
            return c2_fail(err, C2_ERR_INVALID,
                           "--%s tells which instruction missed, which --no-attribution does not note; leave one out",
                           profiles[i][0]);
    }
    const char *const callgrind = options->run.analyses[ANALYSIS_callgraph];
    const bool jumps = options->run.analyses[ANALYSIS_jumps], writebacks = options->run.analyses[ANALYSIS_writebacks];
    if ((jumps && !callgrind) || (writebacks && !callgrind && !options->run.cachegrind))
        return c2_fail(err, C2_ERR_INVALID, "--%s belongs to --%s; add that, or leave it out",
                       analyses_option(jumps ? ANALYSIS_jumps : ANALYSIS_writebacks),
                       analyses_option(ANALYSIS_callgraph));
    if ((jumps || writebacks) && session_contexts_asked(&options->run.separate))
        return c2_fail(err, C2_ERR_INVALID, "--%s does not tell contexts apart, as --%s does; leave one out",
                       analyses_option(jumps ? ANALYSIS_jumps : ANALYSIS_writebacks),
                       session_contexts_option(&options->run.separate));
    return C2_OK;
}

/* What an analysis needs is not switched off; its settings need it. */
static enum c2_status check_analyses(const struct cli_options *options, struct c2_error *err)
{
    for (unsigned i = 0; i < ANALYSES_KINDS; i++) {
        const struct analysis_kind *kind = analyses_kind_of((enum analysis_number)i);
        if (!options->run.analyses[i] || kind->on_without_option)
            continue;
        if (options->run.no_sim)
            return fail_unrecorded(analyses_option((enum analysis_number)i), err);
        if ((kind->needs >> ANALYSIS_profile & 1) != 0 && options->run.analyses[ANALYSIS_profile])
            return c2_fail(
                err, C2_ERR_INVALID,
                "--%s tells of instructions and objects, which --no-attribution does not note; leave one out",
                analyses_option((enum analysis_number)i));
    }
    for (unsigned i = 0; i < ANALYSES_SETTING_KINDS; i++) {
        const enum analysis_number of = analyses_setting_of((enum analysis_setting)i);
        if (options->run.settings[i] && !options->run.analyses[of])
            return c2_fail(err, C2_ERR_INVALID, "--%s belongs to --%s; add that, or leave it out",
                           analyses_setting_option((enum analysis_setting)i), analyses_option(of));
    }
    return C2_OK;
}

struct named_file {
    const char *option, *path;
};

/* Standard output is the program's, too, and a file among what that writes is neither's. */
static enum c2_status check_stream(const struct cli_options *options, const struct named_file *file,
                                   struct c2_error *err)
{
    const bool runs = options->action != CLI_REPLAY && !options->run.points.vectors_from;
    if (!runs || !file->path || strcmp(file->path, "-") != 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID,
                   "--%s -: the program writes to standard output as well; name a file, or another descriptor, as in "
                   "--%s /dev/fd/3 3>&1 >/dev/null",
                   file->option, file->option);
}

/* The one that is finished last would take the place of the other. */
static enum c2_status options_check_pair(const struct named_file *a, const struct named_file *b, struct c2_error *err)
{
    if (!a->path || !b->path || strcmp(a->path, b->path) != 0 || strcmp(a->path, "/dev/null") == 0 ||
        strcmp(a->option, b->option) == 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--%s and --%s are both to write %s; give each a file of its own", a->option,
                   b->option, a->path);
}

static enum c2_status check_files(const struct cli_options *options, struct c2_error *err)
{
    const struct named_file others[] = {{"json", options->run.json},
                                        {"json-full", options->run.json_full},
                                        {"html", options->run.html},
                                        {"vary-csv", options->run.vary_csv},
                                        {"checkpoint", options->run.checkpoint},
                                        {"dump-pagemap", options->run.dump_pagemap},
                                        {"record", options->run.record},
                                        {"bbv", options->run.points.vectors_to},
                                        {"callgrind", options->run.analyses[ANALYSIS_callgraph]},
                                        {"evictors", options->run.evictors},
                                        {"cachegrind", options->run.cachegrind},
                                        {"folded", options->run.folded},
                                        {"pprof", options->run.pprof}};
    enum { OTHERS = sizeof others / sizeof others[0] };
    struct named_file files[OTHERS + WITH_FILES + SETTING_FILES];
    enum c2_status status = C2_OK;
    memcpy(files, others, sizeof others);
    for (size_t i = 0; i < WITH_FILES; i++)
        files[OTHERS + i] = (struct named_file){analyses_option(with_files[i]), options->run.analyses[with_files[i]]};
    for (size_t i = 0; files_of_settings[i] != ANALYSES_SETTING_KINDS; i++)
        files[OTHERS + WITH_FILES + i] = (struct named_file){analyses_setting_option(files_of_settings[i]),
                                                             options->run.settings[files_of_settings[i]]};
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == C2_OK; i++) {
        status = check_stream(options, &files[i], err);
        for (size_t k = 0; k < i && status == C2_OK; k++)
            status = options_check_pair(&files[k], &files[i], err);
    }
    return status;
}

/* The analyses that the report of a run shows, and nothing else; findings have what reuse measures. */
#define X(name, option, argument, help) | 1u << ANALYSIS_##name
static const unsigned shown_alone = (0 ANALYSES_OF_RUN(X)) &
                                    ~(1u << ANALYSIS_profile | 1u << ANALYSIS_reuse | 1u << ANALYSIS_explain);
#undef X

/* What `explain` needs, and what only it takes. */
static enum c2_status check_explain(const struct cli_options *options, struct c2_error *err)
{
    const char *own = options->run.analyses[ANALYSIS_explain] ? analyses_option(ANALYSIS_explain)
                      : options->run.step                     ? "step"
                                                              : NULL;
    if (!options->run.explain && own)
        return c2_fail(err, C2_ERR_INVALID, "--%s belongs to `c2emu explain`", own);
    if (!options->run.explain)
        return C2_OK;
    if (options->run.no_sim || options->run.analyses[ANALYSIS_profile])
        return c2_fail(err, C2_ERR_INVALID, "explain needs the misses that --no-%s leaves out; leave it out",
                       options->run.no_sim ? "sim" : "attribution");
    if (options->run.analyses[ANALYSIS_against])
        return c2_fail(err, C2_ERR_INVALID, "explain is for one placement; leave --against out");
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        if (options->run.analyses[i] && i != ANALYSIS_explain &&
            !analyses_kind_of((enum analysis_number)i)->on_without_option)
            return c2_fail(err, C2_ERR_INVALID,
                           "explain has a report of its own, without what --%s finds; leave it out",
                           analyses_option((enum analysis_number)i));
    if (options->run.output_dir)
        return c2_fail(err, C2_ERR_INVALID, "explain has one report; write it with --json FILE and leave --output out");
    if (options->run.full)
        return c2_fail(err, C2_ERR_INVALID, "explain has a report of its own, which is always whole; leave --full out");
    if (options->run.record || options->run.evictors || options->run.cachegrind)
        return c2_fail(err, C2_ERR_INVALID, "explain writes its story alone; leave --%s out",
                       options->run.record     ? "record"
                       : options->run.evictors ? "evictors"
                                               : "cachegrind");
    return C2_OK;
}

/* What `advise` needs, and what only it takes. */
static enum c2_status check_advise(const struct cli_options *options, struct c2_error *err)
{
    if (!options->run.advise && options->run.dim_count != 0)
        return c2_fail(err, C2_ERR_INVALID, "--dim belongs to `c2emu advise`");
    if (!options->run.advise)
        return C2_OK;
    if (options->run.html)
        return c2_fail(err, C2_ERR_INVALID, "advise has a report of its own, and no page of it; leave --html out");
    if (options->run.no_sim || options->run.analyses[ANALYSIS_profile])
        return c2_fail(err, C2_ERR_INVALID, "advise needs the misses that --no-%s leaves out; leave it out",
                       options->run.no_sim ? "sim" : "attribution");
    if (options->run.analyses[ANALYSIS_excerpts])
        return c2_fail(err, C2_ERR_INVALID, "advise tries the remedies of findings; leave --no-findings out");
    if (options->run.analyses[ANALYSIS_against])
        return c2_fail(err, C2_ERR_INVALID, "advise compares placements by itself; leave --against out");
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        if (options->run.analyses[i] && (shown_alone >> i & 1) != 0)
            return c2_fail(err, C2_ERR_INVALID, "advise has a report of its own, without what --%s finds; leave it out",
                           analyses_option((enum analysis_number)i));
    if (options->run.output_dir)
        return c2_fail(err, C2_ERR_INVALID, "advise has one report; write it with --json FILE and leave --output out");
    if (options->run.vary_csv)
        return c2_fail(err, C2_ERR_INVALID, "advise has one machine; leave --vary-csv out");
    if (options->run.json_full)
        return c2_fail(err, C2_ERR_INVALID, "advise has one report, which --json writes whole; leave --json-full out");
    if (options->run.full)
        return c2_fail(err, C2_ERR_INVALID, "advise has a report of its own, which is always whole; leave --full out");
    if (strncmp(options->run.pages, "file", 4) == 0)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "advise moves objects to pages that a map does not know; use another "
                       "--pages than %s",
                       options->run.pages);
    return C2_OK;
}

/* `advise` keeps a recording that is gone with it. */
static enum c2_status options_check_record(const struct cli_options *options, struct c2_error *err)
{
    if (options->run.format && options->action != CLI_REPLAY)
        return c2_fail(err, C2_ERR_INVALID, "--format belongs to `c2emu replay`");
    if (!options->run.record)
        return C2_OK;
    if (options->run.points.find)
        return c2_fail(err, C2_ERR_INVALID, "points records nothing; run the program with --record FILE by itself");
    if (options->run.advise)
        return c2_fail(err, C2_ERR_INVALID, "advise keeps no recording; run the program with --record FILE by itself");
    return C2_OK;
}

/* ------------------------------------------------------------------ samples */

/* What needs all of a run, or nothing of it, goes with no samples. */
static enum c2_status check_sampling(const struct cli_options *options, struct c2_error *err)
{
    if (!session_sampling_asked(&options->run.sampling))
        return session_sampling_check(&options->run.sampling, err);
    const char *given = options->run.sampling.points   ? "--points"
                        : options->run.sampling.period ? "--period"
                                                       : "--skip, --warmup and --measure";
    if (options->run.no_sim)
        return c2_fail(err, C2_ERR_INVALID, "--no-sim skips everything; leave %s out", given);
    if (options->run.advise)
        return c2_fail(err, C2_ERR_INVALID, "advise plays the whole run; leave %s out", given);
    return session_sampling_check(&options->run.sampling, err);
}

/* What is of one machine, or of none, does not go with several. */
static enum c2_status check_many(const struct cli_options *options, struct c2_error *err)
{
    const char *many = options->run.vary_count != 0 ? "--vary" : "all -m but one";
    if (options->run.vary_count == 0 && options->run.machine_count < 2)
        return C2_OK;
    if (options->run.points.find)
        return c2_fail(err, C2_ERR_INVALID, "points simulates no machine; leave out %s", many);
    if (options->run.no_sim)
        return c2_fail(err, C2_ERR_INVALID, "--no-sim simulates no machine to compare; leave it out, or %s", many);
    if (options->run.advise || options->run.explain)
        return c2_fail(err, C2_ERR_INVALID, "%s is for one machine and one placement; leave out %s",
                       options->run.advise ? "advise" : "explain", many);
    if (options->run.analyses[ANALYSIS_against])
        return c2_fail(err, C2_ERR_INVALID,
                       "--against compares one machine with one other placement, access by access; leave it out "
                       "(--vary pages=... compares the counts of several), or %s",
                       many);
    return C2_OK;
}

static bool varies_huge(const struct cli_options *options)
{
    bool varies = false;
    for (size_t i = 0; i < options->run.vary_count; i++)
        varies |= strncmp(options->run.vary[i], "huge=", strlen("huge=")) == 0;
    return varies;
}

/* What of a checkpoint goes together. */
static enum c2_status check_checkpoint(const struct cli_options *options, struct c2_error *err)
{
    const bool when = options->run.checkpoint_at != 0 || options->run.checkpoint_place;
    if (options->run.checkpoint && !when)
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint %s: when? Add --checkpoint-at N|PLACE",
                       options->run.checkpoint);
    if (!options->run.checkpoint && (when || options->run.checkpoint_caches || options->run.checkpoint_stop))
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint-%s needs the file to write; add --checkpoint FILE",
                       when                             ? "at"
                       : options->run.checkpoint_caches ? "caches"
                                                        : "stop");
    if (options->run.checkpoint && options->run.points.find)
        return c2_fail(err, C2_ERR_INVALID, "points runs the program to its end; leave --checkpoint out");
    if (options->run.checkpoint_caches && session_regions_asked(&options->run.regions))
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint-caches is for whole runs; leave --roi, --from and --to out");
    if (options->run.checkpoint_caches && (options->run.no_sim || session_sampling_asked(&options->run.sampling)))
        return c2_fail(err, C2_ERR_INVALID,
                       "--checkpoint-caches keeps all references, which --%s leaves out; leave one out",
                       options->run.no_sim ? "no-sim" : "skip, --warmup and --measure");
    return C2_OK;
}

enum c2_status cli_options_check(struct cli_options *options, struct c2_error *err)
{
    const bool replay = options->action == CLI_REPLAY, restore = options->action == CLI_RESTORE;
    const bool needs_none = replay || restore || options->run.points.vectors_from;
    if (options->action != CLI_RUN && !replay && !restore)
        return C2_OK;
    if (replay && (!options->run.recording || options->run.recording[0] == '\0'))
        return c2_fail(err, C2_ERR_INVALID,
                       "replay: no recording given: c2emu replay [OPTION]... FILE (- is standard "
                       "input; see c2emu help replay)");
    if (restore && !options->run.restored)
        return c2_fail(err, C2_ERR_INVALID,
                       "no checkpoint given: c2emu restore FILE [OPTION]... (see c2emu help restore)");
    if (!needs_none && (!options->run.command || options->run.command[0][0] == '\0'))
        return c2_fail(err, C2_ERR_INVALID,
                       "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)");
    const bool sized = options->run.huge == MMU_HUGE_HEAP || options->run.huge == MMU_HUGE_ALL ||
                       options->run.huge_region_count > 0 || varies_huge(options);
    if (!options->run.points.find && !options->run.sampling.points)
        session_sampling_fill(&options->run.sampling, !restore && !session_regions_asked(&options->run.regions));
    const char *against = options->run.analyses[ANALYSIS_against];
    const bool sized_there = against && strncmp(against, "huge", strlen("huge")) == 0;
    if (options->run.huge_size != MMU_PAGE_4K && !sized_there && !sized)
        return c2_fail(err, C2_ERR_INVALID,
                       "--huge-size is the size of the pages of --huge all, --huge REGION or --against huge; add one");
    if (options->run.no_sim && against)
        return c2_fail(err, C2_ERR_INVALID, "--against compares what --no-sim does not simulate; leave one out");
    if (options->run.wrapper_count != 0 && (options->run.no_sim || options->run.analyses[ANALYSIS_profile]))
        return c2_fail(err, C2_ERR_INVALID, "--alloc-wrapper names blocks, which --no-%s leaves out; leave one out",
                       options->run.no_sim ? "sim" : "attribution");
    if (options->run.no_sim && options->run.vary_csv)
        return fail_unrecorded("vary-csv", err);
    if (options->run.no_sim && options->run.html)
        return c2_fail(err, C2_ERR_INVALID, "--html shows the caches that --no-sim leaves out; leave one out");
    if (options->run.no_sim && options->run.analyses[ANALYSIS_fifo])
        return c2_fail(err, C2_ERR_INVALID, "--fifo-detector needs the caches that --no-sim leaves out; leave one out");
    if (options->run.root && options->run.checkpoint)
        return c2_fail(
            err, C2_ERR_INVALID,
            "--checkpoint keeps files by their paths on the host, and --root gives them others; leave one out");
    if (options->run.writable_count != 0 && !options->run.sandbox)
        return c2_fail(err, C2_ERR_INVALID, "--writable %s: without --sandbox the program may write anywhere; add it",
                       options->run.writable[0]);
    enum c2_status status = cli_points_check(options, err);
    if (status == C2_OK)
        status = session_regions_check(&options->run, err);
    if (status == C2_OK)
        status = session_contexts_check(&options->run, err);
    if (status == C2_OK)
        status = check_many(options, err);
    if (status == C2_OK && !replay)
        status = check_sampling(options, err);
    if (status == C2_OK)
        status = check_checkpoint(options, err);
    if (status == C2_OK)
        status = check_analyses(options, err);
    if (status == C2_OK)
        status = check_profiles(options, err);
    if (status == C2_OK)
        status = check_files(options, err);
    if (status == C2_OK)
        status = options_check_record(options, err);
    if (status == C2_OK)
        status = check_explain(options, err);
    return status == C2_OK ? check_advise(options, err) : status;
}
