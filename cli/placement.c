/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * placement: --pages, and the policies of --place.
 *
 * Model
 *   The policies are mmu's. Colours are a matter of the machine, so the key that names the level they come from,
 *   `level`, is taken out here: colours = sets * line / page size of that level (one slice's sets), at least 1.
 */
#include <string.h>

#include "cli/cli.h"

/* Copies text to rest without its `,level=NAME`; level is left as it was when there is none. */
static void take_level(char *rest, char level[CACHES_NAME_BYTES], const char *text)
{
    strcpy(rest, text);
    char *key = strstr(rest, ",level=");
    if (!key)
        return;
    char *value = key + strlen(",level=");
    const size_t length = strcspn(value, ",");
    snprintf(level, CACHES_NAME_BYTES, "%.*s", (int)length, value);
    memmove(key, value + length, strlen(value + length) + 1);
}

static enum c2_status set_colors(struct mmu_config *config, const char *option, const struct caches_machine *machine,
                                 const char *level, struct c2_error *err)
{
    const char *names[CACHES_MAX_LEVELS];
    for (uint32_t i = 0; i < machine->level_count; i++) {
        names[i] = machine->levels[i].name;
        if (strcmp(names[i], level) != 0)
            continue;
        uint64_t bytes = (uint64_t)caches_level_sets(machine, &machine->levels[i]) * machine->line_bytes;
        config->colors = bytes >= C2_PAGE_BYTES ? (uint32_t)(bytes / C2_PAGE_BYTES) : 1;
        return C2_OK;
    }
    char hint[256];
    return c2_fail(err, C2_ERR_INVALID, "%s: machine %s has no level \"%s\"%s", option, machine->name, level,
                   c2_suggest(hint, sizeof hint, level, names, machine->level_count));
}

/* The option's name goes before what mmu says of its value. */
static enum c2_status parse(struct mmu_config *out, const char *option, const char *text, struct c2_error *err)
{
    struct c2_error why = {0};
    enum c2_status status = mmu_placement_parse(out, text, &why);
    return status == C2_OK ? C2_OK : c2_fail(err, status, "%s: %s", option, why.text);
}

enum c2_status cli_policy(struct mmu_config *out, const char *option, const char *text,
                          const struct caches_machine *machine, uint64_t seed, struct c2_error *err)
{
    *out = (struct mmu_config){.physical_bytes = machine->physical_bytes, .seed = seed, .colors = 1};
    char rest[MMU_PATH_BYTES + 64], level[CACHES_NAME_BYTES];
    if (strlen(text) >= sizeof rest)
        return c2_fail(err, C2_ERR_INVALID, "%s: the value is longer than %zu characters", option, sizeof rest - 1);
    snprintf(level, sizeof level, "%s", machine->levels[machine->level_count > 1 ? 1 : 0].name);
    if (strncmp(text, "file=", 5) == 0 || strncmp(text, "file:", 5) == 0)
        return parse(out, option, text, err);
    take_level(rest, level, text);
    if (strstr(rest, ",level="))
        return c2_fail(err, C2_ERR_INVALID, "%s %s: the key level is given twice; leave one out", option, text);
    enum c2_status status = parse(out, option, rest, err);
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

enum c2_status cli_placement(struct mmu_config *out, const char *text, const struct caches_machine *machine,
                             uint64_t seed, struct c2_error *err)
{
    return cli_policy(out, "--pages", text, machine, seed, err);
}
