/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What of the host a run depends on: files, directories and links that the guest reads, streams, names it looks for.
 *
 * Model
 *   A regular file is an input when something of it is read, mapped or copied for the first time: its hash is that of
 *   the whole file at that moment. What was opened for reading and writing counts as read at once, as it was. A file
 *   is known by device and inode: it is hashed once, and again only when it is opened anew and its size or its time of
 *   modification is another.
 *   What the guest has written itself before it reads it is no input. Where something else was left in the file of
 *   what it had been, that can no longer be said, and a note says so.
 *   Files of the run's own /dev/shm are none.
 *   Pipes, terminals and devices: the bytes that came, in their order. Directories: the names, in the host's order, as
 *   they were at the first listing. Links: their text. Names that were not there: that they were not.
 *   Each process keeps a list of its own, which its children begin with. What one of them writes all others know, by
 *   memory that they share, when they open or read a file; and what one has read is told by the first process, behind
 *   its own: once, where it is the same.
 * Counting
 *   bytes is the size of the file when it was hashed, what came of a stream, the length of a list or of a link's text.
 * Invariants
 *   The same run on the same files has the same inputs in the same order.
 *   A file that changes after it was hashed while the guest runs, by another program, is noted.
 * Not modelled
 *   What stat says of files, extended attributes, and the state of file systems. Files of more than 4 GiB are not
 *   hashed. A change that keeps a file's size and its time of modification is not seen.
 */
#include "syscalls/inputs_priv.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/kernel_priv.h"

#define LARGEST_BYTES ((uint64_t)4 << 30)

/* What tells one state of a file from another. */
struct version {
    uint64_t device, inode;
    int64_t size, seconds, nanoseconds;
};

struct input {
    struct syscalls_input shown; /* of what is used */
    char *path;                  /* owned; NULL: it has no name */
    struct version version;      /* of files: when it was hashed, before that as it was opened */
    struct c2_sha256 *stream;
    uint64_t description; /* of streams */
    bool used, inherited; /* inherited: the parent tells of it */
    bool written, kept;   /* by the guest; and something of before was left in it */
    uint32_t next;        /* of the same key: number + 1 */
};

/* What processes share. Changed by the one that has the turn. */
enum { WRITTEN_MOST = 1 << 20, TOLD_BYTES = 64 << 20 };
struct inputs_shared {
    bool full;
    uint32_t written_count;
    struct written {
        uint64_t device, inode;
        bool kept; /* something of before was left in it */
    } written[WRITTEN_MOST];
    size_t told; /* bytes: of each a struct told and its path */
    char texts[TOLD_BYTES];
};
struct told {
    struct syscalls_input input; /* but for the path */
    size_t path_bytes;           /* 0: it has none; padded to a multiple of 8 */
};

enum c2_status inputs_create(struct inputs *inputs, bool wanted, struct c2_error *err)
{
    inputs->wanted = wanted;
    if (!wanted)
        return C2_OK;
    void *at = mmap(NULL, sizeof *inputs->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED)
        return c2_fail_memory(err, "what the program reads");
    inputs->shared = at;
    return c2_map_create(&inputs->by_key, err);
}

void inputs_destroy(struct inputs *inputs)
{
    if (inputs->shared)
        munmap(inputs->shared, sizeof *inputs->shared);
    for (uint32_t i = 0; i < inputs->count; i++) {
        c2_sha256_destroy(inputs->list[i].stream);
        c2_free(inputs->list[i].path);
    }
    c2_free(inputs->list);
    c2_free(inputs->shown);
    c2_map_destroy(inputs->by_key);
}

/* ------------------------------------------------------------------ the list */

static struct input *inputs_first_of(const struct inputs *inputs, uint64_t key)
{
    uint64_t number;
    return c2_map_get(inputs->by_key, key, &number) ? &inputs->list[number - 1] : NULL;
}

static struct input *inputs_next_of(const struct inputs *inputs, const struct input *input)
{
    return input->next ? &inputs->list[input->next - 1] : NULL;
}

/* NULL: no memory. path: NULL where there is none. */
static struct input *inputs_add(struct inputs *inputs, uint64_t key, enum syscalls_input_kind kind, const char *path)
{
    uint64_t next = 0;
    char *copy = path ? c2_strdup(path) : NULL;
    c2_map_get(inputs->by_key, key, &next);
    if ((path && !copy) || !c2_grow((void **)&inputs->list, &inputs->room, inputs->count, sizeof *inputs->list) ||
        c2_map_put(inputs->by_key, key, inputs->count + 1, NULL) != C2_OK) {
        inputs->failed = true;
        c2_free(copy);
        return NULL;
    }
    struct input *input = &inputs->list[inputs->count++];
    *input = (struct input){.path = copy, .next = (uint32_t)next, .shown = {.kind = kind, .descriptor = -1}};
    return input;
}

static void host_name(int host, char out[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    const ssize_t bytes = readlink(link, out, PATH_MAX - 1);
    out[bytes > 0 ? bytes : 0] = '\0';
}

/* ------------------------------------------------------------------ files */

static struct version version_of(const struct stat *st)
{
    return (struct version){.device = st->st_dev,
                            .inode = st->st_ino,
                            .size = st->st_size,
                            .seconds = st->st_mtim.tv_sec,
                            .nanoseconds = st->st_mtim.tv_nsec};
}

static bool inputs_same_file(const struct version *a, const struct version *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static bool same_version(const struct version *a, const struct version *b)
{
    return inputs_same_file(a, b) && a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static bool is_version(const struct stat *st, const struct version *version)
{
    const struct version now = version_of(st);
    return same_version(&now, version);
}

static uint64_t key_of_file(const struct version *version)
{
    const uint64_t words[2] = {version->device, version->inode};
    return c2_hash(words, sizeof words);
}

/* The latest of the file, unless it is known in another state, which was not of the guest's making. */
static struct input *file_of(struct inputs *inputs, enum syscalls_input_kind kind, const struct stat *st,
                             const char *path)
{
    const struct version version = version_of(st);
    const uint64_t key = key_of_file(&version);
    struct input *input = inputs_first_of(inputs, key);
    while (input && !inputs_same_file(&input->version, &version))
        input = inputs_next_of(inputs, input);
    if (input && (!input->used || input->written || same_version(&input->version, &version))) {
        if (!input->path && path && !(input->path = c2_strdup(path))) /* another process has written it */
            inputs->failed = true;
        return input;
    }
    input = inputs_add(inputs, key, kind, path);
    if (input)
        input->version = version;
    return input;
}

/* Hashes what a descriptor shows. */
static void inputs_take(struct inputs *inputs, struct input *input, int host)
{
    struct stat before, after;
    struct c2_error err;
    input->used = true;
    enum c2_status status = fstat(host, &before) == 0 ? C2_OK : C2_ERR_IO;
    if (status == C2_OK && (uint64_t)before.st_size > LARGEST_BYTES) {
        input->shown.bytes = (uint64_t)before.st_size;
        input->shown.note = "larger than 4 GiB, and not hashed";
        return;
    }
    input->version = status == C2_OK ? version_of(&before) : input->version;
    if (status == C2_OK)
        status = c2_sha256_file(input->shown.sha256, &input->shown.bytes, host, &err);
    if (status == C2_ERR_IO)
        input->shown.note = "could not be read to be hashed";
    else if (status != C2_OK)
        inputs->failed = true;
    else if (fstat(host, &after) == 0 && !is_version(&after, &input->version))
        input->shown.note = "changed while it was read";
}

/* Behind what the guest itself has written nothing can be known. */
static void inputs_use(struct inputs *inputs, struct input *input, int host)
{
    if (input->used || (input->written && !input->kept))
        return;
    if (!input->written) {
        inputs_take(inputs, input, host);
        return;
    }
    input->used = true;
    input->shown.note = "the program had written to it before it read it";
}

/* Whether it was not known. */
static bool mark_written(struct inputs *inputs, const struct version *version, bool kept)
{
    struct input *input = inputs_first_of(inputs, key_of_file(version));
    bool news = false;
    for (; input; input = inputs_next_of(inputs, input)) {
        if (!inputs_same_file(&input->version, version))
            continue;
        news |= !input->written;
        input->kept |= kept && !input->written && !input->used;
        input->written = true;
    }
    return news;
}

/* The guest writes to it: from now on, no change of it is one from outside. kept: not all of it is cut off. */
static void inputs_written(struct inputs *inputs, const struct version *version, bool kept)
{
    struct inputs_shared *shared = inputs->shared;
    if (!mark_written(inputs, version, kept))
        return;
    shared->full |= shared->written_count == WRITTEN_MOST;
    if (!shared->full)
        shared->written[shared->written_count++] = (struct written){version->device, version->inode, kept};
}

/* What other processes have written in the meantime. */
static void inputs_learn(struct inputs *inputs)
{
    for (; inputs->seen < inputs->shared->written_count; inputs->seen++) {
        const struct written *of = &inputs->shared->written[inputs->seen];
        const struct version version = {.device = of->device, .inode = of->inode};
        const uint64_t key = key_of_file(&version);
        struct input *input = inputs_first_of(inputs, key);
        while (input && !inputs_same_file(&input->version, &version))
            input = inputs_next_of(inputs, input);
        if (!input && (input = inputs_add(inputs, key, SYSCALLS_INPUT_FILE, NULL)))
            input->version = version;
        mark_written(inputs, &version, of->kept);
    }
}

static struct input *inputs_input_of(struct syscalls *kernel, const struct fd_entry *entry)
{
    return entry->input ? &kernel->inputs.list[entry->input - 1] : NULL;
}

void inputs_opened(struct syscalls *kernel, struct fd_entry *entry, const char *path, bool standard)
{
    struct inputs *inputs = &kernel->inputs;
    const int flags = fcntl(entry->host, F_GETFL), mode = flags & O_ACCMODE;
    char name[PATH_MAX];
    struct stat st;
    if (!inputs->wanted || flags & O_PATH || fstat(entry->host, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    inputs_learn(inputs);
    if (!path)
        host_name(entry->host, name);
    if (c2_root_is_own(path ? path : name))
        return;
    struct input *input = file_of(inputs, SYSCALLS_INPUT_FILE, &st, path ? path : name);
    if (!input)
        return;
    entry->input = (uint32_t)(input - inputs->list) + 1;
    if (standard) {
        input->shown.descriptor = 0;
        input->shown.offset = (uint64_t)lseek(entry->host, 0, SEEK_CUR);
    }
    if (mode == O_RDWR && st.st_size > 0)
        inputs_use(inputs, input, entry->host);
    const struct version version = version_of(&st);
    if (mode != O_RDONLY)
        inputs_written(inputs, &version, st.st_size > 0);
}

void inputs_reading(struct syscalls *kernel, const struct fd_entry *entry)
{
    if (!inputs_input_of(kernel, entry))
        return;
    inputs_learn(&kernel->inputs);
    inputs_use(&kernel->inputs, inputs_input_of(kernel, entry), entry->host);
}

void inputs_mapping(struct syscalls *kernel, const struct fd_entry *entry, bool executable)
{
    struct input *input;
    inputs_reading(kernel, entry);
    input = inputs_input_of(kernel, entry);
    if (!input)
        return;
    if (executable && input->shown.kind == SYSCALLS_INPUT_FILE)
        input->shown.kind = SYSCALLS_INPUT_LIBRARY;
}

void inputs_changing(struct syscalls *kernel, const char *path)
{
    char name[PATH_MAX];
    struct stat st;
    const int host = kernel->inputs.wanted ? open(path, O_PATH | O_CLOEXEC) : -1;
    if (host >= 0)
        inputs_learn(&kernel->inputs);
    if (host >= 0 && fstat(host, &st) == 0 && S_ISREG(st.st_mode)) {
        const struct version version = version_of(&st);
        host_name(host, name);
        if (file_of(&kernel->inputs, SYSCALLS_INPUT_FILE, &st, name))
            inputs_written(&kernel->inputs, &version, st.st_size > 0);
    }
    if (host >= 0)
        close(host);
}

void syscalls_note_input(struct syscalls *kernel, enum syscalls_input_kind kind, const char *path)
{
    struct stat st;
    const int host = kernel->inputs.wanted ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (host < 0 || fstat(host, &st) != 0) {
        if (host >= 0)
            close(host);
        return;
    }
    inputs_learn(&kernel->inputs);
    struct input *input = file_of(&kernel->inputs, kind, &st, path);
    if (input)
        inputs_use(&kernel->inputs, input, host);
    close(host);
}

/* ------------------------------------------------------------------ streams */

static struct input *stream_of(struct inputs *inputs, const struct fd_entry *entry)
{
    const uint64_t key = c2_hash(&entry->description, sizeof entry->description);
    char name[PATH_MAX];
    struct input *input = inputs_first_of(inputs, key);
    while (input && (input->shown.kind != SYSCALLS_INPUT_STREAM || input->description != entry->description))
        input = inputs_next_of(inputs, input);
    if (input)
        return input;
    host_name(entry->host, name);
    input = inputs_add(inputs, key, SYSCALLS_INPUT_STREAM, name[0] == '/' ? name : NULL);
    if (!input)
        return NULL;
    input->used = true;
    input->description = entry->description;
    input->shown.descriptor = entry->description <= FDS_STANDARD ? (int)entry->description - 1 : -1;
    if (c2_sha256_create(&input->stream, NULL) != C2_OK)
        inputs->failed = true;
    return input;
}

void inputs_took(struct syscalls *kernel, const struct fd_entry *entry, const struct iovec *iov, uint64_t bytes)
{
    if (!kernel->inputs.wanted || entry->input || entry->kind != FD_HOST || entry->wait != FD_WAIT_OUTSIDE)
        return;
    struct input *input = stream_of(&kernel->inputs, entry);
    if (!input || !input->stream)
        return;
    if (!iov)
        input->shown.note = "not all that came of it was seen";
    input->shown.bytes += bytes;
    for (; iov && bytes > 0; iov++) {
        const uint64_t part = bytes < iov->iov_len ? bytes : iov->iov_len;
        c2_sha256_add(input->stream, iov->iov_base, part);
        bytes -= part;
    }
}

/* ------------------------------------------------------------------ names */

/* What a path is, noted once; NULL: it is already, or there is no memory. */
static struct input *inputs_named(struct inputs *inputs, enum syscalls_input_kind kind, const char *path)
{
    const uint64_t key = c2_hash(path, strlen(path)) + (uint64_t)kind;
    if (c2_root_is_own(path))
        return NULL;
    for (struct input *input = inputs_first_of(inputs, key); input; input = inputs_next_of(inputs, input))
        if (input->shown.kind == kind && strcmp(input->path, path) == 0)
            return NULL;
    struct input *input = inputs_add(inputs, key, kind, path);
    if (input)
        input->used = true;
    return input;
}

void inputs_listing(struct syscalls *kernel, const struct fd_entry *entry)
{
    char name[PATH_MAX];
    if (!kernel->inputs.wanted || lseek(entry->host, 0, SEEK_CUR) != 0)
        return;
    host_name(entry->host, name);
    struct input *input = inputs_named(&kernel->inputs, SYSCALLS_INPUT_DIRECTORY, name);
    if (!input)
        return;
    const enum c2_status status = c2_sha256_names(input->shown.sha256, &input->shown.bytes, entry->host, NULL);
    if (status == C2_ERR_IO)
        input->shown.note = "could not be listed to be hashed";
    kernel->inputs.failed |= status != C2_OK && status != C2_ERR_IO;
}

void inputs_link(struct syscalls *kernel, const char *path, const char *text, uint64_t bytes)
{
    struct input *input = kernel->inputs.wanted && path[0] == '/'
                              ? inputs_named(&kernel->inputs, SYSCALLS_INPUT_LINK, path)
                              : NULL;
    if (!input)
        return;
    input->shown.bytes = bytes;
    kernel->inputs.failed |= c2_sha256_bytes(input->shown.sha256, text, bytes, NULL) != C2_OK;
}

int64_t inputs_looked(struct syscalls *kernel, const char *path, int64_t answer)
{
    if ((answer == -ENOENT || answer == -ENOTDIR) && kernel->inputs.wanted && path[0] == '/')
        inputs_named(&kernel->inputs, SYSCALLS_INPUT_ABSENT, path);
    return answer;
}

/* ------------------------------------------------------------------ all of them */

/* Whether another program has changed a file since it was hashed. */
static void inputs_look_again(struct input *input)
{
    struct stat st;
    if (input->version.inode == 0 || input->shown.note || input->written || stat(input->path, &st) != 0)
        return;
    if (st.st_dev == input->version.device && st.st_ino == input->version.inode && !is_version(&st, &input->version))
        input->shown.note = "changed while the program ran";
}

/* As it is told. */
static enum c2_status inputs_settle(struct input *input, struct c2_error *err)
{
    inputs_look_again(input);
    input->shown.path = input->path;
    return input->stream ? c2_sha256_text(input->shown.sha256, input->stream, err) : C2_OK;
}

void inputs_become_child(struct inputs *inputs)
{
    if (!inputs->wanted)
        return;
    for (uint32_t i = 0; i < inputs->count; i++) {
        inputs->list[i].inherited = inputs->list[i].used;
        inputs->list[i].description = 0; /* what comes of a stream is noted by its reader */
    }
}

static bool syscalls_inputs_tell(struct inputs_shared *shared, const struct input *input)
{
    const size_t length = input->path ? strlen(input->path) + 1 : 0, bytes = c2_align_up(length, 8);
    struct told *to = (struct told *)(shared->texts + shared->told);
    if (sizeof *to + bytes > TOLD_BYTES - shared->told)
        return false;
    *to = (struct told){.input = input->shown, .path_bytes = bytes};
    if (length)
        memcpy(to + 1, input->path, length);
    shared->told += sizeof *to + bytes;
    return true;
}

void inputs_tell(struct inputs *inputs)
{
    for (uint32_t i = 0; inputs->wanted && i < inputs->count; i++) {
        struct input *input = &inputs->list[i];
        if (input->used && !input->inherited)
            inputs->shared->full |= inputs_settle(input, NULL) != C2_OK || !syscalls_inputs_tell(inputs->shared, input);
    }
    if (inputs->wanted)
        inputs->shared->full |= inputs->failed;
}

static bool same_texts(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_known(const struct c2_map *known, const struct syscalls_input *list, const struct syscalls_input *input,
                     uint64_t key)
{
    uint64_t number;
    if (!input->path || input->kind == SYSCALLS_INPUT_STREAM || !c2_map_get(known, key, &number))
        return false;
    const struct syscalls_input *as = &list[number];
    return as->kind == input->kind && same_texts(as->path, input->path) && strcmp(as->sha256, input->sha256) == 0 &&
           same_texts(as->note, input->note);
}

/* The process's own, in the order in which they were met. */
static enum c2_status show_own(struct inputs *inputs, size_t *count, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < inputs->count && status == C2_OK; i++) {
        if (!inputs->list[i].used)
            continue;
        status = inputs_settle(&inputs->list[i], err);
        inputs->shown[(*count)++] = inputs->list[i].shown;
    }
    return status;
}

static uint64_t key_of_shown(const struct syscalls_input *input)
{
    return input->path ? c2_hash(input->path, strlen(input->path)) + (uint64_t)input->kind : 0;
}

/* Those of processes that have ended, but for what is the same. */
static enum c2_status show_others(struct inputs *inputs, size_t *count, struct c2_error *err)
{
    struct c2_map *known;
    enum c2_status status = c2_map_create(&known, err);
    for (size_t i = 0; i < *count && status == C2_OK; i++)
        status = c2_map_put(known, key_of_shown(&inputs->shown[i]), i, err);
    for (size_t at = 0; at < inputs->shared->told && status == C2_OK;) {
        const struct told *from = (const struct told *)(inputs->shared->texts + at);
        struct syscalls_input input = from->input;
        input.path = from->path_bytes ? (const char *)(from + 1) : NULL;
        at += sizeof *from + from->path_bytes;
        if (is_known(known, inputs->shown, &input, key_of_shown(&input)))
            continue;
        status = c2_map_put(known, key_of_shown(&input), *count, err);
        inputs->shown[(*count)++] = input;
    }
    c2_map_destroy(known);
    return status;
}

enum c2_status syscalls_inputs(const struct syscalls_input **out, size_t *count, struct syscalls *kernel,
                               struct c2_error *err)
{
    struct inputs *inputs = &kernel->inputs;
    const size_t told = inputs->wanted ? inputs->shared->told / sizeof(struct told) : 0;
    c2_free(inputs->shown);
    inputs->shown = c2_calloc(inputs->count + told + 1, sizeof *inputs->shown);
    *count = 0;
    if (!inputs->shown || inputs->failed || (inputs->wanted && inputs->shared->full))
        return c2_fail_memory(err, "what the program has read");
    enum c2_status status = show_own(inputs, count, err);
    if (status == C2_OK && told)
        status = show_others(inputs, count, err);
    *out = inputs->shown;
    return status;
}
