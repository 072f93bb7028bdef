/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a path leads.
 *
 * Model
 *   The guest must never see the host's own /proc or /sys (the process there is c2emu), however it names them: by a
 *   link, by "..", from a directory descriptor. So every path is walked here component by component, with readlink, as
 *   the kernel would walk it; in /proc and /sys the links are those of synthetic.c. The walk only decides:
 *     - it never entered /proc or /sys: the host gets the guest's own directory and path, with its own semantics;
 *     - it ended there: a synthetic file;
 *     - it went through a link there (/proc/self/cwd/x): the host gets the canonical path found.
 *
 * Invariants
 *   A component that does not exist, or cannot be read, is not a link: the walk goes on and the host (or synthetic.c)
 *   finds the error.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"

enum { MAX_LINKS = 40 }; /* as Linux */

struct walk {
    struct syscalls *kernel;
    char at[PATH_MAX];      /* canonical so far, no slash at the end; "" is the root */
    char rest[2][PATH_MAX]; /* components to come; two, for a link is put in front of the rest */
    int rest_used;
    int links;
    bool redirected; /* a synthetic link was followed: the guest's own path is no longer right */
    bool magic;      /* `at` is a descriptor of c2emu in the host's /proc: final */
};

static int64_t put(char *to, const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (bytes > PATH_MAX)
        return -ENAMETOOLONG;
    memmove(to, text, bytes);
    return 0;
}

/* What the host calls the file of a descriptor: where a directory is. */
static int64_t host_name(int host, char out[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    ssize_t bytes = readlink(link, out, PATH_MAX - 1);
    if (bytes < 0)
        return -errno;
    out[bytes] = '\0';
    if (bytes == 1 && out[0] == '/')
        out[0] = '\0';
    return 0;
}

static int64_t start_at(struct walk *w, uint64_t dirfd, const char *path)
{
    if (path[0] == '/') {
        w->at[0] = '\0';
        return 0;
    }
    if ((int)dirfd == AT_FDCWD)
        return host_name(w->kernel->fds.cwd, w->at);
    const struct fd_entry *entry = fds_at(w->kernel, dirfd);
    if (!entry)
        return -EBADF;
    if (entry->path)
        return put(w->at, entry->path);
    return host_name(entry->host, w->at);
}

/* Takes the first component off the rest into name (NAME_MAX + 1 bytes): false if there is none. */
static int64_t next_component(struct walk *w, char *name, bool *last)
{
    char *rest = w->rest[w->rest_used];
    size_t skip = strspn(rest, "/"), bytes = strcspn(rest + skip, "/");
    if (bytes == 0)
        return 0;
    if (bytes > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(name, rest + skip, bytes);
    name[bytes] = '\0';
    *last = rest[skip + bytes] == '\0';
    memmove(rest, rest + skip + bytes, strlen(rest + skip + bytes) + 1);
    return 1;
}

static void go_up(struct walk *w)
{
    char *slash = strrchr(w->at, '/');
    if (slash)
        *slash = '\0';
}

static int64_t go_down(struct walk *w, const char *name)
{
    size_t used = strlen(w->at), bytes = strlen(name);
    if (used + 1 + bytes + 1 > PATH_MAX)
        return -ENAMETOOLONG;
    w->at[used] = '/';
    memcpy(w->at + used + 1, name, bytes + 1);
    return 0;
}

/* `at` is /proc/PID/fd/N: the file itself, which may have no name. */
static int64_t follow_descriptor(struct walk *w, int64_t fd, bool last)
{
    const struct fd_entry *entry = fds_at(w->kernel, (uint64_t)fd);
    w->redirected = true;
    if (entry->path)
        return put(w->at, entry->path);
    if (!last)
        return host_name(entry->host, w->at);
    w->magic = true;
    snprintf(w->at, sizeof w->at, "/proc/self/fd/%d", entry->host);
    return 0;
}

/* Puts the text of the link at `at` in front of the rest. Too many links are for the host to find, after what else may
 * be wrong. */
static int64_t follow_text(struct walk *w, const char *text)
{
    const char *rest = w->rest[w->rest_used];
    char *to = w->rest[!w->rest_used];
    if (++w->links > MAX_LINKS)
        return -ELOOP;
    if (strlen(text) + 1 + strlen(rest) + 1 > PATH_MAX)
        return -ENAMETOOLONG;
    strcpy(stpcpy(stpcpy(to, text), "/"), rest);
    if (rest[0] == '\0')
        to[strlen(text)] = '\0';
    w->rest_used = !w->rest_used;
    if (text[0] == '/')
        w->at[0] = '\0';
    else
        go_up(w);
    return 0;
}

static int64_t follow_link(struct walk *w, bool last)
{
    char text[PATH_MAX];
    bool synthetic = synthetic_covers(w->at);
    if (synthetic) {
        int64_t fd = synthetic_fd(w->kernel, w->at);
        if (fd >= 0)
            return follow_descriptor(w, fd, last);
    }
    int64_t bytes = synthetic ? synthetic_link(w->kernel, w->at, text, sizeof text - 1)
                              : readlink(w->at, text, sizeof text - 1);
    if (bytes <= 0)
        return 0;
    text[bytes] = '\0';
    w->redirected |= synthetic;
    return follow_text(w, text);
}

static int64_t walk_all(struct walk *w, bool follow)
{
    char name[NAME_MAX + 1];
    bool last;
    int64_t status;
    while (!w->magic && (status = next_component(w, name, &last)) != 0) {
        if (status < 0)
            return status;
        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0) {
            go_up(w);
            continue;
        }
        status = go_down(w, name);
        if (status == 0 && (!last || follow))
            status = follow_link(w, last);
        if (status < 0)
            return status;
    }
    return 0;
}

static int64_t host_place(struct paths_place *out, struct syscalls *kernel, uint64_t dirfd, const char *path)
{
    const struct fd_entry *entry = (int)dirfd == AT_FDCWD ? NULL : fds_at(kernel, dirfd);
    out->synthetic = false;
    out->path = path;
    out->dirfd = entry ? entry->host : kernel->fds.cwd;
    return 0;
}

int64_t paths_find(struct call *c, struct paths_place *out, uint64_t dirfd, const char *path, bool follow)
{
    struct walk w = {.kernel = c->kernel};
    if (path[0] == '\0')
        return -ENOENT;
    int64_t status = put(w.rest[0], path);
    if (status == 0)
        status = start_at(&w, dirfd, path);
    if (status == 0)
        status = walk_all(&w, follow);
    if (status == -ELOOP && !w.redirected)
        return host_place(out, c->kernel, dirfd, path);
    if (status < 0)
        return status;
    if (w.at[0] == '\0')
        strcpy(w.at, "/");
    put(out->text, w.at);
    if (!w.magic && synthetic_covers(w.at)) {
        out->synthetic = true;
        return 0;
    }
    return host_place(out, c->kernel, w.redirected ? (uint64_t)AT_FDCWD : dirfd, w.redirected ? out->text : path);
}
