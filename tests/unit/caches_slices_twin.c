/* SPDX-License-Identifier: GPL-2.0-or-later
 * The slow twin of the slice hashes. */
#include "unit/caches_slices_twin.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MASKS_FILE C2_SOURCE_DIR "/tests/data/slice-masks.csv"
#define MAX_FUNCTIONS 64

static struct twin_function functions[MAX_FUNCTIONS];
static unsigned function_count;

static void add_row(const char *line)
{
    struct twin_function row = {0};
    unsigned bit;
    uint64_t mask;
    int fields = sscanf(line, "%23[^,],%" SCNu32 ",%11[^,],%u,%" SCNx64 ",%u", row.name, &row.slices, row.kind, &bit,
                        &mask, &row.valid_bit);
    assert_int_equal(fields, 6);
    struct twin_function *last = function_count ? &functions[function_count - 1] : NULL;
    if (!last || strcmp(last->name, row.name) != 0) {
        assert_true(function_count < MAX_FUNCTIONS);
        last = &functions[function_count++];
        *last = row;
    }
    assert_int_equal(bit, last->mask_count); /* the rows of a function stand in the order of their bits */
    assert_true(last->mask_count < TWIN_MAX_MASKS);
    last->mask[last->mask_count++] = mask;
}

static void load(void)
{
    char line[256];
    FILE *file = fopen(MASKS_FILE, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "function,slices,kind,bit,mask,valid_bit\n");
    while (fgets(line, sizeof line, file))
        add_row(line);
    fclose(file);
}

const struct twin_function *twin_functions(unsigned *count)
{
    if (function_count == 0)
        load();
    *count = function_count;
    return functions;
}

const struct twin_function *twin_function(const char *name)
{
    unsigned count;
    const struct twin_function *all = twin_functions(&count);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    fail_msg("no function %s in " MASKS_FILE, name);
    return NULL;
}

unsigned twin_parity(uint64_t v)
{
    unsigned ones = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        if (v >> bit & 1)
            ones++;
    return ones % 2;
}

uint32_t twin_linear(const struct twin_function *function, uint64_t address)
{
    uint32_t slice = 0;
    for (unsigned bit = 0; bit < function->mask_count; bit++)
        if (twin_parity(function->mask[bit] & address))
            slice += 1u << bit;
    return slice;
}

/* One named term of the closed forms. */
static unsigned term(const char *name, uint64_t address) { return twin_parity(twin_function(name)->mask[0] & address); }

static unsigned factor3(uint64_t address)
{
    int t = term("P9", address) && (term("P10", address) || term("P11", address));
    if (term("P6", address) && (term("P8", address) || t))
        return 2;
    return term("P7", address);
}

static unsigned factor5(uint64_t address)
{
    int t = term("P9", address) && (term("P10", address) || term("P11", address));
    if (term("P7", address) && t)
        return 4;
    return 2 * term("P6", address) + term("P8", address);
}

uint32_t twin_closed_form(uint32_t slices, uint64_t address)
{
    unsigned a0 = term("A0", address);
    switch (slices) {
    case 6:
        return a0 + 2 * factor3(address);
    case 10:
        return a0 + 2 * factor5(address);
    case 12:
        return a0 + 2 * term("A3", address) + 4 * factor3(address);
    case 20:
        return a0 + 2 * term("A1", address) + 4 * factor5(address);
    case 24:
        return a0 + 2 * term("A1", address) + 4 * term("A2", address) + 8 * factor3(address);
    case 40:
        return twin_closed_form(20, address) + 20 * term("H0", address);
    default:
        fail_msg("no closed form of %u slices", slices);
        return 0;
    }
}

uint32_t twin_permutation(const struct twin_function *function, const uint8_t *base, uint64_t address)
{
    uint64_t length = (uint64_t)1 << function->mask_count;
    return base[(address / 64 % length) ^ twin_linear(function, address)];
}
