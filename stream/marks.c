/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * marks: whether a row of marks is one that a run can have written. For streams that come from elsewhere: a file that
 * have been changed has checksums that are right.
 *
 * Model
 *   Numbers of words, words that are one of few, ranges within the addresses that a program can have; and what one mark
 *   says of others: a block is freed that is allocated, and is allocated once; a local is of a layout that was named;
 *   a program is loaded once.
 * Not modelled
 *   Whether what is said of memory fits what is mapped: the code that applies these marks checks it (mmu/replica.h).
 */
#include <string.h>

#include "stream/stream.h"

#define ADDRESSES ((uint64_t)1 << 47) /* of a program */

struct stream_marks {
    struct c2_map *allocated; /* address -> 1 */
    struct c2_map *layouts;   /* number -> 1 */
    bool loaded, entered;
};

enum c2_status stream_marks_create(struct stream_marks **out, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    enum c2_status status = *out ? c2_map_create(&(*out)->allocated, err)
                                 : c2_fail_memory(err, "the marks of a stream");
    if (status == C2_OK)
        status = c2_map_create(&(*out)->layouts, err);
    if (status == C2_OK)
        return C2_OK;
    stream_marks_destroy(*out);
    *out = NULL;
    return status;
}

void stream_marks_destroy(struct stream_marks *marks)
{
    if (!marks)
        return;
    c2_map_destroy(marks->allocated);
    c2_map_destroy(marks->layouts);
    c2_free(marks);
}

static enum c2_status marks_refuse(struct c2_error *err, const char *why)
{
    return c2_fail(err, C2_ERR_FORMAT, "%s", why);
}

static bool marks_is_address(uint64_t address) { return address < ADDRESSES; }
static bool marks_is_range(uint64_t address, uint64_t bytes)
{
    return marks_is_address(address) && bytes <= ADDRESSES - address;
}

static bool marks_knows(const struct c2_map *map, uint64_t key)
{
    uint64_t ignored;
    return c2_map_get(map, key, &ignored);
}

static enum c2_status marks_allocated(struct stream_marks *marks, const uint64_t *words, uint32_t count,
                                      struct c2_error *err)
{
    const uint64_t allocator = (uint32_t)words[2], further = words[2] >> 32;
    if (allocator >= STREAM_ALLOCATORS || further >= STREAM_CALLERS || count != 4 + further ||
        !marks_is_range(words[0], words[1]))
        return marks_refuse(err, "a block is allocated as none can be");
    if (marks_knows(marks->allocated, words[0]))
        return marks_refuse(err, "a block is allocated twice");
    return c2_map_put(marks->allocated, words[0], 1, err);
}

static enum c2_status marks_freed(struct stream_marks *marks, const uint64_t *words, uint32_t count,
                                  struct c2_error *err)
{
    (void)count;
    return c2_map_remove(marks->allocated, words[0]) ? C2_OK
                                                     : marks_refuse(err, "a block is freed that is not allocated");
}

static enum c2_status passed(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)count;
    return marks_knows(marks->allocated, words[0]) ? C2_OK
                                                   : marks_refuse(err, "a block is passed on that is not allocated");
}

static enum c2_status layout(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)count;
    if (words[0] > UINT32_MAX || !marks_is_address(words[1] & ~STREAM_THREADS))
        return marks_refuse(err, "a layout is of no function");
    return c2_map_put(marks->layouts, words[0], 1, err);
}

static enum c2_status local(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)count;
    if (!marks_is_range(words[0], words[1]) || words[1] == 0 || words[3] >> 32 > 1)
        return marks_refuse(err, "a local lies where none can");
    return marks_knows(marks->layouts, words[2]) ? C2_OK
                                                 : marks_refuse(err, "a local is of a layout that is not known");
}

static enum c2_status range(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)marks, (void)count;
    return marks_is_range(words[0], words[1]) ? C2_OK : marks_refuse(err, "a range lies where none can");
}

static enum c2_status loaded(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)count;
    if (marks->loaded || !marks_is_address(words[0]) || !marks_is_address(words[1]))
        return marks_refuse(err, "a program is loaded as none can be");
    marks->loaded = true;
    return C2_OK;
}

static enum c2_status marks_entered(struct stream_marks *marks, const uint64_t *words, uint32_t count,
                                    struct c2_error *err)
{
    (void)words, (void)count;
    if (marks->entered || !marks->loaded)
        return marks_refuse(err, "a program is entered as none can be");
    marks->entered = true;
    return C2_OK;
}

static enum c2_status phase(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)marks, (void)count;
    return words[0] <= STREAM_SKIP ? C2_OK : marks_refuse(err, "a phase is none");
}

static enum c2_status marks_thread(struct stream_marks *marks, const uint64_t *words, uint32_t count,
                                   struct c2_error *err)
{
    (void)marks, (void)count;
    return words[0] - 1 < UINT32_MAX && words[1] <= STREAM_EXIT ? C2_OK : marks_refuse(err, "a thread is none");
}

static enum c2_status stack(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)marks, (void)count;
    return words[0] - 1 < UINT32_MAX && words[2] != 0 && marks_is_range(words[1], words[2])
               ? C2_OK
               : marks_refuse(err, "a thread's stack lies where none can");
}

/* The text ends within its words, and is of plain characters. */
static enum c2_status dumped(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    char text[(STREAM_DUMP_WORDS - 1) * sizeof *words];
    size_t length = 0;
    (void)marks, (void)count;
    memcpy(text, words + 1, sizeof text);
    while (length < sizeof text && text[length] >= ' ' && text[length] <= '~')
        length++;
    return length < sizeof text && text[length] == '\0' ? C2_OK : marks_refuse(err, "a dump's text is none");
}

static enum c2_status arguments(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err)
{
    (void)marks, (void)count;
    return marks_is_address(words[0]) && words[1] <= UINT32_MAX ? C2_OK
                                                                : marks_refuse(err, "arguments are of no function");
}

/* Marks of memory are checked where they are applied; here their numbers of words are. */
enum c2_status stream_marks_take(struct stream_marks *marks, uint32_t mark, const uint64_t *words, uint32_t count,
                                 struct c2_error *err)
{
    static const struct {
        uint32_t least, most; /* words */
        enum c2_status (*take)(struct stream_marks *marks, const uint64_t *words, uint32_t count, struct c2_error *err);
    } rows[STREAM_MARKS] = {
        [STREAM_ALLOCATED] = {4, 3 + STREAM_CALLERS, marks_allocated},
        [STREAM_FREED] = {1, 1, marks_freed},
        [STREAM_PASSED] = {2, 2, passed},
        [STREAM_LOCAL] = {4, 4, local},
        [STREAM_LEFT] = {2, 2, range},
        [STREAM_LAYOUT] = {2, 2, layout},
        [STREAM_LOADED] = {2, 2, loaded},
        [STREAM_ENTERED] = {0, 0, marks_entered},
        [STREAM_MAPPED] = {6, STREAM_MARK_WORDS, NULL},
        [STREAM_UNMAPPED] = {2, 2, NULL},
        [STREAM_PROTECTED] = {3, 3, NULL},
        [STREAM_MOVED] = {5, 5, NULL},
        [STREAM_DISCARDED] = {2, 2, NULL},
        [STREAM_ADVISED] = {3, 3, NULL},
        [STREAM_TOUCHED] = {2, 2, NULL},
        [STREAM_PHASE] = {1, 1, phase},
        [STREAM_THREAD] = {2, 2, marks_thread},
        [STREAM_CODE] = {2, 2, range},
        [STREAM_EMPTIED] = {0, 0, NULL},
        [STREAM_DUMPED] = {STREAM_DUMP_WORDS, STREAM_DUMP_WORDS, dumped},
        [STREAM_ZEROED] = {0, 0, NULL},
        [STREAM_ARGUMENTS] = {2 + STREAM_ARGUMENT_REGISTERS, 2 + STREAM_ARGUMENT_REGISTERS, arguments},
        [STREAM_BARRIER] = {0, 0, NULL},
        [STREAM_STACK] = {3, 3, stack},
    };
    if (mark == 0 || mark >= STREAM_MARKS)
        return marks_refuse(err, "a mark is of no known kind");
    if (count < rows[mark].least || count > rows[mark].most)
        return marks_refuse(err, "a mark has another number of words than its kind");
    return rows[mark].take ? rows[mark].take(marks, words, count, err) : C2_OK;
}
