/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sets_chapter: misses by set, with the objects that fill each, and by page of the program.
 *
 * Model
 *   The JSON has columns of numbers, an element for each entry of sets or each page: these are many. Objects are
 *   numbers in a list of their own, in the order in which they are met. The text has how uneven it is: the conflict
 *   misses in the tenth of the sets that has most.
 */
#include "analyses/chapter.h"
#include "analyses/sets.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ the text */

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x > y ? -1 : x < y;
}

static size_t entry_count(const struct analyses_set_level *level) { return (size_t)level->entries * level->slices; }

/* Conflict misses of the tenth of the entries that has most, rounded up. */
static bool tenth(uint64_t *out, const struct analyses_set_level *level)
{
    const size_t count = entry_count(level);
    uint64_t *list = c2_calloc(count, sizeof *list);
    *out = 0;
    for (size_t i = 0; list && i < count; i++)
        list[i] = level->list[i].conflict;
    if (list)
        qsort(list, count, sizeof *list, descending);
    for (size_t i = 0; list && i < (count + 9) / 10; i++)
        *out += list[i];
    c2_free(list);
    return list;
}

static void note_sets(struct document *d, const struct digest *digest, const struct analyses_sets_result *of)
{
    const struct digest_level *most = &digest->levels[0];
    for (size_t i = 1; i < digest->level_count; i++)
        most = digest->levels[i].counts->conflict > most->counts->conflict ? &digest->levels[i] : most;
    const struct analyses_set_level *level = &of->levels[most->number];
    uint64_t first;
    d->failed |= !tenth(&first, level);
    if (most->counts->conflict == 0)
        doc_note(d, DOC_KEY, "sets", "no level has conflict misses");
    else
        doc_note(d, DOC_KEY, "sets", "a tenth of the %s sets of %s has %s of its %s conflict misses",
                 doc_digits(d, (uint64_t)level->sets * level->slices), most->level->name,
                 doc_share(d, first, most->counts->conflict), doc_digits(d, most->counts->conflict));
}

/* ------------------------------------------------------------------ objects */

struct numbering {
    uint32_t *number; /* [object of the profile], from 1 on; 0: it has none yet */
    uint32_t *met;    /* [number - 1] */
    uint32_t count;
};

static uint32_t sets_chapter_number_of(struct numbering *numbering, uint32_t object)
{
    if (numbering->number[object] == 0) {
        numbering->met[numbering->count++] = object;
        numbering->number[object] = numbering->count;
    }
    return numbering->number[object] - 1;
}

static void sets_chapter_add_objects(struct document *d, const struct digest *digest, const struct numbering *numbering)
{
    doc_table(d, DOC_JSON, "objects");
    for (uint32_t i = 0; i < numbering->count; i++) {
        const struct analyses_object *object = &digest->profile->objects[numbering->met[i]];
        struct loader_place place;
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", object->name);
        doc_string(d, DOC_JSON, "kind", analyses_kind_name(object->kind));
        doc_string(d, DOC_JSON, "module", object->module);
        if (names_site(&place, digest->run, object, object->site_shown)) {
            doc_group(d, DOC_JSON, "site");
            chapter_add_place(d, &place);
            doc_close(d);
        }
        doc_close(d);
    }
    doc_close(d);
}

/* ------------------------------------------------------------------ sets */

/* [object, misses, object, misses ...], most first. */
static void add_fills(struct document *d, struct numbering *numbering, const struct analyses_set *set)
{
    doc_table(d, DOC_JSON, NULL);
    for (unsigned i = 0; i < ANALYSES_SET_FILLS && set->fills[i].misses != 0; i++) {
        doc_count(d, DOC_JSON, NULL, sets_chapter_number_of(numbering, set->fills[i].object));
        doc_count(d, DOC_JSON, NULL, set->fills[i].misses);
    }
    doc_close(d);
}

static void sets_chapter_add_level(struct document *d, struct numbering *numbering, const char *name,
                                   const struct analyses_set_level *of)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", name);
    doc_count(d, DOC_JSON, "sets", of->sets);
    doc_count(d, DOC_JSON, "slices", of->slices);
    doc_count(d, DOC_JSON, "group", of->group);
    doc_table(d, DOC_JSON, "misses");
    for (size_t i = 0; i < entry_count(of); i++)
        doc_count(d, DOC_JSON, NULL, of->list[i].misses);
    doc_close(d);
    doc_table(d, DOC_JSON, "conflict");
    for (size_t i = 0; i < entry_count(of); i++)
        doc_count(d, DOC_JSON, NULL, of->list[i].conflict);
    doc_close(d);
    doc_table(d, DOC_JSON, "fills");
    for (size_t i = 0; i < entry_count(of); i++)
        add_fills(d, numbering, &of->list[i]);
    doc_close(d);
    doc_close(d);
}

static void sets_chapter_add_levels(struct document *d, const struct digest *digest,
                                    const struct analyses_sets_result *of)
{
    const size_t objects = digest->profile->object_count;
    struct numbering numbering = {c2_calloc(objects + 1, sizeof(uint32_t)), c2_calloc(objects + 1, sizeof(uint32_t)),
                                  0};
    d->failed |= !numbering.number || !numbering.met;
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count && !d->failed; i++)
        sets_chapter_add_level(d, &numbering, digest->levels[i].level->name, &of->levels[digest->levels[i].number]);
    doc_close(d);
    if (!d->failed)
        sets_chapter_add_objects(d, digest, &numbering);
    c2_free(numbering.number);
    c2_free(numbering.met);
}

/* ------------------------------------------------------------------ pages */

static uint64_t sets_chapter_start_of(const struct analyses_page *page) { return page->start.v >> C2_PAGE_SHIFT; }
static uint64_t sets_chapter_frame_of(const struct analyses_page *page) { return page->frame.v >> C2_PAGE_SHIFT; }
static uint64_t sets_chapter_size_of(const struct analyses_page *page)
{
    return UINT64_C(1) << (page->log2 - C2_PAGE_SHIFT);
}
static uint64_t slice_of(const struct analyses_page *page) { return page->slice; }

static void sets_chapter_add_column(struct document *d, const char *key, const struct analyses_sets_result *of,
                                    uint64_t (*value)(const struct analyses_page *page))
{
    doc_table(d, DOC_JSON, key);
    for (uint32_t i = 0; i < of->page_count; i++)
        doc_count(d, DOC_JSON, NULL, value(&of->pages[i]));
    doc_close(d);
}

static void add_pages_of(struct document *d, const struct digest *digest, const struct digest_level *level,
                         const struct analyses_sets_result *of)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "name", level->level->name);
    if (level->level->index == CACHES_PHYSICAL)
        doc_count(d, DOC_JSON, "colours", caches_level_colors(digest->run->machine, level->level));
    doc_table(d, DOC_JSON, "misses");
    for (uint32_t i = 0; i < of->page_count; i++)
        doc_count(d, DOC_JSON, NULL, of->pages[i].levels[level->number].misses);
    doc_close(d);
    doc_table(d, DOC_JSON, "conflict");
    for (uint32_t i = 0; i < of->page_count; i++)
        doc_count(d, DOC_JSON, NULL, of->pages[i].levels[level->number].conflict);
    doc_close(d);
    doc_count(d, DOC_JSON, "more_misses", of->more[level->number].misses);
    doc_count(d, DOC_JSON, "more_conflict", of->more[level->number].conflict);
    doc_close(d);
}

static void sets_chapter_add_pages(struct document *d, const struct digest *digest,
                                   const struct analyses_sets_result *of)
{
    doc_group(d, DOC_JSON, "pages");
    doc_count(d, DOC_JSON, "listed", of->page_count);
    doc_count(d, DOC_JSON, "more", of->more_pages);
    sets_chapter_add_column(d, "start", of, sets_chapter_start_of);
    sets_chapter_add_column(d, "frame", of, sets_chapter_frame_of);
    sets_chapter_add_column(d, "size", of, sets_chapter_size_of);
    if (digest->run->machine->levels[digest->run->machine->level_count - 1].slices > 1)
        sets_chapter_add_column(d, "slice", of, slice_of);
    doc_table(d, DOC_JSON, "levels");
    for (size_t i = 0; i < digest->level_count; i++)
        add_pages_of(d, digest, &digest->levels[i], of);
    doc_close(d);
    doc_close(d);
}

static void add_sets_chapter(struct document *d, struct digest *digest)
{
    const struct analyses_sets_result *of = digest->run->found[ANALYSIS_sets];
    if (!of)
        return;
    note_sets(d, digest, of);
    doc_group(d, DOC_JSON, "sets");
    sets_chapter_add_levels(d, digest, of);
    sets_chapter_add_pages(d, digest, of);
    doc_close(d);
}

const struct analysis_chapter analyses_sets_chapter = {
    .add = add_sets_chapter, .profiled = true, .in = DOC_BOTH, .place = 8, .order = 250};
