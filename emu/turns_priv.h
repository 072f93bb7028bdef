/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * turns: which of the guest's processes has the turn.
 */
#ifndef C2_TURNS_PRIV_H
#define C2_TURNS_PRIV_H

#include <sys/types.h>

#include "emu/emu.h"

/* Whether there is another process that is not at its end. */
bool turns_shared(const struct emu_turns *turns);

/* The guest time until which no other process would take the turn before this one does something: they sleep. 0: one
 * may at once; UINT64_MAX: none ever. events, calls: as of turns_state, by now. */
uint64_t turns_quiet_until(const struct emu_turns *turns, uint64_t events, uint64_t calls);

/* A process that is about to be made has a turn of its own from now on; its number here. */
bool turns_add(struct emu_turns *turns, uint32_t *child);
void turns_made(struct emu_turns *turns, uint32_t child, uint32_t pid, pid_t host); /* pid: the guest's number */
void turns_cancel(struct emu_turns *turns, uint32_t child);                         /* it could not be made */
/* In the child: its number; waits for its first turn. */
enum turns_news turns_begin(struct emu_turns *turns, uint32_t self, uint32_t pid, uint64_t *now);

/* How things stand when a process gives its turn on. */
struct turns_state {
    bool ready;        /* it could go on */
    bool moved;        /* it has done something since it got the turn */
    bool asleep;       /* nothing but what others do to it lets it go on, or its deadline, */
    uint64_t events;   /* and this many such things have been done, to any process */
    bool polls;        /* asleep: descriptors may as well, after another process's system call, */
    uint64_t calls;    /* of which there have been so many */
    bool outside;      /* some of its threads wait for what comes from outside of the guest */
    uint64_t deadline; /* the first guest time that any of its threads waits for; UINT64_MAX: none does */
};
enum turns_news {
    TURNS_GO,      /* it is this process's turn */
    TURNS_OUTSIDE, /* the same, and none goes on unless something comes from outside: to be waited for a little */
    TURNS_STUCK,   /* no process can ever go on */
    TURNS_BROKEN,  /* another process has failed or vanished; the run is over */
};
/* Behind TURNS_OUTSIDE: ns until the first moment that any process waits for; UINT64_MAX: none does. */
uint64_t turns_look_ns(const struct emu_turns *turns);
/* Gives the turn on, and comes back when it is this process's again. *now: guest time, before and behind. */
enum turns_news turns_pass(struct emu_turns *turns, const struct turns_state *state, uint64_t *now);

#endif
