/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Blocks that come through functions of their own, as benchmarks allocate: each of a size of its own, each read and
 * written once by line. The comment behind a call says what reports call the block: NAME BYTES.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER_INLINED __attribute__((noinline))
#define DECLARE(variable, bytes) double *variable = alloc_data(bytes, 1)

static NEVER_INLINED void *xmalloc(size_t bytes)
{
    void *ret = NULL;
    int failed = posix_memalign(&ret, 4096, bytes);
    if (!ret || failed) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return ret;
}

NEVER_INLINED void *alloc_data(size_t count, size_t bytes)
{
    size_t all = count * bytes;
    void *ret = xmalloc(all);
    return ret;
}

static NEVER_INLINED void use(void *block, size_t bytes)
{
    volatile char *p = block;
    for (size_t i = 0; i < bytes; i += 64)
        p[i] = (char)(p[i] + 1);
}

/* Rounds up by hand, with room for a header. */
static NEVER_INLINED void *aligned(size_t bytes)
{
    char *raw = malloc(bytes + 64 + sizeof raw);
    char *at = (char *)(((uintptr_t)raw + sizeof raw + 63) & ~(uintptr_t)63);
    memcpy(at - sizeof raw, &raw, sizeof raw);
    return at;
}

/* Hands the block out through a pointer. */
static NEVER_INLINED int make(double **out, size_t bytes)
{
    *out = malloc(bytes);
    return *out ? 0 : -1;
}

struct table {
    double *data;
    size_t bytes;
};

/* Its result is another block than data. */
static NEVER_INLINED struct table *new_table(size_t bytes)
{
    struct table *table = malloc(sizeof *table);
    table->data = malloc(bytes); /* table->data 13312 */
    table->bytes = bytes;
    return table;
}

struct node {
    struct node *left, *right;
    char payload[4200];
};

static NEVER_INLINED struct node *build(int depth)
{
    struct node *node = calloc(1, sizeof *node);
    if (depth > 0) {
        node->left = build(depth - 1);
        node->right = build(depth - 1);
    }
    return node;
}

static double *global;
static double *rows[4];

int main(void)
{
    double *beta = alloc_data(5120, 1); /* beta 5120 */
    DECLARE(gamma, 6144);               /* gamma 6144 */
    double *delta;
    delta =
        (double *)
        alloc_data(7168, 1); /* delta 7168 */
    global = xmalloc(8192);  /* global 8192 */
    for (int i = 0; i < 4; i++)
        rows[i] = malloc(9216);
    char *mine = aligned(10240);                            /* mine 10312 */
    double *handed;
    int status = make(&handed, 11264);
    void *plain;
    if (posix_memalign(&plain, 64, 12288)) /* plain 12288 */
        return 1;
    struct table *table = new_table(13312);                /* table 16 */
    char *text = strdup("a text that is longer than a few bytes"); /* text 39 */
    struct node *tree = build(2);
    use(beta, 5120), use(gamma, 6144), use(delta, 7168), use(global, 8192);
    for (int i = 0; i < 4; i++)
        use(rows[i], 9216);
    use(mine, 10240), use(handed, 11264), use(plain, 12288), use(table->data, 13312), use(text, 39);
    use(tree, sizeof *tree);
    for (int i = 0; i < 10000; i++) /* three lines of one set */
        *(volatile double *)beta, *(volatile double *)gamma, *(volatile double *)delta;
    printf("%d %s\n", status, text);
    return 0;
}
