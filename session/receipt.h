/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * receipt: what a run depends on, for comparison with that of another one.
 */
#ifndef C2_SESSION_RECEIPT_H
#define C2_SESSION_RECEIPT_H

#include "report/report.h"
#include "session/session.h"

struct session_receipt;
/* That of a run with these options if it began now, without what a guest reads. program: as in a command. On failure it
 * is to be destroyed, too. Texts of the options are lent. */
enum c2_status session_receipt_now(struct session_receipt **out, const struct session_options *options,
                                   const char *program, char *const *host_env, struct c2_error *err);
void session_receipt_destroy(struct session_receipt *receipt); /* takes NULL */
/* As it is so far: without inputs of the guest. */
const struct report_receipt *session_receipt_shown(const struct session_receipt *receipt);
/* "closed", "file", "pipe", "terminal" ...: what a standard stream is. */
const char *session_stream_kind(int fd);
/* The hash of a command's words, each with its NUL. */
enum c2_status session_receipt_arguments(char out[C2_SHA256_TEXT], const char *const *command, struct c2_error *err);

#endif
