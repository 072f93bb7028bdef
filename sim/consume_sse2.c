/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The fast loop of consume.c, a set four places at a time.
 */
#define CACHE_FORM CACHE_FORM_SSE2
#define CACHE_FORM_NAME sse2
#include "sim/consume_rules.h"
