/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * proposals_json: the JSON of `c2emu advise`: what the text says, one object a layout, in the same order.
 */
#include "report/json_priv.h"
#include "report/proposals_priv.h"

static json_t *level(struct builder *b, const char *name, const struct caches_counts *counts)
{
    json_t *object = json_object();
    add_text(b, object, "name", name);
#define X(field, help) add_count(b, object, #field, counts->field);
    CACHES_COUNTERS(X)
#undef X
    return object;
}

static void add_outcome(struct builder *b, json_t *object, const struct caches_machine *machine,
                        const struct analyses_outcome *outcome)
{
    json_t *levels = json_array();
    add_count(b, object, "cost", report_outcome_cost(machine, outcome));
    for (uint32_t i = 0; i < machine->level_count; i++) {
        append(b, levels, level(b, machine->levels[i].name, &outcome->levels[i]));
        if (i == 0 && machine->has_l1i)
            append(b, levels, level(b, machine->l1i.name, &outcome->l1i));
    }
    add(b, object, "levels", levels);
}

static json_t *means(struct builder *b, unsigned bits)
{
    static const char *const names[] = {"pad_rows", "pad_blocks", "stagger", "huge_pages", "page_colors"};
    json_t *array = json_array();
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (bits >> i & 1)
            append(b, array, report_json_text(names[i]));
    return array;
}

static json_t *objects(struct builder *b, const struct report_proposals *of, const struct analyses_proposal *proposal)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < proposal->change_count; i++) {
        const struct analyses_change *change = &proposal->changes[i];
        json_t *object = json_object();
        add_text(b, object, "name", of->run->profile->objects[change->object].name);
        if (change->pad_bytes != 0) {
            add_count(b, object, "row", change->row_bytes);
            add_count(b, object, "pad", change->pad_bytes);
        }
        add_count(b, object, "offset", change->offset);
        add_count(b, object, "modulo", change->align);
        append(b, array, object);
    }
    return array;
}

static json_t *layout(struct builder *b, const struct report_proposals *of, uint32_t number)
{
    char text[1024];
    json_t *object = json_object();
    add_text(b, object, "words", report_proposal_words(text, sizeof text, of, number));
    add(b, object, "means", means(b, of->proposals[number].means));
    add(b, object, "objects", objects(b, of, &of->proposals[number]));
    if (of->outcomes[number].status != C2_OK) {
        add_text(b, object, "failed", of->outcomes[number].error.text);
        return object;
    }
    add(b, object, "helps", json_boolean(report_proposal_helps(of, number)));
    add_outcome(b, object, of->run->machine, &of->outcomes[number]);
    return object;
}

static json_t *root(struct builder *b, const struct report_proposals *of)
{
    uint32_t order[ANALYSES_PROPOSALS];
    json_t *object = json_object(), *command = json_array(), *before = json_object(), *layouts = json_array();
    report_proposals_order(order, of);
    add_text(b, object, "format", "c2emu-advice");
    add_count(b, object, "version", 1);
    for (size_t i = 0; of->run->command[i]; i++)
        append(b, command, report_json_text(of->run->command[i]));
    add(b, object, "command", command);
    add_text(b, object, "machine", of->run->machine->name);
    add(b, object, "same_as_run", json_boolean(report_proposals_same(of)));
    add_outcome(b, before, of->run->machine, of->before);
    add(b, object, "before", before);
    for (uint32_t i = 0; i < of->count; i++)
        append(b, layouts, layout(b, of, order[i]));
    add(b, object, "layouts", layouts);
    return object;
}

enum c2_status report_proposals_json(FILE *to, const struct report_proposals *of, struct c2_error *err)
{
    json_set_alloc_funcs(c2_alloc, c2_free);
    struct builder builder = {false};
    return report_json_write(to, &builder, root(&builder, of), err);
}
