/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * In which order the pages of a guest's address space were touched, as its marks say; and a machine that has memory for
 * no more than some of them.
 */
#ifndef C2_TEST_MMU_TOUCHES_H
#define C2_TEST_MMU_TOUCHES_H

#include <stdint.h>

#include "mmu/mmu.h"

#define TOUCHES_KEPT 4096

struct touches {
    struct stream_writer *writer;
    uint64_t pages[TOUCHES_KEPT];
    uint64_t count, limit; /* more than limit are refused; 0: none is */
};

static inline enum c2_status touches_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct touches *touches = self;
    for (uint32_t at = 0; at < batch->used; at += stream_header_slots(batch->words[at]) + 1) {
        if (stream_header_insns(batch->words[at]) != STREAM_TOUCHED)
            continue;
        if (touches->count < TOUCHES_KEPT)
            touches->pages[touches->count] = c2_align_down(batch->words[at + 1], C2_PAGE_BYTES);
        if (++touches->count > touches->limit && touches->limit != 0)
            return c2_fail(err, C2_ERR_EXHAUSTED, "memory is exhausted");
    }
    return C2_OK;
}

static inline enum c2_status touches_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

/* From now on. */
static inline void touches_open(struct touches *touches, struct mmu *mmu)
{
    touches->count = touches->limit = 0;
    const struct stream_sink sink = {touches, touches_consume, touches_drain};
    C2_ASSERT(stream_writer_create(&touches->writer, sink, NULL) == C2_OK);
    mmu_write_to(mmu, touches->writer);
}

static inline void touches_close(struct touches *touches, struct mmu *mmu)
{
    mmu_write_to(mmu, NULL);
    stream_writer_destroy(touches->writer);
}

/* Which touch the first of va's page was, from 0 on; UINT64_MAX: there was none. */
static inline uint64_t touches_at(const struct touches *touches, uint64_t va)
{
    for (uint64_t i = 0; i < touches->count && i < TOUCHES_KEPT; i++)
        if (touches->pages[i] == c2_align_down(va, C2_PAGE_BYTES))
            return i;
    return UINT64_MAX;
}

#endif
