/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files that appear whole.
 *
 * Model
 *   A regular target (or one that does not exist yet) is written beside itself under a temporary name in the same
 *   folder, flushed to the disk and renamed over the target by commit: a reader sees the old file or the new one.
 *   A symbolic link is followed first, so that the link stays and the file it names is replaced; a link that leads
 *   nowhere is itself replaced.
 *   "-" and anything that is no regular file (a terminal, a pipe, /dev/null, /dev/full) cannot be replaced and is
 *   written directly.
 * Invariants
 *   After a failure the temporary file is gone and the old file is as it was.
 *   Every error shows at commit, with the reason of the first: of a write however long ago, of fsync or of fclose.
 * Not modelled
 *   A process that is killed leaves its temporary file (.c2emu-PID-N.tmp). The owner and extended attributes of a
 *   replaced file are not carried over; its permissions are.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct c2_outfile {
    FILE *stream;
    int fd;          /* under the stream, which closes it */
    int failure;     /* errno of the first write that failed, else 0 */
    char *path;      /* as the user wrote it, for messages */
    char *target;    /* what rename replaces; NULL when written directly */
    char *temporary; /* NULL when written directly */
};

static enum c2_status fail_errno(struct c2_error *err, const char *doing, const char *path)
{
    enum c2_status status = errno == EACCES || errno == EPERM || errno == EROFS ? C2_ERR_DENIED
                            : errno == ENOENT || errno == ENOTDIR               ? C2_ERR_NOT_FOUND
                            : errno == ENOMEM                                   ? C2_ERR_NO_MEMORY
                                                                                : C2_ERR_IO;
    return c2_fail(err, status, "cannot %s \"%s\": %s", doing, path, strerror(errno));
}

static void release(struct c2_outfile *file)
{
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

/* A fresh file in target's folder. Its name is short, so that a target whose name is as long as names may be can be
 * written; O_EXCL and the next number step over what a killed run left. */
static int create_beside(char **temporary, const char *target)
{
    static atomic_uint number;
    const char *slash = strrchr(target, '/');
    int folder_length = slash ? (int)(slash + 1 - target) : 0;
    int fd = -1;
    do {
        c2_free(*temporary);
        *temporary = c2_format("%.*s.c2emu-%ld-%u.tmp", folder_length, target, (long)getpid(),
                               atomic_fetch_add(&number, 1));
        if (!*temporary) {
            errno = ENOMEM;
            return -1;
        }
        fd = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
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
    if (fd < 0) {
        c2_free(file->temporary);
        file->temporary = NULL;
    } else if (old && fchmod(fd, old->st_mode & 0777) != 0) {
        enum c2_status status = fail_errno(err, "set the permissions of", file->temporary);
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
    *out = file;
    return C2_OK;
}

FILE *c2_outfile_stream(struct c2_outfile *file) { return file->stream; }

/* Ends the stream; 0, or the errno of the first thing that went wrong. Only files beside their target are synced: pipes
 * and terminals know no fsync. */
static int finish_stream(struct c2_outfile *file)
{
    int reason = fflush(file->stream) != 0 ? errno : 0;
    if (file->failure != 0)
        reason = file->failure;
    else if (reason == 0 && ferror(file->stream))
        reason = EIO; /* not by a write: the stream was misused */
    else if (reason == 0 && file->temporary && fsync(file->fd) != 0)
        reason = errno;
    if (fclose(file->stream) != 0 && reason == 0)
        reason = errno;
    file->stream = NULL;
    return reason;
}

static int put_in_place(struct c2_outfile *file)
{
    if (rename(file->temporary, file->target) != 0)
        return errno;
    c2_free(file->temporary);
    file->temporary = NULL;
    return 0;
}

enum c2_status c2_outfile_commit(struct c2_outfile *file, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    int reason = finish_stream(file);
    if (reason == 0 && file->temporary)
        reason = put_in_place(file);
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
    release(file);
}
