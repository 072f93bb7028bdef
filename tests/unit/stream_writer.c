/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The writer: when what is written goes on to the sink, and when it is waited for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/stream.h"

struct reader {
    uint64_t batches, words, drained;   /* drained: words that had come at the last drain */
    uint64_t drains, asked, guaranteed; /* certain: the next answer */
    uint64_t fails_at;                  /* the batch of this number; 0: none */
};

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct reader *reader = self;
    reader->words += batch->used;
    if (++reader->batches == reader->fails_at)
        return c2_fail(err, C2_ERR_EXHAUSTED, "no frame is left");
    return C2_OK;
}

static enum c2_status drain(void *self, struct c2_error *err)
{
    struct reader *reader = self;
    (void)err;
    reader->drains++;
    reader->drained = reader->words;
    return C2_OK;
}

static uint64_t guaranteed(void *self)
{
    struct reader *reader = self;
    assert_int_equal(reader->drained, reader->words); /* all is eaten by then */
    reader->asked++;
    return reader->guaranteed;
}

static struct stream_writer *open_writer(struct reader *reader)
{
    struct stream_writer *writer;
    assert_int_equal(stream_writer_create(&writer, (struct stream_sink){reader, consume, drain}, NULL), C2_OK);
    return writer;
}

static void change(struct stream_writer *writer)
{
    const uint64_t words[] = {0x1000, 1};
    assert_int_equal(stream_writer_change(writer, STREAM_TOUCHED, words, 2, NULL), C2_OK);
}

/* None reports anything: each change is eaten when the call returns, with what came before it. */
static void a_change_is_waited_for(void **state)
{
    (void)state;
    struct reader reader = {0};
    struct stream_writer *writer = open_writer(&reader);
    const uint64_t word = 7;
    assert_int_equal(stream_writer_mark(writer, STREAM_FREED, &word, 1, NULL), C2_OK);
    assert_int_equal(reader.batches, 0);
    change(writer);
    assert_int_equal(reader.drains, 1);
    assert_int_equal(reader.drained, 2 + 3);
    change(writer);
    assert_int_equal(reader.drains, 2);
    assert_int_equal(reader.drained, 2 + 3 + 3);
    stream_writer_destroy(writer);
}

/* 5 changes are certain, then 2, then none: of 12 changes number 1, 7, 10, 11, 12 are waited for. */
static void what_is_guaranteed_is_not(void **state)
{
    (void)state;
    struct reader reader = {.guaranteed = 5};
    struct stream_writer *writer = open_writer(&reader);
    static const uint64_t drains[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 5};
    writer->guaranteed = guaranteed;
    writer->guaranteed_self = &reader;
    for (unsigned i = 0; i < sizeof drains / sizeof drains[0]; i++) {
        reader.guaranteed = i == 0 ? 5 : i == 6 ? 2 : 0;
        change(writer);
        assert_int_equal(reader.drains, drains[i]);
        assert_int_equal(reader.asked, drains[i]);
    }
    assert_int_equal(reader.drained, 12 * 3);
    stream_writer_destroy(writer);
}

static void a_failure_is_that_of_the_change(void **state)
{
    (void)state;
    struct reader reader = {.fails_at = 2};
    struct stream_writer *writer = open_writer(&reader);
    const uint64_t words[] = {0x1000, 1};
    struct c2_error err;
    writer->guaranteed = guaranteed;
    writer->guaranteed_self = &reader;
    change(writer);
    assert_int_equal(stream_writer_change(writer, STREAM_TOUCHED, words, 2, &err), C2_ERR_EXHAUSTED);
    assert_string_equal(err.text, "no frame is left");
    assert_int_equal(reader.asked, 1); /* nothing is certain after that */
    stream_writer_destroy(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_waited_for),
        cmocka_unit_test(what_is_guaranteed_is_not),
        cmocka_unit_test(a_failure_is_that_of_the_change),
    };
    return cmocka_run_group_tests_name("stream_writer", tests, NULL, NULL);
}
