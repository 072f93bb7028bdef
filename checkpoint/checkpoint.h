/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * checkpoint: the file that the state of a guest is kept in. Each module with a part of that state has one function
 * that goes over it field by field; the same calls write the fields into a file and take them from one, so that what is
 * written is what is read.
 *
 * A failure is kept: what comes after it does nothing, and leaves zeros where it should have read. So a part asks
 * only before it relies on what it has read (checkpoint_status), and at its end.
 * docs/checkpoints.md has the bytes.
 */
#ifndef C2_CHECKPOINT_H
#define C2_CHECKPOINT_H

#include "base/base.h"

#define CHECKPOINT_FORMAT 13u /* of all that is in the file: to be changed with any field of any part */

struct checkpoint;
/* Begins a file of the caller's, which outlives it, as do the texts; `name` is for messages, `version` that of the
 * program. The caller writes behind it what else it needs there, after checkpoint_finish. */
enum c2_status checkpoint_write(struct checkpoint **out, FILE *to, const char *name, const char *version,
                                struct c2_error *err);
/* The same to read. A file of another format or version is refused, with both. */
enum c2_status checkpoint_read(struct checkpoint **out, FILE *from, const char *name, const char *version,
                               struct c2_error *err);
/* Everything is written, or must have been read; the file stands behind the last byte of it. Names the files that have
 * changed (checkpoint_file). */
enum c2_status checkpoint_finish(struct checkpoint *checkpoint, struct c2_error *err);
void checkpoint_close(struct checkpoint *checkpoint); /* takes NULL */

bool checkpoint_writes(const struct checkpoint *checkpoint); /* else it reads */
/* C2_OK, or the first failure, with its reason. */
enum c2_status checkpoint_status(const struct checkpoint *checkpoint, struct c2_error *err);
/* While reading: what was read cannot be; `what` states why ("an area outside of the window"). */
void checkpoint_damaged(struct checkpoint *checkpoint, const char *what);
/* A failure that is no damage. */
void checkpoint_fail(struct checkpoint *checkpoint, const struct c2_error *why);
/* While writing: something cannot be kept, as the text states. */
void checkpoint_refuse(struct checkpoint *checkpoint, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------ values */
/* From here on it is this part of the state, for messages: "the open files". Both ends compare the names. */
void checkpoint_part(struct checkpoint *checkpoint, const char *name);
/* At most `most`: more is damage. */
void checkpoint_number(struct checkpoint *checkpoint, uint64_t *value, uint64_t most);
/* The same of an object of another type. */
#define CHECKPOINT_NUMBER(checkpoint, object, most) \
    do { \
        uint64_t number_ = (uint64_t)(object); \
        checkpoint_number((checkpoint), &number_, (most)); \
        (object) = (__typeof__(object))number_; \
    } while (0)
#define CHECKPOINT_ANY UINT64_MAX
void checkpoint_bytes(struct checkpoint *checkpoint, void *bytes, size_t count);
/* A text of at most `most` bytes, without NUL; NULL is a text as well. Read ones are the caller's to free. */
void checkpoint_text(struct checkpoint *checkpoint, char **text, size_t most);
/* Bytes of a number that is not known; read ones are the caller's to free, NULL if there are none. */
void checkpoint_block(struct checkpoint *checkpoint, uint8_t **bytes, size_t *count, size_t most);
/* All of a map; a map that is read into holds nothing. */
void checkpoint_map(struct checkpoint *checkpoint, struct c2_map *map);
/* An array as c2_grow has them: makes room for one more element when reading; false: there is none, or the checkpoint
 * has failed. */
bool checkpoint_room(struct checkpoint *checkpoint, void **array, uint32_t *room, uint32_t count, size_t bytes);

/* ------------------------------------------------------------------ files of the host */
/* How the guest has a file: what must be the same when it goes on. */
enum checkpoint_use {
    CHECKPOINT_READ,    /* size and time of the last change */
    CHECKPOINT_WRITTEN, /* what was in it; what has come behind that since is cut off */
    CHECKPOINT_NAMED,   /* it is there */
};
/* The file at `path`, which fd has open while writing. Reading: opens it with these flags and returns the descriptor;
 * -1 when it is not what it was, which checkpoint_finish reports of all such files, or after a failure. Writing:
 * refuses a descriptor whose path leads elsewhere or nowhere; `who` names it: "descriptor 5". Returns -1. */
int checkpoint_file(struct checkpoint *checkpoint, const char *path, int fd, int flags, enum checkpoint_use use,
                    const char *who);
/* Having read: the last thing before the guest goes on. Cuts the files that it may write to what they had. */
enum c2_status checkpoint_cut_files(struct checkpoint *checkpoint, struct c2_error *err);

#endif
