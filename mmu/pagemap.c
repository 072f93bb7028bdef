/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A map states which frame each page gets when it is touched first. A page that is unmapped and touched again, or a
 *   frame that is given back and taken again, has several placements in one run: each carries a turn, 1 unless said
 *   otherwise. A first touch takes the line of the page with the lowest turn that was not used yet; when all were, the
 *   last one holds again (so that a map recorded elsewhere, with one line a page, serves any number of times).
 * Invariants
 *   Within one turn no page and no frame occurs twice. Lines are sorted by size, page and turn.
 * Cost
 *   A lookup is a binary search for each page size that the map has, and a walk over the turns of one page. A million
 *   lines load in 0.8 s.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mmu/frames_priv.h"
#include "mmu/pagemap_priv.h"

/* More than the guest has: a map recorded elsewhere may name pages that it never touches. */
#define USER_PAGES ((uint64_t)1 << (47 - C2_PAGE_SHIFT))

static uint64_t frames_in(const struct pagemap_line *line)
{
    C2_PROMISE(line->size < MMU_PAGE_SIZES);
    return mmu_page_bytes((enum mmu_page_size)line->size) >> C2_PAGE_SHIFT;
}

bool mmu_pagemap_is_textproto(const char *path)
{
    static const char ending[] = ".textproto";
    size_t length = strlen(path);
    return length >= sizeof ending - 1 && strcmp(path + length - (sizeof ending - 1), ending) == 0;
}

static enum c2_status pagemap_create(struct pagemap **out, const char *path, uint64_t frames, struct c2_error *err)
{
    C2_ASSERT(frames != 0);
    struct pagemap *map = c2_calloc(1, sizeof *map);
    *out = map;
    if (!map)
        return c2_fail_memory(err, "a page map");
    map->frames = frames;
    map->path = c2_strdup(path);
    map->named = c2_calloc(frames / 64 + 1, sizeof *map->named);
    return map->path && map->named ? C2_OK : c2_fail_memory(err, "a page map");
}

enum c2_status pagemap_read(struct pagemap **out, const char *path, uint64_t frames, struct c2_error *err)
{
    *out = NULL;
    FILE *from = fopen(path, "re");
    if (!from)
        return c2_fail(err, errno == ENOENT ? C2_ERR_NOT_FOUND : C2_ERR_IO, "cannot read the page map %s: %s", path,
                       strerror(errno));
    struct pagemap *map;
    enum c2_status status = pagemap_create(&map, path, frames, err);
    if (status == C2_OK)
        status = c2_outfile_spare(path, err);
    if (status == C2_OK)
        status = pagemap_read_lines(map, from, mmu_pagemap_is_textproto(path), err);
    if (status == C2_OK)
        status = pagemap_finish(map, err);
    fclose(from);
    if (status != C2_OK) {
        pagemap_destroy(map);
        return status;
    }
    *out = map;
    return C2_OK;
}

void pagemap_destroy(struct pagemap *map)
{
    if (!map)
        return;
    c2_free(map->path);
    c2_free(map->lines);
    c2_free(map->named);
    c2_free(map);
}

/* ------------------------------------------------------------------ what a map may say */

static enum c2_status pagemap_check_line(const struct pagemap *map, const struct pagemap_line *line, uint64_t frame,
                                         struct c2_error *err)
{
    char size[32];
    uint64_t pages = frames_in(line);
    if ((line->vpn | frame) % pages != 0)
        c2_size_text(size, pages * C2_PAGE_BYTES);
    if (line->vpn % pages != 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s:%u: page 0x%llx is not aligned to its size, %s", map->path, line->line,
                       (unsigned long long)line->vpn, size);
    if (frame % pages != 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s:%u: frame 0x%llx is not aligned to its size, %s", map->path, line->line,
                       (unsigned long long)frame, size);
    if (line->vpn >= USER_PAGES)
        return c2_fail(err, C2_ERR_FORMAT, "%s:%u: page 0x%llx is no program's: those end at page 0x%llx", map->path,
                       line->line, (unsigned long long)line->vpn, (unsigned long long)USER_PAGES);
    if (frame >= map->frames || frame + pages > map->frames)
        return c2_fail(err, C2_ERR_FORMAT,
                       "%s:%u: frame 0x%llx lies outside the physical memory of %s; give the "
                       "machine more with --set machine.physical_memory=SIZE",
                       map->path, line->line, (unsigned long long)frame,
                       c2_size_text(size, map->frames * C2_PAGE_BYTES));
    return C2_OK;
}

enum c2_status pagemap_add(struct pagemap *map, struct pagemap_line line, uint64_t frame, struct c2_error *err)
{
    enum c2_status status = pagemap_check_line(map, &line, frame, err);
    if (status != C2_OK)
        return status;
    line.frame = (uint32_t)frame;
    if (map->count == map->room) {
        size_t room = map->room ? map->room * 2 : C2_HOST_SIZE(1024, 1);
        struct pagemap_line *lines = c2_realloc(map->lines, room * sizeof *lines);
        if (!lines)
            return c2_fail_memory(err, "a page map");
        map->lines = lines;
        map->room = room;
    }
    map->lines[map->count++] = line;
    for (uint64_t i = 0; i < frames_in(&line); i++) {
        uint64_t *word = &map->named[(line.frame + i) / 64], bit = (uint64_t)1 << (line.frame + i) % 64;
        map->frame_again |= (*word & bit) != 0;
        *word |= bit;
    }
    map->turned |= line.turn != 1;
    map->has_size[line.size] = true;
    return C2_OK;
}

static int pagemap_compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int by_page(const void *a, const void *b)
{
    const struct pagemap_line *x = a, *y = b;
    int order = pagemap_compare(x->turn, y->turn);
    order = order ? order : pagemap_compare(x->vpn, y->vpn);
    return order ? order : pagemap_compare(x->line, y->line);
}

static int by_frame(const void *a, const void *b)
{
    const struct pagemap_line *x = a, *y = b;
    int order = pagemap_compare(x->turn, y->turn);
    order = order ? order : pagemap_compare(x->frame, y->frame);
    return order ? order : pagemap_compare(x->line, y->line);
}

static int by_lookup(const void *a, const void *b)
{
    const struct pagemap_line *x = a, *y = b;
    int order = pagemap_compare(x->size, y->size);
    order = order ? order : pagemap_compare(x->vpn, y->vpn);
    return order ? order : pagemap_compare(x->turn, y->turn);
}

static enum c2_status fail_overlap(const struct pagemap *map, const struct pagemap_line *a,
                                   const struct pagemap_line *b, const char *what, uint64_t number,
                                   struct c2_error *err)
{
    C2_ASSERT(a->line != b->line);
    const struct pagemap_line *later = a->line > b->line ? a : b, *earlier = later == a ? b : a;
    return c2_fail(err, C2_ERR_FORMAT, "%s:%u: overlaps line %u: %s 0x%llx is in both", map->path, later->line,
                   earlier->line, what, (unsigned long long)number);
}

static void pagemap_sort(struct pagemap *map, int (*order)(const void *a, const void *b))
{
    if (map->count > 0)
        qsort(map->lines, map->count, sizeof *map->lines, order);
}

/* Most maps name a frame once, have one turn and one size: then one sort of three is enough. */
enum c2_status pagemap_finish(struct pagemap *map, struct c2_error *err)
{
    C2_ASSERT(map->count <= map->room);
    if (map->frame_again)
        pagemap_sort(map, by_frame);
    for (size_t i = 1; i < map->count && map->frame_again; i++) {
        const struct pagemap_line *low = &map->lines[i - 1], *high = &map->lines[i];
        if (low->turn == high->turn && low->frame + frames_in(low) > high->frame)
            return fail_overlap(map, low, high, "frame", high->frame, err);
    }
    pagemap_sort(map, by_page);
    for (size_t i = 1; i < map->count; i++) {
        const struct pagemap_line *low = &map->lines[i - 1], *high = &map->lines[i];
        if (low->turn == high->turn && low->vpn + frames_in(low) > high->vpn)
            return fail_overlap(map, low, high, "page", high->vpn, err);
    }
    if (map->turned || map->has_size[MMU_PAGE_4K] + map->has_size[MMU_PAGE_2M] + map->has_size[MMU_PAGE_1G] > 1)
        pagemap_sort(map, by_lookup);
    return C2_OK;
}

/* ------------------------------------------------------------------ lookup */

/* The first line of this size whose page is >= vpn; map->count if none. */
static size_t lower_bound(const struct pagemap *map, unsigned size, uint64_t vpn)
{
    C2_PROMISE(size < MMU_PAGE_SIZES);
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pagemap_line *line = &map->lines[middle];
        if (line->size > size || (line->size == size && line->vpn >= vpn))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Lines that were not used go first, the lowest turn first; of those that were, the highest turn. */
static bool is_better(const struct pagemap_line *line, const struct pagemap_line *than)
{
    C2_PROMISE(!than || line != than);
    if (!than || line->used != than->used)
        return !than || !line->used;
    return line->used ? line->turn > than->turn : line->turn < than->turn;
}

static struct pagemap_line *pagemap_find(const struct pagemap *map, uint64_t vpn)
{
    struct pagemap_line *best = NULL;
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++) {
        if (!map->has_size[size])
            continue;
        uint64_t base = vpn >> 9 * size << 9 * size;
        for (size_t i = lower_bound(map, size, base); i < map->count; i++) {
            struct pagemap_line *line = &map->lines[i];
            if (line->size != size || line->vpn != base)
                break;
            if (is_better(line, best))
                best = line;
        }
    }
    return best;
}

bool pagemap_size_at(const struct pagemap *map, uint64_t vpn, enum mmu_page_size *size)
{
    const struct pagemap_line *line = pagemap_find(map, vpn);
    if (line)
        *size = (enum mmu_page_size)line->size;
    return line;
}

bool pagemap_use(struct pagemap *map, uint64_t vpn, enum mmu_page_size size, uint64_t *frame)
{
    struct pagemap_line *line = pagemap_find(map, vpn);
    if (!line || line->size < (unsigned)size || (size != MMU_PAGE_4K && line->size != (unsigned)size))
        return false;
    line->used |= line->size == (unsigned)size;
    *frame = line->frame + (vpn - line->vpn);
    return true;
}

bool pagemap_names(const struct pagemap *map, uint64_t frame)
{
    C2_PROMISE(frame < map->frames);
    return map->named[frame / 64] >> frame % 64 & 1;
}

uint64_t pagemap_next_named(const struct pagemap *map, uint64_t frame)
{
    for (uint64_t word = frame / 64; word <= map->frames / 64; word++) {
        uint64_t bits = map->named[word] & (word == frame / 64 ? ~(uint64_t)0 << frame % 64 : ~(uint64_t)0);
        if (bits)
            return word * 64 + (uint64_t)__builtin_ctzll(bits);
    }
    return map->frames;
}

uint32_t pagemap_line_below(const struct pagemap *map, uint64_t vpn)
{
    const struct pagemap_line *best = NULL;
    for (unsigned size = 0; size < MMU_PAGE_SIZES; size++) {
        size_t i = lower_bound(map, size, vpn + 1);
        if (i > 0 && map->lines[i - 1].size == size && (!best || map->lines[i - 1].vpn > best->vpn))
            best = &map->lines[i - 1];
    }
    return best ? best->line : 0;
}
