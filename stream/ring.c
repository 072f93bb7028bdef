/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The ring: the consumer of batches on a second host thread.
 *
 * Model
 *   RING_BATCHES batches of memory and two counts that only grow: `published`, which the producer advances, and
 *   `consumed`, which the consumer's thread advances. Batch i is in place i mod RING_BATCHES. Each side waits for the
 *   other's count only: the consumer for published > consumed, the producer for a free place.
 *   Waiting is a short spin and then sleep: on a busy machine a thread that spins on takes the time that the other
 *   one needs (a prototype that only spun took up to 30 s instead of 1 s). A sleeper names the count at which waking
 *   it is worth while: a quarter of the ring published, or half of it free. So two threads that share one core switch
 *   once in several batches. A drain hurries the consumer, whatever count it named.
 *   The whole ring, 16 batches of 64 KiB, stays in the L2 of the host: the prototype's consumer was 1.2 to 1.8 times
 *   slower behind 8 batches of 1 MiB.
 * Invariants (stream_ring_check)
 *   consumed <= published <= consumed + RING_BATCHES.
 *   A count is stored before the sleeper's wake_at is read, and wake_at is stored before the count is read again, all
 *   sequentially consistent: one of both sides sees the other, so that no wake-up is lost.
 *   After the sink behind has failed, batches are thrown away and every consume and drain gives that first failure.
 * Not modelled
 *   The producer is one thread at a time; the sink behind is called by one thread at a time (the ring's, and the
 *   producer's for drain, when the ring's is idle).
 */
#include "stream/stream.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define RING_BATCHES C2_HOST_SIZE(16u, 2u)
#define RING_SPINS 200
#define NEVER UINT64_MAX

/* A count that one thread advances and the other waits for. The padding keeps the two counts of a ring on different
 * cache lines, so that the threads do not fight for them. */
struct gate {
    atomic_uint_fast64_t count;
    atomic_uint_fast64_t wake_at; /* the waiter sleeps until count gets here; NEVER: it is awake */
    pthread_cond_t passed;        /* with the ring's mutex */
    char padding[64];
};

struct stream_ring {
    struct gate published;
    struct gate consumed;
    pthread_mutex_t mutex; /* for sleeping only: guards nothing else */
    pthread_t thread;
    struct stream_sink behind;
    bool stopping;         /* written when the consumer is idle, before published advances for the last time */
    atomic_bool failed;    /* set after error is whole */
    struct c2_error error; /* the first of the sink behind */
    struct stream_batch batches[];
};

static void gate_wake(struct gate *gate, pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_cond_signal(&gate->passed);
    pthread_mutex_unlock(mutex);
}

static void gate_advance(struct gate *gate, pthread_mutex_t *mutex)
{
    uint64_t count = atomic_load_explicit(&gate->count, memory_order_relaxed) + 1;
    atomic_store(&gate->count, count);
    if (count >= atomic_load(&gate->wake_at))
        gate_wake(gate, mutex);
}

static bool gate_spin(struct gate *gate, uint64_t needed)
{
    for (int i = 0; i < RING_SPINS; i++) {
        if (atomic_load_explicit(&gate->count, memory_order_acquire) >= needed)
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

/* Returns when the count is at least `needed`; a sleeper is not woken before it is `worth_while` (unless hurried). */
static void gate_await(struct gate *gate, pthread_mutex_t *mutex, uint64_t needed, uint64_t worth_while)
{
    if (gate_spin(gate, needed))
        return;
    pthread_mutex_lock(mutex);
    atomic_store(&gate->wake_at, worth_while);
    while (atomic_load(&gate->count) < needed)
        pthread_cond_wait(&gate->passed, mutex);
    atomic_store(&gate->wake_at, NEVER);
    pthread_mutex_unlock(mutex);
}

/* Whatever has been published is to be consumed now, be it worth waking for or not. */
static void hurry_consumer(struct stream_ring *ring)
{
    if (atomic_load(&ring->published.wake_at) != NEVER)
        gate_wake(&ring->published, &ring->mutex);
}

static void note_failure(struct stream_ring *ring, enum c2_status status)
{
    if (status == C2_OK)
        return;
    ring->error.status = status;
    atomic_store_explicit(&ring->failed, true, memory_order_release);
}

static void pass_on(struct stream_ring *ring, const struct stream_batch *batch)
{
    if (atomic_load_explicit(&ring->failed, memory_order_relaxed))
        return;
    note_failure(ring, ring->behind.consume(ring->behind.self, batch, &ring->error));
}

static void *consumer_thread(void *self)
{
    struct stream_ring *ring = self;
    for (uint64_t next = 0;; next++) {
        gate_await(&ring->published, &ring->mutex, next + 1, next + (RING_BATCHES + 3) / 4);
        if (ring->stopping)
            return NULL;
        pass_on(ring, &ring->batches[next % RING_BATCHES]);
        gate_advance(&ring->consumed, &ring->mutex);
    }
}

/* The first failure of the sink behind, if it has come to one. */
static enum c2_status failure_behind(struct stream_ring *ring, struct c2_error *err)
{
    if (!atomic_load_explicit(&ring->failed, memory_order_acquire))
        return C2_OK;
    return c2_fail(err, ring->error.status, "%s", ring->error.text);
}

static enum c2_status ring_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct stream_ring *ring = self;
    enum c2_status status = failure_behind(ring, err);
    if (status != C2_OK)
        return status;
    C2_ASSERT(batch->used <= STREAM_BATCH_WORDS);
    uint64_t published = atomic_load_explicit(&ring->published.count, memory_order_relaxed);
    if (published >= RING_BATCHES) {
        uint64_t a_place_free = published - RING_BATCHES + 1;
        gate_await(&ring->consumed, &ring->mutex, a_place_free, published - RING_BATCHES / 2);
    }
    struct stream_batch *place = &ring->batches[published % RING_BATCHES];
    place->used = batch->used;
    place->tid = batch->tid;
    memcpy(place->words, batch->words, batch->used * sizeof batch->words[0]);
    gate_advance(&ring->published, &ring->mutex);
    return C2_OK;
}

/* When every batch has been consumed the ring's thread leaves the sink behind alone, so this thread may ask it. */
static void wait_until_idle(struct stream_ring *ring)
{
    uint64_t published = atomic_load_explicit(&ring->published.count, memory_order_relaxed);
    hurry_consumer(ring);
    gate_await(&ring->consumed, &ring->mutex, published, published);
}

static enum c2_status ring_drain(void *self, struct c2_error *err)
{
    struct stream_ring *ring = self;
    wait_until_idle(ring);
    if (!atomic_load_explicit(&ring->failed, memory_order_acquire))
        note_failure(ring, ring->behind.drain(ring->behind.self, &ring->error));
    return failure_behind(ring, err);
}

/* Signals are for the thread that runs the guest. */
static int start_thread(struct stream_ring *ring)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failure = pthread_create(&ring->thread, NULL, consumer_thread, ring);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failure;
}

static void gate_set_up(struct gate *gate)
{
    atomic_init(&gate->count, 0);
    atomic_init(&gate->wake_at, NEVER);
    pthread_cond_init(&gate->passed, NULL);
}

static void ring_free(struct stream_ring *ring)
{
    pthread_cond_destroy(&ring->published.passed);
    pthread_cond_destroy(&ring->consumed.passed);
    pthread_mutex_destroy(&ring->mutex);
    c2_free(ring);
}

enum c2_status stream_ring_create(struct stream_ring **out, struct stream_sink behind, struct c2_error *err)
{
    *out = NULL;
    struct stream_ring *ring = c2_alloc(sizeof *ring + RING_BATCHES * sizeof ring->batches[0]);
    if (!ring)
        return c2_fail_memory(err, "the ring of batches");
    gate_set_up(&ring->published);
    gate_set_up(&ring->consumed);
    pthread_mutex_init(&ring->mutex, NULL);
    ring->behind = behind;
    ring->stopping = false;
    atomic_init(&ring->failed, false);
    int failure = start_thread(ring);
    if (failure) {
        ring_free(ring);
        return c2_fail(err, C2_ERR_NO_MEMORY, "cannot start the simulation's thread: %s", strerror(failure));
    }
    *out = ring;
    return C2_OK;
}

struct stream_sink stream_ring_sink(struct stream_ring *ring)
{
    return (struct stream_sink){.self = ring, .consume = ring_consume, .drain = ring_drain};
}

void stream_ring_destroy(struct stream_ring *ring)
{
    if (!ring)
        return;
    ring_drain(ring, NULL);
    ring->stopping = true;
    gate_advance(&ring->published, &ring->mutex);
    hurry_consumer(ring);
    pthread_join(ring->thread, NULL);
    ring_free(ring);
}

void stream_ring_check(const struct stream_ring *ring)
{
    /* consumed first: it may grow between the two looks, published may not. */
    uint64_t consumed = atomic_load(&ring->consumed.count);
    uint64_t published = atomic_load(&ring->published.count);
    C2_ASSERT(consumed <= published && published <= consumed + RING_BATCHES);
}

void stream_ring_dump(const struct stream_ring *ring, FILE *to)
{
    fprintf(to, "ring: %" PRIu64 " batches published, %" PRIu64 " consumed, %u places%s\n",
            (uint64_t)atomic_load(&ring->published.count), (uint64_t)atomic_load(&ring->consumed.count), RING_BATCHES,
            atomic_load(&ring->failed) ? ", failed" : "");
}
