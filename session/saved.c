/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * saved: what a checkpoint has of a run that is the command line's: what was run, and how it was started.
 */
#include "session/checkpoint_priv.h"

#define TEXT_MOST ((size_t)4 << 20) /* an argument that a stack has room for */
#define CPU_NAME_MOST 31u

struct session_texts session_texts_of(const char *const *list)
{
    uint32_t count = 0;
    while (list[count])
        count++;
    return (struct session_texts){.list = (char **)list, .count = count};
}

static void visit_texts(struct session_texts *texts, struct checkpoint *c)
{
    uint64_t count = texts->count;
    checkpoint_number(c, &count, UINT32_MAX - 1);
    for (uint32_t i = 0; i <= count; i++) {
        if (!checkpoint_writes(c) && !checkpoint_room(c, (void **)&texts->list, &texts->room, i, sizeof *texts->list))
            return;
        if (!checkpoint_writes(c))
            texts->list[i] = NULL;
        if (i == count)
            return;
        checkpoint_text(c, &texts->list[i], TEXT_MOST);
        if (checkpoint_status(c, NULL) == C2_OK && !texts->list[i])
            checkpoint_damaged(c, "an argument that is none");
        texts->count = i + 1;
    }
}

static void visit_image(struct loader_image *image, struct checkpoint *c)
{
    checkpoint_text(c, &image->path, TEXT_MOST);
    checkpoint_number(c, &image->entry, CHECKPOINT_ANY);
    checkpoint_number(c, &image->stack, CHECKPOINT_ANY);
    checkpoint_number(c, &image->program_base, CHECKPOINT_ANY);
    checkpoint_number(c, &image->program_entry, CHECKPOINT_ANY);
    checkpoint_number(c, &image->phdr, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, image->phnum, UINT16_MAX);
    checkpoint_number(c, &image->interpreter_base, CHECKPOINT_ANY);
}

void session_saved_checkpoint(struct session_saved *saved, struct checkpoint *c)
{
    checkpoint_part(c, "the run");
    visit_texts(&saved->command, c);
    visit_texts(&saved->environment, c);
    visit_texts(&saved->wrappers, c);
    checkpoint_number(c, &saved->seed, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, saved->clock_set, 1);
    checkpoint_number(c, &saved->clock_start, CHECKPOINT_ANY);
    checkpoint_text(c, &saved->cpu, CPU_NAME_MOST);
    checkpoint_number(c, &saved->cpu_features, CHECKPOINT_ANY);
    mmu_guest_config_checkpoint(&saved->guest, c);
    visit_image(&saved->image, c);
    checkpoint_number(c, &saved->instructions, INT64_MAX);
    CHECKPOINT_NUMBER(c, saved->caches, 1);
    if (checkpoint_status(c, NULL) == C2_OK && (saved->command.count == 0 || !saved->image.path || !saved->cpu))
        checkpoint_damaged(c, "no program");
}

static void release_texts(struct session_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++)
        c2_free(texts->list[i]);
    c2_free(texts->list);
}

void session_saved_release(struct session_saved *saved)
{
    release_texts(&saved->command);
    release_texts(&saved->environment);
    release_texts(&saved->wrappers);
    c2_free(saved->image.path);
    c2_free(saved->cpu);
}

enum c2_status session_saved_suits(const struct session_saved *saved, const char *path, const struct cpu_model *cpu,
                                   struct c2_error *err)
{
    if (saved->cpu_features == cpu->features)
        return C2_OK;
    return c2_fail(err, C2_ERR_UNSUPPORTED,
                   "the program of the checkpoint %s has found the processor %s, and this one is %s, with other "
                   "features: restore it with the same --engine and --cpu",
                   path, saved->cpu, cpu->name);
}
