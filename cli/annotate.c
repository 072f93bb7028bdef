/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * annotate: `c2emu annotate [--event NAME]... [--asm] [-I DIR]... FILE`.
 */
#include <string.h>

#include "cli/cli_priv.h"

static const char *const options[] = {"--event", "--asm", "--include", "-I"};

/* The value of --name VALUE, --name=VALUE, -NVALUE; NULL: it is another option. *i moves over it. A missing value:
 * "". */
static const char *value_of(const char *name, int count, char *const *words, int *i)
{
    const size_t length = strlen(name);
    const char *rest = words[*i] + length;
    if (strncmp(words[*i], name, length) != 0)
        return NULL;
    if (*rest == '\0')
        return *i + 1 < count ? words[++*i] : "";
    if (name[1] != '-')
        return rest;
    return *rest == '=' ? rest + 1 : NULL;
}

static enum c2_status fail_option(const char *word, struct c2_error *err)
{
    char hint[128];
    return c2_fail(err, C2_ERR_INVALID, "annotate: unknown option %s%s", word,
                   c2_suggest(hint, sizeof hint, word, options, sizeof options / sizeof options[0]));
}

static enum c2_status take_word(struct report_annotation *request, const char **events, const char **directories,
                                int count, char *const *words, int *i, struct c2_error *err)
{
    const char *option = words[*i], *value = NULL;
    if (option[0] != '-') {
        if (request->path)
            return c2_fail(err, C2_ERR_INVALID, "annotate: one file at a time: %s or %s", request->path, option);
        request->path = option;
    } else if (strcmp(option, "--asm") == 0) {
        request->code = true;
    } else if ((value = value_of("--event", count, words, i))) {
        events[request->event_count++] = value;
    } else if ((value = value_of("--include", count, words, i)) || (value = value_of("-I", count, words, i))) {
        directories[request->directory_count++] = value;
    } else {
        return fail_option(option, err);
    }
    if (value && *value == '\0')
        return c2_fail(err, C2_ERR_INVALID, "annotate: option %s needs a value", option);
    return C2_OK;
}

enum c2_status cli_annotate(int count, char *const *words, struct c2_error *err)
{
    const char **texts = c2_calloc(2 * (size_t)count + 1, sizeof *texts);
    if (!texts)
        return c2_fail_memory(err, "the options");
    struct report_annotation request = {.events = texts, .directories = texts + count};
    enum c2_status status = C2_OK;
    for (int i = 0; i < count && status == C2_OK; i++)
        status = take_word(&request, texts, texts + count, count, words, &i, err);
    if (status == C2_OK && !request.path)
        status = c2_fail(err, C2_ERR_INVALID,
                         "annotate: give a file of --callgrind: c2emu annotate [--event NAME]... "
                         "[--asm] [-I DIR]... FILE");
    if (status == C2_OK)
        status = report_annotate(stdout, &request, err);
    c2_free(texts);
    return status;
}
