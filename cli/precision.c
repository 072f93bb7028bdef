/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * precision: how sure samples are to be.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum c2_status cli_precision(double *out, const char *text, struct c2_error *err)
{
    const bool plain = text[0] != '\0' && strspn(text, "0123456789.") == strlen(text) && strlen(text) < 20;
    char *end = NULL;
    *out = plain ? strtod(text, &end) : 0;
    if (plain && *end == '\0' && *out >= 0.001 && *out <= 100)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--precision %s: must be per cent, 0.001 to 100, such as 3 or 0.5", text);
}
