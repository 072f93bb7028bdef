/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The code of an ELF file on disk, by its linked addresses.
 */
#include "loader/loader_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loader_code {
    struct loader_file file;
    struct loader_elf elf;
};

enum c2_status loader_code_open(struct loader_code **out, const char *path, struct c2_error *err)
{
    *out = NULL;
    struct loader_code *code = c2_calloc(1, sizeof *code);
    if (!code)
        return c2_fail_memory(err, "a file's code");
    struct stat st;
    code->file.fd = open(path, O_RDONLY | O_CLOEXEC);
    code->file.label = c2_strdup(path);
    enum c2_status status = C2_OK;
    if (!code->file.label)
        status = c2_fail_memory(err, "a path");
    else if (code->file.fd < 0 || fstat(code->file.fd, &st) != 0)
        status = c2_fail(err, C2_ERR_NOT_FOUND, "%s: cannot be opened: %s", path, strerror(errno));
    if (status == C2_OK) {
        code->file.bytes = (uint64_t)st.st_size;
        status = loader_elf_read(&code->elf, &code->file, err);
    }
    if (status == C2_OK)
        *out = code;
    else
        loader_code_close(code);
    return status;
}

size_t loader_code_read(const struct loader_code *code, uint64_t address, uint8_t *out, size_t bytes)
{
    for (size_t i = 0; i < code->elf.count; i++) {
        const struct loader_segment *segment = &code->elf.segments[i];
        if (!(segment->prot & MMU_EXEC) || address < segment->address ||
            address - segment->address >= segment->file_bytes)
            continue;
        const uint64_t into = address - segment->address, left = segment->file_bytes - into;
        const size_t count = left < bytes ? (size_t)left : bytes;
        return loader_file_read(&code->file, segment->offset + into, out, count, NULL) == C2_OK ? count : 0;
    }
    return 0;
}

void loader_code_close(struct loader_code *code)
{
    if (!code)
        return;
    loader_elf_release(&code->elf);
    loader_file_close(&code->file);
    c2_free(code);
}
