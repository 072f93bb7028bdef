/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts the keys of records of one page: histogram [TIMES]
 *
 * The lesson: one key is read of each record of 4096 bytes, so all keys lie in one set of a 32 KiB, 8-way L1. Nothing
 * is lost for the keys, each is read once a sweep; but the progress counter `seen` lies in that set too. Between two
 * of its updates 16 records pass, and evict it: a scalar is the victim of a stream. A few of the buckets are, too.
 * The cure: the key lies 3072 bytes into the record, in a set that neither the counter nor the buckets use.
 */
#include "sample.h"

enum { RECORDS = 1024, RECORD_BYTES = 4096, KEY_AT = PADDED ? 3072 : 0, STEP = 16, KEYS = 256 };

static _Alignas(4096) volatile long seen; /* volatile: it is looked at while the program works */
static _Alignas(4096) long bucket[KEYS];

KERNEL void count(const unsigned char *records, int times)
{
    for (int t = 0; t < times; t++) {
        for (int r = 0; r < RECORDS; r += STEP) {
            for (int i = 0; i < STEP; i++)
                bucket[records[(size_t)(r + i) * RECORD_BYTES + KEY_AT]]++; /* evicts seen */
            seen += STEP;                                                   /* the victim */
        }
        KEEP();
    }
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    unsigned char *records = aligned_alloc(RECORD_BYTES, RECORDS * RECORD_BYTES);
    if (!records)
        return 1;
    for (size_t r = 0; r < RECORDS; r++)
        records[r * RECORD_BYTES + KEY_AT] = r % KEYS;
    count(records, times);
    double sum = 0;
    for (long k = 0; k < KEYS; k++)
        sum += (double)(k + 1) * bucket[k];
    print_checksum("histogram", sum + seen);
    free(records);
    return 0;
}
