/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files that appear whole.
 *
 * Model
 *   A regular target (or one that does not exist yet) is written to a file of the same folder that has no name
 *   (O_TMPFILE), flushed to the disk and named by commit: a reader sees the old file or the new one, and of a process
 *   that is killed nothing is left. Linux gives a file the name of another only by rename, so where there is an old
 *   file the new one has a temporary name (.c2emu-PID-N.tmp) for an instant; the next to replace a file in the folder
 *   removes what a process left that was killed in just that instant.
 *   On a file system without such files it has that name from the beginning, and is locked: the next process to open a
 *   file in the same folder later removes those that are no longer locked.
 *   A symbolic link is followed first, so that the link stays and the file it names is replaced; a link that leads
 *   nowhere is itself replaced.
 *   "-" and anything that is no regular file (a terminal, a pipe, /dev/null, /dev/full) cannot be replaced and is
 *   written directly.
 *   A file that the run reads (c2_outfile_spare) is replaced by no output, whatever name each of them has: both are
 *   compared as the host's files, by device and inode, at the moment when the later of the two is named.
 * Invariants
 *   After a failure the temporary file is gone and the old file is as it was.
 *   Every error shows at commit, with the reason of the first: of a write however long ago, of fsync or of fclose.
 * Not modelled
 *   The owner and extended attributes of a replaced file are not carried over; its permissions are.
 */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct c2_outfile {
    FILE *stream;
    int fd;                  /* under the stream, which closes it */
    int failure;             /* errno of the first write that failed, else 0 */
    char *path;              /* as the user wrote it, for messages */
    char *target;            /* the name that commit gives; NULL when written directly */
    char *temporary;         /* the name that the file has until then; NULL: none */
    struct c2_outfile *next; /* in the list of those that are open */
};

static enum c2_status fail_errno(struct c2_error *err, const char *doing, const char *path)
{
    enum c2_status status = errno == EACCES || errno == EPERM || errno == EROFS ? C2_ERR_DENIED
                            : errno == ENOENT || errno == ENOTDIR               ? C2_ERR_NOT_FOUND
                            : errno == ENOMEM                                   ? C2_ERR_NO_MEMORY
                                                                                : C2_ERR_IO;
    return c2_fail(err, status, "cannot %s \"%s\": %s", doing, path, strerror(errno));
}

static struct c2_outfile *all_open;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static void outfile_enlist(struct c2_outfile *file)
{
    pthread_mutex_lock(&all_lock);
    file->next = all_open;
    all_open = file;
    pthread_mutex_unlock(&all_lock);
}

static void outfile_strike_off(const struct c2_outfile *file)
{
    pthread_mutex_lock(&all_lock);
    for (struct c2_outfile **at = &all_open; *at; at = &(*at)->next)
        if (*at == file) {
            *at = file->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
}

/* ------------------------------------------------------------------ files that are read */

static char **spared; /* as they were named: a file may be moved away, and its inode number be given to another one */
static uint32_t spared_count, spared_room;

/* Whether both are one regular file. Of others nothing is replaced. */
static bool outfile_is_same(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && S_ISREG(a.st_mode) && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static enum c2_status fail_spared(struct c2_error *err, const char *path)
{
    return c2_fail(err, C2_ERR_INVALID,
                   "cannot write \"%s\": it is read by this run, and would be lost; name another file", path);
}

static enum c2_status check_spared(const char *path, struct c2_error *err)
{
    for (uint32_t i = 0; i < spared_count; i++)
        if (outfile_is_same(path, spared[i]))
            return fail_spared(err, path);
    return C2_OK;
}

static bool is_listed(const char *path)
{
    uint32_t i = 0;
    while (i < spared_count && strcmp(spared[i], path) != 0)
        i++;
    return i < spared_count;
}

enum c2_status c2_outfile_spare(const char *path, struct c2_error *err)
{
    for (const struct c2_outfile *file = all_open; file; file = file->next)
        if (outfile_is_same(file->path, path))
            return fail_spared(err, file->path);
    if (is_listed(path))
        return C2_OK;
    if (!c2_grow((void **)&spared, &spared_room, spared_count, sizeof *spared))
        return c2_fail_memory(err, "the names of files that are read");
    spared[spared_count] = c2_strdup(path);
    if (!spared[spared_count])
        return c2_fail_memory(err, "the name of a file that is read");
    spared_count++;
    return C2_OK;
}

/* ------------------------------------------------------------------ writing */

static void outfile_release(struct c2_outfile *file)
{
    outfile_strike_off(file);
    c2_free(file->path);
    c2_free(file->target);
    c2_free(file->temporary);
    c2_free(file);
}

/* The stream's way to the file. It keeps the reason of a failure: stdio itself keeps only that there was one, and a
 * report is longer than its buffer, so most writes fail long before commit. */
static ssize_t write_through(void *self, const char *bytes, size_t count)
{
    struct c2_outfile *file = self;
    size_t done = 0;
    while (done < count) {
        ssize_t written = write(file->fd, bytes + done, count - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            file->failure = file->failure ? file->failure : errno;
            break;
        }
        done += (size_t)written;
    }
    return (ssize_t)done;
}

static int close_through(void *self) { return close(((struct c2_outfile *)self)->fd); }

/* On failure fd is closed. */
static enum c2_status adopt(struct c2_outfile *file, int fd, struct c2_error *err)
{
    if (fd < 0)
        return fail_errno(err, "write", file->path);
    file->fd = fd;
    file->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = write_through, .close = close_through});
    if (file->stream)
        return C2_OK;
    close(fd);
    return c2_fail_memory(err, "the buffer of an output file");
}

static enum c2_status open_direct(struct c2_outfile *file, struct c2_error *err)
{
    if (strcmp(file->path, "-") != 0)
        return adopt(file, open(file->path, O_WRONLY | O_CLOEXEC), err);
    /* A stream of its own, so that it ends like any other; what stdout still holds comes first. */
    fflush(stdout);
    return adopt(file, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), err);
}

/* What a rename has to replace: path, or the file a symbolic link leads to. */
static char *resolve_target(const char *path)
{
    char *resolved = realpath(path, NULL);
    char *target = c2_strdup(resolved ? resolved : path);
    free(resolved);
    return target;
}

/* How much of target its folder is, the slash with it; 0: the current one. */
static int folder_length(const char *target)
{
    const char *slash = strrchr(target, '/');
    return slash ? (int)(slash + 1 - target) : 0;
}

static int outfile_no_memory(void)
{
    errno = ENOMEM;
    return -1;
}

/* Lets `make` try one temporary name after another, until one is free; *temporary is it. The names are short, so that a
 * target whose name is as long as names may be can be written. */
static int with_name_beside(char **temporary, const char *target, int make(int fd, const char *name), int fd)
{
    static atomic_uint number;
    int made;
    do {
        c2_free(*temporary);
        *temporary = c2_format("%.*s.c2emu-%ld-%u.tmp", folder_length(target), target, (long)getpid(),
                               atomic_fetch_add(&number, 1));
        if (!*temporary)
            return outfile_no_memory();
        made = make(fd, *temporary);
    } while (made < 0 && errno == EEXIST);
    if (made < 0) {
        c2_free(*temporary);
        *temporary = NULL;
    }
    return made;
}

/* A new file, locked. Where a process that sweeps has found it before it was, the next name is tried. */
static int create_locked(int ignored, const char *name)
{
    struct stat about;
    (void)ignored;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK)
        return fd; /* no locks on this file system, so there is no sweep */
    if (locked && fstat(fd, &about) == 0 && about.st_nlink > 0)
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

static bool is_temporary(const char *name)
{
    long pid;
    unsigned number;
    int length = 0;
    return sscanf(name, ".c2emu-%ld-%u.tmp%n", &pid, &number, &length) == 2 && length > 0 && !name[length];
}

/* Removes what a killed process left: a temporary file that is not locked. */
static void outfile_sweep(const char *target)
{
    char *folder = c2_format("%.*s.", folder_length(target), target);
    DIR *entries = folder ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        int fd = is_temporary(entry->d_name) ? openat(dirfd(entries), entry->d_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
                                             : -1;
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (entries)
        closedir(entries);
    c2_free(folder);
}

#define OWN_DESCRIPTOR_BYTES 32
static const char *own_descriptor(char name[OWN_DESCRIPTOR_BYTES], int fd)
{
    snprintf(name, OWN_DESCRIPTOR_BYTES, "/proc/self/fd/%d", fd);
    return name;
}

/* A fresh file in target's folder; *temporary is its name, NULL if it has none. */
static int create_beside(char **temporary, const char *target)
{
    char name[OWN_DESCRIPTOR_BYTES], *folder = c2_format("%.*s.", folder_length(target), target);
    if (!folder)
        return outfile_no_memory();
    int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    c2_free(folder);
    if (fd >= 0 && access(own_descriptor(name, fd), F_OK) == 0) /* the name that commit needs */
        return fd;
    if (fd >= 0)
        close(fd);
    else if (errno != EOPNOTSUPP && errno != EISDIR) /* the latter of an old kernel */
        return -1;
    outfile_sweep(target);
    return with_name_beside(temporary, target, create_locked, -1);
}

static enum c2_status open_beside(struct c2_outfile *file, const struct stat *old, struct c2_error *err)
{
    /* rename would replace a write-protected file without asking. */
    if (old && access(file->path, W_OK) != 0)
        return fail_errno(err, "write", file->path);
    file->target = resolve_target(file->path);
    if (!file->target)
        return c2_fail_memory(err, "the name of an output file");
    int fd = create_beside(&file->temporary, file->target);
    if (fd >= 0 && old && fchmod(fd, old->st_mode & 0777) != 0) {
        enum c2_status status = fail_errno(err, "set the permissions of", file->path);
        close(fd);
        return status;
    }
    return adopt(file, fd, err);
}

static enum c2_status open_as_needed(struct c2_outfile *file, struct c2_error *err)
{
    struct stat old;
    if (strcmp(file->path, "-") == 0)
        return open_direct(file, err);
    enum c2_status status = check_spared(file->path, err);
    if (status != C2_OK)
        return status;
    if (stat(file->path, &old) == 0)
        return S_ISREG(old.st_mode) ? open_beside(file, &old, err) : open_direct(file, err);
    if (errno != ENOENT || !*file->path)
        return fail_errno(err, "write", file->path);
    return open_beside(file, NULL, err);
}

enum c2_status c2_outfile_open(struct c2_outfile **out, const char *path, struct c2_error *err)
{
    *out = NULL;
    struct c2_outfile *file = c2_calloc(1, sizeof *file);
    if (!file)
        return c2_fail_memory(err, "an output file");
    file->path = c2_strdup(path);
    enum c2_status status = file->path ? open_as_needed(file, err) : c2_fail_memory(err, "an output file's name");
    if (status != C2_OK) {
        c2_outfile_abandon(file);
        return status;
    }
    outfile_enlist(file);
    *out = file;
    return C2_OK;
}

void c2_outfile_folders(void (*each)(void *self, const char *folder), void *self)
{
    pthread_mutex_lock(&all_lock);
    for (const struct c2_outfile *file = all_open; file; file = file->next) {
        const int bytes = file->target ? folder_length(file->target) : 0;
        char *folder = file->target ? c2_format("%.*s", bytes == 0 ? 1 : bytes, bytes == 0 ? "." : file->target) : NULL;
        if (folder)
            each(self, folder);
        c2_free(folder);
    }
    pthread_mutex_unlock(&all_lock);
}

/* The parent's file is left alone. */
static void outfile_leave(struct c2_outfile *file)
{
    c2_free(file->temporary);
    c2_free(file->target);
    file->temporary = file->target = NULL;
}

/* The descriptor keeps its number, which is that of the stream. */
static enum c2_status outfile_become(struct c2_outfile *file, const char *path, struct c2_error *err)
{
    struct stat old;
    outfile_leave(file);
    if (path && check_spared(path, err) != C2_OK)
        return C2_ERR_INVALID;
    char *copy = c2_strdup(path ? path : file->path);
    if (!copy)
        return c2_fail_memory(err, "an output file's name");
    c2_free(file->path);
    file->path = copy;
    const bool exists = path && stat(path, &old) == 0;
    if (path && !(file->target = resolve_target(path)))
        return c2_fail_memory(err, "the name of an output file");
    const int fd = path ? create_beside(&file->temporary, file->target) : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || (exists && fchmod(fd, old.st_mode & 0777) != 0) || dup3(fd, file->fd, O_CLOEXEC) < 0) {
        enum c2_status status = fail_errno(err, "write", file->path);
        close(fd);
        return status;
    }
    close(fd);
    return C2_OK;
}

enum c2_status c2_outfiles_rename(const char *(*name)(void *self, const char *path), void *self, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (struct c2_outfile *file = all_open; file && status == C2_OK; file = file->next)
        status = outfile_become(file, name(self, file->path), err);
    for (struct c2_outfile *file = all_open; file && status != C2_OK; file = file->next)
        outfile_leave(file);
    return status;
}

const char *c2_outfile_path(const struct c2_outfile *file) { return file->path; }

FILE *c2_outfile_stream(struct c2_outfile *file) { return file->stream; }

/* Writes what the stream holds; 0, or the errno of the first thing that went wrong. Only files beside their target are
 * synced: pipes and terminals know no fsync. */
static int finish_stream(struct c2_outfile *file)
{
    int reason = fflush(file->stream) != 0 ? errno : 0;
    if (file->failure != 0)
        reason = file->failure;
    else if (reason == 0 && ferror(file->stream))
        reason = EIO; /* not by a write: the stream was misused */
    else if (reason == 0 && file->target && fsync(file->fd) != 0)
        reason = errno;
    return reason;
}

/* Gives the file without a name this one. */
static int name_it(int fd, const char *name)
{
    char own[OWN_DESCRIPTOR_BYTES];
    return linkat(AT_FDCWD, own_descriptor(own, fd), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A name for the instant before the rename, locked against sweeps meanwhile. */
static int name_for_an_instant(struct c2_outfile *file)
{
    outfile_sweep(file->target);
    flock(file->fd, LOCK_EX | LOCK_NB);
    return with_name_beside(&file->temporary, file->target, name_it, file->fd);
}

static int put_in_place(struct c2_outfile *file)
{
    if (!file->temporary && name_it(file->fd, file->target) == 0)
        return 0;
    if (!file->temporary && (errno != EEXIST || name_for_an_instant(file) < 0))
        return errno;
    if (rename(file->temporary, file->target) != 0)
        return errno;
    c2_free(file->temporary);
    file->temporary = NULL;
    return 0;
}

static int close_stream(struct c2_outfile *file)
{
    FILE *stream = file->stream;
    file->stream = NULL;
    return fclose(stream) != 0 ? errno : 0;
}

enum c2_status c2_outfile_commit(struct c2_outfile *file, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    int reason = finish_stream(file);
    if (reason == 0 && file->target)
        reason = put_in_place(file);
    const int at_close = close_stream(file);
    if (reason == 0 && !file->target)
        reason = at_close; /* of a file beside its target, fsync has said it */
    if (reason != 0) {
        errno = reason;
        status = fail_errno(err, "write", file->path);
    }
    c2_outfile_abandon(file);
    return status;
}

void c2_outfile_abandon(struct c2_outfile *file)
{
    if (!file)
        return;
    if (file->stream)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    outfile_release(file);
}
