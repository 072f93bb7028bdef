/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Translations lie in memory without a name that is mapped twice: no address is ever writable and executable. It is
 *   shared between the two, and so would be with a process that forks: where one is about to, a copy is made, which is
 *   the child's, at the same two addresses. So all that was translated, and all that has its addresses, stays good on
 *   both sides, and neither sees what the other one adds.
 * Not modelled
 *   More than one cache in a process: the newest one is copied.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/native_priv.h"

static struct native_cache *copied; /* at a fork */
static int copy_fd = -1;

/* -1: there is none, and errno says why. */
static int make_file(void)
{
    const int fd = memfd_create("translations", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)NATIVE_CACHE_BYTES) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void before_fork(void)
{
    size_t done = 0;
    copy_fd = copied ? make_file() : -1;
    while (copy_fd >= 0 && done < copied->used) {
        const ssize_t wrote = pwrite(copy_fd, copied->written + done, copied->used - done, (off_t)done);
        if (wrote <= 0) {
            close(copy_fd);
            copy_fd = -1;
            break;
        }
        done += (size_t)wrote;
    }
}

static void in_parent(void)
{
    if (copy_fd >= 0)
        close(copy_fd);
    copy_fd = -1;
}

/* A child without its copy must not execute, nor change, what its parent has. */
static void in_child(void)
{
    if (!copied)
        return;
    const int flags = MAP_SHARED | MAP_FIXED;
    const int none = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    const bool good = copy_fd >= 0 &&
                      mmap(copied->written, NATIVE_CACHE_BYTES, PROT_READ | PROT_WRITE, flags, copy_fd, 0) !=
                          MAP_FAILED &&
                      mmap(copied->executed, NATIVE_CACHE_BYTES, PROT_READ | PROT_EXEC, flags, copy_fd, 0) !=
                          MAP_FAILED;
    close(copied->fd);
    copied->fd = copy_fd;
    copy_fd = -1;
    if (good)
        return;
    mmap(copied->written, NATIVE_CACHE_BYTES, PROT_NONE, none, -1, 0);
    mmap(copied->executed, NATIVE_CACHE_BYTES, PROT_NONE, none, -1, 0);
    copied->used = 0;
}

static int watch_forks(void)
{
    static bool watched;
    const int error = watched ? 0 : pthread_atfork(before_fork, in_parent, in_child);
    watched = watched || error == 0;
    return error;
}

static void *map(int fd, int prot)
{
    void *at = mmap(NULL, NATIVE_CACHE_BYTES, prot, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

enum c2_status native_cache_create(struct native_cache *cache, struct c2_error *err)
{
    *cache = (struct native_cache){.fd = make_file(), .used = NATIVE_PART_BYTES};
    if (cache->fd >= 0) {
        cache->written = map(cache->fd, PROT_READ | PROT_WRITE);
        cache->executed = map(cache->fd, PROT_READ | PROT_EXEC);
    }
    const int error = cache->written && cache->executed ? watch_forks() : errno;
    if (error) {
        native_cache_release(cache);
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "the host refuses the native engine memory for translations, executable at one address and "
                       "writable at another (%s): use --engine unicorn",
                       strerror(error));
    }
    copied = cache;
    return C2_OK;
}

void native_cache_release(struct native_cache *cache)
{
    if (copied == cache)
        copied = NULL;
    if (cache->written)
        munmap(cache->written, NATIVE_CACHE_BYTES);
    if (cache->executed)
        munmap(cache->executed, NATIVE_CACHE_BYTES);
    if (cache->fd >= 0)
        close(cache->fd);
    *cache = (struct native_cache){.fd = -1};
}
