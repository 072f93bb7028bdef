/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * moved: what the caches would have done if some objects had lain elsewhere.
 *
 * Model
 *   A recorded run is played to several lanes in one pass, each of the run's machine. A lane's proposal moves objects
 *   into a region of anonymous memory that the run does not use: one behind the other, each at the next address with
 *   the offset that is asked for. Byte o of an object then lies at new start + o + (o / row) * pad; of a site's block
 *   in slot s, s times the padded room further on. A reference goes where its first byte goes, whole.
 *   Elements of an object may be split: byte r of element e then lies at e * U + (its place among the U bytes that lie
 *   apart), or behind all those, from the next line on, at e * (bytes - U) + (its place among the others). Or they lie
 *   in another order: element e at (its place in the order) * bytes. Of a site with many blocks the element is the
 *   block, its number the slot; where they are in another order each has the room that is asked for.
 *   Elements of string instructions go one by one: where the new places of neighbours are no neighbours, the record is
 *   parted as an interrupted one is.
 *   A page is touched when the run touched it: where that was a page of an object that is moved, the page that the byte
 *   has now. Other pages of the region are touched at their first reference, as by a write.
 *   Page colours and huge pages of a proposal are the placement's of the lane and, for huge pages, of its region alone.
 *
 * Invariants
 *   A proposal that changes nothing gives the run's own counts.
 *   A lane that fails does not hinder the others. Results do not depend on which lanes there are.
 *
 * Not modelled
 *   Memory of an object that is given back: its new pages stay. A reference across the end of a row reaches into the
 *   pad. The allocator's own words beside a block, and what it writes there before the block is the program's, stay
 *   behind. What follows in the program from other addresses: alignment tests, hashes of pointers, another size of
 *   the heap.
 */
#include <inttypes.h>
#include <string.h>

#include "lanes/lanes.h"

#define REGION_BASE 0x200818000000ull /* apart from all other regions modulo 64 GiB and modulo 1 GiB, see mmu.h */
#define REGION_UNIT (2ull << 20)
#define REP_WORDS 5u /* a string record, header and slots */

/* Where the bytes of an element go: below `apart` to the array of those, behind it to that of the others. */
struct split {
    uint64_t others; /* where their array begins */
    uint32_t apart;
    uint16_t place[ANALYSES_ELEMENT];
};

/* Where a lane has a thing. */
struct move {
    bool on;
    uint64_t base, row, pad; /* pad 0: no rows */
    uint64_t stride;         /* from slot to slot; 0: it is one block */
    uint64_t element;        /* bytes of one, if they are split or in another order; else 0 */
    struct split *split;     /* NULL: they are not */
    const uint32_t *order;   /* NULL: it is theirs */
    uint32_t order_count;
};

struct variant {
    struct analyses_outcome *outcome;
    struct lane *lane;
    struct move moves[ANALYSES_OBJECTS];
    bool moves_any;
    uint64_t region_end;
};

/* A word of the batch that is to be changed, or a string record that has to do with a thing. */
struct patch {
    uint32_t word;
    uint32_t thing; /* FINDER_NOTHING: a string record, word being its header */
    uint32_t slot;
    uint64_t offset;
};

struct player {
    const struct lanes_replay *replay;
    const struct stream_blocks *blocks; /* of the recording */
    struct finder *finder;
    struct rows *rows; /* NULL: not wanted */
    struct analyses_walk *walks;
    uint32_t walk_count;
    uint32_t come[ANALYSES_PROPOSALS]; /* [walk]: to so many elements so far */
    uint32_t objects[ANALYSES_OBJECTS], object_count;
    struct variant *variants;
    uint32_t variant_count;
    struct patch *patches; /* of the segment at hand */
    uint32_t patch_count;
    struct stream_batch out; /* scratch */
};

/* ------------------------------------------------------------------ where things lie in a lane */

static uint64_t stretched(const struct move *move, uint64_t offset)
{
    return move->pad == 0 ? offset : offset + offset / move->row * move->pad;
}

static uint64_t moved_element(const struct move *move, uint64_t element, uint64_t rest)
{
    const struct split *split = move->split;
    if (!split) {
        const uint64_t place = element < move->order_count ? move->order[element] : element;
        return move->base + place * (move->stride != 0 ? move->stride : move->element) + rest;
    }
    const uint64_t at = split->place[rest];
    return at < split->apart ? move->base + element * split->apart + at
                             : split->others + element * (move->element - split->apart) + at - split->apart;
}

static uint64_t moved_moved(const struct move *move, uint32_t slot, uint64_t offset)
{
    if (move->element != 0)
        return move->stride != 0 ? moved_element(move, slot, offset)
                                 : moved_element(move, offset / move->element, offset % move->element);
    return move->base + slot * move->stride + stretched(move, offset);
}

static uint64_t moved_address(const struct variant *variant, const struct finder_found *found, uint64_t va)
{
    if (found->thing == FINDER_NOTHING || !variant->moves[found->thing].on)
        return va;
    return moved_moved(&variant->moves[found->thing], found->slot, va - found->base);
}

static uint64_t next_at(uint64_t cursor, uint64_t align, uint64_t offset)
{
    return cursor + (offset + align - cursor % align) % align;
}

static uint32_t moved_thing_of(const struct player *player, uint32_t object)
{
    for (uint32_t i = 0; i < player->object_count; i++)
        if (player->objects[i] == object)
            return i;
    return FINDER_NOTHING;
}

static struct split *make_split(const struct analyses_proposal *proposal, uint64_t base, uint64_t elements,
                                uint32_t line_bytes)
{
    struct split *split = c2_calloc(1, sizeof *split);
    if (!split)
        return NULL;
    split->apart = (uint32_t)analyses_apart_bytes(proposal);
    split->others = c2_align_up(base + elements * split->apart, line_bytes);
    uint16_t apart = 0, others = (uint16_t)split->apart;
    for (uint32_t i = 0; i < proposal->element_bytes; i++)
        split->place[i] = proposal->apart[i / 8] >> i % 8 & 1 ? apart++ : others++;
    return split;
}

/* The object's elements, from move->base on; *end: behind them. */
static enum c2_status lay_out_elements(struct player *player, struct move *move,
                                       const struct analyses_proposal *proposal, uint64_t *end, struct c2_error *err)
{
    const struct analyses_object *object = &player->replay->profile->objects[proposal->changes[0].object];
    const bool blocks = move->stride != 0;
    const uint64_t bytes = move->element = proposal->element_bytes;
    const uint64_t elements = blocks ? object->blocks : (object->bytes + bytes - 1) / bytes;
    if (proposal->means & ANALYSES_SPLIT) {
        move->split = make_split(proposal, move->base, elements, player->replay->machine->line_bytes);
        if (!move->split)
            return c2_fail_memory(err, "the proposals' simulators");
        *end = move->split->others + elements * (bytes - move->split->apart);
        return C2_OK;
    }
    move->order = proposal->walk->order;
    move->order_count = proposal->walk->count;
    *end = move->base + elements * (blocks ? move->stride : bytes);
    return C2_OK;
}

static enum c2_status moved_lay_out(struct player *player, struct variant *variant,
                                    const struct analyses_proposal *proposal, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    uint64_t cursor = REGION_BASE;
    for (uint32_t i = 0; i < proposal->change_count; i++) {
        const struct analyses_change *change = &proposal->changes[i];
        const struct analyses_object *object = &player->replay->profile->objects[change->object];
        struct move *move = &variant->moves[moved_thing_of(player, change->object)];
        *move = (struct move){.on = true, .base = next_at(cursor, change->align, change->offset)};
        cursor = move->base;
        if (object->kind == ANALYSES_HEAP && object->blocks > 1) {
            move->stride = change->row_bytes + change->pad_bytes;
            cursor += object->blocks * move->stride;
        } else {
            move->row = change->row_bytes;
            move->pad = change->pad_bytes;
            cursor += stretched(move, object->bytes);
        }
        if (proposal->element_bytes != 0)
            status = lay_out_elements(player, move, proposal, &cursor, err);
        variant->moves_any = true;
    }
    variant->region_end = c2_align_up(cursor, REGION_UNIT);
    return status;
}

static enum c2_status moved_flush(const struct variant *variant, struct stream_batch *out, struct c2_error *err)
{
    enum c2_status status = out->used == 0 ? C2_OK : lane_consume(variant->lane, out, err);
    out->used = 0;
    return status;
}

static enum c2_status moved_notify(struct player *player, struct variant *variant, enum stream_mark mark,
                                   const uint64_t *words, uint32_t count, struct c2_error *err)
{
    struct stream_batch *out = &player->out;
    out->words[0] = stream_header(STREAM_MARK, mark, count);
    memcpy(&out->words[1], words, count * sizeof *words);
    out->used = count + 1;
    out->tid = 1;
    return moved_flush(variant, out, err);
}

static enum c2_status make_region(struct player *player, struct variant *variant, bool huge, struct c2_error *err)
{
    const uint64_t bytes = variant->region_end - REGION_BASE;
    const uint64_t map[] = {REGION_BASE, bytes, MMU_READ | MMU_WRITE | STREAM_MAPPED_MAY_WRITE, 0, 0, 0};
    const uint64_t advise[] = {REGION_BASE, bytes, 1};
    if (!variant->moves_any)
        return C2_OK;
    enum c2_status status = moved_notify(player, variant, STREAM_MAPPED, map, 6, err);
    return status == C2_OK && huge ? moved_notify(player, variant, STREAM_ADVISED, advise, 3, err) : status;
}

/* ------------------------------------------------------------------ life */

static struct mmu_config placement_of(const struct player *player, const struct analyses_proposal *proposal)
{
    struct mmu_config config = *player->replay->placement;
    config.log_placements = false;
    if (proposal->means & ANALYSES_COLORED) {
        config.placement = MMU_COLORED;
        config.colors = proposal->colors;
    }
    config.seed += proposal->draw;
    return config;
}

/* Levels below that take back what they evict would keep a larger one from holding more than they do. */
static struct caches_machine machine_of(const struct player *player, const struct analyses_proposal *proposal)
{
    struct caches_machine machine = *player->replay->machine;
    if ((proposal->means & ANALYSES_ROOM) == 0)
        return machine;
    machine.levels[proposal->level].size_bytes = proposal->room_bytes;
    for (uint32_t i = proposal->level + 1; i < machine.level_count; i++)
        if (machine.levels[i].inclusion == CACHES_INCLUSIVE && machine.levels[i].size_bytes < proposal->room_bytes)
            machine.levels[i].inclusion = CACHES_NON_INCLUSIVE;
    return machine;
}

/* Its failure is the variant's, but for want of memory. */
static enum c2_status open_variant(struct player *player, struct variant *variant,
                                   const struct analyses_proposal *proposal, struct c2_error *err)
{
    enum c2_status status = moved_lay_out(player, variant, proposal, err);
    if (status != C2_OK)
        return status;
    const struct caches_machine machine = machine_of(player, proposal);
    const struct lane_config config = {.machine = &machine,
                                       .placement = placement_of(player, proposal),
                                       .seed = player->replay->seed,
                                       .blocks = player->blocks,
                                       .region_start = REGION_BASE,
                                       .region_end = variant->region_end};
    status = lane_create(&variant->lane, &config, err);
    return status == C2_OK ? make_region(player, variant, proposal->means & ANALYSES_HUGE, err) : status;
}

static void collect_objects(struct player *player, const struct analyses_proposal *proposals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < proposals[i].change_count; k++) {
            if (moved_thing_of(player, proposals[i].changes[k].object) != FINDER_NOTHING)
                continue;
            C2_ASSERT(player->object_count < ANALYSES_OBJECTS);
            player->objects[player->object_count++] = proposals[i].changes[k].object;
        }
    }
}

static enum c2_status open_variants(struct player *player, struct analyses_outcome *out,
                                    const struct analyses_proposal *proposals, uint32_t count, struct c2_error *err)
{
    player->variants = c2_calloc(count, sizeof *player->variants);
    player->patches = c2_alloc(STREAM_BATCH_WORDS * sizeof *player->patches);
    if (!player->variants || !player->patches)
        return c2_fail_memory(err, "the proposals' simulators");
    enum c2_status status = finder_create(&player->finder, player->replay->profile, player->objects,
                                          player->object_count, err);
    for (uint32_t i = 0; i < count && status == C2_OK; i++) {
        out[i] = (struct analyses_outcome){.status = C2_OK};
        player->variants[i].outcome = &out[i];
        player->variant_count++;
        status = open_variant(player, &player->variants[i], &proposals[i], &out[i].error);
        if (status == C2_ERR_NO_MEMORY) {
            *err = out[i].error;
            return status;
        }
        out[i].status = status;
        status = C2_OK;
    }
    return status;
}

static void close_variants(struct player *player)
{
    for (uint32_t i = 0; i < player->variant_count; i++) {
        lane_destroy(player->variants[i].lane);
        for (uint32_t k = 0; k < ANALYSES_OBJECTS; k++)
            c2_free(player->variants[i].moves[k].split);
    }
    c2_free(player->variants);
    c2_free(player->patches);
    finder_destroy(player->finder);
    rows_destroy(player->rows);
}

/* ------------------------------------------------------------------ a segment, to one lane */

static void moved_append(struct stream_batch *out, const uint64_t *words, uint32_t count)
{
    memcpy(&out->words[out->used], words, count * sizeof *words);
    out->used += count;
}

static void moved_narrow(uint64_t *start, uint64_t *end, uint64_t from, uint64_t bytes)
{
    *start = from > *start ? from : *start;
    *end = *end - from > bytes ? from + bytes : *end;
}

/* To bytes of one element that residency side by side. */
static void narrow_to_element(const struct move *move, const struct finder_found *found, uint64_t va, uint64_t *start,
                              uint64_t *end)
{
    const uint64_t offset = va - found->base, bytes = move->element;
    const uint64_t element = move->stride != 0 ? 0 : offset / bytes * bytes;
    uint64_t low = offset - element, high = low;
    moved_narrow(start, end, found->base + element, bytes);
    if (!move->split)
        return;
    const uint16_t *place = move->split->place;
    const bool apart = place[low] < move->split->apart;
    while (low > 0 && (place[low - 1] < move->split->apart) == apart)
        low--;
    while (high < bytes && (place[high] < move->split->apart) == apart)
        high++;
    moved_narrow(start, end, found->base + element + low, high - low);
}

/* How many elements from va on are neighbours in the lane as well, `most` at most. */
static uint64_t neighbours(struct player *player, const struct variant *variant, uint64_t va, uint32_t size, bool down,
                           uint64_t most)
{
    const struct finder_found found = *finder_find(player->finder, va);
    uint64_t start = found.start, end = found.end;
    const struct move *move = found.thing == FINDER_NOTHING ? NULL : &variant->moves[found.thing];
    if (move && move->on && move->element != 0)
        narrow_to_element(move, &found, va, &start, &end);
    else if (move && move->on && move->pad != 0)
        moved_narrow(&start, &end, found.base + (va - found.base) / move->row * move->row, move->row);
    const uint64_t count = down ? (va - start) / size + 1 : (end - va - 1) / size + 1;
    return count < most ? count : most;
}

/* A string record, in as many parts as its elements have come apart. */
static enum c2_status moved_string_record(struct player *player, struct variant *variant, const uint64_t *record,
                                          struct c2_error *err)
{
    const uint32_t block = stream_header_block(record[0]);
    const struct stream_slot *slots = stream_blocks_at(player->blocks, block)->slots;
    const bool down = stream_string_goes_down(record + 1);
    uint64_t left = stream_string_elements(record + 1), at[2] = {record[1], record[2]};
    enum c2_status status = C2_OK;
    do {
        uint64_t count = left, words[2] = {0, 0};
        for (unsigned side = 0; side < 2; side++)
            if (slots[side].size != 0 && count != 0)
                count = neighbours(player, variant, at[side], slots[side].size, down, count);
        for (unsigned side = 0; side < 2; side++) {
            const uint64_t distance = count * slots[side].size;
            words[side] = slots[side].size == 0
                              ? at[side]
                              : moved_address(variant, finder_find(player->finder, at[side]), at[side]);
            at[side] = down ? at[side] - distance : at[side] + distance;
        }
        left -= count;
        const uint64_t header = stream_header(block, left == 0 ? stream_header_insns(record[0]) : 0, 4);
        if (player->out.used + REP_WORDS > STREAM_BATCH_WORDS)
            status = moved_flush(variant, &player->out, err);
        moved_append(&player->out,
                     (const uint64_t[REP_WORDS]){header, words[0], words[1], stream_string_done(count, down),
                                                 stream_string_remaining(record + 1) + left},
                     REP_WORDS);
    } while (left != 0 && status == C2_OK);
    return status == C2_OK ? moved_flush(variant, &player->out, err) : status; /* what follows fits again */
}

/* words [from, to) of the batch, whole records. */
static enum c2_status feed_changed(struct player *player, struct variant *variant, const struct stream_batch *batch,
                                   uint32_t from, uint32_t to, struct c2_error *err)
{
    struct stream_batch *out = &player->out;
    enum c2_status status = C2_OK;
    out->used = 0;
    out->tid = batch->tid;
    for (uint32_t i = 0; i < player->patch_count && variant->moves_any && status == C2_OK; i++) {
        const struct patch *patch = &player->patches[i];
        const bool string = patch->thing == FINDER_NOTHING;
        if (!string && !variant->moves[patch->thing].on)
            continue;
        moved_append(out, &batch->words[from], patch->word - from);
        from = patch->word + (string ? REP_WORDS : 1);
        if (string)
            status = moved_string_record(player, variant, &batch->words[patch->word], err);
        else
            out->words[out->used++] = moved_moved(&variant->moves[patch->thing], patch->slot, patch->offset);
    }
    if (status != C2_OK)
        return status;
    moved_append(out, &batch->words[from], to - from);
    return moved_flush(variant, out, err);
}

static void feed(struct player *player, struct variant *variant, const struct stream_batch *batch, uint32_t from,
                 uint32_t to)
{
    struct analyses_outcome *outcome = variant->outcome;
    const bool as_it_is = from == 0 && to == batch->used && (player->patch_count == 0 || !variant->moves_any);
    if (outcome->status != C2_OK || from == to)
        return;
    struct c2_error err = {.status = C2_OK};
    enum c2_status status = as_it_is ? lane_consume(variant->lane, batch, &err)
                                     : feed_changed(player, variant, batch, from, to, &err);
    if (status == C2_OK || outcome->status != C2_OK)
        return; /* a failed touch came first */
    outcome->status = status;
    outcome->error = err;
}

static void feed_all(struct player *player, const struct stream_batch *batch, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < player->variant_count; i++)
        feed(player, &player->variants[i], batch, from, to);
    player->patch_count = 0;
}

/* ------------------------------------------------------------------ what is to be changed in a batch */

static bool touches_thing(struct player *player, const struct stream_slot *slots, const uint64_t *words)
{
    const uint64_t count = stream_string_elements(words);
    for (unsigned side = 0; side < 2; side++) {
        if (slots[side].size == 0 || count == 0)
            continue;
        const uint64_t reach = (count - 1) * slots[side].size;
        const uint64_t low = stream_string_goes_down(words) ? words[side] - reach : words[side];
        for (uint64_t va = low; va <= low + reach;) {
            const struct finder_found *found = finder_find(player->finder, va);
            if (found->thing != FINDER_NOTHING)
                return true;
            if (found->end > low + reach)
                break;
            va = found->end;
        }
    }
    return false;
}

/* ------------------------------------------------------------------ walks */

#define NOT_YET UINT32_MAX

/* The first time that a walk comes to an element. */
static void see_walks(struct player *player, const struct stream_block *block, uint32_t slot,
                      const struct finder_found *found, uint64_t va)
{
    const uint64_t pc = block->pc.v + block->insns[block->slots[slot].insn].offset;
    for (uint32_t i = 0; i < player->walk_count; i++) {
        const struct analyses_walk *walk = &player->walks[i];
        if (walk->pc.v != pc || walk->object != player->objects[found->thing])
            continue;
        const uint64_t element = walk->element_bytes == 0 ? found->slot : (va - found->base) / walk->element_bytes;
        if (element < walk->count && walk->order[element] == NOT_YET)
            walk->order[element] = player->come[i]++;
    }
}

static enum c2_status begin_walks(struct player *player, struct c2_error *err)
{
    for (uint32_t i = 0; i < player->walk_count; i++) {
        struct analyses_walk *walk = &player->walks[i];
        const struct analyses_object *object = &player->replay->profile->objects[walk->object];
        const uint64_t count = walk->element_bytes == 0
                                   ? object->blocks
                                   : (object->bytes + walk->element_bytes - 1) / walk->element_bytes;
        walk->order = count < NOT_YET ? c2_alloc(count * sizeof *walk->order) : NULL;
        if (!walk->order)
            return c2_fail_memory(err, "the orders of walks");
        walk->count = (uint32_t)count;
        memset(walk->order, 0xff, count * sizeof *walk->order);
    }
    return C2_OK;
}

/* What a walk did not come to lies behind it. */
static void moved_finish_walks(struct player *player)
{
    for (uint32_t i = 0; i < player->walk_count; i++) {
        struct analyses_walk *walk = &player->walks[i];
        for (uint32_t k = 0; walk->order && player->come[i] != 0 && k < walk->count; k++)
            if (walk->order[k] == NOT_YET)
                walk->order[k] = player->come[i]++;
        if (player->come[i] != 0)
            continue;
        c2_free(walk->order);
        walk->order = NULL;
    }
}

static enum c2_status plain_slots(struct player *player, uint32_t number, const struct stream_block *block,
                                  const uint64_t *words, uint32_t first_word, uint32_t count, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < count && status == C2_OK; i++) {
        const struct finder_found *found = finder_find(player->finder, words[i]);
        if (found->thing != FINDER_NOTHING)
            player->patches[player->patch_count++] = (struct patch){first_word + i, found->thing, found->slot,
                                                                    words[i] - found->base};
        if (player->walk_count != 0 && found->thing != FINDER_NOTHING)
            see_walks(player, block, i, found, words[i]);
        if (player->rows)
            status = rows_see(player->rows, number, i, block->slot_count, found->thing, words[i], err);
    }
    return status;
}

static enum c2_status moved_take_record(struct player *player, const struct stream_batch *batch, uint32_t at,
                                        struct c2_error *err)
{
    const uint32_t number = stream_header_block(batch->words[at]), count = stream_header_slots(batch->words[at]);
    const struct stream_block *block = stream_blocks_at(player->blocks, number);
    const uint64_t *words = &batch->words[at + 1];
    if (!stream_is_string(block))
        return plain_slots(player, number, block, words, at + 1, count, err);
    if (touches_thing(player, block->slots, words))
        player->patches[player->patch_count++] = (struct patch){at, FINDER_NOTHING, 0, 0};
    return C2_OK;
}

/* ------------------------------------------------------------------ marks */

/* Whether memory comes to lie where objects would be moved; it begins at *start. */
static bool is_in_the_way(const struct variant *variant, enum stream_mark mark, const uint64_t *words, uint64_t *start)
{
    if (!variant->moves_any || (mark != STREAM_MAPPED && mark != STREAM_MOVED))
        return false;
    *start = mark == STREAM_MAPPED ? words[0] : words[1];
    const uint64_t bytes = mark == STREAM_MAPPED ? words[1] : words[3];
    return *start<variant->region_end && * start + bytes> REGION_BASE;
}

static enum c2_status moved_repeat(struct player *player, struct variant *variant, enum stream_mark mark,
                                   const uint64_t *words, uint32_t count, const struct finder_found *found,
                                   struct c2_error *err)
{
    uint64_t start;
    if (is_in_the_way(variant, mark, words, &start))
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "the program maps memory at 0x%" PRIx64 ", where objects would be moved", start);
    if (!found)
        return moved_notify(player, variant, mark, words, count, err);
    const uint64_t moved[] = {moved_address(variant, found, words[0]), words[1]};
    return moved_notify(player, variant, mark, moved, count, err);
}

/* What happened to the memory of the run, in each lane: where the lane has it. */
static void play_memory(struct player *player, enum stream_mark mark, const uint64_t *words, uint32_t count)
{
    if (mark == STREAM_UNMAPPED)
        finder_unmapped(player->finder, words[0], words[1]);
    const struct finder_found *found = mark == STREAM_TOUCHED ? finder_find(player->finder, words[0]) : NULL;
    for (uint32_t i = 0; i < player->variant_count; i++) {
        struct analyses_outcome *outcome = player->variants[i].outcome;
        if (outcome->status == C2_OK)
            outcome->status = moved_repeat(player, &player->variants[i], mark, words, count, found, &outcome->error);
    }
}

static enum c2_status play_mark(struct player *player, uint64_t header, const uint64_t *words, struct c2_error *err)
{
    const enum stream_mark mark = (enum stream_mark)stream_header_insns(header);
    if (!stream_changes_memory(mark))
        return finder_mark(player->finder, mark, words, err);
    play_memory(player, mark, words, stream_header_slots(header));
    return C2_OK;
}

static enum c2_status moved_play_batch(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct player *player = self;
    enum c2_status status = C2_OK;
    uint32_t from = 0, next;
    for (uint32_t at = 0; at < batch->used && status == C2_OK; at = next) {
        const uint64_t header = batch->words[at];
        next = at + 1 + stream_header_slots(header);
        if (stream_header_block(header) != STREAM_MARK) {
            status = moved_take_record(player, batch, at, err);
            continue;
        }
        feed_all(player, batch, from, at); /* a mark changes what the patches before it mean */
        from = next;
        status = play_mark(player, header, &batch->words[at + 1], err);
    }
    feed_all(player, batch, from, batch->used);
    if (player->replay->tick)
        player->replay->tick(player->replay->tick_self, stream_recording_instructions(player->replay->recording));
    return status;
}

/* ------------------------------------------------------------------ all of it */

static void take_counts(struct variant *variant)
{
    const struct caches *caches = sim_caches(lane_sim(variant->lane));
    const struct caches_machine *machine = caches_machine(caches);
    for (uint32_t i = 0; i < machine->level_count; i++)
        variant->outcome->levels[i] = *caches_level_counts(caches, i);
    if (machine->has_l1i)
        variant->outcome->l1i = *caches_l1i_counts(caches);
    struct sim_totals all;
    sim_counted(&all, lane_sim(variant->lane));
    variant->outcome->cost = sim_cost(machine, &all);
}

static enum c2_status moved_play(struct player *player, struct c2_error *err)
{
    const struct stream_sink to = {player, moved_play_batch, NULL};
    enum c2_status status = stream_recording_play(player->replay->recording, to, err);
    for (uint32_t i = 0; i < player->variant_count && status == C2_OK; i++)
        if (player->variants[i].lane)
            take_counts(&player->variants[i]);
    return status;
}

static struct player *make_player(const struct lanes_replay *replay, struct c2_error *err)
{
    struct player *player = c2_calloc(1, sizeof *player);
    if (!player) {
        c2_fail_memory(err, "the proposals' simulators");
        return NULL;
    }
    player->replay = replay;
    player->blocks = stream_recording_blocks(replay->recording);
    return player;
}

enum c2_status lanes_replay(struct analyses_outcome *out, const struct analyses_proposal *proposals, uint32_t count,
                            const struct lanes_replay *replay, struct c2_error *err)
{
    struct player *player = make_player(replay, err);
    if (!player)
        return C2_ERR_NO_MEMORY;
    collect_objects(player, proposals, count);
    enum c2_status status = open_variants(player, out, proposals, count, err);
    if (status == C2_OK)
        status = moved_play(player, err);
    close_variants(player);
    c2_free(player);
    return status;
}

enum c2_status lanes_replay_rows(struct analyses_outcome *baseline, uint64_t *rows, const uint32_t *objects,
                                 uint32_t object_count, const struct lanes_replay *replay, struct analyses_walk *walks,
                                 uint32_t walk_count, struct c2_error *err)
{
    const struct analyses_proposal as_it_was = {.means = 0};
    struct player *player = make_player(replay, err);
    if (!player)
        return C2_ERR_NO_MEMORY;
    memcpy(player->objects, objects, object_count * sizeof *objects);
    player->object_count = object_count;
    player->walks = walks;
    player->walk_count = walk_count;
    enum c2_status status = rows_create(&player->rows, replay->machine->line_bytes, object_count, err);
    if (status == C2_OK)
        status = begin_walks(player, err);
    if (status == C2_OK)
        status = open_variants(player, baseline, &as_it_was, 1, err);
    if (status == C2_OK)
        status = moved_play(player, err);
    for (uint32_t i = 0; i < object_count && status == C2_OK; i++)
        rows[objects[i]] = rows_of(player->rows, i);
    moved_finish_walks(player);
    close_variants(player);
    c2_free(player);
    return status;
}
