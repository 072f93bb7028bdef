/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn makes a translation by calling functions that append operations to it, one for each load and store of the
 *   guest, through its symbol table. Functions of the same name in the executable take their place: while a translation
 *   is made that records, each first appends an operation that stores the address where the record has its slot. Slots
 *   of a block are static, so that is one instruction of the host, `mov address, 8*slot(base)`; the base is loaded once
 *   in a translation. What Unicorn does in C (80-bit numbers, CMPXCHG8B) shows as a call of one of a few functions,
 *   with the address as an argument.
 *   Accesses are compared with the block's plan while they are translated, each in its turn: whether it loads or
 *   stores, and how many bytes. A translation whose accesses are not those of the plan, or come behind a branch within
 *   it, is refused, and the engine goes over to hooks (engine_unicorn.c).
 *   The call of the block hook, the first thing in a translation, is replaced by what the hook does most of the time: a
 *   few additions in struct unicorn_run_state, without a branch; one sign says whether any of them was not to be. Then
 *   the hook is called, which takes them back, and Unicorn asks whether it shall stop. What a translation must know of
 *   its block stands in its entry, which the hook fills in when it has found the block (unicorn_code_attach).
 *   What Unicorn does as two accesses takes effect as one: of a move of 16 bytes that may lie anywhere both halves are
 *   loaded before the register changes, and before a store across two pages, of 80 bits as well, the second one is
 *   looked at. So a fault leaves nothing half done.
 *   Behind each access Unicorn asks whether it shall stop. It is never stopped there, so that is left out.
 * Invariants
 *   A translation that is not refused writes each of its slots once, in the order of the program, before the access
 *   itself: a slot of an instruction that faulted holds an address, and the record ends before it.
 * Cost
 *   The look at the second page is a comparison and a branch, at most 1 ns a store of MOVUPS and kin: 3 % of what it
 *   takes to simulate a loop that does nothing but copy.
 * Source
 *   Unicorn 2.0.1: operations, their numbers and how variables are named; tried when an engine is created
 *   (unicorn_state.c). Another version is not asked to.
 */
#include <string.h>

#include "unicorn/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

struct TCGContext;
struct TCGTemp;

/* Unicorn's names of variables are distances from its context. */
static struct TCGTemp *inline_variable(struct TCGContext *context, uintptr_t name)
{
    return (struct TCGTemp *)((char *)context + name);
}

static uintptr_t inline_name_of(const struct TCGContext *context, const struct TCGTemp *of)
{
    return (uintptr_t)((const char *)of - (const char *)context);
}

/* Of Unicorn 2.0.1. */
enum { TYPE_I64 = 1, MEMOP_SIZE = 3, CONDITION_GE = 3, LABEL_SET = 1 };
enum { OP_SET_LABEL = 1, OP_LD_I64 = 73, OP_ST_I64 = 77, OP_ADD_I64 = 78, OP_SUB_I64 = 79 };
enum { OP_AND_I64 = 87, OP_OR_I64 = 88, CONDITION_BELOW = 4 };

typedef struct TCGTemp *new_variable_function(struct TCGContext *context, int type, bool local);
typedef uintptr_t constant_function(struct TCGContext *context, int64_t value);
typedef uintptr_t constant_i32_function(struct TCGContext *context, int32_t value);
typedef void *new_label_function(struct TCGContext *context);
typedef void op1_function(struct TCGContext *context, int op, uintptr_t a);
typedef void op3_function(struct TCGContext *context, int op, uintptr_t a, uintptr_t b, uintptr_t c);
typedef void branch_function(struct TCGContext *context, int condition, uintptr_t a, uintptr_t b, void *label);
typedef void release_function(struct TCGContext *context, struct TCGTemp *variable);
typedef void call_function(struct TCGContext *context, void *function, struct TCGTemp *result, int count,
                           struct TCGTemp **arguments);

/* Those functions of Unicorn that the operations here are made with. */
static struct {
    new_variable_function *new_variable;
    constant_function *constant;
    constant_i32_function *constant_i32;
    new_label_function *new_label;
    op1_function *op1;
    op3_function *op3;
    branch_function *branch;
    call_function *call;
    release_function *release;
    void *probe;
} make;

static bool usable; /* all of them are there, and of the version that is known */

bool unicorn_inline_possible(void)
{
    make.new_variable = (new_variable_function *)unicorn_find("tcg_temp_new_internal_x86_64");
    make.constant = (constant_function *)unicorn_find("tcg_const_i64_x86_64");
    make.constant_i32 = (constant_i32_function *)unicorn_find("tcg_const_i32_x86_64");
    make.new_label = (new_label_function *)unicorn_find("gen_new_label_x86_64");
    make.op1 = (op1_function *)unicorn_find("tcg_gen_op1_x86_64");
    make.op3 = (op3_function *)unicorn_find("tcg_gen_op3_x86_64");
    make.branch = (branch_function *)unicorn_find("tcg_gen_brcond_i64_x86_64");
    make.call = (call_function *)unicorn_find("tcg_gen_callN_x86_64");
    make.release = (release_function *)unicorn_find("tcg_temp_free_internal_x86_64");
    make.probe = (void *)helper_boundl_x86_64;
    usable = !unicorn_gate();
    return SHORTCUT(usable);
}

/* ------------------------------------------------------------------ operations */

typedef struct TCGTemp *variable_t;

static variable_t inline_constant(struct TCGContext *context, const void *value)
{
    return inline_variable(context, make.constant(context, (int64_t)(uintptr_t)value));
}

static variable_t inline_operate(struct TCGContext *context, int op, variable_t a, variable_t b)
{
    variable_t result = make.new_variable(context, TYPE_I64, false);
    make.op3(context, op, (uintptr_t)result, (uintptr_t)a, (uintptr_t)b);
    return result;
}

static variable_t inline_load(struct TCGContext *context, variable_t from, size_t offset)
{
    variable_t result = make.new_variable(context, TYPE_I64, false);
    make.op3(context, OP_LD_I64, (uintptr_t)result, (uintptr_t)from, offset);
    return result;
}

static void inline_store(struct TCGContext *context, variable_t value, variable_t to, size_t offset)
{
    make.op3(context, OP_ST_I64, (uintptr_t)value, (uintptr_t)to, offset);
}

/* ------------------------------------------------------------------ the translation that is made */

static struct {
    struct unicorn_run_mode way;
    struct unicorn_translation *entry;
    bool branched, wrong;
    void *begun; /* the label behind the call of the block hook, and what asks whether it has stopped the run */
    const struct unicorn_event *next, *end;
    variable_t base, upper;
} making;

void unicorn_inline_begin(const struct unicorn_run_mode *way, const struct unicorn_event *events, unsigned count,
                          struct unicorn_translation *entry)
{
    making.way = *way;
    making.entry = entry;
    making.branched = making.wrong = false;
    making.next = events;
    making.end = events + count;
    making.base = making.upper = NULL;
    making.begun = NULL;
}

bool unicorn_inline_end(unsigned *left)
{
    *left = (unsigned)(making.end - making.next);
    making.way.records = false;
    making.entry = NULL;
    return !making.wrong;
}

static void inline_note(struct TCGContext *context, variable_t address, unsigned slot)
{
    if (!making.base) {
        variable_t at = inline_constant(context, &making.way.run_state->base);
        making.base = inline_load(context, at, 0);
        make.release(context, at);
    }
    inline_store(context, address, making.base, sizeof(uint64_t) * (1 + slot));
}

/* The next access of the plan is this one. */
static bool inline_take_turn(struct TCGContext *context, variable_t address)
{
    making.wrong = making.wrong || making.branched || making.next == making.end;
    if (making.wrong)
        return false;
    if (making.next->first && making.way.records)
        inline_note(context, address, making.next->slot);
    return true;
}

/* Whether it is the first one of two halves. */
static bool inline_expect(struct TCGContext *context, uintptr_t address, bool store, int how)
{
    const bool known = making.way.records || (usable && unicorn_translating());
    if (!known || !inline_take_turn(context, inline_variable(context, address)))
        return false;
    const struct unicorn_event *event = making.next++;
    making.wrong = event->store != store || event->bytes != 1u << (how & MEMOP_SIZE);
    return event->halves && !making.wrong;
}

/* ------------------------------------------------------------------ two halves */

typedef void access_function(struct TCGContext *, uintptr_t, uintptr_t, uintptr_t, int);

#define WIDE_BYTES 16u
#define X80_BYTES 10u

struct access {
    uintptr_t value, address, index;
    int how;
};

static void inline_set(struct TCGContext *context, variable_t to, variable_t from)
{
    make.op3(context, OP_OR_I64, (uintptr_t)to, (uintptr_t)from, (uintptr_t)from);
}

/* The operation with a number. */
static variable_t operate_with(struct TCGContext *context, int op, variable_t a, int64_t number)
{
    variable_t b = inline_variable(context, make.constant(context, number)), result = inline_operate(context, op, a, b);
    make.release(context, b);
    return result;
}

/* These three append the access; halves: it is the first one of two. */
static void as_it_is(struct TCGContext *context, access_function *original, const struct access *access, bool halves)
{
    (void)halves;
    original(context, access->value, access->address, access->index, access->how);
}

static void inline_give_back(struct TCGContext *context, variable_t to, variable_t kept)
{
    inline_set(context, to, kept);
    make.release(context, kept);
}

/* The upper half is loaded before the lower one goes where it belongs. */
static void load_halves(struct TCGContext *context, access_function *original, const struct access *access, bool halves)
{
    variable_t upper = making.upper;
    making.upper = NULL;
    if (upper && !making.wrong)
        inline_give_back(context, inline_variable(context, access->value), upper);
    else
        as_it_is(context, original, access, halves);
    if (!halves)
        return;
    variable_t address = operate_with(context, OP_ADD_I64, inline_variable(context, access->address), 8);
    making.upper = make.new_variable(context, TYPE_I64, false);
    original(context, inline_name_of(context, making.upper), inline_name_of(context, address), access->index,
             access->how);
    make.release(context, address);
}

static variable_t inline_keep(struct TCGContext *context, variable_t what)
{
    variable_t kept = make.new_variable(context, TYPE_I64, true);
    inline_set(context, kept, what);
    return kept;
}

static void call_probe(struct TCGContext *context, variable_t address, unsigned bytes)
{
    variable_t env = inline_constant(context, NULL),
               number = inline_variable(context, make.constant_i32(context, (int32_t)bytes));
    make.call(context, make.probe, NULL, 3, (variable_t[]){env, address, number});
    make.release(context, env);
    make.release(context, number);
}

/* Before the lower half is stored: where the halves lie on two pages, the second one is looked at. Behind a branch only
 * local variables have their values. */
static void look_ahead(struct TCGContext *context, variable_t value, variable_t address)
{
    variable_t kept_value = inline_keep(context, value), kept_address = inline_keep(context, address);
    variable_t offset = operate_with(context, OP_AND_I64, address, C2_PAGE_BYTES - 1);
    variable_t limit = inline_variable(context, make.constant(context, C2_PAGE_BYTES - WIDE_BYTES + 1));
    uint8_t *label = make.new_label(context);
    make.branch(context, CONDITION_BELOW, inline_name_of(context, offset), inline_name_of(context, limit), label);
    call_probe(context, kept_address, WIDE_BYTES);
    *label |= LABEL_SET;
    make.op1(context, OP_SET_LABEL, (uintptr_t)label);
    make.release(context, offset);
    make.release(context, limit);
    if (making.base)
        make.release(context, making.base);
    making.base = NULL;
    inline_give_back(context, value, kept_value);
    inline_give_back(context, address, kept_address);
}

static void store_halves(struct TCGContext *context, access_function *original, const struct access *access,
                         bool halves)
{
    if (halves)
        look_ahead(context, inline_variable(context, access->value), inline_variable(context, access->address));
    as_it_is(context, original, access, halves);
}

/* ------------------------------------------------------------------ the beginning
 * As long as there is no branch everything is done at once, and taken back by the block hook if it was not due. */

#define PACE(field) offsetof(struct unicorn_run_state, field)
#define ENTRY(field) offsetof(struct unicorn_translation, field)

/* Counts the block's instructions; returns how many are left up to the next pause. */
static variable_t inline_count(struct TCGContext *context, variable_t run_state, variable_t entry)
{
    variable_t insns = inline_load(context, entry, ENTRY(insns));
    variable_t sum = inline_operate(context, OP_ADD_I64, inline_load(context, run_state, PACE(instructions)), insns);
    inline_store(context, sum, run_state, PACE(instructions));
    return inline_operate(context, OP_SUB_I64, inline_load(context, run_state, PACE(pause_at)), sum);
}

static void make_current(struct TCGContext *context, variable_t run_state, variable_t entry)
{
    inline_store(context, inline_load(context, run_state, PACE(current)), run_state, PACE(before));
    inline_store(context, inline_load(context, entry, ENTRY(block)), run_state, PACE(current));
}

/* Opens the record behind that of the block before; returns how much room is left behind it. */
static variable_t open(struct TCGContext *context, variable_t run_state, variable_t entry)
{
    variable_t header = inline_load(context, run_state, PACE(next));
    variable_t next = inline_operate(context, OP_ADD_I64, header, inline_load(context, entry, ENTRY(bytes)));
    inline_store(context, header, run_state, PACE(base));
    inline_store(context, next, run_state, PACE(next));
    inline_store(context, inline_load(context, entry, ENTRY(header)), header, 0);
    return inline_operate(context, OP_SUB_I64, inline_load(context, run_state, PACE(limit)), next);
}

static void call_hook(struct TCGContext *context)
{
    variable_t arguments[4] = {inline_constant(context, NULL), inline_constant(context, making.entry),
                               inline_variable(context, make.constant_i32(context, 0)),
                               inline_constant(context, making.way.self)};
    make.call(context, making.way.hook, NULL, 4, arguments);
}

static void inline_begin(struct TCGContext *context)
{
    variable_t run_state = inline_constant(context, making.way.run_state),
               entry = inline_constant(context, making.entry);
    variable_t sign = inline_count(context, run_state, entry);
    make_current(context, run_state, entry);
    if (making.way.records)
        sign = inline_operate(context, OP_OR_I64, sign, open(context, run_state, entry));
    making.begun = make.new_label(context);
    make.branch(context, CONDITION_GE, inline_name_of(context, sign), make.constant(context, 0), making.begun);
    call_hook(context);
}

/* Behind the hook Unicorn asks whether it shall stop: only the hook says so. */
static void after_stop(struct TCGContext *context)
{
    uint8_t *label = making.begun;
    making.begun = NULL;
    if (!label)
        return;
    *label |= LABEL_SET;
    make.op1(context, OP_SET_LABEL, (uintptr_t)label);
}

/* ------------------------------------------------------------------ loads and stores */

#define ACCESS(name, store, halves) \
    EXPORT void name(struct TCGContext *context, uintptr_t value, uintptr_t address, uintptr_t index, int how); \
    EXPORT void name(struct TCGContext *context, uintptr_t value, uintptr_t address, uintptr_t index, int how) \
    { \
        static void *unicorns; \
        access_function *original = (access_function *)unicorn_original(&unicorns, #name); \
        const struct access access = {value, address, index, how}; \
        halves(context, original, &access, inline_expect(context, address, store, how)); \
    }

ACCESS(tcg_gen_qemu_ld_i32_x86_64, false, as_it_is)
ACCESS(tcg_gen_qemu_ld_i64_x86_64, false, load_halves)
ACCESS(tcg_gen_qemu_st_i32_x86_64, true, as_it_is)
ACCESS(tcg_gen_qemu_st_i64_x86_64, true, store_halves)

/* ------------------------------------------------------------------ instructions that Unicorn does in C */

enum { HELPERS = 8, ADDRESS = 1 /* among their arguments, behind the registers */ };
static const char *const helper_names[HELPERS] = {
    "helper_fldt_ST0_x86_64",   "helper_fstt_ST0_x86_64",
    "helper_fbld_ST0_x86_64",   "helper_fbst_ST0_x86_64",
    "helper_cmpxchg8b_x86_64",  "helper_cmpxchg8b_unlocked_x86_64",
    "helper_cmpxchg16b_x86_64", "helper_cmpxchg16b_unlocked_x86_64",
};

static bool accesses(const void *function)
{
    static void *helpers[HELPERS];
    for (size_t i = 0; i < HELPERS; i++)
        if (unicorn_original(&helpers[i], helper_names[i]) == function)
            return true;
    return false;
}

/* All accesses of one slot. */
static void expect_slot(struct TCGContext *context, variable_t address)
{
    if (!inline_take_turn(context, address))
        return;
    const struct unicorn_event *first = making.next;
    making.wrong = !first->first;
    while (making.next != making.end && making.next->slot == first->slot)
        making.next++;
}

/* ------------------------------------------------------------------ calls, branches and stops */

EXPORT call_function tcg_gen_callN_x86_64;
EXPORT void tcg_gen_callN_x86_64(struct TCGContext *context, void *function, struct TCGTemp *result, int count,
                                 struct TCGTemp **arguments)
{
    static void *unicorns, *stores_x80;
    if (making.entry && function == making.way.hook) {
        inline_begin(context);
        return;
    }
    if (making.way.records && accesses(function))
        expect_slot(context, arguments[ADDRESS]);
    if (usable && unicorn_translating() && function == unicorn_original(&stores_x80, "helper_fstt_ST0_x86_64"))
        call_probe(context, arguments[ADDRESS], X80_BYTES);
    ((call_function *)unicorn_original(&unicorns, "tcg_gen_callN_x86_64"))(context, function, result, count, arguments);
}

EXPORT branch_function tcg_gen_brcond_i64_x86_64;
EXPORT void tcg_gen_brcond_i64_x86_64(struct TCGContext *context, int condition, uintptr_t a, uintptr_t b, void *label)
{
    static void *unicorns;
    making.branched = true;
    ((branch_function *)unicorn_original(&unicorns, "tcg_gen_brcond_i64_x86_64"))(context, condition, a, b, label);
}

typedef void branch_i32_function(struct TCGContext *context, int condition, uintptr_t a, int32_t b, void *label);
EXPORT branch_i32_function tcg_gen_brcondi_i32_x86_64;
EXPORT void tcg_gen_brcondi_i32_x86_64(struct TCGContext *context, int condition, uintptr_t a, int32_t b, void *label)
{
    static void *unicorns;
    ((branch_i32_function *)unicorn_original(&unicorns, "tcg_gen_brcondi_i32_x86_64"))(context, condition, a, b, label);
    after_stop(context);
}

EXPORT void check_exit_request_x86_64(struct TCGContext *context);
EXPORT void check_exit_request_x86_64(struct TCGContext *context)
{
    static void *unicorns;
    if (!unicorn_translating())
        ((void (*)(struct TCGContext *))unicorn_original(&unicorns, "check_exit_request_x86_64"))(context);
}
