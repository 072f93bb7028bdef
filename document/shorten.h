/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * shorten: a name in fewer characters, without its place in the source.
 */
#ifndef C2_DOCUMENT_SHORTEN_H
#define C2_DOCUMENT_SHORTEN_H

#include "base/base.h"

#define DOC_SHORTEST 8u

/* Shortens a text - a name of C, C++ or Rust, with places ("matmul.c:15") and words around it - to at most `width`
 * bytes, at least DOC_SHORTEST, in place; what was left out is "...". A text that fits is not changed. Returns the
 * text. */
char *doc_shorten(char *text, size_t width);

/* A function's name without arguments, template arguments and return type, and of its scopes the last: "map::find". In
 * place; returns it. */
char *doc_bare_name(char *name);

#endif
