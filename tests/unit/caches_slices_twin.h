/* SPDX-License-Identifier: GPL-2.0-or-later
 * The slow twin of the slice hashes: masks from tests/data/slice-masks.csv, parities bit by bit, closed forms as the
 * sentences of the literature. It shares neither masks nor method with caches/slices.c. */
#ifndef CACHES_SLICES_TWIN_H
#define CACHES_SLICES_TWIN_H

#include <stdint.h>

#define TWIN_MAX_MASKS 16

/* A function of the table, with its masks in the order of their bits. */
struct twin_function {
    char name[24]; /* "lin8", "perm24", or a term: "A0" */
    char kind[12]; /* "linear", "permsel", "chain" */
    uint32_t slices;
    unsigned valid_bit;
    unsigned mask_count;
    uint64_t mask[TWIN_MAX_MASKS];
};

/* Ends the test when the table cannot be read. Lent for ever. */
const struct twin_function *twin_functions(unsigned *count);
const struct twin_function *twin_function(const char *name);

unsigned twin_parity(uint64_t v);
/* A linear function of the table. */
uint32_t twin_linear(const struct twin_function *function, uint64_t address);
/* cf6, cf10, cf12, cf20, cf24, cf40. */
uint32_t twin_closed_form(uint32_t slices, uint64_t address);
/* The permutation method; base has 2^mask_count numbers. */
uint32_t twin_permutation(const struct twin_function *function, const uint8_t *base, uint64_t address);

#endif
