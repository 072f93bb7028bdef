/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * proposals_priv: what the text and the JSON of `c2emu advise` share.
 */
#ifndef C2_REPORT_PROPOSALS_PRIV_H
#define C2_REPORT_PROPOSALS_PRIV_H

#include "report/report_priv.h"

/* What all misses cost, by the latencies (caches/cost.c). */
uint64_t report_outcome_cost(const struct caches_machine *machine, const struct analyses_outcome *outcome);
/* Numbers of the proposals: the cheapest first, of equals the first; those that failed at the end. */
void report_proposals_order(uint32_t order[ANALYSES_PROPOSALS], const struct report_proposals *of);
/* Whether it costs less than the run by a hundredth or more. */
bool report_proposal_helps(const struct report_proposals *of, uint32_t number);
/* Whether the run, played back, has the counts that it had. */
bool report_proposals_same(const struct report_proposals *of);
/* What to write in the source. Returns buffer. */
char *report_proposal_words(char *buffer, size_t bytes, const struct report_proposals *of, uint32_t number);

#endif
