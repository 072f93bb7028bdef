/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * receipt: what a run depends on, put together for report.json.
 *
 * Model
 *   At the start: versions, options, working directory, arguments, environment, what the standard streams are, the
 *   machine with all its keys, the files that options name, the program and its interpreter. At the end: what the guest
 *   has read, as its kernel kept it (syscalls/inputs.c).
 * Invariants
 *   Options that only say what is written take no part: the same run has the same receipt, whatever its report's name.
 *   The environment's values are not written out, for they may be private: their hashes are.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session_priv.h"
#include "machine/machine.h"

struct session_receipt {
    struct report_receipt shown;
    struct report_input *inputs; /* those of options, then those of the guest */
    size_t option_inputs;
    struct c2_pool pool; /* all texts */
};

static enum c2_status receipt_fail_memory(struct c2_error *err) { return c2_fail_memory(err, "the receipt"); }

static enum c2_status hash(const char **out, struct session_receipt *receipt, const void *bytes, size_t count,
                           struct c2_error *err)
{
    char *text = c2_pool_get(&receipt->pool, C2_SHA256_TEXT);
    *out = text;
    return text ? c2_sha256_bytes(text, bytes, count, err) : receipt_fail_memory(err);
}

/* ------------------------------------------------------------------ words */

static enum c2_status add_options(struct session_receipt *receipt, const struct session_options *options,
                                  struct c2_error *err)
{
    const char **words = c2_pool_get(&receipt->pool, (options->word_count + 1) * sizeof *words);
    for (size_t i = 0; words && i < options->word_count; i++) {
        const struct session_word *word = &options->words[i];
        words[i] = c2_pool_format(&receipt->pool, "--%s%s%s", word->name, word->value ? "=" : "",
                                  word->value ? word->value : "");
        if (!words[i])
            return receipt_fail_memory(err);
    }
    receipt->shown.options = words;
    receipt->shown.verb = options->verb;
    return words ? C2_OK : receipt_fail_memory(err);
}

enum c2_status session_receipt_arguments(char out[C2_SHA256_TEXT], const char *const *command, struct c2_error *err)
{
    struct c2_sha256 *sum;
    enum c2_status status = c2_sha256_create(&sum, err);
    for (size_t i = 0; status == C2_OK && command[i]; i++)
        c2_sha256_add(sum, command[i], strlen(command[i]) + 1);
    if (status == C2_OK)
        status = c2_sha256_text(out, sum, err);
    c2_sha256_destroy(sum);
    return status;
}

static enum c2_status receipt_add_command(struct session_receipt *receipt, const struct session_options *options,
                                          struct c2_error *err)
{
    char *text = c2_pool_get(&receipt->pool, C2_SHA256_TEXT), directory[PATH_MAX];
    receipt->shown.arguments = text;
    receipt->shown.directory = c2_pool_format(&receipt->pool, "%s",
                                              getcwd(directory, sizeof directory) ? directory : "");
    return text && receipt->shown.directory ? session_receipt_arguments(text, options->command, err)
                                            : receipt_fail_memory(err);
}

static enum c2_status receipt_add_environment(struct session_receipt *receipt, char *const *environment,
                                              struct c2_error *err)
{
    size_t count = 0;
    while (environment[count])
        count++;
    struct report_variable *variables = c2_pool_get(&receipt->pool, (count + 1) * sizeof *variables);
    enum c2_status status = variables ? C2_OK : receipt_fail_memory(err);
    for (size_t i = 0; i < count && status == C2_OK; i++) {
        const size_t length = strcspn(environment[i], "=");
        const char *value = environment[i] + length + (environment[i][length] != '\0');
        variables[i].name = c2_pool_format(&receipt->pool, "%.*s", (int)length, environment[i]);
        status = variables[i].name ? hash(&variables[i].sha256, receipt, value, strlen(value), err)
                                   : receipt_fail_memory(err);
    }
    receipt->shown.environment = variables;
    receipt->shown.environment_count = count;
    return status;
}

/* ------------------------------------------------------------------ streams */

const char *session_stream_kind(int fd)
{
    struct stat st;
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || flags & O_PATH || fstat(fd, &st) != 0) /* O_PATH: held in place of one that is closed */
        return "closed";
    if (S_ISCHR(st.st_mode))
        return isatty(fd) ? "terminal" : "device";
    return S_ISREG(st.st_mode)    ? flags & O_APPEND ? "appended file" : "file"
           : S_ISFIFO(st.st_mode) ? "pipe"
           : S_ISSOCK(st.st_mode) ? "socket"
           : S_ISDIR(st.st_mode)  ? "directory"
                                  : "device";
}

/* ------------------------------------------------------------------ the machine */

/* text is cut into its lines. */
static enum c2_status cut_lines(const char *const **out, struct session_receipt *receipt, char *text,
                                struct c2_error *err)
{
    size_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at == '\n';
    const char **lines = c2_pool_get(&receipt->pool, (count + 1) * sizeof *lines);
    char *rest = text;
    for (size_t i = 0; lines && i < count; i++) {
        lines[i] = c2_pool_format(&receipt->pool, "%s", strsep(&rest, "\n"));
        if (!lines[i])
            return receipt_fail_memory(err);
    }
    *out = lines;
    return lines ? C2_OK : receipt_fail_memory(err);
}

static enum c2_status describe_machine(struct report_described *out, struct session_receipt *receipt,
                                       const struct caches_machine *machine, struct c2_error *err)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return receipt_fail_memory(err);
    machine_write(to, machine);
    const bool written = !ferror(to);
    enum c2_status status = fclose(to) == 0 && written ? C2_OK : receipt_fail_memory(err);
    if (status == C2_OK)
        status = hash(&out->sha256, receipt, text, bytes, err);
    if (status == C2_OK)
        status = cut_lines(&out->lines, receipt, text, err);
    free(text);
    return status;
}

static bool is_described(const struct report_receipt *receipt, const char *sha256)
{
    for (size_t i = 0; i < receipt->machine_count; i++)
        if (strcmp(receipt->machines[i].sha256, sha256) == 0)
            return true;
    return false;
}

static enum c2_status receipt_add_machines(struct session_receipt *receipt, const struct session_plan *plan,
                                           struct c2_error *err)
{
    struct report_described *machines = c2_pool_get(&receipt->pool, (plan->count + 1) * sizeof *machines);
    enum c2_status status = machines ? C2_OK : receipt_fail_memory(err);
    receipt->shown.machines = machines;
    for (unsigned i = 0; i < plan->count && status == C2_OK; i++) {
        struct report_described *next = &machines[receipt->shown.machine_count];
        status = describe_machine(next, receipt, &plan->lanes[i].machine, err);
        receipt->shown.machine_count += status == C2_OK && !is_described(&receipt->shown, next->sha256);
    }
    return status;
}

/* ------------------------------------------------------------------ files that options name */

static enum c2_status receipt_add_file(struct session_receipt *receipt, const char *path, struct c2_error *err)
{
    struct report_input *input = &receipt->inputs[receipt->option_inputs];
    char *real = realpath(path, NULL), *text = c2_pool_get(&receipt->pool, C2_SHA256_TEXT);
    *input = (struct report_input){.kind = "option",
                                   .path = c2_pool_format(&receipt->pool, "%s", real ? real : path),
                                   .descriptor = -1,
                                   .sha256 = text};
    free(real);
    if (!text || !input->path)
        return receipt_fail_memory(err);
    for (size_t i = 0; i < receipt->option_inputs; i++)
        if (strcmp(receipt->inputs[i].path, input->path) == 0)
            return C2_OK;
    receipt->option_inputs++;
    struct c2_error why;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const enum c2_status status = fd < 0 ? C2_ERR_IO : c2_sha256_file(text, &input->bytes, fd, &why);
    if (fd >= 0)
        close(fd);
    if (status == C2_OK)
        return C2_OK;
    input->sha256 = NULL;
    input->note = "could not be read to be hashed";
    return status == C2_ERR_IO ? C2_OK : receipt_fail_memory(err);
}

/* "file=PATH", alone or behind a region's name and "=". */
static const char *map_of(const char *policy)
{
    const char *at = strstr(policy, "file=");
    if (!at)
        at = strstr(policy, "file:");
    return at && (at == policy || at[-1] == '=') ? at + strlen("file=") : NULL;
}

/* The base sequences of a machine's slices. */
static enum c2_status add_slices(struct session_receipt *receipt, const struct caches_machine *machine,
                                 struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < machine->level_count && status == C2_OK; i++) {
        const char *hash_name = machine->levels[i].hash, *path = hash_name + strlen("perm:");
        if (strncmp(hash_name, "perm:", strlen("perm:")) != 0)
            continue;
        char *name = c2_format("%s%s%.*s", path[0] == '/' ? "" : machine->directory, path[0] == '/' ? "" : "/",
                               (int)(strrchr(path, ':') - path), path);
        status = name ? receipt_add_file(receipt, name, err) : receipt_fail_memory(err);
        c2_free(name);
    }
    return status;
}

static enum c2_status add_points(struct session_receipt *receipt, const struct session_sampling *sampling,
                                 struct c2_error *err)
{
    char *weights = sampling->weights ? c2_strdup(sampling->weights) : session_chosen_beside(sampling->points);
    enum c2_status status = weights ? receipt_add_file(receipt, sampling->points, err) : receipt_fail_memory(err);
    if (status == C2_OK)
        status = receipt_add_file(receipt, weights, err);
    c2_free(weights);
    return status;
}

static enum c2_status receipt_add_files(struct session_receipt *receipt, const struct session_options *options,
                                        const struct session_plan *plan, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    const size_t most = options->word_count + 2 + (size_t)plan->count * CACHES_MAX_LEVELS;
    receipt->inputs = c2_pool_get(&receipt->pool, (most + 1) * sizeof *receipt->inputs);
    if (!receipt->inputs)
        return receipt_fail_memory(err);
    for (size_t i = 0; i < options->word_count && status == C2_OK; i++) {
        const char *map = options->words[i].value ? map_of(options->words[i].value) : NULL;
        if (map)
            status = receipt_add_file(receipt, map, err);
    }
    if (status == C2_OK && options->sampling.points)
        status = add_points(receipt, &options->sampling, err);
    for (unsigned i = 0; i < plan->count && status == C2_OK; i++)
        status = add_slices(receipt, &plan->lanes[i].machine, err);
    return status;
}

/* ------------------------------------------------------------------ from begin to end */

enum c2_status session_receipt_create(struct session_receipt **out, const struct session_options *options,
                                      char *const *environment, const struct session_plan *plan, struct c2_error *err)
{
    struct session_receipt *receipt = *out = c2_calloc(1, sizeof *receipt);
    if (!receipt)
        return receipt_fail_memory(err);
    char *engine = c2_pool_get(&receipt->pool, EMU_VERSION_BYTES);
    if (!engine)
        return receipt_fail_memory(err);
    receipt->shown.version = C2_VERSION;
    receipt->shown.engine = engine;
    for (int fd = 0; fd < 3; fd++)
        receipt->shown.streams[fd] = session_stream_kind(fd);
    enum c2_status status = emu_engine_version(engine, session_engine(options), err);
    if (status == C2_OK)
        status = add_options(receipt, options, err);
    if (status == C2_OK)
        status = receipt_add_command(receipt, options, err);
    if (status == C2_OK)
        status = receipt_add_environment(receipt, environment, err);
    if (status == C2_OK)
        status = receipt_add_machines(receipt, plan, err);
    return status == C2_OK ? receipt_add_files(receipt, options, plan, err) : status;
}

void session_receipt_destroy(struct session_receipt *receipt)
{
    if (receipt)
        c2_pool_release(&receipt->pool);
    c2_free(receipt);
}

void session_receipt_loaded(struct syscalls *kernel, const struct mmu_areas *areas, const char *program)
{
    const struct mmu_area *area = mmu_area_at(areas, (struct guest_va){0}, true);
    syscalls_note_input(kernel, SYSCALLS_INPUT_PROGRAM, program);
    for (; area; area = mmu_area_at(areas, (struct guest_va){area->start.v + area->bytes}, true))
        if (area->kind == MMU_FILE && strcmp(area->path, program) != 0)
            syscalls_note_input(kernel, SYSCALLS_INPUT_INTERPRETER, area->path);
}

static struct report_input receipt_input_of(const struct syscalls_input *input)
{
    static const char *const kinds[] = {
        [SYSCALLS_INPUT_PROGRAM] = "program",     [SYSCALLS_INPUT_INTERPRETER] = "interpreter",
        [SYSCALLS_INPUT_LIBRARY] = "library",     [SYSCALLS_INPUT_FILE] = "file",
        [SYSCALLS_INPUT_DIRECTORY] = "directory", [SYSCALLS_INPUT_LINK] = "link",
        [SYSCALLS_INPUT_ABSENT] = "absent",       [SYSCALLS_INPUT_STREAM] = "stream"};
    return (struct report_input){.kind = kinds[input->kind],
                                 .path = input->path,
                                 .descriptor = input->descriptor,
                                 .offset = input->offset,
                                 .bytes = input->bytes,
                                 .sha256 = input->sha256[0] != '\0' ? input->sha256 : NULL,
                                 .note = input->note};
}

const struct report_receipt *session_receipt_shown(const struct session_receipt *receipt) { return &receipt->shown; }

static bool same_words(const char *const *a, const char *const *b)
{
    while (*a && *b && strcmp(*a, *b) == 0)
        a++, b++;
    return !*a && !*b;
}

/* What decides how long a run is, but for the files that it reads. */
static bool is_same_run(const struct report_receipt *a, const struct report_receipt *b)
{
    return strcmp(a->arguments, b->arguments) == 0 && strcmp(a->directory, b->directory) == 0 &&
           same_words(a->options, b->options);
}

uint64_t session_receipt_expects(const struct session_receipt *receipt, const struct session_options *options)
{
    struct report_saved *before;
    uint64_t instructions = 0;
    struct stat st;
    const char *json = options->json ? options->json : options->json_full;
    if (!json && !options->output_dir)
        return 0;
    char *path = json ? c2_strdup(json) : c2_format("%s/report.json", options->output_dir);
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || report_saved_open(&before, path, NULL) != C2_OK) {
        c2_free(path);
        return 0;
    }
    if (!report_saved_interruption(before) && is_same_run(&receipt->shown, report_saved_receipt(before)))
        instructions = report_saved_instructions(before);
    report_saved_close(before);
    c2_free(path);
    return instructions;
}

enum c2_status session_receipt_finish(const struct report_receipt **out, struct session_receipt *receipt,
                                      struct syscalls *kernel, struct c2_error *err)
{
    const struct syscalls_input *read;
    size_t count;
    *out = &receipt->shown;
    enum c2_status status = syscalls_inputs(&read, &count, kernel, err);
    if (status != C2_OK)
        return status;
    struct report_input *all = c2_pool_get(&receipt->pool, (receipt->option_inputs + count + 1) * sizeof *all);
    if (!all)
        return receipt_fail_memory(err);
    memcpy(all, receipt->inputs, receipt->option_inputs * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[receipt->option_inputs + i] = receipt_input_of(&read[i]);
    receipt->shown.inputs = all;
    receipt->shown.input_count = receipt->option_inputs + count;
    return C2_OK;
}

/* ------------------------------------------------------------------ of a run that could begin now */

/* A program that is not there any more adds nothing. */
static enum c2_status make_present_environment(char ***out, const struct session_options *options, const char *program,
                                               char *const *host_env, struct c2_error *err)
{
    char *path;
    bool added;
    enum c2_status status = session_environment(out, options, host_env, err);
    if (status != C2_OK || loader_find(&path, program, NULL) != C2_OK)
        return status;
    status = session_environment_suit(&added, out, path, err);
    c2_free(path);
    return status;
}

enum c2_status session_receipt_now(struct session_receipt **out, const struct session_options *options,
                                   const char *program, char *const *host_env, struct c2_error *err)
{
    struct session_plan plan = {0};
    char **environment = NULL;
    *out = NULL;
    enum c2_status status = make_present_environment(&environment, options, program, host_env, err);
    if (status == C2_OK)
        status = session_plan_read(&plan, options, err);
    if (status == C2_OK)
        status = session_receipt_create(out, options, environment, &plan, err);
    session_plan_release(&plan);
    session_environment_release(environment);
    return status;
}
