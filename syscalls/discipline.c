/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   What Linux' usual line discipline (N_TTY) does between the ends of a pseudo-terminal, at once and in order. What is
 *   written to the master is the slave's input: characters are translated (ICRNL ...), typed signals, ^S and ^Q taken
 *   out, lines edited (ICANON) and echoed to the master. What is written to the slave is processed (OPOST) and becomes
 *   the master's input; the master's own settings are those of a raw line and are never changed. Bytes for which the
 *   input has no room wait before it, in a ring of their own.
 *   Echoes go by a queue, for they wait while the output is stopped; their columns are known where they are written.
 *   An entry is a byte, or what is to be done with the column.
 *   Source of the rules: termios(3), ioctl_tty(2), and Linux' own, compared at random (tests/unit/syscalls_discipline).
 *
 * Invariants
 *   tail <= line <= head <= tail + DISCIPLINE_BYTES. Nothing that has arrived waits while the input has room.
 *
 * Not modelled
 *   Speeds, delays (NLDLY ...), parity, breaks; EXTPROC, which cannot be set. How much may arrive before a writer
 *   waits is 64 KiB; Linux counts its buffers.
 */
#include "syscalls/discipline_priv.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <signal.h>
#include <string.h>

#include "base/base.h"

enum { DISABLED = 0 }; /* no character, in settings; in the input the end of a line without a byte */
enum { ECHO_BLOCK = 256, ECHO_SLACK = 32 }; /* of echoes, so many wait for the end of what comes with them */

/* Entries of the echo: a byte as it is written by the program, or with one of these. */
enum {
    ECHO_AS_IS = 1 << 8,   /* not processed */
    ECHO_CONTROL = 2 << 8, /* as ^X */
    ECHO_BACK = 3 << 8,    /* one column back, nothing is written */
    ECHO_BEGINS = 4 << 8,  /* a line begins in this column */
    ECHO_TAB = 5 << 8,     /* a tab is erased: columns behind the one before, or with AFTER_TAB behind a tab */
    ECHO_KINDS = 7 << 8,
    AFTER_TAB = 0x80
};

static struct discipline_end *slave_of(struct discipline *both) { return &both->end[DISCIPLINE_SLAVE]; }

static uint8_t *input_at(struct discipline_end *end, uint32_t at) { return &end->input[at % DISCIPLINE_BYTES]; }
static bool *ends_at(struct discipline_end *end, uint32_t at) { return &end->ends[at % DISCIPLINE_BYTES]; }

static bool has_input_flag(const struct discipline_end *end, uint32_t flag) { return end->settings.input & flag; }
static bool has_output_flag(const struct discipline_end *end, uint32_t flag) { return end->settings.output & flag; }
static bool has_local_flag(const struct discipline_end *end, uint32_t flag) { return end->settings.local & flag; }

/* Whether the byte is the character with this number in the settings. */
static bool discipline_is(const struct discipline_end *end, uint8_t byte, int character)
{
    return byte != DISABLED && byte == end->settings.character[character];
}

/* As Linux has it, in Latin-1. */
static bool is_control(uint8_t byte) { return byte < 0x20 || byte == 0x7f; }
static bool is_lower(uint8_t byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 0xdf && byte != 0xf7); }
static bool is_upper(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 0xc0 && byte < 0xdf && byte != 0xd7);
}
static bool is_of_word(uint8_t byte)
{
    return is_lower(byte) || is_upper(byte) || (byte >= '0' && byte <= '9') || byte == '_';
}
static bool is_continuation(const struct discipline_end *end, uint8_t byte)
{
    return has_input_flag(end, IUTF8) && (byte & 0xc0) == 0x80;
}

/* ------------------------------------------------------------------ life */

void discipline_create(struct discipline *both)
{
    static const uint8_t characters[19] = {
        [VINTR] = 3,  [VQUIT] = 28, [VERASE] = 127,  [VKILL] = 21,    [VEOF] = 4,     [VMIN] = 1,   [VSTART] = 17,
        [VSTOP] = 19, [VSUSP] = 26, [VREPRINT] = 18, [VDISCARD] = 15, [VWERASE] = 23, [VLNEXT] = 22};
    const struct discipline_settings raw = {
        .control = B38400 | CS8 | CREAD, .input_speed = 38400, .output_speed = 38400};
    memset(both, 0, sizeof *both);
    for (int end = 0; end < 2; end++) {
        both->end[end].settings = raw;
        memcpy(both->end[end].settings.character, characters, sizeof characters);
    }
    struct discipline_settings *usual = &slave_of(both)->settings;
    usual->input = ICRNL | IXON;
    usual->output = OPOST | ONLCR;
    usual->local = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN;
}

void discipline_check(const struct discipline *both)
{
    for (int i = 0; i < 2; i++) {
        const struct discipline_end *end = &both->end[i];
        C2_ASSERT(end->line - end->tail <= end->head - end->tail && end->head - end->tail <= DISCIPLINE_BYTES);
        C2_ASSERT(end->echo_head - end->echo_tail <= DISCIPLINE_BYTES && end->arriving <= DISCIPLINE_ARRIVING);
    }
}

static void discipline_tell(struct discipline *both, uint8_t news, uint8_t instead_of)
{
    if (both->packets)
        both->news = (uint8_t)((both->news & ~instead_of) | news);
}

/* ------------------------------------------------------------------ from one end to the other */

static size_t room_for(const struct discipline *both, int end)
{
    return both->end[end].stopped ? 0 : DISCIPLINE_ARRIVING - both->end[!end].arriving;
}

static void discipline_arrive(struct discipline_end *to, uint8_t byte)
{
    to->arrived[(to->arriving_from + to->arriving++) % DISCIPLINE_ARRIVING] = byte;
}

/* ------------------------------------------------------------------ output */

/* Columns that a byte takes, which is written as it is. */
static void discipline_advance(struct discipline_end *self, uint8_t byte)
{
    if (byte == '\b')
        self->column -= self->column > 0;
    else if (!is_control(byte))
        self->column += !is_continuation(self, byte);
}

static size_t put_tab(struct discipline *both, int end, size_t room)
{
    struct discipline_end *self = &both->end[end];
    const uint32_t blanks = 8 - self->column % 8;
    const bool expands = (self->settings.output & TABDLY) == XTABS;
    if (expands && room < blanks)
        return 0;
    self->column += blanks;
    for (uint32_t i = 0; i < (expands ? blanks : 1); i++)
        discipline_arrive(&both->end[!end], expands ? ' ' : '\t');
    return 1;
}

static size_t put_newline(struct discipline *both, int end, size_t room)
{
    struct discipline_end *self = &both->end[end];
    if (has_output_flag(self, ONLRET))
        self->column = 0;
    if (has_output_flag(self, ONLCR)) {
        if (room < 2)
            return 0;
        self->column = 0;
        discipline_arrive(&both->end[!end], '\r');
    }
    self->line_column = self->column;
    discipline_arrive(&both->end[!end], '\n');
    return 1;
}

static size_t put_return(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    const bool newline = has_output_flag(self, OCRNL);
    if (has_output_flag(self, ONOCR) && self->column == 0)
        return 1;
    if (!newline || has_output_flag(self, ONLRET))
        self->line_column = self->column = 0;
    discipline_arrive(&both->end[!end], newline ? '\n' : '\r');
    return 1;
}

/* One byte through the output settings: 1, or 0 where there is no room for what it becomes. */
static size_t put_processed(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    const size_t room = room_for(both, end);
    if (room == 0)
        return 0;
    if (byte == '\n')
        return put_newline(both, end, room);
    if (byte == '\r')
        return put_return(both, end);
    if (byte == '\t')
        return put_tab(both, end, room);
    byte = has_output_flag(self, OLCUC) && is_lower(byte) ? (uint8_t)(byte - 32) : byte;
    discipline_advance(self, byte);
    discipline_arrive(&both->end[!end], byte);
    return 1;
}

static size_t put_raw(struct discipline *both, int end, uint8_t byte)
{
    if (room_for(both, end) == 0)
        return 0;
    discipline_arrive(&both->end[!end], byte);
    return 1;
}

/* ------------------------------------------------------------------ echoes */

static void drop_oldest_echo(struct discipline_end *self)
{
    self->echo_mark += self->echo_mark == self->echo_tail;
    self->echo_end += self->echo_end == self->echo_tail;
    self->echo_tail++;
}

static void echo(struct discipline_end *self, unsigned entry)
{
    if (self->echo_head - self->echo_tail == DISCIPLINE_BYTES)
        drop_oldest_echo(self);
    self->echo[self->echo_head++ % DISCIPLINE_BYTES] = (uint16_t)entry;
}

static void echo_plain(struct discipline_end *self, uint8_t byte)
{
    echo(self, byte | (byte == 0xff ? ECHO_AS_IS : 0));
}

/* A byte that was typed. */
static void echo_typed(struct discipline_end *self, uint8_t byte)
{
    if (has_local_flag(self, ECHOCTL) && is_control(byte) && byte != '\t')
        echo(self, byte | ECHO_CONTROL);
    else
        echo_plain(self, byte);
}

static void echo_first_column(struct discipline_end *self)
{
    if (self->line == self->head)
        echo(self, ECHO_BEGINS);
}

static void end_erasing(struct discipline_end *self)
{
    if (self->erasing)
        echo_plain(self, '/');
    self->erasing = false;
}

static bool put_erased_tab(struct discipline *both, int end, uint8_t columns)
{
    struct discipline_end *self = &both->end[end];
    const uint32_t used = columns & AFTER_TAB ? columns : columns + self->line_column, back = 8 - used % 8;
    if (back > room_for(both, end))
        return false;
    for (uint32_t i = 0; i < back; i++) {
        discipline_arrive(&both->end[!end], '\b');
        self->column -= self->column > 0;
    }
    return true;
}

static bool put_control(struct discipline *both, int end, uint8_t byte)
{
    if (room_for(both, end) < 2)
        return false;
    discipline_arrive(&both->end[!end], '^');
    discipline_arrive(&both->end[!end], byte ^ 0100);
    both->end[end].column += 2;
    return true;
}

/* One entry; false: it has to wait. */
static bool put_echo(struct discipline *both, int end, uint16_t entry)
{
    struct discipline_end *self = &both->end[end];
    const uint8_t byte = (uint8_t)entry;
    switch (entry & ECHO_KINDS) {
    case ECHO_BACK:
        self->column -= self->column > 0;
        return true;
    case ECHO_BEGINS:
        self->line_column = self->column;
        return true;
    case ECHO_TAB:
        return put_erased_tab(both, end, byte);
    case ECHO_CONTROL:
        return put_control(both, end, byte);
    case ECHO_AS_IS:
        self->column += room_for(both, end) > 0;
        return put_raw(both, end, byte);
    default:
        return has_output_flag(self, OPOST) ? put_processed(both, end, byte) : put_raw(both, end, byte);
    }
}

/* How many bytes Linux keeps for an entry: it drops the oldest before they could be overrun. */
static uint32_t echo_weight(uint16_t entry)
{
    const unsigned kind = entry & ECHO_KINDS;
    return kind == 0 ? 1 : kind == ECHO_TAB ? 3 : 2;
}

static uint32_t echo_waiting(const struct discipline_end *self, uint32_t to)
{
    uint32_t bytes = 0;
    for (uint32_t at = self->echo_tail; at != to; at++)
        bytes += echo_weight(self->echo[at % DISCIPLINE_BYTES]);
    return bytes;
}

/* What may be written is, as far as there is room. */
static void write_echoes(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    while (self->echo_tail != self->echo_end && put_echo(both, end, self->echo[self->echo_tail % DISCIPLINE_BYTES]))
        self->echo_tail++;
    while (self->echo_tail != self->echo_end &&
           echo_waiting(self, self->echo_end) >= DISCIPLINE_BYTES - (ECHO_BLOCK + ECHO_SLACK))
        self->echo_tail++;
}

/* Behind each typed character: a few wait for those that come with it, and are taken back by a typed signal. */
static void mark_echoes(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    const uint32_t before = echo_waiting(self, self->echo_end), now = echo_waiting(self, self->echo_head);
    self->echo_mark = self->echo_head;
    if (now < ECHO_BLOCK || now % ECHO_BLOCK > before % ECHO_BLOCK)
        return;
    self->echo_end = self->echo_head;
    write_echoes(both, end);
}

static void write_marked(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    if (self->echo_mark == self->echo_tail)
        return;
    self->echo_end = self->echo_mark;
    write_echoes(both, end);
}

static void write_all_echoes(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    if (!has_local_flag(self, ECHO | ECHONL) || self->echo_end == self->echo_head)
        return;
    self->echo_end = self->echo_head;
    write_echoes(both, end);
}

/* ------------------------------------------------------------------ flow and flushing */

static void discipline_start(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    if (!self->stopped || self->stopped_call)
        return;
    self->stopped = false;
    if (end == DISCIPLINE_SLAVE)
        discipline_tell(both, TIOCPKT_START, TIOCPKT_STOP);
}

static void discipline_stop(struct discipline *both, int end)
{
    if (both->end[end].stopped)
        return;
    both->end[end].stopped = true;
    if (end == DISCIPLINE_SLAVE)
        discipline_tell(both, TIOCPKT_STOP, TIOCPKT_START);
}

void discipline_flow(struct discipline *both, int end, bool stops)
{
    struct discipline_end *self = &both->end[end];
    if (stops == self->stopped_call)
        return;
    self->stopped_call = stops;
    if (stops)
        discipline_stop(both, end);
    else
        discipline_start(both, end);
}

static void flush_input(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    self->head = self->tail = self->line = 0;
    self->erasing = false;
    memset(self->ends, 0, sizeof self->ends);
    if (end == DISCIPLINE_SLAVE)
        discipline_tell(both, TIOCPKT_FLUSHREAD, 0);
}

static void flush_output(struct discipline *both, int end)
{
    both->end[!end].arriving = 0;
    if (end == DISCIPLINE_SLAVE)
        discipline_tell(both, TIOCPKT_FLUSHWRITE, 0);
}

void discipline_flush(struct discipline *both, int end, bool input, bool output)
{
    if (input) {
        both->end[end].arriving = 0;
        flush_input(both, end);
    }
    if (output)
        flush_output(both, end);
}

/* ------------------------------------------------------------------ editing */

/* The last character of the line, which may have several bytes: where it begins. */
static uint32_t last_character(struct discipline_end *self)
{
    uint32_t at = self->head;
    do
        at--;
    while (is_continuation(self, *input_at(self, at)) && at != self->line);
    return at;
}

/* How far the cursor goes back over a tab that stood at `at`, by what is before it in the line. */
static void echo_erased_tab(struct discipline_end *self, uint32_t at)
{
    uint32_t columns = 0;
    while (at != self->line) {
        const uint8_t byte = *input_at(self, --at);
        if (byte == '\t') {
            echo(self, ECHO_TAB | AFTER_TAB | columns % 8);
            return;
        }
        if (is_control(byte))
            columns += has_local_flag(self, ECHOCTL) ? 2 : 0;
        else
            columns += !is_continuation(self, byte);
    }
    echo(self, ECHO_TAB | columns % 8);
}

static void echo_rubout(struct discipline_end *self)
{
    echo_plain(self, '\b');
    echo_plain(self, ' ');
    echo_plain(self, '\b');
}

/* The character that stood in `bytes` bytes at `at` is gone; key: the one that was typed for that. */
static void echo_erased(struct discipline_end *self, uint32_t at, uint32_t bytes, int key)
{
    const uint8_t byte = *input_at(self, at);
    if (has_local_flag(self, ECHOPRT)) {
        if (!self->erasing)
            echo_plain(self, '\\');
        self->erasing = true;
        echo_typed(self, byte);
        for (uint32_t i = 1; i < bytes; i++) {
            echo_plain(self, *input_at(self, at + i));
            echo(self, ECHO_BACK);
        }
    } else if (key == VERASE && !has_local_flag(self, ECHOE)) {
        echo_typed(self, self->settings.character[VERASE]);
    } else if (byte == '\t') {
        echo_erased_tab(self, at);
    } else {
        if (is_control(byte) && has_local_flag(self, ECHOCTL))
            echo_rubout(self);
        if (!is_control(byte) || has_local_flag(self, ECHOCTL))
            echo_rubout(self);
    }
}

/* Where the line as a whole cannot be rubbed out it is given up, and that is said. */
static void drop_line(struct discipline_end *self)
{
    self->head = self->line;
    if (!has_local_flag(self, ECHO))
        return;
    end_erasing(self);
    echo_typed(self, self->settings.character[VKILL]);
    if (has_local_flag(self, ECHOK))
        echo_plain(self, '\n');
}

static bool rubs_lines_out(const struct discipline_end *self)
{
    const uint32_t all = ECHO | ECHOK | ECHOKE | ECHOE;
    return (self->settings.local & all) == all;
}

/* VERASE: a character; VWERASE: a word and what is behind it; VKILL: the line. */
static void erase(struct discipline_end *self, int key)
{
    bool word = false;
    if (self->head == self->line)
        return;
    if (key == VKILL && !rubs_lines_out(self)) {
        drop_line(self);
        return;
    }
    while (self->head != self->line) {
        const uint32_t at = last_character(self), bytes = self->head - at;
        const uint8_t byte = *input_at(self, at);
        if (is_continuation(self, byte) || (key == VWERASE && word && !is_of_word(byte)))
            break;
        word |= is_of_word(byte);
        self->head = at;
        if (has_local_flag(self, ECHO))
            echo_erased(self, at, bytes, key);
        if (key == VERASE)
            break;
    }
    if (self->head == self->line && has_local_flag(self, ECHO))
        end_erasing(self);
}

/* ------------------------------------------------------------------ input */

static void put_input(struct discipline_end *self, uint8_t byte)
{
    *ends_at(self, self->head) = false;
    *input_at(self, self->head++) = byte;
}

/* A byte that nothing more is to be made of. */
static void discipline_keep(struct discipline_end *self, uint8_t byte)
{
    if (byte == 0xff && has_input_flag(self, PARMRK))
        put_input(self, byte);
    put_input(self, byte);
}

static void end_line(struct discipline_end *self, uint8_t byte)
{
    put_input(self, byte);
    *ends_at(self, self->head - 1) = true;
    self->line = self->head;
}

static void echo_input(struct discipline *both, int end, uint8_t byte, bool newline)
{
    struct discipline_end *self = &both->end[end];
    if (!has_local_flag(self, ECHO))
        return;
    end_erasing(self);
    if (newline) {
        echo_plain(self, byte);
    } else {
        echo_first_column(self);
        echo_typed(self, byte);
    }
    mark_echoes(both, end);
}

static void start_by_any(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    const bool any = has_input_flag(self, IXON) && has_input_flag(self, IXANY);
    if (!any || !self->stopped || self->stopped_call)
        return;
    discipline_start(both, end);
    write_marked(both, end);
}

static void discipline_take_plain(struct discipline *both, int end, uint8_t byte)
{
    start_by_any(both, end);
    echo_input(both, end, byte, false);
    discipline_keep(&both->end[end], byte);
}

static void reprint(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    end_erasing(self);
    echo_typed(self, byte);
    echo_plain(self, '\n');
    for (uint32_t at = self->line; at != self->head; at++)
        echo_typed(self, *input_at(self, at));
    mark_echoes(both, end);
}

static void take_literal_next(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    self->literal = true;
    if (!has_local_flag(self, ECHO))
        return;
    end_erasing(self);
    if (!has_local_flag(self, ECHOCTL))
        return;
    echo_plain(self, '^');
    echo_plain(self, '\b');
    mark_echoes(both, end);
}

/* Which of the keys that take something back; -1: none. */
static int erasing_key(const struct discipline_end *self, uint8_t byte)
{
    if (discipline_is(self, byte, VERASE))
        return VERASE;
    if (discipline_is(self, byte, VWERASE) && has_local_flag(self, IEXTEN))
        return VWERASE;
    return discipline_is(self, byte, VKILL) ? VKILL : -1;
}

/* A byte that ends a line. */
static bool discipline_take_end(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    if (byte == '\n') {
        if (has_local_flag(self, ECHO | ECHONL)) {
            echo_plain(self, '\n');
            mark_echoes(both, end);
        }
    } else if (discipline_is(self, byte, VEOF)) {
        byte = DISABLED;
    } else if (discipline_is(self, byte, VEOL) || (discipline_is(self, byte, VEOL2) && has_local_flag(self, IEXTEN))) {
        if (has_local_flag(self, ECHO)) {
            echo_first_column(self);
            echo_typed(self, byte);
            mark_echoes(both, end);
        }
        if (byte == 0xff && has_input_flag(self, PARMRK))
            put_input(self, byte);
    } else {
        return false;
    }
    end_line(self, byte);
    return true;
}

/* A byte that edits the line, or ends it. */
static bool take_editing(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    const int key = erasing_key(self, byte);
    if (key >= 0) {
        erase(self, key);
        mark_echoes(both, end);
    } else if (discipline_is(self, byte, VLNEXT) && has_local_flag(self, IEXTEN)) {
        take_literal_next(both, end);
    } else if (discipline_is(self, byte, VREPRINT) && has_local_flag(self, ECHO) && has_local_flag(self, IEXTEN)) {
        reprint(both, end, byte);
    } else {
        return discipline_take_end(both, end, byte);
    }
    return true;
}

static bool take_flow(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    if (!has_input_flag(self, IXON) || (!discipline_is(self, byte, VSTART) && !discipline_is(self, byte, VSTOP)))
        return false;
    if (discipline_is(self, byte, VSTART)) {
        discipline_start(both, end);
        write_marked(both, end);
    } else {
        discipline_stop(both, end);
    }
    return true;
}

static bool take_signal(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    const int signal = discipline_is(self, byte, VINTR)   ? SIGINT
                       : discipline_is(self, byte, VQUIT) ? SIGQUIT
                       : discipline_is(self, byte, VSUSP) ? SIGTSTP
                                                          : 0;
    if (!has_local_flag(self, ISIG) || signal == 0)
        return false;
    both->signal |= 1ull << (signal - 1);
    if (!has_local_flag(self, NOFLSH)) {
        self->echo_tail = self->echo_head = self->echo_mark = self->echo_end = 0;
        flush_output(both, end);
        flush_input(both, end);
    }
    if (has_input_flag(self, IXON))
        discipline_start(both, end);
    if (has_local_flag(self, ECHO)) {
        echo_typed(self, byte);
        mark_echoes(both, end);
    } else {
        write_marked(both, end);
    }
    return true;
}

static uint8_t stripped(const struct discipline_end *self, uint8_t byte)
{
    byte = has_input_flag(self, ISTRIP) ? byte & 0x7f : byte;
    return has_input_flag(self, IUCLC) && has_local_flag(self, IEXTEN) && is_upper(byte) ? byte | 0x20 : byte;
}

/* Whether the byte may mean something: what a setting makes of others is looked at only where this is so. */
static bool is_special(const struct discipline_end *self, uint8_t byte)
{
    static const int of_lines[] = {VERASE, VKILL, VEOF, VEOL}, extended[] = {VWERASE, VLNEXT, VEOL2};
    bool special = byte == '\r' ? has_input_flag(self, IGNCR | ICRNL) : byte == '\n' && has_input_flag(self, INLCR);
    if (byte == DISABLED)
        return false;
    if (has_input_flag(self, IXON))
        special |= discipline_is(self, byte, VSTART) || discipline_is(self, byte, VSTOP);
    if (has_local_flag(self, ISIG))
        special |= discipline_is(self, byte, VINTR) || discipline_is(self, byte, VQUIT) ||
                   discipline_is(self, byte, VSUSP);
    if (!has_local_flag(self, ICANON))
        return special;
    special |= byte == '\n';
    for (size_t i = 0; i < sizeof of_lines / sizeof *of_lines; i++)
        special |= discipline_is(self, byte, of_lines[i]);
    for (size_t i = 0; i < sizeof extended / sizeof *extended && has_local_flag(self, IEXTEN); i++)
        special |= discipline_is(self, byte, extended[i]);
    return special ||
           (has_local_flag(self, IEXTEN) && has_local_flag(self, ECHO) && discipline_is(self, byte, VREPRINT));
}

static void take_special(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    if (take_flow(both, end, byte) || take_signal(both, end, byte))
        return;
    start_by_any(both, end);
    if (byte == '\r' && has_input_flag(self, IGNCR))
        return;
    if (byte == '\r' && has_input_flag(self, ICRNL))
        byte = '\n';
    else if (byte == '\n' && has_input_flag(self, INLCR))
        byte = '\r';
    if (has_local_flag(self, ICANON) && take_editing(both, end, byte))
        return;
    echo_input(both, end, byte, byte == '\n');
    discipline_keep(self, byte);
}

static void take_byte(struct discipline *both, int end, uint8_t byte)
{
    struct discipline_end *self = &both->end[end];
    byte = stripped(self, byte);
    if (self->literal || !is_special(self, byte)) {
        self->literal = false;
        discipline_take_plain(both, end, byte);
    } else {
        take_special(both, end, byte);
    }
}

/* How many of the bytes that have arrived the input takes. A line that is too long for it can still be edited: its last
 * character is exchanged by each that follows. */
static uint32_t room_of_input(struct discipline_end *self)
{
    int32_t room = DISCIPLINE_BYTES - (int32_t)(self->head - self->tail);
    if (has_input_flag(self, PARMRK))
        room = (room + 2) / 3;
    if (--room > 0)
        return (uint32_t)room;
    const bool overflows = has_local_flag(self, ICANON) && self->line == self->tail;
    if (overflows && room < 0)
        self->head--;
    return overflows;
}

static void take_arrived(struct discipline *both, int end)
{
    struct discipline_end *self = &both->end[end];
    uint32_t room;
    while (self->arriving > 0 && (room = room_of_input(self)) > 0) {
        for (; room > 0 && self->arriving > 0; room--) {
            const uint8_t byte = self->arrived[self->arriving_from];
            self->arriving_from = (self->arriving_from + 1) % DISCIPLINE_ARRIVING;
            self->arriving--;
            take_byte(both, end, byte);
        }
        write_all_echoes(both, end);
    }
}

/* Everything is handed on, at the end of a call: a signal that is typed takes back what was echoed with it. */
static void hand_on(struct discipline *both)
{
    take_arrived(both, DISCIPLINE_SLAVE);
    take_arrived(both, DISCIPLINE_MASTER);
}

/* ------------------------------------------------------------------ writing */

size_t discipline_write(struct discipline *both, int end, const uint8_t *bytes, size_t count)
{
    struct discipline_end *self = &both->end[end];
    size_t done = 0;
    write_marked(both, end);
    if (has_output_flag(self, OPOST))
        while (done < count && put_processed(both, end, bytes[done]))
            done++;
    else
        while (done < count && put_raw(both, end, bytes[done]))
            done++;
    hand_on(both);
    return done;
}

void discipline_type(struct discipline *both, int end, uint8_t byte)
{
    if (both->end[!end].arriving < DISCIPLINE_ARRIVING)
        discipline_arrive(&both->end[!end], byte);
    hand_on(both);
}

void discipline_simulate(struct discipline *both, uint8_t byte)
{
    take_byte(both, DISCIPLINE_SLAVE, byte);
    write_all_echoes(both, DISCIPLINE_SLAVE);
    hand_on(both);
}

bool discipline_has_room(const struct discipline *both, int end) { return room_for(both, end) > 0; }

/* ------------------------------------------------------------------ reading */

bool discipline_has_input(const struct discipline *both, int end, bool polls)
{
    const struct discipline_end *self = &both->end[end];
    const uint8_t least = self->settings.character[VMIN];
    const bool waits = polls && least != 0 && self->settings.character[VTIME] == 0;
    if (end == DISCIPLINE_MASTER && both->packets && both->news)
        return true;
    if (has_local_flag(self, ICANON))
        return self->line != self->tail;
    return self->head - self->tail >= (waits ? least : 1u);
}

static bool is_end_of_file(struct discipline_end *self, uint32_t at)
{
    return *ends_at(self, at) && *input_at(self, at) == DISABLED;
}

static size_t discipline_read_line(struct discipline_end *self, uint8_t *out, size_t room, bool *line)
{
    size_t done = 0;
    while (self->tail != self->line && !*line) {
        const bool ends = *ends_at(self, self->tail), nothing = is_end_of_file(self, self->tail);
        if (done == room && !nothing)
            break;
        if (!nothing)
            out[done++] = *input_at(self, self->tail);
        *ends_at(self, self->tail++) = false;
        *line = ends;
    }
    return done;
}

static size_t discipline_read_bytes(struct discipline_end *self, uint8_t *out, size_t room)
{
    size_t done = 0;
    while (done < room && self->tail != self->head)
        out[done++] = *input_at(self, self->tail++);
    self->line = self->tail;
    return done;
}

/* What has happened at the slave, or bytes of it behind a byte that is 0. */
static size_t read_packet(struct discipline *both, uint8_t *out, size_t room)
{
    struct discipline_end *self = &both->end[DISCIPLINE_MASTER];
    if (room == 0 || (both->news == 0 && self->tail == self->head))
        return 0;
    out[0] = both->news;
    both->news = TIOCPKT_DATA;
    return 1 + (out[0] == TIOCPKT_DATA ? discipline_read_bytes(self, out + 1, room - 1) : 0);
}

size_t discipline_read(struct discipline *both, int end, uint8_t *out, size_t room, bool *line)
{
    struct discipline_end *self = &both->end[end];
    size_t done;
    *line = false;
    if (end == DISCIPLINE_MASTER && both->packets)
        done = read_packet(both, out, room);
    else
        done = has_local_flag(self, ICANON) ? discipline_read_line(self, out, room, line)
                                            : discipline_read_bytes(self, out, room);
    hand_on(both);
    return done;
}

uint32_t discipline_count(const struct discipline *both, int end)
{
    const struct discipline_end *self = &both->end[end];
    if (!has_local_flag(self, ICANON))
        return self->head - self->tail;
    uint32_t count = 0;
    for (uint32_t at = self->tail; at != self->line; at++)
        count += !is_end_of_file((struct discipline_end *)self, at);
    return count;
}

/* ------------------------------------------------------------------ settings */

/* By lines from now on, or not any more: what is there can be read as one. */
static void change_lines(struct discipline_end *self)
{
    memset(self->ends, 0, sizeof self->ends);
    self->line = self->tail;
    if (has_local_flag(self, ICANON) && self->head != self->tail) {
        *ends_at(self, self->head - 1) = true;
        self->line = self->head;
    }
    self->erasing = false;
    self->literal = false;
}

static bool has_usual_flow(const struct discipline_settings *settings)
{
    return settings->input & IXON && settings->character[VSTOP] == 19 && settings->character[VSTART] == 17;
}

void discipline_set(struct discipline *both, const struct discipline_settings *settings)
{
    struct discipline_end *self = slave_of(both);
    const struct discipline_settings old = self->settings;
    self->settings = *settings;
    self->settings.control = (settings->control & ~(uint32_t)(CSIZE | PARENB)) | CS8 | CREAD;
    if (has_usual_flow(&old) != has_usual_flow(settings))
        discipline_tell(both, has_usual_flow(settings) ? TIOCPKT_DOSTOP : TIOCPKT_NOSTOP,
                        TIOCPKT_DOSTOP | TIOCPKT_NOSTOP);
    if ((old.local ^ settings->local) & ICANON)
        change_lines(self);
    if (old.input & IXON && !(settings->input & IXON) && !self->stopped_call) {
        discipline_start(both, DISCIPLINE_SLAVE);
        write_marked(both, DISCIPLINE_SLAVE);
    }
    hand_on(both);
}
