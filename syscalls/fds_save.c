/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The guest's descriptors in a checkpoint: a file of the host by its path, flags and position; one of c2emu's making
 *   (synthetic.c) by its content and position; a copy of another descriptor by the other's number, as it shares its
 *   position; a standard stream as which of the three it is, but for a file that is read from, which has a position as
 *   any other. Everything else has a state that only the host's kernel knows: it is refused.
 * Not modelled
 *   Marks on files that a program may set beside flags and position (leases, F_SETSIG, F_SETOWN).
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"

#define MEMORY_DEVICES 1u               /* major number: null, zero, full, random */
#define CONTENT_MOST ((size_t)64 << 20) /* of a file in /proc */
#define KEPT_FLAGS (O_ACCMODE | O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC | O_DIRECT | O_NOATIME | O_PATH)
#define REOPEN_FLAGS (KEPT_FLAGS | O_DIRECTORY | O_LARGEFILE)

/* How an entry is kept. */
enum saved_as { AS_COPY, AS_STANDARD, AS_FILE, AS_CONTENT, SAVED_WAYS };

struct saved {
    enum saved_as as;
    uint64_t of; /* COPY: the guest's descriptor; STANDARD: c2emu's */
    char *path;  /* FILE */
    int flags;   /* FILE */
    int64_t position;
    enum checkpoint_use use;
};

/* ------------------------------------------------------------------ what a descriptor is */

static const char *kind_text(const struct fd_entry *entry, const struct stat *st)
{
    if (entry->kind == FD_EPOLL)
        return "a set of watched descriptors (epoll)";
    if (entry->kind == FD_TERMINAL)
        return "a terminal of the program's own";
    switch (st->st_mode & S_IFMT) {
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
        return "a terminal or another device";
    case S_IFBLK:
        return "a disk";
    case 0:
        return "an object without a file (eventfd or the like)";
    default:
        return "no file";
    }
}

static bool can_be_opened(const struct stat *st)
{
    return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) ||
           (S_ISCHR(st->st_mode) && major(st->st_rdev) == MEMORY_DEVICES);
}

static bool holds_lock(int host)
{
    char name[64], line[256];
    bool found = false;
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", host);
    FILE *file = fopen(name, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, "lock:", 5) == 0;
    if (file)
        fclose(file);
    return found;
}

/* Whether one of the guest's descriptors may write the file. */
static bool is_written(struct syscalls *kernel, const struct stat *file)
{
    struct stat st;
    for (uint64_t fd = 0; fd < kernel->fds.end; fd++) {
        const struct fd_entry *entry = fds_at(kernel, fd);
        const int flags = entry ? fcntl(entry->host, F_GETFL) : O_PATH;
        if (!(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY && fstat(entry->host, &st) == 0 &&
            st.st_dev == file->st_dev && st.st_ino == file->st_ino)
            return true;
    }
    return false;
}

static enum checkpoint_use fds_save_use_of(struct syscalls *kernel, const struct stat *st, const struct saved *saved)
{
    if (saved->flags & O_PATH || S_ISCHR(st->st_mode) || (S_ISDIR(st->st_mode) && saved->position == 0))
        return CHECKPOINT_NAMED;
    return S_ISREG(st->st_mode) && is_written(kernel, st) ? CHECKPOINT_WRITTEN : CHECKPOINT_READ;
}

/* ------------------------------------------------------------------ choosing how to keep it */

static char *fds_save_path_of(int host)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    const ssize_t bytes = readlink(link, path, sizeof path - 1);
    path[bytes < 0 ? 0 : bytes] = '\0';
    return c2_strdup(path);
}

static bool find_copy(struct syscalls *kernel, uint64_t fd, uint64_t *of)
{
    for (*of = 0; *of < fd; ++*of) {
        const struct fd_entry *other = fds_at(kernel, *of);
        if (other && other->description == kernel->fds.entry[fd].description)
            return true;
    }
    return false;
}

static void fds_save_describe_file(struct syscalls *kernel, const struct fd_entry *entry, const struct stat *st,
                                   struct saved *out)
{
    out->as = AS_FILE;
    out->flags = fcntl(entry->host, F_GETFL) & REOPEN_FLAGS;
    out->position = out->flags & O_PATH || S_ISCHR(st->st_mode) ? 0 : lseek(entry->host, 0, SEEK_CUR);
    out->position = out->position < 0 ? 0 : out->position;
    out->use = fds_save_use_of(kernel, st, out);
    out->path = fds_save_path_of(entry->host);
}

static void fds_save_describe(struct syscalls *kernel, struct checkpoint *c, uint64_t fd, struct saved *out)
{
    struct stat st;
    const struct fd_entry *entry = &kernel->fds.entry[fd];
    *out = (struct saved){.as = AS_CONTENT};
    if (find_copy(kernel, fd, &out->of)) {
        out->as = AS_COPY;
        return;
    }
    out->of = 0;
    if (fstat(entry->host, &st) < 0)
        st.st_mode = 0;
    if (entry->kind == FD_SYNTHETIC) {
        out->flags = fcntl(entry->host, F_GETFL) & REOPEN_FLAGS;
        out->use = S_ISDIR(st.st_mode) ? CHECKPOINT_NAMED : CHECKPOINT_READ;
        return;
    }
    const bool reads_file = S_ISREG(st.st_mode) && (fcntl(entry->host, F_GETFL) & O_ACCMODE) == O_RDONLY;
    if (holds_lock(entry->host)) {
        checkpoint_refuse(c, "descriptor %llu holds a lock, which would be gone", (unsigned long long)fd);
    } else if (entry->standard && !reads_file) {
        out->as = AS_STANDARD;
        out->of = entry->standard - 1u;
    } else if (entry->kind == FD_EPOLL || !can_be_opened(&st)) {
        checkpoint_refuse(c, "descriptor %llu is %s, whose state only the host knows", (unsigned long long)fd,
                          kind_text(entry, &st));
    } else {
        fds_save_describe_file(kernel, entry, &st, out);
    }
}

/* ------------------------------------------------------------------ content */

/* What the descriptor may not do is no matter: the file is opened once more. */
static void put_content(struct checkpoint *c, int host)
{
    char name[64];
    struct stat st;
    uint8_t *bytes = NULL;
    snprintf(name, sizeof name, "/proc/self/fd/%d", host);
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    size_t count = fstat(host, &st) == 0 ? (size_t)st.st_size : 0;
    if (count > 0 && (!(bytes = c2_alloc(count)) || pread(file, bytes, count, 0) != (ssize_t)count)) {
        checkpoint_refuse(c, "a file of /proc cannot be read again");
        count = 0;
    }
    if (file >= 0)
        close(file);
    checkpoint_block(c, &bytes, &count, CONTENT_MOST);
    c2_free(bytes);
}

static int get_content(struct checkpoint *c, const struct saved *saved)
{
    char name[64];
    uint8_t *bytes = NULL;
    size_t count = 0;
    checkpoint_block(c, &bytes, &count, CONTENT_MOST);
    if (saved->use == CHECKPOINT_NAMED) { /* a directory */
        c2_free(bytes);
        return synthetic_open_directory(saved->flags);
    }
    const int file = memfd_create("c2emu", MFD_CLOEXEC);
    const bool whole = file >= 0 && write(file, bytes ? bytes : (const uint8_t *)"", count) == (ssize_t)count;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    const int host = whole ? open(name, (saved->flags & KEPT_FLAGS & ~O_DIRECT) | O_CLOEXEC) : -1;
    if (file >= 0)
        close(file);
    c2_free(bytes);
    return host;
}

/* ------------------------------------------------------------------ one descriptor */

static void fds_save_fail_host(struct checkpoint *c, uint64_t fd, const char *what)
{
    struct c2_error why;
    c2_fail(&why, C2_ERR_IO, "descriptor %llu of the program cannot be made again: %s: %s", (unsigned long long)fd,
            what, strerror(errno));
    checkpoint_fail(c, &why);
}

/* The host's descriptor for an entry that was just read, -1: none, and the reason is recorded. */
static int reopen(struct syscalls *kernel, struct checkpoint *c, uint64_t fd, struct saved *saved, int file)
{
    static const char *const standard[] = {"standard input is closed", "standard output is closed",
                                           "standard error is closed"};
    const struct fd_entry *of = saved->as == AS_COPY ? fds_at(kernel, saved->of) : NULL;
    int host = file;
    if (saved->as == AS_COPY && (!of || saved->of >= fd))
        checkpoint_damaged(c, "a descriptor that is a copy of none");
    else if (saved->as == AS_COPY)
        host = fcntl(of->host, F_DUPFD_CLOEXEC, 3);
    else if (saved->as == AS_STANDARD)
        host = fcntl((int)saved->of, F_DUPFD_CLOEXEC, 3);
    if (host < 0 && saved->as != AS_FILE)
        fds_save_fail_host(c, fd, saved->as == AS_STANDARD ? standard[saved->of] : "no more descriptors");
    host = host < 0 ? host : fds_keep(host);
    if (host >= 0 && saved->as != AS_COPY && saved->position != 0 && lseek(host, saved->position, SEEK_SET) < 0 &&
        errno != EBADF)
        fds_save_fail_host(c, fd, "its position");
    return host;
}

static void visit_entry(struct fd_entry *entry, struct saved *saved, struct checkpoint *c)
{
    CHECKPOINT_NUMBER(c, entry->kind, FD_SYNTHETIC);
    CHECKPOINT_NUMBER(c, entry->wait, FD_WAIT_SELF);
    CHECKPOINT_NUMBER(c, entry->cloexec, 1);
    CHECKPOINT_NUMBER(c, entry->nofollow, 1);
    CHECKPOINT_NUMBER(c, entry->standard, 3);
    checkpoint_number(c, &entry->description, CHECKPOINT_ANY);
    checkpoint_text(c, &entry->path, PATH_MAX);
    CHECKPOINT_NUMBER(c, saved->as, SAVED_WAYS - 1);
    checkpoint_number(c, &saved->of, saved->as == AS_STANDARD ? 2 : FDS_MAX - 1);
    CHECKPOINT_NUMBER(c, saved->position, INT64_MAX);
    CHECKPOINT_NUMBER(c, saved->flags, REOPEN_FLAGS);
    CHECKPOINT_NUMBER(c, saved->use, CHECKPOINT_NAMED);
    checkpoint_text(c, &saved->path, PATH_MAX);
}

static void save_entry(struct syscalls *kernel, struct checkpoint *c, uint64_t fd)
{
    char who[32];
    struct saved saved;
    struct fd_entry *entry = &kernel->fds.entry[fd];
    snprintf(who, sizeof who, "descriptor %llu", (unsigned long long)fd);
    fds_save_describe(kernel, c, fd, &saved);
    if (saved.as == AS_CONTENT && !(saved.flags & O_PATH))
        saved.position = lseek(entry->host, 0, SEEK_CUR);
    visit_entry(entry, &saved, c);
    if (saved.as == AS_CONTENT)
        put_content(c, entry->host);
    else if (saved.as == AS_FILE)
        checkpoint_file(c, saved.path, entry->host, saved.flags, saved.use, who);
    c2_free(saved.path);
}

static void restore_entry(struct syscalls *kernel, struct checkpoint *c, uint64_t fd)
{
    int file = -1;
    struct fd_entry entry = {.kind = FD_FREE};
    struct saved saved = {.as = AS_COPY};
    visit_entry(&entry, &saved, c);
    if (saved.flags & ~REOPEN_FLAGS || entry.kind == FD_FREE || (entry.kind == FD_SYNTHETIC) != !!entry.path ||
        (saved.as == AS_FILE) != !!saved.path)
        checkpoint_damaged(c, "a descriptor that cannot be");
    if (saved.as == AS_CONTENT)
        file = get_content(c, &saved);
    else if (saved.as == AS_FILE && saved.path)
        file = checkpoint_file(c, saved.path, -1, saved.flags, saved.use, NULL);
    if (file < 0 && saved.as == AS_FILE) /* told of at the end; copies need something until then */
        file = open("/dev/null", O_PATH | O_CLOEXEC);
    if (checkpoint_status(c, NULL) == C2_OK)
        entry.host = reopen(kernel, c, fd, &saved, file);
    else
        entry.host = file;
    if (entry.host >= 0 && entry.kind != FD_FREE) {
        if (entry.kind == FD_HOST)
            filetimes_know(&entry, NULL);
        fds_put(&kernel->fds, fd, &entry);
    } else {
        if (entry.host >= 0)
            close(entry.host);
        c2_free(entry.path);
    }
    c2_free(saved.path);
}

/* ------------------------------------------------------------------ all of them */

/* Numbers are one more than the descriptor's; 0: there are no more. */
static void save_all(struct syscalls *kernel, struct checkpoint *c)
{
    uint64_t number = 0;
    for (uint64_t fd = 0; fd < kernel->fds.end; fd++) {
        if (!fds_at(kernel, fd))
            continue;
        number = fd + 1;
        checkpoint_number(c, &number, FDS_MAX);
        save_entry(kernel, c, fd);
    }
    number = 0;
    checkpoint_number(c, &number, FDS_MAX);
}

static void restore_all(struct syscalls *kernel, struct checkpoint *c)
{
    uint64_t number = 0, before = 0;
    for (uint64_t fd = 0; fd < kernel->fds.end; fd++)
        if (fds_at(kernel, fd))
            fds_release(&kernel->fds.entry[fd]);
    for (;;) {
        checkpoint_number(c, &number, FDS_MAX);
        if (number == 0)
            return;
        if (number <= before) {
            checkpoint_damaged(c, "descriptors that are not in order");
            return;
        }
        restore_entry(kernel, c, number - 1);
        before = number;
    }
}

static void visit_directory(struct fds *fds, struct checkpoint *c)
{
    char *path = checkpoint_writes(c) ? fds_save_path_of(fds->cwd) : NULL;
    checkpoint_text(c, &path, PATH_MAX);
    if (!checkpoint_writes(c) && !path)
        checkpoint_damaged(c, "no working directory");
    const int again = path ? checkpoint_file(c, path, fds->cwd, O_PATH | O_DIRECTORY, CHECKPOINT_NAMED,
                                             "the working directory")
                           : -1;
    if (again >= 0) {
        close(fds->cwd);
        fds->cwd = fds_keep(again);
    }
    c2_free(path);
}

void fds_checkpoint(struct syscalls *kernel, struct checkpoint *c)
{
    checkpoint_part(c, "the open files");
    checkpoint_number(c, &kernel->fds.descriptions, CHECKPOINT_ANY);
    visit_directory(&kernel->fds, c);
    if (checkpoint_writes(c))
        save_all(kernel, c);
    else
        restore_all(kernel, c);
}
