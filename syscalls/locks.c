/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which of the host's file locks the guest holds itself.
 *
 * Model
 *   The host keeps the locks. The holder of one that is in the way stands in /proc/PID/fdinfo of the host's processes
 *   that the guest's are: a line for each lock that was taken by that open file description. A conflict is two owners,
 *   a byte in common, and a writer among them. Owners are the open file description (flock, F_OFD_SETLK) or the process
 *   (F_SETLK).
 *
 * Not modelled
 *   A lock whose only descriptor lies in a message that is not received yet counts as held outside.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/locks_priv.h"

static uint64_t locks_base_of(int host, int whence)
{
    struct stat st;
    if (whence == SEEK_CUR)
        return (uint64_t)lseek(host, 0, SEEK_CUR);
    return whence == SEEK_END && fstat(host, &st) == 0 ? (uint64_t)st.st_size : 0;
}

struct locks_range locks_range_of(int host, enum locks_kind kind, const struct flock *area)
{
    uint64_t start = locks_base_of(host, area->l_whence) + (uint64_t)area->l_start, length = (uint64_t)area->l_len;
    struct locks_range range = {.kind = kind, .writes = area->l_type == F_WRLCK, .start = start, .end = UINT64_MAX};
    if (area->l_len > 0)
        range.end = start + length - 1;
    if (area->l_len < 0) {
        range.start = start + length;
        range.end = start - 1;
    }
    return range;
}

/* A line like "lock:\t1: OFDLCK ADVISORY  WRITE -1 08:01:123 0 EOF". */
static bool locks_read_line(const char *line, struct locks_range *out)
{
    static const char *const kinds[] = {
        [LOCKS_FLOCK] = "FLOCK", [LOCKS_DESCRIPTION] = "OFDLCK", [LOCKS_POSIX] = "POSIX"};
    char kind[16], access[16], end[32];
    unsigned long long start;
    if (sscanf(line, "lock: %*d: %15s %*s %15s %*s %*s %llu %31s", kind, access, &start, end) != 4)
        return false;
    for (int i = 0; i < 3; i++)
        if (strcmp(kind, kinds[i]) == 0) {
            out->kind = (enum locks_kind)i;
            out->writes = strcmp(access, "WRITE") == 0;
            out->start = start;
            out->end = strcmp(end, "EOF") == 0 ? UINT64_MAX : strtoull(end, NULL, 10);
            return true;
        }
    return false;
}

static bool in_the_way(const struct locks_range *held, const struct locks_range *wanted, bool same_owner)
{
    const bool same_family = (held->kind == LOCKS_FLOCK) == (wanted->kind == LOCKS_FLOCK);
    return same_family && !(held->kind == wanted->kind && same_owner) && (held->writes || wanted->writes) &&
           held->start <= wanted->end && wanted->start <= held->end;
}

/* ------------------------------------------------------------------ holders */

/* The requester, and the request. */
struct asker {
    struct syscalls *kernel;
    const struct fd_entry *entry;
    struct stat file;
    const struct locks_range *wanted;
};

/* A descriptor of some process of the host. */
struct holder {
    pid_t host;
    int fd;
};

/* Where the host does not tell (--sandbox), descriptors of two processes count as of two descriptions. */
static bool same_description(const struct asker *asker, const struct holder *holder)
{
    if (holder->host != getpid())
        return syscall(SYS_kcmp, getpid(), holder->host, KCMP_FILE, asker->entry->host, holder->fd) == 0;
    for (uint64_t fd = 0; fd < asker->kernel->fds.end; fd++) {
        const struct fd_entry *entry = fds_at(asker->kernel, fd);
        if (entry && entry->host == holder->fd)
            return entry->description == asker->entry->description;
    }
    return false;
}

static bool same_owner(const struct asker *asker, const struct holder *holder, enum locks_kind kind)
{
    return kind == LOCKS_POSIX ? holder->host == getpid() : same_description(asker, holder);
}

static bool holds_in_the_way(const struct asker *asker, const struct holder *holder)
{
    char name[64], line[256];
    struct locks_range held;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%ld/fdinfo/%d", (long)holder->host, holder->fd);
    FILE *file = fopen(name, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = locks_read_line(line, &held) && in_the_way(&held, asker->wanted, same_owner(asker, holder, held.kind));
    if (file)
        fclose(file);
    return found;
}

static bool is_same_file(const struct asker *asker, const struct holder *holder)
{
    char name[64];
    struct stat st;
    snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)holder->host, holder->fd);
    return stat(name, &st) == 0 && st.st_dev == asker->file.st_dev && st.st_ino == asker->file.st_ino;
}

static bool process_holds(const struct asker *asker, pid_t host)
{
    char name[64];
    bool found = false;
    snprintf(name, sizeof name, "/proc/%ld/fd", (long)host);
    DIR *list = opendir(name);
    for (const struct dirent *entry; list && !found && (entry = readdir(list));) {
        const struct holder holder = {.host = host, .fd = atoi(entry->d_name)};
        found = entry->d_name[0] != '.' && is_same_file(asker, &holder) && holds_in_the_way(asker, &holder);
    }
    if (list)
        closedir(list);
    return found;
}

uint32_t locks_holder(struct syscalls *kernel, uint64_t guest_fd, const struct locks_range *wanted)
{
    struct asker asker = {.kernel = kernel, .entry = fds_at(kernel, guest_fd), .wanted = wanted};
    const struct process *list = kernel->processes->list;
    if (fstat(asker.entry->host, &asker.file) < 0)
        return 0;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state == PROCESS_RUNS && process_holds(&asker, list[i].host))
            return list[i].pid;
    return 0;
}
