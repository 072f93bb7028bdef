/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What ioctl asks of a pseudo-terminal of the run's own.
 *
 * Model
 *   Settings and size are those of the slave, whichever end is asked. Numbers and packets are the master's to ask for.
 *   Source: ioctl_tty(2), ioctl_console(2) for none of it; Linux' drivers/tty for the order of errors.
 *
 * Not modelled
 *   EXTPROC (EINVAL), disciplines other than the usual one, settings that are locked: there are none.
 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"
#include "syscalls/terminals_priv.h"

enum { TERMIOS_BYTES = 36, TERMIOS2_BYTES = 44 };
_Static_assert(sizeof(struct discipline_settings) == TERMIOS2_BYTES, "as the kernel's struct termios2");

struct request {
    struct call *c;
    const struct fd_entry *entry;
    struct terminal *terminal;
    bool master;
};

static struct discipline_settings *settings_of(const struct request *r)
{
    return &r->terminal->line.end[DISCIPLINE_SLAVE].settings;
}

static int64_t terminals_ioctl_give(const struct request *r, const void *value, size_t bytes)
{
    return guest_write(r->c, r->c->arg[2], value, bytes);
}

static int64_t terminals_ioctl_give_number(const struct request *r, uint32_t value)
{
    return terminals_ioctl_give(r, &value, sizeof value);
}

static int64_t terminals_ioctl_take_number(const struct request *r, int32_t *value)
{
    return guest_read(r->c, value, r->c->arg[2], sizeof *value);
}

/* ------------------------------------------------------------------ settings */

/* What Linux says of the bits of a speed; BOTHER: as it is given. */
static uint32_t speed_of(uint32_t bits, uint32_t given)
{
    static const uint32_t low[] = {0, 50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19200, 38400};
    static const uint32_t high[] = {57600,   115200,  230400,  460800,  500000,  576000,  921600, 1000000,
                                    1152000, 1500000, 2000000, 2500000, 3000000, 3500000, 4000000};
    if (bits == BOTHER)
        return given;
    return bits & CBAUDEX ? high[(bits & 15) - 1] : low[bits & 15];
}

static void set_speeds(struct discipline_settings *settings)
{
    const uint32_t input = settings->control >> IBSHIFT & CBAUD;
    settings->output_speed = speed_of(settings->control & CBAUD, settings->output_speed);
    settings->input_speed = input ? speed_of(input, settings->input_speed) : settings->output_speed;
}

/* As struct termio has them: half of the bits, and fewer characters. */
struct old_settings {
    uint16_t input, output, control, local;
    uint8_t number, character[8], unused;
};
enum { OLD_BYTES = sizeof(struct old_settings) };

static int64_t give_old(const struct request *r)
{
    const struct discipline_settings *now = settings_of(r);
    struct old_settings old = {.number = now->number};
    old.input = (uint16_t)now->input;
    old.output = (uint16_t)now->output;
    old.control = (uint16_t)now->control;
    old.local = (uint16_t)now->local;
    memcpy(old.character, now->character, sizeof old.character);
    return terminals_ioctl_give(r, &old, OLD_BYTES);
}

static void take_half(uint32_t *flags, uint16_t half) { *flags = (*flags & 0xffff0000u) | half; }

static int64_t terminals_ioctl_read_settings(const struct request *r, struct discipline_settings *settings,
                                             size_t bytes)
{
    struct old_settings old;
    if (bytes != OLD_BYTES)
        return guest_read(r->c, settings, r->c->arg[2], bytes);
    const int64_t status = guest_read(r->c, &old, r->c->arg[2], OLD_BYTES);
    if (status < 0)
        return status;
    take_half(&settings->input, old.input);
    take_half(&settings->output, old.output);
    take_half(&settings->control, old.control);
    take_half(&settings->local, old.local);
    settings->number = old.number;
    memcpy(settings->character, old.character, sizeof old.character);
    return 0;
}

static int64_t set_settings(const struct request *r, size_t bytes, bool flushes)
{
    struct discipline_settings settings = *settings_of(r);
    int64_t status = terminals_check(r->c, r->terminal, SIGTTOU);
    if (status == 0)
        status = terminals_ioctl_read_settings(r, &settings, bytes);
    if (status == 0 && settings.local & EXTPROC)
        status = -EINVAL;
    if (status < 0)
        return status;
    set_speeds(&settings);
    if (flushes)
        discipline_flush(&r->terminal->line, r->entry->pollable->side, true, false);
    discipline_set(&r->terminal->line, &settings);
    return 0;
}

static int64_t terminals_ioctl_set_size(const struct request *r)
{
    struct winsize size;
    const int64_t status = guest_read(r->c, &size, r->c->arg[2], sizeof size);
    if (status < 0 || memcmp(&size, &r->terminal->size, sizeof size) == 0)
        return status;
    r->terminal->size = size;
    processes_signal_group(r->c->kernel, r->terminal->group, SIGWINCH);
    return 0;
}

static bool settings_request(const struct request *r, uint32_t number, int64_t *value)
{
    const struct discipline_settings none_locked = {.input = 0};
    switch (number) {
    case TCGETA:
        *value = give_old(r);
        return true;
    case TCSETA:
    case TCSETAW:
    case TCSETAF:
        *value = set_settings(r, OLD_BYTES, number == TCSETAF);
        return true;
    case TIOCGLCKTRMIOS:
        *value = terminals_ioctl_give(r, &none_locked, TERMIOS_BYTES);
        return true;
    case TIOCSLCKTRMIOS:
        *value = -EPERM;
        return true;
    case TCGETS:
        *value = terminals_ioctl_give(r, settings_of(r), TERMIOS_BYTES);
        return true;
    case TCGETS2:
        *value = terminals_ioctl_give(r, settings_of(r), TERMIOS2_BYTES);
        return true;
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
        *value = set_settings(r, TERMIOS_BYTES, number == TCSETSF);
        return true;
    case TCSETS2:
    case TCSETSW2:
    case TCSETSF2:
        *value = set_settings(r, TERMIOS2_BYTES, number == TCSETSF2);
        return true;
    case TIOCGWINSZ:
        *value = terminals_ioctl_give(r, &r->terminal->size, sizeof r->terminal->size);
        return true;
    case TIOCSWINSZ:
        *value = terminals_ioctl_set_size(r);
        return true;
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ bytes on their way */

static int64_t flow(const struct request *r, int action)
{
    struct discipline *line = &r->terminal->line;
    const int side = r->entry->pollable->side;
    const int64_t status = r->master ? 0 : terminals_check(r->c, r->terminal, SIGTTOU);
    const struct discipline_settings *settings = &line->end[side].settings;
    if (status < 0)
        return status;
    if (action < TCOOFF || action > TCION)
        return -EINVAL;
    if (action == TCOOFF || action == TCOON)
        discipline_flow(line, side, action == TCOOFF);
    else if (settings->character[action == TCIOFF ? VSTOP : VSTART])
        discipline_type(line, side, settings->character[action == TCIOFF ? VSTOP : VSTART]);
    return 0;
}

static int64_t terminals_ioctl_flush(const struct request *r, int what)
{
    const int64_t status = r->master ? 0 : terminals_check(r->c, r->terminal, SIGTTOU);
    if (status < 0)
        return status;
    if (what < TCIFLUSH || what > TCIOFLUSH)
        return -EINVAL;
    discipline_flush(&r->terminal->line, r->entry->pollable->side, what != TCOFLUSH, what != TCIFLUSH);
    return 0;
}

static int64_t terminals_ioctl_simulate(const struct request *r)
{
    uint8_t byte;
    if (terminals_controlling(r->c->kernel, r->c->kernel->self) != r->terminal)
        return -EPERM;
    const int64_t status = guest_read(r->c, &byte, r->c->arg[2], sizeof byte);
    if (status < 0)
        return status;
    discipline_simulate(&r->terminal->line, byte);
    terminals_send_typed(r->c->kernel, r->terminal);
    return 0;
}

static bool bytes_request(const struct request *r, uint32_t number, int64_t *value)
{
    switch (number) {
    case FIONREAD:
        *value = terminals_ioctl_give_number(r, discipline_count(&r->terminal->line, r->entry->pollable->side));
        return true;
    case TIOCOUTQ:
        *value = terminals_ioctl_give_number(r, 0);
        return true;
    case TCSBRK: /* all that was written has arrived; breaks there are none */
    case TCSBRKP:
    case TIOCSBRK:
    case TIOCCBRK:
        *value = r->master ? 0 : terminals_check(r->c, r->terminal, SIGTTOU);
        return true;
    case TCXONC:
        *value = flow(r, (int)r->c->arg[2]);
        return true;
    case TCFLSH:
        *value = terminals_ioctl_flush(r, (int)r->c->arg[2]);
        return true;
    case TIOCSTI:
        *value = terminals_ioctl_simulate(r);
        return true;
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ sessions */

static bool terminals_ioctl_is_own(const struct request *r)
{
    return terminals_controlling(r->c->kernel, r->c->kernel->self) == r->terminal;
}

static int64_t terminals_ioctl_set_group(const struct request *r)
{
    int32_t group;
    int64_t status = terminals_check(r->c, r->terminal, SIGTTOU);
    if (status < 0)
        return status == -EIO ? -ENOTTY : status;
    status = terminals_ioctl_take_number(r, &group);
    if (status < 0)
        return status;
    if (group < 0)
        return -EINVAL;
    if (!terminals_ioctl_is_own(r))
        return -ENOTTY;
    status = processes_check_group(r->c->kernel, (uint32_t)group);
    if (status == 0)
        r->terminal->group = (uint32_t)group;
    return status;
}

static int64_t become_own(const struct request *r)
{
    struct syscalls *kernel = r->c->kernel;
    if (kernel->self->pid == kernel->self->session && terminals_ioctl_is_own(r))
        return 0;
    if (!terminals_may_control(kernel, r->terminal) || r->entry->pollable->access == O_WRONLY)
        return -EPERM;
    terminals_control(kernel, r->terminal);
    return 0;
}

static int64_t terminals_ioctl_give_up(const struct request *r)
{
    struct syscalls *kernel = r->c->kernel;
    const uint32_t group = r->terminal->group;
    if (!terminals_ioctl_is_own(r))
        return -ENOTTY;
    if (kernel->self->pid != kernel->self->session) {
        kernel->self->detached = true;
        return 0;
    }
    r->terminal->session = r->terminal->group = 0;
    processes_signal_group(kernel, group, SIGHUP);
    processes_signal_group(kernel, group, SIGCONT);
    return 0;
}

static bool session_request(const struct request *r, uint32_t number, int64_t *value)
{
    const bool stranger = !r->master && !terminals_ioctl_is_own(r);
    switch (number) {
    case TIOCGPGRP:
        *value = stranger ? -ENOTTY : terminals_ioctl_give_number(r, r->terminal->group);
        return true;
    case TIOCGSID:
        *value = stranger || r->terminal->session == 0 ? -ENOTTY : terminals_ioctl_give_number(r, r->terminal->session);
        return true;
    case TIOCSPGRP:
        *value = terminals_ioctl_set_group(r);
        return true;
    case TIOCSCTTY:
        *value = become_own(r);
        return true;
    case TIOCNOTTY:
        *value = terminals_ioctl_give_up(r);
        return true;
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ the master's */

static int64_t set_packets(const struct request *r)
{
    int32_t on;
    const int64_t status = terminals_ioctl_take_number(r, &on);
    if (status < 0)
        return status;
    if (on && !r->terminal->line.packets)
        r->terminal->line.news = 0;
    r->terminal->line.packets = on;
    return 0;
}

static int64_t set_lock(const struct request *r)
{
    int32_t on;
    const int64_t status = terminals_ioctl_take_number(r, &on);
    if (status == 0)
        r->terminal->locked = on;
    return status;
}

static int64_t send_signal(const struct request *r)
{
    const int signal = (int)r->c->arg[2];
    if (signal != SIGINT && signal != SIGQUIT && signal != SIGTSTP)
        return -EINVAL;
    processes_signal_group(r->c->kernel, r->terminal->group, signal);
    return 0;
}

static bool master_request(const struct request *r, uint32_t number, int64_t *value)
{
    switch (number) {
    case TIOCGPTN:
        *value = terminals_ioctl_give_number(r, r->entry->pollable->terminal);
        return true;
    case TIOCSPTLCK:
        *value = set_lock(r);
        return true;
    case TIOCGPTLCK:
        *value = terminals_ioctl_give_number(r, r->terminal->locked);
        return true;
    case TIOCPKT:
        *value = set_packets(r);
        return true;
    case TIOCGPKT:
        *value = terminals_ioctl_give_number(r, r->terminal->line.packets);
        return true;
    case TIOCGPTPEER:
        *value = terminals_open_slave(r->c, r->entry->pollable->terminal, (int)r->c->arg[2]);
        return true;
    case TIOCSIG:
        *value = send_signal(r);
        return true;
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ the rest */

static int64_t other_request(const struct request *r, uint32_t number)
{
    int32_t discipline;
    int64_t status;
    switch (number) {
    case TIOCEXCL:
    case TIOCNXCL:
        r->terminal->exclusive = number == TIOCEXCL;
        return 0;
    case TIOCGEXCL:
        return terminals_ioctl_give_number(r, r->terminal->exclusive);
    case TIOCGETD:
        return terminals_ioctl_give_number(r, N_TTY);
    case TIOCSETD:
        status = terminals_ioctl_take_number(r, &discipline);
        return status < 0 ? status : discipline == N_TTY ? 0 : -EINVAL;
    default:
        return -ENOTTY;
    }
}

int64_t terminals_ioctl(struct call *c, const struct fd_entry *entry)
{
    const struct request r = {c, entry, terminals_at(entry), entry->pollable->side == DISCIPLINE_MASTER};
    const uint32_t number = (uint32_t)c->arg[1];
    int64_t value;
    if (terminals_is_dead(entry))
        return number == TIOCSPGRP ? -ENOTTY : -EIO;
    if (!settings_request(&r, number, &value) && !bytes_request(&r, number, &value) &&
        !session_request(&r, number, &value) && !(r.master && master_request(&r, number, &value)))
        value = other_request(&r, number);
    terminals_refresh(c->kernel, entry);
    return value;
}
