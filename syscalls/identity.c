/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's identity, its machine, and what it is allowed.
 *
 * Model
 *   Process 1000 of user 1000, leader of its group and session, child of process 1, on a machine with one CPU and the
 *   simulated physical memory. Limits and flags can be set and are given back; of the limits those on descriptors, the
 *   size of files, nice values and CPU time act, and RLIMIT_CORE decides what a status says.
 *
 * Not modelled
 *   Capabilities, other users, seccomp.
 */
#include <linux/capability.h>
#include <asm/prctl.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/limits_priv.h"

void identity_create(struct identity *identity)
{
    for (int i = 0; i < IDENTITY_LIMITS; i++)
        identity->limit[i] = (struct identity_limit){RLIM_INFINITY, RLIM_INFINITY};
    identity->limit[RLIMIT_STACK].soft = MMU_STACK_BYTES;
    identity->limit[RLIMIT_CORE].soft = 0;
    identity->limit[RLIMIT_NPROC] = (struct identity_limit){IDENTITY_TASKS, IDENTITY_TASKS};
    identity->limit[RLIMIT_NOFILE] = (struct identity_limit){1024, FDS_MAX};
    identity->limit[RLIMIT_MEMLOCK] = (struct identity_limit){8 << 20, 8 << 20};
    identity->limit[RLIMIT_SIGPENDING] = (struct identity_limit){IDENTITY_TASKS, IDENTITY_TASKS};
    identity->limit[RLIMIT_MSGQUEUE] = (struct identity_limit){819200, 819200};
    identity->limit[RLIMIT_NICE] = identity->limit[RLIMIT_RTPRIO] = (struct identity_limit){0, 0};
    identity->mask = 022;
    identity->dumpable = 1;
    identity->memory_errors = PR_MCE_KILL_DEFAULT;
}

int64_t identity_denied(struct call *c)
{
    (void)c;
    return -EPERM;
}

/* ------------------------------------------------------------------ numbers */

int64_t identity_thread(struct call *c) { return c->kernel->current->tid; }

static bool is_self(const struct call *c, uint64_t pid) { return (int)pid == 0 || pid == c->kernel->pid; }

int64_t identity_user(struct call *c)
{
    (void)c;
    return IDENTITY_USER;
}

int64_t identity_user_triple(struct call *c)
{
    const uint32_t user = IDENTITY_USER;
    for (int i = 0; i < 3; i++)
        memcpy(c->ptr[i], &user, sizeof user);
    return 0;
}

int64_t identity_groups(struct call *c) { return (int)c->arg[0] < 0 ? -EINVAL : 0; }

int64_t identity_set_user(struct call *c)
{
    const int user = (int)c->arg[0];
    return user == IDENTITY_USER ? 0 : user == -1 ? -EINVAL : -EPERM;
}

int64_t identity_set_users(struct call *c)
{
    for (int i = 0; i < 3; i++)
        if (c->row->arg[i].kind != CALL_NONE && (int)c->arg[i] != -1 && (int)c->arg[i] != IDENTITY_USER)
            return -EPERM;
    return 0;
}

int64_t identity_personality(struct call *c)
{
    const uint32_t query = 0xffffffff, refused = ADDR_COMPAT_LAYOUT;
    const uint32_t wanted = (uint32_t)c->arg[0], old = c->kernel->identity.personality;
    if (wanted == query)
        return old;
    if (wanted & refused)
        return -EINVAL;
    c->kernel->identity.personality = wanted;
    mmu_make_readable_code(c->kernel->mmu, wanted & READ_IMPLIES_EXEC);
    return old;
}

int64_t identity_set_tid(struct call *c)
{
    c->kernel->current->clear_tid = c->arg[0];
    return c->kernel->current->tid;
}

int64_t identity_getcpu(struct call *c)
{
    if (c->ptr[0]) /* the node is 0, which is there */
        *(uint32_t *)c->ptr[0] = sched_processor(c->kernel, c->kernel->current);
    return 0;
}

/* ------------------------------------------------------------------ the machine */

int64_t identity_uname(struct call *c)
{
    const uint32_t personality = c->kernel->identity.personality;
    struct utsname *out = c->ptr[0];
    strcpy(out->sysname, "Linux");
    strcpy(out->nodename, IDENTITY_HOST_NAME);
    strcpy(out->release, personality & UNAME26 ? IDENTITY_RELEASE_26 : IDENTITY_RELEASE);
    strcpy(out->version, IDENTITY_VERSION);
    strcpy(out->machine, (personality & PER_MASK) == PER_LINUX32 ? "i686" : "x86_64");
    strcpy(out->domainname, "(none)");
    return 0;
}

int64_t identity_sysinfo(struct call *c)
{
    const struct mmu_usage usage = mmu_usage(c->kernel->mmu);
    uint64_t used = usage.resident_bytes + usage.table_bytes, all = c->kernel->physical_bytes;
    struct sysinfo *out = c->ptr[0];
    out->uptime = (long)(syscalls_time_ns(c->kernel, c->instructions) / KERNEL_NS);
    out->totalram = all;
    out->freeram = all > used ? all - used : 0;
    out->procs = (unsigned short)c->kernel->processes->running;
    out->mem_unit = 1;
    return 0;
}

/* ------------------------------------------------------------------ limits and use */

static int64_t identity_set_limit(struct call *c, unsigned which, const struct identity_limit *limit)
{
    struct identity *identity = &c->kernel->identity;
    if (limit->soft > limit->hard)
        return -EINVAL;
    if (limit->hard > identity->limit[which].hard)
        return -EPERM;
    identity->limit[which] = *limit;
    if (which == RLIMIT_STACK)
        limits_set_stack(c->kernel);
    return which != RLIMIT_CPU || timers_limit_cpu(c->kernel, c->instructions) ? 0 : -ENOMEM;
}

static bool is_limit(uint64_t which) { return which < IDENTITY_LIMITS; }

int64_t identity_getrlimit(struct call *c)
{
    if (!is_limit(c->arg[0]))
        return -EINVAL;
    memcpy(c->ptr[1], &c->kernel->identity.limit[c->arg[0]], sizeof(struct identity_limit));
    return 0;
}

int64_t identity_setrlimit(struct call *c)
{
    return is_limit(c->arg[0]) ? identity_set_limit(c, (unsigned)c->arg[0], c->ptr[1]) : -EINVAL;
}

int64_t identity_prlimit(struct call *c)
{
    if (!is_limit(c->arg[1]))
        return -EINVAL;
    if (!is_self(c, c->arg[0]))
        return -ESRCH;
    struct identity_limit old = c->kernel->identity.limit[c->arg[1]];
    int64_t status = c->ptr[2] ? identity_set_limit(c, (unsigned)c->arg[1], c->ptr[2]) : 0;
    if (c->ptr[3])
        memcpy(c->ptr[3], &old, sizeof old);
    return status;
}

int64_t identity_getrusage(struct call *c)
{
    struct rusage *out = c->ptr[1];
    const struct mmu_usage usage = mmu_usage(c->kernel->mmu);
    uint64_t ns = kernel_cpu_ns(c->kernel, c->instructions);
    switch ((int)c->arg[0]) {
    case RUSAGE_SELF:
    case RUSAGE_THREAD:
        out->ru_utime = (struct timeval){(time_t)(ns / KERNEL_NS), (suseconds_t)(ns % KERNEL_NS / 1000)};
        out->ru_maxrss = (long)(usage.resident_bytes / 1024);
        out->ru_minflt = (long)usage.faults;
        return 0;
    case RUSAGE_CHILDREN:
        ns = processes_self(c->kernel)->children_ns;
        out->ru_utime = (struct timeval){(time_t)(ns / KERNEL_NS), (suseconds_t)(ns % KERNEL_NS / 1000)};
        out->ru_minflt = (long)processes_self(c->kernel)->children_faults;
        return 0;
    default:
        return -EINVAL;
    }
}

/* ------------------------------------------------------------------ prctl */

void identity_name_thread(struct kernel_thread *thread, const char *name)
{
    memset(thread->name, 0, sizeof thread->name);
    memcpy(thread->name, name, strnlen(name, sizeof thread->name - 1));
}

static int64_t identity_set_name(struct call *c)
{
    char name[IDENTITY_NAME_BYTES];
    for (size_t i = 0; i < sizeof name; i++) {
        int64_t status = guest_read(c, &name[i], c->arg[1] + i, 1);
        if (status < 0)
            return status;
        if (name[i] == '\0' || i == sizeof name - 1) {
            name[i] = '\0';
            break;
        }
    }
    identity_name_thread(c->kernel->current, name);
    return 0;
}

static int64_t set_flag(int *flag, uint64_t value, uint64_t most)
{
    if (value > most)
        return -EINVAL;
    *flag = (int)value;
    return 0;
}

/* Capabilities the process does not have: none is in the bounding set of a plain user's interest, so all are. */
static int64_t bounding_set(uint64_t capability) { return capability <= 40 ? 1 : -EINVAL; }

/* Whether arguments from this one on are not used. */
static bool has_only(const struct call *c, int used)
{
    uint64_t rest = 0;
    for (int i = used + 1; i <= 4; i++)
        rest |= c->arg[i];
    return rest == 0;
}

/* Of a plain user it is empty, and stays so. */
static int64_t ambient_set(const struct call *c)
{
    const bool no_capability = c->arg[2] > 40 || c->arg[3] || c->arg[4];
    if (c->arg[1] == PR_CAP_AMBIENT_CLEAR_ALL)
        return c->arg[2] || c->arg[3] || c->arg[4] ? -EINVAL : 0;
    if (no_capability || c->arg[1] < PR_CAP_AMBIENT_IS_SET || c->arg[1] > PR_CAP_AMBIENT_LOWER)
        return -EINVAL;
    return c->arg[1] == PR_CAP_AMBIENT_RAISE ? -EPERM : 0;
}

/* When a process is told of broken memory. */
static int64_t set_memory_errors(struct call *c)
{
    int *policy = &c->kernel->identity.memory_errors;
    if (c->arg[1] == PR_MCE_KILL_CLEAR && has_only(c, 1))
        *policy = PR_MCE_KILL_DEFAULT;
    else if (c->arg[1] == PR_MCE_KILL_SET && c->arg[2] <= PR_MCE_KILL_DEFAULT && has_only(c, 2))
        *policy = (int)c->arg[2];
    else
        return -EINVAL;
    return 0;
}

/* Requests that a plain user is refused, or that have one answer: whether it is one of them. */
static bool is_settled(struct call *c, int64_t *value)
{
    enum { IO_FLUSHER = 57, GET_IO_FLUSHER = 58, TSC_ENABLE = 1 };
    switch ((int)c->arg[0]) {
    case PR_CAPBSET_DROP:
    case PR_SET_SECUREBITS:
    case PR_SET_MM:
    case IO_FLUSHER:
    case GET_IO_FLUSHER:
        *value = -EPERM;
        return true;
    case PR_GET_KEEPCAPS:
        *value = c->kernel->identity.keeps_capabilities;
        return true;
    case PR_GET_SECCOMP:
    case PR_GET_SECUREBITS:
    case PR_GET_TIMING:
        *value = 0;
        return true;
    case PR_SET_TIMING: /* the statistical way */
        *value = c->arg[1] == PR_TIMING_STATISTICAL ? 0 : -EINVAL;
        return true;
    case PR_GET_TSC:
        *value = guest_write(c, c->arg[1], &(int32_t){TSC_ENABLE}, sizeof(int32_t));
        return true;
    case PR_CAP_AMBIENT:
        *value = ambient_set(c);
        return true;
    default:
        return false;
    }
}

int64_t identity_prctl(struct call *c)
{
    struct kernel_thread *self = c->kernel->current;
    struct identity *identity = &c->kernel->identity;
    int *dumpable = &identity->dumpable;
    int64_t value;
    if (is_settled(c, &value))
        return value;
    switch ((int)c->arg[0]) {
    case PR_SET_NAME:
        return identity_set_name(c);
    case PR_GET_NAME:
        return guest_write(c, c->arg[1], self->name, sizeof self->name);
    case PR_SET_PDEATHSIG:
        return set_flag(&self->death_signal, c->arg[1], SIGNALS_COUNT);
    case PR_GET_PDEATHSIG:
        return guest_write(c, c->arg[1], &self->death_signal, sizeof self->death_signal);
    case PR_SET_DUMPABLE:
        return set_flag(dumpable, c->arg[1], 1);
    case PR_GET_DUMPABLE:
        return *dumpable;
    case PR_SET_NO_NEW_PRIVS:
        return c->arg[1] == 1 && has_only(c, 1) ? set_flag(&self->no_new_privileges, 1, 1) : -EINVAL;
    case PR_GET_NO_NEW_PRIVS:
        return has_only(c, 0) ? self->no_new_privileges : -EINVAL;
    case PR_SET_TIMERSLACK:
        self->timer_slack = c->arg[1] ? c->arg[1] : KERNEL_TIMER_SLACK_NS;
        return 0;
    case PR_GET_TIMERSLACK:
        return (int64_t)self->timer_slack;
    case PR_CAPBSET_READ:
        return bounding_set(c->arg[1]);
    case PR_SET_KEEPCAPS:
        return set_flag(&identity->keeps_capabilities, c->arg[1], 1);
    case PR_GET_TID_ADDRESS:
        return guest_write(c, c->arg[1], &self->clear_tid, sizeof self->clear_tid);
    case PR_MCE_KILL:
        return set_memory_errors(c);
    case PR_MCE_KILL_GET:
        return has_only(c, 0) ? identity->memory_errors : -EINVAL;
    case PR_SET_THP_DISABLE:
        return has_only(c, 1) ? set_flag(&identity->no_huge_pages, c->arg[1] != 0, 1) : -EINVAL;
    case PR_GET_THP_DISABLE:
        return has_only(c, 0) ? identity->no_huge_pages : -EINVAL;
    case PR_SET_CHILD_SUBREAPER:
        c->kernel->self->adopts = c->arg[1] != 0;
        return 0;
    case PR_GET_CHILD_SUBREAPER:
        return guest_write(c, c->arg[1], &(int32_t){c->kernel->self->adopts}, sizeof(int32_t));
    default:
        return -EINVAL;
    }
}

/* ------------------------------------------------------------------ segment bases */

static int64_t set_base(uint64_t *base, uint64_t address)
{
    const uint64_t user_end = 0x7ffffffff000ull;
    if (address >= user_end)
        return -EPERM;
    *base = address;
    return 0;
}

int64_t identity_arch_prctl(struct call *c)
{
    switch ((int)c->arg[0]) {
    case ARCH_SET_FS:
        return set_base(&c->cpu->fs_base, c->arg[1]);
    case ARCH_SET_GS:
        return set_base(&c->cpu->gs_base, c->arg[1]);
    case ARCH_GET_FS:
        return guest_write(c, c->arg[1], &c->cpu->fs_base, 8);
    case ARCH_GET_GS:
        return guest_write(c, c->arg[1], &c->cpu->gs_base, 8);
    default:
        return -EINVAL;
    }
}

/* ------------------------------------------------------------------ random numbers */

int64_t identity_getrandom(struct call *c)
{
    enum { NONBLOCK = 1, RANDOM = 2, INSECURE = 4 };
    uint64_t bytes = c->arg[1], flags = c->arg[2];
    if (flags & ~(uint64_t)(NONBLOCK | RANDOM | INSECURE) || (flags & (RANDOM | INSECURE)) == (RANDOM | INSECURE))
        return -EINVAL;
    int64_t status = guest_check_write(c, c->arg[0], bytes);
    if (status < 0)
        return status;
    c2_rng_fill(&c->kernel->random, c->ptr[0], bytes);
    return (int64_t)bytes;
}

/* ------------------------------------------------------------------ capabilities: a plain user has none */

/* How many bytes the data of this version have; 0: it is unknown. */
static uint64_t capability_bytes(uint32_t version)
{
    if (version == _LINUX_CAPABILITY_VERSION_1)
        return _LINUX_CAPABILITY_U32S_1 * sizeof(struct __user_cap_data_struct);
    const bool known = version == _LINUX_CAPABILITY_VERSION_2 || version == _LINUX_CAPABILITY_VERSION_3;
    return known ? _LINUX_CAPABILITY_U32S_3 * sizeof(struct __user_cap_data_struct) : 0;
}

/* The answer to a version that is not known, also of a call that fails. */
static int64_t write_newest_version(struct call *c)
{
    const uint32_t newest = _LINUX_CAPABILITY_VERSION_3;
    return guest_write(c, c->arg[0], &newest, sizeof newest);
}

int64_t identity_capabilities(struct call *c)
{
    static const uint8_t none[_LINUX_CAPABILITY_U32S_3 * sizeof(struct __user_cap_data_struct)];
    struct __user_cap_header_struct *header = c->ptr[0];
    const uint64_t bytes = capability_bytes(header->version);
    if (bytes == 0) {
        const int64_t status = write_newest_version(c);
        header->version = _LINUX_CAPABILITY_VERSION_3; /* what a call that succeeds writes */
        return status < 0 ? status : c->arg[1] ? -EINVAL : 0;
    }
    if (header->pid < 0)
        return -EINVAL;
    if (!is_self(c, (uint64_t)header->pid))
        return -ESRCH;
    return c->arg[1] ? guest_write(c, c->arg[1], none, bytes) : 0;
}

int64_t identity_set_capabilities(struct call *c)
{
    const struct __user_cap_header_struct *header = c->ptr[0];
    struct __user_cap_data_struct wanted[_LINUX_CAPABILITY_U32S_3] = {0};
    const uint64_t bytes = capability_bytes(header->version);
    if (bytes == 0) {
        const int64_t status = write_newest_version(c);
        return status < 0 ? status : -EINVAL;
    }
    if (!is_self(c, (uint64_t)header->pid))
        return -EPERM;
    const int64_t status = guest_read(c, wanted, c->arg[1], bytes);
    if (status < 0)
        return status;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (wanted[i].permitted || wanted[i].effective)
            return -EPERM;
    return 0;
}
