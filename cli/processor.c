/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The processor that the guest finds: --cpu.
 */
#include <string.h>

#include "cli/cli_priv.h"

static enum c2_status unknown(const char *name, struct c2_error *err)
{
    const char *known[CPU_LEVELS + 1] = {[CPU_LEVELS] = "host"};
    char hint[256];
    for (unsigned i = 0; i < CPU_LEVELS; i++)
        known[i] = cpu_of_level(i)->name;
    return c2_fail(err, C2_ERR_INVALID, "--cpu: unknown processor \"%s\"%s", name,
                   c2_suggest(hint, sizeof hint, name, known, CPU_LEVELS + 1));
}

enum c2_status cli_processor(const struct cpu_model **out, const struct cli_options *options, struct c2_error *err)
{
    static struct cpu_model host;
    enum c2_status status = C2_OK;
    *out = options->cpu ? cpu_by_name(options->cpu) : cpu_of_level(CPU_V2);
    if (options->cpu && strcmp(options->cpu, "host") == 0) {
        status = cpu_of_host(&host, err);
        *out = &host;
    }
    if (!*out)
        return unknown(options->cpu, err);
    if (status != C2_OK || *out == cpu_of_level(CPU_V2))
        return status;
    if (strcmp(options->engine, "native") != 0)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "--cpu %s needs --engine native: %s executes x86-64-v2", options->cpu,
                       options->engine);
    return cpu_host_has(*out, err);
}
