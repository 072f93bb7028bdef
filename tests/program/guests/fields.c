/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Structures of all kinds of objects, of which some fields are used: each line of them comes once into a large cache.
 */
#include <stdint.h>
#include <stdlib.h>

#define COUNT 64

/* 32 bytes: a char, 3 of padding, two bit-fields of one word, a pair, a double, a union without a name. */
typedef struct {
    char kind;
    unsigned low : 5, high : 20;
    struct {
        int16_t first, second;
    } pair;
    double value;
    union {
        uint64_t word;
        char letters[8];
    };
} item;

struct node { /* 64 bytes */
    struct node *next;
    long key;
    char text[48];
};

static item items[COUNT] __attribute__((aligned(64)));
static struct node *list;

__attribute__((noinline)) static double use_items(void)
{
    double sum = 0;
    __asm__ volatile("" ::"r"(items) : "memory"); /* they may have changed */
    for (int i = 0; i < COUNT; i++)
        sum += items[i].value + items[i].pair.second;
    return sum;
}

__attribute__((noinline)) static void make_list(void)
{
    for (int i = 0; i < COUNT; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            abort();
        node->next = list;
        node->key = i;
        list = node;
    }
}

int main(void)
{
    make_list();
    return use_items() < 0;
}
