/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Separate debug files.
 *
 * Model
 *   A stripped file may say which debug file was made from it, in two ways: by its build-id, a digest, under
 *   root/.build-id/xx/yyyy.debug; or by .gnu_debuglink, a file name and a CRC, looked for beside the file, in .debug/
 *   beside it, and under root in the same directory.
 * Invariants
 *   A file is used only if it proves that it belongs: the same build-id, or the right CRC of all its bytes.
 *   Only local files are opened: what a report says must not depend on a server.
 * Source
 *   "Debugging Information in Separate Files" in the GDB manual; CRC-32 of ISO 3309.
 */
#include "loader/symbols_priv.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ the CRC */

uint32_t loader_crc32(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

static bool file_has_crc(int fd, uint32_t expected)
{
    char buffer[16384];
    uint32_t crc = 0;
    off_t offset = 0;
    ssize_t got;
    while ((got = pread(fd, buffer, sizeof buffer, offset)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        crc = loader_crc32(crc, buffer, (size_t)got);
        offset += got;
    }
    return got == 0 && crc == expected;
}

/* ------------------------------------------------------------------ opening */

/* Opens the path and frees it; NULL gives -1. */
static int open_regular(char *path)
{
    struct stat st;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    c2_free(path);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool file_has_id(int fd, const unsigned char *id, size_t bytes)
{
    const void *found;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    ssize_t length = elf ? dwelf_elf_gnu_build_id(elf, &found) : -1;
    bool same = length == (ssize_t)bytes && memcmp(found, id, bytes) == 0;
    elf_end(elf);
    return same;
}

static int open_by_id(Elf *elf, const char *root)
{
    const void *note;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &note);
    const unsigned char *id = note;
    char text[2 * 64 + 1];
    if (bytes < 2 || bytes > 64)
        return -1;
    for (ssize_t i = 1; i < bytes; i++)
        snprintf(text + 2 * (i - 1), 3, "%02x", id[i]);
    int fd = open_regular(c2_format("%s/.build-id/%02x/%s.debug", root, id[0], text));
    if (fd >= 0 && !file_has_id(fd, id, (size_t)bytes)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int open_by_link(Elf *elf, const char *path, const char *root)
{
    GElf_Word crc;
    const char *name = dwelf_elf_gnu_debuglink(elf, &crc), *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 0;
    if (!name || !slash || strchr(name, '/'))
        return -1;
    for (int place = 0; place < 3; place++) {
        char *candidate = c2_format("%s%.*s/%s%s", place == 2 ? root : "", length, path, place == 1 ? ".debug/" : "",
                                    name);
        int fd = open_regular(candidate);
        if (fd >= 0 && file_has_crc(fd, crc))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

int loader_debugfile_open(Elf *elf, const char *path, const char *root, bool *packaged)
{
    int fd = open_by_id(elf, root);
    *packaged = fd >= 0;
    return fd >= 0 ? fd : open_by_link(elf, path, root);
}
