/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * memory: whether the host has memory for so many lanes, which is better said before the run than found out by Linux,
 * which ends a process that uses more than there is.
 *
 * Model
 *   Lanes begin with about the same: what their caches hold, tags, shadow and whose lines they are. So the first one is
 *   weighed, by what the C library has given out for it, and what the others will need must be free, as Linux puts it
 *   (MemAvailable and SwapFree of /proc/meminfo).
 * Not modelled
 *   What a lane comes to need later: page tables, and a profile's rows. Limits of a control group.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

#include "lanes/lanes_priv.h"

uint64_t lanes_memory_used(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* UINT64_MAX: Linux does not say. */
static uint64_t host_memory(void)
{
    char line[128];
    uint64_t sum = 0, kilobytes;
    FILE *from = fopen("/proc/meminfo", "re");
    while (from && fgets(line, sizeof line, from)) {
        if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1 ||
            sscanf(line, "SwapFree: %" SCNu64, &kilobytes) == 1)
            sum += kilobytes << 10;
    }
    if (from)
        fclose(from);
    return sum != 0 ? sum : UINT64_MAX;
}

enum c2_status lanes_check_memory(uint64_t lane_bytes, unsigned more, struct c2_error *err)
{
    const uint64_t free_bytes = host_memory();
    if (lane_bytes <= free_bytes / more)
        return C2_OK;
    return c2_fail(err, C2_ERR_NO_MEMORY,
                   "%u machines side by side begin with %" PRIu64 " MiB each, and the host has %" PRIu64
                   " MiB left: compare fewer at a time, or smaller ones",
                   more + 1, lane_bytes >> 20, free_bytes >> 20);
}
