/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rules: --place REGION=POLICY and --huge REGION, from words to what mmu wants.
 *
 * Model
 *   A region's name is one of mmu's words (heap, stack, mmap, text); else a symbol of the program, whose place is known
 *   before it is loaded; else, with a '.' or a '/' in it or the program's own, that of a file, which may be mapped at
 *   any time. Whatever is none of these is refused, with the nearest name. The program is looked into only for names
 *   that are no words.
 *   A symbol that is to have huge pages must have room for one: an aligned range of the size inside its own pages, all
 *   of it anonymous memory.
 */
#include <string.h>

#include "session/session_priv.h"
#include "loader/loader.h"

typedef unsigned long long ull;

struct reader {
    struct session_rules *out;
    const struct loader_request *program;
    struct loader_statics *statics; /* NULL: not needed so far */
    const char *option;             /* that is read: "--place", "--huge" */
};

/* Of the regions in `all` those that can have huge pages, and then the other values of --huge; returns how many. */
static size_t huge_words(const char **all, size_t region_count)
{
    size_t count = 0;
    for (size_t i = 0; i < region_count; i++) {
        if (strcmp(all[i], "text") != 0)
            all[count++] = all[i];
    }
    for (unsigned i = 0; i <= MMU_HUGE_ALL; i++) {
        if (i != MMU_HUGE_HEAP)
            all[count++] = mmu_huge_name((enum mmu_huge)i);
    }
    return count;
}

static enum c2_status rules_fail_unknown(struct reader *reader, const char *name, struct c2_error *err)
{
    char hint[200];
    size_t count, word_count;
    const char *const *names, *const *words = mmu_region_words(&word_count);
    enum c2_status status = loader_statics_names(reader->statics, &names, &count, err);
    const char **all = status == C2_OK ? c2_calloc(word_count + count + MMU_HUGE_ALL, sizeof *all) : NULL;
    if (!all)
        return status == C2_OK ? c2_fail_memory(err, "the names of regions") : status;
    memcpy(all, words, word_count * sizeof *all);
    const bool huge = strcmp(reader->option, "--huge") == 0;
    if (huge)
        word_count = huge_words(all, word_count);
    if (count > 0)
        memcpy(all + word_count, names, count * sizeof *all);
    status = c2_fail(err, C2_ERR_INVALID, "%s %s: neither a region nor a symbol of %s has this name%s%s%s",
                     reader->option, name, loader_statics_program(reader->statics),
                     c2_suggest(hint, sizeof hint, name, all, word_count + count),
                     huge ? "" : "; a file without a dot in its name is /", huge ? "" : name);
    c2_free(all);
    return status;
}

/* *file_end as of loader_static; UINT64_MAX when the region is no symbol. */
static enum c2_status find_region(struct reader *reader, struct mmu_region *out, uint64_t *file_end, const char *name,
                                  struct c2_error *err)
{
    struct loader_static object;
    *file_end = UINT64_MAX;
    if (mmu_region_of_word(out, name))
        return C2_OK;
    enum c2_status status = C2_OK;
    if (!reader->statics)
        status = loader_statics_open(&reader->statics, reader->program, err);
    if (status != C2_OK)
        return status;
    status = loader_statics_find(&object, reader->statics, name, err);
    if (status == C2_OK) {
        *out = (struct mmu_region){MMU_REGION_OBJECT, name, object.start, object.bytes};
        *file_end = object.file_end;
        return C2_OK;
    }
    if (status != C2_ERR_NOT_FOUND)
        return status;
    if (!strpbrk(name, "./") && strcmp(name, loader_statics_program(reader->statics)) != 0)
        return rules_fail_unknown(reader, name, err);
    *out = (struct mmu_region){.kind = MMU_REGION_FILE, .name = name};
    return C2_OK;
}

/* A copy that lives as long as the rules. */
static enum c2_status keep_text(struct session_rules *out, char **copy, const char *text, struct c2_error *err)
{
    *copy = c2_strdup(text);
    if (!*copy)
        return c2_fail_memory(err, "the placement rules");
    out->texts[out->text_count++] = *copy;
    return C2_OK;
}

static enum c2_status rules_read_place(struct reader *reader, const char *text, const struct caches_machine *machine,
                                       uint64_t seed, struct c2_error *err)
{
    struct session_rules *out = reader->out;
    struct mmu_rule *rule = &out->rules[out->rule_count];
    uint64_t file_end;
    char *name, option[64];
    enum c2_status status = keep_text(out, &name, text, err);
    if (status != C2_OK)
        return status;
    char *policy = strchr(name, '=');
    if (!policy || policy == name || policy[1] == '\0')
        return c2_fail(err, C2_ERR_INVALID, "--place %s: it wants a region and a policy: --place 'REGION=POLICY'",
                       text);
    *policy++ = '\0';
    rule->text = policy;
    snprintf(option, sizeof option, "--place %s", name);
    status = session_policy(&rule->policy, option, policy, machine, seed, err);
    if (status == C2_OK)
        status = find_region(reader, &rule->region, &file_end, name, err);
    out->rule_count += status == C2_OK;
    return status;
}

/* Whether a huge page fits into a symbol's own pages, as far as they are anonymous. */
static enum c2_status rules_check_room(const struct mmu_region *object, uint64_t file_end, enum mmu_page_size size,
                                       struct c2_error *err)
{
    char text[32];
    uint64_t start = c2_align_down(object->start, C2_PAGE_BYTES);
    uint64_t end = c2_align_up(object->start + object->bytes, C2_PAGE_BYTES), bytes = mmu_page_bytes(size);
    if (end <= file_end)
        return c2_fail(err, C2_ERR_INVALID,
                       "--huge %s: it is code or has initial values, so its pages are a mapping of the "
                       "program's file, and those are always of 4 KiB",
                       object->name);
    start = start < file_end ? file_end : start;
    if (c2_align_up(start, bytes) + bytes > end)
        return c2_fail(err, C2_ERR_INVALID,
                       "--huge %s: no aligned %s lies within its pages, 0x%llx to 0x%llx; align it "
                       "and give it that size",
                       object->name, c2_size_text(text, bytes), (ull)start, (ull)end);
    return C2_OK;
}

static enum c2_status read_huge(struct reader *reader, const char *text, enum mmu_page_size size, struct c2_error *err)
{
    struct session_rules *out = reader->out;
    struct mmu_region *region = &out->huge[out->huge_count];
    uint64_t file_end;
    enum c2_status status = find_region(reader, region, &file_end, text, err);
    if (status == C2_OK && region->kind == MMU_REGION_OBJECT)
        status = rules_check_room(region, file_end, size == MMU_PAGE_4K ? MMU_PAGE_2M : size, err);
    out->huge_count += status == C2_OK;
    return status;
}

enum c2_status session_rules_read(struct session_rules *out, const struct session_options *options,
                                  const struct caches_machine *machine, const struct loader_request *program,
                                  struct c2_error *err)
{
    struct reader reader = {.out = out, .program = program, .option = "--place"};
    *out = (struct session_rules){.rules = c2_calloc(options->place_count + 1, sizeof *out->rules),
                                  .huge = c2_calloc(options->huge_region_count + 1, sizeof *out->huge),
                                  .texts = c2_calloc(options->place_count + 1, sizeof *out->texts)};
    enum c2_status status = C2_OK;
    if (!out->rules || !out->huge || !out->texts)
        status = c2_fail_memory(err, "the placement rules");
    for (size_t i = 0; i < options->place_count && status == C2_OK; i++)
        status = rules_read_place(&reader, options->places[i], machine, options->seed, err);
    reader.option = "--huge";
    for (size_t i = 0; i < options->huge_region_count && status == C2_OK; i++)
        status = read_huge(&reader, options->huge_regions[i], options->huge_size, err);
    loader_statics_close(reader.statics);
    if (status != C2_OK)
        session_rules_release(out);
    return status;
}

void session_rules_release(struct session_rules *rules)
{
    for (size_t i = 0; i < rules->text_count; i++)
        c2_free(rules->texts[i]);
    c2_free(rules->texts);
    c2_free(rules->rules);
    c2_free(rules->huge);
    *rules = (struct session_rules){0};
}
