/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inodes of the host that the run keeps something of.
 *
 * Model
 *   A list in memory that all processes of the run share, in the order in which the inodes were added. Each process
 *   finds in it by an index of its own, which it brings up to date when it looks for one.
 *
 * Invariants
 *   An inode has one place in all processes. No place is given twice.
 */
#include "syscalls/inodes_priv.h"

#include <sys/mman.h>

#include "checkpoint/checkpoint.h"

/* Changed by the process that has the turn. */
struct shared {
    uint32_t count;
    struct known {
        uint64_t device, inode; /* both 0: it is forgotten */
    } list[INODES_MOST];
    uint8_t besides[] __attribute__((aligned(16)));
};

struct inodes {
    struct shared *shared;
    struct c2_map *index; /* a key of device and inode, or one behind it -> the place in the list */
    uint32_t seen;        /* of the list, by this process */
    size_t bytes;         /* that each inode has besides */
};

static size_t size_of_list(const struct inodes *inodes) { return sizeof *inodes->shared + INODES_MOST * inodes->bytes; }

enum c2_status inodes_create(struct inodes **out, size_t bytes, const char *what, struct c2_error *err)
{
    struct inodes *inodes = *out = c2_calloc(1, sizeof *inodes);
    if (!inodes)
        return c2_fail_memory(err, what);
    inodes->bytes = bytes;
    void *at = mmap(NULL, size_of_list(inodes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0);
    if (at == MAP_FAILED)
        return c2_fail_memory(err, what);
    inodes->shared = at;
    return c2_map_create(&inodes->index, err);
}

void inodes_destroy(struct inodes *inodes)
{
    if (!inodes)
        return;
    if (inodes->shared)
        munmap(inodes->shared, size_of_list(inodes));
    c2_map_destroy(inodes->index);
    c2_free(inodes);
}

void *inodes_at(const struct inodes *inodes, uint32_t at) { return inodes->shared->besides + at * inodes->bytes; }

uint32_t inodes_count(const struct inodes *inodes) { return inodes->shared->count; }

bool inodes_are_all(const struct inodes *inodes) { return inodes->shared->count == INODES_MOST; }

/* ------------------------------------------------------------------ the index */

/* SplitMix64's last step (Vigna): keys of neighbours lie far apart. */
static uint64_t inodes_key_of(uint64_t device, uint64_t inode)
{
    uint64_t key = inode + device * 0x9e3779b97f4a7c15ull;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
    return key ^ key >> 27;
}

/* The place of an inode, or, if it is not known, the key that is free for it. */
static bool inodes_look(const struct inodes *inodes, uint64_t device, uint64_t inode, uint64_t *at, uint64_t *key)
{
    for (*key = inodes_key_of(device, inode); c2_map_get(inodes->index, *key, at); ++*key) {
        const struct known *known = &inodes->shared->list[*at];
        if (known->device == device && known->inode == inode)
            return true;
    }
    return false;
}

static bool inodes_learn(struct inodes *inodes)
{
    struct c2_error err;
    for (; inodes->seen < inodes->shared->count; inodes->seen++) {
        const struct known *known = &inodes->shared->list[inodes->seen];
        uint64_t at, key;
        if ((known->device == 0 && known->inode == 0) || inodes_look(inodes, known->device, known->inode, &at, &key))
            continue;
        if (c2_map_put(inodes->index, key, inodes->seen, &err) != C2_OK)
            return false;
    }
    return true;
}

uint32_t inodes_find(struct inodes *inodes, uint64_t device, uint64_t inode)
{
    uint64_t at, key;
    return inodes_learn(inodes) && inodes_look(inodes, device, inode, &at, &key) ? (uint32_t)at : INODES_NONE;
}

uint32_t inodes_add(struct inodes *inodes, uint64_t device, uint64_t inode)
{
    struct shared *shared = inodes->shared;
    uint64_t at, key;
    if (!inodes_learn(inodes))
        return INODES_NONE;
    if (inodes_look(inodes, device, inode, &at, &key))
        return (uint32_t)at;
    if (inodes_are_all(inodes))
        return INODES_NONE;
    shared->list[shared->count++] = (struct known){device, inode};
    return inodes_learn(inodes) ? shared->count - 1 : INODES_NONE;
}

void inodes_forget(struct inodes *inodes, uint64_t device, uint64_t inode)
{
    const uint32_t at = inodes_find(inodes, device, inode);
    if (at != INODES_NONE)
        inodes->shared->list[at] = (struct known){0, 0};
}

/* ------------------------------------------------------------------ checkpoints */

void inodes_checkpoint(struct inodes *inodes, struct checkpoint *c)
{
    struct shared *shared = inodes->shared;
    CHECKPOINT_NUMBER(c, shared->count, INODES_MOST);
    for (uint32_t i = 0; i < shared->count && checkpoint_status(c, NULL) == C2_OK; i++) {
        checkpoint_number(c, &shared->list[i].device, CHECKPOINT_ANY);
        checkpoint_number(c, &shared->list[i].inode, CHECKPOINT_ANY);
    }
}
