/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The kernel of the guest: its life, and the way of one system call.
 *
 * Model
 *   number -> row of table.h -> arguments checked, resolved and copied as the row says -> handler -> what the kernel
 *   wrote copied out and touched -> value for RAX. A call that has to wait for another thread is blocked (threads.c).
 *   Where there is only one, what it waits for comes by the clock, which goes on at once; or never, and that is a
 *   deadlock, which ends the run with the reason.
 *
 * Invariants
 *   Every value is what Linux would return for a process of this fixed identity; time comes from the instruction count.
 *   The host's descriptors 0 to 2 are the guest's at start; no other descriptor of c2emu can be reached by it.
 *
 * Not modelled
 *   Other processes. A call without a row is ENOSYS and one line of complaint.
 *
 * SIGPIPE is ignored in the whole process from syscalls_create on: a write of the guest to a broken pipe must not kill
 * c2emu; the guest gets its own SIGPIPE. So it does SIGXFSZ where the program around has called c2_file_limit_catch.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/notices_priv.h"
#include "syscalls/network_priv.h"
#include "syscalls/terminals_priv.h"
#include "syscalls/trace_priv.h"

/* "a", "b" -> "a\0b\0"; NULL when memory is out. */
static char *kernel_join(const char *const *list, size_t *bytes)
{
    size_t total = 0;
    for (size_t i = 0; list && list[i]; i++)
        total += strlen(list[i]) + 1;
    char *out = c2_alloc(total ? total : 1), *at = out;
    for (size_t i = 0; out && list && list[i]; i++) {
        size_t part = strlen(list[i]) + 1;
        memcpy(at, list[i], part);
        at += part;
    }
    *bytes = total;
    return out;
}

static void forget_names(struct kernel_names *names)
{
    c2_free(names->program_path);
    c2_free(names->arguments);
    c2_free(names->environment);
}

enum c2_status kernel_name_program(struct syscalls *kernel, const char *path, const char *const *argv,
                                   const char *const *envp, struct c2_error *err)
{
    struct kernel_names names = {.program_path = c2_strdup(path)};
    names.arguments = kernel_join(argv, &names.arguments_bytes);
    names.environment = kernel_join(envp, &names.environment_bytes);
    if (!names.program_path || !names.arguments || !names.environment) {
        forget_names(&names);
        return c2_fail_memory(err, "the guest's kernel");
    }
    forget_names(&kernel->names);
    kernel->names = names;
    return C2_OK;
}

void syscalls_hide_library_cache(struct syscalls *kernel) { kernel->hides_library_cache = true; }

void kernel_name_thread(struct kernel_thread *thread, const char *program)
{
    const char *slash = strrchr(program, '/');
    identity_name_thread(thread, slash ? slash + 1 : program);
}

static uint64_t up_at_start(const struct syscalls_config *config)
{
    return config->uptime_seconds < config->start_seconds ? config->uptime_seconds : config->start_seconds;
}

static enum c2_status copy_config(struct syscalls *kernel, const struct syscalls_config *config, struct c2_error *err)
{
    kernel->complaint_prefix = c2_strdup(config->complaint_prefix ? config->complaint_prefix : "");
    if (!kernel->complaint_prefix)
        return c2_fail_memory(err, "the guest's kernel");
    enum c2_status status = kernel_name_program(kernel, config->program_path ? config->program_path : "/", config->argv,
                                                config->envp, err);
    if (status != C2_OK)
        return status;
    kernel->before_output = config->before_output;
    kernel->before_output_self = config->before_output_self;
    kernel->may_run = config->may_run;
    kernel->may_run_self = config->may_run_self;
    kernel->may_fork = config->may_fork;
    kernel->trace = config->trace;
    kernel->complaints = config->complaints;
    kernel->interrupted = config->interrupted;
    kernel->no_network = config->no_network;
    kernel->physical_bytes = config->physical_bytes;
    kernel->processors = config->processors ? config->processors : 1;
    C2_ASSERT(config->cache_count <= SYSCALLS_CACHES);
    kernel->cache_count = config->cache_count;
    for (uint32_t i = 0; i < config->cache_count; i++)
        kernel->caches[i] = config->caches[i];
    kernel->cpu = config->cpu ? config->cpu : cpu_of_level(CPU_V2);
    kernel->instructions_per_second = config->instructions_per_second ? config->instructions_per_second : KERNEL_NS;
    kernel->boot_seconds = config->start_seconds - up_at_start(config);
    kernel->slept_ns = up_at_start(config) * KERNEL_NS;
    c2_rng_init(&kernel->random, config->seed, "getrandom");
    return C2_OK;
}

/* The guest may have FDS_MAX descriptors: the usual soft limit of 1024 leaves no room for them. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The first thread: its number is the process's, its name the program's. */
static enum c2_status create_thread(struct syscalls *kernel, const char *called, struct c2_error *err)
{
    kernel->last_tid = IDENTITY_PID - 1;
    kernel->current = threads_create(kernel);
    if (!kernel->current)
        return c2_fail_memory(err, "the guest's kernel");
    kernel_name_thread(kernel->current, called ? called : kernel->names.program_path);
    return C2_OK;
}

uint32_t syscalls_processors(const struct syscalls *kernel) { return kernel->processors; }

enum c2_status syscalls_create(struct syscalls **out, struct mmu *mmu, const struct syscalls_config *config,
                               struct c2_error *err)
{
    *out = NULL;
    struct syscalls *kernel = c2_calloc(1, sizeof *kernel);
    if (!kernel)
        return c2_fail_memory(err, "the guest's kernel");
    kernel->mmu = mmu;
    kernel->fds.cwd = -1;
    kernel->pid = IDENTITY_PID;
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    enum c2_status status = copy_config(kernel, config, err);
    if (status == C2_OK) {
        identity_create(&kernel->identity);
        status = create_thread(kernel, config->called, err);
    }
    if (status == C2_OK)
        status = processes_create(kernel, err);
    if (status == C2_OK)
        status = attributes_create(&kernel->attributes, err);
    if (status == C2_OK)
        status = filetimes_create(kernel, err);
    if (status == C2_OK)
        status = inputs_create(&kernel->inputs, config->keep_inputs, err);
    if (status == C2_OK)
        status = sandbox_create(&kernel->sandbox, config, err);
    if (status == C2_OK)
        shm_create(kernel);
    if (status == C2_OK)
        status = network_create(&kernel->network, err);
    if (status == C2_OK)
        status = fds_create(kernel, err);
    if (status != C2_OK) {
        syscalls_destroy(kernel);
        return status;
    }
    notices_create(kernel);
    *out = kernel;
    return C2_OK;
}

void syscalls_destroy(struct syscalls *kernel)
{
    if (!kernel)
        return;
    sandbox_destroy(&kernel->sandbox);
    shm_destroy(kernel);
    network_destroy(kernel->network);
    fds_destroy(&kernel->fds);
    ipc_destroy(&kernel->ipc); /* that descriptors lead to */
    terminals_destroy(kernel);
    inputs_destroy(&kernel->inputs);
    attributes_destroy(&kernel->attributes);
    threads_destroy(kernel);
    pending_release(&kernel->signals.pending);
    c2_free(kernel->timers);
    locked_clear(&kernel->locked);
    heirs_clear(&kernel->heirs);
    processes_destroy(kernel);
    syscalls_program_destroy(kernel->program);
    forget_names(&kernel->names);
    c2_free(kernel->complaint_prefix);
    c2_free(kernel);
}

void syscalls_check(const struct syscalls *kernel)
{
    C2_ASSERT(kernel->instructions_per_second > 0);
    fds_check(&kernel->fds);
    signals_check(&kernel->signals);
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        signals_mask_check(&kernel->threads[i]->signals);
        C2_ASSERT(pending_holds(&kernel->threads[i]->pending));
    }
    for (int i = 0; i < IDENTITY_LIMITS; i++)
        C2_ASSERT(kernel->identity.limit[i].soft <= kernel->identity.limit[i].hard);
}

void syscalls_dump(const struct syscalls *kernel, FILE *to)
{
    fprintf(to, "%s (%s): last call at instruction %llu, %llu ns slept\n", kernel->names.program_path,
            kernel->current->name, (unsigned long long)kernel->instructions, (unsigned long long)kernel->slept_ns);
    fds_dump(&kernel->fds, to);
    signals_dump(&kernel->signals, to);
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        char wait[256];
        syscalls_describe_wait(kernel, kernel->threads[i]->tid, wait, sizeof wait);
        fprintf(to, "thread %u %s; ", kernel->threads[i]->tid, wait);
        signals_mask_dump(&kernel->threads[i]->signals, to);
    }
}

/* ------------------------------------------------------------------ ends of a call */

bool call_interrupted(const struct call *c) { return c->kernel->interrupted && *c->kernel->interrupted; }

static int64_t deadlock(struct call *c, const char *why)
{
    c->result->action = SYSCALLS_FAILED;
    c->result->deadlock = true;
    c2_fail(c->err, C2_ERR_UNSUPPORTED, "deadlock: the program waits for ever in %s: %s", c->row->name, why);
    return -EINTR;
}

int64_t call_broken_pipe(struct call *c, int host)
{
    int type = SOCK_STREAM;
    socklen_t bytes = sizeof type;
    getsockopt(host, SOL_SOCKET, SO_TYPE, &type, &bytes); /* a pipe has no type */
    if (type != SOCK_STREAM)
        return -EPIPE;
    c->result->action = SYSCALLS_SIGNAL;
    c->result->signal = SIGPIPE;
    return -EPIPE;
}

/* True the first time for a number. */
static bool first_complaint(struct syscalls *kernel, uint64_t number)
{
    uint64_t bit = number < CALL_TABLE_END ? number : CALL_TABLE_END - 1;
    uint64_t *word = &kernel->complained[bit / 64], mask = (uint64_t)1 << bit % 64;
    bool first = !(*word & mask);
    *word |= mask;
    return first;
}

static int64_t kernel_complain(struct syscalls *kernel, uint64_t number, const char *what)
{
    const char *name = syscalls_name(number);
    if (!first_complaint(kernel, number) || !kernel->complaints)
        return -ENOSYS;
    fprintf(kernel->complaints, "%ssystem call %llu%s%s%s %s: the program sees ENOSYS\n", kernel->complaint_prefix,
            (unsigned long long)number, name ? " (" : "", name ? name : "", name ? ")" : "", what);
    fflush(kernel->complaints);
    return -ENOSYS;
}

int64_t call_complain(struct call *c, const char *what)
{
    return kernel_complain(c->kernel, (uint32_t)c->cpu->gpr[0], what);
}

/* ------------------------------------------------------------------ one call */

static void raw_arguments(uint64_t out[CALL_ARGS], const struct syscalls_cpu *cpu)
{
    static const int order[CALL_ARGS] = {7, 6, 2, 10, 8, 9}; /* rdi rsi rdx r10 r8 r9 */
    for (int i = 0; i < CALL_ARGS; i++)
        out[i] = cpu->gpr[order[i]];
}

/* A write beyond the host's limit on the size of files: the guest gets the signal that c2emu got. */
static void pass_on_file_limit(struct call *c, int64_t value)
{
    if (!c2_file_limit_hit() || value != -EFBIG)
        return;
    c->result->action = SYSCALLS_SIGNAL;
    c->result->signal = SIGXFSZ;
}

static int64_t run_row(struct call *c)
{
    int64_t value = guest_prepare(c);
    if (value != 0)
        return value;
    (void)c2_file_limit_hit(); /* by a write of c2emu's own */
    value = guest_finish(c, c->row->handler(c));
    pass_on_file_limit(c, value);
    return value;
}

static void release_waited(struct call *c, struct kernel_wait *waited)
{
    const struct kernel_wait *now = c->kernel->current ? &c->kernel->current->wait : NULL;
    if (!now || now->fds != waited->fds || now->waiter != waited->waiter) /* it does not go on waiting for the same */
        kernel_wait_release(c->kernel, waited);
}

/* The only thread waits: only the clock goes on meanwhile. The call is made again from where it waits. */
static int64_t wait_alone(struct call *c)
{
    struct kernel_wait *wait = &c->kernel->current->wait, waited;
    const uint64_t copied = c->kernel->copies.used;
    int64_t value = -EINTR;
    while (c->result->action == SYSCALLS_BLOCKED) {
        waited = *wait;
        *wait = (struct kernel_wait){.kind = KERNEL_RUNS};
        c->waited = &waited;
        c->again = true;
        c->result->action = SYSCALLS_RETURN;
        c->kernel->copies.used = copied;
        const uint64_t ends = kernel_wait_ends(c->kernel, &waited);
        if (waited.outside) {
            kernel_wait_for_outside(&waited); /* of a pipe with a name */
            value = call_interrupted(c) ? -EINTR : c->row->handler(c);
        } else if (ends == KERNEL_NEVER) {
            value = deadlock(c, waited.why);
        } else {
            kernel_sleep_until(c->kernel, c->instructions, ends);
            value = c->row->handler(c);
        }
        release_waited(c, &waited);
    }
    return guest_finish(c, value);
}

/* A call that was blocked goes on from what it waited for, which is given up or taken over by the handler. */
static int64_t kernel_run(struct call *c)
{
    struct kernel_wait *wait = &c->kernel->current->wait, waited = *wait;
    *wait = (struct kernel_wait){.kind = KERNEL_RUNS};
    c->again = waited.kind != KERNEL_RUNS;
    c->waited = &waited;
    int64_t value = run_row(c);
    release_waited(c, &waited);
    if (c->result->action == SYSCALLS_BLOCKED && threads_alone(c->kernel))
        value = wait_alone(c);
    mmu_lend_end(c->kernel->mmu);
    return value;
}

static bool kernel_writes(uint64_t number)
{
    return number == SYS_write || number == SYS_writev || number == SYS_sendfile || number == SYS_splice ||
           number == SYS_copy_file_range || number == SYS_pwritev2;
}

void syscalls_call(struct syscalls *kernel, struct syscalls_cpu *cpu, uint64_t instructions,
                   struct syscalls_result *result, struct c2_error *err)
{
    uint64_t number = (uint32_t)cpu->gpr[0], raw[CALL_ARGS];
    struct call c = {
        .kernel = kernel,
        .row = call_row_of(number),
        .cpu = cpu,
        .instructions = instructions,
        .result = result,
        .err = err,
    };
    const uint32_t tid = kernel->current->tid;
    kernel->instructions = instructions;
    kernel->copies.used = 0;
    raw_arguments(raw, cpu);
    memcpy(c.arg, raw, sizeof raw);
    *result = (struct syscalls_result){.action = SYSCALLS_RETURN};
    if (kernel->before_output && kernel_writes(number))
        kernel->before_output(kernel->before_output_self);
    if (processes_shared(kernel))
        kernel->processes->calls++;
    result->value = c.row ? kernel_run(&c) : kernel_complain(kernel, number, "is not implemented");
    sandbox_end_call(&kernel->sandbox);
    notices_collect(kernel);
    kernel->looks_outside = false;
    if (!kernel->trace || result->action == SYSCALLS_BLOCKED)
        return;
    trace_thread(kernel, tid);
    if (c.row)
        trace_call(&c, raw, result->value);
    else
        trace_unknown(kernel->trace, number, raw, result->value);
}
