/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which engine a test is of: C2_TEST_ENGINE names it, else it is Unicorn's.
 */
#ifndef C2_TESTS_ENGINE_TESTED_H
#define C2_TESTS_ENGINE_TESTED_H

#include <stdlib.h>
#include <string.h>

#include "native/native_engine.h"
#include "unicorn/unicorn_engine.h"

static inline bool tests_native(void)
{
    const char *name = getenv("C2_TEST_ENGINE");
    return name && strcmp(name, "native") == 0;
}

static inline const struct engine_ops *tested_engine(void)
{
    return tests_native() ? &engine_native_ops : &engine_unicorn_ops;
}

/* Memory as the engine needs it. */
static inline enum c2_status tested_memory(struct mmu **out, const struct mmu_guest_config *config,
                                           struct c2_error *err)
{
    enum c2_status status = mmu_create(out, config, err);
    return status == C2_OK && tests_native() ? mmu_enforce(*out, MMU_ENFORCED_BY_ANY, err) : status;
}

#endif
