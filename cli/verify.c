/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * verify: `c2emu verify [--stdin FILE] [--directory DIR] REPORT.json`.
 *
 * Model
 *   First what can be looked at without a run: versions, machine, environment, and each input of the receipt as it is
 *   now. What differs is said at once. Then the run is made again (rerun.c) and its report compared: inputs that could
 *   not be looked at before, or that are read by one of the runs only; then values, in the order of the report. Of a
 *   list of programs (programs.json) all of their reports are compared, which lie beside it.
 * Invariants
 *   Differences of inputs are said before differences of counts. "equal" is said only when nothing differs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/root.h"
#include "cli/cli_priv.h"
#include "machine/machine.h"
#include "session/receipt.h"

#define SHOWN 20 /* inputs of each part */

struct verify {
    const char *path, *input, *directory; /* words of the command line; NULL: not given */
    struct report_saved *saved;
    const struct report_receipt *receipt; /* of saved */
    FILE *machine;                        /* of -m host; NULL: there was none */
    const char *const *command;           /* likewise */
    struct report_saved **reports;        /* of a list of programs, those of its names; NULL behind the last */
    bool *told;                           /* of its inputs: it was said that it differs */
    uint64_t differ, shown;               /* inputs, and those that were said of this part */
};

/* ------------------------------------------------------------------ saying what differs */

static void differs(struct verify *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void differs(struct verify *v, const char *format, ...)
{
    va_list values;
    if (v->differ++ == 0)
        printf("inputs that differ:\n");
    if (v->shown++ >= SHOWN)
        return;
    va_start(values, format);
    fputs("  ", stdout);
    vprintf(format, values);
    fputc('\n', stdout);
    va_end(values);
}

static void end_part(struct verify *v)
{
    char digits[32];
    if (v->shown > SHOWN)
        printf("  and %s more\n", c2_group_digits(digits, v->shown - SHOWN));
    v->shown = 0;
    fflush(stdout);
}

static void compare_texts(struct verify *v, const char *what, const char *before, const char *now)
{
    if (strcmp(before, now) != 0)
        differs(v, "%s: %s, now %s", what, before, now);
}

/* Of one engine another version may make another report; another engine may not, and which one it is lies in the host.
 */
static void compare_engines(struct verify *v, const char *before, const char *now)
{
    const size_t name = strcspn(now, " ");
    if (strncmp(before, now, name) == 0 && before[name] == ' ')
        compare_texts(v, REPORT_ENGINE, before, now);
}

/* "standard input", "file /etc/passwd" */
static const char *verify_name_of(char *out, size_t bytes, const struct report_input *input)
{
    if (input->descriptor == 0)
        snprintf(out, bytes, "standard input%s%s", input->path ? ", " : "", input->path ? input->path : "");
    else
        snprintf(out, bytes, "%s %s", input->kind, input->path ? input->path : "without a name");
    return out;
}

static void compare_hashes(struct verify *v, const struct report_input *before, uint64_t bytes, const char *sha256)
{
    char name[PATH_MAX + 64];
    if (before->bytes == bytes && strcmp(before->sha256, sha256) == 0)
        return;
    differs(v, "%s: %llu bytes of sha256 %.12s..., now %llu of %.12s...", verify_name_of(name, sizeof name, before),
            (unsigned long long)before->bytes, before->sha256, (unsigned long long)bytes, sha256);
}

/* ------------------------------------------------------------------ what no file is */

/* The first line that is another. */
static void compare_machines(struct verify *v, const struct report_receipt *now)
{
    static const char end[] = "the end of its file";
    const struct report_receipt *before = v->receipt;
    if (before->machine_count != now->machine_count)
        differs(v, "machines: %zu, now %zu", before->machine_count, now->machine_count);
    for (size_t i = 0; i < before->machine_count && i < now->machine_count; i++) {
        const char *const *a = before->machines[i].lines, *const *b = now->machines[i].lines;
        if (strcmp(before->machines[i].sha256, now->machines[i].sha256) == 0)
            continue;
        while (*a && *b && strcmp(*a, *b) == 0)
            a++, b++;
        differs(v, "machine: %s, now %s", *a ? *a : end, *b ? *b : end);
    }
}

static const struct report_variable *variable_of(const struct report_receipt *receipt, const char *name)
{
    for (size_t i = 0; i < receipt->environment_count; i++)
        if (strcmp(receipt->environment[i].name, name) == 0)
            return &receipt->environment[i];
    return NULL;
}

/* Their order is seen by the program as well. */
static void compare_environments(struct verify *v, const struct report_receipt *now)
{
    const struct report_receipt *before = v->receipt;
    const uint64_t known = v->differ;
    bool moved = false;
    for (size_t i = 0; i < before->environment_count; i++) {
        const struct report_variable *was = &before->environment[i], *is = variable_of(now, was->name);
        if (!is)
            differs(v, "environment: %s was set, and is not", was->name);
        else if (strcmp(was->sha256, is->sha256) != 0)
            differs(v, "environment: %s has another value", was->name);
        moved |= is && is != &now->environment[i];
    }
    for (size_t i = 0; i < now->environment_count; i++)
        if (!variable_of(before, now->environment[i].name))
            differs(v, "environment: %s was not set, and is", now->environment[i].name);
    if (moved && v->differ == known)
        differs(v, "environment: its variables stand in another order");
}

static enum c2_status compare_settings(struct verify *v, const struct cli_options *options, struct c2_error *err)
{
    struct session_receipt *made;
    enum c2_status status = session_receipt_now(&made, &options->run, v->command[0], environ, err);
    if (status == C2_OK) {
        const struct report_receipt *now = session_receipt_shown(made);
        compare_texts(v, "c2emu", v->receipt->version, now->version);
        compare_engines(v, v->receipt->engine, now->engine);
        compare_texts(v, "directory", v->receipt->directory, now->directory);
        compare_machines(v, now);
        compare_environments(v, now);
    }
    session_receipt_destroy(made);
    return status;
}

/* ------------------------------------------------------------------ files, directories, links, names */

static enum c2_status look_at_content(struct verify *v, const struct report_input *input, bool is_directory,
                                      struct c2_error *err)
{
    char text[C2_SHA256_TEXT], name[PATH_MAX + 64];
    struct c2_error why = {0};
    uint64_t bytes;
    const int fd = open(input->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum c2_status status = fd < 0 ? c2_fail(&why, C2_ERR_IO, "%m") : C2_OK;
    if (status == C2_OK)
        status = is_directory ? c2_sha256_names(text, &bytes, fd, &why) : c2_sha256_file(text, &bytes, fd, &why);
    if (fd >= 0)
        close(fd);
    if (status == C2_OK)
        compare_hashes(v, input, bytes, text);
    else if (status == C2_ERR_IO)
        differs(v, "%s: cannot be read: %s", verify_name_of(name, sizeof name, input), why.text);
    else
        *err = why;
    return status == C2_ERR_IO ? C2_OK : status;
}

static enum c2_status look_at_link(struct verify *v, const struct report_input *input, struct c2_error *err)
{
    char target[PATH_MAX], text[C2_SHA256_TEXT], name[PATH_MAX + 64];
    const ssize_t bytes = readlink(input->path, target, sizeof target);
    if (bytes < 0) {
        differs(v, "%s: cannot be read: %m", verify_name_of(name, sizeof name, input));
        return C2_OK;
    }
    enum c2_status status = c2_sha256_bytes(text, target, (size_t)bytes, err);
    if (status == C2_OK)
        compare_hashes(v, input, (uint64_t)bytes, text);
    return status;
}

static enum c2_status verify_look_at(struct verify *v, const struct report_input *input, struct c2_error *err)
{
    if (strcmp(input->kind, "absent") == 0 && faccessat(AT_FDCWD, input->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        differs(v, "%s was not there, and is", input->path);
    if (!input->sha256 || input->note || !input->path || strcmp(input->kind, "stream") == 0)
        return C2_OK;
    if (strcmp(input->kind, "link") == 0)
        return look_at_link(v, input, err);
    return look_at_content(v, input, strcmp(input->kind, "directory") == 0, err);
}

static const struct report_input *at_path(const struct report_receipt *receipt, const char *path)
{
    for (size_t i = 0; i < receipt->input_count; i++)
        if (receipt->inputs[i].path && strcmp(receipt->inputs[i].path, path) == 0)
            return &receipt->inputs[i];
    return NULL;
}

/* What the run had as its root. */
static bool enter_root(struct verify *v)
{
    struct c2_error why;
    for (size_t i = 0; v->receipt->options[i]; i++) {
        const char *option = v->receipt->options[i];
        if (strncmp(option, "--root=", strlen("--root=")) != 0 || c2_root_is_set() ||
            c2_root_set(option + strlen("--root="), &why) == C2_OK)
            continue;
        differs(v, "program: %s", why.text);
        return false;
    }
    return true;
}

/* What a name without a slash leads to may be another program now. (A script is an input that its interpreter reads.)
 */
static void look_for_program(struct verify *v)
{
    char *path, host[PATH_MAX];
    struct c2_error why;
    if (!enter_root(v))
        return;
    if (loader_find(&path, v->command[0], &why) != C2_OK) {
        differs(v, "program: %s", why.text);
        return;
    }
    char *real = c2_root_find(path, host) == 0 ? realpath(host, NULL) : NULL;
    if (!strchr(v->command[0], '/') && real && !at_path(v->receipt, real))
        differs(v, "program: %s is %s, which was no input", v->command[0], real);
    free(real);
    c2_free(path);
}

static enum c2_status look_at_inputs(struct verify *v, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    look_for_program(v);
    for (size_t i = 0; i < v->receipt->input_count && status == C2_OK; i++) {
        const uint64_t before = v->differ;
        if (v->input && v->receipt->inputs[i].descriptor == 0)
            continue; /* another is given, which is compared when it was read */
        status = verify_look_at(v, &v->receipt->inputs[i], err);
        v->told[i] = v->differ != before;
    }
    return status;
}

/* ------------------------------------------------------------------ the machine of -m host
 * What the receipt has of it, on whatever host this is: a file without a name, which the run finds by this process. */

static const struct report_described *host_of(const struct report_receipt *receipt)
{
    for (size_t i = 0; i < receipt->machine_count; i++)
        for (const char *const *line = receipt->machines[i].lines; *line; line++)
            if (strcmp(*line, "name = " MACHINE_HOST) == 0)
                return &receipt->machines[i];
    return NULL;
}

/* By the environment, which the run inherits and hides from the program (main.c). */
static enum c2_status pin_machine(struct verify *v, struct c2_error *err)
{
    char path[64];
    const struct report_described *machine = host_of(v->receipt);
    if (!machine)
        return C2_OK;
    v->machine = tmpfile();
    for (const char *const *line = machine->lines; v->machine && *line; line++)
        fprintf(v->machine, "%s\n", *line);
    if (!v->machine || fflush(v->machine) != 0 || fcntl(fileno(v->machine), F_SETFD, FD_CLOEXEC) != 0)
        return c2_fail(err, C2_ERR_IO, "verify: the machine of the run cannot be kept in a file: %m");
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fileno(v->machine));
    machine_host_is(path);
    return setenv(CLI_HOST_MACHINE, path, 1) == 0 ? C2_OK : c2_fail_memory(err, "the environment");
}

/* ------------------------------------------------------------------ before the run */

/* The options as they were, understood by this c2emu. words is what they lie in, to be freed behind the options. */
static enum c2_status take_options(struct cli_options *out, const char ***words, const struct verify *v,
                                   struct c2_error *err)
{
    size_t count = 0;
    struct c2_error why;
    while (v->receipt->options[count])
        count++;
    const char **at = *words = c2_calloc(count + 6, sizeof **words);
    if (!at)
        return c2_fail_memory(err, "a command line");
    *at++ = "c2emu";
    if (v->receipt->verb)
        *at++ = v->receipt->verb;
    for (size_t i = 0; i < count; i++)
        *at++ = v->receipt->options[i];
    *at++ = "--";
    *at++ = v->command[0];
    if (cli_options_parse(out, (int)(at - *words), (char **)*words, &why) != C2_OK)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "verify: %s was made with options that this version does not know: %s",
                       v->path, why.text);
    if (out->action == CLI_RUN)
        return C2_OK;
    cli_options_release(out);
    return c2_fail(err, C2_ERR_FORMAT, "verify: %s is not of a run", v->path);
}

static enum c2_status look_before(struct verify *v, struct c2_error *err)
{
    struct cli_options options;
    const char **words = NULL;
    enum c2_status status = take_options(&options, &words, v, err);
    if (status != C2_OK) {
        c2_free(words);
        return status;
    }
    status = compare_settings(v, &options, err);
    if (status == C2_OK)
        status = look_at_inputs(v, err);
    cli_options_release(&options);
    c2_free(words);
    end_part(v);
    return status;
}

/* What cannot be made again at all. */
static enum c2_status verify_check(const struct verify *v, struct c2_error *err)
{
    char arguments[C2_SHA256_TEXT];
    const char *interruption = report_saved_interruption(v->saved);
    if (interruption)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "verify: the run of %s was %s: nobody can say where another would have to end", v->path,
                       interruption);
    enum c2_status status = session_receipt_arguments(arguments, v->command, err);
    if (status == C2_OK && strcmp(arguments, v->receipt->arguments) != 0)
        status = c2_fail(err, C2_ERR_FORMAT,
                         "verify: the command in %s is not that of its receipt: it was changed, or has bytes that JSON "
                         "cannot hold (no UTF-8)",
                         v->path);
    return status;
}

/* ------------------------------------------------------------------ standard input */

static const struct report_input *verify_input_of(const struct report_receipt *receipt)
{
    for (size_t i = 0; i < receipt->input_count; i++)
        if (receipt->inputs[i].descriptor == 0)
            return &receipt->inputs[i];
    return NULL;
}

/* The caller's own, if it has put something there. */
static enum c2_status take_own_input(int *out, const struct verify *v, const struct report_input *was,
                                     struct c2_error *err)
{
    const char *own = session_stream_kind(STDIN_FILENO), *kind = v->receipt->streams[0];
    *out = STDIN_FILENO;
    if (strcmp(own, kind) == 0 || strcmp(own, "file") == 0 || strcmp(own, "pipe") == 0 || strcmp(own, "socket") == 0)
        return C2_OK;
    return c2_fail(
        err, C2_ERR_INVALID,
        "verify: the run read %llu bytes from standard input, a %s; give them again: verify --stdin FILE, or "
        "by a pipe",
        (unsigned long long)was->bytes, kind);
}

/* *out: what the run is to read; -1: nothing. */
static enum c2_status verify_open_input(int *out, const struct verify *v, struct c2_error *err)
{
    const struct report_input *was = verify_input_of(v->receipt);
    const char *path = v->input ? v->input : was && strcmp(was->kind, "stream") != 0 ? was->path : NULL;
    *out = -1;
    if (!path && was && was->bytes > 0)
        return take_own_input(out, v, was, err);
    if (!path)
        return C2_OK;
    if (strcmp(v->receipt->streams[0], "terminal") == 0)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "verify: the run read from a terminal, which %s is not", path);
    *out = open(path, O_RDONLY | O_CLOEXEC);
    if (*out >= 0 && was && lseek(*out, (off_t)was->offset, SEEK_SET) >= 0)
        return C2_OK;
    return *out >= 0
               ? C2_OK
               : c2_fail(err, C2_ERR_NOT_FOUND,
                         "verify: standard input was %s, which cannot be opened: %m; give another by --stdin FILE",
                         path);
}

/* ------------------------------------------------------------------ behind the run */

static bool same_input(const struct report_input *a, const struct report_input *b)
{
    return strcmp(a->kind, b->kind) == 0 && a->descriptor == b->descriptor && !a->path == !b->path &&
           (!a->path || strcmp(a->path, b->path) == 0 || a->descriptor == 0);
}

/* The first of the others that was not taken yet. */
static const struct report_input *take_match(const struct report_input *input, const struct report_receipt *from,
                                             bool *taken)
{
    for (size_t i = 0; i < from->input_count; i++) {
        if (taken[i] || !same_input(input, &from->inputs[i]))
            continue;
        taken[i] = true;
        return &from->inputs[i];
    }
    return NULL;
}

static enum c2_status compare_inputs(struct verify *v, const struct report_receipt *now, struct c2_error *err)
{
    char name[PATH_MAX + 64];
    bool *taken = c2_calloc(now->input_count + 1, sizeof *taken);
    if (!taken)
        return c2_fail_memory(err, "the inputs of a run");
    for (size_t i = 0; i < v->receipt->input_count; i++) {
        const struct report_input *was = &v->receipt->inputs[i], *is = take_match(was, now, taken);
        if (v->told[i])
            continue;
        if (!is)
            differs(v, "%s: was an input, and is none now", verify_name_of(name, sizeof name, was));
        else if (was->sha256 && !was->note && is->sha256 && !is->note)
            compare_hashes(v, was, is->bytes, is->sha256);
    }
    for (size_t i = 0; i < now->input_count; i++)
        if (!taken[i])
            differs(v, "%s: was no input, and is one now", verify_name_of(name, sizeof name, &now->inputs[i]));
    c2_free(taken);
    end_part(v);
    return C2_OK;
}

/* Of which the receipts say that they do not know it. */
static void tell_unknown(const struct report_receipt *receipt)
{
    char name[PATH_MAX + 64];
    for (size_t i = 0; i < receipt->input_count; i++)
        if (receipt->inputs[i].note)
            printf("not compared: %s: %s\n", verify_name_of(name, sizeof name, &receipt->inputs[i]),
                   receipt->inputs[i].note);
}

/* Those of the programs in a list. */
static void compare_reports(struct verify *v, const char *directory, FILE *to, struct report_difference *sum)
{
    const char *const *names = report_saved_reports(v->saved);
    for (size_t i = 0; v->reports && v->reports[i]; i++) {
        char path[PATH_MAX];
        struct report_saved *again;
        struct c2_error why;
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        if (report_saved_open_values(&again, path, &why) != C2_OK) {
            fprintf(to, "  %s: there is none now\n", names[i]);
            sum->differ++;
            continue;
        }
        char *lines = NULL;
        size_t bytes;
        FILE *part = open_memstream(&lines, &bytes);
        const struct report_difference found = part ? report_saved_compare(part, v->reports[i], again)
                                                    : (struct report_difference){0};
        if (part)
            fclose(part);
        if (found.differ != 0)
            fprintf(to, "  in %s:\n%s", names[i], lines);
        sum->values += found.values;
        sum->differ += found.differ;
        free(lines);
        report_saved_close(again);
    }
}

static enum c2_status verify_conclude(struct verify *v, const struct report_saved *again, const char *directory,
                                      bool *different, struct c2_error *err)
{
    char values[32], inputs[32], *lines = NULL;
    size_t bytes;
    FILE *to = open_memstream(&lines, &bytes);
    enum c2_status status = to ? compare_inputs(v, report_saved_receipt(again), err)
                               : c2_fail_memory(err, "what differs");
    if (!to)
        return status;
    struct report_difference found = report_saved_compare(to, v->saved, again);
    compare_reports(v, directory, to, &found);
    fclose(to);
    tell_unknown(report_saved_receipt(again));
    *different = v->differ != 0 || found.differ != 0;
    c2_group_digits(values, found.values);
    if (found.differ != 0)
        printf("values that differ, of %s:\n%s", values, lines ? lines : "");
    else
        printf("%s: %s inputs, %s values\n", v->differ != 0 ? "its values are equal nevertheless" : "equal",
               c2_group_digits(inputs, v->receipt->input_count), values);
    free(lines);
    return status;
}

static enum c2_status verify_judge(struct verify *v, const struct cli_rerun *rerun, bool *different,
                                   struct c2_error *err)
{
    struct report_saved *again;
    enum c2_status status = report_saved_parse(&again, rerun->report, rerun->bytes, "the report of the run made again",
                                               err);
    if (status == C2_OK && report_saved_interruption(again))
        status = c2_fail(err, C2_ERR_INVALID, "verify: the run was %s", report_saved_interruption(again));
    if (status == C2_OK)
        status = verify_conclude(v, again, rerun->directory, different, err);
    report_saved_close(again);
    return status;
}

/* Where an input is another, that is what came of it. */
static enum c2_status say_no_report(const struct verify *v, const struct cli_rerun *rerun, bool *different,
                                    struct c2_error *err)
{
    const char *said = rerun->said[0] != '\0' ? rerun->said : "it said nothing\n";
    *different = v->differ != 0;
    if (!*different)
        return c2_fail(err, C2_ERR_INVALID, "verify: the run ended with status %d and without a report: %s",
                       rerun->status, said);
    printf("the run ended with status %d and without a report: %s", rerun->status, said);
    return C2_OK;
}

static enum c2_status verify_run_again(struct verify *v, bool *different, struct c2_error *err)
{
    const bool advice = v->receipt->verb; /* which --json writes whole */
    const enum cli_rerun_form form = v->reports                              ? CLI_RERUN_SEVERAL
                                     : report_saved_slim(v->saved) || advice ? CLI_RERUN_SLIM
                                                                             : CLI_RERUN_FULL;
    struct cli_rerun rerun = {0};
    int input;
    enum c2_status status = verify_open_input(&input, v, err);
    if (status == C2_OK)
        status = cli_rerun(&rerun, v->receipt, v->command, form, input, err);
    if (status == C2_OK)
        status = rerun.bytes == 0 ? say_no_report(v, &rerun, different, err) : verify_judge(v, &rerun, different, err);
    cli_rerun_release(&rerun);
    if (input > STDERR_FILENO)
        close(input);
    return status;
}

/* ------------------------------------------------------------------ the words */

static enum c2_status verify_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct verify *v = self;
    (void)err;
    *(strcmp(row->name, "stdin") == 0 ? &v->input : &v->directory) = value;
    return C2_OK;
}

static enum c2_status verify_take_path(void *self, char *const *word, struct c2_error *err)
{
    struct verify *v = self;
    if (v->path)
        return c2_fail(err, C2_ERR_INVALID, "verify: one report at a time");
    v->path = word[0];
    return C2_OK;
}

/* Paths of this command line are of where it was given. */
static enum c2_status enter_directory(struct verify *v, char **input, struct c2_error *err)
{
    const char *directory = v->directory ? v->directory : v->receipt->directory;
    if (v->input) {
        *input = realpath(v->input, NULL);
        if (!*input)
            return c2_fail(err, C2_ERR_NOT_FOUND, "verify: --stdin %s cannot be opened: %m", v->input);
        v->input = *input;
    }
    if (chdir(directory) != 0)
        return c2_fail(err, C2_ERR_NOT_FOUND, "verify: the run was in %s, which cannot be entered: %m%s", directory,
                       v->directory ? "" : "; name another by --directory DIR");
    return C2_OK;
}

/* Before the directory is entered that the run was in. */
static enum c2_status open_reports(struct verify *v, struct c2_error *err)
{
    const char *const *names = report_saved_reports(v->saved);
    const char *slash = strrchr(v->path, '/');
    const int front = slash ? (int)(slash + 1 - v->path) : 0;
    size_t count = 0;
    enum c2_status status = C2_OK;
    if (!names)
        return C2_OK;
    while (names[count])
        count++;
    v->reports = c2_calloc(count + 1, sizeof *v->reports);
    if (!v->reports)
        return c2_fail_memory(err, "reports");
    for (size_t i = 0; i < count && status == C2_OK; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s%s", front, v->path, names[i]);
        status = report_saved_open_values(&v->reports[i], path, err);
    }
    return status;
}

static enum c2_status verify(struct verify *v, bool *different, struct c2_error *err)
{
    char *input = NULL;
    enum c2_status status = report_saved_open(&v->saved, v->path, err);
    if (status != C2_OK)
        return status;
    v->receipt = report_saved_receipt(v->saved);
    v->command = report_saved_command(v->saved);
    status = pin_machine(v, err);
    if (status != C2_OK)
        return status;
    v->told = c2_calloc(v->receipt->input_count + 1, sizeof *v->told);
    if (!v->told)
        status = c2_fail_memory(err, "the inputs of a run");
    if (status == C2_OK)
        status = verify_check(v, err);
    if (status == C2_OK)
        status = open_reports(v, err);
    if (status == C2_OK)
        status = enter_directory(v, &input, err);
    if (status == C2_OK)
        status = look_before(v, err);
    if (status == C2_OK)
        status = verify_run_again(v, different, err);
    free(input);
    return status;
}

enum c2_status cli_verify(bool *different, int argc, char **argv, struct c2_error *err)
{
    struct verify v = {0};
    const struct cli_taker taker = {&v, verify_take_option, verify_take_path};
    enum c2_status status = cli_words_take(cli_verb("verify"), argc, argv, &taker, err);
    if (status == C2_OK && !v.path)
        status = c2_fail(err, C2_ERR_INVALID,
                         "verify: give a report: c2emu verify [--stdin FILE] [--directory DIR] REPORT.json");
    if (status == C2_OK)
        status = verify(&v, different, err);
    for (size_t i = 0; v.reports && v.reports[i]; i++)
        report_saved_close(v.reports[i]);
    c2_free(v.reports);
    report_saved_close(v.saved);
    c2_free(v.told);
    if (v.machine)
        fclose(v.machine);
    return status;
}
