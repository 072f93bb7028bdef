/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Test data builder: ELF files made to order. A test starts from a good program, spoils what it is about, and opens
 * the result as the loader sees it.
 *
 *       offset 0        ELF header, program headers (5 of them)
 *              0x300    the interpreter's name, if any
 *              0x1000   text, 0x80 bytes        mapped R-X at base + 0x1000
 *              0x2000   data, 0x123 bytes       mapped RW- at base + 0x2000, 0x3210 bytes in memory
 */
#ifndef LOADER_ELF_BUILD_H
#define LOADER_ELF_BUILD_H

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/loader_priv.h"

enum { BUILD_HEADERS, BUILD_TEXT, BUILD_DATA, BUILD_STACK, BUILD_INTERP, BUILD_PHDRS };

#define BUILD_BASE 0x400000u
#define BUILD_BYTES 0x2123u
#define BUILD_INTERP_OFFSET 0x300u

struct elf_build {
    Elf64_Ehdr header;
    Elf64_Phdr table[BUILD_PHDRS];
    char interpreter[0x100];
};

static inline Elf64_Phdr build_segment(unsigned flags, uint64_t offset, uint64_t address, uint64_t file_bytes,
                                       uint64_t bytes)
{
    return (Elf64_Phdr){.p_type = PT_LOAD,
                        .p_flags = flags,
                        .p_offset = offset,
                        .p_vaddr = address,
                        .p_paddr = address,
                        .p_filesz = file_bytes,
                        .p_memsz = bytes,
                        .p_align = 0x1000};
}

/* A good program, linked at 0x400000, static. */
static inline struct elf_build build_program(void)
{
    struct elf_build b = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_entry = BUILD_BASE + 0x1000,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = BUILD_PHDRS},
    };
    b.table[BUILD_HEADERS] = build_segment(PF_R, 0, BUILD_BASE, 0x400, 0x400);
    b.table[BUILD_TEXT] = build_segment(PF_R | PF_X, 0x1000, BUILD_BASE + 0x1000, 0x80, 0x80);
    b.table[BUILD_DATA] = build_segment(PF_R | PF_W, 0x2000, BUILD_BASE + 0x2000, 0x123, 0x3210);
    b.table[BUILD_STACK] = (Elf64_Phdr){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16};
    b.table[BUILD_INTERP] = (Elf64_Phdr){.p_type = PT_NULL};
    return b;
}

/* The same as position independent code, linked at 0. */
static inline struct elf_build build_pie(void)
{
    struct elf_build b = build_program();
    b.header.e_type = ET_DYN;
    b.header.e_entry = 0x1000;
    for (int i = 0; i <= BUILD_DATA; i++)
        b.table[i].p_vaddr -= BUILD_BASE;
    return b;
}

static inline void build_interpreter(struct elf_build *b, const char *path)
{
    strcpy(b->interpreter, path);
    b->table[BUILD_INTERP] = (Elf64_Phdr){.p_type = PT_INTERP,
                                          .p_flags = PF_R,
                                          .p_offset = BUILD_INTERP_OFFSET,
                                          .p_vaddr = BUILD_BASE + BUILD_INTERP_OFFSET,
                                          .p_filesz = strlen(path) + 1,
                                          .p_memsz = strlen(path) + 1,
                                          .p_align = 1};
}

/* All bytes of the file into out, which has BUILD_BYTES. Text is 0x90, data is 0xda. */
static inline void build_bytes(const struct elf_build *b, unsigned char *out)
{
    memset(out, 0, BUILD_BYTES);
    memset(out + 0x1000, 0x90, 0x80);
    memset(out + 0x2000, 0xda, 0x123);
    memcpy(out, &b->header, sizeof b->header);
    memcpy(out + sizeof b->header, b->table, sizeof b->table);
    memcpy(out + BUILD_INTERP_OFFSET, b->interpreter, sizeof b->interpreter);
}

/* A file in memory that holds these bytes; label as given. Close with loader_file_close. */
static inline struct loader_file build_file_of(const void *bytes, size_t count, const char *label)
{
    struct loader_file file = {.fd = memfd_create("elf", MFD_CLOEXEC), .bytes = count};
    if (file.fd < 0 || pwrite(file.fd, bytes, count, 0) != (ssize_t)count)
        abort();
    file.label = c2_strdup(label);
    file.real = c2_strdup(label);
    return file;
}

static inline struct loader_file build_file(const struct elf_build *b, const char *label)
{
    unsigned char bytes[BUILD_BYTES];
    build_bytes(b, bytes);
    return build_file_of(bytes, sizeof bytes, label);
}

/* A file on disk. */
static inline void build_write(const char *path, const void *bytes, size_t count, mode_t mode)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count || fchmod(fd, mode) != 0)
        abort();
    close(fd);
}

static inline void build_save(const struct elf_build *b, const char *path)
{
    unsigned char bytes[BUILD_BYTES];
    build_bytes(b, bytes);
    build_write(path, bytes, sizeof bytes, 0755);
}

#endif
