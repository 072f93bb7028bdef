/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * loops_place: where a loop begins in the source.
 */
#include <string.h>

#include "analyses/loops.h"

static bool loops_place_is_same(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

void analyses_loop_place(struct loader_place *out, struct loader_symbols *symbols, const struct analyses_loop *loop)
{
    struct loader_frame header, latch;
    struct loader_place back;
    loader_place_of(symbols, loop->header, out);
    loader_place_of(symbols, loop->latch, &back);
    if (!out->file && loops_place_is_same(out->function, back.function)) {
        out->file = back.file;
        out->line = back.line;
    }
    if (!out->file)
        return;
    loader_frames_of(symbols, loop->header, &header, 1);
    loader_frames_of(symbols, loop->latch, &latch, 1);
    const bool same = loops_place_is_same(header.file, latch.file) &&
                      loops_place_is_same(header.function, latch.function);
    if (same && header.line == out->line && latch.line > 0 && latch.line < out->line)
        out->line = latch.line;
}
