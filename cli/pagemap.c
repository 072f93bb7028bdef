/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pagemap: `c2emu pagemap PID [FILE]`, the map of a live process in the plain form of page maps.
 *
 * Model
 *   /proc/PID/maps says which addresses there are, /proc/PID/pagemap has 8 bytes for each page: bit 63, it is in
 *   memory; bits 0 to 54, its frame. Reading another's needs the right to trace it. The kernel says 0 for every frame
 *   to users without CAP_SYS_ADMIN; a map of zeros would be no map, so that is refused.
 *   Every line is of 4 KiB: the file does not tell huge pages. A frame that several pages share has a line for the
 *   first; the others stand there as comments, as no frame may occur twice in a map.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#define USER_END ((uint64_t)1 << 47)
#define IN_MEMORY ((uint64_t)1 << 63)
#define FRAME_MASK (((uint64_t)1 << 55) - 1)

struct live {
    uint64_t pid;
    FILE *maps, *to;
    int entries;
    struct c2_map *frames;   /* frame -> page */
    uint64_t placed, hidden; /* pages in memory: frame told, not told */
};

static enum c2_status pagemap_fail_open(const struct live *live, const char *name, struct c2_error *err)
{
    unsigned long long pid = live->pid;
    if (errno == ENOENT || errno == ESRCH)
        return c2_fail(err, C2_ERR_NOT_FOUND, "pagemap: there is no process %llu", pid);
    if (errno == EACCES || errno == EPERM)
        return c2_fail(err, C2_ERR_DENIED,
                       "pagemap: /proc/%llu/%s may not be read: this needs the right to trace the "
                       "process, so its user's id or CAP_SYS_PTRACE",
                       pid, name);
    return c2_fail(err, C2_ERR_IO, "pagemap: /proc/%llu/%s: %s", pid, name, strerror(errno));
}

static enum c2_status open_live(struct live *live, struct c2_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", live->pid);
    live->maps = fopen(path, "re");
    if (!live->maps)
        return pagemap_fail_open(live, "maps", err);
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/pagemap", live->pid);
    live->entries = open(path, O_RDONLY | O_CLOEXEC);
    return live->entries < 0 ? pagemap_fail_open(live, "pagemap", err) : c2_map_create(&live->frames, err);
}

static enum c2_status pagemap_write_page(struct live *live, uint64_t page, uint64_t frame, struct c2_error *err)
{
    uint64_t first;
    if (frame == 0) {
        live->hidden++;
        return C2_OK;
    }
    if (live->placed++ == 0)
        fputs("# page frame size; page and frame are addresses / 4096\n", live->to);
    if (c2_map_get(live->frames, frame, &first)) {
        fprintf(live->to, "# 0x%" PRIx64 " 0x%" PRIx64 " 4K: the frame of page 0x%" PRIx64 "\n", page, frame, first);
        return C2_OK;
    }
    fprintf(live->to, "0x%" PRIx64 " 0x%" PRIx64 " 4K\n", page, frame);
    return c2_map_put(live->frames, frame, page, err);
}

/* A process may end, or unmap, while it is read: what cannot be read is not there. */
static enum c2_status write_range(struct live *live, uint64_t page, uint64_t end, struct c2_error *err)
{
    uint64_t entries[512];
    enum c2_status status = C2_OK;
    while (page < end && status == C2_OK) {
        uint64_t count = end - page < 512 ? end - page : 512;
        ssize_t bytes = pread(live->entries, entries, count * sizeof *entries, (off_t)(page * sizeof *entries));
        if (bytes < (ssize_t)sizeof *entries)
            return C2_OK;
        count = (uint64_t)bytes / sizeof *entries;
        for (uint64_t i = 0; i < count && status == C2_OK; i++) {
            if (entries[i] & IN_MEMORY)
                status = pagemap_write_page(live, page + i, entries[i] & FRAME_MASK, err);
        }
        page += count;
    }
    return status;
}

static enum c2_status write_live(struct live *live, struct c2_error *err)
{
    char line[512];
    enum c2_status status = C2_OK;
    bool whole = true; /* the next piece read begins a line */
    while (status == C2_OK && fgets(line, sizeof line, live->maps)) {
        uint64_t start, end;
        if (whole && sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && end <= USER_END)
            status = write_range(live, start >> C2_PAGE_SHIFT, end >> C2_PAGE_SHIFT, err);
        whole = strchr(line, '\n');
    }
    if (status == C2_OK && live->hidden > 0 && live->placed == 0)
        return c2_fail(err, C2_ERR_DENIED,
                       "pagemap: the kernel hides the frames of process %llu: this needs "
                       "CAP_SYS_ADMIN (run it as root)",
                       (unsigned long long)live->pid);
    if (status == C2_OK && live->placed == 0)
        return c2_fail(err, C2_ERR_NOT_FOUND,
                       "pagemap: process %llu has no page in memory: it has ended, or is the kernel's",
                       (unsigned long long)live->pid);
    return status;
}

struct words {
    const char *process, *path;
};

static enum c2_status pagemap_fail_words(struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID, "pagemap: give a process and, if you like, a file: c2emu pagemap PID [FILE]");
}

static enum c2_status take_argument(void *self, char *const *word, struct c2_error *err)
{
    struct words *words = self;
    if (words->path)
        return pagemap_fail_words(err);
    *(words->process ? &words->path : &words->process) = word[0];
    return C2_OK;
}

static enum c2_status write_map(struct live *live, const char *path, struct c2_error *err)
{
    struct c2_outfile *file = NULL;
    enum c2_status status = c2_outfile_open(&file, path, err);
    if (status != C2_OK)
        return status;
    live->to = c2_outfile_stream(file);
    status = write_live(live, err);
    if (status == C2_OK)
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return status;
}

enum c2_status cli_pagemap(int argc, char **argv, struct c2_error *err)
{
    struct words words = {NULL, NULL};
    const struct cli_taker taker = {.self = &words, .argument = take_argument};
    struct live live = {.entries = -1};
    enum c2_status status = cli_words_take(cli_verb("pagemap"), argc, argv, &taker, err);
    if (status == C2_OK && !words.process)
        status = pagemap_fail_words(err);
    if (status == C2_OK)
        status = c2_parse_number(&live.pid, words.process, "pagemap: PID", err);
    if (status == C2_OK)
        status = open_live(&live, err);
    if (status == C2_OK)
        status = write_map(&live, words.path ? words.path : "-", err);
    c2_map_destroy(live.frames);
    if (live.entries >= 0)
        close(live.entries);
    if (live.maps)
        fclose(live.maps);
    return status;
}
