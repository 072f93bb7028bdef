/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rules of contents.c eight places at a time, with masks.
 */
#pragma GCC target("avx2,bmi,bmi2,avx512f,avx512vl")

#define CACHE_FORM CACHE_FORM_AVX512
#define CACHE_FORM_NAME avx512
#include "caches/contents_rules.h"
