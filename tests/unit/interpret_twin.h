/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One instruction twice from the same state: on the CPU that runs the test, and interpreted. Memory under test is a few
 * pages in the low 2 GiB, so that 32-bit addresses reach it too; each page can be taken away.
 */
#ifndef C2_TEST_INTERPRET_TWIN_H
#define C2_TEST_INTERPRET_TWIN_H

#include "interpret/interpret.h"
#include "unit/interpret_native.h"

#define TWIN_PAGES 8u
#define TWIN_BYTES (TWIN_PAGES * 4096u)

extern uint8_t *twin_data; /* TWIN_PAGES pages, all readable and writable unless taken away */
extern uint8_t *twin_code; /* a page of its own */

/* In the order of PROT_NONE, PROT_READ, PROT_READ|PROT_WRITE. */
void twin_protect(unsigned page, int prot);

struct twin_result {
    struct native_state state;
    uint8_t memory[TWIN_BYTES];
    struct native_end end;          /* of the CPU */
    uint64_t undefined;             /* flags, of the CPU */
    struct interpret_effect effect; /* of the interpreter */
};

int twin_setup(void **state); /* cmocka group setup and teardown */
int twin_teardown(void **state);

/* Whether the bytes are one instruction that is to be interpreted. */
bool twin_wanted(const uint8_t *bytes, unsigned length);
/* Both leave twin_data as it was before. Where makers of CPUs differ, twin_native gives what interpret_makers.h
 * says. */
void twin_native(struct twin_result *out, const struct native_state *start, const uint8_t *bytes, unsigned length);
void twin_interpret(struct twin_result *out, const struct native_state *start, const uint8_t *bytes, unsigned length);

/* The same with every page absent at first and made present at its fault, as at first touch; returns the faults.
 * Checks that the pieces of a REP string instruction continue each other. */
unsigned twin_interpret_touching(struct twin_result *out, const struct native_state *start, const uint8_t *bytes,
                                 unsigned length);

/* Fails the test with the name and the first difference. Of the x87 status word only the bits of `status` are
 * compared. */
#define TWIN_STATUS_ALL 0xffffu
void twin_expect_equal(const char *name, const struct native_state *start, const struct twin_result *native,
                       const struct twin_result *ours, uint16_t status);

/* Random states. Numbers are often 0, -1, powers of two and their neighbours; x87 registers are of every class. */
uint64_t twin_random(void);
uint64_t twin_number(void);
void twin_random_state(struct native_state *state);
void twin_random_memory(void);
void twin_random_x87(uint8_t to[10]);

/* The time that the interpreter is given: RDTSC. */
extern uint64_t twin_time;
/* Bases of segments as the interpreter is given them. GS is set on the CPU as well. */
extern uint64_t twin_fs_base, twin_gs_base;

#endif
