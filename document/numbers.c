/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * numbers: shares and sizes as text, without floating point, so that they are the same everywhere.
 */
#include <inttypes.h>

#include "document/document.h"

char *doc_percent(char *buffer, uint64_t part, uint64_t whole)
{
    if (whole == 0) {
        snprintf(buffer, 32, "-");
        return buffer;
    }
    unsigned __int128 twice = (unsigned __int128)part * 2000 + whole; /* 2 * (part / whole in thousandths + 1/2) */
    uint64_t thousandths = (uint64_t)(twice / ((unsigned __int128)whole * 2));
    /* "0.0 %" means none and "100.0 %" means all: what is only nearly so says so. */
    if (part != 0 && thousandths == 0)
        snprintf(buffer, 32, "<0.1 %%");
    else if (part < whole && thousandths == 1000)
        snprintf(buffer, 32, ">99.9 %%");
    else
        snprintf(buffer, 32, "%" PRIu64 ".%u %%", thousandths / 10, (unsigned)(thousandths % 10));
    return buffer;
}

char *doc_size(char *buffer, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) {
        snprintf(buffer, 32, "%" PRIu64 " B", bytes);
        return buffer;
    }
    unsigned unit = 0;
    uint64_t tenths; /* of the unit, rounded half up; 1024.0 of one unit is 1.0 of the next */
    for (;; unit++) {
        const unsigned __int128 half = (unsigned __int128)1 << (10 * (unit + 1) - 1);
        tenths = (uint64_t)(((unsigned __int128)bytes * 10 + half) >> (10 * (unit + 1)));
        if (tenths < 10240 || unit == 3)
            break;
    }
    snprintf(buffer, 32, "%" PRIu64 ".%u %s", tenths / 10, (unsigned)(tenths % 10), units[unit]);
    return buffer;
}
