/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lanes_priv: lanes side by side (lanes.c, share.c), and what they need of the host's memory (memory.c).
 */
#ifndef C2_LANES_PRIV_H
#define C2_LANES_PRIV_H

#include "lanes/lanes.h"

struct lanes {
    unsigned count, group_count;
    struct lanes_member {
        struct lane *lane;
        struct lane_config config;
        unsigned leader; /* the member that it follows, which is its own leader; or itself */
        unsigned followers;
        bool again; /* it has departed, and was made anew */
        bool failed;
    } * list;
    struct lanes_group {
        struct lanes *lanes;
        unsigned first, count; /* in the list */
        unsigned batches;      /* that it has got, modulo 2^32 */
    } * groups;
    bool begun_again; /* only those that were made anew are fed, and finished */
};
/* share.c: whether it was a follower and could not be one to the end; leaders have no followers any more, which keep
 * what they have of them. */
bool lanes_has_departed(const struct lanes *lanes, unsigned i);
void lanes_share_end(struct lanes *lanes);

/* lane.c */
struct sim *lane_simulator(struct lane *lane);

uint64_t lanes_memory_used(void); /* by this process, bytes; 0: the C library does not say */
/* Fails where the host has no memory for so many lanes more of this size. */
enum c2_status lanes_check_memory(uint64_t lane_bytes, unsigned more, struct c2_error *err);
/* While so many lanes eat: fails where they have left the host little memory. */
enum c2_status lanes_watch_memory(unsigned count, struct c2_error *err);

#endif
