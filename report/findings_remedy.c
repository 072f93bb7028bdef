/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * findings_remedy: what to do about a finding, in a sentence.
 */
#include <inttypes.h>
#include <string.h>

#include "document/shorten.h"
#include "report/findings_priv.h"

#define FIELDS 6u /* of an element that are named */
#define FRAMES 8u /* of inlined calls */

static bool findings_is_used(const struct finding *of, uint32_t start, uint32_t bytes)
{
    for (uint32_t i = start; i < start + bytes && i < FINDINGS_ELEMENT; i++)
        if (of->used[i / 8] >> i % 8 & 1)
            return true;
    return false;
}

static const struct loader_struct *findings_struct_of(const struct telling *t)
{
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    if (!object || !t->run->sim.symbols)
        return NULL;
    bool pointed;
    const struct loader_type_id type = findings_type(t->run->sim.symbols, object, &pointed);
    const struct loader_struct *of = type.module ? loader_struct_of(t->run->sim.symbols, type, pointed) : NULL;
    return of && of->bytes == t->of->element_bytes ? of : NULL;
}

/* C++: it stays where the object is. */
static bool is_virtual_table(const struct loader_field *field) { return strncmp(field->name, "_vptr.", 6) == 0; }

static bool has_virtual_table(const struct loader_struct *of)
{
    bool has = false;
    for (uint32_t i = 0; i < of->field_count; i++)
        has |= is_virtual_table(&of->fields[i]);
    return has;
}

static void say_fields(struct c2_words *words, const struct telling *t, const struct loader_struct *of)
{
    uint32_t said = 0;
    c2_say(words, "{");
    for (uint32_t i = 0; i < of->field_count; i++) {
        if (is_virtual_table(&of->fields[i]) || !findings_is_used(t->of, of->fields[i].start, of->fields[i].bytes))
            continue;
        if (said < FIELDS)
            c2_say(words, "%s%s", said == 0 ? "" : ", ", of->fields[i].name);
        said++;
    }
    c2_say(words, "%s}", said > FIELDS ? ", ..." : "");
}

static void say_split_fields(struct c2_words *words, const struct telling *t, const struct loader_struct *of)
{
    const char *name = strstr(of->name, "{...}") ? t->object : of->name;
    const char *whither = report_finding_has_blocks(t) ? "blocks" : "an array";
    const bool stays = has_virtual_table(of);
    if (stays)
        c2_say(words, "move the fields of %s other than ", name);
    else
        c2_say(words, "split ");
    say_fields(words, t, of);
    if (stays)
        c2_say(words, " into %s of their own", whither);
    else
        c2_say(words, " of %s from its other fields, into %s of their own", name, whither);
}

static void say_split(struct c2_words *words, const struct telling *t)
{
    const struct loader_struct *of = findings_struct_of(t);
    const char *users = t->of->loops > 1                  ? "these places use"
                        : t->of->loop == ANALYSES_NO_LOOP ? "this function uses"
                                                          : "this loop uses";
    if (t->of->by_field)
        c2_say(words, "keep each field of %s that they use in an array of its own",
               of && !strstr(of->name, "{...}") ? of->name : t->object);
    else if (of)
        say_split_fields(words, t, of);
    else if (report_finding_has_blocks(t))
        c2_say(words, "split what %s of a block from the rest, into smaller blocks of its own", users);
    else
        c2_say(words, "split what %s of an element of %s from the rest, into an array of its own", users, t->object);
}

/* The function that the outer loop is in, where that is a caller of the inner one's; else NULL. */
static const char *caller_with_loop(char *buffer, size_t bytes, const struct telling *t)
{
    const struct analyses_excerpts_result *excerpts = t->run->sim.found[ANALYSIS_excerpts];
    struct loader_place place;
    struct guest_va inner, outer, header;
    if (!excerpts || !loader_function_entry(t->run->sim.symbols, excerpts->loops.loops[t->of->swapped].header, &inner))
        return NULL;
    header = excerpts->loops.loops[t->of->with].header;
    if (!loader_function_entry(t->run->sim.symbols, header, &outer) || inner.v == outer.v)
        return NULL;
    loader_symbol_of(t->run->sim.symbols, header, &place);
    snprintf(buffer, bytes, "%s", !place.function ? "another function" : place.function);
    return doc_shorten(buffer, FINDING_WIDTH);
}

static void say_swap(struct c2_words *words, const struct telling *t)
{
    const int inner = report_finding_loop_line(t, t->of->swapped), outer = report_finding_loop_line(t, t->of->with);
    char name[FINDING_NAME_BYTES];
    const char *caller = caller_with_loop(name, sizeof name, t);
    if (t->of->tile != 0) {
        if (inner != 0 && outer != 0 && inner != outer)
            c2_say(words, "go through the loops of lines %d and %d", outer, inner);
        else
            c2_say(words, "go through the two loops");
        c2_say(words, " in blocks of %" PRIu32 " by %" PRIu32 " rounds, which spares more than a swap of them",
               t->of->tile, t->of->tile);
        return;
    }
    if (inner != 0 && outer != 0 && inner != outer)
        c2_say(words, "swap the loop of line %d with that of line %d", inner, outer);
    else
        c2_say(words, "swap the two loops");
    if (caller)
        c2_say(words, ", the outer one in %s, which calls this function", caller);
    c2_say(words, ", or work in blocks");
}

/* The name as its declaration has it, without namespaces and crates. */
static const char *bare_of(const char *name)
{
    const char *at = strstr(name, "::");
    return at ? bare_of(at + 2) : name;
}

/* "a: declare it a[512][520] instead of a[512][512]" */
static void say_dimension(struct c2_words *words, const struct telling *t, const struct findings_declared *declared)
{
    char now[FINDING_NAME_BYTES], then[FINDING_NAME_BYTES];
    const uint64_t more = t->of->padding / declared->step;
    loader_array_text(now, sizeof now, bare_of(t->object), declared->array, declared->dimension, 0);
    loader_array_text(then, sizeof then, bare_of(t->object), declared->array, declared->dimension, more);
    c2_say(words, "pad %s: declare it %s instead of %s", t->object, then, now);
}

/* "the arrays in book: price[520], amount[520], ... instead of 512 elements" */
static void say_members(struct c2_words *words, const struct telling *t, const struct findings_declared *declared)
{
    char then[FINDING_NAME_BYTES];
    const uint64_t more = t->of->padding / declared->step;
    uint32_t said = 0;
    c2_say(words, "pad the arrays in %s: ", t->object);
    for (uint32_t i = 0; i < declared->members->field_count; i++) {
        const struct loader_field *field = &declared->members->fields[i];
        const struct loader_array *array = findings_member(t->run->sim.symbols, declared, field);
        if (array && said++ < FIELDS)
            c2_say(words, "%s%s", said == 1 ? "" : ", ",
                   loader_array_text(then, sizeof then, field->name, array, declared->dimension, more));
    }
    c2_say(words, "%s instead of %" PRIu64 " elements", said > FIELDS ? ", ..." : "",
           declared->array->dimensions[declared->dimension].length);
}

/* What there is to be longer, in the words of the source as far as it is known. */
static void say_longer(struct c2_words *words, const struct telling *t)
{
    char row[FINDING_DIGITS], padded[FINDING_DIGITS];
    const struct finding *of = t->of;
    const struct analyses_object *object = report_finding_object(t, of->object);
    struct findings_declared declared = {.part = FINDINGS_NO_PART};
    if (object && of->row_bytes != 0 && of->padding != 0)
        findings_declared(&declared, t->run->sim.symbols, object, of->row_bytes, t->run->sim.machine->line_bytes);
    if (declared.row_bytes != of->row_bytes || (declared.step != 0 && of->padding % declared.step != 0))
        declared.part = FINDINGS_NO_PART;
    c2_group_digits(row, of->row_bytes);
    c2_group_digits(padded, of->row_bytes + of->padding);
    if (report_finding_has_blocks(t))
        c2_say(words, "pad each block of %s by a line (%" PRIu32 " B)", t->object, t->run->sim.machine->line_bytes);
    else if (of->row_bytes == 0 || of->padding == 0)
        c2_say(words, "pad the rows of %s by a line (%" PRIu32 " B)", t->object, t->run->sim.machine->line_bytes);
    else if (declared.part == FINDINGS_DIMENSION)
        say_dimension(words, t, &declared);
    else if (declared.part == FINDINGS_MEMBERS)
        say_members(words, t, &declared);
    else if (declared.part == FINDINGS_WHOLE_ELEMENT && declared.array->element)
        c2_say(words, "pad %s from %s B to %s B", declared.array->element, row, padded);
    else if (declared.part == FINDINGS_POINTED && declared.array->element)
        c2_say(words, "pad the rows of %s: %" PRIu64 " instead of %" PRIu64 " elements of type %s (%" PRIu32 " B more)",
               t->object, (of->row_bytes + of->padding) / declared.step, of->row_bytes / declared.step,
               declared.array->element, of->padding);
    else
        c2_say(words, "pad each %s B of %s by %" PRIu32 " B", row, t->object, of->padding);
}

/* Of one object whose places are accessed in no order, as by a binary search: what a search halves again and again lies
 * in few sets where its size is a power of two. */
static void say_other_size(struct c2_words *words, const struct telling *t)
{
    char size[FINDING_DIGITS];
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    if (object && c2_is_power_of_two(object->bytes))
        c2_say(words,
               "let %s have a size that is no power of two, as %s is, or keep what is accessed most of it side "
               "by side",
               t->object, doc_size(size, object->bytes));
    else
        c2_say(words, "keep what is accessed most of %s side by side", t->object);
}

static void say_pad(struct c2_words *words, const struct telling *t)
{
    char step[FINDING_DIGITS], modulo[FINDING_DIGITS];
    const bool itself = t->of->evictor == FINDINGS_NOBODY || t->of->evictor == t->of->object;
    if (itself && t->of->scattered && t->of->row_bytes == 0 && !report_finding_has_blocks(t)) {
        say_other_size(words, t);
    } else if (itself) {
        say_longer(words, t);
        c2_say(words, ", so that the steps spread over all sets");
    } else {
        c2_say(words, "move %s, or pad the space before it, so that it does not start at the same sets as %s",
               t->object, t->evictor);
        if (t->of->apart_bytes != 0)
            c2_say(words, ", but %s B from it or a multiple (modulo %s B)", c2_group_digits(step, t->of->apart_bytes),
                   c2_group_digits(modulo, t->of->apart_of));
    }
    if (t->of->in_huge_pages)
        c2_say(words, ", in pages of 2 MiB");
}

static void say_apart(struct c2_words *words, const struct telling *t)
{
    if (t->of->others != 0) {
        c2_say(words, "put ");
        report_finding_add_sharers(words, t);
        c2_say(words, " on lines of their own (align each to %" PRIu32 " B), as far as different threads write them",
               t->run->sim.machine->line_bytes);
        return;
    }
    c2_say(words, "align or pad what each thread writes in %s to a line", t->object);
    if (t->of->padding != 0)
        c2_say(words, " (%" PRIu32 " B more each)", t->of->padding);
    c2_say(words, ", or let each thread have a sum of its own");
}

static void say_huge(struct c2_words *words, const struct telling *t)
{
    if (report_finding_has_blocks(t))
        c2_say(words, "put the heap on huge pages (with glibc: GLIBC_TUNABLES=glibc.malloc.hugetlb=1), or take the "
                      "blocks from one pool that is aligned to 2 MiB (madvise MADV_HUGEPAGE)");
    else
        c2_say(words, "put %s on huge pages (aligned to 2 MiB, madvise MADV_HUGEPAGE, or hugetlbfs), or work in blocks",
               t->object);
}

static void say_fewer_bytes(struct c2_words *words, const struct telling *t)
{
    if (report_finding_clears_blocks(t))
        c2_say(words, "use blocks again, and clear what was used of them; or take malloc where all is overwritten");
    else if (report_finding_in_heap(t))
        c2_say(words, "allocate fewer and larger blocks, or use blocks again");
    else
        c2_say(words, "nothing to win in the caches but fewer bytes: smaller types, or loops fused");
}

static void say_order(struct c2_words *words, const struct telling *t)
{
    if (report_finding_in_heap(t))
        c2_say(words, "allocate fewer and larger blocks, or use blocks again");
    else
        c2_say(words, "sort the accesses, or make what is accessed smaller");
}

/* Bytes of an element of the finding's object by its declaration; 0: it is not known. */
static uint64_t declared_element(const struct telling *t)
{
    const struct analyses_object *object = report_finding_object(t, t->of->object);
    bool pointed;
    if (!object || !t->run->sim.symbols || object->blocks > 1)
        return 0;
    const struct loader_type_id type = findings_type(t->run->sim.symbols, object, &pointed);
    const struct loader_array *array = type.module ? loader_array_of(t->run->sim.symbols, type, pointed) : NULL;
    return array ? array->element_bytes : 0;
}

/* "block the loop of line 26 to 65,536 elements of samples, which fit L2 (256 KiB), or fuse the passes" */
static void say_block(struct c2_words *words, const struct telling *t)
{
    char size[FINDING_DIGITS], count[FINDING_DIGITS];
    const int line = report_finding_loop_line(t, t->of->block_loop);
    const uint64_t element = declared_element(t), bytes = t->of->block_bytes;
    doc_size(size, report_finding_level_bytes(t));
    const bool is_librarys = t->of->caller != FINDINGS_NOBODY || /* its loop stays as it is */
                             (t->run->sim.symbols && loader_is_system_code(t->run->sim.symbols, t->of->pc));
    if (t->of->block_rounds == 0 || line == 0 || is_librarys)
        c2_say(words, "work in blocks of %s that fit", size);
    else if (bytes == 0)
        c2_say(words, "block the loop of line %d to %s rounds, which fit %s (%s)", line,
               c2_group_digits(count, t->of->block_rounds), report_finding_level(t), size);
    else if (element != 0)
        c2_say(words, "block the loop of line %d to %s elements of %s, which fit %s (%s)", line,
               c2_group_digits(count, bytes / element), t->object, report_finding_level(t), size);
    else
        c2_say(words, "block the loop of line %d to %s of %s, which fit %s (%s)", line, doc_size(count, bytes),
               t->object, report_finding_level(t), size);
    c2_say(words, ", or fuse the passes");
}

/* "fuse the loop of line 13 with that of line 11, or let both work in blocks that fit L3 (8.0 MiB)" */
static void say_fuse(struct c2_words *words, const struct telling *t)
{
    char size[FINDING_DIGITS];
    const int line = report_finding_loop_line(t, t->of->fuse), with = report_finding_loop_line(t, t->of->fuse_with);
    if (line != 0 && with != 0 && line != with)
        c2_say(words, "fuse the loop of line %d with that of line %d", line, with);
    else
        c2_say(words, "fuse the two loops");
    c2_say(words, ", or let both work in blocks that fit %s (%s)", report_finding_level(t),
           doc_size(size, report_finding_level_bytes(t)));
}

static void say_fewer_prefetches(struct c2_words *words, const struct telling *t)
{
    const struct caches_instructed *of = &t->of->prefetches;
    if (t->of->some_stay)
        c2_say(words, "prefetch each line once, which is one in %.0f of these",
               (double)of->executed / (double)of->issued);
    else if (of->useless > of->present + of->nowhere)
        c2_say(words, "remove them, or prefetch less far ahead");
    else
        c2_say(words, "remove them");
}

/* The level that most of the lines come from is not known beyond memory: else it is the last one at most. */
static void say_earlier(struct c2_words *words, const struct telling *t)
{
    const struct caches_machine *machine = t->run->sim.machine;
    const bool memory = t->of->prefetches.from_memory * 2 >= t->of->prefetches.issued;
    const uint32_t depth = memory ? machine->level_count : machine->level_count - 1;
    c2_say(words, "prefetch earlier: %" PRIu32 " instructions ahead or more, as %s takes %" PRIu32 " cycles",
           caches_latency(machine, depth), memory ? "memory" : machine->levels[depth].name,
           caches_latency(machine, depth));
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), of = strlen(end);
    return length >= of && strcmp(text + length - of, end) == 0;
}

/* Whether code of one of these files is where most is waited for, inlined or not. */
static bool is_from(const struct telling *t, const char *const *files, size_t file_count)
{
    struct loader_frame frames[FRAMES];
    if (!t->run->sim.symbols)
        return false;
    const size_t count = loader_frames_of(t->run->sim.symbols, t->of->pc, frames, FRAMES);
    for (size_t i = 0; i < count && i < FRAMES; i++)
        for (size_t k = 0; k < file_count; k++)
            if (frames[i].file && ends_with(frames[i].file, files[k]))
                return true;
    return false;
}

/* What GCC's OpenMP locks for `critical`: a variable for each name; the one without is its library's. */
static bool is_critical_section(const struct telling *t)
{
    return strstr(t->object, ".gomp_critical_user_") || strncmp(t->object, "data of libgomp.so", 18) == 0;
}

/* Whether the finding is about a lock: where most is waited for, code of a library takes it or gives it back. */
static bool is_of_lock(const struct telling *t)
{
    static const char *const starts[] = {
        "pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "pthread_cond_", "lll_", "sem_"};
    static const char *const files[] = {"/sync/mutex.rs",         "/sync/rwlock.rs",      "/sync/poison/mutex.rs",
                                        "/sync/poison/rwlock.rs", "/locks/futex.rs",      "/locks/futex_mutex.rs",
                                        "/locks/futex_rwlock.rs", "/sync/mutex/futex.rs", "/sync/rwlock/futex.rs"};
    const char *const name = report_finding_library_function(t);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return is_critical_section(t) || is_from(t, files, sizeof files / sizeof files[0]);
}

/* Whether it is about a count of references that libraries keep: where most is waited for, inlined code of C++'s
 * shared_ptr or of Rust's Arc counts. */
static bool is_of_references(const struct telling *t)
{
    static const char *const files[] = {"/bits/shared_ptr_base.h", "/alloc/src/sync.rs"};
    return is_from(t, files, sizeof files / sizeof files[0]);
}

/* Whether it is what GCC's OpenMP hands rounds out from: a block that its library allocates for a loop. */
static bool is_of_rounds(const struct telling *t)
{
    return strstr(t->object, "GOMP_parallel_loop_") || strstr(t->object, "GOMP_loop_");
}

static void say_shared(struct c2_words *words, const struct telling *t)
{
    if (is_of_rounds(t))
        c2_say(words, "let a thread take more rounds each time (OpenMP: schedule(dynamic, N) with a larger N, or "
                      "schedule(static))");
    else if (is_of_lock(t))
        c2_say(words, "take the lock less often: more of the work each time, or a lock for each part of the data");
    else if (is_of_references(t))
        c2_say(words,
               "count references less often: pass a reference to what is shared, or move it, where it is copied, "
               "and let each thread keep one copy while it works");
    else if (report_finding_in_heap(t))
        c2_say(words, "free blocks in the thread that has allocated them, or use blocks again");
    else if (t->of->handed_over)
        c2_say(words, "hand over many at a time, let each thread keep a copy of what it has seen, and put what "
                      "different threads write on lines of their own");
    else
        c2_say(words, "let each thread have a sum or part of its own, and put them together at the end");
}

void report_finding_add_remedy(struct c2_words *words, const struct telling *t)
{
    switch (t->of->pattern) {
    case FINDINGS_LOOP_ORDER:
        say_swap(words, t);
        break;
    case FINDINGS_CYCLIC:
        c2_say(words, "let each thread have elements in a row (OpenMP: schedule(static), without a chunk size)");
        break;
    case FINDINGS_SORTED:
        if (t->of->heap)
            c2_say(words, "keep keys and numbers of elements in the heap, and the elements in a place of their own");
        else
            c2_say(words, "sort numbers or pointers of the elements with their keys beside them, and move each "
                          "element once");
        break;
    case FINDINGS_SET_CONFLICTS:
        say_pad(words, t);
        break;
    case FINDINGS_PAGE_PLACEMENT:
        c2_say(words, "let pages be coloured, or put %s on huge pages (try --pages colored, --huge thp)", t->object);
        break;
    case FINDINGS_CAPACITY:
        if (t->of->moved)
            c2_say(words,
                   "move less: take elements off the end, keep them in a ring, or sort indices of them by halves");
        else if (t->of->fuse != ANALYSES_NO_LOOP)
            say_fuse(words, t);
        else
            say_block(words, t);
        break;
    case FINDINGS_PARTIAL_LINES:
        say_split(words, t);
        break;
    case FINDINGS_POINTER_CHASING:
        c2_say(words, "take the nodes from one pool in the order of the walk, or walk over an index");
        break;
    case FINDINGS_NON_TEMPORAL:
        c2_say(words, "write %s by ordinary stores, so that its lines stay in the caches until they are read",
               t->object);
        break;
    case FINDINGS_WRITE_ALLOCATE:
        c2_say(words, "write %s by non-temporal stores (as _mm_stream_si128), which fetch nothing", t->object);
        break;
    case FINDINGS_USELESS_PREFETCHES:
        say_fewer_prefetches(words, t);
        break;
    case FINDINGS_LATE_PREFETCHES:
        say_earlier(words, t);
        break;
    case FINDINGS_TLB:
        say_huge(words, t);
        break;
    case FINDINGS_FALSE_SHARING:
        say_apart(words, t);
        break;
    case FINDINGS_TRUE_SHARING:
        say_shared(words, t);
        break;
    case FINDINGS_INSTRUCTION_CACHE:
        if (report_finding_all_cold(t->of))
            c2_say(words, "nothing to win in the caches but less code");
        else
            c2_say(words, "make the hot code smaller (-Os, less inlining and unrolling), or put functions that run "
                          "together side by side");
        break;
    case FINDINGS_STREAMING:
        say_fewer_bytes(words, t);
        break;
    case FINDINGS_SCATTERED:
        say_order(words, t);
        break;
    default:
        c2_say(words, "no remedy: start-up is all that there is");
        break;
    }
}
