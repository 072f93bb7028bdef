/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The calls of engine.h, handed on to the engine that was chosen.
 */
#include "engine/engine_ops.h"

enum c2_status engine_create(struct engine **out, const struct engine_ops *ops, const struct engine_config *config,
                             struct c2_error *err)
{
    C2_ASSERT(ops && config->mmu);
    *out = NULL;
    return ops->create(out, config, err);
}

void engine_destroy(struct engine *engine)
{
    if (engine)
        engine->ops->destroy(engine);
}

void engine_retire(struct engine *engine)
{
    C2_ASSERT(engine->config.mmu);
    engine->ops->retire(engine);
}

enum c2_status engine_reuse(struct engine **out, struct engine *retired, const struct engine_ops *ops,
                            const struct engine_config *config, struct c2_error *err)
{
    const bool suits = retired && retired->ops == ops && retired->ops->suits(retired, config);
    enum c2_status status = suits ? retired->ops->reuse(retired, config, err) : C2_OK;
    *out = suits && status == C2_OK ? retired : NULL;
    if (!*out)
        engine_destroy(retired);
    return *out || status != C2_OK ? status : engine_create(out, ops, config, err);
}

void engine_get_cpu(struct engine *engine, struct syscalls_cpu *cpu) { engine->ops->get_cpu(engine, cpu); }
void engine_set_cpu(struct engine *engine, const struct syscalls_cpu *cpu) { engine->ops->set_cpu(engine, cpu); }

struct engine_registers *engine_registers_create(struct engine *engine)
{
    return engine->ops->registers_create(engine);
}

void engine_keep(struct engine *engine, struct engine_registers *to)
{
    C2_PROMISE(to);
    engine->ops->keep(engine, to);
}
void engine_take(struct engine *engine, struct engine_registers *from)
{
    C2_PROMISE(from);
    engine->ops->take(engine, from);
}
void engine_read_kept(struct engine *engine, struct engine_registers *from, struct syscalls_cpu *out)
{
    C2_PROMISE(from && out);
    engine->ops->read_kept(engine, from, out);
}

void engine_set_result(struct engine *engine, uint64_t rax, const struct syscalls_cpu *bases)
{
    engine->ops->set_result(engine, rax, bases);
}

enum c2_status engine_set_recording(struct engine *engine, bool on, struct c2_error *err)
{
    C2_ASSERT(!on || engine->config.writer);
    return engine->ops->set_recording(engine, on, err);
}

void engine_run(struct engine *engine, uint64_t budget, struct engine_event *event, struct c2_error *err)
{
    engine->ops->run(engine, budget, false, event, err);
}

void engine_run_blocks(struct engine *engine, uint64_t budget, struct engine_event *event, struct c2_error *err)
{
    C2_ASSERT(budget != 0);
    engine->ops->run(engine, budget, true, event, err);
}

uint64_t engine_instructions(const struct engine *engine) { return engine->ops->instructions(engine); }

void engine_take_executed(struct engine *engine, void (*take)(void *self, struct guest_va pc, uint64_t instructions),
                          void *self)
{
    C2_ASSERT(engine->config.count_blocks);
    engine->ops->take_executed(engine, take, self);
}

bool engine_amid_block(const struct engine *engine) { return engine->ops->amid_block(engine); }
void engine_set_amid_block(struct engine *engine, bool amid) { engine->ops->set_amid_block(engine, amid); }

void engine_resume(struct engine *engine, uint64_t instructions)
{
    C2_ASSERT(engine->ops->instructions(engine) == 0);
    engine->ops->resume(engine, instructions);
}

uint64_t engine_gpr(struct engine *engine, unsigned gpr)
{
    C2_PROMISE(gpr < 16);
    return engine->ops->gpr(engine, gpr);
}

enum c2_status engine_watch(struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    return engine->ops->watch(engine, pc, err);
}

enum c2_status engine_mark(struct engine *engine, enum stream_mark mark, const uint64_t *words, uint32_t count,
                           struct c2_error *err)
{
    C2_ASSERT(engine->config.writer);
    return stream_writer_mark(engine->config.writer, mark, words, count, err);
}

void engine_stop(struct engine *engine)
{
    C2_PROMISE(engine->config.watch.reached);
    engine->ops->stop(engine);
}

void engine_guard(struct engine *engine, struct guest_va from, uint64_t bytes)
{
    C2_ASSERT(engine->config.watch.guards);
    engine->ops->guard(engine, from, bytes);
}

bool engine_beyond(const struct engine *engine) { return engine->ops->beyond(engine); }

void engine_interrupt(struct engine *engine) { engine->ops->interrupt(engine); }
