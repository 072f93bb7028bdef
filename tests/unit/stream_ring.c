/* SPDX-License-Identifier: GPL-2.0-or-later
 * The ring: what goes in comes out, in order and unchanged, whatever the batch sizes and whichever side is slow;
 * drain waits; errors come back; creation fails cleanly. */
#include "stream/stream.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ------------------------------------------------------------------ a thread that cannot be started */

static bool refuse_threads;

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *self);

/* Stands in front of the real one. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *self)
{
    if (refuse_threads)
        return EAGAIN;
    create_function *real = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, body, self);
}

/* ------------------------------------------------------------------ a sink that digests what it gets */

struct digest {
    uint64_t batches, words;
    uint64_t hash; /* depends on every word, every tid, every batch's length, and their order */
    uint64_t pause_every, fail_at;
    uint64_t drains;
    bool drain_fails;
    pthread_t thread; /* that consumed last */
    sigset_t blocked; /* signals blocked there */
};

static void mix(uint64_t *hash, uint64_t value) { *hash = (*hash ^ value) * UINT64_C(0x100000001b3); }

static void short_pause(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

static enum c2_status digest_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct digest *digest = self;
    digest->batches++;
    if (digest->batches == digest->fail_at)
        return c2_fail(err, C2_ERR_EXHAUSTED, "no frame left in batch %d", (int)digest->batches);
    mix(&digest->hash, batch->tid);
    mix(&digest->hash, batch->used);
    for (uint32_t i = 0; i < batch->used; i++)
        mix(&digest->hash, batch->words[i]);
    digest->words += batch->used;
    digest->thread = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &digest->blocked);
    if (digest->pause_every && digest->batches % digest->pause_every == 0)
        short_pause();
    return C2_OK;
}

static enum c2_status digest_drain(void *self, struct c2_error *err)
{
    struct digest *digest = self;
    digest->drains++;
    return digest->drain_fails ? c2_fail(err, C2_ERR_IO, "the trace's disk is full") : C2_OK;
}

static struct stream_sink digest_sink(struct digest *digest)
{
    return (struct stream_sink){.self = digest, .consume = digest_consume, .drain = digest_drain};
}

/* A ring with one sink behind it, or with many. */
static enum c2_status create(struct stream_ring **out, struct digest *digest, struct c2_error *err)
{
    const struct stream_sink behind = digest_sink(digest);
    return stream_ring_create(out, &behind, 1, 1, "test", err);
}

static struct stream_ring *create_ok(struct digest *digest)
{
    struct stream_ring *ring;
    assert_int_equal(create(&ring, digest, NULL), C2_OK);
    return ring;
}

#define MANY 9u
static struct stream_ring *create_many(struct digest *digests, unsigned count, unsigned threads)
{
    struct stream_ring *ring;
    struct stream_sink behind[MANY];
    for (unsigned i = 0; i < count; i++)
        behind[i] = digest_sink(&digests[i]);
    assert_int_equal(stream_ring_create(&ring, behind, count, threads, "test", NULL), C2_OK);
    return ring;
}

/* ------------------------------------------------------------------ order */

static void draw_batch(struct c2_rng *rng, struct stream_batch *batch)
{
    /* Empty, tiny and full batches, not only those in between. */
    static const uint32_t limits[] = {1, 2, 40, STREAM_BATCH_WORDS + 1, STREAM_BATCH_WORDS + 1};
    batch->used = (uint32_t)c2_rng_below(rng, limits[c2_rng_below(rng, 5)]);
    if (c2_rng_below(rng, 8) == 0)
        batch->used = STREAM_BATCH_WORDS;
    batch->tid = 1 + (uint32_t)c2_rng_below(rng, 5);
    c2_rng_fill(rng, batch->words, batch->used * sizeof batch->words[0]);
}

struct run_state {
    uint64_t seed;
    int batches;
    uint64_t consumer_pauses_every, producer_pauses_every, drain_every;
};

/* The same random batches through a sink; with the pace's pauses and drains. */
static void feed(struct stream_sink sink, const struct run_state *run_state)
{
    static struct stream_batch batch;
    struct c2_rng rng;
    c2_rng_init(&rng, run_state->seed, "ring test");
    for (uint64_t i = 1; i <= (uint64_t)run_state->batches; i++) {
        draw_batch(&rng, &batch);
        assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
        memset(&batch, 0xee, sizeof batch); /* the memory is ours again */
        if (run_state->drain_every && i % run_state->drain_every == 0)
            assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
        if (run_state->producer_pauses_every && i % run_state->producer_pauses_every == 0)
            short_pause();
    }
    assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
}

static void assert_ring_changes_nothing(const struct run_state *run_state)
{
    struct digest direct = {0};
    feed(digest_sink(&direct), run_state);
    struct digest through = {.pause_every = run_state->consumer_pauses_every};
    struct stream_ring *ring = create_ok(&through);
    feed(stream_ring_sink(ring), run_state);
    stream_ring_check(ring);
    stream_ring_destroy(ring);
    assert_int_equal(through.batches, run_state->batches);
    assert_int_equal(through.batches, direct.batches);
    assert_int_equal(through.words, direct.words);
    assert_int_equal(through.hash, direct.hash);
}

static void test_order_at_full_speed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_ring_changes_nothing(&(struct run_state){.seed = seed, .batches = 1500});
}

static void test_order_when_one_side_sleeps(void **state)
{
    (void)state;
    assert_ring_changes_nothing(&(struct run_state){.seed = 4, .batches = 300, .consumer_pauses_every = 1});
    assert_ring_changes_nothing(&(struct run_state){.seed = 5, .batches = 300, .producer_pauses_every = 1});
    assert_ring_changes_nothing(
        &(struct run_state){.seed = 6, .batches = 900, .consumer_pauses_every = 7, .producer_pauses_every = 13});
}

static void test_order_with_drains(void **state)
{
    (void)state;
    assert_ring_changes_nothing(&(struct run_state){.seed = 7, .batches = 600, .drain_every = 1});
    assert_ring_changes_nothing(
        &(struct run_state){.seed = 8, .batches = 600, .drain_every = 5, .consumer_pauses_every = 11});
}

/* Short batches and nearly full ones, of each length, whatever the copy does at a time; each word comes to both. */
static void test_no_word_is_lost_at_any_length(void **state)
{
    static struct stream_batch batch;
    enum { LENGTHS = 130 };
    struct digest direct = {0}, through[2] = {{.pause_every = 9}, {0}};
    struct c2_rng rng;
    (void)state;
    struct stream_ring *ring = create_many(through, 2, 2);
    const struct stream_sink sink = stream_ring_sink(ring);
    c2_rng_init(&rng, 12, "ring test");
    for (uint32_t i = 0; i < 2 * LENGTHS; i++) {
        batch.used = i < LENGTHS ? i : STREAM_BATCH_WORDS - (i - LENGTHS);
        batch.tid = 1 + i;
        c2_rng_fill(&rng, batch.words, batch.used * sizeof batch.words[0]);
        assert_int_equal(digest_consume(&direct, &batch, NULL), C2_OK);
        assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    }
    assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(through[i].hash, direct.hash);
    stream_ring_destroy(ring);
}

static const struct digest *ring_digest;
static pid_t fork_with_rings(int (*body)(struct stream_ring *ring), struct stream_ring *ring)
{
    stream_rings_pause();
    const pid_t child = fork();
    if (stream_rings_resume(NULL) != C2_OK)
        _exit(1);
    if (child == 0)
        _exit(body(ring));
    return child;
}

static int feed_in_child(struct stream_ring *ring)
{
    static struct stream_batch batch = {.used = 3};
    const struct stream_sink sink = stream_ring_sink(ring);
    const struct digest *digest = ring_digest;
    for (int i = 0; i < 100; i++)
        if (sink.consume(sink.self, &batch, NULL) != C2_OK)
            return 2;
    return sink.drain(sink.self, NULL) == C2_OK && digest->batches == 150 ? 0 : 3;
}

/* What was in the ring before is eaten before, once; both sides go on. */
static void test_both_go_on_behind_a_fork(void **state)
{
    static struct stream_batch batch = {.used = 7};
    struct digest digest = {.pause_every = 5};
    (void)state;
    struct stream_ring *ring = create_ok(&digest);
    const struct stream_sink sink = stream_ring_sink(ring);
    ring_digest = &digest;
    for (int i = 0; i < 50; i++)
        assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    int status;
    const pid_t child = fork_with_rings(feed_in_child, ring);
    assert_int_equal(digest.batches, 50);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    assert_int_equal(digest.batches, 51);
    stream_ring_destroy(ring);
}

/* The digest notices two batches that are swapped, one that is lost and one word that is altered. */
static void test_digest_can_fail(void **state)
{
    (void)state;
    static struct stream_batch a, b;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "digest");
    draw_batch(&rng, &a);
    do
        draw_batch(&rng, &b);
    while (b.used == 0);
    struct digest right = {0}, swapped = {0}, lost = {0}, altered = {0};
    digest_consume(&right, &a, NULL);
    digest_consume(&right, &b, NULL);
    digest_consume(&swapped, &b, NULL);
    digest_consume(&swapped, &a, NULL);
    digest_consume(&lost, &b, NULL);
    digest_consume(&altered, &a, NULL);
    b.words[b.used - 1] ^= 1;
    digest_consume(&altered, &b, NULL);
    assert_true(right.hash != swapped.hash && right.hash != lost.hash && right.hash != altered.hash);
}

static void test_consumer_is_another_thread_without_signals(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 1, .tid = 1};
    struct digest digest = {0};
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    assert_false(pthread_equal(digest.thread, pthread_self()));
    sigset_t ours;
    pthread_sigmask(SIG_SETMASK, NULL, &ours);
    static const int signals[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGWINCH, SIGCHLD};
    for (int i = 0; i < 6; i++) {
        assert_true(sigismember(&digest.blocked, signals[i]));
        assert_false(sigismember(&ours, signals[i]));
    }
    stream_ring_destroy(ring);
}

/* ------------------------------------------------------------------ drain */

/* After a drain the consumer's memory may be read without any lock: a single batch, which is not worth waking for,
 * and many. */
static void test_drain_waits(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 3, .tid = 1, .words = {1, 2, 3}};
    struct digest digest = {.pause_every = 1};
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    uint64_t sent = 0;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i <= round % 20; i++, sent++)
            assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
        assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
        assert_int_equal(digest.batches, sent);
        assert_int_equal(digest.words, 3 * sent);
        assert_int_equal(digest.drains, round + 1);
    }
    stream_ring_destroy(ring);
}

static void test_drain_of_nothing(void **state)
{
    (void)state;
    struct digest digest = {0};
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    for (int i = 0; i < 10; i++)
        assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    assert_int_equal(digest.drains, 10);
    stream_ring_destroy(ring);
    assert_int_equal(digest.batches, 0);
}

static void test_destroy_drains(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 2, .tid = 1};
    struct digest digest = {.pause_every = 1};
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    for (int i = 0; i < 10; i++)
        assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    stream_ring_destroy(ring);
    assert_int_equal(digest.batches, 10);
    assert_int_equal(digest.drains, 1);
    stream_ring_destroy(NULL);
}

static void test_create_and_destroy_at_once(void **state)
{
    (void)state;
    struct digest digest = {0};
    for (int i = 0; i < 200; i++)
        stream_ring_destroy(create_ok(&digest));
    assert_int_equal(digest.drains, 200);
}

/* A ring in front of a ring is a sink like any other. */
static void test_ring_of_rings(void **state)
{
    (void)state;
    struct run_state run_state = {.seed = 9, .batches = 500, .drain_every = 50};
    struct digest direct = {0}, through = {0};
    struct stream_ring *inner, *outer;
    feed(digest_sink(&direct), &run_state);
    inner = create_ok(&through);
    const struct stream_sink behind = stream_ring_sink(inner);
    assert_int_equal(stream_ring_create(&outer, &behind, 1, 1, "test", NULL), C2_OK);
    feed(stream_ring_sink(outer), &run_state);
    assert_int_equal(through.hash, direct.hash);
    stream_ring_destroy(outer);
    stream_ring_destroy(inner);
}

/* ------------------------------------------------------------------ errors */

static void test_first_error_comes_back_and_stays(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 1, .tid = 1};
    for (uint64_t fail_at = 1; fail_at < 40; fail_at += 3) {
        struct digest digest = {.fail_at = fail_at};
        struct c2_error err = {.text = ""};
        struct stream_ring *ring = create_ok(&digest);
        struct stream_sink sink = stream_ring_sink(ring);
        enum c2_status status = C2_OK;
        for (uint64_t sent = 0; sent < 1000000 && status == C2_OK; sent++)
            status = sink.consume(sink.self, &batch, &err);
        char expected[64];
        snprintf(expected, sizeof expected, "no frame left in batch %d", (int)fail_at);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(status, C2_ERR_EXHAUSTED);
            assert_int_equal(err.status, C2_ERR_EXHAUSTED);
            assert_string_equal(err.text, expected);
            err.text[0] = '\0';
            status = i == 0 ? sink.drain(sink.self, &err) : sink.consume(sink.self, &batch, &err);
        }
        stream_ring_destroy(ring);
        assert_int_equal(digest.batches, fail_at); /* what followed was thrown away */
        assert_int_equal(digest.drains, 0);
    }
}

static void test_drain_tells_the_error_of_the_last_batch(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 1, .tid = 1};
    struct digest digest = {.fail_at = 1};
    struct c2_error err;
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    assert_int_equal(sink.consume(sink.self, &batch, &err), C2_OK);
    assert_int_equal(sink.drain(sink.self, &err), C2_ERR_EXHAUSTED);
    assert_string_equal(err.text, "no frame left in batch 1");
    assert_int_equal(sink.drain(sink.self, NULL), C2_ERR_EXHAUSTED);
    stream_ring_destroy(ring);
}

static void test_error_of_the_drain_behind(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 1, .tid = 1};
    struct digest digest = {.drain_fails = true};
    struct c2_error err;
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    assert_int_equal(sink.drain(sink.self, &err), C2_ERR_IO);
    assert_string_equal(err.text, "the trace's disk is full");
    assert_int_equal(sink.consume(sink.self, &batch, &err), C2_ERR_IO);
    stream_ring_destroy(ring);
    assert_int_equal(digest.batches, 0);
}

/* ------------------------------------------------------------------ many sinks */

/* Slow ones among quick ones, more threads than sinks and fewer: each sink gets what a sink alone gets. */
static void test_each_of_many_gets_all(void **state)
{
    (void)state;
    for (unsigned count = 2; count <= MANY; count++) {
        const unsigned threads = 1 + count * 7 % 5;
        const struct run_state run_state = {.seed = 20 + count, .batches = 200, .drain_every = count % 3 == 0 ? 40 : 0};
        struct digest direct = {0}, through[MANY] = {{0}};
        for (unsigned i = 0; i < count; i++)
            through[i].pause_every = i % 3 == 1 ? 5 + i : 0;
        feed(digest_sink(&direct), &run_state);
        struct stream_ring *ring = create_many(through, count, threads);
        feed(stream_ring_sink(ring), &run_state);
        stream_ring_check(ring);
        stream_ring_destroy(ring);
        for (unsigned i = 0; i < count; i++) {
            assert_int_equal(through[i].batches, run_state.batches);
            assert_int_equal(through[i].hash, direct.hash);
            assert_int_equal(through[i].drains, direct.drains + 1); /* and the ring's own, at its end */
        }
    }
}

/* The first sink is at its first batch until the second one has had two: none waits for the slowest at each batch. */
static atomic_int ahead;

static enum c2_status wait_for_the_other(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)self, (void)batch, (void)err;
    while (atomic_load(&ahead) < 2)
        short_pause();
    return C2_OK;
}

static enum c2_status go_ahead(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)self, (void)batch, (void)err;
    atomic_fetch_add(&ahead, 1);
    return C2_OK;
}

static void test_each_has_its_own_pace(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 1, .tid = 1};
    struct digest drained = {0};
    const struct stream_sink behind[2] = {{&drained, wait_for_the_other, digest_drain},
                                          {&drained, go_ahead, digest_drain}};
    struct stream_ring *ring;
    assert_int_equal(stream_ring_create(&ring, behind, 2, 2, "test", NULL), C2_OK);
    struct stream_sink sink = stream_ring_sink(ring);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    assert_int_equal(atomic_load(&ahead), 3);
    stream_ring_destroy(ring);
}

/* Whichever fails, and whenever: behind a drain it is the failure at the earliest batch, of the first that fails there.
 * The others have had all batches. */
static void test_the_same_failure_every_time(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 1, .tid = 1};
    for (unsigned round = 0; round < 40; round++) {
        struct digest digests[5] = {{0}, {.fail_at = 9}, {.fail_at = 7, .drain_fails = true}, {.fail_at = 7}, {0}};
        struct c2_error err = {.text = ""};
        digests[round % 5].pause_every = 2;
        digests[2].drains = digests[3].drains = 0;
        struct stream_ring *ring = create_many(digests, 5, 1 + round % 4);
        struct stream_sink sink = stream_ring_sink(ring);
        enum c2_status status = C2_OK;
        int sent = 0;
        for (; sent < 12 && status == C2_OK; sent++)
            status = sink.consume(sink.self, &batch, &err);
        sent -= status != C2_OK; /* that one was not taken */
        assert_int_equal(sink.drain(sink.self, &err), C2_ERR_EXHAUSTED);
        assert_string_equal(err.text, "no frame left in batch 7");
        assert_int_equal(digests[0].batches, sent);
        assert_int_equal(digests[4].batches, sent);
        assert_int_equal(digests[2].batches, 7);
        assert_int_equal(digests[3].batches, 7);
        assert_int_equal(digests[2].drains + digests[3].drains, 0);
        stream_ring_destroy(ring);
    }
}

static void test_survives_each_failing_allocation(void **state)
{
    (void)state;
    struct digest digest = {0};
    struct stream_ring *ring;
    struct c2_error err;
    uint64_t n = 0;
    enum c2_status status;
    do {
        c2_alloc_fail_from(++n);
        status = create(&ring, &digest, &err);
        assert_true(status == C2_OK ? !!ring : !ring && status == C2_ERR_NO_MEMORY);
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    assert_int_equal(n - 1, 4);
    stream_ring_destroy(ring);
}

static void test_thread_that_cannot_be_started(void **state)
{
    (void)state;
    struct digest digest = {0};
    struct stream_ring *ring = (struct stream_ring *)1;
    struct c2_error err;
    refuse_threads = true;
    enum c2_status status = create(&ring, &digest, &err);
    refuse_threads = false;
    assert_int_equal(status, C2_ERR_NO_MEMORY);
    assert_null(ring);
    assert_string_equal(err.text, "cannot start the simulation's thread: Resource temporarily unavailable");
}

/* Of 5 words each, with the word before them, as many as half of a place takes. Nothing is given on before that. */
static void test_short_batches_share_a_place(void **state)
{
    (void)state;
    enum { COUNT = 10000, WORDS = 5 };
    const unsigned half = (1 + STREAM_BATCH_WORDS) / 2, together = (half + WORDS) / (1 + WORDS);
    struct stream_batch batch = {.used = WORDS, .tid = 3};
    struct digest digest = {0};
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    for (unsigned i = 0; i < COUNT; i++) {
        batch.words[0] = i;
        assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    }
    assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    assert_int_equal(digest.batches, COUNT);
    assert_int_equal(digest.words, COUNT * WORDS);
    char text[128] = "", expected[128];
    FILE *to = fmemopen(text, sizeof text, "w");
    stream_ring_dump(ring, to);
    fclose(to);
    const unsigned places = (COUNT + together - 1) / together;
    snprintf(expected, sizeof expected, "ring: %u batches, places: %u published, %u consumed, of %u\n", COUNT, places,
             places, C2_HOST_SIZE(16u, 2u));
    assert_string_equal(text, expected);
    stream_ring_destroy(ring);
}

static void test_dump(void **state)
{
    (void)state;
    static struct stream_batch batch = {.used = 1, .tid = 1};
    struct digest digest = {.fail_at = 2};
    struct stream_ring *ring = create_ok(&digest);
    struct stream_sink sink = stream_ring_sink(ring);
    assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    assert_int_equal(sink.drain(sink.self, NULL), C2_OK);
    assert_int_equal(sink.consume(sink.self, &batch, NULL), C2_OK);
    assert_int_equal(sink.drain(sink.self, NULL), C2_ERR_EXHAUSTED);
    char text[128] = "", expected[128];
    FILE *to = fmemopen(text, sizeof text, "w");
    stream_ring_dump(ring, to);
    fclose(to);
    snprintf(expected, sizeof expected, "ring: 2 batches, places: 2 published, 2 consumed, of %u, failed\n",
             C2_HOST_SIZE(16u, 2u));
    assert_string_equal(text, expected);
    stream_ring_destroy(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_at_full_speed),
        cmocka_unit_test(test_order_when_one_side_sleeps),
        cmocka_unit_test(test_order_with_drains),
        cmocka_unit_test(test_no_word_is_lost_at_any_length),
        cmocka_unit_test(test_digest_can_fail),
        cmocka_unit_test(test_consumer_is_another_thread_without_signals),
        cmocka_unit_test(test_drain_waits),
        cmocka_unit_test(test_drain_of_nothing),
        cmocka_unit_test(test_destroy_drains),
        cmocka_unit_test(test_create_and_destroy_at_once),
        cmocka_unit_test(test_ring_of_rings),
        cmocka_unit_test(test_first_error_comes_back_and_stays),
        cmocka_unit_test(test_drain_tells_the_error_of_the_last_batch),
        cmocka_unit_test(test_error_of_the_drain_behind),
        cmocka_unit_test(test_both_go_on_behind_a_fork),
        cmocka_unit_test(test_each_of_many_gets_all),
        cmocka_unit_test(test_each_has_its_own_pace),
        cmocka_unit_test(test_the_same_failure_every_time),
        cmocka_unit_test(test_survives_each_failing_allocation),
        cmocka_unit_test(test_thread_that_cannot_be_started),
        cmocka_unit_test(test_short_batches_share_a_place),
        cmocka_unit_test(test_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
