/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * profile: misses by instruction and object, and which access evicted which line.
 *
 * Model
 *   An access site is an instruction together with an object: the one that it accesses. Every miss of every level
 *   counts for the access site that made the access. The caches keep, for each line they lose, which access made them
 *   lose it (LT-WET: the line's last eviction, by level); a conflict miss then is a pair: the access site that misses
 *   and the access site that evicted. Fetches are acted by an instruction on the code of its file, walks on the page
 *   tables; a straddling reference acts on the object of its first byte in each line.
 *   Start-up is what comes before the program's first instruction, and what instructions of the dynamic linker do: such
 *   misses count for access sites of their own, which the result adds to the same rows.
 *   The word given to the caches is the access site's number + 1 and, in its upper half, the number of the block of the
 *   allocator: two blocks of one site are two arrays, though they may share an owner.
 *
 * Counting
 *   Sums over access sites are the levels' counts of misses and classes, the misses of the first level of the TLBs, the
 *   page walks and their reads, and the cores' upgrades; sums over pairs the levels' conflict misses; sums over objects
 *   the references. In each window that is measured; in others nothing is counted.
 *
 * Invariants (asserted of each window, and by profile_finish of the result)
 *   Memory is bounded by instructions x objects that meet in a miss, not by the length of the run.
 *
 *   Of several cores, misses of lines that another core's write took are of a class of their own, and counted by access
 *   site apart from the others, and so are upgrades. coherence.c says whose writes these were.
 *
 * Not modelled
 *   Which of several evictions of a line was "the" cause: the last one is blamed, as in C2Sim.
 *
 * Source: Sato & Endo, Euro-Par 2017, section 3.2.
 */
#include <string.h>

#include "analyses/profile_priv.h"

const char *analyses_kind_name(enum analyses_kind kind)
{
    static const char *const names[] = {
#define X(name, key, help) key,
        ANALYSES_KINDS(X)
#undef X
    };
    return names[kind];
}

const char *analyses_reason_name(enum analyses_reason reason)
{
    static const char *const names[] = {
#define X(name, key, help) key,
        ANALYSES_REASONS_X(X)
#undef X
    };
    return names[reason];
}

/* ------------------------------------------------------------------ life */

static enum c2_status create_maps(struct profile *profile, struct c2_error *err)
{
    enum c2_status status = c2_map_create(&profile->access_site_of, err);
    for (uint32_t i = 0; i < profile_levels(profile); i++)
        for (unsigned same = 0; same < 2 && status == C2_OK; same++)
            status = c2_map_create(&profile->pair_of[i][same], err);
    return status;
}

/* Bytes from one line of a set to the next, of a physical index; else 0. */
static uint64_t span_of(const struct caches_machine *machine, const struct caches_level *level)
{
    return level->index == CACHES_PHYSICAL ? (uint64_t)caches_level_sets(machine, level) * machine->line_bytes : 0;
}

/* A page's frame chooses sets where lines of one set are further from each other than the page is long; walks are of
 * none. */
static void find_framed(uint8_t *framed, uint64_t span)
{
    for (uint32_t i = 0; i <= SIM_COUNTED_PLACE; i++) {
        const struct caches_compact miss = {.bits = (uint16_t)i};
        framed[i] = sim_counted_kind(&miss) != SIM_WALK && span > UINT64_C(1) << sim_counted_page_log2(&miss);
    }
}

static void find_all_framed(struct profile *profile)
{
    const struct caches_machine *machine = profile->machine;
    for (uint32_t i = 0; i < machine->level_count; i++)
        find_framed(profile->framed[i], span_of(machine, &machine->levels[i]));
    if (machine->has_l1i)
        find_framed(profile->framed[machine->level_count], span_of(machine, &machine->l1i));
}

static void release_cells(struct profile *profile)
{
    c2_free(profile->cells);
    c2_free(profile->heard);
    c2_free(profile->taken);
    profile->cells = NULL;
    profile->heard = NULL;
    profile->taken = NULL;
    profile->tally_room = 0;
}

/* What it would adopt from a leader. */
static void profile_release_own(struct profile *profile)
{
    objects_destroy(profile->objects);
    c2_map_destroy(profile->layouts);
    c2_free(profile->access_sites);
    c2_free(profile->translations);
    c2_free(profile->last.code);
}

static void profile_destroy(struct analysis *analysis)
{
    struct profile *profile = (struct profile *)analysis;
    for (uint32_t i = 0; i < ANALYSES_LEVELS; i++)
        for (unsigned same = 0; same < 2; same++)
            c2_map_destroy(profile->pair_of[i][same]);
    c2_map_destroy(profile->access_site_of);
    if (!profile->adopted)
        profile_release_own(profile);
    profile_result_destroy(profile->result);
    release_cells(profile);
    c2_free(profile->pairs);
    profile_samples_release(&profile->samples);
    c2_free(profile);
}

static enum c2_status profile_create(struct analysis **out, const struct analyses_setup *setup,
                                     const struct analyses *analyses, struct c2_error *err)
{
    struct profile *profile = c2_calloc(1, sizeof *profile);
    (void)analyses;
    if (!profile)
        return c2_fail_memory(err, "the profile");
    profile->base.kind = &analysis_profile;
    profile->machine = setup->machine;
    profile->symbols = setup->symbols;
    profile->names = setup->unnamed ? NULL : setup->symbols;
    profile->samples.wanted = setup->samples;
    profile->last.epoch = 1;
    find_all_framed(profile);
    enum c2_status status = create_maps(profile, err);
    if (status == C2_OK)
        status = objects_create(&profile->objects, setup->symbols, err);
    if (status == C2_OK)
        status = c2_map_create(&profile->layouts, err);
    if (status == C2_OK)
        *out = &profile->base;
    else
        profile_destroy(&profile->base);
    return status;
}

/* ------------------------------------------------------------------ access sites */

static enum c2_status profile_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the table of misses by instruction and object");
}

static enum c2_status grow_access_sites(struct profile *profile, struct c2_error *err)
{
    if (profile->access_site_count < profile->access_site_room)
        return C2_OK;
    const uint32_t room = profile->access_site_room * 2 + C2_HOST_SIZE(1024u, 1u);
    struct profile_access_site *access_sites = c2_realloc(profile->access_sites, room * sizeof *access_sites);
    if (access_sites)
        profile->access_sites = access_sites;
    struct analyses_translations *translations = c2_realloc(profile->translations, room * sizeof *translations);
    if (translations)
        profile->translations = translations;
    if (!access_sites || !translations)
        return profile_no_memory(err);
    profile->access_site_room = room;
    return C2_OK;
}

/* Of an access site's key: its owner's number stays below. */
#define EARLY (UINT32_C(1) << 31)

static enum c2_status new_access_site(struct profile *profile, uint64_t key, uint32_t *out, struct c2_error *err)
{
    enum c2_status status = grow_access_sites(profile, err);
    if (status == C2_OK)
        status = c2_map_put(profile->access_site_of, key, profile->access_site_count, err);
    if (status != C2_OK)
        return status;
    *out = profile->access_site_count++;
    profile->translations[*out] = (struct analyses_translations){.misses = 0};
    profile->access_sites[*out] = (struct profile_access_site){(uint32_t)(key >> 32), (uint32_t)key & ~EARLY,
                                                               profile->early};
    return C2_OK;
}

/* Zeroed; in a new table what is not used is not there. */
static bool profile_reach_zeroed(void **table, size_t old, size_t room, size_t bytes)
{
    void *reached = *table ? c2_realloc(*table, room * bytes) : c2_calloc(room, bytes);
    if (!reached)
        return false;
    if (*table)
        memset((char *)reached + old * bytes, 0, (room - old) * bytes);
    *table = reached;
    return true;
}

static enum c2_status profile_reach_code(struct profile *profile, uint32_t code, struct c2_error *err)
{
    struct sim_last_access_sites *last = &profile->last;
    const uint32_t old = last->room;
    if (code < old)
        return C2_OK;
    const uint64_t least = old * 2ull + C2_HOST_SIZE(16384u, 1u), room = code < least ? least : code + 1ull;
    if (!profile_reach_zeroed((void **)&last->code, old, room, sizeof *last->code))
        return profile_no_memory(err);
    last->room = (uint32_t)room;
    return C2_OK;
}

static uint32_t access_site_of_word(uint64_t word)
{
    return (uint32_t)word - 1; /* no access, 0, becomes PROFILE_NONE */
}

/* An instruction mostly accesses the object it accessed before. */
static enum c2_status profile_find_access_site(struct profile *profile, uint32_t code, uint32_t owner, uint32_t *out,
                                               struct c2_error *err)
{
    const uint32_t last = access_site_of_word(profile->last.code[code].word);
    const uint64_t key = (uint64_t)code << 32 | (profile->early ? EARLY : 0) | owner;
    uint64_t found;
    C2_ASSERT(owner < EARLY);
    if (SHORTCUT(last != PROFILE_NONE && profile->access_sites[last].owner == owner &&
                 profile->access_sites[last].early == profile->early)) {
        C2_PROMISE(c2_map_get(profile->access_site_of, key, &found) && found == last);
        *out = last;
        return C2_OK;
    }
    if (!c2_map_get(profile->access_site_of, key, &found))
        return new_access_site(profile, key, out, err);
    *out = (uint32_t)found;
    return C2_OK;
}

enum c2_status profile_owner(struct profile *profile, enum sim_kind kind, struct guest_va va,
                             struct objects_found *found, struct c2_error *err)
{
    *found = (struct objects_found){.block = 0};
    if (kind == SIM_FETCH)
        return objects_code(profile->objects, va.v, &found->owner, err);
    if (kind == SIM_WALK)
        return objects_tables(profile->objects, &found->owner, err);
    objects_find(profile->objects, va.v, found);
    return C2_OK;
}

/* What tells blocks of one owner apart; 0 where it has one alone, so that most words are of 32 bits. */
static uint32_t profile_block_of(const struct profile *profile, const struct objects_found *found)
{
    return objects_owner(profile->objects, found->owner)->number != 0 ? 0 : found->block;
}

static __attribute__((noinline)) enum c2_status find_word(struct profile *profile, uint32_t code, enum sim_kind kind,
                                                          struct guest_va va, uint64_t *out, struct c2_error *err)
{
    struct objects_found found;
    uint32_t access_site = 0;
    enum c2_status status = profile_reach_code(profile, code, err);
    if (status == C2_OK)
        status = profile_owner(profile, kind, va, &found, err);
    if (status == C2_OK)
        status = profile_find_access_site(profile, code, found.owner, &access_site, err);
    if (status != C2_OK)
        return status;
    *out = (uint64_t)profile_block_of(profile, &found) << 32 | (access_site + 1u);
    struct sim_last_access_site *last = &profile->last.code[code];
    if (kind <= SIM_WRITE || last->word == 0)
        *last = (struct sim_last_access_site){found.start, found.end - found.start, *out, profile->last.epoch};
    return C2_OK;
}

static bool is_last(const struct profile *profile, uint32_t code, struct guest_va va)
{
    const struct sim_last_access_site *last = &profile->last.code[code];
    return va.v - last->start < last->bytes && last->epoch == profile->last.epoch;
}

/* C2_PROMISE: what the objects say now. */
static bool word_holds(struct profile *profile, uint64_t word, struct guest_va va)
{
    struct objects_found found;
    const struct profile_access_site *access_site = &profile->access_sites[(uint32_t)word - 1];
    objects_find(profile->objects, va.v, &found);
    return found.owner == access_site->owner && profile_block_of(profile, &found) == word >> 32 &&
           access_site->early == profile->early;
}

static enum c2_status access_site_word(void *self, uint32_t code, enum sim_kind kind, struct guest_va va, uint64_t *out,
                                       struct c2_error *err)
{
    struct profile *profile = self;
    if (!SHORTCUT(kind <= SIM_WRITE && code < profile->last.room && is_last(profile, code, va)))
        return find_word(profile, code, kind, va, out, err);
    *out = profile->last.code[code].word;
    C2_PROMISE(word_holds(profile, *out, va));
    return C2_OK;
}

/* ------------------------------------------------------------------ misses
 * They are notified on whatever thread judges them, while others may become access sites: so what is counted for an
 * access site grows by itself, and nothing else of the profile is looked at. */

static enum c2_status reach_taken(struct profile *profile, size_t old, size_t room, struct c2_error *err)
{
    if (caches_machine_cores(profile->machine) == 1)
        return C2_OK;
    return profile_reach_zeroed((void **)&profile->taken, old, room, sizeof *profile->taken) ? C2_OK
                                                                                             : profile_no_memory(err);
}

static __attribute__((noinline)) enum c2_status grow_cells(struct profile *profile, uint32_t count,
                                                           struct c2_error *err)
{
    const size_t levels = profile_levels(profile), old = profile->tally_room * levels;
    const size_t room = (count + profile->tally_room + C2_HOST_SIZE(1024u, 1u)) * levels;
    if (!profile_reach_zeroed((void **)&profile->cells, old, room, sizeof *profile->cells) ||
        !profile_reach_zeroed((void **)&profile->heard, old / levels, room / levels, sizeof *profile->heard))
        return profile_no_memory(err);
    enum c2_status status = reach_taken(profile, old, room, err);
    if (status != C2_OK)
        return status;
    profile->tally_room = (uint32_t)(room / levels);
    return C2_OK;
}

/* What is counted for so many access sites is there. */
static inline enum c2_status reach_access_sites(struct profile *profile, uint32_t count, struct c2_error *err)
{
    return C2_LIKELY(count <= profile->tally_room) ? C2_OK : grow_cells(profile, count, err);
}

static enum c2_status new_pair(struct profile *profile, const struct profile_pair *pair, struct c2_map *map,
                               uint64_t key, struct c2_error *err)
{
    if (!c2_grow((void **)&profile->pairs, &profile->pair_room, profile->pair_count, sizeof *profile->pairs))
        return c2_fail_memory(err, "the table of who evicted whom");
    enum c2_status status = c2_map_put(map, key, profile->pair_count, err);
    if (status == C2_OK)
        profile->pairs[profile->pair_count++] = *pair;
    return status;
}

static bool profile_is_pair(const struct profile_pair *one, const struct profile_pair *other)
{
    return ((one->victim ^ other->victim) | (one->evictor ^ other->evictor) | (one->level ^ other->level) |
            (one->same_block ^ other->same_block)) == 0; /* one jump, which is foreseen */
}

static uint32_t *profile_recent_of(struct profile *profile, const struct profile_pair *pair)
{
    const uint32_t mixed = (pair->victim * 31 + pair->evictor) * 15 + pair->level * 2u + pair->same_block;
    return &profile->recent[mixed & (PROFILE_RECENT_PAIRS - 1)];
}

static enum c2_status profile_find_pair(struct profile *profile, const struct profile_pair *pair, uint32_t *out,
                                        struct c2_error *err)
{
    struct c2_map *map = profile->pair_of[pair->level][pair->same_block];
    const uint64_t key = (uint64_t)pair->victim << 32 | pair->evictor;
    uint64_t found = profile->pair_count;
    enum c2_status status = c2_map_get(map, key, &found) ? C2_OK : new_pair(profile, pair, map, key, err);
    *out = (uint32_t)found;
    return status;
}

/* Not the pair that the access site was one of last. */
static __attribute__((noinline)) enum c2_status count_other(struct profile *profile, const struct caches_compact *miss,
                                                            struct profile_paired *last, struct c2_error *err)
{
    const struct profile_pair pair = {.victim = access_site_of_word(miss->access_site),
                                      .evictor = access_site_of_word(miss->evictor),
                                      .level = miss->level,
                                      .same_block = miss->same_high};
    uint32_t *recent = profile_recent_of(profile, &pair);
    if (!SHORTCUT(*recent < profile->pair_count && profile_is_pair(&profile->pairs[*recent], &pair))) {
        enum c2_status status = profile_find_pair(profile, &pair, recent, err);
        if (status != C2_OK)
            return status;
    }
    *last = (struct profile_paired){miss->evictor, *recent + 1};
    profile->pairs[*recent].count++;
    return C2_OK;
}

static inline enum c2_status profile_count_pair(struct profile *profile, const struct caches_compact *miss,
                                                struct profile_cell *cell, struct c2_error *err)
{
    struct profile_paired *last = &cell->last[miss->same_high];
    if (!SHORTCUT(last->pair != 0 && last->evictor == miss->evictor))
        return count_other(profile, miss, last, err);
    profile->pairs[last->pair - 1].count++;
    return C2_OK;
}

static inline void count_translation(struct analyses_translations *of, unsigned reads)
{
    of->misses++;
    of->walks += reads != 0;
    of->reads += reads;
}

static inline void count_taken(struct profile *profile, const struct caches_compact *miss, size_t at)
{
    struct analyses_taken *taken = &profile->taken[at];
    ++*(sim_counted_kind(miss) == SIM_WRITE ? &taken->writes : &taken->reads);
}

static inline enum c2_status count_sampled(struct profile *profile, uint32_t access_site, uint32_t level, unsigned kind,
                                           struct c2_error *err)
{
    return C2_UNLIKELY(profile->samples.wanted) ? profile_samples_count(profile, access_site, level, kind, err) : C2_OK;
}

/* levels: profile_levels(). */
static inline enum c2_status profile_count_miss(struct profile *profile, uint32_t levels,
                                                const struct caches_compact *miss, struct c2_error *err)
{
    const uint32_t level = miss->level, access_site = access_site_of_word(miss->access_site);
    const size_t at = (size_t)access_site * levels + level;
    struct profile_cell *cell = &profile->cells[at];
    const enum analyses_class class_ = (enum analyses_class)(miss->class_ - CACHES_COLD);
    if (C2_UNLIKELY(miss->class_ == CACHES_COHERENCE)) {
        count_taken(profile, miss, at);
        return count_sampled(profile, access_site, level, ANALYSES_SAMPLED_COHERENCE, err);
    }
    if (sim_counted_untranslated(miss) && (level == 0 || level == profile->machine->level_count))
        count_translation(&profile->heard[access_site], sim_counted_reads(miss));
    C2_ASSERT(class_ < ANALYSES_CLASSES);
    (sim_counted_kind(miss) == SIM_WRITE ? cell->tally.writes : cell->tally.reads)[class_]++;
    enum c2_status status = count_sampled(profile, access_site, level, class_, err);
    if (status != C2_OK || class_ != ANALYSES_CONFLICT)
        return status;
    cell->tally.framed += profile->framed[level][miss->bits & SIM_COUNTED_PLACE];
    return profile_count_pair(profile, miss, cell, err);
}

static enum c2_status profile_counted(void *self, const struct caches_compact *misses, size_t count,
                                      struct c2_error *err)
{
    struct profile *profile = self;
    const uint32_t levels = profile_levels(profile);
    for (const struct caches_compact *miss = misses; miss < misses + count; miss++) {
        enum c2_status status = reach_access_sites(profile, miss->access_site, err);
        if (C2_LIKELY(status == C2_OK))
            status = profile_count_miss(profile, levels, miss, err);
        if (C2_UNLIKELY(status != C2_OK))
            return status;
    }
    return C2_OK;
}

/* What `counted` would have been notified of it. */
static enum c2_status profile_missed(void *self, const struct sim_miss *miss, struct c2_error *err)
{
    const struct profile *profile = self;
    struct caches_compact misses[CACHES_MAX_LEVELS];
    size_t count = 0;
    for (uint32_t i = miss->first; i < miss->outcome->served_by; i++) {
        const struct caches_event *event = &miss->outcome->event[i];
        misses[count++] = (struct caches_compact){.access_site = (uint32_t)miss->access_site,
                                                  .evictor = (uint32_t)event->evictor,
                                                  .bits = sim_counted_bits(miss->kind, miss->page_log2),
                                                  .level = (uint8_t)analyses_level_of(profile->machine, miss->kind, i),
                                                  .class_ = (uint8_t)event->class_,
                                                  .same_high = miss->access_site >> 32 == event->evictor >> 32};
    }
    return profile_counted(self, misses, count, err);
}

static void profile_untranslated(void *self, uint64_t access_site, unsigned reads)
{
    const struct profile *profile = self;
    count_translation(&profile->translations[access_site_of_word(access_site)], reads);
}

static enum c2_status profile_upgraded(void *self, uint64_t word, struct c2_error *err)
{
    struct profile *profile = self;
    const uint32_t access_site = access_site_of_word(word);
    enum c2_status status = reach_access_sites(profile, access_site + 1, err);
    if (status != C2_OK)
        return status;
    profile->taken[(size_t)access_site * profile_levels(profile)].upgrades++;
    return count_sampled(profile, access_site, 0, ANALYSES_SAMPLED_UPGRADES, err);
}

/* The first of the program's own instructions begins a block: the dynamic linker jumps there. */
static void first_seen(void *self, const struct stream_block *block)
{
    struct profile *profile = self;
    if (!profile->early || block->pc.v != profile->entry.v)
        return;
    profile->early = false;
    profile->last.epoch++;
}

void analyses_profile_compare(struct analysis *profile) { ((struct profile *)profile)->compared = true; }

void analyses_profile_placement(struct analysis *analysis, enum sim_kind kind, uint64_t access_site, uint32_t depth)
{
    struct profile *profile = (struct profile *)analysis;
    const uint32_t level = analyses_level_of(profile->machine, kind, depth);
    C2_ASSERT(access_site_of_word(access_site) < profile->tally_room);
    profile->cells[(size_t)access_site_of_word(access_site) * profile_levels(profile) + level].tally.placement++;
}

/* ------------------------------------------------------------------ memory */

static void profile_owner_of(void *self, struct guest_va va, struct sim_owner *out)
{
    struct profile *profile = self;
    struct objects_found found;
    objects_find(profile->objects, va.v, &found);
    *out = (struct sim_owner){&objects_owner(profile->objects, found.owner)->refs, found.start, found.end};
}

static enum c2_status profile_memory(void *self, bool appeared, const struct mmu_area *area, struct c2_error *err)
{
    struct profile *profile = self;
    profile->last.epoch++;
    return appeared ? objects_mapped(profile->objects, area, err)
                    : objects_unmapped(profile->objects, area->start.v, area->bytes, err);
}

/* What is start-up: everything until the first instruction of the program itself, and whatever instructions of the
 * dynamic linker do. */
static void profile_program_loaded(struct profile *profile, struct guest_va entry, struct guest_va interpreter)
{
    uint64_t bytes = 0;
    const char *name;
    profile->early = entry.v != 0;
    profile->entry = entry;
    if (interpreter.v != 0 &&
        loader_module_extent(profile->symbols, interpreter, &profile->interpreter.start, &bytes, &name))
        profile->interpreter.end = profile->interpreter.start + bytes;
}

/* The stream's number of a layout, and the one that the symbols have given it here. */
static enum c2_status learn_layout(struct profile *profile, const uint64_t *words, struct c2_error *err)
{
    const struct guest_va at = {words[1] & ~STREAM_THREADS};
    uint64_t mine;
    enum c2_status status = words[1] & STREAM_THREADS ? loader_layout_threads(profile->symbols, at, &mine, err)
                                                      : loader_layout_at(profile->symbols, at, &mine, err);
    return status == C2_OK ? c2_map_put(profile->layouts, words[0], mine, err) : status;
}

/* Nothing has been measured so far; what evicted what is known all the same. */
static enum c2_status profile_dropped(void *self, struct c2_error *err)
{
    struct profile *profile = self;
    enum c2_status status = C2_OK;
    release_cells(profile);
    if (profile->access_site_count != 0)
        memset(profile->translations, 0, profile->access_site_count * sizeof *profile->translations);
    profile_samples_drop(profile);
    for (uint32_t i = 0; i < objects_count(profile->objects); i++)
        objects_owner(profile->objects, i)->refs = 0;
    profile->measured = (struct sim_totals){.tlb_misses = 0};
    profile->pair_count = 0;
    for (unsigned i = 0; i < ANALYSES_LEVELS * 2u && status == C2_OK; i++) {
        struct c2_map **map = &profile->pair_of[i / 2][i % 2];
        c2_map_destroy(*map);
        *map = NULL;
        status = c2_map_create(map, err);
    }
    return status;
}

static enum c2_status profile_mark(void *self, enum stream_mark which, const uint64_t *words, struct c2_error *err)
{
    struct profile *profile = self;
    uint64_t *start = &profile->changed.start, *bytes = &profile->changed.bytes;
    *bytes = 0;
    profile->last.epoch++;
    switch (which) {
    case STREAM_ALLOCATED:
        return objects_allocated(profile->objects, words, start, bytes, err);
    case STREAM_FREED:
        objects_freed(profile->objects, words[0], start, bytes);
        return C2_OK;
    case STREAM_PASSED:
        return objects_passed(profile->objects, words[0], words[1], start, bytes, err);
    case STREAM_LAYOUT:
        return learn_layout(profile, words, err);
    case STREAM_STACK:
        *start = words[1];
        *bytes = words[2];
        return objects_stack(profile->objects, words, err);
    case STREAM_LOCAL:
        return objects_local(profile->objects, words, start, bytes, err);
    case STREAM_LEFT:
        objects_left(profile->objects, words[0], words[1]);
        *start = words[0];
        *bytes = words[1];
        return C2_OK;
    case STREAM_LOADED:
        profile_program_loaded(profile, (struct guest_va){words[0]}, (struct guest_va){words[1]});
        return C2_OK;
    case STREAM_ENTERED:
        profile->early = false;
        return C2_OK;
    default: /* memory is notified of otherwise */
        return C2_OK;
    }
}

static void profile_changed(void *self, uint64_t *start, uint64_t *bytes)
{
    const struct profile *profile = self;
    *start = profile->changed.start;
    *bytes = profile->changed.bytes;
}

/* ------------------------------------------------------------------ windows */

static void profile_add_translations(struct analyses_translations *to, const struct analyses_translations *from)
{
    to->misses += from->misses;
    to->walks += from->walks;
    to->reads += from->reads;
}

static void add_access_site_sums(const struct profile *profile, uint32_t access_site, struct profile_sums *sums)
{
    static const struct analyses_taken none;
    const uint32_t levels = profile_levels(profile);
    profile_add_translations(&sums->tlb, &profile->heard[access_site]);
    for (uint32_t i = 0; i < levels; i++) {
        const struct analyses_tally *tally = &profile->cells[(size_t)access_site * levels + i].tally;
        for (unsigned class_ = 0; class_ < ANALYSES_CLASSES; class_++) {
            sums->misses[i][class_] += tally->reads[class_] + tally->writes[class_];
            sums->writes[i] += tally->writes[class_];
        }
        const struct analyses_taken *taken = profile->taken ? &profile->taken[(size_t)access_site * levels + i] : &none;
        sums->taken[i] += taken->reads + taken->writes;
        sums->writes[i] += taken->writes;
        sums->upgrades += taken->upgrades;
    }
}

static void profile_add_up(const struct profile *profile, struct profile_sums *sums)
{
    *sums = (struct profile_sums){.refs = 0};
    for (uint32_t i = 0; i < profile->access_site_count && i < profile->tally_room; i++)
        add_access_site_sums(profile, i, sums);
    for (uint32_t i = 0; i < profile->access_site_count; i++)
        profile_add_translations(&sums->tlb, &profile->translations[i]);
    for (uint32_t i = 0; i < profile->pair_count; i++)
        sums->pairs[profile->pairs[i].level] += profile->pairs[i].count;
    for (uint32_t i = 0; i < objects_count(profile->objects); i++)
        sums->refs += objects_owner(profile->objects, i)->refs;
}

static void profile_check_level(const struct profile_sums *sums, uint32_t level, const struct caches_counts *counts)
{
    const uint64_t classes[ANALYSES_CLASSES] = {counts->cold, counts->capacity, counts->conflict};
    for (unsigned i = 0; i < ANALYSES_CLASSES; i++)
        C2_ASSERT(sums->misses[level][i] == classes[i]);
    C2_ASSERT(sums->taken[level] == counts->coherence && sums->writes[level] == counts->write_misses);
    C2_ASSERT(sums->pairs[level] == counts->conflict);
}

/* What was counted is what the simulator has counted in what is measured. */
static void profile_check_sums(const struct profile *profile)
{
    const struct sim_totals *of = &profile->measured;
    const uint32_t levels = profile->machine->level_count;
    struct profile_sums sums;
    profile_add_up(profile, &sums);
    for (uint32_t i = 0; i < levels; i++)
        profile_check_level(&sums, i, &of->levels[i]);
    if (profile->machine->has_l1i)
        profile_check_level(&sums, levels, &of->l1i);
    C2_ASSERT(sums.tlb.misses == of->tlb_misses && sums.tlb.walks == of->walks.count);
    C2_ASSERT(sums.tlb.reads == of->walks.reads && sums.upgrades == of->upgrades);
    C2_ASSERT(sums.refs == of->counts.refs);
}

/* To add all up takes longer than a short phase, so it is put off until there were as many as make up for it. */
static bool check_is_due(struct profile *profile)
{
    enum { SUMMANDS_A_WINDOW = 64 };
    const uint64_t work = (uint64_t)profile->access_site_count + profile->pair_count + objects_count(profile->objects);
    if ((uint64_t)++profile->unchecked * SUMMANDS_A_WINDOW < work)
        return false;
    profile->unchecked = 0;
    return true;
}

static enum c2_status profile_window(void *self, const struct sim_window *window, struct c2_error *err)
{
    struct profile *profile = self;
    const bool measured = window->phase == STREAM_MEASURE;
    if (measured)
        sim_totals_add(&profile->measured, &window->of);
    if (!profile->leader && check_is_due(profile))
        profile_check_sums(profile);
    return measured && profile->samples.wanted && window->of.counts.instructions != 0
               ? profile_samples_end(profile, err)
               : C2_OK;
}

/* ------------------------------------------------------------------ of a machine that follows another one */

static enum c2_status adopt_pair(struct profile *profile, const struct profile_pair *of, uint32_t level,
                                 struct c2_error *err)
{
    struct profile_pair pair = *of;
    uint32_t found = 0;
    pair.level = level;
    pair.count = 0;
    enum c2_status status = profile_find_pair(profile, &pair, &found, err);
    if (status == C2_OK)
        profile->pairs[found].count += of->count;
    return status;
}

/* A first level's misses: those of the leader's level `from`. */
static enum c2_status adopt_level(struct profile *profile, uint32_t level, uint32_t from, struct c2_error *err)
{
    const struct profile *leader = profile->leader;
    const size_t levels = profile_levels(profile), leader_levels = profile_levels(leader);
    for (size_t i = 0; i < leader->access_site_count; i++)
        profile->cells[i * levels + level].tally = leader->cells[i * leader_levels + from].tally;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < leader->pair_count && status == C2_OK; i++)
        if (leader->pairs[i].level == from)
            status = adopt_pair(profile, &leader->pairs[i], level, err);
    return status;
}

/* Access sites have the numbers that the leader's have: only it was asked for them. */
static enum c2_status adopt_all(struct profile *profile, struct c2_error *err)
{
    const struct profile *leader = profile->leader;
    C2_ASSERT(leader->result && profile->access_site_count == 0);
    enum c2_status status = reach_access_sites(profile, leader->access_site_count, err);
    if (status == C2_OK)
        status = adopt_level(profile, 0, 0, err);
    if (status == C2_OK && profile->machine->has_l1i)
        status = adopt_level(profile, profile->machine->level_count, leader->machine->level_count, err);
    if (status != C2_OK)
        return status;
    profile_release_own(profile);
    profile->adopted = true;
    profile->objects = leader->objects;
    profile->layouts = leader->layouts;
    profile->symbols = leader->symbols;
    profile->access_sites = leader->access_sites;
    profile->access_site_count = leader->access_site_count;
    profile->translations = leader->translations;
    profile->last = leader->last;
    profile->early = leader->early;
    profile->entry = leader->entry;
    profile->interpreter = leader->interpreter;
    return C2_OK;
}

void profile_follow(struct analysis *profile, const struct analysis *leader)
{
    C2_ASSERT(profile->kind == &analysis_profile && leader->kind == &analysis_profile);
    ((struct profile *)profile)->leader = (const struct profile *)leader;
}

static enum c2_status analyses_profile_finish(void *self, struct sim *sim, struct c2_error *err)
{
    struct profile *profile = self;
    enum c2_status status = profile->leader ? adopt_all(profile, err)
                                            : reach_access_sites(profile, profile->access_site_count, err);
    if (status != C2_OK)
        return status;
    profile_check_sums(profile);
    for (uint32_t i = 0; i < profile->access_site_count && !profile->adopted; i++)
        profile_add_translations(&profile->translations[i], &profile->heard[i]);
    return profile_finish(profile, sim, err);
}

static struct sim_subscriber profile_subscriber(struct analysis *analysis)
{
    return (struct sim_subscriber){.self = analysis,
                                   .apart = true,
                                   .memory = profile_memory,
                                   .mark = profile_mark,
                                   .dropped = profile_dropped,
                                   .block = first_seen,
                                   .missed = profile_missed,
                                   .counted = profile_counted,
                                   .window = profile_window,
                                   .finish = analyses_profile_finish};
}

static struct sim_attribution attribution(struct analysis *analysis)
{
    return (struct sim_attribution){analysis,
                                    profile_owner_of,
                                    access_site_word,
                                    profile_untranslated,
                                    profile_upgraded,
                                    profile_changed,
                                    &((struct profile *)analysis)->last};
}

const struct analysis_kind analysis_profile = {.on_without_option = true,
                                               .beside = true,
                                               .create = profile_create,
                                               .subscriber = profile_subscriber,
                                               .attribution = attribution,
                                               .result = profile_result,
                                               .destroy = profile_destroy};
