/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * against: --against.
 *
 * Model
 *   The other placement is that of the run with one thing changed: its huge pages, or its policy. Machine, seed and
 *   what else the options say about memory are the same. A policy is for all of memory, without the rules of --place,
 *   and huge pages are those of the word alone, without the regions of --huge.
 */
#include <string.h>

#include "session/session_priv.h"

static enum c2_status change_huge(struct mmu_config *out, const char *word, struct c2_error *err)
{
    out->huge_region_count = 0; /* the word is for all of memory */
    return session_huge(&out->huge, "--against huge=", word, err);
}

/* `Huge`, `huge,size=1G`: meant as huge, and no policy. */
static bool resembles_huge(const char *text)
{
    static const char *const huge[] = {"huge"};
    char head[16];
    snprintf(head, sizeof head, "%.*s", (int)strcspn(text, ",=:"), text);
    return c2_nearest(head, huge, 1);
}

static enum c2_status change_policy(struct mmu_config *out, const char *text, const struct caches_machine *machine,
                                    struct c2_error *err)
{
    struct mmu_config policy;
    enum c2_status status = session_policy(&policy, "--against", text, machine, out->seed, err);
    if (status != C2_OK)
        return status;
    out->placement = policy.placement;
    out->colors = policy.colors;
    out->color = policy.color;
    out->age = policy.age;
    memcpy(out->map, policy.map, sizeof out->map);
    out->rule_count = 0; /* the policy is for every page */
    return C2_OK;
}

enum c2_status session_against(struct mmu_config *out, const struct mmu_config *placement, const char *text,
                               const struct caches_machine *machine, struct c2_error *err)
{
    *out = *placement;
    out->log_placements = false;
    if (strcmp(text, "huge") == 0)
        return change_huge(out, "all", err);
    if (strncmp(text, "huge=", strlen("huge=")) == 0)
        return change_huge(out, text + strlen("huge="), err);
    if (resembles_huge(text))
        return c2_fail(err, C2_ERR_INVALID,
                       "--against %s: huge pages there are `huge` or `huge=WORD`, of the size that "
                       "--huge-size says",
                       text);
    return change_policy(out, text, machine, err);
}
