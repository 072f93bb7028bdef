/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * regions: the words that say what of the program is measured, and what becomes of the rest.
 *
 * Model
 *   --roi FUNCTION; or --from PLACE and --to PLACE, where a place is SYMBOL[:N], 0xADDRESS[:N] or FILE:LINE[:N]. With
 *   one number behind the last colon FILE:LINE is meant where the name has a slash or ends like a source file (a dot,
 *   a letter, up to two letters or digits more), else SYMBOL:N. Or, beside these, --requests: the program says itself.
 */
#include <ctype.h>
#include <string.h>

#include "session/session_priv.h"

bool session_regions_asked(const struct session_regions *regions)
{
    return regions->function_count != 0 || regions->from || regions->to || regions->requests;
}

enum c2_status session_warm(enum session_warm *out, const char *text, struct c2_error *err)
{
    static const char *const words[] = {"functional", "none", "flush"};
    unsigned word;
    enum c2_status status = session_word(&word, "--warm ", text, words, sizeof words / sizeof words[0], err);
    *out = (enum session_warm)(SESSION_WARM_FUNCTIONAL + word);
    return status;
}

/* As callgrind's options are called. */
enum c2_status session_requests(struct session_regions *out, const char *text, struct c2_error *err)
{
    static const char *const words[] = {"yes", "instr-atstart=no", "collect-atstart=no"};
    enum c2_status status = C2_OK;
    out->requests = true;
    for (const char *at = text; at && status == C2_OK; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char one[32];
        unsigned word;
        snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ","), at);
        status = session_word(&word, "--requests ", one, words, sizeof words / sizeof words[0], err);
        out->instr_off |= word == 1;
        out->collect_off |= word == 2;
    }
    return status;
}

/* ------------------------------------------------------------------ places */

/* Takes ":NUMBER" off the end of the text, if it is there. */
static bool regions_take_number(char *text, uint64_t *out)
{
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || !isdigit((unsigned char)colon[1]) ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    if (c2_parse_number(out, colon + 1, "", NULL) != C2_OK)
        return false;
    *colon = '\0';
    return true;
}

static bool is_like_file(const char *text)
{
    const char *dot = strrchr(text, '.');
    const size_t bytes = dot ? strlen(dot + 1) : 0;
    bool named = bytes >= 1 && bytes <= 3 && isalpha((unsigned char)dot[1]);
    for (size_t i = 1; named && i <= bytes; i++)
        named = isalnum((unsigned char)dot[i]);
    return named || strchr(text, '/');
}

/* text: written to; what is left of it is the place's name. */
static enum c2_status regions_read_place(struct watch_place *place, uint64_t *arrival, char *text, struct c2_error *err)
{
    uint64_t numbers[2];
    unsigned count = 0;
    while (count < 2 && regions_take_number(text, &numbers[count]))
        count++;
    *arrival = 0;
    place->name = text;
    if (strncmp(text, "0x", 2) == 0 && c2_parse_number(&place->number, text, "", NULL) == C2_OK && count < 2) {
        place->kind = WATCH_ADDRESS;
        *arrival = count == 1 ? numbers[0] : 0;
    } else if (count == 2 || (count == 1 && is_like_file(text))) {
        place->kind = WATCH_LINE;
        place->number = numbers[count - 1];
        *arrival = count == 2 ? numbers[0] : 0;
    } else {
        place->kind = WATCH_FUNCTION;
        *arrival = count == 1 ? numbers[0] : 0;
    }
    if (text[0] == '\0' || (place->kind == WATCH_LINE && (place->number == 0 || place->number > INT32_MAX)))
        return c2_fail(err, C2_ERR_INVALID, "%s: must be SYMBOL[:N], 0xADDRESS[:N] or FILE:LINE[:N]", place->asked);
    if (count > (place->kind == WATCH_LINE) && *arrival == 0)
        return c2_fail(err, C2_ERR_INVALID, "%s: arrivals at a place are counted from 1", place->asked);
    return C2_OK;
}

enum c2_status session_place_read(struct session_one_place *out, const char *option, const char *text,
                                  struct c2_error *err)
{
    *out = (struct session_one_place){.name = c2_strdup(text), .asked = c2_format("%s %s", option, text)};
    out->place.asked = out->asked;
    return out->name && out->asked ? regions_read_place(&out->place, &out->arrival, out->name, err)
                                   : c2_fail_memory(err, "a place of the program");
}

void session_place_release(struct session_one_place *place)
{
    c2_free(place->name);
    c2_free(place->asked);
}

enum c2_status session_place_check(const char *option, const char *text, struct c2_error *err)
{
    struct session_one_place place;
    enum c2_status status = session_place_read(&place, option, text, err);
    session_place_release(&place);
    return status;
}

static char *regions_keep(struct session_places *places, char *text)
{
    if (text)
        places->texts[places->text_count++] = text;
    return text;
}

static enum c2_status read_end(struct session_places *places, struct watch_place *place, uint64_t *arrival,
                               const char *option, const char *text, struct c2_error *err)
{
    char *name = regions_keep(places, c2_format("%s", text));
    place->asked = regions_keep(places, c2_format("%s %s", option, text));
    return name && place->asked ? regions_read_place(place, arrival, name, err) : c2_fail_memory(err, "the regions");
}

static enum c2_status read_functions(struct session_places *places, const struct session_regions *asked,
                                     struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < asked->function_count && status == C2_OK; i++) {
        struct watch_place *place = &places->functions[i];
        *place = (struct watch_place){.kind = WATCH_FUNCTION, .name = asked->functions[i]};
        place->asked = regions_keep(places, c2_format("--roi %s", asked->functions[i]));
        if (!place->asked)
            status = c2_fail_memory(err, "the regions");
        else if (place->name[0] == '\0')
            status = c2_fail(err, C2_ERR_INVALID, "--roi must name a function");
    }
    places->regions.functions = places->functions;
    places->regions.function_count = (uint32_t)asked->function_count;
    return status;
}

enum c2_status session_places_read(struct session_places *out, const struct session_regions *asked,
                                   struct c2_error *err)
{
    *out = (struct session_places){0};
    out->functions = c2_calloc(asked->function_count + 1, sizeof *out->functions);
    out->texts = c2_calloc(asked->function_count + 4, sizeof *out->texts);
    if (!out->functions || !out->texts)
        return c2_fail_memory(err, "the regions");
    out->regions.requests = asked->requests;
    out->regions.instrumented = !asked->instr_off;
    out->regions.collecting = !asked->collect_off;
    enum c2_status status = read_functions(out, asked, err);
    if (status == C2_OK && asked->from) {
        out->regions.from = &out->from;
        status = read_end(out, &out->from, &out->regions.from_arrival, "--from", asked->from, err);
    }
    if (status == C2_OK && asked->to) {
        out->regions.to = &out->to;
        status = read_end(out, &out->to, &out->regions.to_arrival, "--to", asked->to, err);
    }
    return status;
}

void session_places_release(struct session_places *places)
{
    for (size_t i = 0; i < places->text_count; i++)
        c2_free(places->texts[i]);
    c2_free(places->texts);
    c2_free(places->functions);
}

/* ------------------------------------------------------------------ what cannot be */

static enum c2_status regions_check_words(const struct session_regions *regions, struct c2_error *err)
{
    struct session_places places;
    enum c2_status status = session_places_read(&places, regions, err);
    session_places_release(&places);
    return status;
}

/* Frames of calls that were skipped would be wrong ones. */
static enum c2_status check_calls(const struct session_options *options, struct c2_error *err)
{
    const enum session_warm warm = options->regions.warm;
    const bool samples = options->sampling.skip != 0 || options->sampling.period != 0 || options->sampling.points;
    const bool skips = samples ? warm != SESSION_WARM_FUNCTIONAL
                               : warm == SESSION_WARM_NONE || warm == SESSION_WARM_FLUSH;
    const char *option = options->analyses[ANALYSIS_callgraph] ? analyses_option(ANALYSIS_callgraph)
                         : options->folded                     ? "folded"
                         : options->pprof                      ? "pprof"
                                                               : session_contexts_option(&options->separate);
    if (!skips || !option)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--%s follows every call, also of what is not measured; %s", option,
                   warm == SESSION_WARM_USUAL ? "add --warm functional" : "leave it out, or take --warm functional");
}

enum c2_status session_regions_check(const struct session_options *options, struct c2_error *err)
{
    const struct session_regions *regions = &options->regions;
    if (check_calls(options, err) != C2_OK)
        return C2_ERR_INVALID;
    if (!session_regions_asked(regions) && !session_sampling_asked(&options->sampling) &&
        regions->warm != SESSION_WARM_USUAL)
        return c2_fail(err, C2_ERR_INVALID,
                       "--warm says what becomes of what is not measured; add --roi, --from, --to or --skip");
    if (!session_regions_asked(regions))
        return C2_OK;
    if (regions->function_count != 0 && (regions->from || regions->to))
        return c2_fail(err, C2_ERR_INVALID, "--roi and --%s both say what is measured; leave one out",
                       regions->from ? "from" : "to");
    const char *option = regions->function_count != 0 ? "roi"
                         : regions->from              ? "from"
                         : regions->to                ? "to"
                                                      : "requests";
    if (options->no_sim)
        return c2_fail(err, C2_ERR_INVALID, "--%s says what is measured, and --no-sim measures nothing; leave one out",
                       option);
    if (options->advise || options->points.find)
        return c2_fail(err, C2_ERR_INVALID, "%s the whole run; leave --%s out",
                       options->advise ? "advise plays" : "points looks at", option);
    if (regions->requests && options->analyses[ANALYSIS_against])
        return c2_fail(err, C2_ERR_INVALID,
                       "--against cannot drop what was counted, which the program may request; leave --requests out");
    if (options->sampling.points)
        return c2_fail(err, C2_ERR_INVALID, "--points has samples of the whole run; leave --%s out", option);
    if (options->sampling.start != 0)
        return c2_fail(err, C2_ERR_INVALID, "--start is of samples of the whole run; leave --%s out", option);
    if (options->sampling.precision != 0)
        return c2_fail(err, C2_ERR_INVALID, "--precision is of samples of the whole run; leave --%s out", option);
    return regions_check_words(regions, err);
}
