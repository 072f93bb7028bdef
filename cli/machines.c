/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * machines: a list of the included machine files, and one of them, or this processor's, printed:
 * `c2emu machines [--set SECTION.KEY=VALUE]... [--keys] [NAME|FILE]`.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"
#include "machine/machine.h"

static enum c2_status machines_list(FILE *to, char *const *names, size_t count, const char *directory,
                                    struct c2_error *err)
{
    struct caches_machine machine;
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        width = strlen(names[i]) > width ? strlen(names[i]) : width;
    for (size_t i = 0; i < count; i++) {
        enum c2_status status = machine_read(&machine, names[i], directory, NULL, 0, err);
        if (status != C2_OK)
            return status;
        fprintf(to, "%-*s  %s%s\n", (int)width, names[i], machine.description,
                strcmp(names[i], SESSION_DEFAULT_MACHINE) == 0 ? " (the default)" : "");
    }
    return C2_OK;
}

enum c2_status cli_machines_list(FILE *to, struct c2_error *err)
{
    char buffer[PATH_MAX], **names;
    const char *directory = session_machines_directory(buffer, sizeof buffer);
    size_t count;
    enum c2_status status = machine_names(&names, &count, directory, err);
    if (status == C2_OK) {
        status = machines_list(to, names, count, directory, err);
        machine_names_free(names, count);
    }
    return status;
}

/* ------------------------------------------------------------------ the verb */

struct words {
    const char *machine; /* NULL: not named */
    const char **overrides;
    size_t override_count;
    bool keys;
};

static enum c2_status machines_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct words *words = self;
    (void)err;
    if (value)
        words->overrides[words->override_count++] = value;
    words->keys |= strcmp(row->name, "keys") == 0;
    return C2_OK;
}

static enum c2_status take_machine(void *self, char *const *word, struct c2_error *err)
{
    struct words *words = self;
    if (words->machine)
        return c2_fail(err, C2_ERR_INVALID, "machines: %s is one too many: name one machine, or none for the list",
                       word[0]);
    words->machine = word[0];
    return C2_OK;
}

/* With where each number is from. */
static enum c2_status print_host(const char *directory, struct c2_error *err)
{
    char *text;
    enum c2_status status = machine_host_text(&text, directory, err);
    if (status != C2_OK)
        return status;
    fputs(text, stdout);
    free(text);
    return C2_OK;
}

static enum c2_status print_machine(const struct words *words, struct c2_error *err)
{
    char buffer[PATH_MAX];
    struct caches_machine machine;
    const char *directory = session_machines_directory(buffer, sizeof buffer);
    if (words->override_count == 0 && strcmp(words->machine, MACHINE_HOST) == 0)
        return print_host(directory, err);
    enum c2_status status = machine_read(&machine, words->machine, directory, words->overrides, words->override_count,
                                         err);
    if (status == C2_OK)
        machine_write(stdout, &machine);
    return status;
}

static enum c2_status print(const struct words *words, struct c2_error *err)
{
    if (words->keys && (words->machine || words->override_count > 0))
        return c2_fail(err, C2_ERR_INVALID, "machines: --keys is about every machine: give no NAME and no --set");
    if (!words->machine && words->override_count > 0)
        return c2_fail(err, C2_ERR_INVALID, "machines: --set %s changes no machine: name one", words->overrides[0]);
    if (words->keys)
        machine_write_keys(stdout);
    else if (words->machine)
        return print_machine(words, err);
    else
        return cli_machines_list(stdout, err);
    return C2_OK;
}

enum c2_status cli_machines(int argc, char **argv, struct c2_error *err)
{
    struct words words = {.overrides = c2_calloc((size_t)argc, sizeof *words.overrides)};
    const struct cli_taker taker = {&words, machines_take_option, take_machine};
    if (!words.overrides)
        return c2_fail_memory(err, "the words of a command line");
    enum c2_status status = cli_words_take(cli_verb("machines"), argc, argv, &taker, err);
    if (status == C2_OK)
        status = print(&words, err);
    c2_free(words.overrides);
    return status;
}
