/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * /proc, /sys and /dev/pts as the guest sees them: the tree of content.c, and nothing of the host's.
 *
 * Model
 *   Files are written into a host memfd when opened, and again when the guest has set what they show; but for these
 *   few they are read-only. A directory's descriptor is of the host's /proc, of which nothing is looked at: its file
 *   position is that of the next name, so that duplicates share it, and errors are a directory's. What is not in the
 *   tree does not exist.
 *   /proc/PID is there of each process of the run, and shows what views.c keeps of it; /proc/1 of init, which never
 *   runs; /dev/pts/N of each pseudo-terminal (terminals.c).
 *
 * Not modelled
 *   Of other processes than the reader: its descriptors, maps and limits (EACCES).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"
#include "syscalls/pollable_priv.h"
#include "syscalls/terminals_priv.h"

/* Whether path is root itself or lies below it. */
static bool synthetic_below(const char *path, const char *root)
{
    size_t bytes = strlen(root);
    return strncmp(path, root, bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0');
}

bool synthetic_covers(const struct syscalls *kernel, const char *path)
{
    return synthetic_below(path, "/proc") || synthetic_below(path, "/sys") || terminals_cover(kernel, path);
}

/* ------------------------------------------------------------------ what a path means */

/* Of a process, or of one of its threads; of a processor or a cache; or of the machine. */
struct place {
    struct content_of of;
    bool is_process;
    bool gone;                  /* it names a process or a thread that is not there */
    struct content_nodes nodes; /* if it is no process's */
    const char *rest; /* below /proc/PID, /proc/PID/task/TID, cpuN or cpuN/cache/indexM: "" or "/name"; or the path */
};

/* A number as Linux writes it; what follows it into *rest, "" or "/...". */
static bool synthetic_read_number(const char *text, uint32_t *number, const char **rest)
{
    char *end;
    if (text[0] < '1' || text[0] > '9')
        return false;
    const unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    *rest = end;
    return value <= INT32_MAX && (*end == '\0' || *end == '/');
}

static void synthetic_find_thread(struct place *out)
{
    static const char task[] = "/task/";
    uint32_t tid;
    if (strncmp(out->rest, task, strlen(task)) != 0)
        return;
    const bool is_number = synthetic_read_number(out->rest + strlen(task), &tid, &out->rest);
    out->of.thread = is_number ? views_thread(out->of.view, tid) : NULL;
    out->of.is_thread = true;
    out->gone = !out->of.thread;
}

static void find_hardware(struct place *out, const char *path)
{
    out->nodes = content_nodes;
    out->rest = path;
    topology_find(&out->of, &out->nodes, path, &out->rest);
}

static struct place synthetic_place_of(struct syscalls *kernel, const char *path)
{
    static const char root[] = "/proc/";
    struct place out = {.of = {.kernel = kernel, .process = kernel->self, .view = views_of(kernel, kernel->self)}};
    uint32_t pid;
    out.of.thread = &out.of.view->thread[0];
    find_hardware(&out, path);
    if (strncmp(path, root, strlen(root)) != 0)
        return out;
    views_publish(kernel, kernel->instructions);
    if (!synthetic_read_number(path + strlen(root), &pid, &out.rest))
        return out;
    if (pid == IDENTITY_PARENT) { /* no process of the run: its few files are the machine's */
        out.rest = path;
        return out;
    }
    out.is_process = true;
    out.of.process = views_find(kernel, pid);
    out.gone = !out.of.process;
    if (out.gone)
        return out;
    out.of.view = views_of(kernel, out.of.process);
    out.of.thread = &out.of.view->thread[0];
    synthetic_find_thread(&out);
    return out;
}

static bool synthetic_is_own(const struct place *place) { return place->of.process == place->of.kernel->self; }

static bool synthetic_is_there(const struct place *place, const struct content_process_node *node)
{
    return node->where != (place->of.is_thread ? CONTENT_PROCESS : CONTENT_TASK);
}

static const struct content_process_node *process_node_of(const struct place *place)
{
    for (size_t i = 0; i < content_process_node_count && place->rest[0] == '/'; i++)
        if (strcmp(content_process_nodes[i].is.path, place->rest + 1) == 0)
            return synthetic_is_there(place, &content_process_nodes[i]) ? &content_process_nodes[i] : NULL;
    return NULL;
}

static const struct content_node *hardware_node_of(const struct place *place)
{
    for (size_t i = 0; i < place->nodes.count; i++)
        if (strcmp(place->nodes.node[i].path, place->rest) == 0)
            return &place->nodes.node[i];
    return NULL;
}

static const struct content_node *node_of(const struct place *place)
{
    if (place->gone)
        return NULL;
    if (!place->is_process)
        return hardware_node_of(place);
    const struct content_process_node *node = process_node_of(place);
    return node ? &node->is : NULL;
}

static bool synthetic_is_directory(const struct place *place)
{
    if (place->is_process)
        return place->rest[0] == '\0';
    for (size_t i = 0; i < place->nodes.count; i++)
        if (synthetic_below(place->nodes.node[i].path, place->rest))
            return true;
    return false;
}

/* Of the process itself: what others have open is not shown. */
static int64_t synthetic_descriptor_of(struct syscalls *kernel, const struct place *place)
{
    static const char root[] = "/fd/";
    char *end;
    if (!place->is_process || place->gone || !synthetic_is_own(place) ||
        strncmp(place->rest, root, strlen(root)) != 0 || place->rest[strlen(root)] < '0' ||
        place->rest[strlen(root)] > '9')
        return -1;
    unsigned long fd = strtoul(place->rest + strlen(root), &end, 10);
    return *end == '\0' && fds_at(kernel, fd) ? (int64_t)fd : -1;
}

int64_t synthetic_fd(struct syscalls *kernel, const char *path)
{
    const struct place place = synthetic_place_of(kernel, path);
    return synthetic_descriptor_of(kernel, &place);
}

static enum synthetic_kind synthetic_kind_of(struct syscalls *kernel, const struct place *place, const char *path)
{
    const struct content_node *node = node_of(place);
    if (place->gone)
        return SYNTHETIC_NONE;
    if (terminals_is_device(kernel, path))
        return SYNTHETIC_DEVICE;
    if (synthetic_descriptor_of(kernel, place) >= 0 || (node && node->link))
        return SYNTHETIC_LINK;
    if (node && (node->text || node->write))
        return SYNTHETIC_FILE;
    return node || synthetic_is_directory(place) ? SYNTHETIC_DIRECTORY : SYNTHETIC_NONE;
}

enum synthetic_kind synthetic_kind(struct syscalls *kernel, const char *path)
{
    const struct place place = synthetic_place_of(kernel, path);
    return synthetic_kind_of(kernel, &place, path);
}

static const struct content_process_node *node_in_process(const struct place *place)
{
    return place->is_process && !place->gone ? process_node_of(place) : NULL;
}

/* Whether it may be looked into. */
static bool is_closed(const struct place *place)
{
    const struct content_process_node *node = node_in_process(place);
    return node && node->where == CONTENT_OWN && !synthetic_is_own(place);
}

static bool can_be_set(const struct place *place)
{
    const struct content_process_node *node = node_in_process(place);
    return node && node->set;
}

/* ------------------------------------------------------------------ links */

/* Where a link of the host's leads, as the guest calls it: the length, or -1 and errno. */
static ssize_t host_text(const char *link, char *out, size_t bytes)
{
    char text[PATH_MAX];
    const ssize_t length = readlink(link, text, sizeof text - 1);
    if (length < 0)
        return length;
    text[length] = '\0';
    const char *inside = text[0] == '/' ? c2_root_inside(text) : NULL;
    const char *shown = inside ? inside : text;
    const size_t whole = strlen(shown), part = whole < bytes ? whole : bytes;
    memcpy(out, shown, part);
    return (ssize_t)part;
}

/* The host's name of a descriptor, but the number in "pipe:[12345]" is the inode number that the guest sees. */
static int64_t descriptor_text(struct syscalls *kernel, int64_t fd, char *out, size_t bytes)
{
    const struct fd_entry *entry = fds_at(kernel, (uint64_t)fd);
    char link[64];
    struct stat st;
    if (entry->path)
        return snprintf(out, bytes, "%s", entry->path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", entry->host);
    ssize_t length = host_text(link, out, bytes - 1);
    if (length < 0 || fstat(entry->host, &st) < 0)
        return -errno;
    out[length] = '\0';
    if (entry->kind == FD_SIGNALS || entry->kind == FD_PROCESS) /* the host has a timer there */
        return snprintf(out, bytes, "anon_inode:[%s]", entry->kind == FD_SIGNALS ? "signalfd" : "pidfd");
    char *number = out[0] == '/' ? NULL : strchr(out, '[');
    if (!number || number[1] < '0' || number[1] > '9')
        return length;
    attributes_show(kernel, &st);
    return (number + 1 - out) +
           snprintf(number + 1, bytes - (size_t)(number + 1 - out), "%llu]", (unsigned long long)st.st_ino);
}

static int64_t directory_text(const struct content_of *of, char *out, size_t bytes)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%ld/fd/%d", (long)of->process->host, of->view->directory);
    ssize_t length = host_text(link, out, bytes);
    return length < 0 ? -errno : length;
}

static int64_t synthetic_copy_text(char *out, size_t bytes, const char *text)
{
    const size_t length = strlen(text);
    if (length > bytes)
        return -ENAMETOOLONG;
    memcpy(out, text, length);
    return (int64_t)length;
}

static int64_t process_link(const struct place *place, const struct content_node *node, char *out, size_t bytes)
{
    const bool directory = strcmp(node->path, "cwd") == 0, program = strcmp(node->path, "exe") == 0;
    if ((directory || program) && place->of.process->state == PROCESS_ZOMBIE)
        return -ENOENT;
    if (directory)
        return directory_text(&place->of, out, bytes);
    const char *text = program ? views_texts(place->of.kernel, place->of.process).program : node->link;
    return synthetic_copy_text(out, bytes, text);
}

static int64_t machine_link(const struct syscalls *kernel, const struct content_node *node, char *out, size_t bytes)
{
    char text[64];
    if (strcmp(node->path, "/proc/self") == 0)
        snprintf(text, sizeof text, "%u", kernel->pid);
    else if (strcmp(node->path, "/proc/thread-self") == 0)
        snprintf(text, sizeof text, "%u/task/%u", kernel->pid, kernel->current->tid);
    else
        snprintf(text, sizeof text, "%s", node->link);
    return synthetic_copy_text(out, bytes, text);
}

int64_t synthetic_link(struct syscalls *kernel, const char *path, char *out, size_t bytes)
{
    const struct place place = synthetic_place_of(kernel, path);
    const int64_t fd = synthetic_descriptor_of(kernel, &place);
    if (fd >= 0)
        return descriptor_text(kernel, fd, out, bytes);
    const struct content_node *node = node_of(&place);
    if (!node || !node->link)
        return synthetic_kind_of(kernel, &place, path) == SYNTHETIC_NONE ? -ENOENT : -EINVAL;
    return place.is_process ? process_link(&place, node, out, bytes) : machine_link(kernel, node, out, bytes);
}

/* ------------------------------------------------------------------ open */

static int64_t synthetic_may_open(const struct place *place, enum synthetic_kind kind, int flags)
{
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    if (flags & O_NOATIME && !place->is_process && (kind == SYNTHETIC_DIRECTORY || kind == SYNTHETIC_FILE))
        return -EPERM; /* root's */
    switch (kind) {
    case SYNTHETIC_NONE:
        return -ENOENT;
    case SYNTHETIC_LINK: /* only with O_NOFOLLOW */
        if (flags & O_DIRECTORY)
            return -ENOTDIR;
        return flags & O_PATH ? 0 : -ELOOP;
    case SYNTHETIC_DIRECTORY:
        return writes || flags & O_CREAT ? -EISDIR : 0;
    case SYNTHETIC_FILE:
        if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
            return -EEXIST;
        if ((flags & O_DIRECTORY) == O_DIRECTORY)
            return -ENOTDIR;
        return writes && !can_be_set(place) ? -EACCES : 0;
    case SYNTHETIC_DEVICE:
        return 0;
    }
    return -ENOENT;
}

static bool synthetic_put_content(const struct place *place, const struct content_node *node, int file)
{
    if (node && node->write)
        node->write(&place->of, file);
    return !node || node->write || !node->text || write(file, node->text, strlen(node->text)) >= 0;
}

/* A host descriptor with the content of now and the guest's way of access, or -1 and errno. */
/* What the host's descriptor shows by F_GETFL. */
#define SHOWN_FLAGS (O_ACCMODE | O_PATH | O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC | O_NOATIME)

int synthetic_open_directory(int flags)
{
    return open("/proc", (flags & ((SHOWN_FLAGS & ~O_NOATIME) | O_DIRECTORY | O_NOFOLLOW)) | O_CLOEXEC);
}

static int synthetic_open_content(const struct place *place, const struct content_node *node, int flags)
{
    char name[64];
    int file = memfd_create("c2emu", MFD_CLOEXEC);
    if (file < 0)
        return -1;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    int host = synthetic_put_content(place, node, file) ? open(name, (flags & SHOWN_FLAGS) | O_CLOEXEC) : -1;
    int error = errno;
    close(file);
    errno = error;
    return host;
}

static int synthetic_open_host(const struct place *place, enum synthetic_kind kind, int flags)
{
    if (kind == SYNTHETIC_DIRECTORY)
        return synthetic_open_directory(flags);
    if (kind == SYNTHETIC_LINK) /* itself; of the host's nothing is looked at either */
        return open("/proc/self", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return synthetic_open_content(place, node_of(place), flags);
}

int64_t synthetic_open(struct call *c, const char *path, int flags)
{
    const struct place place = synthetic_place_of(c->kernel, path);
    const enum synthetic_kind kind = synthetic_kind_of(c->kernel, &place, path);
    if (flags & O_PATH) /* of the rest nothing counts */
        flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int64_t status = synthetic_may_open(&place, kind, flags);
    if (status == 0 && !(flags & O_PATH) && is_closed(&place))
        status = -EACCES;
    if (status < 0)
        return status;
    if (kind == SYNTHETIC_DEVICE && !(flags & O_PATH))
        return terminals_open(c, path, flags);
    char *name = c2_strdup(path);
    if (!name)
        return -ENOMEM;
    int64_t fd = fds_add(c->kernel, synthetic_open_host(&place, kind, flags), FD_WAIT_NEVER, flags & O_CLOEXEC);
    if (fd < 0) {
        c2_free(name);
        return fd;
    }
    struct fd_entry *entry = fds_at(c->kernel, (uint64_t)fd);
    entry->kind = FD_SYNTHETIC;
    entry->nofollow = flags & O_NOFOLLOW;
    entry->path = name;
    return fd;
}

/* ------------------------------------------------------------------ what the guest sets */

bool synthetic_is_setting(const struct fd_entry *entry)
{
    const int access = entry->kind == FD_SYNTHETIC ? fcntl(entry->host, F_GETFL) & O_ACCMODE : O_RDONLY;
    return access == O_WRONLY || access == O_RDWR;
}

/* What the descriptor shows from now on. */
static void show_anew(struct syscalls *kernel, const struct fd_entry *entry)
{
    char name[64];
    const struct place place = synthetic_place_of(kernel, entry->path);
    snprintf(name, sizeof name, "/proc/self/fd/%d", entry->host);
    const int file = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0)
        return;
    synthetic_put_content(&place, node_of(&place), file);
    close(file);
}

int64_t synthetic_set(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count, bool many)
{
    const struct place place = synthetic_place_of(c->kernel, entry->path);
    const struct content_process_node *node = node_in_process(&place);
    int64_t done = 0, part = 0;
    if (!can_be_set(&place))
        return -ESRCH;
    for (int i = 0; i < count && (i == 0 || part == (int64_t)iov[i - 1].iov_len); i++) { /* as far as all is taken */
        part = many && iov[i].iov_len == 0 ? 0 : node->set(c, &place.of, (uintptr_t)iov[i].iov_base, iov[i].iov_len);
        done += part > 0 ? part : 0;
    }
    show_anew(c->kernel, entry);
    return done > 0 ? done : part;
}

/* ------------------------------------------------------------------ what they look like */

/* FNV-1a, 32 bits: a number for a name (Fowler, Noll, Vo). */
static uint64_t inode_of(const char *path)
{
    uint32_t hash = 2166136261u;
    for (; *path; path++)
        hash = (hash ^ (uint8_t)*path) * 16777619u;
    return hash;
}

static unsigned access_of(const struct fd_entry *entry)
{
    const int flags = fcntl(entry->host, F_GETFL);
    if (entry->kind == FD_TERMINAL)
        return entry->pollable->access;
    return flags & O_PATH ? O_PATH : (unsigned)flags & O_ACCMODE;
}

/* A link to an open descriptor shows in its rights how that may be accessed. */
static void show_descriptor(struct syscalls *kernel, const char *path, struct stat *out)
{
    enum { BYTES = 64 };
    const int64_t fd = synthetic_fd(kernel, path);
    if (fd < 0)
        return;
    const unsigned access = access_of(fds_at(kernel, (uint64_t)fd));
    out->st_mode = S_IFLNK | (access == O_RDONLY   ? S_IRUSR | S_IXUSR
                              : access == O_WRONLY ? S_IWUSR | S_IXUSR
                              : access == O_RDWR   ? S_IRWXU
                                                   : 0);
    out->st_size = BYTES;
}

int64_t synthetic_stat(struct syscalls *kernel, const char *path, struct stat *out)
{
    static const mode_t modes[] = {
        [SYNTHETIC_FILE] = S_IFREG | 0444, [SYNTHETIC_DIRECTORY] = S_IFDIR | 0555, [SYNTHETIC_LINK] = S_IFLNK | 0777};
    const struct place place = synthetic_place_of(kernel, path);
    enum synthetic_kind kind = synthetic_kind_of(kernel, &place, path);
    if (terminals_stat(kernel, path, out))
        return 0;
    if (kind == SYNTHETIC_NONE)
        return -ENOENT;
    *out = (struct stat){.st_dev = makedev(0, 4), .st_ino = inode_of(path), .st_mode = modes[kind]};
    out->st_mode |= can_be_set(&place) ? S_IWUSR : 0;
    if (kind == SYNTHETIC_LINK)
        show_descriptor(kernel, path, out);
    out->st_nlink = kind == SYNTHETIC_DIRECTORY ? 2 : 1;
    out->st_uid = out->st_gid = place.is_process ? IDENTITY_USER : 0;
    out->st_blksize = 1024;
    out->st_atim.tv_sec = out->st_mtim.tv_sec = out->st_ctim.tv_sec = (time_t)kernel->boot_seconds;
    return 0;
}

int64_t synthetic_statx(struct syscalls *kernel, const char *path, struct statx *out)
{
    struct stat st;
    int64_t status = synthetic_stat(kernel, path, &st);
    if (status < 0)
        return status;
    out->stx_mask = STATX_BASIC_STATS;
    out->stx_blksize = (uint32_t)st.st_blksize;
    out->stx_nlink = (uint32_t)st.st_nlink;
    out->stx_uid = st.st_uid;
    out->stx_gid = st.st_gid;
    out->stx_mode = (uint16_t)st.st_mode;
    out->stx_ino = st.st_ino;
    out->stx_atime.tv_sec = out->stx_mtime.tv_sec = out->stx_ctime.tv_sec = st.st_mtim.tv_sec;
    out->stx_dev_minor = minor(st.st_dev);
    out->stx_rdev_major = major(st.st_rdev);
    out->stx_rdev_minor = minor(st.st_rdev);
    return 0;
}

void synthetic_statfs(struct statfs *out)
{
    *out = (struct statfs){.f_type = 0x9fa0, .f_bsize = 4096, .f_namelen = 255, .f_frsize = 4096};
}

int64_t synthetic_access(struct syscalls *kernel, const char *path, int mode)
{
    const struct place place = synthetic_place_of(kernel, path);
    switch (synthetic_kind_of(kernel, &place, path)) {
    case SYNTHETIC_NONE:
        return -ENOENT;
    case SYNTHETIC_FILE:
        if (mode & R_OK && is_closed(&place))
            return -EACCES;
        return mode & X_OK || (mode & W_OK && !can_be_set(&place)) ? -EACCES : 0;
    case SYNTHETIC_DIRECTORY:
        return mode & W_OK ? -EACCES : 0;
    case SYNTHETIC_DEVICE:
        return mode & X_OK ? -EACCES : 0;
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ directory entries */

struct name {
    char text[NAME_MAX + 1];
};

/* The component of path that lies directly in dir; false if path is not below dir. */
static bool synthetic_child_name(const char *path, const char *dir, struct name *out)
{
    size_t bytes = strlen(dir);
    if (!synthetic_below(path, dir) || path[bytes] == '\0')
        return false;
    size_t length = strcspn(path + bytes + 1, "/");
    memcpy(out->text, path + bytes + 1, length);
    out->text[length] = '\0';
    return true;
}

/* Names of a directory stand at positions, which an open one keeps: "." and "..", then nodes in the order of their
 * table; then numbers, each at its own. */
enum { FIRST_NODE = 2, FIRST_NUMBER = 4096 };
struct listing {
    struct syscalls *kernel;
    const struct place *place;
    const char *path;
    uint64_t position; /* of the name; of the next one when that was found */
    struct name name;
};

static bool found_numbered(struct listing *at, const char *word, uint64_t number)
{
    snprintf(at->name.text, sizeof at->name.text, "%s%llu", word, (unsigned long long)number);
    at->position = FIRST_NUMBER + number + 1;
    return true;
}

static bool found_number(struct listing *at, uint64_t number) { return found_numbered(at, "", number); }

static bool next_descriptor(struct listing *at, uint64_t from)
{
    while (from < FDS_MAX && !fds_at(at->kernel, from))
        from++;
    return from < FDS_MAX && found_number(at, from);
}

static bool next_process(struct listing *at, uint64_t from)
{
    const struct process *process = views_next(at->kernel, (uint32_t)from);
    return process && found_number(at, process->pid);
}

static bool next_terminal(struct listing *at, uint64_t from)
{
    const uint32_t number = terminals_next(at->kernel, (uint32_t)from);
    return number < TERMINALS_MOST && found_number(at, number);
}

static bool next_thread(struct listing *at, uint64_t from)
{
    const struct process_view *view = at->place->of.view;
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < view->threads && i < PROCESSES_THREADS; i++)
        next = view->thread[i].tid >= from && view->thread[i].tid < next ? view->thread[i].tid : next;
    return next != UINT64_MAX && found_number(at, next);
}

static bool next_process_node(struct listing *at)
{
    for (uint64_t i = at->position - FIRST_NODE; i < content_process_node_count; i++)
        if (synthetic_is_there(at->place, &content_process_nodes[i])) {
            strcpy(at->name.text, content_process_nodes[i].is.path);
            at->position = FIRST_NODE + i + 1;
            return true;
        }
    return false;
}

/* Nodes of one directory stand together: a name that was the last one's is no new one. */
static bool next_hardware_node(struct listing *at)
{
    const struct content_nodes nodes = at->place->nodes;
    struct name last = {""};
    const uint64_t from = at->position - FIRST_NODE;
    for (uint64_t i = 0; i < nodes.count; i++) {
        if (!synthetic_child_name(nodes.node[i].path, at->place->rest, &at->name) ||
            strcmp(at->name.text, last.text) == 0)
            continue;
        last = at->name;
        if (i < from)
            continue;
        at->position = FIRST_NODE + i + 1;
        return true;
    }
    return false;
}

static bool next_of_hardware(struct listing *at, uint64_t from)
{
    if (strcmp(at->path, "/proc") == 0)
        return next_process(at, from);
    if (strcmp(at->path, "/dev/pts") == 0)
        return next_terminal(at, from);
    if (strcmp(at->path, TOPOLOGY_PROCESSORS) == 0)
        return from < at->kernel->processors && found_numbered(at, "cpu", from);
    return strcmp(at->place->rest, "/cache") == 0 && from < at->kernel->cache_count &&
           found_numbered(at, "index", from);
}

static bool synthetic_next_number(struct listing *at)
{
    const uint64_t from = at->position > FIRST_NUMBER ? at->position - FIRST_NUMBER : 0;
    if (!at->place->is_process)
        return next_of_hardware(at, from);
    if (strcmp(at->place->rest, "/fd") == 0)
        return next_descriptor(at, from);
    return strcmp(at->place->rest, "/task") == 0 && next_thread(at, from);
}

static bool next_name(struct listing *at)
{
    if (at->position < FIRST_NODE) {
        strcpy(at->name.text, at->position++ == 0 ? "." : "..");
        return true;
    }
    if (at->position < FIRST_NUMBER && !at->place->is_process && next_hardware_node(at))
        return true;
    if (at->position < FIRST_NUMBER && at->place->is_process && at->place->rest[0] == '\0' && next_process_node(at))
        return true;
    return synthetic_next_number(at);
}

static uint8_t synthetic_type_of(struct syscalls *kernel, const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    switch (synthetic_kind(kernel, path)) {
    case SYNTHETIC_FILE:
        return DT_REG;
    case SYNTHETIC_LINK:
        return DT_LNK;
    case SYNTHETIC_DEVICE:
        return DT_CHR;
    default:
        return DT_DIR; /* "." and ".." too */
    }
}

static size_t put_entry(char *to, const struct listing *at)
{
    struct dirent64 *entry = (struct dirent64 *)to;
    size_t bytes = c2_align_up(offsetof(struct dirent64, d_name) + strlen(at->name.text) + 1, 8);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", at->path, at->name.text);
    memset(to, 0, bytes);
    entry->d_ino = inode_of(path);
    entry->d_off = (off64_t)at->position;
    entry->d_reclen = (unsigned short)bytes;
    entry->d_type = synthetic_type_of(at->kernel, at->path, at->name.text);
    strcpy(entry->d_name, at->name.text);
    return bytes;
}

int64_t synthetic_entries(struct call *c, int host, const char *path, void *to, size_t bytes)
{
    size_t used = 0, largest = offsetof(struct dirent64, d_name) + NAME_MAX + 1 + 8;
    char entry[sizeof(struct dirent64) + 8] __attribute__((aligned(8)));
    const struct place place = synthetic_place_of(c->kernel, path);
    int64_t status = 0;
    C2_ASSERT(largest <= sizeof entry);
    if (place.gone)
        return -ENOENT;
    if (synthetic_kind_of(c->kernel, &place, path) != SYNTHETIC_DIRECTORY)
        return -ENOTDIR;
    struct listing at = {
        .kernel = c->kernel, .place = &place, .path = path, .position = (uint64_t)lseek(host, 0, SEEK_CUR)};
    uint64_t position = at.position;
    while (status == 0 && next_name(&at)) {
        size_t part = put_entry(entry, &at);
        if (used + part > bytes) {
            status = used == 0 ? -EINVAL : 0;
            break;
        }
        status = guest_write(c, (uintptr_t)to + used, entry, part);
        used += part;
        position = at.position;
    }
    lseek(host, (off_t)position, SEEK_SET);
    return status < 0 ? status : (int64_t)used;
}
