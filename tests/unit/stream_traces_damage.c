/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Damaged traces of other tools, in each form. (damage.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "unit/damage.h"
#include "unit/stream_rules.h"

static const char din[] = "2 401000 4\n0 7fff00001000 8\n1 7fff00001008 8\n2 401004 3\n0 1000\n2 401007\n1 1fff 2\n"
                          "2 401000 4\n0 7fff00002000 8\n";
static const char lackey[] = "==123== Lackey, an example Valgrind tool\nI  00401000,3\n L 1fff000878,8\nI  00401003,5\n"
                             " S 1fff000870,8\n M 00404010,4\n==123== \nI  00401000,3\n L 1fff000ffc,8\n";
static const char text[] = "F 401000 401000 1000 4 1\nR 401000 404ffc 2ffc 4 1\nr 401000 405000 5000 4 1\n"
                           "W 401000 404010 2010 8 1\nF 401004 401004 1004 2 1\nF 401000 401000 1000 4 1\n"
                           "R 401000 404000 2000 8 1\n";

static const struct stream_champsim champsim[] = {
    {.ip = 0x401000, .source_registers = {3}, .source_memory = {0x7fff00001000, 0x1000, 0x2000, 0x3000}},
    {.ip = 0x401004, .destination_registers = {10, 25}, .destination_memory = {0x5000, 0x5040}},
    {.ip = 0x401008, .is_branch = 1, .branch_taken = 1, .destination_registers = {26}, .source_registers = {25, 26}},
    {.ip = 0x401000, .source_memory = {0x7fff00001040, 0, 0x2040}, .destination_memory = {0, 0x1000}}};

struct reading {
    const char *form;
    unsigned long accepted;
};

static enum c2_status drain(void *self, struct c2_error *err)
{
    (void)self;
    (void)err;
    return C2_OK;
}

/* Each record is what a consumer of the stream relies on, and a line that is refused is one that there is. */
static void play(struct reading *reading, struct stream_trace *trace, size_t count)
{
    struct c2_error err = {0};
    struct rules rules = {.blocks = stream_trace_blocks(trace)};
    const struct stream_sink sink = {.self = &rules, .consume = check_batch, .drain = drain};
    const enum c2_status status = stream_trace_play(trace, sink, &err);
    if (status != C2_OK) {
        unsigned line = 0;
        assert_int_equal(status, C2_ERR_FORMAT);
        assert_int_equal(
            sscanf(
                err.text,
                strcmp(stream_trace_form(trace), "champsim") == 0 ? "trace, record %u: " : "trace, line %u: ", &line),
            1);
        assert_in_range(line, 1, count + 1);
    }
    check_blocks(rules.blocks);
    reading->accepted += status == C2_OK;
    assert_in_range(stream_trace_instructions(trace), 0, count);
}

static void try(char *bytes, size_t count, void *context)
{
    struct reading *reading = context;
    struct stream_trace *trace;
    struct c2_error err = {0};
    FILE *from = count == 0 ? fopen("/dev/null", "r") : fmemopen(bytes, count, "r");
    assert_non_null(from);
    const enum c2_status status = stream_trace_open(&trace, from, "trace", reading->form, &err);
    if (status == C2_OK) {
        play(reading, trace, count);
        stream_trace_close(trace);
    } else {
        assert_int_equal(status, C2_ERR_FORMAT);
        assert_non_null(strstr(err.text, "trace"));
    }
    fclose(from);
}

/* With the form said, and as it shows in the first line. */
static void damaged(const char *form, const char *whole, size_t count)
{
    struct reading said = {.form = form}, shown = {.form = NULL};
    damage_cut(whole, count, try, &said);
    assert_int_not_equal(said.accepted, 0);
    damage_at_random(whole, count, damage_inputs(10000), try, &said);
    damage_at_random(whole, count, damage_inputs(10000) / 2, try, &shown);
}

static void damaged_din(void **state)
{
    (void)state;
    damaged("din", din, sizeof din - 1);
}

static void damaged_lackey(void **state)
{
    (void)state;
    damaged("lackey", lackey, sizeof lackey - 1);
}

static void damaged_text(void **state)
{
    (void)state;
    damaged("text", text, sizeof text - 1);
}

/* It does not show in a line that it is one. */
static void damaged_champsim(void **state)
{
    struct reading said = {.form = "champsim"};
    const char *whole = (const char *)champsim;
    (void)state;
    damage_cut(whole, sizeof champsim, try, &said);
    assert_int_equal(said.accepted, sizeof champsim / sizeof champsim[0] + 1); /* and an empty one */
    damage_at_random(whole, sizeof champsim, damage_inputs(10000), try, &said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_din), cmocka_unit_test(damaged_lackey),
                                       cmocka_unit_test(damaged_text), cmocka_unit_test(damaged_champsim)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
