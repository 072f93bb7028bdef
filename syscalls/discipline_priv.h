/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The line discipline of a pseudo-terminal: what becomes of bytes between its two ends. Plain data: it may lie in
 * memory that processes share. Has to do with neither descriptors nor processes.
 */
#ifndef C2_SYSCALLS_DISCIPLINE_PRIV_H
#define C2_SYSCALLS_DISCIPLINE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DISCIPLINE_BYTES = 4096,       /* of the input, and entries of the echo; a power of two */
    DISCIPLINE_ARRIVING = 64 << 10 /* bytes that have been written to an end and have no room in its input yet */
};

/* As the kernel's struct termios2; struct termios is the same without the speeds. */
struct discipline_settings {
    uint32_t input, output, control, local;
    uint8_t number, character[19];
    uint32_t input_speed, output_speed;
};

/* What one end has: its own output side, and the input that comes from the other. Positions count up; they are places
 * in a ring modulo its size. */
struct discipline_end {
    struct discipline_settings settings;
    uint32_t head, tail; /* of the input: bytes come at the head, and are read at the tail */
    uint32_t line;       /* where the line begins that has not ended yet; all before can be read */
    bool ends[DISCIPLINE_BYTES];
    uint8_t input[DISCIPLINE_BYTES];
    bool literal;      /* the next byte is none that means something */
    bool erasing;      /* between \ and / of ECHOPRT */
    bool stopped;      /* nothing is written, by ^S, */
    bool stopped_call; /* or by a call, which ^Q does not change */
    uint32_t column, line_column;
    uint32_t echo_head, echo_tail, echo_mark,
        echo_end; /* up to the end it may be written; the mark: as soon as asked */
    uint16_t echo[DISCIPLINE_BYTES];
    uint32_t arriving_from, arriving;
    uint8_t arrived[DISCIPLINE_ARRIVING];
};

/* Two ends, and what the one of the terminal's user is told of the other (packet mode). */
enum { DISCIPLINE_MASTER, DISCIPLINE_SLAVE };
struct discipline {
    struct discipline_end end[2];
    bool packets;    /* the master wants to know, */
    uint8_t news;    /* TIOCPKT_* that it has not been told yet */
    uint64_t signal; /* that typed characters have made for the slave's foreground, bit signal-1: to be taken */
};

void discipline_create(struct discipline *both);
/* Written at an end: how many bytes were taken. The slave's pass through its output settings. */
size_t discipline_write(struct discipline *both, int end, const uint8_t *bytes, size_t count);
/* Bytes that can be read at an end: a line at most, where it is by lines; as many as there are, elsewhere. *line: a
 * line has been read to its end, which may have no byte (^D). Of the master with packets: TIOCPKT_* of what has
 * happened, or TIOCPKT_DATA and bytes. */
size_t discipline_read(struct discipline *both, int end, uint8_t *out, size_t room, bool *line);
/* Whether a read would find something; as poll has it, with VMIN. */
bool discipline_has_input(const struct discipline *both, int end, bool polls);
bool discipline_has_room(const struct discipline *both, int end);
uint32_t discipline_count(const struct discipline *both, int end);                        /* FIONREAD */
void discipline_set(struct discipline *both, const struct discipline_settings *settings); /* of the slave */
void discipline_flush(struct discipline *both, int end, bool input, bool output);         /* tcflush */
void discipline_flow(struct discipline *both, int end, bool stops);                       /* tcflow, of its output */
void discipline_type(struct discipline *both, int end, uint8_t byte); /* to the other end, stopped or not */
void discipline_simulate(struct discipline *both, uint8_t byte);      /* TIOCSTI */
void discipline_check(const struct discipline *both);

#endif
