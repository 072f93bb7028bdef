/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What stands in the files of /proc and /sys that the guest sees.
 *
 * Model
 *   The processors and the physical memory of the simulated machine, the guest's own areas and clock; everything
 *   else fixed. The formats are those of Linux: proc(5).
 */
#include <linux/oom.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"
#include "syscalls/terminals_priv.h"

/* A short write to a memfd means that the host is out of memory; the guest then sees a shorter file. */
static void put_bytes(int to, const char *bytes, size_t count)
{
    ssize_t done = write(to, bytes, count);
    (void)done;
}

void content_put(int to, const char *format, ...)
{
    char line[8192];
    va_list list;
    va_start(list, format);
    int bytes = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    put_bytes(to, line, (size_t)bytes < sizeof line ? (size_t)bytes : sizeof line - 1);
}

/* ------------------------------------------------------------------ the machine */

static uint64_t free_bytes(const struct syscalls *kernel)
{
    const struct mmu_usage usage = mmu_usage(kernel->mmu);
    uint64_t used = usage.resident_bytes + usage.table_bytes;
    return kernel->physical_bytes > used ? kernel->physical_bytes - used : 0;
}

static uint64_t ticks(uint64_t ns) { return ns / (KERNEL_NS / 100); }

/* The last level's, as for processors of the maker that CPUID names. */
static void write_cache_size(const struct syscalls *kernel, int to)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < kernel->cache_count; i++) {
        const struct syscalls_cache *cache = &kernel->caches[i];
        bytes = cache->type == SYSCALLS_CODE ? bytes : cache->line_bytes * cache->ways * cache->sets;
    }
    if (bytes >= 1024)
        content_put(to, "cache size\t: %llu KB\n", (unsigned long long)(bytes / 1024));
}

static void write_cpu(const struct syscalls *kernel, uint32_t cpu, int to)
{
    char flags[CPU_FLAGS_BYTES];
    cpu_flags(flags, sizeof flags, kernel->cpu);
    content_put(
        to,
        "processor\t: %u\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 0\nmodel name\t: c2emu\nstepping\t: "
        "0\n"
        "cpu MHz\t\t: %llu.000\n",
        cpu, (unsigned long long)(kernel->instructions_per_second / 1000000));
    write_cache_size(kernel, to);
    content_put(to,
                "physical id\t: 0\nsiblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\n"
                "apicid\t\t: %u\nfpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: 1\nwp\t\t: yes\n"
                "flags\t\t: %s\n"
                "bugs\t\t:\nbogomips\t: 2000.00\nclflush size\t: 64\ncache_alignment\t: 64\n"
                "address sizes\t: 40 bits physical, 48 bits virtual\npower management:\n\n",
                kernel->processors, cpu, kernel->processors, cpu, flags);
}

static void write_cpuinfo(const struct content_of *of, int to)
{
    const struct syscalls *kernel = of->kernel;
    for (uint32_t cpu = 0; cpu < kernel->processors; cpu++)
        write_cpu(kernel, cpu, to);
}

void content_write_processors(const struct content_of *of, int to)
{
    const struct syscalls *kernel = of->kernel;
    content_put(to, kernel->processors > 1 ? "0-%u\n" : "0\n", kernel->processors - 1);
}

static void write_meminfo(const struct content_of *of, int to)
{
    const struct syscalls *kernel = of->kernel;
    unsigned long long total = kernel->physical_bytes / 1024, left = free_bytes(kernel) / 1024;
    content_put(
        to,
        "MemTotal:       %8llu kB\nMemFree:        %8llu kB\nMemAvailable:   %8llu kB\nBuffers:               0 kB\n"
        "Cached:                0 kB\nSwapCached:            0 kB\n"
        "SwapTotal:             0 kB\nSwapFree:              0 kB\n"
        "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n",
        total, left, left);
}

/* Of all processes. */
static uint64_t busy_ns(const struct syscalls *kernel)
{
    uint64_t ns = kernel->processes->ended_ns;
    for (const struct process *at = views_next(kernel, 0); at; at = views_next(kernel, at->pid + 1))
        ns += at->state == PROCESS_RUNS ? views_of(kernel, at)->cpu_ns : 0;
    return ns;
}

static void write_machine_stat(const struct content_of *of, int to)
{
    const struct syscalls *kernel = of->kernel;
    const unsigned long long busy = ticks(busy_ns(kernel)), all = ticks(syscalls_time_ns(kernel, kernel->instructions));
    const unsigned long long idle = all > busy ? all - busy : 0;
    content_put(to, "cpu  %llu 0 0 %llu 0 0 0 0 0 0\n", busy, idle + all * (kernel->processors - 1));
    for (uint32_t cpu = 0; cpu < kernel->processors; cpu++) /* which ran where is not kept: the first has all of it */
        content_put(to, "cpu%u %llu 0 0 %llu 0 0 0 0 0 0\n", cpu, cpu == 0 ? busy : 0, cpu == 0 ? idle : all);
    content_put(to,
                "intr 0\nctxt 0\nbtime %llu\nprocesses %u\n"
                "procs_running 1\nprocs_blocked 0\n",
                (unsigned long long)kernel->boot_seconds, kernel->processes->started);
}

/* There is no disk: nothing is paged in or out. */
static void write_vmstat(const struct content_of *of, int to)
{
    const struct syscalls *kernel = of->kernel;
    unsigned long long faults = 0;
    for (const struct process *at = views_next(kernel, 0); at; at = views_next(kernel, at->pid + 1))
        faults += at->state == PROCESS_RUNS ? views_of(kernel, at)->faults : 0;
    content_put(to, "nr_free_pages %llu\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault %llu\npgmajfault 0\n",
                (unsigned long long)(free_bytes(kernel) / C2_PAGE_BYTES), faults);
}

/* The limits of ipc_priv.h, as IPC_INFO tells them. */
_Static_assert(IPC_SEGMENTS == 1024 && IPC_SETS == 1024 && IPC_QUEUES == 128 && IPC_SET_MOST == 32000 &&
                   IPC_SEMAPHORES == 64000 && IPC_OPERATIONS == 500 && IPC_MESSAGE_BYTES == 8192 &&
                   IPC_QUEUE_BYTES == 16384 && IPC_MQUEUES == 64 && IPC_MQUEUE_MOST == 10,
               "/proc/sys shows them");

static void write_loadavg(const struct content_of *of, int to)
{
    uint32_t threads = 0;
    for (const struct process *at = views_next(of->kernel, 0); at; at = views_next(of->kernel, at->pid + 1))
        threads += views_of(of->kernel, at)->threads;
    content_put(to, "0.00 0.00 0.00 1/%u %u\n", threads, of->kernel->processes->last);
}

static void write_uptime(const struct content_of *of, int to)
{
    const struct syscalls *kernel = of->kernel;
    unsigned long long hundredths = syscalls_time_ns(kernel, kernel->instructions) / (KERNEL_NS / 100);
    content_put(to, "%llu.%02llu 0.00\n", hundredths / 100, hundredths % 100);
}

/* ------------------------------------------------------------------ the process */

static struct views_texts content_texts_of(const struct content_of *of)
{
    return of->process->state == PROCESS_ZOMBIE ? (struct views_texts){"", "", "", 0, 0}
                                                : views_texts(of->kernel, of->process);
}

static void write_cmdline(const struct content_of *of, int to)
{
    const struct views_texts texts = content_texts_of(of);
    put_bytes(to, texts.arguments, texts.arguments_bytes);
}

static void write_environ(const struct content_of *of, int to)
{
    const struct views_texts texts = content_texts_of(of);
    put_bytes(to, texts.environment, texts.environment_bytes);
}

static void write_comm(const struct content_of *of, int to) { content_put(to, "%s\n", of->thread->name); }

/* What is written to a file, as a text in `room` bytes; the rest is cut. How many bytes were taken. */
static int64_t read_setting(struct call *c, char *out, size_t room, uint64_t text, uint64_t bytes)
{
    const uint64_t taken = bytes < room ? bytes : room - 1;
    memset(out, 0, room);
    const int64_t status = guest_read(c, out, text, taken);
    return status < 0 ? status : (int64_t)taken;
}

/* What is too long is cut; a thread is named by those of its own process. */
static int64_t set_comm(struct call *c, const struct content_of *of, uint64_t text, uint64_t bytes)
{
    char name[IDENTITY_NAME_BYTES];
    const int64_t status = read_setting(c, name, sizeof name, text, bytes);
    struct kernel_thread *thread = threads_find(c->kernel, of->thread->tid);
    if (status < 0)
        return status;
    if (of->process != c->kernel->self)
        return -EINVAL;
    if (!thread)
        return -ESRCH;
    identity_name_thread(thread, name);
    return (int64_t)bytes;
}

static void write_oom_score_adj(const struct content_of *of, int to)
{
    content_put(to, "%d\n", of->process->oom_score_adj);
}

/* In the old file's units, whose most, 15, is the new one's most. */
static void write_oom_adj(const struct content_of *of, int to)
{
    const int score = of->process->oom_score_adj;
    content_put(to, "%d\n", score == OOM_SCORE_ADJ_MAX ? OOM_ADJUST_MAX : score * -OOM_DISABLE / OOM_SCORE_ADJ_MAX);
}

/* A user may not go below 0, which processes begin with. */
static int64_t set_oom_score_adj(struct call *c, const struct content_of *of, uint64_t text, uint64_t bytes)
{
    char number[13], *end; /* as many bytes as Linux takes */
    const int64_t taken = read_setting(c, number, sizeof number, text, bytes);
    if (taken < 0)
        return taken;
    const long wanted = strtol(number, &end, 0);
    if (end == number || end[strspn(end, " \t\n\v\f\r")] != '\0' || wanted < OOM_SCORE_ADJ_MIN ||
        wanted > OOM_SCORE_ADJ_MAX)
        return -EINVAL;
    if (wanted < 0)
        return -EACCES;
    struct process *process = processes_find(c->kernel, of->process->pid);
    if (!process)
        return -ESRCH;
    process->oom_score_adj = (int)wanted;
    return taken;
}

/* What a process that is at its end has not. */
static uint64_t unless_ended(const struct content_of *of, uint64_t value)
{
    return of->process->state == PROCESS_ZOMBIE ? 0 : value;
}

static void write_children(const struct content_of *of, int to)
{
    const bool first = of->thread->tid == of->process->pid;
    for (const struct process *at = views_next(of->kernel, 0); first && at; at = views_next(of->kernel, at->pid + 1))
        if (at->parent == of->process->pid)
            content_put(to, "%u ", at->pid);
}

static const char *content_area_name(const struct mmu_area *area)
{
    switch (area->kind) {
    case MMU_HEAP:
        return "[heap]";
    case MMU_STACK:
        return "[stack]";
    default:
        return area->path && c2_root_inside(area->path) ? c2_root_inside(area->path) : area->path;
    }
}

/* The name stands in column 73; a line without one ends with a blank. */
static void write_area(const struct syscalls *kernel, int to, const struct mmu_area *area)
{
    char line[256];
    struct stat file = {.st_dev = area->device, .st_ino = area->inode, .st_mode = S_IFREG};
    attributes_show(kernel, &file);
    const char *name = content_area_name(area);
    snprintf(line, sizeof line, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ", (unsigned long long)area->start.v,
             (unsigned long long)(area->start.v + area->bytes), area->prot & MMU_READ ? 'r' : '-',
             area->prot & MMU_WRITE ? 'w' : '-', area->prot & MMU_EXEC ? 'x' : '-', area->shared ? 's' : 'p',
             (unsigned long long)area->offset, major(file.st_dev), minor(file.st_dev), (unsigned long long)file.st_ino);
    if (name)
        content_put(to, "%-73s%s\n", line, name);
    else
        content_put(to, "%s\n", line);
}

/* What Linux has as areas ends where memory is locked, or is not any more. The one from there on; 0 bytes: none. */
static struct mmu_area next_area(const struct syscalls *kernel, uint64_t from)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){from}, true);
    struct mmu_area part = {0};
    if (!area)
        return part;
    part = *area;
    const uint64_t start = area->start.v > from ? area->start.v : from;
    part.offset += area->kind == MMU_FILE ? start - area->start.v : 0;
    part.start.v = start;
    part.bytes = ranges_border(&kernel->locked.ranges, start, area->start.v + area->bytes) - start;
    return part;
}

static void write_maps(const struct content_of *of, int to)
{
    uint64_t from = 0;
    for (struct mmu_area area; (area = next_area(of->kernel, from)).bytes != 0; from = area.start.v + area.bytes)
        write_area(of->kernel, to, &area);
}

/* Nothing is shared with others, swapped, or of huge pages: the guest is not told of those. */
static void write_residence(const struct syscalls *kernel, int to, const struct mmu_area *area)
{
    const bool file = area->kind == MMU_FILE;
    const unsigned long long size = area->bytes / 1024,
                             there = mmu_present_bytes(kernel->mmu, area->start, area->bytes) / 1024,
                             locked = ranges_bytes(&kernel->locked.ranges, area->start.v, area->start.v + 1) ? there
                                                                                                             : 0;
    content_put(to,
                "Size:           %8llu kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\n"
                "Rss:            %8llu kB\nPss:            %8llu kB\nShared_Clean:          0 kB\n"
                "Shared_Dirty:          0 kB\nPrivate_Clean:  %8llu kB\nPrivate_Dirty:  %8llu kB\n"
                "Referenced:     %8llu kB\nAnonymous:      %8llu kB\nLazyFree:              0 kB\n"
                "AnonHugePages:         0 kB\nShmemPmdMapped:        0 kB\nFilePmdMapped:         0 kB\n"
                "Shared_Hugetlb:        0 kB\nPrivate_Hugetlb:       0 kB\nSwap:                  0 kB\n"
                "SwapPss:               0 kB\nLocked:         %8llu kB\nTHPeligible:    0\n",
                size, there, there, file ? there : 0, file ? 0 : there, there, file || area->shared ? 0 : there,
                locked);
    content_put(to, "VmFlags:%s%s%s%s mr mw me%s%s \n", area->prot & MMU_READ ? " rd" : "",
                area->prot & MMU_WRITE ? " wr" : "", area->prot & MMU_EXEC ? " ex" : "", area->shared ? " sh" : "",
                area->kind == MMU_STACK ? " gd" : "",
                ranges_bytes(&kernel->locked.ranges, area->start.v, area->start.v + 1) ? " lo" : "");
}

static void write_smaps(const struct content_of *of, int to)
{
    uint64_t from = 0;
    for (struct mmu_area area; (area = next_area(of->kernel, from)).bytes != 0; from = area.start.v + area.bytes) {
        write_area(of->kernel, to, &area);
        write_residence(of->kernel, to, &area);
    }
}

static void write_nothing(const struct content_of *of, int to) { (void)of, (void)to; }

static char content_state_of(const struct content_of *of)
{
    return of->process->state == PROCESS_ZOMBIE ? 'Z' : of->process->stopped != 0 ? 'T' : of->thread->state;
}

static void write_stat(const struct content_of *of, int to)
{
    const struct process *process = of->process;
    const struct process_view *view = of->view;
    const struct priority priority = priorities_of(of->kernel, of->thread->tid);
    const struct terminal *terminal = terminals_controlling(of->kernel, process);
    content_put(to, "%u (%s) %c %u %u %u %u %d 4194304 %llu %llu 0 0 %llu 0 %llu 0 %d %d %u 0 %llu %llu %llu ",
                of->thread->tid, of->thread->name, content_state_of(of), process->parent, process->group,
                process->session, terminal ? 136u << 8 | terminals_number(of->kernel, terminal) : 0,
                terminal ? (int)terminal->group : -1, (unsigned long long)view->faults,
                (unsigned long long)process->children_faults,
                (unsigned long long)ticks(of->is_thread ? of->thread->cpu_ns : view->cpu_ns),
                (unsigned long long)ticks(process->children_ns), 20 + priority.nice, priority.nice, view->threads,
                (unsigned long long)ticks(view->started_ns), (unsigned long long)unless_ended(of, view->mapped_bytes),
                (unsigned long long)(unless_ended(of, view->resident_bytes) / C2_PAGE_BYTES));
    content_put(to, "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 %d 0 0 0 0 0 0 0 0 0 0 0\n", priority.policy);
}

static void write_statm(const struct content_of *of, int to)
{
    content_put(to, "%llu %llu 0 0 0 0 0\n",
                (unsigned long long)(unless_ended(of, of->view->mapped_bytes) / C2_PAGE_BYTES),
                (unsigned long long)(unless_ended(of, of->view->resident_bytes) / C2_PAGE_BYTES));
}

static const char *state_name(char state)
{
    return state == 'R'   ? "R (running)"
           : state == 'S' ? "S (sleeping)"
           : state == 'D' ? "D (disk sleep)"
           : state == 'T' ? "T (stopped)"
                          : "Z (zombie)";
}

static void content_put_memory(const struct content_of *of, int to)
{
    const unsigned long long size = of->view->mapped_bytes / 1024, resident = of->view->resident_bytes / 1024;
    const unsigned long long locked = of->view->locked_bytes / 1024;
    if (of->process->state != PROCESS_ZOMBIE)
        content_put(to, "VmPeak:\t%8llu kB\nVmSize:\t%8llu kB\nVmLck:\t%8llu kB\nVmHWM:\t%8llu kB\nVmRSS:\t%8llu kB\n",
                    size, size, locked, resident, resident);
}

#define NO_CAPABILITY "0000000000000000"

static void write_status(const struct content_of *of, int to)
{
    const struct process_view *view = of->view;
    content_put(to,
                "Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%u\nNgid:\t0\nPid:\t%u\nPPid:\t%u\nTracerPid:\t0\n"
                "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nFDSize:\t64\nGroups:\t\n",
                of->thread->name, view->mask, state_name(content_state_of(of)), of->process->pid, of->thread->tid,
                of->process->parent);
    content_put_memory(of, to);
    content_put(
        to, "Threads:\t%u\nSigPnd:\t%016llx\nShdPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\n",
        view->threads, (unsigned long long)of->thread->pending, (unsigned long long)view->pending,
        (unsigned long long)of->thread->blocked, (unsigned long long)view->ignored, (unsigned long long)view->caught);
    content_put(to, "CapInh:\t%s\nCapPrm:\t%s\nCapEff:\t%s\nCapBnd:\t000001ffffffffff\nCapAmb:\t%s\n", NO_CAPABILITY,
                NO_CAPABILITY, NO_CAPABILITY, NO_CAPABILITY);
    content_put(to, "NoNewPrivs:\t%d\nSeccomp:\t0\nCpus_allowed:\t%llx\nCpus_allowed_list:\t",
                of->thread->no_new_privileges, (unsigned long long)sched_all(of->kernel));
    content_write_processors(of, to);
}

static void put_limit(int to, const char *name, const struct identity_limit *limit, const char *unit)
{
    char soft[32] = "unlimited", hard[32] = "unlimited";
    if (limit->soft != RLIM_INFINITY)
        snprintf(soft, sizeof soft, "%llu", (unsigned long long)limit->soft);
    if (limit->hard != RLIM_INFINITY)
        snprintf(hard, sizeof hard, "%llu", (unsigned long long)limit->hard);
    content_put(to, "%-25s %-20s %-20s %-10s\n", name, soft, hard, unit);
}

static void write_limits(const struct content_of *of, int to)
{
    const struct syscalls *kernel = of->kernel;
    static const struct {
        const char *name, *unit;
    } rows[IDENTITY_LIMITS] = {
        {"Max cpu time", "seconds"},    {"Max file size", "bytes"},      {"Max data size", "bytes"},
        {"Max stack size", "bytes"},    {"Max core file size", "bytes"}, {"Max resident set", "bytes"},
        {"Max processes", "processes"}, {"Max open files", "files"},     {"Max locked memory", "bytes"},
        {"Max address space", "bytes"}, {"Max file locks", "locks"},     {"Max pending signals", "signals"},
        {"Max msgqueue size", "bytes"}, {"Max nice priority", ""},       {"Max realtime priority", ""},
        {"Max realtime timeout", "us"},
    };
    content_put(to, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    for (int i = 0; i < IDENTITY_LIMITS; i++)
        put_limit(to, rows[i].name, &kernel->identity.limit[i], rows[i].unit);
}

static void write_personality(const struct content_of *of, int to)
{
    content_put(to, "%08x\n", of->kernel->identity.personality);
}

/* ------------------------------------------------------------------ the tree */

const struct content_process_node content_process_nodes[] = {
    {{"cgroup", NULL, "0::/\n", NULL}, CONTENT_ANY, NULL},
    {{"children", NULL, NULL, write_children}, CONTENT_TASK, NULL},
    {{"cmdline", NULL, NULL, write_cmdline}, CONTENT_ANY, NULL},
    {{"comm", NULL, NULL, write_comm}, CONTENT_ANY, set_comm},
    {{"coredump_filter", NULL, "00000033\n", NULL}, CONTENT_ANY, NULL},
    {{"cpuset", NULL, "/\n", NULL}, CONTENT_ANY, NULL},
    {{"cwd", "", NULL, NULL}, CONTENT_ANY, NULL}, /* the text is that of the moment, as that of exe */
    {{"environ", NULL, NULL, write_environ}, CONTENT_ANY, NULL},
    {{"exe", "", NULL, NULL}, CONTENT_ANY, NULL},
    {{"fd", NULL, NULL, NULL}, CONTENT_OWN, NULL}, /* a directory: the open descriptors */
    {{"gid_map", NULL, "         0          0 4294967295\n", NULL}, CONTENT_ANY, NULL},
    {{"limits", NULL, NULL, write_limits}, CONTENT_OWN, NULL},
    {{"loginuid", NULL, "4294967295", NULL}, CONTENT_ANY, NULL},
    {{"maps", NULL, NULL, write_maps}, CONTENT_OWN, NULL},
    {{"mountinfo", NULL, "1 1 8:1 / / rw - ext4 /dev/root rw\n", NULL}, CONTENT_ANY, NULL},
    {{"mounts", NULL, "/dev/root / ext4 rw 0 0\n", NULL}, CONTENT_ANY, NULL},
    {{"oom_adj", NULL, NULL, write_oom_adj}, CONTENT_ANY, NULL},
    {{"oom_score", NULL, "0\n", NULL}, CONTENT_ANY, NULL},
    {{"oom_score_adj", NULL, NULL, write_oom_score_adj}, CONTENT_ANY, set_oom_score_adj},
    {{"pagemap", NULL, NULL, write_nothing}, CONTENT_OWN, NULL}, /* read by presence.c */
    {{"personality", NULL, NULL, write_personality}, CONTENT_OWN, NULL},
    {{"root", "/", NULL, NULL}, CONTENT_ANY, NULL},
    {{"sessionid", NULL, "4294967295", NULL}, CONTENT_ANY, NULL},
    {{"setgroups", NULL, "allow\n", NULL}, CONTENT_ANY, NULL},
    {{"smaps", NULL, NULL, write_smaps}, CONTENT_OWN, NULL},
    {{"stat", NULL, NULL, write_stat}, CONTENT_ANY, NULL},
    {{"statm", NULL, NULL, write_statm}, CONTENT_ANY, NULL},
    {{"status", NULL, NULL, write_status}, CONTENT_ANY, NULL},
    {{"task", NULL, NULL, NULL}, CONTENT_PROCESS, NULL}, /* a directory: the threads */
    {{"uid_map", NULL, "         0          0 4294967295\n", NULL}, CONTENT_ANY, NULL},
    {{"wchan", NULL, "0", NULL}, CONTENT_ANY, NULL},
};
const size_t content_process_node_count = sizeof content_process_nodes / sizeof content_process_nodes[0];

/* Process 1, as procps reads it: asleep since the machine was started, root's. */
#define INIT_STAT "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 18446744073709551615 "
#define INIT_STATUS \
    "Name:\tinit\nUmask:\t0000\nState:\tS (sleeping)\nTgid:\t1\nNgid:\t0\nPid:\t1\nPPid:\t0\nTracerPid:\t0\n" \
    "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nFDSize:\t64\nGroups:\t\nThreads:\t1\n"

/* Of an interface, as the kernel starts it: whether the sender may choose the route, whether IPsec is left out. */
/* clang-format off */
#define CONF(of, name, value) {"/proc/sys/net/ipv4/conf/" of "/" name, NULL, value "\n", NULL}
#define CONFS(of, source, policy) \
    CONF(of, "accept_local", "0"), CONF(of, "accept_redirects", "1"), CONF(of, "accept_source_route", source), \
    CONF(of, "arp_accept", "0"), CONF(of, "arp_announce", "0"), CONF(of, "arp_evict_nocarrier", "1"), \
    CONF(of, "arp_filter", "0"), CONF(of, "arp_ignore", "0"), CONF(of, "arp_notify", "0"), \
    CONF(of, "bc_forwarding", "0"), CONF(of, "bootp_relay", "0"), CONF(of, "disable_policy", policy), \
    CONF(of, "disable_xfrm", policy), CONF(of, "drop_gratuitous_arp", "0"), \
    CONF(of, "drop_unicast_in_l2_multicast", "0"), CONF(of, "force_igmp_version", "0"), \
    CONF(of, "forwarding", "0"), CONF(of, "igmpv2_unsolicited_report_interval", "10000"), \
    CONF(of, "igmpv3_unsolicited_report_interval", "1000"), CONF(of, "ignore_routes_with_linkdown", "0"), \
    CONF(of, "log_martians", "0"), CONF(of, "mc_forwarding", "0"), CONF(of, "medium_id", "0"), \
    CONF(of, "promote_secondaries", "0"), CONF(of, "proxy_arp", "0"), CONF(of, "proxy_arp_pvlan", "0"), \
    CONF(of, "route_localnet", "0"), CONF(of, "rp_filter", "0"), CONF(of, "secure_redirects", "1"), \
    CONF(of, "send_redirects", "1"), CONF(of, "shared_media", "1"), CONF(of, "src_valid_mark", "0"), \
    CONF(of, "tag", "0")
/* clang-format on */

static const struct content_node machine_nodes[] = {
    {"/dev/pts/ptmx", NULL, NULL, write_nothing}, /* a device of terminals.c */
    {"/proc/1/cmdline", NULL, "/sbin/init", NULL},
    {"/proc/1/comm", NULL, "init\n", NULL},
    {"/proc/1/stat", NULL, INIT_STAT "0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", NULL},
    {"/proc/1/statm", NULL, "0 0 0 0 0 0 0\n", NULL},
    {"/proc/1/status", NULL, INIT_STATUS, NULL},
    {"/proc/cmdline", NULL, "root=/dev/root rw\n", NULL},
    {"/proc/cpuinfo", NULL, NULL, write_cpuinfo},
    {"/proc/filesystems", NULL, "nodev\tproc\nnodev\tsysfs\nnodev\ttmpfs\n\text4\n", NULL},
    {"/proc/loadavg", NULL, NULL, write_loadavg},
    {"/proc/meminfo", NULL, NULL, write_meminfo},
    {"/proc/mounts", "self/mounts", NULL, NULL},
    {"/proc/self", "", NULL, NULL}, /* the number of the reader, as in thread-self */
    {"/proc/stat", NULL, NULL, write_machine_stat},
    {"/proc/swaps", NULL, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n", NULL},
    {"/proc/sys/fs/dir-notify-enable", NULL, "1\n", NULL},
    {"/proc/sys/fs/file-max", NULL, "9223372036854775807\n", NULL},
    {"/proc/sys/fs/lease-break-time", NULL, "45\n", NULL},
    {"/proc/sys/fs/leases-enable", NULL, "1\n", NULL},
    {"/proc/sys/fs/mqueue/msg_default", NULL, "10\n", NULL},
    {"/proc/sys/fs/mqueue/msg_max", NULL, "10\n", NULL},
    {"/proc/sys/fs/mqueue/msgsize_default", NULL, "8192\n", NULL},
    {"/proc/sys/fs/mqueue/msgsize_max", NULL, "8192\n", NULL},
    {"/proc/sys/fs/mqueue/queues_max", NULL, "64\n", NULL},
    {"/proc/sys/fs/nr_open", NULL, "1048576\n", NULL},
    {"/proc/sys/fs/pipe-max-size", NULL, "1048576\n", NULL},
    {"/proc/sys/fs/pipe-user-pages-hard", NULL, "0\n", NULL},
    {"/proc/sys/fs/pipe-user-pages-soft", NULL, "16384\n", NULL},
    {"/proc/sys/fs/suid_dumpable", NULL, "0\n", NULL},
    {"/proc/sys/kernel/cap_last_cap", NULL, "40\n", NULL},
    {"/proc/sys/kernel/core_pattern", NULL, "core\n", NULL},
    {"/proc/sys/kernel/core_uses_pid", NULL, "0\n", NULL},
    {"/proc/sys/kernel/domainname", NULL, "(none)\n", NULL},
    {"/proc/sys/kernel/hostname", NULL, IDENTITY_HOST_NAME "\n", NULL},
    {"/proc/sys/kernel/msg_next_id", NULL, "-1\n", NULL},
    {"/proc/sys/kernel/msgmax", NULL, "8192\n", NULL},
    {"/proc/sys/kernel/msgmnb", NULL, "16384\n", NULL},
    {"/proc/sys/kernel/msgmni", NULL, "128\n", NULL},
    {"/proc/sys/kernel/ngroups_max", NULL, "65536\n", NULL},
    {"/proc/sys/kernel/osrelease", NULL, IDENTITY_RELEASE "\n", NULL},
    {"/proc/sys/kernel/ostype", NULL, "Linux\n", NULL},
    {"/proc/sys/kernel/overflowgid", NULL, "65534\n", NULL},
    {"/proc/sys/kernel/overflowuid", NULL, "65534\n", NULL},
    {"/proc/sys/kernel/pid_max", NULL, "32768\n", NULL},
    {"/proc/sys/kernel/random/boot_id", NULL, "c2e00000-0000-4000-8000-000000000001\n", NULL},
    {"/proc/sys/kernel/random/entropy_avail", NULL, "256\n", NULL},
    {"/proc/sys/kernel/random/poolsize", NULL, "256\n", NULL},
    {"/proc/sys/kernel/randomize_va_space", NULL, "0\n", NULL},
    {"/proc/sys/kernel/sched_rr_timeslice_ms", NULL, "100\n", NULL},
    {"/proc/sys/kernel/sem", NULL, "32000\t64000\t500\t1024\n", NULL},
    {"/proc/sys/kernel/sem_next_id", NULL, "-1\n", NULL},
    {"/proc/sys/kernel/shm_next_id", NULL, "-1\n", NULL},
    {"/proc/sys/kernel/shmall", NULL, "18446744073692774399\n", NULL},
    {"/proc/sys/kernel/shmmax", NULL, "18446744073692774399\n", NULL},
    {"/proc/sys/kernel/shmmni", NULL, "1024\n", NULL},
    {"/proc/sys/kernel/tainted", NULL, "0\n", NULL},
    {"/proc/sys/kernel/threads-max", NULL, "16384\n", NULL},
    {"/proc/sys/kernel/version", NULL, IDENTITY_VERSION "\n", NULL},
    {"/proc/sys/net/core/rmem_default", NULL, "212992\n", NULL},
    {"/proc/sys/net/core/rmem_max", NULL, "212992\n", NULL},
    {"/proc/sys/net/core/somaxconn", NULL, "4096\n", NULL},
    {"/proc/sys/net/core/wmem_default", NULL, "212992\n", NULL},
    {"/proc/sys/net/core/wmem_max", NULL, "212992\n", NULL},
    CONFS("all", "0", "0"),
    CONFS("default", "1", "0"),
    CONFS("lo", "1", "1"),
    {"/proc/sys/net/ipv4/ip_forward", NULL, "0\n", NULL},
    {"/proc/sys/net/ipv4/ip_local_port_range", NULL, "32768\t60999\n", NULL},
    {"/proc/sys/net/unix/max_dgram_qlen", NULL, "10\n", NULL},
    {"/proc/sys/vm/max_map_count", NULL, "65530\n", NULL},
    {"/proc/sys/vm/mmap_min_addr", NULL, "65536\n", NULL},
    {"/proc/sys/vm/nr_hugepages", NULL, "0\n", NULL},
    {"/proc/sys/vm/overcommit_memory", NULL, "0\n", NULL},
    {"/proc/sys/vm/overcommit_ratio", NULL, "50\n", NULL},
    {"/proc/sys/vm/panic_on_oom", NULL, "0\n", NULL},
    {"/proc/sys/vm/swappiness", NULL, "60\n", NULL},
    {"/proc/sysvipc/msg", NULL, NULL, ipc_list_queues},
    {"/proc/sysvipc/sem", NULL, NULL, ipc_list_sets},
    {"/proc/sysvipc/shm", NULL, NULL, ipc_list_segments},
    {"/proc/thread-self", "", NULL, NULL},
    {"/proc/uptime", NULL, NULL, write_uptime},
    {"/proc/version", NULL, "Linux version " IDENTITY_RELEASE " (c2emu) " IDENTITY_VERSION "\n", NULL},
    {"/proc/vmstat", NULL, NULL, write_vmstat},
    {TOPOLOGY_PROCESSORS "/offline", NULL, "\n", NULL},
    {TOPOLOGY_PROCESSORS "/online", NULL, NULL, content_write_processors},
    {TOPOLOGY_PROCESSORS "/possible", NULL, NULL, content_write_processors},
    {TOPOLOGY_PROCESSORS "/present", NULL, NULL, content_write_processors},
};
const struct content_nodes content_nodes = {machine_nodes, sizeof machine_nodes / sizeof machine_nodes[0]};
