/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cores: several of them, and the threads that run there.
 *
 * Model
 *   Thread t of the program, counted from 1, runs on core (t - 1) mod cores, always. Each core has its own place in the
 *   program, TLBs and memory of translations; the caches keep which core has which line (caches/coherence.c). Records
 *   come in the order of the stream, and each is done to its end: what is interleaved how is said there.
 *   Of each access the caches are notified the core, the bytes of the line, and the instruction's number. A fetch and
 *   the read of a walk are of all bytes of their line. No access is taken for a repeat of the one before.
 *   Where memory changes every core's TLBs forget it. Those of another core than the one whose thread changed it,
 *   that had an entry of it, are shot down: one message each, for each change.
 *
 * Counting
 *   What a thread did is the difference of the machine's sums from when it began until another one ran: all that
 *   happened then, at its own levels and at others', is its doing. Shootdowns, like all counts here, are of what is
 *   measured.
 *
 * Invariants (asserted when the run is over)
 *   Threads add up to what was measured, in every counter.
 *
 * Not modelled
 *   Threads that move to another core; the time that a core is idle.
 */
#include <string.h>

#include "sim/sim_priv.h"

/* ------------------------------------------------------------------ life */

enum c2_status sim_cores_create(struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(sim->core_count >= 1 && sim->core_count <= CACHES_MAX_CORES);
    if (sim->core_count == 1)
        return C2_OK;
    sim->others = c2_calloc(sim->core_count - 1, sizeof *sim->others);
    sim->shootdowns = c2_calloc(sim->core_count, sizeof *sim->shootdowns);
    return sim->others && sim->shootdowns ? C2_OK : c2_fail_memory(err, "the cores of the simulator");
}

void sim_cores_destroy(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->core_count && sim->others; i++)
        caches_tlbs_destroy(sim_core_at(sim, i)->tlb);
    if (sim->core_count == 1)
        caches_tlbs_destroy(sim->core.tlb);
    c2_free(sim->others);
    c2_free(sim->shootdowns);
    c2_free(sim->threads);
}

/* ------------------------------------------------------------------ threads */

/* What has been counted since then is the doing of the thread that ran. */
void sim_cores_credit(struct sim *sim, const struct sim_totals *now)
{
    C2_ASSERT(sim->thread_count == 0 || sim->running < sim->thread_count);
    struct sim_totals since = *now;
    if (sim->core_count == 1)
        return;
    sim_totals_subtract(&since, &sim->credited);
    if (sim->phase == STREAM_MEASURE && sim->thread_count != 0)
        sim_totals_add(&sim->threads[sim->running].of, &since);
    sim->credited = *now;
}

static enum c2_status cores_find_thread(struct sim *sim, uint32_t tid, struct c2_error *err)
{
    C2_ASSERT(tid >= 1);
    for (sim->running = 0; sim->running < sim->thread_count; sim->running++)
        if (sim->threads[sim->running].tid == tid)
            return C2_OK;
    if (!c2_grow((void **)&sim->threads, &sim->thread_room, sim->thread_count, sizeof *sim->threads))
        return c2_fail_memory(err, "the threads of the program");
    sim->threads[sim->thread_count++] = (struct sim_thread){.tid = tid, .core = sim_core_of(tid, sim->core_count)};
    return C2_OK;
}

enum c2_status sim_cores_switch(struct sim *sim, uint32_t tid, struct c2_error *err)
{
    C2_ASSERT(sim->core_count > 1);
    struct sim_totals now;
    if (sim->thread_count != 0 && sim->threads[sim->running].tid == tid)
        return C2_OK;
    sim_totals_read(&now, sim);
    sim_cores_credit(sim, &now);
    enum c2_status status = cores_find_thread(sim, tid, err);
    if (status == C2_OK) {
        sim->now = sim_core_at(sim, sim->threads[sim->running].core);
        sim->now->turns++;
    }
    return status;
}

/* ------------------------------------------------------------------ accesses */

void sim_cores_origin(struct sim_core *core, bool whole)
{
    C2_PROMISE(core->sim->core_count > 1 &&
               (whole || (core->byte_count >= 1 && core->first_byte + core->byte_count <= core->sim->line_bytes)));
    const uint32_t bytes = (uint32_t)core->sim->line_bytes;
    const struct caches_origin origin = {.core = core->number,
                                         .tag = core->code,
                                         .first = whole ? 0 : core->first_byte,
                                         .bytes = whole ? bytes : core->byte_count};
    caches_on_core(core->sim->caches, &origin);
    if (core->sim->plain)
        caches_on_core(core->sim->plain, &origin);
}

static enum c2_status access_bytes(struct sim_core *core, bool write, uint64_t start, uint64_t end,
                                   struct c2_error *err)
{
    C2_PROMISE(start < end && (start ^ (end - 1)) <= core->line_mask);
    core->first_byte = (uint32_t)(start & (core->sim->line_bytes - 1));
    core->byte_count = (uint32_t)(end - start);
    sim_leave_line(core);
    return sim_access(core, write ? SIM_WRITE : SIM_READ, (struct guest_va){start}, err);
}

/* As sim_data_lines(). */
enum c2_status sim_cores_lines(struct sim_core *core, bool write, struct guest_va va, uint32_t size,
                               struct c2_error *err)
{
    C2_PROMISE(size >= 1 && size <= SIM_MAX_REFERENCE_BYTES);
    struct sim *sim = core->sim;
    const uint64_t end = va.v + size;
    uint64_t next = c2_align_down(va.v, sim->line_bytes) + sim->line_bytes;
    sim->counts.straddles += next < end;
    enum c2_status status = access_bytes(core, write, va.v, next < end ? next : end, err);
    for (; next < end && status == C2_OK; next += sim->line_bytes) {
        sim->counts.line_accesses++;
        status = access_bytes(core, write, next, next + sim->line_bytes < end ? next + sim->line_bytes : end, err);
        if (core->tlb_on[CACHES_DATA] && next % C2_PAGE_BYTES != 0) /* one access of the TLB a page, not a line */
            --*core->tlb_accesses[write & core->tlb_split];
    }
    return status;
}

/* ------------------------------------------------------------------ TLBs */

void sim_cores_forgot(struct sim *sim, uint32_t core, uint32_t entries)
{
    C2_ASSERT(core < sim->core_count);
    if (entries != 0 && core != sim->now->number)
        sim->shot |= (uint64_t)1 << core;
}

/* A change of memory is over. */
void sim_cores_changed(struct sim *sim)
{
    const bool measured = sim->phase == STREAM_MEASURE;
    for (uint64_t shot = sim->shot; shot != 0 && measured; shot &= shot - 1) {
        sim->shootdowns[sim->now->number].sent++;
        C2_ASSERT(sim->core_count > 1);
        sim->shootdowns[__builtin_ctzll(shot)].received++;
    }
    sim->shot = 0;
}

/* ------------------------------------------------------------------ what is measured */

void sim_cores_phase(struct sim *sim, enum stream_phase next)
{
    if (sim->core_count > 1)
        caches_measure(sim->caches, next == STREAM_MEASURE);
}

void sim_cores_drop(struct sim *sim)
{
    if (sim->core_count == 1)
        return;
    sim_totals_read(&sim->credited, sim);
    for (uint32_t i = 0; i < sim->thread_count; i++)
        sim->threads[i].of = (struct sim_totals){.tlb_misses = 0};
    memset(sim->shootdowns, 0, sim->core_count * sizeof *sim->shootdowns);
    caches_drop_shared(sim->caches);
}

enum c2_status sim_cores_finish(struct sim *sim, struct c2_error *err)
{
    struct sim_totals sum = {.tlb_misses = 0};
    if (sim->core_count == 1)
        return C2_OK;
    for (uint32_t i = 0; i < sim->thread_count; i++)
        sim_totals_add(&sum, &sim->threads[i].of);
    C2_ASSERT(memcmp(&sum, &sim->measured, sizeof sum) == 0);
    return caches_settle_shared(sim->caches, err);
}

/* ------------------------------------------------------------------ for others */

uint32_t sim_core_count(const struct sim *sim) { return sim->core_count; }

bool sim_has_threads(const struct sim *sim) { return sim->has_threads; }

const struct sim_thread *sim_threads(const struct sim *sim, size_t *count)
{
    *count = sim->thread_count;
    return sim->threads;
}

struct sim_shootdowns sim_shootdowns(const struct sim *sim, uint32_t core)
{
    C2_ASSERT(sim->shootdowns && core < sim->core_count);
    return sim->shootdowns[core];
}
