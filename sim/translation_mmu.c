/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * translation_mmu: sim's translations as a walk of mmu's page tables.
 */
#include "sim/sim.h"

static bool translate(const void *self, struct guest_va va, struct guest_pa *out)
{
    return mmu_translate(self, va, out);
}

static bool walk(const void *self, struct guest_va va, struct mmu_walk *out) { return mmu_walk(self, va, out); }

struct sim_translation sim_translation_mmu(const struct mmu *mmu)
{
    return (struct sim_translation){mmu, translate, walk};
}
