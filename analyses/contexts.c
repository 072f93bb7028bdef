/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contexts: functions that are told apart by what they were called with, how deep they call themselves, and their
 * callers.
 *
 * Model
 *   A symbol is a function, and where its parameters are to be told apart their values, or the ranges these lie in, at
 *   its entry. To every frame of the call graph belongs a symbol, and below all of them lies one more entry: what runs
 *   without having been called. A context is
 *     the symbol;
 *     the level: how many entries have the symbol, this one included, and at most as many as are told apart;
 *     the callers: the symbols further out, nearest first, as many as are told apart. Entries of one symbol that follow
 *     each other are one caller, and those above them of the same symbol are no callers of themselves.
 *   These are Callgrind's rules for the same options, but that a symbol there is a function alone.
 *   Each thread has entries of its own, and levels and callers are those of one thread; contexts that are the same are
 *   one, unless threads are told apart as well.
 *   An instruction is executed in the context of the newest entry. Where a frame is left without a return (longjmp, an
 *   exception), that shows when the guest is in a function again that lies further out, and then frames above are left:
 *   without that the rest of this function, up to its next call, would be the costs of what it has called.
 *
 * Counting
 *   Costs are those of the call graph, by context and instruction. A context's inclusive cost is what is counted while
 *   any of its entries is there, thread by thread: what others do meanwhile is not in it. Cycles are the strongly
 *   connected parts of the contexts and their calls, of two and more: to make of a recursion no cycle, tell more levels
 *   of it apart.
 *
 * Invariants (contexts_check, contexts_finish)
 *   Of each symbol and each context as many are on each stack as that says. All costs together are the call graph's.
 *
 * Memory
 *   A cost (8 bytes an event) for each instruction of each block in each context that it was executed in; a run that
 *   comes to CONTEXTS contexts ends with a message.
 *
 * Not modelled
 *   A jump of a function to its own beginning is a loop: the arguments are those of the call. longjmp into one of
 *   several entries of one function is taken for the newest of them, up to its next call or return. Entries of
 *   functions without symbols are left at the next call or return above them, as in the call graph.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/contexts_priv.h"

#define CONTEXTS (1u << 20)
#define NOBODY UINT32_MAX
#define FIRST_THREAD 1u
#define WORDS 64u /* of what is looked up by several words, at most */

/* Numbers of things that are known by several words. */
struct numbers {
    struct c2_map *of; /* hash -> number; of equal hashes the next free hash */
    uint32_t *ends;    /* [number]: in words */
    uint32_t *words;
    uint32_t count, room, word_count, word_room;
};

struct context {
    uint32_t symbol, level;
};

struct entry {
    uint32_t symbol, context;
    uint32_t caller; /* the nearest entry further out of another symbol; NOBODY: none is */
    bool outermost;  /* of its context */
};

/* How many there are of each; those that the list does not reach: none. */
struct tally {
    uint32_t *list, room;
};

/* A thread's. */
struct stack {
    uint32_t tid;
    struct entry *entries;
    uint64_t *starts; /* [entry * width]: `now` when it began; of the outermost of their contexts */
    uint32_t depth, entry_room, start_room;
    struct tally symbols, contexts; /* entries of each */
    struct tally functions;         /* may be fewer than there are, never more */
    uint64_t *left;                 /* [event]: `now` when another thread went on */
    struct {                        /* what the next function is entered with */
        bool there;
        uint64_t entry;
        uint64_t functions; /* bit i: it is the one of number i */
        uint64_t registers[STREAM_ARGUMENT_REGISTERS];
    } arguments;
};

/* A block, and the first code number of its instructions. */
struct block {
    const struct stream_block *of;
    uint32_t first_code, function;
    uint32_t run; /* the newest of its runs; NOBODY: it has none */
};

/* A block in one context. */
struct run {
    uint32_t block, context;
    uint64_t whole; /* times */
    size_t first;   /* cost of its first instruction */
};

struct contexts {
    const struct analyses_separation *separation;
    struct loader_symbols *loader;
    struct contexts_functions functions;
    uint32_t width;
    struct c2_pool pool;

    struct c2_map *function_of; /* entry -> number */
    uint64_t *function_entries;
    bool *function_known;
    uint32_t function_count, function_room, known_room;
    struct numbers symbol_numbers, context_numbers;
    uint32_t *symbol_function; /* [symbol] */
    struct analyses_symbol *told_symbols;
    uint32_t symbol_room, told_room;
    struct context *contexts;
    uint64_t *inclusive; /* [context * width] */
    uint32_t context_room, inclusive_room;

    struct stack **stacks; /* in the order in which their threads were met */
    uint32_t stack_count, stack_room;
    struct stack *on; /* of the thread that runs */

    uint32_t *block_of; /* [number in the stream]: 1 + the one here; 0: it has not run */
    uint32_t stream_count, stream_room;
    struct block *blocks;
    uint32_t block_count, block_room, code_count;
    struct c2_map *run_of; /* context and block -> number */
    struct run *runs;
    uint32_t run_count, run_room;
    uint64_t *costs; /* [cost * width] */
    size_t cost_count, cost_room;
    uint32_t now; /* the run of the last record */

    uint64_t *dropped; /* [event]: what had been counted when it was dropped */
    uint64_t *sums;    /* of the result */
    struct analyses_context *notified;
    struct analyses_context_row *rows;
    struct analyses_cycle *cycles;
    struct analyses_contexts result;
};

static enum c2_status contexts_no_memory(struct c2_error *err)
{
    return c2_fail_memory(err, "the contexts of functions");
}

/* ------------------------------------------------------------------ numbers */

static uint64_t contexts_hash_of(const uint32_t *words, uint32_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ count; /* FNV-1a, of words */
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static uint32_t words_begin(const struct numbers *numbers, uint32_t number)
{
    return number == 0 ? 0 : numbers->ends[number - 1];
}

static bool has_words(const struct numbers *numbers, uint32_t number, const uint32_t *words, uint32_t count)
{
    const uint32_t begin = words_begin(numbers, number);
    return numbers->ends[number] - begin == count && memcmp(numbers->words + begin, words, count * sizeof *words) == 0;
}

/* A number that is numbers->count before is a new one. */
static enum c2_status contexts_number_of(struct numbers *numbers, const uint32_t *words, uint32_t count, uint32_t *out,
                                         struct c2_error *err)
{
    uint64_t hash = contexts_hash_of(words, count), found;
    for (; c2_map_get(numbers->of, hash, &found); hash++)
        if (has_words(numbers, *out = (uint32_t)found, words, count))
            return C2_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (!c2_grow((void **)&numbers->words, &numbers->word_room, numbers->word_count + i, sizeof *numbers->words))
            return contexts_no_memory(err);
        numbers->words[numbers->word_count + i] = words[i];
    }
    if (!c2_grow((void **)&numbers->ends, &numbers->room, numbers->count, sizeof *numbers->ends))
        return contexts_no_memory(err);
    *out = numbers->count;
    numbers->word_count += count;
    numbers->ends[numbers->count++] = numbers->word_count;
    return c2_map_put(numbers->of, hash, *out, err);
}

static void release_numbers(struct numbers *numbers)
{
    c2_map_destroy(numbers->of);
    c2_free(numbers->ends);
    c2_free(numbers->words);
}

/* ------------------------------------------------------------------ functions */

static bool entry_by_symbols(void *self, struct guest_va pc, struct guest_va *entry)
{
    struct contexts *contexts = self;
    uint64_t bytes;
    const char *name;
    if (contexts->loader && loader_function_entry(contexts->loader, pc, entry))
        return true;
    entry->v = 0;
    if (contexts->loader)
        loader_module_extent(contexts->loader, pc, &entry->v, &bytes, &name);
    return false;
}

static enum c2_status contexts_function_of(struct contexts *contexts, uint64_t pc, uint32_t *out, struct c2_error *err)
{
    struct guest_va entry = {0};
    uint64_t found;
    const bool known = contexts->functions.entry(contexts->functions.self, (struct guest_va){pc}, &entry);
    if (c2_map_get(contexts->function_of, entry.v, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    const uint32_t number = *out = contexts->function_count;
    if (!c2_grow((void **)&contexts->function_entries, &contexts->function_room, number, sizeof(uint64_t)) ||
        !c2_grow((void **)&contexts->function_known, &contexts->known_room, number, sizeof(bool)))
        return contexts_no_memory(err);
    contexts->function_entries[number] = entry.v;
    contexts->function_known[number] = known;
    contexts->function_count++;
    return c2_map_put(contexts->function_of, entry.v, number, err);
}

/* ------------------------------------------------------------------ arguments */

/* The register that the parameter lies in, and what is known of it. */
static enum c2_status find_parameter(struct contexts *contexts, const struct analyses_parameter *parameter,
                                     unsigned *number, struct loader_parameter *out, struct c2_error *err)
{
    const struct guest_va entry = {contexts->on->arguments.entry};
    struct loader_place place = {.function = NULL};
    *number = parameter->number;
    if (parameter->name)
        *number = loader_parameter_named(contexts->loader, entry, parameter->name);
    if (*number != 0) {
        if (!contexts->loader || !loader_parameter_in(contexts->loader, entry, *number, out))
            *out = (struct loader_parameter){.name = NULL, .kind = LOADER_SIGNED, .bytes = 4};
        return C2_OK;
    }
    loader_symbol_of(contexts->loader, entry, &place);
    return c2_fail(err, C2_ERR_NOT_FOUND,
                   "--separate-par %s: no debug information says that a parameter \"%s\" of %s comes in an integer "
                   "register; give its number there (1 is RDI, 2 RSI, 3 RDX, 4 RCX, 5 R8, 6 R9)",
                   parameter->asked, parameter->name, place.function ? place.function : "the function");
}

/* The value as numbers with a sign; pointers and unsigned numbers above are cut at the largest. */
static int64_t contexts_value_of(const struct loader_parameter *parameter, uint64_t word)
{
    const unsigned spare = 64 - 8u * parameter->bytes;
    if (parameter->kind == LOADER_BOOLEAN)
        return (word & 0xff) != 0;
    const uint64_t cut = word << spare >> spare;
    if (parameter->kind == LOADER_SIGNED)
        return (int64_t)(word << spare) >> spare;
    return (int64_t)cut;
}

/* How many bounds lie below the value. */
static uint32_t range_of(const struct analyses_parameter *of, const struct loader_parameter *parameter, int64_t value)
{
    const bool huge = parameter->kind != LOADER_SIGNED && value < 0; /* 2^63 and above */
    uint32_t range = 0;
    while (range < of->bound_count && (huge || of->bounds[range] < value))
        range++;
    return range;
}

static void contexts_say_value(struct c2_words *to, const struct loader_parameter *parameter, int64_t value)
{
    if (parameter->kind == LOADER_BOOLEAN)
        c2_say(to, "=%s", value ? "true" : "false");
    else if (parameter->kind == LOADER_SIGNED)
        c2_say(to, "=%" PRId64, value);
    else
        c2_say(to, parameter->kind == LOADER_POINTER ? "=0x%" PRIx64 : "=%" PRIu64, (uint64_t)value);
}

/* "i<=5", "5<i<=10", "i>10" */
static void say_range(struct c2_words *to, const char *name, const struct analyses_parameter *of, uint32_t range)
{
    if (range == of->bound_count)
        c2_say(to, ":%s>%" PRId64, name, of->bounds[range - 1]);
    else if (range == 0)
        c2_say(to, ":%s<=%" PRId64, name, of->bounds[0]);
    else
        c2_say(to, ":%" PRId64 "<%s<=%" PRId64, of->bounds[range - 1], name, of->bounds[range]);
}

/* One parameter: its words, and its text. */
static enum c2_status add_argument(struct contexts *contexts, const struct analyses_parameter *of, uint32_t *words,
                                   struct c2_words *text, struct c2_error *err)
{
    struct loader_parameter parameter;
    unsigned number;
    char name[64];
    enum c2_status status = find_parameter(contexts, of, &number, &parameter, err);
    if (status != C2_OK)
        return status;
    snprintf(name, sizeof name, parameter.name ? "%.60s" : "p%.0s%u", parameter.name ? parameter.name : "", number);
    const int64_t value = contexts_value_of(&parameter, contexts->on->arguments.registers[number - 1]);
    const uint64_t notified = of->bound_count == 0 ? (uint64_t)value : range_of(of, &parameter, value);
    words[0] = (uint32_t)notified;
    words[1] = (uint32_t)(notified >> 32);
    if (of->bound_count != 0) {
        say_range(text, name, of, (uint32_t)notified);
        return C2_OK;
    }
    c2_say(text, ":%s", name);
    contexts_say_value(text, &parameter, value);
    return C2_OK;
}

/* Behind the function's number: two words for each of its parameters that are told apart. */
static enum c2_status add_arguments(struct contexts *contexts, uint32_t *words, uint32_t *count, struct c2_words *text,
                                    struct c2_error *err)
{
    const struct analyses_separation *by = contexts->separation;
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < by->parameter_count && status == C2_OK; i++) {
        if ((contexts->on->arguments.functions >> by->parameters[i].function & 1) == 0)
            continue;
        status = *count + 2 <= WORDS
                     ? add_argument(contexts, &by->parameters[i], words + *count, text, err)
                     : c2_fail(err, C2_ERR_INVALID, "--separate-par %s: that are too many of one function",
                               by->parameters[i].asked);
        *count += 2;
    }
    return status;
}

static enum c2_status contexts_take_arguments(struct contexts *contexts, const uint64_t *words, struct c2_error *err)
{
    struct stack *on = contexts->on;
    const bool again = on->arguments.there && on->arguments.entry == words[0];
    if (words[1] >= ANALYSES_ARGUED)
        return c2_fail(err, C2_ERR_FORMAT, "arguments are of a function that was not asked about");
    on->arguments.there = true;
    on->arguments.entry = words[0];
    on->arguments.functions = (again ? on->arguments.functions : 0) | (uint64_t)1 << words[1];
    memcpy(on->arguments.registers, words + 2, sizeof on->arguments.registers);
    return C2_OK;
}

void contexts_entered(struct contexts *contexts) { contexts->on->arguments.there = false; }

/* ------------------------------------------------------------------ symbols and contexts */

static enum c2_status add_symbol(struct contexts *contexts, uint32_t function, const char *text, struct c2_error *err)
{
    const uint32_t number = contexts->symbol_numbers.count - 1;
    const char *kept = c2_pool_format(&contexts->pool, "%s", text);
    if (!kept || !c2_grow((void **)&contexts->symbol_function, &contexts->symbol_room, number, sizeof(uint32_t)) ||
        !c2_grow((void **)&contexts->told_symbols, &contexts->told_room, number, sizeof *contexts->told_symbols))
        return contexts_no_memory(err);
    contexts->symbol_function[number] = function;
    contexts->told_symbols[number] = (struct analyses_symbol){{contexts->function_entries[function]}, kept};
    return C2_OK;
}

/* Of what is entered at `to`. */
static enum c2_status symbol_at(struct contexts *contexts, uint64_t to, uint32_t *out, struct c2_error *err)
{
    uint32_t words[WORDS], count = 1;
    char buffer[512] = "";
    struct c2_words text = {buffer, sizeof buffer, 0};
    enum c2_status status = contexts_function_of(contexts, to, &words[0], err);
    if (status == C2_OK && contexts->on->arguments.there && contexts->on->arguments.entry == to)
        status = add_arguments(contexts, words, &count, &text, err);
    const uint32_t before = contexts->symbol_numbers.count;
    if (status == C2_OK)
        status = contexts_number_of(&contexts->symbol_numbers, words, count, out, err);
    return status == C2_OK && *out == before ? add_symbol(contexts, words[0], buffer, err) : status;
}

static enum c2_status contexts_add_context(struct contexts *contexts, const uint32_t *words, struct c2_error *err)
{
    const uint32_t number = contexts->context_numbers.count - 1;
    const size_t bytes = contexts->width * sizeof(uint64_t);
    if (number == CONTEXTS)
        return c2_fail(err, C2_ERR_INVALID,
                       "%u contexts of functions and more: give --separate-par bounds, or less to --separate-callers "
                       "and --separate-recs",
                       CONTEXTS);
    if (!c2_grow((void **)&contexts->contexts, &contexts->context_room, number, sizeof *contexts->contexts) ||
        !c2_grow((void **)&contexts->inclusive, &contexts->inclusive_room, number, bytes))
        return contexts_no_memory(err);
    contexts->contexts[number] = (struct context){.symbol = words[0], .level = words[1]};
    memset(&contexts->inclusive[(size_t)number * contexts->width], 0, bytes);
    return C2_OK;
}

/* The words of a context: symbol, level, thread (0: not told apart), then callers. */
#define FIXED 3u

/* Of an entry that the symbol of has been counted. */
static enum c2_status contexts_context_of(struct contexts *contexts, const struct entry *entry, uint32_t *out,
                                          struct c2_error *err)
{
    const struct stack *on = contexts->on;
    const uint32_t here = on->symbols.list[entry->symbol], most = contexts->separation->recursions;
    uint32_t words[WORDS] = {entry->symbol, here < most ? here : most, contexts->separation->threads ? on->tid : 0};
    uint32_t count = FIXED;
    for (uint32_t at = entry->caller; at != NOBODY && count < FIXED + contexts->separation->callers;
         at = on->entries[at].caller)
        words[count++] = on->entries[at].symbol;
    const uint32_t before = contexts->context_numbers.count;
    enum c2_status status = contexts_number_of(&contexts->context_numbers, words, count, out, err);
    return status == C2_OK && *out == before ? contexts_add_context(contexts, words, err) : status;
}

/* ------------------------------------------------------------------ the stack */

static uint64_t *of_context(uint64_t *list, const struct contexts *contexts, uint32_t context)
{
    return &list[(size_t)context * contexts->width];
}

static uint32_t contexts_caller_of(const struct stack *on, uint32_t symbol)
{
    if (on->depth == 0)
        return NOBODY;
    const struct entry *below = &on->entries[on->depth - 1];
    return below->symbol == symbol ? below->caller : on->depth - 1;
}

static bool reach_tally(struct tally *tally, uint32_t number)
{
    const uint32_t before = tally->room;
    if (number < before)
        return true;
    if (!c2_reach((void **)&tally->list, &tally->room, number, sizeof *tally->list, C2_HOST_SIZE(64u, 1u)))
        return false;
    memset(tally->list + before, 0, (tally->room - before) * sizeof *tally->list);
    return true;
}

bool contexts_begun(const struct contexts *contexts) { return contexts->on->depth != 0; }

static enum c2_status push_entry(struct contexts *contexts, struct entry *entry, const uint64_t *now,
                                 struct c2_error *err)
{
    struct stack *on = contexts->on;
    const size_t bytes = contexts->width * sizeof *now;
    on->symbols.list[entry->symbol]++;
    enum c2_status status = contexts_context_of(contexts, entry, &entry->context, err);
    if (status != C2_OK)
        return status;
    if (!reach_tally(&on->contexts, entry->context) ||
        !c2_grow((void **)&on->starts, &on->start_room, on->depth, bytes))
        return contexts_no_memory(err);
    on->functions.list[contexts->symbol_function[entry->symbol]]++;
    entry->outermost = on->contexts.list[entry->context]++ == 0;
    memcpy(&on->starts[(size_t)on->depth * contexts->width], now, bytes);
    on->entries[on->depth++] = *entry;
    return C2_OK;
}

enum c2_status contexts_push(struct contexts *contexts, uint64_t to, const uint64_t *now, struct c2_error *err)
{
    struct stack *on = contexts->on;
    struct entry entry;
    enum c2_status status = symbol_at(contexts, to, &entry.symbol, err);
    if (status != C2_OK)
        return status;
    if (!c2_grow((void **)&on->entries, &on->entry_room, on->depth, sizeof *on->entries) ||
        !reach_tally(&on->symbols, entry.symbol) ||
        !reach_tally(&on->functions, contexts->symbol_function[entry.symbol]))
        return contexts_no_memory(err);
    entry.caller = contexts_caller_of(on, entry.symbol);
    return push_entry(contexts, &entry, now, err);
}

void contexts_pop(struct contexts *contexts, const uint64_t *now)
{
    struct stack *on = contexts->on;
    const struct entry *entry = &on->entries[--on->depth];
    on->symbols.list[entry->symbol]--;
    on->functions.list[contexts->symbol_function[entry->symbol]]--;
    on->contexts.list[entry->context]--;
    if (!entry->outermost)
        return;
    uint64_t *inclusive = of_context(contexts->inclusive, contexts, entry->context);
    const uint64_t *start = &on->starts[(size_t)on->depth * contexts->width];
    for (uint32_t i = 0; i < contexts->width; i++)
        inclusive[i] += now[i] - start[i];
}

enum c2_status contexts_become(struct contexts *contexts, uint64_t to, const uint64_t *now, struct c2_error *err)
{
    contexts_pop(contexts, now);
    return contexts_push(contexts, to, now, err);
}

uint32_t contexts_at(const struct contexts *contexts, size_t entry) { return contexts->on->entries[entry].context; }

/* ------------------------------------------------------------------ threads */

static enum c2_status contexts_add_stack(struct contexts *contexts, uint32_t tid, struct c2_error *err)
{
    struct stack *stack = c2_calloc(1, sizeof *stack);
    if (!stack ||
        !c2_grow((void **)&contexts->stacks, &contexts->stack_room, contexts->stack_count, sizeof *contexts->stacks)) {
        c2_free(stack);
        return contexts_no_memory(err);
    }
    stack->tid = tid;
    contexts->stacks[contexts->stack_count++] = stack;
    stack->left = c2_calloc(contexts->width, sizeof *stack->left);
    return stack->left ? C2_OK : contexts_no_memory(err);
}

/* What others have counted since it left off is not in its entries. */
static void contexts_go_on(struct contexts *contexts, struct stack *stack, const uint64_t *now)
{
    for (uint32_t i = 0; i < stack->depth; i++)
        for (uint32_t event = 0; event < contexts->width; event++)
            stack->starts[(size_t)i * contexts->width + event] += now[event] - stack->left[event];
    contexts->on = stack;
}

enum c2_status contexts_thread(struct contexts *contexts, uint32_t tid, const uint64_t *now, struct c2_error *err)
{
    uint32_t i = 0;
    memcpy(contexts->on->left, now, contexts->width * sizeof *now);
    while (i < contexts->stack_count && contexts->stacks[i]->tid != tid)
        i++;
    enum c2_status status = i == contexts->stack_count ? contexts_add_stack(contexts, tid, err) : C2_OK;
    if (status == C2_OK)
        contexts_go_on(contexts, contexts->stacks[i], now);
    return status;
}

enum c2_status contexts_arguments(struct contexts *contexts, uint32_t tid, const uint64_t *words, struct c2_error *err)
{
    struct stack *on = contexts->on;
    uint32_t i = 0;
    while (i < contexts->stack_count && contexts->stacks[i]->tid != tid)
        i++;
    enum c2_status status = i == contexts->stack_count ? contexts_add_stack(contexts, tid, err) : C2_OK;
    if (status != C2_OK)
        return status;
    contexts->on = contexts->stacks[i];
    status = contexts_take_arguments(contexts, words, err);
    contexts->on = on;
    return status;
}

/* ------------------------------------------------------------------ blocks */

static enum c2_status contexts_add_block(struct contexts *contexts, const struct stream_block *of, struct c2_error *err)
{
    struct block block = {.of = of, .first_code = contexts->code_count, .run = NOBODY};
    enum c2_status status = contexts_function_of(contexts, of->pc.v, &block.function, err);
    if (status != C2_OK)
        return status;
    if (!c2_grow((void **)&contexts->blocks, &contexts->block_room, contexts->block_count, sizeof block))
        return contexts_no_memory(err);
    contexts->blocks[contexts->block_count++] = block;
    contexts->code_count += of->insn_count;
    return C2_OK;
}

static enum c2_status find_block(struct contexts *contexts, const struct sim_executed *record, uint32_t *out,
                                 struct c2_error *err)
{
    for (; contexts->stream_count <= record->number; contexts->stream_count++) {
        if (!c2_grow((void **)&contexts->block_of, &contexts->stream_room, contexts->stream_count, sizeof *out))
            return contexts_no_memory(err);
        contexts->block_of[contexts->stream_count] = 0;
    }
    enum c2_status status = C2_OK;
    if (contexts->block_of[record->number] == 0) {
        status = contexts_add_block(contexts, record->block, err);
        contexts->block_of[record->number] = status == C2_OK ? contexts->block_count : 0;
    }
    *out = contexts->block_of[record->number] - 1;
    return status;
}

/* The newest entry of the block's function, if the newest of all is of another one that ended without a return. */
enum c2_status contexts_left(struct contexts *contexts, const struct sim_executed *record, size_t *out,
                             struct c2_error *err)
{
    uint32_t number;
    enum c2_status status = find_block(contexts, record, &number, err);
    const struct stack *on = contexts->on;
    *out = on->depth;
    if (status != C2_OK)
        return status;
    const uint32_t function = contexts->blocks[number].function;
    const bool here = function < on->functions.room && on->functions.list[function] != 0;
    if (!contexts->function_known[function] || !here || record->block->pc.v == contexts->function_entries[function])
        return C2_OK;
    while (contexts->symbol_function[on->entries[*out - 1].symbol] != function)
        --*out;
    return C2_OK;
}

static enum c2_status contexts_add_run(struct contexts *contexts, uint32_t block, uint32_t context,
                                       struct c2_error *err)
{
    const uint16_t insns = contexts->blocks[block].of->insn_count;
    if (contexts->cost_count + insns > contexts->cost_room) {
        const size_t room = contexts->cost_room + contexts->cost_room / 2 + insns + C2_HOST_SIZE(256u, 1u);
        uint64_t *costs = c2_realloc(contexts->costs, room * contexts->width * sizeof *costs);
        if (!costs)
            return contexts_no_memory(err);
        contexts->costs = costs;
        contexts->cost_room = room;
    }
    if (!c2_grow((void **)&contexts->runs, &contexts->run_room, contexts->run_count, sizeof *contexts->runs))
        return contexts_no_memory(err);
    contexts->runs[contexts->run_count++] = (struct run){block, context, 0, contexts->cost_count};
    memset(&contexts->costs[contexts->cost_count * contexts->width], 0,
           (size_t)insns * contexts->width * sizeof *contexts->costs);
    contexts->cost_count += insns;
    return C2_OK;
}

static enum c2_status find_run(struct contexts *contexts, uint32_t block, uint32_t context, struct c2_error *err)
{
    const uint64_t key = (uint64_t)context << 32 | block;
    uint64_t found;
    uint32_t *newest = &contexts->blocks[block].run;
    if (*newest != NOBODY && contexts->runs[*newest].context == context) {
        contexts->now = *newest;
        return C2_OK;
    }
    if (c2_map_get(contexts->run_of, key, &found)) {
        contexts->now = *newest = (uint32_t)found;
        return C2_OK;
    }
    contexts->now = *newest = contexts->run_count;
    enum c2_status status = contexts_add_run(contexts, block, context, err);
    return status == C2_OK ? c2_map_put(contexts->run_of, key, contexts->now, err) : status;
}

/* ------------------------------------------------------------------ costs */

static uint64_t *cost_at(const struct contexts *contexts, const struct run *run, uint32_t insn)
{
    return &contexts->costs[(run->first + insn) * contexts->width];
}

static void contexts_add_slot(uint64_t *cost, const struct stream_slot *slot, uint64_t times)
{
    cost[ANALYSES_DR] += stream_reads(slot) ? times : 0;
    cost[ANALYSES_DW] += stream_writes(slot) ? times : 0;
}

/* The first instructions of the block, so often. */
static void add_plain(struct contexts *contexts, const struct run *run, uint32_t insns, uint64_t times)
{
    const struct stream_block *block = contexts->blocks[run->block].of;
    uint32_t slot = 0;
    for (uint32_t i = 0; i < insns; i++) {
        uint64_t *cost = cost_at(contexts, run, i);
        cost[ANALYSES_IR] += block->insns[i].length != 0 ? times : 0;
        for (; slot < block->slot_count && block->slots[slot].insn == i; slot++)
            contexts_add_slot(cost, &block->slots[slot], times);
    }
}

static void add_string(struct contexts *contexts, const struct run *run, const struct sim_executed *record)
{
    const uint64_t done = stream_string_elements(record->words);
    const struct stream_slot *slots = record->block->slots;
    uint64_t *cost = cost_at(contexts, run, 0);
    cost[ANALYSES_IR] += record->insns_run;
    if (slots[0].size != 0)
        cost[ANALYSES_DR] += done;
    if (slots[1].size != 0)
        cost[slots[1].how ? ANALYSES_DW : ANALYSES_DR] += done;
}

enum c2_status contexts_record(struct contexts *contexts, const struct sim_executed *record, bool measured,
                               struct c2_error *err)
{
    uint32_t block;
    enum c2_status status = find_block(contexts, record, &block, err);
    if (status == C2_OK)
        status = find_run(contexts, block, contexts->on->entries[contexts->on->depth - 1].context, err);
    if (status != C2_OK || !measured)
        return status;
    struct run *run = &contexts->runs[contexts->now];
    if (stream_is_string(record->block))
        add_string(contexts, run, record);
    else if (record->insns_run == record->block->insn_count)
        run->whole++;
    else
        add_plain(contexts, run, record->insns_run, 1);
    return C2_OK;
}

uint64_t *contexts_cost(struct contexts *contexts, uint32_t code)
{
    const struct run *run = &contexts->runs[contexts->now];
    const struct block *block = &contexts->blocks[run->block];
    C2_ASSERT(code - block->first_code < block->of->insn_count);
    return cost_at(contexts, run, code - block->first_code);
}

void contexts_dropped(struct contexts *contexts, const uint64_t *now)
{
    const size_t bytes = contexts->width * sizeof *now;
    if (contexts->cost_count != 0)
        memset(contexts->costs, 0, contexts->cost_count * bytes);
    for (uint32_t i = 0; i < contexts->run_count; i++)
        contexts->runs[i].whole = 0;
    for (uint32_t i = 0; i < contexts->context_numbers.count; i++)
        memset(of_context(contexts->inclusive, contexts, i), 0, bytes);
    for (uint32_t n = 0; n < contexts->stack_count; n++) {
        struct stack *stack = contexts->stacks[n];
        for (uint32_t i = 0; i < stack->depth; i++)
            memcpy(&stack->starts[(size_t)i * contexts->width], now, bytes);
        memcpy(stack->left, now, bytes);
    }
    memcpy(contexts->dropped, now, bytes);
}

/* ------------------------------------------------------------------ the end */

static void contexts_add_cost(const struct contexts *contexts, uint64_t *to, const uint64_t *what)
{
    for (uint32_t i = 0; i < contexts->width; i++)
        to[i] += what[i];
}

static int by_context(const void *a, const void *b)
{
    const struct analyses_context_row *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->pc.v > y->pc.v) - (x->pc.v < y->pc.v);
}

static bool contexts_is_nothing(const struct contexts *contexts, const uint64_t *cost)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < contexts->width; i++)
        any |= cost[i];
    return any == 0;
}

/* One row for what several blocks have of one instruction. */
static void join_rows(struct contexts *contexts)
{
    struct analyses_context_row *rows = contexts->rows;
    size_t kept = 0;
    for (size_t i = 0; i < contexts->result.row_count; i++) {
        if (kept != 0 && by_context(&rows[kept - 1], &rows[i]) == 0)
            contexts_add_cost(contexts, contexts->costs + (rows[kept - 1].cost - contexts->costs), rows[i].cost);
        else
            rows[kept++] = rows[i];
    }
    contexts->result.row_count = kept;
}

static enum c2_status contexts_make_rows(struct contexts *contexts, struct c2_error *err)
{
    size_t count = 0;
    contexts->rows = c2_calloc(contexts->cost_count + 1, sizeof *contexts->rows);
    if (!contexts->rows)
        return contexts_no_memory(err);
    for (uint32_t i = 0; i < contexts->run_count; i++) {
        const struct run *run = &contexts->runs[i];
        const struct stream_block *block = contexts->blocks[run->block].of;
        if (!stream_is_string(block))
            add_plain(contexts, run, block->insn_count, run->whole);
        for (uint32_t insn = 0; insn < block->insn_count; insn++) {
            const struct guest_va pc = {block->pc.v + block->insns[insn].offset};
            const uint64_t *cost = cost_at(contexts, run, insn);
            if (!contexts_is_nothing(contexts, cost))
                contexts->rows[count++] = (struct analyses_context_row){pc, run->context, cost};
        }
    }
    qsort(contexts->rows, count, sizeof *contexts->rows, by_context);
    contexts->result.row_count = count;
    join_rows(contexts);
    return C2_OK;
}

/* Room for the costs of contexts and cycles, and of all: zeros. */
static enum c2_status make_sums(struct contexts *contexts, uint32_t cycles, struct c2_error *err)
{
    const size_t count = contexts->context_numbers.count + 2u * cycles + 1u;
    contexts->sums = c2_calloc(count, contexts->width * sizeof *contexts->sums);
    contexts->cycles = c2_calloc(cycles + 1u, sizeof *contexts->cycles);
    return contexts->sums && contexts->cycles ? C2_OK : contexts_no_memory(err);
}

static void sum_rows(struct contexts *contexts, const uint64_t *now)
{
    const uint32_t count = contexts->context_numbers.count;
    uint64_t *all = contexts->sums;
    for (size_t i = 0; i < contexts->result.row_count; i++) {
        const struct analyses_context_row *row = &contexts->rows[i];
        contexts_add_cost(contexts, all, row->cost);
        contexts_add_cost(contexts, of_context(contexts->sums, contexts, 1 + row->context), row->cost);
    }
    for (uint32_t i = 0; i < contexts->width; i++)
        C2_ASSERT(all[i] == now[i] - contexts->dropped[i]);
    for (uint32_t i = 0; i < count; i++)
        contexts->notified[i].self = of_context(contexts->sums, contexts, 1 + i);
}

static enum c2_status notify_contexts(struct contexts *contexts, struct c2_error *err)
{
    const struct numbers *numbers = &contexts->context_numbers;
    contexts->notified = c2_calloc(numbers->count + 1u, sizeof *contexts->notified);
    if (!contexts->notified)
        return contexts_no_memory(err);
    for (uint32_t i = 0; i < numbers->count; i++) {
        const uint32_t *words = numbers->words + words_begin(numbers, i);
        contexts->notified[i] = (struct analyses_context){.symbol = words[0],
                                                          .level = words[1],
                                                          .thread = words[2],
                                                          .callers = words + FIXED,
                                                          .caller_count = numbers->ends[i] - words_begin(numbers, i) -
                                                                          FIXED,
                                                          .inclusive = of_context(contexts->inclusive, contexts, i)};
    }
    return C2_OK;
}

static enum c2_status find_cycles(struct contexts *contexts, const struct analyses_callgraph_result *arcs,
                                  uint32_t *cycles, struct c2_error *err)
{
    const uint32_t count = contexts->context_numbers.count;
    struct contexts_edge *edges = c2_calloc(arcs->arc_count + 1, sizeof *edges);
    uint32_t *of = c2_calloc(count + 1u, sizeof *of);
    enum c2_status status = edges && of ? C2_OK : contexts_no_memory(err);
    for (size_t i = 0; i < arcs->arc_count && status == C2_OK; i++)
        edges[i] = (struct contexts_edge){arcs->arcs[i].from_context, arcs->arcs[i].to_context};
    if (status == C2_OK)
        status = contexts_cycles(of, cycles, count, edges, arcs->arc_count, err);
    for (uint32_t i = 0; i < count && status == C2_OK; i++)
        contexts->notified[i].cycle = of[i];
    c2_free(edges);
    c2_free(of);
    return status;
}

/* What calls say of contexts and cycles. */
static void add_arcs(struct contexts *contexts, const struct analyses_callgraph_result *arcs, uint64_t *inclusive)
{
    for (size_t i = 0; i < arcs->arc_count; i++) {
        const struct analyses_arc *arc = &arcs->arcs[i];
        struct analyses_context *to = &contexts->notified[arc->to_context];
        const uint32_t from_cycle = contexts->notified[arc->from_context].cycle;
        to->calls += arc->calls;
        if (to->cycle == from_cycle)
            continue;
        if (to->cycle != 0)
            contexts->cycles[to->cycle - 1].calls += arc->calls;
        if (from_cycle != 0)
            contexts_add_cost(contexts, of_context(inclusive, contexts, from_cycle - 1), arc->cost);
    }
}

static void sum_cycles(struct contexts *contexts, const struct analyses_callgraph_result *arcs, uint32_t cycles)
{
    const uint32_t count = contexts->context_numbers.count;
    uint64_t *self = of_context(contexts->sums, contexts, 1 + count);
    uint64_t *inclusive = of_context(self, contexts, cycles);
    for (uint32_t i = 0; i < count; i++) {
        const struct analyses_context *context = &contexts->notified[i];
        if (context->cycle == 0)
            continue;
        contexts->cycles[context->cycle - 1].contexts++;
        contexts_add_cost(contexts, of_context(self, contexts, context->cycle - 1), context->self);
        contexts_add_cost(contexts, of_context(inclusive, contexts, context->cycle - 1), context->self);
    }
    add_arcs(contexts, arcs, inclusive);
    for (uint32_t i = 0; i < cycles; i++) {
        contexts->cycles[i].self = of_context(self, contexts, i);
        contexts->cycles[i].inclusive = of_context(inclusive, contexts, i);
    }
}

enum c2_status contexts_finish(struct contexts *contexts, const struct analyses_callgraph_result *arcs,
                               const uint64_t *now, struct c2_error *err)
{
    uint32_t cycles = 0;
    enum c2_status status = contexts_make_rows(contexts, err);
    if (status == C2_OK)
        status = notify_contexts(contexts, err);
    if (status == C2_OK)
        status = find_cycles(contexts, arcs, &cycles, err);
    if (status == C2_OK)
        status = make_sums(contexts, cycles, err);
    if (status != C2_OK)
        return status;
    sum_rows(contexts, now);
    sum_cycles(contexts, arcs, cycles);
    contexts->result = (struct analyses_contexts){.separation = contexts->separation,
                                                  .symbols = contexts->told_symbols,
                                                  .symbol_count = contexts->symbol_numbers.count,
                                                  .contexts = contexts->notified,
                                                  .context_count = contexts->context_numbers.count,
                                                  .rows = contexts->rows,
                                                  .row_count = contexts->result.row_count,
                                                  .cycles = contexts->cycles,
                                                  .cycle_count = cycles};
    return C2_OK;
}

const struct analyses_contexts *contexts_result(const struct contexts *contexts) { return &contexts->result; }

/* ------------------------------------------------------------------ life */

enum c2_status contexts_create(struct contexts **out, const struct contexts_config *config, struct c2_error *err)
{
    struct contexts *contexts = *out = c2_calloc(1, sizeof *contexts);
    if (!contexts)
        return contexts_no_memory(err);
    C2_ASSERT(config->separation->callers + FIXED <= WORDS && config->separation->recursions >= 1);
    contexts->separation = config->separation;
    contexts->loader = config->symbols;
    contexts->width = config->width;
    contexts->functions = (struct contexts_functions){contexts, entry_by_symbols};
    contexts->dropped = c2_calloc(config->width, sizeof *contexts->dropped);
    struct c2_map **maps[] = {&contexts->function_of, &contexts->symbol_numbers.of, &contexts->context_numbers.of,
                              &contexts->run_of};
    enum c2_status status = contexts->dropped ? C2_OK : contexts_no_memory(err);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0] && status == C2_OK; i++)
        status = c2_map_create(maps[i], err);
    if (status == C2_OK)
        status = contexts_add_stack(contexts, FIRST_THREAD, err);
    if (status == C2_OK) {
        contexts->on = contexts->stacks[0];
    } else {
        contexts_destroy(contexts);
        *out = NULL;
    }
    return status;
}

static void release_stack(struct stack *stack)
{
    c2_free(stack->entries);
    c2_free(stack->starts);
    c2_free(stack->symbols.list);
    c2_free(stack->contexts.list);
    c2_free(stack->functions.list);
    c2_free(stack->left);
    c2_free(stack);
}

void contexts_destroy(struct contexts *contexts)
{
    if (!contexts)
        return;
    void *const arrays[] = {contexts->function_entries,
                            contexts->function_known,
                            contexts->symbol_function,
                            contexts->told_symbols,
                            contexts->contexts,
                            contexts->inclusive,
                            contexts->stacks,
                            contexts->blocks,
                            contexts->runs,
                            contexts->costs,
                            contexts->dropped,
                            contexts->sums,
                            contexts->notified,
                            contexts->rows,
                            contexts->cycles};
    for (uint32_t i = 0; i < contexts->stack_count; i++)
        release_stack(contexts->stacks[i]);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        c2_free(arrays[i]);
    c2_map_destroy(contexts->function_of);
    c2_free(contexts->block_of);
    c2_map_destroy(contexts->run_of);
    release_numbers(&contexts->symbol_numbers);
    release_numbers(&contexts->context_numbers);
    c2_pool_release(&contexts->pool);
    c2_free(contexts);
}

void contexts_functions(struct contexts *contexts, const struct contexts_functions *functions)
{
    contexts->functions = *functions;
}

static uint32_t contexts_sum_of(const struct tally *tally)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < tally->room; i++)
        sum += tally->list[i];
    return sum;
}

static void contexts_check_stack(const struct contexts *contexts, const struct stack *stack)
{
    C2_ASSERT(contexts_sum_of(&stack->symbols) == stack->depth && contexts_sum_of(&stack->contexts) == stack->depth);
    for (uint32_t i = 0; i < stack->depth; i++) {
        const struct entry *entry = &stack->entries[i];
        C2_ASSERT(entry->caller == NOBODY || entry->caller < i);
        C2_ASSERT(contexts->contexts[entry->context].symbol == entry->symbol);
    }
}

void contexts_check(const struct contexts *contexts)
{
    for (uint32_t i = 0; i < contexts->stack_count; i++)
        contexts_check_stack(contexts, contexts->stacks[i]);
}
