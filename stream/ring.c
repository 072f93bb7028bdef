/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The ring: consumers of batches on host threads of their own.
 *
 * Model
 *   `places` of memory for a full batch each, and counts that only grow: `published`, which the producer advances, and
 *   for each reader - a consumer behind the ring - `consumed`. What is published as number i is in place i mod places,
 *   which is free when every reader has consumed it.
 *   A place has one batch or several short ones, one behind the other, as turns of threads make them: it is published
 *   when half of it is used, or what comes next does not fit. So a batch of a hundred words costs a copy of these, and
 *   no lock.
 *   Threads and readers are not tied to each other: a thread that has nothing to do takes the reader that is furthest
 *   behind and that no other one has, and stays with it as long as there are batches for it. So readers of unlike cost
 *   share the threads evenly, none waits for another one before the ring is full, and what one of them has in the
 *   host's caches serves for many batches.
 *   A sleeper names the count at which waking it is worth while: a quarter of the ring published, or half of it free.
 *   So two threads that share one core switch once in several batches. A drain wakes the threads, whatever count they
 *   named.
 *   Batches are copied, with stores that go past the caches of the producer's processor. The lines of a place are in
 *   those of a reader's when it is filled again: to get them from there takes as long as a hundred instructions, and a
 *   producer that wrote its words there one by one, between other things, would wait for each line.
 *   With one reader the whole ring, 16 batches of 64 KiB, stays in the L2 of the host: a prototype's consumer was 1.2
 *   to 1.8 times slower behind 8 batches of 1 MiB. Several readers get a longer one, so that a thread changes the
 *   reader less often: each has caches of its own to simulate, which the host's have to take in anew.
 * Invariants (stream_ring_check)
 *   consumed <= published <= consumed + places, for each reader. A reader is with one thread at a time, and the mutex
 *   lies between two of them: it needs no lock of its own.
 *   After a reader has failed it gets no further batch; the others get theirs. Of failures the one at the earliest
 *   batch counts, of those at one batch that of the first reader: behind a drain it is the same one every time.
 *   The place that is filled is not published: it has `filled` words, whole batches.
 * Not modelled
 *   The producer is one thread at a time; the sinks behind are called by one thread at a time each (the ring's, and the
 *   producer's for drain, when the ring's are idle).
 */
#include "stream/stream.h"

#include <emmintrin.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#define PLACES_OF_ONE C2_HOST_SIZE(16u, 2u)
#define PLACES_OF_MANY C2_HOST_SIZE(64u, 3u)
#define NEVER UINT64_MAX

struct reader {
    struct stream_sink sink;
    uint64_t consumed;
    bool taken;         /* a thread is at it */
    uint64_t failed_at; /* so many batches were consumed then; NEVER: it has not failed */
    struct c2_error error;
};

/* A batch begins with one word, of its length and its thread. */
enum { START_WORDS = sizeof(struct stream_batch) / sizeof(uint64_t) - STREAM_BATCH_WORDS };
_Static_assert(START_WORDS == 1 && offsetof(struct stream_batch, words) == sizeof(uint64_t), "batches lie as words");

struct place {
    uint64_t before; /* batches in all places before it */
    uint32_t filled; /* words */
    uint64_t words[START_WORDS + STREAM_BATCH_WORDS];
};

struct stream_ring {
    pthread_mutex_t mutex; /* for all that follows, but for what is in the batches */
    pthread_cond_t published_some, consumed_some;
    uint64_t published;
    uint64_t wake_at; /* sleeping threads are woken when so many are published; NEVER: none sleeps */
    uint64_t room_at; /* the producer, when all readers have consumed so many; NEVER: it does not wait */
    bool stopping, failed;
    struct reader *readers;
    unsigned reader_count;
    pthread_t *threads;
    const char *name;         /* of each */
    unsigned thread_count;    /* that were started */
    struct stream_ring *next; /* in the list of all */
    uint64_t places;
    struct place *all;  /* a place is written by the producer while it is free, and then only read */
    struct place *open; /* that is filled; NULL: none. The producer's, as is the next */
    uint64_t batches;   /* that came in so far */
};

/* ------------------------------------------------------------------ the readers' threads */

static uint64_t least_consumed(const struct stream_ring *ring)
{
    uint64_t least = NEVER;
    for (unsigned i = 0; i < ring->reader_count; i++)
        least = ring->readers[i].consumed < least ? ring->readers[i].consumed : least;
    return least;
}

static struct reader *furthest_behind(struct stream_ring *ring)
{
    struct reader *found = NULL;
    for (unsigned i = 0; i < ring->reader_count; i++) {
        struct reader *reader = &ring->readers[i];
        if (!reader->taken && reader->consumed < ring->published && (!found || reader->consumed < found->consumed))
            found = reader;
    }
    return found;
}

static void ring_advance(struct stream_ring *ring, struct reader *reader)
{
    reader->consumed++;
    if (ring->room_at != NEVER && least_consumed(ring) >= ring->room_at)
        pthread_cond_signal(&ring->consumed_some);
}

static void note_failure(struct stream_ring *ring, struct reader *reader, enum c2_status status, uint64_t batch)
{
    if (status == C2_OK)
        return;
    reader->error.status = status;
    reader->failed_at = batch;
    ring->failed = true;
}

/* The batches of a place, up to one that fails; *number is that of the last. */
static enum c2_status eat_place(struct reader *reader, const struct place *place, uint64_t *number)
{
    enum c2_status status = C2_OK;
    *number = place->before;
    for (uint32_t at = 0; at < place->filled && status == C2_OK;) {
        const struct stream_batch *batch = (const struct stream_batch *)(const void *)&place->words[at];
        status = reader->sink.consume(reader->sink.self, batch, &reader->error);
        at += START_WORDS + batch->used;
        *number += 1;
    }
    return status;
}

/* All that there is for it; the mutex is held before and behind, and not while the sink has a batch. */
static void eat(struct stream_ring *ring, struct reader *reader)
{
    while (reader->consumed < ring->published) {
        if (reader->failed_at == NEVER) {
            uint64_t number;
            pthread_mutex_unlock(&ring->mutex);
            const enum c2_status status = eat_place(reader, &ring->all[reader->consumed % ring->places], &number);
            pthread_mutex_lock(&ring->mutex);
            note_failure(ring, reader, status, number);
        }
        ring_advance(ring, reader);
    }
}

static void sleep_until_worth_while(struct stream_ring *ring)
{
    const uint64_t worth_while = ring->published + (ring->places + 3) / 4;
    ring->wake_at = worth_while < ring->wake_at ? worth_while : ring->wake_at;
    pthread_cond_wait(&ring->published_some, &ring->mutex);
}

static void *consumer_thread(void *self)
{
    struct stream_ring *ring = self;
    prctl(PR_SET_NAME, ring->name); /* of this thread: another one would have to be sought in /proc */
    pthread_mutex_lock(&ring->mutex);
    while (!ring->stopping) {
        struct reader *reader = furthest_behind(ring);
        if (!reader) {
            sleep_until_worth_while(ring);
            continue;
        }
        reader->taken = true;
        eat(ring, reader);
        reader->taken = false;
    }
    pthread_mutex_unlock(&ring->mutex);
    return NULL;
}

/* ------------------------------------------------------------------ the producer */

static void wake_threads(struct stream_ring *ring)
{
    ring->wake_at = NEVER;
    pthread_cond_broadcast(&ring->published_some);
}

/* Returns when every reader has consumed what is `needed`; is not woken before it is `worth_while`. */
static void ring_await(struct stream_ring *ring, uint64_t needed, uint64_t worth_while)
{
    ring->room_at = worth_while;
    while (least_consumed(ring) < needed)
        pthread_cond_wait(&ring->consumed_some, &ring->mutex);
    ring->room_at = NEVER;
}

static enum c2_status failure_behind(const struct stream_ring *ring, struct c2_error *err)
{
    const struct reader *first = &ring->readers[0];
    if (!ring->failed)
        return C2_OK;
    for (unsigned i = 1; i < ring->reader_count; i++)
        first = ring->readers[i].failed_at < first->failed_at ? &ring->readers[i] : first;
    return c2_fail(err, first->error.status, "%s", first->error.text);
}

/* A free place is open, which is the producer's until it is published. */
static enum c2_status ring_open_place(struct stream_ring *ring, struct c2_error *err)
{
    pthread_mutex_lock(&ring->mutex);
    const enum c2_status status = failure_behind(ring, err);
    if (status == C2_OK && ring->published >= ring->places)
        ring_await(ring, ring->published - ring->places + 1, ring->published - ring->places / 2);
    pthread_mutex_unlock(&ring->mutex);
    if (status != C2_OK)
        return status;
    ring->open = &ring->all[ring->published % ring->places];
    ring->open->before = ring->batches;
    ring->open->filled = 0;
    return C2_OK;
}

/* What is in the open place, if anything. */
static void publish(struct stream_ring *ring)
{
    if (!ring->open)
        return;
    _mm_sfence(); /* readers see what it has before it is published */
    ring->open = NULL;
    pthread_mutex_lock(&ring->mutex);
    ring->published++;
    if (ring->published >= ring->wake_at)
        wake_threads(ring);
    pthread_mutex_unlock(&ring->mutex);
}

static void copy_past_caches(uint64_t *to, const uint64_t *from, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        _mm_stream_si64((long long *)&to[i], (long long)from[i]);
}

static enum c2_status ring_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct stream_ring *ring = self;
    const uint32_t words = START_WORDS + batch->used, room = sizeof ring->open->words / sizeof ring->open->words[0];
    C2_ASSERT(batch->used <= STREAM_BATCH_WORDS);
    if (ring->open && ring->open->filled + words > room)
        publish(ring);
    const enum c2_status status = ring->open ? C2_OK : ring_open_place(ring, err);
    if (status != C2_OK)
        return status;
    copy_past_caches(&ring->open->words[ring->open->filled], (const uint64_t *)(const void *)batch, words);
    ring->open->filled += words;
    ring->batches++;
    if (ring->open->filled >= room / 2)
        publish(ring);
    return C2_OK;
}

static void drain_behind(struct stream_ring *ring)
{
    for (unsigned i = 0; i < ring->reader_count && !ring->failed; i++) {
        struct reader *reader = &ring->readers[i];
        note_failure(ring, reader, reader->sink.drain(reader->sink.self, &reader->error), ring->batches);
    }
}

/* When every batch has been consumed the threads leave the sinks behind alone, so this one may ask them. */
static enum c2_status ring_drain(void *self, struct c2_error *err)
{
    struct stream_ring *ring = self;
    publish(ring);
    pthread_mutex_lock(&ring->mutex);
    wake_threads(ring);
    ring_await(ring, ring->published, ring->published);
    drain_behind(ring);
    const enum c2_status status = failure_behind(ring, err);
    pthread_mutex_unlock(&ring->mutex);
    return status;
}

/* ------------------------------------------------------------------ all of this process */

static struct stream_ring *all_rings;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static void ring_enlist(struct stream_ring *ring)
{
    pthread_mutex_lock(&all_lock);
    ring->next = all_rings;
    all_rings = ring;
    pthread_mutex_unlock(&all_lock);
}

static void ring_strike_off(const struct stream_ring *ring)
{
    pthread_mutex_lock(&all_lock);
    for (struct stream_ring **at = &all_rings; *at; at = &(*at)->next)
        if (*at == ring) {
            *at = ring->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
}

/* ------------------------------------------------------------------ life */

/* Signals are for the thread that runs the guest. */
static enum c2_status start_threads(struct stream_ring *ring, unsigned threads, struct c2_error *err)
{
    sigset_t all, old;
    int failure = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (unsigned i = 0; i < threads; i++) {
        failure = pthread_create(&ring->threads[i], NULL, consumer_thread, ring);
        if (failure != 0)
            break;
        ring->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failure == 0 ? C2_OK
                        : c2_fail(err, C2_ERR_NO_MEMORY, "cannot start the simulation's thread: %s", strerror(failure));
}

static struct stream_ring *ring_allocate(unsigned count, unsigned threads)
{
    struct stream_ring *ring = c2_calloc(1, sizeof *ring);
    if (!ring)
        return NULL;
    ring->places = count == 1 ? PLACES_OF_ONE : PLACES_OF_MANY;
    ring->readers = c2_calloc(count, sizeof *ring->readers);
    ring->threads = c2_calloc(threads, sizeof *ring->threads);
    ring->all = c2_alloc(ring->places * sizeof ring->all[0]);
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_cond_init(&ring->published_some, NULL);
    pthread_cond_init(&ring->consumed_some, NULL);
    return ring;
}

static void stop_threads(struct stream_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    ring->stopping = true;
    wake_threads(ring);
    pthread_mutex_unlock(&ring->mutex);
    for (unsigned i = 0; i < ring->thread_count; i++)
        pthread_join(ring->threads[i], NULL);
}

void stream_rings_pause(void)
{
    for (struct stream_ring *ring = all_rings; ring; ring = ring->next) {
        ring_drain(ring, NULL); /* a failure is said by the next request */
        stop_threads(ring);
    }
}

enum c2_status stream_rings_resume(struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (struct stream_ring *ring = all_rings; ring && status == C2_OK; ring = ring->next) {
        const unsigned count = ring->thread_count;
        ring->thread_count = 0;
        ring->stopping = false;
        status = start_threads(ring, count, err);
    }
    return status;
}

static void ring_release(struct stream_ring *ring)
{
    ring_strike_off(ring);
    stop_threads(ring);
    pthread_cond_destroy(&ring->published_some);
    pthread_cond_destroy(&ring->consumed_some);
    pthread_mutex_destroy(&ring->mutex);
    c2_free(ring->all);
    c2_free(ring->threads);
    c2_free(ring->readers);
    c2_free(ring);
}

enum c2_status stream_ring_create(struct stream_ring **out, const struct stream_sink *behind, unsigned count,
                                  unsigned threads, const char *name, struct c2_error *err)
{
    *out = NULL;
    C2_ASSERT(count > 0 && threads > 0 && strlen(name) < 16);
    threads = threads < count ? threads : count;
    struct stream_ring *ring = ring_allocate(count, threads);
    enum c2_status status = C2_OK;
    if (!ring || !ring->readers || !ring->threads || !ring->all)
        status = c2_fail_memory(err, "the ring of batches");
    if (status == C2_OK) {
        ring->reader_count = count;
        ring->name = name;
        ring->wake_at = ring->room_at = NEVER;
        for (unsigned i = 0; i < count; i++)
            ring->readers[i] = (struct reader){.sink = behind[i], .failed_at = NEVER};
        status = start_threads(ring, threads, err);
    }
    if (status == C2_OK)
        ring_enlist(*out = ring);
    else if (ring)
        ring_release(ring);
    return status;
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
    ring_release(ring);
}

void stream_ring_check(struct stream_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    for (unsigned i = 0; i < ring->reader_count; i++) {
        const uint64_t consumed = ring->readers[i].consumed;
        C2_ASSERT(consumed <= ring->published && ring->published <= consumed + ring->places);
    }
    pthread_mutex_unlock(&ring->mutex);
}

void stream_ring_dump(struct stream_ring *ring, FILE *to)
{
    pthread_mutex_lock(&ring->mutex);
    fprintf(to, "ring: %" PRIu64 " batches, places: %" PRIu64 " published, %" PRIu64 " consumed, of %" PRIu64 "%s\n",
            ring->batches, ring->published, least_consumed(ring), ring->places, ring->failed ? ", failed" : "");
    pthread_mutex_unlock(&ring->mutex);
}
