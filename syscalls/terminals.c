/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pseudo-terminals.
 *
 * Model
 *   They are the run's own, with numbers from 0, in memory that all its processes share; the host has none of them, for
 *   it hands on what is written when it likes. Bytes go by discipline.c. A descriptor is a pollable proxy (pollable
 *   proxy.c): an eventfd of the host's, which shows epoll what is ready; poll and select are answered here.
 *   The master's end makes the terminal and its name; while it is open the slave's may be opened by that. When the last
 *   master is closed the slave hangs up: its descriptors read nothing and take nothing any more, and the leader of the
 *   session whose controlling terminal it is gets SIGHUP and SIGCONT. When that leader ends the foreground gets SIGHUP,
 *   and the terminal has no session. While no slave is open that was, the master's reads fail with EIO.
 *   The leader of a session takes the first terminal that it opens for its own. A read from it in the background, or
 *   changes it, or writes to it with TOSTOP, is stopped by SIGTTIN or SIGTTOU. The session that c2emu was started in
 *   has the terminal that it has there, or none: it takes no other.
 *
 * Invariants
 *   A terminal in use has a descriptor in some process. A session has at most one.
 *
 * Not modelled
 *   epoll's EPOLLHUP and EPOLLPRI: EPOLLIN in their place. SIGIO. Descriptors sent over a socket, and sendfile, splice
 *   (EINVAL). Rights: all are user 1000, the owner of all. A read that VMIN lets wait takes nothing before a
 *   signal interrupts it.
 */
#include "syscalls/terminals_priv.h"

#include <asm/termbits.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"

#define DIRECTORY "/dev/pts"
#define MULTIPLEXER "/dev/ptmx"
enum { SLAVES = 136, TTY_GROUP = 5, DEVICES = 5, TERMINALS = 25 }; /* numbers, as is usual on Linux */
enum { VTIME_NS = 100000000 };

/* ------------------------------------------------------------------ life */

int64_t terminals_ready(struct syscalls *kernel)
{
    if (kernel->terminals)
        return 0;
    void *at = mmap(NULL, sizeof *kernel->terminals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    kernel->terminals = at;
    return 0;
}

void terminals_destroy(struct syscalls *kernel)
{
    if (kernel->terminals)
        munmap(kernel->terminals, sizeof *kernel->terminals);
}

static bool is_master(const struct fd_entry *entry) { return entry->pollable->side == DISCIPLINE_MASTER; }

struct terminal *terminals_at(const struct fd_entry *entry)
{
    return &entry->pollable->kernel->terminals->list[entry->pollable->terminal];
}

uint32_t terminals_number(const struct syscalls *kernel, const struct terminal *terminal)
{
    return (uint32_t)(terminal - kernel->terminals->list);
}

bool terminals_is_dead(const struct fd_entry *entry)
{
    return !is_master(entry) && entry->pollable->hangups != terminals_at(entry)->hangups;
}

static void terminals_count(const struct fd_entry *entry, uint32_t more)
{
    struct terminal *terminal = terminals_at(entry);
    *(is_master(entry) ? &terminal->masters : &terminal->slaves) += more;
}

void terminals_copied(const struct fd_entry *entry) { terminals_count(entry, 1); }

void terminals_fork(struct syscalls *kernel, bool made)
{
    for (uint32_t fd = 0; kernel->fds.terminals && fd < kernel->fds.end; fd++)
        if (kernel->fds.entry[fd].kind == FD_TERMINAL)
            terminals_count(&kernel->fds.entry[fd], made ? 1u : -1u);
}

/* ------------------------------------------------------------------ sessions */

struct terminal *terminals_controlling(const struct syscalls *kernel, const struct process *process)
{
    for (uint32_t i = 0; kernel->terminals && i < kernel->terminals->reached && !process->detached; i++)
        if (kernel->terminals->list[i].session == process->session)
            return &kernel->terminals->list[i];
    return NULL;
}

bool terminals_may_control(const struct syscalls *kernel, const struct terminal *terminal)
{
    const struct process *self = kernel->self;
    return self->pid == self->session && self->session != IDENTITY_PID && terminal->session == 0 &&
           !terminals_controlling(kernel, self);
}

void terminals_control(struct syscalls *kernel, struct terminal *terminal)
{
    terminal->session = kernel->self->session;
    terminal->group = kernel->self->group;
    kernel->self->detached = false;
}

void terminals_send_typed(struct syscalls *kernel, struct terminal *terminal)
{
    for (uint64_t left = terminal->line.signal; left; left &= left - 1)
        processes_signal_group(kernel, terminal->group, __builtin_ctzll(left) + 1);
    terminal->line.signal = 0;
}

static bool ignores(const struct syscalls *kernel, int signal)
{
    return kernel->current->signals.blocked & signals_bit(signal) ||
           kernel->signals.action[signal].handler == (uint64_t)(uintptr_t)SIG_IGN;
}

int64_t terminals_check(struct call *c, const struct terminal *terminal, int signal)
{
    struct syscalls *kernel = c->kernel;
    if (terminals_controlling(kernel, kernel->self) != terminal || terminal->group == 0 ||
        kernel->self->group == terminal->group)
        return 0;
    if (ignores(kernel, signal))
        return signal == SIGTTIN ? -EIO : 0;
    if (stops_is_for_nothing(kernel, signal))
        return -EIO;
    processes_signal_group(kernel, kernel->self->group, signal);
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_TAKEN,
                                             .restarts = true,
                                             .deadline = KERNEL_NEVER,
                                             .signals = signals_bit(signal),
                                             .why = "nobody gets it into the foreground of its terminal"});
}

/* ------------------------------------------------------------------ hanging up */

static void hang_up(struct syscalls *kernel, struct terminal *terminal)
{
    const struct process *leader = processes_find(kernel, terminal->session);
    const struct signals_info hangup = {.signal = SIGHUP, .code = SI_KERNEL},
                              goes_on = {.signal = SIGCONT, .code = SI_KERNEL};
    terminal->hangups++;
    kernel->processes->events++;
    if (leader && leader->state == PROCESS_RUNS) {
        ((struct process *)leader)->lost_group = terminal->group;
        processes_send_to(kernel, (struct process *)leader, &hangup);
        processes_send_to(kernel, (struct process *)leader, &goes_on);
    }
    terminal->session = terminal->group = 0;
}

void terminals_release(const struct fd_entry *entry)
{
    struct syscalls *kernel = entry->pollable->kernel;
    struct terminal *terminal = terminals_at(entry);
    terminals_count(entry, -1u);
    if (is_master(entry) && terminal->masters == 0) {
        terminal->named = false;
        hang_up(kernel, terminal);
    }
    if (!is_master(entry) && terminal->slaves == 0) {
        terminal->left = true;
        terminal->exclusive = false;
    }
    if (terminal->masters + terminal->slaves == 0)
        terminal->used = false;
}

void terminals_end(struct syscalls *kernel)
{
    const struct process *self = kernel->self;
    struct terminal *terminal = terminals_controlling(kernel, self);
    if (self->pid != self->session)
        return;
    if (terminal) {
        const uint32_t group = terminal->group;
        terminal->session = terminal->group = 0;
        processes_signal_group(kernel, group, SIGHUP);
    } else if (self->lost_group != 0) {
        processes_signal_group(kernel, self->lost_group, SIGHUP);
        processes_signal_group(kernel, self->lost_group, SIGCONT);
    }
}

/* ------------------------------------------------------------------ names */

/* N of /dev/pts/N, as Linux writes it. */
static bool terminals_number_in(const char *path, uint32_t *number)
{
    const char *text = path + strlen(DIRECTORY) + 1;
    char *end;
    if (strncmp(path, DIRECTORY "/", strlen(DIRECTORY) + 1) != 0 || *text < '0' || *text > '9' ||
        (*text == '0' && text[1]))
        return false;
    const unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return value < UINT32_MAX && *end == '\0';
}

static bool is_multiplexer(const char *path)
{
    return strcmp(path, MULTIPLEXER) == 0 || strcmp(path, DIRECTORY "/ptmx") == 0;
}

/* A terminal that c2emu was started on. */
static bool terminals_is_outside(const struct syscalls *kernel, uint32_t number)
{
    for (int i = 0; i < FDS_STANDARD; i++)
        if (kernel->fds.outside[i] == number + 1)
            return true;
    return false;
}

bool terminals_cover(const struct syscalls *kernel, const char *path)
{
    const size_t bytes = strlen(DIRECTORY);
    uint32_t number;
    if (terminals_number_in(path, &number))
        return !terminals_is_outside(kernel, number);
    return strcmp(path, MULTIPLEXER) == 0 ||
           (strncmp(path, DIRECTORY, bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0'));
}

static const struct terminal *terminals_named(const struct syscalls *kernel, const char *path)
{
    uint32_t number;
    return kernel->terminals && terminals_number_in(path, &number) && number < TERMINALS_MOST
               ? &kernel->terminals->list[number]
               : NULL;
}

bool terminals_is_device(const struct syscalls *kernel, const char *path)
{
    const struct terminal *terminal = terminals_named(kernel, path);
    return is_multiplexer(path) || (terminal && terminal->named);
}

uint32_t terminals_next(const struct syscalls *kernel, uint32_t from)
{
    const uint32_t reached = kernel->terminals ? kernel->terminals->reached : 0;
    while (from < reached && !kernel->terminals->list[from].named)
        from++;
    return from < reached ? from : TERMINALS_MOST;
}

bool terminals_stat(const struct syscalls *kernel, const char *path, struct stat *out)
{
    const struct terminal *terminal = terminals_named(kernel, path);
    if (!is_multiplexer(path) && !(terminal && terminal->used))
        return false;
    *out = (struct stat){.st_nlink = 1, .st_blksize = 1024, .st_gid = TTY_GROUP};
    out->st_dev = strcmp(path, MULTIPLEXER) == 0 ? makedev(0, DEVICES) : makedev(0, TERMINALS);
    out->st_ino = terminal ? terminals_number(kernel, terminal) + 3 : 2;
    out->st_mode = S_IFCHR | (terminal ? 0620 : 0666);
    out->st_uid = terminal ? IDENTITY_USER : 0;
    out->st_rdev = terminal ? makedev(SLAVES, terminals_number(kernel, terminal)) : makedev(5, 2);
    out->st_atim.tv_sec = out->st_mtim.tv_sec = out->st_ctim.tv_sec = (time_t)kernel->boot_seconds;
    return true;
}

/* ------------------------------------------------------------------ opening */

static int64_t terminals_add_descriptor(struct call *c, const struct fd_pollable *made, const char *path, int flags)
{
    struct syscalls *kernel = c->kernel;
    struct fd_pollable *pollable = c2_calloc(1, sizeof *pollable);
    char *name = c2_strdup(path);
    int64_t fd = -ENOMEM;
    if (pollable && name) /* the pollable proxy is no object of the guest's: it has the attributes of the terminal */
        fd = fds_add(kernel, eventfd(0, EFD_CLOEXEC | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0)), FD_WAIT_NEVER,
                     flags & O_CLOEXEC);
    if (fd < 0) {
        c2_free(pollable);
        c2_free(name);
        return fd;
    }
    struct fd_entry *entry = fds_at(kernel, (uint64_t)fd);
    *pollable = *made;
    pollable->users = 1;
    pollable->due = LAMPS_NEVER;
    pollable->access = flags & O_ACCMODE;
    pollable->kernel = kernel;
    entry->kind = FD_TERMINAL;
    entry->wait = FD_WAIT_SELF;
    entry->path = name;
    entry->pollable = pollable;
    kernel->fds.pollables = kernel->fds.terminals = true;
    terminals_count(entry, 1);
    terminals_refresh(kernel, entry);
    return fd;
}

static int64_t open_master(struct call *c, int flags)
{
    uint32_t number = 0;
    int64_t status = terminals_ready(c->kernel);
    if (status < 0)
        return status;
    struct terminal *list = c->kernel->terminals->list;
    while (number < TERMINALS_MOST && (list[number].used || terminals_is_outside(c->kernel, number)))
        number++;
    if (number == TERMINALS_MOST)
        return -ENOSPC;
    const int64_t fd = terminals_add_descriptor(c, &(struct fd_pollable){.terminal = number, .side = DISCIPLINE_MASTER},
                                                MULTIPLEXER, flags);
    if (fd < 0) {
        list[number].masters = 0;
        return fd;
    }
    list[number] = (struct terminal){.used = true, .named = true, .locked = true, .masters = 1};
    if (number >= c->kernel->terminals->reached)
        c->kernel->terminals->reached = number + 1;
    discipline_create(&list[number].line);
    terminals_refresh(c->kernel, fds_at(c->kernel, (uint64_t)fd));
    return fd;
}

int64_t terminals_open_slave(struct call *c, uint32_t number, int flags)
{
    struct terminal *terminal = &c->kernel->terminals->list[number];
    char path[32];
    if (terminal->masters == 0)
        return -EIO;
    if (terminal->exclusive)
        return -EBUSY;
    snprintf(path, sizeof path, DIRECTORY "/%u", number);
    const struct fd_pollable made = {.terminal = number, .side = DISCIPLINE_SLAVE, .hangups = terminal->hangups};
    const int64_t fd = terminals_add_descriptor(c, &made, path, flags);
    if (fd < 0)
        return fd;
    terminal->left = false;
    if (!(flags & O_NOCTTY) && (flags & O_ACCMODE) != O_WRONLY && terminals_may_control(c->kernel, terminal))
        terminals_control(c->kernel, terminal);
    return fd;
}

int64_t terminals_open(struct call *c, const char *path, int flags)
{
    const struct terminal *terminal = terminals_named(c->kernel, path);
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return -EEXIST;
    if ((flags & O_DIRECTORY) == O_DIRECTORY)
        return -ENOTDIR;
    if (is_multiplexer(path))
        return open_master(c, flags);
    return terminal->locked ? -EIO : terminals_open_slave(c, terminals_number(c->kernel, terminal), flags);
}

bool terminals_is_own(const struct syscalls *kernel, const char *path)
{
    return strcmp(path, "/dev/tty") == 0 &&
           (kernel->self->session != IDENTITY_PID || terminals_controlling(kernel, kernel->self));
}

int64_t terminals_open_own(struct call *c, int flags)
{
    const struct terminal *terminal = terminals_controlling(c->kernel, c->kernel->self);
    return terminal ? terminals_open_slave(c, terminals_number(c->kernel, terminal), flags | O_NOCTTY) : -ENXIO;
}

/* ------------------------------------------------------------------ what is ready */

short terminals_poll(const struct syscalls *kernel, const struct fd_entry *entry)
{
    const struct terminal *terminal = terminals_at(entry);
    const struct discipline *line = &terminal->line;
    const int side = entry->pollable->side;
    (void)kernel;
    short events = 0;
    if (terminals_is_dead(entry))
        return POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDNORM | POLLWRNORM | TERMINALS_ANY_BYTE;
    if (discipline_has_input(line, side, true))
        events |= POLLIN | POLLRDNORM;
    if (discipline_has_input(line, side, false))
        events |= TERMINALS_ANY_BYTE;
    if (discipline_has_room(line, side))
        events |= POLLOUT | POLLWRNORM;
    if (is_master(entry) && line->packets && line->news)
        events |= POLLPRI;
    if (is_master(entry) && terminal->left)
        events |= POLLHUP;
    return events;
}

void terminals_refresh(const struct syscalls *kernel, const struct fd_entry *entry)
{
    const short events = terminals_poll(kernel, entry);
    pollable_show(entry->host, events & (POLLIN | POLLHUP), events & POLLOUT);
}

/* ------------------------------------------------------------------ reading */

/* How many bytes are to be there, of `room` at most; 0: it does not wait. */
static uint32_t least_of(const struct discipline_end *end, uint64_t room)
{
    const uint32_t least = end->settings.character[VMIN];
    return least < room ? least : (uint32_t)room;
}

/* Until when a read waits that VTIME ends: from now on, or from the last byte that has come. */
static uint64_t terminals_deadline_of(const struct call *c, const struct discipline_end *end, uint32_t there)
{
    const uint32_t time = end->settings.character[VTIME];
    if (time == 0 || (there == 0 && end->settings.character[VMIN] != 0))
        return KERNEL_NEVER;
    if (c->again && c->waited->word == there)
        return c->waited->deadline;
    return kernel_deadline(c, (uint64_t)time * VTIME_NS);
}

static int64_t wait_for_bytes(struct call *c, const struct fd_entry *entry, uint32_t there)
{
    const struct discipline_end *end = &terminals_at(entry)->line.end[entry->pollable->side];
    const bool by_lines = end->settings.local & ICANON;
    const int64_t value = call_wait_fd(c, entry, by_lines || there ? POLLIN : TERMINALS_ANY_BYTE,
                                       "nobody else writes to the terminal", 0);
    struct kernel_wait *wait = &c->kernel->current->wait;
    if (c->result->action != SYSCALLS_BLOCKED || by_lines)
        return value;
    wait->deadline = terminals_deadline_of(c, end, there);
    wait->word = there;
    return value;
}

/* Whether a read is over without waiting; else *value is what it waits with. */
static bool terminals_has_come(struct call *c, const struct fd_entry *entry, uint64_t room, int64_t *value)
{
    const struct terminal *terminal = terminals_at(entry);
    const struct discipline_end *end = &terminal->line.end[entry->pollable->side];
    const uint32_t there = discipline_count(&terminal->line, entry->pollable->side), least = least_of(end, room);
    const bool by_lines = end->settings.local & ICANON,
               any = discipline_has_input(&terminal->line, entry->pollable->side, false);
    *value = 0;
    if (any && (by_lines || is_master(entry) || there >= least || call_is_late(c)))
        return true;
    if (!any && is_master(entry) && terminal->left)
        *value = -EIO;
    else if (!any && !by_lines && least == 0 && (end->settings.character[VTIME] == 0 || call_is_late(c)))
        *value = 0;
    else if (fcntl(entry->host, F_GETFL) & O_NONBLOCK)
        return any || (*value = -EAGAIN) == 0;
    else
        *value = wait_for_bytes(c, entry, there);
    return false;
}

int64_t terminals_read(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int buffers)
{
    struct terminal *terminal = terminals_at(entry);
    uint8_t bytes[DISCIPLINE_BYTES];
    uint64_t room = 0;
    bool line;
    int64_t value = 0;
    for (int i = 0; i < buffers; i++)
        room += iov[i].iov_len;
    if (entry->pollable->access == O_WRONLY)
        return -EBADF;
    if (terminals_is_dead(entry) || room == 0)
        return 0;
    if (!is_master(entry) && (value = terminals_check(c, terminal, SIGTTIN)) < 0)
        return value;
    if (!terminals_has_come(c, entry, room, &value))
        return value;
    value = (int64_t)discipline_read(&terminal->line, entry->pollable->side, bytes,
                                     room < sizeof bytes ? room : sizeof bytes, &line);
    terminals_refresh(c->kernel, entry);
    const int64_t status = guest_scatter(c, iov, buffers, 0, bytes, (uint64_t)value);
    return status < 0 ? status : value;
}

/* ------------------------------------------------------------------ writing */

static bool takes_nothing(const struct fd_entry *entry)
{
    return !is_master(entry) && (terminals_is_dead(entry) || terminals_at(entry)->masters == 0);
}

static int64_t terminals_wait_for_room(struct call *c, const struct fd_entry *entry, uint64_t done)
{
    if (fcntl(entry->host, F_GETFL) & O_NONBLOCK)
        return done ? (int64_t)done : -EAGAIN;
    return call_wait_fd(c, entry, POLLOUT, "nobody else reads from the terminal", done);
}

int64_t terminals_write(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int buffers,
                        uint64_t done)
{
    struct terminal *terminal = terminals_at(entry);
    const bool stops = !is_master(entry) && terminal->line.end[DISCIPLINE_SLAVE].settings.local & TOSTOP;
    int64_t status = 0;
    bool whole = true;
    if (entry->pollable->access == O_RDONLY)
        return -EBADF;
    if (takes_nothing(entry))
        return done ? (int64_t)done : -EIO;
    if (stops && (status = terminals_check(c, terminal, SIGTTOU)) < 0)
        return status;
    for (int i = 0; i < buffers && whole; i++) {
        const size_t taken = discipline_write(&terminal->line, entry->pollable->side, iov[i].iov_base, iov[i].iov_len);
        done += taken;
        whole = taken == iov[i].iov_len;
    }
    terminals_send_typed(c->kernel, terminal);
    terminals_refresh(c->kernel, entry);
    return whole ? (int64_t)done : terminals_wait_for_room(c, entry, done);
}
