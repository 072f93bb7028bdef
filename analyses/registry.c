/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * registry: the analyses of one simulated machine, those that the options ask for.
 *
 * Model
 *   They are made in the order of the registry's rows, subscribe in that order, and end in the opposite one. One that
 *   needs another finds it among those made before it.
 *
 * Invariants
 *   One attributes at most. What was not asked for is not made, and no loop over subscribers passes it.
 */
#include "analyses/analyses.h"

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

struct analyses {
    struct analysis *list[ANALYSES_KINDS]; /* NULL: not asked for */
    struct sim_subscriber subscribers[ANALYSES_KINDS];
    size_t subscriber_count;
    struct sim_attribution attribution;
    bool attributes;
};

const char *analyses_option(enum analysis_number number) { return option_names[number]; }

static bool is_wanted(const struct analysis_kind *kind, const struct analyses_setup *setup, const char *given)
{
    return (kind->every_machine || !setup->first) && (!!given) != kind->on_without_option;
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

enum c2_status analyses_create(struct analyses **out, const struct analyses_setup *setup, struct c2_error *err)
{
    struct analyses *analyses = *out = c2_calloc(1, sizeof *analyses);
    if (!analyses)
        return c2_fail_memory(err, "the analyses");
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < ANALYSES_KINDS && status == C2_OK; i++) {
        if (!is_wanted(kinds[i], setup, setup->given[i]))
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
