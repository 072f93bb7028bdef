/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A /dev/shm of the run's own, where libraries keep POSIX shared memory and semaphores.
 *
 * Model
 *   Random numbers of a guest are the same in every run, and so are names made of them: two runs at a time would take
 *   each other's objects. So names that the guest makes in /dev/shm lie in a directory of the run's own below the
 *   host's, which all its processes find and the first one removes at its end. What is in the host's under a name is
 *   that: programs find their inputs, and what others offer them.
 *   A run that ended by force leaves its directory behind. The next one that makes its own removes those whose process
 *   is not there and that nobody has locked.
 *
 * Invariants
 *   A name means the same to all processes of the run, and its first component decides where it lies.
 *
 * Not modelled
 *   A listing of /dev/shm shows the run's own names alone. A guest that starts there, or is confined, has the host's.
 */
#include "syscalls/shm_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/kernel_priv.h"

#define SHM "/dev/shm"
#define PREFIX "c2emu-"
enum { TREE_DESCRIPTORS = 16 };

static bool lies_in_shm(const char *path)
{
    const size_t bytes = strlen(SHM);
    return strncmp(path, SHM, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/');
}

void shm_create(struct syscalls *kernel)
{
    char here[PATH_MAX], base[PATH_MAX];
    uint64_t number = 0;
    kernel->shm = (struct shm){.lock = -1};
    c2_root_set_own("");
    if (kernel->sandbox.roots || !realpath(c2_root_start(), here) || lies_in_shm(here))
        return;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return;
    snprintf(base, sizeof base, SHM "/" PREFIX "%d-%016llx", (int)getpid(), (unsigned long long)number);
    c2_root_set_own(base);
    kernel->shm.owner = getpid();
}

/* ------------------------------------------------------------------ directories of runs */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path) < 0 && errno != ENOENT;
}

static void remove_tree(const char *base) { (void)nftw(base, remove_one, TREE_DESCRIPTORS, FTW_DEPTH | FTW_PHYS); }

static void remove_if_left(const char *name)
{
    char base[PATH_MAX];
    int pid;
    if (sscanf(name, PREFIX "%d-", &pid) != 1 || kill(pid, 0) == 0 || errno != ESRCH)
        return;
    snprintf(base, sizeof base, SHM "/%s", name);
    const int lock = open(base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0)
        return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0)
        remove_tree(base);
    close(lock);
}

static void remove_all_left(void)
{
    DIR *all = opendir(SHM);
    const struct dirent *entry;
    while (all && (entry = readdir(all)))
        remove_if_left(entry->d_name);
    if (all)
        closedir(all);
}

/* One process makes it; the others find it. */
static bool make_own(struct shm *shm)
{
    static const char *const parts[] = {"", "/dev", SHM};
    char path[PATH_MAX];
    bool made = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && made; i++) {
        snprintf(path, sizeof path, "%s%s", c2_root_own(), parts[i]);
        made = mkdir(path, 0700) == 0 || errno == EEXIST;
    }
    shm->lock = made ? fds_keep(open(c2_root_own(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : -1;
    return shm->lock >= 0 && flock(shm->lock, LOCK_SH | LOCK_NB) == 0;
}

static bool has_own(struct shm *shm)
{
    if (shm->owner == 0 || shm->made)
        return shm->owner != 0;
    shm->made = true;
    if (getpid() == shm->owner)
        remove_all_left();
    if (!make_own(shm)) { /* as where the host has no /dev/shm */
        if (getpid() == shm->owner)
            remove_tree(c2_root_own());
        shm->owner = 0;
    }
    return shm->owner != 0;
}

/* ------------------------------------------------------------------ names */

bool shm_covers(const struct syscalls *kernel, const char *path) { return kernel->shm.owner != 0 && lies_in_shm(path); }

static bool is_at(const char *base, const char *name, size_t bytes)
{
    char path[PATH_MAX + PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s" SHM "/%.*s", base, (int)bytes, name);
    return lstat(path, &st) == 0;
}

bool shm_is_own(struct syscalls *kernel, const char *path)
{
    if (!shm_covers(kernel, path) || !has_own(&kernel->shm))
        return false;
    const char *name = path + strlen(SHM) + strspn(path + strlen(SHM), "/");
    const size_t bytes = strcspn(name, "/");
    return bytes == 0 || is_at(c2_root_own(), name, bytes) || !is_at(c2_root_path(), name, bytes);
}

bool shm_is_top(const char *host) { return c2_root_is_own(host) && strcmp(c2_root_inside(host), SHM) == 0; }

/* ------------------------------------------------------------------ the end */

/* The first name there, and how many there are. */
static unsigned count_files(char first[NAME_MAX + 1])
{
    char path[PATH_MAX];
    unsigned count = 0;
    snprintf(path, sizeof path, "%s" SHM, c2_root_own());
    DIR *all = c2_root_own()[0] ? opendir(path) : NULL;
    const struct dirent *entry;
    while (all && (entry = readdir(all))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (count == 0 || strcmp(entry->d_name, first) < 0)
            snprintf(first, NAME_MAX + 1, "%s", entry->d_name);
        count++;
    }
    if (all)
        closedir(all);
    return count;
}

bool shm_has_files(void)
{
    char first[NAME_MAX + 1];
    return count_files(first) > 0;
}

void shm_destroy(struct syscalls *kernel)
{
    char first[NAME_MAX + 1];
    if (kernel->shm.lock >= 0)
        close(kernel->shm.lock);
    if (kernel->shm.owner != getpid())
        return;
    const unsigned count = count_files(first);
    if (count > 0 && kernel->complaints)
        fprintf(kernel->complaints, "%sthe program has left %u name%s in its /dev/shm, which ends with the run: %s%s\n",
                kernel->complaint_prefix, count, count == 1 ? "" : "s", first, count == 1 ? "" : ", ...");
    remove_tree(c2_root_own());
    c2_root_set_own("");
    kernel->shm = (struct shm){.lock = -1};
}
