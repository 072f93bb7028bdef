/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * unpack: compressed debug sections, several at a time.
 *
 * Model
 *   Debug files come compressed, and libdw unpacks all sections of one when it is opened, one after the other: of
 *   Debian's libc 10 MB, in 40 ms, which is more than the rest of a short program's report costs. Here threads unpack
 *   them, the largest first, from unpack_begin() on; unpack_end() waits, and hands what they have made to libelf as if
 *   the file had it so. libdeflate takes a section whole, at 2.5 times the speed of zlib. All that a file unpacks to
 *   lies in one piece of memory, of large pages where the host gives them: most of 2,700 first touches less, of libc's.
 *   What cannot be unpacked here - damaged, of another kind, no memory - stays as it is, and libdw judges it.
 *   Lists of places of variables, a sixth of libc's, are unpacked when one is asked for, which few reports do. They
 *   have their room before; where they turn out to be damaged it stays zero: a list that is empty.
 * Invariants
 *   Threads touch nothing of libelf's and nothing of the caller's but their sections. Between begin and end the Elf
 *   must not be asked for these.
 * Source
 *   gABI, "Section compression"; RFC 1950: no section is more than 1032 times as large as its packed form.
 */
#include <libdeflate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/symbols_priv.h"

enum { THREADS = 2, MOST_RATIO = 1032, HEADER64 = sizeof(Elf64_Chdr), HEADER32 = sizeof(Elf32_Chdr) };
enum { LARGE_PAGE = 2 << 20, ALIGNED = 64 };

struct packed {
    Elf_Scn *section;
    Elf_Data *raw, *data; /* libelf's two views of it, with the header of compression; both last as long as the Elf */
    const unsigned char *from;
    size_t from_bytes, bytes;
    unsigned char *to;  /* room for it, in the memory of all */
    unsigned char *out; /* that, unpacked; NULL: it could not be */
    bool places;        /* lists of places */
};

struct loader_unpack {
    struct packed *sections; /* those with places last, and largest first */
    uint32_t count, room;
    uint32_t at_once;      /* those without places */
    unsigned char *memory; /* mapped_bytes, of all sections; NULL: none */
    size_t mapped_bytes;
    _Atomic uint32_t next;
    pthread_t threads[THREADS - 1];
    unsigned thread_count;
    bool over;   /* the threads have ended, and libelf has the sections */
    bool placed; /* those with places are unpacked, too */
};

/* ------------------------------------------------------------------ the work */

/* All of it, and nothing behind. */
static bool inflate_whole(const struct packed *packed, unsigned char *out, struct libdeflate_decompressor *by)
{
    size_t read;
    return libdeflate_zlib_decompress_ex(by, packed->from, packed->from_bytes, out, packed->bytes, &read, NULL) ==
               LIBDEFLATE_SUCCESS &&
           read == packed->from_bytes;
}

static void unpack_section(struct packed *packed, struct libdeflate_decompressor *by)
{
    if (inflate_whole(packed, packed->to, by))
        packed->out = packed->to;
}

static void *unpack_some(void *self)
{
    struct loader_unpack *unpack = self;
    struct libdeflate_decompressor *by = libdeflate_alloc_decompressor();
    uint32_t mine;
    while (by && (mine = atomic_fetch_add(&unpack->next, 1)) < unpack->at_once)
        unpack_section(&unpack->sections[mine], by);
    if (by)
        libdeflate_free_decompressor(by);
    return NULL;
}

/* ------------------------------------------------------------------ what is to be done */

/* A section of debug information that is packed, as sections may be. */
static bool is_packed_debug(const char *name, const GElf_Shdr *header)
{
    return name && strncmp(name, ".debug_", strlen(".debug_")) == 0 && (header->sh_flags & SHF_COMPRESSED) &&
           !(header->sh_flags & SHF_ALLOC) && header->sh_type != SHT_NULL && header->sh_type != SHT_NOBITS;
}

static bool unpack_describe(struct packed *out, Elf *elf, Elf_Scn *section)
{
    GElf_Chdr header;
    const size_t header_bytes = gelf_getclass(elf) == ELFCLASS64 ? HEADER64 : HEADER32;
    if (!gelf_getchdr(section, &header) || header.ch_type != ELFCOMPRESS_ZLIB ||
        (header.ch_addralign & (header.ch_addralign - 1)))
        return false;
    *out = (struct packed){.section = section, .bytes = header.ch_size};
    out->raw = elf_rawdata(section, NULL);
    out->data = elf_getdata(section, NULL);
    if (!out->raw || !out->data || !out->raw->d_buf || out->raw->d_size <= header_bytes || header.ch_size == 0 ||
        header.ch_size / MOST_RATIO > out->raw->d_size)
        return false;
    out->from = (const unsigned char *)out->raw->d_buf + header_bytes;
    out->from_bytes = out->raw->d_size - header_bytes;
    return true;
}

static bool has_places(const char *name)
{
    return SHORTCUT(strcmp(name, ".debug_loclists") == 0 || strcmp(name, ".debug_loc") == 0);
}

static bool add_section(struct loader_unpack *unpack, Elf *elf, Elf_Scn *section, bool places)
{
    struct packed packed;
    if (!unpack_describe(&packed, elf, section))
        return true;
    packed.places = places;
    unpack->at_once += !places;
    if (!c2_grow((void **)&unpack->sections, &unpack->room, unpack->count, sizeof *unpack->sections))
        return false;
    unpack->sections[unpack->count++] = packed;
    return true;
}

static int largest_first(const void *left, const void *right)
{
    const struct packed *a = left, *b = right;
    return a->places != b->places ? (a->places ? 1 : -1) : (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static bool find_sections(struct loader_unpack *unpack, Elf *elf)
{
    size_t names;
    GElf_Shdr header;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return true;
    while ((section = elf_nextscn(elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (is_packed_debug(name, &header) && !add_section(unpack, elf, section, has_places(name)))
            return false;
    }
    if (unpack->count != 0)
        qsort(unpack->sections, unpack->count, sizeof *unpack->sections, largest_first);
    return true;
}

/* A place for each section, from a boundary of large pages on. False: there is no memory for all. */
static bool place_sections(struct loader_unpack *unpack)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < unpack->count; i++)
        if (__builtin_add_overflow(bytes, unpack->sections[i].bytes + ALIGNED - 1, &bytes))
            return false;
    if (bytes == 0)
        return true;
    if (bytes >= LARGE_PAGE / 4 && __builtin_add_overflow(bytes, LARGE_PAGE - 1, &bytes))
        return false;
    bytes = bytes >= LARGE_PAGE ? bytes & ~(size_t)(LARGE_PAGE - 1) : bytes; /* whole large pages */
    if (__builtin_add_overflow(bytes, LARGE_PAGE, &unpack->mapped_bytes))
        return false;
    void *memory = mmap(NULL, unpack->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    unpack->memory = memory;
    unsigned char *at = (unsigned char *)c2_align_up((uintptr_t)memory, LARGE_PAGE);
    madvise(at, bytes, MADV_HUGEPAGE); /* if there are none they are small ones */
    for (uint32_t i = 0; i < unpack->count; i++) {
        unpack->sections[i].to = at;
        at += c2_align_up(unpack->sections[i].bytes, ALIGNED);
    }
    return true;
}

struct loader_unpack *loader_unpack_begin(Elf *elf)
{
    struct loader_unpack *unpack = c2_calloc(1, sizeof *unpack);
    if (!unpack || !find_sections(unpack, elf) || !place_sections(unpack)) {
        loader_unpack_destroy(unpack);
        return NULL;
    }
    for (unsigned i = 0; i + 1 < THREADS && i + 1 < unpack->at_once; i++) {
        if (pthread_create(&unpack->threads[i], NULL, unpack_some, unpack) != 0)
            break;
        unpack->thread_count++;
    }
    return unpack;
}

/* ------------------------------------------------------------------ what is done */

/* From here on the section is one that was never packed. */
static void unpack_hand_over(const struct packed *packed)
{
    GElf_Shdr header;
    if (!packed->out || !gelf_getshdr(packed->section, &header))
        return;
    header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
    header.sh_size = packed->bytes;
    if (gelf_update_shdr(packed->section, &header) == 0)
        return;
    Elf_Data *const views[] = {packed->raw, packed->data};
    for (unsigned i = 0; i < sizeof views / sizeof *views; i++) {
        views[i]->d_buf = packed->out;
        views[i]->d_size = packed->bytes;
        views[i]->d_type = ELF_T_BYTE;
    }
}

static void wait_for_threads(struct loader_unpack *unpack)
{
    for (unsigned i = 0; i < unpack->thread_count; i++)
        pthread_join(unpack->threads[i], NULL);
    unpack->thread_count = 0;
}

void loader_unpack_end(struct loader_unpack *unpack)
{
    C2_ASSERT(!unpack->over);
    unpack_some(unpack);
    wait_for_threads(unpack);
    for (uint32_t i = 0; i < unpack->count; i++) {
        if (unpack->sections[i].places)
            unpack->sections[i].out = unpack->sections[i].to;
        unpack_hand_over(&unpack->sections[i]);
    }
    unpack->over = true;
}

void loader_unpack_places(struct loader_unpack *unpack)
{
    if (!unpack || !unpack->over || unpack->placed) /* not over: libdw reads another file */
        return;
    unpack->placed = true;
    struct libdeflate_decompressor *by = libdeflate_alloc_decompressor();
    for (uint32_t i = unpack->at_once; i < unpack->count; i++)
        if (!by || !inflate_whole(&unpack->sections[i], unpack->sections[i].to, by))
            memset(unpack->sections[i].to, 0, unpack->sections[i].bytes);
    if (by)
        libdeflate_free_decompressor(by);
}

void loader_unpack_destroy(struct loader_unpack *unpack)
{
    if (!unpack)
        return;
    atomic_store(&unpack->next, unpack->count);
    wait_for_threads(unpack);
    if (unpack->memory)
        munmap(unpack->memory, unpack->mapped_bytes);
    c2_free(unpack->sections);
    c2_free(unpack);
}
