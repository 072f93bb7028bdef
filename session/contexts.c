/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contexts: the words that say what functions are told apart by.
 *
 * Model
 *   --separate-par FUNCTION:ARG[:B1,B2...]. The text is parted at single colons from the right, so that a function may
 *   be one of a C++ namespace; what has digits, commas and signs alone behind an ARG are bounds. Options of one
 *   function share the marks of its calls.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "session/session_priv.h"

#define MOST_CALLERS 60u
#define MOST_RECURSIONS 1000000u

bool session_contexts_asked(const struct session_separate *separate) { return session_contexts_option(separate); }

const char *session_contexts_option(const struct session_separate *separate)
{
    return separate->parameter_count != 0 ? "separate-par"
           : separate->callers != 0       ? "separate-callers"
           : separate->recursions != 0    ? "separate-recs"
           : separate->threads            ? "separate-threads"
                                          : NULL;
}

/* ------------------------------------------------------------------ --separate-par */

static enum c2_status contexts_fail_form(const char *asked, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID,
                   "--separate-par %s: must be FUNCTION:ARG[:B1,B2,...]: a function; a parameter's name, or 1 to 6 for "
                   "the integer register it comes in (RDI, RSI, RDX, RCX, R8, R9); bounds, ascending",
                   asked);
}

/* The last colon of text that is not one of two; NULL: there is none. */
static char *last_colon(char *text)
{
    for (char *at = text + strlen(text); at-- > text;)
        if (*at == ':' && at[1] != ':' && (at == text || at[-1] != ':'))
            return at;
    return NULL;
}

static bool is_list(const char *text) { return *text != '\0' && strspn(text, "0123456789,-") == strlen(text); }

static enum c2_status read_bounds(struct session_contexts *contexts, struct analyses_parameter *parameter, char *text,
                                  struct c2_error *err)
{
    uint32_t count = 1;
    for (const char *at = text; *at != '\0'; at++)
        count += *at == ',';
    int64_t *bounds = c2_pool_get(&contexts->texts, count * sizeof *bounds);
    if (!bounds)
        return c2_fail_memory(err, "what functions are told apart by");
    for (uint32_t i = 0; i < count; i++) {
        char *end;
        bounds[i] = strtoll(text, &end, 10);
        if (end == text || *end != (i + 1 == count ? '\0' : ',') || (i != 0 && bounds[i] <= bounds[i - 1]))
            return contexts_fail_form(parameter->asked, err);
        text = end + 1;
    }
    parameter->bounds = bounds;
    parameter->bound_count = count;
    return C2_OK;
}

static enum c2_status read_argument(struct analyses_parameter *parameter, const char *text, struct c2_error *err)
{
    if (isdigit((unsigned char)text[0])) {
        parameter->number = text[1] == '\0' ? (unsigned)(text[0] - '0') : 0;
        return parameter->number - 1 < STREAM_ARGUMENT_REGISTERS ? C2_OK : contexts_fail_form(parameter->asked, err);
    }
    parameter->name = text;
    return text[0] != '\0' ? C2_OK : contexts_fail_form(parameter->asked, err);
}

static enum c2_status number_function(struct session_contexts *contexts, struct analyses_parameter *parameter,
                                      const char *name, struct c2_error *err)
{
    uint32_t i = 0;
    while (i < contexts->function_count && strcmp(contexts->functions[i].name, name) != 0)
        i++;
    parameter->function = i;
    if (i < contexts->function_count)
        return C2_OK;
    if (i == ANALYSES_ARGUED)
        return c2_fail(err, C2_ERR_INVALID, "--separate-par %s: at most %u functions", parameter->asked,
                       ANALYSES_ARGUED);
    contexts->functions[contexts->function_count++] = (struct watch_place){
        .kind = WATCH_FUNCTION,
        .name = name,
        .asked = c2_pool_format(&contexts->texts, "--separate-par %s", parameter->asked)};
    return contexts->functions[i].asked ? C2_OK : c2_fail_memory(err, "what functions are told apart by");
}

static enum c2_status read_parameter(struct session_contexts *contexts, struct analyses_parameter *parameter,
                                     const char *asked, struct c2_error *err)
{
    char *text = c2_pool_format(&contexts->texts, "%s", asked);
    *parameter = (struct analyses_parameter){.asked = asked};
    if (!text)
        return c2_fail_memory(err, "what functions are told apart by");
    enum c2_status status = C2_OK;
    char *colon = last_colon(text);
    if (!colon)
        return contexts_fail_form(asked, err);
    *colon = '\0';
    char *second = is_list(colon + 1) ? last_colon(text) : NULL;
    if (second) {
        *second = '\0';
        status = read_bounds(contexts, parameter, colon + 1, err);
        colon = second;
    }
    if (status == C2_OK)
        status = read_argument(parameter, colon + 1, err);
    if (status == C2_OK && text[0] == '\0')
        status = contexts_fail_form(asked, err);
    return status == C2_OK ? number_function(contexts, parameter, text, err) : status;
}

enum c2_status session_contexts_read(struct session_contexts *out, const struct session_separate *asked,
                                     struct c2_error *err)
{
    if (!session_contexts_asked(asked))
        return C2_OK;
    out->parameters = c2_calloc(asked->parameter_count + 1, sizeof *out->parameters);
    out->functions = c2_calloc(asked->parameter_count + 1, sizeof *out->functions);
    enum c2_status status = out->parameters && out->functions ? C2_OK
                                                              : c2_fail_memory(err, "what functions are told apart by");
    for (size_t i = 0; i < asked->parameter_count && status == C2_OK; i++)
        status = read_parameter(out, &out->parameters[i], asked->parameters[i], err);
    out->separation = (struct analyses_separation){.parameters = out->parameters,
                                                   .parameter_count = (uint32_t)asked->parameter_count,
                                                   .callers = (uint32_t)asked->callers,
                                                   .recursions = asked->recursions == 0 ? 1
                                                                                        : (uint32_t)asked->recursions,
                                                   .threads = asked->threads};
    return status;
}

void session_contexts_release(struct session_contexts *contexts)
{
    c2_free(contexts->parameters);
    c2_free(contexts->functions);
    c2_pool_release(&contexts->texts);
}

/* ------------------------------------------------------------------ what cannot be */

static enum c2_status contexts_check_words(const struct session_separate *asked, struct c2_error *err)
{
    struct session_contexts contexts = {.function_count = 0};
    enum c2_status status = session_contexts_read(&contexts, asked, err);
    session_contexts_release(&contexts);
    return status;
}

enum c2_status session_contexts_check(const struct session_options *options, struct c2_error *err)
{
    const struct session_separate *asked = &options->separate;
    const char *option = session_contexts_option(asked);
    if (!option)
        return C2_OK;
    if (options->no_sim || options->analyses[ANALYSIS_profile])
        return c2_fail(err, C2_ERR_INVALID, "--%s tells what functions cost, which --no-%s leaves out; leave one out",
                       option, options->no_sim ? "sim" : "attribution");
    if (options->advise || options->points.find)
        return c2_fail(err, C2_ERR_INVALID, "%s tells no functions apart; leave --%s out",
                       options->advise ? "advise" : "points", option);
    if (asked->callers > MOST_CALLERS)
        return c2_fail(err, C2_ERR_INVALID, "--separate-callers %llu: at most %u", (unsigned long long)asked->callers,
                       MOST_CALLERS);
    if (asked->recursions > MOST_RECURSIONS)
        return c2_fail(err, C2_ERR_INVALID, "--separate-recs %llu: at most %u", (unsigned long long)asked->recursions,
                       MOST_RECURSIONS);
    return contexts_check_words(asked, err);
}
