/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contexts_priv: contexts of functions in words, for the report and for profiles.
 */
#ifndef C2_REPORT_CONTEXTS_PRIV_H
#define C2_REPORT_CONTEXTS_PRIV_H

#include "report/report_priv.h"

/* "fib2:i=4:j=4": the function, and what it was called with. NULL: no memory. */
const char *report_symbol_text(struct c2_pool *pool, const struct report_run *run, uint32_t symbol);
/* ":i=4'2'main": what stands behind the function's name; "" in the outermost context of one that nothing tells apart.
 * NULL: no memory. */
const char *report_context_suffix(struct c2_pool *pool, const struct report_run *run,
                                  const struct analyses_context *context);

/* contexts.c: a chapter. */
void report_add_contexts(struct document *d, struct digest *digest);

#endif
