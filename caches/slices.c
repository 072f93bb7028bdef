/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Slice hashes: which slice of a sliced cache holds a physical address.
 *
 * Model
 *   Every hash but `modulo` is brought into one form: a few parities of address bits, put side by side, are the
 *   index into a small table of slice numbers.
 *       linear (2, 4, 8, 16 slices)   the parities are the bits of the slice number; table: 0 1 2 3 ...
 *       closed form (6 ... 40)        the parities are the named terms below; table: their non-linear combination
 *       permutation (from a file)     parity k is address bit 6+k xor that of mask k; table: the base sequence
 *   A parity is linear over xor, so all of them together are the xor of one table entry for each byte of the line
 *   number: six loads whatever the number of masks. Measured with random addresses, built without -mpopcnt: 3 to
 *   5 ns; parities one by one took 6 ns with 3 masks and 19 ns with 9, bit counts 10 and 26 ns.
 *   `modulo` is the line number mod the number of slices.
 * Invariants
 *   The slice is below the number of slices for every 64-bit address. Address bits 0-5 change nothing, nor do bits
 *   above 53, except with `modulo`.
 * Not modelled
 *   Address bits above caches_hash_valid_bit(): no measurement is known of what the hardware does with them.
 *   No slice function of an AMD L3 is published; amd-low4 and amd-low8 deal out neighbouring lines and stand in.
 *   Slice numbers are those of the performance counters, not places on the die.
 * Source
 *   lin2 lin4 lin8: Maurice et al., RAID 2015. lin16: McCalpin, TACC TR-2021-03 (doi 10.26153/tsw/14539), 16-slice
 *   Skylake-SP. lin4x lin8x lin8-gen11 and term A3: Slice-Slice-Baby, arXiv 2504.11208. Closed forms: structure
 *   after Rainer et al., IEEE S&P 2025, with McCalpin's masks; equal to the measured tables of McCalpin and of
 *   Slice-Slice-Baby. amd-low4: 7-cpu.com quoting AMD on Zen; amd-low8 by analogy. teach2: lin2 cut to 64 MiB.
 */
#include "caches/slices_priv.h"

#include <string.h>

/* ------------------------------------------------------------------ the published functions */

#define O0 0x1b5f575440
#define O1 0x2eb5faa880
#define O2 0x3cccc93100
#define O3 0x31aeeb1200
#define BIT38 ((uint64_t)1 << 38)
#define A0 0x254c896c740
#define A1 0x0a57f311c0
#define A2 0x2c56e59300
#define A3 0x26552c6a7a00
#define P6 0x49c5e51840
#define P7 0x138bca3080
#define P8 0x2717946100
#define P9 0x4e2f28c200
#define P10 0x1c5e518400
#define P11 0x38bca30800
#define H0 0x02020900

/* How a closed form puts its terms together; v has term k of the row's masks in bit k. */
typedef uint32_t (*combine_fn)(uint32_t v);

/* The six terms P6..P11, taken from bit `at` of v on, in that order. */
struct core {
    bool p6, p7, p8, t;
};

static struct core slices_core_of(uint32_t v, unsigned at)
{
    C2_ASSERT(at + 6 <= HASH_MAX_MASKS);
    uint32_t p = v >> at;
    bool t = (p >> 3 & 1) && ((p >> 4 & 1) || (p >> 5 & 1));
    return (struct core){.p6 = p & 1, .p7 = p >> 1 & 1, .p8 = p >> 2 & 1, .t = t};
}

/* 0..2: the factor 3 of 6, 12 and 24 slices */
static uint32_t m3(uint32_t v, unsigned at)
{
    struct core c = slices_core_of(v, at);
    return c.p6 && (c.p8 || c.t) ? 2 : c.p7;
}

/* 0..4: the factor 5 of 10, 20 and 40 slices */
static uint32_t m5(uint32_t v, unsigned at)
{
    struct core c = slices_core_of(v, at);
    return c.p7 && c.t ? 4 : 2u * c.p6 + c.p8;
}

static uint32_t combine_cf6(uint32_t v) { return (v & 1) + 2 * m3(v, 1); }
static uint32_t combine_cf10(uint32_t v) { return (v & 1) + 2 * m5(v, 1); }
static uint32_t combine_cf12(uint32_t v) { return (v & 3) + 4 * m3(v, 2); }
static uint32_t combine_cf20(uint32_t v) { return (v & 3) + 4 * m5(v, 2); }
static uint32_t combine_cf24(uint32_t v) { return (v & 7) + 8 * m3(v, 3); }
static uint32_t combine_cf40(uint32_t v) { return (v & 3) + 4 * m5(v, 2) + 20 * (v >> 8 & 1); }

/* One row a function: name, slices, highest bit of the publication, whether neighbouring lines are dealt out in turn
 * (then the slice bits are no index bits), how the terms combine (NULL: they are the bits of the slice number), how
 * many terms, their masks. */
/* clang-format off */
#define PUBLISHED(X) \
    X("none", 1, 63, false, NULL, 0, 0) \
    X("lin2", 2, 37, false, NULL, 1, O0) \
    X("lin4", 4, 37, false, NULL, 2, O0, O1) \
    X("lin8", 8, 37, false, NULL, 3, O0, O1, O2) \
    X("lin16", 16, 37, false, NULL, 4, O0, O1, O2, O3) \
    X("lin4x", 4, 38, false, NULL, 2, O0 | BIT38, O1 | BIT38) \
    X("lin8x", 8, 38, false, NULL, 3, O0 | BIT38, O1 | BIT38, O2) \
    X("lin8-gen11", 8, 38, false, NULL, 3, O0 | BIT38, O3 | BIT38, 0x06d87f2c00) \
    X("amd-low4", 4, 47, true, NULL, 2, 0x40, 0x80) \
    X("amd-low8", 8, 47, true, NULL, 3, 0x40, 0x80, 0x100) \
    X("teach2", 2, 25, false, NULL, 1, 0x3575440) \
    X("cf6", 6, 38, false, combine_cf6, 7, A0, P6, P7, P8, P9, P10, P11) \
    X("cf10", 10, 38, false, combine_cf10, 7, A0, P6, P7, P8, P9, P10, P11) \
    X("cf12", 12, 38, false, combine_cf12, 8, A0, A3, P6, P7, P8, P9, P10, P11) \
    X("cf20", 20, 37, false, combine_cf20, 8, A0, A1, P6, P7, P8, P9, P10, P11) \
    X("cf24", 24, 37, false, combine_cf24, 9, A0, A1, A2, P6, P7, P8, P9, P10, P11) \
    X("cf40", 40, 37, false, combine_cf40, 9, A0, A1, P6, P7, P8, P9, P10, P11, H0)
/* clang-format on */

struct published {
    const char *name;
    uint32_t slices;
    unsigned valid_bit;
    bool interleaved;
    combine_fn combine;
    unsigned mask_count;
    uint64_t mask[HASH_MAX_MASKS];
};

static const struct published published[] = {
#define X(name, slices, valid_bit, interleaved, combine, mask_count, ...) \
    {name, slices, valid_bit, interleaved, combine, mask_count, {__VA_ARGS__}},
    PUBLISHED(X)
#undef X
};
#define PUBLISHED_COUNT (sizeof published / sizeof published[0])

static const char modulo_name[] = "modulo";

const char *const *caches_hash_names(size_t *count)
{
    static const char *const names[] = {
#define X(name, ...) name,
        PUBLISHED(X)
#undef X
            modulo_name};
    *count = sizeof names / sizeof names[0];
    return names;
}

/* ------------------------------------------------------------------ from a name to the common form */

static enum c2_status fail_slices(const char *name, uint32_t has, uint32_t wanted, struct c2_error *err)
{
    C2_ASSERT(has != wanted);
    const char *fits[PUBLISHED_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i < PUBLISHED_COUNT; i++)
        if (published[i].slices == wanted)
            fits[count++] = published[i].name;
    fits[count++] = modulo_name;
    char text[256];
    int used = snprintf(text, sizeof text, "%s", fits[0]);
    for (size_t i = 1; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %s", fits[i]);
    C2_ASSERT(used > 0 && (size_t)used < sizeof text);
    return c2_fail(err, C2_ERR_INVALID, "the slice hash \"%s\" has %u slice%s, not %u (for %u: %s or perm:...)", name,
                   has, has == 1 ? "" : "s", wanted, wanted, text);
}

static enum c2_status fail_name(const char *name, struct c2_error *err)
{
    size_t count;
    const char *const *names = caches_hash_names(&count);
    char suggestion[256];
    return c2_fail(err, C2_ERR_INVALID, "no slice hash is called \"%s\"%s; a file is named perm:PATH:MASK,MASK,...",
                   name, c2_suggest(suggestion, sizeof suggestion, name, names, count));
}

static enum c2_status form_of_published(struct hash_form *form, const struct published *row, struct c2_error *err)
{
    C2_ASSERT(row->mask_count <= HASH_MAX_MASKS && row->slices <= 1u << row->mask_count);
    uint32_t entries = 1u << row->mask_count;
    *form = (struct hash_form){.slices = row->slices,
                               .valid_bit = row->valid_bit,
                               .mask_count = row->mask_count,
                               .index_divisor = row->interleaved ? row->slices : 1};
    memcpy(form->mask, row->mask, sizeof form->mask);
    form->base = c2_alloc(entries);
    if (!form->base)
        return c2_fail_memory(err, "a slice hash");
    for (uint32_t v = 0; v < entries; v++)
        form->base[v] = (uint8_t)(row->combine ? row->combine(v) : v);
    return C2_OK;
}

static enum c2_status form_of_name(struct hash_form *form, const char *name, uint32_t slices, const char *relative_to,
                                   struct c2_error *err)
{
    if (strncmp(name, "perm:", 5) == 0)
        return hash_read_permutation(form, name, slices, relative_to, err);
    for (size_t i = 0; i < PUBLISHED_COUNT; i++) {
        if (strcmp(name, published[i].name) != 0)
            continue;
        if (published[i].slices != slices)
            return fail_slices(name, published[i].slices, slices, err);
        return form_of_published(form, &published[i], err);
    }
    return fail_name(name, err);
}

static bool parity(uint64_t v) { return __builtin_parityll(v); }

static void fill_parities(struct caches_hash *hash, const struct hash_form *form)
{
    C2_ASSERT(form->mask_count <= sizeof hash->parities[0][0] * 8);
    for (unsigned chunk = 0; chunk < HASH_CHUNKS; chunk++)
        for (uint64_t value = 0; value < HASH_CHUNK_VALUES; value++) {
            uint64_t bits = value << (HASH_LINE_SHIFT + 8 * chunk);
            unsigned parities = 0;
            for (unsigned k = 0; k < form->mask_count; k++)
                parities |= (unsigned)parity(bits & form->mask[k]) << k;
            hash->parities[chunk][value] = (uint16_t)parities;
        }
}

static enum c2_status create_from_form(struct caches_hash **out, struct hash_form *form, struct c2_error *err)
{
    C2_ASSERT(form->base && form->slices >= 1 && form->index_divisor >= 1);
    struct caches_hash *hash = c2_calloc(1, sizeof *hash);
    if (!hash) {
        c2_free(form->base);
        return c2_fail_memory(err, "a slice hash");
    }
    hash->slices = form->slices;
    hash->index_divisor = form->index_divisor;
    hash->valid_bit = form->valid_bit;
    hash->base = form->base;
    for (unsigned i = 0; i < form->mask_count; i++)
        hash->wide |= form->mask[i] >> (HASH_LINE_SHIFT + 8 * HASH_NARROW_CHUNKS) != 0;
    fill_parities(hash, form);
    *out = hash;
    return C2_OK;
}

static enum c2_status create_modulo(struct caches_hash **out, uint32_t slices, struct c2_error *err)
{
    C2_ASSERT(slices >= 1 && slices <= CACHES_MAX_SLICES);
    struct caches_hash *hash = c2_calloc(1, sizeof *hash);
    if (!hash)
        return c2_fail_memory(err, "a slice hash");
    hash->slices = slices;
    hash->index_divisor = slices;
    hash->valid_bit = 63;
    hash->modulo = true;
    *out = hash;
    return C2_OK;
}

/* ------------------------------------------------------------------ the public face */

enum c2_status caches_hash_create(struct caches_hash **out, const char *name, uint32_t slices, const char *relative_to,
                                  struct c2_error *err)
{
    *out = NULL;
    if (slices == 0 || slices > CACHES_MAX_SLICES)
        return c2_fail(err, C2_ERR_INVALID, "%u slices: 1 to %d are possible", slices, CACHES_MAX_SLICES);
    if (strcmp(name, modulo_name) == 0)
        return create_modulo(out, slices, err);
    struct hash_form form;
    enum c2_status status = form_of_name(&form, name, slices, relative_to, err);
    return status == C2_OK ? create_from_form(out, &form, err) : status;
}

void caches_hash_destroy(struct caches_hash *hash)
{
    if (!hash)
        return;
    c2_free(hash->base);
    c2_free(hash);
}

uint32_t caches_hash_slice(const struct caches_hash *hash, struct guest_pa address)
{
    C2_PROMISE(hash->modulo == !hash->base);
    const uint64_t line = address.v >> HASH_LINE_SHIFT;
    return C2_UNLIKELY(hash->modulo) ? (uint32_t)(line % hash->slices) : hash_slice(hash, line);
}

uint32_t caches_hash_slices(const struct caches_hash *hash) { return hash->slices; }
uint32_t caches_hash_index_divisor(const struct caches_hash *hash) { return hash->index_divisor; }
unsigned caches_hash_valid_bit(const struct caches_hash *hash) { return hash->valid_bit; }
