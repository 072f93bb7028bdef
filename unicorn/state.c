/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Registers go through Unicorn's register calls. Three pieces of state have no name there and are reached in the
 *   saved context (uc_context), at offsets found by experiment when the engine is created:
 *     - the last exception: Unicorn sets it and never clears it, so that a second page fault would arrive as a double
 *       fault and a third would end the run silently;
 *     - the SSE unit's exception flags, which MXCSR does not show;
 *     - its flush-to-zero switch, which a write of MXCSR sets in the x87 unit instead;
 *     - flags that tell translations of the same code apart. One of them, which only IN and OUT heed, and one of the
 *       bounds registers make room for three sets: translations that record, with hooks for loads and stores, and with
 *       neither. Another one, that of virtual machines, which only their instructions heed, doubles them: translations
 *       of single instructions.
 * Invariants
 *   Every offset is the only byte of the context that behaves as the state must; otherwise the engine is refused.
 * Not modelled
 *   The x87 unit's flags of denormal operands and stack faults, and C1 of what was rounded.
 */
#include <string.h>

#include "unicorn/float_priv.h"
#include "unicorn/unicorn_priv.h"

const int unicorn_gprs[16] = {
    UC_X86_REG_RAX, UC_X86_REG_RCX, UC_X86_REG_RDX, UC_X86_REG_RBX, UC_X86_REG_RSP, UC_X86_REG_RBP,
    UC_X86_REG_RSI, UC_X86_REG_RDI, UC_X86_REG_R8,  UC_X86_REG_R9,  UC_X86_REG_R10, UC_X86_REG_R11,
    UC_X86_REG_R12, UC_X86_REG_R13, UC_X86_REG_R14, UC_X86_REG_R15,
};

uint64_t unicorn_get(struct unicorn_state *state, int reg)
{
    uint64_t value = 0;
    uc_reg_read(state->uc, reg, &value);
    return value;
}

void unicorn_set(struct unicorn_state *state, int reg, uint64_t value) { uc_reg_write(state->uc, reg, &value); }

static uint8_t *hidden(struct unicorn_state *state)
{
    uc_context_save(state->uc, state->scratch);
    return (uint8_t *)state->scratch;
}

/* ------------------------------------------------------------------ finding the hidden state */

/* An engine of its own with a page of code and one of data at the same offsets: nothing of the guest is touched. */
struct probe {
    uc_engine *uc;
    uc_context *context[3];
    size_t bytes;   /* of a context */
    int interrupt;  /* last exception seen */
    uint32_t block; /* bytes of the first block of a run */
    unsigned accesses;
};
enum { PROBE_CODE = 0x1000, PROBE_DATA = 0x2000 };

static void on_probe_interrupt(uc_engine *uc, uint32_t number, void *self)
{
    ((struct probe *)self)->interrupt = (int)number;
    uc_emu_stop(uc);
}

static void on_probe_block(uc_engine *uc, uint64_t pc, uint32_t size, void *self)
{
    struct probe *probe = self;
    (void)uc, (void)pc;
    if (probe->block == 0)
        probe->block = size;
}

static void on_probe_access(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value, void *self)
{
    (void)uc, (void)type, (void)address, (void)size, (void)value;
    ((struct probe *)self)->accesses++;
}

/* Fresh x87 and SSE state as Linux gives it to a program; XMM registers and the x87 stack work. */
static void enable_fpu(uc_engine *uc)
{
    uint64_t cr4 = 0;
    uint32_t mxcsr = 0x1f80;
    uint16_t fpcw = 0x37f, fptag = 0xffff;
    uc_reg_read(uc, UC_X86_REG_CR4, &cr4);
    cr4 |= 1u << 9 | 1u << 10; /* OSFXSR, OSXMMEXCPT */
    uc_reg_write(uc, UC_X86_REG_CR4, &cr4);
    uc_reg_write(uc, UC_X86_REG_MXCSR, &mxcsr);
    uc_reg_write(uc, UC_X86_REG_FPCW, &fpcw);
    uc_reg_write(uc, UC_X86_REG_FPTAG, &fptag);
}

static bool probe_open(struct probe *probe)
{
    uc_hook hook;
    if (uc_open(UC_ARCH_X86, UC_MODE_64, &probe->uc) != UC_ERR_OK)
        return false;
    bool good = uc_mem_map(probe->uc, PROBE_CODE, 0x2000, UC_PROT_ALL) == UC_ERR_OK &&
                uc_hook_add(probe->uc, &hook, UC_HOOK_INTR, (void *)on_probe_interrupt, probe, 1, 0) == UC_ERR_OK &&
                uc_hook_add(probe->uc, &hook, UC_HOOK_BLOCK, (void *)on_probe_block, probe, 1, 0) == UC_ERR_OK;
    for (int i = 0; i < 3; i++)
        good = good && uc_context_alloc(probe->uc, &probe->context[i]) == UC_ERR_OK;
    if (good) {
        probe->bytes = uc_context_size(probe->uc);
        enable_fpu(probe->uc);
    }
    return good;
}

static void probe_close(struct probe *probe)
{
    for (int i = 0; i < 3; i++)
        if (probe->context[i])
            uc_context_free(probe->context[i]);
    if (probe->uc)
        uc_close(probe->uc);
}

/* Runs the code (its last instruction included) and keeps the state after it as context `into`. */
static void probe_run(struct probe *probe, const void *code, size_t bytes, int into)
{
    static const uint8_t zero[64];
    uc_ctl_remove_cache(probe->uc, PROBE_CODE, PROBE_CODE + sizeof zero);
    uc_mem_write(probe->uc, PROBE_CODE, zero, sizeof zero);
    uc_mem_write(probe->uc, PROBE_CODE, code, bytes);
    probe->interrupt = -1;
    uc_emu_start(probe->uc, PROBE_CODE, PROBE_CODE + bytes, 0, 0);
    uc_context_save(probe->uc, probe->context[into]);
}

static const uint8_t *image(const struct probe *probe, int i) { return (const uint8_t *)probe->context[i]; }

/* The only offset at which contexts 0, 1 and 2 hold a, b and c; 0 if there is none or more than one. */
static size_t only_byte(const struct probe *probe, size_t from, size_t to, uint8_t a, uint8_t b, uint8_t c)
{
    size_t found = 0, count = 0;
    for (size_t i = from; i < to && i < probe->bytes; i++)
        if (image(probe, 0)[i] == a && image(probe, 1)[i] == b && image(probe, 2)[i] == c) {
            found = i;
            count++;
        }
    return count == 1 ? found : 0;
}

/* old_exception: -1, then 0 after a division by zero; put back, the next one is a division by zero again. */
static size_t find_old_exception(struct probe *probe)
{
    static const uint8_t divide[] = {0x31, 0xc9, 0xf7, 0xf1}; /* xor ecx,ecx; div ecx */
    size_t found = 0, count = 0;
    uc_context_save(probe->uc, probe->context[0]);
    probe_run(probe, divide, sizeof divide, 1);
    for (size_t i = 0; i + 4 <= probe->bytes; i += 4) {
        int32_t before, after;
        memcpy(&before, image(probe, 0) + i, 4);
        memcpy(&after, image(probe, 1) + i, 4);
        if (before == -1 && after == 0) {
            found = i;
            count++;
        }
    }
    if (count != 1)
        return 0;
    for (int round = 0; round < 3; round++) {
        memset((uint8_t *)probe->context[1] + found, 0xff, 4);
        uc_context_restore(probe->uc, probe->context[1]);
        probe_run(probe, divide, sizeof divide, 1);
        if (probe->interrupt != 0)
            return 0;
    }
    memset((uint8_t *)probe->context[1] + found, 0xff, 4);
    uc_context_restore(probe->uc, probe->context[1]);
    return found;
}

/* softfloat's flags: 0, then inexact (0x20) after 1/3, then division by zero (0x04) as well after 1/0. */
static size_t find_sse_flags(struct probe *probe)
{
    static const float operands[] = {1.0f, 3.0f, 0.0f, 0.0f};
    static const uint8_t third[] = {0xf3, 0x0f, 0x10, 0x04, 0x25, 0x00, 0x20, 0, 0,  /* movss 0x2000,%xmm0 */
                                    0xf3, 0x0f, 0x5e, 0x04, 0x25, 0x04, 0x20, 0, 0}; /* divss 0x2004,%xmm0 */
    static const uint8_t zero[] = {0xf3, 0x0f, 0x10, 0x04, 0x25, 0x00, 0x20, 0, 0,
                                   0xf3, 0x0f, 0x5e, 0x04, 0x25, 0x08, 0x20, 0, 0};
    uc_mem_write(probe->uc, PROBE_DATA, operands, sizeof operands);
    uc_context_save(probe->uc, probe->context[0]);
    probe_run(probe, third, sizeof third, 1);
    probe_run(probe, zero, sizeof zero, 2);
    return only_byte(probe, 0, probe->bytes, 0, 0x20, 0x24);
}

static size_t find_x87_flags(struct probe *probe)
{
    static const int operands[] = {3, 0};
    static const uint8_t third[] = {0xd9, 0xe8, 0xda, 0x34, 0x25, 0x00, 0x20, 0, 0}; /* fld1; fidivl 0x2000 */
    static const uint8_t zero[] = {0xd9, 0xe8, 0xda, 0x34, 0x25, 0x04, 0x20, 0, 0};
    uc_mem_write(probe->uc, PROBE_DATA, operands, sizeof operands);
    uc_context_save(probe->uc, probe->context[0]);
    probe_run(probe, third, sizeof third, 1);
    probe_run(probe, zero, sizeof zero, 2);
    return only_byte(probe, 0, probe->bytes, 0, 0x20, 0x24);
}

/* The x87 unit's flush-to-zero, near its flags, goes 0 1 0 with MXCSR.FTZ. */
static size_t find_x87_ftz(struct probe *probe, size_t x87_flags)
{
    static const uint32_t mxcsr[] = {0x1f80, 0x9f80, 0x1f80};
    for (int i = 0; i < 3; i++) {
        uc_reg_write(probe->uc, UC_X86_REG_MXCSR, &mxcsr[i]);
        uc_context_save(probe->uc, probe->context[i]);
    }
    return only_byte(probe, x87_flags, x87_flags + 8, 0, 1, 0);
}

/* With the switch set, the product of two small numbers is zero; without it, a denormal. */
static bool ftz_works(struct probe *probe, size_t sse_ftz)
{
    static const float small[] = {1e-30f, 1e-10f};
    static const uint8_t multiply[] = {0xf3, 0x0f, 0x10, 0x04, 0x25, 0x00, 0x20, 0, 0,
                                       0xf3, 0x0f, 0x59, 0x04, 0x25, 0x04, 0x20, 0, 0};
    float result[2] = {0, 0};
    uc_mem_write(probe->uc, PROBE_DATA, small, sizeof small);
    for (int on = 0; on < 2; on++) {
        uint8_t xmm[16];
        uc_context_save(probe->uc, probe->context[0]);
        ((uint8_t *)probe->context[0])[sse_ftz] = (uint8_t)on;
        uc_context_restore(probe->uc, probe->context[0]);
        probe_run(probe, multiply, sizeof multiply, 1);
        uc_reg_read(probe->uc, UC_X86_REG_XMM0, xmm);
        memcpy(&result[on], xmm, sizeof(float));
    }
    return result[0] > 0 && result[1] == 0;
}

/* ------------------------------------------------------------------ flags of translations */

enum { FLAG_SINGLE = 1u << 20, FLAG_TASK_SWITCHED = 1u << 11, FLAG_PLAIN = 1u << 24, FLAG_HOOKED = 1u << 26 };

/* One of the flags follows CR0.TS. */
static size_t state_find_flags(struct probe *probe)
{
    static const uint8_t change_ts[] = {0x0f, 0x20, 0xc0, 0x48, 0x83, 0xf0, 0x08, /* mov %cr0,%rax; xor $8,%rax */
                                        0x0f, 0x22, 0xc0};                        /* mov %rax,%cr0 */
    size_t found = 0, count = 0;
    for (int i = 0; i < 2; i++)
        probe_run(probe, change_ts, sizeof change_ts, i);
    for (size_t i = 0; i + 4 <= probe->bytes; i += 4) {
        uint32_t set, clear;
        memcpy(&set, image(probe, 0) + i, 4);
        memcpy(&clear, image(probe, 1) + i, 4);
        if ((set ^ clear) == FLAG_TASK_SWITCHED) {
            found = i;
            count++;
        }
    }
    return count == 1 ? found : 0;
}

static void state_put_flags(const struct unicorn_state *state, uc_context *context, enum unicorn_set set, bool single)
{
    static const uint32_t of_set[] = {
        [UNICORN_PLAIN] = FLAG_PLAIN, [UNICORN_HOOKED] = FLAG_HOOKED, [UNICORN_INLINE] = 0};
    uint32_t flags;
    uint8_t *at = (uint8_t *)context + state->layout.flags;
    memcpy(&flags, at, sizeof flags);
    flags = (flags & ~(uint32_t)(FLAG_PLAIN | FLAG_HOOKED | FLAG_SINGLE)) | of_set[set] | (single ? FLAG_SINGLE : 0);
    memcpy(at, &flags, sizeof flags);
}

/* Bytes of the first block of two instructions that is executed, each one byte long. */
static uint32_t first_block(struct probe *probe)
{
    static const uint8_t nops[] = {0x90, 0x90};
    probe->block = 0;
    probe_run(probe, nops, sizeof nops, 1);
    return probe->block;
}

static bool limit_works(struct probe *probe)
{
    unicorn_translate_most(1);
    uint32_t limited = first_block(probe);
    unicorn_translate_most(0);
    return limited == 1 && first_block(probe) == 2;
}

/* Of two instructions that lie there already. */
static uint32_t block_of_set(struct probe *probe, struct unicorn_state *state, bool single)
{
    unicorn_use_translations(state, UNICORN_HOOKED, single);
    unicorn_translate_most(single ? 1 : 0);
    probe->block = 0;
    uc_emu_start(probe->uc, PROBE_CODE, PROBE_CODE + 2, 0, 0);
    unicorn_translate_most(0);
    return probe->block;
}

/* Single instructions and whole blocks are kept beside each other. */
static bool singles_work(struct probe *probe, struct unicorn_state *state)
{
    const bool good = first_block(probe) == 2 && block_of_set(probe, state, true) == 1 &&
                      block_of_set(probe, state, false) == 2 && block_of_set(probe, state, true) == 1;
    unicorn_use_translations(state, UNICORN_HOOKED, false);
    return good;
}

/* Up to a breakpoint: an address to stop at would drop translations. */
static unsigned accesses_of_load(struct probe *probe, struct unicorn_state *state, enum unicorn_set set)
{
    unicorn_use_translations(state, set, false);
    probe->accesses = 0;
    uc_emu_start(probe->uc, PROBE_CODE, 0, 0, 0);
    return probe->accesses;
}

/* A load that was translated without a hook stays so when there is one for it, and one with the hook keeps it. */
static bool sets_work(struct probe *probe, struct unicorn_state *state)
{
    static const uint8_t load[] = {0x48, 0x8b, 0x04, 0x25, 0x00, 0x20, 0, 0, 0xcc}; /* mov 0x2000,%rax; int3 */
    uc_hook hook;
    uc_ctl_remove_cache(probe->uc, PROBE_CODE, PROBE_CODE + sizeof load);
    uc_mem_write(probe->uc, PROBE_CODE, load, sizeof load);
    accesses_of_load(probe, state, UNICORN_PLAIN);
    accesses_of_load(probe, state, UNICORN_INLINE);
    if (uc_hook_add(probe->uc, &hook, UC_HOOK_MEM_READ, (void *)on_probe_access, probe, 1, 0) != UC_ERR_OK)
        return false;
    return accesses_of_load(probe, state, UNICORN_HOOKED) == 1 && accesses_of_load(probe, state, UNICORN_PLAIN) == 0 &&
           accesses_of_load(probe, state, UNICORN_INLINE) == 0 && accesses_of_load(probe, state, UNICORN_HOOKED) == 1;
}

/* What loads and stores of the probe's data record; Unicorn's registers are all 0 but RBX. */
static bool inline_works(struct probe *probe)
{
    static const uint8_t code[] = {0x48, 0x8b, 0x1b,       /* mov (%rbx),%rbx */
                                   0x0f, 0x10, 0x43, 0x10, /* movups 16(%rbx),%xmm0 */
                                   0xdb, 0x6b, 0x21,       /* fldt 33(%rbx) */
                                   0x88, 0x43, 0x31};      /* mov %al,49(%rbx) */
    static const struct unicorn_event events[] = {
        {.slot = 3, .bytes = 8, .first = true},
        {.slot = 1, .bytes = 8, .first = true, .halves = true},
        {.slot = 1, .bytes = 8},
        {.slot = 2, .bytes = 8, .first = true},
        {.slot = 2, .bytes = 2},
        {.slot = 0, .bytes = 1, .store = true, .first = true},
    };
    const uint64_t data = PROBE_DATA;
    uint64_t record[5] = {0}, *slots = record + 1;
    struct unicorn_run_state run_state = {.base = record};
    const struct unicorn_run_mode way = {.records = true, .run_state = &run_state};
    unsigned left;
    if (!unicorn_inline_possible())
        return false;
    uc_mem_write(probe->uc, PROBE_DATA, &data, sizeof data);
    uc_reg_write(probe->uc, UC_X86_REG_RBX, &data);
    unicorn_inline_begin(&way, events, sizeof events / sizeof *events, NULL);
    probe_run(probe, code, sizeof code, 1);
    const bool good = unicorn_inline_end(&left) && left == 0;
    return good && slots[0] == data + 49 && slots[1] == data + 16 && slots[2] == data + 33 && slots[3] == data;
}

static const char *find_translations(struct unicorn_layout *out, struct probe *probe)
{
    if (!(out->flags = state_find_flags(probe)))
        return "the flags of translations are not where they can be set";
    struct unicorn_state state = {.uc = probe->uc, .scratch = probe->context[2], .layout = *out};
    if (!limit_works(probe))
        return "translations cannot be limited";
    if (!singles_work(probe, &state))
        return "translations of single instructions cannot be told apart";
    if (!sets_work(probe, &state))
        return "translations cannot be told apart";
    out->inlines = inline_works(probe);
    return NULL;
}

/* The top of the x87 stack, and 8 bytes behind it a byte for each register: 1 if it is empty. */
static size_t find_x87_top(struct probe *probe)
{
    enum { TAGS_BEHIND = 8 };
    static const struct {
        uint16_t status, tags;
        uint8_t top, empty[8];
    } tried[] = {{5 << 11, 0x3333, 5, {1, 0, 1, 0, 1, 0, 1, 0}}, {2 << 11, 0xf00c, 2, {0, 1, 0, 0, 0, 0, 1, 1}}};
    size_t found = 0, count = 0;
    for (int i = 0; i < 2; i++) {
        uc_reg_write(probe->uc, UC_X86_REG_FPSW, &tried[i].status);
        uc_reg_write(probe->uc, UC_X86_REG_FPTAG, &tried[i].tags);
        uc_context_save(probe->uc, probe->context[i]);
    }
    for (size_t i = 0; i + TAGS_BEHIND + 8 <= probe->bytes; i += 4) {
        bool good = true;
        for (int t = 0; t < 2; t++)
            good = good && image(probe, t)[i] == tried[t].top &&
                   memcmp(image(probe, t) + i + TAGS_BEHIND, tried[t].empty, 8) == 0;
        found = good ? i : found;
        count += good;
    }
    const uint16_t status = 0, tags = 0xffff;
    uc_reg_write(probe->uc, UC_X86_REG_FPSW, &status);
    uc_reg_write(probe->uc, UC_X86_REG_FPTAG, &tags);
    return count == 1 ? found : 0;
}

/* MXCSR lies behind the SSE unit's status, and denormals are zero where one byte of that says so. */
static bool status_is_known(struct probe *probe, const struct unicorn_layout *layout)
{
    static const uint32_t mxcsr[] = {0x1f80, 0x1fc0};
    const size_t status = layout->sse_flags - offsetof(struct float_status, flags);
    bool good = layout->sse_ftz == status + offsetof(struct float_status, flush_results);
    for (int i = 0; i < 2 && good; i++) {
        uint32_t behind;
        uc_reg_write(probe->uc, UC_X86_REG_MXCSR, &mxcsr[i]);
        uc_context_save(probe->uc, probe->context[0]);
        memcpy(&behind, image(probe, 0) + status + offsetof(struct float_status, mxcsr), sizeof behind);
        good = behind == mxcsr[i] && image(probe, 0)[status + offsetof(struct float_status, flush_operands)] == i;
    }
    uc_reg_write(probe->uc, UC_X86_REG_MXCSR, &mxcsr[0]);
    return good;
}

/* A third, rounded to nearest, down, and to nearest again. */
static bool rounding_works(struct probe *probe)
{
    static const float operands[] = {1.0f, 3.0f};
    static const uint8_t third[] = {0xf3, 0x0f, 0x10, 0x04, 0x25, 0x00, 0x20, 0, 0,
                                    0xf3, 0x0f, 0x5e, 0x04, 0x25, 0x04, 0x20, 0, 0};
    static const uint32_t mxcsr[] = {0x1f80, 0x3f80, 0x1f80}, thirds[] = {0x3eaaaaab, 0x3eaaaaaa, 0x3eaaaaab};
    bool good = true;
    uc_mem_write(probe->uc, PROBE_DATA, operands, sizeof operands);
    for (int i = 0; i < 3; i++) {
        uint32_t xmm[4];
        uc_reg_write(probe->uc, UC_X86_REG_MXCSR, &mxcsr[i]);
        probe_run(probe, third, sizeof third, 1);
        uc_reg_read(probe->uc, UC_X86_REG_XMM0, xmm);
        good = good && xmm[0] == thirds[i];
    }
    return good;
}

static const char *state_find_all(struct unicorn_layout *out, struct probe *probe)
{
    unicorn_float_trust(!unicorn_gate());
    if (!probe_open(probe))
        return "it cannot be opened";
    if (!(out->old_exception = find_old_exception(probe)))
        return "the last exception cannot be cleared";
    if (!(out->sse_flags = find_sse_flags(probe)))
        return "the SSE exception flags are not where they can be read";
    if (!(out->x87_flags = find_x87_flags(probe)))
        return "the x87 exception flags are not where they can be read";
    if (!(out->x87_ftz = find_x87_ftz(probe, out->x87_flags)))
        return "the x87 flush-to-zero switch is not where it can be cleared";
    const size_t status = out->sse_flags - offsetof(struct float_status, flags), top = find_x87_top(probe);
    if (!top)
        return "the x87 stack is not where it is known";
    unicorn_x87_flags_at = (ptrdiff_t)(out->x87_flags - status);
    unicorn_x87_top_at = (ptrdiff_t)(top - status);
    out->sse_ftz = out->sse_flags + (out->x87_ftz - out->x87_flags);
    if (!status_is_known(probe, out))
        return "the status of the SSE unit is not where it is known";
    if (!ftz_works(probe, out->sse_ftz))
        return "flush-to-zero cannot be switched on";
    if (!rounding_works(probe))
        return "floating-point numbers are rounded wrongly";
    return find_translations(out, probe);
}

enum c2_status unicorn_layout_find(struct unicorn_layout *out, struct c2_error *err)
{
    struct probe probe = {0};
    unsigned major = 0, minor = 0;
    const char *problem = state_find_all(out, &probe);
    probe_close(&probe);
    if (!problem)
        return C2_OK;
    uc_version(&major, &minor);
    return c2_fail(err, C2_ERR_UNSUPPORTED,
                   "this Unicorn library (%u.%u) cannot be used: %s; use version 2.0.1 (Debian 12)", major, minor,
                   problem);
}

/* ------------------------------------------------------------------ the guest's engine */

enum c2_status unicorn_state_init(struct unicorn_state *state, uc_engine *uc, struct c2_error *err)
{
    state->uc = uc;
    enum c2_status status = unicorn_layout_find(&state->layout, err);
    if (status != C2_OK)
        return status;
    if (uc_context_alloc(uc, &state->scratch) != UC_ERR_OK || uc_context_alloc(uc, &state->spare) != UC_ERR_OK ||
        uc_context_alloc(uc, &state->fresh) != UC_ERR_OK)
        return c2_fail_memory(err, "a Unicorn context");
    enable_fpu(uc);
    uc_context_save(uc, state->fresh);
    return C2_OK;
}

void unicorn_state_reset(struct unicorn_state *state)
{
    uc_context_restore(state->uc, state->fresh);
    state->sse_traps = 0;
    state->x87_traps = 0;
}

void unicorn_state_release(struct unicorn_state *state)
{
    if (state->scratch)
        uc_context_free(state->scratch);
    if (state->spare)
        uc_context_free(state->spare);
    if (state->fresh)
        uc_context_free(state->fresh);
    state->scratch = state->spare = state->fresh = NULL;
}

void unicorn_use_translations(struct unicorn_state *state, enum unicorn_set set, bool single)
{
    hidden(state);
    state_put_flags(state, state->scratch, set, single);
    uc_context_restore(state->uc, state->scratch);
}

void unicorn_forget_exception(struct unicorn_state *state)
{
    memset(hidden(state) + state->layout.old_exception, 0xff, 4);
    uc_context_restore(state->uc, state->scratch);
}

/* softfloat: 1 invalid, 4 division by zero, 8 overflow, 16 underflow, 32 inexact: MXCSR's own bits 0, 2, 3, 4, 5. Bit
 * 1, the denormal operand, is raised by unicorn_float.c. */
enum { MXCSR_FLAGS = 0x3f, MXCSR_MASKS_AT = 7, MXCSR_FTZ = 0x8000 };

/* Which exceptions trap is kept beside Unicorn's CPU: whatever changes its registers notes it. */
static void note_sse_traps(struct unicorn_state *state, uint32_t mxcsr)
{
    state->sse_traps = ~mxcsr >> MXCSR_MASKS_AT & MXCSR_FLAGS;
}

static void note_x87_traps(struct unicorn_state *state, uint16_t control)
{
    enum { EXCEPTIONS = 0x3f };
    state->x87_traps = ~control & EXCEPTIONS;
}

uint32_t unicorn_get_mxcsr(struct unicorn_state *state)
{
    uint32_t mxcsr = 0;
    uc_reg_read(state->uc, UC_X86_REG_MXCSR, &mxcsr);
    return mxcsr | (hidden(state)[state->layout.sse_flags] & MXCSR_FLAGS);
}

void unicorn_set_mxcsr(struct unicorn_state *state, uint32_t mxcsr)
{
    uint32_t visible = mxcsr & ~(uint32_t)MXCSR_FLAGS;
    uc_reg_write(state->uc, UC_X86_REG_MXCSR, &visible);
    note_sse_traps(state, mxcsr);
    uint8_t *context = hidden(state);
    context[state->layout.sse_flags] = mxcsr & MXCSR_FLAGS;
    context[state->layout.sse_ftz] = (mxcsr & MXCSR_FTZ) != 0;
    context[state->layout.x87_ftz] = 0;
    uc_context_restore(state->uc, state->scratch);
}

/* ------------------------------------------------------------------ FXSAVE image (SDM vol. 1, 10.5.1)
 *   0 FCW  2 FSW  4 abridged tag (bit i: physical register i in use)  24 MXCSR  28 MXCSR_MASK
 *   32 + 16*i ST(i)   160 + 16*i XMMi */
enum { FX_FCW = 0, FX_FSW = 2, FX_TAG = 4, FX_MXCSR = 24, FX_MASK = 28, FX_ST = 32, FX_XMM = 160 };

static void put16(uint8_t *to, uint16_t value) { memcpy(to, &value, 2); }
static void put32(uint8_t *to, uint32_t value) { memcpy(to, &value, 4); }
static uint16_t take16(const uint8_t *from)
{
    uint16_t value;
    memcpy(&value, from, 2);
    return value;
}

/* softfloat's flags of the x87 unit are bits 0, 2, 3, 4, 5 of its status word, where Unicorn sets but a few, and not
 * always rightly. Bits 1 and 6 are of interpreted instructions. */
enum { X87_FLAGS = 0x3d, X87_OF_UNICORN = 0x7f42 };

static uint16_t status_word(struct unicorn_state *state)
{
    const uint16_t fsw = (uint16_t)unicorn_get(state, UC_X86_REG_FPSW);
    return (fsw & X87_OF_UNICORN) | (hidden(state)[state->layout.x87_flags] & X87_FLAGS);
}

static void set_status_word(struct unicorn_state *state, uint16_t fsw)
{
    unicorn_set(state, UC_X86_REG_FPSW, fsw);
    hidden(state)[state->layout.x87_flags] = fsw & X87_FLAGS;
    uc_context_restore(state->uc, state->scratch);
}

bool unicorn_x87_trapped(struct unicorn_state *state)
{
    return state->x87_traps && (status_word(state) & state->x87_traps);
}

static unsigned state_top_of(uint16_t fsw) { return fsw >> 11 & 7; }

void unicorn_get_fxsave(struct unicorn_state *state, uint8_t out[512])
{
    uint16_t fcw = (uint16_t)unicorn_get(state, UC_X86_REG_FPCW), fsw = status_word(state);
    uint16_t tags = (uint16_t)unicorn_get(state, UC_X86_REG_FPTAG);
    memset(out, 0, 512);
    put16(out + FX_FCW, fcw);
    put16(out + FX_FSW, fsw);
    for (unsigned i = 0; i < 8; i++)
        if ((tags >> 2 * i & 3) != 3)
            out[FX_TAG] |= (uint8_t)(1u << i);
    for (unsigned i = 0; i < 8; i++)
        uc_reg_read(state->uc, UC_X86_REG_FP0 + (int)((state_top_of(fsw) + i) & 7), out + FX_ST + 16 * i);
    for (int i = 0; i < 16; i++)
        uc_reg_read(state->uc, UC_X86_REG_XMM0 + i, out + FX_XMM + 16 * i);
    put32(out + FX_MXCSR, unicorn_get_mxcsr(state));
    put32(out + FX_MASK, 0xffff);
}

void unicorn_set_fxsave(struct unicorn_state *state, const uint8_t in[512])
{
    uint16_t fsw = take16(in + FX_FSW), tags = 0;
    uint32_t mxcsr;
    memcpy(&mxcsr, in + FX_MXCSR, 4);
    for (unsigned i = 0; i < 8; i++)
        if (!(in[FX_TAG] >> i & 1))
            tags |= (uint16_t)(3u << 2 * i);
    unicorn_set(state, UC_X86_REG_FPCW, take16(in + FX_FCW));
    set_status_word(state, fsw);
    note_x87_traps(state, take16(in + FX_FCW));
    unicorn_set(state, UC_X86_REG_FPTAG, tags);
    for (unsigned i = 0; i < 8; i++)
        uc_reg_write(state->uc, UC_X86_REG_FP0 + (int)((state_top_of(fsw) + i) & 7), in + FX_ST + 16 * i);
    for (int i = 0; i < 16; i++)
        uc_reg_write(state->uc, UC_X86_REG_XMM0 + i, in + FX_XMM + 16 * i);
    unicorn_set_mxcsr(state, mxcsr & 0xffff);
}

void unicorn_get_registers(struct unicorn_state *state, struct syscalls_cpu *cpu)
{
    for (int i = 0; i < 16; i++)
        cpu->gpr[i] = unicorn_get(state, unicorn_gprs[i]);
    cpu->rip = unicorn_get(state, UC_X86_REG_RIP);
    cpu->rflags = unicorn_get(state, UC_X86_REG_EFLAGS);
    cpu->fs_base = unicorn_get(state, UC_X86_REG_FS_BASE);
    cpu->gs_base = unicorn_get(state, UC_X86_REG_GS_BASE);
    unicorn_get_fxsave(state, cpu->fxsave);
    cpu->xcr0 = 0;
}

void unicorn_set_registers(struct unicorn_state *state, const struct syscalls_cpu *cpu)
{
    for (int i = 0; i < 16; i++)
        unicorn_set(state, unicorn_gprs[i], cpu->gpr[i]);
    unicorn_set(state, UC_X86_REG_RIP, cpu->rip);
    unicorn_set(state, UC_X86_REG_EFLAGS, cpu->rflags);
    unicorn_set(state, UC_X86_REG_FS_BASE, cpu->fs_base);
    unicorn_set(state, UC_X86_REG_GS_BASE, cpu->gs_base);
    unicorn_set_fxsave(state, cpu->fxsave);
}

/* ------------------------------------------------------------------ all of it as one piece */

uc_context *unicorn_context_create(struct unicorn_state *state)
{
    uc_context *context = c2_alloc(uc_context_size(state->uc));
    if (context) /* it begins with what Unicorn has to know of it */
        memcpy(context, hidden(state), uc_context_size(state->uc));
    return context;
}

void unicorn_context_keep(struct unicorn_state *state, uc_context *to) { uc_context_save(state->uc, to); }

void unicorn_context_take(struct unicorn_state *state, uc_context *from, enum unicorn_set set)
{
    state_put_flags(state, from, set, false);
    uc_context_restore(state->uc, from);
    note_sse_traps(state, (uint32_t)unicorn_get(state, UC_X86_REG_MXCSR));
    note_x87_traps(state, (uint16_t)unicorn_get(state, UC_X86_REG_FPCW));
}

void unicorn_context_read(struct unicorn_state *state, uc_context *from, struct syscalls_cpu *cpu)
{
    uc_context_save(state->uc, state->spare);
    uc_context_restore(state->uc, from);
    unicorn_get_registers(state, cpu);
    uc_context_restore(state->uc, state->spare);
}
