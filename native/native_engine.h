/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * native: the engine that executes guests on the host's processor itself, from a cache of their instructions.
 */
#ifndef C2_NATIVE_ENGINE_H
#define C2_NATIVE_ENGINE_H

#include "engine/engine_ops.h"

extern const struct engine_ops engine_native_ops; /* "native" */

/* NULL: this host has what the engine needs; else what it lacks, part of a sentence. */
const char *native_lacks(void);

#endif
