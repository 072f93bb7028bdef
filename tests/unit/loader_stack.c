/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The initial stack as bytes: every word of it, and that no address moves with the environment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "loader/loader_priv.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct loader_start start_of(const char *const *argv, const char *const *envp)
{
    return (struct loader_start){.name = "./app",
                                 .argv = argv,
                                 .envp = envp,
                                 .seed = 1,
                                 .phdr = 0x400040,
                                 .phnum = 9,
                                 .base = 0x40000000,
                                 .entry = 0x401000,
                                 .cpu = cpu_of_level(CPU_V2)};
}

static const char *text_at(const struct loader_stack *stack, uint64_t address)
{
    assert_true(address >= LOADER_STACK_STRINGS && address < LOADER_STACK_STRINGS + stack->string_bytes);
    return stack->strings + (address - LOADER_STACK_STRINGS);
}

/* The value of a type of the auxiliary vector, which begins at word `at`. */
static uint64_t auxv(const struct loader_stack *stack, size_t at, uint64_t type)
{
    for (; stack->vectors[at] != AT_NULL; at += 2)
        if (stack->vectors[at] == type)
            return stack->vectors[at + 1];
    fail_msg("no auxv entry %llu", (unsigned long long)type);
    return 0;
}

static void test_every_word(void **state)
{
    (void)state;
    struct loader_stack stack;
    struct loader_start start = start_of(WORDS("app", "two words", ""), WORDS("A=1", "PATH=/bin"));
    assert_int_equal(loader_stack_compose(&stack, &start, NULL), C2_OK);

    /* 16 random bytes, "x86_64", "./app", then the words in order */
    const uint64_t strings = LOADER_STACK_STRINGS, first = strings + 16 + 7 + 6;
    const uint64_t head[] = {3, first, first + 4, first + 14, 0, first + 15, first + 19, 0};
    assert_memory_equal(stack.vectors, head, sizeof head);
    assert_memory_equal(text_at(&stack, first), "app\0two words\0\0A=1\0PATH=/bin", 29);
    assert_int_equal(stack.string_bytes, 16 + 7 + 6 + 29);

    const uint64_t tail[] = {
        51, 2048,       16, 0x07888111, 6,  4096,     17, 100,          3,  0x400040,     4,  56,   5,  9,
        7,  0x40000000, 8,  0,          9,  0x401000, 11, 1000,         12, 1000,         13, 1000, 14, 1000,
        23, 0,          25, strings,    26, 0,        31, strings + 23, 15, strings + 16, 0,  0,
    };
    assert_int_equal(stack.vector_count, 8 + sizeof tail / sizeof *tail);
    assert_memory_equal(stack.vectors + 8, tail, sizeof tail);
    assert_string_equal(text_at(&stack, auxv(&stack, 8, AT_EXECFN)), "./app");
    assert_string_equal(text_at(&stack, auxv(&stack, 8, AT_PLATFORM)), "x86_64");
    loader_stack_release(&stack);
}

/* What Linux 6 has on processors with AVX, and with AVX-512 and the gap of MPX: areas of 832 and 2688 bytes. */
static void test_signal_stacks(void **state)
{
    static const uint64_t bytes[CPU_LEVELS] = {2048, 1776, 3632};
    (void)state;
    for (unsigned level = 0; level < CPU_LEVELS; level++) {
        struct loader_stack stack;
        struct loader_start start = start_of(WORDS("app"), WORDS("A=1"));
        start.cpu = cpu_of_level(level);
        assert_int_equal(loader_stack_compose(&stack, &start, NULL), C2_OK);
        assert_int_equal(auxv(&stack, 5, 51), bytes[level]);
        assert_int_equal(auxv(&stack, 5, AT_HWCAP), 0x07888111);
        assert_int_equal(auxv(&stack, 5, AT_HWCAP2), 0);
        loader_stack_release(&stack);
    }
}

static void test_places(void **state)
{
    (void)state;
    assert_int_equal(LOADER_STACK_RSP % 16, 0);
    assert_int_equal(LOADER_STACK_RSP, MMU_STACK_TOP - (4u << 20));
    assert_int_equal(LOADER_STACK_LOW, LOADER_STACK_RSP - (8u << 20));
    assert_int_equal(LOADER_STACK_LOW % C2_PAGE_BYTES, 0);
}

/* The words of argv lie where they lay, whatever the environment. */
static void test_environment_moves_nothing_before_it(void **state)
{
    (void)state;
    struct loader_stack small, large;
    struct loader_start a = start_of(WORDS("app", "x"), (const char *const[]){NULL});
    struct loader_start b = start_of(WORDS("app", "x"), WORDS("LONG=................................", "B=2"));
    assert_int_equal(loader_stack_compose(&small, &a, NULL), C2_OK);
    assert_int_equal(loader_stack_compose(&large, &b, NULL), C2_OK);
    assert_memory_equal(small.vectors, large.vectors, 4 * sizeof(uint64_t));
    assert_memory_equal(small.strings, large.strings, small.string_bytes);
    assert_int_equal(auxv(&small, 5, AT_RANDOM), auxv(&large, 7, AT_RANDOM));
    loader_stack_release(&small);
    loader_stack_release(&large);
}

static void test_random_bytes_follow_the_seed(void **state)
{
    (void)state;
    struct loader_stack one, same, other;
    struct loader_start start = start_of(WORDS("app"), WORDS("A=1"));
    assert_int_equal(loader_stack_compose(&one, &start, NULL), C2_OK);
    assert_int_equal(loader_stack_compose(&same, &start, NULL), C2_OK);
    start.seed = 2;
    assert_int_equal(loader_stack_compose(&other, &start, NULL), C2_OK);
    assert_memory_equal(one.strings, same.strings, 16);
    assert_memory_not_equal(one.strings, other.strings, 16);
    loader_stack_release(&one);
    loader_stack_release(&same);
    loader_stack_release(&other);
}

/* One word more or less than the room for pointers, one byte more or less than the room for text. */
static void check_limit(size_t words, size_t bytes, enum c2_status expected)
{
    struct loader_stack stack = {0};
    struct c2_error err = {0};
    char *text = c2_alloc(bytes + 1);
    const char **argv = c2_calloc(words + 1, sizeof *argv);
    memset(text, 'x', bytes);
    text[bytes] = '\0';
    for (size_t i = 0; i < words; i++)
        argv[i] = i ? "" : text;
    struct loader_start start = start_of(argv, (const char *const[]){NULL});
    assert_int_equal(loader_stack_compose(&stack, &start, &err), expected);
    assert_true(expected == C2_OK || strstr(err.text, "too long"));
    loader_stack_release(&stack);
    c2_free(text);
    c2_free(argv);
}

static void test_limits(void **state)
{
    (void)state;
    const size_t block = 2u << 20, fixed_words = 1 + 1 + 1 + 40, fixed_bytes = 16 + 7 + 6;
    check_limit(block / 8 - fixed_words, 0, C2_OK);
    check_limit(block / 8 - fixed_words + 1, 0, C2_ERR_INVALID);
    check_limit(1, block - fixed_bytes - 1, C2_OK);
    check_limit(1, block - fixed_bytes, C2_ERR_INVALID);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct loader_start start = start_of(WORDS("app"), WORDS("A=1"));
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t n = 0;
    while (status != C2_OK) {
        struct loader_stack stack;
        c2_alloc_fail_from(++n);
        status = loader_stack_compose(&stack, &start, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        loader_stack_release(&stack);
    }
    assert_int_equal(n, 3);
}

/* ------------------------------------------------------------------ places as text */

static void check_text(struct loader_place place, const char *expected)
{
    char buffer[64];
    assert_string_equal(loader_place_text(buffer, sizeof buffer, (struct guest_va){0x1234}, &place), expected);
}

static void test_place_text(void **state)
{
    (void)state;
    check_text((struct loader_place){"app", "main", 4, "/src/matmul.c", 41}, "main (matmul.c:41)");
    check_text((struct loader_place){"libc.so.6", "memcpy", 0x1c, NULL, 0}, "memcpy+0x1c in libc.so.6");
    check_text((struct loader_place){"libc.so.6", "memcpy", 0, NULL, 0}, "memcpy in libc.so.6");
    check_text((struct loader_place){"app", NULL, 0x401234, NULL, 0}, "0x401234 in app");
    check_text((struct loader_place){"app", NULL, 0x401234, "x.c", 7}, "0x401234 in app (x.c:7)");
    check_text((struct loader_place){NULL, NULL, 0x1234, NULL, 0}, "0x1234");
}

static void test_place_text_is_cut_not_overrun(void **state)
{
    (void)state;
    char buffer[8] = "1234567";
    struct loader_place place = {"app", "a_long_function", 4, "x.c", 41};
    assert_string_equal(loader_place_text(buffer, 5, (struct guest_va){1}, &place), "a_lo");
    assert_memory_equal(buffer + 5, "67", 3);
    char line[20];
    assert_string_equal(loader_place_text(line, sizeof line, (struct guest_va){1}, &place), "a_long_fun (x.c:41)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_word),
        cmocka_unit_test(test_signal_stacks),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_environment_moves_nothing_before_it),
        cmocka_unit_test(test_random_bytes_follow_the_seed),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_place_text),
        cmocka_unit_test(test_place_text_is_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
