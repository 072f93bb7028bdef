/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the guest reads of the host, noted while it does: for handlers. All of it does nothing unless the kernel was
 * asked to keep inputs. Want of memory is said by syscalls_inputs.
 */
#ifndef C2_SYSCALLS_INPUTS_PRIV_H
#define C2_SYSCALLS_INPUTS_PRIV_H

#include <sys/stat.h>
#include <sys/uio.h>

#include "syscalls/call_priv.h"

struct fd_entry;

struct inputs_shared;
struct inputs {
    bool wanted, failed;          /* failed: there was no memory for something */
    struct inputs_shared *shared; /* with the other processes */
    uint32_t seen;                /* of what they have written, so many are known here */
    struct input *list;           /* in the order in which they were met */
    uint32_t count, room;
    struct c2_map *by_key; /* the latest of a key, its number + 1 */
    struct syscalls_input *shown;
};

enum c2_status inputs_create(struct inputs *inputs, bool wanted, struct c2_error *err);
void inputs_destroy(struct inputs *inputs);
/* In the child of a fork: what it reads from now on is its own. */
void inputs_become_child(struct inputs *inputs);
/* The process ends: what it has read is for the first one to tell. */
void inputs_tell(struct inputs *inputs);

/* A descriptor of a regular file, before anything is read or written by it; path: absolute, NULL: the host's name of
 * the descriptor. standard: it is the guest's standard input. */
void inputs_opened(struct syscalls *kernel, struct fd_entry *entry, const char *path, bool standard);
/* Something of it is about to be read: all of the file as it is now is an input. */
void inputs_reading(struct syscalls *kernel, const struct fd_entry *entry);
void inputs_mapping(struct syscalls *kernel, const struct fd_entry *entry, bool executable);
/* What was read from a pipe, a terminal or the like: the first `bytes` bytes of the buffers. NULL: not seen. */
void inputs_took(struct syscalls *kernel, const struct fd_entry *entry, const struct iovec *iov, uint64_t bytes);
/* A directory is about to be listed. */
void inputs_listing(struct syscalls *kernel, const struct fd_entry *entry);
/* A link of the host, canonical path, that has this text. */
void inputs_link(struct syscalls *kernel, const char *path, const char *text, uint64_t bytes);
/* The answer of a call that looked for a path, which is returned: where it was not there, that is an input. */
int64_t inputs_looked(struct syscalls *kernel, const char *path, int64_t answer);
/* The file is about to be changed by its name. */
void inputs_changing(struct syscalls *kernel, const char *path);

#endif
