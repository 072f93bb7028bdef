/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files of the host that the guest has open or mapped.
 *
 * Model
 *   Their contents stay where they are. Of one that the guest only reads, size and time of the last change must be
 *   what they were. One that it may write has changed since, if the run went on: it must begin with what it had,
 *   which a hash tells, and is cut to its length then, for the guest writes the rest again. All files are looked at
 *   before the restored guest is refused, so that it is said of all.
 * Not modelled
 *   A file that is changed and gets its old time of change back.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint_priv.h"

#define NOTED 8u

struct identity {
    uint64_t bytes, seconds, nanoseconds;
    char hash[C2_SHA256_TEXT]; /* WRITTEN */
};

/* ------------------------------------------------------------------ what is said */

static __attribute__((format(printf, 3, 4))) void note_changed(struct checkpoint *c, const char *path,
                                                               const char *format, ...)
{
    char text[200];
    va_list values;
    char *about = c2_format("%s ", path);
    const bool known = about && strstr(c->changed_text, about);
    c2_free(about);
    if (known || c->changed_count++ >= NOTED) /* the first ones show what it is about */
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    c2_say(&c->changed, "%s%s %s", c->changed_count > 1 ? "; " : "", path, text);
}

static void note_host(struct checkpoint *c, const char *path)
{
    note_changed(c, path, "cannot be opened any more: %s", strerror(errno));
}

/* ------------------------------------------------------------------ identity */

static enum c2_status hash_start(char out[C2_SHA256_TEXT], int fd, uint64_t bytes, struct c2_error *err)
{
    struct c2_sha256 *sum;
    uint8_t part[16384];
    enum c2_status status = c2_sha256_create(&sum, err);
    for (uint64_t done = 0; done < bytes && status == C2_OK;) {
        const size_t wanted = bytes - done < sizeof part ? bytes - done : sizeof part;
        const ssize_t got = pread(fd, part, wanted, (off_t)done);
        if (got <= 0)
            status = c2_fail(err, C2_ERR_IO, "%s", got < 0 ? strerror(errno) : "it was cut while it was read");
        else
            c2_sha256_add(sum, part, (size_t)got);
        done += got > 0 ? (uint64_t)got : 0;
    }
    if (status == C2_OK)
        status = c2_sha256_text(out, sum, err);
    c2_sha256_destroy(sum);
    return status;
}

static enum c2_status identify(struct identity *out, const char *path, const struct stat *st, enum checkpoint_use use,
                               struct c2_error *err)
{
    *out = (struct identity){.bytes = (uint64_t)st->st_size,
                             .seconds = (uint64_t)st->st_mtim.tv_sec,
                             .nanoseconds = (uint64_t)st->st_mtim.tv_nsec};
    if (use != CHECKPOINT_WRITTEN)
        return C2_OK;
    const int fd = open(path, O_RDONLY | O_CLOEXEC); /* the guest's may be for writing only */
    if (fd < 0)
        return c2_fail(err, C2_ERR_IO, "%s", strerror(errno));
    const enum c2_status status = hash_start(out->hash, fd, out->bytes, err);
    close(fd);
    return status;
}

static void files_visit(struct checkpoint *c, struct identity *identity, enum checkpoint_use use)
{
    if (use == CHECKPOINT_NAMED)
        return;
    checkpoint_number(c, &identity->bytes, INT64_MAX);
    if (use == CHECKPOINT_WRITTEN) {
        checkpoint_bytes(c, identity->hash, sizeof identity->hash);
        return;
    }
    checkpoint_number(c, &identity->seconds, CHECKPOINT_ANY);
    checkpoint_number(c, &identity->nanoseconds, 999999999);
}

/* ------------------------------------------------------------------ writing */

static void files_save(struct checkpoint *c, const char *path, int fd, enum checkpoint_use use, const char *who)
{
    struct stat open_one, named;
    struct identity identity;
    struct c2_error why;
    if (fstat(fd, &open_one) != 0 || stat(path, &named) != 0 || named.st_dev != open_one.st_dev ||
        named.st_ino != open_one.st_ino) {
        checkpoint_refuse(c, "%s is %s, which no longer has that name, and could not be opened again", who, path);
        return;
    }
    if (identify(&identity, path, &open_one, use, &why) != C2_OK)
        checkpoint_refuse(c, "%s is %s, which cannot be read: %s", who, path, why.text);
    files_visit(c, &identity, use);
}

/* ------------------------------------------------------------------ reading */

static bool is_unchanged(struct checkpoint *c, const char *path, const struct identity *was, const struct stat *st)
{
    if (S_ISREG(st->st_mode) && (uint64_t)st->st_size != was->bytes)
        note_changed(c, path, "has changed: it had %llu bytes, and has %llu", (unsigned long long)was->bytes,
                     (unsigned long long)st->st_size);
    else if ((uint64_t)st->st_mtim.tv_sec != was->seconds || (uint64_t)st->st_mtim.tv_nsec != was->nanoseconds)
        note_changed(c, path, "has changed: it was written since");
    else
        return true;
    return false;
}

/* What the guest had written is there; what has come behind it since does not matter. */
static bool begins_as_it_was(struct checkpoint *c, const char *path, const struct identity *was, const struct stat *st)
{
    struct identity is;
    struct c2_error why;
    struct stat start = *st;
    if ((uint64_t)st->st_size < was->bytes) {
        note_changed(c, path, "has changed: it had %llu bytes, and has %llu", (unsigned long long)was->bytes,
                     (unsigned long long)st->st_size);
        return false;
    }
    start.st_size = (off_t)was->bytes;
    if (identify(&is, path, &start, CHECKPOINT_WRITTEN, &why) != C2_OK) {
        note_changed(c, path, "cannot be read: %s", why.text);
        return false;
    }
    if (memcmp(is.hash, was->hash, sizeof is.hash) != 0) {
        note_changed(c, path, "has changed: its first %llu bytes are other ones than the program had written",
                     (unsigned long long)was->bytes);
        return false;
    }
    return true;
}

static bool is_as_it_was(struct checkpoint *c, const char *path, int fd, enum checkpoint_use use,
                         const struct identity *was)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        note_host(c, path);
        return false;
    }
    if (use == CHECKPOINT_NAMED)
        return true;
    return use == CHECKPOINT_READ ? is_unchanged(c, path, was, &st) : begins_as_it_was(c, path, was, &st);
}

static void add_cut(struct checkpoint *c, int fd, uint64_t bytes)
{
    if (!checkpoint_room(c, (void **)&c->cuts, &c->cut_room, c->cut_count, sizeof *c->cuts))
        return;
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy >= 0)
        c->cuts[c->cut_count++] = (struct checkpoint_cut){copy, bytes};
}

enum c2_status checkpoint_cut_files(struct checkpoint *c, struct c2_error *err)
{
    for (uint32_t i = 0; i < c->cut_count; i++) {
        struct stat st;
        const struct checkpoint_cut *cut = &c->cuts[i];
        if (fstat(cut->fd, &st) == 0 && (uint64_t)st.st_size > cut->bytes && ftruncate(cut->fd, (off_t)cut->bytes) != 0)
            return c2_fail(err, C2_ERR_IO, "cannot cut a file that the program writes to what it had: %s",
                           strerror(errno));
    }
    return C2_OK;
}

static int restore(struct checkpoint *c, const char *path, int flags, enum checkpoint_use use)
{
    struct identity was = {.bytes = 0};
    files_visit(c, &was, use);
    if (!checkpoint_good(c))
        return -1;
    const int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0) {
        note_host(c, path);
        return -1;
    }
    if (is_as_it_was(c, path, fd, use, &was)) {
        if (use == CHECKPOINT_WRITTEN && (flags & O_ACCMODE) != O_RDONLY)
            add_cut(c, fd, was.bytes);
        return fd;
    }
    close(fd);
    return -1;
}

int checkpoint_file(struct checkpoint *c, const char *path, int fd, int flags, enum checkpoint_use use, const char *who)
{
    if (!checkpoint_good(c))
        return -1;
    if (!c->writes)
        return restore(c, path, flags, use);
    files_save(c, path, fd, use, who);
    return -1;
}
