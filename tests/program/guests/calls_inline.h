/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * For calls.c: code of another file within its functions.
 */
static inline __attribute__((always_inline)) unsigned inlined(unsigned n)
{
    sink += n;
    return sink * 3;
}
