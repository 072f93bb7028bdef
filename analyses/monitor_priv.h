/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * monitor_priv: a hardware monitor of a few counters, simulated on the events of one level.
 */
#ifndef C2_ANALYSES_MONITOR_PRIV_H
#define C2_ANALYSES_MONITOR_PRIV_H

#include "analyses/histogram.h"

#define MONITOR_LINES 16u      /* that one counter counts, at most */
#define MONITOR_PARTS 720720u  /* a number that all up to that divide: a count is spread over lines in such parts */
#define MONITOR_COUNTERS 4096u /* at most */

struct monitor;
/* "C:G[:B][:fifo|lru|random][:aligned][:LEVEL]", LEVEL one of the machine's levels of data. */
enum c2_status monitor_read(struct analyses_monitor *out, const char *text, const struct caches_machine *machine,
                            struct c2_error *err);
enum c2_status monitor_create(struct monitor **out, const struct analyses_monitor *like, struct c2_error *err);
void monitor_destroy(struct monitor *monitor); /* takes NULL */
/* An event at this line. */
enum c2_status monitor_event(struct monitor *monitor, uint64_t line, struct c2_error *err);
/* All counters are swapped out, and free. */
enum c2_status monitor_flush(struct monitor *monitor, struct c2_error *err);
/* exact: events by line. Flushed before. */
enum c2_status monitor_finish(struct analyses_monitor *out, const struct monitor *monitor, const struct c2_map *exact,
                              struct c2_error *err);
void monitor_check(const struct monitor *monitor);

#endif
