/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Map files: which frame each page gets. pagemap.c looks up, pagemap_read.c and pagemap_write.c are the two forms.
 */
#ifndef C2_MMU_PAGEMAP_PRIV_H
#define C2_MMU_PAGEMAP_PRIV_H

#include "mmu/replica.h"

/* One placement. Frames and pages are numbers of 4 KiB, aligned to the size. */
struct pagemap_line {
    uint64_t vpn;
    uint32_t frame;
    uint32_t turn; /* from 1 */
    uint32_t line; /* of the file */
    uint8_t size;  /* enum mmu_page_size */
    bool used;
};
struct pagemap {
    char *path;
    uint64_t frames; /* of the physical memory */
    struct pagemap_line *lines;
    size_t count, room;
    uint64_t *named; /* a bit a frame */
    bool has_size[MMU_PAGE_SIZES];
    bool frame_again, turned; /* a frame has two lines; a line has another turn than 1 */
};

/* Reads and checks a file: `path` ending in .textproto is of that form, else plain. A refusal names file and line. */
enum c2_status pagemap_read(struct pagemap **out, const char *path, uint64_t frames, struct c2_error *err);
void pagemap_destroy(struct pagemap *map);

/* Adds a line, which gets this frame; refuses what is not aligned or lies outside. */
enum c2_status pagemap_add(struct pagemap *map, struct pagemap_line line, uint64_t frame, struct c2_error *err);
/* All lines are there: refuses overlaps, sorts. */
enum c2_status pagemap_finish(struct pagemap *map, struct c2_error *err);
enum c2_status pagemap_read_lines(struct pagemap *map, FILE *from, bool textproto, struct c2_error *err);

/* Size of the page that the map has next at vpn; false: none. */
bool pagemap_size_at(const struct pagemap *map, uint64_t vpn, enum mmu_page_size *size);
/* The frame for a page of this size at vpn, whose line is used up by that: a huge page needs a line of its size, a
 * small one may lie in a larger. False: the map has none. */
bool pagemap_use(struct pagemap *map, uint64_t vpn, enum mmu_page_size size, uint64_t *frame);
bool pagemap_names(const struct pagemap *map, uint64_t frame);
uint64_t pagemap_next_named(const struct pagemap *map, uint64_t frame); /* >= frame; the frame count if none */
/* The line of vpn or of the page nearest below it, 0 if none: for messages. */
uint32_t pagemap_line_below(const struct pagemap *map, uint64_t vpn);

/* ------------------------------------------------------------------ the log of a run */
struct pagemap_log {
    struct pagemap_line *lines;
    size_t count, room;
};
enum c2_status pagemap_log_reserve(struct pagemap_log *log, struct c2_error *err); /* room for one more */
void pagemap_log_add(struct pagemap_log *log, uint64_t vpn, uint64_t frame, enum mmu_page_size size);
void pagemap_log_release(struct pagemap_log *log);
enum c2_status pagemap_log_write(const struct pagemap_log *log, FILE *to, bool textproto, struct c2_error *err);

#endif
