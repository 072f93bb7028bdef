/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The log of a run's placements in order, written as a map. The turn of a placement is one more than the highest of
 *   those that had its page or one of its frames before; only turns above 1 are written. Frames of page tables are no
 *   part of a map: they are chosen anew, among the frames that it does not name.
 */
#include <inttypes.h>

#include "mmu/frames_priv.h"
#include "mmu/pagemap_priv.h"

enum c2_status pagemap_log_reserve(struct pagemap_log *log, struct c2_error *err)
{
    if (log->count < log->room)
        return C2_OK;
    size_t room = log->room ? log->room * 2 : C2_HOST_SIZE(1024, 1);
    struct pagemap_line *lines = c2_realloc(log->lines, room * sizeof *lines);
    if (!lines)
        return c2_fail_memory(err, "the record of placements");
    log->lines = lines;
    log->room = room;
    return C2_OK;
}

void pagemap_log_add(struct pagemap_log *log, uint64_t vpn, uint64_t frame, enum mmu_page_size size)
{
    log->lines[log->count++] = (struct pagemap_line){.vpn = vpn, .frame = (uint32_t)frame, .size = (uint8_t)size};
}

void pagemap_log_release(struct pagemap_log *log)
{
    c2_free(log->lines);
    *log = (struct pagemap_log){0};
}

/* ------------------------------------------------------------------ turns */

struct turns {
    struct c2_map *pages, *frames; /* the last turn of each */
};

static uint64_t last_turn(const struct turns *turns, uint64_t vpn, uint64_t frame)
{
    uint64_t page_turn = 0, frame_turn = 0;
    c2_map_get(turns->pages, vpn, &page_turn);
    c2_map_get(turns->frames, frame, &frame_turn);
    return page_turn > frame_turn ? page_turn : frame_turn;
}

static enum c2_status turn_of(struct turns *turns, const struct pagemap_line *line, uint64_t *turn,
                              struct c2_error *err)
{
    uint64_t pages = mmu_page_bytes((enum mmu_page_size)line->size) >> C2_PAGE_SHIFT;
    *turn = 0;
    for (uint64_t i = 0; i < pages; i++) {
        uint64_t last = last_turn(turns, line->vpn + i, line->frame + i);
        *turn = last > *turn ? last : *turn;
    }
    ++*turn;
    enum c2_status status = C2_OK;
    for (uint64_t i = 0; i < pages && status == C2_OK; i++) {
        status = c2_map_put(turns->pages, line->vpn + i, *turn, err);
        if (status == C2_OK)
            status = c2_map_put(turns->frames, line->frame + i, *turn, err);
    }
    return status;
}

/* ------------------------------------------------------------------ the two forms */

static void pagemap_write_plain(FILE *to, const struct pagemap_line *line, uint64_t turn)
{
    static const char *const sizes[MMU_PAGE_SIZES] = {"4K", "2M", "1G"};
    fprintf(to, "0x%" PRIx64 " 0x%" PRIx32 " %s", line->vpn, line->frame, sizes[line->size]);
    if (turn > 1)
        fprintf(to, " %" PRIu64, turn);
    fputc('\n', to);
}

static void write_textproto(FILE *to, const struct pagemap_line *line, uint64_t turn, uint8_t *size)
{
    if (line->size != *size)
        fprintf(to, "page_size: %" PRIu64 "\n", mmu_page_bytes((enum mmu_page_size)line->size));
    *size = line->size;
    fprintf(to, "address_mapping {\n  virtual_address: 0x%" PRIx64 "\n  physical_address: 0x%" PRIx64 "\n",
            line->vpn << C2_PAGE_SHIFT, (uint64_t)line->frame << C2_PAGE_SHIFT);
    if (turn > 1)
        fprintf(to, "  turn: %" PRIu64 "\n", turn);
    fputs("}\n", to);
}

static enum c2_status pagemap_write_all(const struct pagemap_log *log, struct turns *turns, FILE *to, bool textproto,
                                        struct c2_error *err)
{
    uint8_t size = UINT8_MAX;
    uint64_t turn;
    enum c2_status status = C2_OK;
    if (!textproto)
        fputs("# page frame size [turn]; page and frame are addresses / 4096\n", to);
    for (size_t i = 0; i < log->count && status == C2_OK; i++) {
        status = turn_of(turns, &log->lines[i], &turn, err);
        if (textproto)
            write_textproto(to, &log->lines[i], turn, &size);
        else
            pagemap_write_plain(to, &log->lines[i], turn);
    }
    if (status == C2_OK && ferror(to))
        return c2_fail(err, C2_ERR_IO, "cannot write the page map");
    return status;
}

enum c2_status pagemap_log_write(const struct pagemap_log *log, FILE *to, bool textproto, struct c2_error *err)
{
    struct turns turns = {0};
    enum c2_status status = c2_map_create(&turns.pages, err);
    if (status == C2_OK)
        status = c2_map_create(&turns.frames, err);
    if (status == C2_OK)
        status = pagemap_write_all(log, &turns, to, textproto, err);
    c2_map_destroy(turns.pages);
    c2_map_destroy(turns.frames);
    return status;
}
