/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The fast loop of consume.c, a set eight places at a time.
 */
#pragma GCC target("avx2,bmi,bmi2")

#define CACHE_FORM CACHE_FORM_AVX2
#define CACHE_FORM_NAME avx2
#include "sim/consume_rules.h"
