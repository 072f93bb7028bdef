/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A module is a file at one place of memory, known by where its first byte would lie; several areas may show its
 *   code. It is read when the guest comes to code of it, and forgotten when any of its code is unmapped, replaced or
 *   gets other rights: it is then read anew when the guest comes there again.
 * Invariants (modules_check)
 *   Every address that was kept is one that the reader still has.
 * Not modelled
 *   Code in no file: it has no names.
 */
#include "watch/modules_priv.h"

struct module {
    uint64_t base, inode, device; /* base: where the file's first byte would lie */
    uint64_t start, end;          /* of the code */
    uint64_t *kept;
    uint32_t count, room;
};

struct modules {
    struct mmu *mmu;
    struct modules_reader reader;
    struct module *list;
    uint32_t count, room;
};

static struct module *module_of(const struct modules *modules, const struct mmu_area *area)
{
    const uint64_t base = area->start.v - area->offset;
    for (uint32_t i = 0; i < modules->count; i++) {
        struct module *module = &modules->list[i];
        if (module->base == base && module->inode == area->inode && module->device == area->device)
            return module;
    }
    return NULL;
}

static const struct mmu_area *modules_area_of(const struct modules *modules, struct guest_va pc)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(modules->mmu), pc, false);
    return area && area->path ? area : NULL;
}

/* Code of one file may lie in several areas, when a part of it changed its rights. */
static void modules_widen(struct module *module, const struct mmu_area *area)
{
    const uint64_t end = area->start.v + area->bytes;
    module->start = area->start.v < module->start ? area->start.v : module->start;
    module->end = end > module->end ? end : module->end;
}

enum c2_status modules_know(struct modules *modules, struct guest_va pc, struct c2_error *err)
{
    const struct mmu_area *area = modules_area_of(modules, pc);
    struct module *module = area ? module_of(modules, area) : NULL;
    if (module)
        modules_widen(module, area);
    if (!area || module)
        return C2_OK;
    if (!c2_grow((void **)&modules->list, &modules->room, modules->count, sizeof *modules->list))
        return c2_fail_memory(err, "the program's code");
    modules->list[modules->count++] = (struct module){.base = area->start.v - area->offset,
                                                      .inode = area->inode,
                                                      .device = area->device,
                                                      .start = area->start.v,
                                                      .end = area->start.v + area->bytes};
    return modules->reader.read(modules->reader.self, pc, err);
}

enum c2_status modules_know_all(struct modules *modules, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    struct guest_va at = {0};
    for (const struct mmu_area *area; status == C2_OK && (area = mmu_area_at(mmu_areas(modules->mmu), at, true));) {
        at.v = area->start.v + area->bytes;
        if (area->prot & MMU_EXEC)
            status = modules_know(modules, area->start, err);
    }
    return status;
}

enum c2_status modules_keep(struct modules *modules, struct guest_va code, uint64_t address, struct c2_error *err)
{
    const struct mmu_area *area = modules_area_of(modules, code);
    struct module *module = area ? module_of(modules, area) : NULL;
    if (!module)
        return C2_OK;
    if (!c2_grow((void **)&module->kept, &module->room, module->count, sizeof *module->kept))
        return c2_fail_memory(err, "the program's code");
    module->kept[module->count++] = address;
    return C2_OK;
}

static void modules_forget(struct modules *modules, uint32_t number)
{
    struct module *module = &modules->list[number];
    for (uint32_t i = 0; i < module->count; i++)
        modules->reader.forget(modules->reader.self, module->kept[i]);
    c2_free(module->kept);
    *module = modules->list[--modules->count];
}

static void modules_after_change(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    struct modules *modules = self;
    const uint32_t known = modules->count;
    for (uint32_t i = known; code && i-- > 0;)
        if (modules->list[i].start < start.v + bytes && start.v < modules->list[i].end)
            modules_forget(modules, i);
    if (modules->count != known && modules->reader.forgot)
        modules->reader.forgot(modules->reader.self);
}

enum c2_status modules_create(struct modules **out, struct mmu *mmu, const struct modules_reader *reader,
                              struct c2_error *err)
{
    *out = NULL;
    struct modules *modules = c2_calloc(1, sizeof *modules);
    if (!modules)
        return c2_fail_memory(err, "the program's code");
    modules->mmu = mmu;
    modules->reader = *reader;
    enum c2_status status = mmu_listen(mmu, (struct mmu_listener){.self = modules, .after = modules_after_change}, err);
    if (status == C2_OK)
        *out = modules;
    else
        c2_free(modules);
    return status;
}

void modules_destroy(struct modules *modules)
{
    if (!modules)
        return;
    mmu_unlisten(modules->mmu, modules);
    for (uint32_t i = 0; i < modules->count; i++)
        c2_free(modules->list[i].kept);
    c2_free(modules->list);
    c2_free(modules);
}

size_t modules_count(const struct modules *modules) { return modules->count; }

static void visit_module(struct module *module, struct checkpoint *c)
{
    uint64_t count = module->count;
    checkpoint_number(c, &module->base, CHECKPOINT_ANY);
    checkpoint_number(c, &module->inode, CHECKPOINT_ANY);
    checkpoint_number(c, &module->device, CHECKPOINT_ANY);
    checkpoint_number(c, &module->start, CHECKPOINT_ANY);
    checkpoint_number(c, &module->end, CHECKPOINT_ANY);
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!checkpoint_writes(c) &&
            !checkpoint_room(c, (void **)&module->kept, &module->room, i, sizeof *module->kept))
            return;
        checkpoint_number(c, &module->kept[i], CHECKPOINT_ANY);
        module->count = i + 1;
    }
}

void modules_checkpoint(struct modules *modules, struct checkpoint *c)
{
    uint64_t count = modules->count;
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!checkpoint_writes(c)) {
            if (!checkpoint_room(c, (void **)&modules->list, &modules->room, i, sizeof *modules->list))
                return;
            modules->list[i] = (struct module){.base = 0};
            modules->count = i + 1;
        }
        visit_module(&modules->list[i], c);
    }
}

bool modules_hold(const struct modules *modules, bool (*holds)(const void *self, uint64_t address), const void *self)
{
    for (uint32_t i = 0; i < modules->count; i++)
        for (uint32_t k = 0; k < modules->list[i].count; k++)
            if (!holds(self, modules->list[i].kept[k]))
                return false;
    return modules->count <= modules->room;
}

void modules_check(const struct modules *modules, bool (*holds)(const void *self, uint64_t address), const void *self)
{
    C2_ASSERT(modules_hold(modules, holds, self));
}
