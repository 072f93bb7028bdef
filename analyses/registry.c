/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * registry: the analyses of one simulated machine, those that the options ask for.
 *
 * Model
 *   They are made in the order of the registry's rows, subscribe in that order, and end in the opposite one. One that
 *   needs another finds it among those made before it: what is wanted is found from the last row to the first.
 *
 * Invariants
 *   One attributes at most. What was not asked for is not made, and no loop over subscribers passes it.
 */
#include "analyses/profile_priv.h"

static const struct analysis_kind *const kinds[ANALYSES_KINDS] = {
#define X(name, option, argument, help) &analysis_##name,
    ANALYSES(X)
#undef X
};

static const char *const option_names[ANALYSES_KINDS] = {
#define X(name, option, argument, help) option,
    ANALYSES(X)
#undef X
};

static const struct {
    const char *option;
    enum analysis_number of;
} settings[ANALYSES_SETTING_KINDS] = {
#define X(name, analysis, option, argument, help) {option, ANALYSIS_##analysis},
    ANALYSES_SETTINGS(X)
#undef X
};

struct analyses {
    struct analysis *list[ANALYSES_KINDS]; /* NULL: not asked for */
    struct sim_subscriber subscribers[ANALYSES_KINDS];
    size_t subscriber_count;
    struct sim_attribution attribution;
    bool attributes;
};

const char *analyses_option(enum analysis_number number) { return option_names[number]; }
const struct analysis_kind *analyses_kind_of(enum analysis_number number) { return kinds[number]; }

/* ------------------------------------------------------------------ settings */

const char *analyses_setting_option(enum analysis_setting setting) { return settings[setting].option; }
enum analysis_number analyses_setting_of(enum analysis_setting setting) { return settings[setting].of; }

const char *analyses_setting(const struct analyses_setup *setup, enum analysis_setting setting)
{
    return setup->settings ? setup->settings[setting] : NULL;
}

enum c2_status analyses_setting_number(uint64_t *out, const struct analyses_setup *setup, enum analysis_setting setting,
                                       uint64_t usual, uint64_t least, uint64_t most, struct c2_error *err)
{
    const char *word = analyses_setting(setup, setting);
    *out = usual;
    if (!word || (c2_parse_number(out, word, "", NULL) == C2_OK && least <= *out && *out <= most))
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--%s %s: must be a number, %llu to %llu", settings[setting].option, word,
                   (unsigned long long)least, (unsigned long long)most);
}

/* ------------------------------------------------------------------ life */

/* As bits, 1u << number. */
static unsigned find_wanted(const struct analyses_setup *setup)
{
    unsigned wanted = 0;
    for (unsigned i = ANALYSES_KINDS; i-- > 0;) {
        const struct analysis_kind *kind = kinds[i];
        const bool asked = (!!setup->given[i]) != kind->on_without_option || (kind->wanted && kind->wanted(setup));
        C2_ASSERT(kind->needs >> i == 0);
        const bool applies = !kind->applies || kind->applies(setup->machine);
        const bool read = !kind->for_findings || !setup->unnamed;
        if (applies && read && (kind->every_machine || !setup->first) && (asked || wanted >> i & 1))
            wanted |= 1u << i | kind->needs;
    }
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        if ((kinds[i]->only_with & ~wanted) != 0)
            wanted &= ~(1u << i);
    return wanted;
}

static void connect(struct analyses *analyses, struct analysis *analysis)
{
    const struct analysis_kind *kind = analysis->kind;
    analyses->subscribers[analyses->subscriber_count++] = kind->subscriber(analysis);
    if (!kind->attribution)
        return;
    C2_ASSERT(!analyses->attributes);
    analyses->attribution = kind->attribution(analysis);
    analyses->attributes = true;
}

enum c2_status analyses_need_stores_to_stay(const struct caches_machine *machine, const char *option,
                                            struct c2_error *err)
{
    if (!caches_machine_writes_on(machine))
        return C2_OK;
    return c2_fail(err, C2_ERR_UNSUPPORTED,
                   "%s does not follow stores that go on from a level, and %s has levels with write = through or "
                   "allocate = no: leave one out",
                   option, machine->name);
}

enum c2_status analyses_create(struct analyses **out, const struct analyses_setup *setup, struct c2_error *err)
{
    struct analyses *analyses = *out = c2_calloc(1, sizeof *analyses);
    if (!analyses)
        return c2_fail_memory(err, "the analyses");
    const unsigned wanted = find_wanted(setup);
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < ANALYSES_KINDS && status == C2_OK; i++) {
        if ((wanted >> i & 1) == 0)
            continue;
        status = kinds[i]->create(&analyses->list[i], setup, analyses, err);
        C2_ASSERT((status == C2_OK) == !!analyses->list[i]);
        if (status == C2_OK)
            connect(analyses, analyses->list[i]);
    }
    if (status == C2_OK)
        return C2_OK;
    analyses_destroy(analyses);
    *out = NULL;
    return status;
}

void analyses_destroy(struct analyses *analyses)
{
    for (unsigned i = ANALYSES_KINDS; i-- > 0 && analyses;)
        if (analyses->list[i])
            kinds[i]->destroy(analyses->list[i]);
    c2_free(analyses);
}

void analyses_follow(const struct analyses *analyses, const struct analyses *leader)
{
    if (analyses->list[ANALYSIS_profile])
        profile_follow(analyses->list[ANALYSIS_profile], leader->list[ANALYSIS_profile]);
}

void analyses_subscribe(const struct analyses *analyses, struct sim_config *config)
{
    config->subscribers = analyses->subscribers;
    config->subscriber_count = analyses->subscriber_count;
    config->attribution = analyses->attributes ? &analyses->attribution : NULL;
}

bool analyses_want_marks(const struct analyses *analyses)
{
    for (size_t i = 0; i < analyses->subscriber_count; i++)
        if (analyses->subscribers[i].mark)
            return true;
    return false;
}

bool analyses_want_memory(const struct analyses *analyses)
{
    for (size_t i = 0; i < analyses->subscriber_count; i++)
        if (analyses->subscribers[i].memory)
            return true;
    return false;
}

struct analysis *analyses_find(const struct analyses *analyses, enum analysis_number number)
{
    return analyses->list[number];
}

const void *analyses_result(const struct analyses *analyses, enum analysis_number number)
{
    const bool has = analyses->list[number] && kinds[number]->result;
    return has ? kinds[number]->result(analyses->list[number]) : NULL;
}

enum c2_status analyses_commit(struct analyses *analyses, struct c2_error *err)
{
    enum c2_status first = C2_OK;
    for (unsigned i = 0; i < ANALYSES_KINDS; i++) {
        struct c2_error mine;
        if (!analyses->list[i] || !kinds[i]->commit)
            continue;
        const enum c2_status status = kinds[i]->commit(analyses->list[i], &mine);
        if (status == C2_OK || first != C2_OK)
            continue;
        first = status;
        *err = mine;
    }
    return first;
}

enum c2_status analyses_restart(struct analyses *analyses, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < ANALYSES_KINDS && status == C2_OK; i++)
        if (analyses->list[i] && kinds[i]->restart)
            status = kinds[i]->restart(analyses->list[i], err);
    return status;
}
