/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The text form of a placement: POLICY[,KEY=VALUE...].
 */
#include <string.h>

#include "mmu/mmu.h"

static const char *const policies[] = {
    [MMU_SEQUENTIAL] = "sequential",
    [MMU_RANDOM] = "random",
    [MMU_IDENTITY] = "identity",
    [MMU_SAME_COLOR] = "same-color",
};
#define POLICY_COUNT (sizeof policies / sizeof policies[0])

static const char *const color_keys[] = {"color"};

const char *mmu_placement_name(enum mmu_placement placement)
{
    return (unsigned)placement < POLICY_COUNT ? policies[placement] : "unknown";
}

static enum c2_status parse_policy(struct mmu_config *config, const char *name, struct c2_error *err)
{
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        if (strcmp(name, policies[i]) == 0) {
            config->placement = (enum mmu_placement)i;
            return C2_OK;
        }
    }
    char hint[200];
    return c2_fail(err, C2_ERR_INVALID, "there is no page placement policy \"%s\"%s", name,
                   c2_suggest(hint, sizeof hint, name, policies, POLICY_COUNT));
}

static enum c2_status parse_color(struct mmu_config *config, const char *value, struct c2_error *err)
{
    uint64_t color;
    enum c2_status status = c2_parse_number(&color, value, "color", err);
    if (status != C2_OK)
        return status;
    if (color > UINT32_MAX)
        return c2_fail(err, C2_ERR_INVALID, "color=%s is too large for a page colour", value);
    config->color = (uint32_t)color;
    return C2_OK;
}

/* key is "KEY=VALUE", cut at the '=' here. */
static enum c2_status parse_key(struct mmu_config *config, char *key, struct c2_error *err)
{
    const char *policy = mmu_placement_name(config->placement);
    char *value = strchr(key, '=');
    if (value)
        *value++ = '\0';
    if (config->placement != MMU_SAME_COLOR)
        return c2_fail(err, C2_ERR_INVALID, "the placement policy \"%s\" has no key \"%s\": it takes none",
                       policy, key);
    if (strcmp(key, "color") != 0) {
        char hint[200];
        return c2_fail(err, C2_ERR_INVALID, "the placement policy \"%s\" has no key \"%s\"%s", policy, key,
                       c2_suggest(hint, sizeof hint, key, color_keys, 1));
    }
    if (!value)
        return c2_fail(err, C2_ERR_INVALID, "the key \"color\" of placement policy \"%s\" needs a value: color=N",
                       policy);
    return parse_color(config, value, err);
}

enum c2_status mmu_placement_parse(struct mmu_config *config, const char *text, struct c2_error *err)
{
    char *copy = c2_strdup(text);
    if (!copy)
        return c2_fail_memory(err, "the placement policy");
    struct mmu_config parsed = *config;
    parsed.color = 0;
    char *rest = copy;
    enum c2_status status = parse_policy(&parsed, strsep(&rest, ","), err);
    while (status == C2_OK && rest)
        status = parse_key(&parsed, strsep(&rest, ","), err);
    if (status == C2_OK)
        *config = parsed;
    c2_free(copy);
    return status;
}
