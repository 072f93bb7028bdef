/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals that have been sent and not been taken yet: of a thread, and of the process.
 *
 * Model
 *   A list in the order in which they were sent. Of the first 31 signals one of a kind is kept, with what the first one
 *   said; real-time signals are kept all, as Linux has it.
 *
 * Invariants
 *   The set has a bit for each signal of the list, and no other.
 */
#include <string.h>

#include "syscalls/kernel_priv.h"

#define PENDING_MOST 65536u /* RLIMIT_SIGPENDING */

bool pending_holds(const struct signals_pending *pending)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < pending->count; i++) {
        const int signal = pending->list[i].signal;
        if (signal < 1 || signal > SIGNALS_COUNT || (signal < SIGNALS_REAL_TIME && set & signals_bit(signal)))
            return false;
        set |= signals_bit(signal);
    }
    return set == pending->set;
}

void pending_release(struct signals_pending *pending)
{
    c2_free(pending->list);
    *pending = (struct signals_pending){.set = 0};
}

bool pending_add(struct signals_pending *pending, const struct signals_info *info)
{
    const uint64_t bit = signals_bit(info->signal);
    if (pending->set & bit && info->signal < SIGNALS_REAL_TIME)
        return true;
    if (pending->count >= PENDING_MOST ||
        !c2_grow((void **)&pending->list, &pending->room, pending->count, sizeof *pending->list))
        return false;
    pending->list[pending->count++] = *info;
    pending->set |= bit;
    return true;
}

static void remove_at(struct signals_pending *pending, uint32_t i)
{
    pending->count--;
    memmove(&pending->list[i], &pending->list[i + 1], (pending->count - i) * sizeof *pending->list);
}

/* The first of them; the list's length: there is none. */
static uint32_t pending_find(const struct signals_pending *pending, int signal)
{
    uint32_t i = 0;
    while (i < pending->count && pending->list[i].signal != signal)
        i++;
    return i;
}

bool pending_take(struct signals_pending *pending, int signal, struct signals_info *info)
{
    const uint32_t i = pending_find(pending, signal);
    if (i == pending->count)
        return false;
    *info = pending->list[i];
    remove_at(pending, i);
    if (pending_find(pending, signal) == pending->count)
        pending->set &= ~signals_bit(signal);
    return true;
}

void pending_drop(struct signals_pending *pending, int signal)
{
    struct signals_info info;
    while (pending->set & signals_bit(signal))
        pending_take(pending, signal, &info);
}
