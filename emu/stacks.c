/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   From a thread's registers outwards by call frame information, as far as the files say; a function is named as
 *   reports name it, with the line of the call where the debug information has it.
 * Not modelled
 *   Frames beyond FRAMES; code without call frame information ends a stack.
 */
#include "emu/stacks_priv.h"

#include <inttypes.h>
#include <stdlib.h>

#define FRAMES 24u

static bool stacks_read_guest(void *self, uint64_t address, uint64_t *out) { return guest_word(self, address, out); }

/* site: behind the call, or the system call. */
static void put_frame(FILE *to, struct loader_symbols *symbols, uint64_t site)
{
    C2_PROMISE(symbols);
    struct loader_place place;
    char text[512];
    const struct guest_va at = {site - 1};
    loader_place_of(symbols, at, &place);
    if (place.function)
        fprintf(to, "    %s\n", loader_place_text(text, sizeof text, at, &place));
    else
        fprintf(to, "    0x%" PRIx64 "%s%s\n", site, place.object ? " in " : "", place.object ? place.object : "");
}

static void put_stack(FILE *to, const struct stacks_config *config, const struct syscalls_cpu *cpu)
{
    C2_PROMISE(config->symbols);
    struct loader_registers registers = {.pc = cpu->rip};
    const struct loader_memory memory = {config->mmu, stacks_read_guest};
    for (int i = 0; i < 16; i++)
        registers.gpr[i] = cpu->gpr[i];
    for (unsigned i = 0; i < FRAMES && registers.pc != 0; i++) {
        put_frame(to, config->symbols, registers.pc);
        if (!loader_unwind(config->symbols, &registers, &memory))
            return;
    }
}

char *stacks_text(const struct stacks_config *config)
{
    C2_ASSERT(config->schedule && config->kernel);
    char *text = NULL, wait[256];
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return NULL;
    for (uint32_t i = 0; i < schedule_count(config->schedule); i++) {
        const struct emu_thread *thread = schedule_at(config->schedule, i);
        const bool waits = syscalls_ready(config->kernel, thread->tid, 0) != SYSCALLS_RUNS;
        syscalls_describe_wait(config->kernel, thread->tid, wait, sizeof wait);
        fprintf(to, "thread %u%s%s:\n", thread->tid, waits ? " " : "", waits ? wait : "");
        if (config->symbols)
            put_stack(to, config, &thread->cpu);
    }
    return fclose(to) == 0 ? text : NULL;
}
