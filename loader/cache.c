/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The dynamic linker's cache of libraries, /etc/ld.so.cache: read.
 *
 * Model
 *   The table of the newer form, alone in the file or behind that of the older one: names of libraries, and the path
 *   of each. Entries for x86-64 count, without those of directories for certain processors (glibc-hwcaps).
 * Invariants
 *   Every text that is given lies in the file's bytes with its end. A damaged file is one without entries.
 * Source
 *   glibc, sysdeps/generic/dl-cache.h (the form only).
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/root.h"
#include "loader/libraries_priv.h"

#define CACHE_PATH "/etc/ld.so.cache"
#define CACHE_BYTES_MAX (64u << 20)
enum { MAGIC_BYTES = 20, ELF_LIBC6_X86_64 = 0x0303 };
static const char magic[] = "glibc-ld.so.cache1.1";

struct header {
    char magic[MAGIC_BYTES];
    uint32_t count, string_bytes;
    uint8_t flags, padding[3];
    uint32_t extension, unused[3];
};
struct entry {
    int32_t flags;
    uint32_t name, path; /* from the header on */
    uint32_t os_version;
    uint64_t hwcap;
};
_Static_assert(sizeof(struct header) == 48 && sizeof(struct entry) == 24, "as in the file");

struct loader_cache {
    char *bytes; /* of the file, and a NUL; NULL: none */
    size_t start, size;
    uint32_t count;
};

static size_t read_whole(char **out, int fd)
{
    struct stat st;
    size_t got = 0;
    *out = NULL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > CACHE_BYTES_MAX)
        return 0;
    char *bytes = c2_alloc((size_t)st.st_size + 1);
    for (ssize_t n; bytes && got < (size_t)st.st_size; got += (size_t)n)
        if ((n = pread(fd, bytes + got, (size_t)st.st_size - got, (off_t)got)) <= 0)
            break;
    if (bytes)
        bytes[got] = '\0';
    *out = bytes;
    return got;
}

/* The table of the newer form; behind an older one it is aligned. */
static void cache_find_table(struct loader_cache *cache)
{
    struct header header;
    const char *at = memmem(cache->bytes, cache->size, magic, MAGIC_BYTES);
    if (!at || (at - cache->bytes) % 8 != 0 || cache->size - (size_t)(at - cache->bytes) < sizeof header)
        return;
    memcpy(&header, at, sizeof header);
    cache->start = (size_t)(at - cache->bytes);
    if (header.count <= (cache->size - cache->start - sizeof header) / sizeof(struct entry))
        cache->count = header.count;
}

enum c2_status loader_cache_take(struct loader_cache **out, char *bytes, size_t size, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    if (!*out) {
        c2_free(bytes);
        return c2_fail_memory(err, "the cache of libraries");
    }
    (*out)->bytes = bytes;
    (*out)->size = size;
    if (bytes)
        cache_find_table(*out);
    return C2_OK;
}

enum c2_status loader_cache_open(struct loader_cache **out, struct c2_error *err)
{
    char host[PATH_MAX], *bytes = NULL;
    size_t size = 0;
    const int fd = c2_root_find(CACHE_PATH, host) == 0 ? open(host, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd >= 0) {
        size = read_whole(&bytes, fd);
        close(fd);
    }
    return loader_cache_take(out, bytes, size, err);
}

void loader_cache_close(struct loader_cache *cache)
{
    if (!cache)
        return;
    c2_free(cache->bytes);
    c2_free(cache);
}

/* NULL: it leads out of the file. */
static const char *text_at(const struct loader_cache *cache, uint32_t offset)
{
    return offset < cache->size - cache->start ? cache->bytes + cache->start + offset : NULL;
}

/* Entry i, if it is for the guest's processor. */
static bool cache_get(const struct loader_cache *cache, uint32_t i, struct entry *entry, const char **name,
                      const char **path)
{
    memcpy(entry, cache->bytes + cache->start + sizeof(struct header) + i * sizeof *entry, sizeof *entry);
    *name = text_at(cache, entry->name);
    *path = text_at(cache, entry->path);
    return entry->flags == ELF_LIBC6_X86_64 && entry->hwcap == 0 && *name && *path;
}

bool loader_cache_each(const struct loader_cache *cache, bool (*is)(const void *self, const char *path),
                       const void *self)
{
    const char *name, *path;
    struct entry entry;
    for (uint32_t i = 0; i < cache->count; i++) {
        (void)cache_get(cache, i, &entry, &name, &path);
        if (entry.flags == ELF_LIBC6_X86_64 && path && !is(self, path))
            return false;
    }
    return true;
}

const char *loader_cache_find(const struct loader_cache *cache, const char *name)
{
    const char *known, *path;
    struct entry entry;
    for (uint32_t i = 0; i < cache->count; i++)
        if (cache_get(cache, i, &entry, &known, &path) && strcmp(known, name) == 0)
            return path;
    return NULL;
}
