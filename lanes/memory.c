/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * memory: what happened to the guest's memory, in the words of a mark.
 *
 * Model
 *   The kind of event, its words, and for a mapping of a file the file's path, in as many words as it takes with the
 *   zero at its end.
 */
#include <limits.h>
#include <string.h>

#include "lanes/lanes.h"

_Static_assert(PATH_MAX / 8 + MMU_EVENT_WORDS + 2 <= STREAM_MARK_WORDS, "the longest path");

uint32_t lanes_memory_words(uint64_t words[STREAM_MARK_WORDS], const struct mmu_event *event)
{
    uint32_t count = 1 + mmu_event_words(event->kind);
    words[0] = event->kind;
    memcpy(words + 1, event->words, (count - 1) * sizeof *words);
    if (!event->path)
        return count;
    const size_t bytes = strnlen(event->path, PATH_MAX - 1), whole = bytes / sizeof *words + 1;
    memset(&words[count], 0, whole * sizeof *words);
    memcpy(&words[count], event->path, bytes);
    return count + (uint32_t)whole;
}

enum c2_status lanes_mark_memory(struct stream_writer *writer, const struct mmu_event *event, struct c2_error *err)
{
    uint64_t words[STREAM_MARK_WORDS];
    const uint32_t count = lanes_memory_words(words, event);
    return stream_writer_change(writer, STREAM_MEMORY, words, count, err);
}

void lanes_memory_event(struct mmu_event *out, const uint64_t *words, uint32_t count)
{
    *out = (struct mmu_event){.kind = (enum mmu_event_kind)words[0]};
    const uint32_t own = mmu_event_words(out->kind);
    C2_ASSERT(count >= 1 + own);
    memcpy(out->words, words + 1, own * sizeof *words);
    out->path = count > 1 + own ? (const char *)(words + 1 + own) : NULL;
}
