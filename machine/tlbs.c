/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the keys of TLBs, page-walk caches and page walks mean together.
 *
 * Model
 *   The name of a section states where its TLB stands and what asks it (machine_sections).
 *   - A first level holds pages; a second one pages and, where the machine keeps them there, PDEs; a page-walk cache
 *     pointers. No other caches the same pointers; at most two second levels (halves) hold the same pages.
 *   - entries / ways is a whole number of sets, a power of two; the index has its number of bits, the lowest first.
 *   - tree-plru needs a power of two of ways, mru3-plru4 twelve.
 *   - A first level holds 4K pages, and the others are asked after one; loads and stores share all first levels or
 *   none.
 *   - Fetches are accesses of L1I, so ITLBs need [L1I].
 *   - [walks] needs a TLB; cached ones enter at `from`, a data level that the machine has.
 */
#include "machine/machine_priv.h"

const char *const machine_from_names[4] = {"L1D", "L2", "L3", "L4"};

/* ------------------------------------------------------------------ the rules of one */

static enum c2_status complete_tlb(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    const struct machine_section_row *row = &machine_sections[section];
    struct caches_tlb *tlb = &draft->tlb[section];
    snprintf(tlb->name, sizeof tlb->name, "%s", row->name);
    tlb->place = row->place;
    tlb->sides = row->sides;
    enum c2_status status = machine_complete(draft, section, err);
    if (!machine_given(draft, section, KEY_TLB_WAYS))
        tlb->ways = tlb->entries;
    return status;
}

static enum c2_status check_holds(const struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    static const unsigned possible[] = {CACHES_TLB_PAGES, CACHES_TLB_PAGES | CACHES_TLB_PDE,
                                        CACHES_TLB_PDE | CACHES_TLB_PDPTE | CACHES_TLB_PML4E};
    static const char *const rules[] = {"a first level holds 4K, 2M and 1G pages only",
                                        "a second level holds 4K, 2M and 1G pages and PDEs only",
                                        "a page-walk cache holds PDEs, PDPTEs and PML4Es only"};
    const struct caches_tlb *tlb = &draft->tlb[section];
    char where[MACHINE_WHERE_BYTES];
    if ((tlb->holds & ~possible[tlb->place]) == 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "%s: %s", machine_where(where, draft, section, KEY_PAGES), rules[tlb->place]);
}

static enum c2_status tlbs_check_shape(const struct machine_draft *draft, enum machine_section section,
                                       struct c2_error *err)
{
    const struct caches_tlb *tlb = &draft->tlb[section];
    char where[MACHINE_WHERE_BYTES];
    BLAME(where, draft, {section, KEY_ENTRIES}, {section, KEY_TLB_WAYS});
    if (tlb->ways > CACHES_TLB_MAX_WAYS)
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] has %u entries and no ways: at most %d can be one set", where,
                       tlb->name, tlb->entries, CACHES_TLB_MAX_WAYS);
    if (tlb->entries % tlb->ways != 0 || !c2_is_power_of_two(tlb->entries / tlb->ways))
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] %u entries of %u ways are no power of two of sets", where,
                       tlb->name, tlb->entries, tlb->ways);
    BLAME(where, draft, {section, KEY_TLB_POLICY}, {section, KEY_TLB_WAYS}, {section, KEY_ENTRIES});
    if (tlb->policy == CACHES_TREE_PLRU && (!c2_is_power_of_two(tlb->ways) || tlb->ways > 64))
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] policy tree-plru needs a power of two of ways, at most 64, not %u", where, tlb->name,
                       tlb->ways);
    if (tlb->policy == CACHES_MRU3_PLRU4 && tlb->ways != 12)
        return c2_fail(err, C2_ERR_INVALID, "%s: [%s] policy mru3-plru4 needs 12 ways, not %u", where, tlb->name,
                       tlb->ways);
    return C2_OK;
}

static enum c2_status check_index(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    const struct machine_index *index = &draft->index[section];
    struct caches_tlb *tlb = &draft->tlb[section];
    const unsigned bits = c2_log2(tlb->entries / tlb->ways);
    char where[MACHINE_WHERE_BYTES];
    if (!machine_given(draft, section, KEY_TLB_INDEX))
        return C2_OK;
    bool fits = bits > 0 && index->low[0] == 0 && index->high[0] + 1 == bits;
    if (index->terms == 2)
        fits = fits && index->low[1] >= bits && index->high[1] + 1 == index->low[1] + bits && index->high[1] <= 35;
    if (!fits) {
        BLAME(where, draft, {section, KEY_TLB_INDEX}, {section, KEY_TLB_WAYS}, {section, KEY_ENTRIES});
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: [%s] has %u sets: the index takes the lowest %u bits, and as many "
                       "higher ones if it is a xor",
                       where, tlb->name, tlb->entries / tlb->ways, bits);
    }
    tlb->fold = index->terms == 2 ? (uint8_t)index->low[1] : 0;
    return C2_OK;
}

/* ------------------------------------------------------------------ the rules of all */

static unsigned held_by(const struct caches_machine *machine, enum caches_tlb_place place, unsigned side)
{
    unsigned holds = 0;
    for (uint32_t i = 0; i < machine->tlb_count; i++)
        if (machine->tlbs[i].place == place && machine->tlbs[i].sides & side)
            holds |= machine->tlbs[i].holds;
    return holds;
}

static enum c2_status check_sides(const struct machine_draft *draft, struct c2_error *err)
{
    static const char *const names[] = {"loads", "stores", "fetches"};
    const struct caches_machine *machine = draft->machine;
    for (unsigned i = 0; i < 3; i++) {
        unsigned first = held_by(machine, CACHES_TLB_FIRST, 1u << i);
        if (first != 0 && !(first & CACHES_TLB_4K))
            return c2_fail(err, C2_ERR_INVALID, "%s: no first-level TLB holds 4K pages for %s", draft->shown, names[i]);
    }
    for (uint32_t i = 0; i < machine->tlb_count; i++) {
        const struct caches_tlb *tlb = &machine->tlbs[i];
        if (!held_by(machine, CACHES_TLB_FIRST, tlb->sides))
            return c2_fail(err, C2_ERR_INVALID, "%s: [%s] is never asked: its side has no first-level TLB",
                           draft->shown, tlb->name);
    }
    if (held_by(machine, CACHES_TLB_FIRST, CACHES_TLB_FETCHES) && !machine->has_l1i)
        return c2_fail(err, C2_ERR_INVALID, "%s: TLBs for fetches need [L1I]: a fetch is an access of it",
                       draft->shown);
    return C2_OK;
}

static enum c2_status tlbs_check_split(const struct machine_draft *draft, struct c2_error *err)
{
    unsigned kinds = 0, sides = 0;
    for (uint32_t i = 0; i < draft->machine->tlb_count; i++) {
        const struct caches_tlb *tlb = &draft->machine->tlbs[i];
        if (tlb->place == CACHES_TLB_FIRST && tlb->sides & CACHES_TLB_DATA)
            kinds |= tlb->sides == CACHES_TLB_DATA ? 1u : 2u;
        sides |= tlb->place == CACHES_TLB_FIRST ? tlb->sides & CACHES_TLB_DATA : 0;
    }
    if (sides == CACHES_TLB_LOADS || sides == CACHES_TLB_STORES)
        return c2_fail(err, C2_ERR_INVALID, "%s: first-level TLBs for loads need others for stores, and these those",
                       draft->shown);
    if (kinds != 3)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "%s: some first-level TLBs are for all data and some for loads or stores alone",
                   draft->shown);
}

/* Of the TLBs before `last`, those that hold some of the same for some of the same sides. */
static enum c2_status tlbs_check_overlap(const struct machine_draft *draft, uint32_t last, struct c2_error *err)
{
    const struct caches_tlb *tlbs = draft->machine->tlbs;
    unsigned pointers = tlbs[last].holds & ~(unsigned)CACHES_TLB_PAGES, others[3] = {0};
    for (uint32_t i = 0; i < last; i++) {
        if (tlbs[i].holds & pointers)
            return c2_fail(err, C2_ERR_INVALID, "%s: [%s] and [%s] hold the same pointers", draft->shown, tlbs[i].name,
                           tlbs[last].name);
        for (unsigned kind = 0; kind < 3 && tlbs[i].place == tlbs[last].place; kind++)
            others[kind] += tlbs[i].sides & tlbs[last].sides && tlbs[i].holds & tlbs[last].holds & 1u << kind;
    }
    for (unsigned kind = 0; kind < 3; kind++)
        if (others[kind] > 1)
            return c2_fail(err, C2_ERR_INVALID, "%s: [%s] is the third of its level to hold %s pages for the same side",
                           draft->shown, tlbs[last].name, caches_kind_names[kind]);
    return C2_OK;
}

static enum c2_status tlbs_finish_walks(struct machine_draft *draft, struct c2_error *err)
{
    struct caches_machine *machine = draft->machine;
    char where[MACHINE_WHERE_BYTES];
    enum c2_status status = machine_complete(draft, SECTION_WALKS, err);
    if (!draft->section_line[SECTION_WALKS] || status != C2_OK)
        return status;
    if (machine->tlb_count == 0)
        return c2_fail(err, C2_ERR_INVALID, "%s: [walks] needs a TLB: without one no page is walked to",
                       machine_where(where, draft, SECTION_WALKS, KEY_MODE));
    if (machine->walks_from >= machine->level_count)
        return c2_fail(err, C2_ERR_INVALID,
                       "%s: there is no %s: walks enter at one of the machine's levels, %s at the "
                       "latest",
                       machine_where(where, draft, SECTION_WALKS, KEY_FROM), machine_from_names[machine->walks_from],
                       machine->levels[machine->level_count - 1].name);
    return C2_OK;
}

static enum c2_status finish_tlb(struct machine_draft *draft, enum machine_section section, struct c2_error *err)
{
    struct caches_machine *machine = draft->machine;
    enum c2_status status = complete_tlb(draft, section, err);
    if (status == C2_OK)
        status = check_holds(draft, section, err);
    if (status == C2_OK)
        status = tlbs_check_shape(draft, section, err);
    if (status == C2_OK)
        status = check_index(draft, section, err);
    if (status == C2_OK && machine->tlb_count == CACHES_MAX_TLBS)
        return c2_fail(err, C2_ERR_INVALID, "%s: more than %d TLBs", draft->shown, CACHES_MAX_TLBS);
    if (status != C2_OK)
        return status;
    machine->tlbs[machine->tlb_count] = draft->tlb[section];
    status = tlbs_check_overlap(draft, machine->tlb_count, err);
    machine->tlb_count += status == C2_OK;
    return status;
}

enum c2_status machine_finish_tlbs(struct machine_draft *draft, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned section = SECTION_TLB; section < SECTION_COUNT && status == C2_OK; section++)
        if (draft->section_line[section])
            status = finish_tlb(draft, (enum machine_section)section, err);
    if (status == C2_OK)
        status = check_sides(draft, err);
    if (status == C2_OK)
        status = tlbs_check_split(draft, err);
    return status == C2_OK ? tlbs_finish_walks(draft, err) : status;
}
