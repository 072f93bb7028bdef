/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What executes the guest, and the processor that it finds: --engine, --cpu.
 */
#include <string.h>

#include "cli/cli_priv.h"

const char *cli_engine(const struct cli_options *options) { return emu_engine_of(options->engine, options->sandbox); }

static enum c2_status unknown(const char *name, struct c2_error *err)
{
    const char *known[CPU_LEVELS + 1] = {[CPU_LEVELS] = "host"};
    char hint[256];
    for (unsigned i = 0; i < CPU_LEVELS; i++)
        known[i] = cpu_of_level(i)->name;
    return c2_fail(err, C2_ERR_INVALID, "--cpu: unknown processor \"%s\"%s", name,
                   c2_suggest(hint, sizeof hint, name, known, CPU_LEVELS + 1));
}

/* The processor is beyond what the engine executes. */
static enum c2_status too_much(const struct cli_options *options, struct c2_error *err)
{
    if (strcmp(options->engine, EMU_ENGINE) == 0 && !options->sandbox)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "--cpu %s is executed by this processor itself, and that needs %s",
                       options->cpu, emu_native_lacks() ? emu_native_lacks() : "a c2emu without sanitizers");
    return c2_fail(err, C2_ERR_UNSUPPORTED, "--cpu %s needs --engine native: %s%s executes x86-64-v2", options->cpu,
                   options->sandbox ? "a program in a sandbox belongs to another one, and " : "", cli_engine(options));
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
    return emu_engine_is_on_host(cli_engine(options)) ? cpu_host_has(*out, err) : too_much(options, err);
}
