/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * placement: --pages, and the policies of --place.
 *
 * Model
 *   The policies are mmu's. Colours are a matter of the machine, so the key that names the level they come from,
 *   `level`, is taken out here: colours = sets * line / page size of that level (one slice's sets), at least 1. So is
 *   `seed`, that of the placement alone.
 */
#include <string.h>

#include "session/session_priv.h"

/* Takes `,KEY=VALUE` out of the text. value: of `bytes`, left as it was when there is none. False: it is there twice.
 */
static bool placement_take_key(char *text, const char *key, char *value, size_t bytes)
{
    char *at = strstr(text, key);
    if (!at)
        return true;
    char *from = at + strlen(key);
    const size_t length = strcspn(from, ",");
    snprintf(value, bytes, "%.*s", (int)length, from);
    memmove(at, from + length, strlen(from + length) + 1);
    return !strstr(text, key);
}

static enum c2_status fail_twice(const char *option, const char *text, const char *key, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID, "%s %s: the key %s is given twice; leave one out", option, text, key);
}

enum c2_status session_huge(enum mmu_huge *out, const char *option, const char *word, struct c2_error *err)
{
    const char *words[MMU_HUGE_ALL + 1];
    unsigned index;
    for (unsigned i = 0; i <= MMU_HUGE_ALL; i++)
        words[i] = mmu_huge_name((enum mmu_huge)i);
    enum c2_status status = session_word(&index, option, word, words, MMU_HUGE_ALL + 1, err);
    *out = (enum mmu_huge)index;
    return status;
}

static bool is_map(const char *text) { return strncmp(text, "file=", 5) == 0 || strncmp(text, "file:", 5) == 0; }

static enum c2_status set_colors(struct mmu_config *config, const char *option, const struct caches_machine *machine,
                                 const char *level, struct c2_error *err)
{
    const char *names[CACHES_MAX_LEVELS];
    for (uint32_t i = 0; i < machine->level_count; i++) {
        names[i] = machine->levels[i].name;
        if (strcmp(names[i], level) != 0)
            continue;
        config->colors = caches_level_colors(machine, &machine->levels[i]);
        return C2_OK;
    }
    char hint[256];
    return c2_fail(err, C2_ERR_INVALID, "%s: machine %s has no level \"%s\"%s", option, machine->name, level,
                   c2_suggest(hint, sizeof hint, level, names, machine->level_count));
}

/* The option's name goes before what mmu says of its value. */
static enum c2_status placement_parse(struct mmu_config *out, const char *option, const char *text,
                                      struct c2_error *err)
{
    struct c2_error why = {0};
    enum c2_status status = mmu_placement_parse(out, text, &why);
    return status == C2_OK ? C2_OK : c2_fail(err, status, "%s: %s", option, why.text);
}

enum c2_status session_policy(struct mmu_config *out, const char *option, const char *text,
                              const struct caches_machine *machine, uint64_t seed, struct c2_error *err)
{
    *out = (struct mmu_config){.physical_bytes = machine->physical_bytes, .seed = seed, .colors = 1};
    char rest[MMU_PATH_BYTES + 64], level[CACHES_NAME_BYTES];
    if (strlen(text) >= sizeof rest)
        return c2_fail(err, C2_ERR_INVALID, "%s: the value is longer than %zu characters", option, sizeof rest - 1);
    snprintf(level, sizeof level, "%s", machine->levels[machine->level_count > 1 ? 1 : 0].name);
    if (is_map(text))
        return placement_parse(out, option, text, err);
    strcpy(rest, text);
    if (!placement_take_key(rest, ",level=", level, sizeof level))
        return fail_twice(option, text, "level", err);
    enum c2_status status = placement_parse(out, option, rest, err);
    if (status != C2_OK)
        return status;
    if (strcmp(rest, text) != 0 && out->placement != MMU_SAME_COLOR && out->placement != MMU_COLORED)
        return c2_fail(err, C2_ERR_INVALID, "%s %s: the key level belongs to same-color and colored", option, text);
    status = set_colors(out, option, machine, level, err);
    if (status == C2_OK && out->placement == MMU_SAME_COLOR && out->color >= out->colors)
        return c2_fail(err, C2_ERR_INVALID, "%s: color=%u: %s of machine %s has %u colours, 0 to %u", option,
                       out->color, level, machine->name, out->colors, out->colors - 1);
    return status;
}

enum c2_status session_placement(struct mmu_config *out, const char *text, const struct caches_machine *machine,
                                 uint64_t seed, struct c2_error *err)
{
    char rest[MMU_PATH_BYTES + 64], own[32] = "";
    if (is_map(text) || strlen(text) >= sizeof rest)
        return session_policy(out, "--pages", text, machine, seed, err);
    strcpy(rest, text);
    const bool given = strstr(rest, ",seed=");
    if (!placement_take_key(rest, ",seed=", own, sizeof own))
        return fail_twice("--pages", text, "seed", err);
    enum c2_status status = !given ? C2_OK : c2_parse_number(&seed, own, "--pages: seed", err);
    return status == C2_OK ? session_policy(out, "--pages", rest, machine, seed, err) : status;
}
