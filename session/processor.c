/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What executes the guest, and the processor that it finds: --engine, --cpu.
 *
 * Model
 *   A run has one processor, whatever programs its first one starts. Where no option names it, it is x86-64-v2, or the
 *   level that the first program's file says that it needs (loader/property.c), where the engine and the host have it;
 *   that is added to the options then, so that receipts have it and the run can be made again.
 */
#include <string.h>

#include "session/session_priv.h"

const char *session_engine(const struct session_options *options)
{
    return emu_engine_of(options->engine, options->sandbox);
}

static bool is_open(const struct session_options *options)
{
    return !options->cpu || strcmp(options->cpu, SESSION_CPU) == 0;
}

void session_processor_choose(struct session_options *options)
{
    static const char *const nothing[] = {NULL};
    enum cpu_level level;
    struct c2_error err;
    if (!options->command || !is_open(options))
        return;
    const struct loader_request request = {
        .program = options->command[0], .argv = options->command, .envp = nothing, .seed = options->seed};
    if (loader_needed_cpu(&level, &request, &err) != C2_OK || level == CPU_V2)
        return;
    const struct cpu_model *model = cpu_of_level(level);
    if (emu_engine_is_on_host(session_engine(options)) && cpu_host_has(model, &err) == C2_OK) {
        options->cpu = model->name;
        if (options->words)
            options->words[options->word_count++] = (struct session_word){"cpu", model->name};
    } else if (!options->quiet) {
        fprintf(stderr,
                "c2emu: note: %s needs %s, as its note of properties says, and finds x86-64-v2: more has the engine "
                "native alone, on a host that has it (--cpu %s)\n",
                options->command[0], model->name, model->name);
    }
}

static enum c2_status unknown(const char *name, struct c2_error *err)
{
    const char *known[CPU_LEVELS + 2] = {[CPU_LEVELS] = "host", [CPU_LEVELS + 1] = SESSION_CPU};
    char hint[256];
    for (unsigned i = 0; i < CPU_LEVELS; i++)
        known[i] = cpu_of_level(i)->name;
    return c2_fail(err, C2_ERR_INVALID, "--cpu: unknown processor \"%s\"%s", name,
                   c2_suggest(hint, sizeof hint, name, known, CPU_LEVELS + 2));
}

/* The processor is beyond what the engine executes. */
static enum c2_status too_much(const struct session_options *options, struct c2_error *err)
{
    if (strcmp(options->engine, EMU_ENGINE) == 0 && !options->sandbox)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "--cpu %s is executed by this processor itself, and that needs %s",
                       options->cpu, emu_native_lacks() ? emu_native_lacks() : "a c2emu without sanitizers");
    return c2_fail(err, C2_ERR_UNSUPPORTED, "--cpu %s needs --engine native: %s%s executes x86-64-v2", options->cpu,
                   options->sandbox ? "a program in a sandbox belongs to another one, and " : "",
                   session_engine(options));
}

enum c2_status session_processor(const struct cpu_model **out, const struct session_options *options,
                                 struct c2_error *err)
{
    static struct cpu_model host;
    enum c2_status status = C2_OK;
    *out = is_open(options) ? cpu_of_level(CPU_V2) : cpu_by_name(options->cpu);
    if (!is_open(options) && strcmp(options->cpu, "host") == 0) {
        status = cpu_of_host(&host, err);
        *out = &host;
    }
    if (!*out)
        return unknown(options->cpu, err);
    if (status != C2_OK || *out == cpu_of_level(CPU_V2))
        return status;
    return emu_engine_is_on_host(session_engine(options)) ? cpu_host_has(*out, err) : too_much(options, err);
}
