/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * analyses: what can be plugged into a run to see its references. One file each; what is not plugged in costs nothing.
 * An analysis is made before the simulator, hands out an observer for sim_config, is called for every reference on
 * the thread that consumes the stream, and is finished after the last drain.
 */
#ifndef C2_ANALYSES_H
#define C2_ANALYSES_H

#include "base/base.h"
#include "sim/sim.h"

/* ------------------------------------------------------------------ trace: every reference to a file (--trace)
 * The form is chosen by the name: see trace.c. line_bytes: of the machine (the din form has one line for each
 * cache line touched). "-" is standard output. */
struct analyses_trace;
enum c2_status analyses_trace_create(struct analyses_trace **out, const char *path, uint32_t line_bytes,
                                     struct c2_error *err);
struct sim_observer analyses_trace_observer(struct analyses_trace *trace); /* lent until commit or destroy */
/* Writes what is left and makes the file appear under its name. Frees trace either way. */
enum c2_status analyses_trace_commit(struct analyses_trace *trace, struct c2_error *err);
void analyses_trace_destroy(struct analyses_trace *trace); /* gives up: no file appears. Takes NULL */

#endif
