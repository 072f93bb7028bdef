/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program of random blocks, for tests that hold a simulator to a twin that gets it in other pieces; and a memory
 * whose walks read tables of their own.
 */
#ifndef RANDOM_BLOCKS_H
#define RANDOM_BLOCKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "sim/sim.h"

#define BLOCKS 20u
#define MAX_INSNS 9u
#define STRING BLOCKS /* the number of the block with a REP */
#define INSN_BYTES 7u

/* number[b][k]: the block from its k-th instruction on. */
struct world {
    struct c2_rng rng;
    struct stream_blocks *blocks;
    struct stream_insn insns[BLOCKS][MAX_INSNS];
    struct stream_slot slots[BLOCKS][2 * MAX_INSNS];
    uint16_t insn_count[BLOCKS], slot_count[BLOCKS];
    uint32_t number[BLOCKS + 1][MAX_INSNS];
};

static bool translate(void *self, struct guest_va va, struct guest_pa *out)
{
    (void)self;
    out->v = va.v ^ (va.v >> 3 & 0x7000);
    return true;
}

static bool walk(void *self, struct guest_va va, struct mmu_walk *out)
{
    (void)self;
    *out = (struct mmu_walk){.entry_count = 4};
    for (unsigned i = 0; i < 4; i++)
        out->entry[i].v = 0x10000000 + 0x1000 * i + (va.v >> (39 - 9 * i) & 511) * 8;
    return true;
}

/* For data 8 pages, for fetches 2. */
static void give_tlbs(struct caches_machine *machine)
{
    machine->tlb_count = 2;
    machine->tlbs[0] = (struct caches_tlb){
        "DTLB", CACHES_TLB_FIRST, CACHES_TLB_DATA, CACHES_TLB_4K, 8, 4, CACHES_LRU, 0, 0};
    machine->tlbs[1] = (struct caches_tlb){
        "ITLB", CACHES_TLB_FIRST, CACHES_TLB_FETCHES, CACHES_TLB_4K, 2, 2, CACHES_LRU, 0, 0};
}

static uint32_t below(struct world *world, uint32_t limit) { return (uint32_t)c2_rng_below(&world->rng, limit); }

/* Slots of the instructions before this one. */
static uint16_t slots_up_to(const struct world *world, uint32_t b, uint32_t insn)
{
    return insn == world->insn_count[b] ? world->slot_count[b] : world->insns[b][insn].first_slot;
}

static uint64_t pc_of(uint32_t b) { return 0x400000 + 0x340 * b; }

/* Instructions from .. from + count - 1 of block b, as a block of their own: its number. */
static uint32_t add_part(struct world *world, uint32_t b, uint32_t from, uint32_t count)
{
    struct stream_insn insns[MAX_INSNS];
    struct stream_slot slots[2 * MAX_INSNS];
    const struct stream_insn *first = &world->insns[b][from];
    const uint16_t slot_count = (uint16_t)(slots_up_to(world, b, from + count) - first->first_slot);
    uint32_t number;
    for (uint32_t i = 0; i < count; i++) {
        insns[i] = first[i];
        insns[i].offset = (uint16_t)(first[i].offset - first->offset);
        insns[i].first_slot = (uint16_t)(first[i].first_slot - first->first_slot);
    }
    for (uint16_t i = 0; i < slot_count; i++) {
        slots[i] = world->slots[b][first->first_slot + i];
        slots[i].insn = (uint16_t)(slots[i].insn - from);
    }
    const struct stream_block block = {
        {pc_of(b) + first->offset}, INSN_BYTES * count, (uint16_t)count, slot_count, STREAM_JUMP, insns, slots};
    assert_int_equal(C2_OK, stream_blocks_add(&number, world->blocks, &block, NULL));
    return number;
}

/* flops: instructions compute. */
static void draw_block(struct world *world, uint32_t b, bool flops)
{
    static const uint16_t sizes[] = {1, 8, 16, 100};
    const uint16_t count = (uint16_t)(1 + below(world, MAX_INSNS));
    world->insn_count[b] = count;
    for (uint16_t i = 0; i < count; i++) {
        const uint32_t computes = flops ? below(world, 2) * below(world, 9) : 0;
        world->insns[b][i] = (struct stream_insn){(uint16_t)(INSN_BYTES * i), world->slot_count[b], INSN_BYTES,
                                                  (uint8_t)computes};
        for (uint32_t slots = below(world, 3); slots > 0; slots--)
            world->slots[b][world->slot_count[b]++] = (struct stream_slot){i, sizes[below(world, 4)],
                                                                           (uint8_t)(STREAM_READ + below(world, 3)), 0};
    }
}

/* Without blocks but the one with a REP, which comes last: add_string(). */
static void begin_world(struct world *world)
{
    memset(world, 0, sizeof *world);
    c2_rng_init(&world->rng, 12, "test");
    assert_int_equal(C2_OK, stream_blocks_create(&world->blocks, NULL));
}

static void add_string(struct world *world)
{
    static const struct stream_insn insn = {.length = 2};
    static const struct stream_slot slots[] = {
        {0, 8, STREAM_SOURCE, 0}, {0, 8, STREAM_DESTINATION, 1}, {0, 0, STREAM_DONE, 0}, {0, 0, STREAM_REMAINING, 0}};
    const struct stream_block string = {{0x500000}, 2, 1, 4, STREAM_JUMP, &insn, slots};
    assert_int_equal(C2_OK, stream_blocks_add(&world->number[STRING][0], world->blocks, &string, NULL));
}

#endif
