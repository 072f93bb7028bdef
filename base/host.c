/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * host: how much memory the host has left, as Linux puts it.
 *
 * Not modelled
 *   Limits of a control group.
 */
#include <inttypes.h>

#include "base/base.h"

struct c2_host_memory c2_host_memory(void)
{
    char line[128];
    struct c2_host_memory memory = {0, 0};
    uint64_t kilobytes;
    FILE *from = fopen("/proc/meminfo", "re");
    while (from && fgets(line, sizeof line, from)) {
        if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1 ||
            sscanf(line, "SwapFree: %" SCNu64, &kilobytes) == 1)
            memory.left += kilobytes << 10;
        if (sscanf(line, "MemTotal: %" SCNu64, &kilobytes) == 1 || sscanf(line, "SwapTotal: %" SCNu64, &kilobytes) == 1)
            memory.all += kilobytes << 10;
    }
    if (from)
        fclose(from);
    return memory.left != 0 ? memory : (struct c2_host_memory){UINT64_MAX, UINT64_MAX};
}
