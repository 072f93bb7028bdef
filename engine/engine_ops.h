/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What an engine provides behind engine.h.
 */
#ifndef C2_ENGINE_OPS_H
#define C2_ENGINE_OPS_H

#include "engine/engine.h"

#define ENGINE_VERSION_BYTES 32

struct engine_ops {
    const char *name;
    /* Of what it executes with, "2.0.1"; fails where the host does not have that. */
    enum c2_status (*version)(char out[ENGINE_VERSION_BYTES], struct c2_error *err);
    bool on_host; /* the host's processor makes the guest's loads and stores: its rights have to be enforced (mmu.h) */
    enum c2_status (*create)(struct engine **out, const struct engine_config *config, struct c2_error *err);
    void (*destroy)(struct engine *engine);
    void (*retire)(struct engine *engine);
    bool (*suits)(const struct engine *engine, const struct engine_config *config); /* of a retired one */
    enum c2_status (*reuse)(struct engine *engine, const struct engine_config *config, struct c2_error *err);
    void (*get_cpu)(struct engine *engine, struct syscalls_cpu *cpu);
    void (*set_cpu)(struct engine *engine, const struct syscalls_cpu *cpu);
    struct engine_registers *(*registers_create)(struct engine *engine);
    void (*keep)(struct engine *engine, struct engine_registers *to);
    void (*take)(struct engine *engine, struct engine_registers *from);
    void (*read_kept)(struct engine *engine, struct engine_registers *from, struct syscalls_cpu *out);
    void (*set_result)(struct engine *engine, uint64_t rax, const struct syscalls_cpu *bases);
    enum c2_status (*set_recording)(struct engine *engine, bool on, struct c2_error *err);
    void (*run)(struct engine *engine, uint64_t budget, bool whole, struct engine_event *event, struct c2_error *err);
    uint64_t (*instructions)(const struct engine *engine);
    void (*take_executed)(struct engine *engine, void (*take)(void *self, struct guest_va pc, uint64_t instructions),
                          void *self);
    bool (*amid_block)(const struct engine *engine);
    void (*set_amid_block)(struct engine *engine, bool amid);
    void (*resume)(struct engine *engine, uint64_t instructions);
    uint64_t (*gpr)(struct engine *engine, unsigned gpr);
    enum c2_status (*watch)(struct engine *engine, struct guest_va pc, struct c2_error *err);
    void (*stop)(struct engine *engine);
    void (*guard)(struct engine *engine, struct guest_va from, uint64_t bytes);
    bool (*beyond)(const struct engine *engine);
    void (*interrupt)(struct engine *engine);
};

struct engine {
    const struct engine_ops *ops;
    struct engine_config config;
};

#endif
