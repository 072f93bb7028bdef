/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * scratch: a file without a name, to write and then to read, that may be too small for what is written.
 *
 * Model
 *   Bytes go to a temporary file up to a limit, or until the host takes no more of them; from there on they are kept in
 *   memory, and the file is full. What was written can be read in any case. So a writer has time to end what it is at.
 * Invariants
 *   Behind the first byte in memory no byte goes to the file.
 * Not modelled
 *   A host that finds out after a write that it had no room for it: then what is read is other bytes.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "stream/stream.h"

/* Of what the file system has left. */
#define SHARE_OF_FREE 4u

struct stream_scratch {
    FILE *file;      /* of the host; */
    FILE *in_use;    /* the callers', in front of both parts */
    uint64_t limit;  /* of the first part, bytes */
    uint64_t filed;  /* bytes in the file, */
    size_t kept;     /* and in memory behind them */
    uint8_t *memory; /* room bytes */
    size_t room;
    uint64_t at; /* where is read, or written */
    bool full;
};

/* ------------------------------------------------------------------ both parts */

/* As much as the host takes; less than `count`: no more goes there. */
static size_t scratch_put_file(struct stream_scratch *scratch, const char *bytes, size_t count)
{
    const uint64_t left = scratch->limit - scratch->filed;
    const size_t wanted = count < left ? count : (size_t)left;
    size_t done = 0;
    while (done < wanted) {
        const ssize_t put = pwrite(fileno(scratch->file), bytes + done, wanted - done, (off_t)(scratch->filed + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            break;
        done += (size_t)put;
    }
    if (done < wanted)
        c2_file_limit_hit(); /* whose note is not the guest's */
    scratch->filed += done;
    return done;
}

static bool scratch_put_memory(struct stream_scratch *scratch, const char *bytes, size_t count)
{
    if (scratch->room - scratch->kept < count) {
        const size_t room = 2 * scratch->room + count;
        uint8_t *memory = c2_realloc(scratch->memory, room);
        if (!memory)
            return false;
        scratch->memory = memory;
        scratch->room = room;
    }
    memcpy(scratch->memory + scratch->kept, bytes, count);
    scratch->kept += count;
    return true;
}

/* Writing goes on behind all that was written. */
static ssize_t scratch_write(void *self, const char *bytes, size_t count)
{
    struct stream_scratch *scratch = self;
    const size_t filed = scratch->full ? 0 : scratch_put_file(scratch, bytes, count);
    scratch->full |= filed < count;
    if (filed < count && !scratch_put_memory(scratch, bytes + filed, count - filed)) {
        errno = ENOMEM;
        return 0;
    }
    scratch->at = scratch->filed + scratch->kept;
    return (ssize_t)count;
}

static ssize_t scratch_read(void *self, char *to, size_t count)
{
    struct stream_scratch *scratch = self;
    ssize_t got;
    if (scratch->at < scratch->filed) {
        const uint64_t left = scratch->filed - scratch->at;
        do
            got = pread(fileno(scratch->file), to, count < left ? count : (size_t)left, (off_t)scratch->at);
        while (got < 0 && errno == EINTR);
    } else {
        const size_t from = (size_t)(scratch->at - scratch->filed), left = scratch->kept - from;
        got = (ssize_t)(count < left ? count : left);
        if (got != 0)
            memcpy(to, scratch->memory + from, (size_t)got);
    }
    scratch->at += got > 0 ? (uint64_t)got : 0;
    return got;
}

static int scratch_seek(void *self, off64_t *offset, int from)
{
    struct stream_scratch *scratch = self;
    const uint64_t end = scratch->filed + scratch->kept;
    const uint64_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? scratch->at : end;
    const uint64_t to = base + (uint64_t)*offset;
    if (to > end) {
        errno = EINVAL;
        return -1;
    }
    scratch->at = to;
    *offset = (off64_t)to;
    return 0;
}

/* ------------------------------------------------------------------ life */

/* Beyond RLIMIT_FSIZE there would be a signal. */
static uint64_t limit_of_host(int fd)
{
    struct rlimit size;
    struct statvfs system;
    uint64_t limit = UINT64_MAX;
    if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur != RLIM_INFINITY)
        limit = size.rlim_cur;
    if (fstatvfs(fd, &system) != 0)
        return limit;
    const uint64_t share = system.f_bavail / SHARE_OF_FREE * system.f_frsize;
    return share < limit ? share : limit;
}

enum c2_status stream_scratch_create(struct stream_scratch **out, uint64_t limit, struct c2_error *err)
{
    static const cookie_io_functions_t functions = {
        .read = scratch_read, .write = scratch_write, .seek = scratch_seek, .close = NULL};
    *out = NULL;
    struct stream_scratch *scratch = c2_calloc(1, sizeof *scratch);
    if (!scratch)
        return c2_fail_memory(err, "a temporary file");
    enum c2_status status = stream_temporary(&scratch->file, err);
    if (status == C2_OK) {
        const uint64_t most = limit_of_host(fileno(scratch->file));
        scratch->limit = limit < most ? limit : most;
        scratch->in_use = fopencookie(scratch, "w+", functions);
        if (!scratch->in_use)
            status = c2_fail_memory(err, "a temporary file");
    }
    if (status == C2_OK)
        *out = scratch;
    else
        stream_scratch_destroy(scratch);
    return status;
}

FILE *stream_scratch_file(struct stream_scratch *scratch) { return scratch->in_use; }

bool stream_scratch_full(const struct stream_scratch *scratch) { return scratch->full; }

void stream_scratch_destroy(struct stream_scratch *scratch)
{
    if (!scratch)
        return;
    if (scratch->in_use)
        fclose(scratch->in_use);
    if (scratch->file)
        fclose(scratch->file);
    c2_free(scratch->memory);
    c2_free(scratch);
}
