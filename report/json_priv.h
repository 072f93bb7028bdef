/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * json_priv: what the files that build report.json share.
 */
#ifndef C2_REPORT_JSON_PRIV_H
#define C2_REPORT_JSON_PRIV_H

#include <jansson.h>

#include "report/report_priv.h"

/* json_object_set_new and json_array_append_new free the value they could not add, and refuse a NULL one: so the
 * builders just add, and `failed` says at the end whether anything was missed. */
struct builder {
    bool failed;
};

static inline void add(struct builder *b, json_t *object, const char *key, json_t *value)
{
    b->failed |= json_object_set_new(object, key, value) != 0;
}

static inline void append(struct builder *b, json_t *array, json_t *value)
{
    b->failed |= json_array_append_new(array, value) != 0;
}

static inline void add_count(struct builder *b, json_t *object, const char *key, uint64_t count)
{
    add(b, object, key, json_integer((json_int_t)count));
}

/* Writes a whole report, which was built with b, and releases it. (json_text.c) */
enum c2_status report_json_write(FILE *to, const struct builder *b, json_t *report, struct c2_error *err);

/* A string value; each byte that is no UTF-8 becomes U+FFFD. NULL without memory. (json_text.c) */
json_t *report_json_text(const char *from);

static inline void add_text(struct builder *b, json_t *object, const char *key, const char *value)
{
    add(b, object, key, report_json_text(value));
}

/* The keys conflicts, reasons, objects and functions of a run with a profile. (json_profile.c) */
void report_json_profile(struct builder *b, json_t *root, const struct report_run *run);

#endif
