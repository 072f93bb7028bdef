/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * memory: whether the host has memory for so many lanes, which is better said before the run than found out by Linux,
 * which ends a process that uses more than there is.
 *
 * Model
 *   Lanes begin with about the same: what their caches hold, tags, shadow and whose lines they are. So the first one is
 *   weighed, by what the C library has given out for it, and what the others will need must be free, as Linux puts it
 *   (MemAvailable and SwapFree of /proc/meminfo).
 *   What they come to need later, page tables and a profile's rows, is unknown before: while they eat, a part of the
 *   host's memory must stay free, where they are many.
 * Not modelled
 *   Limits of a control group.
 */
#include <inttypes.h>
#include <malloc.h>

#include "lanes/lanes_priv.h"

#define MANY 64u    /* lanes; fewer are not looked after */
#define RESERVE 32u /* so many times what must stay free is what there is */

uint64_t lanes_memory_used(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

enum c2_status lanes_check_memory(uint64_t lane_bytes, unsigned more, struct c2_error *err)
{
    const uint64_t free_bytes = c2_host_memory().left;
    if (lane_bytes <= free_bytes / more)
        return C2_OK;
    return c2_fail(err, C2_ERR_NO_MEMORY,
                   "%u machines side by side begin with %" PRIu64 " KiB each, %" PRIu64
                   " MiB together, and the host has %" PRIu64 " MiB left: compare fewer at a time, or smaller ones",
                   more + 1, lane_bytes >> 10, (lane_bytes >> 10) * (more + 1) >> 10, free_bytes >> 20);
}

enum c2_status lanes_watch_memory(unsigned count, struct c2_error *err)
{
    if (count < MANY)
        return C2_OK;
    const struct c2_host_memory host = c2_host_memory();
    if (host.left >= host.all / RESERVE)
        return C2_OK;
    return c2_fail(err, C2_ERR_NO_MEMORY,
                   "%u machines side by side have come to need %" PRIu64 " MiB, and of the host's %" PRIu64
                   " MiB %" PRIu64 " are left: compare fewer at a time, or with --no-attribution",
                   count, lanes_memory_used() >> 20, host.all >> 20, host.left >> 20);
}
