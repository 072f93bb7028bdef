/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * -m several times, and --vary: which machines they make, in which order and by which names, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "session/session_priv.h"

#define WORDS 24

static enum c2_status parse(struct cli_options *options, const char *text, struct c2_error *err)
{
    static char line[4096];
    char *argv[WORDS + 1] = {"c2emu"};
    int argc = 1;
    snprintf(line, sizeof line, "%s ./a", text);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    static char *kept[WORDS + 1];
    memcpy(kept, argv, sizeof kept);
    return cli_options_parse(options, argc, kept, err);
}

/* "NAME: machine set,set pages huge" of each, with newlines between. */
static void describe(char *text, size_t bytes, const struct session_variants *variants)
{
    struct c2_words words = {text, bytes, 0};
    for (unsigned i = 0; i < variants->count; i++) {
        const struct session_variant *v = &variants->list[i];
        c2_say(&words, "%s%s: %s ", i == 0 ? "" : "\n", v->name ? v->name : "-", v->machine);
        for (size_t k = 0; k < v->override_count; k++)
            c2_say(&words, "%s%s", k == 0 ? "" : ",", v->overrides[k]);
        c2_say(&words, " %s %s", v->pages, mmu_huge_name(v->huge));
    }
}

static const struct {
    const char *words, *variants;
} accepted[] = {
    {"", "-: skylake  sequential off"},
    {"-m teach --set L2.ways=2 --pages random --huge thp", "-: teach L2.ways=2 random thp"},
    {"--vary L2.ways=4", "-: skylake L2.ways=4 sequential off"},
    {"-m a -m b", "a: a  sequential off\nb: b  sequential off"},
    {"--set L1D.ways=1 --vary L2.ways=4,8", "L2.ways=4: skylake L1D.ways=1,L2.ways=4 sequential off\n"
                                            "L2.ways=8: skylake L1D.ways=1,L2.ways=8 sequential off"},
    /* every combination, the last changes fastest; what is the same in all is in no name */
    {"-m a -m b --vary L2.ways=4,8 --vary huge=all --vary pages=random,buddy",
     "a L2.ways=4 pages=random: a L2.ways=4 random all\na L2.ways=4 pages=buddy: a L2.ways=4 buddy all\n"
     "a L2.ways=8 pages=random: a L2.ways=8 random all\na L2.ways=8 pages=buddy: a L2.ways=8 buddy all\n"
     "b L2.ways=4 pages=random: b L2.ways=4 random all\nb L2.ways=4 pages=buddy: b L2.ways=4 buddy all\n"
     "b L2.ways=8 pages=random: b L2.ways=8 random all\nb L2.ways=8 pages=buddy: b L2.ways=8 buddy all"},
    /* a policy's keys are its own */
    {"--vary pages=buddy,buddy,age=0.5,file=x,same-color,color=1,level=L3",
     "pages=buddy: skylake  buddy off\npages=buddy,age=0.5: skylake  buddy,age=0.5 off\n"
     "pages=file=x: skylake  file=x off\n"
     "pages=same-color,color=1,level=L3: skylake  same-color,color=1,level=L3 off"},
    /* keys of policies, whatever the order */
    {"--vary pages.seed=3..4 --vary pages=random,buddy", "pages.seed=3 pages=random: skylake  random,seed=3 off\n"
                                                         "pages.seed=3 pages=buddy: skylake  buddy,seed=3 off\n"
                                                         "pages.seed=4 pages=random: skylake  random,seed=4 off\n"
                                                         "pages.seed=4 pages=buddy: skylake  buddy,seed=4 off"},
    {"--pages buddy --vary pages.age=0,0.5", "pages.age=0: skylake  buddy,age=0 off\n"
                                             "pages.age=0.5: skylake  buddy,age=0.5 off"},
    /* ranges */
    {"--vary L2.ways=1..3", "L2.ways=1: skylake L2.ways=1 sequential off\n"
                            "L2.ways=2: skylake L2.ways=2 sequential off\n"
                            "L2.ways=3: skylake L2.ways=3 sequential off"},
    {"--vary a.b=2..9+3", "a.b=2: skylake a.b=2 sequential off\na.b=5: skylake a.b=5 sequential off\n"
                          "a.b=8: skylake a.b=8 sequential off"},
    {"--vary a.b=512..2K*2", "a.b=512: skylake a.b=512 sequential off\n"
                             "a.b=1K: skylake a.b=1K sequential off\n"
                             "a.b=2K: skylake a.b=2K sequential off"},
    {"--vary a.b=7,1M..1M+1K,x", "a.b=7: skylake a.b=7 sequential off\n"
                                 "a.b=1M: skylake a.b=1M sequential off\n"
                                 "a.b=x: skylake a.b=x sequential off"},
    {"--vary a.b=18446744073709551614..18446744073709551615",
     "a.b=18446744073709551614: skylake a.b=18446744073709551614 sequential off\n"
     "a.b=18446744073709551615: skylake a.b=18446744073709551615 sequential off"},
    {"--vary a.b=0x10..0x11", "a.b=16: skylake a.b=16 sequential off\n"
                              "a.b=17: skylake a.b=17 sequential off"},
};

static void variants_of_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        struct cli_options options;
        struct session_variants variants;
        struct c2_error err = {0};
        char text[4096] = "";
        assert_int_equal(parse(&options, accepted[i].words, NULL), C2_OK);
        if (session_variants_make(&variants, &options.run, &err) != C2_OK)
            fail_msg("%s: %s", accepted[i].words, err.text);
        describe(text, sizeof text, &variants);
        assert_string_equal(text, accepted[i].variants);
        session_variants_release(&variants);
        cli_options_release(&options);
    }
}

static const struct {
    const char *words, *message;
} refused[] = {
    {"--vary L2.ways", "--vary L2.ways: must be KEY=VALUE,VALUE or KEY=A..B, such as L2.ways=4,8,16"},
    {"--vary =4", "--vary =4: must be KEY=VALUE,VALUE or KEY=A..B, such as L2.ways=4,8,16"},
    {"--vary L2.ways=", "--vary L2.ways: a value is empty; write L2.ways=A,B or L2.ways=A..B"},
    {"--vary L2.ways=4,", "--vary L2.ways: a value is empty; write L2.ways=A,B or L2.ways=A..B"},
    {"--vary L2.ways=8..4", "--vary L2.ways: 8..4 goes down; write the smaller one first"},
    {"--vary L2.ways=4..8+0", "--vary L2.ways: 4..8+0 never gets further; write A..B, A..B+N or A..B*N"},
    {"--vary L2.ways=4..8*1", "--vary L2.ways: 4..8*1 never gets further; write A..B, A..B+N or A..B*N"},
    {"--vary L2.ways=0..8*2", "--vary L2.ways: 0..8*2 never gets further; write A..B, A..B+N or A..B*N"},
    {"--vary L2.ways=1..x", "--vary L2.ways: \"x\" is not a size in bytes (examples: 64, 32K, 20M, 0x1000)"},
    {"--vary L2.ways=4 --vary L2.ways=8", "--vary L2.ways is given twice; give all values in one"},
    {"--vary seed=1..3", "--vary seed: the program sees the seed, and runs once; pages.seed is that of the placement"},
    {"--vary machine=a,b", "--vary machine: give -m several times instead"},
    {"--vary page=random", "--vary: \"page\" is neither a key of machines (LEVEL.KEY) nor of pages (did you mean "
                           "\"pages\"?)"},
    {"--vary huge=off,some", "--vary huge=some: unknown value (known: off, never, thp, heap, all)"},
    {"--pages file=x --vary pages.seed=1,2",
     "--vary pages.seed: a page map (--pages file=x) has no keys; leave one out"},
};

static void what_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct cli_options options;
        struct session_variants variants;
        struct c2_error err = {0};
        assert_int_equal(parse(&options, refused[i].words, NULL), C2_OK);
        assert_int_equal(session_variants_make(&variants, &options.run, &err), C2_ERR_INVALID);
        assert_string_equal(err.text, refused[i].message);
        assert_int_equal(variants.count, 0);
        cli_options_release(&options);
    }
}

/* Of 2^64 - 1 machines, each described by more than a kilobyte, there are 2^54 KiB or more. */
static void memory_is_the_limit(void **state)
{
    (void)state;
    static const struct {
        const char *words, *begins;
    } rows[] = {
        {"--vary pages.seed=0..18446744073709551615",
         "--vary pages.seed: more than 18,446,744,073,709,551,615 machines side by side take "},
        {"--vary pages.seed=1..18446744073709551615",
         "--vary pages.seed: 18,446,744,073,709,551,615 machines side by side take "},
        {"--vary pages.seed=1..1000000 --vary L2.ways=1..1000000 -m a -m b",
         "--vary and -m: 2,000,000,000,000 machines side by side take "},
    };
    struct cli_options options;
    struct session_variants variants;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct c2_error err = {0};
        char text[32];
        assert_int_equal(parse(&options, rows[i].words, NULL), C2_OK);
        assert_int_equal(session_variants_make(&variants, &options.run, &err), C2_ERR_NO_MEMORY);
        if (strncmp(err.text, rows[i].begins, strlen(rows[i].begins)) != 0)
            fail_msg("%s", err.text);
        const unsigned long long needed = strtoull(err.text + strlen(rows[i].begins), NULL, 10);
        assert_true(needed > (i == 2 ? 1900000000ull : 18000000000000000ull));
        snprintf(text, sizeof text, "%llu MiB or more", needed);
        assert_non_null(strstr(err.text, text));
        cli_options_release(&options);
    }
    assert_int_equal(parse(&options, "--vary pages.seed=1..1000 --vary L2.ways=1..1024*2 -m a -m b", NULL), C2_OK);
    assert_int_equal(session_variants_make(&variants, &options.run, NULL), C2_OK);
    assert_int_equal(variants.count, 22000);
    assert_string_equal(variants.list[21999].name, "b pages.seed=1000 L2.ways=1024");
    assert_int_equal(variants.key_count, 3);
    assert_string_equal(variants.keys[0], "machine");
    assert_string_equal(variants.keys[2], "L2.ways");
    assert_string_equal(variants.list[11 * 7 + 3].values[0], "a");
    assert_string_equal(variants.list[11 * 7 + 3].values[1], "8");
    assert_string_equal(variants.list[11 * 7 + 3].values[2], "8");
    session_variants_release(&variants);
    cli_options_release(&options);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct cli_options options;
    struct session_variants variants;
    assert_int_equal(parse(&options, "-m a -m b --vary pages=random,buddy --vary pages.seed=1..40", NULL), C2_OK);
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        c2_alloc_fail_from(n);
        status = session_variants_make(&variants, &options.run, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
    }
    session_variants_release(&variants);
    cli_options_release(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_of_words),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(memory_is_the_limit),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("cli: -m and --vary", tests, NULL, NULL);
}
