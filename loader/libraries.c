/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The files that a program is linked with, before it runs.
 *
 * Model
 *   The program, its interpreter, and the libraries that their DT_NEEDED name, in turn, each once, in the order of the
 *   dynamic linker: breadth first. A name is looked for as glibc does it: DT_RPATH of the file and of those that have
 *   brought it in (where the file has no DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH, /etc/ld.so.cache, the usual
 *   directories. A name that was met, or is the soname of a file that was met, is that file.
 *   The world is closed when all were found and none of them calls for more: for libraries by name (dlopen) or for
 *   other programs (execve and those that lead there). The C library and runtimes of compilers have such calls for
 *   others, or for files of their own; these are known here.
 * Not modelled
 *   $LIB and $PLATFORM in paths, LD_PRELOAD, LD_AUDIT, programs without section headers: the world is open then.
 *   Directories of glibc-hwcaps: what lies there has the names of what lies beside them.
 * Source
 *   ld.so(8); gABI chapter 5, "Shared Object Dependencies".
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "loader/libraries_priv.h"
#include "loader/symbols_priv.h"

#define NOBODY UINT32_MAX

struct library {
    const char *name;                     /* DT_NEEDED; of the program its path */
    const char *inside;                   /* its path as the guest has it, links not resolved */
    const char *host;                     /* and where the host has it */
    const char *soname, *rpath, *runpath; /* NULL: none */
    uint32_t parent;                      /* the file that needs it; NOBODY: the program */
    bool usual;                           /* found in the cache, or in the usual directories */
};

struct loader_libraries {
    struct library *list; /* the program first */
    uint32_t count, room;
    unsigned about;                 /* LOADER_CALLS, LOADER_LEAKS */
    bool closed, whole, calls_more; /* whole: all were found; calls_more: for libraries */
    bool looks_for_leaks;           /* the program has a leak sanitizer of its own */
    enum loader_threading threading;
    const char *path; /* LD_LIBRARY_PATH; NULL: not set */
    struct loader_cache *cache;
    struct c2_pool pool;
};

/* glibc's on Debian, then those of others. */
static const char usual_directories[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:"
                                        "/usr/lib";

/* What calls of these may bring in is not in the list. */
static const char *const calls_for_libraries[] = {"dlopen", "dlmopen"};
static const char *const calls_for_programs[] = {"execve",
                                                 "execv",
                                                 "execvp",
                                                 "execvpe",
                                                 "execl",
                                                 "execlp",
                                                 "execle",
                                                 "fexecve",
                                                 "execveat",
                                                 "system",
                                                 "popen",
                                                 "posix_spawn",
                                                 "posix_spawnp",
                                                 "wordexp",
                                                 "syscall",
                                                 "_gfortran_system",
                                                 "_gfortran_system_sub",
                                                 "_gfortran_execute_command_line_i4",
                                                 "_gfortran_execute_command_line_i8"};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* How many processors there are; and parallel regions of OpenMP, as compilers make them. */
static const char *const asks_processors[] = {"sched_getaffinity", "pthread_getaffinity_np", "get_nprocs",
                                              "get_nprocs_conf", "_ZNSt6thread20hardware_concurrencyEv"};
static const char *const openmp_calls[] = {"GOMP_parallel", "__kmpc_fork_call"};

/* Files whose own calls are known: for what another one asks for by name, or for parts of theirs. */
static bool is_runtime(const char *name)
{
    static const char *const runtimes[] = {"libc.so.6",        "ld-linux-x86-64.so.2", "libgomp.so.1",
                                           "libgfortran.so.5", "libpthread.so.0",      "libdl.so.2"};
    for (size_t i = 0; i < COUNT(runtimes); i++)
        if (strcmp(name, runtimes[i]) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ what a file says of itself */

/* Asked of every symbol: most differ in the first letters. */
static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        if (name[0] == names[i][0] && strncmp(name, names[i], length) == 0 && length == loader_symbol_length(name))
            return true;
    }
    return false;
}

static void note_call(struct loader_libraries *libraries, const char *name)
{
    const bool more = is_one_of(name, calls_for_libraries, COUNT(calls_for_libraries));
    libraries->calls_more |= more;
    if (more || is_one_of(name, calls_for_programs, COUNT(calls_for_programs)))
        libraries->closed = false;
}

/* What the C library has by itself is in every static program. */
static void note_threading(struct loader_libraries *libraries, const char *name, bool defined)
{
    if (is_one_of(name, openmp_calls, COUNT(openmp_calls)))
        libraries->threading = LOADER_OPENMP;
    else if (!defined && libraries->threading == LOADER_PLAIN &&
             is_one_of(name, asks_processors, COUNT(asks_processors)))
        libraries->threading = LOADER_ASKS_PROCESSORS;
}

/* Names in a symbol table; of a program also what it defines: a static one has its own. */
static void read_calls(struct loader_libraries *libraries, bool program, Elf *elf, Elf_Scn *section,
                       const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && header->sh_entsize != 0 ? data->d_size / header->sh_entsize : 0;
    GElf_Sym symbol;
    for (size_t i = 1; i < count && gelf_getsym(data, (int)i, &symbol); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name && (program || symbol.st_shndx == SHN_UNDEF))
            note_call(libraries, name);
        if (name && program)
            note_threading(libraries, name, symbol.st_shndx != SHN_UNDEF);
    }
}

static char *libraries_keep(struct loader_libraries *libraries, const char *text, size_t bytes)
{
    return c2_pool_format(&libraries->pool, "%.*s", (int)bytes, text);
}

/* A name for which no file is in the list so far is added to it without one. */
static enum c2_status libraries_add_needed(struct loader_libraries *libraries, uint32_t parent, const char *name,
                                           struct c2_error *err)
{
    for (uint32_t i = 0; i < libraries->count; i++) {
        const struct library *known = &libraries->list[i];
        if (strcmp(known->name, name) == 0 || (known->soname && strcmp(known->soname, name) == 0))
            return C2_OK;
    }
    char *kept = libraries_keep(libraries, name, strlen(name));
    if (!kept || !c2_grow((void **)&libraries->list, &libraries->room, libraries->count, sizeof *libraries->list))
        return c2_fail_memory(err, "the program's libraries");
    libraries->list[libraries->count++] = (struct library){.name = kept, .parent = parent};
    return C2_OK;
}

static void libraries_read_entry(struct loader_libraries *libraries, uint32_t number, const GElf_Dyn *entry,
                                 const char *text)
{
    struct library *library = &libraries->list[number];
    const char **to = entry->d_tag == DT_SONAME    ? &library->soname
                      : entry->d_tag == DT_RPATH   ? &library->rpath
                      : entry->d_tag == DT_RUNPATH ? &library->runpath
                                                   : NULL;
    if (to && text)
        *to = libraries_keep(libraries, text, strlen(text));
}

static enum c2_status read_dynamic(struct loader_libraries *libraries, uint32_t number, Elf *elf, Elf_Scn *section,
                                   const GElf_Shdr *header, struct c2_error *err)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && header->sh_entsize != 0 ? data->d_size / header->sh_entsize : 0;
    enum c2_status status = C2_OK;
    GElf_Dyn entry;
    for (size_t i = 0; i < count && status == C2_OK && gelf_getdyn(data, (int)i, &entry); i++) {
        const char *text = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        if (entry.d_tag == DT_NEEDED && text)
            status = libraries_add_needed(libraries, number, text, err);
        else
            libraries_read_entry(libraries, number, &entry, text);
    }
    return status;
}

/* Whether the tables that calls are found in are there. */
static enum c2_status read_sections(struct loader_libraries *libraries, uint32_t number, Elf *elf, int fd, bool *told,
                                    struct c2_error *err)
{
    const bool runtime = number != 0 && is_runtime(libraries->list[number].name);
    const bool calls = libraries->about & LOADER_CALLS && !runtime;
    const bool leaks = libraries->about & LOADER_LEAKS && number == 0;
    enum c2_status status = C2_OK;
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; status == C2_OK && (section = elf_nextscn(elf, section));) {
        if (!gelf_getshdr(section, &header))
            continue;
        const bool symbols = header.sh_type == SHT_DYNSYM || (number == 0 && header.sh_type == SHT_SYMTAB);
        *told |= symbols;
        if (symbols && calls)
            read_calls(libraries, number == 0, elf, section, &header);
        if (symbols && leaks && !libraries->looks_for_leaks)
            libraries->looks_for_leaks = loader_section_names(elf, fd, section, "__lsan_do_leak_check");
        if (header.sh_type == SHT_DYNAMIC)
            status = read_dynamic(libraries, number, elf, section, &header, err);
    }
    return status;
}

/* Its interpreter comes before its libraries, as in memory. */
static enum c2_status libraries_read_interpreter(struct loader_libraries *libraries, Elf *elf, struct c2_error *err)
{
    size_t count;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &count) != 0)
        return C2_OK;
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
        if (header.p_type != PT_INTERP || header.p_filesz == 0)
            continue;
        const Elf_Data *path = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
        const char *text = path ? path->d_buf : NULL;
        if (text && text[path->d_size - 1] == '\0')
            return libraries_add_needed(libraries, 0, text, err);
    }
    return C2_OK;
}

static enum c2_status read_library(struct loader_libraries *libraries, uint32_t number, struct c2_error *err)
{
    struct loader_file file = {.fd = open(libraries->list[number].host, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    Elf *elf = file.fd >= 0 ? elf_begin(file.fd, ELF_C_READ, NULL) : NULL;
    bool told = false;
    enum c2_status status = elf && number == 0 ? libraries_read_interpreter(libraries, elf, err) : C2_OK;
    if (elf && status == C2_OK)
        status = read_sections(libraries, number, elf, file.fd, &told, err);
    libraries->closed &= told;
    elf_end(elf);
    if (file.fd >= 0)
        close(file.fd);
    return status;
}

/* ------------------------------------------------------------------ where a name is found */

static bool libraries_is_library(const char *host)
{
    unsigned char head[20] = {0};
    const int fd = open(host, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const bool whole = fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head;
    if (fd >= 0)
        close(fd);
    return whole && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64 && head[18] == EM_X86_64;
}

/* inside: a path as the guest has it. */
static bool libraries_take(struct loader_libraries *libraries, struct library *library, const char *inside)
{
    char host[PATH_MAX];
    if (c2_root_find(inside, host) != 0 || !libraries_is_library(host))
        return false;
    library->inside = libraries_keep(libraries, inside, strlen(inside));
    library->host = libraries_keep(libraries, host, strlen(host));
    return library->inside && library->host;
}

/* A directory of a list, as the file at `of` means it. false: it has a word that is not modelled. */
static bool expand(char out[PATH_MAX], const char *directory, size_t bytes, const char *of)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    const char *slash = of ? strrchr(of, '/') : NULL;
    for (size_t i = 0; i < COUNT(origins); i++) {
        const size_t word = strlen(origins[i]);
        if (bytes < word || strncmp(directory, origins[i], word) != 0)
            continue;
        const int length = snprintf(out, PATH_MAX, "%.*s%.*s", slash ? (int)(slash - of) : 0, slash ? of : "",
                                    (int)(bytes - word), directory + word);
        return length < PATH_MAX && !strchr(out, '$');
    }
    const int length = snprintf(out, PATH_MAX, "%.*s", bytes == 0 ? 1 : (int)bytes, bytes == 0 ? "." : directory);
    return length < PATH_MAX && !strchr(out, '$');
}

/* Directories with a colon (LD_LIBRARY_PATH: or a semicolon) between them. */
static bool look_in(struct loader_libraries *libraries, struct library *library, const char *directories,
                    const char *of)
{
    char directory[PATH_MAX], path[PATH_MAX];
    for (const char *at = directories; at;) {
        const size_t bytes = strcspn(at, ":;");
        if (!expand(directory, at, bytes, of))
            libraries->closed = false;
        else if (snprintf(path, sizeof path, "%s/%s", directory, library->name) < (int)sizeof path &&
                 libraries_take(libraries, library, path))
            return true;
        at = at[bytes] != '\0' ? at + bytes + 1 : NULL;
    }
    return false;
}

static bool look_in_rpaths(struct loader_libraries *libraries, struct library *library)
{
    for (uint32_t i = library->parent; i != NOBODY; i = libraries->list[i].parent) {
        const struct library *of = &libraries->list[i];
        if (of->rpath && !of->runpath && look_in(libraries, library, of->rpath, of->inside))
            return true;
    }
    return false;
}

static bool look_in_cache(struct loader_libraries *libraries, struct library *library)
{
    const char *path = loader_cache_find(libraries->cache, library->name);
    return path && libraries_take(libraries, library, path);
}

/* Its entry in the list gets a file; false: it has none. */
static bool libraries_find_file(struct loader_libraries *libraries, uint32_t number)
{
    struct library library = libraries->list[number];
    const struct library *of = &libraries->list[library.parent];
    bool found = strchr(library.name, '/') ? libraries_take(libraries, &library, library.name)
                                           : (!of->runpath && look_in_rpaths(libraries, &library)) ||
                                                 look_in(libraries, &library, libraries->path, NULL) ||
                                                 look_in(libraries, &library, of->runpath, of->inside);
    if (!found && !strchr(library.name, '/')) {
        library.usual = true;
        found = look_in_cache(libraries, &library) || look_in(libraries, &library, usual_directories, NULL);
    }
    libraries->list[number] = library;
    return found;
}

/* ------------------------------------------------------------------ life */

static const char *libraries_variable(const char *const *envp, const char *name)
{
    for (; envp && *envp; envp++)
        if (strncmp(*envp, name, strlen(name)) == 0 && (*envp)[strlen(name)] == '=' &&
            (*envp)[strlen(name) + 1] != '\0')
            return *envp + strlen(name) + 1;
    return NULL;
}

static enum c2_status libraries_start(struct loader_libraries *libraries, const char *program, const char *const *envp,
                                      struct c2_error *err)
{
    const char *inside = c2_root_inside(program);
    libraries->whole = true;
    libraries->closed = !libraries_variable(envp, "LD_PRELOAD") && !libraries_variable(envp, "LD_AUDIT");
    libraries->path = libraries_variable(envp, "LD_LIBRARY_PATH");
    enum c2_status status = loader_cache_open(&libraries->cache, err);
    if (status == C2_OK)
        status = libraries_add_needed(libraries, NOBODY, inside ? inside : program, err);
    if (status != C2_OK)
        return status;
    libraries->list[0].inside = libraries->list[0].name;
    libraries->list[0].host = libraries_keep(libraries, program, strlen(program));
    return libraries->list[0].host ? C2_OK : c2_fail_memory(err, "the program's libraries");
}

enum c2_status loader_libraries_find(struct loader_libraries **out, const char *program, const char *const *envp,
                                     unsigned about, struct c2_error *err)
{
    struct loader_libraries *libraries = c2_calloc(1, sizeof *libraries);
    *out = NULL;
    if (!libraries)
        return c2_fail_memory(err, "the program's libraries");
    libraries->about = about;
    enum c2_status status = elf_version(EV_CURRENT) == EV_NONE
                                ? c2_fail(err, C2_ERR_INTERNAL, "libelf: %s", elf_errmsg(-1))
                                : libraries_start(libraries, program, envp, err);
    for (uint32_t i = 0; i < libraries->count && status == C2_OK; i++) {
        if (i == 0 || libraries_find_file(libraries, i))
            status = read_library(libraries, i, err);
        else
            libraries->closed = libraries->whole = false;
    }
    if (status == C2_OK)
        *out = libraries;
    else
        loader_libraries_release(libraries);
    return status;
}

void loader_libraries_release(struct loader_libraries *libraries)
{
    if (!libraries)
        return;
    loader_cache_close(libraries->cache);
    c2_free(libraries->list);
    c2_pool_release(&libraries->pool);
    c2_free(libraries);
}

bool loader_libraries_closed(const struct loader_libraries *libraries)
{
    C2_ASSERT(libraries->about & LOADER_CALLS);
    return libraries->closed;
}

size_t loader_libraries_count(const struct loader_libraries *libraries) { return libraries->count; }

const char *loader_libraries_name(const struct loader_libraries *libraries, size_t number)
{
    const char *slash = strrchr(libraries->list[number].name, '/');
    return slash ? slash + 1 : libraries->list[number].name;
}

const char *loader_libraries_host(const struct loader_libraries *libraries, size_t number)
{
    return libraries->list[number].host;
}

bool loader_libraries_look_for_leaks(const struct loader_libraries *libraries)
{
    C2_ASSERT(libraries->about & LOADER_LEAKS);
    bool found = libraries->looks_for_leaks;
    for (size_t i = 0; i < loader_libraries_count(libraries) && !found; i++) {
        const char *name = loader_libraries_name(libraries, i);
        found = strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "liblsan.so", 10) == 0;
    }
    return found;
}

enum loader_threading loader_libraries_threading(const struct loader_libraries *libraries)
{
    static const char *const openmp[] = {"libgomp.so", "libomp.so", "libiomp5.so"};
    C2_ASSERT(libraries->about & LOADER_CALLS);
    for (uint32_t i = 1; i < libraries->count; i++)
        for (size_t k = 0; k < COUNT(openmp); k++)
            if (strncmp(libraries->list[i].name, openmp[k], strlen(openmp[k])) == 0)
                return LOADER_OPENMP;
    return libraries->threading;
}

/* ------------------------------------------------------------------ without the cache */

/* Where the C library lies; in systems with a link from /lib to /usr/lib, by either name. */
struct beside {
    char directory[PATH_MAX], other[PATH_MAX];
};

static bool find_libc(struct beside *out, const struct loader_libraries *libraries)
{
    for (uint32_t i = 1; i < libraries->count; i++) {
        const char *inside = libraries->list[i].inside, *slash = inside ? strrchr(inside, '/') : NULL;
        if (!slash || strcmp(libraries->list[i].name, "libc.so.6") != 0)
            continue;
        const int bytes = (int)(slash - inside);
        const bool below = strncmp(inside, "/usr/", 5) == 0;
        return snprintf(out->directory, PATH_MAX, "%.*s", bytes, inside) < PATH_MAX &&
               snprintf(out->other, PATH_MAX, "%s%.*s", below ? "" : "/usr", bytes - (below ? 4 : 0),
                        inside + (below ? 4 : 0)) < PATH_MAX;
    }
    return false;
}

/* In the directory, or below it: glibc-hwcaps. */
static bool lies_in(const char *path, const char *directory)
{
    const size_t bytes = strlen(directory);
    return strncmp(path, directory, bytes) == 0 && path[bytes] == '/';
}

static bool lies_beside(const void *self, const char *path)
{
    const struct beside *beside = self;
    return lies_in(path, beside->directory) || lies_in(path, beside->other);
}

bool loader_libraries_need_no_cache(const struct loader_libraries *libraries)
{
    struct beside beside;
    bool beside_libc = libraries->whole && find_libc(&beside, libraries);
    for (uint32_t i = 2; i < libraries->count && beside_libc; i++)
        beside_libc = !libraries->list[i].usual || lies_beside(&beside, libraries->list[i].inside);
    if (!beside_libc || !libraries->calls_more)
        return beside_libc;
    return loader_cache_each(libraries->cache, lies_beside, &beside);
}
