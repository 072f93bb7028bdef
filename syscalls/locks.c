/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which of the host's file locks the guest holds itself.
 *
 * Model
 *   The host keeps the locks. Who holds one that is in the way stands in /proc/self/fdinfo of the guest's descriptors:
 *   a line for each lock that was taken by that open file description. A conflict is two owners, a byte in common, and
 *   a writer among them. Owners are the open file description (flock, F_OFD_SETLK) or the process (F_SETLK).
 *
 * Not modelled
 *   Cycles with other processes: the host tells those of F_SETLKW (EDEADLK), as on Linux.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/locks_priv.h"

static uint64_t base_of(int host, int whence)
{
    struct stat st;
    if (whence == SEEK_CUR)
        return (uint64_t)lseek(host, 0, SEEK_CUR);
    return whence == SEEK_END && fstat(host, &st) == 0 ? (uint64_t)st.st_size : 0;
}

struct locks_range locks_range_of(int host, enum locks_kind kind, const struct flock *area)
{
    uint64_t start = base_of(host, area->l_whence) + (uint64_t)area->l_start, length = (uint64_t)area->l_len;
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
static bool read_line(const char *line, struct locks_range *out)
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

static bool in_the_way(const struct locks_range *held, const struct locks_range *wanted, bool same_description)
{
    bool same_owner = held->kind == wanted->kind && (held->kind == LOCKS_POSIX || same_description);
    bool same_family = (held->kind == LOCKS_FLOCK) == (wanted->kind == LOCKS_FLOCK);
    return same_family && !same_owner && (held->writes || wanted->writes) && held->start <= wanted->end &&
           wanted->start <= held->end;
}

static bool holds_in_the_way(const struct fd_entry *entry, const struct locks_range *wanted, bool same_description)
{
    char name[64], line[256];
    struct locks_range held;
    bool found = false;
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", entry->host);
    FILE *file = fopen(name, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = read_line(line, &held) && in_the_way(&held, wanted, same_description);
    if (file)
        fclose(file);
    return found;
}

bool locks_held_by_itself(struct syscalls *kernel, uint64_t guest_fd, const struct locks_range *wanted)
{
    const struct fd_entry *asker = fds_at(kernel, guest_fd);
    struct stat file, st;
    if (fstat(asker->host, &file) < 0)
        return false;
    for (uint64_t fd = 0; fd < FDS_MAX; fd++) {
        const struct fd_entry *entry = fds_at(kernel, fd);
        if (!entry || fstat(entry->host, &st) < 0 || st.st_dev != file.st_dev || st.st_ino != file.st_ino)
            continue;
        if (holds_in_the_way(entry, wanted, entry->description == asker->description))
            return true;
    }
    return false;
}
