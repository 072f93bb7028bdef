/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a guest that is confined may change (sandbox.c).
 */
#ifndef C2_SYSCALLS_SANDBOX_PRIV_H
#define C2_SYSCALLS_SANDBOX_PRIV_H

#include "syscalls/paths_priv.h"

struct sandbox_root {
    int host;   /* O_PATH */
    char *path; /* canonical; "" is the root of the file system */
};

enum { SANDBOX_HELD = 8 };
struct sandbox {
    struct sandbox_root *roots; /* NULL: the guest is not confined */
    size_t count;
    int held[SANDBOX_HELD]; /* what the running call has opened for itself */
    unsigned held_count;
};

enum c2_status sandbox_create(struct sandbox *out, const struct syscalls_config *config, struct c2_error *err);
void sandbox_destroy(struct sandbox *sandbox);
void sandbox_end_call(struct sandbox *sandbox);      /* closes what the call has opened for itself */
int sandbox_hold(struct sandbox *sandbox, int host); /* keeps it until then; returns host */

/* What a call is about to do to what a path names. */
enum sandbox_change {
    SANDBOX_MAKES,    /* there will be such a name */
    SANDBOX_REPLACES, /* the same, and there may be one already */
    SANDBOX_NAME,     /* the name itself changes or goes: nothing is followed */
    SANDBOX_TARGET,   /* of what it leads to, something changes */
};
/* place, found by paths_find and not synthetic, becomes one that leads below a writable directory whatever others do to
 * names meanwhile, good until the call ends: 0, or what Linux says, -EROFS where it lies elsewhere. path: the guest's.
 * Nothing happens to a guest that is not confined. */
int64_t sandbox_confine(struct call *c, struct paths_place *place, const char *path, enum sandbox_change change);
/* 0, or -EROFS where the file of this descriptor of the host's is not one that may be changed without writing to it. */
int64_t sandbox_descriptor(struct call *c, int host);
/* As openat(2) of the place: a descriptor of the host's or -1 and errno. */
int sandbox_open(struct call *c, const struct paths_place *place, const char *path, int flags, mode_t mode);
bool sandbox_refuses_sockets(const struct syscalls *kernel);

#endif
