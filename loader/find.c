/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Finding and opening what is to be run.
 *
 * Model
 *   A name with a slash is a path. Another is looked for in the directories of the host's PATH, in order, as
 *   execvp(3) does: an empty directory is the current one, a candidate that may not be executed is passed over and
 *   remembered, so that the answer is "denied" and not "not found" when nothing better comes.
 * Invariants
 *   What is opened is a regular file; the descriptor is closed on exec. Sizes are those at opening: a file that
 *   shrinks meanwhile gives a read error, never a short read.
 * Not modelled
 *   execvp's last resort, handing a text file without #! to a shell: such a file is refused with advice.
 * Source
 *   POSIX.1-2017, exec family.
 */
#include "base/root.h"
#include "loader/loader_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/bin:/usr/bin"
#define ROOT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" /* of another distribution */

enum verdict { FOUND, ABSENT, NOT_ALLOWED };

static enum verdict find_judge(const char *path)
{
    struct stat st;
    char host[PATH_MAX];
    if (c2_root_find(path, host) != 0 || stat(host, &st) != 0)
        return errno == EACCES ? NOT_ALLOWED : ABSENT;
    return S_ISREG(st.st_mode) && faccessat(AT_FDCWD, host, X_OK, AT_EACCESS) == 0 ? FOUND : NOT_ALLOWED;
}

/* Takes the next directory off *rest; false when there is none left. */
static bool next_directory(const char **rest, const char **start, size_t *length)
{
    if (!*rest)
        return false;
    *start = *rest;
    *length = strcspn(*rest, ":");
    *rest = (*rest)[*length] ? *rest + *length + 1 : NULL;
    return true;
}

static enum c2_status not_in_path(const char *name, const char *denied, struct c2_error *err)
{
    if (denied)
        return c2_fail(err, C2_ERR_DENIED, "%s: found in PATH, but it may not be executed (permission)", denied);
    if (access(name, F_OK) == 0)
        return c2_fail(err, C2_ERR_NOT_FOUND, "%s: not found in PATH (did you mean ./%s?)", name, name);
    return c2_fail(err, C2_ERR_NOT_FOUND, "%s: not found in PATH", name);
}

static enum c2_status search_path(char **out, const char *name, struct c2_error *err)
{
    const char *rest = c2_root_is_set() ? ROOT_PATH : getenv("PATH"), *start;
    size_t length;
    char *denied = NULL;
    if (!rest)
        rest = DEFAULT_PATH;
    while (next_directory(&rest, &start, &length)) {
        char *candidate = c2_format("%.*s%s%s", (int)length, start, length ? "/" : "./", name);
        if (!candidate) {
            c2_free(denied);
            return c2_fail_memory(err, "a path");
        }
        enum verdict verdict = find_judge(candidate);
        if (verdict == FOUND) {
            c2_free(denied);
            *out = candidate;
            return C2_OK;
        }
        if (verdict == NOT_ALLOWED && !denied)
            denied = candidate;
        else
            c2_free(candidate);
    }
    enum c2_status status = not_in_path(name, denied, err);
    c2_free(denied);
    return status;
}

enum c2_status loader_find(char **out, const char *program, struct c2_error *err)
{
    *out = NULL;
    if (!*program)
        return c2_fail(err, C2_ERR_NOT_FOUND, "the name of the program is empty");
    if (!strchr(program, '/'))
        return search_path(out, program, err);
    *out = c2_strdup(program);
    return *out ? C2_OK : c2_fail_memory(err, "a path");
}

static enum c2_status check_kind(const char *path, const char *label, struct c2_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        enum c2_status status = errno == ENOENT || errno == ENOTDIR ? C2_ERR_NOT_FOUND
                                : errno == EACCES                   ? C2_ERR_DENIED
                                                                    : C2_ERR_IO;
        return c2_fail(err, status, "%s: %s", label, strerror(errno));
    }
    if (S_ISDIR(st.st_mode))
        return c2_fail(err, C2_ERR_DENIED, "%s: is a directory, not a program", label);
    if (!S_ISREG(st.st_mode))
        return c2_fail(err, C2_ERR_DENIED, "%s: is not a regular file", label);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
        return c2_fail(err, C2_ERR_DENIED, "%s: may not be executed (chmod +x gives the permission)", label);
    return C2_OK;
}

static enum c2_status open_descriptor(struct loader_file *out, const char *path, const char *label,
                                      struct c2_error *err)
{
    struct stat st;
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (out->fd < 0 && errno == EACCES)
        return c2_fail(err, C2_ERR_DENIED, "%s: may be executed but not read, and c2emu has to read it (chmod +r)",
                       label);
    if (out->fd < 0 || fstat(out->fd, &st) != 0)
        return c2_fail(err, C2_ERR_IO, "%s: cannot be opened: %s", label, strerror(errno));
    out->bytes = (uint64_t)st.st_size;
    return C2_OK;
}

static enum c2_status find_name_file(struct loader_file *out, const char *path, const char *label, struct c2_error *err)
{
    char *real = realpath(path, NULL); /* its memory comes from malloc, ours from c2_alloc */
    if (!real)
        return c2_fail(err, C2_ERR_IO, "%s: its absolute path cannot be found: %s", label, strerror(errno));
    out->real = c2_strdup(real);
    free(real);
    out->label = c2_strdup(label);
    return out->real && out->label ? C2_OK : c2_fail_memory(err, "a path");
}

enum c2_status loader_file_open(struct loader_file *out, const char *path, const char *label, struct c2_error *err)
{
    *out = (struct loader_file){.fd = -1};
    enum c2_status status = check_kind(path, label, err);
    if (status == C2_OK)
        status = open_descriptor(out, path, label, err);
    if (status == C2_OK)
        status = find_name_file(out, path, label, err);
    if (status != C2_OK)
        loader_file_close(out);
    return status;
}

enum c2_status loader_file_open_inside(struct loader_file *out, const char *path, const char *label,
                                       struct c2_error *err)
{
    char host[PATH_MAX];
    (void)c2_root_find(path, host); /* what it does not find is not there either */
    return loader_file_open(out, host, label, err);
}

static char *path_in(const char *directory, const char *path)
{
    return path[0] == '/' || !directory ? c2_strdup(path) : c2_format("%s/%s", directory, path);
}

enum c2_status loader_interpreter_open(struct loader_file *out, const char *path, const char *directory,
                                       const struct loader_file *of, struct c2_error *err)
{
    *out = (struct loader_file){.fd = -1};
    char *label = c2_format("%s (the interpreter of %s)", path, of->label), *where = path_in(directory, path);
    enum c2_status status = label && where ? loader_file_open_inside(out, where, label, err)
                                           : c2_fail_memory(err, "a path");
    c2_free(label);
    c2_free(where);
    if (status != C2_ERR_NOT_FOUND)
        return status;
    size_t length = strlen(path);
    bool dos = length > 0 && path[length - 1] == '\r';
    return c2_fail(
        err, C2_ERR_FORMAT, "%s: bad interpreter: %.*s does not exist%s", of->label, (int)(dos ? length - 1 : length),
        path, dos ? " with a carriage return at its end: the lines of the script end as on DOS, convert them" : "");
}

void loader_file_close(struct loader_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    c2_free(file->label);
    c2_free(file->real);
    *file = (struct loader_file){.fd = -1};
}

enum c2_status loader_file_read(const struct loader_file *file, uint64_t offset, void *out, size_t bytes,
                                struct c2_error *err)
{
    char *to = out;
    while (bytes > 0) {
        ssize_t got = pread(file->fd, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return c2_fail(err, C2_ERR_IO, "%s: cannot be read at offset %llu: %s", file->label,
                           (unsigned long long)offset, got ? strerror(errno) : "the file has become shorter");
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return C2_OK;
}
