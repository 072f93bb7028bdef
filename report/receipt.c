/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * receipt: what a run depended on, the last key of report.json: `c2emu verify` reads it.
 */
#include "report/report_priv.h"

static void receipt_add_words(struct document *d, const char *key, const char *const *words)
{
    doc_table(d, DOC_JSON, key);
    for (size_t i = 0; words[i]; i++)
        doc_string(d, DOC_JSON, NULL, words[i]);
    doc_close(d);
}

static void add_streams(struct document *d, const char *const streams[3])
{
    static const char *const keys[] = {"stdin", "stdout", "stderr"};
    doc_group(d, DOC_JSON, "streams");
    for (size_t i = 0; i < 3; i++)
        doc_string(d, DOC_JSON, keys[i], streams[i]);
    doc_close(d);
}

static void report_receipt_add_environment(struct document *d, const struct report_receipt *receipt)
{
    doc_table(d, DOC_JSON, "environment");
    for (size_t i = 0; i < receipt->environment_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "name", receipt->environment[i].name);
        doc_string(d, DOC_JSON, "sha256", receipt->environment[i].sha256);
        doc_close(d);
    }
    doc_close(d);
}

static void report_receipt_add_machines(struct document *d, const struct report_receipt *receipt)
{
    doc_table(d, DOC_JSON, "machines");
    for (size_t i = 0; i < receipt->machine_count; i++) {
        doc_group(d, DOC_JSON, NULL);
        doc_string(d, DOC_JSON, "sha256", receipt->machines[i].sha256);
        receipt_add_words(d, "lines", receipt->machines[i].lines);
        doc_close(d);
    }
    doc_close(d);
}

static void add_input(struct document *d, const struct report_input *input)
{
    doc_group(d, DOC_JSON, NULL);
    doc_string(d, DOC_JSON, "kind", input->kind);
    doc_string(d, DOC_JSON, "path", input->path);
    if (input->descriptor >= 0)
        doc_count(d, DOC_JSON, "descriptor", (uint64_t)input->descriptor);
    if (input->offset != 0)
        doc_count(d, DOC_JSON, "offset", input->offset);
    if (input->sha256)
        doc_count(d, DOC_JSON, "bytes", input->bytes);
    doc_string(d, DOC_JSON, "sha256", input->sha256);
    doc_string(d, DOC_JSON, "note", input->note);
    doc_close(d);
}

static void add_inputs(struct document *d, const struct report_receipt *receipt)
{
    doc_table(d, DOC_JSON, "inputs");
    for (size_t i = 0; i < receipt->input_count; i++)
        add_input(d, &receipt->inputs[i]);
    doc_close(d);
}

void report_add_receipt_of(struct document *d, const struct report_receipt *receipt)
{
    if (!receipt)
        return;
    doc_group(d, DOC_JSON, "receipt");
    doc_string(d, DOC_JSON, "c2emu", receipt->version);
    doc_string(d, DOC_JSON, REPORT_ENGINE, receipt->engine);
    doc_string(d, DOC_JSON, "verb", receipt->verb);
    receipt_add_words(d, "options", receipt->options);
    doc_string(d, DOC_JSON, "directory", receipt->directory);
    doc_string(d, DOC_JSON, "arguments", receipt->arguments);
    add_streams(d, receipt->streams);
    report_receipt_add_environment(d, receipt);
    report_receipt_add_machines(d, receipt);
    add_inputs(d, receipt);
    doc_close(d);
}

void report_add_receipt(struct document *d, struct digest *digest)
{
    report_add_receipt_of(d, report_of(digest)->receipt);
}
