/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The engines by name.
 */
#include <string.h>

#include "emu/emu.h"
#include "native/native_engine.h"
#include "unicorn/unicorn_engine.h"

static const struct engine_ops *const engines[] = {&engine_unicorn_ops, &engine_native_ops};
#define ENGINES (sizeof engines / sizeof *engines)

/* What sanitizers put into the process (shadows of its memory, handlers of signals) is not tried with guests in it. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

const char *emu_native_lacks(void) { return native_lacks(); }

const char *emu_engine_of(const char *name, bool hostile)
{
    C2_ASSERT(name);
    if (strcmp(name, EMU_ENGINE) != 0)
        return name;
    return hostile || IS_SANITIZED || native_lacks() ? engine_unicorn_ops.name : engine_native_ops.name;
}

enum c2_status emu_engine(const struct engine_ops **out, const char *name, struct c2_error *err)
{
    C2_ASSERT(name);
    const char *known[ENGINES + 1] = {[ENGINES] = EMU_ENGINE};
    char hint[256];
    for (size_t i = 0; i < ENGINES; i++) {
        *out = engines[i];
        if (strcmp(engines[i]->name, name) == 0)
            return C2_OK;
        known[i] = engines[i]->name;
    }
    *out = NULL;
    return c2_fail(err, C2_ERR_INVALID, "unknown engine \"%s\"%s", name,
                   c2_suggest(hint, sizeof hint, name, known, ENGINES + 1));
}

enum c2_status emu_engine_version(char out[EMU_VERSION_BYTES], const char *name, struct c2_error *err)
{
    _Static_assert(EMU_VERSION_BYTES >= 2 * ENGINE_VERSION_BYTES, "a name and a version");
    const struct engine_ops *ops;
    enum c2_status status = emu_engine(&ops, name, err);
    char version[ENGINE_VERSION_BYTES];
    if (status == C2_OK)
        status = ops->version(version, err);
    if (status == C2_OK)
        snprintf(out, EMU_VERSION_BYTES, "%s %s", ops->name, version);
    return status;
}

bool emu_engine_is_on_host(const char *name)
{
    const struct engine_ops *ops;
    return emu_engine(&ops, name, NULL) == C2_OK && ops->on_host;
}
