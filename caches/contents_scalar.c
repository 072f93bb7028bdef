/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rules of contents.c one place after the other: the slow twin of the other forms.
 */
#define CACHE_FORM CACHE_FORM_SCALAR
#define CACHE_FORM_NAME scalar
#include "caches/contents_rules.h"
