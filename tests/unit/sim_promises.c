/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the comments of sim/ promise is looked at in stress and sanitizer builds: in a child, one thing at a time is
 * made wrong in a simulator at work, and what follows must end with the promise that it breaks. Other builds do not
 * look.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/sim_priv.h"
#include "unit/made_level.h"

#if defined(C2_STRESS) || defined(__SANITIZE_ADDRESS__)
#define LOOKED_AT true
#else
#define LOOKED_AT false
#endif

#define HEAP 0x100000u

static uint64_t mine, others;

static void owner(void *self, struct guest_va va, struct sim_owner *out)
{
    (void)self, (void)va;
    *out = (struct sim_owner){&mine, 0, UINT64_MAX};
}

static enum c2_status access_site(void *self, uint32_t code, enum sim_kind kind, struct guest_va va, uint64_t *out,
                                  struct c2_error *err)
{
    (void)code, (void)kind, (void)va, (void)err;
    *out = *(const uint64_t *)self;
    return C2_OK;
}

/* One block, which reads two addresses; blamed: the word for the access site. */
struct bench {
    struct stream_blocks *blocks;
    struct sim *sim;
    uint64_t blamed;
    struct stream_batch batch;
};

static struct bench *create(void)
{
    static const struct stream_insn insn = {.length = 4};
    static const struct stream_slot slots[2] = {{0, 8, STREAM_READ, 0}, {0, 8, STREAM_READ, 0}};
    static const struct stream_block block = {{0x1000}, 4, 1, 2, STREAM_JUMP, &insn, slots};
    static struct caches_machine machine = {.line_bytes = 64, .physical_bytes = 1ull << 40, .level_count = 1};
    struct bench *bench = calloc(1, sizeof *bench);
    const struct sim_attribution attribution = {&bench->blamed, owner, access_site, NULL, NULL, NULL, NULL};
    uint32_t number;
    machine.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 512, .ways = 2, .slices = 1};
    bench->blamed = 1;
    assert_int_equal(C2_OK, stream_blocks_create(&bench->blocks, NULL));
    assert_int_equal(C2_OK, stream_blocks_add(&number, bench->blocks, &block, NULL));
    const struct sim_config config = {.machine = &machine,
                                      .translation = {.translate = identity},
                                      .blocks = bench->blocks,
                                      .attribution = &attribution};
    assert_int_equal(C2_OK, sim_create(&bench->sim, &config, NULL));
    return bench;
}

/* The same lines, one after the other, again and again. */
static void work(struct bench *bench)
{
    bench->batch.tid = 1;
    bench->batch.used = 0;
    for (unsigned i = 0; i < 40; i++) {
        bench->batch.words[bench->batch.used++] = stream_header(0, 1, 2);
        bench->batch.words[bench->batch.used++] = HEAP + 64 * i % 512;
        bench->batch.words[bench->batch.used++] = HEAP + 64 * (i + 9);
    }
    assert_int_equal(C2_OK, sim_consume(bench->sim, &bench->batch, NULL));
}

static void page_elsewhere(struct bench *bench)
{
    for (size_t i = 0; i < SIM_PAGES; i++)
        bench->sim->core.pages[i].line++;
}

static void memory_of_others(struct bench *bench)
{
    for (size_t i = 0; i < SIM_PAGES; i++)
        bench->sim->core.pages[i].refs = &others;
}

static void one_read_more(struct bench *bench) { bench->sim->counts.reads++; }
static void one_line_access_more(struct bench *bench) { bench->sim->counts.line_accesses++; }
static void nobody_to_blame(struct bench *bench) { bench->blamed = 0; }

static const struct {
    const char *name;
    void (*make_wrong)(struct bench *bench);
    const char *promise; /* a part of it */
    bool shortcut;       /* not where there are none */
} wrongs[] = {
    {"a page that is elsewhere", page_elsewhere, "sim_page_holds", true},
    {"memory that others have", memory_of_others, "sim_attribute_line_holds", true},
    {"a read that was no reference", one_read_more, "n->refs == n->reads + n->writes", false},
    {"a line access that no level saw", one_line_access_more, "of->levels[i].accesses == asked", false},
    {"nobody to blame", nobody_to_blame, "*access_site != 0", false},
};

/* What it says on standard error, and how it ends. */
static int run_child(unsigned i, char *text, size_t bytes)
{
    int ends[2], status;
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        struct bench *bench = create();
        work(bench);
        wrongs[i].make_wrong(bench);
        work(bench);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; used + 1 < bytes && (got = read(ends[0], text + used, bytes - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void each_is_noticed(void **state)
{
    (void)state;
    for (unsigned i = 0; LOOKED_AT && i < sizeof wrongs / sizeof wrongs[0]; i++) {
        char text[4096];
        if (wrongs[i].shortcut && !SHORTCUT(true))
            continue;
        const int status = run_child(i, text, sizeof text);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(text, wrongs[i].promise))
            fail_msg("%s: no promise \"%s\", but %s", wrongs[i].name, wrongs[i].promise, text);
    }
}

/* And what is right is right. */
static void nothing_wrong_is_noticed(void **state)
{
    (void)state;
    struct bench *bench = create();
    work(bench);
    work(bench);
    sim_check(bench->sim);
    assert_int_equal(160, sim_counts(bench->sim)->refs);
    assert_int_equal(160, mine);
    sim_destroy(bench->sim);
    stream_blocks_destroy(bench->blocks);
    free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_noticed),
        cmocka_unit_test(nothing_wrong_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
