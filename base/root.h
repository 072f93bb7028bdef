/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The directory that is "/" to the guest (--root); without one it is the host's, and all of this changes nothing.
 */
#ifndef C2_BASE_ROOT_H
#define C2_BASE_ROOT_H

#include <limits.h>

#include "base/base.h"

/* Once, before anything is looked for. C2_ERR_NOT_FOUND, C2_ERR_UNSUPPORTED. */
enum c2_status c2_root_set(const char *directory, struct c2_error *err);
bool c2_root_is_set(void);
/* The host's path of it, without a slash at its end; "" where none is set. */
const char *c2_root_path(void);
/* Opens by O_PATH what the guest calls so; flags: O_DIRECTORY, O_NOFOLLOW. -1 and errno. */
int c2_root_open(const char *path, int flags);
/* Where the host has what the guest calls so (relative: from where it starts): 0, or an errno, and then a path that
 * gives the same error as long as the folder does not exist. */
int c2_root_find(const char *path, char out[PATH_MAX]);
/* What the guest calls this canonical path of the host's; NULL: it has no name there. Lent with `host`. */
const char *c2_root_inside(const char *host);
/* A directory of the run's own: `base` is the host's path of what has /dev/shm below, which the guest finds as its
 * /dev/shm; "": there is none. */
void c2_root_set_own(const char *base);
const char *c2_root_own(void);
bool c2_root_is_own(const char *host); /* whether this path of the host's lies there */
/* Where the guest starts, for the host: the working directory, or the root's top if that lies elsewhere. */
const char *c2_root_start(void);

#endif
