/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a guest path leads: to a file of the host, or to one that c2emu makes up.
 */
#ifndef C2_SYSCALLS_PATHS_PRIV_H
#define C2_SYSCALLS_PATHS_PRIV_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "syscalls/call_priv.h"

struct paths_place {
    bool synthetic; /* then `text` is its canonical path */
    int dirfd;      /* otherwise: what to give to the host's *at() calls */
    const char *path;
    char text[PATH_MAX];     /* canonical: the host's path, or the guest's of a synthetic file */
    char last[NAME_MAX + 2]; /* with --root: what `path` is */
};

/* Walks `path` from the guest's directory descriptor (AT_FDCWD: its working directory), following symbolic links as the
 * kernel would, the last one only with `follow`. 0 or -errno; a path the host has no file for is no error here. */
int64_t paths_find(struct call *c, struct paths_place *out, uint64_t dirfd, const char *path, bool follow);

/* The same, but for what RESOLVE_* of openat2(2) forbid. */
int64_t paths_resolve(struct call *c, struct paths_place *out, uint64_t dirfd, const char *path, bool follow,
                      uint64_t resolve);
/* What the guest calls the directory of a descriptor of the host's, "" for the root: 0 or -errno. */
int64_t paths_name(int host, char out[PATH_MAX]);
/* Of the path in an argument of the call, which may be "" with AT_EMPTY_PATH: then it is the descriptor itself, and
 * out->path is "". The last link is followed but with AT_SYMLINK_NOFOLLOW. */
int64_t paths_find_argument(struct call *c, struct paths_place *out, uint64_t dirfd, int argument, int flags);

/* /dev/random, /dev/urandom. */
bool paths_is_random(const struct stat *st);
/* For sockets with a path: makes the file (out NULL: and removes it again), or finds it; *out says which it is. 0 or
 * what bind and connect say. */
int64_t paths_make_socket(struct call *c, const char *path, struct stat *out);
int64_t paths_find_socket(struct call *c, const char *path, struct stat *out);

/* ------------------------------------------------------------------ synthetic.c: /proc, /sys, /dev/pts */
enum synthetic_kind { SYNTHETIC_NONE, SYNTHETIC_FILE, SYNTHETIC_DIRECTORY, SYNTHETIC_LINK, SYNTHETIC_DEVICE };
/* Whether a canonical path lies where nothing of the host is shown. */
bool synthetic_covers(const struct syscalls *kernel, const char *path);
enum synthetic_kind synthetic_kind(struct syscalls *kernel, const char *path);
/* The text of a link into out; its length or -errno. */
int64_t synthetic_link(struct syscalls *kernel, const char *path, char *out, size_t bytes);
/* /proc/PID/fd/N of the process itself: the guest descriptor, or -1. */
int64_t synthetic_fd(struct syscalls *kernel, const char *path);
/* Opens a file or directory; returns the guest descriptor or -errno. */
int64_t synthetic_open(struct call *c, const char *path, int flags);
/* The host's descriptor behind one of a directory there, or -1 and errno. */
int synthetic_open_directory(int flags);
int64_t synthetic_stat(struct syscalls *kernel, const char *path, struct stat *out);
int64_t synthetic_statx(struct syscalls *kernel, const char *path, struct statx *out);
void synthetic_statfs(struct statfs *out);
int64_t synthetic_access(struct syscalls *kernel, const char *path, int mode);
struct fd_entry;
struct iovec;
/* Whether it is open for writing: a setting of content.c. Then writes are synthetic_set's, each buffer one of its own,
 * as Linux has it; of one alone (not `many`) also if it is empty. The position stays. */
bool synthetic_is_setting(const struct fd_entry *entry);
int64_t synthetic_set(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count, bool many);
/* getdents64 of an open synthetic directory: bytes written or -errno. */
int64_t synthetic_entries(struct call *c, int host, const char *path, void *to, size_t bytes);

/* ------------------------------------------------------------------ presence.c */
bool presence_is(const struct syscalls *kernel, const struct fd_entry *entry); /* of the process itself */
/* offset below 0: at the file's position, which moves. */
int64_t presence_read(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count, int64_t offset);

/* ------------------------------------------------------------------ content.c: what stands in them */
/* The owner of the file: a process, or a thread's of it; of others the process itself. */
struct content_of {
    const struct syscalls *kernel;
    const struct process *process;
    const struct process_view *view;
    const struct process_thread *thread; /* the first one's in files of the process */
    bool is_thread;                      /* /proc/PID/task/TID */
    uint32_t processor, cache;           /* of topology.c's files */
};
struct content_node {
    const char *path; /* canonical; of a process: its name there, of others behind them: "/..." */
    const char *link; /* text of a symbolic link, or */
    const char *text; /* fixed content, or */
    void (*write)(const struct content_of *of, int to); /* content of now; or it is a directory */
};
/* In the order of directory listings: nodes of one directory stand together. */
struct content_nodes {
    const struct content_node *node;
    size_t count;
};
/* In /proc/PID and /proc/PID/task/TID: OWN is not readable of other processes. */
struct content_process_node {
    struct content_node is;
    enum content_where { CONTENT_ANY, CONTENT_OWN, CONTENT_TASK, CONTENT_PROCESS } where;
    /* What a write of the guest does: the bytes it takes, or -errno. NULL: there is nothing to write. */
    int64_t (*set)(struct call *c, const struct content_of *of, uint64_t text, uint64_t bytes);
};
extern const struct content_nodes content_nodes;
extern const struct content_process_node content_process_nodes[];
extern const size_t content_process_node_count;
void content_put(int to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void content_write_processors(const struct content_of *of, int to); /* a list of all: "0", or "0-3" */

/* ------------------------------------------------------------------ topology.c: processors and their caches */
#define TOPOLOGY_PROCESSORS "/sys/devices/system/cpu"
/* Whether the path is that of a processor (cpuN), or leads below it: the nodes there, and what follows. */
bool topology_find(struct content_of *of, struct content_nodes *nodes, const char *path, const char **rest);

#endif
