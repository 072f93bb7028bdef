/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * step: the steps of an explained miss (`c2emu explain --step`).
 *
 * Model
 *   Where standard input and standard error are terminals one step is on the screen at a time, and keys go from one
 *   to the next: right, down, space or n; left, up or p; Home and End; q, Escape or Ctrl-C ends. Else all steps are
 *   written one behind the other, as the report is.
 * Invariants
 *   The terminal is as it was when the steps are done, however that came.
 */
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "analyses/explain.h"
#include "session/session_priv.h"

enum key { KEY_NONE, KEY_NEXT, KEY_BEFORE, KEY_FIRST, KEY_LAST, KEY_END };
enum { ESCAPE = 0x1b, CONTROL_C = 3, SEQUENCE = 8, WAIT_MS = 50 };

static enum c2_status step_show(const struct session_options *options, const struct report_run *run, uint32_t number,
                                struct c2_error *err)
{
    struct report *report;
    enum c2_status status = report_create_step(&report, run, number, err);
    if (status == C2_OK)
        session_show_report(report, options);
    report_destroy(report);
    return status;
}

/* ------------------------------------------------------------------ keys */

/* The rest of what a key sends comes at once; an Escape by itself has none. */
static void step_read_sequence(char out[SEQUENCE])
{
    struct pollfd from = {.fd = STDIN_FILENO, .events = POLLIN};
    size_t count = 0;
    memset(out, 0, SEQUENCE);
    while (count < SEQUENCE - 1 && poll(&from, 1, WAIT_MS) == 1 && read(STDIN_FILENO, &out[count], 1) == 1) {
        const char last = out[count++];
        if (count > 1 && last >= '@' && last <= '~')
            return;
    }
}

static enum key key_of_sequence(const char *sequence)
{
    static const struct {
        const char *sequence;
        enum key key;
    } known[] = {{"", KEY_END},      {"[C", KEY_NEXT},   {"[B", KEY_NEXT},   {"[6~", KEY_NEXT},   {"OC", KEY_NEXT},
                 {"OB", KEY_NEXT},   {"[D", KEY_BEFORE}, {"[A", KEY_BEFORE}, {"[5~", KEY_BEFORE}, {"OD", KEY_BEFORE},
                 {"OA", KEY_BEFORE}, {"[H", KEY_FIRST},  {"OH", KEY_FIRST},  {"[1~", KEY_FIRST},  {"[7~", KEY_FIRST},
                 {"[F", KEY_LAST},   {"OF", KEY_LAST},   {"[4~", KEY_LAST},  {"[8~", KEY_LAST}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(sequence, known[i].sequence) == 0)
            return known[i].key;
    return KEY_NONE;
}

static enum key read_key(void)
{
    char byte, sequence[SEQUENCE];
    if (read(STDIN_FILENO, &byte, 1) != 1 || byte == 'q' || byte == CONTROL_C)
        return KEY_END;
    if (byte == ' ' || byte == 'n')
        return KEY_NEXT;
    if (byte == 'p')
        return KEY_BEFORE;
    if (byte != ESCAPE)
        return KEY_NONE;
    step_read_sequence(sequence);
    return key_of_sequence(sequence);
}

static uint32_t step_moved(uint32_t at, uint32_t last, enum key key)
{
    switch (key) {
    case KEY_NEXT:
        return at < last ? at + 1 : last;
    case KEY_BEFORE:
        return at > 0 ? at - 1 : 0;
    case KEY_FIRST:
        return 0;
    case KEY_LAST:
        return last;
    default:
        return at;
    }
}

/* ------------------------------------------------------------------ the screen */

static enum c2_status step_walk(const struct session_options *options, const struct report_run *run, uint32_t last,
                                struct c2_error *err)
{
    uint32_t at = 0;
    enum key key = KEY_NONE;
    enum c2_status status = C2_OK;
    while (key != KEY_END && status == C2_OK) {
        fputs("\x1b[H\x1b[2J", stderr);
        status = step_show(options, run, at, err);
        fprintf(stderr, "\nstep %u of %u - arrow keys, Home, End; q ends\n", at, last);
        if (status == C2_OK)
            key = read_key();
        at = step_moved(at, last, key);
    }
    return status;
}

static enum c2_status walk_by_keys(const struct session_options *options, const struct report_run *run, uint32_t last,
                                   struct c2_error *err)
{
    struct termios before, raw;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return c2_fail(err, C2_ERR_IO, "--step: the terminal does not say how it is set: %m");
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0)
        return c2_fail(err, C2_ERR_IO, "--step: the terminal cannot be set: %m");
    enum c2_status status = step_walk(options, run, last, err);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    return status;
}

enum c2_status session_step(const struct session_options *options, const struct report_run *run, struct c2_error *err)
{
    const struct analyses_explain_result *result = run->sim.found[ANALYSIS_explain];
    const uint32_t count = result->story->step_count;
    enum c2_status status = C2_OK;
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        return walk_by_keys(options, run, count - 1, err);
    for (uint32_t i = 0; i < count && status == C2_OK; i++) {
        fputc('\n', stderr);
        status = step_show(options, run, i, err);
    }
    return status;
}
