/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth_priv: what the files of the analysis of bandwidth share.
 */
#ifndef C2_ANALYSES_BANDWIDTH_PRIV_H
#define C2_ANALYSES_BANDWIDTH_PRIV_H

#include "analyses/bandwidth.h"

/* One window. */
struct bandwidth_window {
    uint64_t instructions;
    uint64_t amount[BANDWIDTH_FLOWS];
    double peak_cycles, cycles; /* as of struct bandwidth_windows */
    double taken[BANDWIDTH_FLOWS];
    uint32_t dominant; /* a flow; flow_count: none is */
};

/* bandwidth_curve.c: a curve while it grows. Begin with zeros. */
struct bandwidth_bins {
    struct c2_map *number; /* rate, rounded down to a step -> number of the bin */
    struct bandwidth_step *list;
    uint32_t count, room;
    uint64_t beside;
};
/* steps: of the rate, in one of a unit. */
enum c2_status bandwidth_bins_add(struct bandwidth_bins *bins, uint64_t amount, uint64_t units, bool dominated,
                                  uint64_t steps, struct c2_error *err);
/* *out is the caller's. */
enum c2_status bandwidth_bins_sort(struct bandwidth_step **out, const struct bandwidth_bins *bins,
                                   struct c2_error *err);
void bandwidth_bins_release(struct bandwidth_bins *bins);

/* bandwidth_threads.c: the same by thread. Begin with zeros, and `curves`: whether these are wanted. */
struct bandwidth_curving {
    struct bandwidth_bins flow[BANDWIDTH_FLOWS];
};
struct bandwidth_threads {
    bool curves;
    struct bandwidth_thread *list;
    struct bandwidth_curving *bins; /* [thread] */
    uint32_t count, room, bins_room;
    uint32_t now;  /* the one that runs */
    uint32_t kept; /* whose the last window was: its number in the list */
};
enum c2_status bandwidth_threads_note(struct bandwidth_threads *threads, uint32_t tid, uint64_t instructions,
                                      struct c2_error *err);
/* The window is over; of the last record so many instructions are left for the next one. */
enum c2_status bandwidth_threads_keep(struct bandwidth_threads *threads, const struct bandwidth_window *window,
                                      uint64_t left, uint32_t flow_count, uint64_t steps, struct c2_error *err);
enum c2_status bandwidth_threads_finish(struct bandwidth_threads *threads, const struct bandwidth_windows *all,
                                        uint32_t flow_count, struct c2_error *err);
void bandwidth_threads_release(struct bandwidth_threads *threads);

/* bandwidth_shared.c: of several cores. of: outlives it; its flows are named. Takes NULL: destroy. */
struct bandwidth_shared;
enum c2_status bandwidth_shared_create(struct bandwidth_shared **out, const struct analyses_bandwidth_result *of,
                                       const struct caches_machine *machine, uint64_t quantum, struct c2_error *err);
void bandwidth_shared_destroy(struct bandwidth_shared *shared);
/* The next window of all, by whose it is. */
enum c2_status bandwidth_shared_window(struct bandwidth_shared *shared, uint32_t tid,
                                       const struct bandwidth_window *window, struct c2_error *err);
void bandwidth_shared_end(struct bandwidth_shared *shared); /* nothing that follows runs beside what was before */
void bandwidth_shared_drop(struct bandwidth_shared *shared);
/* Asserts that cores add up to all. Lent until destroy. */
const struct bandwidth_together *bandwidth_shared_result(struct bandwidth_shared *shared);

/* bandwidth_places.c */
void bandwidth_add_window(struct bandwidth_windows *to, const struct bandwidth_window *window, uint32_t flow_count);
void bandwidth_add_windows(struct bandwidth_windows *to, const struct bandwidth_windows *from, uint32_t flow_count);
enum bandwidth_by { BANDWIDTH_BY_FUNCTION, BANDWIDTH_BY_LINE /* of a function */, BANDWIDTH_BY_LOOP };
/* Sums up `count` blocks, whose places are known. *out is the caller's. */
enum c2_status bandwidth_places_sum(struct bandwidth_place **out, size_t *out_count,
                                    const struct bandwidth_place *blocks, size_t count, uint32_t flow_count,
                                    enum bandwidth_by by, struct c2_error *err);

/* bandwidth_files.c */
void bandwidth_write_curves(FILE *to, const struct analyses_bandwidth_result *result);
void bandwidth_write_roofline(FILE *to, const struct analyses_bandwidth_result *result,
                              const struct caches_machine *machine);

#endif
