/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The JSON report of a made-up run, to the letter; words that are no UTF-8; no memory; a full disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/report.h"
#include "unit/report_sample.h"

static const char golden[] = "{\n"
                             "  \"format\": \"c2emu-report\",\n"
                             "  \"version\": 1,\n"
                             "  \"command\": [\n"
                             "    \"./app\",\n"
                             "    \"two words\"\n"
                             "  ],\n"
                             "  \"exit_status\": 3,\n"
                             "  \"machine\": {\n"
                             "    \"name\": \"sample\",\n"
                             "    \"line\": 64,\n"
                             "    \"levels\": [\n"
                             "      {\n"
                             "        \"name\": \"L1D\",\n"
                             "        \"size\": 32768,\n"
                             "        \"ways\": 8,\n"
                             "        \"sets\": 64,\n"
                             "        \"slices\": 1,\n"
                             "        \"policy\": \"lru\",\n"
                             "        \"index\": \"virtual\",\n"
                             "        \"inclusion\": \"non-inclusive\",\n"
                             "        \"latency\": 4\n"
                             "      },\n"
                             "      {\n"
                             "        \"name\": \"L1I\",\n"
                             "        \"size\": 32768,\n"
                             "        \"ways\": 8,\n"
                             "        \"sets\": 64,\n"
                             "        \"slices\": 1,\n"
                             "        \"policy\": \"lru\",\n"
                             "        \"index\": \"virtual\",\n"
                             "        \"inclusion\": \"non-inclusive\",\n"
                             "        \"latency\": 4\n"
                             "      },\n"
                             "      {\n"
                             "        \"name\": \"L2\",\n"
                             "        \"size\": 262144,\n"
                             "        \"ways\": 8,\n"
                             "        \"sets\": 512,\n"
                             "        \"slices\": 1,\n"
                             "        \"policy\": \"lru\",\n"
                             "        \"index\": \"physical\",\n"
                             "        \"inclusion\": \"non-inclusive\",\n"
                             "        \"latency\": 12\n"
                             "      },\n"
                             "      {\n"
                             "        \"name\": \"L3\",\n"
                             "        \"size\": 20971520,\n"
                             "        \"ways\": 20,\n"
                             "        \"sets\": 2048,\n"
                             "        \"slices\": 8,\n"
                             "        \"policy\": \"lru\",\n"
                             "        \"index\": \"physical\",\n"
                             "        \"inclusion\": \"inclusive\",\n"
                             "        \"hash\": \"lin8\",\n"
                             "        \"latency\": 40\n"
                             "      }\n"
                             "    ]\n"
                             "  },\n"
                             "  \"pages\": {\n"
                             "    \"policy\": \"sequential\",\n"
                             "    \"seed\": 7,\n"
                             "    \"huge\": \"off\",\n"
                             "    \"small\": 1234,\n"
                             "    \"huge_2m\": 0,\n"
                             "    \"huge_1g\": 0,\n"
                             "    \"huge_fallbacks\": 0\n"
                             "  },\n"
                             "  \"run\": {\n"
                             "    \"instructions\": 10000,\n"
                             "    \"measured\": {\n"
                             "      \"instructions\": 10000,\n"
                             "      \"refs\": 4000,\n"
                             "      \"reads\": 2500,\n"
                             "      \"writes\": 1500,\n"
                             "      \"modifies\": 200,\n"
                             "      \"fetches\": 10000,\n"
                             "      \"line_accesses\": 4096,\n"
                             "      \"straddles\": 96\n"
                             "    },\n"
                             "    \"phases\": [\n"
                             "      {\n"
                             "        \"kind\": \"measure\",\n"
                             "        \"instructions\": 10000\n"
                             "      }\n"
                             "    ]\n"
                             "  },\n"
                             "  \"levels\": [\n"
                             "    {\n"
                             "      \"name\": \"L1D\",\n"
                             "      \"accesses\": 4096,\n"
                             "      \"hits\": 3584,\n"
                             "      \"misses\": 512,\n"
                             "      \"reads\": 2560,\n"
                             "      \"read_misses\": 400,\n"
                             "      \"writes\": 1536,\n"
                             "      \"write_misses\": 112,\n"
                             "      \"cold\": 128,\n"
                             "      \"capacity\": 64,\n"
                             "      \"conflict\": 320,\n"
                             "      \"coherence\": 0,\n"
                             "      \"fa_misses\": 200,\n"
                             "      \"fa_only_misses\": 8,\n"
                             "      \"writebacks\": 100,\n"
                             "      \"back_invalidations\": 0\n"
                             "    },\n"
                             "    {\n"
                             "      \"name\": \"L1I\",\n"
                             "      \"accesses\": 1000,\n"
                             "      \"hits\": 997,\n"
                             "      \"misses\": 3,\n"
                             "      \"reads\": 1000,\n"
                             "      \"read_misses\": 3,\n"
                             "      \"writes\": 0,\n"
                             "      \"write_misses\": 0,\n"
                             "      \"cold\": 2,\n"
                             "      \"capacity\": 1,\n"
                             "      \"conflict\": 0,\n"
                             "      \"coherence\": 0,\n"
                             "      \"fa_misses\": 3,\n"
                             "      \"fa_only_misses\": 0,\n"
                             "      \"writebacks\": 0,\n"
                             "      \"back_invalidations\": 0\n"
                             "    },\n"
                             "    {\n"
                             "      \"name\": \"L2\",\n"
                             "      \"accesses\": 515,\n"
                             "      \"hits\": 355,\n"
                             "      \"misses\": 160,\n"
                             "      \"reads\": 403,\n"
                             "      \"read_misses\": 120,\n"
                             "      \"writes\": 112,\n"
                             "      \"write_misses\": 40,\n"
                             "      \"cold\": 130,\n"
                             "      \"capacity\": 20,\n"
                             "      \"conflict\": 10,\n"
                             "      \"coherence\": 0,\n"
                             "      \"fa_misses\": 150,\n"
                             "      \"fa_only_misses\": 0,\n"
                             "      \"writebacks\": 10,\n"
                             "      \"back_invalidations\": 0\n"
                             "    },\n"
                             "    {\n"
                             "      \"name\": \"L3\",\n"
                             "      \"accesses\": 160,\n"
                             "      \"hits\": 30,\n"
                             "      \"misses\": 130,\n"
                             "      \"reads\": 120,\n"
                             "      \"read_misses\": 100,\n"
                             "      \"writes\": 40,\n"
                             "      \"write_misses\": 30,\n"
                             "      \"cold\": 130,\n"
                             "      \"capacity\": 0,\n"
                             "      \"conflict\": 0,\n"
                             "      \"coherence\": 0,\n"
                             "      \"fa_misses\": 130,\n"
                             "      \"fa_only_misses\": 0,\n"
                             "      \"writebacks\": 0,\n"
                             "      \"back_invalidations\": 7\n"
                             "    }\n"
                             "  ],\n"
                             "  \"tlb\": []\n"
                             "}\n";

static void the_whole_json(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    char *text = written_report(&sample.run, REPORT_JSON);
    assert_string_equal(golden, text);
    free(text);
}

static void fifo_detector(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    char *text = written_report(&sample.run, REPORT_JSON);
    assert_null(strstr(text, "fifo"));
    free(text);
    sample_detect_fifo(&sample);
    text = written_report(&sample.run, REPORT_JSON);
    assert_non_null(strstr(text, "      \"back_invalidations\": 0,\n"
                                 "      \"fifo\": {\n"
                                 "        \"fifo_conflict\": 288,\n"
                                 "        \"fifo_capacity\": 96,\n"
                                 "        \"both_conflict\": 256,\n"
                                 "        \"only_fifo\": 32,\n"
                                 "        \"only_fa\": 64\n"
                                 "      }\n"));
    free(text);
}

static void without_simulation_nothing_is_claimed(void **state)
{
    (void)state;
    struct report_sample sample;
    sample_fill(&sample);
    struct report_run run = {.command = sample.command,
                             .exit_status = 143,
                             .ending = "interrupted by SIGTERM",
                             .clock = "2024-02-29T12:30:00Z",
                             .instructions = 5};
    char *text = written_report(&run, REPORT_JSON);
    assert_string_equal("{\n"
                        "  \"format\": \"c2emu-report\",\n"
                        "  \"version\": 1,\n"
                        "  \"command\": [\n"
                        "    \"./app\",\n"
                        "    \"two words\"\n"
                        "  ],\n"
                        "  \"exit_status\": 143,\n"
                        "  \"ending\": \"interrupted by SIGTERM\",\n"
                        "  \"clock\": \"2024-02-29T12:30:00Z\",\n"
                        "  \"run\": {\n"
                        "    \"instructions\": 5,\n"
                        "    \"phases\": [\n"
                        "      {\n"
                        "        \"kind\": \"skip\",\n"
                        "        \"instructions\": 5\n"
                        "      }\n"
                        "    ]\n"
                        "  }\n"
                        "}\n",
                        text);
    free(text);
}

static void words_that_are_no_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *word, *json;
    } rows[] = {
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},                     /* well-formed, two bytes */
        {"\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xe2\x82\xac\xf0\x9f\x98\x80\""}, /* three, four */
        {"gr\xfc\xdf", "\"gr\xef\xbf\xbd\xef\xbf\xbd\""},                     /* Latin-1 */
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                         /* overlong */
        {"\xed\xa0\x80!", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!\""},       /* a surrogate */
        {"x\xe2\x82", "\"x\xef\xbf\xbd\xef\xbf\xbd\""},                       /* cut short */
        {"\"\\\n\x01", "\"\\\"\\\\\\n\\u0001\""},
    };
    struct report_sample sample;
    sample_fill(&sample);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample.command[1] = rows[i].word;
        char *text = written_report(&sample.run, REPORT_JSON);
        assert_non_null(strstr(text, rows[i].json));
        free(text);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct report_sample sample;
    struct c2_error err;
    sample_fill(&sample);
    FILE *to = fopen("/dev/null", "w");
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t tries = 0;
    while (status != C2_OK) {
        c2_alloc_fail_from(++tries);
        status = write_report(to, &sample.run, REPORT_JSON, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
    }
    assert_true(tries > 100);
    fclose(to);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    struct report_sample sample;
    struct c2_error err;
    sample_fill(&sample);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(C2_ERR_IO, write_report(full, &sample.run, REPORT_JSON, &err));
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_json),
        cmocka_unit_test(fifo_detector),
        cmocka_unit_test(without_simulation_nothing_is_claimed),
        cmocka_unit_test(words_that_are_no_utf8),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
