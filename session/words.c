/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * words: values that are one of some words.
 */
#include <string.h>

#include "session/words.h"

enum c2_status session_word(unsigned *out, const char *option, const char *value, const char *const *known,
                            size_t count, struct c2_error *err)
{
    char hint[256];
    for (*out = 0; *out < count; ++*out)
        if (strcmp(value, known[*out]) == 0)
            return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "%s%s: unknown value%s", option, value,
                   c2_suggest(hint, sizeof hint, value, known, count));
}
