/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * /proc and /sys as the guest sees them: the tree of content.c, and nothing of the host's.
 *
 * Model
 *   Files are written into a host memfd when opened and are read-only; a directory's memfd is empty, its file position
 *   is the index of the next name, so that duplicates of the descriptor share it. What is not in the tree does not
 *   exist.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"

#define DESCRIPTORS CONTENT_SELF "/fd"

/* Whether path is root itself or lies below it. */
static bool below(const char *path, const char *root)
{
    size_t bytes = strlen(root);
    return strncmp(path, root, bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0');
}

bool synthetic_covers(const char *path) { return below(path, "/proc") || below(path, "/sys"); }

static const struct content_node *node_of(const char *path)
{
    for (size_t i = 0; i < content_node_count; i++)
        if (strcmp(content_nodes[i].path, path) == 0)
            return &content_nodes[i];
    return NULL;
}

static bool is_directory(const char *path)
{
    for (size_t i = 0; i < content_node_count; i++)
        if (below(content_nodes[i].path, path))
            return true;
    return false;
}

int64_t synthetic_fd(struct syscalls *kernel, const char *path)
{
    size_t root = strlen(DESCRIPTORS "/");
    char *end;
    if (strncmp(path, DESCRIPTORS "/", root) != 0 || path[root] < '0' || path[root] > '9')
        return -1;
    unsigned long fd = strtoul(path + root, &end, 10);
    return *end == '\0' && fds_at(kernel, fd) ? (int64_t)fd : -1;
}

enum synthetic_kind synthetic_kind(struct syscalls *kernel, const char *path)
{
    const struct content_node *node = node_of(path);
    if (synthetic_fd(kernel, path) >= 0 || (node && node->link))
        return SYNTHETIC_LINK;
    if (node && (node->text || node->write))
        return SYNTHETIC_FILE;
    return is_directory(path) ? SYNTHETIC_DIRECTORY : SYNTHETIC_NONE;
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
    if (entry->kind == FD_SIGNALS) /* the host has a timer there */
        return snprintf(out, bytes, "anon_inode:[signalfd]");
    char *number = out[0] == '/' ? NULL : strchr(out, '[');
    if (!number || number[1] < '0' || number[1] > '9')
        return length;
    attributes_show(kernel, &st);
    return (number + 1 - out) +
           snprintf(number + 1, bytes - (size_t)(number + 1 - out), "%llu]", (unsigned long long)st.st_ino);
}

static int64_t directory_text(struct syscalls *kernel, char *out, size_t bytes)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", kernel->fds.cwd);
    ssize_t length = host_text(link, out, bytes);
    return length < 0 ? -errno : length;
}

int64_t synthetic_link(struct syscalls *kernel, const char *path, char *out, size_t bytes)
{
    int64_t fd = synthetic_fd(kernel, path);
    if (fd >= 0)
        return descriptor_text(kernel, fd, out, bytes);
    const struct content_node *node = node_of(path);
    if (!node || !node->link)
        return synthetic_kind(kernel, path) == SYNTHETIC_NONE ? -ENOENT : -EINVAL;
    if (strcmp(path, CONTENT_SELF "/cwd") == 0)
        return directory_text(kernel, out, bytes);
    const char *text = strcmp(path, CONTENT_SELF "/exe") == 0 ? kernel->names.program_path : node->link;
    size_t length = strlen(text);
    if (length > bytes)
        return -ENAMETOOLONG;
    memcpy(out, text, length);
    return (int64_t)length;
}

/* ------------------------------------------------------------------ open */

static int64_t may_open(enum synthetic_kind kind, int flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    switch (kind) {
    case SYNTHETIC_NONE:
        return -ENOENT;
    case SYNTHETIC_LINK:
        return -ELOOP; /* only with O_NOFOLLOW */
    case SYNTHETIC_DIRECTORY:
        return writes || flags & O_CREAT ? -EISDIR : 0;
    case SYNTHETIC_FILE:
        if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
            return -EEXIST;
        if ((flags & O_DIRECTORY) == O_DIRECTORY)
            return -ENOTDIR;
        return writes ? -EACCES : 0;
    }
    return -ENOENT;
}

/* A read-only host descriptor with the content of now, or -errno. */
static int open_content(const struct syscalls *kernel, const struct content_node *node)
{
    char name[64];
    int file = memfd_create("c2emu", MFD_CLOEXEC);
    if (file < 0)
        return -1;
    if (node && node->write) {
        node->write(kernel, file);
    } else if (node && node->text && write(file, node->text, strlen(node->text)) < 0) {
        close(file);
        return -1;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    int host = open(name, O_RDONLY | O_CLOEXEC);
    int error = errno;
    close(file);
    errno = error;
    return host;
}

int64_t synthetic_open(struct call *c, const char *path, int flags)
{
    int64_t status = may_open(synthetic_kind(c->kernel, path), flags);
    if (status < 0)
        return status;
    char *name = c2_strdup(path);
    if (!name)
        return -ENOMEM;
    int64_t fd = fds_add(c->kernel, open_content(c->kernel, node_of(path)), FD_WAIT_NEVER, flags & O_CLOEXEC);
    if (fd < 0) {
        c2_free(name);
        return fd;
    }
    struct fd_entry *entry = fds_at(c->kernel, (uint64_t)fd);
    entry->kind = FD_SYNTHETIC;
    entry->path = name;
    return fd;
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

int64_t synthetic_stat(struct syscalls *kernel, const char *path, struct stat *out)
{
    static const mode_t modes[] = {
        [SYNTHETIC_FILE] = S_IFREG | 0444, [SYNTHETIC_DIRECTORY] = S_IFDIR | 0555, [SYNTHETIC_LINK] = S_IFLNK | 0777};
    enum synthetic_kind kind = synthetic_kind(kernel, path);
    bool own = below(path, CONTENT_SELF);
    if (kind == SYNTHETIC_NONE)
        return -ENOENT;
    *out = (struct stat){.st_dev = makedev(0, 4), .st_ino = inode_of(path), .st_mode = modes[kind]};
    out->st_nlink = kind == SYNTHETIC_DIRECTORY ? 2 : 1;
    out->st_uid = out->st_gid = own ? IDENTITY_USER : 0;
    out->st_blksize = 1024;
    out->st_atim.tv_sec = out->st_mtim.tv_sec = out->st_ctim.tv_sec = (time_t)kernel->start_seconds;
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
    return 0;
}

void synthetic_statfs(struct statfs *out)
{
    *out = (struct statfs){.f_type = 0x9fa0, .f_bsize = 4096, .f_namelen = 255, .f_frsize = 4096};
}

int64_t synthetic_access(struct syscalls *kernel, const char *path, int mode)
{
    switch (synthetic_kind(kernel, path)) {
    case SYNTHETIC_NONE:
        return -ENOENT;
    case SYNTHETIC_FILE:
        return mode & (W_OK | X_OK) ? -EACCES : 0;
    case SYNTHETIC_DIRECTORY:
        return mode & W_OK ? -EACCES : 0;
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ directory entries */

struct name {
    char text[NAME_MAX + 1];
};

/* The component of path that lies directly in dir; false if path is not below dir. */
static bool child_name(const char *path, const char *dir, struct name *out)
{
    size_t bytes = strlen(dir);
    if (!below(path, dir) || path[bytes] == '\0')
        return false;
    size_t length = strcspn(path + bytes + 1, "/");
    memcpy(out->text, path + bytes + 1, length);
    out->text[length] = '\0';
    return true;
}

static bool open_descriptor(struct syscalls *kernel, uint64_t index, struct name *out)
{
    for (uint64_t fd = 0; fd < FDS_MAX; fd++)
        if (fds_at(kernel, fd) && index-- == 0) {
            snprintf(out->text, sizeof out->text, "%llu", (unsigned long long)fd);
            return true;
        }
    return false;
}

/* The index-th name in a directory: ".", "..", then the nodes in the order of the table. */
static bool name_at(struct syscalls *kernel, const char *dir, uint64_t index, struct name *out)
{
    struct name last = {""};
    strcpy(out->text, index == 0 ? "." : "..");
    if (index < 2)
        return true;
    if (strcmp(dir, DESCRIPTORS) == 0)
        return open_descriptor(kernel, index - 2, out);
    for (size_t i = 0; i < content_node_count; i++) {
        if (!child_name(content_nodes[i].path, dir, out) || strcmp(out->text, last.text) == 0)
            continue;
        if (index-- == 2)
            return true;
        last = *out;
    }
    return false;
}

static uint8_t type_of(struct syscalls *kernel, const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    switch (synthetic_kind(kernel, path)) {
    case SYNTHETIC_FILE:
        return DT_REG;
    case SYNTHETIC_LINK:
        return DT_LNK;
    default:
        return DT_DIR; /* "." and ".." too */
    }
}

static size_t put_entry(struct syscalls *kernel, char *to, const char *dir, uint64_t index, const struct name *name)
{
    struct dirent64 *entry = (struct dirent64 *)to;
    size_t bytes = c2_align_up(offsetof(struct dirent64, d_name) + strlen(name->text) + 1, 8);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name->text);
    memset(to, 0, bytes);
    entry->d_ino = inode_of(path);
    entry->d_off = (off64_t)index + 1;
    entry->d_reclen = (unsigned short)bytes;
    entry->d_type = type_of(kernel, dir, name->text);
    strcpy(entry->d_name, name->text);
    return bytes;
}

int64_t synthetic_entries(struct call *c, int host, const char *path, void *to, size_t bytes)
{
    struct name name;
    size_t used = 0, largest = offsetof(struct dirent64, d_name) + NAME_MAX + 1 + 8;
    char entry[sizeof(struct dirent64) + 8] __attribute__((aligned(8)));
    int64_t index = lseek(host, 0, SEEK_CUR), status = 0;
    C2_ASSERT(largest <= sizeof entry);
    if (synthetic_kind(c->kernel, path) != SYNTHETIC_DIRECTORY)
        return -ENOTDIR;
    while (status == 0 && name_at(c->kernel, path, (uint64_t)index, &name)) {
        size_t part = put_entry(c->kernel, entry, path, (uint64_t)index, &name);
        if (used + part > bytes)
            break;
        status = guest_write(c, (uintptr_t)to + used, entry, part);
        used += part;
        index++;
    }
    lseek(host, index, SEEK_SET);
    if (status < 0)
        return status;
    return used == 0 && name_at(c->kernel, path, (uint64_t)index, &name) ? -EINVAL : (int64_t)used;
}
