/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the slice hashes share inside the room: the one form that all of them are brought into.
 */
#ifndef C2_SLICES_PRIV_H
#define C2_SLICES_PRIV_H

#include "caches/caches.h"

#define HASH_MAX_MASKS 14 /* the longest published base sequence has 2^14 numbers */
#define HASH_LINE_SHIFT 6 /* log2(CACHES_HASH_LINE_BYTES) */
#define HASH_CHUNKS 6     /* bytes of the line number that count: address bits 6..53 */
#define HASH_TOP_BIT 51   /* the highest bit a mask may have: x86-64 has no more physical address */

/* slice = base[v], bit k of v = parity(address & mask[k]). base has 2^mask_count entries. */
struct hash_form {
    uint32_t slices;
    unsigned valid_bit;
    uint32_t index_divisor;
    unsigned mask_count;
    uint64_t mask[HASH_MAX_MASKS];
    uint8_t *base; /* owned */
};

/* Fills *form from "perm:PATH:MASK,MASK,..."; base is the caller's to c2_free, NULL on failure. slices_perm.c */
enum c2_status hash_read_permutation(struct hash_form *form, const char *name, uint32_t slices, const char *relative_to,
                                     struct c2_error *err);

#endif
