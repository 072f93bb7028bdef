/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn ends a translation where its own rules say. Here it is told how many instructions it may have, so that it
 *   ends where the block of the stream does: Unicorn calls the function that translates through its symbol table, so
 *   the one of the same name in the executable takes its place and hands a smaller limit on.
 * Invariants
 *   No translation has more instructions than unicorn_code_cut() says. That Unicorn comes here is tried when an engine
 *   is created (unicorn_state.c).
 * Cost
 *   A translation costs 1 to 3 us an instruction, the look at its block a tenth of that; the block is not decoded
 *   again when it is learned.
 */
#include <string.h>

#include "unicorn/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

static struct unicorn_code *translating;
static unsigned most_insns;

void unicorn_translate_for(struct unicorn_code *code) { translating = code; }
void unicorn_translate_most(unsigned insns) { most_insns = insns; }

bool unicorn_translating(void) { return translating; }

void *unicorn_find_original(const char *name)
{
    void *found = unicorn_find(name);
    C2_ASSERT(found);
    return found;
}

struct TranslationBlock;
EXPORT void gen_intermediate_code_x86_64(struct CPUState *cpu, struct TranslationBlock *block, int most);

/* A translation begins with the address of the code; its size, when it has been made, follows some flags. */
enum { SIZE_AT = 20 };

static uint32_t translate_size_of(const struct TranslationBlock *block)
{
    uint16_t size;
    memcpy(&size, (const char *)block + SIZE_AT, sizeof size);
    return size;
}

EXPORT void gen_intermediate_code_x86_64(struct CPUState *cpu, struct TranslationBlock *block, int most)
{
    static void *unicorns;
    uint64_t pc;
    memcpy(&pc, block, sizeof pc);
    if (translating)
        most = (int)unicorn_code_cut(translating, pc, (unsigned)most);
    else if (most_insns)
        most = (int)most_insns;
    unicorn_access_cpu(cpu);
    if (translating)
        unicorn_code_begin(translating);
    ((void (*)(struct CPUState *, struct TranslationBlock *, int))unicorn_original(
        &unicorns, "gen_intermediate_code_x86_64"))(cpu, block, most);
    if (translating)
        unicorn_code_end(translating, translate_size_of(block));
}
