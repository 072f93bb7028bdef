/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the slice hashes share inside the room: the one form that all of them are brought into.
 */
#ifndef C2_SLICES_PRIV_H
#define C2_SLICES_PRIV_H

#include "caches/caches.h"

#define HASH_MAX_MASKS 14    /* the longest published base sequence has 2^14 numbers */
#define HASH_LINE_SHIFT 6    /* log2(CACHES_HASH_LINE_BYTES) */
#define HASH_CHUNKS 6        /* bytes of the line number that count: address bits 6..53; */
#define HASH_NARROW_CHUNKS 4 /* of most functions: bits 6..37 */
#define HASH_CHUNK_VALUES 256
#define HASH_TOP_BIT 51 /* the highest bit a mask may have: x86-64 has no more physical address */

/* slice = base[v], bit k of v = parity(address & mask[k]). base has 2^mask_count entries. */
struct hash_form {
    uint32_t slices;
    unsigned valid_bit;
    uint32_t index_divisor;
    unsigned mask_count;
    uint64_t mask[HASH_MAX_MASKS];
    uint8_t *base; /* owned */
};

struct caches_hash {
    uint32_t slices;
    uint32_t index_divisor;
    unsigned valid_bit;
    bool modulo; /* and nothing below */
    bool wide;   /* more than HASH_NARROW_CHUNKS count */
    uint8_t *base;
    uint16_t parities[HASH_CHUNKS][HASH_CHUNK_VALUES]; /* of each byte of the line number, all masks side by side */
};

/* The slice of a line, by its number. Asked on L1 and L2 misses only, but there for every one of them: no loop. */
static inline uint32_t hash_slice(const struct caches_hash *hash, uint64_t line)
{
    _Static_assert(HASH_CHUNKS == 6 && HASH_NARROW_CHUNKS == 4, "one term for each chunk");
    unsigned v = hash->parities[0][line & 255] ^ hash->parities[1][line >> 8 & 255] ^
                 hash->parities[2][line >> 16 & 255] ^ hash->parities[3][line >> 24 & 255];
    if (C2_UNLIKELY(hash->wide))
        v ^= hash->parities[4][line >> 32 & 255] ^ hash->parities[5][line >> 40 & 255];
    C2_PROMISE(hash->base[v] < hash->slices);
    return hash->base[v];
}

/* Fills *form from "perm:PATH:MASK,MASK,..."; base is the caller's to c2_free, NULL on failure. slices_perm.c */
enum c2_status hash_read_permutation(struct hash_form *form, const char *name, uint32_t slices, const char *relative_to,
                                     struct c2_error *err);

#endif
