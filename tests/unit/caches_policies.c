/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Each replacement policy on one set, as a script one can follow with a pencil.
 *
 * A script is a list of LINE=CLASS or LINE=CLASS>VICTIM: the line is loaded, the class of the outcome must be CLASS,
 * and VICTIM must leave (none without it). The set is the whole cache, so its shadow is an LRU list of the same
 * size, and a conflict is a miss that LRU would not have had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caches/caches.h"

static struct caches *one_set(enum caches_policy policy, uint32_t ways, uint64_t seed)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 1};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 64 * ways, .ways = ways, .slices = 1, .hash = "none", .policy = policy};
    struct caches *caches;
    assert_int_equal(caches_create(&caches, &machine, seed, NULL), C2_OK);
    return caches;
}

/* Where the lines of a script lie: A, and how far it is from each to the next. */
static struct {
    uint64_t first, step;
} lines = {0x1000, 1};

static struct line_no line_named(char name)
{
    return (struct line_no){lines.first + (uint64_t)(name - 'A') * lines.step};
}

static void load(struct caches *caches, char name, const char *wanted, char victim, const char *where)
{
    static const char *const names[] = {"hit", "cold", "capacity", "conflict"};
    struct caches_outcome outcome;
    struct line_no line = line_named(name);
    assert_int_equal(caches_access(caches, CACHES_DATA, false, line, line, &outcome, NULL), C2_OK);
    const struct caches_event *event = &outcome.event[0];
    const char *got = names[event->class_];
    bool evicted = event->class_ != CACHES_HIT && (outcome.evicted & 1) != 0;
    if (strcmp(got, wanted) != 0 || evicted != (victim != 0))
        fail_msg("at \"%s\": %c is %s, %s evicted", where, name, got, evicted ? "a line is" : "nothing is");
    if (victim != 0 && event->victim.v != line_named(victim).v)
        fail_msg("at \"%s\": %c leaves", where, (char)((event->victim.v - lines.first) / lines.step + 'A'));
    caches_check(caches);
}

static void play_on(struct caches *caches, const char *script)
{
    char name, wanted[16];
    int used;
    const char *at = script;
    while (sscanf(at, " %c=%15[a-z]%n", &name, wanted, &used) == 2) {
        const char *where = at;
        char victim = 0;
        at += used;
        if (*at == '>') {
            victim = at[1];
            at += 2;
        }
        load(caches, name, wanted, victim, where);
    }
    assert_int_equal(strspn(at, " "), strlen(at)); /* the script was understood to its end */
}

static void play(enum caches_policy policy, uint32_t ways, const char *script)
{
    struct caches *caches = one_set(policy, ways, 1);
    play_on(caches, script);
    caches_destroy(caches);
}

static void lru(void **state)
{
    (void)state;
    play(CACHES_LRU, 4,
         "A=cold B=cold C=cold D=cold "
         "A=hit "        /* youngest first: A D C B */
         "E=cold>B "     /* E A D C */
         "C=hit "        /* C E A D */
         "B=capacity>D " /* an LRU set that is the whole cache never has a conflict */
         "A=hit E=hit "  /* E A B C */
         "D=capacity>C");
    play(CACHES_LRU, 3, "A=cold B=cold C=cold A=hit D=cold>B B=capacity>C C=capacity>A");
    play(CACHES_LRU, 1, "A=cold A=hit B=cold>A A=capacity>B");
}

static void fifo(void **state)
{
    (void)state;
    play(CACHES_FIFO, 4,
         "A=cold B=cold C=cold D=cold "
         "A=hit "         /* changes nothing: A came first. The shadow, youngest first: A D C B */
         "E=cold>A "      /* in order of coming B C D E; shadow E A D C */
         "A=conflict>B "  /* C D E A; shadow A E D C */
         "B=capacity>C "  /* D E A B; shadow B A E D */
         "D=hit "         /* D E A B; shadow D B A E */
         "F=cold>D "      /* E A B F; shadow F D B A */
         "D=conflict>E "  /* A B F D; shadow D F B A */
         "E=capacity>A"); /* B F D E; shadow E D F B */
}

/* Ways 0..3 under a root with a left node (ways 0, 1) and a right node (ways 2, 3); 0 points left. */
static void tree_plru(void **state)
{
    (void)state;
    play(CACHES_TREE_PLRU, 4,
         "A=cold B=cold C=cold D=cold " /* root 0 left 0 right 0: D pointed root and right node left */
         "E=cold>A "                    /* into way 0: root 1 left 1 right 0 */
         "B=hit "                       /* way 1: root 1 left 0 right 0 */
         "F=cold>C "                    /* root right, right node left: way 2; root 0 left 0 right 1 */
         "G=cold>E "                    /* way 0, although D is older: the tree forgets; root 1 left 1 right 1 */
         "E=conflict>D "                /* LRU would have kept E; way 3: root 0 left 1 right 0 */
         "B=hit");
    play(CACHES_TREE_PLRU, 2, "A=cold B=cold A=hit C=cold>B A=hit B=capacity>C"); /* two ways: exactly LRU */
    play(CACHES_TREE_PLRU, 1, "A=cold B=cold>A A=capacity>B");
}

/* Bits of ways 0..3 in brackets, 1 = not used lately. */
static void nru(void **state)
{
    (void)state;
    play(CACHES_NRU, 4,
         "A=cold B=cold C=cold D=cold " /* [0000] */
         "E=cold>A "                    /* none left: [1111], the lowest goes, [0111] */
         "C=hit "                       /* [0101] */
         "F=cold>B "                    /* [0001] */
         "G=cold>D "                    /* [0000] */
         "H=cold>E "                    /* [1111] -> [0111]: ways H F C G */
         "B=capacity>F "                /* LRU has H G F C: not B; [0011] */
         "F=conflict>C "                /* LRU has B H G F; [0001] */
         "H=hit G=hit "                 /* [0000]: a hit clears, and may leave none */
         "A=capacity>H");               /* [1111], the lowest: H again, though just used */
}

/* Predictions of ways 0..3 in brackets. */
static void srrip(void **state)
{
    (void)state;
    play(CACHES_SRRIP, 4,
         "A=cold B=cold C=cold D=cold " /* [2222] */
         "A=hit "                       /* [0222] */
         "E=cold>B "                    /* +1: [1333], way 1; [1233] */
         "F=cold>C "                    /* [1223] */
         "G=cold>D "                    /* [1222] */
         "H=cold>E "                    /* +1: [2333], way 1; [2233] */
         "A=hit "                       /* A has outlived a scan of five lines: [0233] */
         "E=capacity>F");               /* LRU has A H G F, way 2 */
    play(CACHES_SRRIP, 2,
         "A=cold B=cold A=hit B=hit " /* [00] */
         "C=cold>A "                  /* +1 three times: [33], the lowest; [23] */
         "A=capacity>B "              /* LRU has C B; [22] */
         "B=capacity>C");             /* LRU has A C; +1: [33] */
    play(CACHES_SRRIP, 1, "A=cold A=hit B=cold>A");
}

static uint64_t draw_at(uint64_t seed, uint64_t limit, unsigned which)
{
    struct c2_rng rng;
    c2_rng_init(&rng, seed, "cache L1D");
    uint64_t draw = 0;
    for (unsigned i = 0; i <= which; i++)
        draw = c2_rng_below(&rng, limit);
    return draw;
}

/* A seed whose draws below 32 at the first twelve fills are 0 only at fill number `zero` (from 0). */
static uint64_t brrip_seed(unsigned zero)
{
    for (uint64_t seed = 1;; seed++) {
        bool fits = true;
        for (unsigned i = 0; i < 12; i++)
            fits &= (draw_at(seed, 32, i) == 0) == (i == zero);
        if (fits)
            return seed;
    }
}

static void brrip(void **state)
{
    (void)state;
    struct caches *caches = one_set(CACHES_BRRIP, 4, brrip_seed(99));
    play_on(caches, "A=cold B=cold C=cold D=cold " /* [3333] */
                    "B=hit "                       /* [3033] */
                    "E=cold>A F=cold>E G=cold>F "  /* a scan uses up way 0 only: [3033] */
                    "B=hit C=hit D=hit "           /* [3000] */
                    "A=capacity>G");               /* LRU has D C B G */
    caches_destroy(caches);
    caches = one_set(CACHES_BRRIP, 4, brrip_seed(4)); /* the fifth fill is the lucky one in 32 */
    play_on(caches, "A=cold B=cold C=cold D=cold "    /* [3333] */
                    "E=cold>A "                       /* comes with 2: [2333] */
                    "F=cold>B "                       /* [2333] */
                    "G=cold>F "                       /* [2333] */
                    "E=hit");
    caches_destroy(caches);
}

/* 128 sets of two ways, so 32 regions of four. In region 0 set 0 leads by srrip and set 2 by brrip, in region 1 sets 5
 * and 7. A was hit, B was not, and three lines come: by srrip A ages and goes with the third, by brrip, without a lucky
 * draw, A stays. */
static void drrip(void **state)
{
    (void)state;
    static const char by_srrip[] = "A=cold B=cold A=hit " /* [02] */
                                   "C=cold>B "            /* +1: [12] */
                                   "D=cold>C "            /* +1: [22] */
                                   "E=cold>A";            /* +1: [33] */
    static const char by_brrip[] = "A=cold B=cold A=hit " /* [03] */
                                   "C=cold>B D=cold>C E=cold>D";
    static const struct {
        uint64_t set;
        const char *script;
    } steps[] = {
        {1, by_srrip},                /* the selector is at 511, and fills of sets that follow do not move it */
        {0, "A=cold"},                /* 512 */
        {3, by_brrip},                /* 5 draws */
        {2, "A=cold"},                /* 511; the 6th */
        {4, by_srrip}, {7, by_brrip}, /* a leader stays with its own */
        {5, by_srrip},
    };
    struct caches_machine machine = {.line_bytes = 64, .level_count = 1};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 64 * 256, .ways = 2, .slices = 1, .hash = "none", .policy = CACHES_DRRIP};
    struct caches *caches;
    assert_int_equal(caches_create(&caches, &machine, brrip_seed(99), NULL), C2_OK);
    lines.step = 128;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        lines.first = 0x1000 + steps[i].set;
        play_on(caches, steps[i].script);
    }
    caches_destroy(caches);
    lines.first = 0x1000;
    lines.step = 1;
    play(CACHES_DRRIP, 2, by_srrip); /* a single set has no leader */
}

/* Lines of one instruction, or one region, of which the first was never hit: from then on they come with 3. Predictions
 * in brackets. */
static const char ship_learns[] = "A=cold B=cold " /* [22]; the counter is at 1 */
                                  "C=cold>A "      /* +1: [33]; A teaches 0, so [33] */
                                  "D=cold>C E=cold>D "
                                  "B=hit "     /* 1; [30] */
                                  "F=cold>E "; /* 0; [30] */

static void ship(void **state)
{
    (void)state;
    struct caches *caches = one_set(CACHES_SHIP, 2, 1);
    caches_set_instruction(caches, (struct guest_va){0x10});
    play_on(caches, ship_learns);
    caches_set_instruction(caches, (struct guest_va){0x20});
    play_on(caches, "G=cold>F "              /* of this instruction nothing is known: [20] */
                    "H=cold>G "              /* +1: [31]; G teaches 0: [31] */
                    "B=hit I=cold>H I=hit"); /* [30]; [30]; I was hit: 1, [00] */
    play_on(caches, "J=cold>I "              /* +1 three times: [33]; [23], the counter is at 1 */
                    "K=cold>B");             /* B's was not this instruction's; [22] */
    caches_destroy(caches);
    /* The signature has 14 bits: this instruction is the first one of above, 0x10, to it. */
    caches = one_set(CACHES_SHIP, 2, 1);
    caches_set_instruction(caches, (struct guest_va){0x10});
    play_on(caches, ship_learns);
    caches_set_instruction(caches, (struct guest_va){0x11 << 14 | 0x1});
    play_on(caches, "G=cold>F H=cold>G B=hit"); /* [30] */
    caches_destroy(caches);
}

/* All of A to Z lie in one region of 16 KiB; the next begins 256 lines on. */
static void ship_mem(void **state)
{
    (void)state;
    struct caches *caches = one_set(CACHES_SHIP_MEM, 2, 1);
    caches_set_instruction(caches, (struct guest_va){0x10});
    play_on(caches, ship_learns);
    caches_set_instruction(caches, (struct guest_va){0x20});
    play_on(caches, "G=cold>F H=cold>G B=hit"); /* [30] */
    lines.first = 0x1100;
    const struct line_no other = line_named('A'), next = line_named('B');
    struct caches_outcome outcome;
    assert_int_equal(caches_access(caches, CACHES_DATA, false, other, other, &outcome, NULL), C2_OK); /* [20] */
    assert_int_equal(caches_access(caches, CACHES_DATA, false, next, next, &outcome, NULL), C2_OK);   /* [31] */
    assert_int_equal(outcome.event[0].victim.v, other.v);
    lines.first = 0x1000;
    play_on(caches, "B=hit");
    caches_destroy(caches);
}

/* A level of which only some ways may be filled, those in brackets; the others stay empty. */
static struct caches *some_ways(enum caches_policy policy, uint64_t ways)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 1};
    machine.levels[0] = (struct caches_level){.name = "L1D",
                                              .size_bytes = 64 * 4,
                                              .ways = 4,
                                              .slices = 1,
                                              .policy = policy,
                                              .mask_count = 1,
                                              .masks = {{.ways = ways}}};
    struct caches *caches;
    assert_int_equal(caches_create(&caches, &machine, 1, NULL), C2_OK);
    return caches;
}

static void play_some(enum caches_policy policy, uint64_t ways, const char *script)
{
    struct caches *caches = some_ways(policy, ways);
    play_on(caches, script);
    caches_destroy(caches);
}

/* The shadow has room for four lines whatever the mask, so that what it costs are conflicts. */
static void masks(void **state)
{
    (void)state;
    play_some(CACHES_LRU, 0x6, "A=cold B=cold A=hit C=cold>B B=conflict>A A=conflict>C A=hit");
    play_some(CACHES_LRU, 0x8, "A=cold A=hit B=cold>A A=conflict>B");
    play_some(CACHES_FIFO, 0x5, "A=cold B=cold A=hit C=cold>A B=hit D=cold>B A=conflict>C");
    /* Ways 0, 1 and 2 of the tree. D finds the root on the left, and A there; then the root is on the right, whose bit
     * is on the empty way 3, which may not be filled, so it is C that goes. */
    play_some(CACHES_TREE_PLRU, 0x7,
              "A=cold B=cold " /* root 1 left 0 */
              "C=cold "        /* root 0 right 1 */
              "D=cold>A "      /* root 1 left 1 */
              "E=cold>C "      /* root 0 right 1 */
              "F=cold>B");     /* root 1 left 0 */
    play_some(CACHES_NRU, 0xa, "A=cold B=cold C=cold>A C=hit D=cold>B A=conflict>C");
    play_some(CACHES_SRRIP, 0x9,
              "A=cold B=cold " /* [22] */
              "B=hit "         /* [20] */
              "C=cold>A "      /* +1: [31], [21] */
              "D=cold>C "      /* +1: [32], [22] */
              "E=cold>D");     /* +1: [33] */
}

static void random_draws(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct caches *caches = one_set(CACHES_RANDOM, 4, seed);
        char way[] = "ABCD"; /* empty ways are filled without a draw */
        play_on(caches, "A=cold B=cold C=cold D=cold A=hit");
        for (unsigned i = 0; i < 6; i++) {
            char comes = (char)('E' + i);
            uint64_t at = draw_at(seed, 4, i);
            load(caches, comes, "cold", way[at], "a random draw");
            way[at] = comes;
        }
        caches_destroy(caches);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru),      cmocka_unit_test(fifo),  cmocka_unit_test(tree_plru),    cmocka_unit_test(nru),
        cmocka_unit_test(srrip),    cmocka_unit_test(brrip), cmocka_unit_test(drrip),        cmocka_unit_test(ship),
        cmocka_unit_test(ship_mem), cmocka_unit_test(masks), cmocka_unit_test(random_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
