/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The table of keys, written: a machine as a file, and the keys themselves as documentation.
 */
#include "machine/machine_priv.h"

/* ------------------------------------------------------------------ a machine */

static void write_section(FILE *to, const char *name, enum machine_kind kind, const struct machine_subject *of)
{
    char value[MACHINE_VALUE_BYTES];
    fprintf(to, "%s[%s]\n", kind == KIND_MACHINE ? "" : "\n", name);
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        if (machine_keys[i].kind != kind)
            continue;
        machine_keys[i].write(value, of);
        if (*value)
            fprintf(to, "%s = %s\n", machine_keys[i].name, value);
    }
}

static void write_level(FILE *to, struct caches_machine *machine, struct caches_level *level)
{
    write_section(to, level->name, KIND_CACHE, &(struct machine_subject){.machine = machine, .level = level});
}

void machine_write(FILE *to, const struct caches_machine *machine)
{
    struct caches_machine copy = *machine; /* keys are read from a subject that could be written as well */
    const struct machine_subject whole = {.machine = &copy};
    write_section(to, "machine", KIND_MACHINE, &whole);
    write_level(to, &copy, &copy.levels[0]);
    if (copy.has_l1i)
        write_level(to, &copy, &copy.l1i);
    for (uint32_t i = 1; i < copy.level_count; i++)
        write_level(to, &copy, &copy.levels[i]);
    for (uint32_t i = 0; i < copy.tlb_count; i++)
        write_section(to, copy.tlbs[i].name, KIND_TLB,
                      &(struct machine_subject){.machine = &copy, .tlb = &copy.tlbs[i]});
    if (copy.tlb_count > 0)
        write_section(to, "walks", KIND_WALKS, &whole);
}

/* ------------------------------------------------------------------ the table of keys */

static void write_key(FILE *to, const struct machine_key_row *row)
{
    const char *otherwise = row->required ? "required" : row->otherwise ? row->otherwise : row->left_out;
    fprintf(to, "| `%s` | %s | %s |\n", row->name, row->values, otherwise);
}

void machine_write_keys(FILE *to)
{
    static const char *const headings[KIND_COUNT] = {
        "Of `[machine]`:", "Of a cache:", "Of `[walks]`:", "Of a TLB or a page-walk cache:"};
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        fprintf(to, "%s%s\n\n| key | values | when left out |\n|---|---|---|\n", kind == 0 ? "" : "\n", headings[kind]);
        for (unsigned i = 0; i < KEY_COUNT; i++)
            if (machine_keys[i].kind == (enum machine_kind)kind)
                write_key(to, &machine_keys[i]);
    }
}
