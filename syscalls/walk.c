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
 *     - it went through a link there (/proc/self/cwd/x), or through /dev/shm, of which the run has one of its own
 *       (shm.c): the host gets the canonical path found.
 *   What openat2 forbids on the way is seen here, too. No thread of the guest runs meanwhile that could change it; with
 *   RESOLVE_IN_ROOT the host gets the canonical path.
 *
 * Invariants
 *   A component that does not exist, or cannot be read, is not a link: the walk goes on and the host (or synthetic.c)
 *   finds the error.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"
#include "syscalls/shm_priv.h"

enum { MAX_LINKS = 40 }; /* as Linux */

struct walk {
    struct syscalls *kernel;
    char at[PATH_MAX];      /* canonical so far, no slash at the end; "" is the root */
    char rest[2][PATH_MAX]; /* components to come; two, for a link is put in front of the rest */
    int rest_used;
    int links;
    bool redirected;  /* a synthetic link was followed: the guest's own path is no longer right */
    bool magic;       /* `at` is a descriptor of c2emu in the host's /proc: final */
    uint64_t resolve; /* RESOLVE_*: what must not happen on the way */
    size_t base;      /* length of `at` where it begins */
    uint64_t mount;   /* with RESOLVE_NO_XDEV: on which it is */
};

static bool is_scoped(const struct walk *w) { return w->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT); }

static int64_t walk_put(char *to, const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (bytes > PATH_MAX)
        return -ENAMETOOLONG;
    memmove(to, text, bytes);
    return 0;
}

int64_t paths_name(int host, char out[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    ssize_t bytes = readlink(link, out, PATH_MAX - 1);
    if (bytes < 0)
        return -errno;
    out[bytes] = '\0';
    const char *inside = c2_root_inside(out);
    if (!inside || strcmp(inside, "/") == 0) /* what lies outside of the guest's root has no name: its top */
        inside = "";
    memmove(out, inside, strlen(inside) + 1);
    return 0;
}

/* An absolute path, or such a text of a link, begins again at the top: 0, or -errno. */
static int64_t walk_go_to_top(struct walk *w)
{
    if (w->resolve & RESOLVE_BENEATH)
        return -EXDEV;
    w->at[w->resolve & RESOLVE_IN_ROOT ? w->base : 0] = '\0';
    return 0;
}

static int64_t start_at(struct walk *w, uint64_t dirfd, const char *path)
{
    if (path[0] == '/' && !is_scoped(w)) {
        w->at[0] = '\0';
        return 0;
    }
    if ((int)dirfd == AT_FDCWD) {
        const int64_t named = paths_name(w->kernel->fds.cwd, w->at);
        w->redirected = shm_covers(w->kernel, w->at);
        return named;
    }
    const struct fd_entry *entry = fds_at(w->kernel, dirfd);
    if (!entry)
        return -EBADF;
    w->redirected = entry->path; /* the host has no directory there */
    const int64_t status = entry->path ? walk_put(w->at, entry->path) : paths_name(entry->host, w->at);
    w->redirected |= shm_covers(w->kernel, w->at);
    return status;
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

/* "..", which may lead out of where the walk has to stay. */
static int64_t leave_directory(struct walk *w)
{
    if (!is_scoped(w) || strlen(w->at) != w->base)
        go_up(w);
    else if (w->resolve & RESOLVE_BENEATH)
        return -EXDEV;
    return 0;
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
        return walk_put(w->at, entry->path);
    if (!last)
        return paths_name(entry->host, w->at);
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
        return walk_go_to_top(w);
    go_up(w);
    return 0;
}

/* No link is in the way to the last component: the walk has followed them. */
static int64_t read_link(const struct walk *w, char *out, size_t bytes)
{
    const char *base = shm_is_own(w->kernel, w->at) ? c2_root_own() : c2_root_path();
    char host[PATH_MAX];
    const int length = snprintf(host, sizeof host, "%s%s", base, w->at);
    return (size_t)length < sizeof host ? readlink(host, out, bytes) : -1;
}

/* Whether links may be followed, and such as lead elsewhere than they say. */
static int64_t check_link(const struct walk *w, bool magic)
{
    if (w->resolve & RESOLVE_NO_SYMLINKS || (magic && w->resolve & RESOLVE_NO_MAGICLINKS))
        return -ELOOP;
    return magic && (is_scoped(w) || w->resolve & RESOLVE_NO_XDEV) ? -EXDEV : 0;
}

static int64_t follow_link(struct walk *w, bool last)
{
    char text[PATH_MAX];
    const bool synthetic = synthetic_covers(w->kernel, w->at);
    const int64_t fd = synthetic ? synthetic_fd(w->kernel, w->at) : -1;
    int64_t bytes = fd >= 0     ? 1
                    : synthetic ? synthetic_link(w->kernel, w->at, text, sizeof text - 1)
                                : read_link(w, text, sizeof text - 1);
    if (bytes <= 0)
        return 0;
    const int64_t status = check_link(w, fd >= 0 || (synthetic && text[0] == '/'));
    if (status < 0)
        return status;
    if (fd >= 0)
        return follow_descriptor(w, fd, last);
    text[bytes] = '\0';
    w->redirected |= synthetic;
    return follow_text(w, text);
}

static int walk_open_place(const struct walk *w, int flags)
{
    char host[PATH_MAX + PATH_MAX];
    const bool own = shm_is_own(w->kernel, w->at);
    if (c2_root_is_set() && !own)
        return c2_root_open(w->at, flags);
    snprintf(host, sizeof host, "%s%s", own ? c2_root_own() : "", w->at[0] ? w->at : "/");
    return open(host, O_PATH | O_CLOEXEC | flags);
}

/* Where the host is not asked about the path itself - below a root it gets none with ".." in it - it cannot say that
 * what is left by ".." is no directory. */
static int64_t walk_check_directory(const struct walk *w)
{
    if ((!c2_root_is_set() && !w->resolve) || synthetic_covers(w->kernel, w->at))
        return 0;
    const int host = walk_open_place(w, O_DIRECTORY);
    if (host < 0)
        return -errno;
    close(host);
    return 0;
}

/* A number for what is mounted at `at`; 0: nothing is there, and the host will say so. */
static uint64_t mount_of(const struct walk *w)
{
    struct statx st = {.stx_mask = 0};
    if (synthetic_covers(w->kernel, w->at))
        return UINT64_MAX - (w->at[1] == 'p');
    const int host = walk_open_place(w, O_NOFOLLOW);
    if (host < 0)
        return 0;
    const bool known = statx(host, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 && st.stx_mask & STATX_MNT_ID;
    close(host);
    return known ? st.stx_mnt_id + 1 : 0;
}

static int64_t check_mount(struct walk *w)
{
    if (!(w->resolve & RESOLVE_NO_XDEV))
        return 0;
    const uint64_t mount = mount_of(w);
    return mount == 0 || mount == w->mount ? 0 : -EXDEV;
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
            status = walk_check_directory(w);
            if (status == 0)
                status = leave_directory(w);
        } else {
            status = go_down(w, name);
            if (status == 0 && (!last || follow))
                status = follow_link(w, last);
        }
        w->redirected |= shm_covers(w->kernel, w->at);
        if (status == 0 && !w->magic)
            status = check_mount(w);
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

/* ------------------------------------------------------------------ below a root */

/* Devices that a tree may lack, and that are the same everywhere. */
static bool is_device(const char *at)
{
    static const char *const names[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                        "/dev/random", "/dev/urandom", "/dev/tty"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(at, names[i]) == 0)
            return true;
    return false;
}

static bool walk_ends_in_dots(const char *path)
{
    size_t end = strlen(path), dots = 0;
    while (end > 0 && path[end - 1] == '/')
        end--;
    while (dots < end && path[end - 1 - dots] == '.')
        dots++;
    return (dots == 1 || dots == 2) && (dots == end || path[end - 1 - dots] == '/');
}

/* The host gets the directory that the walk has come to, opened below the root, and the last component. */
static int64_t place_below(struct call *c, struct paths_place *out, const char *at, const char *path)
{
    char parent[PATH_MAX];
    const char *last = strrchr(at, '/');
    const bool whole = !last || walk_ends_in_dots(path);
    snprintf(parent, sizeof parent, "%.*s", whole ? (int)strlen(at) : (int)(last - at), at);
    out->dirfd = sandbox_hold(&c->kernel->sandbox, c2_root_open(parent, O_DIRECTORY));
    if (out->dirfd < 0)
        return -errno;
    snprintf(out->last, sizeof out->last, "%s%s", whole ? "." : last + 1,
             !whole && path[strlen(path) - 1] == '/' ? "/" : "");
    out->path = out->last;
    return 0;
}

/* As host_place, of what the guest calls `at`. */
static int64_t root_place(struct call *c, struct paths_place *out, const struct walk *w, const char *path)
{
    out->synthetic = false;
    out->dirfd = AT_FDCWD;
    out->path = out->text;
    if (w->magic || is_device(w->at))
        return walk_put(out->text, w->at);
    const int bytes = snprintf(out->text, sizeof out->text, "%s%s", c2_root_path(), w->at);
    return (size_t)bytes < sizeof out->text ? place_below(c, out, w->at, path) : -ENAMETOOLONG;
}

/* The same in the run's own /dev/shm. The canonical path has lost the slash at the end, which asks for a directory. */
static int64_t shm_place(struct paths_place *out, const struct walk *w, const char *path)
{
    const size_t bytes = strlen(path);
    const int length = snprintf(out->text, sizeof out->text, "%s%s%s", c2_root_own(), w->at,
                                path[bytes - 1] == '/' ? "/" : "");
    out->synthetic = false;
    out->dirfd = AT_FDCWD;
    out->path = out->text;
    return (size_t)length < sizeof out->text ? 0 : -ENAMETOOLONG;
}

int64_t paths_find(struct call *c, struct paths_place *out, uint64_t dirfd, const char *path, bool follow)
{
    return paths_resolve(c, out, dirfd, path, follow, 0);
}

static int64_t walk_begin(struct walk *w, uint64_t dirfd, const char *path)
{
    int64_t status = walk_put(w->rest[0], path);
    if (status == 0)
        status = start_at(w, dirfd, path);
    w->base = strlen(w->at);
    w->redirected |= !!(w->resolve & RESOLVE_IN_ROOT);
    if (status == 0 && w->resolve & RESOLVE_NO_XDEV)
        w->mount = mount_of(w);
    return status == 0 && path[0] == '/' && is_scoped(w) ? walk_go_to_top(w) : status;
}

/* Whether a path leads to a place below a directory on whatever way, so that the walk need not know that one's name: it
 * may be longer than a path can be. Neither links nor ".." lead anywhere then. */
static bool walk_stays_below(struct syscalls *kernel, uint64_t dirfd, const char *path, bool follow)
{
    const struct fd_entry *entry = (int)dirfd == AT_FDCWD ? NULL : fds_at(kernel, dirfd);
    struct open_how how = {.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    if (path[0] == '/' || c2_root_is_set() || (entry && entry->path))
        return false;
    const int host = (int)syscall(SYS_openat2, entry ? entry->host : kernel->fds.cwd, path, &how, sizeof how);
    if (host >= 0)
        close(host);
    return host >= 0 || errno == ENOENT || errno == ENOTDIR || errno == EACCES; /* which the host will say again */
}

int64_t paths_resolve(struct call *c, struct paths_place *out, uint64_t dirfd, const char *path, bool follow,
                      uint64_t resolve)
{
    struct walk w = {.kernel = c->kernel, .resolve = resolve};
    if (path[0] == '\0')
        return -ENOENT;
    int64_t status = walk_begin(&w, dirfd, path);
    if (status == 0)
        status = walk_all(&w, follow);
    if (status == -ELOOP && !w.redirected && !resolve && !c2_root_is_set())
        return host_place(out, c->kernel, dirfd, path);
    if (status == -ENAMETOOLONG && !resolve && walk_stays_below(c->kernel, dirfd, path, follow)) {
        out->text[0] = '\0';
        return host_place(out, c->kernel, dirfd, path);
    }
    if (status < 0)
        return status;
    walk_put(out->text, w.at[0] ? w.at : "/");
    if (!w.magic && synthetic_covers(w.kernel, w.at)) {
        out->synthetic = true;
        return 0;
    }
    if (!w.magic && shm_is_own(w.kernel, w.at))
        return shm_place(out, &w, path);
    if (c2_root_is_set())
        return root_place(c, out, &w, path);
    return host_place(out, c->kernel, w.redirected ? (uint64_t)AT_FDCWD : dirfd, w.redirected ? out->text : path);
}
