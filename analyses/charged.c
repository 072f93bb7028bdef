/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * charged: the user's own line that what is missed in inlined library code is charged to.
 *
 * Model
 *   An instruction has a chain of inlined calls, innermost first. It is charged to the innermost one whose file is not
 *   of the system: neither a header of the system or of a compiler nor Rust's library. Where all are, or none has been
 *   inlined, it is charged to the line that it comes from.
 *
 * Not modelled
 *   Calls that were not inlined: a function of a library that has code of its own keeps its misses.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/chapter.h"
#include "document/shorten.h"

/* The number of the user's frame; 0: the innermost one, or there is none. */
static size_t user_frame(const struct loader_frame *frames, size_t count)
{
    for (size_t i = 0; i < count && i < NAMES_FRAMES; i++)
        if (frames[i].file && !loader_is_system_file(frames[i].file))
            return i;
    return 0;
}

void names_charge(struct loader_place *out, const struct analyses_run *run, struct guest_va pc)
{
    struct loader_frame frames[NAMES_FRAMES];
    names_place(out, run, pc);
    if (!run->symbols || (out->file && !loader_is_system_file(out->file)))
        return;
    const size_t user = user_frame(frames, loader_frames_of(run->symbols, pc, frames, NAMES_FRAMES));
    if (user == 0)
        return;
    out->file = frames[user].file;
    out->line = frames[user].line;
}

char *names_charged_text(char *buffer, size_t bytes, const struct analyses_run *run, struct guest_va pc)
{
    struct loader_frame frames[NAMES_FRAMES];
    struct loader_place place;
    names_charge(&place, run, pc);
    loader_place_text(buffer, bytes, pc, &place);
    const size_t count = run->symbols ? loader_frames_of(run->symbols, pc, frames, NAMES_FRAMES) : 0;
    const size_t user = user_frame(frames, count), used = strlen(buffer);
    char called[NAMES_BYTES];
    if (user == 0 || !frames[0].file || !frames[user - 1].function)
        return buffer;
    snprintf(called, sizeof called, "%s", frames[user - 1].function);
    snprintf(buffer + used, bytes - used, " < %s < %s:%d", doc_bare_name(called), frames[0].base, frames[0].line);
    return buffer;
}

/* ------------------------------------------------------------------ in the JSON */

/* What instructions of a line cost that are charged to one place. */
struct charge {
    uint32_t number; /* of the place, in the ranking */
    struct guest_va pc;
    uint64_t cost;
};

static int charged_by_cost(const void *left, const void *right)
{
    const struct charge *a = left, *b = right;
    return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost)
                              : (a->number > b->number) - (a->number < b->number);
}

struct charges {
    struct charge *list;
    uint32_t count, room;
};

static bool add_charge(struct charges *to, const struct digest *digest, size_t insn)
{
    const uint32_t number = digest->charged.number_of[insn];
    uint32_t at = 0;
    while (at < to->count && to->list[at].number != number)
        at++;
    if (at == to->count) {
        if (!c2_grow((void **)&to->list, &to->room, to->count, sizeof *to->list))
            return false;
        to->list[to->count++] = (struct charge){.number = number, .pc = digest->profile->insns[insn].pc};
    }
    to->list[at].cost += digest->cost_of[insn];
    return true;
}

static void charged_add_places(struct document *d, const struct analyses_run *run, const struct charges *charges)
{
    doc_table(d, DOC_JSON, "charged");
    for (uint32_t i = 0; i < charges->count && i < CHAPTER_LISTED; i++) {
        struct loader_place place;
        names_charge(&place, run, charges->list[i].pc);
        doc_group(d, DOC_JSON, NULL);
        chapter_add_place(d, &place);
        doc_count(d, DOC_JSON, "cost", charges->list[i].cost);
        doc_close(d);
    }
    chapter_add_rest(d, charges->count);
    doc_close(d);
}

void chapter_add_charged(struct document *d, const struct digest *digest, const struct digest_ranked *line)
{
    struct charges charges = {NULL, 0, 0};
    struct loader_place place;
    if (!line->place.file || !loader_is_system_file(line->place.file))
        return;
    for (size_t i = 0; i < digest->profile->insn_count; i++)
        if (digest->lines.number_of[i] == line->number && !add_charge(&charges, digest, i))
            d->failed = true;
    if (charges.count != 0) {
        qsort(charges.list, charges.count, sizeof *charges.list, charged_by_cost);
        names_charge(&place, digest->run, charges.list[0].pc);
        if (charges.count > 1 || digest_by_place(&place, &line->place) != 0)
            charged_add_places(d, digest->run, &charges);
    }
    c2_free(charges.list);
}
