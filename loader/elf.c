/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The headers of an ELF file, checked, as plain data.
 *
 * Model
 *   Reads the file header and the program headers and nothing else: section headers play no part in running a
 *   program and may be absent or nonsense. libelf turns the file's form of a header into the host's; every number
 *   is then checked against the file's size, the page size and the guest's window before anyone computes with it.
 *   What the kernel ignores (e_version, e_flags, e_ehsize, OSABI) is ignored.
 * Invariants
 *   A description that was returned has at least one segment; segments ascend and do not overlap; address + bytes
 *   and offset + file_bytes do not overflow, the latter lies in the file; address and offset are congruent modulo
 *   the page size when there are bytes to map. No file, however hostile, leads elsewhere than to this or a message.
 * Decisions
 *   Two segments may share a page only if both show the same page of the file and the lower one has no bss: then
 *   mapping the upper one over it loses nothing. Kernels map such files with part of the lower segment gone.
 *   An entry point outside executable segments is refused here; a kernel would start it and kill it at once.
 * Not modelled
 *   32-bit programs, big-endian ones, other machines, more program headers than a kernel takes (64 KiB of them).
 * Source
 *   System V ABI, gABI chapters 4 and 5; AMD64 supplement.
 */
#include "loader/loader_priv.h"

#include <libelf.h>
#include <limits.h>
#include <string.h>

#define TABLE_BYTES_MAX 65536u

typedef unsigned long long ull;

/* ------------------------------------------------------------------ identity */

static const struct {
    uint16_t number;
    const char *name;
} machines[] = {
    {EM_SPARC, "SPARC"},
    {EM_386, "x86 (i386)"},
    {EM_68K, "Motorola 68000"},
    {EM_MIPS, "MIPS"},
    {EM_PARISC, "PA-RISC"},
    {EM_PPC, "PowerPC"},
    {EM_PPC64, "PowerPC64"},
    {EM_S390, "IBM S/390"},
    {EM_ARM, "ARM"},
    {EM_SH, "SuperH"},
    {EM_SPARCV9, "SPARC V9"},
    {EM_IA_64, "Itanium"},
    {EM_X86_64, "x86-64"},
    {EM_AVR, "AVR"},
    {EM_XTENSA, "Xtensa"},
    {EM_AARCH64, "AArch64"},
    {EM_MICROBLAZE, "MicroBlaze"},
    {EM_RISCV, "RISC-V"},
    {EM_BPF, "BPF"},
    {258, "LoongArch"},
    {EM_ALPHA, "Alpha"},
};

/* Files that people try to run and that are no ELF: the first bytes and what to call them. */
static const struct {
    const char *magic;
    size_t bytes;
    const char *name;
} strangers[] = {
    {"MZ", 2, "a Windows program"},
    {"\xcf\xfa\xed\xfe", 4, "a macOS program"},
    {"\xca\xfe\xba\xbe", 4, "a Java class or a macOS program"},
    {"!<arch>\n", 8, "a static library"},
    {"\x1f\x8b", 2, "a gzip archive"},
    {"PK\3\4", 4, "a zip archive"},
    {"BC\xc0\xde", 4, "LLVM bitcode"},
    {"\0asm", 4, "a WebAssembly module"},
};

static enum c2_status not_elf(const struct loader_file *file, const unsigned char *bytes, size_t count,
                              struct c2_error *err)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (count >= strangers[i].bytes && memcmp(bytes, strangers[i].magic, strangers[i].bytes) == 0)
            return c2_fail(err, C2_ERR_FORMAT, "%s: is %s, not a Linux ELF program", file->label, strangers[i].name);
    return c2_fail(err, C2_ERR_FORMAT,
                   "%s: is neither an ELF program nor a script with a #! line (a shell script: add #!/bin/sh as its "
                   "first line)",
                   file->label);
}

static const char *machine_name(uint16_t number, char buffer[32])
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].number == number)
            return machines[i].name;
    snprintf(buffer, 32, "machine number %u", number);
    return buffer;
}

/* e_machine, read by hand: the message about a big-endian or a 32-bit file names the machine too. */
static uint16_t raw_machine(const unsigned char *bytes)
{
    return bytes[EI_DATA] == ELFDATA2MSB ? (uint16_t)(bytes[18] << 8 | bytes[19])
                                         : (uint16_t)(bytes[19] << 8 | bytes[18]);
}

static enum c2_status check_identity(const struct loader_file *file, const unsigned char *bytes, struct c2_error *err)
{
    char number[32];
    uint16_t machine = raw_machine(bytes);
    const char *name = machine_name(machine, number);
    if (bytes[EI_CLASS] == ELFCLASS32)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s: is a 32-bit ELF file (%s); c2emu runs 64-bit x86-64 (gcc -m64)",
                       file->label, machine == EM_X86_64 ? "x86-64, x32 ABI" : name);
    if (bytes[EI_CLASS] != ELFCLASS64)
        return c2_fail(err, C2_ERR_FORMAT, "%s: ELF class %u is neither 32-bit nor 64-bit: the file is damaged",
                       file->label, bytes[EI_CLASS]);
    if (bytes[EI_DATA] == ELFDATA2MSB)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s: is a big-endian ELF file (%s); c2emu runs x86-64", file->label,
                       name);
    if (bytes[EI_DATA] != ELFDATA2LSB)
        return c2_fail(err, C2_ERR_FORMAT, "%s: ELF byte order %u is unknown: the file is damaged", file->label,
                       bytes[EI_DATA]);
    if (machine != EM_X86_64)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s: is a program for %s; c2emu runs x86-64", file->label, name);
    return C2_OK;
}

static enum c2_status elf_check_type(const struct loader_file *file, unsigned type, struct c2_error *err)
{
    switch (type) {
    case ET_EXEC:
    case ET_DYN:
        return C2_OK;
    case ET_REL:
        return c2_fail(err, C2_ERR_FORMAT, "%s: is an object file, not a program (link it first)", file->label);
    case ET_CORE:
        return c2_fail(err, C2_ERR_FORMAT, "%s: is a core dump, not a program", file->label);
    default:
        return c2_fail(err, C2_ERR_FORMAT, "%s: ELF type %u is neither a program nor a shared object", file->label,
                       type);
    }
}

/* ------------------------------------------------------------------ headers */

static enum c2_status read_header(Elf64_Ehdr *out, const struct loader_file *file, struct c2_error *err)
{
    unsigned char bytes[sizeof *out] = {0};
    size_t count = file->bytes < sizeof bytes ? (size_t)file->bytes : sizeof bytes;
    if (count == 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s: is an empty file", file->label);
    enum c2_status status = loader_file_read(file, 0, bytes, count, err);
    if (status != C2_OK)
        return status;
    if (count < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return not_elf(file, bytes, count, err);
    if (count < sizeof bytes)
        return c2_fail(err, C2_ERR_FORMAT, "%s: is cut off: %zu of the %zu bytes of the ELF header are there",
                       file->label, count, sizeof bytes);
    status = check_identity(file, bytes, err);
    if (status != C2_OK)
        return status;
    Elf_Data raw = {.d_buf = bytes, .d_size = sizeof bytes, .d_type = ELF_T_EHDR, .d_version = EV_CURRENT};
    Elf_Data host = {.d_buf = out, .d_size = sizeof *out, .d_version = EV_CURRENT};
    if (!elf64_xlatetom(&host, &raw, ELFDATA2LSB))
        return c2_fail(err, C2_ERR_FORMAT, "%s: ELF header: %s", file->label, elf_errmsg(-1));
    return elf_check_type(file, out->e_type, err);
}

static enum c2_status elf_check_table(const struct loader_file *file, const Elf64_Ehdr *header, struct c2_error *err)
{
    uint64_t bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr), end;
    if (header->e_phnum == 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s: has no program headers: nothing to load", file->label);
    if (header->e_phentsize != sizeof(Elf64_Phdr))
        return c2_fail(err, C2_ERR_FORMAT, "%s: its program headers have %u bytes each instead of %zu", file->label,
                       header->e_phentsize, sizeof(Elf64_Phdr));
    if (bytes > TABLE_BYTES_MAX)
        return c2_fail(err, C2_ERR_FORMAT, "%s: has too many program headers (%u, Linux takes at most %zu)",
                       file->label, header->e_phnum, TABLE_BYTES_MAX / sizeof(Elf64_Phdr));
    if (__builtin_add_overflow(header->e_phoff, bytes, &end) || end > file->bytes)
        return c2_fail(err, C2_ERR_FORMAT,
                       "%s: is cut off or damaged: its program headers lie at offset %llu (%llu bytes), the file has "
                       "%llu bytes",
                       file->label, (ull)header->e_phoff, (ull)bytes, (ull)file->bytes);
    return C2_OK;
}

static enum c2_status read_table(Elf64_Phdr **out, const struct loader_file *file, const Elf64_Ehdr *header,
                                 struct c2_error *err)
{
    size_t bytes = header->e_phnum * sizeof(Elf64_Phdr);
    *out = NULL;
    char *raw = c2_alloc(bytes);
    Elf64_Phdr *table = c2_alloc(bytes);
    enum c2_status status = raw && table ? loader_file_read(file, header->e_phoff, raw, bytes, err)
                                         : c2_fail_memory(err, "program headers");
    if (status == C2_OK) {
        Elf_Data from = {.d_buf = raw, .d_size = bytes, .d_type = ELF_T_PHDR, .d_version = EV_CURRENT};
        Elf_Data to = {.d_buf = table, .d_size = bytes, .d_version = EV_CURRENT};
        if (!elf64_xlatetom(&to, &from, ELFDATA2LSB))
            status = c2_fail(err, C2_ERR_FORMAT, "%s: program headers: %s", file->label, elf_errmsg(-1));
    }
    c2_free(raw);
    if (status == C2_OK)
        *out = table;
    else
        c2_free(table);
    return status;
}

/* ------------------------------------------------------------------ segments */

static enum c2_status check_segment(const struct loader_file *file, unsigned number, const Elf64_Phdr *p,
                                    struct c2_error *err)
{
    uint64_t end;
    if (p->p_filesz > p->p_memsz)
        return c2_fail(err, C2_ERR_FORMAT, "%s: segment %u is larger in the file (%llu bytes) than in memory (%llu)",
                       file->label, number, (ull)p->p_filesz, (ull)p->p_memsz);
    if (__builtin_add_overflow(p->p_vaddr, p->p_memsz, &end) || end > MMU_WINDOW_END)
        return c2_fail(err, C2_ERR_FORMAT,
                       "%s: segment %u (0x%llx, %llu bytes) ends outside the guest's address space, whose end is "
                       "0x%llx",
                       file->label, number, (ull)p->p_vaddr, (ull)p->p_memsz, MMU_WINDOW_END);
    if (p->p_filesz == 0)
        return C2_OK;
    if (__builtin_add_overflow(p->p_offset, p->p_filesz, &end) || end > file->bytes)
        return c2_fail(err, C2_ERR_FORMAT,
                       "%s: is cut off or damaged: segment %u lies at offset %llu (%llu bytes), the file has %llu "
                       "bytes",
                       file->label, number, (ull)p->p_offset, (ull)p->p_filesz, (ull)file->bytes);
    if ((p->p_vaddr - p->p_offset) % C2_PAGE_BYTES != 0)
        return c2_fail(err, C2_ERR_FORMAT,
                       "%s: segment %u cannot be mapped: address 0x%llx and offset 0x%llx differ modulo the page size",
                       file->label, number, (ull)p->p_vaddr, (ull)p->p_offset);
    return C2_OK;
}

static unsigned elf_prot_of(unsigned flags)
{
    return (flags & PF_R ? MMU_READ : 0u) | (flags & PF_W ? MMU_WRITE : 0u) | (flags & PF_X ? MMU_EXEC : 0u);
}

/* Keeps the segments in ascending order; files have them so, and a hostile one has few. */
static void insert_segment(struct loader_elf *elf, const Elf64_Phdr *p)
{
    size_t at = elf->count++;
    while (at > 0 && elf->segments[at - 1].address > p->p_vaddr) {
        elf->segments[at] = elf->segments[at - 1];
        at--;
    }
    elf->segments[at] = (struct loader_segment){
        .address = p->p_vaddr,
        .bytes = p->p_memsz,
        .offset = p->p_filesz ? p->p_offset : 0,
        .file_bytes = p->p_filesz,
        .prot = elf_prot_of(p->p_flags),
    };
}

static bool may_share_page(const struct loader_segment *low, const struct loader_segment *high)
{
    return low->file_bytes == low->bytes && high->file_bytes > 0 &&
           low->address - low->offset == high->address - high->offset;
}

static enum c2_status elf_check_overlap(const struct loader_elf *elf, const struct loader_file *file,
                                        struct c2_error *err)
{
    for (size_t i = 1; i < elf->count; i++) {
        const struct loader_segment *low = &elf->segments[i - 1], *high = &elf->segments[i];
        if (high->address < low->address + low->bytes)
            return c2_fail(err, C2_ERR_FORMAT, "%s: the segments at 0x%llx and 0x%llx overlap", file->label,
                           (ull)low->address, (ull)high->address);
        if (c2_align_down(high->address, C2_PAGE_BYTES) < c2_align_up(low->address + low->bytes, C2_PAGE_BYTES) &&
            !may_share_page(low, high))
            return c2_fail(err, C2_ERR_FORMAT,
                           "%s: the segments at 0x%llx and 0x%llx share a page that cannot hold both", file->label,
                           (ull)low->address, (ull)high->address);
    }
    return C2_OK;
}

static enum c2_status check_alignment(const struct loader_elf *elf, const struct loader_file *file,
                                      struct c2_error *err)
{
    if (elf->relocatable && elf->align > MMU_PIE_BASE)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "%s: asks for an alignment of 0x%llx, at most 0x%llx is modelled",
                       file->label, (ull)elf->align, MMU_PIE_BASE);
    return C2_OK;
}

static enum c2_status collect_segments(struct loader_elf *elf, const struct loader_file *file, const Elf64_Phdr *table,
                                       struct c2_error *err)
{
    elf->segments = c2_calloc(elf->phnum, sizeof *elf->segments);
    if (!elf->segments)
        return c2_fail_memory(err, "program headers");
    elf->align = C2_PAGE_BYTES;
    for (unsigned i = 0; i < elf->phnum; i++) {
        if (table[i].p_type != PT_LOAD || (table[i].p_memsz == 0 && table[i].p_filesz == 0))
            continue;
        enum c2_status status = check_segment(file, i, &table[i], err);
        if (status != C2_OK)
            return status;
        if (c2_is_power_of_two(table[i].p_align) && table[i].p_align > elf->align)
            elf->align = table[i].p_align;
        insert_segment(elf, &table[i]);
    }
    if (elf->count == 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s: has no loadable segment", file->label);
    const struct loader_segment *last = &elf->segments[elf->count - 1];
    elf->low = c2_align_down(elf->segments[0].address, C2_PAGE_BYTES);
    elf->high = c2_align_up(last->address + last->bytes, C2_PAGE_BYTES);
    enum c2_status status = elf_check_overlap(elf, file, err);
    return status == C2_OK ? check_alignment(elf, file, err) : status;
}

/* ------------------------------------------------------------------ the other program headers */

static enum c2_status elf_read_interpreter(struct loader_elf *elf, const struct loader_file *file, const Elf64_Phdr *p,
                                           struct c2_error *err)
{
    uint64_t end;
    if (p->p_filesz < 2 || p->p_filesz > PATH_MAX)
        return c2_fail(err, C2_ERR_FORMAT, "%s: the name of its interpreter has %llu bytes: the file is damaged",
                       file->label, (ull)p->p_filesz);
    if (__builtin_add_overflow(p->p_offset, p->p_filesz, &end) || end > file->bytes)
        return c2_fail(err, C2_ERR_FORMAT, "%s: is cut off or damaged: the name of its interpreter lies at offset %llu",
                       file->label, (ull)p->p_offset);
    elf->interpreter = c2_alloc(p->p_filesz);
    if (!elf->interpreter)
        return c2_fail_memory(err, "the interpreter's name");
    enum c2_status status = loader_file_read(file, p->p_offset, elf->interpreter, p->p_filesz, err);
    if (status == C2_OK && (elf->interpreter[p->p_filesz - 1] || !elf->interpreter[0]))
        status = c2_fail(err, C2_ERR_FORMAT, "%s: the name of its interpreter is no text: the file is damaged",
                         file->label);
    return status;
}

static bool segments_hold(const struct loader_elf *elf, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        if (address >= s->address && bytes <= s->file_bytes && address - s->address <= s->file_bytes - bytes)
            return true;
    }
    return false;
}

/* Where the program headers are in memory: where PT_PHDR says, if that is true, or where a segment shows them. */
static void elf_find_table(struct loader_elf *elf, const Elf64_Ehdr *header, const Elf64_Phdr *table)
{
    uint64_t bytes = (uint64_t)elf->phnum * sizeof *table;
    for (unsigned i = 0; i < elf->phnum && !elf->phdr_loaded; i++)
        if (table[i].p_type == PT_PHDR && segments_hold(elf, table[i].p_vaddr, bytes)) {
            elf->phdr = table[i].p_vaddr;
            elf->phdr_loaded = true;
        }
    for (size_t i = 0; i < elf->count && !elf->phdr_loaded; i++) {
        const struct loader_segment *s = &elf->segments[i];
        if (header->e_phoff >= s->offset && bytes <= s->file_bytes &&
            header->e_phoff - s->offset <= s->file_bytes - bytes) {
            elf->phdr = s->address + (header->e_phoff - s->offset);
            elf->phdr_loaded = true;
        }
    }
}

/* The first PT_INTERP counts, the last PT_GNU_STACK: as in the kernel. */
static enum c2_status collect_rest(struct loader_elf *elf, const struct loader_file *file, const Elf64_Ehdr *header,
                                   const Elf64_Phdr *table, struct c2_error *err)
{
    for (unsigned i = 0; i < elf->phnum; i++) {
        if (table[i].p_type == PT_GNU_STACK)
            elf->exec_stack = table[i].p_flags & PF_X;
        if (table[i].p_type == PT_GNU_PROPERTY)
            elf->isa_needed = loader_isa_needed(file, table[i].p_offset, table[i].p_filesz);
        if (table[i].p_type != PT_INTERP || elf->interpreter)
            continue;
        enum c2_status status = elf_read_interpreter(elf, file, &table[i], err);
        if (status != C2_OK)
            return status;
    }
    elf_find_table(elf, header, table);
    return C2_OK;
}

enum c2_status loader_elf_read(struct loader_elf *out, const struct loader_file *file, struct c2_error *err)
{
    Elf64_Ehdr header;
    Elf64_Phdr *table = NULL;
    *out = (struct loader_elf){0};
    if (elf_version(EV_CURRENT) == EV_NONE)
        return c2_fail(err, C2_ERR_INTERNAL, "libelf: %s", elf_errmsg(-1));
    enum c2_status status = read_header(&header, file, err);
    if (status == C2_OK)
        status = elf_check_table(file, &header, err);
    if (status == C2_OK)
        status = read_table(&table, file, &header, err);
    if (status == C2_OK) {
        out->relocatable = header.e_type == ET_DYN;
        out->entry = header.e_entry;
        out->phnum = header.e_phnum;
        status = collect_segments(out, file, table, err);
    }
    if (status == C2_OK)
        status = collect_rest(out, file, &header, table, err);
    c2_free(table);
    if (status != C2_OK)
        loader_elf_release(out);
    return status;
}

void loader_elf_release(struct loader_elf *elf)
{
    c2_free(elf->interpreter);
    c2_free(elf->segments);
    *elf = (struct loader_elf){0};
}

/* ------------------------------------------------------------------ questions about a description */

enum c2_status loader_elf_check_entry(const struct loader_elf *elf, const struct loader_file *file,
                                      struct c2_error *err)
{
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        if ((s->prot & MMU_EXEC) && elf->entry >= s->address && elf->entry - s->address < s->bytes)
            return C2_OK;
    }
    return c2_fail(err, C2_ERR_FORMAT, "%s: its entry point 0x%llx lies in no executable segment%s", file->label,
                   (ull)elf->entry, elf->relocatable ? " (a shared library is not a program)" : "");
}

static enum c2_status check_span(const struct loader_file *file, uint64_t start, uint64_t end, struct c2_error *err)
{
    static const struct {
        uint64_t start, end;
        const char *what;
    } kept[] = {
        {0, MMU_WINDOW_START, "the lowest addresses, which are never mapped"},
        {MMU_TABLES_BASE, MMU_TABLES_END, "c2emu's page tables"},
        {LOADER_STACK_LOW, MMU_STACK_TOP, "the stack"},
        {MMU_WINDOW_END, UINT64_MAX, "the end of the guest's address space"},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (start < kept[i].end && end > kept[i].start)
            return c2_fail(err, C2_ERR_UNSUPPORTED,
                           "%s: a segment at 0x%llx-0x%llx overlaps %s (0x%llx-0x%llx): relink the program at its "
                           "default address or as PIE",
                           file->label, (ull)start, (ull)end, kept[i].what, (ull)kept[i].start, (ull)kept[i].end);
    return C2_OK;
}

enum c2_status loader_elf_check_place(const struct loader_elf *elf, const struct loader_file *file, uint64_t bias,
                                      struct c2_error *err)
{
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        uint64_t start = c2_align_down(s->address, C2_PAGE_BYTES);
        uint64_t bytes = c2_align_up(s->address + s->bytes, C2_PAGE_BYTES) - start;
        enum c2_status status = check_span(file, start + bias, start + bias + bytes, err);
        if (status != C2_OK)
            return status;
    }
    return C2_OK;
}

bool loader_segment_shows(const struct loader_segment *segment, uint64_t offset)
{
    uint64_t first = c2_align_down(segment->offset, C2_PAGE_BYTES);
    uint64_t end = c2_align_up(segment->offset + segment->file_bytes, C2_PAGE_BYTES);
    return segment->file_bytes > 0 && offset >= first && offset < end;
}

bool loader_elf_address(const struct loader_elf *elf, uint64_t offset, bool code, uint64_t *address)
{
    const struct loader_segment *best = NULL;
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        if (!loader_segment_shows(s, offset))
            continue;
        bool right = !!(s->prot & MMU_EXEC) == code;
        if (!best || (right && !!(best->prot & MMU_EXEC) != code))
            best = s;
    }
    if (!best)
        return false;
    *address = best->address - best->offset + offset;
    return true;
}

bool loader_elf_holds(const struct loader_elf *elf, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        if (start >= s->address && start - s->address < s->bytes)
            return end - s->address <= s->bytes;
    }
    return false;
}
