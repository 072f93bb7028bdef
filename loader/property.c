/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a file says that it needs of the processor.
 *
 * Model
 *   Linkers write a note of properties, which a program header of its own names (PT_GNU_PROPERTY). One of the
 *   properties is the levels of the psABI that the file needs, a bit each; what it would use as well if it were there
 *   (ISA_1_USED) decides nothing. A note that is damaged, or as no linker writes it, says nothing.
 * Not modelled
 *   Notes of the libraries that a program is linked with: the dynamic linker looks at them and ends the program.
 *   Notes without a program header, as linkers before 2.32 wrote them.
 * Source
 *   x86-64 psABI, "Program Property"; Linux Extensions to gABI, "Program Property Note".
 */
#include <elf.h>
#include <string.h>

#include "loader/loader_priv.h"

enum { NOTE_BYTES = 4096 }; /* longer ones are none of a linker's */

/* Properties lie behind each other: type, bytes, the value, padded to 8 bytes. */
static uint32_t needed_of(const unsigned char *at, size_t left)
{
    enum { HEAD = 8 };
    while (left >= HEAD) {
        const uint32_t type = c2_get_u32(at), bytes = c2_get_u32(at + 4);
        const size_t whole = c2_align_up((uint64_t)HEAD + bytes, 8);
        if (bytes > left - HEAD)
            return 0;
        if (type == GNU_PROPERTY_X86_ISA_1_NEEDED)
            return bytes == sizeof(uint32_t) ? c2_get_u32(at + HEAD) : 0;
        if (whole >= left)
            return 0;
        at += whole;
        left -= whole;
    }
    return 0;
}

uint32_t loader_isa_needed(const struct loader_file *file, uint64_t offset, uint64_t bytes)
{
    static const char name[4] = "GNU";
    enum { HEAD = 12 + sizeof name };
    unsigned char note[NOTE_BYTES];
    if (bytes < HEAD || bytes > sizeof note || loader_file_read(file, offset, note, (size_t)bytes, NULL) != C2_OK)
        return 0;
    const uint32_t value_bytes = c2_get_u32(note + 4);
    if (c2_get_u32(note) != sizeof name || c2_get_u32(note + 8) != NT_GNU_PROPERTY_TYPE_0 ||
        value_bytes > bytes - HEAD || memcmp(note + 12, name, sizeof name) != 0)
        return 0;
    return needed_of(note + HEAD, value_bytes);
}

enum c2_status loader_needed_cpu(enum cpu_level *out, const struct loader_request *request, struct c2_error *err)
{
    struct loader_program program;
    struct loader_elf elf = {0};
    *out = CPU_V2;
    enum c2_status status = loader_program_open(&program, request, err);
    if (status == C2_OK)
        status = loader_elf_read(&elf, &program.file, err);
    if (elf.isa_needed & GNU_PROPERTY_X86_ISA_1_V4)
        *out = CPU_V4;
    else if (elf.isa_needed & GNU_PROPERTY_X86_ISA_1_V3)
        *out = CPU_V3;
    loader_elf_release(&elf);
    loader_program_close(&program);
    return status;
}
