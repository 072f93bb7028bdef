/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The text form of a placement: POLICY[,KEY=VALUE...], or file=PATH (file:PATH).
 */
#include <ctype.h>
#include <string.h>

#include "mmu/replica.h"

/* One row a policy: its name, and its only key if it has one. */
static const struct {
    const char *name, *key;
} policies[] = {
    [MMU_SEQUENTIAL] = {"sequential", NULL},
    [MMU_RANDOM] = {"random", NULL},
    [MMU_IDENTITY] = {"identity", NULL},
    [MMU_SAME_COLOR] = {"same-color", "color"},
    [MMU_COLORED] = {"colored", NULL},
    [MMU_BUDDY] = {"buddy", "age"},
    [MMU_MAP] = {"file", NULL},
};
#define POLICY_COUNT (sizeof policies / sizeof policies[0])

const char *mmu_placement_name(enum mmu_placement placement)
{
    return (unsigned)placement < POLICY_COUNT ? policies[placement].name : "unknown";
}

static enum c2_status placement_parse_policy(struct mmu_config *config, const char *name, struct c2_error *err)
{
    const char *names[POLICY_COUNT];
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        names[i] = policies[i].name;
        if (strcmp(name, names[i]) == 0) {
            config->placement = (enum mmu_placement)i;
            return C2_OK;
        }
    }
    char hint[200];
    return c2_fail(err, C2_ERR_INVALID, "there is no page placement policy \"%s\"%s", name,
                   c2_suggest(hint, sizeof hint, name, names, POLICY_COUNT));
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

/* 0, 1, 0.7, 0.725: thousandths without a detour through floating point. */
static enum c2_status parse_age(struct mmu_config *config, const char *value, struct c2_error *err)
{
    uint32_t age = value[0] == '1' ? 1000 : 0;
    const char *rest = value + 1;
    bool good = value[0] == '0' || value[0] == '1';
    if (good && *rest == '.') {
        rest++;
        good = isdigit((unsigned char)*rest);
        for (uint32_t weight = 100; weight > 0 && isdigit((unsigned char)*rest); weight /= 10)
            age += weight * (uint32_t)(*rest++ - '0');
    }
    if (!good || *rest != '\0' || age > 1000)
        return c2_fail(err, C2_ERR_INVALID, "age=%s: the age of a machine is 0 (fresh) to 1, with at most 3 decimals",
                       value);
    config->age = age;
    return C2_OK;
}

/* key is "KEY=VALUE", cut at the '=' here. */
static enum c2_status parse_key(struct mmu_config *config, char *key, struct c2_error *err)
{
    C2_ASSERT((unsigned)config->placement < POLICY_COUNT);
    const char *policy = mmu_placement_name(config->placement), *known = policies[config->placement].key;
    char *value = strchr(key, '=');
    if (value)
        *value++ = '\0';
    if (!known)
        return c2_fail(err, C2_ERR_INVALID, "the placement policy \"%s\" has no key \"%s\": it takes none", policy,
                       key);
    if (strcmp(key, known) != 0) {
        char hint[200];
        return c2_fail(err, C2_ERR_INVALID, "the placement policy \"%s\" has no key \"%s\"%s", policy, key,
                       c2_suggest(hint, sizeof hint, key, &known, 1));
    }
    if (!value)
        return c2_fail(err, C2_ERR_INVALID, "the key \"%s\" of placement policy \"%s\" needs a value: %s=N", known,
                       policy, known);
    return config->placement == MMU_BUDDY ? parse_age(config, value, err) : parse_color(config, value, err);
}

static enum c2_status parse_file(struct mmu_config *config, const char *path, struct c2_error *err)
{
    if (*path == '\0')
        return c2_fail(err, C2_ERR_INVALID, "the placement file= needs the path of a page map: file=PATH");
    if (strlen(path) >= sizeof config->map)
        return c2_fail(err, C2_ERR_INVALID, "the path of the page map is longer than %zu characters",
                       sizeof config->map - 1);
    config->placement = MMU_MAP;
    strcpy(config->map, path);
    return C2_OK;
}

static enum c2_status parse_words(struct mmu_config *config, char *words, struct c2_error *err)
{
    enum c2_status status = placement_parse_policy(config, strsep(&words, ","), err);
    if (status == C2_OK && config->placement == MMU_MAP)
        return parse_file(config, "", err);
    if (status == C2_OK && words)
        status = parse_key(config, strsep(&words, ","), err);
    if (status == C2_OK && words) /* no policy has two keys */
        return c2_fail(err, C2_ERR_INVALID,
                       "behind the key of placement policy \"%s\" is \"%s\": it takes one key, once",
                       mmu_placement_name(config->placement), words);
    return status;
}

enum c2_status mmu_placement_parse(struct mmu_config *config, const char *text, struct c2_error *err)
{
    char *copy = c2_strdup(text);
    if (!copy)
        return c2_fail_memory(err, "the placement policy");
    struct mmu_config parsed = *config;
    parsed.color = parsed.age = 0;
    parsed.map[0] = '\0';
    bool map = strncmp(text, "file=", 5) == 0 || strncmp(text, "file:", 5) == 0;
    enum c2_status status = map ? parse_file(&parsed, text + 5, err) : parse_words(&parsed, copy, err);
    if (status == C2_OK)
        *config = parsed;
    c2_free(copy);
    return status;
}

char *mmu_placement_text(char *buffer, size_t bytes, const struct mmu_config *config)
{
    C2_ASSERT(bytes != 0);
    char key[256] = "";
    if (config->placement == MMU_SAME_COLOR)
        snprintf(key, sizeof key, ",color=%u", config->color);
    else if (config->placement == MMU_BUDDY)
        snprintf(key, sizeof key, ",age=%u.%03u", config->age / 1000, config->age % 1000);
    else if (config->placement == MMU_MAP)
        snprintf(key, sizeof key, "=%.200s", config->map);
    snprintf(buffer, bytes, "placement %s%s with huge pages %s", mmu_placement_name(config->placement), key,
             mmu_huge_name(config->huge));
    return buffer;
}
