/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lanes_priv: what lanes need of the host's memory (memory.c).
 */
#ifndef C2_LANES_PRIV_H
#define C2_LANES_PRIV_H

#include "lanes/lanes.h"

uint64_t lanes_memory_used(void); /* by this process, bytes; 0: the C library does not say */
/* Fails where the host has no memory for so many lanes more of this size. */
enum c2_status lanes_check_memory(uint64_t lane_bytes, unsigned more, struct c2_error *err);
/* While so many lanes eat: fails where they have left the host little memory. */
enum c2_status lanes_watch_memory(unsigned count, struct c2_error *err);

#endif
