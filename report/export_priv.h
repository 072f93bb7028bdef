/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * export_priv: what the writers of profiles for other tools share - the names of instructions, each with a number, and
 * the head of a file.
 */
#ifndef C2_REPORT_EXPORT_PRIV_H
#define C2_REPORT_EXPORT_PRIV_H

#include "report/report_priv.h"

/* Numbers of names count from 1, in the order of their first use. */
struct export_text { /* a file or an object: its path, "???" if unknown */
    const char *text;
    bool file_written, object_written; /* they have their numbers in two lists */
};
struct export_function { /* one for each object, file and name */
    const char *name;
    uint32_t object, file;
    bool written;
};

/* Where an instruction is. */
struct export_place {
    uint64_t address; /* in its object as linked; at run time if it is in none */
    uint32_t function;
    uint32_t file; /* that its line is in: another one than the function's where a call was inlined */
    int line;      /* 0: unknown */
};

struct export_names {
    const struct report_run *run;
    struct export_text *texts;
    struct export_function *functions;
    uint32_t text_count, text_room, function_count, function_room;
    struct c2_map *in_context;            /* function and context -> the function in that context */
    struct c2_map *text_of, *function_of; /* hash -> the number; of equal hashes the next free hash */
    struct c2_pool pool;
};
enum c2_status export_names_create(struct export_names *out, const struct report_run *run, struct c2_error *err);
void export_names_release(struct export_names *names); /* whatever create returned */
enum c2_status export_place_of(struct export_names *names, struct guest_va pc, struct export_place *out,
                               struct c2_error *err);
/* The same place where its function is told apart by this context (report_run.found). */
enum c2_status export_in_context(struct export_names *names, uint32_t context, struct export_place *place,
                                 struct c2_error *err);
/* A function that stands for something else than code, in no file; name is copied. *taken: it was there before. */
enum c2_status export_node(struct export_names *names, const char *name, struct export_place *out, bool *taken,
                           struct c2_error *err);

/* The places of all instructions of the profile; to be freed. */
enum c2_status export_places(struct export_place **out, struct export_names *names, struct c2_error *err);

/* Where what levels write back was counted (--collect-writebacks): an event a level, behind those that there are; and
 * what an instruction of the profile has of them, added to the first of these. */
void export_writeback_events(struct analyses_events *events, const struct report_run *run);
void export_writebacks_of(const struct report_run *run, size_t insn, uint64_t *cost);

void export_command(FILE *to, const struct report_run *run); /* "cmd: ./app two words" */
void export_caches(FILE *to, const struct report_run *run);  /* "desc: ..." lines: machine and levels */
/* " 12 0 3" without zeros at the end, and the end of the line. */
void export_cost(FILE *to, const uint64_t *cost, uint32_t count);
enum c2_status export_written(FILE *to, struct c2_error *err); /* whether all writing has succeeded */

/* ------------------------------------------------------------------ the body of a file of Callgrind's format */
struct export_body {
    FILE *to;
    struct export_names *names;
    uint32_t object, function, file; /* that the lines to come belong to; 0: none yet */
    bool lines_only;                 /* no addresses of instructions; the header has to say the same */
};
/* thread: whose part this is; 0: that of all. */
void export_header(FILE *to, const struct report_run *run, uint32_t thread, bool lines_only,
                   const struct analyses_event *events, uint32_t count, const uint64_t *totals);
/* What the instruction has cost by itself. */
void export_self(struct export_body *body, const struct export_place *at, const uint64_t *cost, uint32_t count);
/* What calls from one place to another have cost, all in all. */
void export_call(struct export_body *body, const struct export_place *from, const struct export_place *to,
                 uint64_t calls, const uint64_t *cost, uint32_t count);
/* A jump within a function. */
void export_jump(struct export_body *body, const struct export_place *from, const struct export_place *to,
                 const struct analyses_jump *jump);
void export_totals(struct export_body *body, const uint64_t *totals, uint32_t count);

#endif
