/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rules of contents.c four places at a time, as every x86-64 can.
 */
#define CACHE_FORM CACHE_FORM_SSE2
#define CACHE_FORM_NAME sse2
#include "caches/contents_rules.h"
