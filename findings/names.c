/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The patterns, as reports call them.
 */
#include "findings/findings.h"

const char *findings_pattern_name(enum findings_pattern pattern)
{
    static const char *const names[] = {
#define X(name, key, help) key,
        FINDINGS_PATTERNS(X)
#undef X
    };
    return names[pattern];
}
