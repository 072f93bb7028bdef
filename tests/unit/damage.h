/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files that are damaged in any way, for readers: a whole one is cut at each byte, and changed at random. What a reader
 * must keep: it reads to the end, or refuses with words that name the file. A crash, a hang and a huge allocation end
 * the test.
 *
 * C2_FUZZ_INPUTS is how many random inputs there are, where it is set; a million, made by hand, is the long way.
 */
#ifndef C2_TEST_DAMAGE_H
#define C2_TEST_DAMAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

#define DAMAGE_MOST 8192 /* bytes of a whole one, and of an input */

/* bytes[count], and a 0 behind them that does not belong to them. */
typedef void damage_try(char *bytes, size_t count, void *context);

static inline unsigned long damage_inputs(unsigned long usual)
{
    const char *wanted = getenv("C2_FUZZ_INPUTS");
    return wanted ? strtoul(wanted, NULL, 10) : usual;
}

/* A bit, any byte, one from elsewhere in the file, some digits more (which make numbers large), or a piece of it that
 * comes again, takes the place of another, or is gone. Returns the new length. */
static inline size_t damage_once(char *bytes, size_t count, const char *whole, size_t whole_count, struct c2_rng *rng)
{
    const size_t at = (size_t)c2_rng_below(rng, count), from = (size_t)c2_rng_below(rng, whole_count);
    const size_t most = whole_count - from < 40 ? whole_count - from : 40;
    size_t length = 1 + (size_t)c2_rng_below(rng, most);
    switch (c2_rng_below(rng, 7)) {
    case 0:
        bytes[at] = (char)(bytes[at] ^ 1 << c2_rng_below(rng, 8));
        return count;
    case 1:
        bytes[at] = (char)c2_rng_below(rng, 256);
        return count;
    case 2:
        bytes[at] = whole[from];
        return count;
    case 3:
        length = length > 20 ? 20 : length;
        if (count + length > DAMAGE_MOST)
            return count;
        memmove(bytes + at + length, bytes + at, count - at);
        memset(bytes + at, '0' + (int)c2_rng_below(rng, 10), length);
        return count + length;
    case 4:
        if (count + length > DAMAGE_MOST)
            return count;
        memmove(bytes + at + length, bytes + at, count - at);
        memcpy(bytes + at, whole + from, length);
        return count + length;
    case 5:
        length = length > count - at ? count - at : length;
        memcpy(bytes + at, whole + from, length);
        return count;
    default:
        length = length > count - at - 1 ? count - at - 1 : length;
        memmove(bytes + at, bytes + at + length, count - at - length);
        return count - length;
    }
}

static inline void damage_cut(const char *whole, size_t count, damage_try *try, void *context)
{
    char bytes[DAMAGE_MOST + 1];
    for (size_t length = 0; length <= count; length++) {
        memcpy(bytes, whole, length);
        bytes[length] = '\0';
        try(bytes, length, context);
    }
}

/* Each input is made by its number alone, with one change to four, and one in eight is cut as well. */
static inline void damage_at_random(const char *whole, size_t count, unsigned long inputs, damage_try *try,
                                    void *context)
{
    char bytes[DAMAGE_MOST + 1];
    for (unsigned long i = 0; i < inputs; i++) {
        struct c2_rng rng;
        size_t length = count;
        c2_rng_init(&rng, i, "damage");
        memcpy(bytes, whole, count);
        for (uint64_t changes = 1 + c2_rng_below(&rng, 4); changes > 0; changes--)
            length = damage_once(bytes, length, whole, count, &rng);
        if (c2_rng_below(&rng, 8) == 0)
            length = (size_t)c2_rng_below(&rng, length) + 1;
        bytes[length] = '\0';
        try(bytes, length, context);
    }
}

/* A file for readers that want a path: bytes are put in place of the last ones. suffix: what the path ends in. */
struct damage_file {
    int fd;
    char path[64];
};

/* In memory, as a disk would take most of the time; the path is a link to it. */
static inline bool damage_file_make(struct damage_file *file, const char *suffix)
{
    char memory[40];
    file->fd = memfd_create("damaged", MFD_CLOEXEC);
    snprintf(memory, sizeof memory, "/proc/self/fd/%d", file->fd);
    snprintf(file->path, sizeof file->path, "/tmp/c2-damaged-%ld-%d%s", (long)getpid(), file->fd, suffix);
    return file->fd >= 0 && symlink(memory, file->path) == 0;
}

static inline bool damage_file_put(const struct damage_file *file, const char *bytes, size_t count)
{
    return ftruncate(file->fd, 0) == 0 && pwrite(file->fd, bytes, count, 0) == (ssize_t)count;
}

static inline void damage_file_remove(const struct damage_file *file)
{
    close(file->fd);
    unlink(file->path);
}

#endif
