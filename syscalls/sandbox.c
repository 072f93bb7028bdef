/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest that is confined: what it may change of the host.
 *
 * Model
 *   All of the file system looks mounted for reading alone (EROFS), but for the writable directories: the one that the
 *   guest starts in, and those that the user adds. Devices other than null, zero, full, random and urandom cannot be
 *   opened (EACCES), nor can pipes with a name elsewhere; sockets cannot be made.
 *   A change goes by descriptors, so that no process can put a link into its way between the look and the act: the
 *   directory of the name is opened below the writable one as openat2(2) does with RESOLVE_BENEATH, through no link and
 *   into no other mount, and the call of the host gets that and the last component. What is opened is first opened by
 *   O_PATH, looked at, and that very file is then opened again.
 *   A descriptor that cannot write to a file cannot be made one that can: what /proc/self/fd/N names is opened again
 *   with the rights that N has, or as a file by its name.
 *
 * Invariants
 *   Nothing of the host outside of the writable directories changes, but what standard streams are connected to.
 *
 * Not modelled
 *   That a file below a writable directory has another name elsewhere (a hard link that was there before; the guest can
 *   make none). Other mounts below a writable directory are not part of it. Reading is not confined.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/sandbox_priv.h"

/* ------------------------------------------------------------------ the writable directories */

static enum c2_status add_root(struct sandbox *sandbox, const char *path, struct c2_error *err)
{
    struct sandbox_root *root = &sandbox->roots[sandbox->count];
    char *real = realpath(path, NULL);
    root->host = real ? fds_keep(open(real, O_PATH | O_DIRECTORY | O_CLOEXEC)) : -1;
    if (root->host < 0) {
        const enum c2_status status = c2_fail(err, C2_ERR_NOT_FOUND, "--writable %s: %s", path, strerror(errno));
        free(real);
        return status;
    }
    root->path = c2_strdup(strcmp(real, "/") == 0 ? "" : real);
    free(real);
    sandbox->count++;
    return root->path ? C2_OK : c2_fail_memory(err, "the sandbox");
}

/* A kernel without openat2 (before 5.6), or a filter that refuses it, would leave names to race. */
static enum c2_status check_kernel(const struct sandbox *sandbox, struct c2_error *err)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    const long host = syscall(SYS_openat2, sandbox->roots[0].host, ".", &how, sizeof how);
    if (host < 0)
        return c2_fail(
            err, C2_ERR_UNSUPPORTED,
            "--sandbox needs openat2 (Linux 5.6), which this kernel does not have or does not allow here: %s",
            strerror(errno));
    close((int)host);
    return C2_OK;
}

enum c2_status sandbox_create(struct sandbox *out, const struct syscalls_config *config, struct c2_error *err)
{
    size_t count = 1;
    if (!config->confined)
        return C2_OK;
    while (config->writable && config->writable[count - 1])
        count++;
    out->roots = c2_calloc(count, sizeof *out->roots);
    if (!out->roots)
        return c2_fail_memory(err, "the sandbox");
    enum c2_status status = add_root(out, c2_root_start(), err);
    for (size_t i = 0; i + 1 < count && status == C2_OK; i++)
        status = add_root(out, config->writable[i], err);
    return status == C2_OK ? check_kernel(out, err) : status;
}

void sandbox_destroy(struct sandbox *sandbox)
{
    for (size_t i = 0; i < sandbox->count; i++) {
        close(sandbox->roots[i].host);
        c2_free(sandbox->roots[i].path);
    }
    c2_free(sandbox->roots);
    *sandbox = (struct sandbox){0};
}

bool sandbox_refuses_sockets(const struct syscalls *kernel) { return kernel->sandbox.roots; }

void sandbox_end_call(struct sandbox *sandbox)
{
    while (sandbox->held_count > 0)
        close(sandbox->held[--sandbox->held_count]);
}

/* Keeps a descriptor until the call ends. */
int sandbox_hold(struct sandbox *sandbox, int host)
{
    C2_ASSERT(sandbox->held_count < SANDBOX_HELD);
    if (host >= 0)
        sandbox->held[sandbox->held_count++] = host;
    return host;
}

/* ------------------------------------------------------------------ below them */

/* What of a canonical path is below the root, "." for the root itself; NULL: it is not below. */
static const char *part_below(const struct sandbox_root *root, const char *path)
{
    const size_t bytes = strlen(root->path);
    if (strncmp(path, root->path, bytes) != 0 || (path[bytes] != '/' && path[bytes] != '\0'))
        return NULL;
    path += bytes;
    path += strspn(path, "/");
    return *path == '\0' ? "." : path;
}

/* Of roots within roots the inner one, as there may be a mount between them. */
static const struct sandbox_root *sandbox_root_of(const struct sandbox *sandbox, const char *path)
{
    const struct sandbox_root *best = NULL;
    for (size_t i = 0; i < sandbox->count; i++) {
        const struct sandbox_root *root = &sandbox->roots[i];
        if (part_below(root, path) && (!best || strlen(root->path) > strlen(best->path)))
            best = root;
    }
    return best;
}

/* Opens by O_PATH what a canonical path below the root names; -1 and errno, EROFS where names have changed since or a
 * mount is in the way. */
static int open_below(struct sandbox *sandbox, const struct sandbox_root *root, const char *part)
{
    struct open_how how = {
        .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    const int host = (int)syscall(SYS_openat2, root->host, part, &how, sizeof how);
    if (host < 0 && (errno == EXDEV || errno == ELOOP))
        errno = EROFS;
    return sandbox_hold(sandbox, host);
}

static bool sandbox_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the file that was found is the one that this canonical path names below a root. */
static bool is_below(struct sandbox *sandbox, const char *path, const struct stat *found)
{
    struct stat st;
    const struct sandbox_root *root = sandbox_root_of(sandbox, path);
    const int host = root ? open_below(sandbox, root, part_below(root, path)) : -1;
    return host >= 0 && fstat(host, &st) == 0 && sandbox_same_file(&st, found);
}

/* The same of a descriptor, by the name that the host has for it. */
static bool descriptor_is_below(struct sandbox *sandbox, int host)
{
    char link[64], name[PATH_MAX];
    struct stat st;
    snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    const ssize_t bytes = readlink(link, name, sizeof name - 1);
    if (bytes <= 0 || fstat(host, &st) < 0)
        return false;
    name[bytes] = '\0';
    return is_below(sandbox, name, &st);
}

int64_t sandbox_descriptor(struct call *c, int host)
{
    struct sandbox *sandbox = &c->kernel->sandbox;
    return !sandbox->roots || descriptor_is_below(sandbox, host) ? 0 : -EROFS;
}

/* ------------------------------------------------------------------ changes by name */

/* A file without a name that the guest can write to, by its descriptor: as when it is to be given a name. */
static bool is_nameless(const struct paths_place *place)
{
    struct stat st;
    int host;
    if (sscanf(place->text, "/proc/self/fd/%d", &host) != 1 || fstat(host, &st) < 0)
        return false;
    const int has = fcntl(host, F_GETFL);
    return S_ISREG(st.st_mode) && st.st_nlink == 0 && has >= 0 && !(has & O_PATH) && (has & O_ACCMODE) != O_RDONLY;
}

static int64_t confine_target(struct sandbox *sandbox, struct paths_place *place)
{
    if (is_nameless(place))
        return 0;
    const int host = sandbox_hold(sandbox, openat(place->dirfd, place->path, O_PATH | O_CLOEXEC));
    if (host < 0)
        return -errno;
    if (!descriptor_is_below(sandbox, host))
        return -EROFS;
    snprintf(place->text, sizeof place->text, "/proc/self/fd/%d", host);
    place->path = place->text;
    return 0;
}

/* The last component of the guest's path as it may be given on: not "." or "..", whose directory is another. */
static bool sandbox_ends_in_dots(const char *path)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t dots = 0;
    while (dots < end && path[end - 1 - dots] == '.')
        dots++;
    return (dots == 1 || dots == 2) && (dots == end || path[end - 1 - dots] == '/');
}

/* What Linux says to a change where all is mounted for reading: what is wrong with the path comes first. */
static int64_t sandbox_refuse(const struct paths_place *place, enum sandbox_change change)
{
    struct stat st;
    const bool exists = fstatat(place->dirfd, place->path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists && errno != ENOENT)
        return -errno;
    if (change == SANDBOX_REPLACES)
        return -EXDEV;
    if (change == SANDBOX_MAKES)
        return exists ? -EEXIST : -EROFS;
    return exists ? -EROFS : -ENOENT;
}

/* The directory that the guest's own path leads to must be there: the walk has not looked at names that lie before
 * "..". */
static int64_t sandbox_check_directory(const struct paths_place *place)
{
    char directory[PATH_MAX];
    const size_t bytes = strlen(place->path);
    if (bytes + 4 > sizeof directory)
        return -ENAMETOOLONG;
    strcpy(directory, place->path);
    while (directory[0] != '\0' && directory[strlen(directory) - 1] == '/')
        directory[strlen(directory) - 1] = '\0';
    char *slash = strrchr(directory, '/');
    strcpy(slash ? slash + 1 : directory, ".");
    const int host = openat(place->dirfd, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (host < 0)
        return -errno;
    close(host);
    return 0;
}

static int64_t confine_name(struct sandbox *sandbox, struct paths_place *place, const char *path,
                            enum sandbox_change change)
{
    const struct sandbox_root *root = sandbox_root_of(sandbox, place->text);
    char *last = strrchr(place->text, '/');
    if (!root || strcmp(place->text, root->path) == 0 || !last)
        return sandbox_refuse(place, change);
    int64_t status = sandbox_check_directory(place);
    if (status < 0)
        return status;
    if (sandbox_ends_in_dots(path))
        return change == SANDBOX_MAKES ? -EEXIST : -EBUSY;
    *last = '\0';
    const int host = open_below(sandbox, root, part_below(root, place->text));
    *last = '/';
    if (host < 0)
        return -errno;
    if (path[strlen(path) - 1] == '/' && strlen(place->text) + 1 < sizeof place->text)
        strcat(place->text, "/"); /* a directory is meant */
    place->dirfd = host;
    place->path = last + 1;
    return 0;
}

int64_t sandbox_confine(struct call *c, struct paths_place *place, const char *path, enum sandbox_change change)
{
    struct sandbox *sandbox = &c->kernel->sandbox;
    if (!sandbox->roots)
        return 0;
    return change == SANDBOX_TARGET ? confine_target(sandbox, place) : confine_name(sandbox, place, path, change);
}

/* ------------------------------------------------------------------ open */

static bool is_harmless(dev_t device)
{
    enum { MEMORY = 1, NULL_ = 3, ZERO = 5, FULL = 7, RANDOM = 8, URANDOM = 9 }; /* Linux, admin-guide/devices.rst */
    const unsigned which = minor(device);
    return major(device) == MEMORY &&
           (which == NULL_ || which == ZERO || which == FULL || which == RANDOM || which == URANDOM);
}

/* Whether the descriptor that /proc/self/fd/N names, N in the place, has all the rights that are asked for. */
static bool has_rights(const struct paths_place *place, int flags)
{
    int host;
    if (sscanf(place->text, "/proc/self/fd/%d", &host) != 1)
        return false;
    const int has = fcntl(host, F_GETFL);
    return has >= 0 && !(has & O_PATH) && ((has & O_ACCMODE) == O_RDWR || (has & O_ACCMODE) == (flags & O_ACCMODE)) &&
           !((flags & O_TRUNC) && (has & O_ACCMODE) == O_RDONLY);
}

/* 0, or why a file that was found must not be opened like this. */
static int sandbox_may_open(struct sandbox *sandbox, const struct paths_place *place, int found, int flags)
{
    struct stat st;
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    if (fstat(found, &st) < 0)
        return errno;
    switch (st.st_mode & S_IFMT) {
    case S_IFLNK:
        return ELOOP;
    case S_IFCHR:
        return is_harmless(st.st_rdev) || has_rights(place, flags) ? 0 : EACCES;
    case S_IFBLK:
        return EACCES;
    case S_IFIFO:
        return has_rights(place, flags) || descriptor_is_below(sandbox, found) ? 0 : EACCES;
    case S_IFDIR:
        return writes ? EISDIR : 0;
    default:
        return !writes || has_rights(place, flags) || descriptor_is_below(sandbox, found) ? 0 : EROFS;
    }
}

static int fail_with(int error)
{
    errno = error;
    return -1;
}

/* A file that is not there yet, or without a name. */
static int open_new(struct call *c, const struct paths_place *place, const char *path, int flags, mode_t mode)
{
    struct paths_place below = *place;
    if (place->path == place->text)
        below.path = below.text;
    else if (place->path == place->last)
        below.path = below.last;
    const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    int64_t status = unnamed ? 0 : sandbox_check_directory(place);
    if (status == 0 && !unnamed && !sandbox_root_of(&c->kernel->sandbox, place->text))
        status = -EROFS; /* also where a link that leads nowhere has the name */
    if (status == 0)
        status = sandbox_confine(c, &below, path, unnamed ? SANDBOX_TARGET : SANDBOX_MAKES);
    if (status < 0)
        return fail_with((int)-status);
    return openat(below.dirfd, below.path, flags | (unnamed ? 0 : O_EXCL | O_NOFOLLOW) | O_CLOEXEC, mode);
}

/* The file that was found, and no other. */
static int open_again(int found, int flags)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", found);
    return open(name, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
}

int sandbox_open(struct call *c, const struct paths_place *place, const char *path, int flags, mode_t mode)
{
    struct sandbox *sandbox = &c->kernel->sandbox;
    if (!sandbox->roots || flags & O_PATH)
        return openat(place->dirfd, place->path, flags | O_CLOEXEC, mode);
    if ((flags & O_TMPFILE) == O_TMPFILE)
        return open_new(c, place, path, flags, mode);
    const int new_only = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) ? O_NOFOLLOW : 0;
    const int look = O_PATH | O_CLOEXEC | new_only | (flags & (O_NOFOLLOW | O_DIRECTORY));
    const int found = sandbox_hold(sandbox, openat(place->dirfd, place->path, look));
    if (found < 0)
        return errno == ENOENT && flags & O_CREAT ? open_new(c, place, path, flags, mode) : -1;
    if (new_only)
        return fail_with(EEXIST);
    const int error = sandbox_may_open(sandbox, place, found, flags);
    return error == 0 ? open_again(found, flags) : fail_with(error);
}
