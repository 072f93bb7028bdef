/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * exec: another program in the guest's place.
 *
 * Model
 *   The words of the call are copied as they are; what Linux would refuse is refused while the program that asks still
 *   runs: words that are too long (E2BIG), a file that is none or cannot be run. The latter
 *   is for syscalls_config.may_run, as files of programs are not known here.
 *   Of the process remain its number, directory, descriptors but those that close, the mask, pending and ignored
 *   signals, limits, clocks and what is drawn at random next. Handlers, the signal stack and the names go.
 * Invariants
 *   A call that fails has changed nothing.
 * Source
 *   execve(2); for the limit on words, Linux's fs/exec.c (a quarter of the stack's, pointers included).
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/limits_priv.h"
#include "syscalls/paths_priv.h"

enum { WORD_BYTES = 32 * 4096 }; /* MAX_ARG_STRLEN: one word, its NUL with it */
#define WORDS_BYTES (MMU_STACK_BYTES / 4)
#define OTHER_BYTES 4096 /* what the loader puts beside the words */

/* ------------------------------------------------------------------ words of the guest */

struct words {
    char **items; /* NULL-terminated */
    uint32_t count, room;
};

static void release_words(struct words *words)
{
    for (uint32_t i = 0; i < words->count; i++)
        c2_free(words->items[i]);
    c2_free(words->items);
}

/* Takes the text. */
static int64_t exec_append(struct words *words, char *text)
{
    if (!text || !c2_grow((void **)&words->items, &words->room, words->count + 1, sizeof *words->items)) {
        c2_free(text);
        return -ENOMEM;
    }
    words->items[words->count++] = text;
    words->items[words->count] = NULL;
    return 0;
}

/* How long the guest's string is, its NUL with it: page by page, as there may be none behind it. */
static int64_t exec_measure(struct call *c, uint64_t address)
{
    for (uint64_t done = 0, part; done < WORD_BYTES; done += part) {
        part = C2_PAGE_BYTES - ((address + done) & (C2_PAGE_BYTES - 1));
        const int64_t status = guest_check_read(c, address + done, part);
        if (status < 0)
            return status;
        const char *end = memchr(guest_pointer(address + done), '\0', part);
        if (end)
            return end - (const char *)guest_pointer(address) + 1;
    }
    return -E2BIG;
}

static int64_t copy_word(struct call *c, struct words *to, uint64_t address, uint64_t *left)
{
    int64_t bytes = exec_measure(c, address);
    if (bytes < 0)
        return bytes;
    if ((uint64_t)bytes + sizeof(uint64_t) > *left || bytes > WORD_BYTES)
        return -E2BIG;
    *left -= (uint64_t)bytes + sizeof(uint64_t);
    char *text = c2_alloc((size_t)bytes);
    int64_t status = text ? guest_read(c, text, address, (uint64_t)bytes) : -ENOMEM;
    if (status < 0) {
        c2_free(text);
        return status;
    }
    return exec_append(to, text);
}

/* A list that ends in a null pointer; none is an empty one. */
static int64_t copy_list(struct call *c, struct words *to, uint64_t address, uint64_t *left)
{
    int64_t status = 0;
    for (uint64_t i = 0, word = 1; address != 0 && status == 0; i++) {
        status = guest_read(c, &word, address + i * sizeof word, sizeof word);
        if (status == 0 && word == 0)
            break;
        if (status == 0)
            status = copy_word(c, to, word, left);
    }
    if (status != 0 || to->items)
        return status;
    if (!c2_grow((void **)&to->items, &to->room, 0, sizeof *to->items))
        return -ENOMEM;
    to->items[0] = NULL;
    return 0;
}

/* ------------------------------------------------------------------ the program */

struct program {
    struct syscalls_program shown; /* its lists are those below */
    char *name, *file, *directory;
    struct words argv, envp;
};

void syscalls_program_destroy(struct syscalls_program *shown)
{
    struct program *program = (struct program *)shown;
    if (!program)
        return;
    release_words(&program->argv);
    release_words(&program->envp);
    c2_free(program->name);
    c2_free(program->file);
    c2_free(program->directory);
    c2_free(program);
}

struct syscalls_program *syscalls_take_program(struct syscalls *kernel)
{
    struct syscalls_program *program = kernel->program;
    kernel->program = NULL;
    return program;
}

/* As Linux calls it for interpreters of scripts, and for AT_EXECFN. */
static char *exec_name_of(const struct call *c, int directory, const char *path)
{
    if (directory < 0 || path[0] == '/' || (int)c->arg[directory] == AT_FDCWD)
        return c2_strdup(path);
    return c2_format("/dev/fd/%d%s%s", (int)c->arg[directory], path[0] ? "/" : "", path);
}

static int64_t exec_find_file(struct call *c, struct program *program, uint64_t directory, int path, int flags)
{
    struct paths_place place;
    int64_t status = paths_find_argument(c, &place, directory, path, flags);
    if (status < 0)
        return status;
    if (place.synthetic)
        return synthetic_kind(c->kernel, place.text) == SYNTHETIC_NONE ? -ENOENT : -EACCES;
    struct stat st;
    if (fstatat(place.dirfd, place.path, &st, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    program->file = place.path[0] == '\0' ? c2_format("/proc/self/fd/%d", place.dirfd) : c2_strdup(place.text);
    return program->file ? 0 : -ENOMEM;
}

static int64_t find_directory(const struct call *c, struct program *program)
{
    char path[PATH_MAX];
    const int64_t status = paths_name(c->kernel->fds.cwd, path);
    program->directory = c2_strdup(status < 0 ? "" : path);
    return program->directory ? 0 : -ENOMEM;
}

/* Linux takes READ_IMPLIES_EXEC from every 64-bit program, whoever has asked for it. */
static uint32_t inherited_personality(const struct syscalls *kernel)
{
    return kernel->identity.personality & ~(uint32_t)READ_IMPLIES_EXEC;
}

static int64_t copy_words(struct call *c, struct program *program, uint64_t argv, uint64_t envp)
{
    uint64_t left = WORDS_BYTES - OTHER_BYTES;
    int64_t status = copy_list(c, &program->argv, argv, &left);
    if (status == 0)
        status = copy_list(c, &program->envp, envp, &left);
    if (status == 0 && program->argv.count == 0) /* as Linux since 5.18 */
        status = exec_append(&program->argv, c2_strdup(""));
    program->shown = (struct syscalls_program){.name = program->name,
                                               .file = program->file,
                                               .directory = program->directory,
                                               .argv = (const char *const *)program->argv.items,
                                               .envp = (const char *const *)program->envp.items,
                                               .personality = inherited_personality(c->kernel)};
    return status;
}

/* directory: the number of the argument; -1: there is none. */
static int64_t exec_execute(struct call *c, int directory, int path, int flags)
{
    struct syscalls *kernel = c->kernel;
    if (!kernel->may_run)
        return call_complain(c, "would run another program, and only this one is run");
    struct program *program = c2_calloc(1, sizeof *program);
    if (!program)
        return -ENOMEM;
    program->name = exec_name_of(c, directory, c->ptr[path]);
    int64_t status = program->name ? 0 : -ENOMEM;
    if (status == 0)
        status = exec_find_file(c, program, directory < 0 ? (uint64_t)(int64_t)AT_FDCWD : c->arg[directory], path,
                                flags);
    if (status == 0)
        status = find_directory(c, program);
    if (status == 0)
        status = copy_words(c, program, c->arg[path + 1], c->arg[path + 2]);
    if (status == 0)
        status = kernel->may_run(kernel->may_run_self, &program->shown);
    if (status < 0) {
        syscalls_program_destroy(&program->shown);
        return status;
    }
    syscalls_program_destroy(kernel->program);
    kernel->program = &program->shown;
    processes_executed(kernel);
    c->result->action = SYSCALLS_EXECUTE;
    return 0;
}

int64_t exec_execve(struct call *c) { return exec_execute(c, -1, 0, 0); }

int64_t exec_execveat(struct call *c)
{
    const int flags = (int)c->arg[4];
    if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
        return -EINVAL;
    return exec_execute(c, 0, 1, flags);
}

/* ------------------------------------------------------------------ what is left of the process */

static void close_descriptors(struct syscalls *kernel)
{
    for (uint64_t fd = 0; fd < kernel->fds.end; fd++) {
        struct fd_entry *entry = fds_at(kernel, fd);
        if (entry && entry->cloexec)
            fds_release(entry);
    }
}

void exec_reset_signals(struct signals *signals)
{
    for (int signal = 1; signal <= SIGNALS_COUNT; signal++) {
        const bool ignored = signals->action[signal].handler == (uint64_t)(uintptr_t)SIG_IGN;
        signals->action[signal] = (struct signals_action){.handler = ignored ? (uint64_t)(uintptr_t)SIG_IGN : 0};
    }
}

static void reset_thread(struct kernel_thread *thread, const char *program)
{
    thread->signals.stack = (struct signals_stack){.flags = SS_DISABLE};
    thread->clear_tid = thread->robust_list = 0;
    kernel_name_thread(thread, program);
}

enum c2_status syscalls_execute(struct syscalls *kernel, struct mmu *mmu, const struct syscalls_program *program,
                                const char *path, struct c2_error *err)
{
    enum c2_status status = kernel_name_program(kernel, path, program->argv, program->envp, err);
    if (status != C2_OK)
        return status;
    close_descriptors(kernel);
    threads_wake_locks(kernel);
    locked_clear(&kernel->locked);
    heirs_clear(&kernel->heirs);
    ipc_execute(kernel);
    exec_reset_signals(&kernel->signals);
    priorities_end_others(kernel, kernel->pid, kernel->current->tid, kernel->pid);
    threads_keep_current(kernel);
    timers_forget(kernel);
    reset_thread(kernel->current, program->name);
    kernel->identity.dumpable = 1;
    kernel->identity.keeps_capabilities = 0;
    kernel->identity.barriers = 0;
    kernel->identity.has_segments = 0;
    kernel->identity.personality = inherited_personality(kernel);
    kernel->mmu = mmu;
    processes_number_own(kernel);
    kernel->instructions_before += kernel->instructions;
    kernel->instructions = kernel->turn = 0;
    kernel->remapped = true;
    limits_set_stack(kernel);
    kernel->hides_library_cache = false;
    views_publish_names(kernel, kernel->self);
    return C2_OK;
}
