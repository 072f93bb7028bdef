/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inode numbers of directories.
 *
 * Model
 *   The host's number of a directory, like its size, its blocks and its links, depends on what else was made in the
 *   file system and beside the run's own files, and no program reads it for what it means. So a directory gets a number
 *   when the run sees it for the first time, and keeps it, whatever it is called then. Processes of the run share the
 *   list; each finds in it by an index of its own, which it brings up to date when it looks for one.
 *
 * Invariants
 *   A directory has one number in all processes, and no other one has it, nor a file of the usual file systems.
 *
 * Not modelled
 *   Behind a million directories, numbers are the host's. One that rename(2) has taken the place of may lend its
 *   number to one that is made later.
 */
#include "syscalls/directories_priv.h"

#include <sys/mman.h>

#include "checkpoint/checkpoint.h"

enum { MOST = 1 << 20 };

/* In the order in which they were seen. Changed by the process that has the turn. */
struct shared {
    uint32_t count;
    struct known {
        uint64_t device, inode; /* both 0: it has been removed */
    } list[MOST];
};

struct directories {
    struct shared *shared;
    struct c2_map *index; /* a key of device and inode, or one behind it -> the place in the list */
    uint32_t seen;        /* of the list, by this process */
};

enum c2_status directories_create(struct directories **out, struct c2_error *err)
{
    struct directories *directories = *out = c2_calloc(1, sizeof *directories);
    if (!directories)
        return c2_fail_memory(err, "the guest's directories");
    void *at = mmap(NULL, sizeof *directories->shared, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return c2_fail_memory(err, "the guest's directories");
    directories->shared = at;
    return c2_map_create(&directories->index, err);
}

void directories_destroy(struct directories *directories)
{
    if (!directories)
        return;
    if (directories->shared)
        munmap(directories->shared, sizeof *directories->shared);
    c2_map_destroy(directories->index);
    c2_free(directories);
}

/* ------------------------------------------------------------------ the index */

/* SplitMix64's last step (Vigna): keys of neighbours lie far apart. */
static uint64_t directories_key_of(uint64_t device, uint64_t inode)
{
    uint64_t key = inode + device * 0x9e3779b97f4a7c15ull;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
    return key ^ key >> 27;
}

/* The place of a directory, or, if it is not known, the key that is free for it. */
static bool directories_find(const struct directories *directories, uint64_t device, uint64_t inode, uint64_t *at,
                             uint64_t *key)
{
    for (*key = directories_key_of(device, inode); c2_map_get(directories->index, *key, at); ++*key) {
        const struct known *known = &directories->shared->list[*at];
        if (known->device == device && known->inode == inode)
            return true;
    }
    return false;
}

static bool directories_learn(struct directories *directories)
{
    struct c2_error err;
    for (; directories->seen < directories->shared->count; directories->seen++) {
        const struct known *known = &directories->shared->list[directories->seen];
        uint64_t at, key;
        if ((known->device == 0 && known->inode == 0) ||
            directories_find(directories, known->device, known->inode, &at, &key))
            continue;
        if (c2_map_put(directories->index, key, directories->seen, &err) != C2_OK)
            return false;
    }
    return true;
}

uint64_t directories_number(struct directories *directories, uint64_t device, uint64_t inode)
{
    struct shared *shared = directories->shared;
    uint64_t at, key;
    if (!directories_learn(directories))
        return 0;
    if (directories_find(directories, device, inode, &at, &key))
        return DIRECTORIES_FIRST + at;
    if (shared->count == MOST)
        return inode;
    shared->list[shared->count++] = (struct known){device, inode};
    return directories_learn(directories) ? DIRECTORIES_FIRST + shared->count - 1 : 0;
}

void directories_forget(struct directories *directories, uint64_t device, uint64_t inode)
{
    uint64_t at, key;
    if (directories_learn(directories) && directories_find(directories, device, inode, &at, &key))
        directories->shared->list[at] = (struct known){0, 0};
}

/* ------------------------------------------------------------------ checkpoints */

void directories_checkpoint(struct directories *directories, struct checkpoint *c)
{
    struct shared *shared = directories->shared;
    CHECKPOINT_NUMBER(c, shared->count, MOST);
    for (uint32_t i = 0; i < shared->count && checkpoint_status(c, NULL) == C2_OK; i++) {
        checkpoint_number(c, &shared->list[i].device, CHECKPOINT_ANY);
        checkpoint_number(c, &shared->list[i].inode, CHECKPOINT_ANY);
    }
}
