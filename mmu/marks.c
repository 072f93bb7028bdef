/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   What a mark MAPPED has in its words: a whole area, so that a reader of the stream needs no look at the address
 *   space that wrote it. Word 2:
 *        17..16 advice | 13..12 MAP_HUGETLB | 9..8 kind | 4 may become writable | 3 shared | 2..0 x w r
 *   The path of a file stands behind the fixed words, with zeros up to the end of the last one, at least one.
 */
#include <string.h>

#include "mmu/marks_priv.h"

#define SHARED ((uint64_t)STREAM_MAPPED_SHARED)
#define MAY_WRITE ((uint64_t)STREAM_MAPPED_MAY_WRITE)
#define ADVISED ((uint64_t)STREAM_MAPPED_HUGE)
#define REFUSED ((uint64_t)STREAM_MAPPED_SMALL)
#define FLAGS \
    (STREAM_MAPPED_RIGHTS | SHARED | MAY_WRITE | ADVISED | REFUSED | (uint64_t)3 << STREAM_MAPPED_KIND_SHIFT | \
     (uint64_t)3 << STREAM_MAPPED_PAGES_SHIFT)

static uint64_t marks_flags_of(const struct area *area)
{
    C2_PROMISE(area->hugetlb < MMU_PAGE_SIZES);
    return area->view.prot | (area->view.shared ? SHARED : 0) | (area->may_write ? MAY_WRITE : 0) |
           (area->huge_wanted ? ADVISED : 0) | (area->huge_refused ? REFUSED : 0) |
           (uint64_t)area->view.kind << STREAM_MAPPED_KIND_SHIFT | (uint64_t)area->hugetlb << STREAM_MAPPED_PAGES_SHIFT;
}

uint32_t mark_mapped(uint64_t words[MARK_WORDS], const struct area *area, uint64_t start, uint64_t bytes)
{
    C2_PROMISE(area->view.start.v <= start && start + bytes <= area_end(area));
    const struct backing *backing = area->backing;
    words[0] = start;
    words[1] = bytes;
    words[2] = marks_flags_of(area);
    words[3] = backing ? area->view.offset + (start - area->view.start.v) : 0;
    words[4] = backing ? backing->inode : 0;
    words[5] = backing ? backing->device : 0;
    if (area->view.kind != MMU_FILE)
        return MARK_MAPPED_WORDS;
    const size_t length = strlen(backing->path), count = length / 8 + 1;
    C2_ASSERT(length < MARK_PATH_BYTES);
    words[MARK_MAPPED_WORDS + count - 1] = 0;
    memcpy(&words[MARK_MAPPED_WORDS], backing->path, length);
    return MARK_MAPPED_WORDS + (uint32_t)count;
}

/* ------------------------------------------------------------------ reading them */

static enum c2_status marks_fail(const uint64_t *words, uint32_t count, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_FORMAT, "a mapping of the stream, at 0x%llx, is none that a run can have made",
                   count > 0 ? (unsigned long long)words[0] : 0);
}

/* NULL: it is not one text with its zeros. */
static const char *marks_path_of(const uint64_t *words, uint32_t count)
{
    const char *path = (const char *)&words[MARK_MAPPED_WORDS];
    const size_t room = (count - MARK_MAPPED_WORDS) * sizeof *words;
    const size_t length = strnlen(path, room);
    return length / 8 + 1 == count - MARK_MAPPED_WORDS && length < MARK_PATH_BYTES ? path : NULL;
}

static bool good(const uint64_t *words, uint32_t count)
{
    if (count < MARK_MAPPED_WORDS || words[2] & ~FLAGS || words[3] % C2_PAGE_BYTES != 0 || words[3] >> 63)
        return false;
    const bool file = (words[2] >> STREAM_MAPPED_KIND_SHIFT & 3) == MMU_FILE;
    if ((words[2] >> STREAM_MAPPED_PAGES_SHIFT & 3) >= MMU_PAGE_SIZES || (words[2] & ADVISED && words[2] & REFUSED))
        return false;
    return file ? !!marks_path_of(words, count) : count == MARK_MAPPED_WORDS;
}

enum c2_status mark_area(struct area *out, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    if (!good(words, count))
        return marks_fail(words, count, err);
    const uint64_t flags = words[2];
    *out = (struct area){.may_write = flags & MAY_WRITE,
                         .huge_wanted = flags & ADVISED,
                         .huge_refused = flags & REFUSED,
                         .hugetlb = flags >> STREAM_MAPPED_PAGES_SHIFT & 3};
    out->view = (struct mmu_area){.start = {words[0]},
                                  .bytes = words[1],
                                  .prot = flags & STREAM_MAPPED_RIGHTS,
                                  .shared = flags & SHARED,
                                  .kind = (enum mmu_kind)(flags >> STREAM_MAPPED_KIND_SHIFT & 3)};
    const bool file = out->view.kind == MMU_FILE;
    if (!file && !out->view.shared)
        return C2_OK;
    out->backing = backing_create(file ? marks_path_of(words, count) : NULL, words[4], words[5]);
    if (!out->backing)
        return c2_fail_memory(err, "a mapping");
    area_describe(out, words[3]);
    return C2_OK;
}
