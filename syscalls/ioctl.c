/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ioctl: the requests whose argument is known; nothing else reaches the host.
 *
 * Model
 *   One row a request: what of the guest's memory it reads and writes. Of a terminal of the host's process groups and
 *   sessions are the guest's own; pseudo-terminals of the run are terminals_ioctl.c's.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/notices_priv.h"
#include "syscalls/sockets_priv.h"
#include "syscalls/terminals_priv.h"

enum { TERMIOS = 36, TERMIOS2 = 44, WINDOW = 8, SOCKETS = 0x89 };

struct request {
    uint32_t number;
    uint8_t access; /* enum call_access bits; 0: the argument is a number */
    uint8_t bytes;
};

static const struct request requests[] = {
    {TCGETS, CALL_WRITES, TERMIOS},
    {TCSETS, CALL_READS, TERMIOS},
    {TCSETSW, CALL_READS, TERMIOS},
    {TCSETSF, CALL_READS, TERMIOS},
    {0x802c542a /* TCGETS2 */, CALL_WRITES, TERMIOS2},
    {0x402c542b /* TCSETS2 */, CALL_READS, TERMIOS2},
    {0x402c542c /* TCSETSW2 */, CALL_READS, TERMIOS2},
    {0x402c542d /* TCSETSF2 */, CALL_READS, TERMIOS2},
    {TIOCGWINSZ, CALL_WRITES, WINDOW},
    {TIOCSWINSZ, CALL_READS, WINDOW},
    {TIOCOUTQ, CALL_WRITES, 4},
    {FIONREAD, CALL_WRITES, 4},
    {FIONBIO, CALL_READS, 4},
    {FIOASYNC, CALL_READS, 4},
    {TCSBRK, 0, 0},
    {TCXONC, 0, 0},
    {TCFLSH, 0, 0},
};

/* Of terminals alone: what is none says so before it looks at the argument. */
static bool is_for_terminals(uint32_t number)
{
    return (number >> 8 & 0xff) == 'T' && number != FIONREAD && number != FIONBIO && number != FIOASYNC &&
           number != TIOCOUTQ;
}

static int64_t with_memory(struct call *c, const struct request *request)
{
    uint8_t data[TERMIOS2] = {0};
    int64_t status = 0;
    if (is_for_terminals(request->number) && !isatty(c->fd[0]))
        return -ENOTTY;
    if (request->access & CALL_READS)
        status = guest_read(c, data, c->arg[2], request->bytes);
    else if (!guest_allows(c->kernel, c->arg[2], request->bytes, MMU_WRITE))
        status = -EFAULT;
    if (status == 0)
        status = CALL_HOST(c, ioctl(c->fd[0], request->number, data));
    if (status >= 0 && request->access & CALL_WRITES) {
        int64_t written = guest_write(c, c->arg[2], data, request->bytes);
        return written < 0 ? written : status;
    }
    return status;
}

/* The guest's first session is in the foreground of any terminal of the host's; no other has one. */
static bool is_controlling(const struct call *c)
{
    return c->kernel->self->session == IDENTITY_PID && isatty(c->fd[0]);
}

static int64_t own_group(struct call *c) { return is_controlling(c) ? processes_foreground(c) : -ENOTTY; }

static int64_t ioctl_set_group(struct call *c) { return is_controlling(c) ? processes_set_foreground(c) : -ENOTTY; }

int64_t ioctl_call(struct call *c)
{
    struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    uint32_t number = (uint32_t)c->arg[1];
    struct stat st;
    if (fcntl(entry->host, F_GETFL) & O_PATH)
        return -EBADF;
    if (number == FIOCLEX || number == FIONCLEX) {
        entry->cloexec = number == FIOCLEX;
        return 0;
    }
    if (entry->kind == FD_TERMINAL && number != FIONBIO)
        return terminals_ioctl(c, entry);
    switch (number) {
    case TIOCGPGRP:
    case TIOCGSID:
        return own_group(c);
    case TIOCSPGRP:
        return ioctl_set_group(c);
    case FIOASYNC:
        (void)notices_begin(c->kernel, entry);
        break;
    case FICLONE:
    case FICLONERANGE:
    case FS_IOC_FIEMAP: /* where a file lies on a disk is the host's */
        return -EOPNOTSUPP;
    default:
        break;
    }
    if (number >> 8 == SOCKETS && fstat(entry->host, &st) == 0 && S_ISSOCK(st.st_mode))
        return netlink_request(c, number);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        if (requests[i].number == number)
            return requests[i].access ? with_memory(c, &requests[i])
                                      : CALL_HOST(c, ioctl(entry->host, number, (int)c->arg[2]));
    return -ENOTTY;
}
