/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A directory of the host is "/" to the guest: an absolute path, and the text of a symbolic link that is one, are
 *   looked up below it, and ".." at its top stays there, as after chroot(2). The host's kernel does so (openat2 with
 *   RESOLVE_IN_ROOT). It is set once, before anything is looked for, and is the same for all of the process. So is the
 *   place of the run's own /dev/shm (syscalls/shm.c).
 * Invariants
 *   The host's path is canonical and has no slash at its end: "" is the host's own root, or that none is set.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/root.h"

static struct {
    int host; /* O_PATH */
    char path[PATH_MAX];
    char own[PATH_MAX]; /* what has the run's own /dev/shm below; "": nothing */
} root = {.host = -1};

static int open_in_root(const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_PATH | O_CLOEXEC),
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, root.host, path, &how, sizeof how);
}

enum c2_status c2_root_set(const char *directory, struct c2_error *err)
{
    char *real = realpath(directory, NULL);
    const int host = real ? open(real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (host < 0) {
        const enum c2_status status = c2_fail(
            err, C2_ERR_NOT_FOUND, "--root %s: %s: it must be a directory that holds the guest's file system",
            directory, strerror(errno));
        free(real);
        return status;
    }
    root.host = fcntl(host, F_DUPFD_CLOEXEC, 3);
    close(host);
    snprintf(root.path, sizeof root.path, "%s", strcmp(real, "/") == 0 ? "" : real);
    free(real);
    const int probe = open_in_root(".", 0);
    if (probe < 0)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "--root needs openat2 (Linux 5.6), which this kernel does not have or does not allow here: %s",
                       strerror(errno));
    close(probe);
    return C2_OK;
}

bool c2_root_is_set(void) { return root.host >= 0; }

const char *c2_root_path(void) { return root.path; }

int c2_root_open(const char *path, int flags) { return open_in_root(path[0] ? path : ".", flags); }

void c2_root_set_own(const char *base) { snprintf(root.own, sizeof root.own, "%s", base); }

const char *c2_root_own(void) { return root.own; }

bool c2_root_is_own(const char *host)
{
    const size_t bytes = strlen(root.own);
    return bytes > 0 && strncmp(host, root.own, bytes) == 0 && host[bytes] == '/';
}

const char *c2_root_inside(const char *host)
{
    if (c2_root_is_own(host))
        return host + strlen(root.own);
    const size_t bytes = strlen(root.path);
    if (strncmp(host, root.path, bytes) != 0 || (host[bytes] != '/' && host[bytes] != '\0'))
        return NULL;
    return host[bytes] ? host + bytes : "/";
}

const char *c2_root_start(void)
{
    char here[PATH_MAX];
    return !c2_root_is_set() || (getcwd(here, sizeof here) && c2_root_inside(here)) ? "."
           : root.path[0]                                                           ? root.path
                                                                                    : "/";
}

/* The guest's path from "/" on. */
static int from_the_top(const char *path, char out[PATH_MAX])
{
    char here[PATH_MAX];
    const char *start = path[0] != '/' && getcwd(here, sizeof here) ? c2_root_inside(here) : NULL;
    const int bytes = snprintf(out, PATH_MAX, "%s/%s", start ? start : "", path);
    return bytes < PATH_MAX ? 0 : ENAMETOOLONG;
}

int c2_root_find(const char *path, char out[PATH_MAX])
{
    char whole[PATH_MAX], link[64];
    if (!c2_root_is_set())
        return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX ? 0 : ENAMETOOLONG;
    int status = from_the_top(path, whole);
    const int host = status == 0 ? open_in_root(whole, 0) : -1;
    if (host < 0) {
        status = status ? status : errno;
        const int bytes = snprintf(out, PATH_MAX, "%s%s", root.path, whole);
        return bytes < PATH_MAX ? status : ENAMETOOLONG;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    const ssize_t bytes = readlink(link, out, PATH_MAX - 1);
    if (bytes < 0)
        status = errno;
    else
        out[bytes] = '\0';
    close(host);
    return status;
}
