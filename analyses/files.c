/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * files: the analyses that write a file of what they saw, in the order of their rows.
 */
#include "analyses/analyses.h"

const struct analyses_file_kind *const analyses_file_kinds[ANALYSES_FILE_KINDS] = {
#define X(name, help) &analyses_##name,
    ANALYSES_FILES(X)
#undef X
};
