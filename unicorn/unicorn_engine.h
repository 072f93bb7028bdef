/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * unicorn: the engine that executes guests by Unicorn, a library that translates their code for any host.
 */
#ifndef C2_UNICORN_ENGINE_H
#define C2_UNICORN_ENGINE_H

#include "engine/engine_ops.h"

extern const struct engine_ops engine_unicorn_ops; /* "unicorn" */

#endif
