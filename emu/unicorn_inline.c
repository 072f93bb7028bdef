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
 *   Behind each access Unicorn asks whether it shall stop. Nobody stops it there, so that is left out.
 * Invariants
 *   A translation that is not refused writes each of its slots once, in the order of the program, before the access
 *   itself: a slot of an instruction that faulted holds an address, and the record ends before it.
 * Source
 *   Unicorn 2.0.1: operations, their numbers and how variables are named; tried when an engine is created
 *   (unicorn_state.c). Another version is not asked to.
 */
#include <string.h>

#include "emu/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

struct TCGContext;
struct TCGTemp;

/* Unicorn's names of variables are distances from its context. */
static struct TCGTemp *variable(struct TCGContext *context, uintptr_t name)
{
    return (struct TCGTemp *)((char *)context + name);
}

/* Of Unicorn 2.0.1. */
enum { TYPE_I64 = 1, OP_LD_I64 = 73, OP_ST_I64 = 77, MEMOP_SIZE = 3 };

typedef struct TCGTemp *new_variable_function(struct TCGContext *context, int type, bool local);
typedef uintptr_t constant_function(struct TCGContext *context, int64_t value);
typedef void op3_function(struct TCGContext *context, int op, uintptr_t a, uintptr_t b, uintptr_t c);

/* Those functions of Unicorn that the operations here are made with. NULL: this Unicorn has none. */
static struct {
    new_variable_function *new_variable;
    constant_function *constant;
    op3_function *op3;
} make;

bool unicorn_inline_possible(void)
{
    make.new_variable = (new_variable_function *)unicorn_find("tcg_temp_new_internal_x86_64");
    make.constant = (constant_function *)unicorn_find("tcg_const_i64_x86_64");
    make.op3 = (op3_function *)unicorn_find("tcg_gen_op3_x86_64");
    const unsigned version = uc_version(NULL, NULL);
    return SHORTCUT(version >> 8 == 0x020001 && make.new_variable && make.constant && make.op3);
}

/* ------------------------------------------------------------------ the translation that is made */

static struct {
    bool records, branched, wrong;
    const struct unicorn_event *next, *end;
    uint64_t *const *slots;
    struct TCGTemp *base;
} making;

void unicorn_inline_begin(const struct unicorn_event *events, unsigned count, uint64_t *const *slots)
{
    making.records = slots;
    making.branched = making.wrong = false;
    making.next = events;
    making.end = events + count;
    making.slots = slots;
    making.base = NULL;
}

bool unicorn_inline_end(unsigned *left)
{
    *left = (unsigned)(making.end - making.next);
    making.records = false;
    return !making.wrong;
}

static void load_base(struct TCGContext *context)
{
    uintptr_t place = make.constant(context, (int64_t)(uintptr_t)making.slots);
    making.base = make.new_variable(context, TYPE_I64, false);
    make.op3(context, OP_LD_I64, (uintptr_t)making.base, (uintptr_t)variable(context, place), 0);
}

static void note(struct TCGContext *context, struct TCGTemp *address, unsigned slot)
{
    if (!making.base)
        load_base(context);
    make.op3(context, OP_ST_I64, (uintptr_t)address, (uintptr_t)making.base, sizeof(uint64_t) * slot);
}

/* The next access of the plan is this one. */
static bool take_turn(struct TCGContext *context, struct TCGTemp *address)
{
    making.wrong = making.wrong || making.branched || making.next == making.end;
    if (making.wrong)
        return false;
    if (making.next->first)
        note(context, address, making.next->slot);
    return true;
}

static void expect(struct TCGContext *context, uintptr_t address, bool store, int how)
{
    if (!making.records || !take_turn(context, variable(context, address)))
        return;
    making.wrong = making.next->store != store || making.next->bytes != 1u << (how & MEMOP_SIZE);
    making.next++;
}

/* ------------------------------------------------------------------ loads and stores */

#define ACCESS(name, store) \
    EXPORT void name(struct TCGContext *context, uintptr_t value, uintptr_t address, uintptr_t index, int how); \
    EXPORT void name(struct TCGContext *context, uintptr_t value, uintptr_t address, uintptr_t index, int how) \
    { \
        static void *unicorns; \
        typedef void access_function(struct TCGContext *, uintptr_t, uintptr_t, uintptr_t, int); \
        expect(context, address, store, how); \
        ((access_function *)unicorn_original(&unicorns, #name))(context, value, address, index, how); \
    }

ACCESS(tcg_gen_qemu_ld_i32_x86_64, false)
ACCESS(tcg_gen_qemu_ld_i64_x86_64, false)
ACCESS(tcg_gen_qemu_st_i32_x86_64, true)
ACCESS(tcg_gen_qemu_st_i64_x86_64, true)

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
static void expect_slot(struct TCGContext *context, struct TCGTemp *address)
{
    if (!take_turn(context, address))
        return;
    const struct unicorn_event *first = making.next;
    making.wrong = !first->first;
    while (making.next != making.end && making.next->slot == first->slot)
        making.next++;
}

EXPORT void tcg_gen_callN_x86_64(struct TCGContext *context, void *function, struct TCGTemp *result, int count,
                                 struct TCGTemp **arguments);
EXPORT void tcg_gen_callN_x86_64(struct TCGContext *context, void *function, struct TCGTemp *result, int count,
                                 struct TCGTemp **arguments)
{
    static void *unicorns;
    typedef void call_function(struct TCGContext *, void *, struct TCGTemp *, int, struct TCGTemp **);
    if (making.records && accesses(function))
        expect_slot(context, arguments[ADDRESS]);
    ((call_function *)unicorn_original(&unicorns, "tcg_gen_callN_x86_64"))(context, function, result, count, arguments);
}

/* ------------------------------------------------------------------ branches and stops */

EXPORT void tcg_gen_brcond_i64_x86_64(struct TCGContext *context, int condition, uintptr_t a, uintptr_t b, void *label);
EXPORT void tcg_gen_brcond_i64_x86_64(struct TCGContext *context, int condition, uintptr_t a, uintptr_t b, void *label)
{
    static void *unicorns;
    typedef void branch_function(struct TCGContext *, int, uintptr_t, uintptr_t, void *);
    making.branched = true;
    ((branch_function *)unicorn_original(&unicorns, "tcg_gen_brcond_i64_x86_64"))(context, condition, a, b, label);
}

EXPORT void check_exit_request_x86_64(struct TCGContext *context);
EXPORT void check_exit_request_x86_64(struct TCGContext *context)
{
    static void *unicorns;
    if (!unicorn_translating())
        ((void (*)(struct TCGContext *))unicorn_original(&unicorns, "check_exit_request_x86_64"))(context);
}
