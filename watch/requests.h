/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * requests: what a program asks Valgrind for, in instructions that do nothing anywhere else.
 */
#ifndef C2_REQUESTS_H
#define C2_REQUESTS_H

#include "engine/engine.h"

enum { REQUESTS_TEXT = 256 };
enum requests_kind { /* as valgrind/callgrind.h numbers them */
                     REQUESTS_DUMP = 0x43540000,
                     REQUESTS_ZERO,
                     REQUESTS_TOGGLE,
                     REQUESTS_DUMP_AT,
                     REQUESTS_START,
                     REQUESTS_STOP,
};
struct requests_request {
    uint64_t number;          /* enum requests_kind, or of another tool */
    char text[REQUESTS_TEXT]; /* DUMP_AT: the text of the request; without control characters */
};

#define REQUESTS_BYTES 19u                                   /* of the instructions that are a request */
bool requests_at(const struct mmu *mmu, struct guest_va pc); /* one begins there */
/* Inside engine_watch.reached, where one begins. False: it is none, what it points to cannot be read. */
bool requests_read(struct requests_request *out, struct mmu *mmu, struct engine *engine);

#endif
