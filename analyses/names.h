/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * names: instructions, loops and objects of a run in words, for people.
 */
#ifndef C2_ANALYSES_NAMES_H
#define C2_ANALYSES_NAMES_H

#include "analyses/digest.h"

#define NAMES_BYTES 1024 /* of buffers: names of templates are long, and their places stand behind them */

/* Where an instruction lies; without symbols nothing is known but the pc. */
void names_place(struct loader_place *out, const struct analyses_run *run, struct guest_va pc);
/* The same of a loop. */
void names_loop_place(struct loader_place *out, const struct analyses_run *run, const struct analyses_loop *loop);
/* The call that allocated an object; false where there is none. */
bool names_site(struct loader_place *out, const struct analyses_run *run, const struct analyses_object *object,
                uint32_t site);
/* "double A[400][400]", of a static variable; NULL: not known. */
const char *names_type(const struct analyses_run *run, const struct analyses_object *object);
/* "main (matmul.c:41)", "0x1234 in libc.so.6". Returns buffer. */
char *names_place_text(char *buffer, size_t bytes, const struct analyses_run *run, struct guest_va pc);
/* "malloc#3 double A[][] at doitgen.c:41", "double A[400][400] in app", "code of libc.so.6". Returns buffer. */
char *names_object_text(char *buffer, size_t bytes, const struct analyses_run *run,
                        const struct analyses_object *object);
/* "the same array", "malloc#4 at list.c:7", "nobody known" ...: what evicted lines of the victim object. Returns
 * buffer. */
char *names_evictor_text(char *buffer, size_t bytes, const struct analyses_run *run, uint32_t victim,
                         const struct digest_share *evictor);

/* ------------------------------------------------------------------ the user's own code (charged.c) */

#define NAMES_FRAMES 16 /* of a chain of inlined calls that are looked at, innermost first */
/* Where the cost of an instruction belongs: of the calls that the compiler has inlined there the innermost one that is
 * not from a file of the system or of a language's library; without one its own place. In the function that holds the
 * code. */
void names_charge(struct loader_place *out, const struct analyses_run *run, struct guest_va pc);
/* "main (stlmap.cpp:16) < map::find < stl_tree.h:780": the place that an instruction is charged to, what is called
 * there, and where it lies. Returns buffer. */
char *names_charged_text(char *buffer, size_t bytes, const struct analyses_run *run, struct guest_va pc);

/* ------------------------------------------------------------------ contexts of functions (contexts_chapter.c) */

/* "fib2:i=4:j=4": the function, and what it was called with. NULL: no memory. */
const char *names_symbol_text(struct c2_pool *pool, const struct analyses_run *run, uint32_t symbol);
/* ":i=4'2'main": what stands behind the function's name; "" in the outermost context of one that nothing tells apart.
 * NULL: no memory. */
const char *names_context_suffix(struct c2_pool *pool, const struct analyses_run *run,
                                 const struct analyses_context *context);

#endif
