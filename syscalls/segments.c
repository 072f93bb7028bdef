/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's own table of segments (modify_ldt).
 *
 * Model
 *   It holds nothing: what reads it, or empties an entry, is answered as on Linux, whose results are those of an int as
 *   an unsigned number.
 * Not modelled
 *   Segments. A program that sets one up is refused, with a message.
 * Source
 *   Linux 6.1, arch/x86/kernel/ldt.c.
 */
#include <asm/ldt.h>
#include <string.h>

#include "syscalls/kernel_priv.h"

enum { OF_CODE = 3, DEFAULT_BYTES = 128 };

static bool is_empty(const struct user_desc *segment)
{
    return segment->base_addr == 0 && segment->limit == 0 && segment->contents == 0 && segment->read_exec_only &&
           !segment->seg_32bit && !segment->limit_in_pages && segment->seg_not_present && !segment->useable;
}

/* Zeros, as much of them as there can be; the table is there once an entry was emptied. */
static int64_t segments_give_zeros(struct call *c, uint64_t most)
{
    static const uint8_t zeros[LDT_ENTRIES * LDT_ENTRY_SIZE];
    const uint64_t bytes = c->arg[2] < most ? c->arg[2] : most;
    const int64_t status = guest_write(c, c->arg[1], zeros, bytes);
    return status < 0 ? status : (int64_t)bytes;
}

static int64_t segments_change(struct call *c, bool old)
{
    struct user_desc segment;
    if (c->arg[2] != sizeof segment)
        return -EINVAL;
    const int64_t status = guest_read(c, &segment, c->arg[1], sizeof segment);
    if (status < 0)
        return status;
    if (segment.entry_number >= LDT_ENTRIES || (segment.contents == OF_CODE && (old || !segment.seg_not_present)))
        return -EINVAL;
    if (!is_empty(&segment) && !(old && segment.base_addr == 0 && segment.limit == 0))
        return call_complain(c, "would set up a segment, which is not modelled");
    c->kernel->identity.has_segments = 1;
    return 0;
}

static int64_t segments_answer(struct call *c)
{
    enum { READ, WRITE_OLD, READ_DEFAULT, WRITE = 0x11 };
    switch ((int)c->arg[0]) {
    case READ:
        return c->kernel->identity.has_segments ? segments_give_zeros(c, LDT_ENTRIES * LDT_ENTRY_SIZE) : 0;
    case READ_DEFAULT:
        return segments_give_zeros(c, DEFAULT_BYTES);
    case WRITE_OLD:
    case WRITE:
        return segments_change(c, (int)c->arg[0] == WRITE_OLD);
    default:
        return (uint32_t)-ENOSYS;
    }
}

int64_t segments_modify(struct call *c)
{
    const int64_t value = segments_answer(c);
    return value < 0 && value != -ENOSYS ? (uint32_t)value : value; /* what is refused is an error for anybody */
}
