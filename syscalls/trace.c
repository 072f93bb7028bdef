/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tracer: one line a call, in the style of strace.
 *
 *     openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3
 *     read(3, "root:x:0:0:root:/root:/bin/bash\n"..., 4096) = 1024
 *     access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory)
 *
 * Paths are shown whole, data up to 32 bytes. Memory that the call did not accept is shown as an address.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/trace_priv.h"

enum { DATA_SHOWN = 32 };

/* ------------------------------------------------------------------ numbers with names */

static void put_choice(FILE *to, const struct call_names *names, int64_t value)
{
    for (size_t i = 0; i < names->count; i++)
        if ((uint32_t)names->row[i].value == (uint32_t)value) {
            fputs(names->row[i].name, to);
            return;
        }
    if (value >= -4096 && value < 4096)
        fprintf(to, "%lld", (long long)value);
    else
        fprintf(to, "%#x", (unsigned)value);
}

/* The value in the masked bits first, then each name whose bits are all set, then what is left. */
static void trace_put_flags(FILE *to, const struct call_names *names, uint64_t value)
{
    uint64_t left = value, field = value & names->mask;
    const char *between = "";
    for (size_t i = 0; i < names->count; i++) {
        uint64_t bits = names->row[i].value;
        bool fits = bits & ~names->mask ? (left & bits) == bits : names->mask && bits == field && left == value;
        if (bits == 0 && !names->mask)
            fits = value == 0;
        if (!fits)
            continue;
        fprintf(to, "%s%s", between, names->row[i].name);
        between = "|";
        left &= ~(bits | (bits & ~names->mask ? 0 : names->mask));
    }
    if (left || !*between)
        fprintf(to, left ? "%s%#llx" : "%s%llx", between, (unsigned long long)left);
}

/* ------------------------------------------------------------------ strings */

static const char *escape_of(unsigned char byte)
{
    switch (byte) {
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    case '\v':
        return "\\v";
    case '\f':
        return "\\f";
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    default:
        return NULL;
    }
}

static void trace_put_string(FILE *to, const char *text, size_t bytes, size_t shown)
{
    fputc('"', to);
    for (size_t i = 0; i < bytes && i < shown; i++) {
        unsigned char byte = (unsigned char)text[i];
        const char *escape = escape_of(byte);
        bool digit_follows = i + 1 < bytes && i + 1 < shown && text[i + 1] >= '0' && text[i + 1] <= '9';
        if (escape)
            fputs(escape, to);
        else if (byte >= ' ' && byte < 0x7f)
            fputc(byte, to);
        else
            fprintf(to, digit_follows ? "\\%03o" : "\\%o", byte);
    }
    fputs(bytes > shown ? "\"..." : "\"", to);
}

/* ------------------------------------------------------------------ structures */

static void put_stat(FILE *to, const struct stat *st)
{
    static const char *const kinds[16] = {
        [S_IFIFO >> 12] = "S_IFIFO|",   [S_IFCHR >> 12] = "S_IFCHR|", [S_IFDIR >> 12] = "S_IFDIR|",
        [S_IFBLK >> 12] = "S_IFBLK|",   [S_IFREG >> 12] = "S_IFREG|", [S_IFLNK >> 12] = "S_IFLNK|",
        [S_IFSOCK >> 12] = "S_IFSOCK|",
    };
    const char *kind = kinds[st->st_mode >> 12 & 15];
    fprintf(to, "{st_mode=%s%#o, st_size=%lld, ...}", kind ? kind : "", st->st_mode & 07777, (long long)st->st_size);
}

static void put_timespec(FILE *to, const struct timespec *time)
{
    fprintf(to, "{tv_sec=%lld, tv_nsec=%ld}", (long long)time->tv_sec, time->tv_nsec);
}

static void trace_put_address(FILE *to, uint64_t address)
{
    if (address)
        fprintf(to, "%#llx", (unsigned long long)address);
    else
        fputs("NULL", to);
}

/* Memory the call has accepted and, if the kernel writes it, has written. */
static void trace_put_memory(FILE *to, const struct call *c, int i, int64_t value)
{
    const struct call_arg *a = &c->row->arg[i];
    const void *memory = c->ptr[i];
    uint64_t count = a->count ? c->arg[a->count - 1] : 0;
    switch (a->kind) {
    case CALL_PATH:
    case CALL_STRING:
        trace_put_string(to, memory, strlen(memory), PATH_MAX);
        break;
    case CALL_BYTES:
        trace_put_string(to, memory, a->returned && (uint64_t)value < count ? (uint64_t)value : count, DATA_SHOWN);
        break;
    case CALL_TIMESPEC:
        put_timespec(to, memory);
        break;
    case CALL_FD_PAIR:
        fprintf(to, "[%d, %d]", ((const int *)memory)[0], ((const int *)memory)[1]);
        break;
    case CALL_STAT:
        put_stat(to, memory);
        break;
    default:
        trace_put_address(to, c->arg[i]);
        break;
    }
}

static void put_argument(FILE *to, const struct call *c, int i, uint64_t raw, int64_t value)
{
    const struct call_arg *a = &c->row->arg[i];
    switch (a->kind) {
    case CALL_INT:
    case CALL_FD:
        fprintf(to, "%d", (int)raw);
        break;
    case CALL_UINT:
        fprintf(to, "%u", (unsigned)raw);
        break;
    case CALL_SIZE:
        fprintf(to, "%llu", (unsigned long long)raw);
        break;
    case CALL_OFFSET:
        fprintf(to, "%lld", (long long)raw);
        break;
    case CALL_HEX:
        fprintf(to, "%#llx", (unsigned long long)raw);
        break;
    case CALL_MODE:
        fprintf(to, "%#o", (unsigned)raw);
        break;
    case CALL_DIRFD:
        (int)raw == AT_FDCWD ? fputs("AT_FDCWD", to) : fprintf(to, "%d", (int)raw);
        break;
    case CALL_SIGNAL:
        (int)raw >= 1 && (int)raw <= SIGNALS_COUNT ? fputs(syscalls_signal_name((int)raw), to)
                                                   : fprintf(to, "%d", (int)raw);
        break;
    case CALL_FLAGS:
        trace_put_flags(to, a->names, raw);
        break;
    case CALL_CHOICE:
        put_choice(to, a->names, (int32_t)raw);
        break;
    case CALL_ADDRESS:
        trace_put_address(to, raw);
        break;
    default:
        if (c->ptr[i] && c->ptr[i] != CALL_FORBIDDEN && !(a->access & CALL_WRITES && value < 0))
            trace_put_memory(to, c, i, value);
        else
            trace_put_address(to, raw);
        break;
    }
}

/* ------------------------------------------------------------------ lines */

static void put_result(FILE *to, const struct call *c, int64_t value)
{
    if (c->row->result == CALL_NO_RESULT || c->result->action == SYSCALLS_FAILED)
        fputs(" = ?\n", to);
    else if (value < 0 && value >= -4095)
        fprintf(to, " = -1 %s (%s)\n", strerrorname_np((int)-value), strerrordesc_np((int)-value));
    else if (c->row->result == CALL_ADDRESS_RESULT)
        fprintf(to, " = %#llx\n", (unsigned long long)value);
    else
        fprintf(to, " = %lld\n", (long long)value);
}

/* The mode of open is an argument only if a file may be made. */
static bool is_absent(const struct call *c, int i)
{
    const struct call_arg *a = &c->row->arg[i];
    bool after_open_flags = i > 0 && a[-1].kind == CALL_FLAGS && a[-1].names == &trace_open;
    return a->kind == CALL_NONE ||
           (a->kind == CALL_MODE && after_open_flags && !(c->arg[i - 1] & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))));
}

void trace_thread(const struct syscalls *kernel, uint32_t tid)
{
    if (kernel->last_tid != IDENTITY_PID || kernel->processes->last != IDENTITY_PID)
        fprintf(kernel->trace, "[%u] ", tid);
}

void trace_interrupted(const struct syscalls *kernel, uint32_t number, int signal, bool restarts)
{
    trace_thread(kernel, kernel->current->tid);
    fprintf(kernel->trace, "%s(...) = %s by %s\n", syscalls_name(number),
            restarts ? "? interrupted, to be made again," : "-1 EINTR", syscalls_signal_name(signal));
    fflush(kernel->trace);
}

void trace_call(const struct call *c, const uint64_t raw[CALL_ARGS], int64_t value)
{
    FILE *to = c->kernel->trace;
    fprintf(to, "%s(", c->row->name);
    for (int i = 0; i < CALL_ARGS && !is_absent(c, i); i++) {
        fputs(i ? ", " : "", to);
        put_argument(to, c, i, raw[i], value);
    }
    fputc(')', to);
    put_result(to, c, value);
    fflush(to);
}

void trace_unknown(FILE *to, uint64_t number, const uint64_t raw[CALL_ARGS], int64_t value)
{
    const char *name = syscalls_name(number);
    if (name)
        fprintf(to, "%s(", name);
    else
        fprintf(to, "syscall_%#llx(", (unsigned long long)number);
    for (int i = 0; i < CALL_ARGS; i++)
        fprintf(to, "%s%#llx", i ? ", " : "", (unsigned long long)raw[i]);
    fprintf(to, ") = -1 %s (%s)\n", strerrorname_np((int)-value), strerrordesc_np((int)-value));
    fflush(to);
}

/* ------------------------------------------------------------------ signals */

const char *syscalls_signal_name(int signal)
{
    static const char *const names[32] = {
        "SIG0",      "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
        "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
        "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
        "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS",
    };
    static const char *const real_time[33] = {
        "SIGRT_0",  "SIGRT_1",  "SIGRT_2",  "SIGRT_3",  "SIGRT_4",  "SIGRT_5",  "SIGRT_6",  "SIGRT_7",  "SIGRT_8",
        "SIGRT_9",  "SIGRT_10", "SIGRT_11", "SIGRT_12", "SIGRT_13", "SIGRT_14", "SIGRT_15", "SIGRT_16", "SIGRT_17",
        "SIGRT_18", "SIGRT_19", "SIGRT_20", "SIGRT_21", "SIGRT_22", "SIGRT_23", "SIGRT_24", "SIGRT_25", "SIGRT_26",
        "SIGRT_27", "SIGRT_28", "SIGRT_29", "SIGRT_30", "SIGRT_31", "SIGRT_32",
    };
    if (signal >= 0 && signal < 32)
        return names[signal];
    return signal >= 32 && signal <= SIGNALS_COUNT ? real_time[signal - 32] : "an unknown signal";
}

void trace_signal(FILE *to, const struct signals_info *info)
{
    fprintf(to, "--- %s {si_signo=%s, si_code=%d", syscalls_signal_name(info->signal),
            syscalls_signal_name(info->signal), info->code);
    if (info->code > 0 && info->code != SI_KERNEL)
        fprintf(to, ", si_addr=%#llx} ---\n", (unsigned long long)info->address);
    else
        fprintf(to, ", si_pid=%d, si_uid=%u} ---\n", info->sender.pid, info->sender.uid);
    fflush(to);
}
