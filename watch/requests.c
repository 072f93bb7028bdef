/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Four rotations of RDI that together are none, then XCHG of RBX with itself. RAX points to the request's number and
 *   its arguments; RDX has the answer, which is what it was before: as on a processor. RUNNING_ON_VALGRIND thus
 *   answers 0, and the program goes the ways that it goes without Valgrind.
 * Source
 *   valgrind/valgrind.h and valgrind/callgrind.h, Valgrind 3.19: the numbers and the instructions.
 */
#include "watch/requests.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "watch/callers_priv.h"

enum { RAX = 0 };

bool requests_at(const struct mmu *mmu, struct guest_va pc)
{
    static const uint8_t bytes[REQUESTS_BYTES] = {0x48, 0xc1, 0xc7, 3,    0x48, 0xc1, 0xc7, 13,   0x48, 0xc1,
                                                  0xc7, 61,   0x48, 0xc1, 0xc7, 51,   0x48, 0x87, 0xdb};
    return mmu_ready(mmu, pc, MMU_ACCESS_EXEC) &&
           mmu_ready(mmu, (struct guest_va){pc.v + REQUESTS_BYTES - 1}, MMU_ACCESS_EXEC) &&
           memcmp((const void *)(uintptr_t)pc.v, bytes, sizeof bytes) == 0;
}

/* Of memory that the guest may not have touched: a page of it would be placed. So the host's kernel is asked, which
 * states what cannot be read; returns how many bytes could. */
static size_t peek(char *out, struct mmu *mmu, size_t bytes, uint64_t address)
{
    int ends[2];
    ssize_t count = -1;
    if (pipe(ends) != 0)
        return 0;
    if (mmu_lend(mmu, (struct guest_va){address}, bytes) == 0 &&
        write(ends[1], (const void *)(uintptr_t)address, bytes) > 0)
        count = read(ends[0], out, bytes);
    mmu_lend_end(mmu);
    close(ends[0]);
    close(ends[1]);
    return count < 0 ? 0 : (size_t)count;
}

static void requests_read_text(char out[REQUESTS_TEXT], struct mmu *mmu, uint64_t address)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(mmu), (struct guest_va){address}, false);
    const uint64_t left = area && area->prot & MMU_READ ? area->start.v + area->bytes - address : 0;
    const size_t most = left < REQUESTS_TEXT - 1 ? left : REQUESTS_TEXT - 1;
    const size_t count = most == 0 ? 0 : peek(out, mmu, most, address);
    out[count] = '\0';
    for (char *at = out; *at; at++)
        *at = (char)(isprint((unsigned char)*at) ? *at : '?');
}

bool requests_read(struct requests_request *out, struct mmu *mmu, struct engine *engine)
{
    uint64_t argument;
    const uint64_t words = engine_gpr(engine, RAX);
    out->text[0] = '\0';
    if (!guest_word(mmu, words, &out->number) || !guest_word(mmu, words + sizeof argument, &argument))
        return false;
    if (out->number == REQUESTS_DUMP_AT)
        requests_read_text(out->text, mmu, argument);
    return true;
}
